"""Numbers of many rows at once: by far the most common cells, and nothing about them needs looking at one by one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from lopsided.constraints import LARGEST_FEATURE

Floats = npt.NDArray[np.float64]


class PlainNumbers(NamedTuple):
    """Columns of plain numbers, and where they and the flags of missing ones go; and all other places."""

    names: list[str]
    columns: list[int]
    flagged: list[int]
    flags: list[int]
    others: list[Any]

    @classmethod
    def of(cls, places: list[Any]) -> Self:
        """Of all places of an encoder."""
        plain = [place for place in places if place.is_plain_number]
        flags = [(at, place.missing) for at, place in enumerate(plain) if place.missing is not None]
        return cls(
            [place.column.name for place in plain],
            [place.columns.start for place in plain],
            [at for at, _ in flags],
            [flag for _, flag in flags],
            [place for place in places if not place.is_plain_number],
        )

    @staticmethod
    def in_one_block(places: list[Any]) -> list[str]:
        """The names of numbers that are the first places and stand side by side from the first feature on."""
        names: list[str] = []
        for place in places:
            if not place.is_number or place.columns.start != len(names):
                break
            names.append(place.column.name)
        return names


_PLAIN = {float, int, type(None)}
_FLOATS = {float}


def numbers_in(rows: Sequence[Mapping[str, Any]], names: list[str]) -> Floats | None:
    """These columns of all rows, NaN where there is nothing; None if not all of them are numbers of a sane size."""
    found = [row.get(name) for row in rows for name in names]
    if not set(map(type, found)) <= _PLAIN:
        return None
    try:
        numbers = np.array(found, dtype=np.float64).reshape(len(rows), len(names))
    except OverflowError:
        return None
    return None if (np.abs(numbers) > LARGEST_FEATURE).any() else numbers


def floats_in(row: Mapping[str, Any], names: list[str]) -> list[float] | None:
    """These cells of one row; None if there are no names, or if not all are floats of a sane size."""
    found: list[Any] = list(map(row.get, names))
    if set(map(type, found)) != _FLOATS:
        return None
    # One call for all of them: not above it are only numbers of which none is.
    return found if math.hypot(*found) <= LARGEST_FEATURE else None
