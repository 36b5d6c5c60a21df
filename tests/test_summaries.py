"""Summaries of blocks: exact in any grouping and order, small, and right about the space
of the data.
"""

import copy
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from cases import refused, swept, with_condition
from numpy.testing import assert_allclose, assert_array_equal

from fsel_book import as_blocks, blocks
from fsel_book.certificates import Directions
from fsel_book.spectra import whole_or_leading
from fsel_book.summaries import (
    GramMatrix,
    Passes,
    SquaredNorm,
    TriangularFactor,
    first_pass,
    orthonormal_factor_of,
    space_of,
    space_over,
    squared_residual,
)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Of 64 columns, or a quarter of the rows, so that each pass has many."""
    monkeypatch.setattr(blocks, "PIECE_BYTES", 0)


def wide_data(seed=0, n=30, d=3000):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * rng.gamma(2, 1, d)


SUMMARIES = {
    GramMatrix: lambda summary: summary.G,
    TriangularFactor: lambda summary: summary.R.T @ summary.R,
    SquaredNorm: lambda summary: summary.squares,
}
each_kind = pytest.mark.parametrize("kind", [GramMatrix, TriangularFactor])


@pytest.mark.parametrize("seed", range(5))
def test_merging_in_any_order(seed):
    rng = np.random.default_rng(seed)
    X = wide_data(seed) * 10.0 ** rng.integers(-80, 80)
    edges = np.sort(rng.integers(0, 3001, 7))
    parts = []
    for a, b in zip([0, *edges], [*edges, 3000]):
        summaries = [kind() for kind in SUMMARIES]
        if b > a:
            for summary in summaries:
                summary.add(a, X[:, a:b])
        parts.append(summaries)
    merged = [kind() for kind in SUMMARIES]
    for i in rng.permutation(len(parts)):
        for mine, other in zip(merged, parts[i], strict=True):
            mine.merge(other)
    expected = X @ X.T
    for kind, summary in zip(SUMMARIES, merged):
        whole = SUMMARIES[kind](summary) * 4.0**summary.exponent
        known = expected if np.ndim(whole) else np.trace(expected)
        assert_allclose(whole, known, rtol=1e-10, atol=1e-12 * np.max(known))
        assert (summary.length, summary.dtype, summary.largest) == (
            3000,
            np.float64,
            np.abs(X).max(),
        )


@each_kind
@swept("form", ["coo", "bsr"], ["dia", "lil", "dok"])
def test_sparse_batches_of_any_form(kind, form, monkeypatch):
    # bytes: the batch comes in more than one piece
    monkeypatch.setattr(blocks, "PIECE_BYTES", 2**20)
    X = np.random.default_rng(0).poisson(0.1, (6_000, 40)).astype(float)
    seen, same = (
        kind().partial_fit(sp.csr_array(X).asformat(made)) for made in (form, "csr")
    )
    assert_array_equal(SUMMARIES[kind](seen), SUMMARIES[kind](same))


@each_kind
def test_what_cannot_be_merged_or_added_changes_nothing(kind):
    other = ({GramMatrix, TriangularFactor} - {kind}).pop()
    for mine in (kind(), kind().partial_fit(1e-90 * np.ones((3, 4)))):
        before = pickle.dumps(mine)
        with refused(f"A {other.__name__} cannot be merged with a {kind.__name__}"):
            mine.merge(other().partial_fit(np.ones((3, 4))))
        with refused("X has shape (5, 0)"):
            mine.partial_fit(np.empty((5, 0)))
        assert pickle.dumps(mine) == before


@each_kind
def test_a_batch_that_is_refused_adds_nothing(kind):
    rng = np.random.default_rng(0)
    gram = kind().partial_fit(rng.standard_normal((100, 40)))
    before = pickle.dumps(gram)
    batch = rng.standard_normal((2**17, 40))  # two and a half pieces
    batch[-1, -1] = np.nan
    with refused("NaN or infinity"):
        gram.partial_fit(batch)
    assert pickle.dumps(gram) == before


@each_kind
def test_merging_leaves_the_other_as_it_was(kind):
    parts = [
        kind().partial_fit(np.random.default_rng(seed).standard_normal((50, 4)))
        for seed in range(2)
    ]
    before = pickle.dumps(parts)
    both = kind().merge(parts[0]).merge(parts[1])
    assert_allclose(SUMMARIES[kind](both), sum(map(SUMMARIES[kind], parts)), rtol=1e-14)
    both.partial_fit(1e100 * np.ones((2, 4))).merge(kind())
    assert pickle.dumps(parts) == before
    with refused(f"{kind.__name__} of 1 rows cannot be merged with one of 4"):
        both.merge(kind().partial_fit(np.ones((5, 1))))


@each_kind
@pytest.mark.parametrize("seed", range(4))
def test_a_summary_is_right_whether_pieces_or_their_sum_are_merged(kind, seed):
    """Each part has fewer or more samples than features, at any scale; all may be
    copied and looked at in between.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((70, 20)) * 10.0 ** rng.integers(-70, 70, (70, 1))
    edges = [0, *np.sort(rng.integers(1, 70, 5)), 70]
    parts = []
    for a, b in zip(edges[:-1], edges[1:]):
        batch = X[a:b].copy()
        parts.append(kind().partial_fit(sp.csr_array(batch) if b % 2 else batch))
        batch[:] = np.nan  # whoever handed it out may use it again
    order = rng.permutation(len(parts))
    merged = kind()
    rows = np.empty((0, 20))
    for i in order:
        before = pickle.dumps(parts[i])
        merged.merge(parts[i])
        assert pickle.dumps(parts[i]) == before
        rows = np.vstack([rows, X[edges[i] : edges[i + 1]]])
        merged = (copy.deepcopy, lambda seen: pickle.loads(pickle.dumps(seen)))[i % 2](
            merged
        )
        Z = rows * 2.0**-merged.exponent
        assert_allclose(
            SUMMARIES[kind](merged),
            Z.T @ Z,
            rtol=1e-9,
            atol=1e-12 * np.abs(Z.T @ Z).max(),
        )
        assert merged.length == len(rows)
    if kind is TriangularFactor:
        assert_array_equal(merged.R, np.triu(merged.R))


