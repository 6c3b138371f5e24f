"""Online multiple cost-sensitive learning: K columns with K costs, and a draw among them by what each has achieved."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.columns import (
    DIVERGED,
    STEPS,
    Columns,
    add_to_columns,
    column_scores,
    column_value,
    end_step,
    shrink_columns,
)
from lopsided.core.compiled import Floats, compiled
from lopsided.core.confusion import count_call, f1_of
from lopsided.core.draws import Draws, draw
from lopsided.core.exponential import exponential
from lopsided.core.koil import LARGEST, finite
from lopsided.core.linear import descent, falling_rate
from lopsided.core.points import Rows
from lopsided.core.ranking import Ranking, RankingPlan, observe, precision_recall_area, ranked_rightly

F1, AUROC, AUPRC = range(3)
# Rows of Experts.standing: M, what each has achieved, and p, how likely each is drawn.
ACHIEVED, CHANCE = range(2)


class Experts(NamedTuple):
    """Costs (positives, negatives), standing, counts of calls, and rankings stacked with one leading axis."""

    costs: Floats
    standing: Floats
    counts: Floats
    rankings: Ranking


class OmcslPlan(NamedTuple):
    """The parameters as numbers. `ranks` says whether the rankings are kept."""

    measure: int
    logistic: bool
    sharpness: float
    rate: float
    rate_decays: bool
    regularization: float
    refresh: int
    averages: bool
    trapezoid: bool
    intercept: bool
    ranks: bool
    ranking: RankingPlan


@compiled
def ranking_of(rankings: Ranking, index: int) -> Ranking:
    """One expert's."""
    return Ranking(rankings.bins[index], rankings.kept[index], rankings.levels[index], rankings.tally[index])


@compiled
def omcsl_run(
    columns: Columns,
    experts: Experts,
    plan: OmcslPlan,
    rows: Rows,
    labels: Floats,
    importances: Floats,
    draws: Draws,
    work: Floats,
    scores: Floats,
    all_scores: Floats,
    start: int,
    stop: int,
) -> int:
    """Learn from the examples start..stop-1 in order, reporting of each the score of the column drawn for it.

    `all_scores`, unless empty, takes the scores of all columns.
    """
    steps = work[: columns.weights.shape[1]]
    for t in range(start, stop):
        y, K = labels[t], columns.weights.shape[1]
        columns.tally[STEPS] += 1
        column_scores(columns, rows, t, plan.intercept, steps)
        drawn = _drawn(experts.standing[CHANCE], draw(draws))
        scores[t] = finite(steps[drawn])
        largest = 0.0
        for j in range(K):
            score = finite(steps[j])
            largest = max(largest, abs(score))
            if all_scores.size:
                all_scores[t, j] = score
            count_call(experts.counts[j], y, score)
            if plan.ranks:
                observe(ranking_of(experts.rankings, j), plan.ranking, y, score)
        refreshes = columns.tally[STEPS] % plan.refresh == 0
        if refreshes:
            for j in range(K):
                experts.standing[ACHIEVED, j] = achieved_by(experts, plan, plan.measure, j)
        if refreshes or columns.tally[STEPS] == 1:
            set_chances(experts.standing[ACHIEVED], plan.sharpness, experts.standing[CHANCE])
        rate = importances[t] * falling_rate(plan.rate, plan.rate_decays, columns.tally[STEPS])
        if largest < LARGEST:
            costs = experts.costs[0 if y > 0.0 else 1]
            for j in range(K):
                steps[j] = rate * costs[j] * descent(plan.logistic, y * steps[j]) * y
            if plan.regularization > 0.0:
                shrink_columns(columns, 1.0 - rate * plan.regularization)
            add_to_columns(columns, rows, t, plan.intercept, steps)
        else:
            columns.tally[DIVERGED] += 1
        end_step(columns)
    return stop


@compiled
def _drawn(chances: Floats, u: float) -> int:
    """The least j with p_1 + ... + p_j > u."""
    total = 0.0
    for j in range(chances.size):
        total += chances[j]
        if total > u:
            return j
    return chances.size - 1


@compiled
def achieved_by(experts: Experts, plan: OmcslPlan, measure: int, j: int) -> float:
    """A measure of one expert so far; 0 while it is undefined."""
    if measure == F1:
        return f1_of(experts.counts[j])
    ranking = ranking_of(experts.rankings, j)
    area = ranked_rightly(ranking) if measure == AUROC else precision_recall_area(ranking, plan.trapezoid)[0]
    return 0.0 if math.isnan(area) else area


@compiled
def set_chances(achieved: Floats, sharpness: float, chances: Floats) -> None:
    """p_j proportional to exp(sharpness (M_j - max M)); all on the first of the best if sharpness is infinite."""
    best = int(np.argmax(achieved))
    if math.isinf(sharpness):
        for j in range(chances.size):
            chances[j] = 1.0 if j == best else 0.0
        return
    total = 0.0
    for j in range(chances.size):
        chances[j] = exponential(sharpness * (achieved[j] - achieved[best]))
        total += chances[j]
    for j in range(chances.size):
        chances[j] /= total


@compiled
def omcsl_score_rows(columns: Columns, plan: OmcslPlan, standing: Floats, rows: Rows, scores: Floats) -> None:
    """The score of every example by the column most likely to be drawn, or by its average."""
    column = int(np.argmax(standing[CHANCE]))
    for t in range(scores.size):
        scores[t] = finite(column_value(columns, rows, t, plan.intercept, column, plan.averages))
