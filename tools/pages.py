"""What the pages of the site have that the notebooks in nbs/ have not: `python
tools/pages.py _proc`, for `make docs`.

A page is read for its argument. A definition of more than 30 lines stands behind its
name, one click away, and so does a helper that no reader calls. An algorithm as the
theorem has it, in a function whose name ends in `_reference`, stays open up to 80 lines,
and its docstring is cut to what it begins with. Each fold says what is behind it.
Below its title each chapter offers its notebook, to download, with a fold that says how
to run it, and where the project has a public address (`git_url` in settings.ini) to open
in Colab. The first page has the title of the book for its own, no second one, a line
that installs the package from the site, four doors, and pictures without their code. What is printed in columns is a
table, a printed certificate stands in one frame, and nothing is loaded from other hosts
for that. A method has a picture that moves. Figures tell the style sheet whether they
are narrow or wide. No line begins with the comma behind a formula.
"""

import ast
import html
import json
import re
import sys
from configparser import ConfigParser
from pathlib import Path

from tables import tables

ROOT = Path(__file__).resolve().parent.parent
# Pictures that move, below the heading of a section: their scripts are in nbs/living.
LIVING = {
    "sparsification": ("The idea", "barriers"),
    "spectra": ("The idea", "leverage"),
    "leverage": ("The idea", "leverage"),
    "ridge_barriers": ("The idea", "ridge"),
    "labels": ("The idea", "labels"),
    "elimination": ("The idea", "elimination"),
    "stopping": ("The idea", "bend"),
}
COLAB = "https://colab.research.google.com/github/"

LONGEST = 30  # lines of a definition that is read on the page
LONGEST_LITERAL = 80  # and of an algorithm, as its theorem has it
HELPER = 5  # and of one for the code around it alone

# In pixels: what fits on a phone without loss, and what has more panels than a phone
# shows at once.
NARROW = 540
WIDE = 850


def names(source: str) -> list[str]:
    """The functions and classes that a cell defines."""
    return [
        node.name
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]


def is_literal(source: str) -> bool:
    """Whether the cell holds an algorithm as its theorem has it."""
    return any(re.search(r"[a-z]_reference$", name) for name in names(source))


def helps_only(source: str) -> bool:
    """Whether the cell defines nothing that a reader is to call."""
    found = names(source)
    return bool(found) and all(name.startswith("_") for name in found)


def with_short_docstrings(source: str) -> str:
    """The cell with the first paragraph alone of each docstring of a function."""
    lines = source.splitlines(keepends=True)
    nodes = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef)
    ]
    for node in sorted(nodes, key=lambda node: -node.lineno):
        first = ast.get_docstring(node)
        if first is None or "\n\n" not in first:
            continue
        text = node.body[0]
        indent = " " * text.col_offset
        told = first.partition("\n\n")[0].replace("\n", f"\n{indent}")
        lines[text.lineno - 1 : text.end_lineno] = [f'{indent}"""{told}"""\n']
    return "".join(lines)


def printed_tables(outputs: list[dict]) -> bool:
    """Whether the stored outputs show a table."""
    texts = [
        "".join(output["text"]) for output in outputs if output.get("name") == "stdout"
    ]
    return any(kind == "table" for text in texts for kind, _ in tables(text)) or any(
        "text/html" in output.get("data", {}) for output in outputs
    )


def summary(source: str, outputs: list[dict], solves: bool) -> str:
    """What is behind a fold, in a few words."""
    code = re.sub(r"^#\|.*\n", "", source, flags=re.MULTILINE).lstrip()
    statements = ast.parse(re.sub(r"^[%!].*", "", code, flags=re.MULTILINE)).body
    checks = re.match(r"# ([A-Z]\d+(?:, [A-Z]\d+)*)\b", code)
    if checks:
        return f"Check of {checks[1]}"
    if solves:
        return "Code of the solution"
    if any("image/png" in output.get("data", {}) for output in outputs):
        return "Code of the figure"
    if printed_tables(outputs):
        return "Code of the table"
    if told := re.match(r"# (\S.*?)\.?\n", code):
        return told[1]
    if outputs:
        return "Code of the output"
    if defined := names(code):
        return ", ".join(defined)
    if isinstance(statements[0], ast.Import | ast.ImportFrom):
        return "Imports"
    if "write_rows(" in code or ".run(" in code:
        return "Code of the full run"
    given = [
        target
        for node in statements
        if isinstance(node, ast.Assign)
        for target in node.targets
    ]
    if len(given) == len(statements) and all(
        isinstance(name, ast.Name) for name in given
    ):
        return ", ".join(ast.unparse(name) for name in given)
    return "Code"


