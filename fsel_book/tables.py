"""Tables of a person's own: read in whatever form they come, and told what was done.

`read_table` reads a file, `as_table` takes what is in memory, and both return a
`RawTable`: the columns as they are, the names of the rows, and `notes`, a sentence for
everything that was not taken as it stood. Nothing is guessed in silence: what cannot be
read for sure is an error that names the file, the line or the column, and the remedy.
`load_table` asks for numbers and nothing else; `fsel_book.table_columns` puts columns
of other kinds in order.
"""

import bz2
import contextlib
import csv
import gzip
import io
import lzma
import os
import pathlib
import re
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from fsel_book.table_columns import (
    DECIMAL_COMMA,
    NUMBER,
    THOUSANDS_COMMA,
    ArrangedTable,
    are_row_names,
    arrange,
    is_unnamed,
    kind_of,
    no_such_column,
    quote_names,
    turned,
    with_numbers,
)

__all__ = [
    "RawTable",
    "as_table",
    "find_row_names",
    "load_table",
    "open_table",
    "read_table",
]


@dataclass
class RawTable:
    """A table as it was read.

    Attributes
    ----------
    frame : pandas.DataFrame, shape (n_rows, n_columns)
        The columns by their names, which are texts, each another one. The index of the
        frame counts the rows.
    name : str
        What the table is called in messages.
    row_names : ndarray, shape (n_rows,), or None
        The names of the rows, where they have any.
    notes : list of str
        What was not taken as it stood, a sentence each.
    """

    frame: Any
    name: str
    row_names: NDArray | None = None
    notes: list[str] = field(default_factory=list)


