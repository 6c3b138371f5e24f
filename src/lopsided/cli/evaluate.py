"""`lopsided evaluate`: progressive validation of a learner on files."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from lopsided.cli.options import alerting, columns, keyed, learning, reading_for_scores, with_config, with_json
from lopsided.version import __version__

if TYPE_CHECKING:
    from lopsided.cli.alerting import Alerting
    from lopsided.cli.display import Row
    from lopsided.cli.feed import Feed
    from lopsided.drift import DriftAlarm
    from lopsided.estimators.base.score_memory import ScoreMemory
    from lopsided.evaluate import History
    from lopsided.late import Delay

_ROWS_OF_A_CALIBRATION = 100


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--output", "-o", metavar="FILE", help="Write every row with its score, probability and decision.")
@columns
@keyed
@learning
@alerting
@reading_for_scores
@click.option("--report", metavar="HTML", help="Write a report with curves into this file.")
@with_config
@with_json
def evaluate(
    files: tuple[str, ...],
    output: str | None,
    learner: str,
    settings: tuple[str, ...],
    scale: str | None,
    delay: Delay,
    seed: int,
    threshold: str | None,
    alerts: str | None,
    per: str | None,
    value: str | None,
    report: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Score every row by the model that has not seen it, then learn it (progressive validation).

    FILE is a table or LIBSVM text, see `lopsided learn`; several are read one after the other, once.
    Prints AUROC, AUPRC (average precision), F1 at the decisions that --threshold makes as rows come, and examples per
    second. Scores are kept for exact areas: 10 bytes per row, 18 with a time column.

    With --alerts (and --time) it prints what so many alerts a day would have caught: each decided when its row came,
    without knowing the rest of the day, beside the best rows of each day, which only hindsight knows.

    The file of --output has the rows as they came, with the raw score, the probability and the decision of the model
    that had not seen them (with --alerts: whether it was an alert).

    Last it says whether the columns, the share of positives or the precision of alerts drifted, as `lopsided watch`
    finds it. Scores are watched too, but those of a model that learns move in any case.
    """
    from lopsided.cli.alerting import Alerting, figures_as_json, print_alerts, rule_and_budget
    from lopsided.cli.drift_watching import drift_as_json, drift_in_words, time_is_a_date
    from lopsided.cli.feed import Reading, open_feed
    from lopsided.cli.models import built_learner
    from lopsided.cli.running import check_learns_online

    rule, budget = rule_and_budget(threshold, alerts, per, value, options["keys"])
    check_learns_online(learner)
    built_learner(learner, settings, None, seed, rule)  # refused before files are looked at
    if report is not None:
        from lopsided.report.writing import check_can_write

        check_can_write(report)
    with open_feed(Reading(files, **options)) as feed:
        feed.with_ids = report is not None
        watching = None if budget is None else Alerting(budget, feed, value)
        model = _model(feed, learner, settings, scale, seed, rule, options["keys"], value)
        row, history, drift, code = _evaluated(feed, model, delay, watching, output)
        facts = _facts(feed, files, history, row)
        are_dates = time_is_a_date(feed)
    reports = None if watching is None else watching.reports()
    facts["drift"] = drift_as_json(drift)
    if as_json:
        from lopsided.cli.models import as_json as plain

        assert row.record is not None
        record = {name: plain(value) for name, value in asdict(row.record).items()}
        if budget is not None and reports is not None:
            facts["alerts"] = figures_as_json(budget, *reports)
            record |= {f"alert_{name}": facts["alerts"][name] for name in ("precision", "recall")}
        click.echo(json.dumps({"version": __version__, **facts, "record": record, "interrupted": code != 0}))
    else:
        from lopsided.cli.display import print_table

        print_table([row], _columns())
        if budget is not None and reports is not None:
            print_alerts(budget, *reports)
        if drift.is_ready:  # of a short stream nothing is said
            click.echo(drift_in_words(drift, are_dates=are_dates))
    if feed.n_blank:
        click.echo(f"{feed.n_blank:,} rows without a label were scored, and neither learned nor judged", err=True)
    if feed.bad.count:
        click.secho(feed.bad.summary(), fg="yellow", err=True)
    if report is not None:
        from lopsided.cli.evaluation_report import write

        write(report, row, history, facts, _columns(), feed.schema, drift)
        click.echo(f"report: {report}", err=True)
    if code:
        click.secho(f"interrupted after {facts['rows']:,} rows", fg="yellow", err=True)
        raise click.exceptions.Exit(code)


