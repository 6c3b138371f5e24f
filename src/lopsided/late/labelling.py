"""Labels that come by key: learned at once, or when their row or time comes; second ones by the rule for these."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from lopsided.late.outcomes import Outcome, judged
from lopsided.late.rows import Floats
from lopsided.late.stepping import Flags, Stepping
from lopsided.late.store import CorrectableStore
from lopsided.late.waiting_rows import Key, WaitingRows

_LOOKED_AHEAD = 4096  # rows, in which the first label is looked for that is due before they have all come


class Labelling(Stepping):
    """Stepping through rows, with labels that come by key in between."""

    def _in_pieces(
        self,
        new: WaitingRows,
        moments: Floats,
        prompt: Flags,
        times: Any,
        choose: Callable[[slice, Floats, Floats], Floats] | None = None,
    ) -> Floats:
        """Newcomers in pieces between which labels become known, or in which it can be said whose labels are seen."""
        if choose is None and not self._coming:
            return self._step(new, moments, prompt, times)
        told = self._find_told(new, moments, prompt)
        n_rows, start = moments.size, 0
        scores, thresholds = np.zeros(n_rows), np.zeros(n_rows)
        first = self._position
        try:
            while start < n_rows:
                self._meet_labels(float(moments[start]))
                stop = int(np.searchsorted(moments, self._coming.next_time, side="right"))
                if choose is not None:
                    stop = min(stop, _last_before_a_label(new.dues, moments, prompt, start))
                rows = slice(start, stop)
                piece = None if choose is None else partial(choose, rows)
                scores[rows] = self._step(new.part(rows), moments[rows], prompt[rows], times, piece)
                thresholds[rows] = self.thresholds
                start = stop
        finally:
            for row, (key, sign, time) in told.items():
                if row >= self._position - first:  # the model has failed before it came
                    self._coming.add(key, sign, time, park=time < self._moment)
        self.thresholds = thresholds
        return scores

    def _find_told(self, new: WaitingRows, moments: Floats, prompt: Flags) -> dict[int, tuple[Key, float, float]]:
        """Give newcomers the labels that were told before they came; says which ones got any.

        A label that becomes known only after the row has met its rule is left for then.
        """
        told: dict[int, tuple[Key, float, float]] = {}
        if not self._coming or new.keys is None:
            return told
        fresh, patience = self._fresh(new.keys, len(new)), self._patience
        for row, key in enumerate(new.keys):
            if not fresh[row] or new.signs[row] == new.signs[row] or self._coming.first_of(key) is None:
                continue
            moment = float(moments[row])
            for known_at, other in self._coming.known_of(key, moment):
                self._become_known(key, other, known_at)
            first = self._coming.first_of(key)
            if first is None or first[0] - moment > patience:
                continue
            time, sign = first
            self._coming.take_first(key)
            told[row] = key, sign, time
            new.signs[row] = sign
            prompt[row] = time < moment and (time > -math.inf or not self.delay)
            new.dues[row] = max(time, moment) if time > -math.inf else moment + self.delay.amount
        return told

    def _meet_labels(self, before: float) -> None:
        """Labels become known in the order of their times, until before a moment; the clock is left to rows."""
        for time, key, sign in self._coming.known_before(before):
            try:
                self._learn_due(math.nextafter(time, math.inf))
                self._become_known(key, sign, time)
            except BaseException:
                self._coming.add(key, sign, time)
                raise

    def _told(self, key: Key, sign: float, time: float) -> Outcome:
        """A label that becomes known at a time: now, if that has passed."""
        if time >= self._moment and time > -math.inf:
            self._coming.add(key, sign, time)
            return Outcome.EXPECTED
        return self._become_known(key, sign, time)

    def _become_known(self, key: Key, sign: float, time: float) -> Outcome:
        """A label is known: its row learns from it, or it is parked until that comes."""
        if self._has_come(key):
            return self._learn_labels([key], np.array([sign]))[0]
        outcome = self._coming.park(key, sign, time, correct=self._corrects)
        self._count_refused(outcome)
        self._counts.corrections += outcome is Outcome.CORRECTED
        return outcome

    def _learn_parked(self, keys: list[Key]) -> None:
        """Learn rows that have just come, and whose label was known before."""
        for key in keys if self._coming else ():
            sign = self._coming.parked_of(key)
            if sign is not None and self.store.is_waiting(key):
                self._learn_labels([key], np.array([sign]))
                self._coming.take_first(key)

    def _learn_labels(self, keys: list[Key], signs: Floats) -> list[Outcome]:
        """Labels have become known, in this order: those for rows that wait are learned; says what became of each."""
        outcomes = []
        together: dict[Key, float] = {}  # rows that wait and are learned in one go
        for key, sign in zip(keys, signs.tolist(), strict=True):
            fate = together.get(key)
            if fate is None and self.store.is_waiting(key):
                together[key] = sign
                outcomes.append(Outcome.LEARNED)
                continue
            fate = self.store.fate_of(key) if fate is None else fate
            outcome = Outcome.UNKNOWN if fate is None else judged(sign, fate, correct=self._corrects)
            if outcome is Outcome.CORRECTED:
                self._learn_waiting(together)
                together = {}
                outcome = self._correct(key, sign)
            self._count_refused(outcome)
            outcomes.append(outcome)
        self._learn_waiting(together)
        return outcomes

    @property
    def _corrects(self) -> bool:
        """Whether another label for a row replaces the first."""
        return self.corrections == "learn"

    def _count_refused(self, outcome: Outcome) -> None:
        """Count a label if it is one that was not learned."""
        counts = self._counts
        counts.unknown += outcome is Outcome.UNKNOWN
        counts.too_late += outcome is Outcome.TOO_LATE
        counts.duplicates += outcome is Outcome.DUPLICATE
        counts.conflicts += outcome is Outcome.CONFLICT

    def _learn_waiting(self, labels: dict[Key, float]) -> None:
        if labels:
            rows, signs = self.store.take(list(labels)), np.array(list(labels.values()))
            self._learn(rows, signs, give_back=self.store.put_back)

    def _correct(self, key: Key, sign: float) -> Outcome:
        """Another label for a row that has been learned: it is learned once more, unless the store has it no more."""
        row = self.store.recall(key) if isinstance(self.store, CorrectableStore) else None
        if row is None:
            return Outcome.CONFLICT
        self._learn(row, np.array([sign]), give_back=lambda _: None)  # it is kept all the same
        self._counts.learned -= 1  # rows are counted once
        self._counts.corrections += 1
        return Outcome.CORRECTED


def _last_before_a_label(dues: Floats, moments: Floats, prompt: Flags, start: int) -> int:
    """Where rows must be cut so that none of them is due, or learned at once, before the last one has come."""
    stop = min(start + _LOOKED_AHEAD, moments.size)
    earliest = np.minimum.accumulate(dues[start : stop - 1])
    early = np.flatnonzero(prompt[start : stop - 1] | prompt[start + 1 : stop] | (earliest < moments[start + 1 : stop]))
    return start + 1 + int(early[0]) if early.size else stop
