"""Losses: values computed another way, slopes, conjugates by a search, and a loss of
one's own.
"""

from dataclasses import dataclass

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.metrics import hinge_loss, log_loss, mean_squared_error
from sklearn.metrics.pairwise import rbf_kernel

from fsel_book.dual_projection import DualProjectionClassifier
from fsel_book.losses import (
    LOSSES,
    EpsilonInsensitive,
    Hinge,
    HuberisedHinge,
    LogLoss,
    Loss,
    SmoothedHinge,
    SquaredError,
    SquaredHinge,
    get_loss,
)
from fsel_book.risk_rfe import RiskRFE

ALL = [
    *(kind() for kind in LOSSES.values()),
    *(
        kind(mu)
        for kind in (SmoothedHinge, HuberisedHinge)
        for mu in (0.01, 0.1, 1.5, 3.0)
    ),
    *(EpsilonInsensitive(epsilon) for epsilon in (0.0, 0.02, 2.0)),
]
each_loss = pytest.mark.parametrize("loss", ALL, ids=repr)


def targets(loss):
    return np.array([-1.0, 1.0]) if loss.for_labels else np.array([-2.5, 0.0, 0.3, 1.0])


def pairs(loss, size=400):
    """Targets and decision values."""
    y = np.repeat(targets(loss), size)
    return y, np.random.default_rng(0).uniform(-6, 6, len(y))


def corners(loss, y, s):
    """How far each decision value is from a place where the slope or the curvature
    jumps.
    """
    if isinstance(loss, LogLoss | SquaredError):
        return np.full(len(s), np.inf)
    if isinstance(loss, EpsilonInsensitive):
        return np.abs(np.abs(y - s) - loss.epsilon)
    ends = {
        SmoothedHinge: lambda mu: (1 - mu, 1),
        HuberisedHinge: lambda mu: (1 - mu / 2, 1 + mu / 2),
    }
    places = ends[type(loss)](loss.mu) if type(loss) in ends else (1,)
    return np.min([np.abs(y * s - place) for place in places], axis=0)


def inside(loss, y, share):
    """Slopes in the domain, at this share of the way through it; as far as 6 where it
    has no end.
    """
    low, high = (np.clip(end, -6.0, 6.0) for end in loss.domain(y))
    return low + share * (high - low)


# ---------------------------------------------------------------- values


def test_values_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], 500)
    s = rng.normal(size=500) * 3
    p = 1 / (1 + np.exp(-s))
    assert_allclose(Hinge().value(y, s).mean(), hinge_loss(y, s))
    assert_allclose(LogLoss().value(y, s).mean(), log_loss(y, p))
    assert_allclose(SquaredError().value(y, s).mean(), mean_squared_error(y, s))


@pytest.mark.parametrize("mu", [0.01, 0.5, 1.0, 3.0])
def test_rounded_hinges_are_averages_of_the_hinge(mu):
    """Over a window of width mu: to the right of the margin, or about it."""
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], 1000)
    s = rng.uniform(-6, 6, 1000)

    def average(left, right):
        below = [np.maximum(0, 1 - y * s - end) ** 2 / 2 for end in (left, right)]
        return (below[0] - below[1]) / mu

    assert_allclose(SmoothedHinge(mu).value(y, s), average(0, mu), atol=1e-11)
    assert_allclose(
        HuberisedHinge(mu).value(y, s), average(-mu / 2, mu / 2), atol=1e-11
    )
    below = Hinge().value(y, s) - SmoothedHinge(mu).value(y, s)
    assert below.min() > -1e-12 and below.max() < mu / 2 + 1e-12


def test_other_values_by_cases():
    y, s = pairs(SquaredHinge())
    assert_allclose(
        SquaredHinge().value(y, s), [(1 - a) ** 2 if a < 1 else 0 for a in y * s]
    )
    y, s = pairs(EpsilonInsensitive())
    for epsilon in (0.0, 0.1, 2.0):
        inside_tube = (s > y - epsilon) & (s < y + epsilon)
        distance = np.minimum(np.abs(s - y - epsilon), np.abs(s - y + epsilon))
        assert_allclose(
            EpsilonInsensitive(epsilon).value(y, s),
            np.where(inside_tube, 0, distance),
            atol=1e-15,
        )


