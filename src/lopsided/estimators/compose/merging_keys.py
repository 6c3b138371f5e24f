"""Models for keys as one: every key of any of them, and a key of several by the merge of its models."""

from __future__ import annotations

from typing import Any

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.estimators.base.merging import Merges
from lopsided.estimators.compose.key_room import DROPPED, KeyRoom, KnownKeys

_LONG_AGO = 2**62  # of keys on disk, which left memory before all that are there


class MergesKeys(Merges):
    """A learner with a common learner, a room of keys and perhaps a scaler."""

    def _take_after(self: Any, original: Any) -> None:
        self._common = original._common.empty_like()
        if self.scaler is not None:
            self.scaler_ = original.scaler_._lent()
        self._share_with_parts()
        self._room = self._empty_room()

    def _merge(self: Any, models: list[Any], shares: Floats) -> None:
        if self.prior is not None:
            self._common = models[0]._common._merged([model._common for model in models])
        if self.scaler is not None:
            self.scaler_ = self.scaler_.merged_with([model.scaler_ for model in models[1:]])
        self._share_with_parts()
        self._room = self._empty_room()
        fill_room(self._room, [model._room for model in models])


def fill_room(room: KeyRoom, rooms: list[KeyRoom]) -> None:
    """Put the keys of all rooms into one that is empty; those seen last in any of them stay in memory.

    When a key was seen is told by how many others of its room were seen later, which files keep.
    """
    for one in rooms:
        room.models.check_alike(one.models)
    known = [one.known_keys() for one in rooms]
    codes = np.concatenate([part.codes for hot_and_cold in known for part in hot_and_cold])
    ages = np.concatenate([age for hot, cold in known for age in (_ages(hot.codes.size), _on_disk(cold.codes.size))])
    records = [record for hot_and_cold in known for part in hot_and_cold for record in part.records]
    order = np.argsort(codes, kind="stable")
    distinct, firsts = np.unique(codes[order], return_index=True)
    groups = (
        [[records[place] for place in places.tolist()] for places in np.split(order, firsts[1:])] if order.size else []
    )
    several = [place for place, group in enumerate(groups) if len(group) > 1]
    of_all = [group[0] for group in groups]
    for place, record in zip(several, room.models.merged([groups[place] for place in several]), strict=True):
        of_all[place] = record
    youngest = np.minimum.reduceat(ages[order], firsts) if order.size else ages
    by_age = np.lexsort((distinct, -youngest))  # who was not seen for longest comes first
    n_dropped = room.take(KnownKeys(distinct[by_age], [of_all[place] for place in by_age.tolist()]))
    room.tally[:] = sum(one.tally for one in rooms)
    room.tally[DROPPED] += n_dropped


def _ages(n_keys: int) -> Integers:
    return np.arange(n_keys - 1, -1, -1)


def _on_disk(n_keys: int) -> Integers:
    return np.full(n_keys, _LONG_AGO)
