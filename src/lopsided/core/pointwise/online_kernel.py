"""Learners that judge each example by its own score: SPA, OSKL and the kernel classifiers they are compared with.

One step for all of them: a rule says what weight the example asks for (`pointwise.py`), a budget where it lives
(`expansion_budget.py`), or a projection spreads it (`projectron.py`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, compiled
from lopsided.core.arithmetic.draws import Draws, draw
from lopsided.core.arithmetic.limits import LARGEST, NOT_STORED, finite
from lopsided.core.geometry.kernels import Kernel, needs_dots, self_similarity, similarities
from lopsided.core.geometry.points import (
    Points,
    Rows,
    measure,
    measure_column,
    squared_norm,
    squares_from_dots,
    store,
    tick,
)
from lopsided.core.pointwise.budget import SHRINK_FIRST, Budget, put_newcomer
from lopsided.core.pointwise.expansion import (
    EXPANSION_DIVERGED,
    MISTAKES,
    SCORED_NEGATIVES,
    SCORED_POSITIVES,
    STEPS,
    USED,
    Expansion,
    averaged_value,
    expansion_value,
    shrink,
)
from lopsided.core.pointwise.projectron import projectron_step
from lopsided.core.pointwise.rules import Rule, largest_probability, wanted

PLAIN, PROJECTING, PROJECTING_ON_MARGIN_ERRORS = range(3)
ENOUGH_SCORES = 256  # of either class, before examples that cannot matter go unscored
ALWAYS_SCORED = 1.0 / 16.0  # the share of all examples that is scored even so: what rests on scores follows the stream


class PointwisePlan(NamedTuple):
    """The parameters as numbers. `shrinkage` is lambda of (1 - rate lambda)."""

    rule: Rule
    budget: Budget
    rate: float
    rate_decays: bool
    shrinkage: float
    sampling_scale: float
    sample_budget: int
    draws: bool
    averages: bool
    projection: int
    tolerance: float


class RowScratch(NamedTuple):
    """Scratch arrays, so that a step allocates nothing: by slot, and one point."""

    row: Floats
    squares: Floats
    dots: Floats
    projection: Floats
    point: Floats


class BlockProducts(NamedTuple):
    """Scalar products x_t.z_i of a block of dense rows, from one matrix product; empty if there are none.

    Row 0 is example `first`. They were made for the vectors there were before the block; what changes since is noted.
    """

    dots: Floats
    first: int


def empty_row_scratch(capacity: int, n_features: int) -> RowScratch:
    """Scratch for so many vectors."""
    row, squares, dots, projection = np.zeros((4, capacity))
    return RowScratch(row, squares, dots, projection, np.zeros(n_features))


@compiled
def rate_at(plan: PointwisePlan, t: int) -> float:
    """The step size at step t."""
    return plan.rate / math.sqrt(t) if plan.rate_decays else plan.rate


@compiled
def sampling_scale_at(plan: PointwisePlan, t: int, used: int) -> float:
    """beta of SPA, G of OSKL; with a budget it rises with t and with what is used up, and closes the door at the end.

    With probability at most (B - n) / t for each example the vectors approach B ever more slowly and never exceed it,
    however long the stream is.
    """
    if plan.sample_budget == 0:
        return plan.sampling_scale
    left = plan.sample_budget - used
    return max(plan.sampling_scale, plan.rule.loss_cap * t / left) if left > 0 else math.inf


@compiled
def fill_scratch_row(
    used: int, points: Points, kernel: Kernel, rows: Rows, t: int, norm: float, ahead: BlockProducts, work: RowScratch
) -> None:
    """work.row[i] = k(x_t, z_i) for the slots in use."""
    if ahead.dots.size:
        dots = ahead.dots[t - ahead.first]
        squares_from_dots(points.squared_norms[:used], norm, dots[:used], work.squares[:used])
        similarities(kernel, work.squares, dots, points.squared_norms, norm, work.row[:used])
    else:
        measure(points, rows, t, norm, 0, used, work.squares, work.dots, needs_dots(kernel))
        similarities(kernel, work.squares, work.dots, points.squared_norms, norm, work.row[:used])


@compiled
def note_newcomer(ahead: BlockProducts, rows: Rows, t: int, slot: int) -> None:
    """Example t now lives in this slot: bring the products of the rows behind it up to date."""
    for later in range(t + 1, ahead.first + ahead.dots.shape[0]):
        total = 0.0
        for j in range(rows.dense.shape[1]):
            total += rows.dense[later, j] * rows.dense[t, j]
        ahead.dots[later - ahead.first, slot] = total


@compiled
def score_at_slot(expansion: Expansion, points: Points, kernel: Kernel, slot: int, work: RowScratch) -> float:
    """f at a support vector. Overwrites squares and dots, not the row of the example at hand."""
    used = expansion.tally[USED]
    norm = points.squared_norms[slot]
    measure_column(points, slot, 0, used, work.squares, work.dots, needs_dots(kernel), work.point)
    similarities(kernel, work.squares, work.dots, points.squared_norms, norm, work.projection[:used])
    return expansion_value(expansion, work.projection)


@compiled
def expansion_run(
    expansion: Expansion,
    factor: Floats,
    points: Points,
    kernel: Kernel,
    plan: PointwisePlan,
    skips: bool,
    rows: Rows,
    labels: Floats,
    importances: Floats,
    draws: Draws,
    work: RowScratch,
    scores: Floats,
    ahead: BlockProducts,
    start: int,
    stop: int,
) -> int:
    """Learn from the examples start..stop-1 in order, reporting the score of each before it was learned.

    With `skips`, an example that its uniform keeps out whatever its score is not scored at all, once enough of either
    class have been for thresholds and probabilities to rest on, unless it is one of a sixteenth that always are: the
    uniforms are independent of the examples, so those scored are a fair sample. The score of the others is reported as
    NaN; the model is the same. An example whose label is NaN is scored only.

    Returns the number of the first example not learned: smaller than `stop` only if the arrays are full, in which case
    the caller makes them larger and goes on.
    """
    grows = plan.budget.size == 0 and plan.sample_budget == 0
    for t in range(start, stop):
        y = labels[t]
        if math.isnan(y):
            scores[t] = _answer(expansion, points, kernel, plan, rows, t, ahead, work)
            continue
        if grows and expansion.tally[USED] == expansion.weights.size:
            return t
        tick(points)
        expansion.tally[STEPS] += 1
        u = draw(draws) if plan.draws else 0.0
        if skips and plan.draws and _stays_out(expansion, plan, u):
            scores[t] = math.nan
            continue
        expansion.tally[SCORED_POSITIVES if y > 0.0 else SCORED_NEGATIVES] += 1
        norm = squared_norm(rows, t)
        itself = self_similarity(kernel, norm)
        fill_scratch_row(expansion.tally[USED], points, kernel, rows, t, norm, ahead, work)
        score = expansion_value(expansion, work.row)
        scores[t] = finite(
            averaged_value(expansion, work.row, score, expansion.tally[STEPS]) if plan.averages else score
        )
        slot = _step(expansion, factor, points, kernel, plan, work, itself, score, y, importances[t], u)
        if slot != NOT_STORED:
            store(points, slot, rows, t, norm)
            if ahead.dots.size:
                note_newcomer(ahead, rows, t, slot)
    return stop


@compiled
def _stays_out(expansion: Expansion, plan: PointwisePlan, u: float) -> bool:
    """Whether the example is kept out whatever its score, and enough scores are known to do without this one."""
    if min(expansion.tally[SCORED_POSITIVES], expansion.tally[SCORED_NEGATIVES]) < ENOUGH_SCORES:
        return False
    scale = sampling_scale_at(plan, expansion.tally[STEPS], expansion.tally[USED])
    return u >= max(largest_probability(plan.rule, scale), ALWAYS_SCORED)


@compiled
def _step(
    expansion: Expansion,
    factor: Floats,
    points: Points,
    kernel: Kernel,
    plan: PointwisePlan,
    work: RowScratch,
    itself: float,
    score: float,
    y: float,
    importance: float,
    u: float,
) -> int:
    """Learn from one example, given its kernel row and score; returns the slot to store it in, or NOT_STORED."""
    rate = rate_at(plan, expansion.tally[STEPS])
    sampling_scale = sampling_scale_at(plan, expansion.tally[STEPS], expansion.tally[USED])
    weight = wanted(plan.rule, rate, sampling_scale, score, y, itself, importance, u, 1.0)
    if not (abs(score) < LARGEST and abs(weight) < LARGEST and itself < LARGEST):
        expansion.tally[EXPANSION_DIVERGED] += 1
        return NOT_STORED
    if plan.shrinkage > 0.0:
        shrink(expansion, 1.0 - rate * plan.shrinkage)
    if plan.projection != PLAIN:
        on_margin_errors = plan.projection == PROJECTING_ON_MARGIN_ERRORS
        return projectron_step(
            expansion, factor, plan.budget.size, plan.tolerance, on_margin_errors, work.row, itself, score, y,
            importance, work.projection,
        )  # fmt: skip
    if weight == 0.0:
        return NOT_STORED
    expansion.tally[MISTAKES] += 1
    is_full = plan.budget.size > 0 and expansion.tally[USED] == plan.budget.size
    oldest_score = 0.0
    if is_full and plan.budget.repair == SHRINK_FIRST:
        oldest_score = score_at_slot(expansion, points, kernel, expansion.order[0], work)
    return put_newcomer(expansion, plan.budget, is_full, work.row, itself, weight, y, u, rate, oldest_score)


@compiled
def expansion_score_rows(
    expansion: Expansion,
    points: Points,
    kernel: Kernel,
    plan: PointwisePlan,
    rows: Rows,
    work: RowScratch,
    scores: Floats,
    ahead: BlockProducts,
) -> None:
    """The score of every example: of the averaged classifier if there is one, else of the last."""
    for t in range(scores.size):
        scores[t] = _answer(expansion, points, kernel, plan, rows, t, ahead, work)


@compiled
def _answer(
    expansion: Expansion,
    points: Points,
    kernel: Kernel,
    plan: PointwisePlan,
    rows: Rows,
    t: int,
    ahead: BlockProducts,
    work: RowScratch,
) -> float:
    """The score of one example that is not learned."""
    fill_scratch_row(expansion.tally[USED], points, kernel, rows, t, squared_norm(rows, t), ahead, work)
    score = expansion_value(expansion, work.row)
    return finite(averaged_value(expansion, work.row, score, expansion.tally[STEPS]) if plan.averages else score)
