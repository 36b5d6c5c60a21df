"""Part two: regularised least squares over a path of lambdas, ridge risk, information
gain, Table 1 of a paper.
"""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from rows import Row, timed
from sklearn.feature_selection import mutual_info_classif
from sklearn.kernel_ridge import KernelRidge

from fsel_book.baselines import information_gain
from fsel_book.papers.ridge import PRINTED_METHODS, synthetic_choices
from fsel_book.ridge import RLSClassifier, ridge_risk

title = "Part two: ridge and the baselines"

# ---------------------------------------------------------------- data

gauss = "Gaussian"
filled = "0.5% filled, Gaussian"
words = "0.5% filled, counts"


def labelled(kind, n, d):
    """`X`, dense or CSR, and labels 0 and 1 at random."""
    rng = np.random.default_rng(0)
    draw = {
        filled: rng.standard_normal,
        words: lambda size: rng.poisson(1, size) + 1.0,
    }.get(kind)
    if draw is None:
        X = rng.standard_normal((n, d))
    else:
        X = sp.random_array(
            (n, d), density=0.005, format="csr", random_state=rng, data_sampler=draw
        )
    return X, rng.integers(0, 2, n)


# ---------------------------------------------------------------- what is measured


def path_of(lams):
    """From a hundredth to a hundred times a lambda of one."""
    return np.logspace(-2, 2, lams)


def path_against_fit(kind, n, d, lams):
    X, y = labelled(kind, n, d)
    path = path_of(lams)
    one = RLSClassifier(path_of(lams)[lams // 2])

    def same_model(models, model):
        np.testing.assert_allclose(
            models[lams // 2].coef_, model.coef_, rtol=1e-9, atol=1e-12
        )
        assert len(models) == lams

    return (
        timed(lambda: RLSClassifier().fit_path(X, y, path)),
        timed(lambda: one.fit(X, y)),
        same_model,
    )


def fit_against_kernel_ridge(kind, n, d):
    X, y = labelled(kind, n, d)
    ours = RLSClassifier(1.0)
    other = KernelRidge(alpha=1.0, kernel="linear")

    def same_decisions(ours, other):
        np.testing.assert_allclose(
            ours.decision_function(X), other.predict(X), rtol=1e-6, atol=1e-9
        )

    return (
        timed(lambda: ours.fit(X, y)),
        timed(lambda: other.fit(X, 2.0 * y - 1)),
        same_decisions,
    )


def risk_over_path(kind, n, d, lams):
    X, _ = labelled(kind, n, d)
    K = X @ X.T
    z = X[:, 0]
    path = path_of(lams)
    lam = path[lams // 2]

    def same_risk(risks, risk):
        np.testing.assert_allclose(
            [risks.bias[lams // 2], risks.variance[lams // 2]],
            [risk.bias, risk.variance],
        )

    return (
        timed(lambda: ridge_risk(K, z, 1.0, path)),
        timed(lambda: ridge_risk(K, z, 1.0, lam)),
        same_risk,
    )


def gain_against_scikit_learn(kind, n, d):
    X, y = labelled(kind, n, d)
    present = (X != 0).astype(float)

    def same_gain(ours, other):
        np.testing.assert_allclose(ours, other, rtol=0, atol=1e-10)

    other = timed(lambda: mutual_info_classif(present, y, discrete_features=True))
    return timed(lambda: information_gain(X, y)), other, same_gain


def table_1(kind, runs):
    grid = dict(k=[90, 100], runs=[runs], methods=[PRINTED_METHODS])
    experiment = replace(synthetic_choices, grid=grid, repetitions=1)

    def every_row(records, other):
        assert len(records) == 2 * 2 * len(PRINTED_METHODS)
        assert all(record["error"] < 1 for record in records)

    return timed(lambda: experiment.run(n_jobs=2)), None, every_row


# ---------------------------------------------------------------- the rows

wide = dict(n=180, d=20_000)
small = dict(n=30, d=400)
documents = dict(n=2000, d=20_000)
few = dict(n=200, d=2000)
fifty = dict(lams=50)

rows = [
    Row(
        "rls-path-dense",
        "`RLSClassifier.fit_path`",
        "`RLSClassifier.fit`, one lambda",
        "The same X; the models at the lambda of the one fit must agree to 1e-9.",
        path_against_fit,
        gauss,
        wide | fifty,
        small | fifty,
        1.5,
        at_least=False,
        repeats=7,
    ),
    Row(
        "rls-path-sparse",
        "`RLSClassifier.fit_path` on CSR",
        "`RLSClassifier.fit`, one lambda",
        "The same X; the models at the lambda of the one fit must agree to 1e-9.",
        path_against_fit,
        filled,
        documents | fifty,
        few | fifty,
        1.5,
        at_least=False,
    ),
    Row(
        "rls-fit-dense",
        "`RLSClassifier.fit`",
        "`KernelRidge.fit` of scikit-learn, linear kernel",
        "The same X and lambda; decision values must agree to 1e-6. `fit` ends with "
        "one number for each feature, "
        "`KernelRidge` with one for each sample.",
        fit_against_kernel_ridge,
        gauss,
        wide,
        small,
        None,
        repeats=7,
    ),
    Row(
        "rls-fit-sparse",
        "`RLSClassifier.fit` on CSR",
        "`KernelRidge.fit` of scikit-learn, linear kernel",
        "As the row before.",
        fit_against_kernel_ridge,
        filled,
        documents,
        few,
        None,
    ),
    Row(
        "ridge-risk",
        "`ridge_risk`, all lambdas",
        "`ridge_risk`, one lambda",
        "Both from the kernel matrix; the risks at the one lambda must agree. The "
        "eigendecomposition is the work.",
        risk_over_path,
        gauss,
        dict(n=1000, d=2000) | fifty,
        dict(n=50, d=100) | fifty,
        1.5,
        at_least=False,
        repeats=5,
    ),
    Row(
        "information-gain",
        "`information_gain` on CSR",
        "`mutual_info_classif(X != 0, y, discrete_features=True)`",
        "The same matrix; scikit-learn gets it as presence already. The two must "
        "agree to 1e-10.",
        gain_against_scikit_learn,
        words,
        documents,
        few,
        20,
    ),
    Row(
        "table-1",
        "Table 1 of Paul and Drineas 2016, whole",
        None,
        "One data set for each of two k; 100 training sets, two r, four methods, six "
        "lambdas; on two processes.",
        table_1,
        "",
        dict(runs=10),
        dict(runs=1),
        60,
        at_least=False,
        repeats=1,
        threads=(1,),
    ),
]
