"""A stream of files, topics or frames as portions of encoded, labelled rows, bad rows dealt with."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lopsided.encoding import Schema, TableEncoder, infer_schema
from lopsided.feeds.bad_rows import BadRows, Tell
from lopsided.feeds.disorder import Disorder
from lopsided.feeds.portions import PlaceInFeed, Portion, seconds_of, slices_of
from lopsided.feeds.reading_ahead import read_ahead
from lopsided.labels import Signs
from lopsided.streams import Spellings, StreamError
from lopsided.streams.bookmarks import Bookmark, Bookmarks
from lopsided.streams.cells import NUMBER, Expected
from lopsided.streams.errors import shown_columns

SLICE = 1024  # rows


class FeedWarning(UserWarning):
    """Something that a feed left out or ignored."""


def warn(line: str, argument: str | None = None) -> None:
    """What becomes of a line for the user where nobody else takes it."""
    warnings.warn(line if argument is None else f"{line}; see {argument!r} of open_feed", FeedWarning, stacklevel=2)


@dataclass
class Feed:
    """A stream of portions, each of which can be had once; made by `open_feed`.

    Use it in a `with` statement, or loop over it to its end, which closes its files too.

    Attributes
    ----------
    schema : what the columns of a table are; None for LIBSVM.
    labels : how the stream spells its labels; None if it was opened without.
    n_features : the width of `X`.
    bad : the rows that were left out, counted.
    notes : what was said about the stream on the way.
    with_ids : whether the identifier of a table is read too, for `Portion.cells`; set it before the first portion.
    n_blank : rows so far whose label is not known: NaN in `y`, which a learner scores and does not learn.
    """

    stream: Any
    bad: BadRows
    schema: Schema | None
    labels: Spellings | None
    first_index: int = 1
    n_features: int = 0
    encoder: TableEncoder | None = None  # of a model that needs more than the schema tells
    tell: Tell = warn
    earlier: Bookmarks = field(default_factory=Bookmarks)
    from_start: bool = False
    notes: list[str] = field(default_factory=list)
    n_beyond: int = 0
    with_ids: bool = False  # whether identifiers are read although no label is
    disorder: Disorder = field(default_factory=Disorder)
    n_blank: int = 0
    also: list[Expected] = field(default_factory=list)  # columns that are read besides those of the schema
    _mark: Callable[[int], Bookmark] | None = None  # of the latest chunk
    _taken: int = 0  # rows of it that have been given away
    _n_finished: int = 0  # sources that were read to their end before it
    _given: PlaceInFeed | None = None  # of the latest slice: what has been read may be ahead of it

    def __enter__(self) -> Feed:
        self.bad.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close files; twice does no harm."""
        self.stream.__exit__()
        self.bad.__exit__()
        self._say_totals()

    def watch(self) -> None:
        """Have files that shrink while they are followed, and time that runs backwards, told."""
        self.stream.sources.shrunk = lambda *facts: self._note_all(self.disorder.shrunk(*facts))

    def _note_all(self, sentences: list[str]) -> None:
        for sentence in sentences:
            self.note(sentence)

    def _say_totals(self) -> None:
        self._note_all(self.disorder.totals())

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

    def read_ids(self, column: str) -> None:
        """Have identifiers of this column read too, although no label is; before the first portion."""
        assert self.schema is not None
        encoder = self.encoder or TableEncoder(self.schema)
        is_read_anyway = column in (known.name for known in encoder.expected())  # a key without a history is not
        self.with_ids = True
        self.schema = replace(self.schema, id=None if is_read_anyway else column)

    def labels_of(self, signs: Any) -> Any:
        """Labels by their names."""
        assert self.labels is not None
        return self.labels.labels.names(signs > 0)

    def also_read(self, name: str, kind: str) -> None:
        """Have portions hold one more column, as text or number, which nobody learns from: a key, an amount."""
        if self.is_sparse or name not in self.stream.columns:
            got = "a LIBSVM file" if self.is_sparse else f"only {shown_columns(self.stream.columns)}"
            raise StreamError(self.name, None, None, f"must hold the column {name!r}", got)
        self.also.append(Expected(name, kind))

    def with_time(self, name: str) -> None:
        """Have portions know the moments of their rows by this column, if the schema does not name one."""
        if self.is_sparse or name not in self.stream.columns:
            self.also_read(name, NUMBER)
        head = {name: self.stream.head[name]}
        assert self.schema is not None
        time = infer_schema(head | {"": [1.0] * len(head[name])}, time=name).time
        self.schema = replace(self.schema, time=time)

    def ahead(self) -> Iterator[Portion]:
        """All portions; files are read ahead by another thread, but nothing that may keep its reader waiting."""
        return read_ahead(iter(self)) if self.stream.sources.total else iter(self)

    def slices(self, n_rows: int = SLICE) -> Iterator[Portion]:
        """Portions, read ahead, in slices: learning may take milliseconds a row, and Ctrl-C waits for a slice."""
        for portion in self.ahead():
            for start, stop in slices_of(portion.n_rows, n_rows):
                part = portion.part(start, stop)
                self._given = part.place
                yield part
        self._given = None

    def __iter__(self) -> Iterator[Portion]:
        try:
            yield from self._sparse_portions() if self.schema is None else self._table_portions(self.schema)
        except Exception:
            self.close()
            raise
        self.bad.__exit__()
        self._say_totals()

    def _sparse_portions(self) -> Iterator[Portion]:
        for part in self.stream.chunks(self.labels):
            self.bad.take(part.bad)
            self._note_place(part)
            self._note_beyond(part.n_beyond)
            if part.X.shape[0]:
                yield Portion(part.X, self._signed(part.signs), place=self._place())

    def _table_portions(self, schema: Schema) -> Iterator[Portion]:
        encoder, asked = self.encoder or TableEncoder(schema), TableEncoder(schema)
        expected = [*encoder.expected(self.labels), *self._expected_id(asked)]
        known = {one.name for one in expected}
        if schema.time is not None and schema.time.name not in known:  # which the model's own schema does not know
            expected += [one for one in asked.expected() if one.name == schema.time.name]
            known.add(schema.time.name)
        for chunk in self.stream.chunks([*expected, *(one for one in self.also if one.name not in known)]):
            self.bad.take(chunk.bad)
            self._note_place(chunk)
            if chunk.new_columns:
                self.note(f"new columns in {chunk.source}, ignored: {', '.join(chunk.new_columns)}")
            if chunk.n_rows:
                signs = None if self.labels is None or schema.label is None else chunk.columns[schema.label]
                rows, times = encoder.rows(chunk.columns), seconds_of(schema, chunk)
                if times is not None and schema.time is not None:
                    self._note_all(self.disorder.passed(times, schema.time, chunk.source))
                is_elsewhere = schema.label is None and self.labels is not None
                y = self._unknown(chunk.n_rows) if is_elsewhere else self._signed(signs)
                yield Portion(rows, y, times, chunk, place=self._place())

    def _expected_id(self, encoder: TableEncoder) -> list[Expected]:
        """Identifiers are read where rows are learned, which may be shown again, and where somebody asks for them."""
        is_wanted = self.labels is not None or self.with_ids
        there = self.stream.columns if is_wanted else ()
        return [column for column in encoder.expected_id() if column.name in there]

    def _note_place(self, chunk: Any) -> None:
        if chunk.mark is not None:
            self._mark, self._taken, self._n_finished = chunk.mark, chunk.n_rows, len(self.stream.finished)

    def _place(self) -> PlaceInFeed:
        finished = tuple(self.stream.finished)
        return PlaceInFeed(finished, self._mark if len(finished) == self._n_finished else None, self._taken)

    def bookmarks(self, through: Portion | None = None) -> Bookmarks:
        """How far all sources have been read: `open_feed` goes on from there.

        `through` is the last portion or slice whose rows have been dealt with. None takes the latest that was given
        away, which is right between two of them and after the last, but not where reading the next one was interrupted.
        It costs the reading of a few kilobytes.
        """
        latest = self._given or self._place()
        place = latest if through is None or through.place is None else through.place
        return self.earlier.updated(place.bookmarks(), from_start=self.from_start)

    def confirm(self, through: Portion | None = None) -> None:
        """What was read up to a portion is safe, in a file or with whoever it was for.

        A group of consumers that share a topic is told, so that none of them reads it again.
        """
        if getattr(self.stream, "is_topic", False):
            self.stream.confirm(self.bookmarks(through))

    def _unknown(self, n_rows: int) -> Signs:
        """Labels of rows whose labels stand elsewhere."""
        assert self.labels is not None
        return Signs.of(np.full(n_rows, np.nan), self.labels.labels)

    def _signed(self, signs: Any) -> Signs | None:
        if self.labels is None:
            return None
        blank = int(np.count_nonzero(np.isnan(signs)))
        if blank and not self.n_blank:
            self.note("rows without a label are scored, and not learned", argument="blank")
        self.n_blank += blank
        return Signs.of(signs, self.labels.labels)

    def _note_beyond(self, count: int) -> None:
        if count and not self.n_beyond:
            last = self.n_features + self.first_index - 1
            self.note(f"indices beyond {last:,}, the largest of the first rows, are ignored", argument="features")
        self.n_beyond += count

    def note(self, text: str, argument: str | None = None) -> None:
        """Tell something and remember it; `argument` is the parameter of `open_feed` that would change it."""
        self.notes.append(text)
        self.tell(f"note: {text}", argument)
