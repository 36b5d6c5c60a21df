"""All columns from a few, and where to read: against the theorems, the short version and
fits made by hand.
"""

import copy
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from fsel_book import (
    Blocks,
    BSSSelector,
    Constraints,
    Reconstructor,
    SensorSelector,
    as_blocks,
    certify_columns,
    load_sea_temperature,
)
from fsel_book.out_of_core import GramMatrix
from fsel_book.reconstruction import (
    expected_error,
    least_error,
    place_reference,
)

root = Path(__file__).resolve().parent.parent
DIGITS = load_digits().data


def low_rank(seed, n, d, rank=4, rest=0.2, mean=5.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))
    return X + rest * rng.standard_normal((n, d)) + mean


@parametrize_with_checks(
    [Reconstructor(), SensorSelector(), SensorSelector(noise=0.5, move=False)]
)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("noise", [None, 0.3, "each"])
@pytest.mark.parametrize("n, d", [(12, 30), (40, 9)])
def test_errors_are_those_of_rows_left_out_one_at_a_time(n, d, noise):
    X = low_rank(0, n, d)
    noise = np.linspace(0.1, 0.6, d) if noise == "each" else noise
    fitted = Reconstructor([5, 2, 7], noise=noise).fit(X)
    at = fitted.selected_
    np.testing.assert_array_equal(at, [2, 5, 7])
    sd = np.zeros(3) if noise is None else np.broadcast_to(noise, d)[at]
    penalty = np.full(3, fitted.ridge_) if noise is None else n * sd**2
    squares = np.zeros(d)
    about = np.zeros(d)
    for i in range(n):
        others = np.delete(X, i, axis=0)
        mean = others.mean(axis=0)
        C = (others - mean)[:, at]
        B = np.linalg.solve(C.T @ C + np.diag(penalty), C.T @ (others - mean))
        squares += (X[i] - mean - (X[i] - mean)[at] @ B) ** 2
        about += (X[i] - mean) ** 2
    if noise is None:
        squares[at] = 0
    squares += n * sd**2 @ fitted.coef_**2
    np.testing.assert_allclose(fitted.errors_, np.sqrt(squares / n), rtol=1e-9)
    np.testing.assert_allclose(fitted.explained_, 1 - squares / about, atol=1e-10)
    np.testing.assert_allclose(fitted.share_, 1 - squares.sum() / about.sum())


def test_without_noise_no_other_ridge_of_a_wide_range_leaves_less_out():
    X = low_rank(1, 30, 40, rest=1.0)
    fitted = Reconstructor(range(12)).fit(X)

    def left_out(ridge):
        total = 0.0
        for i in range(30):
            others = np.delete(X, i, axis=0)
            mean = others.mean(axis=0)
            C = (others - mean)[:, :12]
            B = np.linalg.solve(C.T @ C + ridge * np.eye(12), C.T @ (others - mean))
            total += np.sum((X[i] - mean - (X[i] - mean)[:12] @ B)[12:] ** 2)
        return total

    best = left_out(fitted.ridge_)
    assert best <= min(left_out(fitted.ridge_ * k) for k in (0.01, 0.1, 10, 100, 1e4))
    np.testing.assert_allclose(best, np.sum(30 * fitted.errors_**2), rtol=1e-9)


def test_what_was_read_without_noise_comes_back_as_it_was():
    X = low_rank(2, 30, 12)
    fitted = Reconstructor([1, 4]).fit(X)
    back = fitted.inverse_transform(fitted.transform(X))
    np.testing.assert_allclose(back[:, [1, 4]], X[:, [1, 4]])
    np.testing.assert_array_equal(fitted.explained_[[1, 4]], 1)
    np.testing.assert_array_equal(fitted.errors_[[1, 4]], 0)
    np.testing.assert_array_equal(back, fitted.reconstruct(X[:, [1, 4]]))


@pytest.mark.parametrize("seed", range(8))
def test_the_sensors_are_those_of_the_short_version(seed):
    n, d = ((9, 30), (20, 12), (25, 25), (6, 40))[seed % 4]
    noise = (0.05, 0.3, 2.0)[seed % 3]
    X = low_rank(seed, n, d)
    sensors = SensorSelector(4, noise=noise).fit(X)
    expected = place_reference(X, 4, noise)
    assert sensors.ranking_.tolist() == expected
    np.testing.assert_allclose(
        sensors.error_**2, expected_error(X - X.mean(axis=0), expected, noise)
    )


