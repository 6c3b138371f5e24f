"""AUROC of the last w examples, exactly: a queue, and the scores of each class in order.

U2 is twice the number of pairs ranked rightly, a tie counting one: a whole number, so that nothing is ever lost. An
example that comes or goes changes it by its ranks among the other class.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled

# Entries of Window.tally; the class of a positive is 0, of a negative 1.
SEEN, U2, COUNT = 0, 1, 2


class Window(NamedTuple):
    """The queue (scores and signs), the ordered scores by class, and the counts."""

    queue: Floats
    signs: Floats
    ordered: Floats
    tally: Integers


def empty_window(size: int) -> Window:
    """Room for so many examples."""
    return Window(np.zeros(size), np.zeros(size), np.zeros((2, size)), np.zeros(4, dtype=np.int64))


@compiled
def observe_in_window(window: Window, labels: Floats, scores: Floats) -> None:
    """Many examples, in order; each lets the oldest go before it comes in."""
    for t in range(scores.size):
        place = window.tally[SEEN] % window.queue.size
        if window.tally[SEEN] >= window.queue.size:
            _leave(window, 0 if window.signs[place] > 0.0 else 1, window.queue[place])
        window.queue[place], window.signs[place] = scores[t], labels[t]
        _enter(window, 0 if labels[t] > 0.0 else 1, scores[t])
        window.tally[SEEN] += 1


@compiled
def window_area(window: Window) -> float:
    """AUROC; NaN while the window lacks a class."""
    pairs = window.tally[COUNT] * window.tally[COUNT + 1]
    return window.tally[U2] / (2.0 * pairs) if pairs > 0 else math.nan


@compiled
def _pairs_won_twice(window: Window, own: int, score: float) -> int:
    """Twice the number of examples of the other class with which this one makes a rightly ranked pair."""
    n = window.tally[COUNT + 1 - own]
    others = window.ordered[1 - own, :n]
    ranks = int(np.searchsorted(others, score)) + int(np.searchsorted(others, score, side="right"))
    return ranks if own == 0 else 2 * n - ranks


@compiled
def _enter(window: Window, own: int, score: float) -> None:
    window.tally[U2] += _pairs_won_twice(window, own, score)
    scores, i = window.ordered[own], window.tally[COUNT + own]
    while i > 0 and scores[i - 1] > score:
        scores[i] = scores[i - 1]
        i -= 1
    scores[i] = score
    window.tally[COUNT + own] += 1


@compiled
def _leave(window: Window, own: int, score: float) -> None:
    window.tally[U2] -= _pairs_won_twice(window, own, score)
    last = window.tally[COUNT + own] - 1
    scores = window.ordered[own]
    for i in range(np.searchsorted(scores[: last + 1], score), last):
        scores[i] = scores[i + 1]
    window.tally[COUNT + own] = last
