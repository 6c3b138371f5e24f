"""Rows as they came, of the examples that a learner keeps: an explanation shows these, never what a scale made of them.

A learner numbers the rows that it learns, and says which numbers it still keeps. Rows that come are held for a while;
now and then those that the learner keeps are taken out of them, and those that it has let go are forgotten. So there
are never many more rows here than examples there, and a row costs no more than being put into a list.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.core.geometry.points import Rows
from lopsided.encoding import Schema, TableEncoder
from lopsided.estimators.state.arrays import ModelFileError, in_range, taken

Arrays = dict[str, npt.NDArray[Any]]

NUMBERS = "rows/numbers"
_MOST_RECENT = 1024  # rows, after which those that were kept are taken out
_SMALL_BATCH = 16  # rows, up to which it is cheaper to hold them all than to ask the learner


class RememberedRows:
    """Rows by their numbers; what a row is, and how it is saved, is up to a subclass."""

    def __init__(self) -> None:
        self._n_sifted = 0  # all rows up to this number have been looked through
        self._recent: list[Any] = []  # those that came since
        self._kept: dict[int, Any] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A copy that shares the rows, because nobody changes a row that has come."""
        twin = copy.copy(self)
        twin._recent, twin._kept = list(self._recent), dict(self._kept)
        return twin

    def add(self, row: Any, kept_numbers: Callable[[], Integers | None]) -> None:
        """The next row that was learned; `kept_numbers` says which ones the learner still has."""
        self._recent.append(row)
        if len(self._recent) >= _MOST_RECENT:
            self._sift(kept_numbers())

    def add_many(self, n_rows: int, row_at: Callable[[int], Any], kept_numbers: Callable[[], Integers | None]) -> None:
        """The next rows that were learned, each asked for only if it is needed."""
        if n_rows <= _SMALL_BATCH:
            for place in range(n_rows):
                self.add(row_at(place), kept_numbers)
            return
        numbers = kept_numbers()
        self._sift(numbers)
        self._take_out(numbers, n_rows, row_at)

    def _sift(self, numbers: Integers | None) -> None:
        """Take those that the learner keeps out of the recent rows; forget what it has let go, if that is much."""
        recent, self._recent = self._recent, []
        self._take_out(numbers, len(recent), recent.__getitem__)
        if numbers is not None and len(self._kept) > 2 * numbers.size:
            self._forget(numbers)

    def _take_out(self, numbers: Integers | None, n_rows: int, row_at: Callable[[int], Any]) -> None:
        first = self._n_sifted + 1
        if numbers is not None:
            new = np.unique(numbers[(numbers >= first) & (numbers < first + n_rows)])
            self._kept.update({number: row_at(number - first) for number in new.tolist()})
        self._n_sifted += n_rows

    def _forget(self, numbers: Integers) -> None:
        wanted = set(numbers.tolist())
        self._kept = {number: row for number, row in self._kept.items() if number in wanted}

    def go_on_from(self, n_seen: int, numbers: Integers | None) -> None:
        """The next row is the one after so many, some of which others have learned; `numbers` are those still kept."""
        self._sift(numbers)
        self._n_sifted = n_seen

    def row(self, number: int) -> Any:
        """The row of this number, or None."""
        late = number - self._n_sifted - 1
        return self._recent[late] if 0 <= late < len(self._recent) else self._kept.get(number)

    def arrays(self, numbers: Integers | None) -> Arrays:
        """What a file keeps: the rows of these numbers, in their order."""
        if numbers is None:
            return {}
        self._sift(numbers)
        self._forget(numbers)
        kept = sorted(self._kept)
        rows = [self._kept[number] for number in kept]
        return {NUMBERS: np.array(kept, dtype=np.int64), **self._rows_as_arrays(rows)}

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]], n_seen: int, n_features: int) -> None:
        """Take what a file kept; older files hold no rows."""
        self._n_sifted, self._recent, self._kept = n_seen, [], {}
        if NUMBERS in arrays:
            numbers = taken(arrays, NUMBERS, np.int64, (None,))
            in_range(NUMBERS, numbers, 1, n_seen)
            rows = self._rows_of_arrays(arrays, numbers.size, n_features)
            self._kept = dict(zip(numbers.tolist(), rows, strict=True))

    def _rows_as_arrays(self, rows: list[Any]) -> Arrays:
        raise NotImplementedError

    def _rows_of_arrays(self, arrays: Mapping[str, npt.NDArray[Any]], n_rows: int, n_features: int) -> Sequence[Any]:
        raise NotImplementedError


