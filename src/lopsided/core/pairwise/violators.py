"""The pairwise rule: which vectors of the opposite class are ranked wrongly against an example, and how badly.

For an example (x, y) and an opposite vector z_i the loss is l_i = max(0, 1 - y (f(x) - f(z_i))), or its square. The
rule acts on the k most similar of all violators l_i > 0, or only on the violators among the k nearest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.pairwise.support import SCALE, Support, occupied

HINGE, SQUARED_HINGE = range(2)


class Chosen(NamedTuple):
    """The opposite vectors that a step acts on, most similar first: slots, similarities, slopes of the loss."""

    slots: Integers
    similarities: Floats
    slopes: Floats


def empty_chosen(k: int) -> Chosen:
    """Room for k of them, and one more for the vector that drops out of the list."""
    return Chosen(np.zeros(k + 1, dtype=np.int64), np.zeros(k + 1), np.zeros(k + 1))


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
    """Fill `chosen` with the slots of V and their similarities; returns how many there are."""
    scale = support.levels[SCALE]
    start, stop = occupied(support, opposite)
    n = 0
    for i in range(start, stop):
        if n == k and row[i] <= chosen.similarities[k - 1]:
            continue
        if among_nearest or 1.0 - y * (score - scale * support.scores[i]) > 0.0:
            n = _insert(chosen, n, k, i, row[i])
    if among_nearest:
        n = _keep_violators(support, chosen, n, score, y)
    return n


@compiled
def _insert(chosen: Chosen, n: int, k: int, slot: int, similarity: float) -> int:
    """Into the list sorted by falling similarity; behind its equals, so that the lowest slot wins a tie."""
    q = n
    while q > 0 and chosen.similarities[q - 1] < similarity:
        chosen.similarities[q] = chosen.similarities[q - 1]
        chosen.slots[q] = chosen.slots[q - 1]
        q -= 1
    chosen.similarities[q] = similarity
    chosen.slots[q] = slot
    return min(n + 1, k)


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
