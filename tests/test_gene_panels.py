"""Panels of genes: against the theorem, all small panels, and what a bench asks for."""

import itertools
import json
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from fsel_book import BSSSelector, Constraints, DSFSelector, read_panel, select_panel
from fsel_book.gene_panels import (
    Cells,
    GenePanel,
    choose_genes,
    codes_of,
    explained_by,
    genes_of_family,
    moments_of,
    panel_ceiling,
    panel_gains,
    panel_of,
    variances_within,
)

KINDS = ["B", "NK", "T", "mono"]


class Annotated:
    """What an AnnData has, as far as anybody here looks."""

    def __init__(self, X, obs=None, names=None, layers=None):
        n, d = X.shape
        self.X = X
        self.var_names = [f"gene{j}" for j in range(d)] if names is None else names
        self.obs = pd.DataFrame(index=range(n)) if obs is None else obs
        self.var = pd.DataFrame(index=self.var_names)
        self.uns = {}
        self.layers = layers or {}


def counts(n=240, d=60, seed=0):
    """Four types, each with a marker of its own and programmes shared with others; two
    batches, of which one has ten times as much of the last gene.
    """
    rng = np.random.default_rng(seed)
    kind = rng.integers(4, size=n)
    batch = rng.integers(2, size=n)
    programme = rng.gamma(2.0, 1.0, size=(n, 3))
    level = 0.3 + programme @ rng.gamma(0.3, 1.0, size=(3, d))
    for c in range(4):
        level[:, c] = np.where(kind == c, 12.0, 0.3)
    level[:, d - 1] = np.where(batch == 1, 30.0, 3.0)
    obs = pd.DataFrame({"type": np.array(KINDS)[kind], "donor": batch})
    return Annotated(rng.poisson(level), obs)


def normalized(X):
    totals = X.sum(axis=1, keepdims=True)
    return np.log1p(X / totals * np.median(totals))


def problem(seed, n=25, d=9, t=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)) @ rng.standard_normal((3, d))
    X = X + 0.4 * rng.standard_normal((n, d))
    X -= X.mean(axis=0)
    T = X @ rng.standard_normal((d, t)) + rng.standard_normal((n, t))
    return X, T, X.T @ X, X.T @ T @ T.T @ X


# ---------------------------------------------------------------- the theorem


@pytest.mark.parametrize("seed", range(8))
def test_what_a_panel_explains_is_what_ridge_regression_on_it_does(seed):
    X, T, G, H = problem(seed)
    ridge = [0.1, 3.0, 40.0][seed % 3]
    S = [4, 1, 7][: 1 + seed % 3]
    C = X[:, S]
    B = np.linalg.solve(C.T @ C + ridge * np.eye(len(S)), C.T @ T)
    lost = np.sum((T - C @ B) ** 2) + ridge * np.sum(B**2)
    assert np.isclose(explained_by(G, H, S, ridge), np.sum(T**2) - lost)


@pytest.mark.parametrize("seed", range(8))
def test_gains_are_differences_of_what_is_explained(seed):
    _, _, G, H = problem(seed)
    for S in ([], [3], [5, 0, 2]):
        gains = panel_gains(G, H, S, 2.0)
        before = explained_by(G, H, S, 2.0)
        for j in set(range(len(G))) - set(S):
            assert np.isclose(gains[j], explained_by(G, H, [*S, j], 2.0) - before)
        assert (gains >= 0).all() and (gains[S] == 0).all()


@pytest.mark.parametrize("seed", range(12))
def test_no_panel_is_above_the_ceiling_and_the_choice_is_nearly_the_best(seed):
    _, _, G, H = problem(seed)
    ridge = [0.05, 2.0, 30.0][seed % 3]
    for r in (1, 2, 3):
        best = max(
            explained_by(G, H, S, ridge) for S in itertools.combinations(range(9), r)
        )
        ceiling = panel_ceiling(G, H, r, ridge)
        assert best <= ceiling * (1 + 1e-9)
        chosen = choose_genes(G, H, r, ridge)
        assert len(set(chosen)) == r
        assert 0.95 * best <= explained_by(G, H, chosen, ridge) <= best * (1 + 1e-9)


