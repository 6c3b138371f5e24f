"""`lopsided evaluate`: progressive validation of a learner on files."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from lopsided.cli.learners import learner_class, learner_names, parsed_settings
from lopsided.constraints import ParameterError
from lopsided.version import __version__

if TYPE_CHECKING:
    from lopsided.cli.display import Row
    from lopsided.cli.files import JoinedStream
    from lopsided.evaluate import Evaluation

_MOST_RECORDS = 60  # each sorts all scores so far
_FEWEST_ROWS_A_RECORD = 100  # a call for fewer rows costs more than learning them
_INTERRUPTED = 130


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--label", metavar="COL", help="Label column of a table. Default: label, class, target, y, or the last.")
@click.option("--learner", default="koil", metavar="NAME", help=f"One of {', '.join(learner_names())}. Default: koil.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter of the learner, such as C=4.")
@click.option("--positive", metavar="VALUE", help="The label that is looked for. Default: the rarer one.")
@click.option(
    "--scale",
    type=click.Choice(["standard", "minmax", "none"]),
    help="Scale features by what was known before each row. Default: standard for tables, none for LIBSVM.",
)
@click.option("--report", metavar="HTML", help="Write a report with curves into this file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="For all that is random.")
def evaluate(
    files: tuple[str, ...],
    label: str | None,
    learner: str,
    settings: tuple[str, ...],
    positive: str | None,
    scale: str | None,
    report: str | None,
    as_json: bool,
    seed: int,
) -> None:
    """Score every row by the model that has not seen it, then learn it (progressive validation).

    FILE is a table with a header (CSV, TSV) or LIBSVM text, plain or gzip; several are read one after the other.
    Prints AUROC, AUPRC (average precision), F1 at the learner's own decision, and examples per second.
    """
    kind = learner_class(learner)
    parameters = parsed_settings(kind, settings)
    if report is not None:
        from lopsided.report.writing import check_can_write

        check_can_write(report)
    stream = _opened(files, label)
    pos_label = stream.rarest() if positive is None else stream.label_named(positive)
    scale = scale or ("none" if stream.is_sparse else "standard")
    model = kind(**parameters, pos_label=pos_label, random_state=seed)
    facts: dict[str, Any] = {
        "learner": kind.__name__,
        "parameters": {name: _as_json(value) for name, value in model.get_params(deep=False).items()},
        "scale": scale,
        "files": list(files),
        "rows": stream.n_rows,
        "features": stream.n_features,
        "label_column": stream.label_column,
        "labels": {str(value): rows for value, rows in stream.label_counts.items()},
        "positive": _as_json(pos_label),
    }
    click.echo(
        f"{kind.__name__} on {stream.name}: {stream.n_rows:,} rows, {stream.n_features:,} features, "
        f"{stream.label_counts[pos_label]:,} positive (label {pos_label})",
        err=True,
    )
    row, evaluation, interrupted = _evaluated(_scaled(model, scale, stream), stream, kind.__name__)
    if row.record is None:  # Ctrl-C before the first row: there is nothing to show
        raise click.Abort
    if as_json:
        record = {name: _as_json(value) for name, value in asdict(row.record).items()}
        click.echo(json.dumps({"version": __version__, **facts, "record": record, "interrupted": interrupted}))
    else:
        from lopsided.cli.display import print_table

        print_table([row], _columns())
    if report is not None:
        _write_report(report, row, evaluation, facts)
        click.echo(f"report: {report}", err=True)
    if interrupted:
        click.secho(f"interrupted after {row.record.n:,} of {stream.n_rows:,} rows", fg="yellow", err=True)
        raise click.exceptions.Exit(_INTERRUPTED)


def _opened(files: tuple[str, ...], label: str | None) -> JoinedStream:
    """The files, checked from end to end; large ones take a while, so a terminal shows that something happens."""
    from rich.console import Console

    from lopsided.cli.files import JoinedStream

    with Console(stderr=True).status(f"checking {', '.join(map(os.path.basename, files))} ..."):
        return JoinedStream(files, label)


def _scaled(model: Any, scale: str, stream: JoinedStream) -> Any:
    """The learner, behind a scaler if one is asked for."""
    if scale == "none":
        return model
    if stream.is_sparse and scale == "minmax":
        raise ParameterError(
            f"The option --scale for the LIBSVM file {stream.name} must be standard or none, because minmax would turn "
            "its zeros into other numbers, got 'minmax'."
        )
    from lopsided import OnlineScaler, StreamPipeline

    return StreamPipeline(OnlineScaler(kind=scale, center=not stream.is_sparse), model)


def _evaluated(model: Any, stream: JoinedStream, name: str) -> tuple[Row, Evaluation, bool]:
    """Go through the stream; Ctrl-C ends it early, with what was learned until then."""
    from lopsided.cli.compiling import compile_ahead
    from lopsided.cli.display import LiveTable, Row
    from lopsided.evaluate import Evaluation

    compile_ahead(
        model,
        stream.classes,
        n_features=stream.n_features,
        is_sparse=stream.is_sparse,
        announce=lambda text: click.echo(text, err=True),
    )
    every = max(_FEWEST_ROWS_A_RECORD, math.ceil(stream.n_rows / _MOST_RECORDS))
    evaluation = Evaluation(model, classes=stream.classes, every=every)
    row = Row(stream.name, name, stream.n_rows)
    interrupted = False
    with LiveTable([row], _columns()):
        try:
            for record in evaluation.run(stream):
                row.record = record
        except KeyboardInterrupt:
            interrupted = True
            row.record = evaluation.note() if evaluation.n else None
    return row, evaluation, interrupted


def _columns() -> list[Any]:
    from lopsided.cli.display import AUPRC, AUROC, EXAMPLES, F1, LEARNER, POSITIVES, SPEED, SUPPORT

    return [LEARNER, EXAMPLES, POSITIVES, AUROC, AUPRC, F1, SPEED, SUPPORT]


def _write_report(path: str, row: Row, evaluation: Evaluation, facts: dict[str, Any]) -> None:
    from lopsided.cli.display import as_grid
    from lopsided.report.contents import Report, Run, StreamResult
    from lopsided.report.writing import write_report

    labels = ", ".join(f"{label} ({rows:,} rows)" for label, rows in facts["labels"].items())
    parameters = ", ".join(f"{name}={value!r}" for name, value in facts["parameters"].items())
    write_report(
        path,
        Report(
            title=f"{row.learner} on {row.stream}",
            introduction=[
                "Progressive validation: every row was scored by the model that had not seen it, and then learned."
            ],
            table=as_grid([row], _columns()),
            facts={
                "files": ", ".join(facts["files"]),
                "labels": f"{labels}; positive: {facts['positive']}",
                "learner": f"{row.learner}({parameters})",
                "scale": facts["scale"],
            },
            streams=[
                StreamResult(
                    name=row.stream,
                    description=f"{facts['rows']:,} rows, {facts['features']:,} features.",
                    runs=[Run(row.learner, evaluation)],
                )
            ],
        ),
    )


def _as_json(value: Any) -> Any:
    """A value as JSON has it: no nan, and objects such as kernels by their spelling."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, tuple | list):
        return [_as_json(part) for part in value]
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
