"""Part nine: selections from files larger than is comfortable, beside reading the file."""

import atexit
import os
import shutil
import tempfile
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from part_1_spine import gauss, resident
from rows import Row, nothing, timed
from threadpoolctl import threadpool_limits

from fsel_book import Blocks, BSSSelector, as_blocks

by_norm = partial(BSSSelector, rule="largest-norm")

title = "Part nine: data larger than memory"


@cache
def folder():
    """For the files, 4 GB each; removed at the end."""
    name = tempfile.mkdtemp(prefix="fsel_book_")
    atexit.register(shutil.rmtree, name)
    return Path(name)


@cache
def file(n, d):
    """A float32 file of NumPy, written in pieces."""
    path = folder() / f"{n}_{d}.npy"
    rng = np.random.default_rng(0)
    X = np.lib.format.open_memmap(path, "w+", np.float32, (n, d))
    step = max(1, 2**24 // d)
    for a in range(0, n, step):
        X[a : a + step] = rng.standard_normal(X[a : a + step].shape, dtype=np.float32)
    X.flush()
    return path


def leave_memory(path):
    """Takes a file out of the page cache of the system (Linux), so that the next pass
    over it comes from the disk.
    """
    with open(path, "rb") as source:
        os.posix_fadvise(source.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class FromDisk(Blocks):
    """The blocks of a file that is read from the disk in every pass, as one larger than
    the memory is.
    """

    def __init__(self, path):
        self.path = path
        self.file = as_blocks(path)
        self.shape = self.file.shape

    def read(self, axis):
        leave_memory(self.path)
        yield from self.file.read(axis)


def read_twice(path, before=None):
    """The whole file through a buffer of 16 MB, two times."""
    buffer = bytearray(2**24)
    for _ in range(2):
        if before:
            before(path)
        with open(path, "rb", buffering=0) as source:
            while source.readinto(buffer):
                pass


def from_file(data, n, d, r):
    path = file(n, d)
    return (
        timed(lambda: by_norm(r).fit(as_blocks(path))),
        timed(lambda: read_twice(path)),
        nothing,
    )


def from_disk(data, n, d, r):
    path = file(n, d)
    return (
        timed(lambda: by_norm(r).fit(FromDisk(path))),
        timed(lambda: read_twice(path, leave_memory)),
        nothing,
    )


def peak(path, r, threads):
    with threadpool_limits(threads, user_api="blas"):
        by_norm(10).fit(as_blocks(np.random.default_rng(0).standard_normal((20, 500))))
        Path("/proc/self/clear_refs").write_text("5")
        by_norm(r).fit(as_blocks(path))
    return resident("VmHWM")


def peak_of_fit(data, n, d, r):
    path = file(n, d)

    def measure(threads):
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            return pool.submit(peak, path, r, threads).result(), None

    return measure, None, nothing


def on_cluster(data, n, d, r):
    """Two workers of one thread each; one process with as many threads."""
    import dask.array as da
    from distributed import Client, LocalCluster

    chunks = (n,), tuple(np.diff([*range(0, d, 50_000), d]))
    nothing_yet = np.empty((0, 0), np.float32)
    array = da.map_blocks(
        read_columns, str(file(n, d)), chunks=chunks, dtype=np.float32, meta=nothing_yet
    )
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    client = Client(cluster)
    atexit.register(cluster.close)
    atexit.register(client.close)

    def check(ours, other):
        assert np.array_equal(ours.selected_, other.selected_)

    return (
        timed(lambda: BSSSelector(r, rule="largest-norm").fit(as_blocks(array))),
        timed(lambda: by_norm(r).fit(as_blocks(file(n, d)))),
        check,
    )


def read_columns(path, block_info=None):
    """The chunk of the file that Dask asks for."""
    (a, b) = block_info[None]["array-location"][1]
    return np.ascontiguousarray(np.load(path, mmap_mode="r")[:, a:b])


large = dict(n=200, d=5_000_000, r=100)
small = dict(n=20, d=2000, r=20)
tall = dict(n=2_000_000, d=500, r=100)
short = dict(n=2000, d=20, r=8)


def beside_reading(name, how, prepare, size, quick):
    return Row(
        name,
        "`BSSSelector(r).fit` of the file",
        "reading the file twice",
        "A `.npy` file of 4 GB in C order. " + how,
        prepare,
        gauss,
        size,
        quick,
        3,
        at_least=False,
    )


def peak_memory(name, size, quick):
    return Row(
        name,
        "peak memory of the process that fits",
        None,
        "A fresh process; all of its resident memory at the peak, the interpreter and "
        "its libraries included.",
        peak_of_fit,
        gauss,
        size,
        quick,
        1024,
        unit="MiB",
        repeats=1,
    )


cold = (
    "It is taken out of the page cache before every pass, on both sides: each "
    "comes from the disk."
)
warm = "It fits into the page cache, and is read at the speed of memory."
rows = [
    beside_reading("disk-wide", cold, from_disk, large, small),
    beside_reading("disk-tall", cold, from_disk, tall, short),
    beside_reading("file-wide", warm, from_file, large, small),
    beside_reading("file-tall", warm, from_file, tall, short),
    peak_memory("peak-wide", large, small),
    peak_memory("peak-tall", tall, short),
    Row(
        "cluster",
        "two Dask workers with one BLAS thread each",
        "one process, from the file",
        "The same file; each worker reads its own chunks. The run stops if the "
        "selections differ.",
        on_cluster,
        gauss,
        large,
        small,
        1.3,
        at_least=False,
        threads=(2,),
    ),
]
