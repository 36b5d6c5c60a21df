"""Data larger than memory: the same selection as in memory, from every source, whatever
happens to the source.
"""

import os
import pickle
import subprocess
import sys
import tempfile
import tracemalloc
import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from cases import (
    MergedParts,
    equal_columns,
    orthonormal,
    refused,
    swept,
    swept_product,
    swept_seeds,
    with_condition,
)
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from fsel_book import (
    BSSSelector,
    CertifiedSelector,
    DSFSelector,
    DualProjectionClassifier,
    DualProjectionRidge,
    LeverageSelector,
    RRQRSelector,
    RSFSelector,
    Sampling,
    as_blocks,
    block_search,
    blocks,
    bss,
    certify,
    out_of_core,
    row_space,
)
from fsel_book.blocks import Blocks
from fsel_book.certificates import Promise
from fsel_book.out_of_core import gram_is_too_large
from fsel_book.summaries import GramMatrix, TriangularFactor


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Of 64 columns, or a quarter of the rows, so that each pass has many."""
    monkeypatch.setattr(blocks, "PIECE_BYTES", 0)


# what "auto" stands for on blocks of features
by_norm = partial(BSSSelector, rule="largest-norm")
SCORES = np.random.default_rng(5).random(3000)
WIDE = {
    "BSS": by_norm(60),
    "BSS, full rank": BSSSelector(60, rank="full"),
    "BSS, auto": by_norm("theorem", rank=4, eps=0.7),
    "BSS, one draw": BSSSelector(1, rank=1),
    "BSS, scores": BSSSelector(60, score_func=SCORES),
    "BSS, ridge": by_norm(60, ridge="auto"),
    "BSS, scores, ridge": BSSSelector(40, ridge=3e4, score_func=SCORES),
    "BSS, auto, ridge": by_norm("theorem", ridge=3e5, eps=0.7),
    "DSF": DSFSelector(60, rule="first"),
    "DSF, scores": DSFSelector(40, score_func=SCORES),
    "leverage": LeverageSelector(200, random_state=3),
    "leverage, ridge": LeverageSelector(200, ridge=1e4, random_state=3),
    "largest": LeverageSelector(60, rule="largest"),
    "largest, ridge": LeverageSelector(60, rule="largest", ridge="auto"),
    "RSF": RSFSelector(200, random_state=4),
}
TALL = WIDE | {
    "BSS": by_norm(20),
    "BSS, full rank": BSSSelector(40, rank=39),
    "BSS, best": BSSSelector(20, rule="best"),
    "BSS, scores": BSSSelector(20, score_func=SCORES[:50]),
    "BSS, ridge": BSSSelector(20, ridge="auto"),
    "BSS, scores, ridge": BSSSelector(20, ridge="auto", score_func=SCORES[:50]),
    "BSS, auto, ridge": BSSSelector("theorem", ridge=1e6, eps=0.9),
    "DSF": DSFSelector(20),
    "DSF, scores": DSFSelector(20, score_func=SCORES[:50]),
    "leverage": LeverageSelector(40, random_state=3),
    "leverage, ridge": LeverageSelector(40, ridge=1e4, random_state=3),
    "largest": LeverageSelector(20, rule="largest"),
    "largest, ridge": LeverageSelector("theorem", rule="largest", ridge=1e4),
    "RSF": RSFSelector(40, random_state=4),
    "RRQR": RRQRSelector(20),
}


def wide_data(seed=0, n=30, d=3000):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * rng.gamma(2, 1, d)


def cut(X, widths, axis=1):
    """A source that hands out blocks of these widths, from the beginning each time."""
    edges = np.cumsum([0, *widths])
    return as_blocks(
        lambda: (np.take(X, range(a, b), axis) for a, b in zip(edges[:-1], edges[1:])),
        axis=axis,
    )


def assert_same(found, expected, rtol=1e-8):
    """The same fit, up to rounding."""
    assert_array_equal(found.selected_, expected.selected_)
    assert_allclose(found.weights_, expected.weights_, rtol=rtol)
    assert (
        found.n_draws_ == expected.n_draws_
        and found.n_features_in_ == expected.n_features_in_
    )
    assert_array_equal(found.get_support(), expected.get_support())
    a = found.certificate_
    b = expected.certificate_
    assert_allclose(a.eigenvalues, b.eigenvalues, rtol=rtol, atol=1e-12)
    assert_allclose(
        a.eigenvalues_unscaled, b.eigenvalues_unscaled, rtol=rtol, atol=1e-12
    )
    for name in (
        "n_features",
        "n_draws",
        "n_selected",
        "rank",
        "numerical_rank",
        "method",
        "holds",
    ):
        assert getattr(a, name) == getattr(b, name), name
    assert_allclose(a.energy, b.energy, rtol=1e-9)
    assert (a.ridge is None) == (b.ridge is None)
    if a.ridge is not None:
        assert_allclose(a.ridge, b.ridge, rtol=rtol)
        assert_allclose(a.effective_dimension, b.effective_dimension, rtol=rtol)
    assert (a.promise is None) == (b.promise is None)
    if a.promise is not None:
        figures = [
            name
            for name in ("lower", "upper", "residual", "cross")
            if hasattr(b.promise, name)
        ]
        promised = [
            [getattr(promise, name) for name in figures]
            for promise in (a.promise, b.promise)
        ]
        assert_allclose(*promised, rtol=1e-8, atol=1e-12)
    if hasattr(a, "sine"):
        assert_allclose(
            [a.sine, a.ratio, a.residual],
            [b.sine, b.ratio, b.residual],
            rtol=1e-7,
            atol=1e-12,
        )


# ---------------------------------------------------------------- the same selection


@swept_product(
    ("name", "dtype"),
    [
        *((name, np.float64) for name in WIDE),
        *((name, np.float32) for name in ("BSS", "DSF", "RSF")),
    ],
    WIDE,
    [np.float64, np.float32],
)
def test_blocks_of_features_give_the_selection_in_memory(name, dtype):
    X = wide_data().astype(dtype)
    selector = WIDE[name]
    found = clone(selector).fit(as_blocks(X))
    assert_same(
        found, clone(selector).fit(X), rtol=1e-5 if dtype == np.float32 else 1e-8
    )
    # draws go on in further passes, each with as many as there were before
    most = 7 if name in ("leverage", "leverage, ridge", "RSF") else 3
    assert found.weights_.dtype == dtype and found.n_passes_ <= most
    assert_array_equal(found.transform(as_blocks(X)), found.transform(X))


@swept_product(
    ("seed", "window"),
    [
        (0, 2**27),
        (1, 8 * 30 * 12),
        (2, 8 * 30 * 3),
        (3, 8 * 30 * 12),
        (4, 2**27),
        (5, 0),
    ],
    range(6),
    [2**27, 8 * 30 * 12, 8 * 30 * 3, 0],
)
def test_features_that_fill_up_are_those_in_memory(seed, window, monkeypatch):
    """Where the dual set draws few long features again and again, whether many columns
    are at hand or one.
    """
    monkeypatch.setattr(block_search, "SEARCH_WINDOW", window)
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 60)) * rng.pareto(1.2, 60)
    if seed % 3 == 0:
        X = X.astype(np.float32)
    selector = DSFSelector(20, rule="first", rank=5)
    found = clone(selector).fit(cut(X, [7] * 8 + [4]))
    expected = clone(selector).fit(X)
    assert_same(found, expected, rtol=1e-5 if X.dtype == np.float32 else 1e-8)
    for source in (cut(X, [60]), MergedParts(X, [7] * 8 + [4])):
        again = clone(selector).fit(source)
        assert_array_equal(again.selected_, expected.selected_)
    assert found.certificate_.n_selected == 20
    assert found.n_passes_ <= (4 if window == 2**27 else 17)
    assert_array_equal(found.transform(as_blocks(X)), X[:, np.sort(found.selected_)])


@swept_product(
    ("shape", "columns", "seed"),
    [
        ((510, 900), 0, 0),
        ((510, 900), 4, 1),
        ((510, 900), 9, 2),
        ((40, 120), 0, 0),
        ((40, 120), 4, 1),
    ],
    [(510, 900), (40, 120)],
    [0, 1, 4, 9, 30],
    range(6),
)
def test_few_columns_at_hand_fill_up_as_all_of_them_do(
    shape, columns, seed, monkeypatch
):
    """At any rank and number of draws, and with scores; in the larger shape memory
    knows leading directions only.
    """
    n, d = shape
    monkeypatch.setattr(block_search, "SEARCH_WINDOW", 8 * n * columns)
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(shape) * np.exp(2 * rng.standard_normal(d))
    r = int([40, 39, 26][seed % 3])
    rank = int(rng.integers(1, r // 2))
    width = int(rng.integers(40, d))
    how = dict(score_func=rng.random(d)) if seed % 2 else dict(rule="first")
    selector = DSFSelector(r, rank=rank, **how)
    expected = clone(selector).fit(X)
    assert (expected.certificate_.numerical_rank is None) == (n > 500)
    found = clone(selector).fit(cut(X, [width] * (d // width) + [d % width]))
    assert_array_equal(found.selected_, expected.selected_)


COPIES = {
    "twice": lambda X: np.hstack([X, X]),
    "negatives in between": lambda X: np.stack([X, -X], axis=2).reshape(len(X), -1),
    "half of them three times": lambda X: np.hstack([X, X[:, ::2], X[:, ::2]]),
    "float32": lambda X: np.hstack([X, X]).astype(np.float32),
    "to the last bits": lambda X: np.hstack(
        [X, X * (1 + 1e-15 * np.arange(len(X))[:, None])]
    ),
}


@swept_product(("name", "kind"), list(zip(WIDE, [*COPIES, *COPIES])), WIDE, COPIES)
def test_copies_in_other_blocks_are_passed_over_as_in_memory(name, kind):
    X = COPIES[kind](wide_data(7, 30, 1500))
    if name.endswith("scores"):
        scores = np.random.default_rng(8).random(X.shape[1])
        # of which a copy has others
        selector = clone(WIDE[name]).set_params(score_func=scores)
    else:
        selector = clone(WIDE[name])
    found = clone(selector).fit(cut(X, [500] * 6))
    expected = selector.fit(X)
    assert_same(found, expected, rtol=1e-5 if kind == "float32" else 1e-8)
    first = equal_columns(X[:, found.selected_])
    assert_array_equal(first, np.arange(len(first)))


@swept_product(
    ("name", "kind"), list(zip(TALL, [*COPIES, *COPIES, *COPIES])), TALL, COPIES
)
def test_copies_in_blocks_of_samples_are_passed_over_as_in_memory(name, kind):
    X = COPIES[kind](wide_data(1, 25, 900).T)
    selector = clone(TALL[name])
    if name == "BSS, full rank":
        selector.set_params(n_features_to_select=24, rank=20)
    if "scores" in name:
        selector.set_params(score_func=np.random.default_rng(8).random(X.shape[1]))
    found = clone(selector).fit(cut(X, [300, 600], axis=0))
    expected = clone(selector).fit(X)
    assert_same(found, expected, rtol=1e-4 if kind == "float32" else 1e-7)
    first = equal_columns(X[:, found.selected_])
    assert_array_equal(first, np.arange(len(first)))


@pytest.mark.parametrize("summary", [GramMatrix, TriangularFactor])
def test_copies_are_known_from_a_summary(summary):
    X = wide_data(1, 25, 900).T
    twice = np.hstack([X, -X])
    seen = summary()
    for batch in np.array_split(twice, 7):
        seen = seen.partial_fit(batch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the directions that are not there
        for selector in (
            BSSSelector(20, rule="best"),
            DSFSelector(20),
            LeverageSelector(20, rule="largest"),
        ):
            found = clone(selector).fit(seen).selected_
            assert_array_equal(found, clone(selector).fit(X).selected_)


@pytest.mark.parametrize("name", TALL)
def test_blocks_of_samples_give_the_selection_in_memory(name):
    X = wide_data(1, 50, 900).T
    selector = TALL[name]
    found = clone(selector).fit(cut(X, [300, 1, 0, 599], axis=0))
    assert_same(found, clone(selector).fit(X))
    assert found.n_passes_ == 1
    assert_array_equal(found.transform(cut(X, [450, 450], axis=0)), found.transform(X))


MATRICES = {
    "condition 1e3": lambda rng: with_condition(25, 400, 1e3, rng),
    "condition 1e6": lambda rng: with_condition(25, 400, 1e6, rng),
    "condition 1e11": lambda rng: with_condition(25, 400, 1e11, rng),
    "rank 7": lambda rng: rng.standard_normal((25, 7)) @ rng.standard_normal((7, 400)),
    "a zero sample": lambda rng: (
        rng.standard_normal((25, 400)) * (np.arange(25) != 3)[:, None]
    ),
    "zero features": lambda rng: (
        rng.standard_normal((25, 400)) * (np.arange(400) % 3 > 0)
    ),
    "equal features": lambda rng: np.repeat(rng.standard_normal((25, 80)), 5, axis=1),
    "counts": lambda rng: rng.poisson(0.4, (25, 400)).astype(float),
    "heavy tails": lambda rng: rng.standard_cauchy((25, 400)),
    "huge": lambda rng: 1e120 * rng.standard_normal((25, 400)),
    "tiny": lambda rng: 1e-120 * rng.standard_normal((25, 400)),
    "huge and tiny": lambda rng: (
        rng.standard_normal((25, 400)) * np.where(np.arange(400) < 200, 1e-60, 1e60)
    ),
}


@swept_product(
    ("kind", "axis"),
    [(kind, i % 2) for i, kind in enumerate(MATRICES)],
    MATRICES,
    [0, 1],
)
def test_the_same_for_any_matrix(kind, axis):
    """At a rank that rounding leaves well defined: the leading half of the directions."""
    X = MATRICES[kind](np.random.default_rng(3))
    X = X if axis else X.T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        most = row_space(X).numerical_rank
        rank = max(1, most // 2)
        for selector in (
            by_norm(2 * rank + 5, rank=rank),
            LeverageSelector(30, random_state=0, rank=rank),
        ):
            selector = selector.set_params(
                n_features_to_select=min(selector.n_features_to_select, X.shape[1])
            )
            selector.set_params(rank=min(rank, selector.n_features_to_select - 1))
            found = clone(selector).fit(cut(X, [X.shape[axis]], axis))
            expected = clone(selector).fit(X)
            assert_same(found, expected, rtol=1e-6)


def steep(rng, n):
    """Of a few directions the last is below a hundredth of the first; then many of a
    thousandth.
    """
    return orthonormal(n, n, rng) * np.maximum(0.63 ** np.arange(n), 1e-3)


LARGE = {
    "alike": lambda rng: rng.standard_normal((510, 1200)),
    "counts": lambda rng: rng.poisson(0.05, (510, 1200)).astype(float),
    "float32": lambda rng: rng.standard_normal((510, 1200)).astype(np.float32),
    "heavy tails": lambda rng: rng.standard_normal((510, 1200)) * rng.pareto(1.2, 1200),
    "heavy samples": lambda rng: (
        rng.standard_normal((510, 1200)) * rng.pareto(1.2, 510)[:, None]
    ),
    "steep": lambda rng: steep(rng, 510) @ rng.standard_normal((510, 1200)),
    "huge": lambda rng: 1e120 * rng.standard_normal((510, 1200)),
}
FEW = {
    "BSS": by_norm(60),
    "default": BSSSelector(25, score_func=np.random.default_rng(6).random(1200)),
    "scores": BSSSelector(
        60, rank=12, score_func=np.random.default_rng(5).random(1200)
    ),
    "DSF": DSFSelector(40, rule="first", rank=12),
    "draws": LeverageSelector(100, rank=12, random_state=0),
    "largest": LeverageSelector(100, rank=12, rule="largest"),
    "RSF": RSFSelector(400, rank=12, random_state=0),
}


@swept_product(
    ("kind", "name"),
    [
        *(("alike", name) for name in FEW),
        ("float32", "BSS"),
        ("heavy tails", "DSF"),
        ("heavy tails", "scores"),
        ("steep", "RSF"),
        ("steep", "largest"),
    ],
    LARGE,
    FEW,
)
def test_where_memory_looks_for_leading_directions_only(kind, name):
    """Beyond 500 samples and features, at a small rank: the same sketches, from the
    Gram matrix.
    """
    X = LARGE[kind](np.random.default_rng(0))
    expected = clone(FEW[name]).fit(X)
    assert expected.certificate_.numerical_rank is None
    found = clone(FEW[name]).fit(cut(X, [500, 1, 0, 699]))
    assert_same(found, expected, rtol=1e-5 if kind == "float32" else 1e-7)
    passes = 2 + (kind == "steep")
    if name in ("draws", "RSF"):
        # draws go on, a pass each time, until enough different features are there
        assert passes < found.n_passes_ <= passes + 8
        asked = {"n_features_to_select": None}
        asked["n_draws"] = FEW[name].n_features_to_select
        as_printed = clone(FEW[name]).set_params(**asked)
        assert as_printed.fit(cut(X, [500, 1, 0, 699])).n_passes_ == passes + 1
    elif name == "default":
        # at a ridge the highest scores of heavy tails are not enough: one pass more
        assert found.n_passes_ == passes + kind.startswith("heavy")
    else:
        assert name == "DSF" or found.n_passes_ == passes


@swept("name", ["BSS", "draws"], ["DSF", "largest", "RSF"])
def test_the_same_leading_directions_from_blocks_of_samples(name, monkeypatch):
    X = np.random.default_rng(0).standard_normal((1200, 510))
    expected = clone(FEW[name]).fit(X)
    assert expected.certificate_.numerical_rank is None
    assert_same(clone(FEW[name]).fit(cut(X, [500, 1, 0, 699], axis=0)), expected)
    assert_same(
        clone(FEW[name]).fit(GramMatrix().partial_fit(X[:700]).partial_fit(X[700:])),
        expected,
    )
    # which is for blocks of features
    monkeypatch.setattr(out_of_core, "GRAM_BYTES", 0)
    assert_same(clone(FEW[name]).fit(as_blocks(X)), expected)


@swept_product(
    ("kind", "name"),
    [*(("alike", name) for name in FEW), ("steep", "largest"), ("steep", "RSF")],
    LARGE,
    FEW,
)
def test_where_the_gram_matrix_is_too_large(kind, name, monkeypatch):
    """A pass for each sketch in place of the Gram matrix, the pieces merged at random:
    the same once more.
    """
    monkeypatch.setattr(out_of_core, "GRAM_BYTES", 0)
    # which shows that none is made
    monkeypatch.setattr(out_of_core.GramMatrix, "add", None)
    X = LARGE[kind](np.random.default_rng(0))
    expected = clone(FEW[name]).fit(X)
    found = clone(FEW[name]).fit(Scattered(X, 1))
    assert_same(found, expected, rtol=1e-5 if kind == "float32" else 1e-7)
    passes = 7 + (kind == "steep")
    if name in ("draws", "RSF"):
        # draws go on, a pass each time, until enough different features are there
        assert passes < found.n_passes_ <= passes + 8
        asked = {"n_features_to_select": None}
        asked["n_draws"] = FEW[name].n_features_to_select
        as_printed = clone(FEW[name]).set_params(**asked)
        assert as_printed.fit(Scattered(X, 1)).n_passes_ == passes + 1
    elif name == "default":
        # at a ridge the highest scores of heavy tails are not enough: one pass more
        assert found.n_passes_ == passes + kind.startswith("heavy")
    else:
        assert name == "DSF" or found.n_passes_ == passes


def test_sketches_of_sparse_data(monkeypatch):
    """In pieces most of whose rows are empty, or nearly none."""
    monkeypatch.setattr(out_of_core, "GRAM_BYTES", 0)
    X = sp.csc_array(LARGE["counts"](np.random.default_rng(0)))
    X.data *= 1 + np.arange(X.nnz) % 3
    source = Scattered(X, 1)
    source.edges = [0, *range(3, 300, 7), 1200]
    for selector in (by_norm(60), BSSSelector(25, score_func=np.arange(1200.0))):
        found = clone(selector).fit(source)
        assert_same(found, clone(selector).fit(X), rtol=1e-7)
        assert found.n_passes_ == 7


def test_when_the_gram_matrix_is_too_large():
    """Beyond 1 GiB, for a small rank, where the shape is known before the first pass."""
    few = BSSSelector(0.001, rank=50)
    many = BSSSelector(2000, rank="full")
    for n, d, selector, expected in (
        (11_585, 10**6, few, False),
        (11_586, 10**6, few, True),
        (11_586, 10**6, many, False),
        (None, 10**6, few, False),
        (11_586, None, few, False),
    ):
        assert gram_is_too_large((n, d), selector) == expected


@pytest.mark.parametrize("limit", [0, 2**30])
def test_leading_directions_that_squares_do_not_hold(limit, monkeypatch):
    """Nothing beyond the leading directions, or too small ones among them: the exact
    row space, from more passes.
    """
    monkeypatch.setattr(out_of_core, "GRAM_BYTES", limit)
    rng = np.random.default_rng(0)
    A = rng.standard_normal((510, 20))
    B = rng.standard_normal((20, 1200))
    for scales in (np.ones(20), np.where(np.arange(20) < 10, 1, 1e-8)):
        found = by_norm(60, rank=20).fit(as_blocks((A * scales) @ B))
        assert found.certificate_.numerical_rank == 20
        assert found.n_passes_ == (9 if limit == 0 else 3)
        assert_array_equal(
            found.selected_, bss(row_space((A * scales) @ B), 60).indices
        )


@pytest.mark.parametrize("seed", range(4))
def test_a_head_that_holds_all_columns_and_runs_dry(seed):
    """As many columns as the head has: a look beyond finds nothing, and columns are
    taken again.
    """
    rng = np.random.default_rng(seed)
    d = 2 * 40 + 8 * 12 + 1024
    X = rng.standard_normal((60, d)) * rng.pareto(1.2, d)
    selector = DSFSelector(40, rule="first", rank=12)
    assert_same(clone(selector).fit(cut(X, [d])), clone(selector).fit(X))


@pytest.mark.parametrize(
    "widths", [[3000], [1] * 3000, [0, 2999, 0, 1], [700] * 4 + [200]], ids=len
)
def test_the_width_of_blocks_changes_nothing(widths):
    X = wide_data(2)
    assert_same(by_norm(60).fit(cut(X, widths)), by_norm(60).fit(as_blocks(X)), rtol=0)


def test_blocks_of_different_precision():
    X = wide_data(3)
    X[:, :1500] = X[:, :1500].astype(np.float32)
    parts = [
        X[:, :1500].astype(np.float32),
        X[:, 1500:2000].astype(np.float64),
        X[:, 2000:],
    ]
    assert_same(
        by_norm(60).fit(as_blocks(lambda: iter(parts), axis=1)), by_norm(60).fit(X)
    )
    counts = np.random.default_rng(0).poisson(1.0, (20, 600))
    parts = [
        counts[:, :200].astype(np.int8),
        counts[:, 200:400].astype(np.float32),
        counts[:, 400:].astype(np.int64),
    ]
    assert_same(
        by_norm(60).fit(as_blocks(lambda: iter(parts), axis=1)), by_norm(60).fit(counts)
    )


def test_sums_that_float32_does_not_hold():
    X = (1e25 * wide_data(4)).astype(np.float32)
    with np.errstate(over="ignore"):
        assert not np.all(np.isfinite(X @ X.T))
    assert_same(by_norm(60).fit(as_blocks(X)), by_norm(60).fit(X), rtol=1e-5)


# ---------------------------------------------------------------- summaries


class Scattered(Blocks):
    """Pieces of random widths that are added to random summaries, which are merged in a
    random order.
    """

    axes = (1,)

    def __init__(self, X, seed):
        self.X = X
        self.shape = X.shape
        self.rng = np.random.default_rng(seed)
        self.edges = np.unique(
            [0, *self.rng.integers(1, X.shape[1], 12), X.shape[1]]
        ).tolist()

    def read(self, axis):
        yield self.X

    def reduce(self, axis, summary):
        parts = [pickle.loads(pickle.dumps(summary)) for _ in range(4)]
        for i in self.rng.permutation(len(self.edges) - 1):
            a, b = self.edges[i : i + 2]
            parts[self.rng.integers(4)].add(a, self.X[:, a:b])
        first, *others = (parts[i] for i in self.rng.permutation(4))
        for other in others:
            first.merge(other)
        return first


@pytest.mark.parametrize("name", WIDE)
@swept_seeds(2, 5)
def test_the_order_of_merging_changes_no_selection(name, seeds):
    X = wide_data(6)
    expected = clone(WIDE[name]).fit(X)
    for seed in seeds:
        assert_same(clone(WIDE[name]).fit(Scattered(X, seed)), expected)


each_kind = pytest.mark.parametrize("kind", [GramMatrix, TriangularFactor])


@each_kind
@pytest.mark.parametrize("name", TALL)
def test_samples_that_are_seen_once(kind, name):
    X = wide_data(1, 50, 900).T
    parts = [kind().partial_fit(batch) for batch in np.array_split(X, 13)]
    seen = kind()
    for i in np.random.default_rng(0).permutation(13):
        seen.merge(parts[i])
    assert_same(clone(TALL[name]).fit(seen), clone(TALL[name]).fit(X))


@each_kind
@pytest.mark.parametrize(
    "made",
    [
        np.float32,
        sp.csr_array,
        lambda X: sp.csc_matrix(np.round(X)),
        lambda X: X * 1e120,
    ],
)
def test_batches_of_any_sort_that_are_seen_once(kind, made):
    X = wide_data(1, 50, 900).T
    seen = kind()
    for a in range(0, 900, 300):
        seen.partial_fit(made(X[a : a + 300]))
    assert_same(
        by_norm(20).fit(seen),
        by_norm(20).fit(made(X)),
        rtol=1e-5 if made is np.float32 else 1e-8,
    )


def doubled(X):
    """A CSC matrix in which each entry is stored twice, as what it is and one more, and
    as minus one.
    """
    Z = sp.csc_matrix(X)
    data, indices = (
        np.stack(pair, axis=1).ravel()
        for pair in ((Z.data + 1, -np.ones(Z.nnz)), (Z.indices, Z.indices))
    )
    return sp.csc_matrix((data, indices, 2 * Z.indptr), shape=Z.shape)


def test_entries_that_are_stored_twice(monkeypatch):
    X = LARGE["counts"](np.random.default_rng(0))
    selector = DSFSelector(20, rule="first")
    assert_same(
        clone(selector).fit(as_blocks(doubled(X[:30, :400]))),
        clone(selector).fit(X[:30, :400]),
    )
    monkeypatch.setattr(out_of_core, "GRAM_BYTES", 0)
    assert_same(by_norm(60).fit(as_blocks(doubled(X))), by_norm(60).fit(X), rtol=1e-7)


@each_kind
def test_partial_fit_is_one_pass_over_samples(kind):
    X = wide_data(1, 50, 900).T
    gram = kind()
    for batch in np.array_split(X, 13):
        assert gram.partial_fit(batch) is gram
    assert_same(
        BSSSelector(20).fit(pickle.loads(pickle.dumps(gram))), BSSSelector(20).fit(X)
    )
    with refused("(3, 49)", "(n_samples, 50)"):
        gram.partial_fit(np.ones((3, 49)))
    with refused("NaN"):
        gram.partial_fit(np.full((3, 50), np.nan))
    selector = BSSSelector(20).fit(gram)
    with refused(f"{kind.__name__} has 0 samples"):
        selector.fit(kind())
    assert not [name for name in vars(selector) if name.endswith("_")]
    with refused("DualProjectionRidge needs the samples themselves"):
        DualProjectionRidge().fit(gram, np.arange(900.0))


@each_kind
def test_names_of_batches_are_those_of_the_features(kind):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    names = [f"gene {j}" for j in range(40)]
    frame = pd.DataFrame(
        np.random.default_rng(0).standard_normal((300, 40)), columns=names
    )
    gram = kind().partial_fit(frame[:100])
    for other in (frame[names[::-1]], frame.rename(columns={"gene 7": "gene 70"})):
        with refused("feature names should match"):
            gram.partial_fit(other)
        with refused("different names"):
            gram.merge(kind().partial_fit(other))
    gram.partial_fit(frame[100:200]).merge(kind().partial_fit(frame[200:]))
    selector = by_norm(20).fit(kind().merge(gram))
    assert_same(selector, by_norm(20).fit(frame))
    assert_array_equal(selector.feature_names_in_, names)
    assert_array_equal(
        selector.get_feature_names_out(), np.array(names)[selector.get_support()]
    )


# ---------------------------------------------------------------- while the data are
# smaller than their summary

FORMS = {
    "dense": np.asarray,
    "float32": lambda X: X.astype(np.float32),
    "counts": lambda X: np.round(X).astype(np.int16),
    "sparse": lambda X: sp.csr_array(np.where(np.abs(X) > 1, X, 0.0)),
    "huge": lambda X: 1e120 * X,
}


def streamed(kind, X, widths):
    """A summary of the rows of `X`, which come in batches of these widths."""
    seen = kind()
    edges = np.cumsum([0, *widths])
    for a, b in zip(edges[:-1], edges[1:]):
        seen.partial_fit(X[a:b])
    return seen


SOURCES = {
    "blocks": lambda X: as_blocks(
        lambda: (X[a:b] for a, b in ((0, 7), (7, 8), (8, 8), (8, X.shape[0]))), axis=0
    ),
    "GramMatrix": lambda X: streamed(GramMatrix, X, [7, 1, X.shape[0] - 8]),
    "TriangularFactor": lambda X: streamed(TriangularFactor, X, [7, 1, X.shape[0] - 8]),
}


@swept_product(
    ("name", "form", "source"),
    [
        ("BSS", "dense", "blocks"),
        ("BSS, best", "sparse", "blocks"),
        ("DSF", "float32", "GramMatrix"),
        ("leverage", "counts", "blocks"),
        ("RRQR", "huge", "TriangularFactor"),
        ("largest", "sparse", "GramMatrix"),
    ],
    TALL,
    FORMS,
    SOURCES,
)
def test_wide_data_in_blocks_of_samples_give_the_selection_in_memory(
    name, form, source
):
    """To the last digit nearly, and in their precision: it is the same fit of the same
    numbers.
    """
    plain = wide_data(1, 45, 50)
    X = FORMS[form](plain)
    selector = clone(TALL[name])
    if name == "BSS, auto, ridge":
        # in the units of X
        size = np.abs(X).max() / np.abs(plain).max()
        selector.set_params(ridge=1e6 * float(size) ** 2)
    with warnings.catch_warnings():
        # of fewer features than asked for, of small directions
        warnings.simplefilter("ignore")
        found = clone(selector).fit(SOURCES[source](X))
        expected = clone(selector).fit(X)
    assert_same(found, expected, rtol=1e-10)
    assert found.n_passes_ == 1 and found.weights_.dtype == expected.weights_.dtype


@swept(
    "kind",
    ["condition 1e11", "huge and tiny"],
    [kind for kind in MATRICES if kind[:3] not in ("con", "hug")],
)
def test_wide_data_of_any_kind_in_blocks_of_samples_take_one_pass(kind):
    X = MATRICES[kind](np.random.default_rng(3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = by_norm(30).fit(X)
        for source in SOURCES.values():
            found = by_norm(30).fit(source(X))
            assert_same(found, expected, rtol=1e-10)
            assert found.n_passes_ == 1


def test_wide_data_in_blocks_of_samples_make_no_square_of_the_features():
    X = np.random.default_rng(0).standard_normal((40, 4000))
    for source in SOURCES.values():
        tracemalloc.start()
        BSSSelector(20).fit(source(X))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 8 * X.nbytes < 8 * 4000**2 / 10


def test_tall_data_in_blocks_of_features_make_no_square_of_the_samples():
    X = np.random.default_rng(0).standard_normal((4000, 40))
    y = X[:, :3].sum(axis=1)
    for model in (
        BSSSelector(20),
        DSFSelector(20, rule="first"),
        DualProjectionRidge(random_state=0),
    ):
        tracemalloc.start()
        found = clone(model).fit(cut(X, [7] * 5 + [5]), y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert (
            peak < 8 * X.nbytes < 8 * 4000**2 / 10
            and found.n_passes_ == 1
            and found.n_features_in_ == 40
        )
        expected = clone(model).fit(X, y)
        if isinstance(model, DualProjectionRidge):
            assert_allclose(found.coef_, expected.coef_, rtol=1e-6, atol=1e-9)
        else:
            assert_same(found, expected)


def test_leading_directions_of_wide_data_in_blocks_of_samples_are_those_in_memory():
    """Their sketches know the order of the samples, which no order of merging may
    change.
    """

    class Samples(Scattered):
        axes = (0,)

        def __init__(self, X, seed):
            super().__init__(X.T, seed)
            self.shape = X.shape

    X = LARGE["alike"](np.random.default_rng(0))[:, :600]
    for selector in (by_norm(60), BSSSelector(25)):
        expected = clone(selector).fit(X)
        assert expected.certificate_.numerical_rank is None
        for seed in range(2):
            found = clone(selector).fit(Samples(X, seed))
            assert_array_equal(found.selected_, expected.selected_)
    parts = [GramMatrix().partial_fit(batch) for batch in np.array_split(X, 7)]
    merged = []
    for order in (range(7), [3, 0, 6, 1, 5, 4, 2]):
        merged.append(GramMatrix())
        for i in order:
            merged[-1].merge(parts[i])
    first, other = (BSSSelector(25).fit(seen).selected_ for seen in merged)
    assert_array_equal(first, other)


@each_kind
def test_names_are_kept_whichever_of_two_summaries_has_them(kind):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    X = np.random.default_rng(0).standard_normal((90, 3))
    named = kind().partial_fit(pd.DataFrame(X, columns=list("abc")))
    unnamed = kind().partial_fit(X)
    for first, second in (
        (named, unnamed),
        (unnamed, named),
        (kind(), named),
        (named, kind()),
    ):
        first, second = pickle.loads(pickle.dumps((first, second)))
        assert first.merge(second).feature_names_in_.tolist() == ["a", "b", "c"]
        with refused("different names"):
            first.merge(kind().partial_fit(pd.DataFrame(X, columns=list("acb"))))
        assert LeverageSelector(2, rule="largest").fit(
            first
        ).feature_names_in_.tolist() == ["a", "b", "c"]


@each_kind
def test_batches_of_frames_whose_columns_may_have_missing_values(kind):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    X = np.random.default_rng(0).poisson(3.0, (300, 40)).astype(float)
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(40)]).astype("Int64")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of directions that counts nearly share
        expected = by_norm(20).fit(frame)
        assert_same(by_norm(20).fit(kind().partial_fit(frame)), expected)
        assert_same(by_norm(20).fit(as_blocks(frame)), expected)
        assert_same(by_norm(20).fit(kind().partial_fit(X.astype(object))), expected)
    frame.iloc[7, 3] = pd.NA
    with refused("NaN or infinity"):
        kind().partial_fit(frame)


def test_a_gram_matrix_alone_counts_no_directions_that_it_does_not_know():
    rng = np.random.default_rng(0)
    X = with_condition(10, 500, 1e10, rng).T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seen_once = LeverageSelector(10, rule="largest").fit(
            GramMatrix().partial_fit(X)
        )
        by_triangle = LeverageSelector(10, rule="largest").fit(
            TriangularFactor().partial_fit(X)
        )
        seen_again = LeverageSelector(10, rule="largest").fit(cut(X, [500], 0))
    sizes = np.linalg.svd(X / np.linalg.norm(X, axis=0), compute_uv=False)
    assert seen_once.certificate_.numerical_rank == np.sum(sizes > 1e-7 * sizes[0]) < 10
    assert by_triangle.certificate_.numerical_rank == 10
    assert seen_again.certificate_.numerical_rank == 10 and seen_again.n_passes_ == 2


def test_a_gram_matrix_says_that_it_may_have_lost_directions():
    X = np.random.default_rng(0).standard_normal((2000, 20)) + 1e8
    with pytest.warns(
        UserWarning, match=r"19 direction\(s\) .* TriangularFactor keeps them"
    ) as caught:
        found = BSSSelector(10).fit(GramMatrix().partial_fit(X))
    # and that one column is left of what is equal to a Gram matrix
    assert {warning.filename for warning in caught} == {
        __file__
    } and found.certificate_.numerical_rank == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(
            BSSSelector(10).fit(TriangularFactor().partial_fit(X)),
            BSSSelector(10).fit(X),
            rtol=1e-4,
        )
        BSSSelector(10).fit(GramMatrix().partial_fit(X - 1e8))
        # a zero feature is none
        BSSSelector(10).fit(GramMatrix().partial_fit((X - 1e8) * (np.arange(20) > 0)))


def test_many_small_batches_invent_no_direction():
    """Each addition rounds: after a million of them, 2e-7 of the largest direction may
    be nothing else.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 18)) @ rng.standard_normal((18, 20))
    X /= np.linalg.norm(X, axis=0)
    rounding = (2e-7 * np.linalg.norm(X, 2)) ** 2 * np.eye(20)
    for n_added, rank in ((1, 20), (10**6, 18)):
        gram = GramMatrix().partial_fit(X)
        # pieces
        assert gram.n_added == 32 and GramMatrix().merge(gram).merge(gram).n_added == 64
        gram.G = gram.G + rounding
        gram.n_added = n_added
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = LeverageSelector(10, rank=5, rule="largest").fit(gram)
        assert found.certificate_.numerical_rank == rank


