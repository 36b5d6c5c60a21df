"""Leverage scores as a way to select: the statistics of drawing by them, and taking the
largest.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from cases import (
    CASES,
    equal_columns,
    hadamard,
    heavy,
    interval,
    orthonormal,
    refused,
    right_singular_vectors,
    sparse_table,
    stacked_identities,
    swept,
    table,
    two_frames,
    with_condition,
)
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from fsel_book import (
    LeverageSelector,
    bss,
    certify,
    largest_leverages,
    leverage_sampling,
    row_space,
)
from fsel_book.leverage import (
    bernoulli_kl,
    largest_draws,
    largest_promise,
    leverage_draws,
    leverage_promise,
    ridge_leverage_draws,
    ridge_leverage_promise,
)
from fsel_book.ridge_barriers import largest_ridge_leverages
from fsel_book.spectra import ridge_of_dimension, ridge_space

# ---------------------------------------------------------------- drawing


def test_draws_have_the_frequencies_of_the_probabilities():
    V = heavy(60, 5, np.random.default_rng(0))
    p = np.sum(V**2, axis=1) / 5
    r = 200_000
    sampling = leverage_sampling(V, r, random_state=0)
    counts = np.zeros(60)
    counts[sampling.indices] = np.rint(sampling.weights * r * p[sampling.indices])
    assert counts.sum() == r
    common = r * p >= 10
    observed = np.r_[counts[common], counts[~common].sum()]
    expected = r * np.r_[p[common], p[~common].sum()]
    assert stats.chisquare(observed[expected > 0], expected[expected > 0]).pvalue > 1e-3


@swept("runs", [800], [3000])
def test_first_draws_are_not_ordered_by_index(runs):
    """The order picked is the order of the draws: its first member has the
    probabilities, too.
    """
    V = heavy(12, 3, np.random.default_rng(1))
    p = np.sum(V**2, axis=1) / 3
    firsts = [
        int(leverage_sampling(V, 5, random_state=seed).indices[0])
        for seed in range(runs)
    ]
    observed = np.bincount(firsts, minlength=12)
    common = p > 5 / runs
    expected = runs * np.r_[p[common], p[~common].sum()]
    assert (
        stats.chisquare(
            np.r_[observed[common], observed[~common].sum()], expected
        ).pvalue
        > 1e-3
    )


@swept("runs", [400], [1500])
def test_the_expected_M_is_the_identity(runs):
    V = heavy(80, 4, np.random.default_rng(2))
    samples = []
    for seed in range(runs):
        sampling = leverage_sampling(V, 12, random_state=seed)
        rows = V[sampling.indices]
        samples.append(rows.T @ (sampling.weights[:, None] * rows))
    samples = np.array(samples)
    deviation = (samples.mean(axis=0) - np.eye(4)) / (
        samples.std(axis=0) / np.sqrt(len(samples)) + 1e-300
    )
    assert np.all(np.abs(np.where(samples.std(axis=0) > 1e-12, deviation, 0)) < 4.5)
    # each draw adds l / r, whatever it is
    assert_allclose(np.trace(samples, axis1=1, axis2=2), 4, rtol=1e-9)


@swept(
    ("l", "r", "delta"),
    [(2, 20, 0.1), (4, 200, 0.5)],
    [(4, 30, 0.1), (1, 10, 0.1), (6, 400, 0.3)],
)
def test_the_promise_holds_as_often_as_it_says(l, r, delta):
    """Failures are counted against the binomial distribution that the promise allows at
    most.
    """
    # Unit vectors, the hardest case: a direction is kept only if it is drawn.
    V = stacked_identities(l, 3)
    promise = leverage_promise(l, r, delta)
    failures = 0
    runs = 400
    for seed in range(runs):
        sampling = leverage_sampling(V, r, random_state=seed)
        low, high = interval(V, sampling)
        failures += not (promise.lower - 1e-9 <= low and high <= promise.upper + 1e-9)
    assert failures <= stats.binom.ppf(0.999, runs, delta)
    assert promise.confidence == 1 - delta


def test_the_promise_is_not_idle():
    """Where one direction of two is a coin toss, the exact probability of leaving the
    interval is known: it is below delta, and that of leaving an interval narrower by a
    half is not."""
    for r, delta in ((40, 0.1), (200, 0.05), (1000, 0.01)):
        promise = leverage_promise(2, r, delta)
        heads = np.arange(r + 1)
        outside = (np.minimum(heads, r - heads) * 2 / r < promise.lower) | (
            np.maximum(heads, r - heads) * 2 / r > promise.upper
        )
        assert stats.binom.pmf(heads, r, 0.5)[outside].sum() <= delta
        width = (promise.upper - 1) / 2
        narrow = np.abs(heads * 2 / r - 1) > width
        assert stats.binom.pmf(heads, r, 0.5)[narrow].sum() > delta


def test_the_promise_solves_the_equation_of_the_theorem():
    """r kl(edge / l, 1 / l) = log(2 l / delta) at both edges, unless an edge is the end
    of the range.
    """
    for l, r, delta in (
        (2, 50, 0.01),
        (10, 400, 0.1),
        (100, 5000, 0.01),
        (3, 100_000, 0.5),
    ):
        promise = leverage_promise(l, r, delta)
        for edge in (promise.lower, promise.upper):
            assert r * bernoulli_kl(edge / l, 1 / l) == pytest.approx(
                np.log(2 * l / delta), rel=1e-6
            )
        assert promise.lower < 1 < promise.upper
    assert leverage_promise(5, 3).lower == 0 and leverage_promise(
        5, 3
    ).upper == pytest.approx(5)
    one = leverage_promise(1, 4)
    assert (one.lower, one.upper) == (pytest.approx(1), pytest.approx(1))


def test_the_promise_is_monotone():
    for l in (1, 2, 7, 50):
        promises = [
            leverage_promise(l, r)
            for r in (1, 2, 5, 10, 30, 100, 300, 1000, 10_000, 1_000_000)
        ]
        assert np.all(np.diff([p.upper for p in promises]) <= 1e-9) and np.all(
            np.diff([p.lower for p in promises]) >= -1e-9
        )
        assert (
            0.95 < promises[-1].lower <= 1 + 1e-9
            and 1 - 1e-9 <= promises[-1].upper < 1.05
        )
        by_delta = [
            leverage_promise(l, 200, delta) for delta in (0.001, 0.01, 0.1, 0.5)
        ]
        assert np.all(np.diff([p.upper for p in by_delta]) <= 1e-9) and np.all(
            np.diff([p.lower for p in by_delta]) >= -1e-9
        )
    for r in (50, 1000):
        by_rank = [leverage_promise(l, r).upper for l in (2, 4, 8, 16)]
        assert np.all(np.diff(by_rank) > 0)


def test_draws_are_the_fewest_that_keep_the_promise():
    for l, eps, delta in (
        (2, 0.5, 0.01),
        (10, 0.3, 0.1),
        (50, 0.9, 0.01),
        (1, 0.5, 0.1),
    ):
        r = leverage_draws(l, eps, delta)
        assert leverage_promise(l, r, delta).eps <= eps + 1e-9
        assert r == l + 1 or leverage_promise(l, r - 1, delta).eps > eps


def test_bss_beats_leverage_sampling_at_the_same_number_of_draws():
    """What the book is about, on twenty random bases."""
    better = 0
    for seed in range(20):
        V = heavy(200, 8, np.random.default_rng(seed))
        better += (
            certify(V, bss(V, 24)).kappa
            < certify(V, leverage_sampling(V, 24, random_state=seed)).kappa
        )
    assert better >= 18


# ---------------------------------------------------------------- the largest

largest = CASES["largest leverages"]


def with_directions(V):
    """Data whose right singular vectors are the columns of V, with singular values that
    differ.
    """
    return (V * np.arange(V.shape[1], 0, -1)).T


MATRICES = {
    "wide": table(20, 50),
    "tall": table(60, 20),
    "square": table(15, 15),
    "low rank": table(25, 8) @ table(8, 60),
    "sparse": sparse_table(12, 60, 0.3),
    "ill-conditioned": with_condition(12, 90, 1e6, np.random.default_rng(0)),
    "heavy": with_directions(heavy(80, 6, np.random.default_rng(1))),
    "one norm": with_directions(hadamard(64, 5)),
    "ties": with_directions(stacked_identities(4, 6)),
    "two frames": with_directions(two_frames(64, 6)),
    "generic basis": with_directions(orthonormal(70, 5, np.random.default_rng(2))),
}
each_matrix = pytest.mark.parametrize("kind", MATRICES)


def scores_of(X, rank=None):
    """Leverage scores by a dense SVD."""
    return np.sum(right_singular_vectors(X, rank) ** 2, axis=1)


@each_matrix
def test_the_largest_leverages_are_what_sorting_gives(kind):
    X = MATRICES[kind]
    scores = scores_of(X)
    d = X.shape[1]
    first = equal_columns(X)
    order = np.argsort(-np.round(scores, 9), kind="stable")  # ties by index
    order = order[scores[order] > 1e-15]  # a zero column is none of the largest
    order = order[np.isin(order, first)]  # one of equal columns
    for r in {1, 3, d // 2, d - 1, d}:
        sampling = largest_leverages(row_space(X), r)
        assert_array_equal(sampling.indices, order[:r])
        assert_array_equal(sampling.weights, np.bincount(first, minlength=d)[order[:r]])
        assert (
            sampling.n_draws == r
            and sampling.n_selected == min(r, len(order))
            and sampling.n_features == d
        )


@each_matrix
def test_the_largest_leverages_keep_all_but_the_leverage_left_out(kind):
    X = MATRICES[kind]
    rank = np.linalg.matrix_rank(X.toarray() if sp.issparse(X) else X)
    first = equal_columns(X)
    for l in {1, (rank + 1) // 2, rank}:
        scores = scores_of(X, l)
        order = np.argsort(-np.round(scores, 9), kind="stable")
        order = order[np.isin(order, first)]
        together = np.bincount(first, scores, X.shape[1])
        for r in {l, (l + X.shape[1]) // 2, X.shape[1]}:
            certificate = largest.make(r, rank=l).fit(X).certificate_
            left_out = together[order[r:]].sum()
            assert certificate.promise.lower == pytest.approx(
                max(0, 1 - left_out), abs=1e-7
            )
            assert (certificate.promise.upper, certificate.promise.confidence) == (1, 1)
            assert certificate.holds and certificate.rank == l
            if len(order) == X.shape[1]:
                assert_array_equal(
                    certificate.eigenvalues, certificate.eigenvalues_unscaled
                )


def test_a_draw_of_a_copy_is_one_of_the_column_drawn_first():
    """Then the weights of a group are what its draws have together, and M is what it
    was.
    """
    X = np.repeat(table(20, 40), 3, axis=1) * np.tile([1, -1, 1], 40)
    space = row_space(X, rank=6)
    V = space.basis()
    for seed in range(10):
        sampling = leverage_sampling(space, 30, seed)
        apart = leverage_sampling(V, 30, seed)
        assert len(np.unique(sampling.indices // 3)) == sampling.n_selected
        together = np.bincount(apart.indices // 3, apart.weights, 40)
        assert_allclose(together[sampling.indices // 3], sampling.weights, rtol=1e-9)
        firsts = {
            group: next(i for i in apart.indices if i // 3 == group)
            for group in sampling.indices // 3
        }
        assert_array_equal(
            sampling.indices, [firsts[group] for group in sampling.indices // 3]
        )
        assert_allclose(
            certify(space, sampling).eigenvalues,
            certify(V, apart).eigenvalues,
            rtol=1e-7,
            atol=1e-12,
        )


def test_the_largest_leverages_of_copies_keep_what_all_of_them_would():
    X = table(20, 40)
    for how in (np.hstack([X, -X]), np.hstack([X, X, X[:, :9]])):
        space = row_space(how, rank=6)
        auto = largest.make("theorem", rank=6, eps=0.6).fit(how)
        assert auto.certificate_.holds and auto.certificate_.interval[0] >= 0.4
        for r in (6, 15, 60):
            sampling = largest_leverages(space, r)
            groups = equal_columns(how)
            everything = np.flatnonzero(np.isin(groups, sampling.indices))
            M = space.basis()[everything]
            found = certify(space, sampling, largest_promise(space, r))
            assert_allclose(
                found.eigenvalues, np.linalg.eigvalsh(M.T @ M), rtol=1e-8, atol=1e-12
            )
            assert found.holds and sampling.n_selected == min(r, 40)


def test_the_largest_leverages_are_certain():
    X = MATRICES["wide"]
    for seed in range(3):
        selector = largest.make(12, rank=5, random_state=seed).fit(X)
        assert_array_equal(
            selector.selected_, largest.make(12, rank=5).fit(X).selected_
        )
    assert "probability" not in str(selector.certificate_)


def test_largest_leverages_that_tie_but_for_rounding_go_by_index():
    for copies in (8, 400):
        V = stacked_identities(5, copies) @ orthonormal(5, 5, np.random.default_rng(0))
        assert len(set(np.sum(V**2, axis=1))) > 1
        assert_array_equal(largest_leverages(V, 9).indices, np.arange(9))


def test_largest_leverages_that_tie_in_groups_go_by_index():
    """Unit vectors of three lengths, mixed: an order that is not stable shows."""
    rng = np.random.default_rng(0)
    copies = rng.permutation(np.repeat([100, 200, 300], [100, 200, 300]))
    V = (copies[:, None] == [100, 200, 300]) / np.sqrt(copies)[:, None]
    assert_array_equal(
        largest_leverages(V, 250).indices, np.argsort(copies, kind="stable")[:250]
    )


def test_as_many_largest_leverages_as_the_rank_are_enough():
    X = MATRICES["wide"]
    for r in (1, 6, 20):
        certificate = largest.make(r, rank=r).fit(X).certificate_
        assert (certificate.rank, certificate.n_selected) == (r, r)
    assert largest.make(20, rank="full").fit(X).certificate_.rank == 20
    assert largest.make(19).fit(X).certificate_.rank == 9
    with refused(
        "rank=21 is not possible with n_features_to_select=20", "a rank of at most 20"
    ):
        largest.make(20, rank=21).fit(X)


@pytest.mark.parametrize("rank", [1, 4, 20])
@pytest.mark.parametrize("eps", [0.05, 0.5, 0.9])
def test_auto_takes_the_fewest_of_the_largest_leverages(rank, eps):
    X = MATRICES["wide"]
    scores = np.sort(scores_of(X, rank))[::-1]
    left_out = scores.sum() - np.r_[0, np.cumsum(scores)]
    fewest = max(rank, int(np.flatnonzero(left_out <= eps + 1e-12)[0]))
    assert largest.make("theorem", rank=rank, eps=eps).fit(X).n_draws_ == fewest
    assert largest_draws(row_space(X, rank), eps) == fewest


def test_the_largest_leverages_promise_nothing_where_most_is_left_out():
    V = hadamard(64, 5)
    promise = largest_promise(row_space(V.T), 6)
    assert (promise.lower, promise.upper, promise.vacuous) == (0, 1, True)
    assert "says nothing" in str(
        certify(V, largest_leverages(V, 6), promise, "largest leverages")
    )


@pytest.mark.parametrize(
    "ell, r, name", [(0, 5, "ell"), (5, 0, "r"), (5, -2, "r"), (5, 2.5, "r")]
)
def test_the_promise_is_for_whole_numbers(ell, r, name):
    with pytest.raises(ValueError, match=f"{name}=.* is not possible"):
        leverage_promise(ell, r)


# ---------------------------------------------------------------- at a ridge


def at_ridge(kind, dimension, seed=0):
    """Thirty directions of one of three kinds, at a ridge of so many dimensions."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 200))
    if kind == "heavy":
        X *= rng.pareto(1.2, 200)
    elif kind == "boxes":
        # each direction by columns of its own: the coins are what happens
        X = np.kron(np.diag(np.arange(1, 31) ** -0.7), np.ones((1, 6)))
    return ridge_space(X, ridge_of_dimension(np.linalg.svd(X)[1], dimension))


