"""One support set: weights, Gram matrix, and the score of every support point kept current.

f(x) = sum_i weight_i k(z_i, x). Keeping f(z_i) cached turns the O(slots^2) kernel evaluations of a step into a few
vector additions, at one price: whoever changes a weight must move the scores too. So weights are written here only,
through a ledger: `shift`, `put` and `take_out` change a weight and note it, `settle` then brings all scores up to date
in one fused pass.

Decay multiplies every weight and so every score; one global scale does both in O(1): true weight = scale * weights[i],
true f(z_i) = scale * scores[i].

Slots come in rooms, one a class (positives first) or one for both. A slot keeps its number while it is occupied.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.aligned import aligned_zeros
from lopsided.core.arithmetic.compiled import Floats, Integers, compiled

# Rows of Support.tally; its two columns are the rooms.
START, SIZE, USED, SEEN, NEXT, SUPPORT_DIVERGED = range(6)
# Entries of Support.levels.
SCALE, LARGEST_SELF_SIMILARITY = range(2)
# Below this the scale is folded into the weights, long before it would underflow.
_SMALLEST_SCALE = 1e-100
_SMALLEST_NORMAL = 2.3e-308


_GROUP = 4  # changes that are brought into the scores in one pass


class Support(NamedTuple):
    """The arrays of one expansion. The last row of `gram` is scratch: the row of a vector that was taken out."""

    weights: Floats
    scores: Floats
    gram: Floats
    levels: Floats
    tally: Integers


class Ledger(NamedTuple):
    """Changes of weight not yet in the scores: `amounts[q]` times row `slots[q]` of the Gram matrix.

    `length[0]` is how many there are. Behind it there may be a mark for each row of the Gram matrix that is surely 1 on
    the diagonal and 0 elsewhere, so that it need not be fetched: the vectors of a narrow kernel do not know each other.
    """

    slots: Integers
    amounts: Floats
    length: Integers


def empty_support(rooms: tuple[int, int]) -> Support:
    """A support set with so many slots for each room (the second may be 0: one room for both classes)."""
    slots = sum(rooms)
    levels = np.array([1.0, 0.0])
    tally = np.zeros((6, 2), dtype=np.int64)
    tally[START] = 0, rooms[0]
    tally[SIZE] = rooms
    return Support(aligned_zeros(slots), aligned_zeros(slots), aligned_zeros(slots + 1, slots), levels, tally)


def empty_ledger(capacity: int) -> Ledger:
    """A ledger for so many changes a step, and those of 0 that fill it up to whole groups."""
    capacity += -capacity % _GROUP
    return Ledger(np.zeros(capacity, dtype=np.int64), np.zeros(capacity), np.zeros(1, dtype=np.int64))


@compiled
def occupied(support: Support, room: int) -> tuple[int, int]:
    """The slots in use, as start and stop."""
    start = support.tally[START, room]
    return start, start + support.tally[USED, room]


@compiled
def span(support: Support, part: int) -> tuple[int, int]:
    """All slots in use, as two stretches (part 0 and 1), the second empty where they touch: long loops run fastest."""
    start, stop = occupied(support, part)
    other_start, other_stop = occupied(support, 1 - part)
    if part == 0 and stop == other_start:
        return start, other_stop
    if part == 1 and other_stop == start:
        return stop, stop
    return start, stop


@compiled
def is_full(support: Support, room: int) -> bool:
    """Whether no slot of the room is free."""
    return support.tally[USED, room] == support.tally[SIZE, room]


@compiled
def value(support: Support, row: Floats) -> float:
    """f(x), given the row k(x, z_i)."""
    return support.levels[SCALE] * _weighted_sum(support, row)


@compiled
def _weighted_sum(support: Support, row: Floats) -> float:
    total = 0.0
    for part in range(2):
        start, stop = span(support, part)
        weights, similarities = support.weights[start:stop], row[start:stop]
        for i in range(weights.size):
            # Nothing is lost, and a product of a subnormal number can take a hundred times as long as another.
            total += weights[i] * (similarities[i] if abs(similarities[i]) > _SMALLEST_NORMAL else 0.0)
    return total


@compiled
def decay(support: Support, factor: float) -> None:
    """Multiply every weight, and so every score, by the factor."""
    support.levels[SCALE] *= factor
    if support.levels[SCALE] < _SMALLEST_SCALE:
        for i in range(support.weights.size):
            support.weights[i] *= support.levels[SCALE]
        support.levels[SCALE] = 1.0
        refresh(support)


@compiled
def refresh(support: Support) -> None:
    """Recompute the cached scores from the Gram matrix, which removes whatever rounding has gathered."""
    for room in range(2):
        start, stop = occupied(support, room)
        for i in range(start, stop):
            support.scores[i] = _weighted_sum(support, support.gram[i])


@compiled
def is_lonely(ledger: Ledger, gram_row: int) -> bool:
    """Whether a row of the Gram matrix is marked as 1 on the diagonal and 0 elsewhere."""
    return ledger.length.size > 1 and ledger.length[1 + gram_row] != 0


@compiled
def _mark_newcomer(support: Support, ledger: Ledger, slot: int, row: Floats, itself: float) -> bool:
    """Mark the row of a newcomer, and unmark those that it is similar to; whether the row is as it was before."""
    was_lonely, met = is_lonely(ledger, slot), 0
    if ledger.length.size == 1:
        return False
    marks = ledger.length[1:]
    for part in range(2):
        start, stop = span(support, part)
        for i in range(start, stop):
            if row[i] != 0.0 and i != slot:
                marks[i], met = 0, met + 1
    marks[slot] = 1 if met == 0 and itself == 1.0 else 0
    return was_lonely and marks[slot] == 1


@compiled
def note(ledger: Ledger, gram_row: int, amount: float) -> None:
    """Enter a change into the ledger."""
    n = ledger.length[0]
    ledger.slots[n] = gram_row
    ledger.amounts[n] = amount
    ledger.length[0] = n + 1


@compiled
def shift(support: Support, ledger: Ledger, slot: int, amount: float) -> None:
    """Add to the weight of a slot."""
    stored = amount / support.levels[SCALE]
    support.weights[slot] += stored
    note(ledger, slot, stored)


@compiled
def take_out(support: Support, ledger: Ledger, slot: int, row: Floats) -> float:
    """Empty a slot for a newcomer whose kernel row is `row`. Returns the weight that is left over.

    The Gram row of what left moves to the scratch row, its entry for the slot replaced by the similarity to the
    newcomer, so that it reads as a row of the support set as it will stand; changes noted for the slot move along.
    """
    scratch = support.gram.shape[0] - 1
    stored = support.weights[slot]
    for i in range(support.weights.size):
        support.gram[scratch, i] = support.gram[slot, i]
    support.gram[scratch, slot] = row[slot]
    if ledger.length.size > 1:
        ledger.length[1 + scratch] = is_lonely(ledger, slot) and row[slot] == 0.0
    support.weights[slot] = 0.0
    for q in range(ledger.length[0]):
        if ledger.slots[q] == slot:
            ledger.slots[q] = scratch
    note(ledger, scratch, -stored)
    return support.levels[SCALE] * stored


@compiled
def put(support: Support, ledger: Ledger, slot: int, row: Floats, itself: float, score: float, weight: float) -> None:
    """Write a newcomer into a free slot: its Gram row and column, its score so far, its weight."""
    gram = support.gram
    as_before = _mark_newcomer(support, ledger, slot, row, itself)
    for part in range(0 if as_before else 2):
        start, stop = span(support, part)
        own, similarities = gram[slot, start:stop], row[start:stop]
        for i in range(own.size):
            own[i] = similarities[i]
        for i in range(start, stop):
            gram[i, slot] = row[i]
    gram[slot, slot] = itself
    support.scores[slot] = score / support.levels[SCALE]
    support.weights[slot] = 0.0
    shift(support, ledger, slot, weight)


@compiled
def settle(support: Support, ledger: Ledger) -> None:
    """Bring the cached scores up to date: scores += sum_q amounts[q] gram[slots[q]], up to eight rows a pass."""
    if ledger.length.size > 1 and _settle_lonely(support, ledger):
        return
    for _ in range(-ledger.length[0] % _GROUP):
        note(ledger, ledger.slots[ledger.length[0] - 1], 0.0)
    scores, gram, slots, amounts, n = support.scores, support.gram, ledger.slots, ledger.amounts, ledger.length[0]
    # Over whole rows, also where slots are free: their similarities are 0, and views of parts would cost more.
    for q in range(0, n - 7, 8):
        r0, r1, r2, r3 = gram[slots[q]], gram[slots[q + 1]], gram[slots[q + 2]], gram[slots[q + 3]]
        r4, r5, r6, r7 = gram[slots[q + 4]], gram[slots[q + 5]], gram[slots[q + 6]], gram[slots[q + 7]]
        a0, a1, a2, a3 = amounts[q], amounts[q + 1], amounts[q + 2], amounts[q + 3]
        a4, a5, a6, a7 = amounts[q + 4], amounts[q + 5], amounts[q + 6], amounts[q + 7]
        for i in range(scores.size):
            scores[i] += ((a0 * r0[i] + a1 * r1[i]) + (a2 * r2[i] + a3 * r3[i])) + (
                (a4 * r4[i] + a5 * r5[i]) + (a6 * r6[i] + a7 * r7[i])
            )
    if n % 8:
        q = n - _GROUP
        r0, r1, r2, r3 = gram[slots[q]], gram[slots[q + 1]], gram[slots[q + 2]], gram[slots[q + 3]]
        a0, a1, a2, a3 = amounts[q], amounts[q + 1], amounts[q + 2], amounts[q + 3]
        for i in range(scores.size):
            scores[i] += (a0 * r0[i] + a1 * r1[i]) + (a2 * r2[i] + a3 * r3[i])
    ledger.length[0] = 0


@compiled
def _settle_lonely(support: Support, ledger: Ledger) -> bool:
    """The same, bit by bit, if all rows are marked: each changes one score, that of what was taken out none."""
    n, scratch = ledger.length[0], support.gram.shape[0] - 1
    for q in range(n):
        if not is_lonely(ledger, ledger.slots[q]):
            return False
    for q in range(n):
        if ledger.slots[q] != scratch:
            support.scores[ledger.slots[q]] += ledger.amounts[q]
    ledger.length[0] = 0
    return True
