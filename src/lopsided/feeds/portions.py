"""Some rows of a feed: encoded features, their labels as signs, and when they happened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.encoding import Schema
from lopsided.encoding.raw_cells import plain_cell
from lopsided.labels import Signs
from lopsided.streams import Chunk
from lopsided.streams.bookmarks import Bookmark
from lopsided.streams.labels import spelled


@dataclass(frozen=True)
class PlaceInFeed:
    """How far the sources have been read when some rows were given away, these rows included."""

    finished: tuple[Bookmark, ...]
    mark: Callable[[int], Bookmark] | None
    taken: int

    def bookmarks(self) -> list[Bookmark]:
        """Those of the sources; it costs the reading of a few kilobytes."""
        return [*self.finished] if self.mark is None else [*self.finished, self.mark(self.taken)]


@dataclass
class Portion:
    """Some rows: encoded features `X`, labels `y` as signs, moments in seconds, and the chunk that they come from.

    `y` is None in a feed that is opened without labels, and NaN where a label is not known; `times` is None without a
    time column. A learner takes `X` and `y` as they are.
    """

    X: Any
    y: Signs | None
    times: Any = None
    chunk: Chunk | None = None
    place: PlaceInFeed | None = None  # of a feed that can be gone on with

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.X.shape[0])

    def ids(self, column: str) -> list[str]:
        """What a column that was read says to each row, spelled as text."""
        assert self.chunk is not None
        cells = (plain_cell(cell) for cell in self.chunk.columns[column])
        return ["" if cell is None else spelled(cell) for cell in cells]

    @property
    def signs(self) -> Any:
        """The labels as a plain array of +1 and -1; NaN where there are none."""
        return np.full(self.n_rows, np.nan) if self.y is None else self.y.view(np.ndarray)

    def part(self, start: int, stop: int) -> Portion:
        """A stretch of these rows."""
        part = self._taking(slice(start, stop))
        if self.place is None:
            return part
        # These rows may be a part themselves: what is left of them is counted from their end.
        return replace(part, place=replace(self.place, taken=self.place.taken - (self.n_rows - stop)))

    def taking(self, places: npt.NDArray[np.int64]) -> Portion:
        """The rows at some places, in the order of these."""
        return self._taking(places)

    def _taking(self, rows: Any) -> Portion:
        return Portion(
            self.X[rows],
            None if self.y is None else Signs.of(self.y[rows], self.y.labels),
            None if self.times is None else self.times[rows],
            None if self.chunk is None else self.chunk.taking(rows),
        )

    def apart(self, *, as_records: bool) -> Portion:
        """These rows for keeping: without what else was read with them, as bytes or else as a table."""
        return replace(self, chunk=None if self.chunk is None else self.chunk.apart(as_records=as_records))

    def column(self, name: str) -> Any:
        """A column as it was read: float64 with NaN for a missing number, datetime64 with NaT, or arrow strings."""
        assert self.chunk is not None
        return self.chunk.columns[name]

    def cells(self, row: int) -> dict[str, Any]:
        """What the columns of the file hold in one of these rows, None where a cell is empty; {} for LIBSVM."""
        if self.chunk is None:
            return {}
        return {name: _plain(values[row]) for name, values in self.chunk.columns.items()}


def _plain(cell: Any) -> Any:
    """A cell of a checked column: a number, a date or a text."""
    if isinstance(cell, np.datetime64):
        return None if np.isnat(cell) else cell.item()
    value = cell.as_py() if hasattr(cell, "as_py") else float(cell)
    return None if value == "" or value != value else value


def slices_of(n_rows: int, at_most: int) -> Iterator[tuple[int, int]]:
    """Where slices of so many rows begin and end."""
    for start in range(0, n_rows, at_most):
        yield start, min(start + at_most, n_rows)


def seconds_of(schema: Schema, chunk: Chunk) -> Any:
    """The moments of a chunk's rows in seconds, NaN where unknown; None without a time column."""
    if schema.time is None:
        return None
    values = chunk.columns[schema.time.name]
    if schema.time.kind != "date":
        return values
    seconds = values.astype("datetime64[us]").astype(np.int64) / 1e6
    return np.where(np.isnat(values), np.nan, seconds)
