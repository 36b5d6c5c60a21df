"""What the columns of a table hold: numbers that are written as texts, categories,
dates, names of rows, nothing; and what becomes of each.

`with_numbers` turns texts that stand for numbers into numbers. `arrange` decides over
every column of a table, says what it decided, and refuses what nobody could decide: all
at once, each with the name of the column, the value, and the remedy.
"""

import datetime
import decimal
import difflib
import fnmatch
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ArrangedTable",
    "TableError",
    "arrange",
    "are_row_names",
    "is_unnamed",
    "kind_of",
    "matching",
    "named_columns",
    "no_such_column",
    "quote_names",
    "turned",
    "with_numbers",
]

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
DECIMAL_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+([eE][+-]?\d+)?")
THOUSANDS_COMMA = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
# what stands in a column of numbers for one that is not there, beside what pandas knows
GAPS = frozenset(
    ["", "?", "-", "--", "–", ".", "..", "na", "n.a.", "N.A.", "missing", "Missing"]
    + ["NA", "N/A", "NaN", "nan", "NULL", "null", "None", "#N/A", "#NV", "unknown"]
)


class TableError(ValueError):
    """A table that cannot be used as it is: everything that is wrong with it.

    Parameters
    ----------
    name : str
        What the table is called.
    problems : list of str
        A sentence or two each.

    Attributes
    ----------
    problems : list of str

    Examples
    --------
    >>> print(TableError("trees.csv", ["'felled' holds dates.", "'age' is complex."]))
    trees.csv cannot be used as it is:
    - 'felled' holds dates.
    - 'age' is complex.
    """

    def __init__(self, name: str, problems: list[str]) -> None:
        self.name = name
        self.problems = problems
        lines = [
            f"{name} cannot be used as it is:",
            *(f"- {said}" for said in problems),
        ]
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple:
        return type(self), (self.name, self.problems)


def quote_names(names: Iterable, most: int = 8) -> str:
    """The names in quotes, the first `most` of them.

    Examples
    --------
    >>> quote_names(["age", "size", "kind"], most=2)
    "'age', 'size' and 1 more"
    """
    names = list(names)
    shown = ", ".join(repr(name) for name in names[:most])
    if len(names) > most:
        shown += f" and {len(names) - most:,} more"
    return shown


def is_unnamed(name: str) -> bool:
    """Whether nobody gave this name to a column: it is blank, or made up by pandas or
    readr for one without a name.
    """
    return re.fullmatch(r"\s*|Unnamed: \d+(\.\d+)*|\.\.\.\d+", name) is not None


def are_row_names(values: Any) -> bool:
    """Whether a Series or Index holds whole numbers or texts, another one in each row:
    else it may be a feature whose name was forgotten.
    """
    if values.isna().any() or not values.is_unique:
        return False
    kind = values.dtype.kind
    if kind == "f":
        return bool((values % 1 == 0).all())
    return kind not in "bc"


def no_such_column(name: str, column: str, frame: Any) -> str:
    """What to say of a column that a table does not have."""
    names = list(frame.columns)
    near = difflib.get_close_matches(column, names, 3, 0.6)
    same = [other for other in names if other.lower() == column.lower()]
    hint = f" Did you mean {quote_names(same or near)}?" if same or near else ""
    return (
        f"{name} has no column {column!r}. Its columns are {quote_names(names)}.{hint}"
    )


# ---------------------------------------------------------------- what a column holds

Kind = Literal[
    "number", "text", "date", "duration", "empty", "complex", "nested", "mixed"
]
_DATE = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}([T ]\d{1,2}:\d{2}(:\d{2})?.*)?"
    r"|\d{1,2}[./]\d{1,2}[./](\d{2}|\d{4})( \d{1,2}:\d{2}(:\d{2})?)?"
    r"|\d{4}/\d{1,2}/\d{1,2}( \d{1,2}:\d{2}(:\d{2})?)?"
)


