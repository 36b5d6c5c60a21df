"""The rendered site: the pages of `make docs` as files, and in a headless browser as a
reader has them.

`make test-site` runs this file. It needs the program quarto, and for the browser
Chromium or Chrome and the extra `site`. The pages load MathJax from the net; where
there is none, FSEL_BOOK_MATHJAX may name a folder with a copy of it (the npm package
mathjax, version 3), and without either the mathematics is not looked at.
"""

import html
import importlib
import inspect
import json
import os
import re
import shutil
import sys
import threading
import urllib.request
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import NormalDist
from urllib.parse import unquote

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from test_site import (
    book,
    every_chapter,
    label,
    load,
    needs_make,
    needs_quarto,
    notebooks,
    opening,
    root,
    run,
)

import fsel_book
from fsel_book.kernel_machines import EmpiricalRisk
from fsel_book.risk_rfe import change_point
from fsel_book.sparsification import bss, bss_promise
from fsel_book.warm_fits import cold_fit

chromium = next(
    filter(
        None,
        map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome")),
    ),
    None,
)
MATHJAX = "https://cdn.jsdelivr.net/npm/mathjax@3/"


def rendered(entries):
    """The paths of the pages below _docs, from the chapters listed in _quarto.yml."""
    for entry in entries:
        if isinstance(entry, dict) and "chapters" in entry:
            yield from rendered(entry["chapters"])
        else:
            file = entry["file"] if isinstance(entry, dict) else entry
            yield str(Path(file).with_suffix(".html"))


def second_pages():
    """The pages of proofs and details, and those of classes in the reference."""
    for name in notebooks:
        cells = load(root / "nbs" / name)["cells"]
        if any("details" in cell["metadata"].get("tags", []) for cell in cells):
            yield name.replace(".ipynb", "-details.html")
    for page in book["reference"]:
        if len(page["names"]) > 1:
            for path in page["names"]:
                module, _, name = path.rpartition(".")
                home = importlib.import_module(f"fsel_book.{module}".rstrip("."))
                if inspect.isclass(getattr(home, name)):
                    yield f"reference/{name}.html"


pages = [
    *rendered(book["book"]["chapters"]),
    *rendered(book["book"]["appendices"]),
    *second_pages(),
]
# without quarto one skip of each test says why
every_page = pytest.mark.parametrize(
    "name", pages if shutil.which("quarto") else pages[:1]
)


@pytest.fixture(scope="module")
def docs():
    """The folder of the pages that `make docs` renders."""
    printed = run("make", "docs", cwd=root)
    assert "Unable to resolve" not in printed and "ERROR" not in printed, printed[
        -3000:
    ]
    return root / "_docs"


def texts(folder):
    """The text of each page of HTML in the folder, by its path."""
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in folder.rglob("*.html")
    }


# ---------------------------------------------------------------- the pages as files


def text_of(page):
    """What a reader sees of a page of HTML, code left out."""
    return html.unescape(
        re.sub(
            r"<[^>]+>", "", re.sub(r"(?s)<(script|style|pre|code)\b.*?</\1>", "", page)
        )
    )


def unresolved(page):
    """References that quarto could not resolve, and labels and fences that it did not
    read as such.
    """
    return re.findall(
        rf"\?@?{label}|(?<!\w)@{label}|\{{#{label}|^:::.*",
        text_of(page),
        flags=re.MULTILINE,
    )


@pytest.mark.parametrize(
    "page, found",
    [
        (
            "<h1>1 Arrays {#sec-arrays}</h1> in <span "
            'class="quarto-unresolved-ref">?sec-bss</span>',
            2,
        ),
        ("<strong>?@thm-bss</strong> and @eq-norm", 2),
        ("<p>::: {.callout-note}</p>", 1),
        (
            '<a href="x.html#sec-bss">Chapter 4</a>, is it? <code>?sec-x '
            "{#sec-x}</code>, me@sec-a.org",
            0,
        ),
    ],
)
def test_what_counts_as_unresolved(page, found):
    assert len(unresolved(page)) == found


def dead_links(folder):
    """Links and sources within the site that lead to no file, or to an anchor that the
    page has not.
    """
    pages = {
        name: re.sub(r"(?s)(<script\b[^>]*>).*?</script>", r"\1", text)
        for name, text in texts(folder).items()
    }
    anchors = {
        (folder / name).resolve(): {*re.findall(r'\bid="([^"]+)"', text)}
        for name, text in pages.items()
    }
    for name, text in pages.items():
        for link in {
            *re.findall(r'<(?:a|img|script|link)\b[^>]*?\s(?:href|src)="([^"]*)"', text)
        }:
            file, _, anchor = unquote(html.unescape(link)).partition("#")
            target = (folder / name).parent / file if file else folder / name
            target = (target / "index.html" if target.is_dir() else target).resolve()
            dead = not target.exists() or (
                anchor and anchor not in anchors.get(target, ())
            )
            if dead and not re.match(r"\w+:|//", link):
                yield f"{name}: {link}"


