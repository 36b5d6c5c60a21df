"""Run nbs/quickstart.ipynb top to bottom and leave what it shows in build/. `make demo` calls this.

usage: python tools/demo.py [DATA TARGET] [--out FOLDER] [--limit BYTES]

A Parquet file of more than `--limit` bytes in memory, by default a quarter of what the machine has, is read in blocks:
its columns are chosen and written, without the page.
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import large
import nbformat
import papermill
from nbconvert import HTMLExporter
from readme import plain, relink, root

notebook = root / "nbs" / "quickstart.ipynb"
results = ["quickstart.ipynb", "quickstart.html", "selected.csv", "selected.parquet"]


def run(data: str, target: str, folder: Path) -> nbformat.NotebookNode:
    """Execute the notebook, writing into `folder`; a relative `data` is taken from the current folder."""
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # pictures go into the page
    parameters = {}
    if data:
        parameters = dict(data=str(Path(data).absolute()), target=target, save_to=str(folder))
    with without_stderr():
        return papermill.execute_notebook(
            notebook, folder / "quickstart.ipynb", parameters, kernel_name="python3", cwd=notebook.parent,
            progress_bar=False,
        )


@contextmanager
def without_stderr() -> Iterator[None]:
    """Drop what this process and its kernel write to stderr: a kernel that is shut down may log its own dismay."""
    saved, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(nowhere)


def write_page(executed: nbformat.NotebookNode, folder: Path, out: Path) -> None:
    """Write the executed notebook as one HTML file with the pictures inside, readable without a network."""
    for cell in executed.cells:
        if cell.cell_type == "markdown":
            cell.source = relink(cell.source, os.path.relpath(notebook.parent, out))
        cell.source = plain(cell.source)
    exporter = HTMLExporter(
        require_js_url="", mathjax_url="", embed_images=True, exclude_input_prompt=True, exclude_output_prompt=True
    )
    page, _ = exporter.from_notebook_node(executed, resources={"metadata": {"name": "fsel_book quickstart"}})
    (folder / "quickstart.html").write_text(page, encoding="utf-8")


def print_results(executed: nbformat.NotebookNode) -> None:
    """Print the text of the cells that carry the tag `terminal`."""
    for cell in executed.cells:
        if "terminal" in cell.metadata.get("tags", []):
            for output in cell.outputs:
                text = output.get("text") or output.get("data", {}).get("text/plain", "")
                print(text.strip("\n"), end="\n\n")


def choose_in_blocks(data: Path, target: str, out: Path) -> int:
    """The main job on a file that is too large for memory."""
    with tempfile.TemporaryDirectory(dir=out) as name:
        try:
            large.choose(data, target, Path(name))
        except (ValueError, OSError) as error:
            print(f"demo: {error}", file=sys.stderr)
            return 1
        written = [shutil.move(path, out / path.name) for path in sorted(Path(name).iterdir())]
    print("Written:", *written, sep="\n  ")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="?", default="", help="a CSV or Parquet table (default: the embedded documents)")
    parser.add_argument("target", nargs="?", default="", help="the column of the table to predict")
    parser.add_argument("--out", type=Path, default=root / "build", help="where the pages go")
    parser.add_argument("--limit", type=int, default=large.a_quarter_of_memory(), help="bytes of a table in memory")
    call = parser.parse_args()
    if call.target and not call.data:
        print(f"demo: TARGET={call.target} names a column, but DATA names no table.", file=sys.stderr)
        return 2
    call.out.mkdir(parents=True, exist_ok=True)
    for name in results:
        (call.out / name).unlink(missing_ok=True)
    if call.data and not call.target:
        print(f"demo: DATA={call.data} names a table, but TARGET does not name the column to predict.", file=sys.stderr)
        return 2
    if call.data.lower().endswith(".parquet") and large.size_in_memory(Path(call.data)) > call.limit:
        return choose_in_blocks(Path(call.data), call.target, call.out)
    print(f"Running nbs/{notebook.name} on {call.data or 'the embedded documents'}", end="\n\n", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            executed = run(call.data, call.target, folder)
        except papermill.PapermillExecutionError as error:
            known = error.ename in ("FileNotFoundError", "ValueError")
            print("demo: " + error.evalue if known else str(error), file=sys.stderr)
            return 1
        write_page(executed, folder, call.out)
        written = [shutil.move(path, call.out / path.name) for path in sorted(folder.iterdir())]
    print_results(executed)
    print("Written:", *written, sep="\n  ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
