"""Kernel methods that choose features, beside elimination by the risk: `python
tests/benchmarks/kernel_peers.py`.

The record `records/kernel_peers.csv` has a line for each set, number of features and
method. Of makers with a known answer, four draws for each split:

- share: the part of the relevant features among as many chosen ones, in percent.

Of real sets, whose rows are split as in `defaults.py`:

- error: of a support vector machine with the Gaussian kernel, its constants from a grid by
  three folds, on rows that the choice has not seen, in percent.

Of both:

- spread: the standard error of that mean;
- seconds: processor time of a choice.

No method is tuned: C = 10 and the width of scikit-learn for models, the median distance as
width for CCM at two ridges, a width of one standard deviation for HSIC-Lasso. The chapter
with case studies draws the record.
"""

import contextlib
import io
import time
from collections import defaultdict
from functools import cache, partial

import numpy as np
from defaults import two_parts
from kinds import kind_of, write_record
from machine import is_installed
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, SVR

from fsel_book import AdditiveKernelSelector
from fsel_book.datasets import (
    make_nested_cube,
    make_nested_square,
    make_nonlinear_regression,
)
from fsel_book.papers.kernel_peers import ccm, hsic_lasso
from fsel_book.risk_rfe import RiskRFE


def make_sign_of_product(n_samples, n_features, *, random_state):
    """Labels that no feature tells anything about by itself."""
    X = np.random.RandomState(random_state).uniform(-1, 1, (n_samples, n_features))
    return X, np.where(X[:, 0] * X[:, 1] > 0, 1, -1), np.arange(2)


# what makes them, samples, features, whether they have classes
makers = {
    "square": (make_nested_square, 100, 10, True),
    "cube": (make_nested_cube, 200, 50, True),
    "sign": (make_sign_of_product, 100, 10, True),
    "sign of 50": (make_sign_of_product, 200, 50, True),
    "sign of 100": (make_sign_of_product, 100, 100, True),
    "product": (make_nonlinear_regression, 100, 10, False),
}
# the numbers of features
real = {
    "vowel": (3, 5),
    "ionosphere": (5, 10),
    "spambase": (5, 15),
}
sets = [*makers, *real]
peers = ("pyHSICLasso",)
measures = "share error spread seconds".split()
columns = "kind data samples features r method package runs".split() + measures
C = 10
draws_of_split = 4


def hsic_lasso_of_peer(A, y, r, classes):
    from pyHSICLasso import HSICLasso

    with contextlib.redirect_stdout(io.StringIO()):
        model = HSICLasso()
        model.input(A, y)
        fit = model.classification if classes else model.regression
        # one block of all samples
        fit(r, B=0, M=1, n_jobs=1)
    return model.get_index()


def rfe_by_permutation(A, y, r, classes, seed):
    """A quarter of the features goes at a time: those whose permutation costs least."""
    rng = np.random.default_rng(seed)
    model = SVC if classes else SVR
    model = model(C=C, gamma=1 / (A.shape[1] * A.var()))
    left = np.arange(A.shape[1])
    while len(left) > r:
        fitted = model.fit(A[:, left], y)
        importances = permutation_importance(
            fitted, A[:, left], y, n_repeats=2, random_state=seed
        ).importances_mean
        n_next = max(r, min(len(left) - 1, int(0.75 * len(left))))
        # of equal ones, any: many cost nothing while the model remembers its samples
        order = np.lexsort((rng.random(len(left)), -importances))
        left = left[np.sort(order[:n_next])]
    return left


def elimination(A, y, r, classes):
    loss = "hinge" if classes else "epsilon_insensitive"
    return RiskRFE(r, C=C, loss=loss).fit(A, y).get_support(indices=True)


