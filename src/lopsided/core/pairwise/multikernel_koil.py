"""KOIL with multiple kernels: one KOIL a kernel, weighted by how well each ranks (Hu 2015, Algorithm 4).

The experts keep their own slots, weights and scores, stacked in arrays with one leading axis. Points are kept once for
all of them: an example that several experts hold is one column, so its distance to a query is computed once.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, compiled, compiled_as_written
from lopsided.core.arithmetic.draws import Draws, draw
from lopsided.core.arithmetic.limits import NOT_STORED, finite
from lopsided.core.geometry.kernels import self_similarity, similarities
from lopsided.core.geometry.points import Points, Rows, measure, squared_norm, tick
from lopsided.core.geometry.shared_points import NO_COLUMN, SharedPoints, hold, kernel_of
from lopsided.core.pairwise.admission import UNBOUNDED
from lopsided.core.pairwise.koil import NEGATIVE, POSITIVE, Plan, Workspace, step
from lopsided.core.pairwise.support import Support, is_full, span, value

RAW, SIGN = range(2)
_LOWEST_LOG = -1e300  # a weight that has vanished; minus infinity would turn differences into NaN


class PoolPlan(NamedTuple):
    """The parameters beyond those of each KOIL; the risk is multiplied by `risk_scale`, and by the cost if asked."""

    weight_rate: float
    combine: int
    risk_scale: float
    risk_by_cost: bool
    wants_dots: bool


class PoolScratch(NamedTuple):
    """What is measured once for all experts (by column), the norms of one expert's points, and w_l / max w."""

    squares: Floats
    dots: Floats
    norms: Floats
    shares: Floats


def empty_pool_scratch(m: int, slots: int) -> PoolScratch:
    """Scratch for m experts of so many slots each."""
    return PoolScratch(np.zeros(m * slots), np.zeros(m * slots), np.zeros(slots), np.zeros(m))


@compiled
def expert(stack: Support, index: int) -> Support:
    """One expert's support set: views into the stack."""
    return Support(
        stack.weights[index], stack.scores[index], stack.gram[index], stack.levels[index], stack.tally[index]
    )


@compiled
def fill_shares(log_weights: Floats, shares: Floats) -> float:
    """shares[l] = w_l / max w; returns their sum."""
    top = log_weights[0]
    for index in range(1, shares.size):
        top = max(top, log_weights[index])
    for index in range(shares.size):
        shares[index] = math.exp(log_weights[index] - top)
    # Summed up in a loop that writes nothing: in one that does, whether it is vectorised, and so the last digit of the
    # sum, depends on how close the two arrays lie in memory.
    total = 0.0
    for index in range(shares.size):
        total += shares[index]
    return total


@compiled
def vote(score: float, combine: int) -> float:
    """What an expert contributes: its score, or the sign of it."""
    if combine == RAW:
        return score
    return 1.0 if score > 0.0 else (-1.0 if score < 0.0 else 0.0)


@compiled_as_written
def _divided(total: float, mass: float) -> float:
    """As it says: a loop of many rows must not multiply by 1 / mass where one of a single row divides."""
    return total / mass


@compiled
def fill_expert_row(
    support: Support,
    shared: SharedPoints,
    index: int,
    points: Points,
    norm: float,
    work: Workspace,
    scratch: PoolScratch,
) -> None:
    """work.row for one expert, gathering what was measured once for all."""
    kernel = kernel_of(shared, index)
    for part in range(2):
        start, stop = span(support, part)
        columns = shared.columns[index, start:stop]
        squares, dots, norms = work.squares[start:stop], work.dots[start:stop], scratch.norms[start:stop]
        for i in range(columns.size):
            squares[i] = scratch.squares[columns[i]]
            dots[i] = scratch.dots[columns[i]]
            norms[i] = points.squared_norms[columns[i]]
        similarities(kernel, squares, dots, norms, norm, work.row[start:stop])


@compiled
def multikernel_run(
    stack: Support,
    shared: SharedPoints,
    log_weights: Floats,
    points: Points,
    plan: Plan,
    pool_plan: PoolPlan,
    rows: Rows,
    labels: Floats,
    costs: Floats,
    draws: Draws,
    work: Workspace,
    scratch: PoolScratch,
    scores: Floats,
    start: int,
    stop: int,
) -> int:
    """Learn from the examples start..stop-1 in order, reporting the combined score of each before it was learned.

    An example whose label is NaN is scored only. Returns the number of the first example not learned, as
    `lopsided.core.pairwise.koil.run` does.
    """
    m = log_weights.size
    for t in range(start, stop):
        y = labels[t]
        if math.isnan(y):
            mass = fill_shares(log_weights, scratch.shares)
            scores[t] = _combined_score(stack, shared, mass, points, pool_plan, rows, t, work, scratch)
            continue
        if plan.policy == UNBOUNDED and _any_full(stack, POSITIVE if y > 0.0 else NEGATIVE):
            return t
        tick(points)
        norm = squared_norm(rows, t)
        measure(points, rows, t, norm, 0, shared.free_count[1], scratch.squares, scratch.dots, pool_plan.wants_dots)
        mass = fill_shares(log_weights, scratch.shares)
        reported, column = 0.0, NO_COLUMN
        for index in range(m):
            support = expert(stack, index)
            fill_expert_row(support, shared, index, points, norm, work, scratch)
            if draw(draws) < scratch.shares[index]:
                itself = self_similarity(kernel_of(shared, index), norm)
                score, risk, slot = step(support, plan, work.row, itself, y, costs[t], draws, work.ledger, work.chosen)
                risk *= pool_plan.risk_scale * (costs[t] if pool_plan.risk_by_cost else 1.0)
                log_weights[index] = max(log_weights[index] - pool_plan.weight_rate * risk, _LOWEST_LOG)
                if slot != NOT_STORED:
                    column = hold(shared, points, index, slot, column, rows, t, norm)
            else:
                score = value(support, work.row)
            reported += scratch.shares[index] * vote(score, pool_plan.combine)
        scores[t] = finite(_divided(reported, mass))
    return stop


@compiled
def _any_full(stack: Support, room: int) -> bool:
    for index in range(stack.weights.shape[0]):
        if is_full(expert(stack, index), room):
            return True
    return False


@compiled
def multikernel_score_rows(
    stack: Support,
    shared: SharedPoints,
    log_weights: Floats,
    points: Points,
    pool_plan: PoolPlan,
    rows: Rows,
    work: Workspace,
    scratch: PoolScratch,
    scores: Floats,
) -> None:
    """The combined score of every example."""
    mass = fill_shares(log_weights, scratch.shares)
    for t in range(scores.size):
        scores[t] = _combined_score(stack, shared, mass, points, pool_plan, rows, t, work, scratch)


@compiled
def _combined_score(
    stack: Support,
    shared: SharedPoints,
    mass: float,
    points: Points,
    pool_plan: PoolPlan,
    rows: Rows,
    t: int,
    work: Workspace,
    scratch: PoolScratch,
) -> float:
    """The combined score of one example, by the shares in the scratch, whose sum is `mass`."""
    norm = squared_norm(rows, t)
    measure(points, rows, t, norm, 0, shared.free_count[1], scratch.squares, scratch.dots, pool_plan.wants_dots)
    total = 0.0
    for index in range(scratch.shares.size):
        support = expert(stack, index)
        fill_expert_row(support, shared, index, points, norm, work, scratch)
        total += scratch.shares[index] * vote(value(support, work.row), pool_plan.combine)
    return finite(_divided(total, mass))
