"""The loaders against files and downloads that are damaged or wrong."""

import hashlib
import json
import os
import random
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from cases import (
    SMALL_SPARSE,
    csr_parts,
    needs_data,
    save_small_files,
)
from download_cases import mat_file, promoter_file, r_file, small_server
from sklearn.datasets import load_svmlight_file
from sklearn.utils import Bunch

from fsel_book import loaders
from fsel_book.downloads import Origin, RemoteFile, checksum, convert_proteins
from fsel_book.loaders import load_dataset, load_techtc
from fsel_book.readers import LabelledData

# ---------------------------------------------------------------- files: small
# stand-ins for the known sets


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A data folder with three small sets that `load_dataset` knows for the time of one
    test.
    """
    sets = {
        "dense": loaders.SetFacts((4, 3), {"a": 3, "b": 1}, 66, "small and dense"),
        "sparse": loaders.SetFacts((4, 4), {1: 2, 2: 2}, 15, "small and sparse"),
        "words": loaders.SetFacts((3,), {-1: 2, 1: 1}, 12, "three sequences"),
        "merged": loaders.SetFacts(
            (2, 3),
            {-1: 1, 1: 1},
            15,
            "the first half of a download",
            loaders.Download(7, 4, 0),
        ),
        "second": loaders.SetFacts(
            (2, 3),
            {-1: 1, 1: 1},
            51,
            "the second half of a download",
            loaders.Download(7, 4, 2),
        ),
    }
    monkeypatch.setattr(loaders, "DATA_SETS", sets)
    monkeypatch.setenv("FSEL_BOOK_DATA", str(tmp_path))
    save_small_files(tmp_path)
    return tmp_path


@pytest.fixture
def server(monkeypatch):
    """A web server on this computer."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("FSEL_BOOK_MIRROR", raising=False)
    with small_server() as server:
        yield server


def test_small_sets_load_whole(shelf):
    dense, sparse, words = map(load_dataset, ("dense", "sparse", "words"))
    assert (
        dense.data.dtype == np.float64
        and dense.data.tolist() == np.arange(12).reshape(4, 3).tolist()
    )
    assert dense.target.tolist() == list("aaba") and dense.feature_names.tolist() == [
        "u",
        "v",
        "w",
    ]
    assert dense.is_train.tolist() == [True, True, False, False]
    assert (
        isinstance(sparse.data, scipy.sparse.csr_array)
        and sparse.data.dtype == np.float64
    )
    assert (sparse.data != SMALL_SPARSE).nnz == 0 and sparse.feature_names is None
    assert words.data == ["ACGT", "xYZ", "MNOPQ"] and words.target.tolist() == [
        -1,
        1,
        -1,
    ]
    assert all(isinstance(sequence, str) for sequence in words.data)
    assert all(
        "small" in b.DESCR or "sequences" in b.DESCR for b in (dense, sparse, words)
    )


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (dict(shape=[4, 5]), r"shape \(4, 5\), but sparse has \(4, 4\)"),
        (dict(data=[2, 1, 3, 4, 6]), "add up to 16, but those of sparse to 15"),
        (dict(y=[1, 1, 1, 2]), "labels {1: 3, 2: 1}, but sparse has {1: 2, 2: 2}"),
        (dict(indptr=SMALL_SPARSE.indptr[:-1]), "4 row limits for 4 rows"),
    ],
)
def test_a_sparse_file_that_is_another_set(shelf, changes, says):
    np.savez(shelf / "sparse.npz", **csr_parts(**changes))
    with pytest.raises(ValueError, match=rf"^{shelf}/sparse\.npz: .*{says}"):
        load_dataset("sparse")


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        (dict(X=np.arange(8).reshape(4, 2)), r"shape \(4, 2\), but dense has \(4, 3\)"),
        (
            dict(X=np.arange(1, 13).reshape(4, 3)),
            "add up to 78, but those of dense to 66",
        ),
        (dict(y=list("abba")), "labels"),
    ],
)
def test_a_dense_file_that_is_another_set(shelf, arrays, says):
    good = dict(X=np.arange(12).reshape(4, 3), y=np.array(list("aaba")))
    np.savez(
        shelf / "dense.npz",
        **(good | {key: np.asarray(value) for key, value in arrays.items()}),
    )
    with pytest.raises(ValueError, match=rf"^{shelf}/dense\.npz: .*{says}"):
        load_dataset("dense")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", r": shape \(0,\), but words has \(3,\)"),
        ("sequence,label\nACGT,-1\nxYZ,1\n", r": shape \(2,\), but words has \(3,\)"),
        ("sequence,label\nACGT,-1\nxYZ,1\nMNOPQ,1\n", ": labels {-1: 1, 1: 2}"),
        (
            "sequence,label\nACGT,-1\nxYZ,1\nMNOP,-1\n",
            ": the entries add up to 11, but those of words to 12",
        ),
        ("sequence,label\nACGT,2\n", ", line 2: 'ACGT,2'. Expected letters"),
    ],
)
def test_a_sequence_file_that_is_another_set(shelf, text, says):
    (shelf / "words.csv").write_text(text)
    with pytest.raises(ValueError, match=rf"^{shelf}/words\.csv{says}"):
        load_dataset("words")


