"""`lopsided learn`: from files or a feed to a saved model."""

from __future__ import annotations

import json
import os
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from lopsided.cli.options import (
    alerting,
    by_id,
    columns,
    in_shards,
    keyed,
    learning,
    reading,
    selective,
    with_config,
    with_json,
)
from lopsided.constraints import ParameterError
from lopsided.numerals import counted

if TYPE_CHECKING:
    from lopsided.cli.feed import Feed
    from lopsided.cli.training import Training
    from lopsided.late import Delay, Unlabelled

_CHECKPOINT_ROWS = 1_000_000
_CHECKPOINT_SECONDS = 60.0
_HELD_BY_THE_MODEL = (
    "learner", "settings", "scale", "seed", "label", "positive", "id_column", "time_column", "ignore", "kinds", "width",
    "features", "keys", "model_per", "threshold", "alerts", "per", "value", "unlabelled", "label_time", "corrections",
    "labels_for", "explore", "weight_cap",
)  # fmt: skip


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--output", "-o", metavar="MODEL", help="Where to save the model. Default with --resume: the same file.")
@click.option("--resume", metavar="MODEL", help="Continue with this model, after the rows it has learned.")
@click.option("--from-start", is_flag=True, help="With --resume: learn the files again from their start, on purpose.")
@columns
@keyed
@learning
@by_id
@alerting
@selective
@in_shards
@reading
@click.option(
    "--checkpoint",
    type=click.IntRange(min=1),
    default=_CHECKPOINT_ROWS,
    show_default=True,
    metavar="ROWS",
    help="Save the model after this many rows, so that little is lost in a crash.",
)
@click.option(
    "--checkpoint-seconds",
    type=click.FloatRange(min=0),
    default=_CHECKPOINT_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="The same by time.",
)
@with_config
@with_json
def learn(
    files: tuple[str, ...],
    output: str | None,
    resume: str | None,
    from_start: bool,
    learner: str,
    settings: tuple[str, ...],
    scale: str | None,
    delay: Delay,
    unlabelled: Unlabelled | None,
    seed: int,
    threshold: str | None,
    alerts: str | None,
    per: str | None,
    value: str | None,
    engine: str | None,
    shards: int,
    merge_every: int,
    checkpoint: int,
    checkpoint_seconds: float,
    as_json: bool,
    **options: Any,
) -> None:
    """Learn from files, row by row in one pass, and save the model.

    FILE is a table (CSV, TSV, NDJSON, Parquet, Arrow) or LIBSVM text, plain, gzip or zstd; a directory of such; - for
    standard input; or a topic, kafka://host:port/topic or nats://host:port/subject. Several are read one after the
    other, in memory that does not grow with them. Column types are inferred from the first 1,000 rows, printed, and
    saved with the model.

    Every row is scored before it is learned, so the AUROC and AUPRC printed at the end are honest; they count the rows
    of earlier runs of a resumed model.

    Ctrl-C and SIGTERM save what was learned and exit with code 130 or 143; a bad row does the same with code 2. The
    same command with --resume MODEL continues after the last row learned, as if nothing had happened: files that were
    read to their end are skipped, one that has grown is continued, and one that was changed before that place is
    refused. Rows that are waiting for their labels (--delay) are kept in the model file; when all files have been read
    to their end, these labels are assumed to be known and the rows are learned.

    Labels may come from a separate file or topic, --labels labels.csv --id id: each is learned when it became known
    (--label-time), after --delay, or at once. At the end all of them are learned; rows that have no label yet are kept
    in the model file, and --resume with new labels learns them. With --follow, labels of a topic are learned as they
    come.

    B2RMK is a batch learner: it reads all files first and is then fitted once, on at most 3,000 rows.

    With --engine the rows are dealt out to --shards models, which are merged every --merge-every rows and at the end.
    The file is that of the last merge: rows after it are learned again with --resume.

    An alert budget (--alerts, or --threshold budget:50/day) is applied to the rows as they come, and is saved with the
    model: `lopsided score` continues with it.
    """
    from lopsided.cli.alerting import Alerting, restored_budget, rule_and_budget
    from lopsided.cli.batch_training import fit_and_save, print_fit
    from lopsided.cli.feed import Reading, open_feed
    from lopsided.cli.late_labels import LateOptions, check_times
    from lopsided.cli.learners import learns_online
    from lopsided.cli.models import model_for
    from lopsided.cli.running import announce
    from lopsided.cli.training import FEED, LABELS, Training, held_options
    from lopsided.streams import Spellings
    from lopsided.streams.bookmarks import Bookmarks

    target = output or resume
    if target is None:
        raise click.UsageError("Missing option '--output' / '-o'")
    rule, budget = rule_and_budget(threshold, alerts, per, value, options["keys"])
    model, attached = _loaded(resume) if resume is not None else (None, {})
    budget = restored_budget(attached) or budget
    known = attached[FEED].description if FEED in attached else {"bookmarks": [], "options": {}}
    marks = Bookmarks.from_json(known["bookmarks"])
    late = LateOptions.of(
        delay, unlabelled, options, known["options"], goes_on_by_id=LABELS in attached, can_follow=True
    )
    if from_start and late.by_id:
        raise ParameterError(
            "The option --from-start must come without labels by identifier, by which rows are learned once. Got both."
        )
    said = known["options"] | {name: value for name, value in options.items() if value is not None}
    spellings = None if model is None else Spellings.of(model.labels_)
    told = late.read(said, spellings, attached[LABELS].description if LABELS in attached else None)
    to_come = late.to_come(said, told) or nullcontext()
    chosen = late.selection(known["options"].get("seed", seed), has_budget=budget is not None)
    reading = Reading(files, **options)
    with to_come as later, open_feed(reading, model, bookmarks=marks, from_start=from_start, labels=told) as feed:
        if model is None:
            model = model_for(feed, learner, settings, scale, seed, rule, options["keys"], value, options["model_per"])
        elif FEED not in attached:
            feed.note(f"{resume} does not say which rows it has learned: all rows of the files are learned")
        check_times(late, feed)
        watching = None if budget is None else Alerting(budget, feed, value)
        announce(feed, model, budget)
        if not learns_online(type(model.final_learner)):
            given = {"--alerts": watching, "--delay": delay, "--labels": told, "--labels-for": chosen}
            _refuse_for_a_whole_set(model, [option for option, value in given.items() if value])
            facts = fit_and_save(model, feed, target)
            click.echo(json.dumps(facts)) if as_json else print_fit(facts)
            return
        _compile(feed, model)
        make: type[Training] = Training
        if engine is not None:
            from lopsided.cli.sharded_training import sharded

            one = {"--alerts": watching, "--delay": delay, "--labels": told, "--labels-for": chosen}
            make = sharded([option for option, value in one.items() if value], engine, shards, merge_every)
        training = make(
            model,
            feed,
            late,
            told,
            chosen,
            target=target,
            options=known["options"] or held_options(_HELD_BY_THE_MODEL),
            attached=attached,
            every_rows=checkpoint,
            every_seconds=checkpoint_seconds,
            alerting=watching,
            to_come=later,
        )
        with training:
            summary, code = _learned(training, checkpoint, goes_on=resume is not None)
    if as_json:
        click.echo(json.dumps(summary))
    else:
        _print(summary)
    if code:
        raise click.exceptions.Exit(code)


