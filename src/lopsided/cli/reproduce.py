"""`lopsided reproduce`: a table or figure of the papers, made again beside what was published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from lopsided.cli.options import on_cluster, with_force


@click.command()
@click.argument("table", metavar="TABLE")
@click.option("--sets", help="Only these sets, by their published names, separated by commas.")
@click.option("--methods", help="Only these methods, separated by semicolons (their names contain commas).")
@click.option("--runs", type=click.IntRange(1), help="Runs per cell. Default: as many as were published.")
@click.option("--quick", is_flag=True, help="A first answer in a minute: few runs, coarse grids, small sets only.")
@click.option(
    "--tune",
    type=click.Choice(["first", "each", "kept"]),
    default="first",
    show_default=True,
    help="On the training rows of which split, in tables over folds; or not at all: parameters as in TABLE.json.",
)
@click.option("--data", type=click.Path(), help="A folder with the sets that PyPI lacks (see `lopsided datasets`).")
@click.option(
    "--output", type=click.Path(), default="reproduced", show_default=True, help="Folder for what is written."
)
@click.option("--pages", is_flag=True, help="Run nothing: write the pages of what the log holds.")
@click.option("--jobs", type=click.IntRange(1), default=2, show_default=True, help="Processes.")
@on_cluster
@with_force
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as one JSON object.")
def reproduce(
    table: str,
    sets: str | None,
    methods: str | None,
    runs: int | None,
    quick: bool,
    tune: str,
    data: str | None,
    output: str,
    pages: bool,
    jobs: int,
    engine: str,
    force: bool,
    as_json: bool,
) -> None:
    """Run every method of a published TABLE on the sets at hand; print published against reproduced.

    TABLE is koil-3.2, koil-3.3, koil-4.1, oilk-1, spa-2, spa-3, spa-5, spa-6, omcsl-3, omcsl-4, b2rmk-2, b2rmk-3, or a
    figure: koil-fig-3.1, koil-fig-3.2, koil-fig-3.3, oilk-fig-1, spa-fig-1, spa-fig-2, spa-fig-3, omcsl-fig-1,
    b2rmk-fig-1, b2rmk-fig-2, b2rmk-fig-3, b2rmk-fig-3b; or `index`, which counts all that the output folder holds, or
    `conclusions`, which compares who wins there (or in its folder `tables`) with who wins in the papers.

    Writes TABLE.md, TABLE.json, TABLE.html, TABLE.png and the log TABLE.jsonl into the output folder (TABLE.quick.md
    and so on with --quick, TABLE.each.md with --tune each). A cell that is in the log is not run again, so an
    interrupted command continues where it stopped.
    """
    folder = Path(output)
    if table in ("index", "conclusions"):
        from lopsided.reproduce.conclusions import write_conclusions
        from lopsided.reproduce.index import write_index

        click.echo(write_index(folder) if table == "index" else write_conclusions(folder))
        return
    from lopsided.cli.cell_progress import CellProgress
    from lopsided.cli.targets import check_folder
    from lopsided.distributed.engines import workers_of
    from lopsided.evaluate import RunLog
    from lopsided.reproduce.comparison import outcomes
    from lopsided.reproduce.pages import command_for, left_out, summary, written
    from lopsided.reproduce.registry import table_named
    from lopsided.reproduce.running import QUICK_RUNS, cells, run_table, sets_at_hand
    from lopsided.reproduce.table import Effort

    chosen = table_named(table)
    effort = Effort(runs or (min(QUICK_RUNS, chosen.runs) if quick else chosen.runs), quick, tune == "each")
    kind = (".quick" if quick else "") + (".each" if tune == "each" else "")
    check_folder("--output", folder, f"{table}{kind}", force=force)
    log = RunLog(folder / f"{table}{kind}.jsonl")
    if tune == "kept":
        chosen = _with_kept_parameters(chosen, folder / f"{table}.json")
    missing, failed = left_out(chosen, log), False
    if not pages:
        at_hand = sets_at_hand(chosen, sets=_names(sets, ","), data=data, quick=quick)
        if not at_hand.ready:
            raise click.UsageError(
                f"The table {table} needs at least one of its sets ({', '.join(chosen.sets)}); none is at hand without "
                "--data; `lopsided datasets` says how to get them"
            )
        wanted = cells(chosen, at_hand, _names(methods, ";"))
        with CellProgress(table, len(wanted)) as (advance, say):
            for step in run_table(chosen, wanted, log, data=data, effort=effort, jobs=jobs, workers=workers_of(engine)):
                advance(step.done, f"{step.set_name} {step.method}")
                if step.error:
                    failed = True
                    say(f"{step.set_name} {step.method} failed: {step.error}")
        missing = left_out(chosen, log) | at_hand.missing
    elif not log.entries:
        raise click.UsageError(f"The option --pages needs the log {log.path}, got none; leave it out to run the table")
    options = ["--quick"] * quick + ["--tune each"] * (tune == "each")
    paths = written(chosen, log, missing, folder, command_for(chosen, log, *options))
    results = outcomes(chosen, log)
    if as_json:
        click.echo(json.dumps(summary(chosen, log, results, missing)))
    else:
        _print_result(chosen, results)
    click.echo("wrote " + ", ".join(str(path) for path in paths), err=True)
    if failed:
        raise click.exceptions.Exit(2)


def _with_kept_parameters(table: Any, path: Path) -> Any:
    from lopsided.reproduce.kept import with_kept_parameters

    if not path.exists():
        raise click.UsageError(f"The option --tune kept needs {path}, a table that was made before, got none")
    return with_kept_parameters(table, json.loads(path.read_text(encoding="utf-8")))


def _names(text: str | None, separator: str) -> list[str] | None:
    return [part.strip() for part in text.split(separator) if part.strip()] if text else None


def _print_result(table: Any, results: Any) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    from lopsided.reproduce.pages import result_grids, verdict_sentence

    console = Console()
    for grid in result_grids(table, results):
        first = 2 + max(len(row[0]) for row in [grid.headings, *grid.rows])
        cell = 2 + max((len(text) for row in grid.rows for text in row[1:]), default=1)
        together = max(1, (console.width - first - 2) // cell)  # as many sets side by side as fit
        for begin in range(1, len(grid.headings), together):
            shown = Table(box=SIMPLE_HEAD)
            columns = [0, *range(begin, min(begin + together, len(grid.headings)))]
            for column in columns:
                shown.add_column(grid.headings[column], justify="right" if column else "left", no_wrap=True)
            for row in grid.rows:
                shown.add_row(*(row[column] for column in columns))
            console.print(shown)
    if results:
        console.print(verdict_sentence(table, results).replace("**", ""), highlight=False)
