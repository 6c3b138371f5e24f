"""One file or standard input as bytes: plain, gzip or zstd, in UTF-8 or made so."""

from __future__ import annotations

import gzip
import os
import select
import stat
import sys
import zlib
from collections.abc import Callable
from types import TracebackType
from typing import Any, BinaryIO

from lopsided.streams.bookmarks import HEAD_BYTES, Bookmark, changed, marked
from lopsided.streams.errors import StreamError
from lopsided.streams.transcoding import UTF_16, UTF_16_MARKS, Transcoded, needs_work

STANDARD_INPUT = "-"
# How files of these kinds begin; Arrow has one form to be looked into and one to be read on.
PARQUET_MAGIC, ARROW_MAGIC, ARROW_STREAM_MAGIC = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_MAGIC_BYTES = 8
_PEEKED_BYTES = 1 << 16
_PASSED_AT_ONCE = 1 << 20
_PATIENCE = 0.02  # seconds that a pipe may pause before what came is worked on

# Asked at the end of a file: True to look again, False to leave it.
Waiting = Callable[[], bool]
# Told of a file that has shrunk: its name, how far it had been read, its size now.
Shrunk = Callable[[str, int, int], None]


class ByteSource:
    """One open file or standard input, uncompressed and made UTF-8 on the way; use it in a `with` statement.

    The content, not the suffix, decides whether it is compressed. `position` is the number of bytes read of the file
    as it lies on disk, `total` its size there (None for a pipe). Without an `encoding` it is UTF-8, or UTF-16 if it
    begins with the mark of that. `shrunk` is told of a file that gets shorter while it is waited for.
    """

    def __init__(
        self, path: str, waiting: Waiting | None = None, encoding: str | None = None, shrunk: Shrunk | None = None
    ) -> None:
        self.name = "standard input" if path == STANDARD_INPUT else path
        self._waiting = waiting
        self._file = _opened(path, self.name)
        try:
            about = os.fstat(self._file.fileno())
            is_file = path != STANDARD_INPUT and stat.S_ISREG(about.st_mode)  # and not a named pipe
            self.total = about.st_size if is_file else None
            self.magic = self._first_bytes()
        except OSError as error:
            self._file.close()
            raise _unreadable(self.name, error) from error
        self._shrunk = shrunk
        self._size_seen: int | None = None
        self.encoding = encoding or (UTF_16 if self.magic.startswith(UTF_16_MARKS) else None)
        self._bytes: Any = self._as_utf_8(self._uncompressed())
        self._is_pipe = self._bytes is self._file and not self._file.seekable()

    def __enter__(self) -> ByteSource:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, but not standard input, which is not ours."""
        if self._bytes is not self._file:
            self._bytes.close()
        if self._file is not sys.stdin.buffer:
            self._file.close()

    @property
    def position(self) -> int:
        """Bytes read so far, before they were uncompressed."""
        if self._file.closed:  # read to its end
            return self.total or self._read_of_pipe
        if not self._file.seekable():
            return self._read_of_pipe
        return self._file.tell()

    @property
    def may_wait(self) -> bool:
        """Whether reading on may take as long as it takes somebody else to write."""
        return self._waiting is not None or self.total is None

    def peek(self) -> bytes:
        """The first bytes, uncompressed; `read` gives them again."""
        if not self._ahead:
            self._ahead = self._read(_PEEKED_BYTES)
        return self._ahead

    def go_on_from(self, mark: Bookmark) -> bool:
        """Pass what was read before without looking at rows; whether there is more of it, or refuse another content.

        Standard input that begins otherwise is another one: it is read from its start, and `offset` stays 0.
        """
        offset = mark.offset or 0
        start = self._exactly(mark.heads[-1][0])
        if marked(start) != mark.heads[-1]:
            if self.total is not None:
                raise changed(self.name, "another beginning")
            shorter = [head for head in mark.heads if head[0] <= len(start)]
            if len(start) < mark.heads[-1][0] and shorter and marked(start[: shorter[-1][0]]) == shorter[-1]:
                raise changed(self.name, "less than that")
            self._ahead = start + self._ahead
            self.is_another = True
            return True
        if self.total is not None and self._bytes is self._file and self.total < offset:
            raise changed(self.name, "less than that")
        to_tail = offset - mark.tail[0]
        if self._bytes is self._file and self._file.seekable() and len(start) == HEAD_BYTES:
            self._ahead = b""
            self._file.seek(to_tail)
            tail = self._exactly(mark.tail[0])
        else:
            passed = len(start)
            while passed < to_tail and (data := self._taken(min(_PASSED_AT_ONCE, to_tail - passed))):
                passed += len(data)
            tail = start[to_tail:]  # a head that reaches into the tail has been read already
            tail += self._exactly(mark.tail[0] - len(tail))
        if marked(tail) != mark.tail:
            raise changed(self.name, "less than that" if len(tail) < mark.tail[0] else "other rows in between")
        self.offset = offset
        return self.may_wait or bool(self.peek())

    def begins_with(self, head: tuple[int, str]) -> bool:
        """Whether the first bytes have this length and digest; `read` gives them again."""
        start = self._exactly(head[0])
        self._ahead = start + self._ahead
        return marked(start) == head

    @property
    def beginning(self) -> bytes:
        """The first bytes, by which a format is told, wherever reading goes on."""
        return self.first if self.offset else self.peek()

    @property
    def is_compressed(self) -> bool:
        """Whether bytes are uncompressed on the way."""
        return self._bytes is not self._file

    def _exactly(self, size: int) -> bytes:
        """So many bytes, fewer only at the end; a pipe is waited for."""
        parts, missing = [], size
        while missing > 0 and (data := self._taken(missing)):
            parts.append(data)
            missing -= len(data)
        return b"".join(parts)

    def _taken(self, size: int) -> bytes:
        data = self.read(size)
        if len(data) > size:  # of a pipe that had more ahead
            data, self._ahead = data[:size], data[size:] + self._ahead
        return data

    is_another = False  # a pipe that begins otherwise than the one that was read before
    offset = 0  # bytes, uncompressed, that were passed because they had been read before
    first = b""  # the first bytes, uncompressed, by which the source is recognised

    def read(self, size: int) -> bytes:
        """Up to so many bytes, at least one; none at all only at the end."""
        if not self._ahead:
            return self._read(size)
        ahead, self._ahead = self._ahead, b""
        return ahead if self.may_wait or len(ahead) >= size else ahead + self._read(size - len(ahead))

    _ahead = b""

    def _read(self, size: int) -> bytes:
        while True:
            try:
                data = self._read_pipe(size) if self._is_pipe else self._bytes.read(size)
            except UnicodeError as error:
                raise self._not_in(error) from error
            except (OSError, EOFError, zlib.error, ValueError) as error:
                rule = "must be readable to the end"
                raise StreamError(self.name, None, None, rule, f'"{error}"') from error
            if not data:
                self._look_whether_it_shrank()
            if data or self._waiting is None or not self._waiting():
                if len(self.first) < HEAD_BYTES:
                    self.first += data[: HEAD_BYTES - len(self.first)]
                return bytes(data)

    def _look_whether_it_shrank(self) -> None:
        """Somebody who empties a file that is followed, and fills it again, writes rows that nobody reads."""
        if self._waiting is None or self.total is None or self._shrunk is None:
            return
        size, position = os.fstat(self._file.fileno()).st_size, self._file.tell()
        if size < (position if self._size_seen is None else self._size_seen):
            self._shrunk(self.name, position, size)
        self._size_seen = size

    def _not_in(self, error: UnicodeError) -> StreamError:
        got = f'"{error}"'
        if isinstance(error, UnicodeDecodeError) and error.start < len(error.object):
            got = f"byte 0x{error.object[error.start]:02x}, which is none"
        rule = f"must be text in {self.encoding}, the encoding that was named or that its first bytes say"
        return StreamError(self.name, None, None, rule, got, argument="encoding")

    _read_of_pipe = 0

    def _read_pipe(self, size: int) -> bytes:
        """What a pipe has to give: a slow one is not waited for, a fast one fills the block."""
        descriptor = self._file.fileno()
        parts = [self._start] if self._start else [os.read(descriptor, size)]
        held = len(parts[0])
        self._start = b""
        while held < size and parts[-1] and select.select([descriptor], [], [], _PATIENCE)[0]:
            parts.append(os.read(descriptor, size - held))
            held += len(parts[-1])
        self._read_of_pipe += held
        return b"".join(parts)

    _start = b""

    def _first_bytes(self) -> bytes:
        if self._file.seekable():
            start = self._file.read(_MAGIC_BYTES)
            self._file.seek(0)
            return start
        self._start = os.read(self._file.fileno(), 1 << 16)
        return self._start[:_MAGIC_BYTES]

    def _as_utf_8(self, file: Any) -> Any:
        is_binary = self.magic.startswith((PARQUET_MAGIC, ARROW_MAGIC, ARROW_STREAM_MAGIC))
        if is_binary or not needs_work(self.encoding):
            return file
        assert self.encoding is not None
        whole, is_ours = (self._whole(), False) if file is self._file else (file, True)
        return Transcoded(whole, self.encoding, is_followed=self._waiting is not None, closes=is_ours)

    def _uncompressed(self) -> Any:
        if self.magic.startswith(_GZIP_MAGIC):
            return gzip.GzipFile(fileobj=self._whole())
        if self.magic.startswith(_ZSTD_MAGIC):
            import pyarrow as pa

            return pa.CompressedInputStream(pa.PythonFile(self._whole(), mode="r"), "zstd")
        return self._file

    def _whole(self) -> Any:
        """The file from its first byte on, also if some were taken from a pipe already."""
        return self._file if self._file.seekable() else _Rejoined(self._start, self._file)


class _Rejoined:
    """A pipe with its first bytes put back, for decompressors."""

    closed = False

    def __init__(self, start: bytes, file: BinaryIO) -> None:
        self._start, self._file = start, file

    def read(self, size: int = -1) -> bytes:
        if not self._start:
            return os.read(self._file.fileno(), size if size > 0 else 1 << 20)
        taken = self._start if size < 0 else self._start[:size]
        self._start = self._start[len(taken) :]
        return taken

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def writable(self) -> bool:
        return False

    def close(self) -> None:
        pass


def _opened(path: str, name: str) -> Any:
    if path == STANDARD_INPUT:
        return sys.stdin.buffer
    try:
        return open(path, "rb", buffering=0)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise _unreadable(name, error) from error


def _unreadable(name: str, error: Exception) -> StreamError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return StreamError(name, None, None, "must be an existing, readable file", f'"{reason}"')
