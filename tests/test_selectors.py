"""The selectors as people use them, the same answer every time, and the statistics of leverage sampling."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from cases import heavy, interval, orthonormal, right_singular_vectors, sparse_table, table, with_condition
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_info, threadpool_limits

from fsel_book import (
    BSSSelector,
    LeverageDisplay,
    LeverageSelector,
    SpectrumDisplay,
    bss,
    certify,
    leverage_sampling,
    row_space,
)
from fsel_book.leverage import kl, leverage_promise

X = table(20, 50)
NAMES = [f"word{j}" for j in range(50)]
FRAME = pd.DataFrame(X, columns=NAMES)
y = (X[:, 3] + X[:, 17] - X[:, 40] > 0).astype(int)

SELECTORS = [
    BSSSelector(25),
    BSSSelector(25, rule="best"),
    BSSSelector(25, rule="sampled", random_state=4),
    BSSSelector(15, rank=6, rescale=True),
    LeverageSelector(25, random_state=4),
    LeverageSelector(0.6, rank=6, rescale=True, random_state=4),
]
each_selector = pytest.mark.parametrize("selector", SELECTORS, ids=repr)
each_class = pytest.mark.parametrize("Selector", [BSSSelector, LeverageSelector])


@pytest.fixture
def fitted(selector):
    return clone(selector).fit(X)


def assert_equal_fits(one, other):
    for name in ("selected_", "weights_", "leverage_scores_", "support_"):
        assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert_array_equal(one.certificate_.eigenvalues, other.certificate_.eigenvalues)
    assert one.n_draws_ == other.n_draws_
    assert str(one.certificate_) == str(other.certificate_)


# ---------------------------------------------------------------- what fit leaves behind


@each_selector
def test_fitted_attributes_agree(fitted):
    assert_array_equal(np.flatnonzero(fitted.support_), np.sort(fitted.selected_))
    assert len(fitted.weights_) == len(fitted.selected_) == fitted.sampling_.n_selected
    assert_array_equal(fitted.selected_, fitted.sampling_.indices)
    assert_array_equal(fitted.weights_, fitted.sampling_.weights)
    assert fitted.n_features_in_ == fitted.sampling_.n_features == fitted.certificate_.n_features == 50
    assert fitted.certificate_.n_selected == fitted.sampling_.n_selected <= fitted.n_draws_
    assert not hasattr(fitted, "feature_names_in_")
    rank = fitted.certificate_.rank
    V = right_singular_vectors(X, rank)
    assert_allclose(fitted.leverage_scores_, np.sum(V**2, axis=1), rtol=1e-8)
    assert_allclose(fitted.certificate_.interval, interval(V, fitted.sampling_), rtol=1e-7, atol=1e-12)
    assert fitted.certificate_.numerical_rank == 20
    s = np.linalg.svd(X, compute_uv=False)
    assert fitted.certificate_.energy == pytest.approx(np.sum(s[:rank] ** 2) / np.sum(s**2))


@each_selector
def test_certificate_is_that_of_the_functions(selector, fitted):
    space = row_space(X, fitted.certificate_.rank)
    certificate = certify(space, fitted.sampling_, fitted.certificate_.promise)
    assert_allclose(certificate.eigenvalues, fitted.certificate_.eigenvalues, rtol=1e-9, atol=1e-12)
    again = (
        bss(space, fitted.n_draws_, selector.rule, selector.random_state)
        if isinstance(selector, BSSSelector)
        else leverage_sampling(space, fitted.n_draws_, selector.random_state)
    )
    assert_array_equal(again.indices, fitted.selected_)


def test_certificate_numbers_follow_from_its_interval():
    certificate = BSSSelector(25).fit(X).certificate_
    low, high = certificate.interval
    assert certificate.epsilon == pytest.approx(max(1 - low, high - 1))
    assert certificate.kappa == pytest.approx(high / low)
    scaled = certificate.eigenvalues * certificate.scale
    assert (
        certificate.distortion
        == pytest.approx(np.max(np.abs(1 - scaled)))
        == pytest.approx((certificate.kappa - 1) / (certificate.kappa + 1))
    )
    V = right_singular_vectors(X)
    selected = V[BSSSelector(25).fit(X).selected_]
    assert_allclose(certificate.eigenvalues_unscaled, np.linalg.eigvalsh(selected.T @ selected), rtol=1e-8, atol=1e-12)


def test_a_lost_direction_is_reported():
    """A selection that misses a direction has an infinite condition number, and its certificate says so."""
    V = orthonormal(40, 6, np.random.default_rng(0))
    sampling = leverage_sampling(V, 4, random_state=0)
    certificate = certify(V, sampling)
    assert certificate.kappa == np.inf and certificate.holds is None
    assert "lost" in str(certificate)


# ---------------------------------------------------------------- the same answer every time


@each_selector
def test_same_selection_with_one_thread_and_with_two(selector):
    """Large enough for BLAS to share the work."""
    assert any(pool["user_api"] == "blas" for pool in threadpool_info())
    for data in (
        table(150, 1500),
        sparse_table(150, 1500, 0.05),
        table(40, 15) @ table(15, 900),
        with_condition(60, 500, 1e6, np.random.default_rng(0)),
    ):
        larger = clone(selector).set_params(n_features_to_select=170 if selector.rank is None else 15)
        with threadpool_limits(1, user_api="blas"):
            one = clone(larger).fit(data)
        with threadpool_limits(2, user_api="blas"):
            two = clone(larger).fit(data)
        assert_array_equal(one.selected_, two.selected_)
        assert_allclose(one.weights_, two.weights_, rtol=1e-6)


@each_selector
def test_pickled_copied_and_cloned(selector, fitted):
    for restored in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted), clone(fitted).fit(X)):
        assert_equal_fits(restored, fitted)
        assert_array_equal(restored.transform(X), fitted.transform(X))
        assert_array_equal(restored.get_support(), fitted.get_support())
    assert not hasattr(clone(fitted), "selected_")
    assert clone(selector).get_params() == selector.get_params()


@each_selector
def test_fitting_twice_gives_the_same(selector, fitted):
    assert_equal_fits(fitted, clone(selector).fit(X, y))
    assert_equal_fits(copy.deepcopy(fitted).fit(X), fitted)
    assert_array_equal(clone(selector).fit_transform(X), fitted.transform(X))


@each_selector
@pytest.mark.parametrize("form", [np.array, np.asfortranarray, sp.csr_array, sp.csc_array])
def test_data_are_not_changed_and_not_kept(selector, form):
    data = form(X)
    values = data.data if sp.issparse(data) else data
    before = values.copy()
    selector = clone(selector).fit(data)
    selector.transform(data)
    assert_array_equal(values, before)
    watch, size = weakref.ref(data), len(pickle.dumps(selector))
    del data, values
    gc.collect()
    assert watch() is None
    assert size < X.nbytes


@each_selector
def test_fortran_order_strides_and_read_only_data(selector, fitted):
    read_only = X.copy()
    read_only.flags.writeable = False
    for data in (np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], read_only, X.tolist(), FRAME):
        assert_array_equal(clone(selector).fit(data).selected_, fitted.selected_)


# ---------------------------------------------------------------- transform and back


@each_selector
def test_get_support_in_all_its_forms(fitted):
    mask = fitted.get_support()
    assert mask.dtype == bool and mask.shape == (50,)
    assert_array_equal(fitted.get_support(indices=True), np.flatnonzero(mask))
    assert_array_equal(fitted.get_support(indices=True, ordered=True), fitted.selected_)
    assert_array_equal(np.sort(fitted.selected_), np.flatnonzero(mask))


@each_selector
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix])
def test_transform_and_back(selector, fitted, form):
    order = np.argsort(fitted.selected_)
    columns = fitted.selected_[order]
    factors = np.sqrt(fitted.weights_[order]) if selector.rescale else np.ones(len(columns))
    C = fitted.transform(form(X))
    assert_allclose(C.toarray() if sp.issparse(C) else C, X[:, columns] * factors, rtol=1e-14)
    back = fitted.inverse_transform(C)
    assert sp.issparse(back) == sp.issparse(C)
    expected = np.where(fitted.get_support(), X, 0)
    assert_allclose(back.toarray() if sp.issparse(back) else back, expected, rtol=1e-14)
    assert_allclose(
        fitted.transform(back).toarray() if sp.issparse(back) else fitted.transform(back),
        X[:, columns] * factors,
        rtol=1e-14,
    )


def test_rescaled_data_keep_the_kernel_of_the_data():
    """What the theory is about: X R R' X' is close to X X' in the sense of the certificate."""
    wide = table(12, 900)
    selector = BSSSelector(200, rescale=True).fit(wide)
    K, C = wide @ wide.T, selector.transform(wide)
    low, high = selector.certificate_.interval
    ratio = np.linalg.eigvals(np.linalg.solve(K, C @ C.T)).real
    assert low - 1e-9 <= ratio.min() and ratio.max() <= high + 1e-9
    assert selector.certificate_.promise.lower <= low and high <= selector.certificate_.promise.upper
    assert 0.5 < low and high < 1.6


