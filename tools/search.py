"""The index of the search of the site: `python tools/search.py _docs`, after Quarto.

Quarto puts every word of a page into it, code, outputs and TeX among them, four megabytes.
A reader searches for ideas: so prose, captions and tables are left, formulas where they
are a letter, and of the reference each entry's name and first sentence. Words are found
without their accents too, and by names that the field uses beside those of the book.
"""

import html
import json
import re
import sys
import unicodedata
from concurrent.futures import ProcessPoolExecutor
from copy import copy
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Tag

# What else people call what a page speaks of.
ALSO = {
    r"\bone-hot\b|\bcategor(y|ies)\b": "categorical nominal factor",
    r"\bcolumn subset|\bchoose[sn]? columns|\bplain columns\b": "column subset selection CSS",
    r"\bleverage scores?\b": "statistical leverage",
    r"\bgaps?\b.*\bmedian": "missing values imputation NaN",
    r"\bdraws?\b.*\bleverage": "importance sampling",
    r"\bone standard error\b": "1-SE rule",
    r"\bblocks\b.*\bmemory\b": "out-of-core larger than memory streaming",
}
SECOND = "-details"  # the second page of a chapter
MOST = 4000  # letters of a section, in which its idea stands


def read(path: Path) -> Tag:
    """What a page says: its main part without code, outputs and long formulas."""
    page = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    body = page.select_one("main") or page
    for gone in body.find_all(["pre", "script", "style", "nav", "details"]):
        if not gone.decomposed and (gone.name != "details" or gone.find("pre")):
            gone.decompose()
    for formula in body.find_all(class_="math"):
        tex = formula.get_text().strip().removeprefix("\\(").removesuffix("\\)")
        formula.replace_with(tex if re.fullmatch(r"\w{1,3}", tex) else "…")
    return body


def prose(part: Tag) -> str:
    """The words of a section, without those of the sections in it."""
    part = copy(part)
    for inner in part.find_all("section"):
        if not inner.decomposed:
            inner.decompose()
    return " ".join(part.get_text(" ").split())


def without_accents(text: str) -> str:
    """The words of a text that have accents, without them."""
    accented = sorted(
        {word for word in re.findall(r"[^\W\d]+", text) if not word.isascii()}
    )
    plain = (
        "".join(c for c in unicodedata.normalize("NFKD", word) if c.isascii())
        for word in accented
    )
    return " ".join(word for word in plain if len(word) > 3)


def more_words(text: str) -> str:
    """What the text is to be found by beside its own words."""
    also = [words for seen, words in ALSO.items() if re.search(seen, text, re.I | re.S)]
    return " ".join([*also, without_accents(text)]).strip()


def entry(found: dict[str, Any], page: Tag) -> dict[str, Any]:
    """An entry of Quarto's index with the words of its section alone."""
    name, _, place = found["href"].partition("#")
    part = page.find(id=place) if place else None
    text = prose(part if isinstance(part, Tag) else page)
    section = found["section"]
    if name.startswith("reference/"):
        # below the chapters: their titles are longer
        text = text.partition(". ")[0]
        section = f"{section}, in the reference: {found['title']}" if section else ""
    more = more_words(text)
    words = text[:MOST] + (f" ({more})" if more else "")
    return found | {"text": html.escape(words, quote=False), "section": section}


def details(
    name: str, page: Tag, known: set[str], first: dict[str, Any]
) -> list[dict[str, Any]]:
    """Entries for the sections that have a part on the second page of a chapter, too."""
    made = []
    for section in page.select("section[id]"):
        href = f"{name}#{section['id']}"
        heading = section.find(re.compile("^h[1-6]$"))
        if heading and href not in known:
            title = " ".join(heading.get_text(" ").split())
            made.append(first | {"objectID": href, "href": href, "section": title})
    return made


def entries(
    path: Path, name: str, found: list[dict[str, Any]], first: dict[str, Any] | None
) -> list[dict[str, Any]]:
    """The entries of a page; `first` is that of the page whose second page it is."""
    page = read(path)
    if first:
        known = {one["href"] for one in found}
        found = found + details(name, page, known, first)
    return [entry(one, page) for one in found]


def main(folder: Path) -> None:
    """Write the index anew, on all cores."""
    path = folder / "search.json"
    pages: dict[str, list[dict[str, Any]]] = {}
    for found in json.loads(path.read_text(encoding="utf-8")):
        pages.setdefault(found["href"].partition("#")[0], []).append(found)
    firsts: list[dict[str, Any] | None] = []
    for second in sorted(folder.glob(f"*{SECOND}.html")):
        pages.setdefault(second.name, [])
    for name in pages:
        whole, of_a_chapter, _ = name.partition(f"{SECOND}.html")
        above = pages.get(f"{whole}.html", []) if of_a_chapter else []
        firsts.append(next((one for one in above if "#" not in one["href"]), None))
    with ProcessPoolExecutor() as processes:
        paths = (folder / name for name in pages)
        parts = processes.map(entries, paths, pages, pages.values(), firsts)
        made = [one for part in parts for one in part]
    made.sort(key=lambda found: found["href"].startswith("reference/"))
    path.write_text(json.dumps(made, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
