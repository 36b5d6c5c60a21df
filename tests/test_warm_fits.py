"""Fits from a warm start: each move and each inverse by its definition, and where a fit ends."""

import numpy as np
import pytest
from cases import swept
from kernel_cases import (
    rounding_of_gap,
    unit,
)
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

from fsel_book.kernel_machines import (
    EmpiricalRisk,
    duality_gap,
    is_feasible,
    nearest_feasible,
    reference_fit,
)
from fsel_book.kernels import RBFKernel
from fsel_book.losses import LOSSES, EpsilonInsensitive
from fsel_book.warm_fits import (
    BorderedInverse,
    DualPoint,
    active_set_fit,
    cold_fit,
    libsvm_fit,
    pivot_fit,
    product_with_sparse,
    violated_conditions,
    warm_started_fit,
)


@pytest.mark.parametrize("n", [1, 999, 1000, 1400])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.5, 0.9])
def test_a_product_that_reads_some_rows_only(n, share):
    rng = np.random.default_rng(n)
    K = rng.standard_normal((n, n))
    K += K.T
    u = np.where(rng.random(n) < share, rng.standard_normal(n), 0.0)
    assert_allclose(product_with_sparse(K, u), K @ u, rtol=1e-10, atol=1e-10 * n)
    if n >= 1000 and 2 * np.count_nonzero(u) <= n:  # no other row is read
        K[u == 0, :] = np.nan
        assert_allclose(
            product_with_sparse(K, u),
            u[u != 0] @ K[u != 0, :],
            rtol=1e-10,
            atol=1e-10 * n,
        )


