"""Part six: elimination by the risk against refitting everything, against Guyon's rule,
and in closed form.
"""

import functools
import time
import tracemalloc

import numpy as np
from rows import Row, nothing, timed
from sklearn.feature_selection import RFE
from sklearn.linear_model import Ridge
from sklearn.svm import SVC

from fsel_book import RiskRFE
from fsel_book.elimination import guyon_rfe, risk_rfe, squared_linear_path
from fsel_book.kernel_machines import EmpiricalRisk
from fsel_book.kernels import (
    LinearKernel,
    MismatchFeatures,
    RBFKernel,
    RunningSums,
    removals,
)
from fsel_book.loaders import load_dataset

title = "Part six: elimination by the risk"

# ---------------------------------------------------------------- data

uniform = "uniform, linear rule"
gaussian = "Gaussian"
expressed = "ten factors and noise"
independent = "independent"
mailed = "spambase"
crossed = "Gaussian, a product of two features and a third"


def signs(n, d):
    """Features uniform in [-1, 1], labels by a linear rule in three of them, and the
    width that "scale" gives.
    """
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n, d))
    return (
        X,
        np.sign(X[:, :3] @ rng.choice([-1.0, -0.5, 0.5, 1.0], 3)),
        RBFKernel(1 / (d * X.var())),
    )


def products(n, d):
    """Gaussian features, and labels by a product of two of them and a third, with noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    noise = 0.3 * rng.standard_normal(n)
    return X, np.where(X[:, 0] * X[:, 1] + X[:, 2] + noise > 0, 1, -1)


def numbers(n, d):
    """Features and a target that depends on a few of them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, X[:, : min(20, d)].sum(axis=1) + rng.standard_normal(n)


