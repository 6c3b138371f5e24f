"""What a learner remembers of its own progressive scores: enough for a threshold and for probabilities.

Two rings hold the latest scores of each class, given before the label was known. They follow a model that changes,
take fixed memory, and cost one write an example; thresholds and probabilities are worked out from them when asked for.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats, Integers

POSITIVE_RING, NEGATIVE_RING = 1024, 4096
_STEEPEST_LOGIT = 20.0


class ScoreMemory:
    """The latest progressive scores by class, and how many there have been."""

    def __init__(self) -> None:
        self.positive = np.zeros(POSITIVE_RING)
        self.negative = np.zeros(NEGATIVE_RING)
        self.counts: Integers = np.zeros(2, dtype=np.int64)  # positives, negatives that were scored
        self.seen = [0, 0]  # positives, negatives that were learned, also those that went unscored
        self._calibration: tuple[tuple[int, int], tuple[float, float]] | None = None
        self._threshold: tuple[tuple[int, int], str, float] | None = None

    def remember_one(self, sign: float, score: float) -> None:
        """Note one score, if there was one."""
        which, ring = (0, self.positive) if sign > 0 else (1, self.negative)
        self.seen[which] += 1
        if score != score:
            return
        count = self.counts.item(which)
        ring[count % len(ring)] = score
        self.counts[which] = count + 1

    def remember(self, signs: Floats, scores: Floats) -> None:
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
            kept = new[-ring.size :]
            ring[(count + new.size - kept.size + np.arange(kept.size)) % ring.size] = kept
            self.counts[which] = count + new.size

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
        """Where the decision lies: "f1", "gmean" (the best so far) or "rate:SHARE" (flag that share of the stream)."""
        if self._threshold is None or self._threshold[:2] != (self._moment, rule):
            self._threshold = (self._moment, rule, self._find_threshold(rule))
        return self._threshold[2]

    def _find_threshold(self, rule: str) -> float:
        scores, is_positive, mass = self._sample()
        if scores.size == 0 or (not rule.startswith("rate:") and 0 in self._moment):
            return 0.0
        order = np.argsort(-scores, kind="stable")
        scores, true, false = scores[order], (mass * is_positive)[order], (mass * ~is_positive)[order]
        last_of_ties = np.append(scores[:-1] != scores[1:], True)
        caught, alarms = np.cumsum(true)[last_of_ties], np.cumsum(false)[last_of_ties]
        flagged_down_to = scores[last_of_ties]
        positives, negatives = true.sum(), false.sum()
        if rule == "f1":
            best = int(np.argmax(2 * caught / (positives + caught + alarms)))
        elif rule == "gmean":
            best = int(np.argmax(np.sqrt(caught / positives * (1 - alarms / negatives))))
        else:
            allowed = float(rule.removeprefix("rate:")) * (positives + negatives)
            best = int(np.searchsorted(caught + alarms, allowed * (1 + 1e-12), side="right")) - 1
        if best < 0:
            return float(flagged_down_to[0])
        if best + 1 == flagged_down_to.size:
            return float(np.nextafter(flagged_down_to[best], -np.inf))
        middle = 0.5 * flagged_down_to[best] + 0.5 * flagged_down_to[best + 1]
        return float(middle if middle < flagged_down_to[best] else flagged_down_to[best + 1])

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
