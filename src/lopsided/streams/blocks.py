"""A source of bytes, cut into blocks of complete records with the number of their first line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from lopsided.numerals import counted
from lopsided.streams.bookmarks import TAIL_BYTES, Place
from lopsided.streams.byte_source import ByteSource
from lopsided.streams.errors import StreamError

BLOCK_BYTES = 4 << 20
LONGEST_RECORD = 32 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_QUOTE, NEW_LINE = b'"', b"\n"


class Block(NamedTuple):
    """Whole records of one source; `offset` is where they begin in it, in bytes."""

    source: str
    first_line: int
    data: bytes
    offset: int = 0

    def place_at(self, end: int) -> Place:
        """Where one is after so many bytes of the block."""
        before = self.data[:end]
        return Place(self.offset + end, self.first_line - 1 + before.count(NEW_LINE), before[-TAIL_BYTES:])


def cut_at_lines(
    source: ByteSource, size: int = BLOCK_BYTES, *, lines_before: int = 0
) -> Iterator[Block | StreamError]:
    """Blocks that end at a line end; a line beyond all measure comes as an error in its place."""
    return _cut(source, size, None, lines_before)


def cut_at_records(
    source: ByteSource, delimiter: str, size: int = BLOCK_BYTES, *, lines_before: int = 0
) -> Iterator[Block | StreamError]:
    """Blocks that end at a line end outside of quotes."""
    return _cut(source, size, delimiter, lines_before)


def _cut(source: ByteSource, size: int, delimiter: str | None, lines_before: int) -> Iterator[Block | StreamError]:
    line, held = lines_before + 1, b""
    pieces = _Pieces(source, size)
    for data, is_last in pieces:
        held += data
        end = len(held) if is_last and _is_closed(held, delimiter) else _end_of_last_record(held, delimiter)
        if end:
            offset = pieces.offset - len(held)
            block, held = held[:end], held[end:]
            yield Block(source.name, line, block, offset)
            line += block.count(b"\n")
        elif len(held) > LONGEST_RECORD:
            error, held = _give_up(source.name, pieces, held, line)
            yield error
            line += 1
    while held:  # the last record has no line end, or the last quote no partner
        if _is_closed(held, delimiter):
            yield Block(source.name, line, held, pieces.offset - len(held))
            return
        error, held = _give_up(source.name, pieces, held, line)
        yield error
        line += 1
        end = _end_of_last_record(held, delimiter)
        if end:
            yield Block(source.name, line, held[:end], pieces.offset - len(held))
            line, held = line + held.count(b"\n", 0, end), held[end:]


def place_after(
    block: Block, ends: Iterable[int], kept: Sequence[int] | None, bad: Sequence[StreamError], n_all: int, n: int
) -> Place:
    """Where one is when `n` of the `n_all` good rows of a block have been taken.

    `ends` are the ends of its lines or records, of which blank ones are none; `kept` are the numbers of the good ones
    (None: all of them). Bad rows behind the place have been dealt with, since that is done for a block at once.
    """
    if n == n_all:
        return block.place_at(len(block.data))
    end = _end_of_record(block.data, ends, n if kept is None or not n else kept[n - 1] + 1)
    place = block.place_at(end)
    return place._replace(bad_ahead=sum((error.line or 0) > place.line for error in bad))


def _end_of_record(data: bytes, ends: Iterable[int], number: int) -> int:
    """Where the record of this number ends, counted from 1."""
    start = passed = 0
    for end in ends:
        if passed == number:
            break
        passed += bool(data[start:end].strip())
        start = end
    return start


def line_ends(data: bytes) -> list[int]:
    """The end of every line."""
    places = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n")) + 1
    return places.tolist()


def _is_closed(data: bytes, delimiter: str | None) -> bool:
    """Whether a line end here would end a record."""
    if delimiter is None or _QUOTE not in data:
        return True
    return _end_of_last_record(data + b"\n", delimiter) == len(data) + 1


class _Pieces:
    """What is read, and whether it is known to be the last: only a file that does not grow can be looked ahead.

    `offset` is where the latest piece ends. Pieces end at multiples of their size, also where reading began in between:
    a file that is gone on with is cut into the same blocks.
    """

    def __init__(self, source: ByteSource, size: int) -> None:
        self.offset = source.offset
        self._pieces = self._read(source, size)

    def __iter__(self) -> _Pieces:
        return self

    def __next__(self) -> tuple[bytes, bool]:
        data, is_last = next(self._pieces)
        self.offset += len(data)
        return data, is_last

    def _read(self, source: ByteSource, size: int) -> Iterator[tuple[bytes, bool]]:
        data = source.read(size - source.offset % size)
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
        got = f"one that is still open {counted(held.count(NEW_LINE), 'line')} later"
        return StreamError(name, line, None, "must close every quote that it opens", got), held[end:]
    if len(held) <= LONGEST_RECORD:  # as of a file that was cut off
        got = "one that is still open at the end of the file"
        return StreamError(name, line, None, "must close every quote that it opens", got), b""
    while not end:  # one endless line: nothing of it is kept
        held, _ = next(pieces, (b"", True))
        if not held:
            break
        end = held.find(b"\n") + 1
    rule = f"must be shorter than {LONGEST_RECORD >> 20} MB"
    return StreamError(name, line, None, rule, "a longer one"), held[end:]
