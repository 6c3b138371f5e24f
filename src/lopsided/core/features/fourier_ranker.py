"""Least squares over all pairs of a positive and a negative, in random Fourier features, from class moments alone.

With m and S the mean and covariance of z(x) by class, the w that minimises the mean of (1 - w.(z - z'))^2 over all
pairs, plus a ridge r |w|^2, is a multiple of (S_+ + S_- + r I)^-1 (m_+ - m_-). Nothing else of the past is needed.

Here is what happens to a row: it is standardised, encoded, scored by the weights of the last solution, and put into a
block. Adding the block to the moments and solving are matrix products and a factorisation, so the loop hands back to
its caller when one of them is due.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.arithmetic.trigonometry import waves
from lopsided.core.features.fourier import add_products, dot
from lopsided.core.features.renewal import HELD, LOOK_DUE, Renewal, keep_row, note_spread, say_whether_to_look
from lopsided.core.geometry.points import Rows
from lopsided.core.measures.experts import CHANCE, Experts, ExpertsPlan, judge
from lopsided.core.measures.score_keys import sigmoid

# Entries of RankerState.tally: whether the directions are drawn and the scale is fixed; examples, positives, and
# examples since the last solution; rows in the block and among the first rows; solutions, and whether one is due.
DRAWN, FIXED, SEEN, POSITIVES, SINCE, WAITING, KEPT, SOLVED, DUE = range(9)
# Rows of RankerState.scale: by feature, mean, deviation, and the standardised value of 0.
CENTRE, SPREAD, ORIGIN = range(3)
CLIP = 10.0  # deviations from the mean beyond which a feature counts as that far


class RankerPlan(NamedTuple):
    """The parameters as numbers: a solution after so many examples, and after each of the first positives.

    `fade` is that of the rows which are kept for another scale.
    """

    refresh: int
    eager: int
    linear: float
    focus: float
    fade: float


class RankerState(NamedTuple):
    """What a row needs: directions and scale; weights and offsets by variant; the block, and the first rows as given.

    `origin_angles` are those of a row of zeros, from which a sparse row starts.
    """

    directions: Floats
    scale: Floats
    origin_angles: Floats
    weights: Floats
    offsets: Floats
    block: Floats
    block_signs: Floats
    block_weights: Floats
    first_rows: Floats
    first_signs: Floats
    first_weights: Floats
    tally: Integers


class RankerScratch(NamedTuple):
    """Scratch: a standardised row, its angles, z of a row that is only scored, a score a variant, a row as it came."""

    row: Floats
    angles: Floats
    z: Floats
    given: Floats
    x: Floats


def empty_ranker_state(
    n_features: int, n_directions: int, with_features: bool, variants: int, block: int, first: int
) -> RankerState:
    """Nothing seen; z has two entries a direction and, `with_features`, one a feature."""
    length = 2 * n_directions + (n_features if with_features else 0)
    return RankerState(
        directions=np.zeros((n_features, n_directions)),
        scale=np.stack([np.zeros(n_features), np.ones(n_features), np.zeros(n_features)]),
        origin_angles=np.zeros(n_directions),
        weights=np.zeros((variants, length)),
        offsets=np.zeros(variants),
        block=np.zeros((block, length)),
        block_signs=np.zeros(block),
        block_weights=np.zeros(block),
        first_rows=np.zeros((first, n_features)),
        first_signs=np.zeros(first),
        first_weights=np.zeros(first),
        tally=np.zeros(9, dtype=np.int64),
    )


def empty_ranker_scratch(state: RankerState) -> RankerScratch:
    """Scratch for rows of this state."""
    n_features, n_directions = state.directions.shape
    variants, length = state.weights.shape
    sizes = (n_features, n_directions, length, variants, n_features)
    return RankerScratch(*(np.zeros(size) for size in sizes))


@compiled
def standardised(scale: Floats, j: int, x: float) -> float:
    """(x - mean) / deviation of feature j, at most CLIP in size; 0 where there is no such number."""
    value = (x - scale[CENTRE, j]) / scale[SPREAD, j]
    if math.isnan(value):
        return 0.0
    return min(max(value, -CLIP), CLIP)


@compiled
def set_origin(state: RankerState) -> None:
    """Where rows of zeros lie on the present scale."""
    origin = state.scale[ORIGIN]
    for j in range(origin.size):
        origin[j] = standardised(state.scale, j, 0.0)
    for i in range(state.origin_angles.size):
        state.origin_angles[i] = 0.0
    add_products(state.directions, origin, state.origin_angles)


@compiled
def encode_row(state: RankerState, linear: float, rows: Rows, t: int, work: RankerScratch, z: Floats) -> None:
    """z of example t: cosines, sines and, if z is that long, the standardised features times `linear`."""
    scale, row, angles, n = state.scale, work.row, work.angles, work.angles.size
    if rows.starts.size:
        for i in range(n):
            angles[i] = state.origin_angles[i]
        for j in range(row.size):
            row[j] = scale[ORIGIN, j]
        for q in range(rows.starts[t], rows.starts[t + 1]):
            j = rows.features[q]
            row[j] = standardised(scale, j, rows.values[q])
            difference, direction = row[j] - scale[ORIGIN, j], state.directions[j]
            for i in range(n):
                angles[i] += difference * direction[i]
    else:
        for i in range(n):
            angles[i] = 0.0
        for j in range(row.size):
            row[j] = standardised(scale, j, rows.dense[t, j])
        add_products(state.directions, row, angles)
    waves(angles, math.sqrt(1.0 / n), z[:n], z[n : 2 * n])
    features = z[2 * n :]
    for j in range(features.size):
        features[j] = linear * row[j]


@compiled
def score_of(state: RankerState, experts: Experts, z: Floats, given: Floats) -> float:
    """The variants' scores, averaged by how likely each is to be the best."""
    for v in range(given.size):
        given[v] = dot(state.weights[v], z) - state.offsets[v]
    total = 0.0
    for v in range(given.size):
        total += experts.standing[CHANCE, v] * given[v]
    return total


