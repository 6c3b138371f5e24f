"""`lopsided evaluate`: progressive validation of a learner on files."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from lopsided.cli.options import (
    alerting,
    by_id,
    columns,
    keyed,
    learning,
    reading_for_scores,
    selective,
    with_config,
    with_json,
)
from lopsided.version import __version__

if TYPE_CHECKING:
    from lopsided.cli.alerting import Alerting
    from lopsided.cli.display import Row
    from lopsided.cli.feed import Feed
    from lopsided.cli.late_labels import LateOptions
    from lopsided.drift import DriftAlarm
    from lopsided.estimators.base.score_memory import ScoreMemory
    from lopsided.evaluate import Evaluation, History
    from lopsided.feeds import LabelFile, Portion
    from lopsided.late import Delay, SelectiveLabels, Unlabelled

_ROWS_OF_A_CALIBRATION = 100


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--output", "-o", metavar="FILE", help="Write every row with its score, probability and decision.")
@columns
@keyed
@learning
@by_id
@alerting
@selective
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
    unlabelled: Unlabelled | None,
    seed: int,
    threshold: str | None,
    alerts: str | None,
    per: str | None,
    value: str | None,
    report: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Score every row with a model that has not seen it, then learn from it (progressive validation).

    FILE is a table or LIBSVM text, see `lopsided learn`; several are read one after the other, once.
    Prints AUROC, AUPRC (average precision), F1 at the decisions that --threshold makes as rows come, and examples per
    second. Scores are kept for exact areas: 10 bytes per row, 18 with a time column.

    With --alerts (and --time) it prints what that many alerts a day would have caught, each decided when its row came,
    without knowing the rest of the day. For comparison it also prints what the best rows of each day, picked in
    hindsight, would have caught.

    Labels may come from a separate file, --labels labels.csv --id id: each is learned when it became known
    (--label-time), after --delay, or at once. Rows are judged by the last label of their identifier. With --labels-for
    alerts, only the labels of alerts are learned, and those of a random share (--explore) of all other rows. The
    figures use all labels; below them are the estimates that the seen labels alone would give.

    --output writes the rows in input order, with the raw score, the probability and the decision of the model that had
    not seen them (with --alerts: whether it was an alert).

    Finally it says whether the columns, the share of positives or the precision of alerts drifted, as `lopsided watch`
    finds it. Scores are watched too, but the scores of a model that is learning change in any case.
    """
    from lopsided.cli.alerting import Alerting, figures_as_json, print_alerts, rule_and_budget
    from lopsided.cli.drift_watching import drift_as_json, drift_in_words, time_is_a_date
    from lopsided.cli.feed import Reading, open_feed
    from lopsided.cli.late_labels import LateOptions, counts_in_words
    from lopsided.cli.models import chosen_learner, model_for
    from lopsided.cli.running import check_learns_online

    rule, budget = rule_and_budget(threshold, alerts, per, value, options["keys"])
    late = LateOptions.of(delay, unlabelled, options)
    check_learns_online(learner)
    chosen_learner(learner, settings, options["model_per"], None, seed, rule)  # refused before files are looked at
    if report is not None:
        from lopsided.report.writing import check_can_write

        check_can_write(report)
    told, chosen = late.read(options), late.selection(seed, has_budget=budget is not None)
    with open_feed(Reading(files, **options), labels=told) as feed:
        feed.with_ids = report is not None
        watching = None if budget is None else Alerting(budget, feed, value)
        model = model_for(feed, learner, settings, scale, seed, rule, options["keys"], value, options["model_per"])
        row, history, drift, code = _evaluated(feed, model, (late, told, chosen), watching, output)
        facts = _facts(feed, files, history, row)
        are_dates = time_is_a_date(feed)
    engine = history.evaluation.late
    facts["late"] = None if engine is None else engine.counts.as_dict()
    facts["estimated"] = None if chosen is None else _estimates(history, watching)
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
        if facts["estimated"] is not None:
            _print_estimates(facts["estimated"], row)
        if drift.is_ready:  # of a short stream nothing is said
            click.echo(drift_in_words(drift, are_dates=are_dates))
    if engine is not None and (late.by_id or late.unlabelled is not None):
        click.echo(f"labels: {counts_in_words(engine.counts)}", err=True)
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


