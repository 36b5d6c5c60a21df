"""The selectors as people use them, and the same answer every time."""

import copy
import gc
import pickle
import re
import time
import warnings
import weakref
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from cases import (
    CASES,
    cases,
    each_case,
    equal_columns,
    interval,
    refused,
    right_singular_vectors,
    sparse_table,
    swept,
    swept_product,
    table,
    with_condition,
)
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_info, threadpool_limits

from fsel_book import (
    BSSSelector,
    CompletionSelector,
    DSFSelector,
    LeverageDisplay,
    LeverageSelector,
    RandomSelector,
    RiskRFE,
    RRQRSelector,
    RSFSelector,
    SparsePCRegressor,
    SpectrumDisplay,
    SupportVectorSelector,
    WeightScores,
    bss,
    certify,
    certify_selector,
    complete,
    det_sampling,
    row_space,
    spectra,
)
from fsel_book.arrays import to_numpy
from fsel_book.spectra import ridge_space

X = table(20, 50)
NAMES = [f"word{j}" for j in range(50)]
FRAME = pd.DataFrame(X, columns=NAMES)
y = (X[:, 3] + X[:, 17] - X[:, 40] > 0).astype(int)

SETTINGS = [(25, {"rank": "full"}), (15, {"rank": 6, "rescale": True})]
SELECTORS = {
    f"{name}, {r}": case.make(r, **keywords)
    for name, case in CASES.items()
    for r, keywords in SETTINGS
}
each_selector = pytest.mark.parametrize("selector", SELECTORS.values(), ids=SELECTORS)
# Each method with one of its settings, in turn; with the other in the sweeps.
one_of_each = pytest.mark.parametrize(
    "selector",
    [
        pytest.param(
            selector, id=name, marks=[] if i % 4 in (0, 3) else pytest.mark.sweep
        )
        for i, (name, selector) in enumerate(SELECTORS.items())
    ],
)


@cache
def fitted_once(selector):
    return clone(selector).fit(X)


@pytest.fixture
def fitted(selector):
    return copy.deepcopy(fitted_once(selector))


def assert_equal_fits(one, other):
    for name in ("selected_", "weights_", "leverage_scores_", "support_"):
        assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert_array_equal(one.certificate_.eigenvalues, other.certificate_.eigenvalues)
    assert one.n_draws_ == other.n_draws_
    assert str(one.certificate_) == str(other.certificate_)


def but_for_the_note(fitted):
    """Without what the certificate says of a target that was given and not used."""
    fitted.certificate_ = replace(fitted.certificate_, target_unused=False)
    return fitted


# ---------------------------------------------------------------- what fit leaves
# behind


@each_selector
def test_fitted_attributes_agree(fitted):
    assert_array_equal(np.flatnonzero(fitted.support_), np.sort(fitted.selected_))
    assert len(fitted.weights_) == len(fitted.selected_) == fitted.sampling_.n_selected
    assert_array_equal(fitted.selected_, fitted.sampling_.indices)
    assert_array_equal(fitted.weights_, fitted.sampling_.weights)
    assert (
        fitted.n_features_in_
        == fitted.sampling_.n_features
        == fitted.certificate_.n_features
        == 50
    )
    assert (
        fitted.certificate_.n_selected == fitted.sampling_.n_selected <= fitted.n_draws_
    )
    assert not hasattr(fitted, "feature_names_in_")
    rank = fitted.certificate_.rank
    V = right_singular_vectors(X, rank)
    assert_allclose(fitted.leverage_scores_, np.sum(V**2, axis=1), rtol=1e-8)
    assert_allclose(
        fitted.certificate_.interval,
        interval(V, fitted.sampling_),
        rtol=1e-7,
        atol=1e-12,
    )
    assert fitted.certificate_.numerical_rank == 20
    s = np.linalg.svd(X, compute_uv=False)
    assert fitted.certificate_.energy == pytest.approx(
        np.sum(s[:rank] ** 2) / np.sum(s**2)
    )


@each_case
def test_certificate_is_that_of_the_functions(case):
    for r, keywords in SETTINGS:
        fitted = case.drawing(r, **keywords).fit(X)
        space = row_space(X, fitted.certificate_.rank)
        certificate = certify(space, fitted.sampling_, fitted.certificate_.promise)
        assert_allclose(
            certificate.eigenvalues,
            fitted.certificate_.eigenvalues,
            rtol=1e-9,
            atol=1e-12,
        )
        assert_array_equal(
            case.function(space, fitted.n_draws_).indices, fitted.selected_
        )
        assert fitted.certificate_.method == fitted.method


