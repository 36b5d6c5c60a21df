"""The study of all selectors: what a trial selects, measures and records, against the
estimators and other routes.
"""

import json
import pickle
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cases import needs_data, swept
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_selection import RFE, SelectKBest, chi2, f_classif
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fsel_book as fb
from fsel_book.certificates import Certificate, Promise
from fsel_book.papers import selection_study as study
from fsel_book.papers.experiments import fingerprint

NOTEBOOK = Path(__file__).resolve().parent.parent / "nbs/Q_selection_study.ipynb"
twins = swept(("data", "r"), [("breast_cancer", 10)], [("docstrings", 20)])


def prepared(data, r, most=60):
    """A training part, and what the trial makes of it."""
    A, y, _, _, counts = study.split_and_scale(data, 0, most)
    scores = {
        name: score() for name, score in study.score_functions(A, counts, y).items()
    }
    space = fb.row_space(A)
    return (
        A,
        y,
        counts,
        space,
        study.ways_to_select(A, y, space, r, scores, np.random.RandomState(0)),
    )


def test_the_declared_experiments():
    experiments = study.study, study.preferences, study.ranks, study.eliminations
    assert [len(one.tasks()) for one in experiments] == [160] * 4
    names = {one.name.removeprefix("selection_") for one in experiments}
    assert len(set(study.STUDY_SETS)) == 16 and names == {
        "study",
        "preferences",
        "ranks",
        "eliminations",
    }
    assert len(study.rules.tasks()) == 10 * (16 + len(study.MADE_SETS))


def test_what_was_loaded_before_does_not_change_what_stands_for_a_trial():
    study.last_loaded.clear()
    before = fingerprint(study.study.trial)
    study.load_study_set("breast_cancer")
    assert study.last_loaded and fingerprint(study.study.trial) == before
    # no data travel to other processes
    assert not pickle.loads(pickle.dumps(study.last_loaded))


@needs_data
def test_sets_in_two_parts_are_joined_and_sequences_counted():
    for data, shape, n_first in (
        ("arcene", (200, 10000), 100),
        ("proteins", (600, 7773), 400),
    ):
        X, y = study.load_study_set(data)
        parts = [fb.load_dataset(name) for name in study.STUDY_PARTS[data]]
        assert X.shape == shape and len(parts[0].target) == n_first
        assert_array_equal(y, np.concatenate([part.target for part in parts]) > 0)
    assert_array_equal(
        np.asarray(X.sum(axis=1)).ravel(),
        [len(s) - 2 for part in parts for s in part.data],
    )
    X, y = study.load_study_set("promoters")
    # one of four letters at each of 57 places
    assert X.shape == (106, 228) and set(X.sum(axis=1)) == {57.0}


