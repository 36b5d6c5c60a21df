"""Write README.md from nbs/index.ipynb: its words, its code and the outputs that the code gave."""

import re
from pathlib import Path

import nbformat
from nbconvert import MarkdownExporter

root = Path(__file__).resolve().parent.parent


def relink(text: str, folder: str) -> str:
    """Point the links between notebooks, `](05_sparsification.ipynb)`, to the notebooks in `folder`."""
    return re.sub(r"\]\((\w+\.ipynb)(#[\w-]+)?\)", rf"]({folder}/\1\2)", text)


def readme() -> str:
    """Return the text of README.md. Cells marked `#| hide` are left out, and so are the directives."""
    book = nbformat.read(root / "nbs" / "index.ipynb", as_version=4)
    book.cells = [cell for cell in book.cells if "#| hide" not in cell.source]
    for cell in book.cells:
        cell.source = re.sub(r"^#\|.*\n", "", cell.source, flags=re.MULTILINE)
    book.metadata["language_info"] = {"name": "python"}
    text, _ = MarkdownExporter().from_notebook_node(book)
    text = text.replace("\n```\n\n\n```python\n", "\n\n")  # cells without output between them read as one
    lines = [line.rstrip() for line in relink(text, "nbs").splitlines()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


if __name__ == "__main__":
    (root / "README.md").write_text(readme(), encoding="utf-8")
