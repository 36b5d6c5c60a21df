"""Groups of columns and kernels at a ridge: the theorem, the literal search, the fast
one, and the two selectors.
"""

import time
import warnings
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
import scipy.sparse as sp
import sklearn
from cases import refused, swept_seeds
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_wine
from sklearn.feature_selection import f_classif
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import fsel_book.groups
from fsel_book import (
    AdditiveKernelSelector,
    Blocks,
    BSSSelector,
    Constraints,
    GroupSelector,
    Sampling,
    as_blocks,
    certify,
)
from fsel_book.groups import (
    ColumnGroups,
    GroupBarriers,
    GroupKernels,
    column_groups,
    columns_of,
    factored_promise,
    fill_groups,
    first_multiple_groups,
    group_bss,
    group_bss_reference,
    group_scores,
    kernel_bss,
    pivoted_cholesky,
    prefix_groups,
    usable_groups,
)
from fsel_book.kernels import RBFKernel
from fsel_book.out_of_core import GramMatrix, TriangularFactor
from fsel_book.sparsification import bss, ridge_promise
from fsel_book.spectra import ridge_of_dimension, ridge_space, row_space

KINDS = ["plain", "heavy", "zeros", "copies", "one group", "alone"]


def problem(seed):
    """Data of one of these kinds in groups, a number of draws, and a ridge for which
    the theorem holds.
    """
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    n = int(rng.integers(2, 20))
    d = int(rng.integers(4, 50))
    X = rng.standard_normal((n, d))
    groups = rng.integers(0, rng.integers(1, d + 1), d)
    if kind == "heavy":
        X *= rng.pareto(0.8, d)
    elif kind == "zeros":
        X[:, rng.random(d) < 0.4] = 0
        X[0, 0] = 1
    elif kind == "copies":
        half = d // 2
        X[:, half : 2 * half] = -X[:, :half]
        groups[half : 2 * half] = 100 + groups[:half]
    elif kind == "one group":
        groups[:] = 7
    elif kind == "alone":
        groups = np.arange(d)
    S = np.linalg.svd(X, compute_uv=False)
    S = S[S > 1e-9 * S[0]]
    r = int(rng.integers(1, len(np.unique(groups)) + 1))
    dimension = min(rng.uniform(0.1, 0.95) * r, 0.9 * len(S))
    return X, groups, r, ridge_of_dimension(S, dimension)


def true_interval(K, part, ridge):
    """The extreme eigenvalues of `part + ridge` relative to `K + ridge`."""
    at = ridge * np.eye(len(K))
    lam = scipy.linalg.eigh(part + at, K + at, eigvals_only=True)
    return lam[0], lam[-1]


# ---------------------------------------------------------------- the search


