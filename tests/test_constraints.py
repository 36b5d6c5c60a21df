"""Columns that may not be taken: the fast search against the literal one, what comes
out against the constraints and the promise, and what is said where they leave too little.
"""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from cases import swept, swept_seeds
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from fsel_book import (
    BSSSelector,
    CompletionSelector,
    Constraints,
    DSFSelector,
    GroupSelector,
    Sampling,
    as_blocks,
    bss,
    column_search,
    complete,
    det_sampling,
    row_space,
)
from fsel_book.certificates import Promise
from fsel_book.column_search import AllowedColumns, outline_of
from fsel_book.constraints import constrained_reference, pool_of
from fsel_book.dual_set import det_sampling_reference
from fsel_book.groups import column_groups, group_bss
from fsel_book.plain_columns import raise_smallest
from fsel_book.spectra import ridge_space
from fsel_book.summaries import TriangularFactor

table = load_breast_cancer(as_frame=True).data
table = (table - table.mean()) / table.std()
kinds = [name.replace("mean ", "").replace("worst ", "") for name in table]
kinds = [kind.replace(" error", "") for kind in kinds]


def any_matrix(rng):
    """With heavy tails, ties, multiples of columns, and zero columns, or some of it."""
    n = int(rng.integers(3, 9))
    d = int(rng.integers(12, 45))
    X = rng.standard_normal((n, d))
    if rng.random() < 0.5:
        X *= rng.pareto(2, d)
    if rng.random() < 0.5:
        X = np.round(2 * X)
    if rng.random() < 0.5:
        k = d // 3
        X[:, :k] = X[:, rng.integers(k, d, k)] * rng.choice([1, -1, 2.0, 0.5], k)
    if rng.random() < 0.2:
        X[:, rng.integers(0, d, 3)] = 0
    return X


