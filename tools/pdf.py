"""The book as one PDF: `python tools/pdf.py _docs book.pdf`, for `make pdf`.

Chromium or Chrome prints the pages of the site in their order, folds of text open and
folds of code left closed, and the parts are joined, with an outline of parts and chapters
and links that lead within the book. Formulas need MathJax from the net, or from the
folder with a copy of it that FSEL_BOOK_MATHJAX names.
"""

import io
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import yaml
from playwright.sync_api import Page, Route, sync_playwright
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, NameObject

ROOT = Path(__file__).resolve().parent.parent
MATHJAX = "https://cdn.jsdelivr.net/npm/mathjax@3/"
STYLE = """
#quarto-sidebar, #quarto-margin-sidebar, .page-navigation, .nav-footer, .second-page,
.notebook-links, .run-it, .quarto-secondary-nav, #quarto-header, .code-copy-button,
.quarto-title-breadcrumbs, .living, .doors, .install { display: none !important; }
#quarto-content { display: block !important; padding: 0 !important; margin: 0 !important; }
main.content { max-width: none !important; margin: 0 !important; }
.cell-output pre, .sourceCode pre { white-space: pre-wrap !important; font-size: 8.5pt; }
figure, table, .theorem { break-inside: avoid-page; }
"""
OPEN = """async () => {
  for (const fold of document.querySelectorAll("main details:not(.code-fold)")) fold.open = true;
  for (const fold of document.querySelectorAll("main .callout-collapse")) fold.classList.add("show");
  for (const image of document.images) image.loading = "eager";
  await window.MathJax?.startup?.promise;
  await Promise.all([...document.images].map((image) => image.decode().catch(() => 0)));
}"""
FOOT = (
    '<div style="font-size: 7pt; width: 100%; text-align: center">'
    '<span class="title"></span>, page <span class="pageNumber"></span></div>'
)


class Quiet(SimpleHTTPRequestHandler):
    """A server that says nothing."""

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def listed() -> Iterator[tuple[str, str]]:
    """The part and the page of each chapter of the book, in order."""
    book = yaml.safe_load((ROOT / "_quarto.yml").read_text(encoding="utf-8"))
    entries: list[Any] = book["book"]["chapters"]
    for entry in entries:
        if isinstance(entry, str):
            yield "", entry
        elif "file" in entry:
            yield "", entry["file"]
        else:
            for name in entry["chapters"]:
                yield entry["part"], name
    for name in book["book"]["appendices"]:
        yield book["language"]["section-title-appendices"], name


def pages(folder: Path) -> Iterator[tuple[str, str]]:
    """The part and the file of each page: both pages of a chapter, without the
    reference, which is for looking things up.
    """
    for part, name in listed():
        if name.startswith("reference/"):
            continue
        stem = name.rpartition(".")[0]
        for file in (f"{stem}.html", f"{stem}-details.html"):
            if (folder / file).exists():
                yield part, file


def answered(route: Route) -> None:
    """MathJax from the copy, if there is one."""
    copy = os.environ.get("FSEL_BOOK_MATHJAX")
    if copy:
        path = route.request.url.removeprefix(MATHJAX).partition("?")[0]
        route.fulfill(path=Path(copy) / path)
    else:
        route.continue_()


def printed(page: Page, address: str) -> tuple[str, bytes]:
    """The title of a page, and its PDF."""
    page.goto(address, wait_until="load")
    page.add_style_tag(content=STYLE)
    page.evaluate(OPEN)
    title = page.title().partition(" – ")[0].replace("\N{NO-BREAK SPACE}", " ")
    data = page.pdf(
        format="A4",
        print_background=True,
        display_header_footer=True,
        header_template="<span></span>",
        footer_template=FOOT,
        margin={"top": "16mm", "bottom": "18mm", "left": "18mm", "right": "18mm"},
    )
    return title, data


def within(writer: PdfWriter, starts: dict[str, int], address: str) -> None:
    """Send links to pages of the book to where these begin."""
    for sheet in writer.pages:
        for reference in sheet.get("/Annots", ()):
            link = reference.get_object()
            action = link.get("/A", DictionaryObject()).get_object()
            found = str(action.get("/URI", ""))
            name = urlparse(found).path.lstrip("/")
            if found.startswith(address) and name in starts:
                target = writer.pages[starts[name]].indirect_reference
                link[NameObject("/Dest")] = ArrayObject([target, NameObject("/Fit")])
                del link["/A"]


def main(folder: Path, target: Path) -> None:
    """Print and join all pages."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("make pdf needs Chromium or Chrome, and neither is on the PATH")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/"
    writer = PdfWriter()
    starts: dict[str, int] = {}
    parts: dict[str, Any] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium)
        page = browser.new_page(color_scheme="light")
        page.route(f"{MATHJAX}**", answered)
        for part, file in pages(folder):
            title, data = printed(page, address + file)
            starts[file] = len(writer.pages)
            writer.append(PdfReader(io.BytesIO(data)), import_outline=False)
            if part and part not in parts:
                parts[part] = writer.add_outline_item(
                    title=part, page_number=starts[file]
                )
            writer.add_outline_item(
                title=title, page_number=starts[file], parent=parts.get(part)
            )
        browser.close()
    server.shutdown()
    within(writer, starts, address)
    writer.compress_identical_objects()
    writer.write(target)
    print(f"{target}: {len(writer.pages)} pages")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
