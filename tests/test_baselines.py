"""Rank-revealing QR against its theorem, information gain against scikit-learn, random
features, the hand-over.
"""

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
import scipy.sparse as sp
from cases import (
    CASES,
    hadamard,
    heavy,
    refused,
    right_singular_vectors,
    sparse_table,
    stacked_identities,
    swept,
    swept_product,
    table,
    with_condition,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
    VarianceThreshold,
    mutual_info_classif,
)
from sklearn.linear_model import Lasso, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fsel_book import (
    AdditiveKernelSelector,
    BSSSelector,
    CompletionSelector,
    LeverageSelector,
    RandomSelector,
    RRQRSelector,
    SupportVectorSelector,
    as_blocks,
    certify,
    certify_selector,
    information_gain,
    pivoted_qr,
    row_space,
    rrqr,
    strong_rrqr,
)
from fsel_book.baselines import (
    pivots_of,
    random_draws,
    random_features,
    random_promise,
    rrqr_promise,
)


def sigma(A):
    return np.linalg.svd(A, compute_uv=False)


def assert_revealing(A, factors, f):
    """Both inequalities of Gu and Eisenstat, and the bound on the coefficients."""
    m, d = A.shape
    k = factors.k
    assert sorted(factors.permutation) == list(range(d))
    assert_allclose(
        factors.Q @ factors.R, A[:, factors.permutation], atol=1e-12 * np.abs(A).max()
    )
    q = np.sqrt(1 + f**2 * k * (d - k))
    s = sigma(A)
    assert np.all(sigma(factors.R11) * q >= s[:k] * (1 - 1e-9))
    if k < min(m, d):
        assert np.all(sigma(factors.R22) <= q * s[k:] * (1 + 1e-9) + 1e-13 * s[0])
    assert np.abs(factors.coefficients).max(initial=0) <= f * (1 + 1e-6)


def kahan(n, cosine=0.3):
    """Kahan's matrix; the columns shrink a little from left to right, so that pivoting
    leaves them where they are.
    """
    sine = np.sqrt(1 - cosine**2)
    K = np.diag(sine ** np.arange(n)) @ (
        np.eye(n) - cosine * np.triu(np.ones((n, n)), 1)
    )
    return K * (1 - 1e-7) ** np.arange(n)


# ---------------------------------------------------------------- rank-revealing QR


@pytest.mark.parametrize("n", [20, 50, 90])
def test_pivoting_fails_on_the_kahan_matrix_and_strong_rrqr_does_not(n):
    K = kahan(n)
    plain = pivoted_qr(K, n - 1)
    strong = strong_rrqr(K, n - 1, f=1.5)
    assert_array_equal(plain.permutation, np.arange(n))
    lost = sigma(plain.R11)[-1] / sigma(K)[n - 2]
    assert lost < 0.02 * 0.85 ** (n - 20)
    assert strong.n_swaps >= 1 and sigma(strong.R11)[-1] > 0.5 * sigma(K)[n - 2]
    assert_revealing(K, strong, 1.5)


@given(
    m=st.integers(1, 12),
    d=st.integers(2, 30),
    spread=st.floats(0, 4),
    f=st.floats(1.01, 4),
    seed=st.integers(0, 2**32 - 1),
    data=st.data(),
)
@settings(max_examples=150)
def test_strong_rrqr_reveals_the_rank_of_any_matrix(m, d, spread, f, seed, data):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((m, d)) * np.exp(spread * rng.standard_normal(d))
    k = data.draw(st.integers(1, min(m, d)))
    assert_revealing(A, strong_rrqr(A, k, f), f)


@pytest.mark.parametrize(
    "A",
    [
        hadamard(16, 16),
        stacked_identities(5, 4).T,
        np.tile(table(6, 8), (1, 3)),
        with_condition(12, 40, 1e12, np.random.default_rng(0)),
        heavy(60, 8, np.random.default_rng(1)).T,
    ],
    ids=["hadamard", "identities", "duplicates", "condition 1e12", "heavy"],
)
def test_strong_rrqr_of_matrices_with_ties_and_of_bad_condition(A):
    for k in (1, 3, 5):
        assert_revealing(A, strong_rrqr(A, k), 2.0)


