"""What cannot be done is refused, in words that name the parameter, the value and what
would be right.
"""

import decimal
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from cases import (
    CASES,
    cases,
    each_case,
    eps_of,
    heavy,
    orthonormal,
    refused,
    swept_product,
    table,
    with_condition,
)
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.exceptions import NotFittedError

from fsel_book import (
    BSSSelector,
    CompletionSelector,
    DSFSelector,
    DualProjectionClassifier,
    DualProjectionRidge,
    GuyonRFE,
    LeverageDisplay,
    LeverageSelector,
    LPSVMClassifier,
    RiskRFE,
    RLSClassifier,
    Sampling,
    SCADSVMClassifier,
    SparsePCRegressor,
    SpectrumDisplay,
    SupportVectorSelector,
    as_blocks,
    bss,
    certify,
    certify_selector,
    information_gain,
    leverage_scores,
    row_space,
)
from fsel_book.ridge import risk_bound

X = table(20, 30)
V = orthonormal(30, 4, np.random.default_rng(0))

# ---------------------------------------------------------------- the number of
# features


@each_case
@pytest.mark.parametrize(
    "value",
    [
        0,
        -3,
        31,
        10**9,
        2.5,
        1.5,
        0.0,
        -0.2,
        True,
        False,
        np.nan,
        np.inf,
        "many",
        "AUTO",
        "5",
        [5],
        (5,),
        5 + 0j,
    ],
    ids=repr,
)
def test_number_of_features(case, value):
    with refused(
        f"n_features_to_select={value!r} is not possible",
        "integer from 1 to 30",
        "fraction above 0 and at most 1",
        "'auto'",
    ):
        case.make(value).fit(X)


@each_case
def test_one_feature_is_the_least_and_is_for_rank_one(case):
    for value in (1, np.int8(1), 1e-9, 1 / 30):
        for keywords in ({}, {"rank": 1}):
            selector = case.make(value, **keywords).fit(X)
            assert selector.n_draws_ == selector.sampling_.n_selected == 1
            rank = 2 if case.soft and not keywords else 1
            assert selector.certificate_.rank == rank
    for few in (X[:, :2], X[:, :3], X[:2, :2]):
        selector = case.make().fit(few)
        assert selector.n_draws_ == 1
        assert selector.certificate_.rank == (2 if case.soft else 1)
    with refused(
        "rank=2 is not possible with n_features_to_select=1",
        "1 feature can",
        "rank of at most 1",
    ):
        case.make(1, rank=2).fit(X)


@each_case
@pytest.mark.parametrize(
    "value, draws",
    [
        (None, 15),
        (1, 1),
        (2, 2),
        (30, 30),
        (np.int64(7), 7),
        (0.5, 15),
        (1.0, 30),
        (np.float32(0.1), 3),
    ],
)
def test_numbers_of_features_that_are_possible(case, value, draws):
    fitted = case.make(value).fit(X)
    assert len(fitted.selected_) == draws <= fitted.n_draws_
    assert case.drawing(draws).fit(X).n_draws_ == draws


# ---------------------------------------------------------------- where to read on

TO_THE_CHAPTER = {
    "more features than there are": lambda: BSSSelector(31).fit(X),
    "a rank that no draws certify": lambda: BSSSelector(10, rank=10).fit(X),
    "the full rank with few draws": lambda: BSSSelector(10, rank="full").fit(X),
    "a rank that the data do not have": lambda: BSSSelector(25, rank=5).fit(
        X[:, :4] @ X[:4]
    ),
    "no rank at all": lambda: BSSSelector(10, rank="most").fit(X),
    "more leading directions than known": lambda: row_space(X, 3).truncate(4),
    "more draws than features": lambda: BSSSelector("theorem", rank=15, eps=0.1).fit(X),
    "fewer additions than the rank wants": lambda: CompletionSelector(
        [1], 2, rank=10
    ).fit(X),
    "a distortion that is out of reach": lambda: CompletionSelector(
        [1], rank=15, distortion=1e-6
    ).fit(X),
    "a certificate for a part": lambda: risk_bound(
        BSSSelector(10, rank=4).fit(X).certificate_, X @ X.T, X[:, 0], 1.0, [1.0]
    ),
    "a certificate at a ridge": lambda: risk_bound(
        BSSSelector(15).fit(X).certificate_, X @ X.T, X[:, 0], 1.0, [1.0]
    ),
}


