"""What happened on the way: an evaluation, the moments of its rows, and how the model changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.evaluate import Evaluation, Record
from lopsided.report.contents import Detail, Moment


class History:
    """An evaluation that also keeps when rows came, and what the model looked like at every record."""

    def __init__(self, evaluation: Evaluation, model: Any) -> None:
        self.evaluation, self.model = evaluation, model
        self.moments: list[Moment] = []
        self._times: list[npt.NDArray[np.float64]] = []

    def step(self, X: Any, y: Any, times: Any) -> None:
        """Score and learn some rows."""
        self.evaluation.step(X, y)
        if times is not None:
            self._times.append(np.asarray(times, dtype=np.float64))

    def note(self) -> Record:
        """A record of where things stand."""
        record = self.evaluation.note()
        self.moments.append(Moment(record.n, record.seconds, record.n_support, weights_of(self.model)))
        return record

    @property
    def times(self) -> npt.NDArray[np.float64] | None:
        """Seconds of every row; None without a time column."""
        return np.concatenate(self._times) if self._times else None

    def detail(self) -> Detail:
        """All of it for a report."""
        evaluation = self.evaluation
        scores, positive, called = evaluation.scores, evaluation.positive, evaluation.called
        return Detail(scores, positive, called, evaluation.threshold, self.times, self.moments)


def weights_of(model: Any) -> npt.NDArray[np.float64] | None:
    """The weights that a model gives to its kernels or experts, if it has such."""
    learner = getattr(model, "learner_", model)
    for name in ("kernel_weights_", "expert_weights_"):
        weights = getattr(learner, name, None)
        if weights is not None:
            return np.array(weights, dtype=np.float64)
    return None
