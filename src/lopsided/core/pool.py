"""Points shared by the experts of a pool: each example is stored once, however many experts hold it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lopsided.core.compiled import Floats, Integers, compiled
from lopsided.core.kernels import Kernel
from lopsided.core.points import Points, Rows, store

NO_COLUMN = -1


class Pool(NamedTuple):
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


def empty_pool(kernels: list[Kernel], slots: int, capacity: int) -> Pool:
    """A pool whose experts have so many slots each, and so many columns together."""
    return Pool(
        np.concatenate([kernel.atoms for kernel in kernels]),
        np.cumsum([0] + [kernel.atoms.shape[0] for kernel in kernels]).astype(np.int64),
        np.array([kernel.normalized for kernel in kernels], dtype=np.int64),
        np.full((len(kernels), slots), NO_COLUMN, dtype=np.int64),
        np.zeros(capacity, dtype=np.int64),
        np.arange(capacity - 1, -1, -1, dtype=np.int64),
        np.array([capacity, 0], dtype=np.int64),
    )


@compiled
def kernel_of(pool: Pool, index: int) -> Kernel:
    """One expert's kernel."""
    return Kernel(pool.atoms[pool.bounds[index] : pool.bounds[index + 1]], pool.normalized[index] != 0)


@compiled
def hold(pool: Pool, points: Points, index: int, slot: int, column: int, rows: Rows, t: int, norm: float) -> int:
    """Let an expert's slot hold example t, stored now unless another expert did so in this step; returns its column."""
    left = pool.columns[index, slot]
    if left != NO_COLUMN:
        pool.holders[left] -= 1
        if pool.holders[left] == 0:
            pool.free[pool.free_count[0]] = left
            pool.free_count[0] += 1
    if column == NO_COLUMN:
        pool.free_count[0] -= 1
        column = pool.free[pool.free_count[0]]
        pool.free_count[1] = max(pool.free_count[1], column + 1)
        store(points, column, rows, t, norm)
    pool.columns[index, slot] = column
    pool.holders[column] += 1
    return column
