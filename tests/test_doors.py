"""What comes in: sparse matrices of every make, arrays of another library, and classes
where an instance is needed.

Every public estimator and function that takes a data matrix has an entry in
`ESTIMATORS` or `FUNCTIONS`.
"""

import copy
import importlib
import inspect
import pickle
import pkgutil
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg
from cases import CASES, LIBRARIES, PUBLIC, refused, swept, with_condition
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import (
    SelectKBest,
    VarianceThreshold,
    f_classif,
    f_regression,
)
from sklearn.gaussian_process.kernels import Matern
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import fsel_book
from fsel_book import (
    AdditiveKernelSelector,
    BSSSelector,
    Certificate,
    CertifiedSelector,
    CompletionSelector,
    DSFSelector,
    DualProjectionClassifier,
    DualProjectionRidge,
    GroupSelector,
    GuaranteePriceDisplay,
    GuyonRFE,
    LeverageDisplay,
    LeverageSelector,
    LPSVMClassifier,
    RecoveryDisplay,
    RiskRFE,
    RLSClassifier,
    Sampling,
    SCADSVMClassifier,
    ScreeDisplay,
    SparsePCRegressor,
    SpectrumDisplay,
    StabilityDisplay,
    SupportVectorSelector,
    WeightScores,
    as_blocks,
    certify,
    certify_columns,
    certify_selector,
    certify_span,
    cur,
    det_sampling,
    enclosing_ball,
    find_copies,
    information_gain,
    leading_factor,
    least_variance_ratio,
    leverage_scores,
    margin_report,
    pivoted_qr,
    ridge_risk,
    row_space,
    size_path,
    stability_selection,
    strong_rrqr,
    svm_margin,
)
from fsel_book.arrays import to_numpy
from fsel_book.certificates import PlainColumns, Promise
from fsel_book.dual_set import rand_sampling
from fsel_book.elimination import guyon_rfe, risk_rfe, risk_rfe_reference
from fsel_book.groups import ColumnGroups
from fsel_book.kernel_machines import EmpiricalRisk
from fsel_book.kernels import (
    CallableKernel,
    ChiSquaredKernel,
    LinearKernel,
    PolynomialKernel,
    RBFKernel,
    RunningSums,
    SumKernel,
    kernel_of,
    removals,
    removals_reference,
)
from fsel_book.ridge import data_sandwich, kernel_sandwich, prediction_bound, risk_bound
from fsel_book.sparse_components import RegressionCertificate
from fsel_book.stopping import resampled_change_points

rng = np.random.default_rng(0)
DENSE = np.where(rng.random((16, 24)) < 0.4, rng.integers(1, 6, (16, 24)), 0).astype(
    float
)
DENSE[np.arange(16), np.arange(16)] = 7
Y = np.where(DENSE[:, 1] + DENSE[:, 3] + DENSE[:, 18] > 4, "yes", "no")
SIGNS = np.where(Y == "yes", 1.0, -1.0)

# ---------------------------------------------------------------- what takes a matrix

