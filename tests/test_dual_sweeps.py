"""Sweeps over the samples of sparse data: each move, a sweep, what comes of many, and
when they are used.
"""

import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from cases import sparse_table
from dual_cases import LOSSES, certified, labelled, oracle, with_and_without_intercept
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.preprocessing import normalize

from fsel_book import (
    DualProjectionClassifier,
    DualProjectionRidge,
    dual_solvers,
    load_docstrings,
)
from fsel_book.dual_solvers import (
    Problem,
    Sweeps,
    compiled_sweep,
    coordinate_sweep,
    other_class,
    possible_sweeps,
)
from fsel_book.losses import LogLoss, SquaredHinge

FOR_SWEEPS = [name for name in LOSSES if name != "squared_error"]

each_loss_for_sweeps = pytest.mark.parametrize("name", FOR_SWEEPS)


def compiled():
    pytest.importorskip("numba", reason="Numba is not installed")
    return compiled_sweep()


def counts(n=40, d=120, seed=0):
    """Labelled counts as of words: common ones in every row, rows of uneven length, one
    of them empty.
    """
    rng = np.random.default_rng(seed)
    X = rng.poisson(4 / np.arange(1, d + 1), (n, d)) * rng.integers(
        1, 30, (n, 1)
    ).astype(float)
    X[3] = 0
    y = np.sign(X @ rng.standard_normal(d) + rng.standard_normal(n))
    y[:2] = 1, -1
    return sp.csr_array(X), y


def dual_value(problem, u):
    """What a sweep makes small, without an intercept."""
    w = problem.mixture(u)
    a = np.clip(-problem.lam * u, *problem.loss.domain(problem.y))
    return problem.lam / 2 * w @ w + problem.loss.conjugate(problem.y, a).sum()


@pytest.fixture
def every_size(monkeypatch):
    """Sweeps on data of every size, compiled or not."""
    monkeypatch.setattr(dual_solvers, "WORTH_SWEEPS", 0)
    if compiled_sweep() is None:
        monkeypatch.setattr(dual_solvers, "compiled_sweep", lambda: coordinate_sweep)


# ---------------------------------------------------------------- one move


@pytest.mark.parametrize("old", [0.0, 1e-200, 1e-9, 0.3, 1 - 1e-12, 1.0])
@pytest.mark.parametrize("stiffness", [0.0, 1e-6, 1.0, 1e3, 1e12])
@pytest.mark.parametrize("margin", [-1e9, -800.0, -3.0, 0.0, 1e-3, 40.0, 1e9])
def test_a_move_with_the_log_loss_gains_nearly_all_that_there_is(
    margin, stiffness, old
):
    def value(q):
        """What the best probability makes least."""
        inside = (0 < q) & (q < 1)
        p = np.where(inside, q, 0.5)
        entropy = np.where(inside, p * np.log(p) + (1 - p) * np.log1p(-p), 0)
        return entropy + margin * q + stiffness / 2 * (q - old) ** 2

    with np.errstate(all="raise", under="ignore"):
        found = other_class(margin, stiffness, old)
    assert 0 <= found <= 1
    # All probabilities, near the ends too: 1 / (1 + exp(x)) at 300,001 places.
    x = np.concatenate([np.linspace(-700, 700, 100_001), np.linspace(-40, 40, 200_000)])
    away = np.exp(-np.abs(x))
    best = value(np.where(x > 0, away, 1) / (1 + away)).min()
    best = min(best, value(np.array(0.0)), value(np.array(1.0)))
    rounding = 1e-12 * (1 + abs(margin) + stiffness)
    assert (
        value(np.array(found)) - best
        <= 0.02 * max(value(np.array(old)) - best, 0) + rounding
    )


@each_loss_for_sweeps
@pytest.mark.parametrize("elastic", [0.0, 1e5])
def test_the_sample_that_moved_last_meets_its_slope(name, elastic):
    X, y = counts()
    problem = Problem(X, y, 0.5, LOSSES[name])
    sweeps = Sweeps(coordinate_sweep, 0.0, np.random.default_rng(0))
    u = np.zeros(len(y))
    w = np.zeros(X.shape[1])
    b = 0.1
    for order in [*np.tile(np.arange(len(y)), (200, 1)), [5]]:
        rest = 0.5, sweeps.pieces(problem), name == "log_loss", elastic, u, w, b
        b = coordinate_sweep(X.data, X.indices, X.indptr, np.array(order), *rest)[1]
    assert_allclose(w, X.T @ u, rtol=1e-12, atol=1e-12)
    assert_allclose(b, 0.1 + elastic * u.sum(), rtol=1e-9)
    assert_allclose(
        -0.5 * u[5], LOSSES[name].slope(y, X @ w + b)[5], rtol=1e-3, atol=1e-9
    )
    # One that is far from where it should be gets there in one move.
    w -= X[[5]].toarray()[0] * u[5]
    b -= elastic * u[5]
    u[5] = 0
    rest = 0.5, sweeps.pieces(problem), name == "log_loss", elastic, u, w, b
    b = coordinate_sweep(X.data, X.indices, X.indptr, np.array([5]), *rest)[1]
    assert_allclose(
        -0.5 * u[5], LOSSES[name].slope(y, X @ w + b)[5], rtol=0.02, atol=1e-9
    )


