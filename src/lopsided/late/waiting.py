"""Rows that wait: what is remembered of them, when they are due, and what is then done with them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from threading import RLock
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from lopsided.constraints import ParameterError
from lopsided.encoding import EncodedRows
from lopsided.estimators.state.files import Attachment
from lopsided.labels import LabelMap, map_of_classes
from lopsided.late import door
from lopsided.late.any_learner import as_late_learner
from lopsided.late.delay import Delay, Unlabelled
from lopsided.late.outcomes import Counts
from lopsided.late.playing import Player, arrived, learn, observes, score
from lopsided.late.rows import Arrays, Floats, stacked
from lopsided.late.schedule import Schedule, rule_may_move, scheduled, threshold_marks
from lopsided.late.store import DROPPED, Key, MemoryStore, WaitingRows, WaitingStore


class Waiting:
    """The part of the engine behind its door: newcomers in, scores out, and what waits between."""

    def __init__(
        self,
        model: Any,
        *,
        delay: Delay | str | int | None = None,
        unlabelled: Unlabelled | str | None = None,
        store: WaitingStore | None = None,
        classes: Any = None,
        capacity: int | None = None,
        keep_thresholds: bool = False,
    ) -> None:
        self.model = model
        self.delay = Delay() if delay is None else Delay.parse(delay)
        self.unlabelled = None if unlabelled is None else Unlabelled.parse(unlabelled)
        self.store = MemoryStore() if store is None else store
        self.capacity = capacity
        self.keep_thresholds = keep_thresholds
        self.thresholds: Floats = np.zeros(0)
        self._learner = as_late_learner(model)
        self._labels = self._labels_at_first(classes)
        self._classes = classes
        self._in_time = self._clock_of_rules()
        self._position = 0  # of the next row in the stream
        self._moment = -math.inf  # of the latest row
        self._threshold = 0.0
        self._counts = Counts()
        self._is_encoded = False
        self._n_features: int | None = None
        self._lock = RLock()

    def _labels_at_first(self, classes: Any) -> LabelMap | None:
        if self._learner.started_:
            return self._learner.labels_
        if classes is not None:
            return map_of_classes(classes, self._pos_label)
        if self.unlabelled is not None and self.unlabelled.outcome == "negative":
            raise ParameterError(
                "The 'classes' parameter of LateLearner must be the two labels if rows are to be taken as negative and "
                "the model has not begun to learn. Got None instead."
            )
        return None

    def _clock_of_rules(self) -> bool | None:
        """Whether the rules go by time (True) or by rows (False); None if there are none."""
        after = None if self.unlabelled is None else self.unlabelled.after
        clocks = {rule.is_in_time for rule in (self.delay, after) if rule}
        if len(clocks) == 2:
            raise ParameterError(
                "The delay of labels and the rule for rows without a label must both be rows or both durations. "
                f"Got {self.delay} and {self.unlabelled}."
            )
        return clocks.pop() if clocks else None

    @property
    def _pos_label(self) -> Any:
        return getattr(self.model, "pos_label", None)

    @property
    def labels(self) -> LabelMap | None:
        """The two labels, and which one is rare; None while nobody has said."""
        return self._known_labels()

    @property
    def counts(self) -> Counts:
        """Rows and labels so far."""
        with self._lock:
            return replace(self._counts, waiting=len(self.store))

    @property
    def position(self) -> int:
        """How many rows have come: the number, and without keys the key, of the next one."""
        return self._position

    # ---------------------------------------------------------------- one step

    def _features(self, X: Any) -> Any:
        known = self._n_features
        if known is None and self._learner.started_:
            known = getattr(self.model, "n_features_in_", None)
        return door.features(self._learner, X, known)

    def _known_labels(self) -> LabelMap | None:
        return self._learner.labels_ if self._learner.started_ else self._labels

    def _newcomers(self, X: Any, moments: Floats, waits: Floats, signs: Floats, keys: list[Key] | None) -> WaitingRows:
        """Rows that come at `moments` and, unless something happens before, wait for `waits`."""
        dues = np.full(signs.size, math.inf)
        ends = np.isfinite(waits)
        dues[ends] = moments[ends] + waits[ends]
        return WaitingRows(X, np.zeros(signs.size), self._position + np.arange(signs.size), dues, signs, keys)

    @property
    def _skips(self) -> bool:
        """Whether rows without a label do not wait at all."""
        return self.unlabelled is not None and self.unlabelled.outcome == "skip"

    @property
    def _patience(self) -> float:
        """How long a row without a label waits before its rule is applied."""
        after = None if self.unlabelled is None else self.unlabelled.after
        return math.inf if after is None else after.amount

    def _goes_by_time(self, times: Any) -> bool:
        """Whether moments are seconds: as the rules say, or if there are none, if there are times."""
        return times is not None if self._in_time is None else self._in_time

    def _moments(self, n_rows: int, times: Any) -> Floats:
        if not self._goes_by_time(times):
            return self._position + np.arange(n_rows, dtype=np.float64)
        if times is None:
            raise ParameterError("A delay or a rule in time needs the times of the rows. Got none.")
        return door.moments_of(times, n_rows, self._moment)

    def _marks(self, n_rows: int) -> list[int]:
        """At which of the next rows the threshold is looked up."""
        rule = self._learner.threshold_rule_
        if not isinstance(rule, str):
            self._threshold = float(rule)
        return threshold_marks(self._position, n_rows) if self.keep_thresholds and rule_may_move(rule) else []

    def _step(self, new: WaitingRows, moments: Floats, prompt: npt.NDArray[np.bool_] | None, times: Any) -> Floats:
        """Score newcomers in order, learning before each what has become due, and keep those that are not due yet."""
        n_rows = moments.size
        if n_rows == 1:
            return self._step_alone(new, moments, prompt is not None and bool(prompt[0]), times)
        fresh = self._fresh(new.keys, n_rows)
        prompt = fresh & (False if prompt is None else prompt)
        waited = self.store.take_due(float(moments[-1])) or new.part(slice(0, 0))
        n_waited = len(waited)
        schedule = scheduled(waited, moments, replace(new, dues=np.where(fresh, new.dues, math.inf)), prompt)
        stays = fresh
        stays[schedule.entry[schedule.entry >= n_waited] - n_waited] = False
        pool = self._typed(waited.X, new.X)
        if pool is new.X and observes(self._learner):
            pool = pool.copy()  # what is observed is written into it
        scores = np.concatenate([waited.scores, new.scores])
        schedule, signs = self._by_the_rule(schedule, waited, new)
        player = Player(self._learner, pool, n_waited, scores, self._labels)
        if self._skips:
            unlabelled = stays & np.isnan(new.signs)
            stays = stays & ~unlabelled
            self._counts.dropped += int(np.count_nonzero(unlabelled))
        self._threshold = player.play(schedule, signs, self._marks(n_rows), self._threshold)
        self.thresholds = player.thresholds
        new = replace(new, scores=scores[n_waited:])
        if observes(self._learner):
            new = replace(new, X=pool[n_waited:])
        self._keep(new.part(np.flatnonzero(stays)))
        self._note(new.X, n_rows, moments, times)
        self._counts.learned += schedule.entry.size
        return new.scores

    def _step_alone(self, new: WaitingRows, moments: Floats, prompt: bool, times: Any) -> Floats:
        """`_step` for one row, which needs none of the arithmetic that finds the order of many."""
        self._learn_due(float(moments[0]))
        if self._marks(1):
            self._threshold = float(self._learner.threshold_) if self._learner.started_ else 0.0
        self.thresholds = np.full(1, self._threshold)
        new = replace(new, X=arrived(self._learner, new.X))
        new.scores[:] = score(self._learner, new.X)
        self._note(new.X, 1, moments, times)
        if not self._fresh(new.keys, 1)[0]:
            return new.scores
        if self._skips and np.isnan(new.signs[0]):
            self._counts.dropped += 1
        elif prompt:
            self._learn(new, new.signs)
            self._settle((key, new.signs.item()) for key in new.all_keys())
        else:
            self._keep(new)
        return new.scores

    def _note(self, X: Any, n_rows: int, moments: Floats | None = None, times: Any = None) -> None:
        """So many rows have come, the latest now; what they are like holds for all that follow."""
        self._position += n_rows
        self._counts.scored += n_rows
        self._n_features, self._is_encoded = X.shape[1], isinstance(X, EncodedRows)
        if moments is not None and n_rows:
            self._in_time = self._goes_by_time(times)
            self._moment = float(moments[-1]) if self._in_time else self._moment

    def _fresh(self, keys: list[Any] | None, n_rows: int) -> npt.NDArray[np.bool_]:
        """Which rows have a key that no row had before."""
        fresh = np.ones(n_rows, dtype=np.bool_)
        seen: set[Key] = set()
        for row, key in enumerate(keys or ()):
            if key in seen or self.store.is_waiting(key) or self.store.fate_of(key) is not None:
                fresh[row] = False
            seen.add(key)
        self._counts.repeated += n_rows - int(np.count_nonzero(fresh))
        return fresh

    def _typed(self, waited: Any, new: Any) -> Any:
        """All rows in one, rows of an encoder as such."""
        if not waited.shape[0]:
            return new
        rows = stacked(waited, new)
        return rows.view(EncodedRows) if isinstance(new, EncodedRows) else rows

    def _by_the_rule(self, schedule: Schedule, waited: WaitingRows, new: WaitingRows) -> tuple[Schedule, Floats]:
        """What is learned, and as what, when rows without a label have met their rule."""
        signs = np.concatenate([waited.signs, new.signs])[schedule.entry]
        keys = [*waited.all_keys(), *new.all_keys()] if waited.keys or new.keys else []
        unlabelled = np.isnan(signs)
        if unlabelled.any():
            if self.unlabelled is not None and self.unlabelled.outcome == "negative":
                signs[unlabelled] = -1.0
                self._counts.as_negatives += int(np.count_nonzero(unlabelled))
            else:
                self._settle((keys[k], DROPPED) for k in schedule.entry[unlabelled].tolist() if keys)
                self._counts.dropped += int(np.count_nonzero(unlabelled))
                schedule = Schedule(schedule.entry[~unlabelled], schedule.at[~unlabelled])
                signs = signs[~unlabelled]
        if keys:
            self._settle((keys[k], sign) for k, sign in zip(schedule.entry.tolist(), signs.tolist(), strict=True))
        return schedule, signs

    def _settle(self, fates: Iterable[tuple[Any, float]]) -> None:
        named = [(key, fate) for key, fate in fates if key is not None]
        self.store.settle([key for key, _ in named], [fate for _, fate in named])

    def _learn_due(self, before: float) -> None:
        """Learn what is due before a moment, when no row comes."""
        waited = self.store.take_due(before)
        if waited is not None:
            schedule = Schedule(np.arange(len(waited)), np.zeros(len(waited), dtype=np.int64))
            schedule, signs = self._by_the_rule(schedule, waited, waited.part(slice(0, 0)))
            self._learn(waited.part(schedule.entry), signs)

    def _learn(self, rows: WaitingRows, signs: Floats) -> None:
        assert self._labels is not None
        X = rows.X.view(EncodedRows) if self._is_encoded else rows.X
        learn(self._learner, X, signs, rows.scores, self._labels)
        self._counts.learned += signs.size

    def _keep(self, rows: WaitingRows) -> None:
        self.store.add(rows)
        if self.capacity is not None and len(self.store) > self.capacity:
            self._drop(self.store.take_oldest(len(self.store) - self.capacity))

    def _drop(self, rows: WaitingRows) -> None:
        self._settle((key, DROPPED) for key in rows.all_keys())
        self._counts.dropped += len(rows)

    # ---------------------------------------------------------------- keeping

    def state(self) -> Attachment:
        """All but the model, for the file of the model: `restore` goes on as if never stopped."""
        with self._lock:
            kept, arrays = self.store.state()
            labels = self._known_labels()
            return Attachment(
                {
                    "store": kept,
                    "counts": self._counts.as_dict(),
                    "position": self._position,
                    "in_time": self._in_time,
                    "moment": self._moment if math.isfinite(self._moment) else None,
                    "threshold": self._threshold,
                    "features": self._n_features,
                    "encoded": self._is_encoded,
                    "labels": None if labels is None else _described(labels),
                },
                arrays,
            )

    def restore(self, state: Attachment | tuple[dict[str, Any], Arrays]) -> Self:
        """Go on where `state` was asked for; rows that wait keep the moment at which they are due."""
        description, arrays = state
        with self._lock:
            in_time = description["in_time"]
            if in_time is not None and self._in_time is not None and in_time != self._in_time:
                kinds = ("durations", "numbers of rows")
                raise ParameterError(
                    f"The delay of labels must be {kinds[not in_time]}, by which rows wait already. "
                    f"Got {kinds[in_time]}."
                )
            self.store.restore(description["store"], arrays)
            self._in_time = in_time if self._in_time is None else self._in_time
            self._counts = Counts(**description["counts"])
            self._position, self._threshold = int(description["position"]), float(description["threshold"])
            self._moment = -math.inf if description["moment"] is None else float(description["moment"])
            self._n_features, self._is_encoded = description["features"], bool(description["encoded"])
            if description["labels"] is not None and not self._learner.started_:
                self._labels = _labels_of(description["labels"])
        return self


def _described(labels: LabelMap) -> dict[str, Any]:
    return {"classes": labels.classes.tolist(), "positive": labels.positive, "settled": labels.settled}


def _labels_of(description: dict[str, Any]) -> LabelMap:
    return LabelMap(np.array(description["classes"]), description["positive"], settled=bool(description["settled"]))
