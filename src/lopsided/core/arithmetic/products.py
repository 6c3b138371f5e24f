"""Products of matrices of a few hundred rows: in tiles that stay in registers, and the half of a symmetric one alone.

Linear algebra libraries are made for larger ones, and take longer.
"""

from __future__ import annotations

from lopsided.core.arithmetic.compiled import Floats, compiled
from lopsided.core.arithmetic.product_tiles import MORE_ROWS, POINTS, products_of_large_tile

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
            _multiply_row(left[i], right, product[i])
        return
    for begin in range(0, n_columns, POINTS):
        first, last = min(begin, n_columns - POINTS), min(begin + POINTS, n_columns)  # some may be made twice
        start = begin - begin % MORE_ROWS if part == LOWER else 0
        stop = min(last, n_rows) if part == UPPER else n_rows
        for t in range(start, stop, MORE_ROWS):
            row = min(t, n_rows - MORE_ROWS)
            products_of_large_tile(right, first, left, row, product[row : row + MORE_ROWS])


@compiled
def _multiply_row(row: Floats, right: Floats, product: Floats) -> None:
    for j in range(product.size):
        product[j] = 0.0
    for k in range(row.size):
        factor, others = row[k], right[k]
        for j in range(product.size):
            product[j] += factor * others[j]


@compiled
def transpose(matrix: Floats, transposed: Floats) -> None:
    """In blocks that stay in the cache."""
    n_rows, n_columns = matrix.shape
    for first in range(0, n_rows, _BLOCK):
        for begin in range(0, n_columns, _BLOCK):
            for i in range(first, min(first + _BLOCK, n_rows)):
                for j in range(begin, min(begin + _BLOCK, n_columns)):
                    transposed[j, i] = matrix[i, j]
