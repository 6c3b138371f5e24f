"""Moments as points on circles: the hour of the day, the weekday, the day of the month.

A moment itself is no feature: whatever is scored later lies beyond all that a model has seen. On a circle it comes
back. How many days have passed since a fixed one (the part called age) is there for those who ask for it.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

AGE, HOUR, WEEKDAY, MONTHDAY = PARTS = ("age", "hour", "weekday", "day of month")
CIRCLES = (HOUR, WEEKDAY, MONTHDAY)
FIRST_DAY = "1970-01-01"
_DAY = np.timedelta64(1, "D") / np.timedelta64(1, "us")
_DAYS_TO_1970 = datetime.date(1970, 1, 1).toordinal()
_LONGEST_MONTH = 31
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_FEWEST_DAYS = 4  # so many different ones must share their weekday, or their day of the month, to be no accident


def circles_of(parts: Sequence[str]) -> list[str]:
    """Those parts that are circles, each of which takes two columns."""
    return [part for part in parts if part != AGE]


def varying_circles(moments: npt.NDArray[Any]) -> tuple[str, ...]:
    """The circles on which moments can move, as far as these tell; missing ones do not count.

    Dates without a time of day have no hour; those of weekly or monthly data always have the same weekday or day.
    """
    there = moments[~np.isnat(moments)]
    days = np.unique(there.astype("datetime64[D]"))
    circles = [HOUR] if (there != there.astype("datetime64[D]")).any() else []
    numbers = days.astype(np.int64).astype(np.float64)
    for part in (WEEKDAY, MONTHDAY):
        if days.size < _FEWEST_DAYS or np.unique(_turns(part, numbers)).size > 1:
            circles.append(part)
    return tuple(circles)


def days_since(moments: npt.NDArray[Any], since: str = FIRST_DAY) -> Floats:
    """Days since midnight of a day, NaN for a missing moment."""
    days = moments.astype("datetime64[us]").astype(np.int64) / _DAY - _offset(since)
    return np.where(np.isnat(moments), np.nan, days)


def one_in_days(moment: np.datetime64) -> float:
    """Days since 1970 of one moment, NaN for a missing one."""
    return math.nan if np.isnat(moment) else float(moment.astype(np.int64) / _DAY)


def age_of_one(days: float, since: str) -> float:
    """Days since a day, of days since 1970."""
    return days - _offset(since)


def on_circle(part: str, days: Floats) -> tuple[Floats, Floats]:
    """Sine and cosine of moments in days since 1970; a missing one is in the middle, equally far from all."""
    there = np.isfinite(days)
    angle = 2.0 * np.pi * _turns(part, np.where(there, days, 0.0))
    return np.where(there, np.sin(angle), 0.0), np.where(there, np.cos(angle), 0.0)


def one_on_circle(part: str, days: float) -> tuple[float, float]:
    """The same for one moment."""
    if math.isnan(days):
        return 0.0, 0.0
    angle = 2.0 * np.pi * _turn(part, days)
    return float(np.sin(angle)), float(np.cos(angle))


def in_words(parts: Sequence[str], points: Floats) -> str | None:
    """What points on circles, a sine and a cosine each, say of a moment; None for one that is missing.

    >>> day = np.array([19863.5])  # noon of the twentieth of May 2024
    >>> in_words(("hour", "weekday"), np.array([*on_circle("hour", day), *on_circle("weekday", day)]).ravel())
    'Monday 12:00'
    """
    if not points.any():
        return None
    found = {}
    for place, part in enumerate(circles_of(parts)):
        sine, cosine = points[2 * place : 2 * place + 2]
        found[part] = math.atan2(sine, cosine) / (2.0 * math.pi) % 1.0
    words = []
    if WEEKDAY in found:
        words.append(_WEEKDAYS[round(found[WEEKDAY] * 7) % 7])
    if MONTHDAY in found:
        words.append(f"day {round(found[MONTHDAY] * _LONGEST_MONTH) % _LONGEST_MONTH + 1}")
    if HOUR in found:
        minutes = round(found[HOUR] * 1440) % 1440
        words.append(f"{minutes // 60:02}:{minutes % 60:02}")
    return " ".join(words)


def _offset(since: str) -> float:
    return float(np.datetime64(since, "D").astype(np.int64))


def _turns(part: str, days: Floats) -> Floats:
    """How far round the day, the week or the month each moment is."""
    if part == HOUR:
        return days % 1.0
    whole = np.floor(days)
    if part == WEEKDAY:
        return (whole + 3.0) % 7.0 / 7.0  # the first of January 1970 was a Thursday, the fourth day
    dates = whole.astype(np.int64).astype("datetime64[D]")
    return (dates - dates.astype("datetime64[M]")).astype(np.int64) / _LONGEST_MONTH


def _turn(part: str, days: float) -> float:
    """The same for one moment, in a fraction of the time."""
    if part == HOUR:
        return days % 1.0
    whole = math.floor(days)
    if part == WEEKDAY:
        return (whole + 3) % 7 / 7.0
    if not 0 < whole + _DAYS_TO_1970 <= datetime.date.max.toordinal():
        return float(_turns(part, np.array([days]))[0])
    return (datetime.date.fromordinal(whole + _DAYS_TO_1970).day - 1) / _LONGEST_MONTH
