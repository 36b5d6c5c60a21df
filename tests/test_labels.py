"""Choosing with labels: completing a selection, scores from weights, stability, and
what a guarantee costs.
"""

from functools import partial
from operator import attrgetter

import numpy as np
import pandas as pd
import pytest
import sklearn
from cases import (
    on_documents_of_the_book,
    orthonormal,
    refused,
    swept,
    swept_product,
    swept_seeds,
)
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, f_classif
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.validation import check_is_fitted

from fsel_book import (
    BSSSelector,
    CompletionSelector,
    GuaranteePriceDisplay,
    LeverageSelector,
    StabilityDisplay,
    SupportVectorSelector,
    WeightScores,
    bss,
    certify,
    complete,
    row_space,
    selection_stability,
)
from fsel_book.datasets import load_docstrings
from fsel_book.labels import (
    best_ridge_start,
    best_start,
    completion_ends,
    completion_promise,
    place_ridge_start,
    spectrum_left,
    start_barriers,
)
from fsel_book.sparsification import bss_promise, ridge_promise
from fsel_book.spectra import ridge_of_dimension, ridge_space

cancer, kind = load_breast_cancer(return_X_y=True)
frame, _ = load_breast_cancer(return_X_y=True, as_frame=True)
standard = StandardScaler().fit_transform(cancer)


def ratio(promise):
    return promise.upper / promise.lower if promise.lower > 0 else np.inf


# ---------------------------------------------------------------- completing


@pytest.mark.parametrize("score_func", [None, f_classif])
def test_copies_of_given_columns_are_not_added(score_func):
    X = np.hstack([standard, -standard, standard])
    # copies of 1, 0 and 4
    selector = CompletionSelector([31, 60, 4], 12, rank=5, score_func=score_func).fit(
        X, kind
    )
    assert_array_equal(selector.selected_[:3], [31, 60, 4])
    assert len(np.unique(selector.selected_ % 30)) == len(selector.selected_) == 15
    assert np.all(selector.added_ < 30) and selector.certificate_.holds
    once = CompletionSelector([1, 0, 4], 12, rank=5, score_func=score_func).fit(
        standard, kind
    )
    assert_array_equal(selector.added_, once.added_)


def test_given_columns_stay_though_they_are_equal():
    X = np.hstack([standard, standard])
    # more than are different
    selector = CompletionSelector([33, 3, 40], 40, rank=5).fit(X)
    assert_array_equal(selector.given_, [33, 3, 40])
    assert np.all(selector.added_ < 30) and not np.isin([3, 10], selector.added_).any()
    assert selector.certificate_.holds
    found = CompletionSelector([33, 3], "auto", rank=5).fit(X)
    assert found.certificate_.holds and not np.isin([3, 33], found.added_).any()


