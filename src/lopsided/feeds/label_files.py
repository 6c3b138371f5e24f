"""Labels that stand in files of their own: an identifier, the label, and perhaps when it became known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.encoding import Schema, TableEncoder, infer_schema
from lopsided.encoding.raw_cells import plain_cell
from lopsided.feeds.bad_rows import BadRows
from lopsided.feeds.portions import seconds_of
from lopsided.labels import Signs
from lopsided.streams import Sources, Spellings, StreamError, TableStream, find_labels
from lopsided.streams.bookmarks import Bookmarks
from lopsided.streams.cells import LABEL, TEXT, Expected
from lopsided.streams.errors import shown_columns
from lopsided.streams.file_stream import NothingNewError
from lopsided.streams.labelled import label_column
from lopsided.streams.labels import spelled

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LabelFile:
    """What was read: identifiers as texts, labels as signs, and the seconds at which they became known, if told.

    `column` is the one of the labels, `spellings` how they are spelled, `bookmarks` how far files have been read.
    `n_left_out` rows had no identifier, no label, or no time where others have one.
    """

    ids: list[str]
    signs: Floats
    times: Floats | None
    column: str
    spellings: Spellings
    bookmarks: Bookmarks
    n_left_out: int

    @property
    def labels(self) -> Signs:
        """The labels, for a learner."""
        return Signs.of(self.signs, self.spellings.labels)


def read_labels(
    paths: Sequence[str],
    *,
    id: str,
    label: str | None = None,
    time: str | None = None,
    positive: str | None = None,
    spellings: Spellings | None = None,
    bookmarks: Bookmarks | None = None,
    bad: BadRows,
) -> LabelFile:
    """Read all labels of some files, CSV, NDJSON, Parquet or Arrow, which fit into memory.

    Parameters
    ----------
    paths : files, patterns or directories, read one after the other.
    id, label, time : the columns. The label is by default that of a usual name, or the last; time None: none is told.
    positive : the positive label, as in `open_feed`.
    spellings : how a model that goes on spells its labels.
    bookmarks : how far files were read before: only what is new is read.
    bad : takes rows that cannot be read.
    """
    sources = Sources(list(paths))
    with TableStream(sources) as stream:
        for name in (id, *([] if time is None else [time])):
            if name not in stream.columns:
                raise StreamError(
                    stream.name, None, None, f"must hold the column {name!r}", shown_columns(stream.columns)
                )
        others = [name for name in stream.columns if name not in (id, time)]
        if not others:
            raise StreamError(stream.name, None, None, "must hold a column of labels", shown_columns(stream.columns))
        column = label_column(others, label, stream.name)
        if spellings is None:
            seen = [spelled(value) for value in stream.head[column] if value is not None]
            spellings = find_labels(seen, positive, source=stream.name, column=column, complete=False)
        timed = None if time is None else _timed(time, stream.head[time])
    known = bookmarks or Bookmarks()
    try:
        with TableStream(Sources(list(paths)), bookmarks=known) as stream:
            ids, signs, times = _read(stream, id, column, spellings, timed, bad)
            finished = stream.finished
    except NothingNewError as nothing:
        ids, signs, times, finished = [], np.zeros(0), np.zeros(0), nothing.finished
    there = np.array([bool(name) for name in ids], dtype=np.bool_) & ~np.isnan(signs) & ~np.isnan(times)
    places = np.flatnonzero(there)
    return LabelFile(
        [ids[place] for place in places.tolist()],
        signs[places],
        None if timed is None else times[places],
        column,
        spellings,
        known.updated(finished),
        int(np.count_nonzero(~there)),
    )


def _timed(time: str, head: list[Any]) -> Schema:
    """A schema that knows how the times are written."""
    return infer_schema({time: head, "": [1.0] * len(head)}, time=time)


def _read(
    stream: TableStream, id: str, column: str, spellings: Spellings, timed: Schema | None, bad: BadRows
) -> tuple[list[str], Floats, Floats]:
    expected = [Expected(id, TEXT), Expected(column, LABEL, spellings)]
    if timed is not None and timed.time is not None:
        expected += [one for one in TableEncoder(timed).expected() if one.name == timed.time.name]
    ids: list[str] = []
    signs, times = [np.zeros(0)], [np.zeros(0)]
    for chunk in stream.chunks(expected):
        bad.take(chunk.bad)
        cells = [plain_cell(cell) for cell in chunk.columns[id]]
        ids += ["" if cell is None else spelled(cell) for cell in cells]
        signs.append(np.asarray(chunk.columns[column], dtype=np.float64))
        times.append(np.zeros(len(cells)) if timed is None else np.asarray(seconds_of(timed, chunk)))
    return ids, np.concatenate(signs), np.concatenate(times)
