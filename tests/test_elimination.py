"""Elimination: bounds, the same order as the literal algorithm, low ranks, closed forms."""

import itertools

import numpy as np
import pytest
from cases import swept, swept_seeds
from kernel_cases import (
    KERNELS,
    exact_dual,
    exact_primal,
    problem,
    raw,
    raw_loss,
    rounding_of_gap,
    thin,
    unit,
)
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes
from sklearn.metrics.pairwise import rbf_kernel

from fsel_book.elimination import (
    _CandidateBounds,
    _ReducedKernels,
    _tighten,
    _tighten_alone,
    guyon_rfe,
    risk_rfe,
    risk_rfe_reference,
    squared_linear_path,
)
from fsel_book.kernel_machines import (
    EmpiricalRisk,
    _best_intercept,
    _cold_fit,
    _is_feasible,
    _libsvm_fit,
    _reference_fit,
    _warm_started_fit,
    duality_gap,
)
from fsel_book.kernels import (
    LinearKernel,
    RBFKernel,
    RunningSums,
    kernel_of,
)
from fsel_book.losses import LOSSES

SEEDS = range(300)


@pytest.mark.exact
@swept("seed", SEEDS[:60], SEEDS[60:])
def test_same_order_and_values_as_refitting_everything(seed):
    X, kernel, loss, intercept = problem(seed)
    J, values = risk_rfe_reference(X, [loss], kernel, intercept=intercept)
    fast = risk_rfe(X, [loss], kernel, intercept=intercept)
    assert fast.order == J
    assert_allclose(fast.values, values, atol=1e-8 * unit(loss))
    assert fast.left == list(range(X.shape[1], 0, -1))


@pytest.mark.parametrize("seed", SEEDS[::5])
def test_bounds_are_bounds_and_are_attained_by_feasible_points(seed):
    X, kernel, loss, intercept = problem(seed)
    d, sums = X.shape[1], RunningSums(kernel, X)
    reduced = _ReducedKernels(sums, sums.matrix())
    matrices = sums.removals()
    exact = np.array([_cold_fit(K, loss, intercept)[1] for K in matrices])
    bounds = _CandidateBounds(reduced, loss, _cold_fit(reduced.K, loss, intercept)[0], intercept)
    before = bounds.values.copy()
    for stage in (None, lambda: _tighten(bounds, np.arange(d)), lambda: [_tighten_alone(bounds, c) for c in range(d)]):
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


@pytest.mark.exact
@pytest.mark.parametrize("seed", SEEDS[::7])
def test_accepted_fits_satisfy_the_optimality_conditions(seed):
    X, kernel, loss, intercept = problem(seed)
    K = RunningSums(kernel, X).matrix()
    u, value, exact = _cold_fit(K, loss, intercept)
    f = K @ u
    b = _best_intercept(loss, f) if intercept else 0.0
    assert exact and abs(loss.dual(K, u) - value) < 1e-12 * unit(loss)
    assert -1e-12 * unit(loss) <= duality_gap(K, loss, u, intercept) <= 2 * loss.gap
    # Fenchel's inequality, sample by sample: the gap is a sum of these, none below zero
    conjugates = np.array([loss.on(np.array([i])).phi(u[i : i + 1]) for i in range(len(u))])
    one_by_one = loss.C * loss.loss.value(loss.y, f + b) + conjugates
    slack = one_by_one + u * (f + b)
    assert slack.min() > -1e-9 * unit(loss) and slack.max() < 1e-8 * unit(loss)


