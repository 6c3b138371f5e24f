"""Support sets and expansions made anew from united vectors, and points that several kernels share."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.core.geometry.kernels import Kernel, Kernels
from lopsided.core.geometry.points import Points, empty_points
from lopsided.core.geometry.shared_points import NO_COLUMN, SharedPoints, fill_columns
from lopsided.core.pairwise.admission import FIFO, UNBOUNDED
from lopsided.core.pairwise.koil import empty_workspace
from lopsided.core.pairwise.support import (
    LARGEST_SELF_SIMILARITY,
    NEXT,
    SEEN,
    SIZE,
    START,
    SUPPORT_DIVERGED,
    USED,
    Support,
    empty_support,
)
from lopsided.core.pairwise.uniting import reinsert_pairwise
from lopsided.core.pointwise.budget import Budget
from lopsided.core.pointwise.expansion import SPENT, Expansion, empty_expansion
from lopsided.core.pointwise.expansion import USED as VECTORS
from lopsided.core.pointwise.online_kernel import empty_row_scratch
from lopsided.core.pointwise.uniting import reinsert_pointwise
from lopsided.estimators.base import validation
from lopsided.estimators.kernel.dense_blocks import NO_PRODUCTS
from lopsided.estimators.kernel.uniting import Kept, joined, kept, sampled_by_mass, staying_first, vector_key
from lopsided.estimators.state.points import numbers_of, vectors_at, wide_enough
from lopsided.estimators.state.support import grown_support, true_weights

# -------------------------------------------------------------------- pairs


def kept_in_rooms(support: Support, points: Points, columns: Integers, signs: Floats) -> Kept:
    """The vectors of a support set, room by room; `columns` and `signs` are those of all slots."""
    parts = []
    for room in range(2):
        start, used = int(support.tally[START, room]), int(support.tally[USED, room])
        # Of a full ring the next one to go is the oldest; a reservoir has no order.
        slots = start + (int(support.tally[NEXT, room]) + np.arange(used)) % max(used, 1)
        own = columns[slots]
        weights, seen = true_weights(support)[slots], float(support.tally[SEEN, room])
        parts.append(kept(vectors_at(points, own), weights, signs[slots], numbers_of(points)[own], seen=seen))
    return joined(parts)


def support_of(
    both: Kept,
    rooms: Integers,
    sizes: tuple[int, int],
    *,
    policy: int,
    kernel: Kernel,
    n_features: int,
    uniforms: Floats,
    owner: str,
    experts: int = 1,
    dtype: Any = np.float64,
) -> tuple[Support, Points, Kept]:
    """A support set of these vectors, those that fit; and what was put into it, in the order of each room's slots."""
    stays = np.ones(both.size, dtype=np.bool_)
    for room, size in enumerate(sizes):
        members = np.flatnonzero(rooms == room)
        if policy != UNBOUNDED and members.size > size:
            by_age = np.arange(members.size) >= members.size - size
            stays[members] = (
                by_age if policy == FIFO else sampled_by_mass(both.masses[members], size, uniforms[members])
            )
    n_kept, rooms = int(np.count_nonzero(stays)), rooms[np.argsort(~stays, kind="stable")]
    both = staying_first(both, stays)
    if policy == UNBOUNDED:
        held = [int(np.count_nonzero(rooms == room)) for room in range(2)]
        sizes = _enough(sizes[0], held[0]), _enough(sizes[1], held[1])
    support = grown_support(empty_support((0, 0)), sizes, owner, experts)
    rows = validation.as_rows(both.vectors)
    points = wide_enough(empty_points(n_features, sum(sizes), dtype=dtype), rows)
    work = empty_workspace(sum(sizes), 1)
    reinsert_pairwise(support, points, kernel, rows, rooms, both.weights, both.numbers, n_kept, work)
    return support, points, both.chosen(np.arange(n_kept))


def _enough(size: int, needed: int) -> int:
    while size < needed:
        size *= 2
    return size


