"""Vowpal Wabbit's own learner: a linear model by adaptive gradients on the logistic loss, one row at a time."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from vowpalwabbit import Workspace


class LinearLogistic:
    """`--loss_function logistic`, a positive weighing as much as there are negatives for each so far."""

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state
        self.classes_: Any = None
        self._model: Any = None

    def progressive_scores(self, X: Any, y: Any, classes: Any = None) -> npt.NDArray[np.float64]:
        """Test, then train."""
        X = X if isinstance(X, np.ndarray) else X.toarray()
        self._start(y if classes is None else classes)
        scores = np.zeros(len(y))
        for row in range(len(y)):
            text = _text(X[row])
            scores[row] = self._model.predict(text)
            self._learn(text, y[row])
        return scores

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Train only."""
        X = X if isinstance(X, np.ndarray) else X.toarray()
        self._start(y if classes is None else classes)
        for row in range(len(y)):
            self._learn(_text(X[row]), y[row])
        return self

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Test only; 0 before anything was learned."""
        X = X if isinstance(X, np.ndarray) else X.toarray()
        if self._model is None:
            return np.zeros(X.shape[0])
        return np.array([self._model.predict(_text(x)) for x in X])

    def _start(self, labels: Any) -> None:
        if self._model is None:
            self.classes_ = np.unique(labels)
            self._model = Workspace(f"--loss_function logistic --random_seed {self.random_state} --quiet")
            self._counts = [1.0, 1.0]

    def _learn(self, text: str, label: Any) -> None:
        is_rare = bool(label == self.classes_[1])
        weight = max(1.0, self._counts[0] / self._counts[1]) if is_rare else 1.0
        self._counts[is_rare] += 1.0
        self._model.learn(f"{1 if is_rare else -1} {weight:.6g} {text}")


def _text(x: npt.NDArray[np.float64]) -> str:
    # VW's gradients are invariant to the scale of a feature, so nothing is scaled here.
    return "| " + " ".join(f"{k}:{value:.6g}" for k, value in enumerate(x) if value != 0.0)
