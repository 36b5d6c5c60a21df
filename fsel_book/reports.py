"""One page that says which columns of a table to take, how good they are, and whether
anything else would do as well.

`report` reads a table, compares ways to choose columns on rows that had no part in the
choice, chooses, certifies, and says in words what came out, also where that is not in
favour of this package. `python -m fsel_book report table.csv --target y` calls it.
"""

import contextlib
import io
import json
import os
import pathlib
import platform
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from fsel_book.comparison import (
    COUNT_ALPHAS,
    METHODS,
    OURS,
    SHRINKAGE,
    ComparedMethods,
    Question,
    compare,
    folds_of,
    orders_of,
    question_of,
    sign_of,
    sizes_up_to,
)
from fsel_book.progress import LateBar, is_watched
from fsel_book.report_page import in_frame, page_of
from fsel_book.table_columns import (
    ArrangedTable,
    TableError,
    matching,
    named_columns,
    no_such_column,
    quote_names,
)
from fsel_book.table_selector import (
    TableEncoder,
    TableSelector,
    check_counts,
    check_given_and_excluded,
    takes_classes,
    takes_counts,
)
from fsel_book.tables import open_table

__all__ = ["ChosenColumn", "Report", "report"]

FEWEST_ROWS = 20
N_FOLDS = 5
NOISE = 0.03  # targets in another order seem as much related so often: nothing is there
LEAK = 0.98  # what one column alone must not reach
MOST_ALONE = 60  # chosen columns that are judged alone
OTHERS = ("RFE", "L1", "F score")


@dataclass
class ChosenColumn:
    """Why a column was chosen, and what it stands for.

    Attributes
    ----------
    name : str
    place : int
        In the order picked, from 1 on.
    rank : int
        Its place by the F statistic among all columns, from 1 on.
    alone : float
        The score of this column alone, on the folds of the comparison.
    stands_for : list of (str, float)
        The columns not chosen that are most correlated with it, and the correlations.
    nearest_of : int
        Of how many columns that were not chosen it is the most correlated chosen one.
    alone_error : float
        The standard error of that score.
    times_chosen : int or None
        In how many of the folds of the comparison it was chosen, among as many columns;
        None where the folds look at the target, and the choice does not.
    is_given : bool
        Whether it had to be chosen.
    """

    name: str
    place: int
    rank: int
    alone: float
    stands_for: list[tuple[str, float]]
    nearest_of: int
    alone_error: float = float("nan")
    times_chosen: int | None = None
    is_given: bool = False


