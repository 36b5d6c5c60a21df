"""Stopping: weights and regions of change points, resampling, scores along the path,
the display.
"""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from cases import swept_product, swept_seeds
from matplotlib.colors import to_rgb
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold

from fsel_book import GuyonRFE, RiskRFE, ScreeDisplay, change_point, size_path
from fsel_book.certificates import METHOD_COLORS, method_color
from fsel_book.stopping import (
    change_region,
    change_weights,
    resampled_change_points,
)


def signs(n=80, d=6, seed=0):
    """Two classes, told apart by the sign of the product of the first two features."""
    X = np.random.default_rng(seed).uniform(-1, 1, (n, d))
    return X, np.where(X[:, 0] * X[:, 1] > 0, 1, -1)


def bent(noise, seed=0, at=20, m=31):
    """A path with a kink and noise."""
    t = np.arange(m)
    v = (
        10
        + 0.1 * t
        + 2 * np.maximum(t - at, 0)
        + noise * np.random.default_rng(seed).standard_normal(m)
    )
    return change_point(v, m - 1 - t)


def test_weights_are_likelihoods_with_the_correlation_of_neighbours():
    point = bent(0.5)
    off = point.values - point.fitted
    rho = max(0, off[1:] @ off[:-1] / (off @ off))
    ratio = (point.errors[15] / point.errors[20]) ** (
        -max(1, 27 * (1 - rho) / (1 + rho)) / 2
    )
    weights = change_weights(point)
    assert_allclose(weights[15] / weights[20], ratio)
    assert_allclose(weights.sum(), 1)
    assert weights[-1] == 0 and weights.argmax() == point.errors.argmin()


def test_weights_of_a_perfect_fit_and_units():
    assert_allclose(change_weights(bent(0.0)), np.arange(31) == 20, atol=1e-12)
    point = bent(0.7, 3)
    other = change_point(1e-6 * point.values + 4, point.left)
    assert_allclose(change_weights(point), change_weights(other), atol=1e-6)


@pytest.mark.parametrize(
    ("path", "exact"),
    [
        # nothing bends: every change is as good as any other
        ([1, 1, 1, 1], [3, 2, 1]),
        ([0, 0, 0], [2, 1]),
        ([0, 2, 5], [2, 1]),
        ([1, 1, 5], [1]),
        ([1, 5], [1]),
        ([0, 0, 0, 0, 2, 6, 12], [4, 3]),
    ],
)
def test_changes_that_fit_equally_well_share_the_weight(path, exact):
    point = change_point(path, np.arange(len(path) - 1, -1, -1))
    assert point.n_features == exact[0]
    assert_allclose(
        change_weights(point), np.isin(point.left, exact) / len(exact), atol=1e-6
    )
    assert_array_equal(change_region(point), exact)


def test_region_is_the_smallest_set_with_its_share():
    point = bent(3.0, 1)
    weights = change_weights(point)
    for level in (0.5, 0.8, 0.95, 0.999):
        inside = np.isin(point.left, change_region(point, level))
        assert (
            weights[inside].sum()
            >= level
            > weights[inside].sum() - weights[inside].min()
        )
        assert weights[inside].min() >= weights[~inside].max()
        assert (np.diff(change_region(point, level)) < 0).all()
    assert point.n_features in change_region(point, 0.01)


@swept_seeds(100, 300)
def test_region_covers_the_truth_where_the_model_is_true(seeds):
    """Independent normal deviations from a curve of the form: near the nominal 95 per
    cent.
    """
    covered = [10 in change_region(bent(2.0, seed)) for seed in seeds]
    assert 0.9 < np.mean(covered) < 1


@pytest.mark.parametrize("level", [0, 1, 1.5, "0.9", True, np.nan])
def test_level_is_checked(level):
    with pytest.raises(ValueError, match="level=.* is not possible"):
        change_region(bent(1.0), level)


def test_scores_are_those_of_the_estimator_at_each_number():
    X, y = signs()
    # the width of the path, not of the features left
    selector = RiskRFE(C=5)
    folds = StratifiedKFold(4)
    found = size_path(selector, X, y, cv=4)
    assert found.scores.shape == (4, 6)
    assert_array_equal(found.sizes, np.arange(1, 7))
    for left in (6, 3, 1):
        fixed = clone(selector).set_params(n_features_to_select=left)
        expected = [
            fixed.fit(X[a], y[a]).score(X[b], y[b]) for a, b in folds.split(X, y)
        ]
        assert_allclose(found.scores[:, found.sizes == left].ravel(), expected)


