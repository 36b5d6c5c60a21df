"""Ways to choose columns side by side, each with every number of columns, on rows that
had no part in the choice.

Everything that looks at the target happens inside the folds: gaps are filled, columns
scaled, chosen and learned from on the training rows alone. A linear model with a ridge
judges, the same for all.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from joblib import Parallel, delayed
from scipy.sparse import csr_array
from scipy.special import xlogy
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    RidgeCV,
    lars_path,
    lars_path_gram,
)
from sklearn.metrics import average_precision_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
)

from fsel_book.certificates import Directions, Sampling
from fsel_book.groups import column_groups, group_bss
from fsel_book.sparsification import bss
from fsel_book.spectra import RidgeSpace, row_space
from fsel_book.table_columns import quote_names
from fsel_book.table_selector import (
    TableEncoder,
    choose_columns,
    column_scores,
    constraints_of,
    given_first,
    group_preferences,
    of_one_strength,
    roots_of_counts,
)

__all__ = [
    "ComparedMethods",
    "Question",
    "compare",
    "folds_of",
    "p_value_of_relation",
    "question_of",
    "sizes_up_to",
]

OURS = "fsel_book"
METHODS = (OURS, "RFE", "L1", "F score", "random columns")
ALPHAS = tuple(10.0**k for k in range(-1, 5))
COUNT_ALPHAS = tuple(10.0**k for k in range(-4, 3))  # times the mean, a row
RARE = 0.1  # a class of fewer rows is looked for, not told from the other
SHRINKAGE = 0.1  # of the covariance of discriminants
FEW_ROWS = 2000  # enough to tell whether a target is related to columns
MOST_ROWS = 3000  # with more, the strength of the ridge matters little
TINY = 1e-12  # beside the largest, what is smaller is rounding


@dataclass
class Question:
    """What is to be predicted, and how an answer is judged.

    Attributes
    ----------
    y : ndarray, shape (n_rows,)
        The target.
    classes : ndarray or None
        Its classes, None where it is a number.
    rare : object or None
        The class that is looked for, where there are two and it is rare.
    metric : str
        The measure, in words.
    chance : float
        What an answer without any column reaches.
    notes : list of str
        Why it was taken so.
    counts : bool
        Whether a number is how often something happened: then answers are expected
        numbers, and the Poisson deviance judges them.
    """

    y: np.ndarray
    classes: np.ndarray | None
    rare: Any
    metric: str
    chance: float
    notes: list[str] = field(default_factory=list)
    counts: bool = False

    @property
    def kind(self) -> Literal["classes", "numbers", "counts"]:
        """What the target is, as `TableSelector` calls it."""
        if self.classes is not None:
            return "classes"
        return "counts" if self.counts else "numbers"

    @property
    def judge(self) -> str:
        """The model that judges, in words."""
        if self.counts:
            return "Poisson regression with a ridge"
        if self.has_many_classes:
            return "linear discriminants"
        return "ridge regression"

    @property
    def guess(self) -> str:
        """The answer without any column, in words."""
        return "the mean" if self.classes is None else "the largest class"

    @property
    def has_many_classes(self) -> bool:
        """Whether there are three classes or more. Then ridge regression of indicators
        may overlook one that lies between two others, and discriminants judge.
        """
        return self.classes is not None and len(self.classes) > 2

    def learner(self, n_rows: int) -> Any:
        """The model that judges, not yet fitted, as a pipeline would have it."""
        many = n_rows > MOST_ROWS
        if self.counts:
            mean = float(self.y.mean())
            if many:
                return PoissonRegressor(
                    alpha=COUNT_ALPHAS[0] * mean, solver="newton-cholesky"
                )
            return GridSearchCV(
                PoissonRegressor(solver="newton-cholesky"),
                {"alpha": mean * np.array(COUNT_ALPHAS)},
            )
        if self.classes is None:
            return Ridge() if many else RidgeCV(ALPHAS)
        if self.has_many_classes:
            k = len(self.classes)
            return LinearDiscriminantAnalysis(
                solver="lsqr", shrinkage=SHRINKAGE, priors=np.full(k, 1 / k)
            )
        if many:
            return RidgeClassifier(class_weight="balanced")
        return RidgeClassifierCV(ALPHAS, class_weight="balanced")

    def decide(self, A: np.ndarray, rows: np.ndarray, B: np.ndarray) -> np.ndarray:
        """What `learner`, fitted on `A`, says of `B`; the same, without the checks of an
        estimator, which take longer than a small fit.

        Parameters
        ----------
        A : ndarray, shape (n_train, n_columns)
        rows : ndarray of int, shape (n_train,)
            Which rows these are.
        B : ndarray, shape (n_test, n_columns)

        Returns
        -------
        ndarray, shape (n_test, 1) or (n_test, n_classes)
        """
        if self.counts:
            alphas = COUNT_ALPHAS[:1] if len(A) > MOST_ROWS else COUNT_ALPHAS
            return poisson_predictions(A, self.y[rows], alphas, B)[:, None]
        Y = self.indicators()[rows]
        if self.has_many_classes:
            return discriminants(A, Y, B)
        weights = np.ones(len(A))
        if self.classes is not None:
            counts = Y.sum(axis=0)
            weights = Y @ (len(Y) / np.maximum(counts, 1) / np.sum(counts > 0))
            Y = 2 * Y - 1
        alphas = (1.0,) if len(A) > MOST_ROWS else ALPHAS
        return ridge_predictions(A, Y, weights, alphas, B)

    def score(self, rows: np.ndarray, decisions: np.ndarray) -> float:
        """How good decisions about some rows are."""
        y = self.y[rows]
        if self.counts:
            # a tree may say zero, which the deviance never forgives
            expected = np.maximum(decisions[:, 0], 1e-6 * y.mean())
            left = np.sum(xlogy(y, y / np.maximum(expected, 1e-300)) - y + expected)
            return _part_explained(left, np.sum(xlogy(y, y / max(y.mean(), 1e-300))))
        if self.classes is None:
            left = np.sum((y - decisions[:, 0]) ** 2)
            return _part_explained(left, np.sum((y - y.mean()) ** 2))
        if self.rare is not None:
            which = int(np.searchsorted(self.classes, self.rare))
            return float(average_precision_score(y == self.rare, decisions[:, which]))
        truth = np.searchsorted(self.classes, y)
        right = np.argmax(decisions, axis=1) == truth
        counts = np.bincount(truth, minlength=len(self.classes))
        hits = np.bincount(truth, weights=right, minlength=len(self.classes))
        return float(np.mean(hits[counts > 0] / counts[counts > 0]))

    def scores(
        self, Z: np.ndarray, of_column: np.ndarray, rows: Any = slice(None)
    ) -> np.ndarray:
        """How much each column tells of the target on some rows, as `TableSelector` has
        it.
        """
        if self.classes is None:
            return column_scores(Z, of_column, self.indicators()[rows, 0], False)
        return column_scores(Z, of_column, self.y[rows], True)

    def indicators(self) -> np.ndarray:
        """The target as numbers that linear methods look at: a column for each class, and
        the roots of counts.
        """
        if self.counts:
            return roots_of_counts(self.y)[:, None]
        if self.classes is None:
            return self.y[:, None].astype(float)
        return (self.y[:, None] == self.classes).astype(float)


def _part_explained(left: float, whole: float) -> float:
    """One less the part that is left of a whole; 0 where there is nothing to explain."""
    return float(1 - left / whole) if whole > 0 else 0.0


def question_of(
    y: Any, name: str, classes: bool, n_folds: int, counts: bool = False
) -> tuple[Question, np.ndarray]:
    """What a target asks, and which rows can answer: those of classes with a row for
    each fold.

    Parameters
    ----------
    y : array-like, shape (n_rows,)
    name : str
        What it is called.
    classes : bool
        Whether its values are classes.
    n_folds : int
    counts : bool
        Whether they are counts, and no classes.

    Returns
    -------
    question : Question
        Of the rows that are left.
    kept : ndarray of bool, shape (n_rows,)

    Raises
    ------
    ValueError
        If fewer than two classes are left, or too few rows.
    """
    values = np.asarray(y)
    if not classes:
        numbers = values.astype(float)
        if len(numbers) < 2 * n_folds:
            raise ValueError(
                f"{len(numbers)} rows are too few to judge by: at least {2 * n_folds}."
            )
        kept = np.ones(len(values), bool)
        if counts:
            note = (
                f"{name!r} is taken for counts: how often something happened. The measure "
                f"is D², the part of the deviance of counts that is explained: 1 is "
                f"perfect, 0 is what always saying the mean has. To take them as "
                f"measurements: task='numbers'."
            )
            return Question(numbers, None, None, "D²", 0.0, [note], True), kept
        note = (
            f"{name!r} is taken as a number. The measure is R², the part of its variance "
            f"that is explained: 1 is perfect, 0 is what always saying the mean has."
        )
        return Question(numbers, None, None, "R²", 0.0, [note]), kept
    if values.dtype.kind == "O":
        values = values.astype(str)
    found, count = np.unique(values, return_counts=True)
    left = found[count >= n_folds]
    kept = np.isin(values, left)
    notes = [
        f"{name!r} is taken for {len(found)} classes."
        + (
            " To take its values as numbers: task='numbers'."
            if values.dtype.kind in "iuf" and len(found) > 2
            else ""
        )
    ]
    if len(left) < 2:
        raise ValueError(
            f"the target {name!r} has {len(found)} different values, of which {len(left)} "
            f"stand in at least {n_folds} rows; two must. If they are numbers, say "
            f"task='numbers'; if not, give another target."
        )
    if len(left) < len(found):
        small = [str(one) for one in found[count < n_folds]]
        rows = int(np.sum(~kept))
        notes.append(
            f"{f'{rows} rows' if rows > 1 else 'One row'} of "
            f"{f'{len(small)} classes' if len(small) > 1 else 'a class'} with fewer than "
            f"{n_folds} rows {'were' if rows > 1 else 'was'} left out: "
            f"{quote_names(small, 5)}."
        )
    values = values[kept]
    share = np.sort(count[count >= n_folds]) / len(values)
    if len(left) == 2 and share[0] < RARE:
        rare = left[int(np.argmin([np.sum(values == one) for one in left]))]
        notes.append(
            f"Only {share[0]:.1%} of the rows are {str(rare)!r}, so accuracy would say "
            f"nothing. The measure is average precision: how many of the rows that are "
            f"ranked first are {str(rare)!r}. By chance it is {share[0]:.3f}."
        )
        return Question(
            values, left, rare, "average precision", float(share[0]), notes
        ), kept
    notes.append(
        "The measure is balanced accuracy: the share of rows that are predicted right, "
        f"class by class, averaged. By chance it is {1 / len(left):.3f}."
    )
    return Question(values, left, None, "balanced accuracy", 1 / len(left), notes), kept


def sizes_up_to(most: int) -> list[int]:
    """Numbers of columns to try, more closely where they are few."""
    grid = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 50, 80, 120, 200]
    return [r for r in grid if r <= most]


# ---------------------------------------------------------------- models


def ridge_predictions(
    A: np.ndarray,
    Y: np.ndarray,
    weights: np.ndarray,
    alphas: tuple[float, ...],
    B: np.ndarray,
) -> np.ndarray:
    """Ridge regression of `Y` on `A` with an intercept and weights of rows, at the
    penalty of least squared error on rows left out one at a time, for the rows `B`:
    what `RidgeCV(alphas)` predicts.

    With the centred `A`, rows times the roots of their weights, `U S V'`: the error of
    a row left out is its residual over one minus its leverage.

    Parameters
    ----------
    A : ndarray, shape (n_train, n_columns)
    Y : ndarray, shape (n_train, n_targets)
    weights : ndarray, shape (n_train,)
    alphas : tuple of float
    B : ndarray, shape (n_test, n_columns)

    Returns
    -------
    ndarray, shape (n_test, n_targets)
    """
    total = weights.sum()
    a, y = weights @ A / total, weights @ Y / total
    root = np.sqrt(weights)[:, None]
    centred, T = (A - a) * root, (Y - y) * root
    n, p = centred.shape
    if len(alphas) == 1 and p <= n:
        W = np.linalg.solve(centred.T @ centred + alphas[0] * np.eye(p), centred.T @ T)
        return (B - a) @ W + y
    # the smaller Gram matrix has the squares, and digits enough above the penalties
    if p <= n:
        squares, V = np.linalg.eigh(centred.T @ centred)
        some = squares > TINY * squares[-1]
        squares = squares[some]
        U = centred @ V[:, some] / np.sqrt(squares)
    else:
        squares, U = np.linalg.eigh(centred @ centred.T)
        some = squares > TINY * squares[-1]
        U, squares = U[:, some], squares[some]
    products = U.T @ T
    constant = (root / np.sqrt(total)) ** 2
    best, kept = np.inf, np.zeros(0)
    for alpha in alphas:
        shrunk = squares / (squares + alpha)
        left = T - U @ (shrunk[:, None] * products)
        leverage = (U**2 @ shrunk)[:, None] + constant
        error = np.sum((left / (1 - leverage)) ** 2)
        if error < best:
            best, kept = error, 1 / (squares + alpha)
    # V = A'U / S, so V (S / (S^2 + alpha)) U'T is A'U (1 / (S^2 + alpha)) U'T
    return (B - a) @ (centred.T @ (U @ (kept[:, None] * products))) + y


def poisson_predictions(
    A: np.ndarray, y: np.ndarray, alphas: tuple[float, ...], B: np.ndarray
) -> np.ndarray:
    """Poisson regression of counts `y` on `A` with an intercept and a ridge, at the
    penalty of least deviance of rows left out one at a time, for the rows `B`: what
    `PoissonRegressor` predicts, its `alpha` one of `alphas` times the mean of `y`.

    Newton's method, from the largest penalty down, each from where the last one ended.
    What a row would be told without it is one Newton step away, by its leverage.

    Parameters
    ----------
    A : ndarray, shape (n_train, n_columns)
    y : ndarray, shape (n_train,)
    alphas : tuple of float
    B : ndarray, shape (n_test, n_columns)

    Returns
    -------
    ndarray, shape (n_test,)
        Expected counts.
    """
    n, mean = len(A), y.mean()
    if mean == 0:
        return np.zeros(len(B))
    t = y / mean
    a = A.mean(axis=0)
    A, B = A - a, B - a
    if A.shape[1] > n:  # in the space of the rows
        squares, U = np.linalg.eigh(A @ A.T)
        some = squares > 1e-10 * squares[-1]
        U, S = U[:, some], np.sqrt(squares[some])
        A, B = U * S, B @ (A.T @ (U / S))
    A = np.hstack([np.ones((n, 1)), A])
    w = np.zeros(A.shape[1])
    least, kept, since = np.inf, w, 0
    for alpha in sorted(alphas, reverse=True):
        penalty = np.full(len(w), n * alpha)
        penalty[0] = 0.0
        w = _poisson_weights(A, t, penalty, w)
        if len(alphas) == 1:
            kept = w
            break
        eta = _exponents(A @ w)
        mu = np.exp(eta)
        H = A.T @ (A * mu[:, None]) + np.diag(penalty + TINY)
        leverage = np.sum(A * np.linalg.solve(H, A.T).T, axis=1) * mu
        leverage = np.minimum(leverage, 1 - 1e-6)
        without = _exponents(eta - (t - mu) / mu * leverage / (1 - leverage))
        deviance = np.sum(np.exp(without) - t * without)
        if deviance < least:
            least, kept, since = deviance, w, 0
        elif (since := since + 1) == 2:
            break
    return mean * np.exp(_exponents(kept[0] + B @ kept[1:]))


def _exponents(eta: np.ndarray) -> np.ndarray:
    """The same within what can be raised to."""
    return np.clip(eta, -30.0, 30.0)


def _poisson_weights(
    A: np.ndarray, t: np.ndarray, penalty: np.ndarray, w: np.ndarray
) -> np.ndarray:
    """Where the sum of `exp(A w) - t A w` and half the penalties times the squares of
    `w` is least, by damped Newton steps from `w` on.
    """

    def value(eta: np.ndarray, w: np.ndarray) -> float:
        return float(np.sum(np.exp(eta) - t * eta) + penalty @ w**2 / 2)

    eta = _exponents(A @ w)
    now = value(eta, w)
    for _ in range(30):
        mu = np.exp(eta)
        slope = A.T @ (mu - t) + penalty * w
        H = A.T @ (A * mu[:, None]) + np.diag(penalty + TINY)
        step = np.linalg.solve(H, slope)
        gain = slope @ step
        size = 1.0
        while True:
            other = w - size * step
            eta = _exponents(A @ other)
            then = value(eta, other)
            if then <= now - 1e-4 * size * gain or size < 1e-4:
                break
            size /= 2
        w, now = other, then
        # the error after a step is the square of that before it
        if gain < 1e-4 * len(t):
            break
    return w


def discriminants(A: np.ndarray, Y: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Linear discriminants of classes taken as equally frequent, their covariance mixed
    with a multiple of the identity: what `LinearDiscriminantAnalysis` says.

    Where columns are more than rows, in the space of the rows.

    Parameters
    ----------
    A : ndarray, shape (n_train, n_columns)
    Y : ndarray, shape (n_train, n_classes)
        Ones for the class of each row.
    B : ndarray, shape (n_test, n_columns)

    Returns
    -------
    ndarray, shape (n_test, n_classes)
    """
    if A.shape[1] > len(A):
        mean = A.mean(axis=0)
        squares, U = np.linalg.eigh((A - mean) @ (A - mean).T)
        some = squares > 1e-12 * squares[-1]
        U, S = U[:, some], np.sqrt(squares[some])
        A, B = U * S, (B - mean) @ ((A - mean).T @ (U / S))
    counts = Y.sum(axis=0)
    there = counts > 0
    means = (Y[:, there] / counts[there]).T @ A
    inside = (A - Y[:, there] @ means) * np.sqrt(Y[:, there] @ (1 / counts[there]))[
        :, None
    ]
    covariance = inside.T @ inside / there.sum()
    p = len(covariance)
    target = np.trace(covariance) / p * np.eye(p)
    covariance = (1 - SHRINKAGE) * covariance + SHRINKAGE * target
    W = np.linalg.lstsq(covariance, means.T, rcond=None)[0]
    found = np.full((len(B), Y.shape[1]), -1e6)
    found[:, there] = B @ W - np.sum(means.T * W, axis=0) / 2
    return found


