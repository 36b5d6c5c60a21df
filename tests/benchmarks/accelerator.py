"""The record behind the times of the chapter on accelerators: the same fits with arrays
on the host and on a card.

    python tests/benchmarks/accelerator.py           where PyTorch or CuPy finds a card;
    a few minutes python tests/benchmarks/accelerator.py --quick   toy sizes, on
    whatever libraries there are

It writes records/accelerator.csv beside this script, or the file that --into names:
lines that begin with # say what was measured on what, then comma-separated values
follow.
"""

import argparse
import csv
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from machine import conditions, is_installed

from fsel_book import (
    BSSSelector,
    DSFSelector,
    DualProjectionClassifier,
    LeverageSelector,
    RiskRFE,
    RLSClassifier,
    RRQRSelector,
)
from fsel_book.arrays import to_numpy
from fsel_book.kernels import RBFKernel

file = Path(__file__).parents[2] / "fsel_book" / "records" / "accelerator.csv"
columns = "method n d dtype library seconds least most moving as_numpy".split()

# ---------------------------------------------------------------- places


@dataclass(frozen=True)
class Place:
    """Where arrays live: `put` brings one there, `wait` returns when all work there is
    done, `what` names it.
    """

    put: Callable
    wait: Callable
    what: str


def places():
    """By the name of the library; the host first."""
    found = {"NumPy": Place(np.asarray, lambda: None, "")}
    if is_installed("torch"):
        import torch

        if torch.cuda.is_available():
            what = f"PyTorch {torch.__version__} on {torch.cuda.get_device_name()}"
            found["PyTorch"] = Place(
                lambda a: torch.asarray(a, device="cuda"), torch.cuda.synchronize, what
            )
    if is_installed("cupy"):
        import cupy

        if cupy.cuda.is_available():
            name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
            wait = cupy.cuda.Device().synchronize
            found["CuPy"] = Place(
                cupy.asarray, wait, f"CuPy {cupy.__version__} on {name}"
            )
    return found


# ---------------------------------------------------------------- what is measured


@dataclass(frozen=True)
class Fit:
    """`work(X, y)` at two sizes, and what of its result must be the same on every
    device.
    """

    name: str
    work: Callable
    result: Callable
    size: tuple
    quick: tuple = (30, 900)
    dtype: str = "float64"


def selected(fitted):
    return to_numpy(fitted.selected_)


def weights(fitted):
    return to_numpy(fitted.coef_)


def by_norm(r):
    return BSSSelector(r, rule="largest-norm")


wide = (200, 500_000)
square = (1000, 100_000)
tall = (3000, 1000)
fits = [
    Fit("BSSSelector(400), by length", lambda X, y: by_norm(400).fit(X), selected, wide),
    Fit("BSSSelector(400, rank='full')", lambda X, y: BSSSelector(400, rank="full").fit(X), selected, wide),
    Fit("BSSSelector(50, rank=12)", lambda X, y: BSSSelector(50, rank=12, rule="best").fit(X), selected, wide),
    Fit("DSFSelector(50)", lambda X, y: DSFSelector(50).fit(X), selected, wide),
    Fit("LeverageSelector(400)", lambda X, y: LeverageSelector(400, random_state=0).fit(X), selected, wide),
    Fit("RRQRSelector(50)", lambda X, y: RRQRSelector(50).fit(X), selected, wide),
    Fit("BSSSelector(400), by length", lambda X, y: by_norm(400).fit(X), selected, wide, dtype="float32"),
    Fit("RLSClassifier()", lambda X, y: RLSClassifier().fit(X, y), weights, square),
    Fit(
        "DualProjectionClassifier()",
        lambda X, y: DualProjectionClassifier(alpha=X.shape[1] / 100, tol=1e-8, random_state=0).fit(X, y),
        weights,
        square,
    ),
    Fit("RBFKernel", lambda X, y: RBFKernel(1 / X.shape[1])(X), lambda K: to_numpy(K[:20, :20]), tall),
    Fit(
        "RiskRFE(10, step=0.1)",
        lambda X, y: RiskRFE(10, step=0.1).fit(X, y),
        lambda fitted: to_numpy(fitted.elimination_order_),
        (1000, 200),
        (40, 20),
    ),
]  # fmt: skip


@lru_cache(maxsize=1)
def data(n, d, dtype):
    """Gaussian columns times scales from Pareto(1.5), and the side that a mixture of
    ten columns is on.
    """
    rng = np.random.default_rng(0)
    X = np.empty((n, d), dtype)
    for i in range(n):
        X[i] = rng.standard_normal(d, dtype)
    X *= rng.pareto(1.5, size=d).astype(dtype)
    return X, (X[:, :10] @ rng.standard_normal(10) > 0).astype(int)


def timed(place, call):
    start = time.perf_counter()
    result = call()
    place.wait()
    return time.perf_counter() - start, result


def measure(fit, repeats, quick):
    """One line for each library: the median time of `repeats` fits, but where it is
    quick after a first one, and the time to bring X there.
    """
    X, y = data(*(fit.quick if quick else fit.size), fit.dtype)
    expected = None
    for name, place in places().items():
        # first, so that the card has been started when X is moved
        labels = place.put(y)
        moving, there = timed(place, lambda place=place: place.put(X))
        runs = [
            timed(place, lambda there=there, labels=labels: fit.work(there, labels))
            for _ in range(repeats if quick else 1 + repeats)
        ]
        seconds = [run[0] for run in runs[-repeats:]]
        found = fit.result(runs[-1][1])
        if expected is None:
            expected = found
        yield dict(
            method=fit.name,
            n=X.shape[0],
            d=X.shape[1],
            dtype=fit.dtype,
            library=name,
            seconds=f"{statistics.median(seconds):.4g}",
            least=f"{min(seconds):.4g}",
            most=f"{max(seconds):.4g}",
            moving=f"{moving:.4g}",
            as_numpy=int(
                np.allclose(
                    found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max()
                )
            ),
        )
        del there, labels, runs


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="toy sizes, one repetition"
    )
    parser.add_argument(
        "--repeats",
        type=int,
        default=3,
        help="fits of which the median counts, after a first one",
    )
    parser.add_argument("--into", type=Path, default=file, help="the file to write")
    args = parser.parse_args()
    if args.into == file and (args.quick or len(places()) == 1):
        parser.error(
            "no figure worth keeping comes of --quick or without a card: name another "
            "file with --into"
        )
    cards = "; ".join(place.what for place in places().values() if place.what) or "none"
    facts = [("record", "accelerator"), ("card", cards), *conditions()]
    lines = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for fit in fits:
            for line in measure(fit, 1 if args.quick else args.repeats, args.quick):
                print("  ".join(map(str, line.values())), flush=True)
                lines.append(line)
            with open(args.into, "w", encoding="utf-8", newline="") as out:
                out.writelines(f"# {name}: {fact}\n" for name, fact in facts)
                table = csv.DictWriter(out, columns, lineterminator="\n")
                table.writeheader()
                table.writerows(lines)


if __name__ == "__main__":
    main()
