"""The timed comparisons of the book, as `make bench` runs them: prints a table, and
writes it where asked.

    make bench                              all rows of all parts: about a quarter of an
    hour on two cores make bench BENCH='--part part_2_ridge'  those of one part (more:
    --part again) make bench BENCH='fit-heavy best-gauss' some rows make bench
    BENCH=--write                all rows, and their sections of
    fsel_book/records/RESULTS.md make bench BENCH='--records all'        what the chapter
    Performance draws, instead of rows; see records.py make bench BENCH=--quick
    all rows at toy sizes, to see that the script runs; no figure worth having

Each file `part_N_name.py` beside this one is a part, with a section of its own in
RESULTS.md; see rows.py.
"""

import argparse
import importlib
import statistics
import time
from dataclasses import replace
from pathlib import Path

import records
from machine import conditions
from threadpoolctl import threadpool_limits

folder = Path(__file__).parent
results = folder.parents[1] / "fsel_book" / "records" / "RESULTS.md"


def load_parts():
    """The modules of the parts by name, in the order of their numbers."""
    names = sorted(
        (path.stem for path in folder.glob("part_*.py")),
        key=lambda name: int(name.split("_")[1]),
    )
    return {name: importlib.import_module(name) for name in names}


parts = load_parts()


def measure(row, threads, repeats):
    """For each number of threads: pairs of figures, ours and the other, measured in
    turn.
    """
    toy = row.prepare(row.data, **row.quick)
    ours, other, check = row.prepare(row.data, **row.size)
    for count in row.threads or threads:
        with threadpool_limits(count, user_api="blas"):
            if row.unit == "s":
                for thing in filter(None, toy[:2]):
                    thing(count)
            pairs = []
            for _ in range(repeats or row.repeats):
                a, result = ours(count)
                b, expected = other(count) if other else (None, None)
                check(result, expected)
                pairs.append((a, b))
        yield count, pairs


# ---------------------------------------------------------------- the report

notes = """\
All figures of a line come from one run: ours, other, ours, other, and so on, in float64, after both have run once at
a toy size. "ours" and "other" are medians over the repetitions. The ratio is the median of the ratios of the
repetitions, with the least and the largest in brackets: other / ours where the target says "at least", ours / other
where it says "at most"; where there is no other, it is the median of ours. BLAS threads are the limit set for both
through threadpoolctl; within it the package holds its own small host work to one thread below 600 rows."""


def number(x):
    return f"{x:.3g}" if x < 1000 else f"{x:,.0f}"


def cells(row, threads, pairs):
    """One line of the table."""

    def median(column):
        values = [pair[column] for pair in pairs]
        return (
            ""
            if values[0] is None
            else f"{number(statistics.median(values))} {row.unit}"
        )

    figures = sorted(row.figure(a, b) for a, b in pairs)
    middle = statistics.median(figures)
    spread = (
        f" ({number(figures[0])} to {number(figures[-1])})" if len(figures) > 1 else ""
    )
    return [
        row.name,
        row.at,
        str(threads),
        median(0),
        median(1),
        f"{number(middle)}{spread}",
        row.bound(row.target),
        row.bound(row.aim),
        row.prediction,
        row.verdict(middle),
    ]


header = [
    "row",
    "at",
    "BLAS threads",
    "ours",
    "other",
    "ratio (spread)",
    "target",
    "aim",
    "prediction",
    "target is",
]


def table(lines):
    """A Markdown table, without the columns that hold nothing."""
    kept = [
        j
        for j, name in enumerate(header)
        if any(line[j] for line in lines) or name == "row"
    ]
    grid = [[line[j] for j in kept] for line in [header, *lines]]
    width = [max(len(line[j]) for line in grid) for j in range(len(kept))]
    text = [
        "| "
        + " | ".join(cell.ljust(w) for cell, w in zip(line, width, strict=True))
        + " |"
        for line in grid
    ]
    return "\n".join(
        [text[0], "|" + "|".join("-" * (w + 2) for w in width) + "|", *text[1:]]
    )


def report(chosen, lines):
    """The text of a section: conditions, table, and how each row is measured."""
    facts = "\n".join(f"- {name}: {fact}" for name, fact in conditions())
    sides = {
        row.name: f"{row.ours}, against {row.other}" if row.other else row.ours
        for row in chosen
    }
    how = "\n".join(f"- **{row.name}**: {sides[row.name]}. {row.how}" for row in chosen)
    return f"{facts}\n\n{table(lines)}\n\n{notes}\n\n{how}"