def test_a_sequence_file_cut_anywhere_is_refused(shelf):
    path = shelf / "words.csv"
    whole = path.read_bytes()
    # without its very last byte, the line end, the file is still whole
    for keep in range(len(whole) - 1):
        path.write_bytes(whole[:keep])
        with pytest.raises(ValueError, match=r"words\.csv(, line \d+)?: "):
            load_dataset("words")


# ---------------------------------------------------------------- where a set is looked
# for


def test_unknown_names():
    for name in ("arcene", "", None, 3):
        with pytest.raises(
            ValueError,
            match=f"^name={name!r}: expected one of alon, arcene_train, .*vowel",
        ):
            load_dataset(name)


def no_network(**_):
    raise OSError("no route to the network")


def test_a_set_that_is_nowhere(shelf, monkeypatch):
    monkeypatch.setattr("sklearn.datasets.fetch_openml", no_network)
    (shelf / "dense.npz").rename(shelf / "elsewhere.npz")
    with pytest.raises(
        FileNotFoundError,
        match=rf"no data for 'dense': there is no file {shelf}/dense\.npz, and "
        r"it cannot be fetched\. Put the file .* set FSEL_BOOK_DATA",
    ):
        load_dataset("dense")
    with pytest.raises(
        FileNotFoundError,
        match=rf"no file {shelf}/merged\.npz, and fetching OpenML data set 7 failed "
        r"\(no route to the network\)\. Set FSEL_BOOK_DATA",
    ):
        load_dataset("merged")
    monkeypatch.delenv("FSEL_BOOK_DATA")
    # the folder that one happens to work in is not the data folder
    monkeypatch.chdir(shelf)
    for name in ("dense", "words", "merged"):
        with pytest.raises(
            FileNotFoundError, match=f"no data for '{name}': FSEL_BOOK_DATA is not set"
        ):
            load_dataset(name)


DOWNLOAD = np.array([[1.0, 2, 3], [4, 5, 0], [6, 7, 8], [9, 10, 11]])


def serve(monkeypatch, data=DOWNLOAD, target=("1", "2", "2", "1")):
    """Stand in for OpenML; returns the list of calls."""
    calls = []

    def fetch_openml(**kwargs):
        calls.append(kwargs)
        return Bunch(
            data=data,
            target=np.array(target, dtype=object),
            feature_names=["p", "q", "r"],
        )

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
    return calls


