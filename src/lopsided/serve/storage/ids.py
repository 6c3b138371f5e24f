"""Where the event of an id is: the latest ids in dictionaries, all others in files of their hashes.

A B-tree of random ids would write a page of the disk for every event. Here ids are collected, and written 65,536 at a
time as one file; eight files of about the same size are merged into one. So a look-up meets a few dozen files at most,
however many events there have been, and reads next to none of them: a filter in memory knows what is not there.

The thread that answers asks and adds; the one that learns writes files and merges them (`tidy`).
"""

from __future__ import annotations

import ctypes
import logging
from array import array
from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np

from lopsided.serve.entries import entry_and_number
from lopsided.serve.storage.disk import Disk
from lopsided.serve.storage.filters import NO_FILTERS, FilterMemory, Filters
from lopsided.serve.storage.log import LogReader
from lopsided.serve.storage.segments import Pairs, Segment, SegmentError, SegmentFiles

_LOG = logging.getLogger("lopsided.serve")

ROOM = 1 << 16
MEMORY = 32 << 20  # bytes for filters
_FAN_OUT = 8
_TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None)  # others than glibc have none
_STRETCH = 10_000  # entries whose ids are read at a time

Belongs = Callable[[str, int], bool]


class Latest:
    """Ids that are in no file yet, of the entries first..last."""

    def __init__(self, first: int) -> None:
        self.first, self.last = first, first - 1
        self.places: dict[str, int] = {}
        self._hashes, self._places = array("Q"), array("q")

    def add(self, ids: Sequence[str], places: Sequence[int]) -> None:
        """Events of one entry."""
        self.places.update(zip(ids, places, strict=True))
        self._hashes.extend(map(hash_of, ids))
        self._places.extend(places)
        self.last = entry_and_number(places[-1])[0]

    def pairs(self) -> Pairs:
        """Hashes and places, for a file."""
        return np.frombuffer(self._hashes, dtype=np.uint64), np.frombuffer(self._places, dtype=np.int64)


class Known(NamedTuple):
    """All ids at a moment: never changed, but for what is added to the latest."""

    latest: Latest
    full: tuple[Latest, ...]  # waiting to be written
    segments: tuple[Segment, ...]  # the oldest first
    filters: Filters


