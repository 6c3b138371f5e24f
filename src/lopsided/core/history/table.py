"""A bounded table of keys in sets of eight, and one of pairs of keys; whoever was not seen for longest leaves.

A key may stand in the eight slots of one set only, which its lowest bits name. So looking it up costs eight comparisons
whatever the table holds. Who leaves a full set is decided by when it was seen and, if that is the same, by its code:
never by the slot, so that two histories that were merged either way go on alike.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled_as_written

Codes = npt.NDArray[np.uint64]
Marks = npt.NDArray[np.uint32]

WAYS = 8
NOT_THERE = -1
NEVER = -(2**63)  # a time before all others
_NOBODY = np.uint64(0)
_NO_MARK = np.uint32(0)
_MARK_SHIFT = np.uint64(32)
_ONE = np.uint64(1)
# The last mixing steps of MurmurHash3, for the code of a pair.
_MIX_1, _MIX_2, _MIX_SHIFT = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53), np.uint64(33)
_TURN = np.uint64(0x9E3779B97F4A7C15)

# Entries of HistoryState.tally.
ROWS, LATE_ROWS, EVICTED, EVICTED_PAIRS, AMOUNTS, LABELS, POSITIVES, LOST_LABELS = range(8)
# Entries of HistoryState.clocks: the latest row, and the latest row whose label has arrived. Of HistoryState.amounts.
EVENTS, LABELLED = range(2)
MEAN, SQUARES = range(2)


class HistoryState(NamedTuple):
    """Everything that is remembered. Times are whole microseconds.

    By slot: the `keys` code (0 is nobody), when it was `seen`, when the latest of its rows with a label was
    (`labelled`), its `sums` (a half-life after the other: rows, and if there are amounts their sum and that of their
    squares) as of `seen`, and its `risks` (labels, positives) as of `labelled`. `pair_marks` and `pair_seen` are the
    table of pairs. `amounts` are the mean of all amounts and the sum of their squared deviations. `missing` counts, for
    each column of keys, the labels and the positives of rows in which the key is missing.
    """

    keys: Codes
    seen: Integers
    labelled: Integers
    sums: Floats
    risks: Floats
    pair_marks: Marks
    pair_seen: Integers
    clocks: Integers
    tally: Integers
    amounts: Floats
    missing: Integers


def empty_history(n_slots: int, n_keys: int, n_half_lives: int, *, has_amounts: bool) -> HistoryState:
    """Nothing seen yet. `n_slots` is a power of two, and there are eight times as many places for pairs."""
    n_pairs = 8 * n_slots if n_keys > 1 else 0
    return HistoryState(
        keys=np.zeros(n_slots, dtype=np.uint64),
        seen=np.zeros(n_slots, dtype=np.int64),
        labelled=np.zeros(n_slots, dtype=np.int64),
        sums=np.zeros((n_slots, n_half_lives * (3 if has_amounts else 1))),
        risks=np.zeros((n_slots, n_half_lives * 2)),
        pair_marks=np.zeros(n_pairs, dtype=np.uint32),
        pair_seen=np.zeros(n_pairs, dtype=np.int64),
        clocks=np.full(2, NEVER, dtype=np.int64),
        tally=np.zeros(8, dtype=np.int64),
        amounts=np.zeros(2),
        missing=np.zeros((n_keys, 2), dtype=np.int64),
    )


@compiled_as_written
def first_slot(state: HistoryState, code: int) -> Any:
    """Where the set of a key begins."""
    sets = np.uint64(state.keys.size // WAYS)
    return np.int64(np.uint64(code) & (sets - _ONE)) * WAYS


@compiled_as_written
def slot_of(state: HistoryState, code: int) -> int:
    """Where a key stands, or NOT_THERE."""
    start = first_slot(state, code)
    for slot in range(start, start + WAYS):
        if state.keys[slot] == code:
            return slot
    return NOT_THERE


@compiled_as_written
def oldest_slot(state: HistoryState, start: int) -> int:
    """An empty slot of a set, or that of the key that was not seen for longest."""
    oldest = start
    for slot in range(start, start + WAYS):
        if state.keys[slot] == _NOBODY:
            return slot
        is_earlier = state.seen[slot] < state.seen[oldest]
        if is_earlier or (state.seen[slot] == state.seen[oldest] and state.keys[slot] < state.keys[oldest]):
            oldest = slot
    return oldest


@compiled_as_written
def slot_for(state: HistoryState, code: int, now: int) -> int:
    """Where a key stands from now on; if its set is full, another one leaves."""
    slot = slot_of(state, code)
    if slot != NOT_THERE:
        return slot
    slot = oldest_slot(state, first_slot(state, code))
    if state.keys[slot] != _NOBODY:
        state.tally[EVICTED] += 1
    state.keys[slot] = code
    state.seen[slot] = now
    state.labelled[slot] = NEVER
    state.sums[slot, :] = 0.0
    state.risks[slot, :] = 0.0
    return slot


@compiled_as_written
def pair_code(first: int, second: int) -> Any:
    """One code for two keys, whose order matters."""
    code = np.uint64(first) * _TURN + np.uint64(second)
    code ^= code >> _MIX_SHIFT
    code *= _MIX_1
    code ^= code >> _MIX_SHIFT
    code *= _MIX_2
    return code ^ (code >> _MIX_SHIFT)


@compiled_as_written
def mark_of(code: int) -> Any:
    """The fingerprint by which a pair is known in its set: 32 bits, never 0."""
    return max(np.uint32(np.uint64(code) >> _MARK_SHIFT), np.uint32(1))


@compiled_as_written
def first_place(state: HistoryState, code: int) -> Any:
    """Where the set of a pair begins."""
    sets = np.uint64(state.pair_marks.size // WAYS)
    return np.int64(np.uint64(code) & (sets - _ONE)) * WAYS


@compiled_as_written
def place_of(state: HistoryState, start: int, mark: int) -> int:
    """Where a pair stands in its set, or NOT_THERE."""
    for place in range(start, start + WAYS):
        if state.pair_marks[place] == mark:
            return place
    return NOT_THERE


@compiled_as_written
def oldest_place(state: HistoryState, start: int) -> int:
    """An empty place of a set, or that of the pair that was not seen for longest."""
    oldest = start
    for place in range(start, start + WAYS):
        if state.pair_marks[place] == _NO_MARK:
            return place
        is_earlier = state.pair_seen[place] < state.pair_seen[oldest]
        is_tie = state.pair_seen[place] == state.pair_seen[oldest]
        if is_earlier or (is_tie and state.pair_marks[place] < state.pair_marks[oldest]):
            oldest = place
    return oldest


@compiled_as_written
def note_pair(state: HistoryState, code: int, now: int) -> None:
    """A pair was seen now."""
    start, mark = first_place(state, code), mark_of(code)
    place = place_of(state, start, mark)
    if place == NOT_THERE:
        place = oldest_place(state, start)
        if state.pair_marks[place] != _NO_MARK:
            state.tally[EVICTED_PAIRS] += 1
        state.pair_marks[place] = mark
    state.pair_seen[place] = now
