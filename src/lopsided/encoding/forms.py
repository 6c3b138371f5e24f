"""The forms in which a table may come: a data frame, an arrow table, a mapping of columns, a list of mappings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lopsided.encoding.schema import SchemaError


def by_column(table: Any) -> dict[str, Any]:
    """Its columns by name, in order: lists, or arrays of NumPy or arrow as they are."""
    if isinstance(table, Mapping):
        return {str(name): values for name, values in table.items()}
    if hasattr(table, "to_pydict"):
        return dict(zip(table.schema.names, table.columns, strict=True))
    if hasattr(table, "to_dict") and hasattr(table, "iloc"):  # pandas, whose missing values are NaN or None
        return {str(name): table[name].tolist() for name in table.columns}
    if hasattr(table, "__arrow_c_stream__"):  # polars, and others that speak arrow
        import pyarrow as pa

        return by_column(pa.table(table))
    if isinstance(table, Sequence) and table and all(isinstance(row, Mapping) for row in table):
        names = dict.fromkeys(name for row in table for name in row)
        return {str(name): [row.get(name) for row in table] for name in names}
    raise SchemaError(
        "A table must be a data frame, an arrow table, a mapping of columns or a list of mappings, "
        f"got {type(table).__name__}."
    )
