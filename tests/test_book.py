"""The book itself: modules in step with notebooks, chapters in order, notebooks clean,
everything documented.
"""

import ast
import difflib
import doctest
import importlib
import importlib.util
import inspect
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from sklearn.base import BaseEstimator

import fsel_book
from fsel_book import CertifiedSelector, datasets, experiments, loaders

root = Path(__file__).resolve().parent.parent
notebooks = sorted((root / "nbs").glob("*.ipynb"))
cells = {
    path.name: json.loads(path.read_text(encoding="utf-8"))["cells"]
    for path in notebooks
}
sources = {name: ["".join(cell["source"]) for cell in cells[name]] for name in cells}
chapters = [name for name in cells if re.match(r"\d\d_", name)]
appendices = [name for name in cells if re.match(r"[A-Z]_", name)]
papers = [name for name in chapters if name.endswith("_paper.ipynb")]
# what Quarto's cross-references are called
label = r"(?:thm|lem|def|cor|prp|exr|eq|fig|sec|tbl)-[\w-]+"
every_notebook = pytest.mark.parametrize("name", list(cells))


def module_of(name):
    """The module that a notebook exports, or None."""
    found = re.search(
        r"^#\|\s*default_exp\s+(\S+)", "\n".join(sources[name]), flags=re.MULTILINE
    )
    return found and found.group(1)


modules = [module_of(name) for name in cells if module_of(name)]
every_module = pytest.mark.parametrize("module", modules)


def code_cells(name):
    """Pairs of position and source of a notebook's code cells."""
    return [
        (i, source)
        for i, source in enumerate(sources[name])
        if cells[name][i]["cell_type"] == "code"
    ]


def without_magics(source):
    """A cell's source without IPython's own lines, so that Python can parse it."""
    return re.sub(r"^\s*(%{1,2}[a-z]|!(?!=)).*$", "", source, flags=re.MULTILINE)


def report(problems, hint=""):
    """Fail with all the problems at once, one a line."""
    if problems:
        pytest.fail("\n".join([*problems, hint]), pytrace=False)


def outputs_text(cell):
    """All the text among a code cell's outputs, pictures left out."""
    for output in cell.get("outputs", []):
        yield "".join(output.get("text", []))
        for kind, data in output.get("data", {}).items():
            if kind.startswith("text/"):
                yield re.sub(r"base64,[\w+/=\s]+", "", "".join(data))


# ---------------------------------------------------------------- exported modules


