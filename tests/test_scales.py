"""Numbers at the edge: structures, scales and containers by a seeded generator.

A power of two rounds nothing, so what does not depend on the scale must be the same for
`X` and `2**k X`, and what does must be its power. Where the scales lie within one
matrix, the oracle is arithmetic of 80 digits. Beyond the range there is an error that
says so. More cases: `pytest -m sweep tests/test_scales.py` with FSEL_BOOK_CASES=2000.
"""

import os
import warnings

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from cases import refused, swept, swept_seeds
from mpmath import mpf
from numpy.testing import assert_allclose, assert_array_equal

from fsel_book import (
    BSSSelector,
    DSFSelector,
    DualProjectionClassifier,
    DualProjectionRidge,
    LeverageSelector,
    LPSVMClassifier,
    RandomSelector,
    RiskRFE,
    RLSClassifier,
    RRQRSelector,
    RSFSelector,
    SCADSVMClassifier,
    SparsePCRegressor,
    SupportVectorSelector,
    bss,
    certify,
    enclosing_ball,
    information_gain,
    largest_leverages,
    leverage_sampling,
    leverage_scores,
    margin_report,
    pivoted_qr,
    ridge_risk,
    row_space,
    strong_rrqr,
    svm_margin,
)
from fsel_book.kernels import LinearKernel, RBFKernel, kernel_of
from fsel_book.ridge import data_sandwich, kernel_sandwich, prediction_bound
from fsel_book.sparse_components import RegressionCertificate, best_rank_k_in_span
from fsel_book.spectra import turn_of_directions

# ---------------------------------------------------------------- the generator


def gaussian(rng, n, d):
    return rng.standard_normal((n, d))


def rank_deficient(rng, n, d):
    k = int(rng.integers(1, min(n, d) + 1))
    return rng.standard_normal((n, k)) @ rng.standard_normal((k, d))


def duplicated(rng, n, d):
    X = rng.standard_normal((n, d))
    return X[rng.integers(n, size=n)][:, rng.integers(d, size=d)]


def tied(rng, n, d):
    return rng.integers(-1, 2, (n, d)).astype(float)


def one_hot(rng, n, d):
    return np.eye(d)[rng.integers(d, size=n)]


def centred(rng, n, d):
    X = rng.standard_normal((n, d))
    return X - X.mean(axis=0)


def graded_columns(rng, n, d):
    return rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-12, 0, d)


def graded_rows(rng, n, d):
    return rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-12, 0, (n, 1))


def nearly_rank_deficient(rng, n, d):
    return rank_deficient(rng, n, d) + 10.0 ** rng.uniform(
        -14, -8
    ) * rng.standard_normal((n, d))


def few_entries(rng, n, d):
    return np.where(rng.random((n, d)) < 0.3, rng.standard_normal((n, d)), 0.0)


STRUCTURES = [
    gaussian,
    rank_deficient,
    duplicated,
    tied,
    one_hot,
    centred,
    graded_columns,
    graded_rows,
    nearly_rank_deficient,
    few_entries,
]
CONTAINERS = {
    "float64": np.asarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_array,
    "csc": sp.csc_array,
}
CASES = int(os.environ.get("FSEL_BOOK_CASES", "0"))


def each_seed(first, few, many):
    """Run a test on the cases of a few seeds from the first on, and in the sweeps on
    the rest of many.
    """
    return swept(
        "seed", range(first, first + few), range(first + few, first + max(many, CASES))
    )


# the largest entry is between 1 and 2 at exponent 0
EXPONENTS = {"float64": (-497, 496), "float32": (-85, 100)}


