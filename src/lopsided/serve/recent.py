"""What came lately, noted by the thread that writes: scores, days, how much, how fast. Nothing is learned from it."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lopsided.serve.entries import Events, place_of
from lopsided.serve.measuring import Floats
from lopsided.serve.messages import Pace
from lopsided.serve.requests import NewEvents, Request
from lopsided.serve.storage.log import Group, LogReader
from lopsided.serve.watched import DaySums, Watched

_ROOM = 10_000  # events
_FIRST_ENTRIES = 1_000  # that are read when a model is opened
_DAYS = 60
_MOMENTS = 63  # of the latest events: their median is the clock, so that one wrong date does not move it
_SECONDS = 10
_ANSWERS = 2_000
_SAMPLED, _SAMPLED_AT_ONCE = 400, 100  # events between two looks, and of one group: looking must not stop the answers


class Sampled(NamedTuple):
    """One of the latest events, for those who look at some of them."""

    time: float
    columns: bytes  # as JSON
    score: float  # NaN before the model began


class Recent:
    """The latest events of a model, whoever asks. All of it is bounded."""

    def __init__(self, reader: LogReader, watched: Watched | None = None) -> None:
        self._changing = threading.Lock()
        self._scores: Floats = np.full(_ROOM, np.nan)
        self._places: npt.NDArray[np.int64] = np.zeros(_ROOM, dtype=np.int64)
        self._n = 0
        self._moments: deque[float] = deque(maxlen=_MOMENTS)
        self._days: OrderedDict[int, DaySums] = OrderedDict()
        self._noted = 0  # the latest entry
        self._seconds: deque[list[int]] = deque(maxlen=_SECONDS + 1)  # second, events, labels
        self._answers: deque[float] = deque(maxlen=_ANSWERS)
        self._sampled: list[Sampled] = []
        entries, kept = _newest(reader), watched or Watched()
        # Days are known as they were noted, if all that came since is read here; else some may have begun before.
        is_whole = kept.noted > 0 and (not entries or kept.noted >= entries[0][0] - 1)
        self._days = OrderedDict(kept.days) if is_whole else OrderedDict()
        for sequence, entry in entries:
            self._note_events(sequence, entry)
            if is_whole and sequence > kept.noted:
                self._note_days(entry)
        self._sampled = []

    # ---------------------------------------------------------------- noting

    def note(self, group: Group, requests: Sequence[Request]) -> None:
        """A group that has been written, and who waited for it."""
        now = time.perf_counter()
        with self._changing:
            n = 0
            for sequence, entry in group.entries:
                if isinstance(entry, Events):
                    self._note_events(sequence, entry)
                    self._note_days(entry)
                    n += len(entry.ids)
            self._answers.extend(now - request.began for request in requests if isinstance(request, NewEvents))
            self._note_pace(n, len(group.labels))

    def _note_events(self, sequence: int, entry: Events) -> None:
        n, scores = len(entry.ids), _scores_of(entry)
        at = (self._n + np.arange(n)) % _ROOM
        self._scores[at], self._places[at] = scores, place_of(sequence, 0) + np.arange(n)
        self._n, self._noted = self._n + n, sequence
        times = entry.time_array
        self._moments.extend(times[-_MOMENTS:].tolist())
        step = max(1, n // _SAMPLED_AT_ONCE)
        chosen = zip(times[::step].tolist(), entry.rows[::step], scores[::step].tolist(), strict=True)
        self._sampled += [Sampled(*row) for row in chosen]
        if len(self._sampled) > _SAMPLED:  # fewer of all days rather than none of the first
            del self._sampled[::2]

    def _note_days(self, entry: Events) -> None:
        scores, days = _scores_of(entry), np.floor(entry.time_array / 86400.0).astype(np.int64)
        for day in np.unique(days).tolist():
            own = scores[days == day]
            scored = own[~np.isnan(own)]
            before = self._days.pop(day, DaySums())
            events, total = before.events + own.size, before.total + float(scored.sum())
            self._days[day] = DaySums(events, before.scored + scored.size, total)
        while len(self._days) > _DAYS:
            self._days.popitem(last=False)

    def _note_pace(self, events: int, labels: int) -> None:
        second = int(time.monotonic())
        if not self._seconds or self._seconds[-1][0] != second:
            self._seconds.append([second, 0, 0])
        self._seconds[-1][1] += events
        self._seconds[-1][2] += labels

    # ---------------------------------------------------------------- asking

    @property
    def clock(self) -> float | None:
        """The time of the latest events: their median; None before there are any."""
        with self._changing:
            moments = sorted(self._moments)
        return moments[len(moments) // 2] if moments else None

    def scores(self) -> tuple[npt.NDArray[np.int64], Floats]:
        """Places and scores of the latest events that a model has scored, in no order."""
        with self._changing:
            known = ~np.isnan(self._scores)
            return self._places[known], self._scores[known]

    def drained(self) -> list[Sampled]:
        """A sample of the events since it was asked for last."""
        with self._changing:
            rows, self._sampled = self._sampled, []
        return rows

    def day(self, day: int) -> tuple[int, float | None] | None:
        """How many events a day had, and their mean score; None of a day that was not watched."""
        with self._changing:
            found = self._days.get(day)
        if found is None:
            return None
        return found.events, found.total / found.scored if found.scored else None

    def days(self) -> tuple[dict[int, DaySums], int]:
        """All days, and the latest entry that they know of."""
        with self._changing:
            return dict(self._days), self._noted

    def pace(self, write: float) -> Pace:
        """How much, and how fast."""
        with self._changing:
            second = int(time.monotonic())
            whole = [own for own in self._seconds if second - _SECONDS <= own[0] < second]
            answers: Any = np.array(self._answers)
        events, labels = (sum(own[k] for own in whole) / _SECONDS for k in (1, 2))
        if not answers.size:
            return Pace(events, labels, None, None, write)
        median, p99 = np.quantile(answers, [0.5, 0.99]).tolist()
        return Pace(events, labels, median, p99, write)


def _scores_of(entry: Events) -> Floats:
    """NaN before the model began."""
    return np.where(np.isnan(entry.probability_array), np.nan, entry.score_array)


def _newest(reader: LogReader) -> list[tuple[int, Events]]:
    """The latest entries, the oldest first: no more than there is room for, because some hold thousands of events."""
    entries: list[tuple[int, Events]] = []
    n = 0
    for sequence in reader.newest_events(_FIRST_ENTRIES):
        entry = reader.events_at(sequence)
        if entry is not None:
            entries.append((sequence, entry))
            n += len(entry.ids)
        if n >= _ROOM:
            break
    return entries[::-1]
