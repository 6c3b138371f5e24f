"""A logistic regression on standardised features, by stochastic gradients: AdaGrad, one pass.

It forgets by what it learns: where a stream moves fast, it is often the best that there is, and it costs next to
nothing. Means and deviations are those of all values so far; what is missing counts as the mean.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, compiled
from lopsided.core.features.fourier_ranker import CLIP
from lopsided.core.measures.score_keys import sigmoid

KNOWN, MEAN, SQUARES = range(
    3
)  # rows of LinearPart.scale: values known, their mean, sum of squared differences from it
_RATE = 0.1


class LinearPart(NamedTuple):
    """A weight for each feature, the constant last; the sums of their squared gradients; where features lie."""

    weights: Floats
    gradients: Floats
    scale: Floats


def empty_linear_part(n_features: int) -> LinearPart:
    """Nothing learned."""
    return LinearPart(np.zeros(n_features + 1), np.zeros(n_features + 1), np.zeros((3, n_features)))


@compiled
def standardise(part: LinearPart, x: Floats, row: Floats) -> None:
    """x by the means and deviations so far, at most `CLIP` in size; a feature that has never varied is 0."""
    scale = part.scale
    for j in range(row.size):
        spread = math.sqrt(scale[SQUARES, j] / max(scale[KNOWN, j], 1.0))
        value = (x[j] - scale[MEAN, j]) / spread if spread > 0.0 else 0.0
        row[j] = min(max(value, -CLIP), CLIP) if value == value else 0.0


@compiled
def linear_score(part: LinearPart, row: Floats) -> float:
    """Log-odds of a standardised row, less those of the stream."""
    total, n = 0.0, row.size
    weights = part.weights[:n]
    for j in range(n):
        total += weights[j] * row[j]
    return total + part.weights[n]


@compiled
def learn_linear(part: LinearPart, x: Floats, row: Floats, y: float, weight: float, base: float) -> None:
    """One step for x, with itself among the values that it is standardised by; `base` are the log-odds of the stream.

    So no value is far out while few are known. `row` is scratch.
    """
    for j in range(row.size):
        _see(part.scale, j, x[j])
    standardise(part, x, row)
    error = weight * (sigmoid(base + linear_score(part, row)) - (1.0 if y > 0.0 else 0.0))
    for j in range(row.size):
        _step(part, j, error * row[j])
    _step(part, row.size, error)


@compiled
def _step(part: LinearPart, j: int, gradient: float) -> None:
    squares = part.gradients[j] + gradient * gradient
    if 0.0 < squares < math.inf:  # what is too large for a square moves nothing
        part.gradients[j] = squares
        part.weights[j] -= _RATE * gradient / math.sqrt(squares)


@compiled
def _see(scale: Floats, j: int, value: float) -> None:
    known, difference = scale[KNOWN, j] + 1.0, value - scale[MEAN, j]
    mean = scale[MEAN, j] + difference / known
    squares = scale[SQUARES, j] + difference * (value - mean)
    if squares < math.inf:  # neither missing nor too large for a square
        scale[KNOWN, j], scale[MEAN, j], scale[SQUARES, j] = known, mean, squares


def add_linear(part: LinearPart, other: LinearPart) -> None:
    """Take in another part, of other rows: weights averaged by their gradients, scales of all rows."""
    total_gradients = part.gradients + other.gradients
    share = other.gradients / np.where(total_gradients > 0.0, total_gradients, 1.0)
    part.weights[:] += share * (other.weights - part.weights)
    part.gradients[:] = total_gradients
    mine, theirs = part.scale, other.scale
    total = np.maximum(mine[KNOWN] + theirs[KNOWN], 1.0)
    apart = theirs[MEAN] - mine[MEAN]
    mine[SQUARES] += theirs[SQUARES] + apart**2 * mine[KNOWN] * theirs[KNOWN] / total
    mine[MEAN] += apart * theirs[KNOWN] / total
    mine[KNOWN] += theirs[KNOWN]
