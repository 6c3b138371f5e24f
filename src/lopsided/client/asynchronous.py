"""The service, for programs that wait for many things at once."""

from __future__ import annotations

import asyncio
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


class AsyncClient:
    """The service, for programs that wait for many things at once; every call is awaited.

    Parameters
    ----------
    address : where it is, such as "http://127.0.0.1:8080".
    token : what it is to be told, if it has tokens.
    timeout : seconds after which a call is given up, and repeated if that is safe.
    """

    def __init__(self, address: str, token: str | None = None, timeout: float = 30.0) -> None:
        self._http = httpx.AsyncClient(base_url=address, headers=headers_for(token), timeout=timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Let the connections go."""
        await self._http.aclose()

    async def _send(self, call: Call[Answer]) -> Answer:
        key = {"Idempotency-Key": uuid.uuid4().hex}  # the same for every try
        for left in reversed(range(TRIES)):
            try:
                response = await self._http.request(call.method, call.path, content=call.content, headers=key)
            except httpx.TransportError:
                if not (left and call.repeatable):
                    raise
            else:
                if response.status_code not in PASSING or not left:
                    return understood(call, response)
            await asyncio.sleep(pause_before(left))
        raise AssertionError("the last try returns or raises")

    async def models(self) -> list[str]:
        """The names of all models."""
        return (await self._send(calls.models())).models

    async def make_model(self, name: str, **settings: Any) -> Done:
        """Make a model, as `ModelSettings` says; once more with the same settings changes nothing."""
        return await self._send(calls.make_model(name, settings))

    async def state(self, name: str) -> ModelState:
        """What a model is and how it is doing."""
        return await self._send(calls.state(name))

    async def score(
        self,
        name: str,
        columns: Mapping[str, Any],
        *,
        id: str | None = None,
        time: float | str | None = None,
        label: Any = None,
    ) -> EventAnswer:
        """Score one event; it waits for its label under its id."""
        return await self._send(calls.score(name, columns, id, time, label))

    async def score_many(self, name: str, events: Iterable[Mapping[str, Any]]) -> list[EventAnswer]:
        """Score many events: mappings with `columns` and, if you like, `id`, `time` and `label`."""
        return (await self._send(calls.score_many(name, events))).answers

    async def label(
        self, name: str, id: str, label: Any, *, time: float | str | None = None, correct: bool = False
    ) -> LabelOutcome:
        """What an event turned out to be."""
        return await self._send(calls.label(name, id, label, time, correct))

    async def label_many(self, name: str, labels: Iterable[Mapping[str, Any]]) -> list[LabelOutcome]:
        """What many turned out to be: mappings with `id`, `label` and, if you like, `time` and `correct`."""
        return (await self._send(calls.label_many(name, labels))).outcomes

    async def event(self, name: str, id: str) -> EventState:
        """An event, what was answered, what is known since, and why."""
        return await self._send(calls.event(name, id))

    async def waiting(self, name: str, limit: int = 100) -> Waiting:
        """Events without a label, the oldest first."""
        return await self._send(calls.waiting(name, limit))

    async def alerts(self, name: str, day: str | None = None, limit: int = 100) -> Alerts:
        """Alerts of a day."""
        return await self._send(calls.alerts(name, day, limit))

    async def decide(self, name: str, **decision: Any) -> Done:
        """Another rule for alerts: `threshold=` or `alerts=`, see `Decision`."""
        return await self._send(calls.decide(name, decision))

    async def challenge(self, name: str, learner: str, **parameters: Any) -> Done:
        """A learner that watches and answers nothing."""
        return await self._send(calls.challenge(name, learner, parameters))

    async def dismiss(self, name: str) -> Done:
        """Let the challenger go."""
        return await self._send(calls.dismiss(name))

    async def promote(self, name: str) -> Done:
        """Let the challenger answer from now on."""
        return await self._send(calls.promote(name))

    async def keep_version(self, name: str, version: str) -> Done:
        """Give the champion as it is a name."""
        return await self._send(calls.keep_version(name, version))

    async def roll_back(self, name: str, version: str) -> Done:
        """Make the champion what it was at a version."""
        return await self._send(calls.roll_back(name, version))
