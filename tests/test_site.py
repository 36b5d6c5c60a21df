"""The site as quarto is given it to read; tests/test_rendered.py looks at the pages
that come out.
"""

import base64
import html
import importlib.util
import inspect
import io
import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pypandoc
import pytest
import yaml
from bs4 import BeautifulSoup
from PIL import Image

import fsel_book

root = Path(__file__).resolve().parent.parent
sys.path.append(str(root / "tools"))
quarto = importlib.import_module("quarto")
book = yaml.safe_load((root / "_quarto.yml").read_text(encoding="utf-8"))
notebooks = sorted(path.name for path in (root / "nbs").glob("*.ipynb"))
chapters = [name for name in notebooks if re.match(r"\d\d_", name)]
every_notebook = pytest.mark.parametrize("name", notebooks)
every_chapter = pytest.mark.parametrize("name", chapters)
label = r"(?:thm|lem|def|cor|prp|exr|eq|fig|sec|tbl)-[\w-]+"
left_off = re.compile(r"^#\|\s*(?:default_exp|exporti?|hide)\b", re.MULTILINE)
needs_make = pytest.mark.skipif(
    shutil.which("make") is None, reason="make is not on the PATH"
)
needs_quarto = pytest.mark.skipif(
    shutil.which("quarto") is None, reason="quarto is not on the PATH"
)


