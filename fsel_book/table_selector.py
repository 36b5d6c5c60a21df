"""Columns of a table, chosen as they are: numbers in any units, categories, gaps.

`TableSelector` is the selector for somebody with a table. It brings every column to one
scale, takes a category as one column and not as many, fills gaps while it looks, and,
given a target, lets it choose among the columns that the theorem allows. What it returns
are the columns as they came.
"""

import warnings
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from scipy.optimize import brentq
from scipy.special import gammaincc, gammaln
from sklearn.feature_selection import SelectorMixin, f_classif, f_regression
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import Tags, check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from fsel_book.arrays import readable_array, refuse_other_forms
from fsel_book.certificates import ENOUGH
from fsel_book.constraints import Constraints, named
from fsel_book.groups import GroupSelector
from fsel_book.sizes import default_splitter, size_path
from fsel_book.sparsification import BSSSelector
from fsel_book.table_columns import kind_of, matching
from fsel_book.validation import feature_indices
from fsel_book.versions import VersionedEstimator

__all__ = [
    "TableEncoder",
    "TableSelector",
    "as_of_one",
    "check_counts",
    "choose_columns",
    "column_scores",
    "f_statistics",
    "group_preferences",
    "log_tail",
    "of_one_strength",
    "roots_of_counts",
    "takes_classes",
    "takes_counts",
]

NONE = np.zeros(0, dtype=int)  # of the columns
SIZES = [*range(1, 31), 40, 50, 70, 100, 140, 200]  # to try under constraints
MOST_LEVELS = 30  # of a category; the rarest are taken together


class TableEncoder:
    """Columns of a table as numbers of one scale.

    Numbers have their gaps filled with the median, and are brought to mean zero and
    variance one. A category becomes a column of zeros and ones for each of its values,
    less their means, over the root of the variance that they have together: so it weighs
    as much as a number.

    Attributes
    ----------
    numbers, categories : ndarray of int
        The places of the columns of either kind.
    of_column : ndarray of int, shape (n_encoded,)
        From which column each encoded one comes.
    names : list of str
        What the encoded ones are called.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"height": [1.0, None, 3.0], "bark": ["a", "b", "a"]})
    >>> encoder = TableEncoder()
    >>> encoder.fit(frame).transform(frame).round(2)
    array([[-1.22,  0.5 , -0.5 ],
           [ 0.  , -1.  ,  1.  ],
           [ 1.22,  0.5 , -0.5 ]])
    >>> encoder.of_column
    array([0, 1, 1])
    """

    def fit(self, X: Any) -> Self:
        """Learn medians, means, scales and categories.

        Parameters
        ----------
        X : DataFrame or ndarray, shape (n_rows, n_columns)

        Returns
        -------
        TableEncoder
        """
        names = [str(name) for name in getattr(X, "columns", range(X.shape[1]))]
        is_category = categories_of(X)
        self.numbers = np.flatnonzero(~is_category)
        self.categories = np.flatnonzero(is_category)
        places = [self.numbers]
        self.names = [names[j] for j in self.numbers]
        if len(self.numbers):
            A = self._numbers(X)
            gaps = np.isnan(A)
            has_gaps = gaps.any(axis=0)
            self.medians = np.median(np.where(has_gaps, 0.0, A), axis=0)
            # one that is empty is 0 throughout
            for j in np.flatnonzero(has_gaps & ~gaps.all(axis=0)):
                self.medians[j] = np.median(A[~gaps[:, j], j])
            self.scaler = StandardScaler().fit(self._filled(A))
        if len(self.categories):
            self.one_hot = OneHotEncoder(
                handle_unknown="infrequent_if_exist",
                max_categories=MOST_LEVELS,
                sparse_output=False,
            )
            ones = self.one_hot.fit_transform(self._texts(X))
            self.means = ones.mean(axis=0)
            encoded = self.one_hot.get_feature_names_out(
                [str(i) for i in range(len(self.categories))]
            )
            for name in encoded:
                i, value = name.split("_", 1)
                self.names.append(f"{names[self.categories[int(i)]]}={value}")
            which = np.array([int(name.split("_", 1)[0]) for name in encoded])
            variance = np.bincount(which, ones.var(axis=0))[which]
            self.scale = np.sqrt(np.where(variance > 0, variance, 1.0))
            places.append(self.categories[which])
        self.of_column = np.concatenate(places)
        return self

    def _filled(self, A: np.ndarray) -> np.ndarray:
        """The numbers, and medians of the rows learned from where there are none."""
        gaps = np.isnan(A)
        if not gaps.any():
            return A
        return np.where(gaps, self.medians, A)

    def _numbers(self, X: Any) -> np.ndarray:
        if not hasattr(X, "iloc"):
            return np.asarray(X, dtype=float)[:, self.numbers]
        some = X if len(self.numbers) == X.shape[1] else X.iloc[:, self.numbers]
        return some.to_numpy(dtype=float, na_value=np.nan)

    def _texts(self, X: Any) -> np.ndarray:
        columns = [X.iloc[:, j] for j in self.categories]
        return np.column_stack(
            [
                column.astype(object).where(column.notna(), "(none)").map(str)
                for column in columns
            ]
        ).astype(object)

    def transform(self, X: Any) -> np.ndarray:
        """The encoded columns.

        Parameters
        ----------
        X : DataFrame or ndarray, shape (n_rows, n_columns)

        Returns
        -------
        ndarray of float64, shape (n_rows, n_encoded)
        """
        parts = []
        if len(self.numbers):
            parts.append(self.scaler.transform(self._filled(self._numbers(X))))
        if len(self.categories):
            ones = self.one_hot.transform(self._texts(X))
            parts.append((ones - self.means) / self.scale)
        return np.hstack(parts)


