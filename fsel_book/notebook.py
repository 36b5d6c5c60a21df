"""What the notebooks of the book use beside the package: stored records, a switch for
what takes long, pictures that move, and checks of answers to exercises.
"""

import os
from collections.abc import Callable
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

__all__ = ["check", "exercise", "live", "run_heavy", "stored_record"]

SWITCH = "FSEL_BOOK_HEAVY"

Judge = Callable[[Any], bool | str]
_judges: dict[int, Judge] = {}


def stored_record(name: str) -> Path:
    """Where a stored record of the book is.

    A run of your own that wrote `records/NAME` in the folder you work in comes before
    the record that comes with the package.

    Parameters
    ----------
    name : str
        The name of the file, such as "ridge_table_1.csv".

    Returns
    -------
    Path

    Raises
    ------
    FileNotFoundError
        If neither is there.

    Examples
    --------
    >>> from fsel_book.notebook import stored_record
    >>> stored_record("ridge_table_1.csv").name
    'ridge_table_1.csv'
    """
    own = Path("records") / name
    if own.exists():
        return own
    with as_file(files("fsel_book") / "records" / name) as shipped:
        if shipped.exists():
            return shipped
    known = sorted(
        entry.name for entry in (files("fsel_book") / "records").iterdir()
    )
    raise FileNotFoundError(
        f"There is no record {name!r}, neither in the folder `records` here nor in the "
        f"package, which has {', '.join(known)}."
    )


def run_heavy(cost: str) -> bool:
    """Whether a cell that costs much is to run; if not, it says so.

    Parameters
    ----------
    cost : str
        What it costs, such as "2 minutes on two cores".

    Returns
    -------
    bool
        True where the environment variable `FSEL_BOOK_HEAVY` is set, to anything but 0.

    Examples
    --------
    >>> from fsel_book.notebook import run_heavy
    >>> if run_heavy("a day"):
    ...     print("at work")
    Left out, since it takes a day. To run it: %env FSEL_BOOK_HEAVY=1, and this cell again.
    """
    if os.environ.get(SWITCH, "0") not in ("", "0"):
        return True
    print(
        f"Left out, since it takes {cost}. To run it: %env {SWITCH}=1, and this cell "
        "again."
    )
    return False


def live(draw: Callable[..., Any], **controls: Any) -> None:
    """Draw a picture again whenever one of its controls is moved.

    Where ipywidgets is missing it says so, once, and draws nothing.

    Parameters
    ----------
    draw : callable
        Draws the picture, and shows it, for one value of each control.
    **controls
        For each parameter of `draw` a pair `(lowest, highest)`, a triple with the step,
        a list of choices, or a widget.

    Examples
    --------
    >>> from fsel_book.notebook import live
    >>> live(lambda r: print(f"r = {r}"), r=(1, 9))  # doctest: +SKIP
    """
    try:
        from ipywidgets import interact
    except ModuleNotFoundError:
        print('To move this picture: %pip install "fsel_book[book]"')
        return
    interact(draw, **controls)


def exercise(number: int) -> Callable[[Judge], Judge]:
    """Decorate the function that judges the answers to an exercise.

    Parameters
    ----------
    number : int

    Returns
    -------
    callable
        A decorator. The function that it takes gets an answer, and returns True if it
        is right, else False or a hint.

    Examples
    --------
    >>> from fsel_book.notebook import check, exercise
    >>> @exercise(1)
    ... def _(root):
    ...     return root**2 == 49 or "Square it."
    >>> check(1, 6)
    Exercise 1: not yet. Square it.
    >>> check(1, -7)
    Exercise 1: right.
    """

    def decorate(judge: Judge) -> Judge:
        _judges[number] = judge
        return judge

    return decorate


def check(number: int, answer: Any) -> None:
    """Say whether an answer to an exercise of this notebook is right.

    Parameters
    ----------
    number : int
    answer : object
        `None` or `...` for none yet. It is never an error: what the answer raises is
        said, and so is a hint where there is one.

    Raises
    ------
    KeyError
        If the exercise has no check, or the cell with the check has not run.

    Examples
    --------
    >>> from fsel_book.notebook import check, exercise
    >>> judge = exercise(2)(lambda f: f(3) == 9)
    >>> check(2, None)
    Exercise 2: no answer yet.
    >>> check(2, lambda x: x + 1)
    Exercise 2: not yet.
    >>> check(2, "x")
    Exercise 2: not yet. It raises TypeError: 'str' object is not callable
    """
    if number not in _judges:
        known = ", ".join(map(str, sorted(_judges))) or "none"
        raise KeyError(
            f"Exercise {number} has no check here; these have: {known}. Run the cells "
            "above first."
        )
    if answer is None or answer is ...:
        print(f"Exercise {number}: no answer yet.")
        return
    try:
        verdict = _judges[number](answer)
    except Exception as error:
        verdict = f"It raises {type(error).__name__}: {error}"
    if isinstance(verdict, str):
        print(f"Exercise {number}: not yet. {verdict}")
    else:
        print(f"Exercise {number}: {'right' if verdict else 'not yet'}.")
