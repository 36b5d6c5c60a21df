"""Solvers in the dual: the small problem, the residual, the surrogate, the directions,
the accelerated solver.
"""

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sp
from cases import (
    dense,
    orthonormal,
    sparse_table,
    swept,
    swept_product,
    swept_seeds,
    with_condition,
)
from dual_cases import (
    ALL,
    LOSSES,
    SQUARES,
    by_scikit_learn,
    certified,
    conjugate_of,
    each_classifier_loss,
    each_loss,
    each_sketch,
    fitted,
    labelled,
    oracle,
    targets,
    with_and_without_intercept,
)
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from sklearn.linear_model import Ridge

from fsel_book import DualProjectionRidge, dual_solvers
from fsel_book.dual_projection import SKETCHES, relative_error
from fsel_book.dual_solvers import (
    ConjugateBasis,
    Objective,
    Problem,
    Surrogate,
    accelerate_all,
    affordable_size,
    euclidean_norm,
    grow_surrogate,
    kernel_row_sums,
    make_surrogate,
    mixed_samples,
    newton_solution,
    no_progress,
    recovery_step,
    relative_to,
    sketched_newton_step,
    slope_lines,
    solve_by_conjugate_gradients,
    solve_on_growing_span,
    surrogate_of_all,
    surrogate_of_longest,
)
from fsel_book.losses import (
    HuberisedHinge,
    LogLoss,
    SmoothedHinge,
    SquaredError,
    SquaredHinge,
)
from fsel_book.spectra import project_data, projection_matrix

size = np.linalg.norm


# ---------------------------------------------------------------- the small problem


@with_and_without_intercept
@pytest.mark.parametrize(
    "shape", [(50, 4), (12, 30), (15, 15)], ids=["tall", "wide", "square"]
)
@each_loss
def test_the_small_problem_by_another_solver(name, shape, intercept):
    for seed, lam in enumerate((0.1, 1.0, 100.0)):
        X, y, rng = labelled(*shape, seed)
        y = targets(name, y, rng)
        offset = rng.standard_normal(shape[0]) if seed else 0.0
        z, b = newton_solution(X, y, lam, ALL[name], offset, intercept)
        assert z.shape == (shape[1],) and isinstance(b, float) and (intercept or b == 0)
        w = oracle(X, y, lam, name, offset, intercept)
        assert relative_error(z, w) < 1e-5  # what the oracle reaches
        assert certified(X, y, lam, ALL[name], z, offset, intercept)[1] < 1e-8
        if intercept:
            assert ALL[name].slope(y, X @ z + b + offset).sum() == pytest.approx(
                0, abs=1e-8
            )


@with_and_without_intercept
@each_loss
def test_the_small_problem_at_the_ends_of_lam(name, intercept):
    """Separable and not, from almost no regularisation to almost nothing else."""
    for noise in (0.0, 3.0):
        X, y, rng = labelled(40, 6, 3, noise)
        y = targets(name, y, rng)
        top = np.linalg.norm(X, 2) ** 2
        offset = 0.3 * X[:, 0]
        for lam in (1e-8, 1e-5, 1e5, 1e10):
            z, b = newton_solution(X, y, lam * top, ALL[name], offset, intercept)
            assert (
                certified(X, y, lam * top, ALL[name], z, offset, intercept)[1] < 1e-5
            ), (noise, lam)


def test_the_small_problem_against_scikit_learn():
    for seed in range(10):
        X, y, _ = labelled(60, 8, seed)
        lam = 10 ** np.random.default_rng(seed).uniform(-2, 2)
        for intercept in (False, True):
            model = by_scikit_learn(X, y, lam, intercept)
            z, b = newton_solution(X, y, lam, LogLoss(), 0.0, intercept)
            assert_allclose(z, model.coef_[0], rtol=1e-7, atol=1e-9)
            assert b == pytest.approx(
                model.intercept_[0] if intercept else 0.0, rel=1e-7, abs=1e-9
            )
            t = X[:, 0] + y
            ridge = Ridge(lam, fit_intercept=intercept)
            z, b = newton_solution(X, t, 2 * lam, SquaredError(), 0.0, intercept)
            assert_allclose(z, ridge.fit(X, t).coef_, rtol=1e-9)
            assert b == pytest.approx(ridge.intercept_, rel=1e-9, abs=1e-12)


@each_loss
def test_where_the_small_problem_starts_does_not_matter(name):
    X, y, rng = labelled(40, 5, 5)
    y = targets(name, y, rng)
    z, b = newton_solution(X, y, 0.7, ALL[name], intercept=True)
    for size in (1e-3, 1.0, 100.0):
        again, _ = newton_solution(
            X, y, 0.7, ALL[name], intercept=True, start=size * rng.standard_normal(6)
        )
        assert_allclose(again, z, atol=1e-9)
    at_once, _ = newton_solution(
        X, y, 0.7, ALL[name], intercept=True, start=np.append(z, b), max_iter=1
    )
    assert_allclose(at_once, z, atol=1e-9)