def categories_of(X: Any) -> np.ndarray:
    """Which columns of a frame hold categories: texts, or what the frame calls so."""
    if not hasattr(X, "iloc"):
        return np.zeros(X.shape[1], dtype=bool)
    return np.array([dtype.kind not in "biuf" for dtype in X.dtypes], dtype=bool)


def takes_classes(y: Any) -> bool:
    """Whether a target is taken for classes: texts and flags are, and whole numbers of
    which there are at most ten.

    Examples
    --------
    >>> takes_classes(["oak", "elm"]), takes_classes([0, 1, 1]), takes_classes([0.5, 2])
    (True, True, False)
    """
    values = np.asarray(y)
    if values.dtype.kind not in "iuf":
        return True
    different = np.unique(values)
    return len(different) <= 10 and bool(np.all(different == np.round(different)))


def takes_counts(y: Any) -> bool:
    """Whether a target is taken for counts, of which most are small and a few large:
    more than ten different whole numbers from 0 or a few on, that spread as far as
    counts do, with a tail to the right.

    Examples
    --------
    >>> visits = [0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 9, 12, 20, 41]
    >>> takes_counts(visits), takes_counts([1990 + v for v in visits])
    (True, False)
    """
    values = np.asarray(y)
    if values.dtype.kind not in "iuf" or takes_classes(values):
        return False
    values = values.astype(float)
    if np.any(values != np.round(values)):
        return False
    mean, deviation = values.mean(), values.std()
    skewness = np.mean((values - mean) ** 3) / deviation**3
    return bool(
        0 <= values.min() <= min(5.0, mean / 2)
        and deviation**2 >= mean / 2
        and skewness >= 0.5
    )


def check_counts(y: Any) -> None:
    """Raise a ValueError if a target holds anything but whole numbers from 0 on."""
    values = np.asarray(y)
    if values.dtype.kind in "iuf":
        bad = (values < 0) | (values != np.round(values))
        if not bad.any():
            return
        values = values[bad]
    raise ValueError(
        f"the target is to be counts, and holds {values[0]!s}. Counts are whole numbers "
        f"from 0 on; for anything else say 'numbers' or 'classes'."
    )


def roots_of_counts(y: Any) -> np.ndarray:
    """Counts on a scale on which their noise is the same for small and large ones, for
    methods that are linear.
    """
    return np.sqrt(np.asarray(y, dtype=float))


def f_statistics(Z: np.ndarray, y: Any, classes: bool) -> np.ndarray:
    """The F statistic of each column for a target; 0 where there is none."""
    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constant columns, by their places
        F, _ = f_classif(Z, y) if classes else f_regression(Z, y)
    # of a column that tells all it is infinite or, by rounding, negative
    F = np.minimum(np.abs(np.nan_to_num(F, nan=0.0, posinf=np.inf)), 1e12)
    return F if np.any(F > 0) else np.ones(len(F))


