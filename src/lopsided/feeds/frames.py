"""Data frames that are in memory already, as a stream of the same chunks that files give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lopsided.streams import Chunk, Expected, StreamError
from lopsided.streams.cells import is_missing
from lopsided.streams.tables import ARROW, HEAD_ROWS

_NAME = "the data frame"


def is_frame(source: Any) -> bool:
    """Whether this is a table of pandas, polars or arrow."""
    return hasattr(source, "__arrow_c_stream__") or (hasattr(source, "to_dict") and hasattr(source, "columns"))


class FrameStream:
    """A frame read once, in order, as `TableStream` reads files."""

    format = ARROW
    delimiter = ","
    head_problem: StreamError | None = None
    bytes_read = 0
    finished: tuple[Any, ...] = ()  # bookmarks are for what a later process can open again

    def __init__(self, frame: Any) -> None:
        from lopsided.streams.arrow_tables import ArrowTable, in_steps

        table = _as_arrow(frame)
        self.name = _NAME
        self.sources = _InMemory()
        self._table = ArrowTable(_NAME, table.column_names, in_steps(iter(table.to_batches())))
        self.columns = self._table.columns
        self.head, self.is_whole = self._table.head(HEAD_ROWS, look_on=True)

    def __enter__(self) -> FrameStream:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def chunks(self, expected: Sequence[Expected]) -> Iterator[Chunk]:
        """All rows."""
        for expectation in expected:
            if expectation.name not in self.columns:
                rule = f"must hold the column {expectation.name!r}"
                raise StreamError(self.name, None, None, rule, f"only {', '.join(self.columns)}")
        yield from self._table.chunks(expected)


class _InMemory:
    """What a stream of files says of its sources, where there are none."""

    paths: tuple[str, ...] = ()
    total = None
    follow = False
    is_single = True
    encoding = None
    shrunk: Any = None


def _as_arrow(frame: Any) -> Any:
    import pyarrow as pa

    if isinstance(frame, pa.Table):
        return frame
    if hasattr(frame, "to_dict") and hasattr(frame, "iloc"):  # pandas, whose index is no column
        return pa.table({str(name): _column(frame.iloc[:, place]) for place, name in enumerate(frame.columns)})
    return pa.table(frame)


def _column(values: Any) -> Any:
    """A column of pandas; one of mixed objects as texts, which is what a file of it would hold."""
    import pyarrow as pa

    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return pa.array([None if is_missing(value) else str(value) for value in values], type=pa.string())
