"""A few columns that tell a target: against the theorem, the short version, fits made by
hand and every choice there is.
"""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_regressor
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from fsel_book import (
    CalibrationSelector,
    Constraints,
    SensorSelector,
    certify_columns,
    load_tecator,
)
from fsel_book.wavelengths import (
    NOISE_FOLLOWED,
    calibrate,
    calibrate_reference,
    choices_by_noise,
    expected_squares,
    prediction_error,
)

MEAT = load_tecator()
FAT = MEAT.target[:, 1]


def spectra(seed, n, d, targets=1, rank=5, rest=0.1, mean=3.0):
    """Mixtures of a few columns, and targets that are differences of columns."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))
    X = X + rest * rng.standard_normal((n, d)) + mean
    Y = X[:, :4] @ rng.standard_normal((4, targets))
    return X, Y + rest * rng.standard_normal((n, targets))


def centred(X):
    return X - X.mean(axis=0)


@parametrize_with_checks(
    [CalibrationSelector(), CalibrationSelector(noise=0.5, move=False)]
)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


# ---------------------------------------------------------------- the search


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("targets", [1, 3])
def test_the_choices_are_those_of_the_short_version(seed, targets):
    n, d = ((9, 30), (20, 12), (25, 25), (12, 40))[seed % 4]
    X, Y = spectra(seed, n, d, targets)
    levels = [1.0, 0.3, 0.05]
    expected = calibrate_reference(X, Y, 4, levels)
    noises = [np.full(d, level) for level in levels]
    assert choices_by_noise(centred(X), centred(Y), 4, noises) == expected


@pytest.mark.parametrize("seed", range(6))
def test_with_noise_it_is_the_last_choice_of_the_short_version(seed):
    n, d = ((9, 30), (20, 12))[seed % 2]
    X, Y = spectra(seed, n, d)
    square = np.mean(centred(X) ** 2)
    above = [np.sqrt(k * square) for k in NOISE_FOLLOWED if k * square > 0.2**2]
    expected = calibrate_reference(X, Y / Y.std(), 4, [*above, 0.2])[-1]
    found = CalibrationSelector(4, noise=0.2).fit(X, Y[:, 0])
    assert found.ranking_.tolist() == expected


@pytest.mark.parametrize("noise", [0.01, 0.001, 0.0001])
def test_no_move_of_one_wavelength_helps_in_the_end(noise):
    few = CalibrationSelector(4, noise=noise).fit(MEAT.data, FAT)
    A, y = centred(MEAT.data), centred(FAT)
    here = prediction_error(A, y, few.selected_, noise)
    np.testing.assert_allclose(few.expected_errors_, np.sqrt(here), rtol=1e-6)
    for j in few.selected_:
        others = [k for k in few.selected_ if k != j]
        free = set(range(100)) - set(others)
        there = min(prediction_error(A, y, [*others, k], noise) for k in free)
        assert there >= here * (1 - 1e-6)


def test_pairs_of_wavelengths_are_the_best_there_are():
    A, y = centred(MEAT.data), centred(FAT)
    for noise in (0.01, 0.001):
        pair = CalibrationSelector(2, noise=noise).fit(MEAT.data, FAT).selected_
        best = min(
            combinations(range(100), 2), key=lambda S: prediction_error(A, y, S, noise)
        )
        assert pair.tolist() == list(best)
        greedy = CalibrationSelector(2, noise=noise, move=False).fit(MEAT.data, FAT)
        assert prediction_error(A, y, greedy.selected_, noise) > prediction_error(
            A, y, best, noise
        )


def test_a_target_that_is_a_difference_is_found():
    """Each of the two says next to nothing alone, and a third column says a little."""
    rng = np.random.default_rng(0)
    height, small = rng.standard_normal((2, 50))
    X = 1e-3 * rng.standard_normal((50, 12)) + 10 * height[:, None]
    X[:, 4] += small
    X[:, 9] += 0.5 * small + 0.5 * rng.standard_normal(50)
    found = CalibrationSelector(2).fit(X, small)
    assert 4 in found.selected_ and found.explained_[0] > 0.999


# ---------------------------------------------------------------- the theorem


@pytest.mark.parametrize("seed", range(12))
def test_the_expected_error_is_between_its_bounds(seed):
    rng = np.random.default_rng(seed)
    n, d, r = 8 + seed % 7, 6 + 3 * (seed % 5), 1 + seed % 5
    noise = (0.02, 0.5, 3.0)[seed % 3]
    X, Y = spectra(seed, n, d)
    A, y = centred(X), centred(rng.standard_normal(n))
    S = rng.choice(d, r, replace=False)
    few = prediction_error(A, y, S, noise)
    everywhere = prediction_error(A, y, range(d), noise)
    kept = certify_columns(X, S, ridge=n * noise**2, center=True)
    assert everywhere <= few * (1 + 1e-9)
    assert few <= everywhere / kept.eigenvalues_unscaled[0] * (1 + 1e-7)
    found = CalibrationSelector(r, noise=noise).fit(X, y)
    np.testing.assert_allclose(found.errors_everywhere_, np.sqrt(everywhere))
    assert found.expected_errors_ >= found.errors_everywhere_ * (1 - 1e-9)


def test_no_other_coefficients_have_less_error_with_noise():
    X, Y = spectra(3, 25, 15)
    A, y = centred(X), centred(Y[:, 0])
    found = CalibrationSelector(3, noise=0.4).fit(X, Y[:, 0])
    rng = np.random.default_rng(0)
    C = A[:, found.selected_]

    def error(b):
        return np.mean((y - C @ b) ** 2) + 0.4**2 * b @ b

    least = error(found.coef_)
    np.testing.assert_allclose(least, found.expected_errors_[0] ** 2)
    for _ in range(50):
        assert error(found.coef_ + 0.1 * rng.standard_normal(3)) > least


def test_one_reading_through_the_right_filter_is_enough():
    X, Y = spectra(4, 20, 12)
    A, y = centred(X), centred(Y)
    b = Ridge(alpha=20 * 0.3**2, fit_intercept=False).fit(A, y[:, 0]).coef_
    one = A @ b[:, None] / np.linalg.norm(b)
    np.testing.assert_allclose(
        prediction_error(one, y, [0], 0.3), prediction_error(A, y, range(12), 0.3)
    )


def test_errors_of_the_formula_without_noise_to_speak_of():
    X, Y = spectra(5, 30, 8, targets=2)
    A, about = centred(X), centred(Y)
    left = about - A @ np.linalg.lstsq(A, about)[0]
    found = expected_squares(A / 1e-9, about)
    np.testing.assert_allclose(found, np.mean(left**2, axis=0), rtol=1e-6)


# ---------------------------------------------------------------- the regression


@pytest.mark.parametrize("noise", [None, 0.3, "each"])
@pytest.mark.parametrize("targets", [1, 2])
def test_errors_are_those_of_folds_with_choices_of_their_own(noise, targets):
    """For one target and no noise each fold tries the ten noises, and the best for all
    folds together is taken.
    """
    X, Y = spectra(6, 23, 10, targets)
    noise = np.linspace(0.1, 0.6, 10) if noise == "each" else noise
    found = CalibrationSelector(3, noise=noise).fit(X, Y)
    A, scale = centred(X), Y.std(axis=0)
    levels = np.sqrt(np.mean(A**2) * np.array(NOISE_FOLLOWED))
    if noise is None:
        noises = [np.full(10, level) for level in levels]
    else:
        sd = np.broadcast_to(noise, 10)
        times = levels / np.sqrt(np.mean(sd**2))
        noises = [sd * factor for factor in times if factor > 1] + [sd]
    squares = np.zeros((len(noises), targets))
    about = np.zeros(targets)
    for f in range(5):
        out = np.arange(23) % 5 == f
        C, B = X[~out], Y[~out]
        for k, S in enumerate(
            choices_by_noise(centred(C), centred(B) / scale, 3, noises)
        ):
            if noise is None:
                ridge = calibrate(C[:, S], B / scale).ridge * np.eye(3)
            else:
                ridge = len(C) * np.diag(noises[k][S] ** 2)
            Z = centred(C[:, S])
            b = np.linalg.solve(Z.T @ Z + ridge, Z.T @ centred(B))
            told = (X[out][:, S] - C[:, S].mean(axis=0)) @ b + B.mean(axis=0)
            squares[k] += np.sum((told - Y[out]) ** 2, axis=0)
            if noise is not None:
                squares[k] += out.sum() * noises[k][S] ** 2 @ b**2
        about += np.sum((Y[out] - B.mean(axis=0)) ** 2, axis=0)
    totals = np.sum(squares / scale**2, axis=1)
    best = -1 if noise is not None else int(np.argmin(totals))
    np.testing.assert_allclose(found.errors_, np.sqrt(squares[best] / 23), rtol=1e-8)
    np.testing.assert_allclose(found.explained_, 1 - squares[best] / about, atol=1e-9)
    choice = choices_by_noise(A, centred(Y) / scale, 3, noises)[best]
    assert found.ranking_.tolist() == choice


def test_errors_do_not_flatter_where_there_is_nothing_to_tell():
    """Of 300 columns that know nothing of the target ten look good in hindsight."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 300)), rng.standard_normal(40)
    found = CalibrationSelector(10).fit(X, y)
    hindsight = np.mean((found.predict(X) - y) ** 2) / y.var()
    assert hindsight < 0.6 and found.explained_[0] < 0.1


