"""Part eight: what a preference among feasible columns costs."""

import numpy as np
from part_1_spine import basis, gauss, heavy, small, wide
from rows import Row, nothing, timed

from fsel_book import bss

title = "Part eight: choosing with labels"


def with_scores(kind, n, d, r, rank):
    """Scores as heavy-tailed as F scores are, that know nothing of the lengths; the
    leading `rank` directions.
    """
    V = basis(kind, n, d)[:, :rank]
    scores = np.random.default_rng(1).chisquare(1, size=d)
    return timed(lambda: bss(V, r, scores=scores)), timed(lambda: bss(V, r)), nothing


def row(name, data, rank):
    return Row(
        name,
        "`bss` with scores",
        "`bss`, largest-norm",
        "All r steps of both, with the same V. The scores are drawn from chi-squared "
        "with one degree of freedom.",
        with_scores,
        data,
        dict(wide, rank=rank),
        dict(small, rank=min(rank, small["n"])),
        1.5,
        at_least=False,
    )


# At the rank that a selector certifies with as many draws unless it is told otherwise,
# and at the full one.
rows = [
    row("scores-heavy", heavy, 100),
    row("scores-heavy-full", heavy, 180),
    row("scores-gauss", gauss, 100),
]
