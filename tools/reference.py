"""The pages of the API reference, from signatures and docstrings, and those on literature,
on citing and on what has changed: `python tools/reference.py FOLDER` writes them.

What stands on which page says `_quarto.yml`, under `reference`. Descriptions that
several docstrings share are inserted when a module is imported, and methods are
inherited; so the pages are made from the living objects. Each class gets a page of its
own, by a comment for tools/split.py; names of the package are links to their entries,
and an example that draws shows its picture.
"""

import doctest
import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import Any

import matplotlib
import yaml
from book import chapters, works
from matplotlib import pyplot as plt

from fsel_book.chapters import CHAPTERS
from fsel_book.help_texts import chapter_note

matplotlib.use("agg")
ROOT = Path(__file__).resolve().parent.parent
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
LISTED = ("Parameters", "Attributes", "Returns", "Yields", "Raises")


def named(path: str) -> tuple[str, Any]:
    """The name and the object behind `name`, or behind `module.name` where the name is
    not one of the top level.
    """
    module, _, name = path.rpartition(".")
    return name, getattr(
        importlib.import_module(f"fsel_book.{module}".rstrip(".")), name
    )


def call(name: str, thing: Any) -> str:
    """How it is called: names and defaults, without types, on lines of a readable
    length.
    """
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return name
    plain = [
        p.replace(annotation=p.empty)
        for p in signature.parameters.values()
        if p.name not in ("self", "cls")
    ]
    line = f"{name}{signature.replace(parameters=plain, return_annotation=signature.empty)}"
    if len(line) <= 72:
        return line
    inner = line[len(name) + 1 : -1]
    parts = re.split(
        r", (?=(?:[^'\"()\[\]]|'[^']*'|\"[^\"]*\"|\([^)]*\)|\[[^\]]*\])*$)", inner
    )
    return f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + ")"


def laid_out(lines: list[str]) -> str:
    """The lines of a description as paragraphs and lists, each item on one line."""
    blocks: list[list[str]] = [[]]
    for line in lines:
        if not line:
            blocks.append([])
        elif line.startswith("- ") or not blocks[-1]:
            blocks[-1].append(line)
        else:
            blocks[-1][-1] += f" {line}"
    return "\n\n".join("\n".join(block) for block in blocks if block)


def entries(text: str) -> list[tuple[list[str], str, str]]:
    """Names, type and description of each entry of a section of a docstring."""
    found: list[tuple[list[str], str, list[str]]] = []
    for line in text.splitlines():
        if line[:1].strip():
            names, _, kind = line.partition(" : ")
            found.append(
                (
                    names.split(", ")
                    if kind or re.fullmatch(r"[\w*, ]+", names)
                    else [names],
                    kind,
                    [],
                )
            )
        elif found:
            found[-1][2].append(line.strip())
    return [(names, kind, laid_out(lines)) for names, kind, lines in found]


def listed(text: str, parameters: dict[str, Any]) -> str:
    """A section as a definition list, one entry a name, parameters in the order of the
    signature.
    """
    lines = {}
    for names, kind, words in entries(text):
        for name in names:
            default = parameters.get(name, inspect.Parameter.empty)
            said = (
                ""
                if default is inspect.Parameter.empty
                else f" (default `{default!r}`)"
            )
            head = f"`{name}`{f' : `{kind}`' if kind else ''}{said}\n"
            # with no words it is an entry all the same
            said = words.replace("\n", "\n    ").replace("\n    \n", "\n\n") or "[]{}"
            lines[name.lstrip("*")] = f"{head}:   {said}\n"
    return "\n".join(
        [lines.pop(name) for name in parameters if name in lines] + list(lines.values())
    )


def described(thing: Any, level: int) -> str:
    """The docstring as Markdown, its sections as headings of this level; where it is
    explained, a link says better.
    """
    note = chapter_note(getattr(thing, "__module__", ""))
    parts = SECTION.split((inspect.getdoc(thing) or "").replace(f"\n\n{note}", ""))
    try:
        parameters = {
            p.name: p.default for p in inspect.signature(thing).parameters.values()
        }
    except (TypeError, ValueError):
        parameters = {}
    text = [parts[0].strip()]
    for heading, body in zip(parts[1::2], parts[2::2]):
        if heading == "Examples":
            blocks = examples(body)
            body = "\n".join(
                f"```python\n{block}\n```" if block.startswith(">>>") else block
                for block in blocks
            )
        elif heading in LISTED:
            body = listed(body.strip(), parameters if heading == "Parameters" else {})
        text.append(
            f"{'#' * level} {heading} {{.unnumbered .unlisted .part}}\n\n{body.strip()}"
        )
    return "\n\n".join(text)


