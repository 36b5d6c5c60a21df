"""Where blocks come from: files, arrays of other libraries, functions, and what is
wrong with them.
"""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from cases import refused
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from test_out_of_core import assert_fails_whole, assert_same, by_norm, wide_data

import fsel_book.blocks
from fsel_book import (
    Blocks,
    BSSSelector,
    DSFSelector,
    DualProjectionRidge,
    LeverageSelector,
    RiskRFE,
    as_blocks,
    row_space,
)
from fsel_book.summaries import GramMatrix


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
    monkeypatch.setattr(fsel_book.blocks, "PIECE_BYTES", 8 * 40 * 64)
    blocks = list(as_blocks(folder / name).read(axis))
    assert len(blocks) > 1 or axis == 0
    assert_array_equal(np.concatenate(blocks, axis=axis), X)


@pytest.mark.parametrize("name", ["c.npy", "fortran.npy", "x.zarr", "x.parquet"])
def test_files_of_many_samples_give_the_selection_in_memory(tmp_path, name):
    X = np.random.default_rng(0).standard_normal((900, 30)) * np.arange(1, 31)
    if name == "x.zarr":
        zarr = pytest.importorskip("zarr", reason="Zarr is not installed")
        zarr.create_array(
            tmp_path / name, shape=X.shape, dtype=X.dtype, chunks=(170, 7)
        )[:] = X
    elif name == "x.parquet":
        pa = pytest.importorskip("pyarrow", reason="PyArrow is not installed")
        import pyarrow.parquet

        table = pa.table({f"x{j}": X[:, j] for j in range(30)})
        pyarrow.parquet.write_table(table, tmp_path / name, row_group_size=170)
    else:
        np.save(tmp_path / name, X if name == "c.npy" else np.asfortranarray(X))
    for selector in (
        by_norm(12),
        DSFSelector(12),
        LeverageSelector(12, random_state=0),
    ):
        found = clone(selector).fit(as_blocks(tmp_path / name))
        assert found.n_passes_ == 1
        assert_same(found, clone(selector).fit(X))
        assert_array_equal(
            found.transform(as_blocks(tmp_path / name)), found.transform(X)
        )


@pytest.mark.parametrize("name", ["c.npy", "fortran.npy", "csc.npz"])
def test_files_give_the_selection_in_memory(stored, name):
    X, folder = stored
    for selector in (
        by_norm(50),
        DSFSelector(50, rule="first"),
        LeverageSelector(50, random_state=0),
    ):
        found = clone(selector).fit(as_blocks(str(folder / name)))
        assert_same(found, clone(selector).fit(X), rtol=1e-5)
        assert_array_equal(
            found.transform(as_blocks(folder / name)), found.transform(X)
        )


def test_sparse_files_by_samples(stored):
    X, folder = stored
    sp.save_npz(folder / "csr.npz", sp.csr_array(X.T), compressed=False)
    assert_same(
        by_norm(20).fit(as_blocks(folder / "csr.npz")),
        by_norm(20).fit(X.T.copy()),
        rtol=1e-5,
    )
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
    for source in (
        np.load(folder / "c.npy", mmap_mode="r"),
        sp.csc_matrix(X),
        sp.coo_array(X),
    ):
        assert_same(by_norm(50).fit(as_blocks(source)), by_norm(50).fit(X), rtol=1e-5)
    wide_by_samples = as_blocks(sp.csr_array(X))  # seen through the larger Gram matrix
    assert wide_by_samples.axes == (0,)


def test_zarr(stored):
    zarr = pytest.importorskip("zarr", reason="Zarr is not installed")
    X, folder = stored
    array = zarr.create_array(
        folder / "x.zarr", shape=X.shape, dtype=X.dtype, chunks=(17, 90)
    )
    array[:] = X
    in_memory = zarr.create_array(
        zarr.storage.MemoryStore(), shape=X.shape, dtype=X.dtype, chunks=(17, 90)
    )
    in_memory[:] = X
    in_a_group = zarr.open_group(folder / "group.zarr", mode="w").create_array(
        "x", shape=X.shape, dtype=X.dtype
    )
    in_a_group[:] = X
    for source in (array, folder / "x.zarr", in_memory, in_a_group):
        assert_same(by_norm(50).fit(as_blocks(source)), by_norm(50).fit(X), rtol=1e-5)


