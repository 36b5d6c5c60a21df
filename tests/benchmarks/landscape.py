"""Every family of methods that choose columns, on the same data: `python
tests/benchmarks/landscape.py`.

Six sets of `kinds.py`, one of each kind, are split as in `defaults.py`: at most 300
samples choose, at most 400 others judge. The record `records/landscape.csv` has for each
set and method the medians over the splits of

- weighted, plain: condition numbers in the certified directions, with the weights of the
  method where it has some, and without;
- share, distances: as in `defaults.py`;
- span: the part of the squared length of all columns that the chosen ones span, in
  percent of what the best as many mixtures do; of the samples that choose;
- linear, logistic: the errors of a ridge classifier and of logistic regression for
  classes that the choice has not seen, in percent;
- seconds: processor time of a choice.

"L1, labels" has seen the classes: it says what can be had by those who know the question.
The chapter on where this stands draws the record.
"""

import time
from collections import defaultdict
from functools import cache

import numpy as np
import scipy.linalg
from defaults import judged, two_parts
from kinds import kind_of, write_record
from machine import is_installed
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, MultiTaskLasso
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils._testing import ignore_warnings

from fsel_book import (
    BSSSelector,
    DSFSelector,
    RRQRSelector,
    bss,
    certify,
    largest_leverages,
    leverage_sampling,
    row_space,
)
from fsel_book.arrays import to_numpy
from fsel_book.certificates import Sampling
from fsel_book.papers.experiments import unweighted_sampling
from fsel_book.papers.landscape import (
    greedy_columns,
    randomly_pivoted_cholesky,
    volume_sampling,
)
from fsel_book.papers.selection_study import PREFERENCE_CAP
from fsel_book.plain_columns import explained_ceiling, explained_share, raise_smallest
from fsel_book.spectra import ridge_of_dimension, ridge_space

# the number of columns and of certified directions
sets = {
    "ionosphere": (12, 3),
    "prostate": (60, 15),
    "usps": (60, 15),
    "isolet": (60, 15),
    "pcmac": (60, 15),
    "splice": (60, 15),
}
peers = ("skmatter", "fastcan", "dppy", "apricot-select", "python-sensors")
measures = "weighted plain share span distances linear logistic seconds".split()
columns = "kind data samples features r rank method package".split() + measures


def fitted(selector):
    """What a selector of this book chooses, with weights where they are not all one."""

    def choose(A, y):
        selector.fit(A)
        weights = to_numpy(selector.weights_)
        return selector.selected_, None if np.all(weights == 1) else weights

    return choose


def pivoted_qr(A, r):
    return scipy.linalg.qr(A, mode="r", pivoting=True)[1][:r]


def sensors(A, r):
    """Pivoted QR of the r leading directions: where PySensors puts r sensors."""
    from pysensors import SSPOR
    from pysensors.basis import SVD

    place = SSPOR(basis=SVD(n_basis_modes=r, algorithm="arpack"), n_sensors=r)
    return place.fit(A, quiet=True, seed=0).get_selected_sensors()


def cur(A, r):
    from skmatter.feature_selection import CUR

    return CUR(n_to_select=r).fit(A).selected_idx_


def farthest_points(A, r):
    from skmatter.feature_selection import FPS

    return FPS(n_to_select=r).fit(A).selected_idx_


def components(A, k):
    return scipy.linalg.svd(A, full_matrices=False)[0][:, :k]


def fast_can(A, r, k):
    """Forward regression of the leading components."""
    from fastcan import FastCan

    return FastCan(r, verbose=0).fit(A, components(A, k)).indices_


def projection_dpp(A, r, rng):
    from dppy.finite_dpps import FiniteDPP

    V = scipy.linalg.svd(A, full_matrices=False)[2][:r].T
    process = FiniteDPP("correlation", projection=True, K_eig_dec=(np.ones(r), V))
    return process.sample_exact(random_state=rng)


def facility_location(A, r):
    """Greedy, for the sum over all columns of the largest squared correlation."""
    from apricot import FacilityLocationSelection

    lengths = np.linalg.norm(A, axis=0)
    unit = A / np.where(lengths > 0, lengths, 1)
    return FacilityLocationSelection(r, "precomputed").fit((unit.T @ unit) ** 2).ranking


def largest_rows(make_weights, strengths, r):
    """The columns of largest weight at the first strength that leaves `r`."""
    for strength in strengths:
        lengths = np.linalg.norm(make_weights(strength), axis=0)
        if np.count_nonzero(lengths) >= r:
            break
    return np.argsort(-lengths, kind="stable")[: min(r, np.count_nonzero(lengths))]


@ignore_warnings(category=ConvergenceWarning)
def group_lasso(A, r, k):
    """Group Lasso of the leading components."""
    U = components(A, k)
    U = U - U.mean(axis=0)
    B = A - A.mean(axis=0)
    strongest = np.linalg.norm(B.T @ U, axis=1).max() / len(A)

    def weights(alpha):
        return MultiTaskLasso(alpha=alpha, max_iter=300, tol=1e-3).fit(A, U).coef_

    return largest_rows(weights, strongest * 0.7 ** np.arange(1, 20), r)


