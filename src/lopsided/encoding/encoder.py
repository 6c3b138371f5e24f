"""Columns into a matrix of float64, by a schema and nothing else; missing numbers are left as NaN, to be filled."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.constraints import LARGEST_FEATURE
from lopsided.encoding.forms import by_column
from lopsided.encoding.moments import (
    age_of_one,
    circles_of,
    days_since,
    in_words,
    on_circle,
    one_in_days,
    one_on_circle,
)
from lopsided.encoding.plain_numbers import PlainNumbers, floats_in, numbers_in
from lopsided.encoding.raw_cells import EncodedRows, RawCells, plain_cell
from lopsided.encoding.schema import CATEGORY, DATE, FLAG, KEY, NUMBER, TEXT, Column, Schema, SchemaError
from lopsided.streams import StreamError, cells
from lopsided.streams.cells import CheckedRows, Columns, Expected
from lopsided.streams.chunks import NeedsCareError, column_at_once
from lopsided.streams.labels import Spellings

Floats = npt.NDArray[np.float64]

_EXPECTED = {
    NUMBER: cells.NUMBER, FLAG: cells.FLAG, CATEGORY: cells.TEXT, TEXT: cells.TEXT, DATE: cells.DATE, KEY: cells.TEXT,
}  # fmt: skip
_ARROW_READS = "biufUM"  # dtypes by their letters: all that can be a column but objects


class TableEncoder:
    """Turns the columns of a chunk into rows of numbers.

    Numbers and flags come first, `n_numbers` of them with the ages of dates that are asked for: missing ones are NaN,
    to be filled by a running mean and scaled. Then whether they or dates are missing (0 or 1), the hour, the weekday
    and the day of the month as points on circles, and hashed columns, whose entries lie between -1 and 1 and are not
    scaled. A category or text that is missing is all zeros.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._columns = schema.learned_from
        self._plain = [column for column in self._columns if not column.is_hashed]
        self._numbers = [column for column in self._plain if column.has_number]
        self.n_numbers = len(self._numbers)
        self.names = self._names()
        self.width = len(self.names)
        self._places = self._layout()
        self._plain_numbers = PlainNumbers.of(self._places)
        # What `row` needs of each column at hand, because attributes of attributes cost as much as the cells.
        self._ways = [(p.column.name, p.is_number, p.columns.start, p) for p in self._places]
        self._one_block = PlainNumbers.in_one_block(self._places)

    def _names(self) -> list[str]:
        names = [f"{c.name} in days" if c.kind == DATE else c.name for c in self._numbers]
        names += [f"{column.name} is missing" for column in self._plain if column.may_miss]
        for column in self._plain:
            for part in circles_of(column.parts):
                names += [f"{column.name} {part} sine", f"{column.name} {part} cosine"]
        for column in self._columns:
            if column.is_hashed:
                names += [f"{column.name} #{place}" for place in range(column.width)]
        return names

    def _layout(self) -> list[_Place]:
        """Where each column goes, in the order of `names`."""
        missing = self.n_numbers
        circles = missing + sum(column.may_miss for column in self._plain)
        hashed = circles + sum(2 * len(circles_of(column.parts)) for column in self._plain)
        places, first = [], 0
        for column in [*self._plain, *(column for column in self._columns if column.is_hashed)]:
            expected = _expected(column)
            if column.is_hashed:
                places.append(_Place(column, expected, slice(hashed, hashed + column.width), slice(0, 0), None))
                hashed += column.width
                continue
            own = slice(first, first + column.has_number)
            points = slice(circles, circles + 2 * len(circles_of(column.parts)))
            places.append(_Place(column, expected, own, points, missing if column.may_miss else None))
            first, missing, circles = own.stop, missing + column.may_miss, points.stop
        return places

    def expected(self, labels: Spellings | None = None) -> list[Expected]:
        """What a stream must hold: the columns, the label if there are `labels`, and the time."""
        result = [_expected(column) for column in self._columns]
        known = {column.name for column in self._columns}
        if self.schema.time is not None and self.schema.time.name not in known:
            result.append(_expected(self.schema.time))
        if labels is not None and self.schema.label is not None:
            result.append(Expected(self.schema.label, cells.LABEL, labels))
        return result

    def expected_id(self) -> list[Expected]:
        """The column of identifiers, if there is one: of whatever kind, it is read as text."""
        return [] if self.schema.id is None else [Expected(self.schema.id, cells.TEXT)]

    def matrix(self, columns: Columns) -> Floats:
        """The rows of these columns, which must have been checked: by a stream, or by `columns_of`."""
        self._check_names(columns)
        n_rows = len(columns[self._columns[0].name])
        is_simple = self.width == self.n_numbers
        result = np.empty((n_rows, self.width)) if is_simple else np.zeros((n_rows, self.width))
        for place in self._places:
            place.write(columns[place.column.name], result)
        return result

    def rows(self, columns: Columns) -> EncodedRows:
        """The same, with the cells that they were made of."""
        rows = self.matrix(columns).view(EncodedRows)
        rows.cells = RawCells(columns, np.arange(rows.shape[0]))
        return rows

    def row(self, cells_by_name: Mapping[str, Any], result: Floats) -> None:
        """Write one row, a mapping of columns to cells, into `result` as `matrix` would; the cells are checked.

        A column that is not there is missing. Those that are not learned from, such as a time column apart, are not
        looked at.
        """
        if not isinstance(cells_by_name, Mapping):
            raise SchemaError(f"A row must be a mapping of columns to values, got {type(cells_by_name).__name__}.")
        ways, numbers = self._ways, floats_in(cells_by_name, self._one_block)
        if numbers is not None and len(numbers) == self.width:
            result[:] = numbers  # by far the most common, and nothing is left to check
            return
        result[:] = 0.0
        if numbers is not None:
            result[: len(numbers)] = numbers
            ways = ways[len(numbers) :]
            if not ways:
                return
        if not all(isinstance(name, str) for name in cells_by_name):
            cells_by_name = {str(name): cell for name, cell in cells_by_name.items()}
        if numbers is None and not any(way[0] in cells_by_name for way in ways):
            self._check_names(cells_by_name)  # a row that has nothing of the table is a mistake
        for name, is_number, start, place in ways:
            cell = cells_by_name.get(name)
            if is_number and type(cell) is float and abs(cell) <= LARGEST_FEATURE:
                result[start] = cell
            else:
                place.write_one(self._checked(place, cell), result)

    def from_mappings(self, rows: Sequence[Mapping[str, Any]]) -> Floats:
        """Rows that are mappings, each as `row` writes it: plain numbers of all rows at once, because they are many."""
        result = np.zeros((len(rows), self.width))
        plain = self._plain_numbers
        numbers = numbers_in(rows, plain.names)
        if numbers is None:
            for cells_by_name, row in zip(rows, result, strict=True):
                self.row(cells_by_name, row)
            return result
        missing = np.isnan(numbers)
        result[:, plain.columns] = numbers
        result[:, plain.flags] = missing[:, plain.flagged]
        nothing, others = np.asarray(missing.all(axis=1)), plain.others
        for number, cells_by_name in enumerate(rows if others or nothing.any() else ()):
            if nothing[number]:  # which may be a mistake
                self.row(cells_by_name, result[number])
                continue
            for place in others:
                place.write_one(self._checked(place, cells_by_name.get(place.column.name)), result[number])
        return result

    def _checked(self, place: _Place, cell: Any) -> Any:
        try:
            return cells.checked_cell(place.expected, cell)
        except cells.WrongCellError as wrong:
            raise StreamError("the row", None, f"column {place.column.name!r}", wrong.rule, wrong.got) from None

    def columns_of(self, table: Any) -> Columns:
        """Columns of a data frame, an arrow table, a mapping of columns or a list of mappings, checked."""
        if isinstance(table, Columns):
            return table  # of a chunk, checked by its stream
        values = by_column(table)
        if isinstance(table, list | tuple) and any(column.name in values for column in self.schema.columns):
            # A key that no row has is missing in all, as it is in those that lack a key that others have.
            values = {column.name: [None] * len(table) for column in self.schema.columns} | values
        self._check_names(values)
        expected = [e for e in [*self.expected(), *self.expected_id()] if e.name in values]
        lengths = {e.name: len(values[e.name]) for e in expected}
        if len(set(lengths.values())) > 1:
            shown = ", ".join(f"{length} of {name!r}" for name, length in lengths.items())
            raise SchemaError(f"The columns of a table must be equally long, got {shown}.")
        try:
            return Columns({e.name: _at_once(e, values[e.name]) for e in expected})
        except NeedsCareError:
            return _cell_by_cell(values, expected)

    def checked_rows(self, rows: npt.NDArray[Any]) -> Floats:
        """Rows as `matrix` makes them, made by somebody: a number may be missing, everything else must be finite."""
        if rows.dtype.kind not in "biuf":
            raise SchemaError(f"Encoded rows must be numbers, got an array of {rows.dtype}.")
        result = np.asarray(rows, dtype=np.float64)
        wrong = ~(np.abs(result) <= LARGEST_FEATURE)
        may_miss = np.array([not column.required for column in self._numbers], dtype=np.bool_)
        wrong[:, : self.n_numbers] &= ~(np.isnan(result[:, : self.n_numbers]) & may_miss)
        if wrong.any():
            row, place = np.argwhere(wrong)[0].tolist()
            raise SchemaError(
                f"The feature {self.names[place]!r} in row {row} of the encoded rows must be a finite number, "
                f"got {result[row, place]}."
            )
        return result

    def _check_names(self, columns: Mapping[str, Any]) -> None:
        for column in self._columns:
            if column.name not in columns:
                raise SchemaError(
                    f"The table must hold the column {column.name!r}, got only {', '.join(map(str, columns))}."
                )

    def plain_cells(self, row: Mapping[Any, Any]) -> dict[str, Any]:
        """The cells of a row that was checked, in the order of the columns, keys if known, and its identifier.

        A list is left as it is: the words that a hashed column may have been, as `in_words` gives them.
        """
        by_name, plain = {str(name): cell for name, cell in row.items()}, {}
        keys = [Expected(key, cells.TEXT) for key in self.schema.history_keys if key in by_name]
        # A key that nobody learns from was not read, which is not to say that it was missing.
        read = [column for column in self.schema.columns if column.is_learned_from or column.name in by_name]
        for expected in [*(_expected(column) for column in read), *keys, *self.expected_id()]:
            cell = by_name.get(expected.name)
            if not isinstance(cell, list):
                cell = _plain(expected, cell)
            plain[expected.name] = bool(cell) if expected.kind == cells.FLAG and cell in (0.0, 1.0) else cell
        return plain

    def places(self) -> dict[str, list[int]]:
        """Which of the encoded columns are made of each column of the table, in its order."""
        places: dict[str, list[int]] = {column.name: [] for column in self.schema.columns}
        for place in self._places:
            made = [*range(self.width)[place.columns], *range(self.width)[place.points]]
            places[place.column.name] = sorted(made if place.missing is None else [*made, place.missing])
        return places

    def in_words(self, row: Floats) -> dict[str, Any]:
        """What can be told of the original columns of an encoded row: numbers, dates, and lists of hashed words."""
        words: dict[str, Any] = {}
        for place in self._places:
            column = place.column
            if column.is_hashed:
                words[column.name] = _words(column, row[place.columns])
            elif place.missing is not None and row[place.missing] > 0.5:
                words[column.name] = None
            elif column.kind != DATE:
                words[column.name] = float(row[place.columns.start])
            elif column.has_number and np.isfinite(row[place.columns.start]):
                words[column.name] = str(_moment(column, float(row[place.columns.start])))
            else:
                words[column.name] = in_words(column.parts, row[place.points])
        return words