class Case:
    """Data of the seed: `X` at the scale `2**exponent`, `unit` the same at scale 1,
    labels and targets.
    """

    def __init__(self, seed):
        rng = self.rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 16))
        d = int(rng.integers(3, 30))
        self.structure = STRUCTURES[int(rng.integers(len(STRUCTURES)))]
        self.container = list(CONTAINERS)[int(rng.integers(4))]
        X = self.structure(rng, n, d)
        if not np.any(X):
            X[0, 0] = 1.0
        X = X * 2.0 ** (1 - np.frexp(np.abs(X).max())[1])
        low, high = EXPONENTS["float32" if self.container == "float32" else "float64"]
        exponent = int(rng.choice([low, high, int(rng.integers(low, high + 1))]))
        if self.container == "float32":
            X = np.where(
                np.abs(X) < 2.0**-41, 0, X.astype(np.float32).astype(np.float64)
            )  # held exactly at both scales
        self.scale = 2.0**exponent
        make = CONTAINERS[self.container]
        self.dense, self.unit, self.X = X, make(X), make(X * self.scale)
        assert_array_equal(dense(self.X).astype(np.float64), X * self.scale)
        self.signs = np.where(rng.random(n) < 0.5, -1, 1)
        self.signs[:2] = -1, 1
        self.y = rng.standard_normal(n)
        room = 20 if self.container == "float32" else 490
        self.t_scale = 2.0 ** int(rng.integers(-room, room + 1))
        self.r = int(rng.integers(2, d + 1))

    def __repr__(self):
        return (
            f"{self.structure.__name__} {self.dense.shape} {self.container} * "
            f"{self.scale:.0e}"
        )


def dense(X):
    return X.toarray() if sp.issparse(X) else np.asarray(X)


# ---------------------------------------------------------------- what must not depend
# on the scale


