"""What a report says about the scores of one run, as numbers: curves, alerts, calibration, windows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lopsided.estimators.base.score_memory import ScoreMemory
from lopsided.metrics import auroc, average_precision, f1
from lopsided.metrics.intervals import auroc_interval, precision_area_interval, share_interval
from lopsided.report.budgets import periods_of
from lopsided.report.contents import Detail

Floats = npt.NDArray[np.float64]

_MOST_POINTS = 400
_WINDOWS = 40
_PREFIXES = 24
_SMALLEST_WINDOW = 100
_POSITIVES_OF_A_WINDOW = 10
_GROUPS, _MANY_GROUPS = 10, 20
_FEWEST_PROBABILITY = 1e-6  # what is less is drawn there


class Over(NamedTuple):
    """Figures of merit over the stream: at `n` rows, over all rows until then or over a window before.

    `rows` were judged, of which `positives` are positive; `called` were called so, of which `hits` rightly.
    """

    n: Floats
    auroc: Floats
    average_precision: Floats
    f1: Floats
    rows: Floats
    positives: Floats
    called: Floats
    hits: Floats
    precision_low: Floats  # of average precision, by drawing positives again; nan where that was not asked for
    precision_high: Floats

    def bands(self) -> dict[str, tuple[Floats, Floats]]:
        """95 % intervals: Newcombe's of AUROC, a bootstrap's of average precision, Wilson's of precision and recall."""
        return {
            "auroc": auroc_interval(self.auroc, self.positives, self.rows - self.positives),
            "average_precision": (self.precision_low, self.precision_high),
            "precision": share_interval(self.hits, self.called),
            "recall": share_interval(self.hits, self.positives),
        }


@dataclass(frozen=True)
class Alerts:
    """If the rows with the highest scores are looked at: how many a day (or per 1,000 rows), what share of the rare
    ones is among them, and what share of them is rare."""

    unit: str
    rate: Floats
    recall: Floats
    precision: Floats


def over_all_rows(detail: Detail) -> Over:
    """Figures over all rows up to each of some points."""
    ends = np.unique(np.linspace(0, detail.n, _PREFIXES + 1).astype(int))[1:]
    return _judged(detail, [(0, int(end)) for end in ends])


def over_windows(detail: Detail) -> Over:
    """Figures over a window before each point; windows overlap."""
    width = window_of(detail)
    ends = np.unique(np.linspace(width, detail.n, _WINDOWS).astype(int))
    return _judged(detail, [(int(end) - width, int(end)) for end in ends], draw=True)


def window_of(detail: Detail) -> int:
    """How many rows a window has: a twentieth of the stream, more if positives are few, a third at most."""
    for_positives = int(_POSITIVES_OF_A_WINDOW * detail.n / max(int(detail.positive.sum()), 1))
    return min(detail.n, max(_SMALLEST_WINDOW, detail.n // 20, min(for_positives, detail.n // 3)))


def _judged(detail: Detail, spans: list[tuple[int, int]], *, draw: bool = False) -> Over:
    figures = []
    for start, stop in spans:
        positive, scores = detail.positive[start:stop], detail.scores[start:stop]
        called = detail.called[start:stop]
        areas = auroc(positive, scores), average_precision(positive, scores)
        counts = stop - start, positive.sum(), called.sum(), (called & positive).sum()
        band = precision_area_interval(positive, scores) if draw else (np.nan, np.nan)
        figures.append((stop, *areas, f1(positive, called.astype(np.float64), threshold=0.5), *counts, *band))
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
    periods = periods_of(detail)
    unit, units = f"per {periods.name}", periods.rate_units
    positives = max(int(detail.positive.sum()), 1)
    return Alerts(unit, flagged[chosen] / units, hits[chosen] / positives, (hits / flagged)[chosen])


class Calibration(NamedTuple):
    """Groups of equal size: the mean forecast, how many rows are positive, and how many there are."""

    forecast: Floats
    positives: Floats
    rows: Floats

    @property
    def floor(self) -> float:
        """The least probability that can be told apart from 0 on these rows, or that was forecast."""
        least = min(float(self.forecast.min()), 0.3 / float(self.rows.max()))
        return 10.0 ** math.floor(math.log10(max(least, _FEWEST_PROBABILITY)))


def calibration(detail: Detail) -> Calibration | None:
    """Forecasts against what happened, in groups of equal size; None if there are too few positives.

    The curve from scores to probabilities is fitted on the first half of the stream and judged on the second.
    """
    half = detail.n // 2
    first, second = slice(0, half), slice(half, detail.n)
    positives = int(detail.positive[second].sum())
    if detail.positive[first].sum() < _GROUPS or positives < _GROUPS:
        return None
    memory = ScoreMemory()
    memory.remember(np.where(detail.positive[first], 1.0, -1.0), detail.scores[first])
    forecast = memory.probability(detail.scores[second])
    n_groups = _MANY_GROUPS if positives >= 10 * _MANY_GROUPS else _GROUPS
    groups = np.array_split(np.argsort(forecast, kind="stable"), n_groups)
    positive = detail.positive[second]
    return Calibration(
        np.array([forecast[group].mean() for group in groups]),
        np.array([positive[group].sum() for group in groups], dtype=np.float64),
        np.array([group.size for group in groups], dtype=np.float64),
    )
