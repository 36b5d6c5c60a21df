"""Kernels in long double and by scikit-learn, removals by their definition, restricted
spaces, mismatch features.
"""

import itertools
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from cases import needs_data, refused, swept, swept_product, table
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigvalsh
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import (
    chi2_kernel,
    cosine_similarity,
    polynomial_kernel,
    rbf_kernel,
)
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

from fsel_book.kernels import (
    DIGITS_LOST,
    CallableKernel,
    ChiSquaredKernel,
    FactoredKernel,
    LinearKernel,
    MismatchFeatures,
    PolynomialKernel,
    RBFKernel,
    RunningSums,
    SumKernel,
    code_positions,
    dense_column,
    distinct_codes,
    kernel_of,
    lossy_removals,
    mismatch_neighbours,
    removals,
    removals_reference,
    row_slices,
    running_sums,
    sums_without,
    without_features,
    zero_feature,
)
from fsel_book.loaders import load_dataset
from fsel_book.validation import check_host_matrix, check_semidefinite

KERNELS = {
    "linear": LinearKernel(),
    "cosine": LinearKernel(normalised=True),
    "degree 1": PolynomialKernel(1, 0.7, 0.3),
    "cubic": PolynomialKernel(3, 0.1, 1.0),
    "cubic, homogeneous": PolynomialKernel(3, 0.1),
    "quartic, normalised": PolynomialKernel(4, 0.1, 0.5, normalised=True),
    "RBF": RBFKernel(0.05),
    "chi-squared": ChiSquaredKernel(0.05),
}
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
PRODUCTS = {
    name: kernel for name, kernel in KERNELS.items() if hasattr(kernel, "normalised")
}
NESTED = {name: kernel for name, kernel in PRODUCTS.items() if not kernel.normalised}

# ---------------------------------------------------------------- oracles and data


def histograms(n=25, d=12, seed=0):
    """Counts with many empty bins, an empty histogram, and two equal ones."""
    X = np.random.default_rng(seed).poisson(1.0, (n, d)).astype(float)
    if n > 5:
        X[2], X[5] = 0, X[4]
    return X


DATA = {
    "histograms": histograms(),
    "positive": np.abs(table(25, 12)),
    "one sample": histograms(1),
    "one feature": histograms(9, 1),
    "equal samples": np.ones((6, 4)),
    "zeros": np.zeros((4, 3)),
    "wide": np.abs(table(5, 40)),
}
each_data = pytest.mark.parametrize("X", DATA.values(), ids=DATA)
FORMS = {
    "array": np.asarray,
    "Fortran": np.asfortranarray,
    "csr_array": sp.csr_array,
    "csc_matrix": sp.csc_matrix,
    "coo_array": sp.coo_array,
    "DataFrame": pd.DataFrame,
    "list": lambda X: X.tolist(),
}
each_form = swept_product(
    ("form",), [("array",), ("csr_array",), ("DataFrame",)], FORMS
)


def exactly(kernel, X, Z=None):
    """The kernel matrix in long double, from its formula, without the kernel's own
    methods.
    """
    X = np.longdouble(X)
    Z = X if Z is None else np.longdouble(Z)
    A = X[:, None, :]
    B = Z[None, :, :]
    if isinstance(kernel, RBFKernel):
        K = np.exp(-kernel.gamma * ((A - B) ** 2).sum(axis=2))
    elif isinstance(kernel, ChiSquaredKernel):
        total = np.where(A + B == 0, 1, A + B)
        K = np.exp(-kernel.gamma * ((A - B) ** 2 / total).sum(axis=2))
    else:
        degree = getattr(kernel, "degree", 1)
        gamma = getattr(kernel, "gamma", 1)
        coef0 = getattr(kernel, "coef0", 0)
        value = [
            (gamma * S + coef0) ** degree
            for S in ((A * B).sum(axis=2), (X**2).sum(axis=1), (Z**2).sum(axis=1))
        ]
        K = value[0]
        if kernel.normalised:
            below = np.sqrt(np.outer(value[1], value[2]))
            K = np.where(below > 0, K / np.where(below > 0, below, 1), 0)
    return K.astype(np.float64)


def agree(got, wanted, tolerance=1e-12):
    assert got.shape == wanted.shape and got.dtype == np.float64
    assert np.abs(got - wanted).max(initial=0) <= tolerance * np.abs(wanted).max(
        initial=1e-300
    )


def symmetric(K):
    """But for the last digit, which the order of the two divisions leaves to the
    normalised kernels; times a degree.
    """
    assert_allclose(K, np.swapaxes(K, -1, -2), rtol=2e-15)


# ---------------------------------------------------------------- kernels


@each_kernel
@each_data
@each_form
def test_kernels_are_their_formulas_for_every_form_of_data(kernel, X, form):
    form = FORMS[form]
    Z = np.vstack([X[:3], 2 * X[:2], np.zeros((1, X.shape[1]))])
    agree(kernel(form(X)), exactly(kernel, X))
    agree(kernel(form(X), form(Z)), exactly(kernel, X, Z))
    agree(kernel(X, form(Z)), exactly(kernel, X, Z))
    agree(kernel.sums(form(X), Z), SumKernel.sums(kernel, X, Z))


@each_kernel
def test_kernels_are_symmetric_with_an_exact_diagonal(kernel):
    X = np.abs(table(40, 15))
    K = kernel(X)
    symmetric(K)
    check_semidefinite(K)
    if isinstance(kernel, RBFKernel | ChiSquaredKernel):
        assert_array_equal(np.diagonal(K), np.ones(40))
    assert_array_equal(np.diagonal(RBFKernel(3.0)(sp.csr_array(X))), np.ones(40))


def test_kernels_are_those_of_scikit_learn():
    X = table(30, 8)
    Z = table(12, 8, seed=1)
    H = histograms()
    assert_allclose(RBFKernel(0.3)(X, Z), rbf_kernel(X, Z, 0.3), rtol=1e-10)
    assert_allclose(ChiSquaredKernel(0.3)(H), chi2_kernel(H, gamma=0.3), rtol=1e-12)
    assert_allclose(
        PolynomialKernel(3, 0.3, 0.5)(X, Z),
        polynomial_kernel(X, Z, 3, 0.3, 0.5),
        rtol=1e-10,
    )
    assert_allclose(LinearKernel(True)(X, Z), cosine_similarity(X, Z), atol=1e-14)


