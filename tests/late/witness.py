"""A learner that notes what it is told, in whatever way: a row is its own number."""

import numpy as np

from lopsided.labels import LabelMap


class Witness:
    """Learns and scores in batches and singly; a score is how many rows it had learned, and an order-aware sum."""

    threshold_rule_ = "zero"
    threshold_ = 0.0
    pos_label = None

    def __init__(self):
        self.learned = []  # (number, sign, score that was answered)
        self.weights = []
        self.poison = set()  # numbers of rows that cannot be learned
        self._sum = 0.0

    def _fail_on(self, X):
        """A call that fails has changed nothing."""
        for x in X:
            if int(x[0]) in self.poison:
                raise RuntimeError(f"row {int(x[0])}")

    @property
    def started_(self):
        return bool(self.learned)

    @property
    def labels_(self):
        return LabelMap(np.array([0, 1]))

    def learn_many(self, X, y, *, scores=None, classes=None, sample_weight=None):
        self._fail_on(X)
        self.weights += np.ones(len(X)).tolist() if sample_weight is None else sample_weight.tolist()
        signs = self.labels_.signs(y if isinstance(y, np.ndarray) else np.asarray(y))
        for x, sign, score in zip(X, signs.tolist(), np.asarray(scores).tolist(), strict=True):
            self._learn(x, sign, score)

    def learn_one(self, x, y, *, score=None, weight=1.0):
        self._fail_on([x])
        self.weights.append(weight)
        self._learn(x, 1.0 if y == 1 else -1.0, float(score))

    def _learn(self, x, sign, score):
        self.learned.append((int(x[0]), sign, score))
        self._sum = 0.5 * self._sum + sign * (int(x[0]) + 1)  # depends on the order, and on each row once

    def raw_scores(self, X):
        return np.full(len(X), self._sum)

    def raw_score_one(self, x):
        return self._sum


class SingleWitness(Witness):
    """The same with the fast path for single rows."""

    def take_turns(self, X, turns, scores, places, weights=None):
        self._fail_on(X[~np.isnan(turns)])
        weights = np.ones(turns.size) if weights is None else weights
        self.weights += weights[~np.isnan(turns)].tolist()
        for x, turn, place in zip(X, turns.tolist(), places.tolist(), strict=True):
            if turn == turn:
                self._learn(x, turn, float(scores[place]))
            else:
                scores[place] = self._sum
