"""Row spaces, numerical rank and leverage scores against oracles of higher precision."""

import warnings

import mpmath
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from cases import (
    equal_columns,
    heavy,
    orthonormal,
    refused,
    relative_error,
    right_singular_vectors,
    sparse_table,
    strict_library,
    swept_product,
    swept_seeds,
    table,
    with_condition,
)
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest
from sklearn.preprocessing import StandardScaler

from fsel_book import (
    BSSSelector,
    CompletionSelector,
    DSFSelector,
    LeverageSelector,
    as_blocks,
    certify_selector,
    spectra,
)
from fsel_book.arrays import by_columns, to_numpy
from fsel_book.spectra import (
    GRAM_LIMIT,
    RowSpace,
    leverage_scores,
    row_space,
    svd_of_factor,
)

FORMS = {"dense": np.asarray, "csr": sp.csr_array, "csc": sp.csc_matrix}
each_form = pytest.mark.parametrize("form", FORMS)


def exact_leverage(X):
    """Leverage scores of the columns of a wide X of full row rank: Gram matrix and
    Cholesky factor with 60 digits.
    """
    n, d = X.shape
    with mpmath.workdps(60):
        rows = [[mpmath.mpf(float(x)) for x in row] for row in X]
        L = [[mpmath.mpf(0)] * n for _ in range(n)]
        for i in range(n):
            for j in range(i + 1):
                g = mpmath.fdot(rows[i], rows[j]) - mpmath.fdot(L[i][:j], L[j][:j])
                L[i][j] = mpmath.sqrt(g) if i == j else g / L[j][j]
        scores = []
        for column in zip(*rows, strict=True):
            z = []
            for i in range(n):
                z.append((column[i] - mpmath.fdot(L[i][:i], z)) / L[i][i])
            scores.append(float(mpmath.fdot(z, z)))
    return np.array(scores)


def householder_leverage(X):
    Q = scipy.linalg.qr(X.T, mode="economic")[0]
    return np.sum(Q**2, axis=1)


def found_and_warned(X):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scores = leverage_scores(X)
    return scores, [str(w.message) for w in caught]


def assert_as_good_as_householder(X, forms=FORMS):
    """Errors within 10 times those of Householder QR, or below 1e-12 where the Gram
    matrix is used, or a warning.
    """
    exact = exact_leverage(X)
    norms = np.linalg.norm(X, axis=1)
    singular_values = np.linalg.svd(X / norms[:, None], compute_uv=False)
    by_gram = singular_values[0] < 1.01 * GRAM_LIMIT * singular_values[-1]
    allowed = 10 * relative_error(householder_leverage(X), exact)
    for form in forms:
        scores, messages = found_and_warned(FORMS[form](X))
        error = relative_error(scores, exact)
        assert error <= max(allowed, 1e-12 if by_gram else 0) or messages, (
            f"{form}: {error:.1e}, allowed {allowed:.1e}"
        )
        assert all(
            "leverage scores" in message or "leaves it out" in message
            for message in messages
        )


CONDITIONS = [1.0, 1e2, 1e3, 1e4, 1e8, 1e12]


@swept_seeds(1, 2)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_leverage_at_condition_numbers(condition, seeds):
    for seed in seeds:
        assert_as_good_as_householder(
            with_condition(12, 200, condition, np.random.default_rng(seed))
        )


@pytest.mark.parametrize("condition", CONDITIONS)
def test_leverage_with_heavy_columns_at_condition_numbers(condition):
    """Columns of very different size: the small scores must be right, too."""
    rng = np.random.default_rng(5)
    s = np.logspace(0, -np.log10(condition), 12)
    assert_as_good_as_householder(orthonormal(12, 12, rng) * s @ heavy(200, 12, rng).T)


@pytest.mark.parametrize("condition", [1e2, 1e4, 1e8])
def test_leverage_of_sparse_values_at_condition_numbers(condition):
    """A matrix that is sparse indeed."""
    X = sparse_table(12, 200, 0.1, seed=3).toarray()
    X[1] = X[0] + X[1] / condition
    assert_as_good_as_householder(X)


@pytest.mark.parametrize("spread", [1e4, 1e8, 1e15, 1e100])
def test_leverage_with_rows_of_very_different_size(spread):
    """Leverage scores do not depend on the scale of a sample, so neither may their
    errors.
    """
    X = (
        np.random.default_rng(2).standard_normal((12, 200))
        * np.logspace(0, -np.log10(spread), 12)[:, None]
    )
    if spread < 1e13:
        assert_as_good_as_householder(X)
    # the smallest rows are below rounding error of the largest: they may be left out,
    # and the rank says so
    else:
        space = row_space(X)
        assert space.numerical_rank < 12
        assert_allclose(space.leverage_scores.sum(), space.numerical_rank)


@pytest.mark.parametrize("distance", [1e-3, 1e-6, 1e-9, 1e-12])
def test_leverage_with_near_duplicate_rows(distance):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((12, 200))
    X[7] = X[2] + distance * rng.standard_normal(200)
    assert_as_good_as_householder(X)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_leverage_of_tall_data(condition):
    """Rows of X are rows of a small matrix times powers of two, exactly: the row space
    is that of the small matrix.
    """
    rng = np.random.default_rng(4)
    small = with_condition(6, 14, condition, rng)
    which = rng.permutation(np.arange(120) % 6)
    X = small[which] * 2.0 ** rng.integers(-2, 3, size=(120, 1))
    exact = exact_leverage(small)
    allowed = max(
        10 * relative_error(householder_leverage(small), exact),
        1e-12 if condition <= GRAM_LIMIT else 0,
    )
    # The tall matrix is judged by its columns, so its own condition adds to the error
    # of the small one.
    for form in FORMS:
        space = row_space(FORMS[form](X))
        assert space.numerical_rank == 6
        scores, messages = found_and_warned(FORMS[form](X))
        assert relative_error(scores, exact) <= 10 * allowed or messages


