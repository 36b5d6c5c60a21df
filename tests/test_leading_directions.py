"""The default at a ridge along the leading directions: what it is, that its choice is
the literal one, and what it says of all directions.
"""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from cases import swept_seeds
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from fsel_book import (
    BSSSelector,
    CompletionSelector,
    LeverageSelector,
    as_blocks,
    certify_columns,
    certify_selector,
)
from fsel_book.arrays import to_numpy
from fsel_book.ridge_barriers import ridge_bss_reference
from fsel_book.sparsification import bss, ridge_promise
from fsel_book.spectra import ridge_space, row_space

KINDS = ["gaussian", "heavy", "rounded", "deficient", "steep"]


def problem(seed):
    """Data of one of these kinds, and a number of columns below theirs."""
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    n = int(rng.integers(3, 40))
    d = int(rng.integers(4, 70))
    X = rng.standard_normal((n, d))
    if kind == "heavy":
        X *= rng.pareto(0.9, d)
    elif kind == "rounded":
        X = np.round(X)
        X[0, 0] = 1.0
    elif kind == "deficient":
        X[n // 2 :] = X[: n - n // 2]
    elif kind == "steep":
        X *= np.exp(-np.arange(n) / 3)[:, None]
    return X, int(rng.integers(1, max(2, d // 2)))


def leading(X, k):
    """The data along their `k` leading directions."""
    return np.linalg.svd(X)[0][:, :k].T @ X


@swept_seeds(60, 600)
def test_a_quarter_of_the_leading_directions_counts(seeds):
    for seed in seeds:
        X, r = problem(seed)
        found = BSSSelector(r).fit(X).certificate_
        rank = np.linalg.matrix_rank(X)
        assert found.rank == min(2 * r, rank)
        sizes = np.linalg.svd(X, compute_uv=False)[: found.rank]
        counts = np.sum(sizes**2 / (sizes**2 + found.ridge))
        assert_allclose([counts, found.effective_dimension], found.rank / 4, rtol=1e-6)


@swept_seeds(60, 600)
def test_the_certificate_is_that_of_the_kernels(seeds):
    """Both kernels with the ridge, along the leading directions, inverted as they
    stand.
    """
    for seed in seeds:
        X, r = problem(seed)
        selector = BSSSelector(r).fit(X)
        found = selector.certificate_
        part = leading(X, found.rank)
        ridge = found.ridge * np.eye(found.rank)
        whole = part @ part.T + ridge
        C = part[:, selector.selected_]
        for weights, eigenvalues in (
            (selector.weights_, found.eigenvalues),
            (np.ones(C.shape[1]), found.eigenvalues_unscaled),
        ):
            kernel = (C * weights) @ C.T + ridge
            expected = scipy.linalg.eigh(kernel, whole, eigvals_only=True)
            assert_allclose(eigenvalues, expected, rtol=1e-6)
        promise = ridge_promise(found.effective_dimension, r, selector.n_draws_)
        assert_allclose(
            [found.promise.lower, found.promise.upper], [promise.lower, promise.upper]
        )
        assert found.holds
        assert promise.lower * (1 - 1e-9) <= found.eigenvalues[0]
        assert found.eigenvalues[-1] <= promise.upper * (1 + 1e-9)


@swept_seeds(40, 400)
def test_the_choice_is_that_of_the_literal_search(seeds):
    """On the leading directions of the data in place of the data."""
    for seed in seeds:
        X, r = problem(seed)
        space = row_space(X)
        k = min(2 * r, space.numerical_rank)
        selector = BSSSelector(n_draws=r).fit(X)
        ridge = selector.certificate_.ridge
        fast = bss(ridge_space(space.truncate(k), ridge), r, "best")
        assert_array_equal(fast.indices, selector.selected_)
        literal = ridge_bss_reference(leading(X, k), r, ridge, "best")
        if KINDS[seed % len(KINDS)] in ("gaussian", "heavy", "steep"):
            assert_array_equal(literal.indices, fast.indices)
            assert_allclose(literal.weights, fast.weights, rtol=1e-5)


@swept_seeds(60, 600)
def test_what_is_kept_of_all_directions(seeds):
    """The proposition: columns without weights keep at least half as much of all
    directions, and what the equation says.
    """
    nearest = np.inf
    for seed in seeds:
        X, r = problem(seed)
        selector = BSSSelector(r).fit(X)
        found = selector.certificate_
        c = min(found.eigenvalues_unscaled[0], 1.0)
        x = (1 + c - np.sqrt((1 + c) ** 2 - 3 * c)) / (2 * c)
        assert 0.5 <= x <= 0.75
        ridge = found.ridge * np.eye(len(X))
        C = X[:, selector.selected_]
        least = scipy.linalg.eigh(C @ C.T + ridge, X @ X.T + ridge, eigvals_only=True)
        assert least[0] >= x * c * (1 - 1e-9)
        nearest = min(nearest, least[0] / (x * c))
    # the bound says something
    assert nearest < 2


def test_many_columns_look_at_a_bounded_number_of_directions():
    X = np.random.default_rng(0).standard_normal((400, 500))
    found = BSSSelector(190).fit(X).certificate_
    assert found.rank < 2 * 190 and found.numerical_rank == 400
    assert_allclose(found.effective_dimension, found.rank / 4)


def test_a_rank_and_a_ridge_are_one_argument_away():
    X = np.random.default_rng(1).standard_normal((30, 80))
    r = 10
    for given, rank, ridge in (
        (dict(rank=4), 4, None),
        (dict(rank="full", n_features_to_select=40), 30, None),
        (dict(ridge=200.0), 30, 200.0),
        (dict(ridge=200.0, rank="full"), 30, 200.0),
        (dict(ridge=200.0, rank=12), 12, 200.0),
    ):
        found = BSSSelector(**{"n_features_to_select": r, **given}).fit(X)
        assert (found.certificate_.rank, found.certificate_.ridge) == (rank, ridge)
        assert found.certificate_.holds
    auto = BSSSelector(r, rank=12, ridge="auto").fit(X).certificate_
    assert auto.rank == 12 and auto.effective_dimension == pytest.approx(3)
    # others have no theorem that would carry over
    assert LeverageSelector(r, random_state=0).fit(X).certificate_.ridge is None


@pytest.mark.parametrize("power", [-3, 300])
def test_units_change_nothing(power):
    X = np.random.default_rng(2).standard_normal((20, 90))
    one, other = (BSSSelector(12).fit(A) for A in (X, X * 2.0**power))
    assert_array_equal(one.selected_, other.selected_)
    assert_array_equal(one.certificate_.eigenvalues, other.certificate_.eigenvalues)
    ratio = other.certificate_.ridge / one.certificate_.ridge
    assert ratio == 2.0 ** (2 * power)


FORMS = {
    "sparse": sp.csr_array,
    "sparse columns": sp.csc_array,
    "float32": lambda X: X.astype(np.float32),
    "blocks of samples": lambda X: as_blocks(
        lambda: iter(np.array_split(X, 5)), axis=0
    ),
    "blocks of features": lambda X: as_blocks(
        lambda: iter(np.array_split(X, 5, axis=1)), axis=1
    ),
}


@pytest.mark.parametrize("shape", [(30, 300), (300, 30)], ids=["wide", "tall"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("labels", [False, True], ids=["", "labels"])
def test_forms_of_data_make_the_same_choice(form, shape, labels):
    rng = np.random.default_rng(3)
    X = rng.standard_normal(shape) * rng.pareto(2, shape[1])
    selector = BSSSelector(9, score_func=rng.random(shape[1]) if labels else None)
    if form == "blocks of features" and not labels:
        # the longest columns are taken, and not at a ridge
        selector.set_params(ridge=0.5 * np.linalg.norm(X, 2) ** 2)
        selector.set_params(rule="largest-norm", rank=18)
    expected = clone(selector).fit(X)
    found = clone(selector).fit(FORMS[form](X))
    assert_array_equal(to_numpy(found.selected_), expected.selected_)
    rtol = 1e-4 if form == "float32" else 1e-8
    assert_allclose(
        found.certificate_.eigenvalues, expected.certificate_.eigenvalues, rtol=rtol
    )
    assert found.certificate_.rank == expected.certificate_.rank == 18
    assert_allclose(found.certificate_.ridge, expected.certificate_.ridge, rtol=rtol)


def test_the_longest_columns_are_taken_at_a_rank():
    """At a ridge they are worse than at random, on ordinary tables."""
    X = np.random.default_rng(8).standard_normal((30, 300))
    for found in (
        BSSSelector(20, rule="largest-norm").fit(X),
        BSSSelector(20).fit(FORMS["blocks of features"](X)),
    ):
        assert (found.certificate_.rank, found.certificate_.ridge) == (10, None)
    scores = np.random.default_rng(9).random(300)
    with_labels = BSSSelector(20, score_func=scores).fit(FORMS["blocks of features"](X))
    assert with_labels.certificate_.ridge is not None


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_large_data_are_judged_along_directions_of_a_sketch(form):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((520, 560)) * np.exp(-np.arange(560) / 40)
    selector = BSSSelector(25).fit(form(X))
    found = selector.certificate_
    assert found.numerical_rank is None and found.rank == 50 and found.holds
    exact = row_space(X).truncate(50)
    assert 0.999 * exact.energy <= found.energy <= exact.energy * (1 + 1e-9)
    assert_allclose(found.effective_dimension, 12.5)
    # the exact directions at that ridge tell nearly the same
    again = certify_columns(X, selector.selected_, rank=50, ridge=found.ridge)
    kept = again.eigenvalues_unscaled[0]
    assert_allclose(kept, found.eigenvalues_unscaled[0], rtol=0.05)


def test_any_list_is_certified_along_the_same_directions():
    X = np.random.default_rng(5).standard_normal((40, 60))
    selector = BSSSelector(8).fit(X)
    own = selector.certificate_
    for found in (
        certify_columns(X, selector.selected_),
        certify_selector(selector, X),
    ):
        assert (found.rank, found.ridge) == (own.rank, own.ridge)
        assert_allclose(found.eigenvalues_unscaled, own.eigenvalues_unscaled)
    added = CompletionSelector([3, 7], 6).fit(X)
    assert (added.certificate_.rank, added.certificate_.ridge) == (own.rank, own.ridge)


@pytest.mark.parametrize("shape", [(12, 40), (40, 12)])
def test_tiny_directions_are_not_told_where_they_count_for_nothing(shape, recwarn):
    """A table with columns that are sums of others, up to rounding."""
    rng = np.random.default_rng(6)
    X = rng.standard_normal(shape)
    # of so small a direction a rank would warn
    side = X[:, -1] if shape[0] > shape[1] else X[-1]
    side[:] = 1e-9 * rng.standard_normal(len(side)) + (
        X[:, 0] if shape[0] > shape[1] else X[0]
    )
    BSSSelector(10).fit(X)
    assert not [w for w in recwarn if "direction" in str(w.message)]


def test_more_than_half_of_many_columns_is_asked_for_in_so_many_words():
    X = np.random.default_rng(7).standard_normal((20, 300))
    assert len(BSSSelector().fit(X).selected_) == 50
    assert len(BSSSelector().fit(X[:, :30]).selected_) == 15
    assert len(BSSSelector(0.5).fit(X).selected_) == 150
