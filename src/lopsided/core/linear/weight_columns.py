"""Many weight vectors at once, side by side: a feature touches K adjacent numbers.

The columns are scale * weights. Their average over time, (1/T) sum_t W_t, needs no sum over all weights: with S the sum
of the scales so far, a change D of `weights` made when the sum was S' is part of all W_t since, which is (S - S') D; so
with V = sum S' D the sum of the W_t is S weights - V.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.geometry.points import Rows

# Entries of WeightColumns.levels.
SCALE, SCALE_SUM = range(2)
# Entries of WeightColumns.tally.
STEPS, COLUMNS_DIVERGED = range(2)
# The scale is folded into the weights below these; an average loses the digits that the scale has lost.
_SMALLEST_SCALE, _SMALLEST_SCALE_WITH_AVERAGE = 1e-100, 1e-3


class WeightColumns(NamedTuple):
    """`weights` (features and bias, by column), `moments` (V; empty without an average), and a few numbers."""

    weights: Floats
    moments: Floats
    levels: Floats
    tally: Integers


def empty_columns(n_features: int, n_columns: int, averages: bool) -> WeightColumns:
    """All weights 0."""
    return WeightColumns(
        np.zeros((n_features + 1, n_columns)),
        np.zeros((n_features + 1 if averages else 0, n_columns)),
        np.array([1.0, 0.0]),
        np.zeros(2, dtype=np.int64),
    )


@compiled
def column_scores(columns: WeightColumns, rows: Rows, t: int, intercept: bool, out: Floats) -> None:
    """W'x of example t. Four columns at a time, whose sums then stay in registers."""
    weights, scale, K = columns.weights, columns.levels[SCALE], columns.weights.shape[1]
    bias = weights.shape[0] - 1
    for j in range(0, K - K % 4, 4):
        s0 = s1 = s2 = s3 = 0.0
        if intercept:
            s0, s1, s2, s3 = weights[bias, j], weights[bias, j + 1], weights[bias, j + 2], weights[bias, j + 3]
        if rows.starts.size:
            for q in range(rows.starts[t], rows.starts[t + 1]):
                i, x = rows.features[q], rows.values[q]
                s0 += x * weights[i, j]
                s1 += x * weights[i, j + 1]
                s2 += x * weights[i, j + 2]
                s3 += x * weights[i, j + 3]
        else:
            for i in range(rows.dense.shape[1]):
                x = rows.dense[t, i]
                s0 += x * weights[i, j]
                s1 += x * weights[i, j + 1]
                s2 += x * weights[i, j + 2]
                s3 += x * weights[i, j + 3]
        out[j], out[j + 1], out[j + 2], out[j + 3] = scale * s0, scale * s1, scale * s2, scale * s3
    for j in range(K - K % 4, K):
        out[j] = column_value(columns, rows, t, intercept, j, False)


@compiled
def add_to_columns(columns: WeightColumns, rows: Rows, t: int, intercept: bool, steps: Floats) -> None:
    """W += x steps'. Overwrites the steps."""
    for j in range(steps.size):
        steps[j] /= columns.levels[SCALE]
    _add_outer(columns.weights, rows, t, intercept, steps)
    if columns.moments.shape[0]:
        for j in range(steps.size):
            steps[j] *= columns.levels[SCALE_SUM]
        _add_outer(columns.moments, rows, t, intercept, steps)


@compiled
def _add_outer(weights: Floats, rows: Rows, t: int, intercept: bool, steps: Floats) -> None:
    """weights += x steps', four columns at a time."""
    K, bias = weights.shape[1], weights.shape[0] - 1
    for j in range(0, K - K % 4, 4):
        s0, s1, s2, s3 = steps[j], steps[j + 1], steps[j + 2], steps[j + 3]
        if rows.starts.size:
            for q in range(rows.starts[t], rows.starts[t + 1]):
                i, x = rows.features[q], rows.values[q]
                weights[i, j] += x * s0
                weights[i, j + 1] += x * s1
                weights[i, j + 2] += x * s2
                weights[i, j + 3] += x * s3
        else:
            for i in range(rows.dense.shape[1]):
                x = rows.dense[t, i]
                weights[i, j] += x * s0
                weights[i, j + 1] += x * s1
                weights[i, j + 2] += x * s2
                weights[i, j + 3] += x * s3
    for j in range(K - K % 4, K):
        if rows.starts.size:
            for q in range(rows.starts[t], rows.starts[t + 1]):
                weights[rows.features[q], j] += rows.values[q] * steps[j]
        else:
            for i in range(rows.dense.shape[1]):
                weights[i, j] += rows.dense[t, i] * steps[j]
    if intercept:
        for j in range(K):
            weights[bias, j] += steps[j]


@compiled
def shrink_columns(columns: WeightColumns, factor: float) -> None:
    """W *= factor, in O(1) but for the rare occasion on which the scale is folded into the weights."""
    columns.levels[SCALE] *= factor
    averages = columns.moments.shape[0] > 0
    if abs(columns.levels[SCALE]) > (_SMALLEST_SCALE_WITH_AVERAGE if averages else _SMALLEST_SCALE):
        return
    scale, scale_sum = columns.levels[SCALE], columns.levels[SCALE_SUM]
    for i in range(columns.weights.shape[0]):
        for j in range(columns.weights.shape[1]):
            if averages:
                columns.moments[i, j] -= scale_sum * columns.weights[i, j]
            columns.weights[i, j] *= scale
    columns.levels[SCALE], columns.levels[SCALE_SUM] = 1.0, 0.0


@compiled
def end_step(columns: WeightColumns) -> None:
    """The columns as they are now are part of the average."""
    columns.levels[SCALE_SUM] += columns.levels[SCALE]


@compiled
def column_value(columns: WeightColumns, rows: Rows, t: int, intercept: bool, column: int, averages: bool) -> float:
    """One column, or its average, at example t."""
    total = 0.0
    if rows.starts.size:
        for q in range(rows.starts[t], rows.starts[t + 1]):
            total += rows.values[q] * column_weight(columns, rows.features[q], column, averages)
    else:
        for i in range(rows.dense.shape[1]):
            total += rows.dense[t, i] * column_weight(columns, i, column, averages)
    return total + column_weight(columns, columns.weights.shape[0] - 1, column, averages) if intercept else total


@compiled
def column_weight(columns: WeightColumns, feature: int, column: int, averages: bool) -> float:
    """One weight, or its average over the steps."""
    weight = columns.weights[feature, column]
    if not averages:
        return columns.levels[SCALE] * weight
    if columns.tally[STEPS] == 0:
        return 0.0
    return (columns.levels[SCALE_SUM] * weight - columns.moments[feature, column]) / columns.tally[STEPS]
