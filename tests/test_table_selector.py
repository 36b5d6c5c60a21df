"""Whole columns of a table, chosen as they are."""

import datetime
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from cases import mixed_table
from scipy.sparse.linalg import aslinearoperator
from scipy.stats import chi2, chi2_contingency
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.feature_selection import f_classif, f_regression
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from fsel_book import TableSelector
from fsel_book.table_selector import TableEncoder, takes_counts


def test_the_table_selector_is_an_estimator():
    check_estimator(TableSelector())
    check_estimator(TableSelector(1, target="ignore"))


def test_units_do_not_matter_to_the_table_selector():
    frame = mixed_table()
    X, y = frame.drop(columns="kind"), frame["kind"]
    selector = TableSelector(3).fit(X, y)
    numbers = [name for name in X if name != "bark"]
    other = X.assign(**{name: 1000 * X[name] + 7 for name in numbers})
    assert (
        clone(selector).fit(other, y).selected_.tolist() == selector.selected_.tolist()
    )


def test_what_comes_out_are_the_columns_as_they_came():
    frame = mixed_table()
    X, y = frame.drop(columns="kind"), frame["kind"]
    selector = TableSelector(3).fit(X, y)
    kept = selector.transform(X)
    assert list(kept.columns) == list(selector.get_feature_names_out())
    pd.testing.assert_frame_equal(kept, X[list(kept.columns)])
    assert len(selector.selected_) == 3


def test_without_a_target_the_geometry_decides():
    X = load_breast_cancer(as_frame=True).frame.drop(columns="target")
    y = load_breast_cancer(as_frame=True).frame["target"]
    alone = TableSelector(4).fit(X)
    ignored = TableSelector(4, target="ignore").fit(X, y)
    assert alone.selected_.tolist() == ignored.selected_.tolist()
    assert not hasattr(alone, "scores_")
    assert TableSelector(4).fit(X, y).selected_.tolist() != alone.selected_.tolist()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"n_features_to_select": 9}, "n_features_to_select=9"),
        ({"n_features_to_select": 0}, "n_features_to_select=0"),
        ({"n_features_to_select": "many"}, "n_features_to_select='many'"),
        ({"target": "labels"}, "target='labels'"),
    ],
)
def test_the_table_selector_refuses_parameters_by_their_names(options, says):
    with pytest.raises(ValueError, match=says):
        TableSelector(**options).fit(mixed_table().drop(columns="kind"))


def test_the_table_selector_names_the_column_that_it_refuses():
    X = mixed_table().drop(columns="kind")
    with pytest.raises(ValueError, match="infinite values in 'x3'"):
        TableSelector(2).fit(X.assign(x3=np.inf))
    with pytest.raises(ValueError, match="'when'"):
        TableSelector(2).fit(X.assign(when=pd.Timestamp("2024-01-01")))
    for value in (datetime.date(2024, 1, 1), "2024-01-01", [1, 2]):
        with pytest.raises(ValueError, match="'when'"):
            TableSelector(2).fit(X.assign(when=[value] * len(X)))


VISITS = np.random.default_rng(0).negative_binomial(1, 0.15, 300)
TARGETS = {
    "visits": (VISITS, True),
    "as floats": (VISITS.astype(float), True),
    "from one on": (VISITS + 1, True),
    "few": (np.minimum(VISITS, 5), False),
    "no whole numbers": (VISITS / 7, False),
    "years": (VISITS + 1990, False),
    "numbers of rows": (np.arange(300), False),
    "ages": (np.random.default_rng(0).integers(18, 90, 300), False),
    "prices": (1000 * VISITS + 500, False),
    "less than nothing": (VISITS - 3, False),
    "percentages": (np.random.default_rng(0).integers(0, 101, 300), False),
    "texts": (np.array(["a", "b", "c"] * 100), False),
}


@pytest.mark.parametrize("which", TARGETS)
def test_counts_are_told_from_other_whole_numbers(which):
    values, counts = TARGETS[which]
    assert takes_counts(values) == counts


@pytest.mark.parametrize("kind", ["classes", "numbers"])
@pytest.mark.parametrize("seed", range(4))
def test_a_column_that_tells_all_has_the_largest_score(kind, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 5))
    y = X[:, 0] + X[:, 1]
    if kind == "classes":
        y = (y > 0).astype(int)
    X[:, 3] = 3 * y + 1
    X[:, 4] = 7.0
    scores = TableSelector(1).fit(X, y).scores_
    assert np.argmax(scores) == 3 and scores[4] == 0
    assert TableSelector(1).fit(X, y).selected_.tolist() == [3]


