"""How far a source has been read, in a form that a later process can go on from.

A bookmark is about what was read, not about the rest: a file may grow behind it, and a bad row behind it may be mended.
It recognises its source by the first bytes and by those just before it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from lopsided.streams.errors import StreamError
from lopsided.streams.topics import is_topic, topic_itself

HEAD_BYTES = 1 << 16
_RUNGS = (1 << 8, 1 << 10, 1 << 12, 1 << 14, HEAD_BYTES)  # by which the beginning of something shorter is recognised
TAIL_BYTES = 1 << 12


class Place(NamedTuple):
    """A place between two rows of one source.

    `offset` is in bytes, uncompressed; None for a format that has rows and no lines. `line` is the number of lines (or
    rows) before it, `tail` the last bytes before it, and `bad_ahead` the number of bad rows behind it that have been
    dealt with already, together with rows before it.
    """

    offset: int | None
    line: int
    tail: bytes = b""
    bad_ahead: int = 0


@dataclass(frozen=True)
class Bookmark:
    """How far one source has been read.

    `source` is the absolute path, - or a topic. `rows` were taken from it. `heads` and `tail` are lengths and digests
    of the bytes by which it is recognised, the longest head last; a file without lines must be the same as a whole, by
    `size` and the digest of both its ends. `ended_at` is the size on disk of a file that was read to its end. `offsets`
    are those of a topic's partitions.
    """

    source: str
    rows: int
    line: int
    offset: int | None = None
    heads: tuple[tuple[int, str], ...] = ()
    tail: tuple[int, str] = (0, "")
    bad_ahead: int = 0
    size: int | None = None
    ended_at: int | None = None
    offsets: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        heads = [list(head) for head in self.heads]
        return asdict(self) | {"heads": heads, "tail": list(self.tail), "offsets": dict(self.offsets)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Bookmark:
        """The bookmark of such values."""
        heads = tuple((int(length), str(digest)) for length, digest in values["heads"])
        length, digest = values["tail"]
        source = str(values["source"])
        source = topic_itself(source) if is_topic(source) else source  # older files have more than that
        return cls(**{**values, "source": source, "heads": heads, "tail": (int(length), str(digest))})


class Bookmarks:
    """The bookmarks of all sources that a model has learned from.

    A source may be named several times on purpose, and is then read as often: its visits are counted.
    """

    def __init__(self, marks: Iterable[Bookmark] = ()) -> None:
        self._marks: dict[str, list[Bookmark]] = {}
        for mark in marks:
            self._marks.setdefault(mark.source, []).append(mark)

    def __iter__(self) -> Iterator[Bookmark]:
        return (mark for marks in self._marks.values() for mark in marks)

    def of(self, source: str, visit: int) -> Bookmark | None:
        """Where to go on at a visit, counted from 0; None for one that has not been begun."""
        marks = self._marks.get(source, [])
        return marks[visit] if visit < len(marks) else None

    def updated(self, new: Iterable[Bookmark], *, from_start: bool = False) -> Bookmarks:
        """These, with what was read since: each visit of a source replaces what was known of it.

        With `from_start` other visits of the same source are forgotten.
        """
        later = Bookmarks(new)
        result = Bookmarks(self)
        for source, marks in later._marks.items():
            rest = [] if from_start else result._marks.get(source, [])[len(marks) :]
            result._marks[source] = marks + rest
        return result

    def to_json(self) -> list[dict[str, Any]]:
        """As plain values."""
        return [mark.to_json() for mark in self]

    @classmethod
    def from_json(cls, values: Iterable[Mapping[str, Any]]) -> Bookmarks:
        """The bookmarks of such values."""
        return cls(Bookmark.from_json(value) for value in values)


def key_of(path: str) -> str:
    """What a source is called in bookmarks: files by their absolute path, whatever the working directory.

    A topic is called by its address, however it is read.
    """
    if is_topic(path):
        return topic_itself(path)
    return path if path == "-" or "://" in path else os.path.realpath(path)


def marked(data: bytes) -> tuple[int, str]:
    """Length and digest of some bytes."""
    return len(data), hashlib.blake2b(data, digest_size=16).hexdigest()


def heads_of(first: bytes) -> tuple[tuple[int, str], ...]:
    """Lengths and digests of the beginning of something, the longest last."""
    return tuple(marked(first[:length]) for length in sorted({*(r for r in _RUNGS if r < len(first)), len(first)}))


def both_ends(path: str) -> tuple[int, tuple[int, str]]:
    """Size of a file, and length and digest of its first and last bytes."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        start = file.read(HEAD_BYTES)
        file.seek(max(0, size - HEAD_BYTES))
        return size, marked(start + file.read(HEAD_BYTES))


def changed(source: str, got: str) -> StreamError:
    """The refusal of a source that is not what was learned from."""
    rule = "must begin with what was learned from it before (or be read from its start on purpose)"
    return StreamError(source, None, None, rule, got, argument="from_start")
