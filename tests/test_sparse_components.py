"""Sparse components: the best of a rank in a span, bounds and errors of a regression,
the precision of the data.
"""

import re
import tracemalloc
import warnings

import mpmath
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from cases import (
    BAD_TARGETS,
    DRAWN,
    SPANS,
    best_in_span,
    dense,
    drawn,
    projection,
    refused,
    rms,
    sparse_table,
    swept,
    swept_product,
    swept_seeds,
    table,
    with_condition,
)
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    VarianceThreshold,
    f_regression,
)
from sklearn.linear_model import Lasso, LinearRegression
from sklearn.preprocessing import StandardScaler

from fsel_book import (
    DSFSelector,
    RRQRSelector,
    RSFSelector,
    SparsePCRegressor,
    bss,
    certify_span,
    row_space,
)
from fsel_book.dual_set import det_promise, det_sampling_reference
from fsel_book.sparse_components import (
    RegressionCertificate,
    best_rank_k_in_span,
    centred_columns,
)

RULES = ["first", "best", "components", "target"]  # of the selector
every_rule = pytest.mark.parametrize("rule", RULES)


# ---------------------------------------------------------------- the best matrix of
# rank k in a span

each_span = pytest.mark.parametrize("span", SPANS)


@each_span
def test_the_best_rank_k_in_a_span(span):
    C = SPANS[span]
    for seed in range(3):
        Y = np.random.default_rng(seed).standard_normal((len(C), 4))
        for k in (1, 2, 3, 4, 9):
            found = best_rank_k_in_span(C, Y, k)
            assert_allclose(found, best_in_span(C, Y, k), atol=1e-6)
            assert np.linalg.matrix_rank(found, tol=1e-9) <= k
        assert_allclose(best_rank_k_in_span(C, Y, 4), projection(C, Y), atol=1e-6)
        one = best_rank_k_in_span(C, Y[:, 0], 1)
        assert one.shape == (len(C),)
        assert_allclose(one, projection(C, Y[:, 0]), atol=1e-6)


def test_nothing_of_rank_k_in_the_span_is_closer():
    rng = np.random.default_rng(0)
    C = table(15, 6)
    Y = rng.standard_normal((15, 5))
    for k in (1, 2, 4):
        best = np.sum((Y - best_rank_k_in_span(C, Y, k)) ** 2)
        for _ in range(200):
            W = np.linalg.lstsq(C, Y)[0] + 0.3 * rng.standard_normal((6, 5))
            U, s, Vt = np.linalg.svd(C @ W, full_matrices=False)
            assert np.sum((Y - (U[:, :k] * s[:k]) @ Vt[:k]) ** 2) >= best * (1 - 1e-12)


def test_a_span_of_nothing_holds_nothing():
    assert_array_equal(best_rank_k_in_span(np.zeros((5, 3)), np.ones((5, 2)), 2), 0)


# ---------------------------------------------------------------- certificates


def certified(X, k, r, rule="best", y=None):
    return DSFSelector(r, rank=k, rule=rule).fit(X, y).certificate_


# rank and number of targets
REGRESSIONS = [(1, 1), (1, 4), (3, 1), (3, 2), (3, 7), (6, 3)]


@swept_product(
    ("kind", "intercept", "rule"),
    [
        (kind, (i + j) % 2 == 0, rule)
        for i, kind in enumerate(DRAWN[3:6])
        for j, rule in enumerate(RULES)
    ],
    DRAWN[:8],
    [False, True],
    RULES,
)
def test_orders_of_a_regression_certificate(kind, intercept, rule):
    X = drawn(kind)
    rng = np.random.default_rng(0)
    D = dense(X)
    U, s, _ = np.linalg.svd(D, full_matrices=False)
    for k, targets in REGRESSIONS:
        Y = (
            rng.standard_normal((len(D), targets))
            + 2
            + D @ rng.standard_normal((D.shape[1], targets)) * 0.1
        )
        for r in (k + 1, 3 * k + 1):
            selector = DSFSelector(r, rank=k, rule=rule).fit(X, Y)
            c = RegressionCertificate.of(selector.certificate_, Y, intercept)
            assert isinstance(c, RegressionCertificate)
            least = 1 - 1e-9
            assert c.measured >= 0 and c.measured <= c.targets / least
            assert (
                c.measured * least <= c.for_these <= c.for_every
                and c.components <= c.for_these
            )
            # What is promised follows from the cross term, or without an intercept from
            # the angle where that is less.
            assert c.for_these * least <= c.promised

            mean = Y.mean(axis=0) if intercept else 0.0
            Yc = Y - mean
            H = U[:, :k] * s[:k]
            C = D[:, selector.get_support()]
            if intercept:
                H = H - H.mean(axis=0)
                C = C - C.mean(axis=0)
            assert c.targets == pytest.approx(rms(Yc))
            if s[k - 1] > 1.001 * s[k]:
                assert c.components == pytest.approx(
                    rms(Yc - projection(H, Yc)), rel=1e-6
                )
                U_H = np.linalg.svd(H, full_matrices=False)[0]
                lost = (
                    np.linalg.norm(U_H - projection(C, U_H), 2)
                    * np.linalg.norm(U_H.T @ Yc)
                    / np.sqrt(Yc.size)
                )
                assert c.for_every == pytest.approx(
                    c.components + lost, rel=1e-6, abs=1e-7
                )
            assert c.measured == pytest.approx(
                rms(Yc - best_in_span(C, Yc, k)), rel=1e-6
            )


