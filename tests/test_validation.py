"""The doors: what passes untouched, what is made right, and what is refused, in words
that name the parameter and the remedy.
"""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from cases import refused
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator

from fsel_book.validation import (
    canonical,
    check_bool,
    check_increment,
    check_labels,
    check_matrix,
    check_not_negative,
    check_open_unit_interval,
    check_path,
    check_positive,
    check_range,
    check_step,
    is_frame,
    warn_of_many_labels,
)

X = np.random.default_rng(0).standard_normal((5, 4))


def test_what_is_in_order_is_not_copied():
    S = sp.csc_array(np.where(X > 0, X, 0))
    assert check_matrix(X) is X
    assert np.shares_memory(check_matrix(S).data, S.data)


@pytest.mark.parametrize(
    "given",
    [
        [[1, 2], [3, 4]],
        np.array([[1, 2], [3, 4]], dtype=np.int8),
        np.array([[True, False]]),
        pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]}),
        pd.DataFrame({"a": pd.array([1, 2], dtype="Int64")}),
        sp.coo_array(np.eye(3, dtype=int)),
    ],
)
def test_what_can_be_made_right_without_a_guess_is(given):
    checked = check_matrix(given)
    expected = given.toarray() if sp.issparse(given) else np.asarray(given, float)
    assert checked.dtype == np.float64
    assert_array_equal(checked.toarray() if sp.issparse(checked) else checked, expected)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (np.ones(3), "X"),
        (np.ones((0, 4)), "X"),
        ([["1", "red"]], "X"),
        (np.array([[1, None]]), "X"),
        ([[1.0, np.nan]], "X contains NaN"),
        (sp.csr_array([[0.0, np.inf]]), "X contains"),
        (1e160 * np.eye(2), "X is out of range"),
        ([[1e-200, 0.0]], "X is out of range"),
        (pd.DataFrame({"colour": ["red", "blue"]}), "colour"),
        (pd.DataFrame({"day": pd.to_datetime(["2020-01-01"])}), "day"),
        (pd.DataFrame({"a": [1.0, 2.0], "gap": [np.nan, 1.0]}), "gap"),
    ],
)
def test_what_would_need_a_guess_is_refused_by_name(given, words):
    with refused(words):
        check_matrix(given)


def test_a_matrix_has_the_name_that_the_caller_gives_it():
    with refused("V contains NaN"):
        check_matrix([[np.nan]], name="V")


def test_pieces_of_an_entry_are_added_up_in_a_copy():
    pieces = sp.csr_array(([4.0, 1.0, 2.0], [2, 0, 0], [0, 3, 3]), shape=(2, 3))
    assert canonical(pieces).data.tolist() == [3, 4]
    assert pieces.data.tolist() == [4, 1, 2]


@pytest.mark.parametrize("size", [1e-150, 1.0, 1e150, 0.0])
def test_whatever_can_be_squared_is_in_range(size):
    check_range(np.array([[-size, 0.0]]))


@pytest.mark.parametrize("size", [0.9e-150, 1.1e150])
def test_the_range_ends_where_squares_do(size):
    with refused("y is out of range", "Rescale"):
        check_range(np.array([size]), "y")


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (check_not_negative, [0, 0.0, 2, np.float32(1)], [-1, True, "1", np.inf]),
        (check_positive, [1e-9, 3], [0, -1.0, True, "1", np.nan]),
        (check_open_unit_interval, [0.5, 1e-9], [0, 1, -0.1, "half", np.nan]),
        (check_bool, [True, False, np.True_], [1, "yes", None]),
    ],
)
def test_parameters_are_refused_by_their_names(check, good, bad):
    for value in good:
        check("alpha", value)
    for value in bad:
        with refused("alpha"):
            check("alpha", value)


def test_frames_are_known_without_their_libraries():
    assert is_frame(pd.DataFrame({"a": [1]})) and not is_frame(X)


class Machine(BaseEstimator):
    _for_numbers = "A regression takes numbers."


def test_labels_become_columns_of_signs():
    classes, Y = check_labels(Machine(), X, ["b", "a", "b", "a", "a"])
    assert list(classes) == ["a", "b"] and Y.ravel().tolist() == [1, -1, 1, -1, -1]
    classes, Y = check_labels(Machine(), X, [0, 1, 2, 1, 0])
    assert Y.shape == (5, 3) and np.all(Y.sum(axis=1) == -1)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, "y"),
        ([0.5, 1, 2, 3, 4], "A regression takes numbers"),
        ([1, 1, 1, 1, 1], "class"),
        ([0, 1], "inconsistent"),
    ],
)
def test_labels_that_are_none_are_refused(y, words):
    with refused(words):
        check_labels(Machine(), X, y)


def test_labels_that_look_like_measurements_are_told():
    with pytest.warns(UserWarning, match="15 classes for 40 samples.*Take ridge"):
        warn_of_many_labels(np.arange(15), 40, "Take ridge.")


@pytest.mark.parametrize("step", [1, np.int64(7), 0.5, np.float32(0.25)])
def test_steps_that_are_possible(step):
    for adaptive in (False, True):
        check_step(step, adaptive)
    check_step("adaptive", True)


@pytest.mark.parametrize("step", [0, -1, 1.0, 1.5, 0.0, True, "all", None, [1]])
def test_steps_that_are_not(step):
    with refused(f"step={step!r} is not possible", "or 'adaptive'"):
        check_step(step, True)
    with refused("below 1."):
        check_step("adaptive", False)


def test_an_increment_is_a_number_of_any_library():
    found = [check_increment(one, 3) for one in (0, 0.5, np.float32(2), np.array(1))]
    assert found == [0.0, 0.5, 2.0, 1.0]
    assert check_increment(np.inf, 3) == np.inf
    for wrong in (-1.0, np.nan, None, True, "1", [1.0], np.ones(1)):
        with refused("for 3 features, which is not possible"):
            check_increment(wrong, 3)


def test_a_path_falls_in_features_and_has_finite_values():
    values, left = check_path([1, 2, 5], np.array([4, 2, 0], dtype=np.uint8))
    assert values.dtype == np.float64 and left.tolist() == [4, 2, 0]
    for wrong in ([1.0], [[1.0, 2.0]], [1.0, np.inf], [1.0, 2.0, 3.0]):
        with refused("are not a path: give two or more finite values"):
            check_path(wrong, [2, 1])
    # as differences of unsigned integers these would be positive
    with refused("must fall from each point"):
        check_path([1.0, 2.0], np.array([1, 2], dtype=np.uint8))
