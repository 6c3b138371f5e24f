"""The engine for late labels: scores rows when they come, keeps them, and learns each once when its label is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, Self

import numpy as np

from lopsided.constraints import ParameterError
from lopsided.labels import LabelMap, Signs
from lopsided.late import door
from lopsided.late.labelling import Labelling
from lopsided.late.outcomes import Outcome
from lopsided.late.playing import arrived
from lopsided.late.rows import Floats
from lopsided.late.store import Key, MemoryStore
from lopsided.protocol import Answer


class LateLearner(Labelling):
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
        "negative:5000", rows), "drop:30d" forgets it then, "drop" and None at the end, "skip" when it has been scored.
        Only with None must every row of `progressive_scores` have a label. Labels that come after the rule has been
        applied are refused, unless they are corrections.
    store : where rows wait; None is a `MemoryStore`.
    classes : the two labels, unless the first labels show them.
    corrections : what becomes of another label for a row that has been learned: "ignore" (the first one stands), or
        "learn": the row is learned once more, with the new label. That needs the rows that have been learned, of which
        the store keeps the latest (100,000 in memory), also in the file of the model.
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

    # ---------------------------------------------------------------- rows whose labels are known, but come late

    def progressive_scores(
        self,
        X: Any,
        y: Any = None,
        *,
        times: Any = None,
        delays: Any = None,
        keys: Iterable[Any] | None = None,
        choose: Callable[[slice, Floats, Floats], Floats] | None = None,
    ) -> Floats:
        """Score all rows as they come, and learn those whose label is known by then.

        Parameters
        ----------
        X, y : rows and their labels, which the model gets to see only when they are due. Rows may come in any pieces.
            None: labels come by key, by `expect` or `label`.
        times : seconds of each row, needed by a delay or a rule in time.
        delays : of each row, instead of the delay of all: rows, or seconds if `times` are given; NaN is never.
        keys : of the rows, if labels are to come by key, or rows may be repeated.
        choose : whose labels are ever seen. Called with a slice of these rows when they have been scored, their scores,
            and the thresholds at that time (of `keep_thresholds`); says what each label counts when it is learned, 0
            if it is never seen. Such a row is dropped, or if "negative:30d" is the rule, taken as negative after that
            time. See `lopsided.late.SelectiveLabels`.
        """
        with self._lock:
            X = self._features(X)
            n_rows = X.shape[0]
            if not n_rows:
                return np.zeros(0)
            y = np.full(n_rows, np.nan) if y is None and keys is not None else y
            signs, labels = door.signs_of(y, n_rows, self._known_labels(), self._classes, self._pos_label)
            if self.unlabelled is None and delays is None and keys is None and np.isnan(signs).any():
                raise ParameterError(
                    "Every row must have a label unless a rule says what becomes of rows without one. "
                    f"Got none in row {int(np.flatnonzero(np.isnan(signs))[0])}."
                )
            is_prompt = not self.delay and (self.unlabelled is None or self._skips) and choose is None
            if is_prompt and delays is None and keys is None and labels is not None and not len(self.store):
                return self._test_then_train(X, signs, labels)
            moments = self._moments(n_rows, times)
            prompt = np.zeros(n_rows, dtype=np.bool_) if self.delay or delays is not None else ~np.isnan(signs)
            amounts: float | Floats = self.delay.amount
            if delays is not None:
                amounts = door.checked_delays(delays, n_rows, in_time=self._goes_by_time(times))
                signs = np.where(np.isnan(amounts), np.nan, signs)
            waits = np.where(np.isnan(signs), self._patience, amounts)
            named = None if keys is None else door.keys_of(keys, n_rows)
            self._labels = labels
            return self._in_pieces(self._newcomers(X, moments, waits, signs, named), moments, prompt, times, choose)

    def _test_then_train(self, X: Any, signs: Floats, labels: LabelMap) -> Floats:
        """No delay at all: the learner's own way, in pieces only where a threshold is to be noted."""
        self._labels = labels
        n_rows, y = signs.size, Signs.of(signs, labels)
        marks = self._marks(n_rows)
        cuts = sorted({0, n_rows, *marks})
        scores, self.thresholds = np.zeros(n_rows), np.zeros(n_rows)
        for start, stop in pairwise(cuts):
            if start in marks:
                self._threshold = float(self._learner.threshold_) if self._learner.started_ else 0.0
            self.thresholds[start:stop] = self._threshold
            scores[start:stop] = self._progressive(X[start:stop], y[start:stop])
        self._note(X, n_rows)
        skipped = int(np.count_nonzero(np.isnan(signs)))
        self._counts.learned += n_rows - skipped
        self._counts.dropped += skipped
        return scores

    def _progressive(self, X: Any, y: Any) -> Floats:
        if hasattr(self._learner, "progressive_scores"):
            return np.asarray(self._learner.progressive_scores(X, y))
        scores = np.zeros(y.size)
        for row in range(y.size):
            if self._learner.started_:
                scores[row] = self._learner.raw_scores(X[row : row + 1])[0]
            if y[row] == y[row]:
                self._learner.learn_many(X[row : row + 1], y[row : row + 1])
        return scores

    def finish(self) -> Self:
        """Let time run on until nothing waits: labels on their way are learned, other rows meet their rule."""
        with self._lock:
            self._meet_labels(math.inf)
            self._learn_due(math.inf)
            if len(self.store):
                self._forget(self.store.take_oldest(len(self.store)))
        return self

    def learn_known(self) -> Self:
        """Let all labels arrive that are on their way, and learn them; rows without a label wait on."""
        with self._lock:
            self._meet_labels(math.inf)
            waited = self.store.take_due(math.inf)
            if waited is not None:
                unlabelled = np.isnan(waited.signs)
                self.store.put_back(waited.part(np.flatnonzero(unlabelled)))
                known = waited.part(np.flatnonzero(~unlabelled))
                self._learn(known, known.signs, give_back=self.store.put_back)
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
            new = self._newcomers(X, moments, np.full(n_rows, self._patience), np.full(n_rows, np.nan), named)
            return self._in_pieces(new, moments, np.zeros(n_rows, dtype=np.bool_), times)

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
                self._meet_labels(float(moments[0]))
                self._learn_due(float(moments[0]))
                X = arrived(self._learner, X)
            answer = self._learner.answer(X) if n_rows and self._learner.started_ else self._no_answer(n_rows)
            new = self._newcomers(X, moments, np.full(n_rows, self._patience), np.full(n_rows, np.nan), named)
            new.scores[:] = answer.score
            fresh = self._fresh(named, n_rows)
            self._counts.repeated += n_rows - int(np.count_nonzero(fresh))
            self._keep(new.part(np.flatnonzero(fresh)))
            self._note(X, n_rows, moments, times)
            self._learn_parked(named)
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
            named, signs, known = self._named_labels(keys, labels)
            self._labels = known
            if time is not None:
                self.advance_to(time)
            return self._learn_labels(named, signs)

    def expect(self, keys: Iterable[Any], labels: Any, times: Any = None) -> list[Outcome]:
        """Labels that are learned when their row comes, or if that is later, when they become known: at `times`.

        A label without a time is known now: to a row that comes after it the delay of the engine applies. With `times`
        labels may be told long before. One that is known before its row comes is parked, and learned as soon as that
        row has been scored. What becomes of second labels for a key is decided when they become known, as in `label`.
        They are learned in the order of their times, of the same time that of the older row first; and what is due at
        a moment is learned before second labels of that moment.
        """
        with self._lock:
            named, signs, known = self._named_labels(keys, labels)
            moments = np.full(len(named), -math.inf) if times is None else np.asarray(times, dtype=np.float64)
            if moments.shape != (len(named),) or np.isnan(moments).any():
                raise ParameterError(
                    f"The times of labels must be as many as the labels, {len(named)}, all of them numbers. "
                    f"Got shape {moments.shape}{' with NaN' if np.isnan(moments).any() else ''}."
                )
            if times is not None and self._in_time is False:
                raise ParameterError("Labels with times must come for rows with times. Got rows that are counted.")
            self._labels = known
            if times is not None:
                self._in_time = True
            return [self._told(*label) for label in zip(named, signs.tolist(), moments.tolist(), strict=True)]

    def told(self, keys: Iterable[Any]) -> Any:
        """The labels that are expected for these keys as `Signs`, of several the last; NaN where there is none."""
        with self._lock:
            labels = self._known_labels()
            assert labels is not None or not self._coming
            signs = [self._coming.last_of(key) for key in door.keys_of(keys)]
            return np.array(signs) if labels is None else Signs.of(signs, labels)

    def scores_in_waiting(self, keys: Iterable[Any]) -> Floats:
        """The scores of rows in memory that wait for a label of these keys, and expect none yet; NaN where none does.

        A key that is named twice has its score once.
        """
        with self._lock:
            named = door.keys_of(keys)
            scores = dict.fromkeys(named, math.nan)
            store = self.store
            for key in scores:
                if isinstance(store, MemoryStore) and store.is_waiting(key) and self._coming.first_of(key) is None:
                    row = store.copy_of(key)
                    scores[key] = float(row.scores[0]) if np.isnan(row.signs[0]) else math.nan
            return np.array([scores.pop(key, math.nan) for key in named], dtype=np.float64)

    def _named_labels(self, keys: Iterable[Any], labels: Any) -> tuple[list[Key], Floats, LabelMap | None]:
        named = door.keys_of(keys)
        signs, known = door.signs_of(labels, len(named), self._known_labels(), self._classes, self._pos_label)
        if np.count_nonzero(np.isnan(signs)):
            nameless = named[int(np.flatnonzero(np.isnan(signs))[0])]
            raise ParameterError(f"A label that comes by key must not be missing. Got none for key {nameless!r}.")
        return named, signs, known

    def advance_to(self, time: float) -> Self:
        """It is now `time`, whether or not a row comes: what is due before it is learned, or meets its rule."""
        with self._lock:
            if self._in_time is not False and math.isfinite(time) and time > self._moment:
                self._meet_labels(time)
                self._in_time, self._moment = True, float(time)
                self._learn_due(self._moment)
        return self
