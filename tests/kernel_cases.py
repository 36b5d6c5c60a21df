"""Problems and oracles for the tests of kernel machines and of risk-RFE."""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.metrics.pairwise import rbf_kernel

from fsel_book.kernel_machines import EmpiricalRisk
from fsel_book.kernels import (
    CallableKernel,
    ChiSquaredKernel,
    LinearKernel,
    PolynomialKernel,
    RBFKernel,
)
from fsel_book.losses import LOSSES, get_loss

NAMES = ["hinge", "epsilon_insensitive", "squared_error", "squared_hinge", "log_loss"]


def problem(seed):
    """A random problem: every kernel with every loss, with duplicated and constant
    features, rounded rows, weights.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 50))
    d = int(rng.integers(3, 7))
    X = rng.normal(size=(n, d))
    if seed % 3 == 0:
        X[:, -1] = X[:, 0]
    if seed % 4 == 0:
        X[:, 1] = rng.choice([0.0, 1.0, 2.0])
    if seed % 6 == 1:
        X = np.round(X)
    gamma = 10.0 ** rng.uniform(-2, 0.3) / d * 3
    kernels = [
        RBFKernel(gamma),
        LinearKernel(),
        PolynomialKernel(int(rng.integers(2, 4)), gamma, float(rng.integers(0, 2))),
        ChiSquaredKernel(gamma),
        LinearKernel(normalised=True),
        CallableKernel(lambda A, B: rbf_kernel(A, B, gamma=gamma)),
    ]
    kernel = kernels[seed % 6]
    name = NAMES[seed // 6 % 5]
    if isinstance(kernel, ChiSquaredKernel):
        X = np.abs(X)
    f = X[:, 0] + X[:, d // 2] ** 2 - 0.5 + 0.5 * rng.normal(size=n)
    y = f if not get_loss(name).for_labels else np.where(f > np.median(f), 1.0, -1.0)
    C = 10.0 ** rng.uniform(-2, 1.5) * (rng.uniform(0.5, 2, n) if seed % 5 == 0 else 1)
    return X, kernel, EmpiricalRisk(name, y, C), bool(seed % 7 % 2)


def unit(loss):
    """The objective of f = 0, to measure by."""
    return loss.primal(np.zeros(len(loss.y)))


def thin(seed, C, number):
    """More samples than features, a linear kernel: a matrix of low rank, whose free
    samples pivots do not find.
    """
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (60, 20))
    f = X[:, :3] @ rng.choice([0.5, 1.0], 3)
    if not number:
        return X, EmpiricalRisk("hinge", np.where(f > 0, 1.0, -1.0), C)
    y = f + rng.standard_normal(60) / 3
    return X, EmpiricalRisk("epsilon_insensitive", y - y.mean(), C)


KERNELS = ["linear", "rbf", "poly", "chi2"]


def raw(name, d):
    """A few rows and `d` features of a real data set in their own units; signs and
    numbers.
    """
    if name == "breast cancer":
        X, y = load_breast_cancer(return_X_y=True)
        return X[::12, :d], np.where(y[::12], 1.0, -1.0), X[::12, 20]
    if name == "wine":
        X, y = load_wine(return_X_y=True)
        return X[::4, :d], np.where(y[::4] == 0, 1.0, -1.0), X[::4, 12]
    X, y = load_diabetes(return_X_y=True, scaled=False)
    return X[::11, :d], np.where(y[::11] > 140, 1.0, -1.0), y[::11]


def raw_loss(name, signs, numbers, C):
    return EmpiricalRisk(
        name, numbers - numbers.mean() if not get_loss(name).for_labels else signs, C
    )


def rounding_of_gap(K, loss, u):
    """What rounding errors of `K u` amount to in a duality gap."""
    return np.finfo(float).eps * (loss.C + np.abs(u)) @ (np.abs(K) @ np.abs(u))


def kind_of(risk):
    """The name of its loss."""
    return next(name for name, kind in LOSSES.items() if type(risk.loss) is kind)


def exact_dual(K, loss, u):
    """The dual value of `u`, with more digits where the machine has them."""
    y, C, v = (np.asarray(a, dtype=np.longdouble) for a in (loss.y, loss.C, u))
    if kind_of(loss) == "log_loss":
        p = y * v / C
        phi = sum(C @ (q * np.log(np.where(q > 0, q, 1))) for q in (p, 1 - p))
    else:
        kink = (
            loss.width * np.abs(v).sum()
            if kind_of(loss) == "epsilon_insensitive"
            else 0.0
        )
        quadratic = {
            "squared_hinge": 0.25,
            "squared_error": 0.25,
            "smoothed_hinge": 0.25,
            "huberised_hinge": 0.5,
        }
        bent = quadratic.get(kind_of(loss), 0.0)
        phi = (
            kink
            - (1.5 if kind_of(loss) == "huberised_hinge" else 1.0) * (y @ v)
            + bent * (v * v / C).sum()
        )
    return -phi - v @ (K.astype(np.longdouble) @ v) / 2


def exact_primal(loss, f):
    y = np.asarray(loss.y, dtype=np.longdouble)
    C = np.asarray(loss.C, dtype=np.longdouble)
    if kind_of(loss) == "epsilon_insensitive":
        return C @ np.maximum(0, np.abs(y - f) - loss.width)
    if kind_of(loss) == "log_loss":
        return C @ np.logaddexp(0, -y * f)
    # parabolas of width 0.5 and 1
    if kind_of(loss) in ("smoothed_hinge", "huberised_hinge"):
        mu, moved = (0.5, 0.0) if kind_of(loss) == "smoothed_hinge" else (1.0, 0.5)
        b = np.clip((1 - y * f + moved) / mu, 0, 1)
        return C @ (b * (1 - y * f + moved) - mu * b * b / 2)
    slack = y - f if kind_of(loss) == "squared_error" else np.maximum(0, 1 - y * f)
    return C @ (slack if kind_of(loss) == "hinge" else slack**2)


def several_risks(name, X, rng):
    f = X[:, 0] - X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=len(X))
    if not get_loss(name).for_labels:
        return [EmpiricalRisk(name, f, 3.0)]
    return [
        EmpiricalRisk(name, np.where(f > cut, 1.0, -1.0), 3.0)
        for cut in (-0.5, 0.5)[: 1 + len(X) % 2]
    ]