@swept(
    ("kind", "dimension", "r", "delta"),
    [("boxes", 3, 12, 0.3), ("heavy", 12, 40, 0.5)],
    [
        (kind, dimension, r, delta)
        for kind in ("gaussian", "heavy", "boxes")
        for dimension, r in ((0.5, 5), (3, 60), (12, 15), (25, 120))
        for delta in (0.1, 0.5)
    ],
)
def test_the_promise_at_a_ridge_holds_as_often_as_it_says(kind, dimension, r, delta):
    space = at_ridge(kind, dimension)
    promise = ridge_leverage_promise(space.shrinkage, r, delta)
    runs = 300
    failures = 0
    for seed in range(runs):
        sampling = leverage_sampling(space, r, random_state=seed)
        low, high = certify(space, sampling).interval
        failures += not (promise.lower - 1e-9 <= low and high <= promise.upper + 1e-9)
    assert failures <= stats.binom.ppf(0.999, runs, delta)


@pytest.mark.parametrize(("count", "delta"), [(4, 0.1), (30, 0.02), (400, 0.1)])
def test_the_promise_at_a_ridge_knows_how_far_coins_go(count, delta):
    """With columns of its own the first of eight directions is a coin. It leaves the
    interval as rarely as the promise says, and one of a third of the width too often.
    """
    D = np.r_[np.full(8, 0.5), np.full(200, 1e-9)]
    r = 8 * count
    dimension = D.sum()
    promise = ridge_leverage_promise(D, r, delta)
    heads = np.arange(r + 1)
    p = D[0] / dimension
    values = 1 - D[0] + heads * dimension / r
    chance = stats.binom.pmf(heads, r, p)
    above = chance[values > promise.upper].sum()
    below = chance[values < promise.lower].sum()
    assert above + below <= delta
    assert chance[values > 1 + (promise.upper - 1) / 3].sum() > delta / 16