def test_the_bound_for_these_targets_is_lemma_4_or_that_for_every_target():
    """|Y - UU'Y| + |E R (V'R)^+ S^-1 U'Y|, by dense algebra, or the bound by the angle where that is smaller."""
    X = table(25, 70)
    Y = np.random.default_rng(0).standard_normal((25, 3))
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    for k, r in ((2, 5), (5, 9)):
        selector = DSFSelector(r, rank=k).fit(X)
        V = Vt[:k].T
        R = selector.sampling_.R.toarray()
        E = X - U[:, :k] * s[:k] @ Vt[:k]
        fit = np.linalg.norm(U[:, :k].T @ Y)
        made = np.linalg.norm(
            E @ R @ np.linalg.pinv(V.T @ R) @ ((U[:, :k].T @ Y) / s[:k, None])
        )
        outside = np.linalg.norm(Y - U[:, :k] @ (U[:, :k].T @ Y))
        c = RegressionCertificate.of(selector.certificate_, Y)
        assert c.for_these * np.sqrt(75) == pytest.approx(
            outside + min(made, selector.certificate_.sine * fit)
        )
        assert c.for_every * np.sqrt(75) == pytest.approx(
            outside + selector.certificate_.sine * fit
        )
        promise = det_promise(k, r)
        ratio = selector.certificate_.ratio
        spectral = np.linalg.norm((U[:, :k].T @ Y) / s[:k, None], 2)
        least = min(
            promise.cross * ratio * s[k - 1] * spectral, promise.sine(ratio) * fit
        )
        assert c.promised * np.sqrt(75) == pytest.approx(outside + least)


def test_what_holds_for_every_target_holds_for_these():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 20))
    y = rng.standard_normal(60)
    c = SparsePCRegressor(3).fit(X, y).certificate_
    assert c.measured <= c.for_these <= c.for_every
    A = np.random.default_rng(2).integers(-1, 2, (33, 32)).astype(float)
    y = np.linalg.svd(A)[0][:, 0]
    c = (
        SparsePCRegressor(
            1, n_features_to_select=2, selector=DSFSelector(rule="target")
        )
        .fit(A, y)
        .certificate_
    )
    assert (
        c.measured <= c.for_these <= c.for_every < c.targets
        and "bound for these targets" not in nothing(c)
    )


def test_words_of_a_regression_certificate():
    X = table(25, 70)
    y = table(25, 1)[:, 0]
    c = RegressionCertificate.of(certified(X, 4, 10), y)
    assert (
        len(c.table()) == 6
        and [value for _, value in c.table()][1] == f"{c.measured:.4g}"
    )
    for text in (str(c), repr(c), c._repr_html_()):
        assert (
            f"{c.measured:.4g}" in text
            and "root mean square" in text
            and "nan" not in text
        )
    no_promise = RegressionCertificate.of(
        certify_span(row_space(X, 4), bss(row_space(X, 4), 9)), y
    )
    assert no_promise.promised == np.inf and "nothing is promised" in str(no_promise)


# ---------------------------------------------------------------- sparse principal
# component regression


def plain_fit(C, Y, intercept):
    """Ordinary least squares on some columns, its fitted values."""
    C = dense(C).astype(float)
    A = np.column_stack([np.ones(len(C)), C]) if intercept else C
    scale = np.linalg.norm(A, axis=0)
    return A @ (
        np.linalg.lstsq(A / scale, Y)[0] / scale.reshape([-1] + [1] * (Y.ndim - 1))
    )


FORMS = {"dense": np.asarray, "csr": sp.csr_array, "csc": sp.csc_matrix}
each_form = pytest.mark.parametrize("form", FORMS)
intercepts = pytest.mark.parametrize("intercept", [False, True])


@each_form
@intercepts
@pytest.mark.parametrize("targets", [None, 1, 3])
def test_as_many_components_as_targets_are_plain_least_squares(
    targets, intercept, form
):
    X = sparse_table(40, 30, 0.4).toarray() + 0.5
    rng = np.random.default_rng(0)
    Y = rng.standard_normal(40 if targets is None else (40, targets)) + 3
    for k, r in ((3, 4), (3, 9), (5, 12)):
        model = SparsePCRegressor(
            k, n_features_to_select=r, fit_intercept=intercept
        ).fit(FORMS[form](X), Y)
        fitted = model.predict(FORMS[form](X))
        assert fitted.shape == Y.shape
        assert_allclose(
            fitted, plain_fit(X[:, model.selected_], Y, intercept), atol=1e-9
        )
        assert model.n_components_ == (targets or 1)
        assert len(model.selected_) <= r and np.all(np.diff(model.selected_) > 0)


@each_form
@intercepts
def test_fewer_components_than_targets_are_the_best_of_their_rank(intercept, form):
    X = sparse_table(40, 30, 0.4).toarray() + 0.5
    Y = np.random.default_rng(0).standard_normal((40, 5)) * [1, 5, 2, 1, 0.1] + 2
    for k, r in ((1, 3), (2, 6), (4, 12)):
        model = SparsePCRegressor(
            k, n_features_to_select=r, fit_intercept=intercept
        ).fit(FORMS[form](X), Y)
        C = X[:, model.selected_]
        mean = Y.mean(axis=0) if intercept else np.zeros(5)
        if intercept:
            C = C - C.mean(axis=0)
        assert_allclose(
            model.predict(FORMS[form](X)),
            best_in_span(C, Y - mean, k) + mean,
            atol=1e-9,
        )
        assert model.n_components_ == k


@intercepts
def test_all_features_and_all_components_are_principal_component_regression(intercept):
    """And with all features but fewer components than the rank, for one target, what
    all features give.
    """
    for X in (table(50, 12), table(50, 5) @ table(5, 12), table(12, 40)):
        Y = np.random.default_rng(0).standard_normal((len(X), 20))
        centred = X - X.mean(axis=0) if intercept else X
        rank = np.linalg.matrix_rank(centred)
        mean = Y.mean(axis=0) if intercept else 0.0
        U = np.linalg.svd(centred)[0][:, :rank]
        expected = U @ (U.T @ (Y - mean)) + mean
        if intercept:
            scores = PCA(rank).fit_transform(X)
            assert_allclose(
                LinearRegression().fit(scores, Y).predict(scores), expected, atol=1e-8
            )
        model = SparsePCRegressor(
            rank, selector=VarianceThreshold(), fit_intercept=intercept
        ).fit(X, Y)
        assert_allclose(model.predict(X), expected, atol=1e-8)
        certificate = model.certificate_
        assert certificate.measured == pytest.approx(certificate.components)
        assert certificate.components == pytest.approx(rms(Y - expected))
        if rank < X.shape[1]:
            model = SparsePCRegressor(
                rank, n_features_to_select=X.shape[1], fit_intercept=intercept
            ).fit(X, Y)
            assert_allclose(model.predict(X), expected, atol=1e-8)


