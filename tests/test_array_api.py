"""Every public name on arrays of every library: what comes back, and where it lives.

A new public name must be declared here: what it returns in the library of its input,
what it returns on the host, or that it takes no data matrix. With and without
scikit-learn's dispatch the answer is the same.
"""

import importlib
import inspect
import pkgutil
import re
from functools import cache
from pathlib import Path

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from cases import CASES, PUBLIC, small_head, swept, swept_product
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.utils import get_tags
from test_doors import DENSE, ESTIMATORS, SIGNS

import fsel_book
from fsel_book import (
    BSSSelector,
    CalibrationSelector,
    GuaranteePriceDisplay,
    LeverageDisplay,
    LeverageSelector,
    Reconstructor,
    RecoveryDisplay,
    RiskRFE,
    RLSClassifier,
    RowSelector,
    ScreeDisplay,
    SensorSelector,
    SizeDisplay,
    StabilityDisplay,
    WeightScores,
    arrays,
    bss,
    certify,
    certify_columns,
    certify_selector,
    certify_span,
    change_point,
    column_search,
    complete,
    cur,
    det_sampling,
    enclosing_ball,
    find_copies,
    information_gain,
    largest_leverages,
    leading_factor,
    least_variance_ratio,
    leverage_sampling,
    leverage_scores,
    margin_report,
    pivoted_qr,
    ridge_risk,
    row_space,
    rrqr,
    selection_stability,
    size_path,
    stability_selection,
    strong_rrqr,
    svm_margin,
)
from fsel_book.arrays import from_numpy, to_numpy
from fsel_book.baselines import random_features
from fsel_book.dual_set import rand_sampling
from fsel_book.elimination import guyon_rfe, risk_rfe, squared_linear_path
from fsel_book.groups import columns_of, group_bss, kernel_bss
from fsel_book.kernel_machines import EmpiricalRisk, duality_gap
from fsel_book.kernels import (
    CallableKernel,
    ChiSquaredKernel,
    LinearKernel,
    PolynomialKernel,
    RBFKernel,
    kernel_of,
)
from fsel_book.labels import completion_promise
from fsel_book.ridge import data_sandwich, kernel_sandwich, prediction_bound, risk_bound
from fsel_book.sparse_components import RegressionCertificate, best_rank_k_in_span
from fsel_book.spectra import ridge_space
from fsel_book.stopping import change_region, change_weights, resampled_change_points

each_dtype = pytest.mark.parametrize("dtype", ["float64", "float32"])
DISPATCH = [False, True]
each_dtype_and_dispatch = swept_product(
    ("dtype", "dispatch"),
    [("float64", False), ("float32", True)],
    ["float64", "float32"],
    DISPATCH,
)

QUICK_RFE = RiskRFE("change-point", kernel="linear", loss="squared_error")


def whole(X):
    return LeverageSelector(20, rank="full", rule="largest").fit(X)


def parts(*things, names=("indices", "weights")):
    return [getattr(thing, name) for thing in things for name in names]


def fitted_path(X, y):
    return change_point(
        *parts(QUICK_RFE.fit(X, y), names=("objective_path_", "n_features_path_"))
    )


def span_of(X, y):
    return certify_span(row_space(X, 3), bss(row_space(X, 3), 8))