@pytest.mark.parametrize("what", TO_THE_CHAPTER)
def test_errors_of_too_high_a_rank_and_too_many_features_name_the_chapter(what):
    with refused("see the chapter Which method when"):
        TO_THE_CHAPTER[what]()


# ---------------------------------------------------------------- the rank


@each_case
@pytest.mark.parametrize(
    "value", [0, -1, 2.0, 2.5, True, False, np.nan, "two", [2]], ids=repr
)
def test_rank_is_a_positive_integer(case, value):
    with refused(f"rank={value!r} is not possible", "integer of at least 1"):
        case.make(10, rank=value).fit(X)


@each_case
@pytest.mark.parametrize("more", [1, 2, 15, 20])
def test_rank_asked_for_must_leave_draws_to_spare(case, more):
    most = 5 - case.spare
    with refused(
        f"rank={most + more} is not possible with n_features_to_select=5",
        f"a rank of at most {most}",
        "more features",
    ):
        case.make(5, rank=most + more).fit(X)
    assert case.make(5, rank=most).fit(X).certificate_.rank == most


@each_case
def test_rank_must_not_exceed_the_numerical_rank(case):
    with refused("rank=21 is not possible", "numerical rank 20"):
        case.make(25, rank=21).fit(X)
    low = X[:, :6] @ X[:6, :30]
    with refused("rank=7 is not possible", "numerical rank 6"):
        case.make(25, rank=7).fit(low)
    with refused("rank=7 is not possible", "numerical rank 6"):
        case.make("theorem", rank=7).fit(low)
    assert case.make(25, rank=6).fit(low).certificate_.rank == 6


@cases(spare=1)
def test_more_rows_than_columns_with_full_column_rank(case):
    """Nothing can be left out without loss; a smaller rank can be certified."""
    tall = table(60, 30)
    with refused("rank=30 is not possible with n_features_to_select=30", "at most 29"):
        case.make(30, rank=30).fit(tall)
    with refused(
        "rank=30 ('full') is not possible with n_features_to_select=30", "at most 29"
    ):
        case.make(30, rank="full").fit(tall)
    default = case.make().fit(tall).certificate_
    assert default.numerical_rank == 30
    assert default.rank == (30 if case.soft else 7)
    assert ("all of X at the ridge" if case.soft else "rank 7 of 30") in str(default)
    assert case.make(30, rank=29).fit(tall).certificate_.rank == 29


@cases(spare=0)
def test_all_of_more_rows_than_columns(case):
    """Methods that need no more draws than the rank take every feature, and lose
    nothing.
    """
    tall = table(60, 30)
    certificate = case.make(30, rank="full").fit(tall).certificate_
    assert certificate.rank == certificate.n_selected == 30
    assert certificate.eps < 1e-9
    assert case.make().fit(tall).certificate_.rank == 7


@each_case
def test_a_default_that_certifies_less_than_the_whole_says_so(case):
    certificate = case.make(7 if case.soft else 12).fit(X).certificate_
    rank = 14 if case.soft else 6
    assert (certificate.rank, certificate.numerical_rank) == (rank, 20)
    assert 0 < certificate.energy < 1
    assert f"rank {rank} of 20" in str(certificate)
    words = " ".join(str(certificate).split())
    assert f"rank-{rank} part of X" in words
    assert ("along the 14 strongest directions" in words) == case.soft


@pytest.mark.parametrize("rank", [0, -1, 21, 2.5, np.nan, "two"], ids=repr)
@pytest.mark.parametrize("function", [row_space, leverage_scores])
def test_rank_of_a_row_space(function, rank):
    with refused(f"rank={rank!r} is not possible", "numerical rank 20", "from 1 to 20"):
        function(X, rank)


# ---------------------------------------------------------------- the other parameters


@cases(auto=True)
@pytest.mark.parametrize(
    "value", [0, 1, -0.5, 2, np.nan, "small", None, [0.5]], ids=repr
)
def test_eps(case, value):
    with refused(f"eps={value!r} is not possible", "above 0 and below 1"):
        case.make("theorem", rank=1, eps=value).fit(X)


@cases(auto=False)
@pytest.mark.parametrize("rank", [1, 3, 20])
def test_auto_without_an_eps_is_as_few_as_can_be(case, rank):
    assert case.make("theorem", rank=rank).fit(X).n_draws_ == rank + case.spare