def bound_of_coins(D, r, sign, t):
    """The right-hand side of the theorem for the best theta of many."""
    theta = np.geomspace(1e-3, 50, 4000) * r / D.sum()
    c = sign * theta * D.sum() / r
    coins = 1 + np.outer(np.expm1(c), D / D.sum())
    with np.errstate(over="ignore", invalid="ignore"):
        f = np.exp(r * np.log(coins) - sign * np.outer(theta, D))
        first = (f - 1).sum(axis=1) / (np.exp(theta * t) - theta * t - 1)
        second = f.sum(axis=1) / np.exp(theta * t)
    return np.nanmin(np.fmin(first, second))


def test_the_promise_at_a_ridge_solves_the_bound_of_the_theorem():
    """Against a search over theta for each t."""
    for kind, dimension, r, delta in (
        ("heavy", 4, 30, 0.1),
        ("boxes", 12, 200, 0.01),
        ("gaussian", 0.7, 9, 0.4),
    ):
        D = at_ridge(kind, dimension).shrinkage
        promise = ridge_leverage_promise(D, r, delta)
        for sign, t in ((1, promise.upper - 1), (-1, 1 - promise.lower)):
            if sign > 0 or promise.lower > 1 - D.max():
                found = bound_of_coins(D, r, sign, t)
                assert_allclose(found, delta / 2, rtol=2e-3)


