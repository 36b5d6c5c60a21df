"""Tables of a person's own, in every form in which they come."""

import bz2
import decimal
import gzip
import io
import lzma
import sys
import types
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from cases import trees
from scipy.io import mmwrite
from sklearn.datasets import dump_svmlight_file

from fsel_book import load_table
from fsel_book.tables import as_table, open_table, read_table

# ---------------------------------------------------------------- one form for all


def written(frame, **form):
    return frame.to_csv(index=False, **form)


def with_decimal_comma(frame):
    return written(frame, sep=";", decimal=",")


def with_thousands(frame):
    copy = frame.assign(rings=frame["rings"] * 100)
    copy["rings"] = [f"{value:,}" for value in copy["rings"]]
    return written(copy)


TEXTS = {
    "commas": written,
    "semicolons": lambda frame: written(frame, sep=";"),
    "tabs": lambda frame: written(frame, sep="\t"),
    "bars": lambda frame: written(frame, sep="|"),
    "blanks": lambda frame: frame.to_string(index=False) + "\n",
    "decimal commas": with_decimal_comma,
    "decimal commas between tabs": lambda frame: written(frame, sep="\t", decimal=","),
    "blanks after commas": lambda frame: written(frame).replace(",", ", "),
    "remarks": lambda frame: "# made by hand\n# in May\n" + written(frame),
    "names in a remark": lambda frame: "# " + written(frame, sep="\t"),
    "Windows lines": lambda frame: written(frame, lineterminator="\r\n"),
    "a blank line at the end": lambda frame: written(frame) + "\n\n",
    "quoted fields": lambda frame: written(frame, quoting=2),
    "a comma at the end": lambda frame: written(frame).replace("\n", ",\n"),
    "no line at the end": lambda frame: written(frame).rstrip(),
    "names of rows": lambda frame: frame.to_csv(),
}


@pytest.mark.parametrize("form", TEXTS)
def test_a_text_is_read_in_any_dialect(tmp_path, form):
    frame = trees()
    path = tmp_path / "trees.csv"
    path.write_text(TEXTS[form](frame), encoding="utf-8")
    got = load_table(path, "kind")
    assert list(got.data.columns) == ["height", "rings"]
    assert np.array_equal(got.data.to_numpy(), frame[["height", "rings"]].to_numpy())
    assert got.target.tolist() == frame["kind"].tolist()


ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_text_is_read_in_any_encoding(tmp_path, encoding):
    frame = trees().rename(columns={"height": "Größe [µm]"})
    frame["kind"] = frame["kind"].replace("oak", "Eiche, größer")
    path = tmp_path / "trees.csv"
    path.write_bytes(written(frame).encode(encoding))
    got = load_table(path, "kind")
    assert list(got.data.columns) == ["Größe [µm]", "rings"]
    assert got.target.tolist() == frame["kind"].tolist()
    assert any("Windows-1252" in note for note in got.notes) == (encoding == "cp1252")


def test_lines_may_be_long(tmp_path):
    """Of tens of thousands of genes with long names none is lost."""
    names = [f"ENSG{number:011d}.{number % 9}" for number in range(25_000)]
    rows = np.arange(3 * 25_000).reshape(3, -1)
    path = tmp_path / "genes.csv"
    lines = [",".join(map(str, row)) for row in (names, *rows)]
    path.write_text("\n".join(lines) + "\n")
    table = read_table(path)
    assert [*table.frame.columns] == names
    assert np.array_equal(table.frame.to_numpy(), rows)


def test_letters_that_are_not_utf_8_far_down_are_read(tmp_path):
    frame = pd.concat([trees(2000)] * 20)
    frame.iloc[-1, 2] = "Ölbaum"
    path = tmp_path / "trees.csv"
    path.write_bytes(written(frame).encode("cp1252"))
    assert path.stat().st_size > 2**19
    got = load_table(path, "kind")
    assert got.target.iloc[-1] == "Ölbaum" and "Windows-1252" in got.notes[-1]


def zipped(raw):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("trees.csv", raw)
    return out.getvalue()


PACKED = {
    ".csv.gz": gzip.compress,
    ".csv.bz2": bz2.compress,
    ".csv.xz": lzma.compress,
    ".csv.zip": zipped,
    ".tsv.gz": gzip.compress,
}


@pytest.mark.parametrize("suffix", PACKED)
def test_compressed_text_is_read(tmp_path, suffix):
    frame = trees()
    path = tmp_path / f"trees{suffix}"
    path.write_bytes(PACKED[suffix](written(frame).encode()))
    assert np.array_equal(load_table(path, "kind").data["height"], frame["height"])


