"""Online multiple cost-sensitive learning: K columns with K costs, and a draw among them by what each has achieved."""

from __future__ import annotations

import math
from typing import NamedTuple

from lopsided.core.arithmetic.compiled import Floats, compiled
from lopsided.core.arithmetic.draws import Draws, draw
from lopsided.core.arithmetic.limits import LARGEST, finite
from lopsided.core.geometry.points import Rows
from lopsided.core.linear.weight_columns import (
    COLUMNS_DIVERGED,
    STEPS,
    WeightColumns,
    add_to_columns,
    column_scores,
    column_value,
    end_step,
    shrink_columns,
)
from lopsided.core.linear.weight_vector import descent, falling_rate
from lopsided.core.measures.experts import Experts, ExpertsPlan, best_expert, drawn_expert, judge


class OmcslPlan(NamedTuple):
    """The parameters as numbers."""

    logistic: bool
    rate: float
    rate_decays: bool
    regularization: float
    averages: bool
    intercept: bool
    experts: ExpertsPlan


@compiled
def omcsl_run(
    columns: WeightColumns,
    experts: Experts,
    costs: Floats,
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

    `costs` are those of positives and of negatives, by column. `all_scores`, unless empty, takes the scores of all.
    An example whose label is NaN is scored only, as `omcsl_score_rows` does.
    """
    for t in range(start, stop):
        y = labels[t]
        if math.isnan(y):
            column = best_expert(experts)
            scores[t] = finite(column_value(columns, rows, t, plan.intercept, column, plan.averages))
            continue
        columns.tally[STEPS] += 1
        column_scores(columns, rows, t, plan.intercept, work)
        largest = 0.0
        for j in range(work.size):
            work[j] = finite(work[j])
            largest = max(largest, abs(work[j]))
            if all_scores.size:
                all_scores[t, j] = work[j]
        scores[t] = work[drawn_expert(experts, draw(draws))]
        judge(experts, plan.experts, columns.tally[STEPS], y, work)
        if largest < LARGEST:
            rate = importances[t] * falling_rate(plan.rate, plan.rate_decays, columns.tally[STEPS])
            _descend(columns, costs[0 if y > 0.0 else 1], plan, rate, rows, t, y, work)
        else:
            columns.tally[COLUMNS_DIVERGED] += 1
        end_step(columns)
    return stop


@compiled
def _descend(
    columns: WeightColumns, costs: Floats, plan: OmcslPlan, rate: float, rows: Rows, t: int, y: float, work: Floats
) -> None:
    """W_j -= rate (c_j l'(y s_j) y x + lambda W_j), the scores s being in `work`."""
    for j in range(work.size):
        work[j] = rate * costs[j] * descent(plan.logistic, y * work[j]) * y
    if plan.regularization > 0.0:
        shrink_columns(columns, 1.0 - rate * plan.regularization)
    add_to_columns(columns, rows, t, plan.intercept, work)


@compiled
def omcsl_score_rows(columns: WeightColumns, experts: Experts, plan: OmcslPlan, rows: Rows, scores: Floats) -> None:
    """The score of every example by the column most likely to be drawn, or by its average."""
    column = best_expert(experts)
    for t in range(scores.size):
        scores[t] = finite(column_value(columns, rows, t, plan.intercept, column, plan.averages))
