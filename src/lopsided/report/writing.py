"""Putting a report together, and onto the disk."""

from __future__ import annotations

import os
from pathlib import Path

from lopsided.report import page
from lopsided.report.contents import Report, StreamResult

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
        from lopsided.report.sections import in_detail

        parts += in_detail(result.detail)
    if result.can_be_drawn:
        parts.append(
            page.figure(
                figures.decision_surfaces(result),
                "The decision surfaces at the end: colour is the score, the line is the decision boundary. Larger "
                "markers are support vectors with more weight.",
            )
        )
    return parts
