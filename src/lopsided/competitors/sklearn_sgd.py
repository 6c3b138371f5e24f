"""scikit-learn: random Fourier features and a linear SVM by stochastic gradients, one row at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from lopsided.evaluate import RowByRow


class FourierSGD:
    """StandardScaler (updated by row), RBFSampler with 400 features and gamma = 1 / n_features, SGD on the hinge."""

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state
        self._scaler = StandardScaler()
        self._rows: RowByRow | None = None

    @property
    def classes_(self) -> Any:
        """The two labels."""
        return None if self._rows is None else self._rows.classes_

    def progressive_scores(self, X: Any, y: Any, classes: Any = None) -> npt.NDArray[np.float64]:
        """Test, then train."""
        X = X if isinstance(X, np.ndarray) else X.toarray()
        if self._rows is None:
            self._features = RBFSampler(gamma=1.0 / X.shape[1], n_components=400, random_state=self.random_state)
            self._features.fit(X[:1])
            self._rows = RowByRow(SGDClassifier(random_state=self.random_state))
        scores = np.zeros(len(y))
        for row in range(len(y)):
            x = X[row : row + 1]
            z = self._features.transform(self._scaler.partial_fit(x).transform(x))
            scores[row] = self._rows.progressive_scores(z, y[row : row + 1], classes=classes)[0]
        return scores
