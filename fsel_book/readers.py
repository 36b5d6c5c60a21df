"""Readers of files: arrays in `.npz` archives, sequences and documents in text files, and
tables of a person's own.

Every reader keeps one promise: what it returns is all that the file holds, or there is an
error that names the file, and for text the line. A file that was cut short, or whose
parts do not fit together, is never read in part. Where the book's data sets come from is
told in the appendix on data from files, `fsel_book.loaders`.
"""

import math
import os
import pathlib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils import Bunch

from fsel_book.arrays import Matrix

__all__ = [
    "Document",
    "LabelledData",
    "find_row_names",
    "load_table",
    "read_documents",
    "read_matrix",
    "read_sequences",
    "read_words",
    "require_finite_floats",
]


class LabelledData(NamedTuple):
    """What a reader found: samples, their labels, and what else the file holds.

    Attributes
    ----------
    X : ndarray or csr_array, shape (n_samples, n_features), or list of str
        The samples: rows of a matrix, or sequences of letters.
    y : ndarray, shape (n_samples,)
        The label of each sample.
    extra : dict of ndarray
        Further arrays by name: ``feature_names``, of shape (n_features,), and
        ``is_train``, of shape (n_samples,), where the file holds them.
    """

    X: Matrix | list[str]
    y: NDArray
    extra: dict[str, NDArray]


# ---------------------------------------------------------------- archives of arrays


def require_finite_floats(values: Any, path: object, key: str) -> NDArray:
    """The array as floating point.

    Integers become float64, since products of 16-bit integers would overflow silently;
    float32 and float64 stay as they are.

    Parameters
    ----------
    values : ndarray, any shape
        What was read.
    path : path-like or str
        Where it was read from, for the error.
    key : str
        The name of the array there, for the error.

    Returns
    -------
    ndarray of floating point, shape of `values`

    Raises
    ------
    ValueError
        If the entries are no real numbers, or one of them is not finite; the first such
        entry is named.

    Examples
    --------
    >>> import numpy as np
    >>> require_finite_floats(np.array([1, 2]), "a.npz", "X")
    array([1., 2.])
    >>> require_finite_floats(np.array([1, np.nan]), "a.npz", "X")
    Traceback (most recent call last):
    ValueError: a.npz: X[1] is nan. Expected finite numbers.
    """
    if values.dtype.kind not in "iuf":
        raise ValueError(f"{path}: {key} holds {values.dtype}. Expected real numbers.")
    if values.dtype.kind in "iu":
        values = values.astype(np.float64)
    finite = np.isfinite(values)
    if not finite.all():
        place = np.unravel_index(np.argmin(finite), values.shape)
        raise ValueError(
            f"{path}: {key}[{', '.join(map(str, place))}] is {values[place]}. Expected "
            f"finite numbers."
        )
    return values


