"""Dual random projection: losses, both algorithms as printed, each theorem, the
estimators.
"""

import json
import pickle
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from cases import (
    dense,
    orthonormal,
    refused,
    sparse_table,
    swept,
    swept_product,
    swept_seeds,
    table,
    with_condition,
)
from dual_cases import (
    ALL,
    LOSSES,
    NAMES,
    SQUARES,
    best_offset,
    by_scikit_learn,
    by_scipy,
    certified,
    conjugate_of,
    each_classifier_loss,
    each_loss,
    each_sketch,
    fitted,
    fitted_model,
    labelled,
    oracle,
    targets,
    with_and_without_intercept,
)
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime, minimize_scalar
from scipy.stats import binom, chi2, kstest
from sklearn.base import clone
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
)
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, normalize
from sklearn.svm import LinearSVC

from fsel_book import (
    DualProjectionClassifier,
    DualProjectionRidge,
    RecoveryDisplay,
    dual_projection,
    load_docstrings,
)
from fsel_book.dual_projection import (
    SKETCHES,
    SOLVERS,
    iterate_projections,
    recover_solution,
    relative_error,
)
from fsel_book.dual_solvers import (
    Problem,
    affordable_size,
    newton_solution,
    recovery_step,
)
from fsel_book.losses import Hinge, HuberisedHinge, LogLoss, SmoothedHinge, SquaredError
from fsel_book.progress import Progress
from fsel_book.spectra import at_unit_scale, project_data, projection_matrix

CORNERS = {
    "squared_hinge": [1.0],
    "smoothed_hinge": [0.5, 1.0],
    "huberised_hinge": [0.5, 1.5],
    "narrow": [0.95, 1.0],
    "wide": [-3.0, 1.0],
    "huberised, wide": [-1.0, 3.0],
}
each_solver = pytest.mark.parametrize("solver", SOLVERS)
MODELS = {"classifier": DualProjectionClassifier(), "ridge": DualProjectionRidge()}
both = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


# ---------------------------------------------------------------- oracles


def price(X, y, lam, loss, w, intercept):
    """The objective at w, with the best b."""
    f = X @ w
    b = best_offset(X, y, loss, np.longdouble(f)) if intercept else 0
    return lam / 2 * w @ w + loss.value(y, f + b).sum()


# ---------------------------------------------------------------- data


