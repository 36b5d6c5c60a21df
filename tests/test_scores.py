"""A preference among feasible columns: it decides which of them is taken, and never
whether the theorem holds.
"""

import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from cases import (
    KINDS,
    heavy,
    interval,
    orthonormal,
    refused,
    small_head,
    swept_seeds,
    table,
    two_frames,
)
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import (
    chi2,
    f_classif,
    f_regression,
    mutual_info_classif,
    r_regression,
)
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from fsel_book import (
    BSSSelector,
    CompletionSelector,
    DSFSelector,
    LeverageSelector,
    SparsePCRegressor,
    SupportVectorSelector,
    WeightScores,
    bss,
    det_sampling,
    row_space,
)
from fsel_book.column_search import scored_lengths
from fsel_book.dual_set import det_promise, det_sampling_reference
from fsel_book.sparsification import bss_promise, bss_reference

SELECTORS = [BSSSelector, DSFSelector]
each_selector = pytest.mark.parametrize("selector", SELECTORS)

# `run(V, r, scores)`: with the literal twin of each, for a residual of one length or of
# many.
LENGTHS = {
    "one length": lambda V: np.ones(len(V)),
    "many lengths": lambda V: V[:, 0] ** 2 + 0.1,
}
METHODS = {
    "BSS": (
        lambda V, r, s: bss(V, r, scores=s),
        lambda V, r, s: bss_reference(V, r, scores=s),
    ),
    **{
        f"DSF, {name}": (
            lambda V, r, s, make=make: det_sampling(V, make(V), r, scores=s),
            lambda V, r, s, make=make: det_sampling_reference(V, make(V), r, scores=s),
        )
        for name, make in LENGTHS.items()
    },
}
each_method = pytest.mark.parametrize("method", METHODS)


def promised(method, V, r):
    l = V.shape[1]
    return bss_promise(l, r) if method == "BSS" else det_promise(l, r)


def same(a, b):
    return np.array_equal(a.indices, b.indices) and np.array_equal(a.weights, b.weights)


def assert_holds(method, V, sampling, r):
    promise = promised(method, V, r)
    low, high = interval(V, sampling)
    assert promise.lower - 1e-7 <= low and high <= promise.upper + 1e-7


# ---------------------------------------------------------------- pick for pick


def tied_problem(seed):
    """Rows repeated, zero or alike, at ranks from one; small integers as scores, zero
    too; few draws to spare.
    """
    rng = np.random.default_rng(seed)
    kinds = list(KINDS)
    V = KINDS[kinds[seed % len(kinds)]](
        int(rng.integers(8, 60)), int(rng.integers(1, 7)), rng
    )
    if seed % 7 == 0:
        V = np.repeat(np.eye(int(rng.integers(1, 4))), 4, axis=0) / 2
    d, l = V.shape
    r = l + int(rng.integers(l > 1, 4)) or 1
    return V, max(r, 1), rng.integers(0, rng.integers(1, 5), d).astype(float)


@pytest.mark.exact
@each_method
@swept_seeds(30, 300)
def test_the_literal_version_picks_the_same(seeds, method):
    fast, literal = METHODS[method]
    for seed in seeds:
        V, r, scores = tied_problem(seed)
        a = fast(V, r, scores)
        b = literal(V, r, scores)
        assert_array_equal(a.indices, b.indices, err_msg=f"seed {seed}")
        assert_allclose(a.weights, b.weights, rtol=1e-7, err_msg=f"seed {seed}")
        assert_holds(method, V, a, r)


@pytest.mark.parametrize("size", [1, 20])
@each_method
def test_the_same_where_nearly_all_columns_lie_beyond_the_head(
    method, size, monkeypatch
):
    """The rows kept at hand are few, so columns are judged in float32 first, a block of
    1,024 after the other.
    """
    small_head(monkeypatch, size)
    fast, literal = METHODS[method]
    rng = np.random.default_rng(size)
    half = rng.permutation(2048)
    # the others of large score share four axes
    in_one_half = two_frames(2048, 8)[np.concatenate([half, half + 2048])]
    for V, r, scores in (
        (heavy(200, 6, rng), 12, rng.random(200)),
        (orthonormal(300, 9, rng), 10, rng.integers(0, 3, 300).astype(float)),
        (heavy(2600, 10, rng), 40, rng.random(2600)),
        (in_one_half, 24, np.repeat([2.0, 1.0], 2048)),
    ):
        a = fast(V, r, scores)
        b = literal(V, r, scores)
        assert_array_equal(a.indices, b.indices)
        assert_allclose(a.weights, b.weights, rtol=1e-7)


