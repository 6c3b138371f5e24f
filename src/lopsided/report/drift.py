"""Whether the stream, or its ranking, has changed: alarms on the way, and the first third against the last."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lopsided.drift import Alarm, DriftAlarm
from lopsided.metrics import auroc, average_precision
from lopsided.metrics.intervals import auroc_interval, difference_interval, share_interval
from lopsided.report.contents import Detail

_FEWEST_POSITIVES = 5
_FEWEST_ROWS = 60
_MOST_NAMED = 3
SCORES, POSITIVES, RIGHT = "scores", "share of positives", "precision of alerts"


class Third(NamedTuple):
    """A third of the stream, or less: rows `start` to `stop`."""

    start: int
    stop: int
    positives: int
    auroc: float
    average_precision: float
    median: float  # of the scores


class Verdict(NamedTuple):
    """What is said in one sentence, the thirds that it is drawn from, and the alarms."""

    sentence: str
    thirds: list[Third]
    alarms: list[Alarm]


def verdict(detail: Detail) -> Verdict:
    """One sentence on drift with its evidence.

    Ranking: the change of AUROC with its 95 % interval (from Newcombe's of both). The stream: what a drift alarm has
    said on the way; scores are told apart, because those of a model that learns move.
    """
    ends = [0, detail.n // 3, 2 * detail.n // 3, detail.n]
    thirds = [_third(detail, start, stop) for start, stop in pairwise(ends)]
    first, last = thirds[0], thirds[-1]
    watched = _watched(detail) if detail.drift is None else detail.drift
    scores = watched.numbers[-1]
    of_stream = [alarm for alarm in watched.alarms if alarm.series != scores]
    found = [*of_stream, *(alarm for alarm in watched.alarms if alarm.series == scores)]
    seen = _in_words(of_stream or found, watched)
    if detail.n < _FEWEST_ROWS or min(first.positives, last.positives) < _FEWEST_POSITIVES:
        return Verdict(
            f"Whether the ranking drifts cannot be judged: the first third of the rows has {first.positives} positives "
            f"and the last {last.positives}, and {_FEWEST_POSITIVES} of each are needed; {seen}.",
            thirds,
            found,
        )
    low, high = difference_interval(first.auroc, _interval(first), last.auroc, _interval(last))
    change = f"AUROC was {first.auroc:.3f} in the first third and {last.auroc:.3f} in the last (change "
    change += f"{last.auroc - first.auroc:+.3f}, 95 % interval {low:+.3f} to {high:+.3f})"
    if high < 0.0:
        opening = "Drift that hurts: the ranking got worse"
    elif low > 0.0:
        opening = "The ranking got better, as it does while a model learns"
        opening += ", though the stream changed" if of_stream else ""
    elif of_stream:
        opening = "The stream changed, but the ranking held"
    elif found:
        opening = "The scores changed, but the ranking held"
    else:
        opening = "No drift was found"
    return Verdict(f"{opening}: {change}; {seen}.", thirds, found)


def _watched(detail: Detail) -> DriftAlarm:
    """An alarm for what a run has kept, if none was there when its rows came."""
    alarm = DriftAlarm([SCORES], shares=[POSITIVES, RIGHT])
    positive = detail.positive.astype(np.float64)
    right = np.where(detail.called, positive, np.nan)
    alarm.update_many({SCORES: detail.scores, POSITIVES: positive, RIGHT: right}, detail.times)
    return alarm


def _in_words(alarms: list[Alarm], watched: DriftAlarm) -> str:
    if not watched.is_ready:
        return f"an alarm on the way needs {watched.blocks_needed} {watched.block_in_words}, which there are not"
    if not alarms:
        return f"none of {len(watched.names)} series raised an alarm on the way (by {watched.block_in_words})"
    named = "; ".join(f"{alarm.in_words}, from row {alarm.since_row + 1:,} on" for alarm in alarms[:_MOST_NAMED])
    more = len(alarms) - _MOST_NAMED
    return named + (f"; and {more} more alarm{'s' if more > 1 else ''}" if more > 0 else "")


def _third(detail: Detail, start: int, stop: int) -> Third:
    positive, scores = detail.positive[start:stop], detail.scores[start:stop]
    areas = (auroc(positive, scores), average_precision(positive, scores)) if stop > start else (np.nan, np.nan)
    median = float(np.median(scores)) if stop > start else float("nan")
    return Third(start, stop, int(positive.sum()), *areas, median)


def _interval(third: Third) -> tuple[float, float]:
    low, high = auroc_interval(third.auroc, third.positives, third.stop - third.start - third.positives)
    return float(low), float(high)


def share_row(third: Third) -> str:
    """The share of positives with its 95 % interval."""
    n = third.stop - third.start
    if not n:
        return "-"
    low, high = share_interval(third.positives, n)
    return f"{third.positives / n:.2%} ({float(low):.2%} to {float(high):.2%})"
