"""One vocabulary: the page of all parameters says what signatures and docstrings say."""

import inspect
import json
import re
from pathlib import Path

import pytest
from cases import PUBLIC
from sklearn.base import BaseEstimator

PAGE = Path(__file__).resolve().parent.parent / "nbs" / "parameters.ipynb"
EACH = {
    name: thing
    for name, thing in PUBLIC.items()
    if inspect.isclass(thing)
    and issubclass(thing, BaseEstimator)
    and not inspect.isabstract(thing)
}


def table():
    """Parameter, meaning, type, default, estimators of each row; "As above." stands for
    that of the row above.
    """
    rows = []
    meaning = ""
    cells = json.loads(PAGE.read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells)
    for line in text.splitlines():
        if line.startswith("| `"):
            name, words, kind, default, names = (
                part.strip() for part in line.strip("|").split("|")
            )
            meaning = meaning if words == "As above." else words
            rows.append(
                (
                    name.strip("`"),
                    meaning,
                    kind,
                    default.strip("`"),
                    re.findall(r"`(\w+)`", names),
                )
            )
    return rows


def parameters_of(estimator):
    """The section Parameters of its docstring, up to the next heading."""
    text = inspect.getdoc(estimator).split("Parameters\n----------\n")[1]
    return re.split(r"\n\n\w[\w ]*\n-{3,}\n", text)[0]


def described(estimator):
    """The type that the docstring gives to each parameter."""
    section = parameters_of(estimator)
    heads = [
        re.match(r"(\w+(?:, \w+)*)(?: : (.*))?$", line)
        for line in section.splitlines()
        if line[:1].strip()
    ]
    assert all(heads), section
    return {
        name: (head[2] or "").removesuffix(", optional")
        for head in heads
        for name in head[1].split(", ")
    }


STUDY = "the selection study"
SELECTORS = (
    "BSSSelector",
    "DSFSelector",
    "LeverageSelector",
    "RSFSelector",
    "RRQRSelector",
)
WHY = [
    ("BSSSelector", "rule", STUDY),
    ("DSFSelector", "rule", STUDY),
    ("LeverageSelector", "rule", STUDY),
]
WHY += [
    ("BSSSelector", "rank", STUDY),
    ("RRQRSelector", "strong", STUDY),
    ("RiskRFE", "step_tol", "371"),
]
WHY += [
    (name, "rank", STUDY if name == "LeverageSelector" else "LeverageSelector")
    for name in SELECTORS[1:]
]
WHY += [
    (name, "score_func", STUDY)
    for name in ("BSSSelector", "DSFSelector", "CompletionSelector")
]
WHY += [
    (name, "rescale", STUDY)
    for name in ("BSSSelector", "DSFSelector", "LeverageSelector", "RSFSelector")
]
WHY += [
    ("CompletionSelector", "distortion", "four draws"),
    ("LeverageSelector", "delta", "logarithm"),
]
WHY += [
    ("BSSSelector", "eps", "number of draws"),
    ("SupportVectorSelector", "selector", "BSSSelector"),
]


@pytest.mark.parametrize("name, parameter, words", WHY)
def test_a_docstring_says_why_a_default_is_what_it_is(name, parameter, words):
    """What was decided by a study names its chapter, what follows from a theorem says
    from what.
    """
    section = parameters_of(EACH[name])
    entries = re.split(r"\n(?=\w+ : )", section)
    (entry,) = (entry for entry in entries if entry.startswith(f"{parameter} : "))
    assert words in " ".join(entry.split())


@pytest.mark.parametrize("name", EACH)
def test_the_table_has_every_parameter_with_its_type_and_default(name):
    signature = inspect.signature(EACH[name]).parameters
    types = described(EACH[name])
    assert list(types) == list(signature), (
        "the docstring's parameters are those of the signature, in order"
    )
    defaults = {
        p: "required" if q.default is q.empty else repr(q.default)
        for p, q in signature.items()
    }
    expected = {
        (p, types[p], default.replace("'", '"')) for p, default in defaults.items()
    }
    assert {
        (p, kind, default) for p, _, kind, default, names in table() if name in names
    } == expected


def test_the_table_has_nothing_else_and_one_meaning_for_each_word():
    rows = table()
    assert {name for *_, names in rows for name in names} == set(EACH)
    meanings = {}
    for name, meaning, *_ in rows:
        assert meanings.setdefault(name, meaning) == meaning and meaning.endswith(".")
    assert len(set(meanings.values())) == len(meanings)


def test_every_parameter_has_a_type_in_its_docstring():
    assert not [
        (name, p)
        for name, thing in EACH.items()
        for p, kind in described(thing).items()
        if not kind
    ]
