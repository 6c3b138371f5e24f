"""The lines of a text file, plain or gzip, with what an error message and a progress bar need."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from types import TracebackType
from typing import BinaryIO, cast

from lopsided.streams.errors import StreamError

_GZIP_MAGIC = b"\x1f\x8b"


class TextLines:
    """An open text file, line by line; use it in a `with` statement, which closes it in every case.

    The content, not the suffix, decides whether the file is compressed. `number` is the 1-based number
    of the last line handed out and `position` the bytes of the file on disk that were read so far.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.source = os.fspath(path)
        self.number = 0
        try:
            # Closed by __exit__; a `with` here would close the file before its first line is read.
            self._file = open(self.source, "rb")  # noqa: SIM115
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name
            raise _unreadable(self.source, error) from error
        try:
            compressed = self._file.peek(2)[:2] == _GZIP_MAGIC
        except OSError as error:
            self._file.close()
            raise _unreadable(self.source, error) from error
        self._text = cast(BinaryIO, gzip.GzipFile(fileobj=self._file)) if compressed else self._file

    def __enter__(self) -> TextLines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._text.close()
        self._file.close()  # closing a GzipFile leaves the file below it open

    @property
    def position(self) -> int:
        """Bytes of the file on disk read so far; of a compressed file the compressed ones."""
        return self._file.tell()

    @property
    def closed(self) -> bool:
        return self._file.closed

    def __iter__(self) -> Iterator[str]:
        """The remaining lines, each with its line end; a byte-order mark is dropped."""
        lines = iter(self._text)
        while True:
            try:
                raw = next(lines)
            except StopIteration:
                return
            except (OSError, EOFError, zlib.error) as error:  # a damaged or truncated gzip file
                self.number += 1  # the line that could not be read
                raise self._refuse("must be readable to the end of the file", f'"{error}"') from error
            self.number += 1
            if b"\0" in raw:
                got = f"one at byte {raw.index(0) + 1} of the line"
                raise self._refuse("must be text without NUL bytes", got)
            try:
                text = raw.decode("utf-8")
            except UnicodeDecodeError as error:
                got = f"byte 0x{raw[error.start]:02x} at byte {error.start + 1} of the line"
                raise self._refuse("must be UTF-8 text", got) from error
            yield text.removeprefix("\ufeff") if self.number == 1 else text

    def _refuse(self, rule: str, got: str) -> StreamError:
        return StreamError(self.source, self.number, "the text", rule, got)


def _unreadable(source: str, error: Exception) -> StreamError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return StreamError(source, None, None, "must be an existing, readable file", f'"{reason}"')