@pytest.mark.parametrize("seed", range(12))
def test_the_expected_error_is_between_its_bounds(seed):
    rng = np.random.default_rng(seed)
    n, d, r = 8 + seed % 7, 6 + 3 * (seed % 5), 1 + seed % 5
    noise = (0.02, 0.5, 3.0)[seed % 3]
    X = low_rank(seed, n, d)
    sensors = SensorSelector(r, noise=noise).fit(X)
    assert sensors.error_everywhere_ <= sensors.least_error_ * (1 + 1e-9)
    assert sensors.least_error_ <= sensors.error_ * (1 + 1e-9)
    centred = X - X.mean(axis=0)
    chosen = rng.choice(d, r, replace=False)
    any_choice = np.sqrt(expected_error(centred, list(chosen), noise))
    assert sensors.least_error_ <= any_choice * (1 + 1e-9)
    kept = certify_columns(X, chosen, ridge=n * noise**2, center=True)
    most = sensors.error_everywhere_ / np.sqrt(kept.eigenvalues_unscaled[0])
    assert any_choice <= most * (1 + 1e-7)


def test_the_least_error_is_reached_where_directions_are_columns():
    X = np.diag([3.0, 2.0, 1.0, 0.5])
    least = least_error(np.array([9.0, 4.0, 1.0, 0.25]), 2, 0.7, 4, 4)
    np.testing.assert_allclose(least**2, expected_error(X, [0, 1], 0.7))


def test_the_expected_error_is_that_of_drawn_noise():
    X = low_rank(3, 25, 15)
    sensors = SensorSelector(3, noise=0.4).fit(X)
    rng = np.random.default_rng(0)
    squares = [
        np.mean((X - sensors.reconstruct(read)) ** 2)
        for _ in range(4000)
        for read in [X[:, sensors.selected_] + 0.4 * rng.standard_normal((25, 3))]
    ]
    np.testing.assert_allclose(np.mean(squares), sensors.error_**2, rtol=0.01)


def test_moving_never_harms_and_no_single_move_is_left():
    for seed in range(5):
        X = low_rank(seed, 20, 25, rank=6)
        first = SensorSelector(5, noise=0.3, move=False).fit(X)
        moved = SensorSelector(5, noise=0.3).fit(X)
        assert moved.error_ <= first.error_ * (1 + 1e-12)
        centred = X - X.mean(axis=0)
        chosen = moved.selected_.tolist()
        for t in range(5):
            for j in set(range(25)) - set(chosen):
                other = chosen[:t] + [j] + chosen[t + 1 :]
                found = np.sqrt(expected_error(centred, other, 0.3))
                assert found >= moved.error_ * (1 - 1e-8)


def test_a_sensor_of_less_noise_is_preferred():
    X = low_rank(4, 30, 6, rank=1, rest=0.01)
    X[:, 3] = X[:, 0]
    noise = np.array([1.0, 1.0, 1.0, 0.1, 1.0, 1.0])
    scaled = X / np.abs(X - X.mean(axis=0)).max(axis=0)
    assert SensorSelector(1, noise=noise).fit(scaled).selected_.tolist() == [3]