def test_modules_are_in_step_with_the_notebooks(tmp_path):
    for name in ("settings.ini", "pyproject.toml"):
        shutil.copy(root / name, tmp_path)
    shutil.copytree(root / "nbs", tmp_path / "nbs", ignore=shutil.ignore_patterns(".*"))
    (tmp_path / "fsel_book").mkdir()
    shutil.copy(root / "fsel_book" / "__init__.py", tmp_path / "fsel_book")
    export = (
        "from nbdev.doclinks import nbdev_export; nbdev_export(procs='black_format')"
    )
    done = subprocess.run(
        [sys.executable, "-c", export], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr

    stored = {
        path.name: path.read_text(encoding="utf-8")
        for path in (root / "fsel_book").glob("*.py")
    }
    fresh = {
        path.name: path.read_text(encoding="utf-8")
        for path in (tmp_path / "fsel_book").glob("*.py")
    }
    diff = [
        line
        for name in sorted(stored.keys() | fresh.keys())
        for line in difflib.unified_diff(
            stored.get(name, "").splitlines(),
            fresh.get(name, "").splitlines(),
            f"fsel_book/{name} as stored",
            f"fsel_book/{name} as the notebooks export it",
            lineterm="",
            n=1,
        )
    ]
    report(diff[:60], "Run nbdev_export; fsel_book/ is never edited by hand.")


def modules_of_names():
    """Which module each name comes from that the package itself offers, read off its
    __init__.py.
    """
    tree = ast.parse((root / "fsel_book" / "__init__.py").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {
        alias.asname or alias.name: node.module.split(".")[1]
        for node in imports
        for alias in node.names
    }


def fsel_book_imports(source):
    """The package's modules that a piece of code uses; "fsel_book" where it imports the
    package whole.
    """
    offered = modules_of_names()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            path = "." * node.level + (node.module or "")
            if path in ("fsel_book", "."):
                names = [
                    alias.name for alias in node.names if alias.name != "__version__"
                ]
                yield from (
                    "fsel_book" if name == "*" else offered.get(name, name)
                    for name in names
                )
            elif re.match(r"fsel_book\.|\.", path):
                yield path.removeprefix("fsel_book").removeprefix(".").split(".")[0]
        elif isinstance(node, ast.Import):
            paths = [alias.name.split(".") for alias in node.names]
            yield from (
                path[min(1, len(path) - 1)] for path in paths if path[0] == "fsel_book"
            )


@pytest.mark.parametrize(
    ("source", "modules"),
    [
        ("from fsel_book.arrays import to_numpy", {"arrays"}),
        ("from .arrays import to_numpy", {"arrays"}),
        (
            "def f():\n    from fsel_book import BSSSelector, row_space",
            {"sparsification", "spectra"},
        ),
        ("from . import sparsification", {"sparsification"}),
        ("from fsel_book import leverage", {"leverage"}),
        ("from fsel_book import __version__", set()),
        ("from fsel_book import *", {"fsel_book"}),
        ("import fsel_book as f, numpy", {"fsel_book"}),
        ("import fsel_book.sparsification", {"sparsification"}),
        ("import fsel_bookkeeping\nfrom . import arrays", {"arrays"}),
    ],
)
def test_how_imports_are_read(source, modules):
    assert set(fsel_book_imports(source)) == modules


# The order of dependency is that of the chapters; an appendix, read last, stands before
# the chapter named here.
FIRST_NEEDED = {
    "A_loaders.ipynb": "03_spectra.ipynb",
    "B_experiments.ipynb": "20_ridge_paper.ipynb",
    "C_dual_solvers.ipynb": "14_dual_projection.ipynb",
    "D_linear_programs.ipynb": "12_svm.ipynb",
    "E_blocks.ipynb": "04_certificates.ipynb",
    "F_consistency.ipynb": "18_risk_rfe.ipynb",
}
ALL_PAPERS = "29_tables_and_figures.ipynb"
dependency_order = [
    name
    for chapter in chapters
    for name in [*(a for a in appendices if FIRST_NEEDED[a] == chapter), chapter]
]


@pytest.mark.parametrize("name", dependency_order)
def test_a_chapter_imports_only_from_chapters_before_it(name):
    """In its code, by whatever road: a name of the package counts as its module, and
    the package whole as all of them.

    No paper's notebook imports another's; only the one that sets the figures of all
    papers side by side reads them. Examples in docstrings are exempt: they are for
    those who look something up, and use what serves best.
    """
    order = dependency_order[: dependency_order.index(name) + 1]
    readable = [
        other
        for other in order
        if other == name or other not in papers or name == ALL_PAPERS
    ]
    before = {module_of(other) for other in readable} - {None}
    code = [without_magics(source) for _, source in code_cells(name)]
    if module_of(name):
        code.append(
            (root / "fsel_book" / f"{module_of(name)}.py").read_text(encoding="utf-8")
        )
    later = {module for source in code for module in fsel_book_imports(source)} - before
    assert not later, f"{name} imports {sorted(later)}, which it may not"


def test_each_name_is_defined_in_one_module():
    homes = {}
    for path in (root / "fsel_book").glob("[a-z]*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            targets = (
                node.targets
                if isinstance(node, ast.Assign)
                else [getattr(node, "target", node)]
            )
            names = {
                getattr(target, "id", getattr(target, "name", "__all__"))
                for target in targets
            } - {"__all__"}
            for name in names:
                homes.setdefault(name, []).append(path.stem)
    assert not {name: modules for name, modules in homes.items() if len(modules) > 1}


@pytest.mark.parametrize(
    "path", sorted((root / "fsel_book").glob("[a-z]*.py")), ids=lambda path: path.stem
)
def test_every_module_has_a_file_of_tests(path):
    assert (root / "tests" / f"test_{path.stem}.py").exists()


def test_contributing_draws_who_needs_whom():
    spec = importlib.util.spec_from_file_location("imports", root / "tools/imports.py")
    imports = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(imports)
    assert imports.diagram() in (root / "CONTRIBUTING.md").read_text(
        encoding="utf-8"
    ), "run make sync"


def test_every_appendix_has_its_place_in_the_order():
    assert sorted(dependency_order) == sorted([*chapters, *appendices])


# ---------------------------------------------------------------- notebooks


@every_notebook
def test_notebook_is_clean(name):
    book = json.loads((root / "nbs" / name).read_text(encoding="utf-8"))
    assert book["metadata"] == {
        "kernelspec": {
            "display_name": "python3",
            "language": "python",
            "name": "python3",
        }
    }
    problems = []
    for i, cell in enumerate(book["cells"]):
        outputs = cell.get("outputs", [])
        if not set(cell["metadata"]) <= {"tags"}:
            problems.append(f"cell {i} has metadata {sorted(cell['metadata'])}")
        if any(part.get("execution_count") is not None for part in [cell, *outputs]):
            problems.append(f"cell {i} has an execution count")
        if any(output["output_type"] == "error" for output in outputs):
            problems.append(f"cell {i} is stored with an error")
    report(problems, "nbdev_clean removes metadata and counts")


@every_notebook
def test_outputs_hold_no_paths_of_the_machine_they_came_from(name):
    path = re.compile(
        r"/(?:home|root|Users|work|tmp|var/folders)/\S*|[A-Z]:\\\S+|\S*site-packages\S*"
    )
    shown = [
        (i, path.findall(text))
        for i, cell in enumerate(cells[name])
        for text in outputs_text(cell)
    ]
    report([f"cell {i} shows {found[0]}" for i, found in shown if found])


@every_notebook
def test_cells_with_figures_are_stored_with_them(name):
    problems = []
    for i, source in code_cells(name):
        draws = re.search(r"\.(subplots|figure|plot|imshow|scatter|hist|bar)\(", source)
        if draws and not re.search(
            r"#\|\s*exports?\b|plt\.close\(|^\s*def ", source, flags=re.MULTILINE
        ):
            kinds = {
                kind
                for output in cells[name][i].get("outputs", [])
                for kind in output.get("data", {})
            }
            if not kinds & {"image/png", "image/svg+xml"}:
                problems.append(f"cell {i} draws, and no picture is stored")
    report(problems)


@every_notebook
def test_imports_stand_in_cells_of_their_own(name):
    """nbdev runs every cell with an import again while it renders."""
    problems = []
    for i, source in code_cells(name):
        imports = [
            isinstance(node, ast.Import | ast.ImportFrom)
            for node in ast.parse(without_magics(source)).body
        ]
        if any(imports) and not all(imports):
            problems.append(f"cell {i} mixes imports with other code")
    report(problems)


def checks(source):
    """Whether a code cell asserts something, itself or through fastcore's test_eq and
    its kin.
    """
    for node in ast.walk(ast.parse(without_magics(source))):
        if isinstance(node, ast.Assert) or (
            isinstance(node, ast.Call)
            and getattr(node.func, "id", "").startswith("test_")
        ):
            return True
    return False


@every_notebook
def test_every_public_function_and_class_is_tested_within_six_cells(name):
    problems = []
    for i, source in code_cells(name):
        if re.search(r"^#\|\s*exports?\b", source, flags=re.MULTILINE):
            definitions = [
                node
                for node in ast.parse(source).body
                if isinstance(node, ast.FunctionDef | ast.ClassDef)
            ]
            public = [
                node.name for node in definitions if not node.name.startswith("_")
            ]
            if public and not any(
                checks(later) for j, later in code_cells(name) if i < j <= i + 6
            ):
                problems.append(
                    f"cell {i}: nothing checks {', '.join(public)} after it"
                )
    report(problems)


# What a chapter with an estimator is made of, in this order; a heading counts by the
# words in it.
FORM = {
    "the problem": "problem",
    "the idea": "idea",
    "a derivation": "derivation|deriving|theory",
    "the algorithm as printed": "as printed",
    "the algorithm as shipped, or the estimator": "as shipped|the estimator|the "
    "selector|the classifier",
    "where it breaks": "breaks",
    "on real data": "real data|real documents",
    "what it costs": "costs",
    "summary": "summary",
    "exercises": "exercises",
    "references": "references",
}


def exports_an_estimator(name):
    module = (
        importlib.import_module(f"fsel_book.{module_of(name)}")
        if name in chapters and module_of(name)
        else None
    )
    things = [getattr(module, thing) for thing in getattr(module, "__all__", [])]
    return any(
        inspect.isclass(thing) and issubclass(thing, BaseEstimator) for thing in things
    )


@pytest.mark.parametrize(
    "name", [name for name in chapters if exports_an_estimator(name)]
)
def test_a_chapter_with_an_estimator_has_the_form_of_a_chapter(name):
    text = "\n".join(
        sources[name][i]
        for i, cell in enumerate(cells[name])
        if cell["cell_type"] == "markdown"
    )
    headings = re.findall(
        r"^## (.*)",
        re.sub(r"^:::(.|\n)*?^:::", "", text, flags=re.MULTILINE),
        flags=re.MULTILINE,
    )
    place = 0
    for part, words in FORM.items():
        found = [
            j
            for j in range(place, len(headings))
            if re.search(words, headings[j], flags=re.IGNORECASE)
        ]
        assert found, (
            f"{name} has no heading for {part} after {headings[:place]}; it has "
            f"{headings}"
        )
        place = found[0] + 1


# ---------------------------------------------------------------- documentation


def is_documentable(thing):
    return inspect.isfunction(thing) or inspect.isclass(thing)


@every_module
def test_everything_that_a_chapter_exports_has_a_docstring(module):
    loaded = importlib.import_module(f"fsel_book.{module}")
    exported = {name: getattr(loaded, name) for name in loaded.__all__}
    report(
        [
            f"{name} has no docstring"
            for name, thing in exported.items()
            if is_documentable(thing) and not thing.__doc__
        ]
    )


PUBLIC = {name: getattr(fsel_book, name) for name in fsel_book.__all__}
PUBLIC |= {
    f"experiments.{name}": getattr(experiments, name) for name in experiments.__all__
}


@pytest.mark.parametrize(
    "name", [name for name, thing in PUBLIC.items() if is_documentable(thing)]
)
def test_public_objects_have_numpydoc_docstrings(name):
    thing = PUBLIC[name]
    text = inspect.cleandoc(thing.__doc__ or "")
    section = re.search(
        r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n---|\Z)",
        text,
        flags=re.MULTILINE | re.DOTALL,
    )
    heads = (
        re.findall(r"^(\S.*?)(?: :.*)?$", section[1], flags=re.MULTILINE)
        if section
        else []
    )
    documented = {part.strip(" *") for head in heads for part in head.split(",")}
    missing = [
        parameter
        for parameter in inspect.signature(thing).parameters
        if parameter not in documented
    ]
    problems = [
        f"{name}: its section Parameters does not have {parameter}"
        for parameter in missing
    ]
    if not re.search(r"^Examples\n-+\n(.|\n)*>>> ", text, flags=re.MULTILINE):
        problems.append(f"{name}: no section Examples with an example")
    report(problems)


def attributes(thing):
    """Entries of a docstring's section Attributes: for each name its line and what is
    said below it.
    """
    text = inspect.cleandoc(thing.__doc__)
    section = re.search(
        r"^Attributes\n-+\n(.*?)(?=^\w[\w ]*\n---|\Z)",
        text,
        flags=re.MULTILINE | re.DOTALL,
    )
    return {
        re.match(r"\w+", entry)[0]: entry.rstrip()
        for entry in re.split(r"\n(?=\w)", section[1])
    }


SELECTORS = [
    thing
    for module in modules
    for name, thing in vars(importlib.import_module(f"fsel_book.{module}")).items()
    if inspect.isclass(thing)
    and issubclass(thing, CertifiedSelector)
    and thing.__module__ == f"fsel_book.{module}"
]


@pytest.mark.parametrize("selector", SELECTORS)
def test_selectors_describe_what_they_share_in_the_same_words(selector):
    """The attributes that every selector has, in every docstring of one, word for word
    as in that of their base.
    """
    shared = attributes(CertifiedSelector)
    own = attributes(selector)
    report(
        [
            f"{selector.__name__}.{name}: {own.get(name)!r} is not {entry!r}"
            for name, entry in shared.items()
            if own.get(name) != entry
        ]
    )


@every_module
def test_docstring_examples_run(module):
    loaded = importlib.import_module(f"fsel_book.{module}")
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    result = doctest.testmod(loaded, optionflags=flags)
    assert result.failed == 0


def test_the_package_exports_what_it_says():
    assert len(set(fsel_book.__all__)) == len(fsel_book.__all__)
    for name in fsel_book.__all__:
        assert hasattr(fsel_book, name), (
            f"fsel_book.__all__ names {name}, which is not there"
        )
    for name in [*datasets.__all__, *loaders.__all__]:
        assert name in fsel_book.__all__, (
            f"the loader or generator {name} is missing from fsel_book"
        )


# ---------------------------------------------------------------- the files around the
# book


def test_importing_the_package_does_not_load_matplotlib():
    """What draws loads it when it draws."""
    code = "import sys, fsel_book; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=root).returncode == 0


def test_readme_is_in_step_with_the_index():
    spec = importlib.util.spec_from_file_location(
        "readme", root / "tools" / "readme.py"
    )
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    stored = (root / "README.md").read_text(encoding="utf-8")
    text, pictures = tool.readme()
    assert stored == text, "README.md is not what nbs/index.ipynb gives; run make sync"
    assert pictures, "the index has lost its picture"
    for path, picture in pictures.items():
        stands = (root / path).read_text(encoding="utf-8") == picture
        assert stands, f"{path} is not the picture in nbs/index.ipynb; run make sync"


@every_notebook
def test_numbers_of_chapters_are_those_of_their_files(name):
    for text, number in re.findall(
        r"\[([^\]\n]*\d[^\]\n]*)\]\((\d\d)_\w+\.ipynb", "\n".join(sources[name])
    ):
        assert int(re.search(r"\d+", text)[0]) == int(number), (
            f"[{text}] leads to chapter {number}"
        )


def test_readme_shows_nothing_that_only_quarto_reads():
    text = (root / "README.md").read_text(encoding="utf-8")
    assert (
        re.findall(r"^#.*\{.*\}$|#\|.*|<!--.*|!\[(?:png)?\]", text, flags=re.MULTILINE)
        == []
    )


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md"])
def test_links_to_files_lead_somewhere(name):
    for link in re.findall(r"\]\(([^)#]+)", (root / name).read_text(encoding="utf-8")):
        assert link.startswith("http") or (root / link).exists(), (
            f"{name} links to {link}, which is not there"
        )


@every_notebook
def test_links_between_notebooks_lead_somewhere(name):
    for source, cell in zip(sources[name], cells[name], strict=True):
        if cell["cell_type"] == "markdown":
            for link in re.findall(r"\]\(([\w./-]+\.(?:ipynb|qmd))", source):
                assert (root / "nbs" / link).exists(), (
                    f"{name} links to {link}, which is not there"
                )


def test_symbols_occur_in_the_chapters_that_define_them():
    texts = {}
    for name in cells:
        text = "\n".join(
            source
            for source, cell in zip(sources[name], cells[name])
            if cell["cell_type"] == "markdown"
        )
        texts |= dict.fromkeys(re.findall(r"\{#(sec-[\w-]+)\}", text), text)
    page = (root / "nbs/symbols.qmd").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| \$(.+?)\$ \| .* \| @(sec-[\w-]+) \|.*\|$", page, flags=re.MULTILINE
    )
    assert len(rows) == len(re.findall(r"^\| \$", page, flags=re.MULTILINE)) > 80
    assert set(re.findall(r"@(sec-[\w-]+)", page)) <= texts.keys()
    for symbol, section in rows:
        formulas = " ".join(
            re.findall(r"\$\$.*?\$\$|\$[^$]+\$", texts[section], flags=re.DOTALL)
        )
        alone = rf"(?<![\\A-Za-z]){re.escape(symbol)}(?![A-Za-z])"
        assert re.search(alone, formulas), (
            f"{symbol} does not occur in the chapter {section}"
        )


