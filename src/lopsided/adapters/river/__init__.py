"""Learners as River classifiers, and our measures as River metrics.

`RiverClassifier(learner)` wraps any online learner of this package. For each registered one there is a class that takes
the learner's own parameters: `RiverKOIL`, `RiverFourierRanker`, `RiverRareEventClassifier` and so on. They work in
River's pipelines, ensembles and evaluation.

>>> from river import datasets, evaluate, preprocessing
>>> from lopsided.adapters.river import AUROC, RiverKOIL
>>> model = preprocessing.StandardScaler() | RiverKOIL(gamma="auto", random_state=0)
>>> evaluate.progressive_val_score(datasets.Phishing(), model, AUROC())
AUROC: 95.32%
"""

from __future__ import annotations

from typing import Any

try:
    import river  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        'The classifiers for River must have its package, which `pip install "lopsided[river]"` brings, '
        f"got no package {error.name}.",
        name=error.name,
    ) from None

from lopsided.adapters.river.classifier import RiverClassifier
from lopsided.adapters.river.measures import AUPRC, AUROC, WindowedAUROC
from lopsided.adapters.river.ready import ready_class, ready_names

__all__ = ["AUPRC", "AUROC", "RiverClassifier", "WindowedAUROC"]


def __getattr__(name: str) -> Any:
    """A ready class is made when it is first asked for: that imports its learner."""
    made = ready_class(name)
    if made is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = made
    return made


def __dir__() -> list[str]:
    return sorted([*__all__, *ready_names()])
