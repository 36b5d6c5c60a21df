"""Part eight: what a preference among feasible columns costs."""

import numpy as np
from part_1_spine import basis, gauss, heavy, small, wide
from rows import Row, nothing, timed

from fsel_book import bss

title = "Part eight: choosing with labels"


def with_scores(kind, n, d, r):
    """Scores as heavy-tailed as F scores are, that know nothing of the lengths."""
    V, scores = basis(kind, n, d), np.random.default_rng(1).chisquare(1, size=d)
    return timed(lambda: bss(V, r, scores=scores)), timed(lambda: bss(V, r)), nothing


def row(name, data):
    return Row(
        name,
        "`bss` with scores",
        "`bss`, largest-norm",
        "All r steps of both, with the same V. The scores are drawn from chi-squared with one degree of freedom.",
        with_scores,
        data,
        wide,
        small,
        1.5,
        at_least=False,
        repeats=3,
    )


rows = [row("scores-heavy", heavy), row("scores-gauss", gauss)]