def folded(source: str, outputs: list[dict], solves: bool = False) -> str:
    """The cell with Quarto's directives for folding, if it is a long definition or
    folded already.
    """
    if source.lstrip().startswith(("%", "!")) or "#| code-summary" in source:
        return source
    fold = "#| code-fold: true\n"
    is_folded = "#| code-fold: true" in source
    if not is_folded and is_literal(source):
        short = with_short_docstrings(source)
        if short.count("\n") < LONGEST_LITERAL:
            return short
    n_lines = source.count("\n")
    is_long = n_lines >= LONGEST and names(source)
    is_aside = n_lines >= HELPER and helps_only(source)
    if not is_folded and not is_long and not is_aside:
        return source
    said = summary(source, outputs, solves) if is_folded else ", ".join(names(source))
    behind = f"{fold}#| code-summary: {json.dumps(said, ensure_ascii=False)}\n"
    return source.replace(fold, behind, 1) if is_folded else behind + source


def sized(source: str, outputs: list[dict]) -> str:
    """The cell with the class `narrow` or `wide` if it draws such a figure: on phones
    only some need to scroll.
    """
    widths = [
        output["metadata"]["image/png"]["width"]
        for output in outputs
        if "image/png" in output.get("data", {})
    ]
    if not widths:
        return source
    width = max(widths)
    kind = "narrow" if width <= NARROW else "wide" if width >= WIDE else ""
    return f"#| classes: {kind}\n{source}" if kind else source


def links(name: str, address: str, branch: str, version: str) -> str:
    """What stands below the title of a chapter: its notebook, and a fold that says how to
    run that.
    """
    offered = [f'<a href="notebooks/{name}" download>Download this notebook</a>']
    if address:
        project = address.removeprefix("https://github.com/").strip("/")
        offered.append(
            f'<a href="{COLAB}{project}/blob/{branch}/nbs/{name}">Open in Colab</a>'
        )
    start = (
        f"<p>Then <code>jupyter lab {name}</code>, and Run All: it ends within two minutes "
        f"and needs no network.</p>"
    )
    page = (
        f'<p class="notebook-links">{" · ".join(offered)}</p>\n'
        f'<details class="run-it"><summary>How to run it</summary>'
        f"{install_line('book', version)}{start}</details>"
    )
    return f"\n\n{raw(page)}"


def doors() -> str:
    """The buttons of the first page, to the pages that most readers want next."""

    def chapter(name: str) -> str:
        (found,) = (path.name for path in (ROOT / "nbs").glob(f"*_{name}.ipynb"))
        return found

    offered = {
        "I have a table": "quickstart.ipynb#a-table-of-your-own",
        "I want to understand": chapter("certificates"),
        "I want the proofs": "results.ipynb",
        "Does it hold up?": chapter("choosing") + "#sec-choosing-evidence",
    }
    buttons = [
        f'[{said}]({page}){{.btn role="button"}}' for said, page in offered.items()
    ]
    buttons[0] = buttons[0].replace("{.btn", "{.btn .btn-primary")
    return "\n\n::: {.doors}\n" + " ".join(buttons) + "\n:::\n"


def install_line(extra: str, version: str) -> str:
    """The line by which the package comes from the site itself, where `make docs` leaves
    it, with one of its extras; a script puts the whole address on the clipboard.
    """
    wheel = f"fsel_book-{version}-py3-none-any.whl"
    file = f'<a href="{wheel}" download>{wheel}</a>'
    line = f'<code>pip install "fsel_book[{extra}] @ {file}"</code>'
    button = '<button type="button" class="btn btn-sm" hidden>Copy</button>'
    return f'<p class="install">{line} {button}</p>'


def living(name: str, text: str) -> str:
    """The text of a cell with the picture that belongs to its section, if there is one."""
    heading, picture = LIVING.get(
        name.partition("_")[2].removesuffix(".ipynb"), ("", "")
    )
    if not picture or not re.search(rf"^## .*\b{heading}\b", text, flags=re.MULTILINE):
        return text
    script = (ROOT / "nbs" / "living" / f"{picture}.js").read_text(encoding="utf-8")
    place = (
        f'<div class="living" data-picture="{picture}"><p>Here a picture moves where '
        f"scripts may run; the figures below stand still.</p></div>"
    )
    return f"{text.rstrip()}\n\n{raw(f'{place}<script>{script}</script>')}"


def together(text: str) -> str:
    """The text with each formula and the punctuation behind it in one piece; code,
    displays and tables as they are.
    """
    apart = re.split(
        r"(```.*?```|`[^`\n]*`|\$\$.*?\$\$|^\|.*?$)",
        text,
        flags=re.DOTALL | re.MULTILINE,
    )
    apart[::2] = [
        re.sub(r"(?<![$\\\w])(\$[^$\n]+\$)([.,;:?)]+)", r"[\1\2]{.together}", part)
        for part in apart[::2]
    ]
    return "".join(apart)


