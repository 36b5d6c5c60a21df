"""Risk-RFE where the model is a sum over a few samples: the objectives, the choice and
the bounds on what that costs.
"""

import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from cases import swept_product
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from fsel_book.elimination import risk_rfe, risk_rfe_reference
from fsel_book.elimination_step import reduced_kernels, reduced_products
from fsel_book.kernel_machines import EmpiricalRisk
from fsel_book.kernels import (
    ChiSquaredKernel,
    LandmarkKernel,
    LinearKernel,
    PolynomialKernel,
    RBFKernel,
    running_sums,
)
from fsel_book.losses import LOSSES, get_loss
from fsel_book.risk_rfe import GuyonRFE, RiskRFE


def bent_rule(n=400, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d))
    return X, np.where(X[:, 1] * X[:, 4] + 0.2 * rng.standard_normal(n) > 0, 1, -1)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_landmarks_remove_what_fits_of_all_candidates_would(loss, fit_intercept):
    X, y = bent_rule(120)
    target = y if get_loss(loss).for_labels else X[:, 1] - X[:, 4] ** 3
    for base in (
        RBFKernel(0.5),
        PolynomialKernel(2, 0.5, 1.0),
        LinearKernel(),
        ChiSquaredKernel(),
    ):
        kernel = LandmarkKernel(base, [3, 50, 51, 80, 90, 119])
        A = abs(X) if isinstance(base, ChiSquaredKernel) else X
        risks = [EmpiricalRisk(loss, target, 1.0)]
        fast = risk_rfe(A, risks, kernel, intercept=fit_intercept)
        order, values = risk_rfe_reference(A, risks, kernel, intercept=fit_intercept)
        assert fast.order == order
        assert_allclose(fast.values, values, rtol=1e-7)


@pytest.mark.parametrize("loss", ["hinge", "log_loss", "huberised_hinge"])
def test_the_objective_of_all_samples_lies_between_the_bounds(loss):
    X, y = bent_rule()
    part = RiskRFE(2, loss=loss, gamma=0.5, C=3, n_landmarks=40, random_state=0).fit(
        X, y
    )
    assert_array_equal(part.get_support(indices=True), [1, 4])
    whole = RiskRFE(1.0, loss=loss, gamma=0.5, C=3).fit(X[:, [1, 4]], y)
    least, most = part.objective_bounds_
    assert least <= whole.objective_path_[-1] * (1 + 1e-9)
    assert whole.objective_path_[-1] < most == part.objective_path_[-1]
    assert most < 1.05 * least
    # the upper bound is what the model at hand has, found from its predictions
    K = RBFKernel(0.5)(X[part.landmarks_][:, [1, 4]])
    a = part.dual_coef_[0]
    f = part.decision_function(X)
    own = a @ K @ a / (2 * 3 * len(y)) + get_loss(loss).value(y, f).mean()
    assert_allclose(own, most, rtol=1e-6)
    assert part.score(X, y) > whole.score(X[:, [1, 4]], y) - 0.02


def test_more_landmarks_never_raise_the_objective():
    X, y = bent_rule()
    rows = np.random.default_rng(1).permutation(len(X))
    risk = EmpiricalRisk("log_loss", y, 3.0)
    values = [
        risk_rfe(X, [risk], LandmarkKernel(RBFKernel(0.5), rows[:m]), 6).values[0]
        for m in (5, 10, 50, 400)
    ]
    whole = risk_rfe(X, [risk], RBFKernel(0.5), 6).values[0]
    assert values[0] > values[1] > values[2] > values[3]
    assert_allclose(values[3], whole, rtol=1e-6)


def test_as_many_landmarks_as_samples_are_all_samples():
    X, y = bent_rule(60)
    whole = RiskRFE(2).fit(X, y)
    same = RiskRFE(2, n_landmarks=60).fit(X, y)
    assert_array_equal(same.objective_path_, whole.objective_path_)
    assert not hasattr(same, "landmarks_") and not hasattr(same, "objective_bounds_")


def test_landmarks_are_drawn_among_samples_with_weight():
    X, y = bent_rule()
    w = np.tile([0.0, 1.0, 2.0, 1.0], 100)
    some = w > 0
    selector = RiskRFE(2, n_landmarks=30, random_state=3, loss="log_loss")
    selector.fit(X, y, sample_weight=w)
    assert len(np.unique(selector.landmarks_)) == 30 and some[selector.landmarks_].all()
    again = clone(selector).fit(X[some], y[some], sample_weight=w[some])
    assert_allclose(again.objective_path_, selector.objective_path_, rtol=1e-12)
    assert_array_equal(np.flatnonzero(some)[again.landmarks_], selector.landmarks_)
    other = clone(selector).set_params(random_state=4).fit(X, y, sample_weight=w)
    assert set(other.landmarks_) != set(selector.landmarks_)


