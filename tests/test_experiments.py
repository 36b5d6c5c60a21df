"""Experiments: one answer however they are run, interrupts and damage, what a fingerprint sees, the paper's trials."""

import csv
import importlib.util
import linecache
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_info

from fsel_book import certify_span, make_bhattacharyya, make_bhattacharyya_regression, row_space
from fsel_book import experiments as ex
from fsel_book.experiments import Comparison, Experiment, mean_and_error

root = Path(__file__).resolve().parent.parent


def drawn(rng, k, m="x"):
    return [dict(value=k + rng.standard_normal(), kind=kind) for kind in "ab"]


toy = Experiment("toy", drawn, dict(k=[1, 2, 3, 4]), repetitions=3)


# ---------------------------------------------------------------- one answer, however it is run


def test_results_do_not_depend_on_processes_order_or_storage(tmp_path):
    records = toy.run()
    assert len(records) == 4 * 3 * 2
    assert toy.run(n_jobs=2) == toy.run(tmp_path) == toy.run(str(tmp_path)) == records
    backwards = replace(toy, grid=dict(k=[4, 3, 2, 1])).run()
    assert sorted(map(str, backwards)) == sorted(map(str, records))


def test_more_parameters_and_repetitions_only_add(tmp_path):
    toy.run(tmp_path)
    larger = replace(toy, grid=dict(k=[0, 1, 2, 3, 4]), repetitions=4)
    records = larger.run(tmp_path)
    assert records == larger.run()
    assert [r for r in records if r["k"] > 0 and r["repetition"] < 3] == toy.run()
    assert len((tmp_path / "toy.jsonl").read_text().splitlines()) == 1 + 5 * 4


def test_name_seed_parameters_and_repetition_decide_the_random_numbers():
    runs = [one.run() for one in (toy, replace(toy, name="other"), replace(toy, seed=1))]
    values = {record["value"] for records in runs for record in records}
    assert len(values) == 3 * len(runs[0])
    assert replace(toy, grid=[dict(k=[1]), dict(k=[2, 3, 4])]).run() == runs[0]
    assert replace(toy, grid=dict(k=np.arange(1, 5))).run() == runs[0]


