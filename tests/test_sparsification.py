"""`bss` against the literal version, and the barrier argument piece by piece."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from cases import (
    KINDS,
    assert_same_bss,
    bss_steps,
    each_theory,
    heavy,
    holds_bss,
    interval,
    orthonormal,
    refused,
    right_singular_vectors,
    sparse_table,
    swept,
    swept_product,
    swept_seeds,
    table,
    with_condition,
)
from numpy.testing import assert_allclose, assert_array_equal

from fsel_book import as_blocks
from fsel_book.certificates import certify
from fsel_book.sparsification import (
    BSSSelector,
    bss,
    bss_promise,
    bss_reference,
    sketched_row_space,
)
from fsel_book.spectra import NEGLIGIBLE, row_space

EXACT_RULES = ["largest-norm", "best"]
every_rule = pytest.mark.parametrize("rule", [*EXACT_RULES, "sampled"])
exact_rules = pytest.mark.parametrize("rule", EXACT_RULES)


# ---------------------------------------------------------------- pick for pick


@swept_seeds(4, 12)
@pytest.mark.exact
@exact_rules
@pytest.mark.parametrize("kind", KINDS)
def test_equals_the_reference_pick_for_pick(kind, rule, seeds):
    """Four sizes for each kind and rule, and with the sweeps twelve: 264 cases."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        l = int(rng.choice([1, 2, 3, 5, 8, 13]))
        d = int(rng.integers(2 * l + 4, 20 * l + 10))
        V = KINDS[kind](d, l, rng)
        d, l = V.shape
        r = int(rng.integers(l + 1, max(l + 2, min(d, 6 * l)) + 1))
        selection = assert_same_bss(V, r, rule)
        assert holds_bss(V, selection, l, r), (
            f"{kind}, seed {seed}: d={d}, l={l}, r={r}"
        )


@pytest.mark.exact
@exact_rules
@swept(
    ("d", "l", "r"),
    [
        (9, 1, 2),
        (9, 1, 9),
        (9, 1, 40),
        (9, 1, 1),
        (2, 1, 2),
        (2, 1, 1),
        (1, 1, 1),
        (12, 10, 11),
        (12, 11, 12),
        (30, 5, 6),
        (30, 5, 30),
        (40, 20, 21),
        (21, 20, 21),
    ],
    [(30, 5, 200), (8, 7, 100), (64, 3, 64)],
)
def test_equals_the_reference_at_extreme_sizes(d, l, r, rule):
    for seed, make in enumerate((orthonormal, heavy)):
        V = make(d, l, np.random.default_rng(seed))
        selection = assert_same_bss(V, r, rule)
        assert holds_bss(V, selection, l, r)
        assert selection.n_selected <= min(d, r)


@pytest.mark.exact
@swept_product(
    ("size", "rule"),
    [((heavy, 5000, 64, 72), "largest-norm"), ((orthonormal, 3000, 60, 110), "best")],
    [(heavy, 3000, 90, 130), (orthonormal, 3000, 60, 110), (heavy, 5000, 64, 72)],
    EXACT_RULES,
)
def test_equals_the_reference_at_larger_sizes(size, rule):
    make, d, l, r = size
    V = make(d, l, np.random.default_rng(7))
    assert_same_bss(V, r, rule)


@pytest.mark.exact
@swept(
    ("make", "d", "l", "r"),
    [(heavy, 600, 100, 300)],
    [(heavy, 1500, 150, 600), (orthonormal, 1500, 150, 600)],
)
def test_equals_the_reference_at_ranks_in_the_hundreds(make, d, l, r):
    """Through many decompositions; of the heavy-tailed rows the fresh ones run out, and
    hundreds are drawn again.
    """
    V = make(d, l, np.random.default_rng(3))
    selection = assert_same_bss(V, r, "largest-norm")
    assert (selection.n_selected < r) == (make is heavy)
    assert holds_bss(V, selection, l, r)


@exact_rules
def test_with_more_draws_than_features_repeats_are_merged(rule):
    V = heavy(12, 4, np.random.default_rng(3))
    selection = assert_same_bss(V, 50, rule)
    assert selection.n_draws == 50 and selection.n_selected <= 12
    assert len(set(selection.indices)) == selection.n_selected


