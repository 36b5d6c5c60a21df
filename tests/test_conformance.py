"""scikit-learn's own checks, in full, with no expected failures."""

import warnings

import pytest
from sklearn.exceptions import SkipTestWarning
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from fsel_book import BSSSelector, LeverageSelector

try:
    from sklearn.utils._array_api import yield_namespace_device_dtype_combinations
    from sklearn.utils.estimator_checks import check_array_api_input
except ImportError:  # scikit-learn may move what it does not document
    check_array_api_input = None

# A seed for what is random: scikit-learn 1.6 compares two fits to arrays of two libraries without setting one.
SELECTORS = [
    BSSSelector(),
    BSSSelector(rule="best"),
    BSSSelector(rule="sampled", random_state=0),
    BSSSelector(rescale=True),
    BSSSelector(2, rank=1, rescale=True),
    LeverageSelector(random_state=0),
    LeverageSelector(rescale=True, random_state=0),
]
each_selector = pytest.mark.parametrize("selector", SELECTORS, ids=repr)


@parametrize_with_checks(SELECTORS)
def test_scikit_learn_checks(estimator, check):
    """Checks for array libraries that are not installed skip themselves and say so."""
    check(estimator)


@each_selector
def test_check_estimator_passes_in_one_go(selector):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        check_estimator(selector)


@each_selector
def test_tags_say_what_the_selectors_do(selector):
    tags = get_tags(selector)
    assert tags.array_api_support and tags.input_tags.sparse
    assert not tags.target_tags.required
    assert not tags.input_tags.allow_nan
    assert tags.transformer_tags.preserves_dtype == ["float64", "float32"]


@pytest.mark.skipif(check_array_api_input is None, reason="this scikit-learn keeps its array check elsewhere")
@each_selector
def test_array_api_strict_input_is_checked(selector):
    """scikit-learn's check of array input, for the library that is always there: here it must not skip itself."""
    pytest.importorskip("array_api_strict", reason="array_api_strict is not installed")
    checked = 0
    for namespace, *rest in yield_namespace_device_dtype_combinations():
        if namespace == "array_api_strict":
            device, dtype = (rest + [None, None])[:2]
            keywords = {"device": device, "dtype_name": dtype}
            names = check_array_api_input.__code__.co_varnames[: check_array_api_input.__code__.co_argcount]
            given = {name: value for name, value in keywords.items() if name in names}
            check_array_api_input(type(selector).__name__, selector, namespace, **given)
            checked += 1
    assert checked
