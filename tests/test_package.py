"""What is released: distributions that hold what they should and say what is so, and
the tools that try them.
"""

import ast
import importlib.util
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import zipfile
from configparser import ConfigParser
from email import message_from_string
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
import setuptools
import yaml
from cases import PUBLIC, scipy_series
from packaging.requirements import Requirement

root = Path(__file__).resolve().parent.parent
parser = ConfigParser(delimiters=["="])
parser.read(root / "settings.ini", encoding="utf-8")
metadata = parser["DEFAULT"]
pythons = metadata["pythons"].split()
needs_git = pytest.mark.skipif(
    shutil.which("git") is None, reason="git is not installed"
)
# What commands leave in a checkout, and no reader needs.
LEFT = [
    "_docs/index.html",
    "build/lib/fsel_book/old.py",
    "fsel_book/__pycache__/svm.cpython-311.pyc",
    "nbs/.ipynb_checkpoints/index-checkpoint.ipynb",
    "nbs/index_files/figure.svg",
    "nbs/nbdev.yml",
    "nbs/reference/BSSSelector.qmd",
    "nbs/results/table.json",
    "selected.csv",
    "tests/__pycache__/cases.cpython-311.pyc",
]


def text_of(name):
    return (root / name).read_text(encoding="utf-8")


def tool(name):
    """A script of `tools/` as a module."""
    spec = importlib.util.spec_from_file_location(name, root / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def distribution(kind, source, folder):
    """Build a "wheel" or an "sdist" of the folder `source`, with what is installed
    here; returns the file.
    """
    code = (
        f"from setuptools.build_meta import build_{kind}; "
        f"print(build_{kind}({str(folder)!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=source, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return folder / done.stdout.splitlines()[-1]


def members(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("package")


@pytest.fixture(scope="module")
def sdist(folder):
    """The source distribution of a checkout in which everything was run, unpacked."""
    unwanted = shutil.ignore_patterns(
        ".git", ".venv*", "build", "dist", "*_cache", "_docs", "_proc", "shared"
    )
    shutil.copytree(root, folder / "checkout", ignore=unwanted)
    for name in LEFT:
        (folder / "checkout" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "checkout" / name).write_text("left by a command")
    shutil.unpack_archive(distribution("sdist", folder / "checkout", folder), folder)
    return folder / f"fsel_book-{metadata['version']}"


@pytest.fixture(scope="module")
def wheel(sdist, folder):
    return members(distribution("wheel", sdist, folder))


@pytest.fixture(scope="module")
def described(wheel):
    """What the wheel says of itself."""
    (text,) = (
        text for name, text in wheel.items() if name.endswith(".dist-info/METADATA")
    )
    return message_from_string(text.decode())


@pytest.mark.sweep
@needs_git
@pytest.mark.skipif(
    not (root / ".git").exists(),
    reason="this is no checkout, so git does not say what is part of it",
)
def test_source_distribution_is_the_repository(sdist):
    made = {"PKG-INFO", "setup.cfg"}
    files = {
        path.relative_to(sdist).as_posix()
        for path in sdist.rglob("*")
        if path.is_file()
    } - made
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True
    ).stdout.split()
    assert {
        name for name in files if not name.startswith("fsel_book.egg-info/")
    } == set(tracked)


def test_wheel_of_the_source_distribution_is_that_of_the_repository(wheel, tmp_path):
    for name in (
        "fsel_book",
        "settings.ini",
        "setup.py",
        "pyproject.toml",
        "README.md",
        "LICENSE",
    ):
        copy = shutil.copytree if (root / name).is_dir() else shutil.copy
        copy(root / name, tmp_path / name)
    assert members(distribution("wheel", tmp_path, tmp_path)) == wheel


def test_wheel_holds_the_package_alone(wheel):
    """And no index of the notebooks, which are not in it: that one is nbdev's."""
    files = {name for name in wheel if ".dist-info/" not in name}
    modules = {
        str(path.relative_to(root)) for path in (root / "fsel_book").rglob("*.py")
    } - {"fsel_book/_modidx.py"}
    stored = {
        str(path.relative_to(root)) for path in (root / "fsel_book/records").iterdir()
    }
    assert files == modules | stored | {"fsel_book/py.typed"}
    assert not [text for text in wheel.values() if b"_modidx" in text]


def test_source_distribution_has_the_index_of_the_notebooks(sdist):
    stored = root / "fsel_book" / "_modidx.py"
    assert (sdist / "fsel_book" / "_modidx.py").read_bytes() == stored.read_bytes()


def test_wheel_metadata_is_that_of_settings(wheel, described):
    assert described["Version"] == metadata["version"]
    assert described["Requires-Python"] == f">={metadata['min_python']}"
    assert (
        described["License-Expression"] == metadata["license"]
        and described["License"] is None
    )
    (licence,) = (
        text
        for name, text in wheel.items()
        if name.endswith(".dist-info/licenses/LICENSE")
    )
    assert licence == (root / "LICENSE").read_bytes()
    extras = {"cupy", "dask", "numba", "demo", "book", "bench", "dev", "docs", "lint"}
    assert set(described.get_all("Provides-Extra")) >= extras
    needed = [
        line for line in described.get_all("Requires-Dist") if "extra ==" not in line
    ]
    assert len(needed) == len(metadata["requirements"].split())
    assert described.get_all("Project-URL", []) == (
        [f"Source, {metadata['git_url']}"] if metadata["git_url"] else []
    )


def test_classifiers_name_the_pythons_that_are_tried(described):
    label = "Programming Language :: Python :: "
    named = {
        line.removeprefix(label)
        for line in described.get_all("Classifier")
        if line.startswith(label)
    }
    assert named == {"3 :: Only", *pythons}
    assert not any(
        line.startswith("License ::") for line in described.get_all("Classifier")
    )
    jobs = yaml.safe_load(text_of(".github/workflows/test.yml"))["jobs"]
    for name in ("test", "versions"):
        assert jobs[name]["strategy"]["matrix"]["python"] == pythons
    assert pythons[0] == metadata["min_python"]
    minor = pythons[0].split(".")[1]
    for name, words in [
        ("pyproject.toml", f'requires-python=">={pythons[0]}"'),
        ("pyproject.toml", f'target-version = "py3{minor}"'),
        ("pyproject.toml", f'python_version = "{pythons[0]}"'),
        ("Makefile", f"sys.version_info < (3, {minor})"),
        ("README.md", f"Python {pythons[0]} or later"),
        ("CONTRIBUTING.md", f"Python {pythons[0]} or later"),
    ]:
        assert words in text_of(name), f"{name} does not say: {words}"


def test_the_documents_are_of_the_scipy_that_the_makefile_asks_for():
    """The chapters state numbers of them, and the one on data sets prints where they
    are from.
    """
    assert set(
        re.findall(r"SciPy (\d+\.\d+\.)\d", text_of("nbs/B_datasets.ipynb"))
    ) == {scipy_series}


LINK = r"(!?)\[([^]]*)\]\(([^)]*)\)"


def test_description_leads_nowhere_that_is_not_there(monkeypatch):
    """On a page of an index nothing lies beside README.md: no link is dead, and no word
    is lost.
    """
    monkeypatch.setattr(setuptools, "setup", lambda **given: None)
    describe = runpy.run_path(str(root / "setup.py"))["description"]
    readme = text_of("README.md")
    alone = describe(readme, "")
    public = describe(readme, "https://example.org/book")
    assert len(re.findall(LINK, readme)) > 30
    for mark, words, target in re.findall(LINK, alone):
        assert target.startswith("https://"), f"{mark}[{words}]({target})"
    assert re.sub(LINK, r"\2", re.sub(r"\*Picture: (.*)\*", r"\1", alone)) == re.sub(
        LINK, r"\2", readme
    )
    beside = (
        r"https://example\.org/book/(?:raw|blob)/v"
        + re.escape(metadata["version"])
        + "/"
    )
    assert re.sub(beside, "", public) == readme
    for mark, words, target in re.findall(LINK, public):
        assert target.startswith("https://"), f"{mark}[{words}]({target})"
        assert ("/raw/" in target) == bool(mark)


def test_description_of_the_wheel_is_the_readme_without_dead_links(described):
    if not metadata["git_url"]:
        assert (
            "](nbs/" not in described.get_payload()
            and "*Picture: " in described.get_payload()
        )


@pytest.fixture(scope="module")
def imported():
    """A process that imports the package where other dependencies than those of run
    time are refused.
    """
    code = """
import sys

asked = set()  # by the package itself: scikit-learn loads pandas where it finds it

class Refuse:
    def find_spec(self, name, path=None, target=None):
        frame = sys._getframe(1)
        while "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        if frame.f_globals["__name__"].startswith("fsel_book"):
            asked.add(name)
        optional = "pandas", "nbdev", "fastcore", "IPython", "cupy", "torch", "dask", "numba", "papermill"
        if name.split(".")[0] in optional:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Refuse())
import fsel_book
print(len(fsel_book.__all__))
print([name for name in sys.modules if name.startswith("fsel_book.")])
print([*asked])
"""
    return subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True
    )


def test_import_needs_run_time_dependencies_alone(imported):
    assert imported.returncode == 0, imported.stderr[-2000:]
    assert int(imported.stdout.splitlines()[0]) > 10


def test_experiments_are_loaded_only_when_asked_for(imported):
    assert imported.returncode == 0, imported.stderr[-2000:]
    loaded = imported.stdout.splitlines()[1]
    assert "fsel_book.loaders" in loaded and "papers" not in loaded


def test_what_only_some_use_is_not_loaded_with_the_package(imported):
    """Neither by the package nor in it: pictures, bars, and all that is about tables."""
    assert imported.returncode == 0, imported.stderr[-2000:]
    lines = imported.stdout.splitlines()
    loaded, asked = map(ast.literal_eval, lines[1:])
    assert "numpy" in asked, "this test sees nothing"
    assert not {"pandas", "matplotlib", "tqdm"} & {name.split(".")[0] for name in asked}
    late = "reports report_page comparison table_selector tables table_columns"
    assert not {f"fsel_book.{name}" for name in late.split()} & {*loaded}


def test_what_is_loaded_late_is_found_all_the_same():
    code = """
import fsel_book
assert {*fsel_book.__all__} <= {*dir(fsel_book)}
assert not {"report", "load_table", "TableSelector"} & {*vars(fsel_book)}
from fsel_book import TableSelector, load_table, report
assert fsel_book.report is report and report.__module__ == "fsel_book.reports"
assert "report" in vars(fsel_book), "each is looked for once"
assert not hasattr(fsel_book, "no_such_name")
from fsel_book import *
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_continuous_integration_calls_the_targets_of_make():
    script = root / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    commands = script.read_text(encoding="utf-8").splitlines()
    assert [line for line in commands if line.startswith("make ")] == [
        "make lint",
        "make test-all",
        "make test-processors",
    ]


def test_version_and_date_are_the_same_everywhere():
    version = metadata["version"]
    citation = yaml.safe_load(text_of("CITATION.cff"))
    (newest, when) = re.search(
        r"^## (\S+), (.*)$", text_of("CHANGELOG.md"), flags=re.MULTILINE
    ).groups()
    assert newest == version == str(citation["version"])
    assert f'__version__ = "{version}"' in text_of("fsel_book/__init__.py")
    assert when == str(citation.get("date-released", "not yet released"))
    assert citation["license"] == metadata["license"]


def test_citation_agrees_with_the_bibliography_and_names_what_is_there():
    bibliography = re.sub(r"[{}]", "", text_of("nbs/references.bib"))
    references = yaml.safe_load(text_of("CITATION.cff"))["references"]
    assert len(references) == 5
    for paper in references:
        (entry,) = (
            entry
            for entry in bibliography.split("\n@")
            if f"= {paper['title']}," in entry
        )
        authors = " and ".join(
            f"{author['family-names']}, {author['given-names']}"
            for author in paper["authors"]
        )
        for words in (
            authors,
            f"{paper['start']}--{paper['end']}",
            f"volume  = {paper['volume']}",
            str(paper["year"]),
        ):
            assert words in re.sub(r" +=", "  =", entry), f"{words} of {paper['title']}"
        names = re.findall(
            r"\b[A-Z]\w*[a-z][A-Z]\w+|\b\w+_\w+|\bRiskRFE", paper["notes"]
        )
        assert names and set(names) <= set(PUBLIC)


def test_oldest_versions_are_the_lower_bounds():
    pinned = tool("release").oldest().splitlines()
    assert "scikit-learn==1.6.*" in pinned
    assert [re.sub(r"==(.*)\.\*$", r">=\1", line) for line in pinned] == metadata[
        "requirements"
    ].split()


def checkout(folder, heading):
    """A repository with what `make release` reads first, and a changelog that begins
    with `heading`.
    """
    (folder / "tools").mkdir()
    for name in ("tools/release.py", "settings.ini"):
        shutil.copy(root / name, folder / name)
    (folder / "CHANGELOG.md").write_text(
        f"# Changelog\n\n## {heading}\n\n## 0.0.1, 2020-01-01\n"
    )
    (folder / ".gitignore").write_text("/build/\n")
    name = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "."], [*name, "commit", "-q", "-m", "all"]):
        subprocess.run(["git", *command], cwd=folder, check=True)


@needs_git
def test_release_refuses_what_is_not_committed(tmp_path):
    checkout(tmp_path, "0.1.0, 2030-01-01")
    (tmp_path / "notes.txt").write_text("not committed")
    release = [sys.executable, tmp_path / "tools" / "release.py"]
    done = subprocess.run(release, capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == ""
    assert (
        done.stderr
        == "A release is made of what is committed, and this is not:\n?? notes.txt\n"
    )


@needs_git
@pytest.mark.parametrize(
    "heading, tag, said",
    [
        ("0.1.0, 2030-01-01", "v0.0.1", None),
        ("0.1.0, not yet released", "v0.0.1", "begins with '0.1.0, not yet released'"),
        ("0.0.1, 2020-01-01", "v0.0.1", "a release begins with '0.1.0, ' and its date"),
        ("0.1.0, 2030-01-01", "v0.1.0", "there is a tag v0.1.0 already"),
    ],
)
def test_release_says_what_is_in_the_way_of_an_upload(
    tmp_path, monkeypatch, heading, tag, said
):
    checkout(tmp_path, heading)
    subprocess.run(["git", "tag", tag], cwd=tmp_path, check=True)
    release = tool("release")
    monkeypatch.setattr(release, "root", tmp_path)
    monkeypatch.setattr(release, "folder", tmp_path)
    found = release.obstacles("0.1.0")
    assert len(found) == (said is not None) and all(said in line for line in found)


def test_smoke_test_holds_here(capsys):
    """What a release tries in an empty environment; its examples are those of
    tests/test_book.py.
    """
    smoke = tool("smoke")
    smoke.certificates()
    smoke.learning()
    assert "The promise holds" in capsys.readouterr().out


def named(requirements):
    """The distributions that lines of requirements name."""
    return {
        re.match(r"[\w.-]+", line)[0].lower().replace("_", "-")
        for line in requirements.split()
    }


def test_what_notebooks_import_comes_with_the_extra_for_reading_them():
    """`make lab` installs that extra alone. What is imported inside of a function or a
    `try` may be missing.
    """
    homes = packages_distributions()
    wanted = {}
    for path in (root / "nbs").glob("*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] != "code" or re.search(
                r"^\s*[%!]", source, re.MULTILINE
            ):
                continue
            for node in ast.parse(source).body:
                names = (
                    [alias.name for alias in node.names]
                    if isinstance(node, ast.Import)
                    else []
                )
                if isinstance(node, ast.ImportFrom):
                    names = [node.module]
                wanted |= {name.split(".")[0]: path.name for name in names}
    known = named(metadata["requirements"]) | named(metadata["book_requirements"])
    missing = {
        module: name
        for module, name in wanted.items()
        if module not in sys.stdlib_module_names | {"fsel_book", "IPython"}
        and not known & {home.lower().replace("_", "-") for home in homes[module]}
    }
    assert not missing


# ---------------------------------------------------------------- the door for contributors


def brought_along(requirements):
    """What pip installs for lines of requirements, by the metadata of what is installed here."""
    found, left = set(), [Requirement(line) for line in requirements.split()]
    while left:
        wanted = left.pop()
        name = wanted.name.lower().replace("_", "-")
        if name not in found:
            found.add(name)
            more = map(Requirement, requires(name) or [])
            left += [
                one
                for one in more
                if not one.marker or one.marker.evaluate({"extra": ""})
            ]
    return found


HEAVY = "torch dask distributed numba polars clarabel pandas pyarrow zarr scipy scikit-learn matplotlib jupyterlab"


def test_the_extra_for_hooks_and_lint_brings_nothing_heavy_along():
    brought = brought_along(metadata["lint_requirements"])
    assert {"nbdev", "ruff", "mypy", "pre-commit", "nbconvert", "nbformat"} <= brought
    assert not brought & {*HEAVY.split(), "fsel-book"}
    assert brought_along("matplotlib") & {*HEAVY.split()}, "this test sees nothing"


def test_versions_of_the_tools_stand_in_one_list():
    lint = named(metadata["lint_requirements"]) - {
        "numpy",
        "array-api-compat",
        "fastcore",
        "nbconvert",
    }
    for key, value in metadata.items():
        if key.endswith("_requirements") and key != "lint_requirements":
            assert not named(value) & lint, key
    assert "fsel_book[docs,lint]" in metadata["dev_requirements"].split()
    assert "fsel_book[lint]" in metadata["docs_requirements"].split()


@needs_git
@pytest.mark.skipif(shutil.which("make") is None, reason="make is not on the PATH")
@pytest.mark.parametrize("target", ["hooks", "lint", "sync"])
def test_hooks_lint_and_sync_install_their_tools_alone(tmp_path, target):
    for name in ("Makefile", "settings.ini", "setup.py", "pyproject.toml"):
        shutil.copy(root / name, tmp_path)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    (tmp_path / ".venv" / ".python").touch()
    # Its pip writes down what it is asked for, and all other modules do nothing.
    python.write_text(
        f'#!/bin/sh\nif [ "$1" = -c ]; then exec {sys.executable} "$@"; fi\n'
        'if [ "$2" = pip ]; then shift 2; echo "$@" >> asked; fi\n'
    )
    python.chmod(0o755)
    for name in ("nbdev_clean", "nbdev_export"):
        shutil.copy(python, python.with_name(name))
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    outer = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")  # of a `make test` that runs this
    environment = {
        name: value for name, value in os.environ.items() if name not in outer
    }
    done = subprocess.run(
        ["make", target], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    wanted = " ".join(metadata["lint_requirements"].split())
    assert (tmp_path / "asked").read_text() == f"install --quiet {wanted}\n"


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("Keep stored outputs\n\nWhy: less noise.\n", []),
        ("\n# Please enter a message\nKeep stored outputs\n# On branch main\n", []),
        ("x" * 73, ["73 characters", "small letter"]),
        ("X" * 72, []),
        ("Keep stored outputs.", ["period"]),
        ("keep stored outputs", ["small letter"]),
        ("Keep stored outputs\nwhere nothing has changed", ["no empty line"]),
        ("Merge branch " + "x" * 80, []),
        ("fixup! Keep stored outputs.", []),
        ('Revert "' + "x" * 72 + '"', []),
        ("", []),
    ],
)
def test_what_is_said_of_the_subject_of_a_commit(message, said):
    found = tool("subject").complaints(message)
    assert len(found) == len(said) and all(
        words in line for words, line in zip(said, found)
    )


def hooks():
    """The hooks of the repository."""
    (local,) = yaml.safe_load(text_of(".pre-commit-config.yaml"))["repos"]
    return local["hooks"]


@needs_git
def test_the_hook_for_subjects_stops_a_commit(tmp_path):
    """As pre-commit calls it: with the file of the message as its last argument."""
    (hook,) = (hook for hook in hooks() if hook["id"] == "subject")
    script = tmp_path / ".git" / "hooks" / "commit-msg"
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    command = hook["entry"].replace(
        ".venv/bin/python tools", f"{sys.executable} {root / 'tools'}"
    )
    script.parent.mkdir(exist_ok=True)
    script.write_text(f'#!/bin/sh\nexec {command} "$1"\n')
    script.chmod(0o755)
    name = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for subject, code in [("ends with a period.", 1), ("Say what is so", 0)]:
        commit = ["git", *name, "commit", "-q", "--allow-empty", "-m", subject]
        done = subprocess.run(commit, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == code and (
            "it ends with a period" in done.stderr
        ) == bool(code)


def test_make_hooks_installs_a_hook_for_each_stage():
    """Without a stage of its own a hook runs before the commit, and none of these twice."""
    config = yaml.safe_load(text_of(".pre-commit-config.yaml"))
    stages = [
        stage
        for hook in hooks()
        for stage in hook.get("stages", config["default_stages"])
    ]
    assert (
        set(stages)
        == set(config["default_install_hook_types"])
        == {"pre-commit", "commit-msg"}
    )
    assert [hook["id"] for hook in hooks() if "stages" in hook] == ["subject"]
