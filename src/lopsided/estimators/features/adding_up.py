"""Models that add up: what two of them have learned apart is what one would have learned from both streams."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.features.fourier_ranker import DRAWN, FIXED, KEPT, POSITIVES, SEEN, RankerPlan, RankerState
from lopsided.core.features.renewal import Renewal
from lopsided.estimators.base import validation
from lopsided.estimators.base.compiled_learner import CompiledLearner
from lopsided.estimators.base.merging import MergeError
from lopsided.estimators.features.class_moments import ClassMoments
from lopsided.estimators.features.directions import check_directions
from lopsided.estimators.state.experts import added_experts


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

    @property
    def _may_change_scale(self) -> bool:
        """Whether there are rows from which the moments can be had on another scale."""
        raise NotImplementedError

    def _change_scale(self, scale: Floats) -> None:
        """Have the moments on another scale, from the rows that were kept."""
        raise NotImplementedError

    def _hold_scale(self) -> None:
        """Keep the present scale for good, and no rows."""
        raise NotImplementedError

    def sibling(self) -> Self:
        """An empty model with the same directions and the same scale, to learn from another part of a stream.

        `lopsided.empty_like` gives the same. Its scale is held for good, whatever `rescale` says. If this model may
        leave its scale before it is to `absorb` the other one, make it with `rescale=False`, or use `lopsided.merge`.
        """
        self._check_scale("sibling", self)
        return self.empty_like()

    def _take_after(self, original: Any) -> None:
        state, theirs = self._state, original._state
        for array, other in zip(_ruler(state), _ruler(theirs), strict=True):
            array[:] = other
        state.tally[[DRAWN, FIXED]] = theirs.tally[[DRAWN, FIXED]]
        if state.tally[FIXED]:
            self._hold_scale()

    def _comes_first(self) -> bool:
        return bool(self._state.tally[FIXED])

    def _merge(self, models: list[Any], shares: Floats) -> None:
        check_directions(models, [model._state.directions for model in models])
        fixed = [self, *(model for model in models[1:] if model._state.tally[FIXED])]
        if len(fixed) > 1:
            _agree_on_scale(fixed)
        if len(fixed) > 1:
            self._add_sums(fixed[1:])
        for other in models[1:]:
            if not other._state.tally[FIXED]:  # it has its rows as they came: they are learned
                state, n = other._state, int(other._state.tally[KEPT])
                rows = validation.as_rows(state.first_rows[:n])
                self._learn(rows, state.first_signs[:n], state.first_weights[:n], every_score=False)
        self._unbind()

    def _add_sums(self, others: list[Any]) -> None:
        """Add the moments of models that measure alike, and what their variants have achieved."""
        self._hold_scale()
        for model in (self, *others):
            model._add_block()
        for other in others:
            for memory, more in zip(self._moments_by_fade, other._moments_by_fade, strict=True):
                memory.add(more)
            self._state.tally[[SEEN, POSITIVES]] += other._state.tally[[SEEN, POSITIVES]]
        if self._experts_plan.ranks:
            self._experts = added_experts([model._experts for model in (self, *others)], self._experts_plan)
        self._solve()

    def absorb(self, other: Any) -> Self:
        """Add what another model has learned: exactly as if this one had seen those examples as well.

        The other one stays as it is. Both must have the same parameters, directions and fixed scale, as a model and
        its `sibling` have. With `fade` < 1 both are taken to end now; with `focus` > 0 the weights of examples are
        those that each model gave them. What variants have achieved is not added: that of this model counts. From
        then on this model holds its scale, because the rows that it kept do not stand for those of the other.
        `lopsided.merge` makes a new model of several instead.
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


def _ruler(state: RankerState) -> tuple[Floats, Floats, Floats]:
    """What two models must have in common to measure alike."""
    return state.directions, state.scale, state.origin_angles


def _agree_on_scale(models: list[Any]) -> None:
    """Let all models have the scale of those that hold theirs; the others have rows by which they can change."""
    held = [model for model in models if not model._may_change_scale]
    scale = (held or models)[0]._state.scale.copy()
    for model in models:
        if np.array_equal(model._state.scale, scale):
            continue
        if not model._may_change_scale:
            raise MergeError(
                f"The models of {type(model).__name__} to merge must have the same scale of features where they hold "
                "it, as those that `empty_like` gives of one model do. Got different ones."
            )
        model._change_scale(scale)


def add_what_was_seen(model: Any, other: Any) -> None:
    """Count the examples of a model that another has absorbed; what thresholds were made from stays its own."""
    model._memory.seen = [mine + more for mine, more in zip(model._memory.seen, other._memory.seen, strict=True)]
    if not model._recent.offered:
        model._recent = other._recent
    model._rate_cut = None
