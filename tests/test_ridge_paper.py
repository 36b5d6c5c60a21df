"""The experiments of Paul and Drineas (2016): trials against other routes to the same figures."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from fsel_book import experiments as ex
from fsel_book import make_bhattacharyya, make_bhattacharyya_regression, row_space
from fsel_book import ridge_paper as paper

root = Path(__file__).resolve().parent.parent


def test_fingerprints_are_the_same_in_every_process():
    code = """
from fsel_book.experiments import _fingerprint
from fsel_book.ridge_paper import synthetic_choices, text_errors
print(_fingerprint(text_errors.trial), _fingerprint(synthetic_choices.trial))
"""
    found = {f"{ex._fingerprint(paper.text_errors.trial)} {ex._fingerprint(paper.synthetic_choices.trial)}"}
    for seed in "12":
        environment = os.environ | dict(PYTHONPATH=str(root), PYTHONHASHSEED=seed)
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        found.add(done.stdout.strip())
    assert len(found) == 1


def test_the_declared_experiments():
    declared = [paper.synthetic_choices, paper.text_errors, paper.words_chosen, paper.synthetic_risks, paper.text_risks]
    assert [len(experiment.tasks()) for experiment in declared] == [60, 40, 10, 20, 8]
    assert len({experiment.name for experiment in declared}) == 5


def test_every_method_selects():
    X, y, _ = make_bhattacharyya(20, 60, 10, random_state=0)
    space = row_space(X)
    for method in paper._METHODS:
        sampling, again = (ex._select_features(method, X, y, space, 30, np.random.RandomState(0)) for _ in range(2))
        assert sampling.n_features == 60 and sampling.n_draws == 30
        np.testing.assert_array_equal(sampling.indices, again.indices)
    np.testing.assert_array_equal(ex._select_features("information gain", X, y, space, 5, None).indices, range(5))
    with pytest.raises(ValueError, match="method='lasso'"):
        ex._select_features("lasso", X, y, space, 30, None)


def test_errors_of_a_fold_by_another_route():
    X, y, _ = ex._load_documents("docstrings", 60)
    train, test = np.arange(50), np.arange(50, 60)
    records = list(paper._fold_errors(X[train], y[train], X[test], y[test], (60,), np.random.RandomState(0)))
    V, compared = np.linalg.svd(X[train], full_matrices=False)[2].T, 0
    for method, weights in [("BSS", "theory"), ("BSS", "one"), ("largest leverages", "one"), ("all features", "one")]:
        r = X.shape[1] if method == "all features" else 60
        sampling = ex._select_features(method, X[train], y[train], row_space(X[train]), r, None)
        W = np.zeros(X.shape[1])
        W[sampling.indices] = sampling.weights if weights == "theory" else 1.0
        M = V[sampling.indices].T @ V[sampling.indices]
        for record in records:
            if record["method"] == method and record["weights"] == weights:
                a = np.linalg.solve(X[train] * W @ X[train].T + record["lam"] * np.eye(50), y[train])
                for name, Z in (("error", X[test]), ("inside", X[test] @ V @ V.T)):
                    wrong = np.where(Z * W @ X[train].T @ a > 0, 1, -1) != y[test]
                    assert_allclose(record[name], 100 * np.mean(wrong))
                kept = [np.linalg.eigvalsh(M)[0], np.trace(M) / 50]
                assert_allclose([record["smallest"], record["kept"]], kept, atol=1e-8)
                assert_allclose(record["empty"], 100 * np.mean(np.all(X[test][:, sampling.indices] == 0, axis=1)))
                compared += 1
    names = [record["method"] for record in records]
    assert compared == 4 * len(paper._LAMBDAS)
    assert [names.count(name) for name in ("random", "leverage sampling", "all features")] == [5 * 4, 5 * 4 * 2, 4]


def test_rows_of_table_1_that_the_order_of_columns_makes():
    grid = dict(k=[90, 100], runs=[2], methods=[["pivoted QR", "information gain"]])
    for record in replace(paper.synthetic_choices, grid=grid, repetitions=2).run():
        r = record["r"]
        assert record["error"] == 0
        if record["method"] == "information gain":
            assert record["features"] == list(range(r, r - 5, -1)) and record["times"] == [20] * 5
        else:
            assert {r, r - 1, r - 2} <= set(record["features"])


def test_risks_against_the_formula():
    experiment = replace(paper.synthetic_risks, grid=dict(k=[90], multiples=[[6]]), repetitions=1)
    (key,) = experiment.tasks()
    X, z, _ = make_bhattacharyya_regression(30, 1000, 90, noise=0, random_state=ex._random_stream(key))
    records = [record for record in experiment.run() if record["method"] == "all features"]
    assert len(records) == len(paper._LAMBDAS)
    for record in records:
        left = np.linalg.inv(X @ X.T + 30 * record["lam"] * np.eye(30))
        assert_allclose(record["bias"], 30 * record["lam"] ** 2 * z @ left @ left @ z, rtol=1e-6)
        assert_allclose(record["variance"], np.sum((X @ X.T @ left) ** 2) / 30, rtol=1e-6)


def test_a_folder_of_techtc_stands_for_a_set(tmp_path):
    folder = tmp_path / "Exp_1_2"
    folder.mkdir()
    rng = np.random.RandomState(0)
    words = [f"{'abcdefghij'[i // 10]}{'abcdefghij'[i % 10]}words" for i in range(80)]
    counts, y = rng.poisson(0.5, (40, 80)), rng.choice([-1, 1], 40)
    (folder / "features.idx").write_text("".join(f"{i + 1} {word}\n" for i, word in enumerate(words)))
    rows = [" ".join(f"{j + 1}:{row[j]}" for j in np.flatnonzero(row)) for row in counts]
    (folder / "vectors.dat").write_text("".join(f"{label} {row}\n" for label, row in zip(y, rows)))
    X, labels, names = ex._load_documents(str(folder))
    np.testing.assert_array_equal(X, counts)
    np.testing.assert_array_equal(labels, y)
    assert names.tolist() == words
    records = replace(paper.text_errors, grid=dict(data=[str(folder)], sizes=[[40]]), repetitions=1).run()
    assert {record["method"] for record in records} == {"all features", *paper._METHODS}
