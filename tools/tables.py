"""Text that is printed in columns, as the tables that it stands for: the pages show
these in its place.

A notebook prints plain text, which reads the same in a terminal. The convention: a line
of headings, two blanks or more between columns, at the same places in every line, and
nowhere in a cell; above the headings there may be a line with those of groups of
columns. Lines that say the same with other figures, one below the other, stay as they
were printed.
"""

import html
import re
from itertools import groupby

UNITS = "ns|µs|ms|s|min|h|d|B|kB|MB|GB|TB|kiB|MiB|GiB"
NUMBER = r"[-+<>~]?(?:\d[\d,]*(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?%?"
FIGURE = re.compile(
    rf"[(\[]?(?:{NUMBER}|-?inf|nan|-)(?: ?(?:±|to|of|x|/|,|\+-) ?{NUMBER}| "
    rf"(?:{UNITS}))*[)\]]?\*?"
)


def is_figure(cell: str) -> bool:
    """Whether a cell is a number, perhaps with its error or its unit."""
    return FIGURE.fullmatch(cell) is not None


def columns(lines: list[str]) -> list[slice]:
    """Where the columns are: stretches between at least two places that are blank in
    all lines.
    """
    found = [slice(0, 0)]
    place = 0
    used = [
        any(line[i : i + 1].strip() for line in lines)
        for i in range(max(map(len, lines)))
    ]
    for is_used, run in groupby(used):
        length = len(list(run))
        if is_used:
            if place - found[-1].stop > 1:
                found.append(slice(place, place))
            found[-1] = slice(found[-1].start, place + length)
        place += length
    return found if found[0].stop else found[1:]


def cells(line: str, places: list[slice]) -> list[str]:
    """The cells of a line; a figure is one with its error or its end, however wide that
    is printed.
    """
    joined = [
        re.sub(r" ?(±|to|of|x|/|\+-|,) +(?=[-\d.])", r" \1 ", line[place].strip())
        for place in places
    ]
    return [cell.replace(" ,", ",") for cell in joined]


def shape(cell: str) -> str:
    """A cell with one sign for every figure and one for every word."""
    return re.sub(r"[^\W\d]+", "a", re.sub(r"[\d.,]+", "0", cell))


def is_heading(head: list[str], body: list[list[str]]) -> bool:
    """Whether the cells of a line name columns: none but the first is empty, or a
    figure like those below it.
    """
    if not all(head[1:]) or head[0] == body[0][0] or any(": " in cell for cell in head):
        return False
    if head[0].endswith("="):
        return True
    below = [{shape(row[j]) for row in body} for j in range(len(head))]
    alike = any(
        shape(cell) in below[j] for j, cell in enumerate(head) if re.search(r"\d", cell)
    )
    return not alike and not any(map(is_figure, head[1:]))


def groups(line: str, places: list[slice]) -> list[tuple[str, int]] | None:
    """The headings of groups of columns, each with the number of columns under it; None
    if they do not fit.
    """
    found = [
        (part[0], part.start(), part.end())
        for part in re.finditer(r"\S+(?: \S+)*", line)
    ]
    under = [
        [j for j, place in enumerate(places) if place.start < b and a < place.stop]
        for _, a, b in found
    ]
    if not all(under) or len({j for own in under for j in own}) < sum(map(len, under)):
        return None
    starts = [own[0] for own in under]
    heads = [
        (text, b - a)
        for (text, *_), a, b in zip(found, starts, [*starts[1:], len(places)])
    ]
    return [("", starts[0])] * (starts[0] > 0) + heads


def parsed(
    lines: list[str],
) -> tuple[list[list[tuple[str, int]]], list[list[str]]] | None:
    """The rows of headings, with the columns that each spans, and the rows of cells;
    None if the lines are no table.
    """
    for first in (0, 1):
        if len(lines) - first < 3:
            break
        places = columns(lines[first:])
        head, *body = (cells(line, places) for line in lines[first:])
        above = [groups(lines[0], places)] if first else []
        whole = all("  " not in cell for row in [head, *body] for cell in row)
        if len(places) > 1 and whole and None not in above and is_heading(head, body):
            return [*above, [(cell, 1) for cell in head]], body
    return None


def as_html(
    heads: list[list[tuple[str, int]]], body: list[list[str]], indents: list[int]
) -> str:
    """The table: figures to the right, names of rows as far in as they were printed."""
    count = len(body[0])
    right = [
        any(row[j] for row in body)
        and all(is_figure(row[j]) or not row[j] for row in body)
        for j in range(count)
    ]

    def cell(kind: str, text: str, j: int, span: int = 1, indent: int = 0) -> str:
        styles = (
            ["text-align: center"]
            if span > 1
            else ["text-align: right"]
            if right[j]
            else []
        )
        styles += [f"padding-left: {indent / 2 + 0.5}em"] if indent else []
        attributes = (f' colspan="{span}"' if span > 1 else "") + (
            f' style="{"; ".join(styles)}"' if styles else ""
        )
        return f"<{kind}{attributes}>{html.escape(text)}</{kind}>"

    top = []
    for line in heads:
        starts = [sum(span for _, span in line[:k]) for k in range(len(line))]
        top.append(
            "<tr>"
            + "".join(
                cell("th", text, j, span) for (text, span), j in zip(line, starts)
            )
            + "</tr>"
        )
    rows = []
    for row, indent in zip(body, indents):
        parts = [
            cell("td", text, j, indent=0 if j or right[0] or not text else indent)
            for j, text in enumerate(row)
        ]
        rows.append("<tr>" + "".join(parts) + "</tr>")
    return "\n".join(
        [
            '<table class="printed">',
            "<thead>",
            *top,
            "</thead>",
            "<tbody>",
            *rows,
            "</tbody>",
            "</table>",
        ]
    )


def tables(text: str) -> list[tuple[str, str]]:
    """The pieces of a printed text, each with its kind, "text" or "table"."""
    pieces: list[tuple[str, str]] = []
    for blank, group in groupby(
        text.rstrip("\n").split("\n"), key=lambda line: not line.strip()
    ):
        if blank:
            continue
        lines = [line.rstrip() for line in group]
        parted = [i for i, line in enumerate(lines) if re.search(r"\S {2,}\S", line)]
        a, b = (parted[0], parted[-1] + 1) if parted else (0, 0)
        found = parsed(lines[a:b])
        if found is None:
            pieces.append(("text", "\n".join(lines)))
            continue
        indents = [
            len(line) - len(line.lstrip()) for line in lines[b - len(found[1]) : b]
        ]
        pieces += [("text", "\n".join(lines[:a]))] * (a > 0)
        pieces.append(
            ("table", as_html(*found, [indent - min(indents) for indent in indents]))
        )
        pieces += [("text", "\n".join(lines[b:]))] * (b < len(lines))
    joined: list[tuple[str, str]] = []
    for kind, piece in pieces:
        if kind == "text" and joined and joined[-1][0] == "text":
            joined[-1] = ("text", f"{joined[-1][1]}\n\n{piece}")
        else:
            joined.append((kind, piece))
    return joined
