"""LIBSVM text, also called SVMlight: `label index:value index:value ...`, one sparse example a line.

`#` starts a comment, `qid:` pairs (query numbers of ranking data) are ignored and blank lines are skipped. Blocks are
read by compiled code; only a row that it does not understand is read by Python, to take it or to say what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lopsided.streams.blocks import Block
from lopsided.streams.cells import parse_number
from lopsided.streams.errors import NO_NUL, UTF_8, StreamError, quoted
from lopsided.streams.labels import Spellings, spelled

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_ROW = re.compile(r"[^\s:_]+(?:\s+[0-9]+:[^\s:_]+)*\s*")
_ROW_WITH_FEATURES = re.compile(r"[^\s:,;]+(?:\s+(?:[0-9]+|qid):[^\s:]+)+\s*")
_QUERY = re.compile(r"\sqid:\S*")
# Sparse matrices hold their column numbers in 32 bits.
LARGEST_INDEX = 2**31 - 2


def looks_like_libsvm(start: bytes) -> bool:
    """Whether the first data line has the shape `label index:value ...`.

    A line with a lone number decides nothing: it is an example without features or a table of one column.
    """
    for line in start.decode("utf-8", "replace").splitlines():
        row = line.partition("#")[0].strip()
        if row and parse_number(row) is None:
            return _ROW_WITH_FEATURES.fullmatch(row) is not None
    return False


@dataclass
class SparseRows:
    """Some rows taken apart: labels as numbers, and all pairs in one long column with the end of each row."""

    source: str
    labels: NDArray[np.float64]
    starts: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float64]
    bad: list[StreamError]
    block: Block

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.labels.size

    def matrix(self, n_features: int, first_index: int) -> tuple[csr_array, int]:
        """The rows as CSR of this width, and how many pairs beyond it were left out."""
        # Imported here: loading scipy.sparse takes longer than reading most CSV files, which never need it.
        from scipy.sparse import csr_array

        columns, values, starts = self.indices - np.int32(first_index), self.values, self.starts
        left_out = 0
        if columns.size and columns.max() >= n_features:
            beyond = columns >= n_features
            left_out = int(np.count_nonzero(beyond))
            before = np.concatenate([[0], np.cumsum(beyond)])
            starts = starts - before[starts]
            columns, values = columns[~beyond], values[~beyond]
        shape = (self.n_rows, n_features)
        return csr_array((values, columns, starts), shape=shape), left_out

    def line_of(self, row: int) -> tuple[int, str]:
        """The line of a row, and its text."""
        number, text = self._lines[row]
        return number, text.decode("utf-8", "backslashreplace")

    @cached_property
    def _lines(self) -> list[tuple[int, bytes]]:
        """The line of every row, and its text; found when the first is asked for, because most blocks have no fault."""
        refused = {error.line for error in self.bad}
        lines = enumerate(self.block.data.split(b"\n"), start=self.block.first_line)
        return [(n, text) for n, text in lines if text.partition(b"#")[0].strip() and n not in refused]

    def signs(self, labels: Spellings) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """+1 and -1 for the rows whose label is one of the two, and the numbers of those rows."""
        distinct, places = np.unique(self.labels, return_inverse=True)
        found = [labels.sign(spelled(float(value))) for value in distinct]
        signs = np.array([np.nan if sign is None else sign for sign in found])[places]
        return signs, np.flatnonzero(~np.isnan(signs))


def read_block(block: Block) -> SparseRows:
    """All rows of a block that can be read, and an error for each that cannot."""
    from lopsided.streams.parsing.decimals import POWERS
    from lopsided.streams.parsing.svmlight import read_rows

    text = np.frombuffer(block.data, dtype=np.uint8)
    # A pair takes four bytes at least; room that is not written to costs nothing, counting so many colons does.
    most_rows, most_pairs = block.data.count(b"\n") + 1, len(block.data) // 4 + 1
    label_bits, value_bits = np.empty(most_rows, dtype=np.uint64), np.empty(most_pairs, dtype=np.uint64)
    starts, features = np.empty(most_rows + 1, dtype=np.int64), np.empty(most_pairs, dtype=np.int32)
    starts[0] = 0
    done = np.zeros(2, dtype=np.int64)
    labels, values = label_bits.view(np.float64), value_bits.view(np.float64)
    bad: list[StreamError] = []
    position, line, counted = 0, block.first_line, 0
    while position < len(block.data):
        position = read_rows(text, position, POWERS, label_bits, starts, features, value_bits, done)
        if position >= len(block.data):
            break
        end = block.data.find(b"\n", position) + 1 or len(block.data)
        line, counted = line + block.data.count(b"\n", counted, position), position
        try:
            label, pairs = _slowly(block.source, line, block.data[position:end])
        except StreamError as error:
            error.raw = block.data[position:end].decode("utf-8", "backslashreplace").rstrip("\r\n")
            bad.append(error)
        else:
            row, stop = done[0], done[1] + len(pairs)
            labels[row] = label
            for place, (index, value) in enumerate(pairs, start=int(done[1])):
                features[place], values[place] = index, value
            starts[row + 1] = stop
            done[:] = row + 1, stop
        position = end
    rows, pairs_read = done.tolist()
    return SparseRows(
        block.source, labels[:rows], starts[: rows + 1], features[:pairs_read], values[:pairs_read], bad, block
    )


def _slowly(source: str, line: int, raw: bytes) -> tuple[float, Sequence[tuple[int, float]]]:
    """One row by Python, or what is wrong with it."""
    if b"\0" in raw:
        got = f"one at byte {raw.index(0) + 1} of the line"
        raise StreamError(source, line, "the text", NO_NUL, got)
    try:
        text = raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        got = f"byte 0x{raw[error.start]:02x} at byte {error.start + 1} of the line"
        raise StreamError(source, line, "the text", UTF_8, got) from error
    row = _QUERY.sub(" ", text.partition("#")[0]).strip()
    if not _ROW.fullmatch(row):
        _raise_for_shape(source, line, row)
    label, *cells = row.replace(":", " ").split()
    number = parse_number(label)
    if number is None:
        raise StreamError(source, line, "the label", "must be a finite number", quoted(label))
    pairs = []
    for index, spelling in zip(cells[::2], cells[1::2], strict=True):
        # The length first: Python refuses to turn thousands of digits into a number.
        if len(index) > 18 or int(index) > LARGEST_INDEX:
            rule = f"must be a whole number up to {LARGEST_INDEX}"
            raise StreamError(source, line, "an index", rule, quoted(index))
        value = parse_number(spelling)
        if value is None:
            raise StreamError(source, line, f"the value of index {index}", "must be a finite number", quoted(spelling))
        pairs.append((int(index), value))
    for (before, _), (after, _) in pairwise(pairs):
        if after <= before:
            raise StreamError(source, line, None, "must have strictly ascending indices", f"{after} after {before}")
    return number, pairs


def _raise_for_shape(source: str, line: int, row: str) -> None:
    """Name the first part of the row that is neither a label nor a pair."""
    label, *pairs = row.split() or [""]
    if ":" in label or "_" in label or not label:
        raise StreamError(source, line, "the label", "must be a finite number", quoted(label))
    for position, pair in enumerate(pairs, start=1):
        index, colon, value = pair.partition(":")
        if not (colon and index.isascii() and index.isdigit() and value and ":" not in value):
            rule = "must be index:value with a whole number as index"
            raise StreamError(source, line, f"pair {position}", rule, quoted(pair))
        if parse_number(value) is None:
            raise StreamError(source, line, f"the value of index {index}", "must be a finite number", quoted(value))


def read_blocks(blocks: Iterator[Block | StreamError]) -> Iterator[SparseRows]:
    """The rows of one file, block by block."""
    for block in blocks:
        if isinstance(block, StreamError):
            rows = read_block(Block(block.source, 1, b""))
            rows.bad.append(block)
            yield rows
        else:
            yield read_block(block)
