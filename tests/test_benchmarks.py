"""The script behind `make bench`: it runs, its comparisons agree, it writes its table. No time is asserted."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

script = Path(__file__).resolve().parent / "benchmarks" / "run.py"


@pytest.fixture(scope="module")
def module():
    spec = importlib.util.spec_from_file_location("benchmarks_run", script)
    loaded = sys.modules["benchmarks_run"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    yield loaded
    del sys.modules["benchmarks_run"]


def test_quick_run_writes_every_row(tmp_path):
    path = tmp_path / "RESULTS.md"
    path.write_text("# Results\n\nA note.\n", encoding="utf-8")
    command = [sys.executable, script, "--quick", "--threads", "1", "--write", "--results", path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# Results\n\nA note.\n") and "## Part one: the spine" in text
    table = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(table) == 11 and len({line.count("|") for line in table}) == 1
    assert all(name in text for name in ("numpy", "scikit-learn", "BLAS", "memory"))
    assert str(script.parent) not in text


def test_a_section_is_replaced_and_the_rest_left(module, tmp_path):
    path = tmp_path / "RESULTS.md"
    for title, text in (("Part one", "old"), ("Part two", "other"), ("Part one", "new")):
        module.write_section(path, title, text)
    written = path.read_text(encoding="utf-8")
    assert "old" not in written and "other" in written
    assert written.index("## Part one") < written.index("new") < written.index("## Part two")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("no-such-row", "there are bss-heavy"),
        ("--write fit-heavy", "leave out the names"),
        ("--write --quick", "name another file"),
    ],
)
def test_misuse_is_explained(module, capsys, arguments, words):
    with pytest.raises(SystemExit):
        module.arguments(arguments.split())
    assert words in capsys.readouterr().err


def test_results_hold_every_row_with_its_machine_threads_and_versions(module):
    text = (script.parent / "RESULTS.md").read_text(encoding="utf-8")
    assert all(f"| {row.name} " in text for row in module.rows)
    assert all(word in text for word in ("machine:", "BLAS threads", "versions:", "target is"))