def test_certificate_numbers_follow_from_its_interval():
    certificate = BSSSelector(25, rank="full").fit(X).certificate_
    low, high = certificate.interval
    assert certificate.eps == pytest.approx(max(1 - low, high - 1))
    assert certificate.kappa == pytest.approx(high / low)
    scaled = certificate.eigenvalues * certificate.scale
    assert (
        certificate.distortion
        == pytest.approx(np.max(np.abs(1 - scaled)))
        == pytest.approx((certificate.kappa - 1) / (certificate.kappa + 1))
    )
    V = right_singular_vectors(X)
    selected = V[BSSSelector(25, rank="full").fit(X).selected_]
    assert_allclose(
        certificate.eigenvalues_unscaled,
        np.linalg.eigvalsh(selected.T @ selected),
        rtol=1e-8,
        atol=1e-12,
    )


# ---------------------------------------------------------------- one feature


@each_case
@swept("make", [np.array, sp.csr_array], [sp.csc_array, pd.DataFrame])
def test_one_feature(case, make):
    """For the rank-one part of the data, of which the certificate says how much of the
    data it is.
    """
    data = make(X)
    for asked in (1, 0.02, 0.039):
        selector = case.make(asked, rank=1, rescale=True).fit(data)
        i = int(selector.selected_[0])
        certificate = selector.certificate_
        v = right_singular_vectors(X, 1)[i, 0]
        assert certificate.interval == pytest.approx((selector.weights_[0] * v**2,) * 2)
        assert ": 1 draw, 1 of 50 features; certified for rank 1" in certificate.title()
        assert "certified for rank 1 of 20" in str(certificate) and "nan" not in str(
            certificate
        )
        assert certificate.holds is True and selector.transform(data).shape == (20, 1)
        assert (
            certificate.plot().ax_.get_ylabel()
            and "<table>" in certificate._repr_html_()
        )
        if not (case.distinct or case.blind):  # weights that make M one
            assert certificate.eps < 1e-9 and certificate.promise.lower == 1


@each_case
def test_one_feature_of_data_of_rank_one_is_all_there_is(case):
    data = np.outer(np.arange(1.0, 9), [1.0, -2, 3, 0.5])
    certificate = case.make(1, rank=1).fit(data).certificate_
    assert (certificate.rank, certificate.numerical_rank, certificate.energy) == (
        1,
        1,
        1,
    )
    assert certificate.kappa == pytest.approx(
        1
    ) and "kernel of X are kept within 0.0%" in str(certificate)


def test_one_draw_takes_the_longest_column_and_dual_sets_the_one_with_least_residual():
    lead = right_singular_vectors(X, 1)[:, 0]
    residual = np.linalg.norm(X - X @ np.outer(lead, lead), axis=0)
    for rule in ("largest-norm", "best"):
        assert_array_equal(
            BSSSelector(1, rule=rule).fit(X).selected_, [np.argmax(lead**2)]
        )
    ratio = lead**2 / (1e-6 * lead**2 + (1 - 1e-6) * residual**2 / np.sum(residual**2))
    assert_array_equal(
        DSFSelector(1, rule="first").fit(X).selected_, [np.argmax(ratio)]
    )
    slack = lead**2 - residual**2 / np.sum(residual**2)
    assert_array_equal(DSFSelector(1, rule="best").fit(X).selected_, [np.argmax(slack)])
    for rule in ("first", "best", "components"):
        fitted = DSFSelector(1, rule=rule).fit(X)
        assert (
            slack[fitted.selected_[0]] >= -1e-12
            and fitted.certificate_.residual <= 1 + 1e-6
        )
        assert fitted.certificate_.promise.cross == 1 and fitted.certificate_.holds