@pytest.mark.parametrize("axis", [0, 1])
def test_dependent_data_take_two_passes_for_the_basis(axis):
    """The Gram matrix does not tell missing directions from tiny ones, and the
    triangular factor does.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((25, 7)) @ rng.standard_normal((7, 400))
    X = X if axis else X.T
    source = cut(X, [7, 390, 3], axis)
    found = by_norm(20).fit(source)
    assert_same(found, by_norm(20).fit(X), rtol=1e-6)
    assert found.certificate_.numerical_rank == 7 and found.n_passes_ == 2 + axis


# ---------------------------------------------------------------- dual projection

MODELS = {
    "two classes": (
        DualProjectionClassifier(tol=1e-9, random_state=0),
        lambda n: np.arange(n) % 2,
    ),
    "three classes": (
        DualProjectionClassifier(tol=1e-9, random_state=0),
        lambda n: np.array(list("abc"))[np.arange(n) % 3],
    ),
    "squared hinge": (
        DualProjectionClassifier("squared_hinge", alpha=3.0, tol=1e-9, random_state=0),
        lambda n: np.arange(n) % 2,
    ),
    "no intercept": (
        DualProjectionRidge(fit_intercept=False, tol=1e-10, random_state=0),
        lambda n: np.arange(n) / n,
    ),
    "ridge": (
        DualProjectionRidge(alpha=5.0, tol=1e-10, random_state=0),
        lambda n: 1e3 + np.arange(n),
    ),
}


@swept_product(
    ("name", "form"),
    [
        *((name, "dense") for name in MODELS),
        ("three classes", "float32"),
        ("no intercept", "float32"),
        ("two classes", "sparse"),
        ("ridge", "sparse"),
        ("squared hinge", "far from zero"),
        ("ridge", "far from zero"),
    ],
    MODELS,
    ["dense", "float32", "sparse", "far from zero"],
)
def test_dual_projection_from_blocks_has_the_weights_in_memory(name, form):
    model, target = MODELS[name]
    X = wide_data(6)
    y = target(30)
    X = {
        "dense": X,
        "float32": X.astype(np.float32),
        "sparse": sp.csc_array(np.where(np.abs(X) > 4, X, 0.0)),
        "far from zero": X + 5.0,
    }[form]
    found = clone(model).fit(as_blocks(X), y)
    expected = clone(model).fit(X, y)
    near = 1e-4 if form == "float32" else 1e-7
    assert_allclose(
        found.coef_, expected.coef_, atol=near * np.abs(expected.coef_).max()
    )
    assert (
        found.coef_.dtype == expected.coef_.dtype
        and found.coef_.shape == expected.coef_.shape
    )
    assert_allclose(found.intercept_, expected.intercept_, rtol=1e-3, atol=1e-5)
    assert found.n_features_in_ == 3000 and found.n_passes_ in (2, 3, 4)
    if hasattr(model, "loss"):
        assert_array_equal(found.predict(as_blocks(X)), expected.predict(X))
    else:
        assert_allclose(
            found.predict(as_blocks(X)), expected.predict(X), rtol=1e-4, atol=1e-5
        )
    with refused("X has 2999 features, but 3000"):
        found.predict(as_blocks(np.ones((3, 2999))))


def test_predictions_from_blocks_of_samples():
    X = wide_data(6)
    model = DualProjectionRidge(random_state=0).fit(X, np.arange(30.0))
    assert_allclose(model.predict(cut(X, [7, 0, 23], axis=0)), model.predict(X))
    with refused("X has 2999 features"):
        model.predict(cut(X[:, 1:], [30], axis=0))


@pytest.mark.parametrize("after", [3, 8], ids=["first pass", "last pass"])
def test_dual_projection_that_fails_leaves_nothing(after):
    def fails(block):
        raise OSError("the disk is gone")

    model = DualProjectionRidge(random_state=0).fit(wide_data(), np.arange(30.0))
    with refused("the disk is gone", error=OSError):
        model.fit(Changing(wide_data(), fails, after), np.arange(30.0))
    assert not [name for name in vars(model) if name.endswith("_")]
    with refused("blocks of samples"):
        model.fit(cut(wide_data(), [30], axis=0), np.arange(30.0))
    with refused("inconsistent", "30", "29"):
        model.fit(as_blocks(wide_data()), np.arange(29.0))


# ---------------------------------------------------------------- in use


def test_in_a_pipeline():
    X = wide_data(5)
    y = np.arange(30) % 2
    blocks = make_pipeline(by_norm(40), LogisticRegression()).fit(as_blocks(X), y)
    memory = make_pipeline(by_norm(40), LogisticRegression()).fit(X, y)
    assert_array_equal(blocks.predict(as_blocks(X)), memory.predict(X))


# ---------------------------------------------------------------- what goes wrong


class Changing(Blocks):
    """Blocks that are others in a later pass; `after` says when, counted in blocks
    handed out.
    """

    axes = (1,)

    def __init__(self, X, change, after):
        self.X = X
        self.change = change
        self.after = after
        self.handed_out = 0

    def read(self, axis):
        for a in range(0, self.X.shape[1], 500):
            block = self.X[:, a : a + 500]
            self.handed_out += 1
            yield from (block,) if self.handed_out <= self.after else self.change(block)


def assert_fails_whole(source, *parts, error=ValueError):
    """The error, and an estimator that was fitted before is not fitted any more."""
    selector = BSSSelector(60).fit(wide_data())
    with refused(*parts, error=error):
        selector.fit(source)
    assert not [name for name in vars(selector) if name.endswith("_")]
    return selector


@pytest.mark.parametrize(
    "after", [3, 6, 9], ids=["first pass", "second pass", "later in it"]
)
def test_a_source_that_raises(after):
    def fails(block):
        raise OSError("the disk is gone")

    assert_fails_whole(
        Changing(wide_data(), fails, after), "the disk is gone", error=OSError
    )


@pytest.mark.parametrize("kind", ["raises", "NaN", "shorter"])
def test_blocks_of_samples_that_fail(kind):
    """In the second pass, which makes the triangular factor of dependent data."""
    X = wide_data(9, 7, 900).T @ wide_data(8, 7, 20)
    passes = []

    def hand_out():
        passes.append(0)
        for a in range(0, 900, 100):
            late = len(passes) == 2 and a == 800
            if late and kind == "raises":
                raise OSError("the disk is gone")
            if not (late and kind == "shorter"):
                yield X[a : a + 100] * (np.nan if late and kind == "NaN" else 1)

    selector = BSSSelector(10).fit(X)
    words = {
        "raises": "the disk is gone",
        "NaN": "begins with sample 768",
        "shorter": "X has 800 samples in pass 2",
    }
    with refused(words[kind], error=OSError if kind == "raises" else ValueError):
        selector.fit(as_blocks(hand_out, axis=0))
    assert len(passes) == 2 and not [
        name for name in vars(selector) if name.endswith("_")
    ]


@pytest.mark.parametrize("source", ["blocks", "summary"])
def test_a_choice_that_fails_among_tall_data_leaves_nothing(source):
    X = wide_data(9, 7, 900).T @ wide_data(8, 7, 20)
    selector = BSSSelector(10).fit(X).set_params(rank=9)
    with refused("rank=9"):
        selector.fit(
            cut(X, [900], 0)
            if source == "blocks"
            else TriangularFactor().partial_fit(X)
        )
    assert not [name for name in vars(selector) if name.endswith("_")]


@pytest.mark.parametrize("after", [6, 9])
def test_a_source_that_ends_early(after):
    ends = Changing(wide_data(), lambda block: [], after)
    assert_fails_whole(ends, "features in pass 2", "an earlier pass found 3000")


@pytest.mark.parametrize("axis", [0, 1])
def test_a_single_sample_is_too_few(axis):
    X = wide_data(3, 1, 300)
    assert_fails_whole(
        cut(X, [1] if axis == 0 else [300], axis), "X has 1 sample(s), and 2 are needed"
    )
    with refused("GramMatrix has 1 samples"):
        BSSSelector(20).fit(GramMatrix().partial_fit(X))


def test_a_source_that_says_another_shape():
    source = cut(wide_data(), [3000])
    source.shape = (30, 4000)
    assert_fails_whole(source, "3000 features in pass 1", "it said it has 4000")


def test_a_block_that_does_not_fit():
    short = Changing(wide_data(), lambda block: [block[:-1]], 4)
    assert_fails_whole(short, "begins with feature 2000 has 29 samples", "30")
    assert_fails_whole(cut(wide_data()[0][None], [3000]), "1 sample")
    assert_fails_whole(as_blocks(lambda: iter([np.ones(3)]), axis=1), "two dimensions")
    assert_fails_whole(as_blocks(lambda: iter([]), axis=1), "X is empty")
    assert_fails_whole(
        as_blocks(lambda: iter([np.array([["a", "b"]] * 30)]), axis=1),
        "dtype",
        "real numbers",
    )
    assert_fails_whole(
        as_blocks(lambda: iter([np.ones((30, 80)) * 1j]), axis=1),
        "complex",
        "real numbers",
    )
    assert_fails_whole(cut(np.zeros((30, 300)), [300]), "all zeros")
    assert_fails_whole(cut(np.full((30, 300), 1e200), [300]), "out of range")


def moved(X, change):
    """`X` with one thing about it changed."""
    X, (m, n) = X.copy(), X.shape
    if change == "features exchanged":
        X[:, [7, n - 40]] = X[:, [n - 40, 7]]
    elif change == "neighbours exchanged":
        X[:, [7, 8]] = X[:, [8, 7]]
    elif change == "samples exchanged":
        X[[3, m - 1]] = X[[m - 1, 3]]
    elif change == "a sign":
        X[:, n // 2] *= -1
    elif change == "an entry":
        X[5, n // 2] += 1e-3 * np.abs(X).max()
    elif change == "two entries exchanged":
        X[[5, 6], n // 2] = X[[6, 5], n // 2]
    elif change == "an order drawn anew":
        X = X[:, np.random.default_rng(0).permutation(n)]
    elif change == "transposed":
        X[:m, :m] = X[:m, :m].T
    elif change == "other numbers":
        X = wide_data(77, m, n).astype(X.dtype)
    return X


CHANGES = {
    "features exchanged": "features 0 to 63 are not",
    "neighbours exchanged": "features 0 to 63 are not",
    "samples exchanged": "features 0 to 63 are not",
    "a sign": "are not what they were",
    "an entry": "are not what they were",
    "two entries exchanged": "are not what they were",
    "an order drawn anew": "features 0 to 63 are not",
    "transposed": "features 0 to 63 are not",
    "other numbers": "features 0 to 63 are not",
}
NUMBERS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "integers": lambda X: np.round(100 * X).astype(np.int64),
    "small integers": lambda X: np.round(X).astype(np.int8),
    "sparse": lambda X: sp.csc_array(np.where(np.abs(X) > 1, X, 0)),
    "tiny": lambda X: 1e-140 * X,
    "huge": lambda X: 1e140 * X,
}


def data_of_each_pass(matrices, form="float64", width=500, axis=1):
    """A function that hands out the next of these matrices in each pass, and the last
    one from then on.
    """
    left = list(matrices)
    form = NUMBERS[form]

    def hand_out():
        X = left.pop(0) if len(left) > 1 else left[0]
        for a in range(0, X.shape[axis], width):
            yield form(X[:, a : a + width]) if axis else form(X[a : a + width].T).T

    return as_blocks(hand_out, axis=axis)


@swept_product(
    ("change", "form"),
    [
        *((change, "float64") for change in CHANGES),
        *(("features exchanged", form) for form in NUMBERS),
    ],
    CHANGES,
    NUMBERS,
)
def test_other_data_in_a_later_pass(change, form):
    X = wide_data()
    before, after = (NUMBERS[form](data) for data in (X, moved(X, change)))
    if not sp.issparse(before) and np.array_equal(before, after):
        pytest.skip("the change is lost where entries are rounded to integers")
    source = data_of_each_pass([X, moved(X, change)], form)
    assert_fails_whole(
        source,
        "other data in pass 2 over its blocks",
        CHANGES[change],
        "the same data each time",
        "seed",
    )


def test_other_data_in_the_last_pass():
    X = wide_data()
    source = data_of_each_pass([X, X, moved(X, "features exchanged")])
    with refused(
        "other data in pass 3 over its blocks than in the first", "features 0 to 63"
    ):
        LeverageSelector(200, random_state=0).fit(source)
    source = data_of_each_pass([X, X[:-1]])
    assert_fails_whole(
        source, "other data in pass 2", "blocks have 29 samples, and had 30"
    )
    model = DualProjectionRidge(random_state=0)
    with refused("other data in pass 2"):
        model.fit(data_of_each_pass([X, moved(X, "a sign")]), np.arange(30.0))


def test_other_samples_in_a_later_pass():
    """The second pass makes the triangular factor of dependent data."""
    X = wide_data(9, 7, 900).T @ wide_data(8, 7, 20)
    source = data_of_each_pass([X, moved(X, "samples exchanged")], width=100, axis=0)
    with refused("other data in pass 2", "samples 0 to 63 are not what they were"):
        BSSSelector(10).fit(source)


@pytest.mark.parametrize("form", NUMBERS)
def test_the_same_data_computed_anew(form):
    """In another order of entries, in blocks of other widths, and with other rounding."""
    X = wide_data()
    widths = [500, 7, 3000, 64, 1]
    passes = []

    def hand_out():
        passes.append(0)
        again = X.copy(order="CF"[len(passes) % 2])
        width = widths[len(passes) % 5]
        if form in ("float64", "float32"):
            again = again * (
                1 + 1e-15 * np.random.default_rng(len(passes)).standard_normal(X.shape)
            )
        for a in range(0, 3000, width):
            yield NUMBERS[form](again[:, a : a + width])

    found = by_norm(60, rank=10).fit(as_blocks(hand_out, axis=1))
    whole = NUMBERS[form](X)
    assert_same(found, by_norm(60, rank=10).fit(whole), rtol=1e-4)
    assert len(passes) == found.n_passes_ >= 2


@pytest.mark.parametrize("same", [True, False], ids=["same data", "other data"])
def test_a_subclass_that_cuts_each_pass_in_another_way(same):
    class Mine(Blocks):
        axes = (1,)
        passes = 0

        def read(self, axis):
            yield X

        def reduce(self, axis, summary):
            self.passes += 1
            A = X if same or self.passes == 1 else moved(X, "features exchanged")
            for a in range(0, 3000, 500 * self.passes):
                summary.add(a, A[:, a : a + 500 * self.passes])
            return summary

    X = wide_data()
    if same:
        assert_same(by_norm(60).fit(Mine()), by_norm(60).fit(X))
    else:
        assert_fails_whole(Mine(), "other data in pass 2")


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_in_the_last_block(bad):
    X = wide_data()
    X[-1, -1] = bad
    assert_fails_whole(cut(X, [500] * 6), "NaN or infinity")
    with refused("NaN"):
        BSSSelector(20).fit(cut(X.T, [500] * 6, axis=0))


@pytest.mark.parametrize("after", [6, 9], ids=["first block", "later"])
def test_nan_in_the_second_pass(after):
    spoilt = Changing(
        wide_data(), lambda block: [np.where(block > 5, np.nan, block)], after
    )
    assert_fails_whole(spoilt, "NaN or infinity", "begins with feature")


def test_nan_where_a_fit_is_applied():
    selector = BSSSelector(60).fit(wide_data())
    with refused("NaN or infinity"):
        selector.transform(as_blocks(np.where(wide_data() > 5, np.nan, wide_data())))


def test_what_needs_all_features_at_once_says_so():
    X = as_blocks(wide_data())
    for selector, *parts in (
        (
            BSSSelector(60, rule="best"),
            "rule='best' looks at all features",
            "rule='largest-norm'",
        ),
        (BSSSelector(60, rule="sampled"), "rule='sampled'"),
        (DSFSelector(60), "rule='best'", "rule='first'"),
        (DSFSelector(60, rule="target"), "rule='target'"),
        (BSSSelector(60, sketch_size=20), "sketch_size=20"),
        (BSSSelector(60, score_func=np.var), "score_func='var' is a function"),
        (BSSSelector(60, score_func=np.ones(7)), "3000 numbers"),
        (RRQRSelector(60), "RRQRSelector needs all features at once"),
        (BSSSelector(4000), "4000", "3000"),
        (BSSSelector(60, rank=40), "rank=40", "30"),
        (LeverageSelector("theorem", rule="largest"), "theorem"),
    ):
        with refused(*parts):
            selector.fit(X, np.ones(30))
    with refused("sample_weight"):
        BSSSelector(60, score_func=SCORES).fit(X, sample_weight=np.ones(30))


def test_the_module_is_loaded_for_data_in_blocks_and_for_nothing_else():
    script = """
