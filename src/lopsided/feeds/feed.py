"""A stream of files, topics or frames as portions of encoded, labelled rows, bad rows dealt with."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from lopsided.encoding import EncodedRows, Schema, TableEncoder
from lopsided.feeds.bad_rows import BadRows, Tell
from lopsided.feeds.portions import Portion, seconds_of, slices_of
from lopsided.labels import Signs
from lopsided.streams import Spellings
from lopsided.streams.bookmarks import Bookmark, Bookmarks

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
    _mark: Callable[[int], Bookmark] | None = None  # of the latest chunk
    _taken: int = 0  # rows of it that have been given away
    _n_finished: int = 0  # sources that were read to their end before it

    def __enter__(self) -> Feed:
        self.bad.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close files; twice does no harm."""
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
        """Labels by their names."""
        assert self.labels is not None
        return self.labels.labels.names(signs > 0)

    def slices(self, n_rows: int = SLICE) -> Iterator[Portion]:
        """All portions in slices: a learner may take milliseconds a row, and Ctrl-C and checkpoints wait for one."""
        for portion in self:
            for start, stop in slices_of(portion.n_rows, n_rows):
                self._taken = stop
                yield portion.part(start, stop)

    def __iter__(self) -> Iterator[Portion]:
        try:
            yield from self._sparse_portions() if self.schema is None else self._table_portions(self.schema)
        except Exception:
            self.close()
            raise
        self.bad.__exit__()

    def _sparse_portions(self) -> Iterator[Portion]:
        for part in self.stream.chunks(self.labels):
            self.bad.take(part.bad)
            self._note_place(part)
            self._note_beyond(part.n_beyond)
            if part.X.shape[0]:
                yield Portion(part.X, self._signed(part.signs))

    def _table_portions(self, schema: Schema) -> Iterator[Portion]:
        encoder = self.encoder or TableEncoder(schema)
        for chunk in self.stream.chunks(encoder.expected(self.labels)):
            self.bad.take(chunk.bad)
            self._note_place(chunk)
            if chunk.new_columns:
                self.note(f"new columns in {chunk.source}, ignored: {', '.join(chunk.new_columns)}")
            if chunk.n_rows:
                signs = None if self.labels is None or schema.label is None else chunk.columns[schema.label]
                rows = encoder.matrix(chunk.columns).view(EncodedRows)
                yield Portion(rows, self._signed(signs), seconds_of(schema, chunk), chunk)

    def _note_place(self, chunk: Any) -> None:
        if chunk.mark is not None:
            self._mark, self._taken, self._n_finished = chunk.mark, chunk.n_rows, len(self.stream.finished)

    def bookmarks(self) -> Bookmarks:
        """How far all sources have been read, the latest portion or slice included: `open_feed` goes on from there.

        Between two portions, or after the last, it costs the reading of a few kilobytes.
        """
        new = list(self.stream.finished)
        if self._mark is not None and len(new) == self._n_finished:
            new.append(self._mark(self._taken))
        return self.earlier.updated(new, from_start=self.from_start)

    def _signed(self, signs: Any) -> Signs | None:
        return None if self.labels is None else Signs.of(signs, self.labels.labels)

    def _note_beyond(self, count: int) -> None:
        if count and not self.n_beyond:
            last = self.n_features + self.first_index - 1
            self.note(f"indices beyond {last:,}, the largest of the first rows, are ignored", argument="features")
        self.n_beyond += count

    def note(self, text: str, argument: str | None = None) -> None:
        """Tell something and remember it; `argument` is the parameter of `open_feed` that would change it."""
        self.notes.append(text)
        self.tell(f"note: {text}", argument)