@swept_seeds(120, 1200)
def test_the_fast_search_is_the_literal_one_and_the_promise_holds(seeds):
    """Pick for pick, by three preferences; on the matrices themselves, for the ridge
    and larger ones.
    """
    for seed in seeds:
        X, labels, r, ridge = problem(seed)
        n_groups = len(np.unique(labels))
        scores = np.random.default_rng(seed).integers(0, 4, n_groups)
        preference = [{}, {"rule": "largest-norm"}, {"scores": scores + (seed % 2)}][
            seed // 6 % 3
        ]
        space = ridge_space(X, ridge)
        fast = group_bss(space, labels, r, **preference)
        literal = group_bss_reference(X, labels, r, ridge, **preference)
        assert_array_equal(fast.indices, literal.indices, err_msg=f"seed {seed}")
        assert_allclose(fast.weights, literal.weights, 1e-6, err_msg=f"seed {seed}")

        promise = ridge_promise(space.effective_dimension, r)
        sampling = columns_of(fast, labels)
        assert certify(space, sampling, promise).holds
        chosen = sampling.apply(X)
        for larger in (1.0, 30.0):
            low, high = true_interval(X @ X.T, chosen @ chosen.T, larger * ridge)
            assert promise.lower * (1 - 1e-6) < low and high < promise.upper * (
                1 + 1e-6
            )


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(2, 10),
    st.lists(st.integers(1, 6), min_size=1, max_size=9),
    st.integers(-9, 4),
)
def test_a_feasible_group_exists_whatever_was_taken(seed, n, sizes, log_ridge):
    """Both averages at each step, for any feasible pick, and the interval at the end."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, sum(sizes))) * rng.pareto(1.0, sum(sizes))
    space = ridge_space(X, np.linalg.norm(X, 2) ** 2 * 10.0**log_ridge)
    groups = column_groups(np.repeat(np.arange(len(sizes)), sizes), sum(sizes))
    r = int(space.effective_dimension / 0.95) + 1 + int(rng.integers(0, 5))
    rows = space.basis()
    barriers = GroupBarriers(space.shrinkage, r, groups)
    s = barriers.s
    weights = np.zeros(len(sizes))
    norms = groups.sums(np.sum(rows**2, axis=1))
    for _ in range(r):
        lower, upper = barriers.judge_groups(rows)
        assert upper.sum() <= (1 - s) * (1 + 1e-6)
        assert lower.sum() >= (1 - s) * (1 - 1e-6)
        feasible = (upper <= lower) & (norms > 1e-12 * norms.max())
        j = rng.choice(np.flatnonzero(feasible))
        weights[j] += barriers.add_group(rows[groups.columns(j)]) / (barriers.g * r)
    M = rows.T @ (weights[groups.codes, None] * rows) + np.diag(space.given)
    lam = np.linalg.eigvalsh(M)
    promise = ridge_promise(space.effective_dimension, r)
    assert promise.lower * (1 - 1e-6) < lam[0]
    assert lam[-1] < promise.upper * (1 + 1e-6)


@pytest.mark.parametrize("width", [1, 3, 9])
def test_many_directions_are_judged_as_few_are(width):
    """Split inverses, and dense ones where groups are wide, against plain inverses."""
    rng = np.random.default_rng(width)
    n, d, r = 60, 180, 6
    sigma = np.sort(rng.random(n) ** 6)[::-1]
    rows = np.linalg.qr(rng.standard_normal((d, n)))[0]
    D = sigma**2 / (sigma**2 + ridge_of_dimension(sigma, 3.0))
    rows = rows * np.sqrt(D)
    groups = column_groups(np.arange(d) // width, d)
    barriers = GroupBarriers(D, r, groups)
    assert (barriers.n_head is None) == (width == 9)
    s, g = barriers.s, barriers.g
    B = np.zeros((n, n))
    for tau in range(r):
        below = s * (tau + r) - g * tau * D
        above = g * s / (1 - s) * (tau + r) + g * tau * D
        N = np.linalg.inv(np.diag(below - D) + B)
        P = np.linalg.inv(np.diag(above + g * s / (1 - s) + g * D) - B)
        rise = np.trace(N * D - np.linalg.inv(np.diag(below) + B) * D)
        fall = np.trace(np.linalg.inv(np.diag(above) - B) * D - P * D)
        lower = groups.sums(np.sum(rows @ ((N * D) @ N / rise - N) * rows, axis=1))
        upper = groups.sums(np.sum(rows @ ((P * D) @ P / fall + P) * rows, axis=1))
        found = barriers.judge_groups(rows)
        assert_allclose(found, [lower, upper], rtol=1e-6, atol=1e-9)
        mine = rows[groups.columns(int(np.argmax(lower - upper)))]
        t = barriers.add_group(mine)
        B += t * mine.T @ mine


@pytest.mark.parametrize("seed", range(12))
def test_groups_of_one_column_are_columns(seed):
    X, _, r, ridge = problem(6 * seed + 5)
    space = ridge_space(X, ridge)
    for rule in ("best", "largest-norm"):
        groups = group_bss(space, None, r, rule)
        columns = bss(space, r, rule)
        assert_array_equal(groups.indices, columns.indices)
        assert_allclose(groups.weights, columns.weights, rtol=1e-6)
        assert certify(space, groups, ridge_promise(space.effective_dimension, r)).holds
    together = group_bss(space, np.zeros(X.shape[1]), r, "best")
    assert_array_equal(together.indices, [0])


def test_groups_whose_kernels_are_multiples_are_one():
    """Up to signs, the order of columns, and a rotation within the group. The largest
    stands for all, the first of equal ones, or that of largest score times leverage.
    """
    rng = np.random.default_rng(0)
    A = rng.standard_normal((9, 3))
    turned = A @ np.linalg.qr(rng.standard_normal((3, 3)))[0]
    parts = [A, -A[:, ::-1], turned, 1.5 * A, rng.standard_normal((9, 3))]
    X = np.hstack(parts)
    groups = column_groups(np.repeat(np.arange(5), 3), 15)
    assert_array_equal(first_multiple_groups(row_space(X), groups), [0, 0, 0, 0, 4])
    assert_array_equal(
        first_multiple_groups(row_space(sp.csr_array(X)), groups), [0, 0, 0, 0, 4]
    )
    space = ridge_space(X, 50.0)
    for scores, one in ((None, 3), ([1, 1, 1, 0.1, 1], 0), ([1, 0, 2, 0.1, 1], 2)):
        drawn = group_bss(space, groups, 3, scores=scores)
        assert set(drawn.indices) == {one, 4}
        literal = group_bss_reference(X, groups.codes, 3, 50.0, scores=scores)
        assert_array_equal(drawn.indices, literal.indices)


@pytest.mark.parametrize("seed", range(40))
def test_r_means_r(seed):
    """As many different groups as were asked for, or all that can be used, and the
    promise for r.
    """
    X, labels, _, _ = problem(seed)
    groups = column_groups(labels, X.shape[1])
    r = len(groups.labels)
    S = np.linalg.svd(X, compute_uv=False)
    S = S[S > 1e-9 * S[0]]
    space = ridge_space(X, ridge_of_dimension(S, min(0.9 * r, 0.9 * len(S))))
    drawn = group_bss(space, groups, r)
    filled = fill_groups(space, groups, drawn, r)
    usable = usable_groups(space, groups)[1]
    assert set(filled.indices) == set(np.flatnonzero(usable))
    k = drawn.n_selected
    assert_array_equal(filled.indices[:k], drawn.indices)
    assert_allclose(filled.weights[:k], drawn.weights)
    promise = ridge_promise(space.effective_dimension, r)
    chosen = columns_of(filled, groups).apply(X)
    low, high = true_interval(X @ X.T, chosen @ chosen.T, space.ridge)
    assert promise.lower * (1 - 1e-6) < low and high < promise.upper * (1 + 1e-6)


def test_what_is_filled_in_is_what_is_missing():
    """The one orthogonal direction, and not one more like those that are there."""
    X = np.zeros((6, 4))
    X[0, :3] = [3.0, 2.9, 2.8]
    X[1, 3] = 1.0
    space = ridge_space(X, 0.5)
    groups = column_groups(None, 4)
    drawn = columns_of(group_bss(ridge_space(X, 100.0), groups, 1), groups)
    filled = fill_groups(space, groups, drawn, 2)
    assert_array_equal(filled.indices, [0, 3])
    assert np.all(filled.weights > 0)


def test_what_is_filled_in_stays_within_the_promise():
    """Where the selection has come close to the upper end, in the direction of all."""
    X = np.array([[3.0, 3.3, 2.0], [0.0, 0.0, 0.1]])
    space = ridge_space(X, 200.0)
    groups = column_groups(None, 3)
    upper = ridge_promise(space.effective_dimension, 3).upper
    v = space.basis()[0]
    weight = 0.95 * (upper - 1) / (v @ v)
    drawn = Sampling(np.array([0]), np.array([weight]), 3, 3)
    before = certify(space, drawn).interval[1]
    filled = fill_groups(space, groups, drawn, 3)
    assert filled.n_selected == 3 and filled.n_draws == 3
    assert before < certify(space, filled).interval[1] < upper


# ---------------------------------------------------------------- the groups


NAMES = np.array(["red", "green", "blue", "size"])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([0, 1], ["shape (2,)", "4 columns", "one label for each column"]),
        ("abcd", ["one label for each column"]),
        (np.array([[0, 1, 1, 0]]), ["shape (1, 4)", "one label for each column"]),
        (5, ["one label for each column", "list of lists"]),
        ([[0, 1, 1], [2, 3]], ["'green'", "the group 0 and twice"]),
        ([[0, 1], [3, 2, 1]], ["'green'", "the group 1 and also in 0", "overlap"]),
        ([[0, 1], [], [2, 3]], ["The group 1 is empty", "leave it out"]),
        ([[0, 1], ["blue"]], ["column 'size' is in no group"]),
        (["x", "y", None, "x"], ["no label", "column 'blue'", "None"]),
        ([0.0, 1.0, np.nan, 0.0], ["no label", "column 'blue'", "nan"]),
        ({"c": [0, 1, 2]}, ["column 'size' is in no group", "of its own"]),
        ({"c": [0, 1], "s": [1, 2, 3]}, ["'green'", "'s' and also in 'c'", "overlap"]),
        ({"c": [0, 0, 1, 2, 3]}, ["'red'", "twice"]),
        ({"c": [0, 1, 2, 3], "none": []}, ["'none' is empty", "leave it out"]),
        ({"c": ["red", "pink"]}, ["'pink'", "does not have", "'red'"]),
        ({"c": [0, 1, 2, 4]}, ["4, which is no column", "from 0 to 3"]),
        ({"c": [0, 1, 2, -1]}, ["-1, which is no column"]),
        ({"c": [0, 1, 2, 3.0]}, ["3.0, which is no column"]),
    ],
)
def test_groups_that_are_none_are_refused(given, words):
    with refused(*words):
        column_groups(given, 4, NAMES)
    frame = pd.DataFrame(np.eye(4) + 1, columns=NAMES)
    with refused(*words):
        GroupSelector(1, groups=given).fit(frame)


def test_a_column_without_a_name_is_named_by_its_index():
    with refused("column 3 is in no group"):
        column_groups({"c": [0, 1, 2]}, 4)
    with refused("the column 'red', and X has no names", "indices from 0 to 3"):
        column_groups({"c": ["red"]}, 4)


def test_ways_to_say_the_same_groups():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((30, 4)), columns=NAMES)
    expected = GroupSelector(1, groups=["c", "c", "c", "s"]).fit(X)
    chosen = expected.selected_groups_
    for groups in (
        {"c": ["red", "green", "blue"], "s": "size"},
        {"s": [3], "c": range(3)},
        {"s": np.array([3]), "c": {0, 1, 2}},
        pd.Series(["c", "c", "c", "s"], dtype="category"),
        np.array(["c", "c", "c", "s"], dtype=object),
    ):
        found = GroupSelector(1, groups=groups).fit(X)
        assert_array_equal(found.selected_groups_, chosen)
        assert_array_equal(found.support_, expected.support_)
        assert found.certificate_.holds
    colours = ["red", "green", "blue"]
    for listed, place in (
        ([[0, 1, 2], [3]], 0),
        ([["size"], colours], 1),
        ([{0, 1, 2}, 3], 0),
    ):
        found = GroupSelector(1, groups=listed).fit(X)
        assert_array_equal(found.support_, expected.support_)
        assert found.selected_groups_ == [place if chosen == ["c"] else 1 - place]
    numbers = GroupSelector(1, groups=[8, 8, 8, 5]).fit(X)
    assert_array_equal(numbers.selected_groups_, [{"c": 8, "s": 5}[chosen[0]]])


def encoded(n=60, seed=0):
    """A table with a number and three columns of texts, and its one-hot columns."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.standard_normal(n),
            "city": rng.choice(["New_York", "Paris", "Rome"], n),
            "city_size": rng.choice(["S", "L"], n),
            "colour": rng.choice(list("rgb"), n),
        }
    )
    return frame, pd.get_dummies(frame, dtype=float)