@each_form
def test_full_column_rank_makes_all_scores_one(form):
    X = with_condition(60, 12, 1e6, np.random.default_rng(0))
    assert_allclose(leverage_scores(FORMS[form](X)), 1, rtol=1e-9)


def test_square_matrix():
    X = with_condition(15, 15, 1e5, np.random.default_rng(0))
    assert_allclose(leverage_scores(X), 1, rtol=1e-9)


# ---------------------------------------------------------------- a target rank


@pytest.mark.exact
@pytest.mark.parametrize("shape", [(20, 90), (90, 20), (30, 30)])
@each_form
def test_target_rank_equals_svd(shape, form):
    X = table(*shape, seed=1)
    for k in (1, 4, 11, min(shape) - 1, min(shape)):
        V = right_singular_vectors(X, k)
        space = row_space(FORMS[form](X), rank=k)
        assert space.shape == (shape[1], k)
        assert space.numerical_rank == min(shape)
        assert_allclose(
            space.leverage_scores, np.sum(V**2, axis=1), rtol=1e-8, atol=1e-14
        )
        assert_allclose(leverage_scores(FORMS[form](X), rank=k), space.leverage_scores)
        B = space.basis()
        assert_allclose(B.T @ B, np.eye(k), atol=1e-10)
        assert_allclose(B @ (B.T @ V), V, atol=1e-8)
        s = np.linalg.svd(X, compute_uv=False)
        assert_allclose(space.singular_values, s[:k], rtol=1e-9)
        assert space.energy == pytest.approx(
            np.sum(s[:k] ** 2) / np.sum(s**2), rel=1e-9
        )


@pytest.mark.parametrize("condition", [1e4, 1e8])
def test_target_rank_of_ill_conditioned_data(condition):
    X = with_condition(12, 200, condition, np.random.default_rng(1))
    V = right_singular_vectors(X, 5)
    assert_allclose(leverage_scores(X, rank=5), np.sum(V**2, axis=1), rtol=1e-7)


def strict(X):
    return strict_library().make(X)


@pytest.mark.parametrize("shape", [(20, 90), (90, 20)], ids=["wide", "tall"])
@pytest.mark.parametrize("make", [*FORMS.values(), strict], ids=[*FORMS, "strict"])
def test_truncating_twice_is_truncating_once(shape, make):
    X = table(*shape, seed=1)
    given = make(X)
    # whether the scores and singular values of the space between are already there
    for looked in (False, True):
        once = row_space(given, 4)
        between = row_space(given).truncate(11)
        if looked:
            assert (
                between.leverage_scores.shape == (shape[1],)
                and len(between.singular_values) == 11
            )
        twice = between.truncate(4)
        V = to_numpy(twice.basis())
        oracle = right_singular_vectors(X, 4)
        assert twice.shape == (shape[1], 4) and twice.numerical_rank == 20
        assert_allclose(V.T @ V, np.eye(4), atol=1e-10)
        assert_allclose(V @ (V.T @ oracle), oracle, atol=1e-8)
        assert_allclose(
            to_numpy(twice.leverage_scores),
            np.sum(oracle**2, axis=1),
            rtol=1e-8,
            atol=1e-14,
        )
        assert_allclose(to_numpy(twice.rows([3, 0])), V[[3, 0]], atol=1e-14)
        assert_allclose(twice.singular_values, once.singular_values, rtol=1e-10)
        assert twice.energy == pytest.approx(once.energy)
        assert between.truncate(11) is between and between.shape == (shape[1], 11)


@pytest.mark.parametrize("rank", [0, -2, 99, 2.0, True, np.nan, "two", None], ids=repr)
def test_a_rank_to_truncate_to_is_an_integer_up_to_that_of_the_space(rank):
    for X in (table(20, 90), table(90, 20), sparse_table(20, 300)):
        for space, most in (
            (row_space(X), 20),
            (row_space(X, 11), 11),
            (row_space(X, 11).truncate(5), 5),
        ):
            with refused(
                f"rank={rank!r} is not possible",
                "numerical rank 20",
                f"from 1 to {most}",
            ):
                space.truncate(rank)
    with refused(f"rank={rank!r} is not possible", "from 1 to 4"):
        RowSpace.from_basis(heavy(50, 4, np.random.default_rng(0))).truncate(rank)


@each_form
def test_basis_spans_the_row_space(form):
    for X in (
        table(20, 90),
        table(90, 20),
        table(25, 8) @ table(8, 60),
        table(60, 8) @ table(8, 25),
    ):
        space = row_space(FORMS[form](X))
        V = space.basis()
        oracle = right_singular_vectors(X, space.shape[1])
        assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-10)
        assert_allclose(V @ (V.T @ X.T), X.T, atol=1e-9 * np.abs(X).max())
        assert_allclose(V @ (V.T @ oracle), oracle, atol=1e-7)
        which = np.array([3, 0, 11])
        assert_allclose(space.rows(which), V[which], atol=1e-14)
        assert_allclose(space.leverage_scores, np.sum(V**2, axis=1), rtol=1e-9)


def test_data_larger_than_a_block(monkeypatch):
    """Many blocks of features give what one gives."""
    X = table(20, 900)
    ill = with_condition(20, 900, 1e5, np.random.default_rng(0))
    whole = leverage_scores(X)
    scores = np.sum(right_singular_vectors(ill, 20) ** 2, axis=1)
    monkeypatch.setattr(
        spectra, "by_columns", lambda X, block_bytes=0: by_columns(X, block_bytes=1)
    )
    for form in FORMS:
        assert_allclose(leverage_scores(FORMS[form](X)), whole, rtol=1e-10)
        assert_allclose(leverage_scores(FORMS[form](ill)), scores, rtol=1e-6)


# ---------------------------------------------------------------- numerical rank


