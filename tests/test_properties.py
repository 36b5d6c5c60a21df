"""What must hold for any matrix: hypothesis looks for one for which it does not."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from cases import (
    CASES,
    assert_certified,
    cases,
    each_case,
    interval,
    orthonormal,
    right_singular_vectors,
    rounding,
    swept,
    swept_product,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from fsel_book import DSFSelector, bss, certify, leverage_sampling, row_space
from fsel_book.sparsification import bss_promise

pytestmark = pytest.mark.filterwarnings("ignore:X has directions as small as")

# ---------------------------------------------------------------- matrices

FORMS = {"dense": np.asarray, "csr": sp.csr_array, "csc": sp.csc_matrix}
shapes = st.tuples(st.integers(2, 14), st.integers(2, 40))
seeds = st.integers(0, 2**31)
generators = seeds.map(np.random.default_rng)


def gaussian(rng, n, d):
    return rng.standard_normal((n, d))


def heavy_columns(rng, n, d):
    return rng.standard_normal((n, d)) * np.exp(2 * rng.standard_normal(d))


def heavy_entries(rng, n, d):
    return rng.standard_cauchy((n, d)) ** 3


def heavy_rows(rng, n, d):
    return rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-12, 0, (n, 1))


def low_rank(rng, n, d):
    k = int(rng.integers(1, min(n, d) + 1))
    return rng.standard_normal((n, k)) @ rng.standard_normal((k, d))


def ill_conditioned(rng, n, d):
    k = min(n, d)
    return (
        orthonormal(n, k, rng)
        * np.logspace(0, -rng.uniform(0, 16), k)
        @ orthonormal(d, k, rng).T
    )


def duplicated(rng, n, d):
    X = rng.standard_normal((n, d))
    return X[rng.integers(n, size=n)][:, rng.integers(d, size=d)]


def small_integers(rng, n, d):
    return rng.integers(-1, 2, (n, d)).astype(float)


def signs(rng, n, d):
    return rng.choice([-1.0, 1.0], (n, d))


def counts(rng, n, d):
    return rng.poisson(0.3, (n, d)).astype(float)


def unit_columns(rng, n, d):
    return np.eye(n)[:, rng.integers(n, size=d)]


def constant_columns(rng, n, d):
    return np.where(rng.random(d) < 0.5, 1.0, rng.standard_normal((n, d)))


def centred(rng, n, d):
    X = rng.standard_normal((n, d))
    return X - X.mean(axis=0)


GENERIC = [gaussian, heavy_columns]
ANY = [
    *GENERIC,
    heavy_entries,
    heavy_rows,
    low_rank,
    ill_conditioned,
    duplicated,
    small_integers,
    signs,
    counts,
    unit_columns,
    constant_columns,
    centred,
]


@st.composite
def made(draw, kinds=ANY, largest_scale=149):
    """A matrix of one of the kinds, of any size and scale."""
    n, d = draw(shapes)
    kind = draw(st.sampled_from(kinds))
    rng = draw(generators)
    X = kind(rng, n, d)
    assume(np.any(X))
    exponent = draw(st.just(0) | st.floats(-largest_scale, largest_scale))
    return X / np.abs(X).max() * 10.0**exponent


def written(dtype=np.float64, largest=1e150):
    """A small matrix, entry by entry, from few values or from all floats."""
    width = np.dtype(dtype).itemsize * 8
    largest = float(np.dtype(dtype).type(largest))
    few = st.sampled_from([0.0, 1.0, -1.0, 2.0, 1e-8, 1e8, 1e-12])
    every = st.floats(-largest, largest, width=width)
    sizes = st.tuples(st.integers(2, 6), st.integers(2, 9))
    matrices = sizes.flatmap(
        lambda shape: (
            hnp.arrays(dtype, shape, elements=few)
            | hnp.arrays(dtype, shape, elements=every)
        )
    )
    return matrices.filter(lambda X: np.abs(X).max() >= 1 / largest)


any_float64 = made() | written()
any_float32 = made(largest_scale=30).map(lambda X: X.astype(np.float32)).filter(
    np.any
) | written(np.float32, 1e30)
any_matrix = any_float64 | any_float32
generic = made(GENERIC, largest_scale=0)
forms = st.sampled_from(list(FORMS))


def draws_of(data, d):
    return data.draw(st.integers(1, d), label="r")


def untied_draws_of(data, X, case):
    """So many that no features tie: ties are settled by the index, but equal numbers
    may differ by rounding error.
    """
    n, d = X.shape
    return draws_of(data, min(d, case.untied(n)))


# ---------------------------------------------------------------- certificates


def nearly_multiples(X):
    """Whether two columns are nearly, but not to all digits, multiples of one another:
    then rounding decides whether they count as one.
    """
    lengths = np.linalg.norm(X.astype(np.float64), axis=0)
    U = X[:, lengths > 0] / lengths[lengths > 0]
    cosines = U.T @ U
    apart = U[:, :, None] - U[:, None, :] * np.sign(cosines)
    sines = np.linalg.norm(apart, axis=0)
    parallel = (np.abs(cosines) > 0.5) & (sines < 1e-3)
    return bool(np.any(parallel & (sines > 1e-15)))


def assert_certificate_and_promise(case, X, form, data):
    assume(not nearly_multiples(X))
    # a column is zero where its square is, beside that of the largest
    sizes = np.abs(X).max(axis=0).astype(np.float64)
    assume(not np.any((sizes > 0) & (sizes < 1e-140 * sizes.max())))
    given_form = FORMS[form](X)
    r = draws_of(data, X.shape[1])
    at_rank = {}
    if case.soft:
        most = max(1, min(10, r // 2), r // 4)
        at_rank["rank"] = min(row_space(given_form).numerical_rank, most)
    selector = case.make(r, **at_rank).fit(given_form)
    l, n_draws = assert_certified(selector, given_form)
    assert n_draws == r or n_draws > r and case.draws
    certificate = selector.certificate_
    assert selector.weights_.dtype == selector.leverage_scores_.dtype == X.dtype
    different = len(np.unique(row_space(given_form).first_multiple[np.any(X, axis=0)]))
    assert certificate.n_selected == min(r, different)
    if case.blind:
        if different == X.shape[1]:
            assert_allclose(selector.weights_, X.shape[1] / r, rtol=1e-6)
    # one of equal columns, with their number as its weight or with weight one
    elif case.distinct:
        first = row_space(given_form).first_equal
        alike = np.bincount(first)[first[selector.selected_]]
        assert np.all((selector.weights_ == 1) | (selector.weights_ == alike))
    if case.promise is None:
        assert certificate.promise is None and certificate.holds is None
    else:
        space = row_space(given_form, None if l == certificate.numerical_rank else l)
        promise = case.promise(space, r, n_draws)
        assert certificate.promise.confidence == promise.confidence
        expected = [promise.lower, promise.upper]
        assert_allclose(
            [certificate.promise.lower, certificate.promise.upper],
            expected,
            rtol=1e-9,
            atol=1e-9,
        )
        # With weights one an end of the promise can be attained: V must be orthonormal
        # to the digits of `holds`.
        exact = (
            not case.distinct or rounding(given_form, certificate.numerical_rank) < 1e-7
        )
        assert certificate.holds or promise.confidence < 1 or not exact


@each_case
@settings(max_examples=10)
@given(X=any_matrix, form=forms, data=st.data())
def test_certificate_and_promise_for_any_matrix(case, X, form, data):
    assert_certificate_and_promise(case, X, form, data)


@pytest.mark.sweep
@each_case
@settings(max_examples=50)
@given(X=any_matrix, form=forms, data=st.data())
def test_certificate_and_promise_for_more_matrices(case, X, form, data):
    assert_certificate_and_promise(case, X, form, data)


@cases(random=False)
@settings(max_examples=15)
@given(X=any_matrix, form=forms, data=st.data())
def test_promises_hold_for_a_target_rank(case, X, form, data):
    given_form = FORMS[form](X)
    rank = data.draw(st.integers(1, row_space(given_form).numerical_rank), label="rank")
    least = rank + case.spare if rank > 1 else 1
    assume(least <= X.shape[1])
    r = data.draw(st.integers(least, X.shape[1]), label="r")
    selector = case.make(r, rank=rank).fit(given_form)
    s = np.linalg.svd(X.astype(np.float64) / np.abs(X).max(), compute_uv=False)
    # else any of many spaces will do
    if rank == len(s) or s[rank] <= 0.9 * s[rank - 1]:
        found, n_draws = assert_certified(selector, given_form)
        assert found == rank and (n_draws == r or n_draws > r and case.draws)
    exact = (
        not case.distinct
        or rounding(given_form, selector.certificate_.numerical_rank) < 1e-7
    )
    assert selector.certificate_.holds is not False or not exact
    assert 0 <= selector.certificate_.energy <= 1 + 1e-9


@settings(max_examples=15)
@given(l=st.integers(1, 9), more=st.integers(1, 60), rng=generators, data=st.data())
def test_bss_of_a_basis_keeps_its_promise(l, more, rng, data):
    """Any number of draws above l, more than there are features included."""
    V = np.linalg.qr(
        rng.standard_normal((l + more, l))
        * np.exp(2 * rng.standard_normal((l + more, 1)))
    )[0]
    r = data.draw(st.integers(l + 1, 3 * (l + more)), label="r")
    for rule in ("largest-norm", "best", "sampled"):
        sampling = bss(V, r, rule, random_state=0)
        low, high = interval(V, sampling)
        promise = bss_promise(l, r)
        assert promise.lower - 1e-7 <= low and high <= promise.upper + 1e-7
        assert_allclose(
            certify(V, sampling).interval, (low, high), rtol=1e-9, atol=1e-12
        )


# ---------------------------------------------------------------- leverage scores


@settings(max_examples=40)
@given(X=any_matrix, form=forms)
def test_leverage_scores_lie_between_0_and_1_and_add_up_to_the_rank(X, form):
    space = row_space(FORMS[form](X))
    scores = np.asarray(space.leverage_scores)
    error = rounding(X, space.numerical_rank) + (1e-6 if X.dtype == np.float32 else 0)
    assert scores.dtype == X.dtype and scores.shape == (X.shape[1],)
    assert np.all(scores >= 0) and np.all(scores <= 1 + error)
    assert (
        abs(scores.sum(dtype=np.float64) - space.numerical_rank)
        <= error * space.numerical_rank
    )
    assert 1 <= space.numerical_rank <= min(X.shape)
    assert np.all(scores[~np.any(X, axis=0)] < 1e-25)


@settings(max_examples=25)
@given(X=made(GENERIC) | made([low_rank, duplicated, centred]), form=forms)
def test_leverage_scores_are_those_of_the_svd(X, form):
    space = row_space(FORMS[form](X))
    V = right_singular_vectors(X, space.numerical_rank)
    s = np.linalg.svd(X / np.abs(X).max(), compute_uv=False)
    assume(s[space.numerical_rank - 1] > 1e-6 * s[0])
    assert_allclose(space.leverage_scores, np.sum(V**2, axis=1), rtol=1e-6, atol=1e-10)
    if space.numerical_rank < len(s):
        assert s[space.numerical_rank] < 1e-12 * s[0]


@settings(max_examples=15)
@given(X=generic)
def test_a_feature_more_never_raises_the_scores_of_the_others(X):
    """Leverage measures how hard a feature is to replace; one more to replace it with
    cannot make it harder.
    """
    assume(X.shape[1] > 2)
    smaller = np.asarray(row_space(X[:, :-1]).leverage_scores)
    assert np.all(np.asarray(row_space(X).leverage_scores)[:-1] <= smaller + 1e-8)


@cases(distinct=False)
def test_a_feature_orthogonal_to_the_certified_space_is_not_drawn(case):
    X = np.array([[2.0, 0, 0], [0, 0, 0], [0, 1, 0]])
    selector = case.drawing(2, rank=1).fit(X)
    assert selector.certificate_.rank == 1
    assert_array_equal(selector.selected_, [0])
    assert selector.certificate_.interval == pytest.approx(
        interval(np.array([[1.0], [0], [0]]), selector.sampling_)
    )
    # it comes where nothing else is left, as it is
    more = case.make(2, rank=1).fit(X)
    assert_array_equal(more.selected_, [0, 1])
    assert more.certificate_.holds and (
        case.selector is DSFSelector or more.weights_[1] == 1
    )


@each_case
def test_exact_ties_are_settled_by_index(case):
    X = np.array([[1.0, -1, 0], [1, 1, 2]])
    assert_array_equal(case.make(3).fit(X).selected_, case.make(3).fit(3 * X).selected_)


# ---------------------------------------------------------------- what must not change
# the selection


def assert_same(one, other, rtol=1e-6):
    assert_array_equal(one.selected_, other.selected_)
    assert_allclose(one.weights_, other.weights_, rtol=rtol)
    assert_allclose(
        one.certificate_.eigenvalues,
        other.certificate_.eigenvalues,
        rtol=rtol,
        atol=rtol,
    )


def well_conditioned(X):
    s = np.linalg.svd(X, compute_uv=False)
    return s[-1] > 1e-3 * s[0]


@swept(
    "name",
    ["BSS", "DSF, components", "largest leverages", "strong RRQR"],
    ["BSS, best", "DSF", "DSF, first", "pivoted QR"],
)
@settings(max_examples=15)
@given(X=generic, data=st.data())
def test_permuting_columns_permutes_the_selection(name, X, data):
    case = CASES[name]
    # in tall data all scores are 1: ties, settled by index
    assume(well_conditioned(X) and X.shape[0] < X.shape[1])
    r = untied_draws_of(data, X, case)
    p = data.draw(generators).permutation(X.shape[1])
    plain = case.make(r).fit(X)
    permuted = case.make(r).fit(X[:, p])
    assert_array_equal(p[permuted.selected_], plain.selected_)
    assert_allclose(permuted.weights_, plain.weights_, rtol=1e-6)
    assert_allclose(permuted.leverage_scores_, plain.leverage_scores_[p], rtol=1e-8)


@pytest.mark.sweep
@each_case
@settings(max_examples=25)
@given(X=made(largest_scale=0), exponent=st.integers(-498, 498), data=st.data())
def test_scaling_by_a_power_of_two_changes_nothing(case, X, exponent, data):
    """For any matrix, ties and all: not a bit of the entries' mantissas changes."""
    # so that no entry is lost below the smallest float
    X = np.where(np.abs(X) < 1e-12 * np.abs(X).max(), 0, X)
    assume(well_conditioned(X) or np.array_equal(X, np.round(X)))
    r = draws_of(data, X.shape[1])
    assert_same(case.make(r).fit(X), case.make(r).fit(X * 2.0**exponent))


