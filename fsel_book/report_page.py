"""The page of a report: one file that stands alone, for a screen of any width, light or
dark, and without a network.
"""

import html
import io
from typing import Any

import numpy as np

from fsel_book.comparison import METHODS, OURS, ComparedMethods

__all__ = ["curve", "in_frame", "page_of"]

COLOURS = {
    OURS: "#1f77b4",
    "RFE": "#d55e00",
    "L1": "#2a9d5c",
    "F score": "#b5539c",
    "random columns": "#808080",
}
WORDS = {OURS: "this package"}

STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --soft: #5c5c5c; --line: #d6d6d6;
  --paper: #ffffff; --card: #f4f6f8; --warn: #fff3d6; --warn-line: #d99a00; --link: #0b5cad }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --soft: #b0b0b0;
  --line: #444; --paper: #16181b; --card: #22262b; --warn: #3a2f14; --warn-line: #d99a00;
  --link: #7db8f2 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif }
main { max-width: 56rem; margin: 0 auto; padding: 1.5rem 1rem 4rem }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem; overflow-wrap: anywhere }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem }
p { margin: .5rem 0; overflow-wrap: anywhere }
.verdict { background: var(--card); border-left: 4px solid #1f77b4; padding: .6rem 1rem;
  font-size: 1.05rem }
.warning { background: var(--warn); border-left: 4px solid var(--warn-line);
  padding: .3rem 1rem; margin: .6rem 0 }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-size: .92rem }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; overflow-wrap: anywhere }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums;
  white-space: nowrap }
td.name { min-width: 10rem; font-weight: 600 }
td.others { min-width: 11rem }
th.number { white-space: normal }
th { overflow-wrap: normal }
pre { background: var(--card); padding: .8rem 1rem; overflow-x: auto; font-size: .86rem }
details > summary { cursor: pointer; padding: .3rem 0 }
small, .soft { color: var(--soft) }
svg { max-width: 100%; height: auto; display: block }
.narrow { display: none }
@media (max-width: 640px) { .broad { display: none } .narrow { display: block }
  table { font-size: .8rem } th, td { padding-right: .5rem }
  td.name { min-width: 7rem } td.others { min-width: 6rem } }
ul { padding-left: 1.2rem } li { margin: .25rem 0; overflow-wrap: anywhere }
.key span { display: inline-block; margin-right: 1.1rem; white-space: nowrap }
.key i { display: inline-block; width: 1.4rem; border-top: 3px solid; margin-right: .4rem;
  vertical-align: middle }
"""


def curve(comparison: ComparedMethods, chosen: int, width: float, height: float) -> str:
    """The scores against the number of columns, as SVG whose lines take the colours of
    the page.

    Parameters
    ----------
    comparison : ComparedMethods
    chosen : int
        How many columns were chosen.
    width, height : float
        In inches of 72 points.

    Returns
    -------
    str
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter, ScalarFormatter

    ink, grid = "#010203", "#010204"
    style: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": "report",
        "font.family": "sans-serif",
        "font.size": 11,
        "axes.edgecolor": ink,
        "axes.labelcolor": ink,
        "xtick.color": ink,
        "ytick.color": ink,
        "text.color": ink,
    }
    question = comparison.question
    with rc_context(style):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        ax = figure.subplots()
        figure.patch.set_alpha(0)
        ax.patch.set_alpha(0)
        sizes = np.array(comparison.sizes)
        for method in METHODS[::-1]:
            means = np.array([comparison.mean(method, r) for r in sizes])
            ours = method == OURS
            ax.plot(
                sizes,
                means,
                color=COLOURS[method],
                linewidth=2.2 if ours else 1.3,
                linestyle="--" if method == "random columns" else "-",
                marker="o" if ours else None,
                markersize=4,
                zorder=3 if ours else 2,
            )
        means = np.array([comparison.mean(OURS, r) for r in sizes])
        errors = np.array([comparison.error(OURS, r) for r in sizes])
        ax.fill_between(
            sizes, means - errors, means + errors, color=COLOURS[OURS], alpha=0.18, lw=0
        )
        best = int(np.argmax(means))
        ax.axhline(means[best] - errors[best], color=ink, linewidth=0.8, linestyle=":")
        ax.axhline(
            comparison.mean("all columns", comparison.n_columns),
            color=ink,
            linewidth=1,
            linestyle=(0, (6, 3)),
        )
        ax.axhline(question.chance, color=ink, linewidth=0.8)
        at = list(sizes).index(chosen)
        ax.plot(
            [chosen],
            [means[at]],
            marker="o",
            markersize=13,
            markerfacecolor="none",
            markeredgecolor=ink,
            markeredgewidth=1.6,
            zorder=4,
        )
        every = [float(np.mean(one)) for one in comparison.scores.values()]
        every.append(question.chance)
        top = max(*every, min(1.0, float(np.max(means + errors))))
        bottom = min(every)
        if question.classes is None:
            # a regression on noise may be as bad as it likes
            bottom = max(bottom, min(question.chance, float(np.max(means))) - 0.3)
        margin = 0.06 * max(top - bottom, 0.05)
        ax.set_ylim(bottom - margin, top + margin)
        if sizes[-1] > 15:
            ax.set_xscale("log")
        ticks = [r for r in (1, 2, 3, 5, 8, 12, 20, 50, 100, 200) if r <= sizes[-1]]
        if len(sizes) < 7:
            ticks = list(sizes)
        if width < 5 and len(ticks) > 6:
            ticks = [r for r in ticks if r in (1, 2, 5, 20, 50, 200)]
        ax.set_xticks(ticks)
        ax.xaxis.set_major_formatter(ScalarFormatter())
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set_xlabel("number of columns")
        ax.set_ylabel(question.metric)
        ax.grid(True, color=grid, linewidth=0.5, alpha=0.25)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    text = out.getvalue()
    text = text[text.index("<svg") :]
    return text.replace(ink, "currentColor").replace(grid, "currentColor")


