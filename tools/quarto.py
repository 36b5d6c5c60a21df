"""The notebooks in the form that Quarto reads: `python tools/quarto.py _proc` turns those
in the folder, for `make docs`.

In nbs/ they are written in plain Markdown, as JupyterLab, GitHub, VS Code and Colab
show it. Quarto has its own words for what is numbered there, numbers it itself and then
knows it by name: previews of theorems at a reference, a list of figures, captions with
their figures. So numbers and anchors become labels, links with numbers become
references, quotations that begin with a statement become its block, and metadata of
cells become directives. Where cells for the second page of a chapter begin and end stands
a comment, for tools/split.py.
"""

import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from book import (
    CAPTION,
    DETAILS,
    EQUATION,
    HEADING,
    HIDDEN,
    LINK,
    LIVE,
    ROOT,
    SOLUTION,
    STATEMENT,
    WORKS,
    outside_code,
    tags,
    works,
)

# Pages of tables: as wide as the window.
WIDE = ("results", "glossary", "symbols", "parameters")
FRONT = "---\npage-layout: full\ntoc: false\n---"


@cache
def years_of_works() -> dict[str, str]:
    """In which year each work came out, read once for all texts."""
    return {key: work.year for key, work in works(ROOT).items()}


def citations(text: str) -> str:
    """Links to works as citations of Pandoc."""
    years = years_of_works()

    def narrative(match: re.Match) -> str:
        place = f" [{match[1]}]" if match[1] else ""
        return f"@{match[2]}{place}"

    def each(match: re.Match) -> str:
        alone = "-" if match[1] == years[match[2]] else ""
        return f"{alone}@{match[2]}"

    text = re.sub(
        r"\[[^\[\]]*? \(\d{4}(?:, ([^\[\]]*))?\)\]\(#ref-([\w-]+)\)", narrative, text
    )
    # what stands in brackets around links to works, up to the bracket that closes them
    inside = r"(?:[^()]|\(#[\w-]+\)|\([^()]*\))*"
    return re.sub(
        rf"\((\[[^\[\]]*\]\(#ref-[\w-]+\){inside})\)",
        lambda group: (
            "[" + re.sub(r"\[([^\[\]]*)\]\(#ref-([\w-]+)\)", each, group[1]) + "]"
        ),
        text,
    )


def words(text: str, *, is_numbered: bool = True) -> str:
    """References and citations, outside of code.

    On a page without numbers links stay: a reference there would say the title.
    """
    pieces = outside_code(text)
    for place in range(0, len(pieces), 2):
        if is_numbered:
            pieces[place] = LINK.sub(lambda link: f"@{link[3]}", pieces[place])
        pieces[place] = citations(pieces[place])
    return "".join(pieces)


def statements(text: str) -> str:
    """Quotations that begin with a statement, and proofs, as blocks."""
    lines: list[str] = []
    block: list[str] | None = None
    for line in [*text.split("\n"), ""]:
        if match := STATEMENT.match(line):
            block = [f"::: {{#{match[1]}}}"]
            if match[4]:
                block.append(f"## {match[4]}")
            block.append(line[match.end() :].strip())
        elif block is not None and line.startswith(">"):
            block.append(line[1:].removeprefix(" "))
        else:
            if block is not None:
                lines += [*block, ":::"]
                block = None
            lines.append(line)
    text = "\n".join(lines[:-1])
    text = re.sub(
        r"^\*Proof\.\*(.*?)\s*∎$",
        lambda proof: f"::: {{.proof}}\n{proof[1].strip()}\n:::",
        text,
        flags=re.DOTALL | re.MULTILINE,
    )
    return re.sub(r"^(::: \{#[\w-]+\}(?:\n## .*)?)\n\n+", r"\1\n", text, flags=re.M)


def folds(text: str, goes_on: bool) -> str:
    """Folded parts as callouts; the last one stays open if code cells go on with it."""
    parts = re.split(
        r"<details><summary>(.*?)</summary>\n\n(.*?)\n\n</details>",
        text,
        flags=re.DOTALL,
    )
    found = parts[0]
    for place in range(1, len(parts), 3):
        title, body, after = parts[place : place + 3]
        open_end = goes_on and place == len(parts) - 3 and not after.strip()
        end = "" if open_end else "\n:::"
        found += (
            f'::: {{.callout-note collapse="true"}}\n## {title}\n\n{body}{end}{after}'
        )
    return found


def markdown(text: str, *, is_numbered: bool = True, goes_on: bool = False) -> str:
    """A cell of text as Quarto reads it.

    Parameters
    ----------
    text : str
    is_numbered : bool
        Whether the page has numbers.
    goes_on : bool
        Whether code cells after it belong to the solution at its end.
    """
    text = EQUATION.sub(
        lambda match: (
            re.sub(
                r"\s*\\tag\{$",
                " $$ ",
                match[1].partition("\n")[2].removeprefix("> "),
            )
            + f"{{#{match[2]}}}"
        ),
        text,
    )
    lines = []
    in_code = False
    for line in text.split("\n"):
        if line.startswith("```"):
            in_code = not in_code
        if not in_code and (match := HEADING.match(line)):
            label = [f"#{match[3]}"] if match[3] else []
            label += [] if is_numbered else [".unnumbered"]
            end = f" {{{' '.join(label)}}}" if label else ""
            line = f"{match[1]} {match[2]}{end}"
        elif not in_code and (match := CAPTION.match(line)):
            line = f": {line[match.end() :]} {{#{match[1]}}}"
        lines.append(line)
    blocks = folds(statements("\n".join(lines)), goes_on)
    return words(blocks, is_numbered=is_numbered)


