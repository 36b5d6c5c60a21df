"""Matrices and oracles that several test files use, and one description for each array library."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

# ---------------------------------------------------------------- matrices


def orthonormal(d, l, rng):
    """A random d x l matrix with orthonormal columns."""
    return np.linalg.qr(rng.standard_normal((d, l)))[0]


def heavy(d, l, rng):
    """Orthonormal columns and row norms over several orders of magnitude."""
    return np.linalg.qr(rng.standard_normal((d, l)) * np.exp(1.5 * rng.standard_normal((d, 1))))[0]


def hadamard(d, l, first=0):
    """Columns first..first + l - 1 of the Sylvester-Hadamard matrix of order d: all rows of one norm."""
    parity = np.arange(d)[:, None] & np.arange(first, first + l)
    for shift in (16, 8, 4, 2, 1):
        parity ^= parity >> shift
    return np.where(parity & 1, -1.0, 1.0) / np.sqrt(d)


def stacked_identities(l, copies):
    """Copies of the unit vectors, one after another: exact ties and exact duplicates."""
    return np.tile(np.eye(l), (copies, 1)) / np.sqrt(copies)


def two_frames(half, l):
    """Rows of one norm; the first half of them lives in the first l/2 coordinates, the rest in the others."""
    F = hadamard(half, l // 2)
    return scipy.linalg.block_diag(F, F)


def with_condition(n, d, condition, rng):
    """An n x d matrix with singular values spread evenly (in logarithm) over the given condition number."""
    k = min(n, d)
    s = np.logspace(0, -np.log10(condition), k)
    return orthonormal(n, k, rng) * s @ orthonormal(d, k, rng).T


def table(n=30, d=60, seed=0):
    """A generic data matrix: full rank, columns of different length, no ties."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * np.exp(rng.standard_normal(d))


def sparse_table(n=40, d=300, density=0.1, seed=0):
    """A generic sparse matrix without empty rows, CSR."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=density, rng=rng, data_sampler=rng.standard_normal).tolil()
    X[np.arange(n), rng.integers(d, size=n)] = 1.5
    return sp.csr_array(X)


# ---------------------------------------------------------------- oracles


def right_singular_vectors(X, rank=None):
    """V, by a dense SVD in float64, of X brought to unit size; rank as NumPy would have it unless given."""
    X = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    X = X / np.abs(X).max()
    _, s, Vt = np.linalg.svd(X, full_matrices=False)
    rank = rank or int(np.sum(s > s[0] * max(X.shape) * np.finfo(float).eps))
    return Vt[:rank].T


def interval(V, sampling):
    """Extreme eigenvalues of V' R R' V, through the matrix R."""
    C = sampling.R.T @ V
    eigenvalues = np.linalg.eigvalsh(C.T @ C)
    return eigenvalues[0], eigenvalues[-1]


def relative_error(found, exact):
    """The largest; infinite where something is found that is exactly zero."""
    difference = np.abs(np.asarray(found, dtype=np.float64) - exact)
    return float(
        np.max(np.where(exact == 0, np.where(difference == 0, 0, np.inf), difference / np.where(exact == 0, 1, exact)))
    )


# ---------------------------------------------------------------- array libraries


@dataclass
class Library:
    """How to make an array of a library from a NumPy one, how to get it back, and how to recognise it."""

    name: str
    make: Callable[[np.ndarray], Any]
    back: Callable[[Any], np.ndarray]
    array_type: type | tuple
    device: Callable[[Any], Any] = lambda a: None

    @property
    def sparse(self):
        return self.name.startswith("cs")

    def is_result(self, a, dtype=None):
        """Whether `a`, a result for an input of this library, lives where it should, with the dtype it should have."""
        expected = np.ndarray if self.sparse else self.array_type
        return isinstance(a, expected) and (dtype is None or str(a.dtype).endswith(dtype))


def numpy_library():
    return Library("numpy", np.asarray, np.asarray, np.ndarray)


def strict_library():
    xp = pytest.importorskip("array_api_strict", reason="array_api_strict is not installed")
    # Not its first device: what is made without naming the device of the input ends up elsewhere, and fails.
    device, host = xp.Device("device1"), xp.Device("CPU_DEVICE")
    return Library(
        "strict",
        lambda a: xp.asarray(a, device=device),
        lambda a: np.from_dlpack(xp.asarray(a, device=host)),
        type(xp.zeros(1)),
        lambda a: a.device,
    )


def sparse_library(name):
    kind = getattr(sp, name)
    return lambda: Library(name, kind, lambda a: a.toarray() if sp.issparse(a) else np.asarray(a), kind)


def torch_library():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return Library(
        "torch",
        lambda a: torch.asarray(np.array(a), device=device),
        lambda a: a.cpu().numpy(),
        torch.Tensor,
        lambda a: a.device,
    )


def cupy_library():
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed", exc_type=ImportError)
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        pytest.skip(f"CuPy finds no GPU: {error}")
    return Library("cupy", cupy.asarray, cupy.asnumpy, cupy.ndarray, lambda a: a.device)


LIBRARIES = {
    "numpy": numpy_library,
    "strict": strict_library,
    **{name: sparse_library(name) for name in ("csr_array", "csc_array", "csr_matrix", "csc_matrix")},
    "torch": torch_library,
    "cupy": cupy_library,
}