def test_of_counts_the_roots_decide():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((300, 8)), columns=list("abcdefgh"))
    y = rng.poisson(np.exp(1 + X["a"] - X["b"]))
    found = TableSelector(2).fit(X, y)
    expected = TableSelector(2, target="numbers").fit(X, np.sqrt(y))
    for selector in (found, TableSelector(2, target="counts").fit(X, y)):
        assert np.allclose(selector.scores_, expected.scores_)
    for wrong, value in ((y - 100, "-"), (y + 0.5, r"\d+\.5"), (y.astype(str), "")):
        with pytest.raises(ValueError, match=f"counts, and holds {value}"):
            TableSelector(2, target="counts").fit(X, wrong)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_matrix])
def test_sparse_data_are_sent_to_another_selector(make):
    with pytest.raises(TypeError, match="BSSSelector.*center=True"):
        TableSelector(2).fit(make(np.eye(30)))


def test_frames_of_polars_are_taken():
    pl = pytest.importorskip("polars")
    frame = mixed_table()
    X, y = frame.drop(columns="kind"), frame["kind"]
    expected = TableSelector(3).fit(X, y)
    other = pl.from_pandas(X)
    found = TableSelector(3).fit(other, y.to_numpy())
    assert found.selected_.tolist() == expected.selected_.tolist()
    kept = found.transform(other)
    assert isinstance(kept, pl.DataFrame)
    assert kept.columns == list(expected.get_feature_names_out())


def as_lazy_frame(X):
    return pytest.importorskip("polars").from_pandas(X).lazy()


def as_arrow(X):
    return pytest.importorskip("pyarrow").Table.from_pandas(X)


@pytest.mark.parametrize("make", [as_lazy_frame, as_arrow])
def test_what_comes_out_is_of_the_kind_that_came(make):
    frame = mixed_table()
    X, y = frame.drop(columns="kind"), frame["kind"]
    expected = TableSelector(3).fit(X, y)
    selector = TableSelector(3).fit(make(X), y)
    assert selector.selected_.tolist() == expected.selected_.tolist()
    kept = selector.transform(make(X))
    assert type(kept) is type(make(X))
    if hasattr(kept, "collect"):
        kept = kept.collect()
    names = list(expected.get_feature_names_out())
    assert kept.to_pandas().columns.tolist() == names
    pd.testing.assert_series_equal(kept.to_pandas()["x1"], X["x1"])
    with pytest.raises(ValueError, match="feature names"):
        selector.transform(make(X.rename(columns={"x1": "other"})))


def test_what_is_masked_is_a_gap():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((60, 5))
    y = A[:, 0] + A[:, 1]
    mask = rng.random(A.shape) < 0.2
    masked = np.ma.masked_array(np.where(mask, 1e6, A), mask)
    expected = TableSelector(2).fit(np.where(mask, np.nan, A), y)
    found = TableSelector(2).fit(masked, y)
    assert found.selected_.tolist() == expected.selected_.tolist()
    assert np.allclose(found.scores_, expected.scores_)
    kept = found.transform(masked)
    assert np.array_equal(kept.mask, mask[:, np.sort(found.selected_)])
    with pytest.raises(ValueError, match="y is a masked array"):
        TableSelector(2).fit(A, np.ma.masked_array(y, mask[:, 0]))


class Annotated:
    """What is enough of an AnnData to be taken for one."""

    def __init__(self, X):
        self.X, self.shape = X, X.shape
        self.obs, self.var_names, self.n_vars = None, None, X.shape[1]


@pytest.mark.parametrize(
    ("make", "says"),
    [(aslinearoperator, "give the matrix"), (Annotated, r"adata\.to_df\(\)")],
)
def test_what_has_no_columns_is_refused_with_the_remedy(make, says):
    A = np.random.default_rng(0).standard_normal((20, 4))
    with pytest.raises(TypeError, match=says):
        TableSelector(2).fit(make(A))
    with pytest.raises(TypeError, match=says):
        TableSelector(2).fit(A).transform(make(A))