# ---------------------------------------------------------------- orders of columns


def _ridge_weights(Z: np.ndarray, Y: np.ndarray, penalty: float) -> np.ndarray:
    """The weights of ridge regression of centred targets on centred columns."""
    n, p = Z.shape
    if p <= n:
        return np.linalg.solve(Z.T @ Z + penalty * np.eye(p), Z.T @ Y)
    return Z.T @ np.linalg.solve(Z @ Z.T + penalty * np.eye(n), Y)


def elimination_order(
    Z: np.ndarray, of_column: np.ndarray, Y: np.ndarray, most: int
) -> np.ndarray:
    """Columns by how long they last: those whose weights in ridge regression are least
    leave, a tenth of what is left at a time, one at a time among the last `most`.

    Parameters
    ----------
    Z : ndarray, shape (n_rows, n_encoded)
        Centred.
    of_column : ndarray of int, shape (n_encoded,)
    Y : ndarray, shape (n_rows, n_targets)
        Centred.
    most : int

    Returns
    -------
    ndarray of int
        The last first.
    """
    left = np.unique(of_column)
    gone: list[int] = []
    gram = Z.T @ Z if Z.shape[1] <= Z.shape[0] else None
    products = Z.T @ Y if gram is not None else None
    penalty = max(1.0, 0.01 * Z.shape[0])
    while len(left) > 1:
        mask = np.isin(of_column, left)
        if gram is not None and products is not None:
            some = np.ix_(mask, mask)
            W = np.linalg.solve(
                gram[some] + penalty * np.eye(int(mask.sum())), products[mask]
            )
        else:
            W = _ridge_weights(Z[:, mask], Y, penalty)
        size = np.zeros(of_column.max() + 1)
        np.add.at(size, of_column[mask], np.sum(W**2, axis=1))
        leave = 1
        if len(left) > most:
            leave = max(1, min(len(left) // 10, len(left) - most))
        order = np.argsort(size[left], kind="stable")
        gone += [int(j) for j in left[order[:leave]]]
        left = np.sort(left[order[leave:]])
    return np.array([*left, *gone[::-1]], dtype=int)


def lasso_order(
    Z: np.ndarray, of_column: np.ndarray, Y: np.ndarray, most: int
) -> np.ndarray:
    """Columns in the order in which they enter the path of the lasso, for each target
    one, those that enter at the largest penalty first.
    """
    best = np.full(of_column.max() + 1, -1.0)
    Y = Y / np.maximum(np.linalg.norm(Y, axis=0), 1e-300)
    # of two classes one says it all
    if Y.shape[1] == 2 and np.allclose(Y[:, 0], -Y[:, 1]):
        Y = Y[:, :1]
    gram = Z.T @ Z if Z.shape[1] <= Z.shape[0] else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for target in Y.T:
            # a column may leave the path and enter again
            steps = int(1.2 * most) + 10
            if gram is not None:
                alphas, _, path = lars_path_gram(
                    Z.T @ target, gram, n_samples=len(Z), method="lasso", max_iter=steps
                )
            else:
                alphas, _, path = lars_path(Z, target, method="lasso", max_iter=steps)
            entered = path != 0
            j = np.flatnonzero(entered.any(axis=1))
            at = alphas[np.maximum(np.argmax(entered[j], axis=1) - 1, 0)]
            np.maximum.at(best, of_column[j], at)
    order = np.argsort(-best, kind="stable")
    return order[best[order] >= 0]


def _filled(order: np.ndarray, by: np.ndarray) -> np.ndarray:
    """An order of all columns: those that it lacks follow by the scores."""
    rest = np.setdiff1d(np.argsort(-by, kind="stable"), order, assume_unique=True)
    return np.concatenate([order, rest[np.argsort(-by[rest], kind="stable")]])


# ---------------------------------------------------------------- one fold


class _Fold(NamedTuple):
    """What one fold found.

    Attributes
    ----------
    scores : dict
        The score of each method with each number of columns.
    chosen : dict of ndarray
        The columns that this package chose, by their number.
    """

    scores: dict[tuple[str, int], float]
    chosen: dict[int, np.ndarray]


def _in_fold(*arguments: Any) -> _Fold:
    """What `_judged` finds; what it would warn of, the choice on all rows says."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _judged(*arguments)


def _judged(
    X: Any,
    question: Question,
    train: np.ndarray,
    test: np.ndarray,
    sizes: list[int],
    n_draws: int,
    seed: int,
    given: np.ndarray,
    excluded: np.ndarray,
) -> _Fold:
    """Choose and learn on some rows, and judge by others."""
    rows = (
        (lambda which: X.iloc[which])
        if hasattr(X, "iloc")
        else (lambda which: X[which])
    )
    encoder = TableEncoder().fit(rows(train))
    Z = encoder.transform(rows(train))
    T = encoder.transform(rows(test))
    of_column = encoder.of_column
    Y = question.indicators()[train]
    Y = Y - Y.mean(axis=0)
    found = _Fold({}, {})
    seen: dict[bytes, float] = {}  # methods often choose the same columns

    def judge(method: str, r: int, columns: np.ndarray) -> None:
        same = np.sort(columns).tobytes()
        if same not in seen:
            mask = np.isin(of_column, columns)
            decisions = question.decide(Z[:, mask], train, T[:, mask])
            seen[same] = question.score(test, decisions)
        score = seen[same]
        if method == "random columns":
            found.scores.setdefault((method, r), 0.0)
            found.scores[method, r] += score / n_draws
        else:
            found.scores[method, r] = score

    n_columns = int(of_column.max()) + 1
    of_columns = question.scores(Z, of_column, train)
    orders = orders_of(Z, of_column, Y, of_columns, max(sizes), given, excluded)
    rng = np.random.default_rng(seed)
    free = np.setdiff1d(np.arange(n_columns), np.union1d(given, excluded))
    ours = _Ours(Z, of_column, of_columns[of_column], given, excluded)
    for r in sizes:
        found.chosen[r] = ours.columns(r)
        judge(OURS, r, found.chosen[r])
        for method, order in orders.items():
            judge(method, r, order[:r])
        for _ in range(n_draws):
            drawn = rng.choice(free, r - len(given), replace=False)
            judge("random columns", r, np.concatenate([given, drawn]))
    judge("all columns", n_columns, np.arange(n_columns))
    return found


def orders_of(
    Z: np.ndarray,
    of_column: np.ndarray,
    Y: np.ndarray,
    scores: np.ndarray,
    most: int,
    given: np.ndarray,
    excluded: np.ndarray,
) -> dict[str, np.ndarray]:
    """The columns as other methods order them: those given first, none that is excluded.

    Parameters
    ----------
    Z : ndarray, shape (n_rows, n_encoded)
    of_column : ndarray of int, shape (n_encoded,)
    Y : ndarray, shape (n_rows, n_targets)
        Centred.
    scores : ndarray, shape (n_columns,)
        The F statistic of each column.
    most : int
        How many are asked for.
    given, excluded : ndarray of int

    Returns
    -------
    dict of ndarray of int
    """
    if len(excluded):
        may = ~np.isin(of_column, excluded)
        Z, of_column = Z[:, may], of_column[may]
    Z = Z - Z.mean(axis=0)
    found = {
        "RFE": elimination_order(Z, of_column, Y, most),
        "L1": _filled(lasso_order(Z, of_column, Y, most), scores),
        "F score": np.argsort(-scores, kind="stable"),
    }
    out = np.union1d(given, excluded)
    return {
        method: np.concatenate([given, order[~np.isin(order, out)]])
        for method, order in found.items()
    }


class _Ours:
    """The columns that `TableSelector` would choose. All their numbers share one space,
    and nothing is certified.

    Attributes
    ----------
    Z : ndarray, shape (n_rows, n_encoded)
    of_column : ndarray of int, shape (n_encoded,)
    F : ndarray, shape (n_encoded,)
        The score of the column of each encoded one.
    given, excluded : ndarray of int
    groups : ColumnGroups
        The encoded ones of each column.
    of_numbers : bool
        Whether there are no categories.
    space : RowSpace
        Of the encoded columns as they are while columns are chosen.
    scores : ndarray
        By which they are chosen: of the encoded ones, or of the groups.
    """

    def __init__(
        self,
        Z: np.ndarray,
        of_column: np.ndarray,
        F: np.ndarray,
        given: np.ndarray,
        excluded: np.ndarray,
    ) -> None:
        self.Z = Z
        self.of_column = of_column
        self.F = F
        self.given = given
        self.excluded = excluded
        self.groups = column_groups(of_column, len(of_column))
        self.of_numbers = len(self.groups.labels) == len(of_column)
        scores = cast(np.ndarray, given_first(F, of_column, given))
        if self.of_numbers:
            self.space, self.scores = row_space(Z), scores
        else:
            factors, variances = of_one_strength(Z, of_column)
            self.space = row_space(Z * factors)
            by_label = group_preferences(scores, of_column, variances)
            # groups are numbered in the order of their first columns
            place = np.searchsorted(np.unique(of_column), self.groups.labels)
            self.scores = by_label[place]

    def columns(self, r: int) -> np.ndarray:
        """As many columns as asked for."""
        if self.of_numbers:
            labels, sampling = self.of_column, self._of_numbers(r)
        else:
            labels, sampling = self.groups.labels, self._of_groups(r)
        if sampling.n_selected == r:
            return np.asarray(labels[sampling.indices], dtype=int)
        return choose_columns(
            self.Z, self.of_column, r, self.F, None, self.given, self.excluded
        )[0]

    def _of_numbers(self, r: int) -> Sampling:
        place = np.argsort(self.of_column)
        return bss(
            Directions(None, None, r, spare=1, soft=True).of(self.space),
            r,
            scores=self.scores,
            n_different=r,
            constraints=constraints_of(place[self.given], place[self.excluded]),
        )

    def _of_groups(self, r: int) -> Sampling:
        return group_bss(
            cast(RidgeSpace, Directions(None, "auto", r).of(self.space)),
            self.groups,
            r,
            scores=self.scores,
            constraints=constraints_of(self.given, self.excluded),
        )


# ---------------------------------------------------------------- all folds


@dataclass
class ComparedMethods:
    """Scores of several ways to choose columns.

    Attributes
    ----------
    question : Question
    sizes : list of int
        The numbers of columns.
    n_columns : int
        How many there are.
    scores : dict of ndarray, shape (n_folds,)
        By method and number of columns, the score in each fold.
    ratio : float
        Of the rows that judge and those that learn, in a fold.
    p_value : float
        How often targets in another order of rows would seem as much related to the
        columns, by `p_value_of_relation`.
    n_shuffles : int
        How many other orders were tried.
    n_folds : int
        How many folds make a round, in which every row judges once.
    times_chosen : dict of ndarray of int, shape (n_columns,)
        By number of columns, in how many folds this package chose each.
    """

    question: Question
    sizes: list[int]
    n_columns: int
    scores: dict[tuple[str, int], np.ndarray]
    ratio: float
    p_value: float
    n_shuffles: int = 999
    n_folds: int = 5
    times_chosen: dict[int, np.ndarray] = field(default_factory=dict)

    def mean(self, method: str, r: int) -> float:
        """The mean score over the folds."""
        return float(np.mean(self.scores[method, r]))

    def error(self, method: str, r: int) -> float:
        """The standard error of the mean, larger than that of independent folds, since
        folds share rows that they learn from (Nadeau and Bengio 2003).
        """
        return self.error_of(self.scores[method, r])

    def error_of(self, values: np.ndarray) -> float:
        """The standard error of the mean of values, one of each fold."""
        k = len(values)
        return float(np.std(values, ddof=1) * np.sqrt(1 / k + self.ratio))

    def fewest(self, method: str) -> int:
        """The smallest number of columns whose score is within a standard error of the
        best of the method.
        """
        return self.sizes[self._fewest(self._by_size(method))]

    def _by_size(self, method: str) -> np.ndarray:
        """The scores, a row for each number of columns."""
        return np.array([self.scores[method, r] for r in self.sizes])

    def _fewest(self, scores: np.ndarray) -> int:
        """The place of the smallest number within a standard error of the best, by the
        scores of some folds.
        """
        means = scores.mean(axis=1)
        best = int(np.argmax(means))
        return int(np.argmax(means >= means[best] - self.error_of(scores[best])))

    def picked_apart(self, method: str) -> np.ndarray:
        """The score in each fold with the number of columns that the other folds of its
        round would pick.

        The best of several numbers looks better than it is on the folds that it was
        picked on (Cawley and Talbot 2010). Here the rows that judge have no part in the
        number, though they are among those that the other folds learned from.

        Parameters
        ----------
        method : str

        Returns
        -------
        ndarray, shape (n_folds_in_all,)
        """
        scores = self._by_size(method)
        found = np.empty(scores.shape[1])
        for i in range(scores.shape[1]):
            start = i - i % self.n_folds
            others = [j for j in range(start, start + self.n_folds) if j != i]
            found[i] = scores[self._fewest(scores[:, others]), i]
        return found

    def gap(self, a: tuple[str, int], b: tuple[str, int]) -> tuple[float, float]:
        """How much better one is than another, and the standard error of that."""
        values = self.scores[a] - self.scores[b]
        return float(np.mean(values)), self.error_of(values)

    def better(self, a: tuple[str, int], b: tuple[str, int]) -> int:
        """1 where one is better than another by more than two standard errors and half a
        hundredth, -1 where it is worse, else 0.
        """
        return sign_of(*self.gap(a, b))


def sign_of(gap: float, error: float) -> int:
    """1 where a gap is above zero by more than two standard errors and half a hundredth,
    -1 where it is below, else 0.
    """
    return int(np.sign(gap)) if abs(gap) > max(2 * error, 0.005) else 0


def p_value_of_relation(
    Z: np.ndarray, Y: np.ndarray, n_permutations: int = 999, seed: int = 0
) -> float:
    """How often a target in another order of rows would seem as much related to the
    columns as it does.

    Two things are looked at: the largest part of the target that one column explains,
    and the part that ridge regression on all of them explains of rows left out one at a
    time. The smaller of their two p-values counts, for the target and in the same way
    for each permutation, so the test keeps its level whatever the columns are: if rows
    can be exchanged, a p-value of at most `p` has probability `p` at most.

    Parameters
    ----------
    Z : ndarray, shape (n_rows, n_columns)
    Y : ndarray, shape (n_rows, n_targets)
    n_permutations : int
    seed : int

    Returns
    -------
    float

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.standard_normal((50, 4))
    >>> p_value_of_relation(Z, Z[:, :1] + rng.standard_normal((50, 1)))
    0.001
    """
    rng = np.random.default_rng(seed)
    n = len(Z)
    if n > FEW_ROWS:
        rows = np.sort(rng.choice(n, FEW_ROWS, replace=False))
        Z, Y, n = Z[rows], Y[rows], FEW_ROWS
    Z = Z - Z.mean(axis=0)
    lengths = np.linalg.norm(Z, axis=0)
    Z = Z[:, lengths > 1e-9 * lengths.max(initial=0)]
    if not Z.shape[1]:
        return 1.0
    Z = Z / np.linalg.norm(Z, axis=0)
    # an orthonormal basis of the centred target: parts explained are squared lengths
    U, S, _ = np.linalg.svd(Y - Y.mean(axis=0), full_matrices=False)
    Q = U[:, S > 1e-9 * S.max(initial=0)]
    k = Q.shape[1]
    squares, U = np.linalg.eigh(Z @ Z.T)
    left_of = []
    for alpha in squares.mean() * np.array([0.1, 1.0, 10.0]):
        H = (U * (squares / (squares + alpha))) @ U.T
        left_of.append((np.eye(n) - H) / (1 - np.diag(H) - 1 / n)[:, None])

    def both(P: np.ndarray) -> np.ndarray:
        """The two statistics of targets side by side, `k` columns each."""
        count = P.shape[1] // k
        alone = np.sum((Z.T @ P).reshape(len(Z.T), count, k) ** 2, axis=2).max(axis=0)
        left = [
            np.sum((L @ P) ** 2, axis=0).reshape(count, k).sum(axis=1) for L in left_of
        ]
        return np.array([alone, -np.min(left, axis=0)])

    found = [both(Q)]
    for start in range(0, n_permutations, 50):
        some = range(start, min(start + 50, n_permutations))
        found.append(both(np.hstack([Q[rng.permutation(n)] for _ in some])))
    values = np.hstack(found)
    values = np.round(values, 12)  # what is equal is equal but for rounding
    as_large = np.array([np.sum(row >= row[:, None], axis=1) for row in values])
    smaller = as_large.min(axis=0)
    return float(np.sum(smaller <= smaller[0]) / len(smaller))


def folds_of(
    question: Question,
    n_columns: int,
    n_folds: int = 5,
    units: np.ndarray | None = None,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows of each fold of a table, in several rounds where it is
    small; rows of one unit stay together.

    Parameters
    ----------
    question : Question
    n_columns : int
    n_folds : int
    units : ndarray, shape (n_rows,), optional

    Yields
    ------
    train, test : ndarray of int
    """
    size = len(question.y) * n_columns
    repeats = 1 if units is not None or size > 10**6 else 2 if size > 10**5 else 3
    X = np.zeros((len(question.y), 1))
    if units is not None:
        if question.classes is None:
            yield from GroupKFold(n_folds).split(X, question.y, units)
        else:
            cv = StratifiedGroupKFold(n_folds, shuffle=True, random_state=0)
            yield from cv.split(X, question.y, units)
    elif question.classes is None:
        cv = RepeatedKFold(n_splits=n_folds, n_repeats=repeats, random_state=0)
        yield from cv.split(X)
    else:
        cv = RepeatedStratifiedKFold(
            n_splits=n_folds, n_repeats=repeats, random_state=0
        )
        yield from cv.split(X, question.y)


def compare(
    X: Any,
    question: Question,
    *,
    sizes: list[int] | None = None,
    n_folds: int = 5,
    units: np.ndarray | None = None,
    given: Any = (),
    excluded: Any = (),
    n_jobs: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> ComparedMethods:
    """Choose columns in several ways, with several numbers of columns, in each of five
    folds, and judge them by the rows of the fold.

    Parameters
    ----------
    X : DataFrame or ndarray, shape (n_rows, n_columns)
        Numbers and categories.
    question : Question
        Of the same rows.
    sizes : list of int, optional
        Numbers of columns; by default up to 200, half of the rows, and one less than all.
    n_folds : int
    units : ndarray, shape (n_rows,), optional
        Rows of one unit, as of one patient, stay in one fold.
    given, excluded : sequence of int
        The places of columns that every method is to take, and of those that none may.
    n_jobs : int, optional
        For the folds, as in joblib. None takes all processors where the table is large
        enough for them to be of use.
    seed : int
    progress : callable, optional
        `progress(done, total)` is called before the first fold and after each.

    Returns
    -------
    ComparedMethods
    """
    n, d = X.shape
    n_train = n - n // n_folds
    given, excluded = np.array(given, dtype=int), np.array(excluded, dtype=int)
    if sizes is None:
        sizes = sizes_up_to(max(1, min(d - 1, n_train // 2, 200)))
    if len(given) or len(excluded):
        least, most = max(1, len(given)), d - len(excluded)
        sizes = sorted({least, *(r for r in sizes if least <= r <= most)})
    folds = list(folds_of(question, d, n_folds, units))
    n_draws = 20 * n_folds // len(folds) if n * d <= 10**6 else 5
    if n_jobs is None:
        n_jobs = -1 if n * d > 3 * 10**5 else 1
    work = (
        delayed(_in_fold)(
            X, question, train, test, sizes, n_draws, seed + i, given, excluded
        )
        for i, (train, test) in enumerate(folds)
    )
    found: list[_Fold] = []
    if progress is not None:
        progress(0, len(folds))
    with Parallel(n_jobs=n_jobs, return_as="generator") as parallel:
        for fold in parallel(work):
            found.append(fold)
            if progress is not None:
                progress(len(found), len(folds))
    scores = {
        key: np.array([fold.scores[key] for fold in found]) for key in found[0].scores
    }
    ratio = float(np.mean([len(test) / len(train) for train, test in folds]))
    Z, Y = TableEncoder().fit(X).transform(X), question.indicators()
    if units is not None:
        # rows of one unit cannot be exchanged with those of others; units can
        _, of_row = np.unique(units, return_inverse=True)
        counts = np.bincount(of_row)[:, None]
        ones = csr_array((np.ones(len(of_row)), (of_row, np.arange(len(of_row)))))
        Z, Y = ones @ Z / counts, ones @ Y / counts
    n_shuffles = 999 if Z.size < 10**6 else 499
    p_value = p_value_of_relation(Z, Y, n_shuffles, seed)
    times_chosen = {
        r: np.bincount(np.concatenate([fold.chosen[r] for fold in found]), minlength=d)
        for r in sizes
    }
    return ComparedMethods(
        question, sizes, d, scores, ratio, p_value, n_shuffles, n_folds, times_chosen
    )
