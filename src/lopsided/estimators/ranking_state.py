"""Binned rankings of several experts between memory and files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.core.ranking import KEPT, SCALE, SETTLED, Ranking, RankingPlan, empty_ranking
from lopsided.core.score_keys import SIGMOID
from lopsided.estimators.model_arrays import ModelFileError, in_range, taken


def stacked_rankings(rankings: list[Ranking]) -> Ranking:
    """Rankings in arrays with one leading axis; none at all are arrays of no length."""
    if not rankings:
        nothing = empty_ranking(RankingPlan(SIGMOID, 1, 1.0, False), 0)
        return Ranking(*(np.zeros((0, *part.shape), dtype=part.dtype) for part in nothing))
    return Ranking(*(np.stack(parts) for parts in zip(*rankings, strict=True)))


def restored_rankings(arrays: Mapping[str, npt.NDArray[Any]], empty: Ranking) -> Ranking:
    """The rankings of a file, of the same shapes as the empty ones."""
    fields = {name: taken(arrays, f"rankings.{name}", part.dtype, part.shape) for name, part in empty._asdict().items()}
    rankings = Ranking(**fields)
    in_range("rankings.tally", rankings.tally[:, KEPT], 0, empty.kept.shape[-1])
    in_range("rankings.tally", rankings.tally[:, SETTLED], 0, 1)
    if (rankings.levels[:, SCALE] <= 0.0).any():
        raise ModelFileError("The array 'rankings.levels' of the model file must hold scales > 0: it is damaged.")
    return rankings
