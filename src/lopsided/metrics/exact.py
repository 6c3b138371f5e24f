"""Exact figures of merit over a whole set of scores, O(n log n), for evaluation after the fact.

Ties are honest everywhere: two examples with equal scores are not ordered, whatever order they came in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def auroc(y: ArrayLike, scores: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Area under the ROC curve: the share of positive-negative pairs ranked rightly, a tie counting half.

    `y` is 0/1, -1/+1 or boolean. nan if one of the classes is missing, since there is no pair then. `sample_weight`
    says what each example counts: where only some labels were seen, the inverse of the chance of that estimates the
    area over all.

    >>> auroc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    >>> auroc([-1, 1, 1], [0.5, 0.5, 0.9])
    0.75
    >>> auroc([-1, 1, 1], [0.5, 0.5, 0.9], sample_weight=[1, 3, 1])
    0.625
    """
    positives, negatives = _counts_per_distinct_score(y, scores, "auroc", sample_weight)
    # All in whole numbers, doubled so that a half is whole: the division at the end is the only rounding.
    negatives_below = np.cumsum(negatives) - negatives
    doubled_wins = np.sum(positives * (2 * negatives_below + negatives)).item()
    n_pairs = positives.sum().item() * negatives.sum().item()
    return float(doubled_wins / (2 * n_pairs)) if n_pairs else float("nan")


def average_precision(y: ArrayLike, scores: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Area under the precision-recall curve as a sum of steps, precision times the gain in recall.

    Examples with equal scores are one step. No interpolation: the value never exceeds what some threshold
    attains. `y` is 0/1, -1/+1 or boolean. nan without positives, since recall is 0/0 then. `sample_weight` says what
    each example counts.

    >>> average_precision([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.8333333333333333
    """
    positives, negatives = _counts_per_distinct_score(y, scores, "average_precision", sample_weight)
    n_positive = positives.sum().item()
    if n_positive == 0:
        return float("nan")
    found = positives[::-1]  # from the highest score down
    counted = np.cumsum(found + negatives[::-1])
    precision = np.cumsum(found) / np.where(counted > 0, counted, 1)
    return float(np.sum(found * precision) / n_positive)


def f1(y: ArrayLike, scores: ArrayLike, threshold: float = 0.0, *, sample_weight: ArrayLike | None = None) -> float:
    """Harmonic mean of precision and recall when every score above `threshold` is called positive.

    A score equal to the threshold is called negative. `y` is 0/1, -1/+1 or boolean. 0 if nothing is
    positive, neither by label nor by score. `sample_weight` says what each example counts.

    >>> f1([0, 1, 1, 0], [-0.2, 0.3, -0.1, 0.6])
    0.5
    """
    if np.isnan(threshold):
        raise ValueError(f"threshold of f1 must be a number, got {threshold!r}.")
    positive, values = checked_pairs(y, scores, "f1")
    called = values > threshold
    counts = _checked_weights(sample_weight, positive.size, "f1")
    hits, labelled_plus_called = counts[positive & called].sum(), counts[positive].sum() + counts[called].sum()
    return float(2 * hits / labelled_plus_called) if labelled_plus_called else 0.0


def _checked_weights(sample_weight: ArrayLike | None, n: int, owner: str) -> NDArray[Any]:
    """What each example counts: whole ones without weights, so that sums of them are exact."""
    if sample_weight is None:
        return np.ones(n, dtype=np.int64)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,) or not ((weights >= 0) & np.isfinite(weights)).all():
        raise ValueError(
            f"sample_weight of {owner} must be {n} finite numbers >= 0, one for each score, got shape {weights.shape}"
            f"{'' if weights.shape != (n,) else ' with others'}."
        )
    return weights


def _counts_per_distinct_score(
    y: ArrayLike, scores: ArrayLike, owner: str, sample_weight: ArrayLike | None = None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """How many positives and how many negatives have each distinct score, from the lowest score up."""
    positive, values = checked_pairs(y, scores, owner)
    weights = _checked_weights(sample_weight, positive.size, owner)
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    changes = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    borders = np.r_[0, changes, ordered.size]  # no scores at all make one empty group, which counts nothing
    if sample_weight is not None:  # sums of each group alone: differences of running sums would round
        group = np.repeat(np.arange(borders.size - 1), np.diff(borders))
        positives, negatives = (
            np.bincount(group, weights=(weights * chosen)[order], minlength=borders.size - 1)
            for chosen in (positive, ~positive)
        )
        return positives, negatives
    positives_before: NDArray[np.int64] = np.r_[0, np.cumsum(positive[order], dtype=np.int64)]
    counts: NDArray[np.int64] = np.diff(positives_before[borders])
    return counts, np.diff(borders) - counts


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
