"""As many different features as were asked for, in every selector, whatever the data."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from cases import CASES, interval, swept_product, table
from numpy.testing import assert_allclose, assert_array_equal

from fsel_book import (
    BSSSelector,
    CompletionSelector,
    DSFSelector,
    LeverageSelector,
    RSFSelector,
    as_blocks,
    bss,
    certify,
    complete,
    leverage_sampling,
    row_space,
)
from fsel_book.column_search import (
    MOST_DRAWS,
    Ranking,
    Steps,
    fill_to,
    next_columns,
    weights_below,
    weights_of_more,
)
from fsel_book.dual_set import rand_promise, weights_beside_draws
from fsel_book.labels import completion_promise
from fsel_book.leverage import leverage_promise, stopping_delta
from fsel_book.sparsification import bss_promise

rng = np.random.default_rng(0)
BASE = table(30, 24)
FEW = table(30, 3)


def scales(d):
    return np.random.default_rng(7).uniform(-3, 3, d)


DATA = {
    "any": BASE,
    "all columns twice": np.hstack([BASE, BASE]),
    "multiples": np.hstack([BASE, BASE * scales(24), -2 * BASE]),
    "zero columns": np.hstack([np.zeros((30, 9)), BASE, np.zeros((30, 9))]),
    "few independent columns": FEW @ table(3, 24),
    "few independent columns and their copies": FEW[:, np.arange(24) % 3],
    "few directions": FEW[:, np.arange(24) % 3] * scales(24),
    "one-hot": np.eye(8)[np.random.default_rng(1).integers(0, 8, 40)],
    "one-hot and its opposite": np.kron(
        np.eye(6)[np.random.default_rng(1).integers(0, 6, 40)], [[1, -2]]
    ),
    "three columns": BASE[:, :3],
    "sizes far apart": BASE * np.logspace(0, -6, 24),
    "few heavy columns": BASE * np.r_[np.full(4, 100.0), np.ones(20)],
    "axes": np.diag([1.0, 1, 0, 0, 2, 3, 0, 0, 0, 4, 0, 0]),
    "counts": np.random.default_rng(3).poisson(0.3, (25, 60)).astype(float),
}
SELECTORS = {
    **{name: case.make for name, case in CASES.items()},
    "completion": lambda r: CompletionSelector([], r),
    "completion of one": lambda r: CompletionSelector([given_first], r - 1),
}
given_first = 0


def directions(X):
    """How many directions the columns have, zero columns not counted, by hand."""
    X = X[:, np.any(X, axis=0)]
    U = X / np.linalg.norm(X, axis=0)
    alike = np.abs(np.abs(U.T @ U) - 1) < 1e-9
    return len({tuple(np.flatnonzero(row)) for row in alike})


def fewer(caught):
    return [str(w.message) for w in caught if "different feature" in str(w.message)]


def fit(selector, X):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selector.fit(X)
    return selector, fewer(caught)


@pytest.mark.parametrize("name", SELECTORS)
@swept_product(
    ("kind", "form"),
    [
        *((kind, "dense") for kind in DATA),
        *(
            (kind, form)
            for kind in ("multiples", "few directions", "zero columns")
            for form in ("sparse", "float32")
        ),
    ],
    DATA,
    ["dense", "sparse", "float32"],
)
def test_as_many_different_features_come_out_as_were_asked_for(kind, name, form):
    X = DATA[kind]
    if name == "completion of one":  # of a column that is not zero
        X = X[:, np.argsort(~np.any(X, axis=0), kind="stable")]
    d = X.shape[1]
    there = directions(X)
    given_form = {
        "dense": X,
        "sparse": sp.csr_array(X),
        "float32": X.astype(np.float32),
    }[form]
    for r in sorted({2, 3, d // 3, d // 2, there - 1, there, d} - {0, 1}):
        if r > d:
            continue
        selector, said = fit(SELECTORS[name](r), given_form)
        chosen = np.asarray(selector.selected_)
        assert len(chosen) == min(r, there), r
        assert directions(X[:, chosen]) == len(chosen)
        assert np.all(selector.weights_ > 0)
        assert len(said) == (r > there)
        if said:
            given = name == "completion of one"
            assert f"{len(chosen) - given} different feature" in said[0]
        assert selector.certificate_.n_draws == selector.n_draws_ >= len(chosen)
        confident = selector.certificate_.promise
        if confident is not None and confident.confidence == 1:
            assert selector.certificate_.holds, r


def by_length(**more):
    return {
        "BSS": lambda r: BSSSelector(r, rule="largest-norm"),
        "BSS, scores": lambda r: BSSSelector(r, score_func=more["scores"]),
        "DSF": lambda r: DSFSelector(r, rule="first"),
        "leverage": lambda r: LeverageSelector(r, random_state=0),
        "largest": lambda r: LeverageSelector(r, rule="largest"),
        "RSF": lambda r: RSFSelector(r, random_state=0),
    }


@pytest.mark.parametrize("name", by_length(scores=None))
@swept_product(
    ("kind", "axis"),
    [
        *((kind, 1) for kind in DATA),
        *((kind, 0) for kind in ("multiples", "few directions", "zero columns")),
    ],
    DATA,
    [0, 1],
)
def test_blocks_give_the_same_features_as_memory(kind, name, axis):
    X = DATA[kind]
    X = np.vstack([X] * 3)[: max(len(X), 61)] if axis == 0 else X
    d = X.shape[1]
    scores = np.random.default_rng(2).integers(1, 5, d).astype(float)
    make = by_length(scores=scores)[name]
    for r in (max(2, d // 2), d):
        memory, said = fit(make(r), X)
        cut = as_blocks(lambda: iter(np.array_split(X, 5, axis=axis)), axis=axis)
        blocks, said_of_blocks = fit(make(r), cut)
        assert set(blocks.selected_) == set(memory.selected_)
        assert said == said_of_blocks
        assert blocks.n_draws_ == memory.n_draws_
        order = [np.argsort(one.selected_) for one in (memory, blocks)]
        assert_allclose(memory.weights_[order[0]], blocks.weights_[order[1]], rtol=1e-5)


def test_dask_gives_the_same_features_as_memory():
    da = pytest.importorskip("dask.array")
    for kind in ("multiples", "zero columns", "few heavy columns"):
        X = DATA[kind]
        for make in by_length(scores=np.ones(X.shape[1])).values():
            memory, _ = fit(make(20), X)
            blocks, _ = fit(make(20), as_blocks(da.from_array(X, chunks=(30, 7))))
            assert_array_equal(np.sort(blocks.selected_), np.sort(memory.selected_))


# ---------------------------------------------------------------- more steps


@pytest.mark.parametrize("rule", ["largest-norm", "best", "sampled"])
def test_more_steps_keep_the_sharper_promise(rule):
    for seed in range(12):
        own = np.random.default_rng(seed)
        ell = int(own.integers(1, 9))
        d = int(own.integers(20, 60))
        V = np.linalg.qr(own.standard_normal((d, ell)) * own.pareto(1.5, (d, 1)))[0]
        r = int(own.integers(ell + 1, d + 1))
        plain = bss(V, r, rule, 0)
        found = bss(V, r, rule, 0, n_different=r)
        T = found.n_draws
        low, high = interval(V, found)
        s = np.sqrt(ell / r)
        root = np.sqrt(r * ell)
        lower = (1 - s) * (1 - root / T)
        upper = (1 + s) * (1 + root / T)
        assert lower - 1e-9 <= low <= high <= upper + 1e-9
        promise = bss_promise(ell, r, T)
        assert_allclose([promise.lower, promise.upper], [lower, upper], atol=1e-12)
        assert r <= T <= MOST_DRAWS * r
        # the same as before where draws are all different, bit for bit
        if plain.n_selected == r:
            assert T == r and promise == bss_promise(ell, r)
            assert_array_equal(found.indices, plain.indices)
            assert_array_equal(found.weights, plain.weights)
        else:
            assert T > r and found.n_selected > plain.n_selected or T == 2 * r
            assert_array_equal(
                found.indices[: plain.n_selected], plain.indices
            )  # it goes on from there


def test_a_completion_goes_on_and_keeps_its_promise():
    gained = 0
    for seed in range(8):
        own = np.random.default_rng(seed)
        V = np.linalg.qr(own.standard_normal((40, 4)) * own.pareto(1.5, (40, 1)))[0]
        given = own.choice(40, 3, replace=False)
        space = row_space(V.T)
        sampling = complete(space, given, 25, n_different=25)
        more = sampling.n_draws - 3
        gained += sampling.n_selected - complete(space, given, 25).n_selected
        first = completion_promise(space, given, 25)
        # the given ones weigh what was best for 25 picks
        fitted = CompletionSelector(given, 25, rank=4).fit(V.T)
        assert fitted.n_draws_ == more + 3 and len(fitted.added_) == 25
        assert fitted.certificate_.holds
        assert fitted.certificate_.promise.lower >= first.lower
        assert fitted.certificate_.promise.upper <= first.upper
    assert gained > 0


def test_draws_go_on_with_a_promise_for_any_stop():
    assert_allclose(
        sum(stopping_delta(0.2, 7, T) for T in range(7, 200_000)), 0.2, rtol=1e-4
    )
    X = table(12, 60) * np.random.default_rng(0).pareto(1.2, 60)
    space = row_space(X, 4)
    fails = 0
    for seed in range(200):
        found = leverage_sampling(space, 30, seed, n_different=30)
        T = found.n_draws
        assert found.n_selected == 30 or T == MOST_DRAWS * 30
        again = leverage_sampling(space, T, seed)
        assert_array_equal(found.indices, again.indices)
        assert_allclose(found.weights, again.weights, rtol=1e-12)
        # the last draw was the one that was missing
        if 30 < T < MOST_DRAWS * 30:
            assert leverage_sampling(space, T - 1, seed).n_selected == 29
        promise = leverage_promise(4, T, stopping_delta(0.2, 30, T))
        low, high = certify(space, found).interval
        fails += not promise.lower <= low <= high <= promise.upper
    assert fails <= 0.2 * 200
    selector = LeverageSelector(30, rank=4, delta=0.2, random_state=0).fit(X)
    T = selector.n_draws_
    promise = leverage_promise(4, T, stopping_delta(0.2, 30, T))
    assert selector.certificate_.promise.lower == promise.lower
    assert selector.certificate_.promise.confidence == 0.8
    span = RSFSelector(30, rank=4, delta=0.2, random_state=0).fit(X).certificate_
    expected = rand_promise(4, T, stopping_delta(0.2, 30, T))
    assert_allclose(span.promise.cross, expected.cross, rtol=1e-9)


def test_what_is_added_to_draws_brings_along_no_more_than_the_bound():
    """|E R R'V| after filling up, against sqrt(2 k / (delta_T T)) |E|."""
    X = table(20, 40) * np.logspace(0, -5, 40)
    found = RSFSelector(36, rank=3, random_state=0).fit(X)
    T = found.n_draws_
    space = row_space(X, 3)
    drawn = leverage_sampling(space, 36, 0, n_different=36)
    assert drawn.n_selected < 36 == len(found.selected_)
    V = space.basis()
    E = X - space.left @ (space.left.T @ X)
    w = found.weights_
    S = found.selected_
    brought = np.linalg.norm((E[:, S] * w) @ V[S])
    delta = stopping_delta(0.01, 36, T)
    assert brought <= np.sqrt(2 * 3 / (delta * T)) * np.linalg.norm(E)
    assert found.certificate_.holds
    # and where there is hardly any room
    chosen = drawn.indices
    more = np.setdiff1d(np.arange(40), chosen)
    before = np.linalg.norm((E[:, chosen] * drawn.weights) @ V[chosen])
    for room in (1e-3, 0.05):
        bound = before / np.linalg.norm(E) * (1 + room)
        w = weights_beside_draws(space, chosen, drawn.weights, more, bound)
        both = np.append(chosen, more)
        after = np.linalg.norm((E[:, both] * w) @ V[both])
        assert np.all(w > 0) and after <= bound * np.linalg.norm(E) * (1 + 1e-9)
    assert_allclose(w[: len(chosen)], drawn.weights)


