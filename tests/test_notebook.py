"""What the notebooks use beside the package: records, the switch, answers."""

import csv
import sys

import numpy as np
import pytest

from fsel_book.notebook import check, exercise, live, run_heavy, stored_record


def test_a_record_comes_with_the_package_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open(stored_record("ridge_table_1.csv"), encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) > 10


def test_a_record_of_ones_own_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "records").mkdir()
    (tmp_path / "records" / "ridge_table_1.csv").write_text("a\n1\n", encoding="utf-8")
    assert stored_record("ridge_table_1.csv").read_text(encoding="utf-8") == "a\n1\n"


def test_a_record_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(FileNotFoundError, match="no record 'x.csv'.*ridge_table_1.csv"):
        stored_record("x.csv")


@pytest.mark.parametrize(
    "value, on", [(None, False), ("0", False), ("", False), ("1", True)]
)
def test_the_switch(monkeypatch, capsys, value, on):
    if value is None:
        monkeypatch.delenv("FSEL_BOOK_HEAVY", raising=False)
    else:
        monkeypatch.setenv("FSEL_BOOK_HEAVY", value)
    assert run_heavy("3 hours") is on
    said = capsys.readouterr().out
    assert ("3 hours" in said and "FSEL_BOOK_HEAVY=1" in said) is not on


def said(capsys, number, answer):
    check(number, answer)
    return capsys.readouterr().out.strip()


def test_answers(capsys):
    @exercise(7)
    def _(answer):
        return bool(np.allclose(answer, [1, 2])) or "Try the first two."

    assert said(capsys, 7, None) == said(capsys, 7, ...) == "Exercise 7: no answer yet."
    assert said(capsys, 7, [1, 2]) == "Exercise 7: right."
    assert (
        said(capsys, 7, np.array([1, 3])) == "Exercise 7: not yet. Try the first two."
    )
    assert "It raises ValueError" in said(capsys, 7, [1, 2, 3])
    exercise(8)(lambda answer: answer > 3)
    assert said(capsys, 8, 3) == "Exercise 8: not yet."
    assert said(capsys, 8, np.float64(4)) == "Exercise 8: right."


def test_an_exercise_without_a_check_is_an_error():
    with pytest.raises(KeyError, match="Exercise 99 has no check here"):
        check(99, 1)


def test_a_picture_that_moves_is_drawn_for_its_controls():
    widgets = pytest.importorskip("ipywidgets")
    drawn = []
    live(lambda r, rule: drawn.append((r, rule)), r=(2, 6), rule=["a", "b"])
    assert drawn == [(4, "a")] and widgets is not None


def test_without_widgets_it_says_what_is_missing(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    live(lambda r: pytest.fail("drawn"), r=(2, 6))
    assert "fsel_book[book]" in capsys.readouterr().out
