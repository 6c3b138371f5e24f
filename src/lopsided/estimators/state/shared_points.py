"""Points that several kernels share, between memory, files and more room; `support.py` does it for one kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.core.geometry.shared_points import NO_COLUMN, SharedPoints
from lopsided.estimators.state.arrays import ModelFileError, in_range, taken


def roomier_shared_points(shared: SharedPoints, slots: int, capacity: int) -> SharedPoints:
    """The pool for more slots a kernel behind the old ones, and more columns; old columns keep their numbers."""
    m, before_slots = shared.columns.shape
    before = shared.holders.size
    columns = np.full((m, slots), NO_COLUMN, dtype=np.int64)
    columns[:, :before_slots] = shared.columns
    unused = np.concatenate([np.arange(capacity - 1, before - 1, -1), shared.free[: shared.free_count[0]]])
    free, holders = np.zeros((2, capacity), dtype=np.int64)
    free[: unused.size] = unused
    holders[:before] = shared.holders
    free_count = np.array([unused.size, shared.free_count[1]], dtype=np.int64)
    return shared._replace(columns=columns, holders=holders, free=free, free_count=free_count)


def restored_shared_points(
    arrays: Mapping[str, npt.NDArray[Any]], shared: SharedPoints, in_use: list[npt.NDArray[np.int64]], capacity: int
) -> SharedPoints:
    """The pool of a file: kernels as `pool` has them (from the parameters), the rest from the arrays.

    `in_use` are the slots that each expert says it uses.
    """
    m, slots = len(in_use), taken(arrays, "pool.columns", np.int64, (len(in_use), None)).shape[1]
    restored = shared._replace(
        columns=taken(arrays, "pool.columns", np.int64, (m, slots)),
        holders=taken(arrays, "pool.holders", np.int64, (capacity,)),
        free=taken(arrays, "pool.free", np.int64, (capacity,)),
        free_count=taken(arrays, "pool.free_count", np.int64, (2,)),
    )
    in_range("pool.columns", restored.columns, NO_COLUMN, capacity - 1)
    in_range("pool.free", restored.free, 0, capacity - 1)
    in_range("pool.free_count", restored.free_count, 0, capacity)
    held = np.zeros(capacity, dtype=np.int64)
    for index, used in enumerate(in_use):
        in_range("pool.columns", used, 0, slots - 1)
        in_range("pool.columns", restored.columns[index, used], 0, capacity - 1)
        held += np.bincount(restored.columns[index, used], minlength=capacity)
    free = np.sort(restored.free[: restored.free_count[0]])
    if not np.array_equal(held, restored.holders) or not np.array_equal(free, np.flatnonzero(held == 0)):
        raise ModelFileError(
            "The arrays 'pool.*' of the model file must agree on who holds which point. Got a contradiction: the "
            "file is damaged."
        )
    return restored