def test_log_loss_to_all_digits():
    """Far out, and its conjugate next to the ends of the domain, against fifty digits."""
    loss = LogLoss()
    one = np.ones(1)
    with mpmath.workdps(50):
        for s in (-800.0, -40.0, -1e-9, 0.0, 1e-20, 3.0, 40.0, 700.0):
            exact = mpmath.log1p(mpmath.exp(-mpmath.mpf(s)))
            assert_allclose(loss.value(one, s * one), float(exact), rtol=1e-14)
            assert_allclose(
                loss.slope(one, s * one),
                float(-1 / (1 + mpmath.exp(mpmath.mpf(s)))),
                rtol=1e-14,
            )
        for a in (1e-200, 1e-20, 1e-9, 0.25, 0.5, 0.75, 1 - 1e-9, 1 - 2.0**-52):
            q = mpmath.mpf(a)
            exact = q * mpmath.log(q) + (1 - q) * mpmath.log1p(-q)
            assert_allclose(loss.conjugate(one, -a * one), float(exact), rtol=1e-13)
            assert_allclose(
                loss.conjugate_slope(one, -a * one),
                float(mpmath.log1p(-q) - mpmath.log(q)),
                rtol=1e-13,
            )


# ---------------------------------------------------------------- slopes and conjugates


@each_loss
def test_slopes_and_curvatures_are_differences(loss):
    y, s = pairs(loss)
    h = 1e-5
    smooth = corners(loss, y, s) > 2 * h
    assert smooth.mean() > 0.95
    y = y[smooth]
    s = s[smooth]
    assert_allclose(
        loss.slope(y, s),
        (loss.value(y, s + h) - loss.value(y, s - h)) / (2 * h),
        atol=1e-6,
    )
    assert_allclose(
        loss.curvature(y, s),
        (loss.slope(y, s + h) - loss.slope(y, s - h)) / (2 * h),
        atol=1e-6,
    )
    assert loss.curvature(y, s).max() <= loss.smoothness * (1 + 1e-12)
    low, high = loss.domain(y)
    assert ((low <= loss.slope(y, s)) & (loss.slope(y, s) <= high)).all()


@each_loss
def test_slopes_and_curvatures_of_the_conjugate_are_differences(loss):
    """Of its smooth part: without the term `width |a|`."""
    h = 1e-6
    for share in (0.07, 0.3, 0.45, 0.71, 0.95):
        y = targets(loss)
        a = inside(loss, y, share)

        def smooth(a, y=y):
            return loss.conjugate(y, a) - loss.width * np.abs(a)

        assert_allclose(
            loss.conjugate_slope(y, a),
            (smooth(a + h) - smooth(a - h)) / (2 * h),
            atol=1e-6,
        )
        differences = (
            loss.conjugate_slope(y, a + h) - loss.conjugate_slope(y, a - h)
        ) / (2 * h)
        assert_allclose(
            loss.conjugate_curvature(y, a), differences, rtol=1e-6, atol=1e-6
        )
        if loss.quadratic_conjugate:
            assert_allclose(
                loss.conjugate_curvature(y, a),
                loss.conjugate_curvature(y, inside(loss, y, 0.5)),
            )


@each_loss
def test_conjugates_are_suprema(loss):
    """Of `a s - loss(y, s)` over s, by halving thirds of an interval: the difference is
    concave.
    """
    y = targets(loss)
    for share in (0.0, 0.01, 0.2, 0.5, 0.8, 0.99, 1.0):
        a = inside(loss, y, share)

        def difference(s, a=a):
            return a * s - loss.value(y, s)

        left = np.full_like(y, -60.0)
        right = np.full_like(y, 60.0)
        for _ in range(200):
            third = (right - left) / 3
            lower = difference(left + third) < difference(right - third)
            left = np.where(lower, left + third, left)
            right = np.where(lower, right, right - third)
        assert_allclose(loss.conjugate(y, a), difference(left), atol=1e-12)
    # and beyond the domain there is none
    for end, way in zip(loss.domain(y), (-1, 1), strict=True):
        far = [
            (end + way * 0.1) * s - loss.value(y, np.full_like(y, s))
            for s in (way * 1e3, way * 1e6)
        ]
        assert (np.isinf(end) | (far[1] > far[0] + 1e4)).all()