# ---------------------------------------------------------------- names, frames, pipelines


@each_selector
def test_names_of_a_frame_go_in_and_come_out(selector):
    fitted = clone(selector).fit(FRAME)
    assert_array_equal(fitted.feature_names_in_, NAMES)
    kept = [NAMES[j] for j in np.flatnonzero(fitted.support_)]
    assert_array_equal(fitted.get_feature_names_out(), kept)
    assert isinstance(fitted.transform(FRAME), np.ndarray)
    assert_array_equal(
        clone(selector).fit(X).get_feature_names_out(), [f"x{j}" for j in np.flatnonzero(fitted.support_)]
    )
    assert_array_equal(clone(selector).fit(X).get_feature_names_out(NAMES), kept)


@each_selector
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


@each_selector
def test_a_pipeline_gives_names_out(selector):
    pipeline = make_pipeline(StandardScaler(), clone(selector), RidgeClassifier()).fit(FRAME, y)
    names = pipeline[:-1].get_feature_names_out()
    assert len(names) == pipeline[-1].n_features_in_ and set(names) <= set(NAMES)
    assert pipeline.predict(FRAME).shape == (20,)
    framed = make_pipeline(StandardScaler(), clone(selector)).set_output(transform="pandas").fit(FRAME)
    assert_array_equal(framed.transform(FRAME).columns, names)


