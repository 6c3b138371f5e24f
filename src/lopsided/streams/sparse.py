"""LIBSVM files as one stream of sparse rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lopsided.streams.blocks import BLOCK_BYTES, cut_at_lines, line_ends
from lopsided.streams.bookmarks import Bookmark, Bookmarks, Place
from lopsided.streams.byte_source import ByteSource
from lopsided.streams.errors import StreamError, quoted
from lopsided.streams.file_stream import FileStream
from lopsided.streams.labels import Spellings, spelled
from lopsided.streams.libsvm import SparseRows, read_blocks
from lopsided.streams.sources import Sources
from lopsided.streams.tables import LIBSVM, format_of


@dataclass
class SparseChunk:
    """Some rows: a CSR matrix, +1 and -1 for their labels, rows left out, and pairs left out beyond the width.

    `after` and `mark` say how far one is when so many of these rows have been taken; they are asked for seldom.
    """

    X: Any
    signs: Any
    bad: list[StreamError]
    n_beyond: int
    after: Callable[[int], Place] | None
    mark: Callable[[int], Bookmark] | None = None

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.X.shape[0])


class SparseStream(FileStream):
    """LIBSVM files read once, in order; use it in a `with` statement.

    The first block (up to 4 MB) is read at once. It tells whether indices count from 0 or from 1 and, unless
    `n_features` says it, how many features there are: the largest index in it. Later indices beyond that are left out
    and counted; a 0 where indices count from 1 is an error.
    """

    def __init__(
        self,
        sources: Sources,
        *,
        n_features: int | None = None,
        first_index: int | None = None,
        bookmarks: Bookmarks | None = None,
    ) -> None:
        super().__init__(sources, bookmarks)
        self._source = self._first()
        self._rows = self._read()
        try:
            self._look_ahead(n_features, first_index)
        except BaseException:
            self._source.close()
            raise

    def _look_ahead(self, n_features: int | None, first_index: int | None) -> None:
        if self.going_on is not None:  # whoever goes on knows what the features are
            self.n_features, self.first_index = n_features or 1, 1 if first_index is None else first_index
            self.head_problem, self.head_labels, self.is_whole = None, [], False
            return
        first = next(self._rows, None)
        if first is None or not (first.n_rows or first.bad):
            raise self._empty()
        if not first.n_rows:
            raise first.bad[0]
        self.head_problem = first.bad[0] if first.bad else None
        following = None if self._source.may_wait else next(self._rows, None)
        self._look_for_another()
        self.is_whole = not self._source.may_wait and following is None and self._next_path is None
        self._rows = chain([first] if following is None else [first, following], self._rows)
        self.first_index = self._first_index(first) if first_index is None else first_index
        last = int(first.indices.max()) if first.indices.size else self.first_index - 1
        self.n_features = n_features or last - self.first_index + 1
        if self.n_features < 1:
            raise first.bad[0] if first.bad else self._empty()
        self.head_labels = [spelled(float(label)) for label in first.labels]

    def _empty(self) -> StreamError:
        return StreamError(self._source.name, None, None, "must hold at least one index:value pair", "none")

    def chunks(self, labels: Spellings | None) -> Iterator[SparseChunk]:
        """All rows of all files; without `labels` whatever stands in their place is not looked at."""
        while True:
            for rows in self._rows:
                self.sources.noticed()
                yield self._with_mark(self._chunk(rows, labels))
            self._leave()
            source = self._following()
            if source is None:
                return
            self._source, self._rows = source, self._read(source)

    def _chunk(self, rows: SparseRows, labels: Spellings | None) -> SparseChunk:
        bad = list(rows.bad)
        kept = np.ones(rows.n_rows, dtype=np.bool_)
        signs = np.full(rows.n_rows, np.nan)
        if labels is not None:
            signs, known = rows.signs(labels)
            kept[:] = False
            kept[known] = True
            for row in np.flatnonzero(~kept):
                bad.append(
                    self._refused(rows, int(row), "the label", labels.rule, quoted(spelled(float(rows.labels[row]))))
                )
        if self.first_index == 1 and rows.indices.size and not rows.indices.min():
            for row in np.flatnonzero(np.diff(rows.starts) > 0):
                if rows.indices[rows.starts[row]] == 0 and kept[row]:
                    kept[row] = False
                    bad.append(
                        self._refused(rows, int(row), None, "must count its indices from 1 as rows before it do", "0")
                    )
        matrix, n_beyond = rows.matrix(self.n_features, self.first_index)
        if not kept.all():
            matrix, signs = matrix[kept], signs[kept]
        bad.sort(key=lambda error: error.line or 0)
        # A line without an end is no block, and so no place: the next block knows where it is.
        after = partial(_place_after, rows, np.flatnonzero(kept), bad) if rows.block.data else None
        return SparseChunk(matrix, signs, bad, n_beyond, after)

    def _refused(self, rows: SparseRows, row: int, field: str | None, rule: str, got: str) -> StreamError:
        line, text = rows.line_of(row)
        error = StreamError(rows.source, line, field, rule, got)
        error.raw = text
        return error

    def _first_index(self, rows: SparseRows) -> int:
        return 0 if rows.indices.size and not rows.indices.min() else 1

    def _read(self, source: ByteSource | None = None) -> Iterator[SparseRows]:
        """The rows of the present file, which must be LIBSVM as the first one."""
        if source is not None and format_of(source, self.path) != LIBSVM:
            source.close()
            rule = f"must be of the same format as {self.sources.paths[0]} (LIBSVM)"
            raise StreamError(source.name, None, None, rule, "a table")
        lines_before = 0 if self.going_on is None else self.going_on.line
        return read_blocks(cut_at_lines(source or self._source, BLOCK_BYTES, lines_before=lines_before))


def _place_after(rows: SparseRows, kept: NDArray[np.int64], bad: list[StreamError], n: int) -> Place:
    """Where one is when so many of the good rows of a block have been taken."""
    block = rows.block
    if n == kept.size:
        return block.place_at(len(block.data))
    line = rows.line_of(int(kept[n - 1]))[0] if n else block.first_line - 1
    ends = [0, *line_ends(block.data), len(block.data)]
    place = block.place_at(ends[line - block.first_line + 1])
    return place._replace(bad_ahead=sum((error.line or 0) > place.line for error in bad))
