"""Tables of all kinds through the report, whole: as people have them, and as they are
published.
"""

import gzip
import html
import importlib.util
import json
import pathlib
import re
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pytest
from cases import mixed_table, swept
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine

from fsel_book import report
from fsel_book.comparison import METHODS, OURS


@dataclass
class Expected:
    """What the report of a table has to find.

    Attributes
    ----------
    target : str
    metric : str
    n_rows, n_columns : int
        That are left to choose from.
    never : tuple of str
        Columns that are no feature.
    says : tuple of str
        Parts of what the page says.
    n_warnings : int
    finds : tuple of str
        Columns of which one must be chosen.
    rows : str or None
        The name of the first row.
    few_folds : bool
        Whether five folds tell what all of them do.
    options : dict
    """

    target: str
    metric: str
    n_rows: int
    n_columns: int
    never: tuple = ()
    says: tuple = ()
    n_warnings: int = 0
    finds: tuple = ()
    rows: str | None = None
    few_folds: bool = True
    options: dict = field(default_factory=dict)


TABLES = {}


def table(*arguments, **named):
    """Declare that a function writes a table for which this is expected."""

    def declare(write):
        TABLES[write.__name__] = write, Expected(*arguments, **named)
        return write

    return declare


def sample(n, d, seed=0):
    """Measurements, whole-numbered and fractional, and a score that the first two make."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(d)]).round(4)
    score = 2 * X[:, 0] - 1.5 * X[:, 1] + 0.5 * rng.standard_normal(n)
    return frame, score, rng


def yes_or_no(score):
    return np.where(score > 0, "yes", "no")


def csv(frame, folder, name="table.csv", **form):
    frame.to_csv(folder / name, index=form.pop("index", False), **form)
    return folder / name


# ---------------------------------------------------------------- made


@table("y", "balanced accuracy", 90, 6, finds=("x0", "x1"))
def units_far_apart(folder):
    frame, score, _ = sample(90, 6)
    frame *= 10.0 ** np.arange(-6, 12, 3)
    return csv(frame.assign(y=yes_or_no(score)), folder)


@table("type", "balanced accuracy", 40, 600, rows="patient 1")
def many_genes_and_few_patients(folder):
    frame, _, rng = sample(40, 600)
    kind = np.arange(40) % 2
    frame[frame.columns[:20]] += 1.5 * kind[:, None]
    frame["type"] = np.array(["tumour", "normal"])[kind]
    frame.index = [f"patient {i + 1}" for i in range(40)]
    return csv(frame, folder, "genes.csv.gz", index=True)


@table(
    "type",
    "balanced accuracy",
    36,
    300,
    options={"transpose": True},
    rows="s0",
    says=("It was turned",),
)
def genes_in_rows(folder):
    frame, _, rng = sample(36, 300)
    kind = np.arange(36) % 2
    frame[frame.columns[:20]] += 1.5 * kind[:, None]
    other = frame.T.reset_index()
    other.columns = ["gene", *(f"s{i}" for i in range(36))]
    last = pd.DataFrame([["type", *np.array(["a", "b"])[kind]]], columns=other.columns)
    return csv(pd.concat([other.astype(object), last]), folder, "genes.txt", sep="\t")


@table("y", "R²", 100, 9, finds=("colour_red", "x0"))
def one_hot_columns(folder):
    frame, score, rng = sample(100, 4)
    colour = pd.Series(rng.choice(["red", "blue", "green", "grey", "white"], 100))
    dummies = pd.get_dummies(colour, prefix="colour", dtype=int)
    frame = pd.concat([frame, dummies], axis=1)
    frame["y"] = score + 4 * (colour == "red")
    frame.to_parquet(folder / "table.parquet")
    return folder / "table.parquet"


@table(
    "edible",
    "balanced accuracy",
    120,
    5,
    says=("are categories", "parted by tabs"),
    finds=("odour",),
)
def categories_alone(folder):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            name: rng.choice(list("abcdef")[: 2 + j], 120)
            for j, name in enumerate(["cap", "odour", "gill", "ring", "habitat"])
        }
    )
    told = rng.random(120) < 0.9
    frame["edible"] = np.where((frame["odour"] == "a") == told, "yes", "no")
    return csv(frame, folder, "mushrooms.tsv", sep="\t")


@table(
    "y",
    "balanced accuracy",
    80,
    5,
    says=("values are missing in 3 of 5 columns", "More than half of 'x2' is missing"),
    n_warnings=1,
    finds=("x0", "x1"),
)
def gaps_of_all_marks(folder):
    frame, score, rng = sample(80, 5)
    frame = frame.astype(object)
    frame.loc[rng.random(80) < 0.2, "x0"] = "?"
    frame.loc[rng.random(80) < 0.7, "x2"] = "NA"
    frame.loc[rng.random(80) < 0.1, "x3"] = "-"
    return csv(frame.assign(y=yes_or_no(score)), folder)


@table(
    "kind", "balanced accuracy", 120, 7, says=("is a category",), finds=("bark", "x1")
)
def a_spreadsheet(folder):
    mixed_table().to_excel(folder / "trees.xlsx", index=False)
    return folder / "trees.xlsx"


@table(
    "stars",
    "balanced accuracy",
    60,
    3,
    never=("review",),
    says=("'review' holds another text in nearly every row",),
)
def words(folder):
    frame, score, rng = sample(60, 3)
    review = [f"I came {i} times, and liked it; more or less." for i in range(60)]
    stars = np.digitize(score, [-1, 1])
    return csv(frame.assign(review=review, stars=stars), folder)


@table(
    "sold",
    "R²",
    90,
    4,
    never=("day",),
    says=("those of year, month, weekday and hour",),
    options={"dates": "parts"},
    finds=("day month",),
)
def dates(folder):
    frame, _, rng = sample(90, 2)
    day = pd.date_range("2024-01-01", periods=90, freq="4D")
    frame["day"] = day.strftime("%Y-%m-%d")
    frame["sold"] = (day.month + 2 * rng.standard_normal(90)).round(2)
    frame.to_json(folder / "sales.json", orient="records")
    return folder / "sales.json"


@table("y", "R²", 60, 3, rows="Ann 1", finds=("x0", "x1"))
def names_of_rows_as_r_writes_them(folder):
    frame, score, _ = sample(60, 3)
    frame = frame.assign(y=score.round(3))
    frame.index = [f"Ann {i + 1}" for i in range(60)]
    lines = frame.to_csv(sep=" ", quoting=2, index=True).splitlines()
    lines[0] = lines[0].removeprefix('"" ')
    (folder / "table.txt").write_text("\n".join(lines))
    return folder / "table.txt"


@table(
    "y",
    "balanced accuracy",
    70,
    4,
    never=("customer_id", "row"),
    says=("only tell the rows apart",),
)
def numbers_of_customers(folder):
    frame, score, rng = sample(70, 4)
    frame.insert(0, "customer_id", rng.permutation(10**6)[:70])
    frame.insert(0, "row", np.arange(1, 71))
    return csv(frame.assign(y=yes_or_no(score)), folder)


@table(
    "y",
    "balanced accuracy",
    70,
    4,
    never=("lab", "unit", "spare"),
    says=("are the same in all rows", "'spare' is empty"),
)
def constants(folder):
    frame, score, _ = sample(70, 4)
    frame = frame.assign(lab="Ghent", unit=7, spare=np.nan)
    return csv(frame.assign(y=yes_or_no(score)), folder)


@table("y", "balanced accuracy", 80, 12, finds=("x0", "x0 in mm", "x0 again"))
def copies(folder):
    frame, score, _ = sample(80, 4)
    for name in list(frame):
        frame[f"{name} in mm"] = 1000 * frame[name]
        frame[f"{name} again"] = frame[name]
    return csv(frame.assign(y=yes_or_no(score)), folder)


@table(
    "outcome",
    "balanced accuracy",
    100,
    5,
    n_warnings=1,
    says=("'discharge_code' alone predicts", "drop='discharge_code'"),
    finds=("discharge_code",),
)
def a_leak(folder):
    frame, score, _ = sample(100, 4)
    outcome = np.where(score > 0, "died", "left")
    code = np.where(score > 0, 20, 10) + np.arange(100) % 5
    return csv(frame.assign(discharge_code=code, outcome=outcome), folder)


@table(
    "y",
    "balanced accuracy",
    100,
    6,
    n_warnings=1,
    says=("'result', 'verdict' predict the target nearly without error, each alone",),
    finds=("result", "verdict"),
)
def two_leaks(folder):
    frame, score, _ = sample(100, 4)
    y = (score > 0).astype(int)
    return csv(frame.assign(result=y, verdict=yes_or_no(score), y=y), folder)


@table("fraud", "average precision", 300, 5, says=("3.0% of the rows",), finds=("x0",))
def a_rare_class(folder):
    frame, _, rng = sample(300, 5)
    fraud = np.arange(300) % 34 == 0
    frame["x0"] += 3 * fraud
    return csv(frame.assign(fraud=fraud.astype(int)), folder)


@table("species", "balanced accuracy", 150, 6, says=("is taken for 6 classes",))
def six_classes(folder):
    frame, _, rng = sample(150, 6)
    which = np.arange(150) % 6
    frame[["x0", "x1"]] += 3 * np.array([np.cos(which), np.sin(which)]).T
    frame["species"] = np.array(["ash", "elm", "fir", "oak", "yew", "box"])[which]
    frame.to_feather(folder / "trees.feather")
    return folder / "trees.feather"


@table(
    "Größe",
    "R²",
    90,
    4,
    says=("decimal mark is a comma", "parted by semicolons", "Windows-1252"),
    finds=("x0", "x1"),
)
def a_german_spreadsheet(folder):
    frame, score, _ = sample(90, 4)
    frame["Größe"] = score.round(3)
    return csv(frame, folder, sep=";", decimal=",", encoding="cp1252")


@table(
    "revenue",
    "R²",
    80,
    3,
    says=("amounts of money", "commas between thousands", "per cent"),
)
def amounts_of_money(folder):
    frame, score, rng = sample(80, 2)
    frame["cost"] = [f"${value:,.2f}" for value in 1e4 * rng.random(80)]
    frame["x0"] = [f"{value:.1f}%" for value in frame["x0"]]
    frame["revenue"] = [f"{value:,.0f}" for value in 1e5 + 1e4 * score]
    return csv(frame.drop(columns="x1").assign(x1=frame["x1"]), folder)


@table("visits", "D²", 150, 5, says=("taken for counts",), finds=("x0", "x1"))
def counts_of_visits(folder):
    frame, score, rng = sample(150, 5)
    frame["visits"] = rng.poisson(np.exp(1 + 0.4 * score))
    return csv(frame, folder)


@table("y", "balanced accuracy", 4000, 5, finds=("x0", "x1"))
def a_tall_table(folder):
    frame, score, _ = sample(4000, 5)
    frame.assign(y=yes_or_no(score)).to_parquet(folder / "tall.parquet")
    return folder / "tall.parquet"


@table("y", "R²", 50, 2, says=("Both columns predict 'y'",))
def three_columns(folder):
    frame, score, _ = sample(50, 2)
    return csv(frame.assign(y=score.round(3)), folder)


@table("y", "balanced accuracy", 24, 5)
def few_rows(folder):
    frame, score, _ = sample(24, 5)
    return csv(frame.assign(y=yes_or_no(score - np.median(score))), folder)


@table("sick", "balanced accuracy", 100, 6, finds=("fever",))
def flags(folder):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((100, 6)) < 0.5)
    frame.columns = ["fever", "cough", "smoker", "old", "rash", "pain"]
    frame["smoker"] = np.where(frame["smoker"], "Y", "N")
    told = rng.random(100) < 0.85
    frame["sick"] = frame["fever"] == told
    return csv(frame, folder)


@table("class", "balanced accuracy", 120, 6, says=("is a category",), finds=("bark",))
def a_table_of_weka(folder):
    frame = mixed_table().rename(columns={"kind": "class"}).drop(columns="x5")
    lines = ["@relation trees"]
    for name in frame:
        values = sorted(set(frame[name].dropna()))
        form = "numeric" if name[0] == "x" else "{" + ",".join(values) + "}"
        lines.append(f"@attribute {name} {form}")
    lines.append("@data")
    for row in frame.itertuples(index=False):
        lines.append(",".join("?" if pd.isna(value) else str(value) for value in row))
    (folder / "trees.arff").write_text("\n".join(lines))
    return folder / "trees.arff"


@table("label", "balanced accuracy", 100, 8, finds=("feature 1", "feature 2"))
def pairs_of_libsvm(folder):
    from sklearn.datasets import dump_svmlight_file

    frame, score, rng = sample(100, 8)
    A = np.where(rng.random((100, 8)) < 0.3, 0, frame.to_numpy())
    label = np.where(2 * A[:, 0] - 1.5 * A[:, 1] > 0, 1, -1)
    dump_svmlight_file(A, label, str(folder / "train.svm"), zero_based=False)
    return folder / "train.svm"


@table("label", "balanced accuracy", 100, 8, finds=("feature 1", "feature 2"))
def an_archive_of_numpy(folder):
    frame, score, _ = sample(100, 8)
    np.savez(folder / "data.npz", X=frame.to_numpy(), y=(score > 0).astype(int))
    return folder / "data.npz"


@table("wage", "R²", 90, 4, finds=("x0", "x1"))
def a_table_of_stata(folder):
    frame, score, _ = sample(90, 4)
    path = folder / "wages.dta"
    frame.assign(wage=score).to_stata(path, write_index=False)
    return path


@table("y", "balanced accuracy", 80, 4, finds=("x0", "x1"))
def a_record_in_each_line(folder):
    frame, score, _ = sample(80, 4)
    path = folder / "table.jsonl"
    frame.assign(y=score > 0).to_json(path, orient="records", lines=True)
    return path


@table("y", "balanced accuracy", 80, 4, says=("parted by tabs",), finds=("x0", "x1"))
def text_of_a_spreadsheet_in_utf_16(folder):
    frame, score, _ = sample(80, 4)
    form = {"sep": "\t", "encoding": "utf-16"}
    return csv(frame.assign(y=yes_or_no(score)), folder, "table.txt", **form)


@table("y", "R²", 80, 10, says=("Nothing in these columns predicts 'y'",))
def noise(folder):
    frame, _, rng = sample(80, 10)
    return csv(frame.assign(y=rng.standard_normal(80)), folder)


@table(
    "dose",
    "R²",
    120,
    6,
    never=("patient",),
    says=("'patient' says which rows belong together",),
    options={"units": "patient"},
)
def several_rows_of_a_patient(folder):
    frame, score, rng = sample(120, 6)
    patient = [f"p{i % 24}" for i in range(120)]
    return csv(frame.assign(patient=patient, dose=score.round(3)), folder)


@table("=1+1", "balanced accuracy", 80, 4, finds=("<b>x0</b>", "x1\nx1"))
def hostile_names(folder):
    frame, score, _ = sample(80, 4)
    frame.columns = ["<b>x0</b>", "x1\nx1", "$(id) {} %s", '\'; DROP TABLE "x"--']
    frame["=1+1"] = np.where(score > 0, "<script>alert(1)</script>", "&amp;")
    return csv(frame, folder, "<i>a table & more.csv")


@table("y", "balanced accuracy", 80, 4, never=("big id",), finds=("x0", "x1"))
def a_lazy_frame(folder):
    pl = pytest.importorskip("polars")
    frame, score, _ = sample(80, 4)
    frame["big id"] = 2**62 + np.arange(80)
    return pl.from_pandas(frame.assign(y=yes_or_no(score))).lazy()


@table(
    "y",
    "balanced accuracy",
    78,
    4,
    says=("2 rows of a class with fewer than 5 rows were left out: 'may be'", "# or %"),
)
def remarks_and_a_class_of_two(folder):
    frame, score, _ = sample(80, 4)
    y = pd.Series(yes_or_no(score))
    y[[3, 40]] = "may be"
    path = csv(frame.assign(y=y), folder)
    path.write_text("# measured in May\n# by Ann\n" + path.read_text())
    return path


# ---------------------------------------------------------------- published


def published(package, *parts):
    """The path of a file that comes with a package; the test is skipped without it."""
    found = importlib.util.find_spec(package)
    if found is None:
        pytest.skip(f"its data come with the package {package}: pip install {package}")
    return pathlib.Path(found.origin).parent.joinpath(*parts)


@table(
    "species",
    "balanced accuracy",
    344,
    7,
    says=("are categories", "values are missing in 4 of 7 columns"),
    finds=("flipper_length_mm", "bill_length_mm"),
)
def penguins(folder):
    return published("palmerpenguins", "data", "penguins.csv")


@table(
    "Body Mass (g)",
    "R²",
    342,
    14,
    never=("Individual ID", "Region", "Stage", "Date Egg"),
    says=("2 of 344 rows have no value", "'Region', 'Stage' are the same"),
    options={"dates": "parts", "drop": ["Comments"]},
    finds=("Flipper Length (mm)",),
)
def penguins_as_they_were_written_down(folder):
    return published("palmerpenguins", "data", "penguins-raw.csv")


@table(
    "Miles_per_Gallon",
    "R²",
    398,
    8,
    never=("Name", "Year"),
    says=("'Name' holds another text", "6 values are missing in 'Horsepower'"),
    options={"dates": "parts"},
    finds=("Weight_in_lbs",),
)
def cars(folder):
    return published("vega_datasets", "_data", "cars.json")


@table("yield", "R²", 120, 3, says=("'variety', 'site' are categories",))
def barley(folder):
    return published("vega_datasets", "_data", "barley.json")


@table(
    "type",
    "balanced accuracy",
    63,
    5,
    never=("first_name", "last_name", "address", "neighborhood", "death_date"),
    says=("hold another text in nearly every row", "One value is missing in 'age'"),
    options={"drop": "death_date"},
)
def deaths_in_riots(folder):
    return published("vega_datasets", "_data", "la-riots.csv")


@table("murder", "R²", 51, 6, never=("state",), finds=("violent", "single"))
def crimes_of_states(folder):
    return published("statsmodels", "datasets", "statecrime", "statecrime.csv")


@table(
    "vote",
    "balanced accuracy",
    944,
    9,
    says=("quotes around its names", "parted by tabs"),
    finds=("PID",),
)
def votes(folder):
    return published("statsmodels", "datasets", "anes96", "anes96.csv")


@table("mdvis", "D²", 300, 9, says=("taken for counts",), finds=("disea", "hlthp"))
def visits_to_doctors(folder):
    path = published("statsmodels", "datasets", "randhie", "randhie.csv")
    return csv(pd.read_csv(path).sample(300, random_state=0), folder, "visits.csv")


@table(
    "BILLS104",
    "D²",
    20,
    6,
    says=("Do not predict 'BILLS104' by any of this",),
    few_folds=False,
)
def bills_of_committees(folder):
    return published("statsmodels", "datasets", "committee", "committee.csv")


@table(
    "invest",
    "R²",
    220,
    4,
    says=("predict it as well", "no other method is better"),
    finds=("firm",),
    few_folds=False,
)
def investments(folder):
    return published("statsmodels", "datasets", "grunfeld", "grunfeld.csv")


@table("column 11", "R²", 442, 10, says=("The first line holds values",))
def diabetes_without_names(folder):
    X, y = load_diabetes(return_X_y=True, scaled=False)
    path = folder / "diabetes.csv.gz"
    with gzip.open(path, "wt") as file:
        np.savetxt(file, np.column_stack([X, y]), fmt="%.6g", delimiter=",")
    return path


@table("target", "balanced accuracy", 178, 13, finds=("flavanoids", "proline"))
def wines(folder):
    return load_wine(as_frame=True).frame


@table("target", "balanced accuracy", 200, 30, says=("10 classes",))
def digits(folder):
    frame = load_digits(as_frame=True).frame.head(200)
    wanted = [name for name in frame if frame[name].nunique() > 1]
    return csv(frame[[*wanted[10:40], "target"]], folder)


@table("diagnosis", "balanced accuracy", 150, 30)
def tumours(folder):
    frame = load_breast_cancer(as_frame=True).frame.sample(150, random_state=0)
    frame = frame.rename(columns={"target": "diagnosis"})
    return csv(frame, folder, index=False)


# ---------------------------------------------------------------- all of them


def test_there_are_thirty_tables_and_five_of_them_are_published():
    assert len(TABLES) >= 30
    names = list(TABLES)
    assert len(names) - names.index("penguins") >= 5


@pytest.mark.parametrize("name", TABLES)
@swept("every_fold", [False], [True])
def test_a_table_goes_through_the_report_whole(every_fold, name, tmp_path, request):
    write, expected = TABLES[name]
    if expected.few_folds and not every_fold:
        request.getfixturevalue("few_folds")
    data = write(tmp_path)
    found = report(data, expected.target, **expected.options)
    assert found.question.metric == expected.metric
    assert found.table.X.shape == (expected.n_rows, expected.n_columns)
    assert not set(expected.never) & set(found.table.X)
    assert len(found.warnings) == expected.n_warnings
    assert set(found.names) <= set(found.table.X) - {expected.target}
    assert not expected.finds or set(expected.finds) & set(found.names)

    out = tmp_path / "out"
    written = {path.name: path for path in found.save(out)}
    page = written["report.html"].read_text(encoding="utf-8")
    words = html.unescape(re.sub(r"<[^>]*>", "", page))
    for said in (*found.verdict, *found.warnings, *found.read, *expected.says):
        assert said in words
    assert not re.search(r"<(script|link|img|b|i)\b(?! style)", page)
    facts = json.loads(written["report.json"].read_text(encoding="utf-8"))
    assert [one["name"] for one in facts["columns"]] == found.names
    methods = {one["method"] for one in facts["scores"]}
    assert methods == {*METHODS, "all columns"}
    score = next(
        one["mean"]
        for one in facts["scores"]
        if (one["method"], one["n_columns"]) == (OURS, len(found.names))
    )
    noise = "Nothing in these columns" in found.verdict[0]
    assert noise or f"{score:.3f}" in found.verdict[1]

    chosen = pd.read_csv(
        written["selected.csv"], index_col=0 if expected.rows is not None else None
    )
    sources = {found.table.came_from.get(one, one) for one in found.names}
    assert set(chosen) == {*sources, expected.target}
    assert expected.rows is None or chosen.index[0] == expected.rows
    for column in chosen:
        as_read = found.table.original[column]
        if as_read.dtype.kind in "iu":
            assert chosen[column].dtype.kind in "iu"
            assert chosen[column].tolist() == as_read.tolist()
