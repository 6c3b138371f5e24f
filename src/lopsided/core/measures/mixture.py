"""Several scores of a row, averaged by what each has achieved: p ~ prior exp((base + n) M).

M is a share of average precision and of AUROC so far, from counts of scores by class in equal bins of a fixed ruler; n
is the number of positives behind it. Counts and n are halved when n reaches a limit, so that the past fades.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, compiled

# Entries of Mixture.tally: positives counted, and rows since the shares were last worked out.
COUNTED, SINCE = range(2)
N_BINS = 2000
_LOWEST, _LENGTH = -1.5, 3.0  # the ruler; scores beyond it fall into its first and last bin
_EAGER = 100  # shares are worked out after each of so many positives,
_PATIENCE = 1000  # and after so many rows


class MixturePlan(NamedTuple):
    """`base` and how much a positive adds to it; the share of AUROC in M; positives at which counts are halved."""

    base: float
    per_positive: float
    area: float
    most: float


class Mixture(NamedTuple):
    """By variant: counts by class (0 is the positive one) and bin, the prior, and the shares p."""

    counts: Floats
    prior: Floats
    shares: Floats
    tally: Floats


def empty_mixture(prior: Floats) -> Mixture:
    """Nothing counted: the shares are those of the prior."""
    prior = np.asarray(prior, dtype=np.float64)
    return Mixture(np.zeros((prior.size, 2, N_BINS)), prior.copy(), prior / prior.sum(), np.zeros(2))


@compiled
def mixed(mixture: Mixture, scores: Floats) -> float:
    """The average of the scores by the shares."""
    total = 0.0
    for i in range(scores.size):
        total += mixture.shares[i] * scores[i]
    return total


@compiled
def note(mixture: Mixture, plan: MixturePlan, y: float, weight: float, scores: Floats) -> None:
    """Count the scores that a row was given, whose label is now known."""
    own = 0 if y > 0.0 else 1
    for i in range(scores.size):
        place = (scores[i] - _LOWEST) / _LENGTH * N_BINS
        key = 0 if not place > 0.0 else N_BINS - 1 if place >= N_BINS else int(place)
        mixture.counts[i, own, key] += weight
    tally = mixture.tally
    tally[SINCE] += 1.0
    if y > 0.0:
        tally[COUNTED] += 1.0
    if (y > 0.0 and tally[COUNTED] <= _EAGER) or tally[SINCE] >= _PATIENCE:
        tally[SINCE] = 0.0
        set_shares(mixture, plan)
        if tally[COUNTED] >= plan.most:
            _halve(mixture)


@compiled
def set_shares(mixture: Mixture, plan: MixturePlan) -> None:
    """p from what has been counted."""
    shares, best = mixture.shares, -math.inf
    for i in range(shares.size):
        positives, negatives = mixture.counts[i, 0], mixture.counts[i, 1]
        measure = (1.0 - plan.area) * precision_of_counts(positives, negatives)
        if plan.area > 0.0:
            measure += plan.area * area_of_counts(positives, negatives)
        shares[i] = measure
        best = max(best, measure)
    sharpness, total = plan.base + plan.per_positive * mixture.tally[COUNTED], 0.0
    for i in range(shares.size):
        shares[i] = mixture.prior[i] * math.exp(sharpness * (shares[i] - best))
    for i in range(shares.size):  # apart: a sum beside writes is vectorised or not by how close arrays lie in memory
        total += shares[i]
    for i in range(shares.size):
        shares[i] /= total


@compiled
def _halve(mixture: Mixture) -> None:
    mixture.tally[COUNTED] *= 0.5
    for i in range(mixture.counts.shape[0]):
        for own in range(2):
            counts = mixture.counts[i, own]
            for key in range(counts.size):
                counts[key] *= 0.5


@compiled
def forget_all(mixture: Mixture) -> None:
    """Back to the prior."""
    total = 0.0
    for i in range(mixture.prior.size):
        total += mixture.prior[i]
        for own in range(2):
            counts = mixture.counts[i, own]
            for key in range(counts.size):
                counts[key] = 0.0
    for i in range(mixture.prior.size):
        mixture.shares[i] = mixture.prior[i] / total
    mixture.tally[COUNTED] = mixture.tally[SINCE] = 0.0


@compiled
def precision_of_counts(positives: Floats, negatives: Floats) -> float:
    """Average precision, as if positives and negatives of one bin came in turns; 0 without positives."""
    true = false = area = 0.0
    for key in range(positives.size - 1, -1, -1):
        p, n = positives[key], negatives[key]
        if p > 0.0:
            middle = true + 0.5 * (p + 1.0)
            area += p * middle / (middle + false + 0.5 * n)
        true += p
        false += n
    return area / true if true > 0.0 else 0.0


@compiled
def area_of_counts(positives: Floats, negatives: Floats) -> float:
    """AUROC, ties within a bin counting half; 1/2 while a class is missing."""
    total = 0.0
    for key in range(negatives.size):
        total += negatives[key]
    true = false = area = 0.0
    for key in range(positives.size - 1, -1, -1):
        area += positives[key] * (total - false - 0.5 * negatives[key])
        true += positives[key]
        false += negatives[key]
    return area / (true * total) if true > 0.0 and total > 0.0 else 0.5
