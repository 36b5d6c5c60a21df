"""Run notebooks and store what they give: `python tools/run.py 05_sparsification`, or `make run NB=05_sparsification`.

Pictures are stored as PNG, twice as fine as they are shown, on white: JupyterLab shows no SVG of a notebook that is not
trusted, and black ink on no ground is lost in the dark. A cell with `if run_heavy(...)` keeps the outputs it has, unless `--heavy` asks for new ones.

An output that says the same as the stored one, up to noise, is not stored again: a changed comment changes one line of
the file. Noise is what rounding does to numbers and to pictures, and times of which neither is more than twice the
other. `--fresh` stores every output as it came.
"""

import argparse
import base64
import io
import os
import re
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
from book import LIVE, tags
from nbclient import NotebookClient
from nbformat import NotebookNode
from PIL import Image

FOLDER = Path(__file__).resolve().parent.parent / "nbs"
# Without the version of matplotlib: the same picture is the same file.
DRAWING = [
    "--InlineBackend.figure_formats=retina",
    "--InlineBackend.print_figure_kwargs={'metadata': {'Software': None}}",
]
# The sums of several threads are rounded in another order on every machine.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
INLINE = {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}


def is_heavy(source: str) -> bool:
    """Whether a cell is left out unless it is asked for."""
    return re.search(r"^if run_heavy\(", source, flags=re.MULTILINE) is not None


class StillClient(NotebookClient):
    """Runs a notebook without what moves, of which nothing is stored.

    Now and then a cell with widgets keeps a client waiting for ever; see issue 312 of
    nbclient.
    """

    def is_left_out(self, cell: NotebookNode) -> bool:
        """Whether a cell is not run, and keeps its outputs."""
        return LIVE in tags(cell)

    async def async_execute_cell(
        self, cell: NotebookNode, cell_index: int, **options: Any
    ) -> NotebookNode:
        """Run one cell, or leave it as it is."""
        return (
            cell
            if self.is_left_out(cell)
            else await super().async_execute_cell(cell, cell_index, **options)
        )


class LightClient(StillClient):
    """Runs a notebook without its heavy cells as well."""

    def is_left_out(self, cell: NotebookNode) -> bool:
        """Whether a cell is not run, and keeps its outputs."""
        return is_heavy(cell.source) or super().is_left_out(cell)


# ---------------------------------------------------------------- what is noise

SHARE = 1e-6  # by which two numbers that are the same may differ
ROUNDING = 1e-14  # below this a number is rounding error itself
TIMES = 2.0  # the ratio of two times that are the same
SHADE = 0.06  # by which a pixel may differ, of the way from black to white

NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
UNIT = re.compile(r" ?(?:ns|µs|ms|s|min|h)(?![\w/])")
CELL = re.compile(r"\S+(?: \S+)*")  # in tables there are two blanks between columns


def headings(text: str, place: int) -> Iterator[str]:
    """The cells of a printed table that stand above the one at `place`."""
    *above, _ = text[:place].split("\n")
    start = text.rfind("\n", 0, place) + 1
    line = text[start:].partition("\n")[0]
    (own,) = (c for c in CELL.finditer(line) if c.start() <= place - start < c.end())
    for line in reversed(above):
        if not line.strip():
            return
        cells = list(CELL.finditer(line))
        if len(cells) > 1:
            over = (c for c in cells if c.start() < own.end() and own.start() < c.end())
            yield from (c[0] for c in over)


def is_time(text: str, number: re.Match) -> bool:
    """Whether a number is a time or a ratio of times, by its unit or its heading."""
    if UNIT.match(text, number.end()):
        return True
    if text.startswith(" times", number.end()):
        return any(UNIT.match(text, other.end()) for other in NUMBER.finditer(text))
    words = r"\b(?:times?|(?:milli)?seconds)\b"
    return any(re.search(words, above) for above in headings(text, number.start()))


def same_number(text: str, old: re.Match, new: re.Match) -> bool:
    """Whether a number in the old `text` is the new one up to noise."""
    if old[0] == new[0]:
        return True
    a, b = float(old[0]), float(new[0])
    if is_time(text, old):
        return 0 < max(a, b) <= TIMES * min(a, b)
    if re.fullmatch(r"[-+]?\d+", old[0]) or re.fullmatch(r"[-+]?\d+", new[0]):
        return False
    return abs(a - b) <= max(SHARE * max(abs(a), abs(b)), ROUNDING)


