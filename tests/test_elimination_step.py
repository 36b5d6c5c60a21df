"""A step of risk-RFE: products, bounds and followed optima against fits from scratch."""

from fractions import Fraction

import numpy as np
import pytest
from cases import swept
from kernel_cases import (
    problem,
    several_risks,
    unit,
)
from numpy.testing import assert_allclose

from fsel_book.elimination_step import (
    CandidateBounds,
    EliminationStep,
    ReducedKernels,
    Tableau,
    best_step_length,
    bound_both,
    bound_by_columns,
    excess_price,
    reduced_products,
    ridge_fit,
    tighten_alone,
    tighten_bounds,
)
from fsel_book.kernel_machines import EmpiricalRisk
from fsel_book.kernels import (
    LinearKernel,
    PolynomialKernel,
    RBFKernel,
    RunningSums,
    removals,
)
from fsel_book.warm_fits import cold_fit, warm_started_fit

SEEDS = range(300)


@swept("seed", SEEDS[:150:5], SEEDS[150::5])
def test_bounds_are_bounds_and_are_attained_by_feasible_points(seed):
    X, kernel, loss, intercept = problem(seed)
    d = X.shape[1]
    sums = RunningSums(kernel, X)
    reduced = ReducedKernels(sums, sums.matrix())
    matrices = removals(kernel, sums.X, sums.S, sums.left)
    exact = np.array([cold_fit(K, loss, intercept)[1] for K in matrices])
    bounds = CandidateBounds(
        reduced, loss, cold_fit(reduced.K, loss, intercept)[0], intercept
    )
    before = bounds.values.copy()
    for stage in (
        None,
        lambda: tighten_bounds(bounds, np.arange(d)),
        lambda: [tighten_alone(bounds, c) for c in range(d)],
    ):
        if stage:
            stage()
        assert (bounds.values <= exact + 1e-9 * unit(loss)).all()
        assert (bounds.values >= before - 1e-12 * unit(loss)).all()
        lo, hi = loss.box()
        for c in range(d):
            u = bounds.start(c)
            assert abs(loss.dual(matrices[c], u) - bounds.values[c]) < 1e-8 * unit(loss)
            assert (u >= lo - 1e-9).all() and (u <= hi + 1e-9).all()
            assert not intercept or abs(u.sum()) < 1e-9 * max(1, abs(u).sum())


@pytest.mark.parametrize("seed", range(30))
def test_the_excess_price_is_an_upper_bound_and_zero_where_bounds_decide(seed):
    rng = np.random.default_rng(seed)
    d = 12
    k = int(rng.integers(1, 12))
    lower = rng.normal(size=d)
    upper = lower + rng.exponential(size=d) * (rng.random(d) < 0.7)
    gone = np.argsort(lower)[:k]
    for _ in range(50):
        price = lower + rng.random(d) * (upper - lower)
        assert (
            price[gone].sum() - np.sort(price)[:k].sum()
            <= excess_price(lower, upper, gone) + 1e-12
        )
    assert excess_price(lower, lower, gone) == 0


@pytest.mark.parametrize("seed", range(0, 60, 2))
def test_a_cut_keeps_its_promise_at_each_size(seed):
    """Of the features that go together the first `m` cost little more than the `m`
    cheapest ones.
    """
    X, kernel, risk, intercept = problem(seed)
    d = X.shape[1]
    sums = RunningSums(kernel, X)
    reduced = ReducedKernels(sums, sums.matrix())
    u, before, _ = cold_fit(reduced.K, risk, intercept)
    exact = np.array(
        [cold_fit(reduced.matrix(c), risk, intercept)[1] for c in range(d)]
    )
    sizes = list(range(d, 0, -1))
    tolerance = 1e-3
    now = EliminationStep(reduced, [risk], [u], intercept, np.empty_like(reduced.K))
    gone = now.cut(sizes, tolerance)
    assert sorted(gone) == list(range(d))
    allowed = tolerance * np.maximum(exact - before, 0).sum()
    for m in sizes:
        above = exact[gone[:m]].sum() - np.sort(exact)[:m].sum()
        assert above <= allowed + m * now.tie + 1e-9 * unit(risk)