def l1_with_labels(A, y, r):
    def weights(C):
        one = LogisticRegression(C=C, l1_ratio=1, solver="liblinear", random_state=0)
        fits = OneVsRestClassifier(one).fit(A, y).estimators_
        return np.vstack([fit.coef_ for fit in fits])

    return largest_rows(weights, (0.3, 1.0, 10.0, 100.0), r)


def methods(A, r, k, seed):
    """For each method its package, and what chooses `r` columns."""
    rng = np.random.default_rng(seed)

    def plain(choose, *arguments):
        return lambda A, y: (choose(A, r, *arguments), None)

    def drawn(make_space):
        def choose(A, y):
            found = leverage_sampling(make_space(A), r, seed, n_different=r)
            return found.indices, to_numpy(found.weights)

        return choose

    def largest(make_space):
        return lambda A, y: (largest_leverages(make_space(A), r).indices, None)

    def leading(A):
        return row_space(A, k)

    def at_ridge(A):
        space = row_space(A)
        # as BSSSelector(r)
        dimension = min(0.5 * r, 0.25 * space.numerical_rank)
        return ridge_space(space, ridge_of_dimension(space.singular_values, dimension))

    def exchanges(A, y):
        space = leading(A)
        begin = bss(space, r, "best", n_different=r).indices
        return raise_smallest(space, begin).indices, None

    ours = {
        "random": lambda A, y: (rng.choice(A.shape[1], r, replace=False), None),
        "BSS": fitted(BSSSelector(r, rank=k, rule="best")),
        "ridge barriers": fitted(BSSSelector(r)),
        "exchanges": exchanges,
        "DSF": fitted(DSFSelector(r, rank=k)),
        "leverage sampling": drawn(leading),
        "largest leverages": largest(leading),
        "ridge leverage sampling": drawn(at_ridge),
        "largest ridge leverages": largest(at_ridge),
        "strong RRQR": fitted(RRQRSelector(r, rank=min(r, np.linalg.matrix_rank(A)))),
        "volume sampling": plain(volume_sampling, rng),
        "randomly pivoted Cholesky": plain(randomly_pivoted_cholesky, rng),
        "greedy": plain(greedy_columns),
    }
    theirs = {
        "pivoted QR": ("scipy", plain(pivoted_qr)),
        "pivoted QR, directions": ("python-sensors", plain(sensors)),
        "projection DPP": ("dppy", plain(projection_dpp, np.random.RandomState(seed))),
        "forward regression": ("fastcan", plain(fast_can, k)),
        "group Lasso": ("scikit-learn", plain(group_lasso, k)),
        "facility location": ("apricot-select", plain(facility_location)),
        "CUR": ("skmatter", plain(cur)),
        "farthest points": ("skmatter", plain(farthest_points)),
        "L1, labels": (
            "scikit-learn",
            lambda A, y: (l1_with_labels(A, y, r), None),
        ),
    }
    found = {name: ("fsel_book", choose) for name, choose in ours.items()} | theirs
    return {
        name: (package, choose)
        for name, (package, choose) in found.items()
        if is_installed(package)
    }


def one_split(data, split, r, k):
    """A line for each method."""
    A, y, B, y_new = two_parts(data, split)
    d = A.shape[1]
    leading = row_space(A, k)
    best = explained_ceiling(A, r)
    everything = {"all columns": ("", lambda A, y: (np.arange(d), None))}
    for method, (package, choose) in (methods(A, r, k, split) | everything).items():
        start = time.process_time()
        chosen, weights = choose(A, y)
        seconds = time.process_time() - start
        chosen = np.asarray(chosen)
        plain = certify(leading, unweighted_sampling(chosen, d)).kappa
        line = judged(A, y, B, y_new, chosen)
        logistic = LogisticRegression(max_iter=300).fit(A[:, chosen], y)
        line |= {
            "plain": min(plain, PREFERENCE_CAP),
            "span": 100 * explained_share(A, chosen) / best,
            "logistic": 100 * np.mean(logistic.predict(B[:, chosen]) != y_new),
            "seconds": seconds,
        }
        line["weighted"] = np.nan
        if weights is not None:
            with_them = Sampling(chosen, weights, d, r)
            line["weighted"] = min(certify(leading, with_them).kappa, PREFERENCE_CAP)
        yield (len(A), d, r, k, method, package), line


@cache
def warm_up():
    """Import and compile what the methods need, so that no time counts it."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((40, 30))
    for _, choose in methods(A, 8, 2, 0).values():
        choose(A, rng.integers(0, 3, 40))


def lines(data, n_splits):
    """The medians over the splits."""
    warm_up()
    found = defaultdict(list)
    for split in range(n_splits):
        for of, line in one_split(data, split, *sets[data]):
            found[of].append(line)
    for of, some in found.items():
        middle = {name: np.median([line[name] for line in some]) for name in measures}
        figures = (
            "" if np.isnan(middle[name]) else f"{middle[name]:.4g}" for name in measures
        )
        yield [kind_of[data], data, *of, *figures]


if __name__ == "__main__":
    write_record("landscape", __doc__, columns, lines, 5, sets, peers)
