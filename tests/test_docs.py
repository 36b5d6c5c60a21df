"""Words that are written once, and put where they are needed."""

import inspect

import pytest

from fsel_book.docs import DOCS, insert_docs


def test_entries_stand_where_their_names_stood_and_lines_go_on():
    @insert_docs
    class Chooser:
        """Chooses.

        Parameters
        ----------
        %(delta)s
            Here it never does.
        """

    text = inspect.getdoc(Chooser)
    assert text.endswith(DOCS["delta"] + "\n    Here it never does.")


def test_an_entry_is_as_far_indented_as_its_name():
    def method():
        """Does.

        Parameters
        ----------
            %(rank)s
        """

    lines = inspect.cleandoc(insert_docs(method).__doc__).splitlines()
    assert lines[4:] == ["    " + line for line in DOCS["rank"].splitlines()]


def test_what_has_no_docstring_stays_without():
    assert insert_docs(type("Silent", (), {})).__doc__ is None


def test_a_name_that_is_not_there_is_an_error():
    def wrong():
        """%(dleta)s"""

    with pytest.raises(KeyError, match="dleta"):
        insert_docs(wrong)
