"""Experts with support sets and points of their own, stacked in arrays with one leading axis, and their files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.aligned import aligned_zeros
from lopsided.core.geometry.kernels import Kernels
from lopsided.core.geometry.points import Points, Rows
from lopsided.core.geometry.shared_points import SharedPoints
from lopsided.core.pairwise.support import Support
from lopsided.estimators.state.arrays import ModelFileError
from lopsided.estimators.state.points import moved_points, restored_points, wide_enough
from lopsided.estimators.state.shared_points import restored_shared_points
from lopsided.estimators.state.support import grown_points, grown_support, occupied_slots

_Arrays = TypeVar("_Arrays", Support, Points)


def experts_of(stack: Support) -> list[Support]:
    """The support set of each expert, as views."""
    return [Support(*(array[index] for array in stack)) for index in range(stack.weights.shape[0])]


def points_of_experts(stack: Points) -> list[Points]:
    """The points of each expert, as views; the scratch is one for all."""
    one_scratch = stack._replace(lookup=np.broadcast_to(stack.lookup, (stack.marks.shape[0], stack.lookup.size)))
    return [Points(*(array[index] for array in one_scratch)) for index in range(stack.marks.shape[0])]


def stacked(experts: list[Support]) -> Support:
    """Support sets of the same rooms in arrays with one leading axis."""
    return Support(*_stacked_arrays(experts))


def stacked_points(experts: list[Points]) -> Points:
    """Points of the same capacity in arrays with one leading axis."""
    width, columns = max(own.features.shape[1] for own in experts), np.arange(experts[0].squared_norms.size)
    as_wide = [
        own if own.features.shape[1] == width else moved_points(own, columns, columns, columns.size, width)
        for own in experts
    ]
    return Points(*_stacked_arrays(as_wide))._replace(lookup=experts[0].lookup)


def _stacked_arrays(experts: list[_Arrays]) -> list[npt.NDArray[Any]]:
    stacks = []
    for arrays in zip(*experts, strict=True):
        if arrays[0].dtype == np.float64:
            stacks.append(aligned_zeros(len(arrays), *arrays[0].shape))
            np.stack(arrays, out=stacks[-1])
        else:
            stacks.append(np.stack(arrays))
    return stacks


def grown_experts(stack: Support, points: Points, rooms: tuple[int, int], owner: str) -> tuple[Support, Points]:
    """The same experts with larger rooms."""
    experts = experts_of(stack)
    larger = [grown_support(one, rooms, owner, experts=len(experts)) for one in experts]
    moved = [grown_points(own, one, rooms) for own, one in zip(points_of_experts(points), experts, strict=True)]
    return stacked(larger), stacked_points(moved)


def all_wide_enough(points: Points, rows: Rows) -> Points:
    """The same points of all experts, able to take these rows."""
    experts = points_of_experts(points)
    wider = [wide_enough(own, rows) for own in experts]
    return points if wider[0] is experts[0] else stacked_points(wider)


def restored_expert_points(
    arrays: Mapping[str, npt.NDArray[Any]], stack: Support, n_features: int, n_seen: int
) -> Points:
    """The points of a file whose experts have these support sets and have seen so many rows."""
    m, slots = stack.weights.shape
    own = {name: array for name, array in arrays.items() if name.startswith("points.")}
    for name, array in own.items():
        if array.ndim == 0 or array.shape[0] != m:
            raise ModelFileError(
                f"The array '{name}' of the model file must have a part for each of {m} kernels. "
                f"Got shape {array.shape}: the file is damaged."
            )
    parts = [{name: array[index] for name, array in own.items()} for index in range(m)]
    return stacked_points([restored_points(part, n_features, slots, n_seen) for part in parts])


def points_once_shared(
    arrays: Mapping[str, npt.NDArray[Any]], stack: Support, kernels: Kernels, n_features: int, n_seen: int
) -> Points:
    """The same from a file of 0.1.0, in which a point that several experts hold is stored once for all of them."""
    m, slots = stack.weights.shape
    in_use = [occupied_slots(one) for one in experts_of(stack)]
    nothing: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)
    pool = restored_shared_points(arrays, SharedPoints(*kernels, *(nothing,) * 4), in_use, m * slots)
    points = restored_points(arrays, n_features, m * slots, n_seen)
    return stacked_points(
        [moved_points(points, pool.columns[index, used], used, slots) for index, used in enumerate(in_use)]
    )
