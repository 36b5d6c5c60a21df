"""The main job of `make demo` on a Parquet file too large for memory: choose columns,
certify them, write them.
"""

import json
import os
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from fsel_book import Blocks, BSSSelector, as_blocks
from fsel_book.tables import find_row_names


def a_quarter_of_memory() -> int:
    """Bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4


def size_in_memory(path: Path) -> int:
    """Bytes of the table once it is decoded, a text as a pointer to it; 0 for what is
    no Parquet file.
    """
    try:
        found = pq.read_metadata(path)
    except (OSError, pa.ArrowInvalid):
        return 0
    types = found.schema.to_arrow_schema().types
    return found.num_rows * sum(
        -(-kind.bit_width // 8) if pa.types.is_primitive(kind) else 8 for kind in types
    )


def index_columns(path: Path) -> list[str]:
    """The columns in which pandas wrote the index of a frame; an index that only counts
    takes none.
    """
    found = (pq.read_schema(path).pandas_metadata or {}).get("index_columns", [])
    return [name for name in found if isinstance(name, str)]


def read_column(path: Path, name: str) -> pd.Series:
    """One column, as pandas has it."""
    return pq.read_table(path, columns=[name]).column(name).to_pandas()


def read_target(path: Path, target: str) -> np.ndarray:
    """The column to predict as centred numbers, shape (n_rows, any): itself, or one
    column for each of its values.
    """
    names = pq.read_schema(path).names
    if target not in names:
        raise ValueError(
            f"{path} has no column {target!r}. Its columns are "
            f"{', '.join(map(repr, names[:5]))}, ..."
        )
    y = read_column(path, target)
    if y.isna().any():
        raise ValueError(
            f"{path} has missing values in {target!r}. Drop those rows first."
        )
    if y.nunique() < 2:
        raise ValueError(
            f"{path} has fewer than two different values in the target {target!r}: "
            f"nothing to predict."
        )
    measured = pd.api.types.is_numeric_dtype(y) and y.nunique() > 20
    if not measured and y.value_counts().max() < 5:
        raise ValueError(
            f"{path}: no value of the target {target!r} has five rows: give another "
            f"column."
        )
    Y = (
        y.to_numpy(dtype=float)[:, None]
        if measured
        else pd.get_dummies(y).to_numpy(dtype=float)
    )
    return Y - Y.mean(axis=0)


class Standardised(Blocks):
    """The columns of `X` with mean zero and variance one, and the F statistic of each
    for the target as `scores`.
    """

    def __init__(self, X: Blocks, Y: np.ndarray) -> None:
        self.X = X
        self.shape = X.shape
        self.axes = X.axes
        self.feature_names = X.feature_names
        count = 0
        mean = np.zeros(X.shape[1])
        squares = np.zeros(X.shape[1])
        products = np.zeros((X.shape[1], Y.shape[1]))
        # what the rows before have, and what these have, make what all have
        for block in X.read(0):
            step = block.mean(axis=0, dtype=float) - mean
            centred = block - (mean + step)
            share = len(block) / (count + len(block))
            squares += np.sum(centred**2, axis=0) + step**2 * count * share
            products += block.T.astype(float) @ Y[count : count + len(block)]
            mean = mean + step * share
            count = count + len(block)
        if not np.all(np.isfinite(squares)):
            bad = self.feature_names[int(np.flatnonzero(~np.isfinite(squares))[0])]
            raise ValueError(
                f"The data have infinite values in {bad!r}. Replace them by finite "
                f"numbers."
            )
        constant = squares <= 1e-24 * count * mean**2
        self.mean = mean
        self.deviation = np.where(constant, 1.0, np.sqrt(squares / count))
        products -= mean[:, None] * Y.sum(axis=0)
        S = np.linalg.svd(Y, compute_uv=False)
        k = int(np.sum(S > 1e-9 * S[0]))
        explained = np.sum(
            products @ np.linalg.pinv(Y.T @ Y, rcond=1e-12) * products, axis=1
        )
        explained = np.clip(
            np.where(constant, 0.0, explained / np.where(constant, 1.0, squares)),
            0.0,
            1 - 1e-12,
        )
        self.scores = explained / (1 - explained) * (count - k - 1) / k

    def read(self, axis: int) -> Iterator[Any]:
        start = 0
        for block in self.X.read(axis):
            some = slice(start, start + block.shape[1]) if axis else slice(None)
            yield (block - self.mean[some]) / self.deviation[some]
            start += block.shape[axis]


def choose(path: Path, target: str, folder: Path) -> None:
    """Print the columns that BSS chooses by their F statistics, and their certificate;
    write them with the target.
    """
    Y = read_target(path, target)
    index = [name for name in index_columns(path) if name != target]
    columns = [name for name in pq.read_schema(path).names if name not in index]
    row_names = [
        *index,
        *find_row_names(path, columns, target, lambda name: read_column(path, name)),
    ]
    names = [name for name in columns if name != target and name not in row_names]
    X = Standardised(as_blocks(path, columns=names), Y)
    r = max(2, min(60, len(names) // 2))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        selector = BSSSelector(r, score_func=X.scores).fit(X)
    chosen = np.array(names)[selector.selected_]
    print(f"{path} is read in blocks: {X.shape[0]} rows, {X.shape[1]} columns\n")
    if row_names:
        print("Its rows have names. These are no feature and were left out.\n")
    print(f"BSS with labels: {len(chosen)} columns in {selector.n_draws_} draws")
    print(textwrap.indent(textwrap.fill(", ".join(chosen), 84), "  "), end="\n\n")
    for said in dict.fromkeys(str(warning.message) for warning in caught):
        print(textwrap.fill(f"Note: {said}", 88), end="\n\n")
    for line in str(selector.certificate_).splitlines():
        print(textwrap.fill(line, 88))
    print()
    write(
        path, [*(name for name in names if name in set(chosen)), target], index, folder
    )


def notes_for_pandas(
    schema: pa.Schema, columns: list[str], index: list[str]
) -> dict[bytes, bytes] | None:
    """What pandas noted in a file about its columns and its index, for those that are
    kept.
    """
    notes = schema.pandas_metadata
    if notes is None:
        return None
    kept = [
        note for note in notes["columns"] if note["field_name"] in [*columns, *index]
    ]
    index_columns = [
        name
        for name in notes["index_columns"]
        if not isinstance(name, str) or name in index
    ]
    return {
        b"pandas": json.dumps(
            notes | {"columns": kept, "index_columns": index_columns}
        ).encode()
    }


def write(path: Path, columns: list[str], index: list[str], folder: Path) -> None:
    """`selected.csv` and `selected.parquet` with some columns of a Parquet file, a
    batch of rows at a time.

    The Parquet file has the `index` of the table as well, as what it was.
    """
    csv = folder / "selected.csv"
    start = True
    with pq.ParquetFile(path, pre_buffer=False, buffer_size=2**20) as source:
        found = source.schema_arrow
        every = [*columns, *index]
        schema = pa.schema(
            [found.field(name) for name in every],
            metadata=notes_for_pandas(found, columns, index),
        )
        with pq.ParquetWriter(folder / "selected.parquet", schema) as out:
            for batch in source.iter_batches(2**16, columns=every):
                part = pa.Table.from_batches([batch]).select(every).cast(schema)
                out.write_table(part)
                shown = part.select(columns).to_pandas(ignore_metadata=True)
                shown.to_csv(csv, mode="a", index=False, header=start)
                start = False
