"""One-pass AUC by the square loss on pairs, which needs of the other class its mean and covariance only.

With v = x - c_o the gradient of lambda/2 |w|^2 + mean (1 - y w.(x - x'))^2 / 2 over the opposite examples x' is
lambda w - y v + (v.w) v + S_o w. The covariance is kept as the scatter A = n S, which a new example changes by one
outer product; or as a random sketch of it: Z = sum x r', q = sum r, and S w = B (B'w) / n with B = Z - c q'.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.arithmetic.limits import LARGEST, finite
from lopsided.core.geometry.points import Rows
from lopsided.core.linear.weight_vector import product

# Entries of Moments.tally: examples by class, and steps left out.
SEEN, OPAUC_DIVERGED = 0, 2


class Moments(NamedTuple):
    """The weights and, by class, means and scatter matrices, or sketches of them (then `scatter` is empty)."""

    weights: Floats
    means: Floats
    scatter: Floats
    sketch: Floats
    sketch_sum: Floats
    tally: Integers


class OpaucPlan(NamedTuple):
    """The parameters as numbers."""

    rate: float
    regularization: float


def empty_moments(n_features: int, rank: int) -> Moments:
    """Nothing seen; rank 0 is the full covariance."""
    side = 0 if rank else n_features
    return Moments(
        weights=np.zeros(n_features + 1),  # the last one is a bias, which pairs cannot tell: it stays 0
        means=np.zeros((2, n_features)),
        scatter=np.zeros((2, side, side)),
        sketch=np.zeros((2, n_features if rank else 0, rank)),
        sketch_sum=np.zeros((2, rank)),
        tally=np.zeros(3, dtype=np.int64),
    )


@compiled
def opauc_run(
    moments: Moments,
    plan: OpaucPlan,
    rows: Rows,
    labels: Floats,
    importances: Floats,
    work: Floats,
    scores: Floats,
    normals: Floats,
    first: int,
    start: int,
    stop: int,
) -> int:
    """Learn from the examples start..stop-1 in order; row t - first of `normals` is the sketch's r for example t.

    An example whose label is NaN is scored only.
    """
    d = moments.means.shape[1]
    x, v, change, inner = work[0, :d], work[1, :d], work[2, :d], work[3]
    for t in range(start, stop):
        own = 0 if labels[t] > 0.0 else 1
        other = 1 - own
        scores[t] = finite(product(rows, t, moments.weights, False))
        if math.isnan(labels[t]):
            continue
        _lay_out(rows, t, x)
        if moments.sketch_sum.shape[1]:
            _add_to_sketch(moments, own, x, normals[t - first])
        _add_to_class(moments, own, x, v)
        if moments.tally[SEEN + other] == 0:
            continue
        for j in range(d):
            v[j] = x[j] - moments.means[other, j]
        _covariance_times_weights(moments, other, change, inner)
        _descend(moments, plan, labels[t], importances[t], v, change)
    return stop


@compiled
def _lay_out(rows: Rows, t: int, x: Floats) -> None:
    if rows.starts.size:
        for j in range(x.size):
            x[j] = 0.0
        for q in range(rows.starts[t], rows.starts[t + 1]):
            x[rows.features[q]] = rows.values[q]
    else:
        for j in range(x.size):
            x[j] = rows.dense[t, j]


@compiled
def _add_to_class(moments: Moments, own: int, x: Floats, delta: Floats) -> None:
    """n, mean and scatter with x: A += (n - 1) / n (x - c)(x - c)'."""
    moments.tally[SEEN + own] += 1
    n, mean = moments.tally[SEEN + own], moments.means[own]
    for j in range(x.size):
        delta[j] = x[j] - mean[j]
        mean[j] += delta[j] / n
    if moments.scatter.shape[1]:
        share = (n - 1) / n
        for i in range(x.size):
            row, factor = moments.scatter[own, i], share * delta[i]
            if factor != 0.0:
                for j in range(x.size):
                    row[j] += factor * delta[j]


@compiled
def _add_to_sketch(moments: Moments, own: int, x: Floats, r: Floats) -> None:
    for i in range(x.size):
        if x[i] != 0.0:
            row = moments.sketch[own, i]
            for k in range(r.size):
                row[k] += x[i] * r[k]
    for k in range(r.size):
        moments.sketch_sum[own, k] += r[k]


@compiled
def _covariance_times_weights(moments: Moments, which: int, result: Floats, inner: Floats) -> None:
    n, weights = moments.tally[SEEN + which], moments.weights
    if moments.scatter.shape[1]:
        for i in range(result.size):
            row, total = moments.scatter[which, i], 0.0
            for j in range(result.size):
                total += row[j] * weights[j]
            result[i] = total / n
        return
    mean, sums = moments.means[which], moments.sketch_sum[which]
    along = 0.0
    for i in range(result.size):
        along += mean[i] * weights[i]
    for k in range(sums.size):
        inner[k] = -along * sums[k]
    for i in range(result.size):
        row = moments.sketch[which, i]
        for k in range(sums.size):
            inner[k] += row[k] * weights[i]
    across = 0.0
    for k in range(sums.size):
        across += sums[k] * inner[k]
    for i in range(result.size):
        row, total = moments.sketch[which, i], 0.0
        for k in range(sums.size):
            total += row[k] * inner[k]
        result[i] = (total - mean[i] * across) / n


@compiled
def _descend(moments: Moments, plan: OpaucPlan, y: float, importance: float, v: Floats, change: Floats) -> None:
    weights, along, size = moments.weights, 0.0, 0.0
    for j in range(v.size):
        along += v[j] * weights[j]
    for j in range(v.size):
        change[j] = plan.rate * importance * (plan.regularization * weights[j] + (along - y) * v[j] + change[j])
    for j in range(v.size):
        size += abs(change[j])
    if not size < LARGEST:
        moments.tally[OPAUC_DIVERGED] += 1
        return
    for j in range(v.size):
        weights[j] -= change[j]


@compiled
def opauc_score_rows(moments: Moments, rows: Rows, scores: Floats) -> None:
    """w.x of every example."""
    for t in range(scores.size):
        scores[t] = finite(product(rows, t, moments.weights, False))