def test_numbers_are_read_however_they_are_written(tmp_path):
    frame = trees(30)
    path = tmp_path / "trees.csv"
    path.write_text(with_thousands(frame))
    got = load_table(path, "kind")
    assert got.data["rings"].tolist() == [100.0 * value for value in frame["rings"]]
    assert "'rings' holds numbers with commas between thousands." in got.notes
    for written_as, said in (
        ([f"{value}%" for value in frame["rings"]], "per cent"),
        ([f"${value}" for value in frame["rings"]], "amounts of money"),
        ([decimal.Decimal(int(value)) for value in frame["rings"]], None),
        ([str(value) for value in frame["rings"]], None),
    ):
        table = open_table(frame.assign(rings=written_as, more=frame["height"]), "kind")
        assert table.X["rings"].tolist() == frame["rings"].tolist()
        assert (said is None) == (table.notes == [])
        assert said is None or said in table.notes[0]


@pytest.mark.parametrize("mark", ["?", "NA", "", "n/a", "-", "NULL", "#N/A", "."])
def test_marks_of_gaps_are_gaps(tmp_path, mark):
    frame = trees().astype({"height": object})
    frame.loc[3, "height"] = mark
    path = tmp_path / "trees.csv"
    path.write_text(written(frame))
    table = open_table(path, "kind")
    assert np.isnan(table.X["height"][3]) and table.X["height"].isna().sum() == 1
    assert any("One value is missing in 'height'" in note for note in table.notes)


def test_a_line_of_another_length_is_named(tmp_path):
    lines = written(trees()).splitlines()
    path = tmp_path / "trees.csv"
    for at, line in ((7, "1.5,17"), (11, "1,2,3,4"), (len(lines) - 1, "9.1")):
        broken = [*lines[:at], line, *lines[at + 1 :]]
        path.write_text("\n".join(broken) + "\n")
        with pytest.raises(
            ValueError, match=f"line {at + 1} has {line.count(',') + 1} "
        ):
            read_table(path)


def test_a_file_without_names_gets_some(tmp_path):
    path = tmp_path / "iris.data"
    path.write_text(
        "5.1,3.5,setosa\n4.9,3.0,setosa\n7.0,3.2,virginica\n6.1,2.8,setosa\n"
    )
    table = read_table(path)
    assert list(table.frame.columns) == ["column 1", "column 2", "column 3"]
    assert len(table.frame) == 4 and "not names" in table.notes[0]


def test_wavelengths_are_names(tmp_path):
    waves = [str(w) for w in range(1100, 1120, 2)]
    frame = pd.DataFrame(
        np.random.default_rng(0).random((5, 10)).round(3), columns=waves
    )
    path = tmp_path / "spectra.csv"
    frame.to_csv(path, index=False)
    assert list(read_table(path).frame.columns) == waves


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "it is empty"),
        (b"just one column\nof text\n", "no separator"),
        (b"PAR1 and then nothing", "cannot be read"),
        (b"PK\x03\x04 and then nothing", "cannot be read"),
        (b"\x1f\x8b and then nothing", "cannot be read"),
    ],
)
def test_what_is_no_table_is_refused_by_its_name(tmp_path, content, says):
    path = tmp_path / "table.csv"
    if content.startswith(b"PAR1"):
        path = tmp_path / "table.parquet"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=says) as caught:
        read_table(path)
    assert str(path) in str(caught.value)


def test_an_unknown_form_names_those_that_are_known(tmp_path):
    path = tmp_path / "table.docx"
    path.write_bytes(b"hello")
    with pytest.raises(ValueError, match=r"ends in \.docx.*\.csv.*\.xlsx"):
        read_table(path)
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_table(tmp_path / "nowhere.csv")
    with pytest.raises(ValueError, match="folder"):
        read_table(tmp_path)


def test_an_archive_of_several_files_is_refused(tmp_path):
    path = tmp_path / "two.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", "x,y\n1,2\n")
        archive.writestr("b.csv", "x,y\n1,2\n")
    with pytest.raises(ValueError, match="2 files, 'a.csv', 'b.csv'"):
        read_table(path)


# ---------------------------------------------------------------- other files


def save_arff(frame, path):
    lines = ["@relation trees", "@attribute height numeric", "@attribute rings numeric"]
    lines += ["@attribute kind {elm,oak}", "@data"]
    path.write_text("\n".join(lines) + "\n" + frame.to_csv(index=False, header=False))


FILES = {
    "parquet": lambda frame, path: frame.to_parquet(path),
    "PARQUET": lambda frame, path: frame.to_parquet(path),
    "feather": lambda frame, path: frame.to_feather(path),
    "orc": lambda frame, path: frame.to_orc(path),
    "xlsx": lambda frame, path: frame.to_excel(path, index=False),
    "dta": lambda frame, path: frame.to_stata(path, write_index=False),
    "json": lambda frame, path: frame.to_json(path, orient="records"),
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "arff": save_arff,
}


