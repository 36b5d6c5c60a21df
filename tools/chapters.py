"""What `help()` says of where a name is explained: `python tools/chapters.py` writes it to
fsel_book/chapters.py, which goes with the package where the notebooks do not.

`tests/test_chapters.py` compares the module with the notebooks.
"""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import yaml
from book import NUMBER

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "fsel_book" / "chapters.py"

# Modules that are written by hand, and the notebooks that explain them.
BY_HAND = {
    "reports": "C_loaders",
    "sizes": "23_stopping",
    "table_selector": "C_loaders",
    "tables": "C_loaders",
}

HEAD = '''"""Which notebook explains what a module holds, and what of that is public.

`make sync` writes this module from the notebooks and from the reference in _quarto.yml.
"""

__all__ = ["CHAPTERS", "PUBLIC_NAMES"]


'''


def chapters() -> dict[str, tuple[str, str]]:
    """For each module the name and the title of its notebook."""
    found = {}
    titles = {}
    for path in sorted((ROOT / "nbs").glob("*.ipynb")):
        text = path.read_text(encoding="utf-8")
        module = re.search(r'"#\|\s*default_exp ([\w.]+)', text)
        title = re.search(rf'"# {NUMBER}\. (.+?) <a id', text)
        if title:
            titles[path.stem] = title[1]
        if module and title:
            found[module[1]] = path.stem, title[1]
    by_hand = {module: (stem, titles[stem]) for module, stem in BY_HAND.items()}
    return dict(sorted({**found, **by_hand}.items()))


def at_the_front() -> Iterator[tuple[str, str]]:
    """Each name of the package itself, with the module that it comes from."""
    source = (ROOT / "fsel_book" / "__init__.py").read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield alias.name, node.module.removeprefix("fsel_book.")


def public_names() -> dict[str, list[str]]:
    """What the reference lists, by modules."""
    front = dict(at_the_front())
    pages = yaml.safe_load((ROOT / "_quarto.yml").read_text(encoding="utf-8"))
    found: dict[str, list[str]] = {}
    for page in pages["reference"]:
        for entry in page["names"]:
            module, _, name = entry.rpartition(".")
            found.setdefault(module or front[name], []).append(name)
    return {module: sorted(names) for module, names in sorted(found.items())}


def quoted(text: str) -> str:
    """A text as ruff writes it."""
    return json.dumps(text, ensure_ascii=False)


def text() -> str:
    """The whole module."""
    lines = ["# module: name and title of the notebook", "CHAPTERS = {"]
    for module, (stem, title) in chapters().items():
        lines += [f"    {quoted(module)}: ({quoted(stem)}, {quoted(title)}),"]
    lines += ["}", "", "# module: what the reference lists", "PUBLIC_NAMES = {"]
    for module, names in public_names().items():
        lines += [f"    {quoted(module)}: ["]
        lines += [f"        {quoted(name)}," for name in names]
        lines += ["    ],"]
    return HEAD + "\n".join([*lines, "}", ""])


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
