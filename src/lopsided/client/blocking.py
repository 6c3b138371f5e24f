"""The service, one call after the other."""

from __future__ import annotations

import time as clock
import uuid
from collections.abc import Iterable, Mapping
from typing import Any, Self

import httpx

from lopsided.client import calls
from lopsided.client.calls import PASSING, TRIES, Answer, Call, headers_for, pause_before, understood
from lopsided.serve.messages import (
    Alerts,
    Done,
    EventAnswer,
    EventState,
    LabelOutcome,
    ModelState,
    Waiting,
)


class Client:
    """The service, one call after the other.

    Parameters
    ----------
    address : where it is, such as "http://127.0.0.1:8080".
    token : what it is to be told, if it has tokens.
    timeout : seconds after which a call is given up, and repeated if that is safe.
    """

    def __init__(self, address: str, token: str | None = None, timeout: float = 30.0) -> None:
        self._http = httpx.Client(base_url=address, headers=headers_for(token), timeout=timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the connections go."""
        self._http.close()

    def _send(self, call: Call[Answer]) -> Answer:
        key = {"Idempotency-Key": uuid.uuid4().hex}  # the same for every try
        for left in reversed(range(TRIES)):
            try:
                response = self._http.request(call.method, call.path, content=call.content, headers=key)
            except httpx.TransportError:
                if not (left and call.repeatable):
                    raise
            else:
                if response.status_code not in PASSING or not left:
                    return understood(call, response)
            clock.sleep(pause_before(left))
        raise AssertionError("the last try returns or raises")

    def models(self) -> list[str]:
        """The names of all models."""
        return self._send(calls.models()).models

    def make_model(self, name: str, **settings: Any) -> Done:
        """Make a model, as `ModelSettings` says; once more with the same settings changes nothing."""
        return self._send(calls.make_model(name, settings))

    def state(self, name: str) -> ModelState:
        """What a model is and how it is doing."""
        return self._send(calls.state(name))

    def score(
        self,
        name: str,
        columns: Mapping[str, Any],
        *,
        id: str | None = None,
        time: float | str | None = None,
        label: Any = None,
    ) -> EventAnswer:
        """Score one event; it waits for its label under its id."""
        return self._send(calls.score(name, columns, id, time, label))

    def score_many(self, name: str, events: Iterable[Mapping[str, Any]]) -> list[EventAnswer]:
        """Score many events: mappings with `columns` and, if you like, `id`, `time` and `label`."""
        return self._send(calls.score_many(name, events)).answers

    def label(
        self, name: str, id: str, label: Any, *, time: float | str | None = None, correct: bool = False
    ) -> LabelOutcome:
        """What an event turned out to be."""
        return self._send(calls.label(name, id, label, time, correct))

    def label_many(self, name: str, labels: Iterable[Mapping[str, Any]]) -> list[LabelOutcome]:
        """What many turned out to be: mappings with `id`, `label` and, if you like, `time` and `correct`."""
        return self._send(calls.label_many(name, labels)).outcomes

    def event(self, name: str, id: str) -> EventState:
        """An event, what was answered, what is known since, and why."""
        return self._send(calls.event(name, id))

    def waiting(self, name: str, limit: int = 100) -> Waiting:
        """Events without a label, the oldest first."""
        return self._send(calls.waiting(name, limit))

    def alerts(self, name: str, day: str | None = None, limit: int = 100) -> Alerts:
        """Alerts of a day."""
        return self._send(calls.alerts(name, day, limit))

    def decide(self, name: str, **decision: Any) -> Done:
        """Another rule for alerts: `threshold=` or `alerts=`, see `Decision`."""
        return self._send(calls.decide(name, decision))

    def challenge(self, name: str, learner: str, **parameters: Any) -> Done:
        """A learner that watches and answers nothing."""
        return self._send(calls.challenge(name, learner, parameters))

    def dismiss(self, name: str) -> Done:
        """Let the challenger go."""
        return self._send(calls.dismiss(name))

    def promote(self, name: str) -> Done:
        """Let the challenger answer from now on."""
        return self._send(calls.promote(name))

    def keep_version(self, name: str, version: str) -> Done:
        """Give the champion as it is a name."""
        return self._send(calls.keep_version(name, version))

    def roll_back(self, name: str, version: str) -> Done:
        """Make the champion what it was at a version."""
        return self._send(calls.roll_back(name, version))