@swept_product(
    ("k", "shape", "dtype"),
    [
        *(
            (k, shape, np.float64)
            for k in (1, 2, 7, 20)
            for shape in ((30, 80), (80, 30), (40, 40))
        ),
        *(
            (k, shape, np.float32)
            for k, shape in ((1, (30, 80)), (2, (80, 30)), (20, (40, 40)))
        ),
        (7, (200, 1500), np.float32),
    ],
    [1, 2, 7, 20],
    [(30, 80), (80, 30), (40, 40), (200, 1500)],
    [np.float64, np.float32],
)
def test_rank_of_low_rank_products(shape, k, dtype):
    n, d = shape
    rng = np.random.default_rng(k)
    X = (rng.standard_normal((n, k)) @ rng.standard_normal((k, d))).astype(dtype)
    for form in FORMS:
        assert row_space(FORMS[form](X)).numerical_rank == k


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rank_with_duplicated_and_zero_rows_and_columns(dtype):
    X = table(12, 50).astype(dtype)
    assert row_space(X).numerical_rank == 12
    assert row_space(np.vstack([X, X])).numerical_rank == 12
    assert (
        row_space(
            np.vstack([X, X[:3] * dtype(0.25), np.zeros((5, 50), dtype)])
        ).numerical_rank
        == 12
    )
    assert (
        row_space(np.hstack([X, X[:, :7], np.zeros((12, 9), dtype)])).numerical_rank
        == 12
    )
    assert row_space(np.hstack([X[:, :5], X[:, :5]])).numerical_rank == 5
    assert row_space(np.vstack([np.zeros((4, 50), dtype), X])).numerical_rank == 12
    assert row_space(np.ones((7, 9), dtype)).numerical_rank == 1
    assert row_space(np.eye(9, dtype=dtype)).numerical_rank == 9


def test_rank_of_centred_data_is_one_less_than_the_number_of_samples():
    X = table(30, 200)
    assert row_space(X - X.mean(axis=0)).numerical_rank == 29
    assert row_space(X - X.mean(axis=1, keepdims=True)).numerical_rank == 30


def centred(n, d, condition, shift):
    """Centred data of this condition number, from data whose mean is `shift` times
    their root mean square.
    """
    rng = np.random.default_rng(0)
    axes = scipy.linalg.null_space(np.ones((1, n)))  # no sum of all rows
    X = axes @ with_condition(n - 1, d, condition, rng)
    X = X / np.sqrt(np.mean(X**2)) + shift * (1 + rng.random(d))
    return X - X.mean(axis=0)


@pytest.mark.parametrize(
    "condition, shift",
    [(1, 0), (1, 30), (1, 1e3), (1e6, 1e3), (1e9, 300), (1e12, 0), (1e12, 30)],
)
@each_form
def test_what_rounding_leaves_of_the_mean_is_no_direction(condition, shift, form):
    X = centred(30, 400, condition, shift)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert row_space(FORMS[form](X)).numerical_rank == 29
        assert row_space(FORMS[form](X.T.copy())).numerical_rank == 29


@pytest.mark.parametrize("shift", [0, 0.1])
def test_rank_of_centred_data_of_single_precision(shift):
    assert (
        row_space(centred(30, 400, 10, shift).astype(np.float32)).numerical_rank == 29
    )


def test_small_directions_that_are_data_count():
    """Another tiny direction than the sum of the rows, and a sum that is small but no
    rounding.
    """
    n = 30
    rng = np.random.default_rng(0)
    X = centred(n, 400, 1, 0)
    one = np.ones((n, 1))
    difference = np.zeros((n, 1))
    assert row_space(X + 1e-9 * one * rng.standard_normal(400)).numerical_rank == n
    difference[:2, 0] = 1, -1
    axes = scipy.linalg.null_space(np.hstack([one, difference]).T)
    X = axes @ rng.standard_normal((n - 2, 400)) + one * rng.standard_normal(400)
    with pytest.warns(UserWarning, match="probably what rounding left"):
        assert (
            row_space(X + 3e-12 * difference * rng.standard_normal(400)).numerical_rank
            == n
        )


@pytest.mark.parametrize("axis", [0, 1])
def test_what_rounding_leaves_of_the_mean_is_no_direction_of_blocks(axis):
    X = centred(30, 400, 1e6, 1e3)
    X = X if axis == 1 else X.T
    blocks = as_blocks(lambda: iter(np.array_split(X, 4, axis=axis)), axis=axis)
    for kind in (
        BSSSelector(12, rule="largest-norm"),
        LeverageSelector(12, rule="largest"),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            of_blocks, in_memory = (clone(kind).fit(data) for data in (blocks, X))
        assert (
            of_blocks.certificate_.numerical_rank
            == in_memory.certificate_.numerical_rank
            == 29
        )
        assert_array_equal(of_blocks.selected_, in_memory.selected_)


def test_zero_columns_have_score_zero_and_duplicates_share():
    X = table(10, 40)
    Z = np.hstack([X, np.zeros((10, 3)), X[:, :2]])
    scores = leverage_scores(Z)
    assert_array_equal(scores[40:43], 0)
    assert_allclose(scores[:2], scores[43:], rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-149, 1e-100, 1e-5, 1e5, 1e100, 1e148])
@each_form
def test_scale_changes_nothing(scale, form):
    make = FORMS[form]
    for X in (
        table(15, 60),
        table(60, 15),
        table(20, 6) @ table(6, 70),
        with_condition(12, 90, 1e6, np.random.default_rng(0)),
    ):
        power = 2.0 ** np.round(np.log2(scale))
        space = row_space(make(X))
        scaled = row_space(make(X * power))
        odd = row_space(make(X * scale))
        assert space.numerical_rank == scaled.numerical_rank == odd.numerical_rank
        assert_allclose(scaled.leverage_scores, space.leverage_scores, rtol=1e-9)
        assert_allclose(odd.leverage_scores, space.leverage_scores, rtol=1e-6)
        assert_allclose(
            scaled.singular_values, space.singular_values * power, rtol=1e-9
        )
        assert scaled.energy == pytest.approx(space.energy)


@pytest.mark.parametrize("scale", [1e-30, 1e-20, 1e20, 1e30])
def test_scale_changes_nothing_in_float32(scale):
    X = table(15, 60).astype(np.float32)
    scaled = leverage_scores(X * np.float32(scale))
    assert scaled.dtype == np.float32
    assert_allclose(scaled, leverage_scores(X), rtol=1e-5)


