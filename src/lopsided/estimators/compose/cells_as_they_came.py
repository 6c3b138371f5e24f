"""Tables whose rows are remembered as they came: the cells of what the learner still keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.core.geometry.points import Rows
from lopsided.encoding import EncodedRows, Schema
from lopsided.encoding.raw_cells import Cells
from lopsided.estimators.compose.pipeline import StreamPipeline
from lopsided.estimators.compose.remembered_rows import RememberedCells, RememberedRows


class CellsAsTheyCame(StreamPipeline):
    """Hands the cells of tables on to the store of remembered rows."""

    @property
    def schema_(self) -> Schema:
        """What the columns are."""
        raise NotImplementedError

    _one_cells: Any = None  # of the single row at hand, unless it came encoded
    _one_batch: Cells | None = None  # the same for the rows that are being learned

    def _learn_checked(
        self, X: Any, signs: Floats, weights: Floats, *, every_score: bool = False, answered: Floats | None = None
    ) -> Floats:
        cells = getattr(X, "cells", None)
        self._one_batch = None if cells is None else cells.part(weights > 0)
        try:
            return super()._learn_checked(X, signs, weights, every_score=every_score, answered=answered)
        finally:
            self._one_batch = None

    def take_turns(
        self, X: Any, turns: Floats, scores: Floats, places: Integers, weights: Floats | None = None
    ) -> Self:
        """As in all learners."""
        with self._alone:
            self._one_batch = getattr(X, "cells", None)
            try:
                return super().take_turns(X, turns, scores, places, weights)
            finally:
                self._one_batch = None

    def to_be_remembered(self, rows: EncodedRows) -> EncodedRows:
        """Rows that are to be learned later, with the cells by which they can be shown then, if they ever are."""
        with self._alone:
            result, schema = rows.view(), self.schema_
            if rows.cells is not None and not (self._started and self._rows is None):
                names = {*(column.name for column in schema.columns), *schema.history_keys, schema.id or ""}
                result.cells = rows.cells.only(names)
            return result

    def _take_turns(self, rows: Rows, turns: Floats, weights: Floats) -> Floats:
        self._one_cells = None  # such rows are encoded
        return super()._take_turns(rows, turns, weights)

    def _no_rows(self) -> RememberedRows:
        return RememberedCells(self.schema_)

    def _rows_as_they_came(self, rows: Rows) -> Callable[[int], Any]:
        vector_at, batch = super()._rows_as_they_came(rows), self._one_batch
        if batch is None:
            return vector_at
        return lambda place: vector_at(place) if (cells := batch.row(place)) is None else cells

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
