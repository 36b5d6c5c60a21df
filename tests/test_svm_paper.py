"""The experiments of Paul, Magdon-Ismail and Drineas (2015): a trial against another
route to the same figures.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.svm import SVC

from fsel_book import enclosing_ball, svm_margin
from fsel_book.notebook import stored_record
from fsel_book.papers import experiments as ex
from fsel_book.papers import svm as paper

root = Path(__file__).resolve().parent.parent


def test_the_declared_experiments():
    declared = [paper.machines, paper.margins_left]
    assert [len(experiment.tasks()) for experiment in declared] == [80, 8]
    assert [experiment.name for experiment in declared] == ["machines", "margins_left"]


def test_errors_and_margins_of_a_fold_by_another_route():
    X, y, _ = ex.load_documents("docstrings", 60)
    train = np.arange(50)
    test = np.arange(50, 60)
    rng = np.random.RandomState(0)
    records = list(
        paper.machine_fold_errors(
            X[train], y[train], X[test], y[test], (60,), True, rng
        )
    )
    assert {record["method"] for record in records} == {
        "all features",
        *paper.MACHINE_METHODS,
    }
    shared = paper.prepare_training_set(X[train], y[train])

    def quality(A):
        return (
            svm_margin(A, y[train], tol=1e-5).margin
            / enclosing_ball(A, tol=1e-5).radius
        ) ** 2

    compared = 0
    for record in records:
        if record["method"] in ("all features", "BSS, supervised", "largest leverages"):
            sampling = paper.select_for_machine(
                record["method"], X[train], y[train], shared, record["r"], None
            )
            scale = (
                np.sqrt(sampling.weights)
                if record["weights"] == "theory"
                else np.ones(sampling.n_selected)
            )
            A = X[train][:, sampling.indices] * scale
            B = X[test][:, sampling.indices] * scale
            wrong = (
                SVC(kernel="linear", max_iter=100_000).fit(A, y[train]).predict(B)
                != y[test]
            )
            assert_allclose(record["error"], 100 * np.mean(wrong))
            assert_allclose(record["left"], quality(A) / quality(X[train]), rtol=1e-3)
            compared += 1
    assert compared == 4


@pytest.mark.parametrize("r, expected", [(10, 5), (21, 20)])
def test_a_space_is_cut_to_what_the_draws_allow(r, expected):
    space = paper.prepare_training_set(*_separable(20, 50))[0]
    assert space.shape[1] == 20
    assert paper.truncate_to_draws(space, r).shape[1] == expected


def _separable(n, d):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] > 0, 1, -1)


def table_of_findings(cells):
    """The cell with the table of findings."""
    (found,) = (
        "".join(cell["source"])
        for cell in cells
        if 'id="tbl-experiments-svm-findings"' in "".join(cell["source"])
    )
    return found


def test_findings_are_those_of_the_full_run():
    """The counts of settings in the table of findings come from the rows of the run,
    and are printed below it.
    """
    rows = ex.read_rows(stored_record("svm_machines.csv"))
    # five of the twelve methods give weights
    assert len(rows) == 8 * (1 + 4 * (12 + 5))
    errors = {
        (row["data"], row["r"], row["method"], row["weights"]): row for row in rows
    }
    sets = dict.fromkeys(row["data"] for row in rows)
    sizes = (100, 200, 300, 500)
    cells = json.loads(
        (root / "nbs" / "35_svm_paper.ipynb").read_text(encoding="utf-8")
    )["cells"]
    printed = "".join(
        "".join(part.get("text", ""))
        for cell in cells
        for part in cell.get("outputs", [])
    )

    def of(data, r, method):
        return errors.get((data, r, method, "theory")) or errors[data, r, method, "one"]

    found = {}
    for first, second in re.findall(
        r"^(.+) / (.+?)  +\d+ +\d+ +32 ", printed, re.MULTILINE
    ):
        pairs = [
            (of(data, r, first), of(data, r, second)) for data in sets for r in sizes
        ]
        gains = [
            (b["mean"] - a["mean"]) / np.hypot(a["std"], b["std"]) * 10**0.5
            for a, b in pairs
        ]
        found[first, second] = [
            sum(gain > 2 for gain in gains),
            sum(gain < -2 for gain in gains),
        ]
        better, worse = found[first, second]
        assert re.search(
            rf"^{re.escape(f'{first} / {second}')} +{better} +{worse} +32 ",
            printed,
            re.MULTILINE,
        )
    assert len(found) == 10
    findings = table_of_findings(cells)
    ours = "BSS, supervised"
    for pair, words in (
        (
            (ours, "leverage sampling, supervised"),
            "clearly better in {} settings of 32, worse in {} |",
        ),
        ((ours, "random"), "clearly better in {}, worse in {} |"),
        (
            (ours, "pivoted QR"),
            "clearly better in {}, worse in {}; against QR in rounds",
        ),
        ((ours, "pivoted QR in rounds"), "against QR in rounds {} and {} |"),
        ((ours, "BSS"), "both shown | clearly better in {}, worse in {} |"),
        ((ours, "RFE"), "clearly better in {}, worse in {} and"),
    ):
        assert words.format(*found[pair]) in findings
    assert (
        f"worse in {found[ours, 'RFE'][1]} and {found[ours, 'LPSVM'][1]} |" in findings
    )


def test_findings_on_the_margin_are_those_of_its_rows():
    """The supervised selection keeps more than leverage sampling for certain, than BSS
    on all documents not quite.
    """
    rows = ex.read_rows(stored_record("svm_margins.csv"))
    left = {
        (row["method"], row["data"]): row["left"] for row in rows if row["r"] == 300
    }
    sets = list(dict.fromkeys(row["data"] for row in rows))
    assert len(rows) == 8 * 12 * 4 and len(left) == 8 * 12
    names = ("BSS, supervised", "BSS", "leverage sampling", "RFE")
    logs = {method: np.log([left[method, data] for data in sets]) for method in names}
    findings = table_of_findings(
        json.loads((root / "nbs" / "35_svm_paper.ipynb").read_text(encoding="utf-8"))[
            "cells"
        ]
    )
    words = (
        "{:.2f} on the support vectors, {:.2f} on all documents, {:.2f} by "
        "leverage sampling, {:.2f} by RFE"
    )
    assert (
        words.format(*(np.exp(values.mean()) for values in logs.values())) in findings
    )
    ends = {}
    for other in names[1:3]:
        gain = logs[names[0]] - logs[other]
        ends[other] = np.exp(
            gain.mean() + np.array([0, -2, 2]) * gain.std(ddof=1) / 8**0.5
        )
    assert ends["leverage sampling"][1] > 1 > ends["BSS"][1]
    assert (
        "{:.2f} times as much ({:.2f} to {:.2f} over eight sets)".format(*ends["BSS"])
        in findings
    )
