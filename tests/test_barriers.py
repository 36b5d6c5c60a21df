"""The barriers of the engine: the argument of the theorem piece by piece."""

import numpy as np
import pytest
from cases import (
    bss_steps,
    each_theory,
    heavy,
    orthonormal,
    swept_seeds,
)
from numpy.testing import assert_allclose, assert_array_equal

from fsel_book.barriers import (
    Barriers,
    LowerBarrier,
    ShiftedInverse,
    SingleDraw,
    StartedBarriers,
    recursive_inverse,
)
from fsel_book.sparsification import bss_promise, lower_and_upper

every_rule = pytest.mark.parametrize("rule", ["largest-norm", "best", "sampled"])


# ---------------------------------------------------------------- two barriers


@every_rule
@each_theory
def test_the_spectrum_stays_between_the_barriers(V, r, rule):
    root = np.sqrt(r * V.shape[1])
    delta_U = (np.sqrt(r) + np.sqrt(V.shape[1])) / (np.sqrt(r) - np.sqrt(V.shape[1]))
    for tau, (barriers, _, _) in enumerate(bss_steps(V, r, rule)):
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
    for barriers, _, i in bss_steps(V, r):
        lower, upper = barriers.judge(V)
        assert np.sum(lower) >= np.sum(upper)
        assert np.all(upper > 0)
        if i is not None:
            assert upper[i] <= lower[i]


