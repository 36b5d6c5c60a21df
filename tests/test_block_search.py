"""The search in blocks: the picks of all columns, whatever is at hand."""

import pickle
from functools import partial

import numpy as np
import pytest
from cases import MergedParts, equal_columns, swept, swept_seeds, two_frames
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import hadamard

from fsel_book import (
    BSSSelector,
    LeverageSelector,
    Sampling,
    as_blocks,
    block_search,
    blocks,
    row_space,
)
from fsel_book.barriers import Barriers, LowerBarrier
from fsel_book.block_search import (
    Best,
    BlockChoice,
    ChosenInBlocks,
    DrawsInBlocks,
    First,
    FirstInBlocks,
    Order,
    Prices,
    Scan,
    fill_up,
    sampling_of_picks,
    sparsify,
)
from fsel_book.column_search import (
    FirstFeasibleRule,
    PriceRanking,
    Ranking,
    ScoreRanking,
)
from fsel_book.leverage import largest_leverages, leverage_sampling
from fsel_book.progress import Progress
from fsel_book.sparsification import BSSInBlocks
from fsel_book.spectra import ridge_space
from fsel_book.summaries import Passes


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Of 64 columns, or a quarter of the rows, so that each pass has many."""
    monkeypatch.setattr(blocks, "PIECE_BYTES", 0)


def order_of(scores):
    return Order(Ranking() if scores is None else ScoreRanking(scores))


by_norm = partial(BSSSelector, rule="largest-norm")


def cut(X, widths):
    """A source that hands out blocks of these widths, from the beginning each time."""
    edges = np.cumsum([0, *widths])
    return as_blocks(lambda: (X[:, a:b] for a, b in zip(edges[:-1], edges[1:])), axis=1)


each_source = pytest.mark.parametrize("source", [cut, MergedParts])


@pytest.mark.parametrize("copies", [False, True], ids=["all differ", "copies"])
@pytest.mark.parametrize("seed", range(5))
def test_the_best_of_parts_are_the_best_of_all(seed, copies):
    """In any grouping and order, with many ties; of equal columns one is kept, with
    their number.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, 900))
    space = None
    if copies:
        X = np.repeat(X[:, :300], 3, axis=1) * rng.choice([-1, 1], 900)
        space = row_space(X)
    keys = np.round(rng.random(900), 1)
    if copies:
        keys = np.repeat(keys[:300], 3)
    edges = [0, *np.sort(rng.integers(0, 901, 7)), 900]
    parts = []
    for a, b in zip(edges[:-1], edges[1:]):
        parts.append(Best(50, space))
        parts[-1].offer(np.arange(a, b), keys[a:b], X[:, a:b])
    merged = Best(50, space)
    for i in rng.permutation(len(parts)):
        merged.merge(pickle.loads(pickle.dumps(parts[i])))
    in_order = np.lexsort((np.arange(900), -keys))
    if copies:
        in_order = in_order[in_order % 3 == 0]
    assert_array_equal(merged.places, in_order[:50])
    assert_array_equal(merged.A, X[:, merged.places])
    assert_array_equal(merged.keys, keys[merged.places])
    assert_array_equal(merged.counts, 3.0 if copies else 1.0)
    assert merged.edge == merged.keys[-1]


def test_equal_columns_are_counted():
    X = np.random.default_rng(0).standard_normal((6, 5))[:, [0, 1, 0, 2, 1, 0]]
    best = Best(10, row_space(X))
    best.offer(np.arange(6), np.ones(6), X)
    assert_array_equal(best.places, [0, 1, 3])
    assert_array_equal(best.counts, [3, 2, 1])


def test_what_no_key_has_is_not_kept():
    best = Best(3)
    best.offer(np.arange(4), np.full(4, -np.inf), np.ones((2, 4)))
    assert (
        best.A is None and len(best.places) == len(best.keys) == len(best.counts) == 0
    )
    assert best.merge(Best(3)).A is None