# ---------------------------------------------------------------- filling up


def test_weights_of_what_is_added_keep_the_upper_end():
    for seed in range(20):
        own = np.random.default_rng(seed)
        V = np.linalg.qr(own.standard_normal((30, 5)))[0]
        S, F = np.split(own.permutation(30)[:20], [12])
        w = own.uniform(0.5, 2, 12)
        top = np.linalg.eigvalsh((V[S].T * w) @ V[S])[-1]
        for room in (1e-3, 0.1, 5.0):
            added = weights_of_more(V[S], w, V[F], top + room)
            M = (V[S].T * w) @ V[S] + (V[F].T * added) @ V[F]
            assert 0 < added.max() <= w.min()
            assert np.linalg.eigvalsh(M)[-1] <= top + room
        assert_allclose(added, w.min())  # where there is room, as the lightest


def test_the_number_of_copies_stays_whole_beside_what_is_added():
    for copies in range(2, 60):
        for length in (0.3, 0.7, 0.9):
            X = np.zeros((2, copies + 1))
            X[0, 0], X[1, 1:] = length, 1.0
            selector = LeverageSelector(2, rank=1, rule="largest").fit(X)
            assert_array_equal(selector.selected_, [1, 0])
            assert_array_equal(selector.weights_, [copies, 1])


