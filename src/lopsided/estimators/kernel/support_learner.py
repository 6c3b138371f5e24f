"""What every learner that keeps examples has in common: points that make room for any row, and what they weigh."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.core.geometry.points import Points, Rows
from lopsided.estimators.base.compiled_learner import CompiledLearner
from lopsided.estimators.state.points import numbers_of, vectors_at, wide_enough


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


class SupportVectorLearner(SupportLearner):
    """A learner whose score is made of the examples that it keeps, each of which is a row that was learned."""

    def _columns_in_use(self) -> Any:
        """The columns of the support vectors, in their order; a list of them where there are several kernels."""
        raise NotImplementedError

    @property
    def support_vectors_(self) -> Any:
        """The support vectors (a copy): positives, then negatives; a list of them where there are several kernels."""
        self._check_started()
        return _of_each(self._columns_in_use(), self._vectors_at)

    @property
    def support_numbers_(self) -> Any:
        """Which row each support vector is, counted from 1 over the rows learned (a copy); 0 where nobody knows."""
        self._check_started()
        return _of_each(self._columns_in_use(), lambda columns: numbers_of(self._points)[columns])

    def _kept_numbers(self) -> npt.NDArray[np.int64]:
        return numbers_of(self._points)


def _of_each(columns: Any, find: Callable[[npt.NDArray[np.int64]], Any]) -> Any:
    return [find(own) for own in columns] if isinstance(columns, list) else find(columns)