def test_gaps_are_filled_with_medians_of_the_rows_learned_from():
    """Also in a column that had no gap there, and one that had nothing else."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((31, 4))
    A[::3, 1] = np.nan
    A[:, 3] = np.nan
    new = A.copy()
    new[:, 0] = np.nan
    reference = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
    ).fit(A)
    encoder = TableEncoder().fit(A)
    for rows in (A, new):
        assert np.allclose(encoder.transform(rows), reference.transform(rows))


# ---------------------------------------------------------------- given and excluded


@pytest.mark.parametrize("with_target", [True, False])
@pytest.mark.parametrize("without", ["no column", "bark"])
def test_given_columns_come_out_and_excluded_ones_do_not(with_target, without):
    """Of numbers and of a table with a category, whatever the scores say."""
    frame = mixed_table()
    X, y = frame.drop(columns=["kind"]), frame["kind"] if with_target else None
    X = X.drop(columns=without, errors="ignore")
    best = TableSelector(3).fit(X, y)
    out = best.get_feature_names_out()[0]
    given = [name for name in X if name not in best.get_feature_names_out()][:2]
    selector = TableSelector(3, given=given, exclude=[out]).fit(X, y)
    names = selector.get_feature_names_out()
    assert set(given) < set(names) and out not in names and len(names) == 3
    assert selector.certificate_.holds
    places = [list(X).index(name) for name in given]
    mask = np.array([name == out for name in X])
    other = TableSelector(3, given=places, exclude=mask).fit(X, y)
    assert other.selected_.tolist() == selector.selected_.tolist()


def test_with_a_target_the_others_are_chosen_beside_those_given():
    """The twin of a given column is not needed any more."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 6))
    y = X[:, 0] + 0.9 * X[:, 3] + rng.standard_normal(200)
    X[:, 1] = X[:, 0] + 0.1 * rng.standard_normal(200)
    chosen = TableSelector(2, given=[1]).fit(X, y).selected_
    assert chosen.tolist() == [1, 3]


def test_of_equal_columns_both_come_out_if_both_are_given():
    X = mixed_table().drop(columns="kind")
    X["x9"] = X["x0"]
    for frame in (X, X.drop(columns="bark")):
        names = TableSelector(3, given=["x0", "x9"]).fit(frame).get_feature_names_out()
        assert {"x0", "x9"} < set(names)


def table_with_a_category(n_values, n_numbers=40, n=1500, seed=0):
    """Independent numbers, of which the first tells a little of `y`, and categories of
    many values, of which the first tells much.
    """
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.standard_normal((n, n_numbers)))
    frame.columns = [f"x{j}" for j in range(n_numbers)]
    for name in ("shop", "maker", "month"):
        frame[name] = [f"{name} {k}" for k in rng.integers(0, n_values, n)]
    effect = 2 * rng.standard_normal(n_values)
    shop = np.array([int(text.split()[1]) for text in frame["shop"]])
    return frame, frame["x0"] + effect[shop] + rng.standard_normal(n)


@pytest.mark.parametrize("n_values", [3, 12, 25])
@pytest.mark.parametrize("as_classes", [False, True])
def test_a_category_of_many_values_that_tells_most_is_chosen(n_values, as_classes):
    """Its many directions are weak beside those of numbers, and were never allowed."""
    X, y = table_with_a_category(n_values)
    if as_classes:
        y = np.where(y > np.median(y), "dear", "cheap")
    chosen = TableSelector(2).fit(X, y).get_feature_names_out()
    assert {*chosen} == {"x0", "shop"}


@pytest.mark.parametrize("n_classes", [None, 2, 4])
@pytest.mark.parametrize("strength", [0.0, 0.5, 8.0])
def test_the_score_of_a_category_is_that_of_a_number_as_unlikely(n_classes, strength):
    rng = np.random.default_rng(0)
    n, n_values = 400, 9
    value = rng.integers(n_values, size=n)
    y = strength * rng.standard_normal(n_values)[value] + rng.standard_normal(n)
    if n_classes:
        y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    frame = pd.DataFrame({"x": rng.standard_normal(n), "c": [f"v{k}" for k in value]})
    selector = TableSelector(1).fit(frame, y)
    number, category = selector.scores_
    F = (f_classif if n_classes else f_regression)(frame[["x"]], y)[0]
    assert np.isclose(number, F[0])
    # what all values tell together, found without the columns that encode them
    if n_classes:
        counts = pd.crosstab(value, y)
        contrasts = n_classes - 1
        most = min(n_values - 1, contrasts)
        told = chi2_contingency(counts, correction=False)[0] / n / most
    else:
        means = pd.Series(y).groupby(value).transform("mean")
        contrasts = most = 1
        told = means.var() / y.var(ddof=1)
    statistic = (n - contrasts - n_values + 1) * most * told / (1 - told)
    by_chance = chi2.logsf(statistic, contrasts * (n_values - 1))
    assert np.isclose(chi2.logsf(category * contrasts, contrasts), by_chance, rtol=1e-3)


def test_a_category_that_means_nothing_does_not_come_before_a_number_that_does():
    """The more values it has, the more some value tells by chance."""
    found = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = 300
        frame = pd.DataFrame(rng.standard_normal((n, 3))).add_prefix("x")
        for j in range(12):
            frame[f"c{j}"] = [f"v{k}" for k in rng.integers(25, size=n)]
        y = 0.2 * frame["x0"] + rng.standard_normal(n)
        scores = TableSelector(1).fit(frame, y).scores_
        found.append(scores[3:])
    found = np.array(found)
    # as numbers that mean nothing: one in twenty is above 3.84
    assert abs(np.mean(found > 3.84) - 0.05) < 0.04
    assert abs(np.mean(found) - 1) < 0.3


