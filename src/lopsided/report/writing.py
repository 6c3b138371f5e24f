"""Putting a report together, and onto the disk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from lopsided.report import page
from lopsided.report.contents import Detail, Grid, Report, StreamResult

if TYPE_CHECKING:
    from lopsided.report.measures import Floats, Over

_CURVES_EXPLAINED = (
    "Every example is scored by the model that has not seen it and then learned; a point of a curve judges all scores "
    "up to there. AUROC is the share of pairs of a rare and another example that are ranked rightly; average precision "
    "is the precision among the examples ranked first, averaged over all rare ones."
)


class ReportError(ValueError):
    """A report cannot be written where it is wanted."""


def check_can_write(path: str | Path) -> None:
    """Raise now what `write_report` would raise after the work: no matplotlib, or no such place."""
    from lopsided.report import figures  # noqa: F401

    path = Path(path)
    folder = path.absolute().parent
    if path.is_dir():
        raise ReportError(f"The report {path} must be a file, got a directory of that name.")
    if not folder.is_dir():
        raise ReportError(f"The report {path} must lie in a directory that exists, got none called {folder}.")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise ReportError(f"The report {path} must be in a place that can be written to, got no permission.")


def write_report(path: str | Path, report: Report) -> None:
    """Write one HTML file that needs nothing else."""
    Path(path).write_text(report_as_html(report), encoding="utf-8")


def report_as_html(report: Report) -> str:
    """The page: what is to be seen, the table, parameters, then drawings for each stream."""
    body = [page.paragraph(sentence) for sentence in report.introduction]
    body.append(page.table(report.table))
    if report.facts:
        body.append(page.facts(report.facts))
    for position, result in enumerate(report.streams):
        body += _section(result, explain=position == 0)
    return page.page(report.title, body)


def _section(result: StreamResult, *, explain: bool) -> list[str]:
    """Drawings of one stream; what a curve means is explained once."""
    from lopsided.report import figures

    parts = [page.heading(result.name), page.paragraph(result.description, quiet=True)]
    caption = _CURVES_EXPLAINED if explain else "The same curves for this stream."
    if result.detail is None:
        parts.append(page.figure(figures.progressive_curves(result), caption))
    else:
        parts += _in_detail(result.detail)
    if result.can_be_drawn:
        parts.append(
            page.figure(
                figures.decision_surfaces(result),
                "The decision surfaces at the end: colour is the score, the line is the decision boundary. Larger "
                "markers are support vectors with more weight.",
            )
        )
    return parts


def _in_detail(detail: Detail) -> list[str]:
    """One run from close: pictures, and the tables behind those that a decision may hang on."""
    from lopsided.report import evaluation_figures as figures
    from lopsided.report import measures

    found = measures.alerts(detail)
    window = measures.window_of(detail)
    parts = [
        page.heading("Over the stream", level=3),
        page.figure(
            figures.over_the_stream(detail),
            f"Over all rows so far, and over the last {window:,}: the second shows drift that the first averages away. "
            f"F1 is that of the decisions as they were made. {_CURVES_EXPLAINED}",
        ),
        page.table(_quarters(measures.over_windows(detail))),
        page.heading("Where to decide", level=3),
        page.paragraph(measures.alert_sentence(found)),
        page.figure(
            figures.alerts_and_recall(detail),
            f"Recall and precision if this many of the highest scores are reviewed {found.unit}. One threshold for the "
            "whole stream, chosen in hindsight.",
        ),
        page.table(Grid([f"alerts {found.unit}", "recall", "precision"], measures.alert_table(found), first_number=0)),
        page.figure(
            figures.roc_and_precision(detail),
            "Recall against false alarms, and precision against recall; dashed is chance.",
        ),
        page.heading("Scores", level=3),
        page.figure(
            figures.scores_and_calibration(detail),
            "Left: scores by class. Right: a curve from scores to probabilities, fitted on the first "
            "half of the stream, against what happened in the second, in ten groups of equal size.",
        ),
    ]
    reliability = measures.calibration(detail)
    if reliability is not None:
        rows = [(f"{p:.4f}", f"{share:.4f}", f"{size:,.0f}") for p, share, size in zip(*reliability, strict=True)]
        parts.append(page.table(Grid(["predicted", "observed", "rows"], rows, first_number=0)))
    if detail.moments:
        at, rates = figures.rates(detail)
        parts += [
            page.heading("The model", level=3),
            page.figure(figures.model_over_time(detail), "What the model was made of, and how fast it worked."),
            page.table(_moments(detail, at, rates)),
        ]
    return parts


_ROWS_OF_A_TABLE = 8


def _thinned(size: int) -> list[int]:
    """Some places of many, the last included."""
    step = max(1, -(-size // _ROWS_OF_A_TABLE))
    return sorted({*range(step - 1, size, step), size - 1})


def _quarters(windows: Over) -> Grid:
    rows = [
        (f"{windows.n[q]:,.0f}", *(_figure(part[q]) for part in (windows.auroc, windows.average_precision, windows.f1)))
        for q in _thinned(len(windows.n))
    ]
    return Grid(["window up to row", "AUROC", "average precision", "F1"], rows, first_number=0)


def _moments(detail: Detail, at: Floats, rates: Floats) -> Grid:
    rows = []
    for q in _thinned(len(detail.moments)):
        moment = detail.moments[q]
        support = "-" if moment.n_support is None else f"{moment.n_support:,}"
        weights = "-" if moment.weights is None else ", ".join(f"{weight:.2f}" for weight in moment.weights)
        rows.append((f"{at[q]:,.0f}", support, weights, f"{rates[q]:,.0f}"))
    return Grid(["rows", "support vectors", "weights", "rows per second"], rows, first_number=0)


def _figure(value: float) -> str:
    return "-" if value != value else f"{value:.3f}"