def log_tail(x: float, freedom: float) -> float:
    """The logarithm of the probability that a chi-squared variable exceeds `x`, far beyond
    where the probability itself is zero in floating point.
    """
    half, at = freedom / 2, x / 2
    tail = float(gammaincc(half, at))
    if tail > 1e-290:
        return float(np.log(tail))
    # the leading terms of its asymptotic series
    first = (half - 1) / at
    return float(
        (half - 1) * np.log(at) - at - gammaln(half) + np.log1p(first * (1 + first))
    )


def as_of_one(x: float, freedom: int, of_one: int) -> float:
    """The value that a chi-squared variable of `of_one` degrees of freedom exceeds as
    seldom as one of `freedom` exceeds `x`.

    Examples
    --------
    >>> round(as_of_one(19.675, 11, 1), 2)  # both in one of twenty cases
    3.84
    """
    if x <= 0 or freedom <= of_one:
        return max(x, 0.0)
    tail = log_tail(x, freedom)
    return float(brentq(lambda y: log_tail(y, of_one) - tail, 0.0, x))


def column_scores(
    Z: np.ndarray, of_column: np.ndarray, y: Any, classes: bool
) -> np.ndarray:
    """How much each column of a table tells of a target: of a number its F statistic, of
    a category the one with which a number would be as unlikely by chance.

    All values of a category together tell a part of the target (of classes: chi-squared
    over the number of rows). The more values, the more they tell by chance; so one of
    many values that means nothing does not come before a number that means a little.

    Parameters
    ----------
    Z : ndarray, shape (n_rows, n_encoded)
        As a `TableEncoder` encodes the rows that it was fitted to.
    of_column : ndarray of int, shape (n_encoded,)
    y : array-like, shape (n_rows,)
    classes : bool

    Returns
    -------
    ndarray, shape (n_columns,)

    Examples
    --------
    >>> import numpy as np
    >>> kinds = np.eye(4)[[0, 1, 2, 3] * 25] - 0.25
    >>> y = np.arange(100) % 4 + np.arange(100) % 7  # by kinds, in part
    >>> column_scores(kinds, np.zeros(4, dtype=int), y, False).round(1)
    array([21.2])
    """
    F = f_statistics(Z, y, classes)
    _, group, sizes = np.unique(of_column, return_inverse=True, return_counts=True)
    found = np.zeros(len(sizes))
    np.maximum.at(found, group, F)
    contrasts = max(len(np.unique(y)) - 1, 1) if classes else 1
    for several in np.flatnonzero(sizes > 1):
        its = np.flatnonzero(group == several)
        lowest, spread = Z[:, its].min(axis=0), np.ptp(Z[:, its], axis=0)
        there = spread > 0
        # the part of the rows that have each value: of such a column the mean is zero
        rows = -lowest[there] / spread[there]
        alone = contrasts * F[its[there]]
        alone = alone / (alone + max(len(Z) - contrasts - 1, 1))
        freedom = max(int(there.sum()) - 1, 1)
        most = min(freedom, contrasts)
        told = min(float(np.sum((1 - rows) * alone)) / most, 1 - 1e-12)
        left = max(len(Z) - contrasts - freedom, 1)
        statistic = min(left * most * told / (1 - told), 1e12 * contrasts)
        as_number = as_of_one(statistic, contrasts * freedom, contrasts)
        found[several] = as_number / contrasts
    return found if np.any(found > 0) else np.ones(len(found))


def check_given_and_excluded(
    given: np.ndarray, excluded: np.ndarray, r: Any, names: np.ndarray | None, d: int
) -> None:
    """Raise a ValueError unless `r` of `d` columns can be chosen, all that are given and
    none that is excluded among them.
    """
    both = np.intersect1d(given, excluded)
    if len(both):
        raise ValueError(
            f"given has {named(int(both[0]), names)}, and exclude has it, too: leave it "
            f"out of one of them."
        )
    if isinstance(r, str):
        return
    if r < len(given):
        raise ValueError(
            f"given has {len(given)} columns, {named(int(given[0]), names)} the first, and "
            f"n_features_to_select asks for {r}: ask for at least {len(given)}."
        )
    if len(excluded) and r > d - len(excluded):
        raise ValueError(
            f"exclude has {len(excluded)} of {d} columns, "
            f"{named(int(excluded[0]), names)} the first, and leaves fewer than the {r} of "
            f"n_features_to_select: ask for fewer, or exclude fewer."
        )


