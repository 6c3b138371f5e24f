"""A source of bytes, cut into blocks of complete records with the number of their first line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from lopsided.streams.errors import StreamError
from lopsided.streams.sources import ByteSource

BLOCK_BYTES = 4 << 20
LONGEST_RECORD = 32 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_QUOTE, NEW_LINE = b'"', b"\n"


class Block(NamedTuple):
    """Whole records of one source."""

    source: str
    first_line: int
    data: bytes


def cut_at_lines(source: ByteSource, size: int = BLOCK_BYTES) -> Iterator[Block | StreamError]:
    """Blocks that end at a line end; a line beyond all measure comes as an error in its place."""
    return _cut(source, size, delimiter=None)


def cut_at_records(source: ByteSource, delimiter: str, size: int = BLOCK_BYTES) -> Iterator[Block | StreamError]:
    """Blocks that end at a line end outside of quotes."""
    return _cut(source, size, delimiter)


def _cut(source: ByteSource, size: int, delimiter: str | None) -> Iterator[Block | StreamError]:
    line, held = 1, b""
    pieces = _pieces(source, size)
    for data, is_last in pieces:
        held += data
        end = len(held) if is_last and _is_closed(held, delimiter) else _end_of_last_record(held, delimiter)
        if end:
            block, held = held[:end], held[end:]
            yield Block(source.name, line, block)
            line += block.count(b"\n")
        elif len(held) > LONGEST_RECORD:
            error, held = _give_up(source.name, pieces, held, line)
            yield error
            line += 1
    while held:  # the last record has no line end, or the last quote no partner
        if _is_closed(held, delimiter):
            yield Block(source.name, line, held)
            return
        error, held = _give_up(source.name, pieces, held, line)
        yield error
        line += 1
        end = _end_of_last_record(held, delimiter)
        if end:
            yield Block(source.name, line, held[:end])
            line, held = line + held.count(b"\n", 0, end), held[end:]


def _is_closed(data: bytes, delimiter: str | None) -> bool:
    """Whether a line end here would end a record."""
    if delimiter is None or _QUOTE not in data:
        return True
    return _end_of_last_record(data + b"\n", delimiter) == len(data) + 1


def _pieces(source: ByteSource, size: int) -> Iterator[tuple[bytes, bool]]:
    """What is read, and whether it is known to be the last: only a file that does not grow can be looked ahead."""
    data = source.read(size)
    while data:
        following = b"" if source.may_wait else source.read(size)
        yield data, not following and not source.may_wait
        data = source.read(size) if source.may_wait else following


def _end_of_last_record(data: bytes, delimiter: str | None) -> int:
    if delimiter is None or _QUOTE not in data:
        return data.rfind(b"\n") + 1
    ends = record_ends(data, delimiter)
    return int(ends[-1]) if ends.size else 0


def record_ends(data: bytes, delimiter: str) -> np.typing.NDArray[np.int64]:
    """The end of every complete record of a table."""
    from lopsided.streams.parsing.records import find_records

    ends = np.empty(data.count(b"\n"), dtype=np.int64)
    found = find_records(np.frombuffer(data, dtype=np.uint8), ord(_QUOTE), ord(delimiter), ends)
    return ends[:found]


def _give_up(name: str, pieces: Iterator[tuple[bytes, bool]], held: bytes, line: int) -> tuple[StreamError, bytes]:
    """A record that does not end: its first line is left out, whatever was quoted there."""
    end = held.find(b"\n") + 1
    if end:
        got = f"one that is still open {held.count(NEW_LINE)} lines later"
        return StreamError(name, line, None, "must close every quote that it opens", got), held[end:]
    while not end:  # one endless line: nothing of it is kept
        held, _ = next(pieces, (b"", True))
        if not held:
            break
        end = held.find(b"\n") + 1
    rule = f"must be shorter than {LONGEST_RECORD >> 20} MB"
    return StreamError(name, line, None, rule, "a longer one"), held[end:]
