"""Answers as JSON, and what becomes of errors: a status and a sentence."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from lopsided.constraints import ParameterError
from lopsided.serve.house import ExistsError, House, UnknownModelError
from lopsided.serve.judging import NoRoomError
from lopsided.serve.messages import Problem
from lopsided.serve.replying import RepeatedTooSoonError
from lopsided.serve.running import BusyError, RunningModel, UnavailableError
from lopsided.serve.web.door import MalformedError

_JSON = "application/json"
_encode = msgspec.json.Encoder().encode

# The first that fits; what is a ValueError is input that a model or its encoder refused with a sentence.
_STATUSES: tuple[tuple[type[Exception], int], ...] = (
    (MalformedError, 400),
    (UnknownModelError, 404),
    (ExistsError, 409),
    (RepeatedTooSoonError, 409),
    (BusyError, 429),
    (NoRoomError, 429),
    (UnavailableError, 503),
    (ParameterError, 422),
    (ValueError, 422),
)


class TooLargeError(Exception):
    """The body of a request is larger than the service takes."""


class NotFoundError(Exception):
    """There is no such thing."""


def json_response(content: Any, status: int = 200) -> Response:
    """A value as JSON."""
    return Response(_encode(content), status, media_type=_JSON)


def problem(sentence: str, status: int, headers: dict[str, str] | None = None) -> Response:
    """A refusal."""
    return Response(_encode(Problem(sentence)), status, headers, media_type=_JSON)


def response_to(error: Exception) -> Response | None:
    """What an error is answered with; None if it is a mistake of ours."""
    if isinstance(error, TooLargeError):
        return problem(str(error), 413)
    if isinstance(error, NotFoundError):
        return problem(str(error), 404)
    for kind, status in _STATUSES:
        if isinstance(error, kind):
            return problem(str(error), status, {"Retry-After": "1"} if status in (429, 503) else None)
    return None


def house_of(request: Request) -> House:
    """The models that the service has."""
    house: House = request.app.state.house
    return house


def model_of(request: Request) -> RunningModel:
    """The model that a request names."""
    return house_of(request).model(request.path_params["name"])


async def body_of(request: Request) -> bytes:
    """The body of a request, up to the limit."""
    limit = request.app.state.largest_body
    length = request.headers.get("content-length")
    if length is not None and (not re.fullmatch("[0-9]{1,19}", length) or int(length) > limit):
        raise TooLargeError(f"The body of a request must have at most {limit:,} bytes. Got {length[:20]}.")
    pieces, size = [], 0
    async for piece in request.stream():
        size += len(piece)
        if size > limit:
            raise TooLargeError(f"The body of a request must have at most {limit:,} bytes. Got more.")
        pieces.append(piece)
    return b"".join(pieces)


async def decoded(request: Request, kind: Any) -> Any:
    """The body of a request as a value of a type."""
    try:
        return msgspec.json.decode(await body_of(request), type=kind)
    except msgspec.ValidationError as error:
        raise ParameterError(f"The request must fit its description. Got: {error}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedError(f"The request must be valid JSON. Got: {error}.") from None
