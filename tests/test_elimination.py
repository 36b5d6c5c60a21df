"""Elimination: bounds, the same order as the literal algorithm, low ranks, closed
forms.
"""

import itertools
import tracemalloc
import warnings
from contextlib import nullcontext
from fractions import Fraction

import numpy as np
import pytest
from cases import swept, swept_product, swept_seeds
from kernel_cases import (
    KERNELS,
    exact_dual,
    exact_primal,
    problem,
    raw,
    raw_loss,
    rounding_of_gap,
    several_risks,
    thin,
    unit,
)
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes
from sklearn.metrics.pairwise import rbf_kernel

from fsel_book.elimination import (
    guyon_rfe,
    risk_rfe,
    risk_rfe_reference,
    squared_linear_path,
)
from fsel_book.kernel_machines import (
    EmpiricalRisk,
    best_intercept,
    duality_gap,
    is_feasible,
    reference_fit,
)
from fsel_book.kernels import (
    LinearKernel,
    PolynomialKernel,
    RBFKernel,
    RunningSums,
    kernel_of,
)
from fsel_book.losses import LOSSES
from fsel_book.risk_rfe import GuyonRFE, RiskRFE
from fsel_book.warm_fits import cold_fit, libsvm_fit, warm_started_fit

SEEDS = range(300)


@pytest.mark.exact
@swept("seed", SEEDS[:30], SEEDS[30:])
def test_same_order_and_values_as_refitting_everything(seed):
    X, kernel, loss, intercept = problem(seed)
    J, values = risk_rfe_reference(X, [loss], kernel, intercept=intercept)
    fast = risk_rfe(X, [loss], kernel, intercept=intercept)
    assert fast.order == J
    assert_allclose(fast.values, values, atol=1e-8 * unit(loss))
    assert fast.left == list(range(X.shape[1], 0, -1))


@pytest.mark.exact
@pytest.mark.parametrize("seed", SEEDS[::7])
def test_accepted_fits_satisfy_the_optimality_conditions(seed):
    X, kernel, loss, intercept = problem(seed)
    K = RunningSums(kernel, X).matrix()
    u, value, exact = cold_fit(K, loss, intercept)
    f = K @ u
    b = best_intercept(loss, f) if intercept else 0.0
    assert exact and abs(loss.dual(K, u) - value) < 1e-12 * unit(loss)
    assert -1e-12 * unit(loss) <= duality_gap(K, loss, u, intercept) <= 2 * loss.gap
    # Fenchel's inequality, sample by sample: the gap is a sum of these, none below zero
    conjugates = np.array(
        [loss.on(np.array([i])).phi(u[i : i + 1]) for i in range(len(u))]
    )
    one_by_one = loss.C * loss.loss.value(loss.y, f + b) + conjugates
    slack = one_by_one + u * (f + b)
    assert slack.min() > -1e-9 * unit(loss) and slack.max() < 1e-8 * unit(loss)


@swept_product(
    ("name", "intercept"),
    [(name, i % 2 == 0) for i, name in enumerate(LOSSES)],
    LOSSES,
    [True, False],
)
def test_many_samples_of_few_features_as_with_the_matrix(name, intercept):
    """A polynomial of degree 1 is the linear kernel, with its matrix formed."""
    rng = np.random.default_rng(5)
    for n, d, step in (
        (150, 9, 1),
        (90, 11, 1),
        (160, 12, "adaptive"),
        (100, 20, 3),
        (300, 7, 1),
    ):
        X = rng.standard_normal((n, d)) * np.exp(rng.standard_normal(d))
        X[:, d // 2] = X[:, 0]
        relevant = d if n == 300 else 2  # where all matter, many samples move
        f = X[:, :relevant].sum(axis=1) + rng.standard_normal(n)
        risk = EmpiricalRisk(name, np.sign(f) if LOSSES[name].for_labels else f, 1.0)
        made, formed = (
            risk_rfe(X, [risk], kernel, 1, step, intercept=intercept)
            for kernel in (LinearKernel(), PolynomialKernel(1, 1.0, 0.0))
        )
        assert made.order == formed.order and made.left == formed.left
        assert_allclose(made.values, formed.values, atol=1e-8 * unit(risk))


@pytest.mark.parametrize("kind", [RiskRFE, GuyonRFE])
def test_many_samples_of_few_features_need_little_memory(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 6))
    y = np.sign(X[:, 0] + 0.5 * X[:, 1] + rng.standard_normal(6000))
    tracemalloc.start()
    found = kind(2, kernel="linear").fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sorted(found.get_support(indices=True)) == [0, 1]
    # a matrix of samples by samples would take 288 MB
    assert peak < 60e6


