"""Many learners, one answer: by the best of them, by a draw, or by the average of their standardised scores."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.arithmetic.draws import Draws, draw
from lopsided.core.measures.experts import CHANCE, Experts, ExpertsPlan, best_expert, drawn_expert, judge

BEST, SAMPLE, WEIGHTED = range(3)
# Rows of Panel.moments, of the scores of each expert: (faded) count, mean, sum of squared deviations.
_COUNT, _MEAN, _SQUARES = range(3)


class Panel(NamedTuple):
    """The experts' standing, the moments of their scores, and the number of examples."""

    experts: Experts
    moments: Floats
    tally: Integers


class PanelPlan(NamedTuple):
    """How to combine, and how to measure."""

    combine: int
    experts: ExpertsPlan


def empty_moments(n_experts: int) -> Floats:
    """No scores yet."""
    return np.zeros((3, n_experts))


def add_moments(moments: Floats, other: Floats) -> None:
    """Count, mean and squared deviations of the scores that another panel was given, as of now."""
    n, more = moments[_COUNT].copy(), other[_COUNT]
    both = np.where(n + more > 0.0, n + more, 1.0)
    apart = other[_MEAN] - moments[_MEAN]
    moments[_SQUARES] += other[_SQUARES] + apart * apart * (n * (more / both))
    moments[_MEAN] += apart * (more / both)
    moments[_COUNT] += more


@compiled
def panel_run(panel: Panel, plan: PanelPlan, labels: Floats, all_scores: Floats, draws: Draws, scores: Floats) -> None:
    """Combine the scores that all experts gave to each example before they knew its label."""
    for t in range(scores.size):
        given = all_scores[t]
        if plan.combine == SAMPLE:
            scores[t] = given[drawn_expert(panel.experts, draw(draws))]
        else:
            scores[t] = combined(panel, plan, given)
        panel.tally[0] += 1
        judge(panel.experts, plan.experts, panel.tally[0], labels[t], given)
        _note(panel.moments, plan.experts.fade, given)


@compiled
def panel_score_rows(panel: Panel, plan: PanelPlan, all_scores: Floats, scores: Floats) -> None:
    """Combine the scores of all experts, without a draw."""
    for t in range(scores.size):
        scores[t] = combined(panel, plan, all_scores[t])


@compiled
def combined(panel: Panel, plan: PanelPlan, given: Floats) -> float:
    """The score of the best expert, or sum p_i (s_i - mean_i) / deviation_i."""
    if plan.combine != WEIGHTED:
        return given[best_expert(panel.experts)]
    total = 0.0
    for i in range(given.size):
        squares = panel.moments[_SQUARES, i]
        if squares > 0.0:
            deviation = math.sqrt(squares / panel.moments[_COUNT, i])
            total += panel.experts.standing[CHANCE, i] * (given[i] - panel.moments[_MEAN, i]) / deviation
    return total


@compiled
def _note(moments: Floats, fade: float, given: Floats) -> None:
    """Welford's update, the past fading."""
    for i in range(given.size):
        moments[_COUNT, i] = fade * moments[_COUNT, i] + 1.0
        difference = given[i] - moments[_MEAN, i]
        moments[_MEAN, i] += difference / moments[_COUNT, i]
        moments[_SQUARES, i] = fade * moments[_SQUARES, i] + difference * (given[i] - moments[_MEAN, i])
