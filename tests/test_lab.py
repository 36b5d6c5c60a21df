"""The copy of the notebooks that `make lab` opens: changes stay, the rest is up to date."""

import importlib
import json
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parent.parent / "tools"))
lab = importlib.import_module("lab")


def write(path, *sources, output="1"):
    cells = [
        {"cell_type": "code", "source": [source], "outputs": [{"text": output}]}
        for source in sources
    ]
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")


@pytest.fixture
def folders(tmp_path):
    source = tmp_path / "nbs"
    source.mkdir()
    (source / "matplotlibrc").touch()
    for name in ("a", "b"):
        write(source / f"{name}.ipynb", "x = 1")
    copy = tmp_path / "build" / "notebooks"
    assert lab.update(source, copy) == [] and lab.changed(copy) == []
    return source, copy


def test_a_copy_that_nobody_changed_follows_the_book(folders):
    source, copy = folders
    write(source / "a.ipynb", "x = 2")
    assert lab.update(source, copy) == []
    assert (copy / "a.ipynb").read_bytes() == (source / "a.ipynb").read_bytes()


def test_what_a_person_changed_stays_and_is_named(folders):
    source, copy = folders
    write(copy / "a.ipynb", "x = 5")
    assert lab.update(source, copy) == [] and lab.changed(copy) == ["a.ipynb"]
    write(source / "a.ipynb", "x = 2")
    assert lab.update(source, copy) == ["a.ipynb"]
    assert "x = 5" in (copy / "a.ipynb").read_text(encoding="utf-8")
    (copy / "a.ipynb").unlink()
    assert lab.update(source, copy) == [] and lab.changed(copy) == []
    assert "x = 2" in (copy / "a.ipynb").read_text(encoding="utf-8")


def test_to_run_a_notebook_is_no_change_and_its_outputs_stay(folders):
    source, copy = folders
    write(copy / "a.ipynb", "x = 1", output="2")
    assert lab.update(source, copy) == [] and lab.changed(copy) == []
    assert '"2"' in (copy / "a.ipynb").read_text(encoding="utf-8")


def test_a_notebook_of_ones_own_is_left_alone(folders):
    source, copy = folders
    write(copy / "mine.ipynb", "y = 1")
    assert lab.update(source, copy) == [] and lab.changed(copy) == ["mine.ipynb"]
    assert (copy / "mine.ipynb").exists() and not (source / "mine.ipynb").exists()