def _key(comparison: ComparedMethods) -> str:
    """Which line is which."""
    parts = []
    for method in METHODS:
        kind = "dashed" if method == "random columns" else "solid"
        parts.append(
            f"<span><i style='border-color:{COLOURS[method]};border-top-style:{kind}'></i>"
            f"{html.escape(WORDS.get(method, method))}</span>"
        )
    whole = "all columns", comparison.n_columns
    every = f"{comparison.mean(*whole):.3f} ± {comparison.error(*whole):.3f}"
    chance = comparison.question.chance
    parts.append(
        f"<span><i style='border-color:currentColor;border-top-style:dashed;"
        f"border-top-width:1px'></i>all columns, {every}</span>"
    )
    parts.append(
        f"<span><i style='border-color:currentColor;border-top-width:1px'></i>"
        f"{html.escape(comparison.question.guess)}, {chance:.3f}</span>"
    )
    return f"<p class='key'><small>{''.join(parts)}</small></p>"


def _table(head: list[tuple[str, str]], rows: list[list[str]]) -> str:
    """A table of cells that are HTML; each column has a class."""
    top = "".join(f"<th class='{kind}'>{html.escape(name)}</th>" for name, kind in head)
    body = "".join(
        "<tr>"
        + "".join(
            f"<td class='{kind}'>{cell}</td>"
            for cell, (_, kind) in zip(row, head, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return (
        f"<div class='wide' tabindex='0' role='region' aria-label='table'><table><thead>"
        f"<tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _columns(found: Any) -> str:
    """Column, why, what it stands for."""
    rows = []
    for one in found.chosen:
        others = ", ".join(
            f"{html.escape(name)} <small>({value:.2f})</small>"
            for name, value in one.stands_for
        )
        if one.nearest_of:
            others += (
                f"{'; ' if others else ''}<small>nearest of {one.nearest_of:,} "
                f"{'column' if one.nearest_of == 1 else 'columns'}</small>"
            )
        rows.append(
            [
                str(one.place),
                html.escape(one.name)
                + (" <small>(given)</small>" if one.is_given else ""),
                others or "<small>itself</small>",
                f"{one.rank:,}",
                f"{one.alone:.3f} ± {one.alone_error:.3f}"
                if np.isfinite(one.alone)
                else "",
            ]
        )
        if one.times_chosen is not None:
            rows[-1].append(f"{one.times_chosen} of {found.n_folds}")
    head = [
        ("", "number"),
        ("column", "name"),
        ("stands for", "others"),
        ("rank by F", "number"),
        ("alone", "number"),
    ]
    if found.chosen[0].times_chosen is not None:
        head.append(("chosen in folds", "number"))
    return _table(head, rows)


def _about_folds(found: Any) -> str:
    """What is counted in the last column of the list, and how stable the choice is."""
    times = [one.times_chosen for one in found.chosen]
    if times[0] is None:
        return ""
    r, always = len(times), sum(count == found.n_folds for count in times)
    among = "as the only one" if r == 1 else f"among {r}"
    text = (
        f" Chosen in folds: in how many of the {found.n_folds} folds, each of which leaves "
        f"other rows out, the column was chosen {among}; "
    )
    if always == r:
        return text + ("it was in each." if r == 1 else "all were in each.")
    if r == 1:
        return (
            text
            + "in the others another one was, so its score alone is not that below."
        )
    return text + f"{always if always else 'none'} of the {r} in each."


def _methods(found: Any) -> str:
    """Every method with as many columns, and with the fewest that do for it."""
    comparison = found.comparison
    r = len(found.chosen)
    rows = []
    for method in METHODS:
        fewest = comparison.fewest(method)
        explained = found.explained.get(method)
        apart = comparison.picked_apart(method)
        rows.append(
            [
                html.escape(WORDS.get(method, method)),
                f"{comparison.mean(method, r):.3f} ± {comparison.error(method, r):.3f}",
                "" if explained is None else f"{explained:.0%}",
                f"{fewest:,}",
                f"{comparison.mean(method, fewest):.3f} ± "
                f"{comparison.error(method, fewest):.3f}",
                f"{np.mean(apart):.3f} ± {comparison.error_of(apart):.3f}",
            ]
        )
    every = ("all columns", comparison.n_columns)
    rows.append(
        [
            f"all {comparison.n_columns:,} columns",
            f"{comparison.mean(*every):.3f} ± {comparison.error(*every):.3f}",
            "100%",
            "",
            "",
            "",
        ]
    )
    rows.append(
        [html.escape(found.question.guess), f"{found.question.chance:.3f}", *[""] * 4]
    )
    head = [
        ("", "name"),
        (f"with {r} {'column' if r == 1 else 'columns'}", "number"),
        ("explains of all", "number"),
        ("fewest that do", "number"),
        ("with these", "number"),
        ("number picked apart", "number"),
    ]
    return _table(head, rows)


def page_of(found: Any) -> str:
    """The page of a report, as HTML that needs nothing else.

    Parameters
    ----------
    found : Report

    Returns
    -------
    str
    """
    escape = html.escape
    table, question = found.table, found.question
    title = f"Columns of {table.name} for {table.target}"
    parts = [f"<h1>{escape(title)}</h1>"]
    sentences = "".join(f"<p>{escape(said)}</p>" for said in found.verdict)
    parts.append(f"<div class='verdict'>{sentences}</div>")
    parts += [f"<p class='warning'>{escape(said)}</p>" for said in found.warnings]
    parts.append("<h2>The columns</h2>")
    parts.append(_columns(found))
    parts.append(
        "<p><small>In the order picked. Rank by F: the place among all columns by how far "
        f"the column alone tells the target; alone: its {escape(question.metric)} on the "
        "folds of the comparison below, of a column that was chosen on all rows, and so a "
        "little too good. Stands for: columns that were not chosen, with the "
        f"correlation.{escape(_about_folds(found))}</small></p>"
    )
    parts.append("<h2>How many, and what else would do</h2>")
    parts.append(f"<p>{escape(found.why_so_many)}</p>")
    r = len(found.chosen)
    label = escape(
        f"{question.metric} against the number of columns, for {', '.join(METHODS)}; {r} "
        f"were chosen. The table below has the figures."
    )
    for kind, width, height in (("broad", 9.0, 4.2), ("narrow", 4.4, 4.0)):
        drawn = curve(found.comparison, r, width, height)
        # what the two pictures name must not be one thing
        for mark in ('id="', 'href="#', "url(#"):
            drawn = drawn.replace(mark, f"{mark}{kind}-")
        parts.append(
            f"<div class='{kind}' role='img' aria-label='{label}'>{drawn}</div>"
        )
    parts.append(_key(found.comparison))
    parts.append(
        "<p><small>Every score is of rows that had no part in the choice: in five folds "
        "gaps are filled, columns scaled, chosen and learned from anew. The model is the "
        f"same for all, {escape(question.judge)}. The band is the standard error; the "
        "dotted line is one of it below the best; the ring is what was chosen.</small></p>"
    )
    parts.append(_methods(found))
    parts.append(
        "<p><small>Fewest that do: the smallest number within a standard error of the best "
        "of the method. With these: their score; it may look better than it is, since the "
        "same folds picked the number. Number picked apart: the score where each fold takes the number "
        "that the other folds pick.</small></p>"
    )
    parts.append("<h2>What the columns keep of the table</h2>")
    parts.append(_on_both_papers(found.selector.certificate_._repr_html_()))
    parts.append("<h2>What was read, and what was done</h2>")
    parts.append(
        "<ul>" + "".join(f"<li>{escape(said)}</li>" for said in found.read) + "</ul>"
    )
    parts.append("<h2>The pipeline</h2>")
    parts.append(f"<pre tabindex='0'>{escape(found.code)}</pre>")
    versions = ", ".join(f"{name} {one}" for name, one in found.versions.items())
    parts.append(f"<p><small>Made with {escape(versions)}.</small></p>")
    body = "\n".join(parts)
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>\n"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>\n"
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style></head>\n"
        f"<body><main>\n{body}\n</main></body></html>\n"
    )


def _on_both_papers(text: Any) -> str:
    return f"<div class='wide'>{text}</div>"


def in_frame(page: str) -> str:
    """A page inside another one, as a notebook."""
    return (
        f"<iframe srcdoc='{html.escape(page)}' "
        f"style='width:100%;height:50em;border:0'></iframe>"
    )
