"""Requests that come again: by their Idempotency-Key they get the answer that they got before, and that is all."""

from __future__ import annotations

import msgspec

from lopsided.serve.requests import Request
from lopsided.serve.storage.log import Group, LogReader


class RepeatedTooSoonError(Exception):
    """A request came again while it was still being answered."""

    def __str__(self) -> str:
        return "A request must not be repeated before its answer can be read. Got one with the same Idempotency-Key."


class Replies:
    """What was answered to requests that have a key."""

    def __init__(self, reader: LogReader) -> None:
        self._reader = reader
        self._unwritten: set[str] = set()  # keys of requests whose replies cannot be read yet

    def knows(self, request: Request) -> bool:
        """Whether this very request was answered before, by its key; then it gets the same answer again."""
        if request.key is None:
            return False
        if request.key in self._unwritten:
            request.error = RepeatedTooSoonError()
            return True
        request.replayed = self._reader.reply(request.key)
        if request.replayed is None:
            self._unwritten.add(request.key)
        return request.replayed is not None

    def keep(self, request: Request, group: Group) -> None:
        """Write the answer to a request with a key."""
        if request.key is None or request.error is not None or request.replayed is not None:
            return
        reply = request.reply()
        if reply is not None:
            group.replies.append((request.key, group.received, msgspec.json.encode(reply)))

    def all_written(self) -> None:
        """All replies can be read."""
        self._unwritten.clear()
