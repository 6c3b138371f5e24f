"""The fraud desk on the screen: a table of days that moves in a terminal, a line a week in a pipe, and the result."""

from __future__ import annotations

import json
from typing import Any

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.live import Live
from rich.table import Table

from lopsided.cli.display import Column, as_grid, count, print_table, score
from lopsided.cli.fraud_desk import DELAY_DAYS, OPENS, Desk, FraudDesk, payments
from lopsided.cli.interrupts import INTERRUPTED
from lopsided.cli.models import as_json as plain
from lopsided.cli.running import notice
from lopsided.report.contents import Detail, Report, Run, StreamResult
from lopsided.report.writing import write_report

_SHOWN = 12  # days
_WEEK = 7

COLUMNS = [
    Column("", lambda desk: desk.picker.name, is_number=False),
    Column("alerts", lambda desk: count(desk.total().alerts)),
    Column("caught", lambda desk: count(desk.total().hits)),
    Column("precision", lambda desk: score(desk.total().precision)),
    Column("recall", lambda desk: score(desk.total().recall)),
    Column("saved", lambda desk: count(desk.total().caught_value)),
    Column("AUROC", lambda desk: score(desk.areas()[0])),
    Column("AUPRC", lambda desk: score(desk.areas()[1])),
    Column("seconds", lambda desk: f"{desk.seconds:.1f}"),
]


def show_days(report: str | None, *, as_json: bool) -> None:
    """Run the desk, show its days, print what everybody has caught, and write a report if it has a place."""
    contest = FraudDesk(payments(), notice=notice)
    for line in _introduction(contest):
        click.echo(line, err=as_json)
    contest.ours.compile_ahead(notice)
    try:
        _run(contest, silent=as_json)
    except KeyboardInterrupt:
        if contest.desks[-1].figures:
            print_table(contest.desks, COLUMNS)
        click.secho("interrupted", fg="yellow", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    sentences = contest.sentences()
    if report is not None:
        _write_report(report, contest, sentences)
    if as_json:
        click.echo(json.dumps(_as_json(contest, sentences, report)))
        return
    click.echo()
    print_table(contest.desks, COLUMNS)
    for sentence in sentences:
        click.echo(f"\n{sentence}")
    if report is not None:
        click.echo(f"\nThe report, with curves and what other alert budgets would have caught: {report}")


def _introduction(contest: FraudDesk) -> list[str]:
    stream = contest.stream
    lines = [
        f"{len(stream.fraud):,} simulated card payments in {len(stream.days)} days, {stream.fraud.mean():.2%} frauds; "
        f"columns: {', '.join(stream.columns)}",
        f"{contest.limit} alerts a day, one for a card at most, each decided when its payment comes; a label is known "
        f"{DELAY_DAYS} days later",
    ]
    return lines + [f"  {desk.picker.name}: {desk.picker.words}" for desk in contest.desks]


def _run(contest: FraudDesk, *, silent: bool) -> None:
    console = Console(stderr=True)
    if console.is_terminal:
        with Live(console=console, transient=True, auto_refresh=False) as live:
            for _ in contest.run():
                live.update(_days(contest), refresh=True)
        return
    for day in contest.run():
        n_days = day - OPENS + 1
        if silent or (n_days % _WEEK and day + 1 < len(contest.stream.days)):
            continue
        if n_days <= _WEEK:
            click.echo(
                f"\n{'week until':<12}{'frauds':>8}{''.join(f'{desk.picker.name:>20}' for desk in contest.desks)}"
            )
        week = (n_days - 1) % _WEEK + 1
        sums = [desk.total(week) for desk in contest.desks]
        cells = "".join(f"{f'{one.hits} of {one.alerts}, {one.caught_value:,.0f}':>20}" for one in sums)
        click.echo(f"{contest.date(day):<12}{sums[0].cases:>8}{cells}")


def _days(contest: FraudDesk) -> Table:
    """The latest days, a line each, and all since the desk opened."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("day", no_wrap=True)
    table.add_column("frauds", justify="right")
    for desk in contest.desks:
        table.add_column(f"{desk.picker.name}\n[dim]caught, saved", justify="right", no_wrap=True)
    n_days = len(contest.desks[0].figures)
    for place in range(max(0, n_days - _SHOWN), n_days):
        days = [desk.figures[place] for desk in contest.desks]
        table.add_row(contest.date(OPENS + place)[len("2026-") :], str(days[0].cases), *(_cell(one) for one in days))
    sums = [desk.total() for desk in contest.desks]
    table.add_section()
    table.add_row(f"{n_days} days", str(sums[0].cases), *(_cell(one) for one in sums), style="bold")
    table.add_row("precision", "", *(score(one.precision) for one in sums))
    return table


def _cell(figures: Any) -> str:
    return f"{figures.hits}/{figures.alerts} {figures.caught_value:,.0f}"


def _as_json(contest: FraudDesk, sentences: list[str], report: str | None) -> dict[str, Any]:
    def figures(desk: Desk) -> dict[str, Any]:
        sums, (area, precision) = desk.total(), desk.areas()
        named = {"alerts": sums.alerts, "caught": sums.hits, "precision": sums.precision, "recall": sums.recall}
        named |= {"saved": sums.caught_value, "value": sums.value, "auroc": area, "average_precision": precision}
        days = [{"date": contest.date(OPENS + k), "alerts": one.alerts, "caught": one.hits, "saved": one.caught_value}
                for k, one in enumerate(desk.figures)]  # fmt: skip
        return {"name": desk.picker.name, **{name: plain(value) for name, value in named.items()}, "days": days}

    return {"desks": [figures(desk) for desk in contest.desks], "sentences": sentences, "report": report}


def _write_report(path: str, contest: FraudDesk, sentences: list[str]) -> None:
    history, stream = contest.ours.history, contest.stream
    history.note()
    write_report(
        path,
        Report(
            title=f"A fraud desk with {contest.limit} alerts a day",
            introduction=[*sentences, "Below is what the first of them did, over the whole stream."],
            table=as_grid(contest.desks, COLUMNS),
            facts={desk.picker.name: desk.picker.words for desk in contest.desks},
            streams=[
                StreamResult(
                    name="card payments",
                    description=f"{len(stream.fraud):,} simulated payments, labels {DELAY_DAYS} days late.",
                    runs=[Run(contest.ours.name, history.evaluation)],
                    detail=Detail.of(history, are_dates=True),
                )
            ],
        ),
    )
