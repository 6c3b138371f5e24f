"""What the options of a command say about its files, as a feed that speaks on standard error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import click

from lopsided import feeds
from lopsided.encoding import SchemaError
from lopsided.feeds.feed import SLICE, Feed
from lopsided.streams.bookmarks import Bookmarks

__all__ = ["SLICE", "Feed", "Reading", "open_feed", "tell"]


@dataclass(frozen=True)
class Reading:
    """What the options say about the files and their columns."""

    files: Sequence[str]
    file_format: str | None = None
    delimiter: str | None = None
    no_header: bool = False
    encoding: str | None = None
    follow: bool = False
    idle: float | None = None
    on_error: str = "stop"
    quarantine: str | None = None
    label: str | None = None
    positive: str | None = None
    blank: str = "unknown"
    id_column: str | None = None
    time_column: str | None = None
    ignore: Sequence[str] = ()
    kinds: Sequence[str] = ()
    width: int | None = None
    features: int | None = None
    keys: Sequence[str] = ()
    model_per: str | None = None

    @property
    def not_learned_from(self) -> list[str]:
        """Columns that are no features: those to be ignored, and keys."""
        keys = [*self.keys, *([] if self.model_per is None else [self.model_per])]
        return list(dict.fromkeys([*self.ignore, *keys]))


def open_feed(
    reading: Reading,
    model: Any = None,
    *,
    labelled: bool = True,
    bookmarks: Bookmarks | None = None,
    from_start: bool = False,
    labels: feeds.LabelFile | None = None,
) -> Feed:
    """Open the files and look at their first rows; with a `model` its schema and labels hold.

    With `labels` of their own the rows need none.

    With `bookmarks` files are gone on with where they were left, unless they are to be read `from_start`.
    """
    return feeds.open_feed(
        list(reading.files),
        label=reading.label if labels is None else labels.form.column,
        labels=None if labels is None else labels.form.spellings,
        positive=reading.positive,
        blank=reading.blank,
        id=reading.id_column,
        time=reading.time_column,
        ignore=reading.not_learned_from,
        kinds=_kinds(reading.kinds),
        width=reading.width,
        features=reading.features,
        format=reading.file_format,
        delimiter=reading.delimiter,
        header=not reading.no_header,
        encoding=reading.encoding,
        follow=reading.follow,
        idle=reading.idle,
        on_error=reading.on_error,
        quarantine=reading.quarantine,
        model=model,
        labelled=labelled,
        bookmarks=bookmarks,
        from_start=from_start,
        tell=partial(_say, click.get_current_context(silent=True)),
    )


def tell(line: str, argument: str | None = None) -> None:
    """Say something on standard error, and which option it speaks of."""
    _say(click.get_current_context(silent=True), line, argument)


def _say(context: click.Context | None, line: str, argument: str | None = None) -> None:
    """The context is handed over, because a thread that reads ahead has none."""
    from lopsided.cli.naming import option_called

    option = None if context is None or argument is None else option_called(argument, context.command)
    click.secho(line if option is None else f"{line}; see {option}", fg="yellow", err=True)


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
