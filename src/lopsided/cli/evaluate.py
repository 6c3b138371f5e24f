"""`lopsided evaluate`: progressive validation of a learner on files."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from lopsided.cli.options import columns, keyed, learning, reading, with_config, with_json
from lopsided.version import __version__

if TYPE_CHECKING:
    from lopsided.cli.display import Row
    from lopsided.cli.feed import Feed
    from lopsided.evaluate import History
    from lopsided.late import Delay


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@columns
@keyed
@learning
@reading
@click.option("--report", metavar="HTML", help="Write a report with curves into this file.")
@with_config
@with_json
def evaluate(
    files: tuple[str, ...],
    learner: str,
    settings: tuple[str, ...],
    scale: str | None,
    delay: Delay,
    seed: int,
    report: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Score every row by the model that has not seen it, then learn it (progressive validation).

    FILE is a table or LIBSVM text, see `lopsided learn`; several are read one after the other, once.
    Prints AUROC, AUPRC (average precision), F1 at the learner's own decision, and examples per second. Scores are kept
    for exact areas: 10 bytes per row.
    """
    from lopsided.cli.feed import Reading, open_feed
    from lopsided.cli.learners import learner_class, parsed_settings
    from lopsided.cli.models import built_learner, built_model

    parsed_settings(learner_class(learner), settings)  # refused before files are looked at
    if report is not None:
        from lopsided.report.writing import check_can_write

        check_can_write(report)
    with open_feed(Reading(files, **options)) as feed:
        assert feed.labels is not None
        ranker = built_learner(learner, settings, feed.labels.pos_label, seed)
        model = built_model(ranker, scale, feed, options["keys"], options["value_column"])
        row, history, code = _evaluated(feed, model, delay)
        facts = _facts(feed, files, history, row)
    if as_json:
        from lopsided.cli.models import as_json as plain

        assert row.record is not None
        record = {name: plain(value) for name, value in asdict(row.record).items()}
        click.echo(json.dumps({"version": __version__, **facts, "record": record, "interrupted": code != 0}))
    else:
        from lopsided.cli.display import print_table

        print_table([row], _columns())
    if feed.bad.count:
        click.secho(feed.bad.summary(), fg="yellow", err=True)
    if report is not None:
        from lopsided.cli.evaluation_report import write

        write(report, row, history, facts, _columns())
        click.echo(f"report: {report}", err=True)
    if code:
        click.secho(f"interrupted after {facts['rows']:,} rows", fg="yellow", err=True)
        raise click.exceptions.Exit(code)


def _evaluated(feed: Feed, model: Any, delay: Delay) -> tuple[Row, History, int]:
    """Go through the stream; Ctrl-C ends it early, with what was learned until then."""
    from lopsided.cli.compiling import compile_ahead
    from lopsided.cli.display import LiveTable, Row
    from lopsided.cli.interrupts import Interruptible
    from lopsided.cli.running import announce, check_delay, refuse_nothing
    from lopsided.evaluate import Evaluation, History

    assert feed.labels is not None
    check_delay(delay, feed)
    classes = feed.labels.classes
    announce(feed, model)
    compile_ahead(
        model,
        classes,
        n_features=feed.n_features,
        is_sparse=feed.is_sparse,
        announce=lambda text: click.echo(text, err=True),
    )
    history = History(Evaluation(model, classes=classes, delay=delay))
    row = Row(feed.name, type(model.final_learner).__name__, 0)
    interrupts = Interruptible()
    with LiveTable([row], _columns()):
        for portion in interrupts.over(feed.slices()):
            row.record = history.step(portion.X, portion.y, portion.times) or row.record
            row.share = feed.progress
    if not history.evaluation.n:
        refuse_nothing(feed, interrupts.interrupted)
    row.record = history.note()
    if not interrupts.interrupted:
        _check_two_labels(feed, row)
    return row, history, interrupts.exit_code


def _check_two_labels(feed: Feed, row: Row) -> None:
    from lopsided.streams import StreamError

    assert feed.labels is not None and row.record is not None
    if row.record.positives in (0, row.record.n):
        only = feed.labels.positive if row.record.positives else feed.labels.negative
        where = f"the label column {feed.label_column!r}" if feed.label_column else "the label"
        got = f"one label: {only!r} in {row.record.n} rows"
        raise StreamError(feed.name, None, where, "must hold two different labels", got)


def _facts(feed: Feed, files: tuple[str, ...], history: History, row: Row) -> dict[str, Any]:
    from lopsided.cli.models import as_json, parameters_of, scale_in_words

    assert feed.labels is not None and row.record is not None
    model = history.evaluation.learner
    negative = f"not {feed.labels.positive}" if feed.labels.negative is None else feed.labels.negative
    return {
        "learner": row.learner,
        "parameters": parameters_of(model.final_learner),
        "scale": scale_in_words(model),
        "files": list(files),
        "rows": row.record.n,
        "features": feed.n_features,
        "label_column": feed.label_column,
        "labels": {
            str(feed.labels.positive): row.record.positives,
            str(negative): row.record.n - row.record.positives,
        },
        "positive": as_json(feed.labels.positive),
        "bad_rows": feed.bad.count,
        "notes": feed.notes,
    }


def _columns() -> list[Any]:
    from lopsided.cli.display import AUPRC, AUROC, EXAMPLES, F1, LEARNER, POSITIVES, SPEED, SUPPORT

    return [LEARNER, EXAMPLES, POSITIVES, AUROC, AUPRC, F1, SPEED, SUPPORT]
