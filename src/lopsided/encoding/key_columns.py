"""Columns of keys, times and amounts, in whatever form a table comes, as numbers: codes, seconds and float64.

A key may be a word or a number: 7, 7.0 and "7" are one key, because files do not tell them apart. What files write for
a missing value is a missing key, which has a code of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.encoding.schema import SchemaError
from lopsided.streams import StreamError, cells
from lopsided.streams.cells import MISSING, CheckedRows, Expected, is_missing, parse_number, text_of
from lopsided.streams.chunks import NeedsCareError, column_at_once

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.uint64]

MISSING_KEY = ""
_LARGEST_WHOLE = 2**53
LATEST_SECOND = 1e11  # the year 5138: what is beyond is not seconds


def columns_of(table: Any, wanted: Sequence[str | int]) -> list[Any]:
    """These columns of a table: by name, or by number of an array or anything that has its columns in order."""
    if isinstance(table, Sequence) and not isinstance(table, str) and table and isinstance(table[0], Mapping):
        table = {name: [row.get(name) for row in table] for name in wanted if any(name in row for row in table)}
    if not isinstance(table, Mapping) and not hasattr(table, "columns") and not hasattr(table, "dtype"):
        table = _as_array(table)
    return [_column(table, name) for name in wanted]


def _as_array(rows: Any) -> npt.NDArray[Any]:
    if isinstance(rows, Sequence) and all(isinstance(row, Sequence | np.ndarray) for row in rows):
        widths = {len(row) for row in rows}
        if len(widths) <= 1 and not any(isinstance(row, str) for row in rows):
            result = np.empty((len(rows), widths.pop() if widths else 0), dtype=object)
            for t, row in enumerate(rows):
                result[t, :] = row
            return result
    raise SchemaError(
        "A table must be a data frame, an arrow table, a mapping of columns, a list of mappings or an array, "
        f"got {type(rows).__name__}."
    )


def _column(table: Any, name: str | int) -> Any:
    names: Any = table.keys() if isinstance(table, Mapping) else ()
    try:
        if isinstance(table, Mapping):
            return table[name]
        if isinstance(table, np.ndarray):
            names = table.dtype.names or range(table.shape[1] if table.ndim == 2 else 0)
            if name in names:
                column: Any = name
                return table[column] if table.dtype.names else table[:, column]
            raise KeyError(name)
        names = table.schema.names if hasattr(table, "to_pydict") else list(table.columns)
        if isinstance(name, int) and name not in names:
            name = list(names)[name]
        return table[name]
    except (KeyError, IndexError):
        held = ", ".join(map(str, list(names)[:20])) or "none"
        raise SchemaError(f"The table must hold the column {name!r}, got only {held}.") from None


def key_codes(column: Any, salt: int, name: Any = "") -> Codes:
    """A code for each cell, the same for the same key and salt on every machine and in every process."""
    import pyarrow as pa

    from lopsided.encoding.hashing import hash_keys

    texts = _texts(column, name)
    codes = np.empty(len(texts), dtype=np.uint64)
    if len(texts):
        texts = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
        ends = np.frombuffer(texts.buffers()[1], dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
        data = texts.buffers()[2]
        text = np.frombuffer(data if data is not None and data.size else b"\0", dtype=np.uint8)
        hash_keys(text, ends, salt, codes)
    return codes


def one_key_code(cell: Any, salt: int, name: Any = "") -> np.uint64:
    """The same for one cell, without the detour over a column."""
    from lopsided.encoding.hashing import hash_keys

    data, code = _text(cell, 0, name).encode(), np.empty(1, dtype=np.uint64)
    ends = np.array([0, len(data)], dtype=np.int32)
    ends.flags.writeable = False  # as arrow's are: to compiled code that is a type of its own
    hash_keys(np.frombuffer(data or b"\0", dtype=np.uint8), ends, salt, code)
    return np.uint64(code[0])


def missing_code(salt: int) -> np.uint64:
    """The code of a missing key."""
    return np.uint64(key_codes([None], salt)[0])


def _texts(column: Any, name: Any) -> Any:
    """Keys as arrow strings; a missing one is empty."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = _arrow(column)
    if array is not None and pa.types.is_floating(array.type):
        array = _whole(array)
    if array is not None and pa.types.is_null(array.type):
        array = array.cast(pa.string())
    if array is not None:
        try:
            texts = column_at_once(Expected(str(name), cells.TEXT), array)
            is_nothing = pc.is_in(texts, value_set=pa.array(MISSING[1:]))
            return pc.if_else(is_nothing, MISSING_KEY, texts) if pc.any(is_nothing).as_py() else texts
        except (NeedsCareError, pa.ArrowInvalid):
            pass
    values = array.to_pylist() if array is not None else list(column)
    return pa.array([_text(cell, row, name) for row, cell in enumerate(values)], type=pa.string())


