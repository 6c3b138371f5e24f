"""A support set between memory, files and more room: its arrays by name, checked on the way back in, and growth.

Compiled code trusts its arrays: no index is checked there. So whatever comes from a file is checked here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lopsided.core.compiled import Floats
from lopsided.core.points import Points, empty_points
from lopsided.core.support import NEXT, SCALE, SIZE, START, USED, Support, empty_support

# The Gram matrix of an unbounded learner may take so many bytes before it refuses to grow.
LARGEST_GRAM = 4 * 2**30


class ModelFileError(ValueError):
    """A model file cannot be read."""


def named_arrays(**parts: NamedTuple) -> dict[str, npt.NDArray[Any]]:
    """All arrays of named tuples, as `part.field`."""
    return {f"{part}.{field}": array for part, fields in parts.items() for field, array in fields._asdict().items()}


def taken(arrays: Mapping[str, npt.NDArray[Any]], name: str, dtype: Any, shape: tuple[int | None, ...]) -> Any:
    """One array of a file, if it has this type and shape (None: any length)."""
    array = arrays.get(name)
    if array is None:
        raise ModelFileError(f"The model file must hold an array '{name}'. Got none of that name: the file is damaged.")
    fits = array.ndim == len(shape) and all(s is None or s == n for s, n in zip(shape, array.shape, strict=True))
    if array.dtype != np.dtype(dtype) or not fits:
        raise ModelFileError(
            f"The array '{name}' of the model file must be {np.dtype(dtype).name} of shape {shape}. "
            f"Got {array.dtype.name} of shape {array.shape}: the file is damaged."
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ModelFileError(
            f"The array '{name}' of the model file must be finite. Got NaN or infinity: the file is damaged."
        )
    return np.require(array, requirements=["C", "A", "W"])


def in_range(name: str, values: Any, low: Any, high: Any) -> None:
    """Refuse whole numbers outside of low..high: compiled code would use them as positions."""
    if (np.asarray(values) < low).any() or (np.asarray(values) > high).any():
        raise ModelFileError(
            f"The array '{name}' of the model file must lie between {np.min(low)} and {np.max(high)}. "
            f"Got {np.asarray(values).tolist()}: the file is damaged."
        )


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


def restored_points(arrays: Mapping[str, npt.NDArray[Any]], n_features: int, capacity: int) -> Points:
    """The support points of a file."""
    features = taken(arrays, "points.features", np.int32, (capacity, None))
    points = Points(
        taken(arrays, "points.values", np.float64, (n_features, capacity)),
        taken(arrays, "points.squared_norms", np.float64, (capacity,)),
        features,
        taken(arrays, "points.n_features", np.int64, (capacity,)),
    )
    in_range("points.features", features, 0, max(n_features - 1, 0))
    in_range("points.n_features", points.n_features, -1, features.shape[1])
    return points


def wider(points: Points, widest: int) -> Points:
    """The same points, able to note sparse rows of so many non-zeros."""
    capacity, width = points.features.shape
    if widest <= width:
        return points
    features = np.zeros((capacity, max(widest, 2 * width)), dtype=np.int32)
    features[:, :width] = points.features
    return points._replace(features=features)


def more_columns(points: Points, capacity: int) -> Points:
    """The same points with free columns behind them."""
    n_features, before = points.values.shape
    larger = empty_points(n_features, capacity, points.features.shape[1])
    larger.values[:, :before] = points.values
    larger.squared_norms[:before] = points.squared_norms
    larger.features[:before] = points.features
    larger.n_features[:before] = points.n_features
    return larger


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
    larger = empty_points(points.values.shape[0], sum(rooms), points.features.shape[1])
    slots = _new_slots(support, rooms)
    occupied = np.flatnonzero(slots >= 0)
    target = slots[occupied]
    larger.values[:, target] = points.values[:, occupied]
    larger.squared_norms[target] = points.squared_norms[occupied]
    larger.features[target] = points.features[occupied]
    larger.n_features[target] = points.n_features[occupied]
    return larger


def _new_slots(support: Support, rooms: tuple[int, int]) -> npt.NDArray[np.int64]:
    """For each slot its number in larger rooms, or -1 if it is empty."""
    slots = np.full(support.weights.size, -1, dtype=np.int64)
    for room in range(2):
        start, used = int(support.tally[START, room]), int(support.tally[USED, room])
        slots[start : start + used] = (0 if room == 0 else rooms[0]) + np.arange(used)
    return slots