@dataclass
class Report:
    """What `report` found.

    Printed, it is the verdict; in a notebook, the whole page. `save` writes the page,
    the numbers and the chosen columns.

    Attributes
    ----------
    verdict : list of str
        Three sentences or so.
    chosen : list of ChosenColumn
        The columns, in the order picked.
    n_columns : int
        How many there were to choose from.
    warnings : list of str
        What may be wrong.
    read : list of str
        What was read, and what was done to it.
    selector : TableSelector
        Fitted on all rows.
    comparison : ComparedMethods
        The scores of all methods.
    explained : dict of float
        By method, the part of the variance of all columns that as many columns of it
        explain.
    code : str
        The pipeline, to paste.
    table : ArrangedTable
    question : Question
    why_so_many : str
        What the number of columns follows from.
    is_number_picked : bool
        Whether the number of columns was picked by the scores, and not asked for.
    versions : dict of str
    most_explained : float or None
        What no columns, as many as were chosen, can explain more than.
    """

    verdict: list[str]
    chosen: list[ChosenColumn]
    n_columns: int
    warnings: list[str]
    read: list[str]
    selector: TableSelector
    comparison: ComparedMethods
    explained: dict[str, float]
    code: str
    table: ArrangedTable
    question: Question
    why_so_many: str = ""
    is_number_picked: bool = True
    versions: dict[str, str] = field(default_factory=dict)
    most_explained: float | None = None

    @property
    def names(self) -> list[str]:
        """The chosen columns in the order picked."""
        return [one.name for one in self.chosen]

    @property
    def n_folds(self) -> int:
        """In how many folds columns were chosen and judged."""
        return len(next(iter(self.comparison.scores.values())))

    def __str__(self) -> str:
        parts = [*self.verdict, *(f"Warning: {said}" for said in self.warnings)]
        parts.append("Columns: " + ", ".join(self.names))
        return "\n\n".join(textwrap.fill(part, 88) for part in parts)

    def _repr_html_(self) -> str:
        return in_frame(page_of(self))

    def frame(self) -> Any:
        """The chosen columns and the target, as they were read."""
        original = self.table.original
        wanted = {self.table.came_from.get(name, name) for name in self.names}
        target = self.table.target
        columns = [name for name in original.columns if name in wanted]
        found = original[[*columns, target]]
        if self.table.row_names is not None:
            found = found.set_axis(self.table.row_names, axis=0)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Everything in words and numbers, of types that JSON has."""
        comparison = self.comparison
        return {
            "table": self.table.name,
            "target": self.table.target,
            "n_rows": len(self.table.X),
            "n_columns": self.n_columns,
            "task": self.question.kind,
            "verdict": self.verdict,
            "warnings": self.warnings,
            "read": self.read,
            "left_out": self.table.left_out,
            "metric": self.question.metric,
            "chance": self.question.chance,
            "p_value": comparison.p_value,
            "shuffles": _shuffles(comparison, self.table.target),
            "how_many": self.why_so_many,
            "columns": [
                {
                    "name": one.name,
                    "place": one.place,
                    "rank_by_F": one.rank,
                    "alone": one.alone,
                    "alone_error": one.alone_error,
                    "is_given": one.is_given,
                    "times_chosen": one.times_chosen,
                    "n_folds": self.n_folds,
                    "stands_for": [
                        {"name": name, "correlation": value}
                        for name, value in one.stands_for
                    ],
                    "nearest_of": one.nearest_of,
                }
                for one in self.chosen
            ],
            "scores": [
                {
                    "method": method,
                    "n_columns": r,
                    "mean": comparison.mean(method, r),
                    "standard_error": comparison.error(method, r),
                }
                for method, r in comparison.scores
            ],
            "number_picked_apart": [
                {
                    "method": method,
                    "mean": float(np.mean(values)),
                    "standard_error": comparison.error_of(values),
                }
                for method in METHODS
                for values in [comparison.picked_apart(method)]
            ],
            "explained": self.explained,
            "most_explained": self.most_explained,
            "certificate": self.selector.certificate_.to_dict(),
            "code": self.code,
            "versions": self.versions,
        }

    def save(self, folder: str | os.PathLike = ".") -> list[pathlib.Path]:
        """Write the page, the numbers and the chosen columns; all or nothing.

        Parameters
        ----------
        folder : path-like
            Where to; it is made if it is not there.

        Returns
        -------
        list of Path
            ``report.html``, ``report.json``, ``selected.csv`` and, of a Parquet file,
            ``selected.parquet``.
        """
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        frame = self.frame()
        csv = io.StringIO()
        frame.to_csv(csv, index=self.table.row_names is not None)
        contents: dict[str, str | bytes] = {
            "report.html": page_of(self),
            "report.json": json.dumps(
                _plain(self.to_dict()), indent=1, ensure_ascii=False
            ),
            "selected.csv": csv.getvalue(),
        }
        if self.table.name.lower().endswith((".parquet", ".pq")):
            packed = io.BytesIO()
            frame.to_parquet(packed)
            contents["selected.parquet"] = packed.getvalue()
        beside = {name: folder / f".{name}.part" for name in contents}
        try:
            for name, content in contents.items():
                raw = content if isinstance(content, bytes) else content.encode("utf-8")
                beside[name].write_bytes(raw)
        except OSError:
            for path in beside.values():
                path.unlink(missing_ok=True)
            raise
        for name, path in beside.items():
            path.replace(folder / name)
        return [folder / name for name in contents]


def _plain(value: Any) -> Any:
    """The same with numbers that JSON has; None for what is not finite."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else None
    return value if value is None or isinstance(value, str) else str(value)


# ---------------------------------------------------------------- finding