def test_what_counts_as_a_dead_link(tmp_path):
    links = [
        "#a",
        "#b",
        "x/y.html#c",
        "x/y.html#d",
        "x/",
        "z.html",
        "https://a.org/z",
        "mailto:a@b.org",
        "n%20.txt",
    ]
    (tmp_path / "i.html").write_text(
        '<p id="a">' + "".join(f'<a class="k" href="{link}">.</a>' for link in links)
    )
    (tmp_path / "x").mkdir()
    page = (
        '<p id="c"><img src="../n .txt"><img src="n.svg"><script>"<a href="q"</script>'
    )
    (tmp_path / "x" / "y.html").write_text(page)
    (tmp_path / "n .txt").touch()
    assert sorted(dead_links(tmp_path)) == [
        "i.html: #b", "i.html: x/", "i.html: x/y.html#d", "i.html: z.html", "x/y.html: n.svg",
    ]  # fmt: skip


@needs_make
@needs_quarto
@pytest.mark.slow
class TestFiles:
    def test_every_page_of_the_book_is_there(self, docs):
        assert sorted(texts(docs)) == sorted([*pages, "404.html"])
        assert {name.replace(".ipynb", ".html") for name in notebooks} <= {*pages}

    def test_references_are_resolved(self, docs):
        assert {
            name: found
            for name, page in texts(docs).items()
            if (found := unresolved(page))
        } == {}

    @every_chapter
    def test_chapters_show_title_and_opening(self, docs, name):
        title, anchor, paragraph = opening(name)
        page = (docs / name.replace(".ipynb", ".html")).read_text(encoding="utf-8")
        assert f'id="{anchor}"' in page
        first = re.match(r"[^*`$@\[\]'\"]+", paragraph)[0]  # up to the first markup
        text = text_of(page)
        assert len(first) > 20 and title in text and first.strip() in text

    @every_page
    def test_a_page_has_one_title(self, docs, name):
        assert (docs / name).read_text(encoding="utf-8").count("<h1") == 1

    def test_every_page_says_what_the_book_is_and_has_its_sign(self, docs):
        for name, page in texts(docs).items():
            if name == "404.html":  # which stands alone, wherever it is shown
                continue
            assert re.search(r'<meta [^>]*property="og:title"', page), name
            assert (
                re.search(r'<link href="[./]*favicon.svg" rel="icon"', page)
                and "nav-footer-left" in page
            ), name
        assert (
            f'name="description" content="{book["book"]["description"]}"'
            in texts(docs)["index.html"]
        )
        assert (docs / "favicon.svg").exists()

    def test_the_first_page_has_four_doors_and_the_package(self, docs):
        (doors,) = re.findall(
            r'(?s)<div class="doors">(.*?)</div>',
            (docs / "index.html").read_text(encoding="utf-8"),
        )
        assert re.findall('href="(?:./)?([^"]*)"', doors) == [
            "quickstart.html#a-table-of-your-own",
            "01_certificates.html",
            "results.html",
            "02_choosing.html#sec-choosing-evidence",
        ]
        wheel = f"fsel_book-{fsel_book.__version__}-py3-none-any.whl"
        assert (docs / wheel).stat().st_size > 100_000

    @every_chapter
    def test_the_first_page_of_a_chapter_has_its_method(self, docs, name):
        """And its exercises are on the second, which it leads to."""
        first, second = (
            (docs / name.replace(".ipynb", ending)).read_text(encoding="utf-8")
            for ending in (".html", "-details.html")
        )
        assert "<img" in first and 'id="TOC"' in first
        assert name.replace(".ipynb", "-details.html") in first
        assert ">Exercises</h2>" not in first
        assert name.replace(".ipynb", ".html") in second

    def test_links_lead_somewhere(self, docs):
        dead = [*dead_links(docs)]
        assert not dead, "\n".join(dead)


needs_chromium = pytest.mark.skipif(
    chromium is None, reason="no Chromium or Chrome is installed"
)


@needs_chromium
def test_the_book_as_one_pdf(tmp_path):
    """Both pages of each chapter in order, below their part, with links that lead there."""
    pytest.importorskip("playwright", reason="Playwright is not installed")
    pypdf = pytest.importorskip("pypdf", reason="pypdf is not installed")
    for name, title in (
        ("02_choosing", "2 Which"),
        ("01_certificates-details", "1 More"),
        ("01_certificates", "1 First"),
    ):
        (tmp_path / f"{name}.html").write_text(
            f"<meta charset='utf-8'><title>{title} – Book</title><main><h1>{title}</h1><details><summary>Why"
            "</summary>Hidden words</details><a href='02_choosing.html#x'>on</a></main>",
            encoding="utf-8",
        )
    made = tmp_path / "book.pdf"
    run(sys.executable, root / "tools/pdf.py", tmp_path, made, cwd=root)
    book_read = pypdf.PdfReader(made)
    part, inside = book_read.outline
    assert part.title == "What a choice of columns keeps"
    assert [one.title for one in inside] == ["1 First", "1 More", "2 Which"]
    assert len(book_read.pages) == 3
    assert "Hidden words" in book_read.pages[0].extract_text()
    for sheet in book_read.pages[:2]:
        (link,) = (found.get_object() for found in sheet["/Annots"])
        target = link["/Dest"][0].get_object()
        assert target == book_read.pages[2].get_object()