@each_kernel
@pytest.mark.parametrize(
    "dtype", [np.float32, np.int32, np.uint8, np.bool_, np.float16]
)
def test_kernels_are_computed_in_double_precision(kernel, dtype):
    X = histograms().astype(dtype)
    agree(kernel(X), exactly(kernel, X.astype(float)))
    assert not np.shares_memory(kernel(X), X)
    agree(
        removals(kernel, X, kernel.sums(X), [0, 3]),
        removals_reference(kernel, X.astype(float), [0, 3]),
    )


@each_kernel
def test_data_are_left_as_they_were(kernel):
    for form in (np.asarray, sp.csc_array, sp.csr_array):
        X = form(histograms())
        before = X.copy()
        S = kernel.sums(X)
        kept = S.copy()
        (
            kernel(X),
            kernel.finish(S, kernel.own(X), kernel.own(X)),
            removals(kernel, X, S, [1, 4]),
        )
        sums = RunningSums(kernel, X)
        sums.remove(3), sums.matrix(), removals(kernel, sums.X, sums.S, sums.left)
        assert_array_equal(abs(X - before).max(), 0)
        assert_array_equal(S, kept)


@pytest.mark.parametrize("scale", [1e-148, 1e-100, 1e-20, 1e20, 1e100, 1e148])
def test_kernels_with_gamma_scale_do_not_depend_on_the_unit(scale):
    X = table(20, 6)
    H = histograms()
    for kernel, A in (("rbf", X), ("chi2", H), ("poly", X)):
        if kernel == "poly" and not 1e-100 < scale < 1e100:
            continue
        expected = kernel_of(kernel, A)(A)
        assert_allclose(
            kernel_of(kernel, A * scale)(A * scale), expected, rtol=1e-9, atol=1e-13
        )
        made = kernel_of(kernel, A * scale)
        S = made.sums(A * scale)
        assert_allclose(
            removals(made, A * scale, S, [0, 2]),
            removals_reference(made, A * scale, [0, 2]),
            rtol=1e-9,
            atol=1e-12,
        )
    assert_allclose(LinearKernel(True)(X * scale), LinearKernel(True)(X), atol=1e-13)


@pytest.mark.parametrize("name", ["rbf", "poly"])
@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_gamma_is_that_of_the_support_vector_machine(name, gamma, form):
    X = form(
        sp.random_array(
            (30, 7), density=0.4, random_state=np.random.default_rng(0)
        ).toarray()
    )
    machine = SVC(kernel=name, gamma=gamma, coef0=0.5).fit(X, np.arange(30) % 2)
    made = kernel_of(name, X, gamma, coef0=0.5)
    assert_allclose(made.gamma, machine._gamma, rtol=1e-12)
    ours = SVC(kernel="precomputed").fit(made(X), np.arange(30) % 2)
    assert_allclose(
        ours.decision_function(made(X)), machine.decision_function(X), atol=1e-6
    )


def test_kernels_by_name():
    X = histograms()
    assert (
        kernel_of("linear") == LinearKernel()
        and kernel_of("linear", gamma=-1) == LinearKernel()
    )
    assert kernel_of("rbf", gamma=2) == RBFKernel(2.0) and kernel_of(
        "chi2", gamma=2
    ) == ChiSquaredKernel(2.0)
    assert kernel_of("poly", gamma=2, degree=4, coef0=1) == PolynomialKernel(
        4, 2.0, 1.0
    )
    assert kernel_of(RBFKernel(3.0)) == RBFKernel(3.0) and kernel_of(
        rbf_kernel
    ) == CallableKernel(rbf_kernel)
    assert_allclose(kernel_of("chi2", X).gamma, 1 / X.sum(axis=1).mean())
    # as in SVC: a constant X has no scale
    assert kernel_of("rbf", np.ones((3, 4))).gamma == 0.25
    assert kernel_of("chi2", np.zeros((3, 4))).gamma == 0.25
    for kernel in KERNELS.values():
        assert pickle.loads(pickle.dumps(kernel)) == kernel and hash(kernel) == hash(
            pickle.loads(pickle.dumps(kernel))
        )
        with pytest.raises(FrozenInstanceError):
            kernel.gamma = 2.0


# ---------------------------------------------------------------- removals


@each_kernel
@each_data
@swept("form", [np.asarray], [sp.csr_array])
def test_removals_are_the_definition(kernel, X, form):
    features = list(range(X.shape[1]))
    S = kernel.sums(form(X))
    slow = np.stack(
        [exactly(kernel, np.where(np.arange(X.shape[1]) == j, 0, X)) for j in features]
    )
    agree(removals_reference(kernel, form(X), features), slow)
    fast = removals(kernel, form(X), S, features)
    agree(fast, slow, 1e-11)
    symmetric(fast)
    deleted = (
        [exactly(kernel, np.delete(X, j, axis=1)) for j in features]
        if X.shape[1] > 1
        else slow
    )
    agree(fast, np.stack(deleted), 1e-11)


@each_kernel
@pytest.mark.parametrize(
    "rows", [[0], [3, 1, 7], np.arange(25)[::-1], np.array([4, 4, 2])], ids=str
)
def test_removals_on_some_samples(kernel, rows):
    X = histograms()
    S = kernel.sums(X)
    whole = removals(kernel, X, S, [7, 0, 7])
    part = removals(kernel, X, S, [7, 0, 7], rows)
    agree(part, whole[:, rows][:, :, rows])
    agree(part, removals_reference(kernel, X, [7, 0, 7], rows), 1e-11)
    out = np.full((3, len(rows), len(rows)), np.nan)
    assert removals(kernel, X, S, [7, 0, 7], rows, out) is out
    assert_array_equal(out, part)
    assert removals(kernel, X, S, [], rows).shape == (0, len(rows), len(rows))