def chapter_files(entries):
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        elif "file" in entry:
            yield entry["file"]
        else:
            yield from chapter_files(entry["chapters"])


def test_quarto_lists_every_notebook_once_and_in_order():
    book = yaml.safe_load((root / "_quarto.yml").read_text(encoding="utf-8"))
    listed = [
        name
        for name in chapter_files(book["book"]["chapters"])
        if name.endswith(".ipynb")
    ]
    assert sorted(listed) == sorted(cells.keys() - appendices), (
        "the chapters of _quarto.yml are not those of nbs/"
    )
    assert [name for name in listed if name in chapters] == chapters
    assert (root / "nbs" / book["bibliography"]).exists()


def test_quarto_reference_lists_every_public_name():
    book = yaml.safe_load((root / "_quarto.yml").read_text(encoding="utf-8"))
    listed = [
        name for page in book["reference"] for name in page["names"] if "." not in name
    ]
    assert sorted(listed) == sorted(fsel_book.__all__)
    made = [
        "reference/index.qmd",
        *(f"reference/{page['path']}.qmd" for page in book["reference"]),
    ]
    (part,) = (
        part
        for part in book["book"]["chapters"]
        if isinstance(part, dict) and part.get("part") == "Reference"
    )
    assert part["chapters"] == ["symbols.qmd", "parameters.qmd", *made] and book[
        "book"
    ]["appendices"] == [*appendices]