ESTIMATORS = {
    **{name: case.make(6, rank=3) for name, case in CASES.items()},
    "BSS, rescaled": BSSSelector(6, rank=3, rescale=True),
    "BSS, sketched": BSSSelector(6, rank=3, sketch_size=8, random_state=0),
    "DSF, target": DSFSelector(6, rank=3, rule="target"),
    "completion": CompletionSelector([0, 5], 4, rank=3),
    "completion, auto": CompletionSelector([0, 5, 7], rank=2, distortion=0.9),
    "groups": GroupSelector(3, groups=np.arange(24) // 4),
    "kernels": AdditiveKernelSelector(6),
    "support vectors": SupportVectorSelector(BSSSelector(6, rank=3)),
    "sparse components": SparsePCRegressor(2, n_features_to_select=6),
    "sparse components, no intercept": SparsePCRegressor(2, fit_intercept=False),
    "sparse components, SelectKBest": SparsePCRegressor(
        2, selector=SelectKBest(f_regression, k=6)
    ),
    "support vectors, SVC": SupportVectorSelector(
        BSSSelector(6, rank=3), svm=SVC(kernel="linear")
    ),
    "support vectors, LinearSVC": SupportVectorSelector(
        BSSSelector(6, rank=3), svm=LinearSVC()
    ),
    "support vectors, RLS": SupportVectorSelector(
        BSSSelector(6, rank=3), svm=RLSClassifier()
    ),
    "RLS": RLSClassifier(),
    "RLS, alpha=0": RLSClassifier(alpha=0),
    "RLS, rbf": RLSClassifier(kernel="rbf"),
    "LPSVM": LPSVMClassifier(),
    "SCAD-SVM": SCADSVMClassifier(),
    "dual projection": DualProjectionClassifier(random_state=0),
    "dual projection, squares": DualProjectionRidge(random_state=0),
    "risk-RFE": RiskRFE(20),
    "risk-RFE, chi-squared": RiskRFE(22, kernel="chi2"),
    "risk-RFE, closed form": RiskRFE(4, kernel="linear", loss="squared_error"),
    "Guyon's RFE": GuyonRFE(20, kernel="poly", degree=2),
}


def outcome(estimator, X):
    """All that a fit leaves behind, and what the fitted estimator does with the same
    data.
    """
    numbers = (
        estimator.__sklearn_tags__().estimator_type == "regressor"
        or getattr(estimator, "rule", "") == "target"
    )
    fitted = clone(estimator).fit(X, SIGNS if numbers else Y)
    out = {name: value for name, value in vars(fitted).items() if name.endswith("_")}
    for method in ("transform", "predict", "decision_function"):
        if hasattr(fitted, method):
            out[method] = getattr(fitted, method)(X)
    if hasattr(fitted, "get_support") and hasattr(fitted, "sampling_"):
        out["inverse_transform"] = fitted.inverse_transform(out["transform"])
    return out


def span_parts(X):
    space = row_space(X, rank=3)
    certificate = certify_span(space, rand_sampling(space, 6, random_state=0))
    return [
        certificate.sine,
        certificate.residual,
        certificate.remainder,
        space.residual_norms,
    ]


def margins(X):
    report = margin_report(X, Y, LeverageSelector(20, random_state=0).fit(X).sampling_)
    return [*report.margins, *report.radii, *report.interval]


def certificate_of(X):
    return LeverageSelector(20, rank="full", rule="largest").fit(X).certificate_


def bound(X):
    found = prediction_bound(certificate_of(X), X, SIGNS, 1.0, X)
    return [found.inside, found.outside]


def picture(X):
    made = RecoveryDisplay.from_projections(X, SIGNS, [4, 8], random_state=0)
    again = RecoveryDisplay.from_iterations(X, SIGNS, 8, max_iter=2, random_state=0)
    return [*made.errors.values(), *again.errors.values()]


def eliminations(X):
    kernel = RBFKernel(0.01)
    losses = [EmpiricalRisk("hinge", SIGNS, 1.0)]
    return [f(X, losses, kernel, 4).order for f in (risk_rfe, guyon_rfe)] + [
        risk_rfe_reference(X, losses, kernel, 5)[0]
    ]


def running(X):
    sums = RunningSums(RBFKernel(0.01), X)
    sums.remove(3)
    return [
        sums.matrix(),
        removals(RBFKernel(0.01), X, RBFKernel(0.01).sums(X), [0, 2]),
    ]


FUNCTIONS = {
    "row_space": lambda X: [
        row_space(X).singular_values,
        row_space(X).leverage_scores,
        row_space(X).squared_lengths,
    ],
    "least_variance_ratio": lambda X: [least_variance_ratio(X, 16)],
    "leverage_scores": lambda X: [leverage_scores(X), leverage_scores(X, 3)],
    "certify": lambda X: [
        certify(row_space(X, 3), rand_sampling(row_space(X, 3), 6, 0)).eigenvalues
    ],
    "certify_span": span_parts,
    "det_sampling": lambda X: [
        det_sampling(row_space(X, 3), row_space(X, 3).residual_norms, 6, rule).weights
        for rule in ("first", "best")
    ],
    "certify_columns": lambda X: [certify_columns(X, [0, 2])],
    "find_copies": lambda X: [
        np.concatenate([[-1], *find_copies(X, 0.95)]),
    ],
    "leading_factor": lambda X: [leading_factor(X, 2).T @ leading_factor(X, 2)],
    "certify_selector": lambda X: [
        certify_selector(
            SelectKBest(information_gain, k=8).fit(DENSE, Y), X
        ).eigenvalues
    ],
    "cur": lambda X: [cur(X, 6, [2, 3, 9]).error, cur(X, 6, 4).U],
    "information_gain": lambda X: [information_gain(X, Y)],
    "svm_margin": lambda X: [svm_margin(X, Y).margin, svm_margin(X, Y, C=0.1).coef],
    "enclosing_ball": lambda X: [enclosing_ball(X).radius, enclosing_ball(X).center],
    "margin_report": margins,
    "prediction_bound": bound,
    "data_sandwich": lambda X: data_sandwich(X, DENSE),
    "pivoted_qr": lambda X: [pivoted_qr(X, 4).permutation],
    "strong_rrqr": lambda X: [strong_rrqr(X, 4).permutation],
    "kernels": lambda X: [
        kernel(X)
        for kernel in (
            LinearKernel(True),
            PolynomialKernel(2),
            RBFKernel(0.1),
            ChiSquaredKernel(0.1),
        )
    ],
    "kernel_of": lambda X: [
        kernel_of(kernel, X).gamma for kernel in ("rbf", "chi2", "poly")
    ],
    "removals_reference": lambda X: [removals_reference(RBFKernel(0.01), X, [0, 2])],
    "removals": running,
    "risk_rfe": eliminations,
    "RecoveryDisplay": picture,
    "stability_selection": lambda X: [
        stability_selection(
            RiskRFE(4, kernel="linear", loss="squared_error"),
            X,
            SIGNS,
            n_pairs=2,
            random_state=0,
        ).frequencies
    ],
    "size_path": lambda X: [
        size_path(RiskRFE(kernel="linear", loss="squared_error"), X, SIGNS, cv=2).scores
    ],
    "resampled_change_points": lambda X: resampled_change_points(
        RiskRFE(kernel="linear", loss="squared_error"), X, SIGNS, 2, random_state=0
    ),
}
MANY_FITS = (
    "risk_rfe",
    "size_path",
    "resampled_change_points",
    "stability_selection",
)
# What takes a kernel matrix, shape (n_samples, n_samples).
OF_KERNELS = {
    "ridge_risk": lambda K: [ridge_risk(K, SIGNS, 1.0, [0.1, 1.0]).risk],
    "kernel_sandwich": lambda K: kernel_sandwich(K, K),
    "risk_bound": lambda K: [
        risk_bound(certificate_of(DENSE), K, SIGNS, 1.0, 1.0).risk
    ],
    "RLS, precomputed": lambda K: [
        RLSClassifier(kernel="precomputed").fit(K, Y).decision_function(K)
    ],
}


# What is given checked arguments: literal versions, and the parts of an elimination.
TRUSTING = {
    "calibrate_reference",
    "constrained_reference",
    "duality_gap",
    "expected_error",
    "group_bss_reference",
    "guyon_rfe",
    "place_reference",
    "prediction_error",
    "removals_reference",
    "risk_rfe_reference",
    "squared_linear_path",
}


# What takes no blocks and answers on the CPU has its own tests.
LOOKED_AT_ELSEWHERE = {
    "CalibrationSelector",
    "MismatchFeatures",
    "Reconstructor",
    "RowSelector",
    "SensorSelector",
    "TableSelector",
}


def test_everything_public_that_takes_a_matrix_is_here():
    """Bases `V` are dense and are looked at elsewhere."""
    named = {name for names in (FUNCTIONS, OF_KERNELS) for name in names}
    for name, thing in PUBLIC.items():
        if inspect.isclass(thing):
            if (
                hasattr(thing, "fit")
                and not inspect.isabstract(thing)
                and name not in LOOKED_AT_ELSEWHERE
            ):
                assert thing in {
                    type(estimator) for estimator in ESTIMATORS.values()
                }, name
        elif {"X", "K", "A"} & set(inspect.signature(thing).parameters):
            # whose blocks are looked at when they are read
            others = {"as_blocks", *TRUSTING}
            assert name in named | others, name


# ---------------------------------------------------------------- sparse matrices of
# every make


def in_pieces(dense, rng):
    """Rows, columns and values that add up to a matrix: in shuffled pieces, some for
    entries that are zero.
    """
    entries = [
        (i, j, v)
        for (i, j), a in np.ndenumerate(dense)
        for v in ((2 * a, -a) if a else (3.0, -3.0, 0.0))
    ]
    entries = [
        entries[t]
        for t in rng.permutation(len(entries))
        if dense[entries[t][:2]] or entries[t][1] % 3 == 0
    ]
    rows, columns, values = zip(*entries)
    return np.array(rows), np.array(columns), np.array(values)


def compressed(kind, dense, major, minor, values, size):
    # by rows or by columns, and in these in no order
    order = np.argsort(major, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(major, minlength=size))])
    values = values[order][:, None, None] if kind.startswith("bsr") else values[order]
    return getattr(sp, kind)((values, minor[order], ends), shape=dense.shape)


