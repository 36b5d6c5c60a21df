"""Risk-RFE, the selectors: change points, parameters, errors, weights, scikit-learn's
conventions.
"""

import itertools
import pickle
import time
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.utils.validation
from cases import Begun, needs_data, refused, swept, swept_product, swept_seeds
from kernel_cases import (
    KERNELS,
)
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import lsq_linear
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks
from threadpoolctl import threadpool_limits

import fsel_book.arrays
import fsel_book.elimination
import fsel_book.kernel_machines
import fsel_book.linear_programs
from fsel_book.kernel_machines import EmpiricalRisk
from fsel_book.kernels import LinearKernel
from fsel_book.loaders import load_dataset
from fsel_book.losses import LOSSES, get_loss
from fsel_book.progress import Progress
from fsel_book.risk_rfe import GuyonRFE, RiskRFE, change_point
from fsel_book.svm import LPSVMClassifier


def test_change_point_of_made_paths():
    left = np.arange(30, -1, -1)
    removed = 30 - left
    for at in (5, 17, 27):
        for tail, bend in (
            ("linear", lambda t: 3 * t),
            ("quadratic", lambda t: 2 * t + t**2),
        ):
            values = 7 + 0.1 * removed + bend(np.maximum(removed - at, 0))
            point = change_point(values, left, tail)
            assert point.n_features == 30 - at
            assert_allclose(point.fitted, values, atol=1e-9 * values.max())
            assert point.errors.argmin() == at and np.isinf(point.errors[-1])
            assert change_point(1e6 * values - 3, left, tail).n_features == 30 - at
    # nothing bends: the most features
    assert change_point([1.0, 1.0, 1.0], [2, 1, 0]).n_features == 2


def straight_then(rises, d, slope=0.0):
    """A path of d features that is straight until its last points, which are higher
    than the line by `rises`.
    """
    return slope * np.arange(d + 1) + np.r_[
        np.zeros(d + 1 - len(rises)), rises
    ], np.arange(d, -1, -1)


@pytest.mark.parametrize("tail", ["quadratic", "linear"])
@pytest.mark.parametrize("slope", [-0.5, 0.0, 2.0])
@pytest.mark.parametrize("d", [3, 4, 7, 30])
def test_a_last_rise_is_one_feature(d, slope, tail):
    assert change_point(*straight_then([4.0], d, slope), tail).n_features == 1
    uneven = np.r_[np.arange(4 * d, 3, -4), 3, 1, 0]  # steps of several features
    bumped = slope * (uneven[0] - uneven) + 5.0 * (uneven == 0)
    assert change_point(bumped, uneven, tail).n_features == 1


@pytest.mark.parametrize(("k", "d"), [(2, 3), (2, 8), (3, 4), (3, 8), (7, 30)])
def test_a_parabola_after_a_line_is_exact(k, d):
    i = np.arange(1, k + 1)
    for slope in (-0.5, 0.0, 2.0):
        for e in (-0.1 / k, 0, 0.5, 1, 2):
            found = k + (e == 1)  # then a change one feature earlier is exact as well
            assert (
                change_point(*straight_then(i + e * i**2, d, slope)).n_features == found
            )
        assert change_point(*straight_then(3.0 * i, d, slope), "linear").n_features == k


def test_a_tail_through_all_its_points_rises_from_the_start():
    """Independent oracle: least squares with the kink bounded, at the changes that one
    and two points follow.
    """
    rng = np.random.default_rng(0)
    for d in (2, 3, 6, 12):
        t = np.arange(d + 1) / d
        for _ in range(30):
            values = np.cumsum(rng.standard_normal(d + 1)) + rng.choice([0, 5]) * (
                t == 1
            )
            errors = change_point(values, np.arange(d, -1, -1)).errors
            for after in range(1, d + 1):
                s = np.maximum(t - t[d - after], 0)
                columns = [np.ones_like(t), t, s, s**2]
                kept = [0, *([1] if after < d else []), 2, *([3] if after > 1 else [])]
                low = np.where((np.array(kept) == 2) & (after <= 2), 0, -np.inf)
                best = lsq_linear(
                    np.stack([columns[i] for i in kept], axis=1),
                    values,
                    (low, np.inf),
                    "bvls",
                    1e-15,
                )
                assert_allclose(
                    errors[d - after], 2 * best.cost, atol=1e-9 * (values @ values)
                )


def test_short_paths():
    assert (
        change_point([1.0, 5.0], [1, 0]).n_features
        == change_point([5.0, 4.0], [1, 0]).n_features
        == 1
    )
    # both stay from a third of the last rise on
    for first, kept in ((-1, 1), (0, 1), (0.33, 1), (0.34, 2), (5, 2)):
        assert (
            change_point([2.0, 2.0 + first, 3.0 + first], [2, 1, 0]).n_features == kept
        )
    assert change_point([3.0, 3.0, 3.0, 3.0], [3, 2, 1, 0]).n_features == 3
    assert change_point([3.0, 2.0, 1.0, 0.0], [3, 2, 1, 0]).n_features == 3


SMALL = ((50, 1, 1), (50, 2, 1), (100, 3, 1))
LARGE = ((200, 8, 1), (100, 15, "adaptive"))


