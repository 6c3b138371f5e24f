"""What commands that go through a stream have in common, before and after."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from lopsided.constraints import ParameterError
from lopsided.numerals import counted

if TYPE_CHECKING:
    from lopsided.alerts import AlertBudget
    from lopsided.cli.feed import Feed


def notice(text: str) -> None:
    """Say something beside the output."""
    click.echo(text, err=True)


def check_writable(target: str) -> None:
    """Refuse a place where no file can be written, before any work is done for it."""
    folder = Path(target).absolute().parent
    if Path(target).is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise ParameterError(f"The model {target} must be a file in a directory that can be written to, got none such.")


def check_outputs(options: Mapping[str, Any], kinds: Mapping[str, str], *, force: bool) -> None:
    """Check what the options of a command say it writes, against what they say it reads.

    A model that is resumed goes on in its own file unless --output names another.
    """
    from lopsided.cli import targets
    from lopsided.feeds.bad_rows import quarantine_path
    from lopsided.streams.topics import is_topic

    wanted = []
    for name, kind in kinds.items():
        path, option = options.get(name), f"--{name}"
        if name == "quarantine":
            path = quarantine_path(options["on_error"], path)
        if name == "output" and path is None:
            path, option = options.get("resume"), "--resume"
        is_written_to = kind == "SCORES" and path is not None and is_topic(path)  # behind what is there
        if path is not None and not is_written_to:
            wanted.append(targets.Target(option, path, getattr(targets, kind)))
    read = (*options.get("files", ()), *options.get("label_files", ()))
    inputs = [*read, *(options[name] for name in ("what", "model") if options.get(name))]
    targets.check_targets(wanted, inputs, force=force, goes_on_with=options.get("resume"))


def check_learns_online(name: str) -> None:
    """Refuse a learner that takes a whole set where rows are learned one after the other."""
    from lopsided.cli.learners import learner_class, learner_names, learns_online

    if not learns_online(learner_class(name)):
        raise ParameterError(
            f"The option --learner must be one that learns row by row, {', '.join(learner_names(online=True))}, "
            f"got {name!r}, which learns from a whole set."
        )


def announce(feed: Feed, model: Any, budget: AlertBudget | None = None) -> None:
    """Say what is read and how it is understood, which learner takes it, and when a row is an alert."""
    rule = f"threshold {model.threshold_rule_}" if budget is None else f"alerts within {budget}"
    learner = type(model.final_learner).__name__
    click.echo(
        f"{learner} on {feed.name}: {counted(feed.n_features, 'feature')}, {labels_in_words(feed)}, {rule}", err=True
    )
    announce_columns(feed)
    if not model.started_ and feed.schema is not None and not feed.schema.history_keys:
        propose_keys(feed)


def propose_keys(feed: Feed) -> None:
    """Say which columns look like keys, and what to add for a history of them."""
    from lopsided.encoding.inference import proposed_keys
    from lopsided.encoding.names import is_of_an_amount

    schema = feed.schema
    assert schema is not None
    keys = [name for name in proposed_keys(feed.stream.head, label=schema.label, id=schema.id) if name in schema.keys]
    if not keys:
        return
    time = next(iter(schema.times), "COL")
    amounts = [column.name for column in schema.columns if column.kind == "number" and is_of_an_amount(column.name)]
    options = [*(f"--key {shlex.quote(key)}" for key in keys), f"--time {shlex.quote(time)}"]
    options += [f"--value {shlex.quote(name)}" for name in amounts[:1]]
    columns = " and ".join(repr(key) for key in keys)
    verb = "look like keys" if len(keys) > 1 else "looks like a key"
    click.echo(f"{columns} {verb}: to learn from what each did before, add {' '.join(options)}", err=True)


def announce_columns(feed: Feed) -> None:
    """Say what the columns of a table are taken for."""
    if feed.schema is not None:
        for line in str(feed.schema).splitlines():
            click.echo(f"  {line}", err=True)


def labels_in_words(feed: Feed) -> str:
    """Which label was taken for the positive one."""
    assert feed.labels is not None
    other = "all others" if feed.labels.negative is None else feed.labels.negative
    return f"positive label {feed.labels.positive} (against {other})"


def refuse_nothing(feed: Feed, interrupted: bool) -> NoReturn:
    """The end of a stream without a single row to learn from."""
    from lopsided.streams import StreamError

    if interrupted:
        raise click.Abort
    got = f"{feed.bad.count} bad ones" if feed.bad.count else "none"
    raise StreamError(feed.name, None, None, "must have at least one row that can be learned from", got)