@pytest.mark.parametrize("score", [0, 0.1, 3, 1e300, 1e-300, 5e-324])
def test_a_constant_score_is_none(score):
    for V in (
        heavy(90, 5, np.random.default_rng(0)),
        KINDS["rotated identities"](60, 4, np.random.default_rng(1)),
    ):
        assert same(bss(V, 20, scores=np.full(len(V), score)), bss(V, 20))
        one = det_sampling(V, np.ones(len(V)), 20, scores=np.full(len(V), score))
        assert same(one, det_sampling(V, np.ones(len(V)), 20, scores=np.ones(len(V))))
    for selector in SELECTORS:
        X = table(20, 40)
        one = selector(12, rank=5, score_func=np.full(40, score)).fit(X)
        assert same(
            one.sampling_, selector(12, rank=5, score_func=np.ones(40)).fit(X).sampling_
        )


@each_method
def test_only_the_order_of_score_times_length_counts(method):
    """Neither the unit of the scores, nor the order of the features, nor the rule."""
    run, _ = METHODS[method]
    rng = np.random.default_rng(0)
    V = heavy(90, 5, rng)
    scores = rng.exponential(size=90) * (rng.random(90) < 0.7)
    found = run(V, 20, scores)
    for unit in (3, 0.1, 1e300, 1e-300):
        assert same(found, run(V, 20, unit * scores))
    whole = rng.integers(0, 5, 90).astype(float)
    assert same(run(V, 20, whole), run(V, 20, 5e-324 * whole))
    order = rng.permutation(90)
    there = run(V[order], 20, scores[order])
    assert_array_equal(order[there.indices], found.indices)
    assert_allclose(there.weights, found.weights, rtol=1e-7)
    for make in METHODS[method]:
        near = np.array([[1e-9], [0.6], [0.8]])  # the first counts as zero
        assert make(near, 1, np.array([1e300, 1.0, 1.0])).indices[0] > 0
    only = np.eye(6)[:, :1]
    # all others are zero, whatever their score
    assert run(only, 1, np.arange(6.0)).indices.tolist() == [0]


@pytest.mark.parametrize(
    ("selector", "rule", "default"),
    [
        *((BSSSelector, rule, "auto") for rule in ("largest-norm", "best", "sampled")),
        *((DSFSelector, rule, "best") for rule in ("first", "components", "target")),
    ],
)
@pytest.mark.parametrize(
    "score_func",
    [np.ones(40), np.zeros(40), lambda X, y: np.ones(40)],
    ids=["an array", "zeros", "a function"],
)
def test_a_rule_and_scores_contradict_each_other(selector, rule, default, score_func):
    """Refused at fit, not before, with both parameters named and what to do; each alone
    is fine.
    """
    X = table(20, 40)
    y = np.arange(20) % 3
    both = selector(12, rank=5, rule=rule, score_func=score_func)
    assert clone(both).rule == rule
    with refused(
        f"rule={rule!r} and score_func contradict each other",
        f"Leave rule at {default!r}",
        "or leave out score_func",
    ):
        both.fit(X, y)
    assert not hasattr(both, "sampling_")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that zeros do not count
        both.set_params(rule=default).fit(X, y)
    both.set_params(rule=rule, score_func=None).fit(X, y)


def test_a_rule_and_scores_contradict_each_other_in_the_functions():
    V = orthonormal(30, 4, np.random.default_rng(0))
    scores = np.arange(30.0)
    functions = [
        (bss, "largest-norm", ["best", "sampled"]),
        (bss_reference, "largest-norm", ["best"]),
        (partial(det_sampling, residual_norms=np.ones(30)), "first", ["best"]),
        (
            partial(det_sampling_reference, residual_norms=np.ones(30)),
            "index",
            ["first", "best"],
        ),
    ]
    for function, default, rules in functions:
        found = function(V, r=9, scores=scores)
        assert same(found, function(V, r=9, rule=default, scores=scores))
        for rule in rules:
            function(V, r=9, rule=rule)
            with refused(
                f"rule={rule!r} and scores contradict each other",
                f"Leave rule at {default!r} to go by scores",
            ):
                function(V, r=9, rule=rule, scores=scores)