def test_one_feature_at_the_end_of_other_estimators():
    model = SparsePCRegressor(1, n_features_to_select=1).fit(X, X[:, 0])
    assert (
        len(model.selected_)
        == model.n_components_
        == np.count_nonzero(model.coef_)
        == 1
    )
    assert SparsePCRegressor(n_features_to_select=1).fit(
        X, X[:, 0]
    ).selected_.shape == (1,)
    assert SparsePCRegressor(1).fit(X[:, :1], X[:, 0]).score(
        X[:, :1], X[:, 0]
    ) == pytest.approx(1)
    for selector in (
        BSSSelector(1, rank=1),
        BSSSelector(0.02, rank=1, rescale=True),
        LeverageSelector(1, random_state=0),
    ):
        chosen = SupportVectorSelector(selector).fit(X, y)
        assert chosen.transform(X).shape == (20, 1) and chosen.certificate_.rank == 1
    assert SupportVectorSelector().fit(X[:, :1], y).transform(X[:, :1]).shape == (20, 1)
    assert RiskRFE(1).fit(X, y).transform(X).shape == (20, 1)
    names = (
        BSSSelector(1)
        .set_output(transform="pandas")
        .fit(FRAME)
        .transform(FRAME)
        .columns
    )
    assert len(names) == 1 and names[0] in NAMES


@cases(spare=1)
def test_as_many_draws_as_the_rank_are_refused_from_two_on(case):
    for r in (2, 3, 20):
        with refused(
            f"rank={r} is not possible with n_features_to_select={r}",
            f"at most {r - 1}",
        ):
            case.make(r, rank=r).fit(X)


# ---------------------------------------------------------------- the same answer every
# time


LARGE = {
    "dense": lambda: table(150, 1500),
    "sparse": lambda: sparse_table(150, 1500, 0.05),
    "low rank": lambda: table(40, 15) @ table(15, 900),
    "ill-conditioned": lambda: with_condition(60, 500, 1e6, np.random.default_rng(0)),
}


@swept_product(
    ("data", "name"),
    [
        ("ill-conditioned", name)
        for name in ("BSS, 25", "DSF, 15", "leverage sampling, 15", "strong RRQR, 15")
    ],
    LARGE,
    SELECTORS,
)
def test_same_selection_with_one_thread_and_with_two(name, data):
    """Large enough for BLAS to share the work."""
    assert any(pool["user_api"] == "blas" for pool in threadpool_info())
    X = LARGE[data]()
    selector = SELECTORS[name]
    larger = clone(selector).set_params(
        n_features_to_select=170 if selector.rank == "full" else 15
    )
    with threadpool_limits(1, user_api="blas"):
        one = clone(larger).fit(X)
    with threadpool_limits(2, user_api="blas"):
        two = clone(larger).fit(X)
    assert_array_equal(one.selected_, two.selected_)
    assert_allclose(one.weights_, two.weights_, rtol=1e-6)


@each_selector
def test_pickled_copied_and_cloned(selector, fitted):
    for restored in (
        pickle.loads(pickle.dumps(fitted)),
        copy.deepcopy(fitted),
        clone(fitted).fit(X),
    ):
        assert_equal_fits(restored, fitted)
        assert_array_equal(restored.transform(X), fitted.transform(X))
        assert_array_equal(restored.get_support(), fitted.get_support())
    assert not hasattr(clone(fitted), "selected_")
    assert clone(selector).get_params() == selector.get_params()


@each_selector
def test_fitting_twice_gives_the_same(selector, fitted):
    assert_equal_fits(fitted, but_for_the_note(clone(selector).fit(X, y)))
    assert_equal_fits(copy.deepcopy(fitted).fit(X), fitted)
    assert_array_equal(clone(selector).fit_transform(X), fitted.transform(X))


@one_of_each
@pytest.mark.parametrize(
    "form", [np.array, np.asfortranarray, sp.csr_array, sp.csc_array]
)
def test_data_are_not_changed_and_not_kept(selector, form):
    # a certificate may keep some columns of the length of a sample, not as many as
    # features
    wide = table(20, 200)
    data = form(wide)
    values = data.data if sp.issparse(data) else data
    before = values.copy()
    selector = clone(selector).fit(data)
    selector.transform(data)
    assert_array_equal(values, before)
    watch = weakref.ref(data)
    size = len(pickle.dumps(selector))
    del data, values
    # in a cycle, perhaps: a collection takes a second here, so only where it may decide
    if watch() is not None:
        gc.collect()
    assert watch() is None
    assert size < wide.nbytes / 2


@one_of_each
def test_fortran_order_strides_and_read_only_data(selector, fitted):
    read_only = X.copy()
    read_only.flags.writeable = False
    for data in (
        np.asfortranarray(X),
        np.repeat(X, 2, axis=1)[:, ::2],
        read_only,
        X.tolist(),
        FRAME,
    ):
        assert_array_equal(clone(selector).fit(data).selected_, fitted.selected_)


# ---------------------------------------------------------------- transform and back


