"""scikit-learn: random Fourier features and a linear SVM by stochastic gradients, one row at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import config_context
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler


class FourierSGD:
    """StandardScaler (updated by row), RBFSampler with 400 features and gamma = 1 / n_features, SGD on the hinge."""

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state
        self.classes_: Any = None

    def progressive_scores(self, X: Any, y: Any, classes: Any = None) -> npt.NDArray[np.float64]:
        """Test, then train; before the first row is learned a score is 0."""
        X = X if isinstance(X, np.ndarray) else X.toarray()
        if self.classes_ is None:
            self.classes_ = np.unique(y if classes is None else classes)
            self._scaler, self._model = StandardScaler(), SGDClassifier(random_state=self.random_state)
            self._features = RBFSampler(gamma=1.0 / X.shape[1], n_components=400, random_state=self.random_state)
            self._features.fit(X[:1])
        scores = np.zeros(len(y))
        with config_context(assume_finite=True, skip_parameter_validation=True):
            for row in range(len(y)):
                x = X[row : row + 1]
                z = self._features.transform(self._scaler.partial_fit(x).transform(x))
                if hasattr(self._model, "coef_"):
                    scores[row] = self._model.decision_function(z)[0]
                self._model.partial_fit(z, y[row : row + 1], classes=self.classes_)
        return scores
