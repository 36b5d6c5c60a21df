"""The map from modules to the notebooks that explain them."""

import importlib.util
import json
import re
import sys
from pathlib import Path

from cases import PUBLIC

from fsel_book.chapters import CHAPTERS, PUBLIC_NAMES

root = Path(__file__).resolve().parent.parent
sys.path.append(str(root / "tools"))  # whose files import each other


def test_the_map_is_in_step_with_the_notebooks_and_the_reference():
    path = root / "tools" / "chapters.py"
    spec = importlib.util.spec_from_file_location("map_of_chapters", path)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.PAGE.read_text(encoding="utf-8") == tool.text(), "run make sync"


def test_a_module_is_explained_where_it_comes_from():
    """Its first line names the notebook, whose first cell has the title."""
    named = {}
    for path in (root / "fsel_book").rglob("*.py"):
        first = path.read_text(encoding="utf-8").partition("\n")[0]
        if origin := re.search(r"File to edit: \S*?nbs/(\w+)\.ipynb", first):
            parts = path.relative_to(root / "fsel_book").with_suffix("").parts
            named[".".join(parts)] = origin[1]
    assert len(named) > 35
    assert {module: CHAPTERS[module][0] for module in named} == named
    for stem, title in CHAPTERS.values():
        text = (root / "nbs" / f"{stem}.ipynb").read_text(encoding="utf-8")
        (heading, *_) = json.loads(text)["cells"][0]["source"]
        assert re.fullmatch(
            rf"# (\d+|[A-Z])\. {re.escape(title)} <a .*", heading.strip()
        )


def test_what_is_public_is_where_the_map_says():
    found = {(module, name) for module in PUBLIC_NAMES for name in PUBLIC_NAMES[module]}
    expected = {
        (thing.__module__.removeprefix("fsel_book."), name)
        for name, thing in PUBLIC.items()
    }
    assert found == expected
