"""The records behind the pictures of the chapter Performance: `make bench
BENCH='--records all'`.

Each record is a file in fsel_book/records: lines that begin with
# say what was measured on what, then comma-separated values follow. A run goes on where
an interrupted one stopped; to measure again, remove the file.
"""

import csv
import time
import warnings
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from machine import conditions, is_installed
from methods import as_dense, costs, machines, missing, selectors, svm
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_limits

from fsel_book import certify, row_space
from fsel_book.certificates import target_rank
from fsel_book.papers.experiments import unweighted_sampling
from fsel_book.papers.selection_study import PREFERENCE_CAP, split_and_scale

folder = Path(__file__).parents[2] / "fsel_book" / "records"
peers = ("skmatter", "fastcan", "celer", "skglm", "abess")


# ---------------------------------------------------------------- time


def clock(work, *arguments):
    """What `work` returns, the seconds by the clock and of the processor, and whether
    others disturbed the run.

    A run is disturbed if the clock shows a tenth more than the processor; then it is
    done again, up to seven times if it takes less than a tenth of a second, and once up
    to ten seconds. The least disturbed one counts.
    """
    runs = []
    while True:
        wall = time.perf_counter()
        cpu = time.process_time()
        result = work(*arguments)
        wall = time.perf_counter() - wall
        cpu = time.process_time() - cpu
        runs.append((wall / (cpu + 1e-3), wall, cpu))
        disturbed, wall, cpu = min(runs)
        if disturbed <= 1.1 or len(runs) >= (
            8 if wall < 0.1 else 2 if wall < 10 else 1
        ):
            return result, wall, cpu, disturbed > 1.1


def summary(runs):
    """The figures of time of a line, from the triples of its runs."""
    wall, cpu, disturbed = (np.array(column) for column in zip(*runs, strict=True))
    return dict(
        runs=len(runs),
        seconds=np.median(wall),
        least=wall.min(),
        most=wall.max(),
        cpu=np.median(cpu),
        disturbed=int(disturbed.sum()),
    )


def enough(runs, most):
    """As many runs as asked for, but three where a run takes more than four seconds."""
    return len(runs) >= (3 if runs and runs[0][0] > 4 else most)


# ---------------------------------------------------------------- selectors: time and
# quality


def qualities(space, A, y, B, y_new, indices, r, rank, machine):
    """Condition number on the leading directions, projection error, test error; of one
    selection on one split.
    """
    kappa = certify(
        space.truncate(rank), unweighted_sampling(indices, A.shape[1])
    ).kappa
    C = A[:, indices]
    D = B[:, indices]
    Q, S, _ = np.linalg.svd(as_dense(C), full_matrices=False)
    Q = Q[:, S > 1e-10 * S[0]]
    whole = np.sum(space.singular_values**2)
    best = np.sum(space.singular_values[r:] ** 2)
    left = max(whole - np.linalg.norm(A.T @ Q) ** 2, 0.0)
    error = 100 * np.mean(machine.fit(C, y).predict(D) != y_new)
    return min(kappa, PREFERENCE_CAP), np.sqrt(left / best), error, len(indices)