# ---------------------------------------------------------------- a sweep


@each_loss_for_sweeps
@pytest.mark.parametrize("elastic", [0.0, 2.0])
def test_compiled_and_plain_sweeps_agree(name, elastic):
    sweep = compiled()
    X, y = counts()
    pieces = Sweeps(sweep, 0.0, np.random.default_rng(0)).pieces(
        Problem(X, y, 0.5, LOSSES[name])
    )
    ends = []
    for loop in (sweep, coordinate_sweep):
        rng = np.random.default_rng(1)
        u = np.zeros(len(y))
        w = np.zeros(X.shape[1])
        b = 0.3
        moved = []
        for _ in range(5):
            rest = 0.5, pieces, name == "log_loss", elastic, u, w, b
            step, b = loop(X.data, X.indices, X.indptr, rng.permutation(len(y)), *rest)
            moved.append(step)
        ends.append((u, w, b, moved))
    for found, expected in zip(*ends):
        assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


@each_loss_for_sweeps
@pytest.mark.parametrize("lam", [1e-3, 1.0, 1e3])
def test_no_sweep_raises_the_dual(name, lam):
    X, y = counts()
    problem = Problem(X, y, lam, LOSSES[name])
    sweeps = Sweeps(coordinate_sweep, 0.0, np.random.default_rng(0), 1)
    u = np.zeros(len(y))
    values = []
    for _ in range(15):
        values.append(dual_value(problem, u))
        u = sweeps.improved(problem, u, 0.0)
    assert np.all(np.diff(values) <= 1e-12 * np.abs(values[0]))
    assert values[-1] < values[0]


@each_loss_for_sweeps
@with_and_without_intercept
def test_many_sweeps_end_at_the_solution(name, intercept):
    X = sparse_table(30, 80, 0.2, seed=1)
    y = labelled(30, 80, seed=1)[1]
    problem = Problem(X, y, 2.0, LOSSES[name], intercept)
    sweeps = Sweeps(
        compiled_sweep() or coordinate_sweep, 1e-12, np.random.default_rng(0), 3000
    )
    u = sweeps.improved(problem, np.zeros(30), 0.0)
    if intercept:
        assert abs(u.sum()) <= 1e-12 * np.abs(u).sum()
    low, high = problem.loss.domain(y)
    assert np.all((low <= -2.0 * u) & (-2.0 * u <= high))
    found = problem.solution(u)
    assert (
        certified(X, y, 2.0, LOSSES[name], found.w, intercept=intercept, u=u)[1] <= 1e-7
    )
    expected = oracle(X.toarray(), y, 2.0, name, intercept=intercept)
    assert_allclose(found.w, expected, atol=1e-4 * np.linalg.norm(expected))
    # There a sweep moves nothing.
    again = Sweeps(coordinate_sweep, 0.0, np.random.default_rng(1), 1).improved(
        problem, u, found.b
    )
    assert_allclose(
        problem.mixture(again), found.w, atol=1e-8 * np.linalg.norm(found.w)
    )


def test_evened_dual_variables_stay_on_their_side():
    sweeps = Sweeps(coordinate_sweep, 0.0, np.random.default_rng(0))
    assert_allclose(sweeps.evened(np.array([3.0, 1, -1, -1])), [1.5, 0.5, -1, -1])
    assert_allclose(sweeps.evened(np.array([1.0, -3, -1, 0])), [1, -0.75, -0.25, 0])
    assert_array_equal(sweeps.evened(np.array([2.0, 1, 0])), [0, 0, 0])
    assert_array_equal(sweeps.evened(np.zeros(3)), np.zeros(3))


def test_sweeps_stop_when_little_moves():
    X, y = counts()
    counted = []

    def sweep(*args):
        counted.append(1)
        return coordinate_sweep(*args)

    for small in (1.0, 1e-2, 1e-4, 0.0):
        counted.clear()
        Sweeps(sweep, small, np.random.default_rng(0)).improved(
            Problem(X, y, 1e4, LogLoss()), np.zeros(40), 0.0
        )
        small_steps = len(counted)
        assert small_steps <= 30 and (small_steps == 30) == (small == 0.0)


# ---------------------------------------------------------------- the classifier