def test_pivots_are_those_of_lapack_where_nothing_ties_and_the_lower_index_where_it_does():
    for seed in range(20):
        A = np.random.default_rng(seed).standard_normal((15, 60))
        assert_array_equal(
            pivots_of(A, 15), scipy.linalg.qr(A, pivoting=True, mode="r")[1][:15]
        )
    assert pivots_of(np.tile(np.eye(4), 3), 9) == [0, 1, 2, 3]
    # what is left after many steps is small, and rounding in it has to be taken out
    # once more
    for seed in range(5):
        A = with_condition(40, 60, 1e12, np.random.default_rng(seed))
        assert_array_equal(
            pivots_of(A, 38, floor=0.0),
            scipy.linalg.qr(A, pivoting=True, mode="r")[1][:38],
        )


@pytest.mark.parametrize("strong", [True, False])
@pytest.mark.parametrize("ell, d", [(4, 30), (10, 80), (20, 40)])
def test_certificate_of_rrqr_keeps_its_promise_and_is_the_interpolation_theorem(
    strong, ell, d
):
    for seed in range(10):
        V = heavy(d, ell, np.random.default_rng(seed))
        chosen = rrqr(V, ell, strong=strong)
        c = certify(V, chosen, rrqr_promise(ell, d, strong))
        assert c.holds and c.promise.lower > 0
        others = np.setdiff1d(np.arange(d), chosen.indices)
        T = np.linalg.solve(V[chosen.indices].T, V[others].T)
        assert_allclose(c.interval[0], 1 / (1 + np.linalg.norm(T, 2) ** 2), rtol=1e-8)
        if strong:
            assert np.abs(T).max() <= 2 * (1 + 1e-6)


def test_what_the_chosen_columns_leave_of_the_data_is_bounded_by_the_certificate():
    X = table(25, 60)
    s = sigma(X)
    for rank, r in ((5, 5), (5, 12), (10, 25)):
        selector = RRQRSelector(r, rank=rank).fit(X)
        C = selector.transform(X)
        rest = X - C @ np.linalg.lstsq(C, X)[0]
        low = selector.certificate_.interval[0]
        assert np.sum(rest**2) <= np.sum(s[rank:] ** 2) / low * (1 + 1e-9)
        assert np.linalg.norm(rest, 2) ** 2 <= s[rank] ** 2 / low * (1 + 1e-9)


def regressions(X, y, k, chosen):
    """What prp-rrqr-loss speaks of: the weights on the components, on the columns, of
    least norm; sine and spectrum.
    """
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    Q = np.linalg.qr(X[:, chosen])[0]
    w_k = Vt[:k].T @ (U[:, :k].T @ y / s[:k])
    w_hat = np.zeros(X.shape[1])
    w_hat[chosen] = np.linalg.lstsq(X[:, chosen], y)[0]
    sine = np.linalg.norm(U[:, :k] - Q @ (Q.T @ U[:, :k]), 2)
    return w_k, w_hat, np.linalg.lstsq(Q @ (Q.T @ X), y)[0], sine, s, Vt[:k]


@pytest.mark.parametrize(
    "n, d, k", [(12, 30, 4), (30, 12, 3), (8, 8, 7), (20, 50, 1), (40, 200, 10)]
)
@pytest.mark.parametrize("decay", [0.0, 1.0, 3.0])
def test_what_strong_rrqr_promises_a_regression(n, d, k, decay):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = (
            rng.standard_normal((n, d))
            @ np.diag(np.arange(1.0, d + 1) ** -decay)
            @ rng.standard_normal((d, d))
        )
        y = X @ rng.standard_normal(d) + rng.standard_normal(n)
        f = 1.1
        q = np.sqrt(1 + 1.1**2 * k * (d - k))
        w_k, w_hat, w_tilde, sine, s, Vt = regressions(
            X, y, k, strong_rrqr(X, k, f).permutation[:k]
        )
        left = np.linalg.norm(y - X @ w_hat)
        gap = s[k] / s[k - 1]
        assert sine <= q * gap * (1 + 1e-9)
        assert np.linalg.norm(X @ (w_hat - w_k)) <= sine * np.linalg.norm(y) * (
            1 + 1e-9
        )
        assert np.linalg.norm(Vt @ (w_hat - w_k)) <= sine / s[k - 1] * left * (1 + 1e-9)
        assert np.linalg.norm(w_tilde - w_k) <= q * gap * (
            2 * np.linalg.norm(w_tilde) + left / s[k - 1]
        )
        chosen = rrqr(Vt.T, k, f=f).indices
        T = np.linalg.solve(Vt[:, chosen], np.delete(Vt, chosen, axis=1))
        sine = regressions(X, y, k, chosen)[3]
        tangent = sine / np.sqrt(1 - sine**2)
        assert tangent <= np.linalg.norm(T, 2) * gap * (1 + 1e-6)
        assert np.linalg.norm(T, 2) <= f * np.sqrt(k * (d - k)) * (1 + 1e-6)