def _loaded(path: str) -> tuple[Any, dict[str, Any]]:
    """A model to go on with, and what else its file holds.

    What it was built by cannot be told otherwise; the same may be said again, and others may stand in a file of
    options.
    """
    from lopsided.cli.saved import load_to_go_on
    from lopsided.cli.training import FEED, held_options

    model, attached = load_to_go_on(path)
    known = attached[FEED].description["options"] if FEED in attached else {}
    context = click.get_current_context()
    for name, value in held_options(_HELD_BY_THE_MODEL).items():
        is_given = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if is_given and (name not in known or known[name] != value):
            option = next(parameter.opts[0] for parameter in context.command.params if parameter.name == name)
            had = f", which was {known[name]!r}" if name in known else ""
            raise ParameterError(
                f"The option {option} must not be changed with --resume, whose model has it{had}, got {value!r}."
            )
    if not hasattr(model.final_learner, "partial_fit"):
        name = type(model.final_learner).__name__
        raise ParameterError(f"The model {path} must learn row by row, got a {name}, which is fitted once.")
    return model, attached


def _refuse_for_a_whole_set(model: Any, options: list[str]) -> None:
    for option in options:
        raise ParameterError(
            f"The option {option} must come with a learner that learns row by row, "
            f"got {type(model.final_learner).__name__}, which learns from a whole set."
        )


