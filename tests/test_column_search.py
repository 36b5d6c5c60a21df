"""The searches of the engine: where they look, and that it does not decide."""

from unittest.mock import MagicMock

import numpy as np
import pytest
from cases import (
    assert_same_bss,
    bss_steps,
    hadamard,
    heavy,
    holds_bss,
    orthonormal,
    small_head,
    sparse_table,
    stacked_identities,
    swept,
    swept_seeds,
    table,
    two_frames,
)
from numpy.testing import assert_allclose, assert_array_equal

from fsel_book import BSSSelector, column_search
from fsel_book.arrays import to_numpy
from fsel_book.barriers import Barriers, LowerBarrier, RidgeBarriers
from fsel_book.column_search import (
    SLACK_BITS,
    ClosestSpanRule,
    ColumnSearch,
    FirstFeasibleRule,
    InfeasibleColumns,
    LargestNormRule,
    LargestScoreRule,
    LargestSlackRule,
    LeverageBlockRule,
    PriceRanking,
    Ranking,
    ScoreRanking,
    Screen,
    first_feasible,
    growing_chunks,
    index_chunks,
    largest_eigenvalue_bound,
    leading_part,
    norm_per_price,
    round_ties,
)
from fsel_book.sparsification import BSS_RULES, bss, bss_reference
from fsel_book.spectra import (
    RidgeSpace,
    RowSpace,
    as_row_space,
    ridge_of_dimension,
    row_space,
)

exact_rules = pytest.mark.parametrize("rule", ["largest-norm", "best"])

# ---------------------------------------------------------------- orders


def test_rounding_of_ties():
    x = np.array(
        [
            1.0,
            1 + 1e-13,
            1 - 1e-13,
            1 + 1e-8,
            0.0,
            -2.5,
            -2.5 * (1 + 1e-13),
            1e-300,
            1e300,
        ]
    )
    rounded = round_ties(x)
    assert rounded[0] == rounded[1] == rounded[2] == 1 and rounded[3] > 1
    assert rounded[4] == 0 and rounded[5] == rounded[6] == -2.5
    assert_allclose(rounded, x, rtol=2.0**-33)


def test_norm_per_price():
    found = norm_per_price(np.array([3.0, 0.0, 1.0]), np.array([2.0, 0.0, 0.0]))
    assert_array_equal(found, [1.5, 0.0, 0.0])


def test_keys_of_blocks_are_those_of_the_whole():
    """Any cut into blocks gives the same keys, also where a block has no score."""
    rng = np.random.default_rng(0)
    norms = rng.exponential(size=50)
    norms[::9] = 1e-40
    prices = rng.exponential(size=50)
    scores = np.where(np.arange(50) < 20, 0.0, rng.exponential(size=50))
    for ranking, values in (
        (Ranking(), norms),
        (PriceRanking(), norms / prices),
        (ScoreRanking(scores), np.where(scores > 0, scores * norms, -1 / norms)),
    ):
        whole = ranking.keys(norms, prices)
        assert np.all(np.isneginf(whole[::9])) and np.isneginf(whole).sum() == 6
        long = np.isfinite(whole)
        assert_array_equal(np.argsort(whole[long]), np.argsort(values[long]))
        for places in np.array_split(rng.permutation(50), 7):
            part = ranking.keys(norms[places], prices[places], places)
            assert_array_equal(part, whole[places])


def test_the_first_feasible_place():
    assert first_feasible(np.array([-1.0, -0.0, 3.0])) == 1
    assert first_feasible(np.array([-1.0, np.nan])) is None
    assert first_feasible(np.empty(0)) is None


# ---------------------------------------------------------------- pieces