def examples(body: str) -> list[str]:
    """Blocks of code and the sentences between them."""
    blocks: list[list[str]] = []
    in_code = False
    for line in body.strip().splitlines():
        starts = line.startswith(">>>")
        if not blocks or (not in_code and starts) or (in_code and not line.strip()):
            blocks.append([])
            in_code = starts
        blocks[-1].append(line)
        in_code = in_code or starts
    return ["\n".join(block).strip() for block in blocks if "".join(block).strip()]


def methods(name: str, thing: type) -> str:
    """The methods and properties of a class: those of the package in full, those of
    scikit-learn by name.

    A property that the docstring lists among the attributes has its entry there.
    """
    own = []
    others = []
    _, *parts = SECTION.split(inspect.getdoc(thing) or "")
    attributes = dict(zip(parts[::2], parts[1::2])).get("Attributes", "")
    said = {name for names, _, _ in entries(attributes) for name in names}
    for member in sorted(dir(thing)):
        if member.startswith("_") or member in said:
            continue
        home = next(kind for kind in thing.__mro__ if member in vars(kind))
        raw = vars(home)[member]
        value = getattr(raw, "fn", None) or (
            raw.__func__ if isinstance(raw, classmethod | staticmethod) else raw
        )
        if not (inspect.isfunction(value) or isinstance(raw, property)):
            continue
        if not home.__module__.startswith("fsel_book"):
            others.append(f"`{member}`")
            continue
        head = member if isinstance(raw, property) else call(member, value)
        documented = raw if isinstance(raw, property) else value
        if not inspect.getdoc(documented):  # documented where it is defined first
            documents = (
                vars(kind)[member] for kind in thing.__mro__ if member in vars(kind)
            )
            documents = (found for found in documents if inspect.getdoc(found))
            documented = next(documents, raw)
        head = (
            f"### {member} {{#{name}.{member} .unnumbered}}\n\n```python\n{head}\n```"
        )
        own.append(f"{head}\n\n{described(documented, 4)}")
    if others:
        own.append(f"As in scikit-learn: {', '.join(others)}.")
    return "\n\n".join(own)


def entry(name: str, thing: Any) -> str:
    """One public name: how it is called, what it does, its methods, and the chapter
    that explains it.
    """
    text = [
        f"## {name} {{#{name} .unnumbered}}",
        f"```python\n{call(name, thing)}\n```",
        described(thing, 3),
    ]
    module = thing.__module__.removeprefix("fsel_book.")
    file, title = CHAPTERS.get(module, ("", ""))
    explained = f"*Explained in* [{title}](../{file}.ipynb). " if file else ""
    text.append(f"{explained}*Module* `{thing.__module__}`.")
    if inspect.isclass(thing):
        text.append(methods(name, thing))
    return "\n\n".join(part for part in text if part)


def mark(page: str) -> str:
    """What tells tools/split.py that the following is for this page."""
    return f"```{{=html}}\n<!-- page: {page} -->\n```"


def with_links(text: str, homes: dict[str, str], own: str) -> str:
    """The text with each public name in it, set as code, a link to its entry."""
    pieces = re.split(r"(^```.*?^```|\[[^\]\n]*\]\([^)\n]*\))", text, flags=re.S | re.M)
    for place in range(0, len(pieces), 2):
        pieces[place] = re.sub(
            r"`(\w+)`",
            lambda found: (
                f"[`{found[1]}`]({homes[found[1]]}.qmd#{found[1]})"
                if found[1] in homes and found[1] != own
                else found[0]
            ),
            pieces[place],
        )
    return "".join(pieces)


def first_sentence(text: str) -> str:
    """What a docstring begins with."""
    told = " ".join(text.partition("\n\n")[0].split())
    return re.split(r"(?<=[.:])\s(?=[A-Z])", told)[0].replace("|", "\\|")


def overview(path: str, things: dict[str, Any]) -> str:
    """A table of names and what they are."""
    rows = "\n".join(
        f"| [`{name}`]({path}.qmd#{name}) | "
        f"{first_sentence(inspect.getdoc(thing) or '')} |"
        for name, thing in things.items()
    )
    return f"| | |\n|:--|:-----|\n{rows}\n"


def page_text(page: dict[str, Any], homes: dict[str, str], folder: Path) -> str:
    """A page of the reference, with comments where the page of a class begins."""
    things = dict(map(named, page["names"]))
    several = len(things) > 1
    parts = [f"# {page['title']} {{.unnumbered}}\n\n{page['about']}."]
    if several:
        parts.append(overview(page["path"], things))
    for name, thing in things.items():
        if several:
            parts.append(mark(name if inspect.isclass(thing) else "first"))
        parts.append(with_links(entry(name, thing), homes, name))
        if file := drawn(name, thing, folder):
            parts.append(
                f"![What the example draws.]({file}){{fig-alt='The picture that the "
                f"example of {name} draws'}}"
            )
    return "\n\n".join(parts) + "\n"


