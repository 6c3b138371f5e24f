"""What a history has counted: rows, keys, what was late, forgotten or missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lopsided.core.history.table import EVICTED, EVICTED_PAIRS, LATE_ROWS, LOST_LABELS, ROWS, HistoryState


class HistoryCounts:
    """The part of a history that others ask what became of rows, keys and labels."""

    keys: Sequence[Any]
    _state: HistoryState

    def _check_started(self) -> None:
        raise NotImplementedError

    def _count(self, entry: int) -> int:
        self._check_started()
        return int(self._state.tally[entry])

    @property
    def n_seen_(self) -> int:
        """Rows remembered so far."""
        return self._count(ROWS)

    @property
    def n_evicted_(self) -> int:
        """Keys that were forgotten for want of room."""
        return self._count(EVICTED)

    @property
    def n_evicted_pairs_(self) -> int:
        """Pairs of keys that were forgotten for want of room."""
        return self._count(EVICTED_PAIRS)

    @property
    def n_late_rows_(self) -> int:
        """Rows whose time was before the latest."""
        return self._count(LATE_ROWS)

    @property
    def n_lost_labels_(self) -> int:
        """Labels that came for keys that had been forgotten."""
        return self._count(LOST_LABELS)

    @property
    def n_keys_(self) -> int:
        """Keys that are remembered."""
        self._check_started()
        return int(np.count_nonzero(self._state.keys))

    @property
    def nbytes_(self) -> int:
        """What it holds, in bytes: the same from the first row on."""
        self._check_started()
        return sum(array.nbytes for array in self._state)

    @property
    def missing_keys_(self) -> dict[Any, tuple[int, int]]:
        """For each key the labels, and the positives among them, of rows in which it was missing."""
        self._check_started()
        pairs: Any = self._state.missing.tolist()
        return {key: (labels, positives) for key, (labels, positives) in zip(self.keys, pairs, strict=True)}