@each_selector
def test_get_support_in_all_its_forms(fitted):
    mask = fitted.get_support()
    assert mask.dtype == bool and mask.shape == (50,)
    assert_array_equal(fitted.get_support(indices=True), np.flatnonzero(mask))
    assert_array_equal(fitted.get_support(indices=True, ordered=True), fitted.selected_)
    assert_array_equal(np.sort(fitted.selected_), np.flatnonzero(mask))


@one_of_each
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix])
def test_transform_and_back(selector, fitted, form):
    order = np.argsort(fitted.selected_)
    columns = fitted.selected_[order]
    factors = (
        np.sqrt(fitted.weights_[order]) if selector.rescale else np.ones(len(columns))
    )
    C = fitted.transform(form(X))
    assert_allclose(
        C.toarray() if sp.issparse(C) else C, X[:, columns] * factors, rtol=1e-14
    )
    back = fitted.inverse_transform(C)
    assert sp.issparse(back) == sp.issparse(C)
    expected = np.where(fitted.get_support(), X, 0)
    assert_allclose(back.toarray() if sp.issparse(back) else back, expected, rtol=1e-14)
    assert_allclose(
        fitted.transform(back).toarray()
        if sp.issparse(back)
        else fitted.transform(back),
        X[:, columns] * factors,
        rtol=1e-14,
    )


def test_rescaled_data_keep_the_kernel_of_the_data():
    """What the theory is about: X R R' X' is close to X X' in the sense of the
    certificate.
    """
    wide = table(12, 900)
    selector = BSSSelector(200, rank="full", rescale=True).fit(wide)
    K = wide @ wide.T
    C = selector.transform(wide)
    low, high = selector.certificate_.interval
    ratio = np.linalg.eigvals(np.linalg.solve(K, C @ C.T)).real
    assert low - 1e-9 <= ratio.min() and ratio.max() <= high + 1e-9
    assert (
        selector.certificate_.promise.lower <= low
        and high <= selector.certificate_.promise.upper
    )
    assert 0.5 < low and high < 1.6


# ---------------------------------------------------------------- names, frames,
# pipelines


@one_of_each
def test_names_of_a_frame_go_in_and_come_out(selector):
    fitted = clone(selector).fit(FRAME)
    assert_array_equal(fitted.feature_names_in_, NAMES)
    kept = [NAMES[j] for j in np.flatnonzero(fitted.support_)]
    assert_array_equal(fitted.get_feature_names_out(), kept)
    assert isinstance(fitted.transform(FRAME), np.ndarray)
    assert_array_equal(
        clone(selector).fit(X).get_feature_names_out(),
        [f"x{j}" for j in np.flatnonzero(fitted.support_)],
    )
    assert_array_equal(clone(selector).fit(X).get_feature_names_out(NAMES), kept)


@one_of_each
def test_pandas_output(selector):
    fitted = clone(selector).set_output(transform="pandas").fit(FRAME)
    shuffled = FRAME.set_index(pd.Index(np.arange(20)[::-1] * 7))
    out = fitted.transform(shuffled)
    assert isinstance(out, pd.DataFrame)
    assert_array_equal(out.columns, fitted.get_feature_names_out())
    assert_array_equal(out.index, shuffled.index)
    assert_allclose(out.to_numpy(), clone(selector).fit(X).transform(X))
    if not selector.rescale:
        pd.testing.assert_frame_equal(out, shuffled[list(out.columns)])


def test_polars_frames():
    pl = pytest.importorskip("polars", reason="polars is not installed")
    frame = pl.DataFrame(X, schema=NAMES)
    fitted = BSSSelector(25).set_output(transform="polars").fit(frame)
    out = fitted.transform(frame)
    assert isinstance(out, pl.DataFrame)
    assert out.columns == list(fitted.get_feature_names_out())


@one_of_each
def test_a_pipeline_gives_names_out(selector):
    pipeline = make_pipeline(StandardScaler(), clone(selector), RidgeClassifier()).fit(
        FRAME, y
    )
    names = pipeline[:-1].get_feature_names_out()
    assert len(names) == pipeline[-1].n_features_in_ and set(names) <= set(NAMES)
    assert pipeline.predict(FRAME).shape == (20,)
    framed = (
        make_pipeline(StandardScaler(), clone(selector))
        .set_output(transform="pandas")
        .fit(FRAME)
    )
    assert_array_equal(framed.transform(FRAME).columns, names)


