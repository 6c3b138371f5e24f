"""Running scale of every feature, and rows scaled by it one after the other.

A row is scaled by what was known before it, and then becomes part of what is known: a score never depends on the
future, and scaling row by row equals scaling a batch.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled, compiled_as_written
from lopsided.core.geometry.points import Rows

STANDARD, MINMAX = range(2)


class Scales(NamedTuple):
    """Statistics a feature: values noted, their mean and sum of squared deviations, smallest and largest.

    `seen[0]` counts rows. A sparse row notes only its non-zeros; the zeros in between are `seen - noted` of them.
    """

    seen: Integers
    noted: Integers
    means: Floats
    deviations: Floats
    lowest: Floats
    highest: Floats


def empty_scales(n_features: int) -> Scales:
    """Nothing seen yet."""
    return Scales(
        np.zeros(1, dtype=np.int64), np.zeros(n_features, dtype=np.int64), *(np.zeros(n_features) for _ in range(4))
    )


def add_scales(scales: Scales, other: Scales) -> None:
    """Note what other scales have noted."""
    n, more = scales.noted, other.noted
    both = np.maximum(n + more, 1)
    apart = other.means - scales.means
    scales.deviations[:] += other.deviations + apart * apart * (n * (more / both))
    scales.means[:] = np.where(n == 0, other.means, scales.means + apart * (more / both))
    lowest, highest = np.minimum(scales.lowest, other.lowest), np.maximum(scales.highest, other.highest)
    for mine, theirs, extreme in ((scales.lowest, other.lowest, lowest), (scales.highest, other.highest, highest)):
        mine[:] = np.where(n == 0, theirs, np.where(more == 0, mine, extreme))
    scales.noted[:] += more
    scales.seen[:] += other.seen


def take_out_scales(scales: Scales, lent: Scales) -> None:
    """Forget what was noted first, as far as it can be: the smallest and largest values stay."""
    both, n, before = np.maximum(scales.noted, 1), scales.noted - lent.noted, lent.noted
    own = np.divide(scales.means * both - lent.means * before, n, out=np.zeros(n.size), where=n > 0)
    apart = own - lent.means
    left = scales.deviations - lent.deviations - apart * apart * (n * (before / both))
    scales.deviations[:] = np.where(n > 0, np.maximum(left, 0.0), 0.0)
    scales.means[:] = own
    scales.noted[:] = n
    scales.seen[:] -= lent.seen


@compiled_as_written
def note_value(scales: Scales, j: int, x: float) -> None:
    """Welford's update of feature j."""
    n = scales.noted[j] + 1
    scales.noted[j] = n
    before = x - scales.means[j]
    scales.means[j] += before / n
    scales.deviations[j] += before * (x - scales.means[j])
    if n == 1:
        scales.lowest[j] = x
        scales.highest[j] = x
    scales.lowest[j] = min(scales.lowest[j], x)
    scales.highest[j] = max(scales.highest[j], x)


@compiled_as_written
def deviation(scales: Scales, j: int) -> float:
    """The standard deviation of feature j over all rows, the zeros that were not noted included."""
    seen, noted = scales.seen[0], scales.noted[j]
    if noted == 0:
        return 0.0
    zeros = seen - noted
    squares = scales.deviations[j] + scales.means[j] * scales.means[j] * (noted * (zeros / seen))
    return math.sqrt(squares / seen)


@compiled_as_written
def scaled(scales: Scales, kind: int, center: bool, j: int, x: float) -> float:
    """One value on the scale known so far; 0 as long as the feature has not varied, for there is no scale yet."""
    if kind == MINMAX:
        width = scales.highest[j] - scales.lowest[j]
        return (x - scales.lowest[j]) / width if width > 0.0 else 0.0
    spread = deviation(scales, j) if scales.seen[0] > 0 else 0.0
    if spread <= 0.0:
        return 0.0
    return (x - scales.means[j]) / spread if center else x / spread


@compiled
def scale_rows(scales: Scales, kind: int, center: bool, rows: Rows, turns: Floats, result: Rows) -> None:
    """Scale every row by what is known before it, and then note it, unless its turn is NaN."""
    if rows.starts.size:
        for t in range(rows.starts.size - 1):
            for q in range(rows.starts[t], rows.starts[t + 1]):
                result.values[q] = scaled(scales, kind, center, rows.features[q], rows.values[q])
            if not math.isnan(turns[t]):
                scales.seen[0] += 1
                for q in range(rows.starts[t], rows.starts[t + 1]):
                    note_value(scales, rows.features[q], rows.values[q])
    else:
        for t in range(rows.dense.shape[0]):
            for j in range(rows.dense.shape[1]):
                result.dense[t, j] = scaled(scales, kind, center, j, rows.dense[t, j])
            if not math.isnan(turns[t]):
                scales.seen[0] += 1
                for j in range(rows.dense.shape[1]):
                    note_value(scales, j, rows.dense[t, j])
