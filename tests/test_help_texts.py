"""What `help()` and Jupyter show: names and defaults, and where a thing is explained."""

import copy
import functools
import inspect
import pickle
import pydoc
import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest
from cases import PUBLIC, swept
from IPython.core.oinspect import Inspector
from sklearn.base import BaseEstimator, clone

import fsel_book
from fsel_book import BSSSelector, CertifiedSelector, certify
from fsel_book.chapters import CHAPTERS
from fsel_book.help_texts import chapter_note, prepare_help, with_note

root = Path(__file__).resolve().parent.parent
# what the front loads, and what it loads when asked
EACH = {
    name: thing
    for name, thing in PUBLIC.items()
    if not thing.__module__.startswith("fsel_book.papers")
}
assert {fsel_book.report, fsel_book.load_table} <= {*EACH.values()}


def methods(thing):
    """The public methods of a class that this package defines."""
    if not inspect.isclass(thing):
        return
    for name, member in inspect.getmembers(thing, callable):
        home = next(kind for kind in thing.__mro__ if name in vars(kind))
        if home.__module__.startswith("fsel_book.") and not inspect.isclass(member):
            if not name.startswith("_") or name == "__call__":
                # scikit-learn makes these
                if not re.fullmatch(r"set_\w+_request", name):
                    yield member


@pytest.mark.parametrize("name", EACH)
def test_signatures_are_names_and_defaults(name):
    thing = EACH[name]
    for one in [thing, *methods(thing)]:
        signature = inspect.signature(one)
        assert signature.return_annotation is signature.empty, one
        for parameter in signature.parameters.values():
            assert parameter.annotation is parameter.empty, one


def test_types_stay_for_those_who_ask_for_them():
    assert typing.get_type_hints(BSSSelector.__init__)["center"] is bool
    assert typing.get_type_hints(certify)["return"] is fsel_book.Certificate


def test_signatures_have_all_parameters_with_kinds_and_defaults():
    """As they are written in the source."""

    def plain(parameters):
        return [(p.name, p.kind, p.default) for p in parameters.values()]

    for thing in EACH.values():
        function = thing.__init__ if inspect.isclass(thing) else thing
        if "__signature__" not in getattr(function, "__dict__", {}):
            continue
        short = function.__dict__.pop("__signature__")
        try:
            written = inspect.signature(function)
        finally:
            function.__signature__ = short
        assert plain(short.parameters) == plain(written.parameters), thing


def test_a_short_signature_does_what_others_do():
    short = inspect.signature(certify)
    assert str(short) == "(V, sampling, promise=None, method='selection')"
    assert short.bind(1, 2).arguments == {"V": 1, "sampling": 2}
    for other in (copy.copy(short), pickle.loads(pickle.dumps(short))):
        assert other == short and hash(other) == hash(short)
    rest = inspect.signature(functools.partial(certify, 1))
    assert str(rest) == "(sampling, promise=None, method='selection')"

    @functools.wraps(certify)
    def wrapped(*given):
        return certify(*given)

    assert inspect.signature(wrapped) == short


def test_help_and_jupyter_show_how_a_selector_is_called_without_types():
    text = pydoc.plain(pydoc.render_doc(BSSSelector))
    call = (
        "BSSSelector(n_features_to_select=None, *, n_draws=None, rank=None, ridge=None,"
    )
    assert call in text and "fit(self, X, y=None, **score_params)" in text
    jupyter = Inspector(theme_name="linux")
    shown = jupyter.info(BSSSelector, oname="BSSSelector")
    assert "Literal" not in shown["init_definition"]
    assert "constraints=None" in shown["init_definition"]
    bound = jupyter.info(BSSSelector().fit, oname="fit")
    assert bound["definition"] == "fit(X, y=None, **score_params)"


def test_estimators_of_users_have_signatures_of_their_own():
    class Own(CertifiedSelector):
        def __init__(self, width: int = 3):
            self.width = width

    class Heir(BSSSelector):
        pass

    assert str(inspect.signature(Own)) == "(width: int = 3)"
    assert inspect.signature(Heir) == inspect.signature(BSSSelector)
    assert Own._get_param_names() == ["width"]


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, thing in EACH.items()
        if inspect.isclass(thing)
        and issubclass(thing, BaseEstimator)
        and not inspect.isabstract(thing)
    ],
)
def test_estimators_are_cloned_and_pickled(name):
    given = inspect.signature(EACH[name]).parameters.values()
    estimator = EACH[name](*([0] for p in given if p.default is p.empty))
    assert set(estimator.get_params(deep=False)) == {p.name for p in given}
    assert type(clone(estimator)) is type(pickle.loads(pickle.dumps(estimator)))


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, thing in EACH.items()
        if thing.__module__.removeprefix("fsel_book.") in CHAPTERS
    ],
)
def test_help_says_once_which_chapter_explains_a_thing_and_where_it_is(name):
    thing = EACH[name]
    stem, title = CHAPTERS[thing.__module__.removeprefix("fsel_book.")]
    words = " ".join(pydoc.plain(pydoc.render_doc(thing)).replace("|", "").split())
    number = stem.partition("_")[0].lstrip("0")
    kind = "chapter" if number.isdigit() else "appendix"
    place = f"nbs/{stem}.ipynb in the repository, {stem}.html on the site"
    assert words.count(f'Explained in {kind} {number}, "{title}" ({place}).') == 1
    assert (root / "nbs" / f"{stem}.ipynb").exists()
    summary = inspect.getdoc(thing).partition("\n\n")[0]
    assert "Explained" not in summary


def test_a_module_without_a_chapter_has_no_note():
    assert chapter_note("fsel_book.notices") == ""


def test_a_note_stands_above_the_first_section_or_at_the_end():
    doc = """Chooses.

    In two ways.

    Parameters
    ----------
    X : array
    """
    text = inspect.cleandoc(with_note(doc, "A note\nof two lines."))
    parts = ["Chooses.", "In two ways.", "A note\nof two lines."]
    assert text.split("\n\n")[:3] == parts and text.endswith("----------\nX : array")
    assert with_note("Chooses.", "A note.") == "Chooses.\n\nA note.\n"


def test_preparing_again_changes_nothing():
    before = inspect.getdoc(certify), inspect.signature(certify)
    prepare_help()
    assert (inspect.getdoc(certify), inspect.signature(certify)) == before


def test_a_name_that_is_gone_since_the_last_sync_does_not_stop_the_import():
    code = """
import fsel_book
from fsel_book.chapters import PUBLIC_NAMES
PUBLIC_NAMES["tables"].insert(0, "no_such_name")
assert "Explained in" in fsel_book.load_table.__doc__
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]


@swept("option", ["-OO"], ["-O"])
def test_help_is_short_from_the_start_and_without_docstrings_too(option):
    """What the front loads, before and after something is loaded late."""
    code = """
import fsel_book, inspect
print(inspect.signature(fsel_book.certify))
print(inspect.signature(fsel_book.load_docstrings))
print(inspect.signature(fsel_book.report))
print("Explained in" in (fsel_book.certify.__doc__ or ""))
"""
    done = subprocess.run(
        [sys.executable, option, "-c", code], cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    first, second, late, explained = done.stdout.splitlines()
    assert first == "(V, sampling, promise=None, method='selection')"
    assert "->" not in second and late.startswith("(data, target, *, ")
    assert explained == str(option == "-O")