def test_groups_of_an_encoder():
    """By the names of the columns before, from pandas and from scikit-learn; the
    longest of several that fit.
    """
    frame, table = encoded()
    expected = ["age"] + ["city"] * 3 + ["city_size"] * 2 + ["colour"] * 3
    assert_array_equal(prefix_groups(table.columns, frame.columns), expected)
    encoder = ColumnTransformer(
        [("texts", OneHotEncoder(sparse_output=False), list(frame.columns[1:]))],
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).fit(frame)
    labels = prefix_groups(encoder.get_feature_names_out(), frame.columns)
    assert_array_equal(labels, expected[1:] + expected[:1])
    X = table - table.mean()
    by_names = GroupSelector(2, groups=expected).fit(X)
    by_encoder = GroupSelector(2, groups=labels).fit(encoder.transform(frame) - 0.5)
    assert set(by_encoder.selected_groups_) <= set(frame.columns)
    found = GroupSelector(2, groups=prefix_groups(table.columns, frame.columns)).fit(X)
    assert_array_equal(found.selected_groups_, by_names.selected_groups_)
    with refused("'texts__city_Paris' begins with none of columns"):
        prefix_groups(["texts__city_Paris"], frame.columns)


def test_groups_by_prefix():
    _, table = encoded()
    clear = table.drop(columns=[c for c in table if c.startswith("city_")])
    selector = GroupSelector(2, groups="prefix").fit(clear - clear.mean())
    assert_array_equal(selector.groups_.labels, ["age", "colour"])
    assert_array_equal(selector.groups_.codes, [0, 1, 1, 1])
    with refused("groups='prefix' is not clear", "'city_New'", "'city' and a part"):
        GroupSelector(2, groups="prefix").fit(table)
    with refused("groups='prefix' goes by the names", "X has none"):
        GroupSelector(2, groups="prefix").fit(table.to_numpy())


def test_groups_by_a_series_and_by_levels_of_columns():
    X, _ = table(8, d=4)
    frame = pd.DataFrame(X, columns=NAMES)
    expected = GroupSelector(1, groups=["c", "c", "s", "c"]).fit(frame)
    by_name = pd.Series({"blue": "s", "size": "c", "green": "c", "red": "c"})
    by_place = pd.Series(["c", "c", "s", "c"])
    for groups in (by_name, by_place, pd.Series(by_place.tolist(), index=[3, 1, 0, 2])):
        found = GroupSelector(1, groups=groups).fit(frame)
        assert_array_equal(found.support_, expected.support_)
    levels = pd.MultiIndex.from_tuples([("c", 1), ("c", 2), ("s", 1), ("c", 3)])
    frame = pd.DataFrame(X, columns=levels)
    found = GroupSelector(1, groups=levels.get_level_values(0)).fit(frame)
    assert_array_equal(found.support_, expected.support_)
    for groups in (levels, list(levels)):
        alone = GroupSelector(2, groups=groups).fit(frame)
        assert_array_equal(alone.selected_groups_, [levels[j] for j in alone.selected_])


def test_groups_of_every_size():
    """One that embraces all, one column against many, one of zero columns alone."""
    X, _ = table(9)
    whole = GroupSelector(1, groups=np.zeros(24)).fit(X)
    assert whole.support_.all() and len(whole.groups_.labels) == 1
    assert np.isclose(whole.group_weights_[0], whole.weights_[0])
    unequal = GroupSelector(2, groups=np.minimum(np.arange(24), 3)).fit(X)
    assert len(set(unequal.selected_groups_)) == 2 and unequal.certificate_.holds
    X[:, 20:] = 0
    with pytest.warns(UserWarning, match="asks for 2 groups, and 1 came out"):
        found = GroupSelector(2, groups=[0] * 20 + [1] * 4).fit(X)
    assert_array_equal(found.selected_groups_, [0])
    of_another = GroupSelector(2, groups=found.groups_)
    with refused("groups are those of 24 columns, and X has 23"):
        of_another.fit(X[:, 1:])


# ---------------------------------------------------------------- the selector


def table(seed=0, n=40, d=24):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) @ np.diag(rng.pareto(1.5, d) + 0.2)
    X = X + 0.5 * rng.standard_normal((n, 3)) @ rng.standard_normal((3, d))
    return X - X.mean(axis=0), rng.integers(0, 9, d)


def test_a_selector_keeps_whole_groups_and_certifies_them():
    X, labels = table()
    for rule in ("best", "largest-norm"):
        selector = GroupSelector(4, groups=labels, rule=rule).fit(X)
        assert len(set(selector.selected_groups_)) == 4
        assert_array_equal(
            selector.support_, np.isin(labels, selector.selected_groups_)
        )
        assert_array_equal(selector.transform(X), X[:, selector.support_])
        assert_allclose(
            selector.weights_,
            np.repeat(
                selector.group_weights_,
                [np.sum(labels == g) for g in selector.selected_groups_],
            ),
        )
        certificate = selector.certificate_
        chosen = X[:, selector.selected_] * np.sqrt(selector.weights_)
        found = true_interval(X @ X.T, chosen @ chosen.T, certificate.ridge)
        assert_allclose(certificate.interval, found, rtol=1e-6)
        ell = certificate.effective_dimension
        assert_allclose(certificate.promise.upper, ridge_promise(ell, 4).upper)
        assert certificate.holds and certificate.n_draws == 4
        rescaled = clone(selector).set_params(rescale=True).fit(X).transform(X)
        assert_allclose(rescaled @ rescaled.T, chosen @ chosen.T)


def test_without_groups_it_is_bss_at_a_ridge():
    X, _ = table(1)
    for ridge in ("auto", 500.0):
        groups = GroupSelector(6, ridge=ridge).fit(X)
        columns = BSSSelector(6, ridge=ridge, rule="best").fit(X)
        assert_array_equal(groups.selected_, columns.selected_)
        assert_array_equal(groups.selected_groups_, columns.selected_)
        assert_allclose(groups.weights_, columns.weights_)
        assert_allclose(
            groups.certificate_.eigenvalues, columns.certificate_.eigenvalues
        )
        assert groups.certificate_.holds


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_columns_and_the_names_of_groups_play_no_part(seed):
    X, labels = table(seed)
    expected = GroupSelector(4, groups=labels).fit(X)
    order = np.random.default_rng(seed).permutation(X.shape[1])
    permuted = GroupSelector(4, groups=labels[order]).fit(X[:, order])
    assert_array_equal(permuted.selected_groups_, expected.selected_groups_)
    assert_allclose(permuted.group_weights_, expected.group_weights_)
    assert permuted.certificate_.holds
    names = np.array(list("zyxwvutsr"))
    renamed = GroupSelector(4, groups=names[labels]).fit(X)
    assert_array_equal(renamed.selected_groups_, names[expected.selected_groups_])
    assert_array_equal(renamed.selected_, expected.selected_)


@pytest.mark.parametrize("power", [-40, 3, 40])
def test_units_change_nothing(power):
    X, labels = table(2)
    expected = GroupSelector(4, groups=labels, ridge=500.0).fit(X)
    scaled = GroupSelector(4, groups=labels, ridge=500.0 * 4.0**power)
    scaled.fit(X * 2.0**power)
    assert_array_equal(scaled.selected_, expected.selected_)
    assert_allclose(scaled.weights_, expected.weights_)
    assert_allclose(scaled.certificate_.interval, expected.certificate_.interval)
    assert scaled.certificate_.holds


@pytest.mark.parametrize("shape", [(15, 40), (40, 15)])
def test_forms_of_data_make_the_same_choice(shape):
    rng = np.random.default_rng(3)
    X = rng.standard_normal(shape) * (rng.random(shape) < 0.4)
    labels = rng.integers(0, 8, shape[1])
    expected = GroupSelector(3, groups=labels).fit(X)
    forms = (sp.csr_array(X), sp.csc_array(X), np.asfortranarray(X), X.tolist())
    for data in (*forms, X.astype(np.float32)):
        found = GroupSelector(3, groups=labels).fit(data)
        assert_array_equal(found.selected_groups_, expected.selected_groups_)
        assert_allclose(found.weights_, expected.weights_, rtol=1e-4)
        assert found.certificate_.holds
    assert GroupSelector(3).fit(X.astype(np.float32)).weights_.dtype == np.float32


def test_fewer_usable_groups_than_asked_for_give_a_warning():
    X, _ = table(4, d=4)
    X = np.hstack([X, X, 0 * X])
    labels = np.repeat(["first", "copy", "zero"], 4)
    with pytest.warns(UserWarning, match="asks for 3 groups, and 1 came out"):
        selector = GroupSelector(3, groups=labels).fit(X)
    assert_array_equal(selector.selected_groups_, ["first"])
    assert selector.certificate_.holds
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GroupSelector(1, groups=labels).fit(X)


