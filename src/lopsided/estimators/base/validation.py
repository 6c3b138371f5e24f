"""The door: arrays, data frames and CSR matrices become `Rows`, and bad input is refused before anything is learned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from lopsided.constraints import LARGEST_FEATURE
from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.geometry.points import Rows
from lopsided.encoding import EncodedRows
from lopsided.encoding.forms import by_column
from lopsided.labels import Signs
from lopsided.streams.cells import is_missing

SHAPE = ("n_features_in_", "feature_names_in_")  # what the first rows tell of all rows
_NO_INTEGERS = np.zeros(0, dtype=np.int64)
_NO_SHORT_INTEGERS = np.zeros(0, dtype=np.int32)
_NO_FLOATS = np.zeros(0)
_NO_DENSE = np.zeros((0, 0))


@contextmanager
def shape_unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Put back what was recorded of the rows, such as the number and names of features, if what follows fails."""
    names = getattr(estimator, "_shape", SHAPE)
    before = {name: estimator.__dict__[name] for name in names if name in estimator.__dict__}
    try:
        yield
    except BaseException:
        for name in names:
            estimator.__dict__.pop(name, None)
        estimator.__dict__.update(before)
        raise


def checked_features(estimator: Any, X: Any, *, first: bool) -> Any:
    """X as a float64 array or CSR matrix of the right width, all finite; `first` records width and names."""
    finite: Any = "allow-nan" if getattr(estimator, "takes_missing", False) else True
    if isinstance(X, EncodedRows) and not first and X.shape[1:] == (estimator.n_features_in_,):
        # An encoder has found its columns by their names: none to compare.
        X = check_array(X, dtype=np.float64, ensure_all_finite=finite)
    else:
        X = _validated(estimator, X, first=first, finite=finite)
    values = X.data if sp.issparse(X) else X
    # Comparisons with NaN, of which only a learner that takes missing values has got any by now, are false.
    if values.size and max(np.fmax.reduce(values, axis=None), -np.fmin.reduce(values, axis=None)) > LARGEST_FEATURE:
        raise ValueError(
            f"The features X of {type(estimator).__name__} must be below {LARGEST_FEATURE:g} in size, so that their "
            f"squares are finite. Got {values.flat[np.abs(values).argmax()]:g}."
        )
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _validated(estimator: Any, X: Any, *, first: bool, finite: Any) -> Any:
    """What scikit-learn makes of X; a data frame that is not of numbers is told which column and what to do."""
    if not (hasattr(X, "columns") and hasattr(X, "dtypes")):
        return validate_data(estimator, X, reset=first, accept_sparse="csr", dtype=np.float64, ensure_all_finite=finite)
    moments = [
        str(name) for name, kind in zip(X.columns, X.dtypes, strict=True) if str(kind).lower().startswith("date")
    ]
    if moments:  # which NumPy would take for huge numbers
        raise _not_of_numbers(estimator, moments[0], "a date")
    try:
        return validate_data(estimator, X, reset=first, accept_sparse="csr", dtype=np.float64, ensure_all_finite=finite)
    except (TypeError, ValueError):
        for name, cells in by_column(X).items():
            for cell in cells.to_pylist() if hasattr(cells, "to_pylist") else cells:
                if is_missing(cell) or not isinstance(cell, Number | np.bool_):
                    raise _not_of_numbers(estimator, name, "nothing" if is_missing(cell) else repr(cell)) from None
        raise


def _not_of_numbers(estimator: Any, name: str, got: str) -> ValueError:
    return ValueError(
        f"The column {name!r} of X must hold numbers, and no gaps, for {type(estimator).__name__}. Got {got}; "
        "TablePipeline takes words, dates and missing values."
    )


def without_blanks(y: Any, sample_weight: Any) -> tuple[Any, Any]:
    """Signs that are not known, NaN, as rows of weight 0, which are skipped; all else as it is."""
    blank = blank_rows(y)
    if blank is None:
        return y, sample_weight
    weights = np.where(blank, 0.0, checked_weights(sample_weight, y.size))
    return Signs.of(np.where(blank, -1.0, y), y.labels), weights


def blank_rows(y: Any) -> npt.NDArray[np.bool_] | None:
    """Which rows of a stream have no label; None if all have one."""
    if not isinstance(y, Signs):
        return None
    blank = np.isnan(y.view(np.ndarray))
    return blank if blank.any() else None


def checked_labels(estimator: Any, y: Any, n_rows: int) -> npt.NDArray[Any]:
    """y as a vector as long as X, without NaN."""
    if isinstance(y, Signs):
        if y.shape != (n_rows,) or not (np.abs(y) == 1.0).all():
            raise ValueError(f"The signs of the labels must be {n_rows} times 1 or -1. Got others, of shape {y.shape}.")
        return y
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )
    nullable = getattr(getattr(y, "dtype", None), "numpy_dtype", None)  # of pandas' columns that may hold NA
    if nullable is not None and not y.isna().any():
        y = y.to_numpy(dtype=nullable)
    y = column_or_1d(y, warn=True)
    if y.dtype == object:
        # Mixed or missing labels show themselves when NumPy is asked for a proper type.
        kinds = {type(label) for label in y.tolist()}
        if len(kinds) > 1:
            raise ValueError(
                "The labels y must be of one type. "
                f"Got a mixture of {', '.join(sorted(kind.__name__ for kind in kinds))}."
            )
        y = np.array(y.tolist())
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(
            "Input y contains NaN or infinity. The labels must be finite. Got it in row " + _first_bad(y) + "."
        )
    if y.dtype.kind == "f" and (y != np.floor(y)).any():
        raise ValueError(
            "Unknown label type: continuous. The labels must be two classes, not a quantity. "
            f"Got {y[y != np.floor(y)][0]!r} in row {int(np.flatnonzero(y != np.floor(y))[0])}."
        )
    if y.shape[0] != n_rows:
        raise ValueError(f"The labels y must be as many as the rows of X, {n_rows}. Got {y.shape[0]}.")
    return y


