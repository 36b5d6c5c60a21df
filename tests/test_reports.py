"""The report of a table: what it says is true of the table, also where nothing is there."""

import contextlib
import json
import re
import subprocess
import sys
import warnings
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from cases import mixed_table
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import (
    RepeatedKFold,
    RepeatedStratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fsel_book import TableSelector, comparison, report, reports
from fsel_book.__main__ import main
from fsel_book.comparison import METHODS, OURS, ComparedMethods
from fsel_book.progress import LateBar
from fsel_book.report_page import page_of
from fsel_book.table_columns import TableError


def measured(loader, rows=None):
    frame = loader(as_frame=True).frame
    if rows is not None:
        frame = frame.sample(rows, random_state=0).reset_index(drop=True)
    return frame


@cache
def of_some_rows(loader):
    """The report of 140 rows."""
    return report(measured(loader, 140), "target")


@pytest.fixture(scope="module")
def of_cancer():
    return report(measured(load_breast_cancer), "target")


# ---------------------------------------------------------------- what it finds


def test_what_the_columns_explain_is_what_regression_explains(of_cancer):
    frame = measured(load_breast_cancer)
    Z = frame.drop(columns="target")
    Z = (Z - Z.mean()) / Z.std(ddof=0)
    C = Z[of_cancer.names]
    left = Z - LinearRegression().fit(C, Z).predict(C)
    share = 1 - float((left.to_numpy() ** 2).sum()) / float((Z.to_numpy() ** 2).sum())
    assert of_cancer.explained[OURS] == pytest.approx(share, abs=1e-9)
    plain = of_cancer.selector.certificate_.plain
    assert plain.explained.share == pytest.approx(share, abs=1e-9)


def test_what_a_column_stands_for_is_what_it_is_correlated_with(of_cancer):
    R = measured(load_breast_cancer).drop(columns="target").corr().abs()
    others = [name for name in R if name not in of_cancer.names]
    nearest = R.loc[of_cancer.names, others].idxmax()
    for one in of_cancer.chosen:
        assert one.nearest_of == int((nearest == one.name).sum())
        by_size = R.loc[one.name, others].sort_values(ascending=False)
        for (name, value), (other, expected) in zip(
            one.stands_for, by_size.items(), strict=False
        ):
            assert value == pytest.approx(expected, abs=1e-9)
            assert name == other or expected == pytest.approx(R.loc[one.name, name])


def test_the_fewest_columns_within_a_standard_error_are_chosen(of_cancer):
    found = of_cancer.comparison
    means = {r: found.mean(OURS, r) for r in found.sizes}
    best = max(means, key=means.get)
    limit = means[best] - found.error(OURS, best)
    assert len(of_cancer.chosen) == min(r for r in means if means[r] >= limit)
    assert f"{means[best]:.3f}" in of_cancer.why_so_many


@pytest.mark.parametrize("loader", [load_breast_cancer, load_diabetes, load_iris])
def test_the_verdict_has_the_scores(loader):
    found = of_some_rows(loader)
    text = " ".join(found.verdict)
    every = found.comparison.mean("all columns", found.n_columns)
    ours = found.comparison.mean(OURS, len(found.chosen))
    assert f"{every:.3f}" in text and f"{ours:.3f}" in text
    assert f"{found.explained[OURS]:.0%}" in text


@pytest.mark.parametrize("loader", [load_breast_cancer, load_diabetes, load_iris])
def test_no_score_stands_without_its_error(loader):
    found = of_some_rows(loader)
    said = [*found.verdict, found.why_so_many]
    text = " ".join(said).replace("by chance it would be 0.500", "")
    text = text.replace("by chance it would be 0.333", "")
    scores = list(re.finditer(r"(?<!± )\b\d\.\d{3}\b", text))
    assert len(scores) >= 4
    assert all(re.match(r" ± \d\.\d{3}", text[one.end() :]) for one in scores), text


@pytest.mark.parametrize(
    ("p_value", "says"),
    [
        (0.001, "Of 999 shuffles of 'y' among the rows none seems as much related"),
        (0.002, "Of 999 shuffles of 'y' among the rows one seems as much related"),
        (0.025, "Of 999 shuffles of 'y' among the rows 24 seem as much related"),
    ],
)
def test_a_p_value_is_said_in_shuffles(p_value, says, monkeypatch):
    monkeypatch.setattr(comparison, "p_value_of_relation", lambda *_: p_value)
    found = report(measured(load_iris).rename(columns={"target": "y"}), "y")
    assert says in found.verdict[0] and "p-value" not in page_of(found)
    assert found.to_dict()["shuffles"] in found.verdict[0]


def test_noise_is_said_in_shuffles():
    found = report_of_noise(0, "classes")
    (count,) = re.findall(
        r"Of 999 shuffles of 'y' .* rows (\d+) seem", found.verdict[0]
    )
    assert (int(count) + 1) / 1000 == pytest.approx(found.comparison.p_value)


def of_sizes(of_ours, of_all, *, picked=True):
    """The verdict on columns of which so many have these scores in five folds."""
    found = report(measured(load_diabetes, 60), "target", n_features_to_select=2)
    rest = dict.fromkeys(METHODS)
    scores = {(m, r): np.zeros(5) + 1e-3 for m in rest for r in (1, 2)}
    scores |= {(OURS, r): np.array(one) for r, one in zip((1, 2), of_ours)}
    scores["all columns", 10] = np.array(of_all)
    found.comparison = ComparedMethods(
        found.question, [1, 2], 10, scores, 0.25, 0.001, n_folds=5
    )
    found.is_number_picked = picked
    return reports.verdict_of(found)[1]


def test_what_only_picking_the_number_made_better_is_not_called_better():
    """One column is better than two in each fold but the first, where it fails. All five
    folds pick two, which are better than all columns; those beside the first pick one.
    """
    one = [0.0, 0.64, 0.64, 0.64, 0.64]
    two = [0.62] * 5
    fixed = of_sizes([one, two], [0.55] * 5, picked=False)
    assert "better than all of them, by 0.070 ± 0.000" in fixed
    picked = of_sizes([one, two], [0.55] * 5)
    assert "better than all" not in picked and "0.620 ± 0.000" in picked
    assert "where the rows that judge have no part in picking the number" in picked


def test_a_number_that_was_asked_for_was_not_picked():
    frame = measured(load_iris)
    asked, free = (
        report(frame, "target", n_features_to_select=2),
        report(frame, "target"),
    )
    assert "picking the number" not in asked.verdict[1]
    assert "picked anew" not in asked.why_so_many and "picked anew" in free.why_so_many


def test_one_column_has_one_score():
    """Where it is the one chosen in each fold, what it has alone is what one column has."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((90, 6)), columns=list("abcdef"))
    frame["y"] = frame["c"] + 0.7 * rng.standard_normal(90)
    frame.loc[::9, "c"] = np.nan
    found = report(frame, "y", n_features_to_select=1)
    (one,) = found.chosen
    assert one.name == "c" and one.times_chosen == found.n_folds == 15
    assert one.alone == pytest.approx(found.comparison.mean(OURS, 1))
    assert one.alone_error == pytest.approx(found.comparison.error(OURS, 1))


def test_units_are_not_parted_where_a_column_is_judged_alone():
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(40), 5)
    frame = pd.DataFrame(rng.standard_normal((40, 4))[patient], columns=list("abcd"))
    frame["patient"], frame["y"] = patient, rng.standard_normal(40)[patient]
    frame["y"] += frame["b"]
    found = report(frame, "y", units="patient", n_features_to_select=1)
    (one,) = found.chosen
    assert one.name == "b" and one.times_chosen == found.n_folds
    assert one.alone == pytest.approx(found.comparison.mean(OURS, 1))


def test_how_often_a_column_is_chosen_again_is_counted(of_cancer):
    r = len(of_cancer.chosen)
    frame = measured(load_breast_cancer)
    X, y = frame.drop(columns="target"), frame["target"].to_numpy()
    counts = dict.fromkeys(X, 0)
    for train, _ in RepeatedStratifiedKFold(
        n_splits=5, n_repeats=of_cancer.n_folds // 5, random_state=0
    ).split(X, y):
        selector = TableSelector(r, target="classes").fit(X.iloc[train], y[train])
        for name in selector.get_feature_names_out():
            counts[name] += 1
    for one in of_cancer.chosen:
        assert one.times_chosen == counts[one.name]
    page = page_of(of_cancer)
    assert f"{of_cancer.chosen[-1].times_chosen} of {of_cancer.n_folds}" in page


def test_of_noise_no_column_is_said_to_be_chosen_again():
    """The folds choose by the target, and what is reported was not."""
    found = report_of_noise(0, "classes")
    assert all(one.times_chosen is None for one in found.chosen)
    assert "chosen in folds" not in page_of(found)


def test_where_another_method_is_better_it_is_named():
    """Three copies of what is asked, in noise: geometry wants one of them, a sum of all
    predicts best.
    """
    rng = np.random.default_rng(0)
    y = rng.standard_normal(300)
    frame = pd.DataFrame(rng.standard_normal((300, 40)))
    for j in range(6):
        frame[j] = y + 1.5 * rng.standard_normal(300)
    frame.columns = [f"x{j}" for j in range(40)]
    found = report(frame.assign(y=y), "y", n_features_to_select=6)
    c = found.comparison
    ahead = [m for m in ("RFE", "L1", "F score") if c.better((m, 6), (OURS, 6)) > 0]
    assert ahead and any(f"take the columns of {m}" in found.verdict[-1] for m in ahead)


def test_where_random_columns_do_as_well_it_says_so():
    rng = np.random.default_rng(0)
    y = rng.standard_normal(300)
    frame = pd.DataFrame(y[:, None] + rng.standard_normal((300, 12)))
    frame.columns = [f"x{j}" for j in range(12)]
    found = report(frame.assign(y=y), "y", n_features_to_select=6)
    assert any("any 6 columns would do as well" in said for said in found.verdict)


def of_noise(seed, kind):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.standard_normal((80, 30)))
    frame.columns = [f"x{j}" for j in range(30)]
    if kind == "classes":
        return frame.assign(y=rng.choice(["a", "b"], 80))
    if kind == "three classes":
        return frame.assign(y=rng.choice(["a", "b", "c"], 80))
    if kind == "counts":
        return frame.assign(y=rng.negative_binomial(1, 0.1, 80))
    return frame.assign(y=rng.standard_normal(80))


@cache
def report_of_noise(seed, kind):
    return report(of_noise(seed, kind), "y")


def says_noise(seed, kind):
    found = report_of_noise(seed, kind)
    return "Nothing in these columns predicts" in found.verdict[0]


KINDS = ["classes", "numbers", "three classes", "counts"]


def test_of_noise_the_columns_stand_for_the_table():
    frame = of_noise(0, "classes")
    found = report_of_noise(0, "classes")
    assert "Nothing in these columns predicts" in found.verdict[0]
    alone = TableSelector(len(found.chosen)).fit(frame.drop(columns="y"))
    assert found.names == [f"x{j}" for j in alone.selected_]
    explained = alone.certificate_.plain.explained.share
    assert explained >= 0.5 and f"{explained:.0%}" in found.verdict[1]
    fewer = max(r for r in found.comparison.sizes if r < len(found.chosen))
    fewer = TableSelector(fewer).fit(frame.drop(columns="y"))
    assert fewer.certificate_.plain.explained.share < 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_noise_is_called_noise(kind):
    assert says_noise(1, kind)


@pytest.mark.sweep
@pytest.mark.parametrize("kind", KINDS)
def test_noise_is_called_noise_in_19_of_20_draws(kind):
    assert sum(says_noise(seed, kind) for seed in range(100, 120)) >= 19


@pytest.mark.usefixtures("few_folds")
@pytest.mark.parametrize("form", ["a copy", "coded", "nearly", "texts"])
def test_a_leak_is_named(form):
    frame = measured(load_iris)
    codes = np.array([2, 0, 1])[frame["target"]]
    frame["result"] = {
        "a copy": frame["target"],
        "coded": codes,
        "nearly": codes + np.random.default_rng(0).normal(0, 0.01, len(codes)),
        "texts": np.array(["x", "y", "z"])[codes],
    }[form]
    found = report(frame, "target")
    assert any("'result' alone predicts" in said for said in found.warnings)
    assert "drop='result'" in " ".join(found.warnings)
    again = report(frame, "target", drop="result")
    assert not any("alone predicts" in said for said in again.warnings)


@pytest.mark.usefixtures("few_folds")
def test_a_leak_of_a_number_is_named():
    frame = measured(load_diabetes)
    frame["result"] = 3 * frame["target"] ** 3
    found = report(frame, "target", drop=["age"])
    assert any("'result' alone predicts" in said for said in found.warnings)
    assert "age" in found.table.left_out


def test_a_rare_class_is_judged_by_average_precision():
    rng = np.random.default_rng(0)
    y = np.arange(400) < 14
    frame = pd.DataFrame(rng.standard_normal((400, 8)), columns=list("abcdefgh"))
    frame["a"] += 3 * y
    found = report(frame.assign(sick=np.where(y, "yes", "no")), "sick")
    assert found.question.metric == "average precision"
    assert found.question.chance == pytest.approx(14 / 400)
    every = [found.comparison.mean(method, 1) for method in METHODS]
    # the rows that all say "no" would have an accuracy of .965
    assert max(every) < 0.96 and found.comparison.mean(OURS, 1) > 0.5
    assert "a" in found.names


@pytest.mark.usefixtures("few_folds")
def test_small_classes_are_left_out_and_said():
    frame = measured(load_iris)
    frame["target"] = frame["target"].astype(str)
    frame.loc[[3, 7], "target"] = "rare one"
    found = report(frame, "target")
    assert "rare one" in " ".join(found.read) and len(found.table.X) == 148


@pytest.mark.usefixtures("few_folds")
def test_numbers_are_not_classes_unless_they_are_few():
    frame = measured(load_diabetes)
    found = report(frame, "target", n_features_to_select=3)
    assert found.question.classes is None
    few = frame.assign(target=pd.qcut(frame["target"], 4, labels=False))
    assert len(report(few, "target", n_features_to_select=3).question.classes) == 4
    as_numbers = report(few, "target", n_features_to_select=3, task="numbers")
    assert as_numbers.question.classes is None


def visits(n=150):
    """How often people came, of whom two columns tell."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((n, 6)), columns=list("abcdef"))
    frame["visits"] = rng.poisson(np.exp(1 + 0.7 * frame["a"] - 0.5 * frame["b"]))
    return frame


def test_counts_are_judged_by_their_deviance(tmp_path):
    found = report(visits(), "visits")
    assert found.question.metric == "D²" and set(found.names[:2]) == {"a", "b"}
    text = " ".join([*found.verdict, *found.read])
    assert "a D² of" in text and "taken for counts" in text
    assert "deviance" in text and "task='numbers'" in text
    facts = json.loads(saved(found, tmp_path)["report.json"])
    assert (facts["task"], facts["metric"]) == ("counts", "D²")
    whole = cross_val_score(
        make_pipeline(StandardScaler(), found.question.learner(150)),
        visits()[list("abcdef")],
        visits()["visits"],
        cv=RepeatedKFold(n_splits=5, n_repeats=3, random_state=0),
    )
    assert found.comparison.mean("all columns", 6) == pytest.approx(
        whole.mean(), abs=0.02
    )
    assert report(visits(), "visits", task="numbers").question.metric == "R²"
    few = visits().assign(visits=lambda frame: np.minimum(frame["visits"], 4))
    assert report(few, "visits").question.classes is not None
    assert report(few, "visits", task="counts").question.metric == "D²"


@pytest.mark.parametrize(
    ("change", "value"), [(lambda y: y - 9, "-"), (lambda y: y + 0.5, ".5")]
)
def test_what_is_no_count_is_not_taken_for_one(change, value):
    frame = visits(60).assign(visits=lambda frame: change(frame["visits"]))
    with pytest.raises(TableError, match=rf"counts, and holds .*{value}"):
        report(frame, "visits", task="counts")


def test_rows_of_one_unit_stay_together():
    """Each patient has ten rows that are nearly the same: taken apart, any column knows
    the patient.
    """
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(20), 10)
    X = rng.standard_normal((20, 30))[patient] + 0.05 * rng.standard_normal((200, 30))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(30)])
    frame["patient"] = patient
    frame["sick"] = rng.permutation(np.arange(20) % 2)[patient]
    apart = report(frame, "sick", drop="patient")
    together = report(frame, "sick", units="patient")
    assert apart.comparison.mean("all columns", 30) > 0.9
    assert together.comparison.mean("all columns", 30) < 0.75
    assert "patient" not in together.table.X and "patient" in together.table.left_out