class RememberedVectors(RememberedRows):
    """Rows of numbers, each by its features that are not 0 and their values."""

    def _rows_as_arrays(self, rows: list[Any]) -> Arrays:
        features, values = [row[0] for row in map(_non_zeros, rows)], [row[1] for row in map(_non_zeros, rows)]
        return {
            "rows/starts": np.cumsum([0, *(len(own) for own in features)]).astype(np.int64),
            "rows/features": np.concatenate([np.zeros(0, dtype=np.int32), *features]).astype(np.int32),
            "rows/values": np.concatenate([np.zeros(0), *values]),
        }

    def _rows_of_arrays(self, arrays: Mapping[str, npt.NDArray[Any]], n_rows: int, n_features: int) -> Sequence[Any]:
        starts = taken(arrays, "rows/starts", np.int64, (n_rows + 1,))
        features = taken(arrays, "rows/features", np.int32, (None,))
        values = taken(arrays, "rows/values", np.float64, features.shape)
        in_range("rows/features", features, 0, n_features - 1)
        if starts[0] != 0 or starts[-1] != values.size or (np.diff(starts) < 0).any():
            raise ModelFileError(
                f"The array 'rows/starts' of the model file must rise from 0 to {values.size}. Got others: the file is "
                "damaged."
            )
        ends = starts.tolist()
        return [(features[a:b], values[a:b]) for a, b in pairwise(ends)]

    def vector(self, number: int, n_features: int) -> Floats | None:
        """The row of this number as an array, or None."""
        row = self.row(number)
        if row is None:
            return None
        features, values = _non_zeros(row)
        result = np.zeros(n_features)
        result[features] = values
        return result


def vector_at(rows: Rows, place: int) -> Any:
    """One row of a batch (a copy): an array, or features and values."""
    if not rows.starts.size:
        return rows.dense[place].copy()
    entries = slice(rows.starts[place], rows.starts[place + 1])
    return rows.features[entries].copy(), rows.values[entries].copy()


def _non_zeros(row: Any) -> tuple[Any, Any]:
    if isinstance(row, tuple):
        return row
    features = np.flatnonzero(row)
    return features, row[features]


class RememberedCells(RememberedRows):
    """Rows of a table: columns and their cells, or, where these are not known, what a schema has made of them."""

    def __init__(self, schema: Schema) -> None:
        super().__init__()
        self._schema = schema

    def cells(self, number: int) -> dict[str, Any] | None:
        """The row of this number as plain values: its columns and its identifier; None if it is not here."""
        row = self.row(number)
        return None if row is None else self._plain([row])[0]

    def _plain(self, rows: list[Any]) -> list[dict[str, Any]]:
        encoder = TableEncoder(self._schema)
        return [encoder.plain_cells(encoder.in_words(row) if isinstance(row, np.ndarray) else row) for row in rows]

    def _rows_as_arrays(self, rows: list[Any]) -> Arrays:
        text = json.dumps(self._plain(rows))
        return {"rows/json": np.frombuffer(text.encode(), dtype=np.uint8)}

    def _rows_of_arrays(self, arrays: Mapping[str, npt.NDArray[Any]], n_rows: int, n_features: int) -> Sequence[Any]:
        rows = json.loads(taken(arrays, "rows/json", np.uint8, (None,)).tobytes())
        if not isinstance(rows, list) or len(rows) != n_rows or not all(isinstance(row, dict) for row in rows):
            raise ModelFileError(
                f"The array 'rows/json' of the model file must hold {n_rows} rows of cells by column. Got others: the "
                "file is damaged."
            )
        return rows