def nearly_two_frames():
    """Of 1,024 columns half share half of the directions, nearly, and no two are
    multiples of each other.
    """
    X = two_frames(512, 6).T * np.linspace(1, 1.1, 1024)
    turn = 1e-7 * np.random.default_rng(5).standard_normal(X.shape)
    return X * (1 + turn)


@each_source
@pytest.mark.parametrize(
    ("size", "scores_differ"),
    [(1, False), (7, False), (200, False), (7, True), (400, True)],
)
def test_copies_are_passed_over_by_windows_of_any_size(size, scores_differ, source):
    """The columns of largest score hold few directions, so that others are looked up,
    among them copies of those; of copies whose scores differ the one of largest score
    is taken.
    """
    X = np.repeat(nearly_two_frames(), 2, axis=1)
    order = np.random.default_rng(0).permutation(2048)
    X = X[:, order]
    scores = np.repeat([2.0, 1.0], 1024)[order]
    if scores_differ:
        scores *= 1 + 0.2 * np.random.default_rng(1).random(2048)
    expected = BSSSelector(20, rank=6, score_func=scores).fit(X)
    passes = Passes(source(X, [256] * 8), 1)
    search = Scan(passes, row_space(X).truncate(6), order_of(scores), size)
    search.size = size
    picks, _ = sparsify(search, Barriers, 20)
    assert_array_equal(list(dict.fromkeys(picks)), expected.selected_)
    assert_array_equal(equal_columns(X[:, expected.selected_]), np.arange(20))
    assert passes.count > 1


