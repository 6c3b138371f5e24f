"""Some rows of a feed: encoded features, their labels as signs, and when they happened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lopsided.encoding import Schema
from lopsided.encoding.raw_cells import plain_cell
from lopsided.labels import Signs
from lopsided.streams import Chunk
from lopsided.streams.labels import spelled


@dataclass
class Portion:
    """Some rows: encoded features `X`, labels `y` as signs, moments in seconds, and the chunk that they come from.

    `y` is None in a feed that is opened without labels, `times` without a time column. A learner takes `X` and `y` as
    they are.
    """

    X: Any
    y: Signs | None
    times: Any = None
    chunk: Chunk | None = None

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
        """Some of these rows, without the chunk."""
        rows = slice(start, stop)
        times = None if self.times is None else self.times[rows]
        return Portion(self.X[rows], None if self.y is None else Signs.of(self.y[rows], self.y.labels), times)


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