def compare_selectors(data, r, splits, most, limit):
    """One line for each method: medians of the time and means of the qualities over the
    splits.
    """
    times, found, estimates = ({one.name: [] for one in selectors} for _ in range(3))
    everything = []
    for split in range(splits):
        A, y, B, y_new, _ = split_and_scale(data, split, most)
        dense = as_dense(A)
        space = row_space(A)
        rank = target_rank(None, space.numerical_rank, r)
        everything.append(100 * np.mean(svm().fit(A, y).predict(B) != y_new))
        for one in selectors:
            if not is_installed(one.package) or enough(times[one.name], splits):
                continue
            X = dense if one.dense else A
            if one.estimate is not None and not times[one.name]:
                estimates[one.name].append(one.estimate(X, y, r))
                if np.median(estimates[one.name]) > limit:
                    continue
            fitted, *run = clock(one.select, X, y, r)
            times[one.name].append(run)
            indices = np.sort(one.chosen(fitted))
            found[one.name].append(
                qualities(space, A, y, B, y_new, indices, r, rank, svm())
            )
    size = dict(data=data, n=A.shape[0], d=A.shape[1], r=r, rank=rank)
    for one in selectors:
        line = dict(
            size,
            method=one.name,
            package=one.package,
            labels=int(one.labels),
            certified=int(one.certificate),
        )
        if times[one.name]:
            kappa, projection, error, chosen = np.array(found[one.name]).T
            line |= summary(times[one.name]) | dict(
                estimated=0,
                chosen=chosen.mean(),
                kappa=np.exp(np.log(kappa).mean()),
                kappa_error=standard_error(np.log(kappa)),
                projection=projection.mean(),
                projection_error=standard_error(projection),
                error=error.mean(),
                error_error=standard_error(error),
            )
            yield line
        elif estimates[one.name]:
            yield line | dict(
                runs=0, seconds=np.median(estimates[one.name]), estimated=1
            )
    yield dict(
        size,
        method="all features",
        runs=0,
        error=np.mean(everything),
        error_error=standard_error(everything),
    )


def standard_error(values):
    return np.std(values, ddof=1) / len(values) ** 0.5 if len(values) > 1 else np.nan


# ---------------------------------------------------------------- linear machines for
# wide data


def compare_machines(data, splits, most):
    """One line for each machine: errors, and the median time of one fit, at a strength
    found by cross-validation.
    """
    times, found = ({one.name: [] for one in machines} for _ in range(2))
    for split in range(splits):
        A, y, B, y_new, _ = split_and_scale(data, split, most)
        for one in machines:
            if not is_installed(one.package):
                continue
            strength = best_strength(one, A, y)
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always", ConvergenceWarning)
                machine, *run = clock(
                    partial(one.make(strength, A.shape[0]).fit, **one.options), A, y
                )
            times[one.name].append(run)
            error = 100 * np.mean(machine.predict(B) != y_new)
            unconverged = bool(said)
            found[one.name].append(
                (error, np.count_nonzero(machine.coef_), unconverged, strength)
            )
    size = dict(data=data, n=A.shape[0], d=A.shape[1])
    for one in machines:
        if times[one.name]:
            error, features, unconverged, strength = np.array(found[one.name]).T
            yield (
                dict(size, method=one.name, package=one.package)
                | summary(times[one.name])
                | dict(
                    strength=np.median(strength),
                    features=np.median(features),
                    error=error.mean(),
                    error_error=standard_error(error),
                    unconverged=int(unconverged.sum()),
                )
            )


def best_strength(machine, A, y):
    """Of least error in three folds; the strongest penalty among equals."""
    n = round(2 / 3 * A.shape[0])
    errors = []
    for strength in machine.strengths:
        search = GridSearchCV(machine.make(strength, n), {}, cv=3, refit=False)
        errors.append(
            1 - search.fit(A, y, **machine.options).cv_results_["mean_test_score"][0]
        )
    return machine.strengths[int(np.argmin(errors))]


# ---------------------------------------------------------------- cost against n, d and
# r


