"""What all tests share: settings that must come before SciPy, hypothesis's profile, the
array libraries.
"""

import itertools
import os

# read once, when SciPy is first imported; scikit-learn's array checks need it
os.environ["SCIPY_ARRAY_API"] = "1"

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import pytest
from cases import LIBRARIES
from hypothesis import HealthCheck, settings

from fsel_book import comparison, progress

settings.register_profile(
    "book",
    deadline=None,
    derandomize=True,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("book")


def as_parameter(name):
    """A pytest parameter with the markers of its library; SciPy's matrices, beside its
    arrays, are sweeps.
    """
    markers = {"torch": ["torch"], "cupy": ["gpu"]}.get(
        name, ["sweep"] if name.endswith("_matrix") else []
    )
    return pytest.param(
        name, marks=[getattr(pytest.mark, marker) for marker in markers]
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """PyTorch, beside `array_api_strict`, is a sweep, in scikit-learn's own checks too:
    its import takes longest.
    """
    for item in items:
        if "torch" in item.name:
            item.add_marker(pytest.mark.sweep)


@pytest.fixture(params=map(as_parameter, LIBRARIES))
def library(request):
    """One array library at a time, as a `cases.Library`; skipped with the reason where
    it is missing.
    """
    return LIBRARIES[request.param]()


@pytest.fixture(
    params=[as_parameter(name) for name in LIBRARIES if not name.startswith("cs")]
)
def dense_library(request):
    """The same without the sparse formats."""
    return LIBRARIES[request.param]()


@pytest.fixture(autouse=True)
def close_figures():
    """No test leaves a picture open."""
    yield
    plt.close("all")


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """No loop counts as long, however slow or busy the computer is, unless a test wants
    it so.
    """
    monkeypatch.setattr(progress, "LONG", 3600.0)


@pytest.fixture
def few_folds(monkeypatch):
    """Reports judge by five folds, and not by the same rows in three orders."""
    every = comparison.folds_of

    def first(question, n_columns, n_folds, units=None):
        return itertools.islice(every(question, n_columns, n_folds, units), n_folds)

    monkeypatch.setattr(comparison, "folds_of", first)


@pytest.fixture
def impatient(monkeypatch):
    """Every loop of more than three steps counts as long."""
    monkeypatch.setattr(progress, "LONG", 0.0)
    monkeypatch.setattr(progress, "FIRST_LOOK", 0.0)