@pytest.mark.parametrize("second", [0.9, 0.3, 0.01])
def test_one_of_two_columns_attains_the_bounds_for_a_regression(second):
    """So none of the constants of its parts 1, 2 and 4 can be smaller."""
    rng = np.random.default_rng(0)
    turn = 0.7
    U = np.linalg.qr(rng.standard_normal((6, 2)))[0]
    X = (
        U
        * [1.0, second]
        @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    )
    y = U @ rng.standard_normal(2)
    w_k, w_hat, _, sine, _, Vt = regressions(X, y, 1, np.array([0]))
    assert sine / np.sqrt(1 - sine**2) == pytest.approx(np.tan(turn) * second)
    assert np.linalg.norm(X @ (w_hat - w_k)) == pytest.approx(sine * np.linalg.norm(y))
    assert np.linalg.norm(Vt @ (w_hat - w_k)) == pytest.approx(
        sine * np.linalg.norm(y - X @ w_hat)
    )


def test_the_printed_bound_for_rank_revealing_qr_fails_for_sparse_weights():
    """Section 3 of Boutsidis, Drineas and Magdon-Ismail, with n and with d, for two
    columns that are nearly equal.
    """
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-6, 1e-9):
        x, y = rng.standard_normal((2, 10))
        X = np.column_stack([x, x + size * rng.standard_normal(10)])
        w_k, w_hat, w_tilde, _, s, _ = regressions(
            X, y, 1, strong_rrqr(X, 1).permutation[:1]
        )
        for columns in X.shape:
            factor = np.sqrt(columns - 1 + 1) * s[1] / s[0]
            printed = factor * (
                2 * np.linalg.norm(w_hat) + np.linalg.norm(y - X @ w_k) / s[0]
            )
            assert np.linalg.norm(w_hat - w_k) > 1e-2 / size * printed
        bound = (
            np.sqrt(1 + 4)
            * s[1]
            / s[0]
            * (2 * np.linalg.norm(w_tilde) + np.linalg.norm(y - X @ w_hat) / s[0])
        )
        assert np.linalg.norm(w_tilde - w_k) <= bound


def neighbours(chosen):
    """How many of the chosen columns stand at most two places behind another one."""
    return int(np.sum(np.diff(np.sort(chosen)) <= 2))


def spectra_of_mixtures(n=60, d=400, peaks=12, seed=0):
    """Smooth curves with a little noise: the columns next to each other are nearly
    equal.
    """
    rng = np.random.default_rng(seed)
    curves = np.exp(-(((np.linspace(0, 1, d) - rng.random((peaks, 1))) / 0.05) ** 2))
    return rng.standard_normal((n, peaks)) @ curves + 1e-3 * rng.standard_normal((n, d))


@pytest.mark.parametrize("strong", [True, False])
@pytest.mark.parametrize("n", [60, 800])
def test_columns_beyond_the_certified_rank_are_no_neighbours_of_the_first_ones(
    n, strong
):
    """As spread as those of pivoted QR, in wide and tall data and where leading
    directions are found by sketches.
    """
    for d, r in ((400, 10), (600, 10)):
        X = spectra_of_mixtures(n, d)
        chosen = RRQRSelector(r, strong=strong).fit(X).selected_
        pivots = scipy.linalg.qr(X, pivoting=True, mode="r")[1][:r]
        assert neighbours(chosen) <= neighbours(pivots)
        explained = [
            np.linalg.norm(X - C @ np.linalg.lstsq(C, X)[0])
            for C in (X[:, chosen], X[:, pivots])
        ]
        assert explained[0] <= 1.1 * explained[1]


