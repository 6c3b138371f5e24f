"""Where the event of an id is: the latest ids in a dictionary, all others in sorted arrays of their hashes.

A B-tree of random ids would write a page of the disk for every event. Here ids are collected, and written 65,536 at a
time as one sorted array; eight arrays of one size are merged into one of the next, so that a look-up searches a few
dozen arrays at most, however many events there have been.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]

ROOM = 1 << 16
_FAN_OUT = 8


class Segment(NamedTuple):
    """Some ids: hashes in order, and where their events are. `number` names it; `level` counts how it was merged."""

    number: int
    level: int
    hashes: Hashes
    places: Places

    @property
    def last(self) -> int:
        """The latest place that it knows."""
        return int(self.places.max())


class EventIds:
    """From ids to places. `belongs(id, place)` says whether the event there has this very id: hashes may collide."""

    def __init__(self, belongs: Callable[[str, int], bool], segments: Sequence[Segment] = (), room: int = ROOM) -> None:
        self._belongs = belongs
        self._segments = tuple(sorted(segments, key=lambda segment: segment.number))
        self._room = room
        self._latest: dict[str, int] = {}
        self._changing = Lock()  # one thread fills segments, another one merges them

    def add(self, ids: Sequence[str], places: Sequence[int]) -> None:
        """New events."""
        self._latest.update(zip(ids, places, strict=True))

    def find(self, ids: Sequence[str]) -> list[int | None]:
        """Places of events; None for an id that nobody knows."""
        found = [self._latest.get(name) for name in ids]
        unknown = [row for row, place in enumerate(found) if place is None]
        if unknown and self._segments:
            self._search(ids, unknown, found)
        return found

    def _search(self, ids: Sequence[str], unknown: list[int], found: list[int | None]) -> None:
        hashes = np.array([hash_of(ids[row]) for row in unknown], dtype=np.uint64)
        for segment in reversed(self._segments):
            first, behind = (np.searchsorted(segment.hashes, hashes, side) for side in ("left", "right"))
            for k in np.flatnonzero(first < behind).tolist():
                row = unknown[k]
                for place in segment.places[first[k] : behind[k]].tolist():
                    if found[row] is None and self._belongs(ids[row], place):
                        found[row] = place

    def full(self) -> Segment | None:
        """The latest ids as a new segment, if there are enough of them; it is for the caller to store it."""
        if len(self._latest) < self._room:
            return None
        hashes = np.array([hash_of(name) for name in self._latest], dtype=np.uint64)
        places = np.array(list(self._latest.values()), dtype=np.int64)
        order = np.argsort(hashes, kind="stable")
        segment = Segment(int(places.max()), 0, hashes[order], places[order])
        with self._changing:
            self._segments = (*self._segments, segment)
        self._latest = {}
        return segment

    def to_merge(self, behind: int) -> list[Segment]:
        """The oldest segments of one level, if they are enough to become one of the next.

        Those with places behind this one may not have been stored yet, and would take the place of the merged one.
        """
        stored = [segment for segment in self._segments if segment.last < behind]
        for level in sorted({segment.level for segment in stored}):
            alike = [segment for segment in stored if segment.level == level]
            if len(alike) >= _FAN_OUT:
                return alike[:_FAN_OUT]
        return []

    def replace(self, old: Sequence[Segment], new: Segment | None) -> None:
        """One segment in the place of several, or of none."""
        numbers = {segment.number for segment in old}
        with self._changing:
            kept = [segment for segment in self._segments if segment.number not in numbers]
            self._segments = tuple(sorted([*kept, *([] if new is None else [new])], key=lambda segment: segment.number))

    def outdated(self, before: int) -> list[Segment]:
        """Segments that know nothing but places before this one."""
        return [segment for segment in self._segments if segment.last < before]


def merged(segments: Sequence[Segment]) -> Segment:
    """One segment of the next level."""
    hashes = np.concatenate([segment.hashes for segment in segments])
    places = np.concatenate([segment.places for segment in segments])
    order = np.argsort(hashes, kind="stable")
    return Segment(segments[-1].number, segments[0].level + 1, hashes[order], places[order])


def hash_of(name: str) -> int:
    """64 bits that are the same in every process."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little")