def test_the_order_is_that_of_score_times_squared_length_and_then_of_length():
    """From zero every row of V is as feasible as any other, so the first pick says what
    the order begins with.
    """
    for seed in range(20):
        rng = np.random.default_rng(seed)
        V = heavy(60, 3, rng)
        lengths = np.sum(V**2, axis=1)
        scores = rng.exponential(size=60) * (rng.random(60) < 0.3)
        expected = np.lexsort((-lengths, -scores * lengths))
        assert_array_equal(np.argsort(-scored_lengths(lengths, scores)), expected)
        for sampling in (
            bss(V, 9, scores=scores),
            det_sampling(V, np.zeros(60), 9, scores=scores),
        ):
            assert sampling.indices[0] == expected[0]


# ---------------------------------------------------------------- scores against the
# theorem


def outside(V, rng):
    """All of the score on the shortest half of the features."""
    return (np.sum(V**2, axis=1) <= np.median(np.sum(V**2, axis=1))).astype(float)


ADVERSARIES = {
    "one over the squared length": lambda V, rng: (
        1 / np.maximum(np.sum(V**2, axis=1), 1e-300)
    ),
    "one over its square": lambda V, rng: (
        1 / np.maximum(np.sum(V**2, axis=1), 1e-150) ** 2
    ),
    "the short ones": outside,
    "one feature": lambda V, rng: np.eye(1, len(V), int(rng.integers(len(V))))[0],
    "all the range of floats": lambda V, rng: 10.0 ** rng.uniform(-300, 300, len(V)),
    "subnormal": lambda V, rng: 5e-324 * rng.integers(0, 5, len(V)),
    "to one side of a direction": lambda V, rng: np.maximum(V[:, 0], 0),
}


@each_method
@swept_seeds(6, 300)
@pytest.mark.parametrize("kind", ADVERSARIES)
def test_no_score_breaks_the_promise(kind, seeds, method):
    run, literal = METHODS[method]
    for seed in seeds:
        rng = np.random.default_rng(seed)
        V = list(KINDS.values())[seed % len(KINDS)](
            int(rng.integers(8, 90)), int(rng.integers(1, 8)), rng
        )
        r = V.shape[1] + int(rng.integers(1, 20))
        scores = ADVERSARIES[kind](V, rng)
        sampling = run(V, r, scores)
        assert_holds(method, V, sampling, r)
        assert_array_equal(sampling.indices, literal(V, r, scores).indices)


