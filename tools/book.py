"""The order of the book, its numbers and its literature, for the other tools.

A notebook in nbs/ is written in plain Markdown, as every viewer shows it. What has a
number carries an anchor, `<a id="thm-bss"></a>`, by which it is linked to: headings
that others refer to, statements, equations, figures, tables and works. `make sync`
writes the numbers, into the headings, statements and captions and into all links that
name them.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent

# Tags of cells: on the second page of a chapter on the site; not on the site; a picture
# that moves where there is a kernel, and the words that lead to it; the code of a
# solution; the works that are cited.
DETAILS = "details"
HIDDEN = "remove-cell"
LIVE = "live"
SOLUTION = "solution"
WORKS = "works-cited"

KINDS = {
    "thm": "Theorem",
    "lem": "Lemma",
    "prp": "Proposition",
    "cor": "Corollary",
    "def": "Definition",
    "fig": "Figure",
    "tbl": "Table",
    "eq": "Equation",
}
STATEMENTS = ("thm", "lem", "prp", "cor", "def")

LABEL = rf"(?:sec|{'|'.join(KINDS)})-[\w-]+"
NUMBER = r"(?:\d+|[A-Z])(?:\.\d+)*"
ANCHOR = rf'<a id="({LABEL})"></a>'

# What carries a number, one expression each. A number is \d or a letter, then more.
HEADING = re.compile(
    r"^(#+) (?:\d+\. |[A-Z]\. |(?:\d+|[A-Z])(?:\.\d+)+ )?(.*?)"
    r'(?: <a id="(sec-[\w-]+)"></a>)?$'
)
STATEMENT = re.compile(
    rf'^> <a id="((?:{"|".join(STATEMENTS)})-[\w-]+)"></a>'
    rf"\*\*([A-Z][a-z]+) ({NUMBER}|\?)(?: \((.*?)\))?\.\*\*"
)
CAPTION = re.compile(
    rf'^<a id="((?:fig|tbl)-[\w-]+)"></a>\*\*(Figure|Table) ({NUMBER}|\?)\.\*\* '
)
EQUATION = re.compile(
    r'(<a id="(eq-[\w-]+)"></a>\n(?:> )?\$\$.*?\\tag\{)([^}]*)(\} *\$\$)', re.DOTALL
)
LINK = re.compile(
    rf"\[((?:Chapter|Appendix|Section|{'|'.join(KINDS.values())}) (?:{NUMBER}|\?))\]"
    rf"\(([\w.]*)#({LABEL})\)"
)


@dataclass(frozen=True)
class Chapter:
    """A notebook of the book.

    Attributes
    ----------
    path : Path
    number : str
        As in "5" or "A"; empty where the page has none.
    """

    path: Path
    number: str


def chapters(root: Path = ROOT) -> list[Chapter]:
    """The notebooks in the order of the book."""
    book = yaml.safe_load((root / "_quarto.yml").read_text(encoding="utf-8"))["book"]
    files: list[str] = []
    for entry in book["chapters"]:
        if isinstance(entry, str):
            files.append(entry)
        else:
            files += entry.get("chapters", [entry.get("file")])
    files += book["appendices"]
    found = []
    for name in files:
        if name.endswith(".ipynb"):
            number = re.match(r"0*(\d+|[A-Z])_", name)
            found.append(Chapter(root / "nbs" / name, number[1] if number else ""))
    return found


@dataclass
class Counters:
    """The numbers of one chapter, as Quarto counts them.

    Attributes
    ----------
    chapter : str
        The number of the chapter; empty where nothing is numbered.
    sections : list of int
        How many headings of each level there were below the last one above it.
    counts : dict
        How many statements, figures, tables and equations there were, by kind.
    """

    chapter: str
    sections: list[int] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def heading(self, level: int) -> str:
        """The number of the next heading of this level; the title has level 1."""
        if not self.chapter:
            return ""
        if level == 1:
            return self.chapter
        depth = level - 1
        self.sections = (self.sections + [0] * depth)[:depth]
        self.sections[-1] += 1
        return ".".join([self.chapter, *map(str, self.sections)])

    def next(self, kind: str) -> str:
        """The number of the next one of a kind."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        count = str(self.counts[kind])
        return f"{self.chapter}.{count}" if self.chapter else count


