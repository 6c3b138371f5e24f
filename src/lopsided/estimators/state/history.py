"""A history as arrays of a file: only the slots that are in use, each with its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.core.history.table import WAYS, HistoryState
from lopsided.estimators.state.arrays import ModelFileError, in_range, taken

_BY_SLOT = ("keys", "seen", "labelled", "sums", "risks")
_BY_PLACE = ("pair_marks", "pair_seen")
_WHOLE = ("clocks", "tally", "amounts", "missing")


def history_arrays(state: HistoryState) -> dict[str, npt.NDArray[Any]]:
    """Everything that is remembered."""
    slots, places = np.flatnonzero(state.keys), np.flatnonzero(state.pair_marks)
    arrays: dict[str, npt.NDArray[Any]] = {"history.slots": slots, "history.places": places}
    arrays |= {f"history.{name}": getattr(state, name)[slots] for name in _BY_SLOT}
    arrays |= {f"history.{name}": getattr(state, name)[places] for name in _BY_PLACE}
    return arrays | {f"history.{name}": getattr(state, name) for name in _WHOLE}


def restored_history(arrays: Mapping[str, npt.NDArray[Any]], state: HistoryState) -> None:
    """Write what a file holds into an empty history, if it fits."""
    for rows, names in (("slots", _BY_SLOT), ("places", _BY_PLACE)):
        room = getattr(state, names[0]).size
        used = taken(arrays, f"history.{rows}", np.int64, (None,))
        in_range(f"history.{rows}", used, 0, max(room - 1, 0))
        if (np.diff(used) <= 0).any() or used.size > room:
            raise _damaged(rows, "be different places in order")
        for name in names:
            like = getattr(state, name)
            like[used] = taken(arrays, f"history.{name}", like.dtype, (used.size, *like.shape[1:]))
    slots = np.flatnonzero(state.keys)
    sets = state.keys.size // WAYS
    if (state.keys[slots] % np.uint64(sets) != (slots // WAYS).astype(np.uint64)).any():
        raise _damaged("keys", "stand in their sets")
    for name in _WHOLE:
        like = getattr(state, name)
        like[...] = taken(arrays, f"history.{name}", like.dtype, like.shape)
    in_range("history.tally", state.tally, 0, 2**62)
    in_range("history.missing", state.missing, 0, 2**62)


def _damaged(name: str, rule: str) -> ModelFileError:
    return ModelFileError(
        f"The array 'history.{name}' of the model file must {rule}. Got something else: the file is damaged."
    )
