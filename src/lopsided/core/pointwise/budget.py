"""Where a newcomer of an expansion lives: who leaves a full one, and what becomes of the weight left over.

| learner | who leaves | repair |
|---|---|---|
| RBP | a uniform one | drop |
| NORMA with a cap, BOGD | the oldest | drop |
| BOGD, uniform | a uniform one | rescale what stays |
| Forgetron | the oldest | shrink everything first, so that its leaving does little damage |
| BPA-S | the one that does least damage | project it on the newcomer |
"""

from __future__ import annotations

import math
from typing import NamedTuple

from lopsided.core.arithmetic.compiled import Floats, compiled
from lopsided.core.pointwise.expansion import MISTAKES, SCALE, SPENT, USED, Expansion, append, remove, shrink

NOBODY, UNIFORM, OLDEST, LEAST_DAMAGE = range(4)
DROP, RESCALE, SHRINK_FIRST, PROJECT_ON_NEWCOMER = range(4)
# A Forgetron may spend this share of its mistakes on damage; BOGD's uniform removal keeps weights below 10 steps.
_FORGETRON_SHARE = 15.0 / 32.0
_MOST_STEPS = 10.0


class Budget(NamedTuple):
    """Size (0: none), who leaves, what of the weight."""

    size: int
    eviction: int
    repair: int


@compiled
def put_newcomer(
    expansion: Expansion,
    budget: Budget,
    is_full: bool,
    row: Floats,
    itself: float,
    weight: float,
    y: float,
    u: float,
    rate: float,
    oldest_score: float,
) -> int:
    """Find the newcomer a slot; returns it. `oldest_score`, f at the oldest vector, is read by SHRINK_FIRST only."""
    if not is_full:
        slot = expansion.tally[USED]
        append(expansion, slot, weight, itself, y)
        return slot
    if budget.repair == SHRINK_FIRST:
        weight *= _shrink_before_removal(expansion, row, weight, oldest_score)
    elif budget.repair == RESCALE and expansion.tally[USED] > 1:
        shrink(expansion, expansion.tally[USED] / (expansion.tally[USED] - 1.0))
    position = _leaving(expansion, budget, row, itself, u)
    if budget.repair == PROJECT_ON_NEWCOMER and itself > 0.0:
        leaving = expansion.order[position]
        weight += expansion.levels[SCALE] * expansion.weights[leaving] * row[leaving] / itself
    slot = remove(expansion, position)
    append(expansion, slot, weight, itself, y)
    if budget.repair == RESCALE:
        shrink(expansion, min(1.0, rate * _MOST_STEPS / _largest_weight(expansion)))
    return slot


@compiled
def _leaving(expansion: Expansion, budget: Budget, row: Floats, itself: float, u: float) -> int:
    """The position in the order of the vector that makes place."""
    if budget.eviction == UNIFORM:
        return int(u * expansion.tally[USED])
    if budget.eviction == LEAST_DAMAGE:
        return _least_damage(expansion, row, itself)
    return 0


@compiled
def _least_damage(expansion: Expansion, row: Floats, itself: float) -> int:
    """argmin_i a_i^2 (k(z_i, z_i) - k(x, z_i)^2 / k(x, x)), the oldest among equals."""
    best, least = 0, math.inf
    for position in range(expansion.tally[USED]):
        i = expansion.order[position]
        explained = row[i] * row[i] / itself if itself > 0.0 else 0.0
        damage = expansion.weights[i] * expansion.weights[i] * (expansion.self_similarities[i] - explained)
        if damage < least:
            best, least = position, damage
    return best


@compiled
def _shrink_before_removal(expansion: Expansion, row: Floats, weight: float, oldest_score: float) -> float:
    """Multiply all weights by the largest phi <= 1 at which losing the oldest stays affordable; returns phi.

    With d = |a_r| and mu = sign(a_r) f'(z_r), f' including the newcomer, the removal costs
    (d phi)^2 + 2 d phi (1 - phi mu), and all removals together at most 15/32 of the mistakes.
    """
    oldest = expansion.order[0]
    a = expansion.levels[SCALE] * expansion.weights[oldest]
    d, sign = abs(a), (1.0 if a > 0.0 else (-1.0 if a < 0.0 else 0.0))
    mu = sign * (oldest_score + weight * row[oldest])
    square, linear = d * d - 2.0 * d * mu, 2.0 * d
    constant = expansion.levels[SPENT] - _FORGETRON_SHARE * expansion.tally[MISTAKES]
    phi = 1.0
    if square + linear + constant > 0.0:
        phi = -2.0 * constant / (linear + math.sqrt(linear * linear - 4.0 * square * constant))
    shrink(expansion, phi)
    expansion.levels[SPENT] += (d * phi) ** 2 + 2.0 * d * phi * (1.0 - phi * mu)
    return phi


@compiled
def _largest_weight(expansion: Expansion) -> float:
    largest = 0.0
    for i in range(expansion.tally[USED]):
        largest = max(largest, abs(expansion.weights[i]))
    return abs(expansion.levels[SCALE]) * largest
