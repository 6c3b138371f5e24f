"""Rows worth a second look, and a sample of the latest rows, kept in bounded memory while a stream goes by."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse, vstack

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Cells = Callable[[int], Mapping[str, Any]]

_MOST = 10
_LATEST_POSITIVES, _LATEST_NEGATIVES = 512, 2048
_MOST_NUMBERS = 1 << 20  # in the latest rows of one class together: 8 MB
_FEWEST = 32


class KeptRow(NamedTuple):
    """One row: its number counted from 1, its moment and its identifier if it has any, its score, and its columns."""

    number: int
    time: float | None
    id: Any
    score: float
    cells: dict[str, Any]


class KeptRows:
    """The worst misses, the best catches and the worst false alarms of a stream, and its latest rows of each class.

    Scores are those given before a row was learned. Rows that came before both labels had are left out of the first
    three, because their scores say nothing. Memory: `most` rows of each kind, and the latest 512 positive and 2,048
    negative rows as numbers, fewer if they are wide (16 MB).

    Parameters
    ----------
    most : int, default=10
        How many rows of each kind are kept.
    id_column : str, optional
        The column whose cell names a row.
    apart : columns, optional
        Columns that are not shown among the cells of a row, such as the label.
    """

    def __init__(self, most: int = _MOST, *, id_column: str | None = None, apart: Sequence[str | None] = ()) -> None:
        self.misses: list[KeptRow] = []  # positives with the lowest scores
        self.catches: list[KeptRow] = []  # positives with the highest scores
        self.false_alarms: list[KeptRow] = []  # negatives with the highest scores
        self._most, self._id_column, self._apart = most, id_column, {*apart, id_column}
        self._seen = np.zeros(2, dtype=np.int64)  # negatives, positives
        self._latest_negatives, self._latest_positives = _Latest(_LATEST_NEGATIVES), _Latest(_LATEST_POSITIVES)

    def take(
        self,
        X: Any,
        judged: npt.NDArray[np.int64],
        positive: Flags,
        scores: Floats,
        *,
        before: int,
        times: Any = None,
        cells: Cells | None = None,
    ) -> None:
        """Look at some rows of a stream, an array or CSR matrix.

        `judged` are the places in `X` that `positive` and `scores` speak of, `before` the rows that came before `X`,
        `times` the moments of all rows of `X`, and `cells` tells the columns of a place in `X`.
        """
        if not judged.size:
            return
        self._latest_positives.take(X, judged[positive])
        self._latest_negatives.take(X, judged[~positive])
        counts = np.cumsum(np.stack([~positive, positive]), axis=1)
        earlier = counts + self._seen[:, None] - np.stack([~positive, positive])
        self._seen += counts[:, -1]
        known = (earlier > 0).all(axis=0)

        def row_at(q: int) -> KeptRow:
            place = int(judged[q])
            values = dict(cells(place)) if cells is not None else {}
            if not values:
                values = _numbers_of(X, place)
            time = None if times is None or np.isnan(times[place]) else float(times[place])
            shown = {name: value for name, value in values.items() if name not in self._apart}
            return KeptRow(before + place + 1, time, values.get(self._id_column or ""), float(scores[q]), shown)

        self.misses = self._best(self.misses, scores, known & positive, row_at, 1.0)
        self.catches = self._best(self.catches, scores, known & positive, row_at, -1.0)
        self.false_alarms = self._best(self.false_alarms, scores, known & ~positive, row_at, -1.0)

    def _best(
        self, kept: list[KeptRow], scores: Floats, chosen: Flags, row_at: Callable[[int], KeptRow], sign: float
    ) -> list[KeptRow]:
        """The rows with the lowest scores (the highest for a negative sign), of those that came first."""
        if len(kept) == self._most:
            chosen = chosen & (sign * scores < sign * kept[-1].score)
        places = np.flatnonzero(chosen)
        if not places.size:
            return kept
        first = places[np.argsort(sign * scores[places], kind="stable")[: self._most]]
        rows = [*kept, *(row_at(int(q)) for q in first)]
        return sorted(rows, key=lambda row: (sign * row.score, row.number))[: self._most]

    def sample(self) -> tuple[Any, Flags] | None:
        """The latest rows of both classes, and which of them are positive; None while one class is missing."""
        positives, negatives = self._latest_positives.rows(), self._latest_negatives.rows()
        if positives is None or negatives is None:
            return None
        together = vstack([positives, negatives], format="csr") if issparse(positives) else None
        X = np.concatenate([positives, negatives]) if together is None else together
        return X, np.arange(X.shape[0]) < positives.shape[0]

    @property
    def share(self) -> float:
        """The share of positives among all rows that were judged."""
        return float(self._seen[1] / max(int(self._seen.sum()), 1))


class _Latest:
    """The latest rows of a stream of blocks; whole blocks are dropped, and the rest is cut when it is asked for."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._blocks: deque[Any] = deque()
        self._size = 0

    def take(self, X: Any, places: npt.NDArray[np.int64]) -> None:
        if not places.size:
            return
        numbers_a_row = X.nnz / max(X.shape[0], 1) if issparse(X) else X.shape[1]
        most = min(self._most, max(_FEWEST, int(_MOST_NUMBERS / max(numbers_a_row, 1))))
        self._blocks.append(X[places[-most:]])  # a copy: the block it came from can go
        self._size += self._blocks[-1].shape[0]
        while self._size - self._blocks[0].shape[0] >= most:
            self._size -= self._blocks.popleft().shape[0]

    def rows(self) -> Any:
        if not self._blocks:
            return None
        blocks = list(self._blocks)
        joined = vstack(blocks, format="csr") if issparse(blocks[0]) else np.concatenate(blocks)
        return joined[-self._most :]


def _numbers_of(X: Any, place: int) -> dict[str, Any]:
    """A row of numbers by the places of its features; of a sparse row what is not 0."""
    if issparse(X):
        row = X[place : place + 1].tocoo()
        return {f"x{index}": float(value) for index, value in zip(row.col.tolist(), row.data.tolist(), strict=True)}
    return {f"x{index}": float(value) for index, value in enumerate(np.asarray(X[place]).tolist())}
