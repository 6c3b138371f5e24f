"""Online multiple-kernel classification: one expansion a kernel, votes weighted by how often each has been right.

BOMKC lets examples in by SPA's toss; OMKC runs perceptrons, passive-aggressive learners or bounded ones. Expansions are
stacked in arrays with one leading axis; points are kept once for all kernels that hold them (`shared_points.py`), so
distances and scalar products are computed once an example.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, compiled
from lopsided.core.arithmetic.draws import Draws
from lopsided.core.arithmetic.limits import LARGEST, NOT_STORED, finite
from lopsided.core.geometry.kernels import kernel_of, self_similarity, similarities
from lopsided.core.geometry.points import Points, Rows, measure, measure_column, squared_norm, tick
from lopsided.core.geometry.shared_points import NO_COLUMN, SharedPoints, hold
from lopsided.core.pointwise.budget import SHRINK_FIRST, Budget, put_newcomer
from lopsided.core.pointwise.expansion import (
    EXPANSION_DIVERGED,
    MISTAKES,
    STEPS,
    USED,
    Expansion,
    expansion_value,
    shrink,
)
from lopsided.core.pointwise.rules import SPARSE_PASSIVE_AGGRESSIVE, Rule, wanted


class VotePlan(NamedTuple):
    """The parameters as numbers. `total` is the budget of all kernels together, or 0.

    `stochastic`: only kernels that win a toss of probability p_i learn, and the budget is one for all; otherwise all
    learn, each within its share. `hedges`: a wrong kernel loses weight. `trials`, `evictions`: whether a step uses up a
    uniform a kernel for the toss, and one for who leaves.
    """

    rule: Rule
    budget: Budget
    rate: float
    shrinkage: float
    sampling_scale: float
    total: int
    stochastic: bool
    hedges: bool
    trials: bool
    evictions: bool
    discount: float
    exploration: float
    zero_vote: float
    strict: bool
    wants_dots: bool


class VoteScratch(NamedTuple):
    """By column: distances and scalar products of the example and of one vector; by slot: one kernel's part of them."""

    squares: Floats
    dots: Floats
    other_squares: Floats
    other_dots: Floats
    near_squares: Floats
    near_dots: Floats
    near_norms: Floats
    row: Floats
    other_row: Floats
    point: Floats


def empty_vote_scratch(columns: int, slots: int, n_features: int) -> VoteScratch:
    """Scratch for so many columns of points and slots of a kernel."""
    squares, dots, other_squares, other_dots = np.zeros((4, columns))
    near_squares, near_dots, near_norms, row, other_row = np.zeros((5, slots))
    return VoteScratch(
        squares, dots, other_squares, other_dots, near_squares, near_dots, near_norms, row, other_row,
        np.zeros(n_features),
    )  # fmt: skip


@compiled
def member(stack: Expansion, index: int) -> Expansion:
    """One kernel's expansion: views into the stack."""
    return Expansion(
        stack.weights[index],
        stack.moments[index],
        stack.self_similarities[index],
        stack.signs[index],
        stack.order[index],
        stack.levels[index],
        stack.tally[index],
    )


@compiled
def gather_row(
    shared: SharedPoints,
    index: int,
    points: Points,
    used: int,
    norm: float,
    squares: Floats,
    dots: Floats,
    work: VoteScratch,
    row: Floats,
) -> None:
    """row[i] = k_index(x, z_i), from what was measured by column."""
    columns = shared.columns[index, :used]
    near_squares, near_dots, near_norms = work.near_squares[:used], work.near_dots[:used], work.near_norms[:used]
    for i in range(columns.size):
        near_squares[i] = squares[columns[i]]
        near_dots[i] = dots[columns[i]]
        near_norms[i] = points.squared_norms[columns[i]]
    similarities(kernel_of(shared, index), near_squares, near_dots, near_norms, norm, row[:used])


@compiled
def vote(score: float, zero_vote: float) -> float:
    """The sign of a score, and `zero_vote` for 0."""
    return 1.0 if score > 0.0 else (-1.0 if score < 0.0 else zero_vote)


