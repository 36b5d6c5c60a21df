"""What makes the pages of the site light, and those that a site has beside its chapters:
`python tools/finish.py _docs`, the last step of `make docs`.

Nothing that a page shows at first waits for a script: scripts run when the page is there,
and MathJax sets the formulas then. On phones the panels of a figure stand below each
other. The style sheets keep the rules for what the pages have, a quarter of them. A page
that is not there says so, and finds chapters by their names, whatever number they had.
Where the site has a public address (`doc_host` and `doc_baseurl` in settings.ini) there
is a list of all pages for search engines, and cards for links to it have whole addresses.
"""

import html
import json
import re
import sys
from collections.abc import Iterable
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import tinycss2
from panels import with_panels

ROOT = Path(__file__).resolve().parent.parent
WORD = re.compile(r"[\w-]+")
CLASS = re.compile(r"[.#]((?:[\w-]|\\.)+)")
INSIDE = ("media", "supports", "container", "layer")
SCRIPT = re.compile(r"<script(?=[^>]*\bsrc=)(?![^>]*\b(?:defer|async)\b)")


def deferred(page: str) -> str:
    """The page with its scripts run, in their order, when it is there."""
    head, end, body = page.partition("</head>")
    return SCRIPT.sub("<script defer", head) + end + body


# ---------------------------------------------------------------- style sheets


def known_words(folder: Path) -> set[str]:
    """Every word of the pages and their scripts: what a class or an id may be."""
    found: set[str] = set()
    for path in folder.rglob("*"):
        if path.suffix in (".html", ".js"):
            found.update(WORD.findall(path.read_text(encoding="utf-8")))
    return found


def parts(tokens: list[Any]) -> list[str]:
    """The selectors of a rule."""
    found: list[list[Any]] = [[]]
    for token in tokens:
        if token == ",":
            found.append([])
        else:
            found[-1].append(token)
    return [tinycss2.serialize(part).strip() for part in found]


def is_used(selector: str, known: set[str]) -> bool:
    """Whether anything on a page may be meant."""
    outside = re.sub(r":not\([^)]*\)", "", selector)
    names = (re.sub(r"\\(.)", r"\1", name) for name in CLASS.findall(outside))
    return all(name in known for name in names)


def lighter(rules: Iterable[Any], known: set[str]) -> str:
    """The rules that something on a page may need, as text."""
    found = []
    for rule in rules:
        if rule.type == "qualified-rule":
            kept = [part for part in parts(rule.prelude) if is_used(part, known)]
            if kept:
                found.append(
                    ",".join(kept) + "{" + tinycss2.serialize(rule.content) + "}"
                )
        elif (
            rule.type == "at-rule" and rule.lower_at_keyword in INSIDE and rule.content
        ):
            inner = lighter(tinycss2.parse_blocks_contents(rule.content), known)
            if inner:
                prelude = tinycss2.serialize(rule.prelude)
                found.append(f"@{rule.at_keyword}{prelude}{{{inner}}}")
        elif rule.type == "at-rule":
            found.append(rule.serialize())
    return "".join(found)


def lighten(path: Path, known: set[str]) -> None:
    """Write a style sheet without what no page needs."""
    rules = tinycss2.parse_stylesheet(
        path.read_text(encoding="utf-8"), skip_comments=True, skip_whitespace=True
    )
    path.write_text(lighter(rules, known), encoding="utf-8")


# ---------------------------------------------------------------- pages

LOST = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>There is no such page – {title}</title>
<style>
body {{ font: 1.1rem/1.5 system-ui, sans-serif; max-width: 36rem; margin: 4rem auto; padding: 0 1rem;
       color: #222; background: #fff; }}
a {{ color: #005a8d; }}
@media (prefers-color-scheme: dark) {{ body {{ color: #eee; background: #222; }} a {{ color: #7cc7f0; }} }}
</style></head><body><main>
<h1>There is no such page</h1>
<p>It may have moved: chapters keep their names, and their numbers follow the order of the book.</p>
<p><a class="home" href="index.html">The first page</a> has the list of all chapters, and a search.</p>
<ul>{listed}</ul>
</main><script>
const pages = {pages}, root = location.pathname.replace(/(?:reference\\/|notebooks\\/)?[^/]*$/, "");
const topic = location.pathname.match(/(?:\\d+|[A-Z])_(\\w+?)(-details)?\\.html$/);
if (topic && pages[topic[1]]) location.replace(root + pages[topic[1]] + location.hash);
for (const link of document.links) link.href = root + link.getAttribute("href");
</script></body></html>
"""


def lost(folder: Path, title: str) -> str:
    """The page for addresses that lead nowhere."""
    found = {}
    listed = []
    for path in sorted(folder.glob("*.html")):
        match = re.fullmatch(r"(?:\d+|[A-Z])_(\w+)", path.stem)
        if match:
            found[match[1]] = path.name
            page = path.read_text(encoding="utf-8")
            name = re.search(r'<span class="chapter-title">(.*?)</span>', page)
            said = name[1] if name else match[1]
            listed.append(f'<li><a href="{path.name}">{said}</a></li>')
    return LOST.format(
        title=html.escape(title), listed="".join(listed), pages=json.dumps(found)
    )


def announce(folder: Path, address: str) -> None:
    """Tell search engines of all pages, and give cards whole addresses."""
    pages = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.html")
        if path.name != "404.html"
    )
    listed = "".join(f"<url><loc>{address}/{page}</loc></url>" for page in pages)
    (folder / "sitemap.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns='
        f'"http://www.sitemaps.org/schemas/sitemap/0.9">{listed}</urlset>\n',
        encoding="utf-8",
    )
    (folder / "robots.txt").write_text(
        f"User-agent: *\nSitemap: {address}/sitemap.xml\n", encoding="utf-8"
    )
    for page in pages:
        path = folder / page
        text = path.read_text(encoding="utf-8")
        text = re.sub(
            # attributes come in any order: some pages have been parsed and written anew
            r'<meta [^>]*(?:property="og:image"|name="twitter:image")[^>]*>',
            lambda tag: re.sub(
                r'(content=")(?!https?:)(?:\./)?', rf"\g<1>{address}/", tag[0]
            ),
            text,
        )
        canonical = f'<link rel="canonical" href="{address}/{page}">'
        path.write_text(text.replace("</head>", f"{canonical}</head>", 1), "utf-8")


def main(folder: Path) -> None:
    """Finish all pages of the site."""
    settings = ConfigParser(delimiters=["="])
    settings.read(ROOT / "settings.ini", encoding="utf-8")
    host, base = (settings["DEFAULT"][key] for key in ("doc_host", "doc_baseurl"))
    address = f"{host}/{base.strip('/')}".rstrip("/") if host else ""
    for path in folder.rglob("*.html"):
        page = with_panels(path.read_text(encoding="utf-8"), path.parent)
        path.write_text(deferred(page), encoding="utf-8")
    known = known_words(folder)
    for path in folder.rglob("*.css"):
        lighten(path, known)
    title = settings["DEFAULT"]["title"]
    (folder / "404.html").write_text(lost(folder, title), encoding="utf-8")
    if address:
        announce(folder, address)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
