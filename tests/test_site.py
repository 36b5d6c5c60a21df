"""The rendered site, where the program quarto is there; what `make docs` says where it is not."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

root = Path(__file__).resolve().parent.parent
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not on the PATH")


@needs_make
def test_make_docs_says_that_quarto_is_missing(tmp_path):
    for name in ("make", "sh"):
        (tmp_path / name).symlink_to(shutil.which(name))
    environment = {**os.environ, "PATH": str(tmp_path)}
    done = subprocess.run(["make", "docs"], cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode != 0
    assert "quarto" in done.stderr.splitlines()[0]
    assert len(done.stderr.splitlines()) <= 3


@needs_make
@pytest.mark.skipif(shutil.which("quarto") is None, reason="quarto is not on the PATH")
def test_site_renders_with_every_reference_resolved():
    done = subprocess.run(["make", "docs"], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    pages = {path.name: path.read_text(encoding="utf-8") for path in (root / "_docs").rglob("*.html")}
    for notebook in (root / "nbs").glob("*.ipynb"):
        assert f"{notebook.stem}.html" in pages
    unresolved = [(name, found) for name, text in pages.items() for found in re.findall(r"\?@[\w-]+|\?\?\?", text)]
    assert not unresolved