@pytest.mark.parametrize(
    "form", [np.asarray, np.int16, scipy.sparse.csr_array, scipy.sparse.csr_matrix]
)
def test_openml_parts_of_a_merged_table(shelf, monkeypatch, form):
    calls = serve(monkeypatch, form(DOWNLOAD))
    merged = load_dataset("merged")
    second = load_dataset("second")
    assert [call["data_id"] for call in calls] == [7, 7] and not any(
        call["as_frame"] for call in calls
    )
    for got, rows, labels in (
        (merged, DOWNLOAD[:2], [-1, 1]),
        (second, DOWNLOAD[2:], [1, -1]),
    ):
        X = got.data.toarray() if scipy.sparse.issparse(got.data) else got.data
        assert (
            X.tolist() == rows.tolist()
            and X.dtype == np.float64
            and got.target.tolist() == labels
        )
        assert scipy.sparse.issparse(got.data) == scipy.sparse.issparse(form(DOWNLOAD))
        assert got.feature_names.tolist() == ["p", "q", "r"]
        assert isinstance(got.data, np.ndarray | scipy.sparse.csr_array)


def test_a_file_comes_before_openml(shelf, monkeypatch):
    monkeypatch.setattr("sklearn.datasets.fetch_openml", no_network)
    np.savez(shelf / "merged.npz", X=DOWNLOAD[:2], y=np.array([1, -1]))
    assert load_dataset("merged").target.tolist() == [1, -1]


@pytest.mark.parametrize(
    ("data", "target", "says"),
    [
        (
            DOWNLOAD[:2],
            "12",
            r"shape \(2, 3\) with 2 labels. Expected \(4, 3\) to take merged from",
        ),
        (DOWNLOAD[:, :2], "1221", r"shape \(4, 2\)"),
        (DOWNLOAD.T, "122", r"shape \(3, 4\)"),
        (DOWNLOAD, "122", r"with 3 labels"),
        (DOWNLOAD, "1122", "labels"),
        (DOWNLOAD, "1233", "labels"),
        (DOWNLOAD[::-1], "1221", "add up to"),
        (
            DOWNLOAD + [[0, np.nan, 0], [0] * 3, [0] * 3, [0] * 3],
            "1221",
            r"data\[0, 1\] is nan",
        ),
    ],
)
def test_openml_downloads_that_are_something_else(
    shelf, monkeypatch, data, target, says
):
    serve(monkeypatch, data, tuple(target))
    with pytest.raises(ValueError, match=f"OpenML data set 7: .*{says}"):
        load_dataset("merged")


@pytest.mark.parametrize(
    "target",
    [("-1", "1", "1", "-1"), (-1.0, 1.0, 1.0, -1.0), ("no", "yes", "yes", "no")],
)
def test_openml_labels_in_other_dress(shelf, monkeypatch, target):
    serve(monkeypatch, target=target)
    y = load_dataset("merged").target
    assert y.tolist() == [-1, 1] and y.dtype.kind == "i"


# ---------------------------------------------------------------- sets with an origin


WORDS = b"ACGT  -1\nxYZ  1\nMNOPQ  -1\n"


@pytest.fixture
def origin(shelf, monkeypatch, server):
    """The three sequences at an origin, and nowhere else; returns the server."""
    found = convert_proteins(WORDS)
    file = RemoteFile(
        f"{server.address}/words.txt", len(WORDS), hashlib.sha256(WORDS).hexdigest()
    )
    record = Origin((file,), convert_proteins, checksum(found), "none stated")
    monkeypatch.setattr(loaders, "ORIGINS", {"words": record})
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(shelf / "home"))
    (shelf / "words.csv").unlink()
    server.files["/words.txt"] = WORDS
    return server


def test_a_set_is_fetched_once_and_then_read_from_the_cache(origin, shelf, tmp_path):
    first, second = load_dataset("words"), load_dataset("words")
    assert origin.asked == ["/words.txt"]
    for got in (first, second):
        assert got.data == ["ACGT", "xYZ", "MNOPQ"] and got.target.tolist() == [
            -1,
            1,
            -1,
        ]
        assert got.DESCR == "words: three sequences. Licence: none stated."
    assert os.listdir(shelf / "home" / "fsel_book") == ["words.csv"]
    load_dataset("words", data_home=tmp_path / "other")
    assert len(origin.asked) == 2 and (tmp_path / "other/fsel_book/words.csv").exists()


def test_the_folder_comes_before_the_cache(origin, shelf):
    load_dataset("words")
    (shelf / "words.csv").write_text("sequence,label\nAGCT,1\nxYZ,-1\nMNOPQ,-1\n")
    assert load_dataset("words").data[0] == "AGCT" and len(origin.asked) == 1


