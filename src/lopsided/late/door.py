"""The door of the engine: features, labels, keys and moments are checked before anything is scored or learned."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from lopsided.constraints import LARGEST_FEATURE, ParameterError
from lopsided.encoding import EncodedRows
from lopsided.labels import missing_labels as missing_labels
from lopsided.labels import signs_of as signs_of
from lopsided.late.any_learner import AnyLearner
from lopsided.late.rows import Floats
from lopsided.late.store import Key
from lopsided.late.waiting_cells import as_encoded


def features(model: Any, X: Any, n_features: int | None, names: list[str] | None = None) -> Any:
    """Rows in a form that can wait: a float64 matrix, CSR, or what the model's encoder has made of a table.

    A data frame must have the columns that the model knows, or else the `names` of an earlier one, in their order.
    """
    if hasattr(model, "find_schema"):
        model.find_schema(X)
        rows = as_encoded(X if isinstance(X, EncodedRows) else model.encoded(X))
        return rows if model.shows_rows else rows.view()  # which does without cells
    if sp.issparse(X):
        X = sp.csr_array(X, dtype=np.float64)
        values = X.data
    else:
        _check_names(model, X, names)
        if not isinstance(X, EncodedRows):  # whose columns were found by the names of the model's features
            X = np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X, dtype=np.float64)
        values = X
    if X.ndim != 2 or n_features not in (None, X.shape[1]):
        wanted = "a matrix" if n_features is None else f"rows of {n_features} features"
        raise ValueError(f"The rows that are to wait for labels must be {wanted}. Got shape {X.shape}.")
    if not isinstance(model, AnyLearner) and np.count_nonzero(np.abs(values) <= LARGEST_FEATURE) < values.size:
        raise ValueError(
            "The rows that are to wait for labels must hold finite numbers below 1e150 in size. "
            f"Got {values.flat[np.flatnonzero(~(np.abs(values.ravel()) <= LARGEST_FEATURE))[0]]}."
        )
    return X


def names_of(X: Any) -> list[str] | None:
    """The names of the columns of a data frame; None for anything else."""
    return [str(name) for name in X.columns] if hasattr(X, "columns") and hasattr(X, "to_numpy") else None


def _check_names(model: Any, X: Any, names: list[str] | None) -> None:
    given = names_of(X)
    if given is None:
        return
    known = getattr(model, "feature_names_in_", names)
    if known is not None and given != [str(name) for name in known]:
        raise ValueError(
            f"The rows that are to wait for labels must have the columns {', '.join(map(str, known))} in this order. "
            f"Got {', '.join(given)}."
        )


def keys_of(keys: Iterable[Any], n_rows: int | None = None) -> list[Key]:
    """Keys as Python has them."""
    plain = np.asarray(keys).tolist() if isinstance(keys, np.ndarray) else [_plain(key) for key in keys]
    for key in plain:
        if not isinstance(key, str | int | float) or key != key:
            raise ParameterError(f"The key of a row must be a string or a number. Got {key!r}.")
    if n_rows not in (None, len(plain)):
        raise ParameterError(f"The keys must be as many as the rows, {n_rows}. Got {len(plain)}.")
    return plain


def _plain(key: Any) -> Any:
    return key.item() if isinstance(key, np.generic) else key


def moments_of(times: Any, n_rows: int, latest: float) -> Floats:
    """When rows came. Time does not run backwards: a row that is late, or has no time, has that of those before it."""
    moments = np.asarray(times, dtype=np.float64)
    if moments.shape != (n_rows,):
        raise ParameterError(f"The times must be as many as the rows, {n_rows}. Got shape {moments.shape}.")
    moments = np.where(np.isfinite(moments), moments, -np.inf)
    return np.maximum(np.maximum.accumulate(moments), latest)


def checked_delays(delays: Any, n_rows: int, *, in_time: bool) -> Floats:
    """Delays of single rows; NaN where the label never comes."""
    given = np.asarray(delays)
    amounts = np.broadcast_to(given, (n_rows,)).astype(np.float64) if given.dtype.kind in "iuf" else None
    if amounts is None or (amounts < 0).any() or not (in_time or _are_whole(amounts)):
        allowed = "seconds >= 0" if in_time else "whole numbers >= 0"
        raise ParameterError(f"The delays of late labels must be {allowed}, or NaN for never, got {delays!r}.")
    return amounts


def _are_whole(amounts: Floats) -> bool:
    come = amounts[~np.isnan(amounts)]
    return bool((come == np.floor(come)).all())