@pytest.mark.usefixtures("few_folds")
def test_columns_are_given_and_families_excluded(tmp_path):
    frame = measured(load_breast_cancer, 120).rename(
        columns=lambda one: one.replace(" ", "_")
    )
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    found = report(path, "target", given="mean_texture", exclude="worst_*,*_error")
    assert "mean_texture" in found.names
    assert not [name for name in found.names if "worst" in name or "error" in name]
    assert found.n_columns == 30 and [
        one.name for one in found.chosen if one.is_given
    ] == ["mean_texture"]
    assert "'mean_texture' has to be chosen" in " ".join(found.read)
    assert "and 15 more may not be chosen" in " ".join(found.read)
    assert "mean_texture <small>(given)</small>" in page_of(found)
    said = run(found.code, tmp_path)
    assert sorted(found.names) == sorted(re.findall(r"'([^']+)'", said))
    dropped = report(path, "target", drop=["worst_*"])
    assert dropped.n_columns == 20


@pytest.mark.usefixtures("few_folds")
def test_all_columns_are_not_advised_where_some_are_excluded():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((120, 5)), columns=list("abcde"))
    frame["y"] = frame["a"] + 0.3 * rng.standard_normal(120)
    found = report(frame.assign(b=frame["b"] + frame["a"]), "y", exclude="a")
    text = " ".join(found.verdict)
    assert "worse than all of them" in text and "take all" not in text


