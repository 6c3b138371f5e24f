"""A weight vector for each key, by the rules of one weight vector: apart from each other, or on top of a common one.

The record of a key is a row of `Records`: d weights, the bias, and the counts, which are whole numbers in the same
memory. With a prior the weights of key k are a correction v_k of the common weights w. A row of that key has
f(x) = w.x + n / (n + m) v_k.x, where n rows of the key were learned before: so a new key answers as all do. w learns by
w.x as if there were no keys; v_k learns by f(x), by the same rule, with the counts of all rows and its own step size.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.arithmetic.limits import LARGEST, finite
from lopsided.core.arithmetic.prefetching import fetch_ahead
from lopsided.core.geometry.points import Rows
from lopsided.core.keyed.table import NOT_THERE, KeyTable, meet, slot_of
from lopsided.core.linear.weight_vector import (
    F_OPTIMAL,
    NEGATIVES,
    POSITIVES,
    STEPS,
    VECTOR_DIVERGED,
    LinearModel,
    LinearPlan,
    add_multiple,
    count_call,
    falling_rate,
    linear_run,
    probability_of,
    product,
    pull_of,
    reported,
    threshold_of,
)

COUNTS = 6  # as in LinearModel.tally
_AHEAD = 16  # rows


class Records(NamedTuple):
    """A row a key, twice the same memory: as numbers, and as whole numbers."""

    numbers: Floats
    wholes: Integers


class Common(NamedTuple):
    """The model of all rows. After m rows of a key its own part counts half; below 0 each key is apart from all."""

    model: LinearModel
    m: float


def records_of(numbers: Floats) -> Records:
    """Records in this memory."""
    return Records(numbers, numbers.view(np.int64))


@compiled
def _model_at(records: Records, slot: int) -> LinearModel:
    numbers, wholes = records.numbers[slot], records.wholes[slot]
    n_weights = numbers.size - COUNTS
    return LinearModel(numbers[:n_weights], wholes[n_weights:])


@compiled
def keyed_linear_run(
    records: Records,
    common: Common,
    plan: LinearPlan,
    slots: Integers,
    rows: Rows,
    labels: Floats,
    importances: Floats,
    scores: Floats,
    start: int,
    stop: int,
) -> int:
    """Learn from the examples start..stop-1 in order, each by the model of its key; returns how many steps diverged.

    With a prior the model of all rows learns each of them first. Its steps wait for each other; those of keys do not,
    and run beside them.
    """
    diverged = 0
    for t in range(start, stop):
        fetch_ahead(records.numbers[slots[min(t + _AHEAD, stop - 1)]])
        y, model = labels[t], _model_at(records, slots[t])
        value, threshold, judge = product(rows, t, model.weights, plan.intercept), threshold_of(model), model
        if common.m >= 0.0:
            judge, threshold = common.model, threshold_of(common.model)
            value = _common_step(judge, plan, rows, labels, importances, scores, t) + _share(model, common.m) * value
        scores[t] = _score_of(plan, value, threshold)
        _count(model, y)
        if not abs(value) < LARGEST:
            model.tally[VECTOR_DIVERGED] += 1
            diverged += 1
            continue
        if plan.rule == F_OPTIMAL and common.m < 0.0:
            count_call(model, plan, y, value)
        pull = pull_of(judge, plan, y, y * value)
        if pull != 0.0:
            rate = falling_rate(plan.rate, plan.rate_decays, model.tally[STEPS])
            add_multiple(rows, t, importances[t] * rate * pull * y, model.weights, plan.intercept)
    return diverged


@compiled
def keyed_linear_one(
    table: KeyTable,
    records: Records,
    common: Common,
    plan: LinearPlan,
    codes: Integers,
    slots: Integers,
    rows: Rows,
    labels: Floats,
    importances: Floats,
    scores: Floats,
) -> int:
    """Learn from one example whose key is in memory; returns how many steps diverged, or NOT_THERE."""
    slots[0] = meet(table, codes[0])
    if slots[0] == NOT_THERE:
        return NOT_THERE
    return keyed_linear_run(records, common, plan, slots, rows, labels, importances, scores, 0, 1)


@compiled
def _common_step(
    model: LinearModel, plan: LinearPlan, rows: Rows, labels: Floats, importances: Floats, scores: Floats, t: int
) -> float:
    """Let the model of all rows learn example t; returns w.x as it was before."""
    if plan.rule != F_OPTIMAL:
        linear_run(model, plan, rows, labels, importances, scores, t, t + 1)
        return scores[t]
    value = product(rows, t, model.weights, plan.intercept)  # whose scores are no values
    linear_run(model, plan, rows, labels, importances, scores, t, t + 1)
    return value


@compiled
def _count(model: LinearModel, y: float) -> None:
    model.tally[STEPS] += 1
    model.tally[POSITIVES if y > 0.0 else NEGATIVES] += 1


@compiled
def _share(model: LinearModel, m: float) -> float:
    """n / (n + m), 0 for a key without rows."""
    n = model.tally[STEPS]
    return n / (n + m) if n > 0 else 0.0


@compiled
def _score_of(plan: LinearPlan, value: float, threshold: float) -> float:
    """The score that goes with f(x): itself, or its probability above the threshold."""
    if plan.rule == F_OPTIMAL:
        return probability_of(finite(value), plan.logistic) - threshold
    return finite(value)


@compiled
def keyed_linear_score_rows(
    records: Records, cold: Records, common: Common, plan: LinearPlan, slots: Integers, rows: Rows, scores: Floats
) -> None:
    """The score of every example by the model of its key.

    Slots from 0 on are those of `records`; -1, -2, ... count the records of `cold` from its end. The last one there is
    that of a new key.
    """
    for t in range(slots.size):
        slot = slots[t]
        fetch_ahead(records.numbers[max(slots[min(t + _AHEAD, slots.size - 1)], 0)])
        model = _model_at(records, slot) if slot >= 0 else _model_at(cold, cold.numbers.shape[0] + slot)
        value = product(rows, t, model.weights, plan.intercept)
        if common.m < 0.0:
            scores[t] = reported(model, plan, value)
        else:
            everyone = product(rows, t, common.model.weights, plan.intercept)
            scores[t] = reported(common.model, plan, everyone + _share(model, common.m) * value)


@compiled
def keyed_linear_score_one(
    table: KeyTable,
    records: Records,
    blank: Records,
    common: Common,
    plan: LinearPlan,
    codes: Integers,
    slots: Integers,
    rows: Rows,
    scores: Floats,
) -> bool:
    """The score of one example, by a blank record if its key is not in memory; returns whether it is."""
    slots[0] = slot_of(table, codes[0])
    keyed_linear_score_rows(records, blank, common, plan, slots, rows, scores)
    return slots[0] != NOT_THERE
