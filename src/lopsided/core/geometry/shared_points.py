"""Points shared by the experts of a pool: each example is stored once, however many experts hold it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.geometry.kernels import Kernel, stacked_kernels
from lopsided.core.geometry.points import Points, Rows, set_clock, squared_norm, store

NO_COLUMN = -1


class SharedPoints(NamedTuple):
    """The kernels, an atom range each, and what their experts hold.

    `atoms[bounds[l]:bounds[l + 1]]` is kernel l. `columns[l, slot]` is the column of the points; `holders` counts the
    experts that hold a column; `free` is a stack of unused columns, `free_count[0]` its height, `free_count[1]` the
    number of columns ever used, so that the rest need not be measured.
    """

    atoms: Floats
    bounds: Integers
    normalized: Integers
    columns: Integers
    holders: Integers
    free: Integers
    free_count: Integers


def empty_shared_points(kernels: list[Kernel], slots: int, capacity: int) -> SharedPoints:
    """A pool whose experts have so many slots each, and so many columns together."""
    return SharedPoints(
        *stacked_kernels(kernels),
        np.full((len(kernels), slots), NO_COLUMN, dtype=np.int64),
        np.zeros(capacity, dtype=np.int64),
        np.arange(capacity - 1, -1, -1, dtype=np.int64),
        np.array([capacity, 0], dtype=np.int64),
    )


@compiled
def hold(
    shared: SharedPoints, points: Points, index: int, slot: int, column: int, rows: Rows, t: int, norm: float
) -> int:
    """Let an expert's slot hold example t, stored now unless another expert did so in this step; returns its column."""
    left = shared.columns[index, slot]
    if left != NO_COLUMN:
        shared.holders[left] -= 1
        if shared.holders[left] == 0:
            shared.free[shared.free_count[0]] = left
            shared.free_count[0] += 1
    if column == NO_COLUMN:
        shared.free_count[0] -= 1
        column = shared.free[shared.free_count[0]]
        shared.free_count[1] = max(shared.free_count[1], column + 1)
        store(points, column, rows, t, norm)
    shared.columns[index, slot] = column
    shared.holders[column] += 1
    return column


@compiled
def fill_columns(points: Points, rows: Rows, numbers: Integers) -> None:
    """Store rows of these numbers in the first columns."""
    for t in range(numbers.size):
        set_clock(points, numbers[t])
        store(points, t, rows, t, squared_norm(rows, t))