@each_selector
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@swept_seeds(2, 60)
def test_no_score_breaks_the_promise_of_a_selector(seeds, dtype, selector):
    """Features outside the space that is kept among them, and lengths over six orders
    of magnitude.
    """
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = table(20, 60, seed) * 10 ** rng.uniform(-3, 3, 60)
        X[:, ::7] = 0
        X = (X if seed % 2 else X[:, :15] if seed % 4 else X[:6]).astype(dtype)
        rank = int(
            rng.integers(1, np.linalg.matrix_rank(X[:, np.any(X, axis=0)]) // 2 + 2)
        )
        V = np.asarray(row_space(X, rank).basis(), dtype=float)
        for make in ADVERSARIES.values():
            found = selector(
                min(rank + int(rng.integers(1, 9)), X.shape[1]),
                rank=rank,
                score_func=make(V, rng),
            ).fit(X)
            assert (
                found.certificate_.holds is True
                and not np.any(X[:, found.selected_] == 0, axis=0).all()
            )
            assert found.weights_.dtype == dtype and np.all(
                np.any(X[:, found.selected_], axis=0)
            )


# ---------------------------------------------------------------- functions of X and y

rng = np.random.default_rng(0)
X = rng.poisson(1.0, (60, 40)).astype(float)
y = np.where(
    X[:, 3] + X[:, 5] > 2, "north", np.where(X[:, 3] > X[:, 7], "south", "west")
)


def variance(X, y=None):
    return np.var(X, axis=0)


def information(X, y):
    return mutual_info_classif(X, y, random_state=0)


def correlation(X, y, sample_weight=None):
    """Squared, with the first label against the rest."""
    w = np.ones(len(y)) if sample_weight is None else sample_weight
    t = (y == np.sort(y)[0]).astype(float)
    X = X - np.average(X, axis=0, weights=w)
    t = t - np.average(t, weights=w)
    return (X.T @ (w * t)) ** 2 / (w @ X**2)


@each_selector
@pytest.mark.parametrize(
    "score_func, y",
    [
        (f_classif, y),
        (information, y),
        (chi2, y),
        (f_regression, X[:, 3] + rng.standard_normal(60)),
        (correlation, y),
        (variance, y),
        (variance, None),
        (lambda X: X.mean(axis=0), None),
        (lambda X, y: list(f_classif(X, y)), y),
        (lambda X, y: pd.Series(f_classif(X, y)[0]), y),
    ],
    ids=[
        "F",
        "information",
        "chi2",
        "regression",
        "weighted",
        "variance",
        "no y",
        "X alone",
        "list",
        "series",
    ],
)
def test_scores_of_a_function_are_those_of_an_array(score_func, y, selector):
    found = score_func(X) if y is None else score_func(X, y)
    scores = np.asarray(found[0] if isinstance(found, tuple | list) else found)
    fitted = selector(15, rank=6, score_func=score_func).fit(X, y)
    assert fitted.certificate_.holds
    assert_array_equal(fitted.scores_, scores)
    assert same(
        fitted.sampling_, selector(15, rank=6, score_func=scores).fit(X).sampling_
    )
    assert not same(
        fitted.sampling_, selector(15, rank=6, score_func=np.ones(40)).fit(X).sampling_
    )


@each_selector
@pytest.mark.parametrize(
    "make", [list, np.array, pd.Series, lambda y: pd.Series(y, dtype="category")]
)
def test_labels_of_any_kind(make, selector):
    fitted = selector(15, rank=6, score_func=f_classif).fit(X, y)
    assert same(
        fitted.sampling_,
        selector(15, rank=6, score_func=f_classif).fit(X, make(y)).sampling_,
    )


@each_selector
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.csr_matrix])
def test_sparse_counts(form, selector):
    """The function sees sparse data, and the picks are those of dense data."""
    seen = []
    fitted = selector(
        15, rank=6, score_func=lambda X, y: (seen.append(X), chi2(X, y))[1]
    ).fit(form(X), y)
    assert sp.issparse(seen[0])
    assert_array_equal(seen[0].toarray(), X)
    assert_array_equal(
        fitted.selected_, selector(15, rank=6, score_func=chi2).fit(X, y).selected_
    )


@each_selector
def test_the_function_sees_the_data_and_nothing_is_written(selector):
    before = X.copy()
    target = y.copy()
    scores = chi2(X, y)[0]
    for score_func in (scores, lambda X, y: (assert_array_equal(X, before), scores)[1]):
        selector(15, rank=6, score_func=score_func).fit(X, y)
    scores.flags.writeable = False
    selector(15, rank=6, score_func=scores).fit(X)
    assert_array_equal(X, before)
    assert_array_equal(y, target)


@each_selector
def test_array_libraries(dense_library, selector):
    """Scores and weights of samples on the host, the result in the library of X."""
    weights = np.arange(1.0, 61)
    host = selector(15, rank=6, score_func=correlation).fit(X, y, sample_weight=weights)
    model = selector(15, rank=6, score_func=correlation)
    model.fit(dense_library.make(X), y, sample_weight=dense_library.make(weights))
    assert_array_equal(dense_library.back(model.selected_), host.selected_)
    assert dense_library.is_result(
        model.weights_, "float64"
    ) and dense_library.is_result(model.scores_, "float64")
    assert dense_library.is_result(model.transform(dense_library.make(X)), "float64")
    own = selector(15, rank=6, score_func=dense_library.make(host.scores_)).fit(
        dense_library.make(X)
    )
    assert_array_equal(dense_library.back(own.selected_), host.selected_)


@each_selector
def test_frames_names_clones_and_pickles(selector):
    frame = pd.DataFrame(X).add_prefix("word")
    fitted = (
        selector(15, rank=6, score_func=f_classif)
        .set_output(transform="pandas")
        .fit(frame, pd.Series(y))
    )
    assert (
        list(fitted.transform(frame).columns)
        == list(fitted.get_feature_names_out())
        == [f"word{i}" for i in fitted.get_support(indices=True)]
    )
    for score_func in (f_classif, correlation, np.arange(40.0)):
        model = selector(15, rank=6, score_func=score_func)
        fitted = clone(model).fit(X, y)
        again = pickle.loads(pickle.dumps(fitted))
        assert same(again.sampling_, fitted.sampling_) and same(
            clone(fitted).fit(X, y).sampling_, fitted.sampling_
        )
        assert "score_func" in repr(model)


