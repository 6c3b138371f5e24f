"""When features leave the scale that a ranker has given them, and the rows from which it can begin anew.

Sums over encoded rows cannot be carried over to another scale: every wave changes. So a bounded sample of rows is kept
by class, as they came. Which rows are in it follows from their numbers in the stream alone, so that nothing is drawn
from a generator that others use.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.geometry.points import Rows
from lopsided.core.sampling.priority import Sample, age, empty_sample, offer
from lopsided.core.trees.forest import lay_out

FIRST_LOOK = 400  # rows after which the scale is looked at again, then at every doubling
# Entries of Renewal.tally: rows at the last look, whether the next is due, and whether the scale is held for good.
LOOKED, LOOK_DUE, HELD = range(3)
# Rows of Renewal.spread, by feature, since the last look: sums and sums of squares of differences from the centre, and
# of standardised values, which are limited in size: no single row can make a feature leave its scale.
SUM, SQUARES, LIMITED_SUM, LIMITED_SQUARES = range(4)

_MIX_1, _MIX_2 = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
_SHIFT, _TO_53_BITS = np.uint64(33), np.uint64(11)


class Renewal(NamedTuple):
    """Rows by class as they came; where features lie since the last look."""

    positives: Sample
    negatives: Sample
    spread: Floats
    tally: Integers


def empty_renewal(n_positives: int, n_negatives: int, n_features: int) -> Renewal:
    """Nothing seen. Without room for rows the scale is held from the beginning."""
    tally = np.zeros(3, dtype=np.int64)
    tally[HELD] = n_negatives == 0
    width = n_features if n_negatives else 0
    samples = empty_sample(n_positives, width), empty_sample(n_negatives, width)
    return Renewal(*samples, np.zeros((4, width)), tally)


@compiled
def scattered(number: int) -> float:
    """A number of [0, 1) for a row's place in the stream: the last mixing steps of MurmurHash3."""
    code = np.uint64(number + 1)
    code ^= code >> _SHIFT
    code *= _MIX_1
    code ^= code >> _SHIFT
    code *= _MIX_2
    code ^= code >> _SHIFT
    return np.float64(code >> _TO_53_BITS) * 2.0**-53


@compiled
def keep_row(
    renewal: Renewal, rows: Rows, t: int, y: float, weight: float, fade: float, number: int, x: Floats
) -> None:
    """Offer row t to the sample of its class; it is left in x as numbers by feature."""
    lay_out(rows, t, x)
    if fade < 1.0:
        age(renewal.positives, fade)
        age(renewal.negatives, fade)
    offer(renewal.positives if y > 0.0 else renewal.negatives, x, weight, 1.0, scattered(number), number)


@compiled
def note_spread(renewal: Renewal, centre: Floats, x: Floats, row: Floats) -> None:
    """Where the features of a row lie, as they came (x) and standardised (row)."""
    spread = renewal.spread
    for j in range(x.size):
        difference = x[j] - centre[j]
        spread[SUM, j] += difference
        spread[SQUARES, j] += difference * difference
        spread[LIMITED_SUM, j] += row[j]
        spread[LIMITED_SQUARES, j] += row[j] * row[j]


@compiled
def say_whether_to_look(renewal: Renewal, seen: int) -> None:
    """At every doubling of the stream."""
    if seen >= FIRST_LOOK and seen >= 2 * renewal.tally[LOOKED]:
        renewal.tally[LOOK_DUE] = 1
