"""Rows that wait: when they are due, what is then done with them, and what is left if a model fails on the way."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.encoding import EncodedRows
from lopsided.late.playing import Player, arrived, observes, score
from lopsided.late.rows import Floats, Integers
from lopsided.late.schedule import Schedule, rule_may_move, scheduled, threshold_marks
from lopsided.late.store import DROPPED
from lopsided.late.waiting import Waiting
from lopsided.late.waiting_cells import as_encoded
from lopsided.late.waiting_rows import Key, WaitingRows, joined

Flags = npt.NDArray[np.bool_]
# Says what the label of each newcomer counts, 0 if it is never seen: by its score, and the threshold at that time.
Choose = Callable[[Floats, Floats], Floats]


class Stepping(Waiting):
    """The part of the engine behind its door: newcomers in, scores out, and what waits between.

    A call of the model that raises has changed nothing, as `lopsided.protocol` asks for. What had been done before it
    is done, and all else is as it was: rows that were due wait on, newcomers from that place on have not come.
    """

    def _newcomers(self, X: Any, moments: Floats, waits: Floats, signs: Floats, keys: list[Key] | None) -> WaitingRows:
        """Rows that come at `moments` and, unless something happens before, wait for `waits`."""
        dues = np.full(signs.size, math.inf)
        ends = np.isfinite(waits)
        dues[ends] = moments[ends] + waits[ends]
        return WaitingRows(X, np.zeros(signs.size), self._position + np.arange(signs.size), dues, signs, keys)

    def _marks(self, n_rows: int) -> list[int]:
        """At which of the next rows the threshold is looked up."""
        rule = self._learner.threshold_rule_
        if not isinstance(rule, str):
            self._threshold = float(rule)
        return threshold_marks(self._position, n_rows) if self.keep_thresholds and rule_may_move(rule) else []

    def _step(
        self, new: WaitingRows, moments: Floats, prompt: Flags | None, times: Any, choose: Choose | None = None
    ) -> Floats:
        """Score newcomers in order, learning before each what has become due, and keep those that are not due yet.

        With `choose` none of several newcomers may be due before the last of them comes.
        """
        n_rows = moments.size
        if n_rows == 1:
            return self._step_alone(new, moments, prompt is not None and bool(prompt[0]), times, choose)
        fresh = self._fresh(new.keys, n_rows)
        prompt = fresh & (False if prompt is None else prompt)
        waited = self.store.take_due(float(moments[-1])) or new.part(slice(0, 0))
        n_waited = len(waited)
        schedule = scheduled(waited, moments, replace(new, dues=np.where(fresh, new.dues, math.inf)), prompt)
        rows = self._together(waited, new)
        due, signs, gone = self._by_the_rule(schedule, rows.signs)
        player = Player(self._learner, rows.X, n_waited, rows.scores, self._labels, rows.weights)
        try:
            self._threshold = player.play(due, signs, self._marks(n_rows), self._threshold)
        finally:
            came = player.n_scored
            self.thresholds = player.thresholds[:came]
            finished = np.zeros(len(rows), dtype=np.bool_)
            finished[gone.entry[gone.at <= came]] = True
            self._forget(rows.part(np.flatnonzero(finished)))
            done = due.entry[: player.n_learned]
            self._note_learned(rows, signs[: done.size], done)
            self._counts.as_negatives += int(np.count_nonzero(np.isnan(rows.signs[done])))
            finished[done] = True
            if not finished[:n_waited].all():  # the model has failed
                self.store.put_back(rows.part(np.flatnonzero(~finished[:n_waited])))
            here = rows.part(slice(n_waited, n_waited + came))
            self._note(here.X, came, moments[:came], times)
            self._counts.repeated += came - int(np.count_nonzero(fresh[:came]))
            stays = fresh[:came] & ~finished[n_waited : n_waited + came]
            if choose is not None:
                here, unseen = self._chosen(here, moments[:came], choose)
                self._forget(here.part(np.flatnonzero(stays & unseen)))
                stays &= ~unseen
            self._take_in(here.part(np.flatnonzero(stays)))
        return rows.scores[n_waited:]

    def _step_alone(
        self, new: WaitingRows, moments: Floats, prompt: bool, times: Any, choose: Choose | None = None
    ) -> Floats:
        """`_step` for one row, which needs none of the arithmetic that finds the order of many."""
        self._learn_due(float(moments[0]))
        if self._marks(1):
            self._threshold = float(self._learner.threshold_) if self._learner.started_ else 0.0
        if observes(self._learner):
            new = replace(new, X=arrived(self._learner, new.X))
        new.scores[:] = score(self._learner, new.X)
        self.thresholds = np.array([self._threshold])
        self._note(new.X, 1, moments, times)
        is_unseen = False
        if choose is not None:
            new, unseen = self._chosen(new, moments, choose)
            is_unseen = bool(unseen[0])
        if not self._fresh(new.keys, 1)[0]:
            self._counts.repeated += 1
        elif is_unseen:
            self._forget(new)
        elif prompt and new.signs[0] == new.signs[0]:
            self._learn(new, new.signs, give_back=self._keep)
        else:
            self._take_in(new)
        return new.scores

    def _together(self, waited: WaitingRows, new: WaitingRows) -> WaitingRows:
        """All rows in one, newcomers last, rows of an encoder as such."""
        if len(waited):
            rows = joined([waited, new])
            return replace(rows, X=as_encoded(rows.X)) if isinstance(new.X, EncodedRows) else rows
        # What a model with a history observes is written into them.
        return replace(new, X=new.X.copy()) if observes(self._learner) else new

    def _chosen(self, new: WaitingRows, moments: Floats, choose: Choose) -> tuple[WaitingRows, Flags]:
        """The newcomers when it has been decided whose labels are ever seen; and which need not wait for theirs."""
        weights = np.asarray(choose(new.scores, self.thresholds), dtype=np.float64)
        unseen = (weights == 0.0) & ~np.isnan(new.signs)
        chosen = replace(
            new,
            signs=np.where(unseen, np.nan, new.signs),
            dues=np.where(unseen, moments + self._patience, new.dues),
            weights=np.where(np.isnan(new.signs) | unseen, 1.0, weights),
        )
        return chosen, unseen & (not self._as_negatives)

    @property
    def _as_negatives(self) -> bool:
        return self.unlabelled is not None and self.unlabelled.outcome == "negative"

    def _take_in(self, new: WaitingRows) -> None:
        """Keep newcomers, but those without a label that need not wait for one."""
        if self._skips:
            unlabelled = np.isnan(new.signs)
            self._counts.dropped += int(np.count_nonzero(unlabelled))
            new = new.part(np.flatnonzero(~unlabelled))
        self._keep(new)

    def _note(self, X: Any, n_rows: int, moments: Floats | None = None, times: Any = None) -> None:
        """So many rows have come, the latest now; what they are like holds for all that follow."""
        self._position += n_rows
        self._counts.scored += n_rows
        self._n_features, self._is_encoded = X.shape[1], isinstance(X, EncodedRows)
        if moments is not None and n_rows:
            self._in_time = self._goes_by_time(times)
            self._moment = float(moments[-1]) if self._in_time else self._moment

    def _fresh(self, keys: list[Any] | None, n_rows: int) -> Flags:
        """Which rows have a key that no row had before."""
        fresh = np.ones(n_rows, dtype=np.bool_)
        seen: set[Key] = set()
        for row, key in enumerate(keys or ()):
            if key in seen or self._has_come(key):
                fresh[row] = False
            seen.add(key)
        return fresh

    def _has_come(self, key: Key) -> bool:
        return self.store.is_waiting(key) or self.store.fate_of(key) is not None

    def _by_the_rule(self, schedule: Schedule, signs: Floats) -> tuple[Schedule, Floats, Schedule]:
        """What is learned, and as what, when rows without a label have met their rule; and what is forgotten."""
        own = signs[schedule.entry]
        unlabelled = np.isnan(own)
        if not unlabelled.any() or self._as_negatives:
            return schedule, np.where(unlabelled, -1.0, own), Schedule(*(part[:0] for part in schedule))
        gone = Schedule(schedule.entry[unlabelled], schedule.at[unlabelled])
        return Schedule(schedule.entry[~unlabelled], schedule.at[~unlabelled]), own[~unlabelled], gone

    def _learn_due(self, before: float) -> None:
        """Learn what is due before a moment, when no row comes."""
        waited = self.store.take_due(before)
        if waited is not None:
            everything = Schedule(np.arange(len(waited)), np.zeros(len(waited), dtype=np.int64))
            due, signs, gone = self._by_the_rule(everything, waited.signs)
            self._forget(waited.part(gone.entry))
            learned = self._counts.learned
            try:
                self._learn(waited.part(due.entry), signs, give_back=self.store.put_back)
            finally:
                done = due.entry[: self._counts.learned - learned]
                self._counts.as_negatives += int(np.count_nonzero(np.isnan(waited.signs[done])))

    def _learn(self, rows: WaitingRows, signs: Floats, give_back: Callable[[WaitingRows], None]) -> None:
        """Learn rows that wait no more; those that a failing model has not learned are given back."""
        if not len(rows):
            return
        X = as_encoded(rows.X) if self._is_encoded else rows.X
        player = Player(self._learner, X, len(rows), rows.scores, self._labels, rows.weights)
        try:
            player.learn(slice(0, len(rows)), signs)
        finally:
            n_learned = player.n_learned
            if n_learned < len(rows):
                self._note_learned(rows.part(slice(0, n_learned)), signs[:n_learned])
                give_back(rows.part(slice(n_learned, None)))
            else:
                self._note_learned(rows, signs)

    def _note_learned(self, rows: WaitingRows, signs: Floats, entries: Integers | None = None) -> None:
        """Rows have been learned, as this: all of them, or these entries."""
        self._counts.learned += signs.size
        if rows.keys is not None:
            keys = rows.keys if entries is None else [rows.keys[entry] for entry in entries.tolist()]
            self._settle(zip(keys, signs.tolist(), strict=True))
            if self.corrections == "learn":
                learned = rows if entries is None else rows.part(entries)
                self.store.retain(replace(learned, signs=signs))  # type: ignore[attr-defined]

    def _settle(self, fates: Iterable[tuple[Any, float]]) -> None:
        named = [(key, fate) for key, fate in fates if key is not None]
        self.store.settle([key for key, _ in named], [fate for _, fate in named])

    def _keep(self, rows: WaitingRows) -> None:
        self.store.add(rows)
        if self.capacity is not None and len(self.store) > self.capacity:
            self._forget(self.store.take_oldest(len(self.store) - self.capacity))

    def _forget(self, rows: WaitingRows) -> None:
        """Rows that are not learned, and wait no more."""
        self._settle((key, DROPPED) for key in rows.all_keys())
        self._counts.dropped += len(rows)