def untidy(kind, dense):
    """A sparse matrix of this kind that holds `dense` in a way that it may: duplicates,
    explicit zeros, no order.
    """
    rows, columns, values = in_pieces(dense, np.random.default_rng(1))
    if kind.startswith(("csr", "bsr")):
        return compressed(kind, dense, rows, columns, values, len(dense))
    if kind.startswith("csc"):
        return compressed(kind, dense, columns, rows, values, dense.shape[1])
    if kind.startswith("coo"):
        return getattr(sp, kind)((values, (rows, columns)), shape=dense.shape)
    return getattr(sp, kind)(dense)


def buffers(X):
    return [value for value in vars(X).values() if isinstance(value, np.ndarray)]


def wide_and_read_only(X):
    """With indices of 64 bits, and buffers that nobody may write to."""
    for name in ("indices", "indptr"):
        setattr(X, name, getattr(X, name).astype(np.int64))
    for buffer in buffers(X):
        buffer.flags.writeable = False
    return X


FORMATS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")
# Arrays are the other tests' ordinary fare. In brief, each format in the make that
# leaves the least room for mistakes.
each_make = swept(
    ("family", "brief"), [("matrix", True)], [("matrix", False), ("array", False)]
)


def makes(dense, family, brief=False):
    """Pairs of a name and a sparse matrix that stands for `dense`."""
    compressed = [f"csr_{family}", f"csc_{family}", f"bsr_{family}"]
    for kind in [f"{form}_{family}" for form in FORMATS]:
        if not (brief and kind in compressed):
            yield kind, untidy(kind, dense)
    for kind in compressed:
        yield f"{kind}, read-only", wide_and_read_only(untidy(kind, dense))
        if not brief:
            yield f"{kind}, tidy", wide_and_read_only(getattr(sp, kind)(dense))


