"""What a long loop tells, and when: by a clock that the tests set."""

import warnings

import pytest

from fsel_book.progress import LONG, Progress, in_words


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
