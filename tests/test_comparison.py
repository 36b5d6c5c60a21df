"""Ways to choose columns side by side: what judges, and on which rows."""

import warnings

import numpy as np
import pytest
from cases import mixed_table
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.feature_selection import RFE
from sklearn.linear_model import Ridge, lasso_path
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    d2_tweedie_score,
    r2_score,
)
from sklearn.model_selection import RepeatedStratifiedKFold

from fsel_book import TableSelector
from fsel_book.comparison import (
    COUNT_ALPHAS,
    METHODS,
    OURS,
    ComparedMethods,
    compare,
    elimination_order,
    folds_of,
    lasso_order,
    orders_of,
    p_value_of_relation,
    question_of,
    sizes_up_to,
)
from fsel_book.table_selector import TableEncoder


def counted(n, d, spread, seed=0):
    """Counts whose logarithms are sums of three columns, and a noise beyond that of
    Poisson where `spread` is not 0.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    noise = spread * rng.standard_normal(n)
    return X, rng.poisson(np.exp(1 + X[:, :3] @ [0.4, -0.3, 0.3] + noise))


def test_the_scores_are_those_of_pipelines_fitted_anew():
    """Choosing, filling, scaling and learning are parts of a pipeline; the folds give
    what its steps give.
    """
    frame = mixed_table()
    X, y = frame.drop(columns="kind"), frame["kind"]
    question, kept = question_of(y, "kind", True, 5)
    found = compare(X, question, sizes=[3], n_jobs=1)
    assert kept.all() and found.ratio == 0.25
    scores = []
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
    for train, test in folds.split(X, y):
        selector = TableSelector(3, target="classes").fit(X.iloc[train], y[train])
        encoder = TableEncoder().fit(X.iloc[train])
        mask = np.isin(encoder.of_column, selector.selected_)
        A, B = (encoder.transform(X.iloc[rows])[:, mask] for rows in (train, test))
        machine = question.learner(len(train)).fit(A, y[train])
        right = machine.predict(B) == y[test]
        scores.append(np.mean([right[y[test] == one].mean() for one in ("elm", "oak")]))
    assert np.allclose(found.scores[OURS, 3], scores)


@pytest.mark.parametrize("n_columns", [3, 200])
@pytest.mark.parametrize(
    ("loader", "classes"),
    [
        (load_iris, True),
        (load_wine, True),
        (load_breast_cancer, True),
        (load_diabetes, False),
    ],
)
def test_what_judges_is_the_machine_of_the_pipeline(loader, classes, n_columns):
    X, y = loader(return_X_y=True)
    rng = np.random.default_rng(0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    X = np.hstack([X, rng.standard_normal((len(X), n_columns))])
    rows = rng.permutation(len(X))
    train, test = rows[:150], rows[150:]
    if n_columns > 150 and loader in (load_iris, load_wine):
        # discriminants of more columns than rows are found in the space of the rows
        pytest.skip("their shrinkage is another one there")
    if loader is load_iris:
        train, test = rows[:100], rows[100:]
    question, _ = question_of(y, "y", classes, 5)
    machine = question.learner(len(train)).fit(X[train], y[train])
    found = question.decide(X[train], train, X[test])
    if not classes:
        assert np.allclose(found[:, 0], machine.predict(X[test]), atol=1e-6)
        return
    assert np.array_equal(
        question.classes[np.argmax(found, axis=1)], machine.predict(X[test])
    )
    if len(question.classes) == 2:
        assert np.allclose(found[:, 1], machine.decision_function(X[test]), atol=1e-7)


@pytest.mark.parametrize("spread", [0.0, 1.0])
@pytest.mark.parametrize("n_columns", [5, 40, 200])
def test_counts_are_judged_by_the_poisson_regression_of_the_pipeline(n_columns, spread):
    """With more columns than rows, too; at a penalty that folds find as good as any,
    though it is found without folds.
    """
    X, y = counted(240, n_columns, spread)
    train, test = np.arange(120), np.arange(120, 240)
    question, kept = question_of(y, "y", False, 5, counts=True)
    assert kept.all() and question.metric == "D²" and question.kind == "counts"
    search = question.learner(120)
    alphas = y[train].mean() * np.array(COUNT_ALPHAS)
    search.set_params(param_grid={"alpha": alphas}).fit(X[train], y[train])
    found = question.decide(X[train], train, X[test])[:, 0]
    (which,) = [
        i
        for i, alpha in enumerate(alphas)
        if np.allclose(
            clone(search.estimator)
            .set_params(alpha=alpha, tol=1e-8)
            .fit(X[train], y[train])
            .predict(X[test]),
            found,
            rtol=1e-3,
        )
    ]
    means = search.cv_results_["mean_test_score"]
    error = search.cv_results_["std_test_score"][search.best_index_] / np.sqrt(5)
    assert means[which] >= means.max() - 2 * error
    expected = d2_tweedie_score(y[test], found, power=1)
    assert question.score(test, found[:, None]) == pytest.approx(expected)


def test_many_counts_are_judged_by_the_poisson_regression_of_the_pipeline():
    X, y = counted(5000, 6, 0.5)
    train, test = np.arange(4000), np.arange(4000, 5000)
    question, _ = question_of(y, "y", False, 5, counts=True)
    learner = question.learner(4000).set_params(
        alpha=COUNT_ALPHAS[0] * y[train].mean(), tol=1e-8
    )
    found = question.decide(X[train], train, X[test])
    expected = learner.fit(X[train], y[train]).predict(X[test])
    assert np.allclose(found[:, 0], expected, rtol=1e-4)


def test_rows_without_any_count_are_judged():
    X, y = counted(60, 4, 0.0)
    y[40:] = 0
    question, _ = question_of(y, "y", False, 5, counts=True)
    rows = np.arange(40, 60)
    some = question.decide(X[:40], np.arange(40), X[40:])
    assert np.all(some > 0) and question.score(rows, some) == 0
    none = question.decide(X[40:], rows, X[:40])
    assert np.all(none == 0) and question.score(np.arange(40), none) < 0


def test_columns_are_eliminated_as_by_rfe():
    X, y = load_diabetes(return_X_y=True)
    X, Y = X - X.mean(axis=0), (y - y.mean())[:, None]
    X = X / X.std(axis=0)
    order = elimination_order(X, np.arange(10), Y, 10)
    penalty = max(1.0, 0.01 * len(X))
    ranking = RFE(Ridge(alpha=penalty), n_features_to_select=1).fit(X, y).ranking_
    assert order.tolist() == np.argsort(ranking).tolist()
    wide = elimination_order(np.tile(X.T, (1, 1)), np.arange(len(X)), X.T[:, :1], 4)
    assert sorted(wide) == list(range(len(X)))


def test_columns_come_in_the_order_of_the_lasso():
    X, y = load_diabetes(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    order = lasso_order(X, np.arange(10), (y - y.mean())[:, None], 10)
    target = y - y.mean()
    alphas = np.abs(X.T @ target).max() / len(X) * np.logspace(0, -4, 2000)
    _, path, _ = lasso_path(X, target, alphas=alphas)
    entered = [int(np.argmax(one != 0)) for one in path]
    first = np.argsort(entered, kind="stable")[: len(order)]
    assert order.tolist()[:8] == first.tolist()[:8]


def test_a_group_enters_with_the_first_of_its_columns():
    X, y = load_diabetes(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    Y = (y - y.mean())[:, None]
    alone = lasso_order(X, np.arange(10), Y, 10)
    of_column = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    grouped = lasso_order(X, of_column, Y, 10)
    assert grouped.tolist() == list(dict.fromkeys(of_column[alone].tolist()))


def test_columns_that_say_nothing_end_last():
    rng = np.random.default_rng(0)
    y = rng.standard_normal(200)
    X = rng.standard_normal((200, 30))
    X[:, :3] += y[:, None]
    X = X - X.mean(axis=0)
    Y = (y - y.mean())[:, None]
    assert set(elimination_order(X, np.arange(30), Y, 5)[:3]) == {0, 1, 2}
    assert set(lasso_order(X, np.arange(30), Y, 10)[:3]) == {0, 1, 2}


def test_scores_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    y = rng.poisson(3, 60)
    rows = rng.permutation(60)[:40]
    guess = np.exp(rng.standard_normal(40)) + 1
    numbers, _ = question_of(y, "y", False, 5)
    assert numbers.score(rows, guess[:, None]) == pytest.approx(
        r2_score(y[rows], guess)
    )
    counts, _ = question_of(y, "y", False, 5, counts=True)
    expected = d2_tweedie_score(y[rows], guess, power=1)
    assert counts.score(rows, guess[:, None]) == pytest.approx(expected)
    classes, _ = question_of(y > 2, "y", True, 5)
    signs = np.column_stack([2 - guess, guess - 2])
    expected = balanced_accuracy_score(y[rows] > 2, guess > 2)
    assert classes.score(rows, signs) == pytest.approx(expected)
    few = np.arange(60) % 12 == 0
    rare, _ = question_of(few, "y", True, 5)
    expected = average_precision_score(few[rows], guess)
    assert rare.score(rows, np.column_stack([-guess, guess])) == pytest.approx(expected)
    assert (numbers.score(rows[:1], guess[:1, None])) == 0
    assert counts.score(np.flatnonzero(y == 0), np.zeros((np.sum(y == 0), 1))) == 0


@pytest.mark.parametrize("scale", [1.0, 1e-12, 0.0])
def test_columns_that_add_up_to_one_are_judged(scale):
    """Of columns of zeros and ones one tells nothing new; what rounding leaves of it
    must not be learned from.
    """
    rng = np.random.default_rng(0)
    y = rng.standard_normal(90)
    ones = np.eye(3)[rng.integers(0, 3, 90)]
    A = np.column_stack([ones, ones @ [1.0, 2.0, 4.0], scale * ones[:, 0] + 1])
    question, _ = question_of(y, "y", False, 5)
    train, test = np.arange(60), np.arange(60, 90)
    A = A - A[train].mean(axis=0)
    expected = question.learner(60).fit(A[train], y[train]).predict(A[test])
    found = question.decide(A[train], train, A[test])
    assert np.allclose(found[:, 0], expected, atol=1e-6)


def test_scores_stay_within_what_they_can_be():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b", "c"], 90)
    question, kept = question_of(y, "y", True, 5)
    assert kept.all() and question.chance == pytest.approx(1 / 3)
    truth = (y[:, None] == question.classes).astype(float)
    assert question.score(np.arange(90), truth) == 1
    assert question.score(np.arange(90), -truth) < 0.6
    assert question.score(np.arange(90), np.ones((90, 3))) == pytest.approx(1 / 3)


def test_numbers_of_columns_are_closer_where_they_are_few():
    assert sizes_up_to(1) == [1] and sizes_up_to(7) == [1, 2, 3, 4, 5, 6]
    steps = np.diff(sizes_up_to(200))
    assert np.all(np.diff(steps) >= -1) and steps[-1] > 20


@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_noise_has_small_p_values_as_rarely_as_they_say(kind):
    """A p-value of at most `p` in a share `p` of draws, give or take three standard
    errors; and where something is there, they are small.
    """
    rng = np.random.default_rng(0)
    of_noise, of_signal = [], []
    for seed in range(200):
        Z = rng.standard_normal((40, 12))
        Z[:, 6:] += Z[:, :6]
        y = rng.standard_normal(40)
        there = y + 2 * Z[:, 3]
        if kind == "classes":
            y, there = rng.permutation(np.arange(40) % 3), np.digitize(there, [-1, 1])
        for target, values in ((y, of_noise), (there, of_signal)):
            Y = (
                target[:, None] == np.arange(3)
                if kind == "classes"
                else target[:, None]
            )
            values.append(p_value_of_relation(Z, Y.astype(float), 99, seed))
    for p in (0.05, 0.1, 0.3):
        share = np.mean(np.array(of_noise) <= p)
        assert abs(share - p) <= 3 * np.sqrt(p * (1 - p) / 200)
    assert np.mean(np.array(of_signal) <= 0.03) > 0.95


def test_warnings_of_the_caller_stay_as_they_are():
    X, y = load_iris(return_X_y=True)
    question, _ = question_of(y, "y", True, 5)
    with pytest.warns(UserWarning, match="still heard"):
        compare(X, question, sizes=[2], n_jobs=1)
        warnings.warn("still heard", UserWarning, stacklevel=1)


def test_a_number_picked_apart_is_that_of_the_other_folds_of_a_round():
    question, _ = question_of(np.arange(20.0), "y", False, 5)
    rng = np.random.default_rng(0)
    scores = {(OURS, r): rng.standard_normal(10) for r in (1, 2, 3)}
    found = ComparedMethods(question, [1, 2, 3], 4, scores, 0.25, 0.5, n_folds=5)
    apart = found.picked_apart(OURS)
    for i in range(10):
        others = [j for j in range(10) if j // 5 == i // 5 and j != i]
        part = ComparedMethods(
            question, [1, 2, 3], 4, {k: v[others] for k, v in scores.items()}, 0.25, 0.5
        )
        assert apart[i] == scores[OURS, part.fewest(OURS)][i]


def test_the_best_of_many_numbers_of_noise_is_too_good_and_one_picked_apart_is_not():
    """Scores around zero in five folds, independent for each of twenty numbers."""
    question, _ = question_of(np.arange(20.0), "y", False, 5)
    sizes = list(range(1, 21))
    best, apart = [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        scores = {(OURS, r): rng.standard_normal(5) for r in sizes}
        found = ComparedMethods(question, sizes, 21, scores, 0.0, 0.5)
        best.append(found.mean(OURS, found.fewest(OURS)))
        apart.append(found.picked_apart(OURS).mean())
    error = np.std(apart) / np.sqrt(200)
    assert np.mean(best) > 0.3 and abs(np.mean(apart)) < 4 * error


@pytest.mark.parametrize("without", ["bark", "no column"])
def test_every_method_keeps_to_what_is_given_and_excluded(without):
    frame = mixed_table()
    X, y = frame.drop(columns=["kind", without], errors="ignore"), frame["kind"]
    question, _ = question_of(y, "kind", True, 5)
    given, excluded = [4], [0, 1]

    found = compare(X, question, given=given, excluded=excluded, n_jobs=1)
    assert found.sizes[-1] <= X.shape[1] - 2
    for counts in found.times_chosen.values():
        assert counts[4] == 15 and not counts[[0, 1]].any()
    selected = [
        TableSelector(3, target="classes", given=given, exclude=excluded)
        .fit(X.iloc[train], y[train])
        .selected_
        for train, _ in folds_of(question, X.shape[1])
    ]
    times = np.bincount(np.concatenate(selected), minlength=X.shape[1])
    assert found.times_chosen[3].tolist() == times.tolist()
    Z = TableEncoder().fit(X)
    of_column, Z = Z.of_column, Z.transform(X)
    Y = question.indicators() - question.indicators().mean(axis=0)
    scores = np.arange(X.shape[1], 0, -1.0)
    orders = orders_of(Z, of_column, Y, scores, 3, np.array(given), np.array(excluded))
    for order in orders.values():
        assert order[0] == 4 and not set(order) & {0, 1}
        assert sorted([*order, 0, 1]) == list(range(X.shape[1]))


def test_with_one_column_open_all_methods_have_one_score():
    frame = mixed_table()
    X, y = frame.drop(columns="kind"), frame["kind"]
    question, _ = question_of(y, "kind", True, 5)
    found = compare(X, question, sizes=[2], given=[3, 4], excluded=[0, 1], n_jobs=1)
    every = np.array([found.scores[method, 2] for method in METHODS])
    assert np.allclose(every, every[0])
