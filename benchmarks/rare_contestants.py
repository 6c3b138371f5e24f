"""Who takes part in the evidence for rare events: learners of this package, and what else one would use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import lopsided as lp
from lopsided.competitors import competitor

NEW = "RareEventClassifier"
NEVER = "RareEventClassifier forget='never'"
PARTS = ("ranker", "trees", "short", "linear")  # what it blends, by the names of its part_scores
FADES = "FourierRanker fade='auto'"
KNOWS = "whoever knows how it is made"
Make = Callable[[int], Any]
_SPREAD_OF_XOR = 0.6


class Informed:
    """Ranks the streams of one per cent by the ratio of the densities that they come from: nobody can do better."""

    def __init__(self, seed: int) -> None:
        del seed

    def progressive_scores(self, X: np.ndarray, y: np.ndarray, classes: Any = None) -> np.ndarray:
        """Nothing is learned."""
        if X.shape[1] > 2:
            return X.sum(axis=1)  # `overlapping`: means that differ alike in every feature
        across, along = ((X[:, 0] - sign * X[:, 1]) / _SPREAD_OF_XOR**2 for sign in (1.0, -1.0))
        return _log_cosh(across) - _log_cosh(along)


def _log_cosh(values: np.ndarray) -> np.ndarray:
    return np.abs(values) + np.log1p(np.exp(-2.0 * np.abs(values)))


def _ours(name: str, **options: Any) -> Make:
    return lambda seed: getattr(lp, name)(random_state=seed, **options)


def _scaled_koil(seed: int) -> Any:
    return lp.StreamPipeline(lp.OnlineScaler(), lp.KOIL(C=10, gamma="auto", random_state=seed))


def _rival(name: str, **options: Any) -> Make:
    return lambda seed: competitor(name, random_state=seed, **options)


OURS: dict[str, Make] = {
    NEW: _ours(NEW),
    NEVER: _ours(NEW, forget="never"),
    "FourierRanker": _ours("FourierRanker"),
    "FourierRanker 'auto', focus=6": _ours("FourierRanker", regularization="auto", focus=6.0),
    FADES: _ours("FourierRanker", fade="auto"),
    "KOIL, scaled": _scaled_koil,
}
RIVALS: dict[str, Make] = {
    "LightGBM": _rival("lightgbm"),
    "LightGBM, lambda 10, positives x5": _rival("lightgbm-weighted"),
    "LightGBM, small": _rival("lightgbm-small"),
    "ExtraTrees, balanced": _rival("extratrees"),
    "VW linear, balanced": _rival("vw-linear"),
    "River ARF": _rival("arf"),
    "River ARF, balanced": _rival("arf-balanced"),
    "River SRP": _rival("srp"),
}
# Fitted anew when the play says so (once a week), not after so many rows.
ASKED: dict[str, Make] = {
    "LightGBM": _rival("lightgbm", every=None),
    "LightGBM, lambda 10, positives x5": _rival("lightgbm-weighted", every=None),
    "LightGBM, small": _rival("lightgbm-small", every=None),
    "ExtraTrees, balanced": _rival("extratrees", every=None),
}
SLOW = ["LightGBM, small", "ExtraTrees, balanced", "River ARF", "River ARF, balanced", "River SRP"]
EVERYBODY = [name for name in (*OURS, *RIVALS) if name not in (NEVER, FADES)]


def exists(name: str) -> bool:
    """Whether a contestant can be made: the new learner may not be there yet."""
    return name not in (NEW, NEVER) or hasattr(lp, NEW)


def contestant(name: str, seed: int, *, asked: bool = False) -> Any:
    """One of them, ready for a stream; with `asked` those that are refitted wait until they are told to."""
    makers = OURS | RIVALS | {KNOWS: Informed} | (ASKED if asked else {})
    return makers[name](seed)


def part_scores(learner: Any, X: np.ndarray) -> dict[str, np.ndarray]:
    """What each part that the new learner blends says of rows now; empty for learners without parts."""
    if not hasattr(learner, "part_scores"):
        return {}
    said = learner.part_scores(X)
    return {name: np.asarray(said[name]) for name in PARTS}


def parts_of(learner: Any, X: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """Progressive scores of each part; empty for learners without parts."""
    if not hasattr(learner, "progressive_parts"):
        return {}
    said = learner.progressive_parts(X, y, classes=[0, 1])
    return {name: np.asarray(said[name]) for name in PARTS}