def test_a_column_transformer():
    mixed = FRAME.assign(region=np.where(np.arange(20) % 2, "north", "south"))
    columns = ColumnTransformer(
        [
            ("words", BSSSelector(10, rank=4), NAMES),
            ("region", OneHotEncoder(sparse_output=False), ["region"]),
        ]
    )
    names = columns.set_output(transform="pandas").fit_transform(mixed).columns
    chosen = columns.named_transformers_["words"].get_feature_names_out()
    assert list(names) == [f"words__{name}" for name in chosen] + [
        "region__region_north",
        "region__region_south",
    ]


def test_a_grid_search_over_number_and_rule():
    pipeline = Pipeline(
        [("select", BSSSelector(random_state=0)), ("classify", RidgeClassifier())]
    )
    grid = {
        "select__n_features_to_select": [5, 0.4, None],
        "select__rule": ["largest-norm", "best", "sampled"],
        "select__rescale": [False, True],
    }
    rng = np.random.default_rng(0)
    data = rng.standard_normal((60, 40))
    target = (data[:, 0] > 0).astype(int)
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(data, target)
    assert len(search.cv_results_["params"]) == 18
    assert search.best_estimator_["select"].n_draws_ in (5, 16, 20)
    pipeline = make_pipeline(LeverageSelector(20, random_state=0), RidgeClassifier())
    assert np.isfinite(cross_val_score(pipeline, data, target, cv=3)).all()


@one_of_each
def test_selectors_ignore_y(selector, fitted):
    found = clone(selector).fit(X, np.arange(20))
    assert found.certificate_.target_unused and not fitted.certificate_.target_unused
    assert_equal_fits(fitted, but_for_the_note(found))


@cases(random=True)
def test_random_state_objects(case):
    whole = partial(case.make, 25, rank="full")
    state = np.random.RandomState(9)
    by_number = whole(random_state=9).fit(X)
    assert_array_equal(whole(random_state=state).fit(X).selected_, by_number.selected_)
    assert not np.array_equal(
        whole(random_state=state).fit(X).selected_, by_number.selected_
    )


@cases(random=True)
def test_selectors_draw_as_their_functions_do(case):
    fitted = case.drawing(25, random_state=9).fit(X)
    space = row_space(X, fitted.certificate_.rank)
    if fitted.certificate_.ridge is not None:
        space = ridge_space(space, fitted.certificate_.ridge)
    assert_array_equal(case.function(space, 25, 9).indices, fitted.selected_)


def test_verbose_shows_progress(capsys):
    BSSSelector(25, verbose=1).fit(X)
    assert "100%" in capsys.readouterr().err
    BSSSelector(25).fit(X)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


# ---------------------------------------------------------------- text and pictures


@one_of_each
def test_certificates_can_be_read_and_seen(fitted):
    text = str(fitted.certificate_)
    page = fitted.certificate_._repr_html_()
    interval = re.findall(r"eigenvalues of M +(\[.*?\])", text)[0]
    low, high = map(float, interval.strip("[]").split(", "))
    assert (low, high) == pytest.approx(fitted.certificate_.interval, rel=0.02)
    for part in (
        interval,
        f"{fitted.n_draws_} draws",
        f"{fitted.sampling_.n_selected} of 50 features",
        "promised",
    ):
        assert part in text and part in page
    for display in (
        SpectrumDisplay.from_selector(fitted),
        LeverageDisplay.from_selector(fitted),
    ):
        drawn = display.plot()
        assert (
            drawn is display
            and drawn.ax_.get_xlabel()
            and drawn.ax_.get_ylabel()
            and drawn.figure_ is drawn.ax_.figure
        )
        figure = drawn.figure_
        assert display.plot(ax=figure.add_subplot()).figure_ is figure
        figure.clear()
    assert fitted.certificate_.plot().ax_.get_ylabel()


# ---------------------------------------------------------------- large data and few
# draws


@pytest.fixture(scope="module")
def counts():
    """Counts of a few frequent and many rare words, in documents of different length."""
    rng = np.random.default_rng(0)
    rate = np.minimum(0.5, 3.0 / np.arange(1, 641)) * np.exp(
        0.5 * rng.standard_normal((520, 1))
    )
    return rng.poisson(rate).astype(float)


LARGE_FORMS = {
    "dense": np.asarray,
    "float32": lambda A: A.astype(np.float32),
    "CSR": sp.csr_array,
    "tall": lambda A: A.T.copy(),
    "tall CSC": lambda A: sp.csc_matrix(A.T),
}