def outcome(work, *args):
    """What `work` returns, or the words of its ValueError; any other error and any
    RuntimeWarning is a failure.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("error", RuntimeWarning)
        try:
            return work(*args)
        except ValueError as error:
            return str(error)


def assert_equal_up_to(found, expected, factor=1.0, rtol=1e-9, atol=0.0):
    """That `found` is `factor * expected`, entry by entry; errors in the same words."""
    if isinstance(expected, str):
        assert found == expected
        return
    found, expected = (
        np.asarray(dense(a), dtype=np.float64) for a in (found, expected)
    )
    size = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
    assert_allclose(found / factor, expected, rtol=rtol, atol=atol * size)


SELECTORS = {
    "BSS": lambda r, **p: BSSSelector(r, **p),
    "BSS, best": lambda r, **p: BSSSelector(r, rule="best", **p),
    "BSS, sampled": lambda r, **p: BSSSelector(r, rule="sampled", random_state=0, **p),
    "BSS, sketch": lambda r, **p: BSSSelector(r, sketch_size=5, random_state=0, **p),
    "leverage": lambda r, **p: LeverageSelector(r, random_state=0, **p),
    "largest": lambda r, **p: LeverageSelector(r, rule="largest", **p),
    "DSF": lambda r, **p: DSFSelector(r, **p),
    "DSF, first": lambda r, **p: DSFSelector(r, rule="first", **p),
    "DSF, components": lambda r, **p: DSFSelector(r, rule="components", **p),
    "DSF, target": lambda r, **p: DSFSelector(r, rule="target", **p),
    "RSF": lambda r, **p: RSFSelector(r, random_state=0, **p),
    "RRQR": lambda r, **p: RRQRSelector(r, **p),
    "pivoted QR": lambda r, **p: RRQRSelector(r, strong=False, **p),
    "random": lambda r, **p: RandomSelector(r, random_state=0, **p),
}


def check_selectors(case, names=SELECTORS):
    for name in names:
        make = SELECTORS[name]
        for parameters in ({}, {"rank": 1}):

            def fit(X, y, make=make, parameters=parameters):
                return make(case.r, **parameters).fit(X, y)

            expected = outcome(fit, case.unit, case.y)
            found = outcome(fit, case.X, case.t_scale * case.y)
            if isinstance(expected, str):
                assert found == expected, (name, found, expected)
                continue
            assert not isinstance(found, str), (name, found)
            assert_array_equal(found.selected_, expected.selected_, err_msg=name)
            assert_array_equal(found.weights_, expected.weights_, err_msg=name)
            ours = found.certificate_
            theirs = expected.certificate_
            assert_array_equal(ours.eigenvalues, theirs.eigenvalues)
            assert_array_equal(ours.eigenvalues_unscaled, theirs.eigenvalues_unscaled)
            assert (ours.energy, ours.rank, ours.holds, ours.accuracy) == (
                theirs.energy,
                theirs.rank,
                theirs.holds,
                theirs.accuracy,
            )
            assert np.all(np.isfinite(ours.eigenvalues)) and np.isfinite(ours.energy), (
                name
            )
            certain = ours.promise is None or ours.promise.confidence < 1
            assert ours.holds or certain or ours.accuracy > 1e-6, (name, str(ours))
            assert_array_equal(found.leverage_scores_, expected.leverage_scores_)
            if hasattr(ours, "sine"):
                assert_equal_up_to(
                    [ours.sine, ours.residual],
                    [theirs.sine, theirs.residual],
                    atol=1e-12,
                )
                assert_equal_up_to(
                    ours.singular_values, theirs.singular_values, case.scale
                )
                assert_equal_up_to(ours.residual_norm, theirs.residual_norm, case.scale)
                targets = [
                    RegressionCertificate.of(c, y, intercept)
                    for c, y in ((ours, case.t_scale * case.y), (theirs, case.y))
                    for intercept in (False, True)
                ]
                for mine, his in zip(targets[:2], targets[2:]):
                    assert_equal_up_to(
                        list(vars(mine).values()),
                        list(vars(his).values()),
                        case.t_scale,
                        1e-6,
                        1e-9,
                    )


# ---------------------------------------------------------------- what is a power of
# the scale


def machine(model, X, y):
    model = model.fit(X, y)
    return [model.coef_, getattr(model, "intercept_", 0.0), model.predict(X)]


def kernel_matrix(X):
    X = dense(X).astype(np.float64)
    return X @ X.T


def regression(X, y, k):
    model = SparsePCRegressor(k, n_features_to_select=k + 1).fit(X, y)
    return [
        model.coef_,
        model.intercept_,
        model.predict(X),
        [model.certificate_.measured],
    ]


# For data X and targets y: what is computed, and for each part of it the powers of the
# scales of X and of y.
WORK = {
    "singular values": (lambda X, y, s, t, c: [row_space(X).singular_values], [(1, 0)]),
    "pivoted QR": (
        lambda X, y, s, t, c: [pivoted_qr(X, 1).R, pivoted_qr(X, 1).permutation],
        [(1, 0), (0, 0)],
    ),
    "strong RRQR": (
        lambda X, y, s, t, c: [strong_rrqr(X, 1).R, strong_rrqr(X, 1).permutation],
        [(1, 0), (0, 0)],
    ),
    "regression": (
        lambda X, y, s, t, c: regression(X, y, 1),
        [(-1, 1), (0, 1), (0, 1), (0, 1)],
    ),
    "in span": (lambda X, y, s, t, c: [best_rank_k_in_span(dense(X), y, 1)], [(0, 1)]),
    "ridge risk": (
        lambda X, y, s, t, c: list(
            vars(ridge_risk(kernel_matrix(X), y, t, 0.1 * s * s)).values()
        )[1:],
        [(0, 2), (0, 2)],
    ),
    "RLSC": (
        lambda X, y, s, t, c: machine(RLSClassifier(0.1 * s * s), X, c.signs)[:1],
        [(-1, 0)],
    ),
    "RLSC, alpha=0": (
        lambda X, y, s, t, c: machine(RLSClassifier(0.0), X, c.signs)[:1],
        [(-1, 0)],
    ),
    "classifier": (
        lambda X, y, s, t, c: machine(
            DualProjectionClassifier(alpha=float(s) ** 2, tol=1e-9, random_state=0),
            X,
            c.signs,
        )[:2],
        [(-1, 0), (0, 0)],
    ),
    "ridge": (
        lambda X, y, s, t, c: machine(
            DualProjectionRidge(alpha=float(s) ** 2, tol=1e-9, random_state=0), X, y
        ),
        [(-1, 1), (0, 1), (0, 1)],
    ),
    "LPSVM": (
        lambda X, y, s, t, c: machine(LPSVMClassifier(1 / s), X, c.signs)[:2],
        [(-1, 0), (0, 0)],
    ),
    "soft margin": (
        lambda X, y, s, t, c: list(vars(svm_margin(X, c.signs, C=0.5 / s**2)).values())[
            :4
        ],
        [(1, 0), (0, 0), (-1, 0), (0, 0)],
    ),
    "kernel": (lambda X, y, s, t, c: [LinearKernel()(X)], [(2, 0)]),
    "normalised kernel": (
        lambda X, y, s, t, c: [LinearKernel(True)(X), kernel_of("rbf", X)(X)],
        [(0, 0), (0, 0)],
    ),
    "information": (lambda X, y, s, t, c: [information_gain(X, c.signs)], [(0, 0)]),
    "sandwich": (
        lambda X, y, s, t, c: [data_sandwich(X, dense(X)[:, 1:] + dense(X)[:, :1])],
        [(0, 0)],
    ),
    "ball": (
        lambda X, y, s, t, c: list(vars(enclosing_ball(X)).values()),
        [(1, 0), (1, 0), (0, 0), (0, 0)],
    ),
    "margin": (
        lambda X, y, s, t, c: list(vars(svm_margin(X, c.signs)).values()),
        [(1, 0), (0, 0), (-1, 0), (0, 0), (0, 0), (0, 0), (0, 0)],
    ),
}


def check_work(case, names=WORK):
    for name in names:
        work, powers = WORK[name]
        expected = outcome(work, case.unit, case.y, 1.0, 1.0, case)
        found = outcome(
            work, case.X, case.t_scale * case.y, case.scale, case.t_scale, case
        )
        if isinstance(expected, str):
            assert found == expected, name
            continue
        if "so short that its square has lost digits" in str(
            found
        ) or "which float32 does not hold" in str(found):
            continue
        assert not isinstance(found, str), (name, found)
        # Coefficients of nearly dependent features are ill-conditioned, whatever the
        # scale.
        rough = (
            1e-4
            if case.container == "float32"
            else 1e-3
            if "nearly" in case.structure.__name__
            else 1e-7
        )
        for i, (ours, theirs, (p, q)) in enumerate(zip(found, expected, powers)):
            if theirs is None:
                assert ours is None
                continue
            ours = np.asarray(dense(ours), dtype=np.float64)
            for factor in [case.scale] * abs(p):
                ours = ours / factor if p > 0 else ours * factor
            for factor in [case.t_scale] * q:
                ours = ours / factor
            theirs = np.asarray(dense(theirs), dtype=np.float64)
            size = np.abs(theirs[np.isfinite(theirs)]).max(initial=0.0)
            assert_allclose(
                ours,
                theirs,
                rtol=rough,
                atol=rough * max(size, 1e-6),
                err_msg=f"{name} {i}",
            )


@each_seed(0, 4, 30)
def test_selections_and_certificates_do_not_depend_on_the_scale(seed):
    check_selectors(Case(seed))


@each_seed(1000, 9, 80)
def test_what_is_computed_is_a_power_of_the_scale(seed):
    check_work(Case(seed))


# ---------------------------------------------------------------- scales within one
# matrix


def hull_distance(X, signs):
    """The distance between the convex hulls of two classes, in arithmetic of 80 digits:
    Wolfe's method.
    """
    n = len(signs)
    sides = [np.flatnonzero(signs == sign) for sign in (-1, 1)]
    Z = [
        [mpf(float(value)) * int(sign) for value in row] for row, sign in zip(X, signs)
    ]
    G = [[mpmath.fdot(x, z) for z in Z] for x in Z]
    a = {min(side, key=lambda i: G[i][i]): mpf(1) for side in sides}
    while True:
        gradient = [sum(a[j] * G[i][j] for j in a) for i in range(n)]
        value = sum(a[i] * gradient[i] for i in a)
        if value <= mpf(10) ** -70 * max(G[i][i] for i in range(n)):
            return mpf(0)
        best = [min(side, key=lambda i: gradient[i]) for side in sides]
        excess = [
            sum(a[i] * gradient[i] for i in side if i in a) - gradient[i]
            for i, side in zip(best, sides)
        ]
        new = best[int(excess[1] > excess[0])]
        if max(excess) <= mpf(10) ** -50 * value or new in a:
            return mpmath.sqrt(value)
        a[new] = mpf(0)
        while True:
            F = list(a)
            sizes = [1 / mpmath.sqrt(G[i][i]) if G[i][i] else mpf(1) for i in F]
            M = mpmath.zeros(len(F) + 2)
            goal = mpmath.zeros(len(F) + 2, 1)
            for p, i in enumerate(F):
                for q, j in enumerate(F):
                    M[p, q] = G[i][j] * sizes[p] * sizes[q]
                c = len(F) + int(signs[i] > 0)
                M[p, c] = M[c, p] = sizes[p]
            goal[len(F)] = goal[len(F) + 1] = mpf(1)
            solved = mpmath.lu_solve(M, goal)
            wanted = {i: solved[p] * sizes[p] for p, i in enumerate(F)}
            lost = [i for i in F if wanted[i] <= 0]
            if not lost:
                a = wanted
                break
            share = {i: a[i] / (a[i] - wanted[i]) for i in lost}
            first = min(lost, key=share.get)
            a = {i: a[i] + share[first] * (wanted[i] - a[i]) for i in F if i != first}


def met(X, signs, plane):
    """The least `y (x'w + b)`, exactly."""
    w = [mpf(float(value)) for value in plane.coef]
    b = mpf(plane.intercept)
    return float(
        min(
            int(s) * (mpmath.fdot(w, [mpf(float(x)) for x in row]) + b)
            for s, row in zip(signs, X)
        )
    )


def check_margin(case):
    """Margin and constraints are right to the gap, and a gap above the tolerance is
    said.
    """
    X = dense(case.unit).astype(np.float64)
    with mpmath.workdps(80), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        plane = svm_margin(case.unit, case.signs)
        try:
            exact = float(hull_distance(X, case.signs)) / 2
        # of samples that are dependent the oracle knows nothing
        except ZeroDivisionError:
            return
        if not plane.separable:
            assert exact <= 2e-11 * np.linalg.norm(X, axis=1).max()
            return
        gap = max(plane.gap, 1e-7)
        assert (
            plane.margin <= exact * (1 + gap) and (plane.margin / exact) ** 2 >= 1 - gap
        )
        assert met(X, case.signs, plane) >= 1 - gap
        assert 1 / np.linalg.norm(plane.coef) == pytest.approx(plane.margin, rel=1e-9)
        assert (plane.gap > 1e-7) == any(
            "squared margin is known to" in str(warning.message) for warning in warned
        )
        accurate = np.linalg.norm(X, axis=1).max() / plane.margin < 1e7
        assert not accurate or plane.gap < 1e-6


def check_report(case):
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        space = row_space(case.X)
        d, ell = space.shape
        for sampling in (
            bss(space, ell + case.r),
            leverage_sampling(space, ell + case.r, 0),
            largest_leverages(space, case.r),
        ):
            for rescale in (True, False):
                report = margin_report(case.X, case.signs, sampling, rescale)
                assert report.holds, (str(report), report.accuracy)
                assert np.all(np.isfinite([*report.margins, *report.radii]))
                # What the rank left out may be as large as the smallest direction that
                # it did not; all else is below 1.
                assert report.accuracy < 1 or turn_of_directions(space) == 1
        # in which the certificate leaves out what float64 would see
        if case.container != "float32":
            certificate = certify(space, largest_leverages(space, max(case.r, ell)))
            Q = (
                rng.standard_normal((3, d))
                * np.abs(case.dense).max(axis=0)
                * case.scale
                / 4
            )
            bound = prediction_bound(
                certificate, case.X, case.y * case.t_scale, 1e-3 * case.scale**2, Q
            )
            assert np.all(np.isfinite(bound.total)) and np.all(bound.total >= 0)


@each_seed(2000, 15, 60)
def test_margins_against_arithmetic_of_80_digits(seed):
    check_margin(Case(seed))


class GradedRows(Case):
    """Samples of lengths from 1 to 1e-12."""

    def __init__(self, seed):
        super().__init__(seed)
        rng = np.random.default_rng(seed)
        n, d = self.dense.shape
        X = graded_rows(rng, n, d)
        X = X * 2.0 ** (1 - np.frexp(np.abs(X).max())[1])
        if self.container == "float32":
            X = np.where(
                np.abs(X) < 2.0**-41, 0, X.astype(np.float32).astype(np.float64)
            )
        make = CONTAINERS[self.container]
        self.structure, self.dense, self.unit, self.X = (
            graded_rows,
            X,
            make(X),
            make(X * self.scale),
        )


@each_seed(3000, 3, 30)
def test_margins_of_samples_of_very_different_length(seed):
    case = GradedRows(seed)
    check_margin(case)
    check_report(case)


@each_seed(4000, 4, 20)
def test_reports_and_bounds_hold(seed):
    check_report(Case(seed))


def exact_sandwich(X, C):
    """Extreme eigenvalues of `K^-1/2 C C' K^-1/2` for `K = X X'`, in arithmetic of 80
    digits.
    """
    with mpmath.workdps(80):
        A, B = (
            mpmath.matrix([[mpf(float(value)) for value in row] for row in M])
            for M in (X, C)
        )
        L = mpmath.cholesky(A * A.T) ** -1 * B
        values = mpmath.eigsy(L * L.T, eigvals_only=True)
        return float(min(values)), float(max(values))


@pytest.mark.parametrize("condition", [1e2, 1e6, 1e8, 1e10, 1e12])
@pytest.mark.parametrize("kind", ["singular values", "rows", "columns"])
def test_sandwiches_of_ill_conditioned_data(kind, condition):
    """From the data to rounding times the condition number; from kernels where only the
    lengths differ.
    """
    rng = np.random.default_rng(0)
    n = 6
    d = 20
    X = rng.standard_normal((n, d))
    sizes = np.logspace(0, -np.log10(condition), n)
    if kind == "singular values":
        X = (
            np.linalg.qr(X[:, :n])[0]
            * sizes
            @ np.linalg.qr(rng.standard_normal((d, n)))[0].T
        )
    if kind == "rows":
        X = X * sizes[:, None]
    if kind == "columns":
        X = X * np.logspace(0, -np.log10(condition), d)
    selector = BSSSelector(12, rank="full").fit(X)
    C = selector.sampling_.apply(X)
    exact = exact_sandwich(X, C)
    error = 1e-11 + (
        np.finfo(float).eps * condition if kind == "singular values" else 0
    )
    assert_allclose(selector.certificate_.interval, exact, rtol=error)
    assert_allclose(data_sandwich(X, C), exact, rtol=error)
    if kind != "singular values" or condition < 1e3:
        assert_allclose(kernel_sandwich(X @ X.T, C @ C.T), exact, rtol=1e-6)


def test_sandwiches_of_data_that_are_not_alike():
    X = np.random.default_rng(0).standard_normal((5, 8))
    assert (
        data_sandwich(X, X[:, :3])[0] == 0 and data_sandwich(X[:, :3], X)[1] == np.inf
    )
    with refused("X has 5 samples, X_after has 4"):
        data_sandwich(X, X[:4])


# ---------------------------------------------------------------- float32


@swept_seeds(8, 20)
@pytest.mark.filterwarnings("ignore:The relative error of the solution")
@swept("exponent", [-120, 60], [-60, 0, 120])
def test_coefficients_for_float32(exponent, seeds):
    """Rows of very different size: coefficients are those of float64, or it is said
    that float32 has none.
    """
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = (
            rng.standard_normal((8, 20))
            * 10.0 ** rng.uniform(-12, 0, (8, 1))
            * 2.0**exponent
        )
        X = X.astype(np.float32)
        y = rng.standard_normal(8)
        for model in (
            DualProjectionRidge(random_state=0, tol=1e-8),
            SparsePCRegressor(1, n_features_to_select=2),
        ):
            alpha = {"alpha": 1e-6 * 4.0**exponent} if hasattr(model, "alpha") else {}
            exact = model.set_params(**alpha).fit(X.astype(np.float64), y).coef_
            single = outcome(lambda X, y, model=model: model.fit(X, y).coef_, X, y)
            if isinstance(single, str):
                assert (
                    "float32 does not hold" in single
                    or "float32, the precision of X, has not the range" in single
                )
                assert not 1e-38 < np.abs(exact).max() < 3e38
            elif not hasattr(model, "alpha"):
                assert np.all(np.isfinite(single))
            else:
                assert_allclose(
                    single, exact, rtol=1e-6, atol=1e-6 * np.abs(exact).max()
                )


# ---------------------------------------------------------------- outside of the range

X = np.random.default_rng(0).standard_normal((12, 20))
SIGNS = np.where(np.arange(12) % 2, 1, -1)
ON_X = {
    **{
        name: lambda X, make=make: make(8).fit(X, X[:, 0] * 0 + SIGNS)
        for name, make in SELECTORS.items()
    },
    **{
        type(model).__name__: lambda X, model=model: model.fit(X, SIGNS)
        for model in (
            RLSClassifier(),
            DualProjectionClassifier(),
            DualProjectionRidge(),
            SparsePCRegressor(2),
            SupportVectorSelector(),
            LPSVMClassifier(),
            SCADSVMClassifier(),
            RiskRFE(),
        )
    },
    "row_space": row_space,
    "leverage_scores": leverage_scores,
    "enclosing_ball": enclosing_ball,
    "svm_margin": lambda X: svm_margin(X, SIGNS),
    "soft margin": lambda X: svm_margin(X, SIGNS, C=1.0),
    "pivoted_qr": lambda X: pivoted_qr(X, 2),
    "strong_rrqr": lambda X: strong_rrqr(X, 2),
    "best_rank_k_in_span": lambda X: best_rank_k_in_span(X, SIGNS, 1),
    "data_sandwich": lambda X: data_sandwich(X, X),
    "linear kernel": LinearKernel(),
    "RBF kernel": RBFKernel(),
}
ON_Y = {
    "DSF": lambda y: DSFSelector(8, rule="target").fit(X, y),
    "SparsePCRegressor": lambda y: SparsePCRegressor(2).fit(X, y),
    "DualProjectionRidge": lambda y: DualProjectionRidge().fit(X, y),
    "best_rank_k_in_span": lambda y: best_rank_k_in_span(X, y, 1),
    "ridge_risk": lambda y: ridge_risk(X @ X.T, y, 1.0, 1.0),
    "prediction_bound": lambda y: prediction_bound(
        certify(
            row_space(X),
            largest_leverages(X.T @ np.linalg.inv(np.linalg.cholesky(X @ X.T)).T, 15),
        ),
        X,
        y,
        1.0,
        X,
    ),
    "regression": lambda y: RegressionCertificate.of(
        DSFSelector(8).fit(X).certificate_, y
    ),
}
too_far = pytest.mark.parametrize("size", [1e-310, 1e-250, 1e-152, 1e152, 1e250, 1e300])


@too_far
@pytest.mark.parametrize("name", ON_X)
def test_data_out_of_range_are_refused(name, size):
    with refused(
        "out of range: its largest entry in size is",
        "between 1e-150 and 1e+150",
        "Rescale: divide",
    ):
        ON_X[name](X / np.abs(X).max() * size)


@too_far
@pytest.mark.parametrize("name", ON_Y)
def test_targets_out_of_range_are_refused(name, size):
    with refused(
        "out of range: its largest entry in size is",
        "between 1e-150 and 1e+150",
        "Rescale: divide",
    ):
        ON_Y[name](SIGNS * size)


def test_new_samples_may_be_next_to_nothing():
    """One sample whose features have all underflown is no reason to stop a machine that
    works.
    """
    tiny = 1e-200 * X[:1]
    assert np.all(BSSSelector(8, rank=4).fit(X).transform(tiny) < 1e-199)
    for model in (DualProjectionRidge(), RLSClassifier(), SparsePCRegressor(2)):
        assert np.all(np.isfinite(model.fit(X, SIGNS).predict(tiny)))


def test_slack_that_leaves_no_room_for_the_penalty_is_refused():
    for model in (LPSVMClassifier(), SCADSVMClassifier()):
        with refused("Slack at a price of", "rescale X"):
            model.fit(1e20 * X[:, :2], SIGNS)


def test_as_few_absolute_weights_whatever_the_price_of_slack():
    """Where no slack is needed, more of its price changes nothing."""
    expected = LPSVMClassifier(C=1e3).fit(X, SIGNS)
    for C in (1e6, 1e8, 1e13, 1e100):
        found = LPSVMClassifier(C=C).fit(X, SIGNS)
        assert np.abs(found.coef_).sum() == pytest.approx(
            np.abs(expected.coef_).sum(), rel=1e-6
        )
        assert found.dual_gap_ < 1e-9