def drawn(name: str, thing: Any, folder: Path) -> str:
    """The file with the picture that the examples of a class draw, if they do."""
    found = (
        doctest.DocTestFinder(recurse=False).find(thing, name)
        if inspect.isclass(thing)
        else []
    )
    code = "".join(example.source for test in found for example in test.examples)
    if not re.search(r"\bplot\(|Display\.from_|\.plot_", code):
        return ""
    plt.close("all")
    exec(compile(code, f"<example of {name}>", "exec"), {"__name__": name})
    if not plt.get_fignums():
        return ""
    plt.gcf().savefig(folder / f"{name}.png", dpi=110, bbox_inches="tight")
    plt.close("all")
    return f"{name}.png"


def main(folder: Path) -> None:
    """Write all pages into `folder`."""
    pages = yaml.safe_load((ROOT / "_quarto.yml").read_text(encoding="utf-8"))[
        "reference"
    ]
    folder.mkdir(parents=True, exist_ok=True)
    contents = [
        "# Reference {.unnumbered}\n\nThe public names, by what they are for.\n"
    ]
    homes = {
        path.rpartition(".")[2]: page["path"]
        for page in pages
        for path in page["names"]
    }
    for page in pages:
        (folder / f"{page['path']}.qmd").write_text(
            page_text(page, homes, folder), encoding="utf-8"
        )
        things = dict(map(named, page["names"]))
        contents.append(
            f"## {page['title']} {{.unnumbered}}\n\n{page['about']}.\n\n"
            f"{overview(page['path'], things)}"
        )
    (folder / "index.qmd").write_text("\n".join(contents), encoding="utf-8")
    (folder / "citing.qmd").write_text(citing(), encoding="utf-8")
    (folder / "changelog.qmd").write_text(changelog(), encoding="utf-8")
    (folder / "literature.qmd").write_text(literature(), encoding="utf-8")


def citing() -> str:
    """How to cite the package and the five papers, from CITATION.cff and the first
    entries of the bibliography.
    """
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    works = (ROOT / "nbs" / "references.bib").read_text(encoding="utf-8")
    entries = re.findall(r"^@.*?^}", works, flags=re.DOTALL | re.MULTILINE)
    authors = " and ".join(
        f"{{{one['name']}}}"
        if "name" in one
        else "{family-names}, {given-names}".format(**one)
        for one in cited["authors"]
    )
    year = re.search(
        r"copyright.*?(\d{4})", (ROOT / "LICENSE").read_text("utf-8"), re.I
    )
    package = (
        f"@software{{fsel_book,\n  author  = {{{authors}}},\n  title   = "
        f"{{{cited['title']}}},\n  version = {{{cited['version']}}}"
        + (f",\n  year    = {{{year[1]}}}" if year else "")
        + "\n}"
    )
    parts = [
        "# Citing {.unnumbered}\n",
        "If you use the package or the book, please cite it, and with it the paper whose "
        "method you use.\n",
        "## The package and the book {.unnumbered}\n",
        f"```bibtex\n{package}\n```\n",
        "## The papers {.unnumbered}\n",
    ]
    for paper in cited["references"]:
        plain = re.sub(r"[^a-z]", "", paper["title"].lower())
        (entry,) = (
            text for text in entries if plain in re.sub(r"[^a-z]", "", text.lower())
        )
        parts.append(f"For {paper['notes']}:\n\n```bibtex\n{entry}\n```\n")
    return "\n".join(parts)


def literature() -> str:
    """All works that the book cites, each with the chapters that do."""
    citing_pages: dict[str, list[str]] = {}
    for chapter in chapters():
        text = chapter.path.read_text(encoding="utf-8")
        for key in dict.fromkeys(re.findall(r"\]\(#ref-([\w-]+)\)", text)):
            where = chapter.number or chapter.path.stem
            link = f"[{where}](../{chapter.path.name})"
            citing_pages.setdefault(key, []).append(link)
    found = sorted(
        (work for work in works().values() if work.key in citing_pages),
        key=lambda work: ([name.casefold() for name in work.families], work.year),
    )
    lines = [
        f"- []{{#{work.key}}}{work.listed()} Cited in {', '.join(citing_pages[work.key])}."
        for work in found
    ]
    return (
        "# Literature {.unnumbered}\n\nEvery work that the book cites, with the chapters "
        f"that cite it: {len(found)} of them.\n\n" + "\n".join(lines) + "\n"
    )


def changelog() -> str:
    """CHANGELOG.md as a page: its links lead to chapters of the site."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    text = re.sub(r"\]\(nbs/(\w+\.ipynb)(#[\w-]+)?\)", r"](../\1\2)", text)
    return re.sub(r"^(#+ .*)$", r"\1 {.unnumbered}", text, flags=re.MULTILINE)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
