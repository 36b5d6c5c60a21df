"""What a certificate says of plain columns, against brute computations: shares of the
variance, random choices, rows left out, pairs of rows, rows to come.
"""

import json
import pickle

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from cases import refused, swept, swept_seeds
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist
from scipy.stats import beta
from sklearn.base import clone
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
)
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import StandardScaler

from fsel_book import (
    BSSSelector,
    DSFSelector,
    KeptDisplay,
    LeverageSelector,
    as_blocks,
    certify_columns,
    certify_selector,
    kept,
)
from fsel_book.arrays import take_columns
from fsel_book.kept import (
    PENALTIES,
    factor_off_means,
    random_shares,
    rows_needed,
    tolerance_ranks,
)


def table(n=25, d=80, seed=0):
    """Columns of very different lengths, with means."""
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((n, d)) + rng.standard_normal(d)) * rng.pareto(1.5, d)


FORMS = {
    "wide": lambda X: X,
    "tall": lambda X: X.T,
    "float32": lambda X: X.astype(np.float32),
    "sparse": sp.csr_array,
    "sparse and tall": lambda X: sp.csr_array(X.T),
    "far from centred": lambda X: X + 1e4 * np.abs(X).max(axis=0),
    "tiny": lambda X: X * 2.0**-200,
    "frame": lambda X: pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]),
}


def dense(X):
    X = X.toarray() if sp.issparse(X) else np.asarray(X)
    X = X.astype(np.float64)
    return X / np.abs(X).max()


def explained_brute(X, S):
    """Least squares of every column on the chosen ones."""
    fit = LinearRegression().fit(X[:, S], X).predict(X[:, S])
    return 1 - np.sum((X - fit) ** 2) / np.sum((X - X.mean(axis=0)) ** 2)


def left_out_brute(X, S):
    """Each row predicted from the others, at the best penalty, and by the means."""
    n = len(X)
    C = X[:, S] - X[:, S].mean(axis=0)
    C = C / np.linalg.norm(C, axis=0)
    from_mean = np.sum((X - X.mean(axis=0)) ** 2) * (n / (n - 1)) ** 2
    shares = [0.0]
    for penalty in PENALTIES:
        # ridge regression is least squares with a row more for each coefficient
        rows = np.sqrt(penalty) * np.linalg.norm(C, 2) * np.eye(C.shape[1])
        fit = np.empty_like(X)
        for i in range(n):
            A, B = np.delete(C, i, axis=0), np.delete(X, i, axis=0)
            center, mean = A.mean(axis=0), B.mean(axis=0)
            left = np.vstack([A - center, rows])
            right = np.vstack([B - mean, np.zeros((len(rows), X.shape[1]))])
            W = np.linalg.lstsq(left, right)[0]
            fit[i] = mean + (C[i] - center) @ W
        shares.append(1 - np.sum((X - fit) ** 2) / from_mean)
    return max(shares)


def ceiling_brute(X, r):
    return PCA(svd_solver="full").fit(X).explained_variance_ratio_[:r].sum()


@pytest.mark.parametrize("ridge", [None, "auto"])
@pytest.mark.parametrize("form", FORMS)
def test_a_certificate_says_what_columns_explain(form, ridge):
    X = FORMS[form](table())
    selector = BSSSelector(8, ridge=ridge).fit(X)
    found = selector.certificate_.plain.explained
    A = dense(X)
    S = selector.selected_
    rtol = {"float32": 1e-5, "far from centred": 1e-6}.get(form, 1e-9)
    assert found.of == "variance"
    assert_allclose(found.share, explained_brute(A, S), rtol=rtol)
    assert_allclose(found.ceiling, ceiling_brute(A, 8), rtol=rtol)
    assert_allclose(found.left_out, left_out_brute(A, S), rtol=100 * rtol)
    assert found.n_random == 200
    low, high = found.random_range
    assert 0 <= low <= high <= found.ceiling + 1e-9


