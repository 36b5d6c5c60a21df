"""Columns less their means: `center=True` in every form of the data."""

import tracemalloc
import warnings

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sp
from cases import swept_seeds
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.feature_selection import chi2, f_classif

from fsel_book import (
    BSSSelector,
    CompletionSelector,
    DSFSelector,
    GroupSelector,
    LeverageSelector,
    RSFSelector,
    as_blocks,
    certify_columns,
    certify_selector,
    row_space,
    rrqr,
)
from fsel_book.datasets import load_docstrings
from fsel_book.dual_set import det_sampling

SELECTORS = {
    "default": BSSSelector(6, center=True),
    "rank": BSSSelector(6, rank=3, center=True),
    "ridge": BSSSelector(6, ridge="auto", center=True),
    "largest-norm": BSSSelector(6, rule="largest-norm", center=True),
    "sampled": BSSSelector(6, rule="sampled", random_state=0, center=True),
    "sketch": BSSSelector(6, rank=3, sketch_size=9, random_state=0, center=True),
    "scores": BSSSelector(6, score_func=f_classif, center=True),
    "not negative": BSSSelector(6, score_func=chi2, center=True),
    "plain": BSSSelector(6, exchange=True, center=True),
    "excluded": BSSSelector(6, exclude=[0, 2], center=True),
    "DSF": DSFSelector(6, rank=3, center=True),
    "DSF components": DSFSelector(6, rank=3, rule="components", center=True),
    "DSF target": DSFSelector(6, rank=3, rule="target", center=True),
    "RSF": RSFSelector(6, rank=3, random_state=0, center=True),
    "leverage": LeverageSelector(6, random_state=0, center=True),
    "largest": LeverageSelector(6, rule="largest", center=True),
    "completion": CompletionSelector([1, 4], 4, center=True),
    "completion, scores": CompletionSelector(
        [1, 4], 4, score_func=f_classif, center=True
    ),
}
FORMS = {
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "dense": np.array,
    "Fortran": np.asfortranarray,
    "array_api_strict": array_api_strict.asarray,
}


