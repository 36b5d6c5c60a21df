"""What the chapter on consistency proves about objectives and paths, with its constants, and what older
statements would say.
"""

import itertools

import numpy as np
import pytest
from cases import swept, swept_seeds
from numpy.testing import assert_allclose
from scipy.stats import binom
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from fsel_book.elimination import risk_rfe_reference
from fsel_book.kernel_machines import EmpiricalRisk
from fsel_book.kernels import CallableKernel
from fsel_book.losses import LOSSES, get_loss
from fsel_book.warm_fits import cold_fit

SQUARES = ("squared_hinge", "squared_error")


def left_out(K, loss, y, lam):
    """Z, and for every sample Z without it, its loss with it and without it."""
    n = len(y)
    rows = np.arange(len(y))
    risk = EmpiricalRisk(loss, y, 1 / (2 * n * lam))
    u, value, _ = cold_fit(K, risk, False)
    found = []
    for i in rows:
        others = np.delete(rows, i)
        v, without, _ = cold_fit(K[np.ix_(others, others)], risk.on(others), False)
        found.append(
            (
                without,
                *get_loss(loss).value(
                    y[[i, i]], np.array([K[i] @ u, K[i, others] @ v])
                ),
            )
        )
    scale = 2 * n * lam
    return scale * value, *(np.array(found).T * [[scale], [1], [1]])


@swept_seeds(2, 4)
@pytest.mark.parametrize("loss", LOSSES)
@swept("n_lam", [2.5], [10.0])
def test_one_sample_pulls_its_own_loss_no_further_than_stated(loss, n_lam, seeds):
    """Lemma of one sample, and the two properties of a self-bounding function."""
    a, b, h, n = *((0, 4) if loss in SQUARES else (1, 0)), 1 / (2 * n_lam), 25
    lam = n_lam / n
    B = (1 + lam**-0.5) ** 2 if b else 1 + lam**-0.5
    for seed in seeds:
        rng = np.random.default_rng(seed)
        A = rng.uniform(-1, 1, (n, 3))
        y = np.sign(A[:, 0] * A[:, 1]) if seed % 2 else rng.choice([-1.0, 1.0], n)
        Z, without, inside, outside = left_out(
            rbf_kernel(A, gamma=4.0**seed / 4), loss, y, lam
        )
        assert (inside <= Z - without + 1e-6).all() and (
            Z - without <= outside + 1e-6
        ).all()
        assert (
            outside * (1 - b * h) <= inside + a * h + 1e-6
        ).all() and outside.max() <= B
        assert (Z - without).sum() <= (Z + n * a * h) / (1 - b * h) + 1e-6


@pytest.mark.parametrize("n_lam", [1.0, 4.0])
def test_the_constant_of_the_mean_is_sharp_for_the_hinge(n_lam):
    y = np.random.default_rng(0).choice([-1.0, 1.0], 40)
    u, value, _ = cold_fit(
        np.eye(40), EmpiricalRisk("hinge", y, 1 / (2 * n_lam)), False
    )
    assert_allclose(np.maximum(0, 1 - y * u).mean(), 1 - 1 / (2 * n_lam), atol=1e-6)
    assert_allclose(2 * n_lam / 40 * value, 1 - 1 / (4 * n_lam), atol=1e-6)


def test_both_signs_at_once_need_more_than_twice_the_slope():
    """A flat loss |y - s| / 10 with y = 0 or 10: at f = 0 alone the risk is off by more
    than 2 M / sqrt(n lam).
    """
    for n in (25, 400, 10_000):
        k = np.arange(n + 1)
        off = np.sum(np.abs(k / n - 0.5) * binom.pmf(k, n, 0.5))
        assert 2 * 0.1 / np.sqrt(n) < off < (4 * 0.1 + 1) / np.sqrt(n)


def test_squares_need_no_more_samples_than_other_losses():
    """n lam -> infinity with n lam^2 -> 0: the objective of noise tends to its least
    risk, 1.
    """
    off = []
    for n in (50, 200, 800):
        lam = n**-0.6 / 4
        rng = np.random.default_rng(n)
        K = rbf_kernel(rng.uniform(-1, 1, (n, 5)), gamma=2.0)
        y = rng.choice([-1.0, 1.0], n)
        objective = lam * y @ np.linalg.solve(K + n * lam * np.eye(n), y)
        off.append(1 - objective)
        assert off[-1] <= 2 / (n * lam) + 0.02
    assert off[2] < 0.6 * off[1] < 0.4 * off[0]


