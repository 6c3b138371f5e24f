"""`lopsided demo`: the first minute, what a kernel is for and why accuracy is not the measure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from lopsided.cli.interrupts import INTERRUPTED
from lopsided.cli.options import with_force, with_json

if TYPE_CHECKING:
    from lopsided.cli.demo_contest import Contest
    from lopsided.cli.display import Row


@click.command()
@click.option("--report", default="lopsided-report.html", metavar="HTML", show_default=True, help="Where to write it.")
@with_force
@with_json
def demo(report: str, force: bool, as_json: bool) -> None:
    """Stream a real and a synthetic imbalanced set through KOIL and a linear learner, compare, write a report."""
    from lopsided.cli.demo_contest import COLUMNS, contests, learners_in_words, what_one_sees
    from lopsided.cli.display import LiveTable, print_table
    from lopsided.cli.targets import REPORT, Target, check_targets

    check_targets([Target("--report", report, REPORT)], force=force)
    can_report = _can_report(report)
    meetings = contests(notice=_notice)
    for words in learners_in_words():
        click.echo(words, err=as_json)
    meetings[0].compile_ahead(announce=_notice)
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
    if can_report:
        _write_report(report, meetings, sentences)
    if as_json:
        _print_json(rows, sentences, report if can_report else None)
        return
    click.echo()
    print_table(rows, COLUMNS)
    for sentence in sentences:
        click.echo(f"\n{sentence}")
    if can_report:
        click.echo(f"\nThe report with curves and decision surfaces: {report}")


def _print_json(rows: list[Row], sentences: list[str], report: str | None) -> None:
    from lopsided.cli.models import as_json

    records = [
        {"stream": row.stream, "learner": row.learner, "accuracy": as_json(row.accuracy)}
        | {name: as_json(value) for name, value in vars(row.record).items()}
        for row in rows
    ]
    click.echo(json.dumps({"rows": records, "sentences": sentences, "report": report}))


def _can_report(path: str) -> bool:
    """Whether there will be a report; without matplotlib the table is still worth seeing."""
    from lopsided.report.writing import check_can_write

    try:
        check_can_write(path)
    except ModuleNotFoundError as error:
        _notice(f"No report is written. {error}")
        return False
    return True


def _notice(text: str) -> None:
    click.echo(text, err=True)


def _write_report(path: str, meetings: list[Contest], sentences: list[str]) -> None:
    from lopsided.cli.demo_contest import COLUMNS, learners_in_words
    from lopsided.cli.display import as_grid
    from lopsided.report.contents import Report
    from lopsided.report.writing import write_report

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
