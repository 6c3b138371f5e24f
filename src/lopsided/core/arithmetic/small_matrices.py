"""Symmetric matrices: inverses of small ones inside of compiled loops, where LAPACK would cost a call; mirroring."""

from __future__ import annotations

from lopsided.core.arithmetic.compiled import Floats, compiled

_BLOCK = 16


@compiled
def invert(matrix: Floats, inverse: Floats) -> bool:
    """The inverse by Gauss and Jordan; `matrix` is only read. False if it is not positive definite.

    The pivots are the squares of those of a Cholesky factor. That would take a third of the multiplications, but along
    rows and columns of a few numbers, while here every row is changed as a whole.
    """
    n = matrix.shape[0]
    for i in range(n):
        row, given = inverse[i], matrix[i]
        for j in range(n):
            row[j] = given[j]
    for k in range(n):
        pivot_row, pivot = inverse[k], inverse[k, k]
        if not pivot > 0.0:
            return False
        pivot_row[k] = 1.0
        for j in range(n):
            pivot_row[j] /= pivot
        for i in range(n):
            if i != k:
                row, factor = inverse[i], inverse[i, k]
                row[k] = 0.0
                for j in range(n):
                    row[j] -= factor * pivot_row[j]
    for i in range(n):
        for j in range(i):
            inverse[j, i] = inverse[i, j]
    return True


@compiled
def invert_or_push(matrix: Floats, copy: Floats, inverse: Floats) -> bool:
    """The inverse; if the matrix is not positive definite to rounding, after one small push on its diagonal."""
    n, trace = matrix.shape[0], 0.0
    if invert(matrix, inverse):
        return True
    for i in range(n):
        trace += matrix[i, i]
    for i in range(n):
        for j in range(n):
            copy[i, j] = matrix[i, j] + (1e-10 * trace / n if i == j else 0.0)
    return invert(copy, inverse)


@compiled
def mirror_lower(matrix: Floats) -> None:
    """Copy what is below the diagonal above it, in blocks that stay in the cache."""
    n = matrix.shape[0]
    for first in range(0, n, _BLOCK):
        last = min(first + _BLOCK, n)
        for above in range(0, last, _BLOCK):
            for i in range(max(first, above), last):
                for j in range(above, min(above + _BLOCK, i)):
                    matrix[j, i] = matrix[i, j]