def counts(seed: int, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Like counts: not negative, many zeros, columns of unlike size, a constant one."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(1.0, (n, d)) * rng.pareto(2.0, d) + rng.random((n, d))
    X *= rng.random((n, d)) < 0.6
    X[:, d // 2] = 0.1  # whose mean is rounded
    return X, rng.integers(0, 3, n)


def on_host(A):
    return A if isinstance(A, np.ndarray) else np.asarray(A)


@pytest.mark.parametrize("shape", [(25, 60), (60, 25)], ids=["wide", "tall"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SELECTORS)
@swept_seeds(1, 3)
def test_the_choice_is_that_of_the_data_less_their_means(seeds, name, form, shape):
    for seed in seeds:
        X, y = counts(seed, *shape)
        selector = SELECTORS[name]
        less = X - X.mean(axis=0)
        less[:, X.shape[1] // 2] = 0.0
        plain = clone(selector).set_params(center=False)
        if name == "not negative":
            plain.set_params(score_func=chi2(X, y)[0].copy())
            plain.score_func[np.isnan(plain.score_func)] = 0.0
        plain.fit(less, y)
        ours = clone(selector).fit(FORMS[form](X), y)
        assert_array_equal(on_host(ours.selected_), plain.selected_)
        assert X.shape[1] // 2 not in on_host(ours.selected_)
        found, expected = ours.certificate_, plain.certificate_
        assert (found.rank, found.holds) == (expected.rank, expected.holds)
        for numbers in ("eigenvalues", "eigenvalues_unscaled", "energy"):
            assert_allclose(
                getattr(found, numbers),
                getattr(expected, numbers),
                rtol=1e-6,
                atol=1e-9,
            )
        assert_allclose(found.distance_energy, found.energy, rtol=1e-9)
        assert_allclose(
            found.plain.explained.share, expected.plain.explained.share, rtol=1e-6
        )
        given = FORMS[form](X)
        assert_array_equal(
            ours.transform(given).toarray()
            if sp.issparse(given)
            else on_host(ours.transform(given)),
            X[:, np.sort(on_host(ours.selected_))],
        )


@pytest.mark.parametrize("form", ["csr", "dense"])
@pytest.mark.parametrize("name", ["default", "rank", "DSF", "leverage"])
def test_a_certificate_from_outside_is_the_own_one(name, form):
    X, y = counts(0, 60, 25)
    data = FORMS[form](X)
    selector = clone(SELECTORS[name]).fit(data, y)
    again = certify_selector(selector, data)
    assert_allclose(again.eigenvalues, selector.certificate_.eigenvalues, rtol=1e-9)
    assert again.promise == selector.certificate_.promise
    columns = certify_columns(data, selector.selected_, center=True)
    less = certify_columns(X - X.mean(axis=0), selector.selected_)
    assert_allclose(columns.eigenvalues, less.eigenvalues, rtol=1e-7)


@pytest.mark.parametrize("shape", [(12, 40), (40, 12)], ids=["wide", "tall"])
@pytest.mark.parametrize("mean", [1.0, 1e3, 1e6])
def test_small_directions_beside_a_large_mean_keep_their_digits(mean, shape):
    """As many as the subtraction leaves, where a Gram matrix would have lost them."""
    rng = np.random.default_rng(0)
    spread = rng.standard_normal(shape) * np.geomspace(1.0, 1e-3, shape[1])
    X = spread + mean
    rank = min(shape[0] - 1, shape[1])
    exact = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:rank]
    for form in (sp.csr_array, sp.csc_array):
        space = row_space(form(X), center=True)
        assert space.shape == (shape[1], rank)
        lost = 1e-14 * np.linalg.norm(X)
        assert_allclose(space.singular_values, exact, rtol=1e-11, atol=lost)
        V = space.basis()
        assert_allclose(V.T @ V, np.eye(space.shape[1]), atol=1e-13 * (1 + mean))
        lengths = np.linalg.norm(X - X.mean(axis=0), axis=0)
        assert_allclose(np.sqrt(space.squared_lengths), lengths, rtol=1e-11, atol=lost)


@pytest.mark.parametrize("mean", [1e6, 1e8, 1e10])
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, np.array])
def test_what_rounding_leaves_of_the_sum_of_samples_is_no_direction(form, mean):
    """Samples less their mean add up to zero: their rank is one less than their number,
    however large the mean was.
    """
    for seed in range(10):
        X = np.random.default_rng(seed).standard_normal((9, 22)) + mean
        assert row_space(form(X), center=True).numerical_rank == 8


@pytest.mark.parametrize("form", [sp.csr_array, np.array], ids=["sparse", "dense"])
@pytest.mark.parametrize("shape", [(600, 900), (900, 600)], ids=["wide", "tall"])
def test_leading_directions_by_sketches_are_those_of_the_data_less_their_means(
    shape, form
):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.2, shape) * rng.pareto(3.0, shape[1]) + 0.0
    exact = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:20]
    space = row_space(form(X), 20, exact=False, center=True)
    assert space.numerical_rank is None
    assert np.sum(space.singular_values**2) > 0.99 * np.sum(exact**2)
    V = space.basis()
    assert_allclose(V.T @ V, np.eye(20), atol=1e-12)
    assert_allclose(
        space.left.T @ (X - X.mean(axis=0)),
        space.singular_values[:, None] * V.T,
        atol=1e-8,
    )
    assert_allclose(space.image, (X - X.mean(axis=0)) @ V, atol=1e-8)