def test_pieces_are_large_on_a_device_but_within_256_megabytes(library):
    """On the host 4,096 columns, which stay in the cache; elsewhere 16 times as many,
    unless `X` has many rows.
    """
    indices = np.arange(100_000)
    for n, expected in ((1, 65_536), (1024, 32_768), (16_384, 4096)):
        pieces = list(index_chunks(indices, library.make(np.zeros((n, 1)))))
        assert_array_equal(np.concatenate(pieces), indices)
        assert len(pieces[0]) == (
            4096 if library.sparse or library.name == "numpy" else expected
        )
    assert [
        len(piece) for piece in index_chunks(indices[:10], np.zeros((1, 1)), 4)
    ] == [4, 4, 2]


def test_growing_pieces():
    pieces = list(growing_chunks(np.arange(100)))
    assert [len(piece) for piece in pieces] == [2, 8, 32, 58]
    assert_array_equal(np.concatenate(pieces), np.arange(100))
    assert list(growing_chunks(np.arange(0))) == []


# ---------------------------------------------------------------- against a look at all


def by_looking_at_all(search, barriers, V):
    """The slack of all columns, and which of them may be picked: fresh ones if one is
    feasible.
    """
    slack = barriers.slack(V, search.prices)
    feasible = slack >= 0
    fresh = feasible & search.fresh
    return slack, fresh if fresh.any() else feasible & search.usable


@swept("seed", [0, 1], range(2, 12))
@pytest.mark.parametrize("size", [None, 2], ids=["the usual head", "two rows"])
def test_every_search_finds_what_a_look_at_all_columns_finds(monkeypatch, seed, size):
    """With two barriers and with prices, with some columns excluded."""
    if size is not None:
        small_head(monkeypatch, size)
    rng = np.random.default_rng(seed)
    V = (heavy, orthonormal)[seed % 2](400, 6, rng)
    space = RowSpace.from_basis(V)
    prices = 0.5 * rng.dirichlet(np.ones(400))
    scores = rng.exponential(size=400) * (rng.random(400) < 0.5)
    for search, barriers in (
        (LargestNormRule(space, None), Barriers(6, 24)),
        (LargestNormRule(space, None, prices), LowerBarrier(6, 24)),
        (LargestScoreRule(space, None, None, scores), Barriers(6, 24)),
        (LargestScoreRule(space, None, prices, scores), LowerBarrier(6, 24)),
        (FirstFeasibleRule(space, None, prices), LowerBarrier(6, 24)),
        (LargestSlackRule(space, None), Barriers(6, 24)),
        (LargestSlackRule(space, None, prices), LowerBarrier(6, 24)),
    ):
        for _ in range(24):
            slack, allowed = by_looking_at_all(search, barriers, V)
            if isinstance(search, LargestSlackRule):
                keys = round_ties(slack, SLACK_BITS)
            else:
                keys = search.keys
            i, v = search.pick(barriers)
            assert i == np.argmax(np.where(allowed, keys, -np.inf))
            assert_array_equal(v, V[i])
            search.take(i)
            barriers.add(v, search.prices[i])


