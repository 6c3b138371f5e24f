"""How far a Bayesian score can be trusted: the posterior's spread, set right by what progressive ranks were off.

The variational posterior is not honest about its own width, and a refit changes the scale of all scores. So scores are
remembered on a ruler that moves with the model (0: the mean score of the negatives it was fitted to, 1: that of the
positives), and what can be said about a rank is learned from the past: how far the rank that an example had among the
negatives before it was from the rank that it turned out to have among those after it.
"""

from __future__ import annotations

import math
import statistics
from typing import NamedTuple

import numpy as np

from lopsided.bayes.kernel_pool import KernelPool
from lopsided.bayes.online import Posterior
from lopsided.core.arithmetic.compiled import Floats

REMEMBERED = 1024  # examples
_BEFORE = 100  # negatives that a rank is measured among; older ones were scored by a model that is gone
_AFTER, _FEWEST_AFTER = 30, 10  # negatives that tell what the rank has become
_OUTCOMES = 250  # the latest examples whose ranks are compared
_FEWEST_NEGATIVES, _FEWEST_OUTCOMES = 20, 50
_MOST_COVERAGE = 0.9999
_WHILE_UNKNOWN = 0.1  # variance of a rank over r (1 - r), as if among ten, until there are enough outcomes


def scores_and_spreads(posterior: Posterior, pool: KernelPool, X: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation of f(x) = sum_m e_m a'k_m(x) + b under the posterior, a independent of (b, e)."""
    answers = np.empty((X.shape[0], 2))
    for i in range(X.shape[0]):
        K = pool.rows(X[i : i + 1], posterior.points)[0]
        with np.errstate(invalid="ignore", over="ignore"):
            answers[i] = score_and_spread(posterior, K, K @ posterior.Sigma_a)
    return answers[:, 0], answers[:, 1]


def score_and_spread(posterior: Posterior, K: Floats, products: Floats) -> tuple[float, float]:
    """The same of one row, whose kernels with the points are K (P x n) and their products with the covariance known."""
    m_e, Sigma_e, with_b = posterior.m_be[1:], posterior.Sigma_be[1:, 1:], posterior.Sigma_be[0, 1:]
    with np.errstate(invalid="ignore", over="ignore"):  # enormous input has no finite kernel value
        said, of_a = K @ posterior.m_a, products @ K.T
        score = m_e @ said + posterior.m_be[0]
        variance = np.vdot(Sigma_e, of_a) + m_e @ (of_a @ m_e) + said @ (Sigma_e @ said) + 2.0 * (with_b @ said)
        variance += posterior.Sigma_be[0, 0]
    return float(np.nan_to_num(score, nan=0.0)), math.sqrt(max(float(np.nan_to_num(variance)), 0.0))


class Ruler(NamedTuple):
    """Where a model has its 0 and how long its unit is."""

    zero: float
    unit: float

    @classmethod
    def of(cls, scores: Floats, signs: Floats) -> Ruler:
        """From the scores that a fit gives to its own examples."""
        negative, positive = float(scores[signs < 0].mean()), float(scores[signs > 0].mean())
        return cls(negative, positive - negative if positive > negative else 1.0)


class Outcomes(NamedTuple):
    """What the past says: how far ranks were off, over sqrt(r (1 - r)) for a rank r; the posterior's spread, seen as a
    rank and on the same scale; and how many negatives told.
    """

    errors: Floats
    spreads: Floats
    told_by: Floats


class RankMemory:
    """The latest progressive scores with their spreads, both on the ruler, and the signs; a ring of fixed size."""

    def __init__(self) -> None:
        self.ring = np.zeros((REMEMBERED, 3))
        self.count = np.zeros(1, dtype=np.int64)
        self._known: tuple[int, Outcomes] | None = None

    def remember(self, score: float, spread: float, sign: float) -> None:
        """One more example, scored before it was learned."""
        self.ring[self.count[0] % REMEMBERED] = score, spread, sign
        self.count[0] += 1

    def _in_order(self) -> Floats:
        n = self.count.item()
        return self.ring[:n] if n <= REMEMBERED else np.roll(self.ring, -(n % REMEMBERED), axis=0)

    def _latest_negatives(self) -> Floats:
        past = self._in_order()
        return np.sort(past[past[:, 2] < 0, 0][-_BEFORE:])

    def outcomes(self) -> Outcomes:
        """How far ranks were off, for the latest examples that have enough negatives on both sides."""
        n = self.count.item()
        if self._known is None or self._known[0] != n:
            self._known = n, self._compared(self._in_order())
        return self._known[1]

    def _compared(self, past: Floats) -> Outcomes:
        negatives = np.flatnonzero(past[:, 2] < 0)
        found = []
        for t in range(max(0, past.shape[0] - _OUTCOMES), past.shape[0]):
            split = int(np.searchsorted(negatives, t))
            after = negatives[split + (past[t, 2] < 0) :][:_AFTER]
            before = negatives[max(0, split - _BEFORE) : split]
            if before.size < _FEWEST_NEGATIVES or after.size < _FEWEST_AFTER:
                continue
            score, spread, _ = past[t]
            known = np.sort(past[before, 0])
            rank, unit = _rank_and_unit(known, np.array([score]))
            became = _share_below(np.sort(past[after, 0]), np.array([score]))
            reach = _share_below(known, np.array([score - spread, score + spread]))
            found.append((abs(became[0] - rank[0]) / unit[0], 0.5 * (reach[1] - reach[0]) / unit[0], after.size))
        table = np.array(found).reshape(-1, 3)
        return Outcomes(table[:, 0], table[:, 1], table[:, 2])

    def factor(self) -> float:
        """What to multiply the posterior's spread by, so that seen as ranks it is as large as what they were off."""
        outcomes = self.outcomes()
        claimed = float(np.mean(outcomes.spreads**2)) if outcomes.errors.size >= _FEWEST_OUTCOMES else 0.0
        return float(np.sqrt(np.mean(outcomes.errors**2) / claimed)) if claimed > 0.0 else 1.0

    def intervals(self, scores: Floats, coverage: float) -> tuple[Floats, Floats]:
        """Bounds for the share of negatives that score below each of these; 0 and 1 while nothing is known."""
        negatives = self._latest_negatives()
        if negatives.size < _FEWEST_NEGATIVES:
            return np.zeros(scores.size), np.ones(scores.size)
        rank, unit = _rank_and_unit(negatives, scores)
        z = statistics.NormalDist().inv_cdf(0.5 + 0.5 * min(coverage, _MOST_COVERAGE))
        half = z * np.sqrt(self._variance(z, coverage, negatives.size)) * unit
        return np.maximum(rank - half, 0.0), np.minimum(rank + half, 1.0)

    def _variance(self, z: float, coverage: float, n: int) -> float:
        """Of a rank over r (1 - r): what the past shows, less what its later negatives add by being few."""
        outcomes = self.outcomes()
        if outcomes.errors.size < _FEWEST_OUTCOMES:
            return _WHILE_UNKNOWN
        seen = float(np.quantile(outcomes.errors, coverage)) / z
        return max(seen**2 - float(np.mean(1.0 / outcomes.told_by)), 1.0 / n)


def _share_below(ordered: Floats, scores: Floats) -> Floats:
    """Of equals a half."""
    below, not_above = np.searchsorted(ordered, scores, "left"), np.searchsorted(ordered, scores, "right")
    return np.asarray(0.5 * (below + not_above) / ordered.size)


def _rank_and_unit(ordered: Floats, scores: Floats) -> tuple[Floats, Floats]:
    """The share r below, and sqrt(r (1 - r)), which is never 0, not even at the ends."""
    rank = _share_below(ordered, scores)
    smoothed = (rank * ordered.size + 0.5) / (ordered.size + 1)
    return rank, np.sqrt(smoothed * (1.0 - smoothed))
