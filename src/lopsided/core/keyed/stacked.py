"""Learners of several arrays, one for each key: every array has a leading axis of slots, and a row goes to its own.

The step of a row is the learner's own loop over that one row, so each key has the bits of a learner of its own.
"""

from __future__ import annotations

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.arithmetic.draws import Draws
from lopsided.core.arithmetic.generators import next_uniform
from lopsided.core.arithmetic.limits import finite
from lopsided.core.arithmetic.prefetching import fetch_ahead
from lopsided.core.features.fourier import WAVES_DIVERGED, WaveModel, dot, encode, fogd_run
from lopsided.core.geometry.points import Rows
from lopsided.core.linear.omcsl import OmcslPlan, omcsl_run
from lopsided.core.linear.opauc import OPAUC_DIVERGED, Moments, OpaucPlan, opauc_run
from lopsided.core.linear.weight_columns import COLUMNS_DIVERGED, WeightColumns, column_value
from lopsided.core.linear.weight_vector import product
from lopsided.core.measures.experts import Experts, best_expert
from lopsided.core.measures.ranking import Ranking

_AHEAD = 4  # rows; a model is many lines of the cache


@compiled
def count_rows(counts: Integers, slots: Integers, before: Integers, start: int, stop: int) -> None:
    """How many rows the key of each had before, and one more for each."""
    for t in range(start, stop):
        before[t] = counts[slots[t]]
        counts[slots[t]] += 1


# -------------------------------------------------------------------- OPAUC


@compiled
def _moments_at(stack: Moments, slot: int) -> Moments:
    return Moments(
        stack.weights[slot],
        stack.means[slot],
        stack.scatter[slot],
        stack.sketch[slot],
        stack.sketch_sum[slot],
        stack.tally[slot],
    )


@compiled
def keyed_opauc_run(
    stack: Moments,
    plan: OpaucPlan,
    slots: Integers,
    rows: Rows,
    labels: Floats,
    importances: Floats,
    work: Floats,
    scores: Floats,
    normals: Floats,
    start: int,
    stop: int,
) -> int:
    """Learn from the examples start..stop-1 in order, each by the model of its key; returns how many steps diverged."""
    diverged = 0
    for t in range(start, stop):
        fetch_ahead(stack.weights[slots[min(t + _AHEAD, stop - 1)]])
        moments = _moments_at(stack, slots[t])
        already = moments.tally[OPAUC_DIVERGED]
        opauc_run(moments, plan, rows, labels, importances, work, scores, normals, t, t, t + 1)
        diverged += moments.tally[OPAUC_DIVERGED] - already
    return diverged


@compiled
def keyed_opauc_score_rows(stack: Moments, slots: Integers, rows: Rows, scores: Floats) -> None:
    """The score of every example by the model of its key."""
    for t in range(slots.size):
        scores[t] = finite(product(rows, t, stack.weights[slots[t]], False))


# -------------------------------------------------------------------- FOGD


@compiled
def _waves_at(stack: WaveModel, slot: int) -> WaveModel:
    """The directions are those of all keys."""
    return WaveModel(stack.directions, stack.weights[slot], stack.tally[slot])


@compiled
def keyed_fogd_run(
    stack: WaveModel,
    rate: float,
    slots: Integers,
    rows: Rows,
    labels: Floats,
    importances: Floats,
    angles: Floats,
    z: Floats,
    scores: Floats,
    start: int,
    stop: int,
) -> int:
    """Learn from the examples start..stop-1 in order, each by the model of its key; returns how many steps diverged."""
    diverged = 0
    for t in range(start, stop):
        fetch_ahead(stack.weights[slots[min(t + _AHEAD, stop - 1)]])
        model = _waves_at(stack, slots[t])
        already = model.tally[WAVES_DIVERGED]
        fogd_run(model, rate, rows, labels, importances, angles, z, scores, t, t + 1)
        diverged += model.tally[WAVES_DIVERGED] - already
    return diverged


@compiled
def keyed_fogd_score_rows(
    stack: WaveModel, slots: Integers, rows: Rows, angles: Floats, z: Floats, scores: Floats
) -> None:
    """The score of every example by the model of its key."""
    for t in range(slots.size):
        encode(stack.directions, rows, t, angles, z)
        scores[t] = finite(dot(stack.weights[slots[t]], z))


# -------------------------------------------------------------------- OMCSL


@compiled
def _columns_at(stack: WeightColumns, slot: int) -> WeightColumns:
    return WeightColumns(stack.weights[slot], stack.moments[slot], stack.levels[slot], stack.tally[slot])


@compiled
def _experts_at(stack: Experts, slot: int) -> Experts:
    rankings = stack.rankings
    own = Ranking(rankings.bins[slot], rankings.kept[slot], rankings.levels[slot], rankings.tally[slot])
    return Experts(stack.standing[slot], stack.counts[slot], own)


@compiled
def keyed_omcsl_run(
    columns: WeightColumns,
    experts: Experts,
    costs: Floats,
    plan: OmcslPlan,
    generators: Integers,
    slots: Integers,
    rows: Rows,
    labels: Floats,
    importances: Floats,
    draws: Draws,
    work: Floats,
    scores: Floats,
    all_scores: Floats,
    start: int,
    stop: int,
) -> int:
    """Learn from the examples start..stop-1 in order, each by the model of its key; returns how many steps diverged.

    Every key has a generator; `draws` is room for one uniform.
    """
    diverged = 0
    for t in range(start, stop):
        own = _columns_at(columns, slots[t])
        already = own.tally[COLUMNS_DIVERGED]
        draws.uniforms[0], draws.position[0] = next_uniform(generators[slots[t]]), 0
        standing = _experts_at(experts, slots[t])
        omcsl_run(own, standing, costs, plan, rows, labels, importances, draws, work, scores, all_scores, t, t + 1)
        diverged += own.tally[COLUMNS_DIVERGED] - already
    return diverged


@compiled
def keyed_omcsl_score_rows(
    columns: WeightColumns, experts: Experts, plan: OmcslPlan, slots: Integers, rows: Rows, scores: Floats
) -> None:
    """The score of every example by the model of its key."""
    for t in range(slots.size):
        column = best_expert(_experts_at(experts, slots[t]))
        own = _columns_at(columns, slots[t])
        scores[t] = finite(column_value(own, rows, t, plan.intercept, column, plan.averages))
