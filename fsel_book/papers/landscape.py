import numpy as np
from numpy.typing import NDArray


def volume_sampling(X: NDArray, r: int, rng: np.random.Generator) -> list[int]:
    """Draw `r` columns: each set in proportion to its squared volume."""
    _, S, Vt = np.linalg.svd(X, full_matrices=False)
    lam = (S / S[0]) ** 2
    # e[j, m]: the sum of all products of j of the first m eigenvalues
    e = np.zeros((r + 1, len(lam) + 1))
    e[0] = 1
    for m, value in enumerate(lam):
        e[1:, m + 1] = e[1:, m] + value * e[:-1, m]

    # which r directions ...
    directions = []
    for m in range(len(lam), 0, -1):
        j = r - len(directions)
        if j > 0 and rng.random() * e[j, m] < lam[m - 1] * e[j - 1, m - 1]:
            directions.append(m - 1)

    # ... and a random basis of their span
    V = Vt[directions].T.copy()
    chosen = []
    for _ in range(r):
        lengths = np.sum(V**2, axis=1)
        j = int(rng.choice(len(V), p=lengths / lengths.sum()))
        direction = V[j] / np.sqrt(lengths[j])
        V -= np.outer(V @ direction, direction)
        chosen.append(j)
    return chosen


def randomly_pivoted_cholesky(
    X: NDArray, r: int, rng: np.random.Generator
) -> list[int]:
    """Draw `r` columns, each in proportion to its squared distance from the span of
    those before.
    """
    left = np.sum(X**2, axis=0)
    F = np.zeros((X.shape[1], r))
    chosen = []
    for i in range(r):
        j = int(rng.choice(len(left), p=left / left.sum()))
        g = X.T @ X[:, j] - F[:, :i] @ F[j, :i]
        F[:, i] = g / np.sqrt(g[j])
        left = np.maximum(left - F[:, i] ** 2, 0)
        left[j] = 0
        chosen.append(j)
    return chosen


def greedy_columns(X: NDArray, r: int) -> list[int]:
    """Take `r` columns, each the one that explains most of what is left of all."""
    E = X.copy()
    lengths = np.sum(X**2, axis=0)
    there = 1e-10 * lengths.max()
    chosen = []
    for _ in range(r):
        lengths = np.sum(E**2, axis=0)
        gains = np.sum(E * (E @ E.T @ E), axis=0)
        shares = np.divide(
            gains, lengths, where=lengths > there, out=-np.ones_like(gains)
        )
        j = int(np.argmax(shares))
        q = E[:, j] / np.sqrt(lengths[j])
        E -= np.outer(q, q @ E)
        chosen.append(j)
    return chosen