@swept_seeds(8, 300)
def test_what_is_completed_keeps_its_promise(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        l = int(rng.integers(1, 10))
        V = orthonormal(int(rng.integers(6 * l + 2, 120)), l, rng)
        given = rng.choice(len(V), int(rng.integers(1, 3 * l + 1)), replace=False)
        if seed % 3 == 0:  # many of one direction
            given = np.argsort(-np.abs(V[:, 0]) / np.linalg.norm(V, axis=1))[
                : len(given)
            ]
        q = int(rng.integers(1, 3 * l + 1))
        scores = rng.integers(0, 3, len(V)).astype(float) if seed % 2 else None
        sampling = complete(V, given, q, scores=scores)
        assert_array_equal(sampling.indices[: len(given)], given)
        assert certify(V, sampling, completion_promise(V, given, q)).holds, seed


@swept_seeds(2, 60)
def test_what_is_given_never_costs_additions(seeds):
    """Part 1 of the corollary: with given features the promise is at least that of BSS
    with as many draws.
    """
    for seed in seeds:
        rng = np.random.default_rng(seed)
        l = int(rng.integers(2, 8))
        V = orthonormal(80, l, rng)
        given = rng.choice(80, int(rng.integers(1, 3 * l)), replace=False)
        for q in (l + 1, 2 * l, 4 * l):
            assert ratio(completion_promise(V, given, q)) <= ratio(
                bss_promise(l, q)
            ) * (1 + 1e-3)


def test_what_is_given_is_not_added_again():
    V = orthonormal(200, 4, np.random.default_rng(0))
    given = [3, 9]
    sampling = complete(V, given, 8, scores=np.isin(np.arange(200), given))
    assert sampling.n_selected == 10


def test_good_features_count_as_draws():
    """Part 2: with BSS's own picks given, additions are saved."""
    V = orthonormal(400, 8, np.random.default_rng(0))
    given = bss(V, 24, "best").indices
    assert ratio(completion_promise(V, given, 8)) < ratio(bss_promise(8, 32))


def trace_of_inverse(M):
    return np.trace(np.linalg.inv(M))


def completed_literally(V, given, q, scores=None):
    """Weights of all features and the barriers at the end, by the theorem, every column
    judged at every step.

    With scores the feasible column of largest score times squared length is taken, one
    without a score last.
    """
    t, s = best_start(np.linalg.eigvalsh(V[given].T @ V[given]).clip(0), len(given), q)
    weights = np.zeros(len(V))
    fresh = np.ones(len(V), bool)
    delta_U = (1 + s) / (1 - s)
    I = np.eye(V.shape[1])
    weights[given] = t
    fresh[given] = False
    L, U = start_barriers(np.linalg.eigvalsh(V.T * weights @ V), s)
    for _ in range(q):
        A = V.T * weights @ V
        P = np.linalg.inv(A - (L + 1) * I)
        R = np.linalg.inv((U + delta_U) * I - A)
        lower = np.sum(V @ P @ P * V, axis=1) / (
            np.trace(P) - trace_of_inverse(A - L * I)
        ) - np.sum(V @ P * V, axis=1)
        upper = np.sum(V @ R @ R * V, axis=1) / (
            trace_of_inverse(U * I - A) - np.trace(R)
        ) + np.sum(V @ R * V, axis=1)
        slack = lower - upper
        if scores is None:
            i = np.argmax(np.where(fresh, slack, -np.inf))
        else:
            lengths = np.sum(V**2, axis=1)
            keys = np.where(scores > 0, scores * lengths, lengths * 1e-9)
            i = np.argmax(np.where(fresh & (slack >= 0), keys, -np.inf))
            assert fresh[i] and slack[i] >= 0
        weights[i] = 2 / (lower[i] + upper[i])
        fresh[i] = False
        L = L + 1
        U = U + delta_U
    return weights, (L, U)


@pytest.mark.parametrize("by_scores", [False, True])
@swept_seeds(4, 100)
def test_the_picks_are_those_of_the_literal_version(seeds, by_scores):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        l = int(rng.integers(2, 9))
        V = orthonormal(120, l, rng)
        given = rng.choice(120, int(rng.integers(1, 3 * l)), replace=False)
        q = int(rng.integers(1, 2 * l))
        scores = (
            np.round(rng.exponential(size=120) * (rng.random(120) < 0.7), 1)
            if by_scores
            else None
        )
        weights, (L, U) = completed_literally(V, given, q, scores)
        sampling = complete(V, given, q, scores=scores)
        assert_array_equal(np.sort(sampling.indices), np.flatnonzero(weights))
        factors = sampling.weights / weights[sampling.indices]
        assert_allclose(factors, factors[0], rtol=1e-7)
        spectrum = np.linalg.eigvalsh(V.T * weights @ V)
        assert L < spectrum[0] and spectrum[-1] < U


def test_permuting_features_permutes_what_is_completed():
    order = np.random.default_rng(0).permutation(30)
    place = np.argsort(order)
    scores = np.random.default_rng(1).random(30)
    for given in ([4, 9, 17], SelectKBest(f_classif, k=3)):
        for one in (None, scores):
            plain = CompletionSelector(given, 5, rank=4, score_func=one).fit(
                standard, kind
            )
            moved = given if hasattr(given, "fit") else place[given]
            permuted = CompletionSelector(
                moved, 5, rank=4, score_func=None if one is None else one[order]
            )
            found = order[permuted.fit(standard[:, order], kind).selected_]
            assert_array_equal(np.sort(found), np.sort(plain.selected_))


def test_a_completion_that_fails_leaves_nothing():
    def fails(X, y):
        raise RuntimeError("no scores today")

    selector = CompletionSelector([0, 1], 5, rank=4).fit(standard, kind)
    for change in (
        dict(given=[0, 30]),
        dict(rank=29),
        dict(distortion=2.0),
        dict(score_func=fails),
    ):
        before = selector.get_params()
        with pytest.raises((ValueError, RuntimeError)):
            selector.set_params(**change).fit(standard, kind)
        with pytest.raises(NotFittedError):
            check_is_fitted(selector)
        selector.set_params(**before).fit(standard, kind)


def test_weights_of_samples_are_routed_to_a_completion():
    weights = np.where(kind == 0, 1.0, 0.1)
    score = WeightScores(LogisticRegression())
    with sklearn.config_context(enable_metadata_routing=True):
        selector = CompletionSelector(
            [0, 1], 5, rank=4, score_func=score
        ).set_fit_request(sample_weight=True)
        machine = DummyClassifier().set_fit_request(sample_weight=False)
        model = make_pipeline(selector, machine).fit(
            standard, kind, sample_weight=weights
        )
    expected = CompletionSelector([0, 1], 5, rank=4, score_func=score).fit(
        standard, kind, sample_weight=weights
    )
    assert_array_equal(model[0].selected_, expected.selected_)
    assert_allclose(model[0].scores_, score(standard, kind, sample_weight=weights))


@swept_seeds(30, 300)
def test_what_is_given_is_worth_what_the_corollary_says(seeds):
    """Parts 2 and 3, for the ends that are shipped."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        l = int(rng.integers(2, 12))
        q = int(rng.integers(1, 60))
        s = rng.uniform(0.1, 0.9)
        g = rng.uniform(0.5, 80)
        delta_U = (1 + s) / (1 - s)
        low, high = completion_ends(rng.uniform(g, delta_U * g, l), s, q)
        assert low >= g + q - l / s - 1e-9 and high <= delta_U * (g + q + l / s) * (
            1 + 1e-12
        )
        p = int(rng.integers(1, l))
        gamma = rng.uniform(1.5, 50)
        if s > p / (gamma * q):
            held = np.append(np.zeros(l - p), gamma * q * rng.uniform(1, 3, p))
            assert (
                completion_ends(held, s, q)[0]
                >= q - (l - p) / (s - p / (gamma * q)) - 1e-9
            )


@pytest.mark.parametrize(
    "mu", [np.zeros(3), np.array([0.0, 1e-9, 5.0]), np.array([1e8, 1e8 + 1, 1e9])]
)
def test_barriers_stand_where_the_potentials_are_as_said(mu):
    for s in (0.01, 0.5, 0.99):
        L, U = start_barriers(mu, s)
        assert L < mu.min() and mu.max() < U
        assert_allclose(np.sum(1 / (mu - L)), s, rtol=1e-5)
        assert_allclose(np.sum(1 / (U - mu)), s * (1 - s) / (1 + s), rtol=1e-5)


def test_start_from_nothing_is_that_of_bss():
    t, s = best_start(np.zeros(9), 4, 36)
    low, high = completion_ends(t * np.zeros(9), s, 36)
    assert_allclose(high / low, ratio(bss_promise(9, 36)), rtol=1e-5)


def test_with_nothing_given_it_is_bss():
    V = orthonormal(60, 4, np.random.default_rng(1))
    ours = complete(V, [], 12)
    theirs = bss(V, 12, "best")
    assert_array_equal(ours.indices, theirs.indices)
    assert_array_equal(ours.weights, theirs.weights)
    with pytest.raises(ValueError, match="above the rank"):
        complete(V, [], 4)


def test_adding_features_never_lowers_the_smallest_eigenvalue():
    V = orthonormal(50, 4, np.random.default_rng(2))
    chosen = np.random.default_rng(3).permutation(50)
    lows = [
        np.linalg.eigvalsh(V[chosen[:k]].T @ V[chosen[:k]])[0] for k in range(1, 51)
    ]
    assert np.all(np.diff(lows) >= -1e-12)
    assert_allclose(lows[-1], 1)


@pytest.mark.parametrize(
    "given, message",
    [
        ([1, 1], "1 occur more than once"),
        ([-1], "from 0 to 29"),
        ([30], "from 0 to 29"),
        ([0.5], "distinct features as integers"),
        ([[0, 1]], "distinct features as integers"),
        (np.ones(7, bool), "mask of shape"),
        (["mean radius", "no such"], "names that X has not: 'no such'"),
        ([0, "a"], "names that X has not: '0', 'a'"),
        ({"mean radius", "mean area"}, "give a list of names or indices"),
        ("mean radius", "give a list of names or indices"),
        ((i for i in range(3)), "give a list of names or indices"),
        (
            make_pipeline(StandardScaler(), SelectKBest(k=3)),
            r"given=Pipeline\(...\) has no get_support: give the selector",
        ),
    ],
)
def test_what_is_given_must_be_features(given, message):
    selector = CompletionSelector(given, 3)
    with pytest.raises(ValueError, match=message):
        selector.fit(frame, kind)
    assert not hasattr(selector, "support_")


@pytest.mark.parametrize(
    "parameters, message",
    [
        (
            dict(given=[0, 1], n_features_to_add=29),
            "from 0 to 28, the features left, or 'auto'",
        ),
        (
            dict(given=[0, 1], n_features_to_add="some"),
            "n_features_to_add='some' .*from 0 to 28.*, or 'auto'",
        ),
        (dict(given=None, n_features_to_add=0), "at least 1|from 1"),
        (dict(given=[0], distortion=1.5), "distortion"),
        (dict(given=[0], rank=0), "rank"),
        (dict(given=["mean radius"]), "X has none"),
        (
            dict(rank=29, distortion=1e-6, rescale=True),
            "distortion=1e-06 cannot be reached at rank 29",
        ),
        (
            dict(given=None, n_features_to_add=10, rank=10),
            "n_features_to_add=10 .* give at least 11, or a lower rank",
        ),
        (
            dict(given=[0, 1], n_features_to_add=5, rank="full"),
            "n_features_to_add=5 .* give at least 28",
        ),
    ],
)
def test_what_is_asked_for_must_be_possible(parameters, message):
    with pytest.raises(ValueError, match=message):
        CompletionSelector(**parameters).fit(cancer)


def test_given_as_names_indices_mask_or_selector():
    names = frame.columns[[3, 7, 11]]
    by_name = CompletionSelector(list(names), 4, rank=3).fit(frame)
    mask = np.isin(np.arange(30), [3, 7, 11])
    for given in ([3, 7, 11], mask):
        assert_array_equal(
            CompletionSelector(given, 4, rank=3).fit(cancer).support_, by_name.support_
        )
    as_objects = CompletionSelector(mask.astype(object), 4, rank=3).fit(cancer)
    assert_array_equal(as_objects.support_, by_name.support_)
    assert set(names) < set(by_name.get_feature_names_out())
    best = SelectKBest(f_classif, k=3)
    inside = CompletionSelector(best, 4, rank=3).fit(standard, kind)
    assert_array_equal(
        inside.given_, best.fit(standard, kind).get_support(indices=True)
    )
    rfe = RFE(LinearSVC(), n_features_to_select=3)
    frozen = FrozenEstimator(clone(rfe).fit(standard, kind))
    assert_array_equal(
        CompletionSelector(frozen, 4, rank=3).fit(standard).given_,
        CompletionSelector(rfe, 4, rank=3).fit(standard, kind).given_,
    )


@swept_product(
    ("rescale", "distortion"),
    [(False, 0.6), (True, 0.9)],
    [False, True],
    [0.3, 0.6, 0.9],
)
def test_auto_reaches_the_distortion(distortion, rescale):
    selector = CompletionSelector(
        [0, 1, 2], rank=4, distortion=distortion, rescale=rescale
    ).fit(standard)
    values = (
        selector.certificate_.eigenvalues
        if rescale
        else selector.certificate_.eigenvalues_unscaled
    )
    assert (values[-1] - values[0]) / (values[-1] + values[0]) <= distortion


def test_enough_is_left_as_it_is():
    enough = BSSSelector(12, rank=4, rule="best").fit(standard).selected_
    selector = CompletionSelector(enough, rank=4, distortion=0.9).fit(standard)
    assert len(selector.added_) == 0
    assert_array_equal(selector.selected_, enough)
    assert "12 given and 0 added" in selector.certificate_.title()


class BestByName(SelectKBest):
    """Works on frames only."""

    def fit(self, X, y):
        self.names_ = list(X.columns)
        return super().fit(X, y)


def test_a_given_selector_sees_the_names():
    selector = CompletionSelector(BestByName(f_classif, k=3), 4, rank=3)
    assert len(selector.fit(frame, kind).added_) == 4
    found = StabilityDisplay.from_selectors(
        {"by name": selector}, frame, kind, n_samples=3
    ).stabilities
    assert found["by name"].value <= 1


def test_full_rank_can_be_completed():
    """However few features are given, as many may be added as it takes."""
    full = CompletionSelector([0, 1], rank="full").fit(standard)
    assert_array_equal(
        full.selected_, CompletionSelector([0, 1], rank=30).fit(standard).selected_
    )
    assert (
        full.certificate_.rank == 30 and full.certificate_.eigenvalues_unscaled[0] > 0
    )
    assert len(CompletionSelector(range(30), 0, rank="full").fit(standard).added_) == 0


def test_of_a_few_given_features_more_is_certified_than_one_direction():
    """One eigenvalue alone has no distortion, whatever the feature: one would always be
    enough.
    """
    for given in ([0], [0, 1], [0, 1, 2, 3]):
        certificate = CompletionSelector(given).fit(standard).certificate_
        assert certificate.rank == 10 and certificate.eigenvalues_unscaled[0] > 0


def test_the_title_counts_features_and_not_draws():
    selector = CompletionSelector([0, 1], 28, rank=3).fit(standard)
    assert selector.certificate_.title().startswith(
        f"2 given and {len(selector.added_)} added: {selector.n_draws_} draws"
    )
    assert len(selector.added_) == 28 and selector.n_draws_ > 30


def test_scores_with_weights_of_samples():
    parts = dict(given=[0], n_features_to_add=4, rank=3)
    weights = np.where(kind == 0, 1.0, 0.1)
    by_weight = CompletionSelector(
        **parts, score_func=WeightScores(LogisticRegression())
    ).fit(standard, kind, sample_weight=weights)
    scores = WeightScores(LogisticRegression())(standard, kind, sample_weight=weights)
    assert_allclose(by_weight.scores_, scores)
    by_scores = CompletionSelector(**parts, score_func=scores).fit(standard)
    assert_array_equal(by_weight.selected_, by_scores.selected_)
    with pytest.raises(
        ValueError, match="sample_weight cannot be used without a score_func"
    ):
        CompletionSelector(**parts).fit(standard, sample_weight=weights)


def test_long_completions_say_so(impatient):
    for given, n_to_add, steps in (
        ([0, 1], 20, "second, by .* 3 of 20"),
        ([], 20, "second, by .* 3 of 20"),
        ([0, 1], "auto", "second at most, by"),
    ):
        with pytest.warns(
            UserWarning,
            match=f"CompletionSelector.fit will take about a {steps} .* lower rank=",
        ) as warned:
            CompletionSelector(given, n_to_add, rank=5).fit(standard)
        assert len(warned) == 1 and warned[0].filename == __file__
        assert "verbose" not in str(warned[0].message)


def test_a_long_dial_says_so_once(impatient):
    with pytest.warns(UserWarning, match="from_estimator will take about") as warned:
        GuaranteePriceDisplay.from_estimator(
            RidgeClassifier(), standard, standard[:, 0] > 0, f_classif, 8, ranks=[2, 4]
        )
    assert [one.filename for one in warned] == [__file__]


@pytest.mark.parametrize(
    "given, q", [([], 3), ([], 6), ([1], 0), ([1], -3), ([1], 2.5)]
)
def test_nothing_is_promised_of_too_few_draws(given, q):
    V = orthonormal(80, 6, np.random.default_rng(0))
    for ask in (completion_promise, complete):
        with pytest.raises(ValueError, match="give an integer of at least"):
            ask(V, given, q)


def test_sparse_and_dense_agree_and_a_score_decides():
    dense = CompletionSelector([0, 5], 4, rank=3).fit(cancer)
    assert_array_equal(
        CompletionSelector([0, 5], 4, rank=3).fit(csr_array(cancer)).selected_,
        dense.selected_,
    )
    wanted = np.isin(np.arange(30), [9, 17, 21]).astype(float)
    scored = CompletionSelector([0, 5], 4, rank=2, score_func=wanted).fit(standard)
    assert len({9, 17, 21} & set(scored.added_)) >= 2
    assert scored.certificate_.holds


def test_in_a_pipeline():
    model = make_pipeline(
        StandardScaler(),
        CompletionSelector(SelectKBest(f_classif, k=4), 4, rank=3),
        SVC(),
    )
    assert model.fit(cancer, kind).score(cancer, kind) > 0.9


# ---------------------------------------------------------------- scores, stability,
# price


def test_weights_of_an_estimator_are_scores():
    machine = LinearSVC().fit(standard, kind)
    assert_allclose(WeightScores(LinearSVC())(standard, kind), np.abs(machine.coef_[0]))
    assert_allclose(
        WeightScores(FrozenEstimator(machine))(standard), np.abs(machine.coef_[0])
    )
    sparse = WeightScores(SVC(kernel="linear"))(csr_array(standard), kind)
    assert sparse.shape == (30,) and np.all(sparse >= 0)
    three = np.digitize(cancer[:, 0], [12, 15])
    rows = LogisticRegression().fit(standard, three).coef_
    assert_allclose(
        WeightScores(LogisticRegression())(standard, three),
        np.linalg.norm(rows, axis=0),
    )
    weights = np.random.default_rng(0).uniform(0, 2, len(kind))
    assert_allclose(
        WeightScores(Ridge())(standard, kind, sample_weight=weights),
        np.abs(Ridge().fit(standard, kind, sample_weight=weights).coef_),
    )
    with pytest.raises(ValueError, match="neither coef_ nor feature_importances_"):
        WeightScores(StandardScaler())(standard, kind)


def test_stability_is_that_of_the_definition():
    Z = np.random.default_rng(0).random((7, 40)) < 0.3
    shares = Z.mean(axis=0)
    k = Z.sum(axis=1).mean()
    variance = 7 / 6 * np.mean(shares * (1 - shares))
    assert_allclose(
        selection_stability(Z).value, 1 - variance / (k / 40 * (1 - k / 40))
    )
    assert selection_stability(np.tile(Z[0], (5, 1))).value == 1
    assert np.isnan(selection_stability(np.ones((3, 4), bool)).value)
    for wrong in (Z[0], Z[:1], Z.astype(int)):
        with pytest.raises(ValueError, match="masks must be"):
            selection_stability(wrong)


def test_error_of_the_stability_is_that_of_the_theorem():
    """The variance of Nogueira et al., term by term."""
    Z = np.random.default_rng(1).random((9, 25)) < 0.4
    m, d = Z.shape
    p = Z.mean(axis=0)
    k = Z.sum() / m
    value = selection_stability(Z).value
    parts = []
    for row in Z:
        known = np.mean(row * p) - row.sum() * k / d**2
        spread = 2 * k * row.sum() / d**2 - row.sum() / d - k / d + 1
        parts.append((known + value / 2 * spread) / (k / d * (1 - k / d)))
    assert_allclose(
        selection_stability(Z).error,
        np.sqrt(4 / m**2 * np.sum((parts - np.mean(parts)) ** 2)),
    )


def test_error_of_the_stability_is_about_its_standard_deviation():
    rng = np.random.default_rng(0)
    found = [
        selection_stability(rng.random((60, 30)) < np.linspace(0.05, 0.95, 30))
        for _ in range(200)
    ]
    spread = np.std([f.value for f in found])
    said = np.mean([f.error for f in found])
    assert 0.7 < said / spread < 1.5


def test_displays_draw():
    display = StabilityDisplay.from_selectors(
        {"BSS": BSSSelector(5, rank=2)}, standard, kind, n_samples=3
    ).plot()
    assert display.ax_.get_xlabel() == "stability"
    price = GuaranteePriceDisplay.from_estimator(
        LinearSVC(), standard, kind, f_classif, 6, ranks=[1, 3], cv=3
    ).plot()
    assert price.names == ["labels only", "rank 1", "rank 3", "geometry only"]
    assert (
        price.fold_errors.shape == (3, 4)
        and price.prices[0] == price.price_deviations[0] == 0
    )
    assert_allclose(price.prices, price.errors - price.errors[0], atol=1e-15)
    assert_allclose(price.distortions, 1 - 2 / (price.kappas + 1))
    assert np.all(price.kappas >= 1) and np.all(
        (price.errors >= 0) & (price.errors < 0.3)
    )
    sparse = GuaranteePriceDisplay.from_estimator(
        LinearSVC(), csr_array(standard), kind, f_classif, 6, ranks=[1, 3], cv=3
    )
    assert_allclose(sparse.errors, price.errors, atol=0.02)


def test_ranks_that_the_price_cannot_be_measured_at():
    for ranks, words in (
        ([6], "rank of at most 5"),
        ([0], "rank=0"),
        ([2, 31], "rank=31"),
    ):
        with pytest.raises(ValueError, match=words):
            GuaranteePriceDisplay.from_estimator(
                LinearSVC(), standard, kind, f_classif, 6, ranks=ranks
            )
    flat = standard[:, :3] @ np.random.default_rng(0).standard_normal((3, 30))
    with pytest.raises(
        ValueError, match="rank=4 is not possible: X has numerical rank 3"
    ):
        GuaranteePriceDisplay.from_estimator(
            LinearSVC(), flat, kind, f_classif, 12, ranks=[4]
        )
    names = GuaranteePriceDisplay.from_estimator(
        LinearSVC(), flat, kind, f_classif, 12, cv=2
    ).names
    assert names == ["labels only", "rank 1", "rank 3", "geometry only"]


def test_the_price_of_the_whole_space():
    space = row_space(standard)
    assert space.numerical_rank == 30
    display = GuaranteePriceDisplay.from_estimator(
        LinearSVC(), standard, kind, f_classif, 29, cv=3
    )
    assert display.names[-2] == "rank 21"


class Recorder(SelectKBest):
    """Keeps the share of the second class in every fit."""

    shares: list[float] = []

    def fit(self, X, y):
        self.shares.append(np.mean(y == 1))
        return super().fit(X, y)


def test_halves_have_the_shares_of_the_classes():
    rare = np.isin(np.arange(len(kind)), np.flatnonzero(kind)[:10]).astype(int)
    StabilityDisplay.from_selectors(
        {"F": Recorder(f_classif, k=3)}, standard, rare, n_samples=8
    )
    assert len(Recorder.shares) == 8
    assert_allclose(Recorder.shares, 5 / (len(kind) // 2), rtol=1e-12)


def test_the_bars_of_the_price_are_standard_errors():
    constant = DummyClassifier()  # its errors do not depend on what was selected
    display = GuaranteePriceDisplay.from_estimator(
        constant, standard, kind, f_classif, 6, ranks=[2], cv=4
    )
    errors = 1 - cross_val_score(constant, standard, kind, cv=4)
    assert_allclose(display.errors, errors.mean())
    assert_allclose(display.deviations, errors.std(ddof=1) / 2)


def test_displays_refuse_what_they_cannot_draw():
    by_array = GuaranteePriceDisplay.from_estimator(
        DummyClassifier(), standard, kind, f_classif, 6, ranks=np.array([1, 3]), cv=2
    )
    assert by_array.names == [
        "labels only",
        "rank 1",
        "rank 3",
        "geometry only",
    ]
    with pytest.raises(
        ValueError, match="r=31 is not possible: give an integer from 2 to 30"
    ):
        GuaranteePriceDisplay.from_estimator(LinearSVC(), standard, kind, f_classif, 31)
    with pytest.raises(ValueError, match="n_samples=1 is not possible"):
        StabilityDisplay.from_selectors(
            {"F": SelectKBest(k=3)}, standard, kind, n_samples=1
        )


def test_a_display_needs_two_folds_and_labels():
    """Of one fold there is no standard error; said before any work is done."""
    train = np.arange(0, 400)
    test = np.arange(400, len(kind))
    for cv in (ShuffleSplit(1, random_state=0), [(train, test)], iter([(train, test)])):
        with refused("cv=", "the standard error of an error needs two splits or more"):
            GuaranteePriceDisplay.from_estimator(
                LinearSVC(), standard, kind, f_classif, 6, cv=cv
            )
    with refused(
        "GuaranteePriceDisplay requires y to be passed, but the target y is None"
    ):
        GuaranteePriceDisplay.from_estimator(LinearSVC(), standard, None, f_classif, 6)


def test_ranks_of_the_dial_are_those_of_a_selector():
    make = partial(
        GuaranteePriceDisplay.from_estimator,
        DummyClassifier(),
        standard,
        kind,
        f_classif,
        cv=2,
    )
    assert make(6, ranks=[None]).names == [
        "labels only",
        "rank 3",
        "geometry only",
    ]
    assert make(6, ranks=[5, None, 3, 5]).names == [
        "labels only",
        "rank 5",
        "rank 3",
        "geometry only",
    ]
    assert make(6, ranks=[]).names == ["labels only", "geometry only"]
    with refused("rank=30 ('full') is not possible with n_features_to_select=6"):
        make(6, ranks=["full"])
    few = standard[:, :4] @ np.random.default_rng(0).standard_normal((4, 30))
    full = GuaranteePriceDisplay.from_estimator(
        DummyClassifier(), few, kind, f_classif, 6, ranks=["full"], cv=2
    )
    assert full.names == ["labels only", "rank 4", "geometry only"]
    for value in (5, "full", [[1, 2]]):
        with refused(f"ranks={value!r} is not possible", "a list of ranks"):
            make(6, ranks=value)


def nullable(X):
    return pd.DataFrame(X).rename(columns=str).astype("Int64")


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame,
        nullable,
        lambda X: nullable(X).convert_dtypes(dtype_backend="pyarrow"),
    ],
)
def test_displays_take_the_frames_that_selectors_take(frame):
    whole = np.round(3 * standard).astype(int)

    def price(X, y):
        return GuaranteePriceDisplay.from_estimator(
            RidgeClassifier(), X, y, f_classif, 6, ranks=[2], cv=3
        )

    def stability(X, y):
        selectors = {"BSS": BSSSelector(6, rank=2, score_func=f_classif)}
        display = StabilityDisplay.from_selectors(selectors, X, y, n_samples=4)
        return display.stabilities["BSS"]

    expected, agreed = price(whole, kind), stability(whole, kind)
    for labels in (
        kind,
        pd.Series(kind),
        pd.Series(kind).astype("Int64"),
        pd.Series(kind == 1).astype("boolean"),
    ):
        found = price(frame(whole), labels)
        assert_allclose(found.fold_errors, expected.fold_errors)
        assert_allclose(found.kappas, expected.kappas)
        assert stability(frame(whole), labels) == agreed


def test_stability_without_labels():
    selectors = {
        "BSS": BSSSelector(5, rank=2),
        "leverages": LeverageSelector(5, rank=2, rule="largest"),
    }
    found = StabilityDisplay.from_selectors(selectors, standard, n_samples=6)
    numbers = StabilityDisplay.from_selectors(
        selectors, standard, np.linspace(0, 1, len(kind)), n_samples=6
    )
    assert found.stabilities == numbers.stabilities  # which stratify nothing
    assert (
        found.stabilities
        == StabilityDisplay.from_selectors(
            selectors, standard, y=None, n_samples=6
        ).stabilities
    )
    with refused("score_func requires y to be passed, but the target y is None"):
        StabilityDisplay.from_selectors(
            {"F": BSSSelector(5, rank=2, score_func=f_classif)}, standard, n_samples=4
        )


def test_scores_that_are_infinite_in_a_fold():
    """A column with one value in each class of every training part is chosen
    everywhere, and costs nothing.
    """
    told = np.c_[standard, kind]
    display = GuaranteePriceDisplay.from_estimator(
        LinearSVC(), told, kind, f_classif, 6, ranks=[1], cv=3
    )
    assert (display.fold_errors[:, :2] == 0).all()


# ---------------------------------------------------------------- weights of an
# estimator, wherever they are

SCALED = make_pipeline(StandardScaler(), LogisticRegression())
SEARCH = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=3)
GETTERS = {
    "path": (SCALED, "named_steps.logisticregression.coef_"),
    "function": (SCALED, lambda fitted: fitted[-1].coef_),
    "one row": (SCALED, lambda fitted: fitted[-1].coef_[0]),
    "sparse": (SCALED, lambda fitted: csr_array(fitted[-1].coef_)),
    "search": (SEARCH, "best_estimator_.coef_"),
    "target": (TransformedTargetRegressor(Ridge()), "regressor_.coef_"),
    "forest in a pipeline": (
        make_pipeline(StandardScaler(), RandomForestClassifier(5, random_state=0)),
        "named_steps.randomforestclassifier.feature_importances_",
    ),
}


@pytest.mark.parametrize("kind_of_getter", GETTERS)
def test_weights_are_found_as_by_select_from_model(kind_of_getter):
    estimator, getter = GETTERS[kind_of_getter]
    expected = SelectFromModel(
        estimator, importance_getter=getter, threshold=-np.inf
    ).fit(standard, kind)
    scores = WeightScores(estimator, importance_getter=getter)(standard, kind)
    weights = (
        getter(expected.estimator_)
        if callable(getter)
        else attrgetter(getter)(expected.estimator_)
    )
    weights = weights.toarray() if hasattr(weights, "toarray") else weights
    assert_allclose(scores, np.abs(np.atleast_2d(weights)[0]))
    fitted = BSSSelector(
        6, rank=2, score_func=WeightScores(estimator, importance_getter=getter)
    ).fit(standard, kind)
    assert_allclose(fitted.scores_, scores)
    assert not hasattr(estimator, "classes_")  # a copy was fitted


def test_weights_of_a_pipeline_are_cloned_and_tuned_and_weighted():
    score = WeightScores(
        SCALED, importance_getter="named_steps.logisticregression.coef_"
    )
    selector = clone(BSSSelector(6, rank=2, score_func=score))
    assert (
        selector.set_params(score_func__estimator__logisticregression__C=3)
        .score_func.estimator[-1]
        .C
        == 3
    )
    assert selector.score_func.importance_getter == score.importance_getter
    weights = np.where(np.arange(len(kind)) < 100, 1.0, 0.0)
    found = score(standard, kind, logisticregression__sample_weight=weights)
    assert not np.allclose(found, score(standard, kind))


def test_weights_that_are_not_found():
    for score, words in (
        (
            WeightScores(SCALED),
            ("neither coef_ nor", "importance_getter='named_steps.NAME.coef_'"),
        ),
        (
            WeightScores(SCALED, importance_getter="named_steps.svc.coef_"),
            ("'named_steps.svc.coef_' leads nowhere", "Pipeline"),
        ),
        (
            WeightScores(SCALED, importance_getter=3),
            ("importance_getter=3 is not possible",),
        ),
        (
            WeightScores(
                make_pipeline(PCA(3), LogisticRegression()),
                importance_getter=lambda p: p[-1].coef_,
            ),
            (
                "weights of shape (1, 3), and X has 30 features",
                "one weight is needed for each",
            ),
        ),
    ):
        with refused(*words):
            score(standard, kind)
        with refused(*words):
            BSSSelector(6, rank=2, score_func=score).fit(standard, kind)


def ranks_of_scores(X, y):
    return np.argsort(np.argsort(np.nan_to_num(f_classif(X, y)[0]))).astype(float)


WORDS_BY = {
    "F": BSSSelector(20, rank=5, score_func=f_classif),
    "ranks": BSSSelector(20, rank=5, score_func=ranks_of_scores),
    "weights": BSSSelector(20, rank=5, score_func=WeightScores(LinearSVC())),
    "support vectors": SupportVectorSelector(BSSSelector(150, rule="best")),
}


@on_documents_of_the_book
@swept("name", ["ranks", "support vectors"], ["F", "weights"])
def test_certified_words_chosen_by_labels_inside_the_folds(name):
    """A twin of tables of errors in the chapters on choosing with labels and on
    margins: two folds for three or ten.
    """
    words = load_docstrings()
    right = cross_val_score(
        make_pipeline(WORDS_BY[name], LinearSVC()), words.data, words.target, cv=2
    )
    assert right.min() > 0.95


# ---------------------------------------------------------------- completing at a ridge


def ridge_problem(seed):
    """Data of many kinds at a ridge, some features of them, and a number of additions."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 30)), int(rng.integers(8, 80))
    X = rng.standard_normal((n, d))
    kind = seed % 5
    if kind == 1:
        X *= rng.pareto(0.8, d)
    elif kind == 2:
        X[:, d // 2 :] = X[:, : d - d // 2]
    elif kind == 3:
        X[:, rng.random(d) < 0.3] = 0
        X[0, 0] = 1.0
    elif kind == 4:
        X = np.round(X)
        X[0, 0] = 1.0
    top = np.linalg.norm(X, 2) ** 2
    space = ridge_space(X, top * 10 ** rng.uniform(-8, 2))
    given = rng.choice(d, int(rng.integers(1, d // 2)), replace=False)
    if seed % 3 == 0:  # many of one direction
        rows = space.basis()
        lengths = np.maximum(np.linalg.norm(rows, axis=1), 1e-300)
        given = np.argsort(-np.abs(rows[:, 0]) / lengths)[: len(given)]
    return space, given, int(rng.integers(1, 30))


@swept_seeds(20, 300)
def test_what_is_completed_at_a_ridge_keeps_its_promise(seeds):
    for seed in seeds:
        space, given, q = ridge_problem(seed)
        rng = np.random.default_rng(seed)
        scores = rng.integers(0, 3, space.shape[0]) * 1.0 if seed % 2 else None
        sampling = complete(space, given, q, scores=scores)
        assert_array_equal(sampling.indices[: len(given)], given)
        promise = completion_promise(space, given, q)
        found = certify(space, sampling, promise)
        assert found.holds, seed
        # what holds at a ridge holds at larger ones, with one between the ends
        low, high = min(promise.lower, 1), max(promise.upper, 1)
        X = space.X
        chosen = X[:, sampling.indices] * np.sqrt(sampling.weights)
        for larger in (2, 50):
            ridge = larger * space.ridge * np.eye(len(X))
            root = np.linalg.cholesky(X @ X.T + ridge)
            half = np.linalg.solve(root, chosen @ chosen.T + ridge)
            lam = np.linalg.eigvalsh(np.linalg.solve(root, half.T))
            assert low - 1e-6 <= lam[0] and lam[-1] <= high + 1e-6 * lam[-1]


def literal_slack(D, A, L, U, start, rows):
    """`lower` and `upper` of all rows, with every matrix inverted as it stands."""
    R, I = np.diag(1 - D), np.eye(len(D))
    N = np.linalg.inv(A + R - (L + 1) * I)
    P = np.linalg.inv((U + start.delta_U) * I - A - start.g * R)
    rise = np.trace((N - np.linalg.inv(A - L * I)) * D)
    fall = np.trace((np.linalg.inv(U * I - A) - P) * D)

    def forms(M):
        return np.sum((rows @ M) * rows, axis=1)

    lower = forms((N * D) @ N) / rise - forms(N)
    return lower, forms((P * D) @ P) / fall + forms(P)


@pytest.mark.parametrize(("n", "d"), [(6, 80), (12, 60), (150, 200)])
def test_completing_at_a_ridge_makes_the_steps_of_the_theorem(n, d):
    """Each pick is feasible by the literal matrices, with nearly the largest slack, and
    its weight is in the middle. Of 150 directions most are in the tail.
    """
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, d)) * rng.uniform(1, 3, d)
        S = np.linalg.svd(X)[1]
        space = ridge_space(X, ridge_of_dimension(S, min(len(S) / 2, 6)))
        D, rows = space.shrinkage, space.basis()
        given = rng.choice(d, 5, replace=False)
        q = 9
        sampling = complete(space, given, q)
        assert sampling.n_selected == 5 + q
        taken = given.tolist()
        start = best_ridge_start(D, rows[given], q)
        part = start.a + start.g * q
        assert_allclose(sampling.weights[:5], start.t / part)
        A = start.a * np.diag(1 - D) + start.t * rows[given].T @ rows[given]
        L, U = start.a - start.x, start.a + start.y
        for i, weight in zip(sampling.indices[5:], sampling.weights[5:] * part):
            lower, upper = literal_slack(D, A, L, U, start, rows)
            assert upper[i] <= lower[i]
            others = np.delete(lower - upper, taken)
            assert lower[i] - upper[i] >= others.max() - 1e-5 * np.abs(others).max()
            taken.append(i)
            assert_allclose(weight, 2 / (lower[i] + upper[i]), rtol=1e-6)
            A = A + start.g * np.diag(1 - D) + weight * np.outer(rows[i], rows[i])
            L, U = L + 1, U + start.delta_U
        assert L < np.linalg.eigvalsh(A)[0] and np.linalg.eigvalsh(A)[-1] < U


@swept_seeds(10, 200)
def test_what_is_given_never_costs_additions_at_a_ridge(seeds):
    for seed in seeds:
        space, given, _ = ridge_problem(seed)
        for more in (1, 10, 60):
            q = int(space.effective_dimension / 0.99) + more
            ours = completion_promise(space, given, q)
            assert ratio(ours) <= ratio(ridge_promise(space.effective_dimension, q)) * (
                1 + 1e-3
            ), seed


@swept_seeds(10, 200)
def test_barriers_at_a_ridge_stand_where_the_potentials_are_as_said(seeds):
    """The two traces as they stand, and the ends that follow."""
    for seed in seeds:
        space, given, q = ridge_problem(seed)
        rng = np.random.default_rng(seed)
        D, rows = space.shrinkage, space.basis()[given]
        w, a, s = 10 ** rng.uniform(-2, 2), 10 ** rng.uniform(-4, 3), rng.uniform(0, 1)
        start = place_ridge_start(a, w, s, q, *spectrum_left(D, rows, w))
        E = a * np.diag(D) - a * w * rows.T @ rows
        nu = np.linalg.eigvalsh(E)
        assert start.x > nu[-1] and start.y > -nu[0] and 1 <= start.g <= start.delta_U
        below = np.linalg.inv(start.x * np.eye(len(D)) - E)
        above = np.linalg.inv(start.y * np.eye(len(D)) + E)
        assert np.trace(below * D) <= s * (1 + 1e-4)
        assert np.trace(above * D) <= s / start.delta_U * (1 + 1e-4)
        # beyond where they have to be only where an eigenvalue is next to it
        if start.x > nu[-1] + 1e-6 * np.abs(nu).max():
            assert_allclose(np.trace(below * D), s, rtol=1e-4)
        part = a + start.g * q
        high = a + start.y + start.delta_U * q
        assert_allclose(start.ends(q), [(a - start.x + q) / part, high / part])


def test_good_features_count_as_draws_at_a_ridge():
    """Part 2: with the picks of BSS given, additions are saved; and what is certified
    by itself hardly needs any.
    """
    X = np.random.default_rng(0).standard_normal((40, 400))
    space = ridge_space(X, ridge_of_dimension(np.linalg.svd(X)[1], 8))
    given = bss(space, 24, "best").indices
    assert ratio(completion_promise(space, given, 9)) < ratio(ridge_promise(8, 33))
    start = best_ridge_start(space.shrinkage, space.basis()[given], 9)
    assert start.a <= 24 * (1 + 1e-9)


def test_as_the_ridge_vanishes_what_is_given_is_worth_something_still():
    """At full rank, where the part of the ridge is nothing."""
    X = np.random.default_rng(1).standard_normal((6, 200))
    at = ridge_space(X, 1e-9 * np.linalg.norm(X, 2) ** 2)
    given = bss(row_space(X), 25, "best").indices
    for q in (7, 12, 40):
        found = completion_promise(at, given, q)
        assert ratio(found) < 0.9 * ratio(bss_promise(6, q))
        assert certify(at, complete(at, given, q), found).holds


def distortion_at_a_ridge(certificate):
    """Of plain columns, at the ridge and every larger one."""
    low, high = certificate.eigenvalues_unscaled[[0, -1]]
    low, high = min(low, 1), max(high, 1)
    return (high - low) / (high + low)


@pytest.mark.parametrize("score_func", [None, f_classif])
def test_the_completion_selector_at_a_ridge(score_func):
    table = pd.DataFrame(standard, columns=frame.columns)
    given = ["mean radius", "mean texture"]
    make = partial(CompletionSelector, given, score_func=score_func)
    seven = make(7, ridge="auto").fit(table, kind)
    found = seven.certificate_
    assert found.holds and len(seven.added_) == 7
    assert_allclose(found.effective_dimension, 9 / 2)
    assert_array_equal(seven.selected_[:2], [0, 1])
    fewest = make("auto", ridge=40.0, distortion=0.6).fit(table, kind)
    assert fewest.certificate_.holds and fewest.certificate_.ridge == 40.0
    assert distortion_at_a_ridge(fewest.certificate_) <= 0.6
    less = make(len(fewest.added_) - 1, ridge=40.0).fit(table, kind)
    assert distortion_at_a_ridge(less.certificate_) > 0.6
    usual = make("auto", ridge="auto").fit(table, kind)
    assert_allclose(usual.certificate_.effective_dimension, 30 / 4)


def test_forms_of_data_and_units_change_no_completion_at_a_ridge():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((25, 70)) * (rng.random((25, 70)) < 0.4)
    given = [3, 8, 60]
    dense = CompletionSelector(given, 9, ridge=40.0).fit(X)
    assert dense.certificate_.holds
    for data in (csr_array(X), X.astype(np.float32), np.asfortranarray(X)):
        found = CompletionSelector(given, 9, ridge=40.0).fit(data)
        assert_array_equal(found.selected_, dense.selected_)
        assert_allclose(found.weights_, dense.weights_, rtol=1e-4)
    for power in (-30, 3):
        scaled = CompletionSelector(given, 9, ridge=40.0 * 4.0**power)
        assert_array_equal(scaled.fit(X * 2.0**power).selected_, dense.selected_)
    order = rng.permutation(70)
    place = np.argsort(order)
    moved = CompletionSelector(place[given], 9, ridge=40.0).fit(X[:, order])
    assert_array_equal(np.sort(order[moved.selected_]), np.sort(dense.selected_))


def test_with_nothing_given_at_a_ridge_it_is_bss():
    ours = CompletionSelector(None, 9, ridge="auto").fit(standard)
    theirs = BSSSelector(9, ridge="auto").fit(standard)
    assert_array_equal(ours.selected_, theirs.selected_)
    assert ours.certificate_.promise == theirs.certificate_.promise
    fewest = CompletionSelector(None, ridge=300.0, distortion=0.7).fit(standard)
    assert fewest.certificate_.effective_dimension < len(fewest.added_)


def test_copies_of_given_columns_are_not_added_at_a_ridge():
    X = np.hstack([standard, -standard, standard])
    selector = CompletionSelector([31, 60, 4], 12, ridge="auto").fit(X)
    assert len(set(selector.selected_ % 30)) == 15 and selector.certificate_.holds


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (dict(ridge=0.0), "ridge=0.0 is not possible"),
        (dict(ridge="some"), "ridge='some' is not possible.*auto"),
        (dict(ridge=1.0, rank=31), "rank=31 is not possible: X has numerical rank 30"),
        (dict(given=None, ridge=1.0), "effective dimensions: give at least .* ridge"),
        (
            dict(ridge=1.0, n_features_to_add="auto", distortion=1e-6, rescale=True),
            "cannot be reached at this ridge.*a larger ridge",
        ),
    ],
)
def test_what_is_impossible_at_a_ridge_is_refused(parameters, words):
    usual = dict(given=[0, 1], n_features_to_add=3)
    with pytest.raises(ValueError, match=words):
        CompletionSelector(**{**usual, **parameters}).fit(standard)
