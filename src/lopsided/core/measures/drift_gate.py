"""Whether a short memory ranks better than a long one, decided on every positive.

r is the share of the last negatives that a positive is ranked above, and v = 1 / (1 + (1 - r) n_- / n_+) the precision
among what is ranked that high, if all positives were; m = (r + v) / 2 looks at the whole ranking and at its top. With
d = m of the short memory minus the better m of the long one's answers, C <- clip(C + d - slack, 0, h) adds up what the
short memory has gained lately, with h = max(least, noise mean d^2), so that a noisy comparison needs more of it. The
short memory's share of the answer is sigmoid(12 C / h - 4); at C = h the case is closed: it should take the place of
the long one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled

RING = 500  # negatives that a positive is compared with
# Rows of Gate.ring: scores by the answer of the long memory, by its ranker, and by the short memory's.
ANSWER, LONG, SHORT = range(3)
# Entries of Gate.levels: C and h, the sum and number of d^2; of Gate.tally: place of the next negative, how many.
EVIDENCE, LIMIT, SQUARES, COMPARED = range(4)
_PLACE, _FILLED = range(2)
_TIE = 1e-9  # scores are cut off at both ends: averages of such scores differ by rounding only
_SLACK, _LEAST, _NOISE = 0.01, 1.5, 80.0
_ENOUGH_NEGATIVES, _ENOUGH_COMPARISONS, _HALVED_AT = 20, 20, 1000.0


class Gate(NamedTuple):
    """The last scores of negatives, and what the comparisons have shown."""

    ring: Floats
    levels: Floats
    tally: Integers


def empty_gate() -> Gate:
    """Nothing compared yet: the long memory answers."""
    return Gate(np.zeros((3, RING)), np.array([0.0, _LEAST, 0.0, 0.0]), np.zeros(2, dtype=np.int64))


@compiled
def share_of_short(gate: Gate) -> float:
    """How much the short memory counts in the answer."""
    return 1.0 / (1.0 + math.exp(4.0 - 12.0 * gate.levels[EVIDENCE] / gate.levels[LIMIT]))


@compiled
def is_decided(gate: Gate) -> bool:
    """Whether the short memory should take the place of the long one."""
    return gate.levels[EVIDENCE] >= gate.levels[LIMIT]


@compiled
def compare(gate: Gate, y: float, answer: float, long: float, short: float, ratio: float) -> None:
    """One more row, with the scores that it was given and its label; `ratio` is that of negatives to positives."""
    if y > 0.0:
        if gate.tally[_FILLED] >= _ENOUGH_NEGATIVES:
            better = max(_merit(gate, ANSWER, answer, ratio), _merit(gate, LONG, long, ratio))
            _add(gate, _merit(gate, SHORT, short, ratio) - better)
        return
    place = gate.tally[_PLACE]
    gate.ring[ANSWER, place], gate.ring[LONG, place], gate.ring[SHORT, place] = answer, long, short
    gate.tally[_PLACE] = (place + 1) % RING
    gate.tally[_FILLED] = min(gate.tally[_FILLED] + 1, RING)


@compiled
def _merit(gate: Gate, which: int, score: float, ratio: float) -> float:
    """m of a positive with this score; a negative with the same score counts half."""
    ring, n, above = gate.ring[which], gate.tally[_FILLED], 0.0
    for i in range(n):
        if ring[i] > score + _TIE:
            above += 1.0
        elif ring[i] >= score - _TIE:
            above += 0.5
    share = above / n
    return 0.5 * (1.0 - share) + 0.5 / (1.0 + share * ratio)


@compiled
def _add(gate: Gate, gain: float) -> None:
    levels = gate.levels
    levels[SQUARES] += gain * gain
    levels[COMPARED] += 1.0
    if levels[COMPARED] >= _ENOUGH_COMPARISONS:
        levels[LIMIT] = max(_LEAST, _NOISE * levels[SQUARES] / levels[COMPARED])
    levels[EVIDENCE] = min(max(0.0, levels[EVIDENCE] + gain - _SLACK), levels[LIMIT])
    if levels[COMPARED] >= _HALVED_AT:
        levels[SQUARES] *= 0.5
        levels[COMPARED] *= 0.5


@compiled
def close_case(gate: Gate) -> None:
    """The short memory has become the long one: both have given the same scores, and nothing speaks for either."""
    gate.levels[EVIDENCE] = 0.0
    for i in range(RING):
        gate.ring[ANSWER, i] = gate.ring[LONG, i] = gate.ring[SHORT, i]
