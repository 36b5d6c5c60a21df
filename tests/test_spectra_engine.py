"""Equal columns and exchanges of columns, against brute force."""

from time import process_time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fsel_book.spectra_engine import (
    ChosenColumns,
    column_products,
    equal_to_one_of,
    equal_tolerance,
    exchange_columns,
    first_drawn,
    first_of_equal,
    one_of_each,
    random_vectors,
)

# ---------------------------------------------------------------- equal columns


def grouped_prints(seed, n=200, n_groups=40):
    """Fingerprints of columns in groups, with noise below the tolerance; the last group
    is of zero columns.
    """
    rng = np.random.default_rng(seed)
    prints = rng.standard_normal((n_groups, 6))
    prints[:, 0] = np.abs(prints[:, 0])
    prints[::2, 0] = prints[1::2, 0]  # two groups agree in the first number by chance
    prints[-1] = 0.0
    group = rng.integers(n_groups, size=n)
    noise = 1 + 1e-13 * rng.standard_normal((n, 6))
    return prints[group] * noise, group, n_groups - 1


@pytest.mark.parametrize("seed", range(10))
def test_each_column_finds_the_first_of_its_group(seed):
    prints, group, zero = grouped_prints(seed)
    expected = [
        column if number == zero else int(np.flatnonzero(group == number)[0])
        for column, number in enumerate(group)
    ]
    assert_array_equal(first_of_equal(prints, 1e-11), expected)


@pytest.mark.parametrize("seed", range(20))
def test_columns_of_several_groups_may_share_their_first_number(seed):
    """As one-hot columns of equal counts may: copies stand far apart in the order."""
    rng = np.random.default_rng(seed)
    which = rng.integers(5, size=9) if seed else np.array([0, 1, 2, 0, 1, 3, 2])
    prints = rng.standard_normal((5, 6))[which]
    prints[:, 0] = 1.0
    expected = [np.flatnonzero(which == group)[0] for group in which]
    assert_array_equal(first_of_equal(prints, 1e-11), expected)


def test_columns_that_share_their_first_number_are_not_all_compared():
    """Brought to one size, a quarter of all columns have a one there, as in float32
    the search for multiples has them all.
    """

    def seconds(prints):
        start = process_time()
        assert_array_equal(first_of_equal(prints, 1e-7), np.arange(len(prints)))
        return process_time() - start

    prints = np.random.default_rng(0).standard_normal((20_000, 6))
    usual = seconds(np.abs(prints))
    prints[:, 0] = 1.0
    assert seconds(prints) < 20 * usual + 0.1


def test_no_columns_have_no_groups():
    assert first_of_equal(np.zeros((0, 6)), 1e-11).tolist() == []
    assert first_of_equal(np.zeros((3, 6)), 1e-11).tolist() == [0, 1, 2]


@pytest.mark.parametrize("seed", range(5))
def test_columns_equal_to_a_known_one(seed):
    prints, group, zero = grouped_prints(seed)
    known = np.flatnonzero(group < 15)[:30]
    expected = np.isin(group, group[known]) & (group != zero)
    assert_array_equal(equal_to_one_of(prints, prints[known], 1e-11), expected)
    assert not equal_to_one_of(prints, np.zeros((0, 6)), 1e-11).any()


def test_rows_of_the_basis_tell_columns_apart_that_look_alike():
    prints = np.array([[1.0, 2, 3, 4, 0.5, 0.1], [1.0, 2, 3, 4 + 1e-12, 0.5, 0.2]])
    assert first_of_equal(prints, 1e-11).tolist() == [0, 1]
    assert equal_to_one_of(prints[1:], prints[:1], 1e-11).tolist() == [False]
    prints[1, 3] = 4.0  # the same to the last bit
    assert first_of_equal(prints, 1e-11).tolist() == [0, 0]
    assert equal_to_one_of(prints[1:], prints[:1], 1e-11).tolist() == [True]


@pytest.mark.parametrize("seed", range(5))
def test_the_first_one_drawn_stands_for_all(seed):
    prints, group, zero = grouped_prints(seed)
    draws = np.random.default_rng(seed).integers(len(prints), size=80)
    expected = []
    for place, draw in enumerate(draws):
        same = [other for other in draws[:place] if group[other] == group[draw]]
        expected.append(same[0] if same and group[draw] != zero else draw)
    found = first_drawn(draws, lambda indices: prints[indices], 1e-11)
    assert_array_equal(found, expected)


@pytest.mark.parametrize("seed", range(5))
def test_one_of_each_is_the_preferred_one(seed):
    rng = np.random.default_rng(seed)
    group = rng.integers(10, size=50)
    first = np.array([np.flatnonzero(group == number)[0] for number in group])
    preferred = rng.integers(4, size=50).astype(float)
    mask = one_of_each(first, preferred)
    for number in np.unique(group):
        members = np.flatnonzero(group == number)
        best = members[np.argmax(preferred[members])]  # the first of the largest
        assert_array_equal(members[mask[members]], [best])
    assert_array_equal(np.flatnonzero(one_of_each(first)), np.unique(first))


def test_products_and_tolerance():
    A = np.random.default_rng(0).standard_normal((30, 7))
    vectors = random_vectors(30, 4)
    assert_array_equal(vectors, random_vectors(30, 4))
    assert_allclose(column_products(A, vectors), A.T @ vectors)
    assert equal_tolerance(np.float32) > equal_tolerance(np.dtype(float))


# ---------------------------------------------------------------- exchanges


@pytest.mark.parametrize("f", [1.05, 1.5, 3.0])
def test_exchanges_go_on_until_none_enlarges_the_volume_by_more_than_f(f):
    """From columns chosen at random, with all exchanges and their volumes by brute
    force.
    """
    for seed in range(20):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((6, 14)) * np.exp(rng.standard_normal(14))
        found, swaps = exchange_columns(A, rng.permutation(14)[:4].tolist(), f)

        def volume(columns, A=A):
            return np.sqrt(np.linalg.det(A[:, columns].T @ A[:, columns]))

        now = volume(found.chosen)
        for i in range(4):
            for j in np.setdiff1d(np.arange(14), found.chosen):
                other = [*found.chosen]
                other[i] = j
                assert volume(other) <= f * now * (1 + 1e-7)
        assert swaps > 0 or f > 1.05


@pytest.mark.parametrize("m, d, k", [(6, 20, 3), (6, 20, 6), (30, 12, 5)])
def test_an_exchange_updates_what_a_fresh_factorization_gives(m, d, k):
    rng = np.random.default_rng(m)
    A = rng.standard_normal((m, d)) * np.exp(rng.standard_normal(d))
    columns = ChosenColumns(A, range(k))
    for _ in range(4):
        before = ChosenColumns(A, columns.chosen).volume
        best = columns.best_exchange()
        columns.exchange(best.i, best.j)
        afresh = ChosenColumns(A, columns.chosen)
        assert_allclose(np.exp(afresh.volume - before), best.gain, rtol=1e-8)
        for name in ("B", "T", "gamma2"):
            assert_allclose(
                getattr(columns, name), getattr(afresh, name), rtol=1e-7, atol=1e-9
            )
