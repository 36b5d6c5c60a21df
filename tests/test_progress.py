"""What a long loop tells, and when: by a clock that the tests set."""

import io
import sys
import warnings

import pytest

from fsel_book import BSSSelector, LPSVMClassifier, progress
from fsel_book.progress import FIRST_LOOK, LONG, Progress, in_words, warn_if_long


@pytest.fixture(autouse=True)
def patient():
    """Here a loop is long where it is for a person."""


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def run(total, seconds, **options):
    """All warnings of a loop whose step `k` takes `seconds(k)`."""
    clock = Clock()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with Progress(total, "A fit", clock=clock, **options) as progress:
            for k in progress.over(range(total)):
                clock.now += seconds(k)
    return [str(warning.message) for warning in seen]


def test_a_short_loop_says_nothing():
    assert run(100, lambda k: 0.01) == []
    assert run(3, lambda k: LONG / 3.1) == []


def test_a_long_loop_says_once_how_long_it_will_take():
    (message,) = run(400, lambda k: 1.0, remedy="Ask for fewer.")
    assert "about 7 minutes" in message and "first 3 of 400" in message
    assert "Ask for fewer. verbose=1" in message


@pytest.mark.parametrize("power", [0, 1, 2])
def test_the_estimate_is_right_where_steps_grow_as_was_said(power):
    def work(k):
        return float(sum(j**power for j in range(1, k + 1)))

    total = 60
    pace = 200 / work(total)
    messages = run(total, lambda k: pace * (k + 1) ** power, work=work)
    assert len(messages) == 1 and "about 3 minutes" in messages[0]


def test_a_first_step_that_takes_longer_is_counted_once():
    def seconds(k):
        return 1.5 * LONG if k == 0 else FIRST_LOOK / 2

    assert run(3, seconds) == []
    (message,) = run(31, seconds)
    assert "about 60 seconds" in message
    assert run(1000, lambda k: 0.9 * LONG if k == 0 else 1e-6) == []


def test_a_pace_is_not_told_from_a_moment():
    assert run(10**5, lambda k: 0.1 if k == 2 else 0.0) == []


def test_steps_that_turn_out_to_be_fewer_or_more_change_the_estimate():
    for to_come, words in ((10, None), (400, "about 7 minutes")):
        clock = Clock()
        progress = Progress(30, "A fit", clock=clock)
        progress.to_come(to_come)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            for _ in progress.over(range(5)):
                clock.now += 1
        assert [words in str(one.message) for one in seen] == [True] * bool(words)


def test_a_second_loop_goes_on_counting():
    clock = Clock()
    progress = Progress(100, "A fit", clock=clock)
    with pytest.warns(UserWarning, match="first 9 of 100 steps") as seen:
        for _loop in range(20):
            for _ in progress.over(range(5)):
                clock.now += 0.25
    assert progress.done == 100 and len(seen) == 1


@pytest.mark.parametrize("at_most", [False, True])
def test_a_loop_that_may_end_early_says_at_most(at_most):
    (message,) = run(100, lambda k: 1.0, at_most=at_most)
    assert ("about 1.7 minutes at most" in message) == at_most


def test_only_what_has_a_bar_speaks_of_it():
    (message,) = run(100, lambda k: 1.0, verbose=None, remedy="Ask for fewer.")
    assert message.endswith("steps. Ask for fewer.")
    for estimator, speaks in ((BSSSelector(), True), (LPSVMClassifier(), False)):
        progress = Progress.of_fit(estimator, 5)
        assert ("verbose=1" in progress.remedy) == speaks
        assert progress.what == f"{type(estimator).__name__}.fit"


def test_what_was_measured_elsewhere_is_said_where_it_is_long():
    assert not warn_if_long("A trial", 0.9 * LONG, 5, 10)
    with pytest.warns(UserWarning, match="A trial will take about 2.0 hours") as seen:
        assert warn_if_long("A trial", 7200, 5, 10)
    assert seen[0].filename == __file__


def test_a_loop_that_is_nearly_done_is_left_alone():
    def seconds(k):
        return 0.0 if k < 9 else 100.0

    assert run(10, seconds) == []


def test_a_bar_takes_the_place_of_the_warning(capsys):
    assert run(5, lambda k: 50.0, verbose=1) == []
    assert "A fit: 100%" in capsys.readouterr().err


def test_the_bar_is_closed_where_a_loop_fails(capsys):
    with pytest.raises(KeyError), Progress(5, "A fit", verbose=1) as progress:
        for _ in progress.over(range(5)):
            raise KeyError
    assert progress.bar.disable or progress.bar.pos <= 0


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "a second"),
        (40, "40 seconds"),
        (100, "1.7 minutes"),
        (600, "10 minutes"),
        (6000, "1.7 hours"),
        (36000, "10 hours"),
    ],
)
def test_durations_are_said_as_a_person_would(seconds, words):
    assert in_words(seconds) == words


@pytest.mark.parametrize(("is_terminal", "watched"), [(True, True), (False, False)])
def test_somebody_watches_a_terminal(is_terminal, watched, monkeypatch):
    stream = io.StringIO()
    stream.isatty = lambda: is_terminal
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    assert progress.is_watched() == watched
    monkeypatch.setattr("sys.stderr", None)
    assert not progress.is_watched()


def test_a_late_bar_shows_nothing_of_what_is_soon_done(capsys):
    now = [0.0]
    bar = progress.LateBar("fold", after=3.0, clock=lambda: now[0])
    for done in range(3):
        now[0] += 0.9
        bar("Comparing", done, 5)
    assert bar.bar is None and capsys.readouterr().err == ""
    now[0] += 0.9
    bar("Comparing", 3, 5)
    assert "Comparing" in (shown := capsys.readouterr().err) and "3/5" in shown
    bar.close()
    assert bar.bar is None
