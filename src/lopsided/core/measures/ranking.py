"""Areas under the ROC and the precision-recall curve of a stream, in fixed memory.

Scores fall into bins (`score_keys.py`); P and N are the weights of the bins by class, W+ and W- their sums, and U the
weight of the pairs that are ranked rightly, a tie in a bin counting half: AUROC = U / (W+ W-). A new example needs the
weight on one side of its bin, which a Fenwick tree gives in O(log bins). The key `centred` needs some scores before it
can place its bins; so long these are kept, in order, and everything is exact.

Old examples fade by letting new ones weigh more: with fade g an example counts g^-1 times what the one before it did,
and U is bilinear, so that the ratio is what fading would have given. Weights are rescaled before they leave the range.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.measures.score_keys import (
    CENTRED,
    LOG_LINEAR_BINS,
    SIGMOID,
    centre_of,
    log_linear_key,
    scale_of,
    sigmoid_key,
)

# Rows of Ranking.bins: weights by class, and their Fenwick trees.
_WEIGHTS, _TREES = 0, 2
# Rows of Ranking.kept, by ascending score.
_SCORE, _SIGN, _WEIGHT = range(3)
# Entries of Ranking.levels. The class of a positive is 0, of a negative 1.
U, TOTAL, GROWTH, CENTRE, SCALE = 0, 1, 3, 5, 6
# Entries of Ranking.tally.
KEPT, SETTLED = range(2)
_LARGEST_GROWTH = 1e100
_FORGOTTEN = 1e-200  # a class that weighs so little beside a new example is missing again; rounding would come next


class RankingPlan(NamedTuple):
    """The key, the number of bins, how fast old examples fade, and whether each class does so for itself."""

    key: int
    n_bins: int
    fade: float
    per_class: bool


class Ranking(NamedTuple):
    """The state: bins, the scores kept before there are any, and a few numbers."""

    bins: Floats
    kept: Floats
    levels: Floats
    tally: Integers


def empty_ranking(plan: RankingPlan, keep: int) -> Ranking:
    """No examples yet; `centred` keeps so many before it places its bins."""
    return Ranking(
        bins=np.zeros((4, plan.n_bins + 1)),
        kept=np.zeros((3, keep if plan.key == CENTRED else 0)),
        levels=np.array([0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0]),
        tally=np.zeros(2, dtype=np.int64),
    )


def bins_of(key: int, n_bins: int) -> int:
    """How many bins a key has."""
    return n_bins if key == SIGMOID else LOG_LINEAR_BINS


@compiled
def observe(ranking: Ranking, plan: RankingPlan, y: float, score: float) -> None:
    """One more example."""
    own = 0 if y > 0.0 else 1
    if plan.fade < 1.0:
        _fade(ranking, plan, own)
    weight = ranking.levels[GROWTH + own]
    if plan.key == CENTRED and ranking.tally[SETTLED] == 0:
        if ranking.tally[KEPT] < ranking.kept.shape[1]:
            _keep(ranking, own, y, score, weight)
            return
        _settle(ranking)
    _put_into_bin(ranking, _key(ranking, plan, score), own, weight)


@compiled
def observe_many(ranking: Ranking, plan: RankingPlan, labels: Floats, scores: Floats) -> None:
    """Many examples, in order."""
    for t in range(scores.size):
        observe(ranking, plan, labels[t], scores[t])


@compiled
def take_back(ranking: Ranking, plan: RankingPlan, y: float, score: float) -> bool:
    """Undo `observe` of an example that weighs 1; False, and nothing is changed, if there is none like it."""
    own = 0 if y > 0.0 else 1
    if plan.key == CENTRED and ranking.tally[SETTLED] == 0:
        return _let_go(ranking, own, y, score)
    key = _key(ranking, plan, score)
    if not ranking.bins[_WEIGHTS + own, key] >= 1.0:
        return False
    _put_into_bin(ranking, key, own, -1.0)  # an example makes no pair with itself, so this is its counterpart
    return True


@compiled
def _key(ranking: Ranking, plan: RankingPlan, score: float) -> int:
    if plan.key == SIGMOID:
        return sigmoid_key(score, plan.n_bins)
    return log_linear_key((score - ranking.levels[CENTRE]) / ranking.levels[SCALE])


@compiled
def _put_into_bin(ranking: Ranking, key: int, own: int, weight: float) -> None:
    other = 1 - own
    tied = ranking.bins[_WEIGHTS + other, key]
    below = _sum_below(ranking.bins[_TREES + other], key)
    outranked = below if own == 0 else ranking.levels[TOTAL + other] - below - tied
    ranking.levels[U] += weight * (outranked + 0.5 * tied)
    ranking.levels[TOTAL + own] += weight
    ranking.bins[_WEIGHTS + own, key] += weight
    _add_to_tree(ranking.bins[_TREES + own], key, weight)


@compiled
def _sum_below(tree: Floats, key: int) -> float:
    """The weight of the bins 0..key-1."""
    total = 0.0
    i = key
    while i > 0:
        total += tree[i]
        i &= i - 1
    return total


@compiled
def _add_to_tree(tree: Floats, key: int, weight: float) -> None:
    i = key + 1
    while i < tree.size:
        tree[i] += weight
        i += i & -i


@compiled
def _keep(ranking: Ranking, own: int, y: float, score: float, weight: float) -> None:
    """Insert a score among those kept, and count the pairs that it makes."""
    kept, n = ranking.kept, ranking.tally[KEPT]
    won = _pairs_among_kept(ranking, own, y, score)
    place = n
    while place > 0 and kept[_SCORE, place - 1] > score:
        for part in range(3):
            kept[part, place] = kept[part, place - 1]
        place -= 1
    kept[_SCORE, place], kept[_SIGN, place], kept[_WEIGHT, place] = score, y, weight
    ranking.levels[U] += weight * won
    ranking.levels[TOTAL + own] += weight
    ranking.tally[KEPT] = n + 1


@compiled
def _pairs_among_kept(ranking: Ranking, own: int, y: float, score: float) -> float:
    """The weight of the kept examples of the other class with which this one makes a rightly ranked pair."""
    kept, won = ranking.kept, 0.0
    for i in range(ranking.tally[KEPT]):
        if kept[_SIGN, i] != y:
            if kept[_SCORE, i] == score:
                won += 0.5 * kept[_WEIGHT, i]
            elif (kept[_SCORE, i] < score) == (own == 0):
                won += kept[_WEIGHT, i]
    return won


@compiled
def _let_go(ranking: Ranking, own: int, y: float, score: float) -> bool:
    """Take a score from among those kept, with the pairs that it makes."""
    kept, n = ranking.kept, ranking.tally[KEPT]
    place = 0
    while place < n and not (kept[_SCORE, place] == score and kept[_SIGN, place] == y):
        place += 1
    if place == n:
        return False
    won = _pairs_among_kept(ranking, own, y, score)
    for i in range(place, n - 1):
        for part in range(3):
            kept[part, i] = kept[part, i + 1]
    ranking.levels[U] -= won
    ranking.levels[TOTAL + own] -= 1.0
    ranking.tally[KEPT] = n - 1
    return True


@compiled
def _settle(ranking: Ranking) -> None:
    """Place the bins where the scores are, once and for all, and put those kept into them."""
    kept = ranking.kept
    if kept.shape[1] > 0:
        ranking.levels[CENTRE] = centre_of(kept[_SCORE])
        ranking.levels[SCALE] = scale_of(kept[_SCORE], ranking.levels[CENTRE])
    ranking.levels[U] = ranking.levels[TOTAL] = ranking.levels[TOTAL + 1] = 0.0
    for i in range(ranking.tally[KEPT]):
        key = log_linear_key((kept[_SCORE, i] - ranking.levels[CENTRE]) / ranking.levels[SCALE])
        _put_into_bin(ranking, key, 0 if kept[_SIGN, i] > 0.0 else 1, kept[_WEIGHT, i])
    ranking.tally[KEPT] = 0
    ranking.tally[SETTLED] = 1


@compiled
def _fade(ranking: Ranking, plan: RankingPlan, own: int) -> None:
    for which in range(2):
        if which == own or not plan.per_class:
            ranking.levels[GROWTH + which] /= plan.fade
            if ranking.levels[GROWTH + which] > _LARGEST_GROWTH:
                _rescale(ranking, which, 1.0 / ranking.levels[GROWTH + which])


@compiled
def _rescale(ranking: Ranking, which: int, factor: float) -> None:
    ranking.levels[GROWTH + which] *= factor
    if ranking.levels[TOTAL + which] * factor < _FORGOTTEN:
        factor = 0.0
    ranking.levels[TOTAL + which] *= factor
    ranking.levels[U] *= factor
    for i in range(ranking.bins.shape[1]):
        ranking.bins[_WEIGHTS + which, i] *= factor
        ranking.bins[_TREES + which, i] *= factor
    for i in range(ranking.tally[KEPT]):
        if (ranking.kept[_SIGN, i] > 0.0) == (which == 0):
            ranking.kept[_WEIGHT, i] *= factor


@compiled
def ranked_rightly(ranking: Ranking) -> float:
    """AUROC: the share of pairs ranked rightly; NaN while there are none."""
    pairs = ranking.levels[TOTAL] * ranking.levels[TOTAL + 1]
    return min(max(ranking.levels[U] / pairs, 0.0), 1.0) if pairs > 0.0 else math.nan  # faded sums are rounded


@compiled
def tied_pairs(ranking: Ranking) -> float:
    """Half the share of pairs that are tied in a bin: the most by which AUROC can be wrong."""
    pairs = ranking.levels[TOTAL] * ranking.levels[TOTAL + 1]
    if not pairs > 0.0:
        return math.nan
    total = 0.0
    for key in range(ranking.bins.shape[1] - 1):
        total += ranking.bins[_WEIGHTS, key] * ranking.bins[_WEIGHTS + 1, key]
    return 0.5 * total / pairs


class CurveSoFar(NamedTuple):
    """Going down the scores: the weights passed by class, the precision there, and the area with its limits."""

    true: float
    false: float
    precision: float
    area: float
    least: float
    most: float


@compiled
def precision_recall_area(ranking: Ranking, trapezoid: bool) -> tuple[float, float]:
    """The area under the precision-recall curve and the most by which it can be wrong; NaN while a class is missing.

    `trapezoid` joins its points by straight lines, starting from precision 1; otherwise it is a sum of steps, which is
    called average precision.
    """
    if not (ranking.levels[TOTAL] > 0.0 and ranking.levels[TOTAL + 1] > 0.0):
        return math.nan, math.nan
    curve = CurveSoFar(0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    if ranking.tally[SETTLED] == 0 and ranking.kept.shape[1] > 0:
        curve = _down_the_kept(ranking, curve, trapezoid)
        return curve.area / curve.true, 0.0
    for key in range(ranking.bins.shape[1] - 2, -1, -1):
        p, n = ranking.bins[_WEIGHTS, key], ranking.bins[_WEIGHTS + 1, key]
        if p > 0.0 or n > 0.0:
            curve = _further_down(curve, p, n, trapezoid)
    return curve.area / curve.true, max(curve.most - curve.area, curve.area - curve.least) / curve.true


@compiled
def _down_the_kept(ranking: Ranking, curve: CurveSoFar, trapezoid: bool) -> CurveSoFar:
    """The same for scores that are kept: those that are equal go together."""
    kept, p, n = ranking.kept, 0.0, 0.0
    for i in range(ranking.tally[KEPT] - 1, -1, -1):
        if kept[_SIGN, i] > 0.0:
            p += kept[_WEIGHT, i]
        else:
            n += kept[_WEIGHT, i]
        if i == 0 or kept[_SCORE, i - 1] != kept[_SCORE, i]:
            curve = _further_down(curve, p, n, trapezoid)
            p = n = 0.0
    return curve


@compiled
def _further_down(curve: CurveSoFar, p: float, n: float, trapezoid: bool) -> CurveSoFar:
    """Past one bin of p positives and n negatives.

    Whatever their order, precision within the bin lies between that after all its negatives and that after all its
    positives; a sum of steps is at least the integral over positives that all come last.
    """
    true, false = curve.true, curve.false
    precision = (true + p) / (true + p + false + n)
    lowest, highest = _share(true, false + n), _share(true + p, false)
    if trapezoid:
        area, least = 0.5 * p * (precision + curve.precision), p * lowest
    else:
        area, least = p * precision, _precision_over(true, false + n, p)
    return CurveSoFar(true + p, false + n, precision, curve.area + area, curve.least + least, curve.most + p * highest)


@compiled
def _share(true: float, false: float) -> float:
    return true / (true + false) if true + false > 0.0 else 1.0


@compiled
def _precision_over(true: float, false: float, p: float) -> float:
    """The integral of (true + s) / (true + s + false) for s from 0 to p."""
    if false == 0.0 or p == 0.0:
        return p
    return p - false * math.log1p(p / (true + false))
