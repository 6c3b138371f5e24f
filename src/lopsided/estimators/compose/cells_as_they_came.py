"""Tables whose rows are remembered as they came: the cells of what the learner still keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.core.geometry.points import Rows
from lopsided.encoding import Schema
from lopsided.encoding.raw_cells import Cells
from lopsided.estimators.compose.pipeline import StreamPipeline
from lopsided.estimators.compose.remembered_rows import RememberedCells, RememberedRows


class CellsAsTheyCame(StreamPipeline):
    """Hands the cells of tables on to the store of remembered rows."""

    @property
    def schema_(self) -> Schema:
        """What the columns are."""
        raise NotImplementedError

    _one_cells: Mapping[str, Any] | Cells | None = None  # of the single row at hand; None if it came encoded
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

    @property
    def shows_rows(self) -> bool:
        """Whether rows that are learned may be shown as they came: not if the learner keeps no examples."""
        return not self._started or self._rows is not None

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
        cells = self._one_cells
        found = cells if cells is None or isinstance(cells, Mapping) else cells.row(0)
        return super()._one_as_it_came() if found is None else dict(found)

    def remembered_row(self, number: int) -> dict[str, Any] | None:
        """The row of this number, counted from 1 over the rows learned, as it came: its columns, and its identifier.

        None if no example of the learner is that row, or if a file of an older version did not keep it. Of a row that
        came encoded a hashed column is a list of the words that it may have been.
        """
        with self._alone:
            self._check_started()
            return self._rows.cells(number) if isinstance(self._rows, RememberedCells) else None
