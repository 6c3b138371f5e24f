"""A cut that a given share of a stream of scores exceeds, whatever the scores do: a recent quantile and feedback.

The cut is a quantile of the latest scores, but of a share that is corrected: every score above the cut lowers it a
little, every other one raises it. So many scores above the cut as were asked for is the only state in which it rests,
and the sum of all corrections bounds how far the count can be off (adaptive conformal inference, Gibbs and Candès,
2021).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled

WINDOW = 512  # scores that the quantile is of
STEP = 0.1  # of the logarithm of the corrected share, for one score above the cut
FURTHEST = 3.0  # where that logarithm stops, to either side
_TAIL = 16  # scores from which it is known how fast they get rarer


class ShareAbove(NamedTuple):
    """The latest scores in their order (a ring) and ranked, how many there have been, the share and its correction."""

    ring: Floats
    ranked: Floats
    tally: Integers  # one number
    levels: Floats  # the share that is asked for, and the logarithm of what it is multiplied by


SHARE, CORRECTION = range(2)


def empty_share_above(share: float) -> ShareAbove:
    """Before the first score."""
    return ShareAbove(np.zeros(WINDOW), np.zeros(WINDOW), np.zeros(1, dtype=np.int64), np.array([share, 0.0]))


@compiled
def cut_of(state: ShareAbove) -> float:
    """Where the next score is cut."""
    n = min(state.tally[0], WINDOW)
    if n == 0:
        return 0.0
    highest = state.ranked[n - 1]
    place = state.levels[SHARE] * math.exp(state.levels[CORRECTION]) * (n + 1)  # as the so-many-th from above
    if place < 1.0:  # rarer than the window shows: the tail goes on as it has begun, exponentially
        depth = min(_TAIL, n - 1)
        if depth == 0:
            return highest
        return highest - (highest - state.ranked[n - 1 - depth]) / math.log(depth + 1.0) * math.log(place)
    above = int(place)
    if above >= n:
        return state.ranked[0] - (highest - state.ranked[0]) / n
    return state.ranked[n - above] + (place - above) * (state.ranked[n - above - 1] - state.ranked[n - above])


@compiled
def follow_share(state: ShareAbove, scores: Floats) -> None:
    """Go on with more scores, in their order."""
    for score in scores:
        if state.tally[0] > 0:
            was_above = 1.0 if score > cut_of(state) else 0.0
            moved = state.levels[CORRECTION] + STEP * (state.levels[SHARE] - was_above)
            state.levels[CORRECTION] = min(max(moved, -FURTHEST), FURTHEST)
        _take(state, score)


@compiled
def _take(state: ShareAbove, score: float) -> None:
    """Put a score into the window, in place of the oldest if that is full."""
    count, ranked = state.tally[0], state.ranked
    slot = count % WINDOW
    place = min(count, WINDOW)
    if count >= WINDOW:
        place = np.searchsorted(ranked, state.ring[slot])
    # The gap at `place` wanders to where the new score belongs.
    while place > 0 and ranked[place - 1] > score:
        ranked[place] = ranked[place - 1]
        place -= 1
    last = min(count, WINDOW - 1)
    while place < last and ranked[place + 1] < score:
        ranked[place] = ranked[place + 1]
        place += 1
    ranked[place] = score
    state.ring[slot] = score
    state.tally[0] = count + 1