# ---------------------------------------------------------------- what it refuses


@pytest.mark.parametrize(
    ("change", "options", "says"),
    [
        (lambda f: f.head(12), {}, "12 rows"),
        (lambda f: f, {"n_features_to_select": 0}, "n_features_to_select=0"),
        (lambda f: f, {"n_features_to_select": 99}, "from 1 to 29"),
        (lambda f: f, {"units": "nobody"}, "no column 'nobody'"),
        (lambda f: f, {"given": "nobody"}, "given: .* no column 'nobody'"),
        (lambda f: f, {"exclude": "no*"}, r"exclude: no column fits 'no\*'"),
        (lambda f: f, {"drop": "no*"}, r"drop: no column fits 'no\*'"),
        (lambda f: f, {"given": "target"}, "given names the target, 'target'"),
        (lambda f: f, {"given": "mean area", "drop": "mean*"}, r"'mean area' .*\(as asked"),
        (lambda f: f.assign(id=range(60)), {"given": "id"}, "'id' .*: keep='id'"),
        (lambda f: f, {"given": "mean area", "exclude": "*area"}, "'mean area', and excl"),
        (lambda f: f, {"given": "mean*", "n_features_to_select": 4}, "at least 10"),
        (lambda f: f, {"exclude": ["mean*", "w*", "* error"]}, "exclude has 30 of 30"),
        (lambda f: f.assign(target=[f"no {i}" for i in range(len(f))]), {}, "different"),
        (lambda f: f.assign(target=f["target"].map({0: "a", 1: "b"})),
         {"task": "numbers"}, "task='numbers'"),
    ],
)  # fmt: skip
def test_what_cannot_be_reported_is_refused_with_the_remedy(change, options, says):
    with pytest.raises(TableError, match=says):
        report(change(measured(load_breast_cancer, 60)), "target", **options)