def test_the_ceiling_is_reached_where_leading_directions_are_genes():
    G = np.diag([9.0, 4.0, 1.0, 0.5])
    assert np.isclose(
        panel_ceiling(G, G @ G, 2, 0.7), explained_by(G, G @ G, [0, 1], 0.7)
    )


def test_the_ceiling_by_lanczos_is_that_of_all_eigenvalues():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 8)) @ rng.standard_normal((8, 400))
    X += rng.standard_normal((500, 400))
    G = X.T @ X
    half = np.linalg.inv(np.linalg.cholesky(G + 50.0 * np.eye(400)))
    lam = np.linalg.eigvalsh(half @ G @ G @ half.T)[::-1]
    assert np.isclose(panel_ceiling(G, G @ G, 6, 50.0), lam[:6].sum(), rtol=1e-9)


def test_genes_that_are_there_already_stay():
    _, _, G, H = problem(1, d=20)
    poor = int(np.argmin(panel_gains(G, H, [], 0.5)))
    chosen = choose_genes(G, H, 4, 0.5, start=[poor])
    assert chosen[0] == poor and len(set(chosen)) == 4


def test_exchanges_never_make_a_panel_worse():
    for seed in range(10):
        _, _, G, H = problem(seed, d=20)
        greedy = choose_genes(G, H, 5, 0.5, most_rounds=0)
        moved = choose_genes(G, H, 5, 0.5)
        assert explained_by(G, H, moved, 0.5) >= explained_by(G, H, greedy, 0.5) - 1e-9


# ---------------------------------------------------------------- the choice


def test_markers_of_types_are_found_with_types_and_the_panel_is_written():
    adata = counts()
    panel = select_panel(adata, 8, label_key="type", batch_key="donor")
    assert {f"gene{c}" for c in range(4)} <= set(panel.genes)
    assert list(adata.var_names[j] for j in np.flatnonzero(adata.var["selected"])) == (
        sorted(panel.genes, key=adata.var_names.index)
    )
    order = adata.var["panel_order"]
    assert [order.index[order == t + 1][0] for t in range(8)] == panel.genes
    assert panel_of(adata) == panel
    assert json.loads(adata.uns["gene_panel"])["genes"] == panel.genes
    assert 0 < panel.score <= panel.ceiling <= 1
    assert panel.settings["normalized"] and panel.n_batches == 2
    assert "no 8 genes reach more" in str(panel)


def test_nothing_is_written_where_that_is_not_wanted():
    adata = counts()
    select_panel(adata, 3, inplace=False)
    assert not adata.uns and adata.var.shape[1] == 0
    with pytest.raises(KeyError, match="select_panel"):
        panel_of(adata)


def test_a_gene_that_tells_batches_apart_is_chosen_only_without_them():
    adata = counts()
    last = adata.var_names[-1]
    assert last in select_panel(adata, 4).genes
    assert last not in select_panel(adata, 4, batch_key="donor").genes


def test_scores_are_those_of_data_centred_by_hand():
    adata = counts()
    panel = select_panel(
        adata, 5, label_key="type", batch_key="donor", noise=0.4, types_weight=0.3
    )
    X = normalized(adata.X)
    Z = (adata.obs["type"].to_numpy()[:, None] == KINDS).astype(float)
    for b in (0, 1):
        here = adata.obs["donor"].to_numpy() == b
        X[here] -= X[here].mean(axis=0)
        Z[here] -= Z[here].mean(axis=0)
    U, s, _ = np.linalg.svd(Z, full_matrices=False)
    U = U[:, s > 1e-8]
    C = X[:, [adata.var_names.index(gene) for gene in panel.genes]]
    K = C.T @ C + len(X) * 0.4**2 * np.eye(5)
    genes = np.trace(np.linalg.solve(K, C.T @ X @ X.T @ C)) / np.sum(X**2)
    types = np.trace(np.linalg.solve(K, C.T @ U @ U.T @ C)) / U.shape[1]
    assert np.isclose(panel.explained, genes)
    assert np.isclose(panel.explained_types, types)
    assert np.isclose(panel.score, 0.7 * genes + 0.3 * types)
    assert U.shape[1] == 3


