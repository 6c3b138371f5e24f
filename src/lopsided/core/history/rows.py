"""A row against the past of its keys: features are read first, and only then does the row become a part of it."""

from __future__ import annotations

import math
from typing import NamedTuple

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled_as_written
from lopsided.core.arithmetic.exponential import exponential
from lopsided.core.history.table import (
    AMOUNTS,
    EVENTS,
    LABELLED,
    LABELS,
    LATE_ROWS,
    LOST_LABELS,
    MEAN,
    NEVER,
    NOT_THERE,
    POSITIVES,
    ROWS,
    SQUARES,
    Codes,
    HistoryState,
    first_place,
    mark_of,
    note_pair,
    pair_code,
    place_of,
    slot_for,
    slot_of,
)

UNSEEN_SECONDS = 90.0 * 86400.0  # what stands for the time since a key or a pair was seen that is new
_SHRINKING = 2.0  # as many labels at the base rate are added to those of a key
_RARE, _SEEN = 0.5, 50.0  # of the base rate, while nothing is known
_FURTHEST = 10.0  # deviations
_LEAST_SHARE = 1e-4  # of the variance of all amounts, below which that of a key's is not believed
_SECOND = 1e-6  # microseconds in seconds


class HistoryPlan(NamedTuple):
    """What never changes: the `rates` of decay, ln 2 / half-life for each microsecond, and codes of missing keys."""

    rates: Floats
    missing: Codes
    has_amounts: bool


@compiled_as_written
def _seconds(before: int, now: int) -> float:
    return (now - before) * _SECOND


@compiled_as_written
def remaining(plan: HistoryPlan, h: int, before: int, now: int) -> float:
    """What is left of something that happened before: 2^(-time / half-life)."""
    return exponential(-plan.rates[h] * (now - before))


@compiled_as_written
def _base_rate(state: HistoryState) -> float:
    return (state.tally[POSITIVES] + _RARE) / (state.tally[LABELS] + _SEEN)


@compiled_as_written
def _variance_of_all(state: HistoryState) -> float:
    return state.amounts[SQUARES] / state.tally[AMOUNTS] if state.tally[AMOUNTS] > 0 else 0.0


@compiled_as_written
def _deviation(sums: Floats, left: float, amount: float, mean: float, variance: float) -> float:
    """How far an amount is from those of its key, one amount like all others counted among them."""
    weight = sums[0] * left + 1.0
    middle = (sums[1] * left + mean) / weight
    own = (sums[2] * left + variance + mean * mean) / weight - middle * middle
    distance = (amount - middle) / math.sqrt(max(own, _LEAST_SHARE * variance))
    return min(max(distance, -_FURTHEST), _FURTHEST)


@compiled_as_written
def _read_key(state: HistoryState, plan: HistoryPlan, code: int, now: int, amount: float, out: Floats) -> None:
    """since, rates, deviations, risks."""
    n, each = plan.rates.size, 3 if plan.has_amounts else 1
    slot = slot_of(state, code)
    is_new = slot == NOT_THERE
    out[0] = math.log1p(UNSEEN_SECONDS if is_new else _seconds(state.seen[slot], now))
    base, mean, variance = _base_rate(state), state.amounts[MEAN], _variance_of_all(state)
    for h in range(n):
        left = 0.0 if is_new else remaining(plan, h, state.seen[slot], now)
        at = 0 if is_new else slot  # of a key that is new nothing is left, whatever stands there
        out[1 + h] = math.log1p(state.sums[at, h * each] * left)
        if plan.has_amounts:
            sums = state.sums[at, h * each : (h + 1) * each]
            out[1 + n + h] = _deviation(sums, left, amount, mean, variance) if variance > 0.0 else 0.0
    first = 1 + n * (2 if plan.has_amounts else 1)
    has_labels = not is_new and state.labelled[slot] != NEVER
    for h in range(n):
        labels, positives = 0.0, 0.0
        if has_labels:
            left = remaining(plan, h, state.labelled[slot], state.clocks[LABELLED])
            labels, positives = state.risks[slot, 2 * h] * left, state.risks[slot, 2 * h + 1] * left
        out[first + h] = math.log((positives + _SHRINKING * base) / (labels + _SHRINKING) / base)


