"""OB2RMK with others: what their buffers hold is fitted anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.bayes.online import Posterior
from lopsided.core.arithmetic.compiled import Floats
from lopsided.estimators.base.blas import one_blas_thread
from lopsided.estimators.base.online import OnlineClassifier


class UnitesBuffers(OnlineClassifier):
    """A learner of two buffers: those of several models are united one model after the other.

    Each time the posterior of what both hold is fitted as at the start of learning, and the buffers are cut down by the
    learner's own rule: who speaks least for its class leaves. What the posterior knew beyond its points is left behind.
    """

    _posterior: Posterior
    _waiting: Floats
    _waiting_numbers: npt.NDArray[np.int64]
    _counts: npt.NDArray[np.int64]
    _ranks: Any

    def _begin_if_possible(self) -> None:
        raise NotImplementedError

    def _merge(self, models: list[Any], shares: Floats) -> None:
        self._start(self.n_features_in_)
        self._ranks = models[0]._ranks  # of whom the most is known
        has_begun, numbers = False, np.zeros(0, dtype=np.int64)
        held = np.zeros((0, self.n_features_in_ + 2))
        for place, model in enumerate(models):
            rows, own = _rows_of(model)
            held = np.concatenate([held, rows])
            numbers = np.concatenate([numbers, own if place == 0 else np.zeros_like(own)])
            self._counts[[0, 2]] += model._counts[[0, 2]]
            has_begun = has_begun or bool(model._counts[1])
            self._waiting, first = np.unique(held, axis=0, return_index=True)
            order = np.argsort(first, kind="stable")
            self._waiting, self._waiting_numbers = self._waiting[order], numbers[first[order]]
            if has_begun and (place or len(models) == 1):
                with one_blas_thread:
                    self._begin_if_possible()
            held, numbers = _rows_of(self)


def _rows_of(model: Any) -> tuple[Floats, npt.NDArray[np.int64]]:
    """What a model holds: the points of its buffers, each with its sign and a weight of 1, then what waits."""
    posterior = model._posterior
    points = np.column_stack([posterior.points, posterior.signs, np.ones(posterior.signs.size)])
    rows = np.concatenate([points, model._waiting])
    return rows, np.concatenate([posterior.numbers, model._waiting_numbers])
