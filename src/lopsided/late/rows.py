"""Rows that can be added at the end and taken from anywhere: dense ones, and sparse ones."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from lopsided.late.waiting_cells import entries_of, with_cells

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Arrays = dict[str, npt.NDArray[Any]]


class GrowingRows(Protocol):
    """Rows by slot; slots are filled in order, and the owner says which of them are still wanted."""

    def put(self, slot: int, X: Any) -> None:
        """Write rows into the slots from `slot` on, for which there is room."""

    def take(self, slots: Integers) -> Any:
        """Copies of these rows, in this order."""

    def move(self, slots: Integers, room: int) -> None:
        """Keep only these rows, in the slots from 0 on, with room for so many."""


def growing_rows(n_features: int, *, sparse: bool, room: int) -> GrowingRows:
    """An empty place for rows of this kind."""
    return SparseRows(n_features, room) if sparse else DenseRows(n_features, room)


class DenseRows:
    """Rows of a matrix."""

    def __init__(self, n_features: int, room: int) -> None:
        self._matrix = np.empty((room, n_features))

    def put(self, slot: int, X: Floats) -> None:
        """Write rows into the slots from `slot` on."""
        self._matrix[slot : slot + len(X)] = X

    def take(self, slots: Integers) -> Floats:
        """Copies of these rows."""
        return self._matrix[slots]

    def move(self, slots: Integers, room: int) -> None:
        """Keep only these rows."""
        kept = np.empty((room, self._matrix.shape[1]))
        kept[: slots.size] = self._matrix[slots]
        self._matrix = kept


class SparseRows:
    """Rows of a CSR matrix: entries one after the other, and where each row's begin and end."""

    def __init__(self, n_features: int, room: int) -> None:
        self._n_features = n_features
        self._begins: Integers = np.zeros(room, dtype=np.int64)
        self._ends: Integers = np.zeros(room, dtype=np.int64)
        self._features = np.empty(16 * room, dtype=np.int32)
        self._values = np.empty(16 * room)
        self._used = 0

    def put(self, slot: int, X: Any) -> None:
        """Write rows into the slots from `slot` on."""
        end = self._used + X.indices.size
        if end > self._values.size:
            room = max(end, 2 * self._values.size)
            self._features, self._values = np.resize(self._features, room), np.resize(self._values, room)
        self._features[self._used : end], self._values[self._used : end] = X.indices, X.data
        self._begins[slot : slot + X.shape[0]] = self._used + X.indptr[:-1]
        self._ends[slot : slot + X.shape[0]] = self._used + X.indptr[1:]
        self._used = end

    def take(self, slots: Integers) -> Any:
        """Copies of these rows."""
        starts, entries = self._entries_of(slots)
        arrays = (self._values[entries], self._features[entries], starts)
        return sp.csr_array(arrays, shape=(slots.size, self._n_features))

    def move(self, slots: Integers, room: int) -> None:
        """Keep only these rows."""
        starts, entries = self._entries_of(slots)
        used = int(starts[-1])
        features, values = np.empty(max(2 * used, 16), dtype=np.int32), np.empty(max(2 * used, 16))
        features[:used], values[:used] = self._features[entries], self._values[entries]
        self._features, self._values, self._used = features, values, used
        self._begins, self._ends = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64)
        self._begins[: slots.size], self._ends[: slots.size] = starts[:-1], starts[1:]

    def _entries_of(self, slots: Integers) -> tuple[Integers, Integers]:
        """Where rows start when they stand one after the other, and where their entries stand now."""
        lengths = self._ends[slots] - self._begins[slots]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return starts, np.repeat(self._begins[slots] - starts[:-1], lengths) + np.arange(starts[-1])


def stacked(first: Any, second: Any) -> Any:
    """Rows of both, one after the other; dense or sparse, as both are."""
    if sp.issparse(first):
        return sp.vstack([first, second], format="csr")
    return with_cells(np.concatenate([first, second]), [*entries_of(first), *entries_of(second)])