def test_the_small_problem_stops_when_it_was_told_to():
    """A larger `accuracy` ends sooner, near the solution; Newton's first step solves a
    quadratic problem.
    """
    X, y, _ = labelled(200, 10, 0)
    exact, _ = newton_solution(X, y, 1e-3, LogLoss())
    errors = [
        relative_error(newton_solution(X, y, 1e-3, LogLoss(), accuracy=a)[0], exact)
        for a in (0.5, 1e-2, 1e-6)
    ]
    assert errors[0] > errors[1] > errors[2] > 0 and errors[2] < 1e-4
    once, _ = newton_solution(X, y, 2e-3, SquaredError(), max_iter=1)
    assert_allclose(
        once, np.linalg.solve(X.T @ X + 1e-3 * np.eye(10), X.T @ y), rtol=1e-9
    )


def test_a_small_problem_of_duplicates_and_of_nothing():
    """Equal columns and samples, zero columns: the solution of least norm."""
    X, y, _ = labelled(30, 3, 1)
    z, _ = newton_solution(X, y, 1.0, LogLoss())
    side_by_side, _ = newton_solution(np.hstack([X, X]) / np.sqrt(2), y, 1.0, LogLoss())
    assert_allclose((side_by_side[:3] + side_by_side[3:]) / np.sqrt(2), z, rtol=1e-8)
    padded, _ = newton_solution(np.hstack([X, np.zeros((30, 4))]), y, 1.0, LogLoss())
    assert_allclose(padded, np.append(z, np.zeros(4)), rtol=1e-8, atol=1e-15)
    twice, _ = newton_solution(np.vstack([X, X]), np.append(y, y), 2.0, LogLoss())
    assert_allclose(twice, z, rtol=1e-8)
    nothing, b = newton_solution(
        np.zeros((4, 0)), np.array([1, 1, 1, -1.0]), 1.0, LogLoss(), intercept=True
    )
    assert nothing.shape == (0,) and b == pytest.approx(np.log(3))


# ---------------------------------------------------------------- random matrices


@swept_product(
    ("kind", "order"),
    [("gaussian", "F"), ("sparse-sign", "C"), ("srht", "F"), ("countsketch", "C")],
    SKETCHES,
    ["C", "F"],
)
def test_products_in_every_library(kind, order, library):
    """`X R`, `X'V` and `X'Omega`, for each kind of matrix, wide and tall, whatever the
    form of X.
    """
    for seed, (n, d) in enumerate(((30, 200), (200, 30), (7, 7))):
        host = sparse_table(n, d, 0.2, seed).toarray()
        X = library.make(np.array(host, order=order))
        rng = np.random.default_rng(seed)
        for m in (1, 5, d, d + 3):
            R = projection_matrix(d, m, kind, rng)
            found = project_data(X, R)
            assert isinstance(found, np.ndarray)
            assert_allclose(found, host @ dense(R), atol=1e-12)
        for m in (1, 5, n, n + 3):
            Omega = projection_matrix(n, m, kind, rng)
            mixed = mixed_samples(X, Omega)
            back = dense(mixed) if sp.issparse(mixed) else library.back(mixed)
            assert_allclose(back, host.T @ dense(Omega), atol=1e-12)
            assert_allclose(
                project_data(X, mixed), host @ host.T @ dense(Omega), atol=1e-10
            )
        problem = Problem(X, np.ones(n), 1.0, SquaredError())
        u = np.random.default_rng(0).standard_normal(n)
        w, f = problem.images(u)
        assert library.is_result(w, "float64") and isinstance(f, np.ndarray)
        assert_allclose(library.back(w), host.T @ u, atol=1e-12)
        assert_allclose(f, host @ host.T @ u, atol=1e-10)


@pytest.mark.parametrize("order", ["C", "F"])
def test_products_of_views(order):
    rng = np.random.default_rng(0)
    X = np.array(rng.standard_normal((53, 31)), order=order)
    u = rng.standard_normal(53)
    for rows in (slice(None), slice(None, None, 2)):
        problem = Problem(X[rows], np.ones(len(X[rows])), 1.0, SquaredError())
        assert_allclose(problem.mixture(u[rows]), X[rows].T @ u[rows], atol=1e-12)


def test_lengths():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((5, 4))
    assert euclidean_norm(A) == pytest.approx(np.sqrt(np.sum(A**2)))
    assert euclidean_norm(array_api_strict.asarray(A)) == pytest.approx(
        np.sqrt(np.sum(A**2))
    )
    assert (
        relative_to(3.0, 2.0) == 1.5
        and relative_to(0.0, 0.0) == 0
        and relative_to(1.0, 0.0) == np.inf
    )


@swept("sets", [1000], [20_000])
def test_the_best_intercept_of_decision_values_of_all_sizes(sets):
    """Of 20,000 sets one takes SciPy's method more than its usual 100 steps; and
    diverged ones.
    """
    rng = np.random.default_rng(0)
    for trial in range(sets):
        n = int(rng.integers(2, 30))
        y = np.where(rng.random(n) < rng.uniform(0.02, 0.98), 1.0, -1.0)
        y[:2] = 1, -1
        losses = [
            LogLoss(),
            SmoothedHinge(10 ** rng.uniform(-12, 1)),
            SquaredHinge(),
            None,
            SquaredError(),
        ]
        loss = losses[trial % 5] or HuberisedHinge(10 ** rng.uniform(-12, 1))
        f = (
            rng.standard_normal(n)
            * 10 ** rng.uniform(-3, 20)
            * 10 ** (rng.uniform(-15, 0, n) * rng.integers(0, 2))
        )
        objective = Objective(np.eye(2), y, 1.0, loss, True)
        reach = objective.reach(f)
        # the bracket
        assert objective.dual(f - reach).sum() < 0 < objective.dual(f + reach).sum()
        b = objective.best_intercept(f)
        far = 4e-15 * reach
        assert (
            objective.dual(f + b - far).sum() <= 0 <= objective.dual(f + b + far).sum()
        )
    with np.errstate(over="ignore"):
        assert (
            objective.best_intercept(np.full(n, 1e308))
            == objective.best_intercept(np.full(n, np.nan))
            == 0
        )


