"""LightGBM, which does not learn online: fitted anew on all rows so far, after 100, 250, 500 and every thousand."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from lightgbm import LGBMClassifier

_FIRST, _EVERY = (100, 250, 500), 1000


class RefittedBoosting:
    """LGBMClassifier with its defaults on one thread; until both classes have been seen a score is 0."""

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state
        self.classes_: Any = None
        self._X: list[npt.NDArray[np.float64]] = []
        self._y: list[Any] = []
        self._n = 0
        self._model: Any = None

    def progressive_scores(self, X: Any, y: Any, classes: Any = None) -> npt.NDArray[np.float64]:
        """Score rows by the last fit, keep them, and fit anew when it is time."""
        X = X if isinstance(X, np.ndarray) else X.toarray()
        y = np.asarray(y)
        if self.classes_ is None:
            self.classes_ = np.unique(y if classes is None else classes)
        scores = np.zeros(y.size)
        start = 0
        while start < y.size:
            stop = min(y.size, start + self._next_fit() - self._n)
            if self._model is not None:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of feature names that nobody gave
                    scores[start:stop] = self._model.predict_proba(X[start:stop])[:, 1] - 0.5
            self._X.append(X[start:stop])
            self._y.append(y[start:stop])
            self._n += stop - start
            start = stop
            if self._n in _FIRST or self._n % _EVERY == 0:
                self._fit()
        return scores

    def _next_fit(self) -> int:
        return next((n for n in _FIRST if n > self._n), (self._n // _EVERY + 1) * _EVERY)

    def _fit(self) -> None:
        y = np.concatenate(self._y) == self.classes_[1]
        if y.any() and not y.all():
            self._model = LGBMClassifier(random_state=self.random_state, n_jobs=1, verbose=-1)
            self._model.fit(np.vstack(self._X), y)
