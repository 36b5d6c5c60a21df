"""`bss` against the literal version, and the barrier argument piece by piece."""

from unittest.mock import MagicMock

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from cases import (
    KINDS,
    hadamard,
    heavy,
    interval,
    orthonormal,
    refused,
    right_singular_vectors,
    small_head,
    sparse_table,
    stacked_identities,
    swept,
    swept_product,
    swept_seeds,
    table,
    two_frames,
    with_condition,
)
from numpy.testing import assert_allclose, assert_array_equal

from fsel_book import as_blocks, sparsification
from fsel_book.arrays import to_numpy
from fsel_book.certificates import NEGLIGIBLE, certify
from fsel_book.dual_set import recursive_inverse
from fsel_book.sparsification import (
    BSS_RULES,
    SLACK_BITS,
    Barriers,
    BSSSelector,
    ColumnSearch,
    LargestNormRule,
    LargestSlackRule,
    LeverageBlockRule,
    Screen,
    bss,
    bss_promise,
    bss_reference,
    largest_eigenvalue_bound,
    leading_part,
    lower_coefficients,
    round_ties,
    sketched_row_space,
    upper_coefficients,
)
from fsel_book.spectra import RowSpace, row_space

EXACT_RULES = ["largest-norm", "best"]
every_rule = pytest.mark.parametrize("rule", [*EXACT_RULES, "sampled"])
exact_rules = pytest.mark.parametrize("rule", EXACT_RULES)


def holds(V, sampling, l, r):
    """Whether the measured interval, taken through R, lies in the theorem's."""
    promise = bss_promise(l, r)
    low, high = interval(V, sampling)
    return promise.lower - 1e-7 <= low and high <= promise.upper + 1e-7


def assert_same_picks(V, r, rule):
    """`bss` and `bss_reference` pick the same columns in the same order, with the same
    weights.
    """
    fast = bss(V, r, rule)
    literal = bss_reference(V, r, rule)
    assert_array_equal(fast.indices, literal.indices)
    assert_allclose(fast.weights, literal.weights, rtol=1e-8)
    assert fast.n_draws == literal.n_draws == r
    return fast


# ---------------------------------------------------------------- pick for pick


