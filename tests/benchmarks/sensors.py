"""Where to put sensors, by this book and by others: `python tests/benchmarks/sensors.py`.

Needs python-sensors, iris-sample-data and h5py. Three fields: monthly temperatures of the
sea near the equator; yearly temperatures of the air over North America from 1860 to 2099,
a run of a climate model under the scenario E1, on 37 by 49 points; 165 faces of 32 by 32
pixels. Sensors are placed, and reconstructions fitted, on a part of the rows; the others
judge. Of the fields in time each quarter judges once; of the faces a third, drawn five
times. The noise of a reading is a quarter of the root mean square deviation of all columns
from their means, in all rows.

The record `records/sensors.csv` has for each field, number of sensors and method the means
over the splits of

- error: root mean square, with noise, on the rows that judge, by `Reconstructor` at the
  noise; beside the noise of a reading;
- own: the same by PySensors' own reconstruction, given the noise;
- expected, least: what `SensorSelector` would say of this choice, and of any;
- seconds: processor time of a choice.
"""

import os
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from kinds import write_record
from pysensors import SSPOR
from pysensors.basis import SVD
from pysensors.optimizers import QR, TPGR

from fsel_book import BSSSelector, DSFSelector, Reconstructor, SensorSelector
from fsel_book.papers.landscape import greedy_columns
from fsel_book.reconstruction import (
    expected_error,
    least_error,
    load_sea_temperature,
)

kind_of = {"sea": "field", "air": "field", "faces": "images"}
columns = "kind data samples features r method error own expected least seconds".split()
sizes = (5, 10, 20, 40)
packages = ("python-sensors", "iris-sample-data", "h5py")
NOISE = 0.25


def load(data):
    if data == "sea":
        return load_sea_temperature().data
    if data == "air":
        import h5py
        import iris_sample_data

        path = Path(iris_sample_data.path) / "E1_north_america.nc"
        with h5py.File(path, "r") as file:
            field = file["air_temperature"][:]
        return field.reshape(len(field), -1).astype(float)
    stored = np.load(Path(os.environ["FSEL_BOOK_DATA"]) / "yale.npz")
    return stored["X"].astype(float)


def splits(data, n):
    """Rows that judge."""
    if data == "faces":
        for seed in range(5):
            yield np.sort(np.random.default_rng(seed).permutation(n)[: n // 3])
    else:
        yield from np.array_split(np.arange(n), 4)


def methods(A, r, noise, seed):
    """For each method what chooses columns of `A`, and its package's model or None."""
    centred = A - A.mean(axis=0)

    def ours(selector):
        return lambda: (selector.fit(A).get_support(indices=True), None)

    def theirs(optimizer, modes):
        def choose():
            basis = SVD(n_basis_modes=min(modes, len(A) - 2), algorithm="arpack")
            model = SSPOR(basis=basis, n_sensors=r, optimizer=optimizer)
            model.fit(centred, quiet=True, seed=seed)
            return model.get_selected_sensors(), model

        return choose

    return {
        "SensorSelector": ours(SensorSelector(r, noise=noise)),
        "without moving": ours(SensorSelector(r, noise=noise, move=False)),
        "BSS": ours(BSSSelector(r, center=True)),
        "DSF": lambda: (
            DSFSelector(r).fit(centred).get_support(indices=True),
            None,
        ),
        "greedy": lambda: (np.array(greedy_columns(centred, r)), None),
        "PySensors QR": theirs(QR(), r),
        "PySensors TPGR": theirs(
            TPGR(n_sensors=r, noise=noise, prior="decreasing"), 2 * r
        ),
        "largest variance": lambda: (np.argsort(-A.var(axis=0))[:r], None),
        "random": lambda: (
            np.random.default_rng(seed).choice(A.shape[1], r, replace=False),
            None,
        ),
    }


def one_split(data, X, test, seed):
    d = X.shape[1]
    noise = NOISE * np.linalg.norm(X - X.mean(axis=0)) / np.sqrt(X.size)
    A, B = np.delete(X, test, axis=0), X[test]
    centred = A - A.mean(axis=0)
    eigenvalues = np.linalg.eigvalsh(centred @ centred.T)[::-1]
    for r in sizes:
        for method, choose in methods(A, r, noise, seed).items():
            start = time.process_time()
            chosen, model = choose()
            seconds = time.process_time() - start
            fitted = Reconstructor(chosen, noise=noise).fit(A)
            rng = np.random.default_rng(seed)
            error = own = 0.0
            for _ in range(5):
                drawn = noise * rng.standard_normal((len(B), d))
                read = (B + drawn)[:, fitted.selected_]
                error += np.mean((B - fitted.reconstruct(read)) ** 2) / 5
                if model is not None:
                    read = (B + drawn)[:, chosen] - A.mean(axis=0)[chosen]
                    back = model.predict(read, noise=noise) + A.mean(axis=0)
                    own += np.mean((B - back) ** 2) / 5
            expected = expected_error(centred, list(chosen), noise)
            yield (
                (r, method),
                {
                    "error": np.sqrt(error) / noise,
                    "own": np.sqrt(own) / noise if model is not None else np.nan,
                    "expected": np.sqrt(expected) / noise,
                    "least": least_error(eigenvalues, r, noise, len(A), d) / noise,
                    "seconds": seconds,
                },
            )


def lines(data, _):
    """The means over the splits."""
    X = load(data)
    found = defaultdict(list)
    for seed, test in enumerate(splits(data, len(X))):
        for of, line in one_split(data, X, test, seed):
            found[of].append(line)
    for (r, method), some in found.items():
        mean = {name: np.mean([line[name] for line in some]) for name in some[0]}
        figures = ("" if np.isnan(x) else f"{x:.4g}" for x in mean.values())
        yield [kind_of[data], data, len(X), X.shape[1], r, method, *figures]


if __name__ == "__main__":
    write_record("sensors", __doc__, columns, lines, 5, list(kind_of), packages)
