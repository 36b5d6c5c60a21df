"""Problems and oracles for the tests of dual random projection and of its solvers."""

import warnings

import clarabel
import numpy as np
import pytest
from cases import conic, dense
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from fsel_book import DualProjectionClassifier
from fsel_book.dual_projection import SKETCHES
from fsel_book.losses import (
    HuberisedHinge,
    LogLoss,
    SmoothedHinge,
    SquaredError,
    get_loss,
)

NAMES = (
    "squared_error",
    "log_loss",
    "squared_hinge",
    "smoothed_hinge",
    "huberised_hinge",
)

LOSSES = {name: get_loss(name) for name in NAMES}

ALL = {
    **LOSSES,
    "numbers": SquaredError(),  # for targets that are no labels
    "narrow": SmoothedHinge(0.05),
    "wide": SmoothedHinge(4.0),
    "huberised, wide": HuberisedHinge(4.0),
}

SQUARES = ("squared_error", "numbers")

each_loss = pytest.mark.parametrize("name", ALL)

each_classifier_loss = pytest.mark.parametrize("name", LOSSES)

each_sketch = pytest.mark.parametrize("kind", SKETCHES)

with_and_without_intercept = pytest.mark.parametrize("intercept", [False, True])


# ---------------------------------------------------------------- oracles


def best_offset(X, y, loss, f):
    """The b of the least loss for f = X w, by bisection in long double."""
    low = -4 * (np.abs(f).max() + 30)
    high = -low
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (
            (low, middle) if loss.slope(y, f + middle).sum() > 0 else (middle, high)
        )
    return (low + high) / 2


def conjugate_of(loss, y, a):
    """The conjugate in long double, infinite outside its domain."""
    low, high = loss.domain(y)
    if isinstance(loss, LogLoss):
        p = np.where((low < a) & (a < high), np.abs(a), np.longdouble(0.5))
        conjugate = np.where(
            (a == low) | (a == high), 0, p * np.log(p) + (1 - p) * np.log1p(-p)
        )
    else:
        conjugate = loss.conjugate(y, a)
    return np.where((low <= a) & (a <= high), conjugate, np.inf)


def certified(X, y, lam, loss, w, offset=0.0, intercept=False, u=None):
    """The length of the gradient at w, with the best b, in long double; a bound on the
    relative error of w.

    By the gradient it is a proof for any w, wherever it comes from: the objective is
    lam-strongly convex. With w = X'u, the gap between the objective and that of the
    dual variables -lam u is another, and the better one counts.
    """
    X = np.longdouble(dense(X))
    w = np.longdouble(w)
    offset = np.longdouble(offset)
    f = X @ w + offset
    b = best_offset(X, y, loss, f) if intercept else 0
    gradient = np.linalg.norm((lam * w + X.T @ loss.slope(y, f + b)).astype(np.float64))
    bound = gradient / lam
    if u is not None:
        a = -lam * np.longdouble(u) * (1 - 1e-15)  # not over the edge by rounding
        gap = np.sum(loss.value(y, f + b) + conjugate_of(loss, y, a) - a * (f + b))
        bound = min(bound, float(np.sqrt(2 * max(gap, 0) / lam)))
    return gradient, bound / np.linalg.norm(w.astype(np.float64)) if np.any(
        w
    ) else np.inf


def by_program(X, y, lam, name, offset, intercept):
    """w of a loss made of parabolas and lines, from a quadratic program over (w, b, a,
    c).

    A sample costs a^2 / (2 width) + c, where a + c >= top - z and c >= 0, or c = 0
    where it is a parabola throughout. Here z is the decision value, times the label if
    there is one.
    """
    n, d = X.shape
    loss = ALL[name]
    sign, top = (np.ones(n), y) if name == "numbers" else (y, 1.0)
    width = loss.mu if isinstance(loss, SmoothedHinge) else 0.5
    if isinstance(loss, HuberisedHinge):
        top = 1 + loss.mu / 2
    flat = name in (*SQUARES, "squared_hinge")  # no straight part
    straight = np.eye(n)[:, : 0 if flat else n]
    # z + a + c, less the offset
    margin = np.column_stack([sign[:, None] * X, sign * intercept, np.eye(n), straight])
    squares = [
        np.full(d, lam),
        [0 if intercept else 1.0],
        np.full(n, 1 / width),
        np.zeros(len(straight.T)),
    ]
    P = np.diag(np.concatenate(squares))
    q = np.concatenate([np.zeros(d + 1 + n), np.ones(len(straight.T))])
    cones = [clarabel.ZeroConeT(n) if name in SQUARES else clarabel.NonnegativeConeT(n)]
    A = -margin
    least = sign * offset - top
    if not flat:
        A = np.vstack([A, np.column_stack([np.zeros((n, d + 1 + n)), -straight])])
        least = np.append(least, np.zeros(n))
        cones = [*cones, clarabel.NonnegativeConeT(n)]
    return conic(P, q, A, least, cones, tolerance=1e-10)[0][:d]


def by_scipy(X, y, lam, offset, intercept):
    """w of the log loss, by a trust region of SciPy."""
    A = np.column_stack([X, np.ones(len(X))]) if intercept else X
    penalty = np.full(A.shape[1], lam)
    penalty[X.shape[1] :] = 0

    def objective(c):
        z = y * (A @ c + offset)
        p = 1 / (1 + np.exp(z))
        return penalty @ c**2 / 2 + np.sum(np.log1p(np.exp(-z))), penalty * c - A.T @ (
            y * p
        )

    def hessian(c):
        p = 1 / (1 + np.exp(y * (A @ c + offset)))
        return np.diag(penalty) + (A.T * (p * (1 - p))) @ A

    start = np.zeros(A.shape[1])
    found = minimize(
        objective,
        start,
        jac=True,
        hess=hessian,
        method="trust-exact",
        options={"gtol": 1e-9},
    )
    return found.x[: X.shape[1]]


def by_scikit_learn(X, y, lam, intercept):
    """The log loss once more, as an estimator."""
    model = LogisticRegression(
        C=1 / lam,
        solver="newton-cholesky",
        tol=1e-10,
        max_iter=1000,
        fit_intercept=intercept,
    )
    return model.fit(X, y)


def oracle(X, y, lam, name, offset=0.0, intercept=False):
    """w by a solver that has nothing to do with the chapter's."""
    offset = np.broadcast_to(offset, y.shape)
    solve = (
        by_scipy
        if name == "log_loss"
        else lambda *rest: by_program(*rest[:3], name, *rest[3:])
    )
    return solve(X, y, lam, offset, intercept)


# ---------------------------------------------------------------- data


def labelled(n, d, seed=0, noise=1.0, rank=None):
    """Samples, labels of both signs that depend on them, and a generator."""
    rng = np.random.default_rng(seed)
    X = (
        rng.standard_normal((n, d))
        if rank is None
        else rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))
    )
    y = np.sign(
        X @ rng.standard_normal(d) / np.sqrt(d) + noise * rng.standard_normal(n)
    )
    y[:2] = 1, -1
    return X, y, rng


def targets(name, y, rng):
    """For a loss of labels these, for that of numbers numbers of the same signs."""
    return y * rng.uniform(0, 3, len(y)) if name == "numbers" else y


def fitted_model(model, X, y, silent):
    """`fit`, which must not warn unless `silent`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if silent else "error")
        return model.fit(X, y)


def fitted(X, y, *args, silent=False, **keywords):
    return fitted_model(
        DualProjectionClassifier(*args, **{"random_state": 0, **keywords}), X, y, silent
    )
