"""Labels that come later: a row is scored when it comes and learned when its label is known."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from lopsided.cli.options import Delay
from lopsided.estimators.base import validation

_OFTEN = 100  # rows after which the threshold is looked up again
_TOLERANCE = 0.01  # of the delay: so much later a label may be learned, so that rows can be worked on together


class Delayed:
    """A model whose `progressive_scores` learns each row only when its label is known.

    After a delay of N rows, row t is scored by a model that has learned the rows up to t - 1 - N; after a delay of S
    seconds, by one that has learned the rows that are S seconds older. Rows are worked on in groups of up to a
    hundredth of the delay, within which nothing is learned. All else is the model's own.
    """

    def __init__(self, model: Any, delay: Delay) -> None:
        self.model, self.delay = model, delay
        self.times: Any = None  # of the rows of the next call, if the delay is in seconds
        self._waiting: deque[tuple[Any, Any, Any]] = deque()  # rows, labels and clock of each group
        self._clock = 0.0
        self._classes: Any = None
        self.thresholds: Any = None  # of the rows of the latest call, by the labels that had come
        self._since = _OFTEN  # rows since the threshold was looked up

    def __getattr__(self, name: str) -> Any:
        if name in ("model", "delay"):
            raise AttributeError(name)
        return getattr(self.model, name)

    def progressive_scores(self, X: Any, y: Any, classes: Any = None) -> Any:
        """Score all rows as they come, and learn those whose label is known by then."""
        self._classes = classes
        labels = np.asarray(y)
        clock = self._clock_of(labels.size)
        amount = self.delay.seconds or float(self.delay.rows)
        scores, self.thresholds = np.zeros(labels.size), np.zeros(labels.size)
        start = 0
        while start < labels.size:
            self._learn_until(clock[start] - amount)
            stop = int(np.searchsorted(clock, clock[start] + amount * _TOLERANCE, side="right"))
            stop = max(start + 1, min(stop, labels.size))
            if self.model._started:
                scores[start:stop] = self._scores_of(X[start:stop])
                self.thresholds[start:stop] = self._threshold(stop - start)
            self._waiting.append((X[start:stop], labels[start:stop], clock[stop - 1]))
            start = stop
        return scores

    def _scores_of(self, X: Any) -> Any:
        if _is_one_dense(X):
            return self.model.raw_score_one(X[0])
        return self.model._score(validation.as_rows(X))  # rows that an encoder has made need no checks

    def _threshold(self, n_rows: int) -> float:
        self._since += n_rows
        if self._since >= _OFTEN:
            self._since, self._latest = 0, float(self.model.threshold_)
        return self._latest

    def finish(self) -> None:
        """Learn all that waits: the labels have come in at last."""
        self._learn_until(np.inf)

    def _learn_until(self, moment: float) -> None:
        # A row of clock c is learned before a row of clock c + amount + (something), never at the same moment.
        while self._waiting and self._waiting[0][2] < moment:
            X, y, _ = self._waiting.popleft()
            # Every row is scored on the way, for thresholds and probabilities are kept by these scores.
            if not (self.model._started and self.model._labels.settled):
                self.model.progressive_scores(X, y, classes=self._classes)
            elif _is_one_dense(X):
                if not self.model._scores_every_row:
                    self.model._score_every_row()
                self.model.learn_one(X[0], y[0])
            else:
                self.model._learn_checked(X, self.model._labels.signs(y), np.ones(y.size), every_score=True)

    def _clock_of(self, n_rows: int) -> Any:
        if self.delay.seconds:
            times = np.where(np.isnan(self.times), -np.inf, self.times)
            # Time does not run backwards: a row that is late has the time of those before it.
            clock = np.maximum(np.maximum.accumulate(times), self._clock or -np.inf)
            self._clock = float(clock[-1])
            return clock
        first = self._clock
        self._clock += n_rows
        return first + np.arange(n_rows, dtype=np.float64)


def _is_one_dense(X: Any) -> bool:
    """Whether the fast path for single examples can take it."""
    return isinstance(X, np.ndarray) and len(X) == 1
