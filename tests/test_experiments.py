"""Experiments: one answer however they are run, interrupts and damage, what a
fingerprint sees.
"""

import importlib.util
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cases import swept
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from threadpoolctl import threadpool_info

from fsel_book.papers import experiments as ex
from fsel_book.papers import ridge as ridge_paper
from fsel_book.papers.experiments import Comparison, Experiment, mean_and_error

root = Path(__file__).resolve().parent.parent


def drawn(rng, k, m="x"):
    return [dict(value=k + rng.standard_normal(), kind=kind) for kind in "ab"]


toy = Experiment("toy", drawn, dict(k=[1, 2, 3, 4]), repetitions=3)


# ---------------------------------------------------------------- one answer, however
# it is run


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
    runs = [
        one.run() for one in (toy, replace(toy, name="other"), replace(toy, seed=1))
    ]
    values = {record["value"] for records in runs for record in records}
    assert len(values) == 3 * len(runs[0])
    assert replace(toy, grid=[dict(k=[1]), dict(k=[2, 3, 4])]).run() == runs[0]
    assert replace(toy, grid=dict(k=np.arange(1, 5))).run() == runs[0]


def threads(rng):
    return dict(
        threads=[
            pool["num_threads"]
            for pool in threadpool_info()
            if pool["user_api"] == "blas"
        ]
    )


@swept("n_jobs", [1], [2])
def test_a_trial_runs_on_one_thread(n_jobs):
    for record in Experiment("threads", threads, {}, 2).run(n_jobs=n_jobs):
        assert set(record["threads"]) == {1}


@pytest.mark.sweep
@pytest.mark.slow
def test_a_trial_of_a_program_of_its_own_runs_on_two_processes(tmp_path):
    """As in a notebook, where workers cannot import the trial, but can import the
    cached readers that it calls.
    """
    (tmp_path / "program.py").write_text("""
from fsel_book.papers.experiments import Experiment, load_regression_set

def count(rng, j):
    return dict(total=load_regression_set("breast_cancer")[0][:, j].sum())

if __name__ == "__main__":
    experiment = Experiment("count", count, dict(j=[0, 1]), repetitions=2)
    assert experiment.run(n_jobs=2) == experiment.run()
""")
    environment = os.environ | dict(PYTHONPATH=str(root))
    subprocess.run(
        [sys.executable, str(tmp_path / "program.py")], env=environment, check=True
    )


values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(),
    st.floats(allow_nan=False).map(np.float64),
    st.integers(-9, 9).map(np.int32),
)


any_record = st.dictionaries(
    st.text(min_size=1),
    st.one_of(values, st.lists(values), st.tuples(values)),
    min_size=1,
)


def assert_same_from_memory_and_from_a_file(tmp_path_factory, record):
    path = tmp_path_factory.mktemp("records") / "toy.jsonl"
    _, records = (
        ex.run_trial("toy", lambda rng: record, "0", {}, 0)
        if "repetition" not in record
        else (0, [])
    )
    ex.append_line(path, {}, dict(identity="0", records=records))
    assert ex.read_finished_trials(path, {}) == {"0": records}


@settings(max_examples=15)
@given(any_record)
def test_records_are_the_same_from_memory_and_from_a_file(tmp_path_factory, record):
    assert_same_from_memory_and_from_a_file(tmp_path_factory, record)


@pytest.mark.sweep
@settings(max_examples=50)
@given(any_record)
def test_more_records_are_the_same_from_memory_and_from_a_file(
    tmp_path_factory, record
):
    assert_same_from_memory_and_from_a_file(tmp_path_factory, record)


def test_progress(capsys, tmp_path):
    toy.run(tmp_path)
    assert capsys.readouterr().err == ""
    toy.run(tmp_path, verbose=1)
    assert "toy: 100%" in capsys.readouterr().err


# ---------------------------------------------------------------- interrupts and damage

# What is started in the background of a shell ignores SIGINT, and so do its children:
# the program listens again.
PROGRAM = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from fsel_book.papers.experiments import Experiment

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
        command = [
            sys.executable,
            str(tmp_path / "program.py"),
            str(folder),
            str(n_jobs),
        ]
        return subprocess.Popen(
            command, env=environment, stderr=subprocess.DEVNULL, **kwargs
        )

    return start


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.sweep
@pytest.mark.parametrize(
    ("how", "n_jobs"), [("SIGINT", 1), ("SIGINT", 2), ("SIGKILL", 1), ("SIGKILL", 2)]
)
def test_an_interrupted_run_is_resumed(tmp_path, program, n_jobs, how):
    file = tmp_path / "results" / "slow.jsonl"
    number = getattr(signal, how)
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
    assert resumed.communicate()[0].decode().strip() == str(
        [record["value"] for record in slow.run()]
    )
    assert file.read_bytes().startswith(kept) and file.read_bytes().count(b"\n") == 21


