"""A service on a socket: bound here, so that its port is known; SIGTERM and Ctrl-C end it with everything saved."""

from __future__ import annotations

import logging
import signal
import socket
import sys
from collections.abc import Callable

import uvicorn

from lopsided.constraints import ParameterError
from lopsided.serve.house import House
from lopsided.serve.web.app import application
from lopsided.serve.web.tokens import Tokens, is_loopback

_WAITING = 1024  # connections that have not been taken yet
_PATIENCE = 10  # seconds for answers that are on their way when the service is ended: some clients never take theirs
_SWITCH = 0.0005  # seconds after which a thread gives way: whoever answers must not wait long for whoever learns


def check_reachable(host: str, tokens: Tokens) -> None:
    """Refuse to be reached by other machines without tokens."""
    if not is_loopback(host) and not tokens:
        raise ParameterError(
            "A service that other machines can reach must have tokens: name a file of them by --tokens, or keep the "
            f"host 127.0.0.1. Got host {host!r} and no tokens."
        )


def serve(house: House, tokens: Tokens, host: str, port: int, started: Callable[[str], None]) -> None:
    """Serve until somebody ends it; `started` gets the address as soon as it answers."""
    check_reachable(host, tokens)
    sys.setswitchinterval(_SWITCH)
    own = _bound(host, port)
    name = f"[{host}]" if ":" in host else host
    address = f"http://{name}:{own.getsockname()[1]}"
    app = application(house, tokens, only_for=None if tokens else host)
    config = uvicorn.Config(
        app,
        log_level=logging.WARNING,
        access_log=False,
        backlog=_WAITING,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=_PATIENCE,
        proxy_headers=False,
    )
    server = _Server(config, lambda: started(address))
    # uvicorn sends itself the signal again when everything has been saved: then it has done its work.
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        server.run(sockets=[own])
    finally:
        own.close()
        for number, handler in before.items():
            signal.signal(number, handler)


class _Server(uvicorn.Server):
    """Tells when it answers."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._told = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn does, and tell."""
        await super().startup(sockets)
        if not self.should_exit:
            self._told()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn does, which waits for all answers: those that have no end must hear of it."""
        self.config.app.state.is_closing = True  # type: ignore[union-attr]
        await super().shutdown(sockets)


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    own = socket.socket(family, socket.SOCK_STREAM)
    own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        own.bind((host, port))
    except OSError as error:
        own.close()
        raise ParameterError(f"The port {port} of host {host!r} must be free. Got: {error.strerror}.") from None
    return own
