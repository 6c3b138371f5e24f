"""`lopsided score`: a saved model's opinion on every row, in the order of the rows."""

from __future__ import annotations

import json
from typing import Any

import click

from lopsided.cli.options import reading_beside_an_output, threshold_option, with_config


@click.command()
@click.argument("model", metavar="MODEL")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--output", "-o", metavar="FILE", help="Where to write: a file or a topic. Default: standard output.")
@click.option(
    "--format",
    "to",
    type=click.Choice(["csv", "ndjson", "parquet", "arrow"]),
    help="Format of the output. Default: by the suffix of --output, else csv.",
)
@click.option(
    "--keep",
    type=click.Choice(["all", "id", "none"]),
    default="all",
    show_default=True,
    help="Which input columns to write before the scores.",
)
@threshold_option("that of the model")
@click.option("--time", "time_column", metavar="COL", help="ISO dates or seconds. Default: the model's.")
@click.option("--alerts-only", is_flag=True, help="Write only the rows that are alerts.")
@click.option("--top", type=click.IntRange(min=1), metavar="N", help="Write only the N rows with the highest scores.")
@click.option(
    "--per",
    metavar="PERIOD|COL",
    help="With --top: N of each minute, hour, day, week or 8h. With a budget: at most one alert for each value of COL.",
)
@click.option("--sort", type=click.Choice(["score"]), help="Write the highest scores first. Default: input order.")
@reading_beside_an_output
@with_config
@click.option("--json", "as_json", is_flag=True, help="The same as --format ndjson, and a summary as JSON on stderr.")
def score(
    model: str,
    files: tuple[str, ...],
    output: str | None,
    to: str | None,
    keep: str,
    threshold: str | None,
    time_column: str | None,
    alerts_only: bool,
    top: int | None,
    per: str | None,
    sort: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Append three columns to every row: score, probability, predicted.

    MODEL is a file that `lopsided learn` or a learner's `save` has written; FILE is of the kind it learned from (see
    `lopsided learn`), and needs no label. A model that has learned from a data frame finds its columns by name, one
    that has learned from an array takes the numeric columns in order. The score ranks: larger means more likely the
    positive label; above 0 the row is predicted to have it. The model does not change. Rows keep their order; with
    --on-error skip, bad ones are left out.

    Rows that are predicted to have the positive label are alerts. With a budget (--threshold budget:50/day, or that of
    `lopsided learn --alerts`) at most that many rows a day are alerts, and with a rate (--threshold rate:0.01) that
    share of all rows; both are decided row by row, and scores are then not shifted.
    --top and --sort hold rows in memory until the end: all of them, or as many as are written. With --follow every row
    is written as soon as it arrives. If the output is a topic, kafka://host:port/topic, each row is written as a JSON
    object.
    """
    from lopsided.cli.alert_output import Choosing, period_and_key
    from lopsided.cli.alerting import Alerting, restored_budget, rule_and_budget, share_to_keep
    from lopsided.cli.feed import Reading, open_feed
    from lopsided.cli.interrupts import Interruptible
    from lopsided.cli.models import set_threshold
    from lopsided.cli.saved import load_to_go_on
    from lopsided.cli.status import Status
    from lopsided.feeds import open_writer
    from lopsided.feeds.writers import check_names_are_free

    period, key = period_and_key(top, per, follow=options["follow"], sort=sort)
    rule, budget = rule_and_budget(threshold, key=key)
    ranker, attached = load_to_go_on(model)
    if threshold is None:
        budget = restored_budget(attached)
    elif rule is not None:
        set_threshold(ranker, rule)
    interrupts = Interruptible()
    with open_feed(Reading(files, **options), ranker, labelled=False) as feed:
        if feed.schema is not None:
            check_names_are_free(feed.stream.columns, feed.name)
        if time_column is not None:
            feed.with_time(time_column)
        watching = None if budget is None else Alerting(budget, feed)
        keeping = share_to_keep(ranker) if budget is None else None
        choosing = Choosing(feed, alerts_only=alerts_only, top=top, period=period, by_score=sort is not None)
        rule_in_words = f"threshold {ranker.threshold_rule_}" if budget is None else f"alerts within {budget}"
        if not as_json:
            click.echo(f"{type(ranker.final_learner).__name__} from {model}, {rule_in_words}", err=True)
        to = to or ("ndjson" if as_json else None)
        with (
            open_writer(output, feed, format=to, keep=keep, at_once=options["follow"]) as writer,
            Status("scoring") as status,
        ):
            for portion in interrupts.over(feed.ahead()):
                answer = ranker.answer(portion.X)
                scores, shift = answer.score, 0.0
                if watching is not None:
                    flagged = watching.decide(portion, scores)
                elif keeping is not None:
                    flagged = keeping.decide(scores)
                else:
                    shift = answer.threshold
                    flagged = scores - shift > 0
                scores, decision = scores - shift, ranker.labels_.names(flagged)
                choosing.take(writer, portion, (scores, answer.probability, decision), flagged)
                if not choosing.holds_rows:
                    feed.confirm(portion)
                status.advance(scores.size, feed.progress)
            choosing.finish(writer)
            if not interrupts.interrupted:
                feed.confirm()
        if watching is not None:
            watching.note_late_rows(feed)
        summary = {
            "model": model,
            "output": output,
            "rows": status.n_rows,
            "alerts": choosing.n_alerts,
            "rows_written": choosing.n_written,
            "bad_rows": feed.bad.count,
            "rows_per_second": status.rows_per_second if status.n_rows else None,
            "interrupted": interrupts.interrupted,
        }
    if as_json:
        click.echo(json.dumps(summary), err=True)
    elif output is not None:
        written = "" if summary["rows_written"] == summary["rows"] else f", {summary['rows_written']:,} written"
        click.echo(f"{summary['rows']:,} rows scored{written} into {output}", err=True)
    if not as_json and feed.bad.count:
        click.secho(feed.bad.summary(), fg="yellow", err=True)
    if interrupts.interrupted:
        click.secho(f"interrupted after {summary['rows']:,} rows", fg="yellow", err=True)
        raise click.exceptions.Exit(interrupts.exit_code)