def test_the_order_of_what_is_added():
    A = np.diag([5.0, 4, 3, 2, 1, 0, 0])
    A[:, 5] = -2 * A[:, 4]  # longer, and the same direction
    space = row_space(A, rank=2)
    keys = Ranking().keys(space.scores64, np.zeros(7))
    assert_array_equal(next_columns(space, np.array([1]), 9, keys), [0, 2, 3, 5])
    assert_array_equal(next_columns(space, np.array([4]), 9, keys), [0, 1, 2, 3])
    assert_array_equal(next_columns(space, np.array([4]), 3, keys), [0, 1, 2])
    filled = fill_to(
        space,
        bss(space, 3),
        5,
        keys,
        lambda *args: weights_below(*args, upper=9.0),
    )
    assert_array_equal(filled.indices, [0, 1, 2, 3, 5])


def test_steps_end():
    steps = Steps(5, 100)
    while steps.more_may_come() or steps.n_made < 5:
        steps.note(steps.n_made)
    assert steps.n_made == 5 * MOST_DRAWS


# ---------------------------------------------------------------- draws and features


@pytest.mark.parametrize(
    "name", ["BSS", "BSS, best", "DSF", "leverage sampling", "RSF"]
)
def test_n_draws_is_the_procedure_of_the_papers(name):
    X = BASE * np.r_[np.full(4, 100.0), np.ones(20)]
    case = CASES[name]
    selector, said = fit(case.drawing(18, rank=4), X)
    expected = case.function(row_space(X, 4), 18)
    assert said == [] and selector.n_draws_ == 18 >= len(selector.selected_)
    if not name.startswith("BSS"):
        assert len(selector.selected_) < 18
    assert_array_equal(selector.selected_, expected.indices)
    assert_array_equal(selector.weights_, expected.weights)
    blind = case.promise(row_space(X, 4), 18)
    assert_allclose(selector.certificate_.promise.lower, blind.lower, atol=1e-9)
    with pytest.raises(ValueError, match="n_features_to_select=9 and n_draws=18"):
        case.make(9, n_draws=18).fit(X)
    with pytest.raises(ValueError, match="n_draws=0"):
        case.make(None, n_draws=0).fit(X)


