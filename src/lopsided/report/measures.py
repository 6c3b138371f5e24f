"""What a report says about the scores of one run, as numbers: curves, alerts, calibration, windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lopsided.estimators.base.score_memory import ScoreMemory
from lopsided.metrics import auroc, average_precision, f1
from lopsided.report.contents import Detail

Floats = npt.NDArray[np.float64]

_MOST_POINTS = 400
_WINDOWS = 40
_PREFIXES = 24
_SMALLEST_WINDOW = 100
_BINS = 10
_A_DAY = 86400.0
_ALERTS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
_PER_ROWS = 1000.0


class Over(NamedTuple):
    """A figure of merit over the stream: at so many rows, over all rows until then or over a window before."""

    n: Floats
    auroc: Floats
    average_precision: Floats
    f1: Floats


@dataclass(frozen=True)
class Alerts:
    """If the rows with the highest scores are looked at: how many a day (or per 1,000 rows), what share of the rare
    ones is among them, and what share of them is rare."""

    unit: str
    rate: Floats
    recall: Floats
    precision: Floats

    def at(self, rate: float) -> tuple[float, float] | None:
        """Recall and precision at so many alerts; None if there are never so many."""
        place = int(np.searchsorted(self.rate, rate * (1 + 1e-12), side="right")) - 1
        if place < 0 or rate > self.rate[-1] * (1 + 1e-12):
            return None
        return float(self.recall[place]), float(self.precision[place])


def over_all_rows(detail: Detail) -> Over:
    """Figures over all rows up to each of some points."""
    ends = np.unique(np.linspace(0, detail.n, _PREFIXES + 1).astype(int))[1:]
    return _judged(detail, [(0, int(end)) for end in ends])


def over_windows(detail: Detail) -> Over:
    """Figures over a window of a twentieth of the stream before each point."""
    width = window_of(detail)
    ends = np.unique(np.linspace(width, detail.n, _WINDOWS).astype(int))
    return _judged(detail, [(int(end) - width, int(end)) for end in ends])


def window_of(detail: Detail) -> int:
    """How many rows a window has."""
    return min(detail.n, max(_SMALLEST_WINDOW, detail.n // 20))


def _judged(detail: Detail, spans: list[tuple[int, int]]) -> Over:
    figures = []
    for start, stop in spans:
        positive, scores = detail.positive[start:stop], detail.scores[start:stop]
        called = detail.called[start:stop].astype(np.float64)
        areas = auroc(positive, scores), average_precision(positive, scores)
        figures.append((stop, *areas, f1(positive, called, threshold=0.5)))
    return Over(*np.array(figures, dtype=np.float64).T)


def curves(detail: Detail) -> tuple[Floats, Floats, Floats]:
    """False alarm rate, recall and precision for every place where the decision could lie, thinned out."""
    flagged, hits = _hits_at_ends_of_ties(detail)
    positives = int(detail.positive.sum())
    recall = hits / max(positives, 1)
    false_alarms = (flagged - hits) / max(detail.n - positives, 1)
    chosen = _spread(recall.size)
    return false_alarms[chosen], recall[chosen], (hits / flagged)[chosen]


def _hits_at_ends_of_ties(detail: Detail) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """How many rows score at least so much, and how many of them are rare, for every score from the highest on."""
    order = np.argsort(-detail.scores, kind="stable")
    is_last = np.append(np.diff(detail.scores[order]) != 0.0, True)
    return np.flatnonzero(is_last) + 1, np.cumsum(detail.positive[order])[is_last]


def _spread(size: int) -> npt.NDArray[np.int64]:
    """Places from first to last, dense at the beginning, where few are flagged."""
    if size <= _MOST_POINTS:
        return np.arange(size)
    return np.unique(np.concatenate([[0], np.geomspace(1, size, _MOST_POINTS) - 1]).astype(np.int64))


def alerts(detail: Detail) -> Alerts:
    """What looking at the highest scores would have caught, by how many are looked at.

    Of rows with the same score any may be looked at first: what is told is the mean over all orders.
    """
    flagged = np.arange(1, detail.n + 1)
    ends, caught = _hits_at_ends_of_ties(detail)
    hits = np.interp(flagged, np.append(0, ends), np.append(0, caught))
    chosen = _spread(detail.n)
    if detail.times is not None and np.isfinite(detail.times).any():
        days = (np.nanmax(detail.times) - np.nanmin(detail.times)) / _A_DAY
        unit, units = "per day", max(days, 1.0 / 24.0)
    else:
        unit, units = "per 1,000 rows", detail.n / _PER_ROWS
    positives = max(int(detail.positive.sum()), 1)
    return Alerts(unit, flagged[chosen] / units, hits[chosen] / positives, (hits / flagged)[chosen])


def alert_table(found: Alerts) -> list[tuple[str, str, str]]:
    """Some round numbers of alerts with their recall and precision."""
    rows = []
    for rate in _ALERTS:
        judged = found.at(rate)
        if judged is not None and rate >= found.rate[0]:
            rows.append((f"{rate:,}", f"{judged[0]:.1%}", f"{judged[1]:.1%}"))
    return rows


def alert_sentence(found: Alerts) -> str:
    """The trade in words: the fewest round alerts that catch most, or the best there is."""
    for rate in _ALERTS:
        judged = found.at(rate)
        if judged is not None and judged[0] >= 0.8:
            return f"Review {rate:,} alerts {found.unit} and catch {judged[0]:.0%} of the positives."
    reachable = [(rate, found.at(rate)) for rate in _ALERTS if found.at(rate) is not None]
    if not reachable:
        return "There are too few rows to judge alerts."
    rate, judged = reachable[-1]
    return f"Review {rate:,} alerts {found.unit} and catch {(judged or (0.0, 0.0))[0]:.0%} of the positives."


def calibration(detail: Detail) -> tuple[Floats, Floats, Floats] | None:
    """Forecast, share that was rare, and rows in groups of equal size; None if there are too few rows.

    The curve from scores to probabilities is fitted on the first half of the stream and judged on the second.
    """
    half = detail.n // 2
    first, second = slice(0, half), slice(half, detail.n)
    if detail.positive[first].sum() < _BINS or detail.positive[second].sum() < _BINS:
        return None
    memory = ScoreMemory()
    memory.remember(np.where(detail.positive[first], 1.0, -1.0), detail.scores[first])
    forecast = memory.probability(detail.scores[second])
    groups = np.array_split(np.argsort(forecast, kind="stable"), _BINS)
    positive = detail.positive[second]
    return (
        np.array([forecast[group].mean() for group in groups]),
        np.array([positive[group].mean() for group in groups]),
        np.array([group.size for group in groups], dtype=np.float64),
    )
