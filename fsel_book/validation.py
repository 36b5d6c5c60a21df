"""The doors: every check of what a user gives, made once, where it comes in.

An error names the parameter or the column, says what was given, and what to give in its
place. Behind the doors functions trust their arguments.
"""

import numbers
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any, Literal

import array_api_compat
import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    validate_data,
)

from fsel_book.arrays import (
    Array,
    ArrayLike,
    Matrix,
    all_finite,
    from_numpy,
    is_integer,
    is_sparse,
    largest_entry,
    namespace,
    readable_array,
    to_numpy,
)
from fsel_book.docs import SEE_ALSO
from fsel_book.notices import stack_level

__all__ = [
    "ENTRY_RANGE",
    "canonical",
    "check_automatic_draws",
    "check_bool",
    "check_choice",
    "check_columns",
    "check_features",
    "check_host_matrix",
    "check_increment",
    "check_instance",
    "check_integer",
    "check_kernel_range",
    "check_labels",
    "check_matrix",
    "check_not_negative",
    "check_numeric",
    "check_open_unit_interval",
    "check_path",
    "check_positive",
    "check_range",
    "check_rank",
    "check_rule",
    "check_reduced",
    "check_same_library",
    "check_semidefinite",
    "check_step",
    "check_target_matrix",
    "check_targets",
    "check_X",
    "feature_indices",
    "frame_on_host",
    "has_objects",
    "is_frame",
    "labels_of",
    "matrix_on_host",
    "naming_columns",
    "target_on_host",
    "warn_of_many_labels",
]


# The size of the largest entry of any matrix or target that is not all zeros. Then its
# square is a number, sums of such squares are, and so is the quotient of a target by an
# entry; the chapter on arrays, section "The check of the input", has the reckoning.
ENTRY_RANGE = 1e-150, 1e150


def check_range(X: Matrix, name: str = "X", smallest: float = ENTRY_RANGE[0]) -> None:
    """Raise an error if the largest entry of `X` is not in `ENTRY_RANGE` or is below
    `smallest`, unless all is zero.

    Parameters
    ----------
    X : array of any array-API library, or SciPy sparse
        Finite.
    name : str
        What the error message calls it.
    smallest : float
        In place of the lower end of `ENTRY_RANGE`.

    Raises
    ------
    ValueError
        Squares of the entries are not numbers of float64.

    Examples
    --------
    >>> check_range(np.array([1e150, -1e-300]))
    """
    largest = largest_entry(X)
    if largest and not smallest <= largest <= ENTRY_RANGE[1]:
        raise ValueError(
            f"{name} is out of range: its largest entry in size is {largest:.3g}, and "
            f"must be between "
            f"{ENTRY_RANGE[0]:.0e} and {ENTRY_RANGE[1]:.0e}. Rescale: divide {name} by "
            f"{largest:.0e}."
        )


def check_numeric(X: ArrayLike) -> ArrayLike:
    """`X`, or an error if it is a list or a host array of texts or times: as
    scikit-learn's own selectors refuse texts.
    """
    if (
        isinstance(X, list | np.ndarray)
        and (dtype := np.asarray(X).dtype).kind in "SUMm"
    ):
        raise ValueError(
            f"X is not numeric: its entries are of the dtype {dtype}. Give numbers, "
            f"as X.astype(float)."
        )
    return X


def target_on_host(y: ArrayLike) -> np.ndarray:
    """`y` on the CPU, or an error if it is sparse."""
    if is_sparse(y):
        raise ValueError("y is sparse: give a dense array, as y.toarray().")
    return to_numpy(y, "y")


def is_frame(X: Any) -> bool:
    """Whether `X` has columns with names and types, as the frames of pandas and Polars
    have.
    """
    return (
        not isinstance(X, np.ndarray) and hasattr(X, "columns") and hasattr(X, "dtypes")
    )