def threads(rng):
    return dict(threads=[pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"])


def test_a_trial_runs_on_one_thread():
    for n_jobs in (1, 2):
        for record in Experiment("threads", threads, {}, 2).run(n_jobs=n_jobs):
            assert set(record["threads"]) == {1}


values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(),
    st.floats(allow_nan=False).map(np.float64),
    st.integers(-9, 9).map(np.int32),
)


@settings(max_examples=50)
@given(st.dictionaries(st.text(min_size=1), st.one_of(values, st.lists(values), st.tuples(values)), min_size=1))
def test_records_are_the_same_from_memory_and_from_a_file(tmp_path_factory, record):
    path = tmp_path_factory.mktemp("records") / "toy.jsonl"
    _, records = ex.run_trial("toy", lambda rng: record, "0", {}, 0) if "repetition" not in record else (0, [])
    ex.append_line(path, {}, dict(identity="0", records=records))
    assert ex.finished_trials(path, {}) == {"0": records}


def test_progress(capsys, tmp_path):
    toy.run(tmp_path)
    assert capsys.readouterr().err == ""
    toy.run(tmp_path, verbose=1)
    assert "toy: 100%" in capsys.readouterr().err


# ---------------------------------------------------------------- interrupts and damage

# What is started in the background of a shell ignores SIGINT, and so do its children: the program listens again.
PROGRAM = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from fsel_book.experiments import Experiment

def slow(rng, k):
    time.sleep(0.1)
    return dict(value=rng.standard_normal() + k)

if __name__ == "__main__":
    experiment = Experiment("slow", slow, dict(k=[1, 2, 3, 4]), repetitions=5)
    try: records = experiment.run(sys.argv[1], n_jobs=int(sys.argv[2]))
    except KeyboardInterrupt: sys.exit(3)
    print([record["value"] for record in records])
"""


def undisturbed(rng, k):
    return dict(value=rng.standard_normal() + k)


slow = Experiment("slow", undisturbed, dict(k=[1, 2, 3, 4]), repetitions=5)


@pytest.fixture
def program(tmp_path):
    """A function that starts the program above on a folder, with so many processes."""
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = os.environ | dict(PYTHONPATH=str(root))

    def start(folder, n_jobs, **kwargs):
        command = [sys.executable, str(tmp_path / "program.py"), str(folder), str(n_jobs)]
        return subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL, **kwargs)

    return start


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("how", ["SIGINT", "SIGKILL"])
def test_an_interrupted_run_is_resumed(tmp_path, program, n_jobs, how):
    file, number = tmp_path / "results" / "slow.jsonl", getattr(signal, how)
    stopped = program(file.parent, n_jobs, stdout=subprocess.DEVNULL)
    for _ in range(6000):
        if file.exists() and file.read_bytes().count(b"\n") >= 5:
            break
        time.sleep(0.01)
    stopped.send_signal(number)
    assert stopped.wait(60) == (3 if how == "SIGINT" else -number)
    kept = file.read_bytes()
    kept = kept[: kept.rfind(b"\n") + 1]
    assert 5 <= kept.count(b"\n") < 21

    resumed = program(file.parent, n_jobs, stdout=subprocess.PIPE)
    assert resumed.communicate()[0].decode().strip() == str([record["value"] for record in slow.run()])
    assert file.read_bytes().startswith(kept) and file.read_bytes().count(b"\n") == 21


def failing(rng, k):
    return dict(value=1 / (k - 3))


def test_a_failing_trial_names_its_parameters_and_costs_no_other(tmp_path):
    for n_jobs in (1, 2):
        with pytest.raises(RuntimeError, match=r"failing: the trial with {'k': 3}, repetition 0, failed: ZeroDivision"):
            Experiment("failing", failing, dict(k=[1, 2, 3])).run(tmp_path, n_jobs)
    assert (tmp_path / "failing.jsonl").read_text().count("\n") == 1 + 2
    assert len(Experiment("failing", failing, dict(k=[1, 2])).run(tmp_path)) == 2


@pytest.mark.parametrize(
    "returned", [3, [1, 2], None, dict(x=object()), [dict(x=1), dict(x={1})], {"k": 1}, dict(repetition=0)]
)
def test_a_trial_that_returns_what_cannot_be_kept_is_refused(returned):
    with pytest.raises(RuntimeError, match=r"{'k': 1}, repetition 0, failed"):
        Experiment("wrong", lambda rng, k: returned, dict(k=[1])).run()


def test_a_trial_may_return_nothing():
    assert Experiment("none", lambda rng, k: [], dict(k=[1])).run() == []


def test_a_damaged_line_is_named(tmp_path):
    toy.run(tmp_path)
    file = tmp_path / "toy.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([*lines[:3], "{not json\n", *lines[3:]]))
    with pytest.raises(ValueError, match=r"toy\.jsonl, line 4, is damaged"):
        toy.run(tmp_path)
    file.write_text("".join(lines[:3] + lines[4:]))
    assert toy.run(tmp_path) == toy.run()


@pytest.mark.parametrize("changed", [dict(seed=1), dict(trial=failing)], ids=["seed", "trial"])
def test_results_of_another_experiment_are_refused(tmp_path, changed):
    toy.run(tmp_path)
    before = (tmp_path / "toy.jsonl").read_bytes()
    with pytest.raises(ValueError, match=f"results of another {next(iter(changed))}") as error:
        replace(toy, **changed).run(tmp_path)
    assert str(tmp_path) in str(error.value) and "remove that file" in str(error.value)
    assert (tmp_path / "toy.jsonl").read_bytes() == before


def test_results_of_another_version_are_refused(tmp_path, monkeypatch):
    toy.run(tmp_path)
    monkeypatch.setattr(ex, "__version__", "99")
    with pytest.raises(ValueError, match="results of another version"):
        toy.run(tmp_path)


@pytest.mark.parametrize(
    "wrong, message",
    [
        (dict(name="a/b"), "name='a/b'"),
        (dict(name=""), "name=''"),
        (dict(name=3), "name=3"),
        (dict(repetitions=0), "repetitions=0"),
        (dict(repetitions=1.5), "repetitions=1.5"),
        (dict(seed=None), "seed=None"),
        (dict(seed=0.5), "seed=0.5"),
        (dict(grid=dict(k=3)), "'k'"),
        (dict(grid=3), "grid"),
        (dict(grid=dict(k=[{1}])), r"\{1\}"),
    ],
)
def test_bad_declarations(wrong, message):
    with pytest.raises((ValueError, TypeError), match=message):
        replace(toy, **wrong)


# ---------------------------------------------------------------- fingerprints

MODULE = """
import numpy as np
from functools import lru_cache
from math import sqrt
UNUSED = 1
FACTOR = 3
DATA = np.arange(4.0)
@lru_cache
def helper(x):
    "Helps."
    return FACTOR * x
class Model:
    offset = 1
    def predict(self, x): return deep(x) + self.offset
def deep(x): return x - 1
def outer(n):
    def inner(x): return x + n
    return inner
shifted = outer(2)
moved = outer(3)
def trial(rng, k, scale=FACTOR):
    "A trial."
    return dict(value=sum(helper(v) for v in DATA) + Model().predict(k) + shifted(k) * moved(k) * scale + sqrt(k))
def other(rng): return 1
"""


@pytest.fixture
def fingerprint_of(tmp_path, monkeypatch):
    """The fingerprint of the trial in a module of the given source; the module's name is always the same."""

    def make(source):
        path = tmp_path / "declared.py"
        path.write_text(source)
        linecache.clearcache()
        module = importlib.util.module_from_spec(importlib.util.spec_from_file_location("declared", path))
        monkeypatch.setitem(sys.modules, "declared", module)
        exec(compile(source, path, "exec"), module.__dict__)
        return ex.fingerprint(module.trial)

    return make


@pytest.mark.parametrize(
    "old, new",
    [
        ('    "A trial."\n', ""),
        ('"Helps."', '"Does not help."'),
        ("return FACTOR * x", "return FACTOR*x  # three"),
        ("def other(rng): return 1", "def other(rng): return 2"),
        ("class Model:\n", 'class Model:\n    "A model."\n'),
        ("import numpy as np\n", "import json\nimport numpy as np\n\n\n"),
        ("UNUSED = 1", "UNUSED = 2"),
    ],
)
def test_what_a_fingerprint_does_not_see(fingerprint_of, old, new):
    assert old in MODULE
    assert fingerprint_of(MODULE) == fingerprint_of(MODULE) == fingerprint_of(MODULE.replace(old, new))


@pytest.mark.parametrize(
    "old, new",
    [
        ("FACTOR = 3", "FACTOR = 4"),
        ("arange(4.0)", "arange(5.0)"),
        ("return FACTOR * x", "return FACTOR + x"),
        ("return x - 1", "return x - 2"),
        ("offset = 1", "offset = 2"),
        ("return x + n", "return x * n"),
        ("shifted = outer(2)", "shifted = outer(4)"),
        ("moved = outer(3)", "moved = outer(4)"),
        ("scale=FACTOR", "scale=4"),
        ("Model().predict(k)", "Model().predict(2 * k)"),
        ("from math import sqrt", "from math import exp as sqrt"),
    ],
)
def test_what_a_fingerprint_sees(fingerprint_of, old, new):
    assert old in MODULE
    assert fingerprint_of(MODULE) != fingerprint_of(MODULE.replace(old, new))


def test_fingerprints_are_the_same_in_every_process():
    code = """
from fsel_book.experiments import fingerprint, synthetic_choices, text_errors
print(fingerprint(text_errors.trial), fingerprint(synthetic_choices.trial))
"""
    found = {f"{ex.fingerprint(ex.text_errors.trial)} {ex.fingerprint(ex.synthetic_choices.trial)}"}
    for seed in "12":
        environment = os.environ | dict(PYTHONPATH=str(root), PYTHONHASHSEED=seed)
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        found.add(done.stdout.strip())
    assert len(found) == 1


# ---------------------------------------------------------------- tables


def test_mean_and_error():
    rng = np.random.default_rng(0)
    records = [dict(a=a, b=b, x=x) for a in "pq" for b in (1, 2) for x in rng.standard_normal(5 + b)]
    rows = mean_and_error(records, by=["b", "a"], of="x")
    assert [(r["b"], r["a"], r["count"]) for r in rows] == [(1, "p", 6), (2, "p", 7), (1, "q", 6), (2, "q", 7)]
    x, row = np.array([record["x"] for record in records if record["a"] == "q" and record["b"] == 2]), rows[-1]
    assert_allclose([row["mean"], row["std"], row["error"]], [x.mean(), x.std(ddof=1), x.std(ddof=1) / 7**0.5])
    single = mean_and_error(records[:1], ["a"], "x")[0]
    assert single["mean"] == records[0]["x"] and np.isnan([single["std"], single["error"]]).all()
    assert mean_and_error([], ["a"], "x") == []


def test_comparison():
    ours = [dict(method="<b>", r=1, mean=31.2, error=0.06), dict(method="two", r=1, mean=float("nan"))]
    printed = {("<b>", 1): 31.76, ("three", 2): "none"}
    table = Comparison(ours, printed, by=["method", "r"], title="A & B", digits=1)
    assert table.rows() == [
        ["method", "r", "printed", "ours", "difference"],
        ["<b>", "1", "31.8", "31.2 ± 0.1", "-0.6"],
        ["two", "1", "", "nan", ""],
        ["three", "2", "none", "", ""],
    ]
    lines = str(table).splitlines()
    assert repr(table) == str(table) and lines[0] == "A & B" and len(lines) == 5
    assert all(line == line.rstrip() for line in lines) and lines[1].index("printed") == lines[2].index("31.8")
    html = table._repr_html_()
    assert "A &amp; B" in html and "&lt;b&gt;" in html and html.count("<tr>") == 4 and html.count("<th>") == 5
    lists = Comparison([dict(k=1, five=[1, 2, 3])], {(1,): [3, 2, 9]}, by=["k"], of="five")
    assert lists.rows()[1] == ["1", "3, 2, 9", "1, 2, 3", "2 of 3 shared"]
    assert Comparison(ours, {}, by=["method"], spread=None).rows()[1] == ["<b>", "", "31.20", ""]


# ---------------------------------------------------------------- the experiments of the paper


def test_the_declared_experiments():
    declared = [ex.synthetic_choices, ex.text_errors, ex.words_chosen, ex.synthetic_risks, ex.text_risks]
    assert [len(experiment.tasks()) for experiment in declared] == [60, 40, 10, 20, 8]
    assert len({experiment.name for experiment in declared}) == 5


def test_every_method_selects():
    X, y, _ = make_bhattacharyya(20, 60, 10, random_state=0)
    space = row_space(X)
    for method in ex.METHODS:
        sampling, again = (ex.select(method, X, y, space, 30, np.random.RandomState(0)) for _ in range(2))
        assert sampling.n_features == 60 and sampling.n_draws == 30
        np.testing.assert_array_equal(sampling.indices, again.indices)
    np.testing.assert_array_equal(ex.select("information gain", X, y, space, 5, None).indices, range(5))
    with pytest.raises(ValueError, match="method='lasso'"):
        ex.select("lasso", X, y, space, 30, None)


def test_errors_of_a_fold_by_another_route():
    X, y, _ = ex.documents("docstrings", 60)
    train, test = np.arange(50), np.arange(50, 60)
    records = list(ex.fold_errors(X[train], y[train], X[test], y[test], (60,), np.random.RandomState(0)))
    V, compared = np.linalg.svd(X[train], full_matrices=False)[2].T, 0
    for method, weights in [("BSS", "theory"), ("BSS", "one"), ("largest leverages", "one"), ("all features", "one")]:
        r = X.shape[1] if method == "all features" else 60
        sampling = ex.select(method, X[train], y[train], row_space(X[train]), r, None)
        W = np.zeros(X.shape[1])
        W[sampling.indices] = sampling.weights if weights == "theory" else 1.0
        M = V[sampling.indices].T @ V[sampling.indices]
        for record in records:
            if record["method"] == method and record["weights"] == weights:
                a = np.linalg.solve(X[train] * W @ X[train].T + record["lam"] * np.eye(50), y[train])
                for name, Z in (("error", X[test]), ("inside", X[test] @ V @ V.T)):
                    wrong = np.where(Z * W @ X[train].T @ a > 0, 1, -1) != y[test]
                    assert_allclose(record[name], 100 * np.mean(wrong))
                kept = [np.linalg.eigvalsh(M)[0], np.trace(M) / 50]
                assert_allclose([record["smallest"], record["kept"]], kept, atol=1e-8)
                assert_allclose(record["empty"], 100 * np.mean(np.all(X[test][:, sampling.indices] == 0, axis=1)))
                compared += 1
    names = [record["method"] for record in records]
    assert compared == 4 * len(ex.LAMBDAS)
    assert [names.count(name) for name in ("random", "leverage sampling", "all features")] == [5 * 4, 5 * 4 * 2, 4]


def test_rows_of_table_1_that_the_order_of_columns_makes():
    grid = dict(k=[90, 100], runs=[2], methods=[["pivoted QR", "information gain"]])
    for record in replace(ex.synthetic_choices, grid=grid, repetitions=2).run():
        r = record["r"]
        assert record["error"] == 0
        if record["method"] == "information gain":
            assert record["features"] == list(range(r, r - 5, -1)) and record["times"] == [20] * 5
        else:
            assert {r, r - 1, r - 2} <= set(record["features"])


def test_risks_against_the_formula():
    experiment = replace(ex.synthetic_risks, grid=dict(k=[90], multiples=[[6]]), repetitions=1)
    (key,) = experiment.tasks()
    X, z, _ = make_bhattacharyya_regression(30, 1000, 90, noise=0, random_state=ex.random_stream(key))
    records = [record for record in experiment.run() if record["method"] == "all features"]
    assert len(records) == len(ex.LAMBDAS)
    for record in records:
        left = np.linalg.inv(X @ X.T + 30 * record["lam"] * np.eye(30))
        assert_allclose(record["bias"], 30 * record["lam"] ** 2 * z @ left @ left @ z, rtol=1e-6)
        assert_allclose(record["variance"], np.sum((X @ X.T @ left) ** 2) / 30, rtol=1e-6)


def test_a_folder_of_techtc_stands_for_a_set(tmp_path):
    folder = tmp_path / "Exp_1_2"
    folder.mkdir()
    rng = np.random.RandomState(0)
    words = [f"{'abcdefghij'[i // 10]}{'abcdefghij'[i % 10]}words" for i in range(80)]
    counts, y = rng.poisson(0.5, (40, 80)), rng.choice([-1, 1], 40)
    (folder / "features.idx").write_text("".join(f"{i + 1} {word}\n" for i, word in enumerate(words)))
    rows = [" ".join(f"{j + 1}:{row[j]}" for j in np.flatnonzero(row)) for row in counts]
    (folder / "vectors.dat").write_text("".join(f"{label} {row}\n" for label, row in zip(y, rows)))
    X, labels, names = ex.documents(str(folder))
    np.testing.assert_array_equal(X, counts)
    np.testing.assert_array_equal(labels, y)
    assert names.tolist() == words
    records = replace(ex.text_errors, grid=dict(data=[str(folder)], sizes=[[40]]), repetitions=1).run()
    assert {record["method"] for record in records} == {"all features", *ex.METHODS}


# ---------------------------------------------------------------- sparse components


def test_the_declared_experiments_of_the_second_paper():
    declared = [ex.sparse_table, ex.sparse_readings, ex.sparse_choices, ex.sparse_alternatives, ex.many_targets]
    assert [len(experiment.tasks()) for experiment in declared] == [8000, 1800, 450, 100, 120]
    assert len({experiment.name for experiment in declared}) == 5


def test_workers_are_given_what_they_can_import():
    assert ex.importable(ex.sparse_errors) is ex.sparse_errors
    assert ex.importable(drawn) is drawn  # not in the module

    def sparse_errors(rng, data):
        return []

    assert ex.importable(sparse_errors) is sparse_errors  # of the same name, with other code


def one_split(**parameters):
    """A trial of the table on the embedded data: its records, and the training and test data that it had."""
    experiment = replace(ex.sparse_table, grid={k: [v] for k, v in parameters.items()}, repetitions=1)
    ((key, _),) = experiment.tasks().items()
    rng, (X, y) = ex.random_stream(key), ex.regression_set(parameters["data"])
    train, test = ex.split(len(y), rng)
    return experiment.run(), X[train], y[train], X[test], y[test]


def test_the_components_of_the_table_are_those_of_scikit_learn():
    records, A, b, B, c = one_split(data="breast_cancer")
    model = make_pipeline(TruncatedSVD(5, algorithm="arpack", random_state=0), LinearRegression(fit_intercept=False))
    model.fit(A, b)
    expected = [np.sqrt(np.mean((model.predict(Z) - t) ** 2)) for Z, t in ((A, b), (B, c))]
    rows = [record for record in records if record["method"] == "PCA"]
    assert [row["r"] for row in rows] == [6, 10]
    for row in rows:
        assert_allclose([row["in_sample"], row["out_sample"]], expected, rtol=1e-7)


def test_errors_and_angles_of_a_split_by_another_route():
    records, A, b, B, c = one_split(data="breast_cancer", methods=("DSF, index", "DSF, target", "greedy, components"))
    space = row_space(A, 5)
    assert len(records) == 2 * 4
    for record in records:
        if record["method"] != "PCA":
            chosen = ex.select(record["method"], A, b, space, record["r"], None)
            w = np.linalg.pinv(A[:, chosen.indices]) @ b
            errors = [np.sqrt(np.mean((Z[:, chosen.indices] @ w - t) ** 2)) for Z, t in ((A, b), (B, c))]
            assert_allclose([record["in_sample"], record["out_sample"]], errors, rtol=1e-6)
            assert_allclose(record["sine"], certify_span(space, chosen).sine, rtol=1e-5)
            assert record["n_selected"] == len(set(chosen.indices.tolist()))


def test_no_step_of_a_greedy_choice_could_have_been_better():
    X = np.random.default_rng(0).standard_normal((20, 9)) * np.arange(1, 10)
    y = np.random.default_rng(1).standard_normal(20)
    draws = ex.select("greedy, target", X, y, row_space(X, 2), 4, None).indices

    def left(columns):
        return np.sum((y - X[:, columns] @ np.linalg.lstsq(X[:, columns], y, rcond=None)[0]) ** 2)

    for step in range(4):
        others = [left([*draws[:step], j]) for j in range(9) if j not in draws[:step]]
        assert_allclose(left(draws[: step + 1]), min(others))


@pytest.mark.parametrize("scaling", ex.SCALINGS)
def test_scalings_leave_no_feature_infinite(scaling):
    X = np.column_stack([np.zeros(5), np.ones(5), np.arange(5.0)])
    assert np.isfinite(ex.rescaled(X, scaling)).all()
    with pytest.raises(ValueError, match="scaling='none'"):
        ex.rescaled(X, "none")


def test_nothing_goes_below_all_columns():
    grid = dict(data=["breast_cancer"], methods=[ex.PLAIN], scaling=["raw", "unit length", "0 to 1"])
    records = replace(ex.sparse_readings, grid=grid, repetitions=2).run()
    floor = {(x["repetition"], x["scaling"]): x["in_sample"] for x in records if x["method"] == "all features"}
    assert len(floor) == 6
    for record in records:
        assert record["in_sample"] >= floor[record["repetition"], record["scaling"]] - 1e-9


def test_readings_of_the_rows():
    y = np.repeat([1.0, 2.0, 3.0], 6)
    np.testing.assert_array_equal(ex.part_of(y, None, None), range(18))
    np.testing.assert_array_equal(ex.part_of(y, 1, None), [3, 4, 5, 9, 10, 11, 15, 16, 17])
    rows = ex.part_of(y, "drawn", np.random.RandomState(0))
    assert len(set(rows)) == 9 and np.bincount(y[rows].astype(int)).tolist() == [0, 3, 3, 3]


def test_the_printed_table_is_the_one_in_the_file():
    names = {
        "Arcene": "arcene_train",
        "I-sphere": "ionosphere",
        "LibrasMov": "libras",
        "Madelon": "madelon_train",
        "HillVal": "hill_valley",
        "Spambase": "spambase",
    }
    methods = dict(PCA="PCA", DSF="DSF, index", RSF="RSF", rnd="random")
    path = Path(os.environ.get("FSEL_BOOK_DATA", "")).parent / "papers" / "tables" / "boutsidis-2011-table3.csv"
    if not path.exists():
        pytest.skip("the file of printed figures is not here")
    with open(path) as file:
        found = {
            (names[row["dataset"]], int(row["r"]), methods[row["method"]], where): float(row[where])
            for row in csv.DictReader(file)
            for where in ("in_sample", "out_sample")
        }
    assert len(found) == 96 and ex.printed_sparse() == found


def test_alternatives_use_no_more_features_than_they_may():
    records = replace(ex.sparse_alternatives, grid=dict(data=["breast_cancer"], r=[8]), repetitions=1).run()
    assert [record["method"] for record in records] == list(ex.ALTERNATIVES)
    counts = {record["method"]: record["features"] for record in records}
    assert counts["mean"] == 0 and counts["PCA"] == 30
    assert all(count <= 8 for method, count in counts.items() if method not in ("PCA", "SparsePCA"))


@pytest.mark.parametrize("wide", [False, True])
def test_trials_with_many_targets_repeat_and_their_components_are_exact(wide, monkeypatch):
    """On wide data scikit-learn's PCA is random unless it is told not to be: the trial must not inherit that."""
    experiment = replace(ex.many_targets, grid=dict(data=["digits"], k=[3], multiples=[[2]]), repetitions=1)
    if wide:
        rng = np.random.default_rng(0)
        X = rng.standard_normal((40, 700)) * np.linspace(2, 1, 700)
        monkeypatch.setattr(ex, "task_of", lambda data, rng, genes=200: (X, X[:, :4] + 1.0))
    records = experiment.run()
    assert records == experiment.run() and len(records) == 5
    for record in records:
        assert_allclose(record["components"], 1, rtol=1e-10)
        assert record["in_sample"] <= min(record["for_these"], record["for_every"]) * (1 + 1e-9)
        assert record["for_these"] <= record["promised"] * (1 + 1e-9)