def warnings_of_fit(model, X, y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    return caught


def fitted_ridge(X, y, *args, silent=False, **keywords):
    return fitted_model(
        DualProjectionRidge(*args, **{"random_state": 0, **keywords}), X, y, silent
    )


# ---------------------------------------------------------------- the losses


def random_targets(name, n, rng):
    return targets(name, rng.choice([-1.0, 1.0], n), rng)


@each_loss
def test_slope_and_curvature_are_derivatives(name):
    loss = ALL[name]
    rng = np.random.default_rng(0)
    h = 1e-6
    y = random_targets(name, 2000, rng)
    s = rng.uniform(-6, 6, 2000)
    assert_allclose(
        loss.slope(y, s),
        (loss.value(y, s + h) - loss.value(y, s - h)) / (2 * h),
        atol=1e-7,
    )
    smooth = np.all(
        [np.abs(y * s - corner) > 2 * h for corner in CORNERS.get(name, [])], axis=0
    )
    curvature = (loss.slope(y, s + h) - loss.slope(y, s - h)) / (2 * h)
    assert_allclose(np.where(smooth, loss.curvature(y, s) - curvature, 0), 0, atol=1e-7)
    for corner in CORNERS.get(name, []):  # no jump of the value nor of the slope
        label = np.array([1.0, 1.0, -1.0, -1.0])
        steps = np.array([-1.0, 1.0, -1.0, 1.0])
        for function in (loss.value, loss.slope):
            found = function(label, label * (corner + 1e-12 * steps))
            assert_allclose(found[::2], found[1::2], atol=1e-10)
        curvature = loss.curvature(label, label * (corner + 1e-9 * steps))
        assert np.all(np.abs(curvature[::2] - curvature[1::2]) > 0.1)
    assert {
        part(y, s).shape
        for part in (loss.value, loss.slope, loss.curvature, loss.conjugate)
    } == {s.shape}


@each_loss
def test_losses_are_convex_and_as_smooth_as_they_say(name):
    loss = ALL[name]
    rng = np.random.default_rng(1)
    y = random_targets(name, 5000, rng)
    s, t = rng.uniform(-6, 6, (2, 5000))
    steepness = (loss.slope(y, s) - loss.slope(y, t)) / (s - t)
    assert steepness.min() >= -1e-12 and steepness.max() <= loss.smoothness * (1 + 1e-9)
    z = np.linspace(-6, 6, 12001)
    steepest = np.max(np.diff(loss.slope(np.ones(12001), z)) / np.diff(z))
    assert steepest == pytest.approx(loss.smoothness, rel=1e-6)  # sharp
    assert loss.curvature(np.ones(12001), z).max() == pytest.approx(
        loss.smoothness, rel=1e-6
    )


@each_loss
@pytest.mark.parametrize("y", [np.float64(1.0), np.float64(-1.0)])
def test_conjugate_is_the_largest_difference(name, y):
    """Of a s - value(s) over s, by a search; outside of the domain that has no end."""
    loss = ALL[name]
    low, high = loss.domain(y)
    for a in -y * np.concatenate([np.linspace(0, 1, 23)[1:-1], [3.0, 1.5, -0.5, -2.0]]):
        far = max(a * s - loss.value(y, np.float64(s)) for s in (-1e5, 1e5))
        assert (low <= a <= high) == (far <= 1e3), a
        if low <= a <= high:
            found = minimize_scalar(
                lambda s, a=a: loss.value(y, s) - a * s,
                bounds=(-50, 50),
                options={"xatol": 1e-9},
            )
            assert loss.conjugate(y, a) == pytest.approx(-found.fun, abs=1e-6), a
    ends = {
        "log_loss": [0, 0],
        "smoothed_hinge": [-0.75, 0],
        "huberised_hinge": [-1, 0],
    }
    if name in ends:
        assert_allclose(loss.conjugate(y, np.array([-y, 0.0])), ends[name], atol=1e-14)


@each_loss
def test_fenchel_young(name):
    loss = ALL[name]
    rng = np.random.default_rng(2)
    label = rng.choice([-1.0, 1.0], 3000)
    s = rng.uniform(-8, 8, 3000)
    y = targets(name, label, rng)
    a = label * rng.uniform(-1.2, 0.3, 3000)
    slopes = loss.slope(y, s)
    assert_allclose(
        loss.value(y, s) + loss.conjugate(y, slopes), s * slopes, rtol=1e-9, atol=1e-9
    )
    gap = loss.value(y, s) + conjugate_of(loss, y, a) - a * s
    assert gap.min() >= -1e-12
    assert np.mean(gap > 1e-3) > 0.9  # and no equality elsewhere


def test_smoothed_hinges_by_their_definitions():
    z = np.linspace(-4, 4, 801)
    b = np.linspace(0, 1, 4001)
    y = np.ones(801)
    hinge = np.maximum(0, 1 - z)
    for mu in (0.05, 0.5, 4.0):
        largest = np.max(b * (1 - z[:, None]) - mu * b**2 / 2, axis=1)
        below = hinge - SmoothedHinge(mu).value(y, z)
        assert_allclose(SmoothedHinge(mu).value(y, z), largest, atol=mu * 1e-7)
        assert below.min() >= -1e-12 and below.max() == pytest.approx(mu / 2)
    for h in (0.1, 0.5, 2.0):
        parabola = (1 + h - z) ** 2 / (4 * h)
        expected = np.where(z > 1 + h, 0, np.where(z < 1 - h, 1 - z, parabola))
        assert_allclose(HuberisedHinge(2 * h).value(y, z), expected, atol=1e-12)
        assert_allclose(
            HuberisedHinge(2 * h).value(y, z),
            SmoothedHinge(2 * h).value(y, z - h),
            atol=1e-12,
        )


def test_values_by_hand():
    z = np.array([-2.0, 0.0, 0.75, 3.0])
    expected = {
        "squared_error": ([9.0, 1.0, 0.0625, 4.0], [-6.0, -2.0, -0.5, 4.0]),
        "squared_hinge": ([9.0, 1.0, 0.0625, 0.0], [-6.0, -2.0, -0.5, 0.0]),
        "smoothed_hinge": ([2.75, 0.75, 0.0625, 0.0], [-1.0, -1.0, -0.5, 0.0]),
        "huberised_hinge": ([3.0, 1.0, 0.28125, 0.0], [-1.0, -1.0, -0.75, 0.0]),
        "log_loss": (np.log(1 + np.exp(-z)), -1 / (1 + np.exp(z))),
    }
    for name, (values, slopes) in expected.items():
        for y in (np.ones(4), -np.ones(4)):
            assert_allclose(ALL[name].value(y, y * z), values, rtol=1e-14)
            assert_allclose(ALL[name].slope(y, y * z), y * slopes, rtol=1e-14)
    assert_allclose(
        SquaredError().value(np.full(4, 5.0), z), [49, 25, 18.0625, 4], rtol=1e-14
    )
    assert_allclose(
        SquaredError().slope(np.full(4, 5.0), z), [-14, -10, -8.5, -4], rtol=1e-14
    )


@each_loss
@pytest.mark.parametrize("size", [1e3, 1e153, 1e308])
def test_losses_of_extreme_arguments(name, size):
    """No overflow but where the value itself is too large for float64."""
    loss = ALL[name]
    y = np.ones(2)
    s = np.array([-size, size])
    squares = name in (*SQUARES, "squared_hinge")
    with np.errstate(
        over="ignore" if squares and size > 1e153 else "raise",
        invalid="raise",
        divide="raise",
    ):
        value = loss.value(y, s)
        slope = loss.slope(y, s)
        curvature = loss.curvature(y, s)
    if squares:
        with np.errstate(over="ignore"):
            assert_allclose(value[0], size**2 if size <= 1e153 else np.inf, rtol=3e-3)
        assert_allclose(slope[0], -2 * size, rtol=2e-3)
        assert curvature[0] == 2
    else:
        assert_allclose(value[0], size, rtol=2e-2)
        assert slope[0] == -1 and curvature[0] == 0
    if name in SQUARES:
        assert_allclose(slope[1], 2 * size, rtol=2e-3)
    else:
        assert value[1] == 0 and slope[1] == 0 and curvature[1] == 0


# ---------------------------------------------------------------- random matrices


@each_sketch
def test_random_matrices(kind):
    for size, m in ((40, 7), (64, 16), (5, 4), (100, 1)):
        R = projection_matrix(size, m, kind, np.random.default_rng(0))
        same = projection_matrix(size, m, kind, np.random.default_rng(0))
        other = projection_matrix(size, m, kind, np.random.default_rng(1))
        assert R.shape == (size, m) and dense(R).dtype == np.float64
        assert sp.issparse(R) == (kind in ("sparse-sign", "countsketch"))
        assert_array_equal(dense(R), dense(same))
        assert np.any(dense(R) != dense(other))
    for m in (40, 41, 1000):
        R = projection_matrix(40, m, kind, np.random.default_rng(0))
        assert sp.issparse(R)
        assert_array_equal(dense(R), np.eye(40))


@swept("draws", [500], [2000])
@each_sketch
def test_random_matrices_are_the_identity_on_average(kind, draws):
    size = 12
    m = 5
    rng = np.random.default_rng(0)
    products = np.array(
        [
            (R := dense(projection_matrix(size, m, kind, rng))) @ R.T
            for _ in range(draws)
        ]
    )
    error = 5 * products.std(axis=0) / np.sqrt(draws) + 1e-12
    assert np.all(np.abs(products.mean(axis=0) - np.eye(size)) <= error)
    entries = np.mean(
        [dense(projection_matrix(size, m, kind, rng)) for _ in range(draws)], axis=0
    )
    assert np.abs(entries).max() < 6 / np.sqrt(m * draws)  # signs are random
    if kind in ("countsketch", "srht"):
        assert_allclose(products[:, range(size), range(size)], 1)  # each time


def test_random_matrices_are_what_they_are_called():
    rng = np.random.default_rng(0)
    R = dense(projection_matrix(300, 40, "countsketch", rng))
    assert_array_equal(
        np.sort(np.abs(R), axis=1)[:, -2:], np.tile([0.0, 1.0], (300, 1))
    )
    assert (
        0.4 < np.mean(R.sum(axis=1) > 0) < 0.6
        and len(np.unique(np.argmax(np.abs(R), axis=1))) > 30
    )
    R = dense(projection_matrix(300, 40, "sparse-sign", rng))
    steps = np.abs(R) * np.sqrt(8)
    assert_allclose(steps, np.round(steps), atol=1e-12)
    assert np.all(steps.sum(axis=1) <= 8 + 1e-9) and np.all(
        np.round(steps.sum(axis=1)) % 2 == 0
    )
    assert np.mean(np.count_nonzero(R, axis=1)) > 6
    R = projection_matrix(64, 16, "srht", rng)
    assert_allclose(np.abs(R), 0.25)
    # distinct columns of a Hadamard matrix
    assert_allclose(R.T @ R, 4 * np.eye(16), atol=1e-12)
    R = projection_matrix(2000, 50, "gaussian", rng)
    assert kstest(np.sqrt(50) * R.ravel(), "norm").pvalue > 1e-3


@each_sketch
def test_random_matrices_keep_a_space(kind):
    """Squared lengths in a generic space of five dimensions, from 400 of 4,000
    features.
    """
    U = orthonormal(4000, 5, np.random.default_rng(0))
    for seed in range(5):
        C = dense(
            project_data(
                U.T, projection_matrix(4000, 400, kind, np.random.default_rng(seed))
            )
        )
        assert np.linalg.norm(C @ C.T - np.eye(5), 2) < 0.5


# ---------------------------------------------------------------- the algorithms as
# printed


@each_classifier_loss
def test_algorithm_1(name):
    """What it returns, from the projection that it drew, by another solver; and how the
    solutions are related.
    """
    loss = LOSSES[name]
    lam = 0.8
    m = 25
    X, y, _ = labelled(30, 80, 0)
    naive, recovered = recover_solution(X, y, lam, loss, m, np.random.default_rng(7))
    R = projection_matrix(80, m, "gaussian", np.random.default_rng(7))
    z = oracle(X @ R, y, lam, name)
    assert relative_error(naive, R @ z) < 1e-5
    assert relative_error(recovered, -X.T @ loss.slope(y, X @ R @ z) / lam) < 1e-5
    assert_allclose(naive, R @ (R.T @ recovered), rtol=1e-8, atol=1e-8)
    exact, _ = newton_solution(X @ R, y, lam, loss)
    dual = loss.slope(y, X @ R @ exact)
    assert_allclose(exact, -(X @ R).T @ dual / lam, atol=1e-8)  # z to its slopes
    assert_allclose(exact, R.T @ recovered, atol=1e-8)
    back = -(X @ R).T @ dual / lam
    assert_allclose(loss.slope(y, X @ R @ back), dual, atol=1e-8)  # and back


def test_equation_15():
    """The squared error in closed form, with R where the paper has S."""
    X, y, _ = labelled(20, 60, 1)
    for m in (3, 15, 40, 60, 100):
        naive, recovered = recover_solution(
            X, y, 1.0, SquaredError(), m, np.random.default_rng(m)
        )
        R = dense(projection_matrix(60, m, "gaussian", np.random.default_rng(m)))
        expected = X.T @ np.linalg.solve(0.5 * np.eye(20) + X @ R @ R.T @ X.T, y)
        assert_allclose(recovered, expected, rtol=1e-7, atol=1e-9)
        assert_allclose(naive, R @ R.T @ expected, rtol=1e-7, atol=1e-8)
    # equation 14
    assert_allclose(
        recovered, X.T @ np.linalg.solve(0.5 * np.eye(20) + X @ X.T, y), rtol=1e-8
    )


@each_classifier_loss
def test_algorithm_2(name):
    """Equation 13 solved by another solver at each step, with the one projection."""
    loss = LOSSES[name]
    lam = 5.0
    m = 60
    steps = 4
    X, y, _ = labelled(20, 80, 2)
    found = iterate_projections(X, y, lam, loss, m, np.random.default_rng(3), steps)
    assert len(found) == steps
    R = projection_matrix(80, m, "gaussian", np.random.default_rng(3))
    w = np.zeros(80)
    for t in range(steps):
        # c = z + R'w of equation 13 stands alone in its penalty, and z'x^ + w'x = c'x^
        # + (x - R x^)'w.
        c = oracle(X @ R, y, lam, name, offset=X @ w - X @ R @ (R.T @ w))
        z = c - R.T @ w
        w = -X.T @ loss.slope(y, X @ R @ z + X @ w) / lam
        assert relative_error(found[t], w) < 1e-4
        w = found[t]
    naive, first = recover_solution(X, y, lam, loss, m, np.random.default_rng(3))
    assert_array_equal(found[0], first)


def test_equation_13_is_what_the_offset_makes_of_it():
    """Its objective at z, by finite differences, is stationary at c - R'w."""
    X, y, rng = labelled(15, 30, 4)
    R = projection_matrix(30, 6, "gaussian", rng)
    w = 0.1 * rng.standard_normal(30)
    lam = 0.9
    loss = LogLoss()
    c, _ = newton_solution(X @ R, y, lam, loss, X @ w - X @ R @ (R.T @ w))

    def equation_13(z):
        return (
            lam / 2 * np.sum((z + R.T @ w) ** 2)
            + loss.value(y, X @ R @ z + X @ w).sum()
        )

    assert_allclose(approx_fprime(c - R.T @ w, equation_13, 1e-6), 0, atol=1e-4)
    assert np.linalg.norm(approx_fprime(c, equation_13, 1e-6)) > 1e-2


# ---------------------------------------------------------------- the theorems, epsilon
# measured


def distance_to_identity(H, Hhat):
    """The spectral norm of `H^-1/2 Hhat H^-1/2 - I`."""
    e, E = np.linalg.eigh(H)
    root = E / np.sqrt(e) @ E.T
    return np.linalg.norm(root @ Hhat @ root - np.eye(len(H)), 2)


class Case:
    """A problem of rank r, a Gaussian projection, both solutions and what the theorems
    speak of.
    """

    def __init__(self, seed, full_rank=False):
        rng = np.random.default_rng(seed)
        self.intercept = bool(seed % 2)
        self.loss = list(ALL.values())[rng.integers(len(ALL))]
        self.n = int(rng.integers(6, 40))
        self.d = int(rng.integers(20, 150))
        self.rank = min(self.n, self.d) if full_rank else int(rng.integers(1, 6))
        A = rng.standard_normal((self.n, self.rank))
        B = rng.standard_normal((self.rank, self.d))
        s = np.arange(1, self.rank + 1) ** -rng.uniform(0, 3)
        self.X = A * s @ B / np.sqrt(self.d)
        self.y = rng.choice([-1.0, 1.0], self.n)
        self.y[:2] = 1, -1
        numbers = rng.standard_normal(self.n)
        if self.loss is ALL["numbers"]:
            self.y = numbers
        self.lam = np.linalg.norm(self.X, 2) ** 2 * 10 ** rng.uniform(-4, 1)
        self.m = int(rng.integers(self.rank, 60 * self.rank + 20))
        self.R = rng.standard_normal((self.d, self.m)) / np.sqrt(self.m)
        self.problem = Problem(self.X, self.y, self.lam, self.loss, self.intercept)
        self.U = np.linalg.svd(self.X, full_matrices=False)[2][: self.rank].T
        c, b = self.problem.on(self.X @ self.U)
        self.w = self.U @ c
        self.a = self.problem.dual(self.X @ self.w + b)
        self.Xhat = self.X @ self.R
        self.z, b = self.problem.on(self.Xhat)
        self.dual = self.problem.dual(self.Xhat @ self.z + b)
        self.naive = self.R @ self.z
        self.recovered = -self.X.T @ self.dual / self.lam
        self.K = self.X @ self.X.T
        self.Khat = self.Xhat @ self.Xhat.T

    def steps(self, count):
        """Of Algorithm 2: dual and primal iterates."""
        u = f = np.zeros(self.n)
        for _ in range(count):
            u = recovery_step(self.problem, self.Xhat, u, f)
            w = self.X.T @ u
            f = self.X @ w
            yield u, w

    @property
    def B(self):
        return self.U.T @ self.R @ self.R.T @ self.U

    @property
    def epsilon(self):
        return np.linalg.norm(self.B - np.eye(self.rank), 2)

    @property
    def H(self):
        return self.K + self.problem.ridge * np.eye(self.n)

    @property
    def full_epsilon(self):
        return distance_to_identity(
            self.H, self.Khat + self.problem.ridge * np.eye(self.n)
        )


size = np.linalg.norm


@swept_seeds(45, 300)
def test_the_inequality_between_the_dual_solutions(seeds):
    """lem-key, of low rank and full, with an intercept and without, whatever epsilon
    is.
    """
    near = []
    for seed in seeds:
        case = Case(seed, full_rank=seed % 3 == 0)
        e = case.dual - case.a
        a = case.a
        left = e @ case.Khat @ e + case.lam / case.loss.smoothness * e @ e
        right = e @ (case.K - case.Khat) @ a
        scale = abs(a @ case.K @ a) + abs(a @ case.Khat @ a)
        assert left <= right + 1e-8 * scale, seed
        near.append(left / right if right > 1e-6 * scale else 0)
        if case.intercept:
            assert abs(e.sum()) < 1e-7 * (1 + size(a))
    assert max(near) > 0.999  # for a quadratic loss an equality
    assert np.mean(np.array(near) > 0.1) > 0.5


@swept_seeds(30, 60)
def test_naive_is_the_projection_of_recovered(seeds):
    for seed in seeds:
        case = Case(seed)
        slack = 1e-7 * size(case.recovered) + 1e-12
        assert size(case.z - case.R.T @ case.recovered) <= slack * (1 + size(case.R, 2))
        assert size(case.naive - case.R @ (case.R.T @ case.recovered)) <= slack * (
            1 + size(case.R, 2) ** 2
        )


@swept_seeds(50, 300)
def test_theorems_1_2_and_4(seeds):
    """Recovery, with the epsilon of the projection at hand; below them the paper's own
    forms.
    """
    held = 0
    tightest = np.zeros(3)
    for seed in seeds:
        case = Case(seed)
        epsilon = case.epsilon
        w = case.w
        if epsilon >= 1:
            continue
        held += 1
        h = size((case.B - np.eye(case.rank)) @ case.U.T @ w)
        assert h <= epsilon * size(w) * (1 + 1e-9)
        errors = (
            size(case.recovered - w),
            size(case.z - case.R.T @ w),
            size(case.U.T @ (case.naive - w)),
        )
        rest = 1 - epsilon
        bounds = (h / rest, h / np.sqrt(rest), np.sqrt((1 + epsilon) / rest) * h)
        for error, limit in zip(errors, bounds):
            assert error <= limit + 1e-6 * size(w), seed
        stated = (epsilon / rest * size(w), epsilon / rest * size(case.R.T @ w))
        assert errors[0] <= stated[0] + 1e-6 * size(w)
        assert errors[1] <= stated[1] + 1e-6 * size(w)
        assert errors[2] <= epsilon * np.sqrt((1 + epsilon) / rest) * size(
            w
        ) + 1e-6 * size(w)
        # the paper's Theorem 4 is weaker
        assert np.sqrt((1 + epsilon) / rest) <= (2 - epsilon) / rest
        tightest = np.maximum(tightest, np.array(errors) / bounds)
    assert held > len(seeds) / 2
    assert np.all(tightest > 0.8)  # and no bound is far off


def test_recovery_is_sharp():
    """The squared error, B = (1 - epsilon) I and lam near 0: the error is epsilon / (1
    - epsilon).
    """
    rng = np.random.default_rng(0)
    r = 4
    d = 60
    epsilon = 0.3
    U = orthonormal(d, r, rng)
    X = rng.standard_normal((20, r)) @ U.T
    y = rng.choice([-1.0, 1.0], 20)
    Xhat = np.sqrt(1 - epsilon) * X @ U
    for lam, least in ((1e-8, 1 - 1e-6), (0.1, 0.95), (100.0, 0.0)):
        problem = Problem(X, y, lam, SquaredError())
        w = U @ problem.on(X @ U)[0]
        recovered = X.T @ recovery_step(problem, Xhat, np.zeros(20), np.zeros(20))
        share = size(recovered - w) / (epsilon / (1 - epsilon) * size(w))
        assert least <= share <= 1 + 1e-6
    lam = 1e-8
    problem = Problem(X, y, lam, SquaredError())
    w = U @ problem.on(X @ U)[0]
    u = f = np.zeros(20)
    for t in range(1, 6):  # and so is the rate
        u = recovery_step(problem, Xhat, u, f)
        f = X @ (X.T @ u)
        assert size(X.T @ u - w) == pytest.approx(
            (epsilon / (1 - epsilon)) ** t * size(w), rel=1e-3
        )


@swept("draws", [120], [400])
def test_theorem_3(draws):
    """The naive solution outside of the row space is chi-squared, and the lower bound
    fails as seldom as told.
    """
    X, y, rng = labelled(40, 400, 0, rank=4)
    X /= size(X, 2)
    U = np.linalg.svd(X, full_matrices=False)[2][:4].T
    lam = 0.05
    m = 150
    t = 1.0
    loss = LogLoss()
    w = U @ newton_solution(X @ U, y, lam, loss)[0]
    parts = []
    missed = 0
    vacuous = 0
    for _ in range(draws):
        R = rng.standard_normal((400, m)) / np.sqrt(m)
        z, _ = newton_solution(X @ R, y, lam, loss)
        naive = R @ z
        parts.append(m * size(naive - U @ (U.T @ naive)) ** 2 / size(z) ** 2)
        epsilon = size(U.T @ R @ R.T @ U - np.eye(4), 2)
        lower = (
            (np.sqrt(400 - 4 - 1) - t)
            / np.sqrt(m)
            * max(0, 1 - 2 * epsilon)
            / np.sqrt(max(0.5, 1 - epsilon))
        )
        vacuous += epsilon >= 0.5
        missed += size(naive - w) < lower * size(w)
    assert kstest(parts, "chi2", args=(396,)).pvalue > 1e-3
    assert vacuous < draws / 10 and missed <= binom.ppf(
        1 - 1e-6, draws, np.exp(-(t**2) / 2)
    )
    # an error of more than the solution's length
    assert np.sqrt(np.mean(parts) / m) > 1.5


@swept("draws", [100], [400])
@pytest.mark.parametrize("full_rank", [False, True])
def test_epsilon_is_as_small_as_told(full_rank, draws):
    """lem-epsilon and its twin: the share of the draws above the bound, whose
    confidence is 1 - delta.
    """
    rng = np.random.default_rng(1)
    d = 80
    ridge = 0.02
    s = np.arange(1.0, 41) ** -1.5 if full_rank else np.ones(6)
    V = orthonormal(d, len(s), rng)
    W = orthonormal(60, len(s), rng)
    weights = s**2 / (s**2 + ridge) if full_rank else np.ones(6)
    dimension = weights.sum()
    largest = np.sqrt(weights.max())
    H = W * (s**2 + ridge) @ W.T + ridge * (np.eye(60) - W @ W.T)
    for m, delta in ((50, 0.5), (200, 0.1), (800, 0.01)):
        extra = np.sqrt(2 * np.log(2 / delta))
        eta = (np.sqrt(dimension) + largest * (full_rank + extra)) / np.sqrt(m)
        bound = 2 * largest * eta + eta**2
        found = []
        for _ in range(draws if m < 800 else draws // 4):
            C = V.T @ rng.standard_normal((d, m)) / np.sqrt(m)
            if full_rank:
                XR = W * s @ C
                found.append(distance_to_identity(H, XR @ XR.T + ridge * np.eye(60)))
            else:
                found.append(size(C @ C.T - np.eye(6), 2))
        assert np.sum(np.array(found) > bound) <= binom.ppf(
            1 - 1e-6, len(found), delta
        ), m
        assert np.median(found) > 0.15 * bound  # of the right size, too


@pytest.mark.parametrize("share, n", [(0.0005, 20000), (0.002, 5000)])
def test_the_printed_inequality_for_projections_fails_and_ours_does_not(share, n):
    """Corollary 11 and Lemma 3 of the paper: many equal singular values far below the
    ridge. Ours is nearly exact.
    """
    rng = np.random.default_rng(0)
    epsilon = 0.5
    delta = 0.01
    dimension = share * n
    largest = np.sqrt(share)
    m = int(np.ceil(32 * share * dimension * np.log(2 * n / delta) / epsilon**2))
    found = [
        share * (size(rng.standard_normal((n, m)), 2) ** 2 / m - 1) for _ in range(10)
    ]
    eta = (
        np.sqrt(dimension) + largest * (1 + np.sqrt(2 * np.log(2 / delta)))
    ) / np.sqrt(m)
    bound = 2 * largest * eta + eta**2
    assert (min(found) > epsilon) == (share < 0.001)
    assert 0.75 * bound < min(found) and max(found) < bound
    if share < 0.001:
        without_the_second_term = 2 * largest * eta
        assert max(found) > 5 * without_the_second_term


def test_theorem_10_of_the_paper_fails_in_one_dimension():
    share = 0.01
    m = 1
    t = 0.5
    event = chi2.sf(m * (1 + t / share), m)  # of 1 - share + share chi^2 / m >= 1 + t
    assert event > 1e20 * np.exp(-m * t**2 / (32 * share * share))


@swept_seeds(30, 200)
def test_theorem_5(seeds):
    """The geometric rate of Algorithm 2, from every iterate; without an intercept by
    the literal function as well.
    """
    held = []
    for seed in seeds:
        case = Case(seed)
        epsilon = case.epsilon
        if epsilon >= 0.5:
            continue
        rate = epsilon / (1 - epsilon)
        for t, (_, w) in enumerate(case.steps(8), start=1):
            assert size(w - case.w) <= (rate**t + 1e-6) * size(case.w), (seed, t)
        held.append(rate)
    assert len(held) > len(seeds) / 5 and max(held) > 0.85 and min(held) < 0.3
    X, y, _ = labelled(30, 200, 1, rank=3)
    U = np.linalg.svd(X, full_matrices=False)[2][:3].T
    for name, loss in LOSSES.items():
        w = U @ newton_solution(X @ U, y, 10.0, loss)[0]
        R = projection_matrix(200, 150, "gaussian", np.random.default_rng(0))
        epsilon = size(U.T @ R @ R.T @ U - np.eye(3), 2)
        assert epsilon < 0.45
        for t, v in enumerate(
            iterate_projections(X, y, 10.0, loss, 150, np.random.default_rng(0), 8),
            start=1,
        ):
            assert relative_error(v, w) <= (epsilon / (1 - epsilon)) ** t + 1e-8, name


@swept_seeds(30, 300)
def test_theorem_6(seeds):
    """Full rank: one step, and the rate in the norm of H, without any assumption on w."""
    one = 0
    rates = []
    for seed in seeds:
        case = Case(seed, full_rank=True)
        epsilon = case.full_epsilon
        w = case.w
        lam = case.lam
        gamma = case.loss.smoothness
        if epsilon >= 1:
            continue
        one += 1
        root = np.sqrt(size(w) ** 2 + size(case.a) ** 2 / (lam * gamma))
        assert size(case.recovered - w) <= epsilon / (1 - epsilon) * root + 1e-6 * size(
            w
        ), seed
        if epsilon >= 0.5:
            continue
        rate = epsilon / (1 - epsilon)
        a = case.a
        first = np.sqrt(a @ case.H @ a)
        for t, (u, w_t) in enumerate(case.steps(8), start=1):
            error = -lam * u - a
            distance = np.sqrt(error @ case.H @ error)
            assert lam * size(w_t - w) <= distance + 1e-6 * first
            assert distance <= (rate**t + 1e-6) * first, (seed, t)
        rates.append(rate)
    assert one > len(seeds) / 2 and len(rates) > len(seeds) / 5 and max(rates) > 0.45


@swept_seeds(50, 100)
def test_theorem_6_as_the_paper_has_it(seeds):
    """With w in the span of k singular vectors: regression whose targets lie in that of
    the left ones.
    """
    held = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n = 20
        d = 70
        k = int(rng.integers(1, 5))
        s = np.arange(1, 16) ** -rng.uniform(0.5, 2)
        W = orthonormal(n, 15, rng)
        V = orthonormal(d, 15, rng)
        X = W * s @ V.T
        lam = 10 ** rng.uniform(-3, 0)
        m = int(rng.integers(20, 400))
        problem = Problem(X, W[:, :k] @ rng.standard_normal(k), 2 * lam, SquaredError())
        w = problem.on(X)[0]
        assert size(V[:, :k].T @ w) == pytest.approx(size(w))
        Xhat = X @ rng.standard_normal((d, m)) / np.sqrt(m)
        epsilon = distance_to_identity(
            X @ X.T + lam * np.eye(n), Xhat @ Xhat.T + lam * np.eye(n)
        )
        if epsilon >= 1:
            continue
        held += 1
        recovered = X.T @ recovery_step(problem, Xhat, np.zeros(n), np.zeros(n))
        limit = epsilon / (1 - epsilon) * np.sqrt(1 + lam / s[k - 1] ** 2)
        assert relative_error(recovered, w) <= limit + 1e-8
    assert held > len(seeds) / 2


# ---------------------------------------------------------------- the accelerated
# solver


def random_problem(seed):
    """A problem of condition 1 to 1e10, with the way to solve it."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 50))
    d = int(rng.integers(3, 100))
    X = with_condition(n, d, 10 ** rng.uniform(0, 10), rng)
    y = np.sign(
        X @ rng.standard_normal(d) * np.sqrt(n)
        + rng.uniform(0, 1) * rng.standard_normal(n)
    )
    y[:2] = 1, -1
    name = list(LOSSES)[seed % 5]
    kind = SKETCHES[seed // 5 % 4]
    intercept = bool(seed // 20 % 2)
    m = "auto" if seed % 7 == 0 else int(rng.integers(1, 1 + 2 * max(n, d)))
    return X, y, 10 ** rng.uniform(-6, 1), name, kind, intercept, m


@swept("part", [0], range(1, 10))
def test_a_thousand_problems(part):
    """Of any condition from 1 to 1e10: right, by long double and for some by another
    solver, or a warning.
    """
    tol = 1e-6
    warned = 0
    for seed in range(100 * part, 100 * part + 100):
        X, y, lam, name, kind, intercept, m = random_problem(seed)
        model = DualProjectionClassifier(
            name,
            lam / 2,
            m,
            sketch=kind,
            tol=tol,
            max_iter=200,
            fit_intercept=intercept,
            random_state=seed,
        )
        caught = warnings_of_fit(model, X, y)
        assert all(w.category is ConvergenceWarning for w in caught), seed
        w = model.coef_[0]
        residual = certified(
            X, y, lam, LOSSES[name], w, 0.0, intercept, model.dual_coef_[0]
        )[1]
        if caught:
            warned += 1
            assert model.residual_history_[-1] > tol and residual > 0.5 * tol, seed
        else:
            assert model.residual_history_[-1] <= tol and residual <= 1.1 * tol, seed
        if seed % 5 == 1 and seed % 3 == 0:
            assert relative_error(
                w, by_scikit_learn(X, y, lam, intercept).coef_[0]
            ) < max(2 * residual, 2 * tol), seed
        if seed % 5 != 1 and seed % 11 == 0 and lam > 1e-3:
            assert relative_error(w, oracle(X, y, lam, name, 0.0, intercept)) < 1e-4, (
                seed
            )
        if intercept:
            loss = LOSSES[name]
            f = X @ w
            least = loss.value(y, f + best_offset(X, y, loss, np.longdouble(f))).sum()
            assert loss.value(y, f + model.intercept_[0]).sum() <= least + 1e-9 * (
                1 + least
            )
    assert warned <= 5


@pytest.mark.parametrize("seed", [927, 2213])
def test_well_conditioned_problems_are_solved(seed):
    """Of condition 5 and 1.5, with as many mixtures of samples as samples."""
    X, y, lam, name, kind, intercept, m = random_problem(seed)
    model = DualProjectionClassifier(
        name,
        lam / 2,
        m,
        sketch=kind,
        tol=1e-6,
        max_iter=1000,
        fit_intercept=intercept,
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    exact, _ = newton_solution(X, y, lam, LOSSES[name], 0.0, intercept)
    assert certified(X, y, lam, LOSSES[name], exact, 0.0, intercept)[1] < 1e-8
    assert relative_error(model.coef_[0], exact) < 1e-3


# ---------------------------------------------------------------- the estimators: what
# they minimise


@pytest.mark.exact
@pytest.mark.parametrize("alpha", [1.0, 50.0])
@with_and_without_intercept
def test_few_features_are_fitted_to_the_last_digits(alpha, intercept):
    """Directions that hardly reach the features: the basis stays orthogonal in the norm
    of `K`.
    """
    X, y, _ = labelled(60, 12, 0)
    model = fitted(X, y, "log_loss", alpha, tol=1e-13, fit_intercept=intercept)
    assert model.n_iter_ <= 4 and model.residual_history_[-1] <= 1e-13


@pytest.mark.exact
@pytest.mark.parametrize("shape", [(60, 12), (40, 300)], ids=["tall", "wide"])
@with_and_without_intercept
def test_the_same_as_scikit_learn(shape, intercept):
    X, y, rng = labelled(*shape, 0)
    t = X[:, 0] * 5 + rng.standard_normal(shape[0]) + 20
    for alpha in (0.05, 1.0, 50.0):
        keywords = {"tol": 1e-9, "fit_intercept": intercept}
        expected = by_scikit_learn(X, y, 2 * alpha, intercept)
        found = fitted(X, y, "log_loss", alpha, **keywords)
        assert relative_error(found.coef_, expected.coef_) < 1e-6
        assert_allclose(found.intercept_, expected.intercept_, rtol=1e-6, atol=1e-8)
        assert_array_equal(found.predict(X), expected.predict(X))
        assert_allclose(
            found.decision_function(X),
            expected.decision_function(X),
            rtol=1e-5,
            atol=1e-6,
        )

        expected = RidgeClassifier(
            alpha, solver="cholesky", fit_intercept=intercept
        ).fit(X, y)
        found = fitted(X, y, "squared_error", alpha, **keywords)
        assert relative_error(found.coef_, np.atleast_2d(expected.coef_)) < 1e-8
        assert_allclose(found.intercept_, expected.intercept_, rtol=1e-7, atol=1e-9)

        expected = Ridge(alpha, solver="cholesky", fit_intercept=intercept).fit(X, t)
        ridge = fitted_ridge(X, t, alpha, **keywords)
        assert ridge.coef_.shape == (shape[1],) and isinstance(
            float(ridge.intercept_), float
        )
        assert relative_error(ridge.coef_, expected.coef_) < 1e-8
        assert ridge.intercept_ == pytest.approx(
            expected.intercept_, rel=1e-8, abs=1e-12
        )
        assert_allclose(ridge.predict(X), expected.predict(X), rtol=1e-7, atol=1e-7)
        assert ridge.score(X, t) == pytest.approx(expected.score(X, t))

        if not intercept:  # LinearSVC penalises its own
            expected = LinearSVC(
                C=1 / (2 * alpha), fit_intercept=False, tol=1e-10, max_iter=100_000
            ).fit(X, y)
            found = fitted(X, y, "squared_hinge", alpha, **keywords)
            assert relative_error(found.coef_, expected.coef_) < 1e-5


@pytest.mark.exact
@pytest.mark.parametrize("loss", ["squared_hinge", "smoothed_hinge", "huberised_hinge"])
def test_the_same_as_a_quadratic_program(loss):
    X, y, _ = labelled(25, 60, 0)
    for intercept in (False, True):
        found = fitted(X, y, loss, 2.0, tol=1e-9, fit_intercept=intercept)
        assert (
            relative_error(found.coef_[0], oracle(X, y, 4.0, loss, 0.0, intercept))
            < 1e-5
        )
        by_object = fitted(X, y, LOSSES[loss], 2.0, tol=1e-9, fit_intercept=intercept)
        assert_array_equal(by_object.coef_, found.coef_)
    narrow = fitted(X, y, ALL["narrow"], 2.0, tol=1e-9)
    assert (
        relative_error(narrow.coef_[0], oracle(X, y, 4.0, "narrow", 0.0, True)) < 1e-5
    )


@swept_product(
    ("m", "kind"),
    [
        (1, "gaussian"),
        (5, "srht"),
        (40, "sparse-sign"),
        (299, "countsketch"),
        (300, "srht"),
        (1000, "gaussian"),
        *(("auto", kind) for kind in SKETCHES),
    ],
    [1, 5, 40, 299, 300, 1000, "auto"],
    SKETCHES,
)
def test_any_number_of_projections(m, kind):
    """They set the speed only, from one to more than there are features or samples."""
    X, y, _ = labelled(40, 300, 1)
    exact = fitted(X, y, tol=1e-11).coef_
    found = fitted(X, y, n_projections=m, sketch=kind, tol=1e-7)
    assert relative_error(found.coef_, exact) < 2e-7
    assert 1 <= found.n_projections_ <= (40 if m == "auto" else min(m, 40))
    t = X[:, :3].sum(axis=1)
    ridge = fitted_ridge(X, t, n_projections=m, sketch=kind, tol=1e-7)
    assert relative_error(ridge.coef_, Ridge(solver="cholesky").fit(X, t).coef_) < 2e-7


@swept_product(
    ("m", "intercept"),
    [(1, True), (5, False), (40, True), (1000, False), ("auto", True)],
    [1, 5, 40, 1000, "auto"],
    [False, True],
)
def test_any_number_of_features_of_sparse_data(m, intercept):
    """The longest features in place of mixtures: the same solution, and it does not
    depend on the random state.
    """
    X, y, _ = labelled(40, 300, 1)
    X = sp.csr_array(np.where(np.abs(X) > 1, X, 0))
    exact = fitted(X.toarray(), y, tol=1e-11, fit_intercept=intercept).coef_
    found = [
        fitted(
            X, y, n_projections=m, fit_intercept=intercept, tol=1e-7, random_state=seed
        )
        for seed in (0, 1)
    ]
    assert relative_error(found[0].coef_, exact) < 2e-7
    assert_array_equal(found[0].coef_, found[1].coef_)
    assert found[0].n_projections_ == (
        affordable_size(X) if m == "auto" else min(m, 300)
    )
    mixed = fitted(
        X, y, n_projections=m, fit_intercept=intercept, tol=1e-7, sketch="countsketch"
    )
    assert (
        mixed.n_projections_ <= (8 if m == "auto" else 40)
        and relative_error(mixed.coef_, exact) < 2e-7
    )
    t = X[:, :3].sum(axis=1)
    ridge = fitted_ridge(X, t, n_projections=m, fit_intercept=intercept, tol=1e-7)
    assert (
        relative_error(
            ridge.coef_, Ridge(fit_intercept=intercept, tol=1e-10).fit(X, t).coef_
        )
        < 2e-7
    )


@each_classifier_loss
@swept("load", [load_wine, load_breast_cancer], [load_digits, load_iris])
def test_more_samples_than_features(load, name):
    """Few steps with default arguments: all features are the surrogate, and a gap that
    stays open does not matter.
    """
    X, y = load(return_X_y=True)
    model = fitted(X, y, name)  # a warning is an error
    assert model.n_projections_ == X.shape[1] and model.n_iter_ <= 40
    for k, (coef, u) in enumerate(zip(model.coef_, model.dual_coef_)):
        signs = np.where(
            y == model.classes_[k if len(model.classes_) > 2 else 1], 1.0, -1.0
        )
        assert certified(X, signs, 2.0, LOSSES[name], coef, 0.0, True, u)[1] <= 1.1e-4


def tall():
    X = np.random.default_rng(0).standard_normal((2000, 300))
    return X, np.sign(X[:, 0] + 0.5 * np.random.default_rng(1).standard_normal(2000))


def test_a_gap_that_stays_open_ends_no_search():
    """A part of `u` that X' takes to zero is no error of `w`: the gradient tells, once
    the objective has settled.
    """
    X, y = tall()
    model = fitted(X, y, "log_loss", 20.0, n_projections=60)
    assert model.n_iter_ <= 40
    assert (
        certified(X, y, 40.0, LOSSES["log_loss"], model.coef_[0], 0.0, True)[1]
        <= 1.1e-4
    )


def test_the_gap_of_the_linear_system_closes():
    """With the squared error that part is an unknown of the system like the rest."""
    X, y = tall()
    model = fitted(X, y, "squared_error", 20.0, n_projections=60)
    assert model.n_iter_ <= 40 and model.residual_history_[-1] <= 1e-4
    exact = Ridge(20.0, solver="svd").fit(X, y).coef_
    assert relative_error(model.coef_[0], exact) <= model.residual_history_[-1]
    assert (
        certified(
            X,
            y,
            40.0,
            LOSSES["squared_error"],
            model.coef_[0],
            0.0,
            True,
            model.dual_coef_[0],
        )[1]
        <= 1.1e-4
    )


@swept("shape", [(300, 600)], [(300, 3000), (120, 300)])
@pytest.mark.parametrize("name", ["squared_hinge", "smoothed_hinge", "huberised_hinge"])
def test_slopes_with_corners_on_wide_data(name, shape):
    """Where all samples can be fitted, decision values end near corners: few steps more
    than conjugate gradients.
    """
    X = np.random.default_rng(0).standard_normal(shape)
    y = np.sign(X[:, 0] + 0.5 * np.random.default_rng(1).standard_normal(shape[0]))
    steps = fitted(X, y, name).n_iter_
    assert steps <= 1.3 * fitted(X, y, "squared_error").n_iter_ + 5


@pytest.mark.parametrize("mean", [1e3, 1e9])
def test_targets_far_from_zero(mean):
    """Their mean is the intercept's: it costs no digits, and a target that does not
    vary leaves nothing to fit.
    """
    X, y = load_diabetes(return_X_y=True)
    near = fitted_ridge(X, y, tol=1e-9)
    far = fitted_ridge(X, y + mean, tol=1e-9)
    assert relative_error(far.coef_, near.coef_) < 1e-9 + 1e-15 * mean
    assert far.intercept_ - mean == pytest.approx(near.intercept_, abs=1e-6)
    same = fitted_ridge(X, np.full(len(y), mean))
    assert not same.coef_.any() and same.intercept_ == mean


def test_the_longest_words_save_steps():
    """On documents, whose words differ in length: fewer steps than with mixtures of
    documents.
    """
    data = load_docstrings()
    X = normalize(data.data.astype(float))
    y = np.where(data.target == data.target[0], 1.0, -1.0)
    for model in (
        DualProjectionClassifier(alpha=0.5, tol=1e-6),
        DualProjectionRidge(tol=1e-6),
    ):
        model.set_params(random_state=0)
        mixed = clone(model).set_params(sketch="countsketch").fit(X, y)
        assert model.fit(X, y).n_iter_ <= 0.85 * mixed.n_iter_


@pytest.mark.exact
@each_classifier_loss
def test_what_is_left_by_fit(name):
    X, y, _ = labelled(50, 120, 2)
    model = fitted(X, y, name, 0.7, tol=1e-6)
    assert (
        model.coef_.shape == (1, 120)
        and model.intercept_.shape == (1,)
        and model.dual_coef_.shape == (1, 50)
    )
    assert list(model.classes_) == [-1, 1] and model.n_features_in_ == 120
    assert_allclose(model.dual_coef_ @ X, model.coef_, rtol=1e-10, atol=1e-12)
    history = model.residual_history_
    assert (
        len(history) == model.n_iter_
        and history[-1] <= 1e-6
        and min(history[:-1], default=1) > 1e-6
    )
    _, residual = certified(
        X, y, 1.4, LOSSES[name], model.coef_[0], 0.0, True, model.dual_coef_[0]
    )
    # with what rounding may add or take
    assert 0.99 * residual <= history[-1] <= 1.05 * residual
    a = LOSSES[name].slope(y, X @ model.coef_[0] + model.intercept_[0])
    assert_allclose(
        -a / 1.4, model.dual_coef_[0], atol=1e-4 * np.abs(model.dual_coef_).max()
    )
    assert model.dual_coef_.sum() == pytest.approx(
        0, abs=1e-4 * np.abs(model.dual_coef_).max()
    )
    assert model.predict(X).shape == model.decision_function(X).shape == (50,)


def test_tolerance_is_kept_and_not_overdone():
    X, y, _ = labelled(60, 400, 3)
    exact = fitted(X, y, tol=1e-11).coef_
    steps = []
    for tol in (1e-1, 1e-3, 1e-5, 1e-7):
        model = fitted(X, y, n_projections=5, tol=tol)
        assert size(model.coef_ - exact) <= tol * size(model.coef_)
        assert model.residual_history_[-1] <= tol
        steps.append(model.n_iter_)
    assert np.all(np.diff(steps) > 0)


def test_each_class_against_the_rest():
    X, _, rng = labelled(90, 150, 4)
    y = np.array(["c", "a", "b"])[
        np.argmax(X[:, :3] + rng.standard_normal((90, 3)), axis=1)
    ]
    for loss in ("log_loss", "squared_error", "smoothed_hinge"):
        model = fitted(X, y, loss, tol=1e-7)
        assert list(model.classes_) == ["a", "b", "c"]
        assert (
            model.coef_.shape == (3, 150)
            and model.intercept_.shape == (3,)
            and model.dual_coef_.shape == (3, 90)
        )
        values = model.decision_function(X)
        assert values.shape == (90, 3) and len(model.residual_history_) == 3
        assert model.n_iter_ == max(map(len, model.residual_history_))
        for k, label in enumerate("abc"):
            alone = fitted(X, y == label, loss, tol=1e-7)
            assert_allclose(model.coef_[k], alone.coef_[0], rtol=1e-9, atol=1e-12)
            assert_allclose(
                values[:, k], alone.decision_function(X), rtol=1e-8, atol=1e-9
            )
            assert model.residual_history_[k][-1] <= 1e-7
        assert_array_equal(model.predict(X), model.classes_[values.argmax(axis=1)])
        assert model.score(X, y) > 0.9
    expected = RidgeClassifier(1.0).fit(X, y)
    assert (
        relative_error(fitted(X, y, "squared_error", tol=1e-8).coef_, expected.coef_)
        < 1e-7
    )


LABELS = {
    "strings": lambda positive: np.where(positive, "yes", "no"),
    "bool": lambda positive: positive,
    "-1 and 1": lambda positive: np.where(positive, 1, -1),
    "floats": lambda positive: np.where(positive, 7.0, 2.0),
    "objects": lambda positive: np.where(positive, "yes", "no").astype(object),
    "a list": lambda positive: np.where(positive, "b", "a").tolist(),
    "a series": lambda positive: pd.Series(
        np.where(positive, "b", "a"), index=np.arange(len(positive))[::-1]
    ),
    "categories": lambda positive: pd.Categorical(np.where(positive, "b", "a")),
    "unsigned": lambda positive: np.where(positive, 255, 0).astype(np.uint8),
}


@pytest.fixture(scope="module")
def of_signs():
    """Data, labels -1 and 1, and what is fitted to them."""
    X, y, _ = labelled(40, 100, 5)
    return X, y, fitted(X, y)


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels_of_any_two_kinds(labels, of_signs):
    X, y, expected = of_signs
    given = labels(y > 0)
    found = fitted(X, given)
    assert_array_equal(found.coef_, expected.coef_)
    classes = np.unique(np.asarray(given))
    assert_array_equal(found.classes_, classes)
    assert_array_equal(
        found.predict(X), classes[(expected.decision_function(X) > 0).astype(int)]
    )
    assert found.score(X, given) == expected.score(X, y)


def test_swapping_the_labels_turns_the_sign(of_signs):
    X, y, _ = of_signs
    swapped = fitted(X, y < 0, tol=1e-8)
    assert_allclose(
        swapped.decision_function(X),
        -fitted(X, y, tol=1e-8).decision_function(X),
        atol=1e-6,
    )


# ---------------------------------------------------------------- "recover" and
# "iterate"


@each_sketch
@with_and_without_intercept
def test_plain_solvers_are_the_algorithms(kind, intercept):
    X, y, _ = labelled(30, 400, 6)
    one = fitted(
        X,
        y,
        "log_loss",
        20.0,
        200,
        solver="recover",
        sketch=kind,
        fit_intercept=intercept,
        silent=True,
    )
    assert one.n_iter_ == len(one.residual_history_) == 1 and one.n_projections_ == 200
    rng = np.random.default_rng(np.random.RandomState(0).randint(2**31))
    Xhat = project_data(X, projection_matrix(400, 200, kind, rng))
    u = recovery_step(
        Problem(X, y, 40.0, LogLoss(), intercept), Xhat, np.zeros(30), np.zeros(30)
    )
    assert_allclose(one.coef_[0], X.T @ u, rtol=1e-8, atol=1e-10)
    keywords = {"sketch": kind, "fit_intercept": intercept, "silent": True}
    exact = fitted(X, y, "log_loss", 20.0, tol=1e-11, fit_intercept=intercept)
    errors = [relative_error(one.coef_, exact.coef_)]
    for steps in (2, 4, 8):
        more = fitted(
            X, y, "log_loss", 20.0, 200, solver="iterate", max_iter=steps, **keywords
        )
        assert more.n_iter_ == steps or more.residual_history_[-1] <= 1e-4
        errors.append(relative_error(more.coef_, exact.coef_))
        assert errors[-1] <= more.residual_history_[-1] * 1.01
    assert errors[0] > errors[1] > errors[2] and errors[2] < 0.1
    done = fitted(
        X,
        y,
        "log_loss",
        20.0,
        solver="iterate",
        sketch=kind,
        fit_intercept=intercept,
        tol=1e-8,
    )
    assert (
        relative_error(done.coef_, exact.coef_) < 1.1e-8
        and done.residual_history_[-1] <= 1e-8
    )
    assert_allclose(done.intercept_, exact.intercept_, atol=1e-6)


@swept_seeds(25, 200)
def test_never_a_diverged_solution(seeds):
    """Few projections: an error, or a warning and something better than nothing; what
    is said is so.
    """
    outcomes = {"error": 0, "warning": 0, "solved": 0}
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 40))
        d = int(rng.integers(10, 150))
        X = with_condition(n, d, 10 ** rng.uniform(0, 4), rng)
        y = rng.choice([-1.0, 1.0], n)
        name = list(LOSSES)[seed % 5]
        y[:2] = 1, -1
        lam = 10 ** rng.uniform(-5, 1)
        intercept = bool(seed % 2)
        solver = ("recover", "iterate")[seed // 2 % 2]
        kind = SKETCHES[seed // 4 % 4]
        model = DualProjectionClassifier(
            name,
            lam / 2,
            int(rng.integers(1, d)),
            solver=solver,
            sketch=kind,
            max_iter=30,
            fit_intercept=intercept,
            random_state=seed,
        )
        try:
            caught = warnings_of_fit(model, X, y)
        except FloatingPointError as error:
            assert f"solver={solver!r} with {model.n_projections} projections" in str(
                error
            )
            assert not hasattr(model, "coef_")
            outcomes["error"] += 1
            continue
        w = model.coef_[0]
        residual = certified(
            X, y, lam, LOSSES[name], w, 0.0, intercept, model.dual_coef_[0]
        )[1]
        start, _ = certified(X, y, lam, LOSSES[name], np.zeros(d), 0.0, intercept)
        assert price(X, y, lam, LOSSES[name], w, intercept) < price(
            X, y, lam, LOSSES[name], 0 * w, intercept
        ), seed
        assert [c.category for c in caught] == [ConvergenceWarning] * int(
            residual > 1e-4
        ), seed
        if caught:
            assert f"{residual:.2e}" in str(caught[0].message) or residual < 1e-3
        else:
            assert model.residual_history_[-1] <= 1e-4
        exact, _ = newton_solution(X, y, lam, LOSSES[name], 0.0, intercept)
        assert size(w - exact) <= residual * size(w) * (1 + 1e-6) + 1e-9
        assert size(w - exact) <= start / lam
        outcomes["warning" if caught else "solved"] += 1
    assert min(outcomes.values()) > len(seeds) / 20


@pytest.mark.parametrize("solver", ["recover", "iterate"])
def test_too_few_projections_are_said_to_be_too_few(solver):
    X, y, _ = labelled(50, 200, 0)
    model = DualProjectionClassifier("log_loss", 5e-4, 2, solver=solver, random_state=0)
    with refused(
        f"solver={solver!r} with 2 projections",
        "too small",
        "n_projections",
        error=FloatingPointError,
    ):
        model.fit(X[:20, :60], y[:20])
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("solver", ["recover", "iterate"])
def test_automatic_projections_follow_the_effective_dimension(solver):
    rng = np.random.default_rng(0)
    X = (
        orthonormal(100, 100, rng)
        * np.arange(1, 101) ** -1.5
        @ orthonormal(3000, 100, rng).T
    )
    s2 = np.arange(1, 101) ** -3.0
    y = np.sign(X @ (X.T @ rng.standard_normal(100)))
    chosen = []
    for alpha in (5e-3, 1.5e-3, 5e-4):
        ridge = 2 * alpha / LOSSES["log_loss"].smoothness
        exact = np.sum(s2 / (s2 + ridge))
        m = fitted(X, y, "log_loss", alpha, solver=solver, silent=True).n_projections_
        assert 0.8 < m / (20 * exact) < 1.25
        chosen.append(m)
    assert chosen[0] < chosen[1] < chosen[2] < 3000
    few = fitted(X[:, :50], y, "log_loss", 5e-5, solver=solver)
    assert few.n_projections_ == 50  # all features: exact
    assert fitted(X, y, "log_loss", 5e-3).n_projections_ <= 100


# ---------------------------------------------------------------- data of every kind


@pytest.fixture(scope="module", params=SOLVERS)
def sparse_fits(request):
    """Sparse data, targets, and for each sketch the arguments of a solver, and what
    they give from the dense data.
    """
    X = sparse_table(50, 200, 0.1)
    y = np.where(X @ np.sin(np.arange(200.0)) > 0, 1, -1)
    t = X @ np.cos(np.arange(200.0))
    fits = []
    for kind in SKETCHES:
        keywords = {
            "solver": request.param,
            "sketch": kind,
            "tol": 1e-9,
            "n_projections": 60,
            "max_iter": 200,
        }
        keywords["silent"] = True
        expected = fitted(X.toarray(), y, "log_loss", 10.0, **keywords)
        fits.append(
            (keywords, expected, fitted_ridge(X.toarray(), t, 20.0, **keywords))
        )
    return X, y, t, fits


@swept(
    "form",
    [sp.csr_array, sp.csc_array, np.asfortranarray],
    [sp.csr_matrix, sp.coo_array],
)
def test_every_form_of_the_same_data(form, sparse_fits):
    X, y, t, fits = sparse_fits
    given = X.toarray() if form is np.asfortranarray else X
    for keywords, expected, expected_ridge in fits:
        found = fitted(form(given), y, "log_loss", 10.0, **keywords)
        assert isinstance(found.coef_, np.ndarray) and found.coef_.dtype == np.float64
        assert relative_error(found.coef_, expected.coef_) < 1e-7
        assert_allclose(
            found.decision_function(form(given)),
            expected.decision_function(X.toarray()),
            atol=1e-7,
        )
        ridge = fitted_ridge(form(given), t, 20.0, **keywords)
        assert relative_error(ridge.coef_, expected_ridge.coef_) < 1e-7
        assert_allclose(
            ridge.predict(form(given)), ridge.predict(X.toarray()), atol=1e-10
        )


@pytest.mark.parametrize("sparse", [False, True])
def test_single_precision(sparse):
    """What comes out is float32, and as exact as that."""
    X, y, _ = labelled(50, 150, 7)
    t = 3 * X[:, 0] + y
    form = sp.csr_array if sparse else np.asarray
    single = form(X.astype(np.float32))
    assert (
        relative_error(fitted(single, y, tol=1e-8).coef_, fitted(X, y, tol=1e-8).coef_)
        < 1e-5
    )
    found = fitted(single, y)
    assert (
        found.coef_.dtype
        == found.intercept_.dtype
        == found.decision_function(single).dtype
        == np.float32
    )
    assert found.dual_coef_.dtype == np.float64
    assert found.decision_function(X).dtype == np.float64  # of data in double precision
    assert_allclose(
        found.decision_function(X), found.decision_function(single), atol=1e-4
    )
    ridge = fitted_ridge(single, t, tol=1e-8)
    assert relative_error(ridge.coef_, Ridge().fit(X, t).coef_) < 1e-5
    assert ridge.coef_.dtype == ridge.predict(single).dtype == np.float32


def test_whole_numbers_and_lists():
    X = np.random.default_rng(0).integers(0, 3, (30, 20))
    y = np.arange(30) % 2
    expected = fitted(X.astype(float), y)
    assert_array_equal(fitted(X, y).coef_, expected.coef_)
    assert_array_equal(fitted(X.tolist(), y.tolist()).coef_, expected.coef_)
    assert_array_equal(
        fitted(X.astype(bool), y).coef_, fitted((X > 0).astype(float), y).coef_
    )
    assert_array_equal(
        fitted(sp.csr_array(X), y, tol=1e-9).coef_.round(6),
        fitted(X, y, tol=1e-9).coef_.round(6),
    )


@pytest.mark.parametrize("size_", [1, 2])
@each_solver
def test_one_sample_and_two(solver, size_):
    X = table(3, 5)[:size_]
    y = np.array([2.0, -1.0])[:size_]
    for intercept in (False, True):
        ridge = fitted_ridge(
            X,
            y,
            0.5,
            solver=solver,
            fit_intercept=intercept,
            silent=True,
            n_projections=100,
        )
        expected = Ridge(0.5, fit_intercept=intercept, solver="cholesky").fit(X, y)
        assert_allclose(ridge.coef_, expected.coef_, rtol=1e-4, atol=1e-12)
        assert ridge.intercept_ == pytest.approx(expected.intercept_, abs=1e-4)
    if size_ == 2:
        for loss in LOSSES:
            model = fitted(X, y, loss, 0.5, solver=solver, n_projections=100)
            assert (
                relative_error(
                    model.coef_[0], oracle(X, np.sign(y), 1.0, loss, 0.0, True)
                )
                < 2e-4
            )
            assert_array_equal(model.predict(X), y)
    one_feature = (
        fitted(X[:, :1], y, tol=1e-8)
        if size_ == 2
        else fitted_ridge(X[:, :1], y, tol=1e-8)
    )
    assert one_feature.coef_.shape == ((1, 1) if size_ == 2 else (1,))


@each_solver
def test_all_zeros_and_constant_features(solver):
    """There is only the intercept to fit."""
    y = np.array([1, 1, 1, -1])
    t = np.array([1.0, 2.0, 3.0, 6.0])
    for X in (np.zeros((4, 6)), sp.csr_array((4, 6))):
        for m in (3, "auto"):
            model = fitted(X, y, n_projections=m, solver=solver)
            assert np.all(model.coef_ == 0) and model.intercept_[0] == pytest.approx(
                np.log(3)
            )
            ridge = fitted_ridge(X, t, n_projections=m, solver=solver)
            assert np.all(ridge.coef_ == 0) and ridge.intercept_ == pytest.approx(3)
            assert np.all(
                fitted(X, y, n_projections=m, solver=solver, fit_intercept=False).coef_
                == 0
            )


def test_constant_features_get_no_weight():
    X, y, _ = labelled(40, 60, 8)
    padded = np.hstack([X, np.full((40, 2), 3.0), np.zeros((40, 2))])
    found = fitted(padded, y, tol=1e-9)
    plain = fitted(X, y, tol=1e-9)
    assert_allclose(found.coef_[:, :60], plain.coef_, atol=1e-7)
    assert_allclose(found.coef_[:, 60:], 0, atol=1e-9)
    assert_allclose(
        found.decision_function(padded), plain.decision_function(X), atol=1e-6
    )


@pytest.mark.exact
@each_solver
@each_classifier_loss
def test_samples_with_both_labels(name, solver):
    """Each sample twice, with opposite labels: the best weights are zero, and that is
    no failure.
    """
    X = table(10, 30)
    model = fitted(
        np.vstack([X, X]), np.repeat([1, -1], 10), name, solver=solver, n_projections=30
    )
    assert np.abs(model.coef_).max() < 1e-10 and abs(model.intercept_[0]) < 1 + 1e-9


@each_solver
@swept("constant", [0.0, 0.1], [1.0, -1e6])
def test_targets_that_are_all_the_same(constant, solver):
    """Their mean is that up to rounding, and rounding is no target."""
    for n in (7, 20):
        ridge = fitted_ridge(
            table(n, 6), np.full(n, constant), solver=solver, n_projections=30
        )
        assert not ridge.coef_.any() and ridge.n_iter_ <= 2
        assert ridge.intercept_ == pytest.approx(constant, rel=1e-12)


def test_some_samples_with_both_labels():
    X, y, _ = labelled(30, 50, 9)
    X = np.vstack([X, X[:10], X[:10]])
    y = np.concatenate([y, np.ones(10), -np.ones(10)])
    for name in LOSSES:
        model = fitted(X, y, name, 0.5, tol=1e-6)
        assert certified(X, y, 1.0, LOSSES[name], model.coef_[0], 0.0, True)[1] < 1.1e-6


SCALES = [1e-149, 1e-100, 1e-20, 1e-10, 1e-4, 1e4, 1e10, 1e20, 1e100, 1e148]


@swept_product(
    ("scale", "intercept"),
    [(scale, i % 2 == 0) for i, scale in enumerate(SCALES)],
    SCALES,
    [False, True],
)
def test_data_of_any_size(scale, intercept):
    """With alpha in proportion to the square of the data, the weights are in inverse
    proportion to it.
    """
    X, y, _ = labelled(30, 60, 10)
    scale = 2.0 ** round(np.log2(scale))
    if not 1e-140 < scale < 1e140:
        with refused("alpha=1.0 is not possible", "rescale X"):
            fitted(scale * X, y, alpha=1.0)
        return
    expected = fitted(X, y, alpha=0.8, tol=1e-7, fit_intercept=intercept)
    found = fitted(
        scale * X, y, alpha=0.8 * scale**2, tol=1e-7, fit_intercept=intercept
    )
    assert relative_error(found.coef_ * scale, expected.coef_) < 3e-7
    assert_allclose(
        found.decision_function(scale * X), expected.decision_function(X), atol=1e-5
    )
    t = X[:, 0] + 1
    ridge = fitted_ridge(
        scale * X, t, 0.8 * scale**2, tol=1e-7, fit_intercept=intercept
    )
    assert (
        relative_error(
            ridge.coef_ * scale, Ridge(0.8, fit_intercept=intercept).fit(X, t).coef_
        )
        < 2e-7
    )


@pytest.mark.parametrize("scale", [1e-150, 1e-5, 1e5, 1e150])
def test_targets_of_any_size(scale):
    X, y, rng = labelled(30, 60, 11)
    t = rng.uniform(-1, 1, 30)
    t[0] = 1
    expected = Ridge(30.0, solver="cholesky").fit(X, t)
    ridge = fitted_ridge(X, scale * t, 30.0, tol=1e-9)
    assert_allclose(ridge.coef_ / scale, expected.coef_, rtol=1e-6, atol=1e-8)
    assert ridge.intercept_ / scale == pytest.approx(expected.intercept_, rel=1e-6)


@pytest.mark.parametrize("away", [1e2, 1e4, 1e6])
def test_data_far_from_zero(away):
    """The same solution, with another intercept, as far as rounding lets it be seen."""
    X, y, _ = labelled(40, 30, 12)
    expected = fitted(X, y, tol=1e-10)
    found = fitted(away + X, y, silent=True)
    assert relative_error(found.coef_, expected.coef_) < 1e-3
    assert_allclose(
        found.decision_function(away + X), expected.decision_function(X), atol=1e-2
    )
    ridge = fitted_ridge(away + X, X[:, 0], silent=True)
    assert_allclose(
        ridge.predict(away + X), Ridge().fit(X, X[:, 0]).predict(X), atol=1e-2
    )
    assert relative_error(ridge.coef_, Ridge().fit(X, X[:, 0]).coef_) < 1e-3


@pytest.mark.parametrize("away", [1e4, 1e6, 1e8])
@each_solver
def test_data_far_from_zero_are_centred(solver, away):
    """All solvers get as close as rounding in the data allows; without centring,
    recovery is off by 1e-5 or more.
    """
    X, y, _ = labelled(40, 30, 12)
    expected = fitted(X, y, tol=1e-12)
    found = fitted(away + X, y, solver=solver, tol=1e-8, silent=True)
    assert relative_error(found.coef_, expected.coef_) < 1e-8 + 1e-14 * away


@pytest.fixture(scope="module")
def near_zero():
    """Data near zero, and the solution for each loss."""
    X, y, _ = labelled(40, 30, 13)
    return X, y, {name: fitted(X, y, name, tol=1e-8).coef_ for name in LOSSES}


@pytest.mark.parametrize("away", [1e2, 1e4, 1e6])
@each_solver
def test_what_is_said_of_data_far_from_zero(solver, away, near_zero):
    """Right, or a warning: whether or not it gets there."""
    X, y, solutions = near_zero
    for name, exact in solutions.items():
        model = DualProjectionClassifier(
            name, solver=solver, max_iter=15, random_state=0
        )
        try:
            caught = warnings_of_fit(model, away + X, y)
        except FloatingPointError:
            assert solver != "accelerate"
            continue
        assert caught or relative_error(model.coef_, exact) < 2e-4


@swept_product(
    ("name", "alpha"),
    [
        *(
            (name, alpha)
            for name in LOSSES
            for alpha in (1e-300, 1e-170, 1e-12, 1e12, 1e115)
        ),
        *((name, 1e-115) for name in ("squared_error", "log_loss", "squared_hinge")),
    ],
    LOSSES,
    [1e-300, 1e-250, 1e-170, 1e-115, 1e-50, 1e-20, 1e-12, 1e12, 1e100, 1e115, 1e250],
)
def test_extreme_regularisation(name, alpha):
    """Right, or refused, or a warning; never a wrong answer without a word."""
    X, y, _ = labelled(30, 60, 14)
    model = DualProjectionClassifier(name, alpha, max_iter=5, random_state=0)
    try:
        caught = warnings_of_fit(model, X, y)
    except ValueError as error:
        assert f"alpha={alpha!r} is not possible" in str(error)
        return
    residual = float(exact_residual(X, y, 2 * alpha, LOSSES[name], model.coef_[0]))
    assert caught or residual <= 2e-4
    assert alpha < 1e-6 or not caught


@pytest.mark.parametrize("seed", [29, 44])
def test_rounding_is_no_proof(seed):
    """Far fewer features than samples, ill-conditioned, next to no regularisation:
    wrong by 1e15, or more.
    """
    rng = np.random.default_rng(seed)
    condition = 10 ** rng.uniform(5, 9)
    alpha = 10 ** rng.uniform(-30, -14)
    U = orthonormal(60, 5, rng)
    s = np.logspace(0, -np.log10(condition), 5)
    V = orthonormal(5, 5, rng)
    X = U * s @ V.T
    y = rng.choice([-1.0, 1.0], 60)
    # alpha is nothing beside the least square of s
    w = V @ (by_scipy(U, y, 1e-300, 0.0, False) / s)
    assert alpha < 1e-6 * s[-1] ** 2
    model = DualProjectionClassifier(
        "log_loss", alpha, max_iter=10, fit_intercept=False, random_state=0
    )
    caught = warnings_of_fit(model, X, y)
    assert caught or relative_error(model.coef_[0], w) < 1e-3


@each_solver
@pytest.mark.parametrize("little", [1e-3, 1e-6, 1e-10])
def test_labels_that_depend_on_little(solver, little):
    """Weights that are small are not taken for zero."""
    X, y, _ = labelled(30, 60, 17)
    X = X - np.outer(y, y @ X) / 30 * (1 - little)
    for alpha in (1.0, 1e6):
        model = fitted(
            X,
            y,
            "squared_error",
            alpha,
            solver=solver,
            n_projections=60,
            fit_intercept=False,
            tol=1e-2,
        )
        exact = X.T @ np.linalg.solve(X @ X.T + alpha * np.eye(30), y)
        assert relative_error(model.coef_[0], exact) < 2e-2


# the rounded hinges take a hundred times as long
SMOOTH = ("squared_error", "log_loss", "squared_hinge")


@swept(
    ("seed", "alpha", "names"),
    [(8, 1e-10, NAMES), (8, 1e-30, SMOOTH)],
    [
        (8, 1e-22, NAMES),
        (8, 1e-30, NAMES),
        *((0, alpha, NAMES) for alpha in (1e-10, 1e-22, 1e-30)),
    ],
)
def test_next_to_no_regularisation(alpha, seed, names):
    """Whatever comes of it, it is not an error from within linear algebra."""
    rng = np.random.default_rng(seed)
    X = with_condition(60, 5, 1e4, rng)
    y = rng.choice([-1.0, 1.0], 60)
    keywords = {
        "max_iter": 2,
        "fit_intercept": False,
        "random_state": seed,
        "silent": True,
    }
    for name in names:
        assert np.all(np.isfinite(fitted(X, y, name, alpha, **keywords).coef_))
    assert np.all(np.isfinite(fitted_ridge(X, y, alpha, **keywords).coef_))


@swept("max_iter", [1], [5, 25])
def test_next_to_no_curvature(max_iter):
    rng = np.random.default_rng(8)
    X = with_condition(60, 5, 1e4, rng)
    y = rng.choice([-1.0, 1.0], 60)
    model = fitted(
        X,
        y,
        "huberised_hinge",
        5e-23,
        max_iter=max_iter,
        fit_intercept=False,
        random_state=8,
        silent=True,
    )
    assert np.all(np.isfinite(model.coef_))


def exact_residual(X, y, lam, loss, w):
    """`certified`, in long double to the end, as its range is wider."""
    X = np.longdouble(X)
    w = np.longdouble(w)
    lam = np.longdouble(lam)
    f = X @ w
    gradient = lam * w + X.T @ loss.slope(y, f + best_offset(X, y, loss, f))
    return np.sqrt(np.sum(gradient**2)) / (lam * np.sqrt(np.sum(w**2)))


# ---------------------------------------------------------------- parameters and errors

NUMBERS = (0, -1.0, np.inf, np.nan, "one", None, True, [1.0])

PARAMETERS = [
    *[("alpha", value) for value in NUMBERS],
    *[("tol", value) for value in NUMBERS],
    *[("n_projections", value) for value in (0, -1, 1.5, "all", None, True, np.inf)],
    *[("max_iter", value) for value in (0, -1, 1.5, "one", None, True)],
    *[
        (name, value)
        for name in ("fit_intercept", "warm_start")
        for value in (1, "yes", None)
    ],
    *[
        (name, value)
        for name in ("solver", "sketch")
        for value in ("lbfgs", None, 1, "Gaussian", True)
    ],
]


@both
@pytest.mark.parametrize("name, value", PARAMETERS)
def test_impossible_parameters_are_refused(model, name, value):
    X, y, _ = labelled(20, 10)
    with refused(f"{name}={value!r} is not possible: give"):
        clone(model).set_params(**{name: value}).fit(X, y)


@pytest.mark.parametrize(
    "loss",
    ["hinge", "epsilon_insensitive", "Log", 3, None, LogLoss, Hinge(), ["log_loss"]],
    ids=str,
)
def test_impossible_losses_are_refused(loss):
    X, y, _ = labelled(20, 10)
    with refused("loss=", "is not possible: give one of", "'log_loss'"):
        DualProjectionClassifier(loss).fit(X, y)


@pytest.mark.parametrize("width", [0, -1.0, np.inf, np.nan, "one", None, True])
def test_impossible_widths_are_refused(width):
    with refused(f"mu={width!r} is not possible: give"):
        SmoothedHinge(width)
    with refused(f"mu={width!r} is not possible: give"):
        HuberisedHinge(width)


def test_possible_parameters_are_accepted():
    X, y, _ = labelled(20, 30)
    for keywords in (
        {"alpha": np.float32(0.5), "tol": np.float64(1e-3)},
        {"alpha": 2, "n_projections": np.int64(3), "max_iter": np.int32(50)},
        {"fit_intercept": np.bool_(False), "warm_start": np.bool_(True)},
        {"random_state": np.random.RandomState(3)},
        {"random_state": None},
    ):
        for model in (
            DualProjectionClassifier(**keywords),
            DualProjectionRidge(**keywords),
        ):
            assert model.fit(X, y).n_features_in_ == 30
            assert clone(model).get_params()["alpha"] == model.alpha


@both
def test_wrong_data_are_refused(model):
    X, y, _ = labelled(20, 10)
    name = type(model).__name__
    for wrong in (np.nan, np.inf):
        with refused("X", "NaN" if np.isnan(wrong) else "infinity"):
            clone(model).fit(np.where(X > 2, wrong, X), y)
        with refused("y", "NaN" if np.isnan(wrong) else "infinity"):
            clone(model).fit(X, np.where(np.arange(20) == 3, wrong, y))
        with refused("NaN" if np.isnan(wrong) else "infinity"):
            clone(model).fit(X, y).predict(np.where(X > 2, wrong, X))
    with refused("inconsistent numbers of samples"):
        clone(model).fit(X, y[1:])
    with refused(name, "requires y"):
        clone(model).fit(X, None)
    with refused("1d array"):
        clone(model).fit(X, np.column_stack([y, y]))
    with refused("2D array"):
        clone(model).fit(X[0], y)
    with refused("Complex data"):
        clone(model).fit(X + 1j, y)
    with refused(f"X has 9 features, but {name} is expecting 10"):
        clone(model).fit(X, y).predict(X[:, :9])
    with pytest.raises(NotFittedError):
        clone(model).predict(X)
    for empty in (np.zeros((0, 10)), np.zeros((20, 0))):
        with refused("minimum of 1 is required"):
            clone(model).fit(empty, y[: len(empty)])


@pytest.mark.parametrize(
    "solver, steps, advice",
    [
        ("accelerate", 2, "Give a larger max_iter or alpha."),
        (
            "accelerate",
            1000,
            "Give more n_projections, or a larger alpha or tol: the search no longer "
            "gets closer.",
        ),
        ("iterate", 2, "Give more n_projections, or solver='accelerate'."),
        ("recover", 1, "Give more n_projections, or solver='accelerate'."),
    ],
)
def test_what_to_do_where_the_tolerance_is_not_reached(solver, steps, advice):
    """After all steps more of them help; after a search that has settled they do not."""
    X, y, _ = labelled(30, 60)
    model = DualProjectionClassifier(
        alpha=1.0,
        n_projections=40,
        solver=solver,
        tol=1e-18,
        max_iter=steps,
        random_state=0,
    )
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, y)
    assert [str(warning.message).endswith(advice) for warning in caught] == [True]
    assert caught[0].filename == __file__ and model.n_iter_ < 1000


def test_wrong_labels_are_refused():
    X, y, _ = labelled(20, 10)
    for labels in (np.ones(20), ["a"] * 20, np.zeros(20, dtype=bool)):
        with refused("y has only one class"):
            DualProjectionClassifier().fit(X, labels)
    with refused("Unknown label type: continuous"):
        DualProjectionClassifier().fit(X, X[:, 0])
    with refused("y has only one class"):
        DualProjectionClassifier().fit(X[:1], [1])
    with refused("could not convert string to float"):
        DualProjectionRidge().fit(X, ["a"] * 20)


@both
def test_nothing_is_left_of_an_earlier_fit(model):
    """After an error the model is as if it had never been fitted, and says so."""
    X, y, _ = labelled(30, 60)
    wrong = {
        "X": lambda found: found.fit(np.where(X > 2, np.nan, X), y),
        "y": lambda found: found.fit(X, y[1:]),
        "parameter": lambda found: found.set_params(alpha=-1.0).fit(X, y),
        "projections": lambda found: found.set_params(
            solver="recover", alpha=1e-3, n_projections=1
        ).fit(X, y),
    }
    for what, failing in wrong.items():
        found = clone(model).fit(X, y)
        with pytest.raises((ValueError, FloatingPointError)):
            failing(found)
        for name in (
            "coef_",
            "intercept_",
            "dual_coef_",
            "residual_history_",
            "n_iter_",
            "classes_",
        ):
            assert not hasattr(found, name), what
        with pytest.raises(NotFittedError):
            found.predict(X)


def test_another_fit_replaces_the_first():
    X, y, rng = labelled(30, 60)
    model = fitted(X, rng.integers(3, size=30))
    model.fit(X[:, :20], y)
    fresh = fitted(X[:, :20], y)
    assert set(vars(model)) == set(vars(fresh))
    assert_array_equal(model.coef_, fresh.coef_)
    assert isinstance(model.residual_history_[0], float)


@both
def test_no_argument_is_written_into(model):
    X, y, _ = labelled(30, 60)
    for form in (np.array, np.asfortranarray, sp.csr_array):
        given = form(X)
        labels = y.copy()
        clone(model).set_params(warm_start=True).fit(given, labels).fit(
            given, labels
        ).predict(given)
        assert_array_equal(dense(given), X)
        assert_array_equal(labels, y)
    given = X.copy()
    given.setflags(write=False)
    labels.setflags(write=False)
    clone(model).fit(given, labels).predict(given)


# ---------------------------------------------------------------- scikit-learn


def test_warm_start():
    X, y, rng = labelled(60, 300, 15)
    keywords = {"n_projections": 4, "tol": 1e-8}
    cold = fitted(X, y, **keywords)
    assert cold.n_iter_ > 5
    warm = fitted(X, y, warm_start=True, **keywords)
    assert warm.n_iter_ == cold.n_iter_  # nothing to begin from yet
    again = warm.fit(X, y)
    assert again.n_iter_ == 1 and relative_error(again.coef_, cold.coef_) < 1e-7
    near = (
        fitted(X, y, warm_start=True, **keywords)
        .set_params(alpha=1.001, tol=1e-3)
        .fit(X, y)
    )
    assert (
        near.n_iter_ == 1
        and relative_error(near.coef_, fitted(X, y, alpha=1.001, tol=1e-9).coef_) < 1e-3
    )
    other = warm.fit(X[:50], y[:50])  # of another number of samples: from scratch
    assert relative_error(other.coef_, fitted(X[:50], y[:50], tol=1e-10).coef_) < 1e-7
    other = warm.fit(X[:50] + 1, -y[:50])  # a bad start is no harm
    assert (
        relative_error(other.coef_, fitted(X[:50] + 1, -y[:50], tol=1e-10).coef_) < 1e-7
    )
    classes = rng.integers(3, size=60)
    many = fitted(X, classes, warm_start=True, **keywords)
    assert many.fit(X, classes).n_iter_ == 1
    t = 100 * X[:, 0]
    ridge = fitted_ridge(X, t, warm_start=True, **keywords)
    assert ridge.n_iter_ > 5 and ridge.fit(X, t).n_iter_ == 1
    assert relative_error(ridge.coef_, Ridge().fit(X, t).coef_) < 1e-7
    halved = ridge.fit(X, t / 7)
    assert relative_error(halved.coef_, Ridge().fit(X, t / 7).coef_) < 1e-7
    few = fitted(
        X,
        y,
        alpha=40.0,
        warm_start=True,
        n_projections=250,
        solver="recover",
        silent=True,
    )
    first = few.residual_history_[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Algorithm 2, one step at a time
        assert few.fit(X, y).residual_history_[0] < first
    assert (
        fitted(X, y, **keywords).set_params(warm_start=False).fit(X, y).n_iter_
        == cold.n_iter_
    )


def test_warm_start_by_a_flag_of_numpy():
    X, y, _ = labelled(60, 300, 15)
    assert fitted(X, y, n_projections=4, warm_start=np.True_).fit(X, y).n_iter_ == 1


@pytest.mark.parametrize("solver", ["recover", "iterate"])
def test_the_history_ends_where_the_solution_is(solver):
    """Where nothing is warned of, its last entry is at most tol."""
    X, y, _ = labelled(30, 60, 16)
    model = fitted(X, y, warm_start=True, tol=1e-8)
    model.set_params(solver=solver, n_projections=3)
    caught = warnings_of_fit(model, X, y)
    assert (
        certified(X, y, 2.0, LogLoss(), model.coef_[0], 0.0, True)[1] <= 1.01e-8
        or caught
    )
    assert caught or model.residual_history_[-1] <= 1e-8


@both
def test_the_same_seed_gives_the_same_model(model):
    X, y, _ = labelled(40, 200)
    for kind in SKETCHES:
        for solver in SOLVERS:
            given = clone(model).set_params(
                sketch=kind, solver=solver, alpha=500.0, n_projections=150
            )
            if solver == "accelerate":
                given.set_params(n_projections=20)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                one, same, other = (
                    clone(given).set_params(random_state=seed).fit(X, y)
                    for seed in (3, 3, 4)
                )
            assert_array_equal(one.coef_, same.coef_)
            assert np.any(one.coef_ != other.coef_)
    generators = [np.random.RandomState(3) for _ in range(2)]
    one, same = (
        clone(model).set_params(random_state=generator).fit(X, y)
        for generator in generators
    )
    assert_array_equal(one.coef_, same.coef_)


@both
def test_models_can_be_kept(model):
    X, y, _ = labelled(40, 100)
    found = clone(model).set_params(random_state=0).fit(X, y)
    copy = pickle.loads(pickle.dumps(found))
    assert_array_equal(copy.predict(X), found.predict(X))
    assert vars(copy).keys() == vars(found).keys()
    assert not hasattr(clone(found), "coef_")
    assert_array_equal(clone(found).fit(X, y).coef_, found.coef_)
    assert "n_projections=7" in repr(clone(model).set_params(n_projections=7))


@both
def test_names_of_features(model):
    X, y, _ = labelled(40, 10)
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(10)])
    found = clone(model).set_params(random_state=0).fit(frame, pd.Series(y))
    assert list(found.feature_names_in_) == list(frame.columns)
    assert_allclose(
        found.predict(frame),
        clone(model).set_params(random_state=0).fit(X, y).predict(X),
        rtol=1e-9,
    )
    with refused("feature names"):
        found.predict(frame[frame.columns[::-1]])
    found.fit(X, y)
    assert not hasattr(found, "feature_names_in_")


@swept_product(
    ("solver", "dtype"),
    [
        ("recover", "float64"),
        ("iterate", "float32"),
        ("accelerate", "float32"),
        ("accelerate", "float64"),
    ],
    SOLVERS,
    ["float32", "float64"],
)
def test_models_in_every_library(solver, dtype, library):
    """In and out: the library, the device and the precision; and the same numbers."""
    X = sparse_table(40, 80, 0.2).toarray().astype(dtype)
    rng = np.random.default_rng(0)
    t = X @ rng.standard_normal(80)
    y = np.where(t > 0, 1, 0)
    classes = np.digitize(t, [-1, 1])
    keywords = {
        "solver": solver,
        "alpha": 20.0,
        "n_projections": 60,
        "silent": True,
        "tol": 1e-7,
    }
    given = library.make(X)

    def of(a):
        return np.asarray(a) if library.sparse else library.make(a)

    for labels in (y, classes):
        expected = fitted(X, labels, **keywords)
        found = fitted(given, of(labels), **keywords)
        results = (found.coef_, found.intercept_, found.decision_function(given))
        compared = (expected.coef_, expected.intercept_, expected.decision_function(X))
        for result, other in zip(results, compared):
            assert library.is_result(result, dtype)
            assert library.sparse or library.device(result) == library.device(given)
            assert_allclose(
                library.back(result), other, atol=1e-5 if dtype == "float32" else 1e-8
            )
        predicted = found.predict(given)
        assert library.is_result(predicted) and library.is_result(found.classes_)
        assert_array_equal(library.back(predicted), expected.predict(X))
    expected = fitted_ridge(X, t, **keywords)
    found = fitted_ridge(given, of(t), **keywords)
    for result, other in (
        (found.coef_, expected.coef_),
        (found.predict(given), expected.predict(X)),
    ):
        assert library.is_result(result, dtype)
        assert library.sparse or library.device(result) == library.device(given)
        assert_allclose(
            library.back(result), other, atol=1e-5 if dtype == "float32" else 1e-8
        )
    assert float(found.intercept_) == pytest.approx(
        float(expected.intercept_), abs=1e-6
    )
    if solver == "accelerate":
        again = found.set_params(warm_start=True).fit(given, of(t))
        assert again.n_iter_ == 1
        assert_allclose(library.back(again.coef_), expected.coef_, rtol=1e-5, atol=1e-5)


def test_libraries_are_not_mixed():
    xp = pytest.importorskip("array_api_strict")
    X, y, _ = labelled(20, 30)
    for model in (DualProjectionClassifier(), DualProjectionRidge()):
        with refused(f"{type(model).__name__}.predict() must use the same namespace"):
            model.fit(X, y).predict(xp.asarray(X))
    with refused("decision_function() must use the same namespace"):
        DualProjectionClassifier().fit(X, y).decision_function(xp.asarray(X))


def important(n=80, d=400, seed=0):
    """Ten features decide."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, :10] *= 3
    return X, np.where(
        X[:, :10].sum(axis=1) + rng.standard_normal(n) > 0, "ill", "well"
    )


def test_selection_by_the_weights():
    """The same features as by the full problem's weights, and others by the naive
    weights.
    """
    X, y = important()
    exact = by_scikit_learn(X, y, 2.0, True).coef_[0]
    best = set(np.argsort(-np.abs(exact))[:20])
    selector = SelectFromModel(
        DualProjectionClassifier(tol=1e-6, random_state=0),
        max_features=20,
        threshold=-np.inf,
    )
    assert set(np.flatnonzero(selector.fit(X, y).get_support())) == best
    assert selector.transform(X).shape == (80, 20)
    ridge = SelectFromModel(
        DualProjectionRidge(random_state=0), max_features=5, threshold=-np.inf
    ).fit(X, X[:, 7])
    assert ridge.get_support()[7]
    naive, recovered = recover_solution(
        X,
        np.where(y == "well", 1.0, -1.0),
        30.0,
        LogLoss(),
        150,
        np.random.default_rng(0),
    )
    full = fitted(X, y, alpha=15.0, fit_intercept=False, tol=1e-9).coef_[0]
    top = set(np.argsort(-np.abs(full))[:20])
    overlap = [len(top & set(np.argsort(-np.abs(w))[:20])) for w in (naive, recovered)]
    assert overlap[1] > overlap[0] + 4


def test_in_a_pipeline_and_a_grid():
    X, y = important(100, 60)
    pipeline = make_pipeline(
        StandardScaler(),
        SelectFromModel(
            DualProjectionClassifier("squared_hinge", random_state=0),
            max_features=10,
            threshold=-np.inf,
        ),
        DualProjectionClassifier(random_state=0),
    )
    grid = {
        "dualprojectionclassifier__alpha": [0.1, 10.0],
        "dualprojectionclassifier__loss": ["log_loss", "squared_error"],
    }
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.65 and set(search.best_params_) == set(grid)
    t = X[:, 0] - X[:, 1]
    scores = cross_val_score(
        make_pipeline(StandardScaler(), DualProjectionRidge(random_state=0)), X, t, cv=3
    )
    assert scores.min() > 0.5
    objects = GridSearchCV(
        DualProjectionClassifier(random_state=0),
        {"loss": [SmoothedHinge(m) for m in (0.1, 1)]},
    )
    assert objects.fit(X, y).best_params_["loss"].mu in (0.1, 1)


def test_one_function_for_the_scale():
    X = table(4, 6)
    for factor in (1.0, 1e-149, 1e149, -1e149, 1e-49, 1e49):
        for form in (np.asarray, sp.csr_array, sp.csc_array):
            found, scale = at_unit_scale(form(factor * X))
            assert np.log2(scale) == np.round(np.log2(scale)) and sp.issparse(
                found
            ) == sp.issparse(form(X))
            assert_allclose(dense(found) / scale, factor * X, rtol=1e-12)
            assert 1e-50 < np.abs(dense(found)).max() < 1e50


# ---------------------------------------------------------------- the picture


def test_display_over_projections():
    X, y = important(60, 300)
    display = RecoveryDisplay.from_projections(
        X, y, [5, 50, 3000], alpha=25.0, repeats=3, random_state=0
    )
    assert list(display.x) == [5, 50, 3000] and list(display.errors) == [
        "naive",
        "recovered",
    ]
    assert display.xlabel == "number of projections"
    exact = fitted(X, y, alpha=25.0, fit_intercept=False, tol=1e-9).coef_[0]
    signs = np.where(y == "well", 1.0, -1.0)
    rng = np.random.default_rng(0)
    rng_errors = [
        [
            relative_error(w, exact)
            for w in recover_solution(X, signs, 50.0, LogLoss(), 50, rng)
        ]
        for _ in range(9)
    ]
    for values, expected in zip(display.errors.values(), np.median(rng_errors, axis=0)):
        assert 0.6 < values[1] / expected < 1.6
    assert display.errors["recovered"][2] < 1e-8  # the identity
    assert display.errors["recovered"][0] > display.errors["recovered"][1]
    again = RecoveryDisplay.from_projections(
        X, y, [5, 50, 3000], alpha=25.0, repeats=3, random_state=0
    )
    assert again.errors == display.errors
    by_object = RecoveryDisplay.from_projections(
        sp.csr_array(X), y, [200], loss=SquaredError(), alpha=900.0
    )
    assert 0 < by_object.errors["recovered"][0] < by_object.errors["naive"][0]


def test_display_over_iterations():
    X, y = important(60, 300)
    display = RecoveryDisplay.from_iterations(
        X, y, 280, alpha=100.0, max_iter=8, random_state=0
    )
    assert display.x == list(range(1, 9)) and list(display.errors) == [
        "iterated",
        "accelerated",
    ]
    assert display.xlabel == "iterations"
    for values in display.errors.values():
        assert len(values) == 8 and values[-1] < values[0]
    few = RecoveryDisplay.from_iterations(
        X, y, 5, alpha=2.5, max_iter=12, random_state=0
    )
    # one diverges, the other does not
    assert few.errors["iterated"][-1] > 1 > 1e-2 > few.errors["accelerated"][-1]
    assert np.all(np.diff(few.errors["accelerated"]) < 1e-9)


def test_display_draws():
    display = RecoveryDisplay(
        [1, 2],
        {"naive": [1.0, 0.5], "recovered": [0.1, 0.01], "mine": [0.2, 0.2]},
        "steps",
    )
    _, ax = plt.subplots()
    assert (
        display.plot(ax) is display
        and display.ax_ is ax
        and display.figure_ is ax.figure
    )
    assert (
        ax.get_yscale() == "log"
        and ax.get_xlabel() == "steps"
        and "error" in ax.get_ylabel()
    )
    lines = {line.get_label(): line for line in ax.get_lines()}
    assert list(lines) == ["naive", "recovered", "mine"]
    assert_array_equal(lines["recovered"].get_ydata(), [0.1, 0.01])
    assert lines["naive"].get_color() == RecoveryDisplay.COLORS["naive"]
    assert len(set(RecoveryDisplay.COLORS.values())) == 4
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(lines)
    assert display.plot().ax_ is not ax


def test_display_refuses_what_is_wrong():
    X, y = important(20, 30)
    for make in (
        lambda X, y, **keywords: RecoveryDisplay.from_projections(
            X, y, [3], **keywords
        ),
        lambda X, y, **keywords: RecoveryDisplay.from_iterations(
            X, y, 3, max_iter=2, **keywords
        ),
    ):
        with refused("y has 3 classes"):
            make(X, np.arange(20) % 3)
        with refused("y has only one class"):
            make(X, np.ones(20))
        with refused("NaN"):
            make(np.where(X > 2, np.nan, X), y)
        with refused("inconsistent numbers"):
            make(X, y[1:])
        with refused("loss='hinge' is not possible: give one of"):
            make(X, y, loss="hinge")
        with refused("alpha=-1.0 is not possible: give"):
            make(X, y, alpha=-1.0)
    with refused("n_projections", "is not possible: give"):
        RecoveryDisplay.from_projections(X, y, [0])


@pytest.mark.parametrize(
    "model",
    [
        DualProjectionClassifier(n_projections=2, tol=1e-9, random_state=0),
        DualProjectionRidge(n_projections=2, tol=1e-9, random_state=0),
        DualProjectionClassifier(
            alpha=30.0, n_projections=30, solver="iterate", tol=1e-9, random_state=0
        ),
    ],
)
def test_iterations_that_take_long_say_so(model, impatient):
    X, _ = important(60, 40)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model.fit(X, (X[:, 0] > 0).astype(float))
    (message,) = [one for one in seen if one.category is UserWarning]
    assert message.filename == __file__
    assert (
        f"{type(model).__name__}.fit will take about a second at most, by the pace of "
        "its first 3 of 100 steps. Choose features first" in str(message.message)
    )


def test_classes_that_ended_early_are_not_expected_any_more(monkeypatch):
    totals = []

    class Watched(Progress):
        def to_come(self, steps):
            super().to_come(steps)
            totals.append((self.done, self.total))

    monkeypatch.setattr(dual_projection, "Progress", Watched)
    X, _ = important(60, 40)
    for solver in ("accelerate", "iterate"):
        totals.clear()
        DualProjectionClassifier(
            solver=solver, n_projections=30, alpha=30.0, max_iter=50, random_state=0
        ).fit(X, np.arange(60) % 3)
        assert [total - done for done, total in totals] == [150, 100, 50]


def test_a_refused_solution_leaves_nothing(monkeypatch):
    def refuse(*_):
        raise FloatingPointError

    monkeypatch.setattr(dual_projection, "check_convergence", refuse)
    machine = DualProjectionClassifier()
    X = np.random.default_rng(0).standard_normal((20, 40))
    with pytest.raises(FloatingPointError):
        machine.fit(X, X[:, 0] > 0)
    assert not hasattr(machine, "n_projections_")


def shown_by(notebook, text):
    """The stored output of the code cell that holds `text`."""
    path = Path(__file__).resolve().parent.parent / "nbs" / f"{notebook}.ipynb"
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code" and text in "".join(cell["source"]):
            return "".join(cell["outputs"][0]["text"])


@pytest.mark.parametrize("rank", [10, 100])
def test_the_bounds_on_the_sketch_of_the_chapter(rank):
    """The table's lines without regularisation: the printed bound and the chapter's
    own, which sketches of its size keep and much smaller ones do not.
    """
    delta = 0.01
    printed = 4 * (rank + 1) * np.log(2 * rank / delta)
    own = np.sqrt(rank) + np.sqrt(2 * np.log(2 / delta))
    needed = int(np.ceil((own / (np.sqrt(1.5) - 1)) ** 2))
    eta = own / np.sqrt(2000)
    rng = np.random.default_rng(0)

    def worst(m):
        sketches = [rng.standard_normal((rank, m)) for _ in range(20)]
        return max(np.abs(np.linalg.eigvalsh(G @ G.T / m) - 1).max() for G in sketches)

    (line,) = [
        line.split()
        for line in shown_by("17_dual_projection", "def compare_bounds").splitlines()
        if line.startswith(f"rank {rank} ")
    ]
    assert line[4:6] == [f"{printed / 0.25:,.0f}", f"{needed:,}"]
    assert line[7:9] == [f"{np.sqrt(printed / 2000):.2f}", f"{2 * eta + eta**2:.2f}"]
    assert worst(2000) == pytest.approx(float(line[9]), abs=0.05)
    assert worst(int(line[6].replace(",", ""))) == pytest.approx(0.5, abs=0.1)
    assert worst(needed) <= 0.5 < worst(needed // 6)
