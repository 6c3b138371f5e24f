"""The engine for late labels: scores rows when they come, keeps them, and learns each once when its label is known."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from threading import RLock
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from lopsided.constraints import ParameterError
from lopsided.encoding import EncodedRows
from lopsided.estimators.state.files import Attachment
from lopsided.labels import LabelMap, Signs, map_of_classes
from lopsided.late import door
from lopsided.late.any_learner import as_late_learner
from lopsided.late.delay import Delay, Unlabelled
from lopsided.late.outcomes import Counts, Outcome
from lopsided.late.playing import Player, learn
from lopsided.late.rows import Arrays, Floats, stacked
from lopsided.late.schedule import Schedule, rule_may_move, scheduled, threshold_marks
from lopsided.late.store import DROPPED, Key, MemoryStore, WaitingRows, WaitingStore
from lopsided.protocol import Answer


class LateLearner:
    """A learner to which labels come late: by key, after a delay of rows or of time, or never.

    A row is scored when it comes, by a model that has learned precisely the rows whose labels were known before; it
    waits with that score; and it is learned once, when its label is known. Thresholds, probabilities and measures go by
    the score that was answered at the time.

    Exactly: after a delay of N rows, row t is scored by a model that has learned the rows s with s + N < t. After a
    delay of S seconds, by one that has learned the rows whose moment is more than S seconds before that of row t, never
    exactly S: a label that is due at a moment is not known to rows of the same moment. Time does not run backwards: a
    row that is late, or has no time, has the moment of those before it. Labels are learned in the order in which they
    become known, of those known together that of the older row first. No delay is test, then train: the learner's own
    `progressive_scores`.

    Several threads may use one engine: their calls wait for each other. Cost: that of the learner, and O(1) a row.

    Parameters
    ----------
    model : a learner, or any classifier with partial_fit and decision_function.
    delay : how late labels are in `progressive_scores`: a `Delay`, 500 (rows), "7d". None: not at all.
    unlabelled : what becomes of a row whose label does not come: "negative:30d" learns it as negative after 30 days (or
        "negative:5000", rows), "drop:30d" forgets it then, "drop" and None at the end. Only with None must every
        row of `progressive_scores` have a label. Labels that come after the rule has been applied are refused.
    store : where rows wait; None is a `MemoryStore`.
    classes : the two labels, unless the first labels show them.
    capacity : the most rows that may wait, looked at after every call; the oldest are dropped. None: any number.
    keep_thresholds : whether `thresholds` are kept. One that is found from scores is looked up at every 100th row,
        because it sorts thousands of them.

    Attributes
    ----------
    counts : rows and labels so far, and what became of them.
    thresholds : where the decision lay when each row of the latest call came, by the labels known then.

    Notes
    -----
    A command that replays files calls `progressive_scores(X, y, times=...)` for every portion, `y` being names, or
    `Signs` with NaN where there is no label; at the end `finish()` if all that waits is to be learned, or
    `save_model(model, path, attached={"late": late.state()})`, and later `late.restore(attached["late"])`, if it is to
    wait on. A service calls `answer` or `score` with the keys of events, and `label` when labels come.

    Examples
    --------
    >>> from lopsided import KOIL, OnlineScaler, StreamPipeline
    >>> from lopsided.datasets import transactions
    >>> from lopsided.late import LateLearner
    >>> from lopsided.metrics import auroc
    >>> stream = transactions(4000)
    >>> late = LateLearner(StreamPipeline(OnlineScaler(), KOIL(gamma=0.1, random_state=0)), delay=500)
    >>> scores = late.progressive_scores(stream.X, stream.y)
    >>> round(auroc(stream.y, scores), 3), late.counts.learned, late.counts.waiting
    (0.717, 3499, 501)
    >>> late.finish().counts.learned
    4000
    """

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

    # ---------------------------------------------------------------- rows whose labels are known, but come late

    def progressive_scores(
        self, X: Any, y: Any, *, times: Any = None, delays: Any = None, keys: Iterable[Any] | None = None
    ) -> Floats:
        """Score all rows as they come, and learn those whose label is known by then.

        Parameters
        ----------
        X, y : rows and their labels, which the model gets to see only when they are due. Rows may come in any pieces.
        times : seconds of each row, needed by a delay or a rule in time.
        delays : of each row, instead of the delay of all: rows, or seconds if `times` are given; NaN is never.
        keys : of the rows, if labels of others are to come by key, or rows may be repeated.
        """
        with self._lock:
            X = self._features(X)
            n_rows = X.shape[0]
            if not n_rows:
                return np.zeros(0)
            signs, self._labels = door.signs_of(y, n_rows, self._known_labels(), self._classes, self._pos_label)
            if self.unlabelled is None and delays is None and np.isnan(signs).any():
                raise ParameterError(
                    "Every row must have a label unless a rule says what becomes of rows without one. "
                    f"Got none in row {int(np.flatnonzero(np.isnan(signs))[0])}."
                )
            if not self.delay and self.unlabelled is None and delays is None and keys is None and not len(self.store):
                return self._test_then_train(X, signs)
            moments = self._moments(n_rows, times)
            prompt = None if self.delay or delays is not None else ~np.isnan(signs)
            amounts: float | Floats = self.delay.amount
            if delays is not None:
                amounts = door.checked_delays(delays, n_rows, in_time=bool(self._in_time))
                signs = np.where(np.isnan(amounts), np.nan, signs)
            dues = np.where(np.isnan(signs), moments + self._patience, moments + amounts)
            named = None if keys is None else door.keys_of(keys, n_rows)
            return self._step(self._newcomers(X, dues, signs, named), moments, prompt)

    def _test_then_train(self, X: Any, signs: Floats) -> Floats:
        """No delay at all: the learner's own way, in pieces only where a threshold is to be noted."""
        assert self._labels is not None
        n_rows, y = signs.size, Signs.of(signs, self._labels)
        marks = self._marks(n_rows)
        cuts = sorted({0, n_rows, *marks})
        scores, self.thresholds = np.zeros(n_rows), np.zeros(n_rows)
        for start, stop in pairwise(cuts):
            if start in marks:
                self._threshold = float(self._learner.threshold_) if self._learner.started_ else 0.0
            self.thresholds[start:stop] = self._threshold
            scores[start:stop] = self._progressive(X[start:stop], y[start:stop])
        self._position += n_rows
        self._counts.scored += n_rows
        self._counts.learned += n_rows
        return scores

    def _progressive(self, X: Any, y: Any) -> Floats:
        if hasattr(self._learner, "progressive_scores"):
            return np.asarray(self._learner.progressive_scores(X, y))
        scores = np.zeros(y.size)
        for row in range(y.size):
            if self._learner.started_:
                scores[row] = self._learner.raw_scores(X[row : row + 1])[0]
            self._learner.learn_many(X[row : row + 1], y[row : row + 1])
        return scores

    def finish(self) -> Self:
        """Let time run on until nothing waits: labels on their way are learned, other rows meet their rule."""
        with self._lock:
            self._learn_due(math.inf)
            if len(self.store):
                self._drop(self.store.take_oldest(len(self.store)))
        return self

    # ---------------------------------------------------------------- rows whose labels come by key

    def score(self, X: Any, keys: Iterable[Any] | None = None, times: Any = None) -> Floats:
        """Raw scores of rows that are to wait for labels; 0 while the model has not begun.

        Without `keys` the key of a row is its number in the stream, see `position`. A row with the key of one before
        it is scored and not remembered. `times` are needed by a rule in time.
        """
        with self._lock:
            X = self._features(X)
            n_rows = X.shape[0]
            if not n_rows:
                return np.zeros(0)
            named = door.keys_of(range(self._position, self._position + n_rows) if keys is None else keys, n_rows)
            moments = self._moments(n_rows, times)
            return self._step(self._newcomers(X, moments + self._patience, np.full(n_rows, np.nan), named), moments)

    def answer(self, X: Any, keys: Iterable[Any] | None = None, times: Any = None) -> Answer:
        """Scores, probabilities and decisions for rows that come together and are to wait for labels.

        What is due before the first of them is learned before, and nothing between them. A model that has not begun
        answers 0, NaN, and the label of the common class.
        """
        with self._lock:
            X = self._features(X)
            n_rows = X.shape[0]
            named = door.keys_of(range(self._position, self._position + n_rows) if keys is None else keys, n_rows)
            moments = self._moments(n_rows, times)
            if n_rows:
                self._learn_due(float(moments[0]))
            answer = self._learner.answer(X) if n_rows and self._learner.started_ else self._no_answer(n_rows)
            new = self._newcomers(X, moments + self._patience, np.full(n_rows, np.nan), named)
            new.scores[:] = answer.score
            self._keep(new.part(np.flatnonzero(self._fresh(named, n_rows))))
            self._note(n_rows, moments)
            return answer

    def _no_answer(self, n_rows: int) -> Answer:
        labels = self._known_labels()
        decision = None if labels is None else labels.names(np.zeros(n_rows, dtype=np.bool_))
        return Answer(np.zeros(n_rows), np.full(n_rows, np.nan), decision, 0.0)

    def label(self, keys: Iterable[Any], labels: Any, time: float | None = None) -> list[Outcome]:
        """Learn rows whose labels have come, in this order; says what became of each label.

        `time` is when they came, if a rule goes by time: rows that are due before it meet their rule first.
        """
        with self._lock:
            named = door.keys_of(keys)
            signs, self._labels = door.signs_of(
                labels, len(named), self._known_labels(), self._classes, self._pos_label
            )
            if np.isnan(signs).any():
                raise ParameterError(f"A label that comes by key must be one. Got none for key {named[0]!r}.")
            if time is not None:
                self.advance_to(time)
            outcomes, chosen = self._judged(named, signs.tolist())
            if chosen:
                due = [named[k] for k in chosen]
                self._learn(self.store.take(due), signs[chosen])
                self.store.settle(due, signs[chosen].tolist())
            return outcomes

    def _judged(self, keys: list[Key], signs: list[float]) -> tuple[list[Outcome], list[int]]:
        """The outcome of each label, and which of them are to be learned."""
        counts, outcomes, chosen = self._counts, [], []
        now: dict[Key, float] = {}
        for k, (key, sign) in enumerate(zip(keys, signs, strict=True)):
            fate = now.get(key)
            if fate is None and self.store.is_waiting(key):
                now[key] = sign
                chosen.append(k)
                outcomes.append(Outcome.LEARNED)
                continue
            fate = self.store.fate_of(key) if fate is None else fate
            if fate is None:
                counts.unknown += 1
                outcomes.append(Outcome.UNKNOWN)
            elif fate == DROPPED:
                counts.too_late += 1
                outcomes.append(Outcome.TOO_LATE)
            elif fate == sign:
                counts.duplicates += 1
                outcomes.append(Outcome.DUPLICATE)
            else:
                counts.conflicts += 1
                outcomes.append(Outcome.CONFLICT)
        return outcomes, chosen

    def advance_to(self, time: float) -> Self:
        """It is now `time`, whether or not a row comes: what is due before it is learned, or meets its rule."""
        with self._lock:
            if self._in_time and math.isfinite(time) and time > self._moment:
                self._moment = float(time)
                self._learn_due(self._moment)
        return self

    # ---------------------------------------------------------------- one step

    def _features(self, X: Any) -> Any:
        if self._n_features is None and self._learner.started_:
            self._n_features = getattr(self.model, "n_features_in_", None)
        X = door.features(self.model, X, self._n_features)
        self._n_features, self._is_encoded = X.shape[1], isinstance(X, EncodedRows)
        return X

    def _known_labels(self) -> LabelMap | None:
        return self._learner.labels_ if self._learner.started_ else self._labels

    def _newcomers(self, X: Any, dues: Floats, signs: Floats, keys: list[Key] | None) -> WaitingRows:
        positions = self._position + np.arange(signs.size)
        return WaitingRows(X, np.zeros(signs.size), positions, dues, signs, keys)

    @property
    def _patience(self) -> float:
        """How long a row without a label waits before its rule is applied."""
        after = None if self.unlabelled is None else self.unlabelled.after
        return math.inf if after is None else after.amount

    def _moments(self, n_rows: int, times: Any) -> Floats:
        if self._in_time is None:
            self._in_time = times is not None
        if not self._in_time:
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

    def _step(self, new: WaitingRows, moments: Floats, prompt: npt.NDArray[np.bool_] | None = None) -> Floats:
        """Score newcomers in order, learning before each what has become due, and keep those that are not due yet."""
        n_rows = moments.size
        fresh = self._fresh(new.keys, n_rows)
        prompt = fresh & (False if prompt is None else prompt)
        waited = self.store.take_due(float(moments[-1])) or new.part(slice(0, 0))
        n_waited = len(waited)
        schedule = scheduled(waited, moments, replace(new, dues=np.where(fresh, new.dues, math.inf)), prompt)
        stays = fresh
        stays[schedule.entry[schedule.entry >= n_waited] - n_waited] = False
        pool = self._typed(waited.X, new.X)
        scores = np.concatenate([waited.scores, new.scores])
        schedule, signs = self._by_the_rule(schedule, waited, new)
        player = Player(self._learner, pool, n_waited, scores, self._labels)
        self._threshold = player.play(schedule, signs, self._marks(n_rows), self._threshold)
        self.thresholds = player.thresholds
        new = replace(new, scores=scores[n_waited:])
        self._keep(new.part(np.flatnonzero(stays)))
        self._note(n_rows, moments)
        self._counts.learned += schedule.entry.size
        return new.scores

    def _note(self, n_rows: int, moments: Floats) -> None:
        """So many rows have come, the latest now."""
        self._position += n_rows
        self._counts.scored += n_rows
        if self._in_time and n_rows:
            self._moment = float(moments[-1])

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
        return rows.view(EncodedRows) if self._is_encoded else rows

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
