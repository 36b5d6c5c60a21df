"""A few rows that stand for many, columns that are copies, and the glosses of WordNet."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from fsel_book import (
    Blocks,
    RRQRSelector,
    as_blocks,
    find_copies,
    leading_factor,
    load_docstrings,
    load_glosses,
)
from fsel_book.out_of_core import GramMatrix
from fsel_book.words import KINDS_OF_WORDS, N_SIGNATURE, near_pairs

root = Path(__file__).resolve().parent.parent


def table(seed, n=120, d=20):
    """Independent columns, then copies of the first four: exact, turned, with a constant,
    and with a little noise; then a constant column.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    more = [2 * X[:, 0], -X[:, 1], 5 - X[:, 2], X[:, 3] + 0.02 * rng.standard_normal(n)]
    return np.column_stack([X, *more, np.full(n, 0.1)])


def forms(X):
    yield X
    yield sp.csr_array(X)
    yield sp.csc_array(X)
    yield pd.DataFrame(X)
    for axis in (0, 1):
        yield as_blocks(X, axis=axis)

        def pieces(axis=axis):
            for a in range(0, X.shape[axis], 7):
                yield sp.csr_array(X[a : a + 7] if axis == 0 else X[:, a : a + 7])

        yield as_blocks(pieces, axis=axis)


@pytest.mark.parametrize("seed", range(5))
def test_copies_are_found_in_data_of_every_form(seed):
    exact = [[0, 20], [1, 21], [2, 22]]
    X = table(seed)
    for form in forms(X):
        found = [group.tolist() for group in find_copies(form, 0.99)]
        assert found == [*exact, [3, 23]]
    assert [g.tolist() for g in find_copies(X, 1.0)] == exact


@pytest.mark.parametrize("correlation", [0.91, 0.95, 0.99])
def test_groups_are_those_of_all_correlations(correlation):
    rng = np.random.default_rng(0)
    base = rng.standard_normal((200, 15))
    X = np.hstack([base] + [base + 0.3 * rng.standard_normal((200, 15)) for _ in "abc"])
    X = X[:, rng.permutation(60)]
    every = np.abs(np.corrcoef(X.T))
    leaders: dict[int, list[int]] = {}
    for j in range(60):
        near = [i for i in leaders if every[i, j] >= correlation]
        leaders.setdefault(near[0] if near else j, []).append(j)
    expected = [group for group in leaders.values() if len(group) > 1]
    found = [group.tolist() for group in find_copies(X, correlation)]
    for group in found:
        assert np.all(every[group[0], group] >= correlation - 1e-12)
    assert sorted(map(sorted, found)) == sorted(map(sorted, expected))


def test_equals_of_a_copy_stay_with_it():
    X = table(1)
    X = np.hstack([X, X[:, [23, 23, 5]]])
    found = [group.tolist() for group in find_copies(X, 0.99)]
    assert [3, 23, 25, 26] in found and [5, 27] in found


def test_all_near_pairs_are_found():
    S = np.random.default_rng(0).standard_normal((900, N_SIGNATURE)) / 8
    S[1::3] = -S[::3] + 0.01
    apart = np.minimum(
        np.linalg.norm(S[:, None] - S, axis=2), np.linalg.norm(S[:, None] + S, axis=2)
    )
    i, j = np.nonzero(np.triu(apart <= 0.9, 1))
    found = {tuple(pair) for pair in near_pairs(S, 0.9).tolist()}
    assert found == set(zip(i.tolist(), j.tolist())) and len(found) >= 300


def test_no_matrix_of_all_columns_is_made():
    """200,000 columns would take 320 GB."""
    rng = np.random.default_rng(0)
    X = sp.random_array((50, 200_000), density=0.02, rng=rng, format="csc")
    X = sp.hstack([X, 3 * X[:, :2]], format="csc")
    found = [set(group.tolist()) for group in find_copies(X, 1.0)]
    assert any({0, 200_000} <= group for group in found)


@pytest.mark.parametrize("n, d", [(300, 40), (30, 80)])
def test_the_factor_has_the_leading_directions(n, d):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 6)) @ np.diag([9, 8, 7, 6, 5, 4.0])
    X = X @ rng.standard_normal((6, d)) + 0.01 * rng.standard_normal((n, d)) + 3
    U, S, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    leading = (Vt[:4].T * S[:4] ** 2) @ Vt[:4]
    for form in forms(X):
        if isinstance(form, Blocks) and form.axes == (1,):
            if form.shape[0] is None:
                with pytest.raises(ValueError, match="axis=0 is not possible"):
                    leading_factor(form, 4)
            continue
        W = leading_factor(form, 4)
        assert W.shape == (4, d)
        np.testing.assert_allclose(W.T @ W, leading, atol=1e-6 * S[0] ** 2)


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_of_the_factor_holds(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 8)) @ rng.standard_normal((8, 25))
    X = X + rng.standard_normal((60, 25))
    A = X - X.mean(axis=0)
    W = leading_factor(X, 5)
    Q = np.linalg.qr(W.T)[0]
    np.testing.assert_allclose(W.T @ W, Q @ Q.T @ A.T @ A @ Q @ Q.T, atol=0.05 * 60)
    R = A @ (np.eye(25) - Q @ Q.T)
    S = RRQRSelector(5).fit(W).selected_
    B = np.linalg.lstsq(W[:, S], W)[0]
    M = np.eye(25)
    M[S] -= B
    inside = np.linalg.norm(A @ Q @ Q.T @ M)
    assert np.linalg.norm(A @ M) <= (inside + np.linalg.norm(R @ M)) * (1 + 1e-9)


