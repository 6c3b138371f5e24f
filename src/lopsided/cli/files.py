"""The files of a command as one stream with two labels."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.streams import Batch, FileStream, StreamError, open_stream
from lopsided.streams.batches import parse_number

_LABELS_SHOWN = 5


class JoinedStream:
    """Several files of one format, read one after the other as if they were one.

    Attributes
    ----------
    streams : the single files.
    n_rows, n_features : size of the whole; LIBSVM files may differ in their largest index, tables not in their columns.
    is_sparse : whether the files are LIBSVM.
    label_counts : how many rows each label has, the rarest first.
    classes : the two labels, sorted.
    """

    def __init__(self, paths: Sequence[str | os.PathLike[str]], label: str | None = None) -> None:
        self.streams = [open_stream(path, label=label) for path in paths]
        first = self.streams[0]
        for other in self.streams[1:]:
            _check_same_columns(first, other)
        self.is_sparse = first.feature_names is None
        self.n_rows = sum(stream.n_rows for stream in self.streams)
        self.n_features = max(stream.n_features for stream in self.streams)
        self.label_counts = _joined_counts(self.streams)
        self._check_two_labels()
        self.classes: npt.NDArray[Any] = np.array(sorted(self.label_counts))

    @property
    def name(self) -> str:
        """The files, for a heading."""
        return ", ".join(os.path.basename(stream.source) for stream in self.streams)

    @property
    def label_column(self) -> str | None:
        """The column that is the label; None for LIBSVM."""
        return self.streams[0].label_column

    def rarest(self) -> Any:
        """The label with fewer rows; of two equally frequent ones the larger."""
        (rare, fewer), (other, more) = self.label_counts.items()
        return rare if fewer < more else max(rare, other)

    def label_named(self, text: str) -> Any:
        """The label that a user typed."""
        for label in self.label_counts:
            if text == str(label) or (not isinstance(label, str) and parse_number(text) == label):
                return label
        words = " or ".join(str(label) for label in self.classes)
        raise StreamError(self.name, None, "the positive label", f"must be {words}", repr(text))

    def __iter__(self) -> Iterator[Batch]:
        for stream in self.streams:
            for batch in stream:
                yield Batch(self._widened(batch.X), batch.y.astype(self.classes.dtype))

    def _widened(self, X: Any) -> Any:
        if X.shape[1] == self.n_features:
            return X
        return type(X)((X.data, X.indices, X.indptr), shape=(X.shape[0], self.n_features))

    def _check_two_labels(self) -> None:
        if len(self.label_counts) == 2:
            return
        most_first = list(self.label_counts.items())[::-1]
        shown = ", ".join(f"{label!r} in {rows} rows" for label, rows in most_first[:_LABELS_SHOWN])
        rest = ", ..." if len(most_first) > _LABELS_SHOWN else ""
        column = f"the label column {self.label_column!r}" if self.label_column else "the label"
        count = "one label" if len(most_first) == 1 else f"{len(most_first)} labels"
        raise StreamError(self.name, None, column, "must hold two different labels", f"{count}: {shown}{rest}")


def _check_same_columns(first: FileStream, other: FileStream) -> None:
    if (first.feature_names is None) != (other.feature_names is None):
        kinds = ["LIBSVM" if stream.feature_names is None else "table" for stream in (first, other)]
        rule = f"must be of the same format as {first.source} ({kinds[0]})"
        raise StreamError(other.source, None, None, rule, f"a {kinds[1]} file")
    if first.feature_names != other.feature_names or first.label_column != other.label_column:
        expected, got = (_columns(stream) for stream in (first, other))
        rule = f"must name the columns of {first.source} in the same order ({expected})"
        raise StreamError(other.source, None, "the header", rule, got)


def _columns(stream: FileStream) -> str:
    return ", ".join([*(stream.feature_names or []), f"label {stream.label_column}"])


def _joined_counts(streams: Sequence[FileStream]) -> dict[Any, int]:
    counts: Counter[Any] = Counter()
    for stream in streams:
        counts.update(stream.label_counts)
    if len({isinstance(label, str) for label in counts}) == 2:
        # One file has numbers only and another words: all are words then.
        spelled: Counter[Any] = Counter()
        for label, rows in counts.items():
            spelled[str(label)] += rows
        counts = spelled
    return dict(sorted(counts.items(), key=lambda item: item[1]))