def test_a_column_transformer():
    mixed = FRAME.assign(region=np.where(np.arange(20) % 2, "north", "south"))
    columns = ColumnTransformer(
        [("words", BSSSelector(10, rank=4), NAMES), ("region", OneHotEncoder(sparse_output=False), ["region"])]
    )
    names = columns.set_output(transform="pandas").fit_transform(mixed).columns
    chosen = columns.named_transformers_["words"].get_feature_names_out()
    assert list(names) == [f"words__{name}" for name in chosen] + ["region__region_north", "region__region_south"]


def test_a_grid_search_over_number_and_rule():
    pipeline = Pipeline([("select", BSSSelector(random_state=0)), ("classify", RidgeClassifier())])
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


def test_selectors_ignore_y():
    assert_equal_fits(BSSSelector(25).fit(X), BSSSelector(25).fit(X, np.arange(20)))


@each_class
def test_random_state_objects(Selector):
    keywords = {"rule": "sampled"} if Selector is BSSSelector else {}
    by_number = Selector(25, random_state=9, **keywords).fit(X)
    state = np.random.RandomState(9)
    assert_array_equal(Selector(25, random_state=state, **keywords).fit(X).selected_, by_number.selected_)
    assert not np.array_equal(Selector(25, random_state=state, **keywords).fit(X).selected_, by_number.selected_)


def test_verbose_shows_progress(capsys):
    BSSSelector(25, verbose=1).fit(X)
    assert "25/25" in capsys.readouterr().err
    BSSSelector(25).fit(X)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


# ---------------------------------------------------------------- text and pictures


@each_selector
def test_certificates_can_be_read_and_seen(fitted):
    text, page = str(fitted.certificate_), fitted.certificate_._repr_html_()
    low, high = fitted.certificate_.interval
    for part in (
        f"{fitted.n_draws_} draws",
        f"{fitted.sampling_.n_selected} of 50 features",
        f"[{low:.3g}, {high:.3g}]",
        "promised",
    ):
        assert part in text and part in page
    for display in (SpectrumDisplay.from_selector(fitted), LeverageDisplay.from_selector(fitted)):
        drawn = display.plot()
        assert (
            drawn is display and drawn.ax_.get_xlabel() and drawn.ax_.get_ylabel() and drawn.figure_ is drawn.ax_.figure
        )
        figure = drawn.figure_
        assert display.plot(ax=figure.add_subplot()).figure_ is figure
        figure.clear()
    assert fitted.certificate_.plot().ax_.get_ylabel()


@pytest.fixture(autouse=True)
def close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


# ---------------------------------------------------------------- the statistics of leverage sampling


def test_draws_have_the_frequencies_of_the_probabilities():
    V = heavy(60, 5, np.random.default_rng(0))
    p = np.sum(V**2, axis=1) / 5
    r = 200_000
    sampling = leverage_sampling(V, r, random_state=0)
    counts = np.zeros(60)
    counts[sampling.indices] = np.rint(sampling.weights * r * p[sampling.indices])
    assert counts.sum() == r
    common = r * p >= 10
    observed, expected = np.r_[counts[common], counts[~common].sum()], r * np.r_[p[common], p[~common].sum()]
    assert stats.chisquare(observed[expected > 0], expected[expected > 0]).pvalue > 1e-3


def test_first_draws_are_not_ordered_by_index():
    """The order picked is the order of the draws: its first member has the probabilities, too."""
    V = heavy(12, 3, np.random.default_rng(1))
    p = np.sum(V**2, axis=1) / 3
    firsts = [int(leverage_sampling(V, 5, random_state=seed).indices[0]) for seed in range(3000)]
    observed = np.bincount(firsts, minlength=12)
    common = p > 5 / 3000
    expected = 3000 * np.r_[p[common], p[~common].sum()]
    assert stats.chisquare(np.r_[observed[common], observed[~common].sum()], expected).pvalue > 1e-3


