"""Pickles that know which version of the package wrote them."""

import warnings
from importlib import import_module
from typing import Any

from sklearn.base import BaseEstimator

from fsel_book.notices import stack_level

__all__ = ["OtherVersionWarning", "VersionedEstimator", "package_version"]


# A state without a version was written before this one.
FIRST_WITH_VERSION = "0.1.0"

_KEY = "_fsel_book_version"


def package_version() -> str:
    """The version of this package."""
    return import_module("fsel_book").__version__


class OtherVersionWarning(UserWarning):
    """An estimator was pickled by another version of this package than the one that
    loads it.

    Examples
    --------
    Refuse such pickles:

    >>> import warnings
    >>> from fsel_book.versions import OtherVersionWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", OtherVersionWarning)
    """


class VersionedEstimator(BaseEstimator):
    """The base of all estimators of this package, and so of subclasses elsewhere: one of
    scikit-learn's whose pickles name the version of this package.

    scikit-learn puts its own version into the pickles of its own estimators alone. Where
    the versions differ, an `OtherVersionWarning` says so, and the estimator is loaded
    all the same.
    """

    def __getstate__(self) -> dict[str, Any]:
        """The attributes, and the version beside them."""
        return {**super().__getstate__(), _KEY: package_version()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the attributes over, and warn where another version wrote them."""
        attributes = dict(state)
        written_by = attributes.pop(_KEY, None)
        if written_by != package_version():
            self._warn_of_version(written_by)
        super().__setstate__(attributes)

    def _warn_of_version(self, written_by: str | None) -> None:
        writer = f"fsel_book {written_by}"
        remedy = f"Fit it again, or install that version, fsel_book=={written_by}"
        if written_by is None:
            writer = f"an unknown version of fsel_book before {FIRST_WITH_VERSION}"
            remedy = "Fit it again"
        warnings.warn(
            f"This {type(self).__name__} was pickled by {writer} and is loaded by "
            f"fsel_book {package_version()}, where its attributes may mean something else. "
            f"{remedy}.",
            OtherVersionWarning,
            stacklevel=stack_level(),
        )
