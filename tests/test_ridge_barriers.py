"""Barriers at a ridge: the theorem, the literal search, and the fast one."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from cases import swept, swept_seeds
from numpy.testing import assert_allclose, assert_array_equal

from fsel_book import BSSSelector, CompletionSelector, LeverageSelector, certify
from fsel_book.barriers import RidgeBarriers
from fsel_book.column_search import round_ties
from fsel_book.ridge_barriers import largest_ridge_leverages, ridge_bss_reference
from fsel_book.sparsification import bss, bss_reference, ridge_promise
from fsel_book.spectra import (
    effective_dimension,
    ridge_of_dimension,
    ridge_space,
    row_space,
)
from fsel_book.spectra_engine import one_of_each

KINDS = ["gaussian", "heavy", "rounded", "copies", "deficient", "blank"]


def problem(seed, most=1e12):
    """Data of one of these kinds, a ridge between 1/most and most times the top
    eigenvalue, and a number of draws for which the theorem holds.
    """
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    n, d = rng.integers(2, 25), rng.integers(3, 60)
    X = rng.standard_normal((n, d))
    if kind == "heavy":
        X *= rng.pareto(0.7, d)
    elif kind == "rounded":
        X = np.round(X)
        X[0, 0] = 1.0
    elif kind == "copies":
        X[:, d // 2 :] = X[:, : d - d // 2]
    elif kind == "deficient":
        X[n // 2 :] = X[: n - n // 2]
    elif kind == "blank":
        X[:, rng.random(d) < 0.4] = 0.0
        X[0, 0] = 1.0
    top = np.linalg.norm(X, 2) ** 2
    ridge = top * most ** rng.uniform(-1, 1)
    ell = effective_dimension(row_space(X).singular_values, ridge)
    r = int(ell / 0.98) + 1 + int(rng.integers(0, 10))
    return X, r, ridge


def literal_forms(rows, D, B, tau, r):
    """`lower` and `upper` of all rows, with every matrix inverted as it stands."""
    s = np.sqrt(D.sum() / r)
    g = 1 + s
    below = s * (tau + r) - g * tau * D
    above = g * s / (1 - s) * (tau + r) + g * tau * D
    N = np.linalg.inv(np.diag(below - D) + B)
    P = np.linalg.inv(np.diag(above + g * s / (1 - s) + g * D) - B)
    rise = np.sum(D * np.diag(N - np.linalg.inv(np.diag(below) + B)))
    fall = np.sum(D * np.diag(np.linalg.inv(np.diag(above) - B) - P))

    def forms(M):
        return np.sum((rows @ M) * rows, axis=1)

    return (
        forms((N * D) @ N) / rise - forms(N),
        forms((P * D) @ P) / fall + forms(P),
    )


@swept("block", range(5), range(5, 10))
def test_each_fast_pick_is_one_that_the_literal_search_could_make(block):
    """50 problems each, from 1e-12 to 1e12 times the top eigenvalue: at every step the
    first of the columns, up to ties in the sixth digit, and its weight.
    """
    n_equal = 0
    for seed in range(50 * block, 50 * block + 50):
        X, r, ridge = problem(seed)
        rule = ["best", "largest-norm"][seed // 7 % 2]
        space = ridge_space(X, ridge)
        fast = bss(space, r, rule)
        literal = ridge_bss_reference(X, r, ridge, rule)
        n_equal += np.array_equal(fast.indices, literal.indices)

        D, rows = space.shrinkage, space.basis()
        norms = np.sum(rows**2, axis=1)
        # of multiples of one another the longest stands for all
        usable = norms > space.negligible
        usable &= one_of_each(space.first_multiple, round_ties(norms))
        g = 1 + np.sqrt(D.sum() / r)
        B = np.zeros((len(D), len(D)))
        taken = np.zeros(len(rows), dtype=bool)
        if len(fast.indices) < r:  # the order of repeated picks is not known
            continue
        for tau, (i, w) in enumerate(zip(fast.indices, fast.weights)):
            lower, upper = literal_forms(rows, D, B, tau, r)
            slack = lower - upper
            size = np.abs(lower[usable]).max()
            assert usable[i] and slack[i] >= -1e-6 * size, f"seed {seed}"
            keys = norms if rule == "largest-norm" else slack
            before = keys[usable & ~taken & (slack > 1e-6 * size)]
            tie = 1e-9 * keys[i] if rule == "largest-norm" else 1e-5 * size
            assert keys[i] >= before.max(initial=-np.inf) - tie, f"seed {seed}"
            t = 2 / (lower[i] + upper[i])
            assert_allclose(w * g * r, t, rtol=1e-5, err_msg=f"seed {seed}")
            B += t * np.outer(rows[i], rows[i])
            taken[i] = True
    # ties and repeated picks apart they are the same
    assert n_equal >= 35


@pytest.mark.parametrize("seed", range(120))
def test_the_promise_is_kept(seed):
    """For the ridge and larger ones, measured on the matrices themselves."""
    X, r, ridge = problem(seed, most=1e6)
    space = ridge_space(X, ridge)
    sampling = bss(space, r, ["best", "largest-norm"][seed % 2])
    promise = ridge_promise(space.effective_dimension, r)
    assert certify(space, sampling, promise).holds
    chosen = X[:, sampling.indices] * np.sqrt(sampling.weights)
    for larger in (1.0, 7.0, 1e4):
        K = X @ X.T + larger * ridge * np.eye(len(X))
        lam, Q = np.linalg.eigh(K)
        H = Q / np.sqrt(lam)
        M = H.T @ (chosen @ chosen.T + larger * ridge * np.eye(len(X))) @ H
        spectrum = np.linalg.eigvalsh(M)
        assert promise.lower * (1 - 1e-6) < spectrum[0]
        assert spectrum[-1] < promise.upper * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(60))
def test_a_feasible_column_exists_whatever_was_taken(seed):
    X, r, ridge = problem(seed)
    space = ridge_space(X, ridge)
    rows = space.basis()
    norms = np.sum(rows**2, axis=1)
    barriers = RidgeBarriers(space.shrinkage, r)
    rng = np.random.default_rng(seed)
    for _ in range(r):
        lower, upper = barriers.judge(rows)
        assert upper.sum() <= (1 - barriers.s) * (1 + 1e-6)
        assert lower.sum() >= (1 - barriers.s) * (1 - 1e-6)
        feasible = (upper <= lower) & (norms > 1e-12 * norms.max())
        barriers.add(rows[rng.choice(np.flatnonzero(feasible))])


@pytest.mark.parametrize("n", [30, 90])
def test_many_directions_are_judged_as_few_are(n):
    """With more than twice as many directions as draws, inverses are split."""
    rng = np.random.default_rng(n)
    sigma = np.sort(rng.random(n) ** 4)[::-1]
    rows = np.linalg.qr(rng.standard_normal((300, n)))[0]
    for ridge in (1e-3, 0.1, 1e6):
        D = sigma**2 / (sigma**2 + ridge)
        r = int(D.sum()) + 4
        barriers = RidgeBarriers(D, r)
        s, g = barriers.s, barriers.g
        B = np.zeros((n, n))
        V = rows * np.sqrt(D)
        for tau in range(r):
            below = s * (tau + r) - g * tau * D
            above = g * s / (1 - s) * (tau + r) + g * tau * D
            N = np.linalg.inv(np.diag(below - D) + B)
            P = np.linalg.inv(np.diag(above + g * s / (1 - s) + g * D) - B)
            rise = np.trace(N * D - np.linalg.inv(np.diag(below) + B) * D)
            fall = np.trace(np.linalg.inv(np.diag(above) - B) * D - P * D)
            C = (N * D) @ N / rise - N - (P * D) @ P / fall - P
            size = np.abs(C).max()
            assert_allclose(barriers.slack_matrix(), C, atol=1e-6 * size)
            slack = np.sum(V @ C * V, axis=1)
            scale = np.abs(slack).max()
            assert_allclose(barriers.slack(V), slack, atol=1e-6 * scale)
            i = int(np.argmax(slack))
            t = barriers.add(V[i])
            B += t * np.outer(V[i], V[i])


def test_without_a_ridge_it_is_bss_at_full_rank():
    """Up to the scale of the weights."""
    X = np.random.default_rng(0).standard_normal((8, 120))
    space = row_space(X)
    for rule in ("best", "largest-norm"):
        whole = bss_reference(space.basis(), 30, rule)
        nearly = bss(ridge_space(X, 1e-10), 30, rule)
        assert_array_equal(nearly.indices, whole.indices)
        ratio = nearly.weights / whole.weights
        assert_allclose(ratio, ratio[0], rtol=1e-6)


def test_a_constant_preference_gives_the_plain_picks():
    X = np.random.default_rng(1).standard_normal((10, 80))
    plain = BSSSelector(12, ridge="auto", rule="largest-norm").fit(X)
    constant = BSSSelector(12, ridge="auto", score_func=np.ones(80)).fit(X)
    assert_array_equal(plain.selected_, constant.selected_)
    assert_allclose(plain.weights_, constant.weights_)


@pytest.mark.parametrize("power", [-40, 3, 40])
def test_units_change_nothing(power):
    X = np.random.default_rng(2).standard_normal((15, 60))
    selector = BSSSelector(10, ridge=30.0).fit(X)
    scaled = BSSSelector(10, ridge=30.0 * 4.0**power).fit(X * 2.0**power)
    assert_array_equal(selector.selected_, scaled.selected_)
    assert_allclose(selector.weights_, scaled.weights_)
    at = scaled.certificate_
    assert_allclose(at.eigenvalues, selector.certificate_.eigenvalues)
    assert at.ridge == 30.0 * 4.0**power


@pytest.mark.parametrize("shape", [(20, 70), (70, 20)])
def test_forms_of_data_make_the_same_choice(shape):
    rng = np.random.default_rng(3)
    X = rng.standard_normal(shape) * (rng.random(shape) < 0.4)
    dense = BSSSelector(9, ridge="auto").fit(X)
    assert dense.certificate_.holds
    for data in (sp.csr_array(X), sp.csc_array(X), np.asfortranarray(X)):
        assert_array_equal(
            BSSSelector(9, ridge="auto").fit(data).selected_, dense.selected_
        )
    narrow = BSSSelector(9, ridge="auto").fit(X.astype(np.float32))
    assert_array_equal(narrow.selected_, dense.selected_)
    order = rng.permutation(shape[1])
    permuted = BSSSelector(9, ridge="auto").fit(X[:, order])
    assert_array_equal(np.sort(order[permuted.selected_]), np.sort(dense.selected_))


def test_the_certificate_speaks_of_the_ridge():
    X = np.random.default_rng(4).standard_normal((30, 50))
    certificate = BSSSelector(12, ridge="auto").fit(X).certificate_
    ell = certificate.effective_dimension
    assert 0 < ell <= 6 + 1e-9
    assert_allclose(effective_dimension(np.linalg.svd(X)[1], certificate.ridge), ell)
    text = " ".join(str(certificate).split())  # wherever lines are broken
    assert "ridge" in text and "dimensions count" in text and "holds" in text
    assert "rank" not in certificate.title()


def test_auto_draws_are_enough_for_eps():
    X = np.random.default_rng(5).standard_normal((12, 400))
    selector = BSSSelector("theorem", ridge=3000.0, eps=0.9).fit(X)
    low, high = selector.certificate_.interval
    assert selector.certificate_.promise.eps <= 0.9
    assert max(1 - low, high - 1) <= 0.9


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (dict(ridge=0.0), "ridge=0.0 is not possible"),
        (dict(ridge=-1.0), "ridge=-1.0 is not possible"),
        (dict(ridge=np.nan), "ridge=nan is not possible"),
        (dict(ridge="large"), "ridge='large' is not possible.*auto"),
        (dict(ridge=1.0, rank=21), "rank=21 is not possible: X has numerical rank 20"),
        (dict(ridge=1e-9), "effective dimension at ridge=1e-09 is .*larger ridge"),
        (dict(ridge=1.0, sketch_size=9), "sketch_size and ridge"),
        (
            dict(ridge="auto", n_features_to_select="theorem"),
            "give one of them as a number",
        ),
    ],
)
def test_what_is_impossible_is_refused(parameters, words):
    X = np.random.default_rng(6).standard_normal((20, 30))
    with pytest.raises(ValueError, match=words):
        BSSSelector(**{"n_features_to_select": 5, **parameters}).fit(X)


def test_no_ridge_has_an_impossible_dimension():
    for dimension in (0, -1, 3, 5):
        with pytest.raises(ValueError, match="dimension="):
            ridge_of_dimension([3.0, 2.0, 1.0, 0.0], dimension)
    for dimension in (1e-9, 0.5, 2.999):
        ridge = ridge_of_dimension([1e9, 2.0, 1e-9, 0.0], dimension)
        found = effective_dimension([1e9, 2.0, 1e-9, 0.0], ridge)
        assert_allclose(found, dimension, rtol=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_the_largest_ridge_leverages(seed):
    X, _, ridge = problem(seed, most=100)
    space = ridge_space(X, ridge)
    sampling, promise = largest_ridge_leverages(space, 0.3)
    assert promise.lower > 0.7 - 1e-9
    assert certify(space, sampling, promise).holds
    # one fewer leaves out too much
    rest = np.delete(space.leverage_scores, sampling.indices[:-1]).sum()
    assert sampling.n_selected == 1 or rest >= 0.3 - 1e-9


@swept_seeds(8, 100)
def test_what_the_span_of_plain_columns_misses(seeds):
    """The longest direction of the data and the angles to leading components, by the
    promised and by the measured lower end.
    """
    for seed in seeds:
        X, r, ridge = problem(seed, most=1e4)
        space = ridge_space(X, ridge)
        chosen = bss(space, r, "best")
        basis = np.linalg.svd(X[:, chosen.indices], full_matrices=False)
        Q = basis[0][:, basis[1] > 1e-9 * basis[1][0]]
        U, S = np.linalg.svd(X)[:2]
        missed = np.linalg.norm(X - Q @ (Q.T @ X), 2) ** 2
        for lower in (
            ridge_promise(space.effective_dimension, r).lower,
            certify(space, chosen).interval[0],
        ):
            most = ridge * max(1 / lower - 1, 0) * (1 + 1e-6) + 1e-12 * S[0] ** 2
            assert missed <= most
            for k in range(1, int(np.sum(S > 1e-6 * S[0])) + 1):
                sine = np.linalg.norm(U[:, :k] - Q @ (Q.T @ U[:, :k]), 2)
                assert sine**2 <= most / S[k - 1] ** 2 + 1e-12


@pytest.mark.parametrize(
    "make",
    [
        partial(BSSSelector, 40),
        partial(LeverageSelector, 40, random_state=0),
        partial(LeverageSelector, 40, rule="largest"),
        partial(CompletionSelector, [5, 9], 38),
    ],
)
def test_sparse_data_stay_sparse_at_a_ridge(make):
    """As a dense matrix the data would take 192 MB; the choice is that of the dense
    ones, here of a part that fits.
    """
    rng = np.random.default_rng(0)
    places = rng.integers(160, size=48_000), rng.integers(150_000, size=48_000)
    X = sp.csc_array((rng.standard_normal(48_000), places), shape=(160, 150_000))
    tracemalloc.start()
    try:
        found = make(ridge=1000.0).fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.certificate_.holds and peak < 96e6
    part = X[:, :2000]
    sparse, dense = make(ridge=30.0).fit(part), make(ridge=30.0).fit(part.toarray())
    assert_array_equal(sparse.selected_, dense.selected_)
    assert_allclose(sparse.weights_, dense.weights_, rtol=1e-6)


@swept_seeds(10, 100)
def test_sparse_data_are_centred_at_a_ridge_without_being_made_dense(seeds):
    """Selections and certificates are those of the dense data less their means."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(4, 30)), int(rng.integers(4, 60))
        X = rng.standard_normal((n, d)) + rng.uniform(0, 20)
        X *= (rng.random((n, d)) < 0.5) * rng.pareto(2.0, d)
        if seed % 3 == 0:
            X[:, 0] = 3.0  # constant: nothing is left of it
        centred = X - X.mean(axis=0)
        ridge = np.linalg.norm(centred, 2) ** 2 * 10 ** rng.uniform(-4, 1)
        dense = ridge_space(centred, ridge)
        for form in (sp.csr_array, sp.csc_array):
            sparse = ridge_space(row_space(form(X), center=True), ridge)
            assert_allclose(sparse.scores64, dense.scores64, rtol=1e-6, atol=1e-9)
            r = int(dense.effective_dimension / 0.98) + 3
            for rule in ("best", "largest-norm"):
                ours, theirs = bss(sparse, r, rule), bss(dense, r, rule)
                assert_array_equal(ours.indices, theirs.indices)
                assert_allclose(ours.weights, theirs.weights, rtol=1e-5)
                promise = ridge_promise(sparse.effective_dimension, r)
                found = certify(sparse, ours, promise)
                assert found.holds
                assert_allclose(
                    found.eigenvalues[[0, -1]],
                    certify(dense, theirs).eigenvalues[[0, -1]],
                    rtol=1e-6,
                )


@pytest.mark.parametrize("shape", [(160, 150_000), (150_000, 160)])
def test_centring_sparse_data_takes_no_dense_matrix(shape):
    """Which would take 192 MB."""
    rng = np.random.default_rng(0)
    places = tuple(rng.integers(side, size=48_000) for side in shape)
    X = sp.csc_array((rng.random(48_000), places), shape=shape)
    tracemalloc.start()
    try:
        space = ridge_space(row_space(X, center=True), 1000.0)
        found = certify(space, bss(space, 40, "best"), ridge_promise(30.0, 40))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.interval[0] > 0 and peak < 96e6


def test_what_cannot_be_centred_is_refused():
    for X in (np.ones((4, 9)), np.full((9, 4), 0.1)):
        for form in (np.asarray, sp.csr_array):
            with pytest.raises(ValueError, match="constant"):
                row_space(form(X), center=True)
    with pytest.raises(ValueError, match="center='yes'"):
        row_space(X, center="yes")
