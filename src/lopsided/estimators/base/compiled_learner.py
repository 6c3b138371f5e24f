"""The way from a learner to its compiled loop: in batches, and for one example with as little ado as possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, bound
from lopsided.core.arithmetic.draws import Draws
from lopsided.core.geometry.points import Rows
from lopsided.estimators.base import validation
from lopsided.estimators.base.online import OnlineClassifier

_UNIFORMS_AT_A_TIME = 4096  # few, because those not yet used are saved with the model
_FEW_TURNS = 32  # up to which calls for single rows, which stay bound to their arguments, cost less than one for all


class CompiledLearner(OnlineClassifier):
    """A learner whose steps and scores are compiled loops over rows.

    It names the two loops and their arguments; `_run` returns the number of the first row that it did not learn, and
    `_make_room` is called when that is not the end. A row whose sign is NaN is scored by `_run` as `_score_rows` would,
    and changes nothing: so thousands of rows can be learned and scored in turn by one call.
    """

    _run: ClassVar[Callable[..., int]]
    _score_rows: ClassVar[Callable[..., Any]]

    def _run_arguments(
        self, rows: Rows, signs: Floats, costs: Floats, draws: Draws, scores: Floats, every_score: bool
    ) -> tuple[Any, ...]:
        raise NotImplementedError

    def _score_arguments(self, rows: Rows, scores: Floats) -> tuple[Any, ...]:
        raise NotImplementedError

    def _prepare_for(self, rows: Rows) -> None:
        """Make sure that the rows can be stored."""

    def _make_room(self) -> None:
        """Enlarge what is full."""
        raise NotImplementedError

    @property
    def _draws_a_row(self) -> int:
        """The most uniforms that one row can use up."""
        return 0

    @property
    def _cost(self) -> float:
        """The cost of a row of weight 1, as it was when learning started."""
        return 1.0

    def _learn(self, rows: Rows, signs: Floats, weights: Floats, *, every_score: bool) -> Floats:
        if self._answers is not None:
            return self._learn_with_answers(rows, signs, weights, every_score=every_score)
        self._prepare_for(rows)
        self._unbind()
        scores, costs = np.empty(signs.size), self._cost * weights
        at_a_time = max(1, _UNIFORMS_AT_A_TIME // max(1, self._draws_a_row))
        learned = 0
        while learned < signs.size:
            stop = min(learned + at_a_time, signs.size)
            n_to_learn = int(np.count_nonzero(~np.isnan(signs[learned:stop])))
            draws = self._uniforms.reserve(self._draws_a_row * n_to_learn)
            arguments = self._run_arguments(rows, signs, costs, draws, scores, every_score)
            learned = self._run_span(rows, arguments, learned, stop)
            if learned < stop:
                self._make_room()
        return scores

    def _take_turns(self, rows: Rows, turns: Floats, weights: Floats) -> Floats:
        if turns.size <= _FEW_TURNS:
            return super()._take_turns(rows, turns, weights)
        return self._learn(rows, turns, weights, every_score=self._scores_every_row)

    def _learn_and_score(self, rows: Rows, turns: Floats, weights: Floats, *, every_score: bool) -> Floats:
        return self._learn(rows, turns, weights, every_score=every_score)

    def _run_span(self, rows: Rows, arguments: tuple[Any, ...], start: int, stop: int) -> int:
        """Learn from the rows start..stop-1; returns the number of the first that was not learned."""
        return type(self)._run(*arguments, start, stop)

    def _score(self, rows: Rows) -> Floats:
        scores = np.empty(validation.n_rows_of(rows))
        type(self)._score_rows(*self._score_arguments(rows, scores))
        return scores

    # One example: the same loops over one row, bound once to their arguments, so that a call costs as little as it can.

    def _learn_one(self, sign: float, weight: float = 1.0) -> float:
        draws = self._uniforms.draws
        if draws.uniforms.size - draws.position.item() < self._draws_a_row:
            self._uniforms.reserve(self._draws_a_row)
        if "_bound_run" not in self.__dict__:
            self._bind_run()
        self._one_sign[0] = sign
        self._one_cost[0] = self._cost * weight
        while self._bound_run() != 1:
            self._make_room()
            self._bind_run()
        return self._one_score.item()

    def _score_one(self) -> float:
        if "_bound_score" not in self.__dict__:
            arguments = self._score_arguments(self._one_row, self._one_score)
            self._bound_score = bound(type(self)._score_rows, *arguments)
        self._bound_score()
        return self._one_score.item()

    def _bind_run(self) -> None:
        self._unbind()
        draws = self._uniforms.reserve(self._draws_a_row)
        every = self._scores_every_row
        arguments = self._run_arguments(self._one_row, self._one_sign, self._one_cost, draws, self._one_score, every)
        self._bound_run = bound(type(self)._run, *arguments, 0, 1)

    def _score_every_row(self) -> None:
        super()._score_every_row()
        self._unbind()

    def _unbind(self) -> None:
        """Forget the bound calls, because the arrays they were bound to may have been replaced."""
        self.__dict__.pop("_bound_run", None)
        self.__dict__.pop("_bound_score", None)