@compiled
def vote_run(
    stack: Expansion,
    shared: SharedPoints,
    theta: Floats,
    points: Points,
    plan: VotePlan,
    rows: Rows,
    labels: Floats,
    importances: Floats,
    draws: Draws,
    work: VoteScratch,
    scores: Floats,
    start: int,
    stop: int,
) -> int:
    """Learn from the examples start..stop-1 in order, reporting the vote on each before it was learned.

    An example whose label is NaN is scored only. Returns the number of the first example not learned: smaller than
    `stop` only if arrays without a budget are full.
    """
    m = theta.size
    for t in range(start, stop):
        if math.isnan(labels[t]):
            scores[t] = _weighted_vote(stack, shared, theta, points, plan, rows, t, work)
            continue
        if plan.total == 0 and (shared.free_count[0] == 0 or _any_full(stack)):
            return t
        tick(points)
        y, norm = labels[t], squared_norm(rows, t)
        measure(points, rows, t, norm, 0, shared.free_count[1], work.squares, work.dots, plan.wants_dots)
        heaviest = 0.0
        for index in range(m):
            heaviest = max(heaviest, theta[index])
        reported, total, column = 0.0, 0.0, NO_COLUMN
        first = draws.position[0]
        for index in range(m):
            expansion = member(stack, index)
            gather_row(shared, index, points, expansion.tally[USED], norm, work.squares, work.dots, work, work.row)
            score = expansion_value(expansion, work.row)
            reported += theta[index] * vote(score, plan.zero_vote)
            # (1 - delta) theta_i / max theta + delta, from the weights before this step; 1 for the heaviest, unrounded
            chance = 1.0
            if theta[index] < heaviest:
                chance = (1.0 - plan.exploration) * (theta[index] / heaviest) + plan.exploration
            toss = draws.uniforms[first + index] if plan.trials else 0.0
            eviction = draws.uniforms[first + index + (m if plan.trials else 0)] if plan.evictions else 0.0
            learns = not plan.stochastic or toss < chance or plan.rule.kind == SPARSE_PASSIVE_AGGRESSIVE
            expansion.tally[STEPS] += 1
            itself = self_similarity(kernel_of(shared, index), norm)
            slot = _learn(
                stack, expansion, shared, index, points, plan, work, itself, score, y, importances[t], learns, chance,
                toss, eviction,
            )  # fmt: skip
            if slot != NOT_STORED:
                column = hold(shared, points, index, slot, column, rows, t, norm)
            if plan.hedges and learns and (y * score < 0.0 or (y * score == 0.0 and not plan.strict)):
                theta[index] *= plan.discount
            total += theta[index]
        for index in range(m):
            theta[index] /= total
        draws.position[0] = first + (m if plan.trials else 0) + (m if plan.evictions else 0)
        scores[t] = finite(reported)
    return stop


@compiled
def _any_full(stack: Expansion) -> bool:
    for index in range(stack.weights.shape[0]):
        if stack.tally[index, USED] == stack.weights.shape[1]:
            return True
    return False


@compiled
def _learn(
    stack: Expansion,
    expansion: Expansion,
    shared: SharedPoints,
    index: int,
    points: Points,
    plan: VotePlan,
    work: VoteScratch,
    itself: float,
    score: float,
    y: float,
    importance: float,
    learns: bool,
    chance: float,
    toss: float,
    eviction: float,
) -> int:
    """One kernel's step; returns the slot in which it holds the example, or NOT_STORED."""
    weight = 0.0
    if learns:
        weight = wanted(plan.rule, plan.rate, plan.sampling_scale, score, y, itself, importance, toss, chance)
    if not (abs(score) < LARGEST and abs(weight) < LARGEST and itself < LARGEST):
        expansion.tally[EXPANSION_DIVERGED] += 1
        return NOT_STORED
    if plan.shrinkage > 0.0:
        shrink(expansion, 1.0 - plan.rate * plan.shrinkage)
    is_full = plan.total > 0 and _is_full(stack, expansion, plan)
    if weight == 0.0 or (is_full and expansion.tally[USED] == 0):
        return NOT_STORED
    expansion.tally[MISTAKES] += 1
    oldest_score = 0.0
    if is_full and plan.budget.repair == SHRINK_FIRST:
        oldest_score = _score_at_oldest(expansion, shared, index, points, plan, work)
    return put_newcomer(expansion, plan.budget, is_full, work.row, itself, weight, y, eviction, plan.rate, oldest_score)


@compiled
def _is_full(stack: Expansion, expansion: Expansion, plan: VotePlan) -> bool:
    """Whether the kernel's own share is used up, or what all kernels hold at this moment."""
    if not plan.stochastic:
        return expansion.tally[USED] >= plan.budget.size
    held = 0
    for index in range(stack.tally.shape[0]):
        held += stack.tally[index, USED]
    return held >= plan.total


@compiled
def _score_at_oldest(
    expansion: Expansion, shared: SharedPoints, index: int, points: Points, plan: VotePlan, work: VoteScratch
) -> float:
    column = shared.columns[index, expansion.order[0]]
    measure_column(
        points, column, 0, shared.free_count[1], work.other_squares, work.other_dots, plan.wants_dots, work.point
    )
    norm, used = points.squared_norms[column], expansion.tally[USED]
    gather_row(shared, index, points, used, norm, work.other_squares, work.other_dots, work, work.other_row)
    return expansion_value(expansion, work.other_row)


@compiled
def vote_score_rows(
    stack: Expansion,
    shared: SharedPoints,
    theta: Floats,
    points: Points,
    plan: VotePlan,
    rows: Rows,
    work: VoteScratch,
    scores: Floats,
) -> None:
    """The weighted vote on every example."""
    for t in range(scores.size):
        scores[t] = _weighted_vote(stack, shared, theta, points, plan, rows, t, work)


@compiled
def _weighted_vote(
    stack: Expansion,
    shared: SharedPoints,
    theta: Floats,
    points: Points,
    plan: VotePlan,
    rows: Rows,
    t: int,
    work: VoteScratch,
) -> float:
    """The vote on one example that is not learned."""
    norm = squared_norm(rows, t)
    measure(points, rows, t, norm, 0, shared.free_count[1], work.squares, work.dots, plan.wants_dots)
    total = 0.0
    for index in range(theta.size):
        expansion = member(stack, index)
        gather_row(shared, index, points, expansion.tally[USED], norm, work.squares, work.dots, work, work.row)
        total += theta[index] * vote(expansion_value(expansion, work.row), plan.zero_vote)
    return finite(total)
