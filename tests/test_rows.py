"""Rows with weights: the theorem and its sharp case, what the selector gives and refuses,
and CUR.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from fsel_book import (
    BSSSelector,
    Constraints,
    DSFSelector,
    GroupSelector,
    LeverageSelector,
    RandomSelector,
    RowSelector,
    RRQRSelector,
    cur,
)
from fsel_book.rows import excess_of, target_columns
from fsel_book.sparsification import bss_promise


def heavy(seed, n=300, d=6, n_targets=None):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(2, (n, d))
    shape = (d,) if n_targets is None else (d, n_targets)
    y = 2 + X @ rng.standard_normal(shape)
    return X, y + rng.standard_t(2, y.shape)


def loss(model, X, y, s=None):
    squares = (y - model.predict(X)) ** 2
    return np.sum(squares if s is None else s * squares)


def excess(rows, X, y, s=None):
    few = LinearRegression().fit(X[rows.indices_], y[rows.indices_], rows.weights_)
    return loss(few, X, y, s) / loss(LinearRegression().fit(X, y, s), X, y, s) - 1


SELECTORS = {
    "BSS": BSSSelector(rank="full", rule="best"),
    "longest": BSSSelector(rank="full", rule="largest-norm"),
    "sampled": BSSSelector(rank="full", rule="sampled", random_state=0),
    "leverage": LeverageSelector(rank="full", random_state=0),
    "largest": LeverageSelector(rank="full", rule="largest"),
    "random": RandomSelector(rank="full", random_state=0),
    "RRQR": RRQRSelector(rank="full"),
    "exchanged": BSSSelector(rank="full", exchange=True),
}


# ---------------------------------------------------------------- the theorem


@pytest.mark.parametrize("name", SELECTORS)
def test_the_loss_keeps_to_the_certificate(name):
    for seed in range(5):
        X, y = heavy(seed)
        rows = RowSelector(40, selector=SELECTORS[name]).fit(X, y)
        assert -1e-9 <= excess(rows, X, y) <= rows.certificate_.excess + 1e-9


@pytest.mark.parametrize("name", ["BSS", "leverage"])
def test_the_certified_factors_are_those_of_all_losses_and_are_met(name):
    X, y = heavy(1)
    rows = RowSelector(40, selector=SELECTORS[name]).fit(X, y)
    A = np.column_stack([np.ones(len(X)), X, y])
    Q = np.linalg.qr(A)[0]
    few = Q[rows.indices_]
    spectrum = np.linalg.eigvalsh(few.T @ (rows.weights_[:, None] * few))
    assert_allclose(rows.certificate_.interval, spectrum[[0, -1]], rtol=1e-6)
    assert np.mean(spectrum) == pytest.approx(1)


def test_the_worst_table_loses_all_that_the_theorem_allows():
    a, b = 0.3, 2.4
    cosine, sine = np.sqrt([a / (a + b), b / (a + b)])
    x = np.array([[sine], [-cosine]])
    y = np.array([cosine, sine])
    few = LinearRegression(fit_intercept=False).fit(x, y, [a, b])
    best = LinearRegression(fit_intercept=False).fit(x, y)
    assert loss(few, x, y) / loss(best, x, y) - 1 == pytest.approx(excess_of(b / a))
    assert excess_of(1.0) == 0 and excess_of(np.inf) == np.inf


@pytest.mark.parametrize("ratio", [1.5, 2, 4, 10])
def test_what_is_promised_is_the_formula(ratio):
    X, y = heavy(2)
    ell = X.shape[1] + 2
    r = int(ratio * ell)
    certificate = RowSelector(r).fit(X, y).certificate_
    assert certificate.holds
    assert certificate.promised_excess == pytest.approx(4 * ell * r / (r - ell) ** 2)
    promise = bss_promise(ell, r)
    assert certificate.promised_excess == pytest.approx(
        excess_of(promise.upper / promise.lower)
    )


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e3])
def test_with_any_ridge_the_objective_keeps_to_the_certificate(alpha):
    X, y = heavy(3)
    rows = RowSelector(30).fit(X, y)
    few = X[rows.indices_], y[rows.indices_]

    def objective(model):
        return loss(model, X, y) + alpha * np.sum(model.coef_**2)

    ours = objective(Ridge(alpha).fit(*few, sample_weight=rows.weights_))
    assert ours <= (1 + rows.certificate_.excess) * objective(Ridge(alpha).fit(X, y))


def test_with_a_lasso_the_objective_is_at_most_kappa_times_the_least():
    X, y = heavy(4)
    rows = RowSelector(60).fit(X, y)
    total = rows.weights_.sum()

    def objective(model):
        return loss(model, X, y) + 40.0 * np.abs(model.coef_).sum()

    # Lasso divides the loss by twice the sum of the weights
    few = Lasso(alpha=20.0 / total).fit(
        X[rows.indices_], y[rows.indices_], sample_weight=rows.weights_
    )
    best = objective(Lasso(alpha=20.0 / len(X)).fit(X, y))
    assert best * (1 - 1e-6) <= objective(few) <= rows.certificate_.kappa * best


def test_several_targets_and_each_of_them():
    X, Y = heavy(5, n_targets=3)
    rows = RowSelector(50).fit(X, Y)
    bound = rows.certificate_.excess
    assert excess(rows, X, Y) <= bound
    assert all(excess(rows, X, y) <= bound for y in Y.T)


@pytest.mark.parametrize(
    "labels", [["b", "a"], [True, False], [3, 5, 9], ["x", "y", "z"]]
)
def test_classes_by_any_code(labels):
    X, y = heavy(6, n=200)
    cuts = np.quantile(y, np.linspace(0, 1, len(labels) + 1)[1:-1])
    y = np.array(labels)[np.digitize(y, cuts)]
    rows = RowSelector(40).fit(X, y)
    for one in labels:
        for code in (np.where(y == one, 1.0, -1.0), (y == one).astype(float)):
            assert excess(rows, X, code) <= rows.certificate_.excess
    mistakes = LinearRegression().fit(
        X[rows.indices_],
        np.where(y == labels[0], 1.0, -1.0)[rows.indices_],
        rows.weights_,
    )
    signs = np.where(y == labels[0], 1.0, -1.0)
    wrong = np.sum(np.sign(mistakes.predict(X)) != signs)
    assert wrong <= loss(mistakes, X, signs)


def test_weights_that_rows_have_already_are_factors():
    X, y = heavy(7)
    s = np.random.default_rng(0).integers(0, 4, len(X)).astype(float)
    rows = RowSelector(40).fit(X, y, sample_weight=s)
    assert np.all(s[rows.indices_] > 0)
    assert excess(rows, X, y, s) <= rows.certificate_.excess
    low, high = rows.certificate_.interval
    # the column of ones
    assert low * s.sum() <= rows.weights_.sum() <= high * s.sum()


def test_without_an_intercept_there_is_no_column_of_ones():
    X, y = heavy(8)
    rows = RowSelector(9, fit_intercept=False).fit(X, y)
    assert rows.certificate_.kept.rank == X.shape[1] + 1
    few = LinearRegression(fit_intercept=False).fit(
        X[rows.indices_], y[rows.indices_], rows.weights_
    )
    best = LinearRegression(fit_intercept=False).fit(X, y)
    bound = 1 + rows.certificate_.excess
    assert loss(few, X, y) <= bound * loss(best, X, y)


def test_units_do_not_matter_without_a_ridge():
    X, y = heavy(9)
    rows = RowSelector(40).fit(X, y)
    scales = np.array([1e6, 1e-6, 1, 3, 1e3, 1e-2])
    again = RowSelector(40).fit(X * scales, 1e-7 * y)
    assert_array_equal(again.indices_, rows.indices_)
    assert_allclose(again.weights_, rows.weights_, rtol=1e-4)


def test_fewer_rows_than_columns_at_a_ridge():
    X, y = heavy(10, d=30)
    X = X / X.std(axis=0)
    y = y / y.std()
    ridge = 400.0
    rows = RowSelector(20, selector=BSSSelector(ridge=ridge)).fit(X, y)
    certificate = rows.certificate_
    assert certificate.kept.rank > 20 > certificate.kept.effective_dimension
    A = np.column_stack([np.ones(len(X)), X])

    def fit(A, y, w, alpha):
        gram = A.T @ (w[:, None] * A) + alpha * np.eye(A.shape[1])
        return np.linalg.solve(gram, A.T @ (w * y))

    for alpha in (ridge, 3 * ridge):

        def objective(beta, alpha=alpha):
            return np.sum((y - A @ beta) ** 2) + alpha * (beta @ beta + 1)

        ours = fit(A[rows.indices_], y[rows.indices_], rows.weights_, alpha)
        best = objective(fit(A, y, np.ones(len(y)), alpha))
        assert best <= objective(ours) <= (1 + certificate.excess) * best
    assert certificate.excess < certificate.promised_excess
    said = " ".join(str(certificate).split())
    assert "penalty of 400" in said and "a loss, penalty included, on all rows" in said
    assert "least-squares" not in said


def test_at_a_ridge_the_factors_are_those_at_every_larger_ridge():
    X, y = heavy(23)
    selector = BSSSelector(ridge=500.0, exchange=True)
    certificate = RowSelector(20, selector=selector).fit(X, y).certificate_
    # plain rows, whose sum of squares is too small at its own ridge already
    assert certificate.kept.interval[1] < 1
    # at an infinite ridge it is one
    assert certificate.interval == (certificate.kept.interval[0], 1)


# ---------------------------------------------------------------- labels to come


def test_the_variance_of_labels_of_the_chosen_rows_alone():
    X, _ = heavy(11, n=120, d=3)
    rows = RowSelector(20).fit(X)
    A = np.column_stack([np.ones(len(X)), X])
    few = A[rows.indices_]
    map_of_errors = A @ np.linalg.solve(few.T @ few, few.T)
    expected = np.sum(map_of_errors**2) / A.shape[1]
    assert rows.certificate_.variance_ratio == pytest.approx(expected)
    assert expected < len(X) / 20
    assert rows.certificate_.excess is None
    assert rows.certificate_.promised_excess is None
    assert "Label these rows alone" in str(rows.certificate_)


def test_with_labels_seen_nothing_is_said_of_their_variance():
    X, y = heavy(11)
    certificate = RowSelector(20).fit(X, y).certificate_
    assert certificate.variance_ratio is None and "Label" not in str(certificate)


# ---------------------------------------------------------------- what is given and got


def test_rows_come_back_in_the_form_in_which_they_came():
    X, y = heavy(12)
    rows = RowSelector(30)
    X_r, y_r = rows.fit_resample(X, y)
    assert_array_equal(X_r, X[rows.indices_])
    assert_array_equal(y_r, y[rows.indices_])
    assert_array_equal(rows.indices_, np.unique(rows.indices_))
    frame = pd.DataFrame(X, columns=list("abcdef"), index=np.arange(len(X)) + 1000)
    F_r, s_r = rows.fit_resample(frame, pd.Series(y, index=frame.index))
    assert_array_equal(F_r.index, 1000 + rows.indices_)
    assert_array_equal(s_r, y_r)
    assert list(rows.feature_names_in_) == list("abcdef") and rows.n_features_in_ == 6
    L_r, l_r = rows.fit_resample(X.tolist(), y.tolist())
    assert l_r == y_r.tolist() and L_r == X_r.tolist()
    assert_array_equal(rows.fit_resample(X), X[rows.indices_])


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix, sp.coo_array])
def test_sparse_rows_are_those_of_the_dense_table(form):
    X, y = heavy(13)
    X = np.where(np.abs(X) > 1, X, 0)
    dense = RowSelector(30).fit(X, y)
    rows = RowSelector(30)
    X_r, _ = rows.fit_resample(form(X), y)
    assert_array_equal(rows.indices_, dense.indices_)
    assert_allclose(rows.weights_, dense.weights_, rtol=1e-6)
    assert_array_equal(X_r.toarray(), X[rows.indices_])
    s = np.arange(len(X)) % 3 + 1.0
    assert_allclose(
        RowSelector(30).fit(form(X), y, s).weights_,
        RowSelector(30).fit(X, y, s).weights_,
        rtol=1e-6,
    )


def test_single_precision_has_its_certificate():
    X, y = heavy(14)
    rows = RowSelector(40)
    X_r, _ = rows.fit_resample(X.astype(np.float32), y)
    assert X_r.dtype == np.float32
    assert excess(rows, X, y) <= rows.certificate_.excess * 1.01
    assert rows.certificate_.holds


def test_copies_of_rows_count_once():
    X, y = heavy(15, n=100)
    rows = RowSelector(30).fit(X, y)
    five = np.tile(np.arange(100), 5)
    again = RowSelector(30).fit(X[five], y[five])
    assert_array_equal(np.unique(five[again.indices_]), rows.indices_)
    assert again.weights_.sum() == pytest.approx(5 * rows.weights_.sum(), rel=1e-6)


def test_it_is_an_estimator_of_scikit_learn():
    rows = RowSelector(25, selector=BSSSelector(rank="full"), fit_intercept=False)
    assert rows.get_params()["selector__rank"] == "full"
    other = clone(rows).set_params(n_rows=12, selector__rule="best")
    X, y = heavy(16)
    assert len(other.fit(X, y).indices_) == 12 and other.selector.rule == "best"
    assert not hasattr(other.selector, "selected_")  # a clone was fitted
    assert rows.n_rows == 25 and rows.selector.rule == "auto"
    with pytest.raises(NotFittedError):
        _ = rows.indices_
    again = pickle.loads(pickle.dumps(other))
    assert_array_equal(again.indices_, other.indices_)
    assert again.__sklearn_tags__().input_tags.sparse
    assert clone(other).n_rows == 12 and clone(other).fit_intercept is False


@parametrize_with_checks([RowSelector(), RowSelector(selector=BSSSelector())])
def test_it_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_how_many_rows():
    X, y = heavy(17)
    assert len(RowSelector().fit(X, y).indices_) == 80  # ten for each of 8 columns
    assert len(RowSelector().fit(X[:50], y[:50]).indices_) == 50
    assert len(RowSelector(0.2).fit(X, y).indices_) == 60
    selector = BSSSelector(33, rank="full")
    assert len(RowSelector(selector=selector).fit(X, y).indices_) == 33
    assert len(RowSelector(44, selector=selector).fit(X, y).indices_) == 44
    by_theorem = RowSelector("theorem").fit(X, y)
    assert by_theorem.certificate_.kappa <= 9


def test_rows_that_may_not_be_taken_and_rows_in_groups():
    X, y = heavy(18)
    far = np.argsort(-np.abs(y))[:20]
    selector = BSSSelector(rank="full", exclude=far)
    rows = RowSelector(40, selector=selector).fit(X, y)
    assert not set(far) & set(rows.indices_)
    persons = np.arange(len(X)) // 10
    selector = GroupSelector(groups=persons, rule="best")
    rows = RowSelector(12, selector=selector).fit(X, y)
    taken = persons[rows.indices_]
    assert len(set(taken)) == 12 and np.all(np.bincount(taken)[list(set(taken))] == 10)


def test_rows_that_are_given_are_chosen_and_the_rest_keeps_to_the_constraints():
    X, y = heavy(18)
    planes = np.arange(len(X)) % 60
    given = np.argsort(np.abs(y))[:5]  # rows that would not be chosen for themselves
    given = given[np.unique(planes[given], return_index=True)[1]]
    free = RowSelector(40).fit(X, y)
    assert not set(given) <= set(free.indices_)
    excluded = np.setdiff1d(free.indices_[:10], given)
    rows = RowSelector(
        40, given=given, exclude=excluded, constraints=Constraints(at_most_one=planes)
    ).fit(X, y)
    assert set(given) <= set(rows.indices_) and not set(excluded) & set(rows.indices_)
    assert len(set(planes[rows.indices_])) == len(rows.indices_) == 40
    assert np.all(rows.weights_ > 0)
    assert -1e-9 <= excess(rows, X, y) <= rows.certificate_.excess + 1e-9
    # a mask says the same
    mask = np.isin(np.arange(len(X)), given)
    same = clone(rows).set_params(given=mask).fit(X, y)
    assert_array_equal(same.indices_, rows.indices_)


def test_constraints_that_ask_for_nothing_change_nothing():
    X, y = heavy(19)
    rows = RowSelector(40).fit(X, y)
    for asked in ({"given": []}, {"exclude": []}, {"constraints": Constraints()}):
        same = RowSelector(40, **asked).fit(X, y)
        assert_array_equal(same.indices_, rows.indices_)
        assert_allclose(same.weights_, rows.weights_, rtol=1e-9)


def test_what_the_search_cannot_keep_to_is_said_of_rows():
    X, y = heavy(20)
    of_nine = Constraints(at_most_one=np.arange(len(X)) % 9)
    with pytest.warns(UserWarning, match="no row that at_most_one leaves"):
        rows = RowSelector(40, constraints=of_nine).fit(X, y)
    assert len(rows.indices_) == 9


def test_only_leading_directions_say_nothing_about_a_loss():
    X, y = heavy(19)
    certificate = RowSelector(20, selector=DSFSelector(rank=3)).fit(X, y).certificate_
    assert not certificate.whole
    assert certificate.excess == np.inf and certificate.promised_excess is None
    assert "nothing is said" in str(certificate)


def test_a_lost_direction_is_no_bound():
    X, y = heavy(20)
    X[:, 2] = 0
    X[7, 2] = 1e3  # one row alone has it
    rows = RowSelector(30, selector=RandomSelector(rank="full", random_state=1))
    certificate = rows.fit(X, y).certificate_
    assert 7 not in rows.indices_
    assert certificate.excess == np.inf and "nothing certain" in str(certificate)
    assert 7 in RowSelector(30).fit(X, y).indices_


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda X, y: RowSelector(6).fit(X, y), "n_rows=6 .* 8 columns.*ridge='auto'"),
        (
            lambda X, y: RowSelector(6, selector=BSSSelector(rank="full")).fit(X, y),
            "sees rows as features",
        ),
        (lambda X, y: RowSelector(1000).fit(X, y), "300 rows and 8 columns"),
        (lambda X, y: RowSelector(20, selector=3).fit(X, y), "selector=3"),
        (
            lambda X, y: RowSelector(20, given=range(21)).fit(X, y),
            "21 rows, and n_rows=20 .* at least 21",
        ),
        (
            lambda X, y: RowSelector(20, given=[3], exclude=[3]).fit(X, y),
            "given has row 3, and exclude",
        ),
        (
            lambda X, y: RowSelector(
                20, given=[3, 4], constraints=Constraints(at_most_one=["a"] * 300)
            ).fit(X, y),
            "row 3 and row 4, which at_most_one",
        ),
        (
            lambda X, y: RowSelector(
                20, given=[3], constraints=Constraints(exactly_one={"a": [1, 2]})
            ).fit(X, y),
            "given does not go with",
        ),
        (
            lambda X, y: RowSelector(
                20, given=[3], selector=LeverageSelector(rank="full")
            ).fit(X, y),
            "given is not possible with LeverageSelector",
        ),
        (
            lambda X, y: RowSelector(
                20, given=[3], selector=BSSSelector(rank="full", exclude=[2])
            ).fit(X, y),
            "exclude of its own",
        ),
        (lambda X, y: RowSelector(20, given=[300]).fit(X, y), "given"),
        (lambda X, y: RowSelector(20, constraints=[3]).fit(X, y), "constraints"),
        (lambda X, y: RowSelector(20, fit_intercept=2).fit(X, y), "fit_intercept"),
        (lambda X, y: RowSelector(20).fit(X, y[:-1]), "y has shape"),
        (lambda X, y: RowSelector(20).fit(X, list("ab") * 20), "y has shape|could not"),
        (lambda X, y: RowSelector(20).fit(X, np.r_[y[:-1], np.nan]), "NaN"),
        (lambda X, y: RowSelector(20).fit(X, y, y), "not negative"),
        (lambda X, y: RowSelector(20).fit(X, y, np.ones(3)), "sample_weight"),
        (lambda X, y: RowSelector(20).fit(X, y, np.zeros(300)), "all zero"),
        (lambda X, y: RowSelector(20).fit(X + np.inf, y), "infinity"),
        (lambda X, y: RowSelector(20).fit(X, sp.csr_array(y[:, None])), "sparse"),
    ],
)
def test_what_is_not_possible_is_said(make, words):
    X, y = heavy(21)
    with pytest.raises(ValueError, match=words):
        make(X, y)


def test_a_fit_that_fails_leaves_nothing():
    X, y = heavy(22)
    rows = RowSelector(30).fit(X, y)
    with pytest.raises(ValueError):
        rows.set_params(n_rows=5).fit(X, y)
    assert not hasattr(rows, "indices_") and not hasattr(rows, "certificate_")


def test_targets_as_columns():
    assert_array_equal(
        target_columns(["b", "a", "b"], 3, "me"), [[0, 1], [1, 0], [0, 1]]
    )
    assert target_columns(np.arange(50), 50, "me").shape == (50, 1)
    assert target_columns(np.arange(8), 8, "me").shape == (8, 8)
    assert target_columns(np.ones((4, 3)), 4, "me").shape == (4, 3)
    assert_array_equal(target_columns([[0.5], [2.0]], 2, "me"), [[0.5], [2.0]])


# ---------------------------------------------------------------- CUR


@pytest.fixture
def matrix():
    rng = np.random.default_rng(3)
    left = rng.standard_normal((50, 8)) * 2.0 ** -np.arange(8)
    return left @ rng.standard_normal((8, 30)) + 0.01 * rng.standard_normal((50, 30))


def test_the_matrix_between_is_the_best(matrix):
    parts = cur(matrix, 6, 7)
    assert_array_equal(parts.C, matrix[:, parts.columns])
    assert_array_equal(parts.R, matrix[parts.rows])
    rest = matrix - parts.C @ parts.U @ parts.R
    squares = np.sum(matrix**2)
    assert np.sum(rest**2) / squares == pytest.approx(parts.error, rel=1e-6)
    rng = np.random.default_rng(0)
    for _ in range(10):
        U = parts.U + 1e-3 * rng.standard_normal(parts.U.shape)
        assert np.sum((matrix - parts.C @ U @ parts.R) ** 2) > np.sum(rest**2)


def test_the_error_is_between_the_larger_and_the_sum_of_both(matrix):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        columns = rng.choice(30, 5, replace=False)
        rows = rng.choice(50, 9, replace=False)
        parts = cur(matrix, columns, rows)
        both = parts.column_error, parts.row_error
        assert max(both) - 1e-12 <= parts.error <= sum(both) + 1e-12


@pytest.mark.parametrize("k, r", [(2, 8), (3, 12), (5, 20)])
def test_the_theorem_bounds_the_error_by_the_best_of_the_rank(matrix, k, r):
    parts = cur(matrix, DSFSelector(r, rank=k), DSFSelector(r, rank=k))
    squares = np.linalg.svd(matrix, compute_uv=False) ** 2
    best = squares[k:].sum() / squares.sum()
    assert parts.error <= 2 * (1 + 1 / (1 - np.sqrt(k / r)) ** 2) * best


def test_an_exact_matrix_is_given_back(matrix):
    exact = matrix[:, :4] @ matrix[:4, :]
    parts = cur(exact, 9, 9)
    assert_allclose(parts.C @ parts.U @ parts.R, exact, atol=1e-9)
    assert parts.error < 1e-12


def test_sparse_and_dense_agree_and_sparse_parts_stay_sparse(matrix):
    matrix = np.where(np.abs(matrix) > 0.5, matrix, 0)
    dense = cur(matrix, 6, BSSSelector(7))
    for form in (sp.csr_array, sp.csc_array):
        parts = cur(form(matrix), 6, BSSSelector(7))
        assert sp.issparse(parts.C) and sp.issparse(parts.R)
        assert_array_equal(parts.columns, dense.columns)
        assert_array_equal(parts.rows, dense.rows)
        assert_allclose(parts.U, dense.U, atol=1e-9)
        assert parts.error == pytest.approx(dense.error, rel=1e-9)


@pytest.mark.parametrize(
    "columns, rows, words",
    [
        (6, [3, 3], "rows="),
        ([1, 30], 5, "columns="),
        (0, 5, "n_features_to_select"),
        (5, 51, "n_features_to_select"),
    ],
)
def test_what_is_no_choice_is_said(matrix, columns, rows, words):
    with pytest.raises(ValueError, match=words):
        cur(matrix, columns, rows)
