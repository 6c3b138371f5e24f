"""Tables whose rows are remembered as they came: the cells of what the learner still keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.geometry.points import Rows
from lopsided.encoding import Schema
from lopsided.encoding.raw_cells import RawCells
from lopsided.estimators.compose.pipeline import StreamPipeline
from lopsided.estimators.compose.remembered_rows import RememberedCells, RememberedRows


class CellsAsTheyCame(StreamPipeline):
    """Hands the cells of tables on to the store of remembered rows."""

    @property
    def schema_(self) -> Schema:
        """What the columns are."""
        raise NotImplementedError

    _one_cells: Any = None  # of the single row at hand, unless it came encoded
    _one_batch: RawCells | None = None  # the same for the rows that are being learned

    def _learn_checked(
        self, X: Any, signs: Floats, weights: Floats, *, every_score: bool = False, answered: Floats | None = None
    ) -> Floats:
        cells = getattr(X, "cells", None)
        self._one_batch = None if cells is None else cells.part(weights > 0)
        try:
            return super()._learn_checked(X, signs, weights, every_score=every_score, answered=answered)
        finally:
            self._one_batch = None

    def _take_turns(self, rows: Rows, turns: Floats, weights: Floats) -> Floats:
        self._one_cells = None  # such rows are encoded
        return super()._take_turns(rows, turns, weights)

    def _no_rows(self) -> RememberedRows:
        return RememberedCells(self.schema_)

    def _rows_as_they_came(self, rows: Rows) -> Callable[[int], Any]:
        return super()._rows_as_they_came(rows) if self._one_batch is None else self._one_batch.row

    def _one_as_it_came(self) -> Any:
        return super()._one_as_it_came() if self._one_cells is None else dict(self._one_cells)

    def remembered_row(self, number: int) -> dict[str, Any] | None:
        """The row of this number, counted from 1 over the rows learned, as it came: its columns, and its identifier.

        None if no example of the learner is that row, or if a file of an older version did not keep it. Of a row that
        came encoded a hashed column is a list of the words that it may have been.
        """
        with self._alone:
            self._check_started()
            return self._rows.cells(number) if isinstance(self._rows, RememberedCells) else None
