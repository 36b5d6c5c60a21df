"""Kernel machines: duals, fits from scratch and from a warm start, against a conic
solver and from their conditions.
"""

import itertools

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from cases import swept, swept_product
from kernel_cases import (
    KERNELS,
    exact_dual,
    exact_primal,
    kind_of,
    problem,
    raw,
    raw_loss,
    rounding_of_gap,
    thin,
    unit,
)
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

from fsel_book.elimination import CandidateBounds, ReducedKernels
from fsel_book.kernel_machines import (
    BorderedInverse,
    DualPoint,
    EmpiricalRisk,
    NormalSystem,
    active_set_fit,
    cold_fit,
    duality_gap,
    interior_point_fit,
    is_feasible,
    libsvm_fit,
    nearest_feasible,
    product_with_sparse,
    reference_fit,
    violated_conditions,
    warm_started_fit,
)
from fsel_book.kernels import RBFKernel, RunningSums, kernel_of
from fsel_book.losses import LOSSES, EpsilonInsensitive, HuberisedHinge, SmoothedHinge


@pytest.mark.exact
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("number", [False, True])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_interior_point_closes_the_gap_on_low_rank(C, number, intercept):
    for seed in range(3):
        X, loss = thin(seed, C, number)
        K = X @ X.T
        u, value, closed = interior_point_fit(K, loss, intercept)
        assert closed and is_feasible(u, *loss.box(), intercept)
        limit = value - 1e-3 * unit(loss)
        early, bound, _ = interior_point_fit(K, loss, intercept, limit)
        assert limit < bound <= value + 1e-9 * unit(loss)
        assert_allclose(bound, loss.dual(K, early), atol=1e-9 * unit(loss))


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


def test_slopes_where_the_minimiser_is():
    """Squares, in the ball where the minimiser is: |f| <= lam^-1/2, and slopes are at
    most 2 (1 + lam^-1/2).
    """
    rng = np.random.default_rng(0)
    for name in ("squared_error", "squared_hinge"):
        for lam in (1.0, 0.1, 0.01):
            X = rng.uniform(-1, 1, (40, 2))
            y = (
                rng.choice([-1.0, 1.0], 40)
                if name == "squared_hinge"
                else rng.uniform(-1, 1, 40)
            )
            K = RBFKernel(20.0)(X)
            loss = EmpiricalRisk(name, y, 1 / (2 * 40 * lam))
            u = reference_fit(K, loss, False)[0]
            assert lam * (u @ K @ u) <= 1 and np.abs(K @ u).max() <= lam**-0.5
            assert np.abs(loss.slopes(K @ u)).max() <= 2 * (1 + lam**-0.5)
            assert (loss.loss.value(y, np.linspace(-9, 9, 40)) >= 0).all()
            assert loss.loss.value(y, np.zeros(40)).max() <= 1


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


def test_a_fit_is_not_given_up_for_a_point_that_is_not_feasible():
    """Here a guess leaves no room for the sum to be zero; its dual value is above the
    optimum and proves nothing.
    """
    X, kernel, loss, _ = problem(66)
    sums = RunningSums(kernel, X)
    bounds = CandidateBounds(
        ReducedKernels(sums, sums.matrix()),
        loss,
        cold_fit(sums.matrix(), loss, True)[0],
        True,
    )
    K = sums.removals([2])[0]
    optimum = cold_fit(K, loss, True)[1]
    u, value, exact = warm_started_fit(K, loss, bounds.start(2), True, optimum + 0.1)
    assert exact and abs(value - optimum) < 1e-9 * unit(loss) and abs(u.sum()) < 1e-12


def test_broken_names_each_condition():
    loss = EmpiricalRisk("hinge", np.ones(4), 1.0)
    u = np.array([1.5, -0.5, 0.0, 1.0])
    free = np.array([True, True, False, False])
    *_, over, under, rise, fall = violated_conditions(
        loss, u, np.ones(4), free, np.array([0.0, 0.0, 0.5, -0.5])
    )
    assert_array_equal([over, under, rise, fall], np.eye(4, dtype=bool))