@each_selector
def test_a_grid_over_score_functions(selector):
    scores = [None, f_classif, chi2, np.arange(40.0)]
    grid = GridSearchCV(
        make_pipeline(selector(15, rank=6), LinearSVC(random_state=0)),
        {f"{selector.__name__.lower()}__score_func": scores},
        error_score="raise",
    ).fit(X, y)
    assert (
        len(grid.cv_results_["params"]) == 4
        and grid.best_estimator_[0].certificate_.holds
    )


# ---------------------------------------------------------------- weights of samples

weights = np.where(np.arange(60) < 30, 1.0, 0.0)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@each_selector
def test_weights_of_samples_reach_the_function(selector):
    """Weight zero is as good as absence, as far as the scores go."""
    scores = correlation(X[:30], y[:30])
    expected = selector(15, rank=6, score_func=scores).fit(X).sampling_
    fitted = selector(15, rank=6, score_func=correlation).fit(
        X, y, sample_weight=weights
    )
    assert_allclose(fitted.scores_, scores, rtol=1e-12)
    assert_array_equal(fitted.selected_, expected.indices)
    pipeline = make_pipeline(
        selector(15, rank=6, score_func=correlation), LinearSVC(random_state=0)
    )
    pipeline.fit(X, y, **{f"{selector.__name__.lower()}__sample_weight": weights})
    assert_array_equal(pipeline[0].selected_, expected.indices)


@each_selector
def test_weights_of_samples_are_routed(routing, selector):
    model = selector(15, rank=6, score_func=correlation).set_fit_request(
        sample_weight=True
    )
    machine = LinearSVC(random_state=0).set_fit_request(sample_weight=False)
    pipeline = make_pipeline(model, machine).fit(X, y, sample_weight=weights)
    assert_allclose(pipeline[0].scores_, correlation(X[:30], y[:30]), rtol=1e-12)
    # a pipeline's own takes them from 1.7 on
    scoring = get_scorer("accuracy").set_score_request(sample_weight=True)
    params = {"sample_weight": weights + 1}
    found = cross_validate(
        pipeline, X, y, params=params, scoring=scoring, return_estimator=True, cv=3
    )
    for one, (train, _) in zip(found["estimator"], StratifiedKFold(3).split(X, y)):
        assert_allclose(
            one[0].scores_,
            correlation(X[train], y[train], weights[train] + 1),
            rtol=1e-12,
        )
    unasked = make_pipeline(
        clone(model).set_fit_request(sample_weight=False),
        machine.set_fit_request(sample_weight=True),
    )
    assert_allclose(
        unasked.fit(X, y, sample_weight=weights)[0].scores_,
        correlation(X, y),
        rtol=1e-12,
    )


# ---------------------------------------------------------------- chapters that take a
# selector


@each_selector
def test_on_support_vectors_the_function_sees_their_labels(selector):
    seen = []

    def score(X, y):
        seen.append((X, y))
        return f_classif(X, y)

    for labels in (y, np.unique(y, return_inverse=True)[1], y == "north"):
        model = SupportVectorSelector(selector(15, rank=6, score_func=score)).fit(
            X, labels
        )
        rows, known = seen[-1]
        assert_array_equal(rows, X[model.support_samples_])
        assert_array_equal(known, np.asarray(labels)[model.support_samples_])
        assert model.certificate_.holds and len(model.support_samples_) < 60
        assert_array_equal(model.selector_.scores_, f_classif(rows, known)[0])


def test_regression_on_components_by_scores_of_features():
    target = X @ rng.standard_normal(40)
    model = SparsePCRegressor(
        n_components=6,
        n_features_to_select=15,
        selector=DSFSelector(score_func=f_regression),
    ).fit(X, target)
    assert_allclose(model.selector_.scores_, f_regression(X, target)[0], rtol=1e-8)


@each_selector
def test_a_weight_of_none_is_no_weight(selector):
    expected = selector(15, rank=6, score_func=f_classif).fit(X, y)
    assert same(
        selector(15, rank=6, score_func=f_classif)
        .fit(X, y, sample_weight=None)
        .sampling_,
        expected.sampling_,
    )
    selector(15, rank=6).fit(X, y, sample_weight=None)


@each_selector
def test_scores_of_zero_are_mentioned(selector):
    with pytest.warns(
        UserWarning, match="score_func gives 0 for every feature"
    ) as caught:
        found = selector(15, rank=6, score_func=np.zeros(40)).fit(X)
    assert caught[0].filename == __file__
    assert same(
        found.sampling_, selector(15, rank=6, score_func=np.ones(40)).fit(X).sampling_
    )