def _listed(names: Sequence[Any], most: int = 5) -> str:
    """Some names of columns, and how many more there are."""
    shown = ", ".join(repr(str(name)) for name in names[:most])
    return f"column{'s' * (len(names) > 1)} {shown}" + (
        f" and {more} more" if (more := len(names) - most) > 0 else ""
    )


def _columns_where(X: Any, holds: Callable[[Any], bool]) -> list[Any]:
    """The names of the columns of a frame for whose type a condition holds."""
    if not any(holds(dtype) for dtype in set(X.dtypes)):
        return []
    return [name for name, dtype in zip(X.columns, X.dtypes) if holds(dtype)]


def _is_kind(dtype: Any, kinds: str) -> bool:
    """Whether a dtype is of one of NumPy's `kinds`; Polars' have no kind."""
    return getattr(dtype, "kind", "?") in kinds


def _is_time(dtype: Any) -> bool:
    """Whether a dtype of pandas or Polars is one of dates or times."""
    return _is_kind(dtype, "mM") or bool(getattr(dtype, "is_temporal", bool)())


def _is_number(dtype: Any) -> bool:
    """Whether a dtype of pandas or Polars is one of real numbers or truth values."""
    return _is_kind(dtype, "biuf") or bool(getattr(dtype, "is_numeric", bool)())


def has_objects(X: Any) -> bool:
    """Whether a frame has a column that is not of numbers by its type, as texts and
    categories are not.
    """
    return not all(_is_number(dtype) for dtype in set(X.dtypes))


def check_columns(X: Any, name: str = "X") -> None:
    """Raise an error if a frame has columns of times or of complex numbers, both of
    which NumPy may take for numbers.
    """
    if times := _columns_where(X, _is_time):
        raise ValueError(
            f"{name} has dates or times, in the {_listed(times)}: give numbers in "
            f"their place, for "
            "instance days since the first date, or leave them out."
        )
    if not_real := _columns_where(X, lambda dtype: _is_kind(dtype, "c")):
        raise ValueError(
            f"Complex data not supported: {name} has complex numbers, in the "
            f"{_listed(not_real)}. Give "
            "the real and the imaginary part as two columns."
        )


def _not_finite(A: Matrix, columns: Sequence[Any]) -> list[Any]:
    """The names of the columns of `A`, on the CPU, that hold NaN or infinity."""
    if is_sparse(A):
        A = A.tocoo()
        bad = np.unique(A.col[~np.isfinite(A.data)])
    else:
        bad = np.flatnonzero(~np.isfinite(A).all(axis=0))
    return [columns[j] for j in bad]


def _numbers_of(X: Any) -> Matrix:
    """The columns of a frame as scikit-learn reads them, NaN and infinity included."""
    options: dict[str, Any] = dict(
        accept_sparse=True,
        ensure_all_finite=False,
        ensure_min_samples=0,
        ensure_min_features=0,
    )
    A = check_array(X, **options)
    # what is left as objects is read once more, as numbers, or is an error
    return A if A.dtype.kind in "biuf" else check_array(X, dtype=np.float64, **options)


def _is_readable_column(X: Any, name: Any) -> bool:
    """Whether a column of a frame can be read as numbers."""
    try:
        _numbers_of(X[[name]])
    except (TypeError, ValueError):
        return False
    return True


