"""Files as portions of encoded rows with labels, bad rows dealt with: what commands learn from and score."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import click
import numpy as np

from lopsided.cli.bad_rows import BadRows
from lopsided.constraints import ParameterError
from lopsided.encoding import EncodedRows, Schema, SchemaError, TableEncoder, infer_schema
from lopsided.estimators.compose.file_columns import reads_sparse_files, reads_tables, schema_for
from lopsided.streams import Chunk, Labels, Sources, SparseStream, StreamError, TableStream, find_labels
from lopsided.streams.errors import shown_columns
from lopsided.streams.labelled import label_column
from lopsided.streams.labels import spelled
from lopsided.streams.sources import KAFKA, STANDARD_INPUT
from lopsided.streams.tables import LIBSVM, format_of

SLICE = 1024  # rows


@dataclass(frozen=True)
class Reading:
    """What the options say about the files and their columns."""

    files: Sequence[str]
    file_format: str | None = None
    delimiter: str | None = None
    follow: bool = False
    idle: float | None = None
    on_error: str = "stop"
    quarantine: str | None = None
    label: str | None = None
    positive: str | None = None
    id_column: str | None = None
    time_column: str | None = None
    ignore: Sequence[str] = ()
    kinds: Sequence[str] = ()
    width: int | None = None
    features: int | None = None

    def sources(self) -> Sources:
        """The files; a delimiter is checked on the way."""
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n\0'):
            raise ParameterError(
                "The option --delimiter must be one character other than a double quote or a line end, "
                f"got {self.delimiter!r}."
            )
        return Sources(self.files, follow=self.follow, idle=self.idle)


@dataclass
class Portion:
    """Some rows: encoded features, signs of their labels (NaN without), their moments in seconds, and the chunk."""

    X: Any
    signs: Any
    times: Any = None
    chunk: Chunk | None = None

    def slices(self, n_rows: int) -> Iterator[Portion]:
        """The same rows, at most so many at a time, without the chunk."""
        for start in range(0, self.signs.size, n_rows):
            rows = slice(start, start + n_rows)
            yield Portion(self.X[rows], self.signs[rows], None if self.times is None else self.times[rows])


@dataclass
class Feed:
    """A stream of portions; made by `open_feed`, used in a `with` statement."""

    stream: Any
    bad: BadRows
    schema: Schema | None
    labels: Labels | None
    first_index: int = 1
    n_features: int = 0
    notes: list[str] = field(default_factory=list)
    n_beyond: int = 0

    def slices(self, n_rows: int = SLICE) -> Iterator[Portion]:
        """All portions in slices: a learner may take milliseconds a row, and Ctrl-C and checkpoints wait for one."""
        for portion in self:
            yield from portion.slices(n_rows)

    def __enter__(self) -> Feed:
        self.bad.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.__exit__()
        self.bad.__exit__()

    @property
    def name(self) -> str:
        """The files, for a heading."""
        return str(self.stream.name)

    @property
    def is_sparse(self) -> bool:
        """Whether the files are LIBSVM."""
        return self.schema is None

    @property
    def label_column(self) -> str | None:
        """The column that is the label."""
        return None if self.schema is None else self.schema.label

    @property
    def progress(self) -> float | None:
        """The share of the bytes that has been read; None if nobody knows."""
        total = self.stream.sources.total
        return self.stream.bytes_read / total if total else None

    def labels_of(self, signs: Any) -> Any:
        """Labels as the model has them."""
        assert self.labels is not None
        classes = self.labels.classes
        positive = int(np.flatnonzero(classes == self.labels.pos_label)[0])
        return classes[np.where(signs > 0, positive, 1 - positive)]

    def __iter__(self) -> Iterator[Portion]:
        if self.schema is None:
            for part in self.stream.chunks(self.labels):
                self.bad.take(part.bad)
                self._note_beyond(part.n_beyond)
                if part.X.shape[0]:
                    yield Portion(part.X, part.signs)
            return
        encoder = TableEncoder(self.schema)
        for chunk in self.stream.chunks(encoder.expected(self.labels)):
            self.bad.take(chunk.bad)
            if chunk.new_columns:
                self.note(f"new columns in {chunk.source}, ignored: {', '.join(chunk.new_columns)}")
            if chunk.n_rows:
                signs = chunk.columns[self.schema.label] if self.labels is not None else np.full(chunk.n_rows, np.nan)
                rows = encoder.matrix(chunk.columns).view(EncodedRows)
                yield Portion(rows, signs, _seconds(self.schema, chunk), chunk)

    def _note_beyond(self, count: int) -> None:
        if count and not self.n_beyond:
            self.note(
                f"indices beyond {self.n_features + self.first_index - 1:,}, the largest of the first rows, are "
                "ignored; see --features"
            )
        self.n_beyond += count

    def note(self, text: str) -> None:
        """Say something on standard error, and remember it."""
        self.notes.append(text)
        click.secho(f"note: {text}", fg="yellow", err=True)


def open_feed(reading: Reading, model: Any = None, *, labelled: bool = True) -> Feed:
    """Open the files and look at their first rows; with a `model` its schema and labels hold."""
    sources = reading.sources()
    bad = BadRows(reading.on_error, reading.quarantine)
    stream: Any
    build: Any
    if _is_libsvm(reading, model):
        stream = _sparse_stream(reading, sources, model)
        build = _sparse_feed
    else:
        stream = TableStream(sources, file_format=reading.file_format, delimiter=reading.delimiter)
        build = _table_feed
    try:
        return build(reading, stream, bad, model, labelled)
    except BaseException:
        stream.__exit__()
        raise


@contextmanager
def _broken_rows_first(stream: SparseStream | TableStream, bad: BadRows) -> Iterator[None]:
    """A row that is broken explains more than rows or labels that are missing because of it."""
    try:
        yield
    except StreamError as error:
        if bad.stops and stream.head_problem is not None:
            raise stream.head_problem from error
        raise


def _is_libsvm(reading: Reading, model: Any) -> bool:
    if reading.file_format is not None:
        found = reading.file_format == LIBSVM
    elif not (os.path.isfile(reading.files[0]) or os.path.isdir(reading.files[0])) and _is_pipe(reading.files[0]):
        found = model is not None and not reads_tables(model)  # a pipe cannot be looked into beforehand
    else:
        probe = reading.sources()
        path = next(iter(probe), None)
        if path is None:
            raise StreamError(probe.name, None, None, "must hold files", "none")
        with Sources([path]).open(path) as source:
            found = format_of(source, path) == LIBSVM
    if model is not None and not (reads_sparse_files(model) if found else reads_tables(model)):
        kinds = ("a table", "LIBSVM") if found else ("LIBSVM", "a table")
        raise StreamError(
            reading.files[0], None, None, f"must be {kinds[0]} as the model has learned from", f"{kinds[1]}"
        )
    return found


def _is_pipe(path: str) -> bool:
    return path == STANDARD_INPUT or path.startswith(KAFKA) or os.path.exists(path)


def _sparse_stream(reading: Reading, sources: Sources, model: Any) -> SparseStream:
    if reading.label is not None:
        rule = "must not be named: it is the first entry of every row of a LIBSVM file"
        raise StreamError(reading.files[0], None, "the label column", rule, repr(reading.label))
    if model is None:
        return SparseStream(sources, n_features=reading.features)
    first_index = getattr(model, "first_index", None)  # a model from Python has seen no file: this one tells
    return SparseStream(sources, n_features=model.n_features_in_, first_index=first_index)


def _sparse_feed(reading: Reading, stream: SparseStream, bad: BadRows, model: Any, labelled: bool) -> Feed:
    labels = None
    if labelled:
        with _broken_rows_first(stream, bad):
            labels = _labels_of(model) or find_labels(
                stream.head_labels, reading.positive, source=stream.name, column=None, complete=stream.is_whole
            )
    return Feed(stream, bad, None, labels, stream.first_index, stream.n_features)


def _table_feed(reading: Reading, stream: TableStream, bad: BadRows, model: Any, labelled: bool) -> Feed:
    if model is not None:
        is_told = not labelled or hasattr(model, "schema")  # else the file must show which column is the label
        label = None if is_told else label_column(stream.columns, reading.label, stream.name)
        schema = schema_for(model, stream.head, stream.name, label=label)
        if labelled and schema.label not in stream.columns:
            raise StreamError(
                stream.name, None, None, f"must hold the label column {schema.label!r}", shown_columns(stream.columns)
            )
        return Feed(stream, bad, schema, _labels_of(model) if labelled else None, n_features=model.n_features_in_)
    label = label_column(stream.columns, reading.label, stream.name)
    with _broken_rows_first(stream, bad):
        if not any(stream.head.values()):
            raise StreamError(stream.name, None, None, "must have at least one row of data", "none")
    schema = infer_schema(
        stream.head,
        label=label,
        id=reading.id_column,
        time=reading.time_column,
        ignore=reading.ignore,
        kinds=_kinds(reading.kinds),
        width=reading.width,
    )
    spellings = [spelled(value) for value in stream.head[label] if value is not None]
    with _broken_rows_first(stream, bad):
        labels = find_labels(spellings, reading.positive, source=stream.name, column=label, complete=stream.is_whole)
    return Feed(stream, bad, schema, labels, n_features=TableEncoder(schema).width)


def _labels_of(model: Any) -> Labels | None:
    """The labels that a model knows."""
    if model is None:
        return None
    known = model._labels
    positive, negative = known.positive, known.negative
    rest = f"not {positive}"
    return Labels(positive, None if negative == rest else negative)


def _kinds(settings: Sequence[str]) -> dict[str, str]:
    kinds = {}
    for setting in settings:
        name, equals, kind = setting.rpartition("=")
        if not equals:
            raise SchemaError(
                f"The option --kind must be written COL=KIND, such as --kind zip=category, got {setting!r}."
            )
        kinds[name] = kind
    return kinds


def _seconds(schema: Schema, chunk: Chunk) -> Any:
    if schema.time is None:
        return None
    values = chunk.columns[schema.time.name]
    if schema.time.kind != "date":
        return values
    seconds = values.astype("datetime64[us]").astype(np.int64) / 1e6
    return np.where(np.isnat(values), np.nan, seconds)
