"""Run notebooks and store what they give: `python tools/run.py 05_sparsification`, or
`make run NB=05_sparsification`.

Pictures are stored as SVG, sharp at any size, on the transparent ground of
nbs/matplotlibrc, which suits a light page and a dark one. A cell with `#| eval: false`
is heavy and keeps the outputs it has, unless `--heavy` asks for new ones.
"""

import argparse
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

FOLDER = Path(__file__).resolve().parent.parent / "nbs"
# What is drawn as pixels has 200 to the inch. Without a date: the same picture is the
# same file.
DRAWING = [
    "--InlineBackend.figure_formats=svg",
    "--InlineBackend.print_figure_kwargs={'dpi': 200, 'metadata': {'Date': None}}",
]


def is_heavy(source: str) -> bool:
    """Whether a cell is left out unless it is asked for."""
    return re.search(r"^#\| eval: false$", source, flags=re.MULTILINE) is not None


class LightClient(NotebookClient):
    """Runs a notebook without its heavy cells, which keep their outputs."""

    async def async_execute_cell(
        self, cell: NotebookNode, cell_index: int, **options: Any
    ) -> NotebookNode:
        """Run one cell, or leave it as it is."""
        return (
            cell
            if is_heavy(cell.source)
            else await super().async_execute_cell(cell, cell_index, **options)
        )


def run(path: Path, heavy: bool) -> None:
    """Run a notebook in its folder and write it back, once it has run to its end."""
    book = nbformat.read(path, as_version=4)
    client = NotebookClient if heavy else LightClient
    resources = {"metadata": {"path": str(path.parent)}}
    options = {
        "timeout": None,
        "kernel_name": "python3",
        "extra_arguments": DRAWING,
        "coalesce_streams": True,
    }
    client(book, resources=resources, **options).execute()
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
    call = parser.parse_args()
    for name in call.notebooks or sorted(path.stem for path in FOLDER.glob("*.ipynb")):
        print(name, file=sys.stderr)
        run(FOLDER / f"{Path(name).stem}.ipynb", call.heavy)
