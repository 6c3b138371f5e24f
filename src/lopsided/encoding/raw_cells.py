"""The cells that encoded rows were made of, for whoever wants to show a row as it came."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt


class RawCells:
    """The checked columns of a table, and which of its rows these are; single rows are made when somebody asks."""

    def __init__(self, columns: Mapping[str, Any], places: npt.NDArray[np.int64]) -> None:
        self._columns, self._places = columns, places

    def part(self, key: Any) -> RawCells:
        """Some of the rows: a slice, a mask or places."""
        return RawCells(self._columns, self._places[key])

    def row(self, place: int) -> dict[str, Any]:
        """The cells of one row."""
        at = int(self._places[place])
        return {name: plain_cell(column[at]) for name, column in self._columns.items()}


class EncodedRows(np.ndarray[Any, np.dtype[np.float64]]):
    """Rows that a `TableEncoder` has made of a stream's columns, and parts of them: they need no second check.

    `cells` are what they were made of, None where that is not known.
    """

    cells: RawCells | None

    def __array_finalize__(self, made_of: Any) -> None:
        """A new view knows nothing of cells: only `__getitem__` can tell which ones are its own."""
        self.cells = None

    def __getitem__(self, key: Any) -> Any:
        """Some of the rows, with their cells."""
        part = super().__getitem__(key)
        if self.cells is not None and isinstance(part, EncodedRows) and part.ndim == 2 and not isinstance(key, tuple):
            part.cells = self.cells.part(key)
        return part


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