@contextmanager
def naming_columns(X: Any, name: str = "X") -> Iterator[None]:
    """Within it, an error over entries of `X` is one that names their columns, if `X`
    is a frame.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        if not is_frame(X):
            raise
        # Only now, since it takes as long as the check itself: which columns are they?
        columns = list(X.columns)
        try:
            bad = _not_finite(_numbers_of(X), columns)
        except (TypeError, ValueError):
            unread = [c for c, dtype in zip(columns, X.dtypes) if not _is_number(dtype)]
            texts = [c for c in unread if not _is_readable_column(X, c)]
            if not texts:
                raise error from None
            raise ValueError(
                f"{name} has entries that are no numbers, in the {_listed(texts)}: "
                f"encode them, for "
                f"instance by OneHotEncoder, or leave them out ({error})."
            ) from error
        if not bad:
            raise
        raise ValueError(
            f"{name} contains NaN or infinity, in the {_listed(bad)}; remove or "
            f"impute those entries "
            "first."
        ) from error


def frame_on_host(X: Any, name: str = "X") -> np.ndarray:
    """The numbers of a frame, or an error that names the columns that hold none; NaN
    and infinity pass.
    """
    check_columns(X, name)
    A = np.asarray(X)
    if A.dtype.kind in "biuf":
        return A
    with naming_columns(X, name):
        A = _numbers_of(X)
    return A.toarray() if is_sparse(A) else A


def canonical(X: Matrix) -> Matrix:
    """The sparse `X` as CSR or CSC with each entry stored once, in order; `X` itself is
    not written to.

    Parameters
    ----------
    X : SciPy sparse matrix or array, of any format

    Returns
    -------
    CSR or CSC matrix or array
        Another object than `X`, around the same arrays where nothing had to be added up
        or sorted; with indices of 32 bits where these suffice.

    Examples
    --------
    >>> canonical(sp.csr_array(([1.0, 2.0], [0, 0], [0, 2]), shape=(1, 1))).data
    array([3.])
    """
    X = X if X.format in ("csr", "csc") else X.tocsr()
    width = np.int32 if max(X.nnz, *X.shape) <= np.iinfo(np.int32).max else np.int64
    # A new matrix around the same arrays: to ask whether it is canonical leaves a note in
    # the one that is asked, and to make it so writes into its arrays.
    own = type(X)(
        (
            X.data,
            X.indices.astype(width, copy=False),
            X.indptr.astype(width, copy=False),
        ),
        shape=X.shape,
    )
    if own.has_canonical_format:
        return own
    own = own.copy()
    own.sum_duplicates()
    return own


def check_matrix(
    X: ArrayLike, name: str = "X", smallest: float = ENTRY_RANGE[0]
) -> Matrix:
    """Return `X` as a real floating two-dimensional array or CSR/CSC matrix, or say
    what is wrong with it.

    Parameters
    ----------
    X : array-like, array of any array-API library, or SciPy sparse matrix, shape (n_samples, n_features)
    name : str
        What the error messages call it.
    smallest : float
        What the size of the largest entry is to be at least.

    Returns
    -------
    array or sparse matrix
        Floating, float32 or wider; the same object where nothing had to change, for a
        sparse matrix the same arrays. Sparse results are canonical: each entry stored
        once, in order.

    Raises
    ------
    ValueError
        Not two-dimensional, empty, complex, not numeric, masked, holding NaN or
        infinity, or out of `ENTRY_RANGE`. Of a frame the message names the columns.
    TypeError
        `X` is no array, and nothing that can be read as one.

    Examples
    --------
    >>> check_matrix([[1, 2], [3, 4]])
    array([[1., 2.],
           [3., 4.]])
    """
    given = X = readable_array(X, name)
    if is_frame(X):
        X = frame_on_host(X, name)
    elif not is_sparse(X) and namespace(X) is namespace():
        X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(
            f"{name} has {X.ndim} dimension(s); a matrix of shape (n_samples, "
            f"n_features) is needed."
        )
    if 0 in X.shape:
        raise ValueError(f"{name} is empty: its shape is {tuple(X.shape)}.")
    if is_sparse(X):
        X = canonical(X)
    xp = namespace(X)
    values = X.data if is_sparse(X) else X
    if array_api_compat.is_numpy_array(values) and values.dtype.kind not in "biufc":
        raise ValueError(f"{name} has dtype {values.dtype}; numbers are needed.")
    if xp.isdtype(values.dtype, "complex floating"):
        raise ValueError(
            f"Complex data not supported: {name} has dtype {values.dtype}."
        )
    # half precision is widened, too: sums of its squares overflow on ordinary data
    if not xp.isdtype(values.dtype, "real floating") or str(values.dtype).endswith(
        "float16"
    ):
        X = X.astype(np.float64) if is_sparse(X) else xp.astype(X, xp.float64)
        values = X.data if is_sparse(X) else X
    if not all_finite(values):
        where = (
            f", in the {_listed(_not_finite(X, list(given.columns)))}"
            if is_frame(given)
            else ""
        )
        raise ValueError(
            f"{name} contains NaN or infinity{where}; remove or impute those entries "
            f"first."
        )
    check_range(X, name, smallest)
    return X


def warn_of_many_labels(classes: np.ndarray, n: int, remedy: str) -> None:
    """Say so where `n` labels look like measurements: most are different, or a third of
    them if they are numbers.

    scikit-learn says so from a half on. A third also finds whole numbers such as the
    target of `load_diabetes`, which has 214 values for 442 samples.
    """
    most = n / 3 if classes.dtype.kind in "iuf" else n / 2
    if n > 20 and len(classes) > most:
        warnings.warn(
            f"y has {len(classes)} classes for {n} samples. If it measures something, "
            f"it has no classes, and "
            f"this is a regression problem. {remedy}".strip(),
            stacklevel=stack_level(),
        )


def check_not_negative(name: str, value: Any) -> None:
    """Raise an error if the parameter `name` is not a number of at least 0."""
    if (
        not isinstance(value, int | float | np.number)
        or isinstance(value, bool)
        or not 0 <= value < np.inf
    ):
        raise ValueError(
            f"{name}={value!r} is not possible: give a number of at least 0."
        )


def check_open_unit_interval(name: str, value: Any) -> None:
    """Raise an error if the parameter `name` is not strictly between 0 and 1."""
    if not isinstance(value, numbers.Real) or not 0 < float(value) < 1:
        raise ValueError(
            f"{name}={value!r} is not possible: give a number above 0 and below 1."
        )


def check_positive(name: str, value: Any, least: float = 0.0) -> None:
    """Raise an error if the parameter `name` is not a number above `least`."""
    if (
        not isinstance(value, int | float | np.number)
        or isinstance(value, bool)
        or not least < value < np.inf
    ):
        raise ValueError(
            f"{name}={value!r} is not possible: give a number above {least:g}."
        )


def check_bool(name: str, value: Any) -> None:
    """Raise an error if the parameter `name` is not a truth value."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name}={value!r} is not possible: give True or False.")