def some_groups(X):
    return group_bss(ridge_space(X, 900.0), np.arange(24) // 4, 3)


# Arrays in the library and on the device of the data.
THERE = {
    "best_rank_k_in_span": lambda X, y: [
        best_rank_k_in_span(X[:, :5], X, 2),
        best_rank_k_in_span(X[:, :5], y, 1),
    ],
    "bss": lambda X, y: parts(
        *(
            bss(row_space(X, 3), 8, rule, 0)
            for rule in ("largest-norm", "best", "sampled")
        )
    ),
    "complete": lambda X, y: parts(complete(row_space(X, 3), [0, 4], 5)),
    "columns_of": lambda X, y: parts(columns_of(some_groups(X), np.arange(24) // 4)),
    "group_bss": lambda X, y: parts(some_groups(X)),
    "det_sampling": lambda X, y: parts(
        *(
            det_sampling(row_space(X, 3), row_space(X, 3).residual_norms, 6, rule)
            for rule in ("first", "best")
        ),
        det_sampling(
            row_space(X, 3),
            row_space(X, 3).residual_norms,
            6,
            "closest",
            arrays.as_float64(y[:, None]),
        ),
    ),
    "enclosing_ball": lambda X, y: parts(
        enclosing_ball(X), names=("center", "weights")
    ),
    "information_gain": lambda X, y: [information_gain(X, y)],
    "largest_leverages": lambda X, y: parts(largest_leverages(row_space(X, 3), 5)),
    "leverage_sampling": lambda X, y: parts(leverage_sampling(row_space(X, 3), 5, 0)),
    "leverage_scores": lambda X, y: [leverage_scores(X, 3)],
    "prediction_bound": lambda X, y: parts(
        prediction_bound(whole(X).certificate_, X, y, 1.0, X[:5, :]),
        names=("inside", "outside", "total"),
    ),
    "rand_sampling": lambda X, y: parts(rand_sampling(row_space(X, 3), 4, 0)),
    "random_features": lambda X, y: parts(random_features(row_space(X, 3), 4, 0)),
    "resampled_change_points": lambda X, y: [
        resampled_change_points(QUICK_RFE, X, y, 2, random_state=0)[1]
    ],
    "row_space": lambda X, y: [
        *parts(
            row_space(X, 3),
            names=("leverage_scores", "scores64", "squared_lengths", "residual_norms"),
        ),
        abs(row_space(X, 3).basis()),
    ],
    "rrqr": lambda X, y: parts(rrqr(row_space(X, 3), 4)),
    "svm_margin": lambda X, y: parts(
        svm_margin(X, y), svm_margin(X, y, C=0.1), names=("coef", "support")
    ),
    "Sampling": lambda X, y: [BSSSelector(6).fit(X).sampling_.apply(X)],
    "WeightScores": lambda X, y: [WeightScores(RLSClassifier())(X, y)],
    "LinearKernel": lambda X, y: [LinearKernel()(X), LinearKernel(True)(X, X[:3, :])],
    "PolynomialKernel": lambda X, y: [PolynomialKernel(2, 0.1, 1.0)(X)],
    "RBFKernel": lambda X, y: [RBFKernel(0.1)(X)],
    "ChiSquaredKernel": lambda X, y: [ChiSquaredKernel(0.1)(X)],
    "CallableKernel": lambda X, y: [CallableKernel(lambda A, B: A @ B.T)(X)],
    "RowSpace": lambda X, y: [row_space(X, 3).rows([2, 0]) ** 2],
}

# Numbers, promises and small tables for reading, on the host; whatever is computed of
# device arrays.
ON_HOST = {
    "least_variance_ratio": lambda X, y: [least_variance_ratio(X, 16)],
    "certify": lambda X, y: [
        certify(row_space(X, 3), bss(row_space(X, 3), 8)).eigenvalues
    ],
    "certify_columns": lambda X, y: [certify_columns(X, [0, 3, 5]).eigenvalues],
    "certify_selector": lambda X, y: [
        certify_selector(BSSSelector(6).fit(X), X).eigenvalues
    ],
    "certify_span": lambda X, y: [span_of(X, y).eigenvalues, span_of(X, y).sine],
    "change_point": lambda X, y: [
        fitted_path(X, y).n_features,
        fitted_path(X, y).fitted,
    ],
    "change_region": lambda X, y: [change_region(fitted_path(X, y), 0.9)],
    "change_weights": lambda X, y: [change_weights(fitted_path(X, y))],
    "completion_promise": lambda X, y: [
        completion_promise(row_space(X, 3), [0, 4], 5).lower
    ],
    "CUR": lambda X, y: [cur(X, 6, 5).error],
    "RowCertificate": lambda X, y: [
        RowSelector(selector=BSSSelector(9)).fit(X, y).certificate_.excess
    ],
    "RowSelector": lambda X, y: [
        RowSelector(9, selector=BSSSelector(rank=3)).fit(X, y).weights_
    ],
    "Reconstructor": lambda X, y: [Reconstructor([0, 4]).fit(X).coef_],
    "find_copies": lambda X, y: [np.concatenate([[-1], *find_copies(X, 0.95)])],
    "leading_factor": lambda X, y: [leading_factor(X, 2)],
    "SensorSelector": lambda X, y: [SensorSelector(3, noise=0.5).fit(X).errors_],
    "CalibrationSelector": lambda X, y: [
        CalibrationSelector(3, noise=0.5).fit(X, y).errors_
    ],
    "cur": lambda X, y: [cur(X, 6, 5).U],
    "data_sandwich": lambda X, y: data_sandwich(X, X),
    "kernel_bss": lambda X, y: [
        kernel_bss([X @ X.T, X[:, :3] @ X[:, :3].T], 1, 1e9).sampling.weights
    ],
    "kernel_of": lambda X, y: [kernel_of("rbf", X).gamma],
    "kernel_sandwich": lambda X, y: kernel_sandwich(X @ X.T, X @ X.T),
    "margin_report": lambda X, y: margin_report(X, y, whole(X).sampling_).radii,
    "stability_selection": lambda X, y: [
        stability_selection(QUICK_RFE, X, y, n_pairs=2, random_state=0).frequencies
    ],
    "size_path": lambda X, y: [size_path(QUICK_RFE, X, y, cv=2).scores],
    "pivoted_qr": lambda X, y: [pivoted_qr(X, 4).permutation],
    "strong_rrqr": lambda X, y: [strong_rrqr(X, 4).permutation],
    "ridge_risk": lambda X, y: parts(
        ridge_risk(X @ X.T, y, 1.0, [0.1, 1.0]), names=("bias", "variance")
    ),
    "risk_bound": lambda X, y: [
        risk_bound(whole(X).certificate_, X @ X.T, y, 1.0, [0.1, 1.0]).bias
    ],
    "selection_stability": lambda X, y: [selection_stability(X > 1).value],
    "GuaranteePriceDisplay": lambda X, y: [
        GuaranteePriceDisplay.from_estimator(
            RLSClassifier(), X, y, information_gain, 8, cv=2
        ).kappas
    ],
    "LeverageDisplay": lambda X, y: [
        LeverageDisplay.from_selector(BSSSelector(6).fit(X)).scores
    ],
    "RecoveryDisplay": lambda X, y: RecoveryDisplay.from_projections(
        X, y, [4], random_state=0
    ).errors.values(),
    "RegressionCertificate": lambda X, y: [
        RegressionCertificate.of(span_of(X, y), y).measured
    ],
    "ScreeDisplay": lambda X, y: [
        ScreeDisplay.from_selector(QUICK_RFE.fit(X, y)).point.values
    ],
    "SizeDisplay": lambda X, y: [
        SizeDisplay.from_selector(QUICK_RFE, X, y, cv=2).path.scores
    ],
    "StabilityDisplay": lambda X, y: [
        StabilityDisplay.from_selectors(
            {"BSS": BSSSelector(6, rank=2)}, X, y, n_samples=3
        )
        .stabilities["BSS"]
        .value
    ],
}

WITHOUT_A_MATRIX = {
    # made by the functions above, of numbers
    *(
        "Certificate",
        "ChangePoint",
        "EnclosingBall",
        "Margin",
        "MarginReport",
        "SizePath",
        "PivotedQR",
        "Pool",
    ),
    *(
        "PredictionBound",
        "Promise",
        "RidgeRisk",
        "SpanCertificate",
        "SpanPromise",
        "Stability",
        "StableFeatures",
    ),
    *("KeptDisplay", "RiskCurveDisplay", "SpectrumDisplay"),
    # of whole numbers
    *("bss_promise", "excess_of", "false_bound", "leverage_promise"),
    # abstract, of strings, or where data come from
    *(
        "CertifiedSelector",
        "Constraints",
        "MismatchFeatures",
        "load_dataset",
        "load_docstrings",
        "load_flights",
        "load_glosses",
        "load_sea_temperature",
        "load_table",
        "load_tecator",
        "load_techtc",
        # tables of a person's own, on the host
        "TableSelector",
        "read_panel",
        "report",
        "select_panel",
    ),
    *(
        "make_bhattacharyya",
        "make_bhattacharyya_regression",
        "make_collinear_regression",
        "make_linear_regression",
    ),
    *(
        "make_linear_sign",
        "make_nested_cube",
        "make_nested_square",
        "make_nonlinear_regression",
    ),
    # such data come to the host
    *("Blocks", "GramMatrix", "TriangularFactor", "as_blocks"),
}


def test_every_public_name_is_declared():
    estimators = {type(estimator).__name__ for estimator in ESTIMATORS.values()}
    declared = [estimators, set(THERE), set(ON_HOST), WITHOUT_A_MATRIX]
    names = set().union(*declared)
    assert set(fsel_book.__all__) <= names <= set(PUBLIC)
    assert sum(map(len, declared)) == len(names), "a name is declared twice"


@pytest.mark.parametrize(
    "name", sorted(ON_HOST) + ["Blocks", "GramMatrix", "TriangularFactor", "as_blocks"]
)
def test_what_is_on_the_cpu_says_so(name):
    assert re.search(r"\bCPU\b", PUBLIC[name].__doc__)


# ---------------------------------------------------------------- functions


def on_data(work, make, dtype, dispatch):
    with sklearn.config_context(array_api_dispatch=dispatch):
        return list(work(make(DENSE.astype(dtype)), make(SIGNS)))


@each_dtype_and_dispatch
@pytest.mark.parametrize("name", THERE)
def test_results_live_where_the_data_live(dense_library, name, dtype, dispatch):
    expected = on_data(THERE[name], np.asarray, dtype, False)
    found = on_data(THERE[name], dense_library.make, dtype, dispatch)
    device = dense_library.device(dense_library.make(DENSE))
    rough = (
        {"rtol": 1e-3, "atol": 1e-4}
        if dtype == "float32"
        else {"rtol": 1e-6, "atol": 1e-6}
    )
    for ours, theirs in zip(found, expected, strict=True):
        assert (
            dense_library.is_result(ours, str(theirs.dtype))
            and dense_library.device(ours) == device
        )
        assert_allclose(dense_library.back(ours), theirs, **rough)


@cache
def numbers_of(name):
    return on_data(ON_HOST[name], np.asarray, "float64", False)


@swept_product(
    ("name", "dispatch"),
    [(name, DISPATCH[i % 2]) for i, name in enumerate(ON_HOST)],
    ON_HOST,
    DISPATCH,
)
def test_numbers_are_on_the_host(dense_library, name, dispatch):
    expected = numbers_of(name)
    for ours, theirs in zip(
        on_data(ON_HOST[name], dense_library.make, "float64", dispatch),
        expected,
        strict=True,
    ):
        assert isinstance(ours, float | int | np.generic | np.ndarray | list)
        assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)


# ---------------------------------------------------------------- estimators


def all_results(estimator, X, y):
    """All arrays that a fit leaves behind, and what every method returns."""
    fitted = clone(estimator).fit(X, y)
    found = {name: value for name, value in vars(fitted).items() if name.endswith("_")}
    for method in ("transform", "predict", "decision_function"):
        if hasattr(fitted, method):
            found[method] = getattr(fitted, method)(X)
    if hasattr(fitted, "inverse_transform"):
        found["inverse_transform"] = fitted.inverse_transform(found["transform"])
    if hasattr(fitted, "score"):
        found["score"] = fitted.score(X, y)
    return found


@cache
def results_of(name, dtype):
    return all_results(
        ESTIMATORS[name], DENSE.astype(dtype), targets_for(ESTIMATORS[name])
    )


def targets_for(estimator):
    numbers = (
        get_tags(estimator).estimator_type == "regressor"
        or getattr(estimator, "rule", "") == "target"
    )
    return SIGNS if numbers else (SIGNS > 0).astype(int)


@each_dtype_and_dispatch
@pytest.mark.parametrize("name", ESTIMATORS)
def test_all_that_an_estimator_gives_lives_where_the_data_live(
    dense_library, name, dtype, dispatch
):
    estimator = ESTIMATORS[name]
    X = DENSE.astype(dtype)
    y = targets_for(estimator)
    given = dense_library.make(X)
    expected = results_of(name, dtype)
    with sklearn.config_context(array_api_dispatch=dispatch):
        found = all_results(estimator, given, dense_library.make(y))
    assert list(found) == list(expected)
    for key, theirs in expected.items():
        ours = found[key]
        if isinstance(theirs, np.ndarray):
            assert dense_library.is_result(ours, str(theirs.dtype)), (
                f"{key}: {type(ours)}"
            )
            assert dense_library.device(ours) == dense_library.device(given), key
            if theirs.dtype.kind in "iub":
                assert_array_equal(dense_library.back(ours), theirs, err_msg=key)
        elif key == "score":
            assert isinstance(ours, float) and ours == pytest.approx(theirs, abs=1e-3)
    assert get_tags(estimator).array_api_support


@pytest.mark.parametrize("name", ESTIMATORS)
def test_libraries_of_the_specification_of_2023_are_enough(name):
    """They take no bare numbers where newer ones do; the oldest supported versions make
    array_api_strict such a one.
    """
    y = targets_for(ESTIMATORS[name])
    expected = results_of(name, "float64")
    with array_api_strict.ArrayAPIStrictFlags(api_version="2023.12"):
        found = all_results(
            ESTIMATORS[name],
            array_api_strict.asarray(DENSE),
            array_api_strict.asarray(y),
        )
    assert list(found) == list(expected)


@pytest.mark.parametrize(
    "name", [name for name in ESTIMATORS if hasattr(ESTIMATORS[name], "get_support")]
)
def test_the_support_is_a_mask_on_the_host(dense_library, name):
    """As scikit-learn's pipelines and feature names want it."""
    estimator = ESTIMATORS[name]
    fitted = clone(estimator).fit(
        dense_library.make(DENSE), dense_library.make(targets_for(estimator))
    )
    assert (
        isinstance(fitted.get_support(), np.ndarray)
        and fitted.get_support().dtype == bool
    )
    assert_array_equal(dense_library.back(fitted.support_), fitted.get_support())
    assert len(fitted.get_feature_names_out()) == fitted.get_support().sum()


# ---------------------------------------------------------------- the only doors


@pytest.fixture
def crossings(monkeypatch):
    """Shapes of what went through `to_numpy` and `from_numpy`, of arrays of a device;
    any other way raises there.
    """
    seen = {"down": [], "up": []}

    def down(a, *name):
        out = to_numpy(a, *name)
        if out is not a and hasattr(a, "device"):
            seen["down"].append((out.shape, out.nbytes))
        return out

    def up(a, like):
        out = from_numpy(a, like)
        if out is not a:
            seen["up"].append((a.shape, a.nbytes))
        return out

    for found in pkgutil.iter_modules(fsel_book.__path__):
        module = importlib.import_module(f"fsel_book.{found.name}")
        for name, door in (("to_numpy", down), ("from_numpy", up)):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, door)
    return seen


def crossed(seen):
    return sum(size for way in seen.values() for _, size in way)


@pytest.mark.parametrize("rule", ["largest-norm", "best"])
def test_bss_brings_neither_the_data_nor_the_basis_across(
    crossings, dense_library, rule
):
    rng = np.random.default_rng(0)
    n = 30
    d = 20_000
    r = 60
    X = rng.standard_normal((n, d)) * np.exp(rng.standard_normal(d))
    given = dense_library.make(X)
    data = row_space(X)
    expected = bss(data, r, rule)
    sampling = bss(row_space(given), r, rule)
    assert_array_equal(dense_library.back(sampling.indices), expected.indices)
    if dense_library.name == "numpy":
        assert crossed(crossings) == 0
        return
    assert crossed(crossings) < X.nbytes / 2
    assert max(
        shape[0] * (shape[1] if len(shape) > 1 else 1) for shape, _ in crossings["down"]
    ) <= max(2 * d, 1300 * n)  # two numbers tell which columns are multiples


@pytest.mark.parametrize("name", ["BSS", "BSS, best", "DSF", "DSF, first"])
def test_columns_beyond_the_rows_at_hand_are_judged_where_they_are(
    monkeypatch, crossings, dense_library, name
):
    """All lengths nearly equal: the scan goes far beyond the head, which is made small
    here.
    """
    small_head(monkeypatch, 2)
    X = np.random.default_rng(1).standard_normal((25, 3000))
    given = dense_library.make(X)
    case = CASES[name]
    expected = case.function(row_space(X, 20), 24)
    for way in crossings.values():
        way.clear()
    sampling = case.function(row_space(given, 20), 24)
    assert_array_equal(dense_library.back(sampling.indices), expected.indices)
    assert_allclose(dense_library.back(sampling.weights), expected.weights, rtol=1e-6)
    # the head as it was made, and candidates: not every column at every step
    if dense_library.name != "numpy":
        rows = sum(
            shape[0]
            for shape, _ in crossings["down"]
            if len(shape) == 2 and shape[1] == 20
        )
        assert rows < 3000
        # In float32, nearly all at once, for each piece is a wait; on the host they are
        # of 1,024 or 2,048.
        assert (
            max(
                shape[0]
                for shape, size in crossings["down"]
                if (size, len(shape)) == (4 * shape[0], 1)
            )
            > 2048
        )


def test_bounds_from_an_earlier_step_are_made_where_the_columns_are(
    monkeypatch, crossings, dense_library
):
    rng = np.random.default_rng(0)
    used = []
    X = rng.standard_normal((20, 8000)) * rng.pareto(1.5, size=8000)
    scores = rng.chisquare(1, size=8000)
    in_doubt = column_search.Screen.in_doubt
    expected = bss(row_space(X), 80, scores=scores)

    def noted(self, number, U, places):
        used.append(self.W)
        return in_doubt(self, number, U, places)

    monkeypatch.setattr(column_search.Screen, "in_doubt", noted)
    for way in crossings.values():
        way.clear()
    found = bss(row_space(dense_library.make(X)), 80, scores=scores)
    assert_array_equal(dense_library.back(found.indices), expected.indices)
    bounds = [W for W in used if W is not None]
    assert len(bounds) > 10 and {type(W) for W in bounds} == {
        type(dense_library.make(X))
    }
    if dense_library.name != "numpy":
        assert not any(shape == (2048, 20) for shape, _ in crossings["down"])


@swept("kernel", ["linear", "rbf"], ["chi2"])
def test_an_elimination_brings_one_kernel_matrix_a_fit(
    crossings, dense_library, kernel
):
    rng = np.random.default_rng(0)
    X = rng.random((50, 12))
    n = 50
    y = (X[:, 3] + X[:, 5] > 1).astype(int)
    expected = RiskRFE(4, kernel=kernel, C=5.0).fit(X, y)
    for way in crossings.values():
        way.clear()
    fitted = RiskRFE(4, kernel=kernel, C=5.0).fit(dense_library.make(X), y)
    assert_array_equal(
        dense_library.back(fitted.elimination_order_), expected.elimination_order_
    )
    if dense_library.name != "numpy":
        matrices = sum(shape == (n, n) for shape, _ in crossings["down"])
        assert 8 <= matrices <= fitted.n_refits_ + 12
        assert all(
            shape[0] < n or shape[1] <= n
            for shape, _ in crossings["down"]
            if len(shape) == 2
        )


def test_a_sparse_sketching_matrix_crosses_as_its_entries(crossings, dense_library):
    X = np.random.default_rng(0).standard_normal((30, 5000))
    X[1] = X[0] + 1e-7 * X[1]  # so that the way through a sketch is taken
    expected = leverage_scores(X)
    for way in crossings.values():
        way.clear()
    assert_allclose(
        dense_library.back(leverage_scores(dense_library.make(X))), expected, rtol=1e-6
    )
    if dense_library.name != "numpy":
        assert crossed(crossings) < X.nbytes
        assert not any(sp.issparse(a) for a in crossings["up"])


class Rough(np.ndarray):
    """Stands for an array of a device that multiplies float32 matrices with 11 bits, as
    TF32 does.
    """

    def __matmul__(self, other):
        return np.round(np.asarray(self) * 2**10) / 2**10 @ np.asarray(other)


def test_a_device_is_asked_whether_its_float32_is_true(monkeypatch, dense_library):
    like = dense_library.make(np.zeros(1))
    assert column_search.true_float32(like)
    if dense_library.name == "numpy":
        monkeypatch.setattr(
            np,
            "full",
            lambda *args, full=np.full, **keywords: full(*args, **keywords).view(Rough),
        )
        assert not column_search.true_float32(like)


def test_there_are_no_other_doors():
    """Whatever NumPy would be asked to do of itself, `array_api_strict` refuses on its
    second device.
    """
    others = re.compile(r"from_dlpack|\.cpu\(\)|\.get\(\)|\.numpy\(\)|asnumpy")
    for path in Path(fsel_book.__file__).parent.rglob("*.py"):
        if path.name != "arrays.py":
            assert not others.search(path.read_text(encoding="utf-8")), path.name
    assert len(others.findall(inspect.getsource(to_numpy))) == 4 and not others.search(
        inspect.getsource(from_numpy)
    )


@pytest.mark.parametrize("name", ["BSS", "BSS, best", "DSF", "DSF, first"])
def test_without_true_float32_the_picks_are_the_same(monkeypatch, dense_library, name):
    small_head(monkeypatch, 2)
    X = np.random.default_rng(1).standard_normal((25, 3000))
    expected = CASES[name].function(row_space(X, 20), 24)
    monkeypatch.setattr(column_search, "true_float32", lambda like: False)
    monkeypatch.setattr(column_search, "as_float32", None)  # is not called
    found = CASES[name].function(row_space(dense_library.make(X), 20), 24)
    assert_array_equal(dense_library.back(found.indices), expected.indices)


# ---------------------------------------------------------------- what chapters export
# beside


def test_eliminations_for_machines_of_your_own(dense_library):
    X = DENSE[:, :8]
    y = dense_library.make(SIGNS)
    given = dense_library.make(X)
    kernel = RBFKernel(0.01)
    risk = EmpiricalRisk("hinge", y, dense_library.make(np.ones(16)))
    expected = EmpiricalRisk("hinge", SIGNS, 1.0)
    for eliminate in (risk_rfe, guyon_rfe):
        assert (
            eliminate(given, [risk], kernel, 4).order
            == eliminate(X, [expected], kernel, 4).order
        )
    squares = EmpiricalRisk("squared_error", y, 1.0)
    path = squared_linear_path(given, squares, 3)
    assert (
        path.order
        == squared_linear_path(X, EmpiricalRisk("squared_error", SIGNS, 1.0), 3).order
    )
    u = SIGNS / 10
    gap = duality_gap(kernel(given), risk, dense_library.make(u), intercept=False)
    assert gap == pytest.approx(duality_gap(kernel(X), expected, u, intercept=False))
