"""What a selection by labels is worth when the question changes, by kind of data:
`python tests/benchmarks/later.py`.

The sets are those of `kinds.py` with three classes or more, split as there. The classes
are put into two groups at random, and columns are chosen by the groups alone. Judged
are, on rows not seen,

- coarse: the error of a ridge classifier for the groups, in percent;
- linear, neighbour: the errors of a ridge classifier and of the nearest neighbour for the
  classes themselves, which the choice has not seen;
- share, distances: as in `defaults.py`.

The record `records/later.csv` has for each set, number of features and method the means
over the splits.
"""

import time
from collections import defaultdict
from functools import partial

import numpy as np
from defaults import judged, two_parts
from kinds import kind_of, load, machine, write_record
from sklearn.feature_selection import RFE, f_classif
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from fsel_book import BSSSelector, CompletionSelector, RandomSelector, WeightScores
from fsel_book.certificates import feature_scores, target_rank

sizes = (5, 10, 20, 50)
measures = "coarse linear neighbour share distances seconds".split()
columns = ["kind", "data", "classes", "r", "method", *measures]


def with_classes():
    """The sets with three classes or more."""
    return [data for data in kind_of if len(np.unique(load(data)[1])) >= 3]


def methods(r, split):
    """For each method what chooses `r` columns of `A` by labels, or without them."""

    def fitted(selector):
        return lambda A, y: selector.fit(A, y).get_support(indices=True)

    def largest(scores):
        return lambda A, y: np.argsort(-scores(A, y), kind="stable")[:r]

    f_scores = partial(feature_scores, f_classif)
    weights = WeightScores(machine())
    logistic = LogisticRegression(
        C=1.0, l1_ratio=1.0, solver="liblinear", random_state=0
    )
    half = RFE(machine(), n_features_to_select=max(1, r // 2), step=0.1)

    def at_rank(scores):
        return lambda A, y: (
            BSSSelector(r, rank=target_rank(None, min(A.shape), r), score_func=scores)
            .fit(A, y)
            .get_support(indices=True)
        )

    return {
        "random": fitted(RandomSelector(r, random_state=split)),
        "BSS, ridge": fitted(BSSSelector(r)),
        "BSS, F": at_rank(f_classif),
        "BSS, ridge, F": fitted(BSSSelector(r, score_func=f_classif)),
        "BSS, weights": at_rank(weights),
        "BSS, ridge, weights": fitted(BSSSelector(r, score_func=weights)),
        "half RFE, half geometry": fitted(CompletionSelector(half, r - max(1, r // 2))),
        "RFE": fitted(RFE(machine(), n_features_to_select=r, step=0.1)),
        "F": largest(f_scores),
        "L1": largest(lambda A, y: np.abs(logistic.fit(A, y).coef_).max(axis=0)),
    }


def one_split(data, split):
    """A line for each number of features and method."""
    A, y, B, y_new = two_parts(data, split)
    classes = np.unique(load(data)[1])
    first = np.random.default_rng(split).permutation(classes)[: len(classes) // 2]
    coarse = np.isin(y, first).astype(int)
    coarse_new = np.isin(y_new, first).astype(int)
    for r in (r for r in sizes if r < 0.75 * A.shape[1]):
        for method, choose in methods(r, split).items():
            start = time.process_time()
            chosen = choose(A, coarse)
            seconds = time.process_time() - start
            line = judged(A, y, B, y_new, chosen)
            model = RidgeClassifier().fit(A[:, chosen], coarse)
            line["coarse"] = 100 * np.mean(model.predict(B[:, chosen]) != coarse_new)
            yield (len(classes), r, method), line | {"seconds": seconds}


def lines(data, n_splits):
    """The means over the splits."""
    found = defaultdict(list)
    for split in range(n_splits):
        for of, line in one_split(data, split):
            found[of].append(line)
    for of, some in found.items():
        means = [np.mean([line[name] for line in some]) for name in measures]
        yield [kind_of[data], data, *of, *(f"{mean:.4g}" for mean in means)]


if __name__ == "__main__":
    write_record("later", __doc__, columns, lines, 5, with_classes())
