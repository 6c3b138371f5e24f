"""What the online kernel classifiers share: one expansion, a rule, a budget or growth."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.arithmetic.draws import Draws
from lopsided.core.geometry.points import Rows, empty_points
from lopsided.core.pointwise.budget import DROP, NOBODY, Budget
from lopsided.core.pointwise.expansion import EXPANSION_DIVERGED, SCALE, STEPS, USED, empty_expansion
from lopsided.core.pointwise.online_kernel import (
    PLAIN,
    BlockProducts,
    PointwisePlan,
    empty_row_scratch,
    expansion_run,
    expansion_score_rows,
)
from lopsided.core.pointwise.rules import Rule
from lopsided.estimators.base.merging import drawn
from lopsided.estimators.kernel.dense_blocks import BLOCK, NO_PRODUCTS, is_wide_enough, products
from lopsided.estimators.kernel.parameters import chosen_kernel
from lopsided.estimators.kernel.support_learner import SupportVectorLearner
from lopsided.estimators.kernel.uniting import Kept, cut_down, kept, united
from lopsided.estimators.kernel.uniting_supports import add_steps, expansion_of
from lopsided.estimators.state.arrays import named_arrays, taken
from lopsided.estimators.state.expansion import grown_expansion, restored_expansion
from lopsided.estimators.state.points import more_columns, numbers_of, points_arrays, restored_points

_SKIPS, _SIGNS = 5, 7  # positions among the arguments of a run
_FIRST_ROOM = 64  # slots with which a learner without a budget begins


def rule(kind: int, *, margin: float = 1.0, cap: float = 1.0, loss_cap: float = 1.0, unit_norm: bool = False) -> Rule:
    """A rule, with the numbers it does not read left at 1."""
    return Rule(kind, float(margin), float(cap), float(loss_cap), bool(unit_norm))


def plan(
    rule: Rule,
    *,
    budget: int = 0,
    eviction: int = NOBODY,
    repair: int = DROP,
    rate: float = 1.0,
    rate_decays: bool = False,
    shrinkage: float = 0.0,
    sampling_scale: float = 1.0,
    sample_budget: int = 0,
    draws: bool = False,
    averages: bool = False,
    projection: int = PLAIN,
    tolerance: float = 0.0,
) -> PointwisePlan:
    """A plan, with everything that a learner does not name left out."""
    return PointwisePlan(
        rule,
        Budget(int(budget), eviction, repair),
        float(rate),
        bool(rate_decays),
        float(shrinkage),
        float(sampling_scale),
        int(sample_budget),
        draws,
        bool(averages),
        projection,
        float(tolerance),
    )


class OnlineKernelLearner(SupportVectorLearner):
    """A classifier f(x) = sum_i weight_i k(z_i, x) that judges each example by its own score."""

    kernel: Any
    gamma: float | str
    degree: int
    coef0: float

    def _make_plan(self) -> PointwisePlan:
        """The rule and the budget, from the parameters."""
        raise NotImplementedError

    def _start(self, n_features: int) -> None:
        self._plan = self._make_plan()
        self._kernel = chosen_kernel(self, n_features).compiled()
        capacity = self._plan.budget.size or self._plan.sample_budget or _FIRST_ROOM
        self._expansion = empty_expansion(capacity)
        self._points = empty_points(n_features, capacity)
        side = capacity if self._plan.projection != PLAIN else 0
        self._factor = np.zeros((side, side))
        self._make_workspace()

    def _make_workspace(self) -> None:
        self._work = empty_row_scratch(self._expansion.weights.size, self.n_features_in_)
        self._unbind()

    _run = staticmethod(expansion_run)
    _score_rows = staticmethod(expansion_score_rows)

    def _run_arguments(
        self, rows: Rows, signs: Floats, costs: Floats, draws: Draws, scores: Floats, every_score: bool
    ) -> tuple[Any, ...]:
        # Whatever the threshold's rule is: what is remembered of the scores, and so the probabilities, must not change
        # with it.
        model = (self._expansion, self._factor, self._points, self._kernel, self._plan, not every_score)
        return (*model, rows, signs, costs, draws, self._work, scores, NO_PRODUCTS)

    def _score_arguments(self, rows: Rows, scores: Floats) -> tuple[Any, ...]:
        return self._expansion, self._points, self._kernel, self._plan, rows, self._work, scores, NO_PRODUCTS

    def _run_span(self, rows: Rows, arguments: tuple[Any, ...], start: int, stop: int) -> int:
        skips_most = self._plan.draws and arguments[_SKIPS]
        # Rows that are learned and scored in turn get the very scores of single rows.
        if skips_most or not is_wide_enough(rows) or np.isnan(arguments[_SIGNS][start:stop]).any():
            return super()._run_span(rows, arguments, start, stop)
        while start < stop:
            last = min(start + BLOCK, stop)
            ahead = self._products(rows.dense[start:last], start)
            learned = expansion_run(*(*arguments[:-1], ahead, start, last))
            if learned < last:
                return learned
            start = last
        return stop

    def _score(self, rows: Rows) -> Floats:
        if not is_wide_enough(rows):
            return super()._score(rows)
        scores = np.empty(rows.dense.shape[0])
        for first in range(0, scores.size, BLOCK):
            block = rows._replace(dense=rows.dense[first : first + BLOCK])
            arguments = self._score_arguments(block, scores[first : first + BLOCK])
            expansion_score_rows(*(*arguments[:-1], self._products(block.dense, 0)))
        return scores

    def _products(self, block: Floats, first: int) -> BlockProducts:
        return products(block, first, self._points, int(self._expansion.tally[USED]), self._kernel)

    @property
    def _draws_a_row(self) -> int:
        return 1

    def _make_room(self) -> None:
        capacity = 2 * self._expansion.weights.size
        self._expansion = grown_expansion(self._expansion, capacity)
        self._points = more_columns(self._points, capacity)
        self._make_workspace()

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        arrays = named_arrays(expansion=self._expansion) | points_arrays(self._points)
        return arrays | {"factor": self._factor} if self._factor.size else arrays

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        fixed = self._plan.budget.size or self._plan.sample_budget
        self._expansion = restored_expansion(arrays, fixed or None)
        self._points = restored_points(arrays, self.n_features_in_, self._expansion.weights.size, self.n_seen_)
        if self._factor.size:
            self._factor = taken(arrays, "factor", np.float64, self._factor.shape)
        self._make_workspace()

    def _kept(self) -> Kept:
        expansion, order = self._expansion, self._expansion.order[: self._expansion.tally[USED]]
        weights, moments = expansion.levels[SCALE] * expansion.weights[order], expansion.moments[order]
        numbers = numbers_of(self._points)[order]
        return kept(self._vectors_at(order), weights, expansion.signs[order], numbers, moments=moments)

    def _merge(self, models: list[Any], shares: Floats) -> None:
        both = united([model._kept() for model in models], shares)
        self._start(self.n_features_in_)
        budget, most = self._plan.budget, self._plan.budget.size
        if self._plan.sample_budget:
            # Whoever has used up its budget learns no more. What is left shrinks as the stream grows: so it does here.
            left = max(0, self._plan.sample_budget - max(model.n_support_ for model in models))
            most = self._plan.sample_budget - -(-left // len(models))
        n_let_in = both.size
        if self._plan.projection == PLAIN:
            both, n_let_in = cut_down(both, budget, most, drawn(self._uniforms, both.size))
        capacity = self._expansion.weights.size
        if not (budget.size or self._plan.sample_budget):
            while capacity < both.size:
                capacity *= 2
        self._expansion, self._points = expansion_of(
            both,
            n_let_in,
            budget,
            capacity,
            kernel=self._kernel,
            n_features=self.n_features_in_,
            factor=self._factor,
            tolerance=self._plan.tolerance,
        )
        add_steps(self._expansion, [model._expansion for model in models])
        self._points.marks[-1] = self.n_seen_
        self._make_workspace()

    @property
    def n_diverged_(self) -> int:
        """How many steps were left out because they would have made a weight or a score infinite."""
        return self._expansion.tally.item(EXPANSION_DIVERGED)

    def _by_class_and_age(self) -> npt.NDArray[np.int64]:
        """The slots in use: positives from old to new, then negatives."""
        order = self._expansion.order[: self._expansion.tally[USED]]
        return np.concatenate([order[self._expansion.signs[order] > 0], order[self._expansion.signs[order] < 0]])

    @property
    def n_support_(self) -> int:
        """How many support vectors there are."""
        self._check_started()
        return int(self._expansion.tally[USED])

    def _columns_in_use(self) -> npt.NDArray[np.int64]:
        return self._by_class_and_age()

    @property
    def support_weights_(self) -> Floats:
        """Their weights in the decision function (a copy)."""
        self._check_started()
        slots, expansion = self._by_class_and_age(), self._expansion
        weights = expansion.levels[SCALE] * expansion.weights[slots]
        if self._plan.averages and expansion.tally[STEPS]:
            weights = weights - expansion.moments[slots] / expansion.tally[STEPS]
        return np.asarray(weights)

    @property
    def support_signs_(self) -> Floats:
        """+1 for a vector of the rare class, -1 for one of the other (a copy); a weight may have either sign."""
        self._check_started()
        return self._expansion.signs[self._by_class_and_age()]