def _compile(feed: Feed, model: Any) -> None:
    from lopsided.cli.compiling import compile_ahead

    assert feed.labels is not None
    compile_ahead(
        model,
        feed.labels.classes,
        n_features=feed.n_features,
        is_sparse=feed.is_sparse,
        announce=lambda text: click.echo(text, err=True),
    )


def _learned(training: Training, checkpoint: int, *, goes_on: bool) -> tuple[dict[str, Any], int]:
    """Go through the stream and save; returns what is to be said about it, and the exit code."""
    from lopsided.cli.feed import SLICE
    from lopsided.cli.interrupts import Interruptible
    from lopsided.cli.running import refuse_nothing
    from lopsided.cli.status import Status
    from lopsided.streams import StreamError

    feed = training.feed
    interrupts = Interruptible()
    sources = feed.stream.sources
    sources.meanwhile, sources.leaving = map(interrupts.undisturbed, (training.hear, training.save))
    problem: StreamError | None = None
    with Status("learning") as status:
        try:
            for rows in interrupts.over(feed.slices(min(SLICE, checkpoint))):
                n_rows = training.step(rows)
                training.checkpoint()
                status.advance(n_rows, feed.progress, AUROC=training.roc.value)
        except StreamError as error:
            problem = error
        has_ended = problem is None and not interrupts.interrupted
        is_told = training.told is not None and bool(training.told.ids)
        is_changed = bool(
            status.n_rows or training.n_heard or (has_ended and (training.n_waiting or feed.bad.count or is_told))
        )
        if has_ended:
            _refuse_a_label_that_never_came(training)
            training.finish()
        if training.alerting is not None:
            training.alerting.note_late_rows(feed)
        is_saved = is_changed and training.save()
        seconds, rows_per_second = status.seconds, status.rows_per_second
    if not is_saved and not goes_on and problem is None and not status.n_rows:
        refuse_nothing(feed, interrupts.interrupted)
    if not has_ended and status.n_rows:
        _say_what_is_kept(training, status.n_rows, is_saved, interrupted=problem is None)
    if problem is not None:
        raise problem
    summary = _summary(training, status.n_rows, is_saved) | {
        "seconds": seconds,
        "rows_per_second": rows_per_second if status.n_rows else None,
        "interrupted": interrupts.interrupted,
        "resumed": goes_on,
    }
    return summary, interrupts.exit_code


def _refuse_a_label_that_never_came(training: Training) -> None:
    """Several labels and none of them positive is a name spelled wrongly, unless the stream may still bring it."""
    from lopsided.streams import StreamError

    feed = training.feed
    assert feed.labels is not None
    if feed.labels.others_seen is not None and not training.positives and not feed.stream.sources.follow:
        rule = f"must occur among its labels, which begin with {feed.labels.others_seen}"
        raise StreamError(
            feed.name, None, "the positive label", rule, repr(str(feed.labels.positive)), argument="positive"
        )