def sharp_problem(seed):
    """A kernel matrix, often singular, a sharp loss with weights or without, a feasible
    point far from its optimum.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 80))
    d = int(rng.integers(1, 30))
    X = rng.uniform(-1, 1, (n, d)) * 10.0 ** rng.uniform(-2, 1)
    if seed % 5 == 0:
        X = np.round(X, 1)
    if seed % 7 == 0:
        X[n // 2 :] = X[: n - n // 2]
    if seed % 11 == 0:
        X[:] = 0.0
    K = rbf_kernel(X) if seed % 3 == 0 else X @ X.T
    C = 10.0 ** rng.uniform(-3, 1) * (
        rng.uniform(0.1, 3, n) if seed % 4 == 0 else np.ones(n)
    )
    y = X[:, 0] + 0.3 * rng.standard_normal(n)
    sign = np.where(y > np.median(y), 1.0, -1.0)
    kinds = [
        EmpiricalRisk("hinge", sign, C),
        EmpiricalRisk("epsilon_insensitive", y - y.mean(), C),
        EmpiricalRisk(EpsilonInsensitive(0.0), np.round(y, 1), C),
    ]
    loss = [*kinds, EmpiricalRisk("squared_hinge", sign, C)][seed % 4]
    lo, hi = loss.box()
    intercept = seed % 13 < 8
    start = (
        rng.uniform(np.maximum(lo, -1), np.minimum(hi, 1)) if seed % 2 else np.zeros(n)
    )
    return (
        K,
        loss,
        nearest_feasible(start, lo, hi, 0.0 if intercept else None),
        intercept,
    )


@swept("block", range(3), range(3, 10))
def test_changing_one_entry_at_a_time_reaches_the_optimum(block):
    for seed in range(20 * block, 20 * block + 20):
        K, loss, start, intercept = sharp_problem(seed)
        u, value, exact = active_set_fit(K, loss, start, intercept)
        assert exact and duality_gap(K, loss, u, intercept) < 2 * loss.gap, seed
        assert is_feasible(u, *loss.box(), intercept), seed
        assert value > reference_fit(K, loss, intercept)[1] - 2 * loss.gap, seed
        before = loss.dual(K, start)
        limit = before + 0.5 * (value - before)
        early, bound, done = active_set_fit(K, loss, start, intercept, limit)
        assert is_feasible(early, *loss.box(), intercept), seed
        assert_allclose(bound, loss.dual(K, early), atol=1e-9 * unit(loss))
        assert limit < bound <= value + loss.gap or value - before < 1e-9 * unit(
            loss
        ), seed
        assert not done or bound > value - 2 * loss.gap, seed


def test_every_move_raises_the_dual_and_keeps_its_books(monkeypatch):
    moves = []
    move = DualPoint.move

    def watched(now, rows, moving, d, t):
        before = now.value
        k = move(now, rows, moving, d, t)
        off = now.mu * (now.u - now.centre)
        assert_allclose(
            now.pull, -now.risk.slope(now.u, 0 * now.u) - now.K @ now.u - off, atol=1e-8
        )
        assert_allclose(
            now.value, now.risk.dual(now.K, now.u), atol=1e-9 * unit(now.risk)
        )
        moves.append(now.value - before)
        return k

    monkeypatch.setattr(DualPoint, "move", watched)
    for seed in (1, 2, 5, 9):
        K, loss, start, intercept = sharp_problem(seed)
        active_set_fit(K, loss, start, intercept)
    assert len(moves) > 100 and min(moves) > -1e-9


# the second needs more room than at first
@pytest.mark.parametrize(("size", "leaving"), [(30, 0.45), (100, 0.2)])
def test_the_bordered_inverse_follows(size, leaving):
    rng = np.random.default_rng(0)
    B = rng.standard_normal((size, 12))
    K = B @ B.T
    for intercept in (False, True):
        system = BorderedInverse(K, 1e-3, intercept, [])
        for _ in range(300):
            F = system.F
            if len(F) and rng.random() < leaving:
                system.leave(int(rng.integers(len(F))))
            elif len(F) == size:
                continue
            elif len(F) or not intercept:
                j = int(rng.choice(np.setdiff1d(np.arange(size), F)))
                c = system.column(j)
                z = system.solve(1.0, c)
                system.join(j, z, K[j, j] + 1e-3 - np.r_[[1.0] * intercept, c] @ z)
            else:
                system.fill([int(rng.integers(size))])
            F = system.F
            m = system.m + intercept
            A = K[np.ix_(F, F)] + 1e-3 * np.eye(len(F))
            whole = (
                np.block(
                    [
                        [np.zeros((1, 1)), np.ones((1, len(F)))],
                        [np.ones((len(F), 1)), A],
                    ]
                )
                if intercept
                else A
            )
            if len(F):
                assert_allclose(system.store[:m, :m] @ whole, np.eye(m), atol=1e-6)
                assert_allclose(system.rows[: len(F)], K[F])
        assert len(system.store) > 64 or size == 30


def test_oracles_agree():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    K = rbf_kernel(X)
    y = np.sign(X[:, 0] + rng.normal(size=40))
    for C in (0.1, 10.0):
        loss = EmpiricalRisk("hinge", y, C)
        u = libsvm_fit(K, loss)
        assert duality_gap(K, loss, u, True) < 1e-6 * unit(loss)
        for other in (
            reference_fit(K, loss, False)[0],
            warm_started_fit(K, loss, u, False)[0],
        ):
            assert duality_gap(K, loss, other, False) < 1e-9 * unit(loss)
    u = reference_fit(K, EmpiricalRisk("squared_error", y, 2.0), False)[0]
    assert_allclose(
        u, KernelRidge(alpha=0.25, kernel="precomputed").fit(K, y).dual_coef_, rtol=1e-8
    )


def test_broken_names_each_condition():
    loss = EmpiricalRisk("hinge", np.ones(4), 1.0)
    u = np.array([1.5, -0.5, 0.0, 1.0])
    free = np.array([True, True, False, False])
    *_, over, under, rise, fall = violated_conditions(
        loss, u, np.ones(4), free, np.array([0.0, 0.0, 0.5, -0.5])
    )
    assert_array_equal([over, under, rise, fall], np.eye(4, dtype=bool))


def test_an_entry_does_not_leave_0_where_there_is_no_room():
    """The hinge loss has its box on the side of the label."""
    risk = EmpiricalRisk("hinge", np.array([1.0, -1.0]), 1.0)
    side = np.array([1.0, -1.0])
    free = np.zeros(2, dtype=bool)
    for pull, rises, falls in [
        (1.0, [True, False], [False, False]),
        (-1.0, [False, False], [False, True]),
    ]:
        broken = violated_conditions(risk, np.zeros(2), side, free, np.full(2, pull))
        assert_array_equal(broken.rise, rises)
        assert_array_equal(broken.fall, falls)


@pytest.mark.filterwarnings("error")
@swept("seed", [0], [1, 2, 5])
def test_one_class_of_many_and_few_features(seed):
    """Gaussian kernels of low rank to rounding; hundreds of free samples."""
    for d, C in ((1, 1.0), (2, 10.0)):
        rng = np.random.default_rng(seed)
        label = np.arange(300) % 6
        X = np.round(
            rng.normal(size=(6, d))[label] + 0.8 * rng.normal(size=(300, d)), 2
        )
        K = RBFKernel(0.1)(X)
        for c in range(6):
            loss = EmpiricalRisk("hinge", np.where(label == c, 1.0, -1.0), C)
            u, _, exact = cold_fit(K, loss, True)
            assert exact and duality_gap(
                K, loss, u, True
            ) < 2 * loss.gap + 1000 * rounding_of_gap(K, loss, u)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", LOSSES)
def test_labels_of_one_kind(name, intercept):
    """libsvm refuses them, and the optimum is known: with an intercept no feature is
    needed.
    """
    K = np.eye(5) + 1
    for label in (1.0, -1.0):
        loss = EmpiricalRisk(name, np.full(5, label), 2.0)
        u, value, exact = cold_fit(K, loss, intercept)
        assert exact and duality_gap(K, loss, u, intercept) <= loss.gap
        if intercept and name != "log_loss":
            assert_allclose(u, 0, atol=1e-6)
        if not intercept and name == "hinge":
            assert_allclose(u, label / 6, rtol=1e-9)


def test_only_an_overflow_is_called_one():
    loss = EmpiricalRisk("hinge", np.array([1.0, 1.0, -1.0, -1.0]), 1.0)
    with pytest.raises(
        ValueError, match="C=1 is not possible for an X with kernel values"
    ):
        libsvm_fit(np.full((4, 4), 1e308), loss)
    with pytest.raises(
        ValueError, match="C=1 is not possible for an X with kernel values"
    ):
        libsvm_fit(np.full((4, 4), np.inf), loss)
    with pytest.raises(
        ValueError, match="square matrix|inconsistent numbers of samples"
    ):
        libsvm_fit(np.eye(3), loss)
    with pytest.raises(
        ValueError, match="number of classes has to be greater than one"
    ):
        libsvm_fit(np.eye(2), loss.on(np.arange(2)))


@pytest.mark.parametrize("d", [3, 10])
def test_single_entries_where_nearly_all_samples_are_free(d):
    """One mean for 30 samples and 300 others: f = -1 is optimal, and the pulls differ
    by far less than their level.
    """
    rng = np.random.default_rng(0)
    X = np.vstack([0.1 * rng.normal(size=(30, d)), 3 * rng.normal(size=(300, d))])
    X[30:] -= X[30:].mean(axis=0) - X[:30].mean(axis=0)
    y = np.where(np.arange(330) < 30, 1.0, -1.0)
    loss = EmpiricalRisk("hinge", y, 1.0)
    K = X @ X.T
    u, value, exact = active_set_fit(K, loss, np.where(y > 0, 1.0, -0.1), True)
    assert exact and duality_gap(K, loss, u, True) < 2 * loss.gap
    assert_allclose(value, 60, rtol=1e-9)


def test_an_entry_at_a_bound_leaves_it_where_that_gains_more_than_the_width():
    """With the loss that is zero up to 0.3: below 0 a step up gains the pull and the
    width, above 0 a step down loses what the pull has beyond the width.
    """
    risk = EmpiricalRisk(EpsilonInsensitive(0.3), np.ones(6), 1.0)
    lo, hi = risk.box()
    width = risk.width
    assert width > 0
    free = np.zeros(6, dtype=bool)
    for pull, rises, falls in [
        (2 * width, [True, True, False], [False, False, False]),
        (0.5 * width, [False, True, False], [False, False, True]),
        (-0.5 * width, [False, True, False], [False, False, True]),
        (-2 * width, [False, False, False], [True, False, True]),
    ]:
        u = np.array([0.0, lo[1], hi[2], 0.0, lo[4], hi[5]])
        broken = violated_conditions(risk, u, np.sign(u), free, np.full(6, pull))
        assert_array_equal(broken.rise, 2 * rises)
        assert_array_equal(broken.fall, 2 * falls)


@pytest.mark.parametrize("epsilon", [0.3, 0.0])
def test_a_point_knows_which_entries_may_leave_their_bounds(epsilon):
    """Up and down from 0, and inwards from either end of the box, by what the jump at 0
    leaves of the pull; so also where entries are stopped one by one.
    """
    risk = EmpiricalRisk(EpsilonInsensitive(epsilon), np.ones(4), 1.0)
    lo, hi = risk.box()
    width = risk.width
    u = np.array([0.0, lo[1], hi[2], hi[3] / 2])
    fresh = DualPoint(np.eye(4), risk, u.copy(), 1e-7)
    stopped = DualPoint(np.eye(4), risk, np.array([1.0, -1, 1, 1]) * hi / 2, 1e-7)
    for i, upper in [(0, False), (1, False), (2, True)]:
        stopped.stop(i, upper)
    for now in (fresh, stopped):
        assert_array_equal(now.u, u)
        assert_array_equal(now.above, [-width, width, -np.inf, -np.inf])
        assert_array_equal(now.below, [width, np.inf, -width, np.inf])


@pytest.mark.parametrize("upper", [True, False])
def test_an_entry_beyond_its_bound_is_put_there_and_takes_no_other_back(upper):
    """Rounding may have taken it there: it stops at once, and nothing else moves."""
    risk = EmpiricalRisk(EpsilonInsensitive(0.1), np.ones(2), 1.0)
    lo, hi = risk.box()
    now = DualPoint(np.eye(2), risk, hi / 2 if upper else lo / 2, 1e-7)
    end = now.u[0] = hi[0] if upper else lo[0]
    now.u[0] *= 1 + 1e-9
    other = now.u[1]
    value = now.value
    d = np.array([1.0, -1.0]) if upper else np.array([-1.0, 1.0])
    assert now.move(np.eye(2), np.arange(2), d, 0.1) == 0
    assert_array_equal(now.u, [end, other])
    assert now.value == value


@pytest.mark.parametrize("kind", ["hinge", "epsilon_insensitive"])
@pytest.mark.parametrize("intercept", [True, False])
def test_guesses_settle_near_the_optimum(kind, intercept):
    """Where many entries are at their bounds, and stay there, as after a small change
    of the kernel.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8))
    y = X[:, 0] + rng.standard_normal(60)
    risk = EmpiricalRisk(kind, np.sign(y) if kind == "hinge" else y, 1.0)
    u = cold_fit(rbf_kernel(X, gamma=0.1), risk, intercept).u
    assert np.sum(np.isin(u, risk.box()) & (u != 0)) > 10
    K = rbf_kernel(X, gamma=0.101)
    u, value, closed = pivot_fit(K, risk, u, intercept)
    assert closed and is_feasible(u, *risk.box(), intercept)
    assert duality_gap(K, risk, u, intercept) <= risk.gap
    assert_allclose(value, risk.dual(K, u), rtol=1e-9)
