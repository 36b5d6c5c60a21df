"""JupyterLab on a copy of the notebooks: `make lab`.

What a reader runs and changes is the copy in build/notebooks, never the source of the
package. A notebook that was changed there stays as it is when the book goes on; one
that was not is brought up to date. The copies are trusted, since they come from here.
"""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "nbs"
COPY = ROOT / "build" / "notebooks"
STATE = ".copied.json"


def written(path: Path) -> str:
    """A fingerprint of what a person may change in a notebook: its cells.

    To run it changes outputs and metadata, and that is no change to keep.
    """
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    return hashlib.sha256(json.dumps(text).encode()).hexdigest()


def changed(copy: Path) -> list[str]:
    """The names of the copies that a person has changed, or made."""
    state = copy / STATE
    copied = json.loads(state.read_text(encoding="utf-8")) if state.exists() else {}
    return [
        path.name
        for path in sorted(copy.glob("*.ipynb"))
        if copied.get(path.name) != written(path)
    ]


def update(source: Path, copy: Path) -> list[str]:
    """Copy the notebooks of a folder, except those whose copy was changed.

    Parameters
    ----------
    source : Path
    copy : Path
        Made if it is not there.

    Returns
    -------
    list of str
        The names of those that were left alone and are newer in the book.
    """
    copy.mkdir(parents=True, exist_ok=True)
    mine = changed(copy)
    state = copy / STATE
    copied = json.loads(state.read_text(encoding="utf-8")) if state.exists() else {}
    left = []
    for path in sorted(source.glob("*.ipynb")):
        now = written(path)
        if copied.get(path.name) == now and (copy / path.name).exists():
            continue
        if path.name in mine:
            left.append(path.name)
        else:
            shutil.copy(path, copy)
            copied[path.name] = now
    shutil.copy(source / "matplotlibrc", copy)
    state.write_text(json.dumps(copied, indent=1), encoding="utf-8")
    return left


def main(options: list[str]) -> int:
    """Bring the copies up to date, say what to do with them, and open them."""
    newer = update(SOURCE, COPY)
    where = COPY.relative_to(ROOT)
    print(f"You work on copies, in {where}: run and change what you like.")
    if mine := changed(COPY):
        print("Changed by you, and kept:", *mine, sep="\n  ")
    if newer:
        print(
            "Of these the book has newer versions; remove yours to get them:",
            *newer,
            sep="\n  ",
        )
    print(
        "To put a change into the book, copy the notebook back and bring the package "
        f"up to date:\n  cp {where}/NAME.ipynb nbs/ && make sync && make test\n"
    )
    trust = [sys.executable, "-m", "nbformat.sign", *map(str, COPY.glob("*.ipynb"))]
    subprocess.run(trust, check=True, stdout=subprocess.DEVNULL)
    lab = [
        sys.executable,
        "-m",
        "jupyterlab",
        f"--ServerApp.root_dir={COPY}",
        "--LabApp.default_url=/lab/tree/index.ipynb",
        *options,
    ]
    try:
        return subprocess.run(lab).returncode
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