def kind_of(label: str, number: str) -> str:
    """The word before a number: Theorem, Section, Chapter."""
    kind = label.partition("-")[0]
    if kind != "sec":
        return KINDS[kind]
    if "." in number:
        return "Section"
    return "Chapter" if number.isdigit() else "Appendix"


def tags(cell: Mapping[str, Any]) -> list[str]:
    """The tags of a cell."""
    return cell.get("metadata", {}).get("tags", [])


def outside_code(text: str) -> list[str]:
    """The text in pieces, of which every second one is code."""
    return re.split(r"(^```.*?^```|`[^`\n]*`)", text, flags=re.DOTALL | re.MULTILINE)


# ---------------------------------------------------------------- literature

ACCENTS = {
    '"': "\u0308",
    "'": "\u0301",
    "`": "\u0300",
    "^": "\u0302",
    "~": "\u0303",
    "v": "\u030c",
    "c": "\u0327",
    "u": "\u0306",
}


def unbraced(text: str) -> str:
    """BibTeX's way to write accents and dashes, in Unicode."""
    for _ in range(3):
        text = re.sub(
            r"\{?\\([\"'`^~vcu])\s*\{?(\w)\}?\}?",
            lambda found: unicodedata.normalize("NFC", found[2] + ACCENTS[found[1]]),
            text,
        )
    text = text.replace("\\&", "&").replace("---", "—").replace("--", "–")
    return re.sub(r"[{}]", "", text)


@dataclass(frozen=True)
class Work:
    """A work of references.bib.

    Attributes
    ----------
    key : str
    fields : dict
        The fields of the entry, in Unicode; `author` as it is written there.
    """

    key: str
    fields: dict[str, str]

    @property
    def families(self) -> list[str]:
        """The family names of the authors."""
        people = re.split(r"\s+and\s+", self.fields["author"])
        return [person.partition(",")[0].strip() for person in people]

    @property
    def short(self) -> str:
        """The authors as a text names them."""
        names = self.families
        if len(names) > 2:
            return f"{names[0]} et al."
        return " and ".join(names)

    @property
    def year(self) -> str:
        """The year."""
        return self.fields["year"]

    @property
    def address(self) -> str:
        """Where it can be read, or nothing."""
        found = self.fields
        if "doi" in found:
            return f"https://doi.org/{found['doi']}"
        if "eprint" in found:
            return f"https://arxiv.org/abs/{found['eprint']}"
        return found.get("url", "")

    def listed(self) -> str:
        """The entry of a list of works, in Markdown."""
        found = self.fields
        people = re.split(r"\s+and\s+", found["author"])
        names = []
        for person in people:
            family, _, given = person.partition(",")
            initials = "".join(
                "-".join(part[0] + "." for part in name.split("-")) + " "
                for name in given.split()
            ).strip()
            names.append(f"{family.strip()}, {initials}" if initials else family)
        if len(names) > 6:
            names = [*names[:5], "et al."]
            authors = ", ".join(names)
        else:
            authors = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
        home = found.get("journal") or found.get("booktitle") or found.get("publisher")
        parts = [f"{authors} ({found['year']}). {found['title']}."]
        if home:
            home = f"*{home}*"
            if "volume" in found:
                number = f"({found['number']})" if "number" in found else ""
                home += f" {found['volume']}{number}"
            if "pages" in found:
                home += f", {found['pages']}"
            parts.append(home + ".")
        if "booktitle" in found and "publisher" in found:
            parts.append(found["publisher"] + ".")
        if self.address:
            parts.append(f"<{self.address}>")
        return " ".join(parts)


def works(root: Path = ROOT) -> dict[str, Work]:
    """The entries of references.bib by their keys."""
    text = (root / "nbs" / "references.bib").read_text(encoding="utf-8")
    found = {}
    for entry in re.finditer(r"^@\w+\{([\w-]+),\n(.*?)^\}", text, re.DOTALL | re.M):
        fields = re.findall(r"^ +(\w+) *= *\{(.*?)\},?$", entry[2], re.M)
        found[entry[1]] = Work(
            entry[1], {name: unbraced(value) for name, value in fields}
        )
    return found
