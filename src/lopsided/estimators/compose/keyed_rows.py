"""Rows with a key in one column: the others as numbers, and the key as a code in a last column behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from lopsided.constraints import LARGEST_FEATURE
from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.core.geometry.points import Rows
from lopsided.encoding.forms import by_column
from lopsided.encoding.hashing import code_behind
from lopsided.encoding.key_columns import columns_of, key_codes, numbers_of, one_key_code
from lopsided.estimators.base import validation

_SALT = 0


def is_table(X: Any) -> bool:
    """Whether rows come by the names of their columns."""
    if sp.issparse(X):  # of which some are mappings
        return False
    if isinstance(X, Mapping) or hasattr(X, "columns"):
        return True
    return isinstance(X, Sequence) and len(X) > 0 and all(isinstance(row, Mapping) for row in X)


def encoded_rows(owner: Any, X: Any, key: Any, *, first: bool) -> Any:
    """The rows as numbers with the code of the key at the end: an array, or CSR; `first` records width and names."""
    if is_table(X):
        return _encoded_table(owner, X, key, first=first)
    if not sp.issparse(X) and np.asarray(X).dtype.kind in "OUS":
        return _encoded_words(owner, np.asarray(X), key, first=first)
    X = validation.checked_features(owner, X, first=first)
    at = place_of_key(owner, key, X.shape[1])
    if sp.issparse(X):
        column = np.asarray(X[:, [at]].toarray()).ravel()
        keep = [j for j in range(X.shape[1]) if j != at]
        codes = sp.csr_array(key_codes(column, _SALT).astype(np.float64)[:, None])
        joined = sp.hstack([sp.csr_array(X)[:, keep], codes], format="csr")
        joined.sort_indices()
        return joined
    result = np.empty(X.shape)
    if not code_behind(validation.as_rows(X).dense, at, _SALT, result):
        result[:, :at], result[:, at:-1] = X[:, :at], X[:, at + 1 :]
        result[:, -1] = key_codes(X[:, at], _SALT)
    return result


def place_of_key(owner: Any, key: Any, width: int) -> int:
    """The number of the key's column among so many."""
    names = getattr(owner, "feature_names_in_", None)
    if isinstance(key, str):
        if names is None or key not in names.tolist():
            held = "columns without names" if names is None else ", ".join(map(str, names[:20]))
            raise ValueError(f"The rows of {type(owner).__name__} must have the column {key!r} of its key. Got {held}.")
        return names.tolist().index(key)
    if not -width <= key < width or width < 2:
        raise ValueError(
            f"The rows of {type(owner).__name__} must have the key in column {key} and a feature besides. "
            f"Got {width} feature(s)."
        )
    return int(key) % width


def _encoded_table(owner: Any, X: Any, key: Any, *, first: bool) -> Floats:
    """A data frame, an arrow table, a mapping of columns or a list of mappings."""
    columns = by_column(X)
    _note_names(owner, list(columns), in_order=hasattr(X, "columns"), first=first)
    at = place_of_key(owner, key, len(columns))
    names = owner.feature_names_in_.tolist()
    found = columns_of(columns, names)
    sizes = {len(column) for column in found}
    if len(sizes) != 1 or 0 in sizes:
        raise ValueError(f"The columns of X must have one length, and a row. Got lengths {sorted(sizes)}.")
    numbers = [numbers_of(column, name) for j, (name, column) in enumerate(zip(names, found, strict=True)) if j != at]
    features = _checked_numbers(owner, np.column_stack(numbers))
    return np.column_stack([features, key_codes(found[at], _SALT, names[at]).astype(np.float64)])


def _note_names(owner: Any, names: list[str], *, in_order: bool, first: bool) -> None:
    if first:
        owner.feature_names_in_, owner.n_features_in_ = np.array(names, dtype=object), len(names)
        return
    known = getattr(owner, "feature_names_in_", None)
    same = known is not None and (known.tolist() == names if in_order else set(known.tolist()) == set(names))
    if not same:
        expected = "no names" if known is None else ", ".join(map(str, known))
        raise ValueError(f"The columns of X must be those of the first rows, {expected}. Got {', '.join(names)}.")


def _encoded_words(owner: Any, X: npt.NDArray[Any], key: Any, *, first: bool) -> Floats:
    """An array in which the key may be a word."""
    if X.ndim != 2:
        return validation.checked_features(owner, X, first=first)
    if first:
        vars(owner).pop("feature_names_in_", None)
        owner.n_features_in_ = X.shape[1]
    if X.shape[1] != owner.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(owner).__name__} is expecting {owner.n_features_in_} features "
            "as input."
        )
    at = place_of_key(owner, key, X.shape[1])
    features = _checked_numbers(owner, np.delete(X, at, axis=1))
    return np.column_stack([features, key_codes(X[:, at].tolist(), _SALT, at).astype(np.float64)])


def _checked_numbers(owner: Any, X: Any) -> Floats:
    X = check_array(X, dtype=np.float64, estimator=owner, input_name="X")
    if np.abs(X).max() > LARGEST_FEATURE:
        raise ValueError(
            f"The features X of {type(owner).__name__} must be below {LARGEST_FEATURE:g} in size. Got {np.abs(X).max():g}."
        )
    return np.asarray(X)


def one_code(cell: Any, name: Any) -> float:
    """The code of one key."""
    return float(one_key_code(cell, _SALT, name))


def parted(rows: Rows) -> tuple[Rows, Integers]:
    """Features and codes of encoded rows."""
    if not rows.starts.size:
        codes = rows.dense[:, -1].astype(np.int64)
        return validation.as_rows(np.ascontiguousarray(rows.dense[:, :-1])), codes
    last = rows.starts[1:] - 1  # the code is the last entry of each row, and never 0
    is_feature = np.ones(rows.values.size, dtype=np.bool_)
    is_feature[last] = False
    features = rows._replace(
        starts=rows.starts - np.arange(rows.starts.size),
        features=rows.features[is_feature],
        values=rows.values[is_feature],
    )
    return features, rows.values[last].astype(np.int64)