@pytest.mark.parametrize("form", ["csr", "csc", "dense", "float32", "small blocks"])
def test_every_form_of_the_matrix_gives_the_same_panel(form, monkeypatch):
    adata = counts()
    expected = select_panel(adata, 6, label_key="type", inplace=False)
    if form in ("csr", "csc"):
        adata.X = sp.csr_array(adata.X).asformat(form)
    if form == "float32":
        adata.X = adata.X.astype(np.float32)
    if form == "small blocks":
        monkeypatch.setattr("fsel_book.gene_panels.NUMBERS_AT_ONCE", 7 * 60)
        adata.X = sp.csr_array(adata.X)
    found = select_panel(adata, 6, label_key="type", inplace=False)
    assert found.genes == expected.genes
    assert np.isclose(found.score, expected.score)


def test_the_matrix_is_never_dense_as_a_whole(monkeypatch):
    """A block of a backed matrix is all that is ever asked for."""

    class Backed:
        def __init__(self, X):
            self.stored, self.shape, self.most = sp.csr_array(X), X.shape, 0

        def __getitem__(self, rows):
            assert isinstance(rows, slice)
            self.most = max(self.most, rows.stop - rows.start)
            return self.stored[rows]

    monkeypatch.setattr("fsel_book.gene_panels.NUMBERS_AT_ONCE", 20 * 60)
    adata = counts()
    expected = select_panel(adata, 4, inplace=False).genes
    adata.X = Backed(adata.X)
    assert select_panel(adata, 4).genes == expected
    assert read_panel(adata, label_key="type").accuracy > 0.5
    assert adata.X.most == 20


def test_counts_are_normalised_and_logarithms_are_left_as_they_are():
    adata = counts()
    X = normalized(adata.X)
    (_, block), *_ = Cells(adata).blocks()
    np.testing.assert_allclose(block, X)
    adata.layers = {"logs": X}
    (_, block), *_ = Cells(adata, "logs").blocks()
    np.testing.assert_allclose(block, X)
    assert select_panel(adata, 5, layer="logs", inplace=False).genes == (
        select_panel(adata, 5, inplace=False).genes
    )
    (_, block), *_ = Cells(adata, normalize=False).blocks()
    np.testing.assert_allclose(block, adata.X)


def test_cells_without_any_count_stay_zero():
    adata = counts()
    adata.X[3] = 0
    adata.X = sp.csr_array(adata.X)
    (_, block), *_ = Cells(adata).blocks()
    assert block[[3]].nnz == 0 and np.isfinite(block.data).all()
    assert len(select_panel(adata, 3).genes) == 3


def test_cells_of_unknown_type_count_for_genes_alone():
    adata = counts()
    adata.obs.loc[:19, "type"] = None
    codes, names = codes_of(adata, "type", "label_key")
    assert (codes[:20] == -1).all() and names == KINDS
    panel = select_panel(adata, 6, label_key="type")
    assert panel.n_cells == 240 and panel.explained_types > 0.3
    read_panel(adata, label_key="type")


def test_moments_are_those_of_the_whole_matrix():
    adata = counts()
    X = normalized(adata.X)
    cells = Cells(adata)
    batch = adata.obs["donor"].to_numpy()
    for b in (0, 1):
        X[batch == b] -= X[batch == b].mean(axis=0)
    np.testing.assert_allclose(variances_within(cells, batch), np.mean(X**2, axis=0))
    found = moments_of(cells, np.array([2, 5, 9]), batch)
    np.testing.assert_allclose(found.G, X[:, [2, 5, 9]].T @ X[:, [2, 5, 9]])


# ---------------------------------------------------------------- what a bench asks for


def test_must_have_genes_are_on_the_panel_whatever_they_add():
    adata = counts()
    adata.X[:, 40] = np.arange(240) == 0  # next to nothing
    panel = select_panel(adata, 5, must_have=["gene40", "gene7"])
    assert {"gene40", "gene7"} <= set(panel.genes) and len(panel.genes) == 5
    assert panel.must_have == panel.genes[:2] == ["gene40", "gene7"]


