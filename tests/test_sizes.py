"""How many columns: the scores of every number, the rules, and "auto" in the selectors."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.sparse as sp
from cases import table
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.feature_selection import RFE, SelectKBest, f_classif
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fsel_book import (
    AdditiveKernelSelector,
    BSSSelector,
    CompletionSelector,
    Constraints,
    DSFSelector,
    GroupSelector,
    GuyonRFE,
    LeverageSelector,
    RandomSelector,
    RiskRFE,
    RRQRSelector,
    RSFSelector,
    SizeDisplay,
    SizePath,
    SparsePCRegressor,
    SupportVectorSelector,
    TableSelector,
    as_blocks,
    size_path,
)
from fsel_book.kept import explained_variance
from fsel_book.plain_columns import explained_share
from fsel_book.sizes import default_splitter, explained_of_unseen, fewest_enough

CANCER = load_breast_cancer(return_X_y=True)
WINE = load_wine(return_X_y=True, as_frame=True)
X = StandardScaler().fit_transform(CANCER[0])[:150, :12]
y = CANCER[1][:150]


def quietly(call, *arguments, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*arguments, **named)


# ---------------------------------------------------------------- the scores

WAYS = {
    "BSS": (BSSSelector(), "n_features_to_select"),
    "DSF": (DSFSelector(), "n_features_to_select"),
    "leverage": (LeverageSelector(random_state=0), "n_features_to_select"),
    "leverage of a rank": (
        LeverageSelector(rank=1, random_state=3),
        "n_features_to_select",
    ),
    "largest leverage": (
        LeverageSelector(rank=1, rule="largest"),
        "n_features_to_select",
    ),
    "leverage, other draws": (
        LeverageSelector(rank=1, random_state=np.random.RandomState(0)),
        "n_features_to_select",
    ),
    "RSF": (RSFSelector(rank=1, random_state=1), "n_features_to_select"),
    "RRQR": (RRQRSelector(), "n_features_to_select"),
    "random": (RandomSelector(random_state=2), "n_features_to_select"),
    "scores": (SelectKBest(f_classif), "k"),
    "RFE": (RFE(LogisticRegression()), "n_features_to_select"),
    "RFE, two at a time": (RFE(LogisticRegression(), step=2), "n_features_to_select"),
    "risk-RFE": (RiskRFE(kernel="linear"), "n_features_to_select"),
    "risk-RFE, three at a time": (
        RiskRFE(kernel="linear", step=3),
        "n_features_to_select",
    ),
    "groups": (GroupSelector(groups=np.arange(12) // 2), "n_groups_to_select"),
    "completion": (CompletionSelector([5, 7]), "n_features_to_add"),
    "support vectors": (
        SupportVectorSelector(BSSSelector()),
        "selector__n_features_to_select",
    ),
    "a pipeline": (
        make_pipeline(StandardScaler(), BSSSelector(score_func=f_classif)),
        "bssselector__n_features_to_select",
    ),
    "a pipeline of scores": (
        make_pipeline(StandardScaler(), SelectKBest()),
        "selectkbest__k",
    ),
    "table": (TableSelector(), "n_features_to_select"),
}


@pytest.mark.parametrize("name", WAYS)
def test_scores_are_those_of_a_pipeline_with_so_many_columns(name):
    selector, parameter = WAYS[name]
    sizes = [2, 3, 5]
    folds = StratifiedKFold(3)
    learner = LogisticRegression()
    found = size_path(selector, X, y, sizes=sizes, estimator=learner, cv=3)
    assert_array_equal(found.sizes, sizes)
    assert found.measure == "accuracy"
    for i, r in enumerate(sizes):
        expected = []
        for a, b in folds.split(X, y):
            one = clone(selector).set_params(**{parameter: r})
            quietly(one.fit, X[a], y[a])
            fitted = clone(learner).fit(one.transform(X[a]), y[a])
            expected.append(fitted.score(one.transform(X[b]), y[b]))
        assert_allclose(found.scores[:, i], expected, err_msg=str(r))
    whole = [
        clone(learner).fit(X[a], y[a]).score(X[b], y[b]) for a, b in folds.split(X, y)
    ]
    assert_allclose(found.all_scores, whole, atol=0.03)  # a pipeline may have scaled it
    most = max(np.mean(y == 0), np.mean(y == 1))
    assert_allclose(found.none_scores, most, atol=0.02)


def test_a_selector_that_predicts_is_its_own_learner():
    selector = RiskRFE(gamma=0.05)
    found = size_path(selector, X, y, cv=3)
    assert_array_equal(found.sizes, np.arange(1, 13))
    a, b = next(StratifiedKFold(3).split(X, y))
    for r in (1, 4, 12):
        one = clone(selector).set_params(n_features_to_select=r).fit(X[a], y[a])
        assert found.scores[0, r - 1] == one.score(X[b], y[b])
    judged = size_path(selector, X, y, cv=3, estimator=LogisticRegression(), sizes=[3])
    assert judged.scores.shape == (3, 1)


def test_weights_are_for_a_selector_that_is_its_own_learner():
    weights = np.random.default_rng(0).uniform(0.1, 3, len(y))
    selector = RiskRFE(kernel="linear")
    found = size_path(selector, X, y, cv=3, sizes=[3], sample_weight=weights)
    a, b = next(StratifiedKFold(3).split(X, y))
    one = clone(selector).set_params(n_features_to_select=3)
    one.fit(X[a], y[a], sample_weight=weights[a])
    assert found.scores[0, 0] == one.score(X[b], y[b], sample_weight=weights[b])
    with pytest.raises(ValueError, match="sample_weight is for selectors that are"):
        size_path(BSSSelector(), X, y, sample_weight=weights)


def test_scoring_and_jobs():
    plain = size_path(BSSSelector(), X, y, cv=3, sizes=[2, 4])
    assert plain.measure == "balanced accuracy"
    area = size_path(BSSSelector(), X, y, cv=3, sizes=[2, 4], scoring="roc_auc")
    assert area.measure == "roc auc" and np.all(area.none_scores == 0.5)
    assert np.all(area.mean > plain.mean)
    with parallel_config(backend="threading"):
        two = size_path(BSSSelector(), X, y, cv=3, sizes=[2, 4], n_jobs=2)
    assert_array_equal(two.scores, plain.scores)


def test_a_rare_class_counts_as_much_as_the_other():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((400, 5))
    rare = (np.arange(400) < 12).astype(int)
    found = size_path(BSSSelector(), A, rare, cv=3)
    assert np.all(found.none_scores == 0.5) and found.mean.max() < 0.75


def test_numbers_are_judged_by_the_share_explained():
    A, b = load_diabetes(return_X_y=True)
    found = size_path(TableSelector(), A, b, cv=KFold(5, shuffle=True, random_state=0))
    assert found.measure == "R²"
    assert 0.4 < found.mean[-1] < 0.55
    assert_allclose(found.mean[-1], found.all_scores.mean())
    assert np.all(np.abs(found.none_scores) < 0.1)


def test_rows_of_one_group_stay_in_one_fold():
    """The label is that of the person, whose rows are alike: told from rows of the same
    person in training nearly always, and of others not at all.
    """
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(30), 5)
    A = np.repeat(rng.standard_normal((30, 20)), 5, axis=0)
    label = np.repeat(rng.permutation(np.arange(30) % 2), 5)
    learner = KNeighborsClassifier(1)
    shuffled = StratifiedKFold(3, shuffle=True, random_state=0)
    options = dict(sizes=[15], estimator=learner)
    apart = size_path(BSSSelector(), A, label, groups=person, cv=3, **options)
    mixed = size_path(BSSSelector(), A, label, cv=shuffled, **options)
    assert mixed.mean[0] == 1 and apart.mean[0] < 0.8
    numbers = size_path(BSSSelector(), A, groups=person, cv=3, sizes=[4])
    same = size_path(BSSSelector(), A, groups=person, cv=GroupKFold(3), sizes=[4])
    assert_array_equal(numbers.scores, same.scores)


def test_frames_categories_gaps_and_sparse():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X[:, :6], columns=list("abcdef"))
    frame["kind"] = np.where(y == 1, "oak", "elm")
    frame.loc[::7, "a"] = np.nan
    found = size_path(TableSelector(), frame, pandas.Series(y), cv=3)
    assert found.n_columns == 7 and found.mean.max() == 1
    unlabelled = size_path(TableSelector(), frame, cv=3)
    assert unlabelled.mean[-1] > 0.999
    dense = size_path(BSSSelector(), X, y, cv=3, sizes=[2, 5], estimator=Ridge())
    thin = size_path(
        BSSSelector(), sp.csc_array(X), y, cv=3, sizes=[2, 5], estimator=Ridge()
    )
    assert_allclose(thin.scores, dense.scores, atol=1e-6)
    assert_allclose(
        size_path(BSSSelector(), sp.csr_array(X), cv=3, sizes=[2, 5]).scores,
        size_path(BSSSelector(), X, cv=3, sizes=[2, 5]).scores,
    )


def test_default_numbers_of_columns():
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((60, 500))
    sizes = size_path(SelectKBest(), wide, np.arange(60) % 2, cv=2).sizes
    assert sizes[0] == 1 and sizes[-1] == 200 and len(sizes) <= 25
    assert np.all(np.diff(sizes) > 0)
    unlabelled = size_path(BSSSelector(), wide, cv=2).sizes
    assert unlabelled[-1] < 30  # rows to learn from
    of_rank = size_path(BSSSelector(rank=4), X, cv=2).sizes
    assert of_rank[0] == 5
    groups = GroupSelector(groups=np.arange(12) // 4)
    assert_array_equal(size_path(groups, X, cv=2).sizes, [1, 2, 3])
    added = size_path(CompletionSelector([3]), X, y, cv=2)
    assert added.sizes[-1] == added.n_columns == 11


def test_numbers_that_the_selector_within_cannot_choose_are_not_tried():
    """A rank, and a number of draws, in a pipeline and in a selector around another."""
    inner = BSSSelector(rank=4)
    for selector in (
        inner,
        make_pipeline(StandardScaler(), inner),
        SupportVectorSelector(inner),
    ):
        found = size_path(selector, X, y, cv=2)
        assert found.sizes[0] == 5 and found.sizes[-1] == found.n_columns == 12
    drawn = make_pipeline(StandardScaler(), BSSSelector(n_draws=9, rank=1))
    plain = make_pipeline(StandardScaler(), BSSSelector(rank=1))
    assert_array_equal(
        size_path(drawn, X, y, cv=2, sizes=[3]).scores,
        size_path(plain, X, y, cv=2, sizes=[3]).scores,
    )


def test_all_columns_are_among_the_numbers_tried():
    """Of a few more than thirty, where nothing less does."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((200, 36))
    label = (A.sum(axis=1) > 0).astype(int)
    found = size_path(BSSSelector(), A, label, cv=3)
    assert found.sizes[-1] == 36 and found.best > 30