def random_map(rng, d):
    """Three random products of features, to be restricted by setting features to zero."""
    W = rng.standard_normal((2, 3, d))
    b = rng.standard_normal(3)
    return lambda A: np.tanh(A @ W[0].T + b) * np.tanh(A @ W[1].T - b) / 3**0.5


def true_elimination(risk, d, delta):
    """The path, and how near any decision was."""
    J = ()
    near = np.inf
    while len(J) < d:
        values = sorted(
            (risk[tuple(sorted((*J, j)))], j) for j in range(d) if j not in J
        )
        rise = values[0][0] - risk[tuple(sorted(J))]
        near = min(near, abs(rise - delta), *(v - values[0][0] for v, _ in values[1:2]))
        if rise > delta:
            break
        J = (*J, values[0][1])
    return J, near


@swept_seeds(3, 100)
def test_elimination_follows_a_true_elimination_for_any_kernel(seeds):
    """Spaces that are neither nested nor dense; in some the risk falls when features
    go.
    """
    d = 4
    n = 20_000
    lam = 1e-5
    delta = 0.02
    followed = 0
    falls = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        phi = random_map(rng, d)
        target = random_map(rng, d)
        sets = [J for k in range(d + 1) for J in itertools.combinations(range(d), k)]

        def objectives(A, y, lam, phi=phi, sets=sets):
            values = {}
            for J in sets:
                P = phi(A * ~np.isin(np.arange(d), J))
                values[J] = (
                    y @ y
                    - y
                    @ P
                    @ np.linalg.solve(P.T @ P + len(y) * lam * np.eye(3), P.T @ y)
                ) / len(y)
            return values

        goal = lambda A, target=target: np.tanh(2 * target(A).sum(axis=1))  # noqa: E731
        large = rng.uniform(-1, 1, (10 * n, d))
        sample = rng.uniform(-1, 1, (n, d))
        risk = objectives(large, goal(large), 0.0 + 1e-12)
        path, near = true_elimination(risk, d, delta)
        if near < 0.004:  # a tie, or a rise at the price
            continue
        followed += 1
        falls += any(
            risk[tuple(sorted(path[: i + 1]))] < risk[tuple(sorted(path[:i]))] - 0.004
            for i in range(len(path))
        )
        assert (
            true_elimination(objectives(sample, goal(sample), lam), d, delta)[0] == path
        )
    assert followed > len(seeds) / 6 and falls > len(seeds) / 20


@pytest.mark.parametrize(
    ("removals", "equal"), [((), True), ((0,), False), ((1,), False), ((0, 1), True)]
)
def test_a_path_does_not_imply_a_gap(removals, equal):
    """Example 1 as a kernel: (A1) holds with nothing removed, yet a set off every path
    has the same risk.
    """
    rng = np.random.default_rng(0)
    A = rng.uniform(-1, 1, (300, 3))
    A[:, 1] = -A[:, 0]
    phi = (A * ~np.isin(np.arange(3), removals)).sum(axis=1)
    least = np.mean(A[:, 2] ** 2) - np.mean(phi * A[:, 2]) ** 2 / np.mean(phi**2)
    assert (least < 1e-12) == equal
    if not removals:
        lam = 1e-3
        kernel = CallableKernel(lambda U, W: np.outer(U.sum(axis=1), W.sum(axis=1)) / 9)
        risk = EmpiricalRisk("squared_error", A[:, 2], 1 / (2 * 300 * lam))
        price = lambda left: 0.05 / (2 * lam)  # noqa: E731
        assert (
            risk_rfe_reference(
                A, [risk], kernel, 0, max_increment=price, intercept=False
            )[0]
            == []
        )


def test_one_supremum_covers_all_sets_for_dot_products_only():
    """The norm of random signs never grows when features go, for dot products; for a
    Gaussian kernel it does.
    """
    grows = dict.fromkeys(("linear", "polynomial", "Gaussian"), 0)
    kernels = (
        lambda A: A @ A.T,
        lambda A: polynomial_kernel(A, degree=2, gamma=1),
        rbf_kernel,
    )
    for seed in range(50):
        rng = np.random.default_rng(seed)
        A = rng.uniform(-1, 1, (30, 6))
        signs = rng.choice([-1.0, 1.0], 30)
        for name, kernel in zip(grows, kernels, strict=True):
            whole, part = (
                signs @ kernel(A * mask) @ signs
                for mask in (np.ones(6), rng.random(6) < 0.5)
            )
            grows[name] += part > whole + 1e-9
    assert grows["linear"] == grows["polynomial"] == 0 < grows["Gaussian"]


