"""Online bagging that resamples the classes: members learn each example a Poisson number of times, and vote."""

from __future__ import annotations

import math
from typing import NamedTuple

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.arithmetic.limits import LARGEST
from lopsided.core.geometry.points import Rows
from lopsided.core.linear.weight_columns import COLUMNS_DIVERGED, STEPS, WeightColumns, add_to_columns, column_scores
from lopsided.core.linear.weight_vector import descent, falling_rate


class BaggingPlan(NamedTuple):
    """The parameters as numbers."""

    logistic: bool
    rate: float
    rate_decays: bool
    intercept: bool


@compiled
def resampling_rates(sizes: Floats, forgetting: float, oversamples: bool, labels: Floats, rates: Floats) -> None:
    """How often each example is to be learned on average, from the faded sizes of the classes, itself included."""
    for t in range(labels.size):
        own = 0 if labels[t] > 0.0 else 1
        for which in range(2):
            sizes[which] = forgetting * sizes[which] + (1.0 - forgetting if which == own else 0.0)
        extreme = max(sizes[0], sizes[1]) if oversamples else min(sizes[0], sizes[1])
        rates[t] = extreme / sizes[own]


@compiled
def bagging_run(
    columns: WeightColumns,
    plan: BaggingPlan,
    rows: Rows,
    labels: Floats,
    importances: Floats,
    work: Floats,
    scores: Floats,
    times: Integers,
    first: int,
    start: int,
    stop: int,
) -> int:
    """Learn from the examples start..stop-1; member i learns example t times[t - first, i] times, in one step.

    An example whose label is NaN is scored only.
    """
    steps = work[: columns.weights.shape[1]]
    for t in range(start, stop):
        y = labels[t]
        column_scores(columns, rows, t, plan.intercept, steps)
        scores[t] = _vote(steps)
        if math.isnan(y):
            continue
        columns.tally[STEPS] += 1
        rate = importances[t] * falling_rate(plan.rate, plan.rate_decays, columns.tally[STEPS])
        largest = 0.0
        for i in range(steps.size):
            largest = max(largest, abs(steps[i]))
            if not abs(steps[i]) < LARGEST:  # NaN as well
                largest = LARGEST
            steps[i] = rate * times[t - first, i] * descent(plan.logistic, y * steps[i]) * y
        if largest < LARGEST:
            add_to_columns(columns, rows, t, plan.intercept, steps)
        else:
            columns.tally[COLUMNS_DIVERGED] += 1
    return stop


@compiled
def _vote(values: Floats) -> float:
    """(positive - negative votes) / members; 0 votes negative."""
    votes = 0
    for i in range(values.size):
        votes += 1 if values[i] > 0.0 else -1
    return votes / values.size


@compiled
def bagging_score_rows(columns: WeightColumns, plan: BaggingPlan, rows: Rows, work: Floats, scores: Floats) -> None:
    """The vote on every example."""
    values = work[: columns.weights.shape[1]]
    for t in range(scores.size):
        column_scores(columns, rows, t, plan.intercept, values)
        scores[t] = _vote(values)