def test_the_rest_of_the_panel_knows_of_must_have_genes():
    """A copy of one is not chosen beside it."""
    adata = counts()
    twin = adata.var_names.index("gene58")
    best = select_panel(adata, 1, inplace=False).genes[0]
    adata.X[:, twin] = adata.X[:, adata.var_names.index(best)]
    free = select_panel(adata, 3, inplace=False).genes
    assert not {best, "gene58"} <= set(free)
    given = select_panel(adata, 3, must_have=["gene58"], inplace=False).genes
    assert best not in given


def test_families_are_left_out_unless_a_gene_is_a_must():
    adata = counts()
    names = list(adata.var_names)
    best = select_panel(adata, 3, inplace=False).genes
    names[names.index(best[0])], names[names.index(best[1])] = "RPL13A", "HLA-DRA"
    names[names.index(best[2])] = "MT-CO1"
    adata.var_names = names
    adata.var.index = names
    panel = select_panel(adata, 6)
    assert not {"RPL13A", "HLA-DRA", "MT-CO1"} & set(panel.genes)
    assert panel.left_out == {"ribosomal": 1, "mitochondrial": 1, "hla": 1}
    assert "RPL13A" in select_panel(adata, 6, must_have=["RPL13A"]).genes
    assert "HLA-DRA" in select_panel(adata, 6, families=("ribosomal",)).genes
    assert panel.n_looked_at == 57


def test_symbols_of_families():
    found = {
        "ribosomal": "RPL3 RPL10A RPL13A RPL36AL RPL22L1 RPS4X RPS4Y1 RPS27L RPLP0 RPSA "
        "Rpl13a",
        "mitochondrial": "MT-CO1 mt-Nd1",
        "hla": "HLA-DRA HLA-A H2-Aa",
        "haemoglobin": "HBB HBA1 HBG2 Hbb-bs",
        "immunoglobulin": "IGHM IGKC IGLV2-14",
        "t-cell receptor": "TRAC TRBC1 TRDV2",
    }
    others = (
        "RPS6KA1 RPS6KB2 MRPL1 MRPS2 RPN1 RPL MTOR MT1X MT2A HLX HBEGF HBP1 HBS1L "
        "IGF1 IGHMBP2 TRAF1 TRADD TRAPPC1 H2AZ1 CD3D"
    )
    for family, names in found.items():
        assert genes_of_family(names.split(), family).all(), family
        assert not genes_of_family(others.split(), family).any(), family
    with pytest.raises(ValueError, match="families"):
        genes_of_family(["A"], "kinases")


def test_excluded_genes_stay_to_be_told():
    adata = counts()
    best = select_panel(adata, 4).genes[0]
    panel = select_panel(adata, 4, exclude=[best])
    assert best not in panel.genes and panel.n_looked_at == 60
    assert adata.var.loc[best, "panel_explained"] > 0
    few = select_panel(adata, 4, exclude=["gene1*", "gene2*"])
    assert not any(gene.startswith(("gene1", "gene2")) for gene in few.genes)


def test_costs_budgets_and_one_of_a_group_by_name():
    adata = counts()
    costs = pd.Series(1.0 + np.arange(60) % 4, index=adata.var_names)
    # an index in another order is put right
    bought = Constraints(costs=costs.iloc[::-1], budget=9.0)
    panel = select_panel(adata, 6, constraints=bought)
    assert costs[panel.genes].sum() <= 9 and len(panel.genes) == 6
    free = select_panel(adata, 6).genes
    assert costs[free].sum() > 9
    one = Constraints(at_most_one={"twins": free[:3]})
    assert len(set(select_panel(adata, 6, constraints=one).genes) & set(free[:3])) <= 1


def test_a_substitute_is_the_best_gene_in_the_place_of_another():
    adata = counts()
    panel = select_panel(adata, 5, label_key="type")
    adata_2 = counts()
    for t, gene in enumerate(panel.genes):
        others = panel.genes[:t] + panel.genes[t + 1 :]
        again = select_panel(
            adata_2, 5, label_key="type", exclude=[gene], must_have=others
        )
        assert set(again.genes) - set(others) == {panel.substitutes[t]}
        assert again.score <= panel.score + 1e-12


