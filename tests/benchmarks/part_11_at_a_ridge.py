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


def fit_against(ours, other):
    """Whole fits with two settings of the directions."""

    def prepare(kind, n, d, r):
        X = data_of(kind, n, d)

        def fit(options):
            options = options(r) if callable(options) else options
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                BSSSelector(r, rule="best", **options).fit(X)

        return timed(lambda: fit(ours)), timed(lambda: fit(other)), nothing

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


def quarter(r):
    return dict(rank=max(min(10, r // 2), min(100, r // 4)))


everything = 'ridge="auto"', dict(ridge="auto")
default = "the default", {}
full = 'rank="full"', dict(rank="full")
rank = "rank r/4", quarter


def row(name, ours, other, kind, size, target, quick=None):
    return Row(
        name,
        f"{ours[0]}, best",
        f"{other[0]}, best",
        "Whole fits of the same data.",
        fit_against(ours[1], other[1]),
        kind,
        size,
        quick or dict(n=20, d=300, r=24),
        target,
        at_least=False,
        prediction="rows are as long as there are samples"
        if ours is everything
        else "rows are eight times as long as at the rank",
    )


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
    row("ridge-full", everything, full, gauss, dict(n=200, d=20_000, r=220), 1.5),
    row("ridge-full-heavy", everything, full, heavy, dict(n=200, d=20_000, r=220), 1.5),
    row("ridge-rank", everything, rank, gauss, dict(n=200, d=20_000, r=60), None),
    row(
        "ridge-rank-heavy", everything, rank, heavy, dict(n=200, d=200_000, r=60), None
    ),
    row("ridge-rank-words", everything, rank, words, dict(n=400, d=20_000, r=60), None),
    row("leading-few", default, rank, gauss, dict(n=500, d=50_000, r=12), 1.5),
    row("leading-more", default, rank, gauss, dict(n=500, d=50_000, r=100), 1.5),
    row("leading-60", default, rank, gauss, dict(n=200, d=20_000, r=60), 1.5),
    row("leading-heavy", default, rank, heavy, dict(n=200, d=200_000, r=60), 1.5),
    row("leading-words", default, rank, words, dict(n=400, d=20_000, r=60), 1.5),
    row("leading-documents", default, rank, words, dict(n=2_000, d=20_000, r=60), 1.5),
]
