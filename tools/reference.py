"""The pages of the API reference, from signatures and docstrings, and those on citing
and on what has changed: `python tools/reference.py FOLDER` writes them.

What stands on which page says `_quarto.yml`, under `reference`. Descriptions that
several docstrings share are inserted when a module is imported, and methods are
inherited; so the pages are made from the living objects.
"""

import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import Any

import yaml

from fsel_book.chapters import CHAPTERS
from fsel_book.help_texts import chapter_note

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
    return [(names, kind, " ".join(lines).strip()) for names, kind, lines in found]


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
            lines[name.lstrip("*")] = head + f":   {words or '[]{}'}\n"
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


def main(folder: Path) -> None:
    """Write all pages into `folder`."""
    pages = yaml.safe_load((ROOT / "_quarto.yml").read_text(encoding="utf-8"))[
        "reference"
    ]
    folder.mkdir(parents=True, exist_ok=True)
    contents = [
        "# Reference {.unnumbered}\n\nThe public names, by what they are for.\n"
    ]
    for page in pages:
        things = dict(map(named, page["names"]))
        head = f"# {page['title']} {{.unnumbered}}\n\n{page['about']}.\n\n"
        text = (
            head
            + "\n\n".join(entry(name, thing) for name, thing in things.items())
            + "\n"
        )
        (folder / f"{page['path']}.qmd").write_text(text, encoding="utf-8")
        rows = "\n".join(
            f"| [`{name}`]({page['path']}.qmd#{name}) | "
            f"{(inspect.getdoc(thing) or '').splitlines()[0]} |"
            for name, thing in things.items()
        )
        contents.append(
            f"## {page['title']} {{.unnumbered}}\n\n{page['about']}.\n\n| | "
            f"|\n|:--|:-----|\n{rows}\n"
        )
    (folder / "index.qmd").write_text("\n".join(contents), encoding="utf-8")
    (folder / "citing.qmd").write_text(citing(), encoding="utf-8")
    (folder / "changelog.qmd").write_text(changelog(), encoding="utf-8")


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


def changelog() -> str:
    """CHANGELOG.md as a page: its links lead to chapters of the site."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    text = re.sub(r"\]\(nbs/(\w+\.ipynb)(#[\w-]+)?\)", r"](../\1\2)", text)
    return re.sub(r"^(#+ .*)$", r"\1 {.unnumbered}", text, flags=re.MULTILINE)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
