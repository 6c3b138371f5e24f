"""The cells that encoded rows were made of, for whoever wants to show a row as it came."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Table = Mapping[str, Any]  # columns by name
Entry = tuple[Table, int] | None  # a row: its table, and its place in there; None where cells are not known


class Cells(Protocol):
    """The cells of some rows; single rows are made when somebody asks."""

    def part(self, key: Any) -> Cells:
        """Some of the rows: a slice, a mask or places."""

    def row(self, place: int) -> dict[str, Any] | None:
        """The cells of one row; None if they are not known."""

    def entries(self) -> list[Entry]:
        """Where the cells of each row stand."""


class RawCells:
    """The checked columns of a table, and which of its rows these are."""

    def __init__(self, columns: Table, places: npt.NDArray[np.int64]) -> None:
        self._columns, self._places = columns, places

    def part(self, key: Any) -> RawCells:
        """Some of the rows."""
        return RawCells(self._columns, self._places[key])

    def row(self, place: int) -> dict[str, Any]:
        """The cells of one row."""
        return _row_of(self._columns, int(self._places[place]))

    def entries(self) -> list[Entry]:
        """Where the cells of each row stand."""
        return [(self._columns, place) for place in self._places.tolist()]


class GatheredCells:
    """Rows of several tables, which have met where they wait."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries

    def part(self, key: Any) -> GatheredCells:
        """Some of the rows."""
        if isinstance(key, slice):
            return GatheredCells(self._entries[key])
        return GatheredCells([self._entries[place] for place in np.arange(len(self._entries))[key].tolist()])

    def row(self, place: int) -> dict[str, Any] | None:
        """The cells of one row."""
        entry = self._entries[place]
        return None if entry is None else _row_of(*entry)

    def entries(self) -> list[Entry]:
        """Where the cells of each row stand."""
        return list(self._entries)


def _row_of(table: Table, place: int) -> dict[str, Any]:
    return {name: plain_cell(column[place]) for name, column in table.items()}


class EncodedRows(np.ndarray[Any, np.dtype[np.float64]]):
    """Rows that a `TableEncoder` has made of a stream's columns, and parts of them: they need no second check.

    `cells` are what they were made of, None where that is not known.
    """

    cells: Cells | None

    def __array_finalize__(self, made_of: Any) -> None:
        """A new view knows nothing of cells: only `__getitem__` can tell which ones are its own."""
        self.cells = None

    def __getitem__(self, key: Any) -> Any:
        """Some of the rows, with their cells."""
        part = super().__getitem__(key)
        if self.cells is not None and self.ndim == 2 and isinstance(part, EncodedRows):
            if part.ndim == 2 and not isinstance(key, tuple):
                part.cells = self.cells.part(key)
            elif isinstance(key, int | np.integer):
                part.cells = self.cells.part([key])
        return part

    def copy(self, order: Any = "C") -> EncodedRows:
        """The same rows, with their cells."""
        twin = super().copy(order).view(EncodedRows)
        twin.cells = self.cells
        return twin


def plain_cell(cell: Any) -> Any:
    """A cell as JSON has it; None for one that is missing.

    >>> plain_cell(np.float64("nan")), plain_cell(np.datetime64("2026-03-01T12:30")), plain_cell("NO")
    (None, '2026-03-01T12:30', 'NO')
    """
    if hasattr(cell, "as_py"):
        cell = cell.as_py()
    if isinstance(cell, np.datetime64):
        return None if np.isnat(cell) else _shortest(str(cell))
    if isinstance(cell, np.generic):
        cell = cell.item()
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None
    if isinstance(cell, datetime.date):
        return cell.isoformat() if cell == cell else None
    if isinstance(cell, str):
        return cell or None
    return cell if cell is None or isinstance(cell, bool | int) else str(cell)


def _shortest(moment: str) -> str:
    """Without the parts at its end that are all zero: 2026-03-01T08:30 rather than 2026-03-01T08:30:00.000000."""
    date, _, time = moment.partition("T")
    time = time.removesuffix(".000000").removesuffix(":00") if time.count(":") == 2 else time
    return date if time in ("", "00:00") else f"{date}T{time}"
