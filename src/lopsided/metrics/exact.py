"""Exact figures of merit over a whole set of scores, O(n log n), for evaluation after the fact.

Ties are honest everywhere: two examples with equal scores are not ordered, whatever order they came in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def auroc(y: ArrayLike, scores: ArrayLike) -> float:
    """Area under the ROC curve: the share of positive-negative pairs ranked rightly, a tie counting half.

    `y` is 0/1, -1/+1 or boolean. nan if one of the classes is missing, since there is no pair then.

    >>> auroc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    >>> auroc([-1, 1, 1], [0.5, 0.5, 0.9])
    0.75
    """
    positives, negatives = _counts_per_distinct_score(y, scores, "auroc")
    # All in whole numbers, doubled so that a half is whole: the division at the end is the only rounding.
    negatives_below = np.cumsum(negatives) - negatives
    doubled_wins = int(np.sum(positives * (2 * negatives_below + negatives)))
    n_pairs = int(positives.sum()) * int(negatives.sum())
    return doubled_wins / (2 * n_pairs) if n_pairs else float("nan")


def average_precision(y: ArrayLike, scores: ArrayLike) -> float:
    """Area under the precision-recall curve as a sum of steps, precision times the gain in recall.

    Examples with equal scores are one step. No interpolation: the value never exceeds what some threshold
    attains. `y` is 0/1, -1/+1 or boolean. nan without positives, since recall is 0/0 then.

    >>> average_precision([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.8333333333333333
    """
    positives, negatives = _counts_per_distinct_score(y, scores, "average_precision")
    n_positive = int(positives.sum())
    if n_positive == 0:
        return float("nan")
    found = positives[::-1]  # from the highest score down
    precision = np.cumsum(found) / np.cumsum(found + negatives[::-1])
    return float(np.sum(found * precision) / n_positive)


def f1(y: ArrayLike, scores: ArrayLike, threshold: float = 0.0) -> float:
    """Harmonic mean of precision and recall when every score above `threshold` is called positive.

    A score equal to the threshold is called negative. `y` is 0/1, -1/+1 or boolean. 0 if nothing is
    positive, neither by label nor by score.

    >>> f1([0, 1, 1, 0], [-0.2, 0.3, -0.1, 0.6])
    0.5
    """
    if np.isnan(threshold):
        raise ValueError(f"threshold of f1 must be a number, got {threshold!r}.")
    positive, values = checked_pairs(y, scores, "f1")
    called = values > threshold
    hits = int(np.count_nonzero(positive & called))
    labelled_plus_called = int(np.count_nonzero(positive)) + int(np.count_nonzero(called))
    return 2 * hits / labelled_plus_called if labelled_plus_called else 0.0


def _counts_per_distinct_score(
    y: ArrayLike, scores: ArrayLike, owner: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many positives and how many negatives have each distinct score, from the lowest score up."""
    positive, values = checked_pairs(y, scores, owner)
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    changes = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    borders = np.r_[0, changes, ordered.size]  # no scores at all make one empty group, which counts nothing
    positives_before: NDArray[np.int64] = np.r_[0, np.cumsum(positive[order], dtype=np.int64)]
    positives: NDArray[np.int64] = np.diff(positives_before[borders])
    group_sizes: NDArray[np.int64] = np.diff(borders)
    return positives, group_sizes - positives


def checked_pairs(y: ArrayLike, scores: ArrayLike, owner: str) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Which rows are positive, and their scores; refuses what has no meaning instead of guessing."""
    labels: NDArray[Any] = np.asarray(y)
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"scores of {owner} must be an array of numbers, got one where {error}.") from error
    if labels.ndim != 1 or values.shape != labels.shape:
        raise ValueError(
            f"y and scores of {owner} must be 1-d and of equal length, got shapes {labels.shape} and {values.shape}."
        )
    if np.isnan(values).any():
        where = int(np.flatnonzero(np.isnan(values))[0])
        raise ValueError(f"scores of {owner} must not be NaN, got one at position {where}.")
    positive: NDArray[np.bool_] = np.asarray(labels == 1, dtype=np.bool_)
    negative_as_zero, negative_as_minus_one = labels == 0, labels == -1
    if not ((positive | negative_as_zero).all() or (positive | negative_as_minus_one).all()):
        found = ", ".join(sorted({repr(value) for value in labels.tolist()})[:5])  # not all labels can be compared
        raise ValueError(f"y of {owner} must be 0/1, -1/+1 or boolean, got the labels {found}.")
    return positive, values
