"""The experiments of Dasgupta, Goldberg and Kosorok (2019): tasks, choices and summaries, each by another route."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Lasso
from sklearn.svm import SVC

from fsel_book import risk_rfe_paper as paper


def test_the_declared_experiments():
    declared = [paper.linear_tables, paper.bent_tables, paper.vowel_table, paper.ozone_table]
    assert [len(experiment.tasks()) for experiment in declared] == [2400, 800, 40, 120]
    assert len({experiment.name for experiment in declared}) == 4


@pytest.mark.parametrize("numbers", [False, True])
def test_tasks_know_where_their_relevant_features_are(numbers):
    rng = np.random.RandomState(0)
    X, y, relevant = paper._draw_linear_task(rng, 15, 20_000, numbers)
    assert X.shape == (20_000, 15) and len(relevant) == paper._N_RELEVANT[15]
    strength = np.abs(np.corrcoef(X.T, y)[-1, :-1])
    assert sorted(np.argsort(-strength)[:4]) == relevant.tolist()
    X, y, relevant = paper._draw_bent_task(rng, False, 20_000, numbers)
    inside = np.abs(X[:, relevant]) <= 1
    assert X.shape[1] == 10 and len(relevant) == 2
    if numbers:
        assert_allclose(np.abs(y), np.abs(X[:, relevant].prod(axis=1)), rtol=0.25)
    else:
        np.testing.assert_array_equal(y == 1, inside.all(axis=1))


def test_the_test_error_is_that_of_a_fit_to_the_features_alone():
    X, y, relevant = paper._draw_linear_task(np.random.RandomState(0), 15, 200, False)
    parts = X[:100], y[:100], X[100:], y[100:]
    wrong = SVC(kernel="linear").fit(parts[0][:, relevant], parts[1]).predict(parts[2][:, relevant]) != parts[3]
    assert paper._test_error(SVC(kernel="linear"), *parts, relevant) == np.mean(wrong)
    majority = 1 if np.sum(y[:100] == 1) >= 50 else -1
    assert paper._test_error(None, *parts, []) == np.mean(y[100:] != majority)


def test_the_lasso_stops_at_the_first_penalty_with_enough_features():
    X, y, _ = paper._draw_linear_task(np.random.RandomState(0), 15, 100, True)
    chosen = paper._select_by_lasso(X, y, 4, True)
    centred, shifted = X - X.mean(axis=0), y - y.mean()
    largest = np.abs(centred.T @ shifted).max() / 100
    for penalty in largest * np.geomspace(1, 1e-3, 100):
        features = np.flatnonzero(Lasso(penalty, fit_intercept=False, tol=1e-8).fit(centred, shifted).coef_)
        if len(features) >= 4:
            break
    np.testing.assert_array_equal(chosen, features)


def test_mistakes_are_counted_in_per_cent():
    records = [dict(method="a", d=d, missed=m, error=0.1 * m) for d in (15, 30) for m in (0, 0, 1, 2, 3)]
    groups = paper._group_by_setting(records, "d")
    assert list(groups) == [(15, "a"), (30, "a")]
    none, one, more, error, mean, deviation = paper._summarize_mistakes(groups[30, "a"])
    assert_allclose([none, one, more, mean], [40, 20, 40, 0.12])
    assert_allclose([error, deviation], [np.sqrt(40 * 60 / 5), np.std([0, 0, 0.1, 0.2, 0.3], ddof=1)])
