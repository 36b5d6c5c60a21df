"""Who imports whom in the package, as a Mermaid diagram for CONTRIBUTING.md: `python
tools/imports.py` writes it there.

An arrow that follows from others is left out, and so is what a function imports when it
is called. `tests/test_book.py` compares the diagram with the code.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
START, END = "```mermaid\n", "```\n"


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """What runs when a module is loaded."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
            yield from statements(node)


def edges(folder: Path = ROOT / "fsel_book") -> dict[str, set[str]]:
    """For each module the modules of the package that it imports when it is loaded."""
    found = {}
    for path in sorted(folder.rglob("[a-z]*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        used = set()
        for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                home = [*parts[: len(parts) - node.level], node.module]
                if node.level:
                    used.add(".".join(home))
                elif node.module.startswith("fsel_book."):
                    used.add(node.module.removeprefix("fsel_book."))
        found[".".join(parts)] = used
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
    end = text.index(END, start + len(START)) + len(END)
    page.write_text(text[:start] + diagram() + text[end:], encoding="utf-8")