@each_kind
def test_a_summary_of_few_samples_is_small_and_never_larger_than_the_square(kind):
    X = np.random.default_rng(0).standard_normal((300, 200))
    seen = kind()
    sizes = []
    for row in X:
        seen.partial_fit(row[None])
        sizes.append(len(pickle.dumps(seen)))
    assert sizes[9] < 10 * 8 * 200 + 5000
    assert max(sizes) < 1.1 * 8 * 200**2 + 200 * 300
    # with its indices it takes more than the square
    dense = sp.csr_array(np.ones((199, 200)))
    assert len(pickle.dumps(kind().partial_fit(dense))) < 1.1 * 8 * 200**2
    assert_allclose(SUMMARIES[kind](seen), X.T @ X, rtol=1e-9, atol=1e-9)


@each_kind
def test_merged_summaries_of_few_samples_are_never_larger_than_the_square(kind):
    """Together they have fewer samples than features, and with the indices of their
    entries take more than the square.
    """
    X = np.random.default_rng(0).standard_normal((190, 200))
    merged = kind()
    for a in range(0, 190, 10):
        merged.merge(kind().partial_fit(sp.csr_array(X[a : a + 10])))
        assert len(pickle.dumps(merged)) < 1.1 * 8 * 200**2
    assert_allclose(SUMMARIES[kind](merged), X.T @ X, rtol=1e-9, atol=1e-9)


@each_kind
def test_the_square_of_few_samples_may_be_set(kind):
    seen = kind().partial_fit(np.ones((3, 8)))
    name = {GramMatrix: "G", TriangularFactor: "R"}[kind]
    setattr(seen, name, 2 * np.eye(8))
    assert_array_equal(getattr(seen, name), 2 * np.eye(8))
    seen.partial_fit(np.zeros((1, 8)))
    assert_allclose(np.abs(getattr(seen, name)), 2 * np.eye(8))


@each_kind
def test_few_samples_after_a_square_are_added_to_it(kind):
    """Sparse samples whose entries take more than the square, fewer than features; to
    look at it twice changes nothing.
    """
    X = np.random.default_rng(0).standard_normal((160, 200))
    seen = kind().partial_fit(sp.csr_array(X[:150])).partial_fit(X[150:])
    for _ in range(2):
        assert_allclose(SUMMARIES[kind](seen), X.T @ X, rtol=1e-9, atol=1e-9)
    assert seen.together() is None


