"""Figures with panels side by side, cut into their panels for narrow screens.

On a phone a figure as wide as a page is either too small to read or runs out of the
screen, and the panel that tells is the one out of sight. Where empty columns of pixels
separate the panels, the page shows them below each other instead: the same picture, of
which each piece shows its part.
"""

import re
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
from PIL import Image

FITS = 480  # pixels of a page that a phone shows with words that can be read
GAP = 5  # pixels of a page: what separates panels, and not letters
# Of the width of the figure: a panel, not a colour bar or the names of rows.
LEAST = 0.2
FIGURE = re.compile(r'<img\b[^>]*class="[^"]*\bfigure-img\b[^>]*>')


def empty_columns(picture: Image.Image) -> list[tuple[float, float]]:
    """Runs of empty columns of pixels, each as its ends, as parts of the width."""
    ground = Image.new("RGBA", picture.size, "white")
    pixels = np.asarray(
        Image.alpha_composite(ground, picture.convert("RGBA")).convert("L")
    ).astype(int)
    empty = np.ptp(pixels, axis=0) < 8
    edges = np.flatnonzero(np.diff(np.r_[0, empty, 0]))
    return [
        (start / empty.size, end / empty.size) for start, end in edges.reshape(-1, 2)
    ]


def cuts(width: float, empty: list[tuple[float, float]]) -> list[float]:
    """Where a figure of `width` pixels of a page is cut, as parts of the width.

    It is cut into as few pieces as possible of at most `FITS` pixels; of these ways the
    one with the narrowest widest piece is taken. Without such a way there is no cut.
    """
    places = [
        (start + end) / 2
        for start, end in empty
        if (end - start) * width >= GAP and start > LEAST / 2 and end < 1 - LEAST / 2
    ]
    for pieces in range(2, 5):
        ways = [
            (max(sizes), chosen)
            for chosen in combinations(places, pieces - 1)
            if min(sizes := np.diff([0, *chosen, 1])) >= min(LEAST, 0.7 / pieces)
        ]
        if ways and min(ways)[0] * width <= FITS:
            return [*min(ways)[1]]
    return []


@cache
def pieces(path: Path, width: float) -> list[tuple[float, float]]:
    """The parts of a figure's width that are shown apart, or none."""
    with Image.open(path) as picture:
        ends = [0.0, *cuts(width, empty_columns(picture)), 1.0]
    return [*zip(ends, ends[1:])] if len(ends) > 2 else []


def attribute(tag: str, name: str) -> str:
    """An attribute of a tag, or nothing."""
    found = re.search(rf'\b{name}="([^"]*)"', tag)
    return found[1] if found else ""


def below_each_other(tag: str, folder: Path) -> str:
    """A picture, and after it its panels for narrow screens, if it has any."""
    path = folder / attribute(tag, "src")
    width, height = (float(attribute(tag, name) or 0) for name in ("width", "height"))
    if width <= FITS or path.suffix != ".png" or not path.exists():
        return tag
    shown = []
    for number, (start, end) in enumerate(pieces(path, width)):
        part = end - start
        alt = attribute(tag, "alt") if number == 0 else ""
        shown.append(
            f'<span style="max-width:{part * width:.0f}px;'
            f'aspect-ratio:{part * width:.0f}/{height:.0f}">'
            f'<img alt="{alt}" loading="lazy" src="{attribute(tag, "src")}" '
            f'style="width:{100 / part:.2f}%;margin-left:{-100 * start / part:.2f}%"/>'
            "</span>"
        )
    if not shown:
        return tag
    whole = tag.replace('class="', 'class="whole ', 1)
    return f'{whole}<span class="panels">{"".join(shown)}</span>'


def with_panels(page: str, folder: Path) -> str:
    """A page of the site whose wide figures have panels for narrow screens."""
    return FIGURE.sub(lambda found: below_each_other(found[0], folder), page)