def test_parquet(stored):
    pa = pytest.importorskip("pyarrow", reason="PyArrow is not installed")
    import pyarrow.parquet

    X, folder = stored
    names = [f"word {j}" for j in range(700)]
    table = pa.table(
        dict(zip(names, X.T)) | {"label": ["a", "b"] * 20, "flag": [True, False] * 20}
    )
    pyarrow.parquet.write_table(table, folder / "x.parquet", row_group_size=11)
    found = by_norm(50).fit(as_blocks(folder / "x.parquet", columns=names))
    assert_same(found, by_norm(50).fit(X), rtol=1e-5)
    assert_array_equal(found.feature_names_in_, names)
    assert_array_equal(
        found.get_feature_names_out(), np.array(names)[found.get_support()]
    )
    everything = as_blocks(folder / "x.parquet")
    assert everything.shape == (40, 701) and everything.feature_names[-1] == "flag"
    by_samples = np.concatenate(
        list(as_blocks(folder / "x.parquet", columns=names[::-1]).read(0))
    )
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


@pytest.mark.parametrize("change", ["cut", "written"])
@pytest.mark.parametrize("view", ["whole", "a part"])
def test_a_mapped_array_whose_file_changes(tmp_path, change, view):
    """A file that was cut would end the process with a signal."""
    path = tmp_path / "x.npy"
    np.save(path, wide_data(n=31))
    mapped = np.load(path, mmap_mode="r")
    source = as_blocks(mapped if view == "whole" else mapped[1:])
    if change == "cut":
        os.truncate(path, 1000)
    else:
        np.save(path, 2 * wide_data(n=31))
    assert_fails_whole(source, "x.npy has changed since it was opened")


def test_a_mapped_array_without_a_file_of_its_own(tmp_path):
    """The file is gone, and what it held is there as long as it is mapped."""
    path = tmp_path / "x.npy"
    np.save(path, wide_data())
    mapped = np.load(path, mmap_mode="r")
    path.unlink()
    assert_same(by_norm(60).fit(as_blocks(mapped)), by_norm(60).fit(wide_data()))