import sys, numpy as np, fsel_book as fb
X = np.random.default_rng(0).standard_normal((20, 60))
fb.BSSSelector(10).fit(X).transform(fb.as_blocks(X))
fb.DualProjectionRidge().fit(X, X[:, 0])
assert "fsel_book.out_of_core" not in sys.modules
for model in fb.BSSSelector(10), fb.DualProjectionRidge():
    model.fit(fb.as_blocks(X), X[:, 0])
    del sys.modules["fsel_book.out_of_core"]
"""
    subprocess.run([sys.executable, "-c", script], check=True)


class OwnSample:
    """A way of one's own: the last features."""

    def _sample(self, space, r, y, **extra):
        d = space.shape[0]
        return Sampling.from_draws(np.arange(d - r, d), np.ones(r), d, space.X)


class OwnPromise:
    def _promise(self, space, r):
        return Promise(0.0, float(np.sum(space.leverage_scores)))


class OwnDraws:
    def _draws(self, space):
        return space.shape[0] // 2


class OwnSpace:
    def _space(self, X, r):
        return super()._space(X, r).truncate(3)


class OwnScores:
    def _scores(self, X, y, score_params):
        return np.arange(X.shape[1], dtype=float)


class OwnSelection:
    def _select(self, X, y, **extra):
        return super()._select(X, y, **extra)


