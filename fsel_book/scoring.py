"""How the estimators are scored, whatever library their data are in."""

from sklearn.base import is_classifier
from sklearn.metrics import accuracy_score, r2_score

from fsel_book.arrays import ArrayLike, to_numpy
from fsel_book.docs import insert_docs

__all__ = ["ScoreOnHost"]


class ScoreOnHost:
    """The `score` of classifiers and regressors: scikit-learn's metrics, of labels and
    predictions that are on the CPU.
    """

    @insert_docs
    def score(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike = None
    ) -> float:
        """The share of labels predicted right, or the coefficient of determination of
        numbers.

        Parameters
        ----------
        %(X)s
        y : array, shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array, shape (n_samples,), optional

        Returns
        -------
        float
        """
        metric = accuracy_score if is_classifier(self) else r2_score
        weights = (
            None if sample_weight is None else to_numpy(sample_weight, "sample_weight")
        )
        predicted = to_numpy(self.predict(X))  # type: ignore[attr-defined]
        return metric(to_numpy(y, "y"), predicted, sample_weight=weights)
