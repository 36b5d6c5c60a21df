"""Targets from a few wavelengths, by this book and by others: `python
tests/benchmarks/wavelengths.py`.

Needs fastcan, chemotools and nirs4all-methods. Near-infrared spectra of three kinds: the
meat that comes with this book, its fat alone, and water, fat and protein together; petrol
with its octane number, and yarn with its density, which come with R's package pls. For the
latter two the folder FSEL_BOOK_PLS holds `gasoline.csv` and `yarn.csv`, the target and then
the spectrum in each line, without names, as R writes them:

    library(pls); data(gasoline); data(yarn); w <- function(y, X, to) write.table(
      cbind(y, unclass(X)), to, sep=",", row.names=FALSE, col.names=FALSE)
    w(gasoline$octane, gasoline$NIR, "gasoline.csv"); w(yarn$density, yarn$NIR, "yarn.csv")

Each of two repetitions splits the samples into ten folds, equal spectra into one. The
columns are chosen on nine folds, the targets are regressed on them there, with the ridge of
least error in rows left out one at a time, and the tenth fold judges; PLS chooses its
components by five folds of the nine. Spectra are as they were measured, means taken off.

The record `records/wavelengths.csv` has for each set, number of wavelengths and method

- rmsecv, se: root mean square error of the left-out samples, in the units of the target, or
  of their standard deviations where there are three; and its standard error over samples;
- apart: how much larger the mean square is than that of `CalibrationSelector`, in standard
  errors of the difference, over samples;
- at_once: the same error where the wavelengths were chosen once, on all samples;
- used: how many wavelengths on average, of methods that decide that themselves;
- seconds: processor time of a choice.
"""

import os
import time
from collections import defaultdict
from functools import partial
from pathlib import Path

import numpy as np
import scipy.linalg
from chemotools.feature_selection import VIPSelector
from fastcan import FastCan
from kinds import write_record
from n4m.roles import CARS, SPA
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import lars_path
from sklearn.model_selection import KFold, cross_val_predict

from fsel_book import BSSSelector, CalibrationSelector, SensorSelector, load_tecator
from fsel_book.wavelengths import calibrate

kind_of = {"fat": "meat", "three": "meat", "octane": "petrol", "density": "yarn"}
columns = (
    "kind data samples features r method rmsecv se apart at_once used seconds".split()
)
sizes = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20)
packages = ("fastcan", "chemotools", "nirs4all-methods")
MOST_COMPONENTS = 20


def load(data):
    """Spectra, targets and which samples are the same."""
    if data in ("fat", "three"):
        meat = load_tecator()
        Y = meat.target[:, [1]] if data == "fat" else meat.target
        return meat.data, Y if data == "fat" else Y / Y.std(axis=0), meat.samples
    name = {"octane": "gasoline", "density": "yarn"}[data]
    path = Path(os.environ["FSEL_BOOK_PLS"]) / f"{name}.csv"
    values = np.loadtxt(path, delimiter=",")
    return values[:, 1:], values[:, [0]], np.arange(len(values))


def folds(samples, repetition, k=10):
    names = np.random.default_rng(repetition).permutation(np.unique(samples))
    return [np.flatnonzero(np.isin(samples, part)) for part in np.array_split(names, k)]


def squared_correlation(X, Y):
    """Of each column with the targets, on average."""
    A, B = X - X.mean(axis=0), Y.reshape(len(Y), -1) - Y.mean(axis=0)
    scales = np.linalg.norm(A, axis=0)[:, None] * np.linalg.norm(B, axis=0)
    return np.mean((A.T @ B / scales) ** 2, axis=1)