@swept(
    ("name", "intercept"),
    [
        ("hinge", True),
        ("squared_hinge", False),
        ("epsilon_insensitive", True),
        ("smoothed_hinge", True),
    ],
    [("hinge", False), ("squared_hinge", True), ("epsilon_insensitive", False)],
)
@pytest.mark.parametrize("shape", [(60, 90), (120, 100), (120, 40)])
def test_the_tableau_leads_to_the_optimum(name, intercept, shape):
    """The path to all optima, guesses to those that they claim; so also where samples
    climb several steps.
    """
    rng = np.random.default_rng(1)
    X = rng.normal(size=shape)
    [risk] = several_risks(name, X, rng)
    sums = RunningSums(LinearKernel(), X)
    reduced = ReducedKernels(sums, sums.matrix())
    u = cold_fit(reduced.K, risk, intercept)[0]
    tableau, lo, hi = Tableau(reduced, risk, u, intercept), *risk.box()
    guessed = 0
    # not of feature 0, which matters: its path is too long
    for c in range(1, shape[1], 4):
        found = [tableau.follow(c), tableau.path(c)]
        K = reduced.matrix(c)
        exact = cold_fit(K, risk, intercept)[1]
        if (guess := tableau.guess(c)) is not None:
            found.append(guess)
        guessed += len(found) > 2
        for v, b in found:
            above = v @ K @ v / 2 + risk.primal(K @ v + b) - exact
            # A long path counts what a change costs, a tiny multiple of the identity,
            # more often.
            assert (
                -1e-9 * unit(risk)
                <= above
                < (1e-7 if shape == (60, 90) else 1e-6) * unit(risk)
            )
            assert (v >= lo - 1e-9).all() and (v <= hi + 1e-9).all()
    # with so few features the path is all there is
    assert guessed > 10 or shape[0] > shape[1]


@pytest.mark.parametrize("name", ["hinge", "epsilon_insensitive"])
def test_bounds_from_the_columns_enclose_the_price(name):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(160, 12))
    [risk] = several_risks(name, X[:-1] if name == "hinge" else X, rng)[:1]
    X = X[: len(risk.y)]
    sums = RunningSums(LinearKernel(), X)
    reduced = ReducedKernels(sums, sums.matrix())
    bounds = CandidateBounds(reduced, risk, cold_fit(reduced.K, risk, True)[0], True)
    for c in range(12):
        bound_by_columns(bounds, risk, c, 1e-3)
        exact = cold_fit(reduced.matrix(c), risk, True)[1]
        assert (
            bounds.values[c] <= exact + 2 * risk.gap
            and exact - 2 * risk.gap <= bounds.upper[c]
        )
        assert (
            bounds.upper[c] - bounds.values[c]
            <= 1e-3 * (exact - bounds.before) + 2 * risk.gap
        )


def test_a_tableau_that_leads_nowhere_gives_the_point_itself(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 50))
    risk = EmpiricalRisk("hinge", np.sign(X[:, 0]), 1.0)
    sums = RunningSums(LinearKernel(), X)
    reduced = ReducedKernels(sums, sums.matrix())
    u = cold_fit(reduced.K, risk, True)[0]
    tableau = Tableau(reduced, risk, u, True)
    for name in ("guess", "path"):
        monkeypatch.setattr(tableau, name, lambda c: None)
    v, b = tableau.follow(3)
    assert_allclose(v, u)
    assert_allclose(
        risk.primal(reduced.K @ v + b) + v @ reduced.K @ v / 2,
        risk.dual(reduced.K, u),
        rtol=1e-7,
    )


@pytest.mark.parametrize("outliers", [0, 1, 7])
def test_gaussian_products_with_values_far_off_form_no_kernel(outliers, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6))
    V = rng.normal(size=(50, 6))
    X[:outliers, 2] += 40.0
    X[:outliers, 4] -= rng.uniform(30, 60, outliers)
    sums = RunningSums(RBFKernel(0.02), X)
    reduced = ReducedKernels(sums, sums.matrix())
    exact = np.stack(
        [
            K @ v
            for K, v in zip(
                removals(sums.kernel, sums.X, sums.S, sums.left), V.T, strict=True
            )
        ],
        axis=1,
    )
    monkeypatch.setattr(ReducedKernels, "matrix", None)
    assert_allclose(
        reduced_products(reduced, V), exact, atol=1e-12 * np.abs(exact).max()
    )


