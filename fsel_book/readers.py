"""Readers of files: arrays in `.npz` archives, sequences and documents in text files.

Every reader keeps one promise: what it returns is all that the file holds, or there is an
error that names the file, and for text the line. A file that was cut short, or whose
parts do not fit together, is never read in part. Where the book's data sets come from is
told in the appendix on data from files, `fsel_book.loaders`; tables of a person's own are
read by `fsel_book.tables`.
"""

import math
import pathlib
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fsel_book.arrays import Matrix

__all__ = [
    "Document",
    "LabelledData",
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
