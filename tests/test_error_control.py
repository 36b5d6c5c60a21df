"""Stability selection: the votes, the promise, and what is refused."""

import numpy as np
import pandas
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    SelectorMixin,
    f_classif,
    f_regression,
)
from sklearn.linear_model import LassoLars, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fsel_book import BSSSelector, RiskRFE, stability_selection
from fsel_book.datasets import make_linear_regression, make_nested_square
from fsel_book.error_control import StableFeatures, false_bound, votes_needed

X, y, relevant = make_linear_regression(120, 30, 3, random_state=0)
best_four = SelectKBest(f_regression, k=4)


class Watcher(SelectorMixin, BaseEstimator):
    """Chooses the first feature, and tells which samples it has seen."""

    seen: list = []

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        self.seen.append((np.asarray(X)[:, 0].copy(), y))
        return self

    def _get_support_mask(self):
        return np.arange(self.n_features_in_) == 0


class Lottery(SelectorMixin, BaseEstimator):
    """Chooses each feature with a chance of its own, whatever the samples are."""

    rng = np.random.default_rng(0)
    chances = np.r_[np.full(5, 0.95), np.full(45, 0.06)]

    def fit(self, X, y=None):
        self.mask_ = self.rng.random(len(self.chances)) < self.chances
        return self

    def _get_support_mask(self):
        return self.mask_


def halves_seen(X, **options):
    Watcher.seen.clear()
    stability_selection(Watcher(), X, **options)
    return [rows for rows, _ in Watcher.seen]


# ---------------------------------------------------------------- the halves


@pytest.mark.parametrize("n", [4, 20, 21])
def test_the_halves_of_a_pair_are_disjoint_and_equally_large(n):
    halves = halves_seen(np.arange(2.0 * n).reshape(n, 2), n_pairs=6, random_state=0)
    assert len(halves) == 12
    for one, other in zip(halves[::2], halves[1::2], strict=True):
        assert len(one) == len(other) == n // 2
        assert not set(one) & set(other)
    assert len({tuple(half) for half in halves}) > 2


def test_all_samples_are_drawn_equally_often():
    halves = halves_seen(np.arange(42.0).reshape(21, 2), n_pairs=2000, random_state=0)
    counts = np.unique(np.concatenate(halves), return_counts=True)[1]
    assert_allclose(counts / 2000, 20 / 21, atol=0.04)


def test_samples_of_a_group_stay_in_one_half():
    person = np.repeat(["a", "b", "c", "d", "e"], [1, 2, 3, 4, 5])
    table = np.column_stack([np.arange(15.0), np.ones(15)])
    halves = halves_seen(table, groups=person, n_pairs=10, random_state=0)
    for one, other in zip(halves[::2], halves[1::2], strict=True):
        groups = [set(person[half.astype(int)]) for half in (one, other)]
        assert [len(some) for some in groups] == [2, 2]
        assert not groups[0] & groups[1]
        for some, half in zip(groups, (one, other), strict=True):
            assert len(half) == np.isin(person, list(some)).sum()


def test_the_target_goes_with_its_samples():
    Watcher.seen.clear()
    stability_selection(Watcher(), X, X[:, 0] > 0, n_pairs=3, random_state=0)
    assert all(np.array_equal(rows > 0, target) for rows, target in Watcher.seen)


def test_a_seed_gives_the_same_votes_and_another_seed_others():
    first, again, other = (
        stability_selection(best_four, X, y, n_pairs=5, random_state=seed).frequencies
        for seed in (0, 0, 1)
    )
    assert_array_equal(first, again)
    assert np.any(first != other)


# ---------------------------------------------------------------- the votes


@pytest.mark.parametrize(
    "selector",
    [
        best_four,
        SelectFromModel(LassoLars(alpha=0, max_iter=4), threshold=1e-12),
        RFE(Ridge(), n_features_to_select=4),
        RiskRFE(4, kernel="linear", loss="squared_error"),
    ],
)
def test_any_selector_finds_what_is_relevant(selector):
    found = stability_selection(selector, X, y, n_pairs=20, random_state=0)
    assert set(found.get_support(indices=True)) <= set(relevant)
    assert len(found.get_support(indices=True)) >= 2
    assert found.n_chosen <= 4 and found.frequencies.sum() == pytest.approx(
        found.n_chosen
    )


