"""The script behind `make bench`: it runs, its comparisons agree, it writes its tables.
No time is asserted.
"""

import ast
import csv
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from configparser import ConfigParser
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import Ridge

folder = Path(__file__).resolve().parent / "benchmarks"
stored_records = folder.parents[1] / "fsel_book" / "records"
# as for a script of that folder: its parts are modules there
sys.path.insert(0, str(folder))
run, rows, methods, machine, records, accelerator, kinds, defaults, later, landscape = (
    map(
        importlib.import_module,
        "run rows methods machine records accelerator kinds defaults later landscape".split(),
    )
)
kernel_peers = importlib.import_module("kernel_peers")
each_part = pytest.mark.parametrize("part", run.parts)

ratio = rows.Row(
    "ratio",
    "ours",
    "other",
    "How.",
    lambda data, n: None,
    "Gaussian",
    {"n": 1000},
    {"n": 10},
    2.0,
)
alone = replace(ratio, name="alone", other=None, target=60)


def bench(*arguments):
    command = [sys.executable, folder / "run.py", *arguments]
    # the checkout, installed or not
    environment = {**os.environ, "PYTHONPATH": str(folder.parent.parent)}
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def table_of(text):
    return [line for line in text.splitlines() if line.startswith("| ")]


@pytest.mark.sweep
@each_part
def test_quick_run_writes_every_row(part, tmp_path):
    path = tmp_path / "RESULTS.md"
    module = run.parts[part]
    path.write_text("# Results\n\nA note.\n", encoding="utf-8")
    done = bench(
        "--part", part, "--quick", "--threads", "1", "--write", "--results", path
    )
    assert done.returncode == 0, done.stderr[-2000:]
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# Results\n\nA note.\n") and f"## {module.title}\n" in text
    table = table_of(text)
    assert (
        len(table) == 1 + len(module.rows)
        and len({line.count("|") for line in table}) == 1
    )
    assert [line.split()[1] for line in table[1:]] == [row.name for row in module.rows]
    assert all(name in text for name in ("numpy", "scikit-learn", "BLAS", "versions:"))
    assert str(folder) not in text
    assert not any(
        other.title in text for name, other in run.parts.items() if name != part
    )


def test_quick_run_of_some_rows_of_each_part():
    rows = (
        "bss-heavy leverage-sparse rls-fit-dense ridge-risk det-first ball lpsvm "
        "rbf-50 closed-form mismatch"
    ).split()
    rows.append("scores-heavy")
    done = bench("--quick", "--threads", "1", *rows)
    assert done.returncode == 0, done.stderr[-2000:]
    assert sorted(
        line.split()[1] for line in table_of(done.stdout) if line.split()[1] != "row"
    ) == sorted(rows)


@each_part
def test_a_part_is_complete(part):
    module = run.parts[part]
    assert re.fullmatch(r"part_\d+_\w+", part) and module.title.startswith("Part ")
    for row in module.rows:
        assert (
            set(row.size) == set(row.quick)
            and row.how.endswith(".")
            and row.prediction is not None
        )
        assert row.other or not row.aim


def test_parts_have_rows_and_titles_of_their_own():
    names = [row.name for module in run.parts.values() for row in module.rows]
    titles = [module.title for module in run.parts.values()]
    assert len(set(names)) == len(names) and len(set(titles)) == len(titles)
    numbers = [int(part.split("_")[1]) for part in run.parts]
    assert numbers == sorted(set(numbers)) and numbers[0] == 1


def test_a_section_is_replaced_and_the_rest_left(tmp_path):
    path = tmp_path / "RESULTS.md"
    for title, text in (
        ("Part one", "old"),
        ("Part two", "other"),
        ("Part one", "new"),
    ):
        run.write_section(path, title, text)
    written = path.read_text(encoding="utf-8")
    assert "old" not in written and "other" in written
    assert (
        written.index("## Part one")
        < written.index("new")
        < written.index("## Part two")
    )