@swept_product(
    ("loss", "kernel", "sizes"),
    [*((loss, "rbf", SMALL) for loss in LOSSES), ("squared_error", "rbf", LARGE)],
    LOSSES,
    ["rbf", "linear"],
    [SMALL, LARGE],
)
def test_auto_finds_a_single_feature(loss, kernel, sizes):
    for n, d, step in sizes:
        rng = np.random.default_rng(d)
        X = rng.uniform(-1, 1, (n, d))
        target = X[:, d // 2] + 0.1 * rng.standard_normal(n)
        y = target if not get_loss(loss).for_labels else np.sign(target)
        selector = RiskRFE("change-point", kernel=kernel, loss=loss, step=step).fit(
            X, y
        )
        assert selector.get_support(indices=True).tolist() == [d // 2]


@swept_seeds(1, 5)
def test_auto_of_a_sign_and_of_a_product(seeds):
    for seed in seeds:
        X = np.random.default_rng(seed).uniform(-1, 1, (200, 8))
        for rule, kernel, kept in (
            (X[:, 3], "rbf", [3]),
            (X[:, 3] * X[:, 7], "rbf", [3, 7]),
            (X[:, 3] + X[:, 7], "linear", [3, 7]),
        ):
            assert (
                RiskRFE("change-point", kernel=kernel)
                .fit(X, rule > 0)
                .get_support(indices=True)
                .tolist()
                == kept
            )
        # nothing matters
        assert 1 <= RiskRFE("change-point").fit(X, np.arange(200) % 2).n_features_ <= 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0], [3]), "two or more finite values"),
        (([1.0, 2.0], [3, 2, 1]), "are not a path"),
        (([1.0, np.nan], [3, 2]), "finite"),
        (([1.0, 2.0], [3, 3]), "must fall"),
        (([1.0, 2.0], [3, 2], "cubic"), "tail='cubic' is not possible"),
    ],
)
def test_change_point_says_what_is_wrong(arguments, message):
    with pytest.raises(ValueError, match=message):
        change_point(*arguments)


@swept_product(
    ("kernel", "loss", "kind"),
    [
        ("rbf", "hinge", RiskRFE),
        ("linear", "squared_error", RiskRFE),
        ("poly", "squared_error", RiskRFE),
        ("rbf", "squared_error", GuyonRFE),
        ("linear", "hinge", GuyonRFE),
        ("poly", "hinge", GuyonRFE),
    ],
    ["rbf", "linear", "poly"],
    ["hinge", "squared_error"],
    [RiskRFE, GuyonRFE],
)
def test_auto_keeps_what_the_change_point_says(kind, loss, kernel):
    X, y = two_signs()
    target = y if loss == "hinge" else X[:, 0] * X[:, 1]
    selector = kind(
        "change-point", kernel=kernel, loss=loss, C=5, degree=2, coef0=1.0
    ).fit(X, target)
    assert (
        selector.n_features_path_.tolist() == list(range(8, -1, -1))
        and len(selector.elimination_order_) == 8
    )
    assert (
        selector.n_features_
        == change_point(selector.objective_path_, selector.n_features_path_).n_features
    )
    same = kind(
        selector.n_features_, kernel=kernel, loss=loss, C=5, degree=2, coef0=1.0
    ).fit(X, target)
    assert_array_equal(selector.support_, same.support_)
    assert_array_equal(selector.ranking_, same.ranking_)
    assert_allclose(selector._values(X[:5]), same._values(X[:5]), atol=1e-7)
    if kernel == "rbf" and kind is RiskRFE:
        assert selector.n_features_ == 2


def test_guyon_goes_on_where_the_norm_is_rounding():
    """One positive feature, a normalised kernel: all ones, so the norm is rounding, of
    either sign.
    """
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (40, 5))
    selector = GuyonRFE("change-point", kernel=LinearKernel(normalised=True), C=2.0)
    with pytest.warns(UserWarning, match="Rounding errors decide"):
        selector.fit(X, X[:, 0] + X[:, 1] > 1)
    assert selector.n_features_path_[-1] == 0 and selector.n_features_ >= 1


def product_with_noise(n=40, d=8):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n, d))
    return X, X[:, 0] * X[:, 3] + 0.1 * rng.standard_normal(n)


@swept(
    ("loss", "parameters"),
    [("squared_hinge", {})],
    [
        ("hinge", {"step": 2, "step_tol": 0.1}),
        ("epsilon_insensitive", {}),
        ("epsilon_insensitive", {"step": 2, "step_tol": 0.1}),
        ("hinge", {}),
        ("squared_hinge", {"step": 2, "step_tol": 0.1}),
        *((loss, {}) for loss in ("smoothed_hinge", "log_loss")),
        *(
            (loss, {"step": 2, "step_tol": 0.1})
            for loss in ("smoothed_hinge", "log_loss")
        ),
    ],
)
def test_large_features_leave_exact_values_and_the_order(loss, parameters):
    """From `C |x|^2` of 1e14 on a bound has more rounding errors than digits, and must
    not stand in for a value.
    """
    X, t = product_with_noise()
    y = t > 0 if get_loss(loss).for_labels else t
    nothing = EmpiricalRisk(
        loss,
        np.where(t > 0, 1.0, -1.0) if get_loss(loss).for_labels else t - t.mean(),
        1.0,
    )
    paths = [
        RiskRFE(1, kernel="linear", loss=loss, **parameters).fit(s * X, y)
        for s in (1e7, 1e9)
    ]
    for path in paths:
        assert (path.increments_ >= -1e-8).all()
        assert path.objective_path_[-1] <= nothing.primal(np.zeros(len(t))) / len(t)
    assert_allclose(paths[0].objective_path_, paths[1].objective_path_, rtol=1e-6)
    if not parameters:
        assert_array_equal(paths[0].elimination_order_, paths[1].elimination_order_)