@pytest.mark.parametrize("name", ["hinge", "squared_hinge", "log_loss"])
@pytest.mark.parametrize("step", [1, 2, 0.4, "adaptive"])
@swept_seeds(2, 4)
def test_classes_steps_and_limits_as_in_the_reference(seeds, name, step):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, 6))
        codes = np.digitize(X[:, 0] + 0.3 * rng.normal(size=40), [-0.5, 0.5])
        losses = [EmpiricalRisk(name, np.where(codes == c, 1.0, -1.0), 3.0) for c in range(3)]
        kernel = RBFKernel(10.0 ** rng.uniform(-1.5, 0))
        rise = np.diff(risk_rfe(X, losses, kernel).values).mean()
        delta = None if seed % 2 else (lambda left, rise=rise: rise * left / 6)
        J, values = risk_rfe_reference(X, losses, kernel, 1, step, delta)
        fast = risk_rfe(X, losses, kernel, 1, step, delta)
        assert fast.order == J
        assert_allclose(fast.values, values, atol=1e-8 * 360)


@pytest.mark.exact
@pytest.mark.parametrize("number", [False, True])
@pytest.mark.parametrize("C", [0.1, 25.0])
def test_low_rank_kernels_go_in_the_order_of_the_reference(C, number):
    X, loss = thin(0, C, number)
    J, values = risk_rfe_reference(X, [loss], LinearKernel(), 8)
    fast = risk_rfe(X, [loss], LinearKernel(), 8)
    assert fast.order == J
    assert_allclose(fast.values, values, atol=1e-8 * unit(loss))


def test_adaptive_steps_take_back_what_costs_too_much():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (80, 24))
    loss = EmpiricalRisk("hinge", np.where(X[:, 0] + X[:, 1] * X[:, 2] > 0, 1.0, -1.0), 5.0)
    one, many = (risk_rfe(X, [loss], RBFKernel(0.3), 0, step) for step in (1, "adaptive"))
    assert set(many.order[-3:]) == set(one.order[-3:]) == {0, 1, 2}
    assert many.left[-4:] == [3, 2, 1, 0] and len(many.left) < 16
    nothing, steps = many.values[-1], zip(many.values, many.values[1:], many.left, many.left[1:], strict=False)
    for before, after, left, fewer in steps:
        assert left - fewer == 1 or after - before <= 0.01 * (nothing - before) + loss.tie
    J, values = risk_rfe_reference(X[:, :10], [loss], RBFKernel(0.3), 1, "adaptive")
    fast = risk_rfe(X[:, :10], [loss], RBFKernel(0.3), 1, "adaptive")
    assert fast.order == J and len(values) == len(fast.values)


