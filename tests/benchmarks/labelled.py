"""What choosing with labels costs against RFE, by kind of data: `python
tests/benchmarks/labelled.py`.

The sets and splits are those of `kinds.py`; at most 300 samples choose, at most 400
others judge. Weights are those of a ridge classifier, which fits many classes fast, for
all methods alike. The record `records/labelled.csv` has for each set, number of features and
method the means over the splits of

- error: of a ridge classifier on rows not seen, in percent;
- neighbour: of the nearest neighbour;
- share: the part of the variance of all columns that ridge regression on the chosen ones
  explains in rows not seen, in percent;
- kappa: the condition number of the choice without weights on the `r / 4` strongest
  directions (half of `r`, up to 10, where that is more); the geometric mean;
- seconds: processor time of a fit, where a half by RFE is completed without that.

The chapter on selectors with and without labels draws it.
"""

import time
from collections import defaultdict
from functools import partial

import numpy as np
from defaults import judged, two_parts
from kinds import kind_of, write_record
from sklearn.feature_selection import RFE, f_classif
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier

from fsel_book import (
    BSSSelector,
    CompletionSelector,
    RandomSelector,
    WeightScores,
    certify,
    row_space,
)
from fsel_book.certificates import feature_scores, target_rank
from fsel_book.papers.experiments import unweighted_sampling
from fsel_book.papers.selection_study import PREFERENCE_CAP

sizes = (5, 10, 20, 50)
measures = "error neighbour share kappa seconds".split()
columns = ["kind", "data", "classes", "samples", "features", "r", "method", *measures]


def methods(A, y, r, rank, split):
    """For each method what chooses `r` columns of `A` by labels, or without them."""

    def fitted(selector):
        return lambda A, y: selector.fit(A, y).get_support(indices=True)

    def largest(scores):
        return lambda A, y: np.argsort(-scores(A, y), kind="stable")[:r]

    weights = WeightScores(RidgeClassifier())
    logistic = OneVsRestClassifier(
        LogisticRegression(C=1.0, l1_ratio=1.0, solver="liblinear", random_state=0)
    )

    def sizes_by_l1(A, y):
        machines = logistic.fit(A, y).estimators_
        return np.max([np.abs(machine.coef_).max(axis=0) for machine in machines], 0)

    # once for all that complete it
    half = RFE(RidgeClassifier(), n_features_to_select=max(1, r // 2), step=0.1)
    half = half.fit(A, y).get_support(indices=True)
    rest = r - len(half)
    return {
        "random": fitted(RandomSelector(r, random_state=split)),
        "BSS": fitted(BSSSelector(r)),
        "BSS, F, rank": fitted(BSSSelector(r, rank=rank, score_func=f_classif)),
        "BSS, F": fitted(BSSSelector(r, score_func=f_classif)),
        "BSS, weights, rank": fitted(BSSSelector(r, rank=rank, score_func=weights)),
        "BSS, weights": fitted(BSSSelector(r, score_func=weights)),
        "half RFE, half geometry": fitted(CompletionSelector(half, rest)),
        "half RFE, half weights": fitted(
            CompletionSelector(half, rest, score_func=weights)
        ),
        "half RFE, half weights, rank": fitted(
            CompletionSelector(half, rest, rank=rank, score_func=weights)
        ),
        "RFE": fitted(RFE(RidgeClassifier(), n_features_to_select=r, step=0.1)),
        "L1": largest(sizes_by_l1),
        "F": largest(partial(feature_scores, f_classif)),
    }


def one_split(data, split):
    """A line for each number of features and method."""
    A, y, B, y_new = two_parts(data, split)
    space = row_space(A)
    for r in (r for r in sizes if r < 0.75 * A.shape[1]):
        leading = space.truncate(target_rank(None, space.numerical_rank, r))
        for method, choose in methods(A, y, r, leading.shape[1], split).items():
            start = time.process_time()
            chosen = choose(A, y)
            seconds = time.process_time() - start
            line = judged(A, y, B, y_new, chosen)
            line["error"] = line.pop("linear")
            kappa = certify(leading, unweighted_sampling(chosen, A.shape[1])).kappa
            line |= {"kappa": min(kappa, PREFERENCE_CAP), "seconds": seconds}
            yield (len(np.unique(y)), *A.shape, r, method), line


def lines(data, n_splits):
    """The means over the splits; of condition numbers, the geometric ones."""
    found = defaultdict(list)
    for split in range(n_splits):
        for of, line in one_split(data, split):
            found[of].append(line)
    for of, some in found.items():
        mean = {name: np.mean([line[name] for line in some]) for name in measures}
        mean["kappa"] = np.exp(np.mean([np.log(line["kappa"]) for line in some]))
        yield [
            kind_of[data],
            data,
            *of,
            *(f"{mean[name]:.4g}" for name in measures),
        ]


if __name__ == "__main__":
    write_record("labelled", __doc__, columns, lines, 3)