def test_a_ratio_and_a_figure_alone():
    """What a line of the table says: medians, the figure with its spread, its bound and
    whether it is met.
    """
    line = dict(
        zip(
            run.header,
            run.cells(ratio, 1, [(1.0, 3.0), (1.0, 1.0), (2.0, 8.0)]),
            strict=True,
        )
    )
    assert (line["at"], line["ours"], line["other"]) == (
        "n=1,000, Gaussian",
        "1 s",
        "3 s",
    )
    assert (line["ratio (spread)"], line["target"], line["target is"]) == (
        "3 (1 to 4)",
        "at least 2",
        "met",
    )
    most = replace(ratio, at_least=False)
    assert (
        run.cells(most, 1, [(1.0, 3.0)])[5] == "0.333" and most.verdict(2.1) == "missed"
    )
    line = dict(
        zip(
            run.header,
            run.cells(alone, 1, [(50.0, None), (55.0, None), (70.0, None)]),
            strict=True,
        )
    )
    assert (line["ours"], line["other"], line["ratio (spread)"]) == (
        "55 s",
        "",
        "55 (50 to 70)",
    )
    assert (line["target"], line["target is"]) == ("under 60 s", "met")
    assert (
        alone.verdict(61) == "missed" and replace(alone, target=None).verdict(61) == ""
    )
    assert "against" not in run.report([alone], [run.cells(alone, 1, [(50.0, None)])])
    assert "ours, against other. How." in run.report(
        [ratio], [run.cells(ratio, 1, [(1.0, 3.0)])]
    )


def test_what_is_measured_is_checked_and_warmed_up():
    calls = []

    def prepare(data, n):
        def thing(name):
            return lambda threads: (calls.append((name, n, threads)), (float(n), name))[
                1
            ]

        return (
            thing("ours"),
            thing("other"),
            lambda ours, other: calls.append((ours, other)),
        )

    pairs = list(run.measure(replace(ratio, prepare=prepare, repeats=2), [1, 2], None))
    assert pairs == [(1, [(1000.0, 1000.0)] * 2), (2, [(1000.0, 1000.0)] * 2)]
    warm = [("ours", 10, 1), ("other", 10, 1)]
    assert calls[:5] == [
        *warm,
        ("ours", 1000, 1),
        ("other", 1000, 1),
        ("ours", "other"),
    ]
    assert calls.count(("ours", "other")) == 4
    assert [
        count
        for count, _ in run.measure(
            replace(ratio, prepare=prepare, threads=(1,)), [1, 2], 1
        )
    ] == [1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("no-such-row", "there are part_1_spine: bss-heavy"),
        ("--part no-such-part", "part_1_spine"),
        ("--write fit-heavy", "leave out names of rows"),
        ("--write --quick", "name another file"),
        ("--records all --quick", "name another folder"),
        ("--records no-such-record", "selectors"),
    ],
)
def test_misuse_is_explained(capsys, arguments, words):
    with pytest.raises(SystemExit):
        run.arguments(arguments.split())
    assert words in capsys.readouterr().err


def test_rows_and_parts_are_chosen_by_name():
    first = run.parts["part_1_spine"].rows
    everything = run.arguments([])
    assert everything.whole == list(run.parts) == list(everything.chosen)
    alone = run.arguments(["--part", "part_1_spine"])
    assert alone.whole == ["part_1_spine"] and [
        row.name for row in alone.chosen["part_1_spine"]
    ] == [row.name for row in first]
    some = run.arguments(["fit-heavy", "best-gauss"])
    assert some.whole == [] and sum(len(rows) for rows in some.chosen.values()) == 2
    named = run.arguments(["--write", *(row.name for row in first)])
    assert named.whole == ["part_1_spine"]


@each_part
def test_results_hold_every_row_with_its_machine_threads_and_versions(part):
    module = run.parts[part]
    text = (stored_records / "RESULTS.md").read_text(encoding="utf-8")
    assert f"## {module.title}\n" in text, (
        f"run make bench BENCH='--part {part} --write'"
    )
    section = text.split(f"<!-- begin {module.title} (", 1)[1].split(
        f"<!-- end {module.title} -->", 1
    )[0]
    assert {line.split()[1] for line in table_of(section)[1:]} == {
        row.name for row in module.rows
    }
    assert all(
        word in section
        for word in ("machine:", "BLAS threads", "versions:", "target is")
    )


# ---------------------------------------------------------------- the records that the
# chapter Performance draws


def values(path):
    """The conditions above the values of a record, and its lines."""
    lines = path.read_text(encoding="utf-8").splitlines()
    facts = dict(
        line.removeprefix("# ").split(": ", 1) for line in lines if line.startswith("#")
    )
    return facts, list(
        csv.DictReader(line for line in lines if not line.startswith("#"))
    )


