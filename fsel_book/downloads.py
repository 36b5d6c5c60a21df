"""Files of others on the web: fetched whole or not at all, checked, and converted to what
`fsel_book.readers` reads.

An `Origin` says where the files of a data set are, what is known of them, and how they are
converted. `load_origin` fetches them, compares size and checksum, converts them, and
compares a checksum of the content. `store` writes what came of it into a folder, under a
temporary name first, so that a file with the right name is a whole one. Which set has
which origin is told in the appendix on data from files, `fsel_book.loaders`.
"""

import contextlib
import hashlib
import http.client
import io

import os
import pathlib
import secrets
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fsel_book.readers import LabelledData

__all__ = [
    "Origin",
    "RemoteFile",
    "checksum",
    "convert_counts",
    "convert_expressions",
    "convert_ozone",
    "convert_promoters",
    "convert_proteins",
    "convert_r_list",
    "convert_vowels",
    "fetch_file",
    "load_origin",
    "store",
]

# more than any file of this book, and little enough for memory
_MOST_BYTES = 64 * 2**20
# codes of HTTP: a server that answers so may answer otherwise in a second
_PASSING = {408, 425, 429, 500, 502, 503, 504}


class RemoteFile(NamedTuple):
    """A file on the web.

    Attributes
    ----------
    address : str
        Where it is.
    size : int or None
        How many bytes it has; None where its publisher may pack it anew.
    sha256 : str or None
        The checksum of its bytes, in hexadecimal digits; None likewise.
    """

    address: str
    size: int | None = None
    sha256: str | None = None

    @property
    def name(self) -> str:
        """The last part of the address, under which a mirror holds the file."""
        return self.address.rsplit("/", 1)[-1]


class Origin(NamedTuple):
    """Where a data set comes from.

    Attributes
    ----------
    files : tuple of RemoteFile
        The files that hold it; none where it cannot be fetched.
    convert : callable or None
        `convert(*contents)`: the set, from the bytes of each file.
    content : str
        What `checksum` gives for the set.
    licence : str
        What its publisher says about its use, as far as known.
    ask : str
        Where to ask for it, if it cannot be fetched.
    """

    files: tuple[RemoteFile, ...]
    convert: Callable[..., LabelledData] | None
    content: str
    licence: str
    ask: str = ""


# ---------------------------------------------------------------- from the web


def _read_response(response: Any, most: int, deadline: float) -> bytes:
    """The bytes of a response, no more than a little above `most`, by which the caller
    sees that it is another file; raise if it is too slow or ends too early.

    `deadline` is a time of `time.monotonic`.
    """
    parts = []
    received = 0
    # what has arrived, not a full buffer: a server that trickles must meet the deadline
    while part := response.read1(2**16):
        parts.append(part)
        received += len(part)
        if received > most:
            return b"".join(parts)
        if time.monotonic() > deadline:
            raise TimeoutError(f"only {received} bytes arrived in time")
    announced = response.headers.get("Content-Length")
    if announced and announced.isdigit() and received < int(announced):
        raise ConnectionError(f"the answer ends after {received} of {announced} bytes")
    return b"".join(parts)


def _is_passing(error: Exception) -> bool:
    """Whether another try may help."""
    if isinstance(error, urllib.error.HTTPError):
        return error.code in _PASSING
    return isinstance(error, OSError | http.client.HTTPException)


def _address_of(file: RemoteFile) -> str:
    """Where to ask for a file: at its address, or at the mirror that the environment
    names.
    """
    mirror = os.environ.get("FSEL_BOOK_MIRROR")
    return f"{mirror.rstrip('/')}/{file.name}" if mirror else file.address