@pytest.mark.parametrize(
    "make", [LargestNormRule, LargestSlackRule, LeverageBlockRule, ClosestSpanRule]
)
def test_excluded_columns_are_never_picked(make):
    """Nor where all others have been taken and some are taken again."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 60))
    space = row_space(X, rank=5)
    targets = [X[:, :2]] if make is ClosestSpanRule else []
    search = make(space, np.random.RandomState(0), None, *targets)
    excluded = np.argsort(-search.norms)[:10]
    search.usable[excluded] = search.fresh[excluded] = False
    barriers = Barriers(5, 150)
    repeats = 0
    for _ in range(150):
        i, v = search.pick(barriers)
        assert i not in excluded
        repeats += not search.fresh[i]
        search.take(i)
        barriers.add(v)
    assert repeats > 0


def test_of_copies_with_scores_equal_to_rounding_the_first_stands_for_all():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((6, 50)), 2, axis=1)
    scores = np.repeat(rng.random(50), 2)
    for factor, expected in (
        (1 + 1e-15, [True, False]),
        (1 + 1e-6, [False, True]),
        (1 - 1e-6, [True, False]),
    ):
        now = scores * np.tile([1, factor], 50)
        search = LargestScoreRule(row_space(X), None, None, now)
        assert_array_equal(search.usable, np.tile(expected, 50))


def test_columns_are_known_to_be_infeasible_until_slack_has_risen_enough():
    class Rising:
        def rise(self):
            return 0.3

    known = InfeasibleColumns(4)
    known.go_on(Rising())
    assert known.risen == 0 and known.due.all()
    known.note(np.array([0, 1, 2]), np.array([-0.5, -0.1, 0.2]))
    assert_array_equal(known.due, [False, False, True, True])
    known.go_on(Rising())
    assert_array_equal(known.due, [False, True, True, True])
    # what was known of the first one says more
    known.note_earlier(np.array([0, 3]), np.array([-0.4, -0.9]), 0.0)
    assert_array_equal(known.due, [False, True, True, False])
    known.go_on(Rising())
    assert_array_equal(known.due, [True, True, True, False])


# ---------------------------------------------------------------- the ways through the
# search


@pytest.fixture
def calls(monkeypatch):
    """Counts the calls of the search's slow ways."""
    count = {"all": 0, "full": 0}

    def counted(name, method):
        def replacement(self, *args):
            count[name] += 1
            return method(self, *args)

        return replacement

    monkeypatch.setattr(
        ColumnSearch, "largest_slack", counted("all", ColumnSearch.largest_slack)
    )
    monkeypatch.setattr(
        ColumnSearch,
        "pick_by_full_scan",
        counted("full", ColumnSearch.pick_by_full_scan),
    )
    return count


def test_largest_norm_finds_columns_far_down_its_order():
    """The first 8192 of 16384 rows share half the dimensions, so every second pick or
    so lies beyond block and head.
    """
    V = two_frames(8192, 8)
    selection = assert_same_bss(V, 24, "largest-norm")
    head = len(LargestNormRule(RowSpace.from_basis(V), None).head)
    assert head < 8192 and np.sum(selection.indices >= 8192) >= 8


@swept("kind", ["heavy"], ["orthonormal"])
def test_the_head_grows_with_what_is_taken(kind, monkeypatch):
    """More draws than the head had columns to begin with: it is doubled before it runs
    dry, and picks stay the same.
    """
    grown = []
    enlarge = LargestNormRule.enlarge_head

    def counted(rule):
        before = len(rule.head)
        enlarge(rule)
        grown.append((before, len(rule.head)))
        assert_array_equal(rule.head, rule.rows(rule.order[: len(rule.head)]))

    monkeypatch.setattr(LargestNormRule, "enlarge_head", counted)
    V = dict(orthonormal=orthonormal, heavy=heavy)[kind](
        3000, 3, np.random.default_rng(0)
    )
    assert_same_bss(V, 1200, "largest-norm")
    assert grown == [(1048, 2096), (2096, 3000)]


@swept("size", [1, 20], [2])
def test_largest_norm_does_not_depend_on_the_size_of_its_head(monkeypatch, size):
    small_head(monkeypatch, size)
    rng = np.random.default_rng(size)
    for V in (
        heavy(200, 6, rng),
        orthonormal(60, 6, rng),
        hadamard(64, 5),
        two_frames(64, 6),
        stacked_identities(4, 9),
    ):
        assert_same_bss(V, len(V), "largest-norm")
        assert_same_bss(V, V.shape[1] + 3, "largest-norm")


def test_columns_already_taken_come_last():
    """With r = d every column is wanted; a column is repeated only where no other is
    feasible.
    """
    V = orthonormal(40, 5, np.random.default_rng(0))
    search = LargestNormRule(RowSpace.from_basis(V), None)
    barriers = Barriers(5, 40)
    repeats = 0
    for _ in range(40):
        lower, upper = barriers.judge(V)
        feasible = upper <= lower
        fresh = search.fresh.copy()
        i, v = search.pick(barriers)
        assert feasible[i]
        repeats += not fresh[i]
        assert fresh[i] or not np.any(feasible & fresh)
        search.fresh[i] = False
        barriers.add(v)
    assert repeats > 0