@twins
def test_from_the_shared_row_space_comes_what_the_estimators_select(data, r):
    A, y, counts, space, selections = prepared(data, r)
    quarter = r // 4
    default = max(min(10, r // 2), quarter)
    estimators = {
        "BSS": fb.BSSSelector(r, rank=default, rule="largest-norm"),
        "BSS, best": fb.BSSSelector(r, rank=default, rule="best"),
        "strong RRQR": study.RRQRInRounds(r),
        "largest leverages": fb.LeverageSelector(r, rule="largest"),
        "DSF": fb.DSFSelector(r),
        "DSF, target": fb.DSFSelector(r, rule="target"),
        "DSF, weights": fb.DSFSelector(r, score_func=study.machine_weights),
        "BSS, F, r/4": fb.BSSSelector(r, rank=quarter, score_func=study.f_scores),
        "BSS, weights, r/2": fb.BSSSelector(
            r, rank=r // 2, score_func=study.machine_weights
        ),
        "BSS, weights, r/4": fb.BSSSelector(
            r, rank=quarter, score_func=study.machine_weights
        ),
        "BSS, weights, r/10": fb.BSSSelector(
            r, rank=max(1, r // 10), score_func=study.machine_weights
        ),
        "BSS, support vectors": fb.SupportVectorSelector(
            fb.BSSSelector(r, rank=default, rule="largest-norm")
        ),
    }
    if counts is not None:
        gains = fb.information_gain(counts, y)
        estimators["BSS, information gain, r/4"] = fb.BSSSelector(
            r, rank=quarter, score_func=gains
        )
    certified = {name for name, select in selections.items() if select()[1] is not None}
    assert certified == set(estimators)
    for name, estimator in estimators.items():
        estimator.fit(A, y)
        sampling, certificate = selections[name]()
        assert_array_equal(sampling.indices, estimator.selected_, err_msg=name)
        assert_allclose(sampling.weights, estimator.weights_, rtol=1e-6)
        assert_allclose(
            certificate.eigenvalues, estimator.certificate_.eigenvalues, atol=1e-9
        )
        assert (
            study.certified_figures(certificate)["distortion"] == certificate.distortion
        )


@twins
def test_the_competitors_are_those_of_scikit_learn(data, r):
    A, y, counts, _, selections = prepared(data, r)
    rfe = RFE(study.linear_svm(), n_features_to_select=r, step=0.1)
    rivals = {"F": (SelectKBest(f_classif, k=r), A), "RFE": (rfe, A)}
    if counts is not None:
        rivals |= {"chi2": (SelectKBest(chi2, k=r), counts)}
        rivals |= {"information gain": (SelectKBest(fb.information_gain, k=r), counts)}
    for name, (selector, X) in rivals.items():
        ours = selections[name]()[0].indices
        theirs = selector.fit(X, y).get_support(indices=True)
        if name == "RFE":
            assert_array_equal(np.sort(ours), theirs)
        else:  # among equal scores another one may be taken
            assert_allclose(
                np.sort(selector.scores_[ours]), np.sort(selector.scores_[theirs])
            )


def twin(**change):
    grid = (
        dict(data=["breast_cancer"], split=[0, 1, 2], sizes=[[8]], most=[100]) | change
    )
    return replace(study.study, grid=grid).run()


def test_a_record_is_that_of_a_pipeline_which_sees_the_training_part_only():
    X, y = study.load_study_set("breast_cancer")
    records = {record["method"]: record for record in twin(split=[3], most=[500])}
    train, test = next(
        study.StratifiedShuffleSplit(1, test_size=0.3, random_state=3).split(X, y)
    )
    for method, selector in {
        "BSS, weights, r/4": fb.BSSSelector(
            8, rank=2, score_func=study.machine_weights
        ),
        "BSS, best": fb.BSSSelector(8, rank=4, rule="best"),
    }.items():
        model = make_pipeline(StandardScaler(), selector, study.linear_svm()).fit(
            X[train], y[train]
        )
        assert_array_equal(
            records[method]["selected"], selector.get_support(indices=True)
        )
        assert records[method]["svm"] == pytest.approx(
            100 * np.mean(model.predict(X[test]) != y[test])
        )
        V = np.linalg.svd(
            StandardScaler().fit_transform(X[train]), full_matrices=False
        )[2][:4].T
        eigenvalues = np.linalg.eigvalsh(
            V[records[method]["selected"]].T @ V[records[method]["selected"]]
        )
        assert records[method]["kappa"] == pytest.approx(
            eigenvalues[-1] / eigenvalues[0], rel=1e-6
        )


def test_every_method_of_the_study_is_in_a_twin_and_in_the_order_of_the_tables(
    monkeypatch,
):
    X, y = study.load_study_set("docstrings")
    # mutual information takes long of all
    frequent = np.sort(np.argsort(-np.asarray(X.sum(axis=0)).ravel())[:400])
    monkeypatch.setattr(study, "load_study_set", lambda data: (X[:, frequent], y))
    records = twin(data=["docstrings"], split=[0], sizes=[[20]], most=[60])
    assert {record["method"] for record in records} == set(study.STUDY_METHODS)
    assert len(study.STUDY_METHODS) == len(records)
    assert all(
        record["distortion"] <= record["promised"] + 1e-6
        for record in records
        if record["rank"]
    )
    assert all(
        len(record["selected"]) == 20
        for record in records
        if record["method"] not in ("L1", "LPSVM")
    )


def test_a_certificate_outside_its_promise_stops_the_study():
    ones = np.ones(2)
    broken = Certificate(ones / 4, ones, 50, 10, 10, Promise(0.5, 2.0), 2, 1.0)
    with pytest.raises(ValueError, match="outside its promise"):
        study.certified_figures(broken)


def test_stability_is_one_for_equal_selections_and_about_zero_for_random_ones():
    assert study.index_stability([[1, 2, 3]] * 4, 10) == 1
    rng = np.random.RandomState(0)
    chance = [
        study.index_stability([rng.choice(40, 7, replace=False) for _ in range(10)], 40)
        for _ in range(400)
    ]
    assert abs(np.mean(chance)) < 4 * np.std(chance) / 20
    # the definition, by the mask
    Z = np.array([[1, 1, 0, 0, 0], [1, 0, 1, 0, 0], [1, 1, 0, 1, 0]])
    k = Z.sum() / 3 / 5
    literal = 1 - np.mean(Z.var(axis=0, ddof=1)) / (k * (1 - k))
    assert study.index_stability(
        [np.flatnonzero(row) for row in Z], 5
    ) == pytest.approx(literal)


def test_differences_are_taken_on_the_same_split_and_errors_over_the_sets():
    same = dict(r=5, logistic=0.0, rlsc=0.0, kappa_quarter=1.0)
    records = [
        dict(same, data=data, split=split, method=method, svm=svm, kappa=kappa)
        for data, split, a, b in (
            ("one", 0, 10.0, 12.0),
            ("one", 1, 20.0, 26.0),
            ("two", 0, 5.0, 5.0),
        )
        for method, svm, kappa in (("RFE", a, np.inf), ("BSS", b, 10.0))
    ]
    beside = study.beside_rfe(records)
    row = study.over_sets(beside, "svm - RFE")["BSS", 5]
    assert (row["mean"], row["count"]) == (2.0, 2)
    assert row["error"] == pytest.approx(np.std([4.0, 0.0], ddof=1) / np.sqrt(2))
    ratio = study.over_sets(beside, "log kappa ratio")["BSS", 5]["mean"]
    # a lost direction counts as a condition number of a million
    assert np.exp(ratio) == pytest.approx(1e5)


def test_other_preferences_take_the_score_times_another_power_of_the_length():
    A, y, _, _, _ = study.split_and_scale("docstrings", 0, 60)
    records = list(
        study.compare_preferences(np.random.RandomState(0), "docstrings", 0, (20,), 60)
    )
    assert len({record["method"] for record in records}) == len(records) == 9
    weights = study.machine_weights(A, y)
    rank = 2
    space = fb.row_space(A).truncate(rank)
    alone = np.divide(
        weights, space.scores64, out=np.zeros(len(weights)), where=space.scores64 > 0
    )
    chosen = (
        fb.BSSSelector(20, rank=rank, score_func=alone)
        .fit(A, y)
        .get_support(indices=True)
    )
    found = study.unweighted_kappa(fb.row_space(A), chosen, 10)
    (record,) = (
        record for record in records if record["method"] == "weights, r/10, score alone"
    )
    assert record["kappa"] == pytest.approx(found, rel=1e-6)


def test_a_careful_elimination_drops_a_share_of_what_is_left():
    """One feature a step is RFE with `step=1`; by shares, each step is RFE of what the
    step before has left.
    """
    A, y, _, _, _ = study.split_and_scale("digits", 0, 100)
    for size, chosen in study.eliminate_carefully(A, y, [5, 20], share=1e-9).items():
        expected = (
            RFE(study.linear_svm(), n_features_to_select=size)
            .fit(A, y)
            .get_support(indices=True)
        )
        assert_array_equal(chosen, expected)
    left = np.arange(A.shape[1])
    while len(left) > 7:
        size = max(7, len(left) - int(0.3 * len(left)))
        step = RFE(study.linear_svm(), n_features_to_select=size, step=len(left) - size)
        left = left[step.fit(A[:, left], y).get_support()]
    assert_array_equal(study.eliminate_carefully(A, y, [7], share=0.3)[7], left)


def test_a_completed_half_is_that_of_the_estimator_and_in_its_promise():
    trial = replace(
        study.eliminations,
        grid=dict(data=["breast_cancer"], split=[0], sizes=[[12]], most=[80]),
    ).run()
    found = {record["method"]: record for record in trial}
    A, y, _, _, _ = study.split_and_scale("breast_cancer", 0, 80)
    halves = {
        "RFE": RFE(study.linear_svm(), n_features_to_select=6, step=0.1),
        "careful RFE": study.eliminate_carefully(A, y, [6])[6],
    }
    for half, given in halves.items():
        for by, scores in (("", None), (", weights", study.machine_weights)):
            completed = fb.CompletionSelector(given, 6, rank=3, score_func=scores).fit(
                A, y
            )
            record = found[f"half {half}, completed{by}"]
            assert_array_equal(record["selected"], completed.get_support(indices=True))
            assert record["rank"] == 3 and record["distortion"] == pytest.approx(
                completed.certificate_.distortion
            )
            assert record["distortion"] <= record["promised"]
    assert len(found) == 7 and found["careful RFE"]["rank"] is None


def test_the_findings_are_those_of_the_stored_run():
    """Each row of the table at the head of the chapter, number for number, in the
    outputs of the heavy cells.
    """
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    outputs = [
        "".join(output.get("text", []))
        for cell in cells
        if cell["cell_type"] == "code" and "if run_heavy(" in "".join(cell["source"])
        for output in cell["outputs"]
    ]
    stored = {}
    for line in "\n".join(outputs).splitlines():
        stored.setdefault(line[:26].strip(), []).append(line[26:])
    head = next(
        "".join(cell["source"])
        for cell in cells
        if 'id="tbl-selection-study"' in "".join(cell["source"])
    )
    rows = re.findall(
        r"^\| (?:\*\*)?([^|*]+?)(?:\*\*)? \|(.*)\|$",
        head.split('<a id="tbl-')[0],
        flags=re.MULTILINE,
    )[2:]
    assert len(rows) > 8
    for method, figures in rows:
        numbers = re.findall(r"[+-]?\d+\.?\d*", figures.replace("−", "-"))
        known = re.findall(
            r"[+-]?\d+\.?\d*", " ".join(stored[method]).replace("±", " ")
        )
        assert numbers and set(numbers) <= set(known), (
            method,
            set(numbers) - set(known),
        )