def state(X):
    """All that a sparse matrix holds, its notes about itself included."""
    found = {}
    for name, value in vars(X).items():
        if isinstance(value, np.ndarray) and value.dtype != object:
            value = hash(value.tobytes()), value.dtype, value.flags.writeable
        found[name] = str(value)
    return found


def assert_same(found, expected, what):
    assert list(found) == list(expected)
    for name, theirs in expected.items():
        ours = found[name]
        if isinstance(theirs, (Certificate, RegressionCertificate, Sampling)):
            assert_same(vars(ours), vars(theirs), f"{what}: {name}")
        elif isinstance(theirs, PlainColumns):
            assert_same(ours.to_dict(), theirs.to_dict(), f"{what}: {name}")
        elif isinstance(theirs, dict):
            assert_same(ours, theirs, f"{what}: {name}")
        elif isinstance(theirs, ColumnGroups):
            assert_same(ours._asdict(), theirs._asdict(), f"{what}: {name}")
        elif sp.issparse(theirs):
            assert_allclose(
                ours.toarray(),
                theirs.toarray(),
                rtol=1e-6,
                atol=1e-9,
                err_msg=f"{what}: {name}",
            )
        elif not isinstance(
            theirs, (str, BaseEstimator, SumKernel, Promise, type(None))
        ):
            ours = np.asarray(to_numpy(ours))
            theirs = np.asarray(to_numpy(theirs))
            if theirs.dtype.kind in "fc":
                assert_allclose(
                    ours, theirs, rtol=1e-6, atol=1e-9, err_msg=f"{what}: {name}"
                )
            else:
                assert np.array_equal(ours, theirs), f"{what}: {name}"


def assert_same_for_every_make(work, dense, family, brief):
    expected = work(sp.csr_array(dense))
    for what, X in makes(dense, family, brief):
        before = state(X)
        assert_same(work(X), expected, what)
        assert state(X) == before, what


def by_number(results):
    return {str(number): result for number, result in enumerate(results)}


@pytest.mark.parametrize("family", ["array", "matrix"])
def test_the_makes_are_what_they_should_be(family):
    for what, X in makes(DENSE, family):
        assert np.array_equal(X.toarray(), DENSE), what
    for form in ("csr", "csc"):
        X = untidy(f"{form}_{family}", DENSE)
        assert not X.has_canonical_format and not X.has_sorted_indices
        assert X.nnz > np.count_nonzero(X.toarray()) and np.any(X.data == 0)


@each_make
@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_on_every_sparse_matrix(name, family, brief):
    estimator = ESTIMATORS[name]
    assert_same_for_every_make(lambda X: outcome(estimator, X), DENSE, family, brief)


@each_make
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_on_every_sparse_matrix(name, family, brief):
    dense = DENSE[:, :6] if name in MANY_FITS else DENSE
    assert_same_for_every_make(
        lambda X: by_number(FUNCTIONS[name](X)), dense, family, brief
    )


@each_make
@pytest.mark.parametrize("name", OF_KERNELS)
def test_every_function_of_a_kernel_on_every_sparse_matrix(name, family, brief):
    assert_same_for_every_make(
        lambda K: by_number(OF_KERNELS[name](K)), DENSE @ DENSE.T, family, brief
    )


# ---------------------------------------------------------------- arrays of another
# library


@pytest.fixture
def strict():
    return LIBRARIES["strict"]()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_on_arrays_of_another_library(name, strict):
    found = outcome(ESTIMATORS[name], strict.make(DENSE))
    assert_same(found, outcome(ESTIMATORS[name], DENSE), name)
    for results in ("transform", "inverse_transform"):
        if results in found:
            assert isinstance(found[results], strict.array_type)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_on_arrays_of_another_library(name, strict):
    dense = DENSE[:, :6] if name in MANY_FITS else DENSE
    assert_same(
        by_number(FUNCTIONS[name](strict.make(dense))),
        by_number(FUNCTIONS[name](dense)),
        name,
    )


