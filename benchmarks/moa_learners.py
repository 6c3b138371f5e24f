"""Learners of MOA, which the imbalanced-streams survey was made with, by CapyMOA: they run in a Java machine.

CapyMOA has an environment of its own, which `make capymoa` makes. Importing this module starts Java.
"""

from __future__ import annotations

from typing import Any

import jpype
import numpy as np
from capymoa.base import MOAClassifier
from capymoa.classifier import AdaptiveRandomForestClassifier, LeveragingBagging, StreamingRandomPatches
from capymoa.core import LabeledInstance
from capymoa.stream import Schema

TREES = 10  # of every ensemble, as River's forest has; MOA's own forests have 100
IMBALANCED = ("OnlineUnderOverBagging", "OnlineAdaC2")


class MOALearner:
    """One row at a time: its votes, then it learns."""

    def __init__(self, name: str, random_state: int = 0) -> None:
        self._name, self._seed = name, random_state
        self._schema: Any = None

    def progressive_scores(self, X: Any, y: Any, classes: Any = None) -> np.ndarray:
        """The share of votes for the second class, minus a half; a half where there is no vote."""
        if self._schema is None:
            self._begin(X.shape[1], [str(label) for label in classes])
        scores, labels = np.zeros(len(y)), np.searchsorted(classes, y)
        for row, (x, label) in enumerate(zip(np.ascontiguousarray(X, dtype=float), labels.tolist(), strict=True)):
            instance = LabeledInstance.from_array(self._schema, x, label)
            votes = self._learner.predict_proba(instance)
            scores[row] = 0.0 if votes is None else float(votes[1]) - 0.5
            self._learner.train(instance)
        return scores

    def _begin(self, n_features: int, labels: list[str]) -> None:
        names = [f"x{k}" for k in range(n_features)]
        self._schema = Schema.from_custom(
            features=[*names, "class"], target="class", categories={"class": labels}, name="stream"
        )
        self._learner = _made(self._name, self._schema, self._seed)


def _made(name: str, schema: Any, seed: int) -> Any:
    common: dict[str, Any] = {"schema": schema, "random_seed": seed}
    if name in IMBALANCED:
        java = jpype.JClass(f"moa.classifiers.meta.imbalanced.{name}")()
        options = f"-l trees.HoeffdingTree -s {TREES}"
        return MOAClassifier(moa_learner=java, CLI=options, **common)
    kind = {
        "ARF": AdaptiveRandomForestClassifier,
        "LeveragingBagging": LeveragingBagging,
        "SRP": StreamingRandomPatches,
    }
    return kind[name](ensemble_size=TREES, **common)
