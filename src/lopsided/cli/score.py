"""`lopsided score`: a saved model's opinion on every row, in the order of the rows."""

from __future__ import annotations

import json
from typing import Any

import click

from lopsided.cli.options import reading_beside_an_output, with_config


@click.command()
@click.argument("model", metavar="MODEL")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--output", "-o", metavar="FILE", help="Where to write. Default: standard output.")
@click.option(
    "--format",
    "to",
    type=click.Choice(["csv", "ndjson", "parquet", "arrow"]),
    help="Format of the output. Default: as the suffix of --output tells, else csv.",
)
@click.option(
    "--keep",
    type=click.Choice(["all", "id", "none"]),
    default="all",
    show_default=True,
    help="Which columns of the input stand before the scores.",
)
@reading_beside_an_output
@with_config
@click.option("--json", "as_json", is_flag=True, help="The same as --format ndjson, and a summary as JSON on stderr.")
def score(
    model: str,
    files: tuple[str, ...],
    output: str | None,
    to: str | None,
    keep: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Append three columns to every row: score, probability, predicted.

    MODEL is a file that `lopsided learn` or a learner's `save` has written; FILE is of the kind it learned from (see
    `lopsided learn`), and needs no label. A model that has learned from a data frame finds its columns by name, one
    that has learned from an array takes the columns of numbers in their order. The score ranks: larger means more
    likely the positive label; above 0 the row is predicted to have it. The model does not change. Rows keep their
    order; with --on-error skip bad ones are missing.
    """
    from lopsided.cli.feed import Reading, open_feed
    from lopsided.cli.interrupts import Interruptible
    from lopsided.cli.saved import load_for_files
    from lopsided.cli.status import Status
    from lopsided.feeds import open_writer
    from lopsided.feeds.writers import check_names_are_free

    ranker = load_for_files(model)
    interrupts = Interruptible()
    with open_feed(Reading(files, **options), ranker, labelled=False) as feed:
        if feed.schema is not None:
            check_names_are_free(feed.stream.columns, feed.name)
        with (
            open_writer(output, feed, format=to or ("ndjson" if as_json else None), keep=keep) as writer,
            Status("scoring") as status,
        ):
            for portion in interrupts.over(feed):
                answer = ranker.answer(portion.X)
                scores = answer.score - answer.threshold
                writer.write(portion, scores, answer.probability, answer.decision)
                status.advance(scores.size, feed.progress)
        summary = {
            "model": model,
            "output": output,
            "rows": status.n_rows,
            "bad_rows": feed.bad.count,
            "rows_per_second": status.rows_per_second if status.n_rows else None,
            "interrupted": interrupts.interrupted,
        }
    if as_json:
        click.echo(json.dumps(summary), err=True)
    elif output is not None:
        click.echo(f"{summary['rows']:,} rows scored into {output}", err=True)
    if not as_json and feed.bad.count:
        click.secho(feed.bad.summary(), fg="yellow", err=True)
    if interrupts.interrupted:
        click.secho(f"interrupted after {summary['rows']:,} rows", fg="yellow", err=True)
        raise click.exceptions.Exit(interrupts.exit_code)