def conic_machine(K, loss, intercept):
    """The value of the best machine that a conic solver finds, by a root from
    eigenvectors; None if it gives up.
    """
    values, vectors = np.linalg.eigh(K)
    G = (vectors * np.sqrt(np.maximum(values, 0)))[
        :, values > 1e-15 * len(K) * values[-1]
    ]
    n, r = G.shape
    scale = np.abs(G).max()
    C = loss.C[0]
    smooth = kind_of(loss) == "squared_hinge"
    P = np.diag(np.r_[np.full(r, 1 / scale**2 / C), 0.0, np.full(n, 2.0 * smooth)])
    q = np.r_[np.zeros(r + 1), np.full(n, 1.0 - smooth)]
    rows = np.column_stack([G / scale, np.full(n, float(intercept))])
    minus = -np.eye(n)
    if kind_of(loss) == "epsilon_insensitive":
        A = np.block([[rows, minus], [-rows, minus], [0 * rows, minus]])
        h = np.r_[loss.y + loss.width, -loss.y + loss.width, np.zeros(n)]
    else:
        A = np.block([[-loss.y[:, None] * rows, minus], [0 * rows, minus]])
        h = np.r_[-np.ones(n), np.zeros(n)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    cones = [clarabel.NonnegativeConeT(len(h))]
    found = clarabel.DefaultSolver(
        sp.csc_matrix(P), q, sp.csc_matrix(A), h, cones, settings
    ).solve()
    if found.status != clarabel.SolverStatus.Solved:
        return None
    x = np.array(found.x, dtype=np.longdouble)
    w = x[:r] / scale
    b = x[r] * intercept
    return w @ w / 2 + exact_primal(loss, G.astype(np.longdouble) @ w + b)


@swept_product(
    ("name", "kernel"),
    [
        ("hinge", "linear"),
        ("hinge", "chi2"),
        ("squared_hinge", "rbf"),
        ("squared_hinge", "poly"),
    ],
    ["hinge", "squared_hinge", "epsilon_insensitive"],
    KERNELS,
)
def test_values_are_those_of_a_conic_solver(name, kernel):
    solved = 0
    for data, C, intercept in itertools.product(
        ("breast cancer", "wine", "diabetes"), (1e-2, 1.0, 1e3), (True, False)
    ):
        X, signs, numbers = raw(data, 8)
        loss = raw_loss(name, signs, numbers, C)
        K = kernel_of(kernel, X, "scale", 3, 0.0, None)(X)
        above = conic_machine(K, loss, intercept)
        solved += above is not None
        for u, value, exact in (
            reference_fit(K, loss, intercept),
            cold_fit(K, loss, intercept),
        ):
            assert exact and abs(value - exact_dual(K, loss, u)) < 1e-10 * unit(
                loss
            ) + rounding_of_gap(K, loss, u)
            slack = 1e-8 * unit(loss) + rounding_of_gap(K, loss, u)
            assert above is None or -slack < above - value < slack, (data, C, intercept)
    assert solved >= 9


@swept(
    ("kernel", "features", "intercept"),
    [("chi2", [1, 3], False)],
    [("linear", [0, 1, 2, 6], True)],
)
def test_the_interior_point_does_not_go_in_circles(kernel, features, intercept):
    """Here a corrector that trusts a short first step comes back to where it was, at
    some of the fifty C.
    """
    X, y = load_breast_cancer(return_X_y=True)
    K = kernel_of(kernel, X[::12, :8], "scale", 3, 0.0, None)(X[::12, features])
    for C in 10.0 ** np.arange(2, 7, 0.1):
        assert interior_point_fit(
            K,
            EmpiricalRisk("squared_hinge", np.where(y[::12], 1.0, -1.0), C),
            intercept,
        )[2], C


def test_the_second_solve_takes_rounding_errors_away():
    """Gaussian kernels of low rank and C = 1e6: weights of 1e20, and after one solve a
    sum that is not 0.
    """
    X, signs, _ = raw("wine", 13)
    form = kernel_of("rbf", X, "scale", 3, 0.0, None)
    for features in ([0, 2, 4, 6], [0, 3, 4, 6], [4, 5, 6, 7]):
        assert interior_point_fit(
            form(X[:, features]), EmpiricalRisk("hinge", signs, 1e6), True
        )[2], features


@swept("data", ["wine"], ["breast cancer", "diabetes"])
def test_values_from_a_fit_far_from_rounding(data):
    """Raw features, large C: where u'Ku may be off by more than a tie, the value is
    that of the fit from scratch.
    """
    for name, C in itertools.product(LOSSES, (1e4, 1e6)):
        X, signs, numbers = raw(data, 8)
        loss = raw_loss(name, signs, numbers, C)
        K = X @ X.T
        for intercept in (True, False):
            value = reference_fit(K, loss, intercept)[1]
            assert abs(cold_fit(K, loss, intercept)[1] - value) <= 2 * loss.tie, (
                name,
                data,
                C,
            )


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


def test_the_normal_system_where_one_sample_outweighs_the_rest():
    """The identity is lost beside 1e17, and with it Cholesky's factor. Here w has to be
    orthogonal to the first row.
    """
    G = np.array([[1.0, 1.0], [0.3, -0.2]])
    v = np.array([1.0, -1.0])
    for heavy in (1e12, 1e17, 1e22):
        w, b = NormalSystem(G, np.array([heavy, 2.0]), False).solve(v, 0.0)
        assert_allclose(
            w, v / (1 + (G[1] @ v) ** 2), atol=1e-3 if heavy < 1e17 else 1e-6
        )
        assert b == 0


@swept_product(
    ("kind", "mu", "intercept"),
    [
        *((SmoothedHinge, mu, mu < 1) for mu in (0.02, 1.0, 4.0)),
        *((HuberisedHinge, mu, mu >= 1) for mu in (0.02, 0.5, 4.0)),
    ],
    [SmoothedHinge, HuberisedHinge],
    [0.02, 0.5, 1.0, 4.0],
    [False, True],
)
def test_rounded_hinges_against_a_generic_optimiser(kind, mu, intercept):
    """In the primal, on a root of the kernel matrix; and from a warm start what comes
    out from scratch.
    """
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (50, 4))
    y = np.where(X[:, 0] * X[:, 1] + 0.2 * rng.standard_normal(50) > 0, 1.0, -1.0)
    K = rbf_kernel(X, gamma=0.5)
    near = rbf_kernel(X[:, :3], gamma=0.5)
    risk = EmpiricalRisk(kind(mu), y, rng.uniform(0.5, 2, 50))
    assert risk.sharp and not risk.one_step

    values, vectors = np.linalg.eigh(K)
    G = (vectors * np.sqrt(np.maximum(values, 0)))[:, values > 1e-12]

    def objective(v):
        f = G @ v[:-1] + v[-1] * intercept
        slope = risk.C * risk.slopes(f)
        return v[:-1] @ v[:-1] / 2 + risk.primal(f), np.r_[
            v[:-1] + slope @ G, slope.sum() * intercept
        ]

    options = dict(gtol=1e-8, maxiter=5000)
    found = minimize(
        objective, np.zeros(G.shape[1] + 1), jac=True, method="BFGS", options=options
    )
    for start in (
        np.zeros(50),
        cold_fit(near, risk, intercept)[0],
        reference_fit(K, risk, intercept)[0],
    ):
        u, value, exact = warm_started_fit(K, risk, start, intercept)
        assert exact and is_feasible(u, *risk.box(), intercept)
        assert duality_gap(K, risk, u, intercept) < 2 * risk.gap
        assert_allclose(value, found.fun, rtol=1e-8)
        assert_allclose(value, reference_fit(K, risk, intercept)[1], atol=2 * risk.gap)
        assert_allclose(K @ u, G @ found.x[:-1], atol=1e-3)