@swept_product(
    ("dtype", "intercept", "form"),
    [
        (np.float64, True, "dense"),
        (np.float64, False, "csr"),
        (np.float64, True, "csc"),
        (np.float32, False, "dense"),
        (np.float32, True, "csr"),
    ],
    [np.float64, np.float32],
    [False, True],
    FORMS,
)
def test_components_and_what_is_made_of_them(dtype, intercept, form):
    X = FORMS[form](sparse_table(40, 30, 0.4).toarray().astype(dtype))
    Y = np.random.default_rng(0).standard_normal((40, 5)) + 1
    tolerance = 1e-9 if dtype == np.float64 else 1e-4
    for k, r in ((1, 2), (3, 8), (6, 15)):
        for targets in (Y, Y[:, :1], Y[:, 0]):
            model = SparsePCRegressor(
                k, n_features_to_select=r, fit_intercept=intercept
            ).fit(X, targets)
            A = model.components_
            assert (
                A.shape == (model.n_components_, 30)
                and A.dtype == model.coef_.dtype == dtype
            )
            used = np.flatnonzero(np.any(A != 0, axis=0))
            assert len(used) <= r and set(used) <= set(model.selected_)
            assert_array_equal(
                np.flatnonzero(np.any(np.atleast_2d(model.coef_) != 0, axis=0)), used
            )
            Z = model.transform(X)
            assert Z.shape == (40, model.n_components_) and Z.dtype == dtype
            assert_allclose(Z, dense(X) @ A.T, atol=tolerance)
            predictions = model.predict(X)
            assert predictions.shape == targets.shape
            assert_allclose(
                predictions, dense(X) @ model.coef_.T + model.intercept_, atol=tolerance
            )
            # The predictions are the regression on the components, with loadings that
            # do not depend on the data ...
            assert_allclose(
                plain_fit(Z, targets, intercept), predictions, atol=10 * tolerance
            )
            # ... orthonormal, the components being orthogonal, longest first, their
            # largest entries positive.
            gram = A.astype(float) @ A.T.astype(float)
            assert_allclose(gram, np.diag(np.diag(gram)), atol=tolerance * gram[0, 0])
            assert np.all(np.diff(np.diag(gram)) <= tolerance)
            assert np.all(A[np.arange(len(A)), np.abs(A).argmax(axis=1)] > 0)
            loadings = np.atleast_2d(model.coef_).astype(float) @ np.linalg.pinv(
                A.astype(float)
            )
            assert_allclose(loadings.T @ loadings, np.eye(len(A)), atol=100 * tolerance)
            assert intercept or np.all(np.asarray(model.intercept_) == 0)


def test_frames_and_names():
    X = table(30, 12)
    y = table(30, 1)[:, 0]
    frame = pd.DataFrame(X).add_prefix("f")
    plain = SparsePCRegressor(4, n_features_to_select=6).fit(X, y)
    model = (
        SparsePCRegressor(4, n_features_to_select=6)
        .set_output(transform="pandas")
        .fit(frame, pd.DataFrame({"y": y}))
    )
    assert model.feature_names_in_.tolist() == [f"f{j}" for j in range(12)]
    assert set(model.selector_.get_feature_names_out()) == {
        f"f{j}" for j in model.selected_
    }
    out = model.transform(frame)
    assert (
        list(out.columns)
        == list(model.get_feature_names_out())
        == ["sparsepcregressor0"]
    )
    assert_allclose(out.to_numpy(), plain.transform(X))
    assert_allclose(model.predict(frame)[:, 0], plain.predict(X))
    with refused("feature names"):
        model.predict(frame[frame.columns[::-1]])
    assert_allclose(
        SparsePCRegressor(4, n_features_to_select=6).fit(X.tolist(), y.tolist()).coef_,
        plain.coef_,
    )


def test_shapes_with_one_target():
    X = table(30, 12)
    y = table(30, 1)[:, 0]
    vector = SparsePCRegressor(2).fit(X, y)
    column = SparsePCRegressor(2).fit(X, y[:, None])
    assert (
        vector.coef_.shape == (12,)
        and isinstance(vector.intercept_, float)
        and vector.predict(X).shape == (30,)
    )
    assert (
        column.coef_.shape == (1, 12)
        and column.intercept_.shape == (1,)
        and column.predict(X).shape == (30, 1)
    )
    assert_allclose(column.predict(X)[:, 0], vector.predict(X))
    assert vector.get_feature_names_out().tolist() == ["sparsepcregressor0"]


def test_out_of_sample_predictions_are_those_of_the_plain_regression():
    X = table(60, 20)
    y = table(60, 1)[:, 0]
    model = SparsePCRegressor(3, n_features_to_select=7).fit(X[:40], y[:40])
    plain = LinearRegression().fit(X[:40][:, model.selected_], y[:40])
    assert_allclose(
        model.predict(X[40:]), plain.predict(X[40:][:, model.selected_]), rtol=1e-7
    )
    assert_allclose(model.coef_[model.selected_], plain.coef_, rtol=1e-7)
    assert model.intercept_ == pytest.approx(plain.intercept_)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
def test_sparse_data_are_centred_as_dense_ones_are(form):
    X = sparse_table(60, 40, 0.3) + sp.csr_array(
        np.outer(np.ones(60), np.r_[5 * np.ones(10), np.zeros(30)])
    )
    y = np.random.default_rng(0).standard_normal(60) + 100
    model = SparsePCRegressor(4, n_features_to_select=9).fit(form(X), y)
    plain = SparsePCRegressor(4, n_features_to_select=9).fit(dense(X), y)
    assert_array_equal(model.selected_, plain.selected_)
    assert_allclose(model.predict(X), plain.predict(dense(X)), rtol=1e-9)
    assert_allclose(model.components_, plain.components_, atol=1e-9)
    for name in ("components", "for_these", "for_every", "promised", "targets"):
        assert_allclose(
            getattr(model.certificate_, name),
            getattr(plain.certificate_, name),
            rtol=1e-7,
        )


