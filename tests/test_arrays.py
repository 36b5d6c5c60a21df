"""One implementation for all array libraries: the same selection everywhere, and
results where the input lives.
"""

import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from cases import CASES, heavy, sparse_table, swept, swept_product, table
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin

from fsel_book import (
    BSSSelector,
    DSFSelector,
    RRQRSelector,
    SparsePCRegressor,
    bss,
    certify,
    leverage_scores,
    row_space,
)
from fsel_book.arrays import (
    as_float64,
    by_columns,
    from_numpy,
    namespace,
    take_columns,
    take_rows,
    to_numpy,
)
from fsel_book.sparsification import bss_promise, bss_reference
from fsel_book.validation import check_matrix

DTYPES = ["float64", "float32"]
each_dtype = pytest.mark.parametrize("dtype", DTYPES)
SELECTORS = {
    **{f"{name}, 25": case.make(25) for name, case in CASES.items()},
    **{
        f"{name}, rank 4": case.make(20, rank=4, rescale=True)
        for name, case in CASES.items()
    },
    **{
        f"{name}, auto": case.make("theorem", rank=2, eps=0.9)
        for name, case in CASES.items()
        if case.auto
    },
}
# Each in one of the precisions, in turn; in the other in the sweeps.
each_selector = swept_product(
    ("name", "dtype"),
    [(name, DTYPES[(i + i // len(CASES)) % 2]) for i, name in enumerate(SELECTORS)],
    SELECTORS,
    DTYPES,
)
each_case_and_dtype = swept_product(
    ("name", "dtype"),
    [(name, DTYPES[i % 2]) for i, name in enumerate(CASES)],
    CASES,
    DTYPES,
)


def data(dtype, tall=False):
    X = sparse_table(12, 60, 0.3).toarray()
    return (X.T if tall else X).astype(dtype)


def close(dtype):
    return {
        "rtol": 1e-4 if dtype == "float32" else 1e-9,
        "atol": 1e-6 if dtype == "float32" else 1e-12,
    }


class Given(SelectorMixin, BaseEstimator):
    """Selects the features that it was given."""

    def __init__(self, indices):
        self.indices = indices

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def _get_support_mask(self):
        return np.isin(np.arange(self.n_features_in_), self.indices)


def assert_lives_with(library, result, given, dtype):
    """`result` belongs to the library, the device and the precision of `given`."""
    assert library.is_result(result, dtype), f"{type(result)} of {result.dtype}"
    assert library.sparse or library.device(result) == library.device(given)


# ---------------------------------------------------------------- functions


@each_dtype
@pytest.mark.parametrize("tall", [False, True])
def test_row_space_and_leverage_scores(library, dtype, tall):
    X = data(dtype, tall)
    given = library.make(X)
    for rank in (None, 5):
        expected = row_space(X, rank)
        space = row_space(given, rank)
        assert (
            space.shape == expected.shape
            and space.numerical_rank == expected.numerical_rank
        )
        assert_lives_with(library, space.leverage_scores, given, dtype)
        assert_lives_with(library, space.basis(), given, "float64")
        assert_lives_with(library, space.rows([2, 0]), given, "float64")
        assert_allclose(
            library.back(space.leverage_scores),
            expected.leverage_scores,
            **close(dtype),
        )
        assert_allclose(
            library.back(leverage_scores(given, rank)),
            expected.leverage_scores,
            **close(dtype),
        )
        V = library.back(space.basis())
        assert_allclose(V @ V.T, expected.basis() @ expected.basis().T, atol=1e-9)
        assert_allclose(space.singular_values, expected.singular_values, rtol=1e-9)


@pytest.mark.parametrize("condition", [1e3, 1e7])
def test_row_space_of_ill_conditioned_data(library, condition):
    """The way through a sketch."""
    X = data("float64")
    X[1] = X[0] + X[1] / condition
    assert_allclose(
        library.back(leverage_scores(library.make(X))), leverage_scores(X), rtol=1e-6
    )


def assert_same_sampling(library, sampling, expected, given, dtype):
    assert_lives_with(library, sampling.indices, given, "int64")
    assert_lives_with(library, sampling.weights, given, dtype)
    assert_array_equal(library.back(sampling.indices), expected.indices)
    assert_allclose(library.back(sampling.weights), expected.weights, **close(dtype))


@each_case_and_dtype
def test_functions_of_a_row_space(library, dtype, name):
    X = data(dtype)
    given = library.make(X)
    sampling, expected = (
        CASES[name].function(row_space(matrix), 25, 2) for matrix in (given, X)
    )
    assert_same_sampling(library, sampling, expected, given, dtype)


@pytest.mark.parametrize(
    "function",
    [
        *[case.function for case in CASES.values()],
        bss_reference,
        lambda V, r: bss_reference(V, r, "best"),
    ],
    ids=[*CASES, "reference", "reference, best"],
)
@each_dtype
def test_functions_of_an_explicit_basis(dense_library, dtype, function):
    """Functions and certify take V itself."""
    V = heavy(60, 5, np.random.default_rng(0)).astype(dtype)
    given = dense_library.make(V)
    expected = function(V, 12)
    sampling = function(given, 12)
    assert_same_sampling(dense_library, sampling, expected, given, dtype)
    certificate = certify(given, sampling, bss_promise(5, 12))
    assert_allclose(
        certificate.eigenvalues, certify(V, expected).eigenvalues, **close(dtype)
    )
    assert (
        isinstance(certificate.eigenvalues, np.ndarray)
        and certificate.eigenvalues.dtype == np.float64
    )


@each_dtype
def test_sampling_applies_itself(library, dtype):
    X = data(dtype)
    given = library.make(X)
    sampling = bss(row_space(given), 25)
    for matrix in (sampling.S, sampling.D, sampling.R):
        assert sp.issparse(matrix)
    dense = X @ sampling.R.toarray()
    for rescale, expected in ((True, dense), (False, X @ sampling.S.toarray())):
        C = sampling.apply(given, rescale=rescale)
        assert type(C) is type(given) and str(C.dtype).endswith(dtype)
        assert library.sparse or library.device(C) == library.device(given)
        assert_allclose(library.back(C), expected, **close(dtype))


@each_dtype
def test_certify_of_a_row_space(library, dtype):
    X = data(dtype)
    space = row_space(library.make(X))
    expected = row_space(X)
    certificate = certify(space, bss(space, 25), bss_promise(12, 25), "BSS")
    assert certificate.holds and certificate.method == "BSS"
    assert_allclose(
        certificate.eigenvalues,
        certify(expected, bss(expected, 25)).eigenvalues,
        **close(dtype),
    )
    assert "BSS" in str(certificate) and "<table>" in certificate._repr_html_()


# ---------------------------------------------------------------- selectors


@each_selector
def test_selectors(library, dtype, name):
    X = data(dtype)
    selector = SELECTORS[name]
    given = library.make(X)
    expected = clone(selector).fit(X)
    fitted = clone(selector).fit(given)
    for name in ("selected_", "weights_", "leverage_scores_", "support_"):
        ours = getattr(fitted, name)
        theirs = getattr(expected, name)
        assert_lives_with(library, ours, given, str(theirs.dtype))
        if theirs.dtype.kind == "f":
            assert_allclose(library.back(ours), theirs, **close(dtype), err_msg=name)
        else:
            assert_array_equal(library.back(ours), theirs, err_msg=name)
    assert fitted.n_draws_ == expected.n_draws_ and fitted.n_features_in_ == 60
    assert_allclose(
        fitted.certificate_.eigenvalues,
        expected.certificate_.eigenvalues,
        **close(dtype),
    )
    assert_array_equal(fitted.get_support(), expected.get_support())
    assert_array_equal(
        fitted.get_support(indices=True, ordered=True), expected.selected_
    )

    C = fitted.transform(given)
    assert type(C) is type(given) and str(C.dtype).endswith(dtype)
    assert library.sparse or library.device(C) == library.device(given)
    assert_allclose(library.back(C), expected.transform(X), **close(dtype))

    back = fitted.inverse_transform(C)
    assert type(back) is type(given) or (library.sparse and back.format == given.format)
    assert str(back.dtype).endswith(dtype)
    assert_allclose(
        library.back(back), np.where(expected.get_support(), X, 0), **close(dtype)
    )


@swept_product(
    ("intercept", "targets", "dtype"),
    [
        (True, 0, "float32"),
        (True, 3, "float64"),
        (False, 3, "float32"),
        (False, 0, "float64"),
    ],
    [True, False],
    [0, 3],
    DTYPES,
)
def test_a_regression_with_sparse_components(library, dtype, targets, intercept):
    X = data(dtype, tall=True)
    Y = (
        np.random.default_rng(0)
        .standard_normal((60, targets) if targets else 60)
        .astype(dtype)
    )
    given = library.make(X)
    y = Y if library.sparse else library.make(Y)
    model = SparsePCRegressor(2, n_features_to_select=6, fit_intercept=intercept)
    if library.sparse:  # which is not centred; the features chosen may be others
        intercept_fit = clone(model).fit(given, y)
        chosen = Given(intercept_fit.selected_)
        expected = (
            clone(model)
            .set_params(selector=chosen, n_features_to_select=None)
            .fit(X, Y)
        )
    else:
        expected = clone(model).fit(X, Y)
    fitted = clone(model).fit(given, y)
    assert_array_equal(library.back(fitted.selected_), expected.selected_)
    results = {"predict": fitted.predict(given), "transform": fitted.transform(given)}
    for name in ("components_", "coef_", *["intercept_"] * bool(targets)):
        results[name] = getattr(fitted, name)
    for name, ours in results.items():
        theirs = getattr(expected, name)
        theirs = theirs(X) if callable(theirs) else theirs
        assert_lives_with(library, ours, given, dtype)
        rough = dtype == "float32"
        assert_allclose(
            library.back(ours),
            theirs,
            rtol=1e-3 if rough else 1e-8,
            atol=1e-4 if rough else 1e-10,
        )
    assert fitted.certificate_.measured == pytest.approx(
        expected.certificate_.measured, rel=1e-4 if rough else 1e-9
    )


@each_dtype
def test_a_selection_for_targets(library, dtype):
    X = data(dtype)
    Y = np.random.default_rng(0).standard_normal((12, 2)).astype(dtype)
    given = library.make(X)
    y = Y if library.sparse else library.make(Y)
    selector = DSFSelector(8, rank=4, rule="target")
    assert_array_equal(
        library.back(clone(selector).fit(given, y).selected_),
        clone(selector).fit(X, Y).selected_,
    )


@swept(
    "name",
    [f"{name}, 25" for name in CASES],
    [name for name in SELECTORS if not name.endswith("25")],
)
def test_sparse_selection_is_the_dense_one_whatever_the_format(name):
    X = sparse_table(12, 60, 0.3)
    selector = SELECTORS[name]
    expected = clone(selector).fit(X.toarray())
    for form in (sp.coo_array, sp.lil_matrix, sp.bsr_array, sp.dok_array):
        assert_array_equal(clone(selector).fit(form(X)).selected_, expected.selected_)


def test_transform_of_another_library_is_refused(dense_library):
    X = data("float64")
    selector = BSSSelector(20).fit(X)
    if dense_library.name == "numpy":
        assert selector.transform(X).shape == (12, 20)
    else:
        with pytest.raises(ValueError, match="same namespace"):
            selector.transform(dense_library.make(X))


def test_dense_and_sparse_may_be_mixed():
    X = sparse_table(12, 60, 0.3)
    assert_allclose(
        BSSSelector(20).fit(X).transform(X.toarray()),
        BSSSelector(20).fit(X.toarray()).transform(X).toarray(),
    )


def test_repeated_entries_of_a_sparse_matrix_are_added_up():
    X = sparse_table(12, 60, 0.3)
    row, column = X.nonzero()
    values = X.toarray()[row, column]
    twice = sp.coo_array(
        (np.r_[values / 2, values / 2], (np.r_[row, row], np.r_[column, column])),
        shape=X.shape,
    )
    assert_array_equal(
        BSSSelector(20).fit(twice).selected_, BSSSelector(20).fit(X).selected_
    )


# ---------------------------------------------------------------- plumbing


@each_dtype
def test_there_and_back(library, dtype):
    X = data(dtype)
    given = check_matrix(library.make(X))
    assert_array_equal(library.back(as_float64(given)), X.astype(np.float64))
    assert str(as_float64(given).dtype).endswith("float64")
    columns = take_columns(given, [3, 0, 3])
    assert type(columns) is type(given)
    assert_array_equal(library.back(columns), X[:, [3, 0, 3]])
    assert take_columns(given, []).shape == (X.shape[0], 0)
    assert take_rows(given, []).shape == (0, X.shape[1])
    blocks = list(by_columns(given, block_bytes=1))
    assert blocks[0][0] == 0 and blocks[-1][1] == 60
    assert_array_equal(np.hstack([library.back(block) for _, _, block in blocks]), X)
    host = np.arange(3.0)
    there = from_numpy(host, given)
    assert_lives_with(library, there, given, "float64")
    assert_array_equal(to_numpy(there), host)
    assert isinstance(to_numpy(there), np.ndarray)
    assert namespace(there) is namespace(given)


def test_checked_matrices_are_passed_on_as_they_are(library):
    given = library.make(data("float32"))
    checked = check_matrix(given)
    assert (
        np.shares_memory(checked.data, given.data)
        if library.sparse
        else checked is given
    )


# ---------------------------------------------------------------- sparse data stay
# sparse


@pytest.fixture
def no_densifying(monkeypatch):
    """Every way in which SciPy makes a dense matrix of a sparse one refuses matrices as
    large as the data.
    """
    for kind in (
        sp.csr_array,
        sp.csc_array,
        sp.coo_array,
        sp.csr_matrix,
        sp.csc_matrix,
        sp.coo_matrix,
    ):
        for name in ("toarray", "todense"):
            original = getattr(kind, name)

            def guarded(self, *args, original=original, **keywords):
                assert self.shape[0] * self.shape[1] < 6_000_000, (
                    f"a dense matrix of shape {self.shape}"
                )
                return original(self, *args, **keywords)

            monkeypatch.setattr(kind, name, guarded)


def peak_of(work):
    """What `work` returns, and the most memory that it takes at once beside what was
    there.
    """
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        result = work()
        return result, tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def large_sparse():
    return sparse_table(300, 60_000, 0.003, seed=1)


SPARSE = {
    **{f"{name}, 30": case.make(30, rank=12) for name, case in CASES.items()},
    "leverage sampling, 600": CASES["leverage sampling"].make(600),
    "largest leverages, 600": CASES["largest leverages"].make(600),
}


@swept_product(
    ("name", "form"),
    [
        (name, sp.csr_array)
        for name in SPARSE
        if name not in ("BSS, sampled, 30", "DSF, first, 30", "pivoted QR, 30")
    ],
    SPARSE,
    [sp.csr_array, sp.csc_array],
)
def test_selecting_from_sparse_data_makes_no_dense_array(
    large_sparse, no_densifying, name, form
):
    """Neither X nor V is ever dense: the peak stays under half of what either would
    take.
    """
    X = form(large_sparse)
    selector = SPARSE[name]
    dense_bytes = 8 * X.shape[0] * X.shape[1]
    _, peak = peak_of(lambda: clone(selector).fit(X))
    assert peak < dense_bytes / 2, (
        f"peak {peak / 1e6:.0f} MB, dense {dense_bytes / 1e6:.0f} MB"
    )


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
def test_a_regression_on_sparse_data_makes_no_dense_array(
    large_sparse, no_densifying, form
):
    X = form(large_sparse)
    y = np.random.default_rng(0).standard_normal(300)
    dense_bytes = 8 * X.shape[0] * X.shape[1]
    predicted, peak = peak_of(
        lambda: SparsePCRegressor(10, n_features_to_select=30).fit(X, y).predict(X)
    )
    assert predicted.shape == (300,)
    assert peak < dense_bytes / 2, (
        f"peak {peak / 1e6:.0f} MB, dense {dense_bytes / 1e6:.0f} MB"
    )


def test_transforming_sparse_data_makes_no_dense_array(large_sparse, no_densifying):
    selector = CASES["leverage sampling"].make(600, rescale=True).fit(large_sparse)
    C = selector.transform(large_sparse)
    assert sp.issparse(C) and sp.issparse(selector.inverse_transform(C))


@pytest.mark.parametrize(("d", "rank"), [(20_000, 15), (40_000, None)])
def test_fitting_dense_data_keeps_no_copy_of_them(d, rank):
    """Some 8 MB at most are kept for the ceiling of plain columns, beside a few numbers
    of each column and by default, with more directions, some matrices of their size.
    """
    X = table(200, d)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        selector = BSSSelector(60, rank=rank).fit(X)
        kept = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert selector.certificate_.holds
    assert kept < X.nbytes / 5


@swept("selector", [BSSSelector], [DSFSelector, RRQRSelector])
def test_float32_is_widened_block_by_block(selector):
    X = table(60, 400_000).astype(np.float32)
    _, peak = peak_of(lambda: selector(50, rank=5).fit(X))
    # the matrix of which it takes the pivots
    pivots = 4 * 8 * 50 * X.shape[1] if selector is RRQRSelector else 0
    # as float64 the whole of X would be twice as large
    # and some rows for the ceiling of plain columns
    assert peak < 1.2 * X.nbytes + pivots + 2**23


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, bool])
def test_a_transform_converts_only_what_it_keeps(dtype):
    X = (100 * table(60, 50_000)).astype(dtype)
    selector = BSSSelector(20).fit(X)
    reduced, peak = peak_of(lambda: selector.transform(X))
    assert reduced.dtype == np.float64 and peak < X.nbytes / 2
    assert_array_equal(reduced, X[:, selector.get_support()])


LAYOUTS = {
    "columns first": np.asfortranarray,  # as a table of pandas hands them out
    "every second column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "every second row": lambda X: np.repeat(X, 2, axis=0)[::2],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_taking_rows_or_columns_copies_only_those(layout):
    X = table(50, 20_000)
    Z = LAYOUTS[layout](X)
    some = [3, 1, 3]
    for of, take, expected in (
        (Z, take_columns, X[:, some]),
        (Z, take_rows, X[some]),
        (Z.T, take_rows, X.T[some]),
    ):
        taken, peak = peak_of(lambda of=of, take=take: take(of, some))
        assert_array_equal(taken, expected)
        assert peak < taken.nbytes + X.nbytes / 20


@swept_product(
    ("name", "layout"),
    [(name, list(LAYOUTS)[i % 3]) for i, name in enumerate(CASES)],
    CASES,
    LAYOUTS,
)
def test_the_layout_of_the_data_costs_no_memory(name, layout):
    """The same selection whatever the order of the entries, at a peak without a copy of
    X.
    """
    case = CASES[name]
    X = table(40, 6000)
    Z = LAYOUTS[layout](X)
    expected, least = peak_of(lambda: case.make(60).fit(X))
    found, peak = peak_of(lambda: case.make(60).fit(Z))
    assert_array_equal(found.selected_, expected.selected_)
    # NumPy 2.5 copies both sides of a product whose rows and columns have gaps; without
    # gaps there is no need.
    assert peak < least + X.nbytes / 3 + (
        2 * X.nbytes if layout == "every second column" else 0
    )


# ---------------------------------------------------------------- threads

OVERLAPPING = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from fsel_book.arrays import BLAS, blas_threads_for

def threads(): return [one.num_threads for one in BLAS.select(user_api="blas").lib_controllers]

before, meet = threads(), Barrier(2, timeout=60)
def first():
    with blas_threads_for(100):
        assert set(threads()) == {1}, threads()
        meet.wait(); meet.wait()
    meet.wait()
def second():
    meet.wait()
    with blas_threads_for(100): meet.wait(); meet.wait()
with ThreadPoolExecutor(2) as pool:
    for each in [pool.submit(first), pool.submit(second)]: each.result()
assert threads() == before, threads()

with blas_threads_for(1000):
    outer = threads()
    with blas_threads_for(100): pass
    assert threads() == outer, threads()
assert threads() == before, threads()
with blas_threads_for(100): assert set(threads()) == {1}
"""


@pytest.mark.sweep
def test_overlapping_limits_leave_the_threads_as_they_were():
    """The first to enter leaves first: the second, which found one thread, must not
    restore that.

    In a process of its own: a limit that another thread has set is not changed by
    threadpoolctl.
    """
    subprocess.run(
        [sys.executable, "-c", OVERLAPPING],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "2"},
        check=True,
    )
