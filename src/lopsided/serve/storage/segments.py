"""Ids of older events in files: hashes in order, with the places of their events, read a block at a time.

A file holds the ids of all events in a stretch of the log, and is named by that stretch. It can always be made again
from the log. What stays in memory of it is a filter, which tells of nearly every id that is not in there that it is
not, and the first hash of each block.

    block | block | ... | filter | first hashes | what all of it is, and a checksum of filter and first hashes

A block is so many hashes, and then as many places. Numbers have 64 bits, the least significant byte first.
"""

from __future__ import annotations

import mmap
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lopsided.serve.storage.disk import Disk, Opened

Hashes = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]
Pairs = tuple[Hashes, Places]

_BLOCK = 512  # ids: what is read of a file for one of them
_MOST_BLOCKS = 1 << 16  # of one file; in a larger file blocks are larger
_BITS_SET = 4  # of a word of the filter, for each id
_IDS_IN_A_WORD = 12  # at most, 8 as a rule: then one in twenty ids that are not there is looked for
_PIECE = 1 << 16  # ids that are merged at a time
_ENDING = ".ids"
_END = struct.Struct("<QQQQ16sI8s")
_MAGIC = b"LOPIDS01"


ANY: Hashes = np.full(2, ~np.uint64(0))  # a filter that lets everything through
NO_PAIRS: Pairs = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)


class SegmentError(Exception):
    """A file that is not what it should be: it is made again."""


@dataclass
class Segment:
    """Ids of the entries first..last."""

    first: int
    last: int
    n: int
    words: Hashes  # the filter, a power of two of words
    fences: Hashes  # the first hash of each block
    block: int
    file: Opened

    @property
    def has_filter(self) -> bool:
        """Whether its filter is worth asking."""
        return self.words.size * _IDS_IN_A_WORD >= self.n

    def places_of(self, name_hash: int) -> list[int]:
        """Where events may be whose id has this hash."""
        wanted = np.uint64(name_hash)
        start = max(0, int(np.searchsorted(self.fences, wanted, "left")) - 1)
        behind = int(np.searchsorted(self.fences, wanted, "right"))
        found: list[int] = []
        for number in range(start, behind):
            hashes, places = self.read(number)
            first, last = np.searchsorted(hashes, wanted, "left"), np.searchsorted(hashes, wanted, "right")
            found += places[first:last].tolist()
        return found

    def read(self, number: int) -> Pairs:
        """A block."""
        n = min(self.block, self.n - number * self.block)
        numbers = np.frombuffer(self.file.part(16 * self.block * number, 16 * n), dtype="<u8")
        return numbers[:n], numbers[n:].view(np.int64)


def masks_of(hashes: Hashes) -> Hashes:
    """The bits of a word that ids with these hashes set."""
    masks = np.zeros_like(hashes)
    for k in range(_BITS_SET):
        masks |= np.uint64(1) << (hashes >> np.uint64(6 * k) & np.uint64(63))
    return masks


def shift_of(words: Hashes) -> int:
    """The leading bits of a hash name its word; so many others follow."""
    return 64 - (words.size.bit_length() - 1)