def test_a_damaged_file_of_the_cache_is_named(origin, shelf):
    load_dataset("words")
    path = shelf / "home" / "fsel_book" / "words.csv"
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(
        ValueError, match=rf"^{path}, line 2: .* Delete it, and it is f"
    ):
        load_dataset("words")
    path.unlink()
    assert len(load_dataset("words").data) == 3 and len(origin.asked) == 2


def test_a_mirror_is_asked_in_place_of_the_origin(origin, monkeypatch):
    record = loaders.ORIGINS["words"]
    (file,) = record.files
    gone = file._replace(address="http://nowhere.invalid/some/path/words.txt")
    monkeypatch.setitem(loaders.ORIGINS, "words", record._replace(files=(gone,)))
    origin.files["/mirror/words.txt"] = WORDS
    monkeypatch.setenv("FSEL_BOOK_MIRROR", f"{origin.address}/mirror/")
    assert len(load_dataset("words").data) == 3
    assert origin.asked == ["/mirror/words.txt"]


def test_a_set_whose_origin_is_gone(origin, shelf):
    origin.files.clear()
    with pytest.raises(
        FileNotFoundError,
        match=rf"^no data for 'words': there is no file {shelf}/words\.csv, and it could "
        rf"not be fetched from {origin.address}/words\.txt: HTTP Error 404: .*no longer "
        r"there.*FSEL_BOOK_MIRROR.*FSEL_BOOK_DATA to a folder that holds words\.csv\.$",
    ):
        load_dataset("words")
    assert origin.asked == ["/words.txt"] and not (shelf / "home").exists()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (WORDS.replace(b"A", b"T"), "SHA-256 .*, expected "),
        (WORDS[:-1], f"{len(WORDS) - 1} bytes, expected {len(WORDS)}"),
        (WORDS + b"\n", f"more than {len(WORDS)} bytes"),
    ],
)
def test_an_origin_that_sends_another_file(origin, shelf, content, says):
    origin.files["/words.txt"] = content
    with pytest.raises(ValueError, match=rf"^{origin.address}/words\.txt: {says}"):
        load_dataset("words")
    assert not (shelf / "home").exists()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (WORDS.replace(b"A", b"T"), "the content has the checksum .*, expected "),
        (b"<html>Log in</html>", "not the file that was there"),
        (b"\xff\xfe", "not the file that was there"),
        (b"", "the content has the checksum "),
    ],
)
def test_an_origin_whose_publisher_packs_anew(
    origin, shelf, monkeypatch, content, says
):
    record = loaders.ORIGINS["words"]
    open_file = RemoteFile(record.files[0].address)
    monkeypatch.setitem(loaders.ORIGINS, "words", record._replace(files=(open_file,)))
    origin.files["/words.txt"] = content
    with pytest.raises(ValueError, match=rf"^{origin.address}/words\.txt: {says}"):
        load_dataset("words")
    assert not (shelf / "home").exists()
    origin.files["/words.txt"] = WORDS.replace(b"  ", b"\t")
    assert load_dataset("words").data == ["ACGT", "xYZ", "MNOPQ"]


def test_a_set_that_is_told_and_not_fetched(tmp_path, monkeypatch):
    monkeypatch.delenv("FSEL_BOOK_DATA", raising=False)
    with pytest.raises(
        FileNotFoundError,
        match=r"'caltech6_hsv': FSEL_BOOK_DATA is not set, and it cannot be fetched\. "
        r".*ask the authors.*FSEL_BOOK_DATA to that folder\.$",
    ):
        load_dataset("caltech6_hsv", data_home=tmp_path)


