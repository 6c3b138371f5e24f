"""River: an adaptive random forest and a Hoeffding adaptive tree, one row at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from river import forest, tree


class _RiverRows:
    """Score and learn dictionaries of features."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.classes_: Any = None

    def progressive_scores(self, X: Any, y: Any, classes: Any = None) -> npt.NDArray[np.float64]:
        """Test, then train; the score is the probability of the larger label, minus a half."""
        X = X if isinstance(X, np.ndarray) else X.toarray()
        if self.classes_ is None:
            self.classes_ = np.unique(y if classes is None else classes)
        rare = self.classes_[1]
        scores = np.zeros(len(y))
        for row in range(len(y)):
            x = dict(enumerate(X[row].tolist()))
            is_rare = bool(y[row] == rare)
            scores[row] = self._model.predict_proba_one(x).get(True, 0.0) - 0.5
            self._model.learn_one(x, is_rare)
        return scores


class AdaptiveForest(_RiverRows):
    """ARFClassifier with its defaults."""

    def __init__(self, random_state: int = 0) -> None:
        super().__init__(forest.ARFClassifier(seed=random_state))


class HoeffdingTree(_RiverRows):
    """HoeffdingAdaptiveTreeClassifier with its defaults."""

    def __init__(self, random_state: int = 0) -> None:
        super().__init__(tree.HoeffdingAdaptiveTreeClassifier(seed=random_state))
