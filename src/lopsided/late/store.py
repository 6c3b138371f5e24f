"""Where rows wait for their labels.

The engine asks a store to keep rows, and to give them back by key or when they are due; the store decides nothing.
`MemoryStore` keeps them in arrays; another one (a data base, say) needs the methods of `WaitingStore`.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from lopsided.encoding.raw_cells import Entry
from lopsided.late.outcomes import DROPPED as DROPPED
from lopsided.late.rows import Arrays, GrowingRows, Integers, growing_rows
from lopsided.late.waiting_cells import as_columns, cut_down, entries_of, with_cells
from lopsided.late.waiting_rows import Key as Key
from lopsided.late.waiting_rows import WaitingRows as WaitingRows
from lopsided.late.waiting_rows import joined

_FIRST_ROOM = 64


class WaitingStore(Protocol):
    """What the engine asks of a store. Positions of the rows that are added only ever increase."""

    def __len__(self) -> int:
        """How many rows wait."""

    def add(self, rows: WaitingRows) -> None:
        """Keep these rows; no two rows that wait have the same key."""

    def is_waiting(self, key: Key) -> bool:
        """Whether a row with this key waits."""

    def fate_of(self, key: Key) -> float | None:
        """What became of a row that waits no more: +1, -1 or `DROPPED`; None if there was none, or it is forgotten."""

    def settle(self, keys: Sequence[Key], fates: Sequence[float]) -> None:
        """Remember what became of rows, so that a second label for them is recognised."""

    def take(self, keys: Sequence[Key]) -> WaitingRows:
        """Give back the rows with these keys, which all wait, in this order; they wait no more."""

    def take_due(self, before: float) -> WaitingRows | None:
        """Give back the rows due strictly before a moment, by due, then by position; None if there are none."""

    def take_oldest(self, count: int) -> WaitingRows:
        """Give back the rows that have waited longest."""

    def put_back(self, rows: WaitingRows) -> None:
        """Rows that were taken, and not learned because a learner failed, wait again as if they had not been taken."""

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """All of it as JSON and arrays."""

    def restore(self, description: dict[str, Any], arrays: Arrays) -> None:
        """Become what `state` described."""


@runtime_checkable
class CorrectableStore(WaitingStore, Protocol):
    """A store that also keeps rows when they have been learned, so that a corrected label can be learned."""

    def retain(self, rows: WaitingRows) -> None:
        """Keep rows that have been learned; those without a key need not be."""

    def recall(self, key: Key) -> WaitingRows | None:
        """A copy of the row with this key that has been learned; None if it is not here any more."""


class MemoryStore:
    """Rows in arrays that grow and shrink with what waits: O(1) a row, about 8 (d + 7) bytes for d dense features.

    Rows of a table that may have to be shown keep their cells besides: no more than twice those that wait, and what
    came since the arrays last grew.

    Parameters
    ----------
    remembered : of how many keys it is remembered what became of them, the latest first; and, where corrections are
        learned, how many rows are kept for these.
    """

    def __init__(self, remembered: int = 100_000) -> None:
        self.remembered = remembered
        self._fates: dict[Key, float] = {}
        self._settled: deque[Key] = deque()
        self._learned: MemoryStore | None = None  # rows that are kept for corrections, numbered as they were learned
        self._n_retained = 0
        self._empty()

    def _empty(self) -> None:
        self._rows: GrowingRows | None = None
        self._is_sparse, self._n_features = False, 0
        self._make_columns(0)
        self._start = self._stop = self._count = 0
        self._in_order, self._earliest = True, np.inf
        self._position_of: dict[Key, int] = {}

    def _make_columns(self, room: int) -> None:
        self._scores, self._dues, self._signs, self._weights = (np.empty(room) for _ in range(4))
        self._positions: Integers = np.empty(room, dtype=np.int64)
        self._waits = np.zeros(room, dtype=np.bool_)
        self._keys: list[Key | None] = [None] * room
        self._cells: list[Entry] = [None] * room

    def __len__(self) -> int:
        return self._count

    # ---------------------------------------------------------------- adding

    def add(self, rows: WaitingRows) -> None:
        """Keep these rows."""
        n = len(rows)
        if not n:
            return
        start = self._room_for(rows)
        stop = start + n
        assert self._rows is not None
        self._rows.put(start, rows.X)
        self._cells[start:stop] = cut_down(entries_of(rows.X))
        self._scores[start:stop], self._signs[start:stop] = rows.scores, rows.signs
        self._positions[start:stop], self._dues[start:stop] = rows.positions, rows.dues
        self._weights[start:stop] = 1.0 if rows.weights is None else rows.weights
        self._waits[start:stop] = True
        if rows.keys is not None:
            self._keys[start:stop] = rows.keys
            pairs = zip(rows.keys, rows.positions.tolist(), strict=True)
            self._position_of.update((key, position) for key, position in pairs if key is not None)
        dues = self._dues[max(start - 1, self._start) : stop]
        self._in_order = self._in_order and not np.count_nonzero(dues[1:] < dues[:-1])
        self._earliest = min(self._earliest, rows.dues.item(0) if self._in_order else float(rows.dues.min()))
        self._stop, self._count = stop, self._count + n

    def _room_for(self, rows: WaitingRows) -> int:
        """The first free slot, after which there are enough of them."""
        if self._rows is None:
            self._is_sparse, self._n_features = sp.issparse(rows.X), rows.X.shape[1]
            self._rows = growing_rows(self._n_features, sparse=self._is_sparse, room=0)
        if self._stop + len(rows) > self._waits.size:
            # Twice what is needed, so that moving costs a constant for each row that is added.
            self._move(np.flatnonzero(self._waits), max(_FIRST_ROOM, 2 * (self._count + len(rows))))
        return self._stop

    def _move(self, slots: Integers, room: int) -> None:
        """Put these rows at the beginning, with room for so many."""
        assert self._rows is not None
        self._rows.move(slots, room)
        names = ("_scores", "_dues", "_signs", "_weights", "_positions", "_waits")
        before, keys, cells = [getattr(self, name)[slots] for name in names], self._keys, self._cells
        self._make_columns(room)
        for name, column in zip(names, before, strict=True):
            getattr(self, name)[: slots.size] = column
        self._keys[: slots.size] = [keys[slot] for slot in slots.tolist()]
        self._cells[: slots.size] = cut_down([cells[slot] for slot in slots.tolist()])
        self._start, self._stop = 0, slots.size

    # ---------------------------------------------------------------- giving back

    def is_waiting(self, key: Key) -> bool:
        """Whether a row with this key waits."""
        return key in self._position_of

    def take(self, keys: Sequence[Key]) -> WaitingRows:
        """Give back the rows with these keys."""
        return self._take(self._slots_of(keys))

    def _slots_of(self, keys: Sequence[Key]) -> Integers:
        positions = [self._position_of[key] for key in keys]
        return self._start + self._positions[self._start : self._stop].searchsorted(positions)

    def take_due(self, before: float) -> WaitingRows | None:
        """Give back the rows that are due strictly before a moment, by due, then by position."""
        if not self._earliest < before:
            return None
        dues, waits = self._dues[self._start : self._stop], self._waits[self._start : self._stop]
        if self._in_order:
            slots = self._start + np.flatnonzero(waits[: np.searchsorted(dues, before)])
        else:
            slots = self._start + np.flatnonzero(waits & (dues < before))
            slots = slots[np.argsort(self._dues[slots], kind="stable")]  # slots are by position
        taken = self._take(slots) if slots.size else None
        self._earliest = self._earliest_due()
        return taken

    def _earliest_due(self) -> float:
        if not self._count:
            return np.inf
        if self._in_order:
            return float(self._dues[self._start])
        return float(self._dues[self._start : self._stop][self._waits[self._start : self._stop]].min())

    def take_oldest(self, count: int) -> WaitingRows:
        """Give back the rows that have waited longest."""
        return self._take(self._start + np.flatnonzero(self._waits[self._start : self._stop])[:count])

    def _rows_at(self, slots: Integers) -> WaitingRows:
        assert self._rows is not None
        keys, weights = [self._keys[slot] for slot in slots.tolist()], self._weights[slots]
        return WaitingRows(
            with_cells(self._rows.take(slots), [self._cells[slot] for slot in slots.tolist()]),
            self._scores[slots],
            self._positions[slots],
            self._dues[slots],
            self._signs[slots],
            keys if any(key is not None for key in keys) else None,
            weights if np.count_nonzero(weights != 1.0) else None,
        )

    def _take(self, slots: Integers) -> WaitingRows:
        assert self._rows is not None
        taken = self._rows_at(slots)
        keys = taken.all_keys()
        self._waits[slots] = False
        self._count -= slots.size
        for slot, key in zip(slots.tolist(), keys, strict=True):
            self._cells[slot] = None
            if key is not None:
                del self._position_of[key]
                self._keys[slot] = None
        if not self._count:
            self._start = self._stop = 0
            self._in_order, self._earliest = True, np.inf
            if self._is_sparse:
                self._rows.move(np.zeros(0, dtype=np.int64), self._waits.size)
        elif not self._waits[self._start]:
            self._start += int(np.argmax(self._waits[self._start : self._stop]))
        return taken

    def put_back(self, rows: WaitingRows) -> None:
        """Rows that were taken wait again, each in its place: O(all that wait), for what should not happen."""
        if not len(rows):
            return
        waiting = [rows, self.take_oldest(self._count)] if self._count else [rows]
        together = joined(waiting)
        self._empty()
        self.add(together.part(np.argsort(together.positions, kind="stable")))

    # ---------------------------------------------------------------- rows that have been learned

    def retain(self, rows: WaitingRows) -> None:
        """Keep rows that have been learned, for as long as it is remembered what became of others."""
        if self._learned is None:
            self._learned = MemoryStore(0)
        named = rows.part(np.flatnonzero([key is not None for key in rows.all_keys()]))
        for key in named.all_keys():  # one that is learned once more has a new place
            if self._learned.is_waiting(key):
                self._learned.take([key])
        numbers = self._n_retained + np.arange(len(named))
        self._n_retained += len(named)
        self._learned.add(replace(named, positions=numbers, dues=np.full(len(named), np.inf)))
        if len(self._learned) > self.remembered:
            self._learned.take_oldest(len(self._learned) - self.remembered)

    def recall(self, key: Key) -> WaitingRows | None:
        """A copy of the row with this key that has been learned."""
        if self._learned is None or not self._learned.is_waiting(key):
            return None
        return self._learned.copy_of(key)

    def copy_of(self, key: Key) -> WaitingRows:
        """The row with this key, which waits on."""
        return self._rows_at(self._slots_of([key]))

    # ---------------------------------------------------------------- what became of them

    def fate_of(self, key: Key) -> float | None:
        """What became of a row that waits no more."""
        return self._fates.get(key)

    def settle(self, keys: Sequence[Key], fates: Sequence[float]) -> None:
        """Remember what became of rows."""
        for key, fate in zip(keys, fates, strict=True):
            if key not in self._fates:
                self._settled.append(key)
            self._fates[key] = fate
        while len(self._settled) > self.remembered:
            del self._fates[self._settled.popleft()]

    # ---------------------------------------------------------------- keeping

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """All of it as JSON and arrays."""
        slots = self._start + np.flatnonzero(self._waits[self._start : self._stop])
        has_rows = self._count > 0  # what rows were like that have gone does not matter
        description: dict[str, Any] = {
            "rows": self._count,
            "features": self._n_features if has_rows else 0,
            "sparse": bool(self._is_sparse) and has_rows,
        }
        arrays: Arrays = {
            "scores": self._scores[slots],
            "dues": self._dues[slots],
            "signs": self._signs[slots],
            "weights": self._weights[slots],
            "positions": self._positions[slots],
            "keys": as_bytes([self._keys[slot] for slot in slots.tolist()]),
            "settled": as_bytes(list(self._settled)),
            "fates": np.array([self._fates[key] for key in self._settled], dtype=np.float64),
        }
        if self._rows is not None and has_rows:
            X = self._rows.take(slots)
            arrays |= {"starts": X.indptr, "features": X.indices, "values": X.data} if self._is_sparse else {"X": X}
        cells = [self._cells[slot] for slot in slots.tolist()]
        if any(cells):
            known = [cell is not None for cell in cells]
            arrays |= {"cells": as_bytes([as_columns(cells)]), "with_cells": np.array(known)}
        if self._learned is not None:
            kept, more = self._learned.state()
            description |= {"learned": kept, "retained": self._n_retained}
            arrays |= {f"learned/{name}": array for name, array in more.items()}
        return description, arrays

    def restore(self, description: dict[str, Any], arrays: Arrays) -> None:
        """Become what `state` described."""
        n, n_features = int(description["rows"]), int(description["features"])
        columns = [np.asarray(arrays[name], dtype=np.float64) for name in ("scores", "dues", "signs")]
        positions = np.asarray(arrays["positions"], dtype=np.int64)
        keys, settled = from_bytes(arrays["keys"]), from_bytes(arrays["settled"])
        if {n} != {len(keys), positions.size, *(column.size for column in columns)} or len(settled) != len(
            arrays["fates"]
        ):
            raise ValueError(f"The rows that wait must be {n} in every array of their state. Got others.")
        self._empty()
        self._fates = dict(zip(settled, arrays["fates"].tolist(), strict=True))
        self._settled = deque(settled)
        self._learned, self._n_retained = None, int(description.get("retained", 0))
        if "learned" in description:
            self._learned = MemoryStore(0)
            mine = {name.removeprefix("learned/"): array for name, array in arrays.items() if "/" in name}
            self._learned.restore(description["learned"], mine)
        if not n:
            return
        X = arrays.get("X")
        if description["sparse"]:
            parts = (arrays["values"], arrays["features"], arrays["starts"])
            X = sp.csr_array(parts, shape=(n, n_features))
        scores, dues, signs = columns
        weights = np.asarray(arrays["weights"], dtype=np.float64) if "weights" in arrays else None
        if "cells" in arrays:
            X = with_cells(X, _entries(from_bytes(arrays["cells"])[0], arrays["with_cells"], n))
        self.add(WaitingRows(X, scores, positions, dues, signs, keys, weights))


def _entries(table: dict[str, list[Any]], known: npt.NDArray[Any], n_rows: int) -> list[Entry]:
    if {n_rows} != {known.size, *map(len, table.values())}:
        raise ValueError(f"The rows that wait must be {n_rows} in every column of their cells. Got others.")
    return [(table, place) if is_known else None for place, is_known in enumerate(known.tolist())]


def as_bytes(keys: list[Any]) -> npt.NDArray[np.uint8]:
    """Keys as an array that any file can hold."""
    return np.frombuffer(json.dumps(keys).encode(), dtype=np.uint8)


def from_bytes(array: npt.NDArray[Any]) -> list[Any]:
    """The keys again."""
    return list(json.loads(np.asarray(array, dtype=np.uint8).tobytes() or b"[]"))
