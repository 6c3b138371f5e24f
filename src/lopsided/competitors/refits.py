"""A classifier that does not learn online on a stream: rows are kept, and it is fitted anew on all of them."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Refitted(ABC):
    """Fitted anew after `first` many rows and then after every so many; or only when asked to, with `every=None`.

    A score is a probability less a half. Until the first fit it is that of the share of positives so far: the lowest
    there is before the first positive, so that rows nobody could know anything about are not ranked above later ones.
    """

    def __init__(
        self, first: tuple[int, ...] = (100, 250, 500), every: int | None = 1000, random_state: int = 0
    ) -> None:
        self.first = first if every is not None else ()
        self.every = every
        self.random_state = random_state
        self.classes_: Any = None
        self._X: list[Floats] = []
        self._positive: list[npt.NDArray[np.bool_]] = []
        self._n = self._n_positive = 0
        self._model: Any = None

    @abstractmethod
    def fitted(self, X: Floats, positive: npt.NDArray[np.bool_]) -> Any:
        """A new model of these rows, both classes among them."""

    def progressive_scores(self, X: Any, y: Any, classes: Any = None) -> Floats:
        """Score rows by the last fit, keep them, and fit anew when it is time."""
        X, y = _dense(X), np.asarray(y)
        self._name_classes(y if classes is None else classes)
        scores = np.zeros(y.size)
        start = 0
        while start < y.size:
            rows = slice(start, min(y.size, start + self._rows_to_next_fit()))
            if self._model is None:
                positive = np.concatenate([[0], np.cumsum(y[rows] == self.classes_[1])[:-1]]) + self._n_positive
                scores[rows] = positive / np.maximum(self._n + np.arange(positive.size), 1) - 0.5
            else:
                scores[rows] = self.decision_function(X[rows])
            self.partial_fit(X[rows], y[rows])
            start = rows.stop
        return scores

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Keep rows, and fit anew when it is time."""
        X, y = _dense(X), np.asarray(y)
        self._name_classes(y if classes is None else classes)
        positive = y == self.classes_[1]
        start = 0
        while start < y.size:
            stop = min(y.size, start + self._rows_to_next_fit())
            self._X.append(X[start:stop])
            self._positive.append(positive[start:stop])
            self._n += stop - start
            self._n_positive += int(positive[start:stop].sum())
            start = stop
            if self._n in self.first or (self.every is not None and self._n % self.every == 0):
                self.refit()
        return self

    def refit(self) -> Self:
        """Fit anew now, on all rows so far, if both classes are among them."""
        if 0 < self._n_positive < self._n:
            self._X, self._positive = [np.vstack(self._X)], [np.concatenate(self._positive)]
            self._model = self.fitted(self._X[0], self._positive[0])
        return self

    def decision_function(self, X: Any) -> Floats:
        """Scores by the last fit."""
        X = _dense(X)
        if self._model is None:
            return np.full(X.shape[0], self._n_positive / max(self._n, 1) - 0.5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of feature names that nobody gave
            return np.asarray(self._model.predict_proba(X)[:, 1], dtype=np.float64) - 0.5

    def _name_classes(self, labels: Any) -> None:
        if self.classes_ is None:
            self.classes_ = np.unique(labels)

    def _rows_to_next_fit(self) -> int:
        if self.every is None:
            return 2**62
        after = next((n for n in self.first if n > self._n), None)
        regular = (self._n // self.every + 1) * self.every
        return min(after or regular, regular) - self._n


def _dense(X: Any) -> Floats:
    return X if isinstance(X, np.ndarray) else np.asarray(X.toarray())