@swept_product(
    ("name", "step"),
    [("hinge", "adaptive"), ("squared_hinge", 2), ("log_loss", "adaptive")],
    ["hinge", "squared_hinge", "log_loss"],
    [2, "adaptive", 1, 0.4],
)
@swept_seeds(1, 4)
def test_classes_steps_and_limits_as_in_the_reference(seeds, name, step):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, 6))
        codes = np.digitize(X[:, 0] + 0.3 * rng.normal(size=40), [-0.5, 0.5])
        losses = [
            EmpiricalRisk(name, np.where(codes == c, 1.0, -1.0), 3.0) for c in range(3)
        ]
        kernel = RBFKernel(10.0 ** rng.uniform(-1.5, 0))
        rise = np.diff(risk_rfe(X, losses, kernel).values).mean()
        delta = None if seed % 2 else (lambda left, rise=rise: rise * left / 6)
        J, values = risk_rfe_reference(X, losses, kernel, 1, step, delta)
        fast = risk_rfe(X, losses, kernel, 1, step, delta)
        assert fast.order == J
        assert_allclose(fast.values, values, atol=1e-8 * 360)


@pytest.mark.exact
@swept(("C", "number"), [(0.1, False)], [(0.1, True), (25.0, False), (25.0, True)])
def test_low_rank_kernels_go_in_the_order_of_the_reference(C, number):
    X, loss = thin(0, C, number)
    J, values = risk_rfe_reference(X, [loss], LinearKernel(), 8)
    fast = risk_rfe(X, [loss], LinearKernel(), 8)
    assert fast.order == J
    assert_allclose(fast.values, values, atol=1e-8 * unit(loss))


def test_adaptive_steps_take_back_what_costs_too_much():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (80, 24))
    loss = EmpiricalRisk(
        "hinge", np.where(X[:, 0] + X[:, 1] * X[:, 2] > 0, 1.0, -1.0), 5.0
    )
    one, many = (
        risk_rfe(X, [loss], RBFKernel(0.3), 0, step) for step in (1, "adaptive")
    )
    assert set(many.order[-3:]) == set(one.order[-3:]) == {0, 1, 2}
    assert many.left[-4:] == [3, 2, 1, 0] and len(many.left) < 16
    nothing = many.values[-1]
    steps = zip(many.values, many.values[1:], many.left, many.left[1:], strict=False)
    for before, after, left, fewer in steps:
        assert (
            left - fewer == 1 or after - before <= 0.01 * (nothing - before) + loss.tie
        )
    J, values = risk_rfe_reference(X[:, :10], [loss], RBFKernel(0.3), 1, "adaptive")
    fast = risk_rfe(X[:, :10], [loss], RBFKernel(0.3), 1, "adaptive")
    assert fast.order == J and len(values) == len(fast.values)