def test_a_tall_table_too_large_to_keep_explains_the_same(monkeypatch):
    X = table(300, 12, 1) + 5
    expected = BSSSelector(4).fit(X).certificate_.plain.explained
    monkeypatch.setattr(kept, "NUMBERS_OF_COLUMNS", 1000)
    plain = BSSSelector(4).fit(X).certificate_.plain
    found = plain.explained
    assert found.left_out is None and expected.left_out is not None
    assert_allclose(found.share, expected.share, rtol=1e-9)
    assert_allclose(found.ceiling, expected.ceiling, rtol=1e-9)
    assert_allclose(found.random_range, expected.random_range, rtol=1e-6)
    assert plain.pairs.n_pairs >= 200


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_leading_directions_alone_explain_the_same_share(form):
    X = np.random.default_rng(1).standard_normal((510, 520)) + 0.5
    X *= np.exp(-np.arange(520) / 50)
    selector = BSSSelector(25).fit(form(X))
    assert selector.certificate_.numerical_rank is None
    plain = selector.certificate_.plain
    assert_allclose(
        plain.explained.share, explained_brute(X, selector.selected_), rtol=1e-9
    )
    assert plain.explained.ceiling is None and plain.explained.n_random == 0
    text = str(selector.certificate_)
    assert "explain" in text and "more than" not in text.split("For a")[0]


@swept_seeds(30, 300)
def test_means_are_taken_off_a_factor(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, d = 40, rng.integers(1, 12)
        X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-2, 3, d)
        X += rng.choice([0.0, 1.0, 100.0]) * rng.standard_normal(d)
        if seed % 3 == 0:
            X[:, 0] = 1.0
        F = np.linalg.qr(X)[1]
        found = factor_off_means(F, X.mean(axis=0), n)
        centred = X - X.mean(axis=0)
        size = np.abs(X.T @ X).max()
        assert_allclose(found.T @ found, centred.T @ centred, atol=1e-11 * size)


@swept_seeds(20, 200)
def test_random_choices_explain_what_least_squares_says(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, d, r = 15, 10, rng.integers(1, 8)
        X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-3, 3, d)
        if seed % 2:
            # copies, a multiple and a zero column
            X[:, 5:7] = X[:, :2]
            X[:, 7] = 3 * X[:, 3]
            X[:, 8] = 0
        X = X - X.mean(axis=0)
        found = random_shares(X, X, r, 5, seed)
        again = np.random.default_rng(seed)
        for share in found:
            S = again.choice(d, r, replace=False)
            assert_allclose(share, explained_brute(X, S), atol=1e-7)


def test_random_choices_are_of_all_columns_alike():
    """However few of them are kept: each column has its turn."""
    X = np.zeros((20, 4000))
    X[:, 0] = np.random.default_rng(0).standard_normal(20)
    X += 1e-6 * np.random.default_rng(1).standard_normal(X.shape)
    A = kept.columns_at_random(X, 2)
    assert A.shape[0] == 20 and A.shape[1] >= 8
    assert_array_equal(A, kept.columns_at_random(X, 2))


