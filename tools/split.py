"""Pages of the site that become several: `python tools/split.py _docs`, after Quarto, for
`make docs`.

A chapter has two pages. A person who reads the first has the method; proofs and details
have a page of their own. In the notebook both are one text, whose cells for the second
page have the tag `details`, and Quarto has numbered all of it together. A class has a
page of its own in the reference. Comments in the page of Quarto's say what is for which:
`<!-- page: details -->`, `<!-- page: BSSSelector -->`, and `<!-- page: first -->` for the
page that keeps the name. A section with a part on two pages has its heading on both.
Links from everywhere, and the search, lead to the page where a thing is now; so does an
address from before.
"""

import html
import json
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from bs4 import BeautifulSoup, Comment, Tag

MARK = re.compile(r"\s*page: ([\w.]+)\s*")
LINE_OF_CODE = re.compile(r"cb\d+(-\d+)?")
HEADINGS = re.compile(r"h[1-6]")
FIRST = "first"
DETAILS = "details"


class Page:
    """A page of Quarto's, and what of it belongs to which page.

    Parameters
    ----------
    text : str
        The page.

    Attributes
    ----------
    soup : BeautifulSoup
    where : list of (Tag, str)
        What stands in the sections, or above them, and its page.
    """

    def __init__(self, text: str) -> None:
        self.soup = BeautifulSoup(text, "html.parser")
        self.where: list[tuple[Tag, str]] = []
        self._page = FIRST
        self._walk(self.main)

    @property
    def main(self) -> Tag:
        """What is not navigation."""
        found = self.soup.select_one("main")
        assert found is not None
        return found

    def _walk(self, part: Tag) -> None:
        for node in part.children:
            if isinstance(node, Comment) and (mark := MARK.fullmatch(node)):
                self._page = mark[1]
            elif isinstance(node, Tag) and node.name == "section":
                self._walk(node)
            elif isinstance(node, Tag) and not HEADINGS.fullmatch(node.name):
                self.where.append((node, self._page))

    def keep(self, kept: str) -> None:
        """Take out what is on other pages, sections without anything left, and works
        that are not cited here.
        """
        for node, page in self.where:
            if page != kept and node.get("id") not in ("refs", "title-block-header"):
                node.decompose()
        cited = {
            str(link["href"]).removeprefix("#")
            for link in self.main.select('a[role="doc-biblioref"]')
        }
        for work in self.main.select("#refs > [id]"):
            if work["id"] not in cited:
                work.decompose()
        for works in self.main.select("#refs:not(:has([id]))"):
            works.decompose()
        for section in reversed(self.main.select("section")):
            inside = section.find_all(True, recursive=False)
            if all(HEADINGS.fullmatch(node.name) for node in inside):
                section.decompose()
        here = {*self.anchors()}
        for link in reversed(self.soup.select("#TOC li > a")):
            if str(link["href"]).removeprefix("#") not in here and link.parent:
                link.parent.decompose()
        for empty in self.soup.select("#TOC ul:not(:has(li))"):
            empty.decompose()

    def anchors(self) -> list[str]:
        """What can be linked to, other than lines of code."""
        places = (str(node["id"]) for node in self.main.select("[id]"))
        return [place for place in places if not LINE_OF_CODE.fullmatch(place)]

    def relink(self, homes: dict[str, str]) -> None:
        """Send links within the page to the page where a thing is now."""
        here = {*self.anchors()}
        for link in self.soup.select('a[href^="#"]'):
            place = str(link["href"])[1:]
            if place not in here and place in homes:
                link["href"] = f"{homes[place]}#{place}"

    @property
    def title(self) -> str:
        """The title, without its number."""
        found = self.soup.select_one("h1 .chapter-title") or self.soup.select_one("h1")
        return found.get_text().strip() if found else ""

    def entitle(self, title: str) -> None:
        """Give it a title of its own; what leads to the first page stays there."""
        before = self.title
        for found in self.soup.select(
            "h1 .chapter-title, h1.title:not(:has(.chapter-title))"
        ):
            found.string = title
        if self.soup.title:
            old = self.soup.title.get_text()
            self.soup.title.string = old.replace(before, title, 1)
        for meta in self.soup.select(
            'meta[property="og:title"], meta[name="twitter:title"]'
        ):
            meta["content"] = str(meta["content"]).replace(before, title, 1)
        for label in self.soup.select("h1 .quarto-section-identifier[id]"):
            del label["id"]

    def lead_back(self, name: str, words: str) -> None:
        """Say below the title where the first page is, and turn back to it."""
        header = self.soup.select_one("#title-block-header")
        if header:
            link = f'<a href="{name}">{html.escape(words, quote=False)}</a>'
            header.insert_after(element(f'<p class="notebook-links">{link}</p>'))
        previous = self.soup.select_one(".nav-page-previous")
        if previous:
            previous.clear()
            previous.append(
                element(
                    f'<a href="{name}" class="pagination-link"><i class="bi '
                    f'bi-arrow-left-short"></i> <span class="nav-page-text">'
                    f"{html.escape(words, quote=False)}</span></a>"
                )
            )

    def sections(self) -> list[tuple[str, str]]:
        """The names of its sections, each with its place."""
        found = []
        for head in self.main.select(":scope > section > h2"):
            number = head.select_one(".header-section-number")
            name = head.get_text().removeprefix(number.get_text() if number else "")
            assert isinstance(head.parent, Tag)
            found.append((name.strip(), str(head.parent.get("id", ""))))
        return found


