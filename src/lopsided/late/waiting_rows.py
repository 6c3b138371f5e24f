"""Rows with what the engine knows of them while they wait."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lopsided.late.rows import Floats, Integers, stacked

Key = int | str | float


@dataclass
class WaitingRows:
    """Some rows: features, the raw score each got, its number in the stream, and when its label is due.

    `signs` are +1 or -1 where the label is known already and only arrives later, NaN where nobody knows it; `dues` are
    inf where nothing will happen by itself. `keys` are strings or numbers, None for rows that nobody will ask for.
    `weights` are what rows count when they are learned; None: 1 each.
    """

    X: Any
    scores: Floats
    positions: Integers
    dues: Floats
    signs: Floats
    keys: list[Any] | None = None
    weights: Floats | None = None

    def __len__(self) -> int:
        return int(self.scores.size)

    def part(self, rows: slice | Integers) -> WaitingRows:
        """Some of the rows."""
        keys = self.keys
        if keys is not None:
            keys = keys[rows] if isinstance(rows, slice) else [keys[row] for row in rows.tolist()]
        weights = None if self.weights is None else self.weights[rows]
        return WaitingRows(
            self.X[rows], self.scores[rows], self.positions[rows], self.dues[rows], self.signs[rows], keys, weights
        )

    def all_keys(self) -> list[Any]:
        """The key of each row; None for a row without."""
        return [None] * len(self) if self.keys is None else list(self.keys)

    def all_weights(self) -> Floats:
        """The weight of each row."""
        return np.ones(len(self)) if self.weights is None else self.weights


def joined(parts: Sequence[WaitingRows]) -> WaitingRows:
    """Rows of all parts, one part after the other."""
    first, *others = parts
    for other in others:
        keys = [*first.all_keys(), *other.all_keys()] if first.keys or other.keys else None
        weights = None
        if first.weights is not None or other.weights is not None:
            weights = np.concatenate([first.all_weights(), other.all_weights()])
        first = WaitingRows(
            stacked(first.X, other.X),
            np.concatenate([first.scores, other.scores]),
            np.concatenate([first.positions, other.positions]),
            np.concatenate([first.dues, other.dues]),
            np.concatenate([first.signs, other.signs]),
            keys,
            weights,
        )
    return first
