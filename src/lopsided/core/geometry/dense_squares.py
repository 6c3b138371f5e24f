"""Squared distances of a dense row to many points of a table, in the precision in which the points are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from lopsided.core.arithmetic.compiled import Floats, compiled, compiled_as_written

_LARGEST_SINGLE = 1e18  # the square of a difference of two of them is still a number


@compiled_as_written
def _four_more(
    total: float, z0: float, z1: float, z2: float, z3: float, x0: float, x1: float, x2: float, x3: float
) -> float:
    """Four features more, in one order wherever this is built in."""
    e0, e1, e2, e3 = z0 - x0, z1 - x1, z2 - x2, z3 - x3
    return total + ((e0 * e0 + e1 * e1) + (e2 * e2 + e3 * e3))


@compiled_as_written
def _one_more(total: float, z: float, x: float) -> float:
    return total + (z - x) * (z - x)


@compiled
def dense_squares(values: Floats, x: Floats, start: int, stop: int, squares: Floats) -> None:
    """By differences, which keep their digits where ||x||^2 - 2 x.z + ||z||^2 would cancel; four features a pass."""
    for i in range(squares.size):
        squares[i] = 0.0
    whole = x.size - x.size % 4
    for j in range(0, whole, 4):
        x0, x1, x2, x3 = x[j], x[j + 1], x[j + 2], x[j + 3]
        z0, z1 = values[j, start:stop], values[j + 1, start:stop]
        z2, z3 = values[j + 2, start:stop], values[j + 3, start:stop]
        for i in range(squares.size):
            squares[i] = _four_more(squares[i], z0[i], z1[i], z2[i], z3[i], x0, x1, x2, x3)
    for j in range(whole, x.size):
        z0 = values[j, start:stop]
        for i in range(squares.size):
            squares[i] = _one_more(squares[i], z0[i], x[j])


@compiled
def as_single(x: float) -> Any:
    """A float32 that is near, and never infinite."""
    return np.float32(min(max(x, -_LARGEST_SINGLE), _LARGEST_SINGLE))


@compiled
def single_squares(values: Any, x: Floats, start: int, stop: int, squares: Floats, scratch: Floats) -> None:
    """The same in float32, sixteen points an instruction instead of eight; `scratch` is as long as `squares`."""
    sums = scratch.view(np.float32)[: squares.size]
    for i in range(sums.size):
        sums[i] = np.float32(0.0)
    whole = x.size - x.size % 4
    for j in range(0, whole, 4):
        x0, x1, x2, x3 = as_single(x[j]), as_single(x[j + 1]), as_single(x[j + 2]), as_single(x[j + 3])
        z0, z1 = values[j, start:stop], values[j + 1, start:stop]
        z2, z3 = values[j + 2, start:stop], values[j + 3, start:stop]
        for i in range(sums.size):
            e0, e1, e2, e3 = z0[i] - x0, z1[i] - x1, z2[i] - x2, z3[i] - x3
            sums[i] += (e0 * e0 + e1 * e1) + (e2 * e2 + e3 * e3)
    for j in range(whole, x.size):
        z0, x0 = values[j, start:stop], as_single(x[j])
        for i in range(sums.size):
            e0 = z0[i] - x0
            sums[i] += e0 * e0
    for i in range(sums.size):
        squares[i] = sums[i]


def squares_in_its_precision(values: Any, x: Floats, start: int, stop: int, squares: Floats, scratch: Floats) -> None:
    """One of the two: which is known when the loop around it is compiled, and only that one is."""
    raise NotImplementedError("Only compiled code calls this.")


def _for_its_precision(values: Any, x: Any, start: Any, stop: Any, squares: Any, scratch: Any) -> Callable[..., None]:
    if values.dtype == types.float32:

        def in_single(values: Any, x: Any, start: Any, stop: Any, squares: Any, scratch: Any) -> None:
            single_squares(values, x, start, stop, squares, scratch)

        return in_single

    def in_double(values: Any, x: Any, start: Any, stop: Any, squares: Any, scratch: Any) -> None:
        dense_squares(values, x, start, stop, squares)

    return in_double


overload(squares_in_its_precision, inline="always")(_for_its_precision)


def in_its_precision(values: Any, number: float) -> Any:
    """A number as the table keeps it."""
    raise NotImplementedError("Only compiled code calls this.")


def _number_in_its_precision(values: Any, number: Any) -> Callable[..., Any]:
    if values.dtype == types.float32:

        def in_single(values: Any, number: Any) -> Any:
            return as_single(number)

        return in_single

    def in_double(values: Any, number: Any) -> Any:
        return number

    return in_double


overload(in_its_precision, inline="always")(_number_in_its_precision)
