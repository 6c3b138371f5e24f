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
from lopsided.core.arithmetic.limits import LARGEST
from lopsided.core.geometry.points import Rows
from lopsided.core.linear.weight_vector import (
    STEPS,
    VECTOR_DIVERGED,
    LinearModel,
    LinearPlan,
    add_multiple,
    count_example,
    falling_rate,
    linear_run,
    linear_step,
    product,
    pull_of,
    reported,
)

COUNTS = 6  # as in LinearModel.tally


class Records(NamedTuple):
    """A row a key, twice the same memory: as numbers, and as whole numbers."""

    numbers: Floats
    wholes: Integers


class Prior(NamedTuple):
    """The model of all rows, and m: after so many rows of a key its correction counts half. No keys learn with m < 0."""

    model: LinearModel
    rows: float


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
    prior: Prior,
    plan: LinearPlan,
    slots: Integers,
    rows: Rows,
    labels: Floats,
    importances: Floats,
    scores: Floats,
    start: int,
    stop: int,
) -> int:
    """Learn from the examples start..stop-1 in order, each by the model of its key; returns how many steps diverged."""
    diverged = 0
    for t in range(start, stop):
        model = _model_at(records, slots[t])
        if prior.rows < 0.0:
            before = model.tally[VECTOR_DIVERGED]
            linear_run(model, plan, rows, labels, importances, scores, t, t + 1)
            diverged += model.tally[VECTOR_DIVERGED] - before
            continue
        y, common = labels[t], product(rows, t, prior.model.weights, plan.intercept)
        value = common + _share(model, prior) * product(rows, t, model.weights, plan.intercept)
        scores[t] = reported(prior.model, plan, value)
        linear_step(prior.model, plan, rows, t, y, importances[t], common)
        count_example(model, y)
        if not abs(value) < LARGEST:
            diverged += 1
            continue
        pull = pull_of(prior.model, plan, y, y * value)
        if pull != 0.0:
            rate = falling_rate(plan.rate, plan.rate_decays, model.tally[STEPS])
            add_multiple(rows, t, importances[t] * rate * pull * y, model.weights, plan.intercept)
    return diverged


@compiled
def _share(model: LinearModel, prior: Prior) -> float:
    """n / (n + m), 0 for a key without rows."""
    n = model.tally[STEPS]
    return n / (n + prior.rows) if n > 0 else 0.0


@compiled
def keyed_linear_score_rows(
    records: Records, cold: Records, prior: Prior, plan: LinearPlan, slots: Integers, rows: Rows, scores: Floats
) -> None:
    """The score of every example by the model of its key.

    Slots from 0 on are those of `records`, -2 and below count those of `cold`, which were fetched; -1 is a new key,
    whose record is the last one of `cold`.
    """
    for t in range(slots.size):
        slot = slots[t]
        model = _model_at(records, slot) if slot >= 0 else _model_at(cold, cold.numbers.shape[0] + slot)
        value = product(rows, t, model.weights, plan.intercept)
        if prior.rows < 0.0:
            scores[t] = reported(model, plan, value)
        else:
            common = product(rows, t, prior.model.weights, plan.intercept)
            scores[t] = reported(prior.model, plan, common + _share(model, prior) * value)
