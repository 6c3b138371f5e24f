"""Where each key stands: a table of as many keys as there is room for; who was not seen for longest leaves.

A key is a code, a whole number from 1 to 2^53. `places` finds its slot: 1 + slot, or 0 where nobody is, looked for from
the place that the code names onwards. Beside the slot stand some bits of the code: keys that met in a place are told
apart without a look at each of them. When a key was seen is a number in its slot; who is the oldest is found out by
sorting, and only when somebody has to leave.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Integers, compiled_as_written
from lopsided.core.arithmetic.prefetching import fetch_line

NOT_THERE = -1
# Entries of KeyTable.marks: slots in use, rows so far; and of `queue` when it was made, its length, and who is next.
USED, CLOCK, QUEUED_AT, QUEUED, NEXT = range(5)
# Why `settle` stopped: all rows have their slot; a slot more is needed; the next to leave is needed by these rows; who
# is next is not known.
ALL, FULL, IN_USE, UNSORTED = range(4)
# Entries of a row of KeyTable.entries.
CODE, SEEN = range(2)
_TURN, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
_SLOT_BITS, _SLOT, _TAG = 32, 2**32 - 1, 2**31 - 1
_AHEAD = 12  # rows from one step of looking ahead to the next


class KeyTable(NamedTuple):
    """`entries` has a row a slot: the key's code, and when it was last seen, in rows.

    `queue` are slots from the oldest on, as they were at one moment. Who was seen since is younger than all others.
    """

    places: Integers
    entries: Integers
    queue: Integers
    marks: Integers


def empty_table(room: int) -> KeyTable:
    """Nobody, and room for so many keys."""
    n_places = 1 << (2 * room - 1).bit_length()
    entries, queue = np.zeros((room, 2), dtype=np.int64), np.zeros(0, dtype=np.int64)
    return KeyTable(np.zeros(n_places, dtype=np.int64), entries, queue, np.zeros(5, dtype=np.int64))


def larger_table(table: KeyTable, room: int) -> KeyTable:
    """The same keys in the same slots, with room for more."""
    larger = empty_table(room)
    larger.entries[: len(table.entries)] = table.entries
    larger.marks[[USED, CLOCK]] = table.marks[[USED, CLOCK]]
    place_again(larger)
    return larger


def codes_by_age(table: KeyTable) -> tuple[Integers, Integers]:
    """Slots and codes, from the key that was not seen for longest to the latest."""
    slots = _slots_by_age(table)
    return slots, table.entries[slots, CODE]


def _slots_by_age(table: KeyTable) -> Integers:
    return np.argsort(table.entries[: table.marks.item(USED), SEEN])


def sorted_table(table: KeyTable) -> KeyTable:
    """The same table, of which it is known who leaves next: not before as many rows as there are keys once more."""
    table.marks[[QUEUED_AT, QUEUED, NEXT]] = table.marks[CLOCK], table.marks[USED], 0
    return table._replace(queue=_slots_by_age(table))


@compiled_as_written
def _first_place(table: KeyTable, code: int) -> Any:
    return np.int64((np.uint64(code) * _TURN) >> _HALF) & (table.places.size - 1)


@compiled_as_written
def _place_of(table: KeyTable, code: int) -> int:
    """Where `places` knows a key, or the empty place where it would be put."""
    place, last, tag = _first_place(table, code), table.places.size - 1, code & _TAG
    while table.places[place]:
        held = table.places[place]
        if held >> _SLOT_BITS == tag and table.entries[(held & _SLOT) - 1, CODE] == code:
            return place
        place = (place + 1) & last
    return place


@compiled_as_written
def _slot_at(table: KeyTable, place: int) -> int:
    """The slot that stands in a place, or NOT_THERE."""
    return (table.places[place] & _SLOT) - 1


@compiled_as_written
def slot_of(table: KeyTable, code: int) -> int:
    """The slot of a key, or NOT_THERE."""
    return _slot_at(table, _place_of(table, code))


@compiled_as_written
def _put(table: KeyTable, slot: int) -> None:
    code = table.entries[slot, CODE]
    table.places[_place_of(table, code)] = ((code & _TAG) << _SLOT_BITS) | (slot + 1)


@compiled_as_written
def place_again(table: KeyTable) -> None:
    """Fill the empty places with all slots in use."""
    for slot in range(table.marks[USED]):
        _put(table, slot)


@compiled_as_written
def _take_out(table: KeyTable, code: int) -> None:
    """Forget where a key stands; whoever was put behind it moves up, so that it is found without gaps."""
    hole, last = _place_of(table, code), table.places.size - 1
    place = (hole + 1) & last
    while table.places[place]:
        wanted = _first_place(table, table.entries[_slot_at(table, place), CODE])
        if ((place - wanted) & last) >= ((place - hole) & last):
            table.places[hole] = table.places[place]
            hole = place
        place = (place + 1) & last
    table.places[hole] = 0


@compiled_as_written
def _oldest(table: KeyTable) -> int:
    """The slot of the key that was not seen for longest, or NOT_THERE: `queue` is used up."""
    while table.marks[NEXT] < table.marks[QUEUED]:
        slot = table.queue[table.marks[NEXT]]
        if table.entries[slot, SEEN] <= table.marks[QUEUED_AT]:
            return slot
        table.marks[NEXT] += 1
    return NOT_THERE


@compiled_as_written
def find(table: KeyTable, codes: Integers, slots: Integers) -> None:
    """The slot of each key, or NOT_THERE. Changes nothing."""
    for t in range(codes.size):
        _look_ahead(table, codes, t)
        slots[t] = slot_of(table, codes[t])


@compiled_as_written
def _look_ahead(table: KeyTable, codes: Integers, t: int) -> None:
    """Fetch what rows to come will need: of those far ahead their places, of nearer ones their entries."""
    if t + 2 * _AHEAD >= codes.size:
        return
    fetch_line(table.places, _first_place(table, codes[t + 2 * _AHEAD]))
    code = codes[t + _AHEAD]
    place, tag = _first_place(table, code), code & _TAG
    while table.places[place] and table.places[place] >> _SLOT_BITS != tag:
        place = (place + 1) & (table.places.size - 1)
    fetch_line(table.entries[max(_slot_at(table, place), 0)], 0)


@compiled_as_written
def meet(table: KeyTable, code: int) -> int:
    """The slot of a key that is seen now, or NOT_THERE."""
    slot = slot_of(table, code)
    if slot != NOT_THERE:
        _see(table, slot)
    return slot


@compiled_as_written
def _see(table: KeyTable, slot: int) -> None:
    table.marks[CLOCK] += 1
    table.entries[slot, SEEN] = table.marks[CLOCK]


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
        slot = slot_of(table, code)
        if slot == NOT_THERE:
            slot, before = table.marks[USED], 0
            if slot < table.entries.shape[0]:
                table.marks[USED] += 1
            elif may_grow:
                return t, n_born, FULL
            else:
                slot = _oldest(table)
                if slot == NOT_THERE:
                    return t, n_born, UNSORTED
                if table.entries[slot, SEEN] > begun:
                    return t, n_born, IN_USE
                before = table.entries[slot, CODE]
                _take_out(table, before)
            table.entries[slot, CODE] = code
            _put(table, slot)
            born[n_born], left[n_born] = slot, before
            n_born += 1
        _see(table, slot)
        slots[t] = slot
    return codes.size, n_born, ALL