def test_the_table_of_the_appendix_tells_what_the_records_hold():
    notebook = Path(__file__).parents[1] / "nbs" / "C_loaders.ipynb"
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells]
    (table,) = [text for text in texts if text.startswith("**Where each set comes")]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    told = {name: row for row in rows for name in re.findall("`([a-z0-9_]+)`", row)}
    for name, spec in loaders.DATA_SETS.items():
        assert str(spec.shape[0]) in told[name], name
        if spec.download:
            assert f"openml.org/d/{spec.download.number})" in told[name], name
            continue
        record = loaders.ORIGINS[name]
        for file in record.files:
            assert file.name in told[name] or file.name.endswith(".zip"), name
            assert ("| file |" in told[name]) == (file.sha256 is not None), name
            assert file.sha256 is None or f"| {file.size} |" in told[name], name


# ---------------------------------------------------------------- the real files


def checksum_of(bunch):
    """The checksum of what `load_dataset` returned."""
    keys = ("feature_names", "is_train")
    extra = {key: bunch[key] for key in keys if bunch.get(key) is not None}
    return checksum(LabelledData(bunch.data, bunch.target, extra))


def comma_table(names, columns):
    """A table with commas, as the pages of a book have them."""
    rows = [",".join(names)]
    rows += [",".join(map(repr, row)) for row in zip(*columns, strict=True)]
    return ("\n".join(rows) + "\n").encode()


def upstream(name, here):
    """The files of an origin, in its form, with the content of a set."""
    form = loaders.ORIGINS[name].convert.__name__
    if form in ("convert_counts", "convert_expressions"):
        dense = here.data.toarray() if form == "convert_counts" else here.data
        dense = dense.astype(np.uint8 if form == "convert_counts" else float)
        return [mat_file(dense, here.target[:, None].astype(np.uint8))]
    if form == "convert_r_list":
        return [r_file(name, here.data.astype(float), here.target)]
    if form == "convert_vowels":
        names = ["row.names", "y", *(f"x.{j}" for j in range(1, 11))]
        files = []
        for part in (here.is_train, ~here.is_train):
            X, y = here.data[part], here.target[part]
            columns = [range(1, len(y) + 1), y.tolist(), *X.T.tolist()]
            files.append(comma_table(names, columns))
        return files
    if form == "convert_ozone":
        names = ["ozone", *here.feature_names.tolist()]
        return [comma_table(names, [here.target.tolist(), *here.data.T.tolist()])]
    if form == "convert_promoters":
        return [promoter_file(here.data, here.target)]
    assert form == "convert_proteins"
    pairs = zip(here.data, here.target.tolist(), strict=True)
    return ["".join(f"{x}  {y}\n" for x, y in pairs).encode()]


@needs_data
@pytest.mark.parametrize("name", list(loaders.DATA_SETS))
def test_real_sets_load_as_the_table_says(name):
    spec = loaders.DATA_SETS[name]
    suffix = "csv" if len(spec.shape) == 1 else "npz"
    if not (Path(os.environ["FSEL_BOOK_DATA"]) / f"{name}.{suffix}").exists():
        pytest.skip(f"FSEL_BOOK_DATA holds no {name}.{suffix}")
    got = load_dataset(name)
    shape = got.data.shape if suffix == "npz" else (len(got.data),)
    assert shape == spec.shape and got.target.shape == shape[:1] and name in got.DESCR
    values, counts = np.unique(got.target, return_counts=True)
    if name == "la_ozone":
        assert got.target.max() == 38 and got.feature_names.shape == (9,)
    else:
        assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == spec.labels
    if name in ("dexter_train", "basehock", "pcmac", "relathe"):
        assert (
            isinstance(got.data, scipy.sparse.csr_array)
            and got.data.dtype == np.float64
        )
    elif name in ("prostate", "golub", "alon"):
        assert got.data.dtype == np.float32
    elif suffix == "npz":
        assert got.data.dtype == np.float64
    if name == "vowel":
        assert got.is_train.dtype == bool and (
            got.is_train.sum(),
            (~got.is_train).sum(),
        ) == (48 * 11, 42 * 11)