@pytest.fixture(scope="module")
def large(counts):
    """The counts in a form, and their whole row space: for each form once."""

    @cache
    def of(form):
        given = LARGE_FORMS[form](counts)
        return given, row_space(given)

    return of


@swept_product(
    ("name", "form", "rank"),
    [
        *((name, "dense", None) for name in CASES),
        ("leverage sampling", "CSR", None),
        ("DSF, first", "CSR", None),
        ("largest leverages", "tall", None),
        ("strong RRQR", "tall CSC", None),
        ("largest leverages", "float32", None),
        ("RSF", "float32", None),
    ],
    CASES,
    LARGE_FORMS,
    [None, 6],
)
def test_few_draws_from_large_data_look_for_leading_directions_only(
    name, form, rank, large
):
    """The certificate says that it does not know the whole rank, and holds nearly as
    much as the best of its rank.
    """
    case = CASES[name]
    given, exact = large(form)
    fitted = case.make(20, rank=rank).fit(given)
    c = fitted.certificate_
    assert c.numerical_rank is None and c.holds in (True, None) and c.accuracy < 1e-12
    assert f"certified for rank {c.rank} (" in c.title()
    assert (
        f"{c.energy:.1%} of the squared norm; the whole rank is not known)" in c.title()
    )
    assert f"a rank-{c.rank} part of X, nearly the leading one," in c.verdict()
    assert (
        0.999 * exact.truncate(c.rank).energy
        <= c.energy
        <= exact.truncate(c.rank).energy * (1 + 1e-6)
    )
    leverage = to_numpy(fitted.leverage_scores_)
    assert leverage.sum() == pytest.approx(c.effective_dimension, rel=1e-5)
    assert leverage.max() < 1 + 1e-5
    assert_equal_fits(fitted, case.make(20, rank=rank).fit(given))


@swept_product(
    ("name",),
    [("BSS",), ("DSF, components",), ("leverage sampling",), ("strong RRQR",)],
    CASES,
)
def test_large_data_of_low_rank_are_certified_whole(name):
    """A rank below what was looked for shows in the sketch: then it is found exactly,
    and known.
    """
    case = CASES[name]
    low = table(520, 12) @ table(12, 600)
    certificate = case.make(60).fit(low).certificate_
    assert certificate.numerical_rank == 12 and certificate.rank == 12
    with refused("rank=15 is not possible", "numerical rank 12"):
        case.make(30, rank=15).fit(low)


def test_certificates_of_other_selectors_look_for_leading_directions_only(
    counts, monkeypatch
):
    fitted = SelectKBest(f_regression, k=20).fit(counts, counts[:, 0])
    plain = certify_selector(fitted, counts)
    own = BSSSelector(20).fit(counts)
    weighted = certify_selector(own, counts)
    assert (
        plain.numerical_rank is None
        and plain.rank == weighted.rank == own.certificate_.rank
    )
    assert weighted.numerical_rank is None
    assert_allclose(weighted.eigenvalues, own.certificate_.eigenvalues, rtol=1e-9)
    monkeypatch.setattr(
        spectra, "orthonormal_factor", refuse_large(spectra.orthonormal_factor)
    )
    SparsePCRegressor(selector=SelectKBest(f_regression, k=20)).fit(
        counts, counts[:, 0]
    )


def refuse_large(factor):
    """`factor`, for matrices with a short side of at most 100."""

    def small_only(X, *others):
        assert min(X.shape) <= 100
        return factor(X, *others)

    return small_only


# ---------------------------------------------------------------- fits that take long


@pytest.mark.parametrize(
    "selector",
    [
        BSSSelector(30),
        BSSSelector(30, rule="largest-norm"),
        BSSSelector(30, rule="sampled"),
        BSSSelector(30, score_func=np.ones(X.shape[1])),
        DSFSelector(30),
        DSFSelector(30, rule="components"),
    ],
)
def test_a_search_that_takes_long_says_so_once(selector, impatient, capsys):
    name = type(selector).__name__
    with pytest.warns(
        UserWarning,
        match=rf"{name}.fit will take about a second, by the pace of its first 3 of 30 "
        r"steps. A lower rank= .* LeverageSelector.* verbose=1 shows",
    ) as caught:
        selector.fit(X)
    said = [one for one in caught if "will take" in str(one.message)]
    assert [one.filename for one in said] == [__file__]
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*will take")
        clone(selector).set_params(verbose=1).fit(X)
    assert f"{name}.fit: 100%" in capsys.readouterr().err


