"""Absolute weights by linear programs: solvers against each other, against their duals,
and what a vertex is.
"""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from cases import swept, swept_seeds
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import OptimizeResult, linprog
from sklearn.exceptions import ConvergenceWarning
from test_svm import PROGRAMS, least_l1_price, sides_of, slack

from fsel_book import LPSVMClassifier, SCADSVMClassifier, linear_programs, svm
from fsel_book.arrays import as_float64
from fsel_book.linear_programs import (
    CentralPath,
    certified_gap,
    l1_program,
    longest_step,
    refined_inverse,
    solve_by_central_path,
    solve_by_simplex,
    to_independence,
    vertex,
)
from fsel_book.loaders import load_dataset
from fsel_book.svm import scad_penalty


def problem(kind, seed):
    rng = np.random.default_rng(seed)
    X = PROGRAMS[kind](rng)
    signs = sides_of(X, rng, noise=0.0 if seed == 1 else 0.5)
    X = X.toarray() if sp.issparse(X) else X.astype(float)
    return X / (np.abs(X).max() or 1.0), signs


def gaussian(n, d, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    signs = np.sign(X[:, :5].sum(axis=1) + noise * rng.standard_normal(n))
    return X / np.abs(X).max(), signs


def is_vertex(X, signs, w, b):
    """Whether the features with weight, and a column of ones, are independent on the
    samples at the margin.
    """
    at_margin = np.abs(signs * (X @ w + b) - 1) <= 1e-7
    A = np.column_stack(
        [np.ones(at_margin.sum()), X[np.ix_(at_margin, np.flatnonzero(w))]]
    )
    return np.linalg.matrix_rank(A, tol=1e-9) == A.shape[1]


@swept_seeds(2, 5)
@pytest.mark.exact
@swept("C", [1.0], [0.01, 100.0])
@pytest.mark.parametrize("kind", PROGRAMS)
def test_the_path_has_the_value_of_the_simplex_method_and_ends_at_a_vertex(
    kind, C, seeds
):
    """Problems with penalties 1, and some of them at 0: the value, the gap, exact
    zeros, a vertex.
    """
    for seed in seeds:
        X, signs = problem(kind, seed)
        rng = np.random.default_rng(seed)
        for penalties in (
            np.ones(X.shape[1]),
            np.where(rng.random(X.shape[1]) < 0.2, 0, rng.uniform(0.1, 1, X.shape[1])),
        ):
            w, b, value, gap = l1_program(X, signs, penalties, C)
            expected = solve_by_simplex(signs[:, None] * X, signs, penalties, C)[2]
            assert gap < 1e-8 and value == pytest.approx(expected, rel=1e-7, abs=1e-9)
            assert value == pytest.approx(
                penalties @ np.abs(w) + C * slack(X, signs, w, b), rel=1e-8, abs=1e-9
            )
            assert 0 in penalties or is_vertex(X, signs, w, b)


@swept_seeds(1, 3)
@pytest.mark.parametrize("n, d", [(60, 20), (60, 400), (150, 150)])
@pytest.mark.parametrize("C", [0.3, 30.0])
def test_the_path_closes_the_gap_without_help(n, d, C, seeds):
    """Systems by samples and by features, features added on the way: optimal by another
    solver, and a vertex.
    """
    for seed in seeds:
        X, signs = gaussian(n, d, seed=seed)
        found = solve_by_central_path(signs[:, None] * X, signs, np.ones(d), C)
        assert found is not None
        w, b, value, gap = found
        assert abs(gap) < 1e-9 and value == pytest.approx(
            least_l1_price(X, signs, np.ones(d), C), rel=1e-6
        )
        assert is_vertex(X, signs, w, b) and np.count_nonzero(w) < n


def test_of_equal_features_a_vertex_takes_one():
    X, signs = gaussian(40, 6)
    Z = signs[:, None] * np.hstack([X, X])
    w = solve_by_central_path(Z, signs, np.ones(12), 10.0)[0]
    assert np.all((w[:6] == 0) | (w[6:] == 0)) and np.any(w != 0)


def test_a_step_of_the_path_solves_its_equations():
    """Feasible before and after, in both sizes of the system; the gap falls."""
    for n, d in ((30, 8), (8, 30)):
        X, signs = gaussian(n, d)
        a = np.where(signs > 0, 1 / np.sum(signs > 0), 1 / np.sum(signs < 0))
        a *= min(0.5 / a.max(), 0.5 / np.abs(X.T @ (signs * a)).max())
        path = CentralPath(signs[:, None] * X, signs[:, None], np.ones(d), 1.0, a)
        for _ in range(8):
            gap = path.gap()
            path.step()
            assert path.gap() < gap and path.x.min() > 0 and path.slack.min() > 0
            assert np.abs(path.missing()).max() < 1e-8 and abs(signs @ path.a) < 1e-8
            pull = path.Z.T @ path.a
            expected = np.concatenate([1 - pull, 1 + pull, 1 - path.a, path.a])
            assert_allclose(path.slack, expected, atol=1e-8)


def test_the_path_takes_few_steps_whatever_the_data():
    steps = []
    for kind in ("tall", "wide", "integers", "features of all sizes", "small"):
        for seed in range(3):
            X, signs = problem(kind, seed)
            a = np.where(signs > 0, 1 / np.sum(signs > 0), 1 / np.sum(signs < 0))
            a *= min(0.5 / a.max(), 0.5 / np.abs(X.T @ (signs * a)).max())
            path = CentralPath(
                signs[:, None] * X, signs[:, None], np.ones(X.shape[1]), 1.0, a
            )
            steps.append(path.follow(1e-8))
            w, v, dual = vertex(path)
            value = np.abs(w).sum() + slack(X, signs, w, v[0])
            assert value == pytest.approx(dual.sum(), rel=1e-9)
    assert max(steps) <= 30


def test_values_move_to_zero_one_at_a_time():
    """Each direction gives one zero more, and what is left lies in the span."""
    rng = np.random.default_rng(0)
    values = rng.standard_normal(9)
    directions = rng.standard_normal((9, 4))
    moved = to_independence(values, directions)
    assert np.count_nonzero(moved == 0) == 4
    assert np.linalg.lstsq(directions, moved - values)[1].sum() < 1e-20
    assert_array_equal(to_independence(values, np.zeros((9, 2))), values)
    one = to_independence(np.array([1.0, 2.0, -3.0]), np.array([[1.0], [1.0], [0.0]]))
    assert_allclose(one, [0, 1, -3])


def test_inverse_of_a_nearly_singular_matrix():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((20, 30)) * np.logspace(0, 6, 20)[:, None]
    M = A @ A.T
    v = rng.standard_normal((20, 2))
    assert_allclose(M @ refined_inverse(M.copy())(M @ v), M @ v, rtol=1e-6)
    assert_allclose(refined_inverse(np.eye(3) * 4)(np.ones(3)), 0.25)
    # here 1e-13 on the diagonal is a thousandth of the least eigenvalue
    B = np.array([[1.0, 1.0], [1.0, 1.0 + 1e-10]])
    assert_allclose(
        refined_inverse(B.copy())(np.array([0.0, 1e-10])), [-1.0, 1.0], rtol=1e-4
    )


def test_longest_step():
    assert longest_step(np.array([1.0, 2.0]), np.array([-4.0, 1.0])) == 0.25
    assert longest_step(np.array([1.0, 2.0]), np.array([-0.5, 1.0])) == 1.0
    assert longest_step(np.ones(2), np.ones(2)) == 1.0


def test_where_the_path_ends_early_the_simplex_method_takes_over(monkeypatch):
    X, signs = gaussian(30, 10)
    expected = LPSVMClassifier().fit(X, signs)
    for fails in (lambda *given: None, lambda *given: np.linalg.cholesky(-np.eye(2))):
        monkeypatch.setattr(linear_programs, "solve_by_central_path", fails)
        found = LPSVMClassifier().fit(X, signs)
        assert_allclose(found.coef_, expected.coef_, atol=1e-6)
        assert found.dual_gap_ < 1e-8


def test_the_solver_is_chosen_by_the_entries_not_by_the_storage(monkeypatch):
    """So sparse and dense forms give the same machine, bit for bit, also where several
    are optimal.
    """
    chosen = []
    by_path = linear_programs.solve_by_central_path
    by_simplex = linear_programs.solve_by_simplex
    monkeypatch.setattr(
        linear_programs,
        "solve_by_central_path",
        lambda *given: chosen.append("path") or by_path(*given),
    )
    monkeypatch.setattr(
        linear_programs,
        "solve_by_simplex",
        lambda *given: chosen.append("simplex") or by_simplex(*given),
    )
    rng = np.random.default_rng(0)
    for density, name in ((0.02, "simplex"), (0.3, "path")):
        X = sp.random_array((60, 200), density=density, random_state=rng, format="csr")
        signs = sides_of(X, rng)
        dense = LPSVMClassifier().fit(X.toarray(), signs)
        sparse = LPSVMClassifier().fit(X, signs)
        assert_array_equal(dense.coef_, sparse.coef_)
        assert set(chosen) == {name}
        chosen.clear()


REAL = [
    "alon",
    "golub",
    "prostate",
    "arcene_train",
    "ionosphere",
    "hill_valley",
    "dexter_train",
]
REAL_FEW = [
    (name, (0.01, 1.0)[i % 2])
    for i, name in enumerate(REAL)
    if name not in ("arcene_train", "prostate")
]


@swept(
    ("name", "C"),
    REAL_FEW,
    [(name, C) for name in REAL for C in (0.01, 1.0) if (name, C) not in REAL_FEW],
)
def test_the_objective_of_the_simplex_method_on_real_data(name, C):
    """And no more features: the value to 1e-9, though the task of both is to find a
    vertex, not the same one.
    """

    try:
        data = load_dataset(name)
    except FileNotFoundError as error:
        pytest.skip(str(error))
    X = data.data.tocsr() if sp.issparse(data.data) else as_float64(data.data)
    X = X / abs(X).max()
    signs = np.where(data.target == np.unique(data.target)[0], -1.0, 1.0)
    w, b, value, gap = l1_program(X, signs, np.ones(X.shape[1]), C)
    Z = sp.diags_array(signs) @ sp.csr_array(X)
    other, _, expected, _ = solve_by_simplex(Z, signs, np.ones(X.shape[1]), C)
    assert value == pytest.approx(expected, rel=1e-8) and gap < 1e-8
    assert value == pytest.approx(np.abs(w).sum() + C * slack(X, signs, w, b), rel=1e-8)
    assert np.count_nonzero(w) <= np.count_nonzero(other) + 1


def test_several_programs_that_take_long_say_so(impatient):
    X, signs = gaussian(20, 5)
    with pytest.warns(
        UserWarning, match="LPSVMClassifier.fit will .* first 3 of 5 steps. Choose feat"
    ) as said:
        LPSVMClassifier(C=10.0).fit(X, np.arange(20) % 5)
    assert [one.filename for one in said] == [__file__]
    with pytest.warns(
        UserWarning, match="SCADSVMClassifier.fit will take .* at most, by .* of 20 st"
    ):
        SCADSVMClassifier().fit(X, signs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LPSVMClassifier().fit(X, signs)  # a single program


def test_programs_are_counted_as_they_come():
    """Those that a class did not need are not expected any more."""
    totals = []

    class Counted(SCADSVMClassifier):
        def _solve(self, X, signs, progress):
            totals.append((progress.done, progress.total))
            return super()._solve(X, signs, progress)

    X, _ = gaussian(30, 5)
    model = Counted(max_iter=7).fit(X, np.arange(30) % 3)
    assert [total - done for done, total in totals] == [21, 14, 7]
    assert 0 < totals[1][0] <= model.n_iter_


def labelled(n=60, d=20, seed=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, 0] + 0.7 * rng.standard_normal(n) > 0


@pytest.mark.parametrize("exponent", [10, -10])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_large_or_small_column_leaves_the_others_their_weights(exponent, sparse):
    """At a price of next to nothing a large column is free; a small one is as good as
    not there.
    """
    X, y = labelled()
    if sparse:
        X, y = X * (np.random.default_rng(0).random(X.shape) < 0.04), X[:, 0] > 0
    signs = np.where(y, 1.0, -1.0)
    penalties = np.ones(20)
    penalties[-1] = 0.0 if exponent > 0 else 1e10
    expected = l1_program(X, signs, penalties, 1.0)[2]
    W = X * np.append(np.ones(19), 10.0**exponent)
    machine = LPSVMClassifier().fit(W, y)
    w = machine.coef_[0]
    b = machine.intercept_[0]
    assert np.abs(w).sum() + slack(W, signs, w, b) == pytest.approx(expected, rel=1e-7)
    assert (
        machine.objectives_[0] == pytest.approx(expected, rel=1e-7)
        and machine.dual_gap_ < 1e-8
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_intercept_takes_up_a_shift(seed):
    X, y = labelled(20, 3, seed)
    near, far = (LPSVMClassifier(C=1e3).fit(X + shift, y) for shift in (0, 1e8))
    assert far.objectives_[0] == pytest.approx(near.objectives_[0], rel=1e-6)


def test_the_gap_is_that_of_the_program_itself():
    """Of the optimum, of a point that is not optimal, and of a dual point that is not
    feasible.
    """
    Z = np.array([[2.0], [1.0]])
    signs = np.array([1.0, -1.0])
    ones = np.ones(1)
    w, b, value, gap = solve_by_simplex(Z, signs, ones, 1.0)
    assert value == pytest.approx(2 / 3) and gap < 1e-12
    assert certified_gap(
        Z, signs, ones, 1.0, np.zeros(1), 2.0, np.full(2, 1 / 3)
    ) == pytest.approx(2 / 3)
    assert certified_gap(Z, signs, ones, 1.0, w, value, np.ones(2)) < 1e-12
    assert certified_gap(Z, signs, 0 * ones, 1.0, w, value, np.full(2, 1 / 3)) > 1


def test_what_cannot_be_certified_is_said():
    pytest.importorskip(
        "scipy", "1.15", reason="HiGHS solves this one to the end there"
    )
    X, y = labelled()
    with pytest.warns(
        ConvergenceWarning,
        match="known to a relative gap of 1e.00 only: scale the features",
    ):
        LPSVMClassifier(1e4).fit(X * np.append(np.ones(19), 1e30), y)


def test_a_gap_that_stays_open_is_said(monkeypatch):
    X, y = labelled()
    solved = svm.l1_program
    monkeypatch.setattr(
        svm, "l1_program", lambda *program: (*solved(*program)[:3], 0.5)
    )
    with pytest.warns(
        ConvergenceWarning,
        match="known to a relative gap of 5e-01 only: scale the features",
    ):
        LPSVMClassifier(1.0).fit(X, y)


@pytest.mark.filterwarnings("ignore:The objective is known")
@pytest.mark.parametrize("alpha", [1e-4, 1e-6])
def test_scad_keeps_the_best_of_its_programs(alpha):
    for seed in range(3):
        X, y = labelled(30, 30, seed)
        machine = SCADSVMClassifier(alpha=alpha).fit(X, y)
        w = machine.coef_[0]
        b = machine.intercept_[0]
        value = (
            scad_penalty(w, alpha, 3.7).sum()
            + slack(X, np.where(y, 1.0, -1.0), w, b) / 30
        )
        assert (np.diff(machine.objectives_) <= 0).all()
        assert value == pytest.approx(machine.objectives_[-1], rel=1e-6, abs=1e-15)


@pytest.mark.parametrize("alpha", [1e-16, 1e-200, 1e300])
def test_a_penalty_that_rounding_decides_is_refused(alpha):
    X, y = labelled()
    with pytest.raises(
        ValueError, match="alpha=1e.* is not possible: give a number from 1e-8 to 1e100"
    ):
        SCADSVMClassifier(alpha=alpha).fit(X, y)


# ---------------------------------------------------------------- units


@pytest.mark.parametrize("kind", ["few entries", "many entries"])
@pytest.mark.parametrize("power", [-200, -3, 40, 200])
def test_another_unit_is_the_same_program_to_the_last_bit(kind, power):
    X, signs = gaussian(60, 30)
    if kind == "few entries":
        X = sp.csr_array(X * (np.arange(30) == np.arange(60)[:, None] % 30))
    penalties = np.linspace(0.5, 2, X.shape[1])
    w, b, value, gap = l1_program(X, signs, penalties, 30.0)
    found = l1_program(X * 2.0**power, signs, penalties, 30.0 * 2.0**-power)
    assert np.any(w) and gap < 1e-8
    assert_array_equal(found[0], w * 2.0**-power)
    assert found[1:] == (b, value * 2.0**-power, gap)


def test_prices_that_a_solver_takes_for_zero():
    """HiGHS takes prices below 1e-7 for zero; the same program with such prices has the
    same weights.
    """
    X, signs = gaussian(30, 12)
    penalties = np.linspace(0.5, 2, 12)
    w, b, value, _ = solve_by_simplex(X * signs[:, None], signs, penalties, 3.0)
    small = solve_by_simplex(X * signs[:, None], signs, 1e-12 * penalties, 3e-12)
    assert_allclose(small[0], w, rtol=1e-9, atol=1e-12)
    assert_allclose(small[1:3], (b, 1e-12 * value), rtol=1e-9)


@swept(
    ("spread", "seed", "sparse"),
    [(8, 1, False), (4, 0, True)],
    [(8, 0, False), (6, 0, False)],
)
def test_samples_of_very_different_length(spread, seed, sparse):
    """At a high price of slack HiGHS fails, or is off by a tenth, in the unit that
    suits a low one.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 80)) * 10 ** rng.uniform(
        -spread / 2, spread / 2, (40, 1)
    )
    if sparse:
        X *= rng.random((40, 80)) < 0.04
    y = rng.random(40) < 0.5
    machine = LPSVMClassifier(1e6).fit(X, y)
    # The same program, unscaled.
    signs = np.where(y, 1.0, -1.0)
    Z = signs[:, None] * X
    prices = np.concatenate([np.ones(160), [0, 0], np.full(40, 1e6)])
    A = np.hstack([-Z, Z, -signs[:, None], signs[:, None], -np.eye(40)])
    least = linprog(prices, A_ub=A, b_ub=-np.ones(40)).fun
    assert machine.dual_gap_ < 1e-6
    assert machine.objectives_[-1] == pytest.approx(least, rel=1e-6)


def test_slack_of_rounding_is_grown_away():
    """At a price of 1e12, a part in 1e9 more of all weights costs less; slack that is
    meant stays.
    """
    X, signs = gaussian(30, 60)
    Z = X * signs[:, None]
    ones = np.ones(60)
    w, b, value, _ = solve_by_simplex(Z, signs, ones, 100.0)
    short = 1 - 1e-9
    grown, c, found = linear_programs.at_price(
        Z, signs, ones, 1e12, short * w, short * b
    )
    assert np.all(Z @ grown + signs * c >= 1) and found == pytest.approx(
        value, rel=1e-7
    )
    assert_allclose(grown, w, rtol=1e-7, atol=1e-12)
    assert np.array_equal(
        linear_programs.at_price(Z, signs, ones, 1e-3, short * w, b)[0], short * w
    )
    half = linear_programs.at_price(Z, signs, ones, 100.0, w / 2, b / 2)
    assert_allclose(half[0], w / 2, rtol=2e-5, atol=1e-12)


@pytest.mark.parametrize("C", [1e9, 1e11, 1e13])
def test_the_gap_is_that_of_the_full_price(C):
    """Separable data, of which none needs slack: the same weights at every price, and
    the gap at this one.
    """
    rng = np.random.default_rng(7)
    X = (rng.standard_normal((40, 80)) * 10 ** rng.uniform(-1, 1, (40, 1)) + 100) * (
        rng.random((40, 80)) < 0.04
    )
    y = rng.random(40) < 0.5
    machine = LPSVMClassifier(C).fit(X, y)
    cheaper = LPSVMClassifier(1e8).fit(X, y)
    assert_allclose(machine.coef_, cheaper.coef_, rtol=1e-9)
    slack = np.maximum(0, 1 - np.where(y, 1, -1) * machine.decision_function(X)).sum()
    assert C * slack <= 1e-7 * machine.objectives_[-1]
    assert machine.dual_gap_ <= 1e-8


def test_slack_that_only_a_high_price_forbids():
    """Two samples of both classes are a thousand million times as short as the rest: no
    slack costs so much weight.
    """
    X, signs = gaussian(30, 60)
    pair = [int(np.argmax(signs > 0)), int(np.argmax(signs < 0))]
    X[pair] *= 1e-9
    slack = {
        C: 1 - signs[pair] * LPSVMClassifier(C).fit(X, signs).decision_function(X[pair])
        for C in (1e6, 1e11)
    }
    assert slack[1e6].sum() > 1 and np.abs(slack[1e11]).max() < 1e-6


def test_the_program_is_never_called_unbounded(monkeypatch):
    """A solver may lose its way in every unit; the message says what can be done."""
    units = []

    def lost(prices, **_):
        units.append(prices.max())
        return OptimizeResult(status=3, message="The problem is unbounded.")

    monkeypatch.setattr(linear_programs, "linprog", lost)
    X, signs = gaussian(30, 12)
    with pytest.raises(
        ValueError,
        match="the samples or the features are of too different size. Scale them",
    ):
        solve_by_simplex(X * signs[:, None], signs, np.linspace(0.5, 2, 12), 30.0)
    assert len(units) == 3
    with pytest.raises(ValueError, match="Scale them"):
        solve_by_simplex(X * signs[:, None], signs, np.zeros(12), 30.0)
    assert len(units) == 4


def test_a_weight_of_any_price_that_nobody_pays():
    X, signs = gaussian(30, 12)
    penalties = np.ones(12)
    expected = l1_program(X[:, 1:], signs, penalties[1:], 3.0)
    for dear in (1e4, 1e150, 1e300):
        penalties[0] = dear
        w, b, value, gap = l1_program(X, signs, penalties, 3.0)
        assert w[0] == 0 and gap < 1e-8
        assert_allclose(w[1:], expected[0], rtol=1e-6, atol=1e-8)
        assert_allclose((b, value), expected[1:3], rtol=1e-6)
