"""The readers against files that are damaged, malformed or ambiguous."""

import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from cases import SMALL_SPARSE, csr_parts, save_small_files

from fsel_book.readers import (
    load_table,
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


# ---------------------------------------------------------------- tables

FLOWERS = pd.DataFrame(
    {"length": [1.4, 4.7, 5.0], "width": [0.2, 1.4, 1.7], "kind": ["a", "b", "b"]}
)


def flowers(tmp_path, header, *first):
    """A CSV file of three flowers, with fields of its own before the measurements."""
    path = tmp_path / "flowers.csv"
    lines = [
        start + line
        for start, line in zip(
            first, ["1.4,0.2,a", "4.7,1.4,b", "5.0,1.7,b"], strict=True
        )
    ]
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


ROW_NAMES = {
    "from 0": (",length,width,kind", "0,", "1,", "2,"),
    "from 1, as R writes them": ('"","length","width","kind"', '"1",', '"2",', '"3",'),
    "with gaps, as after a filter": (",length,width,kind", "7,", "3,", "12,"),
    "with a dot, as after a gap was filled": (
        ",length,width,kind",
        "7.0,",
        "3.0,",
        "12.0,",
    ),
    "texts": (",length,width,kind", "GSM7,", "GSM3,", "GSM12,"),
    "dates": (",length,width,kind", "2024-01-03,", "2024-01-04,", "2024-01-09,"),
    "a blank for a name": ('" ",length,width,kind', "7,", "3,", "12,"),
    "behind the mark of an encoding": ("\ufeff,length,width,kind", "7,", "3,", "12,"),
    "read and written once more": ("Unnamed: 0,length,width,kind", "7,", "3,", "12,"),
    "written twice": (",Unnamed: 0,length,width,kind", "0,7,", "1,3,", "2,12,"),
    "written three times": (
        ",Unnamed: 0.1,Unnamed: 0,length,width,kind",
        "0,0,7,",
        "1,1,3,",
        "2,2,12,",
    ),
    "named by readr": ("...1,length,width,kind", "7,", "3,", "12,"),
    "without a place in the header": ("length,width,kind", "7,", "3,", "12,"),
    "texts without a place in the header": (
        "length,width,kind",
        "oak,",
        "elm,",
        "ash,",
    ),
}


@pytest.mark.parametrize("form", ROW_NAMES)
def test_names_of_rows_are_no_feature(tmp_path, form):
    header, *first = ROW_NAMES[form]
    got = load_table(flowers(tmp_path, header, *first), "kind")
    assert got.feature_names.tolist() == list(got.data.columns) == ["length", "width"]
    assert (
        got.data.to_numpy().tolist() == FLOWERS[["length", "width"]].to_numpy().tolist()
    )
    assert got.target.tolist() == ["a", "b", "b"] and list(got.frame.columns) == list(
        FLOWERS.columns
    )
    said = [start.split(",")[0].strip('"') for start in first]
    assert [str(name) for name in got.row_names] == said


def test_a_table_without_names_of_rows_has_none(tmp_path):
    path = tmp_path / "flowers.csv"
    FLOWERS.to_csv(path, index=False)
    assert load_table(path, "kind").row_names is None


def test_a_column_with_a_name_is_a_feature_whatever_it_holds(tmp_path):
    for name in ("id", "index", "X", "rownames"):
        path = flowers(tmp_path, f"{name},length,width,kind", "7,", "3,", "12,")
        assert load_table(path, "kind").feature_names.tolist() == [
            name,
            "length",
            "width",
        ]


NO_ROW_NAMES = {
    "repeated": (
        ",length,width,kind",
        ["0,", "1,", "0,"],
        r"column 1 has no name \(it is read as 'Unnamed: 0'\)",
    ),
    "fractions": (
        ",length,width,kind",
        ["3.5,", "1.0,", "2.0,"],
        "column 1 has no name",
    ),
    "missing": (",length,width,kind", ["1,", ",", "2,"], "column 1 has no name"),
    "infinite": (",length,width,kind", ["1,", "inf,", "2,"], "column 1 has no name"),
    "later": (
        "size,,length,width,kind",
        ["1,7,", "2,3,", "1,12,"],
        "column 2 has no name .*'Unnamed: 1'.*Give it a name",
    ),
    "second": (
        ",,length,width,kind",
        ["1,7,", "2,7,", "3,12,"],
        "column 2 has no name .*delete it",
    ),
    "two too few": (
        "length,width,kind",
        ["x,7,", "y,3,", "z,12,"],
        "names 3 column.* in its first line, 'length', 'width', 'kind', and has 5",
    ),
    "repeated, one too few": (
        "length,width,kind",
        ["7,", "3,", "7,"],
        "names 3 column.*has 4 fields .*Name every column",
    ),
    "a name short": (
        "width,kind",
        ["", "", ""],
        "names 2 column.* 3 fields .* Name every column",
    ),
}


@pytest.mark.parametrize("form", NO_ROW_NAMES)
def test_other_columns_without_a_name_are_refused(tmp_path, form):
    header, first, says = NO_ROW_NAMES[form]
    path = flowers(tmp_path, header, *first)
    with pytest.raises(ValueError, match=f"^{path}.*{says}"):
        load_table(path, "kind")


def test_a_comma_at_the_end_of_each_line_is_named(tmp_path):
    path = tmp_path / "flowers.csv"
    path.write_text("length,width,kind\n1.4,0.2,a,\n4.7,1.4,b,\n")
    with pytest.raises(ValueError, match="Delete the comma at the end of each line"):
        load_table(path, "kind")


def test_the_target_is_never_taken_for_names_of_rows(tmp_path):
    """A column whose name the user gives is the target, whatever it looks like and
    wherever it stands.
    """
    path = flowers(tmp_path, ",length,width,kind", "7,", "3,", "12,")
    path.write_text(path.read_text().replace(",a", ",1").replace(",b", ",2"))
    got = load_table(path, "Unnamed: 0")
    assert got.target.tolist() == [7, 3, 12] and got.feature_names.tolist() == [
        "length",
        "width",
        "kind",
    ]
    path = tmp_path / "last.csv"
    path.write_text(",length,width,\n7,1.4,0.2,a\n3,4.7,1.4,b\n")
    got = load_table(path, "Unnamed: 3")
    assert got.target.tolist() == ["a", "b"] and got.row_names.tolist() == [7, 3]
    assert got.feature_names.tolist() == ["length", "width"]


@pytest.mark.parametrize(
    "index",
    ["names", "dates", "numbers", "named", "two", "as a column", "without a mark"],
)
def test_the_index_of_a_parquet_file_is_no_feature(tmp_path, index):
    pytest.importorskip("pyarrow")
    frame = FLOWERS.copy()
    path = tmp_path / "flowers.parquet"
    if index == "names":
        frame.index = ["oak", "elm", "ash"]
    elif index == "dates":
        frame.index = pd.to_datetime(["2024-01-03", "2024-01-04", "2024-01-04"])
    elif index == "numbers":
        frame.index = [7, 3, 7]
    elif index == "named":
        frame.index = pd.Index([7, 3, 12], name="id")
    elif index == "two":
        frame.index = pd.MultiIndex.from_tuples([("x", 1), ("x", 2), ("y", 1)])
    elif index == "as a column":
        frame["__index_level_0__"] = [7, 3, 12]
    else:
        frame.insert(0, "Unnamed: 0", [7, 3, 12])
    frame.to_parquet(path)
    got = load_table(path, "kind")
    assert got.feature_names.tolist() == [
        "length",
        "width",
    ] and got.target.tolist() == ["a", "b", "b"]
    assert len(got.row_names) == 3
    assert got.frame.reset_index(drop=True).equals(FLOWERS)


def test_a_target_in_the_index_of_a_parquet_file_is_found(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "flowers.parquet"
    FLOWERS.set_index("kind").to_parquet(path)
    got = load_table(path, "kind")
    assert got.target.tolist() == ["a", "b", "b"] and got.row_names is None
    FLOWERS.assign(plot=[7, 3, 12]).set_index(["plot", "kind"]).to_parquet(path)
    got = load_table(path, "kind")
    assert got.target.tolist() == ["a", "b", "b"] and got.row_names.tolist() == [
        7,
        3,
        12,
    ]
    assert got.feature_names.tolist() == ["length", "width"]


def test_two_columns_of_one_name_are_refused(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = [pyarrow.array([1.0, 2.0]) for _ in range(3)]
    parquet.write_table(
        pyarrow.table(columns, names=["a", "a", "y"]), tmp_path / "twice.parquet"
    )
    with pytest.raises(
        ValueError, match="more than one column named 'a'|cannot be read as a table"
    ):
        load_table(tmp_path / "twice.parquet", "y")


def test_the_frame_of_a_table_holds_the_values_as_read(tmp_path):
    """`data` is float64; beyond 2**53 that rounds, and the frame does not."""
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(
        {
            "count": [1, 2, 3],
            "huge": [2**53 + 1, 2**62 + 1, 3],
            "old": [True, False, True],
        }
    )
    frame["small"] = pd.array([1, 2, 3], dtype="Int16")
    frame["single"] = np.array([0.1, 0.2, 0.3], dtype=np.float32)
    frame["when"] = pd.to_datetime(["2024-01-03", "2024-01-04", "2024-01-09"])
    for path in (tmp_path / "table.csv", tmp_path / "table.parquet"):
        if path.suffix == ".csv":
            frame.to_csv(path, index=False)
        else:
            frame.to_parquet(path)
        got = load_table(path, "when")
        assert got.data.dtypes.eq("float64").all()
        assert (
            got.frame["huge"].tolist() == [2**53 + 1, 2**62 + 1, 3]
            and got.data["huge"][0] == 2.0**53
        )
        assert [
            got.frame[name].dtype.kind for name in ("count", "huge", "old", "small")
        ] == ["i", "i", "b", "i"]
        assert got.target.equals(got.frame["when"])
    assert got.frame.equals(frame)


def test_integers_with_a_missing_value_or_beyond_64_bits_are_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("count,size,kind\n1,2,a\n,3,b\n")
    with pytest.raises(ValueError, match="missing values in 'count'"):
        load_table(path, "kind")
    path.write_text(f"count,size,kind\n{2**64 + 1},2,a\n1,3,b\n")
    with pytest.raises(ValueError, match="not numbers: 'count'"):
        load_table(path, "kind")


def test_columns_named_by_numbers_are_named_by_texts(tmp_path):
    path = tmp_path / "numbers.parquet"
    pytest.importorskip("pyarrow")
    pd.DataFrame(np.arange(12.0).reshape(4, 3)).to_parquet(path)
    found = load_table(path, target="2")
    assert list(found.feature_names) == ["0", "1"] and list(found.target) == [
        2,
        5,
        8,
        11,
    ]


def test_a_table_without_pandas_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    (tmp_path / "table.csv").write_text("a,b,c\n1,2,3\n")
    with pytest.raises(
        ImportError, match=r"load_table needs pandas.*fsel_book\[demo\]"
    ):
        load_table(tmp_path / "table.csv", target="c")
