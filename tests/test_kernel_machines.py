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
    raw,
    raw_loss,
    rounding_of_gap,
    thin,
    unit,
)
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer
from sklearn.metrics.pairwise import rbf_kernel

from fsel_book.kernel_machines import (
    EmpiricalRisk,
    NormalSystem,
    duality_gap,
    interior_point_fit,
    is_feasible,
    reference_fit,
)
from fsel_book.kernels import RBFKernel, kernel_of
from fsel_book.losses import LOSSES, HuberisedHinge, SmoothedHinge
from fsel_book.warm_fits import cold_fit, warm_started_fit


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