def test_the_promise_at_a_ridge_is_monotone_and_becomes_that_of_the_rank():
    D = at_ridge("heavy", 8).shrinkage
    by_draws = [ridge_leverage_promise(D, r) for r in (10, 40, 160, 640)]
    by_delta = [ridge_leverage_promise(D, 100, delta) for delta in (0.001, 0.01, 0.1)]
    for promises in (by_draws, by_delta):
        ends = np.array([(p.lower, p.upper) for p in promises])
        assert np.all(np.diff(ends[:, 0]) > 0) and np.all(np.diff(ends[:, 1]) < 0)
    for ell, r in ((2, 30), (10, 200), (60, 5000)):
        full = ridge_leverage_promise(np.ones(ell), r, 0.05)
        rank = leverage_promise(ell, r, 0.05)
        # the grid may cost a little, and the first bound gain some
        assert rank.lower - 1e-4 <= full.lower <= rank.lower + 0.05
        assert rank.upper + 1e-3 >= full.upper >= rank.upper - 0.05
    one = ridge_leverage_promise(np.array([0.2]), 1)
    assert (one.lower, one.upper) == (1, 1)


def test_draws_at_a_ridge_are_the_fewest_and_no_more_than_the_corollary_asks_for():
    for kind, dimension in (("heavy", 0.4), ("gaussian", 5), ("boxes", 20)):
        D = at_ridge(kind, dimension).shrinkage
        for eps, delta in ((0.3, 0.01), (0.9, 0.2)):
            r = ridge_leverage_draws(D, eps, delta)
            assert ridge_leverage_promise(D, r, delta).eps <= eps
            assert r == 1 or ridge_leverage_promise(D, r - 1, delta).eps > eps
            log = np.log(8 * max(dimension, 1) / delta)
            assert r <= np.ceil(2 * dimension * (1 + eps / 3) / eps**2 * log)


