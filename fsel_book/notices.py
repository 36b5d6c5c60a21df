"""How the package speaks to its user while it works: warnings that point at the user's
own line, and none of other packages' that should not reach them.
"""

import sys
from typing import TypeVar

__all__ = ["as_trial", "stack_level"]


_Machine = TypeVar("_Machine")


def _say_nothing() -> None:
    pass


def as_trial(machine: _Machine) -> _Machine:
    """A machine of libsvm that says nothing where its steps run out, and has the
    `fit_status_` 1 then; not one to keep.

    Its callers judge the fit themselves, by `fit_status_` or by the duality gap, and try
    otherwise where it is not good enough: scikit-learn's `ConvergenceWarning` would speak
    of a fit that nobody gets. Only this object loses the method that warns; a filter of
    warnings would act on all threads.
    """
    vars(machine)["_warn_from_fit_status"] = _say_nothing
    return machine


def stack_level() -> int:
    """The `stacklevel` that lets a warning, given where this is called, point at the
    caller outside the package.

    Frames of `functools` are passed over as well: they stand between a method and its
    caller where the method is wrapped.
    """
    frame = sys._getframe(1)
    level = 1
    while (
        frame.f_globals.get("__name__", "").startswith(("fsel_book.", "functools"))
        and frame.f_back
    ):
        frame = frame.f_back
        level = level + 1
    return level
