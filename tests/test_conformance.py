"""scikit-learn's own checks, in full, with no expected failures; and that every
selector of the book meets them.
"""

import importlib
import inspect
import pkgutil

import pytest
from cases import CASES, each_case
from sklearn.feature_selection import SelectFromModel, VarianceThreshold, f_classif
from sklearn.linear_model import LinearRegression
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import fsel_book
from fsel_book import (
    AdditiveKernelSelector,
    BSSSelector,
    CertifiedSelector,
    CompletionSelector,
    DSFSelector,
    DualProjectionClassifier,
    DualProjectionRidge,
    GroupSelector,
    GuyonRFE,
    LPSVMClassifier,
    RiskRFE,
    RLSClassifier,
    RRQRSelector,
    RSFSelector,
    SCADSVMClassifier,
    SparsePCRegressor,
    SupportVectorSelector,
)
from fsel_book.certificates import METHOD_COLORS
from fsel_book.groups import TermSelector

try:
    from sklearn.utils._array_api import yield_namespace_device_dtype_combinations
    from sklearn.utils.estimator_checks import check_array_api_input
except ImportError:  # scikit-learn may move what it does not document
    check_array_api_input = None


class ByF:
    """`f_classif` with one name in every process: a function's own says where it lies."""

    def __call__(self, X, y):
        return f_classif(X, y)

    def __repr__(self):
        return "f_classif"

    def __deepcopy__(self, _):
        return self


by_f = ByF()

# Random methods get a seed: scikit-learn 1.6 compares two fits to arrays of two
# libraries without setting one.
SELECTORS = [
    *[case.make() for case in CASES.values()],
    CASES["BSS"].make(rescale=True),
    CASES["BSS"].make(2, rank=1, rescale=True),
    CASES["BSS"].make(1, rescale=True),
    CASES["DSF"].make(1),
    CASES["BSS"].make(sketch_size=3, random_state=0),
    CASES["leverage sampling"].make(rescale=True),
    CASES["DSF"].make(rescale=True),
    DSFSelector(rule="target"),
    BSSSelector(score_func=by_f),
    CASES["DSF"].make(score_func=by_f),
    CompletionSelector(),
    GroupSelector(),
    AdditiveKernelSelector(),
    GroupSelector(score_func=by_f),
    AdditiveKernelSelector(score_func=by_f),
]

each_selector = pytest.mark.parametrize("selector", SELECTORS, ids=repr)
SUPERVISED = [
    SupportVectorSelector(),
    SupportVectorSelector(
        CASES["leverage sampling"].make(rescale=True), svm=LinearSVC()
    ),
]
CLASSIFIERS = [
    RLSClassifier(),
    RLSClassifier(kernel="rbf"),
    RLSClassifier(alpha=0.0),
    LPSVMClassifier(),
    SCADSVMClassifier(max_iter=1),
    SCADSVMClassifier(),
    DualProjectionClassifier(random_state=0),
    DualProjectionClassifier(
        "smoothed_hinge", solver="iterate", sketch="gaussian", random_state=0
    ),
    DualProjectionClassifier(
        "squared_hinge", solver="recover", fit_intercept=False, random_state=0
    ),
]
LINEAR = [
    DualProjectionRidge(random_state=0),
    DualProjectionRidge(solver="iterate", random_state=0),
]
each_classifier = pytest.mark.parametrize("classifier", CLASSIFIERS, ids=repr)
REGRESSORS = [
    SparsePCRegressor(),
    SparsePCRegressor(fit_intercept=False),
    SparsePCRegressor(selector=DSFSelector(rule="target")),
    SparsePCRegressor(selector=RSFSelector(random_state=0)),
    SparsePCRegressor(selector=RRQRSelector()),
]
ELIMINATIONS = [
    RiskRFE(),
    RiskRFE(kernel="linear", loss="squared_error"),
    GuyonRFE(kernel="linear"),
]
# Selectors that know nothing of array libraries.
FOREIGN = [
    SparsePCRegressor(selector=VarianceThreshold()),
    SparsePCRegressor(selector=SelectFromModel(LinearRegression())),
]


