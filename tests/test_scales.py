"""Numbers at the edge: structures, scales and containers by a seeded generator, against the same data at unit scale.

A power of two rounds nothing, so what does not depend on the scale must be the same for `X` and `2**k X`, and what does
must be its power. Beyond the range there is an error that says so.
"""

import warnings

import numpy as np
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from fsel_book import (
    BSSSelector,
    DSFSelector,
    DualProjectionClassifier,
    DualProjectionRidge,
    LeverageSelector,
    LPSVMClassifier,
    RandomSelector,
    RLSClassifier,
    RRQRSelector,
    RSFSelector,
    SparsePCRegressor,
    best_rank_k_in_span,
    enclosing_ball,
    pivoted_qr,
    ridge_risk,
    row_space,
    strong_rrqr,
    svm_margin,
)

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
    return rank_deficient(rng, n, d) + 10.0 ** rng.uniform(-14, -8) * rng.standard_normal((n, d))


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
EXPONENTS = {"float64": (-497, 497), "float32": (-85, 100)}  # the largest entry is between 1 and 2 at exponent 0


class Case:
    """Data of the seed: `X` at the scale `2**exponent`, `unit` the same at scale 1, labels and targets."""

    def __init__(self, seed):
        rng = self.rng = np.random.default_rng(seed)
        n, d = int(rng.integers(4, 16)), int(rng.integers(3, 30))
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
        return f"{self.structure.__name__} {self.dense.shape} {self.container} * {self.scale:.0e}"


def dense(X):
    return X.toarray() if sp.issparse(X) else np.asarray(X)


# ---------------------------------------------------------------- what must not depend on the scale


def outcome(work, *args):
    """What `work` returns, or the words of its ValueError; any other error or warning of numbers is a failure."""
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
    found, expected = (np.asarray(dense(a), dtype=np.float64) for a in (found, expected))
    size = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
    assert_allclose(found / factor, expected, rtol=rtol, atol=atol * size)


