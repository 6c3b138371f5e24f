"""What all streams of files have in common: they are read one after the other, and it is known how far one has come."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Self

from lopsided.streams.bookmarks import Bookmark, Bookmarks, Place, both_ends, changed, heads_of, key_of, marked
from lopsided.streams.byte_source import ByteSource
from lopsided.streams.errors import StreamError
from lopsided.streams.sources import Sources
from lopsided.streams.topics import TopicSource, located


class NothingNewError(Exception):
    """All sources have been read to their end before; `finished` are their bookmarks."""

    def __init__(self, finished: list[Bookmark]) -> None:
        super().__init__(finished)
        self.finished = finished


class FileStream:
    """Files read once, in order; use it in a `with` statement.

    A format opens each file of `_paths` as `_source`. It may look for `_next_path` before it gets there, to know
    whether there is one. With `bookmarks` each file is gone on with where it was left; `finished` are the bookmarks of
    those that have been read to their end, before or now.
    """

    _source: ByteSource
    _next_path: str | None = None
    going_on: Bookmark | None = None  # of the present file, if it was begun before
    begins_anew = False  # whether the present one is another standard input than before

    def __init__(self, sources: Sources, bookmarks: Bookmarks | None = None) -> None:
        self.sources = sources
        self.finished: list[Bookmark] = []
        self._bookmarks = bookmarks or Bookmarks()
        self._paths = iter(sources)
        self._read_before = 0
        self._visits: Counter[str] = Counter()
        self._rows_here = 0
        self._bad_before = 0  # bad rows ahead that were dealt with before
        self._latest: Callable[[int], Bookmark] | None = None
        self._rows_of_latest = 0
        self._topics: list[tuple[str, int, TopicSource]] = []  # those that were opened, by name and visit

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._source.close()
        for _name, _visit, topic in self._topics:
            topic.close()

    @property
    def name(self) -> str:
        """The files, for a heading."""
        return self.sources.name

    @property
    def source_name(self) -> str:
        """The present file."""
        return self._source.name

    @property
    def is_topic(self) -> bool:
        """Whether the present source is a topic."""
        return isinstance(self._source, TopicSource)

    @property
    def n_lost(self) -> int:
        """Messages of a topic that are gone, and were not read before."""
        return getattr(self._source, "n_lost", 0)

    @property
    def bytes_read(self) -> int:
        """How far the reading has come, on disk."""
        return self._read_before + self._source.position

    # ---------------------------------------------------------------- from file to file

    def _first(self) -> ByteSource:
        """The first file that has something new; there must be one."""
        source = self._following()
        if source is None and self.finished:
            raise NothingNewError(self.finished)
        if source is None:
            raise StreamError(self.name, None, None, "must hold files", "none")
        return source

    def _following(self) -> ByteSource | None:
        """The next file that has something new; None at the end."""
        while True:
            path, self._next_path = self._next_path or next(self._paths, None), None
            if path is None:
                return None
            source = self._opened(path)
            if source is not None:
                self.path = path
                return source

    def _look_for_another(self) -> None:
        """Find out which file comes next; a stream that is followed cannot know."""
        self._next_path = None if self.sources.follow else next(self._paths, None)

    def _leave(self) -> None:
        """Close the file that has been read to its end."""
        self._read_before += self._source.position
        if self._latest is not None:
            self.finished.append(replace(self._latest(self._rows_of_latest), ended_at=self._source.total))
        elif self.going_on is not None:
            self.finished.append(self.going_on)
        if not self.is_topic:  # which may have to be told yet that what it gave is safe
            self._source.close()

    def _opened(self, path: str) -> ByteSource | None:
        """A file at the place where it is to be gone on with; None if there is nothing new in it."""
        key = key_of(path)
        mark = self._bookmarks.of(key, self._visits[key])
        self._visits[key] += 1
        self._latest = None
        source: Any = self.sources.open(path, None if mark is None else mark.offsets)
        if isinstance(source, TopicSource):
            self._topics.append((key, self._visits[key] - 1, source))
        try:
            has_more = mark is None or self._passed(source, path, mark)
        except BaseException:
            source.close()
            raise
        if mark is not None and not has_more:
            self._read_before += source.total or 0
            self.finished.append(mark)
            source.close()
            return None
        # Another standard input than before is read from its start.
        self.going_on, self.begins_anew = None if source.is_another else mark, source.is_another
        self._rows_here = 0 if self.going_on is None else self.going_on.rows
        self._bad_before = 0 if self.going_on is None else self.going_on.bad_ahead
        return source

    def _passed(self, source: ByteSource, path: str, mark: Bookmark) -> bool:
        """Go to the bookmark of a source that must be what it was; whether there may be anything behind it."""
        if mark.offsets:
            return True
        if mark.size is not None:
            if both_ends(path) != (mark.size, *mark.heads):
                raise changed(source.name, "another content")
            return mark.ended_at is None
        if mark.offset is None:
            source.is_another = not source.begins_with(mark.heads[-1])
            return True
        if mark.ended_at is not None and mark.ended_at == source.total and source.is_compressed:
            if not source.begins_with(mark.heads[-1]):
                raise changed(source.name, "another beginning")
            return source.may_wait
        return source.go_on_from(mark)

    # ---------------------------------------------------------------- bookmarks

    def _with_mark(self, chunk: Any) -> Any:
        """A chunk that can say how far its file has been read when so many of its rows have been taken."""
        if chunk.after is None:
            return chunk
        chunk.bad = [self._located(error) for error in chunk.bad]
        if self._bad_before:
            chunk.bad, self._bad_before = chunk.bad[self._bad_before :], max(0, self._bad_before - len(chunk.bad))
        source, path, before, after = self._source, self.path, self._rows_here, chunk.after

        def mark(n_rows: int) -> Bookmark:
            return _bookmark(source, path, after(n_rows), before + n_rows)

        chunk.mark, self._latest, self._rows_of_latest = mark, mark, chunk.n_rows
        self._rows_here += chunk.n_rows
        return chunk

    def _located(self, error: StreamError) -> StreamError:
        """An error of a row with its place in the source; that of a topic is a message."""
        return located(self._source, error, 0 if self.going_on is None else self.going_on.line)

    def confirm(self, bookmarks: Bookmarks) -> None:
        """What lies before these bookmarks is safe: topics that are shared with others are told."""
        for key, visit, topic in self._topics:
            mark = bookmarks.of(key, visit)
            if mark is not None:
                topic.commit(mark.offsets)


class ReadBefore:
    """A stream without rows: all its sources have been read to their end before."""

    columns: tuple[str, ...] = ()
    format = ""
    head_problem = None
    bytes_read = 0

    def __init__(self, sources: Sources, finished: list[Bookmark]) -> None:
        self.sources, self.finished = sources, finished
        self.name = sources.name

    def __exit__(self, *_: object) -> None:
        pass

    def chunks(self, expected: object) -> Iterator[Any]:
        """None."""
        return iter(())


def _bookmark(source: Any, path: str, place: Place, rows: int) -> Bookmark:
    facts: dict[str, Any] = {"bad_ahead": place.bad_ahead}
    if hasattr(source, "offsets_at"):
        facts["offsets"] = source.offsets_at(place.offset)
    elif place.offset is not None:
        facts["heads"], facts["tail"] = heads_of(source.first[: place.offset]), marked(place.tail)
    elif os.path.isfile(path):
        facts["size"], ends = both_ends(path)
        facts["heads"] = (ends,)
    else:
        facts["heads"] = heads_of(source.first)
    offset = None if "offsets" in facts else place.offset
    return Bookmark(key_of(path), rows, place.line, offset, **facts)
