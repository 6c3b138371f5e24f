"""One moving line on stderr while a long command runs; nothing if stderr is no terminal."""

from __future__ import annotations

import time

from lopsided.cli.display import count, score

_SECONDS_BETWEEN = 0.25


class Status:
    """How far a stream has been worked through: rows, rows a second, the share of bytes, a figure of merit."""

    def __init__(self, verb: str) -> None:
        from rich.console import Console

        self.n_rows = 0
        self.begin = time.perf_counter()
        self._verb = verb
        self._console = Console(stderr=True)
        self._status = self._console.status(f"{verb} ...") if self._console.is_terminal else None
        self._shown = 0.0

    def __enter__(self) -> Status:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.perf_counter() - self.begin

    @property
    def rows_per_second(self) -> float:
        """Over the whole time, reading included."""
        return self.n_rows / self.seconds if self.n_rows else float("nan")

    def advance(self, n_rows: int, share: float | None = None, **figures: float) -> None:
        """So many more rows are done."""
        self.n_rows += n_rows
        now = time.perf_counter()
        if self._status is None or now - self._shown < _SECONDS_BETWEEN:
            return
        self._shown = now
        done = "" if share is None else f", {min(share, 1.0):.0%}"
        rest = "".join(f", {name} {score(value)}" for name, value in figures.items())
        self._status.update(
            f"{self._verb}: {count(self.n_rows)} rows, {count(self.rows_per_second)} per second{done}{rest}"
        )