def test_labels_and_selectors_without_a_target():
    labels = np.where(y > 0, "yes", "no")
    by_labels = stability_selection(
        BSSSelector(5, score_func=f_classif), X, labels, n_pairs=3, random_state=0
    )
    assert by_labels.n_chosen == 5
    without = stability_selection(BSSSelector(5), X, n_pairs=3, random_state=0)
    assert without.n_chosen == 5


def test_frames_and_sparse_matrices_give_the_same_votes():
    dense, frame, sparse = (
        stability_selection(best_four, A, y, n_pairs=4, random_state=0).frequencies
        for A in (X, pandas.DataFrame(X), sp.csc_array(X))
    )
    assert_array_equal(dense, frame)
    assert_array_equal(dense, sparse)


def test_a_kernel_sees_what_a_linear_selector_does_not():
    A, inside, two = make_nested_square(200, 12, random_state=0)
    found = stability_selection(
        RiskRFE(3, gamma=0.25, step=3), A, inside, n_pairs=10, random_state=0
    )
    assert_array_equal(found.get_support(indices=True), two)


def test_the_selector_stays_unfitted():
    selector = LogisticRegression(C=0.1)
    outer = SelectFromModel(selector)
    stability_selection(outer, X, y > 0, n_pairs=1, random_state=0)
    assert not hasattr(outer, "estimator_") and not hasattr(selector, "coef_")


# ---------------------------------------------------------------- the promise


def test_a_threshold_is_a_number_of_votes():
    assert [votes_needed(t, 50) for t in (0.6, 0.601, 0.75, 1.0)] == [60, 61, 75, 100]


@pytest.mark.parametrize(("votes", "expected"), [(60, 5.0), (75, 2.0), (100, 1.0)])
def test_the_bound_is_that_of_the_theorem(votes, expected):
    assert false_bound(10, 100, votes / 100) == pytest.approx(expected)


@pytest.mark.parametrize("tau", [0.6, 0.7, 0.75, 0.8, 0.95, 1.0])
@pytest.mark.parametrize("B", [20, 50])
def test_unimodal_bounds_are_the_printed_ones_for_rare_features(tau, B):
    """Shah and Samworth (2013), also in the R package stabs."""
    if tau <= 0.75:
        factor = 1 / (2 * (2 * tau - 1 - 1 / (2 * B)))
    else:
        factor = 4 * (1 - tau + 1 / (2 * B)) / (1 + 1 / B)
    assert false_bound(10, 1000, tau, B, unimodal=True) == pytest.approx(0.1 * factor)


def test_bounds_fall_with_the_threshold_and_rise_with_the_number_chosen():
    for shape in (False, True):
        of_votes = [false_bound(10, 100, v / 100, 50, shape) for v in range(51, 101)]
        assert np.all(np.diff(of_votes) <= 1e-12)
        of_number = [false_bound(q, 100, 0.8, 50, shape) for q in range(101)]
        assert np.all(np.diff(of_number) >= 0)
        assert of_number[0] == 0 and of_number[-1] <= 100
    plain, shaped = (
        [false_bound(q, 100, 0.7, 50, shape) for q in range(1, 100)]
        for shape in (False, True)
    )
    assert np.all(np.array(shaped) <= plain)


def test_the_threshold_is_the_least_that_keeps_the_promise():
    found = StableFeatures(np.linspace(0, 1, 200), 10, 50, 1.0)
    assert found.expected_false <= 1 < false_bound(10, 200, found.threshold - 0.01)
    assert_array_equal(found.get_support(), found.frequencies >= found.threshold)
    strict, loose = found.at(0.6), found.at(1, unimodal=True)
    assert strict.threshold > found.threshold > loose.threshold
    assert strict.max_false == 0.6 and not strict.unimodal and loose.unimodal


def test_one_vote_more_than_half_may_be_enough():
    assert StableFeatures(np.zeros(10_000), 2, 50, 1.0).threshold == 0.51
    assert StableFeatures(np.zeros(100), 10, 50, 1.0).threshold == 1.0