# ---------------------------------------------------------------- how far it is


@pytest.mark.parametrize(
    ("watched", "after", "progress", "shows"),
    [
        (True, 0.0, None, True),
        (True, 600.0, None, False),
        (True, 0.0, False, False),
        (False, 0.0, None, False),
    ],
)
def test_a_bar_is_shown_to_somebody_who_waits(
    watched, after, progress, shows, monkeypatch, capsys
):
    made = []

    def bar(unit):
        made.append(LateBar(unit, after))
        return made[-1]

    monkeypatch.setattr(reports, "is_watched", lambda: watched)
    monkeypatch.setattr(reports, "LateBar", bar)
    report(measured(load_iris), "target", progress=progress)
    seen = capsys.readouterr()
    assert seen.out == "" and ("Comparing" in seen.err) == shows
    assert all(one.bar is None for one in made)
    with pytest.raises(TableError):
        report(measured(load_iris), "nothing", progress=progress)
    assert all(one.bar is None for one in made)


# ---------------------------------------------------------------- what it writes


class Page(HTMLParser):
    """The words of a page, the tags in it, and what it would fetch."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.words, self.fetched = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            if name in ("src", "href", "xlink:href") and not value.startswith("#"):
                self.fetched.append(value)

    def handle_data(self, data):
        self.words.append(data)


def saved(found, folder):
    paths = found.save(folder)
    return {path.name: path.read_text(encoding="utf-8") for path in paths}


def test_what_is_written_agrees(of_cancer, tmp_path):
    files = saved(of_cancer, tmp_path / "new" / "folder")
    assert sorted(files) == ["report.html", "report.json", "selected.csv"]
    facts = json.loads(files["report.json"])
    assert [one["name"] for one in facts["columns"]] == of_cancer.names
    assert facts["verdict"] == of_cancer.verdict
    chosen = pd.read_csv(tmp_path / "new" / "folder" / "selected.csv")
    frame = measured(load_breast_cancer)
    expected = [name for name in frame if name in [*of_cancer.names, "target"]]
    assert list(chosen.columns) == expected
    assert np.array_equal(chosen, frame[expected])
    page = Page(files["report.html"])
    words = " ".join(page.words)
    for said in [*of_cancer.verdict, of_cancer.why_so_many, *of_cancer.names]:
        assert said in words
    assert page.fetched == [] and "script" not in page.tags
    assert "url(http" not in files["report.html"]


@pytest.mark.usefixtures("few_folds")
def test_integers_and_names_of_rows_stay(tmp_path):
    frame = mixed_table()
    frame.index = [f"tree {i}" for i in range(len(frame))]
    frame["count"] = np.arange(len(frame)) % 7 + 2**53 + 1
    frame["y"] = frame.pop("count") * 0 + (frame["kind"] == "oak")
    path = tmp_path / "trees.parquet"
    frame["rings"] = np.random.default_rng(0).integers(0, 9, len(frame)) + 2**53
    frame["rings"] += frame["y"] * 9
    frame.to_parquet(path)
    found = report(path, "kind", drop="y")
    assert "rings" in found.names
    found.save(tmp_path)
    csv = pd.read_csv(tmp_path / "selected.csv", index_col=0)
    packed = pd.read_parquet(tmp_path / "selected.parquet")
    for written in (csv, packed):
        assert written["rings"].tolist() == frame["rings"].tolist()
        assert list(written.index) == list(frame.index)


HOSTILE = "<img src=http://x.y onerror=alert(1)>\"'&{}$(id)\n</pre><script>"


@pytest.mark.usefixtures("few_folds")
def test_hostile_names_come_out_as_text(tmp_path):
    frame = measured(load_breast_cancer, 100)
    first = frame.columns[0]
    frame = frame.rename(columns={first: HOSTILE, "target": "<b>y</b>"})
    noise = np.random.default_rng(0).standard_normal(100)
    frame[HOSTILE] = noise + 10 * frame["<b>y</b>"]
    path = tmp_path / "<i>table&.csv"
    frame.to_csv(path, index=False)
    found = report(path, "<b>y</b>", n_features_to_select=3)
    assert HOSTILE in found.names
    files = saved(found, tmp_path)
    page = Page(files["report.html"])
    assert not {"img", "script", "b"} & set(page.tags) and page.fetched == []
    assert HOSTILE in " ".join(page.words)
    assert json.loads(files["report.json"])["target"] == "<b>y</b>"
    run_alone(found.code, tmp_path)


def run(code, folder):
    """Run the code of a page with no name but its own, and give what its last line
    gives.
    """
    *lines, last = code.splitlines()
    names = {}
    with contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec("\n".join(lines), names)
        return str(list(eval(last, names)))


def run_alone(code, folder):
    """The same in a program of its own."""
    *lines, last = code.splitlines()
    script = "\n".join([*lines, f"print(list({last}))"])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def with_patients():
    frame = mixed_table()
    patients = [f"p{i % 30}" for i in range(len(frame))]
    return frame.assign(patient=patients)


@pytest.mark.usefixtures("few_folds")
@pytest.mark.parametrize(
    ("frame", "target", "options"),
    [
        (of_noise(0, "classes"), "y", {}),
        (with_patients(), "kind", {"units": "patient"}),
    ],
)
def test_the_pipeline_to_paste_follows_what_was_done(frame, target, options, tmp_path):
    """Noise is chosen from without its target, and what belongs together is no column."""
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    found = report(path, target, **options)
    said = run_alone(found.code, tmp_path)
    assert sorted(found.names) == sorted(re.findall(r"'([^']+)'", said))


@pytest.mark.usefixtures("few_folds")
@pytest.mark.parametrize(
    "which",
    ["mixed", "numbers", "three classes", "regression", "counts", "many counts"],
)
def test_the_pipeline_to_paste_chooses_the_same_columns(which, tmp_path):
    frame, target = {
        "mixed": (mixed_table(), "kind"),
        "numbers": (measured(load_breast_cancer, 90), "target"),
        "three classes": (measured(load_iris), "target"),
        "regression": (measured(load_diabetes, 90), "target"),
        "counts": (visits(), "visits"),
        "many counts": (visits(3001)[["a", "b", "c", "visits"]], "visits"),
    }[which]
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    found = report(path, target, n_features_to_select=2)
    said = run(found.code, tmp_path)
    assert sorted(found.names) == sorted(re.findall(r"'([^']+)'", said))


@pytest.mark.usefixtures("few_folds")
@pytest.mark.parametrize("kinds", [["elm", "oak"], [0, 1]])
def test_the_pipeline_to_paste_leaves_out_small_classes(kinds, tmp_path):
    frame = mixed_table()
    frame["kind"] = np.array(kinds)[(frame["kind"] == "oak").astype(int)]
    frame["kind"] = frame["kind"].astype(object)
    frame.loc[[3, 40], "kind"] = "fir" if kinds[0] == "elm" else 7
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    found = report(path, "kind", n_features_to_select=2)
    assert "2 rows of a class with fewer than 5 rows" in " ".join(found.read)
    *lines, last = found.code.splitlines()
    classes = run("\n".join([*lines, "map(str, model[-1].classes_)"]), tmp_path)
    assert classes.strip() == str([str(kind) for kind in kinds])
    said = run(found.code, tmp_path)
    assert sorted(found.names) == sorted(re.findall(r"'([^']+)'", said))


def test_a_category_is_chosen_whole():
    found = report(mixed_table(), "kind", n_features_to_select=2)
    assert set(found.names) == {"bark", "x1"}
    assert "is a category" in " ".join(found.read)


# ---------------------------------------------------------------- the command


@pytest.mark.usefixtures("few_folds")
def test_the_command_writes_what_the_function_finds(tmp_path, capsys):
    path = tmp_path / "iris.csv"
    measured(load_iris).to_csv(path, index=False)
    arguments = ["report", str(path), "--target", "target", "--columns", "2"]
    assert main([*arguments, "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    expected = report(path, "target", n_features_to_select=2)
    assert str(expected) in said and str(tmp_path / "report.html") in said
    facts = json.loads((tmp_path / "report.json").read_text())
    assert [one["name"] for one in facts["columns"]] == expected.names


@pytest.mark.usefixtures("few_folds")
def test_the_command_names_remedies_as_it_takes_them(tmp_path, capsys):
    frame = measured(load_iris).assign(day="2024-05-17", id=range(150))
    frame["weight"] = ["1 kg", *["2.5"] * 149]
    path = tmp_path / "iris.csv"
    frame.to_csv(path, index=False)
    arguments = ["report", str(path), "--target", "target", "--out", str(tmp_path)]
    assert main(arguments) == 1
    said = capsys.readouterr().err
    assert "--drop 'day'" in said and "--dates parts" in said
    assert "--drop 'weight'" in said and "drop=" not in said
    assert main([*arguments, "--drop", "day,weight"]) == 0
    assert main([*arguments, "--drop", "day", "--drop", "weight", "--keep", "id"]) == 0
    facts = json.loads((tmp_path / "report.json").read_text())
    assert facts["n_columns"] == 5


@pytest.mark.usefixtures("few_folds")
def test_the_command_gives_and_excludes(tmp_path, capsys):
    path = tmp_path / "iris.csv"
    measured(load_iris).to_csv(path, index=False)
    arguments = ["report", str(path), "--target", "target", "--out", str(tmp_path)]
    wide = "sepal width (cm)"
    assert main([*arguments, "--given", wide, "--exclude", "petal l*"]) == 0
    facts = json.loads((tmp_path / "report.json").read_text())
    assert {one["name"]: one["is_given"] for one in facts["columns"]}[wide]
    assert "petal length (cm)" not in [one["name"] for one in facts["columns"]]
    capsys.readouterr()
    assert main([*arguments, "--given", wide, "--exclude", "sepal*"]) == 1
    assert wide in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "options", "says"),
    [
        ("a,b,y\n1,2,x\n", ["--target", "z"], "no column 'z'"),
        ("gene,s1,s2\ng1,1,2\ng2,3,5\nz,0,1\n", ["--target", "z"], "--transpose."),
        (",s1,s2\ng1,1,2\ng2,3,5\nz,0,1\n", ["--target", "z"], "--transpose."),
        ("s1,s2\ng1,1,2\ng2,3,5\nz,0,1\n", ["--target", "z"], "--transpose."),
        ("gene,s1\ng1,1\ng1,3\nz,a\n", ["--target", "z"], "--transpose."),
        (",s1\ng1,1\ng1,3\nz,a\n", ["--target", "z"], "--transpose."),
        ("a,b,y\n1,2,x\n3,4,y\n", ["--target", "y"], "2 rows"),
        ("", ["--target", "y"], "it is empty"),
    ],
)
def test_the_command_refuses_in_plain_words(tmp_path, capsys, content, options, says):
    path = tmp_path / "table.csv"
    path.write_text(content)
    out = tmp_path / "out"
    assert main(["report", str(path), *options, "--out", str(out)]) == 1
    said = capsys.readouterr().err
    assert says in said and "Traceback" not in said and not out.exists()


def test_the_command_is_there_where_the_package_is(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "fsel_book", "report", "--help"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and "--target" in done.stdout


def test_what_no_columns_can_explain_more_than_holds_for_categories_too():
    """Two categories can explain more than the two leading directions."""
    rng = np.random.default_rng(0)
    n = 400
    kinds = rng.integers(0, 12, size=(n, 2))
    frame = pd.DataFrame(
        rng.standard_normal((12, 20))[kinds[:, 0]]
        + rng.standard_normal((12, 20))[kinds[:, 1]]
        + 0.1 * rng.standard_normal((n, 20))
    ).add_prefix("x")
    target = frame["x3"] + 0.01 * rng.standard_normal(n)
    for j, name in enumerate(("plot", "crew")):
        frame[name] = [f"{name} {k}" for k in kinds[:, j]]
    found = report(frame.assign(y=target), "y", n_features_to_select=2)
    assert "x3" in found.names
    encoder = found.selector.encoder_
    Z = encoder.transform(frame)
    C = Z[:, np.isin(encoder.of_column, [20, 21])]
    best = np.sum(np.linalg.pinv(C) @ Z * (C.T @ Z)) / np.sum(Z**2)
    two_directions = np.linalg.svd(Z, compute_uv=False)[:2] ** 2
    assert best > 0.9 > two_directions.sum() / np.sum(Z**2)
    said = re.search(r"can explain more than (\d+)%", " ".join(found.verdict))
    assert said is None or int(said[1]) >= 100 * best - 0.5
