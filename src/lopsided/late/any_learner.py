"""Classifiers that are no learners of this package, as far as late labels need them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.constraints import ParameterError
from lopsided.labels import LabelMap, Signs
from lopsided.protocol import Answer


def as_late_learner(model: Any) -> Any:
    """The model itself if it keeps the contract of a learner, else what makes it look like one."""
    return model if hasattr(model, "raw_scores") and hasattr(model, "learn_many") else AnyLearner(model)


class AnyLearner:
    """Gives a classifier with partial_fit and decision_function what the engine asks of a learner."""

    threshold_rule_ = "zero"

    def __init__(self, learner: Any) -> None:
        for method in ("partial_fit", "decision_function"):
            if not hasattr(learner, method):
                raise ParameterError(
                    "A learner for late labels must have learn_many and raw_scores, or partial_fit and "
                    f"decision_function. Got {type(learner).__name__} without {method}."
                )
        self.learner = learner
        self.started_ = hasattr(learner, "classes_")

    @property
    def labels_(self) -> LabelMap:
        """The two labels."""
        return LabelMap(np.asarray(self.learner.classes_), getattr(self.learner, "pos_label", None))

    @property
    def threshold_(self) -> float:
        """What its decisions have been shifted by."""
        return float(getattr(self.learner, "threshold_", 0.0))

    def learn_many(self, X: Any, y: Signs, *, scores: Any = None, sample_weight: Any = None) -> None:
        """Learn from rows; such a classifier does not care what it answered."""
        more = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.learner.partial_fit(X, y.names(), classes=y.labels.classes, **more)
        self.started_ = True

    def raw_scores(self, X: Any) -> npt.NDArray[np.float64]:
        """Its decisions, without the shift."""
        return np.asarray(self.learner.decision_function(X) + self.threshold_, dtype=np.float64)

    def answer(self, X: Any) -> Answer:
        """Scores and decisions; such a classifier may know no probabilities."""
        scores, threshold = self.raw_scores(X), self.threshold_
        return Answer(scores, np.full(scores.size, np.nan), self.labels_.names(scores > threshold), threshold)
