"""NOGD with others: what each of them has learned is expressed in the features of one."""

from __future__ import annotations

from typing import Any

import numpy as np

from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.features.nystrom import MAPPED, NYSTROM_DIVERGED, USED, NystromModel
from lopsided.core.geometry.points import Rows
from lopsided.core.geometry.shared_points import fill_columns
from lopsided.estimators.base import validation
from lopsided.estimators.base.merging import averaged
from lopsided.estimators.kernel.support_learner import SupportVectorLearner
from lopsided.estimators.kernel.uniting import Kept, kept, united
from lopsided.estimators.state.points import numbers_of, wide_enough


class MergesMaps(SupportVectorLearner):
    """A learner in the features that its first vectors span; those of another model span others."""

    _model: NystromModel

    def _map_if_full(self) -> None:
        raise NotImplementedError

    def _take_after(self, original: Any) -> None:
        if original._model.tally[MAPPED]:
            self._model, self._points = original._model, original._points
            self._model.vector_weights[:] = self._model.weights[:] = self._model.tally[NYSTROM_DIVERGED] = 0
            numbers_of(self._points)[:] = self._points.marks[-1] = 0

    def _merge(self, models: list[Any], shares: Floats) -> None:
        mapped = next((model for model in models if model._model.tally[MAPPED]), None)
        diverged = sum(int(model._model.tally[NYSTROM_DIVERGED]) for model in models)
        self._start(self.n_features_in_)
        if mapped is not None and mapped._model.signs.size == self._model.signs.size:
            self._model, self._points = mapped._model, mapped._points
        else:
            self._unite_vectors(models, shares)
        model = self._model
        if model.tally[MAPPED]:
            # The features are orthonormal functions, so what another model is in them is told by its scores there.
            at = validation.as_rows(self._vectors_at(np.arange(model.signs.size)))
            model.weights[:] = averaged([_in_features_of(model, other, at) for other in models], shares)
        model.tally[NYSTROM_DIVERGED] = diverged
        self._points.marks[-1] = self.n_seen_
        self._unbind()

    def _unite_vectors(self, models: list[Any], shares: Floats) -> None:
        """The vectors of all, from old to new, up to the budget: as many as it takes to make the map."""
        model, budget = self._model, self._model.signs.size
        both = united([other._kept() for other in models], shares)
        both = both.chosen(np.arange(min(both.size, budget)))
        rows = validation.as_rows(both.vectors)
        self._points = wide_enough(self._points, rows)
        fill_columns(self._points, rows, both.numbers)
        model.vector_weights[: both.size], model.signs[: both.size] = both.weights, both.signs
        model.tally[USED] = both.size
        self._map_if_full()

    def _kept(self) -> Kept:
        used, model = np.arange(self._model.tally[USED]), self._model
        weights = model.weights @ model.mapping if model.tally[MAPPED] else model.vector_weights
        return kept(self._vectors_at(used), weights[used], model.signs[used], numbers_of(self._points)[used])


def _in_features_of(model: NystromModel, other: Any, at: Rows) -> Floats:
    """The weights with which the features of a model come closest to another one."""
    if other._model.tally[MAPPED] and np.array_equal(other._model.mapping, model.mapping):
        return np.array(other._model.weights)
    return np.asarray(model.mapping @ other._score(at))
