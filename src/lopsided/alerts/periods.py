"""Days, hours and weeks, in which alerts are counted."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lopsided.constraints import ParameterError

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_WORDS = {"minute": "1m", "hour": "1h", "day": "1d", "week": "1w"}
_FIRST_MONDAY = 4 * 86400.0  # 1970 began with a Thursday
ALLOWED = "minute, hour, day, week, or a duration such as 15m, 8h or 2d"


@dataclass(frozen=True)
class Period:
    """A stretch of time, one of which follows the other: days begin at midnight, weeks on Monday, in the stream's time.

    >>> Period.parse("day"), Period.parse("8h").name, Period.parse("2d").name
    (Period(seconds=86400.0), '8h', '2d')
    >>> day = Period.parse("day")
    >>> day.number_of(3.5 * 86400), day.within(3.5 * 86400), day.label(3)
    (3, 0.5, '1970-01-04')
    """

    seconds: float

    @classmethod
    def parse(cls, value: Period | str | float, *, what: str = "The period of an alert budget") -> Period:
        """A period out of a word, a duration or seconds; `what` begins the sentence that refuses anything else."""
        if isinstance(value, Period):
            return value
        text = str(value).strip()
        text = _WORDS.get(text, text)
        try:
            seconds = float(text[:-1]) * _UNITS[text[-1]] if text[-1:] in _UNITS else float(text)
        except ValueError:
            seconds = math.nan
        if not 1.0 <= seconds < 1e9:
            raise ParameterError(f"{what} must be {ALLOWED}, got {value!r}.")
        return cls(seconds)

    @property
    def name(self) -> str:
        """As a user would write it."""
        for word, text in _WORDS.items():
            if float(text[:-1]) * _UNITS[text[-1]] == self.seconds:
                return word
        unit = next(unit for unit in ("w", "d", "h", "m", "s") if self.seconds % _UNITS[unit] == 0 or unit == "s")
        return f"{self.seconds / _UNITS[unit]:g}{unit}"

    @property
    def _start(self) -> float:
        return _FIRST_MONDAY if self.seconds % _UNITS["w"] == 0 else 0.0

    def number_of(self, time: float) -> int:
        """The number of the period in which a moment lies."""
        return math.floor((time - self._start) / self.seconds)

    def numbers_of(self, times: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """The same for many moments."""
        return np.floor((times - self._start) / self.seconds).astype(np.int64)

    def within(self, time: float) -> float:
        """How much of its period is over at a moment, from 0 to 1."""
        passed = (time - self._start) / self.seconds
        return passed - math.floor(passed)

    def label(self, number: int) -> str:
        """When a period begins, as a date, with the hour if that matters."""
        begin = np.datetime64(int(number * self.seconds + self._start), "s")
        return str(begin.astype("datetime64[D]") if self.seconds % _UNITS["d"] == 0 else begin.astype("datetime64[m]"))
