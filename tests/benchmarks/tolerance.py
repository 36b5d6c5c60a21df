"""Whether the interval for rows to come covers what it should: `python
tests/benchmarks/tolerance.py`.

The rows of each of ten sets, at most 600 drawn anew each time, are split at random into
three parts: ten columns are chosen on the first, the interval is made from the second,
and pairs of the third are counted. The record `records/coverage.csv` has for each set

- pairs: how many pairs make the interval;
- content: which part of all pairs it is to hold with a confidence of 95%;
- expected: what the theorem says of the mean over all splits;
- covered, error: the mean over the splits, and its standard error;
- reached: the part of the splits in which at least `content` was covered, as far as the
  pairs of the third part tell.

The chapter on what chosen columns keep shows it.
"""

import numpy as np
from kinds import counted, kind_of, load, write_record
from sklearn.preprocessing import StandardScaler, normalize

from fsel_book import BSSSelector
from fsel_book.kept import on_host, squared_distances, tolerance_ranks

sets = (
    "christensen digits usps isolet libras docstrings splice wine breast_cancer "
    "caltech6_hsv"
).split()
columns = "kind data pairs content expected covered error reached".split()


def prepared(data):
    """The rows: of length one where they are counts, else standardised."""
    X, _ = load(data)
    if data in counted:
        return on_host(normalize(X))
    return StandardScaler().fit_transform(on_host(X))


def covered_by_one(X, rng, most=600):
    """What one split covers, and the interval."""
    parts = np.array_split(rng.permutation(len(X))[:most], 3)
    first, second, third = parts
    selector = BSSSelector(10).fit(X[first])
    found = selector.certificate_.on(X[second])
    i, j = third[: len(third) // 2 * 2].reshape(2, -1)
    before = squared_distances(X, i, j)
    after = squared_distances(X[:, selector.selected_], i, j)
    apart = before > 1e-24 * before.max()
    ratios = after[apart] / before[apart]
    inside = (found.low <= ratios) & (ratios <= found.high)
    return np.mean(inside), found


def lines(data, n_splits):
    """One line: the means over the splits."""
    X = prepared(data)
    rng = np.random.default_rng(0)
    shares = []
    expected = []
    for _ in range(n_splits):
        share, found = covered_by_one(X, rng)
        shares.append(share)
        # a few pairs of equal rows may be missing, so that the number differs
        trim = tolerance_ranks(found.n_pairs, 0.9, found.confidence).trim
        expected.append(1 - 2 * trim / (found.n_pairs + 1))
    error = np.std(shares, ddof=1) / np.sqrt(n_splits)
    reached = np.mean(np.array(shares) >= found.content)
    figures = found.content, np.mean(expected), np.mean(shares), error, reached
    yield [
        kind_of[data],
        data,
        found.n_pairs,
        *(f"{figure:.5g}" for figure in figures),
    ]


if __name__ == "__main__":
    write_record("tolerance", __doc__, columns, lines, 1000, sets)