def test_sampled_looks_at_all_columns_where_its_block_holds_none_feasible(calls):
    """Nearly all leverage lies on columns that are infeasible soon, so blocks drawn by
    leverage miss the others.
    """
    V = np.zeros((400, 6))
    V[:5, :5] = np.eye(5)
    V[5:, 5] = 1 / np.sqrt(395)
    selection = bss(V, 40, "sampled", random_state=0)
    assert holds_bss(V, selection, 6, 40)
    V = heavy(9, 8, np.random.default_rng(0))
    selection = bss(V, 9, "sampled", random_state=0)
    assert holds_bss(V, selection, 8, 9)
    assert calls["full"] > 0


def test_a_full_scan_goes_over_several_blocks():
    V = two_frames(8192, 6)
    search = LeverageBlockRule(RowSpace.from_basis(V), None)
    barriers = Barriers(6, 12)
    for i in (0, 9000, 3):
        barriers.add(V[i])
    slack, i = search.largest_slack(barriers, search.usable)
    lower, upper = barriers.judge(V)
    # slacks are compared on a grid of six digits
    assert_allclose(slack, np.max(lower - upper), rtol=2.0**-SLACK_BITS)
    assert i == np.argmax(round_ties(lower - upper, SLACK_BITS))


@exact_rules
def test_generic_data_never_need_the_last_resort(calls, rule):
    bss(heavy(300, 10, np.random.default_rng(2)), 25, rule)
    assert calls == {"all": 0, "full": 0}


# ---------------------------------------------------------------- what is ruled out
# unseen


@pytest.mark.parametrize("gives_up", [False, True])
@pytest.mark.parametrize("size", [1, 2, 9, 10, 60])
@pytest.mark.parametrize(
    "spectrum", ["mixed", "negative", "wide", "zero", "equal", "nearly all equal"]
)
def test_no_form_is_above_what_the_leading_part_says(
    monkeypatch, size, spectrum, gives_up
):
    """u'Eu <= mu + |W'u|^2 to the rounding of float32, also where the search for a part
    of the eigenvalues gives up.
    """
    rng = np.random.default_rng(size)
    Q = np.linalg.qr(rng.standard_normal((size, size)))[0]
    theta = {
        "mixed": rng.standard_normal(size),
        "negative": -rng.random(size),
        "wide": 10.0 ** -np.arange(size),
        "zero": np.zeros(size),
        "equal": np.ones(size),
        "nearly all equal": np.append(np.ones(size - 1), -0.3),
    }[spectrum]
    E = Q * theta @ Q.T
    if gives_up:
        monkeypatch.setattr(
            column_search, "eigh", MagicMock(side_effect=np.linalg.LinAlgError)
        )
    W, mu = leading_part(E)
    assert W.shape == (size, min(8, size - 1)) and W.dtype == np.float32
    rounding = (2 * size + 16) * 2.0**-24 * (np.linalg.norm(E) + np.vdot(W, W))
    assert np.linalg.eigvalsh(E - W.astype(np.float64) @ W.T)[-1] <= mu + rounding
    # no higher than it must be
    assert mu <= np.sort(theta)[max(size - 9, 0)] + rounding


def test_equal_eigenvalues_stop_the_search_for_some_of_them():
    """Why `leading_part` is prepared for it: on one of these LAPACK gives up, in
    float32.
    """
    for seed in range(100):
        u = np.random.default_rng(seed).standard_normal((20, 1))
        E = 0.0018 * np.eye(20) - 0.005 * u @ u.T / np.sum(u**2)
        W, mu = leading_part(E)
        assert mu == pytest.approx(0.0018, rel=1e-4) and np.abs(W).max() < 1e-3


