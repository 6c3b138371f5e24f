"""Pointwise rules: what one example asks for, judged by its own score alone.

Every rule answers with the weight that the example would get, 0 for none. `importance` is the sample weight; `u` is the
uniform of the step, which only the rules that sample look at: they act with a probability that falls with
`sampling_scale`, and that `chance` multiplies.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from lopsided.core.arithmetic.compiled import compiled

PERCEPTRON, GRADIENT, PASSIVE_AGGRESSIVE, SPARSE_PASSIVE_AGGRESSIVE, SAMPLED_LOGISTIC = range(5)


class Rule(NamedTuple):
    """A rule and its numbers: the margin, the cap of the passive-aggressive step, that of the loss (SPA)."""

    kind: int
    margin: float
    cap: float
    loss_cap: float
    unit_norm: bool


@compiled
def wanted(
    rule: Rule,
    rate: float,
    sampling_scale: float,
    score: float,
    y: float,
    itself: float,
    importance: float,
    u: float,
    chance: float,
) -> float:
    """The weight that an example with this score asks for."""
    if rule.kind == PERCEPTRON:
        return y * importance if y * score <= 0.0 else 0.0
    if rule.kind == GRADIENT:
        return y * rate * importance if y * score < rule.margin else 0.0
    if rule.kind == SAMPLED_LOGISTIC:
        slope = 1.0 / (1.0 + math.exp(min(y * score, 700.0)))
        return y * rate * sampling_scale * importance if u < chance * slope / sampling_scale else 0.0
    loss = max(0.0, 1.0 - y * score)
    if loss == 0.0:
        return 0.0
    if rule.kind == PASSIVE_AGGRESSIVE:
        return y * passive_aggressive_step(rule.cap * importance, loss, itself, rule.unit_norm)
    probability = min(rule.loss_cap, loss) / sampling_scale
    if u >= chance * probability:
        return 0.0
    return y * passive_aggressive_step(rate * importance / probability, loss, itself, rule.unit_norm)


@compiled
def largest_probability(rule: Rule, sampling_scale: float) -> float:
    """No score makes a rule that samples act with a larger probability."""
    return (1.0 if rule.kind == SAMPLED_LOGISTIC else rule.loss_cap) / sampling_scale


@compiled
def passive_aggressive_step(cap: float, loss: float, itself: float, unit_norm: bool) -> float:
    """min(cap, loss / k(x, x)): as far as it takes to get the example right, but not beyond the cap."""
    if unit_norm:
        return min(cap, loss)
    if itself <= 0.0:
        return cap
    return min(cap, loss / itself)
