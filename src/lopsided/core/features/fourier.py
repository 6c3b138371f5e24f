"""Random Fourier features, and gradient steps on them.

z(x) = sqrt(1/H) (cos w_1.x ... cos w_H.x, sin w_1.x ... sin w_H.x) with directions w_i from N(0, 2 gamma I): the scalar
product of two of them is exp(-gamma |x - x'|^2) in expectation, so a linear learner of z is a kernel learner whose
memory and cost do not depend on what it has seen.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, Integers, ShortIntegers, compiled
from lopsided.core.arithmetic.limits import LARGEST, finite
from lopsided.core.arithmetic.trigonometry import waves
from lopsided.core.geometry.points import Rows

# Entries of WaveModel.tally.
DRAWN, WAVES_DIVERGED = range(2)


class WaveModel(NamedTuple):
    """A column of `directions` a w_i, the weights of z, whether the directions are drawn, and what went wrong."""

    directions: Floats
    weights: Floats
    tally: Integers


def empty_wave_model(n_features: int, n_directions: int) -> WaveModel:
    """No directions yet, and all weights 0."""
    return WaveModel(np.zeros((n_features, n_directions)), np.zeros(2 * n_directions), np.zeros(2, dtype=np.int64))


@compiled
def add_products(directions: Floats, x: Floats, angles: Floats) -> None:
    """angles += directions' x for a dense row, four features a pass."""
    whole = x.size - x.size % 4
    for j in range(0, whole, 4):
        x0, x1, x2, x3 = x[j], x[j + 1], x[j + 2], x[j + 3]
        w0, w1, w2, w3 = directions[j], directions[j + 1], directions[j + 2], directions[j + 3]
        for i in range(angles.size):
            angles[i] += (w0[i] * x0 + w1[i] * x1) + (w2[i] * x2 + w3[i] * x3)
    for j in range(whole, x.size):
        w0 = directions[j]
        for i in range(angles.size):
            angles[i] += w0[i] * x[j]


@compiled
def add_sparse_products(directions: Floats, features: ShortIntegers, values: Floats, angles: Floats) -> None:
    """The same for the non-zeros of a sparse row."""
    for q in range(values.size):
        w, x = directions[features[q]], values[q]
        for i in range(angles.size):
            angles[i] += w[i] * x


@compiled
def encode(directions: Floats, rows: Rows, t: int, angles: Floats, z: Floats) -> None:
    """z of example t."""
    n = angles.size
    for i in range(n):
        angles[i] = 0.0
    if rows.starts.size:
        first, last = rows.starts[t], rows.starts[t + 1]
        add_sparse_products(directions, rows.features[first:last], rows.values[first:last], angles)
    else:
        add_products(directions, rows.dense[t], angles)
    waves(angles, math.sqrt(1.0 / n), z[:n], z[n:])


@compiled
def dot(left: Floats, right: Floats) -> float:
    """The scalar product."""
    total = 0.0
    for i in range(left.size):
        total += left[i] * right[i]
    return total


@compiled
def hinge_step(weights: Floats, z: Floats, score: float, y: float, step: float) -> bool:
    """weights += step y z if y score < 1; False where that would have made them infinite, and nothing is done."""
    if not (abs(score) < LARGEST and step < LARGEST):
        return False
    if y * score < 1.0:
        for i in range(z.size):
            weights[i] += step * y * z[i]
    return True


@compiled
def fogd_run(
    model: WaveModel,
    rate: float,
    rows: Rows,
    labels: Floats,
    importances: Floats,
    angles: Floats,
    z: Floats,
    scores: Floats,
    start: int,
    stop: int,
) -> int:
    """Learn from the examples start..stop-1 in order, reporting the score of each before it was learned.

    An example whose label is NaN is scored only.
    """
    for t in range(start, stop):
        encode(model.directions, rows, t, angles, z)
        score = dot(model.weights, z)
        scores[t] = finite(score)
        if not math.isnan(labels[t]) and not hinge_step(model.weights, z, score, labels[t], rate * importances[t]):
            model.tally[WAVES_DIVERGED] += 1
    return stop


@compiled
def fogd_score_rows(model: WaveModel, rows: Rows, angles: Floats, z: Floats, scores: Floats) -> None:
    """The score of every example."""
    for t in range(scores.size):
        encode(model.directions, rows, t, angles, z)
        scores[t] = finite(dot(model.weights, z))
