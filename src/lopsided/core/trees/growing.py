"""One more tree for the logistic loss, leaf by leaf, wherever a split gains most.

With g = w (p - y) and h = w p (1 - p) summed over the rows of a leaf, its value is -rate G / (H + lambda), and a split
into a left and a right part gains G_l^2 / (H_l + lambda) + G_r^2 / (H_r + lambda) - G^2 / (H + lambda). The sums by
code (`binning.py`) of the smaller part are counted, those of the larger one are what is left.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.trees.binning import Codes
from lopsided.core.trees.forest import BELOW_ALL, Forest

# Numbers in a cell of the sums by code, and what is known of a leaf's best split and of the leaf.
_GRADIENT, _CURVATURE, _COUNT = range(3)
_CELL = 4  # one more than needed: a power of two is added at once
_GAIN, _LEFT_GRADIENT, _LEFT_CURVATURE, _LEFT_COUNT = range(4)
_LEAST_GAIN = 1e-9


class Sampled(NamedTuple):
    """Rows to fit trees to: codes, labels 0 or 1, weights, and the score of each by the trees so far."""

    codes: Codes
    labels: Floats
    weights: Floats
    scores: Floats


class Growth(NamedTuple):
    """Scratch: rows by leaf, sums by leaf and code, and by leaf where its rows stand, its node, sums and best split."""

    order: npt.NDArray[np.int32]
    moved: npt.NDArray[np.int32]
    slopes: Floats
    sums: Floats
    starts: Integers
    stops: Integers
    nodes: Integers
    totals: Floats
    best: Floats
    split_feature: Integers
    split_code: Integers


class TreePlan(NamedTuple):
    """Parameters: leaves, the ridge lambda, the fewest rows of a leaf, and the rate by which leaves count."""

    n_leaves: int
    ridge: float
    least_rows: int
    rate: float


def empty_growth(n_rows: int, n_features: int, n_codes: int, n_leaves: int) -> Growth:
    """Scratch for a sample of this shape."""

    def by_leaf() -> Integers:
        return np.zeros(n_leaves, dtype=np.int64)

    return Growth(
        order=np.zeros(n_rows, dtype=np.int32),
        moved=np.zeros(n_rows, dtype=np.int32),
        slopes=np.zeros((n_rows, 2)),
        sums=np.zeros((n_leaves, n_features * n_codes, _CELL)),
        starts=by_leaf(),
        stops=by_leaf(),
        nodes=by_leaf(),
        totals=np.zeros((n_leaves, 3)),
        best=np.zeros((n_leaves, 4)),
        split_feature=by_leaf(),
        split_code=by_leaf(),
    )


@compiled
def grow_tree(sampled: Sampled, edges: Floats, n_edges: Integers, plan: TreePlan, work: Growth, forest: Forest) -> None:
    """Fit the next tree of the forest to the sample, and move the scores of its rows."""
    tree = forest.size[0]
    n_codes = work.sums.shape[1] // n_edges.size
    leaves = _root(sampled, n_codes, n_edges, plan, work)
    forest.values[tree, 0] = _value(work, 0, plan)
    nodes = 1
    while leaves < plan.n_leaves:
        leaf = _most_gained(work, leaves)
        if leaf < 0:
            break
        feature, code = work.split_feature[leaf], work.split_code[leaf]
        node = work.nodes[leaf]
        forest.features[tree, node], forest.left[tree, node] = feature, nodes
        # Code 0 is what is missing: a split after it sends every number to the right.
        forest.thresholds[tree, node] = edges[feature, code - 1] if code > 0 else BELOW_ALL
        other = leaves
        leaves += 1
        _part(sampled.codes, feature, code, work, leaf, other)
        work.nodes[leaf], work.nodes[other] = nodes, nodes + 1
        forest.values[tree, nodes], forest.values[tree, nodes + 1] = _value(work, leaf, plan), _value(work, other, plan)
        nodes += 2
        if leaves < plan.n_leaves:  # nobody will ask for splits of the last two
            _share_sums(sampled.codes, n_codes, work, leaf, other)
            _find_split(work, n_codes, n_edges, plan, leaf)
            _find_split(work, n_codes, n_edges, plan, other)
    for leaf in range(leaves):
        value = forest.values[tree, work.nodes[leaf]]
        for place in range(work.starts[leaf], work.stops[leaf]):
            sampled.scores[work.order[place]] += value
    forest.size[0] = tree + 1


@compiled
def _root(sampled: Sampled, n_codes: int, n_edges: Integers, plan: TreePlan, work: Growth) -> int:
    """All rows in one leaf, with their slopes; returns 1, the number of leaves."""
    gradients = curvatures = 0.0
    for i in range(sampled.scores.size):
        p = 1.0 / (1.0 + math.exp(-sampled.scores[i]))
        work.slopes[i, _GRADIENT] = sampled.weights[i] * (p - sampled.labels[i])
        work.slopes[i, _CURVATURE] = sampled.weights[i] * p * (1.0 - p)
        work.order[i] = i
    for i in range(sampled.scores.size):
        gradients += work.slopes[i, _GRADIENT]
        curvatures += work.slopes[i, _CURVATURE]
    work.starts[0], work.stops[0], work.nodes[0] = 0, sampled.scores.size, 0
    work.totals[0, _GRADIENT], work.totals[0, _CURVATURE] = gradients, curvatures
    work.totals[0, _COUNT] = sampled.scores.size
    _sum_up(sampled.codes, n_codes, work, 0)
    _find_split(work, n_codes, n_edges, plan, 0)
    return 1


@compiled
def _value(work: Growth, leaf: int, plan: TreePlan) -> float:
    return -plan.rate * work.totals[leaf, _GRADIENT] / (work.totals[leaf, _CURVATURE] + plan.ridge)


@compiled
def _most_gained(work: Growth, leaves: int) -> int:
    """The leaf whose split gains most, the first of several; -1 if none gains anything."""
    chosen, gain = -1, _LEAST_GAIN
    for leaf in range(leaves):
        if work.best[leaf, _GAIN] > gain:
            chosen, gain = leaf, work.best[leaf, _GAIN]
    return chosen


@compiled
def _part(codes: Codes, feature: int, code: int, work: Growth, leaf: int, other: int) -> None:
    """Rows of a leaf up to the code stay, in their order; the others become another leaf."""
    order, moved = work.order, work.moved
    place, n_moved = work.starts[leaf], 0
    for at in range(work.starts[leaf], work.stops[leaf]):
        i = order[at]
        if codes[i, feature] <= code:
            order[place] = i
            place += 1
        else:
            moved[n_moved] = i
            n_moved += 1
    for at in range(n_moved):
        order[place + at] = moved[at]
    work.starts[other], work.stops[other], work.stops[leaf] = place, work.stops[leaf], place
    best = work.best[leaf]
    for part in range(3):
        work.totals[other, part] = work.totals[leaf, part] - best[_LEFT_GRADIENT + part]
        work.totals[leaf, part] = best[_LEFT_GRADIENT + part]


@compiled
def _share_sums(codes: Codes, n_codes: int, work: Growth, leaf: int, other: int) -> None:
    """The sums of two leaves that were one, whose sums stand at `leaf`: the smaller one's are counted."""
    left, right = work.sums[leaf], work.sums[other]
    if work.totals[leaf, _COUNT] <= work.totals[other, _COUNT]:
        for c in range(left.shape[0]):
            for part in range(_CELL):
                right[c, part] = left[c, part]
        _sum_up(codes, n_codes, work, leaf)
        for c in range(left.shape[0]):
            for part in range(_CELL):
                right[c, part] -= left[c, part]
    else:
        _sum_up(codes, n_codes, work, other)
        for c in range(left.shape[0]):
            for part in range(_CELL):
                left[c, part] -= right[c, part]