@contextlib.contextmanager
def _noted(said: list[str]) -> Iterator[None]:
    """Collect what is warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for one in caught:
        if issubclass(one.category, UserWarning) and str(one.message) not in said:
            said.append(str(one.message))


def report(
    data: Any,
    target: str,
    *,
    n_features_to_select: int | None = None,
    task: Literal["auto", "classes", "numbers", "counts"] = "auto",
    drop: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    given: str | Sequence[str] = (),
    exclude: str | Sequence[str] = (),
    dates: Literal["refuse", "parts"] = "refuse",
    transpose: bool = False,
    units: str | None = None,
    n_jobs: int | None = None,
    progress: Callable[[str, int, int], None] | Literal[False] | None = None,
) -> Report:
    """Choose columns of a table, and say how good they are and what else would do.

    Parameters
    ----------
    data : path, DataFrame, LazyFrame, Table of pyarrow, AnnData or matrix
        A row for each sample.
    target : str
        The column to predict.
    n_features_to_select : int, optional
        How many columns; by default the fewest that are within one standard error of the
        best.
    task : {"auto", "classes", "numbers", "counts"}
        What the target is; "auto" takes texts, flags and up to ten different whole
        numbers for classes, and whole numbers from 0 or a few on, most of them small,
        for counts.
    drop, keep : str or sequence of str
        Columns to leave out, and columns to keep that look like numbers of rows. Here
        and below a text may name several, with commas, and a name that no column has is
        a pattern: "RPL*" is all that begin so.
    given : str or sequence of str
        Columns that have to be among the chosen ones, those of all methods.
    exclude : str or sequence of str
        Columns that may not be chosen, by any method. Unlike those that are dropped they
        stay among all columns, which the choice is compared with and stands for.
    dates : {"refuse", "parts"}
        What becomes of a column of dates.
    transpose : bool
        Whether the features stand in rows.
    units : str, optional
        A column that says which rows belong together, as those of one patient: they are
        never apart when a choice is judged. It is no feature.
    n_jobs : int, optional
        As in joblib; None takes all processors for a large table.
    progress : callable, False or None
        `progress(what, done, total)` is called as the work goes on. None shows a bar in
        a terminal or a notebook, once some seconds have passed; False shows nothing.

    Returns
    -------
    Report

    Raises
    ------
    TableError
        A table that cannot be used as it is, with all reasons at once.
    FileNotFoundError, ImportError, TypeError, ValueError
        As `fsel_book.tables.open_table`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fsel_book import report
    >>> iris = load_iris(as_frame=True).frame
    >>> found = report(iris, "target")
    >>> for sentence in found.verdict[0].split(". "):
    ...     print(sentence)
    All 4 columns predict 'target' with a balanced accuracy of 0.964 ± 0.021; by chance it would be 0.333
    Of 999 shuffles of 'target' among the rows none seems as much related to the columns.
    """

    bar = LateBar("fold") if progress is None and is_watched() else None

    def tell(what: str, done: int = 0, total: int = 1) -> None:
        if told := progress or bar:
            told(what, done, total)

    try:
        return _found(
            data,
            target,
            n_features_to_select,
            task,
            drop,
            keep,
            given,
            exclude,
            dates,
            transpose,
            units,
            n_jobs,
            tell,
        )
    finally:
        if bar is not None:
            bar.close()


def _found(
    data: Any,
    target: str,
    n_features_to_select: int | None,
    task: Literal["auto", "classes", "numbers", "counts"],
    drop: str | Sequence[str],
    keep: str | Sequence[str],
    given: str | Sequence[str],
    exclude: str | Sequence[str],
    dates: Literal["refuse", "parts"],
    transpose: bool,
    units: str | None,
    n_jobs: int | None,
    tell: Callable[..., None],
) -> Report:
    """What `report` returns, for the same arguments."""
    tell("Reading")
    drop_too = [drop] if isinstance(drop, str) else list(drop)
    table = open_table(
        data, target, drop=drop_too, keep=keep, dates=dates, transpose=transpose
    )
    together = None
    if units is not None:
        if units not in table.original.columns:
            raise TableError(
                table.name, ["units: " + no_such_column("it", units, table.original)]
            )
        together = table.original[units].astype(str).to_numpy()
        _leave_out(table, units)
    if len(table.X) < FEWEST_ROWS:
        raise TableError(
            table.name,
            [
                f"it has {len(table.X)} rows. To judge a choice by rows that had no part in "
                f"it takes at least {FEWEST_ROWS}."
            ],
        )
    if table.y.dtype.kind in "biuf" and table.y.dtype.kind != "b":
        values: Any = table.y.to_numpy()
    else:
        values = table.y.astype(str).to_numpy(dtype=object)
        if task in ("numbers", "counts"):
            raise TableError(
                table.name,
                [f"task={task!r}, but the target {target!r} holds {values[0]!r}."],
            )
    classes = takes_classes(values) if task == "auto" else task == "classes"
    counts = takes_counts(values) if task == "auto" else task == "counts"
    n_folds = N_FOLDS
    try:
        if counts:
            check_counts(values)
        question, kept = question_of(values, target, classes, n_folds, counts)
    except ValueError as error:
        raise TableError(table.name, [str(error)]) from None
    if together is not None and len(np.unique(together[kept])) < n_folds:
        raise TableError(
            table.name,
            [f"units: {units!r} has fewer than {n_folds} different values."],
        )
    if not kept.all():
        _keep_rows(table, kept)
        together = None if together is None else together[kept]
    said = list(table.warnings)
    X = table.X
    d = X.shape[1]
    must, may_not = _asked_of_columns(table, given, exclude, n_features_to_select)
    if n_features_to_select is not None and not 1 <= n_features_to_select < d:
        raise TableError(
            table.name,
            [
                f"n_features_to_select={n_features_to_select} is not possible: give a "
                f"number from 1 to {d - 1}."
            ],
        )
    sizes = None
    if n_features_to_select is not None:
        most = max(1, min(d - 1 - len(may_not), len(X) // 2, 200))
        sizes = sorted({*sizes_up_to(most), n_features_to_select})
    comparison = compare(
        X,
        question,
        sizes=sizes,
        n_folds=n_folds,
        units=together,
        given=must,
        excluded=may_not,
        n_jobs=n_jobs,
        progress=lambda done, total: tell("Comparing", done, total),
    )
    tell("Choosing")
    is_noise = comparison.p_value > NOISE
    r = n_features_to_select or comparison.fewest(OURS)
    if is_noise and n_features_to_select is None:
        r = _fewest_for_half(X, comparison.sizes, must, may_not)
    kind: Any = "ignore" if is_noise else question.kind
    with _noted(said):
        selector = TableSelector(
            r,
            target=kind,
            given=must if len(must) else None,
            exclude=may_not if len(may_not) else None,
        ).fit(X, question.y)
    said = [one for one in said if "n_features_to_select" not in one]
    encoder = TableEncoder().fit(X)
    Z = encoder.transform(X)
    of_column = encoder.of_column
    scores = question.scores(Z, of_column)
    Y = question.indicators()
    Y = Y - Y.mean(axis=0)
    orders = orders_of(Z, of_column, Y, scores, max(r, 2), must, may_not)
    lists = {method: order[:r] for method, order in orders.items()}
    lists[OURS] = selector.selected_
    explained = {
        method: _explained(Z, np.isin(of_column, columns))
        for method, columns in lists.items()
    }
    tell("Explaining")
    chosen = _chosen_columns(Z, of_column, list(X.columns), selector.selected_, scores)
    folds = list(folds_of(question, d, n_folds, together))
    for one, j in zip(chosen, selector.selected_[:MOST_ALONE]):
        alone = _alone(X.iloc[:, [j]], question, folds)
        one.alone, one.alone_error = float(np.mean(alone)), comparison.error_of(alone)
    for one, j in zip(chosen, selector.selected_):
        one.is_given = bool(j in must)
    if not is_noise:
        for one, j in zip(chosen, selector.selected_):
            one.times_chosen = int(comparison.times_chosen[r][j])
    said += _leaks(X, question, scores)
    found = Report(
        verdict=[],
        chosen=chosen,
        n_columns=d,
        warnings=said,
        read=_what_was_read(table, question),
        selector=selector,
        comparison=comparison,
        explained=explained,
        most_explained=_most_explained(selector, Z),
        code=_code(
            data,
            table,
            question,
            selector,
            [*drop_too, *([units] if units is not None else [])],
            keep,
            given,
            exclude,
            dates,
            transpose,
            bool(kept.all()),
        ),
        table=table,
        question=question,
        why_so_many=_why_so_many(
            comparison, r, n_features_to_select is not None, is_noise
        ),
        is_number_picked=n_features_to_select is None and not is_noise,
        versions=_versions(),
    )
    found.verdict = verdict_of(found)
    return found


def _asked_of_columns(
    table: ArrangedTable, given: Any, exclude: Any, r: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """The places of the columns that have to be chosen, and of those that may not be."""
    names = list(table.X.columns)
    known = dict.fromkeys([*table.original, *table.came_from, *table.left_out])
    everything = table.original.head(0).reindex(columns=list(known))
    found = []
    try:
        for option, said in (("given", given), ("exclude", exclude)):
            asked = named_columns(everything, said, option)
            if table.target in asked:
                raise ValueError(f"{option} names the target, {table.target!r}.")
            gone = [one for one in asked if one not in names]
            if option == "given" and gone:
                why = table.left_out.get(gone[0], "taken apart into others")
                raise ValueError(
                    f"given: {gone[0]!r} is not among the columns to choose from ({why})."
                    + (f" To take it: keep={gone[0]!r}." if "rows apart" in why else "")
                )
            found.append(
                np.array([names.index(one) for one in asked if one in names], int)
            )
        must, may_not = found
        check_given_and_excluded(
            must,
            may_not,
            max(1, len(must)) if r is None else r,
            np.array(names, dtype=object),
            len(names),
        )
    except ValueError as error:
        raise TableError(table.name, [str(error)]) from None
    for places, one, many in (
        (
            must,
            "has to be chosen, by every method",
            "have to be chosen, by every method",
        ),
        (
            may_not,
            "may not be chosen",
            "may not be chosen, and are still among all columns",
        ),
    ):
        if len(places):
            said = quote_names([names[j] for j in places], 5)
            table.notes.append(f"{said} {one if len(places) == 1 else many}, as asked.")
    return must, may_not


def _fewest_for_half(
    X: Any, sizes: list[int], given: np.ndarray, excluded: np.ndarray
) -> int:
    """The smallest of some numbers of columns that explain half of the variance of all,
    or the largest.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for r in sizes:
            selector = TableSelector(r, given=given, exclude=excluded).fit(X)
            plain = selector.certificate_.plain
            if plain is not None and plain.explained and plain.explained.share >= 0.5:
                return r
    return sizes[-1]