def run(*command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout + done.stderr


def cells(book):
    """The cells of a notebook that a reader of the site gets: kind, text without
    nbdev's directives, outputs.
    """
    for cell in book["cells"]:
        source = "".join(cell["source"])
        if source and not left_off.search(source):
            text = re.sub(r"^#\|\s*(exports)\n", "", source, flags=re.MULTILINE)
            yield cell["cell_type"], text.strip(), cell.get("outputs")


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


@cache
def for_quarto(name):
    """A notebook as Quarto reads it."""
    return quarto.converted(load(root / "nbs" / name), name.removesuffix(".ipynb"))


def opening(name):
    """Title, label and first paragraph of a chapter."""
    kind, text, _ = next(cells(for_quarto(name)))
    found = re.match(r"# (.+) \{#(sec-[\w-]+)\}\n\n(\[?\w.+)", text)
    assert kind == "markdown" and found, (
        f"{name} does not open with a title that has a label, and a paragraph"
    )
    return found.groups()


# ---------------------------------------------------------------- what quarto is given
# to read


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of what the site is made from."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("settings.ini", "pyproject.toml", "_quarto.yml"):
        shutil.copy(root / name, folder)
    made = shutil.ignore_patterns(".*", "__pycache__", "reference", "nbdev.yml")
    for name in ("nbs", "fsel_book"):
        shutil.copytree(root / name, folder / name, ignore=made)
    return folder


@pytest.fixture(scope="module")
def processed(project):
    """The folder of the notebooks as nbdev makes them ready for quarto.

    The work of the command nbdev_proc_nbs, without its first step: that one downloads
    quarto where it is missing.
    """
    run(
        sys.executable,
        "-c",
        "from nbdev.serve import proc_nbs; proc_nbs(n_workers=0)",
        cwd=project,
    )
    run(sys.executable, root / "tools/quarto.py", project / "_proc", cwd=project)
    return project / "_proc"


def paged(book):
    """The cells, each with the page of its chapter that it is for."""
    page = "first"
    for cell in cells(book):
        if mark := re.fullmatch(r"```{=html}\n<!-- page: (\w+) -->\n```", cell[1]):
            page = mark[1]
        else:
            yield *cell, page


@every_notebook
def test_notebooks_reach_quarto_as_they_stand(processed, name):
    """Titles, openings and references word for word; code as plain code with the stored
    outputs, nothing added.
    """
    made = [
        cell
        for cell in paged(load(processed / name))
        if not cell[1].startswith("<!-- WARNING: THIS FILE WAS AUTO")
    ]
    stored = list(paged(for_quarto(name)))
    for new, old in zip(made, stored):
        assert new == old
    assert len(made) == len(stored)


@every_chapter
def test_chapters_open_with_title_label_and_paragraph(name):
    opening(name)


@pytest.mark.parametrize("name", ["index.ipynb", "quickstart.ipynb"])
def test_pages_before_the_chapters_have_no_number(processed, name):
    """Quarto forgets the `.unnumbered` of a heading that is a notebook's first line: a
    comment stands before it.
    """
    pages = [
        page for kind, page, _ in cells(load(processed / name)) if kind == "markdown"
    ]
    headings = [
        line for page in pages for line in re.findall(r"^##? .*", page, re.MULTILINE)
    ]
    assert not pages[0].startswith("#")
    assert all(line.endswith(" {.unnumbered}") for line in headings), headings


def mathml(text):
    """Markdown as HTML with MathML; pandoc warns of mathematics that it cannot read."""
    command = [
        pypandoc.get_pandoc_path(),
        "--from",
        "markdown",
        "--to",
        "html",
        "--mathml",
    ]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr[-2000:]
    return done.stdout


@every_notebook
def test_text_and_mathematics_can_be_read(name):
    texts = [text for kind, text, _ in cells(for_quarto(name)) if kind == "markdown"]
    page = mathml("\n\n".join(texts))
    assert page.count("<math") == 0 or "</math>" in page
    assert "$$" not in re.sub(r"(?s)<(code|pre|annotation)\b.*?</\1>", "", page)


def test_pandoc_warns_of_mathematics_it_cannot_read():
    with pytest.raises(AssertionError, match="Could not convert TeX math"):
        mathml(r"$\frac{1}{$")


def shown(name):
    """Cell, stored text and stored pictures, of each cell with outputs."""
    for cell in load(root / "nbs" / name)["cells"]:
        parts = cell.get("outputs", [])
        pictures = [
            part
            for part in parts
            if {"image/png", "image/svg+xml"} & part.get("data", {}).keys()
        ]
        others = [part for part in parts if part not in pictures]
        texts = [
            "".join(part.get("text") or part["data"].get("text/plain", ""))
            for part in others
        ]
        if parts:
            yield cell, "".join(texts), pictures


@every_notebook
def test_every_picture_is_told_in_words(name):
    for cell, _, pictures in shown(name):
        if pictures:
            told = cell["metadata"].get("figure", {}).get("alt", "")
            assert len(told) > 30, f"no words for the picture of cell {cell['id']}"


@every_notebook
def test_pictures_are_there_for_every_viewer_sharp_and_on_white(name):
    """`make run` draws them so. JupyterLab shows no SVG of a notebook that is not
    trusted, and black ink on no ground is lost in the dark.
    """
    for cell, _, pictures in shown(name):
        for part in pictures:
            assert "image/svg+xml" not in part["data"], cell["id"]
            size = part["metadata"]["image/png"]
            data = base64.b64decode("".join(part["data"]["image/png"]))
            with Image.open(io.BytesIO(data)) as drawn:
                assert drawn.width >= 2 * size["width"] - 1, cell["id"]
                assert drawn.height >= 2 * size["height"] - 1, cell["id"]
                pixels = np.asarray(drawn.convert("RGBA"))
            assert (pixels[..., 3] == 255).all(), cell["id"]
            assert (pixels[[0, 0, -1, -1], [0, -1, 0, -1]] == 255).all(), cell["id"]


@every_notebook
def test_outputs_fit_the_column(name):
    wide = [
        line
        for _, text, _ in shown(name)
        for line in text.splitlines()
        if len(line) > 88
    ]
    assert not wide, "\n".join(wide[:3])


@every_notebook
def test_a_page_loads_fast(name):
    assert (root / "nbs" / name).stat().st_size < 1.5e6


@every_notebook
def test_what_a_cell_prints_is_in_one_piece(name):
    """A table that is stored in two would be none on the site."""
    for cell in json.loads((root / "nbs" / name).read_text(encoding="utf-8"))["cells"]:
        assert [output.get("name") for output in cell.get("outputs", [])].count(
            "stdout"
        ) < 2, cell["id"]


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """The pages of the API reference, by their names in _quarto.yml."""
    folder = tmp_path_factory.mktemp("reference")
    run(sys.executable, "tools/reference.py", folder, cwd=root)
    return {
        f"reference/{page.name}": page.read_text(encoding="utf-8")
        for page in folder.glob("*.qmd")
    }


def test_citing_has_the_package_and_the_five_papers(reference):
    page = reference["reference/citing.qmd"]
    keys = re.findall(r"^@\w+\{(\w+),", page, flags=re.MULTILINE)
    assert keys[0] == "fsel_book" and len(keys) == 6
    assert f"version = {{{fsel_book.__version__}}}" in page
    years = re.findall(r"year += \{(\d+)\}", page)
    assert sorted(years)[:5] == ["2011", "2013", "2015", "2016", "2019"]


def test_changes_are_a_page_whose_links_lead_to_chapters(reference):
    page = reference["reference/changelog.qmd"]
    linked = re.findall(r"\]\(\.\./(\w+\.ipynb)", page)
    assert linked and all((root / "nbs" / name).exists() for name in linked)
    assert "](nbs/" not in page and fsel_book.__version__ in page


def test_literature_says_which_chapters_cite_a_work(reference):
    page = reference["reference/literature.qmd"]
    (line,) = (line for line in page.splitlines() if "{#bss2012}" in line)
    assert "Twice-Ramanujan" in line and "(../05_sparsification.ipynb)" in line
    names = re.findall(r"^- \[\]\{#[\w-]+\}(\w+)", page, flags=re.MULTILINE)
    assert len(names) > 50 and names == sorted(names, key=str.casefold)


def test_reference_links_names_and_shows_what_examples_draw(reference):
    page = reference["reference/selectors.qmd"]
    own = page.partition("## LeverageSelector {")[2].partition("\n## ")[0]
    assert "[`Certificate`](certificates.qmd#Certificate)" in own
    assert "[`LeverageSelector`]" not in own, "an entry leads to itself"
    assert (
        "](SizeDisplay.png)"
        in reference["reference/pictures.qmd"] + (reference["reference/stopping.qmd"])
    )


def entries(reference):
    """The text of each entry of the reference, by the name of its object."""
    pages = "\n".join(
        re.sub(r"\[(`\w+`)\]\([\w.]+#\w+\)", r"\1", text)
        for name, text in reference.items()
        if not name.endswith("index.qmd")
    )
    parts = re.split(r"^## (\S+) \{#\1 .unnumbered\}$", pages, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def test_reference_has_the_pages_of_the_book(reference):
    (part,) = (
        part
        for part in book["book"]["chapters"]
        if isinstance(part, dict) and part.get("part") == "Reference"
    )
    assert sorted(
        [
            *reference,
            *(
                f"{page}.ipynb"
                for page in ("results", "glossary", "symbols", "parameters")
            ),
        ]
    ) == sorted(part["chapters"])


def test_reference_has_an_entry_for_every_public_name(reference):
    listed = [
        name.split(".")[-1] for page in book["reference"] for name in page["names"]
    ]
    assert sorted(entries(reference)) == sorted(listed) and {*fsel_book.__all__} <= {
        *listed
    }
    assert not [name for name, text in reference.items() if "%(" in text], (
        "a shared description is not inserted"
    )


@pytest.mark.parametrize("name", fsel_book.__all__)
def test_reference_has_parameters_defaults_and_methods(reference, name):
    """Each parameter of the signature once, with its default; each method that a user
    can call, inherited or not.
    """
    text = entries(reference)[name]
    thing = getattr(fsel_book, name)
    section = re.split(r"^### ", text, flags=re.MULTILINE)
    parameters = next((part for part in section if part.startswith("Parameters")), "")
    shown = re.findall(
        r"^`(\**\w+)`(?: : `.*?`)?(?: \(default `(.*)`\))?$",
        parameters,
        flags=re.MULTILINE,
    )
    signature = inspect.signature(thing).parameters.values()
    expected = [
        (p.name, "" if p.default is p.empty else repr(p.default)) for p in signature
    ]
    assert [
        (shown_name.lstrip("*"), default) for shown_name, default in shown
    ] == expected
    if inspect.isclass(thing):
        for method in (
            "fit",
            "transform",
            "predict",
            "decision_function",
            "score",
            "get_params",
        ):
            if hasattr(thing, method):
                shown = rf"^### {method} \{{|As in scikit-learn: .*`{method}`"
                assert re.search(shown, text, flags=re.MULTILINE), method


def test_reference_lists_an_attribute_once_and_nothing_without_words(reference):
    """A property that is among the attributes is not listed as a method again."""
    text = entries(reference)["BSSSelector"]
    assert text.count("`support_` :") == 1 and "### support_" not in text
    heads = re.findall(
        r"^`\**\w+`(?: : `.*?`)?(?: \(default `.*`\))?\n(.*)",
        "\n".join(reference.values()),
        re.MULTILINE,
    )
    assert heads and all(line.startswith(":   ") for line in heads)


def test_reference_says_once_where_a_name_is_explained(reference):
    """By a link, in place of the note for `help()`, which names files."""
    for text in entries(reference).values():
        links = re.findall(r"^\*Explained in\* \[.+\]\(\.\./(\w+\.ipynb)\)", text, re.M)
        assert len(links) == 1 and (root / "nbs" / links[0]).exists()
        assert "in the repository" not in text


def test_reference_can_be_read(reference):
    for text in reference.values():
        mathml(text)


def test_reference_says_what_functions_warn_of(reference):
    for section in re.findall(
        r"^#+ Warnings .*\n\n(.*)", "\n".join(reference.values()), flags=re.MULTILINE
    ):
        assert re.match(r"A `\w+Warning` says that ", section)
    assert (
        "A `ConvergenceWarning` says that the tolerance was not reached"
        in reference["reference/learners.qmd"]
    )


def prepared(folder, name, sources, kinds, outputs=()):
    """The sources of a notebook's cells as `make docs` hands them to Quarto."""
    book = {
        "cells": [
            {"cell_type": kind, "source": source}
            for kind, source in zip(kinds, sources)
        ]
    }
    for cell, stored in zip(book["cells"], outputs):
        cell["outputs"] = stored
    (folder / name).write_text(json.dumps(book), encoding="utf-8")
    run(sys.executable, root / "tools/pages.py", folder, cwd=root)
    return [
        "".join(cell["source"])
        for cell in json.loads((folder / name).read_text(encoding="utf-8"))["cells"]
    ]


def test_long_definitions_are_folded_behind_their_names(tmp_path):
    short = "def f(): pass\n"
    long = "class A:\n" + "    x = 1\n" * 31
    named = '#| code-fold: true\n#| code-summary: "B"\n' + long
    stored = ["text", short, long, "print(1)\n" * 40, named]
    made = prepared(tmp_path, "quickstart.ipynb", stored, ["markdown"] + 4 * ["code"])
    assert made[2] == '#| code-fold: true\n#| code-summary: "A"\n' + long
    assert made[:2] + made[3:] == stored[:2] + stored[3:]


def test_helpers_are_folded_and_literal_algorithms_are_not(tmp_path):
    helper = "def _f(x):\n" + "    x = 1\n" * 5
    small = "def _g(x):\n    return 1\n"
    mixed = helper + "\n\ndef f(x):\n    return _f(x)\n"
    rest = "    x = 1\n" * 40
    literal = f'def f_reference(x):\n    """One.\n\n    Two\n    ---\n    """\n{rest}'
    stored = ["text", helper, small, mixed, literal]
    made = prepared(tmp_path, "quickstart.ipynb", stored, ["markdown"] + 4 * ["code"])
    assert made[1] == f'#| code-fold: true\n#| code-summary: "_f"\n{helper}'
    assert made[2:4] == [small, mixed]
    assert made[4] == f'def f_reference(x):\n    """One."""\n{rest}'


def printed(text):
    """What a cell leaves that prints."""
    return {"output_type": "stream", "name": "stdout", "text": text}


def picture(width):
    """What a cell leaves that draws a figure of a width in pixels."""
    return {
        "output_type": "display_data",
        "data": {"image/png": "iVBORw0KGgo="},
        "metadata": {"image/png": {"width": width, "height": 9}},
    }


@pytest.mark.parametrize(
    "said, code, outputs, before",
    [
        ("Code of the figure", "plot()", [picture(650)], ""),
        ("Code of the table", "show()", [printed("a   b\n1   x\n22  y\n")], ""),
        (
            "Code of the table",
            "frame",
            [{"output_type": "execute_result", "data": {"text/html": "<table>"}}],
            "",
        ),
        ("Code of the output", "print(1)", [printed("1\n")], ""),
        (
            "Code of the solution",
            "print(1)",
            [printed("1\n")],
            ":::\n::: {.x}\n## Solution 2\nT",
        ),
        (
            "Code of the output",
            "print(1)",
            [printed("1\n")],
            "::: {.x}\n## Solution 2\nT\n:::\n",
        ),
        ("Check of R2, R3", "# R2, R3\nprint(1)", [], ""),
        ("Check: f is 1", "# Check: f is 1.\ndef f(): pass", [], ""),
        ("The times", "# The times\nprint(1)", [printed("1\n")], ""),
        ("Imports", "import numpy as np\nnp.seterr()", [], ""),
        ("Code of the full run", "records = study.run('results')", [], ""),
        ("A, b", "A = 1\nb = 2", [], ""),
        ("Code", "b.sort()", [], ""),
    ],
)
def test_a_fold_says_what_is_behind_it(tmp_path, said, code, outputs, before):
    stored = ["# T", before, f"#| code-fold: true\n{code}"]
    made = prepared(
        tmp_path,
        "quickstart.ipynb",
        stored,
        ["markdown", "markdown", "code"],
        [[], [], outputs],
    )
    assert made[2] == f'#| code-fold: true\n#| code-summary: "{said}"\n{code}'


@pytest.mark.parametrize("width, kind", [(400, "narrow"), (650, ""), (900, "wide")])
def test_narrow_and_wide_figures_are_known(tmp_path, width, kind):
    made = prepared(
        tmp_path,
        "quickstart.ipynb",
        ["# T", "plot()"],
        ["markdown", "code"],
        [[], [picture(width)]],
    )
    assert made[1] == (f"#| classes: {kind}\n" if kind else "") + "plot()"


def test_a_certificate_is_in_one_frame(tmp_path):
    """Its title, table and verdict, and nothing that was printed before or after it."""
    title = "BSS: 9 draws,\n9 of 99 features; certified for rank 3"
    verdict = "At the scale 1\nall is kept."
    one = (
        f"{title}\n       measured  promised\neps      1        2\nkappa    "
        f"3        4\n{verdict}"
    )
    output = printed(f"before\n\n{one}\n\n{one}\n\nafter\n")
    prepared(
        tmp_path,
        "quickstart.ipynb",
        ["# T", "show()"],
        ["markdown", "code"],
        [[], [output]],
    )
    _, cell = json.loads((tmp_path / "quickstart.ipynb").read_text(encoding="utf-8"))[
        "cells"
    ]
    first, *frames, last = cell["outputs"]
    assert (first["text"], last["text"]) == (["before\n"], ["after\n"]) and len(
        frames
    ) == 2
    for frame in frames:
        page = frame["data"]["text/markdown"]
        assert (
            page.count("<div") == page.count("</div>") == 1
            and '<table class="printed">' in page
        )
        assert (
            '<p class="title">BSS: 9 draws, 9 of 99 features; certified for rank 3</p>'
            in page
        )
        assert "<p>At the scale 1 all is kept.</p></div>" in page


def test_what_is_printed_beside_a_figure_is_no_part_of_it(tmp_path):
    """Quarto makes panels (a) and (b) of a printed table and a labelled figure that
    come out of one cell.
    """
    directives = '#| label: fig-a\n#| fig-cap: "A"\n#| fig-alt: "B"\n'
    fold, words = (
        '#| code-fold: true\n#| code-summary: "C"\nplot()',
        printed(["words\n"]),
    )
    cell = {"cell_type": "code", "id": "one", "source": directives + fold}
    heading = {"cell_type": "markdown", "source": "text"}
    for outputs in ([words, picture(650)], [picture(650)], [words]):
        (tmp_path / "quickstart.ipynb").write_text(
            json.dumps({"cells": [heading, cell | {"outputs": outputs}]})
        )
        run(sys.executable, root / "tools/pages.py", tmp_path, cwd=root)
        _, *made = json.loads(
            (tmp_path / "quickstart.ipynb").read_text(encoding="utf-8")
        )["cells"]
        sources = ["".join(part["source"]) for part in made]
        kept = [part["outputs"] for part in made]
        if len(outputs) == 1:
            assert sources == [cell["source"]] and len(kept[0]) == 1
        else:
            assert sources[0] == fold and kept == [[words], [picture(650)]]
            assert sources[1] == directives + "#| echo: false\n" + sources[0]
            assert made[0]["id"] != made[1]["id"]


def test_a_formula_and_its_comma_stay_together(tmp_path):
    apart = "`$a$,` and\n$$ z $$.\n\n| $t$, | b |\n\n```\n$q$,\n```\nprice \\$5, $w$ w"
    (text,) = prepared(
        tmp_path, "quickstart.ipynb", [f"A $x_1$, and ($y$). {apart}"], ["markdown"]
    )
    assert text == f"A [$x_1$,]{{.together}} and ([$y$).]{{.together}} {apart}"


def test_the_first_page_has_no_title_beside_the_books_and_four_doors(tmp_path):
    (text,) = prepared(
        tmp_path,
        "index.ipynb",
        ["# name {.unnumbered}\n\nText.\n"],
        ["markdown"],
    )
    assert text.startswith("Text.\n\n")
    targets = re.findall(r"\]\((.*?)\)", text)
    assert len(targets) == 4 and all(
        (root / "nbs" / target.partition("#")[0]).exists() for target in targets
    )
    wheel = f"fsel_book-{fsel_book.__version__}-py3-none-any.whl"
    assert f'pip install "fsel_book[report] @ <a href="{wheel}"' in text


def test_every_page_says_which_version_it_is_of():
    footer = yaml.safe_load((root / "_quarto.yml").read_text(encoding="utf-8"))
    said = footer["book"]["page-footer"]["right"]
    assert f"Version {fsel_book.__version__}" in said


def test_tables_of_html_ask_nothing_of_other_hosts(tmp_path):
    """For an output of text/html Quarto loads RequireJS and jQuery from the net."""
    output = {
        "output_type": "execute_result",
        "data": {"text/html": ["<table>\n", "</table>"], "text/plain": "T"},
    }
    cells = [
        {"cell_type": "markdown", "source": "t"},
        {"cell_type": "code", "source": "T", "outputs": [output]},
    ]
    (tmp_path / "quickstart.ipynb").write_text(
        json.dumps({"cells": cells}), encoding="utf-8"
    )
    run(sys.executable, root / "tools/pages.py", tmp_path, cwd=root)
    (made,) = json.loads((tmp_path / "quickstart.ipynb").read_text(encoding="utf-8"))[
        "cells"
    ][1]["outputs"]
    assert made["data"] == {
        "text/markdown": "`````{=html}\n<table>\n</table>\n`````\n",
        "text/plain": "T",
    }


# ---------------------------------------------------------------- printed tables


def printed_tables():
    """tools/tables.py, which make docs imports."""
    spec = importlib.util.spec_from_file_location(
        "tables", root / "tools" / "tables.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.tables


def test_columns_under_headings_become_a_table():
    text = """errors of two methods:
                  in sample          out of sample
method      d  mean         time     mean         time
BSS        50   1.0 ±  0.1  3 ms     1.25 ± 0.10  4 ms
  weights   5  10.0 ± 10.1  3 ms                  4 ms
five draws & no more
"""
    before, table, after = printed_tables()(text)
    assert before == ("text", "errors of two methods:") and after == (
        "text",
        "five draws & no more",
    )
    rows = [
        re.findall(r"<t[hd]([^>]*)>(.*?)</t[hd]>", line)
        for line in re.findall("<tr>.*</tr>", table[1])
    ]
    assert [cell for _, cell in rows[0]] == ["", "in sample", "out of sample"]
    assert ['colspan="2"' in style for style, _ in rows[0]] == [True] * 3
    assert [cell for _, cell in rows[1]] == [
        "method",
        "d",
        "mean",
        "time",
        "mean",
        "time",
    ]
    assert [cell for _, cell in rows[3]] == [
        "weights",
        "5",
        "10.0 ± 10.1",
        "3 ms",
        "",
        "4 ms",
    ]
    assert "padding-left: 1.5em" in rows[3][0][0] and "padding" not in rows[2][0][0]
    assert ["right" in style for style, _ in rows[3]] == [False] + [True] * 5


def test_a_blank_line_parts_tables_and_stays_between_texts():
    table = "a   b\n1   x\n22  y"
    kinds = [
        kind
        for kind, _ in printed_tables()(
            f"{table}\n\n{table}\n\nfirst\n\nsecond\n{table}\nthird\n\nlast"
        )
    ]
    assert kinds == ["table", "table", "text", "table", "text"]
    assert printed_tables()("first\n\nsecond\n") == [("text", "first\n\nsecond")]


@pytest.mark.parametrize(
    "text",
    [
        "n =  5: found  3\nn = 10: found  7\nn = 20: found 11",
        "one    1.0  2\ntwo    2.0  3\nthree  3.0  4",
        "a      b c\n1      2 3\n4  5   6 7",
        "name  value\none   1",
        "[[ 1.   0.]\n [ 0.   1.]\n [ 0.   0.]]",
        "share of the seven:  [0.5  0.2]\nshare of the rest:   [0.1  0.2]\nshare of "
        "nobody:     [0.0  0.1]",
    ],
)
def test_lines_without_headings_stay_as_they_were_printed(text):
    assert printed_tables()(text) == [("text", text)]


def test_nothing_printed_is_lost_on_the_way_to_a_page():
    count = 0
    for name in notebooks:
        for _, _, outputs in cells(load(root / "nbs" / name)):
            for output in outputs or []:
                text = "".join(output.get("text", ""))
                shown = ""
                for kind, part in printed_tables()(text):
                    shown += (
                        html.unescape(re.sub("<[^>]*>", "", part))
                        if kind == "table"
                        else part
                    )
                    count += kind == "table"
                assert re.sub(r"\s", "", shown) == re.sub(r"\s", "", text)
    assert count >= 290


def test_chapters_offer_their_notebooks(tmp_path):
    (text,) = prepared(
        tmp_path, "05_x.ipynb", ["# Title {#sec-x}\n\nOpening."], ["markdown"]
    )
    assert re.match(r"# Title \{#sec-x\}\n\n```+\{=html\}\n", text)
    assert re.search(r"\n```+\s+Opening\.$", text)
    # there is no address yet
    assert '<a href="notebooks/05_x.ipynb" download>' in text and "colab" not in text
    assert (
        'pip install "fsel_book[book] @ ' in text and "jupyter lab 05_x.ipynb" in text
    )


# ---------------------------------------------------------------- make docs


@needs_make
def test_make_docs_says_that_quarto_is_missing(tmp_path):
    for name in ("make", "sh"):
        (tmp_path / name).symlink_to(shutil.which(name))
    environment = {**os.environ, "PATH": str(tmp_path)}
    done = subprocess.run(
        ["make", "docs"], cwd=root, env=environment, capture_output=True, text=True
    )
    assert done.returncode != 0
    assert "quarto" in done.stderr.splitlines()[0]
    assert len(done.stderr.splitlines()) <= 3


def test_a_picture_that_moves_stands_below_the_idea_of_its_chapter(tmp_path):
    stored = ["# T", "## 5.2 The idea\n\nText.", "## 5.3 Other\n\nText."]
    kinds = ["markdown"] * 3
    made = prepared(tmp_path, "05_sparsification.ipynb", stored, kinds)
    assert 'data-picture="barriers"' in made[1] and "<script>" in made[1]
    assert made[2] == stored[2]
    assert prepared(tmp_path, "10_dual_set.ipynb", stored, kinds)[1:] == stored[1:]


def test_search_finds_ideas_and_not_code(tmp_path):
    """What Quarto writes, with pages as it makes them."""
    page = """<html><body><nav>menu</nav><main>
<p>Opening words.</p>
<section id="idea"><h2>1 The idea</h2>
<p>Nyström takes <span class="math inline">\\(V\\)</span> and
<span class="math inline">\\(\\sqrt{\\ell/r}\\)</span> of one-hot columns.</p>
<details class="code-fold"><summary>helper</summary><pre>def helper(): pass</pre></details>
<pre>import numpy</pre>
<section id="inner"><h3>1.1 Inner</h3><p>Inside.</p></section>
</section></main></body></html>"""
    (tmp_path / "reference").mkdir()
    (tmp_path / "one.html").write_text(page, encoding="utf-8")
    about = '<main><section id="Thing"><p>Does it. And more.</p></section></main>'
    (tmp_path / "reference" / "two.html").write_text(about, encoding="utf-8")
    stored = [
        {"href": "reference/two.html#Thing", "title": "Two", "section": "Thing"},
        {"href": "one.html", "title": "One", "section": ""},
        {"href": "one.html#idea", "title": "One", "section": "1 The idea"},
        {"href": "one.html#inner", "title": "One", "section": "1.1 Inner"},
    ]
    index = [entry | {"text": "def helper(): pass", "crumbs": []} for entry in stored]
    (tmp_path / "search.json").write_text(json.dumps(index), encoding="utf-8")
    run(sys.executable, root / "tools/search.py", tmp_path, cwd=root)
    made = json.loads((tmp_path / "search.json").read_text(encoding="utf-8"))
    texts = {entry["href"]: entry["text"] for entry in made}
    assert "helper" not in str(texts) and "numpy" not in str(texts)
    assert texts["one.html"] == "Opening words."
    idea = texts["one.html#idea"]
    assert "Nyström takes V and … of one-hot columns." in idea
    assert "Nystrom" in idea and "categorical" in idea and "Inside" not in idea
    assert texts["one.html#inner"] == "1.1 Inner Inside."
    # the reference last, by a name that no chapter has, and by what it says first
    assert made[-1]["section"] == "Thing, in the reference: Two"
    assert made[-1]["text"] == "Does it"


def test_search_knows_what_stands_on_second_pages(tmp_path):
    page = """<html><body><main><section id="{0}"><h2>5.3 {0}</h2><p>{1}</p></section>
</main></body></html>"""
    for name, title, text in (
        ("05_t.html", "Theorem", "Stated."),
        ("05_t-details.html", "Theorem", "Proved by Sherman and Morrison."),
    ):
        (tmp_path / name).write_text(page.format(title, text), encoding="utf-8")
    stored = [
        {"href": "05_t.html", "title": "5 T", "section": "", "text": "", "crumbs": []},
        {
            "href": "05_t.html#Theorem",
            "title": "5 T",
            "section": "5.3 Theorem",
            "text": "",
            "crumbs": [],
        },
    ]
    (tmp_path / "search.json").write_text(json.dumps(stored), encoding="utf-8")
    run(sys.executable, root / "tools/search.py", tmp_path, cwd=root)
    made = json.loads((tmp_path / "search.json").read_text(encoding="utf-8"))
    (found,) = [entry for entry in made if "Sherman" in entry["text"]]
    assert found["href"] == "05_t-details.html#Theorem"
    assert (found["title"], found["section"]) == ("5 T", "5.3 Theorem")


PAGE = """<html><head><title>5 Thing – Book</title></head><body>
<nav id="TOC"><ul><li><a href="#problem">Problem</a></li>
<li><a href="#theory">Theory</a><ul><li><a href="#proof">Proof</a></li></ul></li>
<li><a href="#end">End</a></li></ul></nav>
<main><header id="title-block-header"><h1 class="title"><span
class="quarto-section-identifier" id="sec-thing"><span class="chapter-title">Thing</span>
</span></h1></header>
<p class="notebook-links"><a href="x.ipynb">Download</a></p>
<section id="problem"><h2>Problem</h2><p>Why? See <a href="#thm-x">the theorem</a> and <a
href="#lem-y">the lemma</a> of <a href="#ref-a" role="doc-biblioref">A</a>.</p></section>
<section id="theory"><h2>Theory</h2><div id="thm-x">True.</div>
<!-- page: details -->
<pre id="cb7"><span id="cb7-1">x = 1</span></pre>
<section id="proof"><h3>Proof</h3><p id="lem-y">By <a href="#ref-b"
role="doc-biblioref">B</a>, for <a href="#sec-thing">all</a>, from <a href="#thm-x">the theorem</a>.</p></section></section>
<section id="end"><h2>End</h2><p>More.</p>
<div id="refs"><div id="ref-a">A.</div><div id="ref-b">B.</div></div></section>
</main><div class="nav-page-previous"><a href="04_y.html">4 Y</a></div></body></html>"""


@pytest.fixture(scope="module")
def split_pages(tmp_path_factory):
    """A chapter in two pages, a page with links to it, and the index of the search."""
    folder = tmp_path_factory.mktemp("docs")
    (folder / "05_thing.html").write_text(PAGE, encoding="utf-8")
    (folder / "reference").mkdir()
    other = '<main><a href="../05_thing.html#lem-y">y</a> <a href="../05_thing.html#thm-x">x</a></main>'
    (folder / "reference" / "other.html").write_text(other, encoding="utf-8")
    index = [{"href": f"05_thing.html#{place}"} for place in ("theory", "proof")]
    (folder / "search.json").write_text(json.dumps(index), encoding="utf-8")
    run(sys.executable, root / "tools/split.py", folder, cwd=root)
    names = ("05_thing", "05_thing-details", "reference/other")
    pages = {
        name: BeautifulSoup((folder / f"{name}.html").read_text("utf-8"), "html.parser")
        for name in names
    }
    return pages | {"index": json.loads((folder / "search.json").read_text("utf-8"))}


def test_a_chapter_with_details_has_two_pages(split_pages):
    first, details = split_pages["05_thing"], split_pages["05_thing-details"]
    assert [h.text for h in first("h2")] == ["Problem", "Theory", "End"]
    assert [h.text for h in details(["h2", "h3"])] == ["Theory", "Proof", "End"]
    assert "True." in first.text and "True." not in details.text
    assert "More." in details.text and "More." not in first.text
    assert "proofs and details" in details.h1.text and "5 Thing" in first.title.text
    assert details.select_one("#sec-thing") is None
    second = first.select_one(".second-page")
    assert second.a["href"] == "05_thing-details.html" and "Theory" in second.text
    assert {a["href"]: a.text for a in second.select("span a")} == {
        f"05_thing-details.html#{h.parent['id']}": h.text
        for h in details.select("main > section > h2")
    }
    assert [a["href"] for a in first.select("#TOC a")] == [
        "#problem",
        "#theory",
        "#end",
    ]
    assert [a["href"] for a in details.select("#TOC a")] == [
        "#theory",
        "#proof",
        "#end",
    ]
    assert details.select_one(".nav-page-previous a")["href"] == "05_thing.html"
    # each with the works that it cites
    assert [w["id"] for w in first.select("#refs > *")] == ["ref-a"]
    assert [w["id"] for w in details.select("#refs > *")] == ["ref-b"]


def test_old_addresses_lead_to_the_second_page(split_pages):
    """Those of what has a name; a list of all lines of code was a third of a page."""
    script = split_pages["05_thing"].main.find_all("script")[-1].text
    homes = json.loads(re.search(r"homes = ({.*?})", script)[1])
    second = "05_thing-details.html"
    assert homes == dict.fromkeys(["lem-y", "proof", "ref-b"], second)


def test_a_page_that_cites_nothing_has_no_heading_for_works(tmp_path):
    cited = '<a href="#ref-a" role="doc-biblioref">A</a>'
    assert cited in PAGE
    (tmp_path / "05_thing.html").write_text(PAGE.replace(cited, "A"), encoding="utf-8")
    (tmp_path / "search.json").write_text("[]", encoding="utf-8")
    run(sys.executable, root / "tools/split.py", tmp_path, cwd=root)
    text = (tmp_path / "05_thing.html").read_text("utf-8")
    first = BeautifulSoup(text, "html.parser")
    assert [h.text for h in first("h2")] == ["Problem", "Theory"]
    assert [a["href"] for a in first.select("#TOC a")] == ["#problem", "#theory"]


def test_links_lead_to_the_page_where_a_thing_is_now(split_pages):
    def links(name):
        return [a["href"] for a in split_pages[name].main("a")]

    assert {"#thm-x", "05_thing-details.html#lem-y"} <= {*links("05_thing")}
    assert {"05_thing.html#thm-x", "05_thing.html#sec-thing"} <= {
        *links("05_thing-details")
    }
    assert links("reference/other") == [
        "../05_thing-details.html#lem-y",
        "../05_thing.html#thm-x",
    ]
    assert [entry["href"] for entry in split_pages["index"]] == [
        "05_thing.html#theory",
        "05_thing-details.html#proof",
    ]
    # an address from before goes on to the second page
    assert '"lem-y": "05_thing-details.html"' in str(split_pages["05_thing"])


def test_a_class_of_the_reference_has_a_page_of_its_own(tmp_path):
    page = """<main><h1 class="title">Things</h1><p>All.</p>
<!-- page: Thing --><section id="Thing"><h2>Thing</h2><p>One, see <a
href="#other">other</a>.</p></section>
<!-- page: first --><section id="other"><h2>other</h2><p>A function.</p></section></main>"""
    (tmp_path / "things.html").write_text(page, encoding="utf-8")
    (tmp_path / "search.json").write_text('[{"href": "things.html#Thing"}]', "utf-8")
    run(sys.executable, root / "tools/split.py", tmp_path, cwd=root)
    first, own = (
        BeautifulSoup((tmp_path / f"{name}.html").read_text("utf-8"), "html.parser")
        for name in ("things", "Thing")
    )
    assert "One" not in first.text and "A function." in first.text
    assert own.h1.text == "Thing" and own.h2 is None and own.select_one("#Thing")
    assert own.select_one("section a")["href"] == "things.html#other"
    assert "Thing.html#Thing" in (tmp_path / "search.json").read_text("utf-8")


def test_cells_for_the_second_page_are_marked_for_it(tmp_path):
    kinds = ["markdown", "markdown", "markdown", "code", "markdown"]
    texts = ['# 5. T <a id="sec-t"></a>', "First.", "Proof.", "x = 1", "Last."]
    book = {
        "cells": [
            {"cell_type": kind, "id": str(place), "metadata": {}, "source": [text]}
            for place, (kind, text) in enumerate(zip(kinds, texts))
        ]
    }
    for place in (2, 3):
        book["cells"][place]["metadata"] = {"tags": ["details"]}
    (tmp_path / "05_t.ipynb").write_text(json.dumps(book), encoding="utf-8")
    run(sys.executable, root / "tools/quarto.py", tmp_path, cwd=root)
    made = "\n".join(
        "".join(cell["source"]) for cell in load(tmp_path / "05_t.ipynb")["cells"]
    )
    told = re.findall(r"page: \w+|First|Proof|x = 1|Last", made)
    assert told == ["First", "page: details", "Proof", "x = 1", "page: first", "Last"]


def test_style_sheets_keep_what_pages_need_and_scripts_wait(tmp_path):
    page = '<html><head><script src="a.js"></script><script>1</script></head><body class="used"><p id="p-1">Deep</p></body></html>'
    (tmp_path / "05_deep.html").write_text(page, encoding="utf-8")
    (tmp_path / "a.js").write_text("x.classList.add('later')", encoding="utf-8")
    (tmp_path / "a.css").write_text(
        ".used,.gone{a:b}.gone{a:b}.later:not(.gone)>p{c:d}p{e:f}"
        "@media print{.gone{g:h}#p-1{i:j}}@media screen{.gone{k:l}}"
        "@font-face{src:url(x.woff)}",
        encoding="utf-8",
    )
    run(sys.executable, root / "tools/finish.py", tmp_path, cwd=root)
    style = (tmp_path / "a.css").read_text(encoding="utf-8")
    assert ".used{a:b}" in style and ".later:not(.gone)>p{c:d}" in style
    assert "p{e:f}" in style and "#p-1{i:j}" in style and "x.woff" in style
    assert ".gone{" not in style and "screen" not in style
    made = (tmp_path / "05_deep.html").read_text(encoding="utf-8")
    assert '<script defer src="a.js">' in made and "<script>1" in made
    lost = (tmp_path / "404.html").read_text(encoding="utf-8")
    assert "There is no such page" in lost and '"deep": "05_deep.html"' in lost


@pytest.mark.parametrize(
    "panels, cut",
    [
        ([(30, 370), (400, 760)], True),  # two, with a gap
        ([(20, 260), (280, 510), (530, 760)], True),  # three
        ([(30, 760)], False),  # one
        ([(30, 100), (130, 760)], False),  # names of rows, and one panel
        ([(30, 350), (353, 760)], False),  # no more than letters are apart
    ],
)
def test_panels_stand_below_each_other_on_phones(tmp_path, panels, cut):
    picture = Image.new("RGB", (1560, 600), "white")
    for start, end in panels:
        picture.paste((40, 90, 160), (2 * start, 40, 2 * end, 560))
    picture.save(tmp_path / "a.png")
    tag = '<img alt="Two" class="figure-img" height="300" src="a.png" width="780"/>'
    (tmp_path / "05_a.html").write_text(
        f"<html><head></head><body>{tag}</body></html>", encoding="utf-8"
    )
    run(sys.executable, root / "tools/finish.py", tmp_path, cwd=root)
    made = (tmp_path / "05_a.html").read_text(encoding="utf-8")
    pieces = re.findall(
        r"max-width:(\d+)px.*?width:([\d.]+)%;margin-left:(-?[\d.]+)%", made
    )
    assert len(pieces) == (len(panels) if cut else 0)
    place = 0.0  # each piece begins where the one before ends, inside a gap
    for (width, shown, left), (start, end) in zip(pieces, panels):
        assert abs(-float(left) / float(shown) * 780 - place) < 1
        assert abs(780 * 100 / float(shown) - float(width)) < 1
        assert place < start and end < place + float(width)
        place += float(width)
    assert made.count('alt="Two"') == (2 if cut else 1)


def test_lists_in_docstrings_stay_lists():
    description = importlib.import_module("reference").entries(
        "rule : str\n    Which one is\n    taken.\n\n    - one:\n      the first;\n    - two."
        "\n\n    More of it.\nnext : int"
    )
    assert description[0][2] == (
        "Which one is taken.\n\n- one: the first;\n- two.\n\nMore of it."
    )
    assert description[1] == (["next"], "int", "")
