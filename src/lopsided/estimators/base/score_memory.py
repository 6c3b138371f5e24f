"""What a learner remembers of its own progressive scores: enough for a threshold and for probabilities.

Two rings hold the latest scores of each class, given before the label was known, and a third one those of all rows in
the order of the stream. They follow a model that changes, take fixed memory, and cost two writes an example; thresholds
and probabilities are worked out from them when asked for. For a share of alerts, a cut follows the scores as they come.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.core.measures.recency import latest_of_all
from lopsided.core.measures.share_above import (
    CORRECTION,
    OWED,
    SHARE,
    WINDOW,
    ShareAbove,
    cut_of,
    empty_share_above,
    follow_share,
)
from lopsided.estimators.base.blas import one_blas_thread
from lopsided.estimators.base.cutting import Cut, above_all, best_cut, cut_at_share, split_at_share

POSITIVE_RING, NEGATIVE_RING, LATEST_RING = 1024, 4096, 2048
_STEEPEST_LOGIT = 20.0
_FEW = 5  # positives before which no best cut is looked for
_FEWEST_POSITIVES, _FEWEST_NEGATIVES = 64, 256


class ScoreMemory:
    """The latest progressive scores by class, and how many there have been."""

    _above: ShareAbove | None = None  # a cut that follows the scores
    _cut: tuple[tuple[int, ...], str, Cut] | None = None

    def __init__(self, share: float | None = None) -> None:
        self.positive = np.zeros(POSITIVE_RING)
        self.negative = np.zeros(NEGATIVE_RING)
        self.latest = np.zeros(LATEST_RING)
        self.counts: Integers = np.zeros(2, dtype=np.int64)  # positives, negatives that were scored
        self.n_latest = 0  # scores of both, in one row; files of old have none
        self.seen = [0, 0]  # positives, negatives that were learned, also those that went unscored
        self._calibration: tuple[tuple[int, int], tuple[float, float]] | None = None
        self.follow(share)

    def remember_one(self, sign: float, score: float, answer: float | None = None) -> None:
        """Note one score, if there was one; and the answer, if a share of alerts goes by another score than that."""
        which, ring = (0, self.positive) if sign > 0 else (1, self.negative)
        self.seen[which] += 1
        if score == score:
            count = self.counts.item(which)
            ring[count % len(ring)] = score
            self.counts[which] = count + 1
        latest = score if answer is None else answer
        if latest == latest:
            self.latest[self.n_latest % LATEST_RING] = latest
            self.n_latest += 1
            if self._above is not None:
                follow_share(self._above, np.array([latest]))

    def remember(self, signs: Floats, scores: Floats, answers: Floats | None = None) -> None:
        """Note many, in order: the same as one after the other."""
        scored = ~np.isnan(scores)
        positives = int(np.count_nonzero(signs > 0))
        self.seen[0] += positives
        self.seen[1] += signs.size - positives
        for which, ring, new in (
            (0, self.positive, scores[scored & (signs > 0)]),
            (1, self.negative, scores[scored & (signs < 0)]),
        ):
            count = int(self.counts[which])
            _append(ring, count, new)
            self.counts[which] = count + new.size
        latest = scores[scored] if answers is None else answers
        _append(self.latest, self.n_latest, latest)
        self.n_latest += latest.size
        if self._above is not None:
            follow_share(self._above, latest)

    def follow(self, share: float | None, correction: float = 0.0, owed: float = 0.0) -> None:
        """From now on let a cut follow the scores, so that this share of them is above it; None: none does."""
        if share is None:
            self._above = None
            return
        self._above = empty_share_above(share)
        known = min(self.n_latest, WINDOW)
        _append(self._above.ring, self.n_latest - known, _last(self.latest, self.n_latest, known))
        self._above.ranked[:known] = np.sort(self._above.ring[:known])
        self._above.tally[0] = self.n_latest
        self._above.levels[CORRECTION], self._above.levels[OWED] = correction, owed

    @property
    def following(self) -> Floats | None:
        """The share that a cut follows the scores for, its correction so far, what ties are owed; None: no cut does."""
        return None if self._above is None else self._above.levels.copy()

    @property
    def share(self) -> float | None:
        """The share that a cut follows the scores for; None: no cut does."""
        return None if self._above is None else self._above.levels.item(SHARE)

    @property
    def correction(self) -> float:
        """By how much the logarithm of that share is corrected so far."""
        return 0.0 if self._above is None else self._above.levels.item(CORRECTION)

    def next_cut(self, share: float) -> float | None:
        """Where the next score is to be cut for this share of alerts; None if no cut has followed the scores for it."""
        if self._above is None or share != self.share or not self.n_latest:
            return None
        return float(cut_of(self._above))

    def latest_scores(self) -> Floats:
        """The latest scores of all rows, from old to new."""
        return _last(self.latest, self.n_latest, min(self.n_latest, LATEST_RING))

    @property
    def _moment(self) -> tuple[int, int]:
        return int(self.counts[0]), int(self.counts[1])

    def _sample(self) -> tuple[Floats, npt.NDArray[np.bool_], Floats]:
        """The remembered scores, their labels, and how many examples of the stream each stands for."""
        positives, negatives = self.positive[: self.counts[0]], self.negative[: self.counts[1]]
        scores = np.concatenate([positives, negatives])
        is_positive = np.arange(scores.size) < positives.size
        shares = self.counts / np.maximum([positives.size, negatives.size], 1)
        return scores, is_positive, np.where(is_positive, shares[0], shares[1])

    def threshold(self, rule: str) -> float:
        """Where the decision lies: "f1", "gmean" (the best of late) or "rate:SHARE" (flag that share of the stream)."""
        return self.cut(rule).at

    def cut(self, rule: str) -> Cut:
        """The same, and which part of the scores that are just there is above."""
        moment = (*self._moment, self.n_latest)
        if self._cut is None or self._cut[:2] != (moment, rule):
            is_rate = rule.startswith("rate:") and self.n_latest
            share = rule.removeprefix("rate:")
            found = split_at_share(self._window(), float(share)) if is_rate else Cut(self._find_threshold(rule))
            self._cut = (moment, rule, found)
        return self._cut[2]

    def _find_threshold(self, rule: str) -> float:
        positives, negatives = self._moment
        if not positives + negatives:
            return 0.0
        if rule.startswith("rate:"):
            return self._cut_at_share(float(rule.removeprefix("rate:")))
        if not positives:  # nobody knows what to flag, so nothing is
            return above_all(self.negative[: min(negatives, NEGATIVE_RING)])
        if not negatives:
            return 0.0
        if positives < _FEW:
            # One or two say nothing about where the best cut lies: as many are flagged as there are positives.
            return self._cut_at_share(positives / (positives + negatives))
        return best_cut(*self._recent_sample(), rule)

    def _cut_at_share(self, share: float) -> float:
        if not self.n_latest:  # out of a file that does not have them
            scores, _, mass = self._sample()
            return cut_at_share(scores, share, mass)
        return cut_at_share(self._window(), share)

    def _window(self) -> Floats:
        window = min(self.n_latest, max(LATEST_RING // 2, min(LATEST_RING, self.n_latest // 4)))
        return _last(self.latest, self.n_latest, window)

    def _recent_sample(self) -> tuple[Floats, npt.NDArray[np.bool_], Floats]:
        """The latest half of the positives and as much of the negatives, but not too few: a model gets better."""
        counts = self.counts.tolist()
        sizes = [min(count, size) for count, size in zip(counts, (POSITIVE_RING, NEGATIVE_RING), strict=True)]
        n_positives = min(sizes[0], max(_FEWEST_POSITIVES, counts[0] // 2))
        n_negatives = min(sizes[1], max(_FEWEST_NEGATIVES, counts[1] * n_positives // counts[0]))
        scores = np.concatenate([
            _last(self.positive, counts[0], n_positives), _last(self.negative, counts[1], n_negatives),
        ])  # fmt: skip
        is_positive = np.arange(scores.size) < n_positives
        return scores, is_positive, np.where(is_positive, counts[0] / n_positives, counts[1] / n_negatives)

    def probability(self, scores: Floats) -> Floats:
        """The probability of the rare class: a logistic curve through the remembered scores, strictly increasing."""
        slope, offset = self.calibration()
        logit = np.clip(slope * scores + offset, -1e300, 1e300)
        # Far out the logit grows like a logarithm, so that 1/(1 + exp(-logit)) does not round to 0 or 1.
        beyond = np.maximum(np.abs(logit) - _STEEPEST_LOGIT, 0.0)
        logit = np.where(beyond > 0, np.sign(logit) * (_STEEPEST_LOGIT + 0.02 * np.log1p(beyond)), logit)
        return np.asarray(1.0 / (1.0 + np.exp(-logit)))

    def calibration(self) -> tuple[float, float]:
        """Slope and offset of that curve."""
        if self._calibration is None or self._calibration[0] != self._moment:
            with one_blas_thread:
                self._calibration = (self._moment, self._fit_logistic())
        return self._calibration[1]

    def _fit_logistic(self) -> tuple[float, float]:
        """Platt's method: slope > 0 and offset by Newton steps on the weighted, slightly smoothed likelihood."""
        scores, is_positive, mass = self._sample()
        if scores.size == 0:
            return 1.0, 0.0
        n = self.counts.astype(np.float64)
        prior = np.log((n[0] + 0.5) / (n[1] + 0.5))
        centre, spread = float(np.average(scores, weights=mass)), float(scores.std())
        if 0 in self._moment or not spread > 0.0 or not np.isfinite(spread):
            return 1.0, float(prior - centre)
        z = (scores - centre) / spread
        target = np.where(is_positive, (n[0] + 1) / (n[0] + 2), 1 / (n[1] + 2))
        beta = np.array([1.0, prior])
        design = np.stack([z, np.ones_like(z)])
        for _ in range(25):
            p = 1.0 / (1.0 + np.exp(-np.clip(beta @ design, -30, 30)))
            gradient = design @ (mass * (p - target)) + 1e-3 * np.array([beta[0] - 1.0, 0.0])
            hessian = (design * (mass * p * (1 - p))) @ design.T + np.diag([1e-3, 1e-9])
            move = np.linalg.solve(hessian, gradient)
            beta -= np.clip(move, -2.0, 2.0)
            # A ranker that is no better than chance still gets an increasing curve, though a nearly flat one.
            beta[0] = max(beta[0], 1e-3)
            if np.abs(move).max() < 1e-10:
                break
        return float(beta[0] / spread), float(beta[1] - beta[0] * centre / spread)