def test_predictions_are_those_of_ridge_regression():
    X, Y = spectra(7, 30, 14, targets=2)
    for y in (Y, Y[:, 0], Y[:, :1]):
        found = CalibrationSelector(4).fit(X, y)
        C = X[:, found.selected_]
        ridge = Ridge(alpha=found.ridge_, solver="svd").fit(C, y)
        predicted = found.predict(X)
        assert predicted.shape == y.shape
        np.testing.assert_allclose(predicted.ravel(), ridge.predict(C).ravel())
        np.testing.assert_allclose(
            C @ found.coef_.T + found.intercept_, found.predict(X)
        )
        np.testing.assert_allclose(found.noise_, np.sqrt(found.ridge_ / 30))


def test_targets_count_alike_whatever_their_units():
    X, Y = spectra(9, 30, 20, targets=2)
    one = CalibrationSelector(3).fit(X, Y)
    other = CalibrationSelector(3).fit(X, Y * [1000.0, 0.01] + [5.0, -3.0])
    np.testing.assert_array_equal(one.selected_, other.selected_)
    np.testing.assert_allclose(other.errors_, one.errors_ * [1000.0, 0.01])
    np.testing.assert_allclose(other.explained_, one.explained_)


# ---------------------------------------------------------------- the estimator


def test_constraints_are_kept_to_while_wavelengths_move():
    nm = MEAT.wavelengths
    bands = (nm // 20).astype(int)
    costs = np.where(nm > 950, 3.0, 1.0)
    rules = Constraints(
        positions=nm, spacing=12.0, at_most_one=bands, costs=costs, budget=7.0
    )
    few = CalibrationSelector(5, exclude=range(20), constraints=rules)
    few.fit(MEAT.data, FAT)
    at = few.selected_
    assert len(at) == 5 and at.min() >= 20
    assert np.diff(nm[at]).min() >= 12 and len(set(bands[at])) == 5
    assert costs[at].sum() <= 7


def test_fewer_than_asked_for_are_told():
    rules = Constraints(positions=MEAT.wavelengths, spacing=80.0)
    with pytest.warns(UserWarning, match="of 8 columns"):
        few = CalibrationSelector(8, constraints=rules).fit(MEAT.data, FAT)
    assert 1 <= len(few.selected_) <= 3
    assert few.predict(MEAT.data).shape == FAT.shape


def test_labels_change_the_choice_here_and_not_that_of_sensors():
    for_fat = CalibrationSelector(3, noise=0.01).fit(MEAT.data, FAT)
    for_protein = CalibrationSelector(3, noise=0.01).fit(MEAT.data, MEAT.target[:, 2])
    assert set(for_fat.selected_) != set(for_protein.selected_)
    one = SensorSelector(3, noise=0.01).fit(MEAT.data, FAT)
    other = SensorSelector(3, noise=0.01).fit(MEAT.data)
    np.testing.assert_array_equal(one.selected_, other.selected_)


def test_sparse_data_and_frames_give_the_same():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 12)) * (rng.random((30, 12)) < 0.4)
    y = X[:, 3] - X[:, 7]
    dense = CalibrationSelector(2).fit(X, y)
    sparse = CalibrationSelector(2).fit(sp.csr_array(X), y)
    frame = pd.DataFrame(X, columns=[f"{900 + 10 * j} nm" for j in range(12)])
    named = CalibrationSelector(2, exclude=["900 nm"]).fit(frame, pd.Series(y))
    for other in (sparse, named):
        np.testing.assert_array_equal(other.selected_, dense.selected_)
        np.testing.assert_allclose(other.coef_, dense.coef_)
    np.testing.assert_allclose(sparse.predict(sp.csr_array(X)), dense.predict(X))
    assert named.get_feature_names_out().tolist() == [
        f"{900 + 10 * j} nm" for j in dense.selected_
    ]


