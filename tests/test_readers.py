"""The readers against files that are damaged, malformed or ambiguous."""

import numpy as np
import pytest
import scipy.sparse
from cases import SMALL_SPARSE, csr_parts, save_small_files

from fsel_book.readers import (
    read_documents,
    read_matrix,
    read_sequences,
    read_words,
)

# ---------------------------------------------------------------- archives of arrays


@pytest.fixture
def shelf(tmp_path):
    """A folder with a dense matrix, a sparse one, and three sequences."""
    save_small_files(tmp_path)
    return tmp_path


def test_whole_files_are_read_whole(shelf):
    dense = read_matrix(shelf / "dense.npz")
    assert dense.X.dtype == np.float64
    assert dense.X.tolist() == np.arange(12).reshape(4, 3).tolist()
    assert dense.y.tolist() == list("aaba")
    assert dense.extra["feature_names"].tolist() == ["u", "v", "w"]
    assert dense.extra["is_train"].tolist() == [True, True, False, False]
    sparse = read_matrix(shelf / "sparse.npz")
    assert isinstance(sparse.X, scipy.sparse.csr_array)
    assert sparse.X.dtype == np.float64 and (sparse.X != SMALL_SPARSE).nnz == 0
    assert sparse.y.tolist() == [1, 2, 1, 2] and sparse.extra == {}
    words = read_sequences(shelf / "words.csv", [-1, 1])
    assert words.X == ["ACGT", "xYZ", "MNOPQ"] and words.y.tolist() == [-1, 1, -1]


