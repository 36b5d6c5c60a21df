__version__ = "0.1.0"
# nbdev keeps the line above in step with settings.ini. The rest is written by hand: the
# public names, for `from fsel_book import ...`. Each chapter's module holds more, and
# `fsel_book.papers.experiments` and the papers' modules, which are loaded only when asked for,
# run experiments.

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from fsel_book.baselines import (
    RandomSelector,
    RRQRSelector,
    certify_selector,
    information_gain,
    pivoted_qr,
    rrqr,
    strong_rrqr,
)
from fsel_book.blocks import Blocks, as_blocks
from fsel_book.certificates import (
    Certificate,
    CertifiedSelector,
    KeptDisplay,
    Sampling,
    SpectrumDisplay,
    certify,
)
from fsel_book.constraints import Constraints
from fsel_book.datasets import load_docstrings
from fsel_book.dual_projection import (
    DualProjectionClassifier,
    DualProjectionRidge,
    RecoveryDisplay,
)
from fsel_book.dual_set import DSFSelector, RSFSelector, certify_span, det_sampling
from fsel_book.error_control import stability_selection
from fsel_book.gene_panels import read_panel, select_panel
from fsel_book.groups import AdditiveKernelSelector, GroupSelector
from fsel_book.help_texts import prepare_help
from fsel_book.kept import certify_columns
from fsel_book.labels import (
    CompletionSelector,
    GuaranteePriceDisplay,
    StabilityDisplay,
    WeightScores,
    complete,
    selection_stability,
)
from fsel_book.leverage import (
    LeverageDisplay,
    LeverageSelector,
    largest_leverages,
    leverage_sampling,
)
from fsel_book.loaders import load_dataset, load_techtc
from fsel_book.reconstruction import (
    Reconstructor,
    SensorSelector,
    load_sea_temperature,
)
from fsel_book.ridge import RiskCurveDisplay, RLSClassifier, ridge_risk
from fsel_book.risk_rfe import GuyonRFE, RiskRFE, change_point
from fsel_book.rows import RowSelector, cur
from fsel_book.samples import least_variance_ratio, load_flights
from fsel_book.sizes import SizeDisplay, SizePath, size_path
from fsel_book.sparse_components import SparsePCRegressor
from fsel_book.sparsification import BSSSelector, bss
from fsel_book.spectra import RowSpace, leverage_scores, row_space
from fsel_book.stopping import ScreeDisplay
from fsel_book.svm import (
    LPSVMClassifier,
    SCADSVMClassifier,
    SupportVectorSelector,
    enclosing_ball,
    margin_report,
    svm_margin,
)
from fsel_book.wavelengths import CalibrationSelector, load_tecator
from fsel_book.words import find_copies, leading_factor, load_glosses

# Whoever reads no table does without the modules for them.
if TYPE_CHECKING:
    from fsel_book.reports import report
    from fsel_book.table_selector import TableSelector
    from fsel_book.tables import load_table
else:  # so that misspelt names are still found
    _LOADED_LATE = {
        "TableSelector": "table_selector",
        "load_table": "tables",
        "report": "reports",
    }

    def __getattr__(name: str) -> Any:
        """Called where a name is not there yet: load the module that has it."""
        if name not in _LOADED_LATE:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        thing = getattr(import_module(f"fsel_book.{_LOADED_LATE[name]}"), name)
        prepare_help()
        globals()[name] = thing
        return thing

    def __dir__() -> list[str]:
        """The public names, and the modules that are loaded."""
        found = {name for name, one in globals().items() if isinstance(one, ModuleType)}
        return sorted({*__all__, "__version__", *found})


__all__ = [
    "AdditiveKernelSelector",
    "BSSSelector",
    "Blocks",
    "CalibrationSelector",
    "Certificate",
    "CertifiedSelector",
    "CompletionSelector",
    "Constraints",
    "DSFSelector",
    "DualProjectionClassifier",
    "DualProjectionRidge",
    "GroupSelector",
    "GuaranteePriceDisplay",
    "GuyonRFE",
    "KeptDisplay",
    "LPSVMClassifier",
    "LeverageDisplay",
    "LeverageSelector",
    "RLSClassifier",
    "RRQRSelector",
    "RSFSelector",
    "RandomSelector",
    "Reconstructor",
    "RecoveryDisplay",
    "RiskCurveDisplay",
    "RiskRFE",
    "RowSelector",
    "RowSpace",
    "SCADSVMClassifier",
    "Sampling",
    "ScreeDisplay",
    "SensorSelector",
    "SizeDisplay",
    "SizePath",
    "SparsePCRegressor",
    "SpectrumDisplay",
    "StabilityDisplay",
    "SupportVectorSelector",
    "TableSelector",
    "WeightScores",
    "as_blocks",
    "bss",
    "certify",
    "certify_columns",
    "certify_selector",
    "certify_span",
    "change_point",
    "complete",
    "cur",
    "det_sampling",
    "enclosing_ball",
    "find_copies",
    "information_gain",
    "largest_leverages",
    "least_variance_ratio",
    "leading_factor",
    "leverage_sampling",
    "leverage_scores",
    "load_dataset",
    "load_docstrings",
    "load_flights",
    "load_glosses",
    "load_sea_temperature",
    "load_table",
    "load_tecator",
    "load_techtc",
    "margin_report",
    "pivoted_qr",
    "read_panel",
    "report",
    "ridge_risk",
    "row_space",
    "rrqr",
    "select_panel",
    "selection_stability",
    "size_path",
    "stability_selection",
    "strong_rrqr",
    "svm_margin",
]

prepare_help()
