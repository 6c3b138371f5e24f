"""`lopsided learn`: from files or a feed to a saved model."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import click

from lopsided.cli.options import columns, learning, reading, with_config, with_json
from lopsided.constraints import ParameterError

if TYPE_CHECKING:
    from lopsided.cli.feed import Feed
    from lopsided.late import Delay
    from lopsided.metrics import AUPRC, AUROC

_CHECKPOINT_ROWS = 1_000_000
_HELD_BY_THE_MODEL = (
    "learner", "settings", "scale", "seed", "label", "positive", "id_column", "time_column", "ignore", "kinds", "width",
    "features",
)  # fmt: skip


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--output", "-o", metavar="MODEL", help="Where to save the model. Default with --resume: the same file.")
@click.option("--resume", metavar="MODEL", help="Go on with this model; its learner, columns and labels hold.")
@columns
@learning
@reading
@click.option(
    "--checkpoint",
    type=click.IntRange(min=1),
    default=_CHECKPOINT_ROWS,
    show_default=True,
    metavar="ROWS",
    help="Save the model every so many rows, so that little is lost if something breaks.",
)
@with_config
@with_json
def learn(
    files: tuple[str, ...],
    output: str | None,
    resume: str | None,
    learner: str,
    settings: tuple[str, ...],
    scale: str | None,
    delay: Delay,
    seed: int,
    checkpoint: int,
    as_json: bool,
    **options: Any,
) -> None:
    """Learn from files, row by row in one pass, and save the model.

    FILE is a table (CSV, TSV, NDJSON, Parquet, Arrow) or LIBSVM text, plain, gzip or zstd; a directory of such; - for
    standard input; or a topic kafka://host:port/topic. Several are read one after the other, in memory that does not
    grow with them. What the columns are is found in the first 1,000 rows, printed, and saved with the model.

    Every row is scored before it is learned, so the AUROC and AUPRC printed at the end are honest.
    Ctrl-C saves what was learned and ends with exit code 130.
    """
    from lopsided.cli.feed import Reading, open_feed
    from lopsided.cli.running import announce

    target = output or resume
    if target is None:
        raise click.UsageError("Missing option '--output' / '-o'")
    request = Reading(files, **options)
    model = _loaded(resume) if resume is not None else None
    with open_feed(request, model) as feed:
        if model is None:
            model = _fresh(feed, learner, settings, scale, seed)
        announce(feed, model)
        summary = _learned(feed, model, delay, target, checkpoint)
    if as_json:
        click.echo(json.dumps(summary))
    else:
        _print(summary)
    if summary["interrupted"]:
        from lopsided.cli.interrupts import INTERRUPTED

        click.secho(
            f"interrupted after {summary['rows']:,} rows; what was learned is in {target}", fg="yellow", err=True
        )
        raise click.exceptions.Exit(INTERRUPTED)


def _loaded(path: str) -> Any:
    """A model to go on with; what it has been told already cannot be told again, but may stand in a file of options."""
    from lopsided.cli.saved import load_for_files

    context = click.get_current_context()
    for name in _HELD_BY_THE_MODEL:
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = next(parameter.opts[0] for parameter in context.command.params if parameter.name == name)
            value = context.params[name]
            raise ParameterError(
                f"The option {option} must not be given with --resume, whose model has it, got {value!r}."
            )
    model = load_for_files(path)
    if not hasattr(model, "partial_fit"):
        name = type(model).__name__
        raise ParameterError(f"The model {path} must learn row by row to go on, got a {name}, which is fitted once.")
    return model


def _fresh(feed: Feed, learner: str, settings: tuple[str, ...], scale: str | None, seed: int) -> Any:
    from lopsided.cli.models import built_learner, built_model

    assert feed.labels is not None
    return built_model(built_learner(learner, settings, feed.labels.pos_label, seed), scale, feed)


def _learned(feed: Feed, model: Any, delay: Delay, target: str, checkpoint: int) -> dict[str, Any]:
    """Go through the stream and save; returns what is to be said about it."""
    from lopsided.cli.compiling import compile_ahead
    from lopsided.cli.feed import SLICE
    from lopsided.cli.interrupts import Interruptible
    from lopsided.cli.running import check_delay, refuse_nothing
    from lopsided.cli.status import Status
    from lopsided.late import LateLearner
    from lopsided.metrics import AUPRC, AUROC
    from lopsided.streams import StreamError

    assert feed.labels is not None
    classes = feed.labels.classes
    compile_ahead(
        model,
        classes,
        n_features=feed.n_features,
        is_sparse=feed.is_sparse,
        announce=lambda text: click.echo(text, err=True),
    )
    check_delay(delay, feed)
    late = LateLearner(model, delay=delay, classes=classes)
    roc, precision_recall = AUROC(), AUPRC(interpolation="step")
    positives = since_saved = 0
    interrupts = Interruptible()
    problem: StreamError | None = None
    with Status("learning") as status:
        try:
            for portion in interrupts.over(feed.slices(min(SLICE, checkpoint))):
                scores = late.progressive_scores(portion.X, portion.y, times=portion.times)
                is_positive = portion.signs > 0
                roc.update_many(is_positive, scores)
                precision_recall.update_many(is_positive, scores)
                positives += int(is_positive.sum())
                since_saved += scores.size
                if since_saved >= checkpoint and model.started_:
                    model.save(target)
                    since_saved = 0
                status.advance(scores.size, feed.progress, AUROC=roc.value)
        except StreamError as error:
            problem = error
        late.finish()
        if status.n_rows:
            model.save(target)
        seconds, rows_per_second = status.seconds, status.rows_per_second
    if problem is not None:
        if status.n_rows:
            saved = f"what was learned from the {status.n_rows:,} rows before is in {target}"
            click.secho(saved, fg="yellow", err=True)
        raise problem
    if not status.n_rows:
        refuse_nothing(feed, interrupts.interrupted)
    return _summary(feed, model, target, status.n_rows, positives, roc, precision_recall) | {
        "seconds": seconds,
        "rows_per_second": rows_per_second,
        "interrupted": interrupts.interrupted,
    }


def _summary(
    feed: Feed, model: Any, target: str, n_rows: int, positives: int, roc: AUROC, precision_recall: AUPRC
) -> dict[str, Any]:
    from lopsided.cli.models import as_json, parameters_of, scale_in_words

    assert feed.labels is not None
    learner = model.final_learner
    return {
        "model": target,
        "bytes": os.path.getsize(target),
        "learner": type(learner).__name__,
        "parameters": parameters_of(learner),
        "scale": scale_in_words(model),
        "rows": n_rows,
        "positives": positives,
        "positive": as_json(feed.labels.positive),
        "features": feed.n_features,
        "label_column": feed.label_column,
        "columns": None if feed.schema is None else feed.schema.to_json(),
        "auroc": as_json(roc.value),
        "average_precision": as_json(precision_recall.value),
        "n_support": as_json(getattr(learner, "n_support_", None)),
        "bad_rows": feed.bad.count,
        "quarantine": feed.bad.path if feed.bad.count else None,
        "notes": feed.notes,
    }


def _print(summary: dict[str, Any]) -> None:
    from lopsided.cli.display import count, score

    support = "" if summary["n_support"] is None else f", {summary['n_support']:,} support vectors"
    bad = f", {summary['bad_rows']:,} bad rows left out" if summary["bad_rows"] else ""
    lines = {
        "rows": f"{count(summary['rows'])}, {count(summary['positives'])} positive{bad}",
        "AUROC": f"{score(summary['auroc'])} (each row scored before it was learned)",
        "AUPRC": score(summary["average_precision"]),
        "speed": f"{count(summary['rows_per_second'])} rows a second, reading included",
        "model": f"{summary['model']} ({summary['learner']}{support}, {summary['bytes'] / 1000:,.0f} kB)",
    }
    for name, words in lines.items():
        click.echo(f"{name:<6} {words}")