def test_it_is_a_step_of_a_pipeline_and_a_model_of_a_grid():
    X, Y = spectra(10, 40, 15)
    pipe = make_pipeline(CalibrationSelector(4), PCA(2), Ridge()).fit(X, Y[:, 0])
    assert pipe.predict(X).shape == (40,)
    grid = GridSearchCV(CalibrationSelector(), {"n_features_to_select": [1, 4]}, cv=4)
    assert grid.fit(X, Y[:, 0]).best_params_ == {"n_features_to_select": 4}
    assert is_regressor(CalibrationSelector())


@pytest.mark.parametrize(
    "given, words",
    [
        ({"n_features_to_select": 0}, "n_features_to_select=0"),
        ({"n_features_to_select": 21}, "from 1 to 20"),
        ({"noise": -1.0}, "noise"),
        ({"noise": np.ones(3)}, "20 of them"),
        ({"move": 2}, "move"),
        ({"constraints": "none"}, "constraints"),
    ],
)
def test_what_is_not_possible_is_said(given, words):
    X, Y = spectra(11, 15, 20)
    with pytest.raises(ValueError, match=words):
        CalibrationSelector(**given).fit(X, Y[:, 0])


def test_data_that_say_nothing_are_refused():
    with pytest.raises(ValueError, match="constant"):
        CalibrationSelector(2).fit(np.ones((9, 4)), np.arange(9.0))
    with pytest.raises(ValueError, match="requires y"):
        CalibrationSelector(2).fit(np.eye(9), None)


