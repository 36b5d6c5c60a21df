"""What becomes of the columns of a table, and what is refused."""

import datetime
import pickle

import numpy as np
import pandas as pd
import pytest
from cases import trees

from fsel_book.table_columns import TableError
from fsel_book.tables import open_table


def test_every_refusal_comes_at_once_with_column_value_and_remedy():
    n = 40
    frame = trees(n)
    frame["when"] = pd.date_range("2024-01-01", periods=n).strftime("%Y-%m-%d")
    frame["weight"] = [str(i / 7) for i in range(n - 1)] + ["12 kg"]
    frame["infinite"] = [1.0] * (n - 1) + [np.inf]
    frame["tags"] = [["a"]] * n
    frame["phase"] = np.exp(1j * np.arange(n))
    frame["both"] = [1, "one"] * (n // 2)
    with pytest.raises(TableError) as caught:
        open_table(frame, "kind")
    said = caught.value.problems
    assert len(said) == 6
    for name, value in (
        ("when", "2024-01-01"),
        ("weight", "'12 kg' in row 40"),
        ("infinite", "row 40"),
        ("tags", "list"),
        ("phase", "complex"),
        ("both", "'one'"),
    ):
        (about,) = [text for text in said if text.startswith(repr(name))]
        assert value in about
    for name in ("when", "weight", "tags", "both"):
        assert any(f"drop='{name}'" in text for text in said)
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.problems == said and str(again) == str(caught.value)
    left = ["when", "weight", "infinite", "tags", "phase", "both"]
    assert list(open_table(frame, "kind", drop=left).X) == ["height", "rings"]
    assert list(open_table(frame, "kind", drop=",".join(left)).X) == ["height", "rings"]


def test_a_date_gives_its_parts_where_asked():
    frame = trees(40)
    frame["when"] = pd.date_range("2024-01-30 12:00", periods=40, freq="D")
    for column in (
        frame["when"],
        frame["when"].astype(str),
        frame["when"].dt.strftime("%d.%m.%Y"),
        frame["when"].dt.date,
        frame["when"].dt.tz_localize("UTC"),
    ):
        table = open_table(frame.assign(when=column), "kind", dates="parts")
        assert list(table.X) == ["height", "rings", "when month", "when weekday"]
        assert table.X["when weekday"].tolist() == frame["when"].dt.day_of_week.tolist()
        assert table.X["when month"].tolist() == frame["when"].dt.month.tolist()


def test_times_are_seconds():
    frame = trees(40).assign(took=pd.to_timedelta(np.arange(40), unit="min"))
    table = open_table(frame, "kind")
    assert table.X["took"].tolist() == [60.0 * i for i in range(40)]


def test_categories_stay_whole_and_a_gap_is_one_of_them():
    frame = trees(40).assign(bark=["rough", "smooth", None, "rough"] * 10)
    frame["sun"] = pd.Categorical(["much", "little"] * 20)
    frame["level"] = pd.Categorical([1, 2, 3, 4] * 10)
    table = open_table(frame, "kind")
    assert table.categories == ["bark", "sun", "level"]
    assert sorted(set(table.X["bark"])) == ["(none)", "rough", "smooth"]


def test_flags_are_numbers():
    frame = trees(40).assign(old=[True, False] * 20, sick=[True, None] * 20)
    table = open_table(frame, "kind")
    assert table.X["old"].tolist() == [1.0, 0.0] * 20
    assert table.X["sick"].isna().sum() == 20 and not table.categories


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("id", range(100, 140), "tells rows apart"),
        (
            "patient_id",
            np.random.default_rng(0).permutation(9999)[:40],
            "tells rows apart",
        ),
        ("X", range(1, 41), "tells rows apart"),
        ("note", [f"a remark of its own, {i}" for i in range(40)], "another text"),
        ("site", ["here"] * 40, "the same"),
        ("zero", [0.0] * 40, "the same"),
        ("blank", [None] * 40, "empty"),
    ],
)
def test_what_tells_nothing_is_left_out_and_said(name, values, reason):
    table = open_table(trees(40).assign(**{name: list(values)}), "kind")
    assert list(table.X) == ["height", "rings"] and reason in table.left_out[name]
    assert any(repr(name) in note and "left out" in note for note in table.notes)