@pytest.mark.parametrize(
    "selector", [LeverageSelector(30, rule="largest"), RandomSelector(30)]
)
def test_a_choice_without_steps_says_nothing_of_time(selector, impatient):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        selector.fit(X)


@pytest.mark.parametrize(
    "search",
    [
        lambda space: bss(space, 30),
        lambda space: det_sampling(space, np.ones(space.shape[0]), 30),
        lambda space: complete(space, [0, 1], 30),
    ],
)
def test_a_search_without_a_selector_says_so_too(search, impatient):
    with pytest.warns(UserWarning, match="first 3 of 30 steps") as caught:
        search(row_space(X, 6))
    assert [warning.filename for warning in caught] == [__file__]


# ---------------------------------------------------------------- columns that are
# there more than once


def f_scores(X, y):
    """F scores where NumPy finds them finite."""
    return np.nan_to_num(np.maximum(f_classif(X, y)[0], 0))


def categories(n=60, d=20, seed=0):
    """One-hot columns: every category with its opposite, two of three columns of a
    table twice.
    """
    codes = np.random.default_rng(seed).integers(0, 2, (n, d))
    return OneHotEncoder(sparse_output=False).fit_transform(
        np.hstack([codes, codes[:, ::2]])
    )


BASE = table(40, 60, seed=3)
CHOOSE = {
    "BSS": partial(BSSSelector, rule="largest-norm"),
    "BSS, best": partial(BSSSelector, rule="best"),
    "BSS, sampled": partial(BSSSelector, rule="sampled", random_state=0),
    "BSS, sketched": partial(BSSSelector, sketch_size=30, random_state=0),
    "BSS with labels": partial(BSSSelector, score_func=f_scores),
    "BSS by weights": partial(BSSSelector, score_func=WeightScores(RidgeClassifier())),
    "DSF": DSFSelector,
    "DSF, first": partial(DSFSelector, rule="first"),
    "DSF, components": partial(DSFSelector, rule="components"),
    "DSF, target": partial(DSFSelector, rule="target"),
    "DSF with labels": partial(DSFSelector, score_func=f_scores),
    "leverage sampling": partial(LeverageSelector, random_state=0),
    "largest leverages": partial(LeverageSelector, rule="largest"),
    "RSF": partial(RSFSelector, random_state=0),
    "strong RRQR": RRQRSelector,
    "pivoted QR": partial(RRQRSelector, strong=False),
    "completion": lambda r: CompletionSelector([1, 5], r - 2),
    "completion with labels": lambda r: CompletionSelector(
        [1, 5], r - 2, score_func=f_scores
    ),
}
COPIED = {
    "twice": lambda: np.hstack([BASE, BASE]),
    "three times": lambda: np.repeat(BASE, 3, axis=1),
    "with its negative": lambda: np.hstack([BASE, -BASE]),
    "sparse": lambda: sp.csr_array(
        np.hstack([sparse_table(40, 60, 0.3).toarray()] * 2)
    ),
    "float32": lambda: np.hstack([BASE, BASE]).astype(np.float32),
    "in other units, standardised": lambda: StandardScaler().fit_transform(
        np.hstack([BASE, 2.54 * BASE + 7])
    ),
    "the same in float32": lambda: COPIED["in other units, standardised"]().astype(
        np.float32
    ),
    "centred categories": lambda: StandardScaler(with_std=False).fit_transform(
        categories(40)
    ),
    "tall": lambda: np.hstack([table(300, 40)] * 2),
    "at rank one hundred of many": lambda: np.hstack(
        [np.random.default_rng(0).standard_normal((520, 600))] * 2
    ),
}
LABELS = np.arange(520) % 3 == 0


@swept_product(("name", "kind"), list(zip(CHOOSE, [*COPIED, *COPIED])), CHOOSE, COPIED)
def test_no_two_chosen_columns_are_equal(name, kind):
    X = COPIED[kind]()
    for r in (6, 20, 30):
        selector = CHOOSE[name](r).fit(X, LABELS[: X.shape[0]])
        chosen = np.asarray(selector.selected_)
        groups = equal_columns(X[:, chosen])
        assert_array_equal(groups, np.arange(len(chosen)), err_msg=f"r={r}")
        assert selector.certificate_.holds in (True, None)