def test_more_columns_than_rows_explain_all_and_nothing_of_rows_to_come():
    """Of noise; what is low-dimensional is foretold, however many columns there are."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6, 50))
    found = BSSSelector(20, rank=4).fit(X).certificate_.plain.explained
    assert_allclose([found.share, found.ceiling], 1, rtol=1e-12)
    assert found.left_out < 0.05 and found.n_random == 0
    if found.left_out == 0:
        assert "expect nothing" in str(BSSSelector(20, rank=4).fit(X).certificate_)
    line = rng.standard_normal((6, 1)) * rng.standard_normal(50)
    line += 1e-3 * rng.standard_normal((6, 50))
    assert (
        BSSSelector(20, rank=1).fit(line).certificate_.plain.explained.left_out > 0.99
    )


def test_a_row_that_alone_has_a_value_is_not_foretold():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 4))
    X[:, 0] = 0
    X[7, 0] = 30
    found = certify_columns(X, [0]).plain.explained
    others = np.delete(X, 7, 0)
    n = len(X)
    from_mean = ((X - X.mean(axis=0)) * n / (n - 1)) ** 2
    # the other rows are predicted by means, of which row 7 has no part
    missed = [from_mean[7].sum()]
    for i in range(11):
        rest = np.delete(others, i, 0)
        missed.append(np.sum((others[i] - rest.mean(axis=0)) ** 2))
    assert_allclose(found.left_out, 1 - sum(missed) / from_mean.sum(), rtol=1e-4)


def test_data_that_change_after_the_fit_change_no_number():
    for X in (
        table(),
        table().T.copy(),
        sp.csr_array(table()),
        sp.csr_array(table().T),
    ):
        expected = BSSSelector(8).fit(X.copy()).certificate_.plain.to_dict()
        selector = BSSSelector(8).fit(X)
        (X.data if sp.issparse(X) else X)[:] = 1.0
        assert selector.certificate_.plain.to_dict() == expected


# ---------------------------------------------------------------- pairs of rows


@pytest.mark.parametrize("form", FORMS)
def test_pairs_keep_what_their_distances_say(form):
    X = FORMS[form](table(25, 30))
    selector = BSSSelector(8).fit(X)
    A = dense(X)
    before = pdist(A, "sqeuclidean")
    after = pdist(A[:, selector.selected_], "sqeuclidean")
    found = selector.certificate_.plain.pairs
    atol = {"float32": 1e-5, "far from centred": 1e-6}.get(form, 1e-9)
    assert found.n_pairs == len(before)
    levels = [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1]
    assert_allclose(found.quantiles, np.quantile(after / before, levels), atol=atol)
    assert_allclose(found.correlation, np.corrcoef(before, after)[0, 1], atol=10 * atol)


def test_equal_rows_are_no_pair():
    X = np.repeat(table(10, 20), 2, axis=0)
    assert certify_columns(X, [0, 1]).plain.pairs.n_pairs == 190 - 10
    whole = certify_columns(X, np.arange(20)).plain.pairs
    assert_allclose(whole.quantiles, 1)


def test_of_many_pairs_some_are_looked_at():
    X = np.random.default_rng(0).standard_normal((400, 6)) * [5, 1, 1, 1, 1, 1]
    found = certify_columns(X, [0]).plain.pairs
    ratios = pdist(X[:, :1], "sqeuclidean") / pdist(X, "sqeuclidean")
    # 2,000 of 79,800: a quantile is off by a few standard errors at most
    for level, value in zip((0.25, 0.5, 0.75), found.quantiles[2:5], strict=True):
        assert abs(np.mean(ratios <= value) - level) < 5 * 0.5 / np.sqrt(2000)


# ---------------------------------------------------------------- rows to come


@pytest.mark.parametrize("m", [2, 3, 10, 45, 46, 47, 200, 1000])
@pytest.mark.parametrize(("content", "confidence"), [(0.9, 0.95), (0.5, 0.99)])
def test_as_many_are_left_out_as_the_confidence_allows(m, content, confidence):
    trim, held, sure = tolerance_ranks(m, content, confidence)

    def chance(trim):
        return beta.sf(held, m + 1 - 2 * trim, 2 * trim)

    assert sure == confidence and chance(trim) >= confidence - 1e-9
    if held == content:
        assert 2 * (trim + 1) > m or chance(trim + 1) < confidence
    else:
        assert trim == 1 and held < content
    if (content, confidence) == (0.9, 0.95):
        assert (held == content) == (m >= 46)


@swept_seeds(1, 5)
def test_the_part_between_order_statistics_has_the_distribution_of_the_theorem(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        m = 100
        trim = tolerance_ranks(m, 0.9, 0.95).trim
        inside = []
        for _ in range(2000):
            u = np.sort(rng.random(m))
            inside.append(u[m - trim] - u[trim - 1])
        inside = np.array(inside)
        assert_allclose(inside.mean(), (m + 1 - 2 * trim) / (m + 1), atol=0.003)
        sure = np.mean(inside >= 0.9)
        expected = beta.sf(0.9, m + 1 - 2 * trim, 2 * trim)
        assert expected >= 0.95 and abs(sure - expected) < 5 * 0.22 / np.sqrt(2000)


def test_so_many_rows_are_needed_as_are_said_to_be():
    n = rows_needed(0.9, 0.95)
    assert n == 92
    X = table(200, 10)
    certificate = certify_columns(X, [0, 3])
    assert certificate.on(X[:n]).content == 0.9
    few = certificate.on(X[: n - 2])
    assert few.content < 0.9 and str(n) in str(few)


STANDARD = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "diabetes": load_diabetes,
    "digits": load_digits,
}


@pytest.mark.parametrize("name", STANDARD)
@swept("n_splits", [50], [150])
def test_intervals_cover_as_many_pairs_to_come_as_they_should(name, n_splits):
    """A third part of the rows, split at random, is as good as new rows."""
    coverage_of_splits(StandardScaler().fit_transform(STANDARD[name]().data), n_splits)


def coverage_of_splits(X, n_splits):
    rng = np.random.default_rng(0)
    n = len(X)
    r = min(5, X.shape[1] - 1)
    covered = []
    expected = []
    for _ in range(n_splits):
        first, second, third = np.array_split(rng.permutation(n), 3)
        certificate = LeverageSelector(r, rule="largest").fit(X[first]).certificate_
        found = certificate.on(X[second], content=0.8, random_state=1)
        trim = tolerance_ranks(found.n_pairs, 0.8, 0.95).trim
        i, j = third[: len(third) // 2 * 2].reshape(2, -1)
        S = certificate.plain.indices
        before = np.sum((X[i] - X[j]) ** 2, axis=1)
        after = np.sum((X[i][:, S] - X[j][:, S]) ** 2, axis=1)
        apart = before > 0
        kept_part = after[apart] / before[apart]
        covered.append(np.mean((found.low <= kept_part) & (kept_part <= found.high)))
        expected.append(1 - 2 * trim / (found.n_pairs + 1))
    error = np.std(covered) / np.sqrt(n_splits)
    # pairs at equal distances only raise it
    assert np.mean(covered) > np.mean(expected) - 4 * error
    if len(np.unique(X)) > 1000:
        assert np.mean(covered) < np.mean(expected) + 4 * error


def test_rows_that_do_not_fit_are_refused():
    X = table(30, 10)
    certificate = certify_columns(X, [0, 3])
    with refused("X_new", "9 columns", "10"):
        certificate.on(X[:, :9])
    with refused("X_new", "four different rows"):
        certificate.on(np.repeat(X[:1], 20, axis=0))
    with refused("content"):
        certificate.on(X, content=1.0)
    with refused("confidence"):
        certificate.on(X, confidence=0)


def test_rows_whose_columns_have_another_order_are_refused():
    frame = load_wine(as_frame=True).data
    shuffled = frame[frame.columns[::-1]]
    blocks = as_blocks(frame)
    for certificate in (
        certify_columns(frame, ["hue", "alcohol"]),
        certify_selector(BSSSelector(4).fit(frame), frame),
        BSSSelector(4).fit(frame).certificate_,
        BSSSelector(4).fit(blocks).certificate_,
        pickle.loads(pickle.dumps(BSSSelector(4).fit(frame).certificate_)),
    ):
        assert certificate.on(frame).n_rows == len(frame)
        with refused("X_new", "another order"):
            certificate.on(shuffled)
        # an array has no names to compare
        assert certificate.on(frame.to_numpy()).n_rows == len(frame)


@pytest.mark.parametrize("form", FORMS)
def test_new_rows_come_in_every_form(form):
    X = table(60, 12)
    expected = certify_columns(X, [1, 4]).on(X).to_dict()
    if "tall" in form:
        return
    found = certify_columns(X, [1, 4]).on(FORMS[form](X))
    if form not in ("far from centred",):
        assert_allclose(found.low, expected["low"], rtol=1e-5)
        assert_allclose(found.high, expected["high"], rtol=1e-5)


# ---------------------------------------------------------------- any columns


def test_columns_are_named_counted_or_marked():
    frame = load_wine(as_frame=True).data
    names = ["hue", "alcohol", "proline"]
    where = [list(frame.columns).index(name) for name in names]
    mask = np.isin(np.arange(13), where)
    expected = certify_columns(frame.to_numpy(), where).to_dict()
    assert expected["names"] is None
    for columns in (names, pd.Index(names), np.array(names), tuple(where)):
        found = certify_columns(frame, columns).to_dict()
        assert found == {**expected, "names": names}
    marked = certify_columns(frame, mask).to_dict()
    assert sorted(marked["columns"]) == sorted(expected["columns"])
    assert_allclose(marked["plain"]["explained"], expected["plain"]["explained"])
    assert certify_columns(frame, "hue").n_selected == 1


def test_a_certificate_of_columns_is_that_of_a_selector_that_chose_them():
    X, y = load_wine(return_X_y=True)
    selector = SelectKBest(f_classif, k=4).fit(X, y)
    for keywords in ({}, {"rank": 2}, {"rank": "full"}, {"ridge": "auto"}):
        if keywords.get("rank") == "full":
            continue
        one = certify_selector(selector, X, method="mine", **keywords).to_dict()
        other = certify_columns(
            X, selector.get_support(), method="mine", **keywords
        ).to_dict()
        assert one == other


def test_columns_that_are_not_there_are_refused():
    frame = load_wine(as_frame=True).data
    for columns, words in (
        (["hue", "colour"], ("columns has names that X has not", "'colour'")),
        (["alcohl"], ("'alcohl'", "Is it 'alcohol'?")),
        (["hue", "hue"], ("'hue'", "more than once")),
        ([0, 13], ("columns=", "13", "distinct", "0 to 12")),
        ([-1], ("columns=", "-1", "distinct", "0 to 12")),
        ([2, 3, 2], ("columns=", "2, 3, 2", "distinct")),
        ([], ("columns is empty",)),
        (np.zeros(13, dtype=bool), ("columns is empty",)),
        (np.ones(12, dtype=bool), ("mask of shape (12,)", "13 features")),
        ([0.5, 1.5], ("columns=", "integers from 0 to 12")),
        ([[0, 1]], ("columns=", "integers from 0 to 12")),
        ({"hue"}, ("columns=", "a list of names or indices, or a mask")),
    ):
        with refused(*words):
            certify_columns(frame, columns)
    with refused("columns has names", "pass a frame"):
        certify_columns(frame.to_numpy(), ["hue"])
    twice = frame.set_axis(["a"] * 13, axis=1)
    with refused("two columns of one name"):
        certify_columns(twice, ["a"])


# ---------------------------------------------------------------- forms of the whole


@pytest.mark.parametrize("ridge", [None, "auto"])
def test_all_forms_of_a_certificate_have_the_same_numbers(ridge):
    X = StandardScaler().fit_transform(load_wine().data)
    certificate = BSSSelector(5, ridge=ridge).fit(X).certificate_
    numbers = certificate.to_dict()
    assert json.loads(certificate.to_json()) == json.loads(json.dumps(numbers))
    state = pickle.dumps(BSSSelector(5, ridge=ridge).fit(X).certificate_)
    assert len(state) < 6000
    again = pickle.loads(state)
    assert again.to_dict() == numbers and str(again) == str(certificate)
    frame = certificate.to_frame()
    plain = certificate.plain
    assert (
        frame.loc["explained part of the variance", "measured"] == plain.explained.share
    )
    best = frame["best possible"].dropna()
    assert (frame.loc[best.index, "measured"] <= best + 1e-9).all()
    for text in (str(certificate), certificate._repr_html_()):
        assert f"{plain.explained.share:.1%}" in text and "nan" not in text
        assert f"{plain.explained.n_random_below} of 200 random choices" in text


def test_the_first_sentences_answer_four_questions():
    X = StandardScaler().fit_transform(load_wine().data)
    certificate = BSSSelector(3).fit(X).certificate_
    what, to_come, distances = certificate.sentences()
    e = certificate.plain.explained
    assert what.startswith("3 of 13 columns")
    assert f"{e.share:.1%}" in what and f"{e.n_random_below} of 200" in what
    assert f"{np.ceil(1000 * e.ceiling) / 10:.1f}%" in what
    assert f"{e.left_out:.1%}" in to_come and "certificate.on(X_new)" in to_come
    assert "squared distance" in distances


def test_a_selection_worse_than_random_says_so():
    """The default rank with three columns of wine, the first case of the book's users."""
    X = StandardScaler().fit_transform(load_wine().data)
    e = certify_columns(X, [1, 2, 3]).plain.explained
    low, high = e.random_range
    assert e.n_random_below < 100 and low < high < e.ceiling


