"""The service without a server: requests as bytes into the application, answers out of it."""

import asyncio
from dataclasses import dataclass

import msgspec

from lopsided.serve.house import House
from lopsided.serve.web.app import application
from lopsided.serve.web.tokens import Tokens


@dataclass
class Answer:
    status: int
    headers: dict
    body: bytes

    @property
    def said(self):
        return msgspec.json.decode(self.body)


class Service:
    """Asks one request after the other, in a loop of its own."""

    def __init__(self, folder, tokens="", clock=None, limits=None, **options):
        self.house = House(folder, clock=clock, limits=limits)
        self.house.open()
        self.app = application(self.house, Tokens.parse(tokens), **options)
        self._loop = asyncio.new_event_loop()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.house.close()
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    def ask(self, method, path, body=b"", headers=(), query=b"", *, replace_host=False) -> Answer:
        """`body` is sent as it is, or as JSON."""
        content = body if isinstance(body, bytes) else msgspec.json.encode(body)
        given = [] if replace_host else [(b"host", b"localhost")]
        given += [(name.lower().encode(), _bytes(value)) for name, value in headers]
        return self._loop.run_until_complete(self._ask(method, path, content, given, query))

    async def _ask(self, method, path, content, headers, query) -> Answer:
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode("utf-8", "surrogatepass"),
            "query_string": query,
            "root_path": "",
            "headers": headers,
            "server": ("localhost", 80),
            "client": ("127.0.0.1", 1),
        }
        pieces = [content[: len(content) // 2], content[len(content) // 2 :]]
        events = [{"type": "http.request", "body": piece, "more_body": k == 0} for k, piece in enumerate(pieces)]
        sent = []

        async def receive():
            return events.pop(0) if events else {"type": "http.disconnect"}

        async def send(message):
            sent.append(message)

        await self.app(scope, receive, send)
        found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return Answer(sent[0]["status"], found, b"".join(message.get("body", b"") for message in sent[1:]))


def _bytes(value):
    return value if isinstance(value, bytes) else value.encode()