@each_loss
def test_fenchel_and_young(loss):
    """`loss(y, s) + conjugate(y, a) >= a s`, with equality where `a` is the slope at
    `s`.
    """
    y, s = pairs(loss)
    own = loss.slope(y, s)
    assert_allclose(loss.value(y, s) + loss.conjugate(y, own) - own * s, 0, atol=1e-12)
    for share in np.linspace(0, 1, 11):
        a = inside(loss, y, share)
        assert (loss.value(y, s) + loss.conjugate(y, a) - a * s).min() > -1e-12


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: get_loss("logistic"),
            "loss='logistic' is not possible: give one of 'hinge', 'squared_hinge'",
        ),
        (
            lambda: get_loss("hinge", smooth=True),
            "loss='hinge' is not possible: give one of 'squared_hinge'",
        ),
        (lambda: get_loss(Hinge(), smooth=True), "whose smoothness is finite"),
        (
            lambda: get_loss(Hinge),
            "Hinge.* is not possible: .* an object of a class derived from",
        ),
        (lambda: get_loss(None), "loss=None is not possible"),
        (lambda: SmoothedHinge(0), "mu=0 is not possible"),
        (lambda: HuberisedHinge(-1.0), "mu=-1.0 is not possible"),
        (lambda: EpsilonInsensitive(-0.1), "epsilon=-0.1 is not possible"),
    ],
)
def test_what_is_not_possible_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_get_loss_finds_all_and_keeps_objects():
    for name, kind in LOSSES.items():
        assert type(get_loss(name)) is kind
    own = SmoothedHinge(0.2)
    assert get_loss(own, smooth=True) is own


# ---------------------------------------------------------------- a loss of one's own


@dataclass(frozen=True)
class RoundedAbsoluteError(Loss):
    """`|y - s|` with a parabola from `-mu` to `mu` in place of the corner."""

    mu: float = 0.3
    for_labels = False

    @property
    def smoothness(self):
        return 1 / self.mu

    def value(self, y, s):
        r = np.abs(s - y)
        return np.where(r < self.mu, r**2 / (2 * self.mu), r - self.mu / 2)

    def slope(self, y, s):
        return np.clip((s - y) / self.mu, -1, 1)

    def curvature(self, y, s):
        return (np.abs(s - y) < self.mu) / self.mu

    def domain(self, y):
        return -np.ones_like(y), np.ones_like(y)

    def conjugate(self, y, a):
        return y * a + self.mu * a**2 / 2

    def conjugate_slope(self, y, a):
        return y + self.mu * a

    def conjugate_curvature(self, y, a):
        return self.mu + np.zeros_like(a)


def best_linear(G, y, loss, C):
    """The least `|w|^2 / 2 + C sum loss(y, G w + b)`, by a generic optimiser: value,
    `w` and `b`.
    """

    def objective(v):
        s = G @ v[:-1] + v[-1]
        slope = C * loss.slope(y, s)
        return v[:-1] @ v[:-1] / 2 + C * loss.value(y, s).sum(), np.r_[
            v[:-1] + slope @ G, slope.sum()
        ]

    options = dict(gtol=1e-9, maxiter=5000)
    found = minimize(
        objective, np.zeros(G.shape[1] + 1), jac=True, method="BFGS", options=options
    )
    return found.fun, found.x[:-1], found.x[-1]


@pytest.mark.parametrize(
    "loss", [RoundedAbsoluteError(), RoundedAbsoluteError(2.0)], ids=repr
)
def test_a_loss_of_ones_own_in_risk_rfe(loss):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (60, 5))
    y = X[:, 0] * X[:, 3] + 0.1 * rng.standard_normal(60)
    machine = RiskRFE(2, gamma=1.0, C=2.0, loss=loss).fit(X, y)
    assert machine.get_support(indices=True).tolist() == [0, 3]
    values, vectors = np.linalg.eigh(rbf_kernel(X[:, [0, 3]], gamma=1.0))
    G = (vectors * np.sqrt(np.maximum(values, 0)))[:, values > 1e-12]
    value, w, b = best_linear(G, y, loss, 2.0)
    assert_allclose(machine.objective_path_[-1], value / (2 * 60), rtol=1e-9)
    assert_allclose(machine.predict(X), G @ w + b, atol=1e-4)
    assert not hasattr(machine, "decision_function")


def test_a_loss_of_ones_own_in_dual_projection():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 300))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(40) > 0, 1.0, -1.0)
    loss = RoundedAbsoluteError()
    model = DualProjectionClassifier(
        loss=loss, alpha=5.0, tol=1e-9, max_iter=1000, random_state=0
    ).fit(X, y)
    _, w, b = best_linear(X, y, loss, 1 / 10.0)
    assert_allclose(model.coef_[0], w, atol=1e-6)
    assert_allclose(model.intercept_, b, atol=1e-6)