@pytest.mark.parametrize("rule", ["sampled", "largest"])
@pytest.mark.parametrize("kind", ["gaussian", "heavy", "copies", "blank", "tall"])
def test_leverage_at_a_ridge_is_certified_there_and_at_larger_ones(rule, kind):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 20) if kind == "tall" else (20, 60))
    if kind == "heavy":
        X *= rng.pareto(0.8, X.shape[1])
    elif kind == "copies":
        X[:, 30:] = X[:, :30]
    elif kind == "blank":
        X[:, ::3] = 0
    selector = LeverageSelector(12, ridge="auto", rule=rule, random_state=1).fit(X)
    found = selector.certificate_
    assert found.holds and found.n_selected == 12
    assert_allclose(found.effective_dimension, min(6, min(X.shape) / 4))
    low = min(found.interval[0], 1)
    high = max(found.interval[1], 1)
    chosen = X[:, selector.selected_] * np.sqrt(selector.weights_)
    for larger in (1, 3, 100):
        K = X @ X.T + larger * found.ridge * np.eye(len(X))
        part = chosen @ chosen.T + larger * found.ridge * np.eye(len(X))
        root = np.linalg.inv(np.linalg.cholesky(K))
        lam = np.linalg.eigvalsh(root @ part @ root.T)
        assert low - 1e-9 <= lam[0] and lam[-1] <= high + 1e-9