@compiled_as_written
def _read_row(state: HistoryState, plan: HistoryPlan, codes: Codes, now: int, amount: float, out: Floats) -> None:
    """All keys, whether each is missing, all pairs, the amount."""
    n_keys, n = codes.size, plan.rates.size
    each = 1 + n * (3 if plan.has_amounts else 2)
    is_known = not math.isnan(amount)
    if not is_known:
        amount = state.amounts[MEAN]  # of a missing amount nothing is known but those of others
    at = 0
    for k in range(n_keys):
        _read_key(state, plan, codes[k], now, amount, out[at : at + each])
        out[at + each] = 1.0 if codes[k] == plan.missing[k] else 0.0
        at += each + 1
    for k in range(n_keys):
        for other in range(k + 1, n_keys):
            code = pair_code(codes[k], codes[other])
            place = place_of(state, first_place(state, code), mark_of(code))
            is_new = place == NOT_THERE
            out[at] = 1.0 if is_new else 0.0
            out[at + 1] = math.log1p(UNSEEN_SECONDS if is_new else _seconds(state.pair_seen[place], now))
            at += 2
    if plan.has_amounts:
        out[at] = amount
        out[at + 1] = math.copysign(math.log1p(abs(amount)), amount)
        out[at + 2] = 0.0 if is_known else 1.0


@compiled_as_written
def _note_row(state: HistoryState, plan: HistoryPlan, codes: Codes, now: int, amount: float) -> None:
    """The row becomes a part of the past."""
    is_known = not math.isnan(amount)
    if not is_known:
        amount = state.amounts[MEAN]
    for k in range(codes.size):
        slot = slot_for(state, codes[k], now)
        for h in range(plan.rates.size):
            left = remaining(plan, h, state.seen[slot], now)
            if plan.has_amounts:
                sums = state.sums[slot, 3 * h : 3 * h + 3]
                sums[0] = sums[0] * left + 1.0
                sums[1] = sums[1] * left + amount
                sums[2] = sums[2] * left + amount * amount
            else:
                state.sums[slot, h] = state.sums[slot, h] * left + 1.0
        state.seen[slot] = now
    for k in range(codes.size):
        for other in range(k + 1, codes.size):
            note_pair(state, pair_code(codes[k], codes[other]), now)
    if plan.has_amounts and is_known:
        state.tally[AMOUNTS] += 1
        before = amount - state.amounts[MEAN]
        state.amounts[MEAN] += before / state.tally[AMOUNTS]
        state.amounts[SQUARES] += before * (amount - state.amounts[MEAN])
    state.clocks[EVENTS] = now
    state.tally[ROWS] += 1


@compiled_as_written
def _learn_label(state: HistoryState, plan: HistoryPlan, codes: Codes, time: int, sign: float) -> None:
    """The label of a row that happened at `time` has arrived. A key that has been forgotten gets no slot for it."""
    is_positive = 1 if sign > 0.0 else 0
    state.tally[LABELS] += 1
    state.tally[POSITIVES] += is_positive
    state.clocks[LABELLED] = max(state.clocks[LABELLED], time)
    for k in range(codes.size):
        if codes[k] == plan.missing[k]:
            state.missing[k, 0] += 1
            state.missing[k, 1] += is_positive
        slot = slot_of(state, codes[k])
        if slot == NOT_THERE:
            state.tally[LOST_LABELS] += 1
            continue
        latest = max(state.labelled[slot], time)
        for h in range(plan.rates.size):
            left = 0.0 if state.labelled[slot] == NEVER else remaining(plan, h, state.labelled[slot], latest)
            weight = remaining(plan, h, time, latest)
            state.risks[slot, 2 * h] = state.risks[slot, 2 * h] * left + weight
            state.risks[slot, 2 * h + 1] = state.risks[slot, 2 * h + 1] * left + weight * is_positive
        state.labelled[slot] = latest


@compiled_as_written
def pass_rows(
    state: HistoryState,
    plan: HistoryPlan,
    codes: Codes,
    times: Integers,
    amounts: Floats,
    signs: Floats,
    note: bool,
    features: Floats,
    moments: Integers,
) -> None:
    """Rows in order: read features unless that array has no rows, and if `note`, remember the row.

    A row without a time (NEVER), or with one before the latest, happens at the latest; `moments` says when each row
    has happened. Where `signs` is not NaN, the label is learned after the row.
    """
    for t in range(codes.shape[0]):
        now = max(times[t], state.clocks[EVENTS])
        moments[t] = now
        if features.shape[0] > 0:
            _read_row(state, plan, codes[t], now, amounts[t], features[t])
        if note:
            if NEVER < times[t] < now:
                state.tally[LATE_ROWS] += 1
            _note_row(state, plan, codes[t], now, amounts[t])
            if not math.isnan(signs[t]):
                _learn_label(state, plan, codes[t], now, signs[t])


@compiled_as_written
def learn_labels(state: HistoryState, plan: HistoryPlan, codes: Codes, times: Integers, signs: Floats) -> None:
    """Labels of rows that have happened before, in the order in which they arrive."""
    for t in range(codes.shape[0]):
        _learn_label(state, plan, codes[t], times[t], signs[t])
