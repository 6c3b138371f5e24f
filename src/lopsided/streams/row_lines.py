"""On which line each row of a text file stands, good rows and bad ones alike.

Streams number bad rows by their lines and good ones not at all, since blocks are read at once. Who wants one row by its
number in a file with bad rows has to count again.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from lopsided.streams.blocks import BYTE_ORDER_MARK, Block, cut_at_lines, cut_at_records
from lopsided.streams.csv_tables import record_lines
from lopsided.streams.errors import StreamError
from lopsided.streams.sources import Sources
from lopsided.streams.tables import CSV, LIBSVM


def line_of_row(
    path: str,
    row: int,
    file_format: str,
    delimiter: str = ",",
    *,
    has_header: bool = True,
    encoding: str | None = None,
) -> int:
    """The line of a row that is there, counted from 1 without the header, in a CSV, NDJSON or LIBSVM file."""
    with Sources([path], encoding=encoding).open(path) as source:
        if file_format == CSV:
            lines = record_lines(cut_at_records(source, delimiter), delimiter)
            return next(islice(lines, row if has_header else row - 1, None))
        return next(islice(_lines(cut_at_lines(source), has_comments=file_format == LIBSVM), row - 1, None))


def _lines(blocks: Iterator[Block | StreamError], *, has_comments: bool) -> Iterator[int]:
    """Every line with a row."""
    for block in blocks:
        if isinstance(block, StreamError):
            yield block.line or 0
            continue
        for line, text in enumerate(block.data.split(b"\n"), start=block.first_line):
            row = text.partition(b"#")[0] if has_comments else text
            if row.removeprefix(BYTE_ORDER_MARK).strip():
                yield line