def _pandas() -> Any:
    """pandas, or an error that says how to get it."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "Tables are read by pandas, and Parquet by pyarrow: pip install "
            "'fsel_book[report]'."
        ) from error
    return pandas


# ---------------------------------------------------------------- tables in text

SEPARATORS = {
    "\t": "tabs",
    ";": "semicolons",
    ",": "commas",
    "|": "bars",
    " ": "blanks",
}


_IN_SINGLE_QUOTES = re.compile(r"'[^']*'")


class Dialect(NamedTuple):
    """How a text holds a table.

    Parameters
    ----------
    skipped : int
        So many lines before the table.
    separator : str
        What stands between fields; a blank is any number of blanks and tabs.
    names : list of str or None
        The names in the first line; None where there is no such line.
    width : int
        How many fields most lines have.
    decimal : {".", ","}
    notes : list of str
        What is worth telling.
    """

    skipped: int
    separator: str
    names: list[str] | None
    width: int
    decimal: str
    notes: list[str]


def _decoded(head: bytes, is_whole: bool) -> tuple[str, str]:
    """The encoding of a text and what it says, from its first bytes."""
    for mark, encoding in (
        (b"\xef\xbb\xbf", "utf-8-sig"),
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
    ):
        if head.startswith(mark):
            return encoding, head.decode(encoding, errors="ignore")
    if head[1:400:2].count(0) > len(head[1:400:2]) / 3:
        return "utf-16-le", head.decode("utf-16-le", errors="ignore")
    if head[:400:2].count(0) > len(head[:400:2]) / 3:
        return "utf-16-be", head.decode("utf-16-be", errors="ignore")
    try:
        return "utf-8", head.decode("utf-8")
    except UnicodeDecodeError as error:
        # the last letter may be cut
        if not is_whole and error.start > len(head) - 4:
            return "utf-8", head.decode("utf-8", errors="ignore")
    return "cp1252", head.decode("cp1252", errors="replace")


_BETWEEN_BLANKS = re.compile(r"""(?:"(?:[^"\\]|\\.)*"|[^\s"])+""")


def _between_blanks(line: str) -> list[str]:
    """The fields of a line that blanks part, but for those inside quotes."""
    return [value.strip('"') for value in _BETWEEN_BLANKS.findall(line)]


def _fields(lines: list[str], separator: str) -> list[list[str]]:
    """The fields of each line, as the `csv` module parts them."""
    if separator == " ":
        return [_between_blanks(line) for line in lines]
    rows = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    return [[value.strip() for value in row] for row in rows]


def _best_separator(lines: list[str], strictly: bool = True) -> str | None:
    """What parts most lines into the same number of fields, two or more, and the first
    one into as many, give or take one, where that is asked for.
    """
    best: tuple[float, bool, bool] = (0.0, False, False)
    found = None
    for separator in SEPARATORS:
        try:
            rows = _fields(lines, separator)
        except csv.Error:
            continue
        counts = [len(row) for row in rows]
        body = counts[1:] or counts
        width = max(set(body), key=body.count)
        # texts have blanks, too
        if separator == " " and not any(map(_reads_as_number, rows[-1])):
            continue
        # the first line may lack the name of the names of rows
        if width < 2 or (strictly and abs(counts[0] - width) > 1):
            continue
        share = round(body.count(width) / len(body), 1)
        # other separators, and blanks above all, stand in texts, too
        how = (share, counts[0] == width, separator != " ")
        if how > best:
            best, found = how, separator
    return found


def _reads_as_number(value: str) -> bool:
    return NUMBER.fullmatch(value) is not None or (
        DECIMAL_COMMA.fullmatch(value) is not None
    )


def _names_columns(first: list[str], body: list[list[str]]) -> bool:
    """Whether a first line holds names of columns, and not a row of the table."""
    numbers = [j for j, value in enumerate(first) if _reads_as_number(value)]
    texts = [j for j, value in enumerate(first) if value and j not in numbers]
    whole = [row for row in body if len(row) == len(first)]
    if not whole:
        return True
    # a text that comes again below is a value
    if any(sum(row[j] == first[j] for row in whole) for j in texts) and numbers:
        return False
    alike = [
        j
        for j in numbers
        if all(_reads_as_number(row[j]) or not row[j] for row in whole)
    ]
    if len(alike) < len(numbers) or not numbers:
        return True
    if len(texts) > 1 + (first[0] == ""):
        return True
    # wavelengths, years or numbers of columns ascend; measurements do not
    values = np.array([float(first[j].replace(",", ".")) for j in numbers])
    return len(values) > 2 and bool(
        np.all(np.diff(values) > 0) or np.all(np.diff(values) < 0)
    )


def _dialect(text: str, is_whole: bool) -> Dialect | None:
    """How the table stands in a text of which this is the beginning; None if nothing
    parts its lines into two fields or more.
    """
    # kept as they end, for a name may hold the end of a line
    lines = list(io.StringIO(text, newline=""))
    if not is_whole:
        lines = lines[:-1] or lines
    skipped = 0
    while skipped < len(lines) and (
        not lines[skipped].strip() or lines[skipped].lstrip().startswith(("#", "%"))
    ):
        skipped += 1
    notes = []
    remarks = [line for line in lines[:skipped] if line.strip()]
    lines = [line for line in lines[skipped:] if line.strip()][:400]
    if not lines:
        return None
    separator = _best_separator(lines) or _best_separator(lines, strictly=False)
    if separator is None:
        return None
    first, *body = _fields(lines, separator)
    counts = [len(row) for row in body] or [len(first)]
    width = max(set(counts), key=counts.count)
    names: list[str] | None = first
    if not _names_columns(first, body):
        names = None
        # the names may stand in the last remark
        if remarks:
            of_remark = _fields([remarks[-1].lstrip("#% ")], separator)[0]
            if len(of_remark) == width and not any(map(_reads_as_number, of_remark)):
                names = of_remark
                remarks.pop()
                skipped -= 1
        if names is None:
            notes.append(
                "The first line holds values, not names, so the columns are named "
                "'column 1', 'column 2' and so on."
            )
    if names is not None and all(map(_IN_SINGLE_QUOTES.fullmatch, names)):
        names = [value[1:-1] for value in names]
        notes.append("The quotes around its names were left out.")
    if remarks:
        notes.append(
            f"{len(remarks)} {'line' if len(remarks) == 1 else 'lines'} before the table "
            f"begin with # or % and were left out."
        )
    if separator != ",":
        notes.append(f"Its fields are parted by {SEPARATORS[separator]}.")
    values = [value for row in (body if names else [first, *body]) for value in row]
    dots = sum(bool(re.fullmatch(r"[+-]?\d*\.\d+", value)) for value in values)
    commas = [value for value in values if DECIMAL_COMMA.fullmatch(value)]
    decimal = "."
    if separator != "," and commas and not dots:
        # 1,234 may be either; another one decides
        if not all(map(THOUSANDS_COMMA.fullmatch, commas)):
            decimal = ","
            notes.append("Its decimal mark is a comma.")
    return Dialect(skipped, separator, names, width, decimal, notes)


@contextlib.contextmanager
def _opened(path: pathlib.Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, without the compression that its first bytes tell."""
    with open(path, "rb") as file:
        start = file.read(6)
    unpacked: Any
    if start[:2] == b"\x1f\x8b":
        with gzip.open(path) as unpacked:
            yield unpacked
    elif start[:3] == b"BZh":
        with bz2.open(path) as unpacked:
            yield unpacked
    elif start[:6] == b"\xfd7zXZ\x00":
        with lzma.open(path) as unpacked:
            yield unpacked
    elif start[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(path) as archive:
            members = [name for name in archive.namelist() if not name.endswith("/")]
            if len(members) != 1:
                raise ValueError(
                    f"the archive holds {len(members)} files, {quote_names(members, 3)}. "
                    f"Unpack it and name one of them."
                )
            with archive.open(members[0]) as unpacked:
                yield unpacked
    else:
        with open(path, "rb") as file:
            yield file


@contextlib.contextmanager
def _rows_of(
    path: pathlib.Path, encoding: str, dialect: Dialect
) -> Iterator[io.TextIOWrapper]:
    """The text of a file from its first row on, behind remarks and names."""
    errors = "replace" if encoding == "cp1252" else "strict"
    with _opened(path) as file:
        text = io.TextIOWrapper(file, encoding=encoding, errors=errors, newline="")
        for _ in range(dialect.skipped):
            next(text)
        if dialect.names is not None:
            lines = (line for line in text if line.strip())
            if dialect.separator == " ":
                next(lines)
            else:
                next(csv.reader(lines, delimiter=dialect.separator))
        yield text


def _first_line_of_other_width(
    path: pathlib.Path, encoding: str, dialect: Dialect
) -> tuple[int, int] | None:
    """The number of the first line with another number of fields, and that number."""
    with _opened(path) as file:
        text = io.TextIOWrapper(file, encoding=encoding, errors="replace", newline="")
        for _ in range(dialect.skipped):
            next(text)
        parted = csv.reader(text, delimiter=dialect.separator, skipinitialspace=True)
        by_blanks = (_between_blanks(line) for line in text)
        waits_for_names = dialect.names is not None
        for number, row in enumerate(
            by_blanks if dialect.separator == " " else parted, start=1
        ):
            if not row:
                continue
            if len(row) != dialect.width and not waits_for_names:
                line = number if dialect.separator == " " else parted.line_num
                return dialect.skipped + line, len(row)
            waits_for_names = False
    return None


def _column_names(dialect: Dialect) -> list[str]:
    """A name for each field of a line, blank where there is none."""
    if dialect.names is None:
        return [f"column {j}" for j in range(1, dialect.width + 1)]
    names = list(dialect.names)
    if len(names) == dialect.width + 1 and not names[-1]:
        return names[:-1]
    # R's `write.table` gives the names of rows no name
    return [""] * (dialect.width - len(names)) + names


def _beginning(file: IO[bytes]) -> tuple[bytes, bool]:
    """The first lines of a file, however long they are, and whether they are all."""
    head = b""
    asked = 2**18
    while True:
        part = file.read(asked)
        head += part
        if len(part) < asked:
            return head, True
        if max(head.count(end) for end in (b"\n", b"\r")) > 25:
            return head, False
        asked = len(head)


def _read_text(path: pathlib.Path) -> RawTable:
    """A table in a text: comma-separated values in all their dialects."""
    pd = _pandas()
    with _opened(path) as file:
        head, is_whole = _beginning(file)
    encoding, text = _decoded(head, is_whole)
    dialect = _dialect(text, is_whole)
    if dialect is None:
        raise ValueError(
            "no separator parts its lines into columns. A table has a line of names and "
            "then a line for each row, with a comma, semicolon, tab or blank between "
            "fields."
        )
    short = len(dialect.names or []) - dialect.width
    if dialect.names is not None and short < -1:
        raise ValueError(
            f"it names {len(dialect.names)} column(s) in its first line, "
            f"{quote_names(dialect.names, 3)}, and has {dialect.width} fields in "
            f"the other lines. Name every column in the first line."
        )
    names = _column_names(dialect)
    form = dict(
        sep=r"\s+" if dialect.separator == " " else dialect.separator,
        header=None,
        names=range(len(names)),
        decimal=dialect.decimal,
        skipinitialspace=True,
        index_col=False,
        low_memory=False,
        na_values=["?"],
    )
    while True:
        try:
            with _rows_of(path, encoding, dialect) as rows, warnings.catch_warnings():
                # that fields would be lost
                warnings.simplefilter("error", pd.errors.ParserWarning)
                frame = pd.read_csv(rows, **form)
            break
        except UnicodeDecodeError:
            encoding = "cp1252"
        except pd.errors.EmptyDataError:
            frame = pd.DataFrame(columns=range(len(names)))
            break
        except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
            found = _first_line_of_other_width(path, encoding, dialect)
            if found is None:
                raise ValueError(str(error)) from error
            raise ValueError(_other_width(*found, dialect.width)) from error
    # pandas fills up lines that are too short, without a word
    if len(frame) and frame.iloc[:, -1].isna().any() and dialect.separator != " ":
        found = _first_line_of_other_width(path, encoding, dialect)
        if found is not None:
            raise ValueError(_other_width(*found, dialect.width))
    notes = list(dialect.notes)
    if encoding == "cp1252":
        notes.append(
            "Its letters are not UTF-8 and were read as Windows-1252, as Western "
            "European spreadsheets write them; if names look wrong, save it as UTF-8."
        )
    frame.columns = names
    table = RawTable(frame, path.name, notes=notes)
    if dialect.names is not None and short == -1:
        _require_names_of_rows(table, dialect)
    return table


def _other_width(line: int, count: int, width: int) -> str:
    return (
        f"line {line} has {count} field(s) where the others have {width}. Put a text "
        f"with a separator inside into quotes, or mend the line."
    )


def _require_names_of_rows(table: RawTable, dialect: Dialect) -> None:
    """Raise unless the first column, for which the first line has no name, holds names
    of rows; where the last one is empty, it is the separator at the end of each line.

    R's `write.table` writes names of rows so. Where lines end in a separator that the
    first line does not have, they are as long, and the values stand where they should.
    """
    frame = table.frame
    assert dialect.names is not None
    if frame.iloc[:, -1].isna().all():
        frame = frame.iloc[:, :-1].copy()
        frame.columns = dialect.names
        table.frame = frame
        table.notes.append("Each line ends in a separator, which was left out.")
    elif not are_row_names(frame.iloc[:, 0]):
        raise ValueError(
            f"it names {len(dialect.names)} column(s) in its first line, "
            f"{quote_names(dialect.names, 3)}, and has {dialect.width} fields in the "
            f"other lines. Only names of rows may lack a name: one column of whole "
            f"numbers or texts, another one in each row. Name every column in the first "
            f"line."
        )


# ---------------------------------------------------------------- other files


def _read_parquet(path: pathlib.Path) -> RawTable:
    return RawTable(_pandas().read_parquet(path), path.name)


def _read_excel(path: pathlib.Path) -> RawTable:
    """The first sheet with anything in it."""
    pd = _pandas()
    book = pd.ExcelFile(path)
    for sheet in book.sheet_names:
        frame = pd.read_excel(book, sheet_name=sheet, na_values=["?"])
        # a sheet may begin below the first row, and right of the first column
        if frame.shape[1] and not len(frame.dropna(how="all")) == 0:
            break
    else:
        raise ValueError("none of its sheets holds a table.")
    notes = []
    if len(book.sheet_names) > 1:
        notes.append(
            f"Of its {len(book.sheet_names)} sheets {sheet!r} was read, the first that "
            f"holds something."
        )
    empty_rows = int(frame.isna().all(axis=1).sum())
    if empty_rows:
        frame = frame.dropna(how="all").reset_index(drop=True)
        notes.append(f"{empty_rows} empty rows were left out.")
    return RawTable(frame, path.name, notes=notes)


def _read_arff(path: pathlib.Path) -> RawTable:
    """A table of Weka. Nominal values are texts."""
    from scipy.io import arff

    with _opened(path) as file:
        text = file.read().decode("utf-8", errors="replace")
    try:
        data, meta = arff.loadarff(io.StringIO(text))
    except NotImplementedError as error:
        raise ValueError(
            f"{error}. Save the table without such columns, or as CSV."
        ) from error
    frame = _pandas().DataFrame(data, columns=meta.names())
    for name, kind in zip(meta.names(), meta.types(), strict=True):
        if kind == "nominal":
            column = frame[name].str.decode("utf-8")
            frame[name] = column.where(column != "?")
    return RawTable(frame, path.name)


def _read_svmlight(path: pathlib.Path) -> RawTable:
    """A label and pairs of a number and a value in each line."""
    from sklearn.datasets import load_svmlight_file

    with _opened(path) as file:
        X, y = load_svmlight_file(file)
    table = _of_matrix(X, [f"feature {j}" for j in range(1, X.shape[1] + 1)], path.name)
    table.frame["label"] = y.astype(int) if np.all(y == np.round(y)) else y
    table.notes.append("Its labels are the column 'label'.")
    return table


def _read_matrix_market(path: pathlib.Path) -> RawTable:
    """A matrix without names, or with those that 10x Genomics writes beside it."""
    from scipy.io import mmread

    with _opened(path) as file:
        X = mmread(file)
    folder = path.parent
    beside = [
        _lines_of(file)
        for name in ("features.tsv", "genes.tsv")
        for file in (folder / name, folder / f"{name}.gz")
        if file.is_file()
    ]
    notes = []
    names = [f"feature {j}" for j in range(1, X.shape[1] + 1)]
    row_names = None
    if beside and len(beside[0]) == X.shape[0] != X.shape[1]:
        X = X.T
        names = [line.split("\t")[min(1, line.count("\t"))] for line in beside[0]]
        cells = [
            file
            for file in (folder / "barcodes.tsv", folder / "barcodes.tsv.gz")
            if file.is_file()
        ]
        if cells:
            found = np.array(_lines_of(cells[0]), dtype=object)
            row_names = found if len(found) == X.shape[0] else None
        notes.append(
            "Its rows are genes, as the file of their names beside it says; they are "
            "the columns here."
        )
    table = _of_matrix(X, names, path.name)
    table.row_names = row_names
    table.notes += notes
    return table


def _lines_of(path: pathlib.Path) -> list[str]:
    with _opened(path) as file:
        return file.read().decode("utf-8", errors="replace").splitlines()


def _read_h5ad(path: pathlib.Path) -> RawTable:
    try:
        import anndata
    except ImportError as error:
        raise ImportError(
            f"{path.name} is read by anndata, which is not installed: pip install "
            f"anndata."
        ) from error
    return _of_anndata(anndata.read_h5ad(path), path.name)


def _read_json(path: pathlib.Path) -> RawTable:
    """A list of records, or a record in each line."""
    pd = _pandas()
    with _opened(path) as file:
        text = file.read().decode("utf-8-sig")
    lines = not text.lstrip().startswith("[") and "\n" in text.strip()
    return RawTable(pd.read_json(io.StringIO(text), lines=lines), path.name)


def _with_pandas(reader: str) -> Callable[[pathlib.Path], RawTable]:
    """What pandas reads without further ado."""

    def read(path: pathlib.Path) -> RawTable:
        return RawTable(getattr(_pandas(), f"read_{reader}")(path), path.name)

    return read


def _read_archive(path: pathlib.Path) -> RawTable:
    """An .npz file with `X` and `y`, and names if it has them."""
    from fsel_book.readers import read_matrix

    data = read_matrix(path)
    X: Any = data.X
    names = [f"feature {j}" for j in range(1, X.shape[1] + 1)]
    if "feature_names" in data.extra:
        names = [str(name) for name in data.extra["feature_names"]]
    table = _of_matrix(X, names, path.name)
    table.frame["label"] = data.y
    table.notes.append("Its labels are the column 'label'.")
    return table


_READERS: dict[str, Callable[[pathlib.Path], RawTable]] = {
    **dict.fromkeys(["csv", "tsv", "txt", "dat", "data", "tab", "asc"], _read_text),
    **dict.fromkeys(["parquet", "pq"], _read_parquet),
    **dict.fromkeys(["xlsx", "xls", "xlsm", "ods"], _read_excel),
    "arff": _read_arff,
    **dict.fromkeys(["svmlight", "libsvm", "svm"], _read_svmlight),
    "mtx": _read_matrix_market,
    "h5ad": _read_h5ad,
    **dict.fromkeys(["json", "jsonl", "ndjson"], _read_json),
    **dict.fromkeys(["feather", "arrow"], _with_pandas("feather")),
    "orc": _with_pandas("orc"),
    "dta": _with_pandas("stata"),
    **dict.fromkeys(["sas7bdat", "xpt"], _with_pandas("sas")),
    "sav": _with_pandas("spss"),
    "npz": _read_archive,
}
_COMPRESSED = {".gz", ".bz2", ".xz", ".zip"}


def _suffix_of(path: pathlib.Path) -> str:
    """What the name of a file says of its form; empty where it says nothing."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    form = suffixes[-1][1:] if suffixes else ""
    if form and form not in _READERS:
        known = ", ".join(f".{name}" for name in _READERS)
        raise ValueError(
            f"{path} is not a table that can be read: its name ends in .{form}. These "
            f"can: {known}, and text with .gz, .bz2, .xz or .zip behind."
        )
    return form


def _form_of(path: pathlib.Path, form: str) -> str:
    """The form of a file: that of its name or, where that says little, what its first
    bytes tell.
    """
    if form and _READERS[form] is not _read_text:
        return form
    with _opened(path) as file:
        head = file.read(4096)
    for start, found in (
        (b"PAR1", "parquet"),
        (b"%%MatrixMarket", "mtx"),
        (b"\x89HDF", "h5ad"),
    ):
        if head.startswith(start):
            return found
    if not form and re.search(rb"(?im)^\s*@relation\b", head):
        return "arff"
    # what is called .txt or .dat may be a list of pairs
    if form in ("", "txt", "dat", "data") and re.match(
        rb"([+-]?[\d.]+( \d+:[-+.\deE]+)+\s*(#.*)?\r?\n){2}", head
    ):
        return "svmlight"
    return form or "csv"


def read_table(path: str | os.PathLike) -> RawTable:
    """Read a table from a file.

    Parameters
    ----------
    path : str or path-like
        Text with fields between commas, semicolons, tabs, bars or blanks, in UTF-8,
        UTF-16 or Windows-1252, with a decimal point or comma, with remarks before it,
        with or without a line of names; Parquet, Excel, ARFF, svmlight, Matrix Market,
        AnnData, JSON, Feather, ORC, Stata, SAS, SPSS or ``.npz``. Text may be
        compressed.

    Returns
    -------
    RawTable

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ImportError
        If a package is missing that reads files of this form.
    ValueError
        If the file is no table, or one that is damaged; the error names the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "trees.csv"
    >>> _ = path.write_text("height;kind\\n12,5;oak\\n9,1;elm\\n")
    >>> table = read_table(path)
    >>> table.frame["height"].tolist()
    [12.5, 9.1]
    >>> table.notes[-1]
    'Its decimal mark is a comma.'
    """
    path = pathlib.Path(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder. Give a file.")
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    if path.stat().st_size == 0:
        raise ValueError(f"{path} cannot be read as a table: it is empty.")
    form = _suffix_of(path)
    try:
        table = _READERS[_form_of(path, form)](path)
    except ImportError as error:
        if error.name is None or "fsel_book[report]" in str(error):
            raise
        raise ImportError(
            f"{path.name} is read with {error.name}, which is not installed: pip install "
            f"{error.name}."
        ) from error
    # the readers of files raise almost anything: KeyError, zlib.error, ArrowInvalid, ...
    except Exception as error:
        raise ValueError(f"{path} cannot be read as a table: {error}") from error
    _name_columns(table)
    return table


# ---------------------------------------------------------------- tables in memory


def _of_matrix(X: Any, names: Sequence[str], name: str) -> RawTable:
    """A table of a matrix, dense or sparse, of numbers."""
    size = X.shape[0] * X.shape[1] * 8
    if hasattr(X, "toarray"):
        if size > _much_memory():
            raise ValueError(
                f"its {X.shape[0]:,} x {X.shape[1]:,} numbers take "
                f"{size / 2**30:.0f} GiB once the zeros are written out. Leave out rows or "
                f"columns, or give the sparse matrix itself to a selector, with "
                f"center=True."
            )
        X = X.toarray()
    return RawTable(_pandas().DataFrame(np.asarray(X), columns=list(names)), name)


def _much_memory() -> int:
    """A third of the memory of the machine, in bytes."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 3
    except (ValueError, OSError, AttributeError):
        return 2**32


def _of_anndata(data: Any, name: str) -> RawTable:
    """The matrix of an `AnnData`, with what it says of its rows beside it."""
    table = _of_matrix(data.X, [str(gene) for gene in data.var_names], name)
    table.row_names = np.array([str(cell) for cell in data.obs_names], dtype=object)
    of_rows = [str(column) for column in data.obs.columns]
    for column in of_rows:
        table.frame[column] = data.obs[column].to_numpy()
    table.notes.append(
        f"Beside the {data.n_vars} columns of its matrix X, what it says of the rows "
        f"({quote_names(of_rows, 4) or 'nothing'}) are columns here. Leave out with drop "
        f"what was computed from X."
    )
    return table


def as_table(data: Any, name: str = "the table") -> RawTable:
    """Take a table that is in memory.

    Parameters
    ----------
    data : DataFrame of pandas or polars, LazyFrame, Table of pyarrow, AnnData, matrix
        A frame that is lazy is collected. A matrix, dense or sparse, has columns named
        'feature 1', 'feature 2' and so on.
    name : str
        What the table is called in messages.

    Returns
    -------
    RawTable

    Raises
    ------
    TypeError
        For anything else.

    Examples
    --------
    >>> as_table(np.eye(2)).frame.columns.tolist()
    ['feature 1', 'feature 2']
    """
    pd = _pandas()
    if isinstance(data, RawTable):
        return data
    if isinstance(data, (str, os.PathLike)):
        return read_table(data)
    if isinstance(data, pd.DataFrame):
        table = RawTable(data.copy(deep=False), name)
    elif all(hasattr(data, part) for part in ("obs", "var_names", "n_vars")):
        table = _of_anndata(data, name)
    elif hasattr(data, "collect") and hasattr(data, "collect_schema"):
        table = RawTable(data.collect().to_pandas(), name)
    elif hasattr(data, "to_pandas"):
        table = RawTable(data.to_pandas(), name)
    elif getattr(data, "ndim", None) == 2 and hasattr(data, "shape"):
        names = [f"feature {j}" for j in range(1, data.shape[1] + 1)]
        table = _of_matrix(data, names, name)
    else:
        raise TypeError(
            f"{type(data).__name__} is no table. Give a path, a DataFrame, a Table of "
            f"pyarrow, an AnnData or a matrix."
        )
    _name_columns(table)
    return table


# ---------------------------------------------------------------- names


def _name_columns(table: RawTable) -> None:
    """Give every column a name that is a text, another one each."""
    frame = table.frame
    if getattr(frame.columns, "nlevels", 1) > 1:
        frame.columns = [" ".join(map(str, name)) for name in frame.columns]
    names = [str(name).strip() for name in frame.columns]
    blank = [j for j, name in enumerate(names) if not name]
    for j in blank:
        names[j] = f"Unnamed: {j}"
    # what nobody named and nothing fills: a separator at the end of each line
    empty = [
        j
        for j, name in enumerate(names)
        if is_unnamed(name) and len(frame) and bool(frame.iloc[:, j].isna().all())
    ]
    if empty:
        keep = [j for j in range(len(names)) if j not in set(empty)]
        frame = frame.iloc[:, keep].copy()
        names = [names[j] for j in keep]
        table.notes.append(
            f"{len(empty)} empty {'column' if len(empty) == 1 else 'columns'} without a "
            f"name {'was' if len(empty) == 1 else 'were'} left out."
        )
    seen: dict[str, int] = {}
    twice = []
    for j, name in enumerate(names):
        if name in seen:
            twice.append(name)
            while names[j] in seen:
                seen[name] += 1
                names[j] = f"{name}.{seen[name]}"
        seen.setdefault(names[j], 0)
    if twice:
        table.notes.append(
            f"More than one column is named {quote_names(dict.fromkeys(twice), 3)}; the "
            f"second is called {twice[0] + '.1'!r} here, and so on."
        )
    frame.columns = names
    table.frame = frame


def find_row_names(
    path: object, names: list[str], target: str, values_of: Callable[[str], Any]
) -> list[str]:
    """The columns that hold names of rows: an index that pandas wrote, and first ones
    without a name.

    Any other column without a name is refused. A column that is the target is neither.

    Parameters
    ----------
    path : path-like or str
        Where the table was read from, for the error.
    names : list of str
        The columns of the table, in order.
    target : str
        The column to predict.
    values_of : callable
        `values_of(name)`: the pandas Series of a column. Only those are asked for whose
        values decide.

    Returns
    -------
    list of str
        Those of `names` that hold names of rows.

    Raises
    ------
    ValueError
        For a column without a name that holds no names of rows.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"Unnamed: 0": ["oak", "elm"], "height": [12.5, 9.1]})
    >>> find_row_names("trees.csv", list(table), "height", table.__getitem__)
    ['Unnamed: 0']
    """
    found: list[str] = []
    leading = True  # no column with a name has come yet
    for place, name in enumerate(names, start=1):
        if name == target:
            leading = False
        elif re.fullmatch(r"__index_level_\d+__|__null_dask_index__", name):
            found.append(name)
        elif not is_unnamed(name):
            leading = False
        elif leading and are_row_names(values_of(name)):
            found.append(name)
        else:
            raise ValueError(
                f"{path}: column {place} has no name (it is read as {name!r}). Give "
                f"it a name if it is a feature, or "
                "delete it. Only a first column may lack one, with names of rows: "
                "whole numbers or texts, another one "
                "in each row."
            )
    return found


def split_row_names(table: RawTable, target: str) -> None:
    """Take the names of rows out of the columns of a table: its index, first columns
    without a name, and an index that was written as a column.
    """
    frame = table.frame
    # pandas may have written the target as an index
    if target not in frame.columns and target in frame.index.names:
        frame = frame.reset_index(level=target)
    numbered = frame.index.nlevels == 1 and np.array_equal(
        frame.index, np.arange(len(frame))
    )
    if not numbered:
        if table.row_names is None:
            table.row_names = frame.index.to_numpy()
        frame = frame.reset_index(drop=True)
    columns = find_row_names(table.name, list(frame.columns), target, frame.__getitem__)
    if columns:
        table.row_names = frame[columns[0]].to_numpy()
        frame = frame.drop(columns=columns)
    table.frame = frame
    if table.row_names is not None:
        first = ", ".join(map(str, table.row_names[:3]))
        table.notes.append(
            f"Its rows have names ({first}, ...). These are no feature and were left out."
        )


# ---------------------------------------------------------------- tables of numbers


def _floats_of_features(frame: Any, path: str | os.PathLike, target: str) -> Any:
    """The features of a table as float64; raise for what would have to be guessed."""
    data = frame.drop(columns=target)
    if data.shape[1] < 2:
        raise ValueError(
            f"{path} has {data.shape[1]} column(s) beside the target {target!r}; "
            "to select there must be at least two."
        )
    text = [name for name in data if data[name].dtype.kind not in "biuf"]
    if text:
        raise ValueError(
            f"{path} has columns that are not numbers: {quote_names(text)}. "
            "Drop them, or code them as numbers; fsel_book.report does so, a column of "
            "zeros and ones for each text."
        )
    missing = [name for name in frame if frame[name].isna().any()]
    if missing:
        raise ValueError(
            f"{path} has missing values in {quote_names(missing)}. "
            "Fill them in, or drop those rows or columns; fsel_book.report fills them."
        )
    data = data.astype("float64")
    infinite = [name for name in data if np.isinf(data[name]).any()]
    if infinite:
        raise ValueError(
            f"{path} has infinite values in {quote_names(infinite)}. Replace them by "
            f"finite numbers."
        )
    return data


def load_table(path: str | os.PathLike, target: str) -> Bunch:
    """Read a table of numbers and split off the column to predict.

    Parameters
    ----------
    path : str or path-like
        A file in any of the forms that `read_table` of the module `fsel_book.tables`
        reads. A first column without a name that holds whole numbers or texts, another
        one in each row, holds the names of the rows, as `DataFrame.to_csv` and R's
        ``write.csv`` write them; so do the index of a Parquet file that pandas wrote,
        and the first column of a CSV file whose header is one name short. Names of rows
        are no feature.
    target : str
        Name of the column to predict, numbers or text; it may be in the index of a
        Parquet file. Every other column with a name is a feature.

    Returns
    -------
    sklearn.utils.Bunch
        ``data``, a pandas DataFrame of float64 of shape (n_samples, n_features);
        ``target``, a pandas Series of shape (n_samples,); ``feature_names``, an array
        of shape (n_features,); ``row_names``, an array of shape (n_samples,), or None
        if the rows have no names; ``frame``, a pandas DataFrame with the features and
        the target as they were read: integers are integers there, where ``data`` rounds
        those beyond 2**53; ``notes``, a list of sentences on what was not taken as it
        stood.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file cannot be read as a table, has no column `target` or fewer than two
        others, has one without a name that does not hold names of rows, holds features
        that are not numbers, missing or infinite values, or a target with one value
        only. `fsel_book.report` takes texts and gaps, too.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "flowers.csv"
    >>> _ = path.write_text("length,width,kind\\n1.4,0.2,a\\n4.7,1.4,b\\n")
    >>> load_table(path, target="kind").feature_names
    array(['length', 'width'], dtype=object)
    """
    table = read_table(path)
    table.name = str(path)
    split_row_names(table, target)
    frame = table.frame
    if target not in frame.columns:
        raise ValueError(no_such_column(str(path), target, frame))
    if not len(frame):
        raise ValueError(f"{path} has no rows, only a line of names.")
    frame = with_numbers(frame, table.notes)
    data = _floats_of_features(frame, path, target)
    y = frame[target]
    if y.nunique() < 2:
        raise ValueError(
            f"{path} has fewer than two different values in the target {target!r}: "
            f"nothing to predict."
        )
    if table.row_names is not None:
        data = data.set_axis(table.row_names, axis=0)
        frame = frame.set_axis(table.row_names, axis=0)
        y = frame[target]
    return Bunch(
        data=data,
        target=y,
        feature_names=np.asarray(data.columns, dtype=object),
        row_names=table.row_names,
        frame=frame,
        notes=table.notes,
    )


def _name_features_in_rows(table: RawTable, target: str, transpose: bool) -> None:
    """Give a first column of texts without a name one, where features stand in rows: two
    genes may have one name, and then they are no names of rows.
    """
    frame = table.frame
    if (
        not frame.shape[1]
        or target in frame.columns
        or not is_unnamed(frame.columns[0])
    ):
        return
    first = frame.iloc[:, 0]
    if are_row_names(first) or kind_of(first) != "text":
        return
    if transpose or target in set(first.dropna().map(str)):
        table.frame = frame.set_axis(["name", *frame.columns[1:]], axis=1)


def open_table(
    data: Any,
    target: str,
    *,
    drop: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    dates: Literal["refuse", "parts"] = "refuse",
    transpose: bool = False,
) -> ArrangedTable:
    """Read a table, and decide over every column of it.

    Parameters
    ----------
    data : path, DataFrame, LazyFrame, Table of pyarrow, AnnData or matrix
        What `read_table` reads or `as_table` takes.
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
    transpose : bool
        The features stand in rows: turn the table first.

    Returns
    -------
    ArrangedTable
        With `X`, the columns that may be chosen, and `y`.

    Raises
    ------
    FileNotFoundError, ImportError, TypeError
        As `read_table` and `as_table` do.
    ValueError
        If the file is damaged. A `TableError` names everything that stands in the way.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "trees.csv"
    >>> _ = path.write_text("height;bark;kind\\n12,5;rough;oak\\n;smooth;elm\\n")
    >>> open_table(path, "kind").X
       height    bark
    0    12.5   rough
    1     NaN  smooth
    """
    table = as_table(data)
    _name_features_in_rows(table, target, transpose)
    if transpose:
        split_row_names(table, "")
        table.frame, table.row_names = turned(table.frame, table.row_names, table.name)
        table.notes.append("It was turned: its rows are the columns here.")
        _name_columns(table)
    split_row_names(table, target)
    return arrange(table, target, drop=drop, keep=keep, dates=dates)
