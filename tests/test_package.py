"""What an installation brings: a wheel of the package alone, importable with its run-time dependencies alone."""

import shutil
import subprocess
import sys
import zipfile
from configparser import ConfigParser
from pathlib import Path

import pytest

root = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    unwanted = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__", "shared")
    shutil.copytree(root, folder / "copy", ignore=unwanted)
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", folder, folder / "copy"]
    done = subprocess.run(build, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        yield archive


def test_wheel_holds_the_package_alone(wheel):
    files = {name for name in wheel.namelist() if ".dist-info/" not in name}
    modules = {f"fsel_book/{path.name}" for path in (root / "fsel_book").glob("*.py")}
    assert files == modules | {"fsel_book/py.typed"}


def test_wheel_metadata_is_that_of_settings(wheel):
    parser = ConfigParser(delimiters=["="])
    parser.read(root / "settings.ini", encoding="utf-8")
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    metadata = wheel.read(name).decode()
    assert f"Version: {parser['DEFAULT']['version']}\n" in metadata
    assert f"Requires-Python: >={parser['DEFAULT']['min_python']}\n" in metadata
    for extra in ("cupy", "dask", "demo", "book", "bench", "dev", "docs"):
        assert f"Provides-Extra: {extra}\n" in metadata
    needed = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:") and "extra ==" not in line]
    assert len(needed) == len(parser["DEFAULT"]["requirements"].split())


def test_import_needs_run_time_dependencies_alone():
    code = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("pandas", "nbdev", "fastcore", "IPython", "cupy", "torch", "dask", "papermill"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Refuse())
import fsel_book
print(len(fsel_book.__all__))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 10


def test_experiments_are_loaded_only_when_asked_for():
    code = "import sys, fsel_book; print([name for name in sys.modules if name.startswith('fsel_book.')])"
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    loaded = done.stdout
    assert "fsel_book.loaders" in loaded and "experiments" not in loaded and "_paper" not in loaded


def test_continuous_integration_calls_the_targets_of_make():
    script = root / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    commands = script.read_text(encoding="utf-8").splitlines()
    assert [line for line in commands if line.startswith("make ")] == [
        "make lint",
        "make test-all",
        "make test-processors",
    ]
