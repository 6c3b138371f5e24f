"""Answers to questions about a model: its state, its alerts, an event and the reasons for its score."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np

from lopsided.encoding import EncodedRows
from lopsided.inspection import explain
from lopsided.serve import entries as log
from lopsided.serve.configuration import date_of, label_of
from lopsided.serve.messages import Alert, Alerts, EventState, ModelState, Reason, Waiting
from lopsided.serve.running import RunningModel

_MOST_REASONS = 8
_LOOKED_THROUGH = 2000  # entries


def state_of(model: RunningModel) -> ModelState:
    """What a model is and how it is doing."""
    summary, sequencer, reader = model.summary, model.sequencer, model.reader
    labelled = reader.count("labels")
    view = model.view
    return ModelState(
        name=model.name,
        sequence=model.written,
        learned=summary.position,
        published=view.position,
        settings=model.settings,
        schema=None if model.schema is None else str(model.schema).splitlines(),
        events=sequencer.n_events,
        alerts=sequencer.n_alerts,
        waiting=max(0, sequencer.n_events - labelled - summary.dropped),
        labels=summary.learned,
        parked=sequencer.n_parked,
        expired=summary.expired,
        threshold=summary.threshold,
        champion=summary.champion,
        challenger=summary.challenger,
        versions=model.versions.all(),
        notes=_notes(model),
    )


def _notes(model: RunningModel) -> list[str]:
    notes = []
    if model.schema is None:
        notes.append("What the columns are will be found in the first 200 events, or at the first label.")
    if model.summary.refused:
        notes.append(f"{model.summary.refused} labelled event(s) did not fit the columns and were not learned.")
    if model.summary.champion.rows == 0:
        notes.append("Nothing has been learned: all scores are 0 until labels come.")
    return notes


def event_of(model: RunningModel, name: str) -> EventState | None:
    """An event, what was answered, what is known since, and why it would be scored so now."""
    place = model.sequencer.ids.find([name])[0]
    found = None if place is None else model.reader.event_at(place)
    if place is None or found is None:
        return None
    entry, number = found
    sign = model.reader.sign_at(place)
    return EventState(
        answer=model.sequencer.answer_of(entry, number, log.entry_and_number(place)[0]),
        time=float(entry.time_array[number]),
        columns=entry.columns(number),
        label=None if sign is None else label_of(model.labels, sign),
        reasons=reasons_of(model, entry, number),
    )


def reasons_of(model: RunningModel, entry: log.Events, number: int) -> list[Reason]:
    """What the score of an event is the sum of, by columns, according to the model that answers now."""
    champion = model.view.champion
    if champion is None or not champion.started:
        return []
    own = champion.model.snapshot()  # so that nobody waits for the answer
    features = entry.feature_array
    if features is None:
        row: Any = own.encoded([entry.columns(number)])
    else:
        row = features[number : number + 1]
    parts = explain(own, np.asarray(row).view(EncodedRows), by="columns").parts
    ranked = sorted(parts, key=lambda part: -abs(part.amount))[:_MOST_REASONS]
    return [Reason(part.name, float(part.amount)) for part in ranked]


def alerts_of(model: RunningModel, day: int, limit: int) -> Alerts:
    """Alerts of a day, the latest first, and what they turned out to be."""
    value = model.settings.value
    alerts = []
    for place, flags in model.reader.alerts_of(day, limit):
        found = model.reader.event_at(place)
        if found is None:
            continue
        entry, number = found
        columns, sign = entry.columns(number), model.reader.sign_at(place)
        amount = None if value is msgspec.UNSET else columns.get(value)
        probability = float(entry.probability_array[number])
        alerts.append(
            Alert(
                id=entry.ids[number],
                time=float(entry.time_array[number]),
                score=float(entry.score_array[number]),
                probability=None if math.isnan(probability) else probability,
                explore=bool(flags & log.EXPLORED),
                columns=columns,
                label=None if sign is None else label_of(model.labels, sign),
                value=float(amount) if isinstance(amount, int | float) else None,
            )
        )
    return Alerts(date_of(day), alerts)


def waiting_of(model: RunningModel, limit: int) -> Waiting:
    """The oldest events without a label."""
    oldest = []
    for sequence, n in model.reader.event_entries(model.summary.expired_until + 1, model.written)[:_LOOKED_THROUGH]:
        places = range(log.place_of(sequence, 0), log.place_of(sequence, n))
        labelled = model.reader.labelled_between(places[0], places[-1])
        entry = model.reader.events_at(sequence)
        if entry is not None:
            open_ones = [number for number in range(n) if places[number] not in labelled]
            oldest += [model.sequencer.answer_of(entry, number, sequence) for number in open_ones]
        if len(oldest) >= limit:
            break
    return Waiting(state_of(model).waiting, oldest[:limit])
