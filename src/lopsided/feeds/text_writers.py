"""Scored rows as text: CSV and NDJSON, as the rows came or made anew."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from lopsided.feeds.feed import Feed
from lopsided.feeds.portions import Portion
from lopsided.feeds.writers import NEW_COLUMNS, Writer, truth
from lopsided.streams.errors import StreamError


class CsvAsItCame(Writer):
    """CSV to CSV: the bytes of every row as they were, and three cells more."""

    can_be_read_early = takes_records = True
    _header = b""

    def _append(self, portion: Portion, scores: Any, probabilities: Any, predicted: Any) -> None:
        delimiter = self.feed.stream.delimiter
        chunk = portion.chunk
        assert chunk is not None
        if not self._header:
            self._header = chunk.header or b""
            self._file.write(self._header + (delimiter + delimiter.join(NEW_COLUMNS) + "\n").encode())
        if chunk.records is None or chunk.header != self._header:
            rule = "must have the header of the files before it if rows are to be written as they came"
            raise StreamError(chunk.source, None, None, rule, "another" if chunk.header else "none", argument="keep")
        cells = zip(chunk.records(), scores.tolist(), probabilities.tolist(), _cells(predicted, delimiter), strict=True)
        between = delimiter.encode()
        self._file.write(b"".join([
            record + between + repr(score).encode() + between + b"%.6g" % probability + between + label + b"\n"
            for record, score, probability, label in cells
        ]))  # fmt: skip


class JsonAsItCame(Writer):
    """NDJSON to NDJSON: every object as it was, with three members more."""

    can_be_read_early = takes_records = True

    def _append(self, portion: Portion, scores: Any, probabilities: Any, predicted: Any) -> None:
        if portion.chunk is None or portion.chunk.records is None or portion.chunk.header is not None:
            rule = "must be NDJSON as the files before it if rows are to be written as they came"
            source = portion.chunk.source if portion.chunk else self.feed.name
            raise StreamError(source, None, None, rule, "another format", argument="keep")
        lines = []
        rows = zip(portion.chunk.records(), scores.tolist(), probabilities.tolist(), truth(predicted), strict=True)
        for record, score, probability, label in rows:
            inside = record[1:-1].strip()
            new = f'"score":{score!r},"probability":{probability:.6g},"predicted":{json.dumps(label)}}}\n'.encode()
            lines.append(b"{" + (inside + b"," if inside else b"") + new)
        self._file.write(b"".join(lines))


class CsvWriter(Writer):
    """Rows of any format as CSV."""

    can_be_read_early = True

    def __init__(self, path: str | None, feed: Feed, keep: str, delimiter: str, *, at_once: bool = False) -> None:
        super().__init__(path, feed, keep, at_once=at_once)
        self._delimiter = delimiter

    def _append(self, portion: Portion, scores: Any, probabilities: Any, predicted: Any) -> None:
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


class JsonWriter(Writer):
    """Rows of any format as NDJSON."""

    can_be_read_early = True

    def _append(self, portion: Portion, scores: Any, probabilities: Any, predicted: Any) -> None:
        table = self._table(portion, scores, probabilities, predicted)
        self._file.write("".join(json.dumps(row, default=str) + "\n" for row in table.to_pylist()).encode())


def _without_nesting(table: Any) -> Any:
    """Lists and objects as JSON, since a cell of a CSV has no other form for them."""
    import pyarrow as pa

    for position, field in enumerate(table.schema):
        if pa.types.is_nested(field.type):
            values = table.column(position).to_pylist()
            texts = [None if value is None else json.dumps(value, default=str) for value in values]
            table = table.set_column(position, field.name, pa.array(texts, type=pa.string()))
    return table


def _cells(labels: Any, delimiter: str) -> list[bytes]:
    """Labels as cells: quoted where a word needs it."""

    def cell(label: Any) -> bytes:
        text = str(label)
        if any(mark in text for mark in (delimiter, '"', "\n", "\r")):
            text = '"' + text.replace('"', '""') + '"'
        return text.encode()

    written = {label: cell(label) for label in set(labels.tolist())}
    return [written[label] for label in labels.tolist()]
