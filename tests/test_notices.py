"""Warnings point at the user's line; what other packages say does not reach the user."""

import functools
import types
import warnings

import numpy as np
from sklearn.svm import SVC

from fsel_book.notices import as_trial, stack_level


def as_in_the_package(function):
    """The same function, as if a module of the package had defined it."""
    names = {"__name__": "fsel_book.somewhere", "stack_level": stack_level}
    inside = types.FunctionType(function.__code__, names, function.__name__)
    names[function.__name__] = inside
    return inside


def deep(depth):
    return deep(depth - 1) if depth else stack_level()


def level(lazy):
    return stack_level()


def test_the_level_is_that_of_the_caller_outside_however_deep():
    inside = as_in_the_package(deep)
    assert [stack_level(), inside(0), inside(5)] == [1, 2, 7]


def test_functions_of_functools_on_the_way_are_passed_over():
    found = functools.cached_property(as_in_the_package(level))
    found.__set_name__(object, "found")
    assert found.__get__(types.SimpleNamespace()) == 3


def test_a_trial_says_nothing_where_its_steps_run_out_and_has_the_status():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = rng.integers(0, 2, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        machine = as_trial(SVC(C=1e4, max_iter=2)).fit(X, y)
    assert machine.fit_status_ == 1