# ---------------------------------------------------------------- the algorithms as
# printed


@with_and_without_intercept
@each_classifier_loss
def test_the_solution_stays_where_it_is(name, intercept):
    """A step of Algorithm 2 from the dual solution leads back to it, whatever the
    projection.
    """
    X, y, rng = labelled(25, 60, 5)
    problem = Problem(X, y, 0.6, LOSSES[name], intercept)
    w, b = problem.on(X)
    u = -problem.dual(X @ w + b) / 0.6
    for m in (1, 5, 50):
        Xhat = X @ projection_matrix(60, m, "gaussian", rng)
        assert_allclose(
            X.T @ recovery_step(problem, Xhat, u, X @ w), w, rtol=1e-5, atol=1e-6
        )


# ---------------------------------------------------------------- the residual


@with_and_without_intercept
@each_loss
@swept_seeds(3, 8)
def test_residual_bounds_the_error_and_is_the_duality_gap(seeds, name, intercept):
    loss = ALL[name]
    for seed in seeds:
        X, y, rng = labelled(25, 40, seed)
        lam = 10 ** rng.uniform(-2, 2)
        y = targets(name, y, rng)
        problem = Problem(X, y, lam, loss, intercept)
        w, b = problem.on(X)
        exact = -problem.dual(X @ w + b) / lam
        for distance in (1.0, 1e-2, 1e-4):
            found = problem.solution(
                exact + distance * size(exact) / 5 * rng.standard_normal(25)
            )
            assert_allclose(found.w, X.T @ found.u, rtol=1e-12, atol=1e-12)
            assert_allclose(found.f, X @ found.w, rtol=1e-10, atol=1e-10)
            u = found.u - found.u.mean() if intercept else found.u
            gradient, residual = certified(X, y, lam, loss, found.w, 0.0, intercept)
            assert found.gradient == pytest.approx(gradient, rel=1e-5)
            assert found.residual <= residual * (1 + 1e-5)
            assert size(found.w - w) <= found.residual * size(found.w) * (1 + 1e-6)
            s = X @ found.w + found.b
            a = loss.slope(y, s)
            primal = lam / 2 * size(found.w) ** 2 + loss.value(y, s).sum()
            dual = -loss.conjugate(y, a).sum() - size(X.T @ a) ** 2 / (2 * lam)
            assert primal - dual == pytest.approx(
                found.gradient**2 / (2 * lam), rel=1e-5, abs=1e-8 * primal
            )
            # The dual variables that u itself stands for.
            balanced = problem.solution(u)
            a = -lam * u
            s = balanced.f + balanced.b
            primal = lam / 2 * size(balanced.w) ** 2 + loss.value(y, s).sum()
            dual = -conjugate_of(loss, y, a).sum() - lam / 2 * size(balanced.w) ** 2
            gap = problem.gap(u, balanced.f + balanced.b)
            assert gap == pytest.approx(primal - dual, rel=1e-6, abs=1e-10 * primal)
            _, residual = certified(X, y, lam, loss, balanced.w, 0.0, intercept, u)
            assert balanced.residual == pytest.approx(residual, rel=1e-4)
            assert balanced.residual <= np.sqrt(2 * gap / lam) / size(balanced.w) * (
                1 + 1e-12
            )
            assert size(balanced.w - w) <= balanced.residual * size(balanced.w) * (
                1 + 1e-6
            )
            if intercept:
                assert a.sum() == pytest.approx(0, abs=1e-8)
            else:
                assert found.b == 0
    primal = lam / 2 * size(w) ** 2 + loss.value(y, X @ w + b).sum()
    # a gap is a difference of two values
    assert problem.solution(exact).gradient ** 2 / (2 * lam) < 1e-13 * primal
    assert problem.ridge == lam / loss.smoothness


@each_loss
@swept_seeds(4, 10)
def test_best_intercept(seeds, name):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        y = np.where(rng.random(30) < rng.uniform(0.05, 0.95), 1.0, -1.0)
        y[:2] = 1, -1
        f = 10 ** rng.uniform(-2, 3) * rng.standard_normal(30)
        y = targets(name, y, rng)
        problem = Problem(np.zeros((30, 1)), y, 1.0, ALL[name], True)
        b = problem.best_intercept(f)

        def total(b, y=y, f=f):
            return ALL[name].value(y, f + b).sum()

        least = min(
            minimize_scalar(
                total, bounds=(centre - 60, centre + 60), options={"xatol": 1e-10}
            ).fun
            for centre in [b, 0.0, *-f]
        )
        assert total(b) <= least + 1e-9 * (1 + abs(least))
        assert (
            Problem(np.zeros((30, 1)), y, 1.0, ALL[name], False).best_intercept(f) == 0
        )


