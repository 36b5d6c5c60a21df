"""The methods beside this book's, their laws, and the record that compares them all."""

import csv
import importlib
import sys
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest

from fsel_book.papers.landscape import (
    greedy_columns,
    randomly_pivoted_cholesky,
    volume_sampling,
)

root = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(root / "tests" / "benchmarks"))
landscape = importlib.import_module("landscape")
record = root / "fsel_book" / "records" / "landscape.csv"
draws = pytest.mark.parametrize("draw", [volume_sampling, randomly_pivoted_cholesky])


def some_columns(n=6, d=8, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * np.geomspace(3, 0.2, d)


def residual(X, S):
    Q = np.linalg.qr(X[:, list(S)])[0]
    return np.sum((X - Q @ (Q.T @ X)) ** 2)


def volume(X, S):
    """Squared, of no columns one."""
    C = X[:, list(S)]
    return np.linalg.det(C.T @ C)


def agree(found, law, names):
    """Frequencies of `found` and probabilities, within five standard errors."""
    share = np.array([found.count(name) for name in names]) / len(found)
    return np.all(np.abs(share - law) < 5 * np.sqrt(law / len(found)) + 2e-3)


@pytest.mark.parametrize("r", [1, 2, 4])
def test_volume_sampling_draws_sets_by_their_volume(r):
    X = some_columns()
    sets = list(combinations(range(8), r))
    law = np.array([volume(X, S) for S in sets])
    rng = np.random.default_rng(1)
    found = [tuple(sorted(volume_sampling(X, r, rng))) for _ in range(3000)]
    assert agree(found, law / law.sum(), sets)


def test_pivoting_draws_by_what_is_left():
    X = some_columns()
    pairs = list(permutations(range(8), 2))
    first = np.sum(X**2, axis=0) / np.sum(X**2)
    law = [
        first[i] * volume(X, (i, j)) / volume(X, (i,)) / residual(X, (i,))
        for i, j in pairs
    ]
    rng = np.random.default_rng(1)
    found = [tuple(randomly_pivoted_cholesky(X, 2, rng)) for _ in range(3000)]
    assert agree(found, np.array(law), pairs)


@pytest.mark.parametrize("seed", range(5))
def test_greedy_takes_the_largest_gain(seed):
    X = some_columns(seed=seed)
    chosen = greedy_columns(X, 5)
    for i in range(5):
        left = {
            j: residual(X, [*chosen[:i], j]) for j in range(8) if j not in chosen[:i]
        }
        assert chosen[i] == min(left, key=left.get)


@draws
def test_columns_that_are_drawn_differ_and_copies_do_not_meet(draw):
    """Of two equal columns one has no volume beside the other."""
    X = some_columns()
    X = np.hstack([X, X])
    rng = np.random.default_rng(0)
    for _ in range(50):
        chosen = draw(X, 6, rng)
        assert len({j % 8 for j in chosen}) == 6
    assert len({j % 8 for j in greedy_columns(X, 6)}) == 6


@draws
def test_the_mean_residual_is_below_its_bound(draw):
    """(r + 1) / (r + 1 - k) for volumes; for pivoting the mean after each draw."""
    X = some_columns(20, 40, 3)
    lam = np.linalg.svd(X, compute_uv=False) ** 2
    r = 6
    if draw is volume_sampling:
        bound = min((r + 1) / (r + 1 - k) * lam[k:].sum() for k in range(1, r + 1))
    else:
        left = lam.copy()
        for _ in range(r):
            left = left - left**2 / left.sum()
        bound = left.sum()
    rng = np.random.default_rng(0)
    found = [residual(X, draw(X, r, rng)) for _ in range(300)]
    error = np.std(found) / 300**0.5
    assert lam[r:].sum() < np.mean(found) < bound + 3 * error


def stored():
    lines = record.read_text(encoding="utf-8").splitlines()
    values = csv.DictReader(line for line in lines if not line.startswith("#"))
    head = dict(line[2:].split(": ", 1) for line in lines if line.startswith("#"))
    return head, list(values)


def test_the_record_says_what_it_was_measured_with():
    head, _ = stored()
    assert head["record"] == "landscape" and int(head["splits"]) >= 3
    assert all(f"{peer} " in head["versions"] for peer in landscape.peers)


def test_the_record_has_every_method_on_every_set():
    _, lines = stored()
    methods = {line["method"] for line in lines}
    assert len(lines) == len(methods) * len(landscape.sets)
    for data, (r, k) in landscape.sets.items():
        of_set = [line for line in lines if line["data"] == data]
        assert {line["method"] for line in of_set} == methods
        assert {(int(line["r"]), int(line["rank"])) for line in of_set} == {(r, k)}
    with_weights = {line["method"] for line in lines if line["weighted"]}
    assert with_weights == {
        "BSS",
        "ridge barriers",
        "DSF",
        "leverage sampling",
        "ridge leverage sampling",
    }
    assert {line["package"] for line in lines} >= {*landscape.peers, "scipy"}


def test_the_record_is_made_of_lines_like_these():
    found = {}
    for (*_, method, _), line in landscape.one_split("wine", 0, 6, 2):
        found[method] = line
        assert set(line) >= set(landscape.measures)
        assert line["plain"] >= 1 and line["span"] > 0
    _, lines = stored()
    assert set(found) <= {line["method"] for line in lines}
    others = [line["span"] for name, line in found.items() if name != "all columns"]
    assert found["greedy"]["span"] >= max(others) - 1e-9
    assert found["exchanges"]["plain"] <= found["BSS"]["plain"]