@swept_seeds(4, 12)
@pytest.mark.exact
@exact_rules
@pytest.mark.parametrize("kind", KINDS)
def test_equals_the_reference_pick_for_pick(kind, rule, seeds):
    """Four sizes for each kind and rule, and with the sweeps twelve: 264 cases."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        l = int(rng.choice([1, 2, 3, 5, 8, 13]))
        d = int(rng.integers(2 * l + 4, 20 * l + 10))
        V = KINDS[kind](d, l, rng)
        d, l = V.shape
        r = int(rng.integers(l + 1, max(l + 2, min(d, 6 * l)) + 1))
        selection = assert_same_picks(V, r, rule)
        assert holds(V, selection, l, r), f"{kind}, seed {seed}: d={d}, l={l}, r={r}"


@pytest.mark.exact
@exact_rules
@swept(
    ("d", "l", "r"),
    [
        (9, 1, 2),
        (9, 1, 9),
        (9, 1, 40),
        (9, 1, 1),
        (2, 1, 2),
        (2, 1, 1),
        (1, 1, 1),
        (12, 10, 11),
        (12, 11, 12),
        (30, 5, 6),
        (30, 5, 30),
        (40, 20, 21),
        (21, 20, 21),
    ],
    [(30, 5, 200), (8, 7, 100), (64, 3, 64)],
)
def test_equals_the_reference_at_extreme_sizes(d, l, r, rule):
    for seed, make in enumerate((orthonormal, heavy)):
        V = make(d, l, np.random.default_rng(seed))
        selection = assert_same_picks(V, r, rule)
        assert holds(V, selection, l, r)
        assert selection.n_selected <= min(d, r)


@pytest.mark.exact
@swept_product(
    ("size", "rule"),
    [((heavy, 5000, 64, 72), "largest-norm"), ((orthonormal, 3000, 60, 110), "best")],
    [(heavy, 3000, 90, 130), (orthonormal, 3000, 60, 110), (heavy, 5000, 64, 72)],
    EXACT_RULES,
)
def test_equals_the_reference_at_larger_sizes(size, rule):
    make, d, l, r = size
    V = make(d, l, np.random.default_rng(7))
    assert_same_picks(V, r, rule)


@pytest.mark.exact
@swept(
    ("make", "d", "l", "r"),
    [(heavy, 600, 100, 300)],
    [(heavy, 1500, 150, 600), (orthonormal, 1500, 150, 600)],
)
def test_equals_the_reference_at_ranks_in_the_hundreds(make, d, l, r):
    """Through many decompositions; of the heavy-tailed rows the fresh ones run out, and
    hundreds are drawn again.
    """
    V = make(d, l, np.random.default_rng(3))
    selection = assert_same_picks(V, r, "largest-norm")
    assert (selection.n_selected < r) == (make is heavy)
    assert holds(V, selection, l, r)


@exact_rules
def test_with_more_draws_than_features_repeats_are_merged(rule):
    V = heavy(12, 4, np.random.default_rng(3))
    selection = assert_same_picks(V, 50, rule)
    assert selection.n_draws == 50 and selection.n_selected <= 12
    assert len(set(selection.indices)) == selection.n_selected


@pytest.mark.exact
@exact_rules
def test_equals_the_reference_through_a_row_space_and_a_target_rank(rule):
    X = table(20, 90)
    for space in (row_space(X), row_space(X, rank=7)):
        fast = bss(space, 30, rule)
        literal = bss_reference(space.basis(), 30, rule)
        assert_array_equal(fast.indices, literal.indices)
        assert_allclose(fast.weights, literal.weights, rtol=1e-8)


@swept("seed", [0], [1, 2, 3])
@every_rule
def test_sparse_data_give_the_picks_of_dense_data(rule, seed):
    X = sparse_table(seed=seed)
    dense = bss(row_space(X.toarray()), 60, rule, random_state=seed)
    for form in (sp.csr_array, sp.csc_matrix):
        sparse = bss(row_space(form(X)), 60, rule, random_state=seed)
        assert_array_equal(sparse.indices, dense.indices)
        assert_allclose(sparse.weights, dense.weights, rtol=1e-8)


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
    selection = assert_same_picks(V, 24, "largest-norm")
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
    assert_same_picks(V, 1200, "largest-norm")
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
        assert_same_picks(V, len(V), "largest-norm")
        assert_same_picks(V, V.shape[1] + 3, "largest-norm")


@every_rule
def test_indices_stand_in_the_order_picked(rule):
    V = heavy(90, 5, np.random.default_rng(1))
    picked = [i for _, _, i in steps(V, 20, rule) if i is not None]
    assert_array_equal(
        bss(V, 20, rule, random_state=0).indices, list(dict.fromkeys(picked))
    )


def test_columns_already_taken_come_last():
    """With r = d every column is wanted; a column is repeated only where no other is
    feasible.
    """
    V = orthonormal(40, 5, np.random.default_rng(0))
    search = LargestNormRule(RowSpace.from_basis(V), None)
    barriers = Barriers(5, 40)
    repeats = 0
    for _ in range(40):
        lower, upper = barriers.lower_upper(V)
        feasible = upper <= lower
        fresh = search.fresh.copy()
        i, v = search.pick(barriers)
        assert feasible[i]
        repeats += not fresh[i]
        assert fresh[i] or not np.any(feasible & fresh)
        search.fresh[i] = False
        barriers.add(v)
    assert repeats > 0


@every_rule
def test_negligible_columns_are_never_picked(rule):
    V = heavy(50, 4, np.random.default_rng(5))
    V[::3] *= 1e-17
    V = np.linalg.qr(V)[0]
    V[::3] = 1e-17 * np.sign(V[::3])
    selection = bss(V, 45, rule, random_state=0)
    assert not np.isin(selection.indices, np.arange(0, 50, 3)).any()
    assert NEGLIGIBLE > 4e-34


def test_sampled_is_reproducible():
    V = heavy(400, 10, np.random.default_rng(1))
    first = bss(V, 30, "sampled", random_state=5)
    second = bss(V, 30, "sampled", random_state=5)
    assert_array_equal(first.indices, second.indices)
    assert_array_equal(first.weights, second.weights)
    assert not np.array_equal(
        first.indices, bss(V, 30, "sampled", random_state=6).indices
    )
    state = np.random.RandomState(5)
    assert_array_equal(bss(V, 30, "sampled", random_state=state).indices, first.indices)


@pytest.mark.parametrize("seed", range(20))
def test_sampled_keeps_the_promise(seed):
    rng = np.random.default_rng(seed)
    l = int(rng.integers(1, 12))
    d = int(rng.integers(l + 2, 300))
    r = int(rng.integers(l + 1, 4 * l + 3))
    V = (heavy, orthonormal)[seed % 2](d, l, rng)
    assert holds(V, bss(V, r, "sampled", random_state=seed), l, r)


def test_sampled_looks_at_all_columns_where_its_block_holds_none_feasible(calls):
    """Nearly all leverage lies on columns that are infeasible soon, so blocks drawn by
    leverage miss the others.
    """
    V = np.zeros((400, 6))
    V[:5, :5] = np.eye(5)
    V[5:, 5] = 1 / np.sqrt(395)
    selection = bss(V, 40, "sampled", random_state=0)
    assert holds(V, selection, 6, 40)
    V = heavy(9, 8, np.random.default_rng(0))
    selection = bss(V, 9, "sampled", random_state=0)
    assert holds(V, selection, 8, 9)
    assert calls["full"] > 0


def test_a_full_scan_goes_over_several_blocks():
    V = two_frames(8192, 6)
    search = ColumnSearch(RowSpace.from_basis(V), None)
    barriers = Barriers(6, 12)
    for i in (0, 9000, 3):
        barriers.add(V[i])
    slack, i = search.largest_slack(barriers, search.usable)
    lower, upper = barriers.lower_upper(V)
    # slacks are compared on a grid of six digits
    assert_allclose(slack, np.max(lower - upper), rtol=2.0**-SLACK_BITS)
    assert i == np.argmax(round_ties(lower - upper, SLACK_BITS))


@swept(("ell", "more"), [(64, 8), (96, 1)], [(64, 1), (96, 4), (128, 2), (128, 8)])
def test_ties_close_to_the_fewest_draws_are_settled_alike(ell, more):
    """512 columns of equal norm, r hardly above l: slacks tie exactly, and the single
    inverse loses digits.
    """
    V = scipy.linalg.hadamard(512)[:, :ell] / 512**0.5
    slow = bss_reference(V, ell + more, "best")
    fast = bss(V, ell + more, "best")
    assert_array_equal(fast.indices, slow.indices)


def test_float32_data_are_searched_by_float64_norms():
    """Norms that differ in the eighth digit: float32 scores would tie or turn round
    what float64 rows decide.
    """
    rng = np.random.default_rng(0)
    # no two rows are equal up to the sign
    H = scipy.linalg.hadamard(512)[:, [0, *2 ** np.arange(9)]] / 512**0.5
    V = np.linalg.qr(H * (1 + 3e-8 * rng.uniform(-1, 1, (512, 1))))[0]
    space = row_space((np.diag(np.linspace(1, 2, 10)) @ V.T).astype(np.float32))
    for rule in ("largest-norm", "best"):
        assert_array_equal(
            bss(space, 40, rule).indices, bss_reference(space.basis(), 40, rule).indices
        )


@exact_rules
def test_generic_data_never_need_the_last_resort(calls, rule):
    bss(heavy(300, 10, np.random.default_rng(2)), 25, rule)
    assert calls == {"all": 0, "full": 0}


# ---------------------------------------------------------------- the barrier argument


def steps(V, r, rule="largest-norm", seed=0):
    """The states of a run: the barriers before each pick, with the search and the pick;
    at the end no pick.
    """
    space = RowSpace.from_basis(V)
    search = BSS_RULES[rule](space, np.random.RandomState(seed))
    barriers = Barriers(V.shape[1], r)
    for _ in range(r):
        i, v = search.pick(barriers)
        yield barriers, search, i
        search.fresh[i] = False
        barriers.add(v)
    yield barriers, search, None


THEORY = [
    (orthonormal(60, 6, np.random.default_rng(0)), 7),
    (orthonormal(60, 6, np.random.default_rng(0)), 60),
    (heavy(80, 9, np.random.default_rng(1)), 20),
    (heavy(30, 1, np.random.default_rng(2)), 12),
    (hadamard(64, 5), 9),
    (stacked_identities(4, 6), 15),
    (heavy(500, 70, np.random.default_rng(3)), 90),
]
each_theory = pytest.mark.parametrize(
    "V, r",
    THEORY,
    ids=lambda a: "x".join(map(str, a.shape)) if hasattr(a, "shape") else str(a),
)


@every_rule
@each_theory
def test_the_spectrum_stays_between_the_barriers(V, r, rule):
    root = np.sqrt(r * V.shape[1])
    delta_U = (np.sqrt(r) + np.sqrt(V.shape[1])) / (np.sqrt(r) - np.sqrt(V.shape[1]))
    for tau, (barriers, _, _) in enumerate(steps(V, r, rule)):
        assert barriers.L == pytest.approx(tau - root) and barriers.U == pytest.approx(
            delta_U * (tau + root)
        )
        lam = np.linalg.eigvalsh(barriers.A)
        # A lower barrier below zero is kept trivially; above it the gap must be real.
        assert barriers.L < lam[0] and lam[-1] < barriers.U
        assert barriers.L + 1 < lam[0] and lam[-1] < barriers.U + barriers.delta_U
    assert tau == r
    factor = (1 - np.sqrt(V.shape[1] / r)) / r
    promise = bss_promise(V.shape[1], r)
    assert_allclose(
        [factor * barriers.L, factor * barriers.U],
        [-promise.lower, promise.upper] * np.array([-1, 1]),
        atol=1e-12,
    )


@each_theory
def test_a_feasible_column_exists_at_every_step(V, r):
    for barriers, _, i in steps(V, r):
        lower, upper = barriers.lower_upper(V)
        assert np.sum(lower) >= np.sum(upper)
        assert np.all(upper > 0)
        if i is not None:
            assert upper[i] <= lower[i]


@every_rule
@each_theory
def test_traces_equal_direct_traces_and_never_rise(V, r, rule):
    l = V.shape[1]
    before = (np.inf, np.inf)
    for barriers, _, _ in steps(V, r, rule):
        lam = np.linalg.eigvalsh(barriers.A)
        direct_L = np.sum(1 / (lam - barriers.L))
        direct_U = np.sum(1 / (barriers.U - lam))
        assert_allclose(barriers.trace_L, direct_L, rtol=1e-9)
        assert_allclose(barriers.trace_U, direct_U, rtol=1e-9)
        assert_allclose(
            barriers.below_A.trace, np.sum(1 / (lam - barriers.L - 1)), rtol=1e-9
        )
        assert_allclose(
            barriers.above_A.trace,
            np.sum(1 / (barriers.U + barriers.delta_U - lam)),
            rtol=1e-9,
        )
        assert direct_L <= before[0] * (1 + 1e-9) and direct_U <= before[1] * (1 + 1e-9)
        before = direct_L, direct_U
    root = np.sqrt(r * l)
    delta_U = barriers.delta_U
    # the balance that makes a feasible column exist
    assert_allclose(1 - l / root, 1 / delta_U + l / (delta_U * root))


@each_theory
def test_the_forms_of_the_fast_version_are_those_of_the_literal_one(V, r):
    for barriers, _, _ in steps(V, r):
        lam, Q = np.linalg.eigh(barriers.A)
        Y = (V @ Q) ** 2
        literal_lower = Y @ lower_coefficients(lam, barriers.L)
        literal_upper = Y @ upper_coefficients(lam, barriers.U, barriers.delta_U)
        lower, upper = barriers.lower_upper(V)
        size = np.abs(literal_lower) + np.abs(literal_upper)
        assert np.all(np.abs(lower - literal_lower) <= 1e-8 * size) and np.all(
            np.abs(upper - literal_upper) <= 1e-8 * size
        )
        C = barriers.slack_matrix()
        assert_allclose(C, C.T, rtol=1e-9, atol=1e-9 * np.abs(C).max())
        assert np.all(
            np.abs(np.einsum("ij,ij->i", V @ C, V) - (literal_lower - literal_upper))
            <= 1e-8 * size
        )


@each_theory
def test_no_slack_rises_by_more_than_the_barriers_say(V, r):
    """`rise` is above the top eigenvalue of the change of C, and not far above it where
    there is room.
    """
    before = None
    ratios = []
    for barriers, _, _ in steps(V, r):
        C = barriers.slack_matrix()
        if before is not None:
            top = np.linalg.eigvalsh(C - before)[-1]
            assert barriers.rise() >= top - 1e-9 * np.abs(C).max()
            ratios.append(barriers.rise() / max(top, 1e-12 * np.abs(C).max()))
        before = C
        Y = (V @ barriers.Q).astype(np.float32)
        lower, upper = barriers.lower_upper(V)
        assert np.all(
            barriers.slack_bound(Y, np.sum(V**2, axis=1))
            >= lower - upper - 1e-9 * (lower + upper)
        )
        assert barriers.below_A.norm_bound >= (1 - 1e-9) / (
            np.linalg.eigvalsh(barriers.A)[0] - barriers.a
        )
        assert barriers.above_A.norm_bound >= (1 - 1e-9) / (
            barriers.b - np.linalg.eigvalsh(barriers.A)[-1]
        )
    assert V.shape[1] == 1 or np.median(ratios) < 10


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
            sparsification, "eigh", MagicMock(side_effect=np.linalg.LinAlgError)
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
    for barriers, search, i in steps(V, 240):
        out = search.usable & (search.infeasible_until > search.risen)
        lower, upper = barriers.lower_upper(V)
        if i is not None:  # what was noted up to this pick
            assert np.all((lower < upper)[out])
            skipped = skipped + out.sum()
            judged = judged + (~out).sum()
    assert skipped > judged / 5


def test_a_step_moves_A_by_the_weight_it_returns():
    V = heavy(40, 5, np.random.default_rng(4))
    barriers = Barriers(5, 11)
    lower, upper = barriers.lower_upper(V)
    t = barriers.add(V[3])
    assert t == pytest.approx(2 / (lower[3] + upper[3]))
    assert_allclose(barriers.A, t * np.outer(V[3], V[3]))
    assert barriers.tau == 1


@each_theory
def test_weights_make_the_last_A(V, r):
    """V' R R' V is the last A times (1 - sqrt(l / r)) / r."""
    *_, (barriers, _, _) = steps(V, r)
    R = bss(V, r).R
    assert_allclose(
        (R.T @ V).T @ (R.T @ V),
        barriers.A * (1 - np.sqrt(V.shape[1] / r)) / r,
        rtol=1e-7,
        atol=1e-9,
    )


@pytest.mark.parametrize("l", [1, 2, 49, 50, 51, 99, 130, 250])
def test_inverse_by_halves(l):
    B = np.random.default_rng(l).standard_normal((l, 2 * l))
    M = B @ B.T + 0.1 * np.eye(l)
    before = M.copy()
    H = recursive_inverse(M)
    assert_allclose(H @ M, np.eye(l), atol=1e-9)
    assert_allclose(H, H.T, rtol=1e-8, atol=1e-12)
    assert_array_equal(M, before)
    for flaw in (-M, M - 1.01 * np.linalg.eigvalsh(M)[0] * np.eye(l)):
        with pytest.raises(FloatingPointError, match="met the barrier"):
            recursive_inverse(flaw)


def test_a_basis_that_is_not_orthonormal_meets_a_barrier():
    """Two equal columns: their sizes pass the check of sizes, and the barriers find
    them out.
    """
    q = np.full((50, 1), 50**-0.5)
    with pytest.raises((FloatingPointError, ValueError), match="orthonormal"):
        bss(np.hstack([q, q]), 40)


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
    gaps = ()

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


def test_sampled_draws_by_leverage():
    V = heavy(500, 6, np.random.default_rng(0))
    norms = np.sum(V**2, axis=1)

    class Recorder:
        """In place of a generator: the middle of each of 64 equal parts of [0, 1)."""

        def random_sample(self, size):
            return (np.arange(size) + 0.5) / size

    search = LeverageBlockRule(RowSpace.from_basis(V), Recorder())
    i, v = search.pick(Barriers(6, 12))
    assert_array_equal(v, V[i])
    drawn = np.searchsorted(
        np.cumsum(norms) / norms.sum(), Recorder().random_sample(64)
    )
    assert i in drawn


# ---------------------------------------------------------------- certificates of what
# was picked


@every_rule
def test_certificate_measures_what_the_matrix_R_does(rule):
    V = heavy(120, 7, np.random.default_rng(6))
    selection = bss(V, 18, rule, random_state=0)
    certificate = certify(V, selection, bss_promise(7, 18))
    assert_allclose(certificate.interval, interval(V, selection), rtol=1e-9)
    assert (
        certificate.holds
        and certificate.n_draws == 18
        and certificate.n_features == 120
    )


# ---------------------------------------------------------------- from mixtures of the
# samples

MIXED = {
    "dense": lambda: table(),
    "sparse": lambda: sparse_table(),
    "float32": lambda: table().astype(np.float32),
    "tall": lambda: table(150, 20) @ table(20, 40),
    "rank-deficient": lambda: np.vstack([table(20, 60), table(20, 60)]),
    "huge": lambda: table() * 1e145,
    "tiny": lambda: table() * 1e-145,
    "condition 1e8": lambda: with_condition(20, 80, 1e8, np.random.default_rng(0)),
    "samples of very different length": lambda: (
        table() * np.logspace(0, -9, 30)[:, None]
    ),
}
every_mixed = pytest.mark.parametrize("kind", MIXED)


@every_mixed
def test_as_many_mixtures_as_the_rank_span_the_row_space(kind):
    X = MIXED[kind]()
    space = row_space(X)
    for size in (space.shape[1], 2 * space.shape[1]):
        seen = sketched_row_space(space, size, random_state=0)
        cosines = np.linalg.svd(
            np.asarray(seen.basis()).T @ np.asarray(space.basis()), compute_uv=False
        )
        assert_allclose(cosines, 1, atol=1e-6)


@every_mixed
def test_as_many_mixtures_as_the_rank_keep_the_promise(kind):
    X = MIXED[kind]()
    rank = row_space(X).shape[1]
    for size in (rank, 2 * rank):
        certificate = (
            BSSSelector(rank + 9, rank="full", sketch_size=size, random_state=0)
            .fit(X)
            .certificate_
        )
        promise = bss_promise(rank, rank + 9)
        assert certificate.promise == promise and certificate.holds
        assert (
            promise.lower < certificate.interval[0]
            and certificate.interval[1] < promise.upper
        )


@every_mixed
@pytest.mark.parametrize("size", [1, 4, 12])
def test_fewer_mixtures_keep_what_they_saw_and_are_certified_on_the_whole(kind, size):
    X = MIXED[kind]()
    space = row_space(X)
    selector = BSSSelector(
        space.shape[1] + 5, rank="full", sketch_size=size, random_state=0
    ).fit(X)
    seen = sketched_row_space(space, size, random_state=0)
    certificate = selector.certificate_
    assert seen.shape[1] == size and certificate.rank == space.shape[1]
    assert holds(np.asarray(seen.basis()), selector.sampling_, size, selector.n_draws_)
    assert certificate.promise is None and certificate.holds is None
    if kind in ("dense", "sparse", "tall"):
        measured = interval(right_singular_vectors(X), selector.sampling_)
        assert_allclose(certificate.interval, measured, rtol=1e-6, atol=1e-9)


def test_fewer_mixtures_than_the_rank_may_lose_a_direction():
    # five directions that twenty features share, one that a single feature holds
    X = np.zeros((6, 101))
    X[:5, :100] = np.kron(np.eye(5), np.linspace(1, 1.1, 20))
    X[5, 100] = 1e-3
    lost = (
        BSSSelector(12, rank="full", sketch_size=5, random_state=0).fit(X).certificate_
    )
    kept = (
        BSSSelector(12, rank="full", sketch_size=6, random_state=0).fit(X).certificate_
    )
    assert lost.rank == kept.rank == 6
    assert lost.interval[0] < 1e-12 and kept.interval[0] >= bss_promise(6, 12).lower


def test_mixtures_that_rounding_has_cost_a_direction_are_not_used():
    X = table() * np.logspace(0, -14, 30)[:, None]
    space = row_space(X)
    assert (
        space.shape[1] == 30 and sketched_row_space(space, 60, random_state=0) is space
    )
    assert (
        BSSSelector(45, rank="full", sketch_size=60, random_state=0)
        .fit(X)
        .certificate_.holds
    )


def test_a_target_rank_has_no_promise_from_mixtures():
    X = table()
    certificate = (
        BSSSelector(20, rank=10, sketch_size=100, random_state=0).fit(X).certificate_
    )
    assert certificate.rank == 10 and certificate.promise is None


def test_mixtures_are_drawn_by_random_state():
    X = table()

    def chosen(state):
        return list(BSSSelector(35, sketch_size=8, random_state=state).fit(X).selected_)

    assert chosen(0) == chosen(0) != chosen(1)
    state = np.random.RandomState(0)
    assert chosen(state) == chosen(0) != chosen(state)


@pytest.mark.parametrize("value", [0, -3, 2.5, True, "auto", np.nan])
def test_a_sketch_size_that_is_no_size(value):
    with refused(
        f"sketch_size={value!r} is not possible", "an integer of at least 1, or None"
    ):
        BSSSelector(sketch_size=value).fit(table())


@pytest.mark.parametrize("r", [1, 3, 8, 20, 60])
def test_the_default_rule_is_the_best_column_up_to_the_default_rank(r):
    X = np.random.default_rng(0).standard_normal((30, 150))
    default, best, longest = (
        BSSSelector(r, rule=rule).fit(X) for rule in ("auto", "best", "largest-norm")
    )
    assert BSSSelector(r).get_params()["rule"] == "auto"
    assert_array_equal(default.selected_, best.selected_)
    assert_array_equal(default.weights_, best.weights_)
    assert r < 8 or list(best.selected_) != list(longest.selected_)


@pytest.mark.parametrize("rank", [10, 16, "full"])
def test_the_default_rule_beyond_the_default_rank_is_that_of_the_papers(rank):
    X = np.random.default_rng(0).standard_normal((30, 150))
    at_default_rank = rank == 10
    expected = BSSSelector(
        40, rank=rank, rule="best" if at_default_rank else "largest-norm"
    ).fit(X)
    assert_array_equal(BSSSelector(40, rank=rank).fit(X).selected_, expected.selected_)


def test_the_default_rule_on_blocks_of_features_is_that_of_the_papers():
    X = np.random.default_rng(0).standard_normal((30, 150))
    expected = BSSSelector(40, rule="largest-norm").fit(X)
    assert_array_equal(BSSSelector(40).fit(as_blocks(X)).selected_, expected.selected_)
    tall = X.T @ np.random.default_rng(1).standard_normal((30, 80))
    # blocks of samples, of which memory holds a square root
    expected = BSSSelector(40, rule="best").fit(tall)
    assert_array_equal(
        BSSSelector(40).fit(as_blocks(tall)).selected_, expected.selected_
    )
