"""What happens to rows that cannot be used: the end, nothing, or a file of them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import IO, Any

from lopsided.feeds.arguments import ArgumentError
from lopsided.streams.errors import StreamError

DEFAULT_QUARANTINE = "bad-rows.ndjson"
WAYS = ("stop", "skip", "quarantine")
_TOLD = 5

# Takes one line that somebody should read while the stream goes on, and the argument of `open_feed` it speaks of.
Tell = Callable[[str, str | None], None]


def quarantine_path(on_error: str, quarantine: str | None) -> str | None:
    """Where bad rows are written, if they are."""
    return quarantine or (DEFAULT_QUARANTINE if on_error == "quarantine" else None)


class BadRows:
    """Counts bad rows and stops at them, skips them or writes them down; use it in a `with` statement.

    A quarantine is a file of JSON objects, one a bad row: source, line, field, expected, got, and the row itself. It is
    opened for the first bad row, and what earlier runs wrote there stays.

    Parameters
    ----------
    on_error : "stop", "skip" or "quarantine"; a `quarantine` that is named is used also with "skip".
    quarantine : the file; by default bad-rows.ndjson.
    tell : called with a line for each of the first five bad rows that are left out.
    """

    def __init__(self, on_error: str, quarantine: str | None, tell: Tell) -> None:
        if on_error not in WAYS:
            sentence = f"The way to treat bad rows must be one of {', '.join(WAYS)}, got {on_error!r}."
            raise ArgumentError(sentence, "on_error")
        self.path = quarantine_path(on_error, quarantine)
        if self.path is not None:
            _check_can_append(self.path)
        self.stops = on_error == "stop" and quarantine is None
        self.count = 0
        self._tell = tell
        self._file: IO[str] | None = None

    def __enter__(self) -> BadRows:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def take(self, errors: Sequence[StreamError]) -> None:
        """Deal with the bad rows of a chunk, before anything is learned from it."""
        for error in errors:
            if self.stops:
                raise error
            self.count += 1
            if self.path is not None:
                if self._file is None:
                    self._file = open(self.path, "a", encoding="utf-8")  # noqa: SIM115
                json.dump(facts_of(error), self._file, ensure_ascii=False)
                self._file.write("\n")
            if self.count <= _TOLD:
                self._tell(f"left out: {error}", None)
        if self._file is not None:
            self._file.flush()

    def summary(self) -> str:
        """One sentence on the rows left out; nothing if there are none."""
        if not self.count:
            return ""
        where = f", written to {self.path}" if self.path is not None else ""
        return f"{self.count:,} bad {'row' if self.count == 1 else 'rows'} left out{where}"


def _check_can_append(path: str) -> None:
    """Refuse before the work what the first bad row would meet in the midst of it."""
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path) or not os.access(path if os.path.exists(path) else folder, os.W_OK):
        sentence = f"The quarantine must be a file in a directory that can be written to, got {path!r}."
        raise ArgumentError(sentence, "quarantine")


def facts_of(error: StreamError) -> dict[str, Any]:
    """An error as plain values."""
    return {
        "source": error.source,
        error.unit: error.line,
        "field": error.field,
        "expected": error.rule,
        "got": error.got,
        "raw": error.raw,
    }