@needs_data
@pytest.mark.parametrize("name", ["ionosphere", "pcmac"])
def test_a_real_file_cut_at_many_places(name, tmp_path, monkeypatch):
    whole = (Path(os.environ["FSEL_BOOK_DATA"]) / f"{name}.npz").read_bytes()
    monkeypatch.setenv("FSEL_BOOK_DATA", str(tmp_path))
    path = tmp_path / f"{name}.npz"
    cuts = {0, 1, 100, len(whole) // 2, len(whole) - 100, len(whole) - 1} | set(
        random.Random(0).sample(range(len(whole)), 20)
    )
    for keep in cuts:
        path.write_bytes(whole[:keep])
        with pytest.raises(ValueError, match=rf"^{path}: "):
            load_dataset(name)


@needs_data
@pytest.mark.parametrize("name", [n for n, o in loaders.ORIGINS.items() if o.files])
def test_a_real_set_as_its_origin_has_it(name, tmp_path, monkeypatch, server):
    """What upstream would send is made from the set, served, fetched and converted."""
    here = load_dataset(name)
    origin = loaders.ORIGINS[name]
    whole = upstream(name, here)
    files = []
    for file, content in zip(origin.files, whole, strict=True):
        server.files[f"/{file.name}"] = content
        known = file.size is not None
        files.append(
            file._replace(
                size=len(content) if known else None,
                sha256=hashlib.sha256(content).hexdigest() if known else None,
            )
        )
    monkeypatch.setitem(loaders.ORIGINS, name, origin._replace(files=tuple(files)))
    monkeypatch.delenv("FSEL_BOOK_DATA")
    monkeypatch.setenv("FSEL_BOOK_MIRROR", server.address)
    fetched = load_dataset(name, data_home=tmp_path)
    again = load_dataset(name, data_home=tmp_path)
    assert server.asked == [f"/{file.name}" for file in files]
    for got in (fetched, again):
        assert checksum_of(got) == checksum_of(here) == origin.content
        assert type(got.data) is type(here.data)
        assert np.array_equal(got.target, here.target)
        assert getattr(got.data, "dtype", None) == getattr(here.data, "dtype", None)
    (stored,) = (tmp_path / "fsel_book").iterdir()
    assert stored.stem == name


@needs_data
def test_the_set_that_is_not_fetched_has_its_checksum_too():
    name = "caltech6_hsv"
    assert checksum_of(load_dataset(name)) == loaders.ORIGINS[name].content


@needs_data
def test_one_real_part_in_place_of_another(tmp_path, monkeypatch):
    source = Path(os.environ["FSEL_BOOK_DATA"]) / "arcene_valid.npz"
    (tmp_path / "arcene_train.npz").write_bytes(source.read_bytes())
    monkeypatch.setenv("FSEL_BOOK_DATA", str(tmp_path))
    with pytest.raises(
        ValueError,
        match="the entries add up to 71410108, but those of arcene_train to 70726744",
    ):
        load_dataset("arcene_train")


