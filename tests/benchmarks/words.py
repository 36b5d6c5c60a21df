"""Words that stand for 20,000 others, by this book and by others: `python
tests/benchmarks/words.py`.

The data are the 117,659 definitions of WordNet 3.0 (Debian's package wordnet-base, or
NLTK's wordnet) as tf-idf of 20,000 words and pairs of words. 100,000 of them, drawn at
random, choose and fit; the others judge. Each choice is made in a process of its own, so
that its peak of memory is known; the SVD, the factor and the orders of words serve for
all numbers of words, and their time is that of the largest.

The record `records/words.csv` has for each number of words and method

- share: the part of the variance of all columns that regressions on the chosen ones, with
  a ridge of 10, explain in definitions that had no part in anything; of PCA, that in its
  components, which are mixtures of all words;
- seconds, peak: processor time, and the peak of the memory of the process in MB.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from kinds import write_record
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import chi2

from fsel_book import (
    BSSSelector,
    LeverageSelector,
    RRQRSelector,
    as_blocks,
    leading_factor,
    load_glosses,
)

columns = "kind data samples features r method share seconds peak".split()
sizes = (50, 100, 200, 500)
kind_of = {"glosses": "text"}
N_WORDS = 20_000
N_KNOWN = 100_000
RIDGE = 10.0


def make(folder, n_known=N_KNOWN, n_words=N_WORDS):
    """Write the files: what chooses, by samples and by features, and what judges."""
    glosses = load_glosses()
    order = np.random.default_rng(0).permutation(len(glosses.data))
    texts = TfidfVectorizer(max_features=n_words, ngram_range=(1, 2), sublinear_tf=True)
    X = texts.fit_transform(glosses.data)[order]
    known = sp.csr_array(X[:n_known])
    sp.save_npz(folder / "rows.npz", known, compressed=False)
    sp.save_npz(folder / "columns.npz", known.tocsc(), compressed=False)
    sp.save_npz(folder / "unseen.npz", sp.csr_array(X[n_known:]), compressed=False)
    np.save(folder / "kinds.npy", glosses.target[order[:n_known]])
    np.save(folder / "names.npy", texts.get_feature_names_out().astype("U"))


def loadings(V):
    """For each component the word of largest loading that is not taken yet."""
    taken = []
    for v in np.abs(V):
        v[taken] = -1
        taken.append(int(np.argmax(v)))
    return taken


def choose(method, folder, sizes=sizes):
    """For each number of words what is chosen, and the seconds."""
    most = max(sizes)
    start = time.process_time()

    def known():
        return sp.load_npz(folder / "rows.npz")

    def of_order(order):
        return {r: np.asarray(order[:r]).tolist() for r in sizes}

    def ours(selector):
        found, spent = {}, {}
        for r in sizes:
            begun = time.process_time()
            one = selector(r).fit(as_blocks(folder / "columns.npz"))
            found[r] = one.get_support(indices=True).tolist()
            spent[r] = time.process_time() - begun
        return found, spent

    spent = None
    if method == "RRQR of the factor":
        W = leading_factor(as_blocks(folder / "rows.npz"), most)
        found = {
            r: RRQRSelector(r, strong=False)
            .fit(W[:r])
            .get_support(indices=True)
            .tolist()
            for r in sizes
        }
    elif method == "BSS":
        found, spent = ours(
            lambda r: BSSSelector(r, rank=max(10, r // 4), rule="largest-norm")
        )
    elif method == "largest leverages":
        found, spent = ours(
            lambda r: LeverageSelector(r, rank=max(10, r // 4), rule="largest")
        )
    elif method == "PCA":
        V = TruncatedSVD(most, random_state=0).fit(known()).components_
        np.save(folder / "components.npy", V)
        found = {r: [] for r in sizes}
    elif method == "SVD, top loadings":
        V = TruncatedSVD(most, random_state=0).fit(known()).components_
        found = of_order(loadings(V))
    elif method == "pivoted QR of 2,000 rows":
        A = known()
        some = np.random.default_rng(0).choice(A.shape[0], 2000, replace=False)
        A = A[np.sort(some)].toarray()
        order = scipy.linalg.qr(A, mode="r", pivoting=True)[1]
        found = of_order(order)
    elif method == "document frequency":
        found = of_order(np.argsort(-(known() > 0).sum(axis=0), kind="stable"))
    elif method == "chi2":
        scores = chi2(known(), np.load(folder / "kinds.npy"))[0]
        found = of_order(np.argsort(-np.nan_to_num(scores), kind="stable"))
    elif method == "random":
        d = known().shape[1]
        found = of_order(np.random.default_rng(0).permutation(d))
    else:
        raise ValueError(method)
    whole = time.process_time() - start
    return found, spent or dict.fromkeys(sizes, whole)


METHODS = (
    "RRQR of the factor",
    "BSS",
    "largest leverages",
    "SVD, top loadings",
    "pivoted QR of 2,000 rows",
    "document frequency",
    "chi2",
    "random",
    "PCA",
)


def centred_products(path, chosen, means):
    """Products of chosen columns with all about given means, and sums of squares."""
    X = sp.load_npz(path)
    sums = np.asarray(X.sum(axis=0)).ravel()
    C = X[:, chosen]
    here = chosen
    K = (C.T @ X).toarray() - np.outer(means[here], sums)
    K += np.outer(X.shape[0] * means[here] - sums[here], means)
    squares = np.asarray(X.power(2).sum(axis=0)).ravel()
    return K, squares - 2 * means * sums + X.shape[0] * means**2


def share(folder, chosen):
    """What is explained of the definitions that judge."""
    here = sorted(chosen)
    known = sp.load_npz(folder / "rows.npz")
    means = np.asarray(known.mean(axis=0)).ravel()
    K, _ = centred_products(folder / "rows.npz", here, means)
    B = np.linalg.solve(K[:, here] + RIDGE * np.eye(len(here)), K)
    K, squares = centred_products(folder / "unseen.npz", here, means)
    left = squares + np.sum(B * (K[:, here] @ B - 2 * K), axis=0)
    left[here] = 0
    return 1 - left.sum() / squares.sum()


def share_of_components(folder, r):
    X = sp.load_npz(folder / "unseen.npz")
    V = np.load(folder / "components.npy")[:r]
    means = np.asarray(sp.load_npz(folder / "rows.npz").mean(axis=0)).ravel()
    norm = np.sum(X.data**2)
    whole = norm - 2 * np.sum(X @ means) + X.shape[0] * means @ means
    return 1 - (norm - np.sum((X @ V.T) ** 2)) / whole


def lines(data, _):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder)
        for method in METHODS:
            run = subprocess.run(
                [sys.executable, __file__, "--one", method, name],
                capture_output=True,
                text=True,
                check=True,
            )
            found, spent, peak = json.loads(run.stdout)
            for r in sizes:
                chosen = found[str(r)]
                of = share(folder, chosen) if chosen else share_of_components(folder, r)
                values = (of, spent[str(r)], peak)
                yield [
                    kind_of[data],
                    data,
                    N_KNOWN,
                    N_WORDS,
                    r,
                    method,
                    *(f"{x:.4g}" for x in values),
                ]


def one(method, folder):
    """A choice, for the process that has started this one."""
    warnings.simplefilter("ignore")
    found, spent = choose(method, Path(folder))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(json.dumps([found, spent, peak]))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(*sys.argv[2:])
    else:
        write_record("words", __doc__, columns, lines, 1, sets=kind_of)
