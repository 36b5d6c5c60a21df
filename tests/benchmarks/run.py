"""The timed comparisons of the book, as `make bench` runs them: prints a table, and writes it where asked.

    make bench                              all rows: about ten minutes on two cores
    make bench BENCH='fit-heavy leverage'   some of them
    make bench BENCH=--write                all rows, and their section of tests/benchmarks/RESULTS.md
    make bench BENCH=--quick                all rows at toy sizes, to see that the script runs; no figure worth having
"""

import argparse
import datetime
import os
import platform
import re
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from threadpoolctl import threadpool_info, threadpool_limits

from fsel_book import BSSSelector, LeverageSelector, __version__, bss, bss_reference

results = Path(__file__).with_name("RESULTS.md")
part = "Part one: the spine"

# ---------------------------------------------------------------- data


@cache
def data(kind, n, d):
    """Gaussian `X`; heavy-tailed: its columns times scales drawn from Pareto(1.5)."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X * rng.pareto(1.5, size=d) if kind == "heavy" else X


@cache
def basis(kind, n, d):
    """`V` of `data`, by its SVD."""
    return np.linalg.svd(data(kind, n, d), full_matrices=False)[2].T.copy()


def large_basis(n, d):
    """`V` of heavy-tailed data, made in place: Gaussian rows times scales, orthonormalized twice by Cholesky QR."""
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
    return sp.random_array((n, d), density=0.005, format="csr", rng=rng, data_sampler=rng.standard_normal)


# ---------------------------------------------------------------- what is measured
# Each function prepares the data of one row and returns the two things to measure, ours and the other, and a check of
# what they return. The things take the number of BLAS threads, already set, and return a figure and a result.


def timed(call):
    def measure(threads):
        start = time.perf_counter()
        result = call()
        return time.perf_counter() - start, result

    return measure


def same_picks(ours, full_scan):
    k = full_scan.n_selected
    np.testing.assert_array_equal(ours.indices[:k], full_scan.indices)
    np.testing.assert_allclose(ours.weights[:k], full_scan.weights, rtol=1e-6)


def nothing(ours, other):
    pass


def bss_rule(kind, rule):
    def prepare(n, d, r):
        V = basis(kind, n, d)
        return timed(lambda: bss(V, r, rule)), timed(lambda: bss_reference(V, r, rule)), same_picks

    return prepare


def bss_million(n, d, r, steps):
    V = large_basis(n, d)

    def full_scan(threads):
        setup, _ = timed(lambda: bss_reference(V, r, steps=0))(threads)
        first, sampling = timed(lambda: bss_reference(V, r, steps=steps))(threads)
        return setup + (first - setup) * r / steps, sampling

    return timed(lambda: bss(V, r)), full_scan, same_picks


def fit_against_qr(kind):
    def prepare(n, d, r):
        X = data(kind, n, d)
        selector = BSSSelector(r)
        return timed(lambda: selector.fit(X)), timed(lambda: scipy.linalg.qr(X, mode="r", pivoting=True)), nothing

    return prepare


def leverage_against_product(n, d, r):
    X = data("gauss", n, d)
    selector = LeverageSelector(r, random_state=0)
    return timed(lambda: selector.fit(X)), timed(lambda: X @ X.T), nothing


def same_leverages(ours, other):
    np.testing.assert_allclose(ours.leverage_scores_, other.leverage_scores_, rtol=1e-6)


def leverage_sparse(n, d, r):
    S = sparse_data(n, d)
    X = S.toarray()
    sparse, dense = LeverageSelector(r, random_state=0), LeverageSelector(r, random_state=0)
    return timed(lambda: sparse.fit(S)), timed(lambda: dense.fit(X)), same_leverages


def resident(key):
    """`VmRSS` or `VmHWM` (the most that VmRSS has been) of this process, in MiB."""
    return int(re.search(rf"{key}:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024


def peak_of_fit(form, n, d, r, threads):
    """MiB at the peak of `fit`, above those of this process before the data were made and above those with the data."""
    with threadpool_limits(threads, user_api="blas"):
        LeverageSelector(random_state=0).fit(sparse_data(8, 4000))
        empty = resident("VmRSS")
        X = sparse_data(n, d) if form == "sparse" else sparse_data(n, d).toarray()
        with_data = resident("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")  # VmHWM starts again from VmRSS
        LeverageSelector(r, random_state=0).fit(X)
    return resident("VmHWM") - empty, resident("VmHWM") - with_data


def leverage_memory(which):
    def prepare(n, d, r):
        if not Path("/proc/self/clear_refs").exists():
            raise SystemExit("The rows on memory read the peak of a process from /proc, which only Linux has: "
                             "name the other rows to run them alone.")

        def peak(form):
            def measure(threads):
                with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                    return pool.submit(peak_of_fit, form, n, d, r, threads).result()[which], None

            return measure

        return peak("sparse"), peak("dense"), nothing

    return prepare


# ---------------------------------------------------------------- the rows


@dataclass(frozen=True)
class Row:
    """One comparison. The figure is other / ours where it should be `at_least` the target, else ours / other."""

    name: str
    ours: str
    other: str
    how: str
    prepare: Callable
    size: dict
    quick: dict
    target: float | None
    at_least: bool = True
    aim: float | None = None
    prediction: str = ""
    repeats: int = 3
    unit: str = "s"

    @property
    def at(self):
        size = ", ".join(f"{key}={value:,}" for key, value in self.size.items() if key != "steps")
        kind = re.search("heavy|million|gauss", self.name)
        words = {"heavy": ", heavy-tailed", "million": ", heavy-tailed", "gauss": ", Gaussian"}
        return size + words.get(kind[0] if kind else "", "")

    def figure(self, ours, other):
        return other / ours if self.at_least else ours / other

    def verdict(self, figure):
        if self.target is None:
            return ""
        return "met" if (figure >= self.target if self.at_least else figure <= self.target) else "missed"

    def bound(self, value):
        return "" if value is None else f"{'at least' if self.at_least else 'at most'} {value:g}"


wide, small = dict(n=180, d=20_000, r=400), dict(n=30, d=400, r=70)
tall, tiny = dict(n=500, d=50_000, r=1000), dict(n=60, d=2000, r=120)
scan = "full scan: `bss_reference`, all columns and an eigendecomposition at each step"
picks = "Both get the same V. The run stops if the picks differ or a weight differs by more than 1e-6 of itself."
qr = "`scipy.linalg.qr(X, mode=\"r\", pivoting=True)`"
memory = ("A fresh process for each figure, which has fitted a small matrix before. Its largest resident size during "
          "`fit` (the kernel's `VmHWM`, reset before) less its resident size")
whole = "The same X; `fit` from validation to certificate."

rows = [
    Row("bss-heavy", "`bss`, largest-norm", scan, f"All r steps of both. {picks}",
        bss_rule("heavy", "largest-norm"), wide, small, 25, aim=50,
        prediction="45: two factorizations of 0.25 ms and 0.1 ms of the rest a step"),
    Row("bss-million", "`bss`, largest-norm", scan,
        "`bss` takes all r steps. The full scan takes its first 20; its time is what it does before them plus r / 20 "
        "times the rest. V is orthonormalized by Cholesky QR, twice. The first 20 picks and weights must agree.",
        bss_million, dict(n=180, d=1_000_000, r=400, steps=20), dict(n=30, d=4000, r=70, steps=20), 500, repeats=2),
    Row("best-heavy", "`bss`, best", scan, f"All r steps of both. {picks}",
        bss_rule("heavy", "best"), wide, small, 10, aim=25,
        prediction="13: forming C and its bound, 2 ms a step, will dominate"),
    Row("best-gauss", "`bss`, best", scan, f"All r steps of both. {picks}",
        bss_rule("gauss", "best"), wide, small, 3, aim=8,
        prediction="5.5: a quarter of the columns in float32 each step"),
    Row("fit-heavy", "`BSSSelector.fit`, largest-norm", f"pivoted QR: {qr}", whole,
        fit_against_qr("heavy"), wide, small, 2, at_least=False, aim=1, repeats=7, prediction="1.3"),
    Row("fit-gauss", "`BSSSelector.fit`, largest-norm", f"pivoted QR: {qr}", whole,
        fit_against_qr("gauss"), wide, small, 2, at_least=False, aim=1, repeats=7),
    Row("leverage-gauss", "`LeverageSelector.fit`", "`X @ X.T`",
        "The same dense X; NumPy forms the product as a symmetric one, at half the work of a general product.",
        leverage_against_product, tall, tiny, 3, at_least=False, repeats=7,
        prediction="2.4: the product, 1.2 for the scores by a triangular T, and looks at X"),
    Row("leverage-sparse", "`LeverageSelector.fit` on CSR, 0.5% filled", "the same on a dense array",
        "The same entries, Gaussian, as CSR and as an array. The leverage scores must agree to 1e-6.",
        leverage_sparse, tall, tiny, 5, repeats=7),
    Row("memory-whole", "peak memory of X and `LeverageSelector.fit`, CSR, 0.5% filled", "the same, dense",
        f"{memory} before the data were made: X and all that `fit` needs.",
        leverage_memory(0), tall, tiny, 0.25, at_least=False, unit="MiB"),
    Row("memory-of-fit", "peak memory of `LeverageSelector.fit` beside X, CSR, 0.5% filled", "the same, dense",
        f"{memory} with the data: what `fit` needs beside X.",
        leverage_memory(1), tall, tiny, None, at_least=False, unit="MiB"),
]


def measure(row, threads, repeats):
    """For each number of threads: pairs of figures, ours and the other, measured in turn."""
    toy, things = row.prepare(**row.quick), row.prepare(**row.size)
    for count in threads:
        with threadpool_limits(count, user_api="blas"):
            if row.unit == "s":
                for thing in toy[:2]:
                    thing(count)
            pairs = []
            for _ in range(repeats or row.repeats):
                (a, result), (b, expected) = things[0](count), things[1](count)
                things[2](result, expected)
                pairs.append((a, b))
        yield count, pairs


# ---------------------------------------------------------------- the report

notes = """\
All figures of a line come from one run: ours, other, ours, other, and so on, in float64, after both have run once at
a toy size. "ours" and "other" are medians over the repetitions. The ratio is the median of the ratios of the
repetitions, with the least and the largest in brackets: other / ours where the target says "at least", ours / other
where it says "at most". BLAS threads are the limit set for both through threadpoolctl; within it the package
holds its own small host work to one thread below 600 rows."""


def number(x):
    return f"{x:.3g}" if x < 1000 else f"{x:,.0f}"


def cells(row, threads, pairs):
    """One line of the table."""
    ours, other = (statistics.median(column) for column in zip(*pairs, strict=True))
    figures = sorted(row.figure(a, b) for a, b in pairs)
    middle = statistics.median(figures)
    spread = f" ({number(figures[0])} to {number(figures[-1])})" if len(figures) > 1 else ""
    return [row.name, row.at, str(threads), f"{number(ours)} {row.unit}", f"{number(other)} {row.unit}",
            f"{number(middle)}{spread}", row.bound(row.target), row.bound(row.aim), row.prediction,
            row.verdict(middle)]


header = ["row", "at", "BLAS threads", "ours", "other", "ratio (spread)", "target", "aim", "prediction", "target is"]


def table(lines):
    """A Markdown table, without the columns that hold nothing."""
    kept = [j for j, name in enumerate(header) if any(line[j] for line in lines) or name == "row"]
    grid = [[line[j] for j in kept] for line in [header, *lines]]
    width = [max(len(line[j]) for line in grid) for j in range(len(kept))]
    text = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(line, width, strict=True)) + " |" for line in grid]
    return "\n".join([text[0], "|" + "|".join("-" * (w + 2) for w in width) + "|", *text[1:]])


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def blas():
    """Each BLAS in the process, and whose it is."""
    names = []
    for library in threadpool_info():
        if library["user_api"] == "blas":
            owner = re.search(r"(numpy|scipy)[._]libs", library["filepath"])
            kernels = f", {library['architecture']} kernels" if library.get("architecture") else ""
            names.append(f"{library['internal_api']} {library['version']}{kernels}{f' ({owner[1]})' if owner else ''}")
    return "; ".join(sorted(names)) or "not known to threadpoolctl"


def conditions():
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return [("date", datetime.date.today().isoformat()),
            ("machine", f"{processor()}, {os.cpu_count()} cores, {memory:.0f} GiB memory, {platform.system()}"),
            ("BLAS", blas()),
            ("versions", f"fsel_book {__version__}, Python {platform.python_version()}, {packages}")]


def report(chosen, lines):
    """The text of a section: conditions, table, and how each row is measured."""
    facts = "\n".join(f"- {name}: {fact}" for name, fact in conditions())
    how = "\n".join(f"- **{row.name}**: {row.ours}, against {row.other}. {row.how}" for row in chosen)
    return f"{facts}\n\n{table(lines)}\n\n{notes}\n\n{how}"


def write_section(path, title, text):
    """Put `text` under the heading `title` between markers, in place of what stood there; leave the rest."""
    begin, end = f"<!-- begin {title} (written by run.py) -->", f"<!-- end {title} -->"
    section = f"{begin}\n## {title}\n\n{text}\n{end}"
    whole = path.read_text(encoding="utf-8") if path.exists() else "# Figures as measured\n"
    if begin in whole:
        head, rest = whole.split(begin, 1)
        path.write_text(head + section + rest.split(end, 1)[1], encoding="utf-8")
    else:
        path.write_text(f"{whole.rstrip()}\n\n{section}\n", encoding="utf-8")


def arguments(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ", ".join(row.name for row in rows)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"which rows; all if none is named: {names}")
    parser.add_argument("--quick", action="store_true", help="toy sizes, one repetition")
    parser.add_argument("--threads", type=lambda text: [int(count) for count in text.split(",")], default=[1, 2],
                        metavar="T,T", help="BLAS threads; 1,2 unless told")
    parser.add_argument("--repeats", type=int, help="repetitions of every row, in place of its own number")
    parser.add_argument("--write", action="store_true", help="write the section of RESULTS.md; needs all rows")
    parser.add_argument("--results", type=Path, default=results, help="the file to write to")
    args = parser.parse_args(argv)
    unknown = set(args.rows) - {row.name for row in rows}
    if unknown:
        parser.error(f"no row is called {', '.join(sorted(unknown))}; there are {names}")
    if args.write and args.rows:
        parser.error("--write replaces a whole section: leave out the names of rows")
    if args.write and args.quick and args.results == results:
        parser.error("--quick measures nothing worth keeping: with --write, name another file with --results")
    return args


def main():
    args = arguments()
    chosen = [row for row in rows if not args.rows or row.name in args.rows]
    if args.quick:
        chosen = [replace(row, size=row.quick, repeats=1) for row in chosen]
    start, lines = time.perf_counter(), []
    for row in chosen:
        for threads, pairs in measure(row, args.threads, args.repeats):
            lines.append(cells(row, threads, pairs))
            print(f"{time.perf_counter() - start:6.0f} s  {'  '.join(lines[-1])}", flush=True)
    print("\n" + table(lines))
    if args.write:
        write_section(args.results, part, report(chosen, lines))
        print(f"\nWritten to {args.results}, section '{part}'")


if __name__ == "__main__":
    main()
