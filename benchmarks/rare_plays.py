"""How a learner is played against a stream, and what is measured: prompt labels, late labels, one change."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from lopsided.datasets import Dataset
from lopsided.metrics import auroc, average_precision
from rare_contestants import part_scores

DAY = 86_400.0
Measures = dict[str, float]
_CHECKED_EVERY = 100  # rows between two looks at what was regained
_LAST = 5_000
LOOKS = range(_CHECKED_EVERY, 6_001, _CHECKED_EVERY)  # rows after a change after which held-out rows are judged


def areas(y: np.ndarray, scores: np.ndarray, suffix: str = "") -> Measures:
    """AUC and average precision; without a positive or a negative they are not defined."""
    if not 0 < y.sum() < y.size:
        return {f"auc{suffix}": float("nan"), f"ap{suffix}": float("nan")}
    return {f"auc{suffix}": auroc(y, scores), f"ap{suffix}": average_precision(y, scores)}


def prompt(learner: Any, stream: Dataset, changes: tuple[float, ...] = ()) -> tuple[Measures, np.ndarray]:
    """Test, then train: over all rows, from row 250 on, over the second half, and after changes at these shares."""
    began = time.process_time()
    scores = learner.progressive_scores(stream.X, stream.y, classes=[0, 1])
    seconds = time.process_time() - began
    y, n = stream.y, stream.n_rows
    found = areas(y, scores) | areas(y[250:], scores[250:], " from 250") | areas(y[n // 2 :], scores[n // 2 :], " half")
    for k, (start, stop) in enumerate(pairwise([*(round(share * n) for share in changes), n]), start=1):
        found |= areas(y[start:stop], scores[start:stop], f" after {k}")
    return found | {"us": seconds / n * 1e6}, scores


def blocks_of_time(times: np.ndarray, length: float, delay: float) -> Iterator[tuple[float, slice, slice]]:
    """Blocks of the stream's time: when each begins, the rows whose labels have come by then and had not, its own rows.

    Labels are handed over when a block begins: of rows that came more than the delay before.
    """
    known = 0
    for k in range(int(times[-1] // length) + 1):
        begin = k * length
        start, stop = np.searchsorted(times, [begin, begin + length], side="left")
        due = max(known, int(np.searchsorted(times, begin - delay, side="left")))
        yield begin, slice(known, due), slice(int(start), int(stop))
        known = due


def scores_of(learner: Any, X: np.ndarray) -> np.ndarray:
    """What rows are ranked by: not shifted by a threshold that moves from day to day."""
    return np.asarray((learner.raw_scores if hasattr(learner, "raw_scores") else learner.decision_function)(X))


class Late(NamedTuple):
    """Scores of rows whose labels came late, those of the parts of a blend, and microseconds a row."""

    scores: np.ndarray
    parts: dict[str, np.ndarray]
    learning: float
    scoring: float


def late(
    learner: Any, stream: Dataset, *, block: float, delay: float, refit_every: float = 7 * DAY, progress: str = ""
) -> Late:
    """Score rows as they come; learn them when their label has come; fit anew once a week what is to be fitted anew."""
    assert stream.times is not None
    scores = np.full(stream.n_rows, -np.inf)  # while nobody knows anything: below all that comes later
    parts: dict[str, np.ndarray] = {}
    learning = scoring = 0.0
    next_fit = delay
    for begin, known, own in blocks_of_time(stream.times, block, delay):
        began = time.process_time()
        if known.stop > known.start:
            learner.partial_fit(stream.X[known], stream.y[known], classes=[0, 1])
            if hasattr(learner, "refit") and begin >= next_fit:
                learner.refit()
                next_fit = begin + refit_every
        middle = time.process_time()
        if known.stop and own.stop > own.start:
            scores[own] = scores_of(learner, stream.X[own])
        learning += middle - began
        scoring += time.process_time() - middle
        if known.stop and own.stop > own.start:
            for part, said in part_scores(learner, stream.X[own]).items():
                parts.setdefault(part, np.full(stream.n_rows, -np.inf))[own] = said
        if progress and begin % (30 * DAY) == 0 and begin:
            print(f"    {progress}: day {begin / DAY:.0f}, {(learning + scoring):.0f} s", flush=True)
    for found in (scores, *parts.values()):
        found[np.isinf(found)] = found[np.isfinite(found)].min() - 1.0
    return Late(scores, parts, learning / stream.n_rows * 1e6, scoring / stream.n_rows * 1e6)


def daily_precision(y: np.ndarray, scores: np.ndarray, days: np.ndarray, cards: np.ndarray, best: int) -> float:
    """Of the cards with the best scores of a day (each by its best row), the share that had a fraud; mean of days."""
    found = []
    edges = np.flatnonzero(np.diff(days)) + 1
    for part in np.split(np.arange(y.size), edges):
        names, place = np.unique(cards[part], return_inverse=True)
        top, fraud = np.full(names.size, -np.inf), np.zeros(names.size)
        np.maximum.at(top, place, scores[part])
        np.maximum.at(fraud, place, y[part])
        chosen = np.argsort(-top, kind="stable")[:best]
        found.append(fraud[chosen].mean())
    return float(np.mean(found))


class Change(NamedTuple):
    """A stream with one change: rows to learn before it, rows that are kept apart, and the same after it."""

    stream: Dataset
    old: slice
    apart_old: slice
    new: slice
    apart_new: slice


def recovery(learner: Any, change: Change) -> Measures:
    """AUC and average precision of the rows after the change, of the last 5,000, and rows until half is regained.

    Regained is measured on rows that nobody learns from: 0 if nothing was lost, all rows if half never came back. The
    AUC of these rows is noted at every look for 6,000 rows.
    """
    X, y = change.stream.X, change.stream.y
    learner.progressive_scores(X[change.old], y[change.old], classes=[0, 1])
    old, new = (_thinned(change.stream, part) for part in (change.apart_old, change.apart_new))
    before, after = (auroc(labels, learner.decision_function(rows)) for rows, labels in (old, new))
    never = float(change.new.stop - change.new.start)
    regained = never if before - after > 0.02 else 0.0
    scores, looks = [], {}
    for start in range(change.new.start, change.new.stop, _CHECKED_EVERY):
        part = slice(start, min(start + _CHECKED_EVERY, change.new.stop))
        scores.append(learner.progressive_scores(X[part], y[part]))
        rows = part.stop - change.new.start
        if regained != never and rows not in LOOKS:
            continue
        area = auroc(new[1], learner.decision_function(new[0]))
        if regained == never and area >= (before + after) / 2:
            regained = float(rows)
        if rows in LOOKS:
            looks[held_out_after(rows)] = area
    found, labels = np.concatenate(scores), y[change.new]
    measured = areas(labels, found) | areas(labels[-_LAST:], found[-_LAST:], " last")
    return measured | looks | {"before": before, "fell to": after, "regained": regained, "rows after": never}


def held_out_after(rows: int) -> str:
    """The name of the AUC of held-out rows so many rows after a change."""
    return f"held out after {rows}"


def _thinned(stream: Dataset, part: slice) -> tuple[np.ndarray, np.ndarray]:
    """All positives and at most 2,000 negatives: the same AUC for less work."""
    y = stream.y[part]
    negatives = np.flatnonzero(y == 0)
    rows = np.sort(np.concatenate([np.flatnonzero(y == 1), negatives[:: max(1, negatives.size // 2_000)]]))
    return stream.X[part][rows], y[rows]
