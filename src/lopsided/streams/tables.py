"""Tables as one stream, whatever their format: files one after the other, columns found by their names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any, Protocol

from lopsided.streams.blocks import BYTE_ORDER_MARK, Block, cut_at_lines, cut_at_records
from lopsided.streams.bookmarks import Bookmarks
from lopsided.streams.byte_source import ARROW_MAGIC, ARROW_STREAM_MAGIC, PARQUET_MAGIC, ByteSource
from lopsided.streams.cells import Expected
from lopsided.streams.chunks import Chunk
from lopsided.streams.errors import StreamError, shown_columns
from lopsided.streams.file_stream import FileStream
from lopsided.streams.libsvm import looks_like_libsvm
from lopsided.streams.sources import Sources
from lopsided.streams.topics import is_topic, located

FORMATS = CSV, NDJSON, PARQUET, ARROW, LIBSVM = ("csv", "ndjson", "parquet", "arrow", "libsvm")
HEAD_ROWS = 1000

_SUFFIXES = {
    ".csv": CSV, ".tsv": CSV, ".tab": CSV, ".ndjson": NDJSON, ".jsonl": NDJSON, ".parquet": PARQUET, ".pq": PARQUET,
    ".arrow": ARROW, ".feather": ARROW, ".ipc": ARROW, ".arrows": ARROW,
    ".libsvm": LIBSVM, ".svm": LIBSVM, ".svmlight": LIBSVM, ".t": LIBSVM,
}  # fmt: skip
_COMPRESSED = {".gz", ".zst", ".zstd"}
_TABBED = {".tsv", ".tab"}
NUMBERED = re.compile(r"column_[0-9]+")
_ARRAY = re.compile(rb"\[(?:[\s{\[\]]|$)")  # and not the header [amount],[kind]


class OpenTable(Protocol):
    """One open file of a format."""

    name: str
    format: str
    columns: list[str]
    has_fixed_columns: bool  # False if the columns are only those that the first rows happen to have

    def head(self, n_rows: int, look_on: bool) -> tuple[dict[str, list[Any]], bool]:
        """The first rows by column, and whether these are known to be all; `look_on` allows to read on for that."""
        ...

    def chunks(self, expected: Sequence[Expected]) -> Iterator[Chunk]:
        """All rows, those of the head too."""
        ...


class TableStream(FileStream):
    """Tables read once, in order; use it in a `with` statement.

    The first file is opened at once: `columns` are its columns, `head` its first rows by column and `is_whole` whether
    these are all rows of the stream. `chunks` reads on. In later files a column may be new (noted in the first chunk of
    that file, and not read), but none that is expected may be missing.
    """

    def __init__(
        self,
        sources: Sources,
        *,
        file_format: str | None = None,
        delimiter: str | None = None,
        has_header: bool = True,
        head_rows: int = HEAD_ROWS,
        bookmarks: Bookmarks | None = None,
    ) -> None:
        super().__init__(sources, bookmarks)
        self._format, self._delimiter, self.has_header = file_format, delimiter, has_header
        self._source, self._table = self._as_open_table(self._first())
        try:
            self._look_ahead(head_rows)
        except BaseException:
            self._source.close()
            raise

    def _look_ahead(self, head_rows: int) -> None:
        self._look_for_another()
        self.columns = self._table.columns
        self.format = self._table.format
        self.delimiter: str = getattr(self._table, "delimiter", ",")
        self.head: dict[str, list[Any]] = {}
        self.head_problem: StreamError | None = None
        self.header_note: str | None = None
        self.is_whole = False
        if self.going_on is None:  # whoever goes on knows what the columns are
            self.head, whole = self._table.head(head_rows, look_on=not self._source.may_wait)
            self.head_problem = getattr(self._table, "head_problem", None)
            self.header_note = getattr(self._table, "note", None)
            self.is_whole = whole and self._next_path is None and not self.sources.follow

    def chunks(self, expected: Sequence[Expected]) -> Iterator[Chunk]:
        """All rows of all files."""
        known = set(self.columns)
        while True:
            self._check_columns(expected)
            new = [name for name in self._table.columns if name not in known]
            known.update(new)
            for chunk in self._table.chunks(expected):
                self.sources.noticed()
                chunk.new_columns, new = new, []
                yield self._with_mark(chunk)
            self._leave()
            source = self._following()
            if source is None:
                return
            self._source, self._table = self._as_open_table(source)

    def _as_open_table(self, source: ByteSource) -> tuple[ByteSource, OpenTable]:
        try:
            return source, self._as_table(source, self.path)
        except StreamError as error:
            source.close()
            raise located(source, error, 0 if self.going_on is None else self.going_on.line) from error
        except BaseException:
            source.close()
            raise

    def _as_table(self, source: ByteSource, path: str) -> OpenTable:
        file_format = self._format or (NDJSON if is_topic(path) else format_of(source, path))
        lines_before = 0 if self.going_on is None else self.going_on.line
        if file_format in (PARQUET, ARROW):
            from lopsided.streams.arrow_tables import ArrowTable

            return ArrowTable.of(source, is_parquet=file_format == PARQUET, rows_before=lines_before)
        if file_format == NDJSON:
            from lopsided.streams.json_tables import JsonTable

            blocks = cut_at_lines(source, lines_before=lines_before)
            return JsonTable(source.name, blocks, may_be_empty=self.going_on is not None)
        if file_format == LIBSVM:
            if source.total is None:
                rule = "must be said to be of the format libsvm, because a pipe cannot be looked into beforehand"
                raise StreamError(source.name, None, None, rule, "what looks like it", argument="format")
            rule = f"must be of the same format as {self.sources.paths[0]} (table)"
            raise StreamError(source.name, None, None, rule, "a LIBSVM file")
        from lopsided.streams.csv_header import usual_delimiter
        from lopsided.streams.csv_tables import CsvTable

        delimiter = self._delimiter or ("\t" if _suffix(path) in _TABBED else None)
        if delimiter is None:
            delimiter = usual_delimiter(source.beginning)
        blocks = cut_at_records(source, delimiter, lines_before=lines_before)
        if not source.offset:
            return CsvTable(source.name, blocks, delimiter, has_header=self.has_header)
        start = Block(source.name, 1, source.first[: source.first.rfind(b"\n") + 1])
        return CsvTable(source.name, iter([start]), delimiter, going_on=blocks, has_header=self.has_header)

    def _check_columns(self, expected: Sequence[Expected]) -> None:
        here = getattr(self._table, "all_columns", self._table.columns)
        for expectation in expected:
            if expectation.name not in here and self._table.has_fixed_columns:
                rule = f"must hold the column {expectation.name!r}"
                argument = "header" if NUMBERED.fullmatch(expectation.name) else None  # read without one before
                raise StreamError(self._table.name, None, None, rule, f"only {shown_columns(here)}", argument=argument)


def format_of(source: ByteSource, path: str) -> str:
    """The format of a file by its first bytes or its suffix; by its first lines if neither tells."""
    if source.magic.startswith(PARQUET_MAGIC):
        return PARQUET
    if source.magic.startswith((ARROW_MAGIC, ARROW_STREAM_MAGIC)):
        return ARROW
    known = _SUFFIXES.get(_suffix(path))
    if known is not None:
        return known
    start = source.beginning.removeprefix(BYTE_ORDER_MARK).lstrip()
    if start.startswith(b"{"):
        return NDJSON
    if _ARRAY.match(start):
        rule = "must hold one JSON object a line, as `jq -c '.[]'` makes of an array"
        raise StreamError(source.name, None, None, rule, "a JSON array")
    return LIBSVM if looks_like_libsvm(start) else CSV


def _suffix(path: str) -> str:
    """The suffix that tells the format: `data.csv.gz` is a .csv file."""
    pure = PurePath(path)
    if pure.suffix.lower() in _COMPRESSED:
        pure = pure.with_suffix("")
    return pure.suffix.lower()