# ---------------------------------------------------------------- what cannot be done


def marred(value, position=4):
    out = np.arange(40.0)
    out[position] = value
    return out


NEEDED = "40 numbers that are not negative are needed, one for each feature"
BAD_SCORES = {
    "negative": (marred(-1.0), "-1.0 for feature 4"),
    "infinite": (marred(np.inf), "inf for feature 4"),
    "minus infinity": (marred(-np.inf), "-inf for feature 4"),
    "too few": (np.ones(39), "shape (39,)"),
    "too many": (np.ones(41), "shape (41,)"),
    "a column": (np.ones((40, 1)), "shape (40, 1)"),
    "a number": (np.float64(3), "shape ()"),
    "strings": (np.array(["a"] * 40), "no real numbers"),
    "numbers as strings": (np.array(["1"] * 40), "no real numbers"),
    "complex": (np.ones(40) + 0j, "no real numbers"),
    "sparse": (sp.csr_array(np.ones((1, 40))), "no real numbers"),
}


def assert_not_fitted(model):
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    assert {name for name in vars(model) if name.endswith("_")} <= {"n_features_in_"}


@each_selector
@pytest.mark.parametrize("kind", BAD_SCORES)
def test_scores_that_will_not_do(kind, selector):
    """An infinite score is for functions only."""
    scores, what = BAD_SCORES[kind]
    model = selector(15, rank=6, score_func=np.ones(40)).fit(X)
    functions = [lambda X, y: scores, lambda X, y: (scores, np.ones(40))]
    for score_func in (scores, *functions * (kind != "infinite")):
        with refused(f"score_func gives {what}", NEEDED):
            model.set_params(score_func=score_func).fit(X, y)
        assert_not_fitted(model)


@pytest.mark.parametrize("kind", [*BAD_SCORES, "NaN"])
def test_scores_that_functions_refuse(kind):
    scores, what = BAD_SCORES.get(kind, (marred(np.nan), "nan for feature 4"))
    V = orthonormal(40, 4, np.random.default_rng(0))
    for function in (bss, bss_reference):
        with refused(f"scores gives {what}", NEEDED):
            function(V, 9, scores=scores)
    for function in (det_sampling, det_sampling_reference):
        with refused(f"scores gives {what}", NEEDED):
            function(V, np.ones(40), 9, scores=scores)


@each_selector
def test_what_is_neither_a_function_nor_scores(selector):
    for value in (3, [[1, 2], [3]], {}, [None] * 40, marred(np.nan)):
        model = selector(15, rank=6, score_func=value)
        with refused("score_func gives", NEEDED):
            model.fit(X, y)
        assert_not_fitted(model)


@each_selector
def test_a_class_in_the_place_of_a_function(selector):
    with refused("score_func=<class", "LinearSVC", "or WeightScores(estimator)"):
        selector(15, rank=6, score_func=LinearSVC).fit(X, y)


@each_selector
def test_nan_from_a_function_is_zero(selector):
    """As in SelectKBest: a feature that is constant has no F. Where no feature has any,
    the function has failed.
    """
    part = np.hstack([X[:, :30], np.ones((60, 10))])
    with pytest.warns(UserWarning), np.errstate(invalid="ignore"):
        raw = f_classif(part, y)[0]
        fitted = selector(15, rank=6, score_func=f_classif).fit(part, y)
    assert np.isnan(raw).any()
    assert_array_equal(fitted.scores_, np.nan_to_num(raw))
    model = selector(15, rank=6, score_func=lambda X: np.full(40, np.nan))
    with refused("score_func gives nan for feature 0", NEEDED):
        model.fit(X)
    assert_not_fitted(model)


@each_selector
@pytest.mark.parametrize("error", [TypeError, ValueError, RuntimeError, KeyError])
@pytest.mark.parametrize("labels", [y, None], ids=["y", "no y"])
def test_what_a_function_raises_passes_unchanged(labels, error, selector):
    raised = error("mine")

    def fails(X, y=None):
        raise raised

    model = (
        selector(15, rank=6, score_func=np.ones(40)).fit(X).set_params(score_func=fails)
    )
    with pytest.raises(error) as caught:
        model.fit(X, labels)
    assert caught.value is raised and caught.value.__cause__ is None
    assert_not_fitted(model)


