"""Trees as arrays, and the way of a row down to a leaf of each.

Node 0 is the root. An inner node names a feature and a threshold; its children stand side by side at `left` and
`left + 1`. A row goes left if its value is at most the threshold or is missing: missing counts as smaller than any
number. A node whose feature is -1 is a leaf.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats, compiled
from lopsided.core.geometry.points import Rows

LEAF = -1
BELOW_ALL = -1e308  # a threshold that parts what is missing from all numbers
MOST_LEAVES = 1024  # so that a node has a short number


class Forest(NamedTuple):
    """A row per tree, a column per node; `levels` holds where all scores start, `size` how many trees there are."""

    features: npt.NDArray[np.int32]
    thresholds: Floats
    left: npt.NDArray[np.int32]
    values: Floats
    levels: Floats
    size: npt.NDArray[np.int64]


def empty_forest(n_trees: int, n_leaves: int) -> Forest:
    """Room for so many trees of so many leaves, and none of them there: the score of every row is 0."""
    shape = n_trees, 2 * n_leaves - 1
    return Forest(
        np.full(shape, LEAF, dtype=np.int32),
        np.zeros(shape),
        np.zeros(shape, dtype=np.int32),
        np.zeros(shape),
        np.zeros(1),
        np.zeros(1, dtype=np.int64),
    )


def clear_forest(forest: Forest, level: float) -> None:
    """No trees: every score is `level`."""
    empty = empty_forest(forest.features.shape[0], (forest.features.shape[1] + 1) // 2)
    empty.levels[0] = level
    copy_forest(empty, forest)


def copy_forest(source: Forest, target: Forest) -> None:
    """Let one forest be what another is, in place."""
    targets: tuple[Any, ...] = target
    for own, theirs in zip(targets, source, strict=True):
        own[...] = theirs


@compiled
def forest_score(forest: Forest, x: Floats) -> float:
    """The sum of the leaves that a row ends in."""
    score = forest.levels[0]
    for t in range(forest.size[0]):
        features, thresholds, left = forest.features[t], forest.thresholds[t], forest.left[t]
        node = 0
        feature = features[0]
        while feature >= 0:
            node = left[node] + (1 if x[feature] > thresholds[node] else 0)
            feature = features[node]
        score += forest.values[t, node]
    return score


@compiled
def lay_out(rows: Rows, t: int, x: Floats) -> None:
    """Row t as numbers by feature, whatever its form."""
    if rows.starts.size:
        for j in range(x.size):
            x[j] = 0.0
        for q in range(rows.starts[t], rows.starts[t + 1]):
            x[rows.features[q]] = rows.values[q]
    else:
        for j in range(x.size):
            x[j] = rows.dense[t, j]
