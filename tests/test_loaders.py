"""The loaders against files and downloads that are damaged or wrong."""

import os
import random
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from cases import SMALL_SPARSE, csr_parts, needs_data, save_small_files
from sklearn.datasets import load_svmlight_file
from sklearn.utils import Bunch

from fsel_book import loaders
from fsel_book.loaders import load_dataset, load_techtc

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
        r"OpenML does not hold it\. Put the file .* set FSEL_BOOK_DATA",
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


# ---------------------------------------------------------------- the real files


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
