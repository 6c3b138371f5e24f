"""Progressive scores of classifiers that have none of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import config_context
from sklearn.utils import check_array

from lopsided.constraints import ParameterError

Floats = npt.NDArray[np.float64]


class RowByRow:
    """Gives `progressive_scores` to a classifier that has only partial_fit and decision_function.

    It scores a row and learns it, one call each. Until both classes have been learned the score is 0: such a model
    has nothing to rank by.
    """

    def __init__(self, learner: Any) -> None:
        for method in ("partial_fit", "decision_function"):
            if not hasattr(learner, method):
                raise ParameterError(
                    "The learner of a progressive validation must have progressive_scores, or partial_fit and "
                    f"decision_function. Got {type(learner).__name__} without {method}."
                )
        self.learner = learner
        self._unseen: set[Any] | None = set() if hasattr(learner, "classes_") else None

    @property
    def classes_(self) -> Any:
        """The two labels."""
        return self.learner.classes_

    def progressive_scores(self, X: Any, y: Any, classes: Any = None) -> Floats:
        """For each row: the score of the model before it, then learn from it."""
        # Checked once for the whole batch, so that the checks of every single call can be left out below.
        X = check_array(X, accept_sparse="csr", dtype=np.float64)
        labels = np.asarray(y)
        known = getattr(self.learner, "classes_", classes)
        distinct = np.unique(labels if known is None else known)
        if distinct.size != 2:
            raise ParameterError(
                "The labels of a progressive validation must be two, announced by 'classes' or shown by the first "
                f"batch. Got {distinct[:5].tolist()}."
            )
        if self._unseen is None:
            self._unseen = set(distinct.tolist())
        scores = np.zeros(labels.size)
        with config_context(assume_finite=True, skip_parameter_validation=True):
            for row in range(labels.size):
                x = X[row : row + 1]
                if not self._unseen:
                    scores[row] = self.learner.decision_function(x)[0]
                self.learner.partial_fit(x, labels[row : row + 1], classes=distinct)
                if self._unseen:
                    self._unseen.discard(labels[row].item())
        return scores


def progressive_scores_of(learner: Any, X: Any, y: Any, classes: Any = None) -> Floats:
    """Progressive scores of any learner: its own, or row by row with partial_fit and decision_function.

    >>> from sklearn.linear_model import SGDClassifier
    >>> progressive_scores_of(SGDClassifier(random_state=0), [[0.0], [1.0]], [0, 1]).tolist()
    [0.0, 0.0]
    """
    stepper = learner if hasattr(learner, "progressive_scores") else RowByRow(learner)
    return np.asarray(stepper.progressive_scores(X, y, classes=classes), dtype=np.float64)
