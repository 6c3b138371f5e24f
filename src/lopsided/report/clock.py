"""What stands on the axis over a stream: dates or the time since its start if rows have moments, else row numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

DATES, ELAPSED, ROWS = "dates", "elapsed", "rows"
DAY = 86400.0
_MOST_OUT_OF_ORDER = 0.05
# Numbers between these are seconds since 1970 of the years 1990 to 2100; nothing else is that likely to be.
_UNIX_TIMES = (6.3e8, 4.1e9)


@dataclass(frozen=True)
class Clock:
    """Where the rows of a stream stand on an axis.

    `kind` is dates, elapsed (a time column of numbers that are no dates) or rows. `latest` is the latest moment that
    had come with each row, in seconds; `note` says why moments that are there are not used.
    """

    kind: str
    latest: Floats | None = None
    note: str = ""

    @classmethod
    def of(cls, times: Floats | None, *, are_dates: bool | None = None) -> Self:
        """By the moments of all rows, NaN where unknown; whether they are dates is guessed by their size if None."""
        if times is None or not times.size or not np.isfinite(times).any():
            return cls(ROWS)
        latest = np.fmax.accumulate(times)
        if np.mean(times < latest) > _MOST_OUT_OF_ORDER:
            return cls(ROWS, note="The rows are not in the order of their times, so that axes count rows.")
        first = int(np.flatnonzero(np.isfinite(latest))[0])
        latest[:first] = latest[first]
        if are_dates is None:
            are_dates = bool(_UNIX_TIMES[0] < latest[0] and latest[-1] < _UNIX_TIMES[1])
        return cls(DATES if are_dates else ELAPSED, latest)

    @property
    def label(self) -> str:
        """What to write at the axis; dates speak for themselves."""
        return f"{self._unit[0]} since the start" if self.kind == ELAPSED else "rows" if self.kind == ROWS else ""

    @property
    def _unit(self) -> tuple[str, float]:
        assert self.latest is not None
        span = self.latest[-1] - self.latest[0]
        return ("days", DAY) if span >= 2 * DAY else ("hours", 3600.0) if span >= 7200.0 else ("seconds", 1.0)

    def at(self, n: Any) -> Any:
        """The places on the axis after so many rows (at least 1)."""
        n = np.asarray(n)
        if self.latest is None:
            return n
        return self.as_axis(self.latest[np.maximum(n.astype(np.int64) - 1, 0)])

    def as_axis(self, seconds: Floats) -> Any:
        """The places of moments on the axis."""
        if self.kind == DATES:
            return _as_dates(seconds)
        assert self.latest is not None
        return (seconds - self.latest[0]) / self._unit[1]

    def width(self, seconds: float) -> Any:
        """How wide so much time is on the axis."""
        return np.timedelta64(round(seconds * 1000.0), "ms") if self.kind == DATES else seconds / self._unit[1]

    def in_words(self, n: float) -> str:
        """Where so many rows are, such as 2024-05-01 13:40 or row 1,200."""
        if self.latest is None:
            return f"row {n:,.0f}"
        return self.moment_in_words(float(self.latest[max(int(n) - 1, 0)]))

    def moment_in_words(self, seconds: float | None) -> str:
        """A moment in words; a dash for none."""
        if seconds is None or not np.isfinite(seconds):
            return "-"
        if self.kind == ELAPSED or (self.latest is None and not _UNIX_TIMES[0] < seconds < _UNIX_TIMES[1]):
            return f"{seconds:,.15g}"
        return str(_as_dates(np.array(seconds)).astype("datetime64[m]")).replace("T", " ")


def _as_dates(seconds: Floats) -> npt.NDArray[np.datetime64]:
    return (seconds * 1000.0).astype(np.int64).astype("datetime64[ms]")
