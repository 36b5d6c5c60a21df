"""How the code of the package is built, in numbers: `python tools/house.py [ROOT]` prints
them for the checkout at ROOT, this one by default.

It tells where code is pressed: syntax nodes for each line of code, tuples that save lines,
statements on the line of their condition, attributes that no docstring describes, names
with an underscore that another module takes, exported cells that follow one another with
hardly a word between them. It is no test and knows no limits. It reads files and imports
nothing, so it works on any checkout.
"""

import ast
import io
import json
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import indent

FEW_WORDS = 40  # between two exported cells: about two sentences
EXPORTED = re.compile(r"^#\|\s*exports?\b", re.MULTILINE)
NOT_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
}
Function = ast.FunctionDef | ast.AsyncFunctionDef
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class ModuleFacts:
    """What is counted in one module.

    Attributes
    ----------
    name : str
        The module, without the name of the package.
    code_lines : int
        Lines that hold code: no blank ones, comments or docstrings.
    nodes : int
        Nodes of the syntax tree, docstrings left out.
    packed : int
        Elements of tuples that are assigned to as many names in one statement.
    same_line : list of int
        Lines where the body of an `if`, a loop or the like stands behind its condition.
    private_imports : list of str
        Names with an underscore that are taken from another module of the package.
    attributes : int
        Attributes that methods set on `self`, over all classes.
    undescribed : list of str
        Those of them, as Class.name, that the docstring of the class does not describe.
    """

    name: str
    code_lines: int = 0
    nodes: int = 0
    packed: int = 0
    same_line: list[int] = field(default_factory=list)
    private_imports: list[str] = field(default_factory=list)
    attributes: int = 0
    undescribed: list[str] = field(default_factory=list)

    @property
    def density(self) -> float:
        """Syntax nodes for each line of code."""
        return self.nodes / max(self.code_lines, 1)


def docstring_node(node: ast.AST) -> ast.Expr | None:
    """The statement that is the docstring of a module, class or function."""
    if isinstance(node, Documented) and node.body:
        first = node.body[0]
        if (
            isinstance(first, ast.Expr)
            and isinstance(first.value, ast.Constant)
            and isinstance(first.value.value, str)
        ):
            return first
    return None


def lines_of_code(source: str, tree: ast.Module) -> int:
    """How many lines hold code, docstrings and comments left out."""
    docstrings: set[int] = set()
    for node in ast.walk(tree):
        text = docstring_node(node)
        if text is not None:
            docstrings.update(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NOT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)


def nodes_of_syntax(tree: ast.Module) -> int:
    """How many nodes the syntax tree has, without those of docstrings."""
    docstrings = sum(docstring_node(node) is not None for node in ast.walk(tree))
    # a docstring is a statement with a constant
    return sum(1 for _ in ast.walk(tree)) - 2 * docstrings


def packed_elements(tree: ast.Module) -> int:
    """Elements of tuples assigned to as many names: `a, b = 1, 2` has two."""
    total = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple):
            if any(isinstance(target, ast.Tuple) for target in node.targets):
                total += len(node.value.elts)
    return total


def bodies_on_one_line(tree: ast.Module) -> list[int]:
    """Lines where a body stands behind its condition: `if a: return`."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.While):
            end_of_head = node.test.end_lineno
        elif isinstance(node, ast.For):
            end_of_head = node.iter.end_lineno
        elif isinstance(node, ast.With):
            end_of_head = node.items[-1].context_expr.end_lineno
        elif isinstance(node, ast.Try | ast.ExceptHandler | Function | ast.ClassDef):
            end_of_head = node.lineno
        else:
            continue
        if node.body[0].lineno == end_of_head:
            found.append(node.body[0].lineno)
    return sorted(found)


def private_names_taken(tree: ast.Module, package: str) -> list[str]:
    """Names with one underscore in front, imported from modules of the package."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        within = node.level > 0 or (node.module or "").split(".")[0] == package
        for alias in node.names:
            if within and re.match(r"_[^_]", alias.name):
                found.append(f"{node.module}.{alias.name}")
    return sorted(found)


