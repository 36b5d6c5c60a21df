"""The numbers of `tools/house.py`, on a small package made for it."""

import ast
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

root = Path(__file__).resolve().parent.parent
spec = importlib.util.spec_from_file_location("house", root / "tools" / "house.py")
house = importlib.util.module_from_spec(spec)
sys.modules["house"] = house
spec.loader.exec_module(house)

FIRST = '''"""A module."""

# a remark
a, b = 1, 2  # packed


def double(x):
    """Twice x.

    In two paragraphs.
    """
    if x is None: return None
    text = """two
    lines"""
    return (
        x
        + x
    )


class Base:
    """A thing.

    Attributes
    ----------
    size : int
        How large.
    """

    def __init__(self, size):
        self.size = size
'''
SECOND = '''from fsel_book.first import Base, _hidden
from .first import _other
from elsewhere import _theirs


class Thing(Base):
    """More.

    Parameters
    ----------
    width, height : float
        Two sides.
    """

    def __init__(self, width, height):
        self.width = width
        self.height = height
        self.secret = 0

    def grow(self):
        self.size, self.grown = self.size + 1, True
        other = Base(1)
        other.foreign = 2
'''


@pytest.fixture
def checkout(tmp_path):
    """A checkout with two modules and a notebook."""
    package = tmp_path / "fsel_book"
    package.mkdir()
    (package / "first.py").write_text(FIRST)
    (package / "second.py").write_text(SECOND)
    (package / "_modidx.py").write_text("d = 1, 2\n")
    cells = [
        ("markdown", "# A title " + "word " * 50),
        ("code", "#| export\nimport os"),
        ("code", "#| export\nx = 1"),
        ("code", "#| export\ny = 1\nz = 2\nw = 3"),
        ("markdown", "word " * 30),
        ("code", "print(x)"),
        ("markdown", "word " * 30),
        ("code", '#| exports\ndef f():\n    """Text."""\n    return x'),
    ]
    notebook = {"cells": [dict(cell_type=kind, source=[text]) for kind, text in cells]}
    (tmp_path / "nbs").mkdir()
    (tmp_path / "nbs" / "01_first.ipynb").write_text(json.dumps(notebook))
    return tmp_path


def facts_of(checkout):
    return {facts.name: facts for facts in house.package_facts(checkout / "fsel_book")}


def test_lines_of_code_are_neither_docstrings_nor_comments(checkout):
    facts = facts_of(checkout)
    assert set(facts) == {"first", "second"}
    # a, b; def, if, two lines of text, four of return; class, __init__ and its body
    assert facts["first"].code_lines == 12
    assert facts["first"].same_line == [12]


def test_nodes_do_not_count_docstrings():
    with_text = ast.parse('def f(x):\n    """Text."""\n    return x\n')
    without = ast.parse("def f(x):\n    return x\n")
    assert house.nodes_of_syntax(with_text) == house.nodes_of_syntax(without)
    longer = ast.parse("def f(x):\n    return x + 1\n")
    assert house.nodes_of_syntax(longer) > house.nodes_of_syntax(without)


def test_packed_assignments_are_counted_by_their_elements(checkout):
    facts = facts_of(checkout)
    assert facts["first"].packed == facts["second"].packed == 2
    for source in ("a = 1, 2", "a, b = f()", "a = b = 1"):
        assert house.packed_elements(ast.parse(source)) == 0


@pytest.mark.parametrize(
    "source, lines",
    [
        ("if a: b", [1]),
        ("if a:\n    b\nelse:\n    c", []),
        ("for i in x: f(i)\nwhile a:\n    b", [1]),
        ("with a: b", [1]),
        ("if (a and\n    b): c", [2]),
        ("def f(): return 1", [1]),
        ("try: a\nexcept E: b", [1, 2]),
    ],
)
def test_bodies_on_the_line_of_their_condition(source, lines):
    assert house.bodies_on_one_line(ast.parse(source)) == lines


def test_private_imports_are_those_of_the_package(checkout):
    facts = facts_of(checkout)
    package = "fsel_book"
    assert facts["first"].private_imports == []
    assert facts["second"].private_imports == [
        "first._other",
        f"{package}.first._hidden",
    ]


def test_attributes_are_described_by_the_class_or_its_bases(checkout):
    facts = facts_of(checkout)
    assert facts["first"].undescribed == [] and facts["first"].attributes == 1
    assert facts["second"].undescribed == ["Thing.secret", "Thing.grown"]
    assert facts["second"].attributes == 5


def test_words_between_exported_cells(checkout):
    (facts,) = house.notebook_facts(checkout / "nbs")
    # three lines with no word before them, two with sixty; the first cell does not count
    assert (facts.name, facts.exported, facts.bare) == ("01_first.ipynb", 5, 3)


def test_the_report_of_a_checkout(checkout):
    command = [sys.executable, str(root / "tools" / "house.py"), str(checkout)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "second: Thing.secret, Thing.grown" in text
    assert "second imports first._other, fsel_book.first._hidden" in text
    rows = [line.split() for line in text.splitlines()]
    assert ["01_first.ipynb", "5", "60%"] in rows
    assert any(row[:2] == ["first", "12"] for row in rows if row)


def test_words_that_docstrings_share_describe_attributes(tmp_path):
    folder = tmp_path / "fsel_book"
    folder.mkdir()
    words = 'DOCS = {"size": """\\\nsize : int\n    How large."""}\n'
    words += 'DOCS.update(age="""\\\nage : int\n    How old.""")\n'
    (folder / "docs.py").write_text(words)
    thing = '''class Thing:
    """A thing.

    Parameters
    ----------
    %(size)s
    %(age)s
    """

    def __init__(self, size, age):
        self.size = size
        self.age = age
        self.other = size
'''
    (folder / "thing.py").write_text(thing)
    (facts,) = (one for one in house.package_facts(folder) if one.name == "thing")
    assert facts.attributes == 3 and facts.undescribed == ["Thing.other"]