def test_beyond_the_certified_rank_the_pivots_are_those_of_as_many_directions():
    for X in (table(40, 90, seed=1), table(90, 40, seed=1), sparse_table(40, 90, 0.3)):
        dense = X.toarray() if sp.issparse(X) else X
        U, s, Vt = np.linalg.svd(dense, full_matrices=False)
        for rank, r in ((3, 10), (5, 25), (10, 40)):
            chosen = RRQRSelector(r, rank=rank, strong=False).fit(X).selected_
            part = s[:r, None] * Vt[:r]
            assert_array_equal(
                chosen[:rank],
                scipy.linalg.qr(part[:rank], pivoting=True, mode="r")[1][:rank],
            )
            rest = list(chosen[:rank])
            while len(rest) < r:
                left = part - part[:, rest] @ np.linalg.lstsq(part[:, rest], part)[0]
                rest.append(int(np.argmax(np.round(np.linalg.norm(left, axis=0), 9))))
            assert_array_equal(chosen, rest)


def test_more_columns_keep_the_promise_of_the_first_ones():
    X = table(40, 90, seed=2)
    first = RRQRSelector(6, rank=6).fit(X).certificate_
    for r in (8, 20, 60):
        more = RRQRSelector(r, rank=6).fit(X).certificate_
        assert more.holds and more.promise == first.promise
        assert more.interval[0] >= first.interval[0] * (1 - 1e-9)


def test_rounds_choose_in_the_directions_of_the_space_only():
    X = table(40, 90, seed=2)
    part = row_space(X, rank=6)
    rotated = part.basis() * part.singular_values
    chosen = rrqr(part, 18, strong=False, rounds=True).indices
    left = np.arange(90)
    for begin in (0, 6, 12):
        pivots = left[scipy.linalg.qr(rotated[left].T, pivoting=True, mode="r")[1][:6]]
        assert_array_equal(chosen[begin : begin + 6], pivots)
        left = np.setdiff1d(left, pivots)


def test_rounds_do_not_depend_on_the_order_of_the_columns():
    X = table(20, 200)
    order = np.random.default_rng(0).permutation(200)
    for strong in (True, False):
        chosen = RRQRSelector(70, strong=strong).fit(X).selected_
        shuffled = RRQRSelector(70, strong=strong).fit(X[:, order]).selected_
        assert_array_equal(order[shuffled], chosen)
        assert len(np.unique(chosen)) == 70


@pytest.mark.parametrize("f", [1, 1.0, 0.5, -2, np.nan, np.inf, "2", None, True])
def test_a_factor_that_is_not_above_one_is_refused(f):
    with refused(f"f={f!r} is not possible", "above 1"):
        RRQRSelector(5, f=f).fit(table(8, 20))
    with refused(f"f={f!r} is not possible"):
        strong_rrqr(table(8, 20), 3, f)


@pytest.mark.parametrize("k", [0, 9, -1, 2.0, True])
def test_a_number_of_columns_that_is_not_there_is_refused(k):
    with refused(f"k={k!r} is not possible"):
        strong_rrqr(table(8, 20), k)
    low_rank = table(8, 3) @ table(3, 20)
    with refused("k=4 is not possible", "numerical rank 3"):
        strong_rrqr(low_rank, 4)


# ---------------------------------------------------------------- information gain


@swept_product(
    ("labels", "form"),
    [
        ("two", np.asarray),
        ("five", np.asarray),
        ("five", sp.csr_array),
        ("text", sp.csr_array),
        ("text", pd.DataFrame),
        ("truth", np.asarray),
    ],
    ["two", "five", "text", "truth"],
    [np.asarray, sp.csr_array, pd.DataFrame, sp.csc_matrix, sp.coo_array],
)
def test_information_gain_is_mutual_information_with_presence(form, labels):
    rng = np.random.default_rng(0)
    X = sparse_table(60, 120, 0.2).toarray()
    X[:, 5] = 0.0
    X[:, 6] = 1.0
    y = {
        "two": rng.integers(0, 2, 60),
        "five": rng.integers(0, 5, 60),
        "text": rng.choice(["ham", "spam"], 60),
        "truth": rng.random(60) < 0.3,
    }[labels]
    gain = information_gain(form(X), y)
    assert_allclose(
        gain, mutual_info_classif(X != 0, y, discrete_features=True), rtol=0, atol=1e-12
    )
    assert np.all(gain >= 0) and gain[5] == gain[6] == 0