@each_selector
def test_labels_that_are_missing_or_do_not_fit(selector):
    for score_func in (
        f_classif,
        correlation,
        lambda X, y: X.T @ np.ones(60),
        lambda X, y, *, z=1: X,
    ):
        model = selector(15, rank=6, score_func=score_func)
        with refused("score_func requires y to be passed, but the target y is None"):
            model.fit(X)
        assert_not_fitted(model)
        with refused("inconsistent numbers of samples"):
            model.fit(X, y[:50])
        assert_not_fitted(model)
    with refused("y contains NaN"):
        selector(15, rank=6, score_func=lambda X, y: X.T @ y).fit(
            X, np.r_[np.nan, np.ones(59)]
        )


@each_selector
def test_weights_of_samples_that_no_one_takes(selector):
    for score_func, words, error in (
        (f_classif, ["score_func=f_classif takes no sample_weight"], ValueError),
        (
            np.ones(40),
            ["sample_weight cannot be used", "score_func is no function"],
            ValueError,
        ),
        (None, ["sample_weight cannot be used without a score_func"], ValueError),
    ):
        model = selector(15, rank=6).fit(X).set_params(score_func=score_func)
        with refused(*words, error=error):
            model.fit(X, y, sample_weight=weights)
        assert_not_fitted(model)


def test_what_a_score_function_does_not_take_is_named_and_nothing_else():
    def of_weighted(X, y, sample_weight=None):
        return np.abs(X.T @ (sample_weight * y))

    with pytest.raises(ValueError, match=r"of_weighted takes no groups\."):
        BSSSelector(15, rank=6, score_func=of_weighted).fit(
            X, y, sample_weight=weights, groups=np.ones(60)
        )


def test_a_failed_fit_of_any_selector_leaves_nothing_fitted():
    """What validation keeps of X does not make a selector that is fitted."""
    for model in (
        LeverageSelector(15, rank=50),
        SupportVectorSelector(BSSSelector(15, rank=50)),
    ):
        with refused("rank=50"):
            model.fit(X, y)
        with pytest.raises(NotFittedError):
            check_is_fitted(model)


@pytest.mark.filterwarnings("ignore:Features")
def test_signed_scores_are_refused_with_the_way_out():
    target = X[:, 0] - X[:, 1]
    with refused("score_func gives -", "Take absolute values of signed scores"):
        BSSSelector(15, rank=6, score_func=r_regression).fit(X, target)
    with refused("score_func gives inf", "Infinite ones must come from a function"):
        BSSSelector(15, rank=6, score_func=marred(np.inf)).fit(X)


# ---------------------------------------------------------------- infinite scores, and
# rounding


def told_apart():
    """A table with a column that has one value in each class, one that is constant, and
    one of rounding noise.
    """
    some = np.random.default_rng(0)
    alone = np.where(y == "west", 2.0, np.where(y == "south", 3.0, 5.0))
    noise = 3 + 1e-15 * some.standard_normal(60)
    return np.c_[X, alone, np.full(60, 4.0), noise, some.permuted(alone)]


@each_selector
@pytest.mark.parametrize(
    "form", [np.asarray, sp.csr_array, sp.csc_array, np.asfortranarray, np.float32]
)
def test_a_column_that_tells_the_classes_apart_is_picked_first(form, selector):
    table = form(told_apart())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = selector(15, rank=6, score_func=f_classif).fit(table, y)
    assert fitted.certificate_.holds
    assert (
        fitted.selected_[0] == 40
        and np.isinf(fitted.scores_[40])
        and fitted.scores_[41] == 0
    )
    assert (
        np.isfinite(np.delete(fitted.scores_, 40)).all() and (fitted.scores_ >= 0).all()
    )
    assert_allclose(fitted.scores_[:40], f_classif(X, y)[0], rtol=1e-3)


@each_selector
@pytest.mark.parametrize("unit", [1e-300, 1, 1e300])
@pytest.mark.parametrize("share", [0, 0.5, 1])
def test_infinite_scores_are_the_largest_and_the_others_keep_their_order(
    share, unit, selector
):
    some = np.random.default_rng(1)
    scores = some.exponential(size=40) * (some.random(40) < share)
    capped = scores.copy()
    scores[[3, 20, 7, 33]] = np.inf
    capped[[3, 20, 7, 33]] = 1e9
    fitted = selector(15, rank=6, score_func=lambda X: scores * unit).fit(X)
    assert_array_equal(fitted.scores_, scores * unit)
    assert same(
        fitted.sampling_, selector(15, rank=6, score_func=capped).fit(X).sampling_
    )


