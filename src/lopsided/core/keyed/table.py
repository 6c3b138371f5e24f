"""Where each key stands: a table of as many keys as there is room for; who was not seen for longest leaves.

A key is a code, a whole number from 1 to 2^53. `places` finds its slot: 1 + slot, or 0 where nobody is, looked for from
the place that the code names onwards. Slots are linked from the latest seen to the one not seen for longest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Integers, compiled_as_written
from lopsided.core.arithmetic.prefetching import fetch_line

NOT_THERE = -1
# Entries of KeyTable.marks: slots in use, the latest and the oldest of them, and rows so far.
USED, LATEST, OLDEST, CLOCK = range(4)
# Why `settle` stopped: all rows have their slot; a slot more is needed; the next to leave is needed by these rows.
ALL, FULL, IN_USE = range(3)
# Entries of a row of KeyTable.entries.
CODE, SEEN, OLDER, NEWER = range(4)
_TURN, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
_AHEAD = 8  # rows from one step of looking ahead to the next


class KeyTable(NamedTuple):
    """`entries` has a row a slot: the key's code, when it was last seen (in rows), who was seen just before and after.

    A row is half a line of the processor's cache: what is needed of a key is fetched at once.
    """

    places: Integers
    entries: Integers
    marks: Integers


def empty_table(room: int) -> KeyTable:
    """Nobody, and room for so many keys."""
    n_places = 1 << (2 * room - 1).bit_length()
    marks = np.array([0, NOT_THERE, NOT_THERE, 0])
    return KeyTable(np.zeros(n_places, dtype=np.int64), np.zeros((room, 4), dtype=np.int64), marks)


def larger_table(table: KeyTable, room: int) -> KeyTable:
    """The same keys in the same slots, with room for more."""
    larger = empty_table(room)
    larger.entries[: len(table.entries)] = table.entries
    larger.marks[:] = table.marks
    place_again(larger)
    return larger


def codes_by_age(table: KeyTable) -> tuple[Integers, Integers]:
    """Slots and codes, from the key that was not seen for longest to the latest."""
    slots = np.empty(table.marks.item(USED), dtype=np.int64)
    slots_by_age(table, slots)
    return slots, table.entries[slots, CODE]


@compiled_as_written
def slots_by_age(table: KeyTable, slots: Integers) -> None:
    """The slots in use, the one not seen for longest first."""
    slot = table.marks[OLDEST]
    for k in range(slots.size):
        slots[k] = slot
        slot = table.entries[slot, NEWER]


@compiled_as_written
def _first_place(table: KeyTable, code: int) -> Any:
    return np.int64((np.uint64(code) * _TURN) >> _SHIFT) & (table.places.size - 1)


@compiled_as_written
def _place_of(table: KeyTable, code: int) -> int:
    """Where `places` knows a key, or the empty place where it would be put."""
    place, last = _first_place(table, code), table.places.size - 1
    while table.places[place] and table.entries[table.places[place] - 1, CODE] != code:
        place = (place + 1) & last
    return place


@compiled_as_written
def place_again(table: KeyTable) -> None:
    """Fill the empty places with all slots in use."""
    for slot in range(table.marks[USED]):
        table.places[_place_of(table, table.entries[slot, CODE])] = slot + 1


@compiled_as_written
def _take_out(table: KeyTable, code: int) -> None:
    """Forget where a key stands; whoever was put behind it moves up, so that it is found without gaps."""
    hole, last = _place_of(table, code), table.places.size - 1
    place = (hole + 1) & last
    while table.places[place]:
        wanted = _first_place(table, table.entries[table.places[place] - 1, CODE])
        if ((place - wanted) & last) >= ((place - hole) & last):
            table.places[hole] = table.places[place]
            hole = place
        place = (place + 1) & last
    table.places[hole] = 0


@compiled_as_written
def _unlink(table: KeyTable, slot: int) -> None:
    older, newer = table.entries[slot, OLDER], table.entries[slot, NEWER]
    if older != NOT_THERE:
        table.entries[older, NEWER] = newer
    else:
        table.marks[OLDEST] = newer
    if newer != NOT_THERE:
        table.entries[newer, OLDER] = older
    else:
        table.marks[LATEST] = older


@compiled_as_written
def _link_as_latest(table: KeyTable, slot: int) -> None:
    latest = table.marks[LATEST]
    table.entries[slot, OLDER], table.entries[slot, NEWER] = latest, NOT_THERE
    if latest != NOT_THERE:
        table.entries[latest, NEWER] = slot
    else:
        table.marks[OLDEST] = slot
    table.marks[LATEST] = slot


@compiled_as_written
def find(table: KeyTable, codes: Integers, slots: Integers) -> None:
    """The slot of each key, or NOT_THERE. Changes nothing."""
    for t in range(codes.size):
        slots[t] = table.places[_place_of(table, codes[t])] - 1


@compiled_as_written
def _look_ahead(table: KeyTable, codes: Integers, t: int) -> None:
    """Fetch what rows to come will need, from far to near: their places, their entries, and the neighbours of these."""
    if t + 3 * _AHEAD >= codes.size:
        return
    fetch_line(table.places, _first_place(table, codes[t + 3 * _AHEAD]))
    slot = table.places[_first_place(table, codes[t + 2 * _AHEAD])] - 1
    if slot >= 0:
        fetch_line(table.entries[slot], 0)
    slot = table.places[_first_place(table, codes[t + _AHEAD])] - 1
    if slot >= 0:
        fetch_line(table.entries[max(table.entries[slot, OLDER], 0)], 0)
        fetch_line(table.entries[max(table.entries[slot, NEWER], 0)], 0)


@compiled_as_written
def settle(
    table: KeyTable,
    codes: Integers,
    start: int,
    begun: int,
    may_grow: bool,
    slots: Integers,
    born: Integers,
    left: Integers,
    n_born: int,
) -> tuple[int, int, int]:
    """Give the rows start, start + 1, ... their slots, until all have one or something is in the way.

    These rows are to be learned together, and the clock stood at `begun` before the first of them: nobody leaves whom
    one of them needs. Who comes is noted in `born`, the slots, and `left`, the code of whoever was there before (0:
    nobody). Returns the first row without a slot, how many were born, and why it stopped.
    """
    for t in range(start, codes.size):
        _look_ahead(table, codes, t)
        code = codes[t]
        slot = table.places[_place_of(table, code)] - 1
        if slot == NOT_THERE:
            slot, before = table.marks[USED], 0
            if slot < table.entries.shape[0]:
                table.marks[USED] += 1
            elif may_grow:
                return t, n_born, FULL
            else:
                slot = table.marks[OLDEST]
                if table.entries[slot, SEEN] > begun:
                    return t, n_born, IN_USE
                before = table.entries[slot, CODE]
                _take_out(table, before)
                _unlink(table, slot)
            table.entries[slot, CODE] = code
            table.places[_place_of(table, code)] = slot + 1
            _link_as_latest(table, slot)
            born[n_born], left[n_born] = slot, before
            n_born += 1
        elif slot != table.marks[LATEST]:
            _unlink(table, slot)
            _link_as_latest(table, slot)
        table.marks[CLOCK] += 1
        table.entries[slot, SEEN] = table.marks[CLOCK]
        slots[t] = slot
    return codes.size, n_born, ALL