def test_how_many_groups():
    X, _ = table(5)
    labels = np.arange(24) // 3
    for r, expected in ((None, 4), (0.25, 2), (1.0, 8), (3, 3), (0.01, 1)):
        selector = GroupSelector(r, groups=labels).fit(X)
        assert len(selector.selected_groups_) == expected
        assert selector.certificate_.holds
    for r in (0, 9, -1, 1.5, 0.0, "theorem", True):
        with refused(f"n_groups_to_select={r!r} is not possible", "from 1 to 8"):
            GroupSelector(r, groups=labels).fit(X)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (dict(ridge=None), "ridge=None is not possible: give a number above 0"),
        (dict(ridge=0.0), "ridge=0.0 is not possible"),
        (dict(ridge="large"), "ridge='large' is not possible.*auto"),
        (dict(ridge=1e-9), "effective dimension at ridge=1e-09 is .*larger ridge"),
        (dict(rule="longest"), "rule='longest' is not possible.*'best'"),
    ],
)
def test_what_is_impossible_is_refused(parameters, words):
    X, _ = table(6)
    for selector in (GroupSelector(3), AdditiveKernelSelector(3)):
        with pytest.raises(ValueError, match=words):
            selector.set_params(**parameters).fit(X)
        assert not hasattr(selector, "sampling_")


# ---------------------------------------------------------------- kernels


def rbf_kernels(X, gamma=0.7):
    return [np.exp(-gamma * np.subtract.outer(x, x) ** 2) for x in X.T]