def _model(
    feed: Feed,
    learner: str,
    settings: tuple[str, ...],
    scale: str | None,
    seed: int,
    rule: str | float | None,
    keys: tuple[str, ...],
    value: str | None,
) -> Any:
    from lopsided.cli.models import built_learner, built_model

    assert feed.labels is not None
    ranker = built_learner(learner, settings, feed.labels.pos_label, seed, rule, sparse=feed.is_sparse)
    return built_model(ranker, scale, feed, keys, value if keys else None)


def _evaluated(
    feed: Feed, model: Any, delay: Delay, watching: Alerting | None, output: str | None
) -> tuple[Row, History, DriftAlarm, int]:
    """Go through the stream; Ctrl-C ends it early, with what was learned until then."""
    import numpy as np

    from lopsided.cli.compiling import compile_ahead
    from lopsided.cli.display import LiveTable, Row
    from lopsided.cli.drift_watching import EvaluatedStream
    from lopsided.cli.feed import SLICE
    from lopsided.cli.interrupts import Interruptible
    from lopsided.cli.running import announce, check_delay, refuse_nothing
    from lopsided.evaluate import Evaluation, History, KeptRows

    assert feed.labels is not None
    check_delay(delay, feed)
    classes = feed.labels.classes
    announce(feed, model, None if watching is None else watching.budget)
    compile_ahead(
        model,
        classes,
        n_features=feed.n_features,
        is_sparse=feed.is_sparse,
        announce=lambda text: click.echo(text, err=True),
    )
    kept = None
    if feed.with_ids:
        known = feed.schema
        time = None if known is None or known.time is None else known.time.name
        kept = KeptRows(id_column=None if known is None else known.id, apart=(feed.label_column, time))
    history = History(Evaluation(model, classes=classes, delay=delay, unlabelled="skip"), kept)
    row = Row(feed.name, type(model.final_learner).__name__, 0)
    interrupts, drift = Interruptible(), EvaluatedStream(feed)
    with LiveTable([row], _columns()), _writer(output, feed) as writer:
        # Probabilities are those of the moment before a slice, so slices are short where they are written.
        for portion in interrupts.over(feed.slices(SLICE if writer is None else _ROWS_OF_A_CALIBRATION)):
            memory = _memory_of(model) if writer is not None else None
            row.record = history.step(portion.X, portion.y, portion.times, portion.cells) or row.record
            row.share = feed.progress
            scores, called = history.evaluation.latest_scores, history.evaluation.latest_called
            if watching is not None:
                called = watching.decide(portion, scores)
                watching.keep(portion, scores, called)
            drift.look(portion, scores, called)
            if memory is not None:
                decisions = feed.labels_of(np.where(called, 1.0, -1.0))
                writer.write(portion, scores, memory.probability(scores), decisions)
    if not history.evaluation.n:
        refuse_nothing(feed, interrupts.interrupted)
    row.record = history.note()
    if not interrupts.interrupted:
        _check_two_labels(feed, row)
    if watching is not None:
        watching.note_late_rows(feed)
    return row, history, drift.alarm, interrupts.exit_code


def _writer(output: str | None, feed: Feed) -> Any:
    """Where rows go with their scores; nowhere without --output."""
    if output is None:
        return nullcontext()
    from lopsided.feeds import open_writer
    from lopsided.feeds.writers import check_names_are_free

    if feed.schema is not None:
        check_names_are_free(feed.stream.columns, feed.name)
    return open_writer(output, feed, at_once=feed.stream.sources.follow)


def _memory_of(model: Any) -> ScoreMemory:
    """What probabilities are made of before the next rows are learned."""
    from lopsided.estimators.base.score_memory import ScoreMemory

    return model.score_memory_ if model.started_ else ScoreMemory()


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
        "threshold": as_json(model.threshold_rule_),
        "files": list(files),
        "rows": row.record.n,
        "features": feed.n_features,
        "label_column": feed.label_column,
        "labels": {
            str(feed.labels.positive): row.record.positives,
            str(negative): row.record.n - row.record.positives,
        },
        "positive": as_json(feed.labels.positive),
        "blank": feed.n_blank,
        "bad_rows": feed.bad.count,
        "notes": feed.notes,
    }


def _columns() -> list[Any]:
    from lopsided.cli.display import AUPRC, AUROC, EXAMPLES, F1, LEARNER, POSITIVES, SPEED, SUPPORT

    return [LEARNER, EXAMPLES, POSITIVES, AUROC, AUPRC, F1, SPEED, SUPPORT]