def test_guyon_of_large_features():
    X, t = product_with_noise()
    # without the two weights near zero that X and t have
    distinct = X @ 2.0 ** np.arange(-4, 4) + 0.1 * t
    for target, scales in ((t, (1e4, 1e5)), (distinct, (1e5, 1e6))):
        few, large, dear = (
            GuyonRFE(1, kernel="linear", loss="epsilon_insensitive", C=C).fit(
                s * X, target
            )
            for s, C in ((scales[0], 1.0), (scales[1], 1.0), (1.0, 1e12))
        )
        assert_array_equal(few.elimination_order_, large.elimination_order_)
        assert_array_equal(few.elimination_order_, dear.elimination_order_)
    with pytest.warns(UserWarning, match="Rounding errors decide which features go"):
        GuyonRFE(1, kernel="linear", loss="epsilon_insensitive").fit(1e8 * X, t)


@pytest.mark.parametrize("kind", [RiskRFE, GuyonRFE])
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "log_loss"])
def test_a_linear_machine_with_an_intercept_does_not_see_a_shift(kind, loss):
    X, t = product_with_noise()
    y = t > 0 if get_loss(loss).for_labels else t
    near, far = (
        kind(3, kernel="linear", loss=loss).fit(X + shift, y) for shift in (0, 1e7)
    )
    assert_array_equal(far.elimination_order_, near.elimination_order_)
    assert_allclose(far.objective_path_, near.objective_path_, rtol=1e-6)
    assert_allclose(far._values(X + 1e7), near._values(X), atol=1e-5)


def test_features_that_rounding_hides_are_named():
    rng = np.random.default_rng(0)
    X = np.c_[rng.uniform(1.5e9, 1.7e9, 60), rng.standard_normal((60, 5))]
    for Z in (X, sp.csr_array(X)):
        with pytest.warns(
            UserWarning, match="rounding errors of the larger hide the smaller"
        ):
            RiskRFE(1, kernel="linear").fit(Z, X[:, 1] > 0)


@pytest.mark.parametrize("parameters", [{}, {"kernel": "poly", "gamma": 1.0}])
def test_features_too_large_for_the_machine_are_refused(parameters):
    X, t = product_with_noise()
    with pytest.raises(
        ValueError,
        match=r"C=1 is not possible for an X with kernel values k\(x, x\) of up to",
    ):
        RiskRFE(1, **{"kernel": "linear", **parameters}).fit(1e20 * X, t > 0)


def two_signs(n=120, d=8, seed=0):
    X = np.random.default_rng(seed).uniform(-1, 1, (n, d))
    return X, np.where(X[:, 2] * X[:, 5] > 0, "b", "a")


@pytest.mark.parametrize("kind", [RiskRFE, GuyonRFE])
def test_estimators_find_what_no_linear_machine_sees(kind):
    X, y = two_signs()
    selector = kind(2, C=10).fit(X, y)
    assert_array_equal(selector.get_support(indices=True), [2, 5])
    machine = SVC(C=10, gamma=selector.kernel_.gamma, tol=1e-8).fit(X[:, [2, 5]], y)
    fresh = two_signs(seed=1)[0]
    assert_allclose(
        selector.decision_function(fresh),
        machine.decision_function(fresh[:, [2, 5]]),
        atol=1e-5,
    )
    assert_array_equal(selector.predict(fresh), machine.predict(fresh[:, [2, 5]]))
    assert (
        set(selector.ranking_) == {1, 2, 3, 4, 5, 6, 7}
        and (selector.ranking_ == 1).sum() == 2
    )
    assert_allclose(selector.increments_, np.diff(selector.objective_path_))
    assert_array_equal(selector.n_features_path_, np.arange(8, 1, -1))


def test_objectives_are_those_of_the_machine():
    X, y = two_signs()
    target = X[:, 2] ** 2 + 0.1 * X[:, 5]
    selector = RiskRFE(3, loss="epsilon_insensitive", C=50 / len(X), epsilon=0.05).fit(
        X, target
    )
    C = 1 / (2 * len(X) * 0.01)
    K = rbf_kernel(X[:, selector.support_], gamma=selector.kernel_.gamma)
    machine = SVR(kernel="precomputed", C=C, epsilon=0.05, tol=1e-9).fit(K, target)
    u = np.zeros(len(X))
    u[machine.support_] = machine.dual_coef_[0]
    f = machine.predict(K)
    assert_allclose(selector.predict(X), f, atol=1e-5)
    objective = 0.01 * u @ K @ u + np.maximum(0, abs(target - f) - 0.05).mean()
    assert_allclose(selector.objective_path_[-1], objective, rtol=1e-6)


def test_weights_sparse_frames_pickles_and_pipelines():
    X, y = two_signs()
    w = np.random.default_rng(1).integers(0, 3, 120).astype(float)
    weighted = RiskRFE(2, C=5).fit(X, y, w)
    repeated = RiskRFE(2, C=5).fit(
        np.repeat(X, w.astype(int), axis=0), np.repeat(y, w.astype(int))
    )
    assert_array_equal(weighted.ranking_, repeated.ranking_)
    assert_allclose(weighted.objective_path_, repeated.objective_path_, rtol=1e-7)
    dense = RiskRFE(2, kernel="linear", loss="log_loss").fit(X, y)
    sparse = RiskRFE(2, kernel="linear", loss="log_loss").fit(sp.csr_array(X), y)
    assert_array_equal(dense.ranking_, sparse.ranking_)
    assert_allclose(
        dense.decision_function(X), sparse.decision_function(sp.csc_array(X)), atol=1e-8
    )
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    named = RiskRFE(2, C=5).fit(frame, y)
    assert_array_equal(named.get_feature_names_out(), ["c", "f"])
    again = pickle.loads(pickle.dumps(named))
    assert_array_equal(again.predict(frame), named.predict(frame))
    assert list(
        clone(named)
        .set_output(transform="pandas")
        .fit(frame, y)
        .transform(frame)
        .columns
    ) == ["c", "f"]
    pipe = make_pipeline(StandardScaler(), RiskRFE(C=5, step=0.5))
    search = GridSearchCV(pipe, {"riskrfe__n_features_to_select": [2, 8]}, cv=3).fit(
        X, y
    )
    assert search.best_params_ == {"riskrfe__n_features_to_select": 2}