@swept_seeds(8, 200)
def test_the_same_on_random_problems(seeds):
    """Shapes, ranks, draws, lengths, blocks, and heads so small that they run dry."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 20))
        d = int(rng.integers(40, 400))
        X = rng.standard_normal((n, d)) * rng.pareto(rng.uniform(0.8, 4), d)
        space = row_space(X).truncate(int(rng.integers(1, n + 1)))
        r = int(rng.integers(space.shape[1] + 1, min(d, 5 * n + 10)))
        scores = rng.integers(0, 4, d).astype(float) if seed % 2 else None
        make = by_norm if scores is None else BSSSelector
        expected = (
            make(n_draws=r, rank=space.shape[1], score_func=scores).fit(X).sampling_
        )
        choice = BSSInBlocks(scores, partial(Progress, what="A search"))
        search = Scan(cut(X, [d]), space, order_of(scores), int(rng.integers(1, 20)))
        search.size = int(rng.integers(1, 40))
        picks, added = sparsify(
            search, lambda _, r, c=choice, at=space: c.barriers(at, r), r
        )
        assert_array_equal(
            list(dict.fromkeys(picks)), expected.indices, err_msg=f"seed {seed}"
        )
        weights = choice.weights(added, space, r)
        assert_allclose(weights.sum(), expected.weights.sum(), rtol=1e-7)


@swept_seeds(8, 200)
def test_the_same_on_random_problems_at_a_ridge(seeds):
    """Ridges from a millionth of the top eigenvalue to ten times it, and heads so small
    that they run dry.
    """
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 20))
        d = int(rng.integers(40, 400))
        X = rng.standard_normal((n, d)) * rng.pareto(rng.uniform(0.8, 4), d)
        ridge = np.linalg.norm(X, 2) ** 2 * 10 ** rng.uniform(-6, 1)
        space = ridge_space(X, ridge)
        r = int(space.effective_dimension / 0.98) + int(rng.integers(1, n + 10))
        scores = rng.integers(0, 4, d).astype(float) if seed % 2 else None
        make = by_norm if scores is None else BSSSelector
        expected = make(n_draws=r, ridge=ridge, score_func=scores).fit(X).sampling_
        choice = BSSInBlocks(scores, partial(Progress, what="A search"))
        search = Scan(cut(X, [d]), space, order_of(scores), int(rng.integers(1, 20)))
        search.size = int(rng.integers(1, 40))
        picks, added = sparsify(
            search, lambda _, r, c=choice, at=space: c.barriers(at, r), r
        )
        assert_array_equal(
            list(dict.fromkeys(picks)), expected.indices, err_msg=f"seed {seed}"
        )
        weights = choice.weights(added, space, r)
        assert_allclose(weights.sum(), expected.weights.sum(), rtol=1e-7)


@each_source
@pytest.mark.parametrize("size", [1, 7, 200])
def test_windows_of_any_size_where_the_head_runs_dry(size, source):
    """Half of the columns share half of the directions, and stand before all others by
    their scores.
    """
    X = nearly_two_frames()  # no two columns have one direction
    scores = np.repeat([2.0, 1.0], 512)
    expected = BSSSelector(20, rank=6, score_func=scores).fit(X)
    passes = Passes(source(X, [100] * 10 + [24]), 1)
    search = Scan(passes, row_space(X), order_of(scores), size)
    search.size = size
    picks, _ = sparsify(search, Barriers, 20)
    assert_array_equal(list(dict.fromkeys(picks)), expected.selected_)
    assert passes.count > 1


class ByResidual(Prices):
    """What the theorem of the dual set allows all columns together, by their squared
    residuals.
    """

    def __init__(self, space, r):
        share = 1 - np.sqrt(space.shape[1] / r)
        self.unit = share / np.sum(space.residual_norms**2)

    def of(self, part):
        return self.unit * part.residual_norms**2


@swept("seed", range(2), range(2, 4))
@pytest.mark.parametrize("size", [1, 7, 40])
def test_windows_take_the_columns_that_can_pay_their_price(size, seed):
    """Whatever is at hand: the picks, and what they add, are those in memory."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 500)) * rng.pareto(1.2, 500)
    X[:, ::2] += 3 * rng.standard_normal((12, 2)) @ rng.standard_normal((2, 250))
    space = row_space(X).truncate(4)
    prices = ByResidual(space, 60)
    order = Order(PriceRanking(), prices)
    passes = Passes(cut(X, [100] * 5), 1)
    search = Scan(passes, space, order, size)
    search.size = size
    picks, added = sparsify(search, LowerBarrier, 60)

    in_memory = FirstFeasibleRule(space, None, prices.of(space))
    barriers = LowerBarrier(4, 60)
    for pick, weight in zip(picks, added):
        i, v = in_memory.pick(barriers)
        in_memory.take(i)
        assert pick == i
        assert_allclose(weight, barriers.add(v, in_memory.prices[i]), rtol=1e-7)
    assert passes.count > 1


def test_the_margin_is_that_of_the_columns_left_out():
    """What the proposition needs: beyond head and window no column's slack comes nearer
    to zero than the margin.
    """
    X = np.random.default_rng(1).standard_normal((12, 500)) * np.random.default_rng(
        2
    ).pareto(1.2, 500)
    space = row_space(X).truncate(4)
    looks = []
    V = space.basis()
    rates = lambda C: np.einsum("ij,ij->i", V @ C, V) / space.scores64  # noqa: E731

    class Watched(Scan):
        def look_beyond(self, barriers):
            found = super().look_beyond(barriers)
            held = [*self.head.places, *self.picked.places, *self.window.places]
            left_out = np.delete(rates(self.window_C), held)
            if 0 <= self.margin < np.inf:
                looks.append(self.margin)
                assert left_out.max() <= -self.margin * (1 - 1e-9)
            return found

    search = Watched(cut(X, [500]), space, Order(), 10)
    search.size = 60
    sparsify(search, Barriers, 60)
    assert len(looks) > 5