def test_stored_zeros_are_absent_and_duplicates_are_added_up():
    rows = [0, 1, 2, 2, 3, 3]
    columns = [0, 0, 0, 1, 1, 1]
    X = sp.csr_array(
        (np.array([1.0, 0.0, 1.0, 1.0, 2.0, -2.0]), (rows, columns)), shape=(4, 2)
    )
    raw = sp.csr_array(
        ([1.0, 0.0, 1.0, 1.0, 2.0, -2.0], columns, [0, 1, 2, 4, 6]), shape=(4, 2)
    )
    y = [0, 1, 0, 1]
    expected = mutual_info_classif(X.toarray() != 0, y, discrete_features=True)
    assert_allclose(information_gain(X, y), expected, atol=1e-12)
    assert_allclose(information_gain(raw, y), expected, atol=1e-12)


def test_information_gain_in_select_k_best_and_on_arrays_of_any_library(library):
    X = sparse_table(40, 60, 0.2).toarray()
    y = (X[:, 3] != 0).astype(int)
    assert SelectKBest(information_gain, k=1).fit(X, y).get_support(indices=True) == [3]
    found = information_gain(library.make(X), y)
    assert library.is_result(found, "float64")
    assert_allclose(library.back(found), information_gain(X, y), atol=1e-14)


def test_labels_that_say_nothing_are_refused():
    X = np.eye(4)
    with refused("one class"):
        information_gain(X, [1, 1, 1, 1])
    with refused("class labels"):
        information_gain(X, [0.1, 0.2, 0.3, 0.4])
    with refused("y has 3 labels", "4 samples"):
        information_gain(X, [0, 1, 0])
    with refused("NaN"):
        information_gain(np.where(X > 0, np.nan, 0.0), [0, 1, 0, 1])


# ---------------------------------------------------------------- random features


@swept("kind", ["heavy"], ["even"])
def test_random_features_break_their_promise_no_more_often_than_promised(kind):
    V = (
        hadamard(256, 256)[:, 1:7]
        if kind == "even"
        else heavy(256, 6, np.random.default_rng(0))
    )
    space = row_space(V.T)
    for r in (40, 120, 250):
        promise = random_promise(space, r, delta=0.1)
        broken = sum(
            not certify(space, random_features(space, r, seed), promise).holds
            for seed in range(200)
        )
        assert broken <= 0.1 * 200
        sampling = random_features(space, r, 0)
        assert sampling.n_selected == r and np.all(sampling.weights == 256 / r)


@swept("runs", [900], [3000])
def test_random_features_are_uniform_and_all_of_them_are_exact(runs):
    V = heavy(12, 3, np.random.default_rng(0))
    counts = np.bincount(
        np.concatenate([random_features(V, 4, seed).indices for seed in range(runs)]),
        minlength=12,
    )
    assert np.all(np.abs(counts / (runs / 3) - 1) < 5 * np.sqrt(2 / runs))
    everything = certify(
        V, random_features(V, 12, 0), random_promise(row_space(V.T), 12)
    )
    assert everything.holds and everything.eps < 1e-10


def test_auto_is_the_least_number_for_the_promise_or_all_features():
    space = row_space(hadamard(1024, 1024)[:, 1:5].T)
    r = random_draws(space, 0.5)
    assert random_promise(space, r).eps <= 0.5 < random_promise(space, r - 1).eps
    assert (
        RandomSelector("theorem", rank=4, random_state=0)
        .fit(hadamard(1024, 1024)[:, 1:5].T)
        .n_draws_
        == r
    )
    coherent = row_space(np.hstack([np.eye(3), 1e-6 * np.ones((3, 20))]))
    assert random_draws(coherent, 0.5) == 23


# ---------------------------------------------------------------- scikit-learn's
# selectors