@swept_product(
    ("name",), [("BSS",), ("DSF",), ("strong RRQR",), ("leverage sampling",)], CASES
)
@settings(max_examples=15)
@given(
    X=generic,
    scale=st.floats(1e-148, 1e148),
    sign=st.sampled_from([-1, 1]),
    data=st.data(),
)
def test_scaling_by_any_constant_changes_nothing(name, X, scale, sign, data):
    case = CASES[name]
    assume(well_conditioned(X))
    r = untied_draws_of(data, X, case)
    assert_same(case.make(r).fit(X), case.make(r).fit(sign * scale * X))


# The others are indifferent to more than that, as the next test shows.
@swept(
    "name",
    [name for name, case in CASES.items() if not case.random and case.lengths],
    [name for name, case in CASES.items() if not case.random and not case.lengths],
)
@settings(max_examples=15)
@given(X=generic, rng=generators, data=st.data())
def test_rotating_the_samples_changes_nothing(name, X, rng, data):
    case = CASES[name]
    assume(well_conditioned(X) and X.shape[0] < X.shape[1])
    r = untied_draws_of(data, X, case)
    Q = orthonormal(X.shape[0], X.shape[0], rng)
    assert_same(case.make(r).fit(X), case.make(r).fit(Q @ X), rtol=1e-5)


