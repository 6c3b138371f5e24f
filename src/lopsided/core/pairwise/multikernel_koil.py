"""KOIL with multiple kernels: one KOIL a kernel, weighted by how well each ranks (Hu 2015, Algorithm 4).

The experts keep their own slots, weights, scores and points, stacked in arrays with one leading axis. Once buffers are
full hardly any example is held by two experts, because each draws for itself what to learn and what to drop. So
distances cost most; those of a few rows are computed one after the other for each expert, whose points then stay in the
processor's nearest cache.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.aligned import aligned_zeros
from lopsided.core.arithmetic.compiled import Floats, Integers, compiled, compiled_as_written
from lopsided.core.arithmetic.draws import Draws, draw
from lopsided.core.arithmetic.limits import NOT_STORED, finite
from lopsided.core.arithmetic.product_tiles import ROWS
from lopsided.core.arithmetic.products import dense_dots, dense_dots_of_four
from lopsided.core.geometry.dense_products import gaussians_from_products, squares_from_products
from lopsided.core.geometry.kernels import (
    PARAMETER,
    Kernels,
    extreme_gammas,
    is_gaussian,
    kernel_of,
    self_similarity,
    similarities,
)
from lopsided.core.geometry.points import Points, Rows, measure, points_of, set_clock, squared_norm, store
from lopsided.core.pairwise.admission import UNBOUNDED
from lopsided.core.pairwise.koil import NEGATIVE, POSITIVE, Plan, Workspace, step
from lopsided.core.pairwise.support import Ledger, Support, is_full, span, value

RAW, SIGN = range(2)
TOGETHER = ROWS  # that are measured one after the other for each expert
_LOWEST_LOG = -1e300  # a weight that has vanished; minus infinity would turn differences into NaN


class PoolPlan(NamedTuple):
    """The parameters beyond those of each KOIL; the risk is multiplied by `risk_scale`, and by the cost if asked."""

    weight_rate: float
    combine: int
    risk_scale: float
    risk_by_cost: bool


class PoolScratch(NamedTuple):
    """What is measured: distances and scalar products by expert, row and slot, norms by row; and w_l / max w.

    `differences` are distances by slot that were measured again. `care` is that of `gaussians_from_products`.
    """

    squares: Floats
    dots: Floats
    norms: Floats
    shares: Floats
    lonely: Integers
    differences: Floats
    care: Integers


def empty_pool_scratch(stack: Support) -> PoolScratch:
    """Scratch for these experts, in which `lonely` says what `Ledger.length` does, for each of them."""
    m, slots = stack.weights.shape
    squares, dots = aligned_zeros(m, TOGETHER, slots), aligned_zeros(m, TOGETHER, slots)
    lonely = np.zeros((m, slots + 2), dtype=np.int64)
    diagonals = np.diagonal(stack.gram[:, :slots], axis1=1, axis2=2)
    care = np.zeros(m, dtype=np.int64)
    lonely[:, 1:-1] = (diagonals == 1.0) & (np.count_nonzero(stack.gram[:, :slots], axis=2) == 1)
    return PoolScratch(squares, dots, np.zeros(TOGETHER), np.zeros(m), lonely, aligned_zeros(slots), care)


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
def _measure_together(stack: Support, points: Points, rows: Rows, first: int, n: int, scratch: PoolScratch) -> None:
    """Scalar products with the rows first..first+n-1; of sparse rows the distances as well."""
    for place in range(n):
        scratch.norms[place] = squared_norm(rows, first + place)
    for index in range(stack.weights.shape[0]):
        support = expert(stack, index)
        for part in range(2):
            start, stop = span(support, part)
            if n == TOGETHER and _are_dense(points, rows):
                dense_dots_of_four(points.values[index], rows.dense, first, start, stop, scratch.dots[index])
            else:
                for place in range(n):
                    _measure(points, index, rows, first + place, place, start, stop, scratch)


@compiled
def _are_dense(points: Points, rows: Rows) -> bool:
    return rows.starts.size == 0 and points.lookup.size == 0


@compiled
def _measure(
    points: Points, index: int, rows: Rows, t: int, place: int, start: int, stop: int, scratch: PoolScratch
) -> None:
    squares, dots = scratch.squares[index, place], scratch.dots[index, place]
    if _are_dense(points, rows):
        dense_dots(points.values[index], rows.dense[t], start, stop, dots[start:stop])
    else:
        measure(points_of(points, index), rows, t, scratch.norms[place], start, stop, squares, dots, False)


@compiled
def _fill_expert_row(
    support: Support,
    kernels: Kernels,
    points: Points,
    rows: Rows,
    index: int,
    t: int,
    place: int,
    work: Workspace,
    scratch: PoolScratch,
) -> None:
    """work.row for one expert and one of the rows that were measured."""
    kernel, norm = kernel_of(kernels, index), scratch.norms[place]
    dense, plain = _are_dense(points, rows), is_gaussian(kernel)
    for part in range(2):
        start, stop = span(support, part)
        if start == stop:
            continue
        row, norms = work.row[start:stop], points.squared_norms[index, start:stop]
        squares, dots = scratch.squares[index, place, start:stop], scratch.dots[index, place, start:stop]
        if dense and plain:
            gaussians_from_products(
                points.values[index],
                rows.dense[t],
                start,
                stop,
                norms,
                norm,
                kernel.atoms[0, PARAMETER],
                dots,
                row,
                squares,
                scratch.differences[start:stop],
                scratch.care[index : index + 1],
            )
            continue
        widest, narrowest = extreme_gammas(kernel)
        if dense and narrowest > 0.0:
            table, again = points.values[index], scratch.differences[start:stop]
            squares_from_products(
                table, rows.dense[t], start, stop, norms, norm, narrowest, widest, dots, squares, again
            )
        similarities(kernel, squares, dots, norms, norm, row)


@compiled
def multikernel_run(
    stack: Support,
    kernels: Kernels,
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
    clock = points.marks.shape[1] - 1
    for t in range(start, stop):
        place = (t - start) % TOGETHER
        if place == 0:
            _measure_together(stack, points, rows, t, min(TOGETHER, stop - t), scratch)
        y = labels[t]
        if not math.isnan(y) and plan.policy == UNBOUNDED and _any_full(stack, POSITIVE if y > 0.0 else NEGATIVE):
            return t
        mass = fill_shares(log_weights, scratch.shares)
        if math.isnan(y):
            scores[t] = _combined_score(stack, kernels, mass, points, pool_plan, rows, t, place, work, scratch)
            continue
        points.marks[0, clock] += 1
        together_until = min(t - place + TOGETHER, stop)
        reported, norm = 0.0, scratch.norms[place]
        for index in range(log_weights.size):
            support = expert(stack, index)
            _fill_expert_row(support, kernels, points, rows, index, t, place, work, scratch)
            if draw(draws) < scratch.shares[index]:
                itself = self_similarity(kernel_of(kernels, index), norm)
                ledger = Ledger(work.ledger.slots, work.ledger.amounts, scratch.lonely[index])
                score, risk, slot = step(support, plan, work.row, itself, y, costs[t], draws, ledger, work.chosen)
                risk *= pool_plan.risk_scale * (costs[t] if pool_plan.risk_by_cost else 1.0)
                log_weights[index] = max(log_weights[index] - pool_plan.weight_rate * risk, _LOWEST_LOG)
                if slot != NOT_STORED:
                    own = points_of(points, index)
                    set_clock(own, points.marks[0, clock])
                    store(own, slot, rows, t, norm)
                    for later in range(t + 1, together_until):  # these were measured before it came
                        _measure(points, index, rows, later, place + later - t, slot, slot + 1, scratch)
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
    kernels: Kernels,
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
        place = t % TOGETHER
        if place == 0:
            _measure_together(stack, points, rows, t, min(TOGETHER, scores.size - t), scratch)
        scores[t] = _combined_score(stack, kernels, mass, points, pool_plan, rows, t, place, work, scratch)


@compiled
def _combined_score(
    stack: Support,
    kernels: Kernels,
    mass: float,
    points: Points,
    pool_plan: PoolPlan,
    rows: Rows,
    t: int,
    place: int,
    work: Workspace,
    scratch: PoolScratch,
) -> float:
    """The combined score of a row that was measured, by the shares in the scratch, whose sum is `mass`."""
    total = 0.0
    for index in range(scratch.shares.size):
        support = expert(stack, index)
        _fill_expert_row(support, kernels, points, rows, index, t, place, work, scratch)
        total += scratch.shares[index] * vote(value(support, work.row), pool_plan.combine)
    return finite(_divided(total, mass))