@pytest.mark.parametrize("change", ["cut", "written", "replaced"])
def test_a_sparse_file_that_changes_between_the_passes(tmp_path, change):
    """It is mapped: a file that was cut would end the process with a signal."""
    path = tmp_path / "x.npz"
    X = sp.csc_array(wide_data())
    sp.save_npz(path, X, compressed=False)
    source = as_blocks(path)
    if change == "cut":
        os.truncate(path, path.stat().st_size // 2)
    elif change == "written":
        with open(path, "r+b") as file:
            file.seek(2000)
            file.write(b"12345678")
    else:
        sp.save_npz(path, 2 * X, compressed=False)
    assert_fails_whole(source, "x.npz has changed since it was opened")


def test_a_sparse_file_that_changes_in_the_second_pass(tmp_path):
    path = tmp_path / "x.npz"
    passes = []

    class Touched(type(as_blocks(np.ones((2, 2))))):
        def read(self, axis):
            passes.append(axis)
            if len(passes) == 2:
                os.utime(path)
            yield from super().read(axis)

    sp.save_npz(path, sp.csc_array(wide_data()), compressed=False)
    assert_fails_whole(
        Touched(as_blocks(path).data, path), "x.npz has changed since it was opened"
    )
    assert len(passes) == 2


def test_chunks_that_are_large_where_they_are_read_whole(tmp_path):
    zarr = pytest.importorskip("zarr", reason="Zarr is not installed")

    def store(name, shape, chunks):  # nothing is written but what describes it
        return zarr.create_array(
            tmp_path / name, shape=shape, dtype=np.float32, chunks=chunks
        )

    rows = store("rows.zarr", (300, 1_000_000), (1, 1_000_000))
    for source in (rows, tmp_path / "rows.zarr"):
        said = r"chunks of shape \(1, 1000000\), .* 1.1 GiB .* fewer features take less"
        with pytest.warns(UserWarning, match=said) as caught:
            as_blocks(source)
        assert [warning.filename for warning in caught] == [__file__]
    with pytest.warns(UserWarning, match="1.2 GiB at a time. Chunks of fewer samples"):
        as_blocks(store("tall.zarr", (1_000_000, 320), (1_000_000, 1)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        as_blocks(store("columns.zarr", (300, 1_000_000), (300, 1000)))
        as_blocks(store("small.zarr", (300, 800_000), (1, 800_000)))


def test_a_zarr_array_that_changes_its_shape(tmp_path):
    zarr = pytest.importorskip("zarr", reason="Zarr is not installed")
    array = zarr.create_array(
        tmp_path / "x.zarr", shape=(30, 3000), dtype=float, chunks=(30, 500)
    )
    array[:] = wide_data()
    sources = as_blocks(array), as_blocks(tmp_path / "x.zarr")
    zarr.open_array(tmp_path / "x.zarr", mode="r+").resize((30, 2000))
    assert array.shape == (30, 3000)  # an array that is open does not notice
    for source in sources:
        assert_fails_whole(source, "shape (30, 2000), and had (30, 3000)")


def test_entries_that_are_no_real_numbers(tmp_path):
    np.save(
        tmp_path / "objects.npy",
        np.array([[1, "a"], [None, 2.0]], dtype=object),
        allow_pickle=True,
    )
    with refused("objects.npy has dtype object", "real numbers"):
        as_blocks(tmp_path / "objects.npy")
    np.save(tmp_path / "complex.npy", np.ones((2, 2), dtype=complex))
    with refused("complex.npy has dtype complex128"):
        as_blocks(tmp_path / "complex.npy")
    X = wide_data()
    masked = np.ma.masked_array(X, mask=X > 3)
    assert_fails_whole(as_blocks(masked), "X is a masked array")
    assert_fails_whole(as_blocks(lambda: iter([masked]), axis=1), "X is a masked array")


@pytest.mark.parametrize("shape", [(0, 30), (30, 0)])
def test_data_without_entries(tmp_path, shape):
    np.save(tmp_path / "none.npy", np.ones(shape))
    with refused("none.npy has shape", "it is empty"):
        as_blocks(tmp_path / "none.npy")
    with refused(f"X has shape {shape}: it is empty"):
        as_blocks(np.ones(shape))


def test_a_frame_is_read_with_its_names():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    X = wide_data()
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(3000)])
    found = by_norm(60).fit(as_blocks(frame))
    expected = by_norm(60).fit(frame)
    assert_same(found, expected)
    assert_array_equal(found.feature_names_in_, expected.feature_names_in_)
    assert not hasattr(
        BSSSelector(60).fit(as_blocks(pd.DataFrame(X))), "feature_names_in_"
    )
    with refused("could not convert string to float: 'a'"):
        as_blocks(frame.assign(kind=pd.Series(["a"] * len(X), dtype=object)))


def test_a_frame_with_a_column_of_strings_is_refused():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip(
        "sklearn", "1.7", reason="scikit-learn does not know the strings of pandas 3"
    )
    with refused("could not convert string to float: 'a'"):
        as_blocks(pd.DataFrame(wide_data()).rename(columns=str).assign(kind="a"))


def test_names_are_compared_where_a_fit_is_applied():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pd.DataFrame(wide_data(), columns=[f"gene {j}" for j in range(3000)])
    backwards = frame[frame.columns[::-1]]
    for model in (
        BSSSelector(60).fit(frame),
        DualProjectionRidge(random_state=0).fit(frame, np.arange(30.0)),
    ):
        apply = getattr(model, "transform", None) or model.predict
        name = f"those that {type(model).__name__} was fitted with"
        with refused(name, "in the same order"):
            apply(as_blocks(backwards))
        assert_allclose(apply(as_blocks(frame)), apply(frame))


def test_a_dask_array_that_was_not_made_into_blocks():
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    array = da.from_array(wide_data(), chunks=(30, 500))
    for model in (BSSSelector(60), DualProjectionRidge()):
        with refused("X is a Dask array: give as_blocks(X)"):
            model.fit(array, np.arange(30.0))


def test_parquet_files_that_are_not_one_table(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="PyArrow is not installed")
    import pyarrow.parquet

    twice = pa.table([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], names=["a", "b", "a"])
    pyarrow.parquet.write_table(twice, tmp_path / "twice.parquet")
    with refused("column 'a' of", "twice.parquet", "2 times"):
        as_blocks(tmp_path / "twice.parquet")
    pyarrow.parquet.write_table(twice.select([0, 1]), tmp_path / "once.parquet")
    with refused("column 'b' of", "once.parquet", "2 times"):
        as_blocks(tmp_path / "once.parquet", columns=["b", "a", "b"])
    (tmp_path / "parts.parquet").mkdir()
    with refused("parts.parquet is a folder"):
        as_blocks(tmp_path / "parts.parquet")


def test_a_sparse_file_whose_blocks_are_of_the_longer_side(tmp_path):
    """The Gram matrix of two million features would have 32 TB; the three samples are
    kept in its place.
    """
    X = sp.random_array(
        (3, 2_000_000), density=1e-5, random_state=np.random.default_rng(0)
    )
    sp.save_npz(tmp_path / "wide.npz", X.tocsr(), compressed=False)
    sp.save_npz(tmp_path / "tall.npz", X.T.tocsc(), compressed=False)
    for name, data in (("wide", X.tocsr()), ("tall", X.T.tocsc())):
        found, expected = (
            by_norm(2).fit(source)
            for source in (as_blocks(tmp_path / f"{name}.npz"), data)
        )
        assert_array_equal(found.selected_, expected.selected_)


@pytest.mark.parametrize("axis", [0, 1])
def test_a_first_pass_that_memory_does_not_hold_says_which_blocks_would_do(axis):
    def too_many():
        yield np.ones((3, 3))
        raise MemoryError

    other, form = ("features", "CSC") if axis == 0 else ("samples", "CSR")
    with refused(
        "does not fit into memory",
        f"in blocks of {other}",
        f"as {form}",
        error=MemoryError,
    ):
        BSSSelector(2).fit(as_blocks(too_many, axis=axis))


PEAK = """
import re, sys
from pathlib import Path
import numpy as np
from fsel_book import BSSSelector, as_blocks
def resident(kind): return int(re.search(kind + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024
BSSSelector(10).fit(as_blocks(np.random.default_rng(0).standard_normal((20, 500))))
if sys.argv[1].endswith("parquet"): as_blocks(sys.argv[1])  # which imports PyArrow
Path("/proc/self/clear_refs").write_text("5")
before = resident("VmHWM")
for path in sys.argv[1:]: BSSSelector(5).fit(as_blocks(path)).transform(as_blocks(path))
print(resident("VmHWM") - before)
"""


def peak_of_fits(*paths):
    """In MB, above what the process had before."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *paths], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


@pytest.mark.sweep
def test_the_memory_of_a_fit_is_a_part_of_the_file(tmp_path):
    """Of 200 MB, wide and tall: above what the process has anyway, fit and transform
    take less than half of that.
    """
    if not os.path.exists("/proc/self/clear_refs"):
        pytest.skip("the peak of the memory is read as Linux tells it")
    X = np.random.default_rng(0).standard_normal((100, 500_000), dtype=np.float32)
    np.save(tmp_path / "wide.npy", X)
    np.save(tmp_path / "tall.npy", X.reshape(500_000, 100))
    np.save(tmp_path / "narrower.npy", X[:, :100_000])
    peak = peak_of_fits(tmp_path / "wide.npy")
    # MB, where the file has 160 more
    assert peak < peak_of_fits(tmp_path / "narrower.npy") + 30
    assert max(peak, peak_of_fits(tmp_path / "tall.npy")) < 100


@pytest.mark.sweep
def test_the_memory_of_a_fit_from_a_tall_parquet_file(tmp_path):
    """Of 160 MB in groups of rows. Arrow by default reads them ahead, and the peak is
    310 MB.
    """
    pa = pytest.importorskip("pyarrow", reason="PyArrow is not installed")
    import pyarrow.parquet

    if not os.path.exists("/proc/self/clear_refs"):
        pytest.skip("the peak of the memory is read as Linux tells it")
    X = np.random.default_rng(0).standard_normal((40, 500_000))
    table = pa.table({f"reading {j}": X[j] for j in range(40)})
    pyarrow.parquet.write_table(
        table, tmp_path / "tall.parquet", row_group_size=20_000, compression="none"
    )
    assert peak_of_fits(tmp_path / "tall.parquet") < 200


READ = """
import re, sys
from pathlib import Path
import numpy as np
from fsel_book import as_blocks
source, total = as_blocks(sys.argv[1]), 0.0
Path("/proc/self/clear_refs").write_text("5")
def resident(kind): return int(re.search(kind + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024
before = resident("VmHWM")
for block in source.read(0): total += float(block.sum())
print(resident("VmHWM") - before, total)
"""


@pytest.mark.sweep
def test_the_memory_of_reading_the_samples_of_a_parquet_file_in_one_group(tmp_path):
    """Of 72 MB in 1,500 columns. To read some rows of all of them, Arrow keeps 350 MB."""
    pa = pytest.importorskip("pyarrow", reason="PyArrow is not installed")
    import pyarrow.parquet

    if not os.path.exists("/proc/self/clear_refs"):
        pytest.skip("the peak of the memory is read as Linux tells it")
    X = np.random.default_rng(0).standard_normal((1500, 6000))
    pyarrow.parquet.write_table(
        pa.table({f"gene {j}": X[j] for j in range(1500)}), tmp_path / "x.parquet"
    )
    done = subprocess.run(
        [sys.executable, "-c", READ, tmp_path / "x.parquet"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    peak, total = map(float, done.stdout.split())
    assert_allclose(total, X.sum(), rtol=1e-5)
    assert peak < 230


def test_large_groups_of_a_tall_parquet_file_are_read_a_batch_at_a_time(
    tmp_path, monkeypatch
):
    pa = pytest.importorskip("pyarrow", reason="PyArrow is not installed")
    import pyarrow.parquet

    X = np.random.default_rng(0).standard_normal((300_000, 2))
    X[:, 1] = np.round(X[:, 1])
    table = pa.table({"reading": X[:, 0], "count": X[:, 1].astype(np.int8)})
    pyarrow.parquet.write_table(
        table, tmp_path / "tall.parquet", row_group_size=280_000
    )
    monkeypatch.setattr(fsel_book.blocks, "PIECE_BYTES", 2**20)
    blocks = list(as_blocks(tmp_path / "tall.parquet").read(0))
    assert max(map(len, blocks)) == 2**20 // 16 and {
        block.dtype for block in blocks
    } == {np.dtype(float)}
    assert_array_equal(np.concatenate(blocks), X)


def test_groups_of_a_parquet_file_that_are_large_for_memory(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="PyArrow is not installed")
    import pyarrow.parquet

    names = [f"reading {j}" for j in range(700)]
    pyarrow.parquet.write_table(
        pa.table(dict.fromkeys(names, pa.nulls(300_000, pa.float64()))),
        tmp_path / "x.parquet",
    )
    said = (
        r"x.parquet has groups of 300000 rows, of which 1.4 GiB .* "
        r"\(row_group_size\) take less"
    )
    with pytest.warns(UserWarning, match=said) as caught:
        as_blocks(tmp_path / "x.parquet")
    assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        as_blocks(tmp_path / "x.parquet", columns=names[:300])


def test_what_cannot_be_read_in_blocks(tmp_path):
    with refused("read only once", error=TypeError):
        as_blocks(iter([np.ones((2, 2))]))
    with refused("type int", error=TypeError):
        as_blocks(3)
    with refused("axis=None is not possible for a function"):
        as_blocks(lambda: iter([]))
    with refused("axis=1 is not possible: X can be read by whole samples"):
        as_blocks(sp.csr_array(np.eye(3)), axis=1)
    with refused("axis=2 is not possible"):
        as_blocks(np.ones((2, 2)), axis=2)
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


# ---------------------------------------------------------------- files that are
# damaged, and what is not in them


def written_npz(folder, X, **change):
    """A sparse file with some of its parts exchanged."""
    parts = {
        "format": np.array(X.format.encode()),
        "shape": np.array(X.shape),
        "data": X.data,
    }
    path = folder / "x.npz"
    np.savez(path, **parts | {"indices": X.indices, "indptr": X.indptr} | change)
    return path


def with_entry(array, place, value):
    """A copy of an array with one entry changed."""
    array = array.copy()
    array[place] = value
    return array


DAMAGE = {
    "an index far beyond": lambda X: {"indices": with_entry(X.indices, 5, 10**7)},
    "an index just beyond": lambda X: {"indices": with_entry(X.indices, 5, 30)},
    "an index of the last entry": lambda X: {"indices": with_entry(X.indices, -1, 30)},
    "a negative index": lambda X: {"indices": with_entry(X.indices, 5, -1)},
    "indptr beyond the entries": lambda X: {"indptr": with_entry(X.indptr, 5, 10**6)},
    "indptr goes back": lambda X: {"indptr": with_entry(X.indptr, 5, 0)},
    "negative indptr": lambda X: {"indptr": with_entry(X.indptr, 5, -7)},
    "indptr ends too late": lambda X: {"indptr": with_entry(X.indptr, -1, X.nnz + 1)},
    "indptr begins late": lambda X: {"indptr": with_entry(X.indptr, 0, 1)},
    "indptr too short": lambda X: {"indptr": X.indptr[:-1]},
    "fewer indices": lambda X: {"indices": X.indices[:-3]},
    "fewer entries": lambda X: {"data": X.data[:-3]},
    "fractions": lambda X: {"indices": X.indices + 0.5},
    "a table of indices": lambda X: {
        "indices": X.indices[: X.nnz // 2 * 2].reshape(2, -1)
    },
    "three sides": lambda X: {"shape": np.array([*X.shape, 1])},
    "a side below zero": lambda X: {"shape": np.array([-30, 200])},
    "no format": lambda X: {"format": np.array(3)},
}
FIT = """
import sys
from fsel_book import BSSSelector, as_blocks
for path in sys.argv[1:]:
    try: BSSSelector(5, rank=2).fit(as_blocks(path))
    except ValueError as error: print(error)
    else: print("nothing")
"""


def test_a_damaged_sparse_file_is_refused_by_name(tmp_path):
    """Its indices are places in memory: the worst of these would end the process, so
    that a second one tries them.
    """
    X = sp.random_array((30, 200), density=0.2, rng=0, format="csc")
    paths = {}
    for name, damage in DAMAGE.items():
        for by in ("features", "samples"):
            folder = tmp_path / name.replace(" ", "_") / by
            folder.mkdir(parents=True)
            paths[name, by] = str(
                written_npz(folder, X if by == "features" else X.T, **damage(X))
            )
    command = [sys.executable, "-W", "ignore", "-c", FIT, *paths.values()]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for (key, path), said in zip(paths.items(), done.stdout.splitlines(), strict=True):
        assert path in said and (
            "damaged" in said or "three sides" in key and "two dimensions" in said
        ), (key, said)


def test_a_sparse_file_that_is_cut_or_no_archive(tmp_path):
    path = tmp_path / "x.npz"
    sp.save_npz(path, sp.csc_array(wide_data()), compressed=False)
    os.truncate(path, path.stat().st_size // 2)
    with refused("x.npz is damaged, or scipy.sparse.save_npz has not written it"):
        as_blocks(path)
    path.write_bytes(b"nothing")
    with refused("x.npz is damaged"):
        as_blocks(path)
    for name, content in (("empty.npy", b""), ("text.npy", b"1,2,3\n4,5,6\n" * 20)):
        (tmp_path / name).write_bytes(content)
        with refused(f"{name} is damaged, or numpy.save has not written it"):
            as_blocks(tmp_path / name)


def test_a_sparse_file_with_room_for_more_entries(tmp_path):
    """What lies behind the last entry is not read."""
    X = sp.random_array((30, 200), density=0.2, rng=0, format="csc")
    more = {
        "indices": np.append(X.indices, [10**6] * 3).astype(np.int32),
        "data": np.append(X.data, [np.nan] * 3),
    }
    found = by_norm(40, rank=10).fit(as_blocks(written_npz(tmp_path, X, **more)))
    assert_same(found, by_norm(40, rank=10).fit(X))


def damaged_matrix(form):
    X = sp.random_array((30, 300), density=0.2, rng=0, format=form)
    if form == "coo":
        X.coords[0][5] = 10**7
    else:
        X.indices[5] = 10**7
    return X


@pytest.mark.parametrize("form", ["csc", "csr", "coo", "bsr"])
def test_a_damaged_sparse_matrix_in_memory_is_refused(form):
    matrix = damaged_matrix(form)
    for make in (
        lambda: as_blocks(matrix),
        lambda: as_blocks(lambda: iter([matrix]), axis=1),
    ):
        selector = BSSSelector(5, rank=2)
        with refused("a damaged sparse matrix"):
            selector.fit(make())


def test_indices_of_a_sparse_matrix_stay_as_they_are():
    X = sp.csc_array(wide_data())
    X.indices = X.indices.astype(np.int64)
    X.indptr = X.indptr.astype(np.int64)
    BSSSelector(60).fit(as_blocks(X))
    BSSSelector(60).fit(as_blocks(lambda: iter([X]), axis=1))
    assert X.indices.dtype == X.indptr.dtype == np.int64


def view_of(mapped):
    """What maps a file, in other forms."""
    return {
        "asarray": np.asarray(mapped),
        "a part of it": np.asarray(mapped)[1:, ::2],
        "of another class": mapped.view(np.matrix),
    }


@pytest.mark.parametrize(
    "view", ["asarray", "a part of it", "of another class", "sparse"]
)
def test_a_view_of_a_mapped_array_whose_file_is_cut(tmp_path, view):
    """Reading it would end the process with a signal."""
    path = tmp_path / "x.npy"
    np.save(
        path, wide_data(n=31) if view != "sparse" else sp.csc_array(wide_data()).data
    )
    mapped = np.load(path, mmap_mode="r")
    if view == "sparse":
        X = sp.csc_array(wide_data())
        source = as_blocks(
            sp.csc_array((mapped, X.indices, X.indptr), shape=X.shape, copy=False)
        )
    else:
        source = as_blocks(view_of(mapped)[view])
    os.truncate(path, 1000)
    assert_fails_whole(source, "x.npy has changed since it was opened")


def test_chunks_of_zarr_that_are_lost(tmp_path):
    """Where no other entry is zero, a chunk of zeros is no data."""
    zarr = pytest.importorskip("zarr", reason="Zarr is not installed")
    array = zarr.create_array(
        tmp_path / "x.zarr", shape=(30, 3000), dtype=float, chunks=(30, 500)
    )
    array[:] = wide_data()
    opened = as_blocks(tmp_path / "x.zarr")
    (tmp_path / "x.zarr" / "c" / "0" / "3").unlink()
    assert_fails_whole(
        opened,
        "x.zarr has changed since it was opened: 1 of its 6 chunks",
        "0 were not",
    )
    said = (
        "1 of the 6 chunks of .* are not stored, and are read as the fill value "
        "0.0.*restore them"
    )
    with pytest.warns(UserWarning, match=said) as caught:
        assert_fails_whole(
            as_blocks(tmp_path / "x.zarr"),
            "1 of the 6 chunks of",
            "restore them",
            "write_empty_chunks",
        )
    assert len(caught) == 1


def test_chunks_of_zarr_that_hold_nothing_but_zeros(tmp_path):
    """Zarr does not write them; there are zeros elsewhere as well."""
    zarr = pytest.importorskip("zarr", reason="Zarr is not installed")
    X = np.where(wide_data() > 1, wide_data(), 0)
    X[:, 1000:1500] = 0
    for name, shards in (("x.zarr", None), ("sharded.zarr", (30, 500))):
        array = zarr.create_array(
            tmp_path / name, shape=X.shape, dtype=float, chunks=(30, 250), shards=shards
        )
        array[:] = X
        source = as_blocks(array)
        with pytest.warns(
            UserWarning, match="2 of the 12 chunks of X are not stored"
        ) as caught:
            found = by_norm(60).fit(source)
        assert [warning.filename for warning in caught] == [__file__]
        assert_same(found, by_norm(60).fit(X))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found.transform(source)  # said once
    with zarr.config.set({"array.write_empty_chunks": True}), warnings.catch_warnings():
        warnings.simplefilter("error")
        array = zarr.create_array(
            tmp_path / "whole.zarr", shape=X.shape, dtype=float, chunks=(30, 250)
        )
        array[:] = X
        BSSSelector(60).fit(as_blocks(array))


@pytest.mark.parametrize(
    "index", ["numbers", "a name", "two levels", "a range", "not stored"]
)
def test_the_row_index_of_pandas_is_no_feature(tmp_path, index):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="PyArrow is not installed")
    frame = pd.DataFrame(wide_data(3, 300, 20), columns=[f"c{j}" for j in range(20)])
    some = np.flatnonzero(frame.c0 > 0)
    if index == "a name":
        frame = frame.set_index(pd.Index(np.arange(300) * 7, name="patient"))
    elif index == "two levels":
        frame = frame.set_index(
            pd.MultiIndex.from_arrays(
                [np.arange(300) % 7, np.arange(300)], names=["ward", None]
            )
        )
    if index != "a range":
        frame = frame.iloc[some]
    frame.to_parquet(
        tmp_path / "X.PARQUET", index=False if index == "not stored" else None
    )
    source = as_blocks(str(tmp_path / "X.PARQUET"))
    assert (
        list(source.feature_names) == list(frame.columns)
        and source.shape == frame.shape
    )
    found = BSSSelector(5, rank=2).fit(source)
    assert_array_equal(
        found.get_feature_names_out(),
        BSSSelector(5, rank=2).fit(frame).get_feature_names_out(),
    )
    if index == "a name":  # which you may ask for
        assert as_blocks(
            tmp_path / "X.PARQUET", columns=["patient", "c3"]
        ).feature_names == ["patient", "c3"]


def test_endings_in_capitals(tmp_path):
    X = wide_data()
    np.save(tmp_path / "x.npy", X)
    sp.save_npz(tmp_path / "x.npz", sp.csc_array(X), compressed=False)
    for name in ("x.npy", "x.npz"):
        (tmp_path / name).rename(tmp_path / name.upper())
        assert as_blocks(tmp_path / name.upper()).shape == X.shape


def test_blocks_in_the_place_of_an_array():
    X = as_blocks(wide_data())
    y = np.arange(30) % 2
    words = (
        "X is in blocks and is no array",
        "transform returns",
        "blocks of the training samples",
    )
    for fails in (
        lambda: cross_val_score(
            make_pipeline(BSSSelector(40), LogisticRegression()), X, y
        ),
        lambda: train_test_split(X, y),
        lambda: LogisticRegression().fit(X, y),
        lambda: row_space(X),
    ):
        with refused(*words, error=TypeError):
            fails()
    gram = GramMatrix().partial_fit(wide_data())
    for fails in (
        lambda: RiskRFE().fit(gram, y),
        lambda: BSSSelector(60).fit(wide_data()).transform(gram),
    ):
        with refused(
            "X is a GramMatrix, a summary of samples, and no array",
            "need the samples themselves",
        ):
            fails()


# ---------------------------------------------------------------- blocks that are
# overwritten


def filled_again(X, width, axis=1, form="an array"):
    """Blocks that are one array, filled again and again."""

    def blocks():
        whole = np.empty((X.shape[0], width) if axis else (width, X.shape[1]))
        if form == "Fortran":
            whole = np.asfortranarray(whole)
        if form == "sparse":
            whole = (sp.csc_array if axis else sp.csr_array)(np.ones_like(whole))
        for a in range(0, X.shape[axis], width):
            part = X[:, a : a + width] if axis else X[a : a + width]
            if form == "sparse":
                whole.data[:] = (part.T if axis else part).ravel()
            else:
                whole[:] = part
            yield whole

    return blocks


@pytest.mark.parametrize("form", ["an array", "Fortran", "sparse"])
@pytest.mark.parametrize(
    ("width", "piece"), [(1, 0), (60, 0), (75, 0), (100, 0), (3000, 0), (500, 2**24)]
)
def test_one_array_that_is_filled_again_and_again(form, width, piece, monkeypatch):
    monkeypatch.setattr(fsel_book.blocks, "PIECE_BYTES", piece)
    X = wide_data()
    expected = by_norm(40, rank=10).fit(X)
    found = by_norm(40, rank=10).fit(
        as_blocks(filled_again(X, width, form=form), axis=1)
    )
    assert_same(found, expected)
    assert_array_equal(
        found.transform(as_blocks(filled_again(X, width, form=form), axis=1)),
        expected.transform(X),
    )
    by_samples = as_blocks(filled_again(X.T, width, 0, form), axis=0)
    assert_same(by_norm(20).fit(by_samples), by_norm(20).fit(X.T.copy()))


class Slow:
    """A summary that takes its time; meanwhile the next block is read."""

    def __init__(self):
        self.sums = []

    def add(self, start, A):
        time.sleep(0.05)
        self.sums.append(float(A.sum()))


@pytest.mark.parametrize("kind", ["function", "subclass", "array of another library"])
def test_the_piece_in_work_is_not_overwritten(kind, monkeypatch):
    monkeypatch.setattr(fsel_book.blocks, "PIECE_BYTES", 0)
    X = wide_data(d=640)

    class Mine(Blocks):
        def read(self, axis):
            return filled_again(X, 64)()

    class Sliced:
        shape = X.shape
        buffer = np.empty((30, 64))

        def __getitem__(self, key):
            self.buffer[:] = X[key]
            return self.buffer

    source = {
        "function": as_blocks(filled_again(X, 64), axis=1),
        "subclass": Mine(),
    }.get(kind) or as_blocks(Sliced())
    assert_allclose(
        source.reduce(1, Slow()).sums, X.reshape(30, 10, 64).sum(axis=(0, 2))
    )


# ---------------------------------------------------------------- a pass that ends
# early


class Watched:
    """Blocks that note what happens to them, and in which threads."""

    def __init__(self, at=None, event=None):
        self.at = at
        self.event = event
        self.read = 0
        self.closed_in = None
        self.threads = set()

    def __call__(self):
        try:
            for a in range(200):
                self.threads.add(threading.get_ident())
                if a == self.at:
                    self.event()
                time.sleep(0.01)
                self.read += 1
                yield wide_data(a, 30, 10)
        finally:
            self.closed_in = threading.get_ident()


def interrupt():
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


class Refusing:
    def add(self, start, A):
        raise RuntimeError("no more of this")


@pytest.mark.parametrize(
    "how", ["Ctrl-C", "Ctrl-C beside asyncio", "the work fails", "NaN"]
)
def test_reading_ends_with_the_block_that_is_waited_for(how, monkeypatch):
    stopped = how.startswith("Ctrl-C")
    monkeypatch.setattr(
        fsel_book.blocks, "PIECE_BYTES", 8 * 30 * (2000 if stopped else 64)
    )
    selector = BSSSelector(60).fit(wide_data())
    before = threading.active_count()
    watched = Watched(20, interrupt if stopped else None)
    if how == "the work fails":
        watched.at = None
        with refused("no more of this", error=RuntimeError):
            as_blocks(watched, axis=1).reduce(1, Refusing())
    elif how == "NaN":
        watched.at = None
        monkeypatch.setattr(
            sys.modules[__name__], "wide_data", lambda a, n, d: np.full((n, d), np.nan)
        )
        with refused("NaN"):
            as_blocks(watched, axis=1).reduce(1, Slow())
    else:
        # asyncio's handlers let waits go on, and leave it so
        signal.siginterrupt(signal.SIGINT, how == "Ctrl-C")
        try:
            with pytest.raises(KeyboardInterrupt):
                selector.fit(as_blocks(watched, axis=1))
        finally:
            signal.siginterrupt(signal.SIGINT, True)
        assert not [name for name in vars(selector) if name.endswith("_")]
    assert watched.read <= 25
    assert {watched.closed_in} == watched.threads != {threading.get_ident()}
    assert threading.active_count() == before


def test_an_array_is_cut_along_the_axis_that_is_asked_for():
    X = np.arange(12.0).reshape(6, 2)
    blocks = as_blocks(X)
    assert blocks._axis == 0
    assert as_blocks(X, axis=1)._axis == 1 == as_blocks(blocks, axis=1)._axis
    assert blocks._axis == 0 and as_blocks(sp.csc_array(X), axis=1)._axis == 1


def test_chunks_of_many_samples_stay_apart():
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    array = da.zeros((40_000, 3000), chunks=(40_000, 1000))
    chunks = as_blocks(array, axis=1).whole(1).chunks[1]
    assert len(chunks) >= 3 and max(chunks) <= 1000
