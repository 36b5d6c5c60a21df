"""What the default of a selector without labels should be, by kind of data: `python
tests/benchmarks/defaults.py`.

The sets and splits are those of `kinds.py`; at most 300 samples choose, at most 400
others judge. The record `records/defaults.csv` has for each set, number of features and
method the means over the splits of

- share: the part of the variance of all columns that ridge regression on the chosen ones
  explains in rows not seen, in percent;
- distances: the correlation of squared distances of rows not seen, in all columns and in
  the chosen ones, times 100;
- linear, neighbour: the errors of a ridge classifier and of the nearest neighbour, in
  percent;
- kappa: the condition number of the choice without weights at the default rank;
- seconds: processor time of a fit.

The chapter on selectors with and without labels draws it.
"""

import time
from collections import defaultdict

import numpy as np
from kinds import counted, kind_of, load, write_record
from scipy.spatial.distance import pdist
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler, normalize

from fsel_book import (
    BSSSelector,
    DSFSelector,
    LeverageSelector,
    RRQRSelector,
    certify,
    row_space,
)
from fsel_book.certificates import target_rank
from fsel_book.kept import PENALTIES, left_out_shares, off_means, on_host
from fsel_book.papers.experiments import unweighted_sampling
from fsel_book.papers.selection_study import PREFERENCE_CAP
from fsel_book.spectra import ridge_of_dimension

sizes = (3, 5, 8, 12, 20, 50, 200)
measures = "share distances linear neighbour kappa seconds".split()
columns = ["kind", "data", "samples", "features", "r", "method", *measures]
# effective dimensions over the number of features, and the most over the numerical rank
ridges = {
    "BSS, ridge 1/4": (0.25, 0.25),
    "BSS, ridge 1/2": (0.5, 0.25),
    "BSS, ridge 0.7": (0.7, 0.25),
    "BSS, ridge 0.7, more": (0.7, 0.5),
    "BSS, ridge 0.9": (0.9, 0.25),
}
n_random = 3


def methods(space, r, split):
    """For each method what chooses `r` features of `A`."""

    def fitted(selector):
        return lambda A: selector.fit(A).selected_

    def at_ridge(share, most):
        dimension = min(share * r, most * space.numerical_rank)
        ridge = ridge_of_dimension(space.singular_values, dimension)
        return fitted(BSSSelector(r, ridge=ridge))

    found = {
        f"random {seed}": lambda A, seed=seed: np.random.default_rng(
            100 * split + seed
        ).choice(A.shape[1], r, replace=False)
        for seed in range(n_random)
    }
    rank = target_rank(None, space.numerical_rank, r)
    found["BSS, rank"] = fitted(BSSSelector(r, rank=rank))
    found["BSS, default"] = fitted(BSSSelector(r))
    for name, (share, most) in ridges.items():
        found[name] = at_ridge(share, most)
    found["DSF"] = fitted(DSFSelector(r))
    found["RRQR, rank r"] = fitted(RRQRSelector(r, rank=min(r, space.numerical_rank)))
    found["largest leverages"] = fitted(LeverageSelector(r, rule="largest"))
    return found


def share_of_others(A, B, chosen):
    """What ridge regression on the chosen columns explains of the rows of `B`."""
    means = A.mean(axis=0)
    C = off_means(A[:, chosen])
    lengths = np.linalg.norm(C, axis=0)
    lengths = np.where(lengths > 0, lengths, 1.0)
    best = int(np.argmax(left_out_shares(A - means, C)))
    U, S, Wt = np.linalg.svd(C / lengths, full_matrices=False)
    there = S > 1e-10 * S.max(initial=0.0)
    shrunk = np.divide(
        S, S**2 + PENALTIES[best] * S.max() ** 2, where=there, out=np.zeros_like(S)
    )
    new = (B[:, chosen] - A[:, chosen].mean(axis=0)) / lengths
    predicted = ((new @ Wt.T) * shrunk) @ (U.T @ (A - means))
    return 1 - np.sum((B - means - predicted) ** 2) / np.sum((B - means) ** 2)


def judged(A, y, B, y_new, chosen):
    """The measures of a choice, but for its time."""
    before = pdist(B[:200], "sqeuclidean")
    after = pdist(B[:200][:, chosen], "sqeuclidean")
    linear = RidgeClassifier().fit(A[:, chosen], y)
    neighbour = KNeighborsClassifier(1).fit(A[:, chosen], y)
    flat = after.std() == 0
    return {
        "share": 100 * share_of_others(A, B, chosen),
        "distances": 0.0 if flat else 100 * np.corrcoef(before, after)[0, 1],
        "linear": 100 * np.mean(linear.predict(B[:, chosen]) != y_new),
        "neighbour": 100 * np.mean(neighbour.predict(B[:, chosen]) != y_new),
    }


def two_parts(data, split, most=300, most_new=400):
    """Rows that choose and rows that judge, scaled, with their classes."""
    X, y = load(data)
    train, test = next(
        StratifiedShuffleSplit(1, test_size=0.3, random_state=split).split(X, y)
    )
    train = train[:most]
    test = test[:most_new]
    A, B = (
        on_host(normalize(X[part]) if data in counted else X[part])
        for part in (train, test)
    )
    if data not in counted:
        scaler = StandardScaler().fit(A)
        A = scaler.transform(A)
        B = scaler.transform(B)
    return A, y[train], B, y[test]


def one_split(data, split):
    """A line for each number of features and method."""
    A, y, B, y_new = two_parts(data, split)
    space = row_space(A)
    for r in (r for r in sizes if r < 0.75 * A.shape[1]):
        leading = space.truncate(target_rank(None, space.numerical_rank, r))
        for method, choose in methods(space, r, split).items():
            start = time.process_time()
            chosen = choose(A)
            seconds = time.process_time() - start
            kappa = certify(leading, unweighted_sampling(chosen, A.shape[1])).kappa
            line = judged(A, y, B, y_new, chosen)
            line |= {"kappa": min(kappa, PREFERENCE_CAP), "seconds": seconds}
            name = "random" if method.startswith("random") else method
            yield (len(A), A.shape[1], r, name), line


def lines(data, n_splits):
    """The means over the splits; of condition numbers, the geometric ones."""
    found = defaultdict(list)
    for split in range(n_splits):
        for of, line in one_split(data, split):
            found[of].append(line)
    for of, some in found.items():
        mean = {name: np.mean([line[name] for line in some]) for name in measures}
        mean["kappa"] = np.exp(np.mean([np.log(line["kappa"]) for line in some]))
        yield [kind_of[data], data, *of, *(f"{mean[name]:.4g}" for name in measures)]


if __name__ == "__main__":
    write_record("defaults", __doc__, columns, lines, 3)
