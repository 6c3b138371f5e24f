"""The log of a model in one SQLite file: entries in order, and beside them what is looked up of events and labels.

A group of entries is written in one transaction with `synchronous=FULL`: when `append` returns, it survives a loss of
power. One connection writes; readers have connections of their own and see what has been written, nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from lopsided.serve.entries import (
    Entry,
    Events,
    Expired,
    Labels,
    Parked,
    entry_and_number,
    ids_in,
    packed,
    place_of,
    unpacked,
)
from lopsided.serve.storage.disk import Disk

FORMAT = 2
_OTHERS, _EVENTS, _FATES = 0, 1, 2  # kinds of entries: labels and the like are forgotten with their events
_REPLIES_AT_ONCE = 500
_MOST_KEPT = 4 << 20  # bytes of entries that a reader keeps at hand

_TABLES = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS entries (sequence INTEGER PRIMARY KEY, kind INTEGER, received REAL, n INTEGER, body BLOB);
CREATE TABLE IF NOT EXISTS labels (place INTEGER PRIMARY KEY, sign INTEGER, sequence INTEGER, time REAL);
CREATE TABLE IF NOT EXISTS parked (id TEXT PRIMARY KEY, sign INTEGER, time REAL, received REAL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS alerts (place INTEGER PRIMARY KEY, day INTEGER, flags INTEGER);
CREATE INDEX IF NOT EXISTS alerts_by_day ON alerts (day, place);
CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, received REAL, body BLOB, sequence INTEGER) WITHOUT ROWID;
"""
_INDICES = """
CREATE INDEX IF NOT EXISTS replies_by_age ON replies (received);
CREATE INDEX IF NOT EXISTS replies_by_entry ON replies (sequence);
CREATE INDEX IF NOT EXISTS parked_by_age ON parked (received);
"""
# From the first format: ids are in files, which are made from the log; replies go with their entries.
_FROM_FORMAT_1 = """
DROP TABLE IF EXISTS ids;
ALTER TABLE replies ADD COLUMN sequence INTEGER;
UPDATE facts SET value = 2 WHERE name = 'format';
"""


class StorageError(Exception):
    """The disk is full, broken or taken away: nothing of the group was written."""


@dataclass
class Group:
    """What is written at once: entries with their sequence, and what can be looked up because of them."""

    received: float
    entries: list[tuple[int, Entry]] = field(default_factory=list)
    labels: list[tuple[int, int, int, float]] = field(default_factory=list)  # place, sign, sequence, time
    # Sign, time, received by id; None for a label that waits no longer. The last word counts.
    parked: dict[str, tuple[int, float, float] | None] = field(default_factory=dict)
    alerts: list[tuple[int, int, int]] = field(default_factory=list)  # place, day, flags
    replies: list[tuple[str, float, bytes, int]] = field(default_factory=list)  # key, received, body, sequence
    facts: dict[str, int] = field(default_factory=dict)
    forget: tuple[int, int] | None = None  # events and labels in these entries, first and last
    replies_before: float | None = None  # which are forgotten

    @property
    def is_something(self) -> bool:
        """Whether there is anything to write."""
        return bool(self.entries or self.parked or self.replies or self.forget or self.replies_before)

    def take_in(self, later: Group) -> None:
        """One group of two that follow each other."""
        for name in ("entries", "labels", "alerts", "replies"):
            getattr(self, name).extend(getattr(later, name))
        self.parked.update(later.parked)
        self.facts.update(later.facts)
        self.replies_before = later.replies_before or self.replies_before
        if later.forget is not None:
            self.forget_too(later.forget)

    def forget_too(self, entries: tuple[int, int]) -> None:
        """More entries to be forgotten, behind those before."""
        self.forget = entries if self.forget is None else (self.forget[0], entries[1])


def _connect(path: Path, disk: Disk, flags: int) -> apsw.Connection:
    return apsw.Connection(str(path), flags=flags, vfs=disk.vfs)


