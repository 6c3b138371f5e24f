"""Online AUC maximisation: the pair hinge against a reservoir of each class, by sequential or joint steps."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled, compiled_as_written
from lopsided.core.arithmetic.draws import Draws, draw_index
from lopsided.core.arithmetic.limits import LARGEST, finite
from lopsided.core.geometry.points import Points, Rows, store
from lopsided.core.linear.weight_vector import add_multiple, product

SEQUENTIAL, GRADIENT = range(2)
# Entries of OamModel.tally: examples seen and kept by class, and steps left out.
SEEN, HELD, OAM_DIVERGED = 0, 2, 4


class OamModel(NamedTuple):
    """The weights, the points kept (positives first, each class its own slots), marks on them, and the counts."""

    weights: Floats
    points: Points
    marks: Floats
    tally: Integers


class OamPlan(NamedTuple):
    """The parameters as numbers."""

    variant: int
    cost: float
    budget: int


def empty_oam_tally() -> Integers:
    """Nothing seen."""
    return np.zeros(5, dtype=np.int64)


@compiled
def oam_run(
    model: OamModel,
    plan: OamPlan,
    rows: Rows,
    labels: Floats,
    importances: Floats,
    draws: Draws,
    scores: Floats,
    start: int,
    stop: int,
) -> int:
    """Learn from the examples start..stop-1 in order, reporting the score of each before it was learned.

    An example whose label is NaN is scored only.
    """
    for t in range(start, stop):
        y = labels[t]
        own = 0 if y > 0.0 else 1
        score = product(rows, t, model.weights, False)
        scores[t] = finite(score)
        if math.isnan(y):
            continue
        model.tally[SEEN + own] += 1
        _offer(model, plan, own, rows, t, draws)
        cap = 0.5 * importances[t] * plan.cost * max(1.0, model.tally[SEEN + 1 - own] / plan.budget)
        if not abs(score) < LARGEST:
            model.tally[OAM_DIVERGED] += 1
        elif plan.variant == SEQUENTIAL:
            _learn_pair_by_pair(model, plan, rows, t, y, cap)
        else:
            _learn_all_pairs(model, plan, rows, t, y, score, cap)
    return stop


@compiled
def _offer(model: OamModel, plan: OamPlan, own: int, rows: Rows, t: int, draws: Draws) -> None:
    """Into the reservoir of its class: at once while there is room, else with probability B / n."""
    held = model.tally[HELD + own]
    slot = held
    if held == plan.budget:
        slot = draw_index(draws, model.tally[SEEN + own])
        if slot >= plan.budget:
            return
    else:
        model.tally[HELD + own] += 1
    store(model.points, own * plan.budget + slot, rows, t, 0.0)


@compiled
def _learn_pair_by_pair(model: OamModel, plan: OamPlan, rows: Rows, t: int, y: float, cap: float) -> None:
    """Each opposite point in turn: w += min(cap, loss / |v|^2) v with v = y (x - x')."""
    other = 1 if y > 0.0 else 0
    points, weights = model.points, model.weights
    squares = _spread(points, rows, t)
    score = product(rows, t, weights, False)
    for slot in range(other * plan.budget, other * plan.budget + model.tally[HELD + other]):
        dot, inside, difference = _against(points, slot)
        # |x - x'|^2: where x' has features, and where only x has.
        norm = difference + max(squares - inside, 0.0)
        if norm > 0.0:
            loss = max(0.0, 1.0 - y * (score - _value_at(points, slot, weights)))
            step = min(cap, loss / norm)
            if step > 0.0 and step * norm < LARGEST:
                add_multiple(rows, t, y * step, weights, False)
                _add_point(points, slot, -y * step, weights)
                score += y * step * (squares - dot)
    _clear_spread(points, rows, t)


@compiled
def _learn_all_pairs(model: OamModel, plan: OamPlan, rows: Rows, t: int, y: float, score: float, cap: float) -> None:
    """All opposite points with w.v <= 1 at once: w += cap sum v."""
    other = 1 if y > 0.0 else 0
    first, hits = other * plan.budget, 0
    for slot in range(first, first + model.tally[HELD + other]):
        is_hit = y * (score - _value_at(model.points, slot, model.weights)) <= 1.0
        model.marks[slot] = 1.0 if is_hit else 0.0
        hits += 1 if is_hit else 0
    for slot in range(first, first + model.tally[HELD + other]):
        if model.marks[slot] > 0.0:
            _add_point(model.points, slot, -y * cap, model.weights)
    if hits > 0:
        add_multiple(rows, t, y * cap * hits, model.weights, False)


@compiled_as_written
def _spread(points: Points, rows: Rows, t: int) -> float:
    """Lay the example out as a dense row in which the points look up their features; returns |x|^2."""
    total = 0.0
    if rows.starts.size:
        for q in range(rows.starts[t], rows.starts[t + 1]):
            points.lookup[rows.features[q]] = rows.values[q]
            total += rows.values[q] * rows.values[q]
    else:
        for j in range(rows.dense.shape[1]):
            points.lookup[j] = rows.dense[t, j]
            total += rows.dense[t, j] * rows.dense[t, j]
    return total


@compiled
def _clear_spread(points: Points, rows: Rows, t: int) -> None:
    if rows.starts.size:
        for q in range(rows.starts[t], rows.starts[t + 1]):
            points.lookup[rows.features[q]] = 0.0
    else:
        for j in range(rows.dense.shape[1]):
            points.lookup[j] = 0.0


@compiled_as_written
def _against(points: Points, slot: int) -> tuple[float, float, float]:
    """Over the features of the point x': x.x', the sum of x_j^2, and that of (x_j - x'_j)^2."""
    dot, inside, difference = 0.0, 0.0, 0.0
    for q in range(points.marks[slot]):
        x, z = points.lookup[points.features[slot, q]], points.entries[slot, q]
        dot += x * z
        inside += x * x
        difference += (x - z) * (x - z)
    return dot, inside, difference


@compiled
def _value_at(points: Points, slot: int, weights: Floats) -> float:
    total = 0.0
    for q in range(points.marks[slot]):
        total += points.entries[slot, q] * weights[points.features[slot, q]]
    return total


@compiled
def _add_point(points: Points, slot: int, step: float, weights: Floats) -> None:
    for q in range(points.marks[slot]):
        weights[points.features[slot, q]] += step * points.entries[slot, q]


@compiled
def oam_score_rows(model: OamModel, rows: Rows, scores: Floats) -> None:
    """w.x of every example."""
    for t in range(scores.size):
        scores[t] = finite(product(rows, t, model.weights, False))
