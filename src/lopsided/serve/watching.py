"""What can be seen of a model at work, worked out by the thread that learns, so that whoever asks costs nobody time."""

from __future__ import annotations

import time
from dataclasses import dataclass

from lopsided.serve.folding import Fold, Line
from lopsided.serve.messages import LineState, Measures
from lopsided.serve.sequencing import Sequencer

_BETWEEN_MEASURES = 1.0  # seconds: areas and their intervals take milliseconds


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
    champion: LineState
    challenger: LineState | None


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
        lines[0] or LineState(fold.settings.learner, 0, 0, _nothing()),
        lines[1],
    )


def _states(before: Summary | None) -> tuple[LineState | None, LineState | None]:
    return (None, None) if before is None else (before.champion, before.challenger)


def _state(line: Line, measures: Measures | None, share: float | None) -> LineState:
    rows, positives = (int(line.model.n_seen_), int(line.model.n_positives_seen_)) if line.started else (0, 0)
    return LineState(line.chosen.learner, rows, positives, measures or line.window.measures(share))


def _nothing() -> Measures:
    return Measures(0, 0, None, None, None, None, None, None, None)