@pytest.mark.parametrize("name", OF_KERNELS)
def test_every_function_of_a_kernel_on_arrays_of_another_library(name, strict):
    K = DENSE @ DENSE.T
    assert_same(
        by_number(OF_KERNELS[name](strict.make(K))),
        by_number(OF_KERNELS[name](K)),
        name,
    )


# ---------------------------------------------------------------- what only looks like
# an array


class AnnotatedTable:
    """A stand-in for `anndata.AnnData`: as a nested list it has 64 levels, and NumPy
    goes through all of them.
    """

    def __init__(self, X):
        self.X = X
        self.obs = None
        self.shape = X.shape

    def __len__(self):
        return len(self.X)

    def __getitem__(self, key):
        raise AssertionError("NumPy looks at the items")

    def to_df(self):
        return pd.DataFrame(self.X)


def masked(X, some=3):
    """A table whose entries of `some` rows are marked as missing, and hold a number
    that nobody meant.
    """
    hidden = np.array(X, dtype=float)
    hidden[:some] = 1e6
    return np.ma.masked_array(hidden, mask=hidden == 1e6)


def with_history(X):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    return torch.tensor(np.asarray(X, dtype=float), requires_grad=True)


UNREADABLE = {
    "annotated": (
        AnnotatedTable,
        TypeError,
        "give its matrix, adata.X, or adata.to_df()",
    ),
    "masked": (masked, ValueError, "is a masked array: fill its masked entries first"),
    "linear operator": (
        scipy.sparse.linalg.aslinearoperator,
        TypeError,
        "give the matrix",
    ),
    "a set": (
        lambda X: {1.0, 2.0},
        TypeError,
        "give an array, a sparse matrix, a frame or a list of rows",
    ),
    "a path": (lambda X: "table.csv", TypeError, "'table.csv' is a text and no array"),
}
each_unreadable = pytest.mark.parametrize("kind", UNREADABLE)


def targets(estimator):
    numbers = (
        estimator.__sklearn_tags__().estimator_type == "regressor"
        or getattr(estimator, "rule", "") == "target"
    )
    return SIGNS if numbers else Y


@each_unreadable
@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_refuses_what_is_no_array(name, kind):
    make, error, words = UNREADABLE[kind]
    estimator = ESTIMATORS[name]
    fitted = clone(estimator).fit(DENSE, targets(estimator))
    bad = make(DENSE)
    before = set(vars(fitted))
    for method in ("transform", "predict", "decision_function", "inverse_transform"):
        if hasattr(fitted, method):
            with refused("X", words, error=error):
                getattr(fitted, method)(bad)
    assert set(vars(fitted)) == before
    with refused("X", words, error=error):
        fitted.fit(bad, targets(estimator))
    assert not any(name.endswith("_") for name in vars(fitted))


@each_unreadable
@pytest.mark.parametrize("name", [*FUNCTIONS, *OF_KERNELS])
def test_every_function_refuses_what_is_no_array(name, kind):
    make, error, words = UNREADABLE[kind]
    bad = make(DENSE @ DENSE.T if name in OF_KERNELS else DENSE)
    function = {**FUNCTIONS, **OF_KERNELS}[name]
    with refused(words, error=error):
        function(bad)


def test_annotated_data_are_refused_at_once():
    anndata = pytest.importorskip("anndata", reason="anndata is not installed")
    _, error, words = UNREADABLE["annotated"]
    table = anndata.AnnData(DENSE.astype(np.float32))
    for estimator in ESTIMATORS.values():
        with refused("X is of type AnnData", words, error=error):
            clone(estimator).fit(table, Y)
    for work in (
        as_blocks,
        row_space,
        lambda X: certify_selector(SelectKBest(k=4).fit(DENSE, Y), X),
    ):
        with refused("X is of type AnnData", words, error=error):
            work(table)


@pytest.mark.parametrize("kind", ["annotated", "linear operator"])
def test_blocks_and_displays_refuse_what_is_no_array(kind):
    make, error, words = UNREADABLE[kind]
    for work in (
        as_blocks,
        lambda X: BSSSelector(4, rank=2).fit(X),
        lambda X: StabilityDisplay.from_selectors(
            {"BSS": BSSSelector(4, rank=2)}, X, SIGNS, n_samples=2
        ),
        lambda X: GuaranteePriceDisplay.from_estimator(
            LinearSVC(), X, SIGNS, f_classif, 4, cv=2
        ),
    ):
        with refused("X", words, error=error):
            work(make(DENSE))


