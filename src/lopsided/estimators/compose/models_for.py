"""Which models a learner gets for its keys: stacked where there are compiled loops for that, else one object each."""

from __future__ import annotations

from typing import Any

from lopsided.estimators.compose.keyed_models import KeyedModels
from lopsided.estimators.compose.separate_learners import SeparateLearners
from lopsided.estimators.compose.stacked_learners import StackedLearners, kind_for
from lopsided.estimators.compose.stacked_vectors import StackedVectors
from lopsided.estimators.linear.weight_vector import PointwiseLinearLearner


def models_for(common: Any, prior_rows: float | None) -> KeyedModels:
    """The models of keys for this learner, which has begun: that of all rows, or without a prior the pattern of all."""
    if isinstance(common, PointwiseLinearLearner):
        return StackedVectors(common, prior_rows)
    kind = kind_for(common)
    return SeparateLearners(common, prior_rows) if kind is None else StackedLearners(common, prior_rows, kind)