def caption(cell: dict[str, Any] | None, label: str) -> str:
    """The caption that a cell is, of the figure with this label."""
    text = "".join(cell["source"]) if cell else ""
    match = CAPTION.match(text)
    if not match or match[1] != label:
        raise ValueError(f"The figure {label} has no caption in the cell below it")
    return words(text[match.end() :])


def caption_of_print(cell: dict[str, Any] | None) -> tuple[str, str, str]:
    """The label and the caption with which a cell begins, of the table that the cell
    above it prints, and the text after it; empty ones where it does not.
    """
    text = "".join(cell["source"]) if cell and cell["cell_type"] == "markdown" else ""
    match = CAPTION.match(text)
    if not match or not match[1].startswith("tbl-"):
        return "", "", text
    said, _, rest = text[match.end() :].partition("\n\n")
    return match[1], words(said), rest


def code(cell: dict[str, Any], below: dict[str, Any] | None) -> str:
    """The source of a code cell with Quarto's directives, from its metadata and from
    the caption below it.
    """
    source = "".join(cell["source"])
    meta = cell.get("metadata", {})
    found = []
    if "figure" in meta:
        label = meta["figure"]["label"]
        found = [
            f"#| label: {label}",
            f"#| fig-cap: {json.dumps(caption(below, label), ensure_ascii=False)}",
            f"#| fig-alt: {json.dumps(meta['figure']['alt'], ensure_ascii=False)}",
        ]
    label, said, _ = caption_of_print(below)
    if label:
        found = [
            f"#| label: {label}",
            f"#| tbl-cap: {json.dumps(said, ensure_ascii=False)}",
        ]
    if meta.get("jupyter", {}).get("source_hidden"):
        found.append("#| code-fold: true")
    if "summary" in meta:
        found.append(f"#| code-summary: {json.dumps(meta['summary'])}")
    return "\n".join([*found, source])


def text_cell(name: str, text: str) -> dict[str, Any]:
    """A cell of text."""
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": [text]}


def converted(book: dict[str, Any], name: str) -> dict[str, Any]:
    """A notebook as Quarto reads it.

    Parameters
    ----------
    book : dict
    name : str
        Of its file, without the ending.

    Raises
    ------
    ValueError
        If a figure has no caption below it, or the code of a solution no text above; if
        a page ends within a solution.
    """
    is_numbered = re.match(r"\d\d_|[A-Z]_", name) is not None
    cells = [
        cell for cell in book["cells"] if not {WORKS, HIDDEN, LIVE} & {*tags(cell)}
    ]
    found: list[dict[str, Any]] = []
    is_open = False  # whether a callout waits for its end
    is_details = False
    for place, cell in enumerate(cells):
        if is_details != (DETAILS in tags(cell)):
            if is_open:
                raise ValueError(
                    f"{name}: cell {cell['id']} stands within a solution, and is for "
                    "another page than the cell above it"
                )
            is_details = not is_details
            page = "details" if is_details else "first"
            mark = f"```{{=html}}\n<!-- page: {page} -->\n```"
            found.append(text_cell(f"{cell['id']}-page", mark))
        below = cells[place + 1] if place + 1 < len(cells) else None
        goes_on = below is not None and SOLUTION in tags(below)
        if cell["cell_type"] == "code":
            text = code(cell, below)
        else:
            text = "".join(cell["source"])
            match = CAPTION.match(text)
            if match and match[1].startswith("fig-"):
                continue
            if place and cells[place - 1]["cell_type"] == "code":
                *_, text = caption_of_print(cell)
                if not text:
                    continue
            text = markdown(text, is_numbered=is_numbered, goes_on=goes_on)
            if SOLUTION in tags(cell):
                text = re.sub(r"\A::: .*\n## .*\n+|\n:::\Z", "", text)
        if not (found or is_numbered):
            # Quarto numbers a notebook whose first line is its heading, whatever it says
            text = f"<!-- -->\n\n{text}"
        found.append(cell | {"metadata": {}, "source": text.splitlines(keepends=True)})
        if goes_on:
            if not is_open and "::: {.callout-note" not in text:
                raise ValueError(
                    f"{name}: cell {below['id']} is code of a solution, and must stand "
                    "below the text of it"
                )
            is_open = True
        elif is_open:
            is_open = False
            found.append(text_cell(f"{cell['id']}-end", ":::"))
    if name in WIDE:
        front = {"cell_type": "raw", "id": "front", "metadata": {}, "source": [FRONT]}
        found.insert(0, front)
    return book | {"cells": found}


def main(folder: Path) -> None:
    """Turn all notebooks of the folder."""
    for path in sorted(folder.glob("*.ipynb")):
        book = converted(json.loads(path.read_text(encoding="utf-8")), path.stem)
        text = json.dumps(book, ensure_ascii=False, indent=1) + "\n"
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