@each_loss_for_sweeps
@with_and_without_intercept
@pytest.mark.parametrize("alpha", [0.01, 1.0, 100.0])
def test_the_same_answers_with_and_without_sweeps(
    name, intercept, alpha, every_size, monkeypatch
):
    X = sparse_table(60, 200, 0.1, seed=2)
    y = labelled(60, 200, seed=2)[1]
    model = DualProjectionClassifier(
        name, alpha, tol=1e-8, fit_intercept=intercept, random_state=0, max_iter=500
    )
    fits = [model.fit(X, y).coef_[0]]
    assert model.residual_history_[-1] <= 1e-8
    w = model.coef_[0]
    u = model.dual_coef_[0]
    assert (
        certified(X, y, 2 * alpha, LOSSES[name], w, intercept=intercept, u=u)[1]
        <= 1.1e-8
    )
    monkeypatch.setattr(dual_solvers, "compiled_sweep", lambda: None)
    fits.append(model.fit(X, y).coef_[0])
    assert model.residual_history_[-1] <= 1e-8 and model.n_projections_ > 0
    assert_allclose(*fits, atol=3e-8 * np.linalg.norm(fits[0]))


@each_loss_for_sweeps
@with_and_without_intercept
@pytest.mark.parametrize("alpha", [0.1, 1e3])
def test_counts_of_uneven_rows_and_an_empty_one(name, intercept, alpha, every_size):
    X, y = counts()
    model = DualProjectionClassifier(
        name, alpha, tol=1e-4, fit_intercept=intercept, random_state=0, max_iter=1000
    )
    model.fit(X, y)
    assert model.residual_history_[-1] <= 1e-4
    w = model.coef_[0]
    u = model.dual_coef_[0]
    assert (
        certified(X, y, 2 * alpha, LOSSES[name], w, intercept=intercept, u=u)[1]
        <= 1.01e-4
    )
    if not intercept and name == "log_loss":
        # the empty row: its decision value is 0
        assert_allclose(abs(2 * alpha * u[3]), 0.5, atol=1e-4)


def test_one_sample_of_a_class(every_size):
    X = sparse_table(50, 100, 0.2)
    y = np.ones(50)
    y[7] = -1
    for name in FOR_SWEEPS:
        model = DualProjectionClassifier(name, 0.5, tol=1e-6, random_state=0).fit(X, y)
        w = model.coef_[0]
        u = model.dual_coef_[0]
        assert (
            certified(X, y, 1.0, LOSSES[name], w, intercept=True, u=u)[1] <= 1.01e-6
        ), name


def test_several_classes_and_warm_starts(every_size):
    X = sparse_table(80, 150, 0.2)
    y = np.arange(80) % 3
    model = DualProjectionClassifier(
        alpha=0.5, tol=1e-6, random_state=0, warm_start=True
    ).fit(X, y)
    assert model.n_projections_ == 0 and model.coef_.shape == (3, 150)
    for k in range(3):
        sign = np.where(y == k, 1.0, -1.0)
        u = model.dual_coef_[k]
        assert (
            certified(X, sign, 1.0, LogLoss(), model.coef_[k], intercept=True, u=u)[1]
            <= 1.01e-6
        )
    before = model.coef_
    model.fit(X, y)
    assert model.n_iter_ == 1
    assert_allclose(model.coef_, before, atol=1e-15)


def test_the_random_state_decides(every_size):
    X = sparse_table(50, 100, 0.2)
    y = labelled(50, 100)[1]
    fits = [
        DualProjectionClassifier(tol=1e-2, random_state=seed).fit(X, y).coef_
        for seed in (0, 0, 1)
    ]
    assert_array_equal(fits[0], fits[1])
    assert np.any(fits[0] != fits[2])


def test_all_forms_of_the_same_sparse_data(every_size):
    X = sparse_table(50, 100, 0.2)
    y = labelled(50, 100)[1]
    model = DualProjectionClassifier(tol=1e-3, random_state=0)
    expected = model.fit(X, y).coef_
    long = X.copy()
    long.indices = X.indices.astype(np.int64)
    long.indptr = X.indptr.astype(np.int64)
    frozen = X.copy()
    for part in (frozen.data, frozen.indices, frozen.indptr):
        part.flags.writeable = False
    for form in (long, frozen, sp.csr_matrix(X), X.tocsc(), X.tocoo()):
        assert_array_equal(model.fit(form, y).coef_, expected)
    kept = X.data.copy()
    model.fit(X, y)
    assert_array_equal(X.data, kept)
    single = model.fit(X.astype(np.float32), y)
    assert single.coef_.dtype == np.float32
    assert_allclose(single.coef_, expected, atol=1e-3 * np.linalg.norm(expected))


