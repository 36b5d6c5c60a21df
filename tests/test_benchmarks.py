"""The script behind `make bench`: it runs, its comparisons agree, it writes its tables. No time is asserted."""

import importlib
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from cases import swept

folder = Path(__file__).resolve().parent / "benchmarks"
sys.path.insert(0, str(folder))  # as for a script of that folder: its parts are modules there
run, rows = importlib.import_module("run"), importlib.import_module("rows")
each_part = pytest.mark.parametrize("part", run.parts)

ratio = rows.Row("ratio", "ours", "other", "How.", lambda data, n: None, "Gaussian", {"n": 1000}, {"n": 10}, 2.0)
alone = replace(ratio, name="alone", other=None, target=60)


def bench(*arguments):
    command = [sys.executable, folder / "run.py", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(folder.parent.parent)}  # the checkout, installed or not
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def table_of(text):
    return [line for line in text.splitlines() if line.startswith("| ")]


@swept("part", ["part_5_dual_projection"], [part for part in run.parts if part != "part_5_dual_projection"])
def test_quick_run_writes_every_row(part, tmp_path):
    path, module = tmp_path / "RESULTS.md", run.parts[part]
    path.write_text("# Results\n\nA note.\n", encoding="utf-8")
    done = bench("--part", part, "--quick", "--threads", "1", "--write", "--results", path)
    assert done.returncode == 0, done.stderr[-2000:]
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# Results\n\nA note.\n") and f"## {module.title}\n" in text
    table = table_of(text)
    assert len(table) == 1 + len(module.rows) and len({line.count("|") for line in table}) == 1
    assert [line.split()[1] for line in table[1:]] == [row.name for row in module.rows]
    assert all(name in text for name in ("numpy", "scikit-learn", "BLAS", "versions:"))
    assert str(folder) not in text
    assert not any(other.title in text for name, other in run.parts.items() if name != part)


def test_quick_run_of_some_rows_of_each_part():
    rows = "bss-heavy leverage-sparse rls-fit-dense ridge-risk det-first ball lpsvm rbf-50 closed-form mismatch".split()
    rows.append("scores-heavy")
    done = bench("--quick", "--threads", "1", *rows)
    assert done.returncode == 0, done.stderr[-2000:]
    assert sorted(line.split()[1] for line in table_of(done.stdout) if line.split()[1] != "row") == sorted(rows)


@each_part
def test_a_part_is_complete(part):
    module = run.parts[part]
    assert re.fullmatch(r"part_\d+_\w+", part) and module.title.startswith("Part ")
    for row in module.rows:
        assert set(row.size) == set(row.quick) and row.how.endswith(".") and row.prediction is not None
        assert row.other or not row.aim


def test_parts_have_rows_and_titles_of_their_own():
    names = [row.name for module in run.parts.values() for row in module.rows]
    titles = [module.title for module in run.parts.values()]
    assert len(set(names)) == len(names) and len(set(titles)) == len(titles)
    numbers = [int(part.split("_")[1]) for part in run.parts]
    assert numbers == sorted(set(numbers)) and numbers[0] == 1


def test_a_section_is_replaced_and_the_rest_left(tmp_path):
    path = tmp_path / "RESULTS.md"
    for title, text in (("Part one", "old"), ("Part two", "other"), ("Part one", "new")):
        run.write_section(path, title, text)
    written = path.read_text(encoding="utf-8")
    assert "old" not in written and "other" in written
    assert written.index("## Part one") < written.index("new") < written.index("## Part two")


def test_a_ratio_and_a_figure_alone():
    """What a line of the table says: medians, the figure with its spread, its bound and whether it is met."""
    line = dict(zip(run.header, run.cells(ratio, 1, [(1.0, 3.0), (1.0, 1.0), (2.0, 8.0)]), strict=True))
    assert (line["at"], line["ours"], line["other"]) == ("n=1,000, Gaussian", "1 s", "3 s")
    assert (line["ratio (spread)"], line["target"], line["target is"]) == ("3 (1 to 4)", "at least 2", "met")
    most = replace(ratio, at_least=False)
    assert run.cells(most, 1, [(1.0, 3.0)])[5] == "0.333" and most.verdict(2.1) == "missed"
    line = dict(zip(run.header, run.cells(alone, 1, [(50.0, None), (55.0, None), (70.0, None)]), strict=True))
    assert (line["ours"], line["other"], line["ratio (spread)"]) == ("55 s", "", "55 (50 to 70)")
    assert (line["target"], line["target is"]) == ("under 60 s", "met")
    assert alone.verdict(61) == "missed" and replace(alone, target=None).verdict(61) == ""
    assert "against" not in run.report([alone], [run.cells(alone, 1, [(50.0, None)])])
    assert "ours, against other. How." in run.report([ratio], [run.cells(ratio, 1, [(1.0, 3.0)])])


def test_what_is_measured_is_checked_and_warmed_up():
    calls = []

    def prepare(data, n):
        def thing(name):
            return lambda threads: (calls.append((name, n, threads)), (float(n), name))[1]

        return thing("ours"), thing("other"), lambda ours, other: calls.append((ours, other))

    pairs = list(run.measure(replace(ratio, prepare=prepare, repeats=2), [1, 2], None))
    assert pairs == [(1, [(1000.0, 1000.0)] * 2), (2, [(1000.0, 1000.0)] * 2)]
    warm = [("ours", 10, 1), ("other", 10, 1)]
    assert calls[:5] == [*warm, ("ours", 1000, 1), ("other", 1000, 1), ("ours", "other")]
    assert calls.count(("ours", "other")) == 4
    assert [count for count, _ in run.measure(replace(ratio, prepare=prepare, threads=(1,)), [1, 2], 1)] == [1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("no-such-row", "there are part_1_spine: bss-heavy"),
        ("--part no-such-part", "part_1_spine"),
        ("--write fit-heavy", "leave out names of rows"),
        ("--write --quick", "name another file"),
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
    assert alone.whole == ["part_1_spine"] and [row.name for row in alone.chosen["part_1_spine"]] == [
        row.name for row in first
    ]
    some = run.arguments(["fit-heavy", "best-gauss"])
    assert some.whole == [] and sum(len(rows) for rows in some.chosen.values()) == 2
    named = run.arguments(["--write", *(row.name for row in first)])
    assert named.whole == ["part_1_spine"]


@each_part
def test_results_hold_every_row_with_its_machine_threads_and_versions(part):
    module, text = run.parts[part], (folder / "RESULTS.md").read_text(encoding="utf-8")
    assert f"## {module.title}\n" in text, f"run make bench BENCH='--part {part} --write'"
    section = text.split(f"<!-- begin {module.title} (", 1)[1].split(f"<!-- end {module.title} -->", 1)[0]
    assert {line.split()[1] for line in table_of(section)[1:]} == {row.name for row in module.rows}
    assert all(word in section for word in ("machine:", "BLAS threads", "versions:", "target is"))
