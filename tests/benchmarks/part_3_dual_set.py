"""Part three: dual set sparsification against its literal twin, the selector against
principal component analysis.
"""

from dataclasses import replace

import numpy as np
from rows import Row, timed
from sklearn.decomposition import PCA

from fsel_book.dual_set import DSFSelector, det_sampling, det_sampling_reference
from fsel_book.papers.sparse_regression import TABLE_SETS, sparse_table
from fsel_book.spectra import row_space

title = "Part three: sparse principal components"

# ---------------------------------------------------------------- data

gauss = "low rank and noise"
heavy = "heavy-tailed features"
slow = "singular values 1/sqrt(j)"


def matrix(kind, n, d):
    rng = np.random.default_rng(0)
    if kind == slow:
        m = min(n, d)
        return (
            rng.standard_normal((n, m))
            * np.arange(1, m + 1) ** -0.5
            @ rng.standard_normal((m, d))
        )
    X = rng.standard_normal((n, 50)) @ rng.standard_normal(
        (50, d)
    ) + rng.standard_normal((n, d))
    return X * np.exp(1.5 * rng.standard_normal(d)) if kind == heavy else X


# ---------------------------------------------------------------- what is measured


def sampling_against_twin(rule):
    def prepare(kind, n, d, k, r):
        space = row_space(matrix(kind, n, d), rank=k)
        V = space.basis()
        lengths = space.residual_norms

        def same_picks(ours, other):
            np.testing.assert_array_equal(ours.indices, other.indices)
            np.testing.assert_allclose(ours.weights, other.weights, rtol=1e-8)

        twin = timed(lambda: det_sampling_reference(V, lengths, r, rule))
        return timed(lambda: det_sampling(V, lengths, r, rule)), twin, same_picks

    return prepare


def selector_against_pca(rule):
    def prepare(kind, n, d, k, r):
        X = matrix(kind, n, d)
        # scikit-learn centres a copy; ours is given what that would be
        X -= X.mean(axis=0)

        def same_components(selector, pca):
            assert selector.n_draws_ == r and selector.certificate_.holds
            np.testing.assert_allclose(
                selector.certificate_.singular_values, pca.singular_values_, rtol=0.02
            )

        other = timed(lambda: PCA(k, svd_solver="randomized", random_state=0).fit(X))
        return (
            timed(lambda: DSFSelector(r, rank=k, rule=rule).fit(X)),
            other,
            same_components,
        )

    return prepare


def table_3(kind, splits):
    held = [data for data in TABLE_SETS if splits == 1000] or ["breast_cancer"]
    experiment = replace(sparse_table, grid=dict(data=held), repetitions=splits)

    def every_row(records, other):
        assert {record["data"] for record in records} == set(held)

    return timed(lambda: experiment.run(n_jobs=2)), None, every_row


# ---------------------------------------------------------------- the rows

picks = dict(n=200, d=20_000, k=20, r=60)
few_picks = dict(n=40, d=500, k=5, r=15)
large = dict(n=2000, d=50_000, k=20, r=60)
small = dict(n=600, d=2000, k=5, r=15)
same = "The same V and residual lengths; picks must be equal and weights agree to 1e-8."

rows = [
    Row(
        "det-first",
        "`det_sampling`",
        "`det_sampling_reference`",
        same,
        sampling_against_twin("first"),
        gauss,
        picks,
        few_picks,
        30,
        prediction="26 to 45",
        repeats=15,
    ),
    Row(
        "det-first-heavy",
        "`det_sampling`",
        "`det_sampling_reference`",
        same,
        sampling_against_twin("first"),
        heavy,
        picks,
        few_picks,
        30,
        prediction="26 to 45",
        repeats=15,
    ),
    Row(
        "det-best",
        '`det_sampling(rule="best")`',
        '`det_sampling_reference(rule="best")`',
        same,
        sampling_against_twin("best"),
        gauss,
        picks,
        few_picks,
        None,
        prediction="12 to 14",
        repeats=7,
    ),
    Row(
        "dsf-fit",
        "`DSFSelector.fit`",
        "`PCA.fit` of scikit-learn, randomised",
        "Dense centred X. Ours: components by sketches, residual lengths, selection, "
        "certificate. The singular values "
        "of both must agree to 2%.",
        selector_against_pca("best"),
        slow,
        large,
        small,
        1.5,
        at_least=False,
        prediction="0.7",
    ),
    Row(
        "dsf-fit-components",
        '`DSFSelector(rule="components").fit`',
        "`PCA.fit` of scikit-learn, randomised",
        "As the row before, with one product with X for each pick.",
        selector_against_pca("components"),
        slow,
        large,
        small,
        None,
        at_least=False,
        prediction="1.8",
    ),
    Row(
        "table-3",
        "Table 3 of Boutsidis, Drineas and Magdon-Ismail 2011, whole",
        None,
        "Six data sets (FSEL_BOOK_DATA), 1,000 splits, two r, nine methods of "
        "choosing columns; on two processes.",
        table_3,
        "",
        dict(splits=1000),
        dict(splits=3),
        300,
        at_least=False,
        prediction="150 s",
        repeats=1,
        threads=(1,),
    ),
]
