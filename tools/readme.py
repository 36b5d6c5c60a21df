"""Write README.md from nbs/index.ipynb: its words, its code and what the code gave;
pictures go to nbs/images/.
"""

import re
from pathlib import Path

import nbformat
from nbconvert import MarkdownExporter

root = Path(__file__).resolve().parent.parent
images = "nbs/images"


def relink(text: str, folder: str) -> str:
    """Point the links between pages, `](05_sparsification.ipynb)` or `](symbols.qmd)`,
    to those in `folder`.
    """
    return re.sub(r"\]\((\w+\.(?:ipynb|qmd))(#[\w-]+)?\)", rf"]({folder}/\1\2)", text)


def plain(text: str) -> str:
    """Leave out what only Quarto reads: directives, comments, and attributes of
    headings such as `{.unnumbered}`.
    """
    text = re.sub(r"^#\|.*\n|^<!--.*-->\n+", "", text, flags=re.MULTILINE)
    return re.sub(r"^(#+ .*?) *\{[^}]*\}$", r"\1", text, flags=re.MULTILINE)


def directive(cell: nbformat.NotebookNode, name: str) -> str:
    """The value of `#| name: value` in a code cell; empty where there is none."""
    found = re.search(rf'^#\| {name}: "?(.*?)"?$', cell.source, flags=re.MULTILINE)
    return found[1] if found else ""


def drawn(cell: nbformat.NotebookNode) -> str | None:
    """The picture that a cell left, on white: a page in the dark may show it without
    knowing that its ink is black.
    """
    found = (
        output.get("data", {}).get("image/svg+xml")
        for output in cell.get("outputs", [])
    )
    picture = next(filter(None, found), None)
    return picture and picture.replace("<svg ", '<svg style="background: white" ', 1)


def readme() -> tuple[str, dict[str, str]]:
    """Return the text of README.md, and its pictures by their paths.

    Cells marked `#| hide` are left out, and so is code that the site folds; pictures
    stay, with their alternative text.
    """
    book = nbformat.read(root / "nbs" / "index.ipynb", as_version=4)
    pictures = {}
    kept = []
    for cell in book.cells:
        if picture := drawn(cell):
            path = f"{images}/{directive(cell, 'label')}.svg"
            pictures[path] = picture
            kept.append(
                nbformat.v4.new_markdown_cell(
                    f"![{directive(cell, 'fig-alt')}]({path})"
                )
            )
        elif "#| hide" not in cell.source and not directive(cell, "code-fold"):
            cell.source = plain(cell.source)
            kept.append(cell)
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
        (root / path).write_text(picture, encoding="utf-8")