class LogWriter:
    """The one connection that writes."""

    def __init__(self, path: Path, disk: Disk) -> None:
        with ExitStack() as undone:
            try:
                self._sql = _connect(path, disk, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
                undone.callback(self.close)
                self._prepare()
            except (apsw.Error, OSError) as error:
                raise StorageError(f"The log {path.name} must be readable and writable. Got: {error}.") from None
            found = self._format
            if found != FORMAT:
                raise StorageError(
                    f"The log {path.name} must have format {FORMAT}. Got format {found}: a newer lopsided wrote it."
                )
            undone.pop_all()

    def _prepare(self) -> None:
        sql = self._sql
        sql.execute("PRAGMA auto_vacuum=INCREMENTAL")  # before the first page is written, or it would have no effect
        sql.execute("PRAGMA journal_mode=WAL")
        sql.execute("PRAGMA synchronous=FULL")
        sql.execute("PRAGMA wal_autocheckpoint=1000")  # often: each stops the writer for a few milliseconds
        with sql:
            sql.execute(_TABLES)
            sql.execute("INSERT OR IGNORE INTO facts VALUES ('format', ?)", (FORMAT,))
            if self._format == 1:
                sql.execute(_FROM_FORMAT_1)
            if self._format == FORMAT:
                sql.execute(_INDICES)
            # By which snapshots of this log are told from those of another one.
            sql.execute("INSERT OR IGNORE INTO facts VALUES ('identity', lower(hex(randomblob(8))))")

    @property
    def _format(self) -> int:
        return int(self._sql.execute("SELECT value FROM facts WHERE name = 'format'").get)

    def append(self, group: Group) -> None:
        """Write a group, all of it or nothing."""
        entries = [(at, _kind(entry), group.received, _count(entry), packed(entry)) for at, entry in group.entries]
        parked = [(name, *label) for name, label in group.parked.items() if label is not None]
        written: tuple[tuple[str, list[Any]], ...] = (
            ("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", entries),
            ("INSERT OR REPLACE INTO labels VALUES (?, ?, ?, ?)", group.labels),
            ("INSERT OR REPLACE INTO parked VALUES (?, ?, ?, ?)", parked),
            ("DELETE FROM parked WHERE id = ?", [(name,) for name, label in group.parked.items() if label is None]),
            ("INSERT OR REPLACE INTO alerts VALUES (?, ?, ?)", group.alerts),
            ("INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?)", group.replies),
            ("INSERT OR REPLACE INTO facts VALUES (?, ?)", list(group.facts.items())),
        )
        try:
            with self._sql:
                for statement, rows in written:
                    if rows:
                        self._sql.executemany(statement, rows)
                if group.forget is not None:
                    self._forget(*group.forget)
                if group.replies_before is not None:
                    self._forget_replies(group.replies_before)
        except (apsw.Error, OSError) as error:
            raise StorageError(f"The log must be writable. Got: {error}.") from None

    def _forget(self, first: int, last: int) -> None:
        """Give up events and labels of some entries, with what is looked up because of them, and old replies."""
        sql, places = self._sql, (place_of(first, 0), place_of(last + 1, 0) - 1)
        sql.execute("DELETE FROM entries WHERE sequence BETWEEN ? AND ? AND kind IN (1, 2)", (first, last))
        sql.execute("DELETE FROM labels WHERE place BETWEEN ? AND ?", places)
        sql.execute("DELETE FROM alerts WHERE place BETWEEN ? AND ?", places)
        sql.execute("DELETE FROM replies WHERE sequence <= ?", (last,))
        # What comes will use the room; a file of which a quarter is free gives some back.
        if 4 * sql.execute("PRAGMA freelist_count").get > sql.execute("PRAGMA page_count").get:
            sql.execute("PRAGMA incremental_vacuum(500)").fetchall()  # one page a step: to the end

    def _forget_replies(self, before: float) -> None:
        self._sql.execute(
            "DELETE FROM replies WHERE key IN (SELECT key FROM replies WHERE received < ? LIMIT ?)",
            (before, _REPLIES_AT_ONCE),
        )

    def close(self) -> None:
        """Write what is in the journal into the file, and let go."""
        with suppress(apsw.Error):  # a disk that fails now has failed before: what was acknowledged is in the journal
            self._sql.close()


def _kind(entry: Entry) -> int:
    if isinstance(entry, Events):
        return _EVENTS
    return _FATES if isinstance(entry, Labels | Parked | Expired) else _OTHERS


def _count(entry: Entry) -> int:
    return len(entry.ids) if isinstance(entry, Events) else 0


class LogReader:
    """A connection that reads what has been written; one for each thread."""

    def __init__(self, path: Path, disk: Disk) -> None:
        self._sql = _connect(path, disk, apsw.SQLITE_OPEN_READONLY)
        self._sql.set_busy_timeout(5000)
        self._kept: dict[int, tuple[Events, int]] = {}  # with its bytes
        self._kept_bytes = 0

    def close(self) -> None:
        """Let go."""
        self._sql.close()

    # ---------------------------------------------------------------- entries

    @property
    def last(self) -> int:
        """The sequence of the latest entry; 0 if there is none."""
        return int(self._sql.execute("SELECT max(sequence) FROM entries").get or 0)

    def after(self, sequence: int, *, events: bool, limit: int = 256) -> Iterator[tuple[int, Entry]]:
        """Entries behind one, in order; those of events only if they are wanted."""
        wanted = "" if events else f"AND kind != {_EVENTS}"
        rows: Any = self._sql.execute(
            f"SELECT sequence, body FROM entries WHERE sequence > ? {wanted} ORDER BY sequence LIMIT ?",
            (sequence, limit),
        ).fetchall()
        for found, body in rows:
            yield found, unpacked(body)

    def events_at(self, sequence: int) -> Events | None:
        """An entry of events; None if it has been forgotten. The latest are kept at hand."""
        kept = self._kept.get(sequence)
        if kept is not None:
            return kept[0]
        body = self._sql.execute("SELECT body FROM entries WHERE sequence = ?", (sequence,)).get
        entry = None if body is None else unpacked(body)
        if not isinstance(entry, Events):
            return None
        self._kept[sequence] = entry, len(body)
        self._kept_bytes += len(body)
        while (self._kept_bytes > _MOST_KEPT and len(self._kept) > 1) or len(self._kept) > 64:
            self._kept_bytes -= self._kept.pop(next(iter(self._kept)))[1]
        return entry

    def event_at(self, place: int) -> tuple[Events, int] | None:
        """The entry that holds an event, and its number in it."""
        sequence, number = entry_and_number(place)
        entry = self.events_at(sequence)
        return None if entry is None or number >= len(entry.ids) else (entry, number)

    def belongs(self, name: str, place: int) -> bool:
        """Whether the event at a place has this id."""
        found = self.event_at(place)
        return found is not None and found[0].ids[found[1]] == name

    def received_before(self, moment: float, now: float, after: int) -> int:
        """The last entry of those behind `after` that were all received before a moment; `after` if there is none.

        What a wrong clock dated behind `now` goes with its neighbours: it must not hold up all others.
        """
        found = self._sql.execute(
            "SELECT sequence FROM entries WHERE sequence > ? AND received BETWEEN ? AND ? ORDER BY sequence LIMIT 1",
            (after, moment, now),
        ).get
        return max(after, self.last if found is None else int(found) - 1)

    def event_entries(self, first: int, last: int) -> list[tuple[int, int]]:
        """Sequences and sizes of the entries of events in a stretch."""
        rows: Any = self._sql.execute(
            "SELECT sequence, n FROM entries WHERE sequence BETWEEN ? AND ? AND kind = ? ORDER BY sequence",
            (first, last, _EVENTS),
        )
        return list(rows)

    def event_sizes(self, first: int, last: int, limit: int) -> list[tuple[int, int, int]]:
        """The same with their bytes, at most so many."""
        rows: Any = self._sql.execute(
            "SELECT sequence, n, length(body) FROM entries WHERE sequence BETWEEN ? AND ? AND kind = ? "
            "ORDER BY sequence LIMIT ?",
            (first, last, _EVENTS, limit),
        )
        return list(rows)

    def newest_events(self, limit: int) -> list[int]:
        """Sequences of the latest entries of events, the latest first."""
        return [
            row[0]
            for row in self._sql.execute(
                "SELECT sequence FROM entries WHERE kind = ? ORDER BY sequence DESC LIMIT ?", (_EVENTS, limit)
            )
        ]

    # ---------------------------------------------------------------- labels, alerts, replies

    def sign_at(self, place: int) -> int | None:
        """What an event turned out to be, +1 or -1; None while nobody knows."""
        return self._sql.execute("SELECT sign FROM labels WHERE place = ?", (place,)).get

    def labelled_between(self, first: int, last: int) -> set[int]:
        """Places of a stretch that have a label."""
        rows = self._sql.execute("SELECT place FROM labels WHERE place BETWEEN ? AND ?", (first, last))
        return {row[0] for row in rows}

    def all_parked(self) -> dict[str, tuple[int, float, float]]:
        """Signs and times of labels whose events have not come, and when they were received."""
        rows: Any = self._sql.execute("SELECT id, sign, time, received FROM parked")
        return {name: label for name, *label in rows}

    def parked_before(self, moment: float) -> list[str]:
        """Ids of labels that have been parked since before a moment."""
        return [row[0] for row in self._sql.execute("SELECT id FROM parked WHERE received < ?", (moment,))]

    def count(self, table: str) -> int:
        """How many rows a table has."""
        return int(self._sql.execute(f"SELECT count(*) FROM {table}").get)

    def alerts_of(self, day: int, limit: int) -> list[tuple[int, int]]:
        """Places and flags of the alerts of a day, the latest first."""
        rows: Any = self._sql.execute(
            "SELECT place, flags FROM alerts WHERE day = ? ORDER BY place DESC LIMIT ?", (day, limit)
        )
        return list(rows)

    def alert_days(self, last: int, limit: int) -> list[tuple[int, int, int, int]]:
        """The latest days up to one that had alerts: how many, of them with a label, of them positive."""
        rows: Any = self._sql.execute(
            "SELECT a.day, count(*), count(l.sign), coalesce(sum(l.sign > 0), 0) FROM alerts a LEFT JOIN labels l "
            "ON l.place = a.place WHERE a.day BETWEEN ? AND ? AND a.flags & 1 GROUP BY a.day ORDER BY a.day",
            (last - limit + 1, last),
        )
        return list(rows)

    def has_replies_before(self, moment: float) -> bool:
        """Whether there are answers so old."""
        return self._sql.execute("SELECT 1 FROM replies WHERE received < ? LIMIT 1", (moment,)).get is not None

    def reply(self, key: str) -> bytes | None:
        """What was answered to a request with this key."""
        return self._sql.execute("SELECT body FROM replies WHERE key = ?", (key,)).get

    def fact(self, name: str) -> Any:
        """Something that is said once."""
        return self._sql.execute("SELECT value FROM facts WHERE name = ?", (name,)).get

    @property
    def size(self) -> int:
        """Bytes in use, without pages that are free for what comes."""
        pages, free, size = (
            int(self._sql.execute(f"PRAGMA {name}").get) for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size

    def ids_between(self, first: int, last: int) -> Iterator[tuple[list[str], list[int]]]:
        """Ids and places of the events in a stretch of entries, entry by entry."""
        rows: Any = self._sql.execute(
            "SELECT sequence, body FROM entries WHERE sequence BETWEEN ? AND ? AND kind = ? ORDER BY sequence",
            (first, last, _EVENTS),
        )
        for sequence, body in rows:
            ids = ids_in(body)
            yield ids, [place_of(sequence, number) for number in range(len(ids))]
