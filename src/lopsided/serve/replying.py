"""Requests that come again: whoever got no answer may repeat a request by its key, and nothing happens twice."""

from __future__ import annotations

import msgspec

from lopsided.serve.requests import Request
from lopsided.serve.storage.log import Group, LogReader


class RepeatedTooSoonError(Exception):
    """A request came again while it was still being answered."""

    def __str__(self) -> str:
        return "A request must not be repeated before its answer can be read. Got one with the same Idempotency-Key."


class Replies:
    """Answers by the key of their request, which are written together with what they acknowledge."""

    def __init__(self, reader: LogReader) -> None:
        self._reader = reader
        self._unwritten: dict[str, int] = {}  # keys of requests that are being answered, and the entry behind them

    def was_answered(self, request: Request) -> bool:
        """Whether this very request was answered before; then it gets the same answer again."""
        if request.key is None:
            return False
        if request.key in self._unwritten:  # of this group, or of one that is being written
            request.error = RepeatedTooSoonError()
            return True
        request.replayed = self._reader.reply(request.key)
        if request.replayed is None:
            self._unwritten[request.key] = 1 << 62  # until it is known which entries it makes
        return request.replayed is not None

    def keep(self, request: Request, group: Group, sequence: int) -> None:
        """Write the answer of a request with its group, whose last entry is this one."""
        if request.key is None or request.replayed is not None or isinstance(request.error, RepeatedTooSoonError):
            return
        reply = request.reply()
        if request.error is not None or reply is None:
            del self._unwritten[request.key]
            return
        self._unwritten[request.key] = sequence
        group.replies.append((request.key, group.received, msgspec.json.encode(reply), sequence))

    def written(self, sequence: int) -> None:
        """Everything up to this entry can be read."""
        for key in [key for key, behind in self._unwritten.items() if behind <= sequence]:
            del self._unwritten[key]
