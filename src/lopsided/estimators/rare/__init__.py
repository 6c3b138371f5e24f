"""The learner for rare events, and what it is made of: trees on a bounded sample, and the sample itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lopsided.estimators.entry import Entry

if TYPE_CHECKING:
    from lopsided.estimators.rare.boosted_sample import BoostedSample as BoostedSample
    from lopsided.estimators.rare.rare_event import RareEventClassifier as RareEventClassifier


def _entry(name: str, file: str, *trials: dict[str, Any], **claims: Any) -> Entry:
    return Entry(name, f"lopsided.estimators.rare.{file}", "rare", trials, mergeable=True, **claims)


ENTRIES: tuple[Entry, ...] = (
    _entry(
        "RareEventClassifier",
        "rare_event",
        {"sample_size": 200, "n_components": 8},
        {"sample_size": 100, "n_components": 20, "forget": "never", "threshold": "gmean"},
        random=True,
    ),
    _entry(
        "BoostedSample",
        "boosted_sample",
        {"sample_size": 100, "n_trees": 10},
        {"sample_size": 200, "n_trees": 5, "n_leaves": 4, "learning_rate": 0.5, "threshold": "f1"},
        random=True,
    ),
)