def given_first(
    scores: np.ndarray | None, of_column: np.ndarray, given: np.ndarray
) -> np.ndarray | None:
    """The scores of encoded columns, above all others those of columns that are given: so
    they are picked as soon as they are feasible, and the others beside them.
    """
    if scores is None or not len(given):
        return scores
    return np.where(np.isin(of_column, given), 1e6 * np.max(scores), scores)


def constraints_of(given: np.ndarray, excluded: np.ndarray) -> Constraints | None:
    """That columns have to be taken, and others may not be: groups of one column each, of
    which exactly one is taken.
    """
    if not len(given) and not len(excluded):
        return None
    return Constraints(
        excluded.tolist() if len(excluded) else None,
        exactly_one={j: [j] for j in given.tolist()} if len(given) else None,
    )


def of_one_strength(Z: np.ndarray, of_column: np.ndarray) -> tuple[np.ndarray, Any]:
    """What the encoded columns are multiplied by, so that the strongest direction of each
    column of the table has variance one, and the variance that each column has then.

    That of a number is 1; that of a category grows with its values, up to their number
    less one. Where categories weigh as much as numbers, each of their many directions is
    weak, and the barriers, which look at directions, leave no room for them, however much
    they tell about a target or about other columns.

    Parameters
    ----------
    Z : ndarray, shape (n_rows, n_encoded)
    of_column : ndarray of int, shape (n_encoded,)

    Returns
    -------
    factors : ndarray, shape (n_encoded,)
    variances : ndarray, shape (n_columns,)
        In the order of `np.unique(of_column)`.

    Examples
    --------
    >>> import numpy as np
    >>> kinds = np.eye(4)[[0, 1, 2, 3] * 5] - 0.25  # of four, all of them as often
    >>> factors, variances = of_one_strength(kinds, np.zeros(4, dtype=int))
    >>> factors.round(6), variances.round(6)
    (array([2., 2., 2., 2.]), array([3.]))
    """
    _, group, sizes = np.unique(of_column, return_inverse=True, return_counts=True)
    factors = np.ones(len(of_column))
    for several in np.flatnonzero(sizes > 1):
        its = np.flatnonzero(group == several)
        covariance = Z[:, its].T @ Z[:, its] / len(Z)
        strongest = np.linalg.eigvalsh(covariance)[-1]
        if strongest > 0:
            factors[its] = 1 / np.sqrt(strongest)
    variances = np.bincount(group, np.mean(Z**2, axis=0) * factors**2)
    return factors, np.maximum(variances, 1.0)


def group_preferences(
    scores: np.ndarray, of_column: np.ndarray, variances: np.ndarray
) -> np.ndarray:
    """Scores of the columns of a table for a choice by score times leverage: that which
    all encoded ones of a column have, over its variance, since leverages grow with it.
    """
    _, first = np.unique(of_column, return_index=True)
    return scores[first] / variances


def choose_columns(
    Z: Any,
    of_column: np.ndarray,
    r: Any,
    scores: np.ndarray | None,
    ridge: Any,
    given: np.ndarray = NONE,
    excluded: np.ndarray = NONE,
) -> tuple[np.ndarray, Any]:
    """The places of `r` columns of a table in the order picked, and the selector that
    certifies them on the encoded ones; all that are given are among them, and none that
    is excluded.
    """
    labels = np.unique(of_column)
    scores = given_first(scores, of_column, given)
    selector: Any
    if len(labels) == len(of_column):
        place = np.argsort(of_column)
        constraints = constraints_of(
            *(place[np.searchsorted(labels, some)] for some in (given, excluded))
        )
        selector = BSSSelector(
            r, score_func=scores, ridge=ridge, constraints=constraints
        ).fit(Z)
        return of_column[selector.selected_], selector

    if isinstance(r, str):
        return fewest_columns(Z, of_column, ridge, excluded)

    def fitted(table: Any, preferences: np.ndarray | None, given: Any, out: Any) -> Any:
        by_label = None
        if preferences is not None:
            by_label = dict(zip(labels.tolist(), preferences))
        return GroupSelector(
            r,
            groups=of_column,
            score_func=by_label,
            ridge="auto" if ridge is None else ridge,
            constraints=constraints_of(given, out),
        ).fit(table)

    factors, variances = of_one_strength(np.asarray(Z), of_column)
    preferences = None
    if scores is not None:
        preferences = group_preferences(scores, of_column, variances)
    selector = fitted(Z * factors, preferences, given, excluded)
    chosen = np.array(selector.selected_groups_, dtype=int)
    # chosen where each direction counts, certified where each column does
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what the choice has warned of
        out = np.setdiff1d(labels, chosen)
        certified = fitted(Z, preferences, np.sort(chosen), out)
    return chosen, certified