@pytest.mark.parametrize("loss", [HuberisedHinge(1e3), SquaredError()])
def test_an_intercept_that_is_far_away(loss):
    """Few samples of one class and a wide loss: the best b is as far away as the loss
    is wide.
    """
    X, y, _ = labelled(100, 5, 0)
    y = np.where(np.arange(100) < 10, -1.0, 1.0) if loss.for_labels else y + 1e6
    problem = Problem(X, y, 1.0, loss, True)
    b = problem.best_intercept(np.zeros(100))
    assert abs(b) > 300 and problem.dual(np.full(100, b)).sum() == pytest.approx(
        0, abs=1e-9 * (100 + abs(b))
    )
    if loss.for_labels:
        assert abs(fitted(X, y, loss, 0.5).intercept_[0]) > 300


# ---------------------------------------------------------------- the surrogate


def nystrom(X, m, kind="gaussian", seed=0):
    Omega = projection_matrix(X.shape[0], m, kind, np.random.default_rng(seed))
    return make_surrogate(X, Omega, project_data(X, mixed_samples(X, Omega)))


SPECTRA = {
    "flat": lambda rng: rng.standard_normal((40, 90)),
    "decay": lambda rng: with_condition(40, 90, 1e6, rng),
    "low rank": lambda rng: rng.standard_normal((40, 7)) @ rng.standard_normal((7, 90)),
    "tall": lambda rng: rng.standard_normal((40, 12)),
    "duplicates": lambda rng: np.repeat(rng.standard_normal((10, 30)), 4, axis=0),
    "sparse": lambda rng: sparse_table(40, 60, 0.1),
    "some zeros": lambda rng: (
        rng.standard_normal((40, 30)) * (np.arange(40) < 15)[:, None]
    ),
}


@each_sketch
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_surrogate(spectrum, kind):
    X = SPECTRA[spectrum](np.random.default_rng(0))
    K = dense(X) @ dense(X).T
    top = size(K, 2)
    rank = np.linalg.matrix_rank(dense(X))
    rng = np.random.default_rng(1)
    for m in (1, 5, 20, 40, 50):
        found = nystrom(X, m, kind)
        k = len(found.s2)
        assert 1 <= k <= min(
            m, rank
        ) and found.V.shape == found.F.shape == found.W.shape == (40, k)
        good = spectrum != "decay"  # X'V is as well-conditioned as the data
        assert_allclose(found.V.T @ found.F, np.eye(k), atol=1e-8 if good else 1e-3)
        assert_allclose(
            found.F,
            K @ found.V,
            atol=1e-8 * np.sqrt(top) if good else 1e-3 * np.sqrt(top),
        )
        Khat = found.W * found.s2 @ found.W.T
        assert_allclose(Khat, found.F @ found.F.T, atol=1e-10 * top)
        assert_allclose(found.W.T @ found.W, np.eye(k), atol=1e-6 if good else 1e-3)
        assert np.linalg.eigvalsh(K - Khat)[0] >= -1e-9 * top  # at most K
        rest = (np.trace(K) - found.s2.sum()) / max(1, 40 - k)
        assert found.tau == pytest.approx(max(rest, 0), abs=1e-12 * top)
        if m >= 40:
            assert_allclose(Khat, K, atol=1e-8 * top)
        full = Khat + found.tau * np.eye(40)
        for lam in (1e-3 * top, top):
            D = rng.uniform(0, 2, 40) * (rng.random(40) < 0.8)
            rhs = rng.standard_normal((40, 3))
            expected = np.linalg.solve(lam * np.eye(40) + D[:, None] * full, rhs)
            assert_allclose(
                found.solve(lam, D, rhs), expected, atol=1e-8 * np.abs(expected).max()
            )
            spread = Khat + found.tau * (np.eye(40) - found.W @ found.W.T)
            dimension = np.trace(spread @ np.linalg.inv(spread + lam * np.eye(40)))
            assert found.effective_dimension(lam) == pytest.approx(dimension, rel=1e-4)


def test_a_surrogate_that_is_the_whole_kernel_leaves_nothing():
    """What rounding leaves of the trace, of either sign, is no eigenvalue: steps with
    it would not be Newton's.
    """
    left = 0
    for seed in range(20):
        X = np.random.default_rng(seed).standard_normal((15, 40))
        found = nystrom(X, 15, seed=seed)
        assert found.tau == 0
        left += size(X) ** 2 - found.s2.sum() > 0
    assert left > 0  # rounding alone decides its sign


def test_a_better_surrogate_is_larger():
    """With more mixtures of samples it grows, and keeps what there is of a low rank."""
    X = with_condition(60, 100, 1e4, np.random.default_rng(0))
    missing = [np.trace(X @ X.T) - nystrom(X, m).s2.sum() for m in (2, 5, 10, 20, 40)]
    assert np.all(np.diff(missing) < 0) and missing[-1] < 1e-4 * missing[0]
    low = np.random.default_rng(1).standard_normal((60, 5)) @ np.random.default_rng(
        2
    ).standard_normal((5, 100))
    assert nystrom(low, 5).tau < 1e-9 * size(low) ** 2 and len(nystrom(low, 20).s2) == 5


