"""OILK: online imbalanced learning with kernels, one buffer for both classes (Yang, Hu, Lyu, King 2013)."""

from __future__ import annotations

import math
from typing import NamedTuple

from lopsided.core.arithmetic.compiled import Floats, compiled
from lopsided.core.arithmetic.draws import Draws
from lopsided.core.arithmetic.limits import LARGEST, NOT_STORED, finite
from lopsided.core.geometry.kernels import Kernel, self_similarity
from lopsided.core.geometry.points import Points, Rows, squared_norm, store, tick
from lopsided.core.pairwise.admission import admitted
from lopsided.core.pairwise.eviction import evicted
from lopsided.core.pairwise.koil import Workspace, fill_row
from lopsided.core.pairwise.support import (
    SCALE,
    SEEN,
    SIZE,
    SUPPORT_DIVERGED,
    USED,
    Ledger,
    Support,
    decay,
    is_full,
    occupied,
    put,
    settle,
    shift,
    take_out,
    value,
)
from lopsided.core.pairwise.violators import Chosen

ONLY_ROOM = 0


class OilkPlan(NamedTuple):
    """The parameters of OILK as numbers."""

    rate: float
    policy: int


@compiled
def oilk_step(
    support: Support,
    classes: Floats,
    plan: OilkPlan,
    row: Floats,
    itself: float,
    y: float,
    cost: float,
    draws: Draws,
    ledger: Ledger,
    chosen: Chosen,
) -> tuple[float, int]:
    """Learn from one example; returns f(x) before learning, and the slot in which the caller must store the point."""
    support.tally[SEEN, ONLY_ROOM] += 1
    score = value(support, row)
    hits = _hits(support, classes, score, y, chosen)
    amount = plan.rate * cost * y
    if not (abs(amount * hits) < LARGEST and itself < LARGEST):
        support.tally[SUPPORT_DIVERGED, ONLY_ROOM] += 1
        return finite(score), NOT_STORED

    decay(support, 1.0 - plan.rate)
    for q in range(hits):
        shift(support, ledger, chosen.slots[q], -amount)
    slot = _place(support, plan, row, draws, ledger)
    if slot != NOT_STORED:
        put(support, ledger, slot, row, itself, score * (1.0 - plan.rate), amount * hits)
        classes[slot] = y
    settle(support, ledger)
    return score, slot


@compiled
def _hits(support: Support, classes: Floats, score: float, y: float, chosen: Chosen) -> int:
    """The opposite vectors that are not ranked below (or above) the example by a margin of 1."""
    start, stop = occupied(support, ONLY_ROOM)
    n = 0
    for i in range(start, stop):
        if classes[i] != y and y * (score - support.levels[SCALE] * support.scores[i]) < 1.0:
            chosen.slots[n] = i
            n += 1
    return n


@compiled
def _place(support: Support, plan: OilkPlan, row: Floats, draws: Draws, ledger: Ledger) -> int:
    """A free slot, or one made free, or NOT_STORED; what leaves takes its weight with it."""
    tally = support.tally
    if not is_full(support, ONLY_ROOM):
        tally[USED, ONLY_ROOM] += 1
        return tally[USED, ONLY_ROOM] - 1
    if not admitted(plan.policy, tally[SIZE, ONLY_ROOM], tally[SEEN, ONLY_ROOM], draws):
        return NOT_STORED
    slot = evicted(plan.policy, support, ONLY_ROOM, draws)
    take_out(support, ledger, slot, row)
    return slot


@compiled
def oilk_run(
    support: Support,
    classes: Floats,
    points: Points,
    kernel: Kernel,
    plan: OilkPlan,
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

    An example whose label is NaN is scored only.
    """
    for t in range(start, stop):
        norm = squared_norm(rows, t)
        fill_row(support, points, kernel, rows, t, norm, work)
        if math.isnan(labels[t]):
            scores[t] = finite(value(support, work.row))
            continue
        tick(points)
        itself = self_similarity(kernel, norm)
        scores[t], slot = oilk_step(
            support, classes, plan, work.row, itself, labels[t], costs[t], draws, work.ledger, work.chosen
        )
        if slot != NOT_STORED:
            store(points, slot, rows, t, norm)
    return stop