@pytest.mark.parametrize(
    "make",
    [
        lambda: SelectKBest(k=15),
        lambda: VarianceThreshold(0.5),
        lambda: RFE(RidgeClassifier(), n_features_to_select=12, step=5),
        lambda: SelectFromModel(Lasso(alpha=0.05)),
        lambda: SequentialFeatureSelector(
            RidgeClassifier(), n_features_to_select=2, cv=2
        ),
    ],
    ids=["k best", "variance", "rfe", "model", "sequential"],
)
def test_certificate_of_a_selector_of_scikit_learn(make):
    X = table(20, 30)
    selector = make().fit(X, X[:, 4] > 0)
    kept = selector.get_support(indices=True)
    c = certify_selector(selector, X)
    # as `BSSSelector` would by default: at the ridge at which a quarter counts
    rank = min(20, 2 * len(kept))
    left, sizes = np.linalg.svd(X)[:2]
    counts = np.sum(sizes[:rank] ** 2 / (sizes[:rank] ** 2 + c.ridge))
    assert counts == pytest.approx(rank / 4)
    assert (c.rank, c.n_selected, c.n_draws, c.promise) == (
        rank,
        len(kept),
        len(kept),
        None,
    )
    turned = left[:, :rank].T @ X
    ridge = c.ridge * np.eye(rank)
    expected = scipy.linalg.eigh(
        turned[:, kept] @ turned[:, kept].T + ridge,
        turned @ turned.T + ridge,
        eigvals_only=True,
    )
    assert_allclose(c.eigenvalues, expected, atol=1e-10)
    assert c.method == type(selector).__name__ and c.method in c.sentences()[0]
    assert (
        certify_selector(selector, sp.csr_array(X), rank=1, method="mine").method
        == "mine"
    )


OWN = {name: case.make(12) for name, case in CASES.items()} | {
    "completion": CompletionSelector([1, 2], 10, rank=5),
    "completion, auto": CompletionSelector([1, 2]),
    "BSS, full rank": BSSSelector(25, rank="full"),
    "BSS, sketched": BSSSelector(12, sketch_size=15, random_state=0),
    "BSS, a fraction": BSSSelector(0.3),
    "BSS, a ridge": BSSSelector(12, ridge=300.0),
    "BSS, its own ridge": BSSSelector(12, ridge="auto"),
    "leverage, a ridge": LeverageSelector(12, ridge=300.0, random_state=0),
    "completion, a ridge": CompletionSelector([1, 2], 10, ridge=300.0),
}


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_the_certificate_of_a_selector_of_the_book_is_its_own(name, form):
    """With its weights, on the same rows with its promise; on other rows the theorem
    promises nothing.
    """
    X = table(20, 60)
    new = table(15, 60, seed=1)
    selector = clone(OWN[name]).fit(form(X), X[:, 3] > 0)
    own = selector.certificate_
    found = certify_selector(selector, X)
    other = certify_selector(selector, form(new))
    assert (
        type(found) is type(own)
        and found.promise == own.promise
        and str(found) == str(own)
    )
    assert_allclose(found.eigenvalues, own.eigenvalues, rtol=1e-8)
    assert (
        type(other) is type(own)
        and other.promise is None
        and other.method == own.method
    )
    if own.ridge is None:
        V = right_singular_vectors(new, min(own.rank, 15))[selector.selected_]
        spectrum = np.linalg.eigvalsh(V.T * selector.weights_ @ V)
    else:
        C = new[:, selector.selected_]
        at = own.ridge * np.eye(15)
        part = C * selector.weights_ @ C.T + at
        spectrum = scipy.linalg.eigh(part, new @ new.T + at, eigvals_only=True)
    assert_allclose(other.eigenvalues, spectrum, atol=1e-9)
    at_rank_2 = certify_selector(selector, X, rank=2, method="mine")
    assert at_rank_2.rank == 2 and at_rank_2.method == "mine"
    V = right_singular_vectors(X, 2)[selector.selected_]
    assert_allclose(
        at_rank_2.eigenvalues,
        np.linalg.eigvalsh(V.T * selector.weights_ @ V),
        atol=1e-9,
    )


