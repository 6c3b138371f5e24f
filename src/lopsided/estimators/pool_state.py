"""The experts of a pool between memory, files and more room: as `support_state` does it for a single support set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.core.multikernel import NO_COLUMN, Pool
from lopsided.core.points import Points, empty_points
from lopsided.core.support import START, USED, Support
from lopsided.estimators.support_state import ModelFileError, grown_support, in_range, taken


def experts_of(stack: Support) -> list[Support]:
    """The support set of each expert, as views."""
    return [Support(*(array[index] for array in stack)) for index in range(stack.weights.shape[0])]


def stacked(experts: list[Support]) -> Support:
    """Support sets of the same rooms in arrays with one leading axis."""
    return Support(*(np.stack(arrays) for arrays in zip(*experts, strict=True)))


def grown_stack(stack: Support, rooms: tuple[int, int], owner: str) -> Support:
    """The same experts with larger rooms."""
    experts = experts_of(stack)
    return stacked([grown_support(one, rooms, owner, experts=len(experts)) for one in experts])


def grown_pool(pool: Pool, stack: Support, rooms: tuple[int, int]) -> Pool:
    """The pool for larger rooms (`stack` as it was before): old columns keep their numbers, new ones are free."""
    m, slots = pool.columns.shape
    before, capacity = m * slots, m * sum(rooms)
    columns = np.full((m, sum(rooms)), NO_COLUMN, dtype=np.int64)
    for index, one in enumerate(experts_of(stack)):
        for room, start in enumerate((0, rooms[0])):
            first, n = one.tally[START, room], one.tally[USED, room]
            columns[index, start : start + n] = pool.columns[index, first : first + n]
    unused = np.concatenate([np.arange(capacity - 1, before - 1, -1), pool.free[: pool.free_count[0]]])
    free = np.zeros(capacity, dtype=np.int64)
    free[: unused.size] = unused
    holders = np.zeros(capacity, dtype=np.int64)
    holders[:before] = pool.holders
    free_count = np.array([unused.size, pool.free_count[1]], dtype=np.int64)
    return pool._replace(columns=columns, holders=holders, free=free, free_count=free_count)


def more_columns(points: Points, capacity: int) -> Points:
    """The same points with free columns behind them."""
    n_features, before = points.values.shape
    larger = empty_points(n_features, capacity, points.features.shape[1])
    larger.values[:, :before] = points.values
    larger.squared_norms[:before] = points.squared_norms
    larger.features[:before] = points.features
    larger.n_features[:before] = points.n_features
    return larger


def restored_pool(arrays: Mapping[str, npt.NDArray[Any]], pool: Pool, stack: Support) -> Pool:
    """The pool of a file: kernels as `pool` has them (from the parameters), the rest from the arrays."""
    m, slots = stack.weights.shape
    capacity = m * slots
    restored = pool._replace(
        columns=taken(arrays, "pool.columns", np.int64, (m, slots)),
        holders=taken(arrays, "pool.holders", np.int64, (capacity,)),
        free=taken(arrays, "pool.free", np.int64, (capacity,)),
        free_count=taken(arrays, "pool.free_count", np.int64, (2,)),
        log_weights=taken(arrays, "pool.log_weights", np.float64, (m,)),
    )
    in_range("pool.columns", restored.columns, NO_COLUMN, capacity - 1)
    in_range("pool.free", restored.free, 0, capacity - 1)
    in_range("pool.free_count", restored.free_count, 0, capacity)
    held = np.zeros(capacity, dtype=np.int64)
    for index, one in enumerate(experts_of(stack)):
        for room in range(2):
            first, n = one.tally[START, room], one.tally[USED, room]
            in_range("pool.columns", restored.columns[index, first : first + n], 0, capacity - 1)
            held += np.bincount(restored.columns[index, first : first + n], minlength=capacity)
    free = np.sort(restored.free[: restored.free_count[0]])
    if not np.array_equal(held, restored.holders) or not np.array_equal(free, np.flatnonzero(held == 0)):
        raise ModelFileError(
            "The arrays 'pool.*' of the model file must agree on who holds which point. Got a contradiction: the "
            "file is damaged."
        )
    return restored
