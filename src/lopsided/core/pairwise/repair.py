"""The third question: what becomes of the weight left over?

The point left out is the evicted vector or the newcomer that was turned away; both are treated alike.
"""

from __future__ import annotations

from lopsided.core.arithmetic.compiled import Floats, compiled
from lopsided.core.arithmetic.exponential import float_in_order, order_of
from lopsided.core.pairwise.support import Ledger, Support, occupied, shift


@compiled
def give_to_nearest(support: Support, ledger: Ledger, room: int, row: Floats, weight: float) -> None:
    """Add the weight to the vector of the room that is most similar to the point left out (`row`: its similarities)."""
    start, stop = occupied(support, room)
    similarities = row[start:stop]
    # Whole numbers in the order of the floats: their maximum is found by vector instructions.
    largest = order_of(similarities[0])
    for i in range(similarities.size):
        largest = max(largest, order_of(similarities[i]))
    limit, nearest = float_in_order(largest), similarities.size
    for i in range(similarities.size):
        nearest = min(nearest, i if similarities[i] == limit else similarities.size)
    shift(support, ledger, start + nearest % similarities.size, weight)  # the first, if there are no numbers
