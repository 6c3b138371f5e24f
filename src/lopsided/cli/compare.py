"""`lopsided compare`: learners, and what one would otherwise pick, side by side on the same streams."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import click


@click.command()
@click.argument("learners", metavar="LEARNER...", nargs=-1, required=True)
@click.option("--on", "sets", required=True, help="Data sets by name, separated by commas (see `lopsided datasets`).")
@click.option("--data", type=click.Path(), help="A folder with sets of your own.")
@click.option("--with", "others", help="Competitors: sgd, arf, hoeffding, vw, lightgbm, separated by commas, or all.")
@click.option("--rows", type=click.IntRange(2), help="Only the first rows of each set.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of everything random.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def compare(
    learners: tuple[str, ...],
    sets: str,
    data: str | None,
    others: str | None,
    rows: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Test, then train, every LEARNER on every set: AUROC, average precision and microseconds an example.

    A LEARNER is a name as `--learner` takes it, with parameters after a colon: koil, koil:C=4,gamma=auto, spa. Features
    are scaled online for all of them (but not for competitors that do so themselves or need not).

    \b
    lopsided compare koil spa omcsl --on yeast4,page-blocks0 --with sgd,lightgbm
    """
    from lopsided.cli.learners import learner_class, learner_names, parsed_settings
    from lopsided.competitors import COMPETITORS, competitor, installed
    from lopsided.constraints import ParameterError
    from lopsided.datasets import load

    chosen = []
    for text in learners:
        name, _, settings = text.partition(":")
        if name.lower() not in learner_names():
            raise ParameterError(f"A learner to compare must be one of {', '.join(learner_names())}, got {name!r}.")
        kind = learner_class(name)
        chosen.append((text, kind, parsed_settings(kind, [part for part in settings.split(",") if part])))
    rivals = installed() if others == "all" else [part.strip() for part in (others or "").split(",") if part.strip()]
    for rival in rivals:
        competitor(rival)  # what is missing is said before the work
    streams = [load(name.strip(), data=data) for name in sets.split(",")]
    results: list[dict[str, Any]] = []
    for stream in streams:
        X, y = (stream.X, stream.y) if rows is None else (stream.X[:rows], stream.y[:rows])
        for text, kind, parameters in chosen:
            make = _scaled(kind, parameters, seed, X)
            results.append(_result(stream.name, text, make, X, y))
        for rival in rivals:
            summary = COMPETITORS[rival].summary
            results.append(_result(stream.name, summary, lambda r=rival: competitor(r, random_state=seed), X, y))
    if as_json:
        click.echo(json.dumps({"results": results}))
        return
    _print(results)


def _scaled(kind: Any, parameters: dict[str, Any], seed: int, X: Any) -> Any:
    from lopsided import OnlineScaler, StreamPipeline

    def make() -> Any:
        scaler = OnlineScaler(center=not hasattr(X, "tocsr"))
        return StreamPipeline(scaler, kind(**parameters, random_state=seed))

    return make


def _result(stream: str, name: str, make: Any, X: Any, y: Any) -> dict[str, Any]:
    from lopsided.metrics import auroc, average_precision

    click.echo(f"{stream}: {name} ...", err=True)
    make().progressive_scores(X[:60], y[:60], classes=[0, 1])  # compiled, or imported, before the clock starts
    learner = make()
    began = time.perf_counter()
    scores = learner.progressive_scores(X, y, classes=[0, 1])
    seconds = time.perf_counter() - began
    areas = {"auroc": auroc(y, scores), "average_precision": average_precision(y, scores)}
    return {
        "set": stream,
        "learner": name,
        **{key: None if math.isnan(value) else round(value, 4) for key, value in areas.items()},
        "microseconds": round(1e6 * seconds / len(y), 2),
    }


def _print(results: list[dict[str, Any]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    from lopsided.cli.display import score

    table = Table(box=SIMPLE_HEAD)
    for heading, side in (("set", "left"), ("learner", "left"), ("AUROC", "right"), ("AUPRC", "right")):
        table.add_column(heading, justify=side)  # type: ignore[arg-type]
    table.add_column("µs an example", justify="right")
    last = ""
    for result in results:
        if last and result["set"] != last:
            table.add_section()
        name = result["set"] if result["set"] != last else ""
        last = result["set"]
        cells = [score(result["auroc"]), score(result["average_precision"]), f"{result['microseconds']:,.1f}"]
        table.add_row(name, result["learner"], *cells)
    Console().print(table)
