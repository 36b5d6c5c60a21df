"""Margin, radius, support vectors: by a conic solver, by bounds from both sides, the
theorem attacked.
"""

import itertools
import pickle
import tracemalloc
import warnings
from dataclasses import replace
from functools import cache

import clarabel
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from cases import (
    CASES,
    conic,
    dense,
    interval,
    orthonormal,
    refused,
    right_singular_vectors,
    sparse_table,
    swept,
    swept_product,
    swept_seeds,
    table,
    with_condition,
)
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_selection import RFE, SelectFromModel, VarianceThreshold
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from fsel_book import (
    BSSSelector,
    DSFSelector,
    LeverageSelector,
    LPSVMClassifier,
    RandomSelector,
    RiskRFE,
    RRQRSelector,
    Sampling,
    SCADSVMClassifier,
    SupportVectorSelector,
    enclosing_ball,
    margin_report,
    progress,
    svm,
    svm_margin,
)
from fsel_book.linear_programs import l1_program
from fsel_book.svm import MarginReport, scad_penalty, scad_slope

# ---------------------------------------------------------------- oracles


def unit(X):
    """X moved and scaled to entries of size one, and the scale: distances are divided
    by it.
    """
    X = dense(X)
    largest = np.abs(X).max() or 1.0
    X = X / largest - np.mean(X / largest, axis=0)
    scale = np.abs(X).max() or 1.0
    return X / scale, scale * largest


def largest_margin(X, signs):
    """1 / |w| for the least |w| with y (x'w + b) >= 1."""
    X, scale = unit(X)
    n, d = X.shape
    A = -signs[:, None] * np.column_stack([X, np.ones(n)])
    x, _ = conic(
        np.diag(np.append(np.ones(d), 0)),
        np.zeros(d + 1),
        A,
        -np.ones(n),
        [clarabel.NonnegativeConeT(n)],
    )
    return scale / np.linalg.norm(x[:d])


def smallest_radius(X):
    """The least r with all |x_i - c| <= r, each of these a second-order cone."""
    X, scale = unit(X)
    n, d = X.shape
    A = np.tile(np.eye(d + 1), (n, 1))  # of (r, c): the slack is (r, x_i - c)
    A[:: d + 1, 0] = -1
    b = np.column_stack([np.zeros(n), X]).ravel()
    q = np.append(1.0, np.zeros(d))
    cones = [clarabel.SecondOrderConeT(d + 1)] * n
    return conic(np.zeros((d + 1, d + 1)), q, A, b, cones)[0][0] * scale


def least_price(X, signs, C):
    """The least value of |w|^2 / 2 + C times the slack."""
    X = dense(X)
    n, d = X.shape
    A = np.block(
        [
            [-signs[:, None] * X, -signs[:, None], -np.eye(n)],
            [np.zeros((n, d + 1)), -np.eye(n)],
        ]
    )
    P = np.diag(np.concatenate([np.ones(d), np.zeros(1 + n)]))
    q = np.concatenate([np.zeros(d + 1), np.full(n, C)])
    return conic(
        P,
        q,
        A,
        np.concatenate([-np.ones(n), np.zeros(n)]),
        [clarabel.NonnegativeConeT(2 * n)],
    )[1]


def least_l1_price(X, signs, penalties, C):
    """The least value of sum_j penalties_j |w_j| + C times the slack, over (w, b, |w|,
    slack).
    """
    X = dense(X)
    n, d = X.shape
    I = np.eye(d)
    O = np.zeros
    A = np.block(
        [
            [I, O((d, 1)), -I, O((d, n))],
            [-I, O((d, 1)), -I, O((d, n))],
            [-signs[:, None] * X, -signs[:, None], O((n, d)), -np.eye(n)],
            [O((n, 2 * d + 1)), -np.eye(n)],
        ]
    )
    q = np.concatenate([np.zeros(d + 1), penalties, np.full(n, C)])
    b = np.concatenate([np.zeros(2 * d), -np.ones(n), np.zeros(n)])
    return conic(O((len(q), len(q))), q, A, b, [clarabel.NonnegativeConeT(len(b))])[1]


def margin_between(X, signs, found):
    """A lower and an upper bound on the largest margin: what the plane reaches, and a
    distance of the hulls.

    The plane is given; weights for the hulls are found from it. Any of either would
    give a bound, so that nothing of how they were found need be right.
    """
    X, scale = unit(X)
    w = dense(found.coef)
    largest = np.abs(dense(found.coef)).max()
    w = w / largest
    w = w / np.linalg.norm(w)
    heights = np.longdouble(X) @ np.longdouble(w)
    # with the best intercept
    lower = (heights[signs > 0].min() - heights[signs < 0].max()) / 2
    S = X[found.support]
    y = signs[found.support]
    system = np.vstack([(y[:, None] * S).T, y > 0, y < 0])
    a = nnls(
        system, np.concatenate([2 * float(lower) * w, [1, 1]]), maxiter=100 * len(y)
    )[0]
    a = np.longdouble(a)
    hulls = [(a[side] / a[side].sum()) @ S[side] for side in (y > 0, y < 0)]
    upper = np.sqrt(np.sum((hulls[0] - hulls[1]) ** 2)) / 2
    return float(lower) * scale, float(upper) * scale


def radius_between(X, found):
    """A lower and an upper bound on the least radius: a weighted variance, and the
    distance of the farthest sample.
    """
    X = np.longdouble(dense(X))
    scale = np.abs(X).max() or np.longdouble(1)
    X = X / scale
    a = np.longdouble(found.weights)
    a = np.maximum(a, 0) / np.maximum(a, 0).sum()
    lower = np.sqrt(a @ np.sum((X - a @ X) ** 2, axis=1))
    upper = np.sqrt(
        np.max(np.sum((X - np.longdouble(dense(found.center)) / scale) ** 2, axis=1))
    )
    return lower * scale, upper * scale


def can_separate(X, signs):
    """Whether the hulls are apart: the largest t <= 1 with y (x'w + b) >= t for some
    |w_j|, |b| <= 1, by clarabel.
    """
    X, _ = unit(X)
    n, d = X.shape
    A = np.block(
        [
            [-signs[:, None] * X, -signs[:, None], np.ones((n, 1))],
            [np.eye(d + 1, d + 2)],
            [-np.eye(d + 1, d + 2)],
        ]
    )
    b = np.concatenate([np.zeros(n), np.ones(2 * d + 2)])
    x, _ = conic(
        np.zeros((d + 2, d + 2)),
        np.append(np.zeros(d + 1), -1.0),
        A,
        b,
        [clarabel.NonnegativeConeT(len(b))],
    )
    return x[-1] > 1e-8


# ---------------------------------------------------------------- data


def on_sphere(n, d, rng):
    X = rng.standard_normal((n, d))
    return X / np.linalg.norm(X, axis=1)[:, None]


def corners(d):
    return np.array(np.meshgrid(*[[-1.0, 1.0]] * d)).reshape(d, -1).T


def circle(n):
    angle = 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(angle), np.sin(angle)])


DATA = {
    "tall": lambda rng: rng.standard_normal((60, 4)),
    "wide": lambda rng: rng.standard_normal((10, 50)),
    "square": lambda rng: rng.standard_normal((12, 12)),
    "one feature": lambda rng: rng.standard_normal((15, 1)),
    "two samples": lambda rng: rng.standard_normal((2, 6)),
    "rank-deficient": lambda rng: (
        rng.standard_normal((30, 2)) @ rng.standard_normal((2, 9))
    ),
    "repeated": lambda rng: np.repeat(rng.standard_normal((6, 4)), 5, axis=0),
    "integers": lambda rng: rng.integers(-2, 3, (40, 3)).astype(float),
    "zeros and ones": lambda rng: rng.integers(0, 2, (40, 6)).astype(float),
    "collinear": lambda rng: np.outer(rng.standard_normal(20), rng.standard_normal(5)),
    "on a sphere": lambda rng: on_sphere(50, 3, rng),
    "on a sphere, wide": lambda rng: on_sphere(20, 40, rng),
    "on a circle": lambda rng: circle(64) + rng.standard_normal(2),
    "corners of a cube": lambda rng: corners(5) * rng.uniform(1, 2, 5),
    "cross-polytope": lambda rng: np.vstack([np.eye(9), -np.eye(9)]),
    "simplex": lambda rng: np.eye(12),
    "features of all sizes": lambda rng: (
        rng.standard_normal((30, 7)) * np.logspace(-6, 6, 7)
    ),
    "condition 1e12": lambda rng: with_condition(30, 8, 1e12, rng),
    "condition 1e12, wide": lambda rng: with_condition(8, 30, 1e12, rng),
    "one far sample": lambda rng: np.vstack(
        [rng.standard_normal((20, 4)), 1e3 * np.ones((1, 4))]
    ),
    "a constant feature": lambda rng: np.column_stack(
        [np.full(20, 3.0), rng.standard_normal((20, 3))]
    ),
    "tiny": lambda rng: 1e-149 * rng.standard_normal((20, 5)),
    "huge": lambda rng: 1e149 * rng.standard_normal((20, 5)),
    "small": lambda rng: 1e-12 * rng.standard_normal((20, 5)),
    "large": lambda rng: 1e12 * rng.standard_normal((20, 5)),
    "float32": lambda rng: rng.standard_normal((25, 6)).astype(np.float32),
}
FORMS = [np.asarray, sp.csr_array, sp.csc_matrix]
each_kind = pytest.mark.parametrize("kind", DATA)


