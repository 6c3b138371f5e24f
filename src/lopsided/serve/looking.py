"""Answers to questions about a model: its state, its alerts, an event and the reasons for its score."""

from __future__ import annotations

import math
from typing import Any, Literal

import msgspec
import numpy as np

from lopsided.encoding import EncodedRows
from lopsided.inspection import explain
from lopsided.serve import entries as log
from lopsided.serve.configuration import date_of, day_of, label_of
from lopsided.serve.messages import (
    Alert,
    Alerts,
    Day,
    Days,
    EventState,
    History,
    ModelState,
    Reason,
    Scores,
    Storage,
    Waiting,
)
from lopsided.serve.running import RunningModel

_MOST_REASONS = 8
_LOOKED_THROUGH = 2000  # entries
_BARS = 40


def state_of(model: RunningModel) -> ModelState:
    """What a model is and how it is doing."""
    summary, sequencer = model.summary, model.sequencer
    view, clock = model.view, model.recent.clock
    return ModelState(
        name=model.name,
        sequence=model.written,
        learned=summary.position,
        published=view.position,
        settings=model.settings,
        negative=label_of(model.labels, -1),
        positive=label_of(model.labels, 1),
        schema=None if model.schema is None else str(model.schema).splitlines(),
        clock=clock,
        day=None if clock is None else date_of(day_of(clock)),
        status=_status(model),
        events=sequencer.n_events,
        alerts=sequencer.n_alerts,
        waiting=max(0, sequencer.n_events - sequencer.n_labelled - summary.dropped),
        labels=summary.learned,
        parked=sequencer.judge.n_parked,
        expired=summary.expired,
        threshold=summary.threshold,
        delay=summary.delay,
        pace=model.recent.pace(model.latency),
        drift=model.drift.state(),
        storage=Storage(model.size, model.limits.bytes, sequencer.aging.n_forgotten),
        champion=summary.champion,
        challenger=summary.challenger,
        versions=model.versions.all(),
        notes=_notes(model),
        refused=sequencer.judge.n_refused,
    )


def _status(model: RunningModel) -> Literal["waiting", "compiling", "live"]:
    if model.schema is None:
        return "waiting"
    return "compiling" if model.view.champion is None else "live"


def _notes(model: RunningModel) -> list[str]:
    notes, status = [], _status(model)
    if status == "waiting":
        notes.append("What the columns are will be found in the first 200 events, or at the first label.")
    if status == "compiling":
        notes.append(
            "The learner is being compiled for this machine, once: that takes up to a minute or two. Events are taken "
            "and kept meanwhile; they get the score 0."
        )
    elif model.summary.champion.rows == 0:
        notes.append("Nothing has been learned: all scores are 0 until labels come.")
    if status == "live" and model.sequencer.has_challenger and model.view.challenger is None:
        notes.append("The challenger is being compiled: it does not score yet.")
    if model.summary.refused:
        notes.append(f"{model.summary.refused} labelled event(s) did not fit the columns and were not learned.")
    if model.sequencer.aging.n_forgotten:
        notes.append(
            f"{model.sequencer.aging.n_forgotten:,} old event(s) are no longer kept. Their ids are unknown: a label "
            "for one of them is parked, and learned by nobody."
        )
    judge = model.sequencer.judge
    if judge.n_parked >= judge.most_parked:
        notes.append(
            f"{judge.n_parked:,} labels wait for events that have not come, as many as may: further ones are refused "
            "until events come, or labels have waited too long."
        )
    if model.limits.bytes is not None and model.sequencer.aging.is_held_up:
        notes.append(
            f"The data have {model.size / 1e6:,.0f} MB, more than the limit of {model.limits.bytes / 1e6:,.0f}: the "
            "oldest events still wait for their labels, and are kept until these come or are given up."
        )
    return notes


def event_of(model: RunningModel, name: str) -> EventState | None:
    """An event, what was answered, what is known since, and why it would be scored so now."""
    place = model.sequencer.find([name])[0]
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


def history_of(model: RunningModel) -> History:
    """How the measures went."""
    return History(model.past.points)


def scores_of(model: RunningModel) -> Scores:
    """How the scores of the latest events lie, by what the events turned out to be."""
    places, scores = model.recent.scores()
    is_known = np.zeros(scores.size, dtype=np.bool_)
    if places.size:
        labelled = model.reader.labelled_between(int(places.min()), int(places.max()))
        is_known = np.isin(places, np.fromiter(labelled, dtype=np.int64, count=len(labelled)))
    known, signs = model.summary.labelled
    kinds = known[signs > 0], known[signs < 0], scores[~is_known]
    every = np.concatenate(kinds)
    if not every.size:
        return Scores([], [], [], [], None)
    # The outermost bars hold what lies beyond: a few far away must not press all others into one.
    low, high = np.quantile(every, [0.001, 0.999]).tolist()
    edges = np.linspace(low, high if high > low else low + 1.0, _BARS + 1)
    counts = [np.histogram(np.clip(own, edges[0], edges[-1]), edges)[0].tolist() for own in kinds]
    positive, negative, unknown = counts
    return Scores(edges.tolist(), positive, negative, unknown, model.summary.threshold)


def days_of(model: RunningModel, limit: int) -> Days:
    """The latest days of the stream: how much came, how it was scored, how many alerts were right."""
    clock = model.recent.clock
    if clock is None:
        return Days([])
    last, days = day_of(clock), []
    alerts = {day: counts for day, *counts in model.reader.alert_days(last, limit)}
    for day in range(last - limit + 1, last + 1):
        seen, counts = model.recent.day(day), alerts.get(day, [0, 0, 0])
        if seen is not None or day in alerts:
            days.append(Day(date_of(day), *(seen or (None, None)), *counts))
    return Days(days)


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
