"""Parquet and Arrow IPC files, record batch by record batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import pyarrow as pa

from lopsided.streams.bookmarks import Place
from lopsided.streams.byte_source import ARROW_MAGIC, ByteSource
from lopsided.streams.cells import CheckedRows, Columns, Expected
from lopsided.streams.chunks import Chunk, NeedsCareError, column_at_once
from lopsided.streams.errors import StreamError

_ROWS_AT_A_TIME = 8_192


class ArrowTable:
    """One file of typed columns; rows are counted from 1, since there are no lines."""

    format = "arrow"
    has_fixed_columns = True

    def __init__(self, name: str, columns: Sequence[str], batches: Iterator[Any], rows_before: int = 0) -> None:
        self.name = name
        self._rows_before = rows_before
        self.columns = list(columns)
        self._batches = batches
        if len(set(self.columns)) < len(self.columns):
            raise StreamError(self.name, None, "the columns", "must have different names", "a name twice")

    @classmethod
    def of(cls, source: ByteSource, is_parquet: bool, rows_before: int = 0) -> ArrowTable:
        """One that is read from a file, but for so many rows that have been read before."""
        try:
            names, batches, passed = _parquet(source, rows_before) if is_parquet else _ipc(source)
        except (pa.ArrowInvalid, OSError, pa.ArrowException) as error:
            raise _damaged(source.name, error) from error
        return cls(source.name, names, _without_first(batches, rows_before - passed), rows_before)

    def head(self, n_rows: int, look_on: bool) -> tuple[dict[str, list[Any]], bool]:
        """Values of the first rows by column, and whether these are all rows."""
        first = self._next()
        if first is None:
            raise StreamError(self.name, None, None, "must have at least one row of data", "none")
        second = self._next() if look_on else None
        self._batches = chain([first] if second is None else [first, second], self._batches)
        values = {name: first.column(name)[:n_rows].to_pylist() for name in self.columns}
        return values, look_on and second is None and first.num_rows <= n_rows

    def _next(self) -> Any:
        try:
            return next((batch for batch in self._batches if batch.num_rows), None)
        except (pa.ArrowInvalid, OSError, pa.ArrowException) as error:
            raise _damaged(self.name, error) from error

    def chunks(self, expected: Sequence[Expected]) -> Iterator[Chunk]:
        """The rows, batch by batch."""
        before = self._rows_before
        while (batch := self._next()) is not None:
            yield self._chunk(batch, expected, before)
            before += batch.num_rows

    def _chunk(self, batch: Any, expected: Sequence[Expected], before: int) -> Chunk:
        try:
            columns = Columns({e.name: column_at_once(e, batch.column(e.name)) for e in expected})
        except (NeedsCareError, pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return self._with_care(batch, expected, before)
        return Chunk(
            self.name, batch.num_rows, columns, table=lambda: pa.Table.from_batches([batch]),
            after=lambda n: Place(None, before + n),
        )  # fmt: skip

    def _with_care(self, batch: Any, expected: Sequence[Expected], before: int) -> Chunk:
        rows = CheckedRows(self.name, expected, unit="row")
        cells = [batch.column(expectation.name).to_pylist() for expectation in expected]
        for number, row in enumerate(zip(*cells, strict=True)):
            rows.add(number, before + number + 1, row)
        kept = rows.kept

        def after(n: int) -> Place:
            passed = batch.num_rows if n == len(kept) else kept[n - 1] + 1 if n else 0
            line = before + passed
            return Place(None, line, bad_ahead=sum((error.line or 0) > line for error in rows.bad))

        return Chunk(
            self.name, len(kept), rows.columns(), rows.bad,
            table=lambda: pa.Table.from_batches([batch]).take(pa.array(kept, type=pa.int64())),
            after=after,
        )  # fmt: skip


def _parquet(source: ByteSource, rows_before: int) -> tuple[list[str], Iterator[Any], int]:
    """Columns, batches, and how many rows before the first of these were not even looked at."""
    import pyarrow.parquet as pq

    if source.total is None:
        raise StreamError(
            source.name, None, None, "must be a file to be read as Parquet, whose index is at its end", "a pipe"
        )
    file = pq.ParquetFile(source.name, pre_buffer=False)
    first, passed, rows = 0, 0, 0
    for group in range(file.num_row_groups):
        # Batches run on over groups: only where one begins with a group they are the same when reading begins there.
        if rows <= rows_before and rows % _ROWS_AT_A_TIME == 0:
            first, passed = group, rows
        rows += file.metadata.row_group(group).num_rows
    groups = range(first, file.num_row_groups)
    batches = file.iter_batches(batch_size=_ROWS_AT_A_TIME, row_groups=groups, use_threads=False)
    return file.schema_arrow.names, batches, passed


def _without_first(batches: Iterator[Any], n_rows: int) -> Iterator[Any]:
    """All but so many rows."""
    for batch in batches:
        if n_rows < batch.num_rows:
            yield batch.slice(n_rows)
        n_rows = max(0, n_rows - batch.num_rows)


def _ipc(source: ByteSource) -> tuple[list[str], Iterator[Any], int]:
    if source.magic.startswith(ARROW_MAGIC):
        if source.total is None:
            raise StreamError(
                source.name, None, None, "must be a file to be read as Arrow IPC, or the streaming form", "a pipe"
            )
        file = pa.ipc.open_file(pa.memory_map(source.name))
        batches = (file.get_batch(number) for number in range(file.num_record_batches))
        return file.schema.names, in_steps(batches), 0
    stream = pa.ipc.open_stream(pa.PythonFile(_Readable(source), mode="r"))
    return stream.schema.names, in_steps(iter(stream)), 0


def in_steps(batches: Iterator[Any]) -> Iterator[Any]:
    """Large batches in parts, so that what is made of them stays small."""
    for batch in batches:
        for start in range(0, batch.num_rows, _ROWS_AT_A_TIME):
            yield batch.slice(start, _ROWS_AT_A_TIME)


class _Readable:
    """A source as arrow wants a file: reading gives all that was asked for, up to the end."""

    closed = False

    def __init__(self, source: ByteSource) -> None:
        self._source = source

    def read(self, size: int) -> bytes:
        parts, missing = [], size
        while missing and (data := self._source.read(missing)):
            parts.append(data)
            missing -= len(data)
        return b"".join(parts)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        pass


def _damaged(name: str, error: Exception) -> StreamError:
    first_line = (str(error).splitlines() or ["unknown"])[0]
    return StreamError(name, None, None, "must be a whole Parquet or Arrow file", f'"{first_line}"')
