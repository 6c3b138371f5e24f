"""A drift alarm as bytes: arrays in the safetensors format, and JSON beside them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.constraints import ParameterError
from lopsided.core.measures.binned_values import BinnedValues
from lopsided.drift.scales import Stretch

KEY = "lopsided drift alarm"
_FORMAT = 1
_Arrays = dict[str, npt.NDArray[Any]]


def packed(
    description: dict[str, Any], bins: BinnedValues, starts: npt.NDArray[np.int64], levels: Sequence[list[Stretch]]
) -> bytes:
    """The file of an alarm."""
    from safetensors.numpy import save

    every = [stretch for level in levels for stretch in level]
    arrays: _Arrays = {f"bins.{name}": array for name, array in zip(bins._fields, bins, strict=True)}
    arrays |= {
        "starts": starts,
        "level_sizes": np.array([len(level) for level in levels], dtype=np.int64),
        "begins": np.array([[one.begin, one.phase, one.row] for one in every], dtype=np.int64).reshape(-1, 3),
        "times": np.array([one.time for one in every], dtype=np.float64),
        "totals": np.array([one.totals for one in every]),
        "cells": np.array([one.cells for one in every]),
    }
    words = json.dumps({"format": _FORMAT, **description})
    return save({name: np.ascontiguousarray(array) for name, array in arrays.items()}, metadata={KEY: words})


def unpacked(
    content: bytes, source: str
) -> tuple[dict[str, Any], list[npt.NDArray[Any]], npt.NDArray[np.int64], list[list[Stretch]]]:
    """What `packed` was given."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        arrays = load(content)
        length = int.from_bytes(content[:8], "little")
        description = json.loads(json.loads(content[8 : 8 + length])["__metadata__"][KEY])
        if description["format"] != _FORMAT:
            raise KeyError("format")
        bins = [arrays[f"bins.{name}"].copy() for name in BinnedValues._fields]
        stretches = [
            Stretch(int(begin), int(phase), int(row), float(time), cells, totals)
            for (begin, phase, row), time, cells, totals in zip(
                arrays["begins"], arrays["times"], arrays["cells"], arrays["totals"], strict=True
            )
        ]
        starts, sizes = arrays["starts"].copy(), arrays["level_sizes"].tolist()
    except (SafetensorError, KeyError, ValueError) as error:
        raise ParameterError(
            f"The file {source} must be the state of a drift alarm, which `to_bytes` has given, got another ({error})."
        ) from error
    levels, place = [], 0
    for size in sizes:
        levels.append(stretches[place : place + size])
        place += size
    return description, bins, starts, levels
