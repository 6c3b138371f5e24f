"""Kernel gradient descent up to a budget of vectors, and from then on linear in the features that these span.

With K = V L V' the kernel matrix of the B vectors, z(x) = L^(-1/2) V' k(x) for the r largest eigenvalues. The function
so far, a.k(x), is u.z(x) with u = L^(1/2) V' a when r = B, and the nearest one when r < B.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.arithmetic.limits import LARGEST, finite
from lopsided.core.features.fourier import dot, hinge_step
from lopsided.core.geometry.kernels import Kernel, needs_dots, self_similarity, similarities
from lopsided.core.geometry.points import Points, Rows, measure, measure_column, squared_norm, store, tick
from lopsided.core.pointwise.online_kernel import RowScratch

# Entries of NystromModel.tally; MAPPED is 1 once z is defined.
USED, MAPPED, NYSTROM_DIVERGED = range(3)


class NystromModel(NamedTuple):
    """By vector its weight and class; the map from k(x) to z(x), a row a feature; the weights of z."""

    vector_weights: Floats
    signs: Floats
    mapping: Floats
    weights: Floats
    tally: Integers


def empty_nystrom_model(budget: int, rank: int) -> NystromModel:
    """No vectors yet."""
    return NystromModel(
        np.zeros(budget), np.zeros(budget), np.zeros((rank, budget)), np.zeros(rank), np.zeros(3, dtype=np.int64)
    )


@compiled
def _fill_row(used: int, points: Points, kernel: Kernel, rows: Rows, t: int, norm: float, work: RowScratch) -> None:
    """work.row[i] = k(x_t, vector i)."""
    measure(points, rows, t, norm, 0, used, work.squares, work.dots, needs_dots(kernel))
    similarities(kernel, work.squares, work.dots, points.squared_norms, norm, work.row[:used])


@compiled
def _value(model: NystromModel, row: Floats, z: Floats) -> float:
    """f(x), given k(x), and z(x) if there is one."""
    used = model.tally[USED]
    if model.tally[MAPPED] == 0:
        return dot(model.vector_weights[:used], row[:used])
    for r in range(z.size):
        z[r] = dot(model.mapping[r], row[:used])
    return dot(model.weights, z)


@compiled
def nogd_run(
    model: NystromModel,
    points: Points,
    kernel: Kernel,
    rate: float,
    rows: Rows,
    labels: Floats,
    importances: Floats,
    work: RowScratch,
    z: Floats,
    scores: Floats,
    start: int,
    stop: int,
) -> int:
    """Learn from the examples start..stop-1 in order, reporting the score of each before it was learned.

    An example whose label is NaN is scored only. Returns the number of the first example not learned: smaller than
    `stop` only if the budget has just been filled, in which case the caller makes the map and goes on.
    """
    for t in range(start, stop):
        y, step = labels[t], rate * importances[t]
        norm = squared_norm(rows, t)
        _fill_row(model.tally[USED], points, kernel, rows, t, norm, work)
        score = _value(model, work.row, z)
        scores[t] = finite(score)
        if math.isnan(y):
            continue
        tick(points)
        if model.tally[MAPPED]:
            if not hinge_step(model.weights, z, score, y, step):
                model.tally[NYSTROM_DIVERGED] += 1
        elif not (abs(score) < LARGEST and step < LARGEST and self_similarity(kernel, norm) < LARGEST):
            model.tally[NYSTROM_DIVERGED] += 1
        elif y * score < 1.0:
            slot = model.tally[USED]
            store(points, slot, rows, t, norm)
            model.vector_weights[slot], model.signs[slot] = step * y, y
            model.tally[USED] = slot + 1
            if slot + 1 == model.signs.size:
                return t + 1
    return stop


@compiled
def fill_gram(points: Points, kernel: Kernel, work: RowScratch, gram: Floats) -> None:
    """k(vector i, vector j) for all of them."""
    n = gram.shape[0]
    for i in range(n):
        measure_column(points, i, 0, n, work.squares, work.dots, needs_dots(kernel), work.point)
        similarities(kernel, work.squares, work.dots, points.squared_norms, points.squared_norms[i], gram[i])


@compiled
def nogd_score_rows(
    model: NystromModel, points: Points, kernel: Kernel, rows: Rows, work: RowScratch, z: Floats, scores: Floats
) -> None:
    """The score of every example."""
    for t in range(scores.size):
        _fill_row(model.tally[USED], points, kernel, rows, t, squared_norm(rows, t), work)
        scores[t] = finite(_value(model, work.row, z))
