"""The kernel methods beside elimination by the risk: their literal versions, and the
record that compares them.
"""

import csv
import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from fsel_book.datasets import make_nested_square
from fsel_book.papers.kernel_peers import (
    ConditionalCovariance,
    ccm,
    ccm_weights,
    centred_grams,
    gram_of_classes,
    hsic_lasso,
    onto_capped_simplex,
)

root = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(root / "tests" / "benchmarks"))
kernel_peers = importlib.import_module("kernel_peers")
record = root / "fsel_book" / "records" / "kernel_peers.csv"


def some_data(n=30, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.arange(1, d + 1)
    return X, rng.standard_normal((n, 2))


# ---------------------------------------------------------------- HSIC-Lasso


def test_grams_are_centred_and_of_norm_one():
    X, _ = some_data()
    for gram in [*centred_grams(X), gram_of_classes(np.arange(30) % 3)]:
        K = gram.reshape(30, 30)
        assert np.abs(K - K.T).max() < 1e-12 and np.abs(K.sum(axis=0)).max() < 1e-12
        assert abs(np.linalg.norm(K) - 1) < 1e-12
    assert np.linalg.eigvalsh(centred_grams(X)[0].reshape(30, 30))[0] > -1e-12


def test_units_of_features_do_not_matter():
    X, _ = some_data()
    assert np.allclose(centred_grams(X), centred_grams(X * 7 + 3))


def test_hsic_lasso_finds_the_two_features_of_a_square():
    for seed in range(5):
        X, y, relevant = make_nested_square(200, 10, random_state=seed)
        assert set(hsic_lasso(X, y, 2)) == set(relevant)


def test_the_first_feature_is_the_most_dependent_one():
    X, y, _ = make_nested_square(60, 8, random_state=1)
    gains = centred_grams(X) @ gram_of_classes(y)
    assert hsic_lasso(X, y, 1) == [np.argmax(gains)]
    assert len(set(hsic_lasso(X, y, 6))) == 6


def test_a_copy_of_a_feature_is_not_taken_before_another_of_use():
    """What a Lasso has over a list of single features."""
    X, y, relevant = make_nested_square(200, 6, random_state=0)
    best = np.argmax(centred_grams(X) @ gram_of_classes(y))
    with_copy = np.column_stack([X, X[:, best] + 0.01 * X[:, 5]])
    gains = centred_grams(with_copy) @ gram_of_classes(y)
    assert set(np.argsort(-gains)[:2]) == {best, 6}
    (other,) = set(relevant) - {best}
    assert other in hsic_lasso(with_copy, y, 2)


def nonnegative_lasso(G, c, price, n_sweeps=3000):
    """Coordinate by coordinate, of 1/2 a'Ga - c'a + price * sum of a, a at least 0."""
    a = np.zeros(len(c))
    for _ in range(n_sweeps):
        for j in range(len(a)):
            a[j] = max(0, a[j] + (c[j] - price - G[j] @ a) / G[j, j])
    return a


def test_the_features_are_those_of_a_nonnegative_lasso():
    n_compared = 0
    for seed in range(6):
        X, y, _ = make_nested_square(40, 12, random_state=seed)
        grams = centred_grams(X)
        gains = grams @ gram_of_classes(y)
        for price in gains.max() * 0.9 ** np.arange(1, 40, 3):
            active = nonnegative_lasso(grams @ grams.T, gains, price, 300) > 1e-9
            assert (chosen := set(hsic_lasso(X, y, active.sum())))
            n_compared += chosen == set(np.flatnonzero(active))
    # a feature may leave the path again, and come back later
    assert n_compared >= 70 and hsic_lasso(X, y, 1).shape == (1,)


def test_classes_of_any_size_count_the_same():
    y = np.repeat([0, 1, 2], [4, 6, 20])
    H = np.eye(30) - 1 / 30
    sizes = np.bincount(y)[y]
    K = H @ ((y[:, None] == y) / np.sqrt(np.outer(sizes, sizes))) @ H
    assert np.allclose(gram_of_classes(y), K.ravel() / np.linalg.norm(K))


def test_features_come_in_the_order_of_the_path():
    """And not in that of their dependence, which a copy would spoil."""
    n_different = 0
    for seed in range(6):
        X, y, _ = make_nested_square(200, 6, random_state=seed)
        X = np.column_stack([X, X[:, :2] + 0.3 * X[:, 4:]])
        assert set(hsic_lasso(X, y, 4)[:2]) == set(hsic_lasso(X, y, 2))
        gains = centred_grams(X) @ gram_of_classes(y)
        chosen = hsic_lasso(X, y, 5)
        n_different += list(chosen) != sorted(chosen, key=lambda j: -gains[j])
    assert n_different


def test_a_weight_that_would_be_negative_stays_out():
    """Of many features on few samples a Lasso with signs would take such ones soon."""
    n_compared = 0
    for seed in range(4):
        X, y, _ = make_nested_square(16, 30, random_state=seed)
        grams = centred_grams(X)
        G, c = grams @ grams.T, grams @ gram_of_classes(y)
        for price in c.max() * np.array([0.5, 0.3, 0.2, 0.1]):
            active = nonnegative_lasso(G, c, price, 500) > 1e-8
            chosen = set(hsic_lasso(X, y, active.sum()))
            n_compared += chosen == set(np.flatnonzero(active))
    assert n_compared >= 14, n_compared


def test_the_package_agrees_where_it_is_installed():
    pytest.importorskip("pyHSICLasso")
    for seed in range(5):
        X, y, _ = make_nested_square(60, 12, random_state=seed)
        theirs = kernel_peers.hsic_lasso_of_peer(X, y, 4, True)
        assert set(theirs) == set(hsic_lasso(X, y, 4))


# ---------------------------------------------------------------- CCM


def test_the_trace_is_that_of_the_definition():
    X, Y = some_data()
    w = np.array([0.2, 0.9, 0.0, 1.0, 0.5])
    objective = ConditionalCovariance(X, Y, 0.01)
    Z = X / X.std(axis=0)
    lengths = [np.linalg.norm(Z[i] - Z[j]) for i in range(30) for j in range(i)]
    K = np.array([[np.linalg.norm((a - b) * w) for b in Z] for a in Z])
    K = np.exp(-(K**2) / (2 * np.median(lengths) ** 2))
    H = np.eye(30) - 1 / 30
    direct = np.trace(Y.T @ H @ np.linalg.inv(H @ K @ H + 0.3 * np.eye(30)) @ H @ Y)
    assert abs(objective(w)[0] - direct) < 1e-9 * direct


def test_the_gradient_is_that_of_the_trace():
    X, Y = some_data()
    objective = ConditionalCovariance(X, Y, 0.01)
    w = np.array([0.2, 0.9, 0.1, 1.0, 0.5])
    near = approx_fprime(w, lambda w: objective(w)[0], 1e-6)
    assert np.allclose(objective(w)[1], near, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("r", [1, 2.5, 4])
def test_the_projection_is_the_nearest_point(r):
    rng = np.random.default_rng(0)
    for _ in range(20):
        v = 2 * rng.standard_normal(6)
        w = onto_capped_simplex(v, r)
        assert w.min() >= 0 and w.max() <= 1 and w.sum() <= r + 1e-9
        others = rng.random((200, 6))
        others = others[others.sum(axis=1) <= r]
        # an obtuse angle at the nearest point of a convex set
        assert ((others - w) @ (v - w)).max(initial=-1) < 1e-9


def test_the_weights_lower_the_trace_and_stay_allowed():
    X, y, _ = make_nested_square(60, 6, random_state=0)
    Y = (y[:, None] == [-1, 1]).astype(float)
    w = ccm_weights(X, Y, 2)
    objective = ConditionalCovariance(X, Y, 0.001)
    assert w.min() >= 0 and w.max() <= 1 and w.sum() <= 2 + 1e-9
    start = objective(np.full(6, 2 / 6))[0]
    value, slope = objective(w)
    assert value < 0.99 * start
    step = 1e-3 / np.abs(slope).max()
    assert np.abs(onto_capped_simplex(w - step * slope, 2) - w).max() < 1e-3


def test_no_step_of_ccm_goes_uphill():
    X, y, _ = make_nested_square(60, 6, random_state=0)
    Y = (y[:, None] == [-1, 1]).astype(float)
    for eps in (1e-2, 1e-3, 1e-5):
        objective = ConditionalCovariance(X, Y, eps)
        values = [
            objective(ccm_weights(X, Y, 2, eps, n_steps))[0] for n_steps in range(12)
        ]
        assert np.all(np.diff(values) <= 1e-9 * values[0])


def test_ccm_finds_a_sign_of_a_product():
    for seed in range(3):
        X, y, relevant = kernel_peers.make_sign_of_product(100, 8, random_state=seed)
        assert set(ccm(X, (y[:, None] == [-1, 1]).astype(float), 2)) == set(relevant)


# ---------------------------------------------------------------- the record


def stored():
    lines = record.read_text(encoding="utf-8").splitlines()
    values = csv.DictReader(line for line in lines if not line.startswith("#"))
    head = dict(line[2:].split(": ", 1) for line in lines if line.startswith("#"))
    return head, list(values)


def test_the_record_says_what_it_was_measured_with():
    head, lines = stored()
    assert head["record"] == "kernel_peers"
    assert all(f"{peer} " in head["versions"] for peer in kernel_peers.peers)
    runs = {(line["data"] in kernel_peers.makers, int(line["runs"])) for line in lines}
    splits = int(head["splits"])
    assert runs == {(True, 4 * splits), (False, splits)} and splits >= 5


def test_the_record_has_every_method_on_every_set():
    _, lines = stored()
    methods = {line["method"] for line in lines} - {"all features"}
    assert methods >= {*kernel_peers.methods(True, 0), "HSIC-Lasso"}
    found = [(line["data"], line["r"], line["method"]) for line in lines]
    sizes = [
        *(
            (data, (len(make(n, d, random_state=0)[2]),))
            for data, (make, n, d, _) in kernel_peers.makers.items()
        ),
        *kernel_peers.real.items(),
    ]
    expected = {
        (data, str(r), method) for data, rs in sizes for r in rs for method in methods
    }
    expected |= {
        (line["data"], line["features"], "all features")
        for line in lines
        if line["data"] in kernel_peers.real
    }
    assert set(found) == expected and len(found) == len(expected)


def test_the_record_has_figures_where_they_belong():
    _, lines = stored()
    for line in lines:
        known = line["data"] in kernel_peers.makers
        assert bool(line["share"]) == known and bool(line["error"]) != known
        assert 0 <= float(line["share"] or line["error"]) <= 100
        assert float(line["spread"]) >= 0
        assert (line["method"] == "all features") != bool(line["seconds"])


def test_the_literal_version_finds_what_the_package_does():
    _, lines = stored()
    by_method = {
        (line["data"], line["r"], line["method"]): line["share"] or line["error"]
        for line in lines
    }
    pairs = [key for key in by_method if key[2] == "HSIC-Lasso"]
    assert pairs
    for data, r, method in pairs:
        ours = by_method[data, r, f"{method}, literal"]
        assert abs(float(by_method[data, r, method]) - float(ours)) < 5


def test_the_record_is_made_of_lines_like_these():
    found = {
        method: line for (*_, method, _), line in kernel_peers.one_draw("square", 0)
    }
    assert all(line["share"] in (0, 50, 100) for line in found.values())
    assert found["risk-RFE"]["share"] == 100 and found["information"]["share"] == 100
