"""The words in which the notebooks are written: plain Markdown that every viewer shows,
with numbers that tools/renumber.py keeps, and what tools/quarto.py makes of it.
"""

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

root = Path(__file__).resolve().parent.parent
sys.path.append(str(root / "tools"))
book = importlib.import_module("book")
renumber = importlib.import_module("renumber")
quarto = importlib.import_module("quarto")

literature = book.works()
notebooks = {
    path.name: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((root / "nbs").glob("*.ipynb"))
}
every_notebook = pytest.mark.parametrize("name", list(notebooks))


def texts(name):
    """The cells of text of a notebook."""
    return [
        "".join(cell["source"])
        for cell in notebooks[name]["cells"]
        if cell["cell_type"] == "markdown"
    ]


def without_code(text):
    return "".join(book.outside_code(text)[::2])


# ---------------------------------------------------------------- the notebooks


def test_numbers_links_and_lists_of_works_are_up_to_date():
    command = [sys.executable, "tools/renumber.py", "--check"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


# What only Quarto and Pandoc read: fences, attributes, references and citations.
FOREIGN = re.compile(r"^:::.*|\{[#.][\w-]+|(?<![\w@.])@[a-z][\w-]*", re.MULTILINE)


@every_notebook
def test_text_has_no_words_that_only_quarto_reads(name):
    for text in texts(name):
        found = FOREIGN.findall(without_code(text))
        # the name of a decorator, in mathematics, is none of these
        assert not found, f"{name}: {found} in {text[:80]!r}"


@every_notebook
def test_what_cells_write_has_none_of_them_either(name):
    for cell in notebooks[name]["cells"]:
        for output in cell.get("outputs", []):
            text = "".join(output.get("data", {}).get("text/markdown", []))
            assert not FOREIGN.findall(without_code(text)), (name, cell["id"])


def test_foreign_words_are_found():
    for text in ("::: {.proof}", "# A {#sec-a}", "by @thm-a", "[@bss2012]", "[x]{.y}"):
        assert FOREIGN.search(text), text
    assert not FOREIGN.search("me@host.org, \\mathbb{R}")


@every_notebook
def test_code_begins_with_no_directive_but_what_nbdev_exports_by(name):
    *cells, last = notebooks[name]["cells"]
    for cell in cells:
        if cell["cell_type"] == "code":
            found = re.findall(r"^#\|.*", "".join(cell["source"]), flags=re.MULTILINE)
            assert {*found} <= {"#| export", "#| exports"}, found
    directives = re.findall(r"^#\|.*", "".join(last["source"]), flags=re.MULTILINE)
    assert not directives or re.fullmatch(r"#\| default_exp [\w.]+", directives[0])


def test_docstrings_name_theorems_in_words():
    for path in sorted((root / "fsel_book").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert not re.findall(r"(?<!\w)@(?:thm|lem|prp|cor|def|eq|sec)-[\w-]+", text), (
            path
        )


@every_notebook
def test_every_link_within_the_book_leads_to_something(name):
    anchors = {
        other: {
            *re.findall(r'<a id="([\w-]+)"></a>', "\n".join(texts(other))),
        }
        for other in notebooks
    }
    for text in texts(name):
        for where, label in re.findall(
            r"\]\((\w+\.ipynb)?#([\w-]+)\)", without_code(text)
        ):
            assert label in anchors[where or name], f"{name}: {where}#{label}"


@every_notebook
def test_a_figure_stands_above_its_caption(name):
    cells = notebooks[name]["cells"]
    for above, cell in zip([None, *cells], cells):
        match = book.CAPTION.match("".join(cell["source"]))
        if match and match[1].startswith("fig-"):
            assert above["metadata"]["figure"]["label"] == match[1]
            # the page takes the whole cell for the caption
            assert "\n\n" not in "".join(cell["source"]).strip(), match[1]
        figure = (above or {}).get("metadata", {}).get("figure")
        if figure:
            assert match and match[1] == figure["label"], figure["label"]


@every_notebook
def test_displays_in_quotations_are_on_one_line(name):
    """A viewer takes formulas out before it reads the rest, `>` and all."""
    for text in texts(name):
        for line in text.split("\n"):
            if line.startswith(">"):
                assert line.count("$$") % 2 == 0, f"{name}: {line[:80]}"


@every_notebook
def test_solutions_are_folded(name):
    for cell in notebooks[name]["cells"]:
        if book.SOLUTION in book.tags(cell) and cell["cell_type"] == "code":
            folds = cell["metadata"]["jupyter"]
            assert folds["source_hidden"], cell["id"]
            # what a solution prints gives the answer away too
            assert folds.get("outputs_hidden") or not cell["outputs"], cell["id"]
    joined = "\n".join(texts(name))
    assert not re.search(r"^#+ .*\bSolution \d", joined, flags=re.MULTILINE)
    assert joined.count("<details>") == joined.count("</details>")


@every_notebook
def test_a_notebook_can_be_made_into_a_page(name):
    quarto.converted(notebooks[name], name.removesuffix(".ipynb"))


@every_notebook
def test_words_that_lead_to_what_moves_leave_with_it(name):
    """On the site, where nothing moves, "drag this" would lead to nothing."""
    cells = notebooks[name]["cells"]
    for above, cell in zip([None, *cells], cells):
        if book.LIVE in book.tags(cell) and cell["cell_type"] == "code":
            assert book.LIVE in book.tags(above), cell["id"]


@every_notebook
def test_a_fold_says_what_is_behind_it(name):
    for cell in notebooks[name]["cells"]:
        if cell["metadata"].get("jupyter", {}).get("source_hidden"):
            assert "".join(cell["source"]).lstrip().startswith("#"), cell["id"]


# ---------------------------------------------------------------- numbers


def cell(text, kind="markdown", **metadata):
    found = {
        "cell_type": kind,
        "id": f"{abs(hash(text)) % 16**8:08x}",
        "metadata": metadata,
        "source": text.splitlines(keepends=True),
    }
    return found | ({"outputs": []} if kind == "code" else {})


def renumbered(**pages):
    """The texts of the cells of small notebooks, by name, with their numbers."""
    books = {}
    for name, cells in pages.items():
        number = re.match(r"c(\d+)|([A-Z])$", name)
        chapter = book.Chapter(
            Path(f"{name}.ipynb"), (number[1] or number[2]) if number else ""
        )
        books[chapter] = {"cells": [cell(text) for text in cells]}
    renumber.renumbered(books, literature)
    return {
        chapter.path.stem: ["".join(one["source"]) for one in made["cells"]]
        for chapter, made in books.items()
    }


def test_headings_are_numbered_by_chapter_and_depth():
    made = renumbered(
        c3=["# T", "## A\n\n### B\n\n### C", "## 9.9 D\n\n### E\n\n```\n# no\n```"],
        A=["# Z. T", "## B"],
        page=["# T", "## A"],
    )
    lines = [
        line for text in made["c3"] for line in text.split("\n") if line.startswith("#")
    ]
    assert lines == [
        "# 3. T", "## 3.1 A", "### 3.1.1 B", "### 3.1.2 C", "## 3.2 D", "### 3.2.1 E",
        "# no",
    ]  # fmt: skip
    assert made["A"] == ["# A. T", "## A.1 B"]
    assert made["page"] == ["# T", "## A"]


def test_each_kind_is_counted_by_itself_and_links_follow():
    made = renumbered(
        c1=[
            '# T <a id="sec-t"></a>\n\nsee [Theorem ?](#thm-b), [Equation 7.7](#eq-x), '
            "[Section 1](#sec-s), [Chapter 1](#sec-a), [my words](c2.ipynb#thm-b)",
            '> <a id="thm-a"></a>**Theorem ? (One).** Text.',
            '> <a id="lem-a"></a>**Lemma ?.** Text.\n> <a id="eq-x"></a>\n> $$ a \\tag{?} $$',
            '<a id="eq-y"></a>\n$$ \\begin{aligned}\na\n\\end{aligned} \\tag{5} $$',
            '<a id="fig-a"></a>**Figure ?.** A picture.',
        ],
        c2=[
            '# T\n\n## S <a id="sec-s"></a>',
            '> <a id="thm-c"></a>**Theorem 1.1.** Text.',
            '> <a id="thm-b"></a>**Theorem 1.1.** [Theorem ?](#thm-a)',
            '| a |\n|---|\n\n<a id="tbl-a"></a>**Table ?.** A table.',
        ],
        A=['# T <a id="sec-a"></a>'],
    )
    assert made["c1"][0].endswith(
        "see [Theorem 2.2](c2.ipynb#thm-b), [Equation 1.1](#eq-x), "
        "[Section 2.1](c2.ipynb#sec-s), [Appendix A](A.ipynb#sec-a), "
        "[my words](c2.ipynb#thm-b)"
    )
    assert made["c1"][1].endswith("**Theorem 1.1 (One).** Text.")
    assert "**Lemma 1.1.**" in made["c1"][2] and "\\tag{1.1} $$" in made["c1"][2]
    assert "\\tag{1.2} $$" in made["c1"][3]
    assert made["c1"][4].endswith("**Figure 1.1.** A picture.")
    assert made["c2"][2].endswith("**Theorem 2.2.** [Theorem 1.1](c1.ipynb#thm-a)")
    assert made["c2"][3].endswith("**Table 2.1.** A table.")


def test_links_that_code_writes_follow_too():
    def page(word):
        return {
            "c1": [
                cell("# T"),
                cell(f'"[{word}](c9.ipynb#fig-a)"\n', "code")
                | {"outputs": [{"data": {"text/markdown": [f"| [{word}](#fig-a) |"]}}]},
            ],
            "c2": [cell('<a id="fig-a"></a>**Figure ?.** A picture.')],
        }

    books = {
        book.Chapter(Path(f"{name}.ipynb"), name[1:]): {"cells": cells}
        for name, cells in page("Figure 7.7").items()
    }
    renumber.renumbered(books, literature)
    made = next(iter(books.values()))["cells"][1]
    assert made["source"] == ['"[Figure 2.1](c2.ipynb#fig-a)"\n']
    (output,) = made["outputs"]
    assert output["data"]["text/markdown"] == ["| [Figure 2.1](c2.ipynb#fig-a) |"]


WRITTEN = re.compile(r"\[[^][]*\]\((?:\w+\.ipynb|#)[^)]*\)")


def test_links_that_code_writes_with_a_number_are_kept_up_to_date():
    """That is, their words are the number alone, and they lead to an anchor."""
    numbers = re.compile(
        rf"(?i:chapter|appendix|section|{'|'.join(book.KINDS.values())}) {book.NUMBER}"
    )
    seen = 0
    for name, notebook in notebooks.items():
        for one in notebook["cells"]:
            if one["cell_type"] == "code":
                for link in WRITTEN.findall("".join(one["source"])):
                    if numbers.search(link):
                        assert book.LINK.fullmatch(link), (name, one["id"], link)
                        seen += 1
    assert seen


def test_numbers_stand_still_once_they_are_right():
    pages = {
        "c1": ["# T\n\n[Theorem ?](#thm-a)", '> <a id="thm-a"></a>**Theorem ?.** T.']
    }
    once = renumbered(**pages)
    assert renumbered(**once) == once


def test_what_leads_nowhere_or_stands_twice_is_an_error():
    with pytest.raises(ValueError, match="c1.ipynb refers to thm-a, which is nowhere"):
        renumbered(c1=["# T\n\n[Theorem ?](#thm-a)"])
    twice = '> <a id="thm-a"></a>**Theorem ?.** T.'
    with pytest.raises(ValueError, match="thm-a is in c1.ipynb and in c2.ipynb"):
        renumbered(c1=["# T", twice], c2=["# T", twice])
    with pytest.raises(ValueError, match="nobody2020 is cited"):
        renumbered(c1=["# T\n\n[N (2020)](#ref-nobody2020)"])


def test_works_are_listed_where_they_are_cited():
    made = renumbered(
        c1=["# T\n\n([Batson et al. 2012](#ref-bss2012)), [K (2003)](#ref-paul2015svm)"]
    )
    lines = made["c1"][1].split("\n")
    assert lines[0] == "**Works cited**"
    assert [re.search('id="ref-(.*?)"', line)[1] for line in lines[2:]] == [
        "bss2012",
        "paul2015svm",
    ]
    assert "<https://doi.org/10.1137/090772873>" in lines[2]


def test_the_five_papers_are_in_the_literature():
    five = ["paul2015svm", "paul2016ridge", "boutsidis2011sparse", "zhang2013dual"]
    assert {*five, "dasgupta2019risk"} <= literature.keys()
    assert all(
        {"author", "title", "year"} <= work.fields.keys()
        for work in literature.values()
    )
    for work in literature.values():
        assert not re.search(r"[{}\\]", re.sub(r"\$.*?\$", "", work.listed())), work.key


def test_authors_and_accents_are_read():
    assert literature["bss2012"].short == "Batson et al."
    assert literature["paul2016ridge"].short == "Paul and Drineas"
    assert literature["civril2009"].families[0] == "Çivril"
    assert (
        book.unbraced("Ga{\\\"e}l {\\'E}d {\\v{s}} 1--2 {SVM}") == "Gaël Éd š 1–2 SVM"
    )


# ---------------------------------------------------------------- for Quarto

FORMS = {
    "heading": ('# 5. A $x$ <a id="sec-a"></a>', "# A $x$ {#sec-a}"),
    "section": ("## 5.1 B", "## B"),
    "statement": (
        '> <a id="thm-a"></a>**Theorem 5.1 (On $x$).** Let\n> $$ a $$\n>\n> - b\n\nText',
        "::: {#thm-a}\n## On $x$\nLet\n$$ a $$\n\n- b\n:::\n\nText",
    ),
    "statement without a name": (
        '> <a id="cor-a"></a>**Corollary 5.1.**\n>\n> 1. one',
        "::: {#cor-a}\n1. one\n:::",
    ),
    "quotation": ("> words\n> more", "> words\n> more"),
    "proof": ("*Proof.* A.\n\nB. ∎\n\nC", "::: {.proof}\nA.\n\nB.\n:::\n\nC"),
    "proof that ends in a display": (
        "*Proof.*\n$$ a $$\n\n∎",
        "::: {.proof}\n$$ a $$\n:::",
    ),
    "equation": (
        'so\n<a id="eq-a"></a>\n$$ a\n+ b \\tag{5.1} $$\nnow',
        "so\n$$ a\n+ b $$ {#eq-a}\nnow",
    ),
    "equation in a statement": (
        '> <a id="lem-a"></a>**Lemma 5.1.** Let\n> <a id="eq-a"></a>\n> $$ a \\tag{5.1} $$',
        "::: {#lem-a}\nLet\n$$ a $$ {#eq-a}\n:::",
    ),
    "table": (
        '| a |\n|---|\n| b |\n\n<a id="tbl-a"></a>**Table 5.1.** Words.',
        "| a |\n|---|\n| b |\n\n: Words. {#tbl-a}",
    ),
    "solution": (
        "<details><summary>Solution 1</summary>\n\nA\n\n</details>",
        '::: {.callout-note collapse="true"}\n## Solution 1\n\nA\n:::',
    ),
    "links": (
        "[Theorem 5.1](#thm-a), [Section 6.2](06_b.ipynb#sec-b), [words](#sec-c)",
        "@thm-a, @sec-b, [words](#sec-c)",
    ),
    "code": ("`[Theorem 5.1](#thm-a)`", "`[Theorem 5.1](#thm-a)`"),
    "citation": ("([Batson et al. 2012](#ref-bss2012))", "[@bss2012]"),
    "citation of a place": (
        "([Batson et al. 2012](#ref-bss2012), Theorem 3 (a))",
        "[@bss2012, Theorem 3 (a)]",
    ),
    "citations": (
        "([A 2012](#ref-bss2012), p. 1; [B 2015](#ref-paul2015svm))",
        "[@bss2012, p. 1; @paul2015svm]",
    ),
    "citation after the names": ("([2012](#ref-bss2012))", "[-@bss2012]"),
    "citation in a sentence": ("[Batson et al. (2012)](#ref-bss2012)", "@bss2012"),
    "citation of a place in a sentence": (
        "[Batson et al. (2012, section 6)](#ref-bss2012)",
        "@bss2012 [section 6]",
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_quarto_gets_to_read(form):
    text, expected = FORMS[form]
    assert quarto.markdown(text) == expected


def test_a_page_without_numbers_says_so_and_begins_with_a_comment():
    link = "[Chapter 5](05_b.ipynb#sec-b)"
    cells = [cell("# T"), cell(f"## A\n\n{link}")]
    made = quarto.converted({"cells": cells}, "index")["cells"]
    sources = ["".join(one["source"]) for one in made]
    assert sources == [
        "<!-- -->\n\n# T {.unnumbered}",
        f"## A {{.unnumbered}}\n\n{link}",
    ]


def test_metadata_and_captions_become_directives():
    cells = [
        cell("import a", "code", tags=["remove-cell"]),
        cell("live(draw)", "code", tags=["live"]),
        cell("plot()", "code", figure={"label": "fig-a", "alt": 'Two "dots"'}),
        cell('<a id="fig-a"></a>**Figure 5.1.** By [Theorem 5.1](#thm-a).'),
        cell("x = 1", "code", jupyter={"source_hidden": True}, summary="A number"),
    ]
    made = quarto.converted({"cells": cells}, "05_a")["cells"]
    assert ["".join(one["source"]) for one in made] == [
        '#| label: fig-a\n#| fig-cap: "By @thm-a."\n#| fig-alt: "Two \\"dots\\""\nplot()',
        '#| code-fold: true\n#| code-summary: "A number"\nx = 1',
    ]


def test_a_figure_without_its_caption_is_an_error():
    cells = [
        cell("plot()", "code", figure={"label": "fig-a", "alt": "Dots"}),
        cell("T"),
    ]
    with pytest.raises(ValueError, match="fig-a has no caption in the cell below"):
        quarto.converted({"cells": cells}, "05_a")


def test_code_of_a_solution_without_text_above_it_is_an_error():
    hidden = {"source_hidden": True}
    cells = [cell("T"), cell("x = 1", "code", tags=["solution"], jupyter=hidden)]
    with pytest.raises(ValueError, match="below the text of it"):
        quarto.converted({"cells": cells}, "05_a")


def test_a_solution_holds_its_code():
    fold = "<details><summary>Solution 1</summary>\n\nA\n\n</details>"
    more = "<details><summary>Solution, continued</summary>\n\nB\n\n</details>"
    hidden = {"source_hidden": True}
    cells = [
        cell(fold),
        cell("x = 1", "code", tags=["solution"], jupyter=hidden),
        cell(more, tags=["solution"]),
        cell(fold),
        cell("T"),
    ]
    made = quarto.converted({"cells": cells}, "05_a")["cells"]
    head = '::: {.callout-note collapse="true"}\n## Solution 1\n\nA'
    assert ["".join(one["source"]) for one in made] == [
        head, "#| code-fold: true\nx = 1", "B", ":::", head + "\n:::", "T",
    ]  # fmt: skip
    assert len({one["id"] for one in made[:4]}) == 4
