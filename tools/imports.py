"""Who imports whom in the package, as a Mermaid diagram for CONTRIBUTING.md: `python
tools/imports.py` writes it there.

An arrow that follows from others is left out. `tests/test_book.py` compares the diagram
with the code.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
START = "```mermaid\n"
END = "```\n"


def edges(folder: Path = ROOT / "fsel_book") -> dict[str, set[str]]:
    """For each module the modules of the package that it imports."""
    found = {}
    for path in sorted(folder.glob("[a-z]*.py")):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        froms = [node for node in nodes if isinstance(node, ast.ImportFrom)]
        found[path.stem] = {
            node.module.removeprefix("fsel_book.")
            for node in froms
            if node.module and (node.level or node.module.startswith("fsel_book."))
        }
    return found


def reduced(found: dict[str, set[str]]) -> dict[str, set[str]]:
    """The same without arrows that follow from others."""

    def reach(module: str) -> set[str]:
        return found[module].union(*(reach(other) for other in found[module]))

    return {
        module: {
            other
            for other in used
            if not any(other in reach(third) for third in used - {other})
        }
        for module, used in found.items()
    }


def diagram() -> str:
    """The Mermaid text: an arrow from a module to those that need it."""
    lines = ["flowchart TD"]
    for module, used in sorted(reduced(edges()).items()):
        lines += [f"    {other} --> {module}" for other in sorted(used)]
    return START + "\n".join(lines) + "\n" + END


if __name__ == "__main__":
    page = ROOT / "CONTRIBUTING.md"
    text = page.read_text(encoding="utf-8")
    start = text.index(START)
    page.write_text(
        text[:start]
        + diagram()
        + text[text.index(END, start + len(START)) + len(END) :],
        encoding="utf-8",
    )