def test_what_is_certified_of_a_table_with_categories_counts_each_column_alike():
    """Chosen where directions count, certified where columns do."""
    X, y = table_with_a_category(12)
    found = TableSelector(6).fit(X, y)
    assert "shop" in found.get_feature_names_out()
    # independent columns of variance one: each explains its own, and by chance a little
    alone = 6 / X.shape[1]
    assert alone < found.certificate_.plain.explained.share < alone + 0.03
    assert {*found.selected_} == {*found.selector_.selected_groups_}


def table_with_bins(load):
    """A table of numbers of which every third is known by its quintile alone."""
    table = load(as_frame=True).data.copy()
    for name in list(table)[::3]:
        table[name] = pd.qcut(table[name], 5, duplicates="drop").astype(str)
    return table


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_columns_of_a_mixed_table_stand_for_it_better_than_random_ones(load):
    """They explained less than the mean random choice, without any category."""
    X = table_with_bins(load)
    for r, part in ((X.shape[1] // 4, 0.6), (X.shape[1] // 2, 0.9)):
        selector = TableSelector(r).fit(X)
        assert len(np.intersect1d(selector.selected_, selector.encoder_.categories))
        explained = selector.certificate_.plain.explained
        assert explained.n_random_below >= part * explained.n_random >= 60


def test_the_fewest_columns_of_a_mixed_table_explain_nine_tenths():
    X = table_with_bins(load_wine)
    fewest = TableSelector("auto").fit(X)
    r = len(fewest.selected_)
    assert 1 < r < X.shape[1]
    assert fewest.certificate_.plain.explained.share >= 0.9
    fewer = TableSelector(r - 1).fit(X)
    assert fewer.certificate_.plain.explained.share < 0.9
    same = TableSelector(r).fit(X)
    assert {*same.selected_} == {*fewest.selected_}


def test_auto_does_not_warn_of_numbers_that_nobody_asked_for():
    """A constant column is never chosen."""
    X = table_with_bins(load_wine).assign(place="Piedmont")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = TableSelector("auto").fit(X)
    assert "place" not in found.get_feature_names_out()


def test_a_pattern_is_a_family_unless_a_column_is_called_so():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((50, 6)), columns=list("abcd") + ["a*", "ab"])
    kept = TableSelector(3, exclude=["[b-d]"]).fit(X).get_feature_names_out()
    assert set(kept) == {"a", "a*", "ab"}
    assert "a*" not in TableSelector(5, exclude="a*").fit(X).get_feature_names_out()


def test_the_number_that_is_found_keeps_to_what_is_given_and_excluded():
    frame = mixed_table()
    X, y = frame.drop(columns="kind"), frame["kind"]
    selector = TableSelector("auto", given=["x4", "x5"], exclude=["bark"]).fit(X, y)
    assert selector.size_path_.sizes[0] == 2 and selector.size_path_.sizes[-1] == 6
    assert {"x4", "x5"} <= set(selector.get_feature_names_out())
    assert len(TableSelector(exclude=["x*"]).fit(X).selected_) == 1


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"given": ["x9"]}, "given has names that X has not: 'x9'"),
        ({"exclude": ["z*"]}, r"exclude has names that X has not: 'z\*'"),
        ({"given": ["x1"], "exclude": ["x*"]}, "'x1', and exclude has it, too"),
        ({"given": ["x*"]}, "given has 6 columns, column 'x0' the first.* at least 6"),
        ({"exclude": ["x*"]}, "exclude has 6 of 7 columns, column 'x0' the first"),
        ({"given": 3}, "given=3 is not possible"),
    ],
)
def test_what_is_given_and_excluded_is_refused_by_its_column(options, says):
    with pytest.raises(ValueError, match=says):
        TableSelector(3, **options).fit(mixed_table().drop(columns="kind"))
    with pytest.raises(ValueError, match="given columns and without a target"):
        TableSelector("auto", given=["x1"]).fit(mixed_table().drop(columns="kind"))


def test_a_category_of_one_value_does_not_move_what_is_given():
    """Encoded it is one column, which stands behind the numbers."""
    frame = mixed_table().drop(columns="kind")
    frame.insert(0, "site", "north")
    frame = frame.drop(columns="bark")
    selector = TableSelector(2, given=["x0"], exclude=["x1"])
    names = selector.fit(frame).get_feature_names_out()
    assert "x0" in names and "x1" not in names