@pytest.mark.parametrize("seed", range(30))
def test_additive_kernels_keep_the_promise(seed):
    """On the matrices themselves, whatever the factors leave."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rng.integers(5, 25), rng.integers(4, 15)))
    kernels = rbf_kernels(X, rng.uniform(0.05, 5))
    K = sum(kernels)
    r = int(rng.integers(2, len(kernels) + 1))
    lam = np.linalg.eigvalsh(K)[::-1]
    ridge = ridge_of_dimension(np.sqrt(lam[lam > 1e-9]), rng.uniform(0.2, 0.9) * r / 2)
    tol = 10.0 ** -rng.integers(2, 11)
    rule = ["best", "largest-norm"][seed % 2]
    found = kernel_bss(kernels, r, ridge, rule=rule, tol=tol)
    sampling = found.sampling
    assert sampling.n_selected == r
    chosen = sum(w * kernels[j] for j, w in zip(sampling.indices, sampling.weights))
    promise = found.certificate.promise
    for larger in (1, 10):
        low, high = true_interval(K, chosen, larger * ridge)
        assert promise.lower < low and high < promise.upper
    assert found.certificate.holds and found.error <= tol * np.trace(K) * (1 + 1e-9)
    as_function = kernel_bss(
        kernels.__getitem__, r, ridge, n_kernels=len(kernels), rule=rule, tol=tol
    )
    assert_array_equal(as_function.sampling.indices, sampling.indices)


def test_what_factors_leave_is_in_the_promise():
    """An example at which both corrections are needed: all that is left is in the
    kernels that were, or were not, chosen.
    """
    K1, K2 = np.diag([4.0, 0.0, 0.0]), np.diag([0.0, 4.0, 1.0])
    ridge = 2.0
    chosen = columns_of(group_bss(ridge_space(np.eye(2), 3.0), None, 1), [0, 1])
    weight = float(chosen.weights[0])
    left = np.array([0.5, 0.25])
    promise = factored_promise(ridge_promise(0.25, 1), ridge, left, chosen)
    assert_allclose(promise.lower, (1 / 3) * (1 - 0.75 / 2))
    assert_allclose(promise.upper, 3 + weight * 0.5 / 2)
    # rank one is left of K2, and the diagonal says how much
    L, rest = pivoted_cholesky(np.diagonal(K1 + K2), (K1 + K2).__getitem__, 0.2)
    assert_allclose(rest, 1.0)
    assert_allclose(L @ L.T, np.diag([4.0, 4.0, 0.0]))


@pytest.mark.parametrize("seed", range(20))
def test_pivoted_cholesky_leaves_what_it_says(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    Y = rng.standard_normal((n, rng.integers(1, n + 3))) * rng.pareto(0.7)
    K = Y @ Y.T
    asked = []

    def column(p):
        asked.append(p)
        return K[:, p]

    tol = 10.0 ** -rng.uniform(0, 12)
    L, left = pivoted_cholesky(np.diagonal(K), column, tol)
    assert L.shape[1] == len(asked) == len(set(asked)) <= n
    rest = K - L @ L.T
    rounding = 1e-12 * np.trace(K)
    assert np.linalg.eigvalsh(rest)[0] >= -rounding
    assert abs(np.trace(rest) - left) <= rounding
    assert left <= max(tol * np.trace(K), 1e-12 * np.trace(K))
    if L.shape[1] > 1:  # one pivot fewer leaves too much
        assert np.trace(K - L[:, :-1] @ L[:, :-1].T) > tol * np.trace(K)


def test_kernels_that_are_none_are_refused():
    good = np.eye(3)
    lowest = np.diag([2.0, 1.0, -0.25])
    with refused("kernel 1 is not positive semi-definite", "-0.25"):
        kernel_bss([good, lowest], 1, 1.0)
    with refused("kernel 0 is not positive semi-definite", "-1"):
        kernel_bss(lambda j: np.array([[0.0, 1.0], [1.0, 0.0]]), 1, 1.0, n_kernels=2)
    with refused("kernel 1 is not symmetric"):
        kernel_bss([good, good + np.eye(3, k=1)], 1, 1.0)
    with refused("kernel 1 has the shape (2, 2)", "(3, 3)"):
        kernel_bss([good, np.eye(2)], 1, 1.0)
    with refused("kernel 2 contains NaN"):
        kernel_bss([good, good, np.full((3, 3), np.nan)], 1, 1.0)
    with refused("give n_kernels"):
        kernel_bss(lambda j: good, 1, 1.0)
    for r in (0, 3, 1.5):
        with refused(f"r={r} is not possible", "from 1 to 2"):
            kernel_bss([good, good], r, 100.0)
    # rounding is no reason
    kernel_bss([good - 1e-12 * np.eye(3), good - np.ones((3, 3)) / 3], 1, 100.0)


# ---------------------------------------------------------------- additive kernels

WINE = load_wine().data


def centred(K):
    return K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"gamma": 1e-3},
        {"gamma": "auto"},
        {"kernel": "linear"},
        {"kernel": "poly"},
        {"kernel": RBFKernel(0.2)},
        {"kernel": lambda x, z: np.minimum(x, z.T)},
        {"rule": "largest-norm", "ridge": 900.0},
    ],
    ids=["default", "gamma", "auto", "linear", "poly", "RBF", "function", "ridge"],
)
def test_the_certificate_is_that_of_the_centred_kernels(parameters):
    X = (
        WINE[::2]
        if parameters.get("kernel") != "poly"
        else WINE[::2] / WINE.mean(axis=0)
    )
    if "ridge" not in parameters and parameters.get("kernel") == "linear":
        X = StandardScaler().fit_transform(X)
    selector = AdditiveKernelSelector(4, **parameters).fit(X)
    K = sum(kernel(X[:, [j]]) for j, kernel in enumerate(selector.kernels_))
    certificate = selector.certificate_
    part = selector.weighted_kernel(X)
    found = true_interval(centred(K), centred(part), certificate.ridge)
    assert_allclose(certificate.interval, found, rtol=1e-5)
    assert certificate.promise.lower < found[0] and found[1] < certificate.promise.upper
    assert certificate.holds and selector.support_.sum() == 4
    assert certificate.n_features == 13 and certificate.n_selected == 4
    by_hand = sum(
        w * selector.kernels_[j](X[:, [j]])
        for j, w in zip(selector.selected_, selector.weights_)
    )
    assert_allclose(part, by_hand)


def test_a_linear_kernel_for_each_feature_is_bss_of_columns():
    X = StandardScaler().fit_transform(WINE)
    kernels = AdditiveKernelSelector(5, kernel="linear", ridge=400.0).fit(X)
    columns = BSSSelector(5, ridge=400.0, rule="best").fit(X)
    assert_array_equal(kernels.selected_, columns.selected_)
    assert_allclose(kernels.weights_, columns.weights_, rtol=1e-6)
    assert kernels.certificate_.holds


def test_units_and_signs_and_the_order_of_features_play_no_part():
    expected = AdditiveKernelSelector(5).fit(WINE)
    rng = np.random.default_rng(0)
    units = 2.0 ** rng.integers(-30, 30, 13) * rng.choice([-1, 1], 13)
    scaled = AdditiveKernelSelector(5).fit(WINE * units)
    assert_array_equal(scaled.selected_, expected.selected_)
    assert_allclose(scaled.weights_, expected.weights_, rtol=1e-6)
    assert scaled.certificate_.holds
    order = rng.permutation(13)
    permuted = AdditiveKernelSelector(5).fit(WINE[:, order])
    assert_array_equal(order[permuted.selected_], expected.selected_)
    sparse = AdditiveKernelSelector(5).fit(sp.csr_array(WINE))
    assert_array_equal(sparse.selected_, expected.selected_)
    narrow = AdditiveKernelSelector(5).fit(WINE.astype(np.float32))
    assert_array_equal(narrow.selected_, expected.selected_)
    assert narrow.weights_.dtype == np.float32
    assert narrow.transform(WINE.astype(np.float32)).dtype == np.float32


def test_constant_and_equal_features_are_not_chosen():
    X = np.column_stack([WINE[:, :3], np.ones(len(WINE)), -WINE[:, 0]])
    with pytest.warns(UserWarning, match="asks for 5 features, and 3 came out"):
        selector = AdditiveKernelSelector(5).fit(X)
    assert_array_equal(np.sort(selector.selected_), [0, 1, 2])
    assert selector.certificate_.holds
    with refused("tells samples from each other: all are constant"):
        AdditiveKernelSelector(1).fit(np.ones((9, 2)))
    with refused("kernel of feature 0 is not positive semi-definite"):
        AdditiveKernelSelector(1, kernel=lambda x, z: -x @ z.T).fit(WINE)
    with refused("n_features_to_select='theorem' is not possible"):
        AdditiveKernelSelector("theorem").fit(WINE)


def test_the_weighted_kernel_in_a_machine():
    """All features or those left, between any rows; and the same machine from centred
    kernels.
    """
    X, y = load_wine(return_X_y=True)
    train, test = np.arange(0, 178, 2), np.arange(1, 178, 2)
    selector = AdditiveKernelSelector(5).fit(X[train])
    A, B = selector.transform(X[train]), selector.transform(X[test])
    K = selector.weighted_kernel(X[test], X[train])
    assert K.shape == (89, 89)
    assert_allclose(selector.weighted_kernel(B, A), K)
    assert_allclose(selector.weighted_kernel(B, X[train]), K)
    machine = SVC(kernel=selector.weighted_kernel).fit(A, y[train])
    assert machine.score(B, y[test]) > 0.9
    K = selector.weighted_kernel(A)
    two = y[train] == 0
    decide = [
        SVC(kernel="precomputed", tol=1e-9).fit(G, two).decision_function(G)
        for G in (K, centred(K))
    ]
    assert_allclose(decide[0], decide[1], atol=1e-5)
    with refused("X has 7 features", "all 13, or the 5"):
        selector.weighted_kernel(X[:, :7])


def test_both_selectors_work_in_a_pipeline():
    X, y = load_wine(return_X_y=True)
    for selector in (
        GroupSelector(3, groups=np.arange(13) // 2),
        AdditiveKernelSelector(4),
    ):
        model = make_pipeline(StandardScaler(), selector, SVC()).fit(X, y)
        assert model.score(X, y) > 0.85
        assert model[1].certificate_.holds
    frame = load_wine(as_frame=True).data
    frame = (frame - frame.mean()) / frame.std()
    for selector in (GroupSelector(4), AdditiveKernelSelector(4)):
        names = selector.fit(frame).get_feature_names_out()
        assert_array_equal(names, frame.columns[selector.support_])


def test_columns_of_a_selection_of_groups():
    groups = ColumnGroups(np.array([0, 1, 0, 2]), np.array(["a", "b", "c"]))
    X = np.random.default_rng(0).standard_normal((5, 4))
    drawn = group_bss(ridge_space(X, 20.0), groups, 2)
    columns = columns_of(drawn, groups)
    assert columns.n_features == 4 and columns.n_draws == drawn.n_draws
    for j, w in zip(drawn.indices, drawn.weights):
        own = np.isin(columns.indices, groups.columns(j))
        assert_array_equal(columns.weights[own], np.full(own.sum(), w))


# ---------------------------------------------------------------- labels


def classes(X, seed=0):
    """Labels that depend on a few columns."""
    rng = np.random.default_rng(seed)
    return (X[:, :3].sum(axis=1) + rng.standard_normal(len(X)) > 0).astype(int)


def spread(X, y, groups):
    """A score for each group: the range of its columns, over their number."""
    width = np.ptp(X, axis=0)
    return {g: np.mean(width[groups == g]) for g in np.unique(groups)}


def by_columns(X, y, groups):
    """A score for each column, the same within a group."""
    assert len(groups) == X.shape[1]
    return np.array([np.sum(groups == g) for g in groups], dtype=float)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("way", ["f", "columns", "groups", "dict", "spread", "by"])
def test_scores_choose_among_what_the_theorem_allows(seed, way):
    """The picks are those of the literal search, and the promise stays."""
    X, labels = table(seed)
    y = classes(X, seed)
    groups = column_groups(labels, X.shape[1])
    some = np.random.default_rng(seed).integers(0, 5, len(groups.labels)) + 0.0
    f = f_classif(X, y)[0]
    counts = np.bincount(groups.codes)
    score_func, expected = {
        "f": (f_classif, groups.sums(f)),
        "columns": (f, groups.sums(f)),
        "groups": (some, some),
        "dict": (dict(zip(groups.labels[::-1].tolist(), some[::-1])), some),
        "spread": (spread, groups.sums(np.ptp(X, axis=0)) / counts),
        "by": (by_columns, counts**2),
    }[way]
    selector = GroupSelector(4, groups=labels, score_func=score_func).fit(X, y)
    assert_allclose(selector.group_scores_, expected)
    assert hasattr(selector, "scores_") == (way in ("f", "columns", "by"))
    ridge = selector.certificate_.ridge
    literal = group_bss_reference(X, labels, 4, ridge, scores=expected)
    k = literal.n_selected
    assert_array_equal(
        selector.selected_groups_[:k], groups.labels[literal.indices].tolist()
    )
    assert_allclose(selector.group_weights_[:k], literal.weights, rtol=1e-6)
    assert len(set(selector.selected_groups_)) == 4
    chosen = selector.sampling_.apply(X)
    low, high = true_interval(X @ X.T, chosen @ chosen.T, ridge)
    promise = selector.certificate_.promise
    assert promise.lower < low and high < promise.upper
    assert promise == GroupSelector(4, groups=labels).fit(X).certificate_.promise


def test_scores_of_groups_come_in_the_order_of_groups():
    """That of the dictionary or list which the user wrote, whatever columns these
    have.
    """
    X, _ = table(0, d=6)
    scores = [1.0, 5.0, 3.0]
    for groups in (
        {"last": [4, 5], "first": [0, 1], "middle": [2, 3]},
        [[4, 5], [0, 1], [2, 3]],
    ):
        selector = GroupSelector(1, groups=groups, score_func=scores).fit(X)
        assert_array_equal(selector.group_scores_, [5.0, 3.0, 1.0])
    # as many groups as columns: then they are columns
    alone = GroupSelector(2, groups=[5, 4, 3, 2, 1, 0], score_func=np.arange(6.0))
    assert_array_equal(alone.fit(X).scores_, np.arange(6))
    assert_array_equal(alone.group_scores_, np.arange(6))


def test_endless_scores_are_larger_than_all_others():
    """Those of columns that tell the classes apart without a doubt."""
    X, labels = table(1)
    y = np.arange(len(X)) % 2
    X = np.column_stack([X, 30.0 * y - 15.0])
    labels = np.append(labels, 99)
    selector = GroupSelector(3, groups=labels, score_func=f_classif).fit(X, y)
    scores = selector.group_scores_
    assert np.isinf(scores).sum() == 1 and selector.certificate_.holds
    assert selector.selected_groups_[0] == 99
    literal = group_bss_reference(
        X,
        labels,
        3,
        selector.certificate_.ridge,
        scores=np.where(np.isinf(scores), 1e30, scores),
    )
    assert_array_equal(
        selector.groups_.labels[literal.indices],
        selector.selected_groups_[: literal.n_selected],
    )


def test_scores_with_weights_of_samples():
    X, labels = table(2)
    y = classes(X)

    def weighted(X, y, sample_weight=None):
        return np.abs(X.T @ (sample_weight * (y - 0.5)))

    weights = np.arange(1.0, len(X) + 1)
    for selector in (
        GroupSelector(3, groups=labels, score_func=weighted),
        AdditiveKernelSelector(3, score_func=weighted),
    ):
        found = selector.fit(X, y, sample_weight=weights)
        assert_allclose(found.scores_, weighted(X, y, weights))
        with sklearn.config_context(enable_metadata_routing=True):
            routed = clone(selector).set_fit_request(sample_weight=True)
            machine = SVC().set_fit_request(sample_weight=False)
            model = make_pipeline(routed, machine).fit(X, y, sample_weight=weights)
            assert_array_equal(model[0].selected_, found.selected_)
    with refused("sample_weight cannot be used: score_func is no function"):
        GroupSelector(3, groups=labels, score_func=dict(enumerate(range(9)))).fit(
            X, y, sample_weight=weights
        )


@pytest.mark.parametrize(
    ("score_func", "words"),
    [
        (np.ones(5), "shape \\(5,\\).*each of the 24 columns.*each of the 9 groups"),
        (np.full(24, -1.0), "-1.0 for feature 0"),
        (dict.fromkeys(range(9), -1.0), "score_func gives -1.0"),
        (dict.fromkeys(range(8), 1.0), "no score for the group 8"),
        (dict.fromkeys(range(10), 1.0), "a score for 9, which is no group"),
        (lambda X, y, groups: {0: 1.0}, "no score for the group"),
        (lambda X, y: np.ones(9), "shape \\(9,\\)"),
        ("f_classif", "score_func='f_classif' is not possible"),
    ],
)
def test_scores_that_are_none_are_refused(score_func, words):
    X, _ = table(3)
    labels = np.arange(24) % 9
    with pytest.raises(ValueError, match=words):
        GroupSelector(3, groups=labels, score_func=score_func).fit(X, classes(X))


@pytest.mark.parametrize("make", [GroupSelector, AdditiveKernelSelector])
def test_a_rule_and_scores_contradict_each_other(make):
    X, _ = table(4)
    with refused("rule='largest-norm' and score_func contradict each other"):
        make(3, rule="largest-norm", score_func=f_classif).fit(X, classes(X))
    with refused("sample_weight cannot be used without a score_func"):
        make(3).fit(X, sample_weight=np.ones(len(X)))
    with pytest.warns(UserWarning, match="score_func gives 0 for every feature"):
        zero = make(3, score_func=np.zeros(24)).fit(X)
    assert_array_equal(zero.selected_, make(3, rule="largest-norm").fit(X).selected_)


@pytest.mark.parametrize("seed", range(4))
def test_scores_without_groups_are_those_of_bss_at_a_ridge(seed):
    """Also of kernels that are linear, where features are centred."""
    X, _ = table(seed)
    X[:, 5] = -3 * X[:, 2]
    X[:, 7] = X[:, 2] / 2
    scores = np.random.default_rng(seed).random(24)
    columns = BSSSelector(n_draws=9, ridge=900.0, score_func=scores).fit(X)
    groups = GroupSelector(n_draws=9, ridge=900.0, score_func=scores).fit(X)
    kernels = AdditiveKernelSelector(
        n_draws=9, ridge=900.0, score_func=scores, kernel="linear"
    ).fit(X)
    for found in (groups, kernels):
        assert_array_equal(found.selected_, columns.selected_)
        assert_allclose(found.weights_, columns.weights_, rtol=1e-6)
        assert_allclose(found.leverage_scores_, columns.leverage_scores_, rtol=1e-6)
        assert found.n_draws_ == 9 and found.certificate_.holds


def alignment(X, y):
    """Of an RBF kernel for each feature, centred, with the labels."""
    signs = np.where(y == y[0], 1.0, -1.0)
    target = centred(np.outer(signs, signs))
    found = []
    for x in X.T:
        K = centred(np.exp(-(np.subtract.outer(x, x) ** 2) / x.var()))
        found.append(np.sum(K * target) / np.linalg.norm(K))
    return np.array(found)


def test_scores_of_kernels():
    """Kernel-target alignment: the promise is that of the largest slack, and what
    tells the classes apart comes first.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 12))
    y = (np.abs(X[:, 4]) > 0.7).astype(int)
    selector = AdditiveKernelSelector(4, score_func=alignment).fit(X, y)
    assert selector.selected_[0] == 4 == np.argmax(selector.scores_)
    assert 4 not in AdditiveKernelSelector(4).fit(X).selected_[:1]
    kernels = rbf_kernels(X, 1 / X.var(axis=0).mean())
    K = sum(centred(kernel(X[:, [j]])) for j, kernel in enumerate(selector.kernels_))
    part = centred(selector.weighted_kernel(X))
    low, high = true_interval(K, part, selector.certificate_.ridge)
    promise = selector.certificate_.promise
    assert promise.lower < low and high < promise.upper and len(kernels) == 12


