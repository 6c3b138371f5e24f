"""Limits that all compiled learners share."""

from __future__ import annotations

import math

from lopsided.core.arithmetic.compiled import compiled

NOT_STORED = -1  # instead of a slot
# A step beyond this size counts as diverged: the products of such weights with kernel values soon overflow.
LARGEST = 1e150


@compiled
def finite(score: float) -> float:
    """The score, or the nearest finite number where an enormous input has no finite kernel value."""
    if math.isnan(score):
        return 0.0
    return min(max(score, -1.7976931348623157e308), 1.7976931348623157e308)