def test_blocks_know_less():
    X = np.random.default_rng(0).standard_normal((200, 30)) + 2

    memory = BSSSelector(8).fit(X)
    blocks = as_blocks(lambda: iter(np.array_split(X, 3)), axis=0)
    plain = BSSSelector(8).fit(blocks).certificate_.plain
    S = memory.selected_
    fit = X[:, S] @ np.linalg.lstsq(X[:, S], X)[0]
    found = plain.explained
    assert found.of == "squared norm" and found.left_out is None
    assert_allclose(found.share, 1 - np.sum((X - fit) ** 2) / np.sum(X**2), rtol=1e-9)
    assert plain.pairs is None
    assert_array_equal(np.sort(plain.indices), np.sort(S))


def test_blocks_of_features_have_the_columns_that_were_chosen():
    X = table(30, 200)

    memory = DSFSelector(8, rule="first").fit(X).certificate_.plain
    blocks = as_blocks(lambda: iter(np.array_split(X, 4, axis=1)), axis=1)
    plain = DSFSelector(8, rule="first").fit(blocks).certificate_.plain
    assert_array_equal(plain.indices, memory.indices)
    assert_allclose(plain.explained.share, memory.explained.share, rtol=1e-6)
    assert plain.explained.n_random == 0 and plain.ceiling is None
    assert_allclose(plain.pairs.quantiles, memory.pairs.quantiles, atol=1e-6)