def test_constraints_are_kept_to_and_columns_closed_are_rebuilt_all_the_same():
    positions = np.array([(i // 8, i % 8) for i in range(64)])
    costs = 1.0 + np.arange(64) % 3
    rules = Constraints(positions=positions, spacing=2.5, costs=costs, budget=12)
    sensors = SensorSelector(6, noise=1.0, exclude=[20, 21, 42], constraints=rules)
    sensors.fit(DIGITS)
    at = sensors.selected_
    assert costs[at].sum() <= 12 and not set(at) & {20, 21, 42}
    apart = np.linalg.norm(positions[at, None] - positions[None, at], axis=2)
    assert apart[np.triu_indices(len(at), 1)].min() >= 2.5
    assert sensors.error_ > SensorSelector(6, noise=1.0).fit(DIGITS).error_
    assert 0.3 < sensors.explained_[21] < 1


def test_one_sensor_of_each_group():
    groups = np.arange(64) // 16
    rules = Constraints(exactly_one=groups)
    chosen = SensorSelector(4, noise=1.0, constraints=rules).fit(DIGITS).selected_
    assert sorted(groups[chosen]) == [0, 1, 2, 3]


def test_fewer_sensors_than_asked_for_are_told():
    rules = Constraints(costs=np.full(64, 3.0), budget=10)
    with pytest.warns(UserWarning, match="3 of 5 sensors"):
        chosen = SensorSelector(5, constraints=rules).fit(DIGITS).selected_
    assert len(chosen) == 3


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, pd.DataFrame, np.float32])
def test_other_forms_of_the_same_table(form):
    X = np.rint(low_rank(5, 40, 12) * 4)
    for estimator in (Reconstructor([0, 3]), SensorSelector(3, noise=0.5)):
        dense = clone(estimator).fit(X)
        other = clone(estimator).fit(form(X))
        np.testing.assert_array_equal(dense.selected_, other.selected_)
        np.testing.assert_allclose(dense.explained_, other.explained_, atol=1e-5)
        read = other.transform(form(X))
        np.testing.assert_allclose(
            other.reconstruct(read), dense.reconstruct(X[:, dense.selected_]), rtol=1e-5
        )


def test_large_means_and_units_change_nothing():
    X = low_rank(6, 30, 20, mean=0.0)
    plain = SensorSelector(4, noise=0.3).fit(X)
    moved = SensorSelector(4, noise=0.3e6).fit(1e6 * X + 1e9)
    np.testing.assert_array_equal(plain.selected_, moved.selected_)
    np.testing.assert_allclose(plain.errors_, moved.errors_ / 1e6, rtol=1e-6)


@pytest.mark.parametrize("noise", [1e-12, 1e-3, 1e3])
def test_very_small_and_very_large_noise(noise):
    X = low_rank(7, 30, 20)
    sensors = SensorSelector(4, noise=noise).fit(X)
    assert len(set(sensors.selected_)) == 4
    assert np.isfinite(sensors.errors_).all()
    assert sensors.least_error_ <= sensors.error_ * (1 + 1e-6)


def test_the_error_of_the_share_is_that_of_a_ratio_of_sums():
    X = low_rank(12, 25, 10, rest=1.0)
    fitted = Reconstructor([0, 1, 2]).fit(X)
    lost, whole = np.zeros(25), np.zeros(25)
    for i in range(25):
        others = np.delete(X, i, axis=0)
        mean = others.mean(axis=0)
        C = (others - mean)[:, :3]
        B = np.linalg.solve(C.T @ C + fitted.ridge_ * np.eye(3), C.T @ (others - mean))
        lost[i] = np.sum((X[i] - mean - (X[i] - mean)[:3] @ B)[3:] ** 2)
        whole[i] = np.sum((X[i] - mean) ** 2)
    influence = (lost - lost.sum() / whole.sum() * whole) / whole.mean()
    expected = np.std(influence, ddof=1) / np.sqrt(25)
    np.testing.assert_allclose(fitted.share_error_, expected, rtol=1e-9)


def test_without_a_word_the_noise_is_a_tenth_of_the_deviation():
    X = low_rank(13, 30, 8)
    deviation = np.sqrt(np.mean((X - X.mean(axis=0)) ** 2))
    np.testing.assert_allclose(SensorSelector(2).fit(X).noise_, 0.1 * deviation)


@pytest.mark.parametrize("seed", range(6))
def test_the_least_error_holds_for_sensors_of_different_noise(seed):
    rng = np.random.default_rng(seed)
    X = low_rank(seed, 20, 12)
    noise = rng.uniform(0.05, 2, 12)
    sensors = SensorSelector(3, noise=noise).fit(X)
    A = X - X.mean(axis=0)
    for _ in range(20):
        S = rng.choice(12, 3, replace=False)
        C = A[:, S] / noise[S]
        lost = np.trace(np.linalg.solve(C @ C.T + 20 * np.eye(20), A @ A.T))
        assert sensors.least_error_ <= np.sqrt(lost / 12) * (1 + 1e-9)
        assert sensors.error_everywhere_ <= np.sqrt(lost / 12) * (1 + 1e-9)
    # one very quiet sensor at the leading direction comes near the bound
    quiet = np.diag([3.0, 1.0, 0.5, 0.1])
    uneven = np.array([0.1, 5.0, 5.0, 5.0])
    one = SensorSelector(1, noise=uneven).fit(np.vstack([quiet, -quiet]))
    assert one.selected_.tolist() == [0]
    np.testing.assert_allclose(one.least_error_, one.error_, rtol=1e-9)


def test_under_a_budget_money_goes_where_it_does_most():
    X = low_rank(14, 40, 30, rank=8)
    X[:, ::2] *= 1.5
    costs = np.where(np.arange(30) % 2, 1.0, 10.0)
    rules = Constraints(costs=costs, budget=10)
    sensors = SensorSelector(10, noise=0.3, constraints=rules, move=False).fit(X)
    cheap = SensorSelector(10, noise=0.3, exclude=costs > 1, move=False).fit(X)
    assert len(sensors.selected_) == 10 and costs[sensors.selected_].sum() <= 10
    assert sensors.error_ <= cheap.error_ * 1.05


def test_copies_and_constant_columns():
    X = low_rank(8, 30, 6)
    X = np.hstack([X, X, np.full((30, 2), 7.0)])
    sensors = SensorSelector(3, noise=0.1).fit(X)
    assert not set(sensors.selected_) & {12, 13}
    np.testing.assert_array_equal(sensors.explained_[[12, 13]], 1)
    np.testing.assert_allclose(sensors.explained_[:6], sensors.explained_[6:12])
    every = SensorSelector(14, noise=0.1).fit(X)
    assert len(every.selected_) == 14


def test_any_selector_may_choose_and_sees_the_labels():
    X, y = load_digits(return_X_y=True)
    by_f = Reconstructor(SelectKBest(k=12)).fit(X[:, X.std(axis=0) > 0], y)
    assert len(by_f.selected_) == 12 and by_f.selector_.scores_ is not None
    by_bss = Reconstructor(BSSSelector(12, center=True)).fit(X)
    assert by_bss.share_ > 0.5
    assert len(Reconstructor().fit(X).selected_) == 32
    model = make_pipeline(Reconstructor(BSSSelector(12)), RidgeClassifier())
    assert model.fit(X, y).score(X, y) > 0.6


def test_names_lead_the_way():
    frame = pd.DataFrame(low_rank(9, 30, 5), columns=list("abcde"))
    fitted = Reconstructor(["d", "b"]).fit(frame)
    assert fitted.get_feature_names_out().tolist() == ["b", "d"]
    assert fitted.set_output(transform="pandas").transform(frame).columns[0] == "b"
    with pytest.raises(ValueError, match="those chosen are b, d"):
        fitted.reconstruct(frame[["d", "b"]])
    assert fitted.reconstruct(frame[["b", "d"]]).shape == (30, 5)


@pytest.mark.parametrize(
    "call, match",
    [
        (lambda X: Reconstructor([]).fit(X), "selector is empty"),
        (lambda X: Reconstructor([99]).fit(X), "selector"),
        (lambda X: Reconstructor(BSSSelector).fit(X), "BSSSelector()"),
        (lambda X: Reconstructor([0], noise=0).fit(X), "noise=0 "),
        (lambda X: Reconstructor([0], noise=[1.0, 2.0]).fit(X), "noise .* 12 of them"),
        (lambda X: Reconstructor([0], noise=12 * ["a"]).fit(X), "noise .* 12 of them"),
        (lambda X: SensorSelector(noise=-1).fit(X), "noise=-1 "),
        (lambda X: SensorSelector(0).fit(X), "n_features_to_select=0 .* 1 to 12"),
        (lambda X: SensorSelector("auto").fit(X), "n_features_to_select='auto'"),
        (lambda X: SensorSelector(13).fit(X), "n_features_to_select=13"),
        (lambda X: SensorSelector(exclude=range(12)).fit(X), "exclude"),
        (lambda X: SensorSelector().fit(np.ones((5, 3))), "constant"),
        (lambda X: SensorSelector(2, move=1).fit(X), "move=1"),
        (
            lambda X: Reconstructor([0, 1]).fit(X).reconstruct(X),
            "2 columns were chosen",
        ),
    ],
)
def test_what_is_not_possible_is_told(call, match):
    with pytest.raises((ValueError, TypeError), match=match):
        call(low_rank(10, 30, 12))


def test_the_sea_is_loaded_or_what_is_missing_is_named(monkeypatch):
    pytest.importorskip("h5py", reason="the sea is read with h5py")
    pytest.importorskip("iris_sample_data", reason="the sea comes with it")
    sea = load_sea_temperature()
    assert sea.data.shape == (54, 5721) == (len(sea.months), len(sea.longitude))
    assert 15 < sea.data.min() and sea.data.max() < 32
    assert (sea.months[0], sea.months[-1]) == ("2006-04", "2010-09")
    assert len(set(sea.feature_names)) == 5721
    # the warm pool and the cold tongue
    mean = dict(zip(sea.feature_names, sea.data.mean(axis=0)))
    assert mean["0.6N 150.0E"] > 29 and mean["0.6S 87.5W"] < 26
    monkeypatch.setattr("fsel_book.reconstruction.find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install h5py iris-sample-data"):
        load_sea_temperature()


def test_the_record_is_that_of_the_script():
    path = root / "fsel_book" / "records" / "sensors.csv"
    runs = pd.read_csv(path, comment="#")
    source = (root / "tests" / "benchmarks" / "sensors.py").read_text()
    assert set(runs.data) == {"sea", "air", "faces"} and set(runs.r) == {5, 10, 20, 40}
    assert all(f'"{method}"' in source for method in set(runs.method))
    assert (runs.groupby(["data", "r"]).method.nunique() == runs.method.nunique()).all()
    assert np.all(runs.expected >= runs.least * (1 - 1e-3))


@pytest.mark.skipif(
    importlib.util.find_spec("pysensors") is None, reason="PySensors is not installed"
)
def test_the_script_runs():
    sys.path.insert(0, str(root / "tests" / "benchmarks"))
    sensors = importlib.import_module("sensors")
    X = low_rank(11, 24, 50)
    found = list(sensors.one_split("sea", X, np.arange(6), 0))
    assert len({of for of, _ in found}) == len(found) == 4 * 9


# ---------------------------------------------------------------- in blocks

FITTED = "explained_ errors_ share_ share_error_ ridge_ mean_ coef_ deviations_".split()


def counts(seed, n, d):
    """Small counts, most of them zero, with copies, multiples and a constant column."""
    rng = np.random.default_rng(seed)
    topics = rng.random((n, 4)) ** 3 @ rng.random((4, d)) ** 4
    X = rng.poisson(topics).astype(float)
    return np.hstack([X, X[:, :1], 3 * X[:, 1:2], np.full((n, 1), 0.1)])


def cut(X, axis, width, stored=np.asarray):
    def pieces():
        for a in range(0, X.shape[axis], width):
            yield stored(X[a : a + width] if axis == 0 else X[:, a : a + width])

    return as_blocks(pieces, axis=axis)


def assert_same_reconstruction(found, known, tolerance=1e-7):
    np.testing.assert_array_equal(found.selected_, known.selected_)
    for name in FITTED:
        expected = getattr(known, name)
        atol = tolerance * np.max(np.abs(expected))
        np.testing.assert_allclose(
            getattr(found, name), expected, rtol=0, atol=atol, err_msg=name
        )


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("noise", [None, 0.3, "each"])
@pytest.mark.parametrize("stored", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("n, d", [(300, 40), (25, 60)])
def test_blocks_give_what_memory_gives(axis, noise, stored, n, d):
    X = counts(0, n, d)
    noise = np.linspace(0.1, 0.9, d + 3) if noise == "each" else noise
    known = Reconstructor([3, 1, 12, d], noise=noise).fit(X)
    for width in (7, 1000):
        found = clone(known).fit(cut(X, axis, width, stored))
        assert_same_reconstruction(found, known)
    np.testing.assert_array_equal(
        found.transform(cut(X, axis, 9, stored)), known.transform(X)
    )


def test_pieces_of_every_cut_are_added_up():
    """`Blocks` joins small blocks: here `add` sees each alone, and merges."""
    X = counts(1, 100, 30)
    known = Reconstructor([3, 1, 12]).fit(X)

    class Apart(Blocks):
        def __init__(self, axis, width):
            self.axes, self.width, self.shape = (axis,), width, X.shape

        def read(self, axis):
            raise NotImplementedError

        def reduce(self, axis, summary):
            found = []
            for a in range(0, X.shape[axis], self.width):
                some = slice(a, a + self.width)
                A = sp.csc_array(X[some].T if axis == 0 else X[:, some])
                found.append(copy.deepcopy(summary))
                found[-1].add(a, A if a else A.toarray())
            first, *others = found[::-1]
            for other in others:
                first.merge(other)
            return first

    for axis, width in ((0, 99), (0, 30), (0, 1), (1, 8), (1, 1)):
        assert_same_reconstruction(clone(known).fit(Apart(axis, width)), known)
    for form in (sp.csr_array, sp.csc_array):
        assert_same_reconstruction(clone(known).fit(form(X)), known)


def test_large_means_in_blocks_of_samples_lose_nothing():
    X = low_rank(3, 200, 12, mean=1e6)
    known = Reconstructor([1, 5]).fit(X)
    assert_same_reconstruction(clone(known).fit(cut(X, 0, 50)), known, 1e-6)


def test_a_selector_chooses_from_the_same_blocks(tmp_path):
    X = sp.csc_array(counts(2, 80, 400))
    path = tmp_path / "words.npz"
    sp.save_npz(path, X, compressed=False)
    chosen = BSSSelector(12, rank=3, rule="largest-norm")
    known = Reconstructor(chosen).fit(X.toarray())
    found = Reconstructor(chosen).fit(as_blocks(path))
    assert_same_reconstruction(found, known)
    assert found.selector_.certificate_.holds
    assert len(Reconstructor().fit(as_blocks(path)).selected_) == 50
    frame = pd.DataFrame(X.toarray()[:, :3], columns=list("abc"))
    named = Reconstructor(["c", "a"]).fit(as_blocks(frame))
    assert named.get_feature_names_out().tolist() == ["a", "c"]


def test_dask_arrays_give_what_memory_gives():
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    import dask

    X = counts(4, 200, 90)
    known = Reconstructor([1, 5, 40]).fit(X)
    array = da.from_array(X, chunks=(70, 40))
    for axis in (0, 1):
        found = clone(known).fit(as_blocks(array, axis=axis))
        assert_same_reconstruction(found, known)
    sparse = da.concatenate(
        [
            da.from_delayed(
                dask.delayed(sp.csc_array)(X[:, a : a + 31]),
                (200, min(31, X.shape[1] - a)),
                meta=sp.csc_array((0, 0)),
            )
            for a in range(0, X.shape[1], 31)
        ],
        axis=1,
    )
    assert_same_reconstruction(clone(known).fit(as_blocks(sparse, axis=1)), known)


def test_what_blocks_cannot_do_is_told():
    X = counts(5, 60, 20)
    with pytest.raises(ValueError, match="give the samples"):
        Reconstructor([1]).fit(GramMatrix().partial_fit(X))
    with pytest.raises(ValueError, match="selector"):
        Reconstructor([99]).fit(cut(X, 0, 10))
    fitted = Reconstructor([1]).fit(X)
    with pytest.raises(ValueError, match="noise .* 23 of them"):
        fitted.set_params(noise=[1.0, 2.0]).fit(cut(X, 1, 10))
    assert not hasattr(fitted, "coef_")


def test_stand_ins_are_those_of_the_standardized_regression():
    X = counts(6, 400, 20)
    fitted = Reconstructor([0, 1, 7]).fit(X)
    columns, parts = fitted.stand_ins(2)
    assert columns.shape == parts.shape == (23, 2)
    # a copy and a multiple of chosen ones, and the chosen ones themselves
    assert columns[[20, 21, 0, 1, 7], 0].tolist() == [0, 1, 0, 1, 7]
    np.testing.assert_allclose(parts[[20, 21, 0], 0], 1, rtol=0.05)
    np.testing.assert_array_equal(parts[22], 0)
    Z = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    exact = np.linalg.lstsq(Z[:, [0, 1, 7]], Z[:, 5])[0]
    np.testing.assert_allclose(
        parts[5], exact[np.argsort(-np.abs(exact))[:2]], atol=0.02
    )
    for k in (0, 4, "two"):
        with pytest.raises(ValueError, match="k="):
            fitted.stand_ins(k)