@every_rule
@each_theory
def test_traces_equal_direct_traces_and_never_rise(V, r, rule):
    l = V.shape[1]
    before = (np.inf, np.inf)
    for barriers, _, _ in bss_steps(V, r, rule):
        lam = np.linalg.eigvalsh(barriers.A)
        direct_L = np.sum(1 / (lam - barriers.L))
        direct_U = np.sum(1 / (barriers.U - lam))
        assert_allclose(barriers.potential_L, direct_L, rtol=1e-9)
        assert_allclose(barriers.potential_U, direct_U, rtol=1e-9)
        assert_allclose(
            barriers.inverse_L.trace, np.sum(1 / (lam - barriers.L - 1)), rtol=1e-9
        )
        assert_allclose(
            barriers.inverse_U.trace,
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
    for barriers, _, _ in bss_steps(V, r):
        literal_lower, literal_upper = lower_and_upper(
            V, barriers.A, barriers.L, barriers.U, barriers.delta_U
        )
        lower, upper = barriers.judge(V)
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
    for barriers, _, _ in bss_steps(V, r):
        C = barriers.slack_matrix()
        if before is not None:
            top = np.linalg.eigvalsh(C - before)[-1]
            assert barriers.rise() >= top - 1e-9 * np.abs(C).max()
            ratios.append(barriers.rise() / max(top, 1e-12 * np.abs(C).max()))
        before = C
        Y = (V @ barriers.Q).astype(np.float32)
        lower, upper = barriers.judge(V)
        assert np.all(
            barriers.slack_bound(Y, np.sum(V**2, axis=1))
            >= lower - upper - 1e-9 * (lower + upper)
        )
        assert barriers.inverse_L.norm_bound >= (1 - 1e-9) / (
            np.linalg.eigvalsh(barriers.A)[0] - barriers.L_next
        )
        assert barriers.inverse_U.norm_bound >= (1 - 1e-9) / (
            barriers.U_next - np.linalg.eigvalsh(barriers.A)[-1]
        )
    assert V.shape[1] == 1 or np.median(ratios) < 10


@pytest.mark.parametrize("sign", [1, -1], ids=["below", "above"])
def test_a_form_rises_by_the_top_eigenvalue_of_what_a_term_adds(sign):
    """With a barrier below, which a term leaves, and with one above, which it comes
    nearer to.
    """
    rng = np.random.default_rng(0)
    lam = rng.random(8)
    W = rng.standard_normal((8, 3))
    top = np.linalg.eigvalsh(np.diag(lam) + W @ W.T)[-1]
    c = -0.5 if sign > 0 else top + 2
    inverse = ShiftedInverse(lam, W, c, sign)
    for gap in 0.1 * sign, 1.0 * sign, 10.0 * sign:
        for length in 0.1, 1.0:
            y = rng.standard_normal(8)
            y *= length / np.linalg.norm(y)
            grown = ShiftedInverse(lam, np.column_stack([W, y]), c, sign)
            change = grown.square_less_self(gap) - inverse.square_less_self(gap)
            found = inverse.rise(y, inverse.times(y), sign, gap)
            size = np.abs(change).max()
            assert_allclose(found, np.linalg.eigvalsh(change)[-1], atol=1e-10 * size)


def test_a_step_moves_A_by_the_weight_it_returns():
    V = heavy(40, 5, np.random.default_rng(4))
    barriers = Barriers(5, 11)
    lower, upper = barriers.judge(V)
    t = barriers.add(V[3])
    assert t == pytest.approx(2 / (lower[3] + upper[3]))
    assert_allclose(barriers.A, t * np.outer(V[3], V[3]))
    assert barriers.tau == 1


def test_a_price_lowers_the_weight():
    """`1/t` is half-way between upper plus price and lower, and within what the lemmas
    allow as long as the column can afford the price.
    """
    V = heavy(40, 5, np.random.default_rng(4))
    lower, upper = Barriers(5, 11).judge(V)
    i = np.argmax(lower - upper)
    for share in (-1.0, 0.0, 0.5, 1.0):
        barriers = Barriers(5, 11)
        price = share * (lower[i] - upper[i])
        t = barriers.add(V[i], price)
        assert 1 / t == pytest.approx((lower[i] + upper[i] + price) / 2)
        lam = np.linalg.eigvalsh(barriers.A)
        # neither potential has risen
        assert np.sum(1 / (lam - barriers.L)) <= 5 / 55**0.5 * (1 + 1e-9)
        assert np.sum(1 / (barriers.U - lam)) <= (
            5 / 55**0.5 / barriers.delta_U * (1 + 1e-9)
        )


@pytest.mark.parametrize("below", [0.1, 0.5, 0.9])
def test_an_eigenvalue_between_the_barrier_and_its_next_position_is_noticed(below):
    """Rows that leave a direction out cannot raise the eigenvalue 0. With the fifth of
    them `A` is decomposed; then the barrier is this far below 0.
    """
    root = 5 + below
    barriers = Barriers(2, root**2 / 2)
    assert len(barriers.added) == 5
    v = np.array([1.0, 0.0])
    for _ in range(4):
        barriers.add(v)
    with pytest.raises(FloatingPointError, match="An eigenvalue has met a barrier"):
        barriers.add(v)
    assert_allclose(barriers.L, -below)


# ---------------------------------------------------------------- what a search asks


def some_barriers():
    V = orthonormal(60, 4, np.random.default_rng(0))
    start = 3.0 * np.eye(4)
    started = StartedBarriers(start, 3.0 - 8.0, 3.0 + 3.0 * 8.0, 0.5)
    yield V, Barriers(4, 16)
    yield V, LowerBarrier(4, 16)
    yield V, started
    yield np.full((9, 1), 1 / 3), SingleDraw()


@pytest.mark.parametrize("which", range(4))
def test_all_barriers_answer_alike(which):
    """The slack is lower minus upper minus price, by rows and by the matrix, and `add`
    weighs as both say.
    """
    V, barriers = list(some_barriers())[which]
    prices = np.linspace(0, 0.01, len(V))
    for i in range(1 if which == 3 else 9):
        lower, upper = barriers.judge(V)
        assert_allclose(barriers.slack(V), lower - upper)
        assert_allclose(barriers.slack(V, prices), lower - upper - prices)
        C = barriers.slack_matrix()
        assert_allclose(
            np.einsum("ij,jk,ik->i", V, C, V),
            lower - upper,
            rtol=1e-9,
            atol=1e-9 * np.abs(lower).max(),
        )
        if barriers.rotation is not None:
            rotated = V.astype(np.float32) @ barriers.rotation
            bound = barriers.slack_bound(rotated, np.sum(V**2, axis=1))
            assert np.all(bound >= lower - upper)
        upper = np.broadcast_to(upper, len(V))
        t = barriers.add(V[i], prices[i])
        if which == 3:
            assert t == pytest.approx(9)
        else:
            assert 1 / t == pytest.approx((lower[i] + upper[i] + prices[i]) / 2)
            change = np.linalg.eigvalsh(barriers.slack_matrix() - C)[-1]
            assert change <= barriers.rise()


def test_barriers_without_a_rotation_have_no_cheap_bound():
    for barriers in (LowerBarrier(3, 8), SingleDraw()):
        assert barriers.rotation is None
        with pytest.raises(NotImplementedError):
            barriers.slack_bound(np.zeros((1, 3), np.float32), np.ones(1))


@swept_seeds(4, 30)
def test_barriers_started_at_zero_are_those_of_bss(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        ell = int(rng.integers(1, 9))
        r = int(rng.integers(ell + 1, 40))
        V = heavy(60, ell, rng)
        usual = Barriers(ell, r)
        s = np.sqrt(ell / r)
        started = StartedBarriers(np.zeros((ell, ell)), usual.L, usual.U, s)
        for i in rng.permutation(60)[:5]:
            assert_allclose(started.judge(V), usual.judge(V), rtol=1e-9)
            started.add(V[i])
            usual.add(V[i])
        assert_allclose([started.L, started.U], [usual.L, usual.U])


# ---------------------------------------------------------------- one barrier


def test_a_step_moves_one_barrier_by_the_weight_it_returns():
    V = heavy(40, 5, np.random.default_rng(4))
    barrier = LowerBarrier(5, 11)
    lower, _ = barrier.judge(V)
    price = 0.001
    t = barrier.add(V[3], price)
    # half-way between price and lower
    assert 1 / t == pytest.approx((lower[3] + price) / 2)
    assert_allclose(barrier.A, t * np.outer(V[3], V[3]))
    assert barrier.tau == 1 and barrier.L == 1 - 55**0.5


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