def test_every_selector_of_the_book_has_a_case():
    modules = [
        importlib.import_module(f"fsel_book.{found.name}")
        for found in pkgutil.iter_modules(fsel_book.__path__)
        if found.name != "papers"
    ]
    things = [
        thing
        for module in [fsel_book, *modules]
        for name, thing in vars(module).items()
        if name[0] != "_"
    ]
    selectors = {
        thing
        for thing in things
        if inspect.isclass(thing) and issubclass(thing, CertifiedSelector)
    }
    # which have no rank
    selectors = {thing for thing in selectors if not issubclass(thing, TermSelector)}
    assert selectors - {CertifiedSelector} == {case.selector for case in CASES.values()}


@each_case
def test_every_method_has_a_colour(case):
    assert case.make().method in METHOD_COLORS


def one_of_each_class(estimators):
    """The first of every class, but one for each method of selection."""
    first = {}
    for estimator in estimators:
        first.setdefault(
            (type(estimator), getattr(estimator, "method", None)), estimator
        )
    return list(first.values())


EVERYTHING = [*SELECTORS, *SUPERVISED, *CLASSIFIERS, *LINEAR, *REGRESSORS, *FOREIGN]
FEW = one_of_each_class(EVERYTHING)


@parametrize_with_checks(FEW)
def test_scikit_learn_checks(estimator, check):
    """Checks for array libraries that are not installed skip themselves and say so."""
    check(estimator)


@pytest.mark.sweep
@parametrize_with_checks(
    [estimator for estimator in EVERYTHING if not any(estimator is one for one in FEW)]
)
def test_scikit_learn_checks_with_other_parameters(estimator, check):
    check(estimator)


@each_selector
def test_tags_say_what_the_selectors_do(selector):
    tags = get_tags(selector)
    assert tags.array_api_support and tags.input_tags.sparse
    assert tags.target_tags.required == (
        getattr(selector, "rule", None) == "target"
        or getattr(selector, "score_func", None) is by_f
    )
    assert not tags.input_tags.allow_nan
    assert tags.transformer_tags.preserves_dtype == ["float64", "float32"]


@pytest.mark.parametrize("selector", SUPERVISED, ids=repr)
def test_tags_say_what_the_supervised_selectors_do(selector):
    tags = get_tags(selector)
    assert tags.array_api_support and tags.input_tags.sparse
    assert tags.target_tags.required and not tags.input_tags.allow_nan


@each_classifier
def test_tags_say_what_the_classifier_does(classifier):
    tags = get_tags(classifier)
    assert tags.array_api_support and tags.input_tags.sparse
    assert (
        tags.target_tags.required
        and not tags.input_tags.allow_nan
        and not tags.input_tags.pairwise
    )
    assert get_tags(RLSClassifier(kernel="precomputed")).input_tags.pairwise


@pytest.mark.parametrize("regressor", [*REGRESSORS, *FOREIGN], ids=repr)
def test_tags_say_what_the_regressor_does(regressor):
    tags = get_tags(regressor)
    assert (
        tags.array_api_support
        and tags.input_tags.sparse
        and not tags.input_tags.allow_nan
    )
    assert tags.estimator_type == "regressor" and tags.transformer_tags is not None
    assert (
        tags.target_tags.required
        and tags.target_tags.multi_output
        and tags.target_tags.single_output
    )


@pytest.mark.skipif(
    check_array_api_input is None,
    reason="this scikit-learn keeps its array check elsewhere",
)
@pytest.mark.parametrize(
    "estimator",
    [
        *SELECTORS,
        *SUPERVISED,
        *CLASSIFIERS,
        *LINEAR,
        *REGRESSORS,
        *FOREIGN,
        *ELIMINATIONS,
    ],
    ids=repr,
)
def test_array_api_strict_input_is_checked(estimator):
    """scikit-learn's check of array input, for the library that is always there: here
    it must not skip itself.
    """
    pytest.importorskip("array_api_strict", reason="array_api_strict is not installed")
    checked = 0
    for namespace, *rest in yield_namespace_device_dtype_combinations():
        if namespace == "array_api_strict":
            device, dtype = (rest + [None, None])[:2]
            keywords = {"device": device, "dtype_name": dtype}
            names = check_array_api_input.__code__.co_varnames[
                : check_array_api_input.__code__.co_argcount
            ]
            given = {name: value for name, value in keywords.items() if name in names}
            check_array_api_input(
                type(estimator).__name__, estimator, namespace, **given
            )
            checked += 1
    assert checked
