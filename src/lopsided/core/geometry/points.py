"""Where the support points live, apart from the weights that experts give them.

Feature-major (one row a feature, one column a point) lets the distance loop run over the points without horizontal
sums. A query is a dense row or a sparse one; a sparse query touches only the rows of its non-zero features.

Above `WIDEST_TABLE` features a table of all of them would be nearly empty: there each point is kept by its non-zeros,
and a query is laid out once as a dense row in which they are looked up.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lopsided.core.arithmetic.aligned import aligned_zeros
from lopsided.core.arithmetic.compiled import Floats, Integers, ShortIntegers, compiled
from lopsided.core.geometry.dense_squares import in_its_precision, squares_in_its_precision


class Rows(NamedTuple):
    """A batch of examples: `dense`, or in CSR form when `starts` is not empty."""

    dense: Floats
    starts: Integers
    features: ShortIntegers
    values: Floats


class Points(NamedTuple):
    """A column a point: `values` by feature, or, for many features, the non-zeros of each in `features`, `entries`.

    A column of the table that was stored from a sparse row remembers its features as well, to be cleared by. `lookup`
    is scratch, a dense query that is all zeros between calls; it is empty unless the points are kept by non-zeros.

    `marks` are whole numbers in one array, for each array more costs every call: how many features each column
    remembers (or that it came from a dense row); then which row it is, counted from 1 over all rows that were learned
    (0: nobody knows), by which whoever keeps the rows as they came finds them again; and how many rows there were.
    """

    values: Floats
    squared_norms: Floats
    features: ShortIntegers
    entries: Floats
    marks: Integers
    lookup: Floats


WIDEST_TABLE = 4096
_LINE = 8  # numbers in a line of the cache
_DENSE = -1  # in Points.marks: the column came from a dense row


def empty_points(
    n_features: int, capacity: int, widest: int = 0, by_non_zeros: bool = False, dtype: Any = np.float64
) -> Points:
    """Room for `capacity` points; `widest` is the largest number of non-zeros of a row that is kept by them.

    `dtype` is that of a table: float32 takes half the memory and of a dense row little more than half the time.
    """
    by_non_zeros = by_non_zeros or n_features > WIDEST_TABLE
    # Rows a power of two apart would compete for the same lines of the processor's cache.
    row_length = capacity + (_LINE if capacity % (8 * _LINE) == 0 else 0)
    return Points(
        aligned_zeros(0 if by_non_zeros else n_features, row_length, dtype=dtype),
        np.zeros(capacity),
        np.zeros((capacity, widest), dtype=np.int32),
        np.zeros((capacity, widest if by_non_zeros else 0)),
        np.zeros(2 * capacity + 1, dtype=np.int64),
        np.zeros(n_features if by_non_zeros else 0),
    )


@compiled
def points_of(stack: Points, index: int) -> Points:
    """The points of one of several learners whose arrays are stacked along a leading axis; they share the scratch."""
    return Points(
        stack.values[index],
        stack.squared_norms[index],
        stack.features[index],
        stack.entries[index],
        stack.marks[index],
        stack.lookup,
    )


@compiled
def first_beyond(x: Floats, largest: float) -> int:
    """The first feature that is NaN, or larger in size, or -1."""
    for j in range(x.size):
        if not abs(x[j]) <= largest:
            return j
    return -1


@compiled
def first_known_beyond(x: Floats, largest: float) -> int:
    """The first feature that is larger in size, or -1; NaN is one that is not known."""
    for j in range(x.size):
        if abs(x[j]) > largest:
            return j
    return -1


@compiled
def squared_norm(rows: Rows, t: int) -> float:
    """||x||^2 of example t."""
    total = 0.0
    if rows.starts.size:
        for q in range(rows.starts[t], rows.starts[t + 1]):
            total += rows.values[q] * rows.values[q]
    else:
        for j in range(rows.dense.shape[1]):
            total += rows.dense[t, j] * rows.dense[t, j]
    return total


@compiled
def measure(
    points: Points,
    rows: Rows,
    t: int,
    norm: float,
    start: int,
    stop: int,
    squares: Floats,
    dots: Floats,
    want_dots: bool,
) -> None:
    """Squared distances (and scalar products, if wanted or free) of example t to the points start..stop-1."""
    if points.lookup.size:
        _measure_by_non_zeros(points, rows, t, norm, start, stop, squares, dots)
    elif rows.starts.size:
        first, last = rows.starts[t], rows.starts[t + 1]
        _sparse_dots(points.values, rows.features[first:last], rows.values[first:last], start, stop, dots[start:stop])
        squares_from_dots(points.squared_norms[start:stop], norm, dots[start:stop], squares[start:stop])
    elif want_dots:
        _dense_squares_and_dots(points.values, rows.dense[t], start, stop, squares[start:stop], dots[start:stop])
    else:
        squares_in_its_precision(points.values, rows.dense[t], start, stop, squares[start:stop], dots[start:stop])


@compiled
def _measure_by_non_zeros(
    points: Points, rows: Rows, t: int, norm: float, start: int, stop: int, squares: Floats, dots: Floats
) -> None:
    if rows.starts.size:
        first, last = rows.starts[t], rows.starts[t + 1]
        for q in range(first, last):
            points.lookup[rows.features[q]] = rows.values[q]
        _looked_up_dots(points, points.lookup, start, stop, dots)
        for q in range(first, last):
            points.lookup[rows.features[q]] = 0.0
    else:
        _looked_up_dots(points, rows.dense[t], start, stop, dots)
    squares_from_dots(points.squared_norms[start:stop], norm, dots[start:stop], squares[start:stop])


@compiled
def _looked_up_dots(points: Points, x: Floats, start: int, stop: int, dots: Floats) -> None:
    for i in range(start, stop):
        features, entries = points.features[i], points.entries[i]
        total = 0.0
        for q in range(points.marks[i]):
            total += entries[q] * x[features[q]]
        dots[i] = total


@compiled
def _sparse_dots(values: Floats, features: ShortIntegers, x: Floats, start: int, stop: int, dots: Floats) -> None:
    """Scalar products with a sparse row, as many of its non-zeros a pass as the registers hold: 8, 4 or 1."""
    for i in range(dots.size):
        dots[i] = 0.0
    eights, fours = x.size - x.size % 8, x.size - x.size % 4
    for q in range(0, eights, 8):
        x0, x1, x2, x3, x4, x5, x6, x7 = x[q], x[q + 1], x[q + 2], x[q + 3], x[q + 4], x[q + 5], x[q + 6], x[q + 7]
        z0, z1 = values[features[q], start:stop], values[features[q + 1], start:stop]
        z2, z3 = values[features[q + 2], start:stop], values[features[q + 3], start:stop]
        z4, z5 = values[features[q + 4], start:stop], values[features[q + 5], start:stop]
        z6, z7 = values[features[q + 6], start:stop], values[features[q + 7], start:stop]
        for i in range(dots.size):
            dots[i] += ((z0[i] * x0 + z1[i] * x1) + (z2[i] * x2 + z3[i] * x3)) + (
                (z4[i] * x4 + z5[i] * x5) + (z6[i] * x6 + z7[i] * x7)
            )
    for q in range(eights, fours, 4):
        x0, x1, x2, x3 = x[q], x[q + 1], x[q + 2], x[q + 3]
        z0, z1 = values[features[q], start:stop], values[features[q + 1], start:stop]
        z2, z3 = values[features[q + 2], start:stop], values[features[q + 3], start:stop]
        for i in range(dots.size):
            dots[i] += (z0[i] * x0 + z1[i] * x1) + (z2[i] * x2 + z3[i] * x3)
    for q in range(fours, x.size):
        z0, x0 = values[features[q], start:stop], x[q]
        for i in range(dots.size):
            dots[i] += z0[i] * x0


@compiled
def squares_from_dots(norms: Floats, norm: float, dots: Floats, squares: Floats) -> None:
    """||x - z||^2 = ||x||^2 + ||z||^2 - 2 x.z, which loses digits where it is small against the norms."""
    for i in range(squares.size):
        squares[i] = max(0.0, norms[i] + norm - 2.0 * dots[i])


@compiled
def _dense_squares_and_dots(values: Floats, x: Floats, start: int, stop: int, squares: Floats, dots: Floats) -> None:
    """Both in one pass over the points, which costs little more than one of them."""
    for i in range(squares.size):
        squares[i] = 0.0
        dots[i] = 0.0
    whole = x.size - x.size % 4
    for j in range(0, whole, 4):
        x0, x1, x2, x3 = x[j], x[j + 1], x[j + 2], x[j + 3]
        z0, z1 = values[j, start:stop], values[j + 1, start:stop]
        z2, z3 = values[j + 2, start:stop], values[j + 3, start:stop]
        for i in range(squares.size):
            e0, e1, e2, e3 = z0[i] - x0, z1[i] - x1, z2[i] - x2, z3[i] - x3
            squares[i] += (e0 * e0 + e1 * e1) + (e2 * e2 + e3 * e3)
            dots[i] += (z0[i] * x0 + z1[i] * x1) + (z2[i] * x2 + z3[i] * x3)
    for j in range(whole, x.size):
        z0 = values[j, start:stop]
        for i in range(squares.size):
            e0 = z0[i] - x[j]
            squares[i] += e0 * e0
            dots[i] += z0[i] * x[j]


@compiled
def measure_column(
    points: Points, column: int, start: int, stop: int, squares: Floats, dots: Floats, want_dots: bool, point: Floats
) -> None:
    """The same for a stored point as the query; `point` is scratch for one dense row."""
    norm, n = points.squared_norms[column], points.marks[column]
    if points.lookup.size:
        features = points.features[column, :n]
        for q in range(n):
            points.lookup[features[q]] = points.entries[column, q]
        _looked_up_dots(points, points.lookup, start, stop, dots)
        for q in range(n):
            points.lookup[features[q]] = 0.0
        squares_from_dots(points.squared_norms[start:stop], norm, dots[start:stop], squares[start:stop])
    elif n == _DENSE:
        for j in range(point.size):
            point[j] = points.values[j, column]
        if want_dots:
            _dense_squares_and_dots(points.values, point, start, stop, squares[start:stop], dots[start:stop])
        else:
            squares_in_its_precision(points.values, point, start, stop, squares[start:stop], dots[start:stop])
    else:
        features = points.features[column, :n]
        for q in range(n):
            point[q] = points.values[features[q], column]
        _sparse_dots(points.values, features, point[:n], start, stop, dots[start:stop])
        squares_from_dots(points.squared_norms[start:stop], norm, dots[start:stop], squares[start:stop])


@compiled
def tick(points: Points) -> None:
    """The next row has come: what is stored from now on is that one."""
    points.marks[2 * points.squared_norms.size] += 1


@compiled
def set_clock(points: Points, n_rows: int) -> None:
    """The same for a learner that counts its rows anyway: so many have come."""
    points.marks[2 * points.squared_norms.size] = n_rows


@compiled
def store(points: Points, column: int, rows: Rows, t: int, norm: float) -> None:
    """Write example t into a column."""
    capacity = points.squared_norms.size
    points.marks[capacity + column] = points.marks[2 * capacity]
    if points.lookup.size:
        _store_non_zeros(points, column, rows, t)
    elif rows.starts.size:
        _clear(points, column)
        first = rows.starts[t]
        n = rows.starts[t + 1] - first
        for q in range(n):
            feature = rows.features[first + q]
            points.values[feature, column] = in_its_precision(points.values, rows.values[first + q])
            points.features[column, q] = feature
        points.marks[column] = n
    else:
        for j in range(rows.dense.shape[1]):
            points.values[j, column] = in_its_precision(points.values, rows.dense[t, j])
        points.marks[column] = _DENSE
    points.squared_norms[column] = norm


@compiled
def _store_non_zeros(points: Points, column: int, rows: Rows, t: int) -> None:
    n = 0
    if rows.starts.size:
        for q in range(rows.starts[t], rows.starts[t + 1]):
            points.features[column, n] = rows.features[q]
            points.entries[column, n] = rows.values[q]
            n += 1
    else:
        for j in range(rows.dense.shape[1]):
            if rows.dense[t, j] != 0.0:
                points.features[column, n] = j
                points.entries[column, n] = rows.dense[t, j]
                n += 1
    points.marks[column] = n


@compiled
def _clear(points: Points, column: int) -> None:
    if points.marks[column] == _DENSE:
        for j in range(points.values.shape[0]):
            points.values[j, column] = 0.0
    else:
        for q in range(points.marks[column]):
            points.values[points.features[column, q], column] = 0.0
