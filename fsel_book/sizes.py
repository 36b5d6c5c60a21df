"""How many columns: the quality of a selection with every number of them.

`size_path` chooses on some rows, with each number of columns, and judges on others. What
comes out answers the question in three ways: the fewest columns within one standard error
of the best, the fewest that reach a share of what all columns reach, or the number that is
best once each column has a price. `SizeDisplay` draws it.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.feature_selection import RFE, SelectKBest
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import check_scoring
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from fsel_book.arrays import (
    is_integer,
    is_sparse,
    namespace,
    take_columns,
    take_rows,
    to_numpy,
)
from fsel_book.docs import insert_docs
from fsel_book.validation import (
    check_instance,
    check_matrix,
    is_frame,
    readable_array,
)

__all__ = ["SizeDisplay", "SizePath", "default_splitter", "size_path", "with_rows"]

# what selectors call the number of what they choose
SIZE_PARAMETERS = (
    "n_features_to_select",
    "n_groups_to_select",
    "n_features_to_add",
    "k",
    "max_features",
)
ALL_UP_TO = 30  # of so few columns every number is tried
SOME = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 65, 80, 100, 130, 160, 200)
STRENGTHS = tuple(10.0**k for k in range(-3, 5))
RIDGES = tuple(
    10.0**k for k in range(-8, 3, 2)
)  # beside the mean squared singular value
BLOCK = 2**22  # numbers of columns that are made dense at a time


# ---------------------------------------------------------------- what comes out


@dataclass(frozen=True)
class SizePath:
    """Scores on rows that had no part in the choice, with every number of columns.

    Parameters
    ----------
    sizes : ndarray of int, shape (n_sizes,)
        The numbers of columns, rising.
    scores : ndarray, shape (n_folds, n_sizes)
        The score of each fold with each number. Larger is better.
    all_scores : ndarray, shape (n_folds,)
        With all columns.
    none_scores : ndarray, shape (n_folds,)
        Without any: of the mean, or of the most frequent class.
    n_columns : int
        How many columns there are to choose from.
    measure : str
        What the scores are.
    has_target : bool
        Whether a target was judged by, and not how much the columns explain.

    Examples
    --------
    >>> import numpy as np
    >>> from fsel_book.sizes import SizePath
    >>> scores = np.array([[0.7, 0.9, 0.9], [0.6, 0.9, 1.0]])
    >>> path = SizePath(
    ...     np.array([1, 2, 3]), scores, scores[:, 2], 0 * scores[:, 2], 3, "R²"
    ... )
    >>> path.within_one_error(), path.reaching(0.6), path.at_price(0.02)
    (2, 1, 3)
    """

    sizes: np.ndarray
    scores: np.ndarray
    all_scores: np.ndarray
    none_scores: np.ndarray
    n_columns: int
    measure: str = "score"
    has_target: bool = True

    @property
    def mean(self) -> np.ndarray:
        """The mean score with each number of columns."""
        return self.scores.mean(axis=0)

    @property
    def errors(self) -> np.ndarray:
        """The standard error of each mean score, as if folds were independent.

        They share most of the rows that they learn from, so it is too small to tell two
        methods apart. For the rule of one standard error it is the usual one.
        """
        return self.scores.std(axis=0, ddof=1) / np.sqrt(len(self.scores))

    @property
    def best(self) -> int:
        """The number of columns with the best mean score, the least of equal ones."""
        return int(self.sizes[np.argmax(self.mean)])

    def within_one_error(self) -> int:
        """The fewest columns whose mean score is within one standard error of the best.

        Returns
        -------
        int

        References
        ----------
        Breiman, Friedman, Olshen and Stone (1984), section 3.4.3; Hastie, Tibshirani and
        Friedman (2009), section 7.10.
        """
        mean = self.mean
        best = int(np.argmax(mean))
        return int(self.sizes[np.argmax(mean >= mean[best] - self.errors[best])])

    def reaching(self, share: float = 0.95) -> int:
        """The fewest columns that bring so much of what all columns bring.

        Parameters
        ----------
        share : float
            Of the way from the mean score without any column to that with all, above 0
            and at most 1.

        Returns
        -------
        int
            All columns, where no number tried gets so far.

        Raises
        ------
        ValueError
            `share` is not between 0 and 1, or all columns are no better than none.
        """
        if not _is_real(share) or not 0 < share <= 1:
            raise ValueError(
                f"share={share!r} is not possible: give a number above 0 and at most 1."
            )
        low, high = self.none_scores.mean(), self.all_scores.mean()
        if not high > low:
            raise ValueError(
                f"With all columns the score is {high:.3g}, and without any {low:.3g}: "
                f"there is nothing to reach a share of. Use within_one_error()."
            )
        enough = self.mean >= low + share * (high - low)
        return int(self.sizes[np.argmax(enough)]) if enough.any() else self.n_columns

    def at_price(self, price: float) -> int:
        """The number of columns of largest mean score less the price of the columns.

        Parameters
        ----------
        price : float
            What a column costs, in the units of the score: at 0.001 a tenth column has to
            raise an accuracy by a tenth of a percent.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            `price` is no finite number from 0 on.
        """
        if not _is_real(price) or not 0 <= price < np.inf:
            raise ValueError(
                f"price={price!r} is not possible: give a finite number from 0 on."
            )
        return int(self.sizes[np.argmax(self.mean - price * self.sizes)])

    def plot(self, ax: Any = None) -> "SizeDisplay":
        """Draw it: `SizeDisplay(path).plot(ax)`."""
        return SizeDisplay(self).plot(ax)


def _is_real(value: Any) -> bool:
    return not isinstance(value, (bool, np.bool_)) and isinstance(
        value, (int, float, np.integer, np.floating)
    )


@insert_docs
class SizeDisplay:
    """Score against number of columns, with one standard error, and the number that the
    rule of one standard error takes, or, without a target, the fewest that explain nine
    tenths of what all do.

    Takes arrays of any library; what it draws is on the CPU.

    Parameters
    ----------
    path : SizePath

    Attributes
    ----------
    %(display)s

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from fsel_book import SizeDisplay, TableSelector
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> display = SizeDisplay.from_selector(
    ...     TableSelector(), X, y, cv=3, sizes=[1, 2, 4, 8]
    ... )
    >>> display.plot().ax_.get_xlabel()
    'columns chosen'
    """

    def __init__(self, path: SizePath) -> None:
        self.path = path

    @classmethod
    def from_selector(
        cls, selector: Any, X: Any, y: Any = None, **options: Any
    ) -> "SizeDisplay":
        """The display of `size_path(selector, X, y, **options)`.

        Parameters
        ----------
        selector : estimator
        X : array, frame or sparse matrix, shape (n_samples, n_features)
        y : array, shape (n_samples,), optional
        **options
            As `size_path` takes them.

        Returns
        -------
        SizeDisplay
        """
        return cls(size_path(selector, X, y, **options))

    def plot(self, ax: Any = None, label: str = "chosen columns") -> "SizeDisplay":
        """Draw on `ax`, or on a new figure.

        Parameters
        ----------
        ax : matplotlib axes, optional
        label : str
            Of the curve; a name of a method gives it the method's colour.

        Returns
        -------
        SizeDisplay
            Itself.
        """
        # here, so that `import fsel_book` does not load it
        import matplotlib.pyplot as plt
        from matplotlib.ticker import MaxNLocator, NullFormatter, ScalarFormatter

        from fsel_book.certificates import method_color

        if ax is None:
            ax = plt.subplots(figsize=(5, 3.2), layout="constrained")[1]
        p = self.path
        color = method_color(label)
        ax.fill_between(
            p.sizes, p.mean - p.errors, p.mean + p.errors, color=color, alpha=0.2, lw=0
        )
        ax.plot(p.sizes, p.mean, ".-", color=color, label=label)
        ax.axhline(p.all_scores.mean(), color="0.4", ls="--", lw=1, label="all columns")
        low = p.none_scores.mean()
        if low > p.mean.min() - 2 * np.ptp(p.mean):
            ax.axhline(low, color="0.4", ls=":", lw=1, label="no column")
        # without a target nothing but all columns is within an error
        few = p.within_one_error() if p.has_target else p.reaching(0.9)
        rule = "one error" if p.has_target else "nine tenths"
        for at in p.mean[p.sizes == few]:  # unless it takes more than were tried
            ax.plot(few, at, "o", color=color, ms=8, mfc="none", label=f"{rule}: {few}")
        ax.set(xlabel="columns chosen", ylabel=p.measure)
        if p.sizes[-1] > 2 * ALL_UP_TO:
            ax.set_xscale("log")
            ax.xaxis.set_major_formatter(ScalarFormatter())
            ax.xaxis.set_minor_formatter(NullFormatter())
        else:
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.legend(frameon=False, fontsize="small")
        self.ax_ = ax
        self.figure_ = ax.figure
        return self


# ---------------------------------------------------------------- selectors


def size_parameter(selector: Any) -> str:
    """The name of the parameter that says how many are chosen.

    For a pipeline it is that of its last step, for a selector around another, that of
    the inner one.
    """
    if isinstance(selector, Pipeline):
        name, last = selector.steps[-1]
        return f"{name}__{size_parameter(last)}"
    parameters = selector.get_params(deep=False)
    for name in SIZE_PARAMETERS:
        if name in parameters:
            return name
    if hasattr(parameters.get("selector"), "get_params"):
        return f"selector__{size_parameter(parameters['selector'])}"
    raise ValueError(
        f"selector={selector!r} has no parameter that says how many columns are chosen: "
        f"size_path looks for {', '.join(SIZE_PARAMETERS)}, and in a pipeline at the last "
        f"step."
    )


def _beside_size(selector: Any, name: str) -> str:
    """What a parameter of the estimator that has the size is called in the selector."""
    before, _, _ = size_parameter(selector).rpartition("__")
    return f"{before}__{name}" if before else name


def _with_size(selector: Any, size: Any) -> Any:
    """A clone that chooses so many."""
    found = clone(selector).set_params(**{size_parameter(selector): size})
    for name in ("n_draws", "max_increment"):  # they would say how many, too
        whole = _beside_size(selector, name)
        if found.get_params().get(whole) is not None:
            found.set_params(**{whole: None})
    return found


def _in_order(selector: Any) -> bool:
    """Whether the choice of every size is the beginning of one order of the columns, by
    scores, by elimination or by draws.
    """
    last = _last(selector)
    if hasattr(last, "_chooses_in_order"):
        return bool(last._chooses_in_order())
    if isinstance(last, RFE):
        return last.step == 1  # of several at a step nothing is known
    return isinstance(last, SelectKBest)


def _order_of(fitted: Any) -> np.ndarray:
    """The columns in the order in which more of them are chosen."""
    last = _last(fitted)
    if hasattr(last, "_order_of_columns"):
        return np.asarray(last._order_of_columns())
    if isinstance(last, RFE):
        return np.argsort(last.ranking_, kind="stable")
    scores = np.where(np.isnan(last.scores_), -np.inf, last.scores_)
    # as SelectKBest has it: of equal scores the last
    return np.argsort(scores, kind="mergesort")[::-1]


def _eliminates(selector: Any) -> bool:
    """Whether the fit with the fewest columns knows the order of all, not that with
    the most.
    """
    last = _last(selector)
    return isinstance(last, RFE) or hasattr(last, "_machine_of_path")


def _last(selector: Any) -> Any:
    """The last step of a pipeline, else the selector."""
    return selector.steps[-1][1] if isinstance(selector, Pipeline) else selector


class _Seen:
    """The data as the selector sees them: what comes out of the steps before it, or the
    encoded columns of a table.

    Attributes
    ----------
    train, test : array, frame or sparse matrix
    of_column : ndarray of int, or None
        From which of the columns to choose from each one comes; None where they are
        those.
    """

    def __init__(self, fitted: Any, train: Any, test: Any) -> None:
        self.of_column = None
        last = _last(fitted)
        if isinstance(fitted, Pipeline) and len(fitted.steps) > 1:
            before = fitted[:-1]
            train, test = before.transform(train), before.transform(test)
        if hasattr(last, "encoder_"):
            train, test = (last.encoder_.transform(A) for A in (train, test))
            self.of_column = last.encoder_.of_column
        self.train, self.test = train, test

    def columns(self, chosen: np.ndarray) -> np.ndarray:
        """The places here of some of the columns to choose from."""
        if self.of_column is None:
            return chosen
        return np.flatnonzero(np.isin(self.of_column, chosen))


def _chosen(fitted: Any) -> np.ndarray:
    """The places of the chosen columns, rising."""
    return np.asarray(_last(fitted).get_support(indices=True))


def _some_rows(X: Any, which: np.ndarray) -> Any:
    return X.iloc[which] if hasattr(X, "iloc") else take_rows(X, which)


def _some_columns(X: Any, which: np.ndarray) -> Any:
    return X.iloc[:, which] if hasattr(X, "iloc") else take_columns(X, which)


# ---------------------------------------------------------------- judges


def explained_of_unseen(train: Any, test: Any, chosen: np.ndarray) -> float:
    """How much of the variance of all columns is known from the chosen ones, in rows that
    nobody has seen.

    The chosen columns are known, and the others are predicted by regressions on them, with
    an intercept and a common small ridge, that of least squared error on training rows
    left out one at a time.

    Parameters
    ----------
    train, test : array or sparse matrix, shape (n_rows, n_columns)
    chosen : ndarray of int
        Of the columns.

    Returns
    -------
    float
        At most 1; below 0 where the means say more.

    Examples
    --------
    >>> import numpy as np
    >>> from fsel_book.sizes import explained_of_unseen
    >>> X = np.random.default_rng(0).standard_normal((40, 1)) @ [[1.0, 2.0, 3.0]]
    >>> round(explained_of_unseen(X[:30], X[30:], np.array([0])), 6)
    1.0
    """

    def dense(A: Any, which: Any) -> np.ndarray:
        part = take_columns(A, which)
        return np.asarray(part.toarray() if is_sparse(part) else to_numpy(part), float)

    C, T = dense(train, chosen), dense(test, chosen)
    mean = C.mean(axis=0)
    U, S, V = np.linalg.svd(C - mean, full_matrices=False)
    some = S > len(C) * np.finfo(float).eps * S.max(initial=0.0)
    U, S, V = U[:, some], S[some], V[some]
    # the rows to predict, in the coordinates of U
    P = (T - mean) @ V.T / S
    n, d = train.shape
    unit = float(np.mean(S**2)) if len(S) else 1.0
    shrink = [S**2 / (S**2 + ridge * unit) for ridge in RIDGES]
    left_out = np.zeros(len(RIDGES))
    errors = np.zeros(len(RIDGES))
    whole = 0.0
    step = max(1, BLOCK // n)
    for a in range(0, d, step):
        which = np.arange(a, min(a + step, d))
        A, B = dense(train, which), dense(test, which)
        mean = A.mean(axis=0)
        A, B = A - mean, B - mean
        whole += float(np.sum(B**2))
        predicted = np.isin(which, chosen, invert=True)
        A, B = A[:, predicted], B[:, predicted]
        products = U.T @ A
        for i, w in enumerate(shrink):
            fit = w[:, None] * products
            leverage = U**2 @ w + 1 / n
            # a row that a regression goes through says nothing of others
            free = np.maximum(1 - leverage, 1e-6)[:, None]
            left_out[i] += float(np.sum(((A - U @ fit) / free) ** 2))
            errors[i] += float(np.sum((B - P @ fit) ** 2))
    return 1 - float(errors[np.argmin(left_out)]) / whole if whole > 0 else 0.0


def _default_estimator(classes: bool, sparse: bool) -> Any:
    """Ridge regression on standardised columns, its strength by rows left out; for
    classes logistic regression, to which one counts as much as another, however rare.
    """
    learner = RidgeCV(STRENGTHS)
    if classes:
        learner = LogisticRegression(class_weight="balanced", max_iter=1000)
    return make_pipeline(StandardScaler(with_mean=not sparse), learner)


# ---------------------------------------------------------------- folds


def default_splitter(y: Any, classes: bool, n_splits: int = 5) -> Any:
    """Folds of shuffled rows: as many as asked for, or as the smallest class has rows.

    Raises
    ------
    ValueError
        A class has a single row, or there are fewer than four rows.
    """
    most = n_splits
    if classes:
        found, counts = np.unique(to_numpy(y), return_counts=True)
        most = min(n_splits, int(counts.min()))
        if most < 2:
            raise ValueError(
                f"class {found[np.argmin(counts)].item()!r} has a single row, so no number of "
                f"columns can be judged on rows left out. Leave the row out, or give the "
                f"number of columns."
            )
        return StratifiedKFold(most, shuffle=True, random_state=0)
    if len(y) < 4:
        raise ValueError(
            f"{len(y)} rows are too few to judge a number of columns on rows left out. "
            f"Give the number of columns."
        )
    return KFold(min(most, len(y) // 2), shuffle=True, random_state=0)


def _folds(cv: Any, X: Any, y: Any, groups: Any, classes: bool) -> list[Any]:
    """The training and test rows of each fold."""
    if groups is not None and is_integer(cv):
        # else they would be looked over in silence
        cv = StratifiedGroupKFold(cv) if classes else GroupKFold(cv)
    splitter = check_cv(cv, y, classifier=classes)
    n = X.shape[0]
    found = list(splitter.split(np.zeros((n, 1)), y, groups))
    if len(found) < 2:
        raise ValueError(
            f"cv={cv!r} is not possible: the standard error of a score needs two splits "
            f"or more."
        )
    return found


def _checked_sizes(sizes: Any, d: int, least: int, most: int) -> np.ndarray:
    if sizes is None:
        top = min(d, most)
        few = range(1, d + 1) if d <= ALL_UP_TO else SOME
        # the most that are possible, too: all of them may be much better than thirty
        found = {r for r in few if least <= r <= top} | {max(top, min(least, d))}
        return np.array(sorted(found))
    try:
        given = np.atleast_1d(np.asarray(sizes))
        ok = given.ndim == 1 and len(given) > 0 and given.dtype.kind in "iu"
    except (TypeError, ValueError):
        ok = False
    if not ok or np.any(given < 1) or np.any(given > d):
        raise ValueError(
            f"sizes={sizes!r} is not possible: give integers from 1 to {d}, which is how "
            f"many there are to choose from, or None."
        )
    return np.unique(given)


class _Question:
    """What is judged in every fold, and how.

    Attributes
    ----------
    selector : estimator
        Whose choices are judged.
    X, y, weights : array, or None
        Rows, targets and weights of rows.
    is_learner, given : bool
        Whether the selector predicts itself, or an estimator was given that does.
    classes : bool
        Whether targets are classes.
    estimator : estimator
        That is fitted on the chosen columns. Only there with a target, as is `scorer`.
    scorer : callable
        `scorer(estimator, X, y)`.
    measure : str
        What a score is, in words.
    """

    def __init__(
        self,
        selector: Any,
        X: Any,
        y: np.ndarray | None,
        estimator: Any,
        scoring: Any,
        weights: np.ndarray | None,
    ) -> None:
        self.selector = selector
        self.X = X
        self.y = y
        self.weights = weights
        self.is_learner = estimator is None and hasattr(selector, "predict")
        self.given = estimator is not None
        if y is None:
            if estimator is not None or scoring is not None:
                raise ValueError(
                    "estimator and scoring judge by a target: give y, or leave them out, "
                    "and the judge is how much of all columns the chosen ones explain."
                )
            self.classes = False
            self.measure = "explained part of the variance"
            return
        if self.is_learner:
            self.classes = is_classifier(selector)
            estimator = selector
        elif estimator is not None:
            self.classes = is_classifier(estimator)
        else:
            # only here: it needs this module
            from fsel_book.table_selector import takes_classes

            target = getattr(selector, "target", "auto")
            if target in ("auto", "ignore"):
                self.classes = takes_classes(y)
            else:
                self.classes = target == "classes"
            if scoring is None and self.classes:
                scoring = "balanced_accuracy"
            estimator = _default_estimator(self.classes, is_sparse(X))
        self.estimator = estimator
        self.scorer = check_scoring(estimator, scoring=scoring)
        if isinstance(scoring, str):
            self.measure = scoring.replace("_", " ")
        elif scoring is None:
            self.measure = "accuracy" if self.classes else "R²"
        else:
            self.measure = "score"

    def fit(self, selector: Any, train: np.ndarray) -> Any:
        """Fit a selector on some rows."""
        rows = _some_rows(self.X, train)
        y = None if self.y is None else self.y[train]
        if self.weights is None:
            return selector.fit(rows, y)
        return selector.fit(rows, y, sample_weight=self.weights[train])

    def score(self, fitted: Any, test: Any, which: np.ndarray) -> float:
        """The score of a learner on rows of which it sees `test`."""
        y = self.targets(which)
        if self.weights is None:
            return float(self.scorer(fitted, test, y))
        return float(self.scorer(fitted, test, y, sample_weight=self.weights[which]))

    def judge(self, seen: _Seen, places: np.ndarray, rows: tuple[Any, Any]) -> float:
        """How good some columns of what is seen are."""
        train, test = rows
        if self.y is None:
            return explained_of_unseen(seen.train, seen.test, places)
        learner = clone(self.estimator)
        learner.fit(_some_columns(seen.train, places), self.targets(train))
        return self.score(learner, _some_columns(seen.test, places), test)

    def targets(self, which: np.ndarray) -> np.ndarray:
        """The targets of some rows."""
        if self.y is None:
            raise TypeError("there is no target")
        return self.y[which]


def _score_of_none(question: _Question, train: np.ndarray, test: np.ndarray) -> float:
    """The score of the mean, or of the most frequent class, on rows left out."""
    guess = DummyClassifier(strategy="prior") if question.classes else DummyRegressor()
    guess.fit(np.zeros((len(train), 1)), question.targets(train))
    scorer = question.scorer
    return float(scorer(guess, np.zeros((len(test), 1)), question.targets(test)))


def _fold(question: _Question, sizes: np.ndarray, d: int, rows: Any) -> list[float]:
    """The scores with each number of columns, with all, and with none."""
    with warnings.catch_warnings():
        # of every number and fold again; who then fits one hears of it once
        warnings.simplefilter("ignore", UserWarning)
        found = _scores_of_fold(question, sizes, d, rows)
    if question.y is None:
        return [*found, 0.0]
    return [*found, _score_of_none(question, *rows)]


def _scores_of_fold(
    question: _Question, sizes: np.ndarray, d: int, rows: Any
) -> list[float]:
    """The same, without the last."""
    selector, (train, test) = question.selector, rows
    data = _some_rows(question.X, train), _some_rows(question.X, test)
    order = None
    if _in_order(selector):
        size = sizes[0] if _eliminates(selector) else sizes[-1]
        fitted = question.fit(_with_size(selector, int(size)), train)
        order = _order_of(fitted)
    if question.is_learner:
        if order is not None and hasattr(fitted, "_machine_of_path"):
            return _scores_along(question, fitted, order, [*sizes, d], rows)
        return [
            question.score(
                question.fit(_with_size(selector, int(r)), train), data[1], test
            )
            for r in (*sizes, d)
        ]
    found = []
    for r in sizes:
        if order is None:
            fitted = question.fit(_with_size(selector, int(r)), train)
        if order is None and question.given:
            learner = clone(question.estimator)
            learner.fit(fitted.transform(data[0]), question.targets(train))
            found.append(question.score(learner, fitted.transform(data[1]), test))
            continue
        seen = _Seen(fitted, *data)
        chosen = _chosen(fitted) if order is None else np.sort(order[:r])
        found.append(question.judge(seen, seen.columns(chosen), rows))
    seen = _Seen(fitted, *data)
    if question.y is None:
        return [*found, 1.0]
    every = np.arange(seen.train.shape[1])
    return [*found, question.judge(seen, every, rows)]


def _scores_along(
    question: _Question, fitted: Any, order: np.ndarray, sizes: list[int], rows: Any
) -> list[float]:
    """The scores of the machines that an elimination has on its way."""
    train, test = rows
    X, T = _some_rows(question.X, train), _some_rows(question.X, test)
    extra = {}
    if question.weights is not None:
        extra = {"sample_weight": question.weights[train]}
    machine = fitted._machine_of_path()
    found = []
    for r in sizes:
        which = np.sort(order[:r])
        learner = clone(machine)
        learner.fit(_some_columns(X, which), question.targets(train), **extra)
        found.append(question.score(learner, _some_columns(T, which), test))
    return found


def _how_many(question: _Question, train: np.ndarray, least: int) -> int:
    """How many there are to choose from, of which `least` can be chosen."""
    selector = question.selector
    parameters = _last(selector).get_params(deep=False)
    has_groups = parameters.get("groups") is not None
    adds = "n_features_to_add" in parameters  # beside those given
    has_given = adds and parameters.get("given") is not None
    if not (has_groups or has_given or isinstance(selector, Pipeline)):
        return int(question.X.shape[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        fitted = _last(question.fit(_with_size(selector, least), train))
    if has_groups:
        return len(fitted.groups_.labels)
    return len(fitted.get_support()) - (len(fitted.given_) if has_given else 0)


# ---------------------------------------------------------------- a search


def fewest_enough(
    enough: Callable[[int], tuple[bool, int]], least: int, most: int
) -> int:
    """The fewest columns that are enough, to within a twentieth of them, if more are
    enough whenever fewer are: by doubling, then by halving what is left.

    Parameters
    ----------
    enough : callable
        `enough(r)` says whether `r` columns are, and how many there were.
    least, most : int
        The fewest and the most that are possible.

    Returns
    -------
    int
        `most`, where no number is enough, or as many as there are.

    Examples
    --------
    >>> from fsel_book.sizes import fewest_enough
    >>> fewest_enough(lambda r: (r >= 11, r), 1, 30)
    11
    """
    low, high = least - 1, min(max(least, 4), most)
    while True:
        is_enough, found = enough(high)
        if is_enough or high >= most:
            break
        if found < high:  # there are no more
            return max(found, 1)
        low, high = high, min(2 * high, most)
    while high - low > max(1, high // 20):
        middle = (low + high) // 2
        if enough(middle)[0]:
            high = middle
        else:
            low = middle
    return high


# ---------------------------------------------------------------- the path


def with_rows(X: Any) -> Any:
    """`X` as something that rows can be taken from, or what is wrong with it."""
    X = readable_array(X, "X")
    if hasattr(X, "iloc"):
        return X
    if is_frame(X):
        return X.to_pandas()
    if is_sparse(X):
        return X.tocsr()
    X = np.asarray(X) if namespace(X) is namespace() else X
    if X.ndim != 2:
        raise ValueError(
            f"X has {X.ndim} dimensions: give a table, of shape (n_samples, n_features)."
        )
    return X


def size_path(
    selector: Any,
    X: Any,
    y: Any = None,
    *,
    sizes: Sequence[int] | None = None,
    estimator: Any = None,
    cv: Any = 5,
    groups: Any = None,
    scoring: Any = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> SizePath:
    """How good the columns that a selector chooses are, with every number of them.

    In each fold columns are chosen on the training rows, with each number, and judged on
    the others. Where the choices of all sizes begin one order, as with elimination and
    with scores, one fit gives them all; else there is a fit for each. The scores are on
    the CPU; selectors and learners are given the arrays as they are.

    Parameters
    ----------
    selector : estimator
        A selector of this package or of scikit-learn, or a pipeline that ends in one.
    X : array, frame or sparse matrix, shape (n_samples, n_features)
    y : array, shape (n_samples,), optional
        The target. Without one the score is how much of the variance of all columns is
        known from the chosen ones in rows left out, by regressions with a small ridge.
    sizes : sequence of int, optional
        The numbers to try: of columns, of groups for `GroupSelector`, of additions for
        `CompletionSelector`. By default all of them up to 30, and of more columns about
        twenty numbers up to all or 200. At a ridge that is a number give those above the
        effective dimension.
    estimator : estimator, optional
        The learner that is fitted on the chosen columns and judged. By default a selector
        that predicts, as `RiskRFE`, is its own; else it is ridge regression, or for
        classes logistic regression, on the standardised columns.
    cv : int, splitter or iterable
        As in scikit-learn: stratified for labels, and rows are not shuffled. Where they
        are in an order, give `KFold(5, shuffle=True)`. An integer with `groups` keeps
        these together.
    groups : array, shape (n_samples,), optional
        Rows of one group, as of one patient, stay in one fold.
    scoring : str, callable, optional
        As in scikit-learn. By default the score of the learner, accuracy or R²; without
        an `estimator`, of classes, balanced accuracy, since the rare one may matter most.
    sample_weight : array, shape (n_samples,), optional
        For the fits and scores of a selector that is its own learner.
    n_jobs : int, optional
        Folds at a time, as in joblib.

    Returns
    -------
    SizePath
        `within_one_error()`, `reaching(0.95)` and `at_price(0.001)` choose a number;
        `plot()` draws it.

    Raises
    ------
    ValueError
        The selector has no parameter for its size, sizes are not possible, `cv` gives a
        single split, or what `fit` raises.

    References
    ----------
    Hastie, Tibshirani and Friedman (2009), sections 7.10.1 and 7.10.2: the choice belongs
    inside the folds.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from fsel_book import TableSelector, size_path
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> path = size_path(TableSelector(), X, y)
    >>> path.sizes[-1], path.within_one_error() < 13
    (np.int64(13), True)

    Without a target, columns that stand for all others:

    >>> path = size_path(TableSelector(), X)
    >>> path.reaching(0.9)
    10
    """
    check_instance("selector", selector)
    if not hasattr(selector, "get_params"):
        raise ValueError(
            f"selector={selector!r} is not possible: give a selector with parameters, as "
            f"BSSSelector()."
        )
    size_parameter(selector)  # or an error, before anything is computed
    X = with_rows(X)
    tags = get_tags(selector)
    if not isinstance(selector, Pipeline) and not tags.input_tags.allow_nan:
        check_matrix(X)  # says in which columns there are gaps
    y = None if y is None else to_numpy(y, "y")
    if y is not None and y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    weights = (
        None if sample_weight is None else to_numpy(sample_weight, "sample_weight")
    )
    question = _Question(selector, X, y, estimator, scoring, weights)
    if weights is not None and not (
        question.is_learner and has_fit_parameter(selector, "sample_weight")
    ):
        raise ValueError(
            "sample_weight is for selectors that are their own learner, as RiskRFE, and no "
            "estimator."
        )
    folds = _folds(cv, X, y, groups, question.classes)
    rank = selector.get_params().get(_beside_size(selector, "rank"))
    least = 1 + int(rank) if is_integer(rank) else 1
    d = _how_many(question, folds[0][0], least)
    most = min(len(train) for train, _ in folds) - 1 if y is None else SOME[-1]
    tried = _checked_sizes(sizes, d, least, most)
    work = (delayed(_fold)(question, tried, d, rows) for rows in folds)
    found = np.array(Parallel(n_jobs=n_jobs)(work))
    return SizePath(
        tried,
        found[:, :-2],
        found[:, -2],
        found[:, -1],
        d,
        question.measure,
        y is not None,
    )