def test_citations_have_entries():
    keys = set(
        re.findall(
            r"^@\w+\{(\w+),",
            (root / "nbs/references.bib").read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    )
    assert {
        "paul2015svm",
        "paul2016ridge",
        "boutsidis2011sparse",
        "zhang2013dual",
        "dasgupta2019risk",
    } <= keys
    for name in cells:
        for i, source in enumerate(sources[name]):
            if cells[name][i]["cell_type"] == "markdown":
                for group in re.findall(r"\[([^\]]*@[^\]]+)\]", source):
                    cited = {
                        key
                        for key in re.findall(r"@([\w-]+)", group)
                        if not re.fullmatch(label, key)
                    }
                    assert cited <= keys, (
                        f"{name} cell {i} cites {sorted(cited - keys)}, not in "
                        f"references.bib"
                    )


def test_cross_references_have_targets():
    """`@thm-name` is defined somewhere as `#thm-name`, and nothing is defined twice."""
    text = {name: "\n".join(sources[name]) for name in cells}
    defined = re.findall(
        rf"(?:\{{#|#\|\s*label:\s*)({label})", "\n".join(text.values())
    )
    assert len(defined) == len(set(defined)), (
        f"defined twice: {sorted({x for x in defined if defined.count(x) > 1})}"
    )
    for name in cells:
        missing = {
            ref.rstrip("-") for ref in re.findall(rf"(?<![\w`])@({label})", text[name])
        } - set(defined)
        assert not missing, f"{name} refers to {sorted(missing)}, defined nowhere"


def test_citation_file_names_the_five_papers():
    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    assert [paper["year"] for paper in citation["references"]] == [
        2015,
        2016,
        2011,
        2013,
        2019,
    ]
    assert citation["version"] == fsel_book.__version__


# ---------------------------------------------------------------- running notebooks


@pytest.mark.sweep
def test_heavy_cells_keep_their_outputs_and_a_notebook_that_fails_stays_as_it_was(
    tmp_path,
):
    """`tools/run.py`: light cells are run, heavy ones only with `--heavy`, and nothing
    is written before the end.
    """
    import nbformat

    spec = importlib.util.spec_from_file_location(
        "run_notebooks", root / "tools" / "run.py"
    )
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    cells = [
        nbformat.v4.new_code_cell(source)
        for source in ("x = 1", "#| eval: false\nx = 2\nx", "x")
    ]
    book = nbformat.v4.new_notebook(cells=cells)
    path = tmp_path / "small.ipynb"
    book.cells[1].outputs = [
        nbformat.v4.new_output("execute_result", data={"text/plain": "stored"})
    ]
    nbformat.write(book, path)

    def shown():
        return ["".join(outputs_text(cell)) for cell in nbformat.read(path, 4).cells]

    tool.run(path, heavy=False)
    assert shown() == ["", "stored", "1"]
    tool.run(path, heavy=True)
    assert shown() == ["", "2", "2"]
    book.cells[2].source = "y"
    nbformat.write(book, path)
    before = path.read_bytes()
    with pytest.raises(Exception, match="NameError"):
        tool.run(path, heavy=False)
    assert path.read_bytes() == before
