"""Where scored rows go, and in which format: what stands beside `open_feed`."""

from __future__ import annotations

import os
from pathlib import PurePath

from lopsided.feeds.arguments import ArgumentError
from lopsided.feeds.arrow_writers import ArrowWriter, ParquetWriter
from lopsided.feeds.feed import Feed
from lopsided.feeds.text_writers import CsvAsItCame, CsvWriter, JsonAsItCame, JsonWriter
from lopsided.feeds.writers import Writer
from lopsided.streams.errors import StreamError, shown_columns
from lopsided.streams.topics import is_topic

KEEP = ("all", "id", "none")
_TABBED = {".tsv", ".tab"}
_SUFFIXES = {
    ".csv": "csv", ".tsv": "csv", ".tab": "csv", ".ndjson": "ndjson", ".jsonl": "ndjson", ".parquet": "parquet",
    ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow", "": "csv",
}  # fmt: skip
_AS_THEY_CAME: dict[str, type[Writer]] = {"csv": CsvAsItCame, "ndjson": JsonAsItCame}
_MADE_ANEW: dict[str, type[Writer]] = {"ndjson": JsonWriter, "parquet": ParquetWriter, "arrow": ArrowWriter}


def open_writer(
    path: str | None, feed: Feed, *, format: str | None = None, keep: str = "all", at_once: bool = False
) -> Writer:
    """A file or a topic for the rows of a feed and their scores; use it in a `with` statement.

    Parameters
    ----------
    path : the file; None is standard output; kafka://host:port/topic, where each row is a message.
    feed : where the rows come from.
    format : csv, ndjson, parquet or arrow. Default: as the suffix tells; ndjson for a topic.
    keep : which columns of the feed stand before the scores: all, id (the identifier) or none.
    at_once : write text into the file itself, flushed after every portion, instead of a whole file at the end.
    """
    to_topic = path is not None and is_topic(path)
    suffix = "" if to_topic else PurePath(path or "").suffix.lower()
    kind = format or ("ndjson" if to_topic else _SUFFIXES.get(suffix))
    if to_topic and kind != "ndjson":
        raise ArgumentError(f"The output must be ndjson for a topic, got the format {kind}.", "output")
    if kind is None:
        known = ", ".join(filter(None, _SUFFIXES))
        raise ArgumentError(f"The output must end in {known}, or its format must be said, got {path!r}.", "output")
    if kind in ("parquet", "arrow") and path is None:
        raise ArgumentError(f"The output must be a file for the format {kind}, got standard output.", "output")
    if (
        path is not None
        and not to_topic
        and (os.path.isdir(path) or not os.path.isdir(os.path.dirname(os.path.abspath(path))))
    ):
        raise ArgumentError(f"The output must be a file in a directory that exists, got {path!r}.", "output")
    if keep == "id":
        _check_identifier(feed)
    came_so = kind != "csv" or path is None or (suffix in _TABBED) == (getattr(feed.stream, "delimiter", "") == "\t")
    if keep == "all" and kind == getattr(feed.stream, "format", None) and kind in _AS_THEY_CAME and came_so:
        return _AS_THEY_CAME[kind](path, feed, keep, at_once=at_once)
    if kind == "csv":
        return CsvWriter(path, feed, keep, "\t" if suffix in _TABBED else ",", at_once=at_once)
    return _MADE_ANEW[kind](path, feed, keep, at_once=at_once)


def _check_identifier(feed: Feed) -> None:
    if feed.schema is None or feed.schema.id is None:
        sentence = "A model must know which column is the identifier if only that is to be kept, got one that does not."
        raise ArgumentError(sentence, "keep")
    if feed.schema.id not in feed.stream.columns:
        rule = f"must hold the column {feed.schema.id!r}, which is to be kept"
        raise StreamError(feed.name, None, None, rule, f"only {shown_columns(feed.stream.columns)}", argument="keep")
