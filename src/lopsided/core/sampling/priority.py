"""Priority sampling: the k rows of the largest priorities stand for a whole stream, without bias.

A row of mass m and importance w gets the priority q = m w / u with u uniform in (0, 1]. Kept are the k largest; tau is
the largest that was ever turned away. A kept row counts max(m, tau / w): the expectation of that, 0 for a row that is
not kept, is m, whatever w is. Important rows stay, unimportant ones are thinned, and sums stay right on average.

Old rows fade by letting new ones weigh more: with fade g the mass of a new row is 1/g times that of the one before it,
which leaves the order of priorities as fading would have; counts are divided by the mass of a new row when asked for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.arithmetic.draws import Draws, draw

# Entries of Sample.levels: tau, and the mass of a new row; of Sample.tally: rows kept, rows seen.
TAU, GROWTH = range(2)
KEPT, SEEN = range(2)
_LARGEST_GROWTH = 1e100


class Sample(NamedTuple):
    """A slot per row: its features, priority, mass, importance, and its number in the stream (from 0).

    `heap` holds the slots so that none has a smaller priority than the one at half its place: the first is the next
    to go.
    """

    rows: Floats
    priorities: Floats
    masses: Floats
    importances: Floats
    numbers: Integers
    heap: Integers
    levels: Floats
    tally: Integers


def empty_sample(size: int, n_features: int) -> Sample:
    """Room for so many rows."""
    return Sample(
        np.zeros((size, n_features)),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size, dtype=np.int64),
        np.zeros(size, dtype=np.int64),
        np.array([0.0, 1.0]),
        np.zeros(2, dtype=np.int64),
    )


@compiled
def offer(sample: Sample, x: Floats, weight: float, importance: float, u: float, number: int) -> int:
    """Offer a row; returns its slot, or -1 if it is turned away. u is uniform in [0, 1)."""
    sample.tally[SEEN] += 1
    mass = weight * sample.levels[GROWTH]
    return insert(sample, x, mass, importance, mass * importance / (1.0 - u), number)


@compiled
def insert(sample: Sample, x: Floats, mass: float, importance: float, priority: float, number: int) -> int:
    """Keep a row of this priority if it is among the largest; returns its slot, or -1."""
    n = sample.tally[KEPT]
    if priority <= sample.levels[TAU]:
        return -1
    if n < sample.heap.size:
        slot = n
        sample.tally[KEPT] = n + 1
        _rise(sample, n, slot, priority)
    else:
        slot = sample.heap[0] if n > 0 else -1
        if slot < 0 or priority <= sample.priorities[slot]:
            sample.levels[TAU] = priority
            return -1
        sample.levels[TAU] = sample.priorities[slot]
        _sink(sample, 0, slot, priority)
    sample.priorities[slot], sample.masses[slot] = priority, mass
    sample.importances[slot], sample.numbers[slot] = importance, number
    row = sample.rows[slot]
    for j in range(x.size):
        row[j] = x[j]
    return slot


@compiled
def _rise(sample: Sample, place: int, slot: int, priority: float) -> None:
    """Put a slot into the heap from below."""
    heap = sample.heap
    while place > 0:
        above = (place - 1) // 2
        if sample.priorities[heap[above]] <= priority:
            break
        heap[place] = heap[above]
        place = above
    heap[place] = slot


@compiled
def _sink(sample: Sample, place: int, slot: int, priority: float) -> None:
    """Put a slot into the heap from above."""
    heap, n = sample.heap, sample.tally[KEPT]
    while True:
        below = 2 * place + 1
        if below >= n:
            break
        if below + 1 < n and sample.priorities[heap[below + 1]] < sample.priorities[heap[below]]:
            below += 1
        if sample.priorities[heap[below]] >= priority:
            break
        heap[place] = heap[below]
        place = below
    heap[place] = slot


@compiled
def age(sample: Sample, fade: float) -> None:
    """One more row has passed: everything kept fades by this factor."""
    sample.levels[GROWTH] /= fade
    if sample.levels[GROWTH] > _LARGEST_GROWTH:
        shrink(sample, 1.0 / sample.levels[GROWTH])


@compiled
def shrink(sample: Sample, factor: float) -> None:
    """Multiply all masses and priorities, and the mass of a new row: what counts stays what it is."""
    sample.levels[TAU] *= factor
    sample.levels[GROWTH] *= factor
    for slot in range(sample.tally[KEPT]):
        sample.priorities[slot] *= factor
        sample.masses[slot] *= factor


@compiled
def count_of(sample: Sample, slot: int) -> float:
    """How many rows of weight 1, as of now, a kept row stands for."""
    return max(sample.masses[slot], sample.levels[TAU] / sample.importances[slot]) / sample.levels[GROWTH]


@compiled
def fill_counts(sample: Sample, counts: Floats) -> None:
    """The counts of all kept rows."""
    for slot in range(sample.tally[KEPT]):
        counts[slot] = count_of(sample, slot)


@compiled
def clear_sample(sample: Sample) -> None:
    """Keep nothing, and know of nothing that was turned away; the number of rows seen stays."""
    sample.tally[KEPT] = 0
    sample.levels[TAU], sample.levels[GROWTH] = 0.0, 1.0


@compiled
def adopt(sample: Sample, other: Sample, draws: Draws) -> None:
    """Go on from the rows of another sample: their counts become masses, and nothing has been turned away."""
    clear_sample(sample)
    seen = sample.tally[SEEN]
    for slot in range(other.tally[KEPT]):
        count, u = count_of(other, slot), draw(draws)
        if count > 0.0:
            offer(sample, other.rows[slot], count, other.importances[slot], u, other.numbers[slot])
    sample.tally[SEEN] = seen