@swept("seed", [0], [1, 2, 3])
def test_columns_are_ruled_out_by_bounds_from_an_earlier_step(monkeypatch, seed):
    """Over heavy-tailed rows with scores: the picks are the literal ones, and most
    columns were never judged anew.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, 8000)) * rng.pareto(1.5, size=8000)
    V = np.linalg.svd(X, full_matrices=False)[2].T
    r = 80
    scores = rng.chisquare(1, size=8000)
    counts = np.zeros(2, dtype=int)
    in_doubt = Screen.in_doubt

    def counted(self, number, U, places):
        found = in_doubt(self, number, U, places)
        if self.W is not None:
            counts[:] += len(places), len(found)
            out = np.setdiff1d(places, found)
            assert np.all((np.einsum("ij,ij->i", U @ self.C, U) - self.error)[out] < 0)
        return found

    monkeypatch.setattr(Screen, "in_doubt", counted)
    sampling = bss(V, r, scores=scores)
    expected = bss_reference(V, r, scores=scores)
    assert_array_equal(sampling.indices, expected.indices)
    assert_allclose(sampling.weights, expected.weights, rtol=1e-6)
    assert counts[0] > (10 if seed == 0 else 2) * 8000 and counts[1] < counts[0] / 10


def test_columns_ruled_out_are_infeasible():
    """Far into a run over heavy-tailed rows most are ruled out unseen; a full scan
    agrees that they are infeasible.
    """
    V = heavy(800, 60, np.random.default_rng(4))
    skipped = judged = 0
    for barriers, search, i in bss_steps(V, 240):
        out = search.usable & ~search.infeasible.due
        lower, upper = barriers.judge(V)
        if i is not None:  # what was noted up to this pick
            assert np.all((lower < upper)[out])
            skipped = skipped + out.sum()
            judged = judged + (~out).sum()
    assert skipped > judged / 5


# ---------------------------------------------------------------- the bounds of the
# rule "best"


def symmetric_matrices():
    """Of all sizes, signs and spectra: matrices in which Lanczos soon comes to an end
    among them.
    """
    rng = np.random.default_rng(0)
    for l in (1, 2, 3, 7, 8, 9, 30, 120):
        B = rng.standard_normal((l, l))
        spread = np.diag(np.exp(3 * rng.standard_normal(l)))
        for E in (
            B + B.T,
            B @ B.T,
            B @ B.T - l * np.eye(l),
            spread,
            (B + B.T) * 1e100,
            np.outer(B[0], B[0]),
            np.eye(l),
        ):
            yield E
            yield -E
        yield np.zeros((l, l))


def test_top_eigenvalue_bound_bounds_and_is_tight():
    for E in symmetric_matrices():
        lam = np.linalg.eigvalsh(E)
        bound, vector = largest_eigenvalue_bound(
            E, np.random.default_rng(1).standard_normal(len(E))
        )
        size = np.abs(lam).max()
        assert bound >= lam[-1] - 1e-13 * size
        assert bound - lam[-1] <= size + 1e-300
        assert vector.shape == (len(E),) and np.linalg.norm(vector) == pytest.approx(1)


def test_top_eigenvalue_bound_is_tight_where_it_starts_near_the_vector():
    """As from step to step of the selection: the last vector is where the next search
    begins.
    """
    for E in symmetric_matrices():
        lam, Q = np.linalg.eigh(E)
        bound, vector = largest_eigenvalue_bound(
            E, Q[:, -1] + 1e-3 * np.random.default_rng(1).standard_normal(len(E))
        )
        assert (
            lam[-1] - 1e-13 * np.abs(lam).max()
            <= bound
            <= lam[-1] + 0.1 * np.abs(lam).max() + 1e-300
        )


def test_top_eigenvalue_bound_of_tiny_matrices():
    """Where squares underflow the bound may be loose, but it bounds."""
    for scale in (1e-200, 1e-300):
        E = scale * np.diag([3.0, -5, 1])
        assert 3 * scale <= largest_eigenvalue_bound(E, np.ones(3))[0] <= 50 * scale


def test_top_eigenvalue_bound_does_not_believe_a_guess_that_misses():
    """Lanczos from a start orthogonal to the top eigenvector sees nothing of it; the
    factorization does.
    """
    start, top = np.random.default_rng(0).standard_normal((2, 40))
    top -= start * (top @ start) / (start @ start)
    top /= np.linalg.norm(top)
    assert largest_eigenvalue_bound(np.outer(top, top) * 7.0, start)[0] >= 7.0


class Watched(LargestSlackRule):
    """Compares every bound with its true value whenever bounds were raised or replaced."""

    checks = 0
    lowered = 0

    def values(self):
        V = to_numpy(self.space.basis())
        return np.einsum("ij,ij->i", V @ self.C, V)

    def compare(self):
        true = self.values()
        allowed = 1e-9 * np.abs(true) + 1e-12 * np.linalg.norm(self.C) * self.norms
        usable = self.usable
        assert np.all(self.bound[usable] >= (true - allowed)[usable])
        type(self).checks += 1

    def raise_bounds(self, C):
        super().raise_bounds(C)
        self.compare()

    def evaluate(self, indices):
        super().evaluate(indices)
        self.compare()

    def evaluate_roughly(self, indices):
        reached = super().evaluate_roughly(indices)
        self.compare()
        assert reached <= np.max(
            self.values()[indices], initial=-np.inf
        ) + 1e-12 * np.linalg.norm(self.C)
        return reached

    def lower_bounds(self, outline, indices):
        super().lower_bounds(outline, indices)
        self.compare()

    def lower_by_eigenvectors(self, indices):
        before = self.bound.copy()
        super().lower_by_eigenvectors(indices)
        self.compare()
        type(self).lowered += np.sum(self.bound < before)


BOUNDED = {
    "heavy": lambda rng: heavy(300, 8, rng),
    "Gaussian": lambda rng: orthonormal(300, 8, rng),
    "Hadamard": lambda rng: hadamard(256, 6),
    "l = 1": lambda rng: heavy(60, 1, rng),
    "ties": lambda rng: stacked_identities(5, 8),
    "larger": lambda rng: heavy(900, 70, rng),
}


@pytest.mark.parametrize("kind", [*BOUNDED, "float32", "sparse"])
def test_bounds_never_fall_below_values(monkeypatch, kind):
    monkeypatch.setitem(BSS_RULES, "best", Watched)
    monkeypatch.setattr(Watched, "checks", 0)
    rng = np.random.default_rng(8)
    space = (
        RowSpace.from_basis(BOUNDED[kind](rng))
        if kind in BOUNDED
        else row_space(table(15, 200).astype(np.float32))
        if kind == "float32"
        else row_space(sparse_table())
    )
    for r in (space.shape[1] + 1, 2 * space.shape[1]):
        bss(space, r, "best")
    assert Watched.checks >= 3 * space.shape[1]


def spent(form, seed):
    """Data whose few long columns are soon taken: the others are short, and what they
    are worth is near zero.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 20_000)) * rng.pareto(1.5, 20_000)
    if seed % 2:
        X[:, 5000:10_000] = X[:, :5000]
    return X.astype(form)