def test_sparse_data_for_a_selector_that_does_not_centre():
    """The selection sees X as it is; the intercept is that of ordinary regression all
    the same, and components are those of the centred data.
    """
    X = sparse_table(60, 40, 0.3) + sp.csr_array(
        np.outer(np.ones(60), np.r_[5 * np.ones(10), np.zeros(30)])
    )
    y = np.random.default_rng(0).standard_normal(60) + 100
    model = SparsePCRegressor(4, n_features_to_select=9, selector=RRQRSelector())
    model.fit(X, y)
    assert_array_equal(
        model.selected_, np.sort(RRQRSelector(9, rank=4).fit(X).selected_)
    )
    C = dense(X)[:, model.selected_]
    plain = LinearRegression().fit(C, y)
    assert_allclose(model.predict(X), plain.predict(C), rtol=1e-9)
    assert model.intercept_ == pytest.approx(plain.intercept_)
    assert model.certificate_.measured == pytest.approx(rms(y - plain.predict(C)))
    U, s, _ = np.linalg.svd(dense(X) - dense(X).mean(axis=0), full_matrices=False)
    components = U[:, :4] * s[:4]
    assert model.certificate_.components == pytest.approx(
        rms(y - LinearRegression().fit(components, y).predict(components))
    )
    assert model.certificate_.targets == pytest.approx(np.std(y))


def test_centring_makes_one_copy():
    X = table(500, 400)
    tracemalloc.start()
    centred = centred_columns(X)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert_allclose(centred, X - X.mean(axis=0), atol=1e-12)
    assert most < 1.1 * X.nbytes


def test_dense_data_are_centred_before_features_are_chosen():
    X = table(40, 30) + 20
    y = table(40, 1)[:, 0]
    model = SparsePCRegressor(3, n_features_to_select=8).fit(X, y)
    centred = X - X.mean(axis=0)
    assert_array_equal(
        model.selected_, np.sort(DSFSelector(8, rank=3).fit(centred).selected_)
    )
    plain = SparsePCRegressor(3, n_features_to_select=8, fit_intercept=False).fit(X, y)
    assert_array_equal(
        plain.selected_, np.sort(DSFSelector(8, rank=3).fit(X).selected_)
    )


@swept_product(
    ("form", "intercept"),
    [("dense", False), ("csr", True), ("csc", False), ("dense", True)],
    FORMS,
    [False, True],
)
def test_the_certificate_of_a_fit_is_about_that_fit(form, intercept):
    X = sparse_table(40, 30, 0.4).toarray() + 0.5
    for targets in (1, 2, 6):
        Y = np.random.default_rng(targets).standard_normal((40, targets)) + 1
        for k, r in ((1, 3), (4, 9)):
            for selector in (
                None,
                DSFSelector(rule="target"),
                RSFSelector(random_state=0),
            ):
                model = SparsePCRegressor(
                    k,
                    n_features_to_select=r,
                    selector=selector,
                    fit_intercept=intercept,
                )
                model.fit(FORMS[form](X), Y)
                c = model.certificate_
                error = rms(Y - model.predict(FORMS[form](X)))
                assert c.measured == pytest.approx(error, rel=1e-8)
                assert error <= c.for_these * (1 + 1e-9)
                if not isinstance(selector, RSFSelector):
                    assert c.for_these <= c.promised * (1 + 1e-6)


def test_numbers_that_are_left_open():
    X = table(40, 30)
    y = table(40, 1)[:, 0]
    # all to the selector: half of the features, half of these as rank
    model = SparsePCRegressor().fit(X, y)
    assert model.selector_.n_draws_ == 15 and model.selector_.certificate_.rank == 7
    for k, r in ((2, 6), (5, 15), (12, 30)):
        model = SparsePCRegressor(k).fit(X, y)
        assert model.selector_.n_draws_ == r and model.selector_.certificate_.rank == k
    model = SparsePCRegressor(n_features_to_select=10).fit(X, y)
    assert model.selector_.n_draws_ == 10 and model.selector_.certificate_.rank == 5
    model = SparsePCRegressor(2, n_features_to_select=0.5).fit(X, y)
    assert model.selector_.n_draws_ == 15
    given = DSFSelector(rule="first", eps=0.3)
    model = SparsePCRegressor(2, n_features_to_select=9, selector=given).fit(X, y)
    assert given.n_features_to_select is None and model.selector_ is not given
    assert (model.selector_.rule, model.selector_.eps, model.selector_.rank) == (
        "first",
        0.3,
        2,
    )


def test_numbers_of_the_selector_itself_count_where_the_regressor_has_none():
    X = table(40, 30)
    y = table(40, 1)[:, 0]
    model = SparsePCRegressor(selector=DSFSelector(12, rank=4)).fit(X, y)
    assert model.selector_.n_draws_ == 12 and model.selector_.certificate_.rank == 4
    model = SparsePCRegressor(3, selector=DSFSelector(12, rank=4)).fit(X, y)
    assert model.selector_.n_draws_ == 9 and model.selector_.certificate_.rank == 3
    model = SparsePCRegressor(
        selector=RFE(LinearRegression(), n_features_to_select=5)
    ).fit(X, y)
    assert len(model.selected_) == 5


