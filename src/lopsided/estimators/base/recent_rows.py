"""The latest rows that a learner has learned, so that its present model can be asked what it makes of them.

A share of alerts is a quantile of the scores that the *present* model gives. Progressive scores are those of many
models, each a little different, and their quantile may be far off: a perceptron's scores move with every step. So a
bounded sample of raw rows is kept, and scored anew when a threshold is asked for. Only a share of alerts needs
them: with any other rule nothing is kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.core.geometry.points import Rows
from lopsided.core.measures.recency import latest_of_all
from lopsided.estimators.base import validation

MOST_ROWS = 8192  # by which a share of 5 % is off by 5 % of itself
MOST_VALUES = 1 << 19  # 4 MB; rows that are wide are fewer
WIDEST = 4096  # features; of wider rows none are kept
_ALL_OF_THE_FIRST = 8192  # rows; of those after them every second is kept, which costs less and looks back further
_EVERY = 2


class RecentRows:
    """A ring of rows: all of the first, later every second. Which ones depends on their number in the stream alone."""

    def __init__(self, n_features: int, *, is_on: bool = True) -> None:
        self.is_on = is_on  # whoever offers rows looks first
        self.capacity = min(MOST_ROWS, MOST_VALUES // n_features) if n_features <= WIDEST else 0
        self.n_features = n_features
        self.offered = 0
        self._ring: Floats = np.zeros((0, n_features))  # room is made when the first row comes
        self._signs: Floats = np.zeros(0)

    @property
    def kept(self) -> int:
        """How many rows have been put into the ring so far."""
        return _kept_of(self.offered)

    @property
    def rows(self) -> Floats:
        """The rows that are there, in no order that means anything."""
        return self._ring[: min(self.kept, self.capacity)]

    @property
    def signs(self) -> Floats:
        """Their classes, +1 and -1; 0 where a file of old does not say."""
        return self._signs[: min(self.kept, self.capacity)]

    @property
    def numbers(self) -> Integers:
        """Which row each of them is, counted from 1 over all that were offered."""
        first = max(self.kept - self.capacity, 0)
        places = np.arange(first, self.kept)
        numbers = np.empty(places.size, dtype=np.int64)
        beyond = np.maximum(places - _ALL_OF_THE_FIRST, 0)
        numbers[places % max(self.capacity, 1)] = 1 + places + beyond * (_EVERY - 1)
        return numbers

    def offer_one(self, x: Floats, sign: float) -> None:
        """Keep one row, if it is its turn; called before it is learned, for learning may fill its gaps in place."""
        number = self.offered
        self.offered = number + 1
        if (number < _ALL_OF_THE_FIRST or not number % _EVERY) and self.capacity:
            if not self._ring.size:
                self._make_room()
            slot = _kept_of(number) % self.capacity
            self._ring[slot], self._signs[slot] = x, sign

    def offer(self, rows: Rows, signs: Floats, which: Integers | None = None) -> None:
        """Keep those of many rows whose turn it is: the same as one after the other; `which` of them, if not all."""
        count = validation.n_rows_of(rows) if which is None else which.size
        begin, self.offered = self.offered, self.offered + count
        if not (self.capacity and count):
            return
        first = max(begin, self.offered - _EVERY * self.capacity)  # those before would be overwritten
        numbers = np.arange(first, self.offered)
        numbers = numbers[(numbers < _ALL_OF_THE_FIRST) | (numbers % _EVERY == 0)][-self.capacity :]
        if not numbers.size:
            return
        if not self._ring.size:
            self._make_room()
        chosen = numbers - begin if which is None else which[numbers - begin]
        slots = (_kept_of(self.offered) - numbers.size + np.arange(numbers.size)) % self.capacity
        self._signs[slots] = signs[chosen]
        if rows.starts.size:
            self._ring[slots] = validation.matrix_of(rows, self.n_features)[chosen].toarray()
        else:
            self._ring[slots] = rows.dense[chosen]

    def _make_room(self) -> None:
        self._ring, self._signs = np.zeros((self.capacity, self.n_features)), np.zeros(self.capacity)

    # ---------------------------------------------------------------- keeping

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """As arrays, if rows are kept.

        Bits instead of numbers, because gaps are NaN, which no other array of a model may hold.
        """
        if not self.is_on:
            return {}
        return {
            "recent.rows": self.rows.copy().view(np.int64),
            "recent.signs": self.signs.copy(),
            "recent.offered": np.array([self.offered], dtype=np.int64),
        }

    def restore(self, rows: npt.NDArray[np.int64], signs: Floats, offered: int) -> None:
        """Take what `state` gave, whose shape has been checked."""
        self.offered = offered
        if len(rows):
            self._make_room()
            self._ring[: len(rows)] = rows.view(np.float64)
            self._signs[: len(rows)] = signs

    def _from_old_to_new(self) -> tuple[Floats, Floats]:
        order = np.argsort(self.numbers, kind="stable")
        return self.rows[order], self.signs[order]


def merged_rows(records: list[RecentRows]) -> RecentRows:
    """The latest rows of several learners, each looking back over the same share of its stream."""
    if len(records) == 1:
        return records[0]
    merged = RecentRows(records[0].n_features, is_on=records[0].is_on)
    kept, signs = zip(*(record._from_old_to_new() for record in records), strict=True)
    order = latest_of_all([len(part) for part in kept], [record.offered for record in records])
    # One fewer than there were: so the numbers of these rows are not taken for those of rows that were learned.
    merged.offered = max(sum(record.offered for record in records) - 1, 0)
    n_kept = min(merged.kept, merged.capacity)
    if n_kept:
        merged._make_room()
        slots = np.arange(merged.kept - n_kept, merged.kept) % merged.capacity
        merged._ring[slots] = np.concatenate(kept)[order][-n_kept:]
        merged._signs[slots] = np.concatenate(signs)[order][-n_kept:]
    return merged


def _kept_of(number: int) -> int:
    """How many of the first so many rows are kept."""
    beyond = number - _ALL_OF_THE_FIRST
    return number if beyond <= 0 else _ALL_OF_THE_FIRST + -(-beyond // _EVERY)
