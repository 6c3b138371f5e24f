"""The third question: what becomes of the weight left over?

The point left out is the evicted vector or the newcomer that was turned away; both are treated alike.
"""

from __future__ import annotations

from lopsided.core.arithmetic.compiled import Floats, compiled
from lopsided.core.pairwise.support import Ledger, Support, occupied, shift


@compiled
def give_to_nearest(support: Support, ledger: Ledger, room: int, row: Floats, weight: float) -> None:
    """Add the weight to the vector of the room that is most similar to the point left out (`row`: its similarities)."""
    start, stop = occupied(support, room)
    nearest, largest = start, row[start]
    for i in range(start + 1, stop):
        if row[i] > largest:
            nearest, largest = i, row[i]
    shift(support, ledger, nearest, weight)
