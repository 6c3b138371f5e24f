"""The cells of rows that wait, so that a model can show what it has learned as it came, with its identifier.

Rows that came together share a table of columns. A row that waits holds on to its table: so tables are cut down to the
rows that still wait, whenever the store moves its rows, and there is never much more than these.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from lopsided.encoding import EncodedRows
from lopsided.encoding.raw_cells import Entry, GatheredCells, Table, plain_cell

_FEW_ROWS = 16  # up to which tables are put together as plain values: columns of a single row are mostly overhead


def entries_of(X: Any) -> list[Entry]:
    """Where the cells of each row stand; None where they are not known."""
    cells = getattr(X, "cells", None)
    return [None] * X.shape[0] if cells is None else cells.entries()


def as_encoded(X: Any) -> Any:
    """Rows of an encoder as such, whether or not they know their cells."""
    return X if isinstance(X, EncodedRows) else X.view(EncodedRows)


def with_cells(X: Any, entries: list[Entry]) -> Any:
    """Rows that know their cells, if any are known."""
    if all(entry is None for entry in entries):
        return X
    rows = X.view(EncodedRows)
    rows.cells = GatheredCells(entries)
    return rows


def cut_down(entries: list[Entry]) -> list[Entry]:
    """The same rows in tables of which at least half the rows are these."""
    rows_of: defaultdict[int, list[int]] = defaultdict(list)
    for row, entry in enumerate(entries):
        if entry is not None:
            rows_of[id(entry[0])].append(row)
    result, few = list(entries), []
    for rows in rows_of.values():
        table, places = _table_and_places(entries, rows)
        if _length(table) <= _FEW_ROWS:
            few += rows
        elif 2 * len(rows) < _length(table):
            _replace(result, rows, {name: _taken(column, places) for name, column in table.items()})
    if len(few) > _FEW_ROWS:
        _replace(result, few, as_columns([entries[row] for row in few]))
    return result


def as_columns(entries: list[Entry]) -> dict[str, list[Any]]:
    """The cells of rows as plain values, by column."""
    rows_of: defaultdict[int, list[int]] = defaultdict(list)
    for row, entry in enumerate(entries):
        rows_of[0 if entry is None else id(entry[0])].append(row)
    columns: dict[str, list[Any]] = {}
    for rows in rows_of.values():
        if entries[rows[0]] is None:
            continue
        table, places = _table_and_places(entries, rows)
        for name, column in table.items():
            taken = _taken(column, places)
            cells = taken.to_pylist() if hasattr(taken, "to_pylist") else taken
            target = columns.setdefault(name, [None] * len(entries))
            for row, cell in zip(rows, cells, strict=True):
                target[row] = plain_cell(cell)
    return columns


def _table_and_places(entries: list[Entry], rows: list[int]) -> tuple[Table, list[int]]:
    """The table of rows that have the same, and where they stand in it."""
    known = [entry for row in rows if (entry := entries[row]) is not None]
    return known[0][0], [place for _, place in known]


def _replace(entries: list[Entry], rows: list[int], table: Table) -> None:
    for place, row in enumerate(rows):
        entries[row] = (table, place)


def _length(table: Table) -> int:
    return len(next(iter(table.values()), ()))


def _taken(column: Any, places: list[int]) -> Any:
    if len(places) > _FEW_ROWS and hasattr(column, "take"):
        return column.take(np.array(places))
    return [column[place] for place in places]