@needs_data
def test_the_real_parts_as_openml_would_merge_them(monkeypatch):
    parts = [load_dataset(name) for name in ("arcene_train", "arcene_valid")]
    data = np.vstack([p.data for p in parts])
    target = np.r_[parts[0].target, parts[1].target]
    monkeypatch.delenv("FSEL_BOOK_DATA")
    # classes "1" and "2"
    calls = serve(monkeypatch, data, tuple(str((t + 3) // 2) for t in target))
    for name, part in zip(("arcene_train", "arcene_valid"), parts, strict=True):
        got = load_dataset(name)
        assert np.array_equal(got.data, part.data) and np.array_equal(
            got.target, part.target
        )
    assert [call["data_id"] for call in calls] == [1458, 1458]
    serve(monkeypatch, data[::-1], tuple(str((t + 3) // 2) for t in target[::-1]))
    with pytest.raises(ValueError, match="OpenML data set 1458"):
        load_dataset("arcene_train")


# ---------------------------------------------------------------- TechTC-300


FEATURES = (
    "# words of the pair\n#\n1 opera\n2 submarine\n3 navy\n4 libretto\n5 ship\n\n"
)
VECTORS = (
    "# pair 1092 789236\n# first\n1 1:3 3:1 4:2\n# second\n-1 2:5 5:2 # a "
    "remark\n# third\n+1\n"
)


@pytest.fixture
def pair(tmp_path):
    folder = tmp_path / "Exp_1092_789236"
    folder.mkdir()
    (folder / "features.idx").write_text(FEATURES)
    (folder / "vectors.dat").write_text(VECTORS)
    return folder


def test_techtc_folder(pair):
    got = load_techtc(str(pair))
    assert isinstance(got.data, scipy.sparse.csr_array) and got.data.dtype == np.float64
    assert got.feature_names.tolist() == ["opera", "submarine", "libretto"]
    assert got.data.toarray().tolist() == [[3, 0, 2], [0, 5, 0], [0, 0, 0]]
    assert got.target.tolist() == [1, -1, 1] and got.target.dtype == np.int64
    assert got.categories == ("1092", "789236") and "Exp_1092_789236" in got.DESCR
    assert load_techtc(pair.rename(pair.parent / "mine")).categories is None


def test_techtc_agrees_with_scikit_learn(tmp_path):
    rng = np.random.RandomState(0)
    counts = scipy.sparse.csr_array(rng.poisson(0.4, (30, 40)))
    y = rng.choice([-1, 1], 30)
    folder = tmp_path / "Exp_1_2"
    folder.mkdir()
    words = [f"word{i}" for i in range(40)]
    (folder / "features.idx").write_text(
        "".join(f"{i + 1}\t{w}\n" for i, w in enumerate(words))
    )
    lines = [
        f"{label} " + " ".join(f"{j + 1}:{counts[i, j]}" for j in counts[[i]].indices)
        for i, label in enumerate(y)
    ]
    (folder / "vectors.dat").write_text("\n".join(lines) + "\n")
    got = load_techtc(folder)
    X, target = load_svmlight_file(
        str(folder / "vectors.dat"), n_features=40, zero_based=False
    )
    assert (
        (got.data != X).nnz == 0
        and np.array_equal(got.target, target)
        and (got.data != counts).nnz == 0
    )


def test_techtc_word_length(pair):
    assert load_techtc(pair, min_word_length=1).data.toarray().tolist() == [
        [3, 0, 1, 2, 0],
        [0, 5, 0, 0, 2],
        [0, 0, 0, 0, 0],
    ]
    assert load_techtc(pair, min_word_length=9).feature_names.tolist() == ["submarine"]
    with pytest.raises(
        ValueError,
        match=r"Exp_1092_789236: 3 documents and 0 words of 10 letters or more",
    ):
        load_techtc(pair, min_word_length=10)
    for bad in (0, 2.5, None):
        with pytest.raises(
            ValueError,
            match=f"^min_word_length={bad!r}: expected an integer of at least 1",
        ):
            load_techtc(pair, min_word_length=bad)


@pytest.mark.parametrize("name", ["features.idx", "vectors.dat"])
def test_techtc_missing_file(pair, name):
    (pair / name).unlink()
    with pytest.raises(
        FileNotFoundError,
        match=rf"{name}: no such file. Expected a folder with vectors",
    ):
        load_techtc(pair)


def test_techtc_cut_inside_a_line(pair):
    path = pair / "vectors.dat"
    for keep in range(1, len(VECTORS) - 1):
        path.write_text(VECTORS[:keep])
        if VECTORS[keep - 1] == "\n":
            continue  # cut between lines: the format cannot tell
        with pytest.raises(
            ValueError,
            match=rf"vectors\.dat, line {VECTORS[:keep].count(chr(10)) + 1}: the file "
            rf"ends",
        ):
            load_techtc(pair)
    path.write_text("# nothing but remarks\n")
    with pytest.raises(ValueError, match="0 documents"):
        load_techtc(pair)
    (pair / "features.idx").write_text(FEATURES[: FEATURES.index("4 lib")])
    path.write_text(VECTORS)
    with pytest.raises(
        ValueError, match=r"vectors\.dat, line 3: word number 4 is not in features\.idx"
    ):
        load_techtc(pair)


def test_techtc_any_byte_is_a_character(pair):
    (pair / "features.idx").write_bytes(
        FEATURES.encode().replace(b"opera", b"op\xe9ra")
    )
    assert load_techtc(pair).feature_names[0] == "opéra"