def check_instance(name: str, value: Any) -> None:
    """Raise an error if the parameter `name` is a class, where one of its instances is
    needed.
    """
    if isinstance(value, type):
        raise TypeError(
            f"{name}={value.__name__} is a class: give an instance of it, as "
            f"{name}={value.__name__}()."
        )


def check_integer(
    r: Any, least: int, most: int | None = None, why: str = "", name: str = "r"
) -> None:
    """Raise an error if the number of columns `r`, called `name` in the message, is no
    integer from `least` to `most`.
    """
    if not is_integer(r) or r < least or (most is not None and r > most):
        span = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name}={r!r} is not possible: give an integer {span}{why}.")


def check_rank(
    rank: int | Literal["full"] | None, r: int | None, spare: int = 1, which: str = ""
) -> None:
    """Raise an error if `rank` cannot be certified with `r` draws (None: unknown yet),
    `spare` of them beyond the rank.
    """
    if rank is None or isinstance(rank, str) and rank == "full":
        return
    if not is_integer(rank) or rank < 1:
        raise ValueError(
            f"rank={rank!r} is not possible: give an integer of at least 1, 'full' or "
            f"None; {SEE_ALSO}"
        )
    if r is not None and rank > (most := max(1, r - spare)):
        raise ValueError(
            f"rank={rank}{which} is not possible with n_features_to_select={r}: {r} "
            f"feature{'s' * (r > 1)}"
            f" can be certified for a rank of at most {most}. Ask for more features, "
            f"or for a lower "
            f"rank; {SEE_ALSO}"
        )


