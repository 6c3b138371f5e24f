"""Counts of right and wrong calls, faded: the state behind F1, G-mean, balanced accuracy and log-loss."""

from __future__ import annotations

import math

from lopsided.core.arithmetic.compiled import Floats, compiled

# Entries of the counts.
TRUE_POSITIVES, FALSE_POSITIVES, FALSE_NEGATIVES, TRUE_NEGATIVES, LOSS, WEIGHT = range(6)
_FORGOTTEN = 1e-200  # a class that has faded so far is missing again; the smallest floats would never fade to nothing


@compiled
def count_calls(counts: Floats, fade: float, labels: Floats, scores: Floats) -> None:
    """Many examples, in order; a score > 0 calls positive."""
    for t in range(scores.size):
        fade_counts(counts, fade)
        count_call(counts, labels[t], scores[t])
        z = labels[t] * scores[t]
        counts[LOSS] += max(-z, 0.0) + math.log1p(math.exp(-abs(z)))
        counts[WEIGHT] += 1.0


@compiled
def fade_counts(counts: Floats, fade: float) -> None:
    """Let the past weigh less before a new example."""
    if fade < 1.0:
        for i in range(counts.size):
            counts[i] *= fade
        _forget(counts, TRUE_POSITIVES, FALSE_NEGATIVES)
        _forget(counts, FALSE_POSITIVES, TRUE_NEGATIVES)


@compiled
def _forget(counts: Floats, right: int, wrong: int) -> None:
    if counts[right] + counts[wrong] < _FORGOTTEN:
        counts[right] = counts[wrong] = 0.0


@compiled
def count_call(counts: Floats, y: float, score: float) -> None:
    """One more call, right or wrong."""
    if y > 0.0:
        counts[TRUE_POSITIVES if score > 0.0 else FALSE_NEGATIVES] += 1.0
    else:
        counts[FALSE_POSITIVES if score > 0.0 else TRUE_NEGATIVES] += 1.0


@compiled
def positives_of(counts: Floats) -> float:
    """How many positives there were, whatever they were called."""
    return counts[TRUE_POSITIVES] + counts[FALSE_NEGATIVES]


@compiled
def f1_of(counts: Floats) -> float:
    """2 tp / (2 tp + fp + fn); 0 for nothing."""
    found = 2.0 * counts[TRUE_POSITIVES]
    total = found + counts[FALSE_POSITIVES] + counts[FALSE_NEGATIVES]
    return found / total if total > 0.0 else 0.0