@pytest.mark.parametrize(
    "selector, chosen",
    [
        (SelectKBest(f_regression, k=6), 6),
        (SelectFromModel(Lasso(alpha=0.02)), None),
        (VarianceThreshold(), 30),
    ],
    ids=["k best", "lasso", "all"],
)
def test_selectors_of_scikit_learn(selector, chosen):
    X = table(40, 30)
    y = X[:, 4] - X[:, 11] + 0.1 * np.random.default_rng(0).standard_normal(40)
    for k in (None, 2):
        model = SparsePCRegressor(k, selector=selector).fit(X, y)
        kept = np.flatnonzero(model.selector_.get_support())
        assert_array_equal(model.selected_, kept)
        assert chosen is None or len(kept) == chosen
        assert_allclose(model.predict(X), plain_fit(X[:, kept], y, True), atol=1e-9)
        c = model.certificate_
        assert c.promised == np.inf and c.measured <= c.for_these * (1 + 1e-9)
        rank = k or max(1, min(10, len(kept) // 2))
        U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
        fit = U[:, :rank] @ (U[:, :rank].T @ (y - y.mean()))
        assert c.components == pytest.approx(rms(y - y.mean() - fit), rel=1e-7)


@pytest.mark.parametrize("scale", [1e148, 1e-148])
@intercepts
def test_predictions_of_data_and_targets_at_extreme_scales(intercept, scale):
    X = table(30, 40)
    Y = np.random.default_rng(0).standard_normal((30, 2))
    plain = SparsePCRegressor(3, n_features_to_select=8, fit_intercept=intercept).fit(
        X, Y
    )
    large = SparsePCRegressor(3, n_features_to_select=8, fit_intercept=intercept).fit(
        scale * X, Y
    )
    assert_array_equal(large.selected_, plain.selected_)
    assert_allclose(large.predict(scale * X), plain.predict(X), rtol=1e-6, atol=1e-9)
    assert large.certificate_.measured == pytest.approx(
        plain.certificate_.measured, rel=1e-6
    )
    large = SparsePCRegressor(3, n_features_to_select=8, fit_intercept=intercept).fit(
        X, scale * Y
    )
    assert_allclose(
        large.predict(X), scale * plain.predict(X), rtol=1e-6, atol=1e-9 * scale
    )
    assert large.certificate_.for_every == pytest.approx(
        scale * plain.certificate_.for_every, rel=1e-6
    )


def test_degenerate_regressions():
    """Constant targets, targets of zeros, features that repeat one another, more
    features than samples.
    """
    X = table(12, 40)
    constant = SparsePCRegressor(3).fit(X, np.full(12, 7.0))
    assert_allclose(constant.predict(X), 7)
    assert constant.n_components_ == 1 and constant.certificate_.measured < 1e-9
    zeros = SparsePCRegressor(3, fit_intercept=False).fit(X, np.zeros((12, 2)))
    assert_array_equal(zeros.predict(X), 0)
    alike = SparsePCRegressor(3).fit(X, np.outer(np.arange(12.0), [1, -2, 0.5, 0]))
    assert zeros.n_components_ == alike.n_components_ == 1
    twice = np.hstack([X[:, :4], X[:, :4]])
    y = np.random.default_rng(0).standard_normal(12)
    model = SparsePCRegressor(3, n_features_to_select=8).fit(twice, y)
    assert_allclose(
        model.predict(twice), plain_fit(twice[:, model.selected_], y, True), atol=1e-8
    )
    short = SparsePCRegressor(5, n_features_to_select=30).fit(X, y)
    assert_allclose(short.predict(X), y, atol=1e-8)  # twelve samples are interpolated
    assert short.certificate_.measured < 1e-8


@swept_seeds(6, 20)
@pytest.mark.parametrize("shift", [0, 10, 1e3, 1e5])
def test_samples_that_repeat_one_another_far_from_zero(shift, seeds):
    """What rounding leaves of the mean is no direction to fit in: predictions are the
    means of the repeated targets.
    """
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = np.repeat(rng.standard_normal((4, 12)), 3, axis=0) + shift
        y = rng.standard_normal(12)
        model = SparsePCRegressor(2, n_features_to_select=9).fit(X, y)
        fitted = np.repeat(y.reshape(4, 3).mean(axis=1), 3)
        assert_allclose(model.predict(X), fitted, atol=1e-10 * (1 + shift))


def test_the_regressor_on_nearly_dependent_features():
    X = with_condition(60, 10, 1e10, np.random.default_rng(0))
    y = np.random.default_rng(1).standard_normal(60)
    model = SparsePCRegressor(9, n_features_to_select=10, fit_intercept=False).fit(X, y)
    assert_allclose(
        model.predict(X), plain_fit(X[:, model.selected_], y, False), atol=1e-4
    )


# ---------------------------------------------------------------- the precision of the
# data


def classes(n, sizes, rng):
    """Indicators of balanced classes, side by side: every block adds up to the constant
    vector.
    """
    return np.hstack(
        [np.eye(size)[rng.permutation(np.arange(n) % size)] for size in sizes]
    )


def nearly(X, rng):
    half = X.shape[1] // 2
    X[:, half : 2 * half] = X[:, :half] + 10.0 ** rng.uniform(
        -16, -2
    ) * rng.standard_normal((len(X), half))
    return X


PRECISION = {
    "nothing wrong": lambda X, rng: X,
    "sums of two": lambda X, rng: np.hstack([X, X + X[:, ::-1]]),
    "nearly equal": nearly,
    "tiny noise": lambda X, rng: (
        X * np.where(np.arange(X.shape[1]) < 3, 1, 10.0 ** rng.uniform(-18, -3))
    ),
    "classes": lambda X, rng: classes(len(X), (4,) * max(1, X.shape[1] // 4), rng),
    "constants": lambda X, rng: np.where(np.arange(X.shape[1]) % 2, X, 0.1),
    "large means": lambda X, rng: X + 10.0 ** rng.uniform(0, 9, X.shape[1]),
    "units": lambda X, rng: X * 10.0 ** rng.uniform(-12, 12, X.shape[1]),
    "powers": lambda X, rng: rng.random((len(X), 1)) ** np.arange(X.shape[1]),
    "low rank": lambda X, rng: X[:, :2] @ rng.standard_normal((2, X.shape[1])),
    "mostly zeros": lambda X, rng: X * (rng.random(X.shape) < 0.3),
}


def host_norms(A):
    peaks = np.abs(A).max(axis=0)
    return peaks * np.linalg.norm(A / np.where(peaks > 0, peaks, 1), axis=0)


@pytest.mark.filterwarnings(
    "ignore:Left out of the fit",
    "ignore:X has dir",
    "ignore:The last dir",
    "ignore:.*row.s. or",
)
@swept_seeds(4, 40)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", PRECISION)
def test_what_is_certified_is_the_error_of_predict(kind, dtype, seeds):
    """To 1e-12 of the targets, for data of all kinds; with coefficients that the
    precision of the data carries.
    """
    scales = (
        (1, 1, 1e-100, 1e100, 1e-8, 1e8)
        if dtype == np.float64
        else (1, 1, 1e-12, 1e12, 1e-4, 1e4)
    )
    selectors = [
        None,
        RSFSelector(random_state=0),
        DSFSelector(rule="target"),
        VarianceThreshold(),
    ]
    fitted = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = PRECISION[kind](
            rng.standard_normal((rng.integers(8, 50), rng.integers(4, 30))), rng
        )
        n, d = X.shape
        X = FORMS[["dense", "csr", "csc"][seed % 3]](
            (X * rng.choice(scales)).astype(dtype)
        )
        Y = rng.standard_normal((n, rng.integers(1, 5))) + rng.choice([0, 3])
        Y = (Y if rng.random() < 0.7 else Y[:, 0]) * rng.choice(scales)
        k = int(rng.integers(1, 4))
        intercept = bool(rng.integers(2))
        r = min(d, int(rng.integers(k + 1, max(k + 2, d + 1))))
        selector = selectors[seed % 4]
        r = None if isinstance(selector, VarianceThreshold) else r
        model = SparsePCRegressor(
            k, n_features_to_select=r, selector=selector, fit_intercept=intercept
        )
        try:
            model.fit(X, Y)
        except ValueError as error:
            assert re.search("numerical rank|has not the range|No feature", str(error))
            continue
        fitted += 1
        c = model.certificate_
        error = rms(Y - model.predict(X))
        assert abs(c.measured - error) <= 1e-12 * c.targets
        assert c.measured <= c.for_these * (1 + 1e-9)
        assert max(c.components, c.measured, c.for_every) <= 3 * c.targets
        lengths = host_norms(dense(X).astype(float)[:, model.selected_])
        parts = np.atleast_2d(model.coef_).astype(float)[:, model.selected_] * lengths
        size = (
            np.linalg.norm((Y - Y.mean(axis=0) if intercept else Y) / np.abs(Y).max())
            * np.abs(Y).max()
        )
        assert np.linalg.norm(parts / size) <= 1.01 / (1000 * np.finfo(dtype).eps)
    assert fitted >= len(seeds) / 2


def exact_fit(C, y, least):
    """Least squares with an intercept on the directions of the columns above `least` of
    their lengths, to 60 digits.
    """
    with mpmath.workdps(60):
        A = mpmath.matrix(C.astype(float).tolist())
        n = A.rows
        r = A.cols
        lengths = [
            mpmath.sqrt(mpmath.fsum(A[i, j] ** 2 for i in range(n))) for j in range(r)
        ]
        means = [mpmath.fsum(A[i, j] for i in range(n)) / n for j in range(r)]
        Z = mpmath.matrix(n, r)
        for i in range(n):
            for j in range(r):
                Z[i, j] = (A[i, j] - means[j]) / lengths[j]
        b = mpmath.matrix((y - y.mean()).tolist())
        squares, vectors = mpmath.eigsy(Z.T * Z)
        sizes = [mpmath.sqrt(abs(x)) for x in squares]
        inner = vectors.T * (Z.T * b)
        z = mpmath.matrix(
            [inner[j] / squares[j] if sizes[j] > least else 0 for j in range(r)]
        )
        fit = Z * (vectors * z)
        return np.array([float(x) for x in fit]) + y.mean(), np.array(
            [float(x) for x in sizes]
        )


@swept("seeds", [range(4, 8)], [range(8)])
@pytest.mark.filterwarnings(
    "ignore:Left out of the fit",
    "ignore:X has dir",
    "ignore:The last dir",
    "ignore:.*row.s. or",
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "kind",
    [
        "nothing wrong",
        "sums of two",
        "nearly equal",
        "tiny noise",
        "large means",
        "powers",
    ],
)
def test_the_fit_is_least_squares_on_the_directions_that_are_carried(
    kind, dtype, seeds
):
    """Against 60 digits: off by 1e-3 at most, and by 100 roundings over the smallest
    direction kept.
    """
    least = 1000 * np.finfo(dtype).eps
    compared = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = PRECISION[kind](rng.standard_normal((20, 6)), rng).astype(dtype)
        y = rng.standard_normal(20)
        expected, sizes = exact_fit(X, y, least)
        if np.any((sizes > least / 2) & (sizes < least * 2)):
            continue
        compared += 1
        model = SparsePCRegressor(1, selector=SelectKBest(f_regression, k="all")).fit(
            X, y
        )
        off = rms(model.predict(X) - expected)
        smallest = sizes[sizes > least].min()
        assert off <= min(1e-3, 100 * np.finfo(dtype).eps / smallest)
        assert model.certificate_.measured == pytest.approx(
            rms(y - expected), abs=2 * off + 1e-12
        )
    assert compared >= 5 / 8 * len(seeds)


def sums_of_two(dtype, seed=0):
    """Eight features of which the last is the sum of the first two, and a target."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 8)).astype(dtype)
    X[:, 7] = X[:, 0] + X[:, 1]
    return X, rng.standard_normal(60)


def test_what_the_data_do_not_carry_is_left_out_with_a_warning():
    for seed in range(5):
        X, y = sums_of_two(np.float32, seed)
        for data in (X, sp.csr_array(X)):
            with pytest.warns(
                UserWarning,
                match="Left out of the fit: 1 of the 8 .* float32 .* pass X in float64",
            ):
                model = SparsePCRegressor(
                    2, selector=SelectKBest(f_regression, k="all")
                ).fit(data, y)
            assert np.abs(model.coef_).max() < 10
            assert_allclose(
                model.predict(data), plain_fit(X[:, :7], y, True), atol=1e-4
            )
    X, y = sums_of_two(np.float64)
    with pytest.warns(
        UserWarning,
        match="Left out of the fit: 1 of the 8 .* float64 .* choose fewer features",
    ):
        SparsePCRegressor(2, selector=SelectKBest(k="all")).fit(
            X + 1e-13 * table(60, 8), np.arange(60) % 2
        )


def test_what_is_not_there_is_left_out_without_a_word():
    """Sums in exact arithmetic, more features than samples, means, classes."""
    rng = np.random.default_rng(0)
    X, y = sums_of_two(np.float64)
    whole = np.floor(8 * X).astype(np.float32)
    whole[:, 7] = whole[:, 0] + whole[:, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wide = table(12, 40)
        for data in (
            X,
            whole,
            wide,
            wide.astype(np.float32),
            1e3 + wide,
            classes(60, (4, 5), rng),
        ):
            model = SparsePCRegressor(
                2, selector=SelectKBest(f_regression, k="all")
            ).fit(data, y[: len(data)])
            assert np.all(np.isfinite(model.coef_))
            assert_allclose(
                model.predict(data), plain_fit(data, y[: len(data)], True), atol=1e-3
            )


@pytest.mark.parametrize("x, y_size", [(1e-30, 1e20), (1e20, 1e-30), (1, 1e50)])
def test_coefficients_out_of_the_range_of_the_precision(x, y_size):
    X = table(20, 8)
    y = table(20, 1)[:, 0]
    model = SparsePCRegressor(2)
    with refused("float32", "has not the range", "rescale X and y"):
        model.fit((X * x).astype(np.float32), y * y_size)
    assert not {name for name in vars(model) if name.endswith("_")} - {"n_features_in_"}
    assert np.isfinite(model.fit(X * x, y * y_size).coef_).all()


def test_tiny_features_do_not_spoil_the_coefficients_of_large_ones():
    rng = np.random.default_rng(0)
    for targets in (1, 3):
        X = rng.standard_normal((12, 40)) * np.r_[np.ones(5), np.full(35, 1e-14)]
        Y = rng.standard_normal((12, targets))
        model = (
            SparsePCRegressor(3, selector=SelectKBest(f_regression, k="all"))
            if targets == 1
            else None
        )
        model = model or SparsePCRegressor(3, selector=VarianceThreshold())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, Y[:, 0] if targets == 1 else Y)
        assert_allclose(model.predict(X).reshape(Y.shape), Y, atol=1e-12)
        assert model.certificate_.measured < 1e-12
        assert_allclose(plain_fit(model.transform(X), Y, True), Y, atol=1e-9)


def test_small_targets_beside_large_ones():
    X = table(40, 6)
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((40, 3)) * [1, 1e-14, 1e-30]
    model = SparsePCRegressor(3, n_features_to_select=6).fit(X, Y)
    assert_allclose(
        model.predict(X) / [1, 1e-14, 1e-30],
        plain_fit(X, Y, True) / [1, 1e-14, 1e-30],
        atol=1e-9,
    )


def test_features_that_are_constant_leave_the_mean():
    X = sp.csr_array(
        np.column_stack([np.full(20, 0.1), np.full(20, 3.0), 1e-3 * table(20, 2)])
    )
    y = np.random.default_rng(0).standard_normal(20)
    model = SparsePCRegressor(1, n_features_to_select=1, selector=RRQRSelector())
    model.fit(X, y)
    assert model.selected_.tolist() == [1] and model.n_components_ == 1
    assert_allclose(model.predict(X), y.mean())
    assert_array_equal(model.transform(X), 0)
    assert model.certificate_.measured == pytest.approx(np.std(y))


# ---------------------------------------------------------------- bounds that say
# nothing


def nothing(certificate):
    """Which rows of a regression's certificate say nothing, in text and page alike."""
    rows = {
        name: text
        for name, text in certificate.table()
        if text.startswith("nothing is")
    }
    for text in (str(certificate), certificate._repr_html_()):
        assert (
            text.count("nothing is") == len(rows)
            and "nan" not in text
            and "inf" not in text.replace("infinite", "")
        )
    return set(rows)


EVERY_BOUND = {
    "bound for these targets",
    "bound for every target",
    "promised before selecting",
}


@swept_seeds(5, 20)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_component_that_is_constant_leaves_nothing_to_certify(dtype, seeds):
    """A pseudo-inverse of what centring leaves of it had bounds of 1e13 and more."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = sp.csr_array(classes(100, (5, 10), rng).astype(dtype))
        y = rng.standard_normal(100)
        c = RegressionCertificate.of(
            DSFSelector(3, rank=1).fit(X).certificate_, y, intercept=True
        )
        assert_allclose([c.components, c.for_these, c.for_every, c.promised], c.targets)
        assert nothing(c) == EVERY_BOUND


def test_a_bound_says_something_below_the_error_of_the_mean():
    numbers = dict(components=0.5, measured=0.6, targets=1.0)
    for bound, says in (
        (0.7, True),
        (0.999, True),
        (0.9996, False),
        (1.0, False),
        (1e14, False),
        (np.inf, False),
    ):
        c = RegressionCertificate(
            for_these=bound, for_every=bound, promised=bound, **numbers
        )
        assert nothing(c) == (set() if says else EVERY_BOUND)
    assert dict(c.table())["promised before selecting"] == "nothing is promised"
    assert dict(c.table())["bound for every target"] == "nothing is certified"


# ---------------------------------------------------------------- the form to remember


def worst_loss(X, k, r):
    """The largest loss over |E| |W|, when of the feasible features the one of most
    residual for its length is taken.
    """
    U, S, Vt = np.linalg.svd(X, full_matrices=False)
    E = X - U[:, :k] * S[:k] @ Vt[:k]
    lengths = np.linalg.norm(E, axis=0)
    V = Vt[:k].T
    order = np.argsort(-lengths / np.linalg.norm(V, axis=1))
    Q = np.linalg.qr(
        X[:, order[det_sampling_reference(V[order], lengths[order], r).indices]]
    )[0]
    return np.linalg.norm(
        (U[:, :k] - Q @ (Q.T @ U[:, :k])) * S[:k], 2
    ) / np.linalg.norm(E)


@swept("draws", [60], [200])
def test_the_loss_needs_the_factor_of_the_theorem(draws):
    """At most |E| |W| over 1 - sqrt(k/r), and above |E| |W| itself in more than half of
    these cases.
    """
    rng = np.random.default_rng(1)
    for k, r, above in ((1, 2, 0.4), (3, 4, 0.5), (3, 6, 0.0), (2, 8, 0.0)):
        sizes = np.r_[np.ones(k), np.full(6, 0.1)][:, None]
        losses = [
            worst_loss(sizes * rng.standard_normal((k + 6, 27)), k, r)
            for _ in range(draws)
        ]
        assert max(losses) <= 1 / (1 - np.sqrt(k / r))
        assert np.mean(np.array(losses) > 1) >= above


# ---------------------------------------------------------------- what cannot be done

X = table(20, 30)
y = np.random.default_rng(0).standard_normal(20)


@every_rule
@pytest.mark.parametrize(("k", "r"), [(5, 5), (7, 5), (20, 20)])
def test_no_more_features_for_a_regression_than_the_rank(rule, k, r):
    with refused(
        f"n_features_to_select={r}", f"rank={k} is not possible", f"at most {r - 1}"
    ):
        SparsePCRegressor(
            k, n_features_to_select=r, selector=DSFSelector(rule=rule)
        ).fit(X, y)


def test_more_components_than_the_rank_of_the_data():
    low = table(20, 6) @ table(6, 30)
    with refused("rank=n_components=7", "numerical rank 6"):
        SparsePCRegressor(7, fit_intercept=False).fit(low, y)
    with refused("rank=7 is not possible", "numerical rank 6"):
        SparsePCRegressor(7, selector=VarianceThreshold(), fit_intercept=False).fit(
            low, y
        )


def test_more_features_or_components_than_there_are():
    with refused(
        "DSFSelector, asked for n_features_to_select=31",
        "n_features_to_select=31 is not possible",
        "to 30",
    ):
        SparsePCRegressor(2, n_features_to_select=31).fit(X, y)
    for k in (30, 31):
        with refused(f"rank=n_components={k}", "not possible"):
            SparsePCRegressor(k).fit(X, y)


@pytest.mark.parametrize("kind", BAD_TARGETS)
def test_targets_that_no_regression_takes(kind):
    bad, parts = BAD_TARGETS[kind]
    for model in (SparsePCRegressor(3), SparsePCRegressor(fit_intercept=False)):
        with refused(*parts):
            model.fit(X, bad)


@pytest.mark.parametrize("value", [0, -1, 2.0, 2.5, True, "two", np.nan], ids=repr)
def test_numbers_of_components_that_are_none(value):
    with refused(f"n_components={value!r} is not possible", "integer of at least 1"):
        SparsePCRegressor(value).fit(X, y)


@pytest.mark.parametrize("value", ["yes", 1, None], ids=repr)
def test_fit_intercept_is_true_or_false(value):
    with refused(f"fit_intercept={value!r} is not possible", "True or False"):
        SparsePCRegressor(fit_intercept=value).fit(X, y)


@pytest.mark.parametrize("k", [0, -1, 1.5, "1", None, True], ids=repr)
def test_ranks_of_an_approximation_that_are_none(k):
    with refused(f"k={k!r} is not possible", "integer of at least 1"):
        best_rank_k_in_span(np.ones((4, 2)), np.ones((4, 2)), k)


def test_matrices_of_an_approximation_that_will_not_do():
    with refused("C has 4 samples and Y has 5"):
        best_rank_k_in_span(np.ones((4, 2)), np.ones((5, 2)), 1)
    with refused("C", "NaN"):
        best_rank_k_in_span(np.full((4, 2), np.nan), np.ones((4, 2)), 1)
    with refused("Y", "NaN"):
        best_rank_k_in_span(np.ones((4, 2)), np.full(4, np.nan), 1)


@pytest.mark.parametrize("bad", [StandardScaler(), LinearRegression()], ids=str)
def test_a_selector_that_selects_nothing_by_its_kind(bad):
    with pytest.raises((TypeError, ValueError), match="(?i)selector"):
        SparsePCRegressor(selector=bad).fit(X, y)


def test_a_number_that_the_selector_does_not_take():
    X = table(30, 12)
    y = table(30, 1)[:, 0]
    with refused("n_features_to_select=5 is not possible with selector=SelectKBest"):
        SparsePCRegressor(
            2, n_features_to_select=5, selector=SelectKBest(f_regression)
        ).fit(X, y)


def test_a_selector_that_selects_no_feature():
    with pytest.raises(ValueError, match="no feature"):
        SparsePCRegressor(
            selector=SelectFromModel(LinearRegression(), threshold=np.inf)
        ).fit(X, y)


def low_rank():
    return table(20, 3) @ table(3, 30)


FAILING = {
    "a bad parameter": ({"fit_intercept": "no"}, X, y),
    "a bad rule": ({"selector": DSFSelector(rule="worst")}, X, y),
    "too many features": ({"n_features_to_select": 31}, X, y),
    "a rank above that of the data": ({"n_components": 5}, low_rank(), y),
    "NaN": ({}, np.full((20, 30), np.nan), y),
    "no targets": ({}, X, None),
    "targets of another length": ({}, X, y[:9]),
    "one sample": ({}, X[:1], y[:1]),
}


@pytest.mark.parametrize("reason", FAILING)
def test_a_failed_fit_leaves_no_regression_behind(reason):
    keywords, data, targets = FAILING[reason]
    model = SparsePCRegressor(2, n_features_to_select=8).fit(table(20, 50), y)
    fitted = {name for name in vars(model) if name.endswith("_")}
    assert {"components_", "coef_", "selector_", "certificate_"} <= fitted
    model.set_params(**keywords)
    with pytest.raises(ValueError):
        model.fit(data, targets)
    assert not fitted - {"n_features_in_"} & set(vars(model))
    for method in (model.transform, model.predict):
        with refused("not fitted yet", error=NotFittedError):
            method(X)
    again = model.set_params(
        fit_intercept=True, selector=None, n_components=2, n_features_to_select=8
    ).fit(X, y)
    assert_array_equal(
        again.coef_, SparsePCRegressor(2, n_features_to_select=8).fit(X, y).coef_
    )
