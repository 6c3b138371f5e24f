"""How late labels are, and what becomes of rows whose label never comes, as a user writes both down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

from lopsided.constraints import SECONDS_OF_UNITS as _UNITS
from lopsided.constraints import ParameterError, seconds_in

_ALLOWED = "a number of rows, or a duration such as 90s, 15m, 12h, 7d, 2w or 2 weeks"


@dataclass(frozen=True)
class Delay:
    """So many rows, or so many seconds of the stream's own time.

    >>> Delay.parse("500"), Delay.parse("7d"), Delay.parse("2 weeks")
    (Delay(rows=500, seconds=0.0), Delay(rows=0, seconds=604800.0), Delay(rows=0, seconds=1209600.0))
    >>> str(Delay.parse("36h")), str(Delay.parse("14d")), bool(Delay.parse("0d"))
    ('36h', '2w', False)
    """

    rows: int = 0
    seconds: float = 0.0

    @classmethod
    def parse(cls, value: Delay | str | int, *, what: str = "The delay") -> Delay:
        """A delay out of what a user wrote; `what` begins the sentence that refuses anything else."""
        if isinstance(value, Delay):
            return value
        text = str(value).strip()
        seconds = seconds_in(text)
        if seconds is not None:
            return cls(seconds=seconds)
        try:
            if int(text) >= 0:
                return cls(rows=int(text))
        except ValueError:
            pass
        raise ParameterError(f"{what} must be {_ALLOWED}, got {value!r}.")

    @property
    def is_in_time(self) -> bool:
        """Whether it is a duration, which needs the moments of the rows."""
        return self.seconds > 0

    @property
    def amount(self) -> float:
        """Seconds if it is a duration, rows otherwise."""
        return self.seconds if self.is_in_time else float(self.rows)

    def __bool__(self) -> bool:
        return self.rows > 0 or self.seconds > 0

    def __str__(self) -> str:
        if not self.is_in_time:
            return str(self.rows)
        unit = next(unit for unit in ("w", "d", "h", "m", "s") if self.seconds % _UNITS[unit] == 0 or unit == "s")
        return f"{self.seconds / _UNITS[unit]:g}{unit}"


@dataclass(frozen=True)
class Unlabelled:
    """What becomes of a row whose label never comes: dropped, or learned as negative; after so long, if that is said.

    "skip" is for rows that never will have a label: they are scored and do not even wait.

    >>> Unlabelled.parse("negative:30d")
    Unlabelled(outcome='negative', after=Delay(rows=0, seconds=2592000.0))
    >>> str(Unlabelled.parse("drop"))
    'drop'
    """

    outcome: Literal["drop", "negative", "skip"]
    after: Delay | None = None

    @classmethod
    def parse(cls, value: Self | str, *, what: str = "The rule for rows without a label") -> Self:
        """A rule out of what a user wrote: drop, drop:30d or negative:30d (or a number of rows)."""
        if isinstance(value, cls):
            return value
        outcome, colon, after = str(value).partition(":")
        if outcome in ("drop", "skip") and not colon:
            return cls("drop" if outcome == "drop" else "skip")
        if outcome in ("drop", "negative") and colon:
            try:
                return cls("drop" if outcome == "drop" else "negative", Delay.parse(after))
            except ParameterError:
                pass
        raise ParameterError(f"{what} must be drop, drop:30d or negative:30d (or rows: negative:5000), got {value!r}.")

    def __str__(self) -> str:
        return self.outcome if self.after is None else f"{self.outcome}:{self.after}"