def test_scores_of_numbers_sparse_frames_and_other_selectors():
    X, _ = signs()
    target = X[:, 2] + 0.1 * np.random.default_rng(1).standard_normal(80)
    selector = RiskRFE(
        kernel="linear", loss="squared_error", C=1, max_increment=0.3, step="adaptive"
    )
    dense = size_path(selector, X, target, cv=KFold(3))
    sparse = size_path(selector, sp.csc_array(X), target, cv=KFold(3))
    assert_allclose(dense.scores, sparse.scores, atol=1e-8)
    assert (
        dense.within_one_error() == 1
        and dense.sizes[0] == 1
        and selector.max_increment == 0.3
    )
    assert size_path(GuyonRFE(C=5), *signs(), cv=3).scores.shape == (3, 6)
    pandas = pytest.importorskip("pandas")
    X, y = signs()
    framed = size_path(RiskRFE(C=5), pandas.DataFrame(X), pandas.Series(y), cv=3)
    assert_allclose(framed.scores, size_path(RiskRFE(C=5), X, y, cv=3).scores)


def test_resampling_counts_samples_as_weights():
    X, y = signs(40)
    y = y * np.random.default_rng(3).choice([1, 1, 1, -1], 40)
    numbers, share = resampled_change_points(
        RiskRFE(C=5, gamma=0.5), X, y, 6, random_state=0
    )
    rng = np.random.RandomState(0)
    kept = np.zeros(6)
    for number in numbers:
        groups = [np.flatnonzero(y == label) for label in (-1, 1)]
        rows = np.concatenate(
            [group[rng.randint(len(group), size=len(group))] for group in groups]
        )
        again = RiskRFE("change-point", C=5, gamma=0.5).fit(X[rows], y[rows])
        assert number == again.n_features_
        kept += again.support_ / 6
    assert len(set(numbers)) > 1
    assert_allclose(share, kept)
    assert_array_equal(
        numbers,
        resampled_change_points(RiskRFE(C=5, gamma=0.5), X, y, 6, random_state=0)[0],
    )


@swept_product(
    ("step", "d"),
    [(1, 1), (1, 2), (2, 3), ("adaptive", 1), ("adaptive", 2)],
    [1, 2, "adaptive"],
    [1, 2, 3],
)
def test_short_paths_of_one_feature_that_matters(d, step):
    X = np.random.default_rng(0).uniform(-1, 1, (60, d))
    y = np.where(X[:, 0] > 0, 1, -1)
    selector = RiskRFE(step=step)
    numbers, share = resampled_change_points(selector, X, y, 4, random_state=0)
    coarse = step == 2 and d > 1  # the path may have no point with one feature left
    assert coarse or ((numbers == 1).all() and share[0] == 1 and share[1:].sum() == 0)
    found = size_path(selector, X, y, cv=3)
    assert (
        found.within_one_error() == 1
        and found.sizes[0] == 1
        and found.scores.shape == (3, len(found.sizes))
    )
    ax = (
        ScreeDisplay.from_selector(
            clone(selector).set_params(n_features_to_select="change-point").fit(X, y)
        )
        .plot()
        .ax_
    )
    assert coarse or "change at 1" in [line.get_label() for line in ax.lines]


def test_a_single_split_has_no_standard_error():
    with pytest.raises(
        ValueError, match="cv=ShuffleSplit.* is not possible: .* two splits or more"
    ):
        size_path(RiskRFE(), *signs(), cv=ShuffleSplit(1))


@pytest.mark.parametrize("n_resamples", [0, -1, 2.5, "many", None])
def test_number_of_resamples_is_checked(n_resamples):
    with pytest.raises(
        ValueError,
        match="n_resamples=.* is not possible: give an integer of at least 1",
    ):
        resampled_change_points(RiskRFE(), *signs(), n_resamples)


@pytest.mark.parametrize("limit", [0.1, 0, lambda left: 0.1])
def test_a_path_that_stops_early_has_no_change_point(limit):
    """`size_path` looks at the whole path whatever the selector says; a change point
    would be another one.
    """
    with pytest.raises(
        ValueError,
        match="max_increment=.* of the selector is not possible here: .*=None",
    ):
        resampled_change_points(RiskRFE(max_increment=limit), *signs(), 2)


def test_display_draws_what_it_says():
    X, y = signs()
    selector = RiskRFE("change-point", C=5).fit(X, y)
    display = ScreeDisplay.from_selector(selector).plot(label="risk-RFE")
    lines = {line.get_label(): line for line in display.ax_.lines}
    assert_allclose(lines["risk-RFE"].get_ydata(), selector.objective_path_)
    assert_allclose(lines["change at 2"].get_xdata(), 2)
    assert_allclose(
        sum(bar.get_height() for bar in display.ax_.patches),
        np.ptp(selector.objective_path_),
    )
    assert display.ax_.get_xlim()[0] > display.ax_.get_xlim()[1]
    other = ScreeDisplay.from_selector(
        GuyonRFE("change-point", C=5).fit(X, y), "linear"
    ).plot(display.ax_, label="Guyon's RFE")
    assert other.figure_ is display.figure_
    with pytest.raises(NotFittedError):
        ScreeDisplay.from_selector(RiskRFE())