@pytest.mark.parametrize("scale", [1e-149, 1e148])
def test_scale_near_the_ends_of_the_range(scale):
    X = table(15, 60)
    assert_allclose(leverage_scores(X * scale), leverage_scores(X), rtol=1e-9)


def test_large_scale_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        leverage_scores(table(15, 60) * 1e148)


# ---------------------------------------------------------------- warnings and
# precision


def test_a_warning_where_scores_are_good_to_a_digit_at_best():
    X = with_condition(12, 200, 1e14, np.random.default_rng(0))
    with pytest.warns(
        UserWarning,
        match=r"leverage scores are good to a digit or two at best.*smaller rank",
    ):
        row_space(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for condition in (1, 1e3, 1e8, 1e12):
            row_space(with_condition(12, 200, condition, np.random.default_rng(0)))


def tiny_words(fit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    return [
        text
        for text in (str(warning.message) for warning in caught)
        if "direction" in text
    ]


TINY = {
    "small by little": with_condition(25, 300, 1e15, np.random.default_rng(0)),
    "one far below": table(25, 300)
    - np.outer(np.eye(25)[3], (1 - 1e-12) * table(25, 300)[3] - table(25, 300)[5]),
    "float32": with_condition(25, 300, 1e5, np.random.default_rng(0)).astype(
        np.float32
    ),
}


@pytest.mark.parametrize("kind", TINY)
def test_tiny_directions_are_told_where_they_are_certified_only(kind):
    X = TINY[kind]
    for rank in (None, 25):
        if rank is None or row_space(X).numerical_rank == 25:
            assert len(tiny_words(lambda rank=rank: row_space(X, rank))) == 1
    assert len(tiny_words(lambda: BSSSelector(200, rank="full").fit(X))) == 1
    for small in (
        lambda: row_space(X, 10),
        lambda: leverage_scores(X, 10),
        lambda: BSSSelector(40).fit(X),
        lambda: BSSSelector(40, rank=8).fit(X),
        lambda: LeverageSelector(20, rule="largest").fit(X),
        lambda: CompletionSelector([1], 20).fit(X),
        lambda: DSFSelector(20).fit(X),
        lambda: certify_selector(SelectKBest(k=20).fit(X, np.arange(25) % 2), X),
    ):
        assert not tiny_words(small)


@pytest.mark.parametrize("kind", TINY)
@pytest.mark.parametrize("axis", [0, 1])
def test_tiny_directions_of_blocks_are_told_where_they_are_certified_only(kind, axis):
    X = TINY[kind] if axis == 1 else TINY[kind].T.copy()
    blocks = as_blocks(lambda: iter(np.array_split(X, 4, axis=axis)), axis=axis)
    assert not tiny_words(lambda: BSSSelector(12).fit(blocks))
    r = 200 if axis == 1 else 25
    selector = LeverageSelector(r, rank="full", rule="largest")
    of_blocks, in_memory = (
        tiny_words(lambda data=data: selector.fit(data)) for data in (blocks, X)
    )
    assert len(of_blocks) == len(in_memory) == 1
    assert of_blocks[0][:20] == in_memory[0][:20]


@each_form
def test_float32_scores_are_those_of_float64(form):
    for X in (
        table(15, 80),
        table(80, 15),
        with_condition(12, 90, 1e3, np.random.default_rng(0)),
    ):
        X = X.astype(np.float32)
        scores = leverage_scores(FORMS[form](X))
        assert scores.dtype == np.float32
        assert_allclose(scores, leverage_scores(X.astype(np.float64)), rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint8, bool, np.float16])
def test_other_numbers_become_float64(dtype):
    X = np.random.default_rng(0).integers(0, 2, size=(8, 30)).astype(dtype)
    # SciPy's sparse matrices know no float16
    for form in ["dense"] if dtype == np.float16 else FORMS:
        scores = leverage_scores(FORMS[form](X))
        assert scores.dtype == np.float64
        assert_allclose(scores, leverage_scores(X.astype(np.float64)))


def test_lists_are_accepted():
    assert_allclose(leverage_scores([[1, 0, 0], [0, 2, 2]]), [1, 0.5, 0.5])


def test_explicit_basis():
    V = heavy(50, 4, np.random.default_rng(0))
    space = RowSpace.from_basis(V)
    assert space.shape == (50, 4) and space.numerical_rank == 4 and space.energy == 1
    assert_allclose(space.leverage_scores, np.sum(V**2, axis=1))
    assert_array_equal(space.rows([3, 1]), V[[3, 1]])


@each_form
def test_data_are_not_changed(form):
    for X in (
        table(15, 60),
        table(60, 15),
        with_condition(12, 90, 1e6, np.random.default_rng(0)),
        table(15, 60) * 1e-149,
    ):
        given = FORMS[form](X)
        row_space(given, rank=5)
        assert_array_equal(given.toarray() if sp.issparse(given) else given, X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_in_small_units_count(dtype):
    X = np.random.default_rng(0).standard_normal((1000, 6)) * [5e4, 1, 1, 1, 0.05, 0.1]
    assert row_space(X.astype(dtype)).numerical_rank == 6
    assert row_space(X.T.astype(dtype)).numerical_rank == 6


def test_a_zero_feature_of_tall_data_scores_zero():
    X = np.zeros((6, 3))
    # the first feature is zero; the SVD of the others leaves 1e-9 in its row of V
    X[0, 1] = 1e-8
    X[1, 2] = 1.0
    assert leverage_scores(X)[0] == 0 and row_space(X).numerical_rank == 2


# ---------------------------------------------------------------- left vectors and
# residuals


def dense(X):
    return X.toarray() if sp.issparse(X) else np.asarray(X)


EXACT = {
    "wide": table(20, 90),
    "tall": table(90, 20),
    "square": table(25, 25),
    "rank-deficient, wide": table(25, 8) @ table(8, 60),
    "rank-deficient, tall": table(60, 8) @ table(8, 25),
    "with zero rows and columns": np.pad(table(12, 40), ((2, 3), (1, 4))),
    "condition 1e6": with_condition(20, 70, 1e6, np.random.default_rng(0)),
}
each_exact = pytest.mark.parametrize("kind", EXACT)


@each_exact
@each_form
@swept_product(
    ("scale", "dtype"),
    [(1.0, np.float64), (1e30, np.float64), (1e-30, np.float32)],
    [1.0, 1e-30, 1e30],
    [np.float64, np.float32],
)
def test_left_vectors(kind, form, dtype, scale):
    """Orthonormal, and X V = left * S where the space was truncated or X is tall; they
    span X where it is whole.
    """
    X = (EXACT[kind] * scale).astype(dtype)
    D = X.astype(np.float64)
    whole = row_space(FORMS[form](X))
    rank = whole.numerical_rank
    size = np.linalg.norm(D, 2)
    # what float32 has cut off of a low rank
    rounding = 1e-12 * size if dtype == np.float64 else 1e-5 * size
    for space in (
        whole,
        whole.truncate(max(1, rank // 2)),
        whole.truncate(rank - 1).truncate(2),
        row_space(FORMS[form](X), 3),
    ):
        U = space.left
        S = space.singular_values
        V = space.basis()
        k = space.shape[1]
        assert U.shape == (len(X), k) and U.dtype == np.float64
        assert_allclose(U.T @ U, np.eye(k), atol=1e-9 if dtype == np.float64 else 1e-6)
        assert_allclose(np.linalg.norm(U.T @ D, axis=1), S, rtol=1e-7, atol=rounding)
        if k < rank or X.shape[0] > X.shape[1]:
            assert_allclose(D @ V, U * S, atol=rounding)
            assert_allclose(D.T @ U, V * S, atol=rounding)
        else:
            assert_allclose(U @ (U.T @ D), D, atol=rounding)


@each_exact
@each_form
def test_residuals_of_exact_spaces(kind, form):
    X = EXACT[kind]
    U, s, _ = np.linalg.svd(X)
    whole = row_space(FORMS[form](X))
    assert_array_equal(whole.residual_norms, 0)
    assert_allclose(whole.squared_lengths, np.sum(X**2, axis=0), rtol=1e-12)
    for k in {1, 3, whole.numerical_rank - 1}:
        space = row_space(FORMS[form](X), k)
        expected = np.linalg.norm(X - U[:, :k] @ (U[:, :k].T @ X), axis=0)
        assert space.residual_norms.dtype == np.float64
        assert_allclose(space.residual_norms, expected, rtol=1e-5, atol=1e-11 * s[0])
        assert np.sum(space.residual_norms**2) == pytest.approx(
            np.sum(s[k:] ** 2), rel=1e-6
        )
        assert 1 - space.energy == pytest.approx(
            np.sum(s[k:] ** 2) / np.sum(s**2), abs=1e-12
        )
        assert_array_equal(space.residual_norms[~np.any(X, axis=0)], 0)


def high_precision_residuals(X, U):
    """Lengths of the columns of X - UU'X in long double precision."""
    X = X.astype(np.longdouble)
    U = U.astype(np.longdouble)
    E = X - U @ (U.T @ X)
    return np.sqrt(np.sum(E * E, axis=0)).astype(float)


def held_nearly_whole(n, d, k, rng):
    """Pairs of columns U a + e and U a - e, with e orthogonal to U: their leading left
    vectors are U, whatever e is.
    """
    Q = orthonormal(n, min(n, k + d // 2), rng)
    A = orthonormal(d // 2, k, rng).T * np.linspace(5, 4, k)[:, None]
    E = (
        Q[:, k:]
        @ rng.standard_normal((Q.shape[1] - k, d // 2))
        * np.logspace(-2, -13, d // 2)
    )
    return np.hstack([Q[:, :k] @ A + E, Q[:, :k] @ A - E])


def assert_accurate_residuals(space, X):
    expected = high_precision_residuals(X, space.left)
    relative = expected / np.linalg.norm(X, axis=0)
    assert relative.min() < 1e-10 and relative.max() > 1e-2
    assert np.all(np.abs(space.residual_norms / expected - 1) < 1e-15 / relative + 1e-9)


@each_form
@pytest.mark.parametrize("shape", [(30, 200), (200, 30)], ids=["wide", "tall"])
def test_residuals_of_columns_held_nearly_whole(shape, form):
    """Lengths down to 1e-12 of the columns they belong to, to all digits that float64
    has for them.
    """
    X = held_nearly_whole(*shape, 5, np.random.default_rng(0))
    assert_accurate_residuals(row_space(FORMS[form](X), 5), X)


@pytest.mark.parametrize("scale", [1e148, 1e-149, 1e80, 1e-80])
@each_form
def test_residuals_at_extreme_scales(scale, form):
    for X in (table(20, 90), table(90, 20)):
        plain = row_space(FORMS[form](X), 4)
        scaled = row_space(FORMS[form](X * scale), 4)
        assert_allclose(
            scaled.residual_norms / scaled.scale,
            scale * plain.residual_norms,
            rtol=1e-7,
        )
        assert_allclose(
            scaled.left @ scaled.left.T, plain.left @ plain.left.T, atol=1e-9
        )
        assert scaled.energy == pytest.approx(plain.energy)
        lengths = np.sqrt(scaled.squared_lengths) / scaled.scale
        assert_allclose(lengths, scale * np.linalg.norm(X, axis=0), rtol=1e-9)


@pytest.mark.parametrize("make", [*FORMS.values(), strict], ids=[*FORMS, "strict"])
@pytest.mark.parametrize("shape", [(12, 60), (60, 12)], ids=["wide", "tall"])
def test_left_vectors_and_residuals_live_where_the_data_do(shape, make):
    X = table(*shape)
    given = make(X)
    plain = row_space(X, 4)
    space = row_space(given, 4)
    for name in ("left", "squared_lengths", "residual_norms"):
        ours = getattr(space, name)
        theirs = getattr(plain, name)
        assert type(ours) is (
            np.ndarray if sp.issparse(given) else type(given)
        ) and str(ours.dtype).endswith("float64")
        assert_allclose(np.abs(to_numpy(ours)), np.abs(theirs), rtol=1e-8, atol=1e-12)


def test_residuals_of_data_larger_than_a_block(monkeypatch):
    X = table(20, 900)
    whole = row_space(X, 5)
    expected = whole.residual_norms
    left = whole.left
    monkeypatch.setattr(
        spectra, "by_columns", lambda X, block_bytes=0: by_columns(X, block_bytes=1)
    )
    for form in FORMS:
        for given in (X, X.T):
            space = row_space(FORMS[form](given), 5)
            U = np.linalg.svd(given, full_matrices=False)[0][:, :5]
            assert_allclose(
                space.residual_norms,
                np.linalg.norm(given - U @ (U.T @ given), axis=0),
                rtol=1e-7,
            )
            assert_allclose(space.left @ space.left.T, U @ U.T, atol=1e-9)
    assert_allclose(row_space(X, 5).residual_norms, expected, rtol=1e-9)
    assert_allclose(np.abs(row_space(X, 5).left), np.abs(left), atol=1e-9)


# ---------------------------------------------------------------- leading directions by
# sketches


def with_spectrum(n, d, s, seed=0):
    rng = np.random.default_rng(seed)
    return orthonormal(n, len(s), rng) * s @ orthonormal(d, len(s), rng).T


def large_sparse(n, d, seed=0):
    """Counts of a few frequent and many rare words: a slow decay, sparse."""
    rng = np.random.default_rng(seed)
    rate = np.minimum(0.5, 3.0 / np.arange(1, d + 1)) * np.exp(
        0.5 * rng.standard_normal((n, 1))
    )
    return rng.poisson(rate).astype(float)


LARGE = {
    "slow decay": lambda: with_spectrum(520, 700, np.arange(1, 521.0) ** -0.5),
    "slow decay, tall": lambda: with_spectrum(700, 520, np.arange(1, 521.0) ** -0.5),
    "flat": lambda: np.random.default_rng(0).standard_normal((530, 600)),
    "gapped": lambda: with_spectrum(
        520, 700, np.r_[np.linspace(20, 10, 20), 0.5 * np.ones(480)]
    ),
    "low rank and noise": lambda: (
        table(520, 30) @ table(30, 800)
        + 0.5 * np.random.default_rng(1).standard_normal((520, 800))
    ),
    "fast decay": lambda: with_spectrum(600, 520, 0.9 ** np.arange(500)),
    "counts": lambda: large_sparse(520, 900),
    "counts, tall": lambda: large_sparse(900, 520),
}
each_large = pytest.mark.parametrize("kind", LARGE)


@pytest.fixture(scope="module")
def large():
    """Each large matrix with its singular values, made once."""
    known = {}

    def get(kind):
        if kind not in known:
            X = LARGE[kind]()
            known[kind] = X, np.linalg.svd(X, compute_uv=False)
        return known[kind]

    return get


def sketched(X, k):
    space = row_space(X, k, exact=False)
    assert space.numerical_rank is None and space.shape == (X.shape[1], k)
    return space


def assert_leading(space, X, s, tolerance=1e-10, least=0.999):
    """Orthonormal bases that belong together, and nearly as much of X in them as can
    be.
    """
    X = X.astype(np.float64)
    k = space.shape[1]
    U = space.left
    S = space.singular_values
    V = space.basis()
    assert_allclose(U.T @ U, np.eye(k), atol=1e-12)
    assert_allclose(V.T @ V, np.eye(k), atol=1e-12)
    # X - U S V' = X - U U'X, orthogonal to U
    assert_allclose(U.T @ X, (V * S).T, atol=1e-10 * s[0])
    assert np.all(np.diff(S) <= 0) and np.all(S <= s[:k] * (1 + 1e-9))
    captured = np.sum((U.T @ X) ** 2)
    assert least * np.sum(s[:k] ** 2) <= captured <= np.sum(s[:k] ** 2) * (1 + 1e-9)
    assert space.energy == pytest.approx(captured / np.sum(s**2), rel=1e-9)
    assert_allclose(space.squared_lengths, np.sum(X**2, axis=0), rtol=1e-9)
    expected = np.linalg.norm(X - U @ (U.T @ X), axis=0)
    assert_allclose(space.residual_norms, expected, rtol=1e-6, atol=1e-12 * s[0])
    assert_allclose(
        space.leverage_scores, np.sum(V**2, axis=1), rtol=1e-5, atol=tolerance
    )
    assert_allclose(space.rows([3, 0]), V[[3, 0]], atol=1e-14)


@swept_product(
    ("k", "kind"),
    [
        *((7, kind) for kind in LARGE),
        (1, "counts"),
        (30, "slow decay"),
        (52, "slow decay, tall"),
        (52, "flat"),
    ],
    [1, 7, 30, 52],
    LARGE,
)
def test_leading_directions_by_sketches(kind, k, large):
    X, s = large(kind)
    # Where all directions are alike, others than the leading ones are nearly as good,
    # and are found.
    assert_leading(sketched(X, k), X, s, least=0.98 if kind == "flat" else 0.999)


@swept_product(
    ("k", "kind", "form"),
    [
        (1, "counts", "csr"),
        (20, "counts", "csc"),
        (20, "counts, tall", "csr"),
        (1, "counts, tall", "csc"),
    ],
    [1, 20],
    ["counts", "counts, tall"],
    ["csr", "csc"],
)
def test_leading_directions_of_sparse_data(kind, form, k, large):
    X, s = large(kind)
    space = sketched(FORMS[form](X), k)
    same = sketched(X, k)
    assert_leading(space, X, s)
    assert_allclose(space.singular_values, same.singular_values, rtol=1e-9)
    assert_allclose(space.residual_norms, same.residual_norms, rtol=1e-6)
    # a kept basis, sparse and dense, and one that is made
    for found in (space, same, row_space(FORMS[form](X))):
        assert_allclose(found.image, X @ found.basis(), rtol=1e-9, atol=1e-9 * s[0])


@swept_product(
    ("form", "kind"),
    [("dense", "slow decay"), ("csr", "counts"), ("csc", "fast decay")],
    FORMS,
    ["slow decay", "fast decay", "counts"],
)
def test_leading_directions_of_float32(kind, form, large):
    X = large(kind)[0].astype(np.float32)
    space = sketched(FORMS[form](X), 20)
    assert space.leverage_scores.dtype == np.float32 and space.left.dtype == np.float64
    assert_leading(
        space, X, np.linalg.svd(X.astype(np.float64), compute_uv=False), 1e-6
    )


def test_leading_directions_of_another_library(large):
    X, _ = large("slow decay")
    given = strict(X)
    space = sketched(given, 10)
    same = sketched(X, 10)
    for name in ("left", "residual_norms", "leverage_scores"):
        ours = getattr(space, name)
        assert type(ours) is type(given) and ours.device == given.device
        assert_allclose(
            np.abs(to_numpy(ours)), np.abs(getattr(same, name)), rtol=1e-6, atol=1e-9
        )


def test_a_gap_is_found_exactly(large):
    """Where the leading directions stand apart, the sketched space is the exact one."""
    for kind, k in (("gapped", 20), ("low rank and noise", 30), ("fast decay", 20)):
        X, s = large(kind)
        U = np.linalg.svd(X, full_matrices=False)[0][:, :k]
        space = sketched(X, k)
        assert np.linalg.norm(U - space.left @ (space.left.T @ U), 2) < 1e-3 * (
            1 if kind != "gapped" else 1e-3
        )
        assert_allclose(space.singular_values, s[:k], rtol=1e-5)


def test_sketches_are_the_same_every_time(large):
    X, _ = large("slow decay")
    one = sketched(X, 20)
    two = sketched(X.copy(), 20)
    assert_array_equal(one.basis(), two.basis())
    assert_array_equal(one.left, two.left)
    assert_array_equal(one.residual_norms, two.residual_norms)


@pytest.mark.parametrize("kind", ["slow decay", "slow decay, tall"])
def test_truncating_leading_directions(kind, large):
    X, s = large(kind)
    whole = sketched(X, 30)
    for looked in (False, True):
        if looked:
            assert whole.left.shape == (len(X), 30) and whole.residual_norms.shape == (
                X.shape[1],
            )
        space = whole.truncate(9)
        assert space.numerical_rank is None and space.shape == (X.shape[1], 9)
        assert_leading(space, X, s)
        assert_allclose(space.basis(), whole.basis()[:, :9], atol=1e-14)
        assert_allclose(space.left, whole.left[:, :9], atol=1e-12)
        assert_leading(space.truncate(2), X, s)
    assert whole.truncate(30) is whole
    for rank in (0, 31, 2.0, True):
        with refused(
            f"rank={rank!r} is not possible",
            "only 30 leading directions of X were computed",
            "from 1 to 30",
        ):
            whole.truncate(rank)


@pytest.mark.parametrize("scale", [1e148, 1e-148, 1e80, 1e-80, -3.0])
def test_leading_directions_at_other_scales(scale, large):
    X, s = large("slow decay")
    space = sketched(X * scale, 20)
    plain = sketched(X, 20)
    assert_allclose(
        space.singular_values, abs(scale) * plain.singular_values, rtol=1e-9
    )
    assert_allclose(
        space.residual_norms / space.scale, abs(scale) * plain.residual_norms, rtol=1e-9
    )
    assert_allclose(space.leverage_scores, plain.leverage_scores, rtol=1e-6)


def test_directions_too_small_for_sketches_are_found_exactly():
    """A spectrum that falls below 1e-6 of its beginning within the rank asked for."""
    X = with_spectrum(520, 600, np.logspace(0, -9, 60))
    space = row_space(X, 50, exact=False)
    assert space.numerical_rank is not None
    assert_allclose(space.singular_values, np.logspace(0, -9, 60)[:50], rtol=1e-5)


def test_leading_directions_beyond_the_rank_of_the_data():
    rng = np.random.default_rng(0)
    low = rng.standard_normal((510, 20)) @ rng.standard_normal((20, 520))
    with (
        warnings.catch_warnings(),
        refused("rank=30 is not possible", "numerical rank 20"),
    ):
        # of rows of X that a sketch has made tiny, for instance
        warnings.simplefilter("error")
        row_space(low, 30, exact=False)
    for k in (20, 5):
        s = np.linalg.svd(low, compute_uv=False)
        space = row_space(low, k, exact=False)
        assert_allclose(space.singular_values, s[:k], rtol=1e-9)
        assert np.sum(space.residual_norms**2) == pytest.approx(
            np.sum(s[k:] ** 2), rel=1e-6, abs=1e-18 * s[0] ** 2
        )


@pytest.mark.parametrize(
    "shape, rank",
    [
        ((400, 900), 10),
        ((900, 400), 10),
        ((520, 700), 53),
        ((520, 700), None),
        ((520, 700), 520),
    ],
)
def test_small_data_and_many_directions_are_found_exactly(shape, rank):
    X = np.random.default_rng(0).standard_normal(shape)
    space = row_space(X, rank, exact=False)
    assert space.numerical_rank == min(shape)
    assert_allclose(
        space.singular_values, np.linalg.svd(X, compute_uv=False)[:rank], rtol=1e-9
    )


@pytest.mark.parametrize("rank", [0, -2, 2.0, True, "two"], ids=repr)
def test_ranks_that_are_none_are_refused_before_any_sketch(rank):
    with refused(f"rank={rank!r} is not possible"):
        row_space(
            np.random.default_rng(0).standard_normal((520, 700)), rank, exact=False
        )


def test_columns_that_leading_directions_hold_nearly_whole():
    X = held_nearly_whole(520, 700, 10, np.random.default_rng(0))
    assert_accurate_residuals(sketched(X, 10), X)


# ---------------------------------------------------------------- the small
# decomposition


@pytest.mark.parametrize("kappa", [1, 30, 95, 1e3, 1e12])
@pytest.mark.parametrize("shape", [(1, 1), (12, 12), (12, 40)])
def test_the_decomposition_of_a_factor(shape, kappa, monkeypatch):
    """Well-conditioned squares by eigenvectors, all else by LAPACK's decomposition;
    both to twelve digits.
    """
    B = with_condition(*shape, kappa, np.random.default_rng(0)) * 1e3
    if shape[0] == shape[1]:
        B = np.linalg.qr(B)[1].T
    expected = np.linalg.svd(B, compute_uv=False)
    called = []
    svd = np.linalg.svd
    monkeypatch.setattr(
        np.linalg,
        "svd",
        lambda *args, **options: called.append(1) or svd(*args, **options),
    )
    U, S, Vh = svd_of_factor(B)
    assert bool(called) == (shape[0] != shape[1] or (kappa > 100 and shape[0] > 1))
    assert_allclose(S, expected, rtol=1e-12, atol=1e-14 * expected[0] if called else 0)
    assert_allclose(U * S @ Vh, B, atol=1e-13 * expected[0])
    assert_allclose(U.T @ U, np.eye(shape[0]), atol=1e-12)
    assert_allclose(Vh @ Vh.T, np.eye(shape[0]), atol=1e-12)


def test_a_factor_whose_diagonal_hides_that_it_is_nearly_singular():
    """Kahan's matrix with ones on its diagonal: of order 60 its condition number is
    above 1e15.
    """
    B = np.eye(60) - np.tril(np.ones((60, 60)), -1)
    U, S, Vh = svd_of_factor(B)
    expected = np.linalg.svd(B, compute_uv=False)
    assert expected[0] > 1e15 * expected[-1]
    assert_allclose(S, expected, atol=1e-14 * expected[0])
    assert_allclose(U.T @ U, np.eye(60), atol=1e-12)


@pytest.mark.parametrize("shape", [(20, 300), (300, 20)])
def test_a_basis_that_is_kept_has_the_same_rows(shape):
    X = np.random.default_rng(0).standard_normal(shape)
    space, kept = (row_space(X).truncate(7) for _ in range(2))
    kept.keep()
    assert kept.kept is not None and kept.basis() is kept.kept
    assert_allclose(kept.rows([5, 2, 2]), space.rows([5, 2, 2]), rtol=1e-12, atol=1e-14)
    assert_allclose(kept.leverage_scores, space.leverage_scores, rtol=1e-12)
    assert_allclose(
        kept.truncate(3).basis(), space.truncate(3).basis(), rtol=1e-12, atol=1e-14
    )
    large = row_space(np.random.default_rng(0).standard_normal((90, 2**23 // 90 + 1)))
    large.keep()
    assert large.kept is None


@pytest.mark.parametrize("correlation", [0.01, 0.5, 0.999, 1])
def test_columns_that_are_not_orthogonal_are_refused(correlation):
    """Their lengths, and so their scores, may be right."""
    V = orthonormal(500, 100, np.random.default_rng(0))
    V[:, 1] = correlation * V[:, 0] + np.sqrt(1 - correlation**2) * V[:, 1]
    with refused("V must have orthonormal columns"):
        RowSpace.from_basis(V)


# ---------------------------------------------------------------- equal columns


@each_form
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(12, 60), (60, 12), (1, 9), (30, 700)])
def test_equal_columns_are_found_wherever_they_stand(form, dtype, shape):
    rng = np.random.default_rng(0)
    few = rng.integers(-2, 3, (shape[0], -(-shape[1] // 3))) * rng.uniform(
        0.5, 2, -(-shape[1] // 3)
    )
    places = rng.integers(0, few.shape[1], shape[1])
    X = few[:, places] * rng.choice([-1, 1], shape[1])
    X[:, ::5] = X[:, ::5] * (1 + 2 * np.finfo(dtype).eps)  # the last bits do not count
    space = row_space(FORMS[form](X.astype(dtype)))
    expected = equal_columns(X.astype(np.float32) if dtype == np.float32 else X)
    assert_array_equal(space.first_equal, expected)
    zero = ~X.any(axis=0)
    assert space.n_different == len(np.unique(expected[~zero]))
    assert_array_equal(space.truncate(1).first_equal, expected)


def test_equal_columns_of_other_libraries(library):
    X = np.repeat(table(10, 30), 2, axis=1)
    assert_array_equal(row_space(library.make(X)).first_equal, np.arange(60) // 2 * 2)


def test_columns_in_other_units_are_equal_once_they_are_standardised():
    """The mean over the standard deviation is what rounding is multiplied by."""
    x = np.random.default_rng(0).standard_normal((500, 40))
    for mean, dtype in (
        (1, np.float64),
        (30, np.float64),
        (1000, np.float64),
        (1, np.float32),
        (30, np.float32),
    ):
        X = np.hstack([x + mean, 2.54 * (x + mean), -0.3 * (x + mean) + 7]).astype(
            dtype
        )
        Z = StandardScaler().fit_transform(X)
        assert Z.dtype == dtype and row_space(X, rank=5).n_different == 120
        assert_array_equal(row_space(Z, rank=5).first_equal, np.arange(120) % 40)


def test_a_basis_without_data_has_no_equal_columns():
    V = np.tile(np.eye(3), (4, 1)) / 2
    space = RowSpace.from_basis(V)
    assert_array_equal(space.first_equal, np.arange(12))
    assert_array_equal(space.truncate(2).first_equal, np.arange(12))


def test_many_different_columns_are_all_different():
    rng = np.random.default_rng(0)
    for X in (
        rng.standard_normal((3, 40_000)),
        rng.integers(0, 2, (40, 30_000)),
        rng.random((50, 20_000)) + 1e6,
    ):
        assert row_space(X.astype(np.float64), rank=2).n_different == len(
            np.unique(X, axis=1).T
        )