def fetch_file(
    file: RemoteFile,
    *,
    timeout: float = 30.0,
    patience: float = 300.0,
    n_tries: int = 3,
    pause: float = 0.5,
) -> bytes:
    """The bytes of a file on the web.

    Where the environment variable ``FSEL_BOOK_MIRROR`` holds the address of a folder, the
    file is asked for there, under the last part of its own address.

    Parameters
    ----------
    file : RemoteFile
        Where it is, and what is known of it.
    timeout : float
        Seconds that the server may be silent.
    patience : float
        Seconds that one try may take.
    n_tries : int
        How often to try where another try may help: where there is no connection, the
        answer is late or ends too early, or the server is overloaded.
    pause : float
        Seconds before the second try; each later pause is twice as long.

    Returns
    -------
    bytes
        All of it.

    Raises
    ------
    FileNotFoundError
        If the file could not be had. The message has the address and the remedy.
    ValueError
        If what arrived is not this file, by its size or its checksum, or the address is
        none.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "greeting.txt"
    >>> _ = path.write_text("hello")
    >>> fetch_file(RemoteFile(path.as_uri(), size=5))
    b'hello'
    """
    address = _address_of(file)
    most = _MOST_BYTES if file.size is None else file.size
    for attempt in range(1, n_tries + 1):
        try:
            request = urllib.request.Request(
                address, headers={"User-Agent": "fsel_book"}
            )
            with urllib.request.urlopen(request, timeout=timeout) as response:
                content = _read_response(response, most, time.monotonic() + patience)
            break
        # of an address that urllib cannot read
        except ValueError as error:
            raise ValueError(
                f"{address}: {error}. Expected an address such as "
                f"http://server/folder/{file.name}; does FSEL_BOOK_MIRROR hold one?"
            ) from error
        except (OSError, http.client.HTTPException) as error:
            if isinstance(error, urllib.error.HTTPError):
                error.close()
            if attempt < n_tries and _is_passing(error):
                time.sleep(pause * 2 ** (attempt - 1))
                continue
            gone = isinstance(error, urllib.error.HTTPError) and error.code in (
                404,
                410,
            )
            # some errors have no text, and some quote a line of the answer
            what = " ".join(str(error).split()) or type(error).__name__
            raise FileNotFoundError(
                f"{address}: {what}. "
                + (_GONE.format(file.name) if gone else _NO_ANSWER)
            ) from error
    if len(content) > most:
        raise ValueError(f"{address}: more than {most} bytes arrived. {_REPLACED}")
    if file.size is not None and len(content) != file.size:
        raise ValueError(
            f"{address}: {len(content)} bytes, expected {file.size}. {_REPLACED}"
        )
    found = hashlib.sha256(content).hexdigest()
    if file.sha256 is not None and found != file.sha256:
        raise ValueError(
            f"{address}: SHA-256 {found}, expected {file.sha256}. {_REPLACED}"
        )
    return content


_REPLACED = (
    "Something else answers in its place, such as a page to log in, or the file was "
    "replaced. Nothing was kept. Open the address in a browser, or set FSEL_BOOK_MIRROR "
    "to the address of a folder with the file."
)
_GONE = (
    "The file is no longer there. Look for {} elsewhere, and set FSEL_BOOK_MIRROR to the "
    "address of a folder that holds it."
)
_NO_ANSWER = (
    "Try again with a connection, or set FSEL_BOOK_MIRROR to the address of a folder "
    "with the file that you can reach."
)


def checksum(found: LabelledData) -> str:
    """SHA-256 of what a set holds, however it is stored.

    Numbers count by their value: float32 and float64 with the same values give the same
    checksum. A sparse matrix and a dense one do not.

    Parameters
    ----------
    found : LabelledData
        Samples, labels, and what else there is.

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> import numpy as np
    >>> a = LabelledData(np.eye(2), np.array([1, -1]), {})
    >>> checksum(a) == checksum(a._replace(X=np.eye(2, dtype=np.float32)))
    True
    """
    digest = hashlib.sha256()

    def add(what: str, values: bytes) -> None:
        # name and length first: no two sets run into the same bytes
        digest.update(f"{what} {len(values)}\n".encode())
        digest.update(values)

    X = found.X
    if isinstance(X, list):
        add("sequences", "\n".join(X).encode())
    elif isinstance(X, np.ndarray):
        add(f"dense {X.shape}", np.ascontiguousarray(X, "<f8").tobytes())
    else:
        add(f"sparse {X.shape}", np.asarray(X.data, "<f8").tobytes())
        add("indices", np.asarray(X.indices, "<i8").tobytes())
        add("indptr", np.asarray(X.indptr, "<i8").tobytes())
    for key, array in [("y", found.y), *sorted(found.extra.items())]:
        add(key, "\n".join(map(str, array.tolist())).encode())
    return digest.hexdigest()