def attributes_set(cls: ast.ClassDef) -> list[str]:
    """Attributes that the methods of a class set on `self`, in order of appearance."""
    names: dict[str, None] = {}
    for method in cls.body:
        if not isinstance(method, Function) or not method.args.args:
            continue
        own = method.args.args[0].arg
        for node in ast.walk(method):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.ctx, ast.Store)
                and isinstance(node.value, ast.Name)
                and node.value.id == own
            ):
                names[node.attr] = None
    return list(names)


def described_names(cls: ast.ClassDef) -> set[str]:
    """What the class docstring describes: entries `a, b : type` of its sections, or of
    the docstring of `__init__`.
    """
    texts = [ast.get_docstring(cls) or ""]
    for method in cls.body:
        if isinstance(method, Function) and method.name == "__init__":
            texts.append(ast.get_docstring(method) or "")
    names: set[str] = set()
    for text in texts:
        lines = text.split("\n")
        section = ""
        for line, below in zip(lines, [*lines[1:], ""], strict=True):
            if re.fullmatch(r"-{3,}", below.strip()):
                section = line.strip()
            elif section in ("Parameters", "Attributes"):
                entry = re.fullmatch(r"([*\w, ]+?)(\s*:.*)?", line)
                if entry and not line.startswith(" "):
                    names |= {name.strip(" *") for name in entry[1].split(",")}
    return names


def shared_words(trees: dict[str, ast.Module]) -> dict[str, str]:
    """What the dictionaries of words hold that docstrings take in as `%(name)s`."""
    found = {}
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict):
                for key, value in zip(node.keys, node.values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(
                        value, ast.Constant
                    ):
                        found[str(key.value)] = str(value.value)
            # DOCS.update(name="...")
            elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
                ".update"
            ):
                for entry in node.keywords:
                    if entry.arg and isinstance(entry.value, ast.Constant):
                        found[entry.arg] = str(entry.value.value)
    return found


def put_words_in(tree: ast.Module, words: dict[str, str]) -> None:
    """Put the shared words where the docstrings of classes name them."""
    for node in ast.walk(tree):
        text = docstring_node(node) if isinstance(node, ast.ClassDef) else None
        if text is not None and isinstance(text.value, ast.Constant):
            text.value.value = re.sub(
                r"^( *)%\((\w+)\)s$",
                lambda line: indent(words.get(line[2], ""), line[1]),
                str(text.value.value),
                flags=re.MULTILINE,
            )


def classes_with_bases(trees: dict[str, ast.Module]) -> dict[str, ast.ClassDef]:
    """All classes of the package by name."""
    return {
        node.name: node
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }


def described_with_bases(
    cls: ast.ClassDef, classes: dict[str, ast.ClassDef]
) -> set[str]:
    """What the docstrings of a class and of its bases in the package describe."""
    names = described_names(cls)
    for base in cls.bases:
        name = ast.unparse(base).split(".")[-1].split("[")[0]
        if name in classes and classes[name] is not cls:
            names |= described_with_bases(classes[name], classes)
    return names


def facts_of(
    name: str,
    source: str,
    tree: ast.Module,
    classes: dict[str, ast.ClassDef],
    package: str,
) -> ModuleFacts:
    """The counts of one module."""
    facts = ModuleFacts(name)
    facts.code_lines = lines_of_code(source, tree)
    facts.nodes = nodes_of_syntax(tree)
    facts.packed = packed_elements(tree)
    facts.same_line = bodies_on_one_line(tree)
    facts.private_imports = private_names_taken(tree, package)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            described = described_with_bases(node, classes)
            attributes = attributes_set(node)
            facts.attributes += len(attributes)
            facts.undescribed += [
                f"{node.name}.{attribute}"
                for attribute in attributes
                if attribute not in described
            ]
    return facts


def package_facts(folder: Path) -> list[ModuleFacts]:
    """The counts of all modules of the package in a folder, in the order of names."""
    sources = {}
    for path in sorted(folder.rglob("*.py")):
        if path.name != "_modidx.py":
            name = ".".join(path.relative_to(folder).with_suffix("").parts)
            sources[name] = path.read_text(encoding="utf-8")
    trees = {name: ast.parse(source) for name, source in sources.items()}
    words = shared_words(trees)
    for tree in trees.values():
        put_words_in(tree, words)
    classes = classes_with_bases(trees)
    return [
        facts_of(name, sources[name], trees[name], classes, folder.name)
        for name in sources
    ]


