__version__ = "0.1.0"
# nbdev keeps the line above in step with settings.ini. The rest is written by hand: the public names, for
# `from fsel_book import ...`. Each chapter's module holds more.

from fsel_book.bss import BSSSelector, bss, bss_promise, bss_reference
from fsel_book.datasets import (
    load_dataset,
    load_docstrings,
    load_table,
    load_techtc,
    make_bhattacharyya,
    make_bhattacharyya_regression,
    make_collinear_regression,
    make_linear_regression,
    make_linear_sign,
    make_nested_cube,
    make_nested_square,
    make_nonlinear_regression,
)
from fsel_book.leverage import LeverageDisplay, LeverageSelector, leverage_promise, leverage_sampling
from fsel_book.sampling import Certificate, CertifiedSelector, Promise, Sampling, SpectrumDisplay, certify
from fsel_book.spectra import RowSpace, leverage_scores, row_space

__all__ = [
    "BSSSelector",
    "Certificate",
    "CertifiedSelector",
    "LeverageDisplay",
    "LeverageSelector",
    "Promise",
    "RowSpace",
    "Sampling",
    "SpectrumDisplay",
    "bss",
    "bss_promise",
    "bss_reference",
    "certify",
    "leverage_promise",
    "leverage_sampling",
    "leverage_scores",
    "load_dataset",
    "load_docstrings",
    "load_table",
    "load_techtc",
    "make_bhattacharyya",
    "make_bhattacharyya_regression",
    "make_collinear_regression",
    "make_linear_regression",
    "make_linear_sign",
    "make_nested_cube",
    "make_nested_square",
    "make_nonlinear_regression",
    "row_space",
]
