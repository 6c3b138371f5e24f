"""Labels that stand in files or topics of their own: an identifier, the label, and perhaps when it became known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from lopsided.encoding import Schema, TableEncoder, infer_schema
from lopsided.encoding.raw_cells import plain_cell
from lopsided.feeds.bad_rows import BadRows
from lopsided.feeds.portions import seconds_of
from lopsided.labels import Signs
from lopsided.streams import Chunk, Sources, Spellings, StreamError, TableStream, find_labels
from lopsided.streams.blocks import cut_at_lines
from lopsided.streams.bookmarks import Bookmark, Bookmarks, key_of
from lopsided.streams.cells import LABEL, TEXT, Expected
from lopsided.streams.errors import shown_columns
from lopsided.streams.file_stream import NothingNewError
from lopsided.streams.json_tables import JsonTable
from lopsided.streams.labelled import label_column
from lopsided.streams.labels import spelled
from lopsided.streams.topics import is_topic, located

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LabelForm:
    """How labels are written down: the columns of identifiers and labels, the spellings of these, and of the times.

    `timed` is a schema that knows how times are written; None if none are told.
    """

    id: str
    column: str
    spellings: Spellings
    timed: Schema | None = None

    @classmethod
    def of_first_rows(
        cls,
        stream: TableStream,
        id: str,
        label: str | None,
        time: str | None,
        positive: str | None,
        spellings: Spellings | None,
    ) -> Self:
        """As the first rows of a stream tell, where nobody has said."""
        for name in (id, *([] if time is None else [time])):
            if name not in stream.columns:
                rule = f"must hold the column {name!r}"
                raise StreamError(stream.name, None, None, rule, shown_columns(stream.columns))
        others = [name for name in stream.columns if name not in (id, time)]
        if not others:
            raise StreamError(stream.name, None, None, "must hold a column of labels", shown_columns(stream.columns))
        column = label_column(others, label, stream.name)
        if spellings is None:
            seen = [spelled(value) for value in stream.head[column] if value is not None]
            spellings = find_labels(seen, positive, source=stream.name, column=column, complete=False)
        timed = None
        if time is not None:
            head = stream.head[time]
            timed = infer_schema({time: head, "": [1.0] * len(head)}, time=time)
        return cls(id, column, spellings, timed)

    @classmethod
    def from_json(cls, values: Mapping[str, Any], id: str, spellings: Spellings) -> Self:
        """That of labels which were read before."""
        timed = values.get("timed")
        return cls(id, str(values["column"]), spellings, None if timed is None else Schema.from_json(timed))

    def expected(self) -> list[Expected]:
        """The columns that are read."""
        expected = [Expected(self.id, TEXT), Expected(self.column, LABEL, self.spellings)]
        if self.timed is not None and self.timed.time is not None:
            time = self.timed.time.name
            expected += [one for one in TableEncoder(self.timed).expected() if one.name == time]
        return expected

    def read(self, chunks: Iterable[Chunk], bad: BadRows) -> tuple[list[str], Floats, Floats]:
        """Identifiers, signs and times of all rows."""
        ids: list[str] = []
        signs, times = [np.zeros(0)], [np.zeros(0)]
        for chunk in chunks:
            bad.take(chunk.bad)
            cells = [plain_cell(cell) for cell in chunk.columns[self.id]]
            ids += ["" if cell is None else spelled(cell) for cell in cells]
            signs.append(np.asarray(chunk.columns[self.column], dtype=np.float64))
            times.append(np.zeros(len(cells)) if self.timed is None else np.asarray(seconds_of(self.timed, chunk)))
        return ids, np.concatenate(signs), np.concatenate(times)

    def none(self, bookmarks: Bookmarks) -> LabelFile:
        """No labels at all."""
        return self.those([], np.zeros(0), np.zeros(0), bookmarks)

    def those(self, ids: list[str], signs: Floats, times: Floats, bookmarks: Bookmarks) -> LabelFile:
        """What was read, without the labels that lack something."""
        there = np.array([bool(name) for name in ids], dtype=np.bool_) & ~np.isnan(signs) & ~np.isnan(times)
        places = np.flatnonzero(there)
        return LabelFile(
            [ids[place] for place in places.tolist()],
            signs[places],
            None if self.timed is None else times[places],
            self,
            bookmarks,
            int(np.count_nonzero(~there)),
        )


@dataclass(frozen=True)
class LabelFile:
    """What was read: identifiers as texts, labels as signs, and the seconds at which they became known, if told.

    `form` is how they are written down, `bookmarks` how far files have been read. `n_left_out` rows had no identifier,
    no label, or no time where others have one.
    """

    ids: list[str]
    signs: Floats
    times: Floats | None
    form: LabelForm
    bookmarks: Bookmarks
    n_left_out: int

    @property
    def labels(self) -> Signs:
        """The labels, for a learner."""
        return Signs.of(self.signs, self.form.spellings.labels)

    def to_json(self) -> dict[str, Any]:
        """All that is needed to read on, as plain values."""
        timed = None if self.form.timed is None else self.form.timed.to_json()
        return {"bookmarks": self.bookmarks.to_json(), "column": self.form.column, "timed": timed}


def read_labels(
    paths: Sequence[str],
    *,
    id: str,
    label: str | None = None,
    time: str | None = None,
    positive: str | None = None,
    spellings: Spellings | None = None,
    before: Mapping[str, Any] | None = None,
    follow: bool = False,
    idle: float | None = None,
    bad: BadRows,
) -> LabelFile:
    """Read all labels of some files (CSV, NDJSON, Parquet or Arrow) or topics, which fit into memory.

    Parameters
    ----------
    paths : files, patterns, directories or topics, read one after the other.
    id, label, time : the columns. The label is by default that of a usual name, or the last; time None: none is told.
    positive : the positive label, as in `open_feed`.
    spellings : how a model that goes on spells its labels.
    before : `to_json` of what was read before: only what is new is read.
    follow, idle : wait for the first label of a topic that has none yet, so many seconds at most.
    bad : takes rows that cannot be read.
    """
    known = Bookmarks() if before is None else Bookmarks.from_json(before["bookmarks"])
    goes_on = before is not None and spellings is not None and "timed" in before
    if goes_on and all(is_topic(path) and known.of(key_of(path), 0) is not None for path in paths):
        assert before is not None and spellings is not None
        form = LabelForm.from_json(before, id, spellings)  # a topic need not hold its first labels any more
    else:
        with TableStream(Sources(list(paths), follow=follow, idle=idle)) as stream:
            form = LabelForm.of_first_rows(stream, id, label, time, positive, spellings)
    try:
        with TableStream(Sources(list(paths)), bookmarks=known) as stream:
            found = form.read(stream.chunks(form.expected()), bad)
            return form.those(*found, known.updated(stream.finished))
    except NothingNewError as nothing:
        return form.none(known.updated(nothing.finished))


class LabelsToCome:
    """The labels of topics that come after those that were read; use it in a `with` statement.

    Parameters
    ----------
    urls : the topics.
    told : what was read of them so far.
    bad : takes messages that cannot be read.
    """

    def __init__(self, urls: Sequence[str], told: LabelFile, bad: BadRows) -> None:
        self._form, self._bookmarks, self._bad = told.form, told.bookmarks, bad
        self._topics: list[Any] = []
        with ExitStack() as opened:
            for url in urls:
                mark = told.bookmarks.of(key_of(url), 0)
                source = Sources([url], follow=True, idle=0.0).open(url, None if mark is None else mark.offsets)
                self._topics.append(opened.enter_context(source))
            self._opened = opened.pop_all()

    def __enter__(self) -> LabelsToCome:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()
        self._bad.__exit__()

    def take(self) -> LabelFile | None:
        """Those that have come since the last call, in order; None if there are none. It does not wait."""
        ids: list[str] = []
        signs, times, marks = [np.zeros(0)], [np.zeros(0)], []
        for source in self._topics:
            table = JsonTable(source.name, cut_at_lines(source), may_be_empty=True)
            own, *columns = self._form.read(
                map(partial(_located, source), table.chunks(self._form.expected())), self._bad
            )
            key = key_of(source.name)
            mark = self._bookmarks.of(key, 0) or Bookmark(key, 0, 0)
            marks.append(replace(mark, rows=mark.rows + len(own), offsets=source.offsets_at(None)))
            ids += own
            signs.append(columns[0])
            times.append(columns[1])
        if not ids:
            return None
        self._bookmarks = self._bookmarks.updated(marks)
        return self._form.those(ids, np.concatenate(signs), np.concatenate(times), self._bookmarks)


def _located(source: Any, chunk: Chunk) -> Chunk:
    """A chunk whose bad rows are known by their messages."""
    return replace(chunk, bad=[located(source, error, 0) for error in chunk.bad])
