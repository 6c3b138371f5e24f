"""An expansion between memory, files and more room: as `state/support.py` does it for a support set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.core.pointwise.expansion import SCALE, USED, Expansion, empty_expansion
from lopsided.estimators.state.arrays import ModelFileError, in_range, taken


def grown_expansion(expansion: Expansion, capacity: int) -> Expansion:
    """The same expansion with room for so many vectors."""
    larger = empty_expansion(capacity)
    for new, old in zip(larger, expansion, strict=True):
        new[: old.size] = old
    return larger


def members_of(stack: Expansion) -> list[Expansion]:
    """The expansion of each kernel, as views."""
    return [Expansion(*(array[index] for array in stack)) for index in range(stack.weights.shape[0])]


def stacked_expansions(members: list[Expansion]) -> Expansion:
    """Expansions of the same capacity in arrays with one leading axis."""
    return Expansion(*(np.stack(arrays) for arrays in zip(*members, strict=True)))


def restored_expansion(
    arrays: Mapping[str, npt.NDArray[Any]], capacity: int | None, members: int | None = None
) -> Expansion:
    """The expansion of a file: of this capacity, or (growing) of its own; stacked if there are several kernels."""
    stack = () if members is None else (members,)
    order = taken(arrays, "expansion.order", np.int64, (*stack, capacity))
    capacity = order.shape[-1]
    expansion = Expansion(
        weights=taken(arrays, "expansion.weights", np.float64, (*stack, capacity)),
        moments=taken(arrays, "expansion.moments", np.float64, (*stack, capacity)),
        self_similarities=taken(
            arrays, "expansion.self_similarities", np.float64, (*stack, capacity), formerly="expansion.itselves"
        ),
        signs=taken(arrays, "expansion.signs", np.float64, (*stack, capacity)),
        order=order,
        levels=taken(arrays, "expansion.levels", np.float64, (*stack, 2)),
        tally=taken(arrays, "expansion.tally", np.int64, (*stack, 6)),
    )
    in_range("expansion.tally", expansion.tally, 0, 2**62)
    in_range("expansion.tally", expansion.tally[..., USED], 0, capacity)
    for one in [expansion] if members is None else members_of(expansion):
        used = int(one.tally[USED])
        if not np.array_equal(np.sort(one.order[:used]), np.arange(used)) or one.levels[SCALE] == 0.0:
            raise ModelFileError(
                "The arrays 'expansion.*' of the model file must number their vectors from 0 without gaps. "
                "Got a contradiction: the file is damaged."
            )
    return expansion
