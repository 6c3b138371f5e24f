"""Scored rows as typed columns: Parquet and Arrow IPC."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from lopsided.feeds.feed import Feed
from lopsided.feeds.portions import Portion
from lopsided.feeds.writers import Writer
from lopsided.streams.errors import StreamError

_ROWS_AT_ONCE = 1024


class ParquetWriter(Writer):
    """One type a column, that of the first rows or a roomier one, into which all others must fit."""

    _writer: Any = None
    _schema: Any = None

    def __init__(self, path: str | None, feed: Feed, keep: str, *, at_once: bool = False) -> None:
        super().__init__(path, feed, keep, at_once=at_once)
        self._pending: list[Any] = []

    def _append(self, portion: Portion, scores: Any, probabilities: Any, predicted: Any) -> None:
        table = self._in_order(self._table(portion, scores, probabilities, predicted))
        if self._writer is None:
            self._schema = self._roomy_schema(table)
            self._writer = self._open(self._schema)
        self._pending.append(self._cast(table, portion))
        if self.at_once or sum(part.num_rows for part in self._pending) >= _ROWS_AT_ONCE:
            self._write_pending()

    def _write_pending(self) -> None:
        import pyarrow as pa

        if self._pending:  # rows may come one by one, and a group of rows for each would be a waste
            self._writer.write_table(pa.concat_tables(self._pending))
            self._pending = []

    def _roomy_schema(self, table: Any) -> Any:
        """Types for rows that begin with these; a single file of types has them for all its rows."""
        import pyarrow as pa

        stream, schema = self.feed.stream, self.feed.schema
        is_settled = stream.sources.is_single and getattr(stream, "format", None) == "arrow"
        numbers = {column.name for column in schema.columns if column.kind == "number"} if schema else set()
        fields = []
        for column, field in zip(table.columns, table.schema, strict=True):
            kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
            if not is_settled:
                kind = _roomy(kind, column, field.name in numbers)
            fields.append(pa.field(field.name, kind))
        return pa.schema(fields, metadata=table.schema.metadata)

    def _cast(self, table: Any, portion: Portion) -> Any:
        import pyarrow as pa

        columns = []
        for column, field in zip(table.columns, self._schema, strict=True):
            try:
                columns.append(column.cast(field.type))
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                source = portion.chunk.source if portion.chunk is not None else self.feed.name
                rule = f"must fit the type {field.type} of the rows before it"
                where = f"column {field.name!r}"
                raise StreamError(source, None, where, rule, str(column.type), argument="keep") from None
        return pa.Table.from_arrays(columns, schema=self._schema)

    def _open(self, schema: Any) -> Any:
        import pyarrow.parquet as pq

        return pq.ParquetWriter(self._file, schema)

    def _finish(self) -> None:
        if self._writer is None:
            import pyarrow as pa

            self._writer = self._open(pa.schema([("score", pa.float64()), ("probability", pa.float64())]))
        self._write_pending()
        self._writer.close()

    def _abandon(self) -> None:
        if self._writer is not None:
            with suppress(Exception):  # else it would do so when it is collected, into a closed file
                self._writer.close()


class ArrowWriter(ParquetWriter):
    """The same as Arrow IPC, in the form of a file."""

    def _open(self, schema: Any) -> Any:
        import pyarrow as pa

        return pa.ipc.new_file(self._file, schema)


def _roomy(kind: Any, column: Any, is_number: bool) -> Any:
    """A type for what later rows may bring: fractions where a model reads numbers, texts where nothing was known."""
    import pyarrow as pa

    if pa.types.is_null(kind):
        return pa.float64() if is_number else pa.string()
    if is_number and (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        with suppress(pa.ArrowInvalid):  # whole numbers beyond 2^53 stay whole
            column.cast(pa.float64())
            return pa.float64()
    return kind
