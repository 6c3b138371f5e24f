"""What a budget of alerts would have caught, in hindsight: the best of each day, or one threshold for all days."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lopsided.metrics.intervals import share_interval
from lopsided.report.clock import DATES, DAY
from lopsided.report.contents import Detail

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_ROUND = tuple(digit * 10**power for power in range(8) for digit in (1, 2, 5))
_PER_ROWS = 1000
_UNITS = (("day", DAY), ("hour", 3600.0), ("week", 7 * DAY))
_FEWEST_ROWS = 20  # of a period: of fewer nobody would review the best
_FEWEST_PERIODS = 2
_MOST_BUDGETS = 6
_MOST_BARS = 60


class Periods(NamedTuple):
    """The stream in pieces to which a budget applies: days, hours, weeks, or every 1,000 rows.

    `of_row` numbers them from 0 in the order of time, -1 for a row without a moment; `full` is the share of a whole
    period that each is, which only the last 1,000 rows lack. `rate_units` is how many periods long the stream is.
    """

    name: str
    of_row: Integers
    full: Floats
    rate_units: float
    starts: Floats | None  # in seconds


class BestOfEach(NamedTuple):
    """The best rows of each period: how many were flagged, how many of them are positive, how many positives are
    there."""

    flagged: Floats
    caught: Floats
    positives: Floats


class Budget(NamedTuple):
    """So many alerts a period: the threshold that flags them on average, and the best of each period."""

    alerts: int
    threshold: float
    flagged: float
    caught: float
    best: BestOfEach


def periods_of(detail: Detail) -> Periods:
    """Days if rows have moments in order and there are enough of both; else hours, weeks, or 1,000 rows."""
    times = detail.times
    if times is not None and detail.clock.latest is not None:
        known = np.isfinite(times)
        low, high = float(times[known].min()), float(times[known].max())
        for name, seconds in _UNITS:
            # Days of dates begin at midnight and weeks on Mondays, those of another clock at its first moment.
            monday = -3 * DAY if name == "week" else 0.0
            start = monday if detail.clock.kind == DATES else low
            number = np.floor((times[known] - start) / seconds).astype(np.int64)
            distinct, of_known = np.unique(number, return_inverse=True)
            rows = int(known.sum()) / distinct.size
            if distinct.size >= _FEWEST_PERIODS and rows >= _FEWEST_ROWS:
                of_row = np.full(detail.n, -1, dtype=np.int64)
                of_row[known] = of_known
                starts = distinct.astype(np.float64) * seconds + start
                units = max((high - low) / seconds, 1.0)
                return Periods(name, of_row, np.ones(distinct.size), units, starts)
    of_row = np.arange(detail.n, dtype=np.int64) // _PER_ROWS
    full = np.bincount(of_row) / _PER_ROWS
    return Periods(f"{_PER_ROWS:,} rows", of_row, full, detail.n / _PER_ROWS, None)


def best_of_each(detail: Detail, periods: Periods, alerts: int) -> BestOfEach:
    """What the highest scores of each period would have caught; of equal scores at the border the expected part."""
    rows = np.flatnonzero(periods.of_row >= 0)
    rows = rows[np.lexsort((-detail.scores[rows], periods.of_row[rows]))]
    of_row, scores = periods.of_row[rows], detail.scores[rows]
    hits_before = np.append(0, np.cumsum(detail.positive[rows], dtype=np.int64))
    counts = np.bincount(of_row, minlength=periods.full.size)
    ends = np.cumsum(counts)
    starts = ends - counts
    flagged = np.minimum(np.round(alerts * periods.full), counts).astype(np.int64)
    # Where runs of equal scores begin and end, periods apart.
    begins = np.flatnonzero(np.append(True, (np.diff(scores) != 0.0) | (np.diff(of_row) != 0)))
    stops = np.append(begins[1:], rows.size)
    run = np.searchsorted(begins, starts + np.maximum(flagged, 1) - 1, side="right") - 1
    in_run = hits_before[stops[run]] - hits_before[begins[run]]
    part = (starts + flagged - begins[run]) / (stops[run] - begins[run])
    caught = hits_before[begins[run]] - hits_before[starts] + part * in_run
    positives = hits_before[ends] - hits_before[starts]
    return BestOfEach(flagged.astype(np.float64), np.where(flagged > 0, caught, 0.0), positives.astype(np.float64))


def budgets_of(detail: Detail, periods: Periods) -> list[Budget]:
    """Some round budgets, from a fifth of the positives of a period up, each with what it would have caught."""
    rows, positives = detail.n / periods.rate_units, float(detail.positive.sum()) / periods.rate_units
    fitting = [alerts for alerts in _ROUND if alerts <= rows / 2]
    chosen = [alerts for alerts in fitting if alerts >= positives / 5][:_MOST_BUDGETS] or fitting[-1:]
    order = np.argsort(-detail.scores, kind="stable")
    scores, hits = detail.scores[order], np.cumsum(detail.positive[order], dtype=np.int64)
    # Only where the score changes can a threshold lie.
    ends = np.append(np.flatnonzero(np.diff(scores) != 0.0), scores.size - 1)
    found = []
    for alerts in chosen:
        allowed = alerts * periods.rate_units * (1.0 + 1e-12)
        place = int(np.searchsorted(ends + 1, allowed, side="right")) - 1
        if place < 0:  # even the highest score is shared by more rows than are allowed
            threshold, flagged, caught = float(scores[0]), 0.0, 0.0
        else:
            end = int(ends[place])
            below = float(scores[end + 1]) if end + 1 < scores.size else float(np.nextafter(scores[end], -np.inf))
            middle = 0.5 * float(scores[end]) + 0.5 * below
            threshold = middle if below < middle < scores[end] else below
            flagged, caught = float(end + 1), float(hits[end])
        found.append(Budget(alerts, threshold, flagged, caught, best_of_each(detail, periods, alerts)))
    return found


def share_in_words(hits: float, n: float) -> str:
    """A share with its 95 % interval.

    >>> share_in_words(8, 10), share_in_words(0, 0)
    ('80 % (49 to 94)', '-')
    """
    if not n:
        return "-"
    low, high = share_interval(hits, n)
    digits = 0 if hits / n >= 0.1 else 1
    return f"{100 * hits / n:.{digits}f} % ({100 * float(low):.{digits}f} to {100 * float(high):.{digits}f})"


def sentence(budget: Budget | None, periods: Periods) -> str:
    """What a budget would have caught, in words."""
    if budget is None:
        return "There are too few rows to judge alerts."
    caught, positives = float(budget.best.caught.sum()), float(budget.best.positives.sum())
    whose = "highest score" if budget.alerts == 1 else f"{budget.alerts:,} highest scores"
    return (
        f"A review of the {whose} of each {periods.name} would have caught {caught:,.0f} of {positives:,.0f} "
        f"positives: {share_in_words(caught, positives)}."
    )


def typical_budget(budgets: list[Budget]) -> Budget | None:
    """The fewest alerts whose best catch at least half of the positives; the most if none do."""
    for budget in budgets:
        if budget.best.caught.sum() >= 0.5 * budget.best.positives.sum():
            return budget
    return budgets[-1] if budgets else None


def in_bars(best: BestOfEach, periods: Periods) -> tuple[Integers, Floats, Floats]:
    """Periods joined until there are few enough to draw: the first of each group, caught, and positives."""
    together = -(-periods.full.size // _MOST_BARS)
    firsts = np.arange(0, periods.full.size, together)
    return firsts, np.add.reduceat(best.caught, firsts), np.add.reduceat(best.positives, firsts)
