"""How far a long loop has come: a bar where `verbose` asks for one, and else one warning
where the first steps show that the rest will take long.

No time is predicted before a loop begins. What a fit takes depends on the machine, the
data and the array library, so the only estimate given is measured: from the steps that
have been made.
"""

import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, Self, TypeVar

from fsel_book.notices import stack_level

__all__ = ["LONG", "LateBar", "Progress", "in_words", "is_watched", "warn_if_long"]

LONG = 20.0  # seconds in all from which a loop says that it will take long
FIRST_LOOK = 2.0  # seconds of steps after which their pace is known well enough
LATE = 3.0  # seconds after which somebody who watches is shown a bar
FEWEST_STEPS = 3  # before which nothing is said of the pace

Item = TypeVar("Item")


def in_words(seconds: float) -> str:
    """A duration as a person would say it: "40 seconds", "3 minutes", "2.5 hours"."""
    for unit, name in ((3600, "hours"), (60, "minutes")):
        if seconds >= 1.5 * unit:
            number = seconds / unit
            return f"{number:.1f} {name}" if number < 3 else f"{number:.0f} {name}"
    return f"{seconds:.0f} seconds" if seconds >= 1.5 else "a second"


def warn_if_long(
    what: str,
    seconds: float,
    done: int,
    total: int,
    remedy: str = "",
    *,
    at_most: bool = False,
) -> bool:
    """Warn, at the caller outside the package, if `what` will take long: `seconds` in
    all, as `done` of its `total` steps have shown; whether it will.
    """
    if seconds < LONG:
        return False
    limit = " at most" if at_most else ""
    warnings.warn(
        f"{what} will take about {in_words(seconds)}{limit}, by the pace of its first "
        f"{done} of {total} steps. {remedy}".strip(),
        UserWarning,
        stacklevel=stack_level(),
    )
    return True


