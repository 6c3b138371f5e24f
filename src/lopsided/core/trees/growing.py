"""One more tree for the logistic loss, leaf by leaf, wherever a split gains most.

With g = w (p - y) and h = w p (1 - p) summed over the rows of a leaf, its value is -rate G / (H + lambda), and a split
into a left and a right part gains G_l^2 / (H_l + lambda) + G_r^2 / (H_r + lambda) - G^2 / (H + lambda). The sums by
code (`cells.py`) of the smaller part are counted, those of the larger one are what is left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.arithmetic.exponential import exponential
from lopsided.core.trees.binning import Codes
from lopsided.core.trees.cells import CELL, COUNT, CURVATURE, GRADIENT, Places, add_to_cell, subtract_cells
from lopsided.core.trees.forest import BELOW_ALL, Forest

# What is known of a leaf's best split: what it gains, and the sums of its left part.
_GAIN, _LEFT_GRADIENT, _LEFT_CURVATURE, _LEFT_COUNT = range(4)
_LEAST_GAIN = 1e-9


class Sampled(NamedTuple):
    """Rows to fit trees to: codes, labels 0 or 1, weights, and the score of each by the trees so far."""

    codes: Codes
    labels: Floats
    weights: Floats
    scores: Floats


class Growth(NamedTuple):
    """Scratch: the codes once more, as they are looked up; rows by leaf; sums; and what is known of each leaf.

    `columns` are the codes by feature, for parting rows; `places` say where in the sums of a leaf each code of a row
    is, for summing them up: `firsts` is where those of a feature start. The sums of a leaf stand in its room. `lefts`
    holds sums up to each code of one feature, `gains` what a split after it gains.
    """

    columns: Codes
    places: Places
    firsts: Integers
    order: npt.NDArray[np.int32]
    moved: npt.NDArray[np.int32]
    gradients: Floats
    curvatures: Floats
    sums: Floats
    lefts: Floats
    gains: Floats
    rooms: Integers
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


def empty_growth(codes: Codes, n_edges: Integers, n_leaves: int) -> Growth:
    """Scratch for a sample with these codes, whose features have so many edges each."""
    n_rows, n_codes = len(codes), n_edges + 2
    firsts = np.cumsum(n_codes) - n_codes
    most = int(n_codes.max(initial=0))

    def by_leaf() -> Integers:
        return np.zeros(n_leaves, dtype=np.int64)

    return Growth(
        columns=np.ascontiguousarray(codes.T),
        places=np.add(codes, firsts, dtype=np.uint32, casting="unsafe"),
        firsts=firsts,
        order=np.zeros(n_rows, dtype=np.int32),
        moved=np.zeros(n_rows, dtype=np.int32),
        gradients=np.zeros(n_rows),
        curvatures=np.zeros(n_rows),
        sums=np.zeros((n_leaves, int(n_codes.sum()) * CELL)),
        lefts=np.zeros((3, most)),
        gains=np.zeros(most),
        rooms=by_leaf(),
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
    leaves = _root(sampled, n_edges, plan, work)
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
        _part(work, feature, code, leaf, other)
        work.nodes[leaf], work.nodes[other] = nodes, nodes + 1
        forest.values[tree, nodes], forest.values[tree, nodes + 1] = _value(work, leaf, plan), _value(work, other, plan)
        nodes += 2
        if leaves < plan.n_leaves:  # nobody will ask for splits of the last two
            _share_sums(work, leaf, other)
            _find_split(work, n_edges, plan, leaf)
            _find_split(work, n_edges, plan, other)
    for leaf in range(leaves):
        value = forest.values[tree, work.nodes[leaf]]
        for place in range(work.starts[leaf], work.stops[leaf]):
            sampled.scores[work.order[place]] += value
    forest.size[0] = tree + 1


@compiled
def _root(sampled: Sampled, n_edges: Integers, plan: TreePlan, work: Growth) -> int:
    """All rows in one leaf, with their slopes; returns 1, the number of leaves."""
    scores, labels, weights = sampled.scores, sampled.labels, sampled.weights
    gradients, curvatures, gradient, curvature = work.gradients, work.curvatures, 0.0, 0.0
    for i in range(scores.size):
        p = 1.0 / (1.0 + exponential(-scores[i]))
        gradients[i], curvatures[i] = weights[i] * (p - labels[i]), weights[i] * p * (1.0 - p)
    for i in range(scores.size):
        gradient += gradients[i]
        curvature += curvatures[i]
    for i in range(work.order.size):
        work.order[i] = i
    work.starts[0], work.stops[0], work.nodes[0], work.rooms[0] = 0, scores.size, 0, 0
    work.totals[0, GRADIENT], work.totals[0, CURVATURE] = gradient, curvature
    work.totals[0, COUNT] = scores.size
    _sum_up(work, 0)
    _find_split(work, n_edges, plan, 0)
    return 1


@compiled
def _value(work: Growth, leaf: int, plan: TreePlan) -> float:
    return -plan.rate * work.totals[leaf, GRADIENT] / (work.totals[leaf, CURVATURE] + plan.ridge)


@compiled
def _most_gained(work: Growth, leaves: int) -> int:
    """The leaf whose split gains most, the first of several; -1 if none gains anything."""
    chosen, gain = -1, _LEAST_GAIN
    for leaf in range(leaves):
        if work.best[leaf, _GAIN] > gain:
            chosen, gain = leaf, work.best[leaf, _GAIN]
    return chosen


@compiled
def _part(work: Growth, feature: int, code: int, leaf: int, other: int) -> None:
    """Rows of a leaf up to the code stay, in their order; the others become another leaf."""
    start, stop = work.starts[leaf], work.stops[leaf]
    own, moved, column = work.order[start:stop], work.moved, work.columns[feature]
    n_kept = n_moved = 0
    for at in range(own.size):
        # Written to both, and one of them counted: no branch that would be guessed wrongly half of the time.
        i = own[at]
        own[n_kept], moved[n_moved] = i, i
        stays = 1 if column[i] <= code else 0
        n_kept += stays
        n_moved += 1 - stays
    rest = own[n_kept:]
    for at in range(rest.size):
        rest[at] = moved[at]
    work.starts[other], work.stops[other], work.stops[leaf] = start + n_kept, stop, start + n_kept
    best = work.best[leaf]
    for part in range(3):
        work.totals[other, part] = work.totals[leaf, part] - best[_LEFT_GRADIENT + part]
        work.totals[leaf, part] = best[_LEFT_GRADIENT + part]


@compiled
def _share_sums(work: Growth, leaf: int, other: int) -> None:
    """The sums of two leaves that were one: those of the smaller one are counted, the larger one keeps the room."""
    room = work.rooms[leaf]
    smaller, larger = (leaf, other) if work.totals[leaf, COUNT] <= work.totals[other, COUNT] else (other, leaf)
    work.rooms[smaller], work.rooms[larger] = other, room  # as many rooms as leaves are taken
    _sum_up(work, smaller)
    subtract_cells(work.sums[room], work.sums[other])


@compiled
def _sum_up(work: Growth, leaf: int) -> None:
    """Slopes and number of the rows of a leaf, by feature and code."""
    sums, places = work.sums[work.rooms[leaf]], work.places
    for c in range(sums.size):
        sums[c] = 0.0
    width = places.shape[1]
    for at in range(work.starts[leaf], work.stops[leaf]):
        i = work.order[at]
        gradient, curvature, row = work.gradients[i], work.curvatures[i], places[i]
        for j in range(width):
            add_to_cell(sums, row[j], gradient, curvature)  # type: ignore[call-arg]


@compiled
def _find_split(work: Growth, n_edges: Integers, plan: TreePlan, leaf: int) -> None:
    """The split of a leaf that gains most, the first of several; a gain of 0 says that there is none."""
    best, sums = work.best[leaf], work.sums[work.rooms[leaf]]
    best[_GAIN] = 0.0
    if work.totals[leaf, COUNT] < 2 * plan.least_rows:
        return
    lefts = work.lefts
    for j in range(n_edges.size):
        first, n_codes = CELL * work.firsts[j], n_edges[j] + 1
        gains = work.gains[:n_codes]
        _fill_lefts(sums[first : first + CELL * n_codes], lefts)
        _fill_gains(lefts, work.totals[leaf], plan, gains)
        for code in range(gains.size):
            if gains[code] > best[_GAIN]:
                best[_GAIN] = gains[code]
                for part in range(3):
                    best[_LEFT_GRADIENT + part] = lefts[part, code]
                work.split_feature[leaf], work.split_code[leaf] = j, code


@compiled
def _fill_lefts(own: Floats, lefts: Floats) -> None:
    """The sums of one feature up to each of its codes."""
    g = h = n = 0.0
    for code in range(own.size // CELL):
        g += own[CELL * code + GRADIENT]
        h += own[CELL * code + CURVATURE]
        n += own[CELL * code + COUNT]
        lefts[GRADIENT, code], lefts[CURVATURE, code], lefts[COUNT, code] = g, h, n


@compiled
def _fill_gains(lefts: Floats, totals: Floats, plan: TreePlan, gains: Floats) -> None:
    """What a split after each code gains; 0 where it leaves too few rows on one side."""
    gradients, curvatures, count = totals[GRADIENT], totals[CURVATURE], totals[COUNT]
    ridge, least = plan.ridge, float(plan.least_rows)
    whole = gradients * gradients / (curvatures + ridge)
    left_g, left_h, left_n = lefts[GRADIENT], lefts[CURVATURE], lefts[COUNT]
    for code in range(gains.size):
        g, h, n = left_g[code], left_h[code], left_n[code]
        rest = gradients - g
        gain = g * g / (h + ridge) + rest * rest / (curvatures - h + ridge) - whole
        gains[code] = gain if (n >= least) & (count - n >= least) else 0.0