def _read_arrays(path: pathlib.Path) -> dict[str, NDArray]:
    """All arrays of an .npz file by name, or one error for whatever is wrong with it.

    An .npz file is a zip archive. In a damaged one either its directory is missing, which
    stands at the end, or the bytes of a member do not match the checksum beside them,
    which Python compares once it has read the whole member. So every array is read at
    once. Pickled objects, which could run code, are refused by NumPy.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {key: archive[key] for key in archive.files}
    # a damaged archive raises almost anything: BadZipFile, zlib.error, EOFError, ...
    except Exception as error:
        raise ValueError(
            f"{path}: not a whole .npz file ({error}). Copy or download it again."
        ) from error


def _require_csr_parts(
    parts: dict[str, NDArray], data: NDArray, path: pathlib.Path
) -> None:
    """Raise unless `data` and the arrays indices, indptr, shape make a CSR matrix.

    SciPy accepts some that do not: column numbers beyond the matrix, and an `indptr` that
    ends before the values do, in which case it drops the rest of them. That columns have
    to ascend within each row also excludes an entry that is stored twice.
    """

    def need(truth: Any, what: str) -> None:
        if not truth:
            raise ValueError(f"{path}: not a CSR matrix, {what}.")

    shape = parts["shape"]
    indptr = parts["indptr"]
    indices = parts["indices"]
    for key in ("shape", "indptr", "indices"):
        need(
            parts[key].dtype.kind in "iu",
            f"{key} holds {parts[key].dtype} where integers are needed",
        )
    need(shape.shape == (2,) and (shape >= 0).all(), "shape is not a pair of sizes")
    need(
        data.ndim == 1 and indices.shape == data.shape,
        f"{indices.size} indices for {data.size} values",
    )
    need(
        indptr.shape == (shape[0] + 1,), f"{indptr.size} row limits for {shape[0]} rows"
    )
    need(
        indptr[0] == 0 and (np.diff(indptr) >= 0).all(),
        "the row limits indptr do not ascend from 0",
    )
    need(
        indptr[-1] == data.size,
        f"indptr ends at {indptr[-1]} but there are {data.size} values",
    )
    need(
        not data.size or (indices.min() >= 0 and indices.max() < shape[1]),
        f"a column number lies outside 0..{shape[1] - 1}",
    )
    rows = np.repeat(np.arange(shape[0]), np.diff(indptr))
    places = rows * int(shape[1]) + indices
    need((np.diff(places) > 0).all(), "the columns within a row do not ascend")


def _csr_from_parts(parts: dict[str, NDArray], path: pathlib.Path) -> csr_array:
    """CSR array from the arrays data, indices, indptr, shape of a file."""
    data = require_finite_floats(parts["data"], path, "data")
    _require_csr_parts(parts, data, path)
    indices = parts["indices"].astype(np.int32)
    indptr = parts["indptr"].astype(np.int32)
    n_rows, n_columns = map(int, parts["shape"])
    return csr_array((data, indices, indptr), shape=(n_rows, n_columns))


def read_matrix(path: pathlib.Path) -> LabelledData:
    """Matrix and labels of an .npz file.

    Parameters
    ----------
    path : Path
        An archive with the array y and either X or the parts of a CSR matrix, data,
        indices, indptr and shape; it may hold feature_names and is_train as well.

    Returns
    -------
    LabelledData
        A dense or sparse matrix of floating point, its labels, and those of the arrays
        ``feature_names`` and ``is_train`` that the file has.

    Raises
    ------
    ValueError
        If the file is damaged, lacks an array, or holds arrays that do not fit together
        or entries that are no finite numbers.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.npz"
    >>> np.savez(path, X=np.eye(2), y=np.array([1, -1]))
    >>> read_matrix(path).y
    array([ 1, -1])
    """
    parts = _read_arrays(path)
    is_dense = "X" in parts
    needed = {"X", "y"} if is_dense else {"data", "indices", "indptr", "shape", "y"}
    if missing := sorted(needed - parts.keys()):
        raise ValueError(
            f"{path}: lacks {', '.join(missing)}. Expected X and y, or y and the "
            f"parts of a CSR matrix."
        )
    X: Matrix
    if is_dense:
        X = require_finite_floats(parts["X"], path, "X")
    else:
        X = _csr_from_parts(parts, path)
    if X.ndim != 2:
        raise ValueError(f"{path}: X has {X.ndim} dimensions. Expected 2.")
    y = parts["y"]
    extra: dict[str, NDArray] = {
        key: parts[key] for key in ("feature_names", "is_train") if key in parts
    }
    lengths = {"y": X.shape[0], "is_train": X.shape[0], "feature_names": X.shape[1]}
    for key, array in [("y", y), *extra.items()]:
        if array.shape != (lengths[key],):
            raise ValueError(
                f"{path}: {key} has shape {array.shape}. Expected ({lengths[key]},), "
                f"X has {X.shape}."
            )
    if y.dtype.kind == "f":
        require_finite_floats(y, path, "y")
    return LabelledData(X, y, extra)


# ---------------------------------------------------------------- sequences


def read_sequences(path: pathlib.Path, labels: Iterable) -> LabelledData:
    """Sequences of letters with their labels.

    A file that was cut inside a line ends in a malformed line. One that was cut between
    two lines cannot be told from a whole one here: it has too few of them.

    Parameters
    ----------
    path : Path
        Text with the header ``sequence,label``, then one sequence of letters, a comma and
        a label in each line.
    labels : iterable
        The labels that there are.

    Returns
    -------
    LabelledData
        The sequences as list of str, and the labels as `labels` has them.

    Raises
    ------
    ValueError
        For the first line of another form, with its number.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.csv"
    >>> _ = path.write_text("sequence,label\\nACGT,+\\nTTGA,-\\n")
    >>> read_sequences(path, ["+", "-"]).X
    ['ACGT', 'TTGA']
    """
    label_of = {str(label): label for label in labels}
    sequences = []
    y = []
    with open(path, encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            fields = line.rstrip("\n").split(",")
            if number == 1:
                good = fields == ["sequence", "label"]
                expected = "the header sequence,label"
            else:
                good = (
                    len(fields) == 2
                    and fields[0].isascii()
                    and fields[0].isalpha()
                    and fields[1] in label_of
                )
                expected = f"letters, a comma and a label among {', '.join(label_of)}"
            if not good:
                raise ValueError(
                    f"{path}, line {number}: {','.join(fields)[:60]!r}. Expected "
                    f"{expected}."
                )
            if number > 1:
                sequences.append(fields[0])
                y.append(label_of[fields[1]])
    return LabelledData(sequences, np.array(y), {})


# ---------------------------------------------------------------- documents, as in
# TechTC-300


class Document(NamedTuple):
    """One document as counts of words.

    Attributes
    ----------
    label : int
        1 or -1.
    counts : dict of float
        How often each word occurs, by the number of the word, in ascending order.
    """

    label: int
    counts: dict[int, float]


def _read_lines(path: pathlib.Path) -> Iterator[tuple[int, str]]:
    """Number and text of each line that is neither empty nor a comment.

    In a file named ``vectors.dat`` what follows a ``#`` is left out, too: there a document
    may have a remark behind its counts. In others a word may hold a ``#``.

    Raises if the last line has no end, since a truncated copy looks like that. Bytes are
    read as Latin-1, in which every byte is a character, so that no byte can stop the
    reading.
    """
    if not path.is_file():
        raise FileNotFoundError(
            f"{path}: no such file. Expected a folder with vectors.dat and "
            f"features.idx."
        )
    text = path.read_text(encoding="latin-1")
    lines = text.split("\n")
    if not text.endswith("\n"):
        raise ValueError(
            f"{path}, line {len(lines)}: the file ends inside a line. Copy it again."
        )
    remarks_inside = path.name == "vectors.dat"
    for number, line in enumerate(lines, start=1):
        if remarks_inside:
            line = line.split("#", 1)[0]
        line = line.strip()
        if line and not line.startswith("#"):
            yield number, line


def read_words(path: pathlib.Path) -> dict[int, str]:
    """Words by their number, in the order of the file.

    Parameters
    ----------
    path : Path
        Text with a number and a word in each line, such as ``17 opera``; empty lines and
        those that begin with ``#`` are left out.

    Returns
    -------
    dict of str
        The word of each number.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        For the first line of another form, or that repeats a number.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "features.idx"
    >>> _ = path.write_text("# words\\n1 opera\\n2 submarine\\n")
    >>> read_words(path)
    {1: 'opera', 2: 'submarine'}
    """
    word_of: dict[int, str] = {}
    for line_number, line in _read_lines(path):
        fields = line.split()
        if (
            len(fields) != 2
            or not re.fullmatch(r"[1-9]\d*", fields[0], re.ASCII)
            or int(fields[0]) in word_of
        ):
            raise ValueError(
                f"{path}, line {line_number}: {line[:60]!r}. Expected a new positive "
                f"number and a word."
            )
        word_of[int(fields[0])] = fields[1]
    return word_of


def _parse_document(line: str, word_of: dict[int, str]) -> Document:
    """The document of one SVM-light line; raise ValueError that says what is wrong."""
    label, *pairs = line.split()
    if label not in ("1", "+1", "-1"):
        raise ValueError(f"label {label!r}. Expected 1 or -1")
    counts: dict[int, float] = {}
    last = 0
    for pair in pairs:
        match = re.fullmatch(r"(\d+):(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)", pair, re.ASCII)
        if not match:
            raise ValueError(f"entry {pair!r}. Expected number:count")
        number = int(match[1])
        count = float(match[2])
        if number not in word_of:
            raise ValueError(f"word number {number} is not in features.idx")
        if number <= last or not math.isfinite(count):
            raise ValueError(
                f"entry {pair!r} after number {last}. Expected ascending numbers and "
                f"finite counts"
            )
        counts[number] = count
        last = number
    return Document(int(label), counts)


def read_documents(path: pathlib.Path, word_of: dict[int, str]) -> list[Document]:
    """Labels and counts of documents.

    scikit-learn's `load_svmlight_file` reads the same form; but its errors do not say
    which line was wrong, and it accepts word numbers that nobody listed.

    Parameters
    ----------
    path : Path
        Text in SVM-light form: in each line a label, 1 or -1, then pairs
        ``number:count`` in ascending order of the number. Empty lines and those that
        begin with ``#`` are left out. In a file named ``vectors.dat``, as those of
        TechTC-300 are, so is a remark behind the counts, from its ``#`` on; in one of
        another name it is an error.
    word_of : dict of str
        The words by number, as `read_words` gives them.

    Returns
    -------
    list of Document

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        For the first malformed line, or one with the number of no word.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "vectors.dat"
    >>> _ = path.write_text("1 1:3\\n-1 1:1 2:5\\n")
    >>> read_documents(path, {1: "opera", 2: "submarine"})[1]
    Document(label=-1, counts={1: 1.0, 2: 5.0})
    """
    documents = []
    for line_number, line in _read_lines(path):
        try:
            documents.append(_parse_document(line, word_of))
        except ValueError as error:
            raise ValueError(f"{path}, line {line_number}: {error}.") from None
    return documents


# ---------------------------------------------------------------- tables


def _read_table(path: pathlib.Path) -> Any:
    """Read a CSV or Parquet file with pandas; every failure says which file."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "load_table needs pandas, and pyarrow for Parquet: the extra "
            "fsel_book[demo]."
        ) from error
    readers = {".csv": pd.read_csv, ".parquet": pd.read_parquet}
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    if path.suffix.lower() not in readers:
        raise ValueError(
            f"{path} is not a table that can be read: the name must end in .csv or "
            f".parquet."
        )
    try:
        return readers[path.suffix.lower()](path)
    except (ValueError, OSError) as error:
        raise ValueError(f"{path} cannot be read as a table: {error}") from error