def check_automatic_draws(r: int, ell: int, d: int, ridge: float | None = None) -> int:
    """The number `r` of draws that a theorem asks for at rank `ell`, or at a ridge, if
    `d` features allow it.
    """
    if r > d:
        at = f"rank {ell}" if ridge is None else f"ridge={ridge:.4g}"
        other = (
            "a smaller rank (None is all of it here)"
            if ridge is None
            else "a larger ridge"
        )
        raise ValueError(
            f"n_features_to_select='theorem' needs {r} draws at {at}, more than "
            f"the {d} features of X: "
            f"give a larger eps, {other}, or a "
            f"number; {SEE_ALSO}"
        )
    return r


def check_X(
    estimator: BaseEstimator,
    X: ArrayLike,
    reset: bool,
    least: int = 2,
    dtype: Any = None,
) -> Matrix:
    """`X` validated for `fit` (`reset`) or for a later method of `estimator`, in the
    library in which it came.

    scikit-learn's `validate_data` does it for what it reads: NumPy's arrays, lists,
    frames and sparse matrices. Arrays of other libraries stay where they are, and so go
    through `check_matrix`.

    In `fit` it needs `least` samples and a largest entry that can be squared. Sparse
    results are canonical.
    """
    if getattr(X, "is_in_blocks", False):
        raise ValueError(
            f"{type(estimator).__name__} takes no X in blocks: give an array."
        )
    smallest = ENTRY_RANGE[0] if reset else 0.0
    X = readable_array(X)
    kinds = dtype or [np.float64, np.float32]
    if is_frame(X):
        check_columns(X)
        # "numeric" leaves what it cannot convert as it is
        if has_objects(X):
            kinds = [np.float64, np.float32]
    if is_sparse(X):
        X = canonical(X)
    if array_api_compat.is_array_api_obj(X) and not array_api_compat.is_numpy_array(X):
        X = check_matrix(X, smallest=smallest)
        _check_feature_names(estimator, X, reset=reset)
        _check_n_features(estimator, X, reset=reset)
    else:
        # the sum that looks for NaN overflows
        with np.errstate(over="ignore", invalid="ignore"), naming_columns(X):
            X = validate_data(
                estimator,
                check_numeric(X),
                reset=reset,
                dtype=kinds,
                accept_sparse=("csr", "csc"),
            )
        check_range(X, smallest=smallest)
    if reset and X.shape[0] < least:
        raise ValueError(
            f"Found {X.shape[0]} sample(s) (n_samples = {X.shape[0]}) while a minimum "
            f"of {least} is "
            f"required by {type(estimator).__name__}."
        )
    return X


def check_same_library(
    estimator: BaseEstimator, X: Matrix, fitted: Array, method: str = "transform"
) -> None:
    """Raise an error if `X`, given to a method of `estimator`, is not of the array
    library of its attribute `fitted`.
    """
    if namespace(X) is not namespace(fitted):
        raise ValueError(
            f"Inputs passed to {type(estimator).__name__}.{method}() must use the "
            f"same namespace as those "
            f"passed to fit(): {namespace(X).__name__} is not "
            f"{namespace(fitted).__name__}. Convert X, or "
            "fit on arrays of its library."
        )


def check_reduced(X: ArrayLike, n_selected: int) -> Matrix:
    """`X`, validated, if it has as many columns as features were selected."""
    X = check_matrix(X, smallest=0.0)
    if X.shape[1] == n_selected:
        return X
    raise ValueError(
        f"X has {X.shape[1]} features, but {n_selected} features were selected."
    )


