"""Trees and the sample of the stream that they are fitted to, by class: what a row meets on its way.

Positives are all alike. A negative is the more important the more the trees take it for a positive: hard ones stay,
easy ones are thinned, and their counts make up for it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.arithmetic.draws import Draws, draw
from lopsided.core.geometry.points import Rows
from lopsided.core.measures.score_keys import sigmoid
from lopsided.core.sampling.priority import Sample, offer
from lopsided.core.trees.forest import Forest, forest_score, lay_out

BEAT, SLOW_BEAT = 50, 250  # rows after which the trees may have something to do, in the first 5,000 and later on
_LEAST_IMPORTANCE = 0.01
# Entries of a tally: rows seen, and whether the trees are due.
ROWS, TREES_DUE = range(2)


class SampledForest(NamedTuple):
    """The sample of each class, and the trees."""

    positives: Sample
    negatives: Sample
    forest: Forest


@compiled
def sample_row(trees: SampledForest, x: Floats, y: float, weight: float, score: float, u: float, number: int) -> None:
    """Offer a row to the sample of its class; `score` is what the trees gave it."""
    if y > 0.0:
        offer(trees.positives, x, weight, 1.0, u, number)
        return
    importance = max(sigmoid(score), _LEAST_IMPORTANCE) if trees.forest.size[0] else 1.0
    offer(trees.negatives, x, weight, importance, u, number)


@compiled
def forest_run(
    trees: SampledForest,
    tally: Integers,
    rows: Rows,
    labels: Floats,
    importances: Floats,
    draws: Draws,
    x: Floats,
    scores: Floats,
    start: int,
    stop: int,
) -> int:
    """Take in the examples start..stop-1 in order, reporting the score of each before it was.

    An example whose label is NaN is scored only. Returns the number of the first example not taken in: smaller than
    `stop` only if the trees have something to do.
    """
    for t in range(start, stop):
        lay_out(rows, t, x)
        scores[t] = forest_score(trees.forest, x)
        if math.isnan(labels[t]):
            continue
        sample_row(trees, x, labels[t], importances[t], scores[t], draw(draws), tally[ROWS])
        tally[ROWS] += 1
        if tally[ROWS] % (BEAT if tally[ROWS] < 20 * SLOW_BEAT else SLOW_BEAT) == 0:
            tally[TREES_DUE] = 1
            return t + 1
    return stop


@compiled
def forest_score_rows(forest: Forest, rows: Rows, x: Floats, scores: Floats) -> None:
    """The score of every example."""
    for t in range(scores.size):
        lay_out(rows, t, x)
        scores[t] = forest_score(forest, x)