def test_a_constant_target_is_told_exactly():
    found = CalibrationSelector(2).fit(np.eye(6), np.full(6, 3.0))
    np.testing.assert_allclose(found.predict(np.eye(6)), 3.0)
    assert found.explained_.tolist() == [1.0]


def test_it_leaves_what_it_was_given_as_it_was():
    X, Y = spectra(12, 30, 10)
    before = X.copy(), Y.copy()
    model = CalibrationSelector(3, noise=np.full(10, 0.2))
    clone(model).fit(X, Y)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(Y, before[1])


# ---------------------------------------------------------------- the data


def test_the_meat_comes_with_its_permission_and_its_samples():
    assert MEAT.data.shape == (215, 100) and MEAT.target.shape == (215, 3)
    assert np.isfinite(MEAT.data).all() and 2 < MEAT.data.min() < MEAT.data.max() < 6
    # what is neither water nor fat nor protein is little
    assert np.all(np.abs(MEAT.target.sum(axis=1) - 99) < 10)
    assert "redistributed as long as this permission note is attached" in " ".join(
        MEAT.DESCR.split()
    )
    assert MEAT.feature_names[0] == "850.0 nm" and MEAT.feature_names[-1] == "1050.0 nm"
    for sample in np.unique(MEAT.samples):
        same = MEAT.data[MEAT.samples == sample]
        assert np.all(same == same[0])
    assert len(np.unique(MEAT.samples)) == len(np.unique(MEAT.data, axis=0)) == 193


def test_five_wavelengths_tell_fat_of_samples_left_out():
    """Far better than the mean, whose error is 12.7, and near the whole spectrum."""
    told = cross_val_predict(
        CalibrationSelector(5),
        MEAT.data,
        FAT,
        groups=MEAT.samples,
        cv=GroupKFold(5, shuffle=True, random_state=0),
    )
    assert np.sqrt(np.mean((told - FAT) ** 2)) < 3.5
