"""Pickles say which version wrote them, and a warning where another one loads them."""

import copy
import importlib
import inspect
import io
import pickle
import pkgutil
import warnings

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fsel_book
from fsel_book import BSSSelector, RiskRFE, certify_columns
from fsel_book.versions import OtherVersionWarning, VersionedEstimator

X = np.random.default_rng(0).standard_normal((20, 8))


class OwnSelector(BSSSelector):
    """As a user would write one."""


def written_by(monkeypatch, version, estimator):
    """The pickle of an estimator, written by another version."""
    with monkeypatch.context() as changed:
        changed.setattr(fsel_book, "__version__", version)
        return pickle.dumps(estimator)


def test_every_estimator_of_the_package_has_the_base():
    found = set()
    for module in pkgutil.iter_modules(fsel_book.__path__, "fsel_book."):
        for thing in vars(importlib.import_module(module.name)).values():
            if inspect.isclass(thing) and thing.__module__.startswith("fsel_book"):
                if issubclass(thing, BaseEstimator):
                    found.add(thing)
    assert len(found) > 25
    assert not [one for one in found if not issubclass(one, VersionedEstimator)]


def with_joblib(estimator):
    file = io.BytesIO()
    joblib.dump(estimator, file)
    file.seek(0)
    return joblib.load(file)


@pytest.mark.parametrize(
    "copied",
    [lambda e: pickle.loads(pickle.dumps(e)), with_joblib, copy.copy, copy.deepcopy],
    ids=["pickle", "joblib", "copy", "deepcopy"],
)
def test_the_same_version_says_nothing_and_leaves_nothing(copied):
    for estimator in (BSSSelector(3), BSSSelector(3).fit(X)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            again = copied(estimator)
        assert vars(again).keys() == vars(estimator).keys()
        assert clone(again).get_params() == estimator.get_params()


@pytest.mark.parametrize("make", [BSSSelector, RiskRFE, OwnSelector])
def test_another_version_is_named_with_the_remedy(monkeypatch, make):
    state = written_by(monkeypatch, "0.0.9", make(n_features_to_select=5))
    with pytest.warns(OtherVersionWarning) as caught:
        again = pickle.loads(state)
    (warning,) = caught
    words = f"This {make.__name__} was pickled by fsel_book 0.0.9 and is loaded by "
    assert str(warning.message).startswith(f"{words}fsel_book {fsel_book.__version__},")
    assert "Fit it again, or install that version, fsel_book==0.0.9." in str(
        warning.message
    )
    assert warning.filename == __file__
    assert again.get_params() == make(n_features_to_select=5).get_params()
    assert vars(again).keys() == vars(make()).keys()


def test_what_was_fitted_elsewhere_still_works_and_is_of_this_version_then(monkeypatch):
    model = make_pipeline(StandardScaler(), BSSSelector(3)).fit(X)
    with pytest.warns(OtherVersionWarning):
        again = pickle.loads(written_by(monkeypatch, "0.0.9", model))
    assert np.array_equal(again.transform(X), model.transform(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pickle.loads(pickle.dumps(again))


def test_a_pickle_without_a_version_is_loaded_with_a_warning():
    fitted = BSSSelector(3).fit(X)
    state = dict(vars(fitted))
    again = BSSSelector.__new__(BSSSelector)
    with pytest.warns(OtherVersionWarning, match="an unknown version of fsel_book bef"):
        again.__setstate__(state)
    assert state.keys() == vars(again).keys() == vars(fitted).keys()


def test_a_state_is_read_and_not_changed():
    state = BSSSelector(3).__getstate__()
    before = dict(state)
    BSSSelector().__setstate__(state)
    assert state == before


def test_certificates_need_no_version():
    fitted = BSSSelector(3).fit(X)
    for part in (fitted.certificate_, fitted.sampling_, certify_columns(X, [0, 2])):
        assert b"fsel_book_version" not in pickle.dumps(part)
    assert b"fsel_book_version" in pickle.dumps(fitted)
