"""Part four: supervised selection against recursive elimination, LPSVM, the enclosing
ball.
"""

import warnings

import numpy as np
import scipy.sparse as sp
from rows import Row, timed
from sklearn.feature_selection import RFE
from sklearn.svm import SVC, LinearSVC

from fsel_book import (
    BSSSelector,
    LPSVMClassifier,
    SupportVectorSelector,
    enclosing_ball,
    svm_margin,
)

title = "Part four: linear support vector machines"

# ---------------------------------------------------------------- data

gauss = "Gaussian"
noisy = "low rank and noise"
text = "word counts, dense"
sparse_text = "word counts, sparse"
overlapping = "Gaussian, labels mostly noise"


def documents(n, d, length=250):
    """Counts of words in two kinds of documents: frequencies by Zipf's law, tilted one
    way or the other.
    """
    rng = np.random.default_rng(0)
    common = 1 / (np.arange(d) + 10.0)
    tilt = np.exp(0.5 * rng.standard_normal(d))
    frequencies = [p / p.sum() for p in (common * tilt, common / tilt)]
    lengths = rng.lognormal(np.log(length), 0.6, n).astype(int) + 1
    return sp.csr_array(
        np.array(
            [
                rng.multinomial(length, frequencies[i % 2])
                for i, length in enumerate(lengths)
            ],
            float,
        )
    )


def matrix(kind, n, d):
    """Features and labels of two classes."""
    y = np.arange(n) % 2
    if kind in (text, sparse_text):
        X = documents(n, d)
        return (X.toarray() if kind == text else X), y
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    if kind == overlapping:
        return X, (X[:, :10].sum(axis=1) + 3 * rng.standard_normal(n) > 0).astype(int)
    if kind == noisy:
        X += rng.standard_normal((n, 50)) @ rng.standard_normal((50, d))
    X[:, :50] += (y - 0.5)[:, None]
    return X, y


# ---------------------------------------------------------------- what is measured


def against_elimination(machine):
    def prepare(kind, n, d, r):
        X, y = matrix(kind, n, d)

        def as_many(ours, other):
            assert (
                ours.selector_.n_draws_ == other.n_features_ == r
                and ours.certificate_.holds
            )

        other = timed(lambda: RFE(machine, n_features_to_select=r, step=0.1).fit(X, y))
        return (
            timed(lambda: SupportVectorSelector(BSSSelector(r, rank="full")).fit(X, y)),
            other,
            as_many,
        )

    return prepare


def lpsvm(kind, n, d):
    X, y = matrix(kind, n, d)

    def solved(machine, other):
        assert machine.dual_gap_ < 1e-8

    return timed(lambda: LPSVMClassifier().fit(X, y)), None, solved


def against_linear_svc(kind, n, d):
    X, y = matrix(kind, n, d)

    def fit_other():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # not converged after 1,000 passes
            return LinearSVC(penalty="l1", dual=False).fit(X, y)

    def solved(machine, other):
        assert machine.dual_gap_ < 1e-8

    return timed(lambda: LPSVMClassifier().fit(X, y)), timed(fit_other), solved


def ball(kind, n, d):
    X, _ = matrix(kind, n, d)

    def to_tolerance(found, other):
        assert found.gap <= 1e-6

    return timed(lambda: enclosing_ball(X, tol=1e-6)), None, to_tolerance


def margin(kind, n, d):
    X, y = matrix(kind, n, d)

    def to_tolerance(found, other):
        assert found.separable and found.gap <= 1e-6

    return timed(lambda: svm_margin(X, y, tol=1e-6)), None, to_tolerance


# ---------------------------------------------------------------- the rows

fit = dict(n=180, d=20_000, r=400)
few = dict(n=40, d=500, r=60)
how = (
    "Ours finds the support vectors, chooses and certifies; the other drops a tenth "
    "of the features at a time."
)


def elimination(name, kind, machine, target, prediction="", repeats=5):
    return Row(
        name,
        '`SupportVectorSelector(BSSSelector(r, rank="full"))`',
        f"`RFE({machine!r}, step=0.1)` of scikit-learn",
        how,
        against_elimination(machine),
        kind,
        fit,
        few,
        target,
        prediction=prediction,
        repeats=repeats,
    )


rows = [
    elimination("supervised-text", text, SVC(kernel="linear"), 5, "9"),
    elimination(
        "supervised-gauss",
        gauss,
        SVC(kernel="linear"),
        5,
        "3 to 4: every sample is a support vector",
    ),
    elimination("supervised-noisy", noisy, SVC(kernel="linear"), 5, "4"),
    elimination("supervised-liblinear", text, LinearSVC(), None, "1.5"),
    elimination("supervised-sparse", sparse_text, SVC(kernel="linear"), None, "1.5"),
    elimination(
        "supervised-sparse-liblinear",
        sparse_text,
        LinearSVC(),
        None,
        "0.4: its products are sparse",
    ),
    Row(
        "lpsvm",
        "`LPSVMClassifier.fit`",
        None,
        "One linear program, to a duality gap below 1e-8.",
        lpsvm,
        sparse_text,
        dict(n=180, d=20_000),
        dict(n=40, d=500),
        5,
        at_least=False,
        prediction="0.1 s",
    ),
    *[
        Row(
            name,
            "`LPSVMClassifier.fit`",
            "`LinearSVC(penalty='l1', dual=False)` of scikit-learn, whose hinge is "
            "squared",
            "Ours to a duality gap below 1e-8; the other as far as its 1,000 passes go.",
            against_linear_svc,
            kind,
            dict(n=1000, d=1000),
            dict(n=40, d=60),
            5,
            at_least=False,
            prediction=prediction,
            repeats=5,
        )
        for name, kind, prediction in (
            ("lpsvm-gauss", gauss, "2"),
            ("lpsvm-noisy", noisy, "0.6"),
            ("lpsvm-overlapping", overlapping, "0.8"),
        )
    ],
    Row(
        "ball",
        "`enclosing_ball`, squared radius to 1e-6",
        None,
        "The gap that it reports is checked.",
        ball,
        sparse_text,
        dict(n=2000, d=20_000),
        dict(n=100, d=500),
        2,
        at_least=False,
        prediction="0.15 s",
    ),
    Row(
        "margin",
        "`svm_margin`, squared margin to 1e-6",
        None,
        "The gap that it reports is checked.",
        margin,
        sparse_text,
        dict(n=2000, d=20_000),
        dict(n=100, d=500),
        None,
        at_least=False,
    ),
]
