"""The pairwise rule: which vectors of the opposite class are ranked wrongly against an example, and how badly.

For an example (x, y) and an opposite vector z_i the loss is l_i = max(0, 1 - y (f(x) - f(z_i))), or its square. The
rule acts on the k most similar of all violators l_i > 0, or only on the violators among the k nearest.

The k most similar are found without sorting, by bisection: how many are at least as similar as this? Counting is a
vector instruction for eight of them, while a list kept in order is a branch that the processor cannot foresee.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.aligned import aligned_zeros
from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.arithmetic.exponential import float_in_order, order_of
from lopsided.core.pairwise.support import SCALE, Support, occupied

HINGE, SQUARED_HINGE = range(2)
_OUT_OF_REACH = -math.inf  # the similarity of a vector that is not to be chosen
_LARGEST_ORDER = (1 << 63) - 1
_HALVINGS = 8  # after which most searches have ended


class Chosen(NamedTuple):
    """The opposite vectors that a step acts on, in the order of their slots, and the slopes of the loss.

    `candidates` is scratch: a similarity for each slot.
    """

    slots: Integers
    slopes: Floats
    candidates: Floats


def empty_chosen(k: int, slots: int) -> Chosen:
    """Room for k of so many slots, and one more behind them, where those that are not chosen are written."""
    return Chosen(np.zeros(k + 1, dtype=np.int64), np.zeros(k + 1), aligned_zeros(slots))


@compiled
def violators(
    support: Support,
    opposite: int,
    row: Floats,
    score: float,
    y: float,
    k: int,
    among_nearest: bool,
    chosen: Chosen,
) -> int:
    """Fill `chosen` with the slots of V; returns how many there are. Of equally similar ones the lowest slots win."""
    start, stop = occupied(support, opposite)
    candidates, similarities = chosen.candidates[: stop - start], row[start:stop]
    if among_nearest:
        for i in range(candidates.size):
            candidates[i] = similarities[i]
        return _keep_violators(support, chosen, _choose(chosen, candidates, start, k), score, y)
    scale, scores = support.levels[SCALE], support.scores[start:stop]
    for i in range(candidates.size):
        is_violator = 1.0 - y * (score - scale * scores[i]) > 0.0
        candidates[i] = similarities[i] if is_violator else _OUT_OF_REACH
    return _choose(chosen, candidates, start, k)


@compiled
def _choose(chosen: Chosen, candidates: Floats, start: int, k: int) -> int:
    """The slots of the k largest candidates within reach, or of all if there are fewer."""
    out_of_reach = order_of(_OUT_OF_REACH)
    n, largest, smallest = 0, out_of_reach, _LARGEST_ORDER
    for i in range(candidates.size):
        order = order_of(candidates[i])
        n += order > out_of_reach
        largest = max(largest, order)
        smallest = min(smallest, order if order > out_of_reach else _LARGEST_ORDER)
    if n <= k:
        return _collect(chosen, candidates, start, _OUT_OF_REACH, 0, k)
    # `n` > k are not below `low`, `above` < k not below `high`: by halves, until there are k or all others are equal.
    low, high, above, halvings = smallest, largest + 1, 0, 0
    while n > k and low + 1 < high:
        if halvings == _HALVINGS:  # far from each other, or equal: on to where there are candidates
            low, high, halvings = _closest(candidates, low, high, True), _closest(candidates, low, high, False) + 1, 0
            continue
        middle = (low >> 1) + (high >> 1) + (low & high & 1)  # their sum has more than 64 bits
        at_least = _at_least(candidates, middle)
        halvings += 1
        if at_least < k:
            high, above = middle, at_least
        else:
            low, n = middle, at_least
    if n == k:
        high, above = low if low != 0 else -1, k  # the next below 0 would be -0, which is not below it
    # Of those that are equal to the last one chosen, as many as there is room for.
    return _collect(chosen, candidates, start, float_in_order(high - 1), k - above, k)


@compiled
def _closest(candidates: Floats, low: int, high: int, from_below: bool) -> int:
    """The order of the smallest (`from_below`) or the largest candidate from `low` to below `high`."""
    smallest, largest, least, limit = high, low, float_in_order(low), float_in_order(high)
    for i in range(candidates.size):  # compared as they are counted: 0 and -0, which differ in their orders, are equal
        smallest = min(smallest, order_of(candidates[i]) if candidates[i] >= least else high)
        largest = max(largest, order_of(candidates[i]) if candidates[i] < limit else low)
    return smallest if from_below else largest


@compiled
def _at_least(candidates: Floats, order: int) -> int:
    limit = float_in_order(order)
    n = 0
    for i in range(candidates.size):
        n += candidates[i] >= limit
    return n


@compiled
def _collect(chosen: Chosen, candidates: Floats, start: int, limit: float, equals: int, most: int) -> int:
    """The slots of all candidates above the limit, and of the first so many that are equal to it: `most` together."""
    n, slots = 0, chosen.slots
    if equals == 0:
        for i in range(candidates.size):
            slots[n] = start + i
            n += candidates[i] > limit
        return n
    for i in range(candidates.size):
        if candidates[i] > limit or (candidates[i] == limit and equals > 0):
            equals -= candidates[i] == limit
            slots[n] = start + i
            n += 1
            if n == most:  # a narrow kernel finds all vectors equally far
                break
    return n


@compiled
def _keep_violators(support: Support, chosen: Chosen, n: int, score: float, y: float) -> int:
    kept = 0
    for q in range(n):
        slot = chosen.slots[q]
        if 1.0 - y * (score - support.levels[SCALE] * support.scores[slot]) > 0.0:
            chosen.slots[kept] = slot
            kept += 1
    return kept


@compiled
def slopes(support: Support, chosen: Chosen, n: int, score: float, y: float, loss: int) -> tuple[float, float]:
    """Fill `chosen.slopes` (1, or 2 l_i for the squared hinge); returns their sum and the sum of the losses."""
    for q in range(n):
        margin_loss = 1.0 - y * (score - support.levels[SCALE] * support.scores[chosen.slots[q]])
        chosen.slopes[q] = 1.0 if loss == HINGE else 2.0 * margin_loss
    total_slope = 0.0
    risk = 0.0
    for q in range(n):
        margin_loss = 1.0 - y * (score - support.levels[SCALE] * support.scores[chosen.slots[q]])
        risk += margin_loss if loss == HINGE else margin_loss * margin_loss
        total_slope += chosen.slopes[q]
    return total_slope, risk