def _quote_names(names: Iterable, most: int = 8) -> str:
    """The names in quotes, the first `most` of them."""
    names = list(names)
    shown = ", ".join(repr(name) for name in names[:most])
    if len(names) > most:
        shown += f" and {len(names) - most} more"
    return shown


def _is_unnamed(name: str) -> bool:
    """Whether nobody gave this name to a column: it is blank, or made up by pandas or
    readr for one without a name.
    """
    return re.fullmatch(r"\s*|Unnamed: \d+(\.\d+)*|\.\.\.\d+", name) is not None


def _are_row_names(values: Any) -> bool:
    """Whether a Series or Index holds whole numbers or texts, another one in each row:
    else it may be a feature whose name was forgotten.
    """
    if values.isna().any() or not values.is_unique:
        return False
    kind = values.dtype.kind
    if kind == "f":
        return bool((values % 1 == 0).all())
    return kind not in "bc"


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
        elif not _is_unnamed(name):
            leading = False
        elif leading and _are_row_names(values_of(name)):
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


def _require_distinct_columns(table: Any, path: str | os.PathLike) -> None:
    """Raise if two columns have one name."""
    twice = table.columns[table.columns.duplicated()]
    if len(twice):
        raise ValueError(
            f"{path} has more than one column named {_quote_names(twice.unique())}. "
            f"Give each a name of "
            "its own."
        )