def test_ties_go_by_index_and_units_do_not_matter():
    X, y = two_signs()
    same = np.column_stack(
        [X[:, 2], X[:, 2], X[:, 5], X[:, 5], np.ones(120), np.zeros(120)]
    )
    order = RiskRFE(2, gamma=0.5, C=5).fit(same, y).elimination_order_.tolist()
    assert order[:2] == [4, 5] and set(order[2:]) == {0, 2}
    far = RiskRFE(2, C=5).fit(X * 1e6, y)
    assert_array_equal(far.ranking_, RiskRFE(2, C=5).fit(X, y).ranking_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (dict(loss="l1"), "loss='l1' is not possible: give one of 'hinge'"),
        (dict(C=-1), "C=-1 is not possible"),
        (dict(C=0), "C=0 is not possible"),
        (dict(kernel="gauss"), "kernel='gauss' is not possible"),
        (dict(gamma=-1), "gamma=-1 is not possible"),
        (dict(epsilon=-0.1), "epsilon=-0.1 is not possible"),
        (dict(step=0), "step=0 is not possible"),
        (dict(step=1.0), "step=1.0 is not possible"),
        (dict(step="some"), "step='some' is not possible: .* or 'adaptive'"),
        (dict(step_tol=-0.1), "step_tol=-0.1 is not possible"),
        (dict(step_tol="exact"), "step_tol='exact' is not possible"),
        (
            dict(n_features_to_select="change-point", max_increment=0.1),
            "both are rules for stopping",
        ),
        (dict(max_increment=-0.5), "max_increment=-0.5 is not possible"),
        (dict(tol=0), "tol=0 is not possible"),
        (dict(fit_intercept=1), "fit_intercept=1 is not possible"),
        (dict(n_features_to_select=9), "n_features_to_select=9 is not possible"),
        (
            dict(n_features_to_select="some"),
            "n_features_to_select='some' is not possible",
        ),
        (dict(kernel=lambda A, B: -A @ B.T), "is not positive semi-definite"),
        (dict(kernel="chi2"), "a histogram has none below 0"),
    ],
)
def test_errors_name_the_parameter_and_leave_nothing_behind(parameters, message):
    X, y = two_signs(30)
    selector = RiskRFE(2).fit(X, y).set_params(**parameters)
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        selector.fit(X, y)
    assert vars(selector).keys() == selector.get_params().keys()
    with pytest.raises(NotFittedError):
        selector.transform(X)


@pytest.mark.parametrize("kind", [RiskRFE, GuyonRFE])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_without_support_vectors_all_features_tie(kind, kernel):
    """All targets lie inside the tube: no feature costs anything, and ties go by index."""
    X = np.random.default_rng(0).standard_normal((80, 8))
    for step in (1, 3):
        selector = kind(2, kernel=kernel, loss="epsilon_insensitive", step=step)
        said, _ = messages_of(selector.fit, X, 0.02 * X[:, 0])
        assert (
            len(said) == 1
            and "No feature is of any use" in said[0]
            and "take a smaller epsilon" in said[0]
        )
        assert_array_equal(selector.elimination_order_, np.arange(6))
        assert_array_equal(
            selector.predict(X),
            selector.intercept_[0] if selector.intercept_.ndim else 0,
        )


def test_bad_data_and_interrupts():
    X, y = two_signs()
    with pytest.raises(ValueError, match="one class"):
        RiskRFE().fit(X, np.full(120, "a"))
    with pytest.raises(ValueError, match="NaN"):
        RiskRFE().fit(np.where(X > 0.99, np.nan, X), y)
    with pytest.raises(AttributeError, match="decision_function"):
        RiskRFE(2, loss="squared_error").fit(X, X[:, 0]).decision_function(X)

    def interrupt(left):
        raise KeyboardInterrupt

    selector = RiskRFE(2).fit(X, y).set_params(max_increment=interrupt)
    with pytest.raises(KeyboardInterrupt):
        selector.fit(X, y)
    assert not [name for name in vars(selector) if name.endswith("_")]
    with pytest.raises(NotFittedError):
        selector.predict(X)


NO_LIMITS = {
    "nan": np.nan,
    "None": None,
    "-0.5": -0.5,
    "minus infinity": -np.inf,
    "text": "0.1",
    "several": np.array([0.1, 0.2]),
    "list": [0.1],
    "complex": 1j,
    "True": True,
}


LIMITED = np.random.default_rng(0).uniform(-1, 1, (40, 6))
KINDS_OF_PATH = {
    "steps of one": dict(kernel="rbf"),
    "steps of several": dict(kernel="rbf", step="adaptive"),
    "in closed form": dict(kernel="linear", loss="squared_error"),
}


