"""Run nbs/quickstart.ipynb top to bottom, and write it as a notebook and as a page: what
`make demo` does without a table.

The tag `terminal` of a cell prints what the cell gives.
"""

import os
import re
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import papermill
from jinja2 import DictLoader
from nbconvert import HTMLExporter
from readme import is_folded, plain, relink, root

notebook = root / "nbs" / "quickstart.ipynb"
site = root / "_docs"  # where `make docs` leaves the pages


def run(folder: Path) -> nbformat.NotebookNode:
    """Execute the notebook, and keep it in `folder`."""
    # pictures go into the page
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    # its matrices are small, and threads would wait for each other
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    with without_stderr():
        return papermill.execute_notebook(
            notebook,
            folder / "quickstart.ipynb",
            kernel_name="python3",
            cwd=notebook.parent,
            progress_bar=False,
        )


@contextmanager
def without_stderr() -> Iterator[None]:
    """Drop what this process and its kernel write to stderr: a kernel that is shut down
    may log its own dismay.
    """
    saved = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(nowhere)


def link_pages(text: str, out: Path) -> str:
    """Point the links between pages to the rendered site where it is there, and else
    name the chapter without a link.

    A browser shows a notebook as the text of its file, which nobody can read.
    """

    def linked(match: re.Match) -> str:
        words = match[1]
        name = match[2]
        place = match[3] or ""
        page = site / f"{name}.html"
        if page.exists():
            return f"[{words}]({os.path.relpath(page, out)}{place})"
        chapter = re.match(r"0*(\d+)_", name)
        return (
            f"{words} (chapter {chapter[1]})"
            if chapter and "chapter" not in words.lower()
            else words
        )

    return re.sub(r"\[([^\]]*)\]\((\w+)\.ipynb(#[\w-]+)?\)", linked, text)


# Code stands behind a line that opens it, where the site folds it too.
FOLDING = """{% extends "lab/index.html.j2" %}
{% block input_group %}
{% if cell.metadata.folded %}<details class="folded"><summary>Code</summary>{{ super() }}</details>
{% else %}{{ super() }}{% endif %}
{% endblock input_group %}
{% block html_head_css %}{{ super() }}
<style>
details.folded > summary { cursor: pointer; color: #616161; font: small var(--jp-content-font-family) }
.jp-RenderedText pre { white-space: pre; overflow-x: auto; word-break: normal }
</style>
{% endblock html_head_css %}
"""


def write_page(executed: nbformat.NotebookNode, folder: Path, out: Path) -> None:
    """Write the executed notebook as one HTML file with the pictures inside, readable
    without a network.
    """
    for cell in executed.cells:
        if cell.cell_type == "markdown":
            cell.source = link_pages(cell.source, out)
        else:
            cell.metadata["folded"] = is_folded(cell)
        cell.source = plain(cell.source)
    if not site.exists():
        where = (
            "The chapters are notebooks in the folder `nbs`: `make lab` opens "
            "them, `make docs` renders them."
        )
        executed.cells.append(nbformat.v4.new_markdown_cell(where))
    exporter = HTMLExporter(
        require_js_url="",
        mathjax_url="",
        embed_images=True,
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        template_file="folding.html.j2",
        extra_loaders=[DictLoader({"folding.html.j2": FOLDING})],
    )
    page, _ = exporter.from_notebook_node(
        executed, resources={"metadata": {"name": "fsel_book quickstart"}}
    )
    (folder / "quickstart.html").write_text(page, encoding="utf-8")


def write_notebook(executed: nbformat.NotebookNode, folder: Path, out: Path) -> None:
    """Write the executed notebook, with links to the notebooks of the chapters."""
    copy = nbformat.from_dict(executed)
    for cell in copy.cells:
        if cell.cell_type == "markdown":
            cell.source = relink(cell.source, os.path.relpath(notebook.parent, out))
    nbformat.write(copy, folder / "quickstart.ipynb")


def as_text(output: nbformat.NotebookNode) -> str:
    """What a cell gave, for the terminal: Markdown in lines of 88 characters and
    without its bold type.
    """
    data = output.get("data", {})
    if "text/markdown" not in data:
        return output.get("text") or data.get("text/plain", "")
    lines = data["text/markdown"].replace("**", "").splitlines()
    return "\n".join(
        textwrap.fill(line, 88, subsequent_indent="  " * line.startswith("- "))
        for line in lines
    )


def print_results(executed: nbformat.NotebookNode) -> None:
    """Print the text of the cells that carry the tag `terminal`."""
    for cell in executed.cells:
        if "terminal" in cell.metadata.get("tags", []):
            for output in cell.outputs:
                print(as_text(output).strip("\n"), end="\n\n")


def show(out: Path) -> int:
    """Run the notebook, print what it found, and leave it in `out`."""
    print(f"Running nbs/{notebook.name} on the embedded documents\n", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            executed = run(folder)
        except papermill.PapermillExecutionError as error:
            print(error, file=sys.stderr)
            return 1
        write_notebook(executed, folder, out)
        write_page(executed, folder, out)
        written = [
            shutil.move(path, out / path.name) for path in sorted(folder.iterdir())
        ]
    print_results(executed)
    print("Written:", *written, sep="\n  ")
    return 0