@pytest.mark.sweep
def test_records_at_toy_size(tmp_path):
    """Every method that is installed has its line; those that are not are named with
    the package they lack.
    """
    done = bench("--records", "all", "--quick", "--into", tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    absent = methods.missing([*methods.selectors, *methods.machines])
    for package, names in absent.items():
        assert (
            f"skipped, as {package} is not installed: {', '.join(names)}\n"
            in done.stdout
        )
    for name, wanted in (
        ("selectors", methods.selectors),
        ("machines", methods.machines),
        ("costs", methods.costs),
    ):
        facts, lines = values(tmp_path / f"{name}.csv")
        assert facts["BLAS threads"] == "1" and all(
            facts[fact] for fact in ("machine", "BLAS", "versions")
        )
        assert list(lines[0]) == records.columns[name]
        left_out = {one for names in absent.values() for one in names}
        assert {line["method"] for line in lines} == {
            one.name for one in wanted
        } - left_out | ({"all features"} if name == "selectors" else set())
        assert all(float(line["seconds"]) > 0 for line in lines if line["runs"] != "0")
        figures = {
            "selectors": ("kappa", "projection", "error"),
            "machines": ("error", "features"),
            "costs": (),
        }[name]
        assert all(
            float(line[figure]) >= 0
            for line in lines
            if line["runs"] != "0"
            for figure in figures
        )


def test_the_extra_of_the_benchmarks_has_every_peer():
    settings = ConfigParser(delimiters=["="])
    settings.read(folder.parent.parent / "settings.ini", encoding="utf-8")
    needed = {
        line.split(">")[0] for line in settings["DEFAULT"]["requirements"].split()
    } | {"fsel_book"}
    packages = {one.package for one in [*methods.selectors, *methods.machines]} - needed
    assert packages == set(records.peers)
    named = set(settings["DEFAULT"]["bench_requirements"].split())
    # a script that is not imported here, since it imports its peers
    script = (folder / "wavelengths.py").read_text(encoding="utf-8")
    of_wavelengths = re.search(r"^packages = (\(.*?\))", script, re.M | re.S)[1]
    peers = {*landscape.peers, *kernel_peers.peers, *ast.literal_eval(of_wavelengths)}
    assert named == packages | peers


def test_a_peer_that_is_not_installed_is_left_out_and_named(
    tmp_path, monkeypatch, capsys
):
    pytest.importorskip("scipy", "1.15", reason="interp_decomp has another signature")
    monkeypatch.setattr(
        machine, "find_spec", lambda name: None if name in records.peers else name
    )
    monkeypatch.setitem(records.toy, "costs", [])
    records.record_all(["selectors"], tmp_path, quick=True)
    assert (
        "skipped, as skmatter is not installed: CUR, FPS\n" in capsys.readouterr().out
    )
    names = {line["method"] for line in values(tmp_path / "selectors.csv")[1]}
    assert "RFE" in names and not names & {"CUR", "FPS", "FastCan"}


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not on the PATH")
def test_make_bench_has_an_environment_of_its_own(tmp_path):
    for name in ("Makefile", "settings.ini", "setup.py", "pyproject.toml"):
        shutil.copy(folder.parent.parent / name, tmp_path)
    outer = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")  # of a `make test` that runs this
    environment = {
        name: value for name, value in os.environ.items() if name not in outer
    }
    command = ["make", "-n", "bench", "BENCH=--quick"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert (
        ".venv-bench/bin/python -m pip install --quiet --editable '.[bench]'" in lines
    )
    assert (
        lines[-1] == ".venv-bench/bin/python tests/benchmarks/run.py --quick"
        and ".venv/" not in done.stdout
    )


def test_a_record_goes_on_where_it_stopped(tmp_path, monkeypatch):
    measured = []

    def measure(group):
        measured.append(group["axis"])
        yield dict(group, method="BSS", seconds=0.123456)

    groups = [(dict(axis=axis, step=0), measure) for axis in "ndr"]
    monkeypatch.setitem(records.toy, "costs", groups[:1])
    records.record("costs", tmp_path, quick=True)
    monkeypatch.setitem(records.toy, "costs", groups)
    records.record("costs", tmp_path, quick=True)
    assert measured == ["n", "d", "r"]
    lines = values(tmp_path / "costs.csv")[1]
    assert [(line["axis"], line["seconds"]) for line in lines] == [
        (axis, "0.1235") for axis in "ndr"
    ]
    monkeypatch.setattr(
        records,
        "conditions",
        lambda packages=(): [("date", "today"), ("machine", "another")],
    )
    with pytest.raises(SystemExit, match="remove it to measure again"):
        records.record("costs", tmp_path, quick=True)


def test_a_disturbed_run_is_repeated_and_told():
    calls = []
    _, wall, cpu, disturbed = records.clock(
        lambda seconds: (calls.append(1), time.sleep(seconds)), 0.01
    )
    assert disturbed and len(calls) == 8 and wall > 1.1 * cpu
    runs = [(1.0, 1.0, False), (3.0, 2.0, True), (2.0, 2.0, False)]
    assert records.summary(runs) == dict(
        runs=3, seconds=2.0, least=1.0, most=3.0, cpu=2.0, disturbed=1
    )
    assert (
        records.enough(runs, 3)
        and not records.enough(runs, 4)
        and records.enough([(9.0, 9.0, False)] * 3, 10)
    )


def test_sizes_of_the_costs_grow_along_one_axis():
    for cost in methods.costs:
        assert set(cost.first) == set(cost.stated)
        for axis, first in cost.first.items():
            sizes = [cost.size(axis, step) for step in range(first[3])]
            assert sizes[2][axis] == 2 * sizes[0][axis] and len(sizes) >= 7
            rest = [
                {name for name in "ndr" if size[name] != sizes[0][name]} - {axis}
                for size in sizes
            ]
            assert set.union(*rest) <= (
                {"r"} if cost.name == "BSS, full rank" else set()
            )


@pytest.mark.parametrize("name", records.columns)
def test_stored_records_hold_what_the_chapter_draws(name):
    """The conditions, every method at every set or size, and the columns that the
    chapter names.
    """
    facts, lines = values(records.folder / f"{name}.csv")
    assert facts["record"] == name and all(
        facts[fact] for fact in ("BLAS threads", "machine", "BLAS", "versions")
    )
    assert all(peer in facts["versions"] for peer in records.peers)
    assert list(lines[0]) == records.columns[name] and len(lines) < 400
    wanted = {
        "selectors": methods.selectors,
        "machines": methods.machines,
        "costs": methods.costs,
    }[name]
    groups = {tuple(line[key] for key in records.full[name][0][0]) for line in lines}
    if name == "costs":
        assert {(cost.name, axis) for cost in wanted for axis in cost.first} == {
            (line["method"], line["axis"]) for line in lines
        }
    else:
        assert groups == {
            tuple(map(str, group.values())) for group, _ in records.full[name]
        }
        names = [one.name for one in wanted] + ["all features"] * (name == "selectors")
        assert sorted(line["method"] for line in lines) == sorted(names * len(groups))
    book = json.loads(
        (folder.parent.parent / "nbs/37_performance.ipynb").read_text(encoding="utf-8")
    )
    code = "".join(
        "".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"
    )
    assert f'"{name}"' in code
    used = set(re.findall(rf"\b{name}\.(\w+)\b(?!\()|\b{name}\[\"(\w+)\"\]", code))
    assert {one or other for one, other in used} <= {*records.columns[name]}


# ---------------------------------------------------------------- the record that the
# chapter on accelerators draws


def accelerator_record(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["accelerator.py", *map(str, arguments)])
    accelerator.main()


def test_fits_on_a_device_are_timed_and_compared_with_those_on_the_host(
    tmp_path, monkeypatch
):
    """With a device that only pretends to be one; a result of its own would be seen."""
    strict = pytest.importorskip(
        "array_api_strict", reason="array_api_strict is not installed"
    )
    host = accelerator.places()["NumPy"]
    device = strict.Device("device1")
    there = accelerator.Place(
        lambda a: strict.asarray(a, device=device), lambda: None, "strict on device1"
    )
    monkeypatch.setattr(accelerator, "places", lambda: {"NumPy": host, "strict": there})
    accelerator_record(monkeypatch, "--quick", "--into", tmp_path / "record.csv")
    facts, lines = values(tmp_path / "record.csv")
    assert facts["card"] == "strict on device1" and all(
        facts[fact] for fact in ("machine", "BLAS", "versions")
    )
    assert [(line["method"], line["library"]) for line in lines] == [
        (fit.name, library)
        for fit in accelerator.fits
        for library in ("NumPy", "strict")
    ]
    assert all(line["as_numpy"] == "1" and float(line["seconds"]) > 0 for line in lines)
    another = accelerator.Place(
        lambda a: strict.asarray(a[:, ::-1] if a.ndim == 2 else a),
        lambda: None,
        "strict",
    )
    monkeypatch.setattr(
        accelerator, "places", lambda: {"NumPy": host, "strict": another}
    )
    assert [
        line["as_numpy"] for line in accelerator.measure(accelerator.fits[2], 1, True)
    ] == [1, 0]


def test_no_record_of_a_card_comes_of_a_machine_without_one(monkeypatch, capsys):
    monkeypatch.setattr(accelerator, "places", lambda: {"NumPy": None})
    with pytest.raises(SystemExit):
        accelerator_record(monkeypatch)
    assert "name another file with --into" in capsys.readouterr().err


def test_the_stored_record_of_a_card_holds_every_fit():
    facts, lines = values(accelerator.file)
    assert (
        facts["record"] == "accelerator"
        and "PyTorch" in facts["card"]
        and "CuPy" in facts["card"]
    )
    assert list(lines[0]) == accelerator.columns and all(
        line["as_numpy"] == "1" for line in lines
    )
    expected = {
        (fit.name, *map(str, fit.size), fit.dtype, library)
        for fit in accelerator.fits
        for library in ("NumPy", "PyTorch", "CuPy")
    }
    assert {
        tuple(line[key] for key in accelerator.columns[:5]) for line in lines
    } == expected


# ---------------------------------------------------------------- kinds of data


def test_the_record_of_selections_without_labels_is_made_of_lines_like_these():
    found = list(defaults.lines("wine", 1))
    stored = (stored_records / "defaults.csv").read_text(encoding="utf-8").splitlines()
    lines = list(csv.DictReader(line for line in stored if not line.startswith("#")))
    assert {line["data"]: line["kind"] for line in lines} == kinds.kind_of
    wine = [line for line in lines if line["data"] == "wine"]
    names = ("samples", "features", "r", "method")
    assert [tuple(line[of] for of in names) for line in wine] == [
        tuple(map(str, line[2:6])) for line in found
    ]
    for line in lines:
        assert float(line["share"]) <= 100 and abs(float(line["distances"])) <= 100
        assert 0 <= float(line["linear"]) <= 100 and float(line["kappa"]) >= 1


def test_the_record_of_the_later_question_is_made_of_lines_like_these():
    found = list(later.lines("wine", 1))
    stored = (stored_records / "later.csv").read_text(encoding="utf-8").splitlines()
    lines = list(csv.DictReader(line for line in stored if not line.startswith("#")))
    wine = [line for line in lines if line["data"] == "wine"]
    names = ("classes", "r", "method")
    assert [tuple(line[of] for of in names) for line in wine] == [
        tuple(map(str, line[2:5])) for line in found
    ]
    assert all(int(line["classes"]) >= 3 for line in lines)
    assert all(0 <= float(line["coarse"]) <= 100 for line in lines)


def test_what_is_explained_of_others_is_what_ridge_regression_explains():
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((2, 40, 12)) @ rng.standard_normal((12, 12))
    chosen = [1, 5, 7]
    found = defaults.share_of_others(A, B, chosen)
    C = A[:, chosen] - A[:, chosen].mean(axis=0)
    lengths = np.linalg.norm(C, axis=0)
    shares = [
        1
        - np.sum((B - fit.predict(B[:, chosen] / lengths)) ** 2)
        / np.sum((B - A.mean(axis=0)) ** 2)
        for fit in (
            Ridge(max(penalty, 1e-12) * np.linalg.norm(C / lengths, 2) ** 2).fit(
                A[:, chosen] / lengths, A
            )
            for penalty in defaults.PENALTIES
        )
    ]
    assert np.min(np.abs(np.array(shares) - found)) < 1e-9


def test_the_record_of_kinds_of_data_is_made_of_lines_like_these():
    found = list(kinds.lines("wine", 1))
    stored = (stored_records / "kinds.csv").read_text(encoding="utf-8").splitlines()
    lines = list(csv.DictReader(line for line in stored if not line.startswith("#")))
    assert {line["data"]: line["kind"] for line in lines} == kinds.kind_of
    wine = [line for line in lines if line["data"] == "wine"]
    assert [
        tuple(line[of] for of in ("samples", "features", "r", "method"))
        for line in wine
    ] == [tuple(map(str, line[2:6])) for line in found]
    assert all(
        0 <= float(line["error"]) <= 100 and float(line["kappa"]) >= 1 for line in lines
    )
