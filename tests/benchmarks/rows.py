"""What a part of the benchmarks is made of: a title, and rows that say what is measured
against what.

A file `part_N_name.py` here defines `title` and `rows`; `run.py` finds it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass


def timed(call):
    """A thing to measure: the seconds that `call()` takes, and what it returns."""

    def measure(threads):
        start = time.perf_counter()
        result = call()
        return time.perf_counter() - start, result

    return measure


def nothing(ours, other=None):
    """The check of a row whose two sides return nothing to compare."""


@dataclass(frozen=True)
class Row:
    """One comparison. The figure is other / ours where it should be `at_least` the
    target, else ours / other.

    `prepare(data, **size)` makes the data and returns the two things to measure, ours
    and the other, and a check of what they return. The things take the number of BLAS
    threads, already set, and return a figure and a result. Where there is no other
    side, `other` and the second thing are None, and the figure is ours itself, at most
    the target.
    """

    name: str
    ours: str
    other: str | None
    how: str
    prepare: Callable
    data: str
    size: dict
    quick: dict
    target: float | None
    at_least: bool = True
    aim: float | None = None
    prediction: str = ""
    repeats: int = 5
    unit: str = "s"
    threads: tuple = ()  # in place of those asked for

    @property
    def at(self):
        size = [
            f"{key}={value:,}" for key, value in self.size.items() if key != "steps"
        ]
        return ", ".join([*size, self.data] if self.data else size)

    def figure(self, ours, other):
        if self.other is None:
            return ours
        return other / ours if self.at_least else ours / other

    def verdict(self, figure):
        if self.target is None:
            return ""
        met = (
            figure >= self.target
            if self.at_least and self.other is not None
            else figure <= self.target
        )
        return "met" if met else "missed"

    def bound(self, value):
        if value is None:
            return ""
        if self.other is None:
            return f"under {value:g} {self.unit}"
        return f"{'at least' if self.at_least else 'at most'} {value:g}"