@pytest.mark.parametrize("selector", [BSSSelector(), DSFSelector()])
def test_other_selectors_choose_with_their_weights(selector):
    adata = counts()
    panel = select_panel(adata, 6, selector=selector, must_have=["gene30"])
    assert len(panel.genes) == 6 and "gene30" in panel.genes
    assert len(panel.weights) == 6 and min(panel.weights) > 0
    assert panel.settings["method"] == type(selector).__name__
    written = adata.var["panel_weight"]
    assert list(written[panel.genes]) == panel.weights
    assert (written[~adata.var["selected"]] == 0).all()
    assert GenePanel.from_json(panel.to_json()) == panel
    own = select_panel(adata, 6, must_have=["gene30"])
    assert panel.score <= own.score * 1.001 and panel.score <= panel.ceiling


# ---------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(
    "given, words",
    [
        ({"n_genes": 0}, "n_genes"),
        ({"must_have": ["gen3"]}, "Is it 'gene"),
        ({"must_have": ["GENE3"]}, "Is it 'gene3'"),
        ({"exclude": ["lnc*"]}, "which no gene of adata fits"),
        ({"must_have": ["gene3"], "exclude": ["gene3"]}, "must_have and exclude both"),
        ({"must_have": [f"gene{j}" for j in range(6)]}, "ask for at least 6"),
        ({"label_key": "types"}, "Is it 'type'"),
        ({"batch_key": "batch"}, "is no column of adata.obs"),
        ({"layer": "counts"}, "no layer 'counts'"),
        ({"families": ["kinases"]}, "families"),
        ({"types_weight": 2}, "types_weight"),
        ({"noise": -1.0}, "noise"),
        ({"normalize": "yes"}, "normalize"),
        ({"n_genes": 61}, "no more than 60"),
        ({"n_candidates": 3}, "no more than 3"),
        ({"exclude": ["gene*"]}, "exclude fewer"),
        ({"label_key": "one"}, "tells nothing within the batches"),
        ({"label_key": "donor", "batch_key": "donor"}, "tells nothing within"),
        (
            {
                "constraints": Constraints(exactly_one={"a": ["gene1"]}),
                "must_have": ["gene2"],
            },
            "exactly_one",
        ),
        ({"constraints": Constraints(costs=np.ones(60), budget=3.0)}, "no more than 3"),
    ],
)
def test_errors_say_what_to_do(given, words):
    adata = counts()
    adata.obs["one"] = "all"
    with pytest.raises(ValueError, match=words):
        select_panel(adata, **{"n_genes": 5, **given})


def test_errors_of_the_data_say_what_to_do():
    with pytest.raises(TypeError, match="give an AnnData"):
        select_panel(np.ones((4, 3)), 2)
    adata = counts()
    adata.var_names = ["CD3D", *adata.var_names[:-2], "CD3D"]
    with pytest.raises(
        ValueError, match="'CD3D' among them: call adata.var_names_make"
    ):
        select_panel(adata, 2)
    adata = counts()
    adata.X = adata.X.astype(float)
    adata.X[3, 7] = np.nan
    for X in (adata.X, sp.csr_array(adata.X)):
        adata.X = X
        with pytest.raises(ValueError, match="of gene 'gene7'"):
            select_panel(adata, 2)
    adata = counts()
    adata.obs["donor"] = [None, *adata.obs["donor"][1:]]
    with pytest.raises(ValueError, match="missing for 1 cells"):
        select_panel(adata, 2, batch_key="donor")
    with pytest.raises(ValueError, match="No gene that may be chosen varies"):
        select_panel(Annotated(np.ones((9, 4))), 2, normalize=False)
    with pytest.raises(ValueError, match="panel is empty"):
        read_panel(counts(), [])
    with pytest.raises(ValueError, match="normalize is for counts"):
        select_panel(
            Annotated(np.random.default_rng(0).standard_normal((9, 4))),
            2,
            normalize=True,
        )