SELECTORS = {
    "BSS": lambda r, **p: BSSSelector(r, **p),
    "BSS, best": lambda r, **p: BSSSelector(r, rule="best", **p),
    "BSS, sampled": lambda r, **p: BSSSelector(r, rule="sampled", random_state=0, **p),
    "BSS, sketch": lambda r, **p: BSSSelector(r, sketch_size=5, random_state=0, **p),
    "leverage": lambda r, **p: LeverageSelector(r, random_state=0, **p),
    "largest": lambda r, **p: LeverageSelector(r, sampling=False, **p),
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

            expected, found = outcome(fit, case.unit, case.y), outcome(fit, case.X, case.t_scale * case.y)
            if isinstance(expected, str):
                assert found == expected, (name, found, expected)
                continue
            assert not isinstance(found, str), (name, found)
            assert_array_equal(found.selected_, expected.selected_, err_msg=name)
            assert_array_equal(found.weights_, expected.weights_, err_msg=name)
            ours, theirs = found.certificate_, expected.certificate_
            assert_array_equal(ours.eigenvalues, theirs.eigenvalues)
            assert_array_equal(ours.eigenvalues_unscaled, theirs.eigenvalues_unscaled)
            assert (ours.energy, ours.rank, ours.holds, ours.accuracy) == (
                theirs.energy,
                theirs.rank,
                theirs.holds,
                theirs.accuracy,
            )
            assert np.all(np.isfinite(ours.eigenvalues)) and np.isfinite(ours.energy), name
            certain = ours.promise is None or ours.promise.confidence < 1
            assert ours.holds or certain, (name, str(ours))
            assert_array_equal(found.leverage_scores_, expected.leverage_scores_)
            if hasattr(ours, "sine"):
                assert_equal_up_to([ours.sine, ours.residual], [theirs.sine, theirs.residual], atol=1e-12)
                assert_equal_up_to(ours.singular_values, theirs.singular_values, case.scale)
                assert_equal_up_to(ours.residual_norm, theirs.residual_norm, case.scale)
                targets = [
                    c.regression(y, intercept)
                    for c, y in ((ours, case.t_scale * case.y), (theirs, case.y))
                    for intercept in (False, True)
                ]
                for mine, his in zip(targets[:2], targets[2:]):
                    assert_equal_up_to(list(vars(mine).values()), list(vars(his).values()), case.t_scale, 1e-6, 1e-9)


# ---------------------------------------------------------------- what is a power of the scale


def machine(model, X, y):
    model = model.fit(X, y)
    return [model.coef_, getattr(model, "intercept_", 0.0), model.predict(X)]


def kernel_matrix(X):
    X = dense(X).astype(np.float64)
    return X @ X.T


def regression(X, y, k):
    model = SparsePCRegressor(k, n_features_to_select=k + 1).fit(X, y)
    return [model.coef_, model.intercept_, model.predict(X), [model.certificate_.measured]]


# For data X and targets y: what is computed, and for each part of it the powers of the scales of X and of y.
WORK = {
    "singular values": (lambda X, y, s, t, c: [row_space(X).singular_values], [(1, 0)]),
    "pivoted QR": (lambda X, y, s, t, c: [pivoted_qr(X, 1).R, pivoted_qr(X, 1).permutation], [(1, 0), (0, 0)]),
    "strong RRQR": (lambda X, y, s, t, c: [strong_rrqr(X, 1).R, strong_rrqr(X, 1).permutation], [(1, 0), (0, 0)]),
    "regression": (lambda X, y, s, t, c: regression(X, y, 1), [(-1, 1), (0, 1), (0, 1), (0, 1)]),
    "in span": (lambda X, y, s, t, c: [best_rank_k_in_span(dense(X), y, 1)], [(0, 1)]),
    "ridge risk": (
        lambda X, y, s, t, c: list(vars(ridge_risk(kernel_matrix(X), y, t, 0.1 * s * s)).values())[1:],
        [(0, 2), (0, 2)],
    ),
    "RLSC": (lambda X, y, s, t, c: machine(RLSClassifier(0.1 * s * s), X, c.signs)[:1], [(-1, 0)]),
    "RLSC, lam=0": (lambda X, y, s, t, c: machine(RLSClassifier(0.0), X, c.signs)[:1], [(-1, 0)]),
    "classifier": (
        lambda X, y, s, t, c: machine(
            DualProjectionClassifier(alpha=float(s) ** 2, tol=1e-9, random_state=0), X, c.signs
        )[:2],
        [(-1, 0), (0, 0)],
    ),
    "ridge": (
        lambda X, y, s, t, c: machine(DualProjectionRidge(alpha=float(s) ** 2, tol=1e-9, random_state=0), X, y),
        [(-1, 1), (0, 1), (0, 1)],
    ),
    "LPSVM": (lambda X, y, s, t, c: machine(LPSVMClassifier(1 / s), X, c.signs)[:2], [(-1, 0), (0, 0)]),
    "soft margin": (
        lambda X, y, s, t, c: list(vars(svm_margin(X, c.signs, C=0.5 / s**2)).values())[:4],
        [(1, 0), (0, 0), (-1, 0), (0, 0)],
    ),
    "ball": (lambda X, y, s, t, c: list(vars(enclosing_ball(X)).values()), [(1, 0), (1, 0), (0, 0), (0, 0)]),
    "margin": (
        lambda X, y, s, t, c: list(vars(svm_margin(X, c.signs)).values()),
        [(1, 0), (0, 0), (-1, 0), (0, 0), (0, 0), (0, 0), (0, 0)],
    ),
}


def check_work(case, names=WORK):
    for name in names:
        work, powers = WORK[name]
        expected = outcome(work, case.unit, case.y, 1.0, 1.0, case)
        found = outcome(work, case.X, case.t_scale * case.y, case.scale, case.t_scale, case)
        if isinstance(expected, str):
            assert found == expected, (name, found, expected)
            continue
        assert not isinstance(found, str), (name, found)
        for i, (ours, theirs, (p, q)) in enumerate(zip(found, expected, powers)):
            if theirs is None:
                assert ours is None
                continue
            theirs, ours = (np.asarray(dense(a), dtype=np.float64) for a in (theirs, ours))
            factor_x, factor_t = case.scale**p, case.t_scale**q if q < 2 else case.t_scale
            if q == 2:
                ours = ours / case.t_scale
            rough = 1e-4 if case.container == "float32" else 1e-7
            size = np.abs(theirs[np.isfinite(theirs)]).max(initial=0.0)
            assert_allclose(ours / factor_x / factor_t, theirs, rtol=rough, atol=rough * size, err_msg=f"{name} {i}")