def write_section(path, title, text):
    """Put `text` under the heading `title` between markers, in place of what stood
    there; leave the rest.
    """
    begin = f"<!-- begin {title} (written by run.py) -->"
    end = f"<!-- end {title} -->"
    section = f"{begin}\n## {title}\n\n{text}\n{end}"
    whole = (
        path.read_text(encoding="utf-8") if path.exists() else "# Figures as measured\n"
    )
    if begin in whole:
        head, rest = whole.split(begin, 1)
        path.write_text(head + section + rest.split(end, 1)[1], encoding="utf-8")
    else:
        path.write_text(f"{whole.rstrip()}\n\n{section}\n", encoding="utf-8")


def arguments(argv=None):
    """What was asked for; `chosen` has for each part its rows to run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    rows = {name: [row.name for row in module.rows] for name, module in parts.items()}
    known = "; ".join(f"{name}: {', '.join(names)}" for name, names in rows.items())
    parser.add_argument(
        "rows",
        nargs="*",
        metavar="ROW",
        help=f"which rows; all if none is named. {known}",
    )
    parser.add_argument(
        "--part", action="append", choices=list(parts), help="rows of this part only"
    )
    parser.add_argument(
        "--quick", action="store_true", help="toy sizes, one repetition"
    )
    parser.add_argument(
        "--threads",
        type=lambda text: [int(count) for count in text.split(",")],
        default=[1, 2],
        metavar="T,T",
        help="BLAS threads; 1,2 unless told",
    )
    parser.add_argument(
        "--repeats",
        type=int,
        help="repetitions of every row, in place of its own number",
    )
    parser.add_argument(
        "--write",
        action="store_true",
        help="write the sections of RESULTS.md of parts run whole",
    )
    parser.add_argument(
        "--records",
        action="append",
        choices=["all", *records.columns],
        help="a record in place of rows",
    )
    parser.add_argument(
        "--into", type=Path, default=records.folder, help="the folder of the records"
    )
    parser.add_argument(
        "--results", type=Path, default=results, help="the file to write to"
    )
    args = parser.parse_args(argv)
    within = args.part or list(parts)
    unknown = set(args.rows) - {name for part in within for name in rows[part]}
    if unknown:
        parser.error(
            f"no row of {', '.join(within)} is called {', '.join(sorted(unknown))}; "
            f"there are {known}"
        )
    args.chosen = {
        part: [
            row for row in parts[part].rows if not args.rows or row.name in args.rows
        ]
        for part in within
    }
    args.whole = [part for part in within if len(args.chosen[part]) == len(rows[part])]
    if args.write and not args.whole:
        parser.error(
            "--write replaces the sections of parts that are run whole, and none is: "
            "leave out names of rows"
        )
    if args.write and args.quick and args.results == results:
        parser.error(
            "--quick measures nothing worth keeping: with --write, name another file "
            "with --results"
        )
    if args.records and args.quick and args.into == records.folder:
        parser.error(
            "--quick measures nothing worth keeping: with --records, name another "
            "folder with --into"
        )
    return args


def main():
    args = arguments()
    if args.records:
        return records.record_all(args.records, args.into, args.quick)
    start = time.perf_counter()
    lines = {part: [] for part in args.chosen}
    for part, rows in args.chosen.items():
        for row in rows:
            row = replace(row, size=row.quick, repeats=1) if args.quick else row
            for threads, pairs in measure(row, args.threads, args.repeats):
                lines[part].append(cells(row, threads, pairs))
                print(
                    f"{time.perf_counter() - start:6.0f} s  "
                    f"{'  '.join(lines[part][-1])}",
                    flush=True,
                )
        if lines[part]:
            print(f"\n{parts[part].title}\n\n{table(lines[part])}\n", flush=True)
        # at once: a later part may be interrupted
        if args.write and part in args.whole:
            write_section(args.results, parts[part].title, report(rows, lines[part]))
            print(
                f"Written to {args.results}, section '{parts[part].title}'\n",
                flush=True,
            )


if __name__ == "__main__":
    main()