def genes(data, n, d):
    """Standardised features, of ten common factors and noise or independent, and labels
    by twenty of them.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    if data == expressed:
        X += rng.standard_normal((n, 10)) @ rng.standard_normal((10, d))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, np.sign(X[:, :20].sum(axis=1) + rng.standard_normal(n))


def messages(n, d):
    """The first `n` e-mails of spambase, from the folder that FSEL_BOOK_DATA names;
    made-up ones at a toy size.
    """
    if n < 1000:
        return signs(n, d)[:2]
    spam = load_dataset("spambase")
    order = np.random.default_rng(0).permutation(len(spam.target))[:n]
    return spam.data[order], spam.target[order]


def proteins(n, length):
    """Sequences of the twenty amino acids, as frequent as in nature, and related: each
    a copy with changes.
    """
    rng = np.random.default_rng(0)
    letters = np.array(list("ACDEFGHIKLMNPQRSTVWY"))
    share = np.array(
        [
            8.3,
            1.4,
            5.5,
            6.7,
            3.9,
            7.1,
            2.3,
            5.9,
            5.8,
            9.7,
            2.4,
            4.1,
            4.7,
            3.9,
            5.5,
            6.6,
            5.3,
            6.9,
            1.1,
            2.9,
        ]
    )
    parents = rng.choice(20, (max(1, n // 20), length), p=share / share.sum())
    family = parents[rng.integers(len(parents), size=n)]
    changed = rng.random((n, length)) < 0.3
    return [
        "".join(row)
        for row in letters[
            np.where(
                changed, rng.choice(20, (n, length), p=share / share.sum()), family
            )
        ]
    ]


# ---------------------------------------------------------------- what is measured


def refit_everything(X, y, kernel, C):
    """Every candidate at every step by SVC on a precomputed kernel, the kernels by
    removal: the order.
    """
    sums = RunningSums(kernel, X)
    out = np.empty((1, len(X), len(X)))
    order = []
    while len(sums.left) > 1:
        values = []
        for j in sums.left:
            K = removals(kernel, sums.X, sums.S, [j], out=out)[0]
            machine = SVC(kernel="precomputed", C=C).fit(K, y)
            v = machine.dual_coef_[0]
            rows = machine.support_
            values.append(np.abs(v).sum() - v @ K[np.ix_(rows, rows)] @ v / 2)
        order.append(sums.left[int(np.argmin(values))])
        sums.remove(order[-1])
    return order


def refit_plainly(X, y, kernel, C):
    """Every candidate at every step by SVC on the columns that stay, as one would write
    it: the order.
    """
    left = list(range(X.shape[1]))
    order = []
    while len(left) > 1:
        values = []
        for j in left:
            A = X[:, [i for i in left if i != j]]
            machine = SVC(kernel="rbf", gamma=kernel.gamma, C=C).fit(A, y)
            v = machine.dual_coef_[0]
            f = machine.decision_function(A[machine.support_]) - machine.intercept_
            values.append(np.abs(v).sum() - v @ f / 2)
        order.append(left.pop(int(np.argmin(values))))
    return order


def against_refitting(data, n, d, refit=refit_everything):
    X, y, kernel = signs(n, d)

    def same_order(ours, other):
        assert ours.order == other

    ours = timed(lambda: risk_rfe(X, [EmpiricalRisk("hinge", y, 1.0)], kernel))
    return ours, timed(lambda: refit(X, y, kernel, 1.0)), same_order


def linear_against_refitting(data, n, d):
    X, y, _ = signs(n, d)
    ours = timed(lambda: risk_rfe(X, [EmpiricalRisk("hinge", y, 1.0)], LinearKernel()))
    return ours, timed(lambda: refit_everything(X, y, LinearKernel(), 1.0)), nothing


def against_guyon(data, n, d):
    X, y, kernel = signs(n, d)
    ours = timed(lambda: risk_rfe(X, [EmpiricalRisk("hinge", y, 1.0)], kernel))
    return (
        ours,
        timed(lambda: guyon_rfe(X, [EmpiricalRisk("hinge", y, 1.0)], kernel)),
        nothing,
    )


def against_rfe_to_one(data, n, d):
    """One feature at a time, down to one."""
    X, y = genes(data, n, max(d, 20))
    X = X[:, :d]
    return (
        timed(lambda: RiskRFE(1, kernel="linear").fit(X, y)),
        timed(lambda: RFE(SVC(kernel="linear"), n_features_to_select=1).fit(X, y)),
        nothing,
    )


def against_rfe(data, n, d):
    X, y = genes(data, n, d)
    ours = RiskRFE(min(50, d // 2), kernel="linear", step=0.1)
    other = RFE(SVC(kernel="linear"), n_features_to_select=min(50, d // 2), step=0.1)
    return timed(lambda: ours.fit(X, y)), timed(lambda: other.fit(X, y)), nothing


def by_default(data, n, d):
    X, y = messages(n, d)
    return timed(lambda: RiskRFE().fit(X, y)), None, nothing


def memory(data, n, d):
    X, y = messages(n, d)

    def peak(threads):
        tracemalloc.start()
        RiskRFE().fit(X, y)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most / 2**20, None

    return peak, None, nothing


def over_landmarks():
    return RiskRFE(3, loss="log_loss", n_landmarks=100, random_state=0)


def landmarks_beside_all(data, n, d):
    X, y = products(n, d)
    whole = RiskRFE(3, loss="log_loss")

    def check(ours, other):
        assert np.array_equal(ours.support_, other.support_)
        least, most = ours.objective_bounds_
        assert least <= other.objective_path_[-1] * (1 + 1e-8) <= most * (1 + 2e-8)

    return (
        timed(lambda: over_landmarks().fit(X, y)),
        timed(lambda: whole.fit(X, y)),
        check,
    )


def landmarks_alone(data, n, d):
    X, y = products(n, d)
    return timed(lambda: over_landmarks().fit(X, y)), None, nothing


def memory_of_landmarks(data, n, d):
    X, y = products(n, d)

    def peak(threads):
        tracemalloc.start()
        over_landmarks().fit(X, y)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most / 2**20, None

    return peak, None, nothing


def closed_form(data, n, d):
    X, y = numbers(n, d)

    def one_fit_and_one_inverse():
        Ridge(alpha=0.5, fit_intercept=False).fit(X, y)
        return np.linalg.inv(X.T @ X + 0.5 * np.eye(d))

    ours = timed(
        lambda: squared_linear_path(
            X, EmpiricalRisk("squared_error", y, 1.0), intercept=False
        )
    )
    return ours, timed(one_fit_and_one_inverse), nothing


def closed_form_against_refitting(data, n, d):
    X, y = numbers(n, d)

    def a_few_fits(threads):
        start = time.perf_counter()
        fits = 3
        for j in range(fits):
            Ridge(alpha=0.5, fit_intercept=False).fit(np.delete(X, j, axis=1), y)
        candidates = d * (d + 1) // 2 - 1
        half = 0.5  # half of the features are left on average
        return (time.perf_counter() - start) / fits * candidates * half, None

    risk = EmpiricalRisk("squared_error", y, 1.0)
    return (
        timed(lambda: squared_linear_path(X, risk, intercept=False)),
        a_few_fits,
        nothing,
    )


def mismatch(data, n, length):
    sequences = proteins(n, length)

    def kernel():
        features = MismatchFeatures(5, 1).fit_transform(sequences)
        return features @ features.T

    return timed(kernel), None, nothing


# ---------------------------------------------------------------- the rows

ours = "`risk_rfe`, hinge loss, Gaussian kernel, C = 1"
refitted = "`SVC(kernel='precomputed')` for every candidate at every step"
order = "Kernels by removal on both sides; the order of elimination must be the same."
rows = [
    Row(
        "rbf-50",
        ours,
        refitted,
        order,
        against_refitting,
        uniform,
        dict(n=400, d=50),
        dict(n=40, d=5),
        15,
        prediction="10: three fits a step",
        threads=(1,),
    ),
    Row(
        "rbf-50-plain",
        ours,
        "`SVC(kernel='rbf')` for every candidate at every step",
        "The other fits each candidate to the columns that stay; the order of "
        "elimination must be the same.",
        functools.partial(against_refitting, refit=refit_plainly),
        uniform,
        dict(n=400, d=50),
        dict(n=40, d=5),
        15,
        threads=(1,),
    ),
    Row(
        "rbf-200",
        ours,
        refitted,
        order,
        against_refitting,
        uniform,
        dict(n=400, d=200),
        dict(n=40, d=6),
        10,
        prediction="30",
        repeats=1,
        threads=(1,),
    ),
    Row(
        "linear-50",
        "`risk_rfe`, hinge loss, linear kernel, C = 1",
        refitted,
        "Kernels by removal on both sides. The order is not compared: on a kernel of "
        "low rank libsvm's tolerance "
        "of 1e-3 does not tell the candidates apart.",
        linear_against_refitting,
        uniform,
        dict(n=400, d=50),
        dict(n=40, d=5),
        None,
        prediction="10",
        threads=(1,),
    ),
    Row(
        "guyon",
        ours,
        "`guyon_rfe`, the same",
        "One fit a step there, and the same products.",
        against_guyon,
        uniform,
        dict(n=400, d=50),
        dict(n=40, d=5),
        3,
        at_least=False,
        prediction="2 to 3",
        threads=(1,),
    ),
    *(
        Row(
            f"rfe-{n}",
            "`RiskRFE(50, kernel='linear', step=0.1)`",
            "`RFE(SVC(kernel='linear'), n_features_to_select=50, step=0.1)`",
            "The features need not be the same: the other goes by squared weights.",
            against_rfe,
            data,
            dict(n=n, d=d),
            dict(n=20, d=30),
            5,
            at_least=False,
        )
        for n, d, data in (
            (63, 2308, expressed),
            (171, 5748, expressed),
            (1000, 1000, independent),
        )
    ),
    *(
        Row(
            f"rfe-{n}-{d}",
            "`RiskRFE(1, kernel='linear')`",
            "`RFE(SVC(kernel='linear'), n_features_to_select=1)`",
            "Many samples of few features, one feature at a time, each for certain the "
            "one without which the objective rises least; the other goes by squared "
            "weights. The kernel matrix is not formed.",
            against_rfe_to_one,
            independent,
            dict(n=n, d=d),
            dict(n=60, d=5),
            3,
            at_least=False,
            prediction="1 to 2",
            threads=(1,),
        )
        for n, d in ((2000, 20), (5000, 20), (2000, 60))
    ),
    Row(
        "default",
        "`RiskRFE().fit`: Gaussian kernel, one feature at a time, down to half",
        None,
        "The e-mails of spambase as they are, 4,600 of them.",
        by_default,
        mailed,
        dict(n=4600, d=57),
        dict(n=40, d=8),
        60,
        at_least=False,
        threads=(1,),
    ),
    Row(
        "default-memory",
        "`RiskRFE().fit`, the most memory that its arrays take at once",
        None,
        "The same fit, watched by tracemalloc. A matrix of all samples takes 161 MiB.",
        memory,
        mailed,
        dict(n=4600, d=57),
        dict(n=40, d=8),
        2048,
        at_least=False,
        unit="MiB",
        threads=(1,),
    ),
    Row(
        "landmarks-1500",
        "`RiskRFE(3, loss='log_loss', n_landmarks=100).fit`",
        "the same without landmarks",
        "Gaussian kernel, one feature at a time. The run stops if other features stay, or "
        "the objective of all samples is not between the bounds.",
        landmarks_beside_all,
        crossed,
        dict(n=1500, d=20),
        dict(n=120, d=6),
        5,
        prediction="15, by the number of columns",
        repeats=3,
        threads=(1,),
    ),
    Row(
        "landmarks-20000",
        "`RiskRFE(3, loss='log_loss', n_landmarks=100).fit`",
        None,
        "Gaussian kernel, one feature at a time. A kernel matrix would take 3 GiB.",
        landmarks_alone,
        crossed,
        dict(n=20_000, d=50),
        dict(n=120, d=6),
        300,
        at_least=False,
        prediction="60",
        repeats=3,
        threads=(1,),
    ),
    Row(
        "landmarks-memory",
        "`RiskRFE(3, loss='log_loss', n_landmarks=100).fit`, the most memory that its "
        "arrays take at once",
        None,
        "The same fit, watched by tracemalloc.",
        memory_of_landmarks,
        crossed,
        dict(n=20_000, d=50),
        dict(n=120, d=6),
        2048,
        at_least=False,
        unit="MiB",
        repeats=1,
        threads=(1,),
    ),
    Row(
        "closed-form",
        "`squared_linear_path`, down to one feature",
        "`Ridge.fit` once and one inverse of size d",
        "Square loss, linear kernel.",
        closed_form,
        gaussian,
        dict(n=500, d=2000),
        dict(n=20, d=30),
        5,
        at_least=False,
        prediction="1",
    ),
    Row(
        "closed-form-refits",
        "`squared_linear_path`, down to one feature",
        "`Ridge.fit` for every candidate",
        "Seconds of the other side are three fits, times the number of candidates, "
        "times a half, since on average half "
        "of the features are left.",
        closed_form_against_refitting,
        gaussian,
        dict(n=500, d=2000),
        dict(n=20, d=30),
        1000,
        prediction="40,000",
        repeats=1,
        threads=(1,),
    ),
    Row(
        "mismatch",
        "`MismatchFeatures(5, 1)` and the kernel matrix",
        None,
        "Made sequences of twenty letters in families.",
        mismatch,
        "",
        dict(n=400, length=150),
        dict(n=6, length=12),
        5,
        at_least=False,
        prediction="1",
    ),
]
