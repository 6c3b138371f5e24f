"""A learner made of another one, whose threshold, rare class, order and seed are those of the whole."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from lopsided.estimators.base.classifier import Classifier
from lopsided.estimators.base.online import OnlineClassifier


class SpeaksForItsLearner(OnlineClassifier):
    """What is common to all that have a parameter `learner` and answer in its place."""

    learner: Any

    def _default_learner(self) -> Classifier:
        """What None stands for."""
        raise NotImplementedError

    def _given_learner(self) -> Classifier:
        return self._default_learner() if self.learner is None else self.learner

    # The learner's own words on these hold for the whole.
    @property
    def threshold(self) -> str | float:  # type: ignore[override]
        """The learner's threshold rule."""
        return self._given_learner().threshold

    @property
    def pos_label(self) -> Any:
        """The learner's rare class."""
        return self._given_learner().pos_label

    @property
    def shuffle(self) -> bool:  # type: ignore[override]
        """Whether `fit` shuffles the rows."""
        return self._given_learner().shuffle

    @property
    def random_state(self) -> Any:
        """The learner's seed."""
        return self._given_learner().random_state

    def part_weight(self, n_parts: int) -> float:
        """What the learner asks for."""
        learner: Any = self._given_learner()
        return float(learner.part_weight(n_parts))

    def _threshold_rule(self) -> str | float:
        return self._given_learner()._threshold_rule()

    def _kept_parameters(self) -> dict[str, Any]:
        kept = self._begun_with["learner"] or self._default_learner()
        if kept.threshold == self.threshold:
            return self._begun_with
        changed = clone(kept)
        _with_a_threshold(changed).set_params(threshold=self.threshold)
        return self._begun_with | {"learner": changed}


def _with_a_threshold(learner: Any) -> Any:
    """The learner inside that has a threshold of its own."""
    while "threshold" not in learner.get_params(deep=False):
        learner.learner = learner._given_learner()
        learner = learner.learner
    return learner
