"""What the pages of the site have that the notebooks in nbs/ have not: `python tools/pages.py _proc`, for `make docs`.

A page is read for its argument. A definition of more than 30 lines stands behind its name, one click away; what is
shorter, and every check, stays open. Below its title each chapter offers its notebook, to download, and where the
project has a public address (`git_url` in settings.ini) to open in Colab. The first page has the title of the book for
its own, and no second one. What is printed in columns is a table, and nothing is loaded from other hosts for that.
The list of symbols names chapters by their numbers. No line begins with the comma behind a formula.
"""

import ast
import json
import re
import sys
from configparser import ConfigParser
from pathlib import Path

from tables import tables

ROOT = Path(__file__).resolve().parent.parent
COLAB = "https://colab.research.google.com/github/"

LONGEST = 30


def names(source: str) -> list[str]:
    """The functions and classes that a cell defines."""
    return [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]


def folded(source: str) -> str:
    """The cell with Quarto's directives for folding, if it is a long definition that is not folded yet."""
    if source.count("\n") < LONGEST or "#| code-fold" in source or source.lstrip().startswith(("%", "!")):
        return source
    defined = names(source)
    if not defined:
        return source
    return f'#| code-fold: true\n#| code-summary: "{", ".join(defined)}"\n{source}'


def links(name: str, address: str, branch: str) -> str:
    """The line below the title of a chapter."""
    offered = [f'<a href="notebooks/{name}" download>Download this notebook</a>']
    if address:
        project = address.removeprefix("https://github.com/").strip("/")
        offered.append(f'<a href="{COLAB}{project}/blob/{branch}/nbs/{name}">Open in Colab</a>')
    return f'\n\n```{{=html}}\n<p class="notebook-links">{" · ".join(offered)}</p>\n```\n'


def together(text: str) -> str:
    """The text with each formula and the punctuation behind it in one piece; code, displays and tables as they are."""
    apart = re.split(r"(```.*?```|`[^`\n]*`|\$\$.*?\$\$|^\|.*?$)", text, flags=re.DOTALL | re.MULTILINE)
    apart[::2] = [re.sub(r"(?<![$\\\w])(\$[^$\n]+\$)([.,;:?)]+)", r"[\1\2]{.together}", part) for part in apart[::2]]
    return "".join(apart)


def raw(page: str) -> str:
    """HTML as a raw block of Markdown."""
    return f"`````{{=html}}\n{page}\n`````\n"


def shown(output: dict) -> list[dict]:
    """The outputs that take the place of one: printed tables are tables.

    HTML becomes a raw block of Markdown, since Quarto loads two libraries from the net for HTML.
    """
    if output.get("name") == "stdout":
        return [
            {"output_type": "stream", "name": "stdout", "text": [piece + "\n"]}
            if kind == "text"
            else {"output_type": "display_data", "data": {"text/markdown": raw(piece)}, "metadata": {}}
            for kind, piece in tables("".join(output["text"]))
        ]
    data = output.get("data", {})
    if "text/html" in data:
        data["text/markdown"] = raw("".join(data.pop("text/html")))
    return [output]


def apart(cell: dict) -> list[dict]:
    """A cell that prints and draws a figure with a label, as two: Quarto takes a printed table for a part of it."""
    source, outputs = "".join(cell["source"]), cell.get("outputs", [])
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


def numbered(page: str, folder: Path) -> str:
    """The page with links for `@sec-x` that say `Chapter 5`; on a page without a number Quarto makes them of titles."""
    for path in sorted(folder.glob("*.ipynb")):
        number = path.name.split("_")[0].lstrip("0")
        kind = "Chapter" if number.isdigit() else "Appendix"
        for label in re.findall(r'"# [^"]*{#(sec-[\w-]+)}', path.read_text(encoding="utf-8")):
            page = re.sub(rf"@{label}(?![\w-])", f"[{kind}&nbsp;{number}]({path.name})", page)
    return page


def main(folder: Path) -> None:
    """Prepare all notebooks of the folder."""
    settings = ConfigParser(delimiters=["="])
    settings.read(ROOT / "settings.ini", encoding="utf-8")
    address, branch = settings["DEFAULT"]["git_url"], settings["DEFAULT"]["branch"]
    symbols = folder / "symbols.qmd"
    symbols.write_text(numbered(symbols.read_text(encoding="utf-8"), folder), encoding="utf-8")
    for path in sorted(folder.glob("*.ipynb")):
        book = json.loads(path.read_text(encoding="utf-8"))
        title = next(cell for cell in book["cells"] if cell["cell_type"] == "markdown")
        if re.match(r"(\d\d|[A-Z])_", path.name):
            heading, _, rest = "".join(title["source"]).partition("\n")
            text = heading + links(path.name, address, branch) + rest
            title["source"] = text.splitlines(keepends=True)
        elif path.name == "index.ipynb":
            text = re.sub(r"^# .*\n+", "", "".join(title["source"]), count=1, flags=re.MULTILINE)
            title["source"] = text.splitlines(keepends=True)
        book["cells"] = [part for cell in book["cells"] for part in apart(cell)]
        for cell in book["cells"]:
            if cell["cell_type"] == "code":
                cell["source"] = folded("".join(cell["source"])).splitlines(keepends=True)
                cell["outputs"] = [new for output in cell.get("outputs", []) for new in shown(output)]
            else:
                cell["source"] = together("".join(cell["source"])).splitlines(keepends=True)
        path.write_text(json.dumps(book, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
