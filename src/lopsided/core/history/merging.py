"""Two histories of different parts of a stream as one: decayed sums add up once both are brought to the later time."""

from __future__ import annotations

import numpy as np

from lopsided.core.arithmetic.compiled import compiled_unfused
from lopsided.core.history.rows import HistoryPlan, remaining
from lopsided.core.history.table import (
    AMOUNTS,
    EVICTED,
    EVICTED_PAIRS,
    MEAN,
    NEVER,
    NOT_THERE,
    SQUARES,
    WAYS,
    HistoryState,
    first_slot,
    oldest_place,
    oldest_slot,
    place_of,
    slot_of,
)

_NOBODY = np.uint64(0)
_NO_MARK = np.uint32(0)


@compiled_unfused
def absorb(state: HistoryState, other: HistoryState, plan: HistoryPlan) -> None:
    """Add what `other` remembers, which stays as it is. Of a set that is too full the latest eight keys stay."""
    for start in range(0, other.keys.size, WAYS):
        _absorb_set(state, other, start, plan)
    for start in range(0, other.pair_marks.size, WAYS):
        _absorb_pairs(state, other, start)
    _add_amounts(state, other)
    for clock in range(state.clocks.size):
        state.clocks[clock] = max(state.clocks[clock], other.clocks[clock])
    for entry in range(state.tally.size):
        state.tally[entry] += other.tally[entry]
    for k in range(state.missing.shape[0]):
        for entry in range(2):
            state.missing[k, entry] += other.missing[k, entry]


@compiled_unfused
def _absorb_set(state: HistoryState, other: HistoryState, start: int, plan: HistoryPlan) -> None:
    """Keys of both first: only when they have the later of their times can be told who is the oldest."""
    shared = 0
    for way in range(WAYS):
        if other.keys[start + way] != _NOBODY:
            mine = slot_of(state, other.keys[start + way])
            if mine != NOT_THERE:
                _add_key(state, mine, other, start + way, plan)
                shared |= 1 << way
    for way in range(WAYS):
        if other.keys[start + way] != _NOBODY and not (shared >> way) & 1:
            _let_in_key(state, other, start + way)


@compiled_unfused
def _absorb_pairs(state: HistoryState, other: HistoryState, start: int) -> None:
    """The same for pairs."""
    shared = 0
    for way in range(WAYS):
        if other.pair_marks[start + way] != _NO_MARK:
            mine = place_of(state, start, other.pair_marks[start + way])
            if mine != NOT_THERE:
                state.pair_seen[mine] = max(state.pair_seen[mine], other.pair_seen[start + way])
                shared |= 1 << way
    for way in range(WAYS):
        if other.pair_marks[start + way] != _NO_MARK and not (shared >> way) & 1:
            _let_in_pair(state, other, start, start + way)


@compiled_unfused
def _add_key(state: HistoryState, mine: int, other: HistoryState, theirs: int, plan: HistoryPlan) -> None:
    n = plan.rates.size
    latest = max(state.seen[mine], other.seen[theirs])
    each = state.sums.shape[1] // n
    for h in range(n):
        left, their_left = remaining(plan, h, state.seen[mine], latest), remaining(plan, h, other.seen[theirs], latest)
        for j in range(h * each, (h + 1) * each):
            state.sums[mine, j] = state.sums[mine, j] * left + other.sums[theirs, j] * their_left
    state.seen[mine] = latest
    if other.labelled[theirs] == NEVER:
        return
    if state.labelled[mine] == NEVER:
        state.labelled[mine] = other.labelled[theirs]
        for j in range(state.risks.shape[1]):
            state.risks[mine, j] = other.risks[theirs, j]
        return
    latest = max(state.labelled[mine], other.labelled[theirs])
    for h in range(n):
        left = remaining(plan, h, state.labelled[mine], latest)
        their_left = remaining(plan, h, other.labelled[theirs], latest)
        for j in range(2 * h, 2 * h + 2):
            state.risks[mine, j] = state.risks[mine, j] * left + other.risks[theirs, j] * their_left
    state.labelled[mine] = latest


@compiled_unfused
def _let_in_key(state: HistoryState, other: HistoryState, theirs: int) -> None:
    code, seen = other.keys[theirs], other.seen[theirs]
    slot = oldest_slot(state, first_slot(state, code))
    if state.keys[slot] != _NOBODY:
        state.tally[EVICTED] += 1
        if seen < state.seen[slot] or (seen == state.seen[slot] and code < state.keys[slot]):
            return
    state.keys[slot] = code
    state.seen[slot] = seen
    state.labelled[slot] = other.labelled[theirs]
    for j in range(state.sums.shape[1]):
        state.sums[slot, j] = other.sums[theirs, j]
    for j in range(state.risks.shape[1]):
        state.risks[slot, j] = other.risks[theirs, j]


@compiled_unfused
def _let_in_pair(state: HistoryState, other: HistoryState, start: int, theirs: int) -> None:
    mark, seen = other.pair_marks[theirs], other.pair_seen[theirs]
    place = oldest_place(state, start)
    if state.pair_marks[place] != _NO_MARK:
        state.tally[EVICTED_PAIRS] += 1
        if seen < state.pair_seen[place] or (seen == state.pair_seen[place] and mark < state.pair_marks[place]):
            return
    state.pair_marks[place] = mark
    state.pair_seen[place] = seen


@compiled_unfused
def _add_amounts(state: HistoryState, other: HistoryState) -> None:
    """Mean and squared deviations of two samples as of one."""
    n, more = state.tally[AMOUNTS], other.tally[AMOUNTS]
    if more == 0:
        return
    if n == 0:
        for entry in range(2):
            state.amounts[entry] = other.amounts[entry]
        return
    distance = abs(other.amounts[MEAN] - state.amounts[MEAN])
    state.amounts[MEAN] = (n * state.amounts[MEAN] + more * other.amounts[MEAN]) / (n + more)
    state.amounts[SQUARES] = (state.amounts[SQUARES] + other.amounts[SQUARES]) + distance * distance * (
        n * more / (n + more)
    )