def test_own_certificates_of_support_vectors_and_in_pipelines():
    X = table(60, 30)
    y = (X[:, 4] > 0).astype(int)
    selector = SupportVectorSelector(BSSSelector(8, rank=4)).fit(X, y)
    on_support, on_all = (
        certify_selector(selector, rows) for rows in (X[selector.support_samples_], X)
    )
    assert str(on_support) == str(selector.certificate_) and on_all.promise is None
    V = right_singular_vectors(X, on_all.rank)[selector.selected_]
    assert_allclose(
        on_all.eigenvalues, np.linalg.eigvalsh(V.T * selector.weights_ @ V), atol=1e-9
    )
    pipe = make_pipeline(StandardScaler(), BSSSelector(8), RidgeClassifier()).fit(X, y)
    assert str(certify_selector(pipe[1], pipe[:1].transform(X))) == str(
        pipe[1].certificate_
    )
    with refused("fitted on 30 features, but X has 29"):
        certify_selector(selector, X[:, 1:])
    with pytest.raises(NotFittedError):
        certify_selector(BSSSelector(8), X)


def test_any_selector_can_be_certified_at_a_ridge():
    X = table(20, 60)
    selector = SelectKBest(k=12).fit(X, X[:, 3] > 0)
    kept = selector.get_support(indices=True)
    whole = X @ X.T + 5 * np.eye(20)
    part = X[:, kept] @ X[:, kept].T + 5 * np.eye(20)
    found = certify_selector(selector, X, ridge=5.0)
    assert found.ridge == 5 and found.promise is None
    spectrum = scipy.linalg.eigh(part, whole, eigvals_only=True)
    assert_allclose(found.eigenvalues, spectrum, atol=1e-10)
    auto = certify_selector(selector, X, ridge="auto")
    assert_allclose(auto.effective_dimension, 20 / 4)
    own = BSSSelector(12, ridge=200.0).fit(X)
    assert certify_selector(own, X, ridge=6.0).promise is None
    assert certify_selector(own, X, rank=4).ridge is None
    # along the leading directions alone
    U = np.linalg.svd(X)[0][:, :4]
    found = certify_selector(selector, X, rank=4, ridge=5.0)
    spectrum = scipy.linalg.eigh(U.T @ part @ U, U.T @ whole @ U, eigvals_only=True)
    assert_allclose(found.eigenvalues, spectrum, atol=1e-10)


def test_weights_of_kernels_are_no_weights_of_columns():
    X = table(20, 12)
    selector = AdditiveKernelSelector(4).fit(X)
    found = certify_selector(selector, X)
    assert_array_equal(found.eigenvalues, found.eigenvalues_unscaled)
    assert found.rank == 8 and found.n_selected == 4


def test_own_certificates_of_blocks():
    X = np.random.default_rng(0).standard_normal((40, 90))
    for axis in (0, 1):
        blocks = as_blocks(
            lambda axis=axis: iter(np.array_split(X, 3, axis=axis)), axis=axis
        )
        selector = BSSSelector(12).fit(blocks)
        assert certify_selector(selector, X).promise == selector.certificate_.promise
        assert certify_selector(selector, X[:30]).promise is None


def test_what_cannot_be_certified_is_refused():
    X = table(20, 30)
    y = X[:, 4] > 0
    with pytest.raises(NotFittedError):
        certify_selector(SelectKBest(k=3), X)
    pipeline = make_pipeline(SelectKBest(k=3), RidgeClassifier()).fit(X, y)
    with refused("Pipeline", "get_support", error=TypeError):
        certify_selector(pipeline, X)
    with refused("fitted on 30 features, but X has 29"):
        certify_selector(SelectKBest(k=3).fit(X, y), X[:, 1:])
    with refused("rank=21 is not possible", "numerical rank 20"):
        certify_selector(SelectKBest(k=25).fit(X, y), X, rank=21)


def test_a_selector_is_certified_on_the_columns_that_it_has_seen():
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((30, 8))).add_prefix("c")
    y = np.arange(30) % 2
    selector = SelectKBest(k=3).fit(X, y)
    assert certify_selector(selector, X).n_selected == 3
    for other in (X.iloc[:, ::-1], X.rename(columns={"c0": "d0"})):
        with pytest.raises(
            ValueError,
            match="another order of columns, than those that selector=SelectKBest",
        ):
            certify_selector(selector, other)


def test_no_promise_comes_from_rounding():
    """Where what is left out may hold a whole direction nothing is promised, for all
    numbers of features.
    """
    for d in range(10, 200):
        space = row_space(
            np.random.default_rng(d).standard_normal((3, d)) * (np.arange(d) < d // 2)
        )
        assert random_promise(space, 1).lower == 0
    with pytest.raises(ValueError, match="d=5 is not possible"):
        rrqr_promise(10, 5)
