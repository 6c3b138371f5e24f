"""Who answers: every expert is measured online, and those that have achieved more are more likely to be asked.

The experts are columns of weights (OMCSL) or learners of any kind (a pool of them): here they are their scores alone.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, compiled
from lopsided.core.arithmetic.exponential import exponential
from lopsided.core.measures.confusion import count_call, f1_of, fade_counts, positives_of
from lopsided.core.measures.ranking import Ranking, RankingPlan, observe, precision_recall_area, ranked_rightly

F1, AUROC, AUPRC = range(3)
# Rows of Experts.standing: M, what each has achieved, and p, how likely each is asked.
ACHIEVED, CHANCE = range(2)
BY_POSITIVES = -1.0  # a sharpness that is the number of positives counted so far


class Experts(NamedTuple):
    """Standing, counts of calls, and rankings stacked with one leading axis."""

    standing: Floats
    counts: Floats
    rankings: Ranking


class ExpertsPlan(NamedTuple):
    """The parameters as numbers. `ranks` says whether the rankings are kept; a sharpness < 0 is BY_POSITIVES."""

    measure: int
    sharpness: float
    refresh: int
    trapezoid: bool
    fade: float
    ranks: bool
    ranking: RankingPlan


@compiled
def ranking_of(rankings: Ranking, index: int) -> Ranking:
    """One expert's."""
    return Ranking(rankings.bins[index], rankings.kept[index], rankings.levels[index], rankings.tally[index])


@compiled
def judge(experts: Experts, plan: ExpertsPlan, t: int, y: float, scores: Floats) -> None:
    """Count the scores that all experts gave to example t (from 1), whose label is now known."""
    # A negative that nobody calls positive, which most examples are, leaves F1 as it was.
    changes = plan.measure != F1 or plan.refresh > 1 or y > 0.0
    for j in range(scores.size):
        changes = changes or scores[j] > 0.0
        counts = experts.counts[j]
        fade_counts(counts, plan.fade)
        count_call(counts, y, scores[j])
        if plan.ranks:
            observe(ranking_of(experts.rankings, j), plan.ranking, y, scores[j])
    refreshes = changes and t % plan.refresh == 0
    if refreshes:
        for j in range(scores.size):
            experts.standing[ACHIEVED, j] = achieved_by(experts, plan, plan.measure, j)
    if refreshes or t == 1:
        # Every expert has been shown the same positives.
        sharpness = plan.sharpness if plan.sharpness >= 0.0 else positives_of(experts.counts[0])
        set_chances(experts.standing[ACHIEVED], sharpness, experts.standing[CHANCE])


@compiled
def achieved_by(experts: Experts, plan: ExpertsPlan, measure: int, j: int) -> float:
    """A measure of one expert so far; 0 while it is undefined."""
    if measure == F1:
        return f1_of(experts.counts[j])
    ranking = ranking_of(experts.rankings, j)
    area = ranked_rightly(ranking) if measure == AUROC else precision_recall_area(ranking, plan.trapezoid)[0]
    return 0.0 if math.isnan(area) else area


@compiled
def set_chances(achieved: Floats, sharpness: float, chances: Floats) -> None:
    """p_j proportional to exp(sharpness (M_j - max M)); all on the first of the best if sharpness is infinite."""
    best = int(np.argmax(achieved))
    if math.isinf(sharpness):
        for j in range(chances.size):
            chances[j] = 1.0 if j == best else 0.0
        return
    for j in range(chances.size):
        chances[j] = exponential(sharpness * (achieved[j] - achieved[best]))
    total = 0.0
    for j in range(chances.size):
        total += chances[j]
    for j in range(chances.size):
        chances[j] /= total


@compiled
def drawn_expert(experts: Experts, u: float) -> int:
    """The least j with p_1 + ... + p_j > u."""
    chances, total = experts.standing[CHANCE], 0.0
    for j in range(chances.size):
        total += chances[j]
        if total > u:
            return j
    return chances.size - 1


@compiled
def best_expert(experts: Experts) -> int:
    """The one most likely to be asked, the first of several."""
    return int(np.argmax(experts.standing[CHANCE]))