def _leave_out(table: ArrangedTable, name: str) -> None:
    """Take a column from those that may be chosen."""
    if name in table.X.columns:
        table.X = table.X.drop(columns=name)
        table.numbers = [one for one in table.numbers if one != name]
        table.categories = [one for one in table.categories if one != name]
    table.left_out[name] = "says which rows belong together"
    table.notes.append(f"{name!r} says which rows belong together, and is no feature.")


def _keep_rows(table: ArrangedTable, kept: np.ndarray) -> None:
    """Leave out the other rows."""
    table.X = table.X[kept].reset_index(drop=True)
    table.y = table.y[kept].reset_index(drop=True)
    table.original = table.original[kept].reset_index(drop=True)
    if table.row_names is not None:
        table.row_names = table.row_names[kept]


def _explained(Z: np.ndarray, mask: np.ndarray) -> float:
    """The part of the squared norm of `Z` that regression on some columns explains."""
    Q, R = np.linalg.qr(Z[:, mask])
    U, S, _ = np.linalg.svd(R)
    U = U[:, : int(np.sum(S > 1e-10 * S[0]))]
    return float(np.sum((U.T @ (Q.T @ Z)) ** 2) / np.sum(Z**2))


def _most_explained(selector: TableSelector, Z: np.ndarray) -> float | None:
    """What no columns of the table, as many as were chosen, can explain more than; None
    where the certificate does not know.
    """
    plain = selector.certificate_.plain
    if plain is None or plain.explained is None:
        return None
    encoder = selector.encoder_
    if not len(encoder.categories):
        return plain.explained.ceiling
    # others may be categories of more values than the chosen ones
    directions = np.bincount(encoder.of_column)
    directions[encoder.categories] = np.maximum(directions[encoder.categories] - 1, 1)
    most = np.sort(directions)[::-1][: len(selector.selected_)].sum()
    squares = np.linalg.eigvalsh(Z @ Z.T if len(Z) <= Z.shape[1] else Z.T @ Z)[::-1]
    return min(float(squares[:most].sum() / squares.sum()), 1.0)


