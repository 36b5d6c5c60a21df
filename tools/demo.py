"""Run nbs/quickstart.ipynb top to bottom and leave what it shows in build/; of a table,
write the report of `python -m fsel_book report`. `make demo` calls this.

usage: python tools/demo.py [DATA TARGET] [--out FOLDER] [--limit BYTES]

A Parquet file of more than `--limit` bytes in memory, by default a quarter of what the
machine has, is read in blocks: its columns are chosen and written, without the report.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

import large

from fsel_book.__main__ import main as report_on_a_table

root = Path(__file__).resolve().parent.parent
results = [
    "quickstart.ipynb",
    "quickstart.html",
    "report.html",
    "report.json",
    "selected.csv",
    "selected.parquet",
]


def choose_in_blocks(data: Path, target: str, out: Path) -> int:
    """The main job on a file that is too large for memory."""
    with tempfile.TemporaryDirectory(dir=out) as name:
        try:
            large.choose(data, target, Path(name))
        except (ValueError, OSError) as error:
            print(f"demo: {error}", file=sys.stderr)
            return 1
        written = [
            shutil.move(path, out / path.name) for path in sorted(Path(name).iterdir())
        ]
    print("Written:", *written, sep="\n  ")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "data",
        nargs="?",
        default="",
        help="a table (default: the embedded documents)",
    )
    parser.add_argument(
        "target", nargs="?", default="", help="the column of the table to predict"
    )
    parser.add_argument(
        "--out", type=Path, default=root / "build", help="where the pages go"
    )
    parser.add_argument(
        "--limit",
        type=int,
        default=large.a_quarter_of_memory(),
        help="bytes of a table in memory",
    )
    call = parser.parse_args()
    if call.target and not call.data:
        print(
            f"demo: TARGET={call.target} names a column, but DATA names no table.",
            file=sys.stderr,
        )
        return 2
    call.out.mkdir(parents=True, exist_ok=True)
    for name in results:
        (call.out / name).unlink(missing_ok=True)
    if call.data and not call.target:
        print(
            f"demo: DATA={call.data} names a table, but TARGET does not name the "
            f"column to predict.",
            file=sys.stderr,
        )
        return 2
    if (
        call.data.lower().endswith(".parquet")
        and large.size_in_memory(Path(call.data)) > call.limit
    ):
        return choose_in_blocks(Path(call.data), call.target, call.out)
    if call.data:
        arguments = ["report", call.data, "--target", call.target]
        return report_on_a_table([*arguments, "--out", str(call.out)])
    # what runs and writes notebooks takes a second to load, and a table needs none of it
    from quickstart import show

    return show(call.out)


if __name__ == "__main__":
    sys.exit(main())