@compiled
def _sum_up(codes: Codes, n_codes: int, work: Growth, leaf: int) -> None:
    """Slopes and number of the rows of a leaf, by feature and code."""
    sums = work.sums[leaf]
    for c in range(sums.shape[0]):
        for part in range(_CELL):
            sums[c, part] = 0.0
    width = codes.shape[1]
    for place in range(work.starts[leaf], work.stops[leaf]):
        i = work.order[place]
        gradient, curvature = work.slopes[i, _GRADIENT], work.slopes[i, _CURVATURE]
        first = np.uint64(0)
        row = codes[i]
        for j in range(width):
            cell = sums[first + np.uint64(row[j])]
            first += np.uint64(n_codes)
            cell[0] += gradient
            cell[1] += curvature
            cell[2] += 1.0
            cell[3] += 0.0


@compiled
def _find_split(work: Growth, n_codes: int, n_edges: Integers, plan: TreePlan, leaf: int) -> None:
    """The split of a leaf that gains most, the first of several; a gain of 0 says that there is none."""
    best, sums = work.best[leaf], work.sums[leaf]
    gradients, curvatures = work.totals[leaf, _GRADIENT], work.totals[leaf, _CURVATURE]
    count = work.totals[leaf, _COUNT]
    whole = gradients * gradients / (curvatures + plan.ridge)
    best[_GAIN] = 0.0
    if count < 2 * plan.least_rows:
        return
    for j in range(n_edges.size):
        g = h = n = 0.0
        first = j * n_codes
        for code in range(n_edges[j] + 1):
            cell = sums[first + code]
            if cell[_COUNT] == 0.0:
                continue
            g += cell[_GRADIENT]
            h += cell[_CURVATURE]
            n += cell[_COUNT]
            if n < plan.least_rows:
                continue
            if count - n < plan.least_rows:
                break
            rest = gradients - g
            gain = g * g / (h + plan.ridge) + rest * rest / (curvatures - h + plan.ridge) - whole
            if gain > best[_GAIN]:
                best[_GAIN], best[_LEFT_GRADIENT], best[_LEFT_CURVATURE], best[_LEFT_COUNT] = gain, g, h, n
                work.split_feature[leaf], work.split_code[leaf] = j, code