def _text(cell: Any, row: int, name: Any) -> str:
    try:
        return MISSING_KEY if is_missing(cell) else text_of(cell)
    except cells.WrongCellError as wrong:
        rule = "must be a word or a number, to be a key"
        raise StreamError("the table", row, f"column {str(name)!r}", rule, wrong.got, "row") from None


def _arrow(column: Any) -> Any:
    """The column as an arrow array, NaN and None as nulls; None if arrow knows no type for it."""
    import pyarrow as pa

    if hasattr(column, "to_arrow"):  # of polars
        column = column.to_arrow()
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if isinstance(column, pa.ChunkedArray):  # without any rows
        return pa.array([], type=column.type)
    if isinstance(column, pa.Array):
        return column
    try:
        found = pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return None
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def _whole(array: Any) -> Any:
    """A column of floats as one of whole numbers, if that is what they are: 7.0 is the key 7."""
    import pyarrow as pa

    values = array.to_numpy(zero_copy_only=False).astype(np.float64)
    there = ~np.isnan(values)
    if not (np.abs(values[there]) < _LARGEST_WHOLE).all() or (values[there] != np.floor(values[there])).any():
        return array
    return pa.array(np.where(there, values, 0.0).astype(np.int64), mask=~there)


def numbers_of(column: Any, name: Any = "") -> Floats:
    """A column of numbers, NaN where one is missing; others, and those too large to be squared, are refused."""
    return _checked(column, Expected(str(name), cells.NUMBER))


def seconds_of(column: Any, name: Any = "") -> Floats:
    """Moments as seconds since 1970 (or since whenever, if they are numbers); NaN where one is missing."""
    import pyarrow as pa

    array = _arrow(column)
    if array is not None:
        kind = array.type
        is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind)
    else:
        is_number = False
    if array is None or pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        values = list(column) if array is None else array.to_pylist()
        first = next((cell for cell in values if not is_missing(cell)), None)
        is_number = parse_number(first) is not None if isinstance(first, str) else isinstance(first, int | float)
    if is_number:
        seconds = _checked(column, Expected(str(name), cells.NUMBER))
    else:
        moments = _checked(column, Expected(str(name), cells.DATE))
        seconds = np.where(np.isnat(moments), np.nan, moments.astype("datetime64[us]").astype(np.int64) / 1e6)
    beyond = np.flatnonzero(np.abs(seconds) > LATEST_SECOND)
    if beyond.size:
        row = int(beyond[0])
        rule = f"must be a date or seconds below {LATEST_SECOND:g}, not milliseconds"
        raise StreamError("the table", row, f"time column {str(name)!r}", rule, f"{seconds[row]:g}", "row")
    return seconds


def _checked(column: Any, expected: Expected) -> Any:
    import pyarrow as pa

    array = _arrow(column)
    if array is not None and not pa.types.is_null(array.type):
        try:
            return np.asarray(column_at_once(expected, array))
        except NeedsCareError:
            pass
    values = list(column) if array is None else array.to_pylist()
    rows = CheckedRows("the table", [expected], unit="row")
    for number, cell in enumerate(values):
        rows.add(number, number, [cell])
    if rows.bad:
        raise rows.bad[0]
    return rows.columns()[expected.name]