def fewest_columns(
    Z: Any, of_column: np.ndarray, ridge: Any, excluded: np.ndarray
) -> tuple[np.ndarray, Any]:
    """The fewest columns of a table with categories, of those that `choose_columns` gives
    for some number, that explain nine tenths of the variance of all; by halving.
    """

    A = np.asarray(Z)

    def chosen(r: int) -> np.ndarray:
        return choose_columns(Z, of_column, r, None, ridge, excluded=excluded)[0]

    def is_enough(some: np.ndarray) -> bool:
        C = A[:, np.isin(of_column, some)]
        left = A - C @ np.linalg.lstsq(C, A)[0]
        return bool(np.sum(left**2) <= (1 - ENOUGH) * np.sum(A**2))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of numbers that nobody asked for
        too_few = 0
        enough = len(chosen(len(np.unique(of_column)) - len(excluded)))
        while enough - too_few > 1:
            middle = (too_few + enough) // 2
            if is_enough(chosen(middle)):
                enough = middle
            else:
                too_few = middle
    return choose_columns(Z, of_column, enough, None, ridge, excluded=excluded)


class TableSelector(SelectorMixin, VersionedEstimator):
    """Choose columns of a table that stand for all of it and, given a target, predict it.

    The selector to begin with: for columns in any units, categories, gaps, and labels.
    The columns are brought to one scale, and a category is chosen as a whole. With a
    target, of the columns that the theorem of BSS allows at a step the one is taken of
    largest F statistic times leverage; without one, that which leaves most room. A
    category is one column among others, and the certificate counts it so; while columns
    are chosen, its strongest direction is as long as a number, lest a category of many
    values be shut out. What `transform` returns are the columns as they came, so what they
    need before a learner stands behind it in a pipeline.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None
        Number of columns, a fraction of them, or None for half of them and at most 50.
        "auto" is, with a target, the fewest that predict rows left out within one
        standard error of the best number, by a linear machine in five folds; without
        one, the fewest that explain nine tenths of the variance of all columns.
    target : {"auto", "classes", "numbers", "counts", "ignore"}
        What `y` is: "auto" takes texts, flags and up to ten different whole numbers for
        classes, and for counts what `takes_counts` does. Of counts the roots are looked
        at. With "ignore" nobody looks at `y`.
    given : sequence of names or int, mask, or None
        Columns that are to be among the chosen ones whatever happens. The certificate is
        that of the columns that come out, these among them.
    exclude : sequence of names or int, mask, or None
        Columns that may not be chosen. They stay part of the table that is to be kept. In
        both a name that no column has is a pattern: "RPL*" is all that begin so.
    ridge : float, "auto" or None
        For the selector within, `selector_`: what `BSSSelector` or, where there are
        categories, `GroupSelector` says of it. None is its default.

    Attributes
    ----------
    selected_ : ndarray of int, shape (n_selected,)
        The chosen columns in the order picked.
    scores_ : ndarray, shape (n_features_in_,)
        The F statistic of each column; of a category the one with which a number would
        be as unlikely by chance. Only there with a target.
    certificate_ : Certificate
        What the chosen columns keep of all, once brought to one scale.
    selector_ : BSSSelector or GroupSelector
        Fitted on the encoded columns.
    encoder_ : TableEncoder
        How they were encoded.
    size_path_ : SizePath
        The scores of all numbers of columns on rows left out; only there with "auto" and
        a target.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str, shape (n_features_in_,)
        Their names; only there for a frame.

    Raises
    ------
    ValueError
        By `fit`: a parameter is not possible, what is given and what is excluded
        contradict each other or the number of columns, or `X` holds infinite values or columns
        that are neither numbers nor categories.

    See Also
    --------
    BSSSelector : For columns of one unit, sparse data, arrays on a device, and blocks.
    fsel_book.report : How many columns, beside other methods.

    References
    ----------
    Batson, Spielman and Srivastava (2012), Theorem 3.1, with a preference among feasible
    columns; at a ridge and for groups: the theorems of the chapters on barriers at a ridge
    and on groups of columns.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from fsel_book import TableSelector
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> TableSelector(4).fit(X, y).get_feature_names_out()
    array(['alcohol', 'flavanoids', 'od280/od315_of_diluted_wines', 'proline'],
          dtype=object)
    """

    def __init__(
        self,
        n_features_to_select: float | Literal["auto"] | None = None,
        *,
        target: Literal["auto", "classes", "numbers", "counts", "ignore"] = "auto",
        given: Any = None,
        exclude: Any = None,
        ridge: float | Literal["auto"] | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.target = target
        self.given = given
        self.exclude = exclude
        self.ridge = ridge

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """The table as a frame of pandas or an array of numbers, finite but for gaps."""
        if hasattr(X, "collect_schema") and hasattr(X, "collect"):
            X = X.collect()
        if hasattr(X, "to_pandas"):
            X = X.to_pandas()
        if isinstance(X, np.ma.MaskedArray):
            X = np.ma.filled(X.astype(float), np.nan)
        refuse_other_forms(X)
        if sp.issparse(X):
            raise TypeError(
                "X is sparse. TableSelector is for dense tables: give X to "
                "BSSSelector(..., center=True, score_func=f_classif), which keeps it "
                "sparse, or give X.toarray()."
            )
        if not hasattr(X, "iloc") or getattr(X, "ndim", 2) != 2:
            return validate_data(
                self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan"
            )
        validate_data(self, X, reset=reset, skip_check_array=True)
        if reset and not len(X):
            raise ValueError("X has no rows.")
        kinds = np.array([dtype.kind for dtype in X.dtypes])
        if np.any(np.isin(kinds, ["m", "M", "c"])):
            j = int(np.argmax(np.isin(kinds, ["m", "M", "c"])))
            raise ValueError(
                f"X has a column of {X.dtypes.iloc[j]}, {X.columns[j]!r}. Leave it out, or "
                f"take numbers from it, as the year and the month of a date."
            )
        for name, kind in zip(X.columns, kinds):
            if kind == "O" and kind_of(X[name]) in ("date", "duration", "nested"):
                first = X[name].dropna().iloc[0]
                raise ValueError(
                    f"X has a column that is neither of numbers nor of categories, "
                    f"{name!r}: it holds {str(first)[:30]!r}. Leave it out, or take numbers "
                    f"from it, as the year and the month of a date."
                )
        floats = np.flatnonzero(kinds == "f")
        A = X.iloc[:, floats].to_numpy(dtype=float, na_value=np.nan)
        if np.isinf(A).any():
            name = X.columns[floats[int(np.argmax(np.isinf(A).any(axis=0)))]]
            raise ValueError(
                f"X has infinite values in {name!r}. Replace them by finite numbers, or by "
                f"NaN where they are not known."
            )
        return X

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose columns of `X`, by `y` if it is given.

        Parameters
        ----------
        X : DataFrame, LazyFrame, Table of pyarrow or array-like, shape (n_samples, n_features)
            Columns of a frame that are no numbers are categories; NaN, and what is
            masked, is a gap.
        y : array-like, shape (n_samples,), optional
            The target.

        Returns
        -------
        TableSelector
        """
        X = self._checked(X, reset=True)
        if self.target not in ("auto", "classes", "numbers", "counts", "ignore"):
            raise ValueError(
                f"target={self.target!r} is not possible. Expected 'auto', 'classes', "
                f"'numbers', 'counts' or 'ignore'."
            )
        self.encoder_ = TableEncoder().fit(X)
        Z = self.encoder_.transform(X)
        of_column = self.encoder_.of_column
        scores = target = None
        for name in ("scores_", "size_path_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if y is not None and self.target != "ignore":
            y = readable_array(y, "y")
            y = check_array(y, ensure_2d=False, dtype=None, input_name="y")
            if y.ndim == 2 and y.shape[1] == 1:
                y = y[:, 0]
            if y.ndim != 1 or len(y) != len(Z):
                raise ValueError(
                    f"y has the shape {y.shape}. Expected one value for each of the "
                    f"{len(Z)} rows of X."
                )
            classes = (
                takes_classes(y) if self.target == "auto" else self.target == "classes"
            )
            target = y
            if self.target == "counts" or self.target == "auto" and takes_counts(y):
                check_counts(y)
                y = roots_of_counts(y)
            self.scores_ = column_scores(Z, of_column, y, classes)
            scores = self.scores_[of_column]
        names = self.encoder_.names
        table: Any = Z
        if hasattr(self, "feature_names_in_"):
            import pandas as pd

            table = pd.DataFrame(Z, columns=names)
        given, excluded = (self._columns_named(name) for name in ("given", "exclude"))
        own = getattr(self, "feature_names_in_", None)
        check_given_and_excluded(given, excluded, "auto", own, self.n_features_in_)
        r = self._number_of_columns(X, target, len(given), len(excluded))
        check_given_and_excluded(given, excluded, r, own, self.n_features_in_)
        self.selected_, self.selector_ = choose_columns(
            table, of_column, r, scores, self.ridge, given, excluded
        )
        self.certificate_ = self.selector_.certificate_
        return self

    def _columns_named(self, parameter: str) -> np.ndarray:
        """The columns that a parameter names, by indices, a mask, names or patterns."""
        said = getattr(self, parameter)
        names = getattr(self, "feature_names_in_", None)
        if names is not None and isinstance(said, (str, list, tuple, set, np.ndarray)):
            texts = [said] if isinstance(said, str) else list(said)
            if texts and all(isinstance(one, str) for one in texts):
                # what fits nothing is left as it is, to be refused
                found = [
                    name for one in texts for name in matching(one, names) or [one]
                ]
                said = list(dict.fromkeys(found))
        return feature_indices(said, self.n_features_in_, names, parameter)

    def _number_of_columns(
        self, X: Any, target: Any, n_given: int = 0, n_excluded: int = 0
    ) -> Any:
        """How many columns are asked for, or what predicts the target best; "auto" where
        the selector within is to say.
        """
        asked, d = self.n_features_to_select, self.n_features_in_
        if asked is None:
            return max(1, n_given, min(50, d // 2, d - n_excluded))
        if isinstance(asked, str) and asked == "auto":
            if target is None or d == 1:
                if n_given:
                    raise ValueError(
                        "n_features_to_select='auto' is not possible with given columns "
                        "and without a target: ask for a number."
                    )
                return "auto"
            classes = (
                takes_classes(target)
                if self.target == "auto"
                else self.target == "classes"
            )
            folds = default_splitter(target, classes)
            sizes = None
            if n_given or n_excluded:
                sizes = [r for r in SIZES if max(1, n_given) <= r <= d - n_excluded]
                sizes = sorted({*sizes, max(1, n_given)})
            self.size_path_ = size_path(self, X, target, sizes=sizes, cv=folds)
            return self.size_path_.within_one_error()
        if isinstance(asked, (bool, np.bool_)) or not isinstance(
            asked, (int, float, np.integer, np.floating)
        ):
            raise ValueError(
                f"n_features_to_select={asked!r} is not possible. Expected a number, "
                f"'auto', or None."
            )
        if isinstance(asked, (float, np.floating)) and 0 < asked < 1:
            return max(1, int(asked * d))
        if asked != int(asked) or not 1 <= asked <= d:
            raise ValueError(
                f"n_features_to_select={asked!r} is not possible. Expected a whole number "
                f"from 1 to {d}, a fraction between 0 and 1, or None."
            )
        return int(asked)

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.selected_] = True
        return mask

    def transform(self, X: Any) -> Any:
        """The chosen columns as they came, in the order of the table.

        Parameters
        ----------
        X : DataFrame, LazyFrame, Table of pyarrow or array-like, shape (n_samples, n_features)

        Returns
        -------
        as X, or ndarray, shape (n_samples, n_selected)
        """
        mask = self._get_support_mask()
        if hasattr(X, "collect_schema"):
            names = X.collect_schema().names()
        else:
            names = getattr(X, "column_names", getattr(X, "columns", None))
        if names is not None and (hasattr(X, "select") or hasattr(X, "iloc")):
            # a frame without rows has the names, and costs nothing
            head = X.head(0).collect() if hasattr(X, "collect") else X
            validate_data(self, head, reset=False, skip_check_array=True)
            if hasattr(X, "iloc"):
                return X.iloc[:, np.flatnonzero(mask)]
            return X.select([name for name, kept in zip(names, mask) if kept])
        refuse_other_forms(X)
        if isinstance(X, np.ma.MaskedArray):
            validate_data(self, X, reset=False, skip_check_array=True)
            return X[:, mask]
        X = validate_data(
            self, X, reset=False, dtype=None, ensure_all_finite="allow-nan"
        )
        return X[:, mask]