class SegmentFiles:
    """The files of one model. A filter of more than `most_words` is not made: every id may be in such a file."""

    def __init__(self, folder: Path, disk: Disk, identity: str, *, most_words: int) -> None:
        self._folder, self._disk, self._identity, self._most_words = folder, disk, identity, most_words

    def _path(self, first: int, last: int) -> Path:
        return self._folder / f"{first:020d}-{last:020d}{_ENDING}"

    def stretches(self) -> list[tuple[int, int]]:
        """First and last entries of all files."""
        names = [name.removesuffix(_ENDING) for name in self._disk.names(self._folder) if name.endswith(_ENDING)]
        return [(int(first), int(last)) for first, _, last in (name.partition("-") for name in names)]

    def remove(self, first: int, last: int) -> None:
        """Take a file away; whoever is reading it may go on."""
        self._disk.remove(self._path(first, last))

    def write(self, first: int, last: int, pairs: Pairs) -> Segment:
        """A file of new ids."""
        order = np.argsort(pairs[0], kind="stable")
        return self._write(first, last, pairs[0].size, iter([(pairs[0][order], pairs[1][order])]))

    def write_merged(self, segments: Sequence[Segment], between: Callable[[], object]) -> Segment:
        """One file of several that follow each other, piece by piece; `between` is called between two pieces."""
        n = sum(segment.n for segment in segments)
        return self._write(segments[0].first, segments[-1].last, n, _merged(segments, n, between))

    def _write(self, first: int, last: int, n: int, pieces: Iterator[Pairs]) -> Segment:
        path, block = self._path(first, last), max(_BLOCK, -(-n // _MOST_BLOCKS))
        n_words = max(2, 1 << (-(-n // _IDS_IN_A_WORD) - 1).bit_length())
        words = _of_own_pages(n_words) if n_words <= self._most_words else ANY.copy()
        fences: list[Hashes] = []

        def parts() -> Iterator[bytes | memoryview]:
            for hashes, places in _in_blocks(pieces, block):
                _fill(words, hashes)
                fences.append(hashes[::block].copy())
                numbers = np.concatenate([hashes, places.view(np.uint64)])
                if hashes.size > block:  # whole blocks: of each the hashes, then the places
                    numbers = numbers.reshape(2, -1, block).swapaxes(0, 1)
                yield numbers.astype("<u8", copy=False).tobytes()
            filter_ = words.astype("<u8", copy=False).view(np.uint8).data
            firsts = np.concatenate(fences).astype("<u8", copy=False).tobytes()
            checksum = zlib.crc32(firsts, zlib.crc32(filter_))
            counts = n, block, words.size, len(firsts) // 8
            yield filter_
            yield firsts + _END.pack(*counts, self._identity.encode(), checksum, _MAGIC)

        self._disk.write_pieces(path, parts())
        return Segment(first, last, n, words, np.concatenate(fences), block, self._disk.open(path))

    def read(self, first: int, last: int) -> Segment:
        """What stays in memory of a file; one that is broken, or of another log, is refused."""
        file = self._disk.open(self._path(first, last))
        ending = file.part(max(0, file.size - _END.size), _END.size)
        if len(ending) < _END.size or not ending.endswith(_MAGIC):
            raise SegmentError("it has no end")
        n, block, n_words, n_fences, owner, checksum, _ = _END.unpack(ending)
        size = 8 * (n_words + n_fences)
        if owner != self._identity.encode() or file.size != 16 * n + size + _END.size:
            raise SegmentError("it is broken, or belongs to another log")
        told = file.part(16 * n, size)
        if zlib.crc32(told) != checksum:
            raise SegmentError("it is broken")
        known = np.frombuffer(told, dtype="<u8")
        return Segment(first, last, n, known[:n_words], known[n_words:].copy(), block, file)


def _of_own_pages(n_words: int) -> Hashes:
    """Zeros that are given back to the system as soon as nobody has them: they may be many, for a moment."""
    return np.frombuffer(mmap.mmap(-1, 8 * n_words), dtype=np.uint64)


def _in_blocks(pieces: Iterator[Pairs], block: int) -> Iterator[Pairs]:
    """The same ids in whole blocks, and at the end what is left."""
    rest = NO_PAIRS
    for hashes, places in pieces:
        rest = np.concatenate([rest[0], hashes]), np.concatenate([rest[1], places])
        whole = rest[0].size // block * block
        if whole:
            yield rest[0][:whole], rest[1][:whole]
            rest = rest[0][whole:], rest[1][whole:]
    if rest[0].size:
        yield rest


def _fill(words: Hashes, hashes: Hashes) -> None:
    """Set the bits of ids, which come in order: those of one word follow each other."""
    if hashes.size:
        at = (hashes >> np.uint64(shift_of(words))).astype(np.int64)
        starts = np.flatnonzero(np.concatenate([[True], at[1:] != at[:-1]]))
        words[at[starts]] |= np.bitwise_or.reduceat(masks_of(hashes), starts)


def _merged(segments: Sequence[Segment], n: int, between: Callable[[], object]) -> Iterator[Pairs]:
    """All ids of several files in order of their hashes, which lie evenly: each piece is a stretch of hashes."""
    n_pieces = -(-n // _PIECE)
    readers = [_InOrder(segment) for segment in segments]
    for piece in range(1, n_pieces + 1):
        between()
        below = None if piece == n_pieces else (piece << 64) // n_pieces
        parts = [reader.next(below) for reader in readers]
        hashes, places = np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
        order = np.argsort(hashes, kind="stable")
        yield hashes[order], places[order]


class _InOrder:
    """A file from its beginning to its end."""

    def __init__(self, segment: Segment) -> None:
        self._segment, self._number = segment, 0
        self._rest = NO_PAIRS

    def next(self, below: int | None) -> Pairs:
        """What comes next of hashes below this one; of all that is left, if none is given."""
        segment, parts = self._segment, [self._rest]
        while self._number < segment.fences.size and (below is None or int(segment.fences[self._number]) < below):
            parts.append(segment.read(self._number))
            self._number += 1
        hashes, places = np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
        behind = hashes.size if below is None else int(np.searchsorted(hashes, np.uint64(below), "left"))
        self._rest = hashes[behind:], places[behind:]
        return hashes[:behind], places[:behind]
