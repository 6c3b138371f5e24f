"""A learner of somebody else: plain Python and NumPy, derived from nothing, that has what `lopsided.protocol` asks for.

It ranks by how much nearer a row is to the mean of the rare class than to that of the other.
"""

import copy
import json
from threading import RLock

import numpy as np

from lopsided.labels import LabelMap, Signs
from lopsided.protocol import Answer

_LARGEST = 1e150


class MeanRanker:
    def __init__(self):
        self._lock = RLock()
        self._forget()

    def _forget(self):
        self.started_ = False
        self.threshold_ = 0.0
        self.labels_ = None
        self._waiting = None  # the label of a stream that has shown 1 only
        self._counts, self._means, self._answered = [0, 0], None, [0.0, 0.0]

    # ---- learning ----

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        return self.learn_many(X, y, classes=classes, sample_weight=sample_weight)

    def learn_many(self, X, y, *, scores=None, classes=None, sample_weight=None):
        self._learn(X, y, scores, classes, sample_weight)
        return self

    def progressive_scores(self, X, y, classes=None):
        return self._learn(X, y, None, classes, None)

    def fit(self, X, y, sample_weight=None):
        with self._lock:
            unused = MeanRanker()
            weights = _checked_weights(sample_weight, len(y) if y is not None else 0)
            labels = np.unique(np.asarray(y)[weights > 0]) if y is not None and len(weights) == len(y) else [0, 1]
            if len(labels) != 2:
                raise ValueError("fit must be given two classes.")
            unused._learn(X, y, None, None, sample_weight)
            state = vars(unused)
            del state["_lock"]
            vars(self).update(state)
        return self

    def learn_one(self, x, y, *, score=None, weight=1.0):
        scores = None if score is None else [score]
        return self.learn_many(self._one(x), [y], scores=scores, sample_weight=[weight])

    def finish(self):
        return self

    def _learn(self, X, y, scores, classes, sample_weight):
        with self._lock:
            X = self._checked(X)
            labels, signs = self._labelled(y, classes, len(X))
            weights = _checked_weights(sample_weight, len(X))
            answered = None if scores is None else np.asarray(scores, dtype=float)
            if answered is not None and np.isinf(answered).any():
                raise ValueError("Scores must be finite.")
            if not self.started_:
                self._means = np.zeros((2, X.shape[1]))
            self.started_, self.labels_, self.n_features_in_ = True, labels, X.shape[1]
            reported = np.zeros(len(X))
            for t, (x, sign) in enumerate(zip(X, signs, strict=True)):
                if weights[t] > 0:
                    reported[t] = self._score(x)
                    self._step(x, int(sign > 0), weights[t], reported[t] if answered is None else answered[t])
            return reported

    def _step(self, x, side, weight, answered):
        self._counts[side] += 1
        self._means[side] += weight * (x - self._means[side]) / self._counts[side]
        self._answered[side] += float(answered)

    def _score(self, x):
        return float(((x - self._means[0]) ** 2).sum() - ((x - self._means[1]) ** 2).sum())

    # ---- the door ----

    def _checked(self, X):
        if not isinstance(X, np.ndarray | list):
            raise TypeError("Rows must be an array.")
        X = np.asarray(X)
        if X.dtype.kind not in "fiu" or X.ndim != 2 or 0 in X.shape:
            raise ValueError("Rows must be a matrix of numbers.")
        if not (np.abs(X) < _LARGEST).all() or (self.started_ and X.shape[1] != self.n_features_in_):
            raise ValueError("Rows must be finite and as wide as before.")
        return X.astype(float)

    def _one(self, x):
        if isinstance(x, dict):
            if not self.started_:
                self.names = list(x)
            if sorted(x) != sorted(self.names):
                raise ValueError("A mapping must have the names of the first one.")
            x = [x[name] for name in self.names]
        return np.asarray(x, dtype=float)[None]

    def _labelled(self, y, classes, n_rows):
        if isinstance(y, Signs):
            return self.labels_ or y.labels, np.asarray(y)
        y = np.asarray(y)
        if y.shape != (n_rows,) or y.dtype.kind not in "biufU":
            raise ValueError("Labels must be a vector, one a row.")
        labels = self.labels_
        if labels is None or not labels.settled:
            labels = _found(np.unique(np.asarray(classes) if classes is not None else y), labels)
        return labels, labels.signs(y)

    # ---- answering ----

    def raw_scores(self, X):
        with self._lock:
            self._check_started()
            return np.array([self._score(x) for x in self._checked(X)])

    def answer(self, X):
        with self._lock:
            score = self.raw_scores(X)
            flagged = score > self.threshold_
            return Answer(score, self._probability(score), self.labels_.names(flagged), self.threshold_)

    def _probability(self, score):
        middle = sum(self._answered) / max(1, sum(self._counts))
        return 0.5 + np.arctan(score - middle) / np.pi

    def decision_function(self, X):
        return self.raw_scores(X) - self.threshold_

    def predict(self, X):
        return self.answer(X).decision

    def predict_proba(self, X):
        rare = self.answer(X).probability
        return np.stack([1.0 - rare, rare], axis=1)

    def raw_score_one(self, x):
        return float(self.raw_scores(self._one(x))[0])

    def score_one(self, x):
        return self.raw_score_one(x) - self.threshold_

    def answer_one(self, x):
        many = self.answer(self._one(x))
        return Answer(float(many.score[0]), float(many.probability[0]), many.decision.tolist()[0], many.threshold)

    def compile_ahead(self, n_features=None, *, sparse=False, classes=None):
        return self

    def _check_started(self):
        if not self.started_:
            raise ValueError("MeanRanker is not fitted yet.")

    classes_ = property(lambda self: self.labels_.classes)
    positive_label_ = property(lambda self: self.labels_.positive)
    negative_label_ = property(lambda self: self.labels_.negative)
    n_seen_ = property(lambda self: sum(self._counts))
    n_positives_seen_ = property(lambda self: self._counts[1])

    # ---- keeping ----

    def snapshot(self):
        with self._lock:
            return copy.deepcopy(self)

    def to_bytes(self):
        with self._lock:
            self._check_started()
            kept = {
                "classes": self.classes_.tolist(), "settled": self.labels_.settled, "counts": self._counts,
                "means": self._means.tolist(), "answered": self._answered,
            }  # fmt: skip
            return json.dumps(kept).encode()  # with the lock, because the lists go on growing

    @classmethod
    def from_bytes(cls, content):
        kept, model = json.loads(content), cls()
        model.started_, model.labels_ = True, LabelMap(np.array(kept["classes"]), settled=kept["settled"])
        model._counts, model._means, model._answered = kept["counts"], np.array(kept["means"]), kept["answered"]
        model.n_features_in_ = model._means.shape[1]
        return model

    def save(self, path):
        path.write_bytes(self.to_bytes())

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state):
        vars(self).update(state, _lock=RLock())
        self._means = None if self._means is None else np.array(self._means)  # joblib's memory must not be written to

    def __str__(self):
        return "MeanRanker()"


def _checked_weights(weights, n_rows):
    weights = np.ones(n_rows) if weights is None else np.asarray(weights, dtype=float)
    if weights.shape != (n_rows,) or not (weights >= 0).all():
        raise ValueError("Weights must be >= 0, one a row.")
    return weights


def _found(distinct, known):
    """The map of labels, as far as the first ones tell."""
    if distinct.dtype.kind == "f" and (np.isnan(distinct).any() or (distinct % 1 != 0).any()):
        raise ValueError("Labels must be two classes.")
    if known is not None and set(distinct.tolist()) <= {1, -1} and -1 in distinct:
        return LabelMap(np.array([-1, 1]))
    if known is not None:
        return known if set(distinct.tolist()) == {1} else LabelMap(known.classes)
    if distinct.size == 2:
        return LabelMap(distinct)
    if distinct.size == 1 and distinct[0] in (0, 1, -1):
        return LabelMap(np.array([-1, 1] if distinct[0] == -1 else [0, 1]), settled=bool(distinct[0] != 1))
    raise ValueError("Labels must be two classes.")