def failing(rng, k):
    return dict(value=1 / (k - 3))


@swept("jobs", [[1]], [[1, 2]])
def test_a_failing_trial_names_its_parameters_and_costs_no_other(tmp_path, jobs):
    for n_jobs in jobs:
        with pytest.raises(
            RuntimeError,
            match=r"failing: the trial with {'k': 3}, repetition 0, failed: "
            r"ZeroDivision",
        ):
            Experiment("failing", failing, dict(k=[1, 2, 3])).run(tmp_path, n_jobs)
    assert (tmp_path / "failing.jsonl").read_text().count("\n") == 1 + 2
    assert len(Experiment("failing", failing, dict(k=[1, 2])).run(tmp_path)) == 2


@pytest.mark.parametrize(
    "returned",
    [
        3,
        [1, 2],
        None,
        dict(x=object()),
        [dict(x=1), dict(x={1})],
        {"k": 1},
        dict(repetition=0),
    ],
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


@pytest.mark.parametrize(
    "changed", [dict(seed=1), dict(trial=failing)], ids=["seed", "trial"]
)
def test_results_of_another_experiment_are_refused(tmp_path, changed):
    toy.run(tmp_path)
    before = (tmp_path / "toy.jsonl").read_bytes()
    with pytest.raises(
        ValueError, match=f"results of another {next(iter(changed))}"
    ) as error:
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
    """The fingerprint of the trial in a module of the given source; the module's name
    is always the same.
    """

    def make(source):
        # a folder for each, since Python takes a module of the same place, size and
        # second for the one that it has compiled
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        path = folder / "declared.py"
        path.write_text(source)
        spec = importlib.util.spec_from_file_location("declared", path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "declared", module)
        spec.loader.exec_module(module)
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
    assert (
        fingerprint_of(MODULE)
        == fingerprint_of(MODULE)
        == fingerprint_of(MODULE.replace(old, new))
    )


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


def test_a_fingerprint_sees_what_the_papers_share(monkeypatch):
    """A change in a function of the machinery that a paper's trial calls is a change of
    the trial.
    """

    def select_features(method, X, y, space, r, rng):
        return ex.unweighted_sampling(range(r), X.shape[1])

    before = ex.fingerprint(ridge_paper.text_errors.trial)
    select_features.__module__ = ex.__name__
    select_features.__qualname__ = "select_features"
    monkeypatch.setattr(ridge_paper, "select_features", select_features)
    assert ex.fingerprint(ridge_paper.text_errors.trial) != before


# ---------------------------------------------------------------- tables


def test_mean_and_error():
    rng = np.random.default_rng(0)
    records = [
        dict(a=a, b=b, x=x)
        for a in "pq"
        for b in (1, 2)
        for x in rng.standard_normal(5 + b)
    ]
    rows = mean_and_error(records, by=["b", "a"], of="x")
    assert [(r["b"], r["a"], r["count"]) for r in rows] == [
        (1, "p", 6),
        (2, "p", 7),
        (1, "q", 6),
        (2, "q", 7),
    ]
    x = np.array(
        [record["x"] for record in records if record["a"] == "q" and record["b"] == 2]
    )
    row = rows[-1]
    assert_allclose(
        [row["mean"], row["std"], row["error"]],
        [x.mean(), x.std(ddof=1), x.std(ddof=1) / 7**0.5],
    )
    single = mean_and_error(records[:1], ["a"], "x")[0]
    assert (
        single["mean"] == records[0]["x"]
        and np.isnan([single["std"], single["error"]]).all()
    )
    assert mean_and_error([], ["a"], "x") == []


def test_comparison():
    ours = [
        dict(method="<b>", r=1, mean=31.2, error=0.06),
        dict(method="two", r=1, mean=float("nan")),
    ]
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
    assert all(line == line.rstrip() for line in lines) and lines[1].index(
        "printed"
    ) == lines[2].index("31.8")
    html = table._repr_html_()
    assert (
        "A &amp; B" in html
        and "&lt;b&gt;" in html
        and html.count("<tr>") == 4
        and html.count("<th>") == 5
    )
    lists = Comparison(
        [dict(k=1, five=[1, 2, 3])], {(1,): [3, 2, 9]}, by=["k"], of="five"
    )
    assert lists.rows()[1] == ["1", "3, 2, 9", "1, 2, 3", "2 of 3 shared"]
    assert Comparison(ours, {}, by=["method"], spread=None).rows()[1] == [
        "<b>",
        "",
        "31.20",
        "",
    ]
