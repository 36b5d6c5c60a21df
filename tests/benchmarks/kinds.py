"""Errors and condition numbers of selections by kind of data: `python
tests/benchmarks/kinds.py`.

The sets are those that lie in the folder FSEL_BOOK_DATA, three tables of scikit-learn
and the docstrings of SciPy. Each is split five times; at most 300 samples choose and
train, the others test. The record `records/kinds.csv` has for each set, number of
features and method the means over the splits; the chapter on selectors with and without
labels draws it.
"""

import argparse
import csv
import os
import sys
import time
import warnings
from collections import defaultdict
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from machine import conditions
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE, f_classif
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler, normalize
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from fsel_book import (
    BSSSelector,
    DSFSelector,
    LeverageSelector,
    WeightScores,
    certify,
    load_docstrings,
    row_space,
)
from fsel_book.certificates import feature_scores, target_rank
from fsel_book.papers.experiments import unweighted_sampling
from fsel_book.papers.selection_study import PREFERENCE_CAP, select_in_space

folder = Path(__file__).parents[2] / "fsel_book" / "records"
kinds = {
    "genes": "alon christensen golub gravier khan lymphoma prostate sorlie",
    "images": "coil20 digits usps yale",
    "sound, motion": "isolet libras vowel",
    "text": "basehock dexter_train docstrings pcmac relathe",
    "one-hot": "splice",
    "tables": "breast_cancer ionosphere spambase wine",
    "other": "arcene_train caltech6_hsv hill_valley madelon_train",
}
kind_of = {data: kind for kind, names in kinds.items() for data in names.split()}
# rows of length one in place of standardised columns
counted = {*kinds["text"].split(), "caltech6_hsv"}
sizes = (3, 5, 8, 20, 50, 200)
columns = "kind data samples features r method error kappa seconds".split()


def load(data):
    """Features as floats, classes as numbers."""
    embedded = {
        "breast_cancer": load_breast_cancer,
        "digits": load_digits,
        "docstrings": load_docstrings,
    }
    embedded["wine"] = load_wine
    if data in embedded:
        bunch = embedded[data]()
        X = bunch.data
        y = bunch.target
    else:
        stored = np.load(Path(os.environ["FSEL_BOOK_DATA"]) / f"{data}.npz")
        parts = "data", "indices", "indptr"
        X = (
            stored["X"]
            if "X" in stored
            else sp.csr_array(tuple(stored[p] for p in parts), shape=stored["shape"])
        )
        y = stored["y"]
    return X.astype(np.float64), np.unique(y, return_inverse=True)[1]


def machine():
    return LinearSVC(dual="auto", random_state=0)


def methods(A, y, space, r, rng):
    """For each method what chooses `r` features."""

    def certified(selector):
        return lambda: select_in_space(selector, space, r, y)[0].indices

    scores = {
        "F": partial(feature_scores, f_classif),
        "weights": partial(feature_scores, WeightScores(machine())),
    }
    return {
        "random": lambda: rng.choice(A.shape[1], r, replace=False),
        "largest leverages": certified(LeverageSelector(r, rule="largest")),
        "BSS, longest": certified(BSSSelector(r, rule="largest-norm")),
        "BSS, best": certified(BSSSelector(r, rule="best")),
        "DSF": certified(DSFSelector(r)),
        "BSS, F": lambda: certified(BSSSelector(r, score_func=scores["F"](A, y)))(),
        "BSS, weights": lambda: certified(
            BSSSelector(r, score_func=scores["weights"](A, y))
        )(),
        "RFE": lambda: (
            RFE(machine(), n_features_to_select=r, step=0.1)
            .fit(A, y)
            .get_support(indices=True)
        ),
    }


def one_split(data, split, most=300):
    """A line for each number of features and method."""
    X, y = load(data)
    train, test = next(
        StratifiedShuffleSplit(1, test_size=0.3, random_state=split).split(X, y)
    )
    train = train[:most]
    A = X[train]
    B = X[test]
    if data in counted:
        A = normalize(A)
        B = normalize(B)
    else:
        scaler = StandardScaler().fit(A)
        A = scaler.transform(A)
        B = scaler.transform(B)
    space = row_space(A)
    for r in (r for r in sizes if r < A.shape[1] / 2):
        leading = space.truncate(target_rank(None, space.numerical_rank, r))
        for method, choose in methods(
            A, y[train], space, r, np.random.default_rng(split)
        ).items():
            start = time.process_time()
            chosen = choose()
            seconds = time.process_time() - start
            wrong = (
                machine().fit(A[:, chosen], y[train]).predict(B[:, chosen]) != y[test]
            )
            kappa = min(
                certify(leading, unweighted_sampling(chosen, A.shape[1])).kappa,
                PREFERENCE_CAP,
            )
            line = dict(
                samples=len(train),
                features=A.shape[1],
                r=r,
                method=method,
                seconds=seconds,
            )
            yield line | dict(error=100 * np.mean(wrong), kappa=kappa)


def lines(data, n_splits):
    """The means over the splits; of condition numbers, the geometric ones."""
    found = defaultdict(list)
    for split in range(n_splits):
        for line in one_split(data, split):
            found[line["samples"], line["features"], line["r"], line["method"]].append(
                line
            )
    for (samples, features, r, method), some in found.items():
        mean = {of: np.mean([line[of] for line in some]) for of in ("error", "seconds")}
        kappa = np.exp(np.mean([np.log(line["kappa"]) for line in some]))
        figures = mean["error"], kappa, mean["seconds"]
        yield [
            kind_of[data],
            data,
            samples,
            features,
            r,
            method,
            *(f"{x:.4g}" for x in figures),
        ]


def write_record(name, doc, columns, lines, n_splits, sets=None, packages=()):
    """What a script does whose record has some lines for each set, by `lines(data,
    n_splits)`.

    With `--data` they are printed only, so that some of the sets do not take the place of
    all in the record. The versions of `packages` are noted with the others.
    """
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--splits", type=int, default=n_splits)
    parser.add_argument(
        "--data", nargs="+", help="some of the sets; without --to nothing is written"
    )
    parser.add_argument(
        "--to", help=f"the file to write; without --data, records/{name}.csv"
    )
    call = parser.parse_args()
    to = Path(call.to) if call.to else None if call.data else folder / f"{name}.csv"
    facts = {"record": name, "splits": call.splits, **dict(conditions(packages))}
    with ExitStack() as stack:
        stack.enter_context(threadpool_limits(1))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)
        file = sys.stdout
        if to is not None:
            # a record stays as it is until there is a whole new one
            part = to.with_suffix(".part")
            file = stack.enter_context(open(part, "w", newline=""))
        file.writelines(f"# {name}: {value}\n" for name, value in facts.items())
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for data in call.data or sets or kind_of:
            start = time.time()
            writer.writerows(lines(data, call.splits))
            file.flush()
            print(data, f"{time.time() - start:.0f} s", file=sys.stderr, flush=True)
    if to is not None:
        part.replace(to)


if __name__ == "__main__":
    write_record("kinds", __doc__, columns, lines, 5)
