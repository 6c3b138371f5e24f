"""What a format makes of a block: columns of the rows that are right, and what is wrong with the others."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from lopsided.constraints import LARGEST_FEATURE
from lopsided.streams.bookmarks import Bookmark, Place
from lopsided.streams.cells import DATE, FLAG, LABEL, MISSING, NUMBER, Columns, Expected
from lopsided.streams.date_forms import DateForm
from lopsided.streams.errors import StreamError
from lopsided.streams.labels import spelled
from lopsided.streams.number_forms import NumberForm

if TYPE_CHECKING:
    import pyarrow as pa

Floats = npt.NDArray[np.float64]


class NeedsCareError(Exception):
    """A block cannot be read at once: it must be read cell by cell."""


@dataclass
class Chunk:
    """Some rows of a stream, in order.

    `columns` holds what was expected: float64 with NaN for a missing number, datetime64 with NaT, +1 and -1 for labels,
    arrow strings. `bad` are the rows that were left out. `records` gives the bytes of the rows that are right, without
    their line ends, where the format has such. `after` and `mark` cost something, and are asked for seldom.
    """

    source: str
    n_rows: int
    columns: Columns
    bad: Sequence[StreamError] = ()
    records: Callable[[], list[bytes]] | None = None
    table: Callable[[], pa.Table] | None = None
    new_columns: Sequence[str] = field(default_factory=tuple)
    header: bytes | None = None  # of a CSV: what the records stand below
    after: Callable[[int], Place] | None = None  # where one is when so many of these rows have been taken
    mark: Callable[[int], Bookmark] | None = None  # the same for the whole source, given by the stream

    def taking(self, rows: slice | npt.NDArray[np.int64]) -> Chunk:
        """Some of these rows: a stretch of them, or those at some places in order. It does not say where one is."""
        if self.records is not None and not hasattr(self.records, "cache_info"):
            self.records = functools.cache(self.records)  # once, in however many pieces the rows are taken
        n_rows = len(range(*rows.indices(self.n_rows))) if isinstance(rows, slice) else rows.size
        records, table = self.records, self.table
        return Chunk(
            self.source,
            n_rows,
            Columns({name: _taken(column, rows) for name, column in self.columns.items()}),
            records=None if records is None else lambda: _records_taken(records(), rows),
            table=None if table is None else lambda: _taken(table(), rows),
            new_columns=self.new_columns,
            header=self.header,
        )

    def apart(self, *, as_records: bool) -> Chunk:
        """The same rows without the block they come from: their bytes, or else their table, is made now."""
        records = self.records() if as_records and self.records is not None else None
        table = self.table() if not as_records and self.table is not None else None
        return replace(
            self,
            records=None if records is None else lambda: records,
            table=None if table is None else lambda: table,
        )


def _taken(column: Any, rows: slice | npt.NDArray[np.int64]) -> Any:
    if isinstance(column, np.ndarray):
        return column[rows]
    if isinstance(rows, slice):
        return column.slice(rows.start, rows.stop - rows.start)
    return column.take(rows)


def _records_taken(records: list[bytes], rows: slice | npt.NDArray[np.int64]) -> list[bytes]:
    return records[rows] if isinstance(rows, slice) else [records[row] for row in rows.tolist()]


def column_at_once(expected: Expected, array: Any) -> Any:
    """An arrow column as a chunk has it; NeedsCareError if something in it is not as expected."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # without any rows
        array = pa.array([], type=array.type)
    if expected.kind in (NUMBER, FLAG):
        numbers = _numbers(_read_by(expected.form, array) if isinstance(expected.form, NumberForm) else array)
        if expected.required and np.isnan(numbers).any():
            raise NeedsCareError
        return numbers
    if expected.kind == DATE:
        return _dates(array) if expected.form is None else _dates_by(expected.form, array)
    if expected.kind == LABEL:
        return _signs(expected, array)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if array.type != pa.string():
        # Others are spelled otherwise by Python, which reads the first rows: 3.0 as 3, true as True.
        if not (pa.types.is_large_string(array.type) or pa.types.is_integer(array.type)):
            raise NeedsCareError
        array = array.cast(pa.string())
    return pc.fill_null(array, "") if array.null_count else array


def _numbers(array: Any) -> Floats:
    import pyarrow as pa

    if array.type != pa.float64():
        try:
            is_text = pa.types.is_string(array.type) or pa.types.is_large_string(array.type)
            array = None if is_text else array.cast(pa.float64())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            array = None
        if array is None:
            raise NeedsCareError
    values: Floats = array.to_numpy(zero_copy_only=False)  # a missing number is NaN
    if (np.abs(values) > LARGEST_FEATURE).any():
        raise NeedsCareError
    return values


def _read_by(form: NumberForm, array: Any) -> Any:
    """Numbers that are written in some form; those that are numbers already as they are."""
    texts = _texts(array)
    if texts is None:
        return array
    numbers = form.at_once(texts)
    if numbers is None:
        raise NeedsCareError
    return numbers


def _texts(array: Any) -> Any:
    """Texts without blanks around them, and null where they stand for nothing; None if they are no texts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        return None
    texts = pc.utf8_trim_whitespace(array)
    is_missing = pc.is_in(texts, value_set=pa.array(MISSING, type=array.type))
    return pc.if_else(is_missing, pa.scalar(None, array.type), texts)


def _dates_by(form: Any, array: Any) -> npt.NDArray[Any]:
    assert isinstance(form, DateForm)
    if form.is_number:
        moments = form.of_numbers(_numbers(array))
    else:
        texts = _texts(array)
        if texts is None:
            return _dates(array)  # which are dates already
        moments = form.at_once(texts)
    if moments is None:
        raise NeedsCareError
    return moments


def _dates(array: Any) -> npt.NDArray[Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        if pa.types.is_string(array.type):
            array = pc.replace_with_mask(array, pc.equal(array, ""), pa.scalar(None, pa.string()))
            try:
                array = array.cast(pa.timestamp("us"))
            except pa.ArrowInvalid:
                array = array.cast(pa.timestamp("us", "UTC"))
        array = array.cast(pa.timestamp("us", getattr(array.type, "tz", None)))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise NeedsCareError from None
    values: npt.NDArray[Any] = array.to_numpy(zero_copy_only=False).astype("datetime64[us]")
    return values


def _signs(expected: Expected, array: Any) -> Floats:
    import pyarrow as pa

    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    labels = expected.labels
    if labels is None:
        raise NeedsCareError
    signs = [labels.sign("" if value is None else spelled(value)) for value in array.dictionary.to_pylist()]
    indices = array.indices
    if array.null_count:
        indices = indices.fill_null(len(signs))
        signs.append(labels.sign(""))
    if None in signs:
        raise NeedsCareError
    return np.array(signs, dtype=np.float64)[indices.to_numpy(zero_copy_only=False)]