# ---------------------------------------------------------------- how many


@pytest.mark.parametrize("n_draws", [1, 5, 40])
def test_n_draws_are_draws(n_draws):
    X, labels = table(3)
    groups = column_groups(labels, 24)
    selector = GroupSelector(groups=labels, n_draws=n_draws).fit(X)
    ridge = selector.certificate_.ridge
    literal = group_bss_reference(X, labels, n_draws, ridge)
    assert_array_equal(selector.selected_groups_, groups.labels[literal.indices])
    assert_allclose(selector.group_weights_, literal.weights, rtol=1e-6)
    assert selector.n_draws_ == n_draws == selector.certificate_.n_draws
    assert selector.certificate_.holds
    kernels = AdditiveKernelSelector(n_draws=n_draws).fit(X)
    assert kernels.n_draws_ == n_draws and kernels.certificate_.holds
    for make, name in (
        (GroupSelector, "n_groups_to_select"),
        (AdditiveKernelSelector, "n_features_to_select"),
    ):
        with refused(f"{name}=3 and n_draws={n_draws} contradict each other"):
            make(3, n_draws=n_draws).fit(X)
        with refused("n_draws", "or None"):
            make(n_draws=0).fit(X)


def test_after_n_draws_nothing_is_filled_in():
    """Where draws are repeated, fewer groups come out than there are."""
    repeated = 0
    for seed in range(24):
        X, labels, _, _ = problem(seed)
        m = len(np.unique(labels))
        S = np.linalg.svd(X, compute_uv=False)
        S = S[S > 1e-9 * S[0]]
        ridge = ridge_of_dimension(S, min(0.9 * m, 0.9 * len(S)))
        drawn = group_bss(ridge_space(X, ridge), labels, m)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Column")
            warnings.filterwarnings("error", message=".* came out")
            found = GroupSelector(groups=labels, n_draws=m, ridge=ridge).fit(X)
        assert len(found.selected_groups_) == drawn.n_selected
        assert_allclose(found.group_weights_, drawn.weights)
        repeated += (
            drawn.n_selected
            < usable_groups(ridge_space(X, ridge), found.groups_)[1].sum()
        )
    assert repeated > 3


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("scored", [False, True])
def test_r_different_groups_come_out_or_a_warning(seed, scored):
    """Copies, multiples and zero columns in groups: as many come out as there are
    kernels that are no multiples of one another, whatever is preferred.
    """
    rng = np.random.default_rng(seed)
    parts = [rng.standard_normal((15, k)) for k in rng.integers(1, 5, 5)]
    parts += [-parts[0], 3 * parts[1], np.zeros((15, 2)), 1e-3 * parts[1]]
    order = rng.permutation(len(parts))
    X = np.hstack([parts[i] for i in order])
    labels = np.repeat(order, [parts[i].shape[1] for i in order])
    score_func = rng.integers(0, 3, len(parts)) + 0.0 if scored else None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for r in range(1, 6):
            found = GroupSelector(r, groups=labels, score_func=score_func).fit(X)
            assert len(set(found.selected_groups_)) == r and found.certificate_.holds
    with pytest.warns(UserWarning, match="asks for 7 groups, and 5 came out"):
        found = GroupSelector(7, groups=labels, score_func=score_func).fit(X)
    chosen = set(found.selected_groups_)
    assert chosen >= {2, 3, 4} and 7 not in chosen and found.certificate_.holds
    assert len(chosen & {0, 5}) == 1 and len(chosen & {1, 6, 8}) == 1
    # the longest, where nothing else is said
    assert scored or 6 in chosen