def _chosen_columns(
    Z: np.ndarray,
    of_column: np.ndarray,
    names: list[str],
    selected: np.ndarray,
    scores: np.ndarray,
) -> list[ChosenColumn]:
    """Why each was chosen, and what it stands for."""
    if len(Z) > 20_000:
        rows = np.random.default_rng(0).choice(len(Z), 20_000, replace=False)
        Z = Z[np.sort(rows)]
    Q = Z - Z.mean(axis=0)
    Q = Q / np.maximum(np.linalg.norm(Q, axis=0), 1e-300)
    d = len(names)
    of_chosen = np.zeros((len(selected), d))
    for i, j in enumerate(selected):
        R = np.abs(Q[:, of_column == j].T @ Q).max(axis=0)
        np.maximum.at(of_chosen[i], of_column, R)
    others = np.setdiff1d(np.arange(d), selected)
    nearest = np.argmax(of_chosen[:, others], axis=0) if len(others) else np.array([])
    order = np.argsort(np.argsort(-scores, kind="stable"))
    found = []
    for i, j in enumerate(selected):
        best = others[np.argsort(-of_chosen[i, others], kind="stable")[:3]]
        found.append(
            ChosenColumn(
                name=names[j],
                place=i + 1,
                rank=int(order[j]) + 1,
                alone=float("nan"),
                stands_for=[
                    (names[k], float(of_chosen[i, k]))
                    for k in best
                    if of_chosen[i, k] >= 0.4
                ],
                nearest_of=int(np.sum(nearest == i)),
            )
        )
    return found


def _alone(
    column: Any, question: Question, folds: list[tuple[np.ndarray, np.ndarray]]
) -> np.ndarray:
    """The score of one column in each fold, as the comparison has it."""
    found = []
    for train, test in folds:
        encoder = TableEncoder().fit(column.iloc[train])
        A, B = (encoder.transform(column.iloc[rows]) for rows in (train, test))
        found.append(question.score(test, question.decide(A, train, B)))
    return np.array(found)


def _parts_of(rows: np.ndarray, question: Question, k: int) -> list[np.ndarray]:
    """Some rows in parts by chance, each class in each of them: their places."""
    order = np.random.default_rng(0).permutation(len(rows))
    if question.classes is not None:
        order = order[np.argsort(question.y[rows][order], kind="stable")]
    return [order[i::k] for i in range(k)]


def _leaks(X: Any, question: Question, scores: np.ndarray) -> list[str]:
    """Warnings of columns that alone give the target away, found by a tree on each of
    those of largest F statistic and of those with few values.
    """
    rows = np.random.default_rng(0).permutation(len(X))[:5000]
    candidates = {int(j) for j in np.argsort(-scores, kind="stable")[:8]}
    # codes of classes need not ascend with anything
    if question.classes is not None:
        most = 3 * len(question.classes)
        for j in range(min(X.shape[1], 5000)):
            if X.iloc[:, j].nunique() <= most:
                candidates.add(j)
    reached = {}
    for j in candidates:
        score = _score_of_one(X.iloc[rows, j], question, rows)
        if score > LEAK:
            reached[X.columns[j]] = score
    names = sorted(reached, key=reached.__getitem__, reverse=True)
    if not names:
        return []
    best = f"{question.metric} {reached[names[0]]:.3f}"
    if len(names) == 1:
        return [
            f"{names[0]!r} alone predicts the target nearly without error ({best}). If it "
            f"is known only once the target is, or is another form of it, leave it out: "
            f"drop={names[0]!r}."
        ]
    which = names[0] if len(names) > 8 or "," in "".join(names) else ",".join(names)
    return [
        f"{quote_names(names)} predict the target nearly without error, each alone ({best} "
        f"at best). Those that are known only once the target is, or are another form of "
        f"it, leave out: drop={which!r}."
    ]


def _score_of_one(column: Any, question: Question, rows: np.ndarray) -> float:
    """How well a tree predicts the target from one column, on the other half of rows."""
    if column.dtype.kind in "biuf":
        values = column.to_numpy(dtype=float, na_value=np.nan)
    else:
        values = column.astype(str).factorize(sort=True)[0].astype(float)
    A = np.where(np.isnan(values), np.nanmin(values, initial=0.0) - 1, values)[:, None]
    tree: Any = DecisionTreeRegressor(min_samples_leaf=2, random_state=0)
    if question.classes is not None:
        different = min(column.nunique(), 60)
        tree = DecisionTreeClassifier(
            max_leaf_nodes=2 * max(len(question.classes), different),
            min_samples_leaf=2,
            class_weight="balanced",
            random_state=0,
        )
    y = question.y[rows]
    halves = _parts_of(rows, question, 2)
    reached = []
    for train, test in (halves, halves[::-1]):
        guess = tree.fit(A[train], y[train]).predict(A[test])[:, None]
        if question.classes is not None:
            guess = (guess == question.classes).astype(float)
        reached.append(question.score(rows[test], guess))
    return float(np.mean(reached))


# ---------------------------------------------------------------- in words