def test_the_largest_leverages_are_not_drawn():
    with pytest.raises(ValueError, match="draws nothing"):
        LeverageSelector(n_draws=5, rule="largest").fit(BASE)


def test_of_multiples_the_longest_is_taken():
    X = np.hstack([BASE, 2 * BASE, 0.5 * BASE])
    scores = np.r_[np.ones(24), np.ones(24), np.full(24, 9.0)]
    for r in (6, 12, 20):
        for make in (
            lambda r: BSSSelector(r),
            lambda r: BSSSelector(r, rule="largest-norm"),
            lambda r: BSSSelector(r, rule="sampled", random_state=0),
            lambda r: DSFSelector(r),
            lambda r: DSFSelector(r, rule="first"),
            lambda r: LeverageSelector(r, rule="largest"),
            lambda r: CompletionSelector([], r),
        ):
            found = make(r).fit(X).selected_
            assert np.all(found // 24 == 1), make
        # by score times squared length: 4 against 9 / 4
        chosen = BSSSelector(r, score_func=scores).fit(X).selected_
        assert np.all(chosen // 24 == 1)
        chosen = BSSSelector(r, score_func=scores**2).fit(X).selected_
        assert np.all(chosen // 24 == 2)


def test_multiples_bring_nothing_but_length():
    """The choice is that among the longest alone, where all have as many multiples."""
    X = np.hstack([BASE, 3 * BASE, -BASE])
    for make in (BSSSelector, DSFSelector):
        assert_array_equal(make(12).fit(X).selected_ % 24, make(12).fit(BASE).selected_)
