"""All requests to the service and the types of their answers, whoever sends them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import quote

import httpx
import msgspec

from lopsided.serve.messages import (
    Alerts,
    ChallengerSettings,
    Decision,
    Done,
    Event,
    EventAnswer,
    EventAnswers,
    EventState,
    LabelGiven,
    LabelOutcome,
    LabelOutcomes,
    Models,
    ModelSettings,
    ModelState,
    Problem,
    Waiting,
)

Answer = TypeVar("Answer")
PASSING = (429, 503)  # what may be gone in a second
TRIES = 5
_LABEL_STATUSES = (200, 202, 409)  # all of them say what became of a label


class ServiceError(Exception):
    """The service has refused a request; `status` is the HTTP status, the text its sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass(frozen=True)
class Call(Generic[Answer]):
    """A request, and the type of its answer."""

    method: str
    path: str
    gives: type[Answer]
    body: Any = None
    repeatable: bool = True
    accepts: tuple[int, ...] = (200, 201)

    @property
    def content(self) -> bytes | None:
        """The body in JSON."""
        return None if self.body is None else msgspec.json.encode(self.body)


def models() -> Call[Models]:
    """All models."""
    return Call("GET", "/models", Models)


def make_model(name: str, settings: Mapping[str, Any]) -> Call[Done]:
    """Make a model."""
    return Call("PUT", _model(name), Done, msgspec.convert(dict(settings), ModelSettings))


def state(name: str) -> Call[ModelState]:
    """The state of a model."""
    return Call("GET", _model(name), ModelState)


def score(
    name: str, columns: Mapping[str, Any], id: str | None, time: float | str | None, label: Any
) -> Call[EventAnswer]:
    """Score one event."""
    event = _event({"columns": columns, "id": id, "time": time, "label": label})
    return Call("POST", f"{_model(name)}/events", EventAnswer, event, repeatable=id is not None)


def score_many(name: str, events: Iterable[Mapping[str, Any]]) -> Call[EventAnswers]:
    """Score many events."""
    return Call("POST", f"{_model(name)}/events", EventAnswers, [_event(event) for event in events])


def label(name: str, id: str, label: Any, time: float | str | None, correct: bool) -> Call[LabelOutcome]:
    """One label."""
    given = _label({"id": id, "label": label, "time": time, "correct": correct})
    return Call("POST", f"{_model(name)}/labels", LabelOutcome, given, accepts=_LABEL_STATUSES)


def label_many(name: str, labels: Iterable[Mapping[str, Any]]) -> Call[LabelOutcomes]:
    """Many labels."""
    return Call("POST", f"{_model(name)}/labels", LabelOutcomes, [_label(label) for label in labels])


def event(name: str, id: str) -> Call[EventState]:
    """An event by its id."""
    return Call("GET", f"{_model(name)}/events/{quote(id, safe='')}", EventState)


def waiting(name: str, limit: int) -> Call[Waiting]:
    """Events without a label."""
    return Call("GET", f"{_model(name)}/waiting?limit={limit}", Waiting)


def alerts(name: str, day: str | None, limit: int) -> Call[Alerts]:
    """Alerts of a day."""
    when = "" if day is None else f"&day={day}"
    return Call("GET", f"{_model(name)}/alerts?limit={limit}{when}", Alerts)


def decide(name: str, decision: Mapping[str, Any]) -> Call[Done]:
    """Another rule for alerts."""
    return Call("PUT", f"{_model(name)}/decision", Done, msgspec.convert(dict(decision), Decision))


def challenge(name: str, learner: str, parameters: Mapping[str, Any]) -> Call[Done]:
    """A challenger."""
    chosen = ChallengerSettings(learner, dict(parameters))
    return Call("PUT", f"{_model(name)}/challenger", Done, chosen, repeatable=False)


def dismiss(name: str) -> Call[Done]:
    """No challenger."""
    return Call("DELETE", f"{_model(name)}/challenger", Done, repeatable=False)


def promote(name: str) -> Call[Done]:
    """The challenger answers."""
    return Call("POST", f"{_model(name)}/promote", Done, repeatable=False)


def keep_version(name: str, version: str) -> Call[Done]:
    """A name for the champion."""
    return Call("POST", f"{_model(name)}/versions", Done, {"name": version}, repeatable=False)


def roll_back(name: str, version: str) -> Call[Done]:
    """Back to a version."""
    return Call("POST", f"{_model(name)}/rollback", Done, {"name": version}, repeatable=False)


def _model(name: str) -> str:
    return f"/models/{quote(name, safe='')}"


def _event(fields: Mapping[str, Any]) -> Event:
    return msgspec.convert({name: value for name, value in fields.items() if value is not None}, Event)


def _label(fields: Mapping[str, Any]) -> LabelGiven:
    return msgspec.convert({name: value for name, value in fields.items() if value is not None}, LabelGiven)


def headers_for(token: str | None) -> dict[str, str]:
    """What every request says."""
    return {"Content-Type": "application/json"} | ({} if token is None else {"Authorization": f"Bearer {token}"})


def understood(call: Call[Answer], response: httpx.Response) -> Answer:
    """The answer of the service, or the error that it is."""
    if response.status_code in call.accepts:
        return msgspec.json.decode(response.content, type=call.gives)
    try:
        sentence = msgspec.json.decode(response.content, type=Problem).error
    except msgspec.MsgspecError:
        sentence = f"The service must answer as its description says. Got status {response.status_code}."
    raise ServiceError(response.status_code, sentence)


def pause_before(left: int) -> float:
    """Seconds to wait when so many tries are left."""
    return 0.2 * 2.0 ** (TRIES - 1 - left)
