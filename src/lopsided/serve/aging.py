"""What became of events, and which have waited too long: some are given up without a label, the oldest forgotten.

An event is forgotten in two steps. First its label can no longer be changed; then, when every snapshot that a recovery
may begin with has learned all labels that it ever got, its entry leaves the log. So no replay misses it. What still
waits for its label is never forgotten, nor what came after it: the log loses its beginning, and has no holes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container
from typing import NamedTuple

from lopsided.serve import entries as log
from lopsided.serve.storage.log import LogReader

_MOST_EXPIRED = 20_000  # events at a time
_MOST_CLOSED, _MOST_LOOKED_UP = 2_000, 20_000  # entries of events at a time, and events whose labels are looked up
_MOST_FORGOTTEN, _MOST_FORGOTTEN_BYTES = 500, 4 << 20  # of entries, in one group: others wait for it


class Fates:
    """What events turned out to be: +1 or -1 by place. What has not been written is at hand, the rest in the log."""

    def __init__(self, reader: LogReader) -> None:
        self._reader = reader
        self._latest: dict[int, int] = {}
        self._before: dict[int, int] = {}
        self._until = 0  # the entry up to which those before are known

    def __contains__(self, place: object) -> bool:
        """Whether it was settled of late."""
        return place in self._latest or place in self._before

    def of(self, place: int) -> int | None:
        """None while nobody knows."""
        fate = self._latest.get(place) or self._before.get(place)
        return self._reader.sign_at(place) if fate is None else fate

    def settle(self, place: int, sign: int) -> None:
        """Now it is known."""
        self._latest[place] = sign

    def written(self, written: int, sequence: int) -> None:
        """The log has been written up to an entry; the latest one that was made is `sequence`."""
        if written >= self._until:
            self._before, self._latest, self._until = self._latest, {}, sequence


class Due(NamedTuple):
    """What is to be forgotten: received before `since` (None: however old), and `excess` bytes in any case.

    The bytes were counted when the entries up to `forgotten` were gone.
    """

    since: float | None
    now: float
    excess: int
    forgotten: int


class _Closed(NamedTuple):
    """Entries that take no labels any more, up to one; where the log ended then; how many bytes they have."""

    until: int
    at: int
    size: int


class Aging:
    """Up to which entries events have expired, are closed for labels, and are forgotten."""

    def __init__(self, reader: LogReader, expired_until: int) -> None:
        self._reader, self._expired_until = reader, expired_until
        self._forgotten_until = int(reader.fact("forgotten") or 0)
        self._closed_until, self._needed = self._forgotten_until, 0
        self._closed: deque[_Closed] = deque()
        self.n_forgotten = int(reader.fact("removed") or 0)
        self.is_held_up = False  # whether the data are too large because of events that still wait
        self.is_forgetting = False

    @property
    def first_kept(self) -> int:
        """The first place where an event may be."""
        return log.place_of(self._forgotten_until + 1, 0)

    def is_too_late(self, place: int, *, has_label: bool) -> bool:
        """Whether an event takes no label any more; one that has a label can be corrected for longer."""
        sequence = log.entry_and_number(place)[0]
        return sequence <= (self._closed_until if has_label else max(self._closed_until, self._expired_until))

    def overdue(self, since: float, now: float, labelled: Container[int]) -> tuple[int, int, list[int]] | None:
        """The next stretch of entries that have waited since then, and the places of events in it without a label."""
        last = self._reader.received_before(since, now, self._expired_until)
        first, places = self._expired_until + 1, list[int]()
        for sequence, n in self._reader.event_entries(first, last):
            if len(places) >= _MOST_EXPIRED:
                last = sequence - 1
                break
            own = range(log.place_of(sequence, 0), log.place_of(sequence, n))
            written = self._reader.labelled_between(own[0], own[-1])
            places += [place for place in own if place not in written and place not in labelled]
        self._expired_until = last
        return (first, last, places) if places else None

    def close(self, due: Due, sequence: int, labelled: Container[int]) -> None:
        """Choose what is to be forgotten next: what is too old, and what takes up too much room."""
        first, until = self._closed_until + 1, self._closed_until
        if due.since is not None:
            until = self._reader.received_before(due.since, due.now, self._closed_until)
        # What has been given up since the bytes were counted must not be given up twice.
        is_recent = due.forgotten >= self._forgotten_until
        # With an entry go labels and replies, about as many bytes again: half of it, and then look again.
        excess = -(-due.excess // 2) - sum(part.size for part in self._closed) if is_recent else 0
        self.is_held_up = False
        if until < first and excess <= 0:
            return
        size, n_looked_up, last = 0, 0, self._closed_until
        for entry, n, length in self._reader.event_sizes(first, sequence - 1, _MOST_CLOSED):
            if entry > until and size >= excess:
                break
            if entry > self._expired_until:  # some may wait, unless all of its labels have come
                n_looked_up += n
                if n_looked_up > _MOST_LOOKED_UP or not self._has_all_labels(entry, n, labelled):
                    self.is_held_up = n_looked_up <= _MOST_LOOKED_UP and size < excess
                    break
            size, last = size + length, entry
        if last > self._closed_until:
            self._closed.append(_Closed(last, sequence, size))
            self._closed_until = last

    def _has_all_labels(self, entry: int, n: int, labelled: Container[int]) -> bool:
        own = range(log.place_of(entry, 0), log.place_of(entry, n))
        written = self._reader.labelled_between(own[0], own[-1])
        return all(place in written or place in labelled for place in own)

    def forgettable(self, saved: int) -> tuple[int, int] | None:
        """The next entries of those chosen, first and last, that can go; `saved` is what the oldest snapshot knows."""
        self.is_forgetting = bool(self._closed) and saved >= self._closed[0].at
        if not self.is_forgetting:
            return None
        part, first, last, size = self._closed[0], self._forgotten_until + 1, self._forgotten_until, 0
        rows = self._reader.event_sizes(first, part.until, _MOST_FORGOTTEN)
        for entry, n, length in rows:
            if size >= _MOST_FORGOTTEN_BYTES:
                break
            size, last = size + length, entry
            self.n_forgotten += n
        if last == part.until:
            self._closed.popleft()
        else:
            self._closed[0] = part._replace(size=part.size - size)
        self._forgotten_until, self._needed = last, part.at
        return first, last

    def facts(self) -> dict[str, int]:
        """What must be known of a log that has forgotten: how much, until where, and what a replay begins with."""
        return {"forgotten": self._forgotten_until, "needed": self._needed, "removed": self.n_forgotten}