@cases(random=False, lengths=False)
@settings(max_examples=15)
@given(X=generic, rng=generators, data=st.data())
def test_any_invertible_mixing_of_the_samples_changes_nothing(case, X, rng, data):
    """The selection depends on the row space alone (where all of it is certified)."""
    n, d = X.shape
    assume(well_conditioned(X) and n + 1 < d)
    r = data.draw(st.integers(n + 1, d), label="r")
    mixing = orthonormal(n, n, rng) * rng.uniform(0.2, 5, n) @ orthonormal(n, n, rng)
    assert_same(
        case.make(r, rank="full").fit(X),
        case.make(r, rank="full").fit(mixing @ X),
        rtol=1e-5,
    )


@pytest.mark.sweep
@each_case
@settings(max_examples=25)
@given(X=generic, form=forms, data=st.data())
def test_sparse_data_give_the_selection_of_dense_data(case, X, form, data):
    assume(well_conditioned(X))
    X = np.where(np.abs(X) > 0.05 * np.abs(X).max(), X, 0)
    assume(well_conditioned(X))
    r = untied_draws_of(data, X, case)
    assert_same(case.make(r).fit(X), case.make(r).fit(FORMS[form](X)))


@swept_product(
    ("name",),
    [
        ("BSS",),
        ("DSF",),
        ("RSF",),
        ("leverage sampling",),
        ("random",),
        ("strong RRQR",),
    ],
    CASES,
)
@settings(max_examples=15)
@given(X=generic, data=st.data())
def test_float32_gives_a_certificate_of_the_quality_of_float64(name, X, data):
    case = CASES[name]
    assume(well_conditioned(X))
    single = X.astype(np.float32)
    r = untied_draws_of(data, X, case)
    low = case.make(r).fit(single)
    high = case.make(r).fit(single.astype(np.float64))
    assert low.weights_.dtype == np.float32 and high.weights_.dtype == np.float64
    assert_same(low, high, rtol=1e-4)
    assert low.certificate_.holds == high.certificate_.holds
    assert low.certificate_.rank == high.certificate_.rank


