"""Bring the numbers of the book up to date: `python tools/renumber.py`, which `make sync`
calls; with `--check` it only says what is out of date.

Headings, statements, equations, figures and tables are numbered in the order in which
they stand, chapter by chapter. A link that names a number gets the one of its target,
and the notebook that this is in, also where code writes it. Each notebook ends with the works that it cites.
"""

import argparse
import hashlib
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from book import (
    CAPTION,
    EQUATION,
    HEADING,
    KINDS,
    LINK,
    ROOT,
    STATEMENT,
    WORKS,
    Chapter,
    Counters,
    Work,
    chapters,
    kind_of,
    outside_code,
    tags,
    works,
)


@dataclass(frozen=True)
class Target:
    """What a link may lead to.

    Attributes
    ----------
    path : str
        The name of the notebook.
    number : str
        Empty where there is none.
    """

    path: str
    number: str


def numbered(text: str, counters: Counters, path: str, found: dict[str, Target]) -> str:
    """The text of a cell with its numbers; what it numbers is entered in `found`."""

    def enter(label: str, number: str) -> None:
        if label in found:
            raise ValueError(
                f"{label} is in {found[label].path} and in {path}: a label stands for "
                "one thing. Rename one of them"
            )
        found[label] = Target(path, number)

    def equation(match: re.Match) -> str:
        number = counters.next("eq")
        enter(match[2], number)
        return match[1] + number + match[4]

    text = EQUATION.sub(equation, text)
    lines = text.split("\n")
    in_code = False
    for place, line in enumerate(lines):
        if line.startswith("```"):
            in_code = not in_code
        if in_code:
            continue
        if match := HEADING.match(line):
            number = counters.heading(len(match[1]))
            shown = f"{number}{'' if '.' in number else '.'} " if number else ""
            anchor = f' <a id="{match[3]}"></a>' if match[3] else ""
            lines[place] = f"{match[1]} {shown}{match[2]}{anchor}"
            if match[3]:
                enter(match[3], number)
        elif match := STATEMENT.match(line):
            kind = match[1].partition("-")[0]
            number = counters.next(kind)
            enter(match[1], number)
            title = f" ({match[4]})" if match[4] else ""
            anchor = f'> <a id="{match[1]}"></a>'
            lines[place] = (
                f"{anchor}**{KINDS[kind]} {number}{title}.**{line[match.end() :]}"
            )
        elif match := CAPTION.match(line):
            kind = match[1].partition("-")[0]
            number = counters.next(kind)
            enter(match[1], number)
            anchor = f'<a id="{match[1]}"></a>'
            lines[place] = f"{anchor}**{KINDS[kind]} {number}.** {line[match.end() :]}"
    return "\n".join(lines)


def relinked(text: str, path: str, found: dict[str, Target]) -> str:
    """The text with the number and the notebook of each target in its link."""

    def link(match: re.Match) -> str:
        label = match[3]
        if label not in found:
            raise ValueError(f"{path} refers to {label}, which is nowhere in the book")
        target = found[label]
        where = "" if target.path == path else target.path
        name = f"{kind_of(label, target.number)} {target.number}"
        return f"[{name}]({where}#{label})"

    return LINK.sub(link, text)


def linked(text: str, path: str, found: dict[str, Target]) -> str:
    """The same for a cell of text, whose pieces of code are left as they are."""
    pieces = outside_code(text)
    pieces[::2] = [relinked(piece, path, found) for piece in pieces[::2]]
    return "".join(pieces)


def cited(text: str, literature: dict[str, Work]) -> list[str]:
    """The keys of the works that a text cites."""
    keys = re.findall(r"\]\(#ref-([\w-]+)\)", text)
    for key in keys:
        if key not in literature:
            raise ValueError(f"{key} is cited, and is not in references.bib")
    return keys


def works_cell(keys: set[str], literature: dict[str, Work], path: str) -> dict:
    """The cell at the end of a notebook that lists what it cites."""
    listed = sorted(
        (literature[key] for key in keys),
        key=lambda work: ([name.casefold() for name in work.families], work.year),
    )
    lines = ["**Works cited**"]
    lines += [f'- <a id="ref-{work.key}"></a>{work.listed()}' for work in listed]
    text = lines[0] + "\n\n" + "\n".join(lines[1:])
    return {
        "cell_type": "markdown",
        "id": hashlib.sha256(f"works {path}".encode()).hexdigest()[:8],
        "metadata": {"tags": [WORKS]},
        "source": text.splitlines(keepends=True),
    }


def linked_code(cell: dict[str, Any], path: str, found: dict[str, Target]) -> None:
    """Bring links up to date that code writes, and those in what it wrote."""
    text = "".join(cell["source"])
    cell["source"] = relinked(text, path, found).splitlines(keepends=True)
    for output in cell["outputs"]:
        data = output.get("data", {})
        if "text/markdown" in data:
            text = relinked("".join(data["text/markdown"]), path, found)
            data["text/markdown"] = text.splitlines(keepends=True)


def renumbered(
    books: dict[Chapter, dict[str, Any]], literature: dict[str, Work]
) -> None:
    """Bring all notebooks up to date, in place."""
    found: dict[str, Target] = {}
    for chapter, book in books.items():
        counters = Counters(chapter.number)
        book["cells"] = [cell for cell in book["cells"] if WORKS not in tags(cell)]
        for cell in book["cells"]:
            if cell["cell_type"] == "markdown":
                text = "".join(cell["source"])
                text = numbered(text, counters, chapter.path.name, found)
                cell["source"] = text.splitlines(keepends=True)
    for chapter, book in books.items():
        keys: set[str] = set()
        for cell in book["cells"]:
            if cell["cell_type"] == "markdown":
                text = linked("".join(cell["source"]), chapter.path.name, found)
                keys.update(cited(text, literature))
                cell["source"] = text.splitlines(keepends=True)
            elif cell["cell_type"] == "code":
                linked_code(cell, chapter.path.name, found)
        if keys:
            # the directive for nbdev stays the last cell
            place = len(book["cells"])
            last = book["cells"][-1]
            if "".join(last["source"]).startswith("#| default_exp"):
                place -= 1
            cell = works_cell(keys, literature, chapter.path.name)
            book["cells"].insert(place, cell)


def as_text(book: dict[str, Any]) -> str:
    """A notebook as it is stored."""
    return json.dumps(book, ensure_ascii=False, indent=1) + "\n"


def main() -> int:
    """Write the notebooks, or say which are out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--root", type=Path, default=ROOT)
    asked = parser.parse_args()
    order = chapters(asked.root)
    before = {one: one.path.read_text(encoding="utf-8") for one in order}
    books = {one: json.loads(text) for one, text in before.items()}
    renumbered(books, works(asked.root))
    late = [one for one in order if as_text(books[one]) != before[one]]
    if asked.check:
        for one in late:
            print(f"{one.path.name} is out of date; `make sync` brings it up to date")
        return bool(late)
    for one in late:
        one.path.write_text(as_text(books[one]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
