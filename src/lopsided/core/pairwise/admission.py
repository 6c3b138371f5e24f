"""The first question: is the newcomer let in?"""

from __future__ import annotations

from lopsided.core.arithmetic.compiled import compiled
from lopsided.core.arithmetic.draws import Draws, draw

# Policies, shared by admission and eviction.
RESERVOIR, FIFO, UNBOUNDED = range(3)


@compiled
def admitted(policy: int, budget: int, seen: int, draws: Draws) -> bool:
    """Whether a full room opens for the newcomer: a reservoir with probability budget / seen, the others always."""
    if policy == RESERVOIR:
        return draw(draws) < budget / seen
    return True
