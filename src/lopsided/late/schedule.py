"""Which rows are learned before which row is scored: the exact order of late labels, found for many rows at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lopsided.late.rows import Floats, Integers
from lopsided.late.store import WaitingRows

_KEPT_UP = 100  # rows after which a threshold that is kept online is looked up anew; before so many, at every row


class Schedule(NamedTuple):
    """What is learned, in order, and before which of the newcomers.

    `entry` numbers rows that have waited from 0 on, and newcomers after them; entry k is learned when the newcomers
    before `at[k]` have been scored.
    """

    entry: Integers
    at: Integers


def scheduled(waited: WaitingRows, moments: Floats, new: WaitingRows, prompt: npt.NDArray[np.bool_]) -> Schedule:
    """The order for rows that are due before the last newcomer comes; newcomers come at `moments`, never decreasing.

    A label that is due at a moment is known to newcomers of a later moment, never to those of the same. Labels are
    learned as they become due, of those due together that of the older row first. Where `prompt`, a newcomer is
    learned at once, before anything else happens.

    >>> moments = np.array([0.0, 1.0, 2.0, 3.0])
    >>> dues = moments + np.array([2.5, 0.0, 0.5, 0.0])
    >>> new = WaitingRows(np.zeros((4, 1)), np.zeros(4), np.arange(4), dues, np.ones(4))
    >>> scheduled(new.part(slice(0, 0)), moments, new, np.zeros(4, dtype=bool))
    Schedule(entry=array([1, 0, 2]), at=array([2, 3, 3]))
    """
    at = np.searchsorted(moments, new.dues, side="right")
    at[prompt] = np.flatnonzero(prompt) + 1
    inside = np.flatnonzero((at < moments.size) | prompt)
    entry = np.concatenate([np.arange(len(waited)), len(waited) + inside])
    at = np.concatenate([np.searchsorted(moments, waited.dues, side="right"), at[inside]])
    due = np.concatenate([waited.dues, new.dues[inside]])
    position = np.concatenate([waited.positions, new.positions[inside]])
    not_at_once = np.concatenate([np.ones(len(waited), dtype=np.bool_), ~prompt[inside]])
    order = np.lexsort((position, due, not_at_once, at))
    return Schedule(entry[order], at[order])


def rule_may_move(rule: str | float) -> bool:
    """Whether the threshold that a rule finds may change with what is learned."""
    return isinstance(rule, str) and rule != "zero"


def threshold_marks(position: int, n_rows: int) -> list[int]:
    """At which of the next rows a threshold is looked up: the same rows of a stream, in whatever pieces they come.

    >>> threshold_marks(98, 4), threshold_marks(199, 102)
    ([0, 1, 2], [1, 101])
    """
    early = list(range(min(max(_KEPT_UP - position, 0), n_rows)))
    first = max(_KEPT_UP, position + (-position) % _KEPT_UP)
    return early + list(range(first - position, n_rows, _KEPT_UP))
