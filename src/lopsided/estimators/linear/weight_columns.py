"""What the learners of many weight vectors share: their columns, as attributes and as files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.linear.weight_columns import COLUMNS_DIVERGED, SCALE, SCALE_SUM, STEPS, WeightColumns
from lopsided.estimators.base.compiled_learner import CompiledLearner
from lopsided.estimators.base.merging import averaged
from lopsided.estimators.state.arrays import ModelFileError, in_range, refilled


def restored_columns(arrays: Mapping[str, npt.NDArray[Any]], empty: WeightColumns) -> WeightColumns:
    """The columns of a file, of the same shapes as the empty ones."""
    columns = refilled(arrays, "columns", empty)
    in_range("columns.tally", columns.tally, 0, 2**62)
    if columns.levels[SCALE] == 0.0:
        raise ModelFileError("The array 'columns.levels' of the model file must have a scale. Got 0: it is damaged.")
    return columns


class ColumnsLearner(CompiledLearner):
    """A learner of K weight vectors, side by side in `_columns`."""

    _columns: WeightColumns

    def _all_weights(self, averages: bool = False) -> Floats:
        """The columns, the bias in the last row; or their averages over time."""
        self._check_started()
        weights, levels = self._columns.weights, self._columns.levels
        if not averages:
            return np.asarray(levels[SCALE] * weights)
        total = levels[SCALE_SUM] * weights - self._columns.moments
        return np.asarray(total / max(self._columns.tally.item(STEPS), 1))

    def _merge_columns(self, models: list[Any], shares: Floats) -> None:
        """The columns averaged by rows; the averages over time by steps, so that they are those of all steps."""
        columns = self._columns
        weights = averaged([model._all_weights() for model in models], shares)
        if columns.moments.shape[0]:
            sums = [model._all_weights(averages=True) * model._columns.tally[STEPS] for model in models]
            # With a scale of 1 and a sum of scales S the sum of all columns so far is S weights - moments.
            columns.levels[SCALE_SUM] = sum(model._columns.tally[STEPS] for model in models)
            columns.moments[:] = columns.levels[SCALE_SUM] * weights - sum(sums)
        else:
            columns.levels[SCALE_SUM] = sum(model._columns.levels[SCALE_SUM] for model in models)
        columns.weights[:], columns.levels[SCALE] = weights, 1.0
        columns.tally[:] = sum(model._columns.tally for model in models)
        self._unbind()

    @property
    def n_diverged_(self) -> int:
        """How many steps were left out because they would have made a weight or a score infinite."""
        return self._columns.tally.item(COLUMNS_DIVERGED)
