"""Rows with three columns more, written as CSV, NDJSON, Parquet or Arrow."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, BinaryIO

from lopsided.constraints import ParameterError
from lopsided.streams.errors import StreamError, shown_columns

if TYPE_CHECKING:
    from lopsided.cli.feed import Feed, Portion

_TABBED = {".tsv", ".tab"}
NEW_COLUMNS = ("score", "probability", "predicted")
_SUFFIXES = {
    ".csv": "csv", ".tsv": "csv", ".tab": "csv", ".ndjson": "ndjson", ".jsonl": "ndjson", ".parquet": "parquet",
    ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow", "": "csv",
}  # fmt: skip


def open_output(path: str | None, to: str | None, feed: Feed, keep: str, model: str) -> Writer:
    """Where scored rows go; use it in a `with` statement."""
    suffix = PurePath(path or "").suffix.lower()
    kind = to or _SUFFIXES.get(suffix)
    if kind is None:
        known = ", ".join(filter(None, _SUFFIXES))
        raise ParameterError(f"The option --output must end in {known}, or --format must say more, got {path!r}.")
    if kind in ("parquet", "arrow") and path is None:
        raise ParameterError(f"The option --output must name a file for the format {kind}, got standard output.")
    if path is not None:
        folder = os.path.dirname(os.path.abspath(path))
        if os.path.isdir(path) or not os.path.isdir(folder):
            raise ParameterError(f"The option --output must name a file in a directory that exists, got {path!r}.")
        read = [*feed.stream.sources.paths, model]
        if os.path.exists(path) and any(os.path.exists(file) and os.path.samefile(file, path) for file in read):
            raise ParameterError(f"The option --output must not be one of the files that are read, got {path!r}.")
    if keep == "id" and (feed.schema is None or feed.schema.id is None):
        raise ParameterError("The option --keep id must have a model that was learned with --id, got one without.")
    if keep == "id" and feed.schema is not None and feed.schema.id not in feed.stream.columns:
        rule = f"must hold the column {feed.schema.id!r}, for which --keep id asks"
        raise StreamError(feed.name, None, None, rule, f"only {shown_columns(feed.stream.columns)}")
    delimiter = "\t" if suffix in _TABBED else ","
    came_so = kind != "csv" or path is None or (suffix in _TABBED) == (getattr(feed.stream, "delimiter", "") == "\t")
    if keep == "all" and kind == getattr(feed.stream, "format", None) and kind in _AS_THEY_CAME and came_so:
        return _AS_THEY_CAME[kind](path, feed, keep)
    if kind == "csv":
        return _Csv(path, feed, keep, delimiter)
    return {"ndjson": _Json, "parquet": _Parquet, "arrow": _Arrow}[kind](path, feed, keep)


def check_names_are_free(columns: Sequence[str], source: str) -> None:
    """New columns must not be called as old ones."""
    taken = [name for name in NEW_COLUMNS if name in columns]
    if taken:
        rule = f"must not have columns called {', '.join(NEW_COLUMNS)} already"
        raise StreamError(source, None, None, rule, ", ".join(taken))


class Writer:
    """A file that takes portions with their scores. It appears under its name when it is whole, or not at all.

    A link stays a link; what is no file, such as a pipe, is written into.
    """

    def __init__(self, path: str | None, feed: Feed, keep: str) -> None:
        self.feed, self.keep = feed, keep
        self._target = None if path is None else Path(path).resolve()
        self._part: Path | None = None
        if self._target is None:
            self._file: BinaryIO = sys.stdout.buffer
        elif self._target.exists() and not self._target.is_file():
            self._file = self._target.open("wb", buffering=0)
        else:
            self._part = self._target.with_name(f"{self._target.name}.part")
            self._file = self._part.open("wb")
        self._columns: list[str] = []
        self._late: set[str] = set()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if self._target is None:
            self._file.flush()
            return
        try:
            with self._file:
                self._finish() if kind is None else self._abandon()
            if kind is None and self._part is not None:
                self._part.replace(self._target)
        finally:
            if self._part is not None:
                self._part.unlink(missing_ok=True)

    def write(self, portion: Portion, scores: Any, probabilities: Any, predicted: Any) -> None:
        """Append rows."""
        raise NotImplementedError

    def _finish(self) -> None:
        """Write what stands at the end of a file."""

    def _abandon(self) -> None:
        """Let go of a file that will not be kept."""

    def _table(self, portion: Portion, scores: Any, probabilities: Any, predicted: Any) -> Any:
        """The kept columns and the three new ones as an arrow table."""
        import pyarrow as pa

        table = None
        if self.keep != "none" and portion.chunk is not None and portion.chunk.table is not None:
            table = portion.chunk.table()
            if self.keep == "id":
                assert self.feed.schema is not None
                name = self.feed.schema.id
                has_it = name in table.column_names  # rows of NDJSON may lack it
                table = table.select([name]) if has_it else pa.table({name: pa.nulls(table.num_rows, pa.string())})
        new = dict(
            zip(NEW_COLUMNS, (pa.array(scores), pa.array(probabilities), pa.array(_truth(predicted))), strict=True)
        )
        if table is None:
            return pa.table(new)
        assert portion.chunk is not None
        check_names_are_free(table.column_names, portion.chunk.source)
        for name, array in new.items():
            table = table.append_column(name, array)
        return self._typed(table, portion)

    def _typed(self, table: Any, portion: Portion) -> Any:
        """Numbers of a CSV as numbers, where the model reads them as such."""
        import pyarrow as pa

        schema = self.feed.schema
        assert schema is not None and portion.chunk is not None
        for column in schema.columns:
            if (
                column.kind == "number"
                and column.name in table.column_names
                and pa.types.is_string(table.schema.field(column.name).type)
            ):
                position = table.column_names.index(column.name)
                table = table.set_column(
                    position, column.name, pa.array(portion.chunk.columns[column.name], from_pandas=True)
                )
        return table

    def _in_order(self, table: Any) -> Any:
        """The columns of the first rows, found by their names: empty if later rows lack one, and none besides."""
        import pyarrow as pa

        self._columns = self._columns or table.column_names
        late = [name for name in table.column_names if name not in self._columns and name not in self._late]
        if late:
            self._late.update(late)
            self.feed.note(f"columns that the first rows do not have, left out of the output: {', '.join(late)}")
        for name in self._columns:
            if name not in table.column_names:
                table = table.append_column(name, pa.nulls(table.num_rows))
        return table.select(self._columns)


class _CsvAsItCame(Writer):
    """CSV to CSV: the bytes of every row as they were, and three cells more."""

    _header = b""

    def write(self, portion: Portion, scores: Any, probabilities: Any, predicted: Any) -> None:
        delimiter = self.feed.stream.delimiter
        chunk = portion.chunk
        assert chunk is not None
        if not self._header:
            self._header = chunk.header or b""
            self._file.write(self._header + (delimiter + delimiter.join(NEW_COLUMNS) + "\n").encode())
        if chunk.records is None or chunk.header != self._header:
            rule = "must have the header of the files before it if rows are to be written as they came (or --keep none)"
            raise StreamError(chunk.source, None, None, rule, "another" if chunk.header else "none")
        cells = zip(chunk.records(), scores.tolist(), probabilities.tolist(), _cells(predicted, delimiter), strict=True)
        between = delimiter.encode()
        self._file.write(b"".join([
            record + between + repr(score).encode() + between + b"%.6g" % probability + between + label + b"\n"
            for record, score, probability, label in cells
        ]))  # fmt: skip


class _JsonAsItCame(Writer):
    """NDJSON to NDJSON: every object as it was, with three members more."""

    def write(self, portion: Portion, scores: Any, probabilities: Any, predicted: Any) -> None:
        import json

        if portion.chunk is None or portion.chunk.records is None or portion.chunk.header is not None:
            rule = "must be NDJSON as the files before it if rows are to be written as they came (or --keep none)"
            raise StreamError(portion.chunk.source if portion.chunk else "", None, None, rule, "another format")
        lines = []
        rows = zip(portion.chunk.records(), scores.tolist(), probabilities.tolist(), _truth(predicted), strict=True)
        for record, score, probability, label in rows:
            inside = record[1:-1].strip()
            new = f'"score":{score!r},"probability":{probability:.6g},"predicted":{json.dumps(label)}}}\n'.encode()
            lines.append(b"{" + (inside + b"," if inside else b"") + new)
        self._file.write(b"".join(lines))


class _Csv(Writer):
    def __init__(self, path: str | None, feed: Feed, keep: str, delimiter: str) -> None:
        super().__init__(path, feed, keep)
        self._delimiter = delimiter

    def write(self, portion: Portion, scores: Any, probabilities: Any, predicted: Any) -> None:
        import pyarrow.csv as pacsv

        is_first = not self._columns
        table = _without_nesting(self._in_order(self._table(portion, scores, probabilities, predicted)))
        if is_first:  # arrow would quote every name
            header = io.StringIO()
            csv.writer(header, delimiter=self._delimiter, lineterminator="\n").writerow(self._columns)
            self._file.write(header.getvalue().encode())
        text = io.BytesIO()
        options = pacsv.WriteOptions(include_header=False, quoting_style="needed", delimiter=self._delimiter)
        pacsv.write_csv(table, text, options)
        self._file.write(text.getvalue())


class _Json(Writer):
    def write(self, portion: Portion, scores: Any, probabilities: Any, predicted: Any) -> None:
        import json

        table = self._table(portion, scores, probabilities, predicted)
        self._file.write("".join(json.dumps(row, default=str) + "\n" for row in table.to_pylist()).encode())


class _Parquet(Writer):
    """One type a column, that of the first rows or a roomier one, into which all others must fit."""

    _writer: Any = None
    _schema: Any = None

    def write(self, portion: Portion, scores: Any, probabilities: Any, predicted: Any) -> None:
        table = self._in_order(self._table(portion, scores, probabilities, predicted))
        if self._writer is None:
            self._schema = self._roomy_schema(table)
            self._writer = self._open(self._schema)
        self._writer.write_table(self._cast(table, portion))

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
                rule = f"must fit the type {field.type} of the rows before it (or see --keep)"
                raise StreamError(source, None, f"column {field.name!r}", rule, str(column.type)) from None
        return pa.Table.from_arrays(columns, schema=self._schema)

    def _open(self, schema: Any) -> Any:
        import pyarrow.parquet as pq

        return pq.ParquetWriter(self._file, schema)

    def _finish(self) -> None:
        if self._writer is None:
            import pyarrow as pa

            self._writer = self._open(pa.schema([("score", pa.float64()), ("probability", pa.float64())]))
        self._writer.close()

    def _abandon(self) -> None:
        if self._writer is not None:
            with suppress(Exception):  # else it would do so when it is collected, into a closed file
                self._writer.close()


class _Arrow(_Parquet):
    def _open(self, schema: Any) -> Any:
        import pyarrow as pa

        return pa.ipc.new_file(self._file, schema)


_AS_THEY_CAME: dict[str, type[Writer]] = {"csv": _CsvAsItCame, "ndjson": _JsonAsItCame}


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


def _without_nesting(table: Any) -> Any:
    """Lists and objects as JSON, since a cell of a CSV has no other form for them."""
    import json

    import pyarrow as pa

    for position, field in enumerate(table.schema):
        if pa.types.is_nested(field.type):
            values = table.column(position).to_pylist()
            texts = [None if value is None else json.dumps(value, default=str) for value in values]
            table = table.set_column(position, field.name, pa.array(texts, type=pa.string()))
    return table


def _truth(labels: Any) -> list[Any]:
    """Labels as values: true and false as such."""
    return [{"true": True, "false": False}.get(label, label) for label in labels.tolist()]


def _cells(labels: Any, delimiter: str) -> list[bytes]:
    """Labels as cells: quoted where a word needs it."""

    def cell(label: Any) -> bytes:
        text = str(label)
        if any(mark in text for mark in (delimiter, '"', "\n", "\r")):
            text = '"' + text.replace('"', '""') + '"'
        return text.encode()

    written = {label: cell(label) for label in set(labels.tolist())}
    return [written[label] for label in labels.tolist()]