@pytest.mark.exact
@exact_rules
def test_equals_the_reference_through_a_row_space_and_a_target_rank(rule):
    X = table(20, 90)
    for space in (row_space(X), row_space(X, rank=7)):
        fast = bss(space, 30, rule)
        literal = bss_reference(space.basis(), 30, rule)
        assert_array_equal(fast.indices, literal.indices)
        assert_allclose(fast.weights, literal.weights, rtol=1e-8)


@swept("seed", [0], [1, 2, 3])
@every_rule
def test_sparse_data_give_the_picks_of_dense_data(rule, seed):
    X = sparse_table(seed=seed)
    dense = bss(row_space(X.toarray()), 60, rule, random_state=seed)
    for form in (sp.csr_array, sp.csc_matrix):
        sparse = bss(row_space(form(X)), 60, rule, random_state=seed)
        assert_array_equal(sparse.indices, dense.indices)
        assert_allclose(sparse.weights, dense.weights, rtol=1e-8)


# ---------------------------------------------------------------- the ways through the
# search


@every_rule
def test_indices_stand_in_the_order_picked(rule):
    V = heavy(90, 5, np.random.default_rng(1))
    picked = [i for _, _, i in bss_steps(V, 20, rule) if i is not None]
    assert_array_equal(
        bss(V, 20, rule, random_state=0).indices, list(dict.fromkeys(picked))
    )


@every_rule
def test_negligible_columns_are_never_picked(rule):
    V = heavy(50, 4, np.random.default_rng(5))
    V[::3] *= 1e-17
    V = np.linalg.qr(V)[0]
    V[::3] = 1e-17 * np.sign(V[::3])
    selection = bss(V, 45, rule, random_state=0)
    assert not np.isin(selection.indices, np.arange(0, 50, 3)).any()
    assert NEGLIGIBLE > 4e-34


def test_sampled_is_reproducible():
    V = heavy(400, 10, np.random.default_rng(1))
    first = bss(V, 30, "sampled", random_state=5)
    second = bss(V, 30, "sampled", random_state=5)
    assert_array_equal(first.indices, second.indices)
    assert_array_equal(first.weights, second.weights)
    assert not np.array_equal(
        first.indices, bss(V, 30, "sampled", random_state=6).indices
    )
    state = np.random.RandomState(5)
    assert_array_equal(bss(V, 30, "sampled", random_state=state).indices, first.indices)


@pytest.mark.parametrize("seed", range(20))
def test_sampled_keeps_the_promise(seed):
    rng = np.random.default_rng(seed)
    l = int(rng.integers(1, 12))
    d = int(rng.integers(l + 2, 300))
    r = int(rng.integers(l + 1, 4 * l + 3))
    V = (heavy, orthonormal)[seed % 2](d, l, rng)
    assert holds_bss(V, bss(V, r, "sampled", random_state=seed), l, r)


@swept(("ell", "more"), [(64, 8), (96, 1)], [(64, 1), (96, 4), (128, 2), (128, 8)])
def test_ties_close_to_the_fewest_draws_are_settled_alike(ell, more):
    """512 columns of equal norm, r hardly above l: slacks tie exactly, and the single
    inverse loses digits.
    """
    V = scipy.linalg.hadamard(512)[:, :ell] / 512**0.5
    slow = bss_reference(V, ell + more, "best")
    fast = bss(V, ell + more, "best")
    assert_array_equal(fast.indices, slow.indices)


def test_float32_data_are_searched_by_float64_norms():
    """Norms that differ in the eighth digit: float32 scores would tie or turn round
    what float64 rows decide.
    """
    rng = np.random.default_rng(0)
    # no two rows are equal up to the sign
    H = scipy.linalg.hadamard(512)[:, [0, *2 ** np.arange(9)]] / 512**0.5
    V = np.linalg.qr(H * (1 + 3e-8 * rng.uniform(-1, 1, (512, 1))))[0]
    space = row_space((np.diag(np.linspace(1, 2, 10)) @ V.T).astype(np.float32))
    for rule in ("largest-norm", "best"):
        assert_array_equal(
            bss(space, 40, rule).indices, bss_reference(space.basis(), 40, rule).indices
        )