@each_selector
def test_scores_that_are_all_infinite_are_all_one(selector):
    fitted = selector(15, rank=6, score_func=lambda X: np.full(40, np.inf)).fit(X)
    assert same(
        fitted.sampling_, selector(15, rank=6, score_func=np.ones(40)).fit(X).sampling_
    )


@pytest.mark.parametrize("seed", range(20))
def test_noise_in_the_last_digit_counts_as_nothing(seed):
    """Of a column that is constant up to rounding, F may be anything: negative,
    infinite, the largest of all.
    """
    some = np.random.default_rng(seed)
    table = some.standard_normal((27, 12))
    labels = some.integers(0, 3, 27)
    table[:, 3] = 3 + 1e-15 * some.standard_normal(27)
    with np.errstate(all="ignore"):
        F = f_classif(table, labels)[0]
    fitted = BSSSelector(6, rank=2, score_func=f_classif).fit(table, labels)
    assert fitted.scores_[3] == 0
    assert_array_equal(np.delete(fitted.scores_, 3), np.delete(F, 3))


@pytest.mark.filterwarnings(
    "ignore:Features .* are constant", "ignore:X has directions"
)
@pytest.mark.parametrize("size", [1, 1e2, 1e4, 1e6, 1e9])
def test_rounding_below_zero_is_zero_at_every_size(size):
    """Two classes of the same mean: F is 0, and comes out on both sides of it."""
    some = np.random.default_rng(3)
    signs = np.arange(40) % 2
    taken = 0
    half = some.integers(-5, 6, (20, 30)).astype(float)
    table = np.c_[
        size + np.repeat(half, 2, axis=0) / 3,
        some.standard_normal((40, 4)) + 2 * signs[:, None],
    ]
    for dtype in (np.float64, np.float32):
        with np.errstate(all="ignore"):
            taken += np.sum(f_classif(table.astype(dtype), signs)[0] < 0)
        fitted = BSSSelector(8, rank=3, score_func=f_classif).fit(
            table.astype(dtype), signs
        )
        assert (fitted.scores_ >= 0).all()
    assert taken or size < 1e4


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_sign_is_no_rounding(form):
    """A millionth of the largest score, of a column whose squares are known to all
    their digits.
    """
    for score in (-1e-6, -1e-9, -np.inf):
        scores = marred(score) / 40
        with refused("score_func gives -", "for feature 4"):
            BSSSelector(15, rank=6, score_func=lambda X, scores=scores: scores).fit(
                form(X)
            )


def test_a_cross_validation_goes_through_folds_in_which_a_column_is_constant_in_each_class():
    rare = np.zeros((60, 3))
    # one entry a column: absent from one training part
    rare[np.arange(3), np.arange(3)] = 1
    labels = np.arange(60) % 2
    pipeline = make_pipeline(
        BSSSelector(8, rank=3, score_func=f_classif), LinearSVC(random_state=0)
    )
    found = cross_validate(
        pipeline, np.c_[X, rare, labels], labels, cv=5, error_score="raise"
    )
    assert (found["test_score"] == 1).all()


@pytest.mark.parametrize("score_func", [LinearSVC(), "f_classif"])
@pytest.mark.parametrize("selector", [BSSSelector, DSFSelector, CompletionSelector])
def test_an_estimator_or_a_name_is_no_score_function(selector, score_func):
    with pytest.raises(
        ValueError,
        match=r"give a function such as f_classif, .* or WeightScores\(estimator\)",
    ):
        selector(score_func=score_func).fit(np.eye(8), np.arange(8) % 2)


def test_what_weighs_features_can_be_tuned():
    selector = BSSSelector(5, score_func=WeightScores(LinearSVC()))
    assert selector.set_params(score_func__estimator__C=3).score_func.estimator.C == 3
    assert clone(selector).score_func.estimator.C == 3


@pytest.mark.parametrize("selector", [BSSSelector, DSFSelector])
def test_of_rank_one_the_theorem_asks_for_one_draw(selector):
    certificate = (
        selector("theorem", rank=1)
        .fit(np.random.default_rng(0).standard_normal((10, 6)))
        .certificate_
    )
    assert certificate.n_draws == 1 and certificate.holds
