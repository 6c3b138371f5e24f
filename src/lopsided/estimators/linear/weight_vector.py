"""What the linear learners share: one weight vector, its parameters, and its shape for scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.constraints import Constraint, choice, flag, number
from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.arithmetic.draws import Draws
from lopsided.core.geometry.points import Rows
from lopsided.core.linear.weight_vector import (
    VECTOR_DIVERGED,
    LinearPlan,
    empty_linear_model,
    linear_run,
    linear_score_rows,
)
from lopsided.estimators.base.compiled_learner import CompiledLearner
from lopsided.estimators.base.merging import averaged
from lopsided.estimators.state.arrays import in_range, named_arrays, taken

LINEAR: dict[str, Constraint] = {"fit_intercept": flag()}
LOSS: dict[str, Constraint] = {"loss": choice("hinge", "logistic")}
RATE: dict[str, Constraint] = {"learning_rate": number(above=0)}


class LinearLearner(CompiledLearner):
    """A learner of f(x) = w.x + b, the bias only with `fit_intercept`; w is `_weights` without its last entry."""

    fit_intercept: bool

    @property
    def _weights(self) -> Floats:
        """w and, at the end, b."""
        raise NotImplementedError

    @property
    def coef_(self) -> Floats:
        """The weights of the features, (1, n_features) as in scikit-learn (a copy)."""
        self._check_started()
        return self._weights[None, :-1].copy()

    @property
    def intercept_(self) -> Floats:
        """The bias, 0 without `fit_intercept` (a copy)."""
        self._check_started()
        return self._weights[-1:].copy()


class PointwiseLinearLearner(LinearLearner):
    """A linear learner that judges each example by its own score."""

    def _make_plan(self) -> LinearPlan:
        """The rule, from the parameters."""
        raise NotImplementedError

    def _start(self, n_features: int) -> None:
        self._plan = self._make_plan()
        self._model = empty_linear_model(n_features)

    _run = staticmethod(linear_run)
    _score_rows = staticmethod(linear_score_rows)

    def _run_arguments(
        self, rows: Rows, signs: Floats, costs: Floats, draws: Draws, scores: Floats, every_score: bool
    ) -> tuple[Any, ...]:
        return self._model, self._plan, rows, signs, costs, scores

    def _score_arguments(self, rows: Rows, scores: Floats) -> tuple[Any, ...]:
        return self._model, self._plan, rows, scores

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return named_arrays(model=self._model)

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        weights = taken(arrays, "model.weights", np.float64, self._model.weights.shape)
        tally = taken(arrays, "model.tally", np.int64, self._model.tally.shape)
        in_range("model.tally", tally, 0, 2**62)
        self._model = self._model._replace(weights=weights, tally=tally)
        self._unbind()

    def _merge(self, models: list[Any], shares: Floats) -> None:
        self._model.weights[:] = averaged([model._model.weights for model in models], shares)
        self._model.tally[:] = sum(model._model.tally for model in models)
        self._unbind()

    @property
    def _weights(self) -> Floats:
        return self._model.weights

    @property
    def n_diverged_(self) -> int:
        """How many steps were left out because they would have made a weight or a score infinite."""
        return self._model.tally.item(VECTOR_DIVERGED)
