"""A support set of vectors whose weights are known: those that stay are put in, the others give their weights away."""

from __future__ import annotations

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.geometry.kernels import Kernel, self_similarity
from lopsided.core.geometry.points import Points, Rows, set_clock, squared_norm, store
from lopsided.core.pairwise.koil import Workspace, fill_row
from lopsided.core.pairwise.repair import give_to_nearest
from lopsided.core.pairwise.support import START, USED, Support, put, settle, value


@compiled
def reinsert_pairwise(
    support: Support,
    points: Points,
    kernel: Kernel,
    rows: Rows,
    rooms: Integers,
    weights: Floats,
    numbers: Integers,
    n_kept: int,
    work: Workspace,
) -> None:
    """The first `n_kept` rows into free slots of their rooms; the weight of each other row to its nearest there."""
    for t in range(weights.size):
        room, norm = rooms[t], squared_norm(rows, t)
        fill_row(support, points, kernel, rows, t, norm, work)
        if t < n_kept:
            slot = support.tally[START, room] + support.tally[USED, room]
            score = value(support, work.row)
            support.tally[USED, room] += 1
            put(support, work.ledger, slot, work.row, self_similarity(kernel, norm), score, weights[t])
            set_clock(points, numbers[t])
            store(points, slot, rows, t, norm)
        else:
            give_to_nearest(support, work.ledger, room, work.row, weights[t])
        settle(support, work.ledger)