def element(text: str) -> Tag:
    """The element that a text is."""
    found = BeautifulSoup(text, "html.parser").find(True)
    assert isinstance(found, Tag)
    return found


def finish_chapter(page: Page, address: str, second: list[tuple[str, str]]) -> None:
    """Lead from the first page of a chapter to the second, at its head and at its end."""
    if links := page.soup.select_one("p.notebook-links"):
        links.append(" · ")
        links.append(element(f'<a href="{address}">Proofs and details</a>'))
    listed = " · ".join(
        f'<a href="{address}#{place}">{html.escape(name, quote=False)}</a>'
        for name, place in second
    )
    end = element(
        '<nav class="second-page" aria-label="Second page of the chapter">'
        f'<a href="{address}">Proofs and details</a>'
        f"<span>There: {listed}</span></nav>"
    )
    refs = page.main.select_one("#refs")
    if refs:
        (refs.find_parent("section") or refs).insert_before(end)
    else:
        page.main.append(end)


def forward(homes: dict[str, str]) -> Tag:
    """A script for addresses from before a page became several."""
    return element(
        "<script>{const place = decodeURIComponent(location.hash.slice(1)), homes = "
        f"{json.dumps(homes)}; if (place && !document.getElementById(place) && "
        "homes[place]) location.replace(homes[place] + location.hash);}</script>"
    )


def split(path: Path) -> dict[str, str]:
    """Write the pages that one becomes; where each thing is now that is on another."""
    text = path.read_text(encoding="utf-8")
    told = dict.fromkeys(re.findall(r"<!-- page: ([\w.]+) -->", text))
    names = [name for name in told if name != FIRST]
    if not names:
        return {}
    pages = {name: Page(text) for name in [FIRST, *names]}
    files = {name: f"{name}.html" for name in names} | {FIRST: path.name}
    if DETAILS in files:
        files[DETAILS] = f"{path.stem}-{DETAILS}.html"
    for name, page in pages.items():
        page.keep(name)
    homes: dict[str, str] = {}
    for name, page in pages.items():  # the first page first
        for place in page.anchors():
            homes.setdefault(place, files[name])
    moved = {place: file for place, file in homes.items() if file != path.name}
    title = pages[FIRST].title
    for name, page in pages.items():
        if name == DETAILS:
            page.entitle(f"{title}: proofs and details")
            page.lead_back(path.name, f"First page: {title}")
        elif name != FIRST:
            page.entitle(name)
            page.lead_back(path.name, title)
            head = page.main.select_one("h2")
            if head and head.get_text().strip() == name:  # it is the title now
                head.decompose()
        page.relink(homes)
    if DETAILS in pages:
        finish_chapter(pages[FIRST], files[DETAILS], pages[DETAILS].sections())
        pages[FIRST].main.append(forward(moved))
    for name, page in pages.items():
        path.with_name(files[name]).write_text(str(page.soup), encoding="utf-8")
    return moved


def relinked(text: str, moved: dict[str, dict[str, str]]) -> str:
    """A text with each link to what moved sent to where it is."""

    def link(match: re.Match) -> str:
        file = moved.get(match[1], {}).get(html.unescape(match[2]))
        return f"{file}#{match[2]}" if file else match[0]

    return re.sub(r"(?<![\w-])(\w+\.html)#([^\"'#\s]+)", link, text)


def main(folder: Path) -> None:
    """Split all pages of the site, on all cores."""
    paths = sorted(folder.rglob("*.html"))
    with ProcessPoolExecutor() as processes:
        made = {
            path.name: places
            for path, places in zip(paths, processes.map(split, paths))
        }
    moved = {name: places for name, places in made.items() if places}
    for path in [*folder.rglob("*.html"), folder / "search.json"]:
        before = path.read_text(encoding="utf-8")
        after = relinked(before, moved)
        if after != before:
            path.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
