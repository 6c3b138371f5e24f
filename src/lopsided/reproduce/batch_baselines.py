"""The batch baselines of the tables, by scikit-learn's solvers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

_MOST_PAIRS = 20_000
_BLOCK = 512  # rows whose kernel values are computed together


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


class KernelPegasos:
    """Pegasos in the kernel itself: one pass, an example within the margin becomes a support vector for good.

    f_t = 1/(alpha t) sum of y_i k(x_i, .) over the examples that had y_i f_{i-1}(x_i) < 1. Nothing bounds it.
    """

    def __init__(self, gamma: float = 1.0, alpha: float = 1e-4, random_state: int | None = None) -> None:
        self.gamma = gamma
        self.alpha = alpha
        self.random_state = random_state

    def fit(self, X: Any, y: npt.NDArray[np.int64]) -> Self:
        """One pass in the order given; kernel values come a block of rows at a time, the steps one by one."""
        signs = np.where(y == 1, 1.0, -1.0)
        support: list[int] = []
        for start in range(0, len(y), _BLOCK):
            rows = np.arange(start, min(start + _BLOCK, len(y)))
            sums = self._sums(X[rows], X[support], signs[support])
            within = rbf_kernel(X[rows], gamma=self.gamma)
            for place, row in enumerate(rows.tolist()):
                if not row or signs[row] * sums[place] < self.alpha * row:  # f_{t-1} with t = row + 1, f_0 = 0
                    support.append(row)
                    sums[place + 1 :] += signs[row] * within[place, place + 1 :]
        self._support, self._signs, self._scale = X[support], signs[support], 1.0 / (self.alpha * len(y))
        return self

    def _sums(self, X: Any, support: Any, signs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        sums = np.zeros(X.shape[0])
        for start in range(0, signs.size, 8 * _BLOCK):
            part = slice(start, start + 8 * _BLOCK)
            sums += rbf_kernel(X, support[part], gamma=self.gamma) @ signs[part]
        return sums

    @property
    def n_support_(self) -> int:
        """Support vectors."""
        return int(self._signs.size)

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Scores."""
        blocks = [X[start : start + _BLOCK] for start in range(0, X.shape[0], _BLOCK)]
        return self._scale * np.concatenate([self._sums(rows, self._support, self._signs) for rows in blocks])