def any_constraints(rng, d, r):
    """Any of all kinds, together."""
    found = {}
    if rng.random() < 0.5:
        some = rng.choice(d, int(rng.integers(0, d // 3)), replace=False)
        found["exclude"] = some
    if rng.random() < 0.5:
        found["at_most_one"] = [
            None if rng.random() < 0.3 else int(g)
            for g in rng.integers(0, max(2, d // 3), d)
        ]
    if rng.random() < 0.4:
        if rng.random() < 0.5:
            found["positions"] = rng.uniform(0, 1, (d, int(rng.integers(1, 3))))
            found["spacing"] = float(rng.uniform(0.02, 0.3))
        else:
            found["positions"] = np.arange(d)
            found["spacing"] = int(rng.integers(1, 4))
    if rng.random() < 0.4:
        skewed = rng.random() < 0.7
        costs = np.round(rng.lognormal(0, 1, d), 1) if skewed else np.ones(d)
        found["costs"] = costs
        found["budget"] = float(r * np.median(costs) * rng.uniform(0.3, 1.5))
    if rng.random() < 0.3:
        groups = np.full(d, None, dtype=object)
        groups[rng.choice(d, d // 2, replace=False)] = rng.integers(0, 3, d // 2)
        found["exactly_one"] = groups
    return Constraints(**found)


def assert_kept_to(constraints, chosen, whole=True):
    """No constraint is broken, by a look at all pairs; with `whole` the groups that
    must have a column have one.
    """
    d = chosen.n_features if hasattr(chosen, "n_features") else chosen.n_features_in_
    kept = np.asarray(getattr(chosen, "indices", getattr(chosen, "selected_", None)))
    if constraints.exclude is not None:
        assert not set(constraints.exclude) & set(kept)
    for groups in (constraints.at_most_one, constraints.exactly_one):
        if groups is not None:
            labels = [groups[j] for j in kept if groups[j] is not None]
            assert len(labels) == len(set(labels))
    if constraints.exactly_one is not None and whole:
        wanted = {label for label in constraints.exactly_one if label is not None}
        assert wanted == set(labels)
    if constraints.spacing is not None:
        places = np.reshape(constraints.positions, (d, -1))[kept]
        distances = np.linalg.norm(places[:, None] - places, axis=2)
        distances += 1e9 * np.eye(len(kept))
        assert distances.min() >= constraints.spacing * (1 - 1e-9)
    if constraints.costs is not None:
        assert np.sum(constraints.costs[kept]) <= constraints.budget * (1 + 1e-9)


# what may be wrong with constraints that were drawn at random
IMPOSSIBLE = (
    "exactly_one|for no (column|group) that may be taken|leave no (column|group)"
)


def random_problem(seed):
    """A matrix, constraints, a number of draws, and a space with the arguments that it
    has in the literal version; None where the draws are too few.
    """
    rng = np.random.default_rng(seed)
    X = any_matrix(rng)
    sigma = np.linalg.svd(X)[1]
    ell = int(np.sum(sigma > 1e-9 * sigma[0]))
    r = int(rng.integers(ell + 1, 3 * ell + 3))
    constraints = any_constraints(rng, X.shape[1], r)
    kind = rng.choice(["full", "rank", "ridge"])
    rule = str(rng.choice(["best", "largest-norm"]))
    if kind == "ridge":
        ridge = float(sigma[0] ** 2 * 10 ** rng.uniform(-2, 0))
        space = ridge_space(X, ridge)
        enough = space.effective_dimension < 0.9 * r
        return (X, constraints, r, rule, space, {"ridge": ridge}) if enough else None
    if kind == "rank" and ell > 1:
        rank = int(rng.integers(1, ell))
        if sigma[rank - 1] - sigma[rank] < 1e-6 * sigma[0]:
            return None
        return X, constraints, r, rule, row_space(X, rank=rank), {"rank": rank}
    return X, constraints, r, rule, row_space(X), {}


@swept_seeds(80, 1500)
def test_bss_under_constraints_is_the_literal_search(seeds):
    compared = 0
    stopped = 0
    for seed in seeds:
        problem = random_problem(seed)
        if problem is None:
            continue
        X, constraints, r, rule, space, options = problem
        try:
            fast = bss(space, r, rule, constraints=constraints)
        except ValueError as error:
            assert re.search(IMPOSSIBLE, str(error))
            continue
        literal = constrained_reference(X, r, constraints, rule=rule, **options)
        assert_array_equal(fast.indices, literal.indices)
        assert fast.n_draws == literal.n_draws
        assert_allclose(fast.weights, literal.weights, rtol=1e-5)
        assert_kept_to(constraints, fast, whole=False)
        compared += 1
        stopped += fast.n_draws < r
    assert compared > 0.9 * len(seeds) and stopped > 0.05 * len(seeds)


@pytest.mark.filterwarnings("ignore")
@swept_seeds(80, 1500)
def test_what_a_selector_takes_keeps_to_the_constraints_and_to_the_promise(seeds):
    fitted = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = any_matrix(rng)
        d = X.shape[1]
        r = int(rng.integers(2, d))
        constraints = any_constraints(rng, d, r)
        selector = [
            BSSSelector(r),
            BSSSelector(r, ridge="auto"),
            BSSSelector(r, rule="largest-norm"),
            BSSSelector(r, rule="sampled", random_state=0),
            BSSSelector(r, score_func=rng.random(d)),
            BSSSelector(n_draws=r),
        ][seed % 6].set_params(constraints=constraints)
        try:
            selector.fit(X)
        except ValueError as error:
            assert re.search(IMPOSSIBLE, str(error))
            continue
        assert_kept_to(constraints, selector)
        assert selector.certificate_.holds
        if constraints.costs is not None:
            spent = np.sum(constraints.costs[selector.selected_])
            assert_allclose(selector.cost_, spent)
        fitted += 1
    assert fitted > 0.8 * len(seeds)


@pytest.mark.filterwarnings("ignore")
@swept_seeds(25, 1000)
def test_a_completion_keeps_to_the_constraints_and_to_the_promise(seeds):
    fitted = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = any_matrix(rng)
        d = X.shape[1]
        given = rng.choice(d, int(rng.integers(1, 4)), replace=False)
        q = min(int(rng.integers(6, 12)), d - len(given))
        constraints = any_constraints(rng, d, q)
        scores = rng.random(d) if seed % 3 == 0 else None
        selector = CompletionSelector(
            given, q, rank=2, score_func=scores, constraints=constraints
        )
        try:
            selector.fit(X)
        except ValueError as error:
            assert re.search(IMPOSSIBLE + "|given", str(error))
            continue
        assert set(given) <= set(selector.selected_)
        assert_kept_to(constraints, selector)
        assert selector.certificate_.holds
        fitted += 1
    assert fitted > 0.4 * len(seeds)


@swept_seeds(20, 300)
def test_a_completion_is_that_of_the_data_without_what_is_excluded(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((5, 30)) * rng.pareto(2, 30)
        kept = np.sort(rng.choice(30, 20, replace=False))
        given = kept[:2]
        excluded = np.setdiff1d(np.arange(30), kept)
        inside = complete(row_space(X), given, 9, constraints=Constraints(excluded))
        alone = complete(row_space(X[:, kept]), [0, 1], 9)
        assert_array_equal(inside.indices, kept[alone.indices])
        assert_allclose(inside.weights, alone.weights, rtol=1e-4)


@pytest.mark.parametrize("rule", ["best", "largest-norm", "sampled"])
@swept_seeds(20, 300)
def test_excluding_is_deleting_at_full_rank_and_at_a_ridge(seeds, rule):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = any_matrix(rng)
        kept = np.sort(rng.choice(X.shape[1], X.shape[1] // 2, replace=False))
        X[:, kept[: len(X)]] += 3 * np.eye(len(X))[:, : len(kept)]
        constraints = Constraints(np.setdiff1d(np.arange(X.shape[1]), kept))
        whole = row_space(X)
        r = 2 * len(X)
        ridge = 0.1 * np.linalg.norm(X, 2) ** 2
        for inside, alone in (
            (whole, row_space(X[:, kept])),
            (ridge_space(X, ridge), ridge_space(X[:, kept], ridge)),
        ):
            if alone.shape[1] < whole.shape[1]:
                continue
            found = bss(inside, r, rule, 0, constraints=constraints)
            expected = bss(alone, r, rule, 0)
            assert_array_equal(found.indices, kept[expected.indices])
            assert_allclose(found.weights, expected.weights, rtol=1e-5)


def test_no_constraint_changes_nothing():
    X = np.random.default_rng(0).standard_normal((20, 60))
    for options in ({}, {"ridge": "auto"}, {"rule": "sampled", "random_state": 0}):
        plain = BSSSelector(12, **options).fit(X)
        for none in (
            dict(exclude=[]),
            dict(exclude=np.zeros(60, dtype=bool)),
            dict(constraints=Constraints()),
            dict(constraints=Constraints([])),
        ):
            found = BSSSelector(12, **options, **none).fit(X)
            assert_array_equal(found.selected_, plain.selected_)
            assert_array_equal(found.weights_, plain.weights_)
            assert not hasattr(found, "pool_") and not hasattr(found, "cost_")
    # where nothing binds, the picks are the plain ones to the last bit
    loose = Constraints(costs=np.ones(60), budget=60)
    for constraints in (loose, Constraints(positions=np.arange(60), spacing=0.5)):
        found = BSSSelector(12, constraints=constraints).fit(X)
        plain = BSSSelector(12).fit(X)
        assert_array_equal(found.selected_, plain.selected_)
        assert_array_equal(found.weights_, plain.weights_)


def test_prices_do_not_count_where_money_is_not_scarce():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 60))
    costs = rng.lognormal(size=60)
    plain = BSSSelector(10).fit(X)
    spent = costs[plain.selected_].sum()
    costly = Constraints(costs=costs, budget=max(spent, costs.max()) * 1.001)
    found = BSSSelector(10, constraints=costly).fit(X)
    assert_array_equal(found.selected_, plain.selected_)
    scarce = clone(costly).set_params(budget=0.3 * spent)
    found = BSSSelector(10, constraints=scarce).fit(X)
    assert found.cost_ <= 0.3 * spent
    # more of the cheap ones than the plain picks in their order could be paid
    affordable = np.cumsum(costs[plain.selected_]) <= 0.3 * spent
    assert found.sampling_.n_selected > affordable.sum()


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("options", [{}, {"ridge": "auto"}, {"rule": "largest-norm"}])
def test_every_kind_of_data_and_every_way_to_name_columns(as_sparse, dtype, options):
    excluded = [name for name in table if name.endswith("error")]
    place = np.flatnonzero(table.columns.isin(excluded))
    expected = BSSSelector(8, exclude=excluded, **options).fit(table)
    assert not set(expected.get_feature_names_out()) & set(excluded)
    X = table.to_numpy(dtype=dtype)
    if as_sparse:
        X = sp.csr_array(X)
    for exclude in (place, place.tolist(), table.columns.isin(excluded)):
        found = BSSSelector(8, exclude=exclude, **options).fit(X)
        assert_array_equal(found.selected_, expected.selected_)
        both = BSSSelector(
            8, exclude=place[:4], constraints=Constraints(place[4:]), **options
        ).fit(X)
        assert_array_equal(both.selected_, expected.selected_)


def test_order_of_columns_and_scale_do_not_count():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((15, 40)) * rng.pareto(2, 40)
    order = rng.permutation(40)
    groups = np.arange(40) // 4
    costs = rng.uniform(1, 3, 40)
    places = rng.uniform(size=(40, 2))

    def constraints(o):
        return Constraints(
            np.flatnonzero(np.isin(o, [1, 2])),
            at_most_one=groups[o],
            costs=costs[o],
            budget=18.0,
            positions=places[o],
            spacing=0.1,
        )

    plain = BSSSelector(9, constraints=constraints(np.arange(40))).fit(X)
    moved = BSSSelector(9, constraints=constraints(order)).fit(X[:, order])
    assert_array_equal(order[moved.selected_], plain.selected_)
    larger = BSSSelector(9, constraints=constraints(np.arange(40))).fit(2.0**40 * X)
    assert_array_equal(larger.selected_, plain.selected_)


@pytest.mark.parametrize("rule", ["best", "largest-norm", "sampled"])
def test_another_copy_stands_for_one_that_may_not_be_taken(rule):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6, 20))
    twice = np.hstack([2 * X, X])  # the second half are shorter multiples
    options = dict(rule=rule, random_state=0)
    selector = BSSSelector(10, exclude=np.arange(20), **options).fit(twice)
    assert selector.selected_.min() >= 20 and selector.sampling_.n_selected == 10
    # once a group is closed, the multiple that is in no group stands for its member
    groups = [*["g"] * 20, *[None] * 20]
    one = Constraints(at_most_one=groups)
    selector = BSSSelector(12, constraints=one, **options).fit(twice)
    assert np.sum(selector.selected_ < 20) <= 1
    assert selector.sampling_.n_selected == 12
    assert len(set(selector.selected_ % 20)) == 12
    # with prices the cheaper for its length
    costs = np.r_[np.full(20, 9.0), np.full(20, 1.0)]
    paid = Constraints(costs=costs, budget=10)
    selector = BSSSelector(8, constraints=paid, **options).fit(twice)
    assert selector.selected_.min() >= 20


@swept_seeds(20, 300)
def test_the_pool_is_certified_by_its_own_promise_and_all_data_by_that_times_c(seeds):
    """Theorem on pools: the weights are within the promise of BSS for the data of the
    pool, and all of the data pay the ends of C.
    """
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((6, 50)) * rng.pareto(1.5, 50)
        mask = rng.random(50) < 0.7
        s = np.sqrt(6 / 15)
        own = Promise((1 - s) ** 2, (1 + s) ** 2)
        whole = row_space(X)
        pool = pool_of(whole, mask)
        found = bss(whole, 15, constraints=Constraints(~mask))
        kept = X[:, found.indices] * np.sqrt(found.weights)
        for K, p in (
            (X[:, mask] @ X[:, mask].T, own),
            (X @ X.T, pool.promise(own)),
        ):
            root = np.linalg.inv(np.linalg.cholesky(K))
            lam = np.linalg.eigvalsh(root @ kept @ kept.T @ root.T)
            assert p.lower * (1 - 1e-6) < lam[0] and lam[-1] < p.upper * (1 + 1e-6)
        C = whole.basis()[mask].T @ whole.basis()[mask]
        assert_allclose(pool.eigenvalues, np.linalg.eigvalsh(C), atol=1e-9)


def test_a_direction_that_only_excluded_columns_hold():
    with_id = table.assign(id=np.random.default_rng(0).permutation(len(table)))
    with pytest.warns(UserWarning, match="Column 'id', not among them"):
        selector = BSSSelector(8, ridge="auto", exclude=["id"]).fit(with_id)
    assert selector.certificate_.holds
    X = np.zeros((4, 12))
    X[0, 0] = 1
    X[1:, 1:] = np.random.default_rng(0).standard_normal((3, 11))
    with pytest.warns(UserWarning, match="Of 1 of the 4 directions"):
        selector = BSSSelector(6, rank="full", exclude=[0]).fit(X)
    assert selector.certificate_.promise.lower == 0
    assert selector.certificate_.promise.upper <= (1 + np.sqrt(3 / 6)) ** 2 + 1e-12
    assert selector.certificate_.holds


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        (dict(exclude=["nothing"]), "exclude has names that X has not: 'nothing'"),
        (dict(exclude="mean radius"), "exclude='mean radius' is not possible"),
        (dict(exclude=[True]), "exclude is a mask of shape"),
        (dict(exclude=[99]), "distinct features as integers from 0 to 29"),
        (dict(exclude=list(table.columns)), "exclude leaves none of the 30"),
        (dict(costs=np.ones(30)), "costs says nothing without budget"),
        (dict(budget=3), "budget says nothing without costs"),
        (dict(costs=np.ones(29), budget=1), r"costs has the shape \(29,\)"),
        (dict(costs=["dear"] * 30, budget=1), "costs are no numbers"),
        (dict(costs=np.ones(30), budget=-1), "budget=-1 is not possible"),
        (dict(costs=np.r_[-1, np.ones(29)], budget=1), "'mean radius'"),
        (dict(costs=np.full(30, 5.0), budget=1), "cheapest costs 5"),
        (dict(positions=np.arange(30)), "positions says nothing without spacing"),
        (dict(positions=np.arange(30), spacing=0), "spacing=0 is not possible"),
        (dict(positions=np.r_[np.nan, np.ones(29)], spacing=1), "'mean radius'"),
        (dict(at_most_one=kinds[:-1]), "one label for each"),
        (dict(at_most_one={"a": ["no"]}), r"at_most_one\['a'\] has names"),
        (dict(at_most_one={"a": []}), r"at_most_one\['a'\] is empty"),
        (dict(exactly_one={"a": [0], "b": [0]}), "must not overlap"),
        (dict(exactly_one=np.arange(30)), "ask for at least 30"),
        (
            dict(exclude=["mean area"], exactly_one={"a": ["mean area"]}),
            "label 'a', none of whose 1 columns may be taken",
        ),
        (
            dict(exactly_one={"a": [0], "b": [1]}, positions=np.arange(30), spacing=2),
            "take the last column from another label",
        ),
        (
            dict(exactly_one={"a": [0], "b": [1]}, costs=np.ones(30), budget=1.5),
            "Give a larger budget",
        ),
    ],
)
def test_what_is_not_possible_is_said(constraints, words):
    with pytest.raises(ValueError, match=words):
        BSSSelector(5, constraints=Constraints(**constraints)).fit(table)


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        (dict(exclude=["mean radius"]), "'mean radius', and exclude has it, too"),
        (dict(at_most_one={"a": [0, 1]}), "'mean radius' and column 'mean texture'"),
        (dict(positions=np.arange(30), spacing=2), "which spacing does not allow"),
        (dict(costs=np.ones(30), budget=1), "The given columns cost 2"),
    ],
)
def test_given_columns_that_break_a_constraint(constraints, words):
    selector = CompletionSelector(
        ["mean radius", "mean texture"], 4, constraints=Constraints(**constraints)
    )
    with pytest.raises(ValueError, match=words):
        selector.fit(table)


def test_constraints_that_are_none():
    with pytest.raises(ValueError, match="can be given as exclude"):
        BSSSelector(3, constraints=["mean radius"]).fit(table)


def test_it_is_said_where_a_search_ends_and_what_ended_it():
    spread = Constraints(positions=np.arange(30), spacing=5)
    with pytest.warns(UserWarning) as caught:
        selector = BSSSelector(12, ridge=500.0, constraints=spread).fit(table)
    said = [str(warning.message) for warning in caught]
    assert any("no column that spacing leaves" in one for one in said)
    assert any("give a smaller spacing" in one for one in said)
    assert any("asks for 12 features, and 6 different" in one for one in said)
    assert selector.n_draws_ < 12 and selector.certificate_.holds
    assert selector.limited_by_ == ["spacing"]


def test_fewer_for_want_of_money_is_no_surprise(recwarn):
    paid = Constraints(costs=np.ones(30), budget=4)
    selector = BSSSelector(10, constraints=paid).fit(table)
    assert selector.sampling_.n_selected == 4 and selector.cost_ == 4
    assert not any("different feature" in str(one.message) for one in recwarn)


def test_groups_that_must_have_a_column_get_one_however_features_are_counted():
    rare = Constraints(exactly_one={"a": [17], "b": [3, 4], "c": [11]})
    for selector in (
        BSSSelector(5),
        BSSSelector(5, ridge="auto"),
        BSSSelector(n_draws=5, rank=2),
        BSSSelector(3, rank=1),
        BSSSelector("theorem", rank=1, eps=0.9),
        CompletionSelector([20], 4, rank=2),
        CompletionSelector([20], rank=2),
        CompletionSelector(n_features_to_add=4, rank=2),
    ):
        found = set(selector.set_params(constraints=rare).fit(table).selected_)
        assert {17, 11} <= found and len(found & {3, 4}) == 1
        assert selector.certificate_.holds


def test_a_zero_column_or_a_copy_is_taken_only_for_a_group_that_must_have_one():
    X = table.to_numpy().copy()
    X[:, 5] = 0
    X[:, 7] = X[:, 20]
    forced = Constraints(exactly_one={"a": [5], "b": [7], "c": [20]})
    selector = BSSSelector(6, constraints=forced).fit(X)
    assert {5, 7, 20} <= set(selector.selected_)
    assert selector.certificate_.holds


def test_sklearn_sees_constraints():
    constraints = Constraints(costs=np.ones(30), budget=5, at_most_one=kinds)
    selector = BSSSelector(6, constraints=constraints)
    assert selector.get_params()["constraints__budget"] == 5
    copy = clone(selector).set_params(constraints__budget=3.0)
    assert constraints.budget == 5 and copy.fit(table).sampling_.n_selected == 3
    kept = pickle.loads(pickle.dumps(copy))
    assert_array_equal(kept.transform(table), copy.transform(table))
    out = clone(selector).set_output(transform="pandas").fit_transform(table)
    assert len({kinds[list(table).index(name)] for name in out}) == out.shape[1] == 5
    y = load_breast_cancer().target
    search = GridSearchCV(
        make_pipeline(selector, RidgeClassifier()),
        {"bssselector__constraints__budget": [1.0, 4.0]},
        cv=3,
    ).fit(table, y)
    assert search.best_params_["bssselector__constraints__budget"] == 4


def test_blocks_of_samples_are_as_in_memory_and_blocks_of_features_are_refused():
    X = table.to_numpy()
    constraints = Constraints([0, 1], at_most_one=kinds)
    selector = BSSSelector(6, rank=4, constraints=constraints)
    expected = clone(selector).fit(X)
    rows = as_blocks(lambda: iter([X[:300], X[300:]]), axis=0)
    found = clone(selector).fit(rows)
    assert_array_equal(found.selected_, expected.selected_)
    columns = as_blocks(lambda: iter([X[:, :15], X[:, 15:]]), axis=1)
    with pytest.raises(ValueError, match="constraints is not possible for X in blocks"):
        clone(selector).fit(columns)
    with pytest.raises(ValueError, match="exclude is not possible for X in blocks"):
        BSSSelector(6, rank=4, exclude=[0]).fit(columns)


def test_mixtures_of_samples_and_constraints():
    X = table.to_numpy()
    selector = BSSSelector(
        6, rank=4, sketch_size=60, random_state=0, constraints=Constraints([0, 1, 2])
    ).fit(X)
    assert selector.selected_.min() > 2 and selector.certificate_.holds is None


def test_costs_in_another_order_are_taken_by_name():
    costs = pd.Series(np.arange(1.0, 31), index=table.columns)
    moved = costs.sample(frac=1, random_state=0)
    found = [
        BSSSelector(5, constraints=Constraints(costs=one, budget=40)).fit(table)
        for one in (costs, moved)
    ]
    assert_array_equal(found[0].selected_, found[1].selected_)
    assert found[0].cost_ == found[1].cost_


@pytest.mark.parametrize("rule", ["first", "best"])
@swept_seeds(20, 300)
def test_the_dual_set_of_a_pool_is_the_literal_one_of_its_own_rows(seeds, rule):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((9, 40)) * rng.pareto(2, 40)
        mask = rng.random(40) < 0.6
        space = row_space(X, rank=4)
        lengths = space.residual_norms
        excluded = Constraints(~mask)
        found = det_sampling(space, lengths, 10, rule, constraints=excluded)
        C = space.basis()[mask].T @ space.basis()[mask]
        root = np.linalg.inv(np.linalg.cholesky(C)).T
        own = space.basis()[mask] @ root
        literal = det_sampling_reference(own, lengths[mask], 10, rule)
        assert_array_equal(found.indices, np.flatnonzero(mask)[literal.indices])
        assert_allclose(found.weights, literal.weights, rtol=1e-6)


@pytest.mark.filterwarnings("ignore")
@swept_seeds(60, 1000)
def test_dual_sets_keep_to_the_constraints_and_to_the_promise(seeds):
    fitted = 0
    stopped = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = any_matrix(rng)
        d = X.shape[1]
        r = int(rng.integers(2, d))
        constraints = any_constraints(rng, d, r)
        selector = [
            DSFSelector(r),
            DSFSelector(r, rule="first"),
            DSFSelector(r, rule="components"),
            DSFSelector(r, score_func=rng.random(d)),
            DSFSelector(n_draws=r),
        ][seed % 5].set_params(constraints=constraints)
        try:
            selector.fit(X)
        except ValueError as error:
            assert re.search(IMPOSSIBLE, str(error))
            continue
        assert_kept_to(constraints, selector)
        assert selector.certificate_.holds
        fitted += 1
        stopped += selector.n_draws_ < r
    assert fitted > 0.8 * len(seeds) and stopped > 0


def test_places_are_filled_from_outside_of_what_is_certified():
    X = np.diag([9.0, 5.0, 4.0, 3.0, 2.0, 1.0])
    selector = BSSSelector(4, rank=1, exclude=[2]).fit(X)
    assert selector.selected_.tolist() == [0, 1, 3, 4]
    two_apart = Constraints(positions=np.arange(6), spacing=2)
    selector = BSSSelector(3, rank=1, constraints=two_apart).fit(X)
    assert selector.selected_.tolist() == [0, 2, 4]
    with pytest.raises(ValueError, match="hold nothing of the directions"):
        BSSSelector(4, rank=1, exclude=[0]).fit(X)


class FiveOut(AllowedColumns):
    """The first five columns are out."""

    changes = True

    def __init__(self, d):
        super().__init__(np.arange(d) >= 5)
        self.taken = []

    def take(self, i):
        if i not in self.taken:
            self.taken.append(i)
            self.mask[i] = False


class NoNeighbours(FiveOut):
    """And no two columns that stand side by side."""

    def take(self, i):
        super().take(i)
        self.mask[max(i - 1, 0) : i + 2] = False


@pytest.mark.parametrize("kind", [FiveOut, NoNeighbours])
@pytest.mark.parametrize("rule", ["best", "largest-norm", "sampled"])
def test_a_constraint_of_ones_own(kind, rule):
    X = np.random.default_rng(0).standard_normal((5, 60))
    allowed = kind(60)
    found = bss(row_space(X), 15, rule, 0, constraints=allowed)
    assert found.indices.min() >= 5 and found.n_selected == 15
    assert_array_equal(np.sort(allowed.taken), np.sort(found.indices))
    if kind is NoNeighbours:
        assert np.diff(np.sort(found.indices)).min() > 1


def group_of_each(selector, labels):
    """The numbers of the chosen groups, in the order of first columns, as a sampling."""
    first = list(dict.fromkeys(labels.tolist()))
    chosen = [first.index(label) for label in selector.selected_groups_]
    return Sampling(np.array(chosen), np.ones(len(chosen)), len(first), 1)


@pytest.mark.filterwarnings("ignore")
@swept_seeds(80, 1000)
def test_groups_keep_to_constraints_and_to_the_promise(seeds):
    """What is said of columns is said of groups."""
    fitted = 0
    stopped = 0
    short = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = any_matrix(rng)
        d = X.shape[1]
        labels = rng.integers(0, d // 2, d)
        first = list(dict.fromkeys(labels.tolist()))
        r = int(rng.integers(2, len(first)))
        constraints = any_constraints(rng, len(first), r)
        excluded = constraints.exclude
        if excluded is not None:
            # arrays are in the order of the groups, and groups are named by label
            by_label = [first[g] for g in excluded]
            named = clone(constraints).set_params(exclude=by_label)
        else:
            named = constraints
        options = [
            dict(n_groups_to_select=r),
            dict(n_groups_to_select=r, rule="largest-norm"),
            dict(n_groups_to_select=r, score_func=rng.random(len(first))),
            dict(n_draws=r),
        ][seed % 4]
        selector = GroupSelector(groups=labels, constraints=named, **options)
        try:
            selector.fit(X)
        except ValueError as error:
            assert re.search(IMPOSSIBLE, str(error))
            continue
        found = group_of_each(selector, labels)
        assert_kept_to(constraints, found)
        assert selector.certificate_.holds
        if constraints.costs is not None:
            spent = np.sum(constraints.costs[found.indices])
            assert_allclose(selector.cost_, spent)
        fitted += 1
        stopped += selector.n_draws_ < r
        short += getattr(selector, "limited_by_", []) != []
    assert fitted > 0.8 * len(seeds) and stopped > 0 and short > 0


@swept_seeds(30, 300)
def test_groups_of_one_column_are_columns(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((8, 30)) * rng.pareto(2, 30)
        if seed % 2:
            X[:, :10] = X[:, 10:20] * rng.choice([1, -1, 2.0, 0.5], 10)
        ridge = 0.2 * np.linalg.norm(X, 2) ** 2
        space = ridge_space(X, ridge)
        scores = rng.random(30)
        constraints = any_constraints(rng, 30, 8).set_params(exactly_one=None)
        for of_columns, of_groups in (
            (dict(rule="best"), dict()),
            (dict(rule="largest-norm"), dict(rule="largest-norm")),
            (dict(rule="largest-norm", scores=scores), dict(scores=scores)),
        ):
            expected = bss(space, 8, **of_columns, constraints=constraints)
            found = group_bss(
                space, np.arange(30), 8, **of_groups, constraints=constraints
            )
            assert_array_equal(found.indices, expected.indices)
            assert_allclose(found.weights, expected.weights, rtol=1e-6)
            assert found.n_draws == expected.n_draws


@swept_seeds(20, 300)
def test_groups_that_are_excluded_are_as_deleted_at_a_ridge(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = any_matrix(rng)
        d = X.shape[1]
        labels = rng.integers(0, d // 2, d)
        groups = column_groups(labels, d)
        gone = rng.choice(groups.labels, len(groups.labels) // 3, replace=False)
        kept = np.flatnonzero(~np.isin(labels, gone))
        ridge = 0.2 * np.linalg.norm(X, 2) ** 2
        alone = group_bss(ridge_space(X[:, kept], ridge), labels[kept], 6)
        inside = group_bss(
            ridge_space(X, ridge), labels, 6, constraints=Constraints(gone)
        )
        left = list(dict.fromkeys(labels[kept].tolist()))
        assert groups.labels[inside.indices].tolist() == [
            left[j] for j in alone.indices
        ]
        assert_allclose(inside.weights, alone.weights, rtol=1e-5)


def test_no_constraint_on_groups_changes_nothing():
    plain = GroupSelector(5, groups=kinds).fit(table)
    loose = Constraints(costs=np.ones(10), budget=10)
    for none in (
        dict(exclude=[]),
        dict(exclude=np.zeros(10, dtype=bool)),
        dict(constraints=Constraints()),
        dict(constraints=loose),
    ):
        found = GroupSelector(5, groups=kinds, **none).fit(table)
        assert_array_equal(found.selected_, plain.selected_)
        assert_array_equal(found.weights_, plain.weights_)
        assert found.certificate_.promise == plain.certificate_.promise


def test_groups_are_excluded_by_label():
    selector = GroupSelector(4, groups=kinds, exclude=["area", "radius"]).fit(table)
    assert not {"area", "radius"} & set(selector.selected_groups_)
    assert selector.certificate_.holds and len(selector.selected_groups_) == 4
    labels = selector.groups_.labels.tolist()
    assert set(np.array(labels)[~selector.pool_.mask]) == {"area", "radius"}
    numbers = [sorted(set(kinds)).index(kind) for kind in kinds]
    gone = [sorted(set(kinds)).index(kind) for kind in ("area", "radius")]
    pairs = [(kind, "kind") for kind in kinds]
    for groups, exclude in (
        (numbers, gone),
        (numbers, np.array(gone)),
        (pairs, [("area", "kind"), ("radius", "kind")]),
        (kinds, np.isin(labels, ["area", "radius"])),
        (kinds, pd.Series(["area", "radius"])),
    ):
        same = GroupSelector(4, groups=groups, exclude=exclude).fit(table)
        assert_array_equal(same.selected_, selector.selected_)
        said = Constraints(exclude)
        same = GroupSelector(4, groups=groups, constraints=said).fit(table)
        assert_array_equal(same.selected_, selector.selected_)
    for exclude, words in (
        (["depth"], "no label of a group"),
        ([["area"]], "no label of a group"),
        ("area", "a list of"),
        (3, "a list of"),
        ([True, False], "a mask of shape"),
    ):
        with pytest.raises(ValueError, match=words):
            GroupSelector(4, groups=kinds, exclude=exclude).fit(table)
    with pytest.raises(ValueError, match="'depth', which is no label"):
        one = Constraints(at_most_one={"size": ["area", "depth"]})
        GroupSelector(4, groups=kinds, constraints=one).fit(table)


def test_columns_that_are_groups_are_excluded_by_index_or_name():
    expected = BSSSelector(6, ridge="auto", exclude=["mean area"]).fit(table)
    for exclude in (["mean area"], [3]):
        found = GroupSelector(6, exclude=exclude).fit(table)
        assert_array_equal(found.selected_, expected.selected_)


def test_what_arrays_say_of_groups_is_in_their_order():
    """As for scores: a dictionary has an order of its own."""
    labels = list(dict.fromkeys(kinds))
    members = {kind: np.flatnonzero(np.array(kinds) == kind) for kind in labels}
    backwards = {kind: members[kind] for kind in labels[::-1]}
    prices = np.arange(1.0, 11)
    said = Constraints(costs=prices, budget=12.0, at_most_one=["g"] * 2 + [None] * 8)
    turned = Constraints(
        costs=prices[::-1], budget=12.0, at_most_one=[None] * 8 + ["g"] * 2
    )
    by_label = Constraints(
        costs=pd.Series(prices, index=labels).sample(frac=1, random_state=0),
        budget=12.0,
        at_most_one={"g": labels[:2]},
    )
    expected = GroupSelector(4, groups=kinds, constraints=said).fit(table)
    price_of = dict(zip(labels, prices))
    spent = sum(price_of[label] for label in expected.selected_groups_)
    assert expected.cost_ == spent <= 12
    assert not set(labels[:2]) <= set(expected.selected_groups_)
    for groups, constraints in (
        (members, said),
        (backwards, turned),
        (backwards, by_label),
        (kinds, by_label),
    ):
        found = GroupSelector(4, groups=groups, constraints=constraints).fit(table)
        assert found.selected_groups_ == expected.selected_groups_
        assert found.cost_ == spent
    mask = np.arange(10) < 3
    expected = GroupSelector(4, groups=kinds, exclude=mask).fit(table)
    found = GroupSelector(4, groups=backwards, exclude=mask[::-1]).fit(table)
    assert found.selected_groups_ == expected.selected_groups_


def test_another_multiple_stands_for_a_group_that_may_not_be_taken():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((8, 20))
    twice = np.hstack([2 * X, X])
    labels = np.arange(40) // 2
    selector = GroupSelector(6, groups=labels, exclude=np.arange(10)).fit(twice)
    assert min(selector.selected_groups_) >= 10 and len(selector.selected_groups_) == 6
    one = Constraints(at_most_one=["g"] * 10 + [None] * 10)
    selector = GroupSelector(7, groups=labels, constraints=one).fit(twice)
    chosen = np.array(selector.selected_groups_)
    assert np.sum(chosen < 10) <= 1 and len(set(chosen % 10)) == len(chosen) == 7
    # with prices the cheaper for its size
    costs = np.r_[np.full(10, 9.0), np.full(10, 1.0)]
    cheap = Constraints(costs=costs, budget=6.0)
    selector = GroupSelector(6, groups=labels, constraints=cheap).fit(twice)
    assert selector.cost_ == 6 and min(selector.selected_groups_) >= 10


@pytest.mark.filterwarnings("ignore:From draw")
def test_groups_that_must_be_there_are_there_however_they_are_counted():
    X = table.to_numpy().copy()
    X[:, np.array(kinds) == "symmetry"] = 0
    must = Constraints(exactly_one={"a": ["symmetry"], "b": ["texture", "area"]})
    for options in (
        dict(n_groups_to_select=3),
        dict(n_groups_to_select=3, ridge=1e4),
        dict(n_draws=2),
        dict(n_groups_to_select=3, score_func=np.arange(10.0)),
    ):
        selector = GroupSelector(groups=kinds, constraints=must, **options).fit(X)
        found = set(selector.selected_groups_)
        assert "symmetry" in found and len(found & {"texture", "area"}) == 1
        assert selector.certificate_.holds


def test_what_is_said_of_groups():
    X = 0.1 * np.random.default_rng(0).standard_normal((8, 24))
    X[:, :3] += 50 * np.eye(8)[:, :3]
    labels = [f"g{j}" for j in np.arange(24) // 3]
    with pytest.warns(UserWarning, match="Group 'g0', not among them, holds"):
        GroupSelector(5, groups=labels, ridge=5.0, exclude=["g0"]).fit(X)
    spread = Constraints(positions=np.arange(8), spacing=3)
    with pytest.warns(UserWarning) as caught:
        found = GroupSelector(6, groups=labels, constraints=spread).fit(X)
    said = [str(warning.message) for warning in caught]
    assert found.limited_by_ == ["spacing"]
    assert any("asks for 6 groups" in one and "smaller spacing" in one for one in said)
    with pytest.raises(ValueError, match="can be given as exclude"):
        GroupSelector(3, groups=labels, constraints=["g0"]).fit(X)


def test_fewer_groups_for_want_of_money_are_no_surprise(recwarn):
    paid = Constraints(costs=np.ones(10), budget=3)
    selector = GroupSelector(6, groups=kinds, constraints=paid).fit(table)
    assert len(selector.selected_groups_) == 3 and selector.cost_ == 3
    assert not any("asks for" in str(one.message) for one in recwarn)


@pytest.mark.filterwarnings("ignore:From draw")
@pytest.mark.parametrize("n_draws", [None, 5])
def test_groups_in_blocks_are_as_in_memory(n_draws):
    """Of samples and of features, in which only kernels of groups are kept."""
    X = table.to_numpy()[:40]
    labels = np.array(kinds)
    costs = pd.Series(np.arange(1.0, 11), index=list(dict.fromkeys(kinds)))
    constraints = Constraints(
        ["area"], costs=costs, budget=25.0, at_most_one={"g": ["radius", "perimeter"]}
    )
    options = dict(n_draws=5) if n_draws else dict(n_groups_to_select=5)
    for score_func in (None, np.arange(10.0)):
        selector = GroupSelector(
            groups=labels, constraints=constraints, score_func=score_func, **options
        )
        expected = clone(selector).fit(X)
        assert expected.cost_ <= 25 and "area" not in expected.selected_groups_
        for axis, parts in ((0, (X[:15], X[15:])), (1, (X[:, :13], X[:, 13:]))):
            blocks = as_blocks(lambda parts=parts: iter(parts), axis=axis)
            found = clone(selector).fit(blocks)
            assert found.selected_groups_ == expected.selected_groups_
            assert_allclose(found.group_weights_, expected.group_weights_, rtol=1e-6)
            assert found.cost_ == expected.cost_
            assert_array_equal(found.pool_.mask, expected.pool_.mask)
            promise = expected.certificate_.promise
            assert_allclose(found.certificate_.promise.lower, promise.lower, rtol=1e-6)
            assert_allclose(found.certificate_.promise.upper, promise.upper, rtol=1e-6)
    # of many columns kernels alone are left, and groups are still what is named
    wide = 0.1 * np.random.default_rng(0).standard_normal((10, 60))
    wide[:, :20] += 50 * np.eye(10)[:, :1]
    halves = as_blocks(lambda: iter((wide[:, :30], wide[:, 30:])), axis=1)
    of_twenty = np.repeat(["a", "b", "c"], 20)
    with pytest.warns(UserWarning, match="Group 'a', not among them, holds"):
        selector = GroupSelector(2, groups=of_twenty, ridge=10.0, exclude=["a"])
        found = selector.fit(halves)
    assert_array_equal(found.pool_.mask, [False, True, True])
    assert_array_equal(found.pool_.holders, [0])
    assert found.certificate_.holds


@pytest.mark.parametrize("kind", [FiveOut, NoNeighbours])
def test_a_constraint_of_ones_own_on_groups(kind):
    X = np.random.default_rng(0).standard_normal((5, 90))
    space = ridge_space(X, 0.1 * np.linalg.norm(X, 2) ** 2)
    allowed = kind(30)
    found = group_bss(space, np.arange(90) // 3, 8, constraints=allowed)
    assert found.indices.min() >= 5 and found.n_selected == 8
    assert_array_equal(np.sort(allowed.taken), np.sort(found.indices))
    if kind is NoNeighbours:
        assert np.diff(np.sort(found.indices)).min() > 1


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ridge", ["auto", 300.0])
@swept_seeds(12, 500)
def test_a_completion_at_a_ridge_keeps_to_the_constraints(seeds, ridge):
    fitted = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = any_matrix(rng)
        d = X.shape[1]
        given = rng.choice(d, int(rng.integers(0, 4)), replace=False)
        q = min(int(rng.integers(8, 14)), d - len(given))
        constraints = any_constraints(rng, d, q)
        scores = rng.random(d) if seed % 3 == 0 else None
        selector = CompletionSelector(
            given, q, ridge=ridge, score_func=scores, constraints=constraints
        )
        try:
            selector.fit(X)
        except ValueError as error:
            assert re.search(IMPOSSIBLE + "|given|effective", str(error))
            continue
        assert set(given) <= set(selector.selected_)
        assert_kept_to(constraints, selector)
        assert selector.certificate_.holds
        fitted += 1
    assert fitted > 0.4 * len(seeds)


@swept_seeds(12, 300)
def test_a_completion_at_a_ridge_is_that_of_the_data_without_what_is_excluded(seeds):
    """At any ridge, and not only where the pool has the rank of the data."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((5, 30)) * rng.pareto(2, 30)
        kept = np.sort(rng.choice(30, 20, replace=False))
        given = kept[:2]
        excluded = np.setdiff1d(np.arange(30), kept)
        ridge = 0.2 * np.linalg.norm(X, 2) ** 2
        space = ridge_space(X, ridge)
        inside = complete(space, given, 9, constraints=Constraints(excluded))
        alone = complete(ridge_space(X[:, kept], ridge), [0, 1], 9)
        assert_array_equal(inside.indices, kept[alone.indices])
        assert_allclose(inside.weights, alone.weights, rtol=1e-4)


@pytest.mark.parametrize("kind", ["exclude", "at_most_one", "spacing", "costs"])
@swept(("d", "outlined"), [(1000, 0)], [(7500, column_search.OUTLINED)])
def test_many_columns_at_a_ridge_are_searched_as_the_literal_search_does(
    d, outlined, kind, monkeypatch
):
    """Where slack is bounded by an outline of the columns."""
    monkeypatch.setattr(column_search, "OUTLINED", outlined)
    rng = np.random.default_rng(5)
    n, r = 9, 8
    X = rng.standard_normal((n, d)) * (1 + rng.pareto(2, d))
    X[:, ::10] = X[:, 1::10]
    ridge = 3 * np.linalg.norm(X, 2) ** 2
    space = ridge_space(X, ridge)
    assert outline_of(space) is not None
    plain = bss(space, r, "best").indices
    constraints = {
        "exclude": Constraints(plain[:4]),
        "at_most_one": Constraints(at_most_one=np.arange(d) // (d // 8)),
        "spacing": Constraints(positions=rng.random((d, 2)), spacing=0.2),
        "costs": Constraints(costs=rng.lognormal(size=d), budget=3.0),
    }[kind]
    # the pool has an outline of its own
    fast = bss(space, r, "best", constraints=constraints)
    literal = constrained_reference(X, r, constraints, ridge=ridge, rule="best")
    assert set(fast.indices) != set(plain)
    assert_array_equal(fast.indices, literal.indices)
    assert fast.n_draws == literal.n_draws
    assert_allclose(fast.weights, literal.weights, rtol=1e-5)
    selector = BSSSelector(r, ridge=ridge, rule="best", constraints=constraints).fit(X)
    assert_array_equal(selector.selected_[: fast.n_selected], fast.indices)
    assert selector.certificate_.holds


@pytest.mark.parametrize(
    "selector",
    [
        BSSSelector(8, rank=4),
        BSSSelector(8, ridge="auto"),
        BSSSelector(8, rank=4, rule="sampled", random_state=0),
        DSFSelector(8, rank=4),
        DSFSelector(8, rank=4, rule="first"),
    ],
)
@pytest.mark.filterwarnings("ignore")
@swept_seeds(6, 200)
def test_exchanges_bring_in_no_column_that_is_excluded(seeds, selector):
    came_in = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((6, 50)) * rng.pareto(2, 50)
        free = clone(selector).set_params(exchange=True).fit(X).selected_
        excluded = free[:3]
        only = dict(exclude=excluded)
        also = dict(constraints=Constraints(excluded))
        plain = clone(selector).set_params(**only).fit(X)
        found = clone(selector).set_params(exchange=True, **only).fit(X)
        same = clone(selector).set_params(exchange=True, **also).fit(X)
        assert_array_equal(same.selected_, found.selected_)
        assert not set(excluded) & set(found.selected_)
        assert found.certificate_.holds
        before = plain.certificate_.eigenvalues_unscaled[0]
        after = found.certificate_.eigenvalues_unscaled[0]
        assert after >= before * (1 - 1e-9)
        # without the mask it would come in, often
        run = raise_smallest(
            selector._space(X, selector._directions(8)),
            plain.selected_,
            group=row_space(X).first_multiple,
        )
        came_in += bool(set(excluded) & set(run.indices))
    assert came_in > 0.5 * len(seeds)


@pytest.mark.parametrize("selector", [BSSSelector(8), DSFSelector(8)])
@pytest.mark.parametrize(
    ("constraints", "name"),
    [
        (dict(costs=np.ones(30), budget=9.0), "costs"),
        (dict(at_most_one=kinds), "at_most_one"),
        (dict(exactly_one={"a": [0, 1]}), "exactly_one"),
        (dict(positions=np.arange(30), spacing=2), "positions"),
    ],
)
def test_exchanges_are_refused_where_what_is_open_depends_on_the_others(
    selector, constraints, name
):
    said = clone(selector).set_params(
        exchange=True, constraints=Constraints(**constraints)
    )
    with pytest.raises(ValueError, match=f"exchange=True .* that have {name}: "):
        said.fit(table)
    with pytest.raises(ValueError, match="can be given as exclude"):
        said.set_params(constraints=[3]).fit(table)


def test_blocks_of_samples_know_the_names_of_columns():
    for selector in (
        BSSSelector(6, exclude=["mean area"]),
        BSSSelector(6, rank=4, exclude=["mean area"]),
        BSSSelector(6, ridge="auto", exclude=["mean area"]),
        DSFSelector(6, exclude=["mean area"]),
        GroupSelector(3, groups=kinds, exclude=["area"]),
        GroupSelector(3, exclude=["mean area"]),
    ):
        expected = clone(selector).fit(table).selected_
        factor = TriangularFactor().partial_fit(table[:300]).partial_fit(table[300:])
        for source in (as_blocks(table), factor):
            assert_array_equal(clone(selector).fit(source).selected_, expected)


@pytest.mark.parametrize(
    "constraints",
    [
        dict(exclude=["a", "b", "c", "d"]),
        dict(costs=[1.0, -2.0, 1.0, 1.0], budget=2.0),
        dict(costs=[1.0, np.nan, 1.0, 1.0], budget=2.0),
        dict(costs=[1.0, 1.0], budget=2.0),
        dict(costs=["dear"] * 4, budget=2.0),
        dict(costs=[3.0] * 4, budget=2.0),
        dict(at_most_one=["x", "y"]),
        dict(at_most_one={"x": []}),
        dict(at_most_one={"x": ["a", "b"], "y": ["b"]}),
        dict(exactly_one={"x": ["a"]}, exclude=["a"]),
        dict(exactly_one={"x": ["a"], "y": ["b"], "z": ["c"]}),
        dict(positions=[0.0, 1.0], spacing=0.5),
    ],
)
def test_groups_are_called_groups(constraints):
    """What stands in the place of columns are groups, and messages say so."""
    X = np.random.default_rng(0).standard_normal((30, 12))
    groups = np.repeat(["a", "b", "c", "d"], 3)
    selector = GroupSelector(2, groups=groups, constraints=Constraints(**constraints))
    with pytest.raises(ValueError) as caught:
        selector.fit(X)
    assert "column" not in str(caught.value) and "group" in str(caught.value)
