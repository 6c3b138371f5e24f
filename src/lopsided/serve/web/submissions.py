"""Events and labels: checked, put in line, and answered when they are on disk."""

from __future__ import annotations

import asyncio
import hashlib
import re

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from lopsided.constraints import ParameterError
from lopsided.serve.messages import EventAnswers, LabelOutcomes
from lopsided.serve.requests import Request as Asked
from lopsided.serve.running import RunningModel
from lopsided.serve.web.door import ARROW, JSON, NDJSON, MalformedError, events_of, labels_of_request
from lopsided.serve.web.responses import body_of, house_of, json_response, model_of

_KEY = re.compile(r"[\x21-\x7e]{1,200}")
_CURL = "application/x-www-form-urlencoded"  # what curl -d says of everything; pages of others are told by their origin
_STATUS = {"parked": 202, "conflict": 409}


async def events(request: Request) -> Response:
    """Score one event or many."""
    model, kind, body = model_of(request), _kind_of(request), await body_of(request)
    asked, is_one = events_of(body, kind, model, house_of(request).now())
    asked.key = _key_of(request, body)
    await answered(model, asked)
    if asked.replayed is not None:
        asked.answers = msgspec.json.decode(asked.replayed, type=EventAnswers).answers
    return json_response(asked.answers[0] if is_one else asked.reply())


async def labels(request: Request) -> Response:
    """Take one label or many."""
    model, kind, body = model_of(request), _kind_of(request), await body_of(request)
    asked, is_one = labels_of_request(body, kind, model, house_of(request).now())
    asked.key = _key_of(request, body)
    await answered(model, asked)
    if asked.replayed is not None:
        asked.outcomes = msgspec.json.decode(asked.replayed, type=LabelOutcomes).outcomes
    if is_one:
        outcome = asked.outcomes[0]
        return json_response(outcome, _STATUS.get(outcome.outcome, 200))
    return json_response(asked.reply())


async def answered(model: RunningModel, asked: Asked) -> None:
    """Wait until a request has been answered and written; what went wrong is raised."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[None] = loop.create_future()

    def tell() -> None:
        if not future.done():  # whoever asked may have gone
            future.set_result(None)

    asked.done = lambda: _call(loop, tell)
    model.submit(asked)
    await future
    if asked.error is not None:
        raise asked.error


def _call(loop: asyncio.AbstractEventLoop, tell: object) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(tell)  # type: ignore[arg-type]


def _kind_of(request: Request) -> str:
    kind = request.headers.get("content-type", JSON).partition(";")[0].strip().lower()
    if kind == _CURL:
        return JSON
    if kind not in (JSON, NDJSON, ARROW):
        raise MalformedError(f"The Content-Type must be {JSON}, {NDJSON} or {ARROW}. Got {kind[:80]!r}.")
    return kind


def _key_of(request: Request, body: bytes) -> str | None:
    """By which the same request is known again; another request under the same key is another request."""
    key = request.headers.get("idempotency-key")
    if key is None:
        return None
    if not _KEY.fullmatch(key):
        raise ParameterError("The Idempotency-Key must be 1 to 200 visible ASCII characters. Got another.")
    return f"{request.url.path} {key} {hashlib.blake2b(body, digest_size=16).hexdigest()}"