@compiled
def ranker_run(
    state: RankerState,
    renewal: Renewal,
    experts: Experts,
    plan: RankerPlan,
    experts_plan: ExpertsPlan,
    rows: Rows,
    labels: Floats,
    importances: Floats,
    work: RankerScratch,
    scores: Floats,
    start: int,
    stop: int,
) -> int:
    """Take in the examples start..stop-1 in order, reporting the score of each before it was.

    An example whose label is NaN is scored only. Returns the number of the first example not taken in: smaller than
    `stop` only if the caller has something to do.
    """
    tally, variants = state.tally, work.given.size
    for t in range(start, stop):
        y = labels[t]
        z = state.block[tally[WAITING]] if tally[FIXED] and not math.isnan(y) else work.z
        encode_row(state, plan.linear, rows, t, work, z)
        score = score_of(state, experts, z, work.given)
        scores[t] = score
        if math.isnan(y):
            continue
        tally[SEEN] += 1
        tally[SINCE] += 1
        if variants > 1 and tally[SOLVED] > 0:
            judge(experts, experts_plan, tally[SEEN], y, work.given)
        if y > 0.0:
            tally[POSITIVES] += 1
        weight = importances[t]
        if plan.focus > 0.0 and y < 0.0 and tally[SOLVED] > 0:
            # Negatives score -1/2 on average, and positives 1/2.
            weight *= 2.0 * sigmoid(plan.focus * (score + 0.5))
        put_away(state, rows, t, y, weight)
        if not renewal.tally[HELD]:
            keep_row(renewal, rows, t, y, weight, plan.fade, tally[SEEN] - 1, work.x)
            if tally[FIXED]:
                note_spread(renewal, state.scale[CENTRE], work.x, work.row)
                say_whether_to_look(renewal, tally[SEEN])
        if _is_solution_due(tally, plan, y, state.first_signs.size):
            tally[DUE] = 1
        if tally[DUE] or tally[WAITING] == state.block_signs.size or renewal.tally[LOOK_DUE]:
            return t + 1
    return stop


@compiled
def put_away(state: RankerState, rows: Rows, t: int, y: float, weight: float) -> None:
    """Into the block, where z already is; or, while the scale is open, the row as given among the first ones."""
    tally = state.tally
    if tally[FIXED]:
        place = tally[WAITING]
        state.block_signs[place], state.block_weights[place] = y, weight
        tally[WAITING] = place + 1
        return
    place = tally[KEPT]
    target = state.first_rows[place]
    if rows.starts.size:
        for j in range(target.size):
            target[j] = 0.0
        for q in range(rows.starts[t], rows.starts[t + 1]):
            target[rows.features[q]] = rows.values[q]
    else:
        for j in range(target.size):
            target[j] = rows.dense[t, j]
    state.first_signs[place], state.first_weights[place] = y, weight
    tally[KEPT] = place + 1


@compiled
def _is_solution_due(tally: Integers, plan: RankerPlan, y: float, first: int) -> bool:
    """Enough examples since the last, one of the first positives, or the moment at which the scale is fixed."""
    if tally[SINCE] >= plan.refresh or (y > 0.0 and tally[POSITIVES] <= plan.eager):
        return True
    return tally[FIXED] == 0 and tally[KEPT] == first


@compiled
def encode_rows(state: RankerState, linear: float, rows: Rows, work: RankerScratch, encoded: Floats) -> None:
    """z of every row."""
    for t in range(encoded.shape[0]):
        encode_row(state, linear, rows, t, work, encoded[t])


@compiled
def ranker_score_rows(
    state: RankerState, experts: Experts, plan: RankerPlan, rows: Rows, work: RankerScratch, scores: Floats
) -> None:
    """The score of every example."""
    for t in range(scores.size):
        encode_row(state, plan.linear, rows, t, work, work.z)
        scores[t] = score_of(state, experts, work.z, work.given)


@compiled
def fill_system(totals: Floats, sums: Floats, grams: Floats, ridge: float, matrix: Floats, difference: Floats) -> None:
    """The upper triangle of S_+ + S_- + ridge I and m_+ - m_-, from sums of weights, of w z and of w z z'."""
    a, b = 1.0 / totals[0], 1.0 / totals[1]
    for i in range(difference.size):
        difference[i] = a * sums[0, i] - b * sums[1, i]
        ma, mb = a * sums[0, i], b * sums[1, i]
        rest, first, second = matrix[i, i:], grams[0, i, i:], grams[1, i, i:]
        sums_a, sums_b = sums[0, i:], sums[1, i:]
        for j in range(rest.size):
            rest[j] = a * (first[j] - ma * sums_a[j]) + b * (second[j] - mb * sums_b[j])
        rest[0] += ridge
