"""Write README.md from nbs/index.ipynb: its words, its code and what the code gave;
pictures go to nbs/images/.
"""

import base64
import re
from pathlib import Path

import nbformat
from book import CAPTION, HIDDEN, tags
from nbconvert import MarkdownExporter

root = Path(__file__).resolve().parent.parent
images = "nbs/images"


def relink(text: str, folder: str) -> str:
    """Point the links between notebooks, `](05_sparsification.ipynb)`, to those in
    `folder`.
    """
    return re.sub(r"\]\((\w+\.ipynb)(#[\w-]+)?\)", rf"]({folder}/\1\2)", text)


def plain(text: str) -> str:
    """Leave out what only nbdev reads."""
    return re.sub(r"^#\|.*\n", "", text, flags=re.MULTILINE)


def is_folded(cell: nbformat.NotebookNode) -> bool:
    """Whether a cell of code is folded."""
    return cell.metadata.get("jupyter", {}).get("source_hidden", False)


def drawn(cell: nbformat.NotebookNode) -> bytes | None:
    """The picture that a cell left."""
    found = (
        output.get("data", {}).get("image/png") for output in cell.get("outputs", [])
    )
    picture = next(filter(None, found), None)
    return picture and base64.b64decode(picture)


def without_styles(cell: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """A cell whose outputs are text where their HTML needs styles, which GitHub and
    PyPI take away.
    """
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "text/plain" in data and "style=" in data.get("text/html", ""):
            del data["text/html"]
    return cell


def readme() -> tuple[str, dict[str, bytes]]:
    """Return the text of README.md, and its pictures by their paths.

    Hidden cells are left out, and so is code that is folded; pictures stay, with their
    alternative text and their captions.
    """
    book = nbformat.read(root / "nbs" / "index.ipynb", as_version=4)
    pictures = {}
    kept = []
    for cell in book.cells:
        if picture := drawn(cell):
            figure = cell.metadata["figure"]
            path = f"{images}/{figure['label']}.png"
            pictures[path] = picture
            kept.append(nbformat.v4.new_markdown_cell(f"![{figure['alt']}]({path})"))
        elif HIDDEN not in tags(cell) and not is_folded(cell):
            cell.source = plain(CAPTION.sub("", cell.source))
            kept.append(without_styles(cell))
    book.cells = kept
    book.metadata["language_info"] = {"name": "python"}
    text, _ = MarkdownExporter().from_notebook_node(book)
    # cells without output between them read as one
    text = text.replace("\n```\n\n\n```python\n", "\n\n")
    lines = [line.rstrip() for line in relink(text, "nbs").splitlines()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n", pictures


if __name__ == "__main__":
    words, drawings = readme()
    (root / "README.md").write_text(words, encoding="utf-8")
    for path, picture in drawings.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_bytes(picture)