class OwnCertificate:
    def _certify(self, space, sampling, r):
        return certify(space, sampling, None, "mine")


@swept_product(
    ("own", "kind"),
    [
        (OwnSample, BSSSelector),
        (OwnSample, DSFSelector),
        (OwnSpace, LeverageSelector),
        (OwnPromise, RSFSelector),
        (OwnDraws, BSSSelector),
        (OwnScores, DSFSelector),
        (OwnCertificate, LeverageSelector),
        (OwnSelection, RSFSelector),
    ],
    [
        OwnSelection,
        OwnSample,
        OwnPromise,
        OwnDraws,
        OwnSpace,
        OwnScores,
        OwnCertificate,
    ],
    [BSSSelector, DSFSelector, LeverageSelector, RSFSelector],
)
def test_a_subclass_with_a_way_of_its_own_is_refused_in_blocks_of_features(own, kind):
    """It chooses among all features, which are not there; of samples in blocks it has
    what it needs.
    """
    X = wide_data(1, 40, 900)
    read = []

    def hand_out():
        read.append(0)
        yield X

    Mine = type("Mine", (own, kind), {"__init__": kind.__init__})
    selector = Mine(20)
    if hasattr(selector, "random_state"):
        selector.set_params(random_state=0)
    (step,) = (
        name for name in vars(own) if name.startswith("_") and not name.startswith("__")
    )
    with refused(
        "Mine chooses in its own way",
        step,
        "all features in memory",
        "array",
        "blocks of samples",
    ):
        selector.fit(as_blocks(hand_out, axis=1))
    assert not read and not [name for name in vars(selector) if name.endswith("_")]
    tall = X.T[:, :30]
    found, expected = (
        clone(selector).fit(A) for A in (as_blocks(lambda: iter([tall]), axis=0), tall)
    )
    assert_array_equal(found.selected_, expected.selected_)