def test_words_from_the_factor_explain_as_much_as_any():
    X = load_docstrings().data
    A = X.toarray() - X.mean(axis=0)

    def left(S):
        return np.linalg.norm(A - A[:, S] @ np.linalg.lstsq(A[:, S], A)[0]) ** 2

    chosen = RRQRSelector(40, strong=False).fit(leading_factor(X, 40)).selected_
    rng = np.random.default_rng(0)
    for S in rng.choice(X.shape[1], (5, 40)):
        assert left(chosen) < left(S)
    assert left(chosen) < left(np.argsort(-(X > 0).sum(axis=0))[:40])


@pytest.mark.parametrize(
    "call, match",
    [
        (lambda X: find_copies(X, 0.9), "correlation=0.9"),
        (lambda X: find_copies(X, 1.5), "correlation=1.5"),
        (lambda X: find_copies(X, "high"), "correlation='high'"),
        (lambda X: find_copies(GramMatrix().partial_fit(X)), "give the samples"),
        (lambda X: leading_factor(X, 0), "rank=0 .* 1 to 25"),
        (lambda X: leading_factor(X, 26), "rank=26 .* 1 to 25"),
        (lambda X: leading_factor(X, 2.5), "rank=2.5"),
        (lambda X: leading_factor(np.where(X > 2, np.nan, X), 2), "NaN"),
    ],
)
def test_what_is_not_possible_is_told(call, match):
    with pytest.raises(ValueError, match=match):
        call(table(0))


GLOSS = "00001740 03 n 01 entity 0 003 ~ 00001930 n 0000 | that which is perceived  \n"


def test_glosses_are_read_or_what_is_missing_is_named(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="apt install wordnet-base"):
        load_glosses(tmp_path)
    for part in ("noun", "verb", "adj", "adv"):
        text = "  1 the licence | has lines like this  \n" + GLOSS
        (tmp_path / f"data.{part}").write_text(text.replace("entity", "a_" + part))
    monkeypatch.setenv("WNSEARCHDIR", str(tmp_path))
    for found in (load_glosses(), load_glosses(tmp_path)):
        assert found.data == 4 * ["that which is perceived"]
        assert found.words == ["a noun", "a verb", "a adj", "a adv"]
        assert found.target_names[found.target[0]] == "noun.Tops"
    assert len(KINDS_OF_WORDS) == 45


def test_the_glosses_of_wordnet():
    try:
        found = load_glosses()
    except FileNotFoundError:
        pytest.skip("WordNet is not installed")
    assert len(found.data) == len(found.words) == len(found.target) == 117_659
    kind = dict(zip(found.words, found.target))
    assert found.target_names[kind["apple tree"]] == "noun.plant"
    assert found.target_names[kind["interrogate"]].startswith("verb")


def test_the_record_is_that_of_the_script():
    runs = pd.read_csv(root / "fsel_book" / "records" / "words.csv", comment="#")
    source = (root / "tests" / "benchmarks" / "words.py").read_text()
    assert all(f'"{method}"' in source for method in set(runs.method))
    assert (runs.groupby("r").method.nunique() == runs.method.nunique()).all()
    share = runs.set_index(["r", "method"]).share.unstack("method")
    assert (share.max(axis=1) == share["PCA"]).all()
    assert (share["random"] == share.min(axis=1)).all()


def test_the_script_runs(tmp_path, monkeypatch):
    sys.path.insert(0, str(root / "tests" / "benchmarks"))
    words = importlib.import_module("words")
    X = sp.csr_array(load_docstrings().data)
    sp.save_npz(tmp_path / "rows.npz", X[:300], compressed=False)
    sp.save_npz(tmp_path / "columns.npz", X[:300].tocsc(), compressed=False)
    sp.save_npz(tmp_path / "unseen.npz", X[300:], compressed=False)
    np.save(tmp_path / "kinds.npy", load_docstrings().target[:300])
    for method in words.METHODS:
        if method.startswith("pivoted"):
            continue
        found, seconds = words.choose(method, tmp_path, (12, 20))
        assert set(found) == set(seconds) == {12, 20}
        if method != "PCA":
            assert len(found[20]) == 20 and words.share(tmp_path, found[20]) < 1
    assert 0 < words.share_of_components(tmp_path, 20) < 1