@pytest.mark.sweep
@each_case
@settings(max_examples=25)
@given(X=any_matrix, form=forms, data=st.data())
def test_selecting_twice_gives_the_same(case, X, form, data):
    r = draws_of(data, X.shape[1])
    one, other = (case.make(r).fit(FORMS[form](X)) for _ in range(2))
    assert_array_equal(one.selected_, other.selected_)
    assert_array_equal(one.weights_, other.weights_)


# ---------------------------------------------------------------- the matrices S, D and
# R


@settings(max_examples=15)
@given(rng=generators, d=st.integers(3, 30), r=st.integers(3, 60))
def test_merged_draws_equal_unmerged_draws(rng, d, r):
    """R with repeated draws merged has the same R R' as the papers' R, in which each
    draw has a column.
    """
    X = rng.standard_normal((3, d))
    V = row_space(X)
    sampling = leverage_sampling(V, r, random_state=int(rng.integers(1000)))
    p = np.asarray(V.leverage_scores) / np.sum(V.leverage_scores)
    counts = np.rint(sampling.weights * r * p[sampling.indices])
    assert counts.sum() == r and np.all(counts >= 1)
    assert_allclose(sampling.weights, counts / (r * p[sampling.indices]), rtol=1e-9)
    S = sampling.S.toarray()
    D = sampling.D.toarray()
    R = sampling.R.toarray()
    assert_array_equal(S.sum(axis=0), 1)
    assert_allclose(R, S @ D)
    assert_allclose((D @ D).diagonal(), sampling.weights)
    assert_allclose(sampling.apply(X), X @ R, rtol=1e-12)
    assert_array_equal(sampling.apply(X, rescale=False), X @ S)


SHAPES = ((4, 12), (12, 4), (2, 2), (2, 30))


@swept_product(
    ("shape", "make"),
    [((4, 12), np.asarray), ((12, 4), sp.csr_array)],
    SHAPES,
    [np.asarray, sp.csr_array],
)
@each_case
def test_warnings_of_odd_data_are_the_only_ones(case, shape, make):
    """No RuntimeWarning escapes on degenerate data."""
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for words in (
            "X has directions as small as",
            "Column",
            "Of those chosen",
            "n_features_to_select=2 asks for 2",
        ):
            warnings.filterwarnings("ignore", message=words, category=UserWarning)
        for kind in ANY:
            # each shape's data do not depend on which are tried
            drawn = {one: kind(rng, *one) for one in SHAPES}
            if np.any(drawn[shape]):
                case.make(2).fit(make(drawn[shape]))