@pytest.mark.parametrize("path", KINDS_OF_PATH)
@pytest.mark.parametrize("kind", NO_LIMITS)
def test_a_limit_that_is_no_number_is_refused(kind, path):
    """NaN would never stop the elimination. Nothing stays fitted."""
    target = np.sign(LIMITED[:, 0])
    selector = RiskRFE(2, **KINDS_OF_PATH[path]).fit(LIMITED, target)
    selector.set_params(
        max_increment=lambda left: 1e9 if left == 6 else NO_LIMITS[kind]
    )
    with refused(
        "max_increment gives",
        "features, which is not possible",
        "a number of at least 0",
    ):
        selector.fit(LIMITED, target)
    assert not [name for name in vars(selector) if name.endswith("_")]


@pytest.mark.parametrize(
    "number", [float, np.float32, np.float64, np.array, int, lambda _: np.inf]
)
def test_limits_of_every_kind_of_number(number):
    target = np.sign(LIMITED[:, 0])
    limit = float(number(1))
    expected = RiskRFE(2, max_increment=limit if np.isfinite(limit) else None).fit(
        LIMITED, target
    )
    found = RiskRFE(2, max_increment=lambda left: number(1)).fit(LIMITED, target)
    assert_array_equal(found.ranking_, expected.ranking_)


@parametrize_with_checks(
    [GuyonRFE(loss="epsilon_insensitive"), RiskRFE(criterion="norm")]
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_checks(estimator, check):
    """RiskRFE() is among the tests of conformance."""
    check(estimator)


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("kind", "loss"),
    [
        (GuyonRFE, "epsilon_insensitive"),
        (RiskRFE, "hinge"),
        (RiskRFE, "epsilon_insensitive"),
        (GuyonRFE, "hinge"),
        *(
            (RiskRFE, loss)
            for loss in LOSSES
            if loss not in ("hinge", "epsilon_insensitive")
        ),
    ],
)
def test_check_estimator(kind, loss):
    assert (
        is_regressor(kind(loss=loss))
        == (not get_loss(loss).for_labels)
        != is_classifier(kind(loss=loss))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(kind(loss=loss))


@pytest.mark.sweep
def test_check_estimator_of_a_linear_kernel_down_to_the_end():
    """Among its data are single samples, where nothing supports the machine."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(
            RiskRFE("change-point", kernel="linear", loss="epsilon_insensitive")
        )


@pytest.mark.filterwarnings("error")
def test_the_squared_hinge_has_a_box_without_an_end():
    """Raw features and C = 100: neither pivots nor single entries settle, and the
    interior-point method must.
    """
    X, y = load_breast_cancer(return_X_y=True)
    selector = RiskRFE(5, kernel="linear", loss="squared_hinge", C=100).fit(
        X[::4], y[::4]
    )
    assert_array_equal(selector.get_support(indices=True), [3, 12, 21, 22, 23])
    assert selector.score(X[::4], y[::4]) > 0.9


@needs_data
@pytest.mark.filterwarnings("error")
@swept(("kernel", "every"), [("rbf", 5)], [("rbf", 1), ("linear", 2), ("linear", 3)])
def test_vowels_at_default_parameters(kernel, every):
    vowel = load_dataset("vowel")
    rows = slice(None, None, every)
    selector = RiskRFE("change-point", kernel=kernel).fit(
        vowel.data[rows], vowel.target[rows]
    )
    assert len(selector.elimination_order_) == 10


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kernel", [*KERNELS, lambda A, B: A @ B.T])
@pytest.mark.parametrize("kind", [RiskRFE, GuyonRFE])
def test_a_fit_looks_for_nan_once(kind, kernel, sparse, monkeypatch):
    """At the door; the kernels and their sums trust what is handed to them."""
    X = np.random.default_rng(0).uniform(0.1, 1, (60, 6))
    y = np.where(X[:, 0] * X[:, 1] > 0.3, 1, -1)
    if sparse and callable(kernel):
        kernel = lambda A, B: (A @ B.T).toarray()  # noqa: E731
    looked = []

    def watch(module, name):
        look = getattr(module, name)

        def watched(A, *arguments, **options):
            # entries of a sparse matrix are one-dimensional
            if np.shape(A) in (X.shape, (X.size,)):
                looked.append(name)
            return look(A, *arguments, **options)

        monkeypatch.setattr(module, name, watched)

    watch(sklearn.utils.validation, "_assert_all_finite")
    watch(fsel_book.arrays, "all_finite")
    machine = kind(2, kernel=kernel).fit(sp.csr_array(X) if sparse else X, y)
    assert looked == ["_assert_all_finite"]
    looked.clear()
    machine.predict(X if not sparse else sp.csc_array(X))
    assert looked == ["_assert_all_finite"]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [RiskRFE, GuyonRFE])
def test_a_diagonal_that_rounding_has_made_negative(kind):
    """Down to no feature, sums from which raw features have been taken end a little
    below zero.
    """
    X, y = load_breast_cancer(return_X_y=True)
    assert (
        len(
            kind("change-point", kernel="linear").fit(X[::3], y[::3]).elimination_order_
        )
        == 30
    )


def test_a_step_of_several_features_is_exact_where_it_is_asked_to_be():
    """With no tolerance, and with a limit on the rise, as if every candidate were
    refitted.
    """
    X, y = two_signs()
    exact = RiskRFE(2, C=5, step=2, step_tol=0).fit(X, y)
    limited = RiskRFE(2, C=5, step=2, step_tol=0.5, max_increment=10.0).fit(X, y)
    assert_array_equal(exact.elimination_order_, limited.elimination_order_)
    one = [
        RiskRFE(2, C=5, step_tol=tolerance).fit(X, y).elimination_order_
        for tolerance in (0.0, 0.5)
    ]
    assert_array_equal(*one)


def test_a_huge_C_changes_nothing_until_ties_are_as_large_as_the_objective():
    """A machine that separates the classes; the floor of ties is 0.015 at C=1e8, and
    150 at 1e12.
    """
    X = np.random.default_rng(0).uniform(-1, 1, (150, 10))
    y = X[:, 0] * X[:, 1] > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        modest = RiskRFE(2, C=1e4).fit(X, y)
        huge = RiskRFE(2, C=1e8).fit(X, y)
    assert huge.elimination_order_.tolist() == modest.elimination_order_.tolist()
    assert 1e8 * huge.objective_path_[0] == pytest.approx(
        1e4 * modest.objective_path_[0], rel=1e-6
    )
    with pytest.warns(UserWarning, match="Rounding errors decide which features go"):
        RiskRFE(2, C=1e12).fit(X, y)


def messages_of(fit, *arguments):
    """What a call warns of, each warning told to come from this file."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        result = fit(*arguments)
    assert all(warning.filename == __file__ for warning in seen)
    return [str(warning.message) for warning in seen], result


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (dict(C=1e-12), "Take a larger C"),
        (dict(C=1e-8), "Take a larger C"),
        (dict(C=1e-12, kernel="linear"), "Take a larger C"),
        (dict(C=1e-12, kernel="poly", fit_intercept=False), "Take a larger C"),
        (dict(gamma=1e-12), "a larger gamma"),
        (dict(gamma=1e12), "take a smaller gamma"),
        (dict(gamma=1e12, fit_intercept=False), "take a smaller gamma"),
    ],
)
@swept_product(
    ("loss", "step"),
    [("hinge", 1), *((loss, (3, 1)[i % 2]) for i, loss in enumerate(LOSSES))],
    LOSSES,
    [1, 3],
)
def test_where_nothing_tells_features_apart_a_warning_says_so(
    loss, parameters, message, step
):
    """Tiny C, tiny gamma: no feature is worth a tie. Huge gamma: the kernel is the same
    without any one of them.
    """
    X, t = product_with_noise()
    y = t > 0 if get_loss(loss).for_labels else t
    said, selector = messages_of(
        RiskRFE(2, loss=loss, step=step, **parameters).fit, X, y
    )
    assert (
        len(said) == 1 and said[0].startswith("Rounding errors ") and message in said[0]
    )
    if step == 1 and parameters.get("C") != 1e-8:
        assert_array_equal(selector.elimination_order_, np.arange(6))
    # a machine for each class
    three = np.digitize(t, [-0.2, 0.2]) if get_loss(loss).for_labels else 1000 * t
    assert (
        len(
            messages_of(RiskRFE(2, loss=loss, step=step, **parameters).fit, X, three)[0]
        )
        == 1
    )
    # nothing to choose
    assert not messages_of(RiskRFE(8, loss=loss, step=step, **parameters).fit, X, y)[0]