@pytest.mark.parametrize("suffix", FILES)
def test_files_of_other_programs_are_read(tmp_path, suffix):
    frame = trees()
    path = tmp_path / f"trees.{suffix}"
    try:
        FILES[suffix](frame, path)
    except ImportError as error:
        pytest.skip(str(error))
    got = load_table(path, "kind")
    assert list(got.data.columns) == ["height", "rings"]
    assert np.allclose(got.data.to_numpy(), frame[["height", "rings"]].to_numpy())
    assert got.target.tolist() == frame["kind"].tolist()


def test_a_sheet_below_others_is_found(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "trees.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame().to_excel(book, sheet_name="about", index=False)
        trees().to_excel(book, sheet_name="data", index=False)
    table = read_table(path)
    assert len(table.frame) == 40 and "'data'" in table.notes[0]


def test_pairs_of_a_number_and_a_value_are_read(tmp_path):
    X = sp.random_array((30, 12), density=0.3, rng=0, format="csr")
    y = np.arange(30) % 2
    for name in ("docs.svmlight", "docs.txt", "docs"):
        dump_svmlight_file(X, y, str(tmp_path / name), zero_based=False)
        table = read_table(tmp_path / name)
        assert np.allclose(table.frame.iloc[:, :12], X.toarray(), atol=1e-6)
        assert table.frame["label"].tolist() == y.tolist()


def test_cells_and_genes_are_turned(tmp_path):
    counts = sp.random_array((7, 5), density=0.5, rng=0)  # genes by cells
    mmwrite(tmp_path / "matrix.mtx", counts)
    plain = read_table(tmp_path / "matrix.mtx").frame
    assert plain.shape == (7, 5) and np.allclose(plain, counts.toarray())
    genes = [f"ENS{i}\tgene{i}\tGene Expression" for i in range(7)]
    (tmp_path / "features.tsv").write_text("\n".join(genes) + "\n")
    (tmp_path / "barcodes.tsv").write_text("\n".join("ABCDE") + "\n")
    table = read_table(tmp_path / "matrix.mtx")
    assert list(table.frame.columns) == [f"gene{i}" for i in range(7)]
    assert np.allclose(table.frame, counts.toarray().T)
    assert table.row_names.tolist() == list("ABCDE")


class Annotated:
    """What an AnnData has, as far as anybody here looks."""

    def __init__(self, X, obs):
        self.X, self.obs = X, obs
        self.shape = X.shape
        self.n_vars = X.shape[1]
        self.var_names = pd.Index([f"gene{i}" for i in range(X.shape[1])])
        self.obs_names = obs.index


def test_annotated_data_are_taken(tmp_path):
    X = sp.random_array((30, 6), density=0.5, rng=0, format="csr")
    obs = pd.DataFrame({"kind": ["a", "b"] * 15}, index=[f"cell{i}" for i in range(30)])
    table = open_table(Annotated(X, obs), "kind")
    assert list(table.X.columns) == [f"gene{i}" for i in range(6)]
    assert np.allclose(table.X, X.toarray()) and table.row_names[0] == "cell0"


def test_too_large_a_sparse_matrix_is_refused_before_it_is_written_out():
    X = sp.csr_array((10**7, 10**7))
    obs = types.SimpleNamespace()
    data = types.SimpleNamespace(
        X=X, shape=X.shape, n_vars=1, var_names=[], obs_names=[], obs=obs
    )
    with pytest.raises(ValueError, match="GiB once the zeros are written out"):
        as_table(data)


def test_frames_of_other_packages_are_taken():
    frame = trees()
    pa = pytest.importorskip("pyarrow")
    assert open_table(pa.Table.from_pandas(frame), "kind").X.shape == (40, 2)
    pl = pytest.importorskip("polars")
    for other in (pl.from_pandas(frame), pl.from_pandas(frame).lazy()):
        table = open_table(other, "kind")
        assert (
            table.X.to_numpy().tolist()
            == frame[["height", "rings"]].to_numpy().tolist()
        )
    for nothing in (3, [1, 2], "nowhere.csv", np.zeros(3)):
        with pytest.raises((TypeError, FileNotFoundError)):
            as_table(nothing)


# ---------------------------------------------------------------- names of rows

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


def test_a_comma_at_the_end_of_each_line_is_no_column(tmp_path):
    path = tmp_path / "flowers.csv"
    for header in ("length,width,kind", "length,width,kind,"):
        path.write_text(f"{header}\n1.4,0.2,a,\n4.7,1.4,b,\n")
        got = load_table(path, "kind")
        assert got.data.to_numpy().tolist() == [[1.4, 0.2], [4.7, 1.4]]
        assert got.target.tolist() == ["a", "b"] and got.row_names is None
        assert "left out" in " ".join(got.notes)


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
    with pytest.raises(ImportError, match=r"pandas.*fsel_book\[report\]"):
        load_table(tmp_path / "table.csv", target="c")