def _figure(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 1000 else f"{value:.2g}"


def _with_error(values: np.ndarray, comparison: ComparedMethods) -> str:
    """The mean of scores, and its standard error."""
    return f"{_figure(float(np.mean(values)))} ± {_figure(comparison.error_of(values))}"


def _score(comparison: ComparedMethods, method: str, r: int) -> str:
    """The score of a method with so many columns, and its standard error."""
    return _with_error(comparison.scores[method, r], comparison)


def _at_picked_size(comparison: ComparedMethods, method: str, r: int) -> str:
    """The score with a number of columns that these scores picked, and that without the
    advantage this gives.
    """
    apart = _with_error(comparison.picked_apart(method), comparison)
    return (
        f"{_score(comparison, method, r)} ({apart} where the rows that judge have no part "
        f"in picking the number)"
    )


def _shuffles(comparison: ComparedMethods, target: str) -> str:
    """How often chance brings a relation like that of the target: a p-value in words."""
    n = comparison.n_shuffles
    count = round(comparison.p_value * (n + 1)) - 1
    seems = {0: "none seems", 1: "one seems"}.get(count, f"{count:,} seem")
    return (
        f"Of {n:,} shuffles of {target!r} among the rows {seems} as much related to the "
        f"columns."
    )


def _what_was_read(table: ArrangedTable, question: Question) -> list[str]:
    n, d = table.X.shape
    first = f"{table.name}: {n:,} rows, {d:,} columns to choose from"
    if table.categories:
        n = len(table.categories)
        first += (
            f", {'one of them a category' if n == 1 else f'{n:,} of them categories'}"
        )
    return [
        f"{first}; {table.target!r} is to be predicted.",
        *table.notes,
        *question.notes,
    ]


def _why_so_many(
    comparison: ComparedMethods, r: int, asked: bool, is_noise: bool
) -> str:
    if is_noise and not asked:
        return (
            f"The scores do not tell how many columns to take, since no number of them "
            f"predicts anything. Of the numbers tried, {r} is the smallest with which they "
            f"explain half of the variance of all."
        )
    means = [comparison.mean(OURS, size) for size in comparison.sizes]
    best = comparison.sizes[int(np.argmax(means))]
    metric = comparison.question.metric
    fewest = comparison.fewest(OURS)
    text = f"The best {metric}, {_score(comparison, OURS, best)}, is that of {_counted(best)}"
    if fewest == best and best == 1:
        text += ", so one is enough."
    elif fewest == best:
        text += "; fewer are more than this standard error below it."
    else:
        text += (
            f". {_counted(fewest).capitalize()} {'is' if fewest == 1 else 'are'} the fewest "
            f"within this standard error of it, with {_score(comparison, OURS, fewest)}: "
            f"more are no better, as far as the data can tell."
        )
    if asked and r != fewest:
        text += f" You asked for {r}, which have {_score(comparison, OURS, r)}."
    if not asked:
        apart = _with_error(comparison.picked_apart(OURS), comparison)
        text += (
            f" A number that scores picked may look better by them than it is. With a number "
            f"picked anew for each fold, by the others, the score is {apart}."
        )
    return text


def verdict_of(found: Report) -> list[str]:
    """What came out, in three sentences or so.

    Parameters
    ----------
    found : Report
        Its own `verdict` may be empty.

    Returns
    -------
    list of str
    """
    comparison, question = found.comparison, found.question
    r, d = len(found.chosen), found.n_columns
    target = repr(found.table.target)
    whole = ("all columns", comparison.n_columns)
    ours = (OURS, r)
    share = found.explained[OURS]
    ceiling = found.most_explained
    most = ""
    if ceiling is not None and ceiling < 0.995:
        no = "no column" if r == 1 else f"no {r}"
        most = f", where {no} can explain more than {ceiling:.0%}"
    they = "It explains" if r == 1 else "They explain"
    geometry = f"{they} {share:.0%} of the variance of all columns{most}."
    if comparison.p_value > NOISE:
        return [
            f"Nothing in these columns predicts {target}, as far as a linear model can "
            f"tell. {_shuffles(comparison, found.table.target)}",
            f"The {'column' if r == 1 else f'{r} columns'} below {'is' if r == 1 else 'are'} "
            f"chosen all the same, to stand for the table and not for {target}. {geometry}",
            "Do not read a meaning into the scores; more rows, or other columns, may "
            "have more to say.",
        ]
    guess = (
        f"by chance it would be {_figure(question.chance)}"
        if question.classes is not None
        else "always saying the mean has 0"
    )
    said = [
        f"{_all_of(d)} predict {target} with {_an(question.metric)} of "
        f"{_score(comparison, *whole)}; {guess}. "
        f"{_shuffles(comparison, found.table.target)}"
    ]
    gap, error = _gap_to_all(found)
    side = sign_of(gap, error)
    verb = "as well, as far as the data can tell"
    if side:
        verb = (
            f"{'better' if side > 0 else 'worse'} than all of them, by "
            f"{_figure(abs(gap))} ± {_figure(error)}"
        )
    score = _score(comparison, *ours)
    if found.is_number_picked:
        score = _at_picked_size(comparison, *ours)
    said.append(
        f"{'One' if r == 1 else r} of them, chosen here, "
        f"{'predicts' if r == 1 else 'predict'} it {verb}: {score}. {geometry}"
    )
    best = max(comparison.mean(*key) for key in comparison.scores)
    if best <= question.chance:
        said.append(
            f"Do not predict {target} by any of this: something is there, but on rows that "
            f"it has not seen no model is better than {question.guess}. More rows may help."
        )
        return said
    said += _what_to_take(found, target)
    if side < 0:
        said.append(_as_good_as_all(found, target))
    return said


def _gap_to_all(found: Report) -> tuple[float, float]:
    """How much better the chosen columns are than all, and the standard error. Of a
    number that was picked by the scores it is the smaller of the gap with this number and
    the gap where the rows that judge have no part in the number.
    """
    comparison, whole = found.comparison, ("all columns", found.n_columns)
    gaps = [comparison.gap((OURS, len(found.chosen)), whole)]
    if found.is_number_picked:
        values = comparison.picked_apart(OURS) - comparison.scores[whole]
        gaps.append((float(np.mean(values)), comparison.error_of(values)))
    return min(gaps, key=lambda one: (sign_of(*one), one))


def _what_to_take(found: Report, target: str) -> list[str]:
    """Whether the columns are better than random ones and those of other methods, and
    what to take where they are not.
    """
    comparison, r = found.comparison, len(found.chosen)
    ours, chance = (OURS, r), ("random columns", r)
    ahead = [m for m in OTHERS if comparison.better((m, r), ours) > 0]
    sizes = {method: comparison.fewest(method) for method in OTHERS}
    mark = comparison.mean(*ours) - comparison.error(*ours)
    level = [m for m in OTHERS if sizes[m] < r and comparison.mean(m, sizes[m]) >= mark]
    against = comparison.better(ours, chance)
    gap, error = comparison.gap(ours, chance)
    random = _score(comparison, *chance)
    drawn = "a column" if r == 1 else f"{r} columns"
    it, do, have = ("it", "does", "has") if r == 1 else ("them", "do", "have")
    instead = ""
    if ahead:
        best = max(ahead, key=lambda method: comparison.mean(method, r))
        score = _score(comparison, best, r)
        instead = f"; or take those of {best}, which have {score}"
    elif level:
        best = min(level, key=lambda method: sizes[method])
        score = _at_picked_size(comparison, best, sizes[best])
        instead = f"; or take {_counted(sizes[best])} of {best}, with {score}"
    if against < 0:
        return [
            f"Do not take {it} to predict {target}: {drawn} drawn at random {do} better "
            f"({random}){instead}."
        ]
    if against == 0 and gap > max(error, 0.02):
        return [
            f"Whether {'it is' if r == 1 else 'they are'} better than {drawn} drawn at "
            f"random, which {have} {random}, the rows of this table cannot tell for sure: "
            f"the difference is {_figure(gap)} ± {_figure(error)}. Take {it} where nothing else "
            f"is known{instead}."
        ]
    if against == 0:
        said = [
            f"For predicting {target} any {'column' if r == 1 else f'{r} columns'} would do "
            f"as well: at random {'one has' if r == 1 else 'they have'} {random}. So choose "
            f"by what columns cost or mean{instead}."
        ]
        if fewer := _where_choice_matters(comparison, r):
            said.append(
                f"With {_counted(fewer)} the choice matters: "
                f"{_score(comparison, OURS, fewer)} against "
                f"{_score(comparison, 'random columns', fewer)} at random."
            )
        return said
    if ahead:
        best = max(ahead, key=lambda method: comparison.mean(method, r))
        return [
            f"To predict {target} and nothing else take the columns of {best}: "
            f"{_score(comparison, best, r)} with as many; they explain "
            f"{found.explained[best]:.0%} of all columns. Random columns have {random}."
        ]
    if level:
        best = min(level, key=lambda method: sizes[method])
        return [
            f"Random columns have {random}. To predict {target} and nothing else {best} "
            f"needs fewer columns, {sizes[best]}, for "
            f"{_at_picked_size(comparison, best, sizes[best])}."
        ]
    others = ", ".join(f"{m} {_score(comparison, m, r)}" for m in OTHERS)
    return [
        f"With as many columns no other method is better: {others}, random columns "
        f"{random}."
    ]


def _as_good_as_all(found: Report, target: str) -> str:
    """The fewest columns that predict as well as all do, where those chosen do not."""
    comparison, r = found.comparison, len(found.chosen)
    whole = ("all columns", comparison.n_columns)
    score = _score(comparison, *whole)
    # where only a number picked apart tells that `r` are worse, fewer are no better
    least = r + 1 if comparison.better((OURS, r), whole) >= 0 else 1
    for size in comparison.sizes:
        for method in (OURS, *OTHERS) if size >= least else ():
            if comparison.better((method, size), whole) >= 0:
                whose = "this package" if method == OURS else method
                return (
                    f"As good as all columns are {_counted(size)} of {whose}, with "
                    f"{_score(comparison, method, size)}: the first of the numbers tried of "
                    f"which the data cannot tell them apart."
                )
    return f"No number of columns tried predicts as well as all of them, {score}" + (
        ", which those have a part in that may not be chosen."
        if found.selector.exclude is not None
        else f": to predict {target} and nothing else, take all."
    )


def _where_choice_matters(comparison: ComparedMethods, r: int) -> int:
    """The largest number below `r` with which chosen columns beat random ones; 0 if
    there is none.
    """
    return max(
        (
            size
            for size in comparison.sizes
            if size < r
            and comparison.better((OURS, size), ("random columns", size)) > 0
        ),
        default=0,
    )


def _counted(r: int) -> str:
    return "one column" if r == 1 else f"{r:,} columns"


def _all_of(d: int) -> str:
    return "Both columns" if d == 2 else f"All {d:,} columns"


def _an(word: str) -> str:
    return f"an {word}" if word[0] in "aeiouR" else f"a {word}"


def _versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    found = {"python": platform.python_version()}
    for name in ("fsel_book", "numpy", "scipy", "scikit-learn", "pandas"):
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _parts(said: str | Sequence[str], names: list[str]) -> list[str]:
    """The names and patterns that an option has, those with commas taken apart."""
    found: list[str] = []
    for one in [said] if isinstance(said, str) else said:
        found += [one] if one in names else [part.strip() for part in one.split(",")]
    return [one for one in found if matching(one, names)]


def _code(
    data: Any,
    table: ArrangedTable,
    question: Question,
    selector: TableSelector,
    drop: Sequence[str],
    keep: str | Sequence[str],
    given: str | Sequence[str],
    exclude: str | Sequence[str],
    dates: str,
    transpose: bool,
    all_rows: bool,
) -> str:
    """The pipeline, to paste."""
    source = repr(str(data)) if isinstance(data, (str, os.PathLike)) else "frame"
    options = ""
    left = [*drop]
    if left:
        options += f", drop={left!r}"
    if keep:
        options += f", keep={keep!r}"
    if dates != "refuse":
        options += f", dates={dates!r}"
    if transpose:
        options += ", transpose=True"
    learner = question.learner(len(table.X))
    name = type(learner).__name__
    arguments = []
    grid = ""
    if question.counts:
        alpha = f"{COUNT_ALPHAS[0]:g} * table.y.mean()"
        arguments.append('solver="newton-cholesky"')
        if isinstance(learner, GridSearchCV):
            low, high = np.log10([COUNT_ALPHAS[0], COUNT_ALPHAS[-1]])
            grid = f"np.logspace({low:.0f}, {high:.0f}, {len(COUNT_ALPHAS)})"
            learner = learner.estimator
            name = type(learner).__name__
        else:
            arguments.append(f"alpha={alpha}")
    if question.has_many_classes and question.classes is not None:
        k = len(question.classes)
        arguments.append(
            f'solver="lsqr", shrinkage={SHRINKAGE}, priors=[1 / {k}] * {k}'
        )
    elif question.classes is not None:
        arguments.append('class_weight="balanced"')
    if name.endswith("CV"):
        arguments.insert(0, "np.logspace(-1, 4, 6)")
    made = f"{name}({', '.join(arguments)})"
    search = []
    if grid:
        search = [
            "learner = GridSearchCV(",
            f"    {made},",
            f'    {{"alpha": table.y.mean() * {grid}}},',
            ")",
        ]
        made = "learner"
    asked = "".join(
        f", {option}={_parts(said, list(table.X.columns))!r}"
        for option, said in (("given", given), ("exclude", exclude))
        if said
    )
    chooser = (
        f'TableSelector({len(selector.selected_)}, target="{selector.target}"{asked})'
    )
    numeric = 'make_pipeline(SimpleImputer(strategy="median"), StandardScaler())'
    lines = ["import numpy as np"] if name.endswith("CV") or grid else []
    lines += [
        "from fsel_book import TableSelector",
        "from fsel_book.tables import open_table",
    ]
    if table.categories:
        lines += [
            "from sklearn.compose import make_column_selector, make_column_transformer",
        ]
    lines += [
        "from sklearn.impute import SimpleImputer",
        f"from sklearn.{learner.__module__.split('.')[1]} import {name}",
        *(["from sklearn.model_selection import GridSearchCV"] if grid else []),
        "from sklearn.pipeline import make_pipeline",
    ]
    encoders = "StandardScaler"
    if table.categories:
        encoders = "OneHotEncoder, StandardScaler"
    lines += [
        f"from sklearn.preprocessing import {encoders}",
        "",
        f"table = open_table({source}, {table.target!r}{options})",
        *search,
    ]
    if not all_rows:
        lines += [
            f"# classes with fewer than {N_FOLDS} rows are left out, as above",
            'of_class = table.y.groupby(table.y).transform("size")',
            f"X, y = table.X[of_class >= {N_FOLDS}], table.y[of_class >= {N_FOLDS}]",
        ]
    if table.categories:
        lines += [
            "encoder = make_column_transformer(",
            f"    ({numeric},",
            '     make_column_selector(dtype_include="number")),',
            '    (OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=30),',
            '     make_column_selector(dtype_exclude="number")),',
            ")",
            "model = make_pipeline(",
            f"    {chooser},",
            "    encoder,",
            f"    {made},",
            ")",
        ]
    else:
        lines += [
            "model = make_pipeline(",
            f"    {chooser},",
            '    SimpleImputer(strategy="median"),',
            "    StandardScaler(),",
            f"    {made},",
            ")",
        ]
    lines += [
        "model.fit(table.X, table.y)" if all_rows else "model.fit(X, y)",
        "# rows to come, in a frame `new` with the columns of the table:",
        "# model.predict(new[table.X.columns])",
        "model[0].get_feature_names_out()",
    ]
    return "\n".join(lines)