def chain_constant(p):
    """The sum over all levels of a chain, at each the ratio of two radii times the root
    of the logarithm of the number of links.
    """
    k = np.arange(200)
    radii = 2.0 ** (-k / (2 * p)) + 2.0 ** (-(k + 1) / (2 * p))
    return np.sum(radii * np.sqrt(2 * np.log(2) * (3 * 2.0**k - 2)))


@pytest.mark.parametrize("p", [0.3, 0.5, 0.8])
def test_chaining_bounds_the_mean_supremum_of_random_signs(p):
    rng = np.random.default_rng(0)
    n = 12
    size = 16
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=n)))
    for decay in (0.0, 1.0, 2.0):
        T = rng.standard_normal((size, n)) * np.arange(1, n + 1) ** -decay
        centres = [int(np.argmin(np.linalg.norm(T - T.mean(axis=0), axis=1)))]
        alpha = 0.0
        for i in range(1, 6):  # 2^(i-1) centres, the farthest one next
            while len(centres) < 2 ** (i - 1):
                centres.append(
                    int(
                        np.linalg.norm(T[:, None] - T[centres], axis=2)
                        .min(axis=1)
                        .argmax()
                    )
                )
            radius = (
                np.linalg.norm(T[:, None] - T[centres], axis=2).min(axis=1).max()
                / n**0.5
            )
            alpha = max(alpha, radius * i ** (1 / (2 * p)))
        mean = (signs @ T.T).max(axis=1).mean() / n
        assert mean <= chain_constant(p) * alpha / n**0.5


def test_the_growth_that_is_allowed():
    """With d = n^0.4 and lam = n^-0.8, d / (n lam) -> infinity but d / (n sqrt(lam)) ->
    0: only one bound vanishes.
    """
    new = []
    old = []
    for n in (1e10, 1e20, 1e40):
        lam = n**-0.8
        h = 1 / (2 * n * lam)
        B = 1 + lam**-0.5
        s = 3 + (n**0.4 + 1) * np.log(2)  # all sets of features at once
        by_one_out = 2 * np.sqrt(2 * B * (1 + h) * s / n) + 2 * B * s / (3 * n)
        new.append(h + by_one_out)
        old.append(2 / np.sqrt(n * lam) + 2 * B * np.sqrt(s / (2 * n)))
    assert new[0] > new[1] > new[2] and new[2] < 0.02 and old[2] > old[0] > 1


@swept("gamma", [2.0], [0.5])
def test_a_machine_of_fixed_width_is_blind_to_many_features(gamma):
    """Its functions have mean squares of at most mu^d / lam, so its objective is that
    of a kernel that sees nothing.
    """
    # the largest eigenvalue of the kernel of one uniform feature, by Gauss's rule
    t, w = np.polynomial.legendre.leggauss(80)
    kernel = np.exp(-gamma * (t[:, None] - t) ** 2) * np.sqrt(w[:, None] * w) / 2
    mu = np.linalg.eigvalsh(kernel)[-1]
    rng = np.random.default_rng(0)
    for d in (1, 2, 4):
        K = rbf_kernel(rng.uniform(-1, 1, (1500, d)), gamma=gamma)
        assert_allclose(np.linalg.eigvalsh(K)[-1] / 1500, mu**d, rtol=0.1)


def test_fewer_features_bound_more_features_for_a_product_kernel():
    """The step of the callout on all sets at once: entries fall with every feature, so
    row sums of a few serve all.
    """
    for seed in range(30):
        rng = np.random.default_rng(seed)
        A = rng.uniform(-1, 1, (40, 8))
        signs = rng.choice([-1.0, 1.0], 40)
        few = rng.permutation(8)[:3]
        more = np.union1d(few, rng.permutation(8)[: rng.integers(8)])
        small, large = (rbf_kernel(A[:, s], gamma=1.0) for s in (few, more))
        assert (
            large <= small + 1e-12
        ).all() and signs @ large @ signs <= 40 * small.sum(axis=1).max()
