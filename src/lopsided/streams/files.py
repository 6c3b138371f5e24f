"""Open a file as a stream of labelled batches, whichever of the known formats it has."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, Protocol

from lopsided.streams.batches import Batch, LabelCodes, Matrix
from lopsided.streams.csv_files import CsvFormat
from lopsided.streams.errors import StreamError
from lopsided.streams.libsvm import LibsvmFormat, looks_like_libsvm
from lopsided.streams.lines import TextLines

_LIBSVM_SUFFIXES = {".libsvm", ".svm", ".svmlight", ".t"}
_TABLE_DELIMITERS: dict[str, str | None] = {".csv": None, ".tsv": "\t", ".tab": "\t"}


class FileFormat(Protocol):
    """What a format must know to be streamed; a new format is one more class with these members."""

    @property
    def feature_names(self) -> list[str] | None: ...

    @property
    def label_column(self) -> str | None: ...

    @property
    def n_features(self) -> int:
        """Known after `scan`."""
        ...

    def scan(self, lines: TextLines) -> Iterator[list[str]]:
        """Check every line; yields labels as the file spells them."""
        ...

    def read(self, lines: TextLines, batch_size: int) -> Iterator[tuple[Matrix, list[str]]]:
        """Yield matrices with at most `batch_size` rows, and labels as the file spells them."""
        ...


class FileStream:
    """A file as a stream of batches; each `for` loop reads it anew from the start.

    Use `open_stream` to get one. By then the whole file has been checked once, so a malformed line is
    refused before anything is learned from the lines above it.

    Attributes
    ----------
    source : the file as it was named.
    feature_names : names of the columns of X, or None if the format has no names.
    label_column : name of the column that is the label, or None if the format has no names.
    n_features, n_rows : size of the whole file.
    labels : sorted array of the distinct labels of the whole file.
    label_counts : how many rows each label has, the rarest first.
    bytes_total, bytes_read : size of the file on disk, and how far the current loop has come.
    """

    def __init__(self, path: str | os.PathLike[str], file_format: FileFormat, batch_size: int) -> None:
        self.source = os.fspath(path)
        self.batch_size = batch_size
        self._format = file_format
        self.bytes_total = 0
        self.bytes_read = 0
        self.scan()

    def scan(self) -> None:
        """Go through the file once without keeping it: check every line, count rows, collect labels."""
        counts: Counter[str] = Counter()
        with TextLines(self.source) as lines:
            for spellings in self._format.scan(lines):
                counts.update(spellings)
                self.bytes_read = lines.position
        if not counts:
            raise StreamError(self.source, None, None, "must have at least one row of data", "none")
        self.bytes_total = os.path.getsize(self.source)
        self.bytes_read = 0
        self.n_rows = counts.total()
        self._codes = LabelCodes(counts)
        self.labels = self._codes.values
        self.label_counts = self._count_values(counts)

    @property
    def feature_names(self) -> list[str] | None:
        return self._format.feature_names

    @property
    def label_column(self) -> str | None:
        return self._format.label_column

    @property
    def n_features(self) -> int:
        return self._format.n_features

    def __iter__(self) -> Iterator[Batch]:
        # The `with` is in the generator itself: a loop left by `break` closes the generator, and the
        # generator the file.
        with TextLines(self.source) as lines:
            self.bytes_read = 0
            for features, spellings in self._format.read(lines, self.batch_size):
                self.bytes_read = lines.position
                try:
                    labels = self._codes.decode(spellings)
                except KeyError as error:
                    rule = "must not change while it is read"
                    got = f"the new label {error.args[0]!r}"
                    raise StreamError(self.source, None, None, rule, got) from error
                yield Batch(features, labels)
            self.bytes_read = lines.position

    def __repr__(self) -> str:
        return f"FileStream({self.source!r}, n_rows={self.n_rows}, n_features={self.n_features})"

    def _count_values(self, counts: Counter[str]) -> dict[Any, int]:
        # "1" and "+1" are one label: the counts of all its spellings are joined.
        by_value: Counter[Any] = Counter()
        for spelling, count in counts.items():
            by_value[self._codes.decode([spelling])[0].item()] += count
        return dict(sorted(by_value.items(), key=lambda item: item[1]))


def open_stream(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    delimiter: str | None = None,
    batch_size: int = 4096,
) -> FileStream:
    """Check a labelled file from end to end and return it as a stream of batches.

    When: to learn from or to score a file that is larger than memory, or that was not prepared as arrays.

    The format follows from the suffix (.libsvm, .svm, .svmlight and .t are LIBSVM; .csv, .tsv and .tab are
    tables), and otherwise from the first line of data. gzip files are read as they are.

    Parameters
    ----------
    path : the file.
    label : the column of a table that is the label. Default: a column called label, class, target or y
        (in this order, in any case), else the last one; the stream's `label_column` says which it was.
    delimiter : what separates the cells of a table. Default: a tab in .tsv and .tab, else the most frequent
        of comma, tab and semicolon in the header.
    batch_size : rows per batch; memory grows with it, results do not depend on it.

    Raises
    ------
    StreamError : the file cannot be read, or some line of it cannot be used.
    """
    source = os.fspath(path)
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise ValueError(f"batch_size of open_stream must be a positive whole number, got {batch_size!r}.")
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n\0'):
        raise ValueError(
            "delimiter of open_stream must be one character other than a double quote or a line end, "
            f"got {delimiter!r}."
        )
    if _is_libsvm(source):
        if label is not None:
            rule = "must not be named: it is the first entry of every row of a LIBSVM file"
            raise StreamError(source, None, "the label column", rule, repr(label))
        return FileStream(source, LibsvmFormat(), batch_size)
    with TextLines(source) as lines:
        table = CsvFormat(lines, label, delimiter or _TABLE_DELIMITERS.get(_suffix(source)))
    return FileStream(source, table, batch_size)


def _is_libsvm(source: str) -> bool:
    suffix = _suffix(source)
    if suffix in _LIBSVM_SUFFIXES:
        return True
    if suffix in _TABLE_DELIMITERS:
        return False
    with TextLines(source) as lines:
        return looks_like_libsvm(lines)


def _suffix(source: str) -> str:
    """The suffix that tells the format: `data.csv.gz` is a .csv file."""
    path = PurePath(source)
    if path.suffix.lower() == ".gz":
        path = path.with_suffix("")
    return path.suffix.lower()
