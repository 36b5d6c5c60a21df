"""What `make release` runs where the wheel is installed with its run-time dependencies
alone.

It imports nothing else, and nothing from the checkout: run it as `python -I
tools/smoke.py`.
"""

import doctest
import inspect
import os
import pickle
import sys
import warnings
from importlib import import_module, metadata, resources
from pathlib import Path
from pkgutil import iter_modules

# read once, when SciPy is first imported; scikit-learn's checks need it
os.environ["SCIPY_ARRAY_API"] = "1"

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import SkipTestWarning
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, normalize
from sklearn.utils.estimator_checks import check_estimator

import fsel_book
from fsel_book import (
    BSSSelector,
    DSFSelector,
    LeverageSelector,
    RiskRFE,
    RLSClassifier,
    load_docstrings,
)


def installed() -> None:
    """The package is the installed one, with its types, and of one version."""
    assert Path(fsel_book.__file__).is_relative_to(sys.prefix), (
        f"{fsel_book.__file__} is not what was installed"
    )
    assert fsel_book.__version__ == metadata.version("fsel_book")
    assert resources.files("fsel_book").joinpath("py.typed").is_file()
    for module in iter_modules(fsel_book.__path__, "fsel_book."):
        import_module(module.name)


def certificates() -> None:
    """Selectors keep their promises on documents and on a table, also after a pickle."""
    X = normalize(load_docstrings().data)
    Z = StandardScaler().fit_transform(load_breast_cancer().data)
    for data, selector in [
        (X, BSSSelector(60)),
        (Z, DSFSelector(8)),
        (Z, LeverageSelector(8, random_state=0)),
    ]:
        selector.fit(data)
        again = pickle.loads(pickle.dumps(selector))
        assert np.array_equal(again.get_support(), selector.get_support())
        assert "The promise holds" in str(selector.certificate_)
        assert str(again.certificate_) == str(selector.certificate_)
    print(BSSSelector(60).fit(X).certificate_)


def learning() -> None:
    """Elimination and a selection in a pipeline, with labels."""
    X, y = load_breast_cancer(return_X_y=True)
    assert (
        cross_val_score(
            make_pipeline(StandardScaler(), BSSSelector(8), RLSClassifier()), X, y
        ).mean()
        > 0.9
    )
    assert (
        RiskRFE(n_features_to_select=5)
        .fit(StandardScaler().fit_transform(X)[:100], y[:100])
        .n_features_
        == 5
    )


def conventions() -> None:
    """The checks that scikit-learn has for every estimator."""
    check_estimator(BSSSelector())


def examples() -> None:
    """The example in each docstring of the public names; `load_table` has pandas read
    its table.
    """
    for name in sorted(set(fsel_book.__all__) - {"load_table"}):
        thing = getattr(fsel_book, name)
        module = inspect.getmodule(thing)
        for test in doctest.DocTestFinder().find(
            thing, name, globs=vars(module) if module else {}
        ):
            runner = doctest.DocTestRunner(
                optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
            )
            assert runner.run(test).failed == 0, (
                f"the example of {name} gives something else"
            )


if __name__ == "__main__":
    # check_estimator without the array libraries
    warnings.simplefilter("ignore", SkipTestWarning)
    for step in (installed, certificates, learning, conventions, examples):
        step()
