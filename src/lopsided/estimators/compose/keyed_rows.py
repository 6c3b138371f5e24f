"""Rows with a key in one column, as numbers: a key that is a number as it is, any other one as a code.

A code stands there as a multiple of `CODE_UNIT`, beyond all numbers that a row may hold: so both can be told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from lopsided.constraints import LARGEST_FEATURE
from lopsided.core.arithmetic.compiled import Floats, Integers, bound
from lopsided.core.geometry.points import Rows
from lopsided.encoding import EncodedRows
from lopsided.encoding.forms import by_column
from lopsided.encoding.hashing import CODE_UNIT, part_from_key
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
    """The rows as numbers: an array, or CSR; `first` records width and names."""
    if isinstance(X, EncodedRows) and not first and X.shape[1:] == (owner.n_features_in_,):
        return X.view(np.ndarray)
    if is_table(X):
        return _encoded_table(owner, X, key, first=first)
    if not sp.issparse(X) and np.asarray(X).dtype.kind in "OUS":
        return _encoded_words(owner, np.asarray(X), key, first=first)
    X = validation.checked_features(owner, X, first=first)
    place_of_key(owner, key, X.shape[1])
    return X


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
    return np.insert(features, at, codes_in_rows(found[at], names[at]), axis=1)


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
    return np.insert(features, at, codes_in_rows(X[:, at].tolist(), at), axis=1)


def _checked_numbers(owner: Any, X: Any) -> Floats:
    X = check_array(X, dtype=np.float64, estimator=owner, input_name="X")
    if np.abs(X).max() > LARGEST_FEATURE:
        raise ValueError(
            f"The features X of {type(owner).__name__} must be below {LARGEST_FEATURE:g} in size. "
            f"Got {np.abs(X).max():g}."
        )
    return np.asarray(X)


def codes_in_rows(column: Any, name: Any) -> Floats:
    """What stands in rows for a column of keys."""
    codes: Floats = CODE_UNIT * key_codes(column, _SALT, name).astype(np.float64)
    return codes


def one_code(cell: Any, name: Any) -> float:
    """What stands in a row for one key."""
    return CODE_UNIT * float(one_key_code(cell, _SALT, name))


def parted(rows: Rows, key: int) -> tuple[Rows, Integers]:
    """Features, and the codes of the keys in column `key`."""
    if rows.starts.size:
        return _parted_sparse(rows, key)
    features = np.empty((rows.dense.shape[0], rows.dense.shape[1] - 1))
    codes = np.empty(len(features), dtype=np.int64)
    if not part_from_key(rows.dense, key, _SALT, features, codes):
        return validation.as_rows(np.delete(rows.dense, key, axis=1)), _codes_of(rows.dense[:, key])
    return rows._replace(dense=features), codes


def bound_part(row: Floats, key: int, features: Floats, codes: Integers) -> Callable[[], bool]:
    """A call that parts this one row; False where the key is no whole number, and nothing is done."""
    return bound(part_from_key, row, key, _SALT, features, codes)


def _parted_sparse(rows: Rows, key: int) -> tuple[Rows, Integers]:
    is_key = rows.features == key
    row_of = np.repeat(np.arange(rows.starts.size - 1), np.diff(rows.starts))
    keys = np.zeros(rows.starts.size - 1)
    keys[row_of[is_key]] = rows.values[is_key]
    before = np.concatenate([[0], np.cumsum(is_key)])
    features = rows.features[~is_key]
    features = features - (features > key).astype(features.dtype)
    starts = rows.starts - before[rows.starts]
    return rows._replace(starts=starts, features=features, values=rows.values[~is_key]), _codes_of(keys)


def _codes_of(keys: Floats) -> Integers:
    coded = keys >= CODE_UNIT
    codes = np.empty(keys.size, dtype=np.int64)
    codes[coded] = keys[coded] / CODE_UNIT
    codes[~coded] = key_codes(keys[~coded], _SALT)
    return codes