def _require_index_of_names(table: Any, path: str | os.PathLike) -> None:
    """Raise unless the index that pandas made for a CSV file holds names of rows.

    pandas makes the first fields of each line an index where the header has fewer names
    than the lines have fields. R's `write.table` writes row names so. The same happens
    where lines end in a comma that the header does not have, and then every value stands
    one column too far to the left; the last column, which is empty, gives it away.
    """
    width = table.index.nlevels + table.shape[1]
    named = f"{table.shape[1]} column(s) in its first line, {_quote_names(table.columns, 3)}"
    short = f"{path} names {named}, and has {width} fields in the other lines"
    if table.iloc[:, -1].isna().all():
        raise ValueError(
            f"{short}, the last one empty. Delete the comma at the end of each line."
        )
    if table.index.nlevels > 1 or not _are_row_names(table.index):
        raise ValueError(
            f"{short}. Only names of rows may lack a name: one column of whole "
            f"numbers or texts, "
            "another one in each row. Name every column in the first line."
        )


def _split_row_names(
    table: Any, path: str | os.PathLike, target: str
) -> tuple[Any, NDArray | None]:
    """The table without row names among its columns, and the row names, or None if it
    has none.
    """
    # pandas may have written the target as an index
    if target not in table.columns and target in table.index.names:
        table = table.reset_index(level=target)
    # by 0, 1, ..., the index of a table whose rows have no names
    numbered = table.index.nlevels == 1 and np.array_equal(
        table.index, np.arange(len(table))
    )
    if pathlib.Path(path).suffix.lower() == ".csv" and not numbered:
        _require_index_of_names(table, path)
    row_names = None if numbered else table.index.to_numpy()
    columns = find_row_names(path, list(table.columns), target, table.__getitem__)
    if columns:
        row_names = table[columns[0]].to_numpy()
        table = table.drop(columns=columns).set_axis(row_names, axis=0)
    return table, row_names


