"""A support set between memory, files and more room: its arrays by name, checked on the way back in, and growth.

Compiled code trusts its arrays: no index is checked there. So whatever comes from a file is checked here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.core.geometry.points import Points
from lopsided.core.pairwise.support import NEXT, SCALE, SIZE, START, USED, Support, empty_support
from lopsided.estimators.state.arrays import in_range, taken
from lopsided.estimators.state.points import moved_points

# The Gram matrix of an unbounded learner may take so many bytes before it refuses to grow.
LARGEST_GRAM = 4 * 2**30


def restored_support(
    arrays: Mapping[str, npt.NDArray[Any]], rooms: tuple[int, int] | None, experts: int | None = None
) -> Support:
    """The support set of a file: of these rooms, or (unbounded) of its own; stacked if there are several experts."""
    stack = () if experts is None else (experts,)
    tally = taken(arrays, "support.tally", np.int64, (*stack, 6, 2))
    sizes = tally[..., SIZE, :]
    if rooms is None:
        in_range("support.tally", sizes, 0, 2**31)
        rooms = tuple(sizes.reshape(-1, 2)[0].tolist())
    slots = sum(rooms)
    support = Support(
        taken(arrays, "support.weights", np.float64, (*stack, slots)),
        taken(arrays, "support.scores", np.float64, (*stack, slots)),
        taken(arrays, "support.gram", np.float64, (*stack, slots + 1, slots)),
        taken(arrays, "support.levels", np.float64, (*stack, 2)),
        tally,
    )
    in_range("support.tally", sizes, rooms, rooms)
    in_range("support.tally", tally[..., START, :], (0, rooms[0]), (0, rooms[0]))
    in_range("support.tally", tally[..., USED, :], 0, rooms)
    in_range("support.tally", tally[..., USED + 1 :, :], 0, 2**62)
    in_range("support.tally", tally[..., NEXT, :], 0, np.maximum(np.array(rooms) - 1, 0))
    in_range("support.levels", support.levels[..., SCALE], 1e-101, 1.0)
    return support


def occupied_slots(support: Support) -> npt.NDArray[np.int64]:
    """The slots in use: positives by slot, then negatives."""
    tally = support.tally
    return np.concatenate([tally[START, room] + np.arange(tally[USED, room]) for room in range(2)])


def true_weights(support: Support) -> Floats:
    """The weights of all slots, the global scale included."""
    return np.asarray(support.levels[SCALE] * support.weights)


def doubled_rooms(sizes: npt.NDArray[np.int64], used: npt.NDArray[np.int64]) -> tuple[int, int]:
    """Twice the size for each room that is full."""
    return int(sizes[0]) << int(sizes[0] == used[0]), int(sizes[1]) << int(sizes[1] == used[1])


def grown_support(support: Support, rooms: tuple[int, int], owner: str, experts: int = 1) -> Support:
    """The same support set with larger rooms; the negatives move behind the longer row of positives."""
    if 8 * experts * sum(rooms) ** 2 > LARGEST_GRAM:
        raise MemoryError(
            f"{owner}(policy='unbounded') must keep its Gram matrices within {LARGEST_GRAM // 2**30} GiB. "
            f"Got {int(support.tally[USED].sum())} support vectors; use policy='reservoir' or 'fifo' with a budget."
        )
    larger = empty_support(rooms)
    slots = _new_slots(support, rooms)
    occupied = np.flatnonzero(slots >= 0)
    target = slots[occupied]
    larger.weights[target] = support.weights[occupied]
    larger.scores[target] = support.scores[occupied]
    larger.gram[np.ix_(target, target)] = support.gram[np.ix_(occupied, occupied)]
    larger.levels[:] = support.levels
    larger.tally[USED:] = support.tally[USED:]
    return larger


def grown_points(points: Points, support: Support, rooms: tuple[int, int]) -> Points:
    """The points of a support set (before it grew) moved to the slots of larger rooms."""
    slots = _new_slots(support, rooms)
    occupied = np.flatnonzero(slots >= 0)
    return moved_points(points, occupied, slots[occupied], sum(rooms))


def _new_slots(support: Support, rooms: tuple[int, int]) -> npt.NDArray[np.int64]:
    """For each slot its number in larger rooms, or -1 if it is empty."""
    slots = np.full(support.weights.size, -1, dtype=np.int64)
    for room in range(2):
        start, used = int(support.tally[START, room]), int(support.tally[USED, room])
        slots[start : start + used] = (0 if room == 0 else rooms[0]) + np.arange(used)
    return slots


def signs_of_rooms(tally: Integers) -> Floats:
    """The classes of the vectors in use: positives and negatives have rooms of their own, one behind the other."""
    return np.repeat([1.0, -1.0], tally[USED])