@each_kernel
def test_removals_in_many_blocks_of_rows(kernel):
    """More samples than a block holds, and not a multiple of it."""
    X = np.abs(table(403, 5))
    assert len(row_slices(403, 403)) > 1
    agree(kernel(X), exactly(kernel, X))
    agree(
        removals(kernel, X, kernel.sums(X), [1, 4]),
        removals_reference(kernel, X, [1, 4]),
        1e-11,
    )


def test_row_blocks_cover_all_rows_once():
    for n, m, entries in itertools.product(
        (1, 2, 7, 100), (1, 3, 1000), (1, 10, 2**16)
    ):
        rows = np.concatenate(
            [np.arange(n)[block] for block in row_slices(n, m, entries)]
        )
        assert_array_equal(rows, np.arange(n))


def test_removals_of_a_function_call_it_again():
    def mine(X, Z):
        return (1 + (X * [3, 1, 0.5]) @ Z.T) ** 2 if X.shape[1] == 3 else 1 / 0

    def full(X, Z):
        return (1 + X @ A @ Z.T) ** 2

    A = np.array([[2.0, 1, 0], [1, 3, 0.5], [0, 0.5, 1]])
    X = table(20, 3)
    for f in (mine, full):
        got = removals(CallableKernel(f), X, None, [2, 0])
        for K, mask in zip(got, ([1, 1, 0], [0, 1, 1])):
            agree(K, f(X * mask, X * mask))
        assert_array_equal(
            removals(CallableKernel(f), X, None, [2, 0], [4, 1]),
            got[:, [4, 1]][:, :, [4, 1]],
        )
    sums = RunningSums(CallableKernel(full), X)
    sums.remove(1)
    agree(sums.matrix(), full(X * [1, 0, 1], X * [1, 0, 1]))
    agree(
        removals(sums.kernel, sums.X, None, sums.left),
        np.stack([full(X * m, X * m) for m in ([0, 0, 1], [1, 0, 0])]),
    )


@each_kernel
@pytest.mark.parametrize("size", [1e4, 1e9, 1e20])
@pytest.mark.parametrize(
    "what", ["a column in another unit", "an outlier", "a constant"]
)
def test_removal_of_a_feature_that_dwarfs_the_others(kernel, size, what):
    X = np.abs(table(30, 6)) + 0.01
    if what == "an outlier":
        X[3, 2] = size
    else:
        X[:, 2] = size if what == "a constant" else X[:, 2] * size
    S = kernel.sums(X)
    agree(removals(kernel, X, S, [2, 0]), removals_reference(kernel, X, [2, 0]), 1e-8)
    sums = RunningSums(kernel, X)
    sums.remove(2)
    agree(sums.matrix(), exactly(kernel, np.delete(X, 2, axis=1)), 1e-8)


@pytest.mark.parametrize("kernel", [RBFKernel(0.5), ChiSquaredKernel(1e10)])
def test_distances_at_the_end_of_the_range_are_far(kernel):
    X = np.abs(table(12, 4))
    X[:, 1] *= 1e149
    S = kernel.sums(X)
    agree(kernel(X), np.eye(12))
    agree(removals(kernel, X, S, [1, 2]), removals_reference(kernel, X, [1, 2]))
    agree(removals(kernel, X, S, [1])[0], exactly(kernel, np.delete(X, 1, axis=1)))
    sums = RunningSums(kernel, X)
    sums.remove(1)
    agree(sums.matrix(), exactly(kernel, np.delete(X, 1, axis=1)))


@pytest.mark.parametrize(
    "kernel",
    [
        LinearKernel(),
        RBFKernel(0.5),
        ChiSquaredKernel(0.1),
        PolynomialKernel(2, 0.1, 1.0),
    ],
)
def test_a_matrix_into_the_place_of_an_old_one(kernel):
    sums = RunningSums(kernel, np.abs(table(300, 5)))
    old = sums.matrix()
    sums.remove([1, 3])
    fresh = sums.matrix()
    assert sums.matrix(old) is old
    np.testing.assert_array_equal(old, fresh)


def test_products_of_wide_sparse_matrices_in_blocks():
    rng = np.random.default_rng(0)
    for d in (1, 65536, 131072, 300_001):
        X, Z = (
            sp.csr_array(
                sp.random_array((n, d), density=min(1, 500 / d), random_state=rng)
            )
            for n in (4, 7)
        )
        agree(LinearKernel()(X, Z), (X @ Z.T).toarray())


def test_only_what_loses_digits_is_computed_anew():
    X = np.abs(table(30, 6))
    X[:, 2] *= 1e8
    for name, kernel in KERNELS.items():
        lossy = lossy_removals(kernel, kernel.sums(X), X.T)
        assert_array_equal(lossy, np.arange(6) == 2, name)
        assert not lossy_removals(
            kernel, kernel.sums(np.abs(table(30, 6))), np.abs(table(30, 6)).T
        ).any()
    assert 2e-10 < 2.0**-52 / DIGITS_LOST < 1e-9


@each_kernel
@swept_product(
    ("spread", "order"),
    [(0, "down"), (8, "random")],
    [0, 8, 3],
    ["up", "down", "random"],
)
def test_sums_last_through_a_whole_elimination(kernel, order, spread):
    if isinstance(kernel, PolynomialKernel) and kernel.degree > 1 and spread > 3:
        spread = 3
    rng = np.random.default_rng(1)
    d = 60
    X = rng.uniform(0, 1, (15, d)) * np.logspace(-spread, spread, d)
    turn = {
        "up": np.arange(d),
        "down": np.arange(d)[::-1],
        "random": rng.permutation(d),
    }[order]
    sums = RunningSums(kernel, X)
    for t, j in enumerate(turn[:-1]):
        sums.remove(j)
        agree(sums.matrix(), exactly(kernel, X[:, np.sort(turn[t + 1 :])]), 5e-8)
        if t % 20 == 0:
            agree(
                removals(kernel, sums.X, sums.S, sums.left),
                removals_reference(kernel, sums.X, sums.left),
                5e-8,
            )
        assert sums.left == sorted(turn[t + 1 :])
    assert sums.n_fresh <= 3 + 2 * spread
    sums.remove(turn[-1])
    agree(sums.matrix(), exactly(kernel, np.zeros((15, 1))), 5e-8)


