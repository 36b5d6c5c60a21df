"""Plain columns: the ceiling against all subsets, shares, exchanges, and the share that
is explained.
"""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from cases import heavy as heavy_rows
from cases import swept_seeds
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.feature_selection import f_classif

from fsel_book import (
    Blocks,
    BSSSelector,
    DSFSelector,
    LeverageSelector,
    RRQRSelector,
    RSFSelector,
    Sampling,
    bss,
    certify,
    certify_selector,
    kept,
    plain_columns,
    row_space,
)
from fsel_book.arrays import to_numpy
from fsel_book.certificates import Promise
from fsel_book.column_search import round_ties
from fsel_book.plain_columns import (
    GRADIENT_STEPS,
    LEAVING,
    MOST_COLUMNS,
    RAISE,
    Movable,
    Rows,
    explained_ceiling,
    explained_share,
    first_by_eigenvalues,
    first_by_table,
    largest,
    longest_rows,
    most_useful,
    plain_ceiling,
    plain_ceiling_reference,
    promise_after_exchanges,
    raise_smallest,
    raise_smallest_reference,
    who_to_exchange,
)
from fsel_book.spectra import RowSpace, ridge_space
from fsel_book.summaries import GramMatrix, TriangularFactor


class Parts(Blocks):
    """Two halves of an array."""

    def __init__(self, X, axis):
        self.X = X
        self.axes = (axis,)
        self.shape = X.shape

    def read(self, axis):
        yield from np.array_split(self.X, 2, axis)


def heavy(d, ell, seed):
    return heavy_rows(d, ell, np.random.default_rng(seed))


def lowest(V, S, R=0.0):
    return np.linalg.eigvalsh(V[list(S)].T @ V[list(S)] + R)[0]


def best_of_all(V, r, R=0.0):
    return max(lowest(V, S, R) for S in itertools.combinations(range(len(V)), r))


def problem(seed):
    """Rows, a number of columns and a given part: small, and of every kind."""
    rng = np.random.default_rng(seed)
    d = rng.integers(2, 10)
    ell = rng.integers(1, min(d, 5) + 1)
    r = rng.integers(1, min(d, 6) + 1)
    V = np.linalg.qr(rng.standard_normal((d, ell)) * rng.pareto(1.5, (d, 1)))[0]
    kind = seed % 6
    if kind == 1:
        # ties, zeros, and often a lower rank
        V = np.round(V * 3) / 3
    elif kind == 2:
        # copies, and a column of zeros
        V[d // 2] = V[0]
        V[-1] = 0.0
    elif kind == 3:
        # a direction that no row has
        V[:, -1] = 0.0
    elif kind == 4:
        V = V * 10.0 ** rng.integers(-8, 9)
    R = None
    if seed % 4 == 0:
        R = np.diag(rng.random(ell) * (rng.random(ell) < 0.7)) * np.abs(V).max() ** 2
    return V, int(r), R


# ---------------------------------------------------------------- the ceiling


@swept_seeds(80, 600)
@pytest.mark.parametrize("method", [plain_ceiling, plain_ceiling_reference])
def test_no_subset_exceeds_the_ceiling(method, seeds):
    for seed in seeds:
        V, r, R = problem(seed)
        found = method(V, r, given=R)
        part = 0.0 if R is None else R
        size = np.abs(V).max() ** 2
        assert best_of_all(V, r, part) <= found.value + 1e-12 * size, seed
        assert found.value <= found.relaxed


@swept_seeds(80, 600)
def test_ceiling_and_shares_meet(seeds):
    """The proof is in the record: `Y` gives the ceiling, the shares what they reach,
    and the two meet.
    """
    for seed in seeds:
        V, r, R = problem(seed)
        found = plain_ceiling(V, r, given=R, tol=1e-3)
        part = np.zeros((V.shape[1], V.shape[1])) if R is None else R
        size = np.abs(V).max() ** 2
        assert found.gap <= 1e-3, seed

        Y, s = found.Y, found.shares
        assert_allclose(np.trace(Y), 1, rtol=1e-9)
        assert np.linalg.eigvalsh(Y)[0] > -1e-12
        forms = np.sort(np.sum((V @ Y) * V, axis=1))[::-1]
        bound = forms[:r].sum() + np.sum(Y * part)
        assert_allclose(found.relaxed, bound, rtol=1e-9, atol=1e-11 * size)

        assert s.min() >= 0 and s.max() <= 1 + 1e-12
        assert s.sum() <= r * (1 + 1e-9)
        reached = np.linalg.eigvalsh((V.T * s) @ V + part)[0]
        assert_allclose(found.fractional, max(reached, 0), rtol=1e-6, atol=1e-11 * size)
        assert found.fractional <= found.relaxed


@swept_seeds(10, 100)
def test_both_methods_find_the_same_optimum(seeds):
    for seed in seeds:
        V = heavy(200, 6, seed)
        fast = plain_ceiling(V, 20, tol=1e-6)
        slow = plain_ceiling_reference(V, 20, 500, tol=1e-3)
        assert fast.gap <= 1e-6
        assert slow.fractional <= fast.relaxed * (1 + 1e-9)
        assert fast.fractional <= slow.relaxed * (1 + 1e-9)
        assert slow.gap < 0.05


@swept_seeds(3, 30)
def test_columns_join_that_were_not_among_the_longest(seeds):
    """In flat data most columns with a share are not; a dozen steps find them."""
    for seed in seeds:
        V = np.linalg.qr(np.random.default_rng(seed).standard_normal((3000, 8)))[0]
        found = plain_ceiling(V, 30)
        assert found.gap <= 0.01 and found.n_iter < 25
        longest = np.argsort(-np.sum(V**2, axis=1))[:60]
        assert np.sum(found.shares > 0.1) > np.sum(found.shares[longest] > 0.1)


@settings(max_examples=60, deadline=None)
@drawn(
    seed=st.integers(0, 10**6),
    r=st.integers(1, 7),
    factor=st.lists(st.floats(-1, 1, width=32), min_size=6, max_size=6),
)
def test_every_mixture_gives_a_ceiling(seed, r, factor):
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.standard_normal((7, 3)))[0]
    F = np.reshape(factor, (3, 2)).astype(np.float64)
    if np.sum(F**2) < 1e-6:
        return
    F /= np.linalg.norm(F)
    forms = np.sort(Rows(V).forms(F))[::-1]
    assert best_of_all(V, r) <= forms[:r].sum() + 1e-12


