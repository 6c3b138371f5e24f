"""Rankings of several streams as one: counts in bins add up, all as of now.

Bins that lie elsewhere are laid into those of the first ranking that has placed them. Where a bin of the other reaches
over the edge of one, what it holds may belong to either: that is told, so that nobody promises more than is known.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.measures.ranking import (
    CENTRE,
    GROWTH,
    KEPT,
    SCALE,
    SETTLED,
    TOTAL,
    Ranking,
    RankingPlan,
    U,
    empty_ranking,
)
from lopsided.core.measures.score_keys import (
    CENTRED,
    centre_of,
    edges_of_bins,
    log_linear_key,
    scale_of,
)

_ROUNDING = 1e-14


def added_rankings(
    several: Sequence[Ranking], plan: RankingPlan, doubts: Sequence[Floats | None] = ()
) -> tuple[Ranking, Floats | None]:
    """The ranking of all streams together, and what may lie in another bin than it was laid into, or None.

    The latter has, for the lowest and for the highest place that each may have, what has to be added to the weights of
    the bins, by class; `doubts` are such of the several.
    """
    total = empty_ranking(plan, several[0].kept.shape[1])
    scores, signs, weights = (np.concatenate(parts) for parts in zip(*map(_kept_now, several), strict=True))
    order = np.argsort(scores, kind="stable")
    scores, signs, weights = scores[order], signs[order], weights[order]
    settled = [one for one in several if one.tally[SETTLED]]
    if plan.key == CENTRED and not settled and scores.size <= total.kept.shape[1]:
        total.kept[:, : scores.size] = scores, signs, weights
        total.tally[KEPT] = scores.size
        _, places = np.unique(scores, return_inverse=True)
        _count_pairs(total, _by_class(places, signs, weights, places.max(initial=-1) + 1))
        return total, None
    if settled:
        total.levels[[CENTRE, SCALE]] = settled[0].levels[[CENTRE, SCALE]]
    elif plan.key == CENTRED:
        total.levels[CENTRE] = centre_of(scores)
        total.levels[SCALE] = scale_of(scores, total.levels[CENTRE])
    total.tally[SETTLED] = int(plan.key == CENTRED)
    bins = _by_class(_keys(total, scores), signs, weights, plan.n_bins)
    unsure = np.zeros((2, 2, plan.n_bins))
    for one, doubt in zip(several, doubts or [None] * len(several), strict=True):
        found = one.bins[:2, : plan.n_bins] / one.levels[GROWTH : GROWTH + 2, None]
        doubt = np.zeros(1) if doubt is None else doubt
        if np.array_equal(one.levels[[CENTRE, SCALE]], total.levels[[CENTRE, SCALE]]):
            bins += found
            unsure += doubt
        elif found.any():
            _lay_into(total, one, found, found + doubt, bins, unsure)
    total.bins[:2, : plan.n_bins] = bins
    total.bins[2:, 1:] = _trees_of(bins)
    _count_pairs(total, bins)
    return total, unsure if unsure.any() else None


def with_weights(ranking: Ranking, weights: Floats) -> Ranking:
    """The same bins with other weights in them."""
    other = ranking._replace(bins=ranking.bins.copy(), levels=ranking.levels.copy())
    other.bins[:2, :-1] = weights
    _count_pairs(other, weights)
    return other


def _kept_now(ranking: Ranking) -> tuple[Floats, Floats, Floats]:
    scores, signs, weights = ranking.kept[:, : ranking.tally[KEPT]]
    return scores, signs, weights / np.where(signs > 0.0, ranking.levels[GROWTH], ranking.levels[GROWTH + 1])


def _keys(ranking: Ranking, scores: Floats) -> npt.NDArray[np.int64]:
    places = (scores - ranking.levels[CENTRE]) / ranking.levels[SCALE]
    return np.array([log_linear_key(place) for place in places.tolist()], dtype=np.int64)


def _by_class(keys: npt.NDArray[np.int64], signs: Floats, weights: Floats, n: int) -> Floats:
    own = [signs > 0.0, signs < 0.0]
    return np.stack([np.bincount(keys[which], weights[which], minlength=n)[:n] for which in own]).astype(np.float64)


def _lay_into(total: Ranking, one: Ranking, found: Floats, limits: Floats, bins: Floats, unsure: Floats) -> None:
    """Every bin of the other goes where its middle lies; `limits` are its weights at their lowest and their highest."""
    edges = one.levels[CENTRE] + one.levels[SCALE] * edges_of_bins()
    # Edges are rounded: what lies on one may lie on either side.
    slack = _ROUNDING * np.where(np.isfinite(edges), np.abs(edges) + abs(one.levels[CENTRE]), 0.0)
    lowest, highest = _keys(total, (edges - slack)[:-1]), _keys(total, (edges + slack)[1:])
    middle = (lowest + highest) // 2
    for own in range(2):
        np.add.at(bins[own], middle, found[own])
        for place, keys in enumerate((lowest, highest)):
            np.add.at(unsure[place, own], keys, limits[place, own] if limits.ndim > 2 else limits[own])
            np.add.at(unsure[place, own], middle, -found[own])


def _trees_of(bins: Floats) -> Floats:
    """Fenwick trees: entry i holds the weights of the bins from i without its last one bit up to i - 1."""
    sums = np.concatenate([np.zeros((2, 1)), np.cumsum(bins, axis=1)], axis=1)
    places = np.arange(1, sums.shape[1])
    return np.asarray(sums[:, places] - sums[:, places & (places - 1)])


def _count_pairs(ranking: Ranking, weights: Floats) -> None:
    """U and the totals, from the weights of the bins by class; a tie in a bin counts half."""
    positives, negatives = weights
    below = np.concatenate([[0.0], np.cumsum(negatives)[:-1]]) if negatives.size else negatives
    ranking.levels[U] = float(positives @ (below + 0.5 * negatives))
    ranking.levels[TOTAL], ranking.levels[TOTAL + 1] = positives.sum(), negatives.sum()
