"""Learning and scoring in turn, in runs as long as the order allows: the inner loop of the engine."""

from __future__ import annotations

from typing import Any

import numpy as np

from lopsided.labels import LabelMap, Signs
from lopsided.late.rows import Floats
from lopsided.late.schedule import Schedule

_SHORT = 16  # rows; a call for a batch costs more than so many calls for single rows


def learn(model: Any, X: Any, signs: Floats, scores: Floats, labels: LabelMap) -> None:
    """Learn from rows in order, each with the raw score that it got when it came."""
    if signs.size <= _SHORT and _takes_single_rows(model, X, labels):
        for row in range(signs.size):
            label = labels.positive if signs[row] > 0 else labels.negative
            model.learn_one(X[row], label, score=scores[row])
    elif signs.size:
        model.learn_many(X, Signs.of(signs, labels), scores=scores)


def score(model: Any, X: Any) -> Floats:
    """Raw scores; 0 for a model that has not begun."""
    if not model.started_:
        return np.zeros(X.shape[0])
    if X.shape[0] <= _SHORT and _has_single_rows(model, X):
        return np.array([model.raw_score_one(x) for x in X])
    return np.asarray(model.raw_scores(X))


def _has_single_rows(model: Any, X: Any) -> bool:
    return isinstance(X, np.ndarray) and hasattr(model, "learn_one")


def _takes_single_rows(model: Any, X: Any, labels: LabelMap) -> bool:
    # A model that has not begun, or whose labels are not yet settled, is told both labels by a batch.
    return _has_single_rows(model, X) and model.started_ and model.labels_.settled and labels.settled


class Player:
    """Goes through a schedule: rows that wait and newcomers stand in one pool, the newcomers from `n_waited` on.

    `scores` holds what the rows that wait were answered, and receives those of the newcomers; `thresholds` the
    threshold at the time of each newcomer, looked up at the rows `marks`.
    """

    def __init__(self, model: Any, pool: Any, n_waited: int, scores: Floats, labels: LabelMap | None) -> None:
        self.model, self.pool, self.n_waited, self.scores, self.labels = model, pool, n_waited, scores, labels
        self.thresholds = np.zeros(scores.size - n_waited)

    def play(self, schedule: Schedule, signs: Floats, marks: list[int], threshold: float) -> float:
        """Learn each entry before the newcomer at which it is due, and score all; returns the latest threshold."""
        n_rows = self.scores.size - self.n_waited
        cuts = np.unique(np.concatenate([schedule.at, np.asarray(marks, dtype=np.int64), [n_rows]]))
        stops = np.searchsorted(schedule.at, cuts, side="right").tolist()
        marked = set(marks)
        learned = row = 0
        for cut, stop in zip(cuts.tolist(), stops, strict=True):
            if cut > row:
                self._score(row, cut)
                self.thresholds[row:cut] = threshold
                row = cut
            if stop > learned:
                self._learn(schedule.entry[learned:stop], signs[learned:stop])
                learned = stop
            if cut in marked:
                threshold = float(self.model.threshold_) if self.model.started_ else 0.0
        return threshold

    def _score(self, start: int, stop: int) -> None:
        first = self.n_waited
        self.scores[first + start : first + stop] = score(self.model, self.pool[first + start : first + stop])

    def _learn(self, entries: Any, signs: Floats) -> None:
        assert self.labels is not None
        learn(self.model, self.pool[entries], signs, self.scores[entries], self.labels)