def test_few_columns_leave_a_direction_to_what_is_given():
    V = heavy(30, 5, 0)
    found = plain_ceiling(V, 3)
    assert found.value == 0 < found.fractional
    R = np.array([0.5, 0.4, 0.3, 0.02, 0.01])
    # the smallest but three
    assert plain_ceiling(V, 3, given=R).value <= 0.4 + 1e-12
    assert plain_ceiling(V / 100, 3, given=R).value < 0.1


def test_all_columns_reach_their_ceiling():
    V = heavy(12, 3, 1)
    assert_allclose(plain_ceiling(V, 12).value, 1.0, rtol=1e-9)
    padded = np.vstack([V, np.zeros((5, 3))])
    for r in (12, 15):
        assert_allclose(plain_ceiling(padded, r).value, 1.0, rtol=1e-9)


def test_a_simplex_has_the_ceiling_that_its_sets_miss():
    ell = 6
    V = np.linalg.qr(np.eye(ell + 1)[:, :ell] - 1 / (ell + 1))[0]
    assert_allclose(plain_ceiling(V, ell).value, ell / (ell + 1), rtol=1e-6)
    assert_allclose(best_of_all(V, ell), 1 / (ell + 1), rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-60, 1e-7, 1e7, 1e60])
def test_scale_is_a_factor(scale):
    V = heavy(100, 5, 2)
    one = plain_ceiling(V, 20)
    other = plain_ceiling(V * scale, 20)
    assert_allclose(other.value / scale**2, one.value, rtol=1e-6)
    assert other.n_iter == one.n_iter


def test_order_of_the_columns_does_not_matter():
    V = heavy(150, 6, 3)
    order = np.random.default_rng(0).permutation(150)
    assert_allclose(
        plain_ceiling(V[order], 20).value, plain_ceiling(V, 20).value, rtol=1e-6
    )
    start = np.arange(20)
    one = raise_smallest(V, start)
    other = raise_smallest(V, start[::-1])
    assert_array_equal(np.sort(one.indices), np.sort(other.indices))
    assert_array_equal(one.history, other.history)


def test_flat_data_end_with_gradient_steps():
    V = np.linalg.qr(np.random.default_rng(0).standard_normal((4000, 60)))[0]
    found = plain_ceiling(V, 450)
    assert found.n_iter > GRADIENT_STEPS and 0.01 < found.gap < 0.2
    # more than the system takes, from the start
    assert 2 * 600 > MOST_COLUMNS
    found = plain_ceiling(V, 600)
    assert found.n_iter == GRADIENT_STEPS + 1 and found.gap < 0.2
    assert plain_ceiling(V, 600, max_iter=3).n_iter == 3


@pytest.mark.parametrize("form", ["dense", "sparse", "float32"])
def test_forms_of_input(form):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((15, 300)) * (rng.random((15, 300)) < 0.3)
    rtol = 1e-9
    A = X
    if form == "sparse":
        A = sp.csr_array(X)
    elif form == "float32":
        A = X.astype(np.float32)
        rtol = 1e-4
    V = row_space(X, 6).basis()
    space = row_space(A, 6)
    assert_allclose(
        plain_ceiling(space, 25).value, plain_ceiling(V, 25).value, rtol=rtol
    )
    start = bss(space, 25).indices
    run = raise_smallest(space, start)
    assert_allclose(run.history[-1], lowest(V, run.indices), rtol=10 * rtol)
    assert run.history[-1] <= plain_ceiling(space, 25).value
    share = explained_share(A, start)
    assert_allclose(share, explained_share(X, start), rtol=rtol)
    assert share <= explained_ceiling(A, 25) * (1 + rtol)


