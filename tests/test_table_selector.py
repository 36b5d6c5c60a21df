"""Whole columns of a table, chosen as they are."""

import datetime

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from cases import mixed_table
from scipy.sparse.linalg import aslinearoperator
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
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