def test_a_lazy_frame_is_to_be_collected():
    pl = pytest.importorskip("polars", reason="polars is not installed")
    for work in (
        BSSSelector(4, rank=2).fit,
        row_space,
        as_blocks,
        LPSVMClassifier().fit,
    ):
        with (
            warnings.catch_warnings(),
            refused("X is of type LazyFrame: give X.collect()", error=TypeError),
        ):
            warnings.simplefilter("error")
            work(pl.DataFrame(DENSE).lazy(), *([Y] if work.__name__ == "fit" else []))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_mask_that_marks_nothing_is_no_mask(name):
    estimator = ESTIMATORS[name]
    assert_same(
        outcome(estimator, np.ma.masked_array(DENSE)), outcome(estimator, DENSE), name
    )


def test_blocks_and_memory_take_the_same_masked_arrays():
    whole = np.ma.masked_array(DENSE)
    selector = BSSSelector(6, rank=3, rule="largest-norm")
    for X in (as_blocks(whole), as_blocks(lambda: iter([whole]), axis=1)):
        assert_array_equal(
            selector.fit(X).selected_, clone(selector).fit(DENSE).selected_
        )
    with refused("X is a masked array: fill its masked entries first"):
        selector.fit(as_blocks(masked(DENSE)))


@pytest.mark.parametrize(
    "name",
    [
        "support vectors",
        "sparse components",
        "RLS",
        "LPSVM",
        "SCAD-SVM",
        "dual projection",
        "dual projection, squares",
        "risk-RFE",
        "Guyon's RFE",
        "DSF, target",
    ],
)
def test_masked_targets_are_refused(name):
    with refused("y is a masked array: fill its masked entries first"):
        clone(ESTIMATORS[name]).fit(
            DENSE, np.ma.masked_array(SIGNS, mask=np.arange(16) == 2)
        )


def test_masked_weights_are_refused():
    weights = np.ma.masked_array(np.ones(16), mask=np.arange(16) == 2)
    with refused("sample_weight is a masked array"):
        RiskRFE(20).fit(DENSE, Y, sample_weight=weights)
    with refused("sample_weight is a masked array"):
        LPSVMClassifier().fit(DENSE, Y).score(DENSE, Y, sample_weight=weights)


def tensors_with_history(thing, seen, path=""):
    """Where in a fitted estimator, or in results, a tensor keeps the record of how it
    came about.
    """
    if id(thing) in seen:
        return []
    seen.add(id(thing))
    if getattr(thing, "requires_grad", False):
        return [path]
    parts = (
        thing
        if isinstance(thing, dict)
        else vars(thing)
        if hasattr(thing, "__dict__")
        else {}
    )
    parts = dict(enumerate(thing)) if isinstance(thing, list | tuple) else parts
    if isinstance(thing, type):
        return []
    return [
        found
        for name, part in parts.items()
        for found in tensors_with_history(part, seen, f"{path}.{name}")
    ]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_no_estimator_keeps_the_history_of_a_tensor(name):
    """What is fitted can be copied and pickled, and is what comes of the numbers alone."""
    estimator = ESTIMATORS[name]
    X = with_history(DENSE)
    fitted = clone(estimator).fit(X, with_history(SIGNS))
    assert tensors_with_history(vars(fitted), set()) == []
    for copied in (copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted))):
        for method in ("transform", "predict", "decision_function"):
            if hasattr(copied, method):
                found = getattr(copied, method)(X)
                expected = getattr(fitted, method)(X.detach())
                assert not found.requires_grad
                assert_array_equal(to_numpy(found), to_numpy(expected))
    assert X.requires_grad
    numbers = clone(estimator).fit(DENSE, SIGNS)
    for found, expected in ((fitted, numbers),):
        if hasattr(found, "selected_"):
            assert_array_equal(to_numpy(found.selected_), expected.selected_)


@pytest.mark.parametrize("name", [*FUNCTIONS, *OF_KERNELS])
def test_no_function_hands_on_the_history_of_a_tensor(name):
    dense = (
        DENSE @ DENSE.T
        if name in OF_KERNELS
        else DENSE[:, :6]
        if name in MANY_FITS
        else DENSE
    )
    assert (
        tensors_with_history(
            {**FUNCTIONS, **OF_KERNELS}[name](with_history(dense)), set()
        )
        == []
    )


def test_sparse_tensors_are_to_be_made_dense():
    sparse = with_history(DENSE).detach().to_sparse()
    for work in (BSSSelector(4, rank=2).fit, row_space, as_blocks):
        with refused(
            "torch.sparse_coo",
            "give X.to_dense(), or a sparse matrix of SciPy",
            error=TypeError,
        ):
            work(sparse)


# ---------------------------------------------------------------- classes in the place
# of instances