def test_a_share_of_votes_equal_to_the_threshold_is_enough():
    votes = np.zeros(200)
    found = StableFeatures(votes, 10, 50, 1.0)
    for share, kept in ((found.threshold, True), (found.threshold - 0.01, False)):
        votes[0] = share
        assert StableFeatures(votes, 10, 50, 1.0).get_support()[0] == kept


def test_the_bound_holds_where_a_feature_has_a_known_probability():
    """Chances of 0.06 are below the average of 0.149."""
    runs = [
        stability_selection(
            Lottery(), np.zeros((8, 50)), max_false=2.0, n_pairs=10, random_state=seed
        )
        for seed in range(40)
    ]
    kept = np.array([run.get_support() for run in runs])
    assert kept[:, 5:].sum(axis=1).mean() <= 2
    assert kept[:, :5].mean() > 0.5


def test_where_no_threshold_keeps_the_promise_nothing_is_kept_and_it_says_so():
    found = StableFeatures(np.ones(20), 20, 50, 1.0)
    assert found.threshold == np.inf and found.expected_false == 0
    assert not found.get_support().any()
    said = str(found).replace("\n", " ")
    assert "None of 20 features is kept" in said and "max_false=20" in said


def test_in_words_it_says_how_many_and_what_is_supposed():
    found = StableFeatures(np.r_[np.ones(3), np.zeros(197)], 10, 50, 1.0)
    said = str(found).replace("\n", " ")
    assert said.startswith("3 of 200 features were chosen on at least 75% of 100")
    assert "on 5% of the halves" in said and "at most 1.00" in said
    assert "unimodal" not in said
    assert "unimodal" in str(found.at(1, unimodal=True))
    assert max(map(len, str(found).splitlines())) <= 84


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(max_false=0), "max_false=0 is not possible: give a number above 0"),
        (dict(n_pairs=0), "n_pairs=0 is not possible: give an integer"),
        (dict(unimodal="yes"), "unimodal='yes' is not possible: give True or False"),
        (dict(groups=[0, 1]), "groups has the shape"),
        (dict(groups=np.arange(120) % 3), "There are 3 groups: .* at least 4"),
    ],
)
def test_parameters_that_are_not_possible(options, message):
    with pytest.raises(ValueError, match=message):
        stability_selection(best_four, X, y, **options)


def test_data_that_are_not_possible():
    with pytest.raises(ValueError, match="There are 3 samples: .* at least 4"):
        stability_selection(best_four, X[:3], y[:3])
    with pytest.raises(ValueError, match="y has 119 entries for 120 samples"):
        stability_selection(best_four, X, y[1:])
    with pytest.raises(ValueError, match="X has 1 dimensions"):
        stability_selection(best_four, y, y)


def test_what_is_no_selector():
    with pytest.raises(TypeError, match="selector=SelectKBest is a class"):
        stability_selection(SelectKBest, X, y)
    with pytest.raises(TypeError, match="no get_support: give a selector"):
        stability_selection(Ridge(), X, y)
    with pytest.raises(TypeError, match="of a pipeline give the last step alone"):
        stability_selection(make_pipeline(StandardScaler(), SelectKBest(k=2)), X, y)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((10, 100, 0.5), "threshold=0.5 is not possible"),
        ((10, 100, 1.01), "threshold=1.01 is not possible"),
        ((101, 100, 0.6), "n_chosen=101 is not possible"),
        ((-1, 100, 0.6), "n_chosen=-1 is not possible"),
        ((1, 0, 0.6), "n_features=0 is not possible"),
        ((1, 10, 0.6, 0), "n_pairs=0 is not possible"),
    ],
)
def test_bounds_that_are_not_possible(arguments, message):
    with pytest.raises(ValueError, match=message):
        false_bound(*arguments)


def test_another_promise_is_checked_as_the_first():
    found = StableFeatures(np.ones(20), 2, 50, 1.0)
    with pytest.raises(ValueError, match="max_false=-1 is not possible"):
        found.at(-1)
