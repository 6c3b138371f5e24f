"""Whether the stream changes: an alarm over columns and scores, a sample of the events each second, by whole days.

It is told to whoever looks, and nothing is learned from it. Its file is a shortcut to itself and no more: what was seen
since it was written is lost with the process, and if it cannot be read, the alarm begins anew.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from lopsided.constraints import ParameterError
from lopsided.drift import DriftAlarm
from lopsided.encoding import Schema
from lopsided.serve.messages import DriftFound, DriftState
from lopsided.serve.recent import Sampled
from lopsided.serve.storage.disk import Disk

_LOG = logging.getLogger("lopsided.serve")
_NUMBERS, _CATEGORIES = ("number", "flag"), ("category",)
_SCORE = "score"
_MOST_TOLD = 20
_FILE = "drift.safetensors"
_DAY = 86_400.0


class DriftWatch:
    """The alarm of one model, which begins when it is known what the columns are."""

    def __init__(self, folder: Path, disk: Disk) -> None:
        self._folder, self._disk = folder, disk
        self._alarm: DriftAlarm | None = None
        self._state: DriftState | None = None

    def take(self, schema: Schema, rows: Sequence[Sampled], clock: float | None) -> None:
        """The next events. One far ahead of all others is left out: days that it skipped would never come."""
        if self._alarm is None:
            self._begin(schema)
        assert self._alarm is not None
        alarm, now = self._alarm, math.inf if clock is None else clock
        rows = [row for row in rows if row.time < now + _DAY]
        if rows:
            cells = [msgspec.json.decode(row.columns) for row in rows]
            columns: dict[str, Any] = {name: [_number(own.get(name)) for own in cells] for name in alarm.numbers}
            columns |= {name: [_word(own.get(name)) for own in cells] for name in alarm.categories}
            columns[_name_of_score(schema)] = [row.score for row in rows]
            for found in alarm.update_many(columns, [row.time for row in rows]):
                _LOG.warning("The stream has changed: %s", found.in_words)
        self._state = _told(alarm)

    def state(self) -> DriftState | None:
        """What it found; None before it began."""
        return self._state

    def save(self) -> None:
        """Write it, if the disk lets us."""
        if self._alarm is not None:
            with suppress(OSError):
                self._disk.write(self._folder / _FILE, self._alarm.to_bytes())

    def _begin(self, schema: Schema) -> None:
        kinds = {column.name: column.kind for column in schema.learned_from}
        numbers = [name for name, kind in kinds.items() if kind in _NUMBERS]
        categories = [name for name, kind in kinds.items() if kind in _CATEGORIES]
        fresh = DriftAlarm([*numbers, _name_of_score(schema)], categories, period="day")
        if _FILE in self._disk.names(self._folder):
            try:
                known = DriftAlarm.from_bytes(self._disk.read(self._folder / _FILE), _FILE)
                if known.names == fresh.names:
                    fresh = known
            except (ParameterError, OSError) as error:
                _LOG.warning("What is known of drift cannot be read, it begins anew: %s", error)
        self._alarm = fresh


def _told(alarm: DriftAlarm) -> DriftState:
    found = [DriftFound(one.in_words, one.since_time) for one in alarm.alarms[-_MOST_TOLD:]]
    return DriftState(alarm.names, alarm.n_blocks, alarm.blocks_needed, found)


def _name_of_score(schema: Schema) -> str:
    return _SCORE if all(column.name != _SCORE for column in schema.learned_from) else f"{_SCORE} of the model"


def _number(cell: Any) -> float:
    return float(cell) if isinstance(cell, int | float) else math.nan


def _word(cell: Any) -> str | None:
    return None if cell is None else str(cell)