def test_arrays_of_a_device_give_the_same(dense_library):
    for X in (table(), table().T.copy()):
        expected = BSSSelector(8).fit(X).certificate_.plain
        found = BSSSelector(8).fit(dense_library.make(X)).certificate_.plain
        assert_allclose(found.explained.share, expected.explained.share, rtol=1e-6)
        assert_allclose(
            found.explained.left_out, expected.explained.left_out, rtol=1e-6
        )
        assert_allclose(found.pairs.quantiles, expected.pairs.quantiles, atol=1e-6)
    new = certify_columns(dense_library.make(table(50, 12)), [1, 4])
    again = certify_columns(table(50, 12), [1, 4])
    rows = table(50, 12, 3)
    assert_allclose(new.on(dense_library.make(rows)).low, again.on(rows).low, rtol=1e-6)


def test_columns_that_are_taken_are_copies():
    X = table()
    C = take_columns(X, [1, 2])
    X[:] = 0
    assert np.abs(C).max() > 0


# ---------------------------------------------------------------- what fit warns of


@pytest.mark.parametrize("by", [1.0, -3.0])
def test_a_chosen_column_with_a_twin_is_named_once(by):
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((30, 12))).add_prefix("c")
    X["twin"] = by * X["c3"]
    for selector in (
        BSSSelector(12),
        BSSSelector(12, ridge="auto"),
        DSFSelector(12),
        LeverageSelector(12, rule="largest"),
    ):
        with pytest.warns(UserWarning) as warned:
            selector.fit(X)
        said = [str(w.message) for w in warned if "multiples" in str(w.message)]
        assert len(said) == 1 and "'c3'" in said[0] and "'twin'" in said[0]
        assert "Drop" in said[0]