def test_rows_that_are_made_where_they_are_asked_for():
    """A sparse space too large to keep its basis gives the same forms."""
    X = sp.random_array((10, 500), density=0.3, rng=np.random.default_rng(0))
    space = row_space(X, 4)
    F = np.random.default_rng(1).standard_normal((4, 3))
    rows = Rows(space)
    kept = rows.forms(F)
    space.kept = None
    assert_allclose(rows.forms(F), kept, rtol=1e-9)


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda V: plain_ceiling(V, 0), "from 1 to 20"),
        (lambda V: plain_ceiling(V, 21), "from 1 to 20"),
        (lambda V: plain_ceiling(V, 5, tol=0), "tol=0"),
        (lambda V: plain_ceiling(V, 5, max_iter=0), "max_iter=0"),
        (lambda V: plain_ceiling(V, 5, given=[1.0, np.nan, 0.0]), "finite"),
        (lambda V: plain_ceiling(V, 5, given=-np.eye(3)), "positive semidefinite"),
        (lambda V: plain_ceiling(V * np.nan, 5), "NaN"),
        (lambda V: raise_smallest(V, []), "integers from 0 to 19"),
        (lambda V: raise_smallest(V, [0.5]), "integers from 0 to 19"),
        (lambda V: raise_smallest(V, [20]), "integers from 0 to 19"),
        (lambda V: raise_smallest(V, [3, 3]), "a column twice"),
        (lambda V: raise_smallest(V, [3], kept=np.arange(20) == 4), "column 4, which"),
        (lambda V: raise_smallest(V, [3], kept=[3]), "kept has shape .1,."),
        (lambda V: raise_smallest(V, [3], allowed=np.ones(20)), "20 truth values"),
        (lambda V: raise_smallest(V, [3], group=np.ones(20)), "20 integers"),
        (lambda V: explained_share(V * 0, [1]), "X is zero"),
        (lambda V: explained_ceiling(V, 4), "from 1 to 3"),
    ],
)
def test_what_is_impossible_is_refused(call, says):
    with pytest.raises(ValueError, match=says):
        call(heavy(20, 3, 0))


# ---------------------------------------------------------------- exchanges


@swept_seeds(60, 400)
def test_exchanges_never_lower_and_are_those_of_the_literal_version(seeds):
    for seed in seeds:
        V, r, R = problem(seed)
        rng = np.random.default_rng(seed)
        V = np.vstack([V, np.linalg.qr(rng.standard_normal((20, V.shape[1])))[0]])
        start = rng.permutation(len(V))[:r]
        run = raise_smallest(V, start, given=R)
        literal = raise_smallest_reference(V, start, given=R)
        assert_array_equal(run.indices, literal.indices)
        assert_array_equal(run.history, literal.history)

        assert np.all(np.diff(run.history) >= 0)
        positive = run.history[run.history > 0]
        assert np.all(positive[1:] > (1 + RAISE) * positive[:-1])
        assert len(np.unique(run.indices)) == r
        part = 0.0 if R is None else R
        size = np.abs(V).max() ** 2
        reached = lowest(V, run.indices, part)
        assert_allclose(run.history[-1], reached, rtol=1e-9, atol=1e-9 * size)


@swept_seeds(15, 100)
def test_the_end_is_a_local_optimum(seeds):
    """Of the pairs that are tried; with few columns these are all."""
    for seed in seeds:
        V = heavy(14, 3, seed)
        r = 6
        assert r <= LEAVING
        run = raise_smallest(V, range(r))
        reached = run.history[-1]
        for a, b in itertools.product(run.indices, set(range(14)) - {*run.indices}):
            S = ({*run.indices} - {a}) | {b}
            assert lowest(V, S) <= reached * (1 + 2 * RAISE)


