"""The directions U that a step's columns have, in which H = W'S_t W is tridiagonal, and the algebra of (I + vT)^-1.

Diagonal would be simpler, but the eigenvectors of H cost five times what it takes to make it tridiagonal, and a
tridiagonal system is solved in one pass down and one up.
"""

from __future__ import annotations

import math

from lopsided.core.arithmetic.compiled import Floats, ShortIntegers, compiled

_SMALLEST = 1e-300


@compiled
def fill_factor(factor: Floats, pivots: ShortIntegers, L: Floats) -> None:
    """L' (r x R) of H = LL', in the order of H, from a Cholesky factor with pivots, whose rows are counted from 1."""
    for j in range(L.shape[0]):
        row = L[j]
        for i in range(j):
            row[pivots[i] - 1] = 0.0
        for i in range(j, row.size):
            row[pivots[i] - 1] = factor[i, j]


@compiled
def orthonormal(along: Floats, beside: Floats, U: Floats, diagonal: Floats, left: Floats) -> None:
    """From L'L = Q T Q', T having `along` on its diagonal and `beside` next to it, and U holding (LQ)', to U' and T.

    With T = CC', C of two diagonals, the columns of U = LQ C'^-1 have length 1 and H = U (C'C) U'.
    """
    largest, corner = 0.0, 0.0
    for r in range(along.size):
        largest = max(largest, along[r])
    for r in range(along.size):
        row = U[r]
        beneath = beside[r - 1] / corner if r else 0.0
        # Where rounding made T indefinite there is next to nothing in this direction.
        corner = math.sqrt(max(along[r] - beneath * beneath, 1e-16 * largest, _SMALLEST))
        diagonal[r], left[r] = corner * corner, beneath * corner
        if r:
            before = U[r - 1]
            diagonal[r - 1] += beneath * beneath
            for c in range(row.size):
                row[c] = (row[c] - beneath * before[c]) / corner
        else:
            for c in range(row.size):
                row[c] /= corner


@compiled
def factor_shifted(diagonal: Floats, left: Floats, v: float, pivots: Floats, ratios: Floats) -> None:
    """I + vT = F diag(pivots) F', F having ones on its diagonal and `ratios` left of it."""
    pivot, ratio = 1.0, 0.0
    for r in range(diagonal.size):
        ratio = v * left[r] / pivot
        pivot = 1.0 + v * diagonal[r] - ratio * (v * left[r])
        pivots[r], ratios[r] = pivot, ratio


@compiled
def shifted_inverse(pivots: Floats, ratios: Floats, x: Floats, y: Floats) -> None:
    """y = (I + vT)^-1 x."""
    below = 0.0
    for r in range(x.size):
        below = x[r] - ratios[r] * below
        y[r] = below
    for r in range(x.size):
        y[r] /= pivots[r]
    last, above, ratio = x.size - 1, 0.0, 0.0
    for place in range(x.size):
        r = last - place
        above = y[r] - ratio * above
        y[r], ratio = above, ratios[r]


@compiled
def times_tridiagonal(diagonal: Floats, left: Floats, v: float, x: Floats, y: Floats) -> None:
    """y = v T x."""
    for r in range(x.size):
        y[r] = v * diagonal[r] * x[r]
    if x.size:
        beside, upper, lower = left[1:], y[:-1], y[1:]
        before, after = x[:-1], x[1:]
        for r in range(beside.size):
            lower[r] += v * beside[r] * before[r]
        for r in range(beside.size):
            upper[r] += v * beside[r] * after[r]


@compiled
def trace_of_shifted(diagonal: Floats, left: Floats, pivots: Floats, ratios: Floats) -> float:
    """The trace of T (I + vT)^-1, of whose inverse only the diagonal and what is next to it are needed."""
    total, inverse, ratio, beneath = 0.0, 0.0, 0.0, 0.0
    last = diagonal.size - 1
    for place in range(diagonal.size):
        r = last - place
        total -= 2.0 * beneath * ratio * inverse
        inverse = 1.0 / pivots[r] + ratio * ratio * inverse
        total += diagonal[r] * inverse
        ratio, beneath = ratios[r], left[r]
    return total


@compiled
def products_with_rows(rows: Floats, x: Floats, y: Floats) -> None:
    """y[r] = rows[r] . x, four rows in one pass over x."""
    together = rows.shape[0] - rows.shape[0] % 4
    for r in range(0, together, 4):
        one, two, three, four = rows[r], rows[r + 1], rows[r + 2], rows[r + 3]
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for i in range(x.size):
            a += one[i] * x[i]
            b += two[i] * x[i]
            c += three[i] * x[i]
            d += four[i] * x[i]
        y[r], y[r + 1], y[r + 2], y[r + 3] = a, b, c, d
    for r in range(together, rows.shape[0]):
        one, a = rows[r], 0.0
        for i in range(x.size):
            a += one[i] * x[i]
        y[r] = a


@compiled
def add_combined_rows(rows: Floats, x: Floats, y: Floats) -> None:
    """y += sum_r x[r] rows[r], four rows in one pass over y."""
    together = rows.shape[0] - rows.shape[0] % 4
    for r in range(0, together, 4):
        one, two, three, four = rows[r], rows[r + 1], rows[r + 2], rows[r + 3]
        a, b, c, d = x[r], x[r + 1], x[r + 2], x[r + 3]
        for i in range(y.size):
            y[i] += (a * one[i] + b * two[i]) + (c * three[i] + d * four[i])
    for r in range(together, rows.shape[0]):
        one, a = rows[r], x[r]
        for i in range(y.size):
            y[i] += a * one[i]


@compiled
def explain(rows: Floats, v: float, pivots: Floats, ratios: Floats) -> None:
    """From U'W'S_t to rows of which S_t loses the products: v S_t W U (I + vT)^-1 U'W'S_t is the sum of them."""
    for r in range(rows.shape[0]):
        row = rows[r]
        if r:
            before, ratio = rows[r - 1], ratios[r]
            for n in range(row.size):
                row[n] -= ratio * before[n]
    for r in range(rows.shape[0]):
        row, scale = rows[r], math.sqrt(v / pivots[r])
        for n in range(row.size):
            row[n] *= scale