def _floats_of_features(table: Any, path: str | os.PathLike, target: str) -> Any:
    """The features of a table as float64; raise for what would have to be guessed."""
    data = table.drop(columns=target)
    if data.shape[1] < 2:
        raise ValueError(
            f"{path} has {data.shape[1]} column(s) beside the target {target!r}; "
            "to select there must be at least two."
        )
    text = [name for name in data if data[name].dtype.kind not in "biuf"]
    if text:
        raise ValueError(
            f"{path} has columns that are not numbers: {_quote_names(text)}. "
            "Drop them, or code them as numbers."
        )
    missing = [name for name in table if table[name].isna().any()]
    if missing:
        raise ValueError(
            f"{path} has missing values in {_quote_names(missing)}. "
            "Fill them in, or drop those rows or columns."
        )
    data = data.astype("float64")
    infinite = [name for name in data if np.isinf(data[name]).any()]
    if infinite:
        raise ValueError(
            f"{path} has infinite values in {_quote_names(infinite)}. Replace them by "
            f"finite numbers."
        )
    return data


def load_table(path: str | os.PathLike, target: str) -> Bunch:
    """Read a CSV or Parquet table of numbers and split off the column to predict.

    Parameters
    ----------
    path : str or path-like
        A file whose name ends in ``.csv`` or ``.parquet``. The first line of a CSV file
        names its columns. A first column without a name that holds whole numbers or
        texts, another one in each row, holds the names of the rows, as
        `DataFrame.to_csv` and R's ``write.csv`` write them; so do the index of a
        Parquet file that pandas wrote, and the first column of a CSV file whose header
        is one name short. Names of rows are no feature.
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
        those beyond 2**53.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file cannot be read as a table, has no column `target` or fewer than two
        others, has two columns of one name or one without a name that does not hold
        names of rows, holds features that are not numbers, missing or infinite values,
        or a target with one value only.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "flowers.csv"
    >>> _ = path.write_text("length,width,kind\\n1.4,0.2,a\\n4.7,1.4,b\\n")
    >>> load_table(path, target="kind").feature_names
    array(['length', 'width'], dtype=object)
    """
    table = _read_table(pathlib.Path(path)).rename(columns=str)
    _require_distinct_columns(table, path)
    table, row_names = _split_row_names(table, path, target)
    if target not in table.columns:
        raise ValueError(
            f"{path} has no column {target!r}. Its columns are "
            f"{_quote_names(table.columns)}."
        )
    data = _floats_of_features(table, path, target)
    y = table[target]
    if y.nunique() < 2:
        raise ValueError(
            f"{path} has fewer than two different values in the target {target!r}: "
            f"nothing to predict."
        )
    return Bunch(
        data=data,
        target=y,
        feature_names=np.asarray(data.columns, dtype=object),
        row_names=row_names,
        frame=table,
    )