def test_a_number_of_the_row_is_kept_where_asked():
    frame = trees(40).assign(id=range(40))
    assert "id" in open_table(frame, "kind", keep="id").X


def test_rows_without_a_target_are_left_out():
    frame = trees(40)
    frame.loc[[3, 7], "kind"] = None
    table = open_table(frame, "kind")
    assert len(table.X) == len(table.y) == len(table.original) == 38
    assert "2 of 40 rows" in " ".join(table.notes)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (pd.date_range("2024-01-01", periods=40), "holds dates"),
        ([1.0] * 40, "one value only"),
        ([None] * 40, "is empty"),
        ([1.0] * 39 + [np.inf], "infinite in row 40"),
        ([[1]] * 40, "lists"),
    ],
)
def test_a_target_that_cannot_be_predicted_is_refused(values, says):
    with pytest.raises(TableError, match=says):
        open_table(trees(40).assign(y=values), "y")


def test_a_target_that_is_not_there_is_named_with_its_like():
    with pytest.raises(TableError, match="no column 'Kind'.*Did you mean 'kind'"):
        open_table(trees(), "Kind")
    with pytest.raises(TableError, match="drop: .*no column 'heigth'.*'height'"):
        open_table(trees(), "kind", drop="heigth")


def test_features_in_rows_are_turned_where_asked(tmp_path):
    frame = trees(40)
    turned = frame.T
    turned.columns = [f"s{i}" for i in range(40)]
    path = tmp_path / "turned.csv"
    turned.to_csv(path, index_label="feature")
    with pytest.raises(TableError, match="name of a row.*transpose"):
        open_table(path, "kind")
    table = open_table(path, "kind", transpose=True)
    assert np.array_equal(table.X["height"], frame["height"])
    assert table.y.tolist() == frame["kind"].tolist() and table.row_names[1] == "s1"


@pytest.mark.parametrize("name", ["gene", ""])
def test_two_genes_of_one_name_are_turned(tmp_path, name):
    rng = np.random.default_rng(0)
    path = tmp_path / "genes.csv"
    lines = [
        f"{gene}," + ",".join(f"{value:.3f}" for value in rng.random(8))
        for gene in ("BRCA1", "TP53", "TP53")
    ]
    ages = ",".join(map(str, range(30, 46, 2)))
    names = ",".join(f"s{i}" for i in range(8))
    path.write_text("\n".join([f"{name},{names}", *lines, f"age,{ages}"]))
    table = open_table(path, "age", transpose=True)
    assert list(table.X) == ["BRCA1", "TP53", "TP53.1"]
    assert table.row_names.tolist() == [f"s{i}" for i in range(8)]


def test_two_columns_of_one_name_are_told_apart(tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("a,a,kind\n1,4,x\n2,5,y\n3,7,x\n")
    table = open_table(path, "kind")
    assert list(table.X) == ["a", "a.1"] and "'a.1'" in table.notes[0]


HOSTILE = [
    "<script>alert(1)</script>",
    "$(touch /tmp/x)",
    'a"b',
    "a\nb",
    "a;b|c",
    "ü%s{0}",
]


def test_hostile_names_are_names(tmp_path):
    frame = trees(40)
    for name in HOSTILE:
        frame[name] = np.random.default_rng(len(name)).random(40)
    path = tmp_path / "a b;c.csv"
    frame.to_csv(path, index=False)
    table = open_table(path, "kind")
    assert list(table.X) == ["height", "rings", *HOSTILE]


def test_datetime_values_among_gaps_are_dates():
    frame = trees(40).assign(day=[datetime.date(2024, 1, 1), None] * 20)
    with pytest.raises(TableError, match="'day' holds dates"):
        open_table(frame, "kind")
