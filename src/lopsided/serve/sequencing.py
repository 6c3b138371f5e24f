"""The order of things: events are answered, labels are judged, and both become entries in the order in which they came.

One thread does this and nothing else. It never waits for learning: it answers by copies of the models, which the
learning thread publishes now and then. Nothing here is acknowledged before its group has been written.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import msgspec
import numpy as np

from lopsided.constraints import ParameterError
from lopsided.encoding import EncodedRows, Schema
from lopsided.labels import LabelMap
from lopsided.serve import entries as log
from lopsided.serve.aging import Aging, Due
from lopsided.serve.configuration import FIRST_EVENTS, day_of, found_schema, label_of, patience_of
from lopsided.serve.deciding import Deciding
from lopsided.serve.folding import Fold, unobserved
from lopsided.serve.judging import REFUSED, Judge, NoRoomError, weight_of
from lopsided.serve.measuring import Floats
from lopsided.serve.messages import EventAnswer, LabelOutcome, ModelSettings
from lopsided.serve.replying import Replies
from lopsided.serve.requests import Change, NewEvents, NewLabels, Request, Tick
from lopsided.serve.scoring import View, flags_of
from lopsided.serve.storage.ids import EventIds
from lopsided.serve.storage.log import Group, LogReader

_REPLIES_KEPT = 7 * 86400.0  # seconds in which a request is known again by its key

Fresh = list[tuple[NewEvents, int, str]]  # a request, one of its events, and the id of that


class Sequencer:
    """All that must be known to answer and to judge; `fold` is where the log ends when it begins."""

    def __init__(self, fold: Fold, reader: LogReader, ids: EventIds, most_parked: int) -> None:
        self._reader, self._ids = reader, ids
        self.sequence = max(fold.position, reader.last)
        self.settings: ModelSettings = fold.settings
        self.labels: LabelMap = fold.labels
        self.schema: Schema | None = fold.schema
        self.deciding = deepcopy(fold.deciding)  # both go by the events, each in its own time
        self.has_challenger = fold.has_challenger
        self.versions = fold.versions
        self.view = View(0, None, None)
        self.aging = Aging(reader, fold.expired_until)
        self.judge = Judge(reader, self.aging, most_parked)
        self.n_events, self.n_alerts = int(reader.fact("events") or 0), int(reader.fact("alerts") or 0)
        labelled = reader.fact("labelled")  # which an older version did not count
        self.n_labelled = reader.count("labels") if labelled is None else int(labelled)
        self._first: list[dict[str, Any]] = []  # columns of the first events, until there is a schema
        self._arrivals: deque[tuple[int, Floats]] = deque()  # behind the view, for its history
        self._unwritten: dict[int, log.Events] = {}
        self._replies = Replies(reader)
        if self.schema is None:
            for sequence, _ in reader.event_entries(1, self.sequence):
                entry = reader.events_at(sequence)
                self._first += [] if entry is None else [entry.columns(number) for number in range(len(entry.ids))]

    def find(self, names: Sequence[str]) -> list[int | None]:
        """Places of events by their ids; None for one that nobody knows, or that is forgotten."""
        first = self.aging.first_kept
        found = self._ids.find(names, self._belongs)
        return [None if place is None or place < first else place for place in found]

    def publish(self, view: View) -> None:
        """Answer by newer copies from now on; their histories are told what came meanwhile."""
        while self._arrivals and self._arrivals[0][0] <= view.position:
            self._arrivals.popleft()
        for _, rows in self._arrivals:
            for scorer in (view.champion, view.challenger):
                if scorer is not None:
                    scorer.observed(rows.view(EncodedRows))
        self.view = view

    def written(self, sequence: int) -> None:
        """Everything up to here can be read from the log."""
        for old in [known for known in self._unwritten if known <= sequence]:
            del self._unwritten[old]
        self._replies.written(sequence)
        self.judge.fates.written(sequence, self.sequence)

    # ---------------------------------------------------------------- a group

    def process(self, requests: Sequence[Request], now: float) -> Group:
        """Answer and judge requests in order; what is to be written before anybody is told."""
        group, run, size = Group(received=now), list[NewEvents](), 0
        for request in requests:
            if self._replies.was_answered(request):
                continue
            if isinstance(request, NewEvents) and size + len(request.raw) <= log.MOST_EVENTS:
                run.append(request)
                size += len(request.raw)
                continue
            self._answer(run, group)
            run, size = ([request], len(request.raw)) if isinstance(request, NewEvents) else ([], 0)
            if isinstance(request, NewLabels):
                self._judge(request, group)
            elif isinstance(request, Change):
                self._change(request, group)
            elif isinstance(request, Tick):
                self._expire(group)
                self._forget(request, group)
        self._answer(run, group)
        self._ids.roll_over()
        group.facts |= {"events": self.n_events, "alerts": self.n_alerts, "labelled": self.n_labelled}
        for request in requests:
            self._replies.keep(request, group, self.sequence)
        return group

    def _write(self, group: Group, entry: log.Entry) -> int:
        self.sequence += 1
        group.entries.append((self.sequence, entry))
        if isinstance(entry, log.Events):
            self._unwritten[self.sequence] = entry
        return self.sequence

    def _change(self, request: Change, group: Group) -> None:
        try:
            entry = request.make(self)
        except ParameterError as error:
            request.error = error
            return
        request.sequence = self._write(group, entry)
        match entry:
            case log.DecisionChanged():
                self.settings = msgspec.structs.replace(self.settings, decision=entry.decision)
                self.deciding = Deciding(entry.decision, has_challenger=self.has_challenger)
            case log.Challenged():
                self.has_challenger = entry.challenger is not None
                self.deciding.challenged(is_there=self.has_challenger)
            case log.Promoted():
                self.has_challenger = False
                self.deciding.promoted()
            case log.VersionMade():
                self.versions.add(entry.name)

    # ---------------------------------------------------------------- events

    def _answer(self, requests: list[NewEvents], group: Group) -> None:
        """Score all new events of some requests at once, in one entry."""
        if not requests:
            return
        fresh: Fresh = []
        repeated: list[tuple[NewEvents, int, int]] = []
        seen: dict[str, int] = {}
        for request in requests:
            request.answers = [None] * len(request.ids)  # type: ignore[list-item]
        rows = [(request, row) for request in requests if self._fits(request) for row in range(len(request.ids))]
        # An event that came without an id gets one by its place in the log, unless somebody has given that to theirs.
        names = [request.ids[row] or f"{self.sequence + 1}-{number}" for number, (request, row) in enumerate(rows)]
        for (request, row), name, place in zip(rows, names, self.find(names), strict=True):
            if request.ids[row] is None:
                while place is not None or name in seen or name in self.judge:
                    name += "-"
                    place = self.find([name])[0]
            place = seen.get(name) if place is None else place
            if place is not None:
                repeated.append((request, row, place))
                continue
            seen[name] = log.place_of(self.sequence + 1, len(fresh))
            fresh.append((request, row, name))
        if fresh:
            self._note(self._entry_of(fresh, group.received), fresh, group)
        known: list[tuple[int, int, float]] = []
        for request, row, place in repeated:
            try:
                request.answers[row] = msgspec.structs.replace(self.answer_at(place), duplicate=True)
            except ParameterError as error:
                request.error = error
                continue
            sign = request.signs[row]
            if sign is not None and self._outcome(place, sign, correct=False) == "learned":
                known.append((place, sign, group.received))
                self.judge.fates.settle(place, sign)
        self._learn(known, group)

    def _entry_of(self, fresh: Fresh, now: float) -> log.Events:
        times = np.array([now if (t := request.times[row]) is None else t for request, row, _ in fresh])
        rows = [request.raw[row] for request, row, _ in fresh]
        entry = log.Events([name for _, _, name in fresh], times.tobytes(), rows, learned=self.view.position)
        champion, rival = self.view.champion, self.view.challenger
        if champion is None:
            scores, probabilities = np.zeros(times.size), np.full(times.size, np.nan)
        else:
            observed = champion.observed(self._rows_of(fresh))
            scores = champion.scores(observed)
            probabilities = champion.probabilities(scores)
            entry.threshold = champion.threshold
            if self.settings.keys:
                entry.features = np.ascontiguousarray(observed).tobytes()
                self._arrivals.append((self.sequence + 1, unobserved(champion.model, observed)))
            if rival is not None:
                if self.settings.keys:  # its own history notes them too
                    rival.observed(unobserved(rival.model, observed))
                if rival.started:
                    entry.rival_scores = rival.scores(observed).tobytes()
        entry.scores, entry.probabilities = scores.tobytes(), probabilities.tobytes()
        entry.flags = flags_of(entry, self.deciding.alerts(entry, has_schema=self.schema is not None), self.settings)
        return entry

    def _fits(self, request: NewEvents) -> bool:
        """Whether events fit the columns; those that came before they were known were not encoded at the door."""
        champion = self.view.champion
        if request.rows is None and champion is not None:
            try:
                request.rows = champion.model.encoder_.from_mappings(request.columns)
            except ValueError as error:
                request.error = ParameterError(str(error))
        return request.error is None

    def _rows_of(self, fresh: Fresh) -> EncodedRows:
        """Encoded rows, those of a request alone as they are."""
        first = fresh[0][0]
        if len(first.raw) == len(fresh) and fresh[-1][0] is first:
            return np.asarray(first.rows).view(EncodedRows)
        return np.stack([request.rows[row] for request, row, _ in fresh]).view(EncodedRows)  # type: ignore[index]

    def _note(self, entry: log.Events, fresh: Fresh, group: Group) -> None:
        sequence = self._write(group, entry)
        places = [log.place_of(sequence, number) for number in range(len(entry.ids))]
        self._ids.add(entry.ids, places)
        self.n_events += len(places)
        self.n_alerts += entry.flags.count(log.ALERT)
        known: list[tuple[int, int, float]] = []
        for number, (request, row, name) in enumerate(fresh):
            request.answers[row] = self.answer_of(entry, number, sequence)
            if entry.flags[number]:
                group.alerts.append((places[number], day_of(entry.time_array[number]), entry.flags[number]))
            if self.schema is None:
                self._first.append(request.columns[row])
            sign, parked = request.signs[row], self.judge.unpark(name, group)
            if sign is not None:
                known.append((places[number], sign, group.received))
            elif parked is not None:
                known.append((places[number], *parked))
        if self.schema is None and len(self._first) >= FIRST_EVENTS:
            self._find_schema(group)
        self._learn([label for label in known if self._weight(label[0])], group)

    def answer_of(self, entry: log.Events, number: int, sequence: int) -> EventAnswer:
        """What was answered to an event of an entry."""
        probability, alert = float(entry.probability_array[number]), bool(entry.flags[number] & log.ALERT)
        return EventAnswer(
            id=entry.ids[number],
            score=float(entry.score_array[number]),
            probability=None if math.isnan(probability) else probability,
            decision=label_of(self.labels, 1 if alert else -1),
            alert=alert,
            version=entry.learned,
            sequence=sequence,
            explore=bool(entry.flags[number] & log.EXPLORED),
        )

    def answer_at(self, place: int) -> EventAnswer:
        """What was answered to an event."""
        found = self._event_at(place)
        if found is None:
            raise ParameterError("The event must not be older than what is kept. Got the id of one that was forgotten.")
        return self.answer_of(*found, log.entry_and_number(place)[0])

    def _event_at(self, place: int) -> tuple[log.Events, int] | None:
        sequence, number = log.entry_and_number(place)
        entry = self._unwritten.get(sequence)
        return self._reader.event_at(place) if entry is None else (entry, number)

    def _belongs(self, name: str, place: int) -> bool:
        found = self._event_at(place)
        return found is not None and found[0].ids[found[1]] == name

    def _find_schema(self, group: Group) -> None:
        self.schema = found_schema(self.settings, self._first)
        self._first = []
        self._write(group, log.SchemaFound(self.schema.to_json()))

    # ---------------------------------------------------------------- labels

    def _judge(self, request: NewLabels, group: Group) -> None:
        known: list[tuple[int, int, float]] = []
        corrects, parked, outcomes = list[bool](), list[int](), list[str]()
        for k, place in enumerate(self.find(request.ids)):
            sign, time = request.signs[k], request.times[k]
            if place is None:
                outcome = self.judge.park(request.ids[k], sign, time, group, correct=request.corrects[k])
                if outcome == "parked":
                    parked.append(k)
            else:
                outcome = self._outcome(place, sign, correct=request.corrects[k])
                if outcome in ("learned", "corrected"):
                    known.append((place, sign, time))
                    corrects.append(outcome == "corrected")
                    self.judge.fates.settle(place, sign)
            outcomes.append(outcome)
        if all(outcome == REFUSED for outcome in outcomes):  # nothing has happened: it can be sent again as it is
            request.error = NoRoomError(self.judge.most_parked)
            return
        sequence = self._learn(known, group, corrects)
        if parked:
            names, signs, times = ([of[k] for k in parked] for of in (request.ids, request.signs, request.times))
            self._write(group, log.Parked(names, signs, times))  # type: ignore[arg-type]
        for name, outcome in zip(request.ids, outcomes, strict=True):
            at = sequence if outcome in ("learned", "corrected") else None
            request.outcomes.append(LabelOutcome(name, outcome, at))  # type: ignore[arg-type]

    def _outcome(self, place: int, sign: int, *, correct: bool) -> str:
        return self.judge.outcome(place, sign, correct=correct, weight=self._weight(place))

    def _weight(self, place: int) -> float:
        """The inverse of the chance that the label of an event would be seen; 0 if there was none."""
        if not self.settings.selective:  # which saves reading the event
            return 1.0
        found = self._event_at(place)
        return weight_of(0 if found is None else found[0].flags[found[1]], self.settings)

    def _learn(
        self, known: list[tuple[int, int, float]], group: Group, corrects: list[bool] | None = None
    ) -> int | None:
        """Labels to be learned, in an entry; before the first of them it must be known what the columns are."""
        if not known:
            return None
        if self.schema is None:
            self._find_schema(group)
        places, signs, times = (list(part) for part in zip(*known, strict=True))
        weights, corrects = [self._weight(place) for place in places], corrects or [False] * len(known)
        sequence = self._write(group, log.Labels(places, signs, weights, times, corrects))
        self.n_labelled += corrects.count(False)
        for place, sign, time in known:
            self.judge.fates.settle(place, sign)
            group.labels.append((place, sign, sequence, time))
        return sequence

    # ---------------------------------------------------------------- what never comes

    def _expire(self, group: Group) -> None:
        """Give up events that have waited too long, and labels whose events never came."""
        patience, as_negative = patience_of(self.settings)
        since = group.received - patience
        self.judge.expire_parked(since, group)
        overdue = self.aging.overdue(since, group.received, self.judge.fates)
        if overdue is None:
            return
        first, last, places = overdue
        if as_negative:
            places = [place for place in places if self._weight(place)]
            if places and self.schema is None:
                self._find_schema(group)
        sequence = self._write(group, log.Expired(first, last, places, as_negative))
        if as_negative:
            self.n_labelled += len(places)
            for place in places:
                self.judge.fates.settle(place, -1)
                group.labels.append((place, -1, sequence, group.received))

    def _forget(self, tick: Tick, group: Group) -> None:
        """Give up the events themselves, when they are older than what is kept and no replay needs them any more."""
        now = group.received
        if self._reader.has_replies_before(now - _REPLIES_KEPT):
            group.replies_before = now - _REPLIES_KEPT
        since = None if tick.retention is None else now - tick.retention
        self.aging.close(Due(since, now, tick.excess, tick.forgotten), self.sequence, self.judge.fates)
        gone = self.aging.forgettable(tick.saved)
        if gone is not None:
            group.forget_too(gone)
            group.facts |= self.aging.facts()