def load_origin(origin: Origin) -> LabelledData:
    """Fetch the files of a set, convert them, and check what came of it.

    Parameters
    ----------
    origin : Origin
        Where they are, and how they are converted.

    Returns
    -------
    LabelledData
        The set.

    Raises
    ------
    FileNotFoundError
        If a file could not be had.
    ValueError
        If a file is another one, cannot be converted, or holds another set.
    """
    contents = [fetch_file(file) for file in origin.files]
    addresses = " and ".join(map(_address_of, origin.files))
    assert origin.convert
    try:
        found = origin.convert(*contents)
    # a file that is something else fails in the converter in almost any way
    except Exception as error:
        raise ValueError(
            f"{addresses}: not the file that was there ({error}). {_REPLACED}"
        ) from error
    if checksum(found) != origin.content:
        raise ValueError(
            f"{addresses}: the content has the checksum {checksum(found)}, expected "
            f"{origin.content}. {_REPLACED}"
        )
    return found


def _as_file(found: LabelledData) -> bytes:
    """The file, NAME.csv or NAME.npz, that the readers would read this from."""
    if isinstance(found.X, list):
        lines = ["sequence,label"]
        lines += [f"{x},{y}" for x, y in zip(found.X, found.y.tolist(), strict=True)]
        return ("\n".join(lines) + "\n").encode()
    X = found.X
    arrays = {"y": found.y, **found.extra}
    if isinstance(X, np.ndarray):
        arrays["X"] = X
    else:
        arrays |= {key: getattr(X, key) for key in ("data", "indices", "indptr")}
        arrays["shape"] = np.array(X.shape)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def store(found: LabelledData, path: pathlib.Path) -> None:
    """Write a set into a file for the readers, whole or not at all.

    It is written under another name, which begins with a dot, and renamed at the end. So
    two processes can store the same set at once.

    Parameters
    ----------
    found : LabelledData
        The set.
    path : Path
        Where to; folders that are missing are made.

    Raises
    ------
    OSError
        If it cannot be written: the disk is full, or the folder not yours.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from fsel_book.readers import read_matrix
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.npz"
    >>> store(LabelledData(np.eye(2), np.array([1, -1]), {}), path)
    >>> read_matrix(path).y
    array([ 1, -1])
    """
    content = _as_file(found)
    # in the same folder, so that the renaming is one step of the file system
    temporary = path.with_name(f".{path.stem}-{secrets.token_hex(8)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(content)
        os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if not isinstance(error, OSError):
            raise
        raise OSError(
            error.errno,
            f"{path}: cannot be written ({error.strerror}). Make room, or give another "
            f"folder as data_home or in SCIKIT_LEARN_DATA",
        ) from error


# ---------------------------------------------------------------- converters


def _read_mat(content: bytes) -> tuple[NDArray, NDArray]:
    """The matrix X and the labels Y of a MATLAB file, as scikit-feature writes them."""
    # here, so that `import fsel_book` does not load it
    from scipy.io import loadmat

    arrays = loadmat(io.BytesIO(content), variable_names=["X", "Y"])
    return arrays["X"], arrays["Y"].ravel().astype(np.int64)


def convert_counts(content: bytes) -> LabelledData:
    """Term counts in a MATLAB file of scikit-feature, as a sparse matrix.

    Parameters
    ----------
    content : bytes
        A file with X and Y.

    Returns
    -------
    LabelledData
        A csr_array of int32, and labels.
    """
    X, y = _read_mat(content)
    return LabelledData(csr_array(X.astype(np.int32)), y, {})


def convert_expressions(content: bytes) -> LabelledData:
    """Gene expressions in a MATLAB file of scikit-feature.

    Parameters
    ----------
    content : bytes
        A file with X and Y.

    Returns
    -------
    LabelledData
        A matrix of float32, and labels.
    """
    X, y = _read_mat(content)
    return LabelledData(X.astype(np.float32), y, {})


class _RObject(NamedTuple):
    """A vector of R with its attributes.

    Attributes
    ----------
    values : ndarray or list
        Numbers, or texts and other things of R.
    attributes : dict
        By name, such as dim, names and levels.
    """

    values: Any
    attributes: dict[str, Any]


class _RReader:
    """Reads what R's `save` writes: vectors, lists, factors, and their attributes.

    The format is told in *R Internals*, "Serialization Formats". Each thing begins with
    flags. Their last byte is its kind: 1 a symbol, 2 a pair of a chained list, 9 a text,
    10 and 13 truth values and integers, 14 reals, 16 a vector of texts, 19 a list, 254
    nothing, 255 a symbol met before. The bit 0x200 says that it has attributes, 0x400
    that a pair has a name.

    Functions, environments and other things that hold code are refused.

    Attributes
    ----------
    content : bytes
        The file, unpacked.
    place : int
        Where the next thing to read begins.
    symbols : list of str
        The names met so far, to which later ones refer by number.
    """

    def __init__(self, content: bytes) -> None:
        magic = b"RDX2\nX\n"
        if not content.startswith(magic):
            raise ValueError("no data of R, version 2, in binary form")
        self.content = content
        # three version numbers follow
        self.place = len(magic) + 12
        self.symbols: list[str] = []

    def numbers(self, kind: str, count: int) -> NDArray:
        """The next `count` numbers, of a NumPy dtype `kind`."""
        values = np.frombuffer(self.content, kind, count, self.place)
        self.place += values.nbytes
        return values

    def number(self) -> int:
        """The next integer, of four bytes."""
        return int(self.numbers(">i4", 1)[0])

    def text(self) -> str | None:
        """The next text, after its length; None for a missing one, of length -1."""
        length = self.number()
        if length < 0:
            return None
        start, self.place = self.place, self.place + length
        return self.content[start : self.place].decode("latin-1")

    def pairs(self, flags: int) -> dict[str, Any]:
        """A list of names and things, which R chains: the flags of the next stand
        behind each.
        """
        found = {}
        while flags & 255 == 2:
            if flags & 0x200:
                self.item()  # attributes of the pair, of no use here
            name = self.item() if flags & 0x400 else ""
            found[name] = self.item()
            flags = self.number()
        if flags & 255 != 254:
            raise ValueError("a list of R that does not end")
        return found

    def item(self) -> Any:
        """The next thing, whatever it is."""
        flags = self.number()
        kind = flags & 255
        if kind == 254:
            return None
        if kind == 255:
            # its number stands in the flags, or behind them if it is too large
            return self.symbols[(flags >> 8 or self.number()) - 1]
        if kind == 1:
            self.symbols.append(self.item())
            return self.symbols[-1]
        if kind == 2:
            return self.pairs(flags)
        if kind == 9:
            return self.text()
        count = self.number()
        values: Any
        if kind in (10, 13):
            values = self.numbers(">i4", count)
        elif kind == 14:
            values = self.numbers(">f8", count)
        elif kind in (16, 19):
            values = [self.item() for _ in range(count)]
        else:
            raise ValueError(f"a thing of R of kind {kind}")
        attributes = self.item() if flags & 0x200 else {}
        return _RObject(values, attributes)


def convert_r_list(content: bytes) -> LabelledData:
    """A list of R with a matrix and a factor, as datamicroarray has them.

    Parameters
    ----------
    content : bytes
        A file of R, packed by xz, whose first object is a list of a matrix and a factor.

    Returns
    -------
    LabelledData
        The matrix in float32, and for each row the name of its level.
    """
    # here, since a Python in the browser may lack it
    import lzma

    saved = _RReader(lzma.decompress(content)).item()
    matrix, factor = next(iter(saved.values())).values
    shape = tuple(matrix.attributes["dim"].values)
    # R stores a matrix by columns, and counts levels from 1
    X = matrix.values.reshape(shape, order="F").astype(np.float32, order="C")
    levels = np.array(factor.attributes["levels"].values)
    return LabelledData(X, levels[factor.values - 1], {})


def _read_columns(content: bytes) -> dict[str, NDArray]:
    """The columns of a table of numbers with commas, by the names in its first line."""
    first, *lines = content.decode("ascii").split("\n")
    names = [name.strip().strip('"') for name in first.split(",")]
    rows = [line.split(",") for line in lines if line.strip()]
    if any(len(row) != len(names) for row in rows):
        raise ValueError(f"a line without {len(names)} fields")
    values = np.array(
        [[field.strip().strip('"') for field in row] for row in rows]
    ).astype(np.float64)
    return dict(zip(names, values.T, strict=True))


def convert_vowels(train: bytes, test: bytes) -> LabelledData:
    """The spoken vowels of *The Elements of Statistical Learning*.

    Parameters
    ----------
    train, test : bytes
        Two tables with the class in column ``y`` and ten features, ``x.1`` to ``x.10``.

    Returns
    -------
    LabelledData
        The rows for training, then those for testing; ``is_train`` tells them apart.
    """
    parts = [_read_columns(content) for content in (train, test)]
    names = [f"x.{j}" for j in range(1, 11)]
    X = np.vstack([np.column_stack([part[name] for name in names]) for part in parts])
    y = np.concatenate([part["y"] for part in parts]).astype(np.int64)
    is_train = np.arange(len(y)) < len(parts[0]["y"])
    return LabelledData(X, y, {"is_train": is_train})


def convert_ozone(content: bytes) -> LabelledData:
    """The Los Angeles ozone of *The Elements of Statistical Learning*.

    Parameters
    ----------
    content : bytes
        A table with the response in column ``ozone``.

    Returns
    -------
    LabelledData
        The other columns, with their names, and the response.
    """
    columns = _read_columns(content)
    y = columns.pop("ozone")
    X = np.column_stack(list(columns.values()))
    return LabelledData(X, y, {"feature_names": np.array(list(columns))})


def convert_promoters(content: bytes) -> LabelledData:
    """The promoter gene sequences of UCI.

    Parameters
    ----------
    content : bytes
        A zip archive with ``promoters.data``: in each line the label, ``+`` or ``-``, a
        name, and the sequence in small letters, with commas and blanks between.

    Returns
    -------
    LabelledData
        The sequences in capital letters, and their labels.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        (member,) = [
            info
            for info in archive.infolist()
            if info.filename.rsplit("/", 1)[-1] == "promoters.data"
        ]
        if member.file_size > _MOST_BYTES:
            raise ValueError(f"{member.filename} unpacks to {member.file_size} bytes")
        text = archive.read(member).decode("ascii")
    rows = [line.split(",") for line in text.splitlines() if line.strip()]
    return LabelledData(
        [sequence.strip().upper() for _, _, sequence in rows],
        np.array([label.strip() for label, _, _ in rows]),
        {},
    )


def convert_proteins(content: bytes) -> LabelledData:
    """Proteins, in a family or not.

    Parameters
    ----------
    content : bytes
        Text with a sequence, blanks and the label, 1 or -1, in each line.

    Returns
    -------
    LabelledData
        The sequences and their labels.
    """
    rows = [line.split() for line in content.decode("ascii").splitlines()]
    pairs = [(sequence, int(label)) for sequence, label in filter(None, rows)]
    return LabelledData(
        [sequence for sequence, _ in pairs], np.array([label for _, label in pairs]), {}
    )