def kind_of(column: Any) -> Kind:
    """What a Series holds. Flags count as numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> kind_of(pd.Series([1, 2])), kind_of(pd.Series(["oak", None]))
    ('number', 'text')
    """
    there = column.dropna()
    if len(there) == 0:
        return "empty"
    if str(column.dtype) == "category":
        return "text"
    kind = column.dtype.kind
    if kind in "biuf":
        return "number"
    if kind == "c":
        return "complex"
    if kind == "M":
        return "date"
    if kind == "m":
        return "duration"
    values = there.unique() if _hashable(there) else None
    if values is None:
        return "nested"
    values = list(values)
    types = {type(value) for value in values}
    if all(issubclass(one, (str, np.str_, bytes)) for one in types):
        texts = [str(value).strip() for value in values[:1000]]
        if all(map(_DATE.fullmatch, texts)):
            return "date"
        return "text"
    if all(issubclass(one, (datetime.date, datetime.datetime)) for one in types):
        return "date"
    if all(issubclass(one, (bool, np.bool_)) for one in types):
        return "number"
    numbers = (int, float, np.number, decimal.Decimal)
    if all(issubclass(one, numbers) for one in types):
        return "number"
    if all(issubclass(one, (datetime.time, datetime.timedelta)) for one in types):
        return "duration"
    if all(issubclass(one, (str, *numbers)) for one in types):
        return "mixed"
    # intervals and periods: what they are called
    if "interval" in str(column.dtype) or "period" in str(column.dtype):
        return "text"
    return "nested"


def _hashable(column: Any) -> bool:
    try:
        hash(column.iloc[0])
        column.iloc[:1000].map(hash)
    except TypeError:
        return False
    return True


def _as_written(texts: list[str]) -> tuple[str, dict[str, float]] | None:
    """How texts stand for numbers, in words, and the number of each; None if they do
    not all.
    """
    if any(re.fullmatch(r"[+-]?\d{19,}", text) for text in texts):
        return None
    said = ""
    bare = texts
    if all(text.endswith("%") for text in texts):
        said, bare = "per cent", [text[:-1].strip() for text in texts]
    elif all(re.match(r"[+-]?[$€£]|.*[€£]$", text) for text in texts):
        said, bare = "amounts of money", [re.sub(r"[$€£ ]", "", text) for text in texts]
    if all(map(NUMBER.fullmatch, bare)):
        return said, {text: float(value) for text, value in zip(texts, bare)}
    if all(
        NUMBER.fullmatch(value) or THOUSANDS_COMMA.fullmatch(value) for value in bare
    ):
        said = said or "numbers with commas between thousands"
        return said, {
            text: float(value.replace(",", "")) for text, value in zip(texts, bare)
        }
    if all(
        re.fullmatch(r"[+-]?\d+", value) or DECIMAL_COMMA.fullmatch(value)
        for value in bare
    ):
        said = said or "numbers with a decimal comma"
        return said, {
            text: float(value.replace(".", "").replace(",", "."))
            for text, value in zip(texts, bare)
        }
    return None


def _numbers_written(column: Any) -> tuple[Any, str, list[str]] | None:
    """The numbers for which the texts of a column stand, how they are written, and the
    marks of those that are missing; None where they stand for none.
    """
    import pandas as pd

    values = [value for value in column.dropna().unique()]
    texts = {value: str(value).strip() for value in values}
    marks = sorted({text for text in texts.values() if text in GAPS})
    rest = sorted({text for text in texts.values() if text not in GAPS})
    if not rest:
        return None
    found = _as_written(rest)
    if found is None:
        return None
    said, number_of = found
    numbers = pd.to_numeric(
        column.astype(object).map(
            {value: number_of.get(text, np.nan) for value, text in texts.items()}
        )
    )
    if not numbers.isna().any() and np.all(numbers == np.round(numbers)):
        if all(re.fullmatch(r"[+-]?\d+", text) for text in rest):
            numbers = numbers.astype("int64")
    return numbers, said, marks