# ---------------------------------------------------------------- blocks


def summary(kind, X, size=30):
    found = kind()
    for i in range(0, len(X), size):
        found.partial_fit(X[i : i + size])
    return found


def in_blocks(X, axis, size=7, names=None):
    def read(along):
        for i in range(0, X.shape[along], size):
            yield X[i : i + size] if along == 0 else X[:, i : i + size]

    return as_blocks(lambda: read(axis), axis=axis)


@pytest.mark.parametrize("score_func", [None, np.arange(9.0), np.arange(24.0)])
@pytest.mark.parametrize("n", [60, 300])
def test_a_selection_from_blocks_of_samples_is_that_from_memory(n, score_func):
    """From blocks, from a Gram matrix and a triangular factor, from single precision:
    with copies of a group, and with multiples of its columns.
    """
    X, _ = table(5, n=n)
    labels = np.arange(24) % 9
    X[:, labels == 8] = -X[:, labels == 7]
    X[:, labels == 6] = 2 * X[:, labels == 7]
    selector = GroupSelector(6, groups=labels, score_func=score_func, rescale=True)
    expected = selector.fit(X)
    sources = [in_blocks(X, 0), summary(GramMatrix, X), summary(TriangularFactor, X)]
    sources += [in_blocks(X.astype(np.float32), 0), in_blocks(sp.csr_array(X), 0)]
    for source in sources:
        found = clone(selector).fit(source)
        assert_array_equal(found.selected_groups_, expected.selected_groups_)
        assert_array_equal(found.selected_, expected.selected_)
        assert_allclose(found.weights_, expected.weights_, rtol=1e-3)
        assert_allclose(
            found.certificate_.interval, expected.certificate_.interval, rtol=1e-3
        )
        assert found.certificate_.holds and found.n_passes_ <= 2
        assert_allclose(found.transform(X), expected.transform(X), rtol=1e-3)


@pytest.mark.parametrize("score_func", [None, np.arange(9.0), np.arange(90.0)])
@pytest.mark.parametrize("n", [6, 25, 60])
def test_a_selection_from_blocks_of_features_is_that_from_memory(n, score_func):
    """In one pass, with groups in several blocks, of more columns than there are
    samples and of fewer; from dense and sparse data, from single precision, and at
    other scales.
    """
    rng = np.random.default_rng(n)
    labels = np.sort(rng.integers(0, 9, 90))[rng.permutation(90)]
    labels[:9] = np.arange(9)
    X = rng.standard_normal((n, 90)) * rng.pareto(2.0, 90)
    # copies, multiples, and zeros
    X[:, labels == 8] = 0
    X = np.hstack([X, -2 * X[:, labels == 3][:, ::-1]])
    if score_func is not None and len(score_func) > 9:
        score_func = np.append(score_func, np.ones(np.sum(labels == 3)))
    elif score_func is not None:
        score_func = np.append(score_func, 1.0)
    labels = np.append(labels, np.full(np.sum(labels == 3), 9))
    selector = GroupSelector(6, groups=labels, score_func=score_func, rescale=True)
    sparse = X * (rng.random(X.shape) < 0.5)
    for data in (X, X.astype(np.float32), X * 2.0**200, sparse):
        expected = clone(selector).fit(data)
        source = in_blocks(data if data is not sparse else sp.csc_array(data), 1)
        found = clone(selector).fit(source)
        assert_array_equal(found.selected_groups_, expected.selected_groups_)
        assert_array_equal(found.selected_, expected.selected_)
        assert found.weights_.dtype == expected.weights_.dtype
        assert_allclose(found.weights_, expected.weights_, rtol=1e-5)
        for name in ("interval", "ridge", "effective_dimension"):
            assert_allclose(
                getattr(found.certificate_, name),
                getattr(expected.certificate_, name),
                rtol=1e-5,
            )
        promises = [one.certificate_.promise for one in (found, expected)]
        assert_allclose(promises[0].upper, promises[1].upper, rtol=1e-7)
        # without the columns themselves, nothing is known of others
        without = [replace(one.certificate_, plain=None) for one in (found, expected)]
        assert str(without[0]) == str(without[1])
        assert expected.certificate_.plain is not None
        assert (found.certificate_.plain is None) == (n == 6)
        assert found.certificate_.holds and found.n_passes_ == 1
        assert found.n_features_in_ == data.shape[1]
        assert_allclose(found.transform(source), expected.transform(data), rtol=1e-5)
    with pytest.warns(UserWarning, match="asks for 10 groups, and 8 came out"):
        clone(selector).set_params(n_groups_to_select=10).fit(in_blocks(X, 1))


@pytest.mark.parametrize("scale", [1.0, 2.0**200, 2.0**-200])
def test_a_column_longer_than_all_others_is_named_as_in_memory(scale):
    X, labels = table(1)
    X[:, 17] *= 1e3
    words = []
    for source in (scale * X, in_blocks(scale * X, 1), in_blocks(scale * X, 0)):
        with pytest.warns(UserWarning) as said:
            GroupSelector(3, groups=labels).fit(source)
        words.append([str(one.message) for one in said])
    assert words[0] == words[1] == words[2]
    assert "Column 17 holds" in words[0][0]


def test_blocks_of_features_in_any_order():
    """Summaries of parts, merged either way, are that of the whole."""
    X, labels = table(3, n=10, d=40)
    labels = np.arange(40) % 4
    groups = column_groups(labels, 40)
    whole = GroupKernels(groups)
    whole.add(0, X)
    parts = []
    for a in range(0, 40, 8):
        part = GroupKernels(groups)
        part.add(a, X[:, a : a + 8])
        parts.append(part)
    merged = parts[3].merge(parts[0]).merge(parts[4]).merge(parts[2].merge(parts[1]))
    assert merged.length == 40 == whole.length and merged.rows == 10
    assert_allclose(merged.squares, np.sum(X**2, axis=0))
    for j in range(4):
        K = X[:, labels == j] @ X[:, labels == j].T
        for seen in (whole, merged):
            L, left = seen.factor(j)
            assert_allclose(L @ L.T, K, atol=1e-12 * np.trace(K))
            assert 0 <= left <= 1e-12 * np.trace(K)