def test_a_way_of_ones_own_counts_wherever_it_comes_from():
    """From a class between, from one that stands beside, or a rule of BSS; and in blocks
    it takes more than a name to choose.
    """
    X = as_blocks(wide_data(1, 40, 900))

    class Between(BSSSelector):
        def _sample(self, space, r, y, **extra):
            return super()._sample(space, r, y, **extra)

    class Below(Between):
        pass

    class Beside(CertifiedSelector):
        def _certify(self, space, sampling, r):
            return certify(space, sampling, None, "mine")

    class Both(BSSSelector, Beside):
        pass

    class OwnRule(BSSSelector):
        def _rule_at(self, ell, r):
            return "sampled"

    class Named(CertifiedSelector):
        """Has only what is needed in memory."""

        n_features_to_select = 20
        rank = None
        rule = "largest-norm"

        def _sample(self, space, r, y):
            return Sampling.from_draws(np.arange(r), np.ones(r), space.shape[0])

    for selector, *parts in (
        (Below(20), "Below chooses in its own way, by _sample", "or use BSSSelector"),
        (Both(20), "Both chooses in its own way, by _certify"),
        (OwnRule(20), "OwnRule chooses in its own way, by _rule_at"),
        (Named(), "Named needs all features at once"),
    ):
        with refused(*parts):
            selector.fit(X)

    class Again(Below):
        """Says itself how it chooses in blocks."""

        def _choice_in_blocks(self):
            return super()._choice_in_blocks()

    assert_same(Again(20).fit(X), by_norm(20).fit(X))


