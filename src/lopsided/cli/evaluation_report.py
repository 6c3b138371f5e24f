"""The report of `lopsided evaluate`."""

from __future__ import annotations

from typing import Any

from lopsided.cli.display import Row, as_grid
from lopsided.drift import DriftAlarm
from lopsided.encoding import Schema
from lopsided.evaluate import History
from lopsided.numerals import counted
from lopsided.report.contents import Detail, Report, Run, StreamResult
from lopsided.report.writing import write_report


def write(
    path: str,
    row: Row,
    history: History,
    facts: dict[str, Any],
    columns: list[Any],
    schema: Schema | None,
    drift: DriftAlarm,
) -> None:
    """Write what an evaluation has shown."""
    labels = ", ".join(f"{label} ({rows:,} rows)" for label, rows in facts["labels"].items())
    parameters = ", ".join(f"{name}={value!r}" for name, value in facts["parameters"].items())
    write_report(
        path,
        Report(
            title=f"{row.learner} on {row.stream}",
            introduction=[
                "Progressive validation: every row was scored by the model that had not seen it, and then learned."
            ],
            table=as_grid([row], columns),
            facts={
                "files": ", ".join(facts["files"]),
                "labels": f"{labels}; positive: {facts['positive']}",
                "learner": f"{row.learner}({parameters})",
                "scale": facts["scale"],
            },
            streams=[
                StreamResult(
                    name=row.stream,
                    description=f"{counted(facts['rows'], 'row')}, {counted(facts['features'], 'feature')}.",
                    runs=[Run(row.learner, history.evaluation)],
                    detail=Detail.of(history, are_dates=_are_dates(schema), drift=drift),
                )
            ],
        ),
    )


def _are_dates(schema: Schema | None) -> bool | None:
    """Whether moments are dates; a column of numbers does not tell."""
    return True if schema is not None and schema.time is not None and schema.time.kind == "date" else None
