"""LIBSVM text, also called SVMlight: `label index:value index:value ...`, one sparse example a line.

`#` starts a comment, `qid:` pairs (query numbers of ranking data) are ignored and blank lines are
skipped. Indices count from 1, or from 0 if a 0 occurs anywhere in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lopsided.streams.batches import Matrix, parse_number
from lopsided.streams.errors import StreamError, quoted
from lopsided.streams.lines import TextLines

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# A whole row in one match, so that the split below may trust its shape. The three kinds of characters
# (blank, colon, other) exclude each other: the match is linear in the length of the line.
_ROW = re.compile(r"[^\s:_]+(?:\s+[0-9]+:[^\s:_]+)*\s*")
_ROW_WITH_FEATURES = re.compile(r"[^\s:,;]+(?:\s+(?:[0-9]+|qid):[^\s:]+)+\s*")
_QUERY = re.compile(r"\sqid:\S*")

# Sparse matrices hold their column numbers in 32 bits.
_LARGEST_INDEX = 2**31 - 2

_SCAN_BATCH = 4096


def looks_like_libsvm(lines: TextLines) -> bool:
    """Whether the first data line has the shape `label index:value ...`.

    A line with a lone number decides nothing: it is an example without features or a table of one column.
    """
    for line in lines:
        row = line.partition("#")[0].strip()
        if row and parse_number(row) is None:
            return _ROW_WITH_FEATURES.fullmatch(row) is not None
    return False


class LibsvmFormat:
    """How to read one LIBSVM file. `scan` comes first: it finds how many features there are."""

    feature_names: list[str] | None = None
    label_column: str | None = None

    def __init__(self) -> None:
        self._first_index = 1
        self._last_index = 0

    @property
    def n_features(self) -> int:
        """Columns of the matrix, from the first possible index to the largest one found."""
        return self._last_index - self._first_index + 1

    def scan(self, lines: TextLines) -> Iterator[list[str]]:
        """Check every line and find the range of the indices; yields the labels as the file spells them."""
        first, last = 1, 0
        for rows in _batches_of_rows(lines, _SCAN_BATCH):
            if rows.indices.size:
                first = min(first, int(rows.indices.min()))
                last = max(last, int(rows.indices.max()))
            self._first_index, self._last_index = first, last
            yield rows.labels
        if last < first:
            rule = "must hold at least one index:value pair"
            raise StreamError(lines.source, None, None, rule, "none")

    def read(self, lines: TextLines, batch_size: int) -> Iterator[tuple[Matrix, list[str]]]:
        """Batches of rows as compressed sparse rows, with their labels as the file spells them."""
        for rows in _batches_of_rows(lines, batch_size):
            columns = rows.indices - self._first_index
            if columns.size and not 0 <= columns.min() <= columns.max() < self.n_features:
                rule = "must not change while it is read"
                got = f"an index outside of the {self.n_features} features found at first"
                raise StreamError(lines.source, None, None, rule, got)
            yield _sparse_rows(rows.values, columns, rows.row_ends, self.n_features), rows.labels


class _Rows:
    """Some rows taken apart: labels, and all pairs in one long column with the end of each row."""

    def __init__(self, source: str, numbers: list[int], rows: list[list[str]]) -> None:
        """`rows` are lists of a label and then index, value, index, value, ...; `numbers` their lines."""
        self.labels = [row[0] for row in rows]
        pairs_before = np.cumsum([0] + [len(row) // 2 for row in rows])
        self.row_ends: NDArray[np.int64] = pairs_before.astype(np.int64)
        try:
            labels = np.array(self.labels, dtype=np.float64)
            self.values = np.array([value for row in rows for value in row[2::2]], dtype=np.float64)
            self.indices = np.array([index for row in rows for index in row[1::2]], dtype=np.int64)
        except (ValueError, OverflowError):
            _raise_for_first_bad_row(source, numbers, rows)
            raise
        if not (np.isfinite(labels).all() and np.isfinite(self.values).all() and self._indices_ascend()):
            _raise_for_first_bad_row(source, numbers, rows)

    def _indices_ascend(self) -> bool:
        if not self.indices.size:
            return True
        steps = np.diff(self.indices)
        # Between the last pair of a row and the first of the next one an index may fall. A row without
        # pairs repeats the end of the row before; the first and the last end have no step.
        borders = self.row_ends[(self.row_ends > 0) & (self.row_ends < self.indices.size)]
        steps[borders - 1] = 1
        return bool((steps > 0).all() and self.indices.max() <= _LARGEST_INDEX)


def _batches_of_rows(lines: TextLines, batch_size: int) -> Iterator[_Rows]:
    numbers: list[int] = []
    rows: list[list[str]] = []
    for line in lines:
        row = line.partition("#")[0]
        if "qid:" in row:
            row = _QUERY.sub(" ", row)
        row = row.strip()
        if not row:
            continue
        if not _ROW.fullmatch(row):
            # Rows before this one may be wrong in another way: the first fault of the file is reported.
            _Rows(lines.source, numbers, rows)
            _raise_for_shape(lines.source, lines.number, row)
        numbers.append(lines.number)
        rows.append(row.replace(":", " ").split())
        if len(rows) == batch_size:
            yield _Rows(lines.source, numbers, rows)
            numbers, rows = [], []
    if rows:
        yield _Rows(lines.source, numbers, rows)


def _raise_for_shape(source: str, line: int, row: str) -> None:
    """Name the first part of the row that is neither a label nor a pair."""
    label, *pairs = row.split()
    if ":" in label or "_" in label:
        raise StreamError(source, line, "the label", "must be a finite number", quoted(label))
    for position, pair in enumerate(pairs, start=1):
        index, colon, value = pair.partition(":")
        if not (colon and index.isascii() and index.isdigit() and value and ":" not in value):
            rule = "must be index:value with a whole number as index"
            raise StreamError(source, line, f"pair {position}", rule, quoted(pair))
        if parse_number(value) is None:
            field = f"the value of index {index}"
            raise StreamError(source, line, field, "must be a finite number", quoted(value))


def _raise_for_first_bad_row(source: str, numbers: list[int], rows: list[list[str]]) -> None:
    """Go through a batch that failed cell by cell; only now, since a good batch need not pay for it."""
    for line, (label, *cells) in zip(numbers, rows, strict=True):
        if parse_number(label) is None:
            raise StreamError(source, line, "the label", "must be a finite number", quoted(label))
        for index, value in zip(cells[::2], cells[1::2], strict=True):
            # The length first: Python refuses to turn thousands of digits into a number.
            if len(index) > 18 or int(index) > _LARGEST_INDEX:
                rule = f"must be a whole number up to {_LARGEST_INDEX}"
                raise StreamError(source, line, "an index", rule, quoted(index))
            if parse_number(value) is None:
                field = f"the value of index {index}"
                raise StreamError(source, line, field, "must be a finite number", quoted(value))
        for before, after in pairwise(cells[::2]):
            if int(after) <= int(before):
                rule = "must have strictly ascending indices"
                raise StreamError(source, line, None, rule, f"{after} after {before}")


def _sparse_rows(
    values: NDArray[np.float64], columns: NDArray[np.int64], row_ends: NDArray[np.int64], n_features: int
) -> csr_array:
    # Imported here: loading scipy.sparse takes longer than reading most CSV files, which never need it.
    from scipy.sparse import csr_array

    indices = (columns.astype(np.int32), row_ends.astype(np.int32))
    return csr_array((values, *indices), shape=(row_ends.size - 1, n_features), dtype=np.float64)