@pytest.mark.exact
@pytest.mark.parametrize("seed", range(20))
def test_closed_forms_against_refits(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(10, 60)), int(rng.integers(3, 80))
    X = rng.normal(size=(n, d)) * 10 ** rng.uniform(-1, 1, d)
    if seed % 3 == 0:
        X[:, -1] = X[:, 0]
    if seed % 4 == 0:
        X[:, 1] = 3.0
    y = X @ (rng.normal(size=d) * (rng.random(d) < 0.3)) + rng.normal(size=n)
    C = 10.0 ** rng.uniform(-2, 3) * (rng.uniform(0.5, 2, n) if seed % 5 == 0 else 1)
    loss = EmpiricalRisk("squared_error", y, C)
    intercept, step = bool(seed % 2), [1, 3, 0.2][seed % 3]
    done = squared_linear_path(X, loss, 1, step, None, intercept, block=8)
    assert done.left[-1] == 1 and len(done.order) == d - 1
    for value, left in list(zip(done.values, done.left, strict=True))[:: max(1, d // 8)]:
        K = LinearKernel()(np.delete(X, done.order[: d - left], axis=1))
        assert abs(value - _reference_fit(K, loss, intercept)[1]) < 1e-8 * unit(loss)
    if d < 12:
        assert done.order == risk_rfe_reference(X, [loss], LinearKernel(), 1, step, intercept=intercept)[0]


def test_the_swept_path_is_brought_up_to_date():
    """Ill-conditioned, 300 columns: without the fresh starts the error is 1e-6."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 300)) * 10 ** rng.uniform(-1.5, 1.5, 300)
    loss = EmpiricalRisk("squared_error", X[:, :5].sum(axis=1) + rng.normal(size=60), 1e5)
    done = squared_linear_path(X, loss)
    for value, left in list(zip(done.values, done.left, strict=True))[::20]:
        K = LinearKernel()(np.delete(X, done.order[: 300 - left], axis=1))
        assert abs(value - _reference_fit(K, loss, True)[1]) < 2e-7 * unit(loss)


def test_guyon_is_its_definition():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, 5))
        loss, left = EmpiricalRisk("hinge", np.sign(X[:, 0] * X[:, 1]), 2.0), list(range(5))
        while len(left) > 1:
            K = rbf_kernel(X[:, left], gamma=0.4)
            u = _libsvm_fit(K, loss)
            falls = [u @ (K - rbf_kernel(np.delete(X[:, left], c, axis=1), gamma=0.4)) @ u for c in range(len(left))]
            left.pop(int(np.argmin(falls)))
        assert set(range(5)) - set(guyon_rfe(X, [loss], RBFKernel(0.4)).order) == set(left)


def own_gap(K, loss, u, intercept):
    """The gap between `u` and its own machine, by none of the package's code: the intercept by golden sections."""
    f = K.astype(np.longdouble) @ u.astype(np.longdouble)
    high = np.abs(f).max() + np.abs(loss.y).max() + 60 if intercept else np.longdouble(0)
    low, golden = -high, (np.sqrt(np.longdouble(5)) - 1) / 2
    for _ in range(110):
        width = golden * (high - low)
        left, right = exact_primal(loss, f + high - width), exact_primal(loss, f + low + width)
        low, high = (low, low + width) if left < right else (high - width, high)
    return float(f @ u / 2 + exact_primal(loss, f + (low + high) / 2) - exact_dual(K, loss, u))


EVERY = list(itertools.product(("wine", "breast cancer", "diabetes"), LOSSES, KERNELS))
# On the last of these a fit that stops as soon as its gap is closed is not yet as good as it can be.
FEW = [case for case in EVERY if case[0] == "wine" or case == ("diabetes", "squared_hinge", "linear")]


@pytest.mark.filterwarnings("error")
@swept(("data", "name", "kernel"), FEW, [case for case in EVERY if case not in FEW])
def test_raw_data_at_every_C(data, name, kernel, monkeypatch):
    """Every fit exact, no warning, the order of the literal algorithm."""
    fits, fit = [], _warm_started_fit

    def watched(K, loss, u, intercept, enough=np.inf):
        found = fit(K, loss, u, intercept, enough)
        if found[2]:
            fits.append((K.copy(), found[0]))
        return found

    monkeypatch.setattr("fsel_book.elimination._warm_started_fit", watched)
    for C in 10.0 ** np.arange(-6, 7, 3):
        X, signs, numbers = raw(data, 5)
        loss, intercept = raw_loss(name, signs, numbers, C), bool((data == "wine") ^ (C == 1) ^ (C == 1e6))
        form = kernel_of(kernel, X, "scale", 3, 0.0, None)
        fits.clear()
        fast = risk_rfe(X, [loss], form, intercept=intercept)
        for K, u in fits:
            assert _is_feasible(u, *loss.box(), intercept)
            assert own_gap(K, loss, u, intercept) <= 2 * loss.gap + 1000 * rounding_of_gap(K, loss, u), (data, C)
        assert fast.order == risk_rfe_reference(X, [loss], form, intercept=intercept)[0], (data, C)


def test_values_that_the_sum_over_all_pairs_would_lose():
    """Raw features and C = 1e6: u'Ku cancels to a billionth of its terms; that of the kernel leaves six digits."""
    X, y = load_diabetes(return_X_y=True, scaled=False)
    X, y = X[::10], y[::10] - y[::10].mean()
    loss = EmpiricalRisk("squared_error", y, 1e6)
    exact, fast = squared_linear_path(X, loss), risk_rfe(X, [loss], LinearKernel())
    assert fast.order == exact.order == risk_rfe_reference(X, [loss], LinearKernel())[0]
    assert_allclose(fast.values, exact.values, atol=1e-5 * unit(loss))