class Progress:
    """Counts the steps of a loop, and tells how long it will take where that is long.

    The first step does not count for the pace: much in it is done only once, such as
    compiling, or the first look at all columns.

    Parameters
    ----------
    total : int
        The number of steps.
    what : str
        What is under way, as the bar and the warning call it, such as
        "BSSSelector.fit".
    verbose : int or None
        1 shows a bar, and no warning. None is for what has no `verbose`: the warning
        then does not speak of it.
    remedy : str
        What the warning says could be done about it: one or more whole sentences.
    at_most : bool
        Whether the loop may end before `total` steps.
    work : callable, optional
        `work(k)`: the work that `k` steps take, in any unit, where steps do not take
        about the same time.
    clock : callable
        Where the time comes from, in seconds.

    Attributes
    ----------
    done : int
        The number of steps made.
    silent : bool
        Whether the warning has been given, or is not wanted.
    bar : tqdm or None
    begun : float
        The time of the clock before the first step.
    paced_from : tuple of (int, float) or None
        How many steps were made when the measuring of the pace began, and the time of
        the clock; None before.

    Examples
    --------
    >>> from fsel_book.progress import Progress
    >>> with Progress(3, "a short loop") as progress:
    ...     sum(progress.over(range(3)))
    3
    """

    def __init__(
        self,
        total: int,
        what: str,
        verbose: int | None = 0,
        remedy: str = "",
        at_most: bool = False,
        work: Callable[[int], float] | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.total = total
        self.what = what
        bar_to_ask_for = "verbose=1 shows how far it has come."
        self.remedy = (
            remedy if verbose is None else f"{remedy} {bar_to_ask_for}".strip()
        )
        self.at_most = at_most
        self.work = work or float
        self.clock = clock
        self.done = 0
        self.silent = bool(verbose)
        self.bar: Any = None
        if verbose:
            # not above: in a notebook without widgets it warns where it is imported
            from tqdm.auto import tqdm

            self.bar = tqdm(total=total, desc=what)
        self.begun = clock()
        self.paced_from: tuple[int, float] | None = None

    @classmethod
    def of_fit(
        cls, estimator: Any, total: int, remedy: str = "", at_most: bool = False
    ) -> Self:
        """For the `total` steps of a fit of `estimator`, which may have a `verbose`."""
        what = f"{type(estimator).__name__}.fit"
        verbose = getattr(estimator, "verbose", None)
        return cls(total, what, verbose, remedy, at_most)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.bar is not None:
            self.bar.close()

    def advance(self, steps: int = 1) -> None:
        """Count `steps` more as made."""
        self.done += steps
        if self.bar is not None:
            self.bar.update(steps)
        if self.silent:
            return
        now = self.clock()
        if self.paced_from is None:
            self.paced_from = self.done, now
        elif self.done >= FEWEST_STEPS and now - self.paced_from[1] >= FIRST_LOOK:
            self._say_if_long(now)

    def over(self, items: Iterable[Item]) -> Iterator[Item]:
        """The `items`, each counted as a step when the next one is asked for."""
        # what was done between the making of this object and its first loop is no step
        if not self.done:
            self.begun = self.clock()
        for item in items:
            yield item
            self.advance()

    def to_come(self, steps: int) -> None:
        """Correct the total, where so many `steps` now turn out to be left."""
        self.total = self.done + steps
        if self.bar is not None:
            self.bar.total = self.total

    def seconds_in_all(self, now: float) -> float:
        """What all steps will take, by the pace until `now`: the time before the pace was
        measured, and the measured time by the share of the work that it was.
        """
        if self.paced_from is None:
            return now - self.begun
        first, start = self.paced_from
        measured = self.work(self.done) - self.work(first)
        rest = self.work(self.total) - self.work(first)
        return start - self.begun + (now - start) * rest / max(measured, 1e-300)

    def _say_if_long(self, now: float) -> None:
        """Give the warning if it is due, and then no other. Until it is given the pace is
        looked at after every step, since it may fall.
        """
        self.silent = self.done < self.total and warn_if_long(
            self.what,
            self.seconds_in_all(now),
            self.done,
            self.total,
            self.remedy,
            at_most=self.at_most,
        )


def is_watched() -> bool:
    """Whether somebody watches: the errors go to a terminal, or to a notebook."""
    if "ipykernel" in sys.modules:
        from IPython import get_ipython

        if hasattr(get_ipython(), "kernel"):
            return True
    return bool(getattr(sys.stderr, "isatty", bool)())


class LateBar:
    """A bar for work of several kinds, from the time on when it has taken long; it is
    gone when the work is done. What is done sooner shows nothing.

    Parameters
    ----------
    unit : str
        What a step is called.
    after : float
        Seconds before which nothing is shown.
    clock : callable
        Where the time comes from, in seconds.

    Attributes
    ----------
    begun : float
        The time of the clock at the start.
    bar : tqdm or None
        None before it is shown, and after `close`.

    Examples
    --------
    >>> from fsel_book.progress import LateBar
    >>> bar = LateBar("fold")
    >>> bar("Comparing", 1, 5)
    >>> bar.close()
    """

    def __init__(
        self,
        unit: str,
        after: float = LATE,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.unit = unit
        self.after = after
        self.clock = clock
        self.begun = clock()
        self.bar: Any = None

    def __call__(self, what: str, done: int, total: int) -> None:
        """Say that of some work so many of the steps are done."""
        if self.clock() - self.begun < self.after:
            return
        if self.bar is None:
            # the plain one, which needs no widgets in a notebook
            from tqdm import tqdm

            self.bar = tqdm(unit=self.unit, file=sys.stderr, leave=False)
        self.bar.set_description(what, refresh=False)
        self.bar.total, self.bar.n = total, done
        self.bar.refresh()

    def close(self) -> None:
        """Take the bar away."""
        if self.bar is not None:
            self.bar.close()
            self.bar = None