def words_before_exports(cells: list[dict]) -> Iterator[tuple[int, int]]:
    """For each exported cell but the first, and but those with imports alone: the words
    of prose since the exported cell before it, and its lines of code.
    """
    words = 0
    first = True
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            words += len(source.split())
        elif cell["cell_type"] == "code" and EXPORTED.search(source):
            tree = ast.parse(source)
            if all(isinstance(node, ast.Import | ast.ImportFrom) for node in tree.body):
                continue
            if not first:
                yield words, lines_of_code(source, tree)
            first = False
            words = 0


@dataclass
class NotebookFacts:
    """What is counted in one notebook.

    Attributes
    ----------
    name : str
        The notebook.
    exported : int
        Lines of code of its exported cells but the first.
    bare : int
        Those of them in cells with fewer than `FEW_WORDS` words of prose before them.
    """

    name: str
    exported: int
    bare: int


def notebook_facts(folder: Path) -> list[NotebookFacts]:
    """The counts of the notebooks in a folder that export code."""
    found = []
    for path in sorted(folder.glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        pairs = list(words_before_exports(cells))
        if pairs:
            exported = sum(lines for _, lines in pairs)
            bare = sum(lines for words, lines in pairs if words < FEW_WORDS)
            found.append(NotebookFacts(path.name, exported, bare))
    return found


def table(head: list[str], rows: list[list[str]]) -> str:
    """Columns under headings: the first flush left, numbers flush right."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = []
    for row in [head, *rows]:
        first = row[0].ljust(widths[0])
        others = [
            cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)
        ]
        lines.append("  ".join([first, *others]).rstrip())
    return "\n".join(lines)


def row_of(facts: ModuleFacts) -> list[str]:
    """One line of the table of modules."""
    return [
        facts.name,
        str(facts.code_lines),
        f"{facts.density:.2f}",
        f"{100 * facts.packed / max(facts.code_lines, 1):.1f}",
        str(len(facts.same_line)),
        str(len(facts.private_imports)),
        f"{len(facts.undescribed)} of {facts.attributes}",
    ]


def total_of(modules: list[ModuleFacts]) -> ModuleFacts:
    """All modules as one."""
    total = ModuleFacts("all")
    for facts in modules:
        total.code_lines += facts.code_lines
        total.nodes += facts.nodes
        total.packed += facts.packed
        total.same_line += facts.same_line
        total.private_imports += facts.private_imports
        total.attributes += facts.attributes
        total.undescribed += facts.undescribed
    return total


def report(root: Path, package: str = "fsel_book") -> str:
    """The whole text for a checkout."""
    modules = package_facts(root / package)
    head = [
        "module",
        "lines of code",
        "nodes a line",
        "packed per 100 lines",
        "bodies on the line",
        "private imports",
        "attributes undescribed",
    ]
    parts = [table(head, [row_of(facts) for facts in [*modules, total_of(modules)]])]
    for facts in modules:
        if facts.private_imports:
            parts.append(f"{facts.name} imports {', '.join(facts.private_imports)}")
    undescribed = [
        f"{facts.name}: {', '.join(facts.undescribed)}"
        for facts in modules
        if facts.undescribed
    ]
    if undescribed:
        parts.append("Set on self, and not in the class docstring:")
        parts.append("\n".join(undescribed))
    notebooks = notebook_facts(root / "nbs")
    if notebooks:
        exported = sum(one.exported for one in notebooks)
        bare = sum(one.bare for one in notebooks)
        every = [*notebooks, NotebookFacts("all", exported, bare)]
        rows = [
            [
                one.name,
                str(one.exported),
                f"{100 * one.bare / max(one.exported, 1):.0f}%",
            ]
            for one in every
        ]
        under = f"under {FEW_WORDS} words before"
        parts.append(table(["notebook", "exported lines", under], rows))
    return "\n\n".join(parts)


if __name__ == "__main__":
    given = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    print(report(Path(given)))