@swept_product(
    ("loss", "kernel", "C"),
    [
        *itertools.product(LOSSES, ["rbf", "linear"], [1.0]),
        *((loss, "rbf", (1e-4, 1e4)[i % 2]) for i, loss in enumerate(LOSSES)),
        *((loss, "linear", (1e4, 1e-4)[i % 2]) for i, loss in enumerate(LOSSES)),
    ],
    LOSSES,
    ["rbf", "linear"],
    [1e-4, 1.0, 1e4],
)
def test_no_such_warning_at_usual_parameters(loss, kernel, C):
    X, t = product_with_noise()
    y = t > 0 if get_loss(loss).for_labels else t
    for step in (1, 0.3, "adaptive"):
        assert not messages_of(
            RiskRFE(2, loss=loss, kernel=kernel, C=C, step=step).fit, X, y
        )[0]
    if C == 1:  # ties by the wish of the user, and twins
        assert not messages_of(RiskRFE(2, loss=loss, kernel=kernel, tol=0.1).fit, X, y)[
            0
        ]
        assert not messages_of(
            RiskRFE(1, loss=loss, kernel=kernel).fit, np.column_stack([X, X[:, 0]]), y
        )[0]


def test_guyons_rule_compares_norms_which_may_be_small():
    """Their order at tiny C is that at small C; with a huge gamma they are all the
    same.
    """
    X, t = product_with_noise()
    said, tiny = messages_of(GuyonRFE(2, loss="squared_hinge", C=1e-12).fit, X, t > 0)
    assert not said
    small = GuyonRFE(2, loss="squared_hinge", C=1e-4).fit(X, t > 0)
    assert_array_equal(tiny.elimination_order_, small.elimination_order_)
    for step in (1, 3):
        said, _ = messages_of(GuyonRFE(2, gamma=1e12, step=step).fit, X, t > 0)
        assert (
            len(said) == 1
            and "the norm is the same" in said[0]
            and "take a smaller gamma" in said[0]
        )


@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
def test_a_fit_of_seconds_is_not_said_to_take_minutes(loss):
    """How long it takes depends on how many candidates need a fit, which the sizes do
    not tell.
    """
    X = np.random.default_rng(0).standard_normal((60, 9000))
    y = X[:, 0] if loss == "epsilon_insensitive" else X[:, 0] > 0
    start = time.process_time()
    said, _ = messages_of(RiskRFE(2, loss=loss, step=0.1).fit, X, y)
    assert not said and time.process_time() - start < 20


