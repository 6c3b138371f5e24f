"""The second question: who leaves?"""

from __future__ import annotations

from lopsided.core.arithmetic.compiled import compiled
from lopsided.core.arithmetic.draws import Draws, draw_index
from lopsided.core.pairwise.admission import RESERVOIR
from lopsided.core.pairwise.support import NEXT, SIZE, START, Support


@compiled
def evicted(policy: int, support: Support, room: int, draws: Draws) -> int:
    """The slot of a full room that makes place: a uniform one (reservoir) or the oldest (fifo)."""
    start, size = support.tally[START, room], support.tally[SIZE, room]
    if policy == RESERVOIR:
        return start + draw_index(draws, size)
    oldest = support.tally[NEXT, room]
    support.tally[NEXT, room] = (oldest + 1) % size
    return start + oldest
