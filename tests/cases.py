"""What several test files use: matrices, oracles, a description of each method of
selection and of each array library.

A new method is one entry of `CASES`: the tests of selectors, of bad input, of array
libraries, of any matrix and scikit-learn's own then run on it.
"""

import copy
import importlib
import itertools
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import clarabel
import numpy as np
import pandas
import pytest
import scipy.linalg
import scipy.sparse as sp
import yaml
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import rel_entr

from fsel_book import (
    BSSSelector,
    DSFSelector,
    LeverageSelector,
    RSFSelector,
    bss,
    det_sampling,
    largest_leverages,
    leverage_sampling,
    row_space,
)
from fsel_book.arrays import from_numpy, to_numpy
from fsel_book.barriers import Barriers
from fsel_book.baselines import (
    RandomSelector,
    RRQRSelector,
    random_features,
    random_promise,
    rrqr,
)
from fsel_book.blocks import Blocks
from fsel_book.certificates import Promise
from fsel_book.column_search import LargestNormRule
from fsel_book.dual_set import rand_sampling
from fsel_book.leverage import leverage_promise
from fsel_book.sparsification import BSS_RULES, bss_promise, bss_reference
from fsel_book.spectra import RowSpace, as_row_space

ROOT = Path(__file__).resolve().parent.parent
PAGES = yaml.safe_load((ROOT / "_quarto.yml").read_text(encoding="utf-8"))["reference"]


def found_by(name):
    """What an entry of the reference stands for: a name of the front, or one of a
    module as `module.name`.
    """
    module, _, thing = name.rpartition(".")
    return getattr(importlib.import_module(f"fsel_book.{module}".rstrip(".")), thing)


PUBLIC = {
    name.rpartition(".")[2]: found_by(name) for page in PAGES for name in page["names"]
}


class Begun(Exception):
    """Raised in place of work, to see what is true when it begins."""


def swept(name, few, rest):
    """Run a test with `name` one of a few values, and in the sweeps of `make test-all`
    one of the rest as well.

    Where `name` is a tuple of names, so are the values.
    """
    rest = [value if isinstance(name, tuple) else (value,) for value in rest]
    return pytest.mark.parametrize(
        name,
        [*few, *(pytest.param(*values, marks=pytest.mark.sweep) for values in rest)],
    )


def swept_product(names, few, *values):
    """Run a test on a few of the combinations of these values, and in the sweeps on all
    others.
    """
    every = list(itertools.product(*values))
    assert all(combination in every for combination in few), (
        "one of the few is no combination of these values"
    )
    return swept(
        names, few, [combination for combination in every if combination not in few]
    )


def swept_seeds(few, many):
    """Run a test on `seeds`, the first few of many, and in the sweeps on the rest of
    them.
    """
    return swept("seeds", [range(few)], [range(few, many)])


def cell_of(name, text):
    """The source of the one code cell of a notebook that holds `text`."""
    path = Path(__file__).resolve().parent.parent / "nbs" / f"{name}.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    (found,) = (
        s
        for c in cells
        if c["cell_type"] == "code" and text in (s := "".join(c["source"]))
    )
    return found


makefile = (Path(__file__).resolve().parent.parent / "Makefile").read_text(
    encoding="utf-8"
)
(scipy_series,) = re.findall(
    r"^SCIPY := scipy==(\d+\.\d+\.)\*$", makefile, flags=re.MULTILINE
)
on_documents_of_the_book = pytest.mark.skipif(
    not scipy.__version__.startswith(scipy_series),
    reason="the documents are those of another SciPy",
)
needs_data = pytest.mark.skipif(
    not os.environ.get("FSEL_BOOK_DATA"), reason="FSEL_BOOK_DATA is not set"
)

# ---------------------------------------------------------------- matrices


def orthonormal(d, l, rng):
    """A random d x l matrix with orthonormal columns."""
    return np.linalg.qr(rng.standard_normal((d, l)))[0]


def heavy(d, l, rng):
    """Orthonormal columns and row norms over several orders of magnitude."""
    return np.linalg.qr(
        rng.standard_normal((d, l)) * np.exp(1.5 * rng.standard_normal((d, 1)))
    )[0]


