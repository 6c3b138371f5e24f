"""Rows of a table that say whose they are: behind the encoded columns stands the code of a key, for a model a key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.encoding import Schema, SchemaError, TableEncoder
from lopsided.encoding.hashing import CODE_UNIT
from lopsided.estimators.compose.keyed_rows import codes_in_rows, one_code
from lopsided.streams import cells
from lopsided.streams.cells import Columns, Expected
from lopsided.streams.labels import Spellings

_LARGEST_CODE = 2.0**53


class KeyEncoder(TableEncoder):
    """What `TableEncoder` makes of a table and, if there is a model for each key, the code of the key."""

    def __init__(self, schema: Schema, key: str | None) -> None:
        super().__init__(schema)
        self.key, self.key_place = key, self.width
        if key is not None:
            self.names.append(f"{key} as a key")
            self.width += 1

    def expected(self, labels: Spellings | None = None) -> list[Expected]:
        """What a stream must hold: also the column of the key."""
        result = super().expected(labels)
        if self.key is not None and self.key not in {one.name for one in result}:
            result.append(Expected(self.key, cells.TEXT))
        return result

    def columns_of(self, table: Any) -> Columns:
        """The columns of a table; of mappings, one without the key has a missing one."""
        if self.key is not None and isinstance(table, list | tuple) and not any(self.key in row for row in table):
            table = [{self.key: None, **row} for row in table]
        return super().columns_of(table)

    def matrix(self, columns: Columns) -> Floats:
        """The rows of these columns."""
        result = super().matrix(columns)
        if self.key is not None:
            if self.key not in columns:
                raise SchemaError(f"The table must hold the column {self.key!r} of the key, got {', '.join(columns)}.")
            result[:, self.key_place] = codes_in_rows(columns[self.key], self.key)
        return result

    def row(self, cells_by_name: Mapping[str, Any], result: Floats) -> None:
        """One row."""
        super().row(cells_by_name, result)
        if self.key is not None:
            result[self.key_place] = one_code(cells_by_name.get(self.key), self.key)

    def from_mappings(self, rows: Sequence[Mapping[str, Any]]) -> Floats:
        """Rows that are mappings."""
        result = super().from_mappings(rows)
        if self.key is not None:
            result[:, self.key_place] = codes_in_rows([row.get(self.key) for row in rows], self.key)
        return result

    def checked_rows(self, rows: npt.NDArray[Any]) -> Floats:
        """Rows as `matrix` makes them, made by somebody."""
        if self.key is None:
            return super().checked_rows(rows)
        whole = np.array(rows)
        codes = np.array(whole[:, self.key_place], dtype=np.float64)
        whole[:, self.key_place] = 0
        result = np.array(super().checked_rows(whole))
        plain = codes / CODE_UNIT
        if not ((plain >= 1.0) & (plain <= _LARGEST_CODE) & (plain == np.floor(plain))).all():
            raise SchemaError("The keys of encoded rows must be codes as an encoder makes them, got others.")
        result[:, self.key_place] = codes
        return result

    def places(self) -> dict[str, list[int]]:
        """Which of the encoded columns are made of each column of the table: the key is one of them."""
        places = super().places()
        if self.key is not None:
            places[self.key] = [*places.get(self.key, []), self.key_place]
        return places

    def key_codes(self, matrix: Floats) -> Integers:
        """The codes of the keys of these rows."""
        return np.asarray(np.asarray(matrix)[:, self.key_place] / CODE_UNIT).astype(np.int64)