def test_columns_without_twins_and_words_are_no_reason_to_warn(recwarn):
    X = np.random.default_rng(0).standard_normal((30, 12))
    BSSSelector(8).fit(X)
    X[:, 3] = X[:, 2]
    BSSSelector(8).fit(sp.csr_array(X))
    # a category that is rare, and has another name
    X[:, 3] = X[:, 2] = np.arange(30) < 9
    BSSSelector(8).fit(X)
    assert not [w for w in recwarn if "multiples" in str(w.message)]


# ---------------------------------------------------------------- drawn


def test_a_picture_shows_the_numbers_of_the_first_lines():
    X = StandardScaler().fit_transform(load_wine().data)
    selector = BSSSelector(5).fit(X)
    display = KeptDisplay.from_selector(selector).plot()
    plain = selector.certificate_.plain
    explained, pairs = display.axes_
    widths = {round(bar.get_width(), 6) for bar in explained.patches}
    assert {
        round(plain.explained.share, 6),
        round(plain.explained.ceiling, 6),
    } <= widths
    drawn = np.concatenate([line.get_xdata() for line in explained.get_lines()])
    for number in (plain.explained.left_out, *plain.explained.random_range):
        assert np.isclose(drawn, number).any()
    (box,) = pairs.patches
    assert_allclose(box.get_x(), plain.pairs.quantiles[2])
    assert_allclose(box.get_x() + box.get_width(), plain.pairs.quantiles[4])
    figure, axes = plt.subplots(2, 1)
    assert KeptDisplay(selector.certificate_).plot(axes).figure_ is figure
    plt.close("all")


