"""What may be asked of the service without changing anything."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable
from datetime import date
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from lopsided.constraints import ParameterError
from lopsided.serve import looking
from lopsided.serve.configuration import day_of
from lopsided.serve.messages import Models
from lopsided.serve.running import RunningModel
from lopsided.serve.web.prometheus import exposition
from lopsided.serve.web.responses import NotFoundError, house_of, json_response, model_of, problem

_MOST_DAYS = 60
_BETWEEN_STATES = 1.0  # seconds
_Found = TypeVar("_Found")


async def healthy(request: Request) -> Response:
    """The process answers."""
    return json_response({"status": "ok"})


async def ready(request: Request) -> Response:
    """All models are open and can write."""
    house = house_of(request)
    broken = [*house.broken, *(name for name in house.names if house.model(name).failure is not None)]
    if not house.is_ready or broken:
        return problem(
            f"Not ready: {', '.join(broken) + ' cannot write' if broken else 'models are being opened'}.", 503
        )
    return json_response({"status": "ready"})


async def metrics(request: Request) -> Response:
    """For Prometheus."""
    house = house_of(request)
    content, kind = exposition(request.app.state.times, [house.model(name) for name in house.names])
    return Response(content, media_type=kind)


async def models(request: Request) -> Response:
    """All names."""
    return json_response(Models(house_of(request).names))


async def state(request: Request) -> Response:
    """What a model is."""
    return json_response(await _looked(model_of(request), looking.state_of))


async def event(request: Request) -> Response:
    """An event by its id."""
    name = request.path_params["id"]
    found = await _looked(model_of(request), lambda model: looking.event_of(model, name))
    if found is None:
        raise NotFoundError(f"The id must be that of an event of this model. Got {name[:80]!r}.")
    return json_response(found)


async def waiting(request: Request) -> Response:
    """The oldest events without a label."""
    limit = _limit(request)
    return json_response(await _looked(model_of(request), lambda model: looking.waiting_of(model, limit)))


async def alerts(request: Request) -> Response:
    """Alerts of a day."""
    given, limit = request.query_params.get("day"), _limit(request)
    try:
        if given is None:
            clock = model_of(request).recent.clock
            day = day_of(house_of(request).now() if clock is None else clock)
        else:
            day = (date.fromisoformat(given) - date(1970, 1, 1)).days
    except ValueError:
        raise ParameterError(f"The day must be a date such as 2026-03-31. Got {given!r}.") from None
    return json_response(await _looked(model_of(request), lambda model: looking.alerts_of(model, day, limit)))


async def history(request: Request) -> Response:
    """How the measures went."""
    return json_response(looking.history_of(model_of(request)))


async def scores(request: Request) -> Response:
    """How scores lie, by class."""
    return json_response(await _looked(model_of(request), looking.scores_of))


async def days(request: Request) -> Response:
    """The latest days."""
    limit = min(_limit(request), _MOST_DAYS)
    return json_response(await _looked(model_of(request), lambda model: looking.days_of(model, limit)))


async def stream(request: Request) -> Response:
    """The state of a model, every second, for as long as somebody looks."""
    model = model_of(request)
    return StreamingResponse(
        _states(request, model), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


async def _states(request: Request, model: RunningModel) -> AsyncIterator[bytes]:
    while not await request.is_disconnected() and not request.app.state.is_closing:
        yield b"event: state\ndata: " + await _looked(model, _shown) + b"\n\n"
        await asyncio.sleep(_BETWEEN_STATES)


def _shown(model: RunningModel) -> bytes:
    """The state as JSON, worked out once for all who watch."""
    now = time.monotonic()
    if model.shown is None or now - model.shown[0] > 0.9 * _BETWEEN_STATES:
        model.shown = now, msgspec.json.encode(looking.state_of(model))
    return model.shown[1]


def _limit(request: Request) -> int:
    text = request.query_params.get("limit", "100")
    if not re.fullmatch("[0-9]{1,4}", text) or not 1 <= int(text) <= 1000:
        raise ParameterError(f"The limit must be a number from 1 to 1000. Got {text[:20]!r}.")
    return int(text)


async def _looked(model: RunningModel, look: Callable[[RunningModel], _Found]) -> _Found:
    """In a thread of its own: reading a disk must not stop the others."""

    def alone() -> Any:
        with model.asking:
            model.check_open()
            return look(model)

    return await asyncio.to_thread(alone)
