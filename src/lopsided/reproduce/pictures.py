"""Drawings of a table made again: published against reproduced, or the curves of a figure."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.ticker import LogLocator

from lopsided.evaluate import RunLog
from lopsided.report.figures import COLOURS, as_markup, drawing_style, empty_figure
from lopsided.reproduce.comparison import Outcome, Verdict
from lopsided.reproduce.table import Table

Curves = dict[str, dict[str, list[tuple[float, float]]]]


def curves(table: Table, log: RunLog) -> Curves:
    """Set -> series -> points. A method `series @ x` is a point; a method without @ has one measure for every x."""
    found: Curves = {}
    measure = table.measures[0]
    for name in table.sets:
        for method in table.methods(name):
            entries = log.of(table.name, name, method)
            if not entries:
                continue
            series, at, x = method.partition(" @ ")
            of_set = found.setdefault(name, {})
            if at:
                y = float(np.mean([entry["measures"][measure] for entry in entries]))
                seconds = min(float(entry["seconds"]) for entry in entries)  # the run that was disturbed least
                of_set.setdefault(series, []).append((seconds if table.x_label == "seconds" else float(x), y))
            else:
                steps = sorted(map(float, entries[0]["measures"]))
                by_step = [{float(k): v for k, v in entry["measures"].items()} for entry in entries]
                of_set[series] = [(step, float(np.nanmean([run[step] for run in by_step]))) for step in steps]
    return found


def draw(table: Table, log: RunLog, results: list[Outcome], png: Path) -> str:
    """Write the PNG; returns the same as SVG."""
    with drawing_style():
        figure = _scatter(table, results) if results else _curves(table, curves(table, log))
        figure.savefig(png, dpi=110, facecolor="white")
        return as_markup(figure, table.name)


def _scatter(table: Table, results: list[Outcome]) -> Any:
    figure = empty_figure(5.6, 5.2)
    axes = figure.add_subplot()
    run = [result for result in results if result.verdict is not Verdict.NOT_RUN]
    own = [result for result in run if table.is_own(result.cell.method)]
    others = [result for result in run if result not in own]
    for group, colour, label in ((others, COLOURS[1], "baselines"), (own, COLOURS[0], "the paper's own")):
        axes.scatter(
            [r.cell.value for r in group], [r.here.mean for r in group], s=14, color=colour, label=label, alpha=0.8
        )
    ours = [result for result in results if result.ours.runs]
    if ours:
        points = [r.cell.value for r in ours], [r.ours.mean for r in ours]
        axes.scatter(*points, s=14, facecolors="none", edgecolors=COLOURS[2], label="variants of ours, not counted")
    if run or ours:
        ends = [limit(r.cell.value for r in [*run, *ours]) for limit in (min, max)]
        axes.plot(ends, ends, linewidth=0.8, color="gray")
    axes.set_xlabel("published")
    axes.set_ylabel("here")
    axes.set_title(f"{table.name}, {results[0].cell.measure}")
    axes.legend()
    return figure


def draw_contest(results: list[dict[str, Any]], png: Path) -> str:
    """Write the PNG of learners side by side, a row for each set; returns the same as SVG."""
    sets = list(dict.fromkeys(result["set"] for result in results))
    learners = list(dict.fromkeys(result["learner"] for result in results))
    panels = (("AUROC", "auroc"), ("average precision", "average_precision"))
    with drawing_style():
        figure = empty_figure(10.0, 0.8 + len(sets) * (0.7 + 0.24 * len(learners)))
        for row, name in enumerate(sets):
            of_set = [result for result in results if result["set"] == name]
            heights = [learners.index(result["learner"]) for result in of_set]
            for column, (title, key) in enumerate(panels):
                axes = figure.add_subplot(len(sets), 2, 2 * row + column + 1)
                values = [math.nan if result[key] is None else result[key] for result in of_set]
                spread = [result.get(f"{key}_deviation") or 0.0 for result in of_set]
                axes.errorbar(values, heights, xerr=spread, fmt="o", markersize=4, color=COLOURS[0])
                axes.set_yticks(range(len(learners)), learners if column == 0 else [""] * len(learners), fontsize=8)
                axes.set_ylim(len(learners) - 0.5, -0.5)
                axes.set_title(f"{name}, {title}", parse_math=False)
                axes.grid(True, axis="x")
        figure.savefig(png, dpi=110, facecolor="white")
        return as_markup(figure, "compare")


def _curves(table: Table, found: Curves) -> Any:
    n = max(1, len(found))
    columns = min(n, 2)
    rows = math.ceil(n / columns)
    figure = empty_figure(4.6 * columns, 3.4 * rows)
    for position, (name, of_set) in enumerate(found.items(), start=1):
        axes = figure.add_subplot(rows, columns, position)
        for k, (series, points) in enumerate(of_set.items()):
            x, y = zip(*points, strict=True)
            axes.plot(x, y, marker="o", markersize=2.5, linewidth=1.2, color=COLOURS[k % len(COLOURS)], label=series)
        if table.log_x:
            axes.set_xscale("log")
            for ticks, at in ((axes.xaxis.set_major_locator, (1.0,)), (axes.xaxis.set_minor_locator, (2.0, 5.0))):
                ticks(LogLocator(subs=at))
            for formatter in (axes.xaxis.set_major_formatter, axes.xaxis.set_minor_formatter):
                formatter("{x:g}")
        axes.set_title(name)
        axes.set_xlabel(table.x_label)
        axes.set_ylabel(table.measures[0])
        axes.grid(True)
        axes.legend(fontsize=8)
    return figure
