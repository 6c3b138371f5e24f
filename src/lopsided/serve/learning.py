"""Learning what the log says, by the engine for late labels: the log is the store in which events wait."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from lopsided.encoding import EncodedRows
from lopsided.encoding.raw_cells import Entry
from lopsided.labels import LabelMap, Signs
from lopsided.late import LateLearner, WaitingRows
from lopsided.serve import entries as log
from lopsided.serve.measuring import Floats, Window
from lopsided.serve.messages import ChallengerSettings

Event = tuple[log.Events, int]  # an entry, and the number of the event in it


class Known(NamedTuple):
    """What an entry of the log says of events: their labels, in the order in which they are learned."""

    places: list[int]
    events: list[Event]
    signs: Floats
    weights: Floats
    corrects: list[bool]  # which of them had the other label before
    times: list[float]  # of the labels, NaN where nobody gave one


class LoggedEvents:
    """The events of which an entry gives the labels, as a store of `lopsided.late.LateLearner`.

    Keys are numbers in that entry. Nothing is kept here: events were in the log before the engine heard of them, and
    stay there. What becomes of a label was decided when its entry was written, and is not decided again.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._events: list[Event] = []
        self._scores = self._weights = np.zeros(0)
        self._fates: dict[Any, float] = {}

    def hold(self, known: Known, scores: Floats) -> None:
        """What the next labels are for, and what was answered to each; NaN by a model that had not begun."""
        self._events, self._weights = known.events, known.weights
        self._scores = np.where(np.isnan(scores), 0.0, scores)
        self._fates = {k: -float(known.signs[k]) for k, corrects in enumerate(known.corrects) if corrects}

    def __len__(self) -> int:
        return len(self._events) - len(self._fates)

    def is_waiting(self, key: Any) -> bool:
        """Whether no label of this event has been learned."""
        return key not in self._fates

    def fate_of(self, key: Any) -> float | None:
        """The label that has been learned."""
        return self._fates.get(key)

    def settle(self, keys: Sequence[Any], fates: Sequence[float]) -> None:
        """Labels have been learned."""
        self._fates.update(zip(keys, fates, strict=True))

    def take(self, keys: Sequence[Any]) -> WaitingRows:
        """Events as rows, with the scores that they were answered."""
        numbers = list(keys)
        weights = self._weights[numbers]
        return WaitingRows(
            rows_of(self._model, [self._events[k] for k in numbers]),
            self._scores[numbers],
            np.array(numbers, dtype=np.int64),
            np.full(len(numbers), np.inf),
            np.full(len(numbers), np.nan),
            numbers,
            None if (weights == 1.0).all() else weights,
        )

    def recall(self, key: Any) -> WaitingRows | None:
        """An event that has been learned, to be learned once more: the log has it still."""
        return self.take([key])

    def retain(self, rows: WaitingRows) -> None:
        """The log keeps them."""

    def add(self, rows: WaitingRows) -> None:
        """They are in the log."""

    def put_back(self, rows: WaitingRows) -> None:
        """They never left it."""

    def take_due(self, before: float) -> WaitingRows | None:
        """Nothing happens by itself: that a label has not come in time is an entry, too."""
        return None

    def take_oldest(self, count: int) -> WaitingRows:
        """Those of the entry that come first."""
        return self.take([k for k in range(len(self._events)) if self.is_waiting(k)][:count])

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Nothing: the log has all of it."""
        return {}, {}

    def restore(self, description: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Become what `state` gave."""


@dataclass
class Line:
    """One learner and how good its answers were: the champion, or the challenger."""

    chosen: ChallengerSettings
    model: Any
    labels: LabelMap
    window: Window = field(default_factory=Window)

    def __post_init__(self) -> None:
        self._store = LoggedEvents(self.model)
        self._engine = LateLearner(self.model, store=self._store, classes=self.labels.classes, corrections="learn")

    @property
    def started(self) -> bool:
        """Whether it has learned anything."""
        return bool(self.model.started_)

    def learn(self, known: Known, *, rival: bool) -> int:
        """Learn labels and note how right the answers were; how many events did not fit and were left out."""
        scores = np.array([_score_of(*event, rival=rival) for event in known.events])
        self._store.hold(known, scores)
        refused = self._taught(range(len(known.events)), known.signs)
        for k, (entry, number) in enumerate(known.events):
            place, sign, score = known.places[k], float(known.signs[k]), float(scores[k])
            if not (known.corrects[k] and self.window.correct(place, sign)) and score == score:
                alert = bool(entry.flags[number] & log.ALERT)
                delay = known.times[k] - float(entry.time_array[number])
                self.window.add(place, score, sign, float(known.weights[k]), alert=alert, delay=delay)
        return refused

    def _taught(self, numbers: Sequence[int], signs: Floats) -> int:
        """Learn all of them; if one does not fit what the columns have turned out to be, the others alone."""
        try:
            self._engine.label(numbers, Signs.of(signs, self.labels))
        except ValueError:
            if len(numbers) == 1:
                return 1
            left = [k for k in numbers if self._store.fate_of(k) != signs[k]]
            return sum(self._taught([k], signs[k : k + 1]) for k in left)
        return 0


def rows_of(model: Any, events: Sequence[Event]) -> EncodedRows:
    """Events encoded: as the model saw them, if a history made them depend on the moment, else by their columns."""
    encoder = model.encoder_
    sent = [entry.columns(number) if entry.features is None else None for entry, number in events]
    bare = {k: columns for k, columns in enumerate(sent) if columns is not None}
    rows = np.zeros((len(events), encoder.width)).view(EncodedRows)
    if len(bare) == 1:
        ((k, columns),) = bare.items()
        encoder.row(columns, rows[k])  # the short way
    elif bare:
        rows[list(bare)] = encoder.from_mappings(list(bare.values()))
    for k, (entry, number) in enumerate(events):
        if k not in bare:
            rows[k] = entry.feature_array[number]  # type: ignore[index]
    if bare and model.shows_rows:
        rows.cells = _AsSent(sent)
    return rows


class _AsSent:
    """The columns of events as they were sent, for a model that shows what it has learned; None where it saw others."""

    def __init__(self, rows: Sequence[dict[str, Any] | None]) -> None:
        self._rows = rows

    def part(self, key: Any) -> _AsSent:
        """Some of them."""
        if isinstance(key, slice):
            return _AsSent(self._rows[key])
        places = key if isinstance(key, list) else np.arange(len(self._rows))[key].tolist()
        return _AsSent([self._rows[place] for place in places])

    def row(self, place: int) -> dict[str, Any] | None:
        """One of them."""
        return self._rows[place]

    def entries(self) -> list[Entry]:
        """Each as a table of one row."""
        return [None if row is None else ({name: [cell] for name, cell in row.items()}, 0) for row in self._rows]


def _score_of(entry: log.Events, number: int, *, rival: bool) -> float:
    """What was answered; NaN of a learner that had not begun then, whose 0 is no opinion."""
    if not rival:
        return float("nan") if math.isnan(entry.probability_array[number]) else float(entry.score_array[number])
    return float("nan") if entry.rival_array is None else float(entry.rival_array[number])