def test_a_picture_of_what_is_not_known_is_refused():
    X = np.random.default_rng(0).standard_normal((200, 30))
    blocks = as_blocks(lambda: iter(np.array_split(X, 3)), axis=0)
    with refused("X was in blocks", "certify_columns"):
        KeptDisplay.from_selector(BSSSelector(8).fit(blocks)).plot()


@pytest.mark.parametrize("n_rows", range(80, 96))
def test_what_is_short_of_the_asked_part_is_not_said_to_be_it(n_rows):
    rng = np.random.default_rng(0)
    selector = BSSSelector(4).fit(rng.standard_normal((60, 12)))
    to_come = selector.certificate_.on(rng.standard_normal((n_rows, 12)))
    said = str(to_come)
    assert ("at least 90%" in said) == (to_come.content >= to_come.asked_content)
    assert ("more rows are needed" in said) == (to_come.content < to_come.asked_content)


@pytest.mark.parametrize("n, d", [(60, 1500), (700, 900)])
def test_of_blocks_of_features_nothing_is_said_that_memory_does_not_say(n, d):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 20)) @ rng.standard_normal((20, d))
    X = X + rng.standard_normal((n, d))
    selector = BSSSelector(30, rank=5, rule="largest-norm")
    known = clone(selector).fit(X).certificate_.plain
    blocks = as_blocks(lambda: (X[:, a : a + 300] for a in range(0, d, 300)), axis=1)
    found = clone(selector).fit(blocks).certificate_.plain
    np.testing.assert_array_equal(found.indices, known.indices)
    if found.explained is not None:
        np.testing.assert_allclose(found.explained.share, known.explained.share)
    if found.pairs is not None:
        np.testing.assert_allclose(found.pairs.quantiles, known.pairs.quantiles)
