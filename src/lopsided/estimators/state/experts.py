"""The standing of experts: how it is measured, from parameters, and between memory and files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.constraints import Constraint, choice, number
from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.measures.adding import added_rankings
from lopsided.core.measures.confusion import positives_of
from lopsided.core.measures.experts import (
    ACHIEVED,
    AUPRC,
    AUROC,
    BY_POSITIVES,
    CHANCE,
    F1,
    Experts,
    ExpertsPlan,
    achieved_by,
    set_chances,
)
from lopsided.core.measures.ranking import KEPT, SCALE, SETTLED, Ranking, RankingPlan, bins_of, empty_ranking
from lopsided.estimators.state.arrays import ModelFileError, in_range, named_arrays, refilled, taken
from lopsided.metrics.streaming import KEPT_BEFORE_BINS, KEYS

MEASURES = {"f1": F1, "auroc": AUROC, "auprc": AUPRC}
MEASURING: dict[str, Constraint] = {
    "measure": choice(*MEASURES),
    "sharpness": number(least=0) | Constraint(lambda value: isinstance(value, float) and value == math.inf, "infinity"),
}


def experts_plan(
    measure: str,
    sharpness: float | str,
    *,
    refresh: int = 1,
    key: str = "centred",
    n_bins: int = 1000,
    trapezoid: bool = True,
    fade: float = 1.0,
) -> ExpertsPlan:
    """The plan of these parameters; a sharpness in words is "positives"."""
    return ExpertsPlan(
        measure=MEASURES[measure],
        sharpness=BY_POSITIVES if isinstance(sharpness, str) else float(sharpness),
        refresh=int(refresh),
        trapezoid=trapezoid,
        fade=float(fade),
        ranks=measure != "f1",
        ranking=RankingPlan(KEYS[key], bins_of(KEYS[key], int(n_bins)), float(fade), False),
    )


def empty_experts(plan: ExpertsPlan, n: int) -> Experts:
    """So many experts that have achieved nothing, and are equally likely to be asked."""
    one = empty_ranking(plan.ranking, KEPT_BEFORE_BINS)
    ranked = n if plan.ranks else 0
    return Experts(
        standing=np.stack([np.zeros(n), np.full(n, 1.0 / n)]),
        counts=np.zeros((n, 6)),
        rankings=Ranking(
            bins=np.repeat(one.bins[None], ranked, axis=0),
            kept=np.repeat(one.kept[None], ranked, axis=0),
            levels=np.repeat(one.levels[None], ranked, axis=0),
            tally=np.repeat(one.tally[None], ranked, axis=0),
        ),
    )


def added_experts(several: list[Experts], plan: ExpertsPlan) -> Experts:
    """The same experts after all that several models have counted: calls add up, and rankings as far as bins allow."""
    n = several[0].counts.shape[0]
    added = empty_experts(plan, n)
    added.counts[:] = sum(experts.counts for experts in several)
    for j in range(n if plan.ranks else 0):
        one, _ = added_rankings([_ranking_at(experts, j) for experts in several], plan.ranking)
        for target, array in zip(_ranking_at(added, j), one, strict=True):
            target[...] = array
    for j in range(n):
        added.standing[ACHIEVED, j] = achieved_by(added, plan, plan.measure, j)
    sharpness = plan.sharpness if plan.sharpness >= 0.0 else positives_of(added.counts[0])
    set_chances(added.standing[ACHIEVED], sharpness, added.standing[CHANCE])
    return added


def _ranking_at(experts: Experts, j: int) -> Ranking:
    """One expert's, as views; compiled code gives none to its callers in Python."""
    return Ranking(*(array[j] for array in experts.rankings))


def measures_of(experts: Experts, plan: ExpertsPlan) -> dict[str, Floats]:
    """What each expert has achieved so far, by measure; the one that decides as it was at the last refresh."""
    names = MEASURES if plan.ranks else {"f1": F1}
    everyone = range(experts.counts.shape[0])
    return {
        name: experts.standing[ACHIEVED].copy()
        if measure == plan.measure
        else np.array([achieved_by(experts, plan, measure, j) for j in everyone])
        for name, measure in names.items()
    }


def experts_arrays(experts: Experts) -> dict[str, npt.NDArray[Any]]:
    """What a file keeps of them."""
    return named_arrays(rankings=experts.rankings) | {"standing": experts.standing, "counts": experts.counts}


def restored_experts(arrays: Mapping[str, npt.NDArray[Any]], empty: Experts) -> Experts:
    """The experts of a file, of the same shapes as the empty ones."""
    rankings = refilled(arrays, "rankings", empty.rankings)
    in_range("rankings.tally", rankings.tally[:, KEPT], 0, empty.rankings.kept.shape[-1])
    in_range("rankings.tally", rankings.tally[:, SETTLED], 0, 1)
    standing = taken(arrays, "standing", np.float64, empty.standing.shape)
    if (rankings.levels[:, SCALE] <= 0.0).any() or (standing[CHANCE] < 0.0).any():
        raise ModelFileError(
            "The arrays 'rankings.levels' and 'standing' of the model file must hold scales > 0 and probabilities. "
            "Got others: the file is damaged."
        )
    return Experts(standing, taken(arrays, "counts", np.float64, empty.counts.shape), rankings)