def _append(ring: Floats, count: int, new: Floats) -> None:
    """Write new scores behind the `count` that there have been."""
    kept = new[-ring.size :]
    ring[(count + new.size - kept.size + np.arange(kept.size)) % ring.size] = kept


def _last(ring: Floats, count: int, n: int) -> Floats:
    """The last n of the scores that there have been, in their order."""
    return ring[(count - n + np.arange(n)) % ring.size]


def merged_memory(memories: list[ScoreMemory]) -> ScoreMemory:
    """What several learners remember, as one: the latest of all, each looking back over the same share of its rows."""
    merged = ScoreMemory()
    merged.seen = [sum(memory.seen[which] for memory in memories) for which in range(2)]
    for which, name in enumerate(("positive", "negative")):
        counts = [memory.counts.item(which) for memory in memories]
        _fill_with_latest(getattr(merged, name), [getattr(memory, name) for memory in memories], counts)
        merged.counts[which] = sum(counts)
    counts = [memory.n_latest for memory in memories]
    _fill_with_latest(merged.latest, [memory.latest for memory in memories], counts)
    merged.n_latest = sum(counts)
    if memories[0].share is not None:
        corrections = [memory.correction for memory in memories if memory.share == memories[0].share]
        merged.follow(memories[0].share, sum(corrections) / len(corrections))
    return merged


def _fill_with_latest(ring: Floats, rings: list[Floats], counts: list[int]) -> None:
    kept = [_last(one, count, min(count, one.size)) for one, count in zip(rings, counts, strict=True)]
    latest = np.concatenate(kept)[latest_of_all([part.size for part in kept], counts)][-ring.size :]
    _append(ring, sum(counts) - latest.size, latest)
