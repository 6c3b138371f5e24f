"""Looking into a pool: what its members are, count and have achieved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.measures.experts import CHANCE
from lopsided.core.measures.panel import Panel, PanelPlan
from lopsided.estimators.base import validation
from lopsided.estimators.base.online import OnlineClassifier
from lopsided.estimators.state.experts import measures_of


class PoolViews(OnlineClassifier):
    """What can be asked of a pool beside its scores; all of it is read, and nothing changed."""

    members_: list[Any]
    _panel: Panel
    _plan: PanelPlan

    def _for_all(self, work: Callable[[Any], Floats], n_rows: int) -> Floats:
        raise NotImplementedError

    @property
    def expert_weights_(self) -> Floats:
        """p: how much each member counts (a copy)."""
        self._check_started()
        return self._panel.experts.standing[CHANCE].copy()

    @property
    def expert_measures_(self) -> dict[str, Floats]:
        """What each member has achieved so far, by measure; the areas only if `measure` is one of them."""
        self._check_started()
        return measures_of(self._panel.experts, self._plan.experts)

    @property
    def score_scales_(self) -> Floats:
        """Mean and deviation of each member's scores so far, (2, members); deviation 0 if they have not varied."""
        self._check_started()
        with self._alone:
            count, mean, squares = self._panel.moments.copy()
        deviations = np.sqrt(np.divide(squares, count, out=np.zeros_like(squares), where=squares > 0.0))
        return np.stack([mean, deviations])

    def standardized_scores(self, X: Any) -> Floats:
        """What the members say to each row as "weighted" counts it, (n_samples, members): (s_i - mean_i) / deviation_i.

        By the moments of their scores so far; 0 for a member whose scores have not varied. Changes nothing.
        """
        self._check_started()
        with self._alone:
            rows = self._rows_of(X)
            scores = self._for_all(lambda member: member._score(rows), validation.n_rows_of(rows))
            mean, deviations = self.score_scales_
        varied = deviations > 0.0
        return np.where(varied, (scores - mean) / np.where(varied, deviations, 1.0), 0.0)

    @property
    def typical_row_(self) -> Floats:
        """The row that others are explained against: that of the first member that knows the means of its features."""
        self._check_started()
        rows = [member.typical_row_ for member in self.members_]
        return next((row for row in rows if row.any()), rows[0])

    @property
    def best_(self) -> Any:
        """The member with the largest weight."""
        self._check_started()
        return self.members_[int(np.argmax(self._panel.experts.standing[CHANCE]))]

    @property
    def n_support_(self) -> int:
        """How many support vectors the members have together."""
        self._check_started()
        return sum(getattr(member, "n_support_", 0) for member in self.members_)
