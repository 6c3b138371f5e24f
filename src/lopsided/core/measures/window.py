"""AUROC of the last w examples, exactly: a queue, and the scores of each class in order.

U2 is twice the number of pairs ranked rightly, a tie counting one: a whole number, so that nothing is ever lost. An
example that comes or goes changes it by its ranks among the other class.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.arithmetic.moving import move_by_one

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
        own, score = 0 if labels[t] > 0.0 else 1, scores[t]
        if window.tally[SEEN] >= window.queue.size:
            oldest = 0 if window.signs[place] > 0.0 else 1
            window.tally[U2] -= _pairs_won_twice(window, oldest, window.queue[place])
            if oldest == own:
                _replace(window.ordered[own, : window.tally[COUNT + own]], window.queue[place], score)
            else:
                _leave(window, oldest, window.queue[place])
                _enter(window, own, score)
        else:
            _enter(window, own, score)
        window.tally[U2] += _pairs_won_twice(window, own, score)
        window.queue[place], window.signs[place] = score, labels[t]
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
    ranks = _n_below(others, score) + _n_up_to(others, score)
    return ranks if own == 0 else 2 * n - ranks


@compiled
def _n_below(ordered: Floats, score: float) -> int:
    """How many are smaller. By halves, without a branch that would be guessed wrongly every other time."""
    first, n = 0, ordered.size
    while n > 1:
        half = n >> 1
        first += half if ordered[first + half - 1] < score else 0
        n -= half
    return first + (1 if n == 1 and ordered[first] < score else 0)


@compiled
def _n_up_to(ordered: Floats, score: float) -> int:
    """How many are not larger."""
    first, n = 0, ordered.size
    while n > 1:
        half = n >> 1
        first += half if ordered[first + half - 1] <= score else 0
        n -= half
    return first + (1 if n == 1 and ordered[first] <= score else 0)


@compiled
def _enter(window: Window, own: int, score: float) -> None:
    n = window.tally[COUNT + own]
    _shift_up(window.ordered[own, _n_up_to(window.ordered[own, :n], score) : n + 1], score)
    window.tally[COUNT + own] = n + 1


@compiled
def _leave(window: Window, own: int, score: float) -> None:
    n = window.tally[COUNT + own]
    place = _n_below(window.ordered[own, :n], score)
    _shift_down(window.ordered[own, place:n], 0.0)
    window.tally[COUNT + own] = n - 1


@compiled
def _replace(ordered: Floats, old: float, new: float) -> None:
    """One comes, one goes, of the same class: only what lies between them moves."""
    place = _n_below(ordered, old)
    if new > old:
        _shift_down(ordered[place : _n_below(ordered, new)], new)
    else:
        _shift_up(ordered[min(_n_up_to(ordered, new), place) : place + 1], new)


@compiled
def _shift_up(scores: Floats, first: float) -> None:
    """Each to the next place, the last one lost, and this one at the first."""
    move_by_one(scores, True)
    scores[0] = first


@compiled
def _shift_down(scores: Floats, last: float) -> None:
    """Each to the place before it, the first one lost, and this one at the last."""
    move_by_one(scores, False)
    scores[scores.size - 1] = last
