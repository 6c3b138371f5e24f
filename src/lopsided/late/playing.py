"""Learning and scoring in turn, in runs as long as the order allows: the inner loop of the engine."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

import numpy as np

from lopsided.labels import LabelMap, Signs
from lopsided.late.rows import Floats, Integers
from lopsided.late.schedule import Schedule

_SHORT = 16  # rows; a call for a batch costs more than so many calls for single rows
_TURNS = 8192  # at a time, because their rows are copied


def arrived(model: Any, X: Any) -> Any:
    """Rows as they are to wait: a model with a history observes them when they come, and they hold what it knew."""
    return model.arrived(X) if observes(model) else X


def observes(model: Any) -> bool:
    """Whether rows mean something to the model before their labels come."""
    return hasattr(model, "arrived")


def score(model: Any, X: Any, *, short: int = _SHORT) -> Floats:
    """Raw scores; 0 for a model that has not begun. So many rows are scored one by one, more of them at once."""
    if not model.started_:
        return np.zeros(X.shape[0])
    if X.shape[0] <= short and _has_single_rows(model, X):
        return np.array([model.raw_score_one(x) for x in X])
    return np.asarray(model.raw_scores(X))


def takes_turns(model: Any) -> bool:
    """Whether it is a `lopsided.protocol.TurnTaker`; asked for each row, which is too often for isinstance."""
    return hasattr(model, "take_turns")


def _has_single_rows(model: Any, X: Any) -> bool:
    return isinstance(X, np.ndarray) and takes_turns(model)


def _takes_single_rows(model: Any, X: Any, labels: LabelMap) -> bool:
    return _has_single_rows(model, X) and _knows(model, labels)


def _knows(model: Any, labels: LabelMap) -> bool:
    """A model that has not begun, or whose labels are not yet settled, is told both labels by a batch."""
    return bool(model.started_ and model.labels_.settled and labels.settled)


class Player:
    """Goes through a schedule: rows that wait and newcomers stand in one pool, the newcomers from `n_waited` on.

    `scores` holds what the rows that wait were answered, and receives those of the newcomers; `thresholds` receives the
    threshold at the time of each newcomer. `weights` are what rows count when they are learned, None: 1 each.

    `n_learned` entries of the schedule and `n_scored` newcomers are done, also when a call of the model raises, which
    then has changed nothing.
    """

    def __init__(
        self,
        model: Any,
        pool: Any,
        n_waited: int,
        scores: Floats,
        labels: LabelMap | None,
        weights: Floats | None = None,
    ) -> None:
        self.model, self.pool, self.n_waited, self.scores, self.labels = model, pool, n_waited, scores, labels
        self.weights = weights
        self.thresholds = np.zeros(scores.size - n_waited)
        self.n_learned = self.n_scored = 0

    def play(self, schedule: Schedule, signs: Floats, marks: list[int], threshold: float) -> float:
        """Learn each entry before the newcomer at which it is due, and score all of these, if there are any.

        At the newcomers `marks` the threshold is looked up, after what is due before them; the latest is returned.
        """
        places, turns = self._in_order(schedule, signs)
        if not turns.size:
            return threshold
        is_score = np.isnan(turns)
        changes = np.flatnonzero(is_score[1:] != is_score[:-1]) + 1
        marked = np.flatnonzero(is_score)[marks]
        starts = np.unique(np.concatenate([[0], changes, marked]).astype(np.int64))
        stops = np.append(starts[1:], turns.size)
        is_long = stops - starts > _SHORT
        row_of_mark = dict(zip(marked.tolist(), marks, strict=True))
        # Runs with which a call of their own begins; and an end, so that there is always a next one.
        apart = [*np.flatnonzero(is_long | np.isin(starts, marked)).tolist(), starts.size]
        run, n_runs, runs = 0, starts.size, starts.tolist()
        while run < n_runs:
            start = runs[run]
            if start in row_of_mark:
                threshold = float(self.model.threshold_) if self.model.started_ else 0.0
                self.thresholds[row_of_mark[start] :] = threshold
            elif not run:
                self.thresholds[:] = threshold
            last = run + 1
            if not is_long[run] and self._takes_turns():
                last = min(apart[bisect_left(apart, last)], bisect_left(runs, start + _TURNS, last))
            stop = runs[last] if last < n_runs else turns.size
            self._do(places[start:stop], turns[start:stop], in_turn=last > run + 1)
            run = last
        return threshold

    def _in_order(self, schedule: Schedule, signs: Floats) -> tuple[Integers, Floats]:
        """All that is to be done: which row of the pool, and its sign if it is to be learned, NaN if scored."""
        n_rows = self.scores.size - self.n_waited
        places = np.concatenate([schedule.entry, self.n_waited + np.arange(n_rows)])
        turns = np.concatenate([signs, np.full(n_rows, np.nan)])
        order = np.argsort(np.concatenate([2 * schedule.at, 2 * np.arange(n_rows) + 1]), kind="stable")
        return places[order], turns[order]

    def _takes_turns(self) -> bool:
        can = takes_turns(self.model) and not observes(self.model)
        return can and self.labels is not None and _knows(self.model, self.labels)

    def _do(self, places: Integers, turns: Floats, *, in_turn: bool) -> None:
        if in_turn:
            more = {} if self.weights is None else {"weights": self.weights[places]}
            self.model.take_turns(self.pool[places], turns, self.scores, places, **more)
            n_scored = int(np.count_nonzero(np.isnan(turns)))
            self.n_scored += n_scored
            self.n_learned += turns.size - n_scored
        elif turns[0] != turns[0]:
            rows = slice(places[0], places[-1] + 1)
            if observes(self.model):
                self.pool[rows] = arrived(self.model, self.pool[rows])
            self.scores[places] = score(self.model, self.pool[rows])
            self.n_scored += places.size
        else:
            self.learn(places, turns)

    def learn(self, places: Integers | slice, signs: Floats) -> None:
        """Learn from rows in order, each with the raw score that it got when it came."""
        assert self.labels is not None
        X, scores = self.pool[places], self.scores[places]
        weights = None if self.weights is None else self.weights[places]
        if signs.size <= _SHORT and _takes_single_rows(self.model, X, self.labels):
            for row in range(signs.size):
                label = self.labels.positive if signs[row] > 0 else self.labels.negative
                more = {} if weights is None else {"weight": float(weights[row])}
                self.model.learn_one(X[row], label, score=scores.item(row), **more)
                self.n_learned += 1
        else:
            weighted = {} if weights is None else {"sample_weight": weights}
            self.model.learn_many(X, Signs.of(signs, self.labels), scores=scores, **weighted)
            self.n_learned += signs.size
