"""What `help()`, `?` and Shift-Tab show of public names: how they are called, in names and
defaults alone, and which chapter explains them.

The types of parameters are in the docstrings, in words. In signatures they are for type
checkers and editors, which read the source; `__annotations__` stay as they are.
"""

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from textwrap import fill, indent
from types import FunctionType
from typing import Any

from fsel_book.chapters import CHAPTERS, PUBLIC_NAMES

__all__ = ["ShortSignature", "chapter_note", "prepare_help", "with_note"]


# of a docstring with the indent of a module's first level
WIDTH = 84

SECTION = re.compile(r"^( *)\w[\w ]*\n\1-{3,}$", re.MULTILINE)

CALLED = ("__init__", "__new__", "__call__")

_prepared: set[str] = set()


def chapter_note(module: str) -> str:
    """Which chapter explains what a module of the package holds, and where it is; empty
    where none does.

    Examples
    --------
    >>> from fsel_book.help_texts import chapter_note
    >>> print(chapter_note("fsel_book.sparsification"))
    Explained in chapter 5, "Single-set spectral sparsification"
    (nbs/05_sparsification.ipynb in the repository, 05_sparsification.html on the site).
    """
    stem, title = CHAPTERS.get(module.removeprefix("fsel_book."), ("", ""))
    if not stem:
        return ""
    number = stem.partition("_")[0].lstrip("0")
    kind = "chapter" if number.isdigit() else "appendix"
    text = (
        f'Explained in {kind} {number}, "{title}" (nbs/{stem}.ipynb in the repository, '
        f"{stem}.html on the site)."
    )
    return fill(text, WIDTH, break_on_hyphens=False)


def with_note(docstring: str, note: str) -> str:
    """A docstring with a paragraph above its first section, or at its end."""
    section = SECTION.search(docstring)
    if section is None:
        return f"{inspect.cleandoc(docstring)}\n\n{note}\n"
    start = section.start()
    return f"{docstring[:start]}{indent(note, section[1])}\n\n{docstring[start:]}"


class ShortSignature(inspect.Signature):
    """How a function is called, in names and defaults alone.

    Made out when somebody looks: signatures of all public functions would be a good part
    of what it takes to import the package.
    """

    __slots__ = ("_function",)

    def __init__(self, function: FunctionType) -> None:
        self._function = function

    def _made_out(self) -> inspect.Signature:
        inner = inspect.unwrap(self._function)
        # the same without annotations, and without this signature
        bare = FunctionType(
            inner.__code__, {}, inner.__name__, inner.__defaults__, inner.__closure__
        )
        bare.__kwdefaults__ = inner.__kwdefaults__
        return inspect.signature(bare)

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:  # type: ignore[override]
        """By their names, in order."""
        return self._made_out().parameters

    @property
    def return_annotation(self) -> Any:
        """None is given."""
        return inspect.Signature.empty

    def replace(self, **changed: Any) -> inspect.Signature:  # type: ignore[override]
        """A signature of the ordinary kind, with something else in it."""
        return self._made_out().replace(**changed)

    def __reduce__(self) -> Any:
        return self._made_out().__reduce__()


def functions_of(thing: Any) -> Iterator[FunctionType]:
    """A function itself; of a class what makes an object, and its public methods, with
    those of its bases in the package.
    """
    if isinstance(thing, FunctionType):
        yield thing
    elif inspect.isclass(thing):
        for kind in thing.__mro__:
            if kind.__module__.startswith("fsel_book."):
                for name, member in vars(kind).items():
                    # what stands behind classmethod and available_if
                    inner = getattr(member, "__func__", getattr(member, "fn", member))
                    shown = not name.startswith("_") or name in CALLED
                    if shown and isinstance(inner, FunctionType):
                        yield inner


def prepare_help() -> None:
    """Give the public names of all modules that are loaded by now their short signatures
    and the notes on their chapters.
    """
    for home, names in PUBLIC_NAMES.items():
        module = sys.modules.get(f"fsel_book.{home}")
        if module is None or home in _prepared:
            continue
        _prepared.add(home)
        note = chapter_note(home)
        # a name that was changed since the last `make sync` does not stop the import
        for thing in (vars(module)[name] for name in names if name in vars(module)):
            for function in functions_of(thing):
                if "__signature__" not in vars(function):
                    vars(function)["__signature__"] = ShortSignature(function)
            if note and thing.__doc__:  # there is none under `python -OO`
                thing.__doc__ = with_note(thing.__doc__, note)
