"""A kernel expansion that scores an example when it is asked, and keeps nothing else current.

f(x) = sum_i weight_i k(z_i, x), the vectors numbered by slot without gaps, and in `order` by age. Learners that look at
one example at a time need f at that example only, so there is no Gram matrix here and no cache: memory grows with the
number of vectors, not with its square. (`support.py` is the other kind, for learners that compare pairs.)

One global scale shrinks all weights in O(1): true weight = scale * weights[i]. For the averaged classifier
f_avg = (1/t) sum_{j <= t} f_j a second number a vector suffices: a vector of weight a let in at step s is part of
f_{s+1}, f_{s+2}, ..., so its weight in the average is a (t - s) / t = a - b / t with b = a s.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled

# Entries of Expansion.tally.
USED, STEPS, MISTAKES, EXPANSION_DIVERGED, SCORED_POSITIVES, SCORED_NEGATIVES = range(6)
# Entries of Expansion.levels; SPENT is the damage that a Forgetron has done to itself.
SCALE, SPENT = range(2)
_SMALLEST_SCALE, _LARGEST_SCALE = 1e-100, 1e100  # beyond these the scale is folded into the weights


class Expansion(NamedTuple):
    """The arrays of one expansion, by slot: weight, b of the average, k(z, z), class; and the slots from old to new."""

    weights: Floats
    moments: Floats
    self_similarities: Floats
    signs: Floats
    order: Integers
    levels: Floats
    tally: Integers


def empty_expansion(capacity: int) -> Expansion:
    """Room for so many vectors."""
    return Expansion(
        weights=np.zeros(capacity),
        moments=np.zeros(capacity),
        self_similarities=np.zeros(capacity),
        signs=np.zeros(capacity),
        order=np.zeros(capacity, dtype=np.int64),
        levels=np.array([1.0, 0.0]),
        tally=np.zeros(6, dtype=np.int64),
    )


@compiled
def expansion_value(expansion: Expansion, row: Floats) -> float:
    """f(x), given the row k(x, z_i)."""
    weights, similarities = expansion.weights[: expansion.tally[USED]], row[: expansion.tally[USED]]
    total = 0.0
    for i in range(weights.size):
        total += weights[i] * similarities[i]
    return expansion.levels[SCALE] * total


@compiled
def averaged_value(expansion: Expansion, row: Floats, score: float, t: int) -> float:
    """The average of f_1 ... f_t at x, given f(x): F - H / t; 0 for no steps."""
    if t == 0:
        return 0.0
    moments, similarities = expansion.moments[: expansion.tally[USED]], row[: expansion.tally[USED]]
    total = 0.0
    for i in range(moments.size):
        total += moments[i] * similarities[i]
    return score - total / t


@compiled
def shrink(expansion: Expansion, factor: float) -> None:
    """Multiply every weight by the factor."""
    expansion.levels[SCALE] *= factor
    size = abs(expansion.levels[SCALE])
    if size < _SMALLEST_SCALE or size > _LARGEST_SCALE:
        for i in range(expansion.tally[USED]):
            expansion.weights[i] *= expansion.levels[SCALE]
        expansion.levels[SCALE] = 1.0


@compiled
def append(expansion: Expansion, slot: int, weight: float, itself: float, y: float) -> None:
    """A newcomer in a free slot (the next one, or one that was just left): it is the youngest."""
    expansion.weights[slot] = weight / expansion.levels[SCALE]
    expansion.moments[slot] = weight * expansion.tally[STEPS]
    expansion.self_similarities[slot] = itself
    expansion.signs[slot] = y
    expansion.order[expansion.tally[USED]] = slot
    expansion.tally[USED] += 1


@compiled
def remove(expansion: Expansion, position: int) -> int:
    """Take out the vector at this position of the order (0 is the oldest); returns its slot, to be filled at once."""
    slot = expansion.order[position]
    last = expansion.tally[USED] - 1
    for i in range(position, last):
        expansion.order[i] = expansion.order[i + 1]
    expansion.tally[USED] = last
    return slot
