"""From files, topics or frames to a feed: which format they have, what their columns and labels are."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from lopsided.encoding import Schema, TableEncoder
from lopsided.encoding.inference import schema_and_notes
from lopsided.feeds.arguments import ArgumentError
from lopsided.feeds.bad_rows import BadRows, Tell
from lopsided.feeds.feed import Feed, warn
from lopsided.feeds.frames import FrameStream, is_frame
from lopsided.streams import Sources, SparseStream, Spellings, StreamError, TableStream, find_labels
from lopsided.streams.bookmarks import Bookmarks
from lopsided.streams.byte_source import STANDARD_INPUT
from lopsided.streams.errors import shown_columns
from lopsided.streams.file_stream import NothingNewError, ReadBefore
from lopsided.streams.labelled import USUAL_LABEL_NAMES, label_column
from lopsided.streams.labels import BLANK, spelled
from lopsided.streams.tables import FORMATS, LIBSVM, format_of
from lopsided.streams.topics import is_topic
from lopsided.streams.transcoding import known_encoding

_TAB = {"\\t": "\t", "tab": "\t"}  # as a shell hands it over, and in a word


def open_feed(
    source: Any,
    *,
    label: str | None = None,
    positive: str | None = None,
    blank: str = "unknown",
    id: str | None = None,
    time: str | None = None,
    ignore: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    width: int | None = None,
    keys: Sequence[str] | str = (),
    value: str | None = None,
    features: int | None = None,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
    encoding: str | None = None,
    follow: bool = False,
    idle: float | None = None,
    on_error: str = "stop",
    quarantine: str | os.PathLike[str] | None = None,
    model: Any = None,
    labelled: bool = True,
    labels: Spellings | None = None,
    bookmarks: Bookmarks | None = None,
    from_start: bool = False,
    tell: Tell = warn,
) -> Feed:
    """Files, a topic or a frame as portions of encoded, labelled rows, in one pass and bounded memory.

    What the columns are and which label is the positive one is found in the first rows, as `lopsided learn` does.

    Parameters
    ----------
    source : a path; a pattern such as "*.csv"; a directory; "-" for standard input; kafka://host:port/topic; several of
        these in a list, read one after the other; or a data frame of pandas, polars or arrow.
    label : the column of a table that is the label. Default: label, class, target, y, or the last.
    positive : the positive label, against all others. Default: 1 of 0 and 1 or -1 and 1, true of false and true, else
        the rarer one of the first rows.
    blank : what an empty label means: "unknown" (the row is scored, not learned), "negative", or "error", a bad row.
    id, ignore : columns that are not learned from: an identifier, others.
    time : the column of moments, dates or seconds; of dates the hour, weekday and day of month are learned from.
    kinds : column -> number, flag, category, text, date, key or ignore, where the first rows do not tell; also age,
        number:comma and others, see `lopsided.encoding.infer_schema`.
    width : columns for each hashed one, a power of two.
    keys : columns such as a card or a shop, whose past is to be learned from, or "auto"; it needs a `time`. The rows
        are then those of a `lopsided.TablePipeline(feed.schema, ...)`, which keeps the history.
    value : the column of amounts: with keys, what is usual for each is learned too.
    features : the number of features of LIBSVM files. Default: the largest index of the first 4 MB.
    format : csv, ndjson, parquet, arrow or libsvm. Default: as the first bytes, the suffix or the first lines tell.
    delimiter : what separates the cells of a CSV, \\t for a tab. Default: what its header tells.
    header : False for a CSV without one, whose columns are then column_1, column_2 and so on.
    encoding : of text files, such as latin-1. Default: UTF-8, or UTF-16 if a file begins with the mark of that.
    follow, idle : go on when a file or a directory grows, until so many seconds have passed without anything new.
    on_error, quarantine : what becomes of bad rows: "stop", "skip", or "quarantine" into this file.
    model : a saved model whose columns and labels hold.
    labelled : False for rows without labels, which only a model can read.
    labels : how labels are spelled that stand elsewhere, see `read_labels`. All labels of the rows are unknown then,
        and the column `label`, if the rows have it, is not learned from.
    bookmarks : `feed.bookmarks()` of a former feed: only what is new is read, and what was read must still be there.
    from_start : read all sources from their start all the same; their bookmarks are replaced.
    tell : takes what is to be said on the way (a line, and the argument it speaks of). Default: a `FeedWarning`.

    Raises
    ------
    StreamError : the source cannot be read, or is not what a model needs; while looping, a bad row.

    Examples
    --------
    With `keys` a model learns from what each card did before, here that all frauds are eve's:

    >>> import lopsided as lp
    >>> import pyarrow as pa
    >>> table = pa.table({
    ...     "card": ["ann", "bob", "eve", "joe"] * 60,
    ...     "when": [3600 * hour for hour in range(240)],
    ...     "amount": [7, 9] * 120,
    ...     "fraud": [0, 0, 1, 0] * 60,
    ... })
    >>> feed = lp.open_feed(table, label="fraud", time="when", keys=["card"], value="amount")
    >>> model = lp.TablePipeline(feed.schema, learner=lp.FourierRanker(random_state=0))
    >>> for rows in feed:
    ...     _ = model.partial_fit(rows.X, rows.y)
    >>> payment = {"when": 3600 * 241, "amount": 7}
    >>> eve, ann = model.decision_function([payment | {"card": "eve"}, payment | {"card": "ann"}])
    >>> bool(eve > ann)
    True
    """
    if format is not None and format not in FORMATS:
        raise ArgumentError(f"The format of a feed must be one of {', '.join(FORMATS)}, got {format!r}.", "format")
    delimiter = _TAB.get(delimiter or "", delimiter)
    if encoding is not None and known_encoding(encoding) is None:
        rule = "must be one that Python knows, such as utf-8, latin-1, cp1252 or utf-16"
        raise ArgumentError(f"The encoding of a feed {rule}, got {encoding!r}.", "encoding")
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n\0'):
        rule = "must be one character other than a double quote or a line end"
        raise ArgumentError(f"The delimiter of a feed {rule}, got {delimiter!r}.", "delimiter")
    if not labelled and model is None:
        raise ArgumentError("A feed without labels must have a model, which knows the columns, got none.", "model")
    if blank not in BLANK:
        raise ArgumentError(f"Blank labels of a feed must be one of {', '.join(BLANK)}, got {blank!r}.", "blank")
    bad = BadRows(on_error, None if quarantine is None else os.fspath(quarantine), tell)
    earlier = bookmarks or Bookmarks()
    if any(earlier) and model is None and not from_start:
        raise ArgumentError("A feed that continues must have a model, which knows the columns, got none.", "model")
    known = None if from_start else earlier
    stream: Any
    if is_frame(source):
        stream = FrameStream(source)
        is_sparse = False
        _check_kind(stream.name, is_sparse, model)
    else:
        sources = Sources(_paths_of(source), follow=follow, idle=idle, encoding=encoding)
        is_sparse = _is_libsvm(sources, format, model)
        try:
            if is_sparse:
                stream = _sparse_stream(sources, label, features, model, known)
            else:
                stream = TableStream(
                    sources, file_format=format, delimiter=delimiter, has_header=header, bookmarks=known
                )
        except NothingNewError as nothing:
            stream = ReadBefore(sources, nothing.finished)
    doubt = getattr(stream, "header_note", None)
    header_note = doubt and f"the first row of {stream.name} looks like data and not like a header: {doubt}"
    try:
        if is_sparse and labels is not None:
            rule = "must be a table with an identifier, if its labels stand elsewhere"
            raise StreamError(stream.name, None, None, rule, "a LIBSVM file")
        if is_sparse:
            feed = _sparse_feed(stream, bad, positive, model, labelled, tell)
        elif model is not None:
            feed = _known_table(stream, bad, model, label, blank, labelled=labelled, labels=labels, tell=tell)
        else:
            columns = {"id": id, "time": time, "ignore": ignore, "kinds": kinds, "width": width}
            columns |= {"keys": keys, "value": value}
            if labels is None:
                feed = _new_table(stream, bad, label, positive, blank, columns, tell)
            else:
                feed = _table_without_labels(stream, bad, label, labels, columns, tell)
    except BaseException as error:
        stream.__exit__()
        if header_note and isinstance(error, StreamError):  # it may be why a column is not found
            tell(f"note: {header_note}", "header")
        raise
    feed.earlier, feed.from_start = earlier, from_start
    feed.watch()
    if header_note:
        feed.note(header_note, argument="header")
    if feed.labels is not None and feed.labels.note is not None:
        feed.note(feed.labels.note, argument="positive")
    _say_where_it_goes_on(feed)
    return feed


def _say_where_it_goes_on(feed: Feed) -> None:
    mark = getattr(feed.stream, "going_on", None)
    if getattr(feed.stream, "begins_anew", False):
        feed.note("standard input is another one than before, and is read from its start")
    elif mark is not None:
        feed.note(f"{feed.stream.source_name} continues after the {mark.rows:,} rows that were read before")
    lost = getattr(feed.stream, "n_lost", 0)
    if lost:
        feed.note(f"{lost:,} messages of {feed.stream.source_name} were deleted by its broker before they were read")


def _paths_of(source: Any) -> list[str]:
    paths = [source] if isinstance(source, str | os.PathLike) else source
    if not isinstance(paths, Sequence) or not paths or not all(isinstance(path, str | os.PathLike) for path in paths):
        rule = "must be a path, several of them or a data frame"
        raise ArgumentError(f"The source of a feed {rule}, got {type(source).__name__}.", "source")
    return [os.fspath(path) for path in paths]


@contextmanager
def _broken_rows_first(stream: Any, bad: BadRows) -> Iterator[None]:
    """A row that is broken explains more than rows or labels that are missing because of it."""
    try:
        yield
    except StreamError as error:
        if bad.stops and stream.head_problem is not None:
            raise stream.head_problem from error
        raise


def _is_libsvm(sources: Sources, file_format: str | None, model: Any) -> bool:
    first = sources.paths[0]
    if file_format is not None:
        found = file_format == LIBSVM
    elif _is_pipe(first):
        found = model is not None and not _reads(model, is_sparse=False)  # a pipe cannot be looked into beforehand
    else:
        path = next(iter(Sources(sources.paths)), None)
        if path is None:
            raise StreamError(sources.name, None, None, "must hold files", "none")
        with Sources([path], encoding=sources.encoding).open(path) as source:
            found = format_of(source, path) == LIBSVM
    _check_kind(first, found, model)
    return found


def _check_kind(name: str, is_sparse: bool, model: Any) -> None:
    if model is not None and not _reads(model, is_sparse=is_sparse):
        wanted, came = ("a table", "LIBSVM") if is_sparse else ("LIBSVM", "a table")
        raise StreamError(name, None, None, f"must be {wanted} as the model has learned from", came)


def _reads(model: Any, *, is_sparse: bool) -> bool:
    """Whether a model can be fed with LIBSVM files, or with tables."""
    # Whoever has a model has imported Numba; a feed without one need not.
    from lopsided.estimators.compose.file_columns import reads_sparse_files, reads_tables

    return reads_sparse_files(model) if is_sparse else reads_tables(model)


def _is_pipe(path: str) -> bool:
    if os.path.isfile(path) or os.path.isdir(path):
        return False
    return path == STANDARD_INPUT or is_topic(path) or os.path.exists(path)


def _sparse_stream(
    sources: Sources, label: str | None, features: int | None, model: Any, known: Bookmarks | None
) -> SparseStream:
    if label is not None:
        rule = "must not be named: it is the first entry of every row of a LIBSVM file"
        raise StreamError(sources.paths[0], None, "the label column", rule, repr(label))
    if model is None:
        return SparseStream(sources, n_features=features)
    first_index = getattr(model, "first_index", None)  # a model from Python has seen no file: this one tells
    return SparseStream(sources, n_features=model.n_features_in_, first_index=first_index, bookmarks=known)


def _sparse_feed(stream: Any, bad: BadRows, positive: str | None, model: Any, labelled: bool, tell: Tell) -> Feed:
    labels = None
    if labelled:
        with _broken_rows_first(stream, bad):
            labels = _labels_of(model) or find_labels(
                stream.head_labels, positive, source=stream.name, column=None, complete=stream.is_whole
            )
    # A model of `learn` knows both, also where there is nothing to read; one from Python knows only the width.
    width = stream.n_features if model is None else model.n_features_in_
    first_index = getattr(model, "first_index", getattr(stream, "first_index", 1))
    return Feed(stream, bad, None, labels, first_index, width, tell=tell)


def _known_table(
    stream: Any,
    bad: BadRows,
    model: Any,
    label: str | None,
    blank: str,
    *,
    labelled: bool,
    labels: Spellings | None,
    tell: Tell,
) -> Feed:
    from lopsided.estimators.compose.file_columns import schema_for

    is_told = (
        not labelled or labels is not None or not stream.columns or isinstance(getattr(model, "schema_", None), Schema)
    )
    found = None if is_told else label_column(stream.columns, label, stream.name)
    # A stream that has been read to its end before shows nothing.
    schema = schema_for(model, stream.head if stream.columns else {}, stream.name, label=found)
    if labels is None and labelled and stream.columns and schema.label not in stream.columns:
        rule = f"must hold the label column {schema.label!r}"
        raise StreamError(stream.name, None, None, rule, shown_columns(stream.columns))
    if labels is not None:
        schema = replace(schema, label=None)
    elif labelled:
        labels = _labels_of(model, blank)
    encoder = getattr(model, "encoder_", None)
    return Feed(stream, bad, schema, labels, n_features=model.n_features_in_, encoder=encoder, tell=tell)


def _new_table(
    stream: Any, bad: BadRows, label: str | None, positive: str | None, blank: str, columns: dict[str, Any], tell: Tell
) -> Feed:
    found = label_column(stream.columns, label, stream.name)
    with _broken_rows_first(stream, bad):
        if not any(stream.head.values()):
            raise StreamError(stream.name, None, None, "must have at least one row of data", "none")
    schema, notes = schema_and_notes(stream.head, label=found, **columns)
    spellings = [spelled(value) for value in stream.head[found] if value is not None]
    with _broken_rows_first(stream, bad):
        labels = find_labels(
            spellings, positive, source=stream.name, column=found, complete=stream.is_whole, blank=blank
        )
    feed = _new_feed(stream, bad, schema, labels, tell)
    if label is None and found.lower() not in USUAL_LABEL_NAMES:  # a wrong guess would learn something else, very well
        feed.note(f"no label column was named: the last one, {found!r}, is taken as the label", argument="label")
    for note in notes:
        feed.note(note, argument="kinds")
    return feed


def _new_feed(stream: Any, bad: BadRows, schema: Schema, labels: Spellings, tell: Tell) -> Feed:
    """A feed of rows by a schema; with keys, of rows that a model with a history takes."""
    if not schema.history_keys:
        return Feed(stream, bad, schema, labels, n_features=TableEncoder(schema).width, tell=tell)
    from lopsided.estimators.compose.table_pipeline import TablePipeline  # which is needed then, and Numba with it

    encoder = TablePipeline(schema).encoder_
    return Feed(stream, bad, schema, labels, n_features=encoder.width, encoder=encoder, tell=tell)


def _table_without_labels(
    stream: Any, bad: BadRows, label: str | None, labels: Spellings, columns: dict[str, Any], tell: Tell
) -> Feed:
    """Rows whose labels stand elsewhere."""
    is_here = label is not None and label in stream.columns and label not in columns["ignore"]
    if is_here:
        columns = columns | {"ignore": [*columns["ignore"], label]}
    with _broken_rows_first(stream, bad):
        if not any(stream.head.values()):
            raise StreamError(stream.name, None, None, "must have at least one row of data", "none")
    schema, notes = schema_and_notes(stream.head, **columns)
    feed = _new_feed(stream, bad, schema, labels, tell)
    if is_here:
        feed.note(f"the column {label!r} of {stream.name} is ignored: labels stand elsewhere")
    for note in notes:
        feed.note(note, argument="kinds")
    return feed


def _labels_of(model: Any, blank: str = "unknown") -> Spellings | None:
    """The labels that a model knows."""
    return None if model is None else Spellings.of(model.labels_, blank)