@cases(auto=True)
@pytest.mark.parametrize(
    "data, rank, eps", [(X, 3, 0.1), (table(60, 30), 30, 0.5)], ids=["wide", "tall"]
)
def test_auto_that_needs_more_draws_than_there_are_features(case, data, rank, eps):
    """Refused by the methods that do not keep such a promise even with all of them."""
    selector = case.make("theorem", rank=rank, eps=eps)
    promise = case.promise(row_space(data, rank), 30)
    if eps_of(promise, promise) > eps:
        words = [f"rank {rank}", "30 features", "larger eps", "smaller rank"]
        with refused("n_features_to_select='theorem' needs", *words):
            selector.fit(data)
    else:
        assert selector.fit(data).n_draws_ <= 30


@cases(auto=True)
@swept_product(
    ("rank", "eps"), [(1, 0.3), (1, 0.9), (3, 0.5), (3, 0.9)], [1, 3], [0.3, 0.5, 0.9]
)
def test_auto_gives_the_number_of_draws_of_the_theorem(case, rank, eps):
    wide = table(20, 3000)
    selector = case.make("theorem", rank=rank, eps=eps).fit(wide)
    space = row_space(wide, rank)
    r = selector.n_draws_
    promise = selector.certificate_.promise
    assert eps_of(promise, promise) <= eps + 1e-9
    assert r <= rank + case.spare or eps_of(case.promise(space, r - 1), promise) > eps
    assert eps_of(selector.certificate_, promise) <= eps


@cases(weighted=True)
@pytest.mark.parametrize("value", ["no", 0, 1, None, 1.0, [True]], ids=repr)
def test_rescale_is_true_or_false(case, value):
    with refused(f"rescale={value!r} is not possible", "True or False"):
        case.make(10, rescale=value).fit(X)


@pytest.mark.parametrize("value", [True, "best", "Largest", None, 0.5], ids=repr)
def test_the_rule_of_leverages_is_one_of_two(value):
    with refused(f"rule={value!r} is not possible", "'sampled', 'largest'"):
        LeverageSelector(10, rule=value).fit(X)


def test_truth_values_of_numpy_will_do():
    selector = LeverageSelector(10, rule="largest", rescale=np.True_).fit(X)
    assert selector.certificate_.method == "largest leverages"


@pytest.mark.parametrize("value", ["worst", None, "Best", 3], ids=repr)
def test_rule(value):
    with refused(
        f"rule={value!r} is not possible", "'largest-norm', 'best', 'sampled'"
    ):
        BSSSelector(rule=value).fit(X)
    with refused(
        f"rule={value!r} is not possible", "'largest-norm', 'best', 'sampled'"
    ):
        bss(V, 9, value)


@pytest.mark.parametrize("r", [5, "theorem"])
@pytest.mark.parametrize("value", [0, 1, -1, 2, np.nan, "small", None], ids=repr)
def test_delta(value, r):
    with refused(f"delta={value!r} is not possible", "above 0 and below 1"):
        LeverageSelector(r, rank=2, eps=0.9, delta=value).fit(table(20, 400))


@cases(random=True)
def test_random_state(case):
    with refused("'x' cannot be used to seed"):
        case.make(5, random_state="x").fit(X)


# ---------------------------------------------------------------- the data


def with_entry(value):
    out = X.copy()
    out[2, 3] = value
    return out


