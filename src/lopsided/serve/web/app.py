"""The application: routes behind tokens and limits, the page, and what happens at the beginning and at the end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route as Path_
from starlette.types import Receive, Scope, Send

from lopsided.serve.house import House
from lopsided.serve.web.openapi import document
from lopsided.serve.web.prometheus import Times
from lopsided.serve.web.responses import json_response, problem, response_to
from lopsided.serve.web.routes import NOBODY, ROUTES, Handler, Route
from lopsided.serve.web.tokens import Tokens, is_own_page

_LOG = logging.getLogger("lopsided.serve")
_PAGE = Path(__file__).parent / "page"
_FILES = {"/": ("index.html", "text/html"), "/page.css": ("page.css", "text/css")} | {
    f"/{name}.js": (f"{name}.js", "text/javascript")
    for name in ("page", "service", "panels", "alerts", "charts", "words")
}
LARGEST_BODY = 16 << 20
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
# The page needs nothing but what the service itself gives.
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}


def application(
    house: House, tokens: Tokens, *, only_for: str | None = None, largest_body: int = LARGEST_BODY
) -> Starlette:
    """The service over one house of models, which is opened when it starts and closed when it stops.

    `only_for` is the host that requests must name, where there are no tokens: else a page of another site could give
    its own name the address of this machine, and then ask.
    """

    @contextlib.asynccontextmanager
    async def living(app: Starlette) -> AsyncIterator[None]:
        opening = asyncio.create_task(asyncio.to_thread(house.open))
        yield
        app.state.is_closing = True
        await opening
        await asyncio.to_thread(house.close)

    # An id may hold any characters, slashes too.
    paths = [
        Path_(route.path.replace("{id}", "{id:path}"), _guarded(route, tokens), methods=[route.method])
        for route in ROUTES
    ]
    paths += [Path_(path, _file(*file)) for path, file in _FILES.items()]
    described = document()
    paths.append(Path_("/openapi.json", lambda _: json_response(described)))
    app = _Service(tokens, routes=paths, lifespan=living, exception_handlers={404: _nothing_here, 405: _not_so})
    app.state.house, app.state.times, app.state.largest_body = house, Times(), largest_body
    app.state.is_closing = False
    app.state.only_for = None if only_for is None else {only_for, *_LOOPBACK}
    return app


class _Service(Starlette):
    """What is asked thousands of times a second goes straight to its handler, which catches what it raises itself."""

    def __init__(self, tokens: Tokens, **options: Any) -> None:
        super().__init__(**options)
        self.router.redirect_slashes = False  # only what is described is there
        self._hot = {route.path.rpartition("/")[2]: _guarded(route, tokens) for route in ROUTES[:2]}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST":
            _, _, rest = scope["path"].partition("/models/")
            name, _, what = rest.partition("/")
            if what in self._hot and scope["path"] == f"/models/{name}/{what}":
                scope["app"], scope["path_params"] = self, {"name": name}
                response = await self._hot[what](Request(scope, receive))
                await response(scope, receive, send)
                return
        await super().__call__(scope, receive, send)


def _guarded(route: Route, tokens: Tokens) -> Handler:
    """A handler that only those reach who may, whose errors become sentences, and whose time is taken."""

    async def handle(request: Request) -> Response:
        began = time.perf_counter()
        response = await _answer(route, tokens, request)
        times: Times = request.app.state.times
        times.took(route.method, route.path, response.status_code, time.perf_counter() - began)
        return response

    return handle


async def _answer(route: Route, tokens: Tokens, request: Request) -> Response:
    if route.right != NOBODY:
        host = request.headers.get("host", "")
        if request.app.state.only_for is not None and not _names(host, request.app.state.only_for):
            return problem(f"The Host of a request must be that of this service. Got {host[:80]!r}.", 403)
        header = request.headers.get("authorization")
        if not tokens.allows(header, None):
            return problem("A request must have a valid token: Authorization: Bearer TOKEN.", 401)
        if not tokens.allows(header, route.right):
            return problem(f"The token must have the right {route.right!r}.", 403)
        if request.method != "GET" and not is_own_page(request.headers.get("host"), request.headers.get("origin")):
            return problem("A page of another site must not change anything here.", 403)
    try:
        return await route.handler(request)
    except Exception as error:
        response = response_to(error)
        if response is None:
            _LOG.exception("A request to %s failed", route.path)
            response = problem("The service has made a mistake, which its log describes.", 500)
        return response


def _names(header: str, hosts: set[str]) -> bool:
    name = header if header.endswith("]") or ":" not in header else header.rpartition(":")[0]
    return name.strip("[]").lower() in hosts


def _file(name: str, kind: str) -> Any:
    async def handle(request: Request) -> Response:
        return FileResponse(_PAGE / name, media_type=kind, headers=_HEADERS)

    return handle


async def _nothing_here(request: Request, error: Exception) -> Response:
    return problem("The path must be one of those that /openapi.json lists.", 404)


async def _not_so(request: Request, error: Exception) -> Response:
    return problem(f"The path does not take {request.method}: see /openapi.json.", 405)