def components(X, Y):
    """How many PLS takes, by five folds."""
    most = min(MOST_COMPONENTS, X.shape[1], len(X) - len(X) // 5 - 2)
    cv = KFold(5, shuffle=True, random_state=0)
    errors = [
        np.sum((cross_val_predict(pls(k), X, Y, cv=cv).reshape(Y.shape) - Y) ** 2)
        for k in range(1, most + 1)
    ]
    return 1 + int(np.argmin(errors))


def pls(k):
    return PLSRegression(k, scale=False)


def spread(d, r):
    """Evenly, in the middle of `r` parts."""
    return ((np.arange(r) + 0.5) * d / r).astype(int)


def least_angle(X, Y, r):
    """The first `r` columns of least angle regression."""
    A, b = X - X.mean(axis=0), Y[:, 0] - Y[:, 0].mean()
    _, active, _ = lars_path(A, b, method="lar", max_iter=r)
    return np.array(active[:r])


def choices(X, Y, k, seed):
    """For each method what chooses `r` columns; `k` is how many components PLS takes."""
    y = Y[:, 0] if Y.shape[1] == 1 else Y
    d = X.shape[1]

    def ours(selector):
        return selector.fit(X, y).get_support(indices=True)

    def by_importance(r):
        scores = VIPSelector(pls(k).fit(X, y)).fit(X).feature_scores_
        return np.argsort(-np.ravel(scores))[:r]

    named = {
        "CalibrationSelector": lambda r: ours(CalibrationSelector(r)),
        "fastcan": lambda r: ours(FastCan(r, verbose=0)),
        "BSS, correlation": lambda r: ours(
            BSSSelector(r, score_func=squared_correlation, center=True)
        ),
        "SensorSelector": lambda r: ours(SensorSelector(r)),
        "pivoted QR": lambda r: scipy.linalg.qr(
            X - X.mean(axis=0), mode="r", pivoting=True
        )[1][:r],
        "largest correlation": lambda r: np.argsort(-squared_correlation(X, Y))[:r],
        "evenly spaced": partial(spread, d),
        "random": lambda r: np.random.default_rng(seed).choice(d, r, replace=False),
    }
    if Y.shape[1] == 1:
        named |= {
            "SPA": lambda r: SPA(top_k=r).fit(X, y).selected_indices_,
            "VIP": by_importance,
            "LARS": lambda r: least_angle(X, Y, r),
        }
    return named


def regressed(X, Y, chosen):
    """What predicts the targets from the chosen columns."""
    chosen = np.sort(chosen)
    fit = calibrate(X[:, chosen], Y)
    return lambda Z: fit.predict(Z[:, chosen])


def pls_on(X, Y, chosen):
    """PLS on the chosen columns."""
    chosen = np.sort(chosen)
    model = pls(components(X[:, chosen], Y)).fit(X[:, chosen], Y)
    return lambda Z: model.predict(Z[:, chosen]).reshape(len(Z), -1)


def one_fold(X, Y, test, seed, at_once):
    """Of each method the squared errors of the samples of a fold, and more."""
    train = np.setdiff1d(np.arange(len(X)), test)
    A, B = X[train], Y[train]

    def judged(model):
        return np.sum((model(X[test]) - Y[test]) ** 2, axis=1)

    start = time.process_time()
    k = components(A, B)
    model = pls(k).fit(A, B)
    seconds = time.process_time() - start
    whole = judged(lambda Z: model.predict(Z).reshape(len(Z), -1))
    yield "PLS on all", X.shape[1], whole, None, X.shape[1], seconds
    if Y.shape[1] == 1:
        start = time.process_time()
        chosen = CARS(n_components=k, cv=5).fit(A, B[:, 0]).selected_indices_
        seconds = time.process_time() - start
        yield "CARS", 0, judged(pls_on(A, B, chosen)), None, len(chosen), seconds
    for method, choose in choices(A, B, k, seed).items():
        for r in sizes:
            start = time.process_time()
            chosen = choose(r)
            seconds = time.process_time() - start
            error = judged(regressed(A, B, chosen))
            once = judged(regressed(A, B, at_once[method](r)))
            yield method, r, error, once, len(chosen), seconds


def remembered(choose):
    """The same, computed once for each `r`."""
    known = {}

    def chosen(r):
        if r not in known:
            known[r] = choose(r)
        return known[r]

    return chosen


def lines(data, repetitions):
    X, Y, samples = load(data)
    n, q = Y.shape
    nested, once, more = {}, {}, defaultdict(list)
    all_rows = choices(X, Y, components(X, Y), 0)
    at_once = {method: remembered(choose) for method, choose in all_rows.items()}
    for repetition in range(repetitions):
        for fold, test in enumerate(folds(samples, repetition)):
            seed = 100 * repetition + fold
            for method, r, error, of_all, used, seconds in one_fold(
                X, Y, test, seed, at_once
            ):
                of = method, r
                nested.setdefault(of, np.zeros(n))[test] += error / repetitions / q
                if of_all is not None:
                    once.setdefault(of, np.zeros(n))[test] += of_all / repetitions / q
                more[of].append((used, seconds))
    counts = np.bincount(samples)

    def by_sample(values):
        return np.bincount(samples, values) / counts

    for (method, r), squares in nested.items():
        each = by_sample(squares)
        root = np.sqrt(each.mean())
        error = each.std(ddof=1) / np.sqrt(len(each)) / (2 * root)
        apart = ""
        if r in sizes and method != "CalibrationSelector":
            more_by = each - by_sample(nested["CalibrationSelector", r])
            deviation = more_by.std(ddof=1) / np.sqrt(len(each))
            apart = f"{more_by.mean() / deviation:.3g}" if deviation > 0 else "0"
        of_all = (
            f"{np.sqrt(by_sample(once[method, r]).mean()):.4g}"
            if (method, r) in once
            else ""
        )
        used, seconds = np.mean(more[method, r], axis=0)
        yield [
            *(kind_of[data], data, n, X.shape[1], r, method, f"{root:.4g}"),
            *(f"{error:.3g}", apart, of_all, f"{used:.4g}", f"{seconds:.3g}"),
        ]


if __name__ == "__main__":
    write_record("wavelengths", __doc__, columns, lines, 2, list(kind_of), packages)