# ---------------------------------------------------------------- the barrier argument


@each_theory
def test_weights_make_the_last_A(V, r):
    """V' R R' V is the last A times (1 - sqrt(l / r)) / r."""
    *_, (barriers, _, _) = bss_steps(V, r)
    R = bss(V, r).R
    assert_allclose(
        (R.T @ V).T @ (R.T @ V),
        barriers.A * (1 - np.sqrt(V.shape[1] / r)) / r,
        rtol=1e-7,
        atol=1e-9,
    )


def test_a_basis_that_is_not_orthonormal_meets_a_barrier():
    """Two equal columns: their sizes pass the check of sizes, and the barriers find
    them out.
    """
    q = np.full((50, 1), 50**-0.5)
    with pytest.raises((FloatingPointError, ValueError), match="orthonormal"):
        bss(np.hstack([q, q]), 40)


# ---------------------------------------------------------------- the bounds of the
# rule "best"


# ---------------------------------------------------------------- certificates of what
# was picked


@every_rule
def test_certificate_measures_what_the_matrix_R_does(rule):
    V = heavy(120, 7, np.random.default_rng(6))
    selection = bss(V, 18, rule, random_state=0)
    certificate = certify(V, selection, bss_promise(7, 18))
    assert_allclose(certificate.interval, interval(V, selection), rtol=1e-9)
    assert (
        certificate.holds
        and certificate.n_draws == 18
        and certificate.n_features == 120
    )


# ---------------------------------------------------------------- from mixtures of the
# samples

MIXED = {
    "dense": lambda: table(),
    "sparse": lambda: sparse_table(),
    "float32": lambda: table().astype(np.float32),
    "tall": lambda: table(150, 20) @ table(20, 40),
    "rank-deficient": lambda: np.vstack([table(20, 60), table(20, 60)]),
    "huge": lambda: table() * 1e145,
    "tiny": lambda: table() * 1e-145,
    "condition 1e8": lambda: with_condition(20, 80, 1e8, np.random.default_rng(0)),
    "samples of very different length": lambda: (
        table() * np.logspace(0, -9, 30)[:, None]
    ),
}
every_mixed = pytest.mark.parametrize("kind", MIXED)


@every_mixed
def test_as_many_mixtures_as_the_rank_span_the_row_space(kind):
    X = MIXED[kind]()
    space = row_space(X)
    for size in (space.shape[1], 2 * space.shape[1]):
        seen = sketched_row_space(space, size, random_state=0)
        cosines = np.linalg.svd(
            np.asarray(seen.basis()).T @ np.asarray(space.basis()), compute_uv=False
        )
        assert_allclose(cosines, 1, atol=1e-6)


@every_mixed
def test_as_many_mixtures_as_the_rank_keep_the_promise(kind):
    X = MIXED[kind]()
    rank = row_space(X).shape[1]
    for size in (rank, 2 * rank):
        certificate = (
            BSSSelector(rank + 9, rank="full", sketch_size=size, random_state=0)
            .fit(X)
            .certificate_
        )
        promise = bss_promise(rank, rank + 9)
        assert certificate.promise == promise and certificate.holds
        assert (
            promise.lower < certificate.interval[0]
            and certificate.interval[1] < promise.upper
        )


@every_mixed
@pytest.mark.parametrize("size", [1, 4, 12])
def test_fewer_mixtures_keep_what_they_saw_and_are_certified_on_the_whole(kind, size):
    X = MIXED[kind]()
    space = row_space(X)
    selector = BSSSelector(
        space.shape[1] + 5, rank="full", sketch_size=size, random_state=0
    ).fit(X)
    seen = sketched_row_space(space, size, random_state=0)
    certificate = selector.certificate_
    assert seen.shape[1] == size and certificate.rank == space.shape[1]
    assert holds_bss(
        np.asarray(seen.basis()), selector.sampling_, size, selector.n_draws_
    )
    assert certificate.promise is None and certificate.holds is None
    if kind in ("dense", "sparse", "tall"):
        measured = interval(right_singular_vectors(X), selector.sampling_)
        assert_allclose(certificate.interval, measured, rtol=1e-6, atol=1e-9)


