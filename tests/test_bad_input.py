"""What cannot be done is refused, in words that name the parameter, the value and what would be right."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from cases import heavy, orthonormal, table
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from fsel_book import (
    BSSSelector,
    LeverageDisplay,
    LeverageSelector,
    SpectrumDisplay,
    bss,
    certify,
    leverage_sampling,
    leverage_scores,
    row_space,
)

X = table(20, 30)
V = orthonormal(30, 4, np.random.default_rng(0))

each_class = pytest.mark.parametrize("Selector", [BSSSelector, LeverageSelector])
RULES = ["largest-norm", "best", "sampled"]


def refused(*parts, error=ValueError):
    """A context in which an error with all these parts must be raised, in this order."""
    return pytest.raises(error, match="(?s)" + ".*".join(re.escape(part) for part in parts))


# ---------------------------------------------------------------- the number of features


@each_class
@pytest.mark.parametrize(
    "value",
    [0, 1, -3, 31, 10**9, 2.5, 1.5, 0.0, -0.2, True, False, np.nan, np.inf, "many", "AUTO", "5", [5], (5,), 5 + 0j],
    ids=repr,
)
def test_number_of_features(Selector, value):
    with refused(
        f"n_features_to_select={value!r} is not possible",
        "integer from 2 to 30",
        "fraction above 0 and at most 1",
        "'auto'",
    ):
        Selector(value).fit(X)


@each_class
@pytest.mark.parametrize(
    "value, draws",
    [(None, 15), (2, 2), (30, 30), (np.int64(7), 7), (0.5, 15), (1.0, 30), (np.float32(0.1), 3), (1e-9, 2)],
)
def test_numbers_of_features_that_are_possible(Selector, value, draws):
    assert Selector(value).fit(X).n_draws_ == draws


@each_class
def test_defaults_work_on_two_features(Selector):
    assert Selector().fit(X[:, :2]).n_draws_ == 2
    assert Selector().fit(X[:2, :2]).certificate_.rank == 1


# ---------------------------------------------------------------- the rank


@each_class
@pytest.mark.parametrize("value", [0, -1, 2.0, 2.5, True, False, np.nan, "two", [2]], ids=repr)
def test_rank_is_a_positive_integer(Selector, value):
    with refused(f"rank={value!r} is not possible", "integer of at least 1"):
        Selector(10, rank=value).fit(X)


@each_class
@pytest.mark.parametrize("rank", [5, 6, 20, 25])
def test_rank_asked_for_must_be_below_the_number_of_features_selected(Selector, rank):
    with refused(f"rank={rank} is not possible with n_features_to_select=5", "below 5", "more features", "at most 4"):
        Selector(5, rank=rank).fit(X)


@each_class
def test_rank_must_not_exceed_the_numerical_rank(Selector):
    with refused("rank=21 is not possible", "numerical rank 20"):
        Selector(25, rank=21).fit(X)
    low = X[:, :6] @ X[:6, :30]
    with refused("rank=7 is not possible", "numerical rank 6"):
        Selector(25, rank=7).fit(low)
    with refused("rank=7 is not possible", "numerical rank 6"):
        Selector("auto", rank=7).fit(low)
    assert Selector(25, rank=6).fit(low).certificate_.rank == 6


@each_class
def test_more_rows_than_columns_with_full_column_rank(Selector):
    """Nothing can be left out without loss; a smaller rank can be certified."""
    tall = table(60, 30)
    with refused("rank=30 is not possible with n_features_to_select=30", "at most 29"):
        Selector(30, rank=30).fit(tall)
    with refused("n_features_to_select='auto' needs", "rank 30", "the 30 features"):
        Selector("auto").fit(tall)
    default = Selector().fit(tall).certificate_
    assert (default.rank, default.numerical_rank) == (7, 30)
    assert "rank 7 of 30" in str(default)
    assert Selector(30, rank=29).fit(tall).certificate_.rank == 29


@each_class
def test_a_default_that_certifies_less_than_the_whole_says_so(Selector):
    certificate = Selector(12).fit(X).certificate_
    assert (certificate.rank, certificate.numerical_rank) == (6, 20)
    assert 0 < certificate.energy < 1
    assert "rank 6 of 20" in str(certificate) and "rank-6 part of X" in str(certificate)


@pytest.mark.parametrize("rank", [0, -1, 21, 2.5, np.nan, "two"], ids=repr)
@pytest.mark.parametrize("function", [row_space, leverage_scores])
def test_rank_of_a_row_space(function, rank):
    with refused(f"rank={rank!r} is not possible", "numerical rank 20", "from 1 to 20"):
        function(X, rank)


# ---------------------------------------------------------------- the other parameters


@each_class
@pytest.mark.parametrize("value", [0, 1, -0.5, 2, np.nan, "small", None, [0.5]], ids=repr)
def test_epsilon(Selector, value):
    with refused(f"epsilon={value!r} is not possible", "above 0 and below 1"):
        Selector("auto", rank=1, epsilon=value).fit(X)


@each_class
def test_auto_that_needs_more_draws_than_there_are_features(Selector):
    with refused("n_features_to_select='auto' needs", "rank 3", "30 features", "larger epsilon", "smaller rank"):
        Selector("auto", rank=3, epsilon=0.1).fit(X)


def test_auto_gives_the_number_of_draws_of_the_theorem():
    wide = table(20, 3000)
    for rank in (1, 3, 20):
        for epsilon in (0.3, 0.5, 0.9):
            selector = BSSSelector("auto", rank=rank, epsilon=epsilon).fit(wide)
            promise = selector.certificate_.promise
            assert promise.epsilon <= epsilon + 1e-12
            assert (1 + np.sqrt(rank / (selector.n_draws_ - 1))) ** 2 - 1 > epsilon
            assert selector.certificate_.epsilon <= epsilon
    for rank in (1, 3):
        selector = LeverageSelector("auto", rank=rank, epsilon=0.5, random_state=0).fit(wide)
        assert selector.certificate_.promise.epsilon <= 0.5 + 1e-9


@pytest.mark.parametrize("value", ["worst", None, "Best", 3], ids=repr)
def test_rule(value):
    with refused(f"rule={value!r} is not possible", "'largest-norm', 'best', 'sampled'"):
        BSSSelector(rule=value).fit(X)
    with refused(f"rule={value!r} is not possible", "'largest-norm', 'best', 'sampled'"):
        bss(V, 9, value)


@pytest.mark.parametrize("r", [5, "auto"])
@pytest.mark.parametrize("value", [0, 1, -1, 2, np.nan, "small", None], ids=repr)
def test_delta(value, r):
    with refused(f"delta={value!r} is not possible", "above 0 and below 1"):
        LeverageSelector(r, rank=2, epsilon=0.9, delta=value).fit(table(20, 400))


@pytest.mark.parametrize(
    "selector", [LeverageSelector(5, random_state="x"), BSSSelector(5, rule="sampled", random_state="x")], ids=repr
)
def test_random_state(selector):
    with refused("'x' cannot be used to seed"):
        selector.fit(X)


# ---------------------------------------------------------------- the data


def with_entry(value):
    out = X.copy()
    out[2, 3] = value
    return out


BAD_DATA = {
    "no rows": (np.empty((0, 5)), ["0 sample"], ["X is empty", "(0, 5)"]),
    "no columns": (np.empty((5, 0)), ["0 feature"], ["X is empty", "(5, 0)"]),
    "all zero": (np.zeros((4, 6)), ["all zeros"], ["X is all zeros", "rank is 0"]),
    "all zero, integers": (np.zeros((4, 6), dtype=int), ["all zeros"], ["X is all zeros"]),
    "nothing but subnormal numbers": (
        np.full((3, 4), 1e-310),
        ["no entry above 1e-310", "rescale"],
        ["no entry above", "rescale"],
    ),
    "sparse without entries": (sp.csr_array((4, 6)), ["all zeros"], ["X is all zeros"]),
    "NaN": (with_entry(np.nan), ["NaN"], ["X contains NaN or infinity"]),
    "infinity": (with_entry(np.inf), ["infinity"], ["X contains NaN or infinity"]),
    "minus infinity": (with_entry(-np.inf), ["infinity"], ["X contains NaN or infinity"]),
    "NaN in float32": (with_entry(np.nan).astype(np.float32), ["NaN"], ["X contains NaN or infinity"]),
    "NaN, sparse": (sp.csr_array(with_entry(np.nan)), ["NaN"], ["X contains NaN or infinity"]),
    "infinity, sparse": (sp.csc_matrix(with_entry(np.inf)), ["infinity"], ["X contains NaN or infinity"]),
    "complex": (X + 0j, ["Complex data not supported"], ["Complex data not supported", "complex128"]),
    "complex, sparse": (sp.csr_array(X + 0j), ["Complex data not supported"], ["Complex data not supported"]),
    "text": (
        np.array([["a", "b"], ["c", "d"]]),
        ["could not convert string to float", "a"],
        ["dtype <U1", "numbers are needed"],
    ),
    "objects with text": (
        np.array([["a", 1], ["c", 2]], dtype=object),
        ["could not convert string to float"],
        ["dtype object", "numbers"],
    ),
    "a list of text": ([["a", "b"], ["c", "d"]], ["could not convert string to float"], ["numbers are needed"]),
    "three dimensions": (X[None], ["dim 3"], ["3 dimension(s)"]),
    "one dimension": (X[0], ["Expected 2D array, got 1D array"], ["1 dimension(s)"]),
    "a number": (3.0, ["Expected 2D array"], ["0 dimension(s)"]),
    "None": (None, ["Expected 2D array"], ["0 dimension(s)"]),
    "ragged lists": ([[1, 2], [3]], ["inhomogeneous"], ["inhomogeneous"]),
}
each_bad = pytest.mark.parametrize("bad", BAD_DATA)


@each_class
@each_bad
def test_data_refused_by_selectors(Selector, bad):
    data, parts, _ = BAD_DATA[bad]
    with refused(*parts):
        Selector().fit(data)


@each_bad
def test_data_refused_by_functions(bad):
    data, _, parts = BAD_DATA[bad]
    for function in (row_space, leverage_scores):
        with refused(*parts):
            function(data)


@each_class
def test_data_of_array_libraries(Selector):
    xp = pytest.importorskip("array_api_strict", reason="array_api_strict is not installed")
    for bad, parts in (
        (with_entry(np.nan), ["NaN or infinity"]),
        (X + 0j, ["Complex data not supported"]),
        (np.zeros((3, 3)), ["all zeros"]),
        (X[None], ["3 dimension(s)"]),
        (np.empty((0, 3)), ["empty"]),
        (X[:1], ["1 sample"]),
    ):
        with refused(*parts):
            Selector().fit(xp.asarray(bad))


@each_class
def test_a_frame_with_text(Selector):
    with refused("could not convert string to float", "north"):
        Selector().fit(pd.DataFrame(X).add_prefix("x").assign(region="north"))


@each_class
def test_one_row_and_one_column(Selector):
    for matrix in (X, sp.csr_array(X)):
        with refused("1 sample", "minimum of 2", Selector.__name__):
            Selector().fit(matrix[[0]])
        with refused("1 feature", "minimum of 2", Selector.__name__):
            Selector().fit(matrix[:, [0]])
    assert row_space(X[:1]).shape == (30, 1)
    assert_array_equal(leverage_scores(X[:, :1]), [1])


@each_class
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("shape", [(20, 30), (60, 30)])
def test_zero_columns_are_never_selected_and_constant_columns_may_be(Selector, shape, make):
    data = table(*shape)
    data[:, 3], data[:, 7], data[:, 29] = 0, 5, 0
    for keywords in (
        {"n_features_to_select": 30},
        {"n_features_to_select": 4},
        {"n_features_to_select": 25, "rank": 3},
    ):
        for seed in range(5):
            selector = Selector(random_state=seed, **keywords).fit(make(data))
            assert not np.isin(selector.selected_, [3, 29]).any()
            assert np.all(selector.leverage_scores_[[3, 29]] < 1e-25)
            assert selector.leverage_scores_[7] > 0
    assert 7 in BSSSelector(30).fit(make(data)).selected_


@pytest.mark.parametrize("rule", RULES)
def test_all_columns_equal(rule):
    constant = np.ones((8, 6))
    selector = BSSSelector(3, rule=rule, random_state=0).fit(constant)
    assert selector.certificate_.rank == 1 and selector.certificate_.holds
    assert selector.sampling_.n_selected == 3


@pytest.mark.parametrize("rule", RULES)
def test_a_single_column_that_is_not_zero(rule):
    data = np.zeros((5, 6))
    data[1:, 4] = [1, 2, 3, 4]
    selector = BSSSelector(4, rule=rule, random_state=0).fit(data)
    assert_array_equal(selector.selected_, [4])
    assert selector.n_draws_ == 4 and selector.sampling_.n_selected == 1 and selector.certificate_.holds
    assert selector.transform(data).shape == (5, 1)


# ---------------------------------------------------------------- functions


@pytest.mark.parametrize("r", [4, 3, 0, -1, np.nan, True], ids=repr)
@pytest.mark.parametrize("rule", RULES)
def test_draws_of_bss(r, rule):
    with refused(f"r={r!r} is not possible", "above the rank", "4"):
        bss(V, r, rule)


@pytest.mark.parametrize("r", [0, -1, np.nan], ids=repr)
def test_draws_of_leverage_sampling(r):
    with refused(f"r={r!r} is not possible", "at least 1"):
        leverage_sampling(V, r)


NOT_ORTHONORMAL = {
    "scaled": 2 * V,
    "one column scaled": V * [1, 1, 1, 1.1],
    "transposed": V.T,
    "two equal columns": V[:, [0, 0]],
    "an angle between columns": V @ np.array([[1, 0.5, 0, 0], [0, np.sqrt(0.75), 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]),
    "data": X,
    "zeros": 0 * V,
}


@pytest.mark.parametrize("kind", NOT_ORTHONORMAL)
def test_a_basis_that_is_not_orthonormal(kind):
    W = NOT_ORTHONORMAL[kind]
    sampling = bss(V, 9)
    for use in (lambda: bss(W, 40), lambda: leverage_sampling(W, 9, random_state=0), lambda: certify(W, sampling)):
        with refused("V must have orthonormal columns", "row_space(X)"):
            use()


@pytest.mark.parametrize(
    "bad, parts",
    [
        (V * np.nan, ["V contains NaN"]),
        (V[:, 0], ["V has 1 dimension"]),
        (V + 0j, ["Complex", "V has"]),
        (np.empty((0, 3)), ["V is empty"]),
        (np.array([["a"]]), ["V has dtype"]),
    ],
)
def test_a_basis_that_is_no_matrix_of_numbers(bad, parts):
    for use in (lambda: bss(bad, 40), lambda: leverage_sampling(bad, 9), lambda: certify(bad, bss(V, 9))):
        with refused(*parts):
            use()


def test_a_sampling_of_other_features():
    with refused("sampling is of 50 features", "V has 30"):
        certify(V, bss(heavy(50, 4, np.random.default_rng(0)), 9))


# ---------------------------------------------------------------- after fit


@each_class
def test_transform_of_other_features(Selector):
    selector = Selector(15, random_state=0).fit(X)
    for wrong in (X[:, :29], np.hstack([X, X[:, :1]]), sp.csr_array(X[:, :29])):
        with refused(f"X has {wrong.shape[1]} features", "expecting 30 features"):
            selector.transform(wrong)
    for wrong, parts in (
        (X[0], ["1D array"]),
        (with_entry(np.nan), ["NaN"]),
        (X[:0], ["0 sample"]),
        (X + 0j, ["Complex"]),
    ):
        with refused(*parts):
            selector.transform(wrong)
    assert selector.transform(X[:1]).shape == (1, selector.sampling_.n_selected)


@each_class
def test_transform_of_other_names(Selector):
    frame = pd.DataFrame(X, columns=[f"word{j}" for j in range(30)])
    selector = Selector(15, random_state=0).fit(frame)
    for wrong in (frame.rename(columns={"word3": "other"}), frame[frame.columns[::-1]], frame.iloc[:, :29]):
        with refused("feature names"):
            selector.transform(wrong)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        selector.transform(X)
    with refused("input_features is not equal to feature_names_in_"):
        selector.get_feature_names_out(["a"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        selector.transform(frame)


@each_class
def test_inverse_transform_of_another_width(Selector):
    selector = Selector(15, random_state=0).fit(X)
    kept = selector.sampling_.n_selected
    for wrong in (X, np.empty((3, kept + 1)), sp.csr_array(np.ones((3, kept - 1)))):
        with refused(f"X has {wrong.shape[1]} features", f"{kept} features were selected"):
            selector.inverse_transform(wrong)
    with refused("1 dimension"):
        selector.inverse_transform(np.ones(kept))


@each_class
def test_a_mask_has_no_order(Selector):
    with refused("ordered=True needs indices=True"):
        Selector(15).fit(X).get_support(ordered=True)


@each_class
@pytest.mark.parametrize("method", ["transform", "inverse_transform", "get_support", "get_feature_names_out"])
def test_not_fitted(Selector, method):
    with refused(f"This {Selector.__name__} instance is not fitted yet", error=NotFittedError):
        getattr(Selector(), method)(*[X] * ("transform" in method))


@each_class
@pytest.mark.parametrize("Display", [SpectrumDisplay, LeverageDisplay])
def test_pictures_of_what_is_not_fitted(Selector, Display):
    with refused("not fitted yet", error=NotFittedError):
        Display.from_selector(Selector())


@each_class
def test_a_failed_fit_leaves_no_selection_behind(Selector):
    selector = Selector(31)
    with pytest.raises(ValueError):
        selector.fit(X)
    with refused("not fitted yet", error=NotFittedError):
        selector.get_support()
