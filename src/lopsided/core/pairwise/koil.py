"""KOIL: kernelized online imbalanced learning, one kernel (Hu 2015, Algorithms 1 to 3).

`step` is the algorithm, `run` the loop over a batch, `score_rows` the decision function. Equation numbers are those of
the thesis.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from lopsided.core.arithmetic.aligned import aligned_zeros
from lopsided.core.arithmetic.compiled import Floats, compiled
from lopsided.core.arithmetic.draws import Draws
from lopsided.core.arithmetic.limits import LARGEST, NOT_STORED, finite
from lopsided.core.geometry.kernels import Kernel, needs_dots, self_similarity, similarities
from lopsided.core.geometry.points import Points, Rows, measure, set_clock, squared_norm, store
from lopsided.core.pairwise.admission import UNBOUNDED, admitted
from lopsided.core.pairwise.eviction import evicted
from lopsided.core.pairwise.repair import give_to_nearest
from lopsided.core.pairwise.support import (
    LARGEST_SELF_SIMILARITY,
    SEEN,
    SIZE,
    START,
    SUPPORT_DIVERGED,
    USED,
    Ledger,
    Support,
    decay,
    empty_ledger,
    is_full,
    put,
    refresh,
    settle,
    shift,
    span,
    take_out,
    value,
)
from lopsided.core.pairwise.violators import Chosen, empty_chosen, slopes, violators

POSITIVE, NEGATIVE = 0, 1  # the rooms
CONSTANT, INVERSE_SQUARE_ROOT, THEORY = range(3)
# Decay forgets the rounding errors of the cached scores; without it they are recomputed every so many examples.
_REFRESH_EVERY = 10_000


class Plan(NamedTuple):
    """The parameters of KOIL as numbers. `neighbors_*` is k for an example of that class."""

    rate: float
    neighbors_positive: int
    neighbors_negative: int
    policy: int
    compensate: bool
    loss: int
    among_nearest: bool
    schedule: int
    decay: bool


class Workspace(NamedTuple):
    """Scratch arrays, so that a step allocates nothing."""

    row: Floats
    squares: Floats
    dots: Floats
    ledger: Ledger
    chosen: Chosen


def empty_workspace(slots: int, k: int) -> Workspace:
    """Scratch for so many slots and neighbours; a step enters at most k + 3 changes of weight."""
    row, squares, dots = (aligned_zeros(slots) for _ in range(3))
    return Workspace(row, squares, dots, empty_ledger(k + 3), empty_chosen(k, slots))


@compiled
def step(
    support: Support,
    plan: Plan,
    row: Floats,
    itself: float,
    y: float,
    cost: float,
    draws: Draws,
    ledger: Ledger,
    chosen: Chosen,
) -> tuple[float, float, int]:
    """Learn from one example, given its kernel row and k(x, x).

    Returns f(x) before learning, the loss summed over V, and the slot in which the caller must store the point (or
    NOT_STORED). O(slots * neighbors).
    """
    own, opposite, k = POSITIVE, NEGATIVE, plan.neighbors_positive
    if y < 0.0:
        own, opposite, k = NEGATIVE, POSITIVE, plan.neighbors_negative
    support.tally[SEEN, own] += 1
    rate = _rate(support, plan, itself, cost, k)

    score = value(support, row)
    n = violators(support, opposite, row, score, y, k, plan.among_nearest, chosen)  # (3.2), Algorithm 2
    total_slope, risk = slopes(support, chosen, n, score, y, plan.loss)
    weight = y * rate * cost * total_slope
    nothing_to_rank = support.tally[USED, opposite] == 0 or (support.tally[USED, own] == 0 and n == 0)
    if nothing_to_rank:
        weight = y * rate * cost
    if not (abs(weight) < LARGEST and itself < LARGEST):
        support.tally[SUPPORT_DIVERGED, own] += 1
        return finite(score), 0.0, NOT_STORED

    if plan.decay:
        decay(support, 1.0 - rate)  # (3.10)
        score_now = score * (1.0 - rate)
    else:
        score_now = score
    for q in range(n):
        shift(support, ledger, chosen.slots[q], -y * rate * cost * chosen.slopes[q])
    slot = NOT_STORED
    if weight != 0.0:
        slot = _place(support, plan, own, row, itself, score_now, weight, draws, ledger)  # Algorithm 3
    settle(support, ledger)
    if not plan.decay and (support.tally[SEEN, own] + support.tally[SEEN, opposite]) % _REFRESH_EVERY == 0:
        refresh(support)
    return score, risk, slot


@compiled
def _rate(support: Support, plan: Plan, itself: float, cost: float, k: int) -> float:
    if plan.schedule == INVERSE_SQUARE_ROOT:
        return plan.rate / math.sqrt(support.tally[SEEN, POSITIVE] + support.tally[SEEN, NEGATIVE])
    if plan.schedule == THEORY:
        largest = max(support.levels[LARGEST_SELF_SIMILARITY], itself)
        support.levels[LARGEST_SELF_SIMILARITY] = largest
        return min(plan.rate, 1.0 / (1.0 + 4.0 * cost * k * k * largest))
    return plan.rate


@compiled
def _place(
    support: Support,
    plan: Plan,
    own: int,
    row: Floats,
    itself: float,
    score: float,
    weight: float,
    draws: Draws,
    ledger: Ledger,
) -> int:
    """Find the newcomer a slot and give the weight of whatever is left out to its nearest of the same class."""
    if not is_full(support, own):
        slot = support.tally[START, own] + support.tally[USED, own]
        support.tally[USED, own] += 1
        put(support, ledger, slot, row, itself, score, weight)
        return slot
    if not admitted(plan.policy, support.tally[SIZE, own], support.tally[SEEN, own], draws):
        if plan.compensate:
            give_to_nearest(support, ledger, own, row, weight)
        return NOT_STORED
    slot = evicted(plan.policy, support, own, draws)
    left_over = take_out(support, ledger, slot, row)
    put(support, ledger, slot, row, itself, score, weight)
    if plan.compensate:
        give_to_nearest(support, ledger, own, support.gram[-1], left_over)
    return slot


@compiled
def run(
    support: Support,
    points: Points,
    kernel: Kernel,
    plan: Plan,
    rows: Rows,
    labels: Floats,
    costs: Floats,
    draws: Draws,
    work: Workspace,
    scores: Floats,
    start: int,
    stop: int,
) -> int:
    """Learn from the examples start..stop-1 in order, reporting the score of each before it was learned.

    An example whose label is NaN is scored only. Returns the number of the first example not learned: smaller than
    `stop` only if an unbounded room is full, in which case the caller makes it larger and goes on.
    """
    for t in range(start, stop):
        y = labels[t]
        if plan.policy == UNBOUNDED and not math.isnan(y) and is_full(support, POSITIVE if y > 0.0 else NEGATIVE):
            return t
        norm = squared_norm(rows, t)
        fill_row(support, points, kernel, rows, t, norm, work)
        if math.isnan(y):
            scores[t] = finite(value(support, work.row))
            continue
        itself = self_similarity(kernel, norm)
        score, _, slot = step(support, plan, work.row, itself, y, costs[t], draws, work.ledger, work.chosen)
        if slot != NOT_STORED:
            set_clock(points, support.tally[SEEN, POSITIVE] + support.tally[SEEN, NEGATIVE])
            store(points, slot, rows, t, norm)
        scores[t] = score
    return stop


@compiled
def score_rows(support: Support, points: Points, kernel: Kernel, rows: Rows, work: Workspace, scores: Floats) -> None:
    """f(x) for every example."""
    for t in range(scores.size):
        fill_row(support, points, kernel, rows, t, squared_norm(rows, t), work)
        scores[t] = finite(value(support, work.row))


@compiled
def fill_row(
    support: Support, points: Points, kernel: Kernel, rows: Rows, t: int, norm: float, work: Workspace
) -> None:
    """work.row[i] = k(x_t, z_i) for every slot in use."""
    for part in range(2):
        start, stop = span(support, part)
        measure(points, rows, t, norm, start, stop, work.squares, work.dots, needs_dots(kernel))
        squares, dots, norms = (
            work.squares[start:stop],
            work.dots[start:stop],
            points.squared_norms[start:stop],
        )
        similarities(kernel, squares, dots, norms, norm, work.row[start:stop])
