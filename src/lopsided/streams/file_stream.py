"""What all streams of files have in common: they are read one after the other, and it is known how far one has come."""

from __future__ import annotations

from typing import Self

from lopsided.streams.errors import StreamError
from lopsided.streams.sources import ByteSource, Sources


class FileStream:
    """Files read once, in order; use it in a `with` statement.

    A format opens each file of `_paths` as `_source`. It may look for `_next_path` before it gets there, to know
    whether there is one.
    """

    _source: ByteSource
    _next_path: str | None = None

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._paths = iter(sources)
        self._read_before = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._source.close()

    @property
    def name(self) -> str:
        """The files, for a heading."""
        return self.sources.name

    @property
    def bytes_read(self) -> int:
        """How far the reading has come, on disk."""
        return self._read_before + self._source.position

    def _first_path(self) -> str:
        """The first file, which must be there."""
        path = next(self._paths, None)
        if path is None:
            raise StreamError(self.name, None, None, "must hold files", "none")
        return path

    def _look_for_another(self) -> None:
        """Find out which file comes next; a stream that is followed cannot know."""
        self._next_path = None if self.sources.follow else next(self._paths, None)

    def _leave(self) -> str | None:
        """Close the file that has been read; returns the next one, None at the end."""
        self._read_before += self._source.position
        self._source.close()
        path, self._next_path = self._next_path or next(self._paths, None), None
        return path
