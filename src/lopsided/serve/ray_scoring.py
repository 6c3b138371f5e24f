"""The scoring side of the service on Ray Serve: as many replicas as you like, which read what the service has saved.

Needs the extras `[ray,serve]`. This is the only file of the service that imports `ray`.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from ray import serve
from starlette.requests import Request
from starlette.responses import Response

from lopsided.serve.following import FollowedModel, ReadModel, followed_models
from lopsided.serve.web.door import MalformedError
from lopsided.serve.web.inference import InferenceRequest, outputs_of, reply_to, rows_of
from lopsided.serve.web.responses import NotFoundError, TooLargeError, json_response, problem, response_to

_LARGEST_BODY = 16 << 20
_PATH = re.compile(r"(?P<prefix>.*)/v2/models/(?P<name>[^/]+)(?P<ask>/infer|/ready)?")
_request = msgspec.json.Decoder(InferenceRequest)


class ScoringReplica:
    """Answers by the models that it has read last, and looks for newer ones every `check_every` seconds."""

    def __init__(
        self, where: str | Mapping[str, str], versions: Mapping[str, str] | None = None, check_every: float = 1.0
    ) -> None:
        self._where, self._versions, self._check_every = where, dict(versions or {}), check_every
        self._models: dict[str, FollowedModel] = {}
        self._looked = -float("inf")
        self._looking = asyncio.Lock()
        self._look()

    def _look(self) -> None:
        for name, model in followed_models(self._where, self._versions).items():
            self._models.setdefault(name, model).look()

    async def _current(self, name: str) -> ReadModel:
        if time.monotonic() - self._looked > self._check_every and not self._looking.locked():
            async with self._looking:
                await asyncio.to_thread(self._look)
                self._looked = time.monotonic()
        if name not in self._models:
            raise NotFoundError(f"There is no model {name[:64]!r}.")
        model = self._models[name].now
        if model is None:
            raise _NotReadyError(f"The model {name!r} has not been saved yet.")
        return model

    async def __call__(self, request: Request) -> Response:
        """`POST /v2/models/NAME/infer`, `GET /v2/models/NAME/ready` and `GET /v2/models/NAME`."""
        try:
            return await self._answer(request)
        except _NotReadyError as error:
            return problem(str(error), 503, {"Retry-After": "1"})
        except Exception as error:
            response = response_to(error)
            if response is None:
                raise
            return response

    async def _answer(self, request: Request) -> Response:
        match = _PATH.fullmatch(request.url.path)
        if match is None or (request.method == "POST") != (match["ask"] == "/infer"):
            raise NotFoundError(f"There is no {request.method} {request.url.path[:100]}.")
        name = match["name"]
        model = await self._current(name)
        facts = {"name": name, "model_version": str(model.version)}
        if match["ask"] is None:
            return json_response(facts | {"platform": "lopsided", "versions": [str(model.version)]})
        if match["ask"] == "/ready":
            return json_response(facts | {"ready": True})
        asked = _asked(await request.body())
        rows = rows_of(asked)
        outputs = await asyncio.to_thread(lambda: outputs_of(model.scorer, model.encoded(rows), model.labels))
        return json_response(reply_to(asked, {"model_name": name, "model_version": str(model.version)}, outputs))


class _NotReadyError(Exception):
    """The model is known, and has nothing to answer by."""


def _asked(body: bytes) -> InferenceRequest:
    if len(body) > _LARGEST_BODY:
        raise TooLargeError(f"The body must have at most {_LARGEST_BODY:,} bytes. Got {len(body):,}.")
    try:
        asked: InferenceRequest = _request.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedError(f"The request must be valid. Got: {error}.") from None
    return asked


def scoring_app(
    where: str | Path | Mapping[str, str | Path],
    *,
    versions: Mapping[str, str] | None = None,
    replicas: int = 2,
    check_every: float = 1.0,
    **options: Any,
) -> Any:
    """An application for `ray.serve.run`: replicas that score over HTTP by what a service has saved.

    Each replica answers the Open Inference Protocol as `lopsided serve` does, `/v2/models/NAME/infer`, and says by
    which version. It reads the newest snapshots, which the service writes every 30 seconds or 20,000 labels, and scores
    by them until there are newer ones. Nothing is written: events and labels go to the service, the one writer of a
    model.

    Parameters
    ----------
    where : path, or mapping of names to paths
        The data directory of `lopsided serve`, which all machines of the cluster must see; or by name the folder of a
        served model, `DATA/models/NAME`, or the file of any model.
    versions : mapping of model names to version names, optional
        Score by a version that was given a name, instead of the newest snapshot.
    replicas : int, default=2
        How many processes answer.
    check_every : float, default=1.0
        Seconds after which a replica looks for newer files.
    **options : what `ray.serve.deployment` takes
        Such as `ray_actor_options`, `max_ongoing_requests` or `autoscaling_config` (with `replicas=None`).
    """
    paths = {name: str(path) for name, path in where.items()} if isinstance(where, Mapping) else str(where)
    how = options if replicas is None else {"num_replicas": replicas, **options}
    deployment = serve.deployment(**how)(ScoringReplica)
    return deployment.bind(paths, dict(versions or {}), check_every)


def app(arguments: dict[str, str]) -> Any:
    """For the command line of Ray: `serve run lopsided.serve.ray_scoring:app data=DATA replicas=4`."""
    return scoring_app(arguments["data"], replicas=int(arguments.get("replicas", "2")))