@each_kernel
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("size", [1.0, 1e9])
def test_several_features_go_at_once(kernel, form, size):
    X = np.abs(table(30, 8)) + 0.01
    X[:, 2] *= size
    once = RunningSums(kernel, form(X))
    many = RunningSums(kernel, form(X))
    once.remove([2, 5, 3])
    for j in (2, 5, 3):
        many.remove(j)
    assert once.left == many.left == [0, 1, 4, 6, 7]
    agree(once.matrix(), many.matrix(), 1e-8)
    agree(once.matrix(), exactly(kernel, X[:, once.left]), 1e-8)
    with pytest.raises(ValueError, match="Feature 5 is not there"):
        once.remove([0, 5])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_ordinary_data_are_summed_once(form):
    X = form(histograms(30, 40))
    for kernel in (
        LinearKernel(),
        PolynomialKernel(2, 0.1, 1.0),
        RBFKernel(0.05),
        ChiSquaredKernel(0.05),
    ):
        sums = RunningSums(kernel, X)
        for j in range(35):
            sums.remove(j)
        assert sums.n_fresh == 1
        agree(sums.matrix(), exactly(kernel, histograms(30, 40)[:, 35:]), 1e-11)


def test_steps_of_a_removal():
    X = histograms()
    for form in (np.asarray, sp.csc_array):
        A = check_host_matrix(form(X))
        assert_array_equal(dense_column(A, 3), X[:, 3])
        zeroed = zero_feature(A, 3)
        assert_array_equal(dense_column(zeroed, 3), np.zeros(25))
        assert_array_equal(
            np.delete(zeroed.toarray() if sp.issparse(A) else zeroed, 3, axis=1),
            np.delete(X, 3, axis=1),
        )
    for kernel in KERNELS.values():
        agree(
            sums_without(kernel, kernel.sums(X), X[:, [3, 5]]),
            kernel.sums(np.delete(X, [3, 5], axis=1)),
        )
    near = sums_without(
        RBFKernel(), np.full((2, 2), 1 - 1e-16), np.array([[0.0], [1.0]])
    )
    assert near.min() == 0  # a distance never falls below zero


# ---------------------------------------------------------------- restricted spaces


def problem(seed, n=25, d=5):
    rng = np.random.default_rng(seed)
    return rng.uniform(0, 2, (n, d)), rng.standard_normal(n)


@pytest.mark.parametrize("kernel", NESTED.values(), ids=NESTED)
@swept("seed", [0, 3], [1, 2, 4])
def test_dot_product_kernels_are_nested(kernel, seed):
    """K^J1 - K^J2 is semi-definite for J1 in J2, so no regularised risk falls: square
    loss, and hinge by its dual.
    """
    X, y = problem(seed)
    masks = [
        np.ones(5),
        np.array([1, 1, 0, 1, 1]),
        np.array([1, 0, 0, 1, 1]),
        np.array([1, 0, 0, 0, 0]),
        np.zeros(5),
    ]
    matrices = [kernel(X * mask) for mask in masks]
    square = []
    hinge = []
    for K in matrices:
        square.append(0.1 * y @ np.linalg.solve(K + 2.5 * np.eye(25), y))
        machine = SVC(kernel="precomputed", C=1.0, tol=1e-8).fit(K, np.sign(y))
        a = machine.dual_coef_[0]
        hinge.append(
            np.abs(a).sum() - a @ K[np.ix_(machine.support_, machine.support_)] @ a / 2
        )
    for more, less in zip(matrices, matrices[1:]):
        assert np.linalg.eigvalsh(more - less)[0] > -1e-10 * np.abs(more).max()
    assert np.all(np.diff(square) > -1e-12) and np.all(np.diff(hinge) > -1e-5)


@pytest.mark.parametrize(
    "name", ["cosine", "quartic, normalised", "RBF", "chi-squared"]
)
def test_kernels_with_a_constant_diagonal_are_not(name):
    kernel = KERNELS[name]
    fell = 0
    for seed in range(60):
        X, y = problem(seed)
        K = kernel(X)
        K_J = kernel(X * [0, 1, 1, 1, 1])
        assert_allclose(np.diagonal(K - K_J), 0, atol=1e-14)
        assert np.linalg.eigvalsh(K - K_J)[0] < -1e-3
        fell += (
            y @ np.linalg.solve(K_J + 2.5 * np.eye(25), y)
            < y @ np.linalg.solve(K + 2.5 * np.eye(25), y) - 1e-9
        )
    assert fell > 0


