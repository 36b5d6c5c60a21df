"""Part five: linear models through a projection, to the same error of the weights as
scikit-learn's solvers.
"""

import functools
import warnings

import numpy as np
import scipy.sparse as sp
from part_4_svm import documents
from rows import Row, timed
from scipy.linalg import eigh
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import normalize

from fsel_book import DualProjectionClassifier, DualProjectionRidge
from fsel_book.dual_solvers import newton_solution
from fsel_book.losses import LogLoss

title = "Part five: dual random projection"

# ---------------------------------------------------------------- data

little = "rank 50, noise 0.1"
much = "rank 50, noise 1"
text = "word counts, sparse"


@functools.lru_cache(maxsize=1)
def matrix(kind, n, d):
    """Features, labels, targets, and eigenvalues and -vectors of `X X'`."""
    rng = np.random.default_rng(0)
    if kind == text:
        X = normalize(documents(n, d))
        y = np.where(np.arange(n) % 2, 1.0, -1.0)
        targets = X @ rng.standard_normal(d) + 0.1 * rng.standard_normal(n)
    else:
        noise = 0.1 if kind == little else 1.0
        A = rng.standard_normal((n, 50))
        B = rng.standard_normal((50, d))
        X = A @ B
        for a in range(0, n, 500):
            X[a : a + 500] += noise * rng.standard_normal((min(500, n - a), d))
        X /= np.sqrt(50 + noise**2)  # features of variance 1
        y = np.sign(A @ rng.standard_normal(50) + 0.5 * rng.standard_normal(n))
        targets = A[:, 0] + rng.standard_normal(n)
    K = X @ X.T
    return X, y, targets, eigh(K.toarray() if sp.issparse(K) else K)


@functools.lru_cache(maxsize=1)
def optimal_weights(kind, n, d, numbers, alpha):
    """By way of the eigenvectors of `X X'`: Newton's method in their span, or the
    closed form.
    """
    X, y, targets, (e, E) = matrix(kind, n, d)
    if numbers:
        return X.T @ (E @ ((E.T @ targets) / (e.clip(0) + alpha)))
    F = E[:, e > 1e-13 * e[-1]] * np.sqrt(e[e > 1e-13 * e[-1]])
    z, _ = newton_solution(F, y, 2 * alpha, LogLoss())
    return -X.T @ LogLoss().slope(y, F @ z) / (2 * alpha)


# ---------------------------------------------------------------- what is measured


def to_the_same_error(ours, other, error):
    """Both fitted to the same data; the weights of both must be within `error` of the
    optimum, relative.
    """

    def prepare(kind, n, d):
        X, y, targets, _ = matrix(kind, n, d)
        square = isinstance(ours, DualProjectionRidge)
        exact = optimal_weights(kind, n, d, square, ours.alpha)
        full = n >= 1000

        def fit(model):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return model.fit(X, targets if square else y)

        def as_near(found, expected):
            for model in (found, expected):
                distance = np.linalg.norm(model.coef_.ravel() - exact) / np.linalg.norm(
                    exact
                )
                assert distance <= error or not full, (model, distance)

        return timed(lambda: fit(ours)), timed(lambda: fit(other)), as_near

    return prepare


# ---------------------------------------------------------------- the rows

large = dict(n=5000, d=50_000)
small = dict(n=60, d=300)
how = (
    "Weights within {} of the optimum, by about the loosest tolerance that does; "
    "the optimum by eigenvectors."
)


def logistic(name, kind, alpha, tol, other, target=None, size=large, **more):
    ours = DualProjectionClassifier(
        alpha=alpha / 2, tol=tol, fit_intercept=False, random_state=0
    )
    return compared(
        name,
        kind,
        ours,
        other.set_params(C=1 / alpha, fit_intercept=False),
        1e-3,
        target,
        size,
        more,
    )


def square(name, kind, alpha, tol, other, target=None, size=large, error=1e-6, **more):
    ours = DualProjectionRidge(
        alpha=alpha, tol=tol, fit_intercept=False, random_state=0
    )
    return compared(
        name,
        kind,
        ours,
        other.set_params(alpha=alpha, fit_intercept=False),
        error,
        target,
        size,
        more,
    )


def compared(name, kind, ours, other, error, target, size, more):
    prepare = to_the_same_error(ours, other, error)
    call = f"`{type(ours).__name__}(alpha={ours.alpha:g}, tol={ours.tol:g})`"
    return Row(
        name,
        call,
        f"`{other!r}`",
        how.format(f"{error:g}"),
        prepare,
        kind,
        size,
        small,
        target,
        **more,
    )


few = dict(n=2000, d=20_000)
strong = 1000.0
weak = 1.0
rows = [
    logistic(
        "logistic",
        little,
        weak,
        0.3,
        LogisticRegression(tol=7e-8, max_iter=2000),
        3,
        aim=10,
        prediction="20",
        repeats=1,
        threads=(2,),
    ),
    logistic(
        "logistic-strong",
        little,
        strong,
        0.03,
        LogisticRegression(tol=3e-5),
        prediction="3",
        threads=(2,),
    ),
    square(
        "square",
        little,
        weak,
        1e-6,
        Ridge(solver="sparse_cg", tol=1e-6),
        2,
        prediction="4",
        threads=(2,),
    ),
    square(
        "square-strong",
        little,
        strong,
        1e-4,
        Ridge(solver="sparse_cg", tol=1e-6),
        prediction="2",
        threads=(2,),
    ),
    logistic(
        "text-logistic",
        text,
        weak,
        5e-3,
        LogisticRegression(solver="liblinear", dual=True, tol=0.03, random_state=0),
        1,
        few,
        prediction="1.2: passes in compiled code, no copy",
        repeats=9,
    ),
    square(
        "text-square",
        text,
        weak,
        2e-3,
        Ridge(solver="sparse_cg", tol=3e-4),
        1,
        few,
        error=1e-3,
        prediction="0.7",
        repeats=9,
    ),
]
