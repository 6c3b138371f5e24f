"""What alerts have caught: of each day and in all, beside the best that the same number could have."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.alerts.keys import NO_KEY, codes_of
from lopsided.alerts.periods import Period

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class AlertFigures:
    """What became of the alerts of a period, or of all.

    With keys a case is a key in a period with a positive row, and an alert on that key in that period is right; without
    them every row is a case of its own. `value` is that of all positive rows, `caught_value` of those that an alert
    was about, with keys of those from the alert on; both are nan where no values are known.
    """

    name: str
    rows: int
    cases: int
    alerts: int
    hits: int
    value: float
    caught_value: float

    @property
    def precision(self) -> float:
        """The share of alerts that were right; nan without any."""
        return self.hits / self.alerts if self.alerts else math.nan

    @property
    def recall(self) -> float:
        """The share of cases that were caught; nan without any."""
        return self.hits / self.cases if self.cases else math.nan

    @property
    def caught_share(self) -> float:
        """The share of the value that was caught; nan if there is none."""
        return self.caught_value / self.value if self.value > 0 else math.nan


@dataclass(frozen=True)
class AlertReport:
    """Alerts judged: by period, and in all."""

    periods: list[AlertFigures]
    overall: AlertFigures


def best_of_each_period(times: Any, scores: Any, limit: int, per: str | Period = "day", keys: Any = None) -> Flags:
    """The best rows of each period, as only hindsight knows them; with `keys` the best row of each key alone counts.

    >>> best_of_each_period([0, 1, 2, 86400], [0.1, 0.3, 0.2, 0.0], 2).tolist()
    [False, True, True, True]
    """
    given = np.asarray(scores, dtype=np.float64)
    numbers = _numbers(times, Period.parse(per))
    order = np.lexsort((-given, numbers))  # the first of equals first
    if keys is not None:
        order = order[_first_of_each(numbers[order], codes_of(keys)[order])]
    ranked = numbers[order]
    place = np.arange(order.size) - np.searchsorted(ranked, ranked)
    chosen = np.zeros(given.size, dtype=np.bool_)
    chosen[order[place < limit]] = True
    return chosen


def judged_alerts(
    times: Any, flagged: Flags, positive: Flags, per: str | Period = "day", *, keys: Any = None, values: Any = None
) -> AlertReport:
    """What the flagged rows of a stream have caught.

    Parameters
    ----------
    times : seconds of each row; a missing one counts as that of the row before.
    flagged, positive : whether each row was an alert, and whether it should have been.
    per : the period.
    keys : of the rows, if at most one alert in a period is about each.
    values : of the rows, such as amounts; missing ones are 0.
    """
    period = Period.parse(per)
    numbers, amounts = _numbers(times, period), _amounts(values, positive.size)
    codes = None if keys is None else codes_of(keys)
    names, periods = np.unique(numbers, return_inverse=True)
    cases, hits, caught = positive, flagged & positive, flagged & positive
    if codes is not None:
        cases, hits, caught = _by_key(periods, codes, flagged, positive)

    def total(weights: Any) -> Floats:
        return np.bincount(periods, weights=weights, minlength=names.size).astype(np.float64)

    columns = [
        total(np.ones(positive.size)), total(cases), total(flagged), total(hits), total(amounts * positive),
        total(amounts * caught),
    ]  # fmt: skip
    figures = [
        _figures(period.label(int(name)), row) for name, row in zip(names, zip(*columns, strict=True), strict=True)
    ]
    return AlertReport(figures, _figures("all", [column.sum() for column in columns]))


def _figures(name: str, row: Any) -> AlertFigures:
    rows, cases, alerts, hits, value, caught = row
    return AlertFigures(name, int(rows), int(cases), int(alerts), int(hits), float(value), float(caught))


def _numbers(times: Any, period: Period) -> Integers:
    moments = np.asarray(times, dtype=np.float64)
    known = np.where(np.isnan(moments), 0, np.arange(moments.size))
    filled = moments[np.maximum.accumulate(known)] if moments.size else moments
    return period.numbers_of(np.nan_to_num(filled))


def _amounts(values: Any, n_rows: int) -> Floats:
    if values is None:
        return np.full(n_rows, np.nan)
    return np.nan_to_num(np.asarray(values, dtype=np.float64))


def _first_of_each(numbers: Integers, codes: Integers) -> Integers:
    """Places of the rows that are the first of their key in their period, in order; rows without a key all are."""
    own = np.where(codes == NO_KEY, -1 - np.arange(codes.size), codes)
    _, first = np.unique(np.stack([numbers, own]), axis=1, return_index=True)
    return np.sort(first)


def _by_key(periods: Integers, codes: Integers, flagged: Flags, positive: Flags) -> tuple[Flags, Flags, Flags]:
    """One row for each case, the alerts that are right, and the positive rows from an alert on their key on."""
    own = np.where(codes == NO_KEY, -1 - np.arange(codes.size), codes)
    _, groups = np.unique(np.stack([periods, own]), axis=1, return_inverse=True)
    groups, n = groups.ravel(), codes.size
    rows = np.arange(n)
    cases = np.zeros(n, dtype=np.bool_)
    cases[np.unique(np.where(positive, groups, -1), return_index=True)[1]] = True
    cases &= positive
    has_case = np.zeros(groups.max(initial=-1) + 1, dtype=np.bool_)
    has_case[groups[positive]] = True
    alerted_at = np.full(has_case.size, n)
    np.minimum.at(alerted_at, groups[flagged], rows[flagged])
    return cases, flagged & has_case[groups], positive & (rows >= alerted_at[groups])
