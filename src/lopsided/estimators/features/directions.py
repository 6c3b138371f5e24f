"""Random directions, over all features or over a few."""

from __future__ import annotations

from typing import Any

import numpy as np

from lopsided.core.arithmetic.compiled import Floats
from lopsided.estimators.base.merging import MergeError

_MOST_COLUMNS = 3  # that a sparse direction sees


def draw_directions(rng: np.random.Generator, directions: Floats, bandwidths: Any, sparse: float = 0.0) -> None:
    """Fill an array (n_features, H): r_i from N(0, 2 b / n I) over the n features that it sees.

    The bandwidths b share the directions evenly. Of each share the first `sparse` part sees 1, 2 or 3 features in
    turn, chosen at random: a single feature that matters is not lost among many that do not. Draws
    `rng.standard_normal` for all entries and, if `sparse`, `rng.random` for all: the smallest are seen.
    """
    n_features = directions.shape[0]
    directions[:] = rng.standard_normal(directions.shape)
    bandwidths = np.atleast_1d(bandwidths)
    groups = np.array_split(np.arange(directions.shape[1]), bandwidths.size)
    seen = np.full(directions.shape[1], n_features)
    if sparse > 0.0 and n_features > 1:
        ranks = rng.random(directions.shape).argsort(axis=0).argsort(axis=0)
        for group in groups:
            few = group[: int(sparse * group.size)]
            seen[few] = np.minimum(np.arange(few.size) % _MOST_COLUMNS + 1, n_features)
        directions[ranks >= seen] = 0.0
    for bandwidth, group in zip(bandwidths, groups, strict=True):
        directions[:, group] *= np.sqrt(2.0 * bandwidth / seen[group])


def check_directions(models: list[Any], directions: list[Floats]) -> None:
    """Refuse models to merge whose directions are not the same."""
    for other in directions[1:]:
        if not np.array_equal(other, directions[0]):
            raise MergeError(
                f"The models of {type(models[0]).__name__} to merge must have the same random directions, as a model "
                "and its `empty_like` do. Got different ones."
            )