NOT_INSTANCES = {
    "scores of weights": (
        "score_func",
        WeightScores,
        BSSSelector(4, score_func=WeightScores),
    ),
    "a selector of what is given": (
        "given",
        SelectKBest,
        CompletionSelector(SelectKBest),
    ),
    "a selector of features for support vectors": (
        "selector",
        BSSSelector,
        SupportVectorSelector(BSSSelector),
    ),
    "a machine that finds support vectors": (
        "svm",
        LinearSVC,
        SupportVectorSelector(svm=LinearSVC),
    ),
    "a selector for a regression": (
        "selector",
        DSFSelector,
        SparsePCRegressor(selector=DSFSelector),
    ),
    "scikit-learn's for a regression": (
        "selector",
        VarianceThreshold,
        SparsePCRegressor(selector=VarianceThreshold),
    ),
    "a kernel for RLS": ("kernel", RBFKernel, RLSClassifier(kernel=RBFKernel)),
    "a kernel for risk-RFE": ("kernel", RBFKernel, RiskRFE(kernel=RBFKernel)),
    "a kernel for Guyon's RFE": ("kernel", LinearKernel, GuyonRFE(kernel=LinearKernel)),
    "a foreign kernel for risk-RFE": ("kernel", Matern, RiskRFE(kernel=Matern)),
}


@pytest.mark.parametrize("what", NOT_INSTANCES)
def test_a_class_in_the_place_of_an_instance(what):
    """Said by fit, alone and in scikit-learn's tools; pictures of what is not yet
    fitted do not mind.
    """
    parameter, given, estimator = NOT_INSTANCES[what]
    words = (
        f"{parameter}={given.__name__} is a class: give an instance of it, as "
        f"{parameter}={given.__name__}()"
    )
    with refused(words, error=TypeError):
        estimator.fit(DENSE, SIGNS)
    with refused(words, error=TypeError):
        estimator.fit(sp.csr_array(DENSE), SIGNS)
    with refused(words, error=TypeError):
        make_pipeline(estimator).fit(DENSE, SIGNS)
    with refused(given.__name__, "class", error=TypeError):
        GridSearchCV(
            estimator, {}, cv=2, error_score="raise", scoring=lambda *_: 0.0
        ).fit(DENSE, SIGNS)
    assert given.__name__ in repr(estimator) and "<div" in estimator._repr_html_()
    assert clone(estimator).get_params()[parameter] is given


@pytest.mark.parametrize(
    "parameter, given, call",
    [
        ("kernel", RBFKernel, lambda: kernel_of(RBFKernel)),
        ("kernel", CallableKernel, lambda: kernel_of(CallableKernel, DENSE)),
        ("f", RBFKernel, lambda: CallableKernel(RBFKernel)),
        ("selector", SelectKBest, lambda: certify_selector(SelectKBest, DENSE)),
        ("selector", BSSSelector, lambda: certify_selector(BSSSelector, DENSE)),
        (
            "selectors['none']",
            BSSSelector,
            lambda: StabilityDisplay.from_selectors(
                {"none": BSSSelector}, DENSE, SIGNS, n_samples=2
            ),
        ),
        ("estimator", LinearSVC, lambda: WeightScores(LinearSVC)(DENSE, SIGNS)),
        ("selector", RiskRFE, lambda: size_path(RiskRFE, DENSE, SIGNS)),
        ("selector", RiskRFE, lambda: resampled_change_points(RiskRFE, DENSE, SIGNS)),
    ],
)
def test_a_class_in_the_place_of_an_instance_in_functions(parameter, given, call):
    with refused(
        f"{parameter}={given.__name__} is a class: give an instance of it",
        error=TypeError,
    ):
        call()


def test_displays_of_a_class():
    for display in (SpectrumDisplay, LeverageDisplay, ScreeDisplay):
        with refused("is a class, not an instance", error=TypeError):
            display.from_selector(BSSSelector)


# ---------------------------------------------------------------- base classes


def all_classes():
    modules = [
        importlib.import_module(f"fsel_book.{found.name}")
        for found in pkgutil.iter_modules(fsel_book.__path__)
    ]
    return {
        thing
        for module in modules
        for thing in vars(module).values()
        if inspect.isclass(thing) and thing.__module__.startswith("fsel_book")
    }


BASES = {
    "Blocks": ("read",),
    "SamplingTransformer": ("fit",),
    "CertifiedSelector": ("_sample",),
    "TermSelector": ("_space",),
    "SparseMachine": ("_check_parameters", "_solve"),
    "DualProjectionModel": ("fit",),
    "KernelMachine": ("fit",),
    "KernelElimination": ("_check_parameters", "_eliminate"),
    "SumKernel": ("at_risk", "finish", "lossy", "own_part", "part", "sizes"),
    "ProductKernel": ("base",),
    "DistanceKernel": ("part",),
    "Summary": ("_take", "_scale"),
    "SquareSummary": ("_take", "_take_square", "_scale_square"),
    "AnyBarriers": ("judge", "slack_matrix", "add"),
    "ColumnSearch": ("pick",),
    "BlockChoice": ("choose",),
    "FeasibleInBlocks": ("barriers", "weights"),
    "Loss": (
        "conjugate",
        "conjugate_curvature",
        "conjugate_slope",
        "curvature",
        "domain",
        "slope",
        "value",
    ),
}


