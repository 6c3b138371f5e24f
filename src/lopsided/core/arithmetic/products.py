"""Products of matrices of a few hundred rows: in tiles that stay in registers, and the half of a symmetric one alone.

Linear algebra libraries are made for larger ones, and take longer.
"""

from __future__ import annotations

from lopsided.core.arithmetic.compiled import Floats, compiled, compiled_as_written
from lopsided.core.arithmetic.product_tiles import (
    MORE_ROWS,
    POINTS,
    ROWS,
    products_of_large_tile,
    products_of_tile,
)

WHOLE, UPPER, LOWER = range(3)
_BLOCK = 8


@compiled
def multiply(left: Floats, right: Floats, part: int, product: Floats) -> None:
    """product = left right, or only what is on and above (`UPPER`) or below (`LOWER`) its diagonal.

    Of the other half a little is made too, the rest is left as it is.
    """
    n_rows, n_columns = product.shape
    if n_rows < MORE_ROWS or n_columns < POINTS:
        for i in range(n_rows):
            dense_dots(right, left[i], 0, n_columns, product[i])
        return
    for begin in range(0, n_columns, POINTS):
        first, last = min(begin, n_columns - POINTS), min(begin + POINTS, n_columns)  # some may be made twice
        start = begin - begin % MORE_ROWS if part == LOWER else 0
        stop = min(last, n_rows) if part == UPPER else n_rows
        for t in range(start, stop, MORE_ROWS):
            row = min(t, n_rows - MORE_ROWS)
            products_of_large_tile(right, first, left, row, product[row : row + MORE_ROWS])


@compiled
def transpose(matrix: Floats, transposed: Floats) -> None:
    """In blocks that stay in the cache."""
    n_rows, n_columns = matrix.shape
    for first in range(0, n_rows, _BLOCK):
        for begin in range(0, n_columns, _BLOCK):
            for i in range(first, min(first + _BLOCK, n_rows)):
                for j in range(begin, min(begin + _BLOCK, n_columns)):
                    transposed[j, i] = matrix[i, j]


@compiled_as_written
def _four_more(
    total: float, z0: float, z1: float, z2: float, z3: float, x0: float, x1: float, x2: float, x3: float
) -> float:
    """Four features more, each by one multiply-add and in one order wherever this is built in."""
    return (((total + z0 * x0) + z1 * x1) + z2 * x2) + z3 * x3


@compiled_as_written
def _one_more(total: float, z: float, x: float) -> float:
    return total + z * x


@compiled
def dense_dots(values: Floats, x: Floats, start: int, stop: int, dots: Floats) -> None:
    """Scalar products of x with the points start..stop-1."""
    for i in range(dots.size):
        dots[i] = 0.0
    whole = x.size - x.size % 4
    for j in range(0, whole, 4):
        x0, x1, x2, x3 = x[j], x[j + 1], x[j + 2], x[j + 3]
        z0, z1 = values[j, start:stop], values[j + 1, start:stop]
        z2, z3 = values[j + 2, start:stop], values[j + 3, start:stop]
        for i in range(dots.size):
            dots[i] = _four_more(dots[i], z0[i], z1[i], z2[i], z3[i], x0, x1, x2, x3)
    for j in range(whole, x.size):
        z0 = values[j, start:stop]
        for i in range(dots.size):
            dots[i] = _one_more(dots[i], z0[i], x[j])


@compiled
def dense_dots_of_four(values: Floats, X: Floats, t: int, start: int, stop: int, dots: Floats) -> None:
    """The same for the rows t..t+3 of X: points are read once for all of them. `dots` has a row for each."""
    if stop - start < POINTS:
        for place in range(ROWS):
            dense_dots(values, X[t + place], start, stop, dots[place, start:stop])
        return
    for first in range(start, stop - POINTS, POINTS):
        products_of_tile(values, first, X, t, dots)
    products_of_tile(values, stop - POINTS, X, t, dots)  # some are measured twice