@swept("kind", ["gaussian", "countsketch"], ["sparse-sign", "srht"])
def test_a_surrogate_grows_until_it_is_enough(kind):
    rng = np.random.default_rng(0)
    j = np.arange(1.0, 251)
    for s, ridge, expected in (
        (j**-2, 1e-4, 64),
        (np.where(j <= 100, 1, 1e-3), 1e-3, 128),
    ):
        X = orthonormal(250, 250, rng) * s @ orthonormal(6000, 250, rng).T
        found = grow_surrogate(X, ridge, kind, np.random.default_rng(1))
        assert 128 < affordable_size(X) < 256
        assert 0.9 * expected <= len(found.s2) <= expected
        exact = np.sum(s**2 / (s**2 + ridge))
        assert 0.7 < found.effective_dimension(ridge) / exact < 1.3
    assert (
        affordable_size(np.zeros((5, 10**6))) == 5
        and affordable_size(np.zeros((1000, 10))) == 16
    )
    assert (
        affordable_size(np.zeros((1000, 10**6))) == 256
        and affordable_size(np.zeros((1000, 2000))) == 126
    )
    assert (
        affordable_size(
            sp.random_array((1000, 10**4), density=0.01, format="csr", random_state=rng)
        )
        == 28
    )
    small = grow_surrogate(np.eye(3, 10), 1.0, kind, rng)
    assert len(small.s2) == 3