def add_tallies(support: Support, supports: list[Support]) -> None:
    """Count what all of them have seen."""
    for entry in (SEEN, SUPPORT_DIVERGED):
        support.tally[entry] = sum(one.tally[entry] for one in supports)
    support.levels[LARGEST_SELF_SIMILARITY] = max(one.levels[LARGEST_SELF_SIMILARITY] for one in supports)


def sizes_of(support: Support) -> tuple[int, int]:
    """How many slots each room has."""
    return int(support.tally[SIZE, 0]), int(support.tally[SIZE, 1])


# -------------------------------------------------------------------- single examples


def expansion_of(
    both: Kept,
    n_let_in: int,
    budget: Budget,
    capacity: int,
    *,
    kernel: Kernel,
    n_features: int,
    factor: Floats | None = None,
    tolerance: float = 0.0,
) -> tuple[Expansion, Points]:
    """An expansion of the first of these vectors, with room for so many; the others give their weights to them."""
    expansion, rows = empty_expansion(capacity), validation.as_rows(both.vectors)
    points = wide_enough(empty_points(n_features, capacity), rows)
    work = empty_row_scratch(capacity, n_features)
    factor = np.zeros((0, 0)) if factor is None else factor
    model = (expansion, factor, points, kernel, budget, float(tolerance))
    vectors = (rows, both.weights, both.moments, both.signs, both.numbers, n_let_in)
    reinsert_pointwise(*model, *vectors, work, NO_PRODUCTS)
    return expansion, points


def add_steps(expansion: Expansion, expansions: list[Expansion]) -> None:
    """Count the steps of all of them, and the damage that they have done."""
    used = int(expansion.tally[VECTORS])
    expansion.tally[:] = sum(one.tally for one in expansions)
    expansion.tally[VECTORS] = used
    expansion.levels[SPENT] = sum(one.levels[SPENT] for one in expansions)


# -------------------------------------------------------------------- points of several kernels


def kernel_at(kernels: Kernels | SharedPoints, index: int) -> Kernel:
    """One kernel of a pool."""
    return Kernel(kernels.atoms[kernels.bounds[index] : kernels.bounds[index + 1]], bool(kernels.normalized[index]))


def pooled(
    shared: SharedPoints, held: list[tuple[Points, Integers]], slots: int, capacity: int, n_features: int
) -> tuple[SharedPoints, Points]:
    """The points of several kernels, each vector stored once: `held` has each kernel's own points and slots in use."""
    columns = np.full((len(held), slots), NO_COLUMN, dtype=np.int64)
    holders = np.zeros(capacity, dtype=np.int64)
    column_of: dict[Any, int] = {}
    first_places: list[tuple[int, int]] = []
    vectors = [vectors_at(points, used) for points, used in held]
    for index, (_, used) in enumerate(held):
        for place, slot in enumerate(used.tolist()):
            column = column_of.setdefault(vector_key(vectors[index], place), len(column_of))
            if column == len(first_places):
                first_places.append((index, place))
            columns[index, slot] = column
            holders[column] += 1
    points = empty_points(n_features, capacity)
    n = len(column_of)
    if n:
        nothing = [np.zeros(used.size) for _, used in held]
        numbers = [numbers_of(own)[used] for own, used in held]
        parts = list(map(kept, vectors, nothing, nothing, numbers))
        starts = np.cumsum([0, *(part.size for part in parts)])
        every = joined(parts).chosen(np.array([starts[index] + place for index, place in first_places]))
        rows = validation.as_rows(every.vectors)
        points = wide_enough(points, rows)
        fill_columns(points, rows, every.numbers)
    free = np.zeros(capacity, dtype=np.int64)
    free[: capacity - n] = np.arange(capacity - 1, n - 1, -1)
    counts: npt.NDArray[np.int64] = np.array([capacity - n, n], dtype=np.int64)
    return shared._replace(columns=columns, holders=holders, free=free, free_count=counts), points