def raw(page: str) -> str:
    """HTML as a raw block of Markdown."""
    return f"`````{{=html}}\n{page}\n`````\n"


def framed(pieces: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pieces of a printed text with each certificate, its title, its table and its
    verdict, in one frame.
    """
    found: list[tuple[str, str]] = []
    for kind, piece in pieces:
        rest = piece
        if found and found[-1][0] == "open":
            verdict, _, rest = piece.partition("\n\n")
            found[-1] = (
                "frame",
                f"{found[-1][1]}<p>{html.escape(' '.join(verdict.split()))}</p></div>",
            )
        elif (
            found
            and kind == "table"
            and "certified for rank" in (above := found[-1][1].rpartition("\n\n"))[2]
        ):
            found[-1] = ("text", above[0])
            head = f'<p class="title">{html.escape(" ".join(above[2].split()))}</p>'
            rest = f'<div class="certificate">{head}{piece}'
            kind = "open"
        found.append((kind, rest))
    return [
        (kind, piece + "</div>" * (kind == "open")) for kind, piece in found if piece
    ]


def shown(output: dict) -> list[dict]:
    """The outputs that take the place of one: printed tables are tables.

    HTML becomes a raw block of Markdown, since Quarto loads two libraries from the net
    for HTML.
    """
    if output.get("name") == "stdout":
        return [
            {"output_type": "stream", "name": "stdout", "text": [piece + "\n"]}
            if kind == "text"
            else {
                "output_type": "display_data",
                "data": {"text/markdown": raw(piece)},
                "metadata": {},
            }
            for kind, piece in framed(tables("".join(output["text"])))
        ]
    data = output.get("data", {})
    if "text/html" in data:
        page = "".join(data.pop("text/html"))
        data["text/markdown"] = raw(
            f'<div class="certificate">{page}</div>'
            if "certified for rank" in page
            else page
        )
    return [output]


def apart(cell: dict) -> list[dict]:
    """A cell that prints and draws a figure with a label, as two: Quarto takes a
    printed table for a part of it.
    """
    source = "".join(cell["source"])
    outputs = cell.get("outputs", [])
    printed = [output for output in outputs if output.get("name") == "stdout"]
    drawn = [output for output in outputs if output not in printed]
    directives = re.compile(r"^#\| (?:label|fig-\w+): .*\n", flags=re.MULTILINE)
    if "#| label: fig-" not in source or not printed or not drawn:
        return [cell]
    bare = directives.sub("", source)
    figure = "".join(directives.findall(source)) + "#| echo: false\n" + bare
    return [
        cell | {"source": [bare], "outputs": printed},
        cell | {"id": f"{cell['id']}-figure", "source": [figure], "outputs": drawn},
    ]


def main(folder: Path) -> None:
    """Prepare all notebooks of the folder."""
    settings = ConfigParser(delimiters=["="])
    settings.read(ROOT / "settings.ini", encoding="utf-8")
    address = settings["DEFAULT"]["git_url"]
    branch = settings["DEFAULT"]["branch"]
    version = settings["DEFAULT"]["version"]
    for path in sorted(folder.glob("*.ipynb")):
        book = json.loads(path.read_text(encoding="utf-8"))
        title = next(cell for cell in book["cells"] if cell["cell_type"] == "markdown")
        if re.match(r"(\d\d|[A-Z])_", path.name):
            heading, _, rest = "".join(title["source"]).partition("\n")
            text = heading + links(path.name, address, branch, version) + rest
            title["source"] = text.splitlines(keepends=True)
        elif path.name == "index.ipynb":
            text = re.sub(
                r"^# .*\n+", "", "".join(title["source"]), count=1, flags=re.MULTILINE
            )
            # with what reads tables
            text = f"{text.rstrip()}\n\n{raw(install_line('report', version))}"
            title["source"] = (text + doors()).splitlines(keepends=True)
        book["cells"] = [part for cell in book["cells"] for part in apart(cell)]
        solves = False
        for cell in book["cells"]:
            if cell["cell_type"] == "code":
                outputs = cell.get("outputs", [])
                source = sized(
                    folded("".join(cell["source"]), outputs, solves), outputs
                )
                if path.name == "index.ipynb":  # a page to look at
                    source = source.replace("#| code-fold: true", "#| echo: false")
                cell["source"] = source.splitlines(keepends=True)
                cell["outputs"] = [new for output in outputs for new in shown(output)]
            else:
                for fence in re.findall(
                    r"^:::+.*(?:\n## .*)?", "".join(cell["source"]), flags=re.MULTILINE
                ):
                    solves = "\n## Solution" in fence
                text = living(path.name, together("".join(cell["source"])))
                cell["source"] = text.splitlines(keepends=True)
        path.write_text(
            json.dumps(book, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