def test_fewer_mixtures_than_the_rank_may_lose_a_direction():
    # five directions that twenty features share, one that a single feature holds
    X = np.zeros((6, 101))
    X[:5, :100] = np.kron(np.eye(5), np.linspace(1, 1.1, 20)) + 1e-6 * table(5, 100)
    X[5, 100] = 1e-3
    given = dict(n_draws=12, rank="full", random_state=0)
    lost = BSSSelector(sketch_size=5, **given).fit(X).certificate_
    kept = BSSSelector(sketch_size=6, **given).fit(X).certificate_
    assert lost.rank == kept.rank == 6
    assert lost.interval[0] < 1e-12 and kept.interval[0] >= bss_promise(6, 12).lower


def test_mixtures_that_rounding_has_cost_a_direction_are_not_used():
    X = table() * np.logspace(0, -14, 30)[:, None]
    space = row_space(X)
    assert (
        space.shape[1] == 30 and sketched_row_space(space, 60, random_state=0) is space
    )
    assert (
        BSSSelector(45, rank="full", sketch_size=60, random_state=0)
        .fit(X)
        .certificate_.holds
    )


def test_a_target_rank_has_no_promise_from_mixtures():
    X = table()
    certificate = (
        BSSSelector(20, rank=10, sketch_size=100, random_state=0).fit(X).certificate_
    )
    assert certificate.rank == 10 and certificate.promise is None


def test_mixtures_are_drawn_by_random_state():
    X = table()

    def chosen(state):
        return list(BSSSelector(35, sketch_size=8, random_state=state).fit(X).selected_)

    assert chosen(0) == chosen(0) != chosen(1)
    state = np.random.RandomState(0)
    assert chosen(state) == chosen(0) != chosen(state)


@pytest.mark.parametrize("value", [0, -3, 2.5, True, "auto", np.nan])
def test_a_sketch_size_that_is_no_size(value):
    with refused(
        f"sketch_size={value!r} is not possible", "an integer of at least 1, or None"
    ):
        BSSSelector(sketch_size=value).fit(table())


@pytest.mark.parametrize("r", [1, 3, 8, 20, 60])
def test_the_default_rule_is_the_best_column_up_to_the_default_rank(r):
    X = np.random.default_rng(0).standard_normal((30, 150))
    default, best, longest = (
        BSSSelector(r, rule=rule).fit(X) for rule in ("auto", "best", "largest-norm")
    )
    assert BSSSelector(r).get_params()["rule"] == "auto"
    assert_array_equal(default.selected_, best.selected_)
    assert_array_equal(default.weights_, best.weights_)
    assert r < 8 or list(best.selected_) != list(longest.selected_)


@pytest.mark.parametrize("rank", [10, 16, "full"])
def test_the_default_rule_beyond_the_default_rank_is_that_of_the_papers(rank):
    X = np.random.default_rng(0).standard_normal((30, 150))
    at_default_rank = rank == 10
    expected = BSSSelector(
        40, rank=rank, rule="best" if at_default_rank else "largest-norm"
    ).fit(X)
    assert_array_equal(BSSSelector(40, rank=rank).fit(X).selected_, expected.selected_)


def test_the_default_rule_on_blocks_of_features_is_that_of_the_papers():
    X = np.random.default_rng(0).standard_normal((30, 150))
    expected = BSSSelector(40, rule="largest-norm").fit(X)
    assert_array_equal(BSSSelector(40).fit(as_blocks(X)).selected_, expected.selected_)
    tall = X.T @ np.random.default_rng(1).standard_normal((30, 80))
    # blocks of samples, of which memory holds a square root
    expected = BSSSelector(40, rule="best").fit(tall)
    assert_array_equal(
        BSSSelector(40).fit(as_blocks(tall)).selected_, expected.selected_
    )
