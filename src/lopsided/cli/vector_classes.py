"""Of which class the support vectors of a learner are, as it has stored them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.core.support import USED
from lopsided.estimators.expansion_state import members_of
from lopsided.estimators.koil import KOIL
from lopsided.estimators.multikernel_koil import MultiKernelKOIL
from lopsided.estimators.oilk import OILK
from lopsided.estimators.online_kernel import OnlineKernelLearner
from lopsided.estimators.random_features import NOGD
from lopsided.estimators.voting import VotingLearner

Floats = npt.NDArray[np.float64]


def signs_of_vectors(learner: Any) -> list[Floats]:
    """+1 and -1 for the support vectors of each kernel, in the order of `support_vectors_`.

    A weight does not tell the class: steps, projections and averages turn its sign. What a learner does not store is
    told from the weight all the same, since nothing else is known.
    """
    if isinstance(learner, OnlineKernelLearner):
        return [learner._expansion.signs[learner._by_class_and_age()]]
    if isinstance(learner, VotingLearner):
        pairs = zip(members_of(learner._stack), learner._by_class_and_age(), strict=True)
        return [one.signs[slots] for one, slots in pairs]
    if isinstance(learner, NOGD):
        return [learner._model.signs[learner._by_class()]]
    if isinstance(learner, OILK):
        return [learner._slot_signs[learner._slots_by_class()]]
    if isinstance(learner, KOIL):
        return [_by_room(learner._support.tally)]
    if isinstance(learner, MultiKernelKOIL):
        return [_by_room(tally) for tally in learner._stack.tally]
    weights = learner.support_weights_
    return [np.sign(of_kernel) for of_kernel in (weights if isinstance(weights, list) else [weights])]


def _by_room(tally: npt.NDArray[np.int64]) -> Floats:
    """Positives and negatives have rooms of their own, one behind the other."""
    return np.repeat([1.0, -1.0], tally[USED])
