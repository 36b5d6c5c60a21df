"""Part eleven: what it costs to certify all of the data at a ridge."""

import warnings

import numpy as np
from part_1_spine import counts, gauss, heavy, matrix
from rows import Row, nothing, timed

from fsel_book import BSSSelector, bss
from fsel_book.ridge_barriers import ridge_bss_reference
from fsel_book.spectra import ridge_of_dimension, ridge_space, row_space

title = "Part eleven: at a ridge"

words = "counts of words"


def data_of(kind, n, d):
    return counts(n, d) if kind == words else matrix(kind, n, d)


def fit_against(**other):
    """Whole fits: by a ridge of half as many dimensions as features, and otherwise."""

    def prepare(kind, n, d, r):
        X = data_of(kind, n, d)

        def fit(**options):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                BSSSelector(r, rule="best", **options).fit(X)

        return timed(lambda: fit(ridge="auto")), timed(lambda: fit(**other)), nothing

    return prepare


def against_literal(kind, n, d, r):
    X = matrix(kind, n, d)
    sigma = row_space(X).singular_values
    ridge = ridge_of_dimension(sigma, r / 2)

    def same(ours, literal):
        np.testing.assert_array_equal(ours.indices, literal.indices)
        np.testing.assert_allclose(ours.weights, literal.weights, rtol=1e-5)

    return (
        timed(lambda: bss(ridge_space(X, ridge), r, "best")),
        timed(lambda: ridge_bss_reference(X, r, ridge, "best")),
        same,
    )


def row(
    name, other, kind, size, target, quick=None, how="Whole fits of the same data."
):
    return Row(
        name,
        'ridge="auto", best',
        "rank=" + ('"full", best' if other else "None, best"),
        how,
        fit_against(**other),
        kind,
        size,
        quick or dict(n=20, d=300, r=24),
        target,
        at_least=False,
        prediction="rows are as long as there are samples",
    )


full = dict(rank="full")
rows = [
    Row(
        "ridge-literal",
        "`bss` at a ridge",
        "the literal search",
        "The same picks, from the same data.",
        against_literal,
        heavy,
        dict(n=100, d=5_000, r=50),
        dict(n=10, d=100, r=8),
        2.0,
        prediction="the literal search judges all columns in each step",
    ),
    row("ridge-full", full, gauss, dict(n=200, d=20_000, r=220), 1.5),
    row("ridge-full-heavy", full, heavy, dict(n=200, d=20_000, r=220), 1.5),
    row("ridge-default", {}, gauss, dict(n=200, d=20_000, r=60), None),
    row("ridge-default-heavy", {}, heavy, dict(n=200, d=200_000, r=60), None),
    row("ridge-default-words", {}, words, dict(n=400, d=20_000, r=60), None),
]