@pytest.mark.parametrize("form", [sp.csr_array, np.array], ids=["sparse", "dense"])
def test_columns_that_differ_by_a_constant_count_as_one(form):
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, (40, 12)) + 0.0
    X[:, 7] = X[:, 2] + 5.0
    X[:, 9] = 3.0 - 2.0 * X[:, 2]
    space = row_space(form(X), center=True)
    assert space.first_multiple[[2, 7, 9]].tolist() == [2, 2, 2]
    assert space.first_equal[[2, 7, 9]].tolist() == [2, 2, 9]
    assert (space.n_different, space.n_directions) == (11, 10)
    with pytest.warns(UserWarning, match="10 of the 12|has fewer|came out"):
        chosen = BSSSelector(12, center=True).fit(form(X)).selected_
    assert len(chosen) == 10


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("form", [sp.csr_array, np.array], ids=["sparse", "dense"])
def test_in_other_precisions(form, dtype):
    X = counts(0, 60, 25)[0].round().astype(dtype)
    chosen = BSSSelector(6, center=True).fit(form(X)).selected_
    exact = BSSSelector(6).fit(X - X.astype(float).mean(axis=0)).selected_
    assert_array_equal(chosen, exact)


@pytest.mark.parametrize("form", [sp.csr_array, np.array], ids=["sparse", "dense"])
def test_groups_are_chosen_as_from_the_data_less_their_means(form):
    for shape in ((25, 60), (60, 24)):
        X, _ = counts(0, *shape)
        groups = np.arange(shape[1]) // 4
        less = X - X.mean(axis=0)
        less[:, shape[1] // 2] = 0.0
        for options in ({}, {"exclude": [1]}, {"rule": "largest-norm"}):
            ours = GroupSelector(3, groups=groups, center=True, **options).fit(form(X))
            plain = GroupSelector(3, groups=groups, **options).fit(less)
            assert_array_equal(ours.selected_groups_, plain.selected_groups_)
            assert_allclose(
                ours.certificate_.eigenvalues,
                plain.certificate_.eigenvalues,
                rtol=1e-7,
            )
        with pytest.raises(ValueError, match="center=True needs X in memory"):
            ours.fit(as_blocks(lambda X=X: [X], axis=1))


def test_units_and_order_do_not_matter():
    X, _ = counts(0, 25, 60)
    chosen = BSSSelector(6, center=True).fit(sp.csr_array(X)).selected_
    for factor in (2.0**-40, 2.0**200, 2.0**-300):
        scaled = BSSSelector(6, center=True).fit(sp.csr_array(X * factor))
        assert_array_equal(scaled.selected_, chosen)
    rows = np.random.default_rng(0).permutation(25)
    again = BSSSelector(6, center=True).fit(sp.csr_array(X[rows]))
    assert_array_equal(again.selected_, chosen)
    shifted = BSSSelector(6, center=True).fit(sp.csr_array(X + np.arange(60.0)))
    assert_array_equal(shifted.selected_, chosen)


def peak_of(selector, X) -> int:
    """The memory that a fit takes beside its data, in bytes."""
    tracemalloc.start()
    try:
        selector.fit(X)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_sparse_data_are_centred_without_a_dense_matrix():
    """Of which one copy would take 960 MB."""
    X = sp.random_array(
        (2000, 60_000), density=2e-3, format="csr", rng=np.random.default_rng(0)
    )
    peaks = [peak_of(BSSSelector(40, center=center), X) for center in (False, True)]
    assert peaks[1] < 1.1 * peaks[0] < 960e6 / 5


def test_words_are_chosen_as_from_dense_counts():
    X = load_docstrings().data
    dense = X.toarray()
    expected = BSSSelector(40).fit(dense - dense.mean(axis=0))
    ours = BSSSelector(40, center=True).fit(X)
    assert_array_equal(ours.selected_, expected.selected_)
    assert_allclose(
        ours.certificate_.eigenvalues, expected.certificate_.eigenvalues, rtol=1e-7
    )


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_tables_in_their_own_units_are_chosen_by_their_differences(load):
    """Without it a long mean is what most directions are about."""
    X = load().data
    centred = BSSSelector(5, center=True).fit(X)
    shifted = BSSSelector(5, center=True).fit(X + 1e5 * X.std(axis=0))
    assert_array_equal(centred.selected_, shifted.selected_)


def test_what_is_not_possible_is_said():
    X, _ = counts(0, 25, 60)
    for selector in SELECTORS.values():
        with pytest.raises(ValueError, match="center='no'"):
            clone(selector).set_params(center="no").fit(X)
    with pytest.raises(ValueError, match="center=True needs X in memory"):
        BSSSelector(6, center=True).fit(as_blocks(lambda: [X], axis=0))
    with pytest.raises(ValueError, match="constant"):
        BSSSelector(2, center=True).fit(np.ones((5, 4)))
    with pytest.raises(ValueError, match="center=1"):
        certify_columns(X, [0], center=1)


@pytest.mark.parametrize("shape", [(20, 50), (50, 20), (600, 700)])
def test_functions_of_a_row_space_see_the_columns_less_their_means(shape):
    """Not the sparse columns that the space holds."""
    X, y = counts(1, *shape)
    X += 10.0 * (X > 0)
    less = X - X.mean(axis=0)
    less[:, shape[1] // 2] = 0.0
    rank, r = (3, 9) if min(shape) < 600 else (20, 40)
    targets = np.random.default_rng(0).standard_normal((shape[0], 2)) + 100.0
    for leading in (rank, None):
        ours = row_space(sp.csr_array(X), leading, exact=False, center=True)
        plain = row_space(less, leading, exact=False)
        if leading is not None:
            number = r
        else:
            number = min(plain.shape[1] + 2, shape[1] - 1)
        assert_array_equal(rrqr(ours, number).indices, rrqr(plain, number).indices)
    ours = row_space(sp.csr_array(X), rank, center=True)
    plain = row_space(less, rank)
    for rule, given in (("closest", targets), ("best", None), ("first", None)):
        found, expected = (
            det_sampling(space, space.residual_norms, r, rule, given)
            for space in (ours, plain)
        )
        assert_array_equal(found.indices, expected.indices)
        assert_allclose(found.weights, expected.weights, rtol=1e-6)


@pytest.mark.parametrize("shape", [(15, 40), (40, 15)])
def test_all_that_a_space_says_of_its_data(shape):
    X, _ = counts(2, *shape)
    less = X - X.mean(axis=0)
    less[:, shape[1] // 2] = 0.0
    ours = row_space(sp.csr_array(X), 5, center=True)
    plain = row_space(less, 5)
    indices = np.arange(shape[1])
    V = ours.basis()
    assert_allclose(ours.image, less @ V, atol=1e-9)
    assert_allclose(ours.column_sums, less.sum(axis=0), atol=1e-9)
    assert_allclose(ours.columns(indices), less, atol=1e-12)
    assert_allclose(ours.squared_lengths, plain.squared_lengths, rtol=1e-9)
    assert ours.squared_lengths[shape[1] // 2] == 0.0
    assert_allclose(ours.squared_norm, np.sum(less**2), rtol=1e-9)
    assert_allclose(ours.residual_norms, plain.residual_norms, rtol=1e-6, atol=1e-9)
    assert_allclose(np.abs(ours.left), np.abs(plain.left), atol=1e-7)
    for number in ("energy", "distance_energy"):
        assert_allclose(getattr(ours, number), getattr(plain, number), rtol=1e-9)


@pytest.mark.parametrize("shape", [(20_000, 150), (150, 60_000)])
def test_data_that_are_not_kept_explain_as_much(shape):
    """A certificate of large data is measured at once, by sums and lengths."""
    X = sp.random_array(shape, density=0.02, rng=np.random.default_rng(0))
    X = sp.csr_array(X * (1.0 + np.arange(shape[1]) % 7))
    chosen = np.arange(0, 100, 5)
    shares = [
        certify_columns(X, chosen, center=center).plain.explained.share
        for center in (True, False)
    ]
    assert_allclose(*shares, rtol=1e-6)


@pytest.mark.parametrize("form", [sp.csr_array, np.array], ids=["sparse", "dense"])
def test_a_large_mean_is_no_matter_of_units(form):
    X = np.random.default_rng(0).standard_normal((25, 60))
    X[:, 3] = 3.0 * X[:, 3] + 1e4
    with pytest.warns(UserWarning, match="squared norm"):
        assert 3 in BSSSelector(6).fit(form(X)).selected_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert 3 in BSSSelector(6, center=True).fit(form(X)).selected_
