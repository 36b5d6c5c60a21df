"""Scores are those of scikit-learn, of labels and predictions on the host."""

import array_api_strict
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score

from fsel_book.scoring import ScoreOnHost


class FirstColumn(ScoreOnHost, RegressorMixin, BaseEstimator):
    def predict(self, X):
        return X[:, 0]


class Sign(ScoreOnHost, ClassifierMixin, BaseEstimator):
    def predict(self, X):
        return (X[:, 0] > 0) * 1


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("estimator", "metric"), [(FirstColumn(), r2_score), (Sign(), accuracy_score)]
)
def test_scores_are_those_of_scikit_learn(estimator, metric, weighted):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    y = rng.integers(0, 2, 30)
    weights = rng.random(30) if weighted else None
    expected = metric(y, estimator.predict(X), sample_weight=weights)
    assert estimator.score(X, y, weights) == expected
    there = array_api_strict.asarray(X, device=array_api_strict.Device("device1"))
    if isinstance(estimator, FirstColumn):
        assert estimator.score(there, y, weights) == expected
