"""A cut that a given share of a stream of scores exceeds, whatever the scores do: a recent quantile and feedback.

The cut is a quantile of the latest scores, but of a share that is corrected: every score above the cut lowers it a
little, every other one raises it. So many scores above the cut as were asked for is the only state in which it rests,
and the sum of all corrections bounds how far the count can be off (adaptive conformal inference, Gibbs and Candès,
2021). Where many scores are the same, as those of voters, and the share ends among them, part of them is above: one
in so many, in its turn.

There are two ways to use it. `cut_of` says where the next score is cut, before it is known, and `follow_share` goes on
when it is. `decide_share` decides on scores that are there, and then no stream of scores whatsoever can get away with
more alerts than its bound, or fewer.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled

Flags = npt.NDArray[np.bool_]

WINDOW = 1024  # scores that the quantile is of
STEP = 0.2  # of the logarithm of the corrected share, for one score above the cut
FURTHEST = 4.0  # below zero: where that logarithm stops. Above it stops where everything is flagged.
_TAIL = 16  # scores from which it is known how fast they get rarer
_SLACK = 1e-9  # by which a bound is passed: sums that meet it exactly, but for their last digits, are within it


class ShareAbove(NamedTuple):
    """The latest scores in their order (a ring) and ranked, how many there have been, and what the share has become."""

    ring: Floats
    ranked: Floats
    tally: Integers  # one number
    levels: Floats  # the share that is asked for, the logarithm of what it is multiplied by, what is owed to ties


SHARE, CORRECTION, OWED = range(3)


class _Border(NamedTuple):
    """Where the share ends among the latest scores."""

    cut: float  # scores above it are above
    level: float  # if there are ties at the border: their score
    part: float  # and which part of them is above; 0 without ties


def empty_share_above(share: float) -> ShareAbove:
    """Before the first score."""
    return ShareAbove(np.zeros(WINDOW), np.zeros(WINDOW), np.zeros(1, dtype=np.int64), np.array([share, 0.0, 0.0]))


def furthest_up(share: float) -> float:
    """The correction with which everything is above the cut."""
    return -math.log(share)


@compiled
def cut_of(state: ShareAbove) -> float:
    """Where the next score is cut."""
    return _border_of(state).cut if state.tally[0] > 0 else 0.0


@compiled
def follow_share(state: ShareAbove, scores: Floats) -> None:
    """Go on with more scores, in their order, each of which was cut by `cut_of`."""
    for score in scores:
        if state.tally[0] > 0:
            border = _border_of(state)
            _correct(state, border, score, score > border.cut)
        take_score(state, score)


@compiled
def decide_share(state: ShareAbove, scores: Floats, flagged: Flags) -> None:
    """Decide on scores, in their order: by the cut, but never beyond the bounds of the correction.

    The very first score of all is not flagged: there is nothing to compare it with.
    """
    share = state.levels[SHARE]
    for i in range(scores.size):
        is_above = False
        if state.tally[0] > 0:
            border, correction = _border_of(state), state.levels[CORRECTION]
            is_above = scores[i] > border.cut
            if correction + STEP * share > -math.log(share) + _SLACK:
                is_above = True
            elif correction - STEP * (1.0 - share) < -FURTHEST - _SLACK:
                is_above = False
            _correct(state, border, scores[i], is_above)
        flagged[i] = is_above
        take_score(state, scores[i])


@compiled
def _border_of(state: ShareAbove) -> _Border:
    n, ranked = min(state.tally[0], state.ring.size), state.ranked
    highest, lowest = ranked[n - 1], ranked[0]
    place = state.levels[SHARE] * math.exp(state.levels[CORRECTION]) * (n + 1)  # as the so-many-th from above
    above = int(place)
    if above >= n:  # below all of them
        return _Border(min(lowest - (highest - lowest) / n, np.nextafter(lowest, -np.inf)), 0.0, 0.0)
    if n == 1:
        return _Border(highest, 0.0, 0.0)
    inner = max(above, 1)
    upper, lower = ranked[n - inner], ranked[n - inner - 1]
    if upper == lower:
        first, after = _first_not_below(ranked, n, upper), _first_above(ranked, n, upper)
        part = (place - (n - after)) / (after - first + 1)
        is_their_turn = state.levels[OWED] + part >= 1.0 - _SLACK
        return _Border(np.nextafter(upper, -np.inf) if is_their_turn else upper, upper, part)
    if above == 0:  # rarer than the window shows: the tail goes on as it has begun, exponentially
        depth = min(_TAIL, n - 1)
        fall = (highest - ranked[n - 1 - depth]) / math.log(depth + 1.0)
        return _Border(highest - fall * math.log(place), 0.0, 0.0)
    return _Border(upper + (place - above) * (lower - upper), 0.0, 0.0)


@compiled
def _correct(state: ShareAbove, border: _Border, score: float, is_above: bool) -> None:
    """What a decision leaves behind."""
    levels, counted = state.levels, 1.0 if is_above else 0.0
    moved = levels[CORRECTION] + STEP * (levels[SHARE] - counted)
    levels[CORRECTION] = min(max(moved, -FURTHEST), -math.log(levels[SHARE]))
    if border.part > 0.0 and score == border.level:
        levels[OWED] = min(max(levels[OWED] + border.part - counted, 0.0), 1.0)


@compiled
def take_score(state: ShareAbove, score: float) -> None:
    """Put a score into the window, in place of the oldest if that is full; nothing is decided."""
    count, ranked, size = state.tally[0], state.ranked, state.ring.size
    slot = count % size
    place = min(count, size)
    if count >= size:
        place = _first_not_below(ranked, size, state.ring[slot])
    # The gap at `place` wanders to where the new score belongs.
    while place > 0 and ranked[place - 1] > score:
        ranked[place] = ranked[place - 1]
        place -= 1
    last = min(count, size - 1)
    while place < last and ranked[place + 1] < score:
        ranked[place] = ranked[place + 1]
        place += 1
    ranked[place] = score
    state.ring[slot] = score
    state.tally[0] = count + 1


@compiled
def _first_not_below(ranked: Floats, n: int, score: float) -> int:
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if ranked[middle] < score:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _first_above(ranked: Floats, n: int, score: float) -> int:
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if ranked[middle] <= score:
            low = middle + 1
        else:
            high = middle
    return low
