"""`python -m fsel_book report table.csv --target y`: the report of a table."""

import argparse
import re
import sys
from typing import Any

__all__ = ["main"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m fsel_book",
        description="Feature selection with certificates.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    report = commands.add_parser(
        "report",
        help="which columns of a table to take, and what else would do",
        description="Choose columns of a table; write report.html, report.json and "
        "selected.csv.",
    )
    report.add_argument(
        "table", help="CSV in any dialect, Excel, Parquet, ARFF, svmlight, h5ad, ..."
    )
    report.add_argument("--target", "-t", required=True, help="the column to predict")
    report.add_argument(
        "--columns", "-r", type=int, help="how many to choose (default: as few as do)"
    )
    report.add_argument(
        "--task",
        choices=["auto", "classes", "numbers", "counts"],
        default="auto",
        help="what the target is (default: auto)",
    )
    report.add_argument(
        "--drop",
        action="append",
        default=[],
        help="columns to leave out: id,signup, 'q1_*'",
    )
    report.add_argument(
        "--keep",
        action="append",
        default=[],
        help="columns to keep that look like numbers of rows",
    )
    report.add_argument(
        "--given",
        action="append",
        default=[],
        help="columns that have to be chosen: age,sex",
    )
    report.add_argument(
        "--exclude",
        action="append",
        default=[],
        help="columns that may not be chosen, also by patterns: 'RPL*,RPS*'",
    )
    report.add_argument(
        "--dates",
        choices=["refuse", "parts"],
        default="refuse",
        help="take year, month, weekday and hour of dates",
    )
    report.add_argument(
        "--transpose", action="store_true", help="the features stand in rows"
    )
    report.add_argument(
        "--units", help="a column of what belongs together, as patients: never split"
    )
    report.add_argument("--out", default=".", help="where to write (default: here)")
    report.add_argument("--jobs", type=int, default=None, help="processes at work")
    return parser


def _as_options(text: str) -> str:
    """A text whose remedies name arguments of `report`, with options in their place."""
    for name, option in (
        ("drop", "--drop"),
        ("keep", "--keep"),
        ("given", "--given"),
        ("exclude", "--exclude"),
        ("dates", "--dates"),
        ("task", "--task"),
        ("units", "--units"),
        ("n_features_to_select", "--columns"),
    ):
        text = re.sub(rf"\b{name}=('[^']*'|\"[^\"]*\"|\d+)", rf"{option} \1", text)
    text = text.replace("--dates 'parts'", "--dates parts")
    return text.replace("transpose=True, or --transpose", "--transpose")


class _Bar:
    """How far the work is, on the standard error."""

    def __init__(self) -> None:
        self.bar: Any = None

    def __call__(self, what: str, done: int, total: int) -> None:
        if what == "Comparing":
            from tqdm import tqdm

            if self.bar is None:
                self.bar = tqdm(total=total, desc=what, unit="fold", file=sys.stderr)
            self.bar.update(done - self.bar.n)
            if done == total:
                self.bar.close()
        else:
            print(f"{what} ...", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()


def main(arguments: list[str] | None = None) -> int:
    """What the command line asks for; returns the exit status."""
    call = _parser().parse_args(arguments)
    from fsel_book.reports import report

    bar = _Bar()
    try:
        found = report(
            call.table,
            call.target,
            n_features_to_select=call.columns,
            task=call.task,
            drop=call.drop,
            keep=call.keep,
            given=call.given,
            exclude=call.exclude,
            dates=call.dates,
            transpose=call.transpose,
            units=call.units,
            n_jobs=call.jobs,
            progress=bar,
        )
        written = found.save(call.out)
    except (ValueError, TypeError, OSError, ImportError) as error:
        bar.close()
        print(f"fsel_book: {_as_options(str(error))}", file=sys.stderr)
        return 1
    print(_as_options(str(found)))
    print("\nWritten:", *written, sep="\n  ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