@lru_cache(maxsize=4)
def heavy_tailed(n, d):
    """Gaussian columns times scales from Pareto(1.5), and the side that a mixture of
    ten columns is on.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) * rng.pareto(1.5, size=d)
    return X, X[:, :10] @ rng.standard_normal(10) > 0


def measure_costs(axis, step, repeats, divisor=1):
    """One line for each selector at one size, in turn."""
    chosen = [
        cost for cost in costs if axis in cost.first and step < cost.first[axis][3]
    ]
    sizes = {cost.name: cost.size(axis, step, divisor) for cost in chosen}
    times = {cost.name: [] for cost in chosen}
    for _ in range(repeats):
        for cost in chosen:
            if not enough(times[cost.name], repeats):
                n, d, r = sizes[cost.name].values()
                X, y = heavy_tailed(n, d)
                times[cost.name].append(clock(cost.fit, X, y, r)[1:])
    for cost in chosen:
        line = dict(
            axis=axis,
            step=step,
            method=cost.name,
            **sizes[cost.name],
            stated=cost.stated[axis],
        )
        yield line | summary(times[cost.name])


# ---------------------------------------------------------------- files

spent = ["runs", "seconds", "least", "most", "cpu", "disturbed"]
columns = {
    "selectors": "data n d r rank method package labels certified".split()
    + [*spent, "estimated"]
    + "chosen kappa kappa_error projection projection_error error error_error date".split(),
    "machines": "data n d method package".split()
    + spent
    + "strength features error error_error unconverged date".split(),
    "costs": "axis step method n d r stated".split() + [*spent, "date"],
}
sets = (("prostate", 50), ("pcmac", 50), ("caltech6_hsv", 50), ("spambase", 20))
wide_sets = ("prostate", "dexter_train")
longest = {
    axis: max(cost.first[axis][3] for cost in costs if axis in cost.first)
    for axis in "ndr"
}
# For each record its groups, whose lines are measured together: what they have in
# common, and what measures them.
full = {
    "selectors": [(dict(data=data, r=r), lambda g: compare_selectors(**g, splits=10, most=5000, limit=60))
                  for data, r in sets],
    "machines": [(dict(data=data), lambda g: compare_machines(**g, splits=10, most=5000)) for data in wide_sets],
    "costs": [(dict(axis=axis, step=step), lambda g: measure_costs(**g, repeats=5))
              for axis in "ndr" for step in range(longest[axis])],
}  # fmt: skip
toy = {
    "selectors": [(dict(data="breast_cancer", r=4),
                   lambda g: compare_selectors(**g, splits=2, most=60, limit=0.01))],
    "machines": [(dict(data="breast_cancer"), lambda g: compare_machines(**g, splits=1, most=40))],
    "costs": [(dict(axis=axis, step=0), lambda g: measure_costs(**g, repeats=1, divisor=5)) for axis in "ndr"],
}  # fmt: skip


def head(name):
    """The lines above the values: conditions of the measurement, but for the date,
    which stands in each line.
    """
    facts = [fact for fact in conditions(peers) if fact[0] != "date"]
    return [
        f"# {key}: {value}\n"
        for key, value in [("record", name), ("BLAS threads", 1), *facts]
    ]


def stored(path, name):
    """The lines of values that a file has, as dictionaries of text."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if [line for line in lines if line.startswith("#")] != head(name):
        raise SystemExit(
            f"{path} was measured on another machine or with other versions: remove "
            f"it to measure again"
        )
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def as_text(value):
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{value:.4g}"
    return str(value)


def write(path, name, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.writelines(head(name))
        table = csv.DictWriter(file, columns[name], lineterminator="\n")
        table.writeheader()
        table.writerows(lines)


def warm_up():
    """Everything once at a toy size: what is loaded or compiled at first use is not
    timed.
    """
    for measure_all in toy.values():
        for group, measure in measure_all:
            list(measure(group))


def record(name, into=folder, quick=False):
    """Measure the groups that the file of this name lacks."""
    path = Path(into) / f"{name}.csv"
    date = dict(conditions())["date"]
    lines = stored(path, name)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not quick:
            warm_up()
        for group, measure in (toy if quick else full)[name]:
            if any(
                all(line[key] == str(value) for key, value in group.items())
                for line in lines
            ):
                continue
            start = time.perf_counter()
            lines += [
                {key: as_text(value) for key, value in (line | dict(date=date)).items()}
                for line in measure(group)
            ]
            write(path, name, lines)
            print(f"{name}: {group}, {time.perf_counter() - start:.0f} s", flush=True)


def record_all(names, into=folder, quick=False):
    for package, left_out in missing([*selectors, *machines]).items():
        print(f"skipped, as {package} is not installed: {', '.join(left_out)}")
    for name in columns if "all" in names else names:
        record(name, into, quick)