@pytest.mark.parametrize("name", ["BSS, ridge", "leverage, ridge", "largest, ridge"])
def test_a_ridge_from_blocks_of_any_sort(name):
    """Sparse, of float32, cut in any way, and from Dask."""
    dask_array = pytest.importorskip("dask.array")
    X = wide_data(seed=7, d=900)
    X[:, ::3] = 0
    selector = WIDE[name]
    expected = clone(selector).fit(X)
    assert expected.certificate_.ridge is not None
    sparse = sp.csc_array(X)
    edges = range(0, 901, 100)
    pieces = [sparse[:, a:b] for a, b in zip(edges[:-1], edges[1:])]
    for source in (
        cut(X, [1, 2, 97, 500, 300]),
        as_blocks(lambda: iter(pieces), axis=1),
        as_blocks(dask_array.from_array(X, chunks=(30, 170))),
        as_blocks(dask_array.from_array(X, chunks=(11, 900))),
    ):
        assert_same(clone(selector).fit(source), expected)
    narrow = clone(selector).fit(cut(X.astype(np.float32), [300] * 3))
    assert_array_equal(narrow.selected_, expected.selected_)
    assert_allclose(narrow.weights_, expected.weights_, rtol=1e-4)


def test_one_summary_serves_every_ridge():
    """Merged from batches; tiny directions, which count where the ridge is tiny, are in
    a triangular factor, and a warning says that a Gram matrix has lost them.
    """
    rng = np.random.default_rng(3)
    X = rng.standard_normal((400, 30)) * np.r_[np.ones(24), np.full(6, 1e-10)]
    turned = X @ np.linalg.qr(rng.standard_normal((30, 30)))[0]
    for kind in (GramMatrix, TriangularFactor):
        summary = kind()
        for batch in np.array_split(turned, 7):
            summary.partial_fit(batch)
        for ridge in (20.0, 500.0, 5000.0):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = BSSSelector(28, ridge=ridge).fit(summary)
            expected = BSSSelector(28, ridge=ridge).fit(turned)
            assert_array_equal(found.selected_, expected.selected_)
            ours, theirs = found.certificate_, expected.certificate_
            assert_allclose(ours.effective_dimension, theirs.effective_dimension)
            assert_allclose(ours.interval, theirs.interval, rtol=1e-5)
    # where tiny directions count, too
    tiny = 1e-18
    expected = BSSSelector(n_draws=40, ridge=tiny).fit(turned).certificate_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = BSSSelector(n_draws=40, ridge=tiny).fit(summary).certificate_
    assert_allclose(found.effective_dimension, expected.effective_dimension, rtol=1e-4)
    with pytest.warns(UserWarning, match="TriangularFactor keeps them"):
        lost = BSSSelector(n_draws=40, ridge=tiny).fit(GramMatrix().partial_fit(turned))
    assert lost.certificate_.effective_dimension < 25


