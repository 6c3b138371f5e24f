"""Rows with three columns more: what writers of all formats have in common."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from lopsided.feeds.feed import Feed
from lopsided.feeds.portions import Portion
from lopsided.streams.errors import StreamError
from lopsided.streams.sources import topic_to_write
from lopsided.streams.topics import is_topic

NEW_COLUMNS = ("score", "probability", "predicted")


def check_names_are_free(columns: Sequence[str], source: str) -> None:
    """New columns must not be called as old ones."""
    taken = [name for name in NEW_COLUMNS if name in columns]
    if taken:
        rule = f"must not have columns called {', '.join(NEW_COLUMNS)} already"
        raise StreamError(source, None, None, rule, ", ".join(taken))


class Writer:
    """A file that takes portions with their scores. It appears under its name when it is whole, or not at all.

    A link stays a link; what is no file, such as a pipe, is written into. Rows of a stream that nobody knows the end of
    are there at once: `at_once` writes into the file itself, and leaves nothing in a buffer. A topic takes each row as
    a message, and `write` returns when its broker has confirmed them all.
    """

    can_be_read_early = False  # before the end is written
    takes_records = False  # the bytes of rows as they came, instead of a table

    def __init__(self, path: str | None, feed: Feed, keep: str, *, at_once: bool = False) -> None:
        self.feed, self.keep, self.at_once = feed, keep, at_once
        self._file: BinaryIO
        self._topic = topic_to_write(path) if path is not None and is_topic(path) else None
        self._target = None if path is None or self._topic is not None else Path(path).resolve()
        self._part: Path | None = None
        if self._topic is not None:
            self._file, self.at_once = self._topic, True
        elif self._target is None:
            self._file = sys.stdout.buffer
        elif self._target.exists() and not self._target.is_file():
            self._file = self._target.open("wb", buffering=0)
        elif at_once and self.can_be_read_early:
            self._file = self._target.open("wb")
        else:
            self._part = self._target.with_name(f"{self._target.name}.part")
            self._file = self._part.open("wb")
        self._columns: list[str] = []
        self._late: set[str] = set()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if self._topic is not None:
            self._topic.close()
            return
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
        self._append(portion, scores, probabilities, predicted)
        if self.at_once:
            self._file.flush()

    def _append(self, portion: Portion, scores: Any, probabilities: Any, predicted: Any) -> None:
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
            zip(NEW_COLUMNS, (pa.array(scores), pa.array(probabilities), pa.array(truth(predicted))), strict=True)
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


def truth(labels: Any) -> list[Any]:
    """Labels as values: true and false as such."""
    return [{"true": True, "false": False}.get(label, label) for label in labels.tolist()]