@pytest.mark.parametrize("form", ["float64", "float32"])
@pytest.mark.parametrize("seed", range(2))
def test_bounds_by_eigenvectors_never_fall_below_values(monkeypatch, form, seed):
    monkeypatch.setitem(BSS_RULES, "best", Watched)
    monkeypatch.setattr(Watched, "checks", 0)
    monkeypatch.setattr(Watched, "lowered", 0)
    BSSSelector(18, rule="best").fit(spent(form, seed))
    assert Watched.checks >= 3 * 18 and Watched.lowered > 20_000


class LooksAtAll(LargestSlackRule):
    def pick(self, barriers):
        slack, i = self.largest_slack(barriers, self.fresh)
        if slack < 0:
            i = self.largest_slack(barriers, self.usable)[1]
        return i, self.rows([i])[0]


@pytest.mark.parametrize("form", ["float64", "float32"])
@swept("seed", range(2), range(2, 12))
def test_bounds_by_eigenvectors_change_no_pick(monkeypatch, form, seed):
    X = spent(form, seed)
    for r in (15, 18, 19):
        found = BSSSelector(r, rule="best").fit(X)
        with monkeypatch.context() as patched:
            patched.setitem(BSS_RULES, "best", LooksAtAll)
            expected = BSSSelector(r, rule="best").fit(X)
        assert_array_equal(found.selected_, expected.selected_)
        assert_allclose(found.weights_, expected.weights_, rtol=1e-6)