def same_text(old: str, new: str) -> bool:
    """Whether two texts are the same up to noise in their numbers."""
    pairs = list(zip(NUMBER.finditer(old), NUMBER.finditer(new)))
    words = [NUMBER.sub("0", text) for text in (old, new)]
    if any(len(a[0]) != len(b[0]) for a, b in pairs):  # columns may be set anew
        words = [re.sub(r" *\b0\b *", "0", text) for text in words]
    return words[0] == words[1] and all(same_number(old, *pair) for pair in pairs)


def same_pixels(old: str, new: str) -> bool:
    """Whether two PNG pictures, in base64, are the same up to faint changes."""
    pictures = []
    for data in (old, new):
        with Image.open(io.BytesIO(base64.b64decode(data))) as picture:
            pixels = np.asarray(picture.convert("RGBA"), dtype=float) / 255
        pixels[..., :3] *= pixels[..., 3:]  # what is transparent has no colour
        pictures.append(pixels)
    a, b = pictures
    return a.shape == b.shape and float(np.abs(a - b).max(initial=0)) <= SHADE


def same(old: NotebookNode, new: NotebookNode) -> bool:
    """Whether two outputs of a cell say the same up to noise."""
    kinds = ("output_type", "name")
    if any(old.get(kind) != new.get(kind) for kind in kinds):
        return False
    before, after = old.get("data", {}), new.get("data", {})
    if before.keys() != after.keys():
        return False
    for kind in before:
        test = same_pixels if kind == "image/png" else same_text
        a, b = before[kind], after[kind]
        if a != b and not (isinstance(a, str) and isinstance(b, str) and test(a, b)):
            return False
    return same_text(old.get("text", ""), new.get("text", ""))


def kept(stored: list[NotebookNode], given: list[NotebookNode]) -> list[NotebookNode]:
    """The outputs that a cell has given, in the stored form where they say the same."""
    if len(stored) != len(given):
        return given
    return [old if same(old, new) else new for old, new in zip(stored, given)]


# ---------------------------------------------------------------- pictures

COLOURS = 256
# how far colours may be from the drawn ones, of 255: all but a thousandth, and any
APART, FARTHEST = 10, 64


def slim(picture: str) -> str:
    """A PNG picture, in base64, in a quarter of the bytes: no more than 256 colours where
    nobody sees the difference, and packed well.
    """
    with Image.open(io.BytesIO(base64.b64decode(picture))) as drawn:
        if drawn.convert("RGBA").getextrema()[3] != (255, 255):
            return picture
        full = drawn.convert("RGB")
    few = full.quantize(COLOURS, kmeans=2, dither=Image.Dither.NONE)
    pixels = [np.asarray(one.convert("RGB"), dtype=int) for one in (few, full)]
    apart = np.abs(pixels[0] - pixels[1]).max(axis=2)
    same = np.quantile(apart, 0.999) <= APART and apart.max() <= FARTHEST
    best = few if same else full
    packed = io.BytesIO()
    best.save(packed, format="PNG", optimize=True)
    return base64.b64encode(packed.getvalue()).decode()


# ---------------------------------------------------------------- running


def run(path: Path, heavy: bool, fresh: bool = False) -> None:
    """Run a notebook in its folder and write it back, once it has run to its end."""
    book = nbformat.read(path, as_version=4)
    stored = deepcopy([cell.get("outputs", []) for cell in book.cells])
    client = StillClient if heavy else LightClient
    resources = {"metadata": {"path": str(path.parent)}}
    options = {
        "timeout": None,
        "kernel_name": "python3",
        "extra_arguments": DRAWING,
        "coalesce_streams": True,
        "record_timing": False,
    }
    environment = {
        **ONE_THREAD,
        **os.environ,
        **INLINE,
        "FSEL_BOOK_HEAVY": str(int(heavy)),
    }
    client(book, resources=resources, **options).execute(env=environment)
    for cell, outputs in zip(book.cells, stored):
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/png" in data:
                data["image/png"] = slim(data["image/png"])
        if cell.cell_type == "code" and LIVE in tags(cell):
            cell.outputs = []  # what moves needs a kernel
        elif cell.cell_type == "code" and not fresh:
            cell.outputs = kept(outputs, cell.outputs)
    book.metadata.pop("widgets", None)
    text = nbformat.writes(book)
    path.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "notebooks",
        nargs="*",
        help="names such as 05_sparsification; all, if none is given",
    )
    parser.add_argument(
        "--heavy",
        action="store_true",
        help="run the heavy cells too (hours for all notebooks)",
    )
    parser.add_argument(
        "--fresh",
        action="store_true",
        help="store every output, those that say the same too",
    )
    call = parser.parse_args()
    for name in call.notebooks or sorted(path.stem for path in FOLDER.glob("*.ipynb")):
        print(name, file=sys.stderr)
        run(FOLDER / f"{Path(name).stem}.ipynb", call.heavy, call.fresh)
