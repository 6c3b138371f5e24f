"""Inverses of small symmetric positive definite matrices inside of compiled loops, where LAPACK would cost a call."""

from __future__ import annotations

import math

from lopsided.core.arithmetic.compiled import Floats, compiled


@compiled
def invert(matrix: Floats, inverse: Floats) -> bool:
    """The inverse by Cholesky; `matrix` is overwritten. False if it is not positive definite."""
    n = matrix.shape[0]
    for j in range(n):
        row = matrix[j]
        total = row[j]
        for k in range(j):
            total -= row[k] * row[k]
        if not total > 0.0:
            return False
        pivot = math.sqrt(total)
        row[j] = pivot
        for i in range(j + 1, n):
            other, total = matrix[i], matrix[i, j]
            for k in range(j):
                total -= other[k] * row[k]
            other[j] = total / pivot
    _invert_factor(matrix)
    # L^-1 stands in the lower triangle: the inverse is its transpose times itself.
    for i in range(n):
        for j in range(i + 1):
            total = 0.0
            for k in range(i, n):
                total += matrix[k, i] * matrix[k, j]
            inverse[i, j] = inverse[j, i] = total
    return True


@compiled
def _invert_factor(factor: Floats) -> None:
    n = factor.shape[0]
    for j in range(n):
        factor[j, j] = 1.0 / factor[j, j]
        for i in range(j + 1, n):
            total = 0.0
            for k in range(j, i):
                total -= factor[i, k] * factor[k, j]
            factor[i, j] = total / factor[i, i]


@compiled
def invert_or_push(matrix: Floats, copy: Floats, inverse: Floats) -> bool:
    """The inverse; if the matrix is not positive definite to rounding, after one small push on its diagonal."""
    n, trace = matrix.shape[0], 0.0
    for i in range(n):
        trace += matrix[i, i]
        for j in range(n):
            copy[i, j] = matrix[i, j]
    if invert(copy, inverse):
        return True
    for i in range(n):
        for j in range(n):
            copy[i, j] = matrix[i, j] + (1e-10 * trace / n if i == j else 0.0)
    return invert(copy, inverse)
