"""Learners on random or sampled features: gradient descent and a ranker by class moments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lopsided.estimators.entry import Entry

if TYPE_CHECKING:
    from lopsided.estimators.features.descent import FOGD as FOGD
    from lopsided.estimators.features.descent import NOGD as NOGD
    from lopsided.estimators.features.fourier_ranker import FourierRanker as FourierRanker


def _entry(name: str, file: str, *trials: dict[str, Any], **claims: Any) -> Entry:
    return Entry(name, f"lopsided.estimators.features.{file}", "features", trials, mergeable=True, **claims)


def _keeps_its_sums(ranker: Any) -> bool:
    """Neither do rows fade nor weigh what the model makes of them, nor is one of several variants chosen."""
    return bool(ranker.fade == 1.0 and ranker.focus == 0.0 and ranker.regularization != "auto")


_AUTOMATIC = {"regularization": "auto", "fade": "auto", "focus": 3.0}

ENTRIES: tuple[Entry, ...] = (
    _entry("FOGD", "descent", {"n_components": 30, "gamma": 2.0}, random=True),
    _entry(
        "NOGD",
        "descent",
        {"budget": 30, "rank": 10, "gamma": 2.0},
        {"budget": 300},
        keeps_vectors=True,
    ),
    _entry(
        "FourierRanker",
        "fourier_ranker",
        {"n_components": 8, "refresh": 1, "warm_up": 70},
        {"n_components": 20, "bandwidths": (0.5,), "warm_up": 40} | _AUTOMATIC,
        random=True,
        adds_up=_keeps_its_sums,
    ),
)
