"""The batch baselines of the tables, by scikit-learn's solvers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

_MOST_PAIRS = 20_000


class PairwiseSVM:
    """SVM-OR: a linear SVM on differences of a positive and a negative, drawn at random if there are too many pairs."""

    def __init__(self, C: float = 1.0, random_state: int | None = None) -> None:
        self.C = C
        self.random_state = random_state

    def fit(self, X: npt.NDArray[np.float64], y: npt.NDArray[np.int64]) -> Self:
        """Learn the direction in which positives lie above negatives."""
        rng = np.random.default_rng(self.random_state)
        positives, negatives = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
        n = min(_MOST_PAIRS, positives.size * negatives.size)
        differences = X[rng.choice(positives, n)] - X[rng.choice(negatives, n)]
        signs = np.where(np.arange(n) % 2 == 0, 1, -1)  # a classifier wants two classes: every other one turned round
        model = LinearSVC(C=self.C, fit_intercept=False, dual=n < X.shape[1], random_state=0, max_iter=5000)
        self.coef_ = model.fit(differences * signs[:, None], signs).coef_[0]
        return self

    def decision_function(self, X: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Ranking scores."""
        return np.asarray(X @ self.coef_, dtype=np.float64)


def uni_log(C: float = 1.0, random_state: int | None = None) -> Any:
    """Uni-Log: logistic regression."""
    return LogisticRegression(C=C, max_iter=2000)


def ls_svm(alpha: float = 1.0, random_state: int | None = None) -> Any:
    """LS-SVM with a linear kernel: ridge regression on the labels."""
    return RidgeClassifier(alpha=alpha)


def libsvm(C: float = 1.0, gamma: float = 1.0, random_state: int | None = None) -> Any:
    """LIBSVM: the solver inside scikit-learn's SVC."""
    return SVC(C=C, gamma=gamma, cache_size=500)


class Pegasos:
    """Pegasos-like: stochastic gradients of the regularised hinge, on up to 500 Nystroem features of the kernel."""

    def __init__(self, gamma: float = 1.0, alpha: float = 1e-4, random_state: int | None = None) -> None:
        self.gamma = gamma
        self.alpha = alpha
        self.random_state = random_state

    def fit(self, X: Any, y: npt.NDArray[np.int64]) -> Self:
        """Five passes."""
        features = Nystroem(gamma=self.gamma, n_components=min(500, len(y)), random_state=self.random_state)
        descent = SGDClassifier(alpha=self.alpha, max_iter=5, tol=None, random_state=self.random_state)
        self._model = make_pipeline(features, descent).fit(X, y)
        return self

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Scores."""
        return np.asarray(self._model.decision_function(X), dtype=np.float64)
