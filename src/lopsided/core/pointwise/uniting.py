"""An expansion from vectors whose weights are known, in the order in which they are to be let in."""

from __future__ import annotations

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.arithmetic.limits import NOT_STORED
from lopsided.core.geometry.kernels import Kernel, self_similarity
from lopsided.core.geometry.points import Points, Rows, set_clock, squared_norm, store
from lopsided.core.pointwise.budget import Budget, put_newcomer
from lopsided.core.pointwise.expansion import SCALE, USED, Expansion, append
from lopsided.core.pointwise.online_kernel import BlockProducts, RowScratch, fill_scratch_row
from lopsided.core.pointwise.projectron import border, look, spread


@compiled
def reinsert_pointwise(
    expansion: Expansion,
    factor: Floats,
    points: Points,
    kernel: Kernel,
    budget: Budget,
    tolerance: float,
    rows: Rows,
    weights: Floats,
    moments: Floats,
    signs: Floats,
    numbers: Integers,
    n_let_in: int,
    work: RowScratch,
    nothing_ahead: BlockProducts,
) -> None:
    """Let the first vectors in one after the other; of a full expansion the one that does least damage makes place.

    With a `factor`, of a Projectron, a vector that finds no place is projected on those that are there. Those after the
    first `n_let_in` are not let in: each gives its weight to the most similar one that is there.
    """
    for t in range(weights.size):
        norm, used = squared_norm(rows, t), expansion.tally[USED]
        itself = self_similarity(kernel, norm)
        fill_scratch_row(used, points, kernel, rows, t, norm, nothing_ahead, work)
        if t >= n_let_in:
            _give_to_most_similar(expansion, work.row, weights[t], moments[t])
            continue
        is_full = budget.size > 0 and used == budget.size
        if factor.size:
            slot = _project(expansion, factor, is_full, tolerance, work, itself, weights[t], signs[t])
        else:
            slot = put_newcomer(expansion, budget, is_full, work.row, itself, weights[t], signs[t], 0.0, 1.0, 0.0)
        if slot != NOT_STORED:
            expansion.moments[slot] = moments[t]
            set_clock(points, numbers[t])
            store(points, slot, rows, t, norm)


@compiled
def _give_to_most_similar(expansion: Expansion, row: Floats, weight: float, moment: float) -> None:
    """As KOIL does with what is left over; of either class, since only the function counts here."""
    nearest = 0
    for i in range(1, expansion.tally[USED]):
        if row[i] > row[nearest]:
            nearest = i
    if expansion.tally[USED] > 0:
        expansion.weights[nearest] += weight / expansion.levels[SCALE]
        expansion.moments[nearest] += moment


@compiled
def _project(
    expansion: Expansion,
    factor: Floats,
    is_full: bool,
    tolerance: float,
    work: RowScratch,
    itself: float,
    weight: float,
    y: float,
) -> int:
    n = expansion.tally[USED]
    _, distance = look(factor, n, work.row, itself, work.projection)
    if is_full or (n > 0 and distance <= tolerance * itself):
        spread(expansion, factor, work.projection, weight)
    elif itself > 0.0 and distance > 0.0:
        border(factor, work.projection, n, distance)
        append(expansion, n, weight, itself, y)
        return n
    return NOT_STORED