@swept_seeds(4, 20)
def test_the_rows_of_most_use_are_those_of_a_look_at_all(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        V = np.vstack([heavy(2000, 5, seed), heavy(2000, 5, seed)])
        if seed % 2:
            # ties, and lengths that say little
            V = np.round(rng.standard_normal((4000, 20)), 1)
        F = rng.standard_normal((V.shape[1], 1 + seed))
        members = rng.permutation(len(V))[:40]
        q = round_ties(np.sum((V @ F) ** 2, axis=1))
        q[members] = -1
        expected = np.lexsort((np.arange(len(V)), -q))[:50]
        assert_array_equal(most_useful(Rows(V), F, q >= 0, 50), expected)


def test_members_stay_in_their_places():
    V = heavy(200, 5, 4)
    start = np.random.default_rng(0).permutation(200)[:15]
    one = raise_smallest(V, start, max_exchanges=1)
    assert len(one.history) == 2
    assert np.sum(one.indices != start) == 1
    assert len(raise_smallest(V, start, max_exchanges=0).history) == 1
    assert_array_equal(start, np.random.default_rng(0).permutation(200)[:15])


@swept_seeds(40, 300)
def test_the_table_decides_as_the_eigenvalues_do(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        V = heavy(40, rng.integers(1, 6), seed)
        M = V[:9].T @ V[:9]
        pair = first_by_table(M, V[:9], V[9:])
        assert pair == first_by_eigenvalues(M, V[:9], V[9:])


def test_the_table_sees_several_eigenvalues_next_to_nothing():
    """One is nearly as large as what counts as nothing, and that one is lifted."""
    M = np.diag([0, 0.9e-10, 1.0])
    leaving = np.array([[0, 0, 1e-3]])
    joining = np.array([[0, 5e-11**0.5, 1e-3]])
    assert first_by_eigenvalues(M, leaving, joining) == (0, 0)
    assert first_by_table(M, leaving, joining) == (0, 0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("ell", [1, 3])
def test_a_selection_of_zero_rows_is_left_for_any_other(ell):
    zero = np.zeros((1, ell))
    joining = np.vstack([zero, np.eye(ell)])
    assert first_by_eigenvalues(np.zeros((ell, ell)), zero, joining) == (0, 1)
    assert first_by_table(np.zeros((ell, ell)), zero, joining) == (0, 1)


@swept_seeds(40, 300)
def test_the_table_decides_as_the_eigenvalues_do_where_rank_is_missing(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        V = heavy(40, 5, seed)
        V[:9, 3:] = rng.choice([0, 1e-6], (9, 2)) * rng.standard_normal((9, 2))
        M = V[:9].T @ V[:9]
        pair = first_by_table(M, V[:9], V[9:])
        assert pair == first_by_eigenvalues(M, V[:9], V[9:])


@swept_seeds(10, 100)
def test_the_table_proposes_nothing_at_the_end(seeds, monkeypatch):
    """It costs no eigendecomposition to see that no pair helps."""
    for seed in seeds:
        V = heavy(60, 5, seed)
        members = raise_smallest(V, range(12)).indices
        M = V[members].T @ V[members]
        leaving, joining = who_to_exchange(
            Rows(V), np.sort(members), M, Movable.all(len(V))
        )
        with monkeypatch.context() as patched:
            patched.setattr(plain_columns, "is_raised", None)
            assert first_by_table(M, V[leaving], V[joining]) is None


def test_a_singular_selection_gains_rank_first():
    V = np.vstack([np.eye(4), np.full((3, 4), 0.3), 0.9 * np.eye(4)])
    run = raise_smallest(V, [4, 5, 6, 0, 7])
    assert_array_equal(run.history[:2], [0.0, 0.0])
    assert run.history[-1] > 0.5


def test_copies_are_no_exchange():
    """A copy of a member raises nothing, and the lower of two copies comes in."""
    V = np.vstack([heavy(10, 2, 0)] * 2)
    run = raise_smallest(V, [8, 9])
    leaving, joining = who_to_exchange(
        Rows(V), np.array([8, 9]), V[8:10].T @ V[8:10], Movable.all(20)
    )
    assert set(leaving) == {8, 9}
    assert all(
        np.flatnonzero(joining == j) < np.flatnonzero(joining == j + 10)
        for j in range(8)
    )
    assert run.history[-1] <= plain_ceiling(V, 2).value


def test_ties_go_to_the_lower_position():
    assert_array_equal(largest(np.array([1.0, 2.0, 2.0, 2.0, 0.0]), 2), [1, 2])
    assert_array_equal(largest(np.array([1.0, 1.0]), 2), [0, 1])


@swept_seeds(20, 200)
def test_what_must_stay_stays_and_what_must_not_enter_does_not(seeds):
    """And within that the end is a local optimum again, for both versions."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        V = heavy(16, 3, seed)
        start = rng.permutation(16)[:6]
        kept = np.isin(np.arange(16), start[:2])
        allowed = rng.random(16) < 0.6
        group = rng.integers(0, 12, 16)
        masks = {"kept": kept, "allowed": allowed, "group": group}
        run = raise_smallest(V, start, **masks)
        literal = raise_smallest_reference(V, start, **masks)
        assert_array_equal(run.indices, literal.indices)
        assert_array_equal(run.indices[:2], start[:2])
        came = run.indices[run.indices != start]
        assert np.all(allowed[came])
        for j in came:
            others = run.indices[run.indices != j]
            assert not np.any(group[others] == group[j])

        reached = run.history[-1]
        if reached == 0:
            continue
        outside = allowed & ~np.isin(group, group[run.indices])
        for a, b in itertools.product(run.indices[2:], np.flatnonzero(outside)):
            S = ({*run.indices} - {a}) | {b}
            assert lowest(V, S) <= reached * (1 + 2 * RAISE)


@swept_seeds(15, 100)
def test_columns_that_stay_are_a_given_part_of_the_ceiling(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        V = heavy(10, 3, seed)
        order = rng.permutation(10)
        kept, others = order[:2], order[2 : 2 + rng.integers(3, 9)]
        best = max(
            lowest(V, [*kept, *S]) for S in itertools.combinations(others.tolist(), 3)
        )
        found = plain_ceiling(V[others], 3, given=V[kept].T @ V[kept])
        assert best <= found.value * (1 + 1e-9)
        assert found.value <= plain_ceiling(V, 5).value * (1 + 0.02)


def test_nothing_is_exchanged_where_all_must_stay_or_none_may_enter():
    V = heavy(30, 3, 0)
    assert len(raise_smallest(V, range(8)).history) > 1
    kept = np.arange(30) < 8
    assert len(raise_smallest(V, range(8), kept=kept).history) == 1
    none = np.zeros(30, dtype=bool)
    assert len(raise_smallest(V, range(8), allowed=none).history) == 1
    one = np.zeros(30, dtype=int)
    assert len(raise_smallest(V, range(8), group=one).history) == 1


# ---------------------------------------------------------------- at a ridge


def data_at_a_ridge(seed):
    """Few columns with copies, zeros or heavy tails, a ridge, and what it gives."""
    rng = np.random.default_rng(seed)
    n, d = rng.integers(3, 9, 2)
    X = rng.standard_normal((n, d)) * rng.pareto(1.5, d)
    if seed % 3 == 0:
        X[:, -1] = X[:, 0]
        X[:, d // 2] = 0.0
    elif seed % 3 == 1:
        X = X.astype(np.float32)
    elif seed % 2:
        X = sp.csr_array(X * (rng.random(X.shape) < 0.8))
    ridge = 10.0 ** rng.uniform(-2, 1) * np.sum(
        X.multiply(X) if sp.issparse(X) else X**2
    )
    return X, ridge, int(rng.integers(1, d + 1))


def kept_of_kernel(X, S, ridge):
    """The largest `a` with `a (XX' + ridge I) <= X_S X_S' + ridge I`, literally."""
    A = X.toarray() if sp.issparse(X) else X.astype(np.float64)
    one = ridge * np.eye(len(A))
    whole = A @ A.T + one
    part = A[:, list(S)] @ A[:, list(S)].T + one
    return eigh(part, whole, eigvals_only=True)[0]


@pytest.mark.filterwarnings("ignore:X has directions as small")
@swept_seeds(60, 500)
def test_no_subset_exceeds_the_ceiling_at_a_ridge(seeds):
    for seed in seeds:
        X, ridge, r = data_at_a_ridge(seed)
        d = X.shape[1]
        best = max(
            kept_of_kernel(X, S, ridge) for S in itertools.combinations(range(d), r)
        )
        space = ridge_space(X, ridge)
        for method in (plain_ceiling, plain_ceiling_reference):
            assert best <= method(space, r).value + 1e-6, seed
        # the proof is in the record
        found = plain_ceiling(space, r, tol=1e-3)
        assert found.gap <= 1e-3
        V = space.basis()
        forms = np.sort(np.sum((V @ found.Y) * V, axis=1))[::-1]
        bound = forms[:r].sum() + np.sum(np.diag(found.Y) * space.remainder)
        assert_allclose(found.relaxed, bound, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:X has directions as small")
@swept_seeds(40, 300)
def test_exchanges_at_a_ridge_raise_what_is_kept_of_the_kernel(seeds):
    for seed in seeds:
        X, ridge, r = data_at_a_ridge(seed)
        space = ridge_space(X, ridge)
        start = np.random.default_rng(seed).permutation(X.shape[1])[:r]
        run = raise_smallest(space, start)
        literal = raise_smallest_reference(space, start)
        assert_array_equal(run.indices, literal.indices)
        assert_allclose(run.history[0], min(kept_of_kernel(X, start, ridge), 1), 1e-5)
        reached = kept_of_kernel(X, run.indices, ridge)
        # of directions that X does not have all is kept
        assert_allclose(run.history[-1], min(reached, 1), 1e-5)
        assert reached <= plain_ceiling(space, r).value * (1 + 1e-5)
        # at every larger ridge no less
        for larger in (2 * ridge, 100 * ridge):
            assert kept_of_kernel(X, run.indices, larger) >= reached * (1 - 1e-9)


def test_a_given_part_is_added_to_that_of_the_ridge():
    X = np.random.default_rng(0).standard_normal((4, 30))
    space = ridge_space(X, 10.0)
    V = space.basis()
    more = np.array([0.1, 0.0, 0.2, 0.0])
    both = plain_ceiling(space, 6, given=more)
    assert_allclose(
        both.value, plain_ceiling(V, 6, given=more + space.remainder).value, rtol=1e-9
    )


@pytest.mark.parametrize("power", [-40, 40])
def test_powers_of_two_change_nothing_at_a_ridge(power):
    X = np.random.default_rng(1).standard_normal((6, 40))
    one = ridge_space(X, 3.0)
    other = ridge_space(X * 2.0**power, 3.0 * 4.0**power)
    assert plain_ceiling(other, 8).value == plain_ceiling(one, 8).value
    run, again = (raise_smallest(space, range(8)) for space in (one, other))
    assert_array_equal(run.indices, again.indices)
    assert_array_equal(run.history, again.history)


# ---------------------------------------------------------------- the explained share


@swept_seeds(20, 200)
def test_share_is_that_of_least_squares_and_below_its_ceiling(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, d = rng.integers(3, 15, 2)
        X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-3, 3, d)
        if seed % 3 == 0:
            X[:, -1] = X[:, 0] * 2
            X[:, d // 2] = 0
        S = rng.permutation(d)[: rng.integers(1, d + 1)]
        fit = X[:, S] @ np.linalg.lstsq(X[:, S], X, rcond=1e-12)[0]
        share = explained_share(X, S)
        assert_allclose(share, 1 - np.sum((X - fit) ** 2) / np.sum(X**2), atol=1e-9)
        assert share <= explained_ceiling(X, len(S)) + 1e-12
        assert 0 <= share <= 1


def test_share_at_extreme_scales_and_of_nearly_equal_columns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 6))
    X[:, 1] = X[:, 0] * (1 + 1e-16)
    share = explained_share(X, [0, 1, 2])
    assert_allclose(share, explained_share(X, [0, 2]), rtol=1e-9)
    for scale in (1e-120, 1e120):
        assert_allclose(explained_share(X * scale, [0, 1, 2]), share, rtol=1e-9)
    assert_allclose(explained_share(X, range(6)), 1.0)
    assert_allclose(explained_ceiling(X, 6), 1.0)


def test_ceiling_of_the_share_needs_all_singular_values():
    X = np.random.default_rng(0).standard_normal((10, 30))
    whole = explained_ceiling(X, 4)
    S = np.linalg.svd(X, compute_uv=False)
    assert_allclose(whole, np.sum(S[:4] ** 2) / np.sum(S**2))
    assert_allclose(explained_ceiling(row_space(X, 3), 4), whole)
    part = row_space(
        np.random.default_rng(0).standard_normal((700, 800)), 5, exact=False
    )
    with pytest.raises(ValueError, match="leading directions"):
        explained_ceiling(part, 3)


# ---------------------------------------------------------------- beside a certificate


@pytest.mark.filterwarnings("ignore:X has directions as small")
@swept_seeds(40, 400)
def test_no_subset_exceeds_the_ceiling_from_some_rows_and_directions(
    seeds, monkeypatch
):
    """However few are kept; and all rows in all directions give the ceiling itself."""
    for seed in seeds:
        X, ridge, r = data_at_a_ridge(seed)
        space = row_space(X)
        if seed % 2:
            space = ridge_space(space, ridge)
            monkeypatch.setattr(plain_columns, "LEADING_DIRECTIONS", 1)
        d, ell = space.shape
        V = to_numpy(space.basis())
        best = best_of_all(V, r, np.diag(space.given))
        for n_kept in (r, 2 * r, d):
            numbers = n_kept * (max(r + 1, 1) if seed % 2 else ell)
            monkeypatch.setattr(plain_columns, "NUMBERS_OF_ROWS", numbers)
            monkeypatch.setattr(plain_columns, "NUMBERS_MADE", numbers)
            found = longest_rows(space, r)
            if found is None:
                assert n_kept < min(d, 2 * r)
                continue
            assert best <= found.ceiling() + 1e-9, seed
        whole = plain_ceiling(space, r).value
        if seed % 2 == 0:
            assert_allclose(found.ceiling(), min(whole, 1.0), rtol=1e-9)


def test_a_ceiling_from_some_rows_counts_the_others(monkeypatch):
    """The rows that are kept have nothing of the last direction; the others do."""
    copies = np.repeat([0, 1, 2], [4, 8, 8])
    V = np.eye(3)[copies] / np.sqrt([4, 8, 8])
    V[copies == 1] *= 1 + 1e-9
    monkeypatch.setattr(plain_columns, "NUMBERS_OF_ROWS", 12 * 3)
    found = longest_rows(RowSpace.from_basis(V), 6)
    assert found.rows.shape == (12, 3) and not found.rows[:, 2].any()
    # two of each direction
    best = best_of_all(V, 6)
    assert_allclose(best, 2 / 8)
    assert best <= found.ceiling() * (1 + 1e-9) < 0.6


FORMS = {
    "wide": lambda X: X,
    "tall": lambda X: X.T,
    "float32": lambda X: X.astype(np.float32),
    "sparse": sp.csr_array,
    "sparse and tall": lambda X: sp.csr_array(X.T),
    "far from centred": lambda X: X + 30,
    "tiny": lambda X: X * 2.0**-200,
}


@pytest.mark.parametrize("ridge", [None, "auto"])
@pytest.mark.parametrize("form", FORMS)
def test_a_certificate_knows_what_plain_columns_keep(form, ridge):
    rng = np.random.default_rng(0)
    X = FORMS[form](rng.standard_normal((25, 80)) * rng.pareto(1.5, 80))
    selector = BSSSelector(8, ridge=ridge).fit(X)
    plain = selector.certificate_.plain
    rtol = 1e-5 if form == "float32" else 1e-9
    space = row_space(X, 16 if ridge is None else None)
    space = ridge_space(space, selector.certificate_.ridge)
    R = np.diag(space.given)
    assert_allclose(
        plain.smallest, lowest(space.basis(), selector.selected_, R), rtol=100 * rtol
    )
    assert_allclose(plain.ceiling, plain_ceiling(space, 8).value, rtol=0.01)
    assert plain.smallest <= plain.ceiling <= 1
    assert_allclose(plain.share_of_best, plain.smallest / plain.ceiling)
    again = certify_selector(selector, X).plain
    assert_allclose(again.smallest, plain.smallest, rtol=max(rtol, 1e-6))
    assert_allclose(again.ceiling, plain.ceiling, rtol=max(rtol, 1e-6))

    # all numbers, and nothing of the size of the data
    state = pickle.dumps(BSSSelector(8, ridge=ridge).fit(X).certificate_)
    assert len(state) < 5000
    assert pickle.loads(state).plain.to_dict() == plain.to_dict()


def test_a_certificate_says_nothing_of_what_it_does_not_know(monkeypatch):
    X = np.random.default_rng(0).standard_normal((40, 600))
    # blocks of features: the others are not there
    blocks = Parts(X, 1)
    plain = BSSSelector(20, rule="largest-norm").fit(blocks).certificate_.plain
    assert plain.ceiling is None and plain.share_of_best is None
    memory = BSSSelector(20, rule="largest-norm").fit(X).certificate_.plain
    assert_allclose(plain.explained.share, memory.explained.share, rtol=1e-9)
    # leading directions only
    X = np.random.default_rng(1).standard_normal((510, 520)) * np.exp(
        -np.arange(520) / 50
    )
    selector = BSSSelector(25).fit(X)
    plain = selector.certificate_.plain
    assert plain.explained.ceiling is None and plain.explained.left_out is None
    assert plain.smallest <= plain.ceiling
    # a basis without data
    space = RowSpace.from_basis(np.eye(6)[:, :2])
    plain = certify(space, Sampling(np.arange(2), np.ones(2), 6, 2)).plain
    assert plain.explained is None and plain.pairs is None
    assert plain.ceiling == plain.smallest == 1
    # too much to keep, and to find at once
    monkeypatch.setattr(plain_columns, "NUMBERS_OF_ROWS", 100)
    monkeypatch.setattr(kept, "MOST_WORK", 100)
    certificate = BSSSelector(20).fit(X).certificate_
    plain = certificate.plain
    assert plain.ceiling is None and plain.explained is None
    assert "keep more than" not in str(plain) and "explain" not in str(certificate)


# ---------------------------------------------------------------- as a last step

SELECTORS = {
    "BSS": BSSSelector(12),
    "BSS at a ridge": BSSSelector(12, ridge="auto"),
    "BSS of mixtures": BSSSelector(12, sketch_size=8, random_state=0),
    "DSF": DSFSelector(12),
    "RSF": RSFSelector(12, random_state=0),
    "leverage": LeverageSelector(12, random_state=0),
    "largest leverages": LeverageSelector(12, rule="largest"),
    "RRQR": RRQRSelector(12),
    "draws": LeverageSelector(n_draws=12, random_state=0),
}
each_selector = pytest.mark.parametrize("name", SELECTORS)


def with_copies(seed):
    """Heavy-tailed columns; some are copies, multiples or zero."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, 90)) * rng.pareto(1.5, 90) ** 0.5
    X[:, 60:70] = X[:, :10]
    X[:, 70:80] = 3 * X[:, 10:20]
    X[:, 80] = 0.0
    return X


@each_selector
@swept_seeds(4, 30)
def test_exchanges_raise_what_plain_columns_keep(name, seeds):
    for seed in seeds:
        X = with_copies(seed)
        before = clone(SELECTORS[name]).fit(X)
        after = clone(SELECTORS[name]).set_params(exchange=True).fit(X)
        assert len(after.selected_) == len(before.selected_)
        assert_array_equal(after.weights_, np.ones(len(after.selected_)))
        assert after.n_draws_ == before.n_draws_

        one, other = before.certificate_, after.certificate_
        assert other.plain.smallest >= one.plain.smallest * (1 - 1e-9)
        assert other.interval[1] <= 1 + 1e-9
        assert_allclose(other.eigenvalues, other.eigenvalues_unscaled)
        assert other.plain.smallest <= one.plain.ceiling
        assert type(other) is type(one) and other.rank == one.rank
        # no two columns of one direction
        C = X[:, after.selected_] / np.linalg.norm(X[:, after.selected_], axis=0)
        cosines = np.abs(C.T @ C) - np.eye(C.shape[1])
        assert cosines.max() < 1 - 1e-9

        # what is left of the promise, from the weights that there were
        if one.promise is None:
            assert other.promise is None
            continue
        largest_weight = before.weights_.max()
        if one.ridge is not None:
            largest_weight = max(1, largest_weight)
        assert_allclose(other.promise.lower, one.promise.lower / largest_weight)
        assert other.promise.upper == 1 and other.holds


@swept_seeds(60, 500)
def test_what_is_left_of_a_promise_holds_for_any_weights(seeds):
    """Promised is the smallest eigenvalue with the weights, which is as much as can be."""
    for seed in seeds:
        V, r, _ = problem(seed)
        rng = np.random.default_rng(seed)
        # with the ridge part all adds up to one
        V = V / max(np.linalg.norm(V, 2), 1e-300)
        R = np.eye(V.shape[1]) - V.T @ V
        at_ridge = seed % 2 == 1
        if not at_ridge:
            R = np.zeros_like(R)
        S = rng.permutation(len(V))[:r]
        w = rng.pareto(1.0, r) + 0.01
        a = np.linalg.eigvalsh((V[S].T * w) @ V[S] + R)[0]
        left = promise_after_exchanges(Promise(a, 9.0, 0.9), w, at_ridge)
        assert left.lower <= lowest(V, S, R) + 1e-9, seed
        assert left.confidence == 0.9


def test_exchanges_do_not_depend_on_order_or_scale():
    X = np.random.default_rng(0).standard_normal((15, 60)) * np.linspace(1, 3, 60)
    selector = BSSSelector(12, exchange=True)
    chosen = clone(selector).fit(X).selected_
    order = np.random.default_rng(1).permutation(60)
    assert set(order[clone(selector).fit(X[:, order]).selected_]) == set(chosen)
    assert_array_equal(clone(selector).fit(X * 2.0**90).selected_, chosen)
    assert_array_equal(clone(selector).fit(sp.csr_array(X)).selected_, chosen)
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(60)])
    assert_array_equal(clone(selector).fit(frame).selected_, chosen)


@pytest.mark.parametrize("kind", [GramMatrix, TriangularFactor])
def test_exchanges_from_blocks_of_samples_are_those_in_memory(kind):
    X = np.random.default_rng(0).standard_normal((200, 30)) * np.linspace(1, 3, 30)
    memory = BSSSelector(8, exchange=True).fit(X)
    seen = kind().partial_fit(X[:120]).partial_fit(X[120:])
    blocks = Parts(X, 0)
    for data in (seen, blocks):
        fitted = BSSSelector(8, exchange=True).fit(data)
        assert_array_equal(fitted.selected_, memory.selected_)
        assert_array_equal(fitted.weights_, np.ones(8))
        one, other = fitted.certificate_.plain, memory.certificate_.plain
        assert_allclose(one.smallest, other.smallest, rtol=1e-9)
        assert_allclose(one.ceiling, other.ceiling, rtol=1e-6)


def test_exchanges_and_ceilings_from_arrays_of_a_device(dense_library):
    X = with_copies(0)
    for keywords in ({}, {"ridge": "auto"}):
        selector = BSSSelector(12, exchange=True, **keywords)
        expected = clone(selector).fit(X)
        fitted = clone(selector).fit(dense_library.make(X))
        assert_array_equal(dense_library.back(fitted.selected_), expected.selected_)
        assert_array_equal(dense_library.back(fitted.weights_), np.ones(12))
        found = fitted.certificate_.plain
        known = expected.certificate_.plain
        for name in ("smallest", "ceiling", "share_of_best"):
            assert_allclose(getattr(found, name), getattr(known, name), rtol=1e-6)


@pytest.mark.parametrize(
    "keywords, says",
    [
        ({"exchange": 1}, "exchange=1"),
        ({"exchange": True, "rescale": True}, "rescale=True contradict"),
        ({"exchange": True, "score_func": f_classif}, "score_func contradict"),
    ],
)
def test_what_does_not_go_with_exchanges_is_refused(keywords, says):
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match=says):
        BSSSelector(5, **keywords).fit(X, y)


def test_blocks_of_features_are_refused():
    X = np.random.default_rng(0).standard_normal((20, 100))
    blocks = Parts(X, 1)
    for selector in (BSSSelector(8), LeverageSelector(8), DSFSelector(8)):
        with pytest.raises(ValueError, match="in blocks of features"):
            selector.set_params(exchange=True).fit(blocks)
