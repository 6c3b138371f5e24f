"""One weight vector, f(x) = w.x (+ bias): the arithmetic of a row, and the rules that judge an example by its score.

A row costs its non-zeros. The bias is the last weight, that of a feature which is always 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.arithmetic.limits import LARGEST, finite
from lopsided.core.geometry.points import Rows
from lopsided.core.measures.score_keys import sigmoid

PERCEPTRON, SHIFTED_MARGIN, WEIGHTED_LOSS, F_OPTIMAL = range(4)
# Entries of LinearModel.tally; FOUND and CALLED are a and b of OFO.
STEPS, POSITIVES, NEGATIVES, VECTOR_DIVERGED, FOUND, CALLED = range(6)


class LinearModel(NamedTuple):
    """The weights, and what has been seen."""

    weights: Floats
    tally: Integers


class LinearPlan(NamedTuple):
    """The parameters as numbers; `cost_ratio` is 0 where it follows the classes seen so far."""

    rule: int
    logistic: bool
    rate: float
    rate_decays: bool
    cost_ratio: float
    intercept: bool


def empty_linear_model(n_features: int) -> LinearModel:
    """All weights 0."""
    return LinearModel(np.zeros(n_features + 1), np.zeros(6, dtype=np.int64))


@compiled
def product(rows: Rows, t: int, weights: Floats, intercept: bool) -> float:
    """w.x of example t."""
    total = 0.0
    if rows.starts.size:
        for q in range(rows.starts[t], rows.starts[t + 1]):
            total += rows.values[q] * weights[rows.features[q]]
    else:
        x = rows.dense[t]
        for j in range(x.size):
            total += x[j] * weights[j]
    return total + weights[weights.size - 1] if intercept else total


@compiled
def add_multiple(rows: Rows, t: int, step: float, weights: Floats, intercept: bool) -> None:
    """w += step x."""
    if rows.starts.size:
        for q in range(rows.starts[t], rows.starts[t + 1]):
            weights[rows.features[q]] += step * rows.values[q]
    else:
        x = rows.dense[t]
        for j in range(x.size):
            weights[j] += step * x[j]
    if intercept:
        weights[weights.size - 1] += step


@compiled
def falling_rate(rate: float, decays: bool, t: int) -> float:
    """eta / sqrt(t), or eta."""
    return rate / math.sqrt(t) if decays else rate


@compiled
def descent(logistic: bool, margin: float) -> float:
    """-l'(z): how much an example with margin z pulls, by the hinge or the logistic loss."""
    if logistic:
        return sigmoid(-margin)
    return 1.0 if margin < 1.0 else 0.0


@compiled
def linear_run(
    model: LinearModel,
    plan: LinearPlan,
    rows: Rows,
    labels: Floats,
    importances: Floats,
    scores: Floats,
    start: int,
    stop: int,
) -> int:
    """Learn from the examples start..stop-1 in order, reporting the score of each before it was learned.

    An example whose label is NaN is scored only.
    """
    for t in range(start, stop):
        y = labels[t]
        if not math.isnan(y):
            model.tally[STEPS] += 1
            model.tally[POSITIVES if y > 0.0 else NEGATIVES] += 1
        value = product(rows, t, model.weights, plan.intercept)
        scores[t] = reported(model, plan, value)
        if math.isnan(y):
            continue
        if not abs(value) < LARGEST:
            model.tally[VECTOR_DIVERGED] += 1
            continue
        rate = falling_rate(plan.rate, plan.rate_decays, model.tally[STEPS])
        if plan.rule == F_OPTIMAL:
            count_call(model, plan, y, value)
        pull = pull_of(model, plan, y, y * value)
        if pull != 0.0:
            add_multiple(rows, t, importances[t] * rate * pull * y, model.weights, plan.intercept)
    return stop


@compiled
def pull_of(model: LinearModel, plan: LinearPlan, y: float, margin: float) -> float:
    """How large a step the rule asks for, in units of the step size."""
    if plan.rule == PERCEPTRON:
        return 1.0 if margin <= 0.0 else 0.0
    if plan.rule == F_OPTIMAL:
        return descent(plan.logistic, margin)
    cost = 1.0
    if y > 0.0:
        cost = plan.cost_ratio
        if cost == 0.0:
            cost = max(model.tally[NEGATIVES], 1) / max(model.tally[POSITIVES], 1)
    if plan.rule == SHIFTED_MARGIN:
        # The margin that is asked for is the cost: 1 - (z + 1 - cost) = cost - z.
        return descent(plan.logistic, margin - cost) if plan.logistic else descent(False, margin + 1.0 - cost)
    return cost * descent(plan.logistic, margin)


@compiled
def count_call(model: LinearModel, plan: LinearPlan, y: float, value: float) -> None:
    """The entries of OFO: whether an example is called positive, and whether it is."""
    called = probability_of(value, plan.logistic) > threshold_of(model)
    if y > 0.0:
        model.tally[CALLED] += 1
    if called:
        model.tally[CALLED] += 1
        if y > 0.0:
            model.tally[FOUND] += 1


@compiled
def probability_of(value: float, logistic: bool) -> float:
    """sigmoid(f), or (1 + f) / 2 within 0..1 for the hinge loss."""
    return sigmoid(value) if logistic else min(max(0.5 * (1.0 + value), 0.0), 1.0)


@compiled
def threshold_of(model: LinearModel) -> float:
    """tau = a / b, half of F1 so far."""
    return model.tally[FOUND] / model.tally[CALLED] if model.tally[CALLED] > 0 else 0.0


@compiled
def reported(model: LinearModel, plan: LinearPlan, value: float) -> float:
    """The score that goes with f(x): itself, or its probability above the threshold."""
    if plan.rule == F_OPTIMAL:
        return probability_of(finite(value), plan.logistic) - threshold_of(model)
    return finite(value)


@compiled
def linear_score_rows(model: LinearModel, plan: LinearPlan, rows: Rows, scores: Floats) -> None:
    """The score of every example."""
    for t in range(scores.size):
        scores[t] = reported(model, plan, product(rows, t, model.weights, plan.intercept))
