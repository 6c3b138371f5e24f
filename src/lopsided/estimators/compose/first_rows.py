"""Tables that nobody has described: what their first rows show, and arrays, whose columns have no names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from lopsided.encoding import Schema, infer_schema
from lopsided.encoding.forms import by_column
from lopsided.encoding.inference import CATEGORY_WIDTH
from lopsided.encoding.schema import CATEGORY, NUMBER
from lopsided.streams.cells import is_missing
from lopsided.streams.tables import HEAD_ROWS

_FEW_ROWS = 50  # fewer than these do not show how many categories there are, or what a column without a value is


def is_array(X: Any) -> bool:
    """Whether these are rows without names: an array, a sparse matrix, or a list of rows."""
    if sp.issparse(X):  # of which one kind is a mapping
        return True
    if isinstance(X, Mapping) or hasattr(X, "columns") or hasattr(X, "to_pydict"):
        return False
    if isinstance(X, list | tuple):
        return not (X and all(isinstance(row, Mapping) for row in X))
    return hasattr(X, "__array__") or hasattr(X, "shape")


def checked_array(estimator: Any, X: Any) -> npt.NDArray[Any]:
    """Rows as scikit-learn takes them: two dimensions, at least one row and one column, real, not sparse."""
    rows: npt.NDArray[Any] = check_array(X, dtype=None, ensure_all_finite=False, estimator=estimator, input_name="X")
    return rows


def named_columns(rows: npt.NDArray[Any]) -> dict[str, Any]:
    """The columns of an array under the names x0, x1, ..."""
    return {f"x{place}": _plain(rows[:, place]) for place in range(rows.shape[1])}


def _plain(column: npt.NDArray[Any]) -> Any:
    """Numbers in an array without gaps, which arrow takes as it is; anything else as Python has it."""
    return np.ascontiguousarray(column) if column.dtype.kind in "biuf" else column.tolist()


def first_schema(table: Any, **columns: Any) -> Schema:
    """What the first rows of a table show: as `infer_schema` has it, with room for more where the rows are few.

    A single row cannot tell how many categories there are, so they get the room that many would; nor what a column
    is that has no value in it, so that it is read as a category, which any value can be. The columns of an array of
    numbers are numbers, whatever is missing. `columns` are those of `infer_schema`: the time, what is ignored.
    """
    if isinstance(table, np.ndarray):
        head = {name: column[:HEAD_ROWS] for name, column in named_columns(table).items()}
        is_of_numbers = table.dtype.kind in "biuf"
        numbers = [name for name in head if name not in columns.get("ignore", ())]
        return infer_schema(head, kinds=dict.fromkeys(numbers, NUMBER) if is_of_numbers else None, **columns)
    head = by_column(_head_of(table))
    cells = {name: _as_list(values) for name, values in head.items()}
    if not cells or len(next(iter(cells.values()))) >= _FEW_ROWS:
        return infer_schema(head, **columns)
    unknown = {name: CATEGORY for name, values in cells.items() if all(map(is_missing, values))}
    schema = infer_schema(head, kinds=unknown, **columns)
    roomy = (replace(one, width=CATEGORY_WIDTH) if one.kind == CATEGORY else one for one in schema.columns)
    return replace(schema, columns=tuple(roomy))


def _head_of(table: Any) -> Any:
    """The first rows of a table, which may be long."""
    if isinstance(table, Mapping):
        return {name: values[:HEAD_ROWS] for name, values in table.items()}
    return table.iloc[:HEAD_ROWS] if hasattr(table, "iloc") else table[:HEAD_ROWS]


def _as_list(values: Any) -> Sequence[Any]:
    cells: Sequence[Any] = values.to_pylist() if hasattr(values, "to_pylist") else values
    return cells