@pytest.mark.parametrize(
    "kernel",
    [LinearKernel(), PolynomialKernel(2, 0.1, 1.0), RBFKernel(0.1)],
    ids=["linear", "polynomial", "Gaussian"],
)
def test_products_of_some_candidates_keep_their_digits(kernel):
    """One feature is so large that nothing is left of the others where it is subtracted
    from the sums.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 5))
    X[:, 3] *= 1e7
    sums = RunningSums(kernel, X)
    reduced = ReducedKernels(sums, sums.matrix())
    for some in ([3], [0, 3], [4, 3, 1], [0, 1]):
        V = rng.normal(size=(30, len(some)))
        exact = np.empty_like(V)
        for c, j in enumerate(some):
            left = X.copy()
            left[:, j] = 0.0
            exact[:, c] = kernel(left) @ V[:, c]
        found = reduced_products(reduced.of(np.array(some)), V)
        # each to the digits that its own kernel has
        assert_allclose(
            found / np.abs(exact).max(axis=0),
            exact / np.abs(exact).max(axis=0),
            atol=1e-9,
        )


def test_a_machine_lost_in_rounding_bounds_nothing():
    """A dual point in the null space of the kernel, so large that its objective is
    rounding of either sign.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 12))
    risk = EmpiricalRisk("hinge", np.sign(X[:, 0] + rng.normal(size=40)), 1.0)
    sums = RunningSums(LinearKernel(), X)
    reduced = ReducedKernels(sums, sums.matrix())
    bounds = CandidateBounds(reduced, risk, cold_fit(reduced.K, risk, True)[0], True)
    V = 1e13 * np.linalg.svd(X.T)[2][-12:].T
    exact = np.array([cold_fit(reduced.matrix(c), risk, True)[1] for c in range(12)])
    bound_both(bounds, risk, np.arange(12), V, np.zeros(12))
    assert (bounds.upper >= exact - 1e-9).all() and (
        bounds.values <= exact + 1e-9
    ).all()


def test_bounds_allow_for_rounding():
    """With `C |x|^2` of 1e16 the values of dual points are rounding of either sign;
    what is fitted is exact.
    """
    rng = np.random.default_rng(2)
    X = 1e8 * rng.uniform(-1, 1, (40, 8))
    risk = EmpiricalRisk("hinge", np.sign(X[:, 0] * X[:, 3]), 1.0)
    sums = RunningSums(LinearKernel(), X)
    reduced = ReducedKernels(sums, sums.matrix())
    now = EliminationStep(
        reduced,
        [risk],
        [cold_fit(reduced.K, risk, True)[0]],
        True,
        np.empty_like(reduced.K),
    )
    now.tighten(np.arange(8))
    exact = np.array([cold_fit(reduced.matrix(c), risk, True)[1] for c in range(8)])
    assert (now.machines[0].values > exact + 1e-6).any() and (
        now.bounds() <= exact + 1e-6
    ).all()
    now.refit(3)
    assert_allclose(now.bounds()[3], exact[3])


def test_the_length_of_a_step_on_a_straight_line():
    step = np.array([[1.0, 1.0, 1.0]])
    pull = np.array([[1e10, -1e10, 1.0]])
    with np.errstate(all="raise"):
        assert best_step_length(step, pull, np.array([[0.0, 0.0, 4.0]])).tolist() == [
            1.0,
            0.0,
            0.25,
        ]


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
    K = removals(kernel, sums.X, sums.S, [2])[0]
    optimum = cold_fit(K, loss, True)[1]
    u, value, exact = warm_started_fit(K, loss, bounds.start(2), True, optimum + 0.1)
    assert exact and abs(value - optimum) < 1e-9 * unit(loss) and abs(u.sum()) < 1e-12


def exact_inverse(M):
    """By Gauss and Jordan, of a positive definite matrix of fractions."""
    n = len(M)
    A = [[*row, *(Fraction(i == j) for j in range(n))] for i, row in enumerate(M)]
    for k in range(n):
        A[k] = [entry / A[k][k] for entry in A[k]]
        for i in range(n):
            if i != k:
                A[i] = [a - A[i][k] * b for a, b in zip(A[i], A[k])]
    return [row[n:] for row in A]


@pytest.mark.parametrize("scale", [1, 1e3, 1e6])
@pytest.mark.parametrize("shape", [(12, 4), (4, 12)], ids=["tall", "wide"])
def test_the_rises_of_a_ridge_are_as_exact_as_it_says(shape, scale):
    """Where one feature is so long that little is left of its diagonal entry, too."""
    n, d = shape
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape)
    X[:, 1] *= scale
    y = rng.standard_normal(n)
    fit = ridge_fit(X, y, 0.5, np.zeros(n))
    rows = [[Fraction(x) for x in row] for row in X.tolist()]
    M = [
        [sum(row[i] * row[j] for row in rows) + (i == j) for j in range(d)]
        for i in range(d)
    ]
    right = [
        sum(row[i] * Fraction(t) for row, t in zip(rows, y.tolist())) for i in range(d)
    ]
    H = exact_inverse(M)
    w = [sum(h * b for h, b in zip(row, right)) for row in H]
    exact = np.array([float(w[j] ** 2 / H[j][j]) for j in range(d)])
    lost = np.abs(fit.w**2 / fit.H.diagonal() / exact - 1)
    assert lost.max() <= 100 * fit.error
