"""Whether the stream, or how well it is ranked, has changed: its first third against its last."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import stats

from lopsided.metrics import auroc, average_precision
from lopsided.metrics.intervals import auroc_interval, difference_interval, share_interval
from lopsided.report.contents import Detail

_FEWEST_POSITIVES = 5
_FEWEST_ROWS = 60
_DISTANCE = 0.1  # between two distributions of scores, of which a smaller one does nobody harm
_LEVEL = 0.01
_RATE_RATIO = 1.25


class Third(NamedTuple):
    """A third of the stream, or less: rows `start` to `stop`."""

    start: int
    stop: int
    positives: int
    auroc: float
    average_precision: float
    median: float  # of the scores


class Verdict(NamedTuple):
    """What is said in one sentence, and the thirds that it is drawn from."""

    sentence: str
    thirds: list[Third]


def verdict(detail: Detail) -> Verdict:
    """One sentence on drift with its evidence.

    Ranking: the change of AUROC with its 95 % interval (from Newcombe's of both). Scores: the distance of
    Kolmogorov and Smirnov between those of the negatives. Positives: Fisher's exact test of their share.
    """
    ends = [0, detail.n // 3, 2 * detail.n // 3, detail.n]
    thirds = [_third(detail, start, stop) for start, stop in pairwise(ends)]
    first, last = thirds[0], thirds[-1]
    if detail.n < _FEWEST_ROWS or min(first.positives, last.positives) < _FEWEST_POSITIVES:
        return Verdict(
            f"Drift cannot be judged: the first third of the rows has {first.positives} positives and the last "
            f"{last.positives}, and {_FEWEST_POSITIVES} of each are needed.",
            thirds,
        )
    low, high = difference_interval(first.auroc, _interval(first), last.auroc, _interval(last))
    change = f"AUROC was {first.auroc:.3f} in the first third and {last.auroc:.3f} in the last (change "
    change += f"{last.auroc - first.auroc:+.3f}, 95 % interval {low:+.3f} to {high:+.3f})"
    distance, p = _distance(detail, first, last)
    scores = f"the scores of negatives moved by a Kolmogorov-Smirnov distance of {distance:.2f} (p {_p(p)})"
    rates = first.positives / (first.stop - first.start), last.positives / (last.stop - last.start)
    table = [[third.positives, third.stop - third.start - third.positives] for third in (first, last)]
    p_rate = float(stats.fisher_exact(table).pvalue)
    shares = f"the share of positives went from {rates[0]:.2%} to {rates[1]:.2%} (p {_p(p_rate)})"
    moved = distance >= _DISTANCE and p < _LEVEL
    rate_moved = p_rate < _LEVEL and not 1 / _RATE_RATIO < rates[1] / rates[0] < _RATE_RATIO
    if high < 0.0:
        opening = "Drift that hurts: the ranking got worse"
    elif low > 0.0:
        opening = "The ranking got better, as it does while a model learns"
        opening += ", though the stream changed" if moved or rate_moved else ""
    elif moved or rate_moved:
        what = " and ".join(["scores"] * moved + ["share of positives"] * rate_moved)
        opening = f"The {what} changed, but the ranking held"
    else:
        opening = "No drift was found"
    return Verdict(f"{opening}: {change}, {scores}, and {shares}.", thirds)


def _third(detail: Detail, start: int, stop: int) -> Third:
    positive, scores = detail.positive[start:stop], detail.scores[start:stop]
    areas = (auroc(positive, scores), average_precision(positive, scores)) if stop > start else (np.nan, np.nan)
    median = float(np.median(scores)) if stop > start else float("nan")
    return Third(start, stop, int(positive.sum()), *areas, median)


def _interval(third: Third) -> tuple[float, float]:
    low, high = auroc_interval(third.auroc, third.positives, third.stop - third.start - third.positives)
    return float(low), float(high)


def _distance(detail: Detail, first: Third, last: Third) -> tuple[float, float]:
    sides = [
        detail.scores[third.start : third.stop][~detail.positive[third.start : third.stop]] for third in (first, last)
    ]
    if not sides[0].size or not sides[1].size:
        return 0.0, 1.0
    found = stats.ks_2samp(*sides, method="asymp")
    return float(found.statistic), float(found.pvalue)


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"


def share_row(third: Third) -> str:
    """The share of positives with its 95 % interval."""
    n = third.stop - third.start
    if not n:
        return "-"
    low, high = share_interval(third.positives, n)
    return f"{third.positives / n:.2%} ({float(low):.2%} to {float(high):.2%})"
