"""What rows keep, chosen by this book and by others: `python tests/benchmarks/coresets.py`.

Needs coreax, fastcan, pros-sketch and scikit-matter, in an environment of its own. Real sets are those
of the package's loaders and of scikit-learn; the made ones have heavy tails. Each is split
five times: 70% of the rows are all there are, and the others test. Columns are standardised
by the former. The record `records/coresets.csv` has for each set, number of rows and method
the medians over the splits of

- `ls`: how much larger the squared loss of the least-squares fit is than the least, on all
  rows; `ridge` the same for loss and penalty together, with a penalty of a hundredth of the
  number of rows;
- `svm`: the error in percent of a linear SVM on the rows that test, and `all`: that of one
  from all rows;
- `kappa`: how far the factors of two squared losses can be apart.
"""

import time
import warnings
from collections import defaultdict

import numpy as np
from kinds import write_record
from sklearn.cluster import kmeans_plusplus
from sklearn.datasets import load_diabetes, load_digits
from sklearn.metrics import pairwise_distances_argmin
from sklearn.model_selection import ShuffleSplit
from sklearn.preprocessing import StandardScaler, minmax_scale
from sklearn.svm import LinearSVC

from fsel_book import BSSSelector, LeverageSelector, load_dataset

kind_of = {
    "la_ozone": "table",
    "diabetes": "table",
    "spambase": "table",
    "digits": "images",
    "vowel": "sound",
    "student": "made",
    "lognormal": "made",
}
columns = (
    "kind data samples dimensions ratio r method ls ridge svm all kappa seconds".split()
)
ratios = (0.5, 2, 5)  # rows for each dimension
packages = ("coreax", "jax", "fastcan", "pros-sketch", "skmatter")


def load(data):
    """Features, targets as columns, and classes or None."""
    rng = np.random.default_rng(0)
    if data in ("student", "lognormal"):
        X = rng.standard_t(3, (5000, 20))
        if data == "lognormal":
            X = rng.lognormal(0, 1.5, (5000, 20)) * rng.choice([-1, 1], (5000, 20))
        return X, (X @ rng.normal(size=20) + 5 * rng.standard_t(3, 5000))[:, None], None
    bunch = {"digits": load_digits, "diabetes": load_diabetes}.get(
        data, lambda: load_dataset(data)
    )()
    X = np.asarray(bunch.data, dtype=float)
    if data in ("la_ozone", "diabetes"):
        return X, np.asarray(bunch.target, dtype=float)[:, None], None
    classes, codes = np.unique(bunch.target, return_inverse=True)
    return X, np.eye(len(classes))[codes], codes


def fitted(X, Y, weights, penalty=0.0):
    """Coefficients of weighted least squares; the first column is the constant one."""
    root = np.sqrt(weights)[:, None]
    ridge = np.sqrt(penalty) * np.eye(X.shape[1])[1:]
    return np.linalg.lstsq(
        np.vstack([root * X, ridge]),
        np.vstack([root * Y, np.zeros((len(ridge), Y.shape[1]))]),
        rcond=None,
    )[0]


def objective(X, Y, B, penalty=0.0):
    return np.sum((Y - X @ B) ** 2) + penalty * np.sum(B[1:] ** 2)