def _say_what_is_kept(training: Training, n_rows: int, is_saved: bool, *, interrupted: bool) -> None:
    before = f"interrupted after {n_rows:,} rows; " if interrupted else ""
    whose = "what was learned" if interrupted else f"what was learned from the {counted(n_rows, 'row')} before"
    waiting = f", where {training.n_waiting:,} rows wait for their labels" if training.n_waiting else ""
    kept = f"{whose} is in {training.target}{waiting}"
    if not is_saved:
        kept = "no label was known yet, so there is no model to save: begin again without --resume"
    click.secho(before + kept, fg="yellow", err=True)


def _summary(training: Training, n_rows: int, is_saved: bool) -> dict[str, Any]:
    from lopsided.cli.models import as_json, parameters_of, scale_in_words

    feed, model = training.feed, training.model
    assert feed.labels is not None
    learner = model.final_learner
    return {
        "model": training.target,
        "saved": is_saved,
        "bytes": os.path.getsize(training.target) if os.path.exists(training.target) else None,
        "learner": type(learner).__name__,
        "parameters": parameters_of(learner),
        "scale": scale_in_words(model),
        "threshold": as_json(model.threshold_rule_),
        "alerts": _alerts_of(training),
        "rows": n_rows,
        "rows_in_all": model.n_seen_ if model.started_ else 0,
        "rows_measured": training.n_measured,
        "waiting": training.n_waiting,
        "late": training.late.counts.as_dict(),
        "labels_seen": None if training.selection is None else training.selection.n_seen,
        "positives": training.positives,
        "blank": feed.n_blank,
        "positive": as_json(feed.labels.positive),
        "features": feed.n_features,
        "label_column": feed.label_column,
        "columns": None if feed.schema is None else feed.schema.to_json(),
        "auroc": as_json(training.roc.value),
        "average_precision": as_json(training.precision_recall.value),
        "n_support": as_json(getattr(learner, "n_support_", None)) if model.started_ else None,
        "bad_rows": feed.bad.count,
        "quarantine": feed.bad.path if feed.bad.count else None,
        "notes": feed.notes,
    }


def _alerts_of(training: Training) -> dict[str, Any] | None:
    if training.alerting is None:
        return None
    budget = training.alerting.budget
    return {"budget": str(budget), "per": budget.key, "alerts": training.n_alerts, "hits": training.n_hits}


def _print(summary: dict[str, Any]) -> None:
    from lopsided.cli.display import count, score
    from lopsided.cli.late_labels import counts_in_words
    from lopsided.late import Counts

    if not summary["rows"] and not summary["saved"]:
        click.echo(f"nothing new to learn; {summary['model']} is as it was")
        return
    support = "" if summary["n_support"] is None else f", {summary['n_support']:,} support vectors"
    bad = f", {summary['bad_rows']:,} bad rows left out" if summary["bad_rows"] else ""
    bad += f", {summary['blank']:,} without a label" if summary["blank"] else ""
    in_all = f" ({count(summary['rows_in_all'])} in all)" if summary["resumed"] else ""
    measured = f" over {count(summary['rows_measured'])} rows" if summary["resumed"] else ""
    lines = {
        "rows": f"{count(summary['rows'])}{in_all}, {count(summary['positives'])} positive{bad}",
        "AUROC": f"{score(summary['auroc'])}{measured} (each row scored before it was learned)",
        "AUPRC": score(summary["average_precision"]),
    }
    if summary["alerts"] is not None:
        lines["alerts"] = (
            f"{count(summary['alerts']['alerts'])} within {summary['alerts']['budget']}, "
            f"{count(summary['alerts']['hits'])} of them positive"
        )
    counts = Counts(**summary["late"])
    if any((counts.expected, counts.waiting, counts.duplicates, counts.corrections, counts.as_negatives)):
        lines["labels"] = counts_in_words(counts)
    if summary["rows"]:
        lines["speed"] = f"{count(summary['rows_per_second'])} rows per second, including reading"
    if summary["saved"]:
        lines["model"] = f"{summary['model']} ({summary['learner']}{support}, {summary['bytes'] / 1000:,.0f} kB)"
    for name, words in lines.items():
        click.echo(f"{name:<6} {words}")