# draws fall elsewhere in other columns, and a regularised machine weighs a column and
# its copy in another way
SAME = [
    n
    for n in CHOOSE
    if n
    not in (
        "leverage sampling",
        "RSF",
        "BSS, sampled",
        "BSS, sketched",
        "BSS by weights",
    )
]


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("rank", [None, 5])
def test_copies_of_all_columns_change_no_choice(name, rank):
    """V is then that of the data without copies, divided by a root: the picks are the
    same, the weights larger.
    """
    y = LABELS[:40]
    r = 20
    for copied in (np.hstack([BASE, BASE]), np.hstack([BASE, -BASE])):
        once, twice = (
            CHOOSE[name](r).set_params(rank=rank).fit(X, y) for X in (BASE, copied)
        )
        assert_array_equal(twice.selected_, once.selected_)
        if "QR" not in name and "completion" not in name:
            assert_allclose(twice.weights_, 2 * once.weights_, rtol=1e-6)
            assert_allclose(
                twice.certificate_.eigenvalues, once.certificate_.eigenvalues, rtol=1e-6
            )


@pytest.mark.parametrize("name", CHOOSE)
def test_more_columns_than_there_are_different_ones(name):
    X = np.hstack([BASE[:, :12]] * 4)
    selector = CHOOSE[name](20).set_params(rank=4).fit(X, LABELS[:40])
    assert selector.certificate_.n_selected <= 12 and selector.certificate_.holds in (
        True,
        None,
    )
    assert (
        len(np.unique(np.asarray(selector.selected_) % 12))
        == selector.certificate_.n_selected
    )
    if name in ("BSS", "BSS, best", "largest leverages", "strong RRQR", "pivoted QR"):
        assert selector.certificate_.n_selected == 12


@pytest.mark.parametrize("rule", ["largest-norm", "best"])
def test_columns_that_differ_beyond_the_rank_are_different(rule):
    """At rank one these four have one row in V. Nothing says that a user wants only one
    of them.
    """
    X = np.array([[3.0, 3.0, 3.0, 3.0], [0.1, -0.1, 0.0, 0.0], [0.0, 0.0, 0.1, -0.1]])
    assert_array_equal(
        np.sort(BSSSelector(4, rank=1, rule=rule).fit(X).selected_), np.arange(4)
    )


def test_nearly_equal_columns_that_hold_a_direction_are_different():
    """They differ in the thirteenth digit, and all directions but one live there."""
    X = 1 + 1e-13 * np.random.default_rng(0).standard_normal((20, 40))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of directions as small as that
        selector = BSSSelector(30, rank=15).fit(X)
    assert selector.certificate_.n_selected == 30 and selector.certificate_.holds


def test_of_equal_columns_the_one_of_largest_score_is_chosen():
    X = np.repeat(BASE, 2, axis=1)
    scores = np.where(np.arange(120) % 2 == 1, 2.0, 1.0)
    assert_array_equal(BSSSelector(20, score_func=scores).fit(X).selected_ % 2, 1)
    space = row_space(X, rank=5)
    assert_array_equal(
        det_sampling(space, space.residual_norms, 20, scores=scores).indices % 2, 1
    )
    assert_array_equal(complete(space, [2, 5], 20, scores=scores).indices[2:] % 2, 1)


def test_zero_columns_and_constant_ones():
    """Zero columns are no group of copies, and constant columns are one."""
    X = np.hstack(
        [
            np.zeros((40, 5)),
            BASE,
            np.zeros((40, 5)),
            np.ones((40, 4)),
            -2 * np.ones((40, 2)),
        ]
    )
    assert row_space(X).n_different == 60 + 2
    for name, make in CHOOSE.items():
        if "completion" not in name:
            selector = make(30).fit(X, LABELS[:40])
            assert_array_equal(
                equal_columns(X[:, selector.selected_]),
                np.arange(selector.certificate_.n_selected),
            )


def test_copies_cost_little_to_find():
    """Work in proportion to the columns, also where many are equal, or are near each
    other without being equal.
    """
    rng = np.random.default_rng(0)
    many = [
        sp.csc_array(
            (np.ones(200_000), rng.integers(0, 30, 200_000), np.arange(200_001)),
            shape=(30, 200_000),
        ),
        rng.integers(0, 2, (30, 100_000)).astype(np.float32),
        rng.standard_normal((30, 200_000)).astype(np.float32),
    ]
    for X in many:
        space = row_space(X, rank=5)
        begun = time.process_time()
        different = np.sum(space.first_equal == np.arange(X.shape[1]))
        assert time.process_time() - begun < 10
        assert different <= (30 if sp.issparse(X) else X.shape[1])
