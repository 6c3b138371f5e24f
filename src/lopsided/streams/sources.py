"""Where bytes come from: files, standard input, directories that grow, topics."""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from lopsided.streams.byte_source import STANDARD_INPUT, ByteSource, Shrunk, Waiting
from lopsided.streams.errors import StreamError
from lopsided.streams.topics import NATS, is_topic

_BETWEEN_LOOKS = 0.1  # seconds between two looks at a file that may grow


class Sources:
    """Paths as the files that they stand for: a directory, or a pattern such as *.csv, is all its files by name.

    With `follow` the end of the last file is not the end: it is watched for more, a directory also for further files,
    until `idle` seconds have passed without any (None: until interrupted). `encoding` is that of their text.

    Whoever works on the rows may be told what happens on the way: `shrunk` when a file has become shorter, `meanwhile`
    from time to time while nothing comes, and `leaving` before partitions of a topic are given to another consumer.
    All that was given away by then has been worked on.
    """

    shrunk: Shrunk | None = None
    meanwhile: Callable[[], object] | None = None
    leaving: Callable[[], object] | None = None

    def __init__(
        self, paths: Sequence[str], *, follow: bool = False, idle: float | None = None, encoding: str | None = None
    ) -> None:
        self.encoding = encoding
        self.paths = [file for path in paths for file in _matching(path)]
        self.follow = follow
        self.idle = idle
        self._quiet_since = time.monotonic()
        self._is_last = False
        self._later: Waiting = lambda: False  # whether the directory that is read holds a file after this one

    @property
    def name(self) -> str:
        """The paths, for a heading."""
        return ", ".join("standard input" if p == STANDARD_INPUT else os.path.basename(p) or p for p in self.paths)

    @property
    def is_single(self) -> bool:
        """Whether there is one file, and there will be no other."""
        return len(self.paths) == 1 and not self.follow and not os.path.isdir(self.paths[0])

    @property
    def total(self) -> int | None:
        """Bytes on disk of all files as they are now; None if that means nothing."""
        if self.follow or STANDARD_INPUT in self.paths or any("://" in path for path in self.paths):
            return None
        return sum(os.path.getsize(path) for path in self._files() if os.path.exists(path))

    def __iter__(self) -> Iterator[str]:
        """Every file in order; those that appear while the stream is followed too."""
        for position, path in enumerate(self.paths):
            self._is_last = position == len(self.paths) - 1
            if path == STANDARD_INPUT or not os.path.isdir(path):
                yield path
            else:
                yield from self._of_directory(path)

    def _of_directory(self, path: str) -> Iterator[str]:
        done: set[str] = set()
        while True:
            fresh = [name for name in _files_in(path) if name not in done]
            if fresh:
                done.add(fresh[0])
                self._later = lambda: any(name not in done for name in _files_in(path))
                self.noticed()
                yield fresh[0]
            elif not (self.follow and self._is_last and self._may_wait()):
                break
        if not done:
            raise StreamError(path, None, None, "must hold files", "an empty directory")

    def open(self, path: str, offsets: Mapping[str, int] | None = None) -> Any:
        """One of them as bytes; a topic from these offsets of its partitions on."""
        waiting = self._wait_for_more if self.follow else None
        if path.startswith(NATS):
            from lopsided.streams.nats import NatsSource

            return NatsSource(path, waiting, offsets)
        if is_topic(path):
            from lopsided.streams.kafka import KafkaSource

            return KafkaSource(path, waiting, offsets, self._is_leaving)
        return ByteSource(path, waiting, self.encoding, self._has_shrunk)

    def _is_leaving(self) -> None:
        if self.leaving is not None:
            self.leaving()

    def _has_shrunk(self, name: str, position: int, size: int) -> None:
        if self.shrunk is not None:
            self.shrunk(name, position, size)

    def _files(self) -> list[str]:
        return [file for path in self.paths for file in (_files_in(path) if os.path.isdir(path) else [path])]

    def _wait_for_more(self) -> bool:
        """At the end of a file: whether to look again, after a while. Only the last file is waited for."""
        return self._is_last and not self._later() and self._may_wait()

    def noticed(self) -> None:
        """Something came: the clock of `idle` starts again."""
        self._quiet_since = time.monotonic()

    def _may_wait(self) -> bool:
        if self.idle is not None and time.monotonic() - self._quiet_since >= self.idle:
            return False
        if self.meanwhile is not None:
            self.meanwhile()
        time.sleep(_BETWEEN_LOOKS)
        return True


def topic_to_write(url: str) -> Any:
    """A topic to write lines into, each of them a message: it has `write`, `flush` and `close`."""
    if url.startswith(NATS):
        rule = "must be a topic of Kafka if rows are to be written to it"
        raise StreamError(url, None, None, rule, "one of NATS, which can be read")
    from lopsided.streams.kafka import KafkaSink

    return KafkaSink(url)


def _matching(path: str) -> list[str]:
    """The files that a pattern stands for; a path itself, also one that is not there."""
    if is_topic(path) or not glob.has_magic(path) or os.path.exists(path):
        return [path]
    return sorted(glob.glob(path, recursive=True)) or [path]


def _files_in(folder: str) -> list[str]:
    """The files of a directory by name; hidden ones are not meant."""
    inside = (os.path.join(folder, name) for name in sorted(os.listdir(folder)) if not name.startswith("."))
    return [name for name in inside if os.path.isfile(name)]