def _plain(expected: Expected, cell: Any) -> Any:
    try:
        return plain_cell(cells.checked_cell(expected._replace(required=False), cell))
    except cells.WrongCellError:  # it is in words already: a date that was a number in the file, an hour and a weekday
        return plain_cell(cell)


@dataclass(frozen=True)
class _Place:
    """Where a column of the table stands in a row of numbers: itself, whether it is missing, its points on circles."""

    column: Column
    expected: Expected
    columns: slice
    points: slice
    missing: int | None

    @property
    def is_number(self) -> bool:
        """Whether a float of a sane size is written as it is."""
        return self.column.kind == NUMBER

    @property
    def is_plain_number(self) -> bool:
        """Whether a number, or nothing, is all that there may be, written plainly."""
        return self.is_number and self.column.form is None and not self.column.required

    def write(self, values: Any, result: Floats) -> None:
        """All rows of the column."""
        if self.column.is_hashed:
            result[:, self.columns] = _hashed(self.column, values)
        elif self.column.kind == DATE:
            self._write_dates(values, result)
        else:
            result[:, self.columns.start] = values
            if self.missing is not None:
                result[:, self.missing] = np.isnan(values)

    def _write_dates(self, moments: npt.NDArray[Any], result: Floats) -> None:
        days = days_since(moments)
        if self.column.has_number:
            result[:, self.columns.start] = days_since(moments, self.column.since)
        if self.missing is not None:
            result[:, self.missing] = np.isnan(days)
        for position, part in enumerate(circles_of(self.column.parts)):
            at = self.points.start + 2 * position
            result[:, at], result[:, at + 1] = on_circle(part, days)

    def write_one(self, value: Any, result: Floats) -> None:
        """The same for one row, whose value was checked."""
        if self.column.is_hashed:
            _hash_one(self.column, value, result[None, self.columns])
            return
        if self.column.kind == DATE:
            value = one_in_days(value)
            for position, part in enumerate(circles_of(self.column.parts)):
                at = self.points.start + 2 * position
                result[at], result[at + 1] = one_on_circle(part, value)
        if self.missing is not None:
            result[self.missing] = math.isnan(value)
        if self.column.has_number:
            result[self.columns.start] = age_of_one(value, self.column.since) if self.column.kind == DATE else value


