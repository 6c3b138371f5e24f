"""Dates as people write them: 31/03/2024, 03/31/2024 02:15 PM, 2012/01/01, 20240331, or seconds since 1970.

A form is found in the first rows of a column and holds for all its rows. ISO dates need none.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

DAY_FIRST, MONTH_FIRST, YEAR_FIRST = "dmy", "mdy", "ymd"
COMPACT, SECONDS, MILLISECONDS = "yyyymmdd", "seconds", "milliseconds"
ORDERS = (DAY_FIRST, MONTH_FIRST, YEAR_FIRST)
_AS_NUMBERS = {COMPACT: 1.0, SECONDS: 1.0, MILLISECONDS: 1e3}
_IN_WORDS = {"d": "day", "m": "month", "y": "year"}
_SEPARATORS = "/.-"
_FIRST_SECOND, _LAST_SECOND = 3e8, 4.2e9  # from 1979 to 2103
_FIRST_DAY, _LAST_DAY = 19000101, 21001231
_TIME = (
    r"(?:[ T]+(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:\.(?P<fraction>[0-9]{1,6})[0-9]*)?)?"
    r" *(?P<half>[AaPp][Mm])?)?"
)

Moments = npt.NDArray[np.datetime64]


@dataclass(frozen=True)
class DateForm:
    """How the dates of a column are written.

    `order` is that of day, month and year (dmy, mdy, ymd), which `separator` stands between; or yyyymmdd, seconds or
    milliseconds (since 1970) for dates that are numbers. A time of day may stand behind a date that is no number.

    >>> DateForm("dmy", "/").read("31/03/2024 2:15 PM"), DateForm("mdy", "/").read("31/03/2024")
    (datetime.datetime(2024, 3, 31, 14, 15), None)
    >>> str(DateForm("dmy", "/")), str(DateForm("seconds"))
    ('day/month/year', 'seconds since 1970')
    """

    order: str
    separator: str = ""

    @property
    def is_number(self) -> bool:
        """Whether the dates are numbers."""
        return self.order in _AS_NUMBERS

    @cached_property
    def pattern(self) -> str:
        """What a date must look like, for Python's regular expressions and for arrow's."""
        digits = {"d": "(?P<day>[0-9]{1,2})", "m": "(?P<month>[0-9]{1,2})", "y": "(?P<year>[0-9]{4})"}
        return f"^{re.escape(self.separator).join(digits[part] for part in self.order)}{_TIME}$"

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def read(self, text: str) -> datetime.datetime | None:
        """The moment that a text is, or None."""
        found = self._compiled.match(text.strip())
        if found is None:
            return None
        part = found.groupdict(default="")
        hour = int(part["hour"] or 0)
        if part["half"]:
            if not 1 <= hour <= 12:
                return None
            hour = hour % 12 + 12 * (part["half"].lower() == "pm")
        clock = (hour, int(part["minute"] or 0), int(part["second"] or 0), int(part["fraction"].ljust(6, "0")))
        try:
            return datetime.datetime(int(part["year"]), int(part["month"]), int(part["day"]), *clock)
        except ValueError:
            return None

    def of_number(self, number: float) -> np.datetime64 | None:
        """The moment that a number is, or None."""
        moments = self.of_numbers(np.array([number]))
        return None if moments is None else moments[0]

    def of_numbers(self, numbers: npt.NDArray[np.float64]) -> Moments | None:
        """The moments that numbers are, NaT for NaN; None if one of them is no date of this form."""
        there = ~np.isnan(numbers)
        if self.order == COMPACT:
            whole = np.where(there, numbers, _FIRST_DAY)
            year, month, day = whole // 10000, whole // 100 % 100, whole % 100
            if not ((whole % 1.0 == 0.0) & (whole >= _FIRST_DAY) & (whole <= _LAST_DAY)).all():
                return None
            moments = _calendar(year.astype(np.int64), month.astype(np.int64), day.astype(np.int64))
        else:
            seconds = np.where(there, numbers, 0.0) / _AS_NUMBERS[self.order]
            if (np.abs(seconds) > 2e11).any():  # beyond the year 8000, which numbers of another unit are
                return None
            moments = np.round(seconds * 1e6).astype(np.int64).astype("datetime64[us]")
        return None if moments is None else np.where(there, moments, np.datetime64("NaT", "us"))

    def at_once(self, texts: Any) -> Moments | None:
        """An arrow column of texts without blanks around them as moments; None if one of them is no such date."""
        import pyarrow as pa
        import pyarrow.compute as pc

        parts = pc.extract_regex(texts, self.pattern)
        if parts.null_count > texts.null_count:
            return None

        def numbers(name: str, width: int = 0) -> npt.NDArray[np.int64]:
            part = pc.struct_field(parts, name)
            part = pc.if_else(pc.equal(part, ""), "0", part)
            if width:
                part = pc.utf8_rpad(part, width, "0")
            return pc.fill_null(part.cast(pa.int64()), 1).to_numpy(zero_copy_only=False)

        days = _calendar(numbers("year"), numbers("month"), numbers("day"))
        hour, minute, second = numbers("hour"), numbers("minute"), numbers("second")
        half = pc.utf8_lower(pc.fill_null(pc.struct_field(parts, "half"), ""))
        has_half, is_late = (pc.not_equal(half, "").to_numpy(False), pc.equal(half, "pm").to_numpy(False))
        if days is None or (has_half & ((hour < 1) | (hour > 12))).any():
            return None
        hour = np.where(has_half, hour % 12 + 12 * is_late, hour)
        if (hour > 23).any() or (minute > 59).any() or (second > 59).any():
            return None
        moments = days + ((hour * 60 + minute) * 60 + second) * 1_000_000 + numbers("fraction", 6)
        return np.where(texts.is_null().to_numpy(False), np.datetime64("NaT", "us"), moments)

    def __str__(self) -> str:
        if self.order == COMPACT:
            return COMPACT
        if self.is_number:
            return f"{self.order} since 1970"
        return self.separator.join(_IN_WORDS[part] for part in self.order)


def _calendar(year: npt.NDArray[Any], month: npt.NDArray[Any], day: npt.NDArray[Any]) -> Moments | None:
    """Midnights of days; None if one of them does not exist."""
    if (month < 1).any() or (month > 12).any() or (day < 1).any() or (year < 1).any():
        return None
    months = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + (day - 1)
    if (days.astype("datetime64[M]") != months).any():
        return None
    moments: Moments = days.astype("datetime64[us]")
    return moments


class FoundDates(NamedTuple):
    """A form, the share of the texts that it reads, and an example that another order would read as another day."""

    form: DateForm
    share: float
    ambiguous: str | None = None


def find_date_form(texts: Sequence[str], order: str | None = None) -> FoundDates | None:
    """The form that reads most of these texts; None if none reads any. `order` says which one it must have.

    Where days and months can be either, it is the order by which the rows go back in time less often, then the one by
    which they span less time; the day is first if that does not tell either.
    """
    texts = [text.strip() for text in texts]
    found = []
    for separator in _SEPARATORS:
        if not any(separator in text for text in texts):
            continue
        for parts in ORDERS if order is None else (order,):
            form = DateForm(parts, separator)
            moments = [form.read(text) for text in texts]
            if n_read := sum(moment is not None for moment in moments):
                found.append((n_read, form, moments))
    if not found:
        return None
    most = max(n_read for n_read, _, _ in found)
    equal = [(form, moments) for n_read, form, moments in found if n_read == most]
    form, moments = min(equal, key=lambda pair: _wildness(pair[1]))
    ambiguous = None
    for _, others in equal:
        pairs = zip(texts, moments, others, strict=True)
        ambiguous = ambiguous or next((text for text, one, two in pairs if one and two and one != two), None)
    return FoundDates(form, most / len(texts), ambiguous)


def _wildness(moments: Sequence[datetime.datetime | None]) -> tuple[int, datetime.timedelta]:
    there = [moment for moment in moments if moment is not None]
    backwards = sum(after < before for before, after in pairwise(there))
    return backwards, max(there) - min(there)


def date_form_of_numbers(numbers: Sequence[float], *, is_day: bool) -> DateForm | None:
    """The form of numbers that can all be dates: seconds or milliseconds since 1970, or yyyymmdd if `is_day`."""
    values = np.array(numbers, dtype=np.float64)
    if not values.size or not np.isfinite(values).all():
        return None
    if is_day and DateForm(COMPACT).of_numbers(values) is not None:
        return DateForm(COMPACT)
    for order, unit in ((SECONDS, 1.0), (MILLISECONDS, 1e3)):
        if (values >= _FIRST_SECOND * unit).all() and (values <= _LAST_SECOND * unit).all():
            return DateForm(order)
    return None
