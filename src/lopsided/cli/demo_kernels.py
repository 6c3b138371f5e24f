"""`lopsided demo --kernels`: what a kernel is for, and why accuracy is not the measure."""

from __future__ import annotations

import json

import click

from lopsided.cli.display import LiveTable, Row, as_grid, print_table
from lopsided.cli.interrupts import INTERRUPTED
from lopsided.cli.kernel_contest import COLUMNS, Contest, contests, learners_in_words, what_one_sees
from lopsided.cli.models import as_json as plain
from lopsided.cli.running import notice
from lopsided.report.contents import Report
from lopsided.report.writing import write_report


def show_kernels(report: str | None, *, as_json: bool) -> None:
    """Run both streams, print the table, and write a report if it has a place."""
    meetings = contests(notice=notice)
    for words in learners_in_words():
        click.echo(words, err=as_json)
    meetings[0].compile_ahead(announce=notice)
    rows = [row for contest in meetings for row in contest.rows]
    try:
        with LiveTable(rows, COLUMNS):
            for contest in meetings:
                contest.run()
    except KeyboardInterrupt:
        print_table(rows, COLUMNS)
        click.secho("interrupted", fg="yellow", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    sentences = what_one_sees(meetings)
    if report is not None:
        _write_report(report, meetings, sentences)
    if as_json:
        _print_json(rows, sentences, report)
        return
    click.echo()
    print_table(rows, COLUMNS)
    for sentence in sentences:
        click.echo(f"\n{sentence}")
    if report is not None:
        click.echo(f"\nThe report with curves and decision surfaces: {report}")


def _print_json(rows: list[Row], sentences: list[str], report: str | None) -> None:
    records = [
        {"stream": row.stream, "learner": row.learner, "accuracy": plain(row.accuracy)}
        | {name: plain(value) for name, value in vars(row.record).items()}
        for row in rows
    ]
    click.echo(json.dumps({"rows": records, "sentences": sentences, "report": report}))


def _write_report(path: str, meetings: list[Contest], sentences: list[str]) -> None:
    rows = [row for contest in meetings for row in contest.rows]
    write_report(
        path,
        Report(
            title="Rare classes, one example at a time",
            introduction=sentences,
            table=as_grid(rows, COLUMNS),
            facts=dict(words.split(": ", maxsplit=1) for words in learners_in_words()),
            streams=[contest.result() for contest in meetings],
        ),
    )
