"""Thresholds and probabilities for frameworks that ask after every row.

A learner finds both from its latest scores, which costs more than learning a row. Here they are found when they are
asked for, and not again before there is a 16th more rows, or 2,048.
"""

from __future__ import annotations

import math
from typing import Any

_GROWN = 16
_LONGEST = 2048
_STEEPEST_LOGIT = 20.0  # beyond, it grows like a logarithm, so that no probability is 0 or 1


class RecentAnswers:
    """What a learner's threshold and its curve of probabilities were of late.

    >>> from lopsided import KOIL
    >>> learner = KOIL(random_state=0).partial_fit([[0.0], [1.0]], [0, 1])
    >>> answers, answer = RecentAnswers(), learner.answer_one([0.3])
    >>> answers.threshold(learner) == answer.threshold, answers.probability(learner, answer.score) == answer.probability
    (True, True)
    """

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, Any]] = {}

    def forget(self) -> None:
        """Find all anew, because it is another learner."""
        self._found.clear()

    def threshold(self, learner: Any) -> float:
        """Where its decision switches on the scale of its raw scores."""
        return self._lately(learner, "threshold_")

    def probability(self, learner: Any, score: float) -> float:
        """The probability of the rare class for a raw score, as `predict_proba` has it."""
        slope, offset = self._lately(learner, "calibration_")
        logit = slope * score + offset
        beyond = abs(logit) - _STEEPEST_LOGIT
        if beyond > 0.0:
            logit = math.copysign(_STEEPEST_LOGIT + 0.02 * math.log1p(beyond), logit)
        return 1.0 / (1.0 + math.exp(-logit))

    def _lately(self, learner: Any, name: str) -> Any:
        n_rows = learner.n_seen_
        at, value = self._found.get(name, (-1, None))
        if at < 0 or n_rows - at > min(at // _GROWN, _LONGEST):
            value = getattr(learner, name)
            self._found[name] = n_rows, value
        return value
