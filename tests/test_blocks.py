"""Where blocks come from: files, arrays of other libraries, functions, and what is wrong with them."""

import os

import numpy as np
import pytest
import scipy.sparse as sp
from cases import refused
from numpy.testing import assert_array_equal
from sklearn.base import clone
from test_out_of_core import assert_fails_whole, assert_same, wide_data

import fsel_book.blocks
from fsel_book import BSSSelector, DSFSelector, LeverageSelector, as_blocks


@pytest.fixture
def stored(tmp_path):
    """One matrix in every form there is: name, source."""
    X = np.random.default_rng(0).poisson(0.3, (40, 700)).astype(np.float32)
    np.save(tmp_path / "c.npy", X)
    np.save(tmp_path / "fortran.npy", np.asfortranarray(X))
    sp.save_npz(tmp_path / "csc.npz", sp.csc_array(X), compressed=False)
    return X, tmp_path


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("name", ["c.npy", "fortran.npy"])
def test_files_of_numpy_in_both_orders_and_directions(stored, name, axis, monkeypatch):
    X, folder = stored
    monkeypatch.setattr(fsel_book.blocks, "_PIECE", 8 * 40 * 64)
    blocks = list(as_blocks(folder / name).read(axis))
    assert len(blocks) > 1 or axis == 0
    assert_array_equal(np.concatenate(blocks, axis=axis), X)


@pytest.mark.parametrize("name", ["c.npy", "fortran.npy", "csc.npz"])
def test_files_give_the_selection_in_memory(stored, name):
    X, folder = stored
    for selector in (BSSSelector(50), DSFSelector(50, rule="first"), LeverageSelector(50, random_state=0)):
        found = clone(selector).fit(as_blocks(str(folder / name)))
        assert_same(found, clone(selector).fit(X), rtol=1e-5)
        assert_array_equal(found.transform(as_blocks(folder / name)), found.transform(X))


def test_sparse_files_by_samples(stored):
    X, folder = stored
    sp.save_npz(folder / "csr.npz", sp.csr_array(X.T), compressed=False)
    assert_same(BSSSelector(20).fit(as_blocks(folder / "csr.npz")), BSSSelector(20).fit(X.T.copy()), rtol=1e-5)
    sp.save_npz(folder / "small.npz", sp.csr_array(X))
    with refused("small.npz is compressed", "compressed=False"):
        as_blocks(folder / "small.npz")
    np.savez(folder / "other.npz", a=X)
    with refused("no sparse matrix"):
        as_blocks(folder / "other.npz")
    sp.save_npz(folder / "coo.npz", sp.coo_array(X), compressed=False)
    with refused("no sparse matrix"):
        as_blocks(folder / "coo.npz")


def test_memory_maps_and_sparse_matrices(stored):
    X, folder = stored
    for source in (np.load(folder / "c.npy", mmap_mode="r"), sp.csc_matrix(X), sp.coo_array(X)):
        assert_same(BSSSelector(50).fit(as_blocks(source)), BSSSelector(50).fit(X), rtol=1e-5)
    wide_by_samples = as_blocks(sp.csr_array(X))  # seen through the larger Gram matrix
    assert wide_by_samples.axes == (0,)


def test_zarr(stored):
    zarr = pytest.importorskip("zarr", reason="Zarr is not installed")
    X, folder = stored
    array = zarr.create_array(folder / "x.zarr", shape=X.shape, dtype=X.dtype, chunks=(17, 90))
    array[:] = X
    for source in (array, folder / "x.zarr"):
        assert_same(BSSSelector(50).fit(as_blocks(source)), BSSSelector(50).fit(X), rtol=1e-5)


def test_parquet(stored):
    pa = pytest.importorskip("pyarrow", reason="PyArrow is not installed")
    import pyarrow.parquet

    X, folder = stored
    names = [f"word {j}" for j in range(700)]
    table = pa.table(dict(zip(names, X.T)) | {"label": ["a", "b"] * 20, "flag": [True, False] * 20})
    pyarrow.parquet.write_table(table, folder / "x.parquet", row_group_size=11)
    found = BSSSelector(50).fit(as_blocks(folder / "x.parquet", columns=names))
    assert_same(found, BSSSelector(50).fit(X), rtol=1e-5)
    assert_array_equal(found.feature_names_in_, names)
    assert_array_equal(found.get_feature_names_out(), np.array(names)[found.get_support()])
    everything = as_blocks(folder / "x.parquet")
    assert everything.shape == (40, 701) and everything.feature_names[-1] == "flag"
    by_samples = np.concatenate(list(as_blocks(folder / "x.parquet", columns=names[::-1]).read(0)))
    assert_array_equal(by_samples, X[:, ::-1])
    with refused("columns: label is no column of numbers"):
        as_blocks(folder / "x.parquet", columns=["word 1", "label"])
    holes = pa.table({"a": [1.0, None, 2.0], "b": [1.0, 2.0, 3.0]})
    pyarrow.parquet.write_table(holes, folder / "holes.parquet")
    with refused("Column 'a'", "missing values"):
        BSSSelector(1).fit(as_blocks(folder / "holes.parquet"))


def test_a_file_that_changes_between_the_passes(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, wide_data())
    source = as_blocks(path)
    with open(path, "ab") as file:
        file.write(b"more")
    assert_fails_whole(source, "x.npy has changed since it was opened")
    np.save(path, wide_data())
    source = as_blocks(path)
    os.truncate(path, path.stat().st_size // 2)
    assert_fails_whole(source, "x.npy has changed")
    assert_fails_whole(as_blocks(path), "x.npy ends at byte")


def test_what_cannot_be_read_in_blocks(tmp_path):
    with refused("read only once", error=TypeError):
        as_blocks(iter([np.ones((2, 2))]))
    with refused("type int", error=TypeError):
        as_blocks(3)
    with refused("axis=None is not possible for a function"):
        as_blocks(lambda: iter([]))
    with refused("axis=1 is for functions"):
        as_blocks(np.ones((2, 2)), axis=1)
    with refused("an ending that is not known"):
        as_blocks("table.csv")
    with refused("columns= is for Parquet"):
        as_blocks(np.ones((2, 2)), columns=["a"])
    with refused("two dimensions"):
        as_blocks(np.ones(3))
    with pytest.raises(FileNotFoundError):
        as_blocks(tmp_path / "none.npy")
    np.save(tmp_path / "cube.npy", np.ones((2, 2, 2)))
    with refused("two dimensions"):
        as_blocks(tmp_path / "cube.npy")