def with_numbers(frame: Any, notes: list[str]) -> Any:
    """The frame with numbers where texts, decimals and marks of gaps stood for them.

    Parameters
    ----------
    frame : pandas.DataFrame
    notes : list of str
        What was done is added here.

    Returns
    -------
    pandas.DataFrame

    Examples
    --------
    >>> import pandas as pd
    >>> notes = []
    >>> with_numbers(pd.DataFrame({"pay": ["1,200", "-", "950"]}), notes)[
    ...     "pay"
    ... ].tolist()
    [1200.0, nan, 950.0]
    >>> for note in notes:
    ...     print(note)
    'pay' holds numbers with commas between thousands.
    In 'pay' a '-' is read as a missing value.
    """
    changed: dict[str, Any] = {}
    written: dict[str, list[str]] = {}
    marked: dict[str, list[str]] = {}
    for name in frame.columns:
        column = frame[name]
        if column.dtype.kind in "biufcmM" or str(column.dtype) == "category":
            continue
        kind = kind_of(column)
        if kind == "number":  # decimals, or flags among gaps
            if all(isinstance(value, (bool, np.bool_)) for value in column.dropna()):
                changed[name] = column.map({True: 1.0, False: 0.0}).astype("float64")
            elif all(abs(value) < 2**63 for value in column.dropna()):
                changed[name] = column.astype("float64")
        elif kind in ("text", "mixed"):
            found = _numbers_written(column)
            if found is not None:
                changed[name], said, marks = found
                if said:
                    written.setdefault(said, []).append(name)
                for mark in marks:
                    marked.setdefault(mark, []).append(name)
    for said, names in written.items():
        verb = "holds" if len(names) == 1 else "hold"
        notes.append(f"{quote_names(names, 4)} {verb} {said}.")
    for mark, names in marked.items():
        what = f"a {mark!r}" if mark else "a blank"
        notes.append(f"In {quote_names(names, 4)} {what} is read as a missing value.")
    if not changed:
        return frame
    import pandas as pd

    columns = {name: changed.get(name, frame[name]) for name in frame.columns}
    return pd.DataFrame(columns, index=frame.index, columns=frame.columns)


def turned(frame: Any, row_names: NDArray | None, name: str) -> tuple[Any, NDArray]:
    """A table whose features stand in rows, turned: the names of its rows, or its first
    column of texts, name the columns, and the names of its columns the rows.
    """
    if row_names is None:
        first = frame.iloc[:, 0]
        if kind_of(first) != "text":
            raise TableError(
                name,
                [
                    f"its first column, {frame.columns[0]!r}, holds no names, so nothing "
                    f"could name the columns once it is turned."
                ],
            )
        row_names = first.to_numpy()
        frame = frame.iloc[:, 1:]
    names = [str(value) for value in row_names]
    other = frame.T.reset_index(drop=True)
    other.columns = names
    return other.infer_objects(), np.array([str(column) for column in frame.columns])


# ---------------------------------------------------------------- what becomes of it

_LIKE_AN_ID = re.compile(
    r"(?i)(.*[_\W]|)(id|ids|uuid|guid|key|index|idx|row|rowid|rownum|row[_ ]?names?|"
    r"nr|no|num|number|record|sample[_ ]?(id|name)?)"
)


@dataclass
class ArrangedTable:
    """A table whose columns are put in order.

    Attributes
    ----------
    name : str
        What it is called.
    X : pandas.DataFrame, shape (n_rows, n_columns)
        The columns that may be chosen: numbers, and categories as texts.
    y : pandas.Series, shape (n_rows,)
        The target, with a value in each row.
    numbers, categories : list of str
        The names of the columns of either kind.
    row_names : ndarray, shape (n_rows,), or None
    left_out : dict of str
        The columns that may not be chosen, each with the reason.
    notes : list of str
        What was read, and what was done to it.
    warnings : list of str
        What may be wrong with it.
    target : str
        The name of the target.
    original : pandas.DataFrame
        The columns as they were read, of the same rows.
    came_from : dict of str
        The column of `original` from which one of `X` was made, where it has another
        name.
    """

    name: str
    X: Any
    y: Any
    numbers: list[str]
    categories: list[str]
    target: str
    original: Any
    row_names: NDArray | None = None
    left_out: dict[str, str] = field(default_factory=dict)
    came_from: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def matching(name: str, columns: Iterable[str]) -> list[str]:
    """The columns of this name or, where there is none, those that fit it as a pattern:
    `*` stands for any letters, `?` for one, `[ab]` for one of these.

    Examples
    --------
    >>> matching("RPL*", ["RPL3", "RPS6", "RPL10"])
    ['RPL3', 'RPL10']
    """
    columns = list(columns)
    if name in columns:
        return [name]
    return [one for one in columns if fnmatch.fnmatchcase(str(one), name)]


def named_columns(frame: Any, names: str | Sequence[str], option: str) -> list[str]:
    """The columns of a frame that an option names, each once, by names and patterns; a
    text may have several, with commas.

    Raises
    ------
    ValueError
        Nothing has this name or fits this pattern.
    """
    given = [names] if isinstance(names, str) else list(names)
    known = set(frame.columns)
    found: list[str] = []
    for one in map(str, given):
        parts = [one] if one in known else [part.strip() for part in one.split(",")]
        for part in filter(None, parts):
            columns = [part] if part in known else matching(part, frame.columns)
            if not columns and set(part) & set("*?["):
                raise ValueError(f"{option}: no column fits {part!r}.")
            if not columns:
                raise ValueError(
                    f"{option}: " + no_such_column("the table", part, frame)
                )
            found += columns
    return list(dict.fromkeys(found))