def methods(classes, seed):
    """For each method its package, and what chooses `r` features."""
    information = partial(
        mutual_info_classif if classes else mutual_info_regression, random_state=seed
    )

    def by_ccm(eps):
        def choose(A, y, r):
            Y = (y[:, None] == np.unique(y)).astype(float) if classes else y[:, None]
            return ccm(A, Y, r, eps)

        return choose

    def groups(score_func):
        return lambda A, y, r: (
            AdditiveKernelSelector(r, score_func=score_func).fit(A, y).selected_
        )

    found = {
        "risk-RFE": ("fsel_book", partial(elimination, classes=classes)),
        "RFE, permutation": (
            "scikit-learn",
            partial(rfe_by_permutation, classes=classes, seed=seed),
        ),
        "HSIC-Lasso": ("pyHSICLasso", partial(hsic_lasso_of_peer, classes=classes)),
        "HSIC-Lasso, literal": ("fsel_book", partial(hsic_lasso, classes=classes)),
        "CCM, 0.001": ("fsel_book", by_ccm(1e-3)),
        "CCM, 0.0001": ("fsel_book", by_ccm(1e-4)),
        "kernel groups": ("fsel_book", groups(None)),
        "kernel groups, information": ("fsel_book", groups(information)),
        "information": (
            "scikit-learn",
            lambda A, y, r: np.argsort(-information(A, y), kind="stable")[:r],
        ),
    }
    return {
        name: (package, choose)
        for name, (package, choose) in found.items()
        if is_installed(package)
    }


def judge(A, y, B, y_new):
    """The error of the common model on rows not seen, in percent."""
    scale = 1 / (A.shape[1] * A.var())
    grid = {"C": (1, 10, 100), "gamma": scale * np.array([0.25, 1, 4])}
    model = GridSearchCV(SVC(), grid, cv=3).fit(A, y)
    return 100 * np.mean(model.predict(B) != y_new)


def timed(choose, *arguments):
    start = time.process_time()
    chosen = choose(*arguments)
    return np.asarray(chosen), time.process_time() - start


def one_draw(data, seed):
    """A line for each method, of a set with a known answer."""
    make, n, d, classes = makers[data]
    A, y, relevant = make(n, d, random_state=seed)
    # no method is to gain by taking the first of equal ones
    places = np.random.default_rng(seed).permutation(d)
    A = A[:, places]
    relevant = np.flatnonzero(np.isin(places, relevant))
    r = len(relevant)
    if not classes:
        y = (y - y.mean()) / y.std()
    for method, (package, choose) in methods(classes, seed).items():
        chosen, seconds = timed(choose, A, y, r)
        hits = np.isin(relevant, chosen).sum()
        yield (n, d, r, method, package), {"share": 100 * hits / r, "seconds": seconds}


def one_split(data, split):
    """A line for each number of features and method, of a real set."""
    A, y, B, y_new = two_parts(data, split)
    varies = A.std(axis=0) > 0
    A = A[:, varies]
    B = B[:, varies]
    n, d = A.shape
    # the number of columns that vary may change with the split
    of = n, len(varies)
    yield (*of, len(varies), "all features", ""), {"error": judge(A, y, B, y_new)}
    for r in real[data]:
        for method, (package, choose) in methods(True, split).items():
            chosen, seconds = timed(choose, A, y, r)
            error = judge(A[:, chosen], y, B[:, chosen], y_new)
            yield (*of, r, method, package), {"error": error, "seconds": seconds}


@cache
def warm_up():
    """Import and compile what the methods need, so that no time counts it."""
    A, y, _ = make_nested_square(40, 6, random_state=0)
    for classes in (True, False):
        for _, choose in methods(classes, 0).values():
            choose(A, y, 2)


def lines(data, n_splits):
    """The means over draws or splits."""
    warm_up()
    found = defaultdict(list)
    known = data in makers
    for run in range(draws_of_split * n_splits if known else n_splits):
        for of, line in (one_draw if known else one_split)(data, run):
            found[of].append(line)
    judged = "share" if known else "error"
    for of, some in found.items():
        values = [line[judged] for line in some]
        figures = {
            judged: np.mean(values),
            "spread": np.std(values, ddof=1) / len(values) ** 0.5,
        }
        if "seconds" in some[0]:
            figures["seconds"] = np.mean([line["seconds"] for line in some])
        kind = "known answer" if known else kind_of[data]
        yield [
            kind,
            data,
            *of,
            len(some),
            *(f"{figures[name]:.4g}" if name in figures else "" for name in measures),
        ]


if __name__ == "__main__":
    write_record("kernel_peers", __doc__, columns, lines, 5, sets, peers)
