"""`lopsided watch`: whether rows still are what a saved model knows, or drift."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lopsided.cli.options import reading_beside_a_state, with_config
from lopsided.numerals import counted

if TYPE_CHECKING:
    from lopsided.alerts import AlertShare
    from lopsided.cli.alerting import Alerting
    from lopsided.cli.drift_watching import StreamWatch
    from lopsided.cli.feed import Feed

DRIFT = 3  # exit code


@click.command()
@click.argument("model", metavar="MODEL")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--reference", multiple=True, metavar="FILE", help="Rows to compare with, read first (may be repeated).")
@click.option("--state", metavar="FILE", help="Go on from this file if it is there, and keep what was seen in it.")
@click.option("--time", "time_column", metavar="COL", help="Dates or seconds. Default: as the model knows.")
@click.option(
    "--period",
    metavar="PERIOD",
    help="What is compared: day, hour, 8h, or rows (blocks of 256). Default: day with a time column, else rows.",
)
@reading_beside_a_state
@with_config
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each alarm, and one at the end.")
def watch(
    model: str,
    files: tuple[str, ...],
    reference: tuple[str, ...],
    state: str | None,
    time_column: str | None,
    period: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Score rows and say when they drift; exit code 3 if they did.

    MODEL and FILE are as in `lopsided score`; the model does not change. Watched are the numbers and categories that
    the model has learned from, its scores, and where the label column is there, the share of positives and the
    precision of alerts. An alarm says what changed, since when, and from which share of rows to which. All series
    together have a budget of one false alarm in ten million rows, or 10,000 periods.

    What is new is compared with what came before it: in FILE, in the files of --reference, such as those that the model
    has learned from, and in --state, which a daily job needs. With a time column whole days are compared, by weekday,
    so that hours and weekends are no drift; without one it is blocks of 256 rows. 16 of either are needed.
    """
    from lopsided.cli.alerting import Alerting, restored_budget, share_to_keep
    from lopsided.cli.drift_watching import StreamWatch, as_json_of, line_of, not_ready
    from lopsided.cli.feed import Reading, open_feed
    from lopsided.cli.interrupts import Interruptible
    from lopsided.cli.saved import load_to_go_on
    from lopsided.drift import DriftAlarm

    ranker, attached = load_to_go_on(model)
    budget, interrupts = restored_budget(attached), Interruptible()
    kept = None
    if state is not None and Path(state).exists():
        kept = DriftAlarm.from_bytes(Path(state).read_bytes(), source=state)

    def opened(paths: tuple[str, ...], follow: bool) -> Feed:
        idle = options["idle"] if follow else None
        feed = open_feed(Reading(paths, **options | {"follow": follow, "idle": idle}), ranker, labelled=False)
        if time_column is not None:
            feed.with_time(time_column)
        _read_labels_too(feed, ranker)
        return feed

    before = None
    if reference and kept is None:
        with opened(reference, follow=False) as feed:
            before = StreamWatch(feed, period=period)
            for portion in interrupts.over(feed.ahead()):
                _look(ranker, before, portion, None)
        before.alarm.alarms.clear()
    with opened(files, follow=options["follow"]) as feed:
        seen = StreamWatch(feed, period=period, goes_on=kept if before is None else before.alarm, source=state)
        deciding: Alerting | AlertShare | None = share_to_keep(ranker) if budget is None else None
        if budget is not None and feed.schema is not None and feed.schema.time is not None:
            deciding = Alerting(budget, feed)
        if not as_json:
            watched = f"{len(seen.alarm.names)} series by {seen.alarm.block_in_words}"
            click.echo(f"{type(ranker.final_learner).__name__} from {model}, watching {watched}", err=True)
        n_rows, found = 0, []
        for portion in interrupts.over(feed.ahead()):
            for alarm in _look(ranker, seen, portion, deciding):
                found.append(alarm)
                click.echo(json.dumps(as_json_of(alarm)) if as_json else line_of(alarm, are_dates=seen.are_dates))
            n_rows += portion.n_rows
    if state is not None:
        from lopsided.estimators.state.replacing import replace_file

        replace_file(state, seen.alarm.to_bytes(), DriftAlarm.from_bytes)
    if as_json:
        summary = {
            "model": model,
            "rows": n_rows,
            "drift": bool(found),
            "alarms": [as_json_of(alarm) for alarm in found],
            "series": seen.alarm.names,
            "compared": seen.alarm.block_in_words,
            "blocks": seen.alarm.n_blocks,
            "ready": seen.alarm.is_ready,
            "bad_rows": feed.bad.count,
            "interrupted": interrupts.interrupted,
        }
        click.echo(json.dumps(summary))
    else:
        if not seen.alarm.is_ready:
            click.secho(f"note: {not_ready(seen.alarm)}; see --reference, --state and --period", fg="yellow", err=True)
        click.echo(f"{counted(n_rows, 'row')}, {counted(len(found), 'alarm')}", err=True)
        if feed.bad.count:
            click.secho(feed.bad.summary(), fg="yellow", err=True)
    if interrupts.interrupted and not (options["follow"] and found):
        raise click.exceptions.Exit(interrupts.exit_code)
    if found:
        raise click.exceptions.Exit(DRIFT)


def _look(ranker: Any, seen: StreamWatch, portion: Any, deciding: Alerting | AlertShare | None) -> list[Any]:
    from lopsided.alerts import AlertShare

    answer = ranker.answer(portion.X)
    if deciding is None:
        flagged = answer.score > answer.threshold
    elif isinstance(deciding, AlertShare):
        flagged = deciding.decide(answer.score)
    else:
        flagged = deciding.decide(portion, answer.score)
    return seen.look(portion, answer.score, flagged)


def _read_labels_too(feed: Feed, ranker: Any) -> None:
    """Where a table has the label column of the model, what became of alerts can be watched."""
    from lopsided.streams import Spellings

    if feed.schema is not None and feed.schema.label in feed.stream.columns:
        feed.labels = Spellings.of(ranker.labels_, "unknown")