def _row_of(index: int, row_names: NDArray | None) -> str:
    """How to call a row: by its name, or by its number in the table."""
    if row_names is None:
        return f"row {index + 1}"
    return f"row {index + 1} ({row_names[index]})"


def _mostly_numbers(column: Any) -> tuple[int, Any] | None:
    """Of a column of texts that are numbers but for a few: the place of the first that
    is none, and what stands there.
    """
    texts = column.map(lambda value: str(value).strip(), na_action="ignore")
    there = texts.dropna()
    bad = there[[NUMBER.fullmatch(text) is None for text in there]]
    bad = bad[[text not in GAPS for text in bad]]
    if len(bad) and len(bad) <= 0.1 * len(there):
        place = column.index.get_loc(bad.index[0])
        return place, column.iloc[place]
    return None


def _parts_of_dates(column: Any) -> dict[str, Any]:
    """The parts of a column of dates that vary: year, month, day of the week, hour."""
    import pandas as pd

    # 5.3.2024 is in March, 3/5/2024 too, unless a day in the column says otherwise
    first = column.astype(str).str.extract(r"^\s*(\d{1,2})([./])\d{1,2}[./]")
    day_first = bool((first[1] == ".").any() or (first[0].astype(float) > 12).any())
    dates = pd.to_datetime(
        column, errors="coerce", utc=True, format="mixed", dayfirst=day_first
    )
    parts = {
        "year": dates.dt.year,
        "month": dates.dt.month,
        "weekday": dates.dt.day_of_week,
        "hour": dates.dt.hour,
    }
    return {
        part: values.astype("float64")
        for part, values in parts.items()
        if values.nunique() > 1
    }


def _plain_numbers(frame: Any) -> dict[str, Any]:
    """The columns of finite numbers that are neither constant nor whole, nor lack any:
    most columns of most wide tables, and nothing is to be decided about them.
    """
    names = [
        name
        for name, dtype in zip(frame.columns, frame.dtypes, strict=True)
        if isinstance(dtype, np.dtype) and dtype.kind == "f"
    ]
    if not names:
        return {}
    A = frame[names].to_numpy(dtype=float)
    with np.errstate(invalid="ignore", over="ignore"):
        is_plain = (
            np.isfinite(A).all(axis=0)
            & (np.ptp(A, axis=0) > 0)
            & np.any(A != np.round(A), axis=0)
        )
    return {names[j]: A[:, j] for j in np.flatnonzero(is_plain)}


def _is_like_an_id(name: str, column: Any) -> bool:
    """Whether a column of numbers tells the rows apart and nothing more: whole numbers,
    another one in each row, under a name that says so, or in order.
    """
    values = column.to_numpy(dtype=float, na_value=np.nan)
    if len(values) < 10 or np.isnan(values).any() or np.any(values % 1):
        return False
    if len(np.unique(values)) < len(values):
        return False
    if _LIKE_AN_ID.fullmatch(name):
        return True
    steps = np.diff(values)
    return bool(np.all(steps == 1) or np.all(steps == -1))