@swept_product(
    ("kind", "rule"),
    [(RiskRFE, 2), (GuyonRFE, 2)],
    [RiskRFE, GuyonRFE],
    [2, "change-point", "auto"],
)
def test_landmarks_with_every_rule_classes_and_sparse_data(kind, rule):
    X, _ = bent_rule(200)
    y = np.digitize(X[:, 1] * X[:, 4], [-0.1, 0.1])
    selector = kind(
        rule, kernel="poly", degree=2, coef0=1.0, n_landmarks=20, random_state=0, C=10
    )
    selector.fit(X, y)
    assert set(selector.get_support(indices=True)) >= {1, 4}
    assert selector.dual_coef_.shape == (3, 20)
    assert (
        selector.objective_bounds_[1]
        == selector.objective_path_[
            list(selector.n_features_path_).index(selector.n_features_)
        ]
    )
    thin = clone(selector).fit(sp.csr_array(X), y)
    assert_array_equal(thin.support_, selector.support_)
    assert_allclose(
        thin.decision_function(sp.csr_array(X)),
        selector.decision_function(X),
        atol=1e-5,
    )


def test_twenty_thousand_samples_take_little_memory():
    """A kernel matrix of theirs has 3.2 GB, and each candidate has its own."""
    X, y = bent_rule(20_000, 5)
    tracemalloc.start()
    selector = RiskRFE(3, loss="log_loss", n_landmarks=50, random_state=0).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300e6
    least, most = selector.objective_bounds_
    assert least < most < 1.01 * least


@pytest.mark.parametrize("wanted", [0, -1, 2.5, True, "many"])
def test_numbers_of_landmarks_that_mean_nothing_are_refused(wanted):
    X, y = bent_rule(30)
    with pytest.raises(ValueError, match="n_landmarks"):
        RiskRFE(2, n_landmarks=wanted).fit(X, y)


def test_landmarks_of_a_callable_kernel_are_refused():
    X, y = bent_rule(30)
    with pytest.raises(ValueError, match="n_landmarks=5 .* callable"):
        RiskRFE(2, kernel=lambda A, B: A @ B.T, n_landmarks=5).fit(X, y)


@pytest.mark.parametrize("kind", [RiskRFE, GuyonRFE])
def test_check_estimator_of_landmarks(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # other landmarks are drawn where samples are there twice
        drawn = "check_sample_weight_equivalence_on_{}_data"
        check_estimator(
            kind(n_landmarks=10, random_state=0, loss="log_loss"),
            expected_failed_checks={
                drawn.format(data): "landmarks" for data in ("dense", "sparse")
            },
        )


def test_a_feature_of_other_units_takes_no_digits_from_the_others():
    X, _ = bent_rule(120)
    X[:, 0] *= 1e6
    for base in (
        LinearKernel(),
        LinearKernel(normalised=True),
        PolynomialKernel(2, 1.0, 0.0),
    ):
        kernel = LandmarkKernel(base, [3, 50, 51, 80, 90, 119])
        step = reduced_kernels(sums := running_sums(kernel, X), sums.matrix())
        without = np.asarray(kernel(X * (np.arange(6) != 0)))
        assert_allclose(np.asarray(step.matrix(0)), without, rtol=1e-9, atol=1e-12)
        v = np.linspace(-1, 1, 120)
        assert_allclose(
            reduced_products(step, np.tile(v, (6, 1)).T)[:, 0], without @ v, rtol=1e-6
        )


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_kernel_of_zeros_says_that_nothing_tells_features_apart():
    X, y = bent_rule(60)
    with pytest.warns(UserWarning, match="which features go"):
        RiskRFE(2, kernel="linear", n_landmarks=5).fit(0 * X, y)


def test_a_feature_that_is_gone_is_not_removed_again():
    X, _ = bent_rule(30)
    sums = running_sums(LandmarkKernel(RBFKernel(), [1, 2]), X)
    sums.remove([3])
    with pytest.raises(ValueError, match="Feature 3 is not there"):
        sums.remove([3])
