"""What commands that go through a stream have in common, before and after."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from lopsided.cli.options import Delay
from lopsided.constraints import ParameterError

if TYPE_CHECKING:
    from lopsided.cli.feed import Feed


def check_writable(target: str) -> None:
    """Refuse a place where no file can be written, before any work is done for it."""
    folder = Path(target).absolute().parent
    if Path(target).is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise ParameterError(f"The model {target} must be a file in a directory that can be written to, got none such.")


def check_inputs_survive(options: Mapping[str, Any], written: Iterable[str]) -> None:
    """Refuse options that would write over what others read: files, those of a directory, or a model.

    Only --output may be the model of --resume, which goes on in its own file.
    """
    from lopsided.feeds.bad_rows import quarantine_path

    for name in written:
        target = options.get(name)
        if name == "quarantine":
            target = quarantine_path(options["on_error"], target)
        if target is None:
            continue
        singles = [options.get("what"), options.get("model"), options.get("resume") if name != "output" else None]
        for path in (*options.get("files", ()), *(single for single in singles if single is not None)):
            if os.path.isdir(path) and _lies_in(target, path):
                # A directory is looked into again and again: what appears there is read too.
                raise ParameterError(f"The option --{name} must not lie in a directory that is read, got {target!r}.")
            if os.path.exists(path) and os.path.exists(target) and os.path.samefile(path, target):
                raise ParameterError(f"The option --{name} must not be one of the files that are read, got {target!r}.")


def _lies_in(target: str, folder: str) -> bool:
    parent = Path(target).absolute().parent
    return parent.is_dir() and os.path.samefile(parent, folder)


def announce(feed: Feed, model: Any) -> None:
    """Say what is read and how it is understood."""
    assert feed.labels is not None
    other = "all others" if feed.labels.negative is None else feed.labels.negative
    click.echo(
        f"{type(model.final_learner).__name__} on {feed.name}: {feed.n_features:,} features, "
        f"positive label {feed.labels.positive} (against {other})",
        err=True,
    )
    if feed.schema is not None:
        for line in str(feed.schema).splitlines():
            click.echo(f"  {line}", err=True)


def check_delay(delay: Delay, feed: Feed) -> None:
    """A duration needs to know the time."""
    if delay.seconds and (feed.schema is None or feed.schema.time is None):
        raise ParameterError(
            "The option --delay must be a number of rows unless --time names a column, got a duration."
        )


def refuse_nothing(feed: Feed, interrupted: bool) -> NoReturn:
    """The end of a stream without a single row to learn from."""
    from lopsided.streams import StreamError

    if interrupted:
        raise click.Abort
    got = f"{feed.bad.count} bad ones" if feed.bad.count else "none"
    raise StreamError(feed.name, None, None, "must have at least one row that can be learned from", got)