def check_labels(
    estimator: Any, X: Matrix, y: ArrayLike | None, warn: bool = True
) -> tuple[Array, np.ndarray]:
    """The classes and the columns of -1 and 1 that stand for `y`: one column for two
    classes, otherwise one for each.

    The estimator has what to say `_for_numbers`.
    """
    for_numbers = getattr(estimator, "_for_numbers", "")
    classes, codes = np.unique(
        labels_of(y, X, type(estimator).__name__, for_numbers, warn),
        return_inverse=True,
    )
    Y = np.where(codes[:, None] == np.arange(len(classes)), 1.0, -1.0)
    if classes.dtype.kind in "biuf":
        classes = from_numpy(classes, X)
    return classes, Y[:, 1:] if Y.shape[1] == 2 else Y


def labels_of(
    y: ArrayLike | None, X: Matrix, who: str, for_numbers: str, warn: bool = True
) -> np.ndarray:
    """Class labels on the CPU, of at least two kinds, or what is wrong with them.

    `for_numbers` says what else takes numbers, where `y` has no labels but
    measurements. The words "Unknown label type" and those about `y` being None are
    scikit-learn's, whose `check_estimator` looks for them; what follows is free.
    """
    if y is None:
        raise ValueError(f"{who} requires y to be passed, but the target y is None.")
    y = column_or_1d(
        check_array(target_on_host(y), ensure_2d=False, dtype=None, input_name="y"),
        warn=True,
    )
    check_consistent_length(X, y)
    # `type_of_target` would refuse these too, but name none, nor say what takes numbers
    fractions = y[y != np.floor(y)] if y.dtype.kind == "f" else y[:0]
    if len(fractions):
        raise ValueError(
            f"Unknown label type: continuous. y has numbers with fractions, such as "
            f"{fractions[0]:g}, "
            f"which are no labels. {for_numbers}"
        )
    if (kind := type_of_target(y, input_name="y")) not in ("binary", "multiclass"):
        raise ValueError(
            f"Unknown label type: {kind}. Give labels that are all numbers, or all "
            f"texts."
        )
    if len(classes := np.unique(y)) < 2:
        raise ValueError(
            f"y has only one class, {classes.tolist()[0]!r}: a classifier needs at "
            f"least two."
        )
    if warn:
        warn_of_many_labels(classes, len(y), for_numbers)
    return y