def test_norms_in_nested_spaces_are_equal():
    """A function of H^J has one norm: through K^J, and through K on the points and
    their restrictions.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 4))
    kernel = PolynomialKernel(2, 0.5, 1.0)
    mask = np.array([0, 1, 0, 1])
    a = rng.standard_normal(12)
    everywhere = np.vstack([X, X * mask])
    K = kernel(everywhere)
    values = kernel(everywhere * mask, X * mask) @ a
    assert_allclose(
        values @ np.linalg.pinv(K, rcond=1e-12, hermitian=True) @ values,
        a @ kernel(X * mask) @ a,
        rtol=1e-6,
    )
    assert_allclose(kernel(everywhere, X * mask) @ a, values, atol=1e-10)


def test_the_constant_of_the_gaussian_inclusion_grows():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (60, 2))
    least = [
        eigvalsh(
            RBFKernel(4.0)(X[:n] * [0, 1]),
            RBFKernel(4.0)(X[:n] * [n / 10, 1]) + 1e-9 * np.eye(n),
        )[-1]
        for n in (10, 30, 60)
    ]
    assert least[0] > 1 and least[1] > 1.5 * least[0] and least[2] > 1.5 * least[1]


def test_the_chi_squared_kernel_is_a_kernel():
    """The map of the proof, by quadrature: exp(<Phi(x), Phi(z)>) times factors of x and
    z alone.
    """
    x = 0.7
    z = 2.3
    gamma = 0.4
    t = (np.arange(400000) + 0.5) * 1e-4
    inner = 4 * gamma * np.sum(x * np.exp(-t * x) * z * np.exp(-t * z)) * 1e-4
    wanted = np.exp(-gamma * (x + z) + inner)
    assert_allclose(
        ChiSquaredKernel(gamma)(np.array([[x]]), np.array([[z]]))[0, 0],
        wanted,
        rtol=1e-6,
    )
    for seed in range(20):
        check_semidefinite(
            ChiSquaredKernel(0.3)(np.random.default_rng(seed).exponential(1.0, (40, 3)))
        )


# ---------------------------------------------------------------- what cannot be


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: kernel_of("rbf", np.eye(3), gamma=-1),
            'gamma=-1 is not possible: give a number above 0, "scale" or "auto"',
        ),
        (
            lambda: kernel_of("rbf", np.eye(3), gamma="big"),
            "gamma='big' is not possible",
        ),
        (
            lambda: kernel_of("rbf", np.eye(3), gamma=np.inf),
            "gamma=inf is not possible",
        ),
        (lambda: kernel_of("rbf", np.eye(3), gamma=None), "gamma=None is not possible"),
        (lambda: kernel_of("rbf"), "gamma='scale' needs the data"),
        (lambda: kernel_of("rbf", np.eye(3) * 1e-170), "X is out of range"),
        (
            lambda: kernel_of("rbf", 1e-150 + 1e-158 * np.eye(3)),
            "Bring X to unit size first",
        ),
        (lambda: kernel_of("rbf", np.eye(3) * 1e170), "X is out of range"),
        (
            lambda: kernel_of("chi2", -np.eye(3)),
            "X has the entry -1 in row 0, column 0",
        ),
        (
            lambda: kernel_of("sigmoid", np.eye(3)),
            "kernel='sigmoid' is not possible: give one of 'linear', 'poly', 'rbf', "
            "'chi2'",
        ),
        (lambda: kernel_of(None, np.eye(3)), "kernel=None is not possible"),
        (lambda: RBFKernel(0), "gamma=0 is not possible: give a number above 0"),
        (lambda: RBFKernel(True), "gamma=True is not possible"),
        (lambda: ChiSquaredKernel(np.nan), "gamma=nan is not possible"),
        (
            lambda: PolynomialKernel(0),
            "degree=0 is not possible: give an integer of at least 1",
        ),
        (lambda: PolynomialKernel(2.5), "degree=2.5 is not possible"),
        (
            lambda: PolynomialKernel(2, coef0=-0.5),
            "coef0=-0.5 is not possible: give a number of at least 0",
        ),
        (
            lambda: LinearKernel(normalised=1),
            "normalised=1 is not possible: give True or False",
        ),
        (lambda: RBFKernel()(np.array([[1.0, np.nan]])), "X contains NaN"),
        (
            lambda: RBFKernel()(np.ones((2, 2)), np.array([[1.0, np.inf]])),
            "Z contains NaN or infinity",
        ),
        (lambda: RBFKernel()(np.ones(3)), "X has 1 dimension"),
        (
            lambda: RBFKernel()(np.ones((2, 3)), np.ones((2, 4))),
            "Z has 4 features, and X has 3",
        ),
        (
            lambda: ChiSquaredKernel()([[1.0, 0], [0, -2]]),
            "X has the entry -2 in row 1, column 1",
        ),
        (
            lambda: ChiSquaredKernel()(sp.csr_array([[1.0, 0], [-3, 2]])),
            "X has the entry -3 in row 1, column 0",
        ),
        (lambda: ChiSquaredKernel()([[1.0]], [[-1.0]]), "Z has the entry -1"),
        (
            lambda: PolynomialKernel(3)(np.full((2, 2), 1e60)),
            "its values overflow. Divide X by",
        ),
        (lambda: LinearKernel()(np.full((2, 2), 1e160)), "X is out of range"),
        (
            lambda: LinearKernel()(sp.csr_array(np.full((2, 2), 1e160))),
            "X is out of range",
        ),
        (
            lambda: RunningSums(RBFKernel(), np.eye(3)).remove(3),
            "Feature 3 is not there",
        ),
        (
            lambda: CallableKernel(lambda X, Z: X @ Z.T)(np.array([[np.nan]])),
            "X contains NaN",
        ),
        (
            lambda: CallableKernel(lambda X, Z: 1.0)(np.eye(2)),
            r"shape \(\) for 2 and 2 samples: it must be \(2, 2\)",
        ),
        (
            lambda: CallableKernel(lambda X, Z: X @ Z.T * np.nan)(np.eye(2)),
            "returned NaN",
        ),
        (
            lambda: CallableKernel(lambda X, Z: X[:, :1] - Z[:, 0])(np.eye(2)),
            "not symmetric",
        ),
    ],
)
def test_what_is_not_possible_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_kernels_that_are_not_semidefinite():
    X = table(40, 4)
    bad = {
        "tanh": np.tanh(0.5 * X @ X.T - 1),
        "distance": np.sqrt(RBFKernel().sums(X)),
        "slightly": LinearKernel()(X) - 1e-3 * np.eye(40),
        "negative": -np.eye(3),
    }
    for name, K in bad.items():
        with pytest.raises(
            ValueError, match=f"{name} is not positive semi-definite.*eigenvalue -"
        ):
            check_semidefinite(K, name)
    for K in (
        np.zeros((3, 3)),
        np.ones((3, 3)),
        LinearKernel()(X),
        LinearKernel()(X * 1e-150),
        LinearKernel()(X * 1e140),
    ):
        check_semidefinite(K)


# ---------------------------------------------------------------- mismatch features


def by_hand(sequence, word, m):
    k = len(word)
    return sum(
        sum(a != b for a, b in zip(sequence[i : i + k], word)) <= m
        for i in range(len(sequence) - k + 1)
    )


def strings(alphabet, k, n, seed):
    rng = np.random.default_rng(seed)
    return [
        "".join(rng.choice(list(alphabet), size=rng.integers(k, 5 * k)))
        for _ in range(n)
    ]


@pytest.mark.parametrize(
    ("k", "m", "alphabet"),
    [
        (1, 0, "a"),
        (1, 0, "ab"),
        (2, 1, "ab"),
        (3, 2, "ab"),
        (3, 1, "abc"),
        (4, 3, "abc"),
        (4, 2, "TGCA"),
        (5, 1, "ACGT"),
        (2, 1, "äß€𝄞z"),
    ],
)
@swept("seed", [0], [1, 2])
def test_mismatch_features_are_counts_by_hand(k, m, alphabet, seed):
    sequences = strings(alphabet, k, 6, seed)
    counter = MismatchFeatures(k, m, alphabet)
    Phi = counter.fit_transform(sequences)
    words = ["".join(word) for word in itertools.product(sorted(alphabet), repeat=k)]
    counts = np.array(
        [[by_hand(s, word, m) for word in words] for s in sequences], dtype=float
    )
    occurs = counts.any(axis=0)
    assert counter.get_feature_names_out().tolist() == [
        w for w, o in zip(words, occurs) if o
    ]
    assert_array_equal(Phi.toarray(), counts[:, occurs])
    assert (
        Phi.format == "csr"
        and Phi.indices.dtype == Phi.indptr.dtype == np.int32
        and Phi.has_sorted_indices
    )
    assert Phi.nnz == np.count_nonzero(counts)
    new = strings(alphabet, k, 4, seed + 100)
    wanted = np.array([[by_hand(s, word, m) for word in words] for s in new])[:, occurs]
    assert_array_equal(counter.transform(new).toarray(), wanted)
    whole = np.array([[by_hand(s, word, m) for word in words] for s in new])
    agree(LinearKernel()(counter.transform(new), Phi), (whole @ counts.T).astype(float))


def test_the_alphabet_matters_for_mismatches_only():
    sequences = ["ABAB", "BBA"]
    few = MismatchFeatures(2, 1).fit(sequences)
    many = MismatchFeatures(2, 1, "ABC").fit(sequences)
    assert set(few.get_feature_names_out()) < set(many.get_feature_names_out())
    assert few.alphabet_ == ["A", "B"] and many.alphabet_ == ["A", "B", "C"]
    spectrum = MismatchFeatures(2, 0, "ABC").fit_transform(sequences)
    assert_array_equal(
        spectrum.toarray(), MismatchFeatures(2, 0).fit_transform(sequences).toarray()
    )
    # order and repeats do not matter
    again = MismatchFeatures(2, 1, ["C", "A", "B", "A"]).fit(sequences)
    assert_array_equal(again.kmers_, many.kmers_)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_columns_carry_the_names_of_their_words(k):
    """Each column counts the word of its name, in the order of the alphabet."""
    sequences = strings("ACGT", k, 20, 3)
    counter = MismatchFeatures(k, 0, list("TGCA"))
    Phi = counter.fit_transform(sequences).toarray()
    names = counter.get_feature_names_out()
    assert (
        names.dtype == object
        and names.tolist() == sorted(names)
        and {len(name) for name in names} == {k}
    )
    for j, name in enumerate(names):
        assert Phi[:, j].tolist() == [
            sum(s[i:].startswith(name) for i in range(len(s))) for s in sequences
        ]


@pytest.mark.parametrize("size", [7**4, 2**40])
def test_places_in_a_vocabulary_small_or_large(size):
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 7**4, (50, 3))
    vocabulary = distinct_codes(numbers.ravel(), size)
    assert_array_equal(vocabulary, np.unique(numbers))
    some = vocabulary[::2]
    where = code_positions(numbers, some, size)
    assert_array_equal(where >= 0, np.isin(numbers, some))
    assert_array_equal(some[where[where >= 0]], numbers[where >= 0])


def test_long_words_need_no_table():
    """4^25 words: as many features as there are windows and neighbours, no more."""
    sequences = strings("ACGT", 25, 5, 0)
    counter = MismatchFeatures(25, 1, "ACGT")
    Phi = counter.fit_transform(sequences)
    assert_array_equal(counter.transform(sequences).toarray(), Phi.toarray())
    assert_array_equal(Phi.sum(axis=1), [76 * (len(s) - 24) for s in sequences])
    names = counter.get_feature_names_out()
    j = int(np.flatnonzero(names == sequences[2][:25])[0])
    assert Phi[2, j] >= 1


@pytest.mark.parametrize(
    ("k", "m", "l"), [(1, 0, 5), (3, 1, 4), (4, 2, 3), (3, 3, 2), (5, 2, 20)]
)
def test_neighbours_are_those_within_reach(k, m, l):
    kmers = np.random.default_rng(0).integers(0, l**k, 4)
    near = mismatch_neighbours(kmers, k, m, l)
    if l**k < 5000:
        digits = np.arange(l**k)[:, None] // l ** np.arange(k) % l
        apart = (digits[kmers][:, None] != digits).sum(axis=2)
        for row, far in zip(near, apart):
            assert_array_equal(np.sort(row), np.flatnonzero(far <= m))
    assert all(len(set(row)) == near.shape[1] for row in near.tolist())


@pytest.mark.parametrize(
    ("counter", "X", "message"),
    [
        (
            MismatchFeatures(0),
            ["AB"],
            "k=0 is not possible: give an integer of at least 1",
        ),
        (MismatchFeatures(2.0), ["AB"], "k=2.0 is not possible"),
        (
            MismatchFeatures(2, 2),
            ["AB"],
            "m=2 is not possible: give an integer from 0 to 1, below k=2",
        ),
        (MismatchFeatures(2, -1), ["AB"], "m=-1 is not possible"),
        (MismatchFeatures(2, 0.5), ["AB"], "m=0.5 is not possible"),
        (
            MismatchFeatures(2, 1, ""),
            ["AB"],
            "alphabet='' is not possible: give the letters",
        ),
        (
            MismatchFeatures(2, 1, 4),
            ["AB"],
            "alphabet=4 is not possible: give the letters",
        ),
        (
            MismatchFeatures(2, 1, [0, 1]),
            ["AB"],
            r"alphabet=\[0, 1\] is not possible: give the letters",
        ),
        (
            MismatchFeatures(2, 1, "A"),
            ["AA", "AAAB"],
            "Sequence 1 has the letter 'B' at place 3, which is not in the alphabet 'A'",
        ),
        (
            MismatchFeatures(2, 1, "AC"),
            ["AA", "ABC"],
            "Sequence 1 has the letter 'B' at place 1",
        ),
        (
            MismatchFeatures(2, 1, "BC"),
            ["A" * 9],
            "Sequence 0 has the letter 'A' at place 0",
        ),
        (
            MismatchFeatures(3),
            ["ABC", "AB"],
            "Sequence 1 has 2 letters, 'AB': it is shorter than k=3",
        ),
        (MismatchFeatures(3), ["ABC", ""], "Sequence 1 has 0 letters"),
        (MismatchFeatures(3), "ABCDE", "X is one string; give a list of sequences"),
        (MismatchFeatures(3), [], "X is empty"),
        (
            MismatchFeatures(3),
            pd.DataFrame({"reads": ["ACGT"]}),
            r"X is a DataFrame; give one column, as X\['reads'\]",
        ),
        (MismatchFeatures(3), pd.DataFrame(), r"give one column, as X\['seq'\]"),
        (
            MismatchFeatures(3),
            {"first": "ACGT"},
            r"X is a dict; give one column, as X\['first'\]",
        ),
        (MismatchFeatures(3), ["ABC", 5], "Sequence 1 is 5; give a list of strings"),
        (MismatchFeatures(3), ["ABC", None], "Sequence 1 is None"),
        (MismatchFeatures(3), np.ones((3, 2)), "Sequence 0 is"),
        (
            MismatchFeatures(13, 6, "ACGT"),
            ["A" * 2000],
            "k=13, m=6 is not possible here: 1988 k-mers with 1630084 neighbours",
        ),
        (
            MismatchFeatures(31, 1, "ACGT"),
            ["A" * 40],
            "k=31 is not possible with 4 letters",
        ),
    ],
)
def test_sequences_that_cannot_be_counted(counter, X, message):
    counter.kmers_ = "left over"
    with pytest.raises(ValueError, match=message):
        counter.fit(X)
    assert not hasattr(counter, "kmers_")


# scikit-learn has no sequences to try it on
@pytest.mark.filterwarnings("ignore:Can't test estimator")
def test_mismatch_features_as_an_estimator():
    sequences = strings("ACGT", 3, 30, 0)
    y = np.array(["TTT" in s for s in sequences])
    with pytest.raises(NotFittedError):
        MismatchFeatures().transform(sequences)
    counter = clone(MismatchFeatures(3, 1, "ACGT")).fit(sequences)
    for X in (
        tuple(sequences),
        np.array(sequences),
        np.array(sequences, dtype=object),
        pd.Series(sequences),
    ):
        assert_array_equal(
            counter.transform(X).toarray(), counter.fit_transform(X).toarray()
        )
    with pytest.raises(ValueError, match="shorter than k=3"):
        counter.transform(["AC"])
    with pytest.raises(ValueError, match="the letter 'N' at place 1"):
        counter.transform(["ANA"])
    again = pickle.loads(pickle.dumps(counter))
    assert_array_equal(again.get_feature_names_out(), counter.get_feature_names_out())
    machine = make_pipeline(MismatchFeatures(3, 0), SVC(kernel="linear", C=100)).fit(
        sequences, y
    )
    assert machine.score(sequences, y) == 1
    check_estimator(MismatchFeatures())


@needs_data
def test_real_sequences():
    for name, k, m in (("promoters", 5, 1), ("protein_family_test", 3, 1)):
        sequences = load_dataset(name).data[:40]
        counter = MismatchFeatures(k, m)
        Phi = counter.fit_transform(sequences)
        reach = sum(
            len(list(itertools.combinations(range(k), i)))
            * (len(counter.alphabet_) - 1) ** i
            for i in range(m + 1)
        )
        assert_array_equal(
            Phi.sum(axis=1), [reach * (len(s) - k + 1) for s in sequences]
        )
        names = counter.get_feature_names_out()
        for j in np.random.default_rng(0).integers(len(names), size=20):
            assert_array_equal(
                Phi[:, [j]].toarray().ravel(),
                [by_hand(s, names[j], m) for s in sequences],
            )
        K = LinearKernel(normalised=True)(Phi)
        agree(K, cosine_similarity(Phi), 1e-12)
        check_semidefinite(K)
        most = np.argsort(-Phi.sum(axis=0))[:3]
        got = removals(LinearKernel(True), Phi, LinearKernel(True).sums(Phi), most)
        agree(got, removals_reference(LinearKernel(True), Phi, most), 1e-12)


# ---------------------------------------------------------------- array libraries

OF_ANY_LIBRARY = [
    LinearKernel(),
    LinearKernel(True),
    PolynomialKernel(3, 0.5, 1.0),
    PolynomialKernel(2, normalised=True),
    RBFKernel(0.3),
    ChiSquaredKernel(0.5),
    CallableKernel(lambda X, Z: X @ Z.T),
]


@pytest.mark.parametrize(
    "kernel", OF_ANY_LIBRARY, ids=lambda kernel: type(kernel).__name__
)
@swept("dtype", ["float32"], ["float64"])
def test_kernel_matrices_live_where_the_data_live(dense_library, kernel, dtype):
    rng = np.random.default_rng(0)
    X = rng.random((12, 7)).astype(dtype)
    Z = rng.random((5, 7)).astype(dtype)
    given = dense_library.make(X)
    other = dense_library.make(Z)

    def assert_same(found, expected):
        assert dense_library.is_result(found, "float64")
        assert dense_library.device(found) == dense_library.device(given)
        assert_allclose(dense_library.back(found), expected, rtol=1e-11, atol=1e-13)

    assert_same(kernel(given), kernel(X))
    assert_same(kernel(given, other), kernel(X, Z))
    sums = kernel.sums(X)
    there = kernel.sums(given)
    assert_same(
        removals_reference(kernel, given, [0, 3]), removals_reference(kernel, X, [0, 3])
    )
    assert_same(
        removals(kernel, given, there, [0, 3], [1, 2, 5]),
        removals(kernel, X, sums, [0, 3], [1, 2, 5]),
    )
    running = RunningSums(kernel, given)
    expected = RunningSums(kernel, X)
    for gone in (3, [0, 5]):
        running.remove(gone), expected.remove(gone)
    assert_same(running.matrix(), expected.matrix())
    assert_same(
        removals(kernel, running.X, running.S, running.left),
        removals(kernel, expected.X, expected.S, expected.left),
    )


@pytest.mark.parametrize("kernel", [LinearKernel(), RBFKernel(1.0)], ids=repr)
def test_lost_digits_are_noticed_wherever_the_data_live(dense_library, kernel):
    X = np.random.default_rng(0).random((12, 4))
    X[:, 0] *= 1e6
    given = dense_library.make(X)
    running = RunningSums(kernel, given)
    expected = RunningSums(kernel, X)
    running.remove(0), expected.remove(0)
    assert running.n_fresh == expected.n_fresh == 2
    assert_allclose(dense_library.back(running.matrix()), expected.matrix(), rtol=1e-11)
    found = removals(kernel, given, kernel.sums(given), [0, 1])
    assert_allclose(
        dense_library.back(found),
        removals_reference(kernel, X, [0, 1]),
        rtol=1e-7,
        atol=1e-12,
    )


def test_names_of_kernels_need_no_more_than_sums_over_samples(dense_library):
    X = np.random.default_rng(0).random((12, 4))
    for name in ("rbf", "poly", "chi2"):
        assert kernel_of(name, dense_library.make(X)).gamma == pytest.approx(
            kernel_of(name, X).gamma, rel=1e-13
        )


def test_an_impossible_entry_is_named_wherever_it_lives(dense_library):
    with refused("X has the entry -1 in row 1, column 0"):
        ChiSquaredKernel()(dense_library.make(np.array([[1.0, 2.0], [-1.0, 0.0]])))


@pytest.mark.parametrize("degree", [2, 3, 5])
@pytest.mark.parametrize("exponent", [-140, -60, 60, 140])
def test_a_normalised_polynomial_of_any_scale(exponent, degree):
    """Without `coef0` it is a power of the cosine."""
    X = np.random.default_rng(0).standard_normal((8, 4))
    kernel = PolynomialKernel(degree, normalised=True)
    assert_allclose(kernel(X * 10.0**exponent), kernel(X), rtol=1e-12)
    assert_allclose(kernel(X), LinearKernel(normalised=True)(X) ** degree, rtol=1e-12)


def test_the_gamma_of_constant_histograms_is_one_over_their_mean():
    assert kernel_of("chi2", np.full((3, 4), 0.5)).gamma == 0.5
    assert kernel_of("chi2", np.zeros((3, 4))).gamma == 0.25
    assert kernel_of("rbf", np.full((3, 4), 0.5)).gamma == 0.25


@pytest.mark.parametrize(
    "kernel", [RBFKernel(0.5), ChiSquaredKernel(0.1), LinearKernel()]
)
@pytest.mark.parametrize("far", [1.0, 1e5])
def test_sums_that_change_in_place_are_those_of_what_is_left(kernel, far):
    """Far features too, whose removal loses digits: what was computed last must not
    change with the sums.
    """
    X = np.abs(table(60, 6))
    X[:, 2] *= far
    sums = RunningSums(kernel, X)
    place = None
    for gone in (0, [3, 5], 2):
        place = sums.S if far == 1 else None
        sums.remove(gone)
        assert place is None or sums.S is place
        agree(sums.matrix(), exactly(kernel, X[:, sums.left]), 1e-8)


def test_a_kernel_by_its_factor_is_the_matrix():
    rng = np.random.default_rng(3)
    G, added = rng.standard_normal((30, 4)), rng.uniform(0.1, 2, 30)
    V, rows = rng.standard_normal((30, 2)), np.array([4, 0, 29])
    for K, whole in (
        (FactoredKernel(G), G @ G.T),
        (FactoredKernel(G, added), G @ G.T + np.diag(added)),
        (FactoredKernel(G[:, :0]), np.zeros((30, 30))),
    ):
        assert_allclose(np.asarray(K), whole, atol=1e-12)
        assert_allclose(K @ V, whole @ V, atol=1e-12)
        assert_allclose(K @ V[:, 0], whole @ V[:, 0], atol=1e-12)
        assert_allclose(V[:, 0] @ K, V[:, 0] @ whole, atol=1e-12)
        assert_allclose(V.T @ K, V.T @ whole, atol=1e-12)
        assert_allclose(K[7], whole[7], atol=1e-12)
        assert_allclose(K[rows], whole[rows], atol=1e-12)
        assert_allclose(K.block(rows), whole[np.ix_(rows, rows)], atol=1e-12)
        assert_allclose(np.asarray(K.on(rows)), whole[np.ix_(rows, rows)], atol=1e-12)
        assert_allclose(K.diagonal(), whole.diagonal(), atol=1e-12)
        assert len(K) == 30 and abs(K.trace() - whole.trace()) < 1e-12
    K = FactoredKernel(G).plus(added)
    assert_allclose(np.asarray(K) @ K.solve(V), V, atol=1e-10)


def test_no_sums_are_kept_once_few_features_are_left():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 14))
    sums = running_sums(LinearKernel(), X)
    assert sums.S is not None
    sums = without_features(sums, [2, 5, 7, 13])
    assert sums.S is None and sums.left == [0, 1, 3, 4, 6, 8, 9, 10, 11, 12]
    sums = without_features(sums, [0])
    left = [1, 3, 4, 6, 8, 9, 10, 11, 12]
    assert sums.left == left
    assert_allclose(np.asarray(sums.matrix()), X[:, left] @ X[:, left].T, atol=1e-12)
    # no other kernel is a product of the columns
    for kernel in (LinearKernel(normalised=True), RBFKernel(0.1)):
        assert running_sums(kernel, X[:, :2]).S is not None
