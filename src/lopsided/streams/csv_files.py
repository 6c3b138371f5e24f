"""Tables as CSV or TSV with a header: one column is the label, all others are numbers."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from lopsided.streams.batches import Matrix, parse_number
from lopsided.streams.errors import StreamError, quoted
from lopsided.streams.lines import TextLines

_USUAL_LABEL_NAMES = ("label", "class", "target", "y")
_USUAL_DELIMITERS = ",\t;"
_SCAN_BATCH = 4096
_COLUMNS_SHOWN = 20  # in the sentence about a label column that is not there


class CsvFormat:
    """How to read one table: its columns, and which of them is the label.

    Reads the header from `lines`. Without `label` the label is the first column found under a usual name
    (label, class, target, y, in this order and in any case), else the last column; `label_column` says which.
    Without `delimiter` the header decides: the most frequent of comma, tab and semicolon.
    """

    def __init__(self, lines: TextLines, label: str | None, delimiter: str | None) -> None:
        header_line = next((line for line in lines if line.strip()), "")
        if not header_line:
            raise StreamError(lines.source, None, None, "must have a header and rows of data", "nothing")
        # Ties go to the first of the usual delimiters, hence the comma for a single column.
        self._delimiter = delimiter or max(_USUAL_DELIMITERS, key=header_line.count)
        self._header_number = lines.number
        columns = self._header([header_line], lines.source)
        self._label_position = _find_label(columns, label, lines.source, self._header_number)
        self._width = len(columns)
        self.label_column: str | None = columns[self._label_position]
        self.feature_names: list[str] | None = [
            name for position, name in enumerate(columns) if position != self._label_position
        ]

    @property
    def n_features(self) -> int:
        return self._width - 1

    def scan(self, lines: TextLines) -> Iterator[list[str]]:
        """Check every cell; yields the labels as the file spells them."""
        for _, labels in self.read(lines, _SCAN_BATCH):
            yield labels

    def read(self, lines: TextLines, batch_size: int) -> Iterator[tuple[Matrix, list[str]]]:
        """Batches of rows as C-contiguous float64, with their labels as the file spells them."""
        numbers: list[int] = []
        rows: list[list[str]] = []
        for number, row in self._data_rows(lines):
            if len(row) != self._width:
                # Rows before this one may hold a bad cell: the first fault of the file is reported.
                self._split(lines.source, numbers, rows)
                rule = f"must have {self._width} cells as the header has"
                raise StreamError(lines.source, number, None, rule, str(len(row)))
            numbers.append(number)
            rows.append(row)
            if len(rows) == batch_size:
                yield self._split(lines.source, numbers, rows)
                numbers, rows = [], []
        if rows:
            yield self._split(lines.source, numbers, rows)

    def _data_rows(self, lines: TextLines) -> Iterator[tuple[int, list[str]]]:
        """Every row below the header with the number of its first line; blank lines are skipped."""
        reader = csv.reader(lines, delimiter=self._delimiter, strict=True)
        first_line = 1
        while True:
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise _not_csv(lines.source, first_line, error) from error
            blank = not any(cell.strip() for cell in row) and len(row) <= 1
            if first_line > self._header_number and not blank:
                yield first_line, row
            first_line = reader.line_num + 1  # a quoted cell may go over several lines

    def _split(self, source: str, numbers: list[int], rows: list[list[str]]) -> tuple[NDArray[np.float64], list[str]]:
        """Features and labels of some rows. The rows are used up: the label is taken out of each."""
        labels = [row.pop(self._label_position).strip() for row in rows]
        try:
            features = np.array(rows, dtype=np.float64).reshape(len(rows), self.n_features)
        except ValueError:
            self._raise_for_first_bad_cell(source, numbers, rows, labels)
        # Numpy reads "1_000" as a number, as Python does; see `parse_number`.
        underscores = any("_" in "".join(row) for row in rows)
        if underscores or not np.isfinite(features).all() or _some_label_is_missing(labels):
            self._raise_for_first_bad_cell(source, numbers, rows, labels)
        return features, labels

    def _raise_for_first_bad_cell(
        self, source: str, numbers: list[int], rows: list[list[str]], labels: list[str]
    ) -> NoReturn:
        """Go through a batch that failed cell by cell; only now, since a good batch need not pay for it."""
        for number, row, label in zip(numbers, rows, labels, strict=True):
            for name, cell in zip(self.feature_names or [], row, strict=True):
                if parse_number(cell) is None:
                    field = f"column {name!r}"
                    raise StreamError(source, number, field, "must be a finite number", quoted(cell))
            if _some_label_is_missing([label]):
                field = f"label column {self.label_column!r}"
                rule = "must be a class name or a finite number"
                raise StreamError(source, number, field, rule, quoted(label))
        raise AssertionError(f"no bad cell found in {source} though its conversion failed")

    def _header(self, lines: list[str], source: str) -> list[str]:
        number = self._header_number
        try:
            names = next(csv.reader(lines, delimiter=self._delimiter, strict=True))
        except csv.Error as error:
            raise _not_csv(source, number, error) from error
        columns = [name.strip() for name in names]
        text = quoted(lines[0].rstrip("\r\n"))
        if all(parse_number(name) is not None for name in columns):
            raise StreamError(source, number, "the header", "must name the columns", f"the numbers {text}")
        if len(columns) < 2:
            rule = f"must name at least two columns, separated by {self._delimiter!r}"
            raise StreamError(source, number, "the header", rule, text)
        for position, name in enumerate(columns, start=1):
            if not name:
                raise StreamError(source, number, f"header cell {position}", "must name a column", "nothing")
            if columns.index(name) + 1 < position:
                rule = "must name each column once"
                raise StreamError(source, number, "the header", rule, f"{name!r} twice")
        return columns


def _find_label(columns: list[str], label: str | None, source: str, line: int) -> int:
    if label is not None:
        if label not in columns:
            shown = columns if len(columns) <= _COLUMNS_SHOWN else [*columns[:_COLUMNS_SHOWN], "..."]
            rule = f"must be one of the columns {', '.join(shown)}"
            raise StreamError(source, line, "the label column", rule, repr(label))
        return columns.index(label)
    lower_case = [name.lower() for name in columns]
    for usual in _USUAL_LABEL_NAMES:
        if usual in lower_case:
            return lower_case.index(usual)
    return len(columns) - 1


def _some_label_is_missing(labels: list[str]) -> bool:
    """An empty label, or one that spells a number which is none (nan, inf): both mean "not known"."""
    return any(not label or (parse_number(label) is None and _spells_non_finite(label)) for label in set(labels))


def _spells_non_finite(label: str) -> bool:
    return label.lstrip("+-").lower() in {"nan", "inf", "infinity"}


def _not_csv(source: str, line: int, error: csv.Error) -> StreamError:
    return StreamError(source, line, None, "must be well-formed CSV", f'"{error}"')
