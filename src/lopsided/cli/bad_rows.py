"""What happens to rows that cannot be used: the end, nothing, or a file of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import IO, Any

import click

from lopsided.cli.options import DEFAULT_QUARANTINE
from lopsided.streams.errors import StreamError

_SHOWN = 5


class BadRows:
    """Counts bad rows and does with them as `--on-error` says; use it in a `with` statement.

    A quarantine is a file of JSON objects, one a bad row: source, line, field, expected, got, and the row itself.
    """

    def __init__(self, on_error: str, quarantine: str | None) -> None:
        self.path = quarantine or (DEFAULT_QUARANTINE if on_error == "quarantine" else None)
        self.stops = on_error == "stop" and quarantine is None
        self.count = 0
        self._file: IO[str] | None = None

    def __enter__(self) -> BadRows:
        if self.path is not None:
            self._file = open(self.path, "w", encoding="utf-8")
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
            if self._file is not None:
                json.dump(facts_of(error), self._file, ensure_ascii=False)
                self._file.write("\n")
            if self.count <= _SHOWN:
                click.secho(f"left out: {error}", fg="yellow", err=True)
        if self._file is not None:
            self._file.flush()

    def summary(self) -> str:
        """One sentence on the rows left out; nothing if there are none."""
        if not self.count:
            return ""
        where = f", written to {self.path}" if self.path is not None else ""
        return f"{self.count:,} bad {'row' if self.count == 1 else 'rows'} left out{where}"


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
