"""What became of events, and which have waited too long: some are given up without a label, the oldest forgotten.

An event is forgotten in two steps. First its label can no longer be changed; then, when every snapshot that a recovery
may begin with has learned all labels that it ever got, its entry leaves the log. So no replay misses it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Container

from lopsided.serve import entries as log
from lopsided.serve.storage.log import LogReader

_MOST_EXPIRED = 20_000  # events at a time
_REMEMBERED = 1 << 18  # fates: more than can be on their way to the disk
_MOST_FORGOTTEN = 200  # entries of events at a time


class Fates:
    """What events turned out to be: +1 or -1 by place, the latest at hand, whether they have been written or not."""

    def __init__(self, reader: LogReader) -> None:
        self._reader = reader
        self._latest: OrderedDict[int, int] = OrderedDict()

    def __contains__(self, place: object) -> bool:
        """Whether it was settled of late."""
        return place in self._latest

    def of(self, place: int) -> int | None:
        """None while nobody knows."""
        fate = self._latest.get(place)
        return self._reader.sign_at(place) if fate is None else fate

    def settle(self, place: int, sign: int) -> None:
        """Now it is known."""
        self._latest[place] = sign
        self._latest.move_to_end(place)
        if len(self._latest) > _REMEMBERED:
            self._latest.popitem(last=False)


class Aging:
    """Up to which entries events have expired, are closed for labels, and are forgotten."""

    def __init__(self, reader: LogReader, expired_until: int) -> None:
        self._reader, self._expired_until = reader, expired_until
        self._forgotten_until = int(reader.fact("forgotten") or 0)
        self._closed_until, self._closed_at = self._forgotten_until, 0

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

    def forgettable(self, since: float, now: float, sequence: int, saved: int) -> int | None:
        """The last entry of events that can be forgotten now; `saved` is what the oldest snapshot has learned."""
        if self._closed_until > self._forgotten_until:
            if saved < self._closed_at:
                return None
            self._forgotten_until = self._closed_until
            return self._forgotten_until
        old = min(self._reader.received_before(since, now, self._forgotten_until), self._expired_until)
        events = self._reader.event_entries(self._forgotten_until + 1, old)[:_MOST_FORGOTTEN]
        if events:
            self._closed_until, self._closed_at = events[-1][0], sequence
        return None

    def facts(self) -> dict[str, int]:
        """What must be known of a log that has forgotten: until where, and what a replay has to begin with."""
        return {"forgotten": self._forgotten_until, "needed": self._closed_at}
