"""Vowpal Wabbit's kernel SVM, one row at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from vowpalwabbit import Workspace


class KernelSVM:
    """`--ksvm --kernel rbf --bandwidth sqrt(n_features / 2)`: gamma = 1 / n_features; features scaled online."""

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state
        self.classes_: Any = None
        self._model: Any = None

    def progressive_scores(self, X: Any, y: Any, classes: Any = None) -> npt.NDArray[np.float64]:
        """Test, then train."""
        X = X if isinstance(X, np.ndarray) else X.toarray()
        if self._model is None:
            self.classes_ = np.unique(y if classes is None else classes)
            bandwidth = float(np.sqrt(X.shape[1] / 2.0))
            self._model = Workspace(f"--ksvm --kernel rbf --bandwidth {bandwidth} --quiet")
            self._n, self._mean, self._square = 0, np.zeros(X.shape[1]), np.ones(X.shape[1])
        scores = np.zeros(len(y))
        for row in range(len(y)):
            text = self._text(X[row])
            example = self._model.example(text)
            scores[row] = self._model.predict(example)
            label = "1" if y[row] == self.classes_[1] else "-1"
            self._model.learn(f"{label} {text}")
        return scores

    def _text(self, x: npt.NDArray[np.float64]) -> str:
        self._n += 1
        before = x - self._mean
        self._mean += before / self._n
        self._square += before * (x - self._mean)
        scaled = (x - self._mean) / np.sqrt(self._square / self._n)
        return "| " + " ".join(f"{k}:{value:.6g}" for k, value in enumerate(scaled))
