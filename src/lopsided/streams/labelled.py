"""A labelled file of numbers as batches of arrays, for Python: `for X, y in open_stream(path)`.

Here the whole file is gone through once before anything is handed out, because its labels and, for LIBSVM, its width
are properties of the whole. The command line reads files once; it learns both from the first rows.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lopsided.streams.blocks import cut_at_lines
from lopsided.streams.cells import NUMBER, TEXT, Expected
from lopsided.streams.errors import StreamError, quoted, shown_columns
from lopsided.streams.labels import spelled, valued
from lopsided.streams.libsvm import read_blocks
from lopsided.streams.sources import Sources
from lopsided.streams.tables import LIBSVM, TableStream, format_of

USUAL_LABEL_NAMES = ("label", "class", "target", "y")


class Batch(NamedTuple):
    """Some rows, in the order of the file: float64 features (an array, or CSR for LIBSVM) and the labels.

    Labels are integers if all labels of the file are whole numbers, else floats if all are numbers, else strings.
    """

    X: Any
    y: NDArray[Any]


class LabelledFile:
    """A file as batches; each loop reads it anew. Use `open_stream` to get one.

    Attributes
    ----------
    source : str
        The file as it was named.
    feature_names : list of str or None
        Names of the columns that are features; None for LIBSVM.
    label_column : str or None
        Name of the column that is the label; None for LIBSVM.
    n_rows : int
        Rows of the whole file.
    n_features : int
        Features of the whole file.
    labels : array
        Its labels, sorted.
    label_counts : mapping
        How many rows each label has, the rarest first.
    """

    def __init__(self, path: str, label: str | None, delimiter: str | None) -> None:
        self.source = path
        self._delimiter = delimiter
        with Sources([path]).open(path) as source:
            self.is_sparse = format_of(source, path) == LIBSVM
        self.feature_names: list[str] | None = None
        self.label_column: str | None = None
        if self.is_sparse:
            if label is not None:
                rule = "must not be named: it is the first entry of every row of a LIBSVM file"
                raise StreamError(path, None, "the label column", rule, repr(label))
            counts = self._scan_sparse()
        else:
            counts = self._scan_table(label)
        if not counts:
            raise StreamError(path, None, None, "must have at least one row of data", "none")
        self.n_rows = counts.total()
        values = {spelling: valued(spelling) for spelling in counts}
        if len({isinstance(value, str) for value in values.values()}) == 2:  # numbers and words: all are words
            values = {spelling: spelling for spelling in counts}
        self._values = values
        self.labels: NDArray[Any] = np.unique(np.array(list(values.values())))
        joined: Counter[Any] = Counter()
        for spelling, rows in counts.items():
            joined[values[spelling]] += rows
        self.label_counts = dict(sorted(joined.items(), key=lambda item: item[1]))

    def __repr__(self) -> str:
        return f"LabelledFile({self.source!r}, n_rows={self.n_rows}, n_features={self.n_features})"

    def __iter__(self) -> Iterator[Batch]:
        for X, spellings in self._sparse_rows() if self.is_sparse else self._table_rows():
            try:
                y = np.array([self._values[spelling] for spelling in spellings], dtype=self.labels.dtype)
            except KeyError as error:
                got = f"the new label {error.args[0]!r}"
                raise StreamError(self.source, None, None, "must not change while it is read", got) from None
            yield Batch(X, y)

    # ---------------------------------------------------------------- tables

    def _scan_table(self, label: str | None) -> Counter[str]:
        with TableStream(Sources([self.source]), delimiter=self._delimiter) as stream:
            self.label_column = label_column(stream.columns, label, self.source)
            self.feature_names = [name for name in stream.columns if name != self.label_column]
        self.n_features = len(self.feature_names)
        counts: Counter[str] = Counter()
        for _, spellings in self._table_rows():
            counts.update(spellings)
        return counts

    def _table_rows(self) -> Iterator[tuple[NDArray[np.float64], list[str]]]:
        assert self.feature_names is not None and self.label_column is not None
        expected = [Expected(name, NUMBER) for name in self.feature_names]
        with TableStream(Sources([self.source]), delimiter=self._delimiter) as stream:
            for chunk in stream.chunks([*expected, Expected(self.label_column, TEXT)]):
                if chunk.bad:
                    raise chunk.bad[0]
                X = np.empty((chunk.n_rows, self.n_features))
                for position, name in enumerate(self.feature_names):
                    X[:, position] = chunk.columns[name]
                    if np.isnan(X[:, position]).any():
                        field = f"column {name!r}"
                        raise StreamError(self.source, None, field, "must be a finite number in every row", "nothing")
                spellings = [spelled(text) for text in chunk.columns[self.label_column].to_pylist()]
                for spelling in set(spellings):
                    if valued(spelling) is None:
                        field, rule = f"label column {self.label_column!r}", "must be a class name or a finite number"
                        raise StreamError(self.source, None, field, rule, quoted(spelling))
                yield X, spellings

    # ---------------------------------------------------------------- LIBSVM

    def _scan_sparse(self) -> Counter[str]:
        counts: Counter[str] = Counter()
        first, last = 1, 0
        with Sources([self.source]).open(self.source) as source:
            for rows in read_blocks(cut_at_lines(source)):
                if rows.bad:
                    raise rows.bad[0]
                counts.update(spelled(float(label)) for label in rows.labels)
                if rows.indices.size:
                    first, last = min(first, int(rows.indices.min())), max(last, int(rows.indices.max()))
        if last < first:
            raise StreamError(self.source, None, None, "must hold at least one index:value pair", "none")
        self._first_index, self.n_features = first, last - first + 1
        return counts

    def _sparse_rows(self) -> Iterator[tuple[Any, list[str]]]:
        with Sources([self.source]).open(self.source) as source:
            for rows in read_blocks(cut_at_lines(source)):
                X, _ = rows.matrix(self.n_features, self._first_index)
                yield X, [spelled(float(label)) for label in rows.labels]


def open_stream(
    path: str | os.PathLike[str], *, label: str | None = None, delimiter: str | None = None
) -> LabelledFile:
    """Check a labelled file of numbers from end to end and return it as a stream of batches.

    When: to learn from or to score a file in Python that was not prepared as arrays. Tables with words, dates or
    missing values are for `TablePipeline`.

    Parameters
    ----------
    path : path
        The file: CSV, NDJSON, Parquet, Arrow or LIBSVM, plain, gzip or zstd.
    label : str, optional
        The column of a table that is the label. Default: a column called label, class, target or y (in this order, in
        any case), else the last one; the stream's `label_column` says which it was.
    delimiter : str, optional
        What separates the cells of a CSV. Default: what its header tells.

    Raises
    ------
    StreamError
        The file cannot be read, or some row of it cannot be used.
    """
    return LabelledFile(os.fspath(path), label, delimiter)


def label_column(columns: list[str], label: str | None, source: str) -> str:
    """The column that is the label: as told, or by a usual name, or the last."""
    if label is not None:
        if label not in columns:
            rule = f"must be one of the columns {shown_columns(columns)}"
            raise StreamError(source, None, "the label column", rule, repr(label))
        return label
    lower_case = [name.lower() for name in columns]
    for usual in USUAL_LABEL_NAMES:
        if usual in lower_case:
            return columns[lower_case.index(usual)]
    return columns[-1]