def seen(color, sight):
    """A colour in CIELAB, seen with all cones, without the red or without the green
    ones (Machado and others 2009).
    """
    cones = {
        "full": np.eye(3),
        "no red": [
            [0.152, 1.053, -0.205],
            [0.115, 0.786, 0.099],
            [-0.004, -0.048, 1.052],
        ],
        "no green": [
            [0.367, 0.861, -0.228],
            [0.280, 0.673, 0.047],
            [-0.012, 0.043, 0.969],
        ],
    }
    rgb = np.array(to_rgb(color))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    # over those of white
    xyz = [[0.4339, 0.3762, 0.1899], [0.2126, 0.7152, 0.0722], [0.0177, 0.1094, 0.8730]]
    x, y, z = (
        np.cbrt(v) if v > 0.008856 else 7.787 * v + 16 / 116
        for v in xyz @ np.clip(cones[sight] @ linear, 0, 1)
    )
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("sight", ["full", "no red", "no green"])
def test_elimination_methods_have_colours_of_their_own(sight):
    unknown = method_color("a rule of mine")
    risk = METHOD_COLORS["risk-RFE"]
    assert method_color("Guyon's RFE") == method_color("RFE") != unknown != risk
    others = [
        color for method, color in METHOD_COLORS.items() if method != "risk-RFE"
    ] + [unknown]
    assert (
        min(np.linalg.norm(seen(risk, sight) - seen(color, sight)) for color in others)
        > 25
    )


@pytest.mark.parametrize("exponent", [-170, -80, 80, 140])
def test_a_path_may_have_any_unit(exponent):
    values = np.array([5.0, 5.1, 5.0, 5.1, 8.0, 11.2, 14.0, 17.0])
    left = np.arange(7, -1, -1)
    plain = change_point(values, left, "linear")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        point = change_point(values * 10.0**exponent, left.astype(np.uint8), "linear")
        weights = change_weights(point)
    assert point.n_features == plain.n_features == 4
    assert_allclose(point.fitted, plain.fitted * 10.0**exponent, rtol=1e-9)
    assert_allclose(weights, change_weights(plain), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("exponent", [-85, 80])
def test_targets_may_have_any_unit(exponent):
    X = np.random.default_rng(0).uniform(-1, 1, (60, 8))
    y = X[:, 0] * X[:, 3]
    plain, other = (
        RiskRFE("change-point", loss="squared_error").fit(X, y * s)
        for s in (1, 10.0**exponent)
    )
    assert plain.n_features_ == other.n_features_ < 8


def test_each_resample_has_its_share_of_every_class(monkeypatch):
    """With three of sixty samples in a class, one in twenty resamples of all would lack
    it.
    """
    X = np.random.default_rng(0).uniform(-1, 1, (60, 4))
    y = np.where(np.arange(60) < 3, "rare", "common")
    drawn = []
    fit = RiskRFE.fit

    def look(self, X, y, w=None):
        drawn.append(w)
        return fit(self, X, y, w)

    monkeypatch.setattr(RiskRFE, "fit", look)
    resampled_change_points(RiskRFE(), X, y, 30, random_state=0)
    assert all(w[:3].sum() == 3 and w[3:].sum() == 57 for w in drawn)
    assert len({tuple(w) for w in drawn}) > 20


def test_a_path_is_walked_to_its_end_whatever_may_go():
    """A limit on what a feature may cost, which would end every elimination at once, is
    not for the scores.
    """
    X = np.random.default_rng(0).uniform(-1, 1, (60, 5))
    y = X[:, 1] - X[:, 3]
    selector = RiskRFE(kernel="linear", loss="squared_error", max_increment=1e-9)
    free = size_path(clone(selector).set_params(max_increment=None), X, y)
    assert_allclose(size_path(selector, X, y).scores, free.scores)
    assert_array_equal(free.sizes, [1, 2, 3, 4, 5])


def test_a_straight_tail_has_one_parameter_less():
    """The weights are those of the formula, with three parameters and not four."""
    point = change_point(
        [5.0, 5.9, 5.1, 6.0, 5.6, 7.0, 11.2, 12.1, 17.0], range(8, -1, -1), "linear"
    )
    values = point.values
    off = values - point.fitted
    rho = max(0.0, (off[1:] @ off[:-1]) / (off @ off))
    expected = point.errors ** (-(len(values) - 3) * (1 - rho) / (1 + rho) / 2)
    weights = change_weights(point)
    assert_allclose(weights, expected / expected.sum(), rtol=1e-6)
    with_four = point.errors ** (-(len(values) - 4) * (1 - rho) / (1 + rho) / 2)
    assert np.abs(weights - with_four / with_four.sum()).max() > 1e-3