class Recorder:
    """A bar that notes what it is told."""

    made: list = []

    def __init__(self, total, desc):
        self.total = total
        self.steps = []
        Recorder.made.append(self)

    def update(self, k):
        self.steps.append(k)

    def close(self):
        pass


@pytest.mark.parametrize("kind", [RiskRFE, GuyonRFE])
@pytest.mark.parametrize(
    ("parameters", "steps"),
    [
        (dict(), 198),
        (dict(step=0.1), 10),
        (dict(kernel="linear", loss="squared_error"), 4),
        (dict(kernel="linear", loss="squared_error", step=7), 4),
        (dict(n_features_to_select="change-point", step=0.2), 5),
    ],
)
def test_the_bar_moves_from_the_first_steps_on(kind, parameters, steps, monkeypatch):
    """So that it can tell from these how long the rest will take, in closed form too."""
    monkeypatch.setattr("tqdm.auto.tqdm", Recorder)
    X = np.random.default_rng(0).standard_normal((40, 200))
    kind(**({"n_features_to_select": 2, "verbose": 1} | parameters)).fit(
        X, np.where(X[:, 2] > 0, 1.0, 2.0)
    )
    bar = Recorder.made.pop()
    assert (
        sum(bar.steps) == bar.total
        and len(bar.steps) >= steps
        and max(bar.steps) <= 0.4 * bar.total
    )


@pytest.mark.parametrize(
    "parameters",
    [
        dict(),
        dict(kernel="linear", loss="squared_error"),
        dict(kernel="poly", step=3, loss="squared_hinge"),
        dict(n_features_to_select="change-point", gamma=0.3, C=5.0),
    ],
)
def test_guyons_rule_is_a_criterion(parameters):
    """`GuyonRFE` is a name of it: the same to the last bit, fits and parameters."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (60, 9))
    y = np.where(X[:, 1] * X[:, 4] > 0, 1.0, -1.0)
    one = RiskRFE(criterion="norm", **parameters).fit(X, y)
    other = GuyonRFE(**parameters).fit(X, y)
    found = {name for name in vars(one) if name.endswith("_")}
    assert found == {name for name in vars(other) if name.endswith("_")}
    for name in found - {"kernel_"}:
        assert_array_equal(getattr(one, name), getattr(other, name))
    assert_array_equal(one.predict(X), other.predict(X))
    gone = {"criterion", "step_tol", "max_increment"}
    assert one.get_params().keys() - gone == other.get_params().keys()
    # one fit for all features, and one a step
    assert one.n_refits_ == len(one.n_features_path_)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (dict(criterion="Norm"), "criterion='Norm' is not possible: give 'risk' or"),
        (dict(criterion=1), "criterion=1 is not possible"),
        (dict(criterion=None), "criterion=None is not possible"),
        (dict(criterion="norm", step="adaptive"), "step='adaptive' is not possible"),
        (dict(criterion="norm", max_increment=0.1), "give criterion='risk', or"),
    ],
)
def test_what_goes_with_a_criterion(parameters, words):
    X, y = two_signs()
    with refused(words):
        RiskRFE(2, **parameters).fit(X, y)


@pytest.mark.parametrize("kind", [RiskRFE, GuyonRFE])
@pytest.mark.parametrize(
    "f",
    [
        lambda x, z: np.exp(-np.sum((x - z) ** 2)),
        lambda x, z: float(np.tanh(x @ z) + 1),
    ],
)
def test_a_kernel_of_two_samples_is_refused_with_the_remedy(kind, f):
    X, y = two_signs(30, 6)
    with refused("must take two matrices", "pairwise_kernels(X, Z, metric=f)"):
        kind(2, kernel=f).fit(X, y)
    if f(X[0], X[0]) == 1:
        given = kind(2, kernel=lambda X, Z: pairwise_kernels(X, Z, metric=f))
        named = kind(2, kernel="rbf", gamma=1.0)
        assert_array_equal(given.fit(X, y).ranking_, named.fit(X, y).ranking_)


class Clock:
    """A second for each look."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        self.seconds += 1.0
        return self.seconds


@pytest.mark.parametrize(
    ("selector", "words"),
    [
        (RiskRFE(2), "criterion='norm'"),
        (RiskRFE(2, step=5), "larger step"),
        (RiskRFE(2, criterion="norm"), "larger step"),
        (GuyonRFE(2), "another selector first"),
        (RiskRFE(2, kernel="linear", loss="squared_error"), "criterion='norm'"),
    ],
)
def test_a_long_fit_says_once_how_long_it_will_take(selector, words, monkeypatch):
    """Measured from its own first steps: not if it is quick, and not beside a bar."""
    X = np.random.default_rng(0).standard_normal((40, 200))
    y = np.where(X[:, 2] > 0, 1.0, 2.0)
    assert messages_of(selector.fit, X, y)[0] == []
    name = type(selector).__name__
    clock = partial(Progress, clock=Clock())
    monkeypatch.setattr("fsel_book.risk_rfe.Progress", clock)
    monkeypatch.setattr("fsel_book.progress.LONG", 2.0)
    monkeypatch.setattr("fsel_book.progress.FIRST_LOOK", 1.0)
    said, _ = messages_of(clone(selector).fit, X, y)
    (text,) = said
    assert text.startswith(f"{name}.fit will take about ") and words in text
    assert ("criterion" in text) == (selector.criterion == "risk")
    assert messages_of(clone(selector).set_params(verbose=1).fit, X, y)[0] == []


