"""Where the models of keys are: in memory as many as there is room for, the others on disk or dropped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.core.geometry.points import Rows
from lopsided.core.keyed.table import (
    CLOCK,
    CODE,
    FULL,
    NOT_THERE,
    UNSORTED,
    USED,
    codes_by_age,
    empty_table,
    find,
    larger_table,
    settle,
    sorted_table,
)
from lopsided.estimators.compose.cold_keys import ColdKeys
from lopsided.estimators.compose.keyed_models import KeyedModels
from lopsided.estimators.state.arrays import ModelFileError, in_range, taken

_FIRST_ROOM = 16
# Entries of KeyRoom.tally: models that were dropped, and steps that diverged.
DROPPED, DIVERGED = range(2)


class KnownKeys(NamedTuple):
    """Keys by their codes, and the record of each."""

    codes: Integers
    records: list[bytes]


class KeyRoom:
    """The models of at most `max_keys` keys in memory, which the least recent one leaves: for the disk, or for good.

    Whenever arrays of the models or of the table are replaced, `table` is another object.
    """

    def __init__(self, models: KeyedModels, max_keys: int, spill: str | None) -> None:
        self.models, self._max_keys = models, max_keys
        self._cold = None if spill is None else ColdKeys(spill)
        self.table = empty_table(min(_FIRST_ROOM, max_keys))
        self.models.make_room(len(self.table.entries))
        self.tally: Integers = np.zeros(2, dtype=np.int64)

    def learn(self, codes: Integers, rows: Rows, signs: Floats, weights: Floats, scores: Floats) -> None:
        """Learn rows in order, as many at a time as can have their keys in memory together."""
        slots, born, left = np.empty((3, codes.size), dtype=np.int64)
        stop = 0
        while stop < codes.size:
            start, begun, n_born, why = stop, self.table.marks.item(CLOCK), 0, FULL
            while why in (FULL, UNSORTED):
                may_grow = len(self.table.entries) < self._max_keys
                stop, n_born, why = settle(self.table, codes, stop, begun, may_grow, slots, born, left, n_born)
                if why == FULL:
                    self._grow()
                elif why == UNSORTED:
                    self.table = sorted_table(self.table)
            if n_born:
                self._exchange(born[:n_born], left[:n_born])
            self.tally[DIVERGED] += self.models.learn(slots, rows, signs, weights, scores, start, stop)

    def _grow(self) -> None:
        n_slots = min(2 * len(self.table.entries), self._max_keys)
        self.table = larger_table(self.table, n_slots)
        self.models.make_room(n_slots)

    def _exchange(self, slots: Integers, left: Integers) -> None:
        """Let those who left these slots go, and those who came begin, or go on where they were."""
        gone = left != 0
        if self._cold is None:
            self.tally[DROPPED] += np.count_nonzero(gone)
            self.models.begin(slots)
            return
        if gone.any():
            self._cold.put(left[gone], self.models.frozen(slots[gone]))
        known = self._cold.found(self.table.entries[slots, CODE], take=True)
        is_back = np.zeros(slots.size, dtype=np.bool_)
        is_back[list(known)] = True
        self.models.begin(slots[~is_back])
        if known:
            self.models.thaw(slots[list(known)].tolist(), list(known.values()))

    def score(self, codes: Integers, rows: Rows) -> Floats:
        """Scores by the model of each key, wherever it is. Changes nothing."""
        slots, fetched = np.empty(codes.size, dtype=np.int64), []
        find(self.table, codes, slots)
        if self._cold is not None and len(self._cold):
            missing, place = np.unique(codes[slots == NOT_THERE], return_inverse=True)
            known = self._cold.found(missing, take=False)
            number = np.full(missing.size, NOT_THERE)
            number[list(known)] = NOT_THERE - 1 - np.arange(len(known))
            slots[slots == NOT_THERE] = number[place]
            fetched = list(known.values())
        return self.models.score(slots, fetched, rows)

    @property
    def n_hot(self) -> int:
        """How many keys are in memory."""
        return self.table.marks.item(USED)

    @property
    def n_cold(self) -> int:
        """How many keys are on disk."""
        return 0 if self._cold is None else len(self._cold)

    @property
    def nbytes(self) -> int:
        """What is held in memory."""
        return self.models.nbytes + sum(array.nbytes for array in self.table)

    def known_keys(self) -> tuple[KnownKeys, KnownKeys]:
        """Those in memory from the least recent on, and those on disk by their codes."""
        slots, codes = codes_by_age(self.table)
        cold = (np.zeros(0, dtype=np.int64), []) if self._cold is None else self._cold.everything()
        return KnownKeys(codes, self.models.frozen(slots)), KnownKeys(*cold)

    def take(self, keys: KnownKeys) -> int:
        """Take keys, from the least recent on, into an empty room; those beyond it go to disk, or are dropped.

        Returns how many were dropped.
        """
        n_beyond = max(keys.codes.size - self._max_keys, 0)
        if self._cold is not None:
            self._cold.put(keys.codes[:n_beyond], keys.records[:n_beyond])
        self._take_into_memory(KnownKeys(keys.codes[n_beyond:], keys.records[n_beyond:]))
        return n_beyond if self._cold is None else 0

    def _take_into_memory(self, keys: KnownKeys) -> None:
        while len(self.table.entries) < keys.codes.size:
            self._grow()
        slots, born, left = (np.empty(keys.codes.size, dtype=np.int64) for _ in range(3))
        settle(self.table, keys.codes, 0, 0, False, slots, born, left, 0)
        self.models.thaw(slots.tolist(), keys.records)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All keys with their records."""
        arrays: dict[str, npt.NDArray[Any]] = {"keys.tally": self.tally}
        hot, cold = self.known_keys()
        for name, (codes, records) in {"hot": hot, **({} if self._cold is None else {"cold": cold})}.items():
            arrays[f"{name}.codes"] = codes
            arrays[f"{name}.records"] = np.frombuffer(b"".join(records), dtype=np.uint8)
            arrays[f"{name}.ends"] = np.cumsum([0, *map(len, records)], dtype=np.int64)
        return arrays

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take the keys of a file; nobody is here yet."""
        self.tally = taken(arrays, "keys.tally", np.int64, (2,))
        in_range("keys.tally", self.tally, 0, 2**62)
        hot = _known_keys(arrays, "hot")
        if hot.codes.size > self._max_keys:
            raise ModelFileError(
                f"The model file must hold at most {self._max_keys} keys. Got {hot.codes.size}: the file is damaged."
            )
        self._take_into_memory(hot)
        if self._cold is not None:
            self._cold.put(*_known_keys(arrays, "cold"))


def _known_keys(arrays: Mapping[str, npt.NDArray[Any]], name: str) -> KnownKeys:
    """The codes and records of a file, one for each key."""
    codes = taken(arrays, f"{name}.codes", np.int64, (None,))
    content = taken(arrays, f"{name}.records", np.uint8, (None,)).tobytes()
    ends = taken(arrays, f"{name}.ends", np.int64, (codes.size + 1,))
    if np.unique(codes).size != codes.size or (codes < 1).any():
        raise ModelFileError(
            f"The array '{name}.codes' of the model file must tell keys apart. Got others: the file is damaged."
        )
    if ends[0] != 0 or ends[-1] != len(content) or (np.diff(ends) < 0).any():
        raise ModelFileError(f"The array '{name}.ends' of the model file must be in order. Got others: it is damaged.")
    cuts = zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    return KnownKeys(codes, [content[start:stop] for start, stop in cuts])