def test_line_ends_of_other_systems(shelf):
    (shelf / "words.csv").write_bytes(b"sequence,label\r\nACGT,-1\r\nxYZ,1\r\nMNOPQ,-1")
    assert read_sequences(shelf / "words.csv", [-1, 1]).X == ["ACGT", "xYZ", "MNOPQ"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_stay_as_stored(shelf, dtype):
    np.savez(
        shelf / "dense.npz",
        X=np.arange(12, dtype=dtype).reshape(4, 3),
        y=np.array(list("aaba")),
    )
    assert read_matrix(shelf / "dense.npz").X.dtype == dtype


@pytest.mark.parametrize("name", ["dense", "sparse"])
def test_an_npz_file_cut_anywhere_is_refused(shelf, name):
    path = shelf / f"{name}.npz"
    whole = path.read_bytes()
    for keep in range(len(whole)):
        path.write_bytes(whole[:keep])
        with pytest.raises(ValueError) as caught:
            read_matrix(path)
        assert str(caught.value).startswith(f"{path}: "), keep


@pytest.mark.parametrize("name", ["dense", "sparse"])
def test_an_npz_file_with_a_wrong_byte_is_right_or_refused(shelf, name):
    """A flipped byte may sit where nothing reads it (a date, say); it must never change
    what is read.
    """
    path = shelf / f"{name}.npz"
    good = read_matrix(path)
    whole = bytearray(path.read_bytes())
    refused = 0
    for at in range(0, len(whole), 3):
        bad = whole.copy()
        bad[at] ^= 0x55
        path.write_bytes(bad)
        try:
            got = read_matrix(path)
        except ValueError as error:
            assert str(error).startswith(f"{path}: "), at
            refused += 1
        else:
            assert abs(got.X - good.X).max() == 0 and np.array_equal(got.y, good.y), at
    assert refused > len(whole) / 3 / 3


@pytest.mark.parametrize(
    "content", [b"", b"not a zip", b"PK\x03\x04", b"\x80\x04K\x01."]
)
def test_a_file_that_is_no_archive(shelf, content):
    (shelf / "dense.npz").write_bytes(content)
    with pytest.raises(
        ValueError,
        match=r"dense\.npz: not a whole \.npz file .*Copy or download it again",
    ):
        read_matrix(shelf / "dense.npz")


def test_pickles_are_refused(shelf):
    np.savez(
        shelf / "dense.npz", X=np.array([[1, None]], dtype=object), y=np.array(["a"])
    )
    with pytest.raises(
        ValueError, match=r"dense\.npz: not a whole \.npz file .*allow_pickle"
    ):
        read_matrix(shelf / "dense.npz")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (dict(indptr=SMALL_SPARSE.indptr[[0, 2, 1, 4, 3]]), "do not ascend"),
        (dict(indptr=SMALL_SPARSE.indptr[::-1]), "do not ascend from 0"),
        (dict(indptr=SMALL_SPARSE.indptr[:-1]), "4 row limits for 4 rows"),
        (
            dict(indptr=np.append(SMALL_SPARSE.indptr[:-1], 4)),
            "indptr ends at 4 but there are 5 values",
        ),
        (dict(indptr=np.append(SMALL_SPARSE.indptr[:-1], 6)), "indptr ends at 6"),
        (dict(indptr=SMALL_SPARSE.indptr.astype(float)), "indptr holds float64"),
        (dict(indices=SMALL_SPARSE.indices + 1), r"outside 0\.\.3"),
        (dict(indices=SMALL_SPARSE.indices - 1), r"outside 0\.\.3"),
        (dict(indices=SMALL_SPARSE.indices[:-1]), "4 indices for 5 values"),
        (
            dict(indices=SMALL_SPARSE.indices[[1, 0, 2, 3, 4]]),
            "within a row do not ascend",
        ),
        (dict(indices=[1, 1, 0, 3, 2]), "within a row do not ascend"),
        (dict(indices=SMALL_SPARSE.indices.astype(float)), "indices holds float64"),
        (dict(data=SMALL_SPARSE.data[:-1]), "5 indices for 4 values"),
        (dict(data=[1, 2, np.nan, 4, 5]), r"data\[2\] is nan"),
        (dict(data=SMALL_SPARSE.data.astype(str)), "data holds <U"),
        (dict(shape=[4, 2]), r"outside 0\.\.1"),
        (dict(shape=[3, 4]), "5 row limits for 3 rows"),
        (dict(shape=[4, 4, 1]), "not a pair of sizes"),
        (dict(shape=[-4, 4]), "not a pair of sizes"),
        (dict(y=[1, 2, 1]), r"y has shape \(3,\)"),
        (dict(y=[[1], [2], [1], [2]]), r"y has shape \(4, 1\)"),
        (dict(y=[1.0, np.nan, 1, 2]), r"y\[1\] is nan"),
        (dict(y=None), "lacks y"),
        (dict(indptr=None, shape=None), "lacks indptr, shape"),
    ],
)
def test_a_csr_file_whose_parts_do_not_fit(shelf, changes, says):
    np.savez(shelf / "sparse.npz", **csr_parts(**changes))
    with pytest.raises(ValueError, match=rf"^{shelf}/sparse\.npz: .*{says}"):
        read_matrix(shelf / "sparse.npz")


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        (
            dict(X=[[0, 1, 2], [3, 4, np.nan], [6, 7, 8], [9, 10, 11]]),
            r"X\[1, 2\] is nan",
        ),
        (
            dict(X=[[0, 1, 2], [3, 4, 5], [6, -np.inf, 8], [9, 10, 11]]),
            r"X\[2, 1\] is -inf",
        ),
        (dict(X=np.arange(12).reshape(4, 3).astype(complex)), "X holds complex128"),
        (dict(X=np.arange(12).reshape(4, 3).astype(str)), "X holds <U"),
        (dict(X=np.arange(12)), "X has 1 dimensions"),
        (dict(X=np.arange(9).reshape(3, 3)), r"y has shape \(4,\)"),
        (dict(feature_names=["u", "v"]), r"feature_names has shape \(2,\)"),
        (dict(is_train=[True]), r"is_train has shape \(1,\)"),
    ],
)
def test_a_dense_file_with_wrong_arrays(shelf, arrays, says):
    good = dict(X=np.arange(12).reshape(4, 3), y=np.array(list("aaba")))
    np.savez(
        shelf / "dense.npz",
        **(good | {key: np.asarray(value) for key, value in arrays.items()}),
    )
    with pytest.raises(ValueError, match=rf"^{shelf}/dense\.npz: .*{says}"):
        read_matrix(shelf / "dense.npz")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ACGT,-1\nxYZ,1\nMNOPQ,-1\n", ", line 1: 'ACGT,-1'. Expected the header"),
        ("sequence,label\nACGT,-1\nxYZ\nMNOPQ,-1\n", ", line 3: 'xYZ'"),
        ("sequence,label\nACGT,-1\n\nMNOPQ,-1\n", ", line 3: ''"),
        ("sequence,label\nACGT,-1\nxYZ,1,1\n", ", line 3: 'xYZ,1,1'"),
        (
            "sequence,label\nACGT,2\n",
            ", line 2: 'ACGT,2'. Expected letters, a comma and a label among -1, 1",
        ),
        ("sequence,label\nAC GT,1\n", ", line 2: 'AC GT,1'"),
        ('sequence,label\nACGT,1\n"ACG,1\nACGT,1\n', ", line 3: '\"ACG,1'"),
        ("sequence,label\n" + "A" * 200000 + "\n", ", line 2: 'AAAA"),
        ("sequence,label\nACGT,-1\n,1\n", ", line 3: ',1'"),
    ],
)
def test_a_malformed_sequence_file(shelf, text, says):
    (shelf / "words.csv").write_text(text)
    with pytest.raises(ValueError, match=rf"^{shelf}/words\.csv{says}"):
        read_sequences(shelf / "words.csv", [-1, 1])