@pytest.mark.parametrize("condition", [1e4, 1e8, 1e12])
def test_a_triangular_factor_knows_small_directions(condition):
    """Each singular value to `p c eps sqrt(m)` with columns of length one, after 60
    merges in a random order.
    """
    rng = np.random.default_rng(0)
    X = with_condition(40, 3000, condition, rng)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    parts = []
    for piece in np.array_split(X, 60, axis=1):
        parts.append(TriangularFactor())
        parts[-1].add(0, piece)
    while len(parts) > 1:
        parts.append(
            parts.pop(rng.integers(len(parts))).merge(
                parts.pop(rng.integers(len(parts)))
            )
        )
    exact, found = (np.linalg.svd(A, compute_uv=False) for A in (X, parts[0].R))
    assert np.abs(found - exact).max() < 60 * np.finfo(float).eps * 40**0.5
    assert_array_equal(parts[0].R, np.triu(parts[0].R))


@pytest.mark.parametrize("condition", [10, 1e5, 1e12])
def test_the_factor_is_orthonormal_at_any_condition(condition):
    """From the Gram matrix, repaired by one pass, or from the triangular factor: the
    more passes the worse the data.
    """
    X = with_condition(20, 2000, condition, np.random.default_rng(0))
    passes = Passes(as_blocks(X), 1)
    T, B = orthonormal_factor_of(passes, 1, first_pass(passes, 1))
    V = X.T @ T
    assert passes.count == (1 if condition == 10 else 2)
    assert_allclose(V.T @ V, np.eye(20), atol=20 * condition * np.finfo(float).eps)
    # a repair moves as much from one factor to the other
    assert_allclose(V @ B.T, X.T, atol=1e-14)


@each_kind
def test_small_directions_are_warned_of_where_they_are_used(kind):
    X = with_condition(20, 200, 3e4, np.random.default_rng(0)).astype(np.float32)
    for most in (None, 20, 10, 1):
        passes = Passes(as_blocks(X), 1)
        seen = first_pass(passes, 1, kind)
        if most in (None, 20):
            with pytest.warns(UserWarning, match="directions as small as"):
                orthonormal_factor_of(passes, 1, seen, most)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                orthonormal_factor_of(passes, 1, seen, most)


@pytest.mark.parametrize("first", [GramMatrix, SquaredNorm])
@pytest.mark.parametrize("shape", [(30, 900), (510, 1200)], ids=str)
def test_the_space_is_that_in_memory(shape, first):
    """Whole or leading: lengths of rows and of residuals, of some columns and of all
    together.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape) * rng.gamma(2, 1, shape[1])
    passes = Passes(as_blocks(X), 1)
    space = space_of(passes, first_pass(passes, 1, first), Directions(8, None, 40))
    expected = whole_or_leading(X, 8).truncate(8)
    assert space.shape == (0, 8) and space.numerical_rank == expected.numerical_rank
    some = slice(100, 130)
    part = space_over(space, X[:, some])
    assert_allclose(part.scores64, expected.scores64[some], rtol=1e-8)
    assert_allclose(part.residual_norms, expected.residual_norms[some], rtol=1e-8)
    assert_allclose(
        squared_residual(space), np.sum(expected.residual_norms**2), rtol=1e-8
    )
    assert_allclose(space.squared_norm, np.sum(X**2) * space.scale**2, rtol=1e-12)
    assert_allclose(space.energy, expected.energy, rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_summary_of_no_data_is_none(dtype):
    empty = as_blocks(lambda: iter([np.empty((5, 0), dtype)]), axis=1)
    with refused("X is empty"):
        first_pass(Passes(empty, 1), 1)


def test_a_pass_over_other_data_is_refused():
    X = wide_data()
    given = iter([X, X, X[:, ::-1]])
    passes = Passes(as_blocks(lambda: iter([next(given)]), axis=1), 1)
    for _ in range(2):
        passes.reduce(1, GramMatrix())
    with refused("other data in pass 3"):
        passes.reduce(1, GramMatrix())
    assert passes.count == 2 and passes.length == 3000