class EventIds:
    """From ids to places. Hashes may collide: `belongs(id, place)` must say whether the event there has this very id.

    `memory` is that of the filters. The largest files, for which there is no room, are read at every look-up.
    """

    def __init__(
        self, folder: Path, disk: Disk, identity: str, *, room: int = ROOM, memory: int = MEMORY, first: int = 1
    ) -> None:
        self._files = SegmentFiles(folder, disk, identity, most_words=memory // 16)
        self._room, self._memory = room, FilterMemory(memory)
        self._known = Known(Latest(first), (), (), NO_FILTERS)
        self._changing = Lock()

    def add(self, ids: Sequence[str], places: Sequence[int]) -> None:
        """New events of one entry."""
        if ids:
            self._known.latest.add(ids, places)

    def find(self, ids: Sequence[str], belongs: Belongs) -> list[int | None]:
        """Places of events; None for an id that nobody knows."""
        known = self._known
        found = [known.latest.places.get(name) for name in ids]
        unknown = [row for row, place in enumerate(found) if place is None]
        for full in reversed(known.full):
            for row in unknown:
                found[row] = full.places.get(ids[row])
            unknown = [row for row in unknown if found[row] is None]
        if unknown and self._known.segments:
            hashes = [hash_of(ids[row]) for row in unknown]
            with self._changing:  # what has been asked may then be written over
                segments, filters = self._known.segments, self._known.filters
                hits = filters.hits(np.array(hashes, dtype=np.uint64))
            for number, k in zip(*hits, strict=True):
                row = unknown[k]
                for place in segments[number].places_of(hashes[k]):
                    if found[row] is None and belongs(ids[row], place):
                        found[row] = place
        return found

    def roll_over(self) -> None:
        """Begin anew with the latest ids if there are many; `tidy` writes those before."""
        if len(self._known.latest.places) >= self._room:
            with self._changing:
                known = self._known
                self._known = known._replace(latest=Latest(known.latest.last + 1), full=(*known.full, known.latest))

    # ---------------------------------------------------------------- files

    def tidy(self, written: Callable[[], int], forgotten: int) -> bool:
        """Write a file, or merge some, or remove those of forgotten events; False if there was nothing to do.

        Only what is in the log may be in a file: entries up to `written()`.
        """
        known = self._known
        outdated = [segment for segment in known.segments if segment.last <= forgotten]
        small = self._to_merge(known.segments)
        if self._store_full(written()):
            return True
        if outdated:
            self._replace(outdated, None)
        elif small:
            # A large one takes seconds: what comes meanwhile must not pile up in memory.
            self._replace(small, self._files.write_merged(small, lambda: self._store_full(written())))
            _give_back()
        return bool(outdated or small)

    def _store_full(self, written: int) -> bool:
        """Files of the ids that wait to be written; whether there were any."""
        waiting = [full for full in self._known.full if full.last <= written]
        for full in waiting:
            self._store(full)
        return bool(waiting)

    def _store(self, full: Latest) -> None:
        """A file of the oldest ids that are in none."""
        segment = self._files.write(full.first, full.last, full.pairs())
        segments, filters = self._laid_out([*self._known.segments, segment])
        with self._changing:
            known = self._known
            self._known = known._replace(full=known.full[1:], segments=segments, filters=filters)

    def _to_merge(self, segments: Sequence[Segment]) -> list[Segment]:
        """The oldest of those files of about one size that are enough to become one of the next."""
        if not segments:
            return []
        sizes = np.array([max(segment.n, self._room) for segment in segments])
        levels = np.floor(np.log(sizes / self._room) / np.log(_FAN_OUT) + 1e-9)
        levels = np.maximum.accumulate(levels[::-1])[::-1]  # what is older than a large one counts as large
        for level in np.unique(levels):
            alike = np.flatnonzero(levels == level)
            if alike.size >= _FAN_OUT:
                return [segments[k] for k in alike[:_FAN_OUT]]
        return []

    def _replace(self, old: Sequence[Segment], new: Segment | None) -> None:
        """One file in the place of several, or none."""
        gone = {segment.first for segment in old}
        kept = [segment for segment in self._known.segments if segment.first not in gone]
        segments, filters = self._laid_out(kept if new is None else [*kept, new])
        with self._changing:
            self._known = self._known._replace(segments=segments, filters=filters)
        for segment in old:
            self._files.remove(segment.first, segment.last)

    def _laid_out(self, segments: Sequence[Segment]) -> tuple[tuple[Segment, ...], Filters]:
        """Files in order, the oldest first, and their filters. Only one thread changes what files there are."""
        ordered = tuple(sorted(segments, key=lambda segment: segment.first))
        return ordered, self._memory.laid_out(ordered, self._known.filters)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(segment.file.size for segment in self._known.segments)

    # ---------------------------------------------------------------- opening

    @classmethod
    def opened(cls, folder: Path, disk: Disk, reader: LogReader, memory: int = MEMORY) -> EventIds:
        """All ids of a log: by the files that are there, and by the log itself where there is none."""
        disk.make_folder(folder)
        forgotten = int(reader.fact("forgotten") or 0)
        index = cls(folder, disk, reader.fact("identity"), memory=memory, first=forgotten + 1)
        segments, filters = index._laid_out(index._found(reader.last, forgotten))
        index._known = index._known._replace(segments=segments, filters=filters)
        behind = forgotten
        for segment in segments:
            index._read(reader, behind + 1, segment.first - 1)
            index._store_read(everything=True)
            behind = segment.last
        index._read(reader, behind + 1, reader.last)
        return index

    def _found(self, last: int, forgotten: int) -> list[Segment]:
        """The files that are of use; others, which a crash has left behind or which are broken, are removed."""
        found: list[Segment] = []
        for stretch in sorted(self._files.stretches(), key=lambda stretch: (stretch[0], -stretch[1])):
            try:
                if found and stretch[1] <= found[-1].last:
                    raise SegmentError("another one holds the same")
                if not forgotten < stretch[1] <= last:
                    raise SegmentError("its events are gone")
                found.append(self._files.read(*stretch))
            except SegmentError as error:
                _LOG.info("The file of the ids of entries %d to %d is removed: %s", *stretch, error)
                self._files.remove(*stretch)
        return found

    def _read(self, reader: LogReader, first: int, last: int) -> None:
        """Ids of a stretch of the log."""
        self._known = self._known._replace(latest=Latest(first))
        for start in range(first, last + 1, _STRETCH):
            for ids, places in reader.ids_between(start, min(last, start + _STRETCH - 1)):
                self.add(ids, places)
                self.roll_over()
                self._store_read()

    def _store_read(self, *, everything: bool = False) -> None:
        """Write what was read of the log and is in no file."""
        if everything and self._known.latest.places:
            self._known = self._known._replace(full=(*self._known.full, self._known.latest), latest=Latest(1))
        while self._known.full:
            self._store(self._known.full[0])


def _give_back() -> None:
    """Let the system have what merging has used; of itself glibc would keep some of it, a little more each time."""
    if _TRIM is not None:
        _TRIM(0)


@lru_cache(maxsize=1 << 14)  # an id is looked for before it is added
def hash_of(name: str) -> int:
    """64 bits that are the same in every process."""
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")
