"""Part one: BSS and leverage sampling, their selectors, and what they need of memory."""

import re
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from rows import Row, nothing, timed
from threadpoolctl import threadpool_limits

from fsel_book import BSSSelector, DSFSelector, LeverageSelector, RRQRSelector, bss
from fsel_book.sparsification import bss_reference

title = "Part one: the spine"

# ---------------------------------------------------------------- data

heavy = "heavy-tailed"
gauss = "Gaussian"
filled = "Gaussian, 0.5% filled"


@cache
def matrix(kind, n, d):
    """Gaussian `X`; heavy-tailed: its columns times scales drawn from Pareto(1.5)."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X * rng.pareto(1.5, size=d) if kind == heavy else X


@cache
def basis(kind, n, d):
    """`V` of `matrix`, by its SVD."""
    return np.linalg.svd(matrix(kind, n, d), full_matrices=False)[2].T.copy()


def large_basis(n, d):
    """`V` of heavy-tailed data, made in place: Gaussian rows times scales,
    orthonormalized twice by Cholesky QR.
    """
    rng = np.random.default_rng(0)
    V = rng.standard_normal((d, n))
    V *= rng.pareto(1.5, size=d)[:, None]
    for _ in range(2):
        T = np.linalg.inv(np.linalg.cholesky(V.T @ V)).T
        for a in range(0, d, 2**16):
            V[a : a + 2**16] = V[a : a + 2**16] @ T
    return V


def sparse_data(n, d):
    """CSR, 0.5% of its entries Gaussian and the rest zero."""
    rng = np.random.default_rng(0)
    return sp.random_array(
        (n, d),
        density=0.005,
        format="csr",
        random_state=rng,
        data_sampler=rng.standard_normal,
    )


def counts(n, d):
    """CSR counts of words: a few frequent ones and many rare ones, in documents of
    different length.
    """
    rng = np.random.default_rng(0)
    rate = np.minimum(0.5, 12.0 / np.arange(1, d + 1)) * np.exp(
        0.5 * rng.standard_normal((n, 1))
    )
    return sp.csr_array(rng.poisson(rate).astype(float))


# ---------------------------------------------------------------- what is measured


def same_picks(ours, full_scan):
    k = full_scan.n_selected
    np.testing.assert_array_equal(ours.indices[:k], full_scan.indices)
    np.testing.assert_allclose(ours.weights[:k], full_scan.weights, rtol=1e-6)


def bss_rule(rule):
    def prepare(kind, n, d, r):
        V = basis(kind, n, d)
        return (
            timed(lambda: bss(V, r, rule)),
            timed(lambda: bss_reference(V, r, rule)),
            same_picks,
        )

    return prepare


def bss_million(kind, n, d, r, steps):
    V = large_basis(n, d)

    def full_scan(threads):
        setup, _ = timed(lambda: bss_reference(V, r, steps=0))(threads)
        first, sampling = timed(lambda: bss_reference(V, r, steps=steps))(threads)
        return setup + (first - setup) * r / steps, sampling

    return timed(lambda: bss(V, r)), full_scan, same_picks


def fit_against_qr(kind, n, d, r):
    X = matrix(kind, n, d)
    selector = BSSSelector(r, rule="largest-norm")
    return (
        timed(lambda: selector.fit(X)),
        timed(lambda: scipy.linalg.qr(X, mode="r", pivoting=True)),
        nothing,
    )


def default_fit_against_qr(kind, n, d):
    """Half of the features, at rank 100."""
    X = matrix(kind, n, d)
    selector = BSSSelector(0.5, rank=min(100, n))
    return (
        timed(lambda: selector.fit(X)),
        timed(lambda: scipy.linalg.qr(X, mode="r", pivoting=True)),
        nothing,
    )


def few_of_text(method):
    def prepare(kind, n, d, r):
        X = counts(n, d)
        D = X.toarray()
        selector = method(r)
        return (
            timed(lambda: selector.fit(X)),
            timed(lambda: scipy.linalg.qr(D, mode="r", pivoting=True)),
            nothing,
        )

    return prepare


def leverage_against_product(kind, n, d, r):
    X = matrix(kind, n, d)
    selector = LeverageSelector(r, rank="full", random_state=0)
    return timed(lambda: selector.fit(X)), timed(lambda: X @ X.T), nothing


def same_leverages(ours, other):
    np.testing.assert_allclose(ours.leverage_scores_, other.leverage_scores_, rtol=1e-6)


def leverage_sparse(kind, n, d, r):
    S = sparse_data(n, d)
    X = S.toarray()
    sparse = LeverageSelector(r, rank="full", random_state=0)
    dense = LeverageSelector(r, rank="full", random_state=0)
    return timed(lambda: sparse.fit(S)), timed(lambda: dense.fit(X)), same_leverages


def resident(key):
    """`VmRSS` or `VmHWM` (the most that VmRSS has been) of this process, in MiB."""
    return (
        int(re.search(rf"{key}:\s+(\d+) kB", Path("/proc/self/status").read_text())[1])
        / 1024
    )


def peak_of_fit(form, n, d, r, threads):
    """MiB at the peak of `fit`, above those of this process before the data were made
    and above those with the data.
    """
    with threadpool_limits(threads, user_api="blas"):
        LeverageSelector(rank="full", random_state=0).fit(sparse_data(8, 4000))
        empty = resident("VmRSS")
        X = sparse_data(n, d) if form == "sparse" else sparse_data(n, d).toarray()
        with_data = resident("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")  # VmHWM starts again from VmRSS
        LeverageSelector(r, rank="full", random_state=0).fit(X)
    return resident("VmHWM") - empty, resident("VmHWM") - with_data


def leverage_memory(which):
    def prepare(kind, n, d, r):
        if not Path("/proc/self/clear_refs").exists():
            raise SystemExit(
                "The rows on memory read the peak of a process from /proc, which only "
                "Linux has: "
                "name the other rows to run them alone."
            )

        def peak(form):
            def measure(threads):
                with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                    return pool.submit(peak_of_fit, form, n, d, r, threads).result()[
                        which
                    ], None

            return measure

        return peak("sparse"), peak("dense"), nothing

    return prepare


# ---------------------------------------------------------------- the rows

wide = dict(n=180, d=20_000, r=400)
small = dict(n=30, d=400, r=70)
tall = dict(n=500, d=50_000, r=1000)
tiny = dict(n=60, d=2000, r=120)
scan = "full scan: `bss_reference`, all columns and an eigendecomposition at each step"
picks = (
    "Both get the same V. The run stops if the picks differ or a weight differs "
    "by more than 1e-6 of itself."
)
qr = '`scipy.linalg.qr(X, mode="r", pivoting=True)`'
memory = (
    "A fresh process for each figure, which has fitted a small matrix before. Its "
    "largest resident size during "
    "`fit` (the kernel's `VmHWM`, reset before) less its resident size"
)
text = dict(n=1943, d=3289, r=50)
whole = "The same X; `fit` from validation to certificate."


rows = [
    Row(
        "bss-heavy",
        "`bss`, largest-norm",
        scan,
        f"All r steps of both. {picks}",
        bss_rule("largest-norm"),
        heavy,
        wide,
        small,
        25,
        aim=50,
        prediction="45: two factorizations of 0.25 ms and 0.1 ms of the rest a step",
    ),
    Row(
        "bss-million",
        "`bss`, largest-norm",
        scan,
        "`bss` takes all r steps. The full scan takes its first 20; its time is what "
        "it does before them plus r / 20 "
        "times the rest. V is orthonormalized by Cholesky QR, twice. The first 20 "
        "picks and weights must agree.",
        bss_million,
        heavy,
        dict(n=180, d=1_000_000, r=400, steps=20),
        dict(n=30, d=4000, r=70, steps=20),
        500,
    ),
    Row(
        "best-heavy",
        "`bss`, best",
        scan,
        f"All r steps of both. {picks}",
        bss_rule("best"),
        heavy,
        wide,
        small,
        10,
        aim=25,
        prediction="13: forming C and its bound, 2 ms a step, will dominate",
    ),
    Row(
        "best-gauss",
        "`bss`, best",
        scan,
        f"All r steps of both. {picks}",
        bss_rule("best"),
        gauss,
        wide,
        small,
        3,
        aim=8,
        prediction="5.5: a quarter of the columns in float32 each step",
    ),
    Row(
        "fit-heavy",
        "`BSSSelector.fit`, largest-norm",
        f"pivoted QR: {qr}",
        whole,
        fit_against_qr,
        heavy,
        wide,
        small,
        2,
        at_least=False,
        aim=1,
        repeats=7,
        prediction="1.3",
    ),
    Row(
        "fit-gauss",
        "`BSSSelector.fit`, largest-norm",
        f"pivoted QR: {qr}",
        whole,
        fit_against_qr,
        gauss,
        wide,
        small,
        2,
        at_least=False,
        aim=1,
        repeats=7,
    ),
    *(
        Row(
            f"few-{name}",
            f"`{method.__name__}({text['r']}).fit` on CSR",
            f"pivoted QR: {qr} of the same as an array",
            f"{whole} The rank is far below the smaller side of X: only leading "
            f"directions are looked for.",
            few_of_text(method),
            "counts of words, 2% filled",
            text,
            dict(n=60, d=200, r=10),
            0.5,
            at_least=False,
            repeats=5,
            prediction="0.05: five steps of the sketch, twenty products of X with a "
            "few dozen columns",
        )
        for name, method in (
            ("bss", BSSSelector),
            ("dsf", DSFSelector),
            ("rrqr", RRQRSelector),
        )
    ),
    *(
        Row(
            f"default-{name}",
            "`BSSSelector(0.5, rank=100).fit`",
            f"pivoted QR: {qr}",
            f"{whole} Half of the features.",
            default_fit_against_qr,
            kind,
            dict(n=1500, d=6000),
            dict(n=30, d=400),
            3,
            at_least=False,
            repeats=5,
            prediction=prediction,
        )
        for name, kind, prediction in (
            ("gauss", gauss, "0.7: 3,000 steps of 0.4 ms at rank 100"),
            ("heavy", heavy, "1.5: steps of 1 ms, since far more columns are judged"),
        )
    ),
    Row(
        "leverage-gauss",
        "`LeverageSelector.fit`",
        "`X @ X.T`",
        "The same dense X; NumPy forms the product as a symmetric one, at half the "
        "work of a general product.",
        leverage_against_product,
        gauss,
        tall,
        tiny,
        3,
        at_least=False,
        repeats=7,
        prediction="2.4: the product, 1.2 for the scores by a triangular T, and looks "
        "at X",
    ),
    Row(
        "leverage-sparse",
        "`LeverageSelector.fit` on CSR",
        "the same on a dense array",
        "The same entries, as CSR and as an array. The leverage scores must agree to "
        "1e-6.",
        leverage_sparse,
        filled,
        tall,
        tiny,
        5,
        repeats=7,
    ),
    Row(
        "memory-whole",
        "peak memory of X and `LeverageSelector.fit`, CSR",
        "the same, dense",
        f"{memory} before the data were made: X and all that `fit` needs.",
        leverage_memory(0),
        filled,
        tall,
        tiny,
        0.25,
        at_least=False,
        unit="MiB",
    ),
    Row(
        "memory-of-fit",
        "peak memory of `LeverageSelector.fit` beside X, CSR",
        "the same, dense",
        f"{memory} with the data: what `fit` needs beside X.",
        leverage_memory(1),
        filled,
        tall,
        tiny,
        None,
        at_least=False,
        unit="MiB",
    ),
]
