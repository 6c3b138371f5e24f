"""What BOMKC and OMKC share: one expansion a kernel, points kept once for all, and a weighted vote."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.core.arithmetic.draws import Draws
from lopsided.core.geometry.kernels import needs_dots
from lopsided.core.geometry.points import Rows, empty_points
from lopsided.core.geometry.shared_points import empty_shared_points
from lopsided.core.pointwise.expansion import EXPANSION_DIVERGED, SCALE, USED, empty_expansion
from lopsided.core.pointwise.votes import VotePlan, empty_vote_scratch, vote_run, vote_score_rows
from lopsided.estimators.base import validation
from lopsided.estimators.base.merging import averaged, drawn
from lopsided.estimators.kernel.parameters import chosen_pool
from lopsided.estimators.kernel.support_learner import SupportVectorLearner, nearest_similarity, similarities
from lopsided.estimators.kernel.uniting import Kept, cut_down, kept, united
from lopsided.estimators.kernel.uniting_supports import add_steps, expansion_of, kernel_at, pooled
from lopsided.estimators.state.arrays import named_arrays, taken
from lopsided.estimators.state.expansion import (
    grown_expansion,
    members_of,
    restored_expansion,
    stacked_expansions,
)
from lopsided.estimators.state.points import more_columns, numbers_of, points_arrays, restored_points
from lopsided.estimators.state.shared_points import restored_shared_points, roomier_shared_points
from lopsided.kernels import Kernel

_FIRST_ROOM = 64  # slots a kernel with which a learner without a budget begins
_FIRST_COLUMNS = 256
_AT_A_TIME = 256  # rows, so that tables of similarities stay small
_PEERS = 512  # rows of a class among which one is looked for that stands in for another
_STANDS_IN = 1.5  # see `SupportVectorLearner`; less than there, since a vote has no size


class VotingLearner(SupportVectorLearner):
    """A classifier sum_l theta_l sign f_l(x), one expansion f_l a kernel."""

    kernels: Any
    discount: float
    exploration: float
    zero_vote: int
    strict: bool

    def _make_plan(self, n_kernels: int, wants_dots: bool) -> VotePlan:
        """The rule, the budget and the weighting, from the parameters."""
        raise NotImplementedError

    def _start(self, n_features: int) -> None:
        kernels = [kernel.compiled() for kernel in chosen_pool(self.kernels)]
        m = len(kernels)
        self._plan = self._make_plan(m, any(needs_dots(kernel) for kernel in kernels))
        slots, columns = _FIRST_ROOM, _FIRST_COLUMNS
        if self._plan.total:
            slots = self._plan.total if self._plan.stochastic else max(self._plan.budget.size, 1)
            columns = self._plan.total if self._plan.stochastic else m * slots
        self._stack = stacked_expansions([empty_expansion(slots)] * m)
        self._pool = empty_shared_points(kernels, slots, columns)
        self._theta = np.full(m, 1.0 / m)
        self._points = empty_points(n_features, columns)
        self._make_workspace()

    def _make_workspace(self) -> None:
        slots, columns = self._stack.weights.shape[1], self._pool.holders.size
        self._work = empty_vote_scratch(columns, slots, self.n_features_in_)
        self._unbind()

    _run = staticmethod(vote_run)
    _score_rows = staticmethod(vote_score_rows)

    def _run_arguments(
        self, rows: Rows, signs: Floats, costs: Floats, draws: Draws, scores: Floats, every_score: bool
    ) -> tuple[Any, ...]:
        model = (self._stack, self._pool, self._theta, self._points, self._plan)
        return (*model, rows, signs, costs, draws, self._work, scores)

    def _score_arguments(self, rows: Rows, scores: Floats) -> tuple[Any, ...]:
        return self._stack, self._pool, self._theta, self._points, self._plan, rows, self._work, scores

    @property
    def _draws_a_row(self) -> int:
        return max(1, self._theta.size * (int(self._plan.trials) + int(self._plan.evictions)))

    def _make_room(self) -> None:
        slots, columns = self._stack.weights.shape[1], self._pool.holders.size
        if int(self._stack.tally[:, USED].max()) == slots:
            slots *= 2
            self._stack = stacked_expansions([grown_expansion(one, slots) for one in members_of(self._stack)])
        if self._pool.free_count[0] == 0:
            columns *= 2
            self._points = more_columns(self._points, columns)
        self._pool = roomier_shared_points(self._pool, slots, columns)
        self._make_workspace()

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return (
            named_arrays(expansion=self._stack, pool=self._pool) | points_arrays(self._points) | {"theta": self._theta}
        )

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        fixed = bool(self._plan.total)
        m, slots = self._stack.weights.shape
        self._stack = restored_expansion(arrays, slots if fixed else None, members=m)
        capacity = self._pool.holders.size if fixed else taken(arrays, "pool.holders", np.int64, (None,)).size
        in_use = [one.order[: one.tally[USED]] for one in members_of(self._stack)]
        self._pool = restored_shared_points(arrays, self._pool, in_use, capacity)
        self._theta = taken(arrays, "theta", np.float64, (m,))
        self._points = restored_points(arrays, self.n_features_in_, capacity, self.n_seen_)
        self._make_workspace()

    def _kept(self, index: int) -> Kept:
        """The vectors of one kernel."""
        one = members_of(self._stack)[index]
        order = one.order[: one.tally[USED]]
        columns = self._pool.columns[index, order]
        weights, numbers = one.levels[SCALE] * one.weights[order], numbers_of(self._points)[columns]
        return kept(self._vectors_at(columns), weights, one.signs[order], numbers, moments=one.moments[order])

    def _as_if_new(self, scores: Floats, numbers: Integers, rows: Rows, signs: Floats) -> Floats:
        """Votes on rows, each kernel without the row itself as far as no other row would have stood in for it.

        See `SupportVectorLearner` for what would. Votes that are the same add up to just the same score.
        """
        pool, kepts = chosen_pool(self._begun_with["kernels"]), [self._kept(i) for i in range(self._theta.size)]
        places = np.flatnonzero(np.isin(numbers, np.concatenate([one.numbers for one in kepts])))
        vectors, scores = validation.dense_rows(rows, self.n_features_in_), scores.copy()
        scores[places] = 0.0
        for kernel, one, theta in zip(pool, kepts, self._theta.tolist(), strict=True):
            values = self._values_as_if_new(kernel, one, vectors, signs, numbers, places)
            scores[places] += theta * np.where(values == 0.0, self._plan.zero_vote, np.sign(values))
        return scores

    def _values_as_if_new(
        self, kernel: Kernel, one: Kept, vectors: Floats, signs: Floats, numbers: Integers, places: Integers
    ) -> Floats:
        values = np.zeros(places.size)
        for start in range(0, places.size, _AT_A_TIME):
            some = places[start : start + _AT_A_TIME]
            terms = one.weights * similarities(kernel, vectors[some], one.vectors)
            _, mine, its = np.intersect1d(numbers[some], one.numbers, return_indices=True)
            terms[mine, its] *= nearest_similarity(kernel, vectors, signs, some[mine], most_peers=_PEERS) ** _STANDS_IN
            values[start : start + some.size] = terms.sum(axis=1)
        return values

    def _merge(self, models: list[Any], shares: Floats) -> None:
        self._start(self.n_features_in_)
        budget, m = self._plan.budget, self._theta.size
        both = [united([model._kept(index) for model in models], shares) for index in range(m)]
        most = np.full(m, max(budget.size, 1) if self._plan.total else 0)
        if self._plan.total and self._plan.stochastic:  # one budget for all kernels: each gets its share of the vectors
            found = np.array([part.size for part in both])
            most = np.minimum(found, self._plan.total * found // max(int(found.sum()), self._plan.total))
        slots, columns = self._stack.weights.shape[1], self._pool.holders.size
        if not self._plan.total:
            while slots < max(part.size for part in both):
                slots *= 2
            while columns < sum(part.size for part in both):
                columns *= 2
        expansions, held = [], []
        for index in range(m):
            uniforms, own = drawn(self._uniforms, both[index].size), budget._replace(size=int(most[index]))
            part, n_let_in = cut_down(both[index], budget, own.size, uniforms)
            if self._plan.total and not own.size:
                n_let_in = 0
            kernel, width = kernel_at(self._pool, index), self.n_features_in_
            expansion, points = expansion_of(part, n_let_in, own, slots, kernel=kernel, n_features=width)
            add_steps(expansion, [members_of(model._stack)[index] for model in models])
            expansions.append(expansion)
            held.append((points, expansion.order[: expansion.tally[USED]]))
        self._stack = stacked_expansions(expansions)
        self._pool, self._points = pooled(self._pool, held, slots, columns, self.n_features_in_)
        # Each kernel's weight is a product over the rows, which is averaged as such.
        theta = np.exp(averaged([np.log(np.maximum(model._theta, 1e-300)) for model in models], shares))
        self._theta[:] = theta / theta.sum()
        self._points.marks[-1] = self.n_seen_
        self._make_workspace()

    @property
    def n_diverged_(self) -> int:
        """How many steps of a kernel were left out because they would have made a weight or a score infinite."""
        return int(self._stack.tally[:, EXPANSION_DIVERGED].sum())

    @property
    def kernel_weights_(self) -> Floats:
        """theta: how much each kernel counts in the vote; they sum to 1 (a copy)."""
        self._check_started()
        return self._theta.copy()

    @property
    def n_support_(self) -> int:
        """How many support vectors there are, over all kernels."""
        self._check_started()
        return int(self._stack.tally[:, USED].sum())

    def _by_class_and_age(self) -> list[npt.NDArray[np.int64]]:
        """The slots in use by kernel: positives from old to new, then negatives."""
        orders = [(one, one.order[: one.tally[USED]]) for one in members_of(self._stack)]
        return [np.concatenate([o[one.signs[o] > 0], o[one.signs[o] < 0]]) for one, o in orders]

    def _columns_in_use(self) -> list[npt.NDArray[np.int64]]:
        return [self._pool.columns[index, slots] for index, slots in enumerate(self._by_class_and_age())]

    @property
    def support_weights_(self) -> list[Floats]:
        """Their weights for each kernel (copies)."""
        self._check_started()
        pairs = zip(members_of(self._stack), self._by_class_and_age(), strict=True)
        return [np.asarray(one.levels[SCALE] * one.weights[slots]) for one, slots in pairs]

    @property
    def support_signs_(self) -> list[Floats]:
        """For each kernel +1 for a vector of the rare class and -1 for one of the other (copies)."""
        self._check_started()
        return [one.signs[slots] for one, slots in zip(members_of(self._stack), self._by_class_and_age(), strict=True)]
