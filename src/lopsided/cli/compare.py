"""`lopsided compare`: learners, and what one would otherwise pick, side by side on the same streams."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import click

from lopsided.cli.completing import complete_learner, complete_sets
from lopsided.cli.options import on_cluster, with_force
from lopsided.numerals import counted


@click.command()
@click.argument("learners", metavar="LEARNER...", nargs=-1, required=True, shell_complete=complete_learner)
@click.option(
    "--on",
    "sets",
    shell_complete=complete_sets,
    help="Data sets by name, separated by commas (see `lopsided datasets`). Default: all of --data.",
)
@click.option("--data", type=click.Path(), metavar="FILE|DIR", help="A file of your own, or a folder of such.")
@click.option("--label", metavar="COL", help="Label column of --data. Default: label, class, target, y, or the last.")
@click.option("--positive", metavar="VALUE", help="The positive label of --data. Default: as in `lopsided learn`.")
@click.option(
    "--with",
    "others",
    help="Competitors: sgd, extratrees, arf, arf-balanced, srp, hoeffding, vw, vw-linear, lightgbm, lightgbm-weighted, "
    "lightgbm-small, xgboost, separated by commas, or all.",
)
@click.option("--rows", type=click.IntRange(2), help="Only the first rows of each set.")
@click.option(
    "--runs",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="One run keeps the order of a set; several runs use random orders and show the variation.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed.")
@click.option(
    "--output", type=click.Path(), help="Folder for pages and a log; an interrupted command continues from the log."
)
@click.option(
    "--jobs", type=click.IntRange(1), default=1, show_default=True, help="Number of processes; timings get less exact."
)
@on_cluster
@with_force
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def compare(
    learners: tuple[str, ...],
    sets: str | None,
    data: str | None,
    label: str | None,
    positive: str | None,
    others: str | None,
    rows: int | None,
    runs: int,
    seed: int,
    output: str | None,
    jobs: int,
    engine: str,
    force: bool,
    as_json: bool,
) -> None:
    """Test, then train, every LEARNER on every set: AUROC, average precision and microseconds per example.

    A LEARNER is a name as `--learner` takes it, with parameters after a colon: koil, koil:C=4,gamma=auto, spa. Features
    are scaled online for all of them (but not for competitors that do so themselves or need not).

    \b
    lopsided compare koil spa omcsl --on yeast4,page-blocks0 --with sgd,lightgbm
    lopsided compare koil spa --on yeast4,page-blocks0 --runs 10 --output comparison
    lopsided compare koil fourierranker --data payments.csv --with lightgbm

    A table may hold words, dates and gaps; what its columns and labels are is found as in `lopsided learn`.

    With --output it writes compare.md, compare.json, compare.html, compare.png and the log compare.jsonl. With several
    runs it counts on how many sets the first learner wins, by paired t-tests, and with several sets it ranks them.
    """
    from lopsided.cli.cell_progress import CellProgress
    from lopsided.cli.targets import check_folder
    from lopsided.competitors import competitor, installed
    from lopsided.datasets import folder_sets, load
    from lopsided.distributed.engines import workers_of
    from lopsided.evaluate import RunLog
    from lopsided.reproduce.contest import contest, who_is_who
    from lopsided.reproduce.contest_pages import NAME, results_of, written_contest
    from lopsided.reproduce.running import run_table
    from lopsided.reproduce.table import Effort

    rivals = installed() if others == "all" else _parts(others or "")
    for rival in rivals:
        competitor(rival)  # what is missing is said before the work, as are sets and parameters
    if sets is None and data is None:
        raise click.UsageError("Missing option '--on', or --data with sets of your own")
    own = [] if data is None else list(folder_sets(data))
    streams = own if sets is None else _parts(sets)
    if not streams:
        raise click.UsageError(f"The option --on needs the name of at least one data set, got {sets or data!r}")
    for name in streams:
        dataset = load(name, data=data, label=label, positive=positive)
        if name in own:  # what is guessed is said
            click.echo(f"{name}: {counted(dataset.n_features, 'feature')}, {dataset.description}", err=True)
    if output is not None:
        _make_folder(Path(output))
        check_folder("--output", output, NAME, force=force)
    own_sets = {"data": data, "label": label, "positive": positive}
    table = contest(_entrants(learners), rivals, streams, **own_sets, runs=runs, rows=rows, seed=seed, jobs=jobs)
    log = RunLog(None if output is None else Path(output) / f"{NAME}.jsonl")
    wanted = [(name, method) for name in streams for method in table.methods(name)]
    failed = []
    with CellProgress("compare", len(wanted)) as (advance, say):
        for step in run_table(
            table, wanted, log, data=data, effort=Effort(runs), jobs=jobs, workers=workers_of(engine)
        ):
            advance(step.done, f"{step.set_name} {step.method}")
            if step.error:
                failed.append(f"{step.set_name} {step.method} failed: {step.error}")
                say(failed[-1])
    log = log.up_to(runs)
    results = results_of(table, log)
    if as_json:
        click.echo(json.dumps({"results": results}))
    else:
        _print(table, log, who_is_who(rivals))
    for result in results:
        if result["diverged"]:
            where = f"{result['learner']} on {result['set']}"
            click.secho(f"{where} diverges: {result['diverged']:,} steps were left out", fg="yellow", err=True)
    if output is not None:
        options = {
            "--on": sets,
            "--data": data,
            "--label": label,
            "--positive": positive,
            "--with": others,
            "--rows": rows,
            "--runs": runs,
            "--seed": seed,
        }
        given = [part for name, value in options.items() if value is not None for part in (name, str(value))]
        command = shlex.join(["lopsided", "compare", *learners, *given])
        paths = written_contest(table, log, failed, Path(output), command)
        click.echo("wrote " + ", ".join(str(path) for path in paths), err=True)
    if failed:
        raise click.exceptions.Exit(2)


def _parts(text: str) -> list[str]:
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _entrants(learners: tuple[str, ...]) -> dict[str, tuple[Any, dict[str, Any]]]:
    """Class and parameters of every learner, by its own words; both are checked."""
    from lopsided.cli.learners import learner_class, learner_names, maker_of, parsed_settings
    from lopsided.constraints import ParameterError

    entrants = {}
    for text in learners:
        name, _, settings = text.partition(":")
        known = learner_names(online=True)
        if name.lower() not in known:
            raise ParameterError(f"A learner to compare must be one of {', '.join(known)}, got {name!r}.")
        make, own = maker_of(name)
        parameters = own | parsed_settings(
            learner_class(name),
            [part for part in settings.split(",") if part],
            asked_by=f"What follows the colon in {text}",
        )
        make(**parameters).check_parameters()
        entrants[text] = make, parameters
    return entrants


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.UsageError(
            f"The option --output needs a folder that can be written, got {folder}: {error}"
        ) from None


def _print(table: Any, log: Any, legend: list[str]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from lopsided.reproduce.contest_pages import contest_grid
    from lopsided.reproduce.pages import significance

    grid = contest_grid(table, log)
    shown = Table(box=SIMPLE_HEAD)
    for position, heading in enumerate(grid.headings):
        shown.add_column(heading, justify="right" if position >= grid.first_number else "left")
    last = ""
    for row in grid.rows:
        if last and row[0] != last:
            shown.add_section()
        shown.add_row("" if row[0] == last else escape(row[0]), *map(escape, row[1:]))
        last = row[0]
    console = Console()
    console.print(shown)
    for sentence in (*significance(table, log), *legend):
        console.print(sentence, highlight=False, markup=False)