def _expected(column: Column) -> Expected:
    return Expected(column.name, _EXPECTED[column.kind], required=column.required, form=column.form)


def _at_once(expected: Expected, values: Any) -> Any:
    """A column of an array of arrow or NumPy, if all of it is as expected."""
    import pyarrow as pa

    try:
        if isinstance(values, np.ndarray) and values.dtype.kind in _ARROW_READS:
            values = pa.array(values)
        if hasattr(values, "to_pylist"):
            return column_at_once(expected, values)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        pass  # the cell that is wrong will be found
    raise NeedsCareError


def _cell_by_cell(values: Mapping[str, Any], expected: Sequence[Expected]) -> Columns:
    """The columns if every cell is right, else the error of the first that is not."""
    columns = [values[e.name] for e in expected]
    columns = [column.to_pylist() if hasattr(column, "to_pylist") else column for column in columns]
    rows = CheckedRows("the table", expected, unit="row")
    for number, row in enumerate(zip(*columns, strict=True)):
        rows.add(number, number, row)
    if rows.bad:
        raise rows.bad[0]
    return rows.columns()


def _moment(column: Column, age: float) -> np.datetime64:
    first = np.datetime64(column.since, "D")
    return first + np.timedelta64(round(age * 1440.0), "m") if column.has_hours else first + round(age)