@pytest.mark.parametrize(
    "groups",
    [
        np.arange(24) // 4,
        {"last": range(12, 24), "first": list(range(12))},
        [list(range(20)), [20], [21, 22, 23]],
        column_groups(np.arange(24) // 6, 24),
    ],
)
def test_blocks_that_do_not_say_how_many_features_there_are(groups):
    X, _ = table(4)
    expected = GroupSelector(2, groups=groups).fit(X)
    found = GroupSelector(2, groups=groups).fit(in_blocks(X, 1))
    assert_array_equal(found.selected_groups_, expected.selected_groups_)
    assert_array_equal(found.selected_, expected.selected_)
    for wrong in (X[:, :20], np.hstack([X, X])):
        selector = GroupSelector(2, groups=groups)
        with refused("groups are those of 24 columns, and X has"):
            selector.fit(in_blocks(wrong, 1))
        assert not [name for name in vars(selector) if name.endswith("_")]


class NamedBlocks(Blocks):
    """Blocks of features of a frame, which say all that is known of it."""

    axes = (1,)

    def __init__(self, frame):
        self.frame = frame
        self.shape = frame.shape
        self.feature_names = list(frame.columns)

    def read(self, axis):
        for a in range(0, self.shape[1], 3):
            yield self.frame.to_numpy()[:, a : a + 3]


def test_blocks_of_features_with_names(monkeypatch):
    X, _ = table(5, d=4)
    frame = pd.DataFrame(X, columns=NAMES)
    groups = {"c": ["red", "green", "blue"], "s": "size"}
    expected = GroupSelector(1, groups=groups).fit(frame)
    found = GroupSelector(1, groups=groups).fit(NamedBlocks(frame))
    assert_array_equal(found.selected_groups_, expected.selected_groups_)
    assert_array_equal(found.feature_names_in_, NAMES)
    assert_array_equal(found.get_feature_names_out(), expected.get_feature_names_out())
    alone = GroupSelector(2).fit(NamedBlocks(frame))
    assert_array_equal(alone.selected_, GroupSelector(2).fit(frame).selected_)
    _, encoded_table = encoded(n=40)
    colours = encoded_table.filter(like="colour")
    whole = GroupSelector(1, groups="prefix").fit(NamedBlocks(colours))
    assert_array_equal(whole.selected_groups_, ["colour"])
    with refused("'pink', which X does not have"):
        GroupSelector(1, groups={"c": ["pink"]}).fit(NamedBlocks(frame))
    # what is kept of the groups is known beforehand
    monkeypatch.setattr(fsel_book.groups, "LARGE_BYTES", 1000)
    with pytest.warns(UserWarning, match="the kernels of 2 groups are kept: the fit"):
        GroupSelector(1, groups=groups).fit(NamedBlocks(frame))


def test_groups_by_name_of_data_in_blocks():
    X, _ = table(6, d=4)
    frame = pd.DataFrame(X, columns=NAMES)
    groups = {"c": ["red", "green", "blue"], "s": "size"}
    expected = GroupSelector(1, groups=groups).fit(frame)
    for kind in (GramMatrix, TriangularFactor):
        found = GroupSelector(1, groups=groups).fit(summary(kind, frame))
        assert_array_equal(found.selected_groups_, expected.selected_groups_)
        assert_array_equal(found.feature_names_in_, NAMES)
        assert_array_equal(
            found.get_feature_names_out(), expected.get_feature_names_out()
        )
    with refused("'pink', which X does not have"):
        GroupSelector(1, groups={"c": ["pink"]}).fit(summary(GramMatrix, frame))


def test_blocks_from_which_no_choice_can_be_made_are_refused():
    X, labels = table(7)
    with refused("X does not say how many features", "a label for each column"):
        GroupSelector(3).fit(in_blocks(X, 1))
    with refused("sample_weight cannot be used: X is in blocks"):
        GroupSelector(3, groups=labels).fit(in_blocks(X, 1), sample_weight=X[0])
    with refused("X is out of range"):
        GroupSelector(3, groups=labels).fit(in_blocks(1e-200 * X, 1))
    with refused("ridge=-1 is not possible"):
        GroupSelector(3, groups=labels, ridge=-1).fit(in_blocks(X, 1))
    with refused("n_groups_to_select=99 is not possible"):
        GroupSelector(99, groups=labels).fit(in_blocks(X, 1))
    with refused("score_func='f_classif' is a function, which needs all of X at once"):
        GroupSelector(3, score_func=f_classif).fit(in_blocks(X, 0), classes(X))
    for source in (in_blocks(X, 0), in_blocks(X, 1)):
        with refused("AdditiveKernelSelector takes no X in blocks"):
            AdditiveKernelSelector(3).fit(source)
    with refused("a summary of samples, and no array", "GroupSelector"):
        AdditiveKernelSelector(3).fit(summary(GramMatrix, X))
    with refused("groups has the shape (3,), and X has 24 columns"):
        GroupSelector(3, groups=[1, 2, 3]).fit(in_blocks(X, 0))


# ---------------------------------------------------------------- memory


def test_a_fit_that_takes_much_memory_says_so_once(monkeypatch):
    """Rough kernels, by the columns of their factors, and those of which the whole
    matrix is made.
    """
    X, _ = table(0, d=6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AdditiveKernelSelector(3).fit(X)
    monkeypatch.setattr(fsel_book.groups, "LARGE_BYTES", 40_000)
    with pytest.warns(UserWarning) as said:
        AdditiveKernelSelector(3).fit(X)
    (words,) = [str(one.message) for one in said]
    assert "The factors of the kernels have" in words and "smaller gamma" in words
    with pytest.warns(UserWarning, match="larger tol of kernel_bss"):
        kernel_bss(rbf_kernels(X), 3, "auto")
    # one column each: the matrices take the memory
    monkeypatch.setattr(fsel_book.groups, "LARGE_BYTES", 20_000)
    with pytest.warns(UserWarning) as said:
        AdditiveKernelSelector(3, kernel="linear").fit(X)
    (words,) = [str(one.message) for one in said]
    assert "kernel='linear' makes a matrix of shape (40, 40)" in words
    assert "Fewer samples take less" in words and said[0].filename == __file__


def test_a_kernel_that_is_none_is_refused_by_the_name_of_its_feature():
    frame = load_wine(as_frame=True).data
    wrong = AdditiveKernelSelector(
        2, kernel=lambda x, z: x @ z.T if x[0, 0] == WINE[0, 0] else -x @ z.T
    )
    with refused("kernel of feature 'malic_acid' is not positive semi-definite: its"):
        wrong.fit(frame)


def test_work_for_labels_grows_with_their_number():
    """Twenty thousand genes and a category; squares of their number took minutes."""
    d = 20_000
    names = np.array([f"gene{j}" for j in range(d)])
    start = time.process_time()
    groups = column_groups({name: [name] for name in names}, d, names)
    scores = group_scores(
        dict.fromkeys(names.tolist(), 1.0), np.ones((2, d)), None, groups, []
    )
    assert len(scores.of_groups) == d
    assert time.process_time() - start < 10


@pytest.mark.parametrize("scored", [True, False])
@pytest.mark.parametrize("constrained", [True, False])
def test_the_first_feasible_group_is_found_without_judging_all(
    scored, constrained, monkeypatch
):
    """Where the order does not depend on slack; few at a time or all at once, the picks
    are the same.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 400)) @ np.diag(np.linspace(1, 3, 400))
    of_column = np.minimum(np.arange(400), 390)
    space = ridge_space(X, 3000.0)
    options = {"rule": "best" if scored else "largest-norm"}
    if scored:
        options["scores"] = rng.random(391) ** 4
    if constrained:
        options["constraints"] = Constraints([390], exactly_one={"a": [7, 8]})
    judged = []
    whole = GroupBarriers.judge_groups

    def counted(self, rows):
        judged.append(len(rows))
        return whole(self, rows)

    monkeypatch.setattr(GroupBarriers, "judge_groups", counted)
    few = group_bss(space, of_column, 12, **options)
    assert len(judged) < 6
    monkeypatch.setattr("fsel_book.groups.SOME_GROUPS", 0)
    every = group_bss(space, of_column, 12, **options)
    assert few.indices.tolist() == every.indices.tolist()
    assert np.allclose(few.weights, every.weights)


def test_random_choices_beside_groups_are_of_as_many_groups():
    """Of columns they would nearly always explain more: a group of many columns is weak."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(8), [1, 1, 1, 1, 6, 6, 6, 6])
    X = rng.standard_normal((60, len(groups))) / np.sqrt(np.bincount(groups))[groups]
    X -= X.mean(axis=0)
    selector = GroupSelector(3, groups=groups).fit(X)
    found = selector.certificate_.plain.explained

    def share(chosen):
        Q = np.linalg.qr(X[:, np.isin(groups, chosen)])[0]
        return np.sum((Q.T @ X) ** 2) / np.sum(X**2)

    every = [share(some) for some in combinations(range(8), 3)]
    assert np.isclose(found.share, share(selector.selected_groups_))
    low, high = found.random_range
    assert min(every) - 1e-9 <= low < high <= max(every) + 1e-9
    below = np.mean(np.array(every) < found.share - 1e-9)
    assert abs(found.n_random_below / found.n_random - below) < 0.12