def _evaluated(
    feed: Feed,
    model: Any,
    labels: tuple[LateOptions, LabelFile | None, SelectiveLabels | None],
    watching: Alerting | None,
    output: str | None,
) -> tuple[Row, History, DriftAlarm, int]:
    """Go through the stream; Ctrl-C ends it early, with what was learned until then."""
    import numpy as np

    from lopsided.cli.compiling import compile_ahead
    from lopsided.cli.display import LiveTable, Row
    from lopsided.cli.drift_watching import EvaluatedStream
    from lopsided.cli.feed import SLICE
    from lopsided.cli.interrupts import Interruptible
    from lopsided.cli.late_labels import check_times, tell_labels
    from lopsided.cli.running import announce, refuse_nothing
    from lopsided.evaluate import Evaluation, History, KeptRows

    assert feed.labels is not None
    late, told, chosen = labels
    check_times(late, feed)
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
    evaluation = Evaluation(model, classes=classes, by_key=late.by_id, selective=chosen, **late.rules)
    if evaluation.late is not None:
        tell_labels(evaluation.late, told)
    history = History(evaluation, kept)
    row = Row(feed.name, type(model.final_learner).__name__, 0)
    interrupts, drift = Interruptible(), EvaluatedStream(feed)
    with LiveTable([row], _columns()), _writer(output, feed) as writer:
        # Probabilities are those of the moment before a slice, so slices are short where they are written.
        for portion in interrupts.over(feed.slices(SLICE if writer is None else _ROWS_OF_A_CALIBRATION)):
            memory = _memory_of(model) if writer is not None else None
            portion, more = _labelled(portion, evaluation, feed, watching)
            y = None if "keys" in more else portion.y
            row.record = history.step(portion.X, y, portion.times, portion.cells, **more) or row.record
            row.share = feed.progress
            scores, called = evaluation.latest_scores, evaluation.latest_called
            if chosen is not None:
                called = evaluation.alerted
            elif watching is not None:
                called = watching.decide(portion, scores)
            if watching is not None:
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


def _labelled(
    portion: Portion, evaluation: Evaluation, feed: Feed, watching: Alerting | None
) -> tuple[Portion, dict[str, Any]]:
    """Rows with the labels by which they are judged, and what else a step of the evaluation needs to know."""
    from dataclasses import replace

    more: dict[str, Any] = {}
    if feed.schema is not None and feed.schema.label is None and evaluation.late is not None:
        assert feed.schema.id is not None
        more["keys"] = portion.ids(feed.schema.id)
        portion = replace(portion, y=evaluation.late.told(more["keys"]))
    if evaluation.selective is not None and watching is not None:
        more["alert"] = lambda rows, scores: watching.decide(portion.part(rows.start, rows.stop), scores)
    return portion, more


def _estimates(history: History, watching: Alerting | None) -> dict[str, Any]:
    """What somebody would say who has only the labels that were seen."""
    from lopsided.cli.models import as_json

    found = history.evaluation.estimates()
    facts = {name: as_json(value) for name, value in asdict(found).items()}
    if watching is not None and watching.budget.key is None:
        alerts = watching.reports()[0].overall
        facts["alert_precision"] = as_json(alerts.precision)
        facts["alert_recall"] = as_json(alerts.hits / found.positives if found.positives else float("nan"))
    return facts


def _print_estimates(facts: dict[str, Any], row: Row) -> None:
    from lopsided.cli.display import count, score

    assert row.record is not None
    click.echo(
        f"\nby the {count(facts['n'])} labels that were seen, of {count(row.record.n)}: AUROC {score(facts['auroc'])}, "
        f"AUPRC {score(facts['average_precision'])}, F1 {score(facts['f1'])}, {facts['positives']:,.0f} positives; "
        "the table is by all labels"
    )


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
        if only is None:  # all others than the positive label
            only = f"not {feed.labels.positive}"
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