@pytest.mark.parametrize(
    ("selector", "words"),
    [
        (by_norm(60, ridge=1e-6), "effective dimension at ridge=1e-06.*larger ridge"),
        (by_norm(60, ridge=-1.0), "ridge=-1.0 is not possible"),
        (by_norm(60, ridge=1.0, rank=91), "rank=91 is not possible: .* rank 90"),
        (by_norm("theorem", ridge="auto"), "give one of them as a number"),
        (
            by_norm("theorem", ridge=1e-3, eps=0.01),
            "draws at ridge=0.001.*a larger ridge",
        ),
        (BSSSelector(60, ridge=1.0, rule="best"), "looks at all features in each step"),
        (
            LeverageSelector("theorem", ridge=1.0, rule="largest"),
            "needs the scores of all features at once",
        ),
    ],
)
def test_impossible_ridges_are_refused_in_blocks_as_in_memory(selector, words):
    X = wide_data()[:, :300]
    X = np.vstack([X] * 3) + np.random.default_rng(0).standard_normal((90, 300))
    with pytest.raises(ValueError, match=words):
        clone(selector).fit(cut(X, [100] * 3))
    assert not hasattr(selector, "certificate_")


def test_a_subclass_that_changes_defaults_or_checks_fits_from_blocks():
    class Mine(BSSSelector):
        def __init__(
            self,
            n_features_to_select=30,
            *,
            rank=4,
            rule="largest-norm",
            score_func=None,
            eps=0.5,
        ):
            super().__init__(
                n_features_to_select,
                rank=rank,
                rule=rule,
                score_func=score_func,
                eps=eps,
            )

        def _check_parameters(self):
            super()._check_parameters()
            if self.n_features_to_select != 30:
                raise ValueError("thirty, please")

    X = wide_data(1)
    assert_same(
        Mine().fit(as_blocks(X)), BSSSelector(30, rank=4, rule="largest-norm").fit(X)
    )
    with refused("thirty, please"):
        Mine(29).fit(as_blocks(X))


