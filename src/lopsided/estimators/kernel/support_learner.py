"""What every learner that keeps examples has in common: points that make room for any row, and what they weigh."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.core.geometry.points import Points, Rows
from lopsided.estimators.base.compiled_learner import CompiledLearner
from lopsided.estimators.state.points import vectors_at, wide_enough


class SupportLearner(CompiledLearner):
    """A learner that keeps examples, in `_points`."""

    _points: Points

    def _prepare_for(self, rows: Rows) -> None:
        points = wide_enough(self._points, rows)
        if points is not self._points:
            self._points = points
            self._unbind()

    def _learn_one(self, sign: float, weight: float = 1.0) -> float:
        if self._points.lookup.size:
            self._prepare_for(self._one_row)
        return super()._learn_one(sign, weight)

    def _vectors_at(self, columns: npt.NDArray[np.int64]) -> Any:
        return vectors_at(self._points, columns)
