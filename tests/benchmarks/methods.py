"""What the records compare: the selectors and machines of the book, and what a user
would take instead.

The imports of other packages stand in the functions that need them, so that a method
whose package is not installed can be left out.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from machine import is_installed
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
    f_classif,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.svm import LinearSVC

from fsel_book import (
    BSSSelector,
    DSFSelector,
    DualProjectionClassifier,
    LeverageSelector,
    LPSVMClassifier,
    RiskRFE,
    RLSClassifier,
    RRQRSelector,
    RSFSelector,
    SCADSVMClassifier,
    WeightScores,
)


def svm():
    return LinearSVC(random_state=0)


# ---------------------------------------------------------------- selectors


@dataclass(frozen=True)
class Selector:
    """`select(A, y, r)` fits and returns what was fitted; `chosen(fitted)` says which
    features that are.

    `estimate(A, y, r)`, where there is one, says about how many seconds `select` takes.
    """

    name: str
    select: Callable
    labels: bool = False
    package: str = "fsel_book"
    dense: bool = False
    chosen: Callable = lambda fitted: fitted.get_support(indices=True)
    estimate: Callable | None = None

    @property
    def certificate(self):
        """Whether the method comes with a promise that its certificate is held against."""
        return self.package == "fsel_book" and self.name != "risk-RFE"


def forward(r):
    return SequentialFeatureSelector(svm(), n_features_to_select=r)


def forward_seconds(A, y, r, tries=3):
    """Of five folds for each candidate at each step, from a few candidates at the
    first, a middle and the last step.
    """
    rng = np.random.default_rng(0)
    d = A.shape[1]
    sizes = np.unique([1, (r + 1) // 2, r])
    each = []
    for size in sizes:
        start = time.perf_counter()
        for _ in range(tries):
            cross_val_score(svm(), A[:, rng.choice(d, size, replace=False)], y, cv=5)
        each.append((time.perf_counter() - start) / tries)
    steps = np.arange(1, r + 1)
    return float(np.sum(np.interp(steps, sizes, each) * (d - steps + 1)))


def pivoted_qr(A, y, r):
    return scipy.linalg.qr(A, mode="r", pivoting=True)[1][:r]


def interpolative(A, y, r):
    import scipy.linalg.interpolative as interpolative

    return interpolative.interp_decomp(A, r, rng=np.random.default_rng(0))[0][:r]


def cur(A, y, r):
    from skmatter.feature_selection import CUR

    return CUR(n_to_select=r).fit(A)


def farthest_points(A, y, r):
    from skmatter.feature_selection import FPS

    return FPS(n_to_select=r).fit(A)


def fast_can(A, y, r):
    from fastcan import FastCan

    return FastCan(r, verbose=0).fit(A, y)


class RandomChoice:
    """Another choice each time, the same in each run."""

    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __call__(self, A, y, r):
        return self.rng.choice(A.shape[1], r, replace=False)


def rank_of(r):
    """The rank that a selector certifies by default where it has no ridge."""
    return max(1, min(10, r // 2), min(100, r // 4))


def ours(name, make, labels=False):
    return Selector(name, lambda A, y, r: make(r).fit(A, y), labels)


def sklearns(name, make, **options):
    return Selector(
        name, lambda A, y, r: make(r).fit(A, y), True, "scikit-learn", **options
    )


def as_list(name, select, package, dense=True):
    return Selector(name, select, False, package, dense, chosen=np.asarray)


selectors = [
    ours("BSS", lambda r: BSSSelector(r, rule="largest-norm")),
    ours("BSS, best", lambda r: BSSSelector(r, rank=rank_of(r), rule="best")),
    ours(
        "BSS, labels",
        lambda r: BSSSelector(r, rank=rank_of(r), score_func=WeightScores(svm())),
        True,
    ),
    ours("largest leverages", lambda r: LeverageSelector(r, rule="largest")),
    ours("leverage sampling", lambda r: LeverageSelector(r, random_state=0)),
    ours("DSF", lambda r: DSFSelector(r)),
    ours("RSF", lambda r: RSFSelector(r, random_state=0)),
    ours("strong RRQR", lambda r: RRQRSelector(r)),
    ours("risk-RFE", lambda r: RiskRFE(r, kernel="linear", step=0.1), True),
    sklearns("RFE", lambda r: RFE(svm(), n_features_to_select=r, step=0.1)),
    sklearns(
        "L1",
        lambda r: SelectFromModel(
            LinearSVC(penalty="l1", dual=False, random_state=0), max_features=r
        ),
    ),
    sklearns("F", lambda r: SelectKBest(f_classif, k=r)),
    sklearns("forward", forward, estimate=forward_seconds),
    Selector("CUR", cur, False, "skmatter", True),
    Selector("FPS", farthest_points, False, "skmatter", True),
    Selector("FastCan", fast_can, True, "fastcan", True),
    as_list("pivoted QR", pivoted_qr, "scipy"),
    as_list("ID", interpolative, "scipy"),
    as_list("random", RandomChoice(), "numpy", dense=False),
]

# ---------------------------------------------------------------- linear machines for
# wide data


@dataclass(frozen=True)
class Machine:
    """`make(strength, n)` is the machine for `n` samples; `strengths` go from the
    strongest penalty to the weakest.

    `options` go to its `fit`.
    """

    name: str
    make: Callable
    strengths: tuple
    package: str = "fsel_book"
    options: dict = field(default_factory=dict)


powers = (0.01, 0.1, 1.0, 10.0, 100.0)


def celer_logistic(C, n):
    from celer import LogisticRegression

    return LogisticRegression(C=C)


def skglm_logistic(C, n):
    from skglm import SparseLogisticRegression

    return SparseLogisticRegression(alpha=1 / (n * C))


def abess_logistic(size, n):
    from abess import LogisticRegression

    return LogisticRegression(support_size=min(size, n // 2))


def l1_logistic(C, n):
    return LogisticRegression(C=C, l1_ratio=1, solver="liblinear", random_state=0)


machines = [
    Machine("LPSVM", lambda C, n: LPSVMClassifier(C=C), powers),
    Machine(
        "SCAD-SVM",
        lambda alpha, n: SCADSVMClassifier(alpha=alpha),
        (0.1, 0.03, 0.01, 0.003, 0.001),
    ),
    Machine(
        "dual projection", lambda C, n: DualProjectionClassifier(alpha=1 / C), powers
    ),
    Machine("RLSC", lambda C, n: RLSClassifier(alpha=1 / C), powers),
    Machine(
        "liblinear", lambda C, n: LinearSVC(C=C, random_state=0), powers, "scikit-learn"
    ),
    Machine(
        "liblinear, L1",
        lambda C, n: LinearSVC(C=C, penalty="l1", dual=False, random_state=0),
        powers,
        "scikit-learn",
    ),
    Machine("liblinear, L1 logistic", l1_logistic, powers, "scikit-learn"),
    Machine("celer", celer_logistic, powers, "celer"),
    Machine("skglm", skglm_logistic, powers, "skglm"),
    # It refuses data with a constant feature, as folds of these have, unless it leaves
    # the scale alone.
    Machine(
        "abess", abess_logistic, (2, 5, 10, 20, 40), "abess", dict(is_normal=False)
    ),
]

# ---------------------------------------------------------------- selectors whose cost
# is fitted


@dataclass(frozen=True)
class Cost:
    """A fit whose time is taken while one of `n`, `d` and `r` grows.

    `first` has for each axis the sizes that it starts from, and the number of steps;
    two steps double the size. `stated` has the exponent that the operations lead to, or
    the least and the largest.
    """

    name: str
    fit: Callable
    first: dict
    stated: dict

    def size(self, axis, step, divisor=1):
        """`n`, `d` and `r` at a step; `divisor` makes toys of them."""
        size = dict(zip("ndr", self.first[axis], strict=False))
        size[axis] = round(size[axis] * 2 ** (step / 2))
        if self.name == "BSS, full rank" and axis == "n":
            size["r"] = 2 * size["n"]
        return {name: max(value // divisor, 4) for name, value in size.items()}


# A rank of r / 4, of which the leading directions are found by sketches; a rank of n.
few = {"n": (600, 4000, 100, 7), "d": (600, 2000, 100, 10), "r": (2000, 4000, 40, 9)}
full = {"n": (50, 4000, 100, 9), "d": (200, 2000, 400, 11), "r": (100, 4000, 125, 9)}
costs = [
    Cost(
        "BSS",
        lambda X, y, r: BSSSelector(r, rank=r // 4, rule="largest-norm").fit(X),
        few,
        {"n": "1", "d": "1", "r": "1 to 10/3"},
    ),
    Cost(
        "BSS, best",
        lambda X, y, r: BSSSelector(r, rank=r // 4, rule="best").fit(X),
        few,
        {"n": "1", "d": "1", "r": "1 to 4"},
    ),
    Cost(
        "BSS, full rank",
        lambda X, y, r: BSSSelector(r, rank="full", rule="largest-norm").fit(X),
        full,
        {"n": "2 to 10/3", "d": "1", "r": "1"},
    ),
    Cost(
        "largest leverages",
        lambda X, y, r: LeverageSelector(r, rank=r // 4, rule="largest").fit(X),
        few,
        {"n": "1", "d": "1", "r": "1 to 2"},
    ),
    Cost(
        "DSF",
        lambda X, y, r: DSFSelector(r, rank=r // 4).fit(X),
        few,
        {"n": "1", "d": "1", "r": "1 to 4"},
    ),
    Cost(
        "strong RRQR",
        lambda X, y, r: RRQRSelector(r, rank=r // 4).fit(X),
        few,
        {"n": "1", "d": "1", "r": "1 to 2"},
    ),
    Cost(
        "risk-RFE",
        lambda X, y, r: RiskRFE(r, kernel="linear", step=0.1).fit(X, y),
        {"n": (50, 2000, 100, 8), "d": (100, 1000, 100, 10), "r": (200, 4000, 40, 9)},
        {"n": "2 to 3", "d": "1", "r": "0"},
    ),
    Cost(
        "pivoted QR",
        pivoted_qr,
        {"n": (100, 4000, 50, 7), "d": (200, 2000, 100, 10)},
        {"n": "2", "d": "1"},
    ),
]


def missing(things):
    """Those whose package is not installed, by package."""
    found = {}
    for thing in things:
        if not is_installed(thing.package):
            found.setdefault(thing.package, []).append(thing.name)
    return found


def as_dense(A):
    return A.toarray() if sp.issparse(A) else A