def arrange(
    table: Any,
    target: str,
    *,
    drop: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    dates: Literal["refuse", "parts"] = "refuse",
) -> ArrangedTable:
    """Decide over every column of a table.

    Parameters
    ----------
    table : RawTable
        Without names of rows among its columns.
    target : str
        The column to predict.
    drop : str or sequence of str
        Columns to leave out, by names or patterns as "RPL*"; a text may have several,
        with commas.
    keep : str or sequence of str
        Columns that may be chosen although they look like numbers of rows.
    dates : {"refuse", "parts"}
        What becomes of a date: an error, or columns of its year, month, day of the week
        and hour, those that vary.

    Returns
    -------
    ArrangedTable

    Raises
    ------
    TableError
        With everything that stands in the way.

    Examples
    --------
    >>> import pandas as pd
    >>> from fsel_book.tables import as_table
    >>> trees = pd.DataFrame(
    ...     {
    ...         "height": [12.5, None, 9.1],
    ...         "bark": ["rough", "smooth", "rough"],
    ...         "kind": ["oak", "elm", "oak"],
    ...     }
    ... )
    >>> found = arrange(as_table(trees), "kind")
    >>> found.numbers, found.categories
    (['height'], ['bark'])
    """
    import pandas as pd

    frame, row_names, notes = table.frame, table.row_names, list(table.notes)
    warnings: list[str] = []
    problems: list[str] = []
    if target not in frame.columns:
        in_rows = row_names is not None and target in set(map(str, row_names))
        first = frame.iloc[:, 0] if frame.shape[1] else None
        in_rows |= first is not None and target in set(first.dropna().map(str))
        if in_rows:
            raise TableError(
                table.name,
                [
                    f"{target!r} is the name of a row: the features seem to stand in "
                    f"rows and the samples in columns. Turn the table: transpose=True, or "
                    f"--transpose."
                ],
            )
        raise TableError(table.name, [no_such_column("the table", target, frame)])
    try:
        dropped = named_columns(frame, drop, "drop")
        kept = named_columns(frame, keep, "keep")
    except ValueError as error:
        raise TableError(table.name, [str(error)]) from None
    if target in dropped:
        raise TableError(table.name, [f"drop names the target, {target!r}."])
    if not len(frame):
        raise TableError(table.name, ["it has no rows, only a line of names."])
    left_out = {name: "as asked" for name in dropped}
    frame = with_numbers(frame.drop(columns=dropped), notes)

    # the target
    y = frame[target]
    gone = y.isna().to_numpy()
    if gone.all():
        raise TableError(table.name, [f"the target {target!r} is empty."])
    if gone.any():
        notes.append(
            f"{int(gone.sum()):,} of {len(y):,} rows {'has' if gone.sum() == 1 else 'have'} "
            f"no value of the target {target!r} and "
            f"{'was' if gone.sum() == 1 else 'were'} left out."
        )
        frame = frame[~gone].reset_index(drop=True)
        row_names = None if row_names is None else row_names[~gone]
        y = frame[target]
    kind = kind_of(y)
    if kind in ("date", "duration", "nested", "complex", "mixed"):
        what = {
            "date": "dates",
            "duration": "times",
            "nested": "lists or records",
            "complex": "complex numbers",
            "mixed": "texts and numbers",
        }[kind]
        problems.append(
            f"the target {target!r} holds {what}: give a column of numbers or of texts."
        )
    elif kind == "number" and not np.isfinite(y.to_numpy(dtype=float)).all():
        place = int(np.argmin(np.isfinite(y.to_numpy(dtype=float))))
        problems.append(
            f"the target {target!r} is infinite in {_row_of(place, row_names)}."
        )
    elif y.nunique() < 2:
        problems.append(
            f"the target {target!r} has one value only, {y.iloc[0]!r}: nothing to predict."
        )

    columns: dict[str, Any] = {}
    numbers: list[str] = []
    categories: list[str] = []
    parts_of: list[str] = []
    came_from: dict[str, str] = {}
    empty: list[str] = []
    constant: list[str] = []
    other_texts: list[str] = []
    ids: list[str] = []
    n = len(frame)
    plain = _plain_numbers(frame)
    for name in frame.columns:
        if name == target:
            continue
        if name in plain:
            columns[name] = plain[name]
            numbers.append(name)
            continue
        column = frame[name]
        kind = kind_of(column)
        if kind == "empty":
            empty.append(name)
            continue
        if kind == "nested":
            first = column.dropna().iloc[0]
            problems.append(
                f"{name!r} holds {type(first).__name__} values, such as "
                f"{str(first)[:30]!r}. Leave it out: drop={name!r}; or take the numbers "
                f"out of it."
            )
            continue
        if kind == "complex":
            problems.append(
                f"{name!r} holds complex numbers. Give their real and imaginary parts as "
                f"columns."
            )
            continue
        if kind == "mixed":
            odd = next(value for value in column if isinstance(value, str))
            problems.append(
                f"{name!r} holds numbers and texts, such as {odd!r}. Make them one or the "
                f"other, or leave it out: drop={name!r}."
            )
            continue
        if kind == "date":
            if dates == "parts":
                for part, values in _parts_of_dates(column).items():
                    columns[f"{name} {part}"] = values
                    numbers.append(f"{name} {part}")
                    came_from[f"{name} {part}"] = name
                parts_of.append(name)
            else:
                problems.append(
                    f"{name!r} holds dates, such as {str(column.dropna().iloc[0])!r}. "
                    f"Leave it out: drop={name!r}; or take year, month, weekday and hour: "
                    f"dates='parts'."
                )
            continue
        if kind == "duration":
            column = pd.to_timedelta(column.astype(str), errors="coerce")
            column = column.dt.total_seconds()
            notes.append(f"{name!r} holds times, taken in seconds.")
            kind = "number"
        if kind == "text":
            mended = _mostly_numbers(column)
            if mended is not None:
                place, value = mended
                problems.append(
                    f"{name!r} holds numbers, but {value!r} in "
                    f"{_row_of(place, row_names)}. Mend it, leave the field empty, or "
                    f"leave the column out: drop={name!r}."
                )
                continue
            count = column.nunique()
            if count == 1 and not column.isna().any():
                constant.append(name)
            elif count > 20 and count > 0.5 * column.notna().sum():
                other_texts.append(name)
            else:
                columns[name] = (
                    column.astype(object).where(column.notna(), "(none)").map(str)
                )
                categories.append(name)
            continue
        values = column.to_numpy(dtype=float, na_value=np.nan)
        if np.isinf(values).any():
            place = int(np.argmax(np.isinf(values)))
            problems.append(
                f"{name!r} is infinite in {_row_of(place, row_names)}. Put a finite number "
                f"there or leave the field empty."
            )
            continue
        if np.ptp(values[~np.isnan(values)]) == 0 and not np.isnan(values).any():
            constant.append(name)
            continue
        if name not in kept and _is_like_an_id(name, column):
            ids.append(name)
            continue
        columns[name] = (
            column.astype("float64") if column.dtype.kind in "bO" else column
        )
        numbers.append(name)
    for names, reason, said in (
        (empty, "empty", "is empty|are empty"),
        (
            constant,
            "the same in all rows",
            "is the same in all rows|are the same in all rows",
        ),
        (
            other_texts,
            "another text in nearly every row",
            "holds another text in nearly every row|hold another text in nearly every row",
        ),
        (ids, "tells rows apart", "only tells the rows apart|only tell the rows apart"),
    ):
        if names:
            left_out.update(dict.fromkeys(names, reason))
            one, many = said.split("|")
            note = f"{quote_names(names, 5)} {one if len(names) == 1 else many} and "
            note += "was left out." if len(names) == 1 else "were left out."
            if names is ids:
                which = "it" if len(names) == 1 else "one"
                note += f" If {which} measures something: keep={names[0]!r}."
            notes.append(note)
    if parts_of:
        notes.append(
            f"Of {quote_names(parts_of, 3)} those of year, month, weekday and hour were "
            f"taken that vary."
        )
    if not problems and len(columns) < 2:
        problems.append(
            f"it has {len(columns)} column(s) to choose from beside the target "
            f"{target!r}; there must be at least two."
        )
    if problems:
        raise TableError(table.name, problems)
    X = pd.DataFrame(columns, index=frame.index)
    gaps = X.isna().sum()
    gaps = gaps[gaps > 0]
    if len(gaps):
        worst = gaps.idxmax()
        n_gaps = int(gaps.sum())
        where = (
            f"in {worst!r}"
            if len(gaps) == 1
            else f"in {len(gaps):,} of {X.shape[1]:,} columns, most in {worst!r}"
        )
        notes.append(
            f"{f'{n_gaps:,} values are' if n_gaps > 1 else 'One value is'} missing {where} "
            f"({gaps[worst] / n:.1%} of the rows). {'Each' if n_gaps > 1 else 'It'} is "
            f"filled with the median of its column, of the rows that a model is trained "
            f"on."
        )
        if gaps[worst] > n / 2:
            mostly_gaps = list(gaps[gaps > n / 2].index)
            warnings.append(
                f"More than half of {quote_names(mostly_gaps, 4)} is missing; what is chosen of "
                f"it is mostly its median."
            )
    if categories:
        notes.append(
            f"{quote_names(categories, 5)} "
            f"{'is a category' if len(categories) == 1 else 'are categories'}. A category "
            f"is a group of columns of zeros and ones, chosen as a whole. Where the "
            f"certificate counts columns, it counts these."
        )
    return ArrangedTable(
        name=table.name,
        X=X,
        y=y,
        numbers=numbers,
        categories=categories,
        target=target,
        original=frame,
        row_names=row_names,
        left_out=left_out,
        came_from=came_from,
        notes=notes,
        warnings=warnings,
    )