def test_the_surrogate_of_centred_data():
    """Given the sums of the rows of K it is that of the centred samples, its
    coefficients add up to zero.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 50)) + 3
    K = X @ X.T
    centred = X - X.mean(axis=0)
    for Omega in (
        rng.standard_normal((30, 7)),
        projection_matrix(30, 7, "countsketch", rng),
    ):
        found = make_surrogate(X, Omega, K @ dense(Omega), kernel_row_sums(X))
        expected = make_surrogate(centred, Omega, centred @ centred.T @ dense(Omega))
        assert_allclose(found.F @ found.F.T, expected.F @ expected.F.T, atol=1e-9)
        assert found.tau == pytest.approx(expected.tau)
        assert_allclose(found.V.sum(axis=0), 0, atol=1e-13)
        assert_allclose(found.V.T @ found.F, np.eye(len(found.s2)), atol=1e-9)
        assert found.length(np.ones(30)) == pytest.approx(np.sqrt(30 * found.tau))


@with_and_without_intercept
@pytest.mark.parametrize("m", [1, 7, 59, 60, 500])
def test_the_surrogate_of_the_longest_features(m, intercept):
    """Their share of the kernel, of centred samples if there is an intercept; the mean
    of the rest; no products.
    """
    X = sparse_table(40, 60, 0.2) * np.arange(1.0, 61)[::-1]
    rng = np.random.default_rng(0)
    X = sp.csr_array(X)
    A = dense(X) - intercept * dense(X).mean(axis=0)
    K = A @ A.T
    chosen = np.argsort(-np.sum(A**2, axis=0))[:m]
    found = surrogate_of_longest(X, m, intercept)
    assert found.V.shape == found.F.shape == (40, 0) and len(found.s2) == min(m, 60)
    Khat = found.W * found.s2 @ found.W.T
    assert_allclose(Khat, A[:, chosen] @ A[:, chosen].T, atol=1e-10 * size(K, 2))
    assert np.trace(Khat) + 40 * found.tau == pytest.approx(np.trace(K)) and (
        found.tau == 0
    ) == (m >= 60)
    v = rng.standard_normal(40)
    full = Khat + found.tau * np.eye(40)
    assert_allclose(found.product(v), full @ v, atol=1e-10 * size(full @ v))
    assert found.length(v) == pytest.approx(np.sqrt(v @ full @ v))
    # what is kept is for its D only
    for D in (rng.uniform(0, 2, 40), np.ones(40), np.ones(40), rng.uniform(0, 2, 40)):
        for lam in (0.1, 10.0):
            expected = np.linalg.solve(lam * np.eye(40) + D[:, None] * full, v[:, None])
            assert_allclose(
                found.solve(lam, D, v[:, None]),
                expected,
                atol=1e-9 * np.abs(expected).max(),
            )


@with_and_without_intercept
def test_the_surrogate_of_all_features(intercept):
    X = np.random.default_rng(0).standard_normal((30, 7)) + 2
    A = X - intercept * X.mean(axis=0)
    found = surrogate_of_all(X, intercept)
    assert_allclose(found.W * found.s2 @ found.W.T, A @ A.T, atol=1e-12)
    assert found.tau == 0 and found.V.shape == found.F.shape == (30, 0)


def test_the_longest_features_of_nothing():
    found = surrogate_of_longest(sp.csr_array((5, 8)), 3, True)
    assert found.tau == 0 and not found.W.any()
    rhs = np.arange(5.0)[:, None]
    assert_allclose(found.solve(2.0, np.ones(5), rhs), rhs / 2)


@each_loss
def test_rounding_does_not_push_dual_variables_over_the_edge(name):
    """Recovered coefficients are slopes: allowed, however rounded; a hair more is not,
    where there is an edge.
    """
    X, y, rng = labelled(40, 60, 3)
    for lam in 10 ** rng.uniform(-3, 3, 20):
        problem = Problem(X, targets(name, y, rng), lam, ALL[name])
        # samples beyond doubt, on either side
        u = -problem.dual(100 * rng.standard_normal(40)) / lam
        assert np.isfinite(problem.gap(u, problem.images(u)[1]))
        if name not in SQUARES:
            assert (
                problem.gap(u - 1e-9 * y * np.abs(u).max(), problem.images(u)[1])
                == np.inf
            )


def test_a_step_with_the_whole_kernel_is_newton_s():
    """Where the surrogate is K, the step solves a quadratic problem, intercept and all."""
    for intercept in (False, True):
        X, y, rng = labelled(20, 50, 0)
        problem = Problem(
            X, y + rng.standard_normal(20), 0.3, SquaredError(), intercept
        )
        exact = nystrom(X, 20)
        w, _ = problem.on(X)
        u = rng.standard_normal(20)
        u -= u.mean() if intercept else 0
        f = X @ (X.T @ u)
        b = problem.best_intercept(f)
        v = sketched_newton_step(
            problem, exact, u, f + b, 0.3 * u + problem.dual(f + b)
        )
        assert_allclose(X.T @ (u + v), w, rtol=1e-7, atol=1e-9)
        if intercept:
            assert (u + v).sum() == pytest.approx(0, abs=1e-9)
    X, y, rng = labelled(20, 50, 1)
    problem = Problem(X, y, 0.3, LogLoss())
    u = 0.1 * rng.standard_normal(20)
    f = X @ (X.T @ u) + 0.1
    some = nystrom(X, 6)
    r = 0.3 * u + problem.dual(f)
    v = sketched_newton_step(problem, some, u, f, r)
    D = LogLoss().curvature(y, f)
    Khat = some.W * some.s2 @ some.W.T + some.tau * np.eye(20)
    assert_allclose((0.3 * np.eye(20) + D[:, None] * Khat) @ v, -r, atol=1e-10)
    saturated = Problem(100 * X, np.ones(20), 0.3, SmoothedHinge(), True)
    slopes = 0.3 * u + saturated.dual(np.full(20, 50.0))
    # no curvature anywhere
    straight = sketched_newton_step(saturated, some, u, np.full(20, 50.0), slopes)
    assert np.all(np.isfinite(straight))


@each_loss
def test_straight_lines_are_where_a_sample_ends(name):
    """Moved alone by tau, a sample ends where its line says; with tau = 0 and for the
    log loss lines are tangents.
    """
    loss = ALL[name]
    X, y, rng = labelled(40, 60, 2)
    y = targets(name, y, rng)
    problem = Problem(X, y, 0.7, loss)
    u = rng.standard_normal(40)
    f = 3 * rng.standard_normal(40)
    r = 0.7 * u + loss.slope(y, f)
    for tau in (0.0, 0.1, 30.0):
        none = np.empty((40, 0))
        D, at_f = slope_lines(
            problem, Surrogate(none, np.empty(0), tau, none, none), u, f, r
        )
        if tau == 0 or not loss.quadratic_conjugate:
            assert_allclose(D, loss.curvature(y, f))
            assert_allclose(at_f, r, rtol=1e-12, atol=1e-12)
        else:
            moved = u - at_f / (0.7 + tau * D)
            assert_allclose(
                -0.7 * moved, loss.slope(y, f + tau * (moved - u)), atol=1e-10
            )


def test_a_basis_stays_orthonormal():
    """In the norm of K, under directions that are nearly, or quite, combinations of
    those before.
    """
    # Up to rounding, which a nearly dependent direction magnifies; `accelerated`
    # computes the residual anew for that.
    rng = np.random.default_rng(0)
    for condition in (1.0, 10.0):
        X = with_condition(30, 50, condition, rng)
        K = X @ X.T
        basis = ConjugateBasis(30)
        v = rng.standard_normal(30)
        basis.add(v, K @ v)
        for t in range(20):
            kind = t % 4
            new = rng.standard_normal(30)
            v = {
                0: new,
                1: v + 1e-4 * new,
                2: basis.V @ rng.standard_normal(basis.V.shape[1]),
                3: 100 * v + new,
            }[kind]
            before = basis.V.shape[1]
            basis.add(v, K @ v)
            if kind == 0:
                assert basis.V.shape[1] == before + 1
        k = basis.V.shape[1]
        assert 6 <= k <= 21
        assert_allclose(basis.V.T @ basis.F, np.eye(k), atol=1e-4)
        assert_allclose(basis.V.T @ K @ basis.V, np.eye(k), atol=1e-4)
    u = basis.V @ rng.standard_normal(k)
    last = basis.V[:, -5:].copy()
    basis.restart(u, K @ u, 5)
    assert basis.V.shape[1] == 6
    assert_allclose(basis.V.T @ basis.F, np.eye(6), atol=1e-4)
    for v in (u, *last.T):  # all of it is still there
        assert_allclose(basis.V @ (basis.F.T @ v), v, atol=1e-4 * np.abs(v).max())
    zero = ConjugateBasis(30)
    zero.add(np.zeros(30), np.zeros(30))
    assert zero.V.shape == zero.F.shape == (30, 0)


# ---------------------------------------------------------------- the accelerated
# solver


def test_progress_is_seen_behind_an_early_residual_that_is_small_by_chance():
    steady = np.ones(30)
    falling = np.geomspace(1, 1e-3, 30)
    assert not no_progress(list(falling), list(steady), 20)
    lucky = falling.copy()
    lucky[2] = 1e-6
    assert not no_progress(list(lucky), list(steady), 20)
    assert no_progress(list(falling[::-1]), list(steady), 20)
    assert no_progress([1e-3] * 30, list(steady), 20)
    assert not no_progress([1e-3] * 30, list(falling), 20)  # the objective still falls
    assert not no_progress([1e-3] * 19, list(steady[:19]), 20)  # too early to tell


on_all_directions = pytest.mark.parametrize(
    "solve", [solve_on_growing_span, solve_by_conjugate_gradients]
)


@on_all_directions
@pytest.mark.parametrize("distinct", [1, 2, 3, 5])
def test_as_many_steps_as_distinct_eigenvalues(distinct, solve):
    """The squared error without an intercept, the identity as preconditioner: exact at
    the end.
    """
    rng = np.random.default_rng(distinct)
    s = np.sqrt(np.arange(1, distinct + 1, dtype=float))[np.arange(24) % distinct]
    X = orthonormal(24, 24, rng) * s @ orthonormal(60, 24, rng).T
    problem = Problem(X, rng.standard_normal(24), 0.1, SquaredError())
    nothing = Surrogate(
        np.zeros((24, 0)), np.zeros(0), 1.0, np.zeros((24, 0)), np.zeros((24, 0))
    )
    u, history = solve(problem, nothing, [], 1e-9, 50)
    assert (
        len(history) == distinct + (solve is solve_on_growing_span)
        and history[-1] <= 1e-9
    )
    assert min(history[:-1], default=1) > 1e-4
    assert relative_error(X.T @ u, problem.on(X)[0]) < 1e-9


def test_iterates_are_the_best_of_their_krylov_space():
    X, y, rng = labelled(30, 60, 0)
    problem = Problem(X, y, 1.0, SquaredError())
    some = nystrom(X, 8)
    K = X @ X.T
    Hhat = some.W * some.s2 @ some.W.T + (0.5 + some.tau) * np.eye(30)
    space = np.linalg.solve(Hhat, y)[:, None]
    operator = np.linalg.solve(Hhat, K + 0.5 * np.eye(30))
    for steps in range(1, 7):
        u, _ = solve_on_growing_span(problem, some, [], 1e-14, steps + 1)
        directions = np.linalg.qr(X.T @ np.linalg.qr(space)[0])[0]
        best = directions @ problem.on(X @ directions)[0]
        objective = [problem.value(X @ w, size(w)) for w in (X.T @ u, best)]
        assert objective[0] == pytest.approx(objective[1], rel=1e-8)
        space = np.column_stack([space, operator @ space[:, -1] / size(space[:, -1])])


def krylov_space(problem, surrogate, steps):
    """The span that is searched in so many steps for the squared error, and the system
    and its right-hand side.
    """
    X = problem.X
    y = problem.y
    lam = problem.lam
    middle = np.eye(len(y)) - problem.intercept / len(y)
    system = lam * np.eye(len(y)) + 2 * middle @ X @ X.T @ middle
    target = 2 * middle @ y
    P = lam * np.eye(len(y)) + 2 * (
        surrogate.W * surrogate.s2 @ surrogate.W.T + surrogate.tau * np.eye(len(y))
    )
    space = np.linalg.solve(P, target)[:, None]
    for _ in range(steps - 1):
        more = np.linalg.solve(P, system @ space[:, -1])
        space = np.column_stack([space, more / size(more)])
    return space, system, target


@with_and_without_intercept
@swept("seed", range(2), range(2, 10))
def test_conjugate_gradients_are_the_best_of_their_krylov_space(seed, intercept):
    """In the norm of the dual system; each bound in the history holds."""
    X, y, rng = labelled(30, 60, seed)
    problem = Problem(X, y + rng.standard_normal(30), 1.0, SquaredError(), intercept)
    centred = X - X.mean(axis=0) if intercept else X
    exact = (
        centred.T
        @ np.linalg.lstsq(*krylov_space(problem, nystrom(centred, 8), 1)[1:])[0]
    )
    for steps in range(1, 7):
        u, history = solve_by_conjugate_gradients(
            problem, nystrom(centred, 8), [], 1e-14, steps
        )
        space, system, target = krylov_space(problem, nystrom(centred, 8), steps)
        best = space @ np.linalg.solve(space.T @ system @ space, space.T @ target)
        assert_allclose(u, best, rtol=1e-7, atol=1e-8 * size(best))
        assert relative_error(exact, X.T @ u) <= history[-1] * (1 + 1e-9)
        f = problem.balanced(X @ (X.T @ u))
        f += problem.best_intercept(f)
        assert history[-1] == pytest.approx(
            problem.residual(u, f, size(X.T @ u)), rel=1e-6
        )


@swept("shape", [(40, 12), (12, 40)], [(300, 40), (40, 300)])
@with_and_without_intercept
def test_the_linear_system_from_any_start(shape, intercept):
    X, y, rng = labelled(*shape, 3)
    problem = Problem(X, y, 0.5, SquaredError(), intercept)
    some = nystrom(X - intercept * X.mean(axis=0), 4)
    model = Ridge(0.25, fit_intercept=intercept, solver="svd").fit(X, y)
    near = problem.balanced(2 * (y - model.predict(X)) / 0.5)
    starts = [problem.direction(v) for v in (near, rng.standard_normal(len(y)))]
    for start, tol in (([], 1e-10), (starts[1:], 1e-10), (starts, 1e-5)):
        u, history = solve_by_conjugate_gradients(problem, some, start, tol, 200)
        assert history[-1] <= tol and abs(u.sum()) * intercept < 1e-9
        assert_allclose(X.T @ u, model.coef_, rtol=1e-8, atol=1e-9)
    assert len(history) == 1  # the solution was among the starts


@pytest.mark.parametrize(
    ("alpha", "solver"), [(1.0, "conjugate gradients"), (1e-5, "growing span")]
)
def test_the_linear_system_is_solved_where_rounding_allows(monkeypatch, alpha, solver):
    """More samples than features: the part of `u` that does nothing grows like 1 /
    alpha, and so does its rounding.
    """
    X, _, rng = labelled(60, 12, 0)
    t = X[:, 0] + rng.standard_normal(60)
    used = []
    for name in ("solve_by_conjugate_gradients", "solve_on_growing_span"):
        real = getattr(dual_solvers, name)
        monkeypatch.setattr(
            dual_solvers,
            name,
            lambda *a, name=name, real=real, **rest: (
                used.append(name),
                real(*a, **rest),
            )[1],
        )
    model = DualProjectionRidge(alpha, n_projections=5, tol=1e-6, random_state=0).fit(
        sp.csr_array(X), t
    )
    assert used[0] == "solve_" + (
        "by_" if "conjugate" in solver else "on_"
    ) + solver.replace(" ", "_")
    assert_allclose(model.coef_, Ridge(alpha, solver="svd").fit(X, t).coef_, rtol=1e-6)


def test_a_linear_fit_takes_a_pair_of_products_for_each_step(monkeypatch):
    """And one more for the solution; its surrogate, made once, may be larger than that
    of other losses.
    """
    X = sp.random_array(
        (400, 900), density=0.2, random_state=np.random.default_rng(0), format="csr"
    )
    y = X[:, :9].sum(axis=1) - 0.9
    pairs = []
    images = Objective.images
    monkeypatch.setattr(
        Objective,
        "images",
        lambda problem, u: (pairs.append(u), images(problem, u))[1],
    )
    model = DualProjectionRidge(tol=1e-2, random_state=0).fit(X, y)
    assert len(pairs) == model.n_iter_ + 1 > 3
    assert model.n_projections_ == affordable_size(X, 24) > affordable_size(X)


def test_a_residual_of_conjugate_gradients_is_what_can_be_shown():
    """The gap from `r` itself knows nothing of rounding in the gap that is shown at the
    end.
    """
    X, _, rng = labelled(60, 12, 0)
    t = X[:, 0] + rng.standard_normal(60)
    problem = Problem(X, t - t.mean(), 0.02, SquaredError(), True)
    u, history = solve_by_conjugate_gradients(
        problem, nystrom(X - X.mean(axis=0), 5), [], 1e-7, 300
    )
    assert history[-1] <= 1e-7 and problem.solution(u, 1e-7).residual <= 2e-7


def test_a_residual_that_is_zero_ends_the_search():
    nothing = Surrogate(
        np.zeros((4, 0)), np.zeros(0), 1.0, np.zeros((4, 0)), np.zeros((4, 0))
    )
    y = np.array([1.0, -1.0, 2.0, 0.0])
    u, history = solve_by_conjugate_gradients(
        Problem(np.eye(4), y, 2.0, SquaredError()), nothing, [], 1e-30, 50
    )
    assert np.array_equal(u, y / 2) and len(history) == 1
    u, history = solve_by_conjugate_gradients(
        Problem(np.eye(4), 0 * y, 2.0, SquaredError()), nothing, [], 1e-4, 50
    )
    assert not u.any() and history == [0.0]


def test_one_inverse_for_many_vectors():
    X, _, rng = labelled(30, 60, 0)
    for some in (
        nystrom(X, 8),
        surrogate_of_longest(sp.csr_array(X), 8, True),
        surrogate_of_all(X[:, :5], False),
    ):
        v = rng.standard_normal((30, 3))
        found = np.column_stack([some.inverse(0.3, 2.0)(column) for column in v.T])
        assert_allclose(
            found, some.solve(0.3, np.full(30, 2.0), v), rtol=1e-9, atol=1e-12
        )
        whole = some.W * some.s2 @ some.W.T + some.tau * np.eye(30)
        assert some.trace == pytest.approx(np.trace(whole))


def test_many_steps_that_begin_anew():
    """A surrogate of one vector and a spectrum that takes more directions than are
    kept.
    """
    rng = np.random.default_rng(0)
    X = (
        orthonormal(120, 120, rng)
        * np.logspace(0, -3, 120)
        @ orthonormal(130, 120, rng).T
    )
    y = rng.choice([-1.0, 1.0], 120)
    for loss in (SquaredError(), LogLoss()):
        problem = Problem(X, y, 1e-5, loss)
        (found,), _ = accelerate_all([problem], [None], 1, "gaussian", 1e-6, 2000, rng)
        solution, history = found
        assert len(history) > min(80, 2 * affordable_size(X)) and history[-1] <= 1e-6
        assert certified(X, y, 1e-5, loss, solution.w, u=solution.u)[1] <= 1.1e-6


# ---------------------------------------------------------------- data of every kind


def test_a_flat_direction_is_no_proof():
    """A solution that is ten times off where the gradient cannot tell: the residual
    says that it may be.
    """
    s = np.array([1, 1, 1, 1, 1e-9])
    t = np.random.default_rng(0).standard_normal(60)
    t[4] = 0  # so that the last feature has no weight
    X = np.eye(60, 5) * s
    w = t[:5]
    wrong = w + 10 * size(w) * np.eye(5)[4]
    u = np.append(wrong / s, np.zeros(55))
    found = Problem(X, t, 1e-30, SquaredError()).solution(u)
    assert relative_error(found.w, w) > 5
    assert size(found.w - w) <= found.residual * size(found.w)
