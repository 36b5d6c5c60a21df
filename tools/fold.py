"""Fold long definitions in the notebooks that Quarto renders: `python tools/fold.py _proc`. `make docs` calls this.

A page is read for its argument. A definition of more than 30 lines stands behind its name, one click away; what is
shorter, and every check, stays open. The notebooks in nbs/ are not touched.
"""

import ast
import json
import sys
from pathlib import Path

LONGEST = 30


def names(source: str) -> list[str]:
    """The functions and classes that a cell defines."""
    return [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]


def folded(source: str) -> str:
    """The cell with Quarto's directives for folding, if it is a long definition that is not folded yet."""
    if source.count("\n") < LONGEST or "#| code-fold" in source or source.lstrip().startswith(("%", "!")):
        return source
    defined = names(source)
    if not defined:
        return source
    return f'#| code-fold: true\n#| code-summary: "{", ".join(defined)}"\n{source}'


def main(folder: Path) -> None:
    """Fold in all notebooks of the folder."""
    for path in sorted(folder.glob("*.ipynb")):
        book = json.loads(path.read_text(encoding="utf-8"))
        for cell in book["cells"]:
            if cell["cell_type"] == "code":
                cell["source"] = folded("".join(cell["source"])).splitlines(keepends=True)
        path.write_text(json.dumps(book, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
