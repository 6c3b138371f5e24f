"""Labels that are there before they can be learned: their row has not come, or the time at which they become known."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from lopsided.late.outcomes import Outcome, judged
from lopsided.late.rows import Arrays
from lopsided.late.waiting_rows import Key

COMING = "coming/"  # begins the names of what a file holds of them


class _Label:
    """One label: when it becomes known (-inf: it always was), its sign, its number as it was told, whether it is here.

    One that is parked has become known before its row came.
    """

    __slots__ = ("is_here", "is_parked", "number", "sign", "time")

    def __init__(self, time: float, sign: float, number: int, is_parked: bool) -> None:
        self.time, self.sign, self.number, self.is_parked, self.is_here = time, sign, number, is_parked, True


class ComingLabels:
    """Labels by key, and those whose time is to come in the order of their times; of the same time, as they were told.

    A key may have several: later ones are repetitions or corrections of the first. About 300 bytes a label.
    """

    def __init__(self) -> None:
        self._of_key: dict[Key, list[_Label]] = {}
        self._agenda: list[tuple[float, int, Key, _Label]] = []  # a heap; labels that are not here are passed over
        self._n_told = 0
        self.n_expected = self.n_parked = 0

    def __bool__(self) -> bool:
        return self.n_expected > 0

    def add(self, key: Key, sign: float, time: float = -math.inf, *, park: bool = False) -> None:
        """One more label; one that is known already is parked until its row comes."""
        label = _Label(time, sign, self._n_told, park or time == -math.inf)
        labels = self._of_key.setdefault(key, [])
        labels.append(label)
        if len(labels) > 1 and labels[-2].time > time:
            labels.sort(key=lambda one: one.time)
        if not label.is_parked:
            heapq.heappush(self._agenda, (time, self._n_told, key, label))
        self._n_told += 1
        self.n_expected += 1
        self.n_parked += label.is_parked

    def __contains__(self, key: Key) -> bool:
        return key in self._of_key

    def first_of(self, key: Key) -> tuple[float, float] | None:
        """Time and sign of the first label of a key, which stays here; None if there is none."""
        labels = self._of_key.get(key)
        return None if labels is None else (labels[0].time, labels[0].sign)

    def last_of(self, key: Key) -> float:
        """The sign of the last label of a key; NaN if there is none."""
        labels = self._of_key.get(key)
        return math.nan if labels is None else labels[-1].sign

    def parked_of(self, key: Key) -> float | None:
        """The sign of a label that has become known before its row came."""
        labels = self._of_key.get(key)
        return labels[0].sign if labels is not None and labels[0].is_parked else None

    def park(self, key: Key, sign: float, time: float, *, correct: bool) -> Outcome:
        """A label has become known before its row came: it waits, unless another one does; says what became of it.

        Which of two labels counts is the rule for rows that have been learned. One that replaces the other is known
        since that was.
        """
        parked = self.parked_of(key)
        if parked is None:
            self.add(key, sign, time, park=True)
            return Outcome.EXPECTED
        outcome = judged(sign, parked, correct=correct)
        if outcome is Outcome.CORRECTED:
            self._of_key[key][0].sign = sign
        return outcome

    def take_first(self, key: Key) -> None:
        """The first label of a key has found its row."""
        self._take(key, self._of_key[key][0])

    def _take(self, key: Key, label: _Label) -> None:
        labels = self._of_key[key]
        labels.remove(label)
        if not labels:
            del self._of_key[key]
        label.is_here = False
        self.n_expected -= 1
        self.n_parked -= label.is_parked

    @property
    def next_time(self) -> float:
        """When the next label becomes known; inf if none is to."""
        while self._agenda and not self._agenda[0][3].is_here:
            heapq.heappop(self._agenda)
        return self._agenda[0][0] if self._agenda else math.inf

    def known_before(self, moment: float) -> Iterator[tuple[float, Key, float]]:
        """Time, key and sign of each label that becomes known before a moment, in order: they are taken out."""
        while self.next_time < moment:
            time, _, key, label = heapq.heappop(self._agenda)
            self._take(key, label)
            yield time, key, label.sign

    def known_of(self, key: Key, before: float) -> Iterator[tuple[float, float]]:
        """Time and sign of each label of a key that becomes known before a moment, and is not parked: taken out."""
        for label in [one for one in self._of_key.get(key, ()) if one.time < before and not one.is_parked]:
            self._take(key, label)
            yield label.time, label.sign

    # ---------------------------------------------------------------- keeping

    def arrays(self, as_bytes: Any) -> Arrays:
        """All of them, for a file, in an order that gives the same agenda again; {} if there are none."""
        if not self:
            return {}
        entries = sorted(
            ((key, label) for key, own in self._of_key.items() for label in own), key=lambda entry: entry[1].number
        )
        return {
            f"{COMING}keys": as_bytes([key for key, _ in entries]),
            f"{COMING}signs": np.array([label.sign for _, label in entries]),
            f"{COMING}times": np.array([label.time for _, label in entries]),
            f"{COMING}parked": np.array([label.is_parked for _, label in entries]),
        }

    @classmethod
    def restored(cls, arrays: Arrays, from_bytes: Any) -> ComingLabels:
        """What `arrays` described."""
        coming = cls()
        if f"{COMING}keys" in arrays:
            keys: Sequence[Key] = from_bytes(arrays[f"{COMING}keys"])
            columns = [np.asarray(arrays[f"{COMING}{name}"]).tolist() for name in ("signs", "times", "parked")]
            for key, sign, time, is_parked in zip(keys, *columns, strict=True):
                coming.add(key, sign, time, park=bool(is_parked))
        return coming
