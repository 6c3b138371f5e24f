"""What can be seen of a model at work, worked out by the thread that learns, so that whoever asks costs nobody time."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lopsided.serve.folding import Fold
from lopsided.serve.learning import Line
from lopsided.serve.measuring import Floats
from lopsided.serve.messages import LabelDelay, LineState, Measures, PastMeasures, PastPoint
from lopsided.serve.sequencing import Sequencer

_BETWEEN_MEASURES = 1.0  # seconds: areas and their intervals take milliseconds
_MOST_POINTS = 300
_DIGITS = 6


@dataclass
class Summary:
    """How the models were doing when it was made."""

    made: float  # the measures
    measured: int  # labels that they know of
    position: int
    learned: int
    expired: int
    dropped: int
    expired_until: int
    refused: int
    threshold: float | None
    delay: LabelDelay | None
    champion: LineState
    challenger: LineState | None
    labelled: tuple[Floats, Floats]  # scores and signs of the latest labelled events


def is_outdated(summary: Summary, fold: Fold) -> bool:
    """Whether labels have been learned that the measures do not know of, and it is time to look again."""
    return summary.measured != fold.n_learned and time.monotonic() - summary.made >= _BETWEEN_MEASURES


def summary_of(fold: Fold, sequencer: Sequencer, before: Summary | None = None) -> Summary:
    """A new summary; measures are taken over from the one before if it is of just now."""
    is_fresh = before is not None and time.monotonic() - before.made < _BETWEEN_MEASURES
    known = fold.n_learned / sequencer.n_events if sequencer.n_events else None
    share = None if known is None else min(known, 1.0)
    lines = []
    for line, last in zip((fold.champion, fold.challenger), _states(before), strict=True):
        measures = last.measures if is_fresh and last is not None else None
        lines.append(None if line is None else _state(line, measures, share))
    champion = fold.champion
    return Summary(
        before.made if is_fresh and before is not None else time.monotonic(),
        before.measured if is_fresh and before is not None else fold.n_learned,
        fold.position,
        fold.n_learned,
        fold.n_expired,
        fold.n_dropped,
        fold.expired_until,
        fold.n_refused,
        float(champion.model.threshold_) if champion is not None and champion.started else None,
        before.delay if is_fresh and before is not None else None if champion is None else champion.window.delay(),
        lines[0] or LineState(fold.settings.learner, 0, 0, _nothing()),
        lines[1],
        before.labelled if is_fresh and before is not None else _labelled(champion),
    )


class Past:
    """How the measures went: a point a second, and when there are too many, every other one is let go."""

    def __init__(
        self, room: int = _MOST_POINTS, points: Sequence[PastPoint] = (), step: float = _BETWEEN_MEASURES
    ) -> None:
        self._points = list(points)[-room:]
        self._room, self.step, self._made = room, max(step, _BETWEEN_MEASURES), -math.inf

    def add(self, summary: Summary, clock: float | None) -> None:
        """The measures of a summary, if they are due."""
        measures, challenger = summary.champion.measures, summary.challenger
        if clock is None or measures.auroc is None or summary.made < self._made + self.step:
            return
        self._made = summary.made
        # A stream that goes back in time begins anew from there: what is drawn over time must go one way.
        points = [point for point in self._points if point.clock < clock]
        rival = None if challenger is None else _point_of(challenger.measures)
        points.append(PastPoint(clock, summary.learned, _point_of(measures), rival))
        if len(points) > self._room:
            points, self.step = points[::-2][::-1], 2.0 * self.step
        self._points = points

    @property
    def points(self) -> list[PastPoint]:
        """The oldest first."""
        return self._points


def _point_of(measures: Measures) -> PastMeasures:
    return PastMeasures(
        _band(measures.auroc, measures.auroc_interval),
        _band(measures.average_precision, measures.average_precision_interval),
        _band(measures.alert_precision, measures.alert_precision_interval),
    )


def _band(value: float | None, interval: list[float] | None) -> list[float] | None:
    return None if value is None else [round(number, _DIGITS) for number in (value, *(interval or ()))]


def _states(before: Summary | None) -> tuple[LineState | None, LineState | None]:
    return (None, None) if before is None else (before.champion, before.challenger)


def _state(line: Line, measures: Measures | None, share: float | None) -> LineState:
    rows, positives = (int(line.model.n_seen_), int(line.model.n_positives_seen_)) if line.started else (0, 0)
    return LineState(line.chosen.learner, rows, positives, measures or line.window.measures(share))


def _labelled(line: Line | None) -> tuple[Floats, Floats]:
    if line is None:
        return np.zeros(0), np.zeros(0)
    scores, signs, *_ = line.window.latest().copy()
    return scores, signs


def _nothing() -> Measures:
    return Measures(0, 0, None, None, None, None, None, None, None)