def _words(column: Column, hashed: Floats) -> list[str]:
    """The categories of the first rows that are hashed like this; for others and for texts the places."""
    if column.known:
        import pyarrow as pa

        alike = (_hashed(column, pa.array(column.known, type=pa.string())) == hashed).all(axis=1)
        if alike.any() and hashed.any():
            return [word for word, is_alike in zip(column.known, alike, strict=True) if is_alike]
    return [f"#{place}" for place in np.flatnonzero(hashed)]


def _hash_one(column: Column, text: str, result: Floats) -> None:
    from lopsided.encoding.hashing import hash_values, hash_words

    data = text.encode()
    if data:
        ends = np.array([0, len(data)], dtype=np.int32)
        ends.flags.writeable = False  # as arrow's are: to compiled code that is a type of its own
        (hash_words if column.kind == TEXT else hash_values)(np.frombuffer(data, dtype=np.uint8), ends, result)


def _hashed(column: Column, texts: Any) -> Floats:
    from lopsided.encoding.hashing import hash_values, hash_words

    result = np.zeros((len(texts), column.width))
    if len(texts):
        ends = np.frombuffer(texts.buffers()[1], dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
        data = texts.buffers()[2]
        text = np.frombuffer(data if data is not None and data.size else b"\0", dtype=np.uint8)
        (hash_words if column.kind == TEXT else hash_values)(text, ends, result)
    return result