@pytest.mark.parametrize("rule", ["sampled", "largest"])
def test_forms_of_data_and_units_change_no_choice_at_a_ridge(rule):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((25, 70)) * (rng.random((25, 70)) < 0.4)

    def choose(data, ridge=40.0):
        make = LeverageSelector(9, ridge=ridge, rule=rule, random_state=2)
        return make.fit(data)

    dense = choose(X)
    for data in (sp.csr_array(X), sp.csc_array(X), X.astype(np.float32)):
        found = choose(data)
        assert_array_equal(found.selected_, dense.selected_)
        assert_allclose(found.weights_, dense.weights_, rtol=1e-5)
        ends = found.certificate_.interval
        assert_allclose(ends, dense.certificate_.interval, rtol=1e-5)
    for power in (-30, 1, 30):
        scaled = choose(X * 2.0**power, 40.0 * 4.0**power)
        assert_array_equal(scaled.selected_, dense.selected_)
        assert_allclose(
            scaled.certificate_.promise.lower, dense.certificate_.promise.lower
        )
    if rule == "largest":
        order = rng.permutation(70)
        permuted = choose(X[:, order])
        assert_array_equal(order[permuted.selected_], dense.selected_)


@pytest.mark.parametrize("seed", range(6))
def test_the_largest_ridge_leverages_are_those_of_the_literal_rule(seed):
    space = at_ridge("heavy", (0.5, 4, 15)[seed % 3], seed)
    sampling, promise = largest_ridge_leverages(space, 0.5)
    r = sampling.n_selected
    ours = largest_leverages(space, r)
    assert_array_equal(ours.indices, sampling.indices)
    alone = space.given.min()
    assert_allclose(largest_promise(space, r).lower, max(promise.lower, alone))
    assert largest_draws(space, 0.5) == (r if alone < 0.5 else 1)
    if alone >= 0.5:
        return
    chosen = LeverageSelector("theorem", ridge=space.ridge, rule="largest").fit(space.X)
    assert_array_equal(chosen.selected_, sampling.indices)


def test_auto_draws_at_a_ridge():
    X = np.random.default_rng(5).standard_normal((12, 2000))
    selector = LeverageSelector("theorem", ridge=5000.0, random_state=0).fit(X)
    promise = selector.certificate_.promise
    assert promise.eps <= 0.5 and promise.confidence == 0.99
    assert selector.certificate_.holds
    with refused("draws at ridge=1, more than the 2000 features", "a larger ridge"):
        LeverageSelector("theorem", ridge=1.0, eps=0.05).fit(X)
    # where next to nothing counts, one column is enough
    assert (
        len(LeverageSelector("theorem", ridge=1e12, rule="largest").fit(X).selected_)
        == 1
    )


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (dict(ridge=-1.0), "ridge=-1.0 is not possible"),
        (dict(ridge="large"), "ridge='large' is not possible.*auto"),
        (dict(ridge=1.0, rank=21), "rank=21 is not possible: X has numerical rank 20"),
        (
            dict(ridge="auto", n_features_to_select="theorem"),
            "give one of them as a number",
        ),
    ],
)
def test_impossible_ridges_are_refused(parameters, words):
    X = np.random.default_rng(6).standard_normal((20, 30))
    with pytest.raises(ValueError, match=words):
        LeverageSelector(**{"n_features_to_select": 5, **parameters}).fit(X)