def herding(A, r):
    import jax
    from coreax import Data
    from coreax.kernels import SquaredExponentialKernel, median_heuristic
    from coreax.solvers import KernelHerding

    few = A[:: max(1, len(A) // 500)]
    kernel = SquaredExponentialKernel(length_scale=float(median_heuristic(few)))
    solver = KernelHerding(coreset_size=r, kernel=kernel)
    coreset, _ = solver.reduce(Data(A.astype(np.float32)))
    jax.block_until_ready(coreset.unweighted_indices)
    indices = np.asarray(coreset.unweighted_indices)
    return indices, np.full(r, len(A) / r)


def methods(A, r, seed):
    """For each method what chooses rows of `A` and gives them weights."""
    rng = np.random.default_rng(seed)
    n = len(A)
    dense = A[:, 1:]  # without the constant column

    def certified(selector):
        selector.fit(A.T)
        return selector.selected_, selector.weights_

    def plain(indices):
        return np.asarray(indices), np.full(len(indices), n / len(indices))

    def plus_plus():
        _, indices = kmeans_plusplus(dense, r, random_state=seed)
        indices = np.unique(indices)
        nearest = pairwise_distances_argmin(dense, dense[indices])
        return indices, np.bincount(nearest, minlength=len(indices)).astype(float)

    def farthest():
        from skmatter.sample_selection import FPS

        return plain(FPS(n_to_select=r).fit(dense).selected_idx_)

    def by_correlation():
        from fastcan import minibatch

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            indices = minibatch(
                dense.T, dense.T @ dense, r, batch_size=dense.shape[1], verbose=0
            )
        return plain(indices)

    def by_radius():
        from pros import sketch

        return plain(sketch(minmax_scale(dense), r, seed=seed).indices)

    found = {
        "uniform": lambda: plain(rng.choice(n, r, replace=False)),
        "k-means++": plus_plus,
        "skmatter FPS": farthest,
        "PROS": by_radius,
        "fastcan": by_correlation,
        "coreax herding": lambda: herding(dense, r),
        "BSS, auto ridge": lambda: certified(BSSSelector(r)),
    }
    if r > np.linalg.matrix_rank(A):
        found["leverage"] = lambda: certified(
            LeverageSelector(n_draws=r, rank="full", random_state=seed)
        )
        found["BSS"] = lambda: certified(BSSSelector(r, rank="full", rule="best"))
    return found


def svm_error(X, codes, X_test, codes_test, weights):
    if codes is None:
        return np.nan
    if len(np.unique(codes)) < 2:
        return 100 * np.mean(codes_test != codes[0])
    svm = LinearSVC(C=0.01, dual="auto", random_state=0)
    svm.fit(X, codes, sample_weight=weights)
    return 100 * np.mean(svm.predict(X_test) != codes_test)


def one_split(data, split):
    X, Y, codes = load(data)
    train, test = next(ShuffleSplit(1, test_size=0.3, random_state=split).split(X))
    X = X[:, X[train].std(axis=0) > 0]
    scaler = StandardScaler().fit(X[train])
    X, X_test = scaler.transform(X[train]), scaler.transform(X[test])
    Y = StandardScaler().fit_transform(Y[train])
    n = len(X)
    penalty = n / 100
    with_one = np.c_[np.ones(n), X]
    A = np.c_[with_one, Y]
    p = np.linalg.matrix_rank(A)
    least = objective(with_one, Y, fitted(with_one, Y, np.ones(n)))
    best = objective(with_one, Y, fitted(with_one, Y, np.ones(n), penalty), penalty)
    sides = (None, None) if codes is None else (codes[train], codes[test])
    full = svm_error(X, sides[0], X_test, sides[1], np.ones(n))
    V = np.linalg.svd(A, full_matrices=False)[0][:, :p]
    for ratio in ratios:
        r = int(ratio * p)
        if r >= n / 2:
            continue
        for method, choose in methods(A, r, split).items():
            start = time.perf_counter()
            indices, weights = choose()
            seconds = time.perf_counter() - start
            if method in ("BSS", "leverage"):
                weights = weights * p / (weights @ np.sum(V[indices] ** 2, axis=1))
            few = with_one[indices], Y[indices], weights
            M = V[indices].T @ (weights[:, None] * V[indices])
            low, high = np.linalg.eigvalsh(M)[[0, -1]]
            line = dict(samples=n, dimensions=p, ratio=ratio, r=r, method=method)
            yield line | dict(
                ls=objective(with_one, Y, fitted(*few)) / least - 1,
                ridge=objective(with_one, Y, fitted(*few, penalty), penalty) / best - 1,
                svm=svm_error(
                    X[indices],
                    None if codes is None else sides[0][indices],
                    X_test,
                    sides[1],
                    weights,
                ),
                all=full,
                kappa=high / low if low > 1e-12 * high else np.inf,
                seconds=seconds,
            )


def lines(data, n_splits):
    """The medians over the splits."""
    found = defaultdict(list)
    for split in range(n_splits):
        for line in one_split(data, split):
            found[line["ratio"], line["method"]].append(line)
    for some in found.values():
        first = some[0]
        figures = [
            np.median([line[of] for line in some])
            for of in ("ls", "ridge", "svm", "all", "kappa", "seconds")
        ]
        named = [first[of] for of in "samples dimensions ratio r method".split()]
        yield [kind_of[data], data, *named, *(f"{x:.4g}" for x in figures)]


if __name__ == "__main__":
    write_record("coresets", __doc__, columns, lines, 5, list(kind_of), packages)