@each_source
@pytest.mark.parametrize("size", [1, 30, 10_000])
def test_draws_are_those_of_all_columns(size, source):
    X = np.random.default_rng(3).standard_normal((30, 200))
    space = row_space(X, rank=6)
    passes = Passes(source(X, [size] * (200 // size) + [200 % size]), 1)
    passes.length = 200
    found = DrawsInBlocks(4).choose(passes, space, 80)
    expected = leverage_sampling(space, 80, 4)
    assert_array_equal(found.sampling.indices, expected.indices)
    assert_allclose(found.sampling.weights, expected.weights, rtol=1e-9)
    assert found.sampling.n_draws == 80 and passes.count == 2
    assert_array_equal(found.columns, X[:, expected.indices])
    assert found.promise is None


@pytest.mark.parametrize("seed", range(4))
def test_a_draw_of_column_0_is_not_lost_where_parts_are_merged(seed):
    X = np.random.default_rng(3).standard_normal((30, 200))
    X[:, 0] *= 30
    space = row_space(X, rank=6)
    passes = Passes(MergedParts(X, [40] * 5, seed), 1)
    passes.length = 200
    found = DrawsInBlocks(4).choose(passes, space, 40)
    expected = leverage_sampling(space, 40, 4)
    assert 0 in expected.indices
    assert_array_equal(found.sampling.indices, expected.indices)
    assert_allclose(found.sampling.weights, expected.weights, rtol=1e-9)


@each_source
def test_the_first_of_an_order_are_those_of_all_columns(source):
    X = np.random.default_rng(3).standard_normal((30, 700))
    space = row_space(X, rank=6)
    passes = Passes(source(X, [200, 400, 100]), 1)
    passes.length = 700
    found = FirstInBlocks(Order()).choose(passes, space, 80)
    expected = largest_leverages(space, 80)
    assert_array_equal(found.sampling.indices, expected.indices)
    assert_array_equal(found.columns, X[:, expected.indices])
    left_out = np.sum(np.delete(space.scores64, expected.indices))
    assert_allclose(found.promise.lower, max(0, 1 - left_out), atol=1e-10)


@each_source
def test_the_first_of_an_order_answer_for_their_copies(source):
    """Weighted by how many equal ones they stand for, all different columns together
    leave nothing out.
    """
    different = np.random.default_rng(3).standard_normal((6, 100))
    X = np.tile(different, 3)
    passes = Passes(source(X, [80, 150, 70]), 1)
    passes.length = 300
    found = FirstInBlocks(Order()).choose(passes, row_space(X), 100)
    assert_array_equal(np.sort(found.sampling.indices), np.arange(100))
    assert_array_equal(found.sampling.weights, np.full(100, 3.0))
    assert_allclose(found.promise.lower, 1)


class LowestPlace(Ranking):
    """Columns as they come."""

    def values(self, norms, prices, places):
        return -places.astype(float)


def test_an_order_of_ones_own():
    """Zero columns are passed over, whatever the order says."""
    X = np.random.default_rng(0).standard_normal((20, 300))
    X[:, [0, 3]] = 0
    space = row_space(X, rank=5)
    first = cut(X, [100, 200]).reduce(1, First(space, Order(LowestPlace()), 6))
    assert_array_equal(first.best.places, [1, 2, 4, 5, 6, 7])
    assert_allclose(first.leverage, 5, rtol=1e-10)


class EveryThird(BlockChoice):
    """A way to choose that the book does not know."""

    def choose(self, X, space, r):
        picks = 3 * np.arange(r)
        A = X.X.columns(picks, X.length)
        return ChosenInBlocks(sampling_of_picks(picks, np.ones(r), X, space, r), A)


def test_a_selector_with_a_choice_of_its_own_reads_blocks():
    class Thirds(BSSSelector):
        def _sample(self, space, r, y):
            picks = 3 * np.arange(r)
            return Sampling.from_draws(picks, np.ones(r), space.shape[0], space.X)

        def _promise(self, space, r):
            return None

        def _choice_in_blocks(self):
            return EveryThird()

    X = np.random.default_rng(0).standard_normal((20, 300))
    found = Thirds(12, rank=6).fit(cut(X, [7] * 42 + [6]))
    expected = Thirds(12, rank=6).fit(X)
    assert_array_equal(found.selected_, 3 * np.arange(12))
    assert_array_equal(found.selected_, expected.selected_)
    assert_allclose(
        found.certificate_.eigenvalues, expected.certificate_.eigenvalues, rtol=1e-9
    )
    assert found.certificate_.promise is None


def closest_one_by_one(targets, X, chosen, r):
    """Of the columns that bring the span of those chosen equally close to the targets
    the first, again and again.
    """
    chosen = list(chosen)
    while len(chosen) < r:
        Q = np.linalg.qr(X[:, chosen])[0]
        outside = X - Q @ (Q.T @ X)
        squares = np.sum((outside.T @ targets) ** 2, axis=1)
        left = np.sum(outside**2, axis=0)
        gains = np.divide(squares, left, out=np.zeros(len(left)), where=left > 1e-9)
        chosen.append(int(np.flatnonzero(gains > (1 - 1e-6) * gains.max())[0]))
    return chosen


@each_source
@pytest.mark.parametrize("columns", [0, 1, 3, 10])
@swept_seeds(6, 25)
def test_of_columns_that_bring_as_much_the_first_fills_up(
    seeds, columns, source, monkeypatch
):
    """Columns of few entries, 1 or -1: many come equally close, some of them only after
    others were taken, and the first of these is not always at hand.
    """
    n, d = 20, 60
    monkeypatch.setattr(block_search, "SEARCH_WINDOW", 8 * n * columns)
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = np.zeros((n, d))
        X[rng.integers(n, size=(2, d)), np.arange(d)] = rng.choice([-1.0, 1.0], (2, d))
        targets = rng.integers(1, 4, (n, 1)).astype(float)
        chosen = np.array([5, 17])
        passes = Passes(source(X, [7] * 8 + [4]), 1)
        passes.length = d
        found, C = fill_up(targets, passes, row_space(X), chosen, X[:, chosen], 8)
        assert_array_equal(found, closest_one_by_one(targets, X, chosen, 8))
        assert_array_equal(C, X[:, found])


@pytest.mark.parametrize("columns", [0, 1, 3, 10])
def test_of_columns_that_all_bring_the_last_direction_the_first_is_taken(
    columns, monkeypatch
):
    """It is column 0, which brings next to nothing before, so that it is not at hand
    when others are.
    """
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((5, 5)))[0]
    first = np.array([1.0, -2.0, 0.0, 0.5, 0.0])
    X = Q @ np.column_stack([first, np.eye(5)])
    targets = Q @ np.array([[8.0], [4.0], [2.0], [1.0], [0.0]])
    monkeypatch.setattr(block_search, "SEARCH_WINDOW", 8 * 5 * columns)
    passes = Passes(cut(X, [2, 2, 2]), 1)
    passes.length = 6
    chosen = np.array([5])
    found, _ = fill_up(targets, passes, row_space(X), chosen, X[:, chosen], 5)
    assert_array_equal(found, [5, 1, 2, 3, 0])
    assert_array_equal(found, closest_one_by_one(targets, X, chosen, 5))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("width", [3, 8, 16])
def test_copies_count_where_all_columns_tie(width, seed):
    """Parts that are merged may each keep other columns of those that tie."""
    H = hadamard(16).astype(float)
    X = H[:, np.r_[0:16, 8:16, 0:8]]
    memory = LeverageSelector(4, rule="largest").fit(X)
    assert_allclose(memory.weights_, 2.0)
    widths = [width] * (32 // width) + [32 % width]
    merged = LeverageSelector(4, rule="largest").fit(MergedParts(X, widths, seed))
    assert_array_equal(merged.selected_, memory.selected_)
    assert_allclose(merged.weights_, memory.weights_)
    assert_allclose(merged.certificate_.eigenvalues, memory.certificate_.eigenvalues)