@pytest.mark.parametrize(
    "parameters", [dict(), dict(kernel="linear", loss="squared_error"), dict(step=3)]
)
def test_the_bar_reaches_its_end(parameters, capsys):
    X, _ = two_signs()
    RiskRFE(2, verbose=1, **parameters).fit(X, (X[:, 2] > 0).astype(float))
    assert "6/6" in capsys.readouterr().err


@pytest.mark.skipif(
    not fsel_book.arrays.SCIPYS_BLAS.lib_controllers,
    reason="SciPy has no BLAS of its own here",
)
@pytest.mark.parametrize(
    "work",
    [
        ("elimination", "running_sums", RiskRFE(step=699)),
        ("elimination", "ridge_fit", RiskRFE(kernel="linear", loss="squared_error")),
        ("elimination", "cold_fit", GuyonRFE(step=699)),
        ("warm_fits", "libsvm_fit", GuyonRFE(step=699)),
        ("linear_programs", "solve_by_central_path", LPSVMClassifier()),
    ],
    ids=lambda work: work[1],
)
def test_two_blas_libraries_do_not_wait_for_each_other(work, monkeypatch):
    module, name, estimator = work
    threads = []

    def begin(*_):
        blas = fsel_book.arrays.BLAS.select(user_api="blas").lib_controllers
        threads.extend(
            (fsel_book.arrays.is_scipys(one.filepath), one.num_threads) for one in blas
        )
        raise Begun

    monkeypatch.setattr(getattr(fsel_book, module), name, begin)
    X = np.random.default_rng(0).standard_normal((700, 700))
    with threadpool_limits(2, user_api="blas"), pytest.raises(Begun):
        estimator.fit(X, np.sign(X[:, 0]))
    assert set(threads) == {(True, 1), (False, 2)}


@pytest.mark.parametrize("exponent", [-140, -60, 60, 100])
@pytest.mark.parametrize("kind", [RiskRFE, GuyonRFE])
def test_a_polynomial_with_a_gamma_from_the_data_does_not_see_the_scale(kind, exponent):
    X, t = product_with_noise()
    plain, scaled = (
        kind(1, kernel="poly").fit(s * X, t > 0) for s in (1, 10.0**exponent)
    )
    assert_array_equal(scaled.elimination_order_, plain.elimination_order_)
    assert_allclose(scaled.objective_path_, plain.objective_path_, rtol=1e-7)


@pytest.mark.parametrize("name", ["coef0", "epsilon", "step_tol", "max_increment"])
def test_where_zero_is_possible_the_message_says_so(name):
    X, y = two_signs(20)
    parameters = {name: -1.0, "kernel": "poly"}
    with pytest.raises(
        ValueError, match=f"{name}=-1.0 is not possible: give a number of at least 0"
    ):
        RiskRFE(1, **parameters).fit(X, y)
    RiskRFE(1, **{**parameters, name: 0}).fit(X, y)


def test_the_ranking_counts_from_the_features_that_are_kept():
    """As in RFE: 1 for those kept, 2 for the last to go, and so on to the first."""
    X = np.random.default_rng(0).uniform(-1, 1, (60, 6))
    selector = RiskRFE(2, kernel="linear").fit(X, X[:, 0] > X[:, 3])
    assert_array_equal(selector.ranking_[selector.get_support()], 1)
    assert_array_equal(selector.ranking_[selector.elimination_order_], [5, 4, 3, 2])


@pytest.mark.parametrize("step", [0.3, "adaptive"])
def test_machines_without_free_samples(step):
    """Features of zeros and ones, and small C: all dual variables at a bound. No
    warning, and the exact values.
    """
    for seed in range(8):
        rng = np.random.default_rng(seed)
        B = rng.standard_normal((24, 8))
        X = (B > 0).astype(float)
        y = B[:, 0] + B[:, 1] / 2 + 0.3 * rng.standard_normal(24) > 0
        for C in (0.01, 1.0):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                fitted = RiskRFE(2, kernel="linear", step=step, C=C).fit(X, y)
            left = fitted.support_
            exact = (
                RiskRFE(2, kernel="linear", C=C).fit(X[:, left], y).objective_path_[0]
            )
            assert_allclose(fitted.objective_path_[-1], exact, rtol=1e-6)


@pytest.mark.parametrize(
    "loss", ["hinge", "squared_hinge", "log_loss", "huberised_hinge"]
)
def test_scales_of_which_nothing_is_left_but_rounding_are_refused(loss):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((24, 8))
    y = np.arange(24) % 2
    for scale in (1e20, 1e40, 1e80):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("error", RuntimeWarning)
            with pytest.raises(
                ValueError, match="C=1 is not possible for an X with kernel values"
            ):
                RiskRFE(1, kernel="linear", loss=loss).fit(X * scale, y)


@pytest.mark.parametrize("kind", [RiskRFE, GuyonRFE])
def test_kernel_matrices_beyond_the_memory_are_refused(kind, monkeypatch):
    X = np.random.default_rng(0).standard_normal((200, 4))
    y = np.sign(X[:, 0])
    memory = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 16 * 200**2 // 4096}
    monkeypatch.setattr("os.sysconf", memory.__getitem__)
    with pytest.raises(MemoryError, match="200 samples.*some of the rows.*linear"):
        kind(2).fit(X, y)
    assert kind(2, kernel="linear").fit(X, y).n_features_in_ == 4
    memory["SC_PHYS_PAGES"] += 1
    assert kind(2).fit(X, y).n_features_in_ == 4