def at_a_ridge(form, seed, d=400):
    """Data of a few large directions and many small ones, or of that kind with copies,
    in one of the forms that data have, and a ridge.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 50))
    large = rng.standard_normal((n, 4)) @ rng.standard_normal((4, d))
    X = large + 0.3 * rng.standard_normal((n, d))
    if seed % 3 == 0:
        X *= rng.pareto(1.0, d)
    if seed % 3 == 1:
        X[:, d // 2 :] = 2 * X[:, : d - d // 2]
        X[:, ::7] = 0.0
    if form == "float32":
        X = X.astype(np.float32)
    whole = row_space(X)
    top = whole.singular_values[0] ** 2
    if seed % 4 == 3:
        ridge = top * 1e12 ** rng.uniform(-1, 1)
    else:
        ridge = ridge_of_dimension(whole.singular_values, whole.shape[1] / 4)
    return RidgeSpace(whole, ridge)


@pytest.mark.parametrize("form", ["float64", "float32"])
@pytest.mark.parametrize("seed", range(4))
def test_bounds_from_an_outline_never_fall_below_values(monkeypatch, form, seed):
    monkeypatch.setattr(column_search, "OUTLINED", 0)
    monkeypatch.setattr(column_search, "MANY", 0)
    monkeypatch.setitem(BSS_RULES, "best", Watched)
    monkeypatch.setattr(Watched, "checks", 0)
    space = at_a_ridge(form, seed)
    r = int(space.effective_dimension / 0.9) + 1 + 15
    bss(space, r, "best")
    assert Watched.checks >= 3 * r


@pytest.mark.parametrize("form", ["float64", "float32"])
@swept("seed", range(6), range(6, 80))
def test_the_outline_changes_no_pick(monkeypatch, form, seed):
    """The column is the one of largest slack in a look at all of them."""
    monkeypatch.setattr(column_search, "OUTLINED", 0)
    monkeypatch.setattr(column_search, "MANY", 0)
    space = at_a_ridge(form, seed)
    r = int(space.effective_dimension / 0.95) + 1 + seed % 17
    barriers = RidgeBarriers(space.shrinkage, r)
    search = LargestSlackRule(space, None)
    for _ in range(r):
        i, v = search.pick(barriers)
        slack, expected = search.largest_slack(barriers, search.fresh)
        if slack < 0:
            expected = search.largest_slack(barriers, search.usable)[1]
        assert i == expected
        search.take(i)
        barriers.add(v)


def test_an_outline_spares_most_columns(monkeypatch):
    """Far fewer are looked at in full than bounds from step to step leave."""
    looked = 0

    def counted(method):
        def replacement(self, indices):
            nonlocal looked
            looked += len(indices)
            return method(self, indices)

        return replacement

    for name in ("evaluate", "evaluate_roughly"):
        method = getattr(LargestSlackRule, name)
        monkeypatch.setattr(LargestSlackRule, name, counted(method))
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 5)) @ rng.standard_normal((5, 30_000))
    X += 0.3 * rng.standard_normal(X.shape)
    whole = row_space(X)
    space = RidgeSpace(whole, ridge_of_dimension(whole.singular_values, 10.0))
    bss(space, 20, "best")
    with_outline = looked
    monkeypatch.setattr(column_search, "OUTLINED", np.inf)
    # nothing else that looks before
    monkeypatch.setattr(LargestSlackRule, "lower_by_eigenvectors", lambda *args: None)
    looked = 0
    bss(space, 20, "best")
    assert with_outline < looked / 2


@pytest.mark.parametrize("make", [heavy, orthonormal])
def test_bounds_spare_most_columns(monkeypatch, make):
    """What the bounds are for: far fewer columns are looked at than a full scan would."""
    looked = []
    original = LargestSlackRule.evaluate_roughly

    def counted(self, indices):
        looked.append(len(indices))
        return original(self, indices)

    monkeypatch.setattr(LargestSlackRule, "evaluate_roughly", counted)
    bss(make(3000, 40, np.random.default_rng(1)), 80, "best")
    assert np.mean(looked) < (300 if make is heavy else 1500)


class Middles:
    """In place of a generator: the middles of equal parts of [0, 1)."""

    def random_sample(self, size):
        return (np.arange(size) + 0.5) / size


def test_sampled_draws_by_leverage():
    V = heavy(500, 6, np.random.default_rng(0))
    norms = np.sum(V**2, axis=1)
    search = LeverageBlockRule(RowSpace.from_basis(V), Middles())
    i, v = search.pick(Barriers(6, 12))
    assert_array_equal(v, V[i])
    drawn = np.searchsorted(np.cumsum(norms) / norms.sum(), Middles().random_sample(64))
    assert i in drawn


class Zeros:
    """In place of a generator: the least number that it may draw."""

    def random_sample(self, size):
        return np.zeros(size)


def test_a_draw_of_zero_hits_no_column_without_leverage():
    """A column of zeros at the front has no slack to be short of: drawn, it would be
    taken, at no finite weight. One that was taken has no share either.
    """
    V = np.vstack([np.zeros((2, 10)), np.eye(10)])
    search = LeverageBlockRule(RowSpace.from_basis(V), Zeros())
    barriers = Barriers(10, 30)
    for step in range(10):
        i, v = search.pick(barriers)
        assert i == 2 + step
        search.take(i)
        barriers.add(v)


def test_sampled_draws_copies_for_the_column_that_stands_for_them():
    """Each step takes the largest slack of the columns drawn, and a column is drawn by
    the leverage that it and its copies have together; by none once it is taken.
    """
    rng = np.random.default_rng(0)
    counts = rng.permutation(np.repeat([1, 2, 60], [60, 20, 10]))
    X = np.repeat(rng.standard_normal((6, 90)), counts, axis=1)
    X *= rng.choice([-1, 1], X.shape[1])
    space = row_space(X)
    V = space.basis()
    first = np.cumsum(counts) - counts
    together = counts * np.sum(V[first] ** 2, axis=1)
    search = LeverageBlockRule(space, Middles())
    barriers = Barriers(6, 12)
    for _ in range(12):
        shares = np.cumsum(together) / np.sum(together)
        drawn = np.unique(np.searchsorted(shares, Middles().random_sample(64)))
        slack = barriers.slack(V[first[drawn]])
        assert slack.max() >= 0
        i, v = search.pick(barriers)
        assert i == first[drawn[np.argmax(slack)]]
        assert_array_equal(v, V[i])
        search.take(i)
        barriers.add(v)
        together[first == i] = 0.0


@swept_seeds(8, 200)
def test_a_bound_of_the_screen_is_above_the_form_and_near_it(seeds):
    """In float32, whatever the spread of the matrix."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        ell = int(rng.integers(1, 30))
        V = orthonormal(200, ell, rng)
        norms = np.sum(V**2, axis=1)
        C = rng.standard_normal((ell, ell)) * np.logspace(0, rng.uniform(0, 4), ell)
        C = C + C.T
        screen = Screen(as_row_space(V), norms)
        screen.begin(C, 200, 0.0)
        U = V / np.sqrt(norms)[:, None]
        forms = np.einsum("ij,jk,ik->i", U, C, U)
        bounds = screen.bounds(screen.there(U))
        assert np.all(bounds >= forms)
        assert np.all(bounds - forms <= 1e-4 * np.linalg.norm(C))