def split(X, rng):
    """Signs of the samples by a random plane through the widest gap in the middle:
    classes that can be separated.
    """
    X, _ = unit(X)
    heights = X @ rng.standard_normal(X.shape[1])
    order = np.sort(heights)
    gaps = np.diff(order)
    gaps[gaps < 1e-9] = 0
    middle = (
        np.arange(len(gaps))
        if len(gaps) < 8
        else np.arange(len(gaps) // 4, 3 * len(gaps) // 4)
    )
    at = middle[np.argmax(gaps[middle])]
    return np.where(heights > (order[at] + order[at + 1]) / 2, 1.0, -1.0)


def nearly_touching(n, d, gap, rng):
    """Two classes of margin `gap`: half of each lies in a plane at this height, the
    hulls there one above the other.
    """
    X = rng.standard_normal((n, d))
    signs = np.where(np.arange(n) % 2, 1.0, -1.0)
    X[: n // 2, 0] = 0
    X[:, 0] = signs * (gap + np.abs(X[:, 0]))
    return X @ orthonormal(d, d, rng).T, signs


def two_clouds(n, d, rng, apart=3.0):
    signs = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = rng.standard_normal((n, d)) * np.exp(0.5 * rng.standard_normal(d))
    X[:, 0] = signs * (apart + np.abs(X[:, 0]))
    return X @ orthonormal(d, d, rng).T, signs


# ---------------------------------------------------------------- the ball


@each_kind
def test_ball(kind):
    """78 cases: bounds from both sides, the radius of the conic solver, and the center
    a mixture of the surface.
    """
    for seed, form in enumerate(FORMS):
        rng = np.random.default_rng(seed)
        X = DATA[kind](rng)
        ball = enclosing_ball(form(X))
        lower, upper = radius_between(X, ball)
        assert lower * (1 - 1e-7) <= ball.radius <= upper * (
            1 + 1e-7
        ) and upper <= lower * (1 + 1e-7)
        assert ball.radius == pytest.approx(smallest_radius(X), rel=1e-6)

        a = ball.weights
        X = dense(X)
        assert (
            a.shape == (len(X),)
            and np.all(a >= 0)
            and a.sum() == pytest.approx(1, rel=1e-12)
        )
        assert_allclose(ball.center, a @ X, rtol=1e-9, atol=1e-9 * np.abs(X).max())
        distances = (
            np.linalg.norm((X - ball.center) / np.abs(X).max(), axis=1)
            * np.abs(X).max()
        )
        assert_allclose(distances[a > 1e-6], ball.radius, rtol=1e-6)
        assert -1e-12 <= ball.gap <= 1e-7


@pytest.mark.parametrize("shift", [1e3, 1e6, 1e8])
def test_ball_of_dense_data_far_from_zero(shift):
    for seed in range(5):
        X = shift + np.random.default_rng(seed).standard_normal((30, 5))
        ball = enclosing_ball(X)
        lower, upper = radius_between(X, ball)
        assert_allclose([float(lower), float(upper)], ball.radius, rtol=1e-7)
        assert ball.radius == pytest.approx(smallest_radius(X), rel=1e-6)


def test_ball_of_sparse_data_far_from_zero():
    """Sparse data stay where they are, so the squared radius has the rounding error of
    the squared lengths.
    """
    for seed in range(20):
        shift = [0.0, 1e2, 1e4, 1e6][seed % 4]
        X = shift + np.random.default_rng(seed).standard_normal((30, 5))
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            ball = enclosing_ball(sp.csr_array(X))
        error = abs(ball.radius**2 - smallest_radius(X) ** 2)
        assert error <= 1e-14 * np.max(np.sum(X**2, axis=1)) + 1e-6 * ball.radius**2
        assert bool(warned) == (ball.gap > 1e-7) == (shift >= 1e4)


@pytest.mark.parametrize("form", FORMS)
def test_ball_of_one_point(form):
    for X in (
        np.array([[3.0, -4.0, 0.5]]),
        np.full((4, 3), 0.1),
        np.zeros((3, 2)),
        np.zeros((1, 1)),
    ):
        ball = enclosing_ball(form(X))
        assert ball.radius <= 1e-7 * np.abs(
            X
        ).max() and ball.weights.sum() == pytest.approx(1)
        assert_allclose(ball.center, X[0], rtol=1e-12)
        if form is np.asarray:
            assert ball.radius == 0


def test_known_balls():
    """Cube, simplex, cross-polytope, two points, an obtuse and an acute triangle: by
    formulae.
    """
    expected = [
        (corners(4), 2.0, np.zeros(4)),
        (np.eye(6), np.sqrt(5 / 6), np.full(6, 1 / 6)),
        (np.vstack([np.eye(5), -np.eye(5)]), 1.0, np.zeros(5)),
        ([[1.0, 2.0], [4.0, 6.0]], 2.5, [2.5, 4.0]),
        ([[-3.0, 0.0], [3.0, 0.0], [0.0, 1.0]], 3.0, [0.0, 0.0]),
        (
            [[-1.0, 0.0], [1.0, 0.0], [0.0, np.sqrt(3)]],
            2 / np.sqrt(3),
            [0.0, 1 / np.sqrt(3)],
        ),
    ]
    for X, radius, center in expected:
        ball = enclosing_ball(X)
        assert ball.radius == pytest.approx(radius, rel=1e-9)
        assert_allclose(ball.center, center, atol=1e-9)


def test_ball_moves_and_scales_with_the_data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((25, 6))
    Q = orthonormal(6, 6, rng)
    ball = enclosing_ball(X)
    for scale in (2.0**-30, 3.0, 1e149, 1e-149):
        moved = enclosing_ball(scale * (X @ Q))
        assert moved.radius / scale == pytest.approx(ball.radius, rel=1e-9)
        assert_allclose(moved.center / scale, ball.center @ Q, atol=1e-7)


def test_ball_of_many_samples():
    X = np.random.default_rng(0).standard_normal((3000, 12))
    ball = enclosing_ball(X)
    lower, upper = radius_between(X, ball)
    assert upper <= lower * (1 + 1e-7) and np.count_nonzero(ball.weights) <= 13


# ---------------------------------------------------------------- the hard margin


def assert_margin(X, signs, found, rtol=1e-7):
    """Bounds from both sides around `margin`, and a plane that goes half-way."""
    lower, upper = margin_between(X, signs, found)
    assert found.separable is True and found.slack == 0
    assert lower == pytest.approx(found.margin, rel=rtol)
    assert upper == pytest.approx(found.margin, rel=rtol)
    X = dense(X)
    size = np.abs(X).max()
    w = found.coef * size
    b = found.intercept
    assert 1 / np.linalg.norm(w) * size == pytest.approx(found.margin, rel=rtol)
    heights = signs * (X / size @ w + b)
    assert heights.min() == pytest.approx(1, abs=1e-6 + 1e-14 * np.abs(w).sum())
    assert set(signs[found.support]) == {-1.0, 1.0}
    assert_array_equal(found.support, np.sort(found.support))
    assert -1e-12 <= found.gap <= 1e-7


@each_kind
def test_margin(kind):
    """78 cases: bounds from both sides, and the margin of the conic solver."""
    for seed, form in enumerate(FORMS):
        rng = np.random.default_rng(seed)
        X = DATA[kind](rng)
        signs = split(X, rng)
        found = svm_margin(form(X), signs)
        assert_margin(X, signs, found)
        assert found.margin == pytest.approx(largest_margin(X, signs), rel=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_margin_with_one_sample_in_a_class(form):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((20, 4))
        X[0] = 3 * X[0] / np.linalg.norm(X[0]) * np.linalg.norm(X, axis=1).max()
        signs = np.where(np.arange(20) == 0, 1.0, -1.0)
        found = svm_margin(form(X), signs)
        assert_margin(X, signs, found)
        assert found.margin == pytest.approx(largest_margin(X, signs), rel=1e-7)
    pair = np.array([[1.0, 2.0], [4.0, 6.0]])
    assert svm_margin(form(pair), [0, 1]).margin == pytest.approx(2.5, rel=1e-12)


@pytest.mark.parametrize("shift", [1e2, 1e3])
def test_margin_of_data_far_from_zero(shift):
    for seed in range(5):
        X, signs = two_clouds(30, 5, np.random.default_rng(seed), apart=1.0)
        assert_margin(X + shift, signs, svm_margin(X + shift, signs))


@pytest.mark.parametrize("apart", [0.01, 1.0])
def test_margin_of_data_very_far_from_zero(apart):
    """Dense data are centred, so nothing is lost to the length of the samples."""
    for seed in range(5):
        X, signs = two_clouds(30, 5, np.random.default_rng(seed), apart)
        X = X + 1e6
        found = svm_margin(X, signs)
        assert found.margin == pytest.approx(largest_margin(X, signs), rel=1e-6)


@swept("size", [(60, 10)], [(30, 3), (100, 5)])
def test_tiny_margins(size):
    """Of 1e-3 and 1e-4 of the size to the tolerance; of less, to what the warning says."""
    X, signs = nearly_touching(*size, 0.01, np.random.default_rng(0))
    # so it is the height that counts, below too
    assert largest_margin(X, signs) == pytest.approx(0.01, rel=1e-6)
    for gap in (1e-3, 1e-4):
        X, signs = nearly_touching(*size, gap, np.random.default_rng(0))
        with warnings.catch_warnings():
            # the gap counts rounding, and is a little above 1e-7
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = svm_margin(X, signs)
        assert found.margin == pytest.approx(gap, rel=1e-7) and found.gap < 1e-6
    for gap in (1e-5, 1e-6):
        X, signs = nearly_touching(*size, gap, np.random.default_rng(0))
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            found = svm_margin(X, signs)
        assert found.separable and bool(warned) == (found.gap > 1e-7)
        assert abs((found.margin / gap) ** 2 - 1) <= max(found.gap, 1e-7)
        assert found.gap < 1e-2
        for warning in warned:
            assert warning.category is ConvergenceWarning and "squared margin" in str(
                warning.message
            )


def test_a_tolerance_that_cannot_be_reached_is_reported():
    X, signs = nearly_touching(60, 10, 1e-4, np.random.default_rng(0))
    with pytest.warns(ConvergenceWarning, match="squared margin is known to"):
        assert svm_margin(X, signs, tol=1e-17).gap > 1e-17
    with pytest.warns(ConvergenceWarning, match="squared radius is known to"):
        enclosing_ball(np.random.default_rng(0).standard_normal((40, 6)), tol=0.0)


@swept_seeds(3, 10)
def test_a_rough_tolerance_costs_what_it_says(seeds):
    """Duality: margin and radius come out too small, the squares by no more than the
    gap.
    """
    for seed in seeds:
        X, signs = two_clouds(60, 8, np.random.default_rng(seed), apart=0.3)
        margin = largest_margin(X, signs)
        radius = smallest_radius(X)
        for tol in (1e-1, 1e-2, 1e-4):
            plane = svm_margin(X, signs, tol=tol)
            ball = enclosing_ball(X, tol=tol)
            assert max(plane.gap, ball.gap) <= tol
            assert (1 - plane.gap) - 1e-6 <= (plane.margin / margin) ** 2 <= 1 + 1e-6
            assert 1 - 1e-6 <= (radius / ball.radius) ** 2 <= (1 + ball.gap) + 1e-6


def test_margin_does_not_depend_on_labels_or_order():
    X, signs = two_clouds(40, 5, np.random.default_rng(3))
    found = svm_margin(X, signs)
    for labels in (
        signs > 0,
        signs.astype(int),
        np.where(signs > 0, "b", "a"),
        np.where(signs > 0, 7, 3),
        list(signs),
    ):
        other = svm_margin(X, labels)
        assert other.margin == found.margin
        assert_array_equal(other.coef, found.coef)
    named = svm_margin(X, np.where(signs > 0, "b", "a").astype(object))
    assert named.intercept == found.intercept
    swapped = svm_margin(X, -signs)
    assert swapped.margin == pytest.approx(found.margin, rel=1e-9)
    assert_allclose(swapped.coef, -found.coef, rtol=1e-6, atol=1e-9)
    order = np.random.default_rng(0).permutation(40)
    mixed = svm_margin(X[order], signs[order])
    assert mixed.margin == pytest.approx(found.margin, rel=1e-9)
    assert_array_equal(np.sort(order[mixed.support]), found.support)


@pytest.mark.parametrize("form", FORMS)
def test_margin_scales_with_the_data(form):
    X, signs = two_clouds(40, 5, np.random.default_rng(3))
    found = svm_margin(form(X), signs)
    for scale in (1e-149, 1e-30, 1e30, 1e149):
        scaled = svm_margin(form(scale * X), signs)
        assert scaled.margin / scale == pytest.approx(found.margin, rel=1e-9)
        assert_allclose(scaled.coef * scale, found.coef, rtol=1e-6, atol=1e-9)
        assert scaled.intercept == pytest.approx(found.intercept, rel=1e-6, abs=1e-9)


def test_wrong_labels_are_refused():
    X = table(10, 4)
    signs = np.where(np.arange(10) % 2, 1, -1)
    with refused("y has only one class"):
        svm_margin(X, np.ones(10))
    with refused("y has 3 class"):
        svm_margin(X, np.arange(10) % 3)
    with refused("inconsistent numbers of samples: [10, 9]"):
        svm_margin(X, signs[:9])
    with refused("Unknown label type: continuous"):
        svm_margin(X, X[:, 0])
    with refused("X contains NaN or infinity"):
        svm_margin(np.where(X > 1, np.nan, X), signs)
    with refused("X contains NaN or infinity"):
        enclosing_ball([[np.inf, 1.0]])


# ---------------------------------------------------------------- can they be
# separated?


def touching(kind, n, d, rng):
    """Two classes whose hulls meet: in a vertex, in a vertex and a middle, at an inner
    point, in duplicates.
    """
    X = rng.integers(-3, 4, (n, d)).astype(float)
    signs = np.where(np.arange(n) % 2, 1.0, -1.0)
    X[:, 0] = signs * np.abs(X[:, 0])
    if kind == "vertices":
        X[:2] = 0
    if kind == "edge and vertex":
        X[0] = 0
        X[1, 0] = 0
        X[3] = -X[1]
    if kind == "inside":
        X[0] = np.mean(X[1:9:2], axis=0)
    if kind == "duplicates":
        X = rng.standard_normal((n, d))
        X[0] = X[1]
    if kind == "duplicates, wide":
        X = rng.standard_normal((n, 3 * n))
        X[0] = X[1]
    return X, signs


TOUCHING = ["vertices", "edge and vertex", "inside", "duplicates", "duplicates, wide"]


@swept_seeds(4, 12)
@pytest.mark.parametrize("kind", TOUCHING)
def test_hulls_that_meet(kind, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n = 2 * int(rng.integers(5, 20))
        d = int(rng.integers(1, 7))
        X, signs = touching(kind, n, d, rng)
        assert not can_separate(X, signs)
        for scale in (1.0, [2.0**-20, 2.0**20, 2.0**-490, 2.0**490][seed % 4]):
            found = svm_margin(FORMS[seed % 3](scale * X), signs)
            assert found.separable is False and found.margin == 0 and found.gap == 0
            assert (
                found.coef is None
                and found.intercept is None
                and len(found.support) == 0
            )


@swept_seeds(3, 8)
@pytest.mark.parametrize("gap", [1e-3, 1e-4, 1e-5])
def test_hulls_that_nearly_meet(gap, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X, signs = nearly_touching(
            2 * int(rng.integers(8, 25)), int(rng.integers(2, 7)), gap, rng
        )
        assert can_separate(X, signs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = svm_margin(X, signs)
        assert found.separable is True and found.margin >= gap * (1 - 1e-4)


@swept("size", [(30, 3), (60, 10)], [(300, 20)])
def test_hulls_that_are_closer_than_rounding_can_tell(size):
    """Right to the gap, which is said, or none."""
    for gap in (1e-7, 1e-8, 1e-9, 1e-10, 1e-12):
        X, signs = nearly_touching(*size, gap, np.random.default_rng(0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = svm_margin(X, signs)
        assert found.margin >= 0 and found.separable is (found.margin > 0)
        if found.separable:
            assert abs((found.margin / gap) ** 2 - 1) <= max(found.gap, 1e-7)
            assert (
                found.gap < 1e-2
                and np.min(signs * (X @ found.coef + found.intercept)) >= 1 - found.gap
            )


@pytest.mark.parametrize("scale", [2.0**-40, 2.0**60])
def test_the_decision_does_not_depend_on_the_scale(scale):
    """HiGHS would take entries below 1e-9 for zero and refuse those above 1e15."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, signs = nearly_touching(
            2 * int(rng.integers(8, 25)), int(rng.integers(2, 7)), 1e-3, rng
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            assert svm_margin(scale * X, signs).separable is True


def test_random_decisions():
    """60 small integer data of random labels: as many as not are separable, and the
    oracle agrees on all.
    """
    found = []
    expected = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.integers(-2, 3, (int(rng.integers(4, 9)), 3)).astype(float)
        signs = np.where(rng.random(len(X)) < 0.5, 1.0, -1.0)
        signs[:2] = 1, -1
        found.append(svm_margin(X, signs).separable)
        expected.append(can_separate(X, signs))
    assert found == expected and 10 < sum(expected) < 50


def test_all_zeros_cannot_be_separated():
    for form in FORMS:
        assert svm_margin(form(np.zeros((4, 3))), [0, 1, 0, 1]).separable is False


# ---------------------------------------------------------------- the soft margin


def price(X, signs, plane, C):
    """|w|^2 / 2 + C times the slack, of a plane."""
    w = dense(plane.coef).ravel()
    return (
        w @ w / 2
        + C * np.maximum(0, 1 - signs * (dense(X) @ w + plane.intercept)).sum()
    )


def overlapping(seed, n=40, d=6):
    rng = np.random.default_rng(seed)
    signs = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    signs[:2] = 1, -1
    return rng.standard_normal((n, d)) + signs[:, None] * rng.uniform(0, 0.6, d), signs


@pytest.mark.parametrize("C", [1e-3, 0.1, 1.0, 30.0])
def test_soft_margin(C):
    for seed, form in enumerate([*FORMS, *FORMS]):
        X, signs = overlapping(seed, *((40, 6) if seed % 2 else (20, 30)))
        found = svm_margin(form(X), signs, C)
        svc = SVC(C=C, kernel="linear", tol=1e-6).fit(X, signs)
        least = least_price(X, signs, C)
        svc_price = (
            svc.coef_[0] @ svc.coef_[0] / 2
            + C * np.maximum(0, 1 - signs * svc.decision_function(X)).sum()
        )
        # where libsvm stops, at a tolerance of 1e-6 for each sample
        close = {"rel": 1e-6, "abs": 1e-6 * C * len(X)}
        assert found.separable is None and np.isnan(found.gap)
        assert price(X, signs, found, C) == pytest.approx(least, **close)
        assert price(X, signs, found, C) == pytest.approx(svc_price, **close)
        assert 0.5 / found.margin**2 + C * found.slack == pytest.approx(least, **close)
        assert found.margin == pytest.approx(
            1 / np.linalg.norm(dense(found.coef)), rel=1e-9
        )


def test_soft_margin_at_other_scales():
    """Of s X at C / s^2 it is that of X at C, times s."""
    X, signs = overlapping(0)
    found = svm_margin(X, signs, 0.7)
    for scale in (1e-3, 1e4, 1e-145, 1e145):
        scaled = svm_margin(scale * X, signs, 0.7 / scale**2)
        assert scaled.margin / scale == pytest.approx(found.margin, rel=1e-4)
        assert scaled.slack == pytest.approx(found.slack, rel=1e-3)


def test_soft_margin_tends_to_the_hard_one():
    for seed in range(5):
        X, signs = two_clouds(30, 4, np.random.default_rng(seed), apart=0.5)
        hard = svm_margin(X, signs)
        margins = [svm_margin(X, signs, C).margin for C in (1e-2, 1e-1, 1.0, 1e6)]
        assert np.all(np.diff(margins) <= 1e-5 * margins[0])
        soft = svm_margin(X, signs, 1e6)
        assert soft.margin == pytest.approx(hard.margin, rel=1e-4) and soft.slack < 1e-4
        assert_allclose(
            soft.coef, hard.coef, rtol=1e-3, atol=1e-4 * np.abs(hard.coef).max()
        )


@pytest.mark.parametrize("C", [0, -1.0, np.nan, "one"])
def test_wrong_prices_of_slack_are_refused(C):
    X, signs = overlapping(0)
    with refused(f"C={C!r} is not possible"):
        svm_margin(X, signs, C)


# ---------------------------------------------------------------- the theorem


def random_sampling(d, rng):
    """Any features, with weights over two orders of magnitude."""
    r = int(rng.integers(1, d + 1))
    return Sampling(rng.permutation(d)[:r], 10 ** rng.uniform(-1, 1, r), d, r)


SELECTIONS = {
    "any": lambda X, rng: random_sampling(X.shape[1], rng),
    "BSS": lambda X, rng: BSSSelector(X.shape[1] // 2).fit(X).sampling_,
    "BSS, best": lambda X, rng: (
        BSSSelector(X.shape[1] // 2, rule="best").fit(X).sampling_
    ),
    "leverage": lambda X, rng: (
        LeverageSelector(X.shape[1] // 2, random_state=int(rng.integers(99)))
        .fit(X)
        .sampling_
    ),
}


def theorem_data(seed, rng):
    kind = ["generic", "rank-deficient", "tall", "sparse"][seed % 4]
    if kind == "tall":
        return two_clouds(40, 8, rng, apart=0.5)[0]
    if kind == "rank-deficient":
        return rng.standard_normal((14, 4)) @ rng.standard_normal((4, 40))
    return table(10, 40, seed) if kind == "generic" else sparse_table(10, 60, 0.3, seed)


@swept_seeds(4, 16)
@pytest.mark.parametrize("rescale", [True, False])
@pytest.mark.parametrize("selection", SELECTIONS)
def test_the_theorem(selection, rescale, seeds):
    """Margin, radius and ratio within the interval that an oracle measures; every
    fourth also with oracles for both.
    """
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = theorem_data(seed, rng)
        signs = split(X, rng)
        sampling = SELECTIONS[selection](X, rng)
        report = margin_report(X, signs, sampling, rescale)
        ones = Sampling(
            sampling.indices,
            np.ones(sampling.n_selected),
            sampling.n_features,
            sampling.n_draws,
        )
        low, high = interval(right_singular_vectors(X), sampling if rescale else ones)
        assert_allclose(
            report.interval, [max(low, 0), high], rtol=1e-6, atol=1e-9 * high
        )

        g, g_new = report.margins
        B, B_new = report.radii
        room = 1e-6 * high
        assert low - room <= (g_new / g) ** 2 <= high + room
        assert low - room <= (B_new / B) ** 2 <= high + room
        if low > 1e-9 * high:
            assert (
                low / high * (1 - 1e-6)
                <= (B_new / B) ** 2 / (g_new / g) ** 2
                <= high / low * (1 + 1e-6)
            )
        assert report.holds
        if seed % 4 == 0:
            C = dense(sampling.apply(X, rescale))
            assert g == pytest.approx(largest_margin(X, signs), rel=1e-6)
            assert B_new == pytest.approx(smallest_radius(C), rel=1e-6)
            if can_separate(C, signs):
                assert g_new == pytest.approx(largest_margin(C, signs), rel=1e-5)


def directions(seed, d=30, l=5):
    """A selection and, as rows, the directions in the row space that its eigenvectors
    are, with the eigenvalues.
    """
    rng = np.random.default_rng(seed)
    V = orthonormal(d, l, rng)
    sampling = random_sampling(d, rng)
    while sampling.n_selected < 2 * l:
        sampling = random_sampling(d, rng)
    W = sampling.R.T @ V
    eigenvalues, U = np.linalg.eigh(W.T @ W)
    return sampling, (V @ U).T, eigenvalues


@pytest.mark.parametrize("at", [0, -1])
def test_the_bounds_on_margin_and_radius_are_attained(at):
    """Classes along one eigenvector, the same offsets along the others in both; balls
    of two opposite points.
    """
    for seed in range(10):
        sampling, E, eigenvalues = directions(seed)
        others = np.delete(E, at % 5, axis=0)
        offsets = np.vstack([np.zeros((1, 30)), others, -others])
        X = np.vstack([E[at] + offsets, -E[at] + offsets])
        signs = np.repeat([1.0, -1.0], len(offsets))
        report = margin_report(X, signs, sampling)
        assert_allclose(report.interval, eigenvalues[[0, -1]], rtol=1e-7)
        assert (
            report.factors[0] == pytest.approx(eigenvalues[at], rel=1e-6)
            and report.holds
        )

        small = 1e-3 * np.sqrt(eigenvalues[0] / eigenvalues[-1])
        X = np.vstack([E[at], -E[at], small * others, -small * others])
        report = margin_report(X, np.repeat([1.0, -1.0], [1, len(X) - 1]), sampling)
        assert (
            report.factors[1] == pytest.approx(eigenvalues[at], rel=1e-6)
            and report.holds
        )


def test_the_bound_on_the_ratio_is_approached():
    """The margin along the smallest eigenvector, the diameter along the largest, and
    the other way round.
    """
    for seed in range(5):
        sampling, E, eigenvalues = directions(seed)
        kappa = eigenvalues[-1] / eigenvalues[0]
        for near, far, factor in ((0, -1, kappa), (-1, 0, 1 / kappa)):
            offsets = np.vstack([1e3 * E[far], -1e3 * E[far], E[1:4]])
            X = np.vstack([E[near] + offsets, -E[near] + offsets])
            signs = np.repeat([1.0, -1.0], len(offsets))
            report = margin_report(X, signs, sampling)
            assert report.factors[2] == pytest.approx(factor, rel=1e-3) and report.holds


def test_the_soft_margin_is_within_its_bounds():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, signs = overlapping(seed, 20, 12) if seed % 2 else overlapping(seed, 10, 30)
        sampling = (
            random_sampling(X.shape[1], rng)
            if seed % 3
            else BSSSelector().fit(X).sampling_
        )
        low, high = interval(right_singular_vectors(X), sampling)
        low = low if low > 1e-9 * high else 0.0
        C = 10 ** rng.uniform(-2, 1)
        after = least_price(sampling.apply(X), signs, C)
        assert after >= least_price(X, signs, high * C) / high * (1 - 1e-6)
        if low:
            assert after <= least_price(X, signs, low * C) / low * (1 + 1e-6)
        soft = svm_margin(sampling.apply(X), signs, C)
        assert 0.5 / soft.margin**2 + C * soft.slack == pytest.approx(after, rel=1e-4)


def test_all_features_with_one_weight():
    """Both ends of the interval are the weight: margin, radius and price follow
    exactly.
    """
    X, signs = two_clouds(20, 6, np.random.default_rng(0))
    report = margin_report(X, signs, Sampling(np.arange(6), np.full(6, 7.0), 6, 6))
    assert_allclose(report.factors, [7, 7, 1], rtol=1e-6)
    assert_allclose(report.allowed, [[7, 7], [7, 7], [1, 1]], rtol=1e-9)
    X, signs = overlapping(0)
    assert least_price(np.sqrt(7) * X, signs, 2.0) == pytest.approx(
        least_price(X, signs, 14.0) / 7, rel=1e-7
    )


# ---------------------------------------------------------------- the report


def test_report_in_words():
    X, signs = two_clouds(20, 6, np.random.default_rng(0))
    report = margin_report(X, signs, Sampling(np.arange(6), np.full(6, 4.0), 6, 6))
    names, befores, afters, factors, allowed = zip(*report.table())
    assert names == ("margin", "radius", "(radius / margin)^2")
    assert [float(text) for text in befores] == pytest.approx(
        [*np.array([report.margins, report.radii, report.ratios])[:, 0]], rel=1e-3
    )
    assert [float(text) for text in afters] == pytest.approx(
        [*np.array([report.margins, report.radii, report.ratios])[:, 1]], rel=1e-3
    )
    assert factors == ("4", "4", "1") and allowed == ("[4, 4]", "[4, 4]", "[1, 1]")
    lines = str(report).splitlines()
    assert (
        lines[0].split() == "before after squares changed by allowed".split()
        and len(lines) == 4
    )
    assert repr(report) == str(report) and all(
        line.startswith(name) for line, name in zip(lines[1:], names)
    )


def test_report_can_say_no():
    assert MarginReport((1.0, 1.0), (1.0, 1.0), (0.9, 1.1)).holds
    assert not MarginReport((1.0, 0.9), (1.0, 1.0), (0.9, 1.1)).holds  # squared, 0.81
    assert not MarginReport((1.0, 1.1), (1.0, 1.0), (0.9, 1.1)).holds
    assert not MarginReport((1.0, 1.0), (1.0, 1.1), (0.9, 1.1)).holds
    assert not MarginReport((1.0, 1.0), (1.0, 0.9), (0.9, 1.1)).holds
    # separable classes stay so
    assert not MarginReport((1.0, 0.0), (1.0, 1.0), (0.9, 1.1)).holds
    assert MarginReport((1.0, 0.0), (1.0, 1.0), (0.0, 1.1)).holds


def test_a_report_allows_for_what_the_solvers_leave_open(monkeypatch):
    # squared, 0.884
    assert MarginReport((1.0, 0.94), (1.0, 1.0), (0.9, 1.1), accuracy=0.02).holds
    assert not MarginReport((1.0, 0.94), (1.0, 1.0), (0.9, 1.1), accuracy=0.01).holds
    X, signs = two_clouds(20, 6, np.random.default_rng(0))
    sampling = Sampling(np.arange(6), np.full(6, 4.0), 6, 6)
    known = margin_report(X, signs, sampling).accuracy
    plane = svm.svm_margin
    ball = svm.enclosing_ball
    monkeypatch.setattr(
        svm, "svm_margin", lambda *given: replace(plane(*given), gap=0.01)
    )
    monkeypatch.setattr(
        svm, "enclosing_ball", lambda *given: replace(ball(*given), gap=0.001)
    )
    assert known < 1e-3 and margin_report(X, signs, sampling).accuracy == pytest.approx(
        0.022, abs=1e-3
    )


def test_report_does_not_believe_in_something_from_nothing():
    assert not MarginReport((0.0, 1.0), (1.0, 1.0), (0.9, 1.1)).holds
    assert not MarginReport((0.0, 0.0), (0.0, 1.0), (0.9, 1.1)).holds


def test_report_of_classes_that_cannot_be_separated():
    X, signs = overlapping(0, 40, 3)
    report = margin_report(
        X, signs, Sampling(np.array([2, 0]), np.array([1.0, 3.0]), 3, 2)
    )
    assert (
        report.margins == (0.0, 0.0)
        and report.ratios == (np.inf, np.inf)
        and report.holds
    )
    assert (
        np.isnan(report.factors[0])
        and np.isnan(report.factors[2])
        and np.isfinite(report.factors[1])
    )
    assert "nan" in str(report) and "inf" in str(report)


def test_report_of_a_selection_that_loses_all():
    """Features that are zero: nothing is left of margin and radius, and the interval
    says so.
    """
    X, signs = two_clouds(20, 4, np.random.default_rng(0))
    X = np.hstack([X, np.zeros((20, 2))])
    report = margin_report(X, signs, Sampling(np.array([4, 5]), np.ones(2), 6, 2))
    assert (
        report.margins[1] == 0
        and report.radii[1] == 0
        and report.interval == (0.0, 0.0)
    )
    assert report.factors[:2] == (0.0, 0.0) and report.holds and "inf" in str(report)


def test_report_of_samples_that_are_all_the_same():
    report = margin_report(
        np.ones((4, 3)), [0, 1, 0, 1], Sampling(np.arange(2), np.ones(2), 3, 2)
    )
    assert report.radii == (0.0, 0.0) and report.holds and "nan" in str(report)


def test_report_refuses_what_does_not_fit():
    X, signs = two_clouds(20, 6, np.random.default_rng(0))
    with refused("sampling is of 5 features"):
        margin_report(X, signs, Sampling(np.arange(2), np.ones(2), 5, 2))
    with refused("sampling.weights must be"):
        margin_report(X, signs, Sampling(np.arange(2), -np.ones(2), 6, 2))
    with refused("y has only one class"):
        margin_report(X, np.ones(20), Sampling(np.arange(2), np.ones(2), 6, 2))
    with refused("X is all zeros"):
        margin_report(
            np.zeros((20, 6)), signs, Sampling(np.arange(2), np.ones(2), 6, 2)
        )


# ---------------------------------------------------------------- array libraries


def test_margin_and_ball_in_every_library(library):
    X, signs = two_clouds(24, 5, np.random.default_rng(0))
    given = library.make(X)
    plane = svm_margin(given, signs)
    ball = enclosing_ball(given)
    soft = svm_margin(given, signs, 0.5)
    for found, expected in (
        (plane, svm_margin(X, signs)),
        (soft, svm_margin(X, signs, 0.5)),
    ):
        assert library.is_result(found.coef, "float64")
        assert library.sparse or library.device(found.coef) == library.device(given)
        assert found.margin == pytest.approx(expected.margin, rel=1e-6)
        assert_allclose(library.back(found.coef), expected.coef, rtol=1e-4, atol=1e-6)
        assert library.is_result(found.support)
        assert_array_equal(
            np.sort(library.back(found.support)), np.sort(expected.support)
        )
    assert library.is_result(ball.center, "float64") and library.is_result(
        ball.weights, "float64"
    )
    assert library.sparse or library.device(ball.center) == library.device(given)
    assert ball.radius == pytest.approx(smallest_radius(X), rel=1e-6)
    assert (
        svm_margin(
            library.make(touching("duplicates", 20, 4, np.random.default_rng(0))[0]),
            signs[:20],
        ).margin
        == 0
    )


def test_report_in_every_library(library):
    X, signs = two_clouds(24, 9, np.random.default_rng(0))
    given = library.make(X)
    report = margin_report(
        given, signs, LeverageSelector(9, random_state=0).fit(given).sampling_
    )
    expected = margin_report(
        X, signs, LeverageSelector(9, random_state=0).fit(X).sampling_
    )
    assert_allclose(report.factors, expected.factors, rtol=1e-6)
    assert report.holds


# ---------------------------------------------------------------- selection on the
# support vectors


def documents(seed=0):
    """Wide data of two classes that do not depend on all features."""
    rng = np.random.default_rng(seed)
    X = table(60, 80, seed)
    return X, np.where(X[:, :6].sum(axis=1) + 0.5 * rng.standard_normal(60) > 0, 1, -1)


INNER = {
    name: CASES[name]
    for name in (
        "BSS",
        "BSS, best",
        "leverage sampling",
        "random",
        "DSF",
        "RSF",
        "strong RRQR",
    )
}
MACHINES = {
    "default": None,
    "SVC": SVC(kernel="linear"),
    "SVC of another C": SVC(kernel="linear", C=0.01),
    "SVC, radial": SVC(),
    "LinearSVC": LinearSVC(),
    "ridge": RidgeClassifier(),
}


def support_of(svm, X, y):
    """The support vectors, by definition of the machine."""
    machine = clone(SVC(kernel="linear") if svm is None else svm).fit(X, y)
    if hasattr(machine, "support_"):
        return np.sort(machine.support_)
    values = machine.decision_function(X)
    if values.ndim == 1:
        return np.array(
            [
                i
                for i in range(len(y))
                if (1 if y[i] == machine.classes_[1] else -1) * values[i] <= 1
            ]
        )
    kept = []
    for i in range(len(y)):
        sides = [1 if y[i] == label else -1 for label in machine.classes_]
        if min(side * value for side, value in zip(sides, values[i])) <= 1:
            kept.append(i)
    return np.array(kept)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("svm", MACHINES.values(), ids=MACHINES)
def test_support_vectors_are_those_of_the_machine(svm, classes):
    X, y = documents()
    if classes == 3:
        y = np.digitize(X[:, :6].sum(axis=1), [-1.0, 1.0])
    selector = SupportVectorSelector(BSSSelector(25), svm).fit(X, y)
    expected = support_of(svm, X, y)
    assert_array_equal(selector.support_samples_, expected)
    by_hand = BSSSelector(25).fit(X[expected], y[expected])
    assert_array_equal(selector.selected_, by_hand.selected_)
    assert 2 <= len(expected) <= 60
    if isinstance(svm, LinearSVC) and classes == 2:
        assert len(expected) < 60


@pytest.mark.parametrize("case", INNER.values(), ids=INNER)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_selection_is_that_of_the_inner_selector_on_the_support_vectors(case, form):
    X, y = documents()
    inner = case.make(20, rank=8, rescale=True)
    before = inner.get_params()
    svm = SVC(kernel="linear")
    selector = SupportVectorSelector(inner, svm).fit(form(X), y)
    samples = svm.__class__(kernel="linear").fit(X, y).support_
    by_hand = case.make(20, rank=8, rescale=True).fit(
        form(X)[np.sort(samples)], y[np.sort(samples)]
    )
    assert_array_equal(selector.support_samples_, np.sort(samples))
    assert_array_equal(selector.selected_, by_hand.selected_)
    assert_allclose(selector.weights_, by_hand.weights_, rtol=1e-9)
    assert_array_equal(selector.support_, by_hand.support_)
    assert_allclose(
        dense(selector.transform(form(X))), dense(by_hand.transform(form(X))), rtol=1e-9
    )
    assert_allclose(
        selector.certificate_.eigenvalues, by_hand.certificate_.eigenvalues, rtol=1e-9
    )
    assert selector.rescale is case.weighted and sp.issparse(
        selector.transform(form(X))
    ) == (form is not np.asarray)
    assert (
        inner.get_params() == before
        and not hasattr(inner, "selected_")
        and not hasattr(svm, "support_")
    )
    assert selector.selector_ is not inner


def test_margin_between_support_vectors_is_certified():
    """The certificate is of the support vectors, and so is the margin, which is that of
    all samples before.
    """
    for seed in range(10):
        X, signs = two_clouds(40, 30, np.random.default_rng(seed), apart=0.5)
        inner = (
            BSSSelector(28, rank="full")
            if seed % 2
            else LeverageSelector(28, rank="full", random_state=seed)
        )
        selector = SupportVectorSelector(inner, SVC(kernel="linear", C=1e6)).fit(
            X, signs
        )
        kept = selector.support_samples_
        assert len(kept) < 40
        low, high = interval(right_singular_vectors(X[kept]), selector.sampling_)
        certificate = selector.certificate_
        assert_allclose(
            certificate.interval, [max(low, 0), high], rtol=1e-6, atol=1e-9 * high
        )
        before = svm_margin(X[kept], signs[kept]).margin
        after = svm_margin(selector.sampling_.apply(X[kept]), signs[kept]).margin
        assert before == pytest.approx(largest_margin(X, signs), rel=1e-5)
        assert low * (1 - 1e-6) - 1e-9 <= (after / before) ** 2 <= high * (1 + 1e-6)
        if seed % 2:
            assert certificate.holds and low > 0


LABELS = {
    "signs": lambda side: np.where(side, 1, -1),
    "strings": lambda side: np.where(side, "pro", "contra"),
    "objects": lambda side: np.where(side, "pro", "contra").astype(object),
    "truth values": lambda side: side,
    "floats": lambda side: np.where(side, 2.0, 0.0),
    "list": lambda side: [int(s) for s in side],
    "series": lambda side: pd.Series(
        np.where(side, "b", "a"), index=np.arange(len(side))[::-1]
    ),
}
each_label = pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)


@each_label
@pytest.mark.parametrize("svm", [None, LinearSVC()], ids=["default", "LinearSVC"])
def test_labels_of_any_two_kinds(labels, svm):
    X, y = documents()
    expected = SupportVectorSelector(BSSSelector(20), svm).fit(X, y)
    selector = SupportVectorSelector(BSSSelector(20), svm).fit(X, labels(y > 0))
    assert_array_equal(selector.support_samples_, expected.support_samples_)
    assert_array_equal(selector.selected_, expected.selected_)


def test_names_of_features():
    X, y = documents()
    frame = pd.DataFrame(X, columns=[f"word {j}" for j in range(80)])
    selector = SupportVectorSelector(BSSSelector(20)).fit(frame, y)
    expected = SupportVectorSelector(BSSSelector(20)).fit(X, y)
    assert_array_equal(selector.selected_, expected.selected_)
    names = [f"word {j}" for j in np.sort(expected.selected_)]
    assert list(selector.get_feature_names_out()) == names and list(
        selector.feature_names_in_
    ) == list(frame.columns)
    out = selector.set_output(transform="pandas").transform(frame)
    assert list(out.columns) == names
    assert_allclose(out, frame[names])
    assert list(selector.selector_.get_feature_names_out()) == names
    assert_array_equal(
        selector.inverse_transform(out.to_numpy()) != 0,
        np.isin(np.arange(80), expected.selected_) & (X != 0),
    )


def test_support_vectors_in_every_library(library):
    X, y = documents()
    expected = SupportVectorSelector(BSSSelector(20, rescale=True)).fit(X, y)
    given = library.make(X)
    selector = SupportVectorSelector(BSSSelector(20, rescale=True)).fit(given, y)
    assert_array_equal(
        library.back(selector.support_samples_), expected.support_samples_
    )
    assert_array_equal(library.back(selector.selected_), expected.selected_)
    assert library.is_result(selector.weights_, "float64") and library.is_result(
        selector.selected_, "int64"
    )
    assert library.sparse or library.device(selector.weights_) == library.device(given)
    assert_allclose(
        library.back(selector.transform(given)), expected.transform(X), rtol=1e-9
    )
    labels = y if library.sparse else library.make(y)
    selector = SupportVectorSelector(BSSSelector(20)).fit(given, labels)
    assert_array_equal(
        library.back(selector.support_samples_), expected.support_samples_
    )


def test_support_vectors_of_float32():
    X, y = documents()
    selector = SupportVectorSelector(BSSSelector(20)).fit(X.astype(np.float32), y)
    assert (
        selector.weights_.dtype == np.float32
        and selector.transform(X.astype(np.float32)).dtype == np.float32
    )
    assert_array_equal(
        selector.support_samples_,
        SupportVectorSelector(BSSSelector(20)).fit(X, y).support_samples_,
    )


def test_in_a_pipeline_and_a_grid():
    X, y = documents()
    pipeline = make_pipeline(
        SupportVectorSelector(BSSSelector(20), LinearSVC()), LinearSVC()
    )
    by_hand = []
    for train, test in StratifiedKFold(3).split(X, y):
        inner = SupportVectorSelector(BSSSelector(20), LinearSVC()).fit(
            X[train], y[train]
        )
        by_hand.append(
            LinearSVC()
            .fit(inner.transform(X[train]), y[train])
            .score(inner.transform(X[test]), y[test])
        )
    assert_allclose(cross_val_score(pipeline, X, y, cv=3), by_hand)
    grid = GridSearchCV(
        pipeline,
        {"supportvectorselector__selector__n_features_to_select": [10, 40]},
        cv=3,
    ).fit(X, y)
    best = grid.best_params_["supportvectorselector__selector__n_features_to_select"]
    assert grid.best_estimator_[0].sampling_.n_selected == best
    assert grid.cv_results_["mean_test_score"].shape == (2,) and np.all(
        np.isfinite(grid.cv_results_["mean_test_score"])
    )
    other = clone(pipeline[0]).set_params(
        selector=RandomSelector(7, random_state=0), svm__C=3.0
    )
    assert other.svm.C == 3.0 and other.fit(X, y).sampling_.n_selected == 7


def test_nothing_is_left_of_an_earlier_fit():
    X, y = documents()
    for selector, bad in (
        (SupportVectorSelector(BSSSelector(20)), np.ones(60)),
        (SupportVectorSelector(BSSSelector(20)), y[:50]),
    ):
        selector.fit(X, y)
        with pytest.raises(ValueError):
            selector.fit(X, bad)
        with pytest.raises(NotFittedError):
            selector.transform(X)
    selector.fit(X, y).set_params(selector=BSSSelector(200))
    with refused("n_features_to_select=200 is not possible"):
        selector.fit(X, y)
    with pytest.raises(NotFittedError):
        selector.transform(X)
    assert not any(
        hasattr(selector, name) for name in ("selected_", "certificate_", "sampling_")
    )


def test_what_is_wrong_is_said():
    X, y = documents()
    with refused("requires y"):
        SupportVectorSelector().fit(X, None)
    with refused("y has only one class"):
        SupportVectorSelector().fit(X, np.zeros(60))
    with refused("inconsistent numbers of samples: [60, 59]"):
        SupportVectorSelector().fit(X, y[1:])
    with refused("Unknown label type: continuous"):
        SupportVectorSelector().fit(X, X[:, 0])
    with refused("NaN"):
        SupportVectorSelector().fit(np.where(X > 2, np.nan, X), y)
    with refused("rank=50 is not possible"):
        SupportVectorSelector(BSSSelector(20, rank=50)).fit(X, y)
    with refused("rescale=7 is not possible"):
        SupportVectorSelector(BSSSelector(20, rescale=7)).fit(X, y)
    with refused("SupportVectorSelector", "80 features", error=ValueError):
        SupportVectorSelector(BSSSelector(20)).fit(X, y).transform(X[:, 1:])


@pytest.mark.parametrize("selector", [3, VarianceThreshold(), SupportVectorSelector()])
def test_only_certified_selectors_choose(selector):
    X, y = documents()
    with refused("selector=", "is not possible: give a CertifiedSelector"):
        SupportVectorSelector(selector).fit(X, y)


@pytest.mark.parametrize(
    "machine", [RFE(LinearSVC()), RiskRFE(5, kernel="linear")], ids=["RFE", "RiskRFE"]
)
def test_a_mask_of_features_is_no_list_of_support_vectors(machine):
    """As many samples as features, so that nothing else would show the mistake."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 30))
    X[:, 0] += np.repeat([0.0, 3.0], 15)
    y = np.repeat([0, 1], 15)
    fitted = clone(machine).fit(X, y)
    values = fitted.decision_function(X)
    selector = SupportVectorSelector(BSSSelector(10), machine).fit(X, y)
    assert fitted.support_.dtype == bool
    assert_array_equal(
        selector.support_samples_,
        np.flatnonzero(np.where(y == 1, values, -values) <= 1 + 1e-6),
    )


def test_the_rank_is_that_of_the_support_vectors():
    X = np.array([[0.0, 0, 1], [0, 1, 0], [5, 5, 5], [6, 7, 8]])
    with refused("rank=2 is not possible: the 2 support vectors have numerical rank 1"):
        SupportVectorSelector(BSSSelector(3, rank=2), SVC(kernel="linear")).fit(
            X[:, [0, 0, 0]], [0, 0, 1, 1]
        )


def test_a_long_choice_is_said_at_the_line_of_the_caller(impatient):
    X, y = documents()
    for estimator in (SupportVectorSelector(BSSSelector(20)), BSSSelector(20)):
        with pytest.warns(UserWarning, match="BSSSelector.fit will take about") as said:
            estimator.fit(X, y)
        assert {one.filename for one in said} == {__file__}


@swept_product(
    ("C", "form"),
    [
        (0.01, sp.csr_array),
        (1.0, np.asarray),
        (1.0, sp.csc_array),
        (1.0, np.float32),
        (100.0, np.asarray),
    ],
    [0.01, 1.0, 100.0],
    [np.asarray, sp.csr_array, sp.csc_array, np.float32],
)
def test_many_samples_of_few_features_have_the_machine_of_their_gram_matrix(
    form, C, monkeypatch
):
    rng = np.random.default_rng(0)
    # the products are exact in both ways
    X = np.round(rng.standard_normal((400, 6)) * 8) / 8
    y = np.where(X[:, 0] + rng.standard_normal(400) > 0, "right", "left")
    machine, unit = svm.libsvm_machine(form(X), y, C, 1e-6)
    assert machine.kernel == "linear"
    K = X @ X.T
    other = SVC(C=C, kernel="precomputed", tol=1e-6).fit(K, y)
    assert_array_equal(machine.support_, other.support_)
    assert_allclose(machine.intercept_, other.intercept_, atol=1e-5)
    a = dense(machine.dual_coef_)[0] / unit
    b = other.dual_coef_[0]
    s = other.support_
    assert np.abs(X[s].T @ (a - b)).max() < 1e-4 * np.abs(b).max()
    soft = svm_margin(form(X), y, C)
    half = svm_margin(form(X[:60]), y[:60], C)
    monkeypatch.setattr(
        svm, "libsvm_machine", lambda X, y, C, tol: by_gram_matrix(X, y, C, tol)
    )
    for found, rows in ((soft, X), (half, X[:60])):
        expected = svm_margin(form(rows), y[: len(rows)], C)
        assert found.margin == pytest.approx(expected.margin, rel=1e-5)
        assert found.slack == pytest.approx(expected.slack, rel=1e-4)


def by_gram_matrix(X, y, C, tol):
    """What there was before, for any shape."""
    K = svm.gram_matrix(X)
    return SVC(C=C, kernel="precomputed", tol=tol).fit(K, y), 1.0


def test_support_vectors_of_many_samples_are_those_of_the_gram_matrix():
    for seed, d in itertools.product(range(3), (2, 5, 12)):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((300, d)) * 10 ** rng.uniform(-1, 1, d)
        y = np.digitize(
            X[:, 0] / X[:, 0].std() + 0.5 * rng.standard_normal(300),
            [-0.5, 0.5][: 1 + seed % 2],
        )
        expected = np.sort(SVC(kernel="precomputed").fit(X @ X.T, y).support_)
        selector = SupportVectorSelector(
            LeverageSelector(2, rank=1, random_state=0)
        ).fit(X, y)
        assert_array_equal(selector.support_samples_, expected)
        assert_array_equal(np.sort(svm.libsvm_machine(X, y, 1.0)[0].support_), expected)


@pytest.mark.parametrize("n, d", [(200, 5), (60, 40)])  # all of X, and the Gram matrix
def test_a_long_fit_of_libsvm_says_so_after_a_trial(n, d, monkeypatch):
    """How many steps it takes cannot be told from the sizes: after the first ones it
    says how long it can take.
    """
    rng = np.random.default_rng(0)
    X = 3 * rng.standard_normal((n, d))
    y = rng.standard_normal(n) > 0
    selector = SupportVectorSelector(LeverageSelector(2, rank=1, rule="largest"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = selector.fit(X, y).support_samples_
        # a fit that ends within the trial says nothing
        monkeypatch.setattr(progress, "LONG", 0.0)
        assert svm.libsvm_machine(X, y, 1.0)[0].fit_status_ == 0
    steps = []

    class Watched(SVC):
        def fit(self, A, y):
            steps.append(self.max_iter)
            return super().fit(A, y)

    monkeypatch.setattr(svm, "SVC", Watched)
    monkeypatch.setattr(svm, "SCALE_TRIAL", 20 * n)
    words = r"libsvm will take about .* at most, by .* Scale the features, .*LinearSVC"
    with pytest.warns(UserWarning, match=words) as said:
        machine, _ = svm.libsvm_machine(X, y, 1.0)
    assert len(said) == 1 and said[0].filename == __file__
    assert machine.fit_status_ == 0 and machine.n_iter_[0] > 21 and steps == [21, 10**7]
    assert_array_equal(np.sort(machine.support_), expected)


def test_many_samples_need_no_matrix_of_all_pairs():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 3))
    y = X[:, 0] > 0
    tracemalloc.start()
    SupportVectorSelector(LeverageSelector(2, rank=1, random_state=0)).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6000**2  # an eighth of the matrix


def test_a_machine_without_support_vectors_is_refused():
    X, y = documents()
    with refused(
        "svm=KNeighborsClassifier() is not possible", "support_ or decision_function"
    ):
        SupportVectorSelector(svm=KNeighborsClassifier()).fit(X, y)


def test_samples_whose_products_would_overflow_are_refused():
    X, y = documents()
    with refused("X is out of range", "between 1e-150 and 1e+150", "Rescale"):
        SupportVectorSelector().fit(1e160 * X, y)


def test_the_selector_can_be_kept():
    X, y = documents()
    for inner, machine in (
        (None, None),
        (DSFSelector(20), LinearSVC()),
        (RRQRSelector(20), SVC(kernel="linear")),
    ):
        selector = SupportVectorSelector(inner, machine).fit(X, y)
        copy = pickle.loads(pickle.dumps(selector))
        assert_array_equal(copy.transform(X), selector.transform(X))
        fresh = clone(selector)
        assert not hasattr(fresh, "selected_")
        assert_array_equal(fresh.fit(X, y).selected_, selector.selected_)


def test_defaults_are_half_of_the_features():
    X, y = documents()
    selector = SupportVectorSelector().fit(X, y)
    assert selector.get_params() == {"selector": None, "svm": None} and isinstance(
        selector.selector_, BSSSelector
    )
    assert selector.sampling_.n_selected == 40 and selector.rescale is False
    assert selector.__sklearn_tags__().target_tags.required


# ---------------------------------------------------------------- sparse machines

PROGRAMS = {
    "tall": lambda rng: rng.standard_normal((50, 4)),
    "wide": lambda rng: rng.standard_normal((15, 60)),
    "repeated": lambda rng: np.repeat(rng.standard_normal((6, 4)), 5, axis=0),
    "integers": lambda rng: rng.integers(-2, 3, (40, 5)).astype(float),
    "features of all sizes": lambda rng: (
        rng.standard_normal((40, 5)) * np.logspace(-2, 2, 5)
    ),
    "sparse": lambda rng: sp.random_array(
        (50, 60), density=0.1, random_state=rng, format="csr"
    ),
    "all zeros": lambda rng: np.zeros((9, 4)),
    "a constant feature": lambda rng: np.column_stack(
        [np.ones(30), rng.standard_normal((30, 3))]
    ),
    "two samples": lambda rng: rng.standard_normal((2, 4)),
    "one feature": lambda rng: rng.standard_normal((20, 1)),
    "small": lambda rng: 1e-6 * rng.standard_normal((20, 5)),
    "float32": lambda rng: rng.standard_normal((20, 6)).astype(np.float32),
}
BOTH = [LPSVMClassifier(), SCADSVMClassifier()]
both = pytest.mark.parametrize("machine", BOTH, ids=["LPSVM", "SCAD"])


def sides_of(X, rng, noise=0.5):
    values = dense(X) @ rng.standard_normal(X.shape[1])
    values = values / (np.std(values) or 1.0) + noise * rng.standard_normal(len(values))
    signs = np.where(values > np.median(values), 1.0, -1.0)
    signs[:2] = 1, -1
    return signs


def slack(X, signs, w, b):
    return np.maximum(0, 1 - signs * (dense(X) @ w + b)).sum()


@pytest.mark.exact
@swept("C", [0.1, 100.0], [1e-3, 1.0])
@pytest.mark.parametrize("kind", PROGRAMS)
def test_lpsvm_is_optimal(kind, C):
    """72 problems, and 144 with the sweeps: the duality gap below 1e-8, and the value
    of another solver.
    """
    for seed, form in enumerate(FORMS):
        rng = np.random.default_rng(seed)
        X = PROGRAMS[kind](rng)
        X = X.toarray() if sp.issparse(X) else X
        signs = sides_of(X, rng, noise=0.0 if seed == 1 else 0.5)
        machine = LPSVMClassifier(C).fit(form(X), signs)
        w = machine.coef_[0]
        b = machine.intercept_[0]
        value = np.abs(w).sum() + C * slack(X, signs, w, b)
        assert machine.dual_gap_ < 1e-8
        single = X.dtype == np.float32  # and the weights are, too
        least = least_l1_price(X, signs, np.ones(X.shape[1]), C)
        assert value == pytest.approx(least, rel=1e-5 if single else 1e-6, abs=1e-6)
        digits = 1e-6 if single else 1e-9
        assert_allclose(
            machine.decision_function(form(X)),
            dense(X) @ w + b,
            rtol=digits,
            atol=digits,
        )


@pytest.mark.parametrize("kind", ["tall", "wide", "sparse", "integers"])
def test_the_program_with_penalties_of_its_own(kind):
    """Zero penalties among them, as SCAD has; the value and the gap that it gives are
    right.
    """
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = PROGRAMS[kind](rng)
        signs = sides_of(X, rng)
        penalties = rng.uniform(0, 1, X.shape[1]) * (rng.random(X.shape[1]) < 0.7)
        w, b, value, gap = l1_program(X, signs, penalties, 0.3)
        assert gap < 1e-8
        assert value == pytest.approx(
            penalties @ np.abs(w) + 0.3 * slack(X, signs, w, b), rel=1e-8, abs=1e-9
        )
        assert value == pytest.approx(
            least_l1_price(X, signs, penalties, 0.3), rel=1e-6, abs=1e-6
        )


@pytest.mark.parametrize("scale", [2.0**-40, 2.0**60])
def test_lpsvm_does_not_depend_on_the_scale(scale):
    """X times s at C / s is the same problem, also where HiGHS would see zeros or
    refuse the entries.
    """
    X = PROGRAMS["tall"](np.random.default_rng(0))
    signs = sides_of(X, np.random.default_rng(0))
    machine = LPSVMClassifier(10.0).fit(X, signs)
    other = LPSVMClassifier(10.0 / scale).fit(scale * X, signs)
    assert_allclose(
        other.decision_function(scale * X),
        machine.decision_function(X),
        rtol=1e-6,
        atol=1e-6,
    )


def test_a_tiny_price_of_slack_gives_no_weights_and_the_larger_class():
    X = PROGRAMS["tall"](np.random.default_rng(0))
    y = np.where(np.arange(50) % 3 == 0, "few", "many")
    for machine in (LPSVMClassifier(1e-6), SCADSVMClassifier(alpha=1e3)):
        machine.fit(X, y)
        assert np.all(machine.coef_ == 0) and set(machine.predict(X)) == {"many"}
    assert abs(machine.intercept_[0]) == pytest.approx(1)


def test_lpsvm_by_hand():
    """One feature, samples at -1 and 1: w = 1 and b = 0 if slack is dear, and the
    weight goes to the longer of two.
    """
    machine = LPSVMClassifier(10.0).fit([[-1.0], [1.0]], [0, 1])
    assert_allclose([machine.coef_[0, 0], machine.intercept_[0]], [1, 0], atol=1e-9)
    assert_allclose(
        LPSVMClassifier(10.0).fit([[-1.0, -2], [1, 2]], [0, 1]).coef_,
        [[0, 0.5]],
        atol=1e-9,
    )
    # equal samples of both classes
    same = LPSVMClassifier(10.0).fit([[1.0, 2.0]] * 4, [0, 1, 1, 1])
    assert set(same.predict([[1.0, 2.0]])) == {1} and np.all(
        same.coef_ * [1, 2] @ np.ones(2) + same.intercept_ >= 0.99
    )


def test_scad_and_its_slope():
    for lam, a in ((0.2, 3.7), (1.0, 2.1), (0.01, 10.0)):
        w = np.linspace(-1.5 * a * lam, 1.5 * a * lam, 4001)
        h = 1e-6 * lam
        slope = (
            scad_penalty(np.abs(w) + h, lam, a) - scad_penalty(np.abs(w) - h, lam, a)
        ) / (2 * h)
        smooth = np.abs(w) > 2 * h
        assert_allclose(scad_slope(w, lam, a)[smooth], slope[smooth], atol=1e-5 * lam)
        assert (
            scad_slope(np.zeros(1), lam, a) == lam
            and scad_penalty(np.zeros(1), lam, a) == 0
        )
        for corner in (lam, a * lam):  # no jump of the value nor of the slope
            for function in (scad_penalty, scad_slope):
                below, above = function(
                    np.array([corner * (1 - 1e-12), corner * (1 + 1e-12)]), lam, a
                )
                assert below == pytest.approx(above, abs=1e-9 * lam)
        assert_allclose(scad_penalty(w, lam, a), scad_penalty(-w, lam, a))
        assert_allclose(
            scad_penalty(np.array([0.5 * lam, 2 * a * lam]), lam, a),
            [lam**2 / 2, lam**2 * (a + 1) / 2],
        )
        # concave
        assert np.all(
            np.diff(scad_slope(np.linspace(0, 2 * a * lam, 500), lam, a)) <= 0
        )
        steps = np.linspace(0, 2 * a * lam, 20001)
        area = np.sum(
            (scad_slope(steps, lam, a)[1:] + scad_slope(steps, lam, a)[:-1])
            / 2
            * np.diff(steps)
        )
        assert area == pytest.approx(scad_penalty(steps[-1:], lam, a)[0], rel=1e-6)


def scad_problem(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 60))
    d = int(rng.integers(2, 40))
    X = rng.standard_normal((n, d))
    important = rng.random(d) < 0.3
    signs = np.where(
        X @ (rng.standard_normal(d) * important) + rng.standard_normal(n) > 0, 1.0, -1.0
    )
    signs[:2] = 1, -1
    return X, signs, 10 ** rng.uniform(-3, 0), rng.uniform(2.1, 6)


def scad_price(X, signs, machine):
    w = machine.coef_[0]
    b = machine.intercept_[0]
    return scad_penalty(w, machine.alpha, machine.a).sum() + slack(
        X, signs, w, b
    ) / len(signs)


@swept_seeds(15, 50)
def test_scad_never_rises(seeds):
    """Random problems; the objective is what it is said to be, and the last is of the
    weights that are given.
    """
    steps = []
    for seed in seeds:
        X, signs, lam, a = scad_problem(seed)
        machine = SCADSVMClassifier(lam, a, max_iter=50).fit(
            sp.csr_array(X) if seed % 3 == 0 else X, signs
        )
        objectives = np.array(machine.objectives_)
        assert np.all(np.diff(objectives) <= 1e-13)  # rounding, of terms of size one
        assert len(objectives) == machine.n_iter_ < 50 and machine.dual_gap_ < 1e-8
        assert scad_price(X, signs, machine) == pytest.approx(objectives[-1], rel=1e-9)
        steps.append(machine.n_iter_)
        first = SCADSVMClassifier(lam, a, max_iter=1).fit(X, signs)
        l1 = LPSVMClassifier(1 / (len(signs) * lam)).fit(X, signs)
        assert lam * np.abs(first.coef_).sum() + slack(
            X, signs, first.coef_[0], first.intercept_[0]
        ) / len(signs) == (
            pytest.approx(
                lam * np.abs(l1.coef_).sum()
                + slack(X, signs, l1.coef_[0], l1.intercept_[0]) / len(signs),
                rel=1e-8,
            )
        )
        assert first.n_iter_ == 1 and machine.objectives_[0] == pytest.approx(
            first.objectives_[0], rel=1e-9
        )
    # so that there was something to see
    assert max(steps) > 3 and np.mean(np.array(steps) > 2) > 0.2


@swept_seeds(8, 25)
def test_scad_stops_where_it_cannot_go_on(seeds):
    """At the weights that it gives, the tangent has its least value: by another solver."""
    for seed in seeds:
        X, signs, lam, a = scad_problem(seed)
        machine = SCADSVMClassifier(lam, a, max_iter=100).fit(X, signs)
        w = machine.coef_[0]
        b = machine.intercept_[0]
        slopes = scad_slope(machine.coef_[0], lam, a)
        here = slopes @ np.abs(w) + slack(X, signs, w, b) / len(signs)
        assert here == pytest.approx(
            least_l1_price(X, signs, slopes, 1 / len(signs)), abs=1e-6
        )


@swept_seeds(5, 20)
@pytest.mark.parametrize("a", [1e6, 1e9])
def test_scad_with_a_large_threshold_is_lpsvm(a, seeds):
    for seed in seeds:
        X, signs, lam, _ = scad_problem(seed)
        n = len(signs)
        machine = SCADSVMClassifier(lam, a).fit(X, signs)
        l1 = LPSVMClassifier(1 / (n * lam)).fit(X, signs)
        own, least = (
            lam * np.abs(m.coef_).sum()
            + slack(X, signs, m.coef_[0], m.intercept_[0]) / n
            for m in (machine, l1)
        )
        # how far the penalty is from straight
        bent = np.sum(machine.coef_**2) / (2 * (a - 1))
        assert least - 1e-9 <= own <= least + bent + 1e-9
        assert own - bent - 1e-9 <= machine.objectives_[-1] <= least + 1e-9
        assert machine.n_iter_ <= 3


def test_scad_leaves_large_weights_alone():
    """One feature decides, with a wide margin: LPSVM shrinks its weight as long as
    slack allows, SCAD does not.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 10))
    signs = np.where(X[:, 0] + 0.1 * rng.standard_normal(200) > 0, 1.0, -1.0)
    flat = SCADSVMClassifier(alpha=0.2).fit(X, signs)
    l1 = LPSVMClassifier(1 / (200 * 0.2)).fit(X, signs)
    assert abs(flat.coef_[0, 0]) > 1.2 * abs(l1.coef_[0, 0])
    assert (
        abs(flat.coef_[0, 0]) >= 3.7 * 0.2 and np.count_nonzero(flat.coef_[0, 1:]) <= 2
    )


def test_weights_are_sparse_and_can_be_selected_by():
    X, y = documents()
    for machine, name in (
        (LPSVMClassifier(0.5), "LPSVM"),
        (SCADSVMClassifier(0.05), "SCAD"),
    ):
        kept = SelectFromModel(machine).fit(X, y)
        weights = kept.estimator_.coef_
        assert weights.shape == (1, 80) and 1 <= np.count_nonzero(weights) <= 59, name
        assert_array_equal(kept.get_support(), weights[0] != 0)


def few_words():
    """The documents with a quarter of their features: a machine of several programs
    takes long.
    """
    X, y = documents()
    return X[:, :20], y


@cache
def of_signs(machine):
    """The machine of a few words and of labels 1 and -1, for all tests once."""
    return clone(machine).fit(*few_words())


@both
@each_label
def test_machines_take_labels_of_any_two_kinds(machine, labels):
    X, y = few_words()
    expected = of_signs(machine)
    given = labels(y > 0)
    found = clone(machine).fit(X, given)
    assert_array_equal(found.coef_, expected.coef_)
    classes = np.unique(np.asarray(given))
    assert_array_equal(found.classes_, classes)
    assert_array_equal(
        found.predict(X), classes[(expected.decision_function(X) > 0).astype(int)]
    )
    assert found.score(X, given) > 0.85


@both
def test_swapped_labels_swap_the_signs(machine):
    X, y = few_words()
    one = clone(machine).fit(X, y)
    other = clone(machine).fit(X, -y)
    assert_allclose(one.decision_function(X), -other.decision_function(X), atol=1e-6)


@both
def test_each_class_against_the_rest(machine):
    X = table(80, 12)
    y = np.array(["c", "a", "b"])[np.digitize(X[:, 0] / X[:, 0].std(), [-0.5, 0.5])]
    found = clone(machine).fit(X, y)
    assert (
        list(found.classes_) == ["a", "b", "c"]
        and found.coef_.shape == (3, 12)
        and found.intercept_.shape == (3,)
    )
    values = found.decision_function(X)
    gaps = []
    for k, label in enumerate("abc"):
        alone = clone(machine).fit(X, y == label)
        assert_array_equal(found.coef_[k], alone.coef_[0])
        assert_allclose(values[:, k], alone.decision_function(X), rtol=1e-12)
        gaps.append(alone.dual_gap_)
    assert found.dual_gap_ == max(gaps)
    chosen = np.searchsorted(found.classes_, found.predict(X))
    assert (
        np.all(values[np.arange(80), chosen] >= values.max(axis=1) - 1e-9)
        and found.score(X, y) > 0.4
    )
    same = (
        clone(machine)
        .set_params(**({"C": 1e-9} if "C" in machine.get_params() else {"alpha": 1e3}))
        .fit(X, y)
    )
    assert np.all(same.coef_ == 0) and len(set(same.predict(X))) == 1


@swept_seeds(3, 8)
def test_objectives_are_of_the_class_that_took_most(seeds):
    """Of another than the one that began highest, in some of these."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((60, 5))
        y = np.argmax(X[:, :3] + 0.5 * rng.standard_normal((60, 3)), axis=1)
        found = SCADSVMClassifier(alpha=0.02).fit(X, y)
        alone = [SCADSVMClassifier(alpha=0.02).fit(X, y == k) for k in range(3)]
        most = max(alone, key=lambda machine: machine.n_iter_)
        assert (
            len(found.objectives_) == found.n_iter_ == most.n_iter_
            and found.objectives_ == most.objectives_
        )


def test_ties_between_classes_go_to_the_first():
    """Equal decision values, but for rounding: the class that comes first; on the plane
    between two, too.
    """
    machine = LPSVMClassifier(10.0).fit([[-1.0], [1.0]], ["a", "b"])
    assert machine.decision_function([[0.0]])[0] == pytest.approx(0, abs=1e-12)
    machine.coef_ = np.array([[1.0]])
    machine.intercept_ = np.array([0.0])
    assert list(machine.predict([[0.0], [1e-9], [-1e-9]])) == ["a", "b", "a"]
    machine = LPSVMClassifier().fit(table(30, 3), np.arange(30) % 3)
    machine.coef_ = np.zeros((3, 3))
    machine.intercept_ = np.array([0.5, 0.5 + 1e-16, 0.5 + 2e-16])
    assert set(machine.predict(table(30, 3))) == {0}


@both
def test_machines_on_sparse_single_and_framed_data(machine):
    X = sparse_table(40, 60, 0.2)
    y = np.where(dense(X) @ np.arange(60) > 0, 1, 0)
    expected = clone(machine).fit(X.toarray(), y)
    for form in (sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix):
        found = clone(machine).fit(form(X), y)
        assert_allclose(
            found.decision_function(form(X)),
            expected.decision_function(X.toarray()),
            atol=1e-7,
        )
    single = clone(machine).fit(X.toarray().astype(np.float32), y)
    assert single.coef_.dtype == single.intercept_.dtype == np.float32
    assert single.decision_function(X.astype(np.float32)).dtype == np.float32
    assert_allclose(
        single.decision_function(X), expected.decision_function(X), atol=1e-3
    )
    frame = pd.DataFrame(X.toarray(), columns=[f"word {j}" for j in range(60)])
    assert list(clone(machine).fit(frame, y).feature_names_in_) == list(frame.columns)


@swept(
    ("machine", "dtype"),
    [(LPSVMClassifier(), "float64"), (SCADSVMClassifier(), "float32")],
    [(LPSVMClassifier(), "float32"), (SCADSVMClassifier(), "float64")],
)
def test_machines_on_arrays_of_any_library(machine, dense_library, dtype):
    """The weights go back to where the data live, and predictions are made there; names
    of classes stay on the host.
    """
    X = sparse_table(40, 12, 0.4).toarray().astype(dtype)
    for y in (
        np.where(X[:, 0] > 0, 1, 0),
        np.arange(40) % 3,
        np.where(X[:, 0] > 0, "yes", "no"),
    ):
        expected = clone(machine).fit(X, y)
        given = dense_library.make(X)
        labels = dense_library.make(y) if y.dtype.kind == "i" else y
        found = clone(machine).fit(given, labels)
        for name in ("coef_", "intercept_"):
            ours = getattr(found, name)
            assert dense_library.is_result(ours, dtype) and dense_library.device(
                ours
            ) == dense_library.device(given)
            assert_allclose(
                dense_library.back(ours), getattr(expected, name), rtol=1e-6
            )
        assert isinstance(
            found.dual_gap_, float
        ) and found.objectives_ == pytest.approx(expected.objectives_)
        decided = found.decision_function(given)
        predicted = found.predict(given)
        assert dense_library.is_result(decided, dtype)
        assert_allclose(
            dense_library.back(decided),
            expected.decision_function(X),
            rtol=1e-4,
            atol=1e-5,
        )
        back = dense_library.back(predicted) if y.dtype.kind == "i" else predicted
        assert_array_equal(back, expected.predict(X))
        if dense_library.name != "numpy":
            with refused("must use the same namespace as those passed to fit()"):
                found.predict(X)


@both
def test_machines_refuse_what_is_wrong(machine):
    X, y = documents()
    with refused("y has only one class"):
        clone(machine).fit(X, np.ones(60))
    with refused("Unknown label type: continuous"):
        clone(machine).fit(X, X[:, 0])
    with refused("inconsistent numbers of samples"):
        clone(machine).fit(X, y[1:])
    with refused("NaN"):
        clone(machine).fit(np.where(X > 2, np.nan, X), y)
    with refused("requires y"):
        clone(machine).fit(X, None)
    with pytest.raises(NotFittedError):
        clone(machine).predict(X)


PARAMETERS = [
    *[
        (LPSVMClassifier(), "C", value)
        for value in (0, -1.0, np.inf, np.nan, "one", None, True)
    ],
    *[
        (SCADSVMClassifier(), "alpha", value)
        for value in (0, -1.0, np.inf, np.nan, "one", None, True)
    ],
    *[
        (SCADSVMClassifier(), "a", value)
        for value in (2, 2.0, 1.0, np.inf, np.nan, "one", None)
    ],
    *[
        (SCADSVMClassifier(), "max_iter", value)
        for value in (0, -1, 1.5, "one", None, True)
    ],
]


@pytest.mark.parametrize("machine, name, value", PARAMETERS)
def test_impossible_parameters_are_refused(machine, name, value):
    X, y = documents()
    with refused(f"{name}={value!r} is not possible: give"):
        clone(machine).set_params(**{name: value}).fit(X, y)


def test_possible_parameters_are_accepted():
    X, y = documents()
    for machine in (
        LPSVMClassifier(np.float64(2)),
        LPSVMClassifier(3),
        SCADSVMClassifier(np.float32(0.1), 2.01, np.int64(2)),
    ):
        assert machine.fit(X, y).n_features_in_ == 80


@both
def test_nothing_is_left_of_an_earlier_machine(machine):
    """Not even what would make scikit-learn take it for fitted."""
    X, y = documents()
    found = clone(machine).fit(X, y)
    with refused("y has only one class"):
        found.fit(X, np.ones(60))
    assert not hasattr(found, "coef_")
    with pytest.raises(NotFittedError):
        found.predict(X)


@both
def test_machines_can_be_kept(machine):
    X, y = few_words()
    found = of_signs(machine)
    copy = pickle.loads(pickle.dumps(found))
    assert_array_equal(copy.decision_function(X), found.decision_function(X))
    assert not hasattr(clone(found), "coef_")
    assert_array_equal(clone(found).fit(X, y).coef_, found.coef_)
    assert np.mean(cross_val_score(clone(machine), X, y, cv=3)) > 0.6


@pytest.mark.parametrize("shift", [1e3, 1e6, 1e8])
def test_a_ball_of_long_sparse_vectors_counts_their_rounding(shift):
    """The radius is a difference of large numbers, and the gap says so; that of one
    sample, repeated, is 0.
    """
    X = np.random.default_rng(0).standard_normal((20, 5))
    exact = enclosing_ball(X).radius
    tol = {1e3: 1e-7, 1e6: 1e-1, 1e8: 1e4}[shift]
    far = enclosing_ball(sp.csr_array(X + shift), tol=tol)
    assert abs(far.radius**2 - exact**2) <= max(far.gap * far.radius**2, 1e-12)
    if shift == 1e8:
        with pytest.warns(ConvergenceWarning, match="The squared radius is known to"):
            enclosing_ball(sp.csr_array(X + shift))
    assert far.gap > 1e-9
    same = enclosing_ball(sp.csr_array(np.full((5, 3), shift / 3)))
    assert same.gap == 0 and same.radius <= 1e-7 * shift


@pytest.mark.parametrize("tol", [-1.0, np.nan, "0", None])
def test_tolerances_that_are_none_are_refused(tol):
    for solve in (
        lambda: enclosing_ball(np.eye(3), tol=tol),
        lambda: svm_margin(np.eye(3), [0, 1, 1], tol=tol),
    ):
        with pytest.raises(
            ValueError, match="tol=.* is not possible: give a number of at least 0"
        ):
            solve()


def test_a_fit_that_fails_leaves_nothing(monkeypatch):
    X = np.random.default_rng(0).standard_normal((20, 6))
    y = np.arange(20) % 2
    machine = LPSVMClassifier()
    monkeypatch.setattr("fsel_book.svm.l1_program", None)
    with pytest.raises(TypeError):
        machine.fit(X, y)
    assert not hasattr(machine, "classes_")
    selector = SupportVectorSelector(BSSSelector(2, rank=5))
    with pytest.raises(ValueError):
        selector.fit(X, y)
    assert not hasattr(selector, "support_samples_")


def test_a_machine_without_weights_says_so():
    X, y = load_digits(return_X_y=True)
    with pytest.warns(
        UserWarning, match="All weights are zero: the penalty is too strong"
    ):
        machine = SCADSVMClassifier().fit(X[:200] / 16, y[:200])
    assert not machine.coef_.any()
    with pytest.warns(UserWarning, match="All weights are zero"):
        LPSVMClassifier(C=1e-6).fit(X[:200] / 16, y[:200] > 4)