BAD_DATA = {
    "no rows": (np.empty((0, 5)), ["0 sample"], ["X is empty", "(0, 5)"]),
    "no columns": (np.empty((5, 0)), ["0 feature"], ["X is empty", "(5, 0)"]),
    "all zero": (np.zeros((4, 6)), ["all zeros"], ["X is all zeros", "rank is 0"]),
    "all zero, integers": (
        np.zeros((4, 6), dtype=int),
        ["all zeros"],
        ["X is all zeros"],
    ),
    "nothing but subnormal numbers": (
        np.full((3, 4), 1e-310),
        ["X is out of range", "1e-310", "between 1e-150 and 1e+150", "Rescale"],
        ["X is out of range", "1e-310", "between 1e-150 and 1e+150", "Rescale"],
    ),
    "sparse without entries": (sp.csr_array((4, 6)), ["all zeros"], ["X is all zeros"]),
    "NaN": (with_entry(np.nan), ["NaN"], ["X contains NaN or infinity"]),
    "infinity": (with_entry(np.inf), ["infinity"], ["X contains NaN or infinity"]),
    "minus infinity": (
        with_entry(-np.inf),
        ["infinity"],
        ["X contains NaN or infinity"],
    ),
    "NaN in float32": (
        with_entry(np.nan).astype(np.float32),
        ["NaN"],
        ["X contains NaN or infinity"],
    ),
    "NaN, sparse": (
        sp.csr_array(with_entry(np.nan)),
        ["NaN"],
        ["X contains NaN or infinity"],
    ),
    "infinity, sparse": (
        sp.csc_matrix(with_entry(np.inf)),
        ["infinity"],
        ["X contains NaN or infinity"],
    ),
    "complex": (
        X + 0j,
        ["Complex data not supported"],
        ["Complex data not supported", "complex128"],
    ),
    "complex, sparse": (
        sp.csr_array(X + 0j),
        ["Complex data not supported"],
        ["Complex data not supported"],
    ),
    "text": (
        np.array([["a", "b"], ["c", "d"]]),
        ["X is not numeric", "dtype <U1"],
        ["dtype <U1", "numbers are needed"],
    ),
    "objects with text": (
        np.array([["a", 1], ["c", 2]], dtype=object),
        ["could not convert string to float"],
        ["dtype object", "numbers"],
    ),
    "a list of text": (
        [["a", "b"], ["c", "d"]],
        ["X is not numeric"],
        ["numbers are needed"],
    ),
    "three dimensions": (X[None], ["dim 3"], ["3 dimension(s)"]),
    "one dimension": (X[0], ["Expected 2D array, got 1D array"], ["1 dimension(s)"]),
    "a number": (3.0, ["Expected 2D array"], ["0 dimension(s)"]),
    "None": (None, ["Expected 2D array"], ["0 dimension(s)"]),
    "ragged lists": ([[1, 2], [3]], ["inhomogeneous"], ["inhomogeneous"]),
}
each_bad = pytest.mark.parametrize("bad", BAD_DATA)


@each_case
@each_bad
def test_data_refused_by_selectors(case, bad):
    data, parts, _ = BAD_DATA[bad]
    with refused(*parts):
        case.make().fit(data)


@each_bad
def test_data_refused_by_functions(bad):
    data, _, parts = BAD_DATA[bad]
    for function in (row_space, leverage_scores):
        with refused(*parts):
            function(data)


@each_case
def test_data_of_array_libraries(case):
    xp = pytest.importorskip(
        "array_api_strict", reason="array_api_strict is not installed"
    )
    for bad, parts in (
        (with_entry(np.nan), ["NaN or infinity"]),
        (X + 0j, ["Complex data not supported"]),
        (np.zeros((3, 3)), ["all zeros"]),
        (X[None], ["3 dimension(s)"]),
        (np.empty((0, 3)), ["empty"]),
        (X[:1], ["1 sample"]),
    ):
        with refused(*parts):
            case.make().fit(xp.asarray(bad))


@each_case
def test_texts_and_times_are_refused_by_fit_and_transform_alike(case):
    """Texts that are numbers too, as by scikit-learn's own selectors."""
    y = np.arange(len(X)) % 2
    texts = X.round(2).astype(str)
    fitted = case.make(8).fit(X, y)
    for bad in (
        texts,
        texts.tolist(),
        np.arange(X.size).reshape(X.shape).astype("datetime64[D]"),
    ):
        for call in (
            lambda bad=bad: case.make(8).fit(bad, y),
            lambda bad=bad: fitted.transform(bad),
        ):
            with refused(
                "X is not numeric: its entries are of the dtype", "X.astype(float)"
            ):
                call()