# ---------------------------------------------------------------- documents

FEATURES = (
    "# words of the pair\n#\n1 opera\n2 submarine\n3 navy\n4 libretto\n5 ship\n\n"
)
VECTORS = (
    "# pair 1092 789236\n# first\n1 1:3 3:1 4:2\n# second\n-1 2:5 5:2 # a "
    "remark\n# third\n+1\n"
)


def read_pair(folder):
    return read_documents(folder / "vectors.dat", read_words(folder / "features.idx"))


@pytest.fixture
def pair(tmp_path):
    (tmp_path / "features.idx").write_text(FEATURES)
    (tmp_path / "vectors.dat").write_text(VECTORS)
    return tmp_path


def test_documents_are_labels_with_counts_of_words(pair):
    first, second, third = read_pair(pair)
    assert first.label == 1 and first.counts == {1: 3, 3: 1, 4: 2}
    assert second.label == -1 and second.counts == {2: 5, 5: 2}
    assert third.label == 1 and third.counts == {}


@pytest.mark.parametrize(
    ("name", "line", "text", "says"),
    [
        ("vectors.dat", 3, "2 1:3", "label '2'. Expected 1 or -1"),
        ("vectors.dat", 3, "opera 1:3", "label 'opera'"),
        ("vectors.dat", 3, "1 1:3 3", "entry '3'. Expected number:count"),
        ("vectors.dat", 3, "1 1:3 3:", "entry '3:'"),
        ("vectors.dat", 3, "1 1:3 3:x", "entry '3:x'"),
        ("vectors.dat", 3, "1 1:3 3:nan", "entry '3:nan'"),
        ("vectors.dat", 3, "1 1:-3", "entry '1:-3'"),
        ("vectors.dat", 3, "1 1:3 3:1e999", "entry '3:1e999' after number 1"),
        ("vectors.dat", 3, "1 -1:3", "entry '-1:3'"),
        (
            "vectors.dat",
            5,
            "-1 3:1 2:5",
            "entry '2:5' after number 3. Expected ascending",
        ),
        ("vectors.dat", 5, "-1 2:1 2:5", "entry '2:5' after number 2"),
        ("vectors.dat", 5, "-1 0:1", "word number 0 is not in features.idx"),
        ("vectors.dat", 5, "-1 2:5 6:2", "word number 6 is not in features.idx"),
        (
            "features.idx",
            4,
            "submarine",
            "'submarine'. Expected a new positive number and a word",
        ),
        ("features.idx", 4, "2 submarine race", "'2 submarine race'"),
        ("features.idx", 4, "1 submarine", "'1 submarine'"),
        ("features.idx", 4, "0 submarine", "'0 submarine'"),
        ("features.idx", 4, "two submarine", "'two submarine'"),
    ],
)
def test_techtc_malformed_line(pair, name, line, text, says):
    lines = (pair / name).read_text().split("\n")
    lines[line - 1] = text
    (pair / name).write_text("\n".join(lines))
    with pytest.raises(ValueError) as caught:
        read_pair(pair)
    assert str(caught.value).startswith(f"{pair / name}, line {line}: {says}")
