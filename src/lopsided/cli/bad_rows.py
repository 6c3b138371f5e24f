"""What happens to rows that cannot be used: the end, nothing, or a file of them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import IO, Any

import click

from lopsided.cli.options import DEFAULT_QUARANTINE
from lopsided.constraints import ParameterError
from lopsided.streams.errors import StreamError

_SHOWN = 5


def quarantine_path(on_error: str, quarantine: str | None) -> str | None:
    """Where bad rows are written, if they are."""
    return quarantine or (DEFAULT_QUARANTINE if on_error == "quarantine" else None)


class BadRows:
    """Counts bad rows and does with them as `--on-error` says; use it in a `with` statement.

    A quarantine is a file of JSON objects, one a bad row: source, line, field, expected, got, and the row itself. It is
    opened for the first bad row, and what earlier runs wrote there stays.
    """

    def __init__(self, on_error: str, quarantine: str | None) -> None:
        self.path = quarantine_path(on_error, quarantine)
        if self.path is not None:
            _check_can_append(self.path)
        self.stops = on_error == "stop" and quarantine is None
        self.count = 0
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


def _check_can_append(path: str) -> None:
    """Refuse before the work what the first bad row would meet in the midst of it."""
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path) or not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise ParameterError(
            f"The option --quarantine must name a file in a directory that can be written to, got {path!r}."
        )


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