def _first_bad(values: npt.NDArray[Any]) -> str:
    return str(int(np.flatnonzero(~np.isfinite(values))[0]))


def checked_weights(sample_weight: Any, n_rows: int) -> Floats:
    """Weights >= 0, one a row (1 each if None)."""
    if sample_weight is None:
        return np.ones(n_rows)
    if isinstance(sample_weight, Number):
        sample_weight = np.full(n_rows, sample_weight, dtype=np.float64)
    weights = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, {n_rows} of them. Got shape {weights.shape}.")
    if weights.shape[0] != n_rows:
        raise ValueError(f"Sample weights must be as many as the rows of X, {n_rows}. Got {weights.shape[0]}.")
    if (weights < 0).any():
        row = int(np.flatnonzero(weights < 0)[0])
        raise ValueError(f"Sample weights must be >= 0. Got {weights[row]!r} in row {row}.")
    return np.asarray(weights)


def checked_scores(scores: Any, n_rows: int) -> Floats:
    """Scores that were answered, one a row; NaN where a row went unscored."""
    result = np.asarray(scores, dtype=np.float64)
    if result.shape != (n_rows,) or np.isinf(result).any():
        raise ValueError(f"The scores answered must be {n_rows} numbers, one for each row. Got shape {result.shape}.")
    return result


def values_of(estimator: Any, row: Mapping[str, Any], names: Any) -> Floats:
    """The numbers of a mapping in the order of the names; a name too few or too many is refused by name."""
    owner = type(estimator).__name__
    if names is None:
        raise ValueError(
            f"The example x of {owner} must be a 1-d array of {estimator.n_features_in_} features, because the rows it "
            f"has learned from had no names. Got a mapping of {len(row)} names."
        )
    try:
        values = [row[name] for name in names]
    except KeyError as error:
        raise ValueError(
            f"The example x of {owner} must have the features {_shown(names)}. Got none called {error.args[0]!r}."
        ) from None
    if len(row) != len(values):
        unknown = next(name for name in row if name not in set(names))
        raise ValueError(f"The example x of {owner} must have only the features {_shown(names)}. Got {unknown!r} too.")
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        name, value = next((n, v) for n, v in zip(names, values, strict=True) if not isinstance(v, Number))
        raise ValueError(
            f"The feature {name!r} of an example of {owner} must be a number. Got {value!r}; TablePipeline takes "
            "words, dates and missing values."
        ) from None


def _shown(names: Any) -> str:
    shown = [str(name) for name in list(names)[:8]]
    return ", ".join(shown) + (", ..." if len(names) > len(shown) else "")


def make_writable(owner: Any) -> None:
    """Replace arrays that must not be written to by copies, in an object of this package and in what it is made of.

    joblib hands over large arrays as read-only memory maps, which compiled code could neither write nor, without a
    second compilation, read.
    """
    for name, value in vars(owner).items():
        if isinstance(value, np.ndarray | tuple):
            vars(owner)[name] = _writable(value)  # also where an object is frozen
        elif hasattr(value, "__dict__") and type(value).__module__.startswith("lopsided."):
            make_writable(value)


def _writable(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value if type(value) is np.ndarray and value.flags.writeable else np.array(value)
    if hasattr(value, "_fields"):
        return type(value)(*map(_writable, value))
    return value


def as_rows(X: Any) -> Rows:
    """The form that compiled code reads: writable, aligned, C-ordered arrays (one type, one compiled program)."""
    if sp.issparse(X):
        return Rows(
            _NO_DENSE,
            np.require(X.indptr, np.int64, ["C", "A", "W"]),
            np.require(X.indices, np.int32, ["C", "A", "W"]),
            np.require(X.data, np.float64, ["C", "A", "W"]),
        )
    return Rows(np.require(np.asarray(X), np.float64, ["C", "A", "W"]), _NO_INTEGERS, _NO_SHORT_INTEGERS, _NO_FLOATS)


def n_rows_of(rows: Rows) -> int:
    """How many examples there are."""
    return rows.starts.size - 1 if rows.starts.size else rows.dense.shape[0]


def matrix_of(rows: Rows, n_features: int) -> Any:
    """The rows as a user knows them: an array, or CSR."""
    if not rows.starts.size:
        return rows.dense
    return sp.csr_array((rows.values, rows.features, rows.starts), shape=(n_rows_of(rows), n_features))


def dense_rows(rows: Rows, n_features: int) -> Floats:
    """The rows as an array, for learners of few features that work with matrices."""
    if not rows.starts.size:
        return rows.dense
    shape = (n_rows_of(rows), n_features)
    return np.asarray(sp.csr_array((rows.values, rows.features, rows.starts), shape=shape).toarray())
