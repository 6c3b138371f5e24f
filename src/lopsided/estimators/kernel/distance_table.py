"""KOIL many times on the same rows: what a search for its parameters shares between settings and folds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.core.geometry.kernels import Kernel, needs_dots
from lopsided.core.pairwise.admission import UNBOUNDED
from lopsided.core.pairwise.koil_on_table import fill_similarities, fill_squares, run_on_table, score_on_table
from lopsided.estimators.base import validation
from lopsided.estimators.kernel.koil import DRAWS_A_STEP, KOIL
from lopsided.estimators.kernel.parameters import POLICIES, chosen_kernel

# A matrix of so many rows squared has 34 MB. Looked up in a larger one, a similarity costs more than its distance does,
# and so does the distance of so few features.
MOST_ROWS, FEWEST_FEATURES = 2048, 16


class DistanceTable:
    """The squared distances between the rows of a table, and the kernel matrix of the last kernel that was asked for.

    A KOIL learns from rows of the table as it would from their features, to the last bit, but looks its kernel rows up.
    """

    def __init__(self, X: Any) -> None:
        self._X = X
        self._squares: Floats | None = None
        self._known: Floats = np.empty((0, 0))
        self._kernel: Kernel | None = None

    def serves(self, learner: Any) -> bool:
        """Whether looking up is possible and pays: it takes a budget, a kernel of distances, and features enough."""
        X = self._X
        if type(learner) is not KOIL or not isinstance(X, np.ndarray) or X.dtype != np.float64 or X.ndim != 2:
            return False
        if len(X) > MOST_ROWS or X.shape[1] < FEWEST_FEATURES:
            return False
        learner._check_parameters()
        kernel = chosen_kernel(learner, X.shape[1]).compiled()
        in_double = learner.dtype == "float64"  # as the table is
        return in_double and POLICIES[learner.policy] != UNBOUNDED and not needs_dots(kernel)

    def scores_after(self, learner: KOIL, y: npt.NDArray[Any], classes: Any, train: Integers, rest: Integers) -> Floats:
        """`decision_function` of the rows `rest` after one pass over the rows `train`; the learner is used up by it."""
        _, signs, _ = learner._next(self._X[train], y[train], classes, None)
        validation.checked_features(learner, self._X[rest], first=False)
        known = self._similarities(learner._kernel)
        numbers = np.zeros(learner._support.weights.size, dtype=np.int64)
        draws = learner._uniforms.reserve(DRAWS_A_STEP * train.size)
        before, after = np.empty(train.size), np.empty(rest.size)
        run_on_table(
            learner._support, learner._plan, known, train, signs, learner._cost, draws, learner._work, numbers, before
        )
        learner._memory.remember(signs, before)
        learner._warn_of_divergence()
        score_on_table(learner._support, known, rest, learner._work, numbers, after)
        return after - learner.threshold_

    def _similarities(self, kernel: Kernel) -> Floats:
        if self._squares is None:
            X = np.ascontiguousarray(self._X)
            self._squares = np.empty((len(X), len(X)))
            self._known = np.empty_like(self._squares)
            fill_squares(X, np.ascontiguousarray(X.T), self._squares)
        if self._kernel is None or not _same(kernel, self._kernel):
            fill_similarities(kernel, self._squares, self._known)
            self._kernel = kernel
        return self._known


def _same(kernel: Kernel, other: Kernel) -> bool:
    return kernel.normalized == other.normalized and np.array_equal(kernel.atoms, other.atoms)