def test_gaps_are_named_by_their_column():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(12)])
    frame.loc[3, "c4"] = np.nan
    for target in (y, None):
        with pytest.raises(ValueError, match="'c4'"):
            size_path(BSSSelector(), frame, target, cv=2)


# ---------------------------------------------------------------- without a target


def test_explained_is_what_ridge_regression_explains():
    """The strength of least error on rows left out, of those in a grid, by refits."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((40, 5)) @ rng.standard_normal((5, 9)) + 3
    A += 0.3 * rng.standard_normal(A.shape)
    train, test = A[:25], A[25:]
    chosen, others = np.array([1, 4, 6]), np.array([0, 2, 3, 5, 7, 8])
    C, D = train[:, chosen], train[:, others]
    unit = np.mean(np.linalg.svd(C - C.mean(axis=0), compute_uv=False) ** 2)
    errors = {}
    for power in range(-8, 3, 2):
        model = Ridge(10.0**power * unit)
        left = [
            D[i] - model.fit(np.delete(C, i, 0), np.delete(D, i, 0)).predict(C[[i]])
            for i in range(25)
        ]
        errors[power] = np.sum(np.square(left))
    best = min(errors, key=errors.get)
    model = Ridge(10.0**best * unit).fit(C, D)
    missed = test[:, others] - model.predict(test[:, chosen])
    expected = 1 - np.sum(missed**2) / np.sum((test - train.mean(axis=0)) ** 2)
    # the penalty of a fit without a row is a little stronger beside the rest
    assert_allclose(explained_of_unseen(train, test, chosen), expected, rtol=1e-6)


def test_explained_of_all_columns_and_of_noise():
    rng = np.random.default_rng(1)
    noise = rng.standard_normal((300, 10))
    some = explained_of_unseen(noise[:200], noise[200:], np.arange(4))
    assert_allclose(some, 0.4, atol=0.06)
    every = explained_of_unseen(noise[:200], noise[200:], np.arange(10))
    assert every == 1
    flat = np.ones((20, 3))
    assert explained_of_unseen(flat[:10], flat[10:], np.array([0])) == 0
    # more columns than rows to learn from
    few = rng.standard_normal((20, 100))
    assert explained_of_unseen(few[:10], few[10:], np.arange(50)) > 0.4


def test_more_columns_explain_more_of_rows_left_out():
    found = size_path(BSSSelector(), X, cv=KFold(4, shuffle=True, random_state=0))
    plain = LinearRegression()
    a, b = next(KFold(4, shuffle=True, random_state=0).split(X))
    chosen = BSSSelector(4).fit(X[a]).selected_
    by_hand = r2_score(
        X[b],
        plain.fit(X[a][:, chosen], X[a]).predict(X[b][:, chosen]),
        multioutput="variance_weighted",
    )
    # about the mean of other rows, and with a small ridge
    assert_allclose(found.scores[0, 3], by_hand, atol=0.02)
    assert np.all(found.all_scores == 1) and np.all(found.none_scores == 0)
    assert found.mean[0] < 0.6 and found.mean[-1] > 0.99
    assert found.within_one_error() == 12


# ---------------------------------------------------------------- the rules


def path_of(scores, sizes=None, whole=None, none=None):
    scores = np.asarray(scores, dtype=float)
    k, m = scores.shape
    sizes = np.arange(1, m + 1) if sizes is None else np.array(sizes)
    whole = scores[:, -1] if whole is None else np.full(k, whole)
    none = np.zeros(k) if none is None else np.full(k, none)
    return SizePath(sizes, scores, whole, none, int(sizes[-1]) + 5)


def test_fewest_within_one_standard_error():
    scores = np.array([[0.2, 0.85, 0.9, 0.8], [0.3, 0.95, 1.0, 0.9]])
    # 0.95 less 0.05 is 0.90: reached by two
    assert path_of(scores).within_one_error() == 2
    assert path_of(scores - [[0, 0.02, 0, 0]]).within_one_error() == 3
    assert_allclose(path_of(scores).errors, 0.05)
    assert path_of(scores).best == 3
    # equal folds have no error, and the least of equal means is taken
    assert path_of([[0.5, 0.9, 0.9]] * 3, [2, 4, 8]).within_one_error() == 4


def test_a_share_of_what_all_columns_bring():
    path = path_of([[0.6, 0.8, 0.9]] * 2, [1, 5, 9], whole=1.0, none=0.5)
    assert [path.reaching(share) for share in (0.1, 0.6, 0.61, 0.8)] == [1, 5, 9, 9]
    assert path.reaching(0.81) == path.n_columns  # not reached
    with pytest.raises(ValueError, match="nothing to reach a share of"):
        path_of([[0.6, 0.7]] * 2, whole=0.5, none=0.5).reaching()
    for wrong in (0, -1, 1.1, "0.9", None, True, np.nan):
        with pytest.raises(ValueError, match="share=.* is not possible"):
            path.reaching(wrong)


def test_a_price_for_each_column():
    path = path_of([[0.5, 0.8, 0.9, 0.92]] * 2, [1, 2, 5, 20])
    assert [path.at_price(p) for p in (0, 0.001, 0.01, 0.05, 1)] == [20, 20, 5, 2, 1]
    for wrong in (-1e-9, np.inf, np.nan, "cheap", None, True):
        with pytest.raises(ValueError, match="price=.* is not possible"):
            path.at_price(wrong)


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    "call, words",
    [
        (
            lambda: size_path(LogisticRegression(), X, y),
            "no parameter that says how many",
        ),
        (lambda: size_path("BSS", X, y), "selector='BSS' is not possible"),
        (lambda: size_path(BSSSelector(), X[0], y), "X has 1 dimensions"),
        (
            lambda: size_path(BSSSelector(), X, y, cv=ShuffleSplit(1)),
            "two splits or more",
        ),
        (lambda: size_path(BSSSelector(), X, y, sizes=[0, 3]), "integers from 1 to 12"),
        (lambda: size_path(BSSSelector(), X, y, sizes=[13]), "integers from 1 to 12"),
        (lambda: size_path(BSSSelector(), X, y, sizes=[]), "integers from 1 to 12"),
        (lambda: size_path(BSSSelector(), X, y, sizes=[2.5]), "integers from 1 to 12"),
        (lambda: size_path(BSSSelector(), X, estimator=Ridge()), "give y"),
        (lambda: size_path(BSSSelector(), X, scoring="r2"), "give y"),
        (lambda: size_path(BSSSelector(), X, y, scoring="wrong"), "scoring"),
    ],
)
def test_what_is_not_possible(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_nothing_given_is_changed():
    selector = RiskRFE(7, max_increment=0.2)
    before = repr(selector)
    A, b = X.copy(), y.copy()
    size_path(selector, A, b, cv=2, sizes=[1, 2])
    assert repr(selector) == before and not hasattr(selector, "support_")
    assert_array_equal(A, X)
    drawn = BSSSelector(n_draws=9, rank=1)
    assert size_path(drawn, X, cv=2, sizes=[3]).scores.shape == (2, 1)


# ---------------------------------------------------------------- the picture


def test_picture():
    path = size_path(TableSelector(), *WINE, cv=3, sizes=[1, 2, 5, 9])
    ax = path.plot().ax_
    assert ax.get_xlabel() == "columns chosen"
    assert ax.get_ylabel() == "balanced accuracy"
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"one error: {path.within_one_error()}" in labels and "all columns" in labels
    display = SizeDisplay.from_selector(
        BSSSelector(), X, cv=2, sizes=[2, 100 // 20, 12]
    )
    figure, own = plt.subplots()
    stands = display.path.reaching(0.9)
    assert display.plot(own, label="BSS").ax_ is own and display.figure_ is figure
    marks = [text.get_text() for text in own.get_legend().get_texts()]
    assert f"nine tenths: {stands}" in marks
    wide = SizePath(np.array([1, 200]), np.eye(2), np.ones(2), np.zeros(2), 300)
    assert SizeDisplay(wide).plot().ax_.get_xscale() == "log"
    plt.close("all")


# ---------------------------------------------------------------- a search


@pytest.mark.parametrize("least", [1, 3, 50])
@pytest.mark.parametrize("needed", [1, 2, 3, 4, 5, 11, 39, 100, 237, 1000])
def test_search_finds_the_fewest_to_within_a_twentieth(needed, least):
    asked = []

    def enough(r):
        asked.append(r)
        return r >= needed, r

    found = fewest_enough(enough, least, 1000)
    truth = max(needed, least)
    assert truth <= found <= max(truth, int(truth * 1.06))
    assert min(asked) >= least and len(asked) < 20


def test_search_where_none_is_enough_or_there_are_no_more():
    assert fewest_enough(lambda r: (False, r), 1, 30) == 30
    assert fewest_enough(lambda r: (False, min(r, 11)), 1, 30) == 11
    assert fewest_enough(lambda r: (True, r), 1, 1) == 1


# ---------------------------------------------------------------- "auto"

GROUPS = np.arange(30) // 3
STANDARD = StandardScaler().fit_transform(CANCER[0])
AUTOMATIC = {
    "BSS": BSSSelector("auto"),
    "BSS of a rank": BSSSelector("auto", rank=3),
    "BSS at a ridge": BSSSelector("auto", ridge=100.0),
    "BSS with scores": BSSSelector("auto", score_func=f_classif),
    "BSS exchanged": BSSSelector("auto", exchange=True),
    "BSS under constraints": BSSSelector(
        "auto", constraints=Constraints(at_most_one=np.arange(30) // 2)
    ),
    "DSF": DSFSelector("auto"),
    "RSF": RSFSelector("auto", random_state=0),
    "leverage": LeverageSelector("auto", random_state=0),
    "largest": LeverageSelector("auto", rule="largest"),
    "RRQR": RRQRSelector("auto"),
    "random": RandomSelector("auto", random_state=0),
    "groups": GroupSelector("auto", groups=GROUPS),
    "kernels": AdditiveKernelSelector("auto", kernel="linear"),
    "table": TableSelector("auto"),
}
SIZE = {"groups": "n_groups_to_select"}


@pytest.mark.parametrize("name", AUTOMATIC)
def test_auto_is_the_fewest_that_explain_nine_tenths(name):
    selector = clone(AUTOMATIC[name])
    given = {} if name == "table" else {"y": CANCER[1]}
    selector.fit(STANDARD, **given)
    chosen = np.asarray(selector.selected_)
    r = len(selector.selected_groups_) if name == "groups" else len(chosen)
    assert explained_share(STANDARD, chosen) >= 0.9
    parameter = SIZE.get(name, "n_features_to_select")
    same = clone(selector).set_params(**{parameter: r}).fit(STANDARD, **given)
    assert_array_equal(np.asarray(same.selected_), chosen)
    assert repr(same.certificate_) == repr(selector.certificate_)
    least = {"BSS of a rank": 4, "BSS at a ridge": 13}.get(name, 1)
    if r > least:
        fewer = clone(selector).set_params(**{parameter: r - 1}).fit(STANDARD, **given)
        assert explained_share(STANDARD, np.asarray(fewer.selected_)) < 0.9


def test_auto_of_selectors_around_selectors():
    target = CANCER[1].astype(float)
    model = SparsePCRegressor(3, n_features_to_select="auto").fit(STANDARD, target)
    inner = DSFSelector("auto", rank=3, center=True).fit(STANDARD)
    assert len(model.selected_) == len(inner.selected_) < 30
    around = SupportVectorSelector(BSSSelector("auto")).fit(STANDARD, CANCER[1])
    rows = STANDARD[around.support_samples_]
    assert_array_equal(around.selected_, BSSSelector("auto").fit(rows).selected_)


def test_auto_of_other_forms_of_the_data():
    base = BSSSelector("auto").fit(STANDARD).selected_
    for form in (STANDARD.astype(np.float32), sp.csr_array(STANDARD), STANDARD + 100.0):
        found = BSSSelector("auto", center=True).fit(form).selected_
        assert_array_equal(found, base)
    # two directions need two columns, and a constant one explains nothing
    flat = table(30, 2) @ table(2, 9)
    assert len(BSSSelector("auto").fit(flat).selected_) <= 2
    assert len(BSSSelector("auto").fit(np.ones((5, 3))).selected_) == 1
    one = BSSSelector("auto").fit(table(10, 1))
    assert_array_equal(one.selected_, [0])


def test_auto_speaks_once_and_of_what_was_chosen():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(STANDARD, columns=[f"c{j}" for j in range(30)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = BSSSelector("auto").fit(frame)
        same = BSSSelector(len(found.selected_)).fit(frame)
    said = [str(w.message) for w in caught]
    assert said[: len(said) // 2] == said[len(said) // 2 :]  # the same of both
    assert_array_equal(found.get_feature_names_out(), same.get_feature_names_out())


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: BSSSelector("auto", rank="full").fit(X), "'auto' and rank='full'"),
        (lambda: BSSSelector("auto", n_draws=7).fit(X), "contradict each other"),
        (lambda: BSSSelector("automatic").fit(X), "'auto' or 'theorem'"),
        (lambda: RiskRFE("theorem").fit(X, y), "'auto' or 'change-point'"),
        (lambda: BSSSelector("change-point").fit(X), "'auto' or 'theorem'"),
        (lambda: TableSelector("theorem").fit(X), "'auto', or None"),
        (lambda: AdditiveKernelSelector("theorem").fit(X), "'auto'"),
        (lambda: GroupSelector("theorem", groups=GROUPS[:12]).fit(X), "'auto'"),
        (
            lambda: RSFSelector("auto").fit(
                as_blocks(lambda: [table(20, 300)] * 2, axis=1)
            ),
            "needs X in memory",
        ),
        (
            lambda: BSSSelector("auto").fit(as_blocks(lambda: [STANDARD] * 2, axis=0)),
            "needs X in memory",
        ),
        (
            lambda: GroupSelector("auto", groups=GROUPS).fit(
                as_blocks(lambda: [STANDARD[:, :15]] * 2, axis=1)
            ),
            "n_groups_to_select='auto'.*needs X in memory",
        ),
        (
            lambda: TableSelector("auto").fit(X, np.r_[2, y[1:]]),
            "class 2 has a single row",
        ),
        (lambda: RiskRFE("auto").fit(X[:3], [0.5, 1.5, 2.5]), None),
    ],
)
def test_auto_that_is_not_possible(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("kind", [RiskRFE, GuyonRFE])
def test_auto_of_an_elimination_is_what_predicts(kind):
    data, labels = STANDARD[:, ::2], CANCER[1]
    seen, unseen = np.arange(569) % 4 == 0, np.arange(569) % 4 > 0
    auto = kind("auto", kernel="linear").fit(data[seen], labels[seen])
    path = size_path(
        kind(kernel="linear"),
        data[seen],
        labels[seen],
        cv=StratifiedKFold(5, shuffle=True, random_state=0),
    )
    assert_array_equal(auto.size_path_.scores, path.scores)
    assert auto.n_features_ == path.within_one_error()
    bend = kind("change-point", kernel="linear").fit(data[seen], labels[seen])
    assert not hasattr(bend, "size_path_")
    assert_array_equal(auto.objective_path_, bend.objective_path_)
    assert auto.score(data[unseen], labels[unseen]) > 0.9
    assert auto.get_support().sum() == auto.n_features_


def test_auto_keeps_more_than_the_bend_where_more_predict():
    """Where the bend keeps two of thirty columns, and loses by it."""
    bend = RiskRFE("change-point").fit(STANDARD[::2], CANCER[1][::2])
    auto = RiskRFE("auto").fit(STANDARD[::2], CANCER[1][::2])
    test = STANDARD[1::2], CANCER[1][1::2]
    assert bend.n_features_ == 2 < auto.n_features_ < 15
    assert auto.score(*test) > bend.score(*test) + 0.01


def test_auto_of_an_elimination_for_numbers_weights_and_one_feature():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((90, 8))
    b = A[:, 2] - 2 * A[:, 5] + 0.1 * rng.standard_normal(90)
    selector = RiskRFE("auto", kernel="linear", loss="squared_error").fit(A, b)
    assert_array_equal(selector.get_support(indices=True), [2, 5])
    weights = np.r_[np.ones(60), np.full(30, 1e-3)]
    weighted = clone(selector).fit(A, np.r_[b[:60], A[60:, 0] * 9], weights)
    assert_array_equal(weighted.get_support(indices=True), [2, 5])
    assert clone(selector).fit(A[:, :1], b).n_features_ == 1


def test_auto_of_a_table_is_what_predicts():
    for load in (load_wine, load_iris):
        frame, label = load(return_X_y=True, as_frame=True)
        auto = TableSelector("auto").fit(frame, label)
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        path = size_path(TableSelector(), frame, label, cv=folds)
        assert_array_equal(auto.size_path_.scores, path.scores)
        assert len(auto.selected_) == path.within_one_error()
        assert auto.size_path_.mean.max() > 0.94
    again = auto.fit(frame)
    assert not hasattr(again, "size_path_") and not hasattr(again, "scores_")


def test_folds_of_few_rows():
    assert default_splitter(np.arange(9) % 2, True).get_n_splits() == 4
    assert default_splitter(np.arange(100.0), False).get_n_splits() == 5
    assert default_splitter(np.arange(6.0), False).get_n_splits() == 3
    with pytest.raises(ValueError, match="class 'b' has a single row"):
        default_splitter(np.array(["a", "a", "b"]), True)
    with pytest.raises(ValueError, match="3 rows are too few"):
        default_splitter(np.arange(3.0), False)


def test_explained_variance_is_that_of_the_certificate():
    for A in (STANDARD, CANCER[0], sp.csr_array(np.abs(STANDARD))):
        fitted = quietly(BSSSelector(7).fit, A)
        told = fitted.certificate_.plain.explained.share
        assert_allclose(explained_variance(A, fitted.selected_), told, rtol=1e-9)
