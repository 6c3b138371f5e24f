"""Rows of a table that carry what a history needs: codes of keys, the time, the amount, and features once read.

All of a row stands in one vector of float64, so that it can wait for its label wherever rows can wait: behind the
encoded columns come a code for each key, seconds and the amount, and then the features of the history, which are NaN
until the row has been observed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats
from lopsided.encoding import Schema, SchemaError
from lopsided.estimators.compose.history import KeyedHistory
from lopsided.estimators.compose.history_columns import KeyedRows
from lopsided.estimators.compose.key_encoder import KeyEncoder
from lopsided.streams import cells
from lopsided.streams.cells import Columns, Expected
from lopsided.streams.labels import Spellings

_LARGEST_CODE = 2.0**53


class HistoryEncoder(KeyEncoder):
    """What `KeyEncoder` makes of a table, and what a history needs of it."""

    def __init__(self, schema: Schema, history: KeyedHistory, key: str | None = None) -> None:
        super().__init__(schema, key)
        self.keys, self.time, self.value = [str(key) for key in history.keys], str(history.time), history.value
        known = {column.name for column in schema.columns}
        if schema.time is not None:
            known.add(schema.time.name)
        if self.time not in known:
            raise SchemaError(
                f"The schema must hold the time column {self.time!r} of the history, got {', '.join(sorted(known))}."
            )
        self.n_encoded = self.width
        self.history_names: list[str] = [str(name) for name in history.get_feature_names_out()]
        self.learned_names = [*self.names, *self.history_names]  # what the learner gets: all but keys, time and amount
        self.names += [f"{key} as a key" for key in self.keys]
        self.names += [f"{self.time} in seconds", "amount of the history", *self.history_names]
        self.width = len(self.names)
        self.first_feature = self.n_encoded + len(self.keys) + 2

    def expected(self, labels: Spellings | None = None) -> list[Expected]:
        """What a stream must hold: also the columns of the history."""
        result = super().expected(labels)
        known = {one.name for one in result}
        result += [Expected(key, cells.TEXT) for key in self.keys if key not in known]
        if self.value is not None and str(self.value) not in known:
            result.append(Expected(str(self.value), cells.NUMBER))
        return result

    def matrix(self, columns: Columns) -> Floats:
        """Rows that have not been observed."""
        result = super().matrix(columns)
        self._write(columns, result)
        return result

    def row(self, cells_by_name: Mapping[str, Any], result: Floats) -> None:
        """One row that has not been observed."""
        super().row(cells_by_name, result)
        self._write([cells_by_name], result[None])

    def from_mappings(self, rows: Sequence[Mapping[str, Any]]) -> Floats:
        """Rows that have not been observed."""
        result = super().from_mappings(rows)
        self._write(rows, result)
        return result

    def _write(self, table: Any, result: Floats) -> None:
        rows = KeyedRows.of(table, self.keys, self.time, None if self.value is None else str(self.value))
        first = self.n_encoded + len(self.keys)
        result[:, self.n_encoded : first] = rows.codes
        result[:, first], result[:, first + 1] = rows.seconds, rows.amounts
        result[:, self.first_feature :] = np.nan

    def keyed(self, matrix: Floats) -> KeyedRows:
        """The part of the rows that a history reads."""
        first = self.n_encoded + len(self.keys)
        codes = np.ascontiguousarray(matrix[:, self.n_encoded : first]).astype(np.uint64)
        return KeyedRows(codes, matrix[:, first].copy(), matrix[:, first + 1].copy())

    def is_observed(self, matrix: Floats) -> npt.NDArray[np.bool_]:
        """Which rows have the features of their history already."""
        return ~np.isnan(matrix[:, self.first_feature])

    def write_features(self, matrix: Floats, rows: slice, features: Floats, moments: Floats) -> None:
        """Rows have been observed: their features, and when they happened."""
        matrix[rows, self.first_feature :] = features
        matrix[rows, self.n_encoded + len(self.keys)] = moments

    def all_places(self) -> dict[str, list[int]]:
        """Which numbers of a row are made of each column, of each key and of each pair of keys.

        What a history says of the amount and of the time goes with these columns, if they are learned from.
        """
        places = self.places()
        first = self.n_encoded + len(self.keys)
        whose = {f"{key}.": key for key in self.keys} | {f"{key} is missing": key for key in self.keys}
        whose |= {f"{one}+{other}.": f"{one}+{other}" for one, other in combinations(self.keys, 2)}
        whose |= {f"{self.time}.": self.time} | ({} if self.value is None else {str(self.value): str(self.value)})
        apart = {key: [place] for place, key in enumerate(self.keys, start=self.n_encoded)}
        apart |= {self.time: [first], str(self.value): [first + 1]}
        for place, name in enumerate(self.history_names, start=self.first_feature):
            owner = next(owner for start, owner in whose.items() if name.startswith(start))
            places.setdefault(owner, []).append(place)
        return {name: [*own, *apart.get(name, [])] for name, own in places.items()}

    def learned_place(self, place: int) -> int | None:
        """Which feature of the learner a number of a row is; None for what only the history reads."""
        if place < self.n_encoded:
            return place
        return place - self.first_feature + self.n_encoded if place >= self.first_feature else None

    def checked_rows(self, rows: npt.NDArray[Any]) -> Floats:
        """Rows as `matrix` makes them, made by somebody."""
        whole = np.array(rows)
        more = np.array(whole[:, self.n_encoded :], dtype=np.float64)
        whole[:, self.n_encoded :] = 0
        result = super().checked_rows(whole)
        codes = more[:, : len(self.keys)]
        if not ((codes >= 1.0) & (codes <= _LARGEST_CODE) & (codes == np.floor(codes))).all():
            raise SchemaError("The keys of encoded rows must be codes as an encoder makes them, got others.")
        result[:, self.n_encoded :] = more
        return result
