"""How far a long loop has come: a bar where `verbose` asks for one, and else one warning
where the first steps show that the rest will take long.

No time is predicted before a loop begins. What a fit takes depends on the machine, the
data and the array library, so the only estimate given is measured: from the steps that
have been made.
"""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, TypeVar

from tqdm.auto import tqdm

from fsel_book.notices import stack_level

__all__ = ["LONG", "Progress", "in_words"]

LONG = 20.0  # seconds in all from which a loop says that it will take long
FIRST_LOOK = 2.0  # seconds after which its pace is known well enough to say so
FEWEST_STEPS = 3

Item = TypeVar("Item")


def in_words(seconds: float) -> str:
    """A duration as a person would say it: "40 seconds", "3 minutes", "2.5 hours"."""
    for unit, name in ((3600, "hours"), (60, "minutes")):
        if seconds >= 1.5 * unit:
            number = seconds / unit
            return f"{number:.1f} {name}" if number < 3 else f"{number:.0f} {name}"
    return f"{seconds:.0f} seconds" if seconds >= 1.5 else "a second"


class Progress:
    """Counts the steps of a loop, and tells how long it will take where that is long.

    Parameters
    ----------
    total : int
        The number of steps.
    what : str
        What is under way, as the bar and the warning call it, such as
        "BSSSelector.fit".
    verbose : int
        Show a bar, and no warning.
    remedy : str
        What the warning says could be done about it: one or more whole sentences.
    work : callable, optional
        `work(k)`: the work that `k` steps take, in any unit, where steps do not take
        about the same time.
    clock : callable
        Where the time comes from, in seconds.

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
        verbose: int = 0,
        remedy: str = "",
        work: Callable[[int], float] | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.total = total
        self.what = what
        self.remedy = remedy
        self.work = work or float
        self.clock = clock
        self.done = 0
        self.silent = bool(verbose)  # the warning has been given, or is not wanted
        self.bar: Any = tqdm(total=total, desc=what, disable=not verbose)
        self.begun = clock()

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.bar.close()

    def advance(self, steps: int = 1) -> None:
        """Count `steps` more as made."""
        self.done += steps
        self.bar.update(steps)
        if not self.silent and self.done >= min(FEWEST_STEPS, self.total):
            spent = self.clock() - self.begun
            if spent >= FIRST_LOOK:
                self._say_if_long(spent)

    def over(self, items: Iterable[Item]) -> Iterator[Item]:
        """The `items`, each counted as a step when the next one is asked for."""
        for item in items:
            yield item
            self.advance()

    def seconds_in_all(self, spent: float) -> float:
        """What all steps will take, if those made so far took `spent` seconds."""
        return spent * self.work(self.total) / max(self.work(self.done), 1e-300)

    def _say_if_long(self, spent: float) -> None:
        whole = self.seconds_in_all(spent)
        if whole < LONG or self.done >= self.total:
            return
        self.silent = True
        warnings.warn(
            f"{self.what} will take about {in_words(whole)}, by the pace of its first "
            f"{self.done} of {self.total} steps. {self.remedy} verbose=1 shows how far "
            "it has come.".replace("  ", " "),
            UserWarning,
            stacklevel=stack_level(),
        )