@pytest.mark.parametrize("power", [-160, 0, 160])
def test_data_of_extreme_size(power, every_size):
    X = sparse_table(50, 100, 0.2)
    y = labelled(50, 100)[1]
    model = DualProjectionClassifier(alpha=2.0 ** (2 * power), tol=1e-6, random_state=0)
    coef = model.fit(X * 2.0**power, y).coef_ * 2.0**power
    assert certified(X, y, 2.0, LogLoss(), coef[0], intercept=True)[1] <= 2e-6


def test_documents_take_sweeps_alone():
    """The data of the docstrings have more entries than `WORTH_SWEEPS`."""
    compiled()
    documents = load_docstrings()
    X = normalize(documents.data.astype(float))
    y = documents.target == documents.target[0]
    model = DualProjectionClassifier(alpha=0.5, tol=1e-3, random_state=0).fit(X, y)
    assert (
        model.n_projections_ == 0
        and model.n_iter_ <= 2
        and model.residual_history_[-1] <= 1e-3
    )


# ---------------------------------------------------------------- when they are used


def test_when_sweeps_are_used(every_size):
    X = sparse_table(40, 60, 0.2)
    y = labelled(40, 60)[1]

    def swept(X=X, y=y, **given):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return (
                DualProjectionClassifier(**{"alpha": 10.0, "random_state": 0, **given})
                .fit(X, y)
                .n_projections_
                == 0
            )

    assert all(swept(loss=name) for name in FOR_SWEEPS)
    assert not swept(loss="squared_error")  # conjugate gradients
    assert not swept(X.toarray())
    assert not swept(X[:, :30])  # more samples than features
    assert (
        not swept(n_projections=5)
        and not swept(sketch="gaussian")
        and not swept(solver="iterate")
    )
    assert DualProjectionRidge(random_state=0).fit(X, y).n_projections_ > 0

    class Own(SquaredHinge):
        quadratic_conjugate = False

    assert not swept(loss=Own())


def test_small_data_do_not_wait_for_numba(monkeypatch):
    def load():
        raise AssertionError("not here")

    monkeypatch.setattr(dual_solvers, "compiled_sweep", load)
    X = sparse_table(40, 60, 0.2)
    y = labelled(40, 60)[1]
    assert DualProjectionClassifier(random_state=0).fit(X, y).n_projections_ > 0


def test_without_numba(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    compiled_sweep.cache_clear()
    try:
        assert compiled_sweep() is None
        monkeypatch.setattr(dual_solvers, "WORTH_SWEEPS", 0)
        X = sparse_table(40, 60, 0.2)
        y = labelled(40, 60)[1]
        problem = Problem(X, y, 1.0, LogLoss())
        assert possible_sweeps(problem, 1e-4, np.random.default_rng(0)) is None
        model = DualProjectionClassifier(tol=1e-6, random_state=0).fit(X, y)
        assert model.n_projections_ > 0 and model.residual_history_[-1] <= 1e-6
    finally:
        compiled_sweep.cache_clear()


def test_where_compiled_code_cannot_be_kept(monkeypatch):
    numba = pytest.importorskip("numba", reason="Numba is not installed")
    original = numba.njit

    def njit(*args, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function")
        return original(*args, **options)

    monkeypatch.setattr(numba, "njit", njit)
    compiled_sweep.cache_clear()
    try:
        X, y = counts()
        u = np.zeros(len(y))
        pieces = np.column_stack([y, 0 * y, 0 * y, 0 * y])
        rest = 0.5, pieces, True, 0.0, u, np.zeros(X.shape[1]), 0.0
        compiled_sweep()(X.data, X.indices, X.indptr, np.arange(len(y)), *rest)
        assert np.all(u * y > 0)
    finally:
        compiled_sweep.cache_clear()


# ---------------------------------------------------------------- directions


@with_and_without_intercept
def test_sweeps_too_few_to_solve_it_give_directions(intercept, every_size):
    """Long rows and weak regularisation: the first sweeps do not end within the
    tolerance, later ones do.
    """
    X, y = counts(80, 200, seed=3)
    model = DualProjectionClassifier(
        alpha=1e-2, tol=1e-6, fit_intercept=intercept, random_state=0, max_iter=500
    )
    model.fit(X, y)
    assert model.n_iter_ > 1 and model.n_projections_ == 0
    w = model.coef_[0]
    u = model.dual_coef_[0]
    assert certified(X, y, 2e-2, LogLoss(), w, intercept=intercept, u=u)[1] <= 1.01e-6


def test_a_loss_with_corners_and_an_intercept_goes_on_with_the_surrogate(every_size):
    X, y = counts(80, 200, seed=3)
    for intercept in (False, True):
        model = DualProjectionClassifier(
            "squared_hinge", 1e-2, tol=1e-6, fit_intercept=intercept, random_state=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert (model.fit(X, y).n_projections_ > 0) == intercept