def hadamard(d, l, first=0):
    """Columns first..first + l - 1 of the Sylvester-Hadamard matrix of order d: all
    rows of one norm.
    """
    parity = np.arange(d)[:, None] & np.arange(first, first + l)
    for shift in (16, 8, 4, 2, 1):
        parity ^= parity >> shift
    return np.where(parity & 1, -1.0, 1.0) / np.sqrt(d)


def stacked_identities(l, copies):
    """Copies of the unit vectors, one after another: exact ties and exact duplicates."""
    return np.tile(np.eye(l), (copies, 1)) / np.sqrt(copies)


def two_frames(half, l):
    """Rows of one norm; the first half of them lives in the first l/2 coordinates, the
    rest in the others.
    """
    F = hadamard(half, l // 2)
    return scipy.linalg.block_diag(F, F)


class MergedParts(Blocks):
    """Blocks of features of these widths that are summed up apart, as workers do; the
    summaries are merged in any order.
    """

    axes = (1,)

    def __init__(self, X, widths, seed=0):
        assert sum(widths) == X.shape[1]
        self.edges = np.unique(np.cumsum([0, *widths]))  # of no empty blocks
        self.X = X
        self.rng = np.random.default_rng(seed)

    def read(self, axis):
        for a, b in itertools.pairwise(self.edges):
            yield self.X[:, a:b]

    def reduce(self, axis, summary):
        parts = []
        for a, A in zip(self.edges, self.read(axis)):
            parts.append(copy.deepcopy(summary))
            parts[-1].add(a, A)
        while len(parts) > 1:
            some = [parts.pop(self.rng.integers(len(parts))) for _ in range(2)]
            parts.append(some[0].merge(some[1]))
        return parts[0]


def with_condition(n, d, condition, rng):
    """An n x d matrix with singular values spread evenly (in logarithm) over the given
    condition number.
    """
    k = min(n, d)
    s = np.logspace(0, -np.log10(condition), k)
    return orthonormal(n, k, rng) * s @ orthonormal(d, k, rng).T


def table(n=30, d=60, seed=0):
    """A generic data matrix: full rank, columns of different length, no ties."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * np.exp(rng.standard_normal(d))


def sparse_table(n=40, d=300, density=0.1, seed=0):
    """A generic sparse matrix without empty rows, CSR."""
    rng = np.random.default_rng(seed)
    X = sp.random_array(
        (n, d), density=density, random_state=rng, data_sampler=rng.standard_normal
    ).tolil()
    X[np.arange(n), rng.integers(d, size=n)] = 1.5
    return sp.csr_array(X)


def equal_columns(X):
    """For each column the lowest index of one that is equal to it or to its negative,
    by comparing all pairs.
    """
    X = X.toarray() if sp.issparse(X) else np.asarray(X)
    margin = (1e-5 if X.dtype == np.float32 else 1e-11) * np.linalg.norm(X, axis=0)
    first = np.arange(X.shape[1])
    for j in range(X.shape[1]):
        apart = np.minimum(
            np.linalg.norm(X - X[:, [j]], axis=0), np.linalg.norm(X + X[:, [j]], axis=0)
        )
        first[j] = min(np.flatnonzero(apart <= margin[j])[0], j) if margin[j] > 0 else j
    return first


def small_head(monkeypatch, size):
    """From here on the scan in order keeps the rows of `size` columns at hand: the
    others are looked up when met.
    """
    original = LargestNormRule.__init__

    def replacement(self, *args, **named):
        original(self, *args, **named)
        self.head = self.head[:size]
        self.largest_head = len(self.head)

    monkeypatch.setattr(LargestNormRule, "__init__", replacement)


def dense(X):
    """X in double precision, whatever it is stored in."""
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


# ---------------------------------------------------------------- orthonormal bases


def with_duplicates(d, l, rng):
    V = heavy(-(-d // 3), l, rng)
    return np.repeat(V, 3, axis=0)[: 3 * len(V)] / np.sqrt(3)


def with_zero_rows(d, l, rng):
    V = heavy(d, l, rng)
    V[rng.permutation(d)[: max(0, (d - l) // 2)]] = 0
    return np.linalg.qr(V)[0] * np.any(V, axis=1)[:, None]


def with_few_values(d, l, rng):
    """Through the row space of small integers: many ties and near ties."""
    X = rng.integers(-1, 2, size=(l + 2, d)).astype(float)
    X[0, 0] = 3
    return row_space(X).basis()


def rank_deficient(d, l, rng):
    X = rng.standard_normal((3 * l + 2, l)) @ rng.standard_normal((l, d))
    return row_space(X).basis()


def one_column_matters(d, l, rng):
    V = orthonormal(d - 1, l - 1, rng) if l > 1 else np.zeros((d - 1, 0))
    out = np.zeros((d, V.shape[1] + 1))
    out[1:, 1:] = V
    out[0, 0] = 1.0
    return out


def shuffled_frames(d, l, rng):
    half = 1 << int(np.log2(max(d, 4 * l)) - 1)
    V = two_frames(half, 2 * ((l + 1) // 2))
    return V[rng.permutation(len(V))]


def rotated_identities(d, l, rng):
    """Columns that are equal but for rounding error: ties to be settled as if there
    were none.
    """
    return stacked_identities(l, max(2, d // l)) @ orthonormal(l, l, rng)


# Orthonormal bases of many kinds, of about the size asked for: `make(d, l, rng)`.
KINDS = {
    "Gaussian": lambda d, l, rng: orthonormal(d, l, rng),
    "heavy-tailed": lambda d, l, rng: heavy(d, l, rng),
    "Hadamard": lambda d, l, rng: hadamard(1 << int(np.ceil(np.log2(d))), l),
    "stacked identities": lambda d, l, rng: stacked_identities(l, max(2, d // l)),
    "two frames, shuffled": shuffled_frames,
    "rotated identities": rotated_identities,
    "duplicated columns": with_duplicates,
    "zero columns": with_zero_rows,
    "integers": with_few_values,
    "rank-deficient": rank_deficient,
    "one column alone in its direction": one_column_matters,
}


# ---------------------------------------------------------------- oracles


def right_singular_vectors(X, rank=None):
    """V, by a dense SVD in float64, of X brought to unit size; rank as NumPy would have
    it unless given.
    """
    X = dense(X)
    X = X / np.abs(X).max()
    _, s, Vt = np.linalg.svd(X, full_matrices=False)
    rank = rank or int(np.sum(s > s[0] * max(X.shape) * np.finfo(float).eps))
    return Vt[:rank].T


def interval(V, sampling):
    """Extreme eigenvalues of V' R R' V, through the matrix R."""
    C = sampling.R.T @ V
    eigenvalues = np.linalg.eigvalsh(C.T @ C)
    return eigenvalues[0], eigenvalues[-1]


def relative_error(found, exact):
    """The largest; infinite where something is found that is exactly zero."""
    difference = np.abs(np.asarray(found, dtype=np.float64) - exact)
    return float(
        np.max(
            np.where(
                exact == 0,
                np.where(difference == 0, 0, np.inf),
                difference / np.where(exact == 0, 1, exact),
            )
        )
    )


def scaled_spectrum(X):
    """Singular values of X with the samples (of tall data: the features) scaled to one
    length, in float64.
    """
    X = dense(X)
    X = X / np.abs(X).max()
    X = X if X.shape[1] >= X.shape[0] else X.T
    norms = np.linalg.norm(X, axis=1)
    kept = norms > 1.5e-15 * norms.max()  # where row_space surely leaves a row out
    return np.linalg.svd(X[kept] / norms[kept, None], compute_uv=False)


def rounding(X, rank):
    """The error to expect in V: it grows with the condition number."""
    s = scaled_spectrum(X)
    return 1e-9 + 1e-15 * s[0] / max(s[min(rank, len(s)) - 1], 1e-15 * s[0])


def assert_certified(selector, X):
    """Weights, interval and certificate of a selector fitted to X, dense or sparse,
    each judged by other means.
    """
    sampling = selector.sampling_
    certificate = selector.certificate_
    weights = np.asarray(sampling.weights, dtype=np.float64)
    assert np.all(np.isfinite(weights)) and np.all(weights >= 0)
    assert (
        sampling.n_selected == len(set(sampling.indices)) == np.sum(selector.support_)
    )
    assert (
        sampling.n_draws
        == selector.n_draws_
        == certificate.n_draws
        >= sampling.n_selected
    )

    l = certificate.rank
    r = sampling.n_draws
    space = row_space(X, None if l == certificate.numerical_rank else l)
    V = np.asarray(space.basis())
    error = rounding(X, certificate.numerical_rank)
    assert_allclose(V.T @ V, np.eye(l), atol=error)
    # An error in a row v of V is magnified by its weight, which may be as large as 1 /
    # |v|^2.
    magnified = error * (
        1 + np.sum(weights * np.sqrt(selector.leverage_scores_[selector.selected_]))
    )
    assert_allclose(
        certificate.interval, interval(V, sampling), rtol=1e-6, atol=1e-6 + magnified
    )

    whole = dense(X)
    s = np.linalg.svd(whole / np.abs(whole).max(), compute_uv=False)
    # in float32, samples below 1e-6 of the largest count as zero
    smallest = 0.1 if X.dtype == np.float32 else 1e-5
    one_space = s[l - 1] > smallest * s[0] and (l == len(s) or s[l] < 0.9 * s[l - 1])
    if magnified < 1e-5 and one_space:
        oracle = interval(right_singular_vectors(whole, l), sampling)
        assert_allclose(certificate.interval, oracle, rtol=1e-5, atol=1e-4)
    return l, r


def conic(P, q, A, b, cones, tolerance=None):
    """The x of least x'Px / 2 + q'x where b - A x is in the cones, and that value, by
    clarabel.

    To 1e-8 and where need be to 1e-7, or to the tolerance, with the constraints as they
    stand.
    """
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    if tolerance is None:
        settings.reduced_tol_gap_abs = settings.reduced_tol_gap_rel = (
            settings.reduced_tol_feas
        ) = 1e-7
    else:
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        settings.equilibrate_enable = False
    solution = clarabel.DefaultSolver(
        sp.csc_matrix(P), q, sp.csc_matrix(A), b, cones, settings
    ).solve()
    assert solution.status in (
        clarabel.SolverStatus.Solved,
        clarabel.SolverStatus.AlmostSolved,
    )
    return np.array(solution.x), solution.obj_val


def refused(*parts, error=ValueError):
    """A context in which an error with all these parts must be raised, in this order."""
    return pytest.raises(
        error, match="(?s)" + ".*".join(re.escape(part) for part in parts)
    )


# ---------------------------------------------------------------- methods of selection


def eps_of(thing, promise):
    """What `eps` bounds, of a promise or a certificate: |I - M|, or 1 - M where M is
    promised no upper end.
    """
    low = thing.lower if isinstance(thing, Promise) else thing.interval[0]
    return 1 - low if promise.upper == np.inf else thing.eps


@dataclass(frozen=True)
class Case:
    """One method of selection, and all that a test need know of it.

    `make(r, ...)` gives its selector of `r` features, `drawing(r, ...)` that of `r`
    draws, `function(V, r, seed)` what the latter's `fit` calls; `promise(space, r,
    n_draws)` what the theorem says where so many were made, or just `r`, by other means
    than the selector's where there are any, or None. It needs `spare` draws beyond the rank, but for a single one
    at rank 1; `auto` says whether "auto" finds r from an eps, `random` whether it takes
    a seed, `distinct` whether every draw is another feature, `blind` whether it looks
    at no data (of distinct draws the weights are then n_features / r, and else one),
    and `lengths` whether it looks at lengths in the row space, not at the space alone.
    With more than `untied(n)` draws from n generic samples its features tie, so that
    the choice depends on their order.
    """

    selector: type
    function: Callable
    promise: Callable | None = None
    keywords: dict = field(default_factory=dict)
    spare: int = 1
    auto: bool = False
    random: bool = False
    distinct: bool = False
    blind: bool = False
    lengths: bool = False
    untied: Callable = lambda n: np.inf

    def make(self, r=None, **keywords):
        seed = {"random_state": 0} if self.random else {}
        if not self.weighted:
            keywords.pop("rescale", None)
        return self.selector(r, **{**self.keywords, **seed, **keywords})

    def drawing(self, r, **keywords):
        draws = "n_draws" in self.selector().get_params() and self.draws
        return (
            self.make(None, n_draws=r, **keywords)
            if draws
            else self.make(r, **keywords)
        )

    @property
    def draws(self):
        """Whether draws are made, which may fall on the same feature."""
        return self.keywords.get("rule") != "largest"

    @property
    def soft(self):
        """Whether it chooses at a ridge where neither a rank nor a ridge is given."""
        longest = self.keywords.get("rule") == "largest-norm"
        return self.selector is BSSSelector and not longest

    @property
    def weighted(self):
        """Whether the selector has weights to rescale by."""
        return "rescale" in self.selector().get_params()


def edge_of(space, r):
    """By the root of which eigenvalues may be off: nothing for a single draw, whose
    weight makes M one.
    """
    return np.sqrt(space.shape[1] / r) if r > 1 else 0.0


def by_rule(rule, **keywords):
    def promise(space, r, n_draws=None):
        """Where the barriers for `r` draws are after so many."""
        edge = edge_of(space, r)
        if not edge:
            return Promise(1.0, 1.0)
        T = n_draws or r
        root = np.sqrt(r * space.shape[1])
        ends = T - root, (1 + edge) / (1 - edge) * (T + root)
        return Promise(*((1 - edge) / T * end for end in ends))

    return Case(
        BSSSelector,
        lambda V, r, seed=0: bss(V, r, rule, seed),
        promise,
        {"rule": rule},
        auto=True,
        **keywords,
    )


def by_pivoting(strong, lower):
    def promise(space, r, n_draws=None):
        d, l = space.shape
        return Promise(lower(l, d) if l < d else 1.0, 1.0)

    return Case(
        RRQRSelector,
        lambda V, r, seed=0: rrqr(V, r, strong=strong),
        promise,
        {"strong": strong},
        spare=0,
        distinct=True,
        lengths=True,
    )


def by_dual_set(rule):
    """A rule of DSF-Select; `components` is what `det_sampling` calls "closest", with
    the components as targets.
    """

    def function(V, r, seed=0):
        space = as_row_space(V)
        if rule != "components":
            return det_sampling(space, space.residual_norms, r, rule)
        X = dense(space.X if sp.issparse(space.X) else to_numpy(space.X))
        components = from_numpy(X @ to_numpy(space.basis()), space.X)
        return det_sampling(space, space.residual_norms, r, "closest", components)

    def promise(space, r, n_draws=None):
        return Promise((1 - edge_of(space, r)) ** 2, np.inf)

    # What repeated draws leave to fill up goes by lengths; the last dimension that is
    # left, any feature fills as well.
    return Case(
        DSFSelector,
        function,
        promise,
        {"rule": rule},
        auto=True,
        lengths=True,
        untied=lambda n: n - 1,
    )


def part_of_delta(r, n_draws, delta=0.01):
    """What of `delta` is for a stop after so many draws, where `r` features are asked
    for; all of it for just `r` draws.
    """
    if n_draws is None:
        return delta
    return delta * (1 / (n_draws - r + 1) - 1 / (n_draws - r + 2))


def drawn_by_leverage(space, r, n_draws=None):
    promise = leverage_promise(space.shape[1], n_draws or r, part_of_delta(r, n_draws))
    return Promise(promise.lower, promise.upper, 0.99)


def drawn_uniformly(space, r, n_draws=None):
    if len(np.unique(space.first_multiple)) == space.shape[0] and np.all(
        to_numpy(space.squared_lengths) > 0
    ):
        return random_promise(space, r)
    promise = random_promise(space, n_draws or r, part_of_delta(r, n_draws))
    return Promise(promise.lower, promise.upper, 0.99)


def kept_by_draws(space, r, n_draws=None):
    """The lower end of leverage sampling, found by bisection of r kl(x / k, 1 / k) =
    log(2 k / delta).
    """
    k = space.shape[1]
    delta = part_of_delta(r, n_draws)
    r = n_draws or r
    low = 0.0
    high = 1.0
    for _ in range(60):
        x = (low + high) / 2
        cost = r * (rel_entr(x / k, 1 / k) + rel_entr(1 - x / k, 1 - 1 / k))
        low, high = (x, high) if cost > np.log(2 * k / delta) else (low, x)
    return Promise(low, np.inf, 0.99)


def leverage_kept(space, r, n_draws=None):
    """All but the leverage left out, through the dense V; of equal columns one is taken
    for all, and of multiples the longest for those that are as long.
    """
    scores = np.sum(np.asarray(space.basis()) ** 2, axis=1)
    first = space.first_multiple
    order = np.argsort(-np.round(scores, 10), kind="stable")
    _, longest = np.unique(first[order], return_index=True)
    taken = order[np.sort(longest)][:r]
    kept = sum(
        scores[(first == first[i]) & np.isclose(scores, scores[i], rtol=1e-6)].sum()
        for i in taken
    )
    return Promise(max(0.0, 1 - (scores.sum() - kept)), 1.0)


CASES = {
    "BSS": by_rule("largest-norm"),
    "BSS, best": by_rule("best"),
    "BSS, sampled": by_rule("sampled", random=True),
    "leverage sampling": Case(
        LeverageSelector,
        lambda V, r, seed=0: leverage_sampling(V, r, seed),
        drawn_by_leverage,
        auto=True,
        random=True,
    ),
    "largest leverages": Case(
        LeverageSelector,
        lambda V, r, seed=0: largest_leverages(V, r),
        leverage_kept,
        {"rule": "largest"},
        spare=0,
        auto=True,
        distinct=True,
    ),
    "random": Case(
        RandomSelector,
        lambda V, r, seed=0: random_features(V, r, seed),
        drawn_uniformly,
        auto=True,
        random=True,
        distinct=True,
        blind=True,
    ),
    "DSF": by_dual_set("best"),
    "DSF, first": by_dual_set("first"),
    "DSF, components": by_dual_set("components"),
    "RSF": Case(
        RSFSelector,
        lambda V, r, seed=0: rand_sampling(V, r, seed),
        kept_by_draws,
        auto=True,
        random=True,
    ),
    "pivoted QR": by_pivoting(False, lambda l, d: 1 / (1 + (d - l) * (4**l - 1) / 3)),
    "strong RRQR": by_pivoting(True, lambda l, d: 1 / (1 + 4 * l * (d - l))),
}


def cases(**features):
    """Run a test on every case with these features, as `random=True`; the test's
    argument is `case`.
    """
    chosen = {
        name: case
        for name, case in CASES.items()
        if all(getattr(case, key) == features[key] for key in features)
    }
    return pytest.mark.parametrize("case", chosen.values(), ids=chosen)


each_case = cases()


# ---------------------------------------------------------------- array libraries


@dataclass
class Library:
    """How to make an array of a library from a NumPy one, how to get it back, and how
    to recognise it.
    """

    name: str
    make: Callable[[np.ndarray], Any]
    back: Callable[[Any], np.ndarray]
    array_type: type | tuple
    device: Callable[[Any], Any] = lambda a: None

    @property
    def sparse(self):
        return self.name.startswith("cs")

    def is_result(self, a, dtype=None):
        """Whether `a`, a result for an input of this library, lives where it should,
        with the dtype it should have.
        """
        expected = np.ndarray if self.sparse else self.array_type
        return isinstance(a, expected) and (
            dtype is None or str(a.dtype).endswith(dtype)
        )


def numpy_library():
    return Library("numpy", np.asarray, np.asarray, np.ndarray)


def strict_library():
    xp = pytest.importorskip(
        "array_api_strict", reason="array_api_strict is not installed"
    )
    # Not its first device: what is made without naming the device of the input ends up
    # elsewhere, and fails.
    device = xp.Device("device1")
    host = xp.Device("CPU_DEVICE")
    return Library(
        "strict",
        lambda a: xp.asarray(a, device=device),
        lambda a: np.from_dlpack(xp.asarray(a, device=host)),
        type(xp.zeros(1)),
        lambda a: a.device,
    )


def sparse_library(name):
    kind = getattr(sp, name)
    return lambda: Library(
        name, kind, lambda a: a.toarray() if sp.issparse(a) else np.asarray(a), kind
    )


def torch_library():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return Library(
        "torch",
        lambda a: torch.asarray(np.array(a), device=device),
        lambda a: a.cpu().numpy(),
        torch.Tensor,
        lambda a: a.device,
    )


def cupy_library():
    cupy = pytest.importorskip(
        "cupy", reason="CuPy is not installed", exc_type=ImportError
    )
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        pytest.skip(f"CuPy finds no GPU: {error}")
    return Library("cupy", cupy.asarray, cupy.asnumpy, cupy.ndarray, lambda a: a.device)


LIBRARIES = {
    "numpy": numpy_library,
    "strict": strict_library,
    **{
        name: sparse_library(name)
        for name in ("csr_array", "csc_array", "csr_matrix", "csc_matrix")
    },
    "torch": torch_library,
    "cupy": cupy_library,
}


# ---------------------------------------------------------------- what dual sets and
# sparse components are tried on


def projection(C, Y):
    """Of Y on the span of C, by the pseudo-inverse with the columns brought to one
    length.
    """
    lengths = np.linalg.norm(C, axis=0)
    C = C / np.where(lengths > 0, lengths, 1)
    return C @ (np.linalg.pinv(C, rcond=1e-10) @ Y)


def best_in_span(C, Y, k):
    """The projection cut to rank k by its own singular value decomposition, without a
    basis of the span.
    """
    P = projection(C, Y.reshape(len(Y), -1))
    U, s, Vt = np.linalg.svd(P, full_matrices=False)
    return ((U[:, :k] * s[:k]) @ Vt[:k]).reshape(Y.shape)


SPANS = {
    "generic": table(20, 6),
    "wide": table(8, 20),
    "rank-deficient": table(20, 3) @ table(3, 7),
    "duplicate columns": table(20, 4)[:, [0, 1, 0, 2, 3, 3]],
    "a zero column": table(20, 4) * [1, 0, 1, 1],
    "one column": table(20, 1),
    "columns of very different size": table(20, 5) * [1e-8, 1e148, 1, 1e8, 1e-150],
    "nearly dependent": with_condition(20, 5, 1e8, np.random.default_rng(0)),
}


def drawn(kind):
    rng = np.random.default_rng(3)
    return {
        "Gaussian": lambda: rng.standard_normal((40, 150)),
        "heavy columns": lambda: table(40, 150),
        "decaying": lambda: (
            orthonormal(60, 60, rng)
            * 0.8 ** np.arange(60)
            @ orthonormal(200, 60, rng).T
        ),
        "low rank and noise": lambda: (
            table(50, 6) @ table(6, 120) + 0.01 * rng.standard_normal((50, 120))
        ),
        "tall": lambda: table(200, 40),
        "sparse": lambda: sparse_table(60, 250),
        "duplicates": lambda: np.tile(table(30, 40), (1, 3)),
        "counts": lambda: rng.poisson(0.5, (50, 100)).astype(float),
        "one large column": lambda: np.hstack(
            [1e4 * rng.standard_normal((40, 1)), rng.standard_normal((40, 80))]
        ),
        "condition 1e12": lambda: with_condition(30, 90, 1e12, rng),
    }[kind]()


DRAWN = [
    "Gaussian",
    "heavy columns",
    "decaying",
    "low rank and noise",
    "tall",
    "sparse",
    "duplicates",
    "counts",
]
DRAWN += ["one large column", "condition 1e12"]


def rms(A):
    return np.sqrt(np.mean(A**2))


TARGETS = np.random.default_rng(0).standard_normal(20)
BAD_TARGETS = {
    "missing": (None, ["requires y to be passed, but the target y is None"]),
    "text": (np.array(["a", "b"] * 10), ["could not convert string to float"]),
    "too short": (TARGETS[:19], ["19", "20"]),
    "too long": (np.r_[TARGETS, TARGETS], ["40", "20"]),
    "too long, a matrix": (np.ones((21, 2)), ["21", "20"]),
    "three dimensions": (np.ones((20, 2, 2)), []),
    "NaN": (np.r_[np.nan, TARGETS[1:]], ["NaN"]),
    "infinity": (np.r_[np.inf, TARGETS[1:]], ["infinity"]),
    "complex": (TARGETS + 1j, ["omplex"]),
    "empty": (np.empty((20, 0)), ["0"]),
}


# ---------------------------------------------------------------- runs of BSS


def bss_steps(V, r, rule="largest-norm", seed=0):
    """The states of a run of BSS: the barriers before each pick, with the search and
    the pick; at the end no pick.
    """
    search = BSS_RULES[rule](RowSpace.from_basis(V), np.random.RandomState(seed))
    barriers = Barriers(V.shape[1], r)
    for _ in range(r):
        i, v = search.pick(barriers)
        yield barriers, search, i
        search.take(i)
        barriers.add(v)
    yield barriers, search, None


def assert_same_bss(V, r, rule):
    """`bss` and `bss_reference` pick the same columns in the same order, with the same
    weights.
    """
    fast = bss(V, r, rule)
    literal = bss_reference(V, r, rule)
    assert_array_equal(fast.indices, literal.indices)
    assert_allclose(fast.weights, literal.weights, rtol=1e-8)
    assert fast.n_draws == literal.n_draws == r
    return fast


def holds_bss(V, sampling, l, r):
    """Whether the measured interval, taken through R, lies in the theorem's."""
    promise = bss_promise(l, r)
    low, high = interval(V, sampling)
    return promise.lower - 1e-7 <= low and high <= promise.upper + 1e-7


THEORY = [
    (orthonormal(60, 6, np.random.default_rng(0)), 7),
    (orthonormal(60, 6, np.random.default_rng(0)), 60),
    (heavy(80, 9, np.random.default_rng(1)), 20),
    (heavy(30, 1, np.random.default_rng(2)), 12),
    (hadamard(64, 5), 9),
    (stacked_identities(4, 6), 15),
    (heavy(500, 70, np.random.default_rng(3)), 90),
]
each_theory = pytest.mark.parametrize(
    "V, r",
    THEORY,
    ids=lambda a: "x".join(map(str, a.shape)) if hasattr(a, "shape") else str(a),
)


# ---------------------------------------------------------------- files

SMALL_SPARSE = sp.csr_array(
    np.array([[0, 2, 0, 1], [0, 0, 0, 0], [3, 0, 0, 4], [0, 0, 5, 0]])
)


def csr_parts(**changes):
    """The arrays of an .npz file with `SMALL_SPARSE` and labels; some of them changed,
    or left out where the change is None.
    """
    parts = dict(
        data=SMALL_SPARSE.data,
        indices=SMALL_SPARSE.indices,
        indptr=SMALL_SPARSE.indptr,
        shape=np.array(SMALL_SPARSE.shape),
        y=np.array([1, 2, 1, 2]),
    )
    return {
        key: np.asarray(value)
        for key, value in (parts | changes).items()
        if value is not None
    }


def save_small_files(folder):
    """A dense matrix, a sparse one, and three sequences, as files."""
    np.savez_compressed(
        folder / "dense.npz",
        X=np.arange(12, dtype=np.int16).reshape(4, 3),
        y=np.array(list("aaba")),
        feature_names=np.array(["u", "v", "w"]),
        is_train=np.array([True, True, False, False]),
    )
    np.savez_compressed(folder / "sparse.npz", **csr_parts())
    (folder / "words.csv").write_text("sequence,label\nACGT,-1\nxYZ,1\nMNOPQ,-1\n")


# ---------------------------------------------------------------- tables


def mixed_table(n=120, seed=0):
    """Numbers in all units, a category that tells the target, gaps."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    frame = pandas.DataFrame(rng.standard_normal((n, 6)) * 10.0 ** np.arange(6))
    frame.columns = [f"x{j}" for j in range(6)]
    frame["x1"] += 15 * y
    told = np.where(rng.random(n) < 0.85, y, 1 - y)
    frame["bark"] = np.array(["rough", "smooth"])[told]
    frame.loc[told & (rng.random(n) < 0.5), "bark"] = "cracked"
    frame.loc[::9, "x2"] = np.nan
    frame.loc[::11, "bark"] = None
    frame["kind"] = np.array(["elm", "oak"])[y]
    return frame


def trees(n=40):
    """Two measurements and a kind that they tell."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, n)
    return pandas.DataFrame(
        {
            "height": (rng.standard_normal(n) + 2 * kind + 9).round(3),
            "rings": rng.integers(10, 99, n),
            "kind": np.array(["elm", "oak"])[kind],
        }
    )
