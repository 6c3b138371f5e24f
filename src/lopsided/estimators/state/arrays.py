"""The arrays of a model by name, and checked on the way back in.

Compiled code trusts its arrays: no index is checked there. So whatever comes from a file is checked here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

Part = TypeVar("Part", bound=NamedTuple)


MAY_BE_MISSING = ("rows", "first_rows")  # fields that hold rows as they came, with NaN for what is not known


class ModelFileError(ValueError):
    """A model file cannot be read."""


def named_arrays(**parts: NamedTuple) -> dict[str, npt.NDArray[Any]]:
    """All arrays of named tuples, as `part.field`; of those inside of them too."""
    arrays: dict[str, npt.NDArray[Any]] = {}
    for part, fields in parts.items():
        for field, value in fields._asdict().items():
            inside = isinstance(value, tuple)
            arrays |= named_arrays(**{f"{part}.{field}": value}) if inside else {f"{part}.{field}": value}
    return arrays


def taken(
    arrays: Mapping[str, npt.NDArray[Any]],
    name: str,
    dtype: Any,
    shape: tuple[int | None, ...],
    *,
    formerly: str = "",
) -> Any:
    """One array of a file, if it has this type and shape (None: any length); older files may call it `formerly`."""
    array = arrays.get(name, arrays.get(formerly))
    if array is None:
        raise ModelFileError(f"The model file must hold an array '{name}'. Got none of that name: the file is damaged.")
    fits = array.ndim == len(shape) and all(s is None or s == n for s, n in zip(shape, array.shape, strict=True))
    if array.dtype != np.dtype(dtype) or not fits:
        raise ModelFileError(
            f"The array '{name}' of the model file must be {np.dtype(dtype).name} of shape {shape}. "
            f"Got {array.dtype.name} of shape {array.shape}: the file is damaged."
        )
    if not is_sound(name, array):
        raise ModelFileError(
            f"The array '{name}' of the model file must be finite. Got NaN or infinity: the file is damaged."
        )
    return np.require(array, requirements=["C", "A", "W"])


def is_sound(name: str, array: npt.NDArray[Any]) -> bool:
    """Whether an array of this name may stand in a file: all numbers finite, but for values that are not known."""
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return True
    return name.rpartition(".")[2] in MAY_BE_MISSING and not np.isinf(array).any()


def refilled(arrays: Mapping[str, npt.NDArray[Any]], part: str, empty: Part) -> Part:
    """A named tuple with the arrays `part.field` of a file, if they have the types and shapes of the empty one's."""
    found: dict[str, Any] = {}
    for field, like in empty._asdict().items():
        name = f"{part}.{field}"
        if isinstance(like, tuple):
            found[field] = refilled(arrays, name, like)  # type: ignore[type-var]
        else:
            found[field] = taken(arrays, name, like.dtype, like.shape)
    return empty._replace(**found)


def in_range(name: str, values: Any, low: Any, high: Any) -> None:
    """Refuse whole numbers outside of low..high: compiled code would use them as positions."""
    if (np.asarray(values) < low).any() or (np.asarray(values) > high).any():
        raise ModelFileError(
            f"The array '{name}' of the model file must lie between {np.min(low)} and {np.max(high)}. "
            f"Got {np.asarray(values).tolist()}: the file is damaged."
        )
