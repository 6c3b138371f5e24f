"""Support points between memory, files and more room."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from lopsided.core.geometry.points import Points, Rows, empty_points
from lopsided.estimators.state.arrays import in_range, taken


def points_arrays(points: Points) -> dict[str, npt.NDArray[Any]]:
    """What a file keeps of them: everything but the scratch, and the count of rows, which the learner tells."""
    arrays = {f"points.{name}": array for name, array in points._asdict().items() if name not in ("lookup", "marks")}
    return arrays | {"points.n_features": _n_features(points), "points.numbers": numbers_of(points)}


def numbers_of(points: Points) -> npt.NDArray[np.int64]:
    """Which row each column is, counted from 1 over the rows learned; 0 where nobody knows (a view)."""
    return points.marks[points.squared_norms.size : -1]


def _n_features(points: Points) -> npt.NDArray[np.int64]:
    return points.marks[: points.squared_norms.size]


def restored_points(
    arrays: Mapping[str, npt.NDArray[Any]],
    n_features: int,
    capacity: int,
    n_seen: int,
    by_non_zeros: bool = False,
    dtype: Any = np.float64,
) -> Points:
    """The support points of a file whose learner has seen so many rows; older ones do not say which rows they are."""
    points = empty_points(n_features, capacity, by_non_zeros=by_non_zeros, dtype=dtype)
    features = taken(arrays, "points.features", np.int32, (capacity, None))
    width = features.shape[1] if points.lookup.size else 0
    points = points._replace(
        values=taken(arrays, "points.values", dtype, points.values.shape),
        squared_norms=taken(arrays, "points.squared_norms", np.float64, (capacity,)),
        features=features,
        entries=taken(arrays, "points.entries", np.float64, (capacity, width)),
    )
    _n_features(points)[:] = taken(arrays, "points.n_features", np.int64, (capacity,))
    if "points.numbers" in arrays:
        numbers_of(points)[:] = taken(arrays, "points.numbers", np.int64, (capacity,))
    points.marks[-1] = n_seen
    in_range("points.features", features, 0, max(n_features - 1, 0))
    in_range("points.n_features", _n_features(points), 0 if points.lookup.size else -1, features.shape[1])
    in_range("points.numbers", numbers_of(points), 0, n_seen)
    return points


def wide_enough(points: Points, rows: Rows) -> Points:
    """The same points, able to take these rows."""
    widest = _most_non_zeros(rows, points.lookup.size > 0)
    capacity, width = points.features.shape
    if widest <= width:
        return points
    return moved_points(points, np.arange(capacity), np.arange(capacity), capacity, max(widest, 2 * width))


def _most_non_zeros(rows: Rows, of_dense_rows: bool) -> int:
    if rows.starts.size:
        return int(np.diff(rows.starts).max(initial=0))
    return int(np.count_nonzero(rows.dense, axis=1).max(initial=0)) if of_dense_rows else 0


def more_columns(points: Points, capacity: int) -> Points:
    """The same points with free columns behind them."""
    columns = np.arange(points.squared_norms.size)
    return moved_points(points, columns, columns, capacity)


def moved_points(
    points: Points,
    columns: npt.NDArray[np.int64],
    target: npt.NDArray[np.int64],
    capacity: int,
    width: int | None = None,
) -> Points:
    """Some columns at other places, in room for so many."""
    before = points.features.shape[1]
    by_non_zeros = points.lookup.size > 0
    n_features = points.lookup.size if by_non_zeros else points.values.shape[0]
    width = before if width is None else width
    moved = empty_points(n_features, capacity, width, by_non_zeros, points.values.dtype)
    moved.values[:, target] = points.values[:, columns]
    moved.squared_norms[target] = points.squared_norms[columns]
    moved.features[target, :before] = points.features[columns]
    moved.entries[target, : points.entries.shape[1]] = points.entries[columns]
    _n_features(moved)[target] = _n_features(points)[columns]
    numbers_of(moved)[target] = numbers_of(points)[columns]
    moved.marks[-1] = points.marks[-1]
    return moved


def vectors_at(points: Points, columns: npt.NDArray[np.int64]) -> Any:
    """The points of these columns, a row each (a copy): an array, or CSR where they are kept by non-zeros."""
    if not points.lookup.size:
        return np.ascontiguousarray(points.values[:, columns].T, dtype=np.float64)
    counts = _n_features(points)[columns]
    held = np.arange(points.features.shape[1]) < counts[:, None]
    starts = np.concatenate([[0], np.cumsum(counts)])
    parts = (points.entries[columns][held], points.features[columns][held], starts)
    return sp.csr_array(parts, shape=(columns.size, points.lookup.size))