# ---------------------------------------------------------------- the search

ENTRIES = [  # as the index has them: the page, its section, and what stands there
    ("reference/selectors.html#RFE", "RFE, in the reference: Selectors", "RFE"),
    ("F_fast.html", "", "Barriers, fast, and their cost in memory"),
    ("05_t-details.html#proof", "5.1 The proof", "barriers that move"),
    ("05_t.html", "", "two barriers rise"),
    ("31_big.html", "", "memory that it takes, and its cost: time, and memory again"),
    ("20_rfe.html", "", "what RFE does"),
]


@needs_chromium
@pytest.mark.parametrize(
    "words, first",
    [
        ("barriers", ["05_t.html", "05_t-details.html#proof", "F_fast.html"]),
        ("cost memory", ["31_big.html", "F_fast.html"]),
        ("how is the cost of memory", ["31_big.html", "F_fast.html"]),
        ("RFE", ["reference/selectors.html#RFE", "20_rfe.html"]),
        ("what RFE does", ["20_rfe.html"]),
        ("nothing of it", []),
    ],
)
def test_search_finds_several_words_and_chapters_first(tmp_path, words, first):
    """Upon a search that finds phrases alone, in the order of the index."""
    items = [
        {"href": href, "section": section, "text": text}
        for href, section, text in ENTRIES
    ]
    search = """class {
      search(query) {
        const phrase = query.toLowerCase();
        return items.flatMap((item, refIndex) =>
          (item.section + item.text).toLowerCase().includes(phrase) ? [{item, refIndex}] : []);
      }
    }"""
    after = (root / "nbs/after.html").read_text(encoding="utf-8")
    page = tmp_path / "page.html"
    page.write_text(
        f'<meta charset="utf-8"><body><main></main><script>'
        f"const items = {json.dumps(items)}; window.Fuse = {search};</script>{after}"
        f"<script>addEventListener('load', () => {{ document.body.textContent = "
        f"JSON.stringify(new Fuse().search({json.dumps(words)}, {{limit: 20}})"
        f".map((hit) => hit.item.href)); }});</script></body>",
        encoding="utf-8",
    )
    dumped = run(
        *(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"),
        page.as_uri(),
        cwd=tmp_path,
    )
    (body,) = re.findall(r"<body>(.*?)</body>", dumped, flags=re.DOTALL)
    assert json.loads(html.unescape(body)) == first


# ---------------------------------------------------------------- pictures that move

SET = """
  const set = (name, value) => {
    const input = document.querySelector(`[name=${name}]`);
    if (input.type === "checkbox") input.checked = value; else input.value = value;
    input.dispatchEvent(new Event("input"));
  };
  const place = document.querySelector(".living");
  const found = [];
"""


def moved(picture, steps, folder):
    """What a picture shows after `steps`, a script that puts it into `found`."""
    script = (root / "nbs" / "living" / f"{picture}.js").read_text(encoding="utf-8")
    page = folder / "page.html"
    page.write_text(
        f'<meta charset="utf-8"><div class="living" data-picture="{picture}"></div>'
        f"<script>{script}</script>"
        f"<script>{SET}{steps}document.body.textContent = JSON.stringify(found);</script>",
        encoding="utf-8",
    )
    dumped = run(
        *(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"),
        page.as_uri(),
        cwd=folder,
    )
    (body,) = re.findall(r"<body>(.*?)</body>", dumped, flags=re.DOTALL)
    return json.loads(html.unescape(body))


@needs_chromium
def test_the_picture_of_the_barriers_keeps_to_the_theorem(tmp_path):
    """Whatever its sliders say, what it measures is inside what it promises; and it says
    so in words.
    """
    steps = """
      for (const first of [false, true]) for (const r of [2, 5, 20, 60])
        for (const ell of [1, 2, 7, 12]) {
          set("first", first); set("r", r); set("ell", ell);
          found.push({r, ell: +document.querySelector("[name=ell]").value,
            interval: JSON.parse(place.dataset.interval),
            said: place.querySelector("p").textContent,
            lines: place.querySelectorAll("polyline").length});
        }
    """
    found = moved("barriers", steps, tmp_path)
    assert len(found) == 32
    for one in found:
        r, ell = one["r"], one["ell"]
        low, high, lower, upper = one["interval"]
        assert ell < r and one["lines"] == ell
        s = (ell / r) ** 0.5
        assert abs(lower - (1 - s) ** 2) < 1e-12 and abs(upper - (1 + s) ** 2) < 1e-12
        assert lower < low <= high < upper, one
        assert f"{r} columns for {ell} dimension" in one["said"]


@needs_chromium
def test_the_picture_of_the_barriers_tells_barriers_from_eigenvalues(tmp_path):
    steps = """
      set("r", 20); set("ell", 5);
      for (const step of [0, 7, 19]) {
        set("tau", step);
        found.push(place.querySelector("p").textContent);
      }
    """
    said = moved("barriers", steps, tmp_path)
    for one in said:
        told = re.findall(r"at (\S+) and (\S+); .* from (\S+) to (\S+)\.$", one)
        lower, upper, low, high = map(float, told[0])
        assert lower < low <= high < upper, one
    assert said[0].endswith("lie from 0 to 0.")


@needs_chromium
def test_the_picture_of_a_ridge_counts_directions(tmp_path):
    steps = """
      for (const ridge of [-4, -1, 0]) for (const power of [0, 1.5, 3])
        for (const r of [1, 20, 120]) {
          set("ridge", ridge); set("power", power); set("r", r);
          found.push({r, shown: JSON.parse(place.dataset.dimension),
            said: place.querySelector("p").textContent});
        }
    """
    found = moved("ridge", steps, tmp_path)
    assert len(found) == 27
    for one in found:
        ridge, power, dimension = one["shown"]
        squares = np.arange(1, 61.0) ** -power
        assert abs(dimension - np.sum(squares / (squares + ridge))) < 1e-9
        promised = "between" in one["said"]
        assert promised == (dimension < one["r"])
        if promised:
            s = (dimension / one["r"]) ** 0.5
            low, high = map(
                float, re.findall(r"between (\S+) and (\S+) times", one["said"])[0]
            )
            assert abs(low - (1 - s) / (1 + s)) < 1e-2 * low
            assert abs(high - (1 + s) / (1 - s)) < 1e-2 * high


@needs_chromium
def test_the_picture_of_leverage_has_leverage_scores(tmp_path):
    steps = """
      for (const angle of [0, 20, 100, 180]) for (const length of [0.05, 1, 2])
        for (const copies of [0, 4]) {
          set("angle", angle); set("length", length); set("copies", copies);
          found.push(JSON.parse(place.dataset.scores));
        }
    """
    found = moved("leverage", steps, tmp_path)
    assert len(found) == 24
    for one in found:
        X = np.array(one["columns"]).T
        Q = np.linalg.qr(X.T)[0]
        assert np.allclose(one["scores"], np.sum(Q**2, axis=1))


@needs_chromium
def test_the_column_in_the_picture_of_leverage_can_be_dragged(tmp_path):
    steps = """
      const svg = place.querySelector("svg");
      svg.setPointerCapture = () => {};
      const head = svg.querySelector("circle.value").getBoundingClientRect();
      const at = {clientX: head.x + head.width / 2 + 40, clientY: head.y + head.height / 2};
      svg.dispatchEvent(new PointerEvent("pointerdown", {...at, buttons: 1}));
      const now = svg.querySelector("circle.value").getBoundingClientRect();
      found.push([now.x + now.width / 2 - at.clientX, now.y + now.height / 2 - at.clientY]);
    """
    ((across, down),) = moved("leverage", steps, tmp_path)
    assert abs(across) < 6 and abs(down) < 6


@needs_chromium
def test_the_picture_of_labels_keeps_to_the_theorem_but_for_labels_alone(tmp_path):
    """The columns are those of BSS with the scores that it shows, and whatever the labels
    prefer, the condition number is at most the promised one.
    """
    steps = """
      const svg = place.querySelector("svg");
      for (const r of [4, 6, 8, 10]) for (const dial of [0, 1, 4, 7, 10]) {
        set("r", r); set("dial", dial);
        found.push({r, dial, said: place.querySelector("p").textContent,
          lit: place.querySelectorAll("circle.value").length,
          told: document.querySelector("[name=dial]").getAttribute("aria-valuetext"),
          wide: [svg.viewBox.baseVal.width, svg.getBoundingClientRect().width],
          ...JSON.parse(place.dataset.shown)});
      }
    """
    found = moved("labels", steps, tmp_path)
    assert len(found) == 20
    for one in found:
        r, dial = one["r"], one["dial"]
        V, noise, scores, weights = (
            np.array(one[name]) for name in ("V", "noise", "scores", "weights")
        )
        assert np.allclose(V.T @ V, np.eye(2))
        chosen = np.flatnonzero(weights)
        low, high = np.linalg.eigvalsh(V.T * weights @ V)
        assert np.isclose(one["kappa"], high / low)
        promise = bss_promise(2, r)
        assert np.isclose(one["promise"], promise.upper / promise.lower)
        if dial:
            power = 2 * ((10 - dial) / 9) ** 2
            assert set(chosen) == set(bss(V, r, scores=scores**power).indices)
            assert one["kappa"] < one["promise"]
        else:
            assert set(chosen) == set(np.argsort(-scores)[:r])
            assert (one["kappa"] > one["promise"]) == (r < 8)
        # two normal classes, three apart, seen through columns with noise
        means = 3 * V @ np.array([3**0.5, 1]) / 2
        spread = V @ V.T + np.diag(noise**2)
        assert np.allclose(scores, means**2 / np.diag(spread))
        part = np.ix_(chosen, chosen)
        z = (means[chosen] @ np.linalg.solve(spread[part], means[chosen])) ** 0.5 / 2
        assert abs(one["right"] - NormalDist().cdf(z)) < 1e-3
        assert one["lit"] == len(chosen) and one["said"].startswith(one["told"])
        # a unit is a pixel, so that words are as large on a phone
        assert abs(one["wide"][0] - one["wide"][1]) < 1


@needs_chromium
def test_the_picture_of_elimination_keeps_the_cheapest_feature(tmp_path):
    """Its bounds hold, the cheapest feature is never ruled out, and is alone in the end."""
    steps = """
      for (const cost of [-1, -0.5, 0, 0.75, 1.5]) {
        set("cost", cost);
        for (const steps of [0, 2, 5, 99]) {
          set("steps", steps);
          found.push({steps, said: place.querySelector("p").textContent,
            lit: place.querySelectorAll("rect.value").length,
            ...JSON.parse(place.dataset.race)});
        }
      }
    """
    found = moved("elimination", steps, tmp_path)
    assert len(found) == 20
    exact = {}
    for one in found:
        X, y = np.array(one["X"]), np.array(one["y"], dtype=float)
        risk = EmpiricalRisk("squared_hinge", y, one["C"])
        if one["C"] not in exact:
            exact[one["C"]] = np.array(
                [
                    cold_fit(rbf_kernel(np.delete(X, j, 1), gamma=0.3), risk, False)[1]
                    for j in range(X.shape[1])
                ]
            )
        values, (lower, upper) = exact[one["C"]], np.transpose(one["bounds"])
        assert (lower <= values * (1 + 1e-7)).all()
        assert (values <= upper * (1 + 1e-7)).all()
        is_open = np.array(one["open"])
        assert np.array_equal(is_open, lower <= upper.min())
        assert is_open[values.argmin()] and one["lit"] == is_open.sum()
        assert one["spent"] == min(one["steps"], one["last"]) <= one["total"]
        if one["spent"] == one["last"]:
            assert is_open.sum() == 1 and f"takes {one['total']}:" in one["said"]
    assert {one["last"] for one in found} > {0}


@needs_chromium
def test_the_picture_of_a_bend_finds_the_change_point(tmp_path):
    steps = """
      const svg = place.querySelector("svg");
      for (const sharp of [0, 0.5, 1]) for (const noise of [0, 0.3, 1])
        for (const left of [1, 2, 7, 23, 24]) {
          set("sharp", sharp); set("noise", noise); set("left", left);
          found.push({left, said: place.querySelector("p").textContent,
            ...JSON.parse(place.dataset.bend)});
        }
      const box = svg.getBoundingClientRect();
      svg.dispatchEvent(new PointerEvent("pointerdown",
        {clientX: box.left + box.width / 2, clientY: box.top + 9}));
      found.push(+document.querySelector("[name=left]").value);
    """
    *found, dragged = moved("bend", steps, tmp_path)
    assert len(found) == 45 and dragged == 12
    for one in found:
        point = change_point(one["values"], np.arange(24, -1, -1))
        assert one["best"] == point.n_features
        assert np.allclose(one["errors"], point.errors[:-1], rtol=1e-6, atol=1e-15)
        is_best = one["said"].startswith("This change has the least error")
        assert is_best == (one["left"] == point.n_features)


# ---------------------------------------------------------------- contrast of colours


def blend(layers):
    """The colour that is seen of (red, green, blue, alpha) layers, the topmost first,
    on white.
    """
    seen = (255.0, 255.0, 255.0)
    for *colour, alpha in reversed(layers):
        seen = tuple(alpha * new + (1 - alpha) * old for new, old in zip(colour, seen))
    return seen


def luminance(colour):
    """Relative luminance as WCAG 2 defines it."""
    parts = (part / 255 for part in colour)
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """WCAG's ratio of contrast, from 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_that_of_wcag():
    white = (255, 255, 255)
    black = (0, 0, 0)
    grey = (118, 118, 118)
    assert contrast(white, black) == pytest.approx(21)
    # the known limit on white
    assert (
        contrast(white, grey) == contrast(grey, white) == pytest.approx(4.54, abs=0.01)
    )
    assert blend([(0, 0, 0, 0.5), (255, 255, 255, 1)]) == pytest.approx(
        (127.5, 127.5, 127.5)
    )
    assert blend([(0, 0, 0, 0)]) == white


def faint(seen):
    """Texts of a look that can hardly be read: WCAG asks for 4.5, and for 3 where
    letters are large.
    """
    for text, ink, grounds, large in seen["inks"]:
        ratio = contrast(blend([ink, *grounds]), blend(grounds))
        if ratio < (3 if large else 4.5):
            yield f"{ratio:.2f} {text}"


# ---------------------------------------------------------------- in the browser

# What folds is opened: a reader can.
OPEN = """() => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  for (const fold of document.querySelectorAll("main .collapse")) fold.classList.add("show");
}"""

LOOK = r"""() => {
  const page = document.documentElement, main = document.querySelector("main") || document.body;
  const name = (e) => e.tagName.toLowerCase() + [...e.classList].map((c) => "." + c).join("")
    + ": " + e.textContent.trim().replace(/\s+/g, " ").slice(0, 50);
  const scrolls = (e) => ["auto", "scroll"].includes(getComputedStyle(e).overflowX);
  const shown = (e) => e.getClientRects().length && getComputedStyle(e).visibility !== "hidden";
  const sideways = page.scrollWidth > page.clientWidth ? [`${page.scrollWidth} > ${page.clientWidth}`] : [];

  // Past the end of the column, though nothing around it scrolls. At full width no formula or table scrolls either, and
  // no output of at most 88 characters, which tests/test_site.py lets cells print.
  const outside = [], edge = Math.min(main.getBoundingClientRect().right, page.clientWidth) + 1;
  const kinds = "p, li, h1, h2, h3, h4, dt, dd, pre, code, table, img, figcaption, mjx-container";
  for (const e of main.querySelectorAll(kinds)) {
    let around = e.parentElement;
    while (around !== main && around !== page && !scrolls(around)) around = around.parentElement;
    if (!scrolls(around) && shown(e) && e.getBoundingClientRect().right > edge) outside.push(name(e));
    if (page.clientWidth > 1000 && e.matches("table, mjx-container[display]") && e.scrollWidth > e.clientWidth + 1)
      outside.push(`scrolls by ${e.scrollWidth - e.clientWidth}: ${name(e)}`);
    const length = () => Math.max(...e.textContent.split("\n").map((line) => line.length));
    if (page.clientWidth > 1000 && e.matches(".cell-output pre") && e.scrollWidth > e.clientWidth && length() <= 88)
      outside.push(`cut: ${name(e)}`);
  }

  const tex = [...document.querySelectorAll("mjx-merror, [data-mjx-error]")].map(name), inks = {};
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const colour = (text) => { const c = text.match(/[\d.]+/g).map(Number); return c.length > 3 ? c : [...c, 1]; };
  while (texts.nextNode()) {
    const text = texts.currentNode.nodeValue, e = texts.currentNode.parentElement;
    if (!text.trim() || e.closest("script, style, noscript, mjx-container")) continue;
    const raw = /\\[([]|\$\$|\\(begin|tag|frac|mathbf)\b|\$(?=\S)[^$\n]*\\[^$\n]*\$/;
    if (!e.closest("code, pre") && raw.test(text)) tex.push(name(e));
    if (!shown(e)) continue;
    const style = getComputedStyle(e), ink = colour(style.color), grounds = [];
    for (let around = e; around; around = around.parentElement) {
      const ground = getComputedStyle(around);
      ink[3] *= Number(ground.opacity);
      if (colour(ground.backgroundColor)[3]) grounds.push(colour(ground.backgroundColor));
    }
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    const key = JSON.stringify([ink, grounds, large]);
    inks[key] = inks[key] || [name(e), ink, grounds, large];
  }

  // What scrolls shows at its edge that there is more. On a phone a table of words is a card for each row, a narrow
  // figure is as wide as it was drawn, or as the page, and the line at the top is one line with all of its switches.
  const look = (e) => getComputedStyle(e), shaded = (e) => look(e).backgroundImage.includes("gradient");
  const unshaded = [...main.querySelectorAll("*")].filter((e) => scrolls(e) && e.scrollWidth > e.clientWidth + 1
    && !shaded(e)).map(name);
  const phone = [], is_phone = page.clientWidth < 500, all = (selector) => [...document.querySelectorAll(selector)];
  for (const e of all("main td.number")) if (look(e).whiteSpace !== "nowrap") phone.push(`broken: ${name(e)}`);
  if (is_phone) {
    for (const e of all("main table.words td")) if (look(e).display === "table-cell") phone.push(name(e));
    for (const e of all(".cell.narrow img:not(.panels img):not(.whole)"))
      if (e.width > Math.min(e.naturalWidth, main.clientWidth) + 1) phone.push(`blown up: ${e.src}`);
    for (const e of all("pre .sentences"))
      if (e.getBoundingClientRect().right > e.closest("pre").getBoundingClientRect().right + 1) phone.push(`cut: ${name(e)}`);
    for (const e of all(".quarto-secondary-nav")) {
      if (e.clientHeight > 60) phone.push(`${e.clientHeight} high: ${name(e)}`);
      const parts = [...e.firstElementChild.children].filter(shown).map((part) => part.getBoundingClientRect());
      if (parts.some((part, i) => i && part.left < parts[i - 1].right - 5)) phone.push(`overlap: ${name(e)}`);
      if (![...e.querySelectorAll(".quarto-color-scheme-toggle")].some(shown)) phone.push("no switch of themes");
    }
  }

  // Formulas within a line are as large as its words.
  const ratio = (e) => parseFloat(look(e).fontSize) / parseFloat(look(e.parentElement).fontSize);
  const sizes = all("main p > .math.inline > mjx-container").filter(shown)
    .filter((e) => ratio(e) < 1 || ratio(e) > 1.15).map((e) => `${ratio(e).toFixed(2)}: ${name(e)}`);

  // of a picture in panels the first one says what all show
  const later = (e) => e.closest(".panels > :not(:first-child)") && e.hasAttribute("alt");
  const images = [...document.images].filter((e) => !e.naturalWidth || !(e.alt.trim() || later(e)))
    .map((e) => `${e.getAttribute("src")}: ${e.naturalWidth ? "no alt" : "not loaded"}`);
  const dark = document.body.classList.contains("quarto-dark");
  return {sideways, outside, unshaded, phone, sizes, tex, images, dark, inks: Object.values(inks)};
}"""

# What follows a change of size has been drawn.
SETTLED = """() => new Promise(
  (done) => requestAnimationFrame(() => requestAnimationFrame(done)))"""

WIDTHS = (1280, 390)
THEMES = ("light", "dark")
KINDS = (
    "errors others sideways outside unshaded phone sizes tex images faint theme".split()
)


@pytest.fixture(scope="module")
def browser():
    if chromium is None:
        pytest.skip("neither chromium nor google-chrome is on the PATH")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed: make test-site"
    )
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=chromium)
        yield opened
        opened.close()


@cache
def mathjax():
    """Where MathJax comes from: a folder, the net, or nowhere."""
    if folder := os.environ.get("FSEL_BOOK_MATHJAX"):
        assert (Path(folder) / "es5" / "tex-chtml-full.js").exists(), (
            f"FSEL_BOOK_MATHJAX={folder}: no MathJax 3 there"
        )
        return Path(folder)
    try:
        with urllib.request.urlopen(MATHJAX + "package.json", timeout=10):
            return "the net"
    except OSError:
        return None


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def serve():
    """A function that serves a folder and returns its address."""
    servers = []

    def start(folder):
        servers.append(
            ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
        )
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}/"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def answer(route, address, others):
    """Let a request through, answer it from the copy of MathJax, or note that the page
    asks another host.
    """
    url = route.request.url
    if url.startswith(MATHJAX) and mathjax() != "the net":
        path = url.removeprefix(MATHJAX).partition("?")[0]
        route.fulfill(
            **(
                {"path": mathjax() / path}
                if mathjax()
                else {"body": "", "content_type": "text/javascript"}
            )
        )
    elif url.startswith((address, MATHJAX)):
        route.continue_()
    else:
        others.append(url)
        route.abort()


def open_page(browser, address, name, width, theme):
    """A page opened in a window of its own, and two lists that fill: its errors, and
    other hosts that it asks.
    """
    window = browser.new_context(
        viewport={"width": width, "height": 900}, reduced_motion="reduce"
    )
    if theme == "dark":
        window.add_init_script(
            "localStorage.setItem('quarto-color-scheme', 'alternate')"
        )
    errors = []
    others = []
    window.route("**/*", lambda route: answer(route, address, others))
    page = window.new_page()
    page.on(
        "console",
        lambda said: errors.append(said.text) if said.type == "error" else None,
    )
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on(
        "response",
        lambda got: (
            errors.append(f"{got.status} {got.url}") if got.status >= 400 else None
        ),
    )
    page.goto(address + name)
    page.evaluate(
        "() => window.MathJax?.startup?.promise.then(() => document.fonts.ready)"
    )
    page.evaluate(OPEN)
    return page, errors, others


def look(browser, address, name):
    """What is wrong with a page in both themes and at both widths, by kind of fault."""
    faults = {kind: [] for kind in KINDS}
    for theme, widths in zip(THEMES, (WIDTHS, WIDTHS[::-1])):
        page, errors, others = open_page(browser, address, name, widths[0], theme)
        for width in widths:
            page.set_viewport_size({"width": width, "height": 900})
            page.evaluate(SETTLED)
            seen = page.evaluate(LOOK)
            seen |= {"errors": errors, "others": others, "faint": [*faint(seen)]}
            seen["theme"] = (
                [] if seen["dark"] == (theme == "dark") else ["not in this theme"]
            )
            for kind in faults:
                faults[kind] += [f"{theme} {width}: {fault}" for fault in seen[kind]]
        page.context.close()
    return faults


SHADE = "background-image: linear-gradient(red, red)"
DOT = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind, body",
    [
        (
            None,
            f'<p>Well</p><pre style="overflow-x: auto; {SHADE}"><code>$$ \\['
            + 300 * "x"
            + "</code></pre>",
        ),
        ("errors", "<script>console.error('no')</script>"),
        ("errors", "<script>undefined.x</script>"),
        ("errors", "<script src='missing.js'></script>"),
        (
            "others",
            "<link rel='stylesheet' "
            "href='https://fonts.googleapis.com/css2?family=Lato'>",
        ),
        ("sideways", "<div style='width: 1300px'>x</div>"),
        ("outside", "<main style='width: 300px'><p style='width: 320px'>x</p></main>"),
        (
            "outside",
            f"<main style='width: 200px'><p><code style='white-space: "
            f"pre'>{30 * 'x'}</code></p></main>",
        ),
        (
            "outside",
            f"<main><table style='display: block; width: 9px; overflow-x: auto; "
            f"{SHADE}'><td>{9 * 'x'}</table>",
        ),
        (
            "outside",
            f"<div class='cell-output'><pre style='width: 9px; overflow: auto; "
            f"{SHADE}'>{88 * 'x'}\n</pre></div>",
        ),
        (
            "unshaded",
            f"<main><pre style='width: 90px; overflow-x: auto'>{88 * 'x'}</pre></main>",
        ),
        ("phone", "<main><table class='words'><td>word</table></main>"),
        ("phone", "<main><table><td class='number'>1 ± 2</table></main>"),
        (
            "phone",
            "<main><div class='cell narrow'><img alt='dot' width='99' "
            "src='data:image/svg+xml," + DOT + "'></div></main>",
        ),
        (
            "phone",
            f"<main><pre style='overflow: auto; {SHADE}'>"
            f"<span class='sentences'>{300 * 'x'}</span></pre></main>",
        ),
        ("phone", "<nav class='quarto-secondary-nav'><div><a>5</a></div></nav>"),
        (
            "sizes",
            "<main><p><b class='math inline'><mjx-container style='font-size: "
            "2em'>x</mjx-container></b></p></main>",
        ),
        ("tex", "<p>where $$x$$ is</p>"),
        ("tex", r"<p>where \(x\) is</p>"),
        ("tex", r"<p>where $\lambda$ is</p>"),
        ("tex", r"<mjx-merror>Missing }</mjx-merror>"),
        ("images", "<img src='data:image/png;base64,AAAA' alt='dot'>"),
        (
            "images",
            "<img src='data:image/svg+xml,<svg xmlns=\"http://www.w3.org/2000/svg\"/>'>",
        ),
        ("faint", "<p style='color: #999'>grey</p>"),
        ("faint", "<p style='opacity: 0.5'>through</p>"),
        (
            "faint",
            "<details><summary>More</summary><p style='color: "
            "#eee'>inside</p></details>",
        ),
        ("theme", "<script>document.body.className = 'quarto-light'</script>"),
    ],
)
def test_each_fault_is_found(browser, serve, tmp_path, kind, body):
    """On a page that has just one."""
    dark = (
        "document.body.className = localStorage.getItem('quarto-color-scheme') ? "
        "'quarto-dark' : ''"
    )
    head = (
        "<!DOCTYPE html><html lang='en'><head><title>t</title><link rel='icon' "
        "href='data:,'></head>"
    )
    page = (
        f"{head}<body style='background: #fff; color: "
        f"#000'><script>{dark}</script>{body}</body></html>"
    )
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    faults = look(browser, serve(tmp_path), "page.html")
    assert {found for found, which in faults.items() if which} - {kind} <= (
        {"errors"} if kind == "others" else set()
    )
    assert kind is None or faults[kind], faults


@pytest.fixture(scope="module")
def address(docs, serve):
    return serve(docs)


@pytest.fixture(scope="module")
def faults(browser, address):
    """`look` at a page of the site, once."""
    return cache(partial(look, browser, address))


@needs_make
@needs_quarto
@pytest.mark.slow
class TestBrowser:
    @every_page
    def test_no_errors(self, faults, name):
        assert not faults(name)["errors"]

    @every_page
    def test_nothing_comes_from_other_hosts_but_mathjax(self, faults, name):
        assert not faults(name)["others"]

    @every_page
    def test_no_sideways_scroll(self, faults, name):
        assert not faults(name)["sideways"]

    @every_page
    def test_nothing_sticks_out_of_its_column(self, faults, name):
        assert not faults(name)["outside"]

    @every_page
    def test_what_scrolls_shows_that_there_is_more(self, faults, name):
        assert not faults(name)["unshaded"]

    @every_page
    def test_pages_are_made_for_phones_too(self, faults, name):
        assert not faults(name)["phone"]

    @every_page
    def test_formulas_are_as_large_as_words(self, faults, name):
        assert not faults(name)["sizes"]

    @every_page
    def test_no_raw_tex(self, faults, name):
        if mathjax() is None:
            pytest.skip(
                "no MathJax: neither the net nor FSEL_BOOK_MATHJAX, a folder with a "
                "copy of it"
            )
        assert not faults(name)["tex"]

    @every_page
    def test_images_load_and_are_told_in_words(self, faults, name):
        assert not faults(name)["images"]

    @every_page
    def test_text_stands_out_from_its_ground_in_both_themes(self, faults, name):
        assert not faults(name)["theme"] and not faults(name)["faint"]

    @pytest.mark.parametrize("width", WIDTHS)
    def test_search_finds_leverage(self, browser, address, width):
        page, *_ = open_page(browser, address, "index.html", width, "light")
        if width < 1000:
            page.click("button.quarto-search-button")
        else:
            page.click("#quarto-search input")
        page.keyboard.type("leverage")
        found = page.locator(".aa-Panel a, .aa-DetachedContainer .aa-Item a").first
        found.wait_for()
        with page.expect_navigation():
            found.click()
        assert "leverage" in page.inner_text("main").lower()
        page.context.close()

    @pytest.mark.parametrize("width", WIDTHS)
    def test_the_switch_of_themes_is_remembered(self, browser, address, width):
        page, *_ = open_page(browser, address, "index.html", width, "light")
        page.click("a.quarto-color-scheme-toggle:visible")
        page.wait_for_selector("body.quarto-dark")
        page.goto(address + "quickstart.html")
        assert page.locator("body.quarto-dark").count() == 1
        page.context.close()