def test_the_largest_leverages_of_few_features_that_have_any():
    """Columns of zeros are not chosen to make up the number, in memory or from blocks."""
    X = wide_data(2) * (np.arange(3000) % 100 == 7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fewer features than asked for
        selector = LeverageSelector(60, rule="largest")
        found = clone(selector).fit(as_blocks(X))
        expected = clone(selector).fit(X)
        assert_same(found, expected)
        assert_array_equal(np.sort(found.selected_), np.arange(7, 3000, 100))
        assert found.certificate_.holds and found.n_draws_ == 60


def test_transform_of_other_data():
    selector = BSSSelector(60).fit(as_blocks(wide_data()))
    with refused("X has 2999 features, but 3000"):
        selector.transform(as_blocks(wide_data()[:, 1:]))
    with refused("X has 1 features, but 3000"):
        selector.transform(as_blocks(wide_data()[:, :1]))
    other = wide_data(7)
    assert_array_equal(
        selector.transform(as_blocks(other)), other[:, selector.get_support()]
    )


# ---------------------------------------------------------------- a cluster


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two worker processes on this machine."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            local_directory=tmp_path_factory.mktemp("dask"),
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


@pytest.mark.sweep
@pytest.mark.parametrize("axis", [1, 0])
def test_dask_arrays_on_a_cluster(cluster, axis):
    import dask.array as da

    X = wide_data(8) if axis else wide_data(8, 50, 900).T
    array = da.from_array(X, chunks=(13, 170))
    for name in (
        ("BSS, scores", "DSF", "leverage", "RSF") if axis else ("BSS, best", "leverage")
    ):
        selector = (WIDE if axis else TALL)[name]
        found = clone(selector).fit(as_blocks(array))
        assert_same(found, clone(selector).fit(X))
    assert_array_equal(found.transform(as_blocks(array)), found.transform(X))


def test_dual_projection_and_empty_chunks_on_a_cluster(cluster):
    import dask.array as da

    X = wide_data(8)
    y = np.arange(30.0)
    array = da.from_array(X, chunks=((30,), (0, 1000, 0, 1999, 1, 0)))
    assert array.chunks[1].count(0) == 3
    found, expected = (
        DualProjectionRidge(random_state=0).fit(A, y) for A in (as_blocks(array), X)
    )
    assert_allclose(
        found.coef_, expected.coef_, atol=1e-6 * np.abs(expected.coef_).max()
    )
    assert_allclose(
        found.predict(as_blocks(array)), expected.predict(X), rtol=1e-6, atol=1e-5
    )
    assert_same(by_norm(60).fit(as_blocks(array)), by_norm(60).fit(X))


@pytest.mark.sweep
def test_sketches_and_triangular_factors_on_a_cluster(cluster, monkeypatch):
    import dask.array as da

    dependent = wide_data(8)[:, :7] @ wide_data(9, 7)
    found = by_norm(20).fit(as_blocks(da.from_array(dependent, chunks=(13, 170))))
    assert_same(found, by_norm(20).fit(dependent), rtol=1e-6)
    assert found.n_passes_ == 3
    X = LARGE["alike"](np.random.default_rng(0))
    monkeypatch.setattr(out_of_core, "GRAM_BYTES", 0)
    found = by_norm(60).fit(as_blocks(da.from_array(X, chunks=(510, 170))))
    assert_same(found, by_norm(60).fit(X))
    assert found.n_passes_ == 7


def made(seed, mark):
    """A block of features; but the process that first makes the seventh is killed, and
    leaves `mark`.
    """
    if seed == 6 and mark and not os.path.exists(mark):
        with open(mark, "w"):
            os.kill(os.getpid(), 9)
    return wide_data(seed, 30, 20_000)


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["BSS", "BSS, ridge", "DSF", "leverage, ridge"])
def test_a_worker_that_is_killed_changes_nothing(name, cluster, tmp_path):
    import dask
    import dask.array as da

    def matrix(mark):
        blocks = [dask.delayed(made)(seed, mark) for seed in range(10)]
        return da.concatenate(
            [da.from_delayed(block, (30, 20_000), float) for block in blocks], axis=1
        )

    mark = str(tmp_path / "mark")
    before = set(cluster.run(os.getpid).values())
    found = clone(WIDE[name]).fit(as_blocks(matrix(mark)))
    assert os.path.exists(mark)
    cluster.wait_for_workers(2, timeout=60)
    after = set(cluster.run(os.getpid).values())
    assert len(before - after) == 1 and len(before & after) == 1
    assert_same(found, clone(WIDE[name]).fit(as_blocks(matrix(None))), rtol=1e-10)
    assert_same(
        found,
        clone(WIDE[name]).fit(
            np.concatenate([wide_data(seed, 30, 20_000) for seed in range(10)], axis=1)
        ),
    )


def test_errors_on_a_cluster_reach_the_caller(cluster):
    import dask.array as da

    X = wide_data()
    X[3, 1234] = np.nan
    assert_fails_whole(as_blocks(da.from_array(X, chunks=(30, 500))), "NaN or infinity")
    with refused("two known dimensions"):
        as_blocks(da.from_array(np.ones(3), chunks=1))


def test_other_data_on_a_cluster(cluster):
    """The workers compare, and the error reaches the caller. What they compute may be
    merged in any order.
    """
    import dask
    import dask.array as da

    def matrix(other):
        def block(j, mark):
            with open(mark, "a+") as file:  # which is made again for each pass
                file.write(".")
                late = file.tell() > 1
            return wide_data(j + (100 if other and late and j == 2 else 0), 30, 500)

        folder = tempfile.mkdtemp()
        parts = [dask.delayed(block)(j, f"{folder}/{j}") for j in range(6)]
        return da.concatenate(
            [da.from_delayed(part, (30, 500), float) for part in parts], axis=1
        )

    assert_fails_whole(
        as_blocks(matrix(other=True)), "other data in pass 2", "features 1000 to 1"
    )
    X = np.concatenate([wide_data(j, 30, 500) for j in range(6)], axis=1)
    assert_same(by_norm(60).fit(as_blocks(matrix(other=False))), by_norm(60).fit(X))


def test_a_long_search_of_blocks_says_so_by_the_name_of_the_selector(impatient, capsys):
    X = np.random.default_rng(0).standard_normal((40, 300))
    for selector in (by_norm(20, rank=5), DSFSelector(20, rank=5, rule="first")):
        name = f"{type(selector).__name__}.fit"
        with pytest.warns(UserWarning, match=f"{name} will take about") as said:
            selector.fit(as_blocks(X))
        assert [one.filename for one in said] == [__file__]
        clone(selector).set_params(verbose=1).fit(as_blocks(X))
        assert f"{name}: 100%" in capsys.readouterr().err
