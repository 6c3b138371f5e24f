"""Whether a short memory ranks better than a long one, decided on every positive.

r is the share of the last negatives that a positive is ranked above, and v = 1 / (1 + (1 - r) n_- / n_+) the precision
among what is ranked that high, if all positives were; m = (r + v) / 2 looks at the whole ranking and at its top. With
d = m of the short memory minus the better m of the long one's answers, C <- clip(C + e (d - slack), 0, h) adds up
what the short memory has gained lately. A sum that goes up and down by chance and falls by mu = slack - mean d on
average goes beyond any h with a chance of about exp(-2 mu h / var d), so h is a multiple of var d / mu, and `least` at
the least. The short memory's share of the answer is 0.7 t sigmoid(12 C / h - 4 + a), so that the others always count
something; at C = h the case is closed: it should take the place of the long one. t is 1 until C / h has been above 1/4
and has come back below 1/20: a false alarm. After each of them the short memory counts a quarter of what it would have
counted, a twentieth at the least, and h is half as large again, eight times as large at the most, until a case is
closed. While the long memory ranks worse than it used to (below), t is 1 whatever there was before: something has
happened.

Positives often come in bursts (a storm, a stolen card), and those of a burst say the same thing many times. So the
caller says how much evidence e a positive is: 1 if the last one was half of the usual distance away or farther, and
less in proportion if it was nearer.

The long memory's own m is watched: its fall below the mean of the last few hundred, in deviations and beyond a quarter
of one, adds up to D. From 5 on, until it is below 1 again, is an alarm. That tells sooner that something has changed
than who is better now, where all rank badly. So a is 0 but on an alarm, and 6 at the most: in proportion to D from 3 to
7, and to G up to 1/2, which adds up e (d - mean d / 2) since D was 0. At rest G falls, because the short memory loses
as much as ever when the long one has a run of bad luck; after a change it rises.

There are changes that only trees can see, and trees cost time. So on an alarm young trees are fitted to the latest
rows. These are compared as the short memory is, by a sum of their own.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled

RING = 500  # negatives that a positive is compared with
# Rows of Gate.ring: scores by the answer of the long memory, by its ranker, by the short memory's, and by young trees.
ANSWER, LONG, SHORT, YOUNG = range(4)
# Entries of Gate.levels: C and h, the sum and number of d^2; number, sum and sum of squares of the long memory's m, and
# D; positives since D became large (0: it is not), and that at which young trees are fitted next; C of young trees;
# whether C has become large, and how often it has come to nothing; the sum of d; G; what is always left to
# the others (nothing in files from before it was).
EVIDENCE, LIMIT, SQUARES, COMPARED, MERITS, MERIT, MERIT_SQUARES, DECLINE, ALERTED, NEXT_YOUNG, OF_YOUNG = range(11)
RAISED, FALSE_ALARMS, GAINS, REGAINED, LEFT = 11, 12, 13, 14, 15
# Entries of Gate.tally: place of the next negative and how many there are; the same for young trees.
_PLACE, _FILLED, _YOUNG_PLACE, _YOUNG_FILLED = range(4)
_TIE = 1e-9  # scores are cut off at both ends: averages of such scores differ by rounding only
_SLACK, _LEAST, _RARELY = 0.01, 1.5, 0.8
_ENOUGH_NEGATIVES, _ENOUGH_COMPARISONS, _HALVED_AT = 20, 20, 1000.0
_MERITS_HALVED_AT, _LEAST_DEVIATION = 400.0, 0.1
_FALL_BY_CHANCE, _LARGEST_FALL = 0.25, 1.5  # one positive counts so many deviations at the most
_CALM, _SUSPICIOUS, _LARGEST_DECLINE = 1.0, 5.0, 10.0
PATIENT = 20.0  # positives since an alert after which the rows before it count little
_GIVEN_UP = 300.0  # positives after which it is too late to wait
_SLACK_OF_YOUNG, _LIMIT_OF_YOUNG = 0.05, 2.0
_LARGE, _NOTHING = 0.25, 0.05  # of C / h
_TRUST, _LEAST_TRUST = 0.25, 0.05  # what a false alarm leaves of the short memory's share, and all of them at least
_MORE, _MOST = 1.5, 8.0  # what it makes of the limit, and all of them at the most
_LEFT = 0.3
_ON_ALARM, _CLEAR = 6.0, 0.5  # a at the most, and the G from which on
_FALLING, _FALLEN = 3.0, 7.0  # the D from which on a is more than 0, and all of it


class Gate(NamedTuple):
    """The last scores of negatives, and what the comparisons have shown."""

    ring: Floats
    levels: Floats
    tally: Integers


def empty_gate() -> Gate:
    """Nothing compared yet: the long memory answers."""
    levels = np.zeros(LEFT + 1)
    levels[LIMIT], levels[LEFT] = _LEAST, _LEFT
    return Gate(np.zeros((YOUNG + 1, RING)), levels, np.zeros(_YOUNG_FILLED + 1, dtype=np.int64))


@compiled
def share_of_short(gate: Gate) -> float:
    """How much the short memory counts in the answer."""
    levels = gate.levels
    trust, alarm = 1.0, 0.0
    if levels[ALERTED] == 0.0:
        trust = max(_TRUST ** levels[FALSE_ALARMS], _LEAST_TRUST)
    else:
        fallen = (levels[DECLINE] - _FALLING) / (_FALLEN - _FALLING)
        alarm = _ON_ALARM * _within_one(fallen) * _within_one(levels[REGAINED] / _CLEAR)
    share = 1.0 / (1.0 + math.exp(4.0 - 12.0 * levels[EVIDENCE] / levels[LIMIT] - alarm))
    return (1.0 - levels[LEFT]) * trust * share


@compiled
def _within_one(value: float) -> float:
    return min(max(value, 0.0), 1.0)


@compiled
def is_decided(gate: Gate) -> bool:
    """Whether what is short should take the place of what is long."""
    return gate.levels[EVIDENCE] >= gate.levels[LIMIT] or gate.levels[OF_YOUNG] >= _LIMIT_OF_YOUNG


@compiled
def wants_young(gate: Gate) -> bool:
    """Whether young trees are worth a fit now: on alarm, and whenever positives since then have grown by a third."""
    levels = gate.levels
    return levels[ALERTED] > 0.0 and levels[DECLINE] >= _SUSPICIOUS and levels[ALERTED] >= levels[NEXT_YOUNG]


def young_fitted(gate: Gate) -> None:
    """Note that they were."""
    gate.levels[NEXT_YOUNG] = 1.0 + 4.0 / 3.0 * gate.levels[ALERTED]


@compiled
def compare(gate: Gate, y: float, answer: float, long: float, short: float, ratio: float, evidence: float) -> None:
    """One more row, with the scores that it was given and its label; `ratio` is that of negatives to positives."""
    n = gate.tally[_FILLED]
    if y > 0.0:
        if n >= _ENOUGH_NEGATIVES:
            own = _merit(gate.ring[ANSWER], n, answer, ratio)
            better = max(own, _merit(gate.ring[LONG], n, long, ratio))
            _add(gate, _merit(gate.ring[SHORT], n, short, ratio) - better, evidence)
            _watch(gate, own, evidence)
        return
    place = gate.tally[_PLACE]
    gate.ring[ANSWER, place], gate.ring[LONG, place], gate.ring[SHORT, place] = answer, long, short
    gate.tally[_PLACE] = (place + 1) % RING
    gate.tally[_FILLED] = min(n + 1, RING)


@compiled
def compare_young(gate: Gate, y: float, answer: float, young: float, ratio: float, evidence: float) -> None:
    """The same for young trees, where there are any; before `compare`."""
    n = gate.tally[_YOUNG_FILLED]
    if y < 0.0:
        place = gate.tally[_YOUNG_PLACE]
        gate.ring[YOUNG, place] = young
        gate.tally[_YOUNG_PLACE] = (place + 1) % RING
        gate.tally[_YOUNG_FILLED] = min(n + 1, RING)
    elif n >= _ENOUGH_NEGATIVES:
        own = _merit(gate.ring[ANSWER], gate.tally[_FILLED], answer, ratio)
        gain = _merit(gate.ring[YOUNG], n, young, ratio) - own
        gate.levels[OF_YOUNG] = max(0.0, gate.levels[OF_YOUNG] + evidence * (gain - _SLACK_OF_YOUNG))


def forget_young(gate: Gate) -> None:
    """There are no young trees any more."""
    gate.levels[OF_YOUNG] = 0.0
    gate.tally[_YOUNG_PLACE] = gate.tally[_YOUNG_FILLED] = 0


@compiled
def _merit(ring: Floats, n: int, score: float, ratio: float) -> float:
    """m of a positive with this score; a negative with the same score counts half."""
    above = 0.0
    for i in range(n):
        if ring[i] > score + _TIE:
            above += 1.0
        elif ring[i] >= score - _TIE:
            above += 0.5
    share = above / n
    return 0.5 * (1.0 - share) + 0.5 / (1.0 + share * ratio)


@compiled
def _forget_merits(levels: Floats) -> None:
    for i in (MERITS, MERIT, MERIT_SQUARES, DECLINE, ALERTED):
        levels[i] = 0.0


@compiled
def _watch(gate: Gate, merit: float, evidence: float) -> None:
    """How far the long memory has fallen below itself."""
    levels = gate.levels
    n = levels[MERITS]
    if n >= _ENOUGH_COMPARISONS:
        mean = levels[MERIT] / n
        deviation = max(_LEAST_DEVIATION, math.sqrt(max(levels[MERIT_SQUARES] / n - mean * mean, 0.0)))
        fall = min((mean - merit) / deviation, _LARGEST_FALL) - _FALL_BY_CHANCE
        levels[DECLINE] = min(max(0.0, levels[DECLINE] + evidence * fall), _LARGEST_DECLINE)
    if levels[ALERTED] > 0.0:
        levels[ALERTED] += 1.0
        if levels[ALERTED] > _GIVEN_UP:  # it is as it is
            _forget_merits(levels)
        elif levels[DECLINE] < _CALM:
            levels[ALERTED] = 0.0
        return
    if levels[DECLINE] >= _SUSPICIOUS:
        levels[ALERTED], levels[NEXT_YOUNG] = 1.0, 0.0
    levels[MERITS] += 1.0
    levels[MERIT] += merit
    levels[MERIT_SQUARES] += merit * merit
    if levels[MERITS] >= _MERITS_HALVED_AT:
        for i in (MERITS, MERIT, MERIT_SQUARES):
            levels[i] *= 0.5


@compiled
def _add(gate: Gate, gain: float, evidence: float) -> None:
    levels = gate.levels
    levels[SQUARES] += gain * gain
    levels[GAINS] += gain
    levels[COMPARED] += 1.0
    mean = levels[GAINS] / levels[COMPARED]
    if levels[DECLINE] > 0.0:
        levels[REGAINED] += evidence * (gain - 0.5 * mean)
    else:
        levels[REGAINED] = 0.0
    if levels[COMPARED] >= _ENOUGH_COMPARISONS:
        variance = levels[SQUARES] / levels[COMPARED] - mean * mean
        limit = max(_LEAST, _RARELY * variance / (_SLACK + max(0.0, -mean)))
        levels[LIMIT] = limit * min(_MORE ** levels[FALSE_ALARMS], _MOST)
    levels[EVIDENCE] = min(max(0.0, levels[EVIDENCE] + evidence * (gain - _SLACK)), levels[LIMIT])
    share = levels[EVIDENCE] / levels[LIMIT]
    if share > _LARGE:
        levels[RAISED] = 1.0
    elif share < _NOTHING and levels[RAISED] > 0.0:
        levels[RAISED] = 0.0
        levels[FALSE_ALARMS] += 1.0
    if levels[COMPARED] >= _HALVED_AT:
        levels[SQUARES] *= 0.5
        levels[GAINS] *= 0.5
        levels[COMPARED] *= 0.5


@compiled
def close_case(gate: Gate) -> None:
    """The short memory has become the long one: both have given the same scores, and nothing speaks for either."""
    gate.levels[EVIDENCE] = gate.levels[RAISED] = gate.levels[FALSE_ALARMS] = 0.0
    gate.levels[LEFT] = _LEFT
    _forget_merits(gate.levels)
    for i in range(RING):
        gate.ring[ANSWER, i] = gate.ring[LONG, i] = gate.ring[SHORT, i]