def test_a_class_that_others_are_made_of_is_abstract_and_what_is_public_is_not():
    """scikit-learn's search for estimators passes abstract classes over in the same
    way.
    """
    abstract = {
        thing.__name__: thing for thing in all_classes() if inspect.isabstract(thing)
    }
    assert set(abstract) == set(BASES)
    for name, methods in BASES.items():
        assert set(methods) <= abstract[name].__abstractmethods__
        with refused(
            f"Can't instantiate abstract class {name}", *methods[:1], error=TypeError
        ):
            abstract[name]()
    estimators = {
        thing.__name__ for thing in all_classes() if issubclass(thing, BaseEstimator)
    }
    # one of a study, and the base of all, which has no methods of its own to call
    others = {"RRQRInRounds", "VersionedEstimator"}
    assert estimators - set(abstract) - others <= set(PUBLIC)


class Longest(CertifiedSelector):
    """A selector of one's own: the longest columns."""

    def __init__(self, n_features_to_select=None, *, rank=None, rescale=False):
        self.n_features_to_select = n_features_to_select
        self.rank = rank
        self.rescale = rescale

    def _sample(self, space, r, y):
        longest = np.argsort(-to_numpy(space.squared_lengths))[:r]
        return Sampling.from_draws(longest, np.ones(r), space.shape[0], space.X)


def test_a_subclass_fits_pickles_and_clones():
    fitted = Longest(1).fit(DENSE)
    for other in (pickle.loads(pickle.dumps(fitted)), clone(fitted).fit(DENSE)):
        assert (
            other.selected_.tolist()
            == fitted.selected_.tolist()
            == [np.argmax(np.sum(DENSE**2, axis=0))]
        )
    assert fitted.certificate_.promise is None and fitted.certificate_.holds is None


@parametrize_with_checks([Longest()])
def test_a_subclass_is_an_estimator_of_scikit_learn(estimator, check):
    check(estimator)


def test_a_subclass_without_the_method_that_samples_is_abstract():
    class Forgetful(CertifiedSelector):
        pass

    with refused(
        "Can't instantiate abstract class Forgetful", "_sample", error=TypeError
    ):
        Forgetful()


# ---------------------------------------------------------------- threads and the
# filters of warnings


def overlapping(first, second):
    """Run two fits that call `meet()` in their midst: the one that begins first ends
    first, while the other waits.
    """
    inside = threading.Event()
    begun = threading.Event()
    ended = threading.Event()

    def in_first():
        inside.set()
        begun.wait(60)

    def in_second():
        begun.set()
        ended.wait(60)

    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(first, in_first)
        one.add_done_callback(lambda _: (inside.set(), ended.set()))
        inside.wait(60)
        other = pool.submit(second, in_second)
        other.add_done_callback(lambda _: begun.set())
        return one.result(), other.result()


def test_overlapping_fits_with_scores_leave_the_filters_of_warnings():
    """`warnings.catch_warnings` would restore what the other fit had set."""

    def fit(meet):
        return BSSSelector(
            4, rank=2, score_func=lambda X, y: (meet(), f_classif(X, y))[1]
        ).fit(DENSE, Y)

    before = list(warnings.filters)
    overlapping(fit, fit)
    assert warnings.filters == before


@pytest.mark.parametrize("name", ["support vectors", "risk-RFE"])
def test_overlapping_fits_of_machines_leave_the_filters_of_warnings(name, monkeypatch):
    meetings = threading.local()
    fit_of_svc = SVC.fit

    def fit(self, *arguments, **named):
        meetings.of_thread()
        return fit_of_svc(self, *arguments, **named)

    def work(meet):
        meetings.of_thread = meet
        return clone(ESTIMATORS[name]).fit(DENSE, Y)

    monkeypatch.setattr(SVC, "fit", fit)
    before = list(warnings.filters)
    overlapping(work, work)
    assert warnings.filters == before


def test_no_word_about_columns_that_tell_the_classes_apart():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = BSSSelector(4, rank=2, score_func=f_classif).fit(
            np.c_[DENSE, SIGNS, np.full(16, 3.0)], Y
        )
    assert np.isinf(found.scores_[24])


def test_a_margin_says_nothing_of_directions_that_count_as_none():
    nearly = with_condition(16, 24, 3e13, np.random.default_rng(0))
    with pytest.warns(UserWarning, match="irection"):
        row_space(nearly)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        svm_margin(nearly, np.repeat([0, 1], 8))
    assert not [one for one in said if "irection" in str(one.message)]
