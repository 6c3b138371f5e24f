"""The answer to a question of one's own, as Markdown, JSON, a picture and one HTML page."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lopsided.evaluate import RunLog
from lopsided.report import page
from lopsided.report.contents import Grid
from lopsided.reproduce.pages import as_markdown, made_with, significance
from lopsided.reproduce.table import Table

NAME = "compare"
_HEADINGS = ["set", "learner", "AUROC", "AUPRC", "µs an example"]


def results_of(table: Table, log: RunLog) -> list[dict[str, Any]]:
    """For machines: means over the runs of every learner on every set, and deviations where there are several."""
    found = []
    for name in table.sets:
        for method in table.methods(name):
            entries = log.of(table.name, name, method)
            if entries:
                measured = {key: [entry["measures"][key] for entry in entries] for key in entries[0]["measures"]}
                found.append(_result(name, method, measured, sum(entry["diverged"] for entry in entries)))
    return found


def _result(name: str, method: str, measured: dict[str, list[float]], diverged: int) -> dict[str, Any]:
    def mean(key: str, places: int) -> float | None:
        value = float(np.mean(measured[key]))
        return None if math.isnan(value) else round(value, places)

    result = {
        "set": name,
        "learner": method,
        "auroc": mean("AUROC", 4),
        "average_precision": mean("AUPRC", 4),
        "microseconds": mean("microseconds", 2),
        "runs": len(measured["AUROC"]),
        "diverged": diverged,
    }
    if len(measured["AUROC"]) > 1:
        result |= {"auroc_deviation": _deviation(measured["AUROC"])}
        result |= {"average_precision_deviation": _deviation(measured["AUPRC"])}
    return result


def _deviation(values: list[float]) -> float | None:
    deviation = float(np.std(values, ddof=1))
    return None if math.isnan(deviation) else round(deviation, 4)


def contest_grid(table: Table, log: RunLog) -> Grid:
    """Set by set, learners below each other."""
    rows = []
    for result in results_of(table, log):
        areas = [_area(result[key], result.get(f"{key}_deviation")) for key in ("auroc", "average_precision")]
        rows.append([result["set"], result["learner"], *areas, f"{result['microseconds']:,.1f}"])
    return Grid(_HEADINGS, rows, 2)


def _area(mean: float | None, deviation: float | None) -> str:
    if mean is None:
        return "-"
    return f"{mean:.3f}" if deviation is None else f"{mean:.3f} ± {deviation:.3f}"


def written_contest(table: Table, log: RunLog, failed: Sequence[str], folder: Path, command: str) -> list[Path]:
    """Write compare.md, compare.json, compare.html and, with matplotlib, compare.png; returns what was written.

    `failed` are sentences on the cells that could not be run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{NAME}.{kind}" for kind in ("md", "json", "html")]
    grid, sentences = contest_grid(table, log), significance(table, log)
    remarks = [*table.remarks, *failed, made_with(log, table)]
    lines = [f"# {table.title}", "", f"```\n{command}\n```", "", *as_markdown(grid), ""]
    lines += [line for sentence in sentences for line in (sentence, "")]
    lines += ["## How it was run", "", *(f"- {remark}" for remark in remarks), ""]
    paths[0].write_text("\n".join(lines), encoding="utf-8")
    paths[1].write_text(json.dumps({"results": results_of(table, log)}, indent=1) + "\n", encoding="utf-8")
    picture = folder / f"{NAME}.png"
    drawing = _drawn(table, log, picture)
    body = [page.paragraph(command, quiet=True), page.table(grid), *map(page.paragraph, sentences)]
    if drawing:
        body.append(page.figure(drawing, "Mean areas on every set; the lines reach one standard deviation."))
    body += [page.paragraph(remark, quiet=True) for remark in remarks]
    paths[2].write_text(page.page(table.title, body), encoding="utf-8")
    return paths + ([picture] if drawing else [])


def _drawn(table: Table, log: RunLog, picture: Path) -> str | None:
    try:
        from lopsided.reproduce import pictures
    except ModuleNotFoundError:
        return None
    return pictures.draw_contest(results_of(table, log), picture)