def check_targets(estimator: Any, X: Matrix, y: ArrayLike) -> np.ndarray:
    """The numbers `y` on the CPU, one for each sample, or what is wrong with them."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is "
            f"None."
        )
    checked = check_array(
        target_on_host(y), ensure_2d=False, dtype=np.float64, input_name="y"
    )
    y = column_or_1d(checked, warn=True)
    check_consistent_length(X, y)
    check_range(y, "y")
    return y


def check_alpha(
    alpha: ArrayLike, many: bool = True, name: str = "alpha"
) -> np.ndarray:
    """`alpha` as an array of float64, or what is wrong with it; a list of numbers only
    where there may be `many`.
    """
    values = np.asarray(alpha)
    # one dimension at most where there may be many, else none
    numbers = 0 < values.size and values.ndim <= many and values.dtype.kind in "iuf"
    if not numbers or not np.all((values >= 0) & np.isfinite(values)):
        raise ValueError(
            f"{name}={alpha!r} is not possible: give a finite number of at least 0"
            f"{', or a list of such numbers' * many}. "
            f"0 stands for the limit, least squares of smallest norm."
        )
    return values.astype(np.float64)


def check_kernel_range(K: np.ndarray) -> np.ndarray:
    """Kernel values, or an error if float32 has not the range for them: `X` itself may
    be in range.
    """
    if K.dtype == np.float32 and not np.all(np.isfinite(K)):
        raise ValueError(
            "The kernel values overflow float32: rescale X, or give it in float64."
        )
    return K


def matrix_on_host(X: Matrix) -> Matrix:
    """`X`, which is not checked, on the CPU, in float64: an array, or CSC where it is
    sparse.
    """
    return (
        sp.csc_array(X, dtype=np.float64)
        if is_sparse(X)
        else np.asarray(to_numpy(X), dtype=np.float64)
    )


def check_host_matrix(X: Matrix, name: str = "X") -> Matrix:
    """`X`, checked, on the CPU, in float64."""
    return matrix_on_host(check_matrix(X, name))


def check_semidefinite(K: np.ndarray, name: str = "kernel") -> None:
    """Say so if the symmetric matrix `K` has an eigenvalue below 0 by more than
    rounding.

    Then no space of functions belongs to it.
    """
    # Rounding leaves eigenvalues of this size below 0. With it added, Cholesky's factor
    # exists; that takes far less time than the eigenvalues.
    room = 1e-8 * max(np.abs(np.diagonal(K)).max(), np.abs(K).max() / len(K))
    if room == 0:
        return
    try:
        scipy.linalg.cholesky(K + room * np.eye(len(K)))
    except np.linalg.LinAlgError:
        lowest = scipy.linalg.eigvalsh(K, subset_by_index=[0, 0])[0]
        raise ValueError(
            f"{name} is not positive semi-definite: its matrix on these samples has "
            f"the eigenvalue "
            f"{lowest:.2g}, and its largest entry is {np.abs(K).max():.2g}. Its "
            f"regularised risk need not "
            f"have a minimum; take another kernel."
        ) from None


def check_target_matrix(y: ArrayLike, n: int, who: str) -> np.ndarray:
    """The targets as a float64 host array of two dimensions, or what is wrong with
    them.
    """
    if y is None:
        raise ValueError(f"{who} requires y to be passed, but the target y is None.")
    Y = check_array(
        target_on_host(y), dtype=np.float64, ensure_2d=False, input_name="y"
    )
    if Y.ndim > 2 or len(Y) != n:
        raise ValueError(
            f"y has shape {Y.shape}; numbers of shape ({n},) or ({n}, n_targets) are "
            f"needed."
        )
    check_range(Y, "y")
    return Y.reshape(n, -1)


def check_choice(name: str, value: Any, allowed: Iterable[str]) -> None:
    """Raise an error unless the parameter is one of those allowed."""
    if value not in list(allowed):
        raise ValueError(
            f"{name}={value!r} is not possible: give one of "
            f"{', '.join(map(repr, allowed))}."
        )


def check_rule(rule: str, rules: Iterable[str]) -> None:
    """Raise an error if there is no such rule."""
    check_choice("rule", rule, rules)


def check_step(step: Any, adaptive: bool) -> None:
    """Raise an error if `step` is neither a number of features, nor a share of them,
    nor, where that is offered, "adaptive".
    """
    whole = is_integer(step) and step >= 1
    share = isinstance(step, float | np.floating) and 0 < step < 1
    if not (whole or share or (adaptive and isinstance(step, str) and step == "adaptive")):
        or_adaptive = ", or 'adaptive'" if adaptive else ""
        raise ValueError(
            f"step={step!r} is not possible: give an integer of at least 1, "
            f"or a fraction "
            f"above 0 and below 1{or_adaptive}."
        )


def check_increment(found: Any, left: int) -> float:
    """What a function `max_increment` allows with `left` features, or what is wrong
    with it; it may be infinite.
    """
    # of an array of any library
    if np.ndim(found) == 0 and hasattr(found, "item"):
        found = found.item()
    if isinstance(found, int | float) and not isinstance(found, bool) and found >= 0:
        return float(found)
    raise ValueError(
        f"max_increment gives {found!r} for {left} features, which is not possible: "
        f"give a function that "
        "returns a number of at least 0, infinity where nothing is to stop the "
        "elimination."
    )


def check_path(values: ArrayLike, left: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """A path of objectives and the numbers of features at its points, both on the CPU,
    or what is wrong with them.
    """
    values = np.asarray(to_numpy(values), dtype=np.float64)
    left = np.asarray(to_numpy(left))
    if (
        values.ndim != 1
        or values.shape != left.shape
        or len(values) < 2
        or not np.isfinite(values).all()
    ):
        raise ValueError(
            f"values of shape {values.shape} and left of shape {left.shape} are not a "
            f"path: give two or "
            "more finite values, and one number of features for each."
        )
    # differences of unsigned integers wrap around
    if (left[1:] >= left[:-1]).any():
        raise ValueError(
            "left is not possible: the number of features must fall from each point "
            "of the path to the "
            "next."
        )
    return values, left


def check_features(given: Any, d: int, name: str = "given") -> np.ndarray:
    """Distinct features as integers, or what is wrong with the parameter `name`."""
    found = np.asarray(given)
    if found.size == 0:
        return np.empty(0, dtype=np.int64)
    wrong = (
        found.ndim != 1
        or found.dtype.kind not in "iu"
        or found.min() < 0
        or found.max() >= d
    )
    if wrong or len(np.unique(found)) < len(found):
        twice = (
            []
            if wrong
            else [int(i) for i in np.unique(found) if np.sum(found == i) > 1]
        )
        what = (
            f"; {', '.join(map(str, twice[:5]))} occur more than once" if twice else ""
        )
        raise ValueError(
            f"{name}={given!r} is not possible: give distinct features as integers "
            f"from 0 to {d - 1}"
            f"{what}."
        )
    return found.astype(np.int64)


def feature_indices(
    given: Any,
    d: int,
    names: np.ndarray | None,
    name: str = "given",
    forms: str = "a list of names or indices, or a mask",
) -> np.ndarray:
    """Indices of `d` features that the parameter `name` gives as indices, names or a
    mask.

    Parameters
    ----------
    given : sequence of int or str, mask of shape (d,), or None
    d : int
    names : ndarray of str, shape (d,), or None
        The names of the features.
    name : str
        What an error calls the parameter.
    forms : str
        What it may be.

    Returns
    -------
    ndarray of int

    Raises
    ------
    ValueError
        A feature is not there, or occurs twice; or there are names and `X` has none.

    Examples
    --------
    >>> feature_indices([True, False, True], 3, None)
    array([0, 2])
    """
    if given is None:
        return np.empty(0, dtype=np.int64)
    found = np.asarray(given)
    if found.ndim == 0:
        raise ValueError(f"{name}={given!r} is not possible: give {forms}.")
    if found.dtype == object:
        found = np.asarray(found.tolist())
    if found.dtype == bool:
        if found.shape != (d,):
            raise ValueError(
                f"{name} is a mask of shape {found.shape}; X has {d} features."
            )
        return np.flatnonzero(found)
    if found.dtype.kind in "UO" and found.size:
        if names is None:
            raise ValueError(
                f"{name} has names, but X has none: pass a frame, or give indices."
            )
        place = {column: i for i, column in enumerate(names)}
        if len(place) < len(names):
            raise ValueError(
                f"{name} has names, and X has two columns of one name, so that names do "
                f"not tell them apart: give indices, or other names."
            )
        unknown = [column for column in found if column not in place]
        if unknown:
            near = get_close_matches(str(unknown[0]), [str(n) for n in names], 1)
            hint = f" Is it {near[0]!r}?" if near else ""
            raise ValueError(
                f"{name} has names that X has not: "
                f"{', '.join(repr(str(column)) for column in unknown[:5])}.{hint}"
            )
        twice = [column for i, column in enumerate(found) if column in found[:i]]
        if twice:
            raise ValueError(
                f"{name} names {', '.join(repr(str(column)) for column in twice[:5])} "
                f"more than once."
            )
        found = np.array([place[column] for column in found])
    return check_features(found, d, name)