@pytest.mark.parametrize(
    "estimator",
    [
        DSFSelector(4, rule="target"),
        SparsePCRegressor(2),
        RLSClassifier(),
        RiskRFE(),
        LPSVMClassifier(),
        DualProjectionRidge(),
        BSSSelector(4, score_func=information_gain),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_sparse_targets_are_refused(estimator):
    with refused("y is sparse: give a dense array, as y.toarray()"):
        estimator.fit(X, sp.csr_array(np.where(X[:, :1] > 0, 1, -1)))


# Whatever takes labels, and what it says of numbers.
FOR_LABELS = [
    (RiskRFE(2, C=10.0), 'loss="epsilon_insensitive"'),
    (GuyonRFE(2), 'loss="squared_error"'),
    (RLSClassifier(), "KernelRidge"),
    (DualProjectionClassifier(), "DualProjectionRidge"),
    (LPSVMClassifier(C=10.0), "Lasso"),
    (SCADSVMClassifier(), "Lasso"),
    (SupportVectorSelector(BSSSelector(4, rank=2)), "Cut y into classes"),
    (BSSSelector(4, rank=2, score_func=information_gain), "ut y into classes"),
]
for_labels = pytest.mark.parametrize(
    ("machine", "remedy"), FOR_LABELS, ids=lambda x: type(x).__name__
)


@for_labels
@pytest.mark.filterwarnings("ignore:score_func gives 0")
def test_measurements_are_no_labels(machine, remedy):
    """Numbers with fractions are refused with a remedy, and nothing is left half
    fitted.
    """
    A = np.random.default_rng(0).standard_normal((60, 6))
    fitted = clone(machine).fit(A, A[:, 0] > 0)
    with pytest.raises(ValueError, match="y .*continuous|continuous.* y ") as said:
        fitted.fit(A, np.r_[A[:30, 0], np.arange(30)])
    assert remedy in str(said.value)
    with pytest.raises(NotFittedError):
        fitted.transform(A) if hasattr(fitted, "transform") else fitted.predict(A)


@for_labels
@pytest.mark.parametrize(
    ("labels", "told"),
    [
        # whole numbers: more than a third of them different
        (np.arange(30) // 2, True),
        (np.arange(30) // 2 + 0.0, True),
        (np.arange(30.0), True),
        (np.arange(30) // 3, False),
        (np.array([f"sample {i}" for i in range(30)]), True),  # texts: more than a half
        (np.array([f"pair {i // 2}" for i in range(30)]), False),
        (np.arange(20) // 2, False),  # few samples
    ],
)
def test_more_classes_than_labels_have_are_told_once(machine, remedy, labels, told):
    A = np.random.default_rng(0).standard_normal((len(labels), 6))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        clone(machine).fit(A, labels)
    # libsvm's own check may speak of it, too
    said = [one for one in seen if "y has" in str(one.message)]
    assert len(said) == told
    for one in said:
        text = str(one.message)
        assert (
            f"y has {len(set(labels.tolist()))} classes for 30 samples" in text
            and remedy in text
        )
        assert one.category is UserWarning and one.filename == __file__


def test_the_target_of_diabetes_is_told_from_labels():
    """214 whole numbers for 442 patients: fewer than a half are different."""
    A, y = load_diabetes(return_X_y=True)
    # classes are looked at once, those with a weight once more
    weights = np.r_[np.zeros(42), np.ones(400)]
    with pytest.warns(
        UserWarning, match="214 classes for 442 samples.*squared_error"
    ) as seen:
        GuyonRFE(9, C=1e-3).fit(A, y, sample_weight=weights)
    assert len(seen) == 1


def test_names_given_twice_are_named():
    frame = pd.DataFrame(X).add_prefix("c")
    with refused("given names 'c1' more than once"):
        CompletionSelector(["c1", "c2", "c1"]).fit(frame)


@each_case
def test_a_frame_with_text(case):
    with refused(
        "X has entries that are no numbers, in the column 'region'",
        "leave them out",
        "'north'",
    ):
        case.make().fit(pd.DataFrame(X).add_prefix("x").assign(region="north"))


FRAME = pd.DataFrame(X).add_prefix("x")
DAYS = pd.date_range("2024-02-01", periods=20)
TIMES = "X has dates or times, in the column 'extra': give numbers in their place"
NO_NUMBERS = "X has entries that are no numbers, in the column 'extra': encode them"
MISSING = "X contains NaN or infinity, in the column 'extra'; remove or impute"
COLUMNS = {
    "dates": (DAYS, TIMES),
    "dates with a zone": (DAYS.tz_localize("UTC"), TIMES),
    "times": (DAYS - DAYS[0], TIMES),
    "periods": (DAYS.to_period("D"), NO_NUMBERS),
    "dates of Python": (
        pd.Series([day.date() for day in DAYS], dtype=object),
        NO_NUMBERS,
    ),
    "texts": (["Bonn"] * 20, NO_NUMBERS),
    "texts as objects": (pd.Series(["Bonn"] * 20, dtype=object), NO_NUMBERS),
    "categories": (pd.Categorical(["u", "v"] * 10), NO_NUMBERS),
    "lists": (pd.Series([[1]] * 20), NO_NUMBERS),
    "complex numbers": (
        np.full(20, 1j),
        "Complex data not supported: X has complex numbers, in the column 'extra'",
    ),
    "a missing integer": (pd.array([None, *range(19)], dtype="Int64"), MISSING),
    "a missing number": (pd.array([None, *range(19)], dtype="Float64"), MISSING),
    "a missing object": (pd.Series([None, *range(19)], dtype=object), MISSING),
    "NaN": ([np.nan, *range(19)], MISSING),
    "infinity": ([np.inf, *range(19)], MISSING),
}
READERS = {
    "fit": BSSSelector(4, rank=2).fit,
    "transform": BSSSelector(4, rank=2).fit(FRAME.assign(extra=1.0)).transform,
    "fit of a machine": lambda X: LPSVMClassifier().fit(X, np.arange(20) % 2),
    "row_space": row_space,
    "fit in blocks": lambda X: BSSSelector(4, rank=2).fit(as_blocks(X)),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", COLUMNS)
def test_what_is_no_number_in_a_frame_is_named_with_its_column(kind, reader):
    """In blocks the entries that are missing are found in a later pass, where there are
    no columns any more.
    """
    values, words = COLUMNS[kind]
    frame = FRAME.assign(extra=values)
    with refused(
        "X contains NaN or infinity"
        if words == MISSING and "blocks" in reader
        else words
    ):
        READERS[reader](frame)


NUMBERS = {
    "nullable integers": pd.array(range(20), dtype="Int64"),
    "nullable truth values": pd.array([True, False] * 10, dtype="boolean"),
    "decimal numbers": pd.Series([decimal.Decimal(i) for i in range(20)], dtype=object),
    "categories of numbers": pd.Categorical([1, 2] * 10),
    "sparse numbers": pd.arrays.SparseArray([0.0, 1.0] * 10),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_every_column_of_numbers_is_read_by_selectors_and_by_functions(kind):
    values = NUMBERS[kind]
    numbers = np.asarray(values, dtype=float)
    for name in ["extra"], ["extra", "again"]:
        frame = FRAME.copy()
        plain = FRAME.copy()
        for column in name:
            frame[column] = values
            plain[column] = numbers
        # the rule on blocks of features
        selector = BSSSelector(8, rank=4, rule="largest-norm")
        expected = clone(selector).fit(plain)
        for found in (
            clone(selector).fit(frame),
            clone(selector).fit(as_blocks(frame)),
        ):
            assert_array_equal(found.selected_, expected.selected_)
        assert_array_equal(
            row_space(frame).singular_values, row_space(plain).singular_values
        )
        assert (
            certify_selector(expected, frame).kappa
            == certify_selector(expected, plain).kappa
        )


def test_many_columns_are_not_all_listed():
    frame = FRAME.assign(**{f"city {i}": "Bonn" for i in range(8)})
    with refused("columns 'city 0', 'city 1', 'city 2', 'city 3', 'city 4' and 3 more"):
        BSSSelector(4, rank=2).fit(frame)


def test_frames_of_polars():
    pl = pytest.importorskip("polars", reason="polars is not installed")
    for kind in ("dates", "times", "texts", "a missing integer", "NaN"):
        values, words = COLUMNS[kind]
        for read in (READERS["fit"], READERS["row_space"]):
            with refused(words):
                read(pl.DataFrame(FRAME.assign(extra=values)))


def test_names_that_differ_are_said_before_what_the_columns_hold():
    fitted = BSSSelector(4, rank=2).fit(FRAME)
    with refused("feature names should match"):
        fitted.transform(FRAME.rename(columns={"x0": "y0"}))


@each_case
def test_one_row_and_one_column(case):
    """Of one sample there is nothing to learn; of one feature there is nothing to
    choose, but that is no mistake.
    """
    for matrix in (X, sp.csr_array(X)):
        with refused("1 sample", "minimum of 2", case.selector.__name__):
            case.make().fit(matrix[[0]])
        for value in (None, 1, 0.5, 1.0):
            selector = case.make(value).fit(matrix[:, [0]])
            assert_array_equal(selector.selected_, [0])
            assert selector.certificate_.holds
            assert case.soft or selector.certificate_.eps < 1e-12
            assert selector.transform(matrix[:, [0]]).shape == (20, 1)
        with refused("n_features_to_select=2 is not possible", "integer from 1 to 1"):
            case.make(2).fit(matrix[:, [0]])
    assert row_space(X[:1]).shape == (30, 1)
    assert_array_equal(leverage_scores(X[:, :1]), [1])


ENOUGH = [
    {"n_features_to_select": 28},
    {"n_features_to_select": 4},
    {"n_features_to_select": 25, "rank": 3},
]


@cases(blind=False)
@swept_product(
    ("shape", "make"),
    [((20, 30), sp.csr_array), ((60, 30), np.asarray)],
    [(20, 30), (60, 30)],
    [np.asarray, sp.csr_array, sp.csc_array],
)
def test_zero_columns_are_never_selected_and_constant_columns_may_be(case, shape, make):
    data = table(*shape)
    data[:, 3] = 0
    data[:, 7] = 5
    data[:, 29] = 0
    for keywords in ENOUGH:
        for seed in range(5) if case.random else [None]:
            given_seed = {"random_state": seed} if case.random else {}
            r = keywords["n_features_to_select"]
            selector = case.make(
                r, **{k: v for k, v in keywords.items() if k == "rank"}, **given_seed
            ).fit(make(data))
            assert not np.isin(selector.selected_, [3, 29]).any()
            assert np.all(selector.leverage_scores_[[3, 29]] < 1e-25)
            assert selector.leverage_scores_[7] > 0


@cases(distinct=False)
def test_where_all_draws_are_asked_for_zero_columns_are_left_and_others_repeated(case):
    data = table(20, 30)
    data[:, [3, 29]] = 0
    assert set(case.make(30).fit(data).selected_) == set(range(30)) - {3, 29}
    selector = case.drawing(30).fit(data)
    assert not np.isin(selector.selected_, [3, 29]).any()
    assert selector.n_draws_ == 30 > selector.sampling_.n_selected


@each_case
def test_all_columns_equal(case):
    selector = case.make(3).fit(np.ones((8, 6)))
    assert selector.certificate_.rank == 1 and selector.certificate_.holds is not False
    assert selector.sampling_.n_selected == 1


@cases(distinct=False)
def test_a_single_column_that_is_not_zero(case):
    data = np.zeros((5, 6))
    data[1:, 4] = [1, 2, 3, 4]
    selector = case.make(4).fit(data)
    assert_array_equal(selector.selected_, [4])
    assert (
        selector.n_draws_ >= 4
        and selector.sampling_.n_selected == 1
        and selector.certificate_.holds
    )
    assert selector.transform(data).shape == (5, 1)


# ---------------------------------------------------------------- functions


@each_case
@pytest.mark.parametrize("r", [0, -1, np.nan, 9.0, True, "9", None], ids=repr)
def test_draws_are_a_positive_integer(case, r):
    with refused(f"r={r!r} is not possible", "give an integer"):
        case.function(V, r)


@cases(distinct=True)
def test_draws_of_different_features_are_not_more_than_there_are(case):
    with refused("r=31 is not possible", "from", "to 30"):
        case.function(V, 31)


@cases(selector=BSSSelector)
@pytest.mark.parametrize("r", [4, 3, 1], ids=repr)
def test_draws_of_bss(case, r):
    with refused(
        f"r={r!r} is not possible", "at least 5", "above the rank of V, which is 4"
    ):
        case.function(V, r)


NOT_ORTHONORMAL = {
    "scaled": 2 * V,
    "one column scaled": V * [1, 1, 1, 1.1],
    "transposed": V.T,
    "two equal columns": V[:, [0, 0]],
    "an angle between columns": V
    @ np.array([[1, 0.5, 0, 0], [0, np.sqrt(0.75), 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]),
    "data": X,
    "zeros": 0 * V,
}


@each_case
@pytest.mark.parametrize("kind", NOT_ORTHONORMAL)
def test_a_basis_that_is_not_orthonormal(case, kind):
    with refused("V must have orthonormal columns", "row_space(X)"):
        case.function(NOT_ORTHONORMAL[kind], 40)


@pytest.mark.parametrize("kind", NOT_ORTHONORMAL)
def test_a_certificate_needs_an_orthonormal_basis(kind):
    with refused("V must have orthonormal columns", "row_space(X)"):
        certify(NOT_ORTHONORMAL[kind], Sampling(np.arange(9), np.ones(9), 30, 9))


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
    for case in CASES.values():
        with refused(*parts):
            case.function(bad, 40)
    with refused(*parts):
        certify(bad, bss(V, 9))


def test_a_sampling_of_other_features():
    with refused("sampling is of 50 features", "V has 30"):
        certify(V, bss(heavy(50, 4, np.random.default_rng(0)), 9))


# ---------------------------------------------------------------- after fit


@each_case
def test_transform_of_other_features(case):
    selector = case.make(15).fit(X)
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


@each_case
def test_transform_of_other_names(case):
    frame = pd.DataFrame(X, columns=[f"word{j}" for j in range(30)])
    selector = case.make(15).fit(frame)
    for wrong in (
        frame.rename(columns={"word3": "other"}),
        frame[frame.columns[::-1]],
        frame.iloc[:, :29],
    ):
        with refused("feature names"):
            selector.transform(wrong)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        selector.transform(X)
    with refused("input_features is not equal to feature_names_in_"):
        selector.get_feature_names_out(["a"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        selector.transform(frame)


@each_case
def test_inverse_transform_of_another_width(case):
    selector = case.make(15).fit(X)
    kept = selector.sampling_.n_selected
    for wrong in (X, np.empty((3, kept + 1)), sp.csr_array(np.ones((3, kept - 1)))):
        with refused(
            f"X has {wrong.shape[1]} features", f"{kept} features were selected"
        ):
            selector.inverse_transform(wrong)
    with refused("1 dimension"):
        selector.inverse_transform(np.ones(kept))


@each_case
def test_a_mask_has_no_order(case):
    with refused("ordered=True needs indices=True"):
        case.make(15).fit(X).get_support(ordered=True)


@each_case
@pytest.mark.parametrize(
    "method", ["transform", "inverse_transform", "get_support", "get_feature_names_out"]
)
def test_not_fitted(case, method):
    with refused(
        f"This {case.selector.__name__} instance is not fitted yet",
        error=NotFittedError,
    ):
        getattr(case.make(), method)(*[X] * ("transform" in method))


@each_case
@pytest.mark.parametrize("Display", [SpectrumDisplay, LeverageDisplay])
def test_pictures_of_what_is_not_fitted(case, Display):
    with refused("not fitted yet", error=NotFittedError):
        Display.from_selector(case.make())


def low_rank(n, d, rank):
    return with_condition(n, rank, 10, np.random.default_rng(0)) @ table(rank, d)


FAILING = {
    "a bad parameter": ({"rank": "all"}, X, "rank='all' is not possible"),
    "too many features": (
        {"n_features_to_select": 31},
        X,
        "n_features_to_select=31 is not possible",
    ),
    "a rank above the draws": ({"rank": 19}, X, "rank=19 is not possible"),
    "a rank above that of the data": (
        {"rank": 7},
        low_rank(20, 30, 5),
        "numerical rank 5",
    ),
    "NaN": ({}, with_entry(np.nan), "NaN"),
    "zeros": ({}, np.zeros((20, 30)), "all zeros"),
    "one row": ({}, X[:1], "1 sample"),
    "one row of another library": ({}, "strict", "1 sample"),
}


@each_case
@pytest.mark.parametrize("reason", FAILING)
def test_a_failed_fit_leaves_no_selection_behind(case, reason):
    """Nothing of an earlier fit to other data remains, whatever stops the later one."""
    keywords, data, words = FAILING[reason]
    if isinstance(data, str):
        data = pytest.importorskip(
            "array_api_strict", reason="array_api_strict is not installed"
        ).asarray(X[:1])
    frame = pd.DataFrame(table(20, 50)).add_prefix("word")
    selector = case.make(15).fit(frame)
    fitted = {name for name in vars(selector) if name.endswith("_")}
    selector.set_params(**keywords)
    with refused(words):
        selector.fit(data)
    assert not fitted - {"n_features_in_", "feature_names_in_"} & set(vars(selector))
    assert not hasattr(selector, "feature_names_in_")
    for method, arguments in (
        ("transform", [X]),
        ("inverse_transform", [X]),
        ("get_support", []),
    ):
        with refused("not fitted yet", error=NotFittedError):
            getattr(selector, method)(*arguments)


@pytest.mark.parametrize("Display", [SpectrumDisplay, LeverageDisplay])
def test_pictures_after_a_failed_fit(Display):
    selector = BSSSelector(31)
    with refused("not possible"):
        selector.fit(X)
    with refused("not fitted yet", error=NotFittedError):
        Display.from_selector(selector)


@each_case
def test_a_fit_after_a_failed_one_is_as_good_as_new(case):
    selector = case.make(15)
    with refused("NaN"):
        selector.fit(with_entry(np.nan))
    assert_array_equal(selector.fit(X).selected_, case.make(15).fit(X).selected_)


def test_kernel_values_beyond_float32_do_not_blame_the_data():
    y = np.where(X[:, 0] > 0, 1, -1)
    for estimator, size in (
        (SupportVectorSelector(), 1e20),
        (RLSClassifier(kernel="rbf"), 1e25),
    ):
        with (
            refused(
                "The kernel values overflow float32: rescale X, or give it in float64"
            ),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")  # of the overflow in scikit-learn's kernels
            estimator.fit((X * size).astype(np.float32), y)
