"""River: adaptive random forests, random patches and a Hoeffding adaptive tree, one row at a time."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from river import ensemble, forest, tree


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
        scores = np.zeros(len(y))
        for row in range(len(y)):
            x = dict(enumerate(X[row].tolist()))
            scores[row] = self._score(x)
            self._learn(x, bool(y[row] == self.classes_[1]))
        return scores

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Train only."""
        X = X if isinstance(X, np.ndarray) else X.toarray()
        if self.classes_ is None:
            self.classes_ = np.unique(y if classes is None else classes)
        for row in range(len(y)):
            self._learn(dict(enumerate(X[row].tolist())), bool(y[row] == self.classes_[1]))
        return self

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Test only."""
        X = X if isinstance(X, np.ndarray) else X.toarray()
        return np.array([self._score(dict(enumerate(x.tolist()))) for x in X])

    def _score(self, x: dict[int, float]) -> float:
        return float(self._model.predict_proba_one(x).get(True, 0.0)) - 0.5

    def _learn(self, x: dict[int, float], is_rare: bool) -> None:
        self._model.learn_one(x, is_rare)


class AdaptiveForest(_RiverRows):
    """ARFClassifier with its defaults."""

    def __init__(self, random_state: int = 0) -> None:
        super().__init__(forest.ARFClassifier(seed=random_state))


class BalancedForest(AdaptiveForest):
    """The same with balanced classes: its trees learn a positive as often as there are negatives for each so far.

    The forest lets each tree learn a row a random number of times, six on average; here the average of positives is
    higher.
    """

    _TIMES = 6

    def __init__(self, random_state: int = 0) -> None:
        super().__init__(random_state)
        self._counts = [1, 1]

    def _learn(self, x: dict[int, float], is_rare: bool) -> None:
        weight = max(1.0, self._counts[0] / self._counts[1]) if is_rare else 1.0
        self._counts[is_rare] += 1
        self._model.lambda_value = self._TIMES * weight
        super()._learn(x, is_rare)


class RandomPatches(_RiverRows):
    """SRPClassifier (streaming random patches) with its defaults."""

    def __init__(self, random_state: int = 0) -> None:
        super().__init__(ensemble.SRPClassifier(seed=random_state))


class HoeffdingTree(_RiverRows):
    """HoeffdingAdaptiveTreeClassifier with its defaults."""

    def __init__(self, random_state: int = 0) -> None:
        super().__init__(tree.HoeffdingAdaptiveTreeClassifier(seed=random_state))
