"""Models that add up: what two of them have learned apart is what one would have learned from both streams."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from lopsided.core.features.fourier_ranker import DRAWN, FIXED, POSITIVES, SEEN, RankerPlan
from lopsided.core.features.renewal import Renewal
from lopsided.estimators.base.compiled_learner import CompiledLearner
from lopsided.estimators.base.recent_rows import RecentRows
from lopsided.estimators.base.score_memory import ScoreMemory
from lopsided.estimators.features.class_moments import ClassMoments
from lopsided.estimators.state.experts import empty_experts


class AddsUp(CompiledLearner):
    """A ranker by class moments, which are sums: those of two models that measure alike can be added."""

    _state: Any
    _renewal: Renewal
    _plan: RankerPlan
    _experts: Any
    _experts_plan: Any
    _moments_by_fade: list[ClassMoments]
    warm_up: int

    def _add_block(self) -> None:
        """Bring the moments up to date with the examples that wait in the block."""
        raise NotImplementedError

    def _solve(self) -> None:
        """Bring the weights up to date with the moments."""
        raise NotImplementedError

    def _hold_scale(self) -> None:
        """Keep the present scale for good, and no rows."""
        raise NotImplementedError

    def sibling(self) -> Self:
        """An empty model with the same directions and the same scale, to learn from another part of a stream.

        Its scale is held for good, whatever `rescale` says. If this model may leave its scale before it is to
        `absorb` the other one, make it with `rescale=False`.
        """
        other = copy.deepcopy(self)
        self._check_scale("sibling", other)
        other._memory = ScoreMemory(self._memory.share)
        other._recent = RecentRows(other.n_features_in_, is_on=self._recent.is_on)
        for memory in other._moments_by_fade:
            memory.clear()
        other._experts = empty_experts(other._experts_plan, other._state.offsets.size)
        for array in (other._state.weights, other._state.offsets, other._state.tally):
            array[:] = 0
        other._state.tally[[DRAWN, FIXED]] = 1
        other._hold_scale()
        other._unbind()
        return other

    def absorb(self, other: Any) -> Self:
        """Add what another model has learned: exactly as if this one had seen those examples as well.

        The other one stays as it is. Both must have the same parameters, directions and fixed scale, as a model and
        its `sibling` have. With `fade` < 1 both are taken to end now; with `focus` > 0 the weights of examples are
        those that each model gave them. What variants have achieved is not added: that of this model counts. From
        then on this model holds its scale, because the rows that it kept do not stand for those of the other.
        """
        if not isinstance(other, AddsUp):
            raise ValueError(f"The 'other' parameter of absorb must be a FourierRanker. Got {type(other).__name__}.")
        other = copy.deepcopy(other)  # before this one's lock is taken: two models may absorb each other
        with self._alone:
            self._check_scale("absorb", self)
            self._check_scale("absorb", other)
            mine, theirs = self._what_must_agree(), other._what_must_agree()
            for name in mine:
                if not np.array_equal(mine[name], theirs[name]):
                    raise ValueError(
                        f"The models of FourierRanker.absorb must have the same {name}, as those of `sibling` do. "
                        "Got different ones."
                    )
            other._add_block()
            self._add_block()
            self._hold_scale()
            for memory, more in zip(self._moments_by_fade, other._moments_by_fade, strict=True):
                memory.add(more)
            self._state.tally[[SEEN, POSITIVES]] += other._state.tally[[SEEN, POSITIVES]]
            add_what_was_seen(self, other)
            self._solve()
        return self

    def _what_must_agree(self) -> dict[str, Any]:
        return {
            "labels": self.classes_,
            "positive label": self._labels.positive_index,
            "directions": self._state.directions,
            "scale": self._state.scale,
            "linear part": self._plan.linear * (self._state.weights.shape[1] - self._state.directions.shape[1] * 2),
            "fades": [memory.fade for memory in self._moments_by_fade],
        }

    @staticmethod
    def _check_scale(method: str, model: Any) -> None:
        model._check_started()
        if not model._state.tally[FIXED]:
            raise ValueError(
                f"A model of FourierRanker.{method} must have seen at least its warm_up, {model.warm_up} rows, which "
                f"fix the scale of its features. Got {int(model._state.tally[SEEN])}."
            )


def add_what_was_seen(model: Any, other: Any) -> None:
    """Count the examples of a model that another has absorbed; what thresholds were made from stays its own."""
    model._memory.seen = [mine + more for mine, more in zip(model._memory.seen, other._memory.seen, strict=True)]
    if not model._recent.offered:
        model._recent = other._recent
    model._rate_cut = None
