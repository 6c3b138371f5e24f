"""The filters of all files of ids, in memory that is taken once: a look-up asks all of them at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lopsided.serve.storage.segments import ANY, Hashes, Segment, masks_of, shift_of


class Filters(NamedTuple):
    """Where the filter of each file stands."""

    words: Hashes
    offsets: npt.NDArray[np.int64]
    shifts: Hashes

    def hits(self, hashes: Hashes) -> tuple[list[int], list[int]]:
        """Which files may hold which of the ids."""
        masks = masks_of(hashes)
        at = (hashes >> self.shifts[:, None]).astype(np.int64) + self.offsets[:, None]
        files, rows = np.nonzero(self.words[at] & masks == masks)
        return files.tolist(), rows.tolist()


NO_FILTERS = Filters(ANY, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint64))


class FilterMemory:
    """Two halves of a memory of so many bytes: one is asked, while filters are laid out anew in the other.

    It is taken with the first file and stays what it is, however many events there will be.
    """

    def __init__(self, size: int) -> None:
        self._room = size // 2 // ANY.itemsize
        self._halves: tuple[Hashes, ...] = ()

    def laid_out(self, segments: Sequence[Segment], asked: Filters) -> Filters:
        """Filters of all files; the largest, which have no room, are left out: every id may be in such a file.

        Nobody may ask these before they are published in the place of those that are `asked` now.
        """
        if not segments:
            return NO_FILTERS
        if not self._halves:
            self._halves = self._taken(), self._taken()
        words = next(half for half in self._halves if half is not asked.words)
        room, places = self._room, dict[int, int]()
        for segment in sorted(segments, key=lambda segment: segment.n):
            size = segment.words.size
            if segment.has_filter and size <= room:
                at = words.size - room
                words[at : at + size] = segment.words
                segment.words, places[segment.first] = words[at : at + size], at
                room -= size
            else:
                segment.words = ANY
        offsets = np.array([places.get(segment.first, 0) for segment in segments], dtype=np.int64)
        shifts = np.array([shift_of(segment.words) for segment in segments], dtype=np.uint64)
        return Filters(words, offsets, shifts)

    def _taken(self) -> Hashes:
        """All of it at once: pages that nothing was written to would be taken later, one by one."""
        words = np.zeros(ANY.size + self._room, dtype=np.uint64)
        words[:] = ~np.uint64(0)  # at the beginning stays the filter that lets everything through
        return words