@pytest.mark.exact
@pytest.mark.parametrize("seed", range(20))
def test_closed_forms_against_refits(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 60))
    d = int(rng.integers(3, 80))
    X = rng.normal(size=(n, d)) * 10 ** rng.uniform(-1, 1, d)
    if seed % 3 == 0:
        X[:, -1] = X[:, 0]
    if seed % 4 == 0:
        X[:, 1] = 3.0
    y = X @ (rng.normal(size=d) * (rng.random(d) < 0.3)) + rng.normal(size=n)
    C = 10.0 ** rng.uniform(-2, 3) * (rng.uniform(0.5, 2, n) if seed % 5 == 0 else 1)
    loss = EmpiricalRisk("squared_error", y, C)
    intercept = bool(seed % 2)
    step = [1, 3, 0.2][seed % 3]
    done = squared_linear_path(X, loss, 1, step, None, intercept, block=8)
    assert done.left[-1] == 1 and len(done.order) == d - 1
    for value, left in list(zip(done.values, done.left, strict=True))[
        :: max(1, d // 8)
    ]:
        K = LinearKernel()(np.delete(X, done.order[: d - left], axis=1))
        assert abs(value - reference_fit(K, loss, intercept)[1]) < 1e-8 * unit(loss)
    if d < 12:
        assert (
            done.order
            == risk_rfe_reference(
                X, [loss], LinearKernel(), 1, step, intercept=intercept
            )[0]
        )


def test_the_swept_path_is_brought_up_to_date():
    """Ill-conditioned, 300 columns: without the fresh starts the error is 1e-6."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 300)) * 10 ** rng.uniform(-1.5, 1.5, 300)
    loss = EmpiricalRisk(
        "squared_error", X[:, :5].sum(axis=1) + rng.normal(size=60), 1e5
    )
    done = squared_linear_path(X, loss)
    for value, left in list(zip(done.values, done.left, strict=True))[::20]:
        K = LinearKernel()(np.delete(X, done.order[: 300 - left], axis=1))
        assert abs(value - reference_fit(K, loss, True)[1]) < 2e-7 * unit(loss)


def ridge_objective(A, y, C):
    """With an intercept, by the singular values of what `A` is in units of its largest
    entry.
    """
    A, y, unit = A - A.mean(axis=0), y - y.mean(), np.abs(A).max()
    U, s, Vh = np.linalg.svd(A / unit, full_matrices=False)
    ridge = s**2 + 1 / (2 * C * unit**2)
    along = U.T @ y
    beyond = (
        np.sum((y - U @ along) ** 2) if np.linalg.matrix_rank(A) < len(y) - 1 else 0.0
    )
    return (
        C * (np.sum((along * (1 - s**2 / ridge)) ** 2) + beyond)
        + np.sum((s * along / ridge) ** 2) / unit**2 / 2
    )


@pytest.mark.parametrize("step", [1, 7])
@pytest.mark.parametrize("scale", [1.0, 1e3, 1e6, 1e9])
def test_the_closed_form_does_not_lose_its_digits_in_large_units(scale, step):
    """More features than samples, then fewer: objectives are right, and the order of
    the columns does not count.
    """
    rng = np.random.default_rng(0)
    X = scale * rng.standard_normal((20, 60))
    order = rng.permutation(60)
    loss = EmpiricalRisk(
        "squared_error", np.where(X[:, :3].sum(axis=1) > 0, 1.0, -1.0), 1.0
    )
    done = squared_linear_path(X, loss, 3, step)
    other = squared_linear_path(X[:, order], loss, 3, step)
    assert order[other.order].tolist() == done.order
    for value, left in zip(done.values, done.left, strict=True):
        kept = np.delete(X, done.order[: 60 - left], axis=1)
        assert value == pytest.approx(ridge_objective(kept, loss.y, 1.0), rel=1e-5)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1e6, 1e7])
def test_equal_features_in_large_units_go_by_their_index(scale):
    """Their squares hide the penalty, which alone tells how to share a weight."""
    X = np.repeat(scale * np.random.default_rng(0).standard_normal((40, 6)), 2, axis=1)
    loss = EmpiricalRisk("squared_error", X[:, 0] / scale, 1.0)
    assert squared_linear_path(X, loss).order == [*range(2, 12), 0]
    with pytest.warns(UserWarning, match="Rounding errors decide which features go"):
        squared_linear_path(X * (1e9 / scale), loss)


def exact_ridge_path(X, y, C):
    """The order and the objectives with an intercept, all but one column removed, in
    rational numbers.
    """
    C = Fraction(C)
    rows = [[Fraction(x) for x in row] for row in np.column_stack([X, y]).tolist()]
    columns = [
        [x - sum(column) / len(column) for x in column]
        for column in zip(*rows, strict=True)
    ]
    M = [
        [sum(a * b for a, b in zip(one, other, strict=True)) for other in columns]
        for one in columns
    ]
    d = X.shape[1]
    nothing = C * sum(Fraction(t) ** 2 for t in y.tolist())
    for j in range(d):
        M[j][j] += 1 / (2 * C)

    def value(left):
        """By elimination: what is left of the last diagonal entry."""
        A = [[M[i][j] for j in [*left, d]] for i in [*left, d]]
        for k in range(len(left)):
            for i in range(k + 1, len(A)):
                share = A[i][k] / A[k][k]
                A[i] = [a - share * b for a, b in zip(A[i], A[k], strict=True)]
        return C * A[-1][-1]

    left = list(range(d))
    order = []
    values = [value(range(d))]
    tie = Fraction(1e-9) * min(nothing, 1000 * values[0])
    while len(left) > 1:
        without = [value([i for i in left if i != j]) for j in left]
        k = next(k for k, v in enumerate(without) if v <= min(without) + tie)
        order.append(left.pop(k))
        values.append(without[k])
    return order, np.array([float(v) for v in values]), float(tie)


@pytest.mark.exact
@pytest.mark.filterwarnings("error")
@swept_product(
    ("apart", "C", "noise"),
    [
        (1e-3, 1.0, 0.5),
        (1e-3, 1e10, 1e-3),
        (1e-5, 1e6, 1e-3),
        (1e-5, 1e10, 0.5),
        (1e-7, 1.0, 1e-3),
        (1e-7, 1e10, 0.5),
    ],
    [1e-3, 1e-5, 1e-7],
    [1.0, 1e6, 1e10],
    [0.5, 1e-3],
)
def test_nearly_dependent_columns_go_in_the_order_of_exact_arithmetic(apart, C, noise):
    """The squares of their condition, up to 1e14, would leave objectives one digit, and
    no warning would say so.
    """
    rng = np.random.default_rng(1)
    X = rng.standard_normal((25, 6))
    X[:, 4] = X[:, 0] + apart * rng.standard_normal(25)
    X[:, 5] = X[:, 1] - X[:, 2] + apart * rng.standard_normal(25)
    y = X @ rng.standard_normal(6) + noise * rng.standard_normal(25)
    y -= y.mean()
    for columns in (np.arange(6), rng.permutation(6)):
        order, values, tie = exact_ridge_path(X[:, columns], y, C)
        done = squared_linear_path(X[:, columns], EmpiricalRisk("squared_error", y, C))
        assert done.order == order
        assert np.abs(done.values - values).max() <= tie
        selector = RiskRFE(1, kernel="linear", loss="squared_error", C=C).fit(
            X[:, columns], y
        )
        assert selector.elimination_order_.tolist() == order


@pytest.mark.parametrize("name", ["hinge", "squared_hinge", "squared_error"])
def test_ties_are_as_fine_as_the_objective(name):
    """In large units a machine fits all samples, its objective is next to nothing, and
    so are all rises.
    """
    rng = np.random.default_rng(1)
    X = 300 * rng.standard_normal((15, 30))
    order = rng.permutation(30)
    loss = EmpiricalRisk(name, np.where(X[:, :3].sum(axis=1) > 0, 1.0, -1.0), 1.0)
    done, other = (risk_rfe(A, [loss], LinearKernel(), 20) for A in (X, X[:, order]))
    assert done.values[0] < loss.tie * 1000  # hundreds of rises would be one tie
    assert order[other.order].tolist() == done.order
    J, _ = risk_rfe_reference(X[:, :9], [loss], LinearKernel(), 5)
    assert risk_rfe(X[:, :9], [loss], LinearKernel(), 5).order == J
    with pytest.warns(UserWarning, match="Rounding errors decide which features go"):
        risk_rfe(1e5 * X, [loss], LinearKernel(), 28)


def test_a_finer_tie():
    loss = EmpiricalRisk("hinge", [1.0, -1.0], 10.0)
    assert loss.nothing == 20 and loss.beside(0.02) is loss
    assert loss.beside(2e-3).tie == pytest.approx(2e-9) and loss.beside(
        2e-3
    ).gap == pytest.approx(2e-10)
    assert (
        loss.beside(0.0).tie == pytest.approx(2e-11) and loss.beside(0.0, 0.0).tie == 0
    )
    assert EmpiricalRisk("hinge", [1.0, -1.0], 10.0, 1e-14).beside(
        0.0
    ).tie == pytest.approx(2e-13)


def test_guyon_is_its_definition():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, 5))
        loss = EmpiricalRisk("hinge", np.sign(X[:, 0] * X[:, 1]), 2.0)
        left = list(range(5))
        while len(left) > 1:
            K = rbf_kernel(X[:, left], gamma=0.4)
            u = libsvm_fit(K, loss)
            falls = [
                u @ (K - rbf_kernel(np.delete(X[:, left], c, axis=1), gamma=0.4)) @ u
                for c in range(len(left))
            ]
            left.pop(int(np.argmin(falls)))
        assert set(range(5)) - set(guyon_rfe(X, [loss], RBFKernel(0.4)).order) == set(
            left
        )


def own_gap(K, loss, u, intercept):
    """The gap between `u` and its own machine, by none of the package's code: the
    intercept by golden sections.
    """
    f = K.astype(np.longdouble) @ u.astype(np.longdouble)
    high = (
        np.abs(f).max() + np.abs(loss.y).max() + 60 if intercept else np.longdouble(0)
    )
    low = -high
    golden = (np.sqrt(np.longdouble(5)) - 1) / 2
    for _ in range(110):
        width = golden * (high - low)
        left = exact_primal(loss, f + high - width)
        right = exact_primal(loss, f + low + width)
        low, high = (low, low + width) if left < right else (high - width, high)
    return float(
        f @ u / 2 + exact_primal(loss, f + (low + high) / 2) - exact_dual(K, loss, u)
    )


EVERY = list(itertools.product(("wine", "breast cancer", "diabetes"), LOSSES, KERNELS))


# Each loss with one of the kernels. On the last of these a fit that stops as soon as
# its gap is closed is not yet as good as it can be.
FEW = [
    *[("wine", name, list(KERNELS)[i % len(KERNELS)]) for i, name in enumerate(LOSSES)],
    ("diabetes", "squared_hinge", "linear"),
]


# At C = 1e6 these have a machine that fits all samples, and an objective that float64
# knows to four percent.
BEYOND_FLOAT64 = [
    ("breast cancer", name, "linear") for name in LOSSES if "hinge" in name
]


@pytest.mark.filterwarnings("error")
@swept(
    ("data", "name", "kernel", "exponents"),
    [*((*case, (0, 6)) for case in FEW[:-1]), (*FEW[-1], (-6, -3, 0, 3, 6))],
    [
        *((*case, (-6, -3, 3)) for case in FEW[:-1]),
        *((*case, (-6, -3, 0, 3, 6)) for case in EVERY if case not in FEW),
    ],
)
def test_raw_data_at_every_C(data, name, kernel, exponents, monkeypatch):
    """Every fit exact, and the order of the literal algorithm, which a warning doubts
    at a very small or large C.
    """
    fits = []
    fit = warm_started_fit

    def watched(K, loss, u, intercept, enough=np.inf):
        found = fit(K, loss, u, intercept, enough)
        if found[2]:
            fits.append((np.array(K), found[0]))
        return found

    for module in ("elimination", "elimination_step"):
        monkeypatch.setattr(f"fsel_book.{module}.warm_started_fit", watched)
    for C in 10.0 ** np.array(exponents):
        X, signs, numbers = raw(data, 5)
        loss = raw_loss(name, signs, numbers, C)
        intercept = bool((data == "wine") ^ (C == 1) ^ (C == 1e6))
        form = kernel_of(kernel, X, "scale", 3, 0.0, None)
        fits.clear()
        beyond = C == 1e6 and (data, name, kernel) in BEYOND_FLOAT64
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Rounding errors may decide")
            with (
                pytest.warns(UserWarning, match="Rounding errors decide")
                if beyond
                else nullcontext()
            ):
                fast = risk_rfe(X, [loss], form, intercept=intercept)
        assert fits
        for K, u in fits:
            assert is_feasible(u, *loss.box(), intercept)
            assert own_gap(
                K, loss, u, intercept
            ) <= 2 * loss.gap + 1000 * rounding_of_gap(K, loss, u), (data, C)
        assert (
            fast.order == risk_rfe_reference(X, [loss], form, intercept=intercept)[0]
        ), (data, C)


def test_values_that_the_sum_over_all_pairs_would_lose():
    """Raw features and C = 1e6: u'Ku cancels to a billionth of its terms; that of the
    kernel leaves six digits.
    """
    X, y = load_diabetes(return_X_y=True, scaled=False)
    X = X[::10]
    y = y[::10] - y[::10].mean()
    loss = EmpiricalRisk("squared_error", y, 1e6)
    exact = squared_linear_path(X, loss)
    fast = risk_rfe(X, [loss], LinearKernel())
    assert fast.order == exact.order == risk_rfe_reference(X, [loss], LinearKernel())[0]
    assert_allclose(fast.values, exact.values, atol=1e-5 * unit(loss))


def prices(X, risks, kernel, gone, intercept):
    """What each feature that is left costs, by a fit from scratch each; infinite for
    those that are gone.
    """

    def value(J):
        A = X.copy()
        A[:, J] = 0
        return sum(cold_fit(kernel(A), risk, intercept)[1] for risk in risks)

    before = value(gone)
    return np.array(
        [np.inf if j in gone else value([*gone, j]) - before for j in range(X.shape[1])]
    )


def check_cuts(done, X, risks, kernel, tolerance, intercept):
    """The features of each step cost at most `tolerance` of the prices of all more than
    the cheapest as many.
    """
    slack = sum(risk.tie for risk in risks)
    for left, after in zip(done.left, done.left[1:], strict=False):
        start = X.shape[1] - left
        price = prices(X, risks, kernel, done.order[:start], intercept)
        gone = done.order[start : X.shape[1] - after]
        allowed = tolerance * np.maximum(price[np.isfinite(price)], 0).sum()
        assert price[gone].sum() <= np.sort(price)[
            : len(gone)
        ].sum() + allowed + slack * len(gone)


THREE = (LinearKernel(), RBFKernel(0.05), PolynomialKernel(2, 0.1, 1.0))


TOLERANT = [
    (name, THREE[(i + shift) % 3])
    for shift in range(3)
    for i, name in enumerate(LOSSES)
]


@swept(("name", "kernel"), TOLERANT[:5:4], TOLERANT[1:4] + TOLERANT[5:])
def test_a_tolerant_cut_costs_little_more_than_the_cheapest(name, kernel):
    for n, d, tolerance in ((31, 40, 0.001), (40, 12, 0.1)):
        rng = np.random.default_rng(n)
        X = rng.normal(size=(n, d)) * 10 ** rng.uniform(-0.5, 0.5, d)
        X[:, -1] = X[:, 0]
        risks = several_risks(name, X, rng)
        intercept = bool(n % 2)
        done = risk_rfe(X, risks, kernel, 2, d // 4, None, intercept, tolerance)
        check_cuts(done, X, risks, kernel, tolerance, intercept)
        assert done.left[-1] == 2 and len(set(done.order)) == d - 2


@swept(("C", "number"), [(0.1, True), (25.0, False)], [(0.1, False), (25.0, True)])
def test_a_tolerant_cut_of_a_kernel_of_low_rank(C, number):
    """The free samples span all features: without one a whole step leads to infinity."""
    X, risk = thin(0, C, number)
    done = risk_rfe(X, [risk], LinearKernel(), 2, 6, step_tol=0.001)
    check_cuts(done, X, [risk], LinearKernel(), 0.001, True)


def test_a_tolerant_adaptive_step_is_one_at_each_size():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (60, 24))
    risk = EmpiricalRisk("hinge", np.where(X[:, 0] + X[:, 1] > 0, 1.0, -1.0), 5.0)
    done = risk_rfe(X, [risk], LinearKernel(), 0, "adaptive", step_tol=0.01)
    assert set(done.order[-2:]) == {0, 1} and len(done.left) < 20
    check_cuts(done, X, [risk], LinearKernel(), 0.01, True)


def test_most_of_a_linear_cut_is_certified_without_a_fit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 400))
    risk = EmpiricalRisk("hinge", np.sign(X[:, :5].sum(axis=1)), 1.0)
    exact, near = (
        risk_rfe(X, [risk], LinearKernel(), 40, 0.1, step_tol=tolerance)
        for tolerance in (0.0, 0.001)
    )
    assert near.refits < 30 and exact.refits > 300
    assert len(set(near.order) & set(exact.order)) > 320
    assert near.values[-1] < 1.1 * exact.values[-1]


@swept("seed", range(3), range(3, 200))
def test_without_a_tolerance_steps_are_those_of_the_reference(seed):
    X, kernel, loss, intercept = problem(seed)
    step = (2, 0.4, "adaptive")[seed % 3]
    J, values = risk_rfe_reference(X, [loss], kernel, 1, step, intercept=intercept)
    fast = risk_rfe(X, [loss], kernel, 1, step, None, intercept, 0.0)
    assert fast.order == J
    assert_allclose(fast.values, values, atol=1e-8 * unit(loss))


def linear_problem(n, d):
    """Features, a risk, and what the value would be without each of some features, by
    fits.
    """
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, d))
    risk = EmpiricalRisk(
        "hinge", np.sign(X[:, :5].sum(axis=1) + rng.normal(size=n)), 1.0
    )

    def values(left):
        K = X[:, left] @ X[:, left].T
        return np.array(
            [cold_fit(K - np.outer(X[:, c], X[:, c]), risk, True)[1] for c in left]
        )

    return X, risk, values


def test_one_at_a_time_followed_candidates_go_in_the_order_of_fits():
    X, risk, values = linear_problem(150, 80)
    path = risk_rfe(X, [risk], LinearKernel(), 72)
    left = list(range(80))
    assert path.order == [left.pop(int(np.argmin(values(left)))) for _ in range(8)]
    assert path.refits < 40


# by paths; by the columns that stay
@pytest.mark.parametrize(("n", "d"), [(150, 80), (330, 40)])
def test_followed_candidates_need_no_fits_and_keep_the_promise(n, d):
    X, risk, values = linear_problem(n, d)
    done = risk_rfe(X, [risk], LinearKernel(), d - 8, 8, step_tol=0.001)
    price = values(list(range(d))) - done.values[0]
    assert (
        price[done.order].sum() - np.sort(price)[:8].sum()
        <= 0.001 * price.sum() + risk.tie
    )
    assert done.refits == 2  # with all features, and with those that stay