def test_scaled_data_totals_and_identifiers_are_told():
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match="entries below 0"):
        select_panel(Annotated(rng.standard_normal((30, 5))), 2)
    with pytest.warns(UserWarning, match="neither counts nor logarithms"):
        select_panel(Annotated(1000 * rng.random((30, 5))), 2)
    names = [f"ENSG0000{j}" for j in range(5)]
    with pytest.warns(UserWarning, match="identifiers of Ensembl"):
        select_panel(Annotated(rng.random((30, 5)), names=names), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        select_panel(counts(), 2)


# ---------------------------------------------------------------- what a panel is worth


def test_a_panel_is_read_in_cells_that_are_left_out():
    adata = counts()
    panel = select_panel(adata, 8, label_key="type", batch_key="donor")
    good = read_panel(adata, label_key="type")
    assert good.accuracy > 0.9 and set(good.recall) == set(KINDS)
    assert 0 < good.neighbours < 1 and 0 < good.explained < 1
    assert set(good.explained_of) == {*adata.var_names} - {*panel.genes}
    noise = [gene for gene in adata.var_names if gene not in panel.genes][-8:]
    poor = read_panel(adata, noise, label_key="type")
    assert poor.accuracy < good.accuracy
    assert read_panel(adata, panel).accuracy is None
    assert "neighbours kept" in str(good)


def test_nothing_is_told_of_noise():
    """Errors of cells left out do not flatter: what cannot be told is not."""
    rng = np.random.default_rng(0)
    obs = pd.DataFrame({"type": rng.choice(["a", "b"], 300)})
    adata = Annotated(rng.random((300, 40)), obs)
    found = read_panel(adata, ["gene0", "gene1"], label_key="type")
    assert abs(found.accuracy - 0.5) < 4 * found.accuracy_error
    assert abs(found.explained) < 0.03
    many = read_panel(adata, [f"gene{j}" for j in range(38)], label_key="type")
    assert abs(many.accuracy - 0.5) < 4 * many.accuracy_error


def test_batches_are_left_out_as_a_whole():
    adata = counts()
    adata.obs["donor"] = np.arange(240) % 3
    assert read_panel(adata, ["gene0"], batch_key="donor").n_folds == 3
    assert read_panel(adata, ["gene0"]).n_folds == 5


def test_standard_errors_are_those_of_new_cells():
    whole = counts(n=3000)
    found = []
    for rows in np.array_split(np.arange(3000), 30):
        obs = whole.obs.iloc[rows].reset_index(drop=True)
        some = Annotated(whole.X[rows], obs)
        found.append(read_panel(some, ["gene5", "gene6", "gene7"], n_folds=3))
    for name in ("explained", "neighbours"):
        spread = np.std([getattr(one, name) for one in found])
        told = np.mean([getattr(one, f"{name}_error") for one in found])
        assert 0.5 < told / spread < 2, name


def test_many_cells_are_sampled():
    adata = counts()
    assert read_panel(adata, ["gene0"], n_cells=100).n_cells == 100


# ---------------------------------------------------------------- AnnData itself


@pytest.fixture
def anndata():
    return pytest.importorskip("anndata", reason="anndata is not installed")


def real(anndata):
    made = counts()
    obs = made.obs.astype({"type": "category"})
    obs.index = obs.index.astype(str)
    X = sp.csr_matrix(made.X.astype(np.float32))
    return anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=made.var_names))


def test_a_panel_goes_through_a_file(anndata, tmp_path):
    adata = real(anndata)
    panel = select_panel(adata, 6, label_key="type", selector=BSSSelector())
    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert panel_of(again) == panel
    assert list(again.var_names[again.var["selected"]]) == sorted(
        panel.genes, key=list(adata.var_names).index
    )


@pytest.mark.parametrize("form", ["csr", "csc", "dense"])
def test_a_file_is_read_by_blocks(anndata, tmp_path, form):
    adata = real(anndata)
    expected = select_panel(adata, 6, label_key="type", inplace=False)
    adata.X = adata.X.toarray() if form == "dense" else adata.X.asformat(form)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    found = select_panel(backed, 6, label_key="type", batch_key=None)
    assert found.genes == expected.genes
    assert np.isclose(
        read_panel(backed, found, label_key="type").accuracy,
        read_panel(adata, found, label_key="type").accuracy,
    )
    backed.file.close()


def test_a_view_is_taken(anndata):
    adata = real(anndata)
    some = adata[adata.obs["donor"] == 1].copy()
    view = adata[adata.obs["donor"] == 1]
    assert select_panel(view, 4, inplace=False).genes == select_panel(some, 4).genes