def test_the_expected_M_is_the_identity():
    V = heavy(80, 4, np.random.default_rng(2))
    samples = []
    for seed in range(1500):
        sampling = leverage_sampling(V, 12, random_state=seed)
        rows = V[sampling.indices]
        samples.append(rows.T @ (sampling.weights[:, None] * rows))
    samples = np.array(samples)
    deviation = (samples.mean(axis=0) - np.eye(4)) / (samples.std(axis=0) / np.sqrt(len(samples)) + 1e-300)
    assert np.all(np.abs(np.where(samples.std(axis=0) > 1e-12, deviation, 0)) < 4.5)
    assert_allclose(
        np.trace(samples, axis1=1, axis2=2), 4, rtol=1e-9
    )  # each draw adds l / r to the trace, whatever it is


@pytest.mark.parametrize("l, r, delta", [(2, 20, 0.1), (4, 30, 0.1), (4, 200, 0.5), (1, 10, 0.1), (6, 400, 0.3)])
def test_the_promise_holds_as_often_as_it_says(l, r, delta):
    """Failures are counted against the binomial distribution that the promise allows at most."""
    V, promise, failures, runs = stacked(l), leverage_promise(l, r, delta), 0, 400
    for seed in range(runs):
        sampling = leverage_sampling(V, r, random_state=seed)
        low, high = interval(V, sampling)
        failures += not (promise.lower - 1e-9 <= low and high <= promise.upper + 1e-9)
    assert failures <= stats.binom.ppf(0.999, runs, delta)
    assert promise.confidence == 1 - delta


def stacked(l):
    """The hardest case for sampling: unit vectors, so that a direction is kept only if it is drawn."""
    return np.tile(np.eye(l), (3, 1)) / np.sqrt(3)


def test_the_promise_is_not_idle():
    """Where one direction of two is a coin toss, the exact probability of leaving the interval is known: it is
    below delta, and that of leaving an interval narrower by a half is not."""
    for r, delta in ((40, 0.1), (200, 0.05), (1000, 0.01)):
        promise = leverage_promise(2, r, delta)
        heads = np.arange(r + 1)
        outside = (np.minimum(heads, r - heads) * 2 / r < promise.lower) | (
            np.maximum(heads, r - heads) * 2 / r > promise.upper
        )
        assert stats.binom.pmf(heads, r, 0.5)[outside].sum() <= delta
        width = (promise.upper - 1) / 2
        narrow = np.abs(heads * 2 / r - 1) > width
        assert stats.binom.pmf(heads, r, 0.5)[narrow].sum() > delta


def test_the_promise_solves_the_equation_of_the_theorem():
    """r kl(edge / l, 1 / l) = log(2 l / delta) at both edges, unless an edge is the end of the range."""
    for l, r, delta in ((2, 50, 0.01), (10, 400, 0.1), (100, 5000, 0.01), (3, 100_000, 0.5)):
        promise = leverage_promise(l, r, delta)
        for edge in (promise.lower, promise.upper):
            assert r * kl(edge / l, 1 / l) == pytest.approx(np.log(2 * l / delta), rel=1e-6)
        assert promise.lower < 1 < promise.upper
    assert leverage_promise(5, 3).lower == 0 and leverage_promise(5, 3).upper == pytest.approx(5)
    one = leverage_promise(1, 4)
    assert (one.lower, one.upper) == (pytest.approx(1), pytest.approx(1))


def test_the_promise_is_monotone():
    for l in (1, 2, 7, 50):
        promises = [leverage_promise(l, r) for r in (1, 2, 5, 10, 30, 100, 300, 1000, 10_000, 1_000_000)]
        assert np.all(np.diff([p.upper for p in promises]) <= 1e-9) and np.all(
            np.diff([p.lower for p in promises]) >= -1e-9
        )
        assert 0.95 < promises[-1].lower <= 1 + 1e-9 and 1 - 1e-9 <= promises[-1].upper < 1.05
        by_delta = [leverage_promise(l, 200, delta) for delta in (0.001, 0.01, 0.1, 0.5)]
        assert np.all(np.diff([p.upper for p in by_delta]) <= 1e-9) and np.all(
            np.diff([p.lower for p in by_delta]) >= -1e-9
        )
    for r in (50, 1000):
        by_rank = [leverage_promise(l, r).upper for l in (2, 4, 8, 16)]
        assert np.all(np.diff(by_rank) > 0)


def test_bss_beats_leverage_sampling_at_the_same_number_of_draws():
    """What the book is about, on twenty random bases."""
    better = 0
    for seed in range(20):
        V = heavy(200, 8, np.random.default_rng(seed))
        better += certify(V, bss(V, 24)).kappa < certify(V, leverage_sampling(V, 24, random_state=seed)).kappa
    assert better >= 18
