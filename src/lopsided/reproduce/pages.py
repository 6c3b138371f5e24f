"""A table made again, as Markdown, JSON, a picture and one HTML page."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lopsided.evaluate import RunLog, compare_across_sets
from lopsided.report import page
from lopsided.report.contents import Grid
from lopsided.reproduce import costs
from lopsided.reproduce.comparison import (
    Outcome,
    Verdict,
    Wins,
    all_means,
    counts,
    means,
    outcomes,
    wins,
    wins_with_earlier,
    with_earlier,
)
from lopsided.reproduce.counting import count
from lopsided.reproduce.gaps import fewer_runs_sentence, partly_run, runs_sentence
from lopsided.reproduce.published import source_of
from lopsided.reproduce.table import Table

_MARKS = {
    Verdict.WITHIN: "✓",
    Verdict.NEAR: "✓",
    Verdict.ONE_CLASS: "=",
    Verdict.BETTER: "+",
    Verdict.WORSE: "−",
    Verdict.NOT_RUN: "",
}
NOTHING: Mapping[str, Any] = {}
LEGEND = (
    "A cell is *published → here*, and how far that is in published standard deviations. ✓: within one of them (or "
    "within the tolerance); +: better than that; −: worse; =: nearer to perfect, but no better than always answering "
    "the larger class. *ours*: not the published algorithm, and not counted."
)


def written(table: Table, log: RunLog, missing: Mapping[str, str], folder: Path, command: str) -> list[Path]:
    """Write NAME.md, NAME.json, NAME.html and, with matplotlib, NAME.png into a folder; returns what was written.

    NAME is that of the log, so that a quick look does not replace what took hours.
    """
    folder.mkdir(parents=True, exist_ok=True)
    name = table.name if log.path is None else log.path.name.removesuffix(".jsonl")
    paths = [folder / f"{name}.{kind}" for kind in ("md", "json", "html")]
    results = fresh = outcomes(table, log)
    missing = dict(missing)
    earlier = json.loads(paths[1].read_text(encoding="utf-8")) if results and paths[1].exists() else {}
    if earlier:
        results, known = with_earlier(table, fresh, earlier), _sets_run(table, log)
        lacking = _lacking(fresh, results)
        if partly := [name for name in lacking if name in known]:
            missing[", ".join(partly)] = "some figures are of earlier runs, whose log is not kept"
        if older := [name for name in lacking if name not in known]:
            missing = {name: why for name, why in missing.items() if name not in older}
            missing[", ".join(older)] = "figures of earlier runs, whose log is not kept"
            both = [name for name in table.sets if name in known or name in older]
            command = command.replace(f"--sets {','.join(known)}", f"--sets {','.join(both)}")
    paths[0].write_text(markdown(table, log, results, missing, command, earlier), encoding="utf-8")
    paths[1].write_text(json.dumps(summary(table, log, results, missing, earlier), indent=1) + "\n", encoding="utf-8")
    picture = folder / f"{name}.png"
    drawing = _drawn(table, log, results, picture)
    paths[2].write_text(_html(table, log, results, missing, command, drawing), encoding="utf-8")
    return paths + ([picture] if drawing else [])


def _lacking(fresh: Sequence[Outcome], results: Sequence[Outcome]) -> list[str]:
    """Sets of which some figure is not of the log."""
    pairs = zip(results, fresh, strict=True)
    found = (r.cell.data for r, now in pairs if r.here.runs > now.here.runs or r.ours.runs > now.ours.runs)
    return list(dict.fromkeys(found))


def command_for(table: Table, log: RunLog, *options: str) -> str:
    """The command that makes what the log holds; runs are named if all cells have as many, and not the usual number."""
    sets, runs = _sets_run(table, log), _runs(table, log)
    parts = [f"lopsided reproduce {table.name} --data DIR --sets {','.join(sets)}"]
    if len(runs) == 1 and runs != [table.runs]:
        parts.append(f"--runs {runs[0]}")
    return " ".join([*parts, *options])


def left_out(table: Table, log: RunLog) -> dict[str, str]:
    """What the log does not hold: sets that cannot be had or were not run."""
    unknown = {name: "not run" for name in table.sets if name not in _sets_run(table, log)}
    return dict(table.impossible) | unknown


def _sets_run(table: Table, log: RunLog) -> list[str]:
    return [name for name in table.sets if any(entry["set"] == name for entry in log.entries)]


def _runs(table: Table, log: RunLog) -> list[int]:
    """The different numbers of runs that cells have."""
    cells = [(name, method) for name in _sets_run(table, log) for method in table.methods(name)]
    return sorted({len(log.of(table.name, *cell)) for cell in cells} - {0})


def runs_of_points(points: Sequence[Mapping[str, Any]]) -> str:
    """How many runs a point of a picture, as its summary has them, is the mean of."""
    runs = sorted({point["runs"] for point in points})
    return f"Runs: {' or '.join(map(str, runs))} a point." if runs else ""


def summary(
    table: Table,
    log: RunLog,
    results: Sequence[Outcome],
    missing: Mapping[str, str],
    earlier: Mapping[str, Any] = NOTHING,
) -> dict[str, object]:
    """For machines; what the log does not hold is as an earlier summary has it."""
    record = wins_with_earlier(table, log, earlier)
    wins_of_reference = {method: list(one) for method, one in record.items()} if results else {}
    return {
        "table": table.name,
        "title": table.title,
        "source": source_of(table.name),
        "tolerance": table.tolerance,
        "counts": {verdict.value: number for verdict, number in counts(results).items()},
        "wins": wins_of_reference,
        "cells": [result.as_json() for result in results],
        "vectors": [one.as_json() for one in costs.vectors(table, log, earlier)],
        "seconds": [one.as_json() for one in costs.seconds(table, log, earlier)],
        "points": _points(table, log),
        "missing": dict(missing),
    }


def _points(table: Table, log: RunLog) -> list[dict[str, object]]:
    """Of a picture: how many runs each point, or each curve, is the mean of."""
    if not table.x_label:
        return []
    places = [
        (name, method, len(log.of(table.name, name, method))) for name in table.sets for method in table.methods(name)
    ]
    return [{"data": name, "method": method, "runs": runs} for name, method, runs in places if runs]


def markdown(
    table: Table,
    log: RunLog,
    results: Sequence[Outcome],
    missing: Mapping[str, str],
    command: str,
    earlier: Mapping[str, Any] = NOTHING,
) -> str:
    """The page."""
    lines = [f"# {table.name}: {table.title}", "", f"{source_of(table.name)}.", "", f"```\n{command}\n```", ""]
    if results:
        lines += [verdict_sentence(table, results), "", LEGEND, ""]
        for grid in result_grids(table, results):
            lines += [*as_markdown(grid), ""]
        lines += _cost_lines(table, log, earlier)
    else:
        lines += [f"![{table.title}]({table.name}.png)", ""]
        lines += [*as_markdown(curve_grid(table, log)), ""]
        if (costs_of_points := point_costs_grid(table, log)) is not None:
            lines += ["Support vectors / seconds of the processor, of the same points:", ""]
            lines += [*as_markdown(costs_of_points), ""]
    if results and table.reference in table.methods(next(iter(table.sets))):  # else each measure has methods of its own
        record, values = wins_with_earlier(table, log, earlier), all_means(table, log, results)
        lines += [line for sentence in _sentences(table, record, values) for line in (sentence, "")]
    lines += ["## How it was run", "", *(f"- {remark}" for remark in table.remarks)]
    lines += [f"- {name}…, ours: {reason}." for name, reason in table.ours.items()]
    lines += [f"- {name}: {reason}." for name, reason in missing.items()]
    counted = [runs_sentence(table, results)] if results else [runs_of_points(_points(table, log))]
    counted.append(
        fewer_runs_sentence(results, [*costs.vectors(table, log, earlier), *costs.seconds(table, log, earlier)])
    )
    lines += [f"- {line}" for line in (*counted, *partly_run(table, results)) if line]
    lines += [f"- {made_with(log, table)}", ""]
    return "\n".join(lines)


def _cost_lines(table: Table, log: RunLog, earlier: Mapping[str, Any]) -> list[str]:
    """Support vectors and times, where any were printed."""
    lines: list[str] = []
    if found := costs.vectors(table, log, earlier):
        lines += [costs.vectors_sentence(found), "", *as_markdown(costs.vectors_grid(found)), ""]
    times = costs.seconds(table, log, earlier)
    if (grid := costs.seconds_grid(table, times)) is not None:
        lines += [costs.seconds_sentence(times), "", *as_markdown(grid), ""]
    return lines


def verdict_sentence(table: Table, results: Sequence[Outcome]) -> str:
    """How many figures come near the published ones, to either side, and where the others lie."""
    found = count(results)
    if not found.run and not found.ours:
        return "Nothing was run."
    if not found.run:
        return (
            f"**None of the {found.printed} printed figures was run as published.** Of {found.ours} there is a variant "
            "of ours, which is shown and not counted."
        )
    near = "0.3 points" if table.percent else "0.01"
    groups = (("own methods", True), ("baselines", False))
    apart = [(name, count([r for r in results if table.is_own(r.cell.method) is own])) for name, own in groups]
    parts = [f"{name} {one.near} and {one.within} of {one.run}" for name, one in apart if one.printed]
    return (
        f"**{found.near} of {found.run} figures** are within {near} of the published ones, to either side, "
        f"and {found.within} of the {found.dated} with a printed deviation within one of it ("
        f"{'; '.join(parts)}). Beyond both are {found.better} better, {found.worse} worse and "
        f"{found.one_class} no better than always answering the larger class. {found.not_run} of the "
        f"{found.printed} printed figures were not run as published; of {found.ours_alone} there is a variant of ours."
    )


def result_grids(table: Table, results: Sequence[Outcome]) -> list[Grid]:
    """One grid for each measure: methods by sets."""
    grids = []
    for measure in dict.fromkeys(result.cell.measure for result in results):
        of_measure = [result for result in results if result.cell.measure == measure]
        sets = list(dict.fromkeys(r.cell.data for r in of_measure if r.here.runs or r.ours.runs))
        by_place = {(result.cell.method, result.cell.data): result for result in of_measure}
        rows = []
        for method in dict.fromkeys(result.cell.method for result in of_measure):
            cells = [_cell(table, by_place.get((method, name))) for name in sets]
            if any(cell != "-" for cell in cells):
                rows.append([method, *cells])
        grids.append(Grid([measure, *sets], rows))
    return grids


def _cell(table: Table, result: Outcome | None) -> str:
    if result is None or (result.verdict is Verdict.NOT_RUN and not result.ours.runs):
        return "-"
    places = 2 if table.percent else 3
    text = f"{result.cell.value:.{places}f}"
    if result.verdict is not Verdict.NOT_RUN:
        away = "" if math.isnan(result.in_deviations) else f" ({result.in_deviations:+.1f})"
        text += f" → {result.here.mean:.{places}f}{away} {_MARKS[result.verdict]}"
    return text + (f"; ours {result.ours.mean:.{places}f}" if result.ours.runs else "")


def curve_grid(table: Table, log: RunLog) -> Grid:
    """The points of a picture as numbers."""
    from lopsided.reproduce.pictures import curves

    rows = [
        [name, series, *(f"({x:g}, {y:.4g})" for x, y in points[:: max(1, len(points) // 6)])]
        for name, of_set in curves(table, log).items()
        for series, points in of_set.items()
    ]
    width = max((len(row) for row in rows), default=2)
    return Grid(["set", "curve", *[""] * (width - 2)], [row + [""] * (width - len(row)) for row in rows], 2)


def point_costs_grid(table: Table, log: RunLog) -> Grid | None:
    """What the points of a picture cost, by the number after the @; None where no learner keeps vectors."""
    by_curve: dict[tuple[str, str], dict[str, str]] = {}
    for name in table.sets:
        for method in table.methods(name):
            entries = log.of(table.name, name, method)
            series, at, x = method.partition(" @ ")
            if at and entries and all("vectors" in entry["measures"] for entry in entries):
                vectors = sum(entry["measures"]["vectors"] for entry in entries) / len(entries)
                seconds = min(float(entry["seconds"]) for entry in entries)
                by_curve.setdefault((name, series), {})[x] = f"{vectors:,.0f} / {seconds:.2f}"
    columns = list(dict.fromkeys(x for points in by_curve.values() for x in points))
    rows = [[*place, *(points.get(x, "-") for x in columns)] for place, points in by_curve.items()]
    return Grid(["set", "curve", *columns], rows, 2) if rows and table.percent else None


def significance(table: Table, log: RunLog) -> list[str]:
    """What the runs say on each set, and the sets together, in a sentence each."""
    return _sentences(table, wins(table, log), means(table, log))


def _sentences(table: Table, record: Wins, values: Mapping[str, Mapping[str, float]]) -> list[str]:
    sentences = []
    if record:
        text = ", ".join(f"{table.called(method)} {won}/{tied}/{lost}" for method, (won, tied, lost) in record.items())
        sentences.append(
            f"Sets on which {table.called(table.reference)} wins, ties, loses (paired t-test, 95 %), here: {text}."
        )
    comparison = compare_across_sets(values)
    if not math.isnan(comparison.critical_difference):
        ranks = ", ".join(f"{table.called(method)} {rank:.2f}" for method, rank in comparison.mean_ranks.items())
        sentences.append(
            f"Mean ranks over the sets that all methods ran on: {ranks}. Ranks that differ by less than "
            f"{comparison.critical_difference:.2f} do not differ significantly (Nemenyi, 95 %)."
        )
        best = next(iter(comparison.mean_ranks))
        listed = ", ".join(f"{table.called(method)} {p:.2g}" for method, p in comparison.wilcoxon_p.items())
        sentences.append(
            f"Wilcoxon's signed-rank test over these sets, p-values against {table.called(best)}: {listed}."
        )
    return sentences


def made_with(log: RunLog, table: Table) -> str:
    """The versions behind the latest run, as a sentence."""
    for entry in reversed(log.entries):
        if entry["table"] == table.name and "versions" in entry:
            return f"Made with {', '.join(f'{name} {version}' for name, version in entry['versions'].items())}."
    return "Made with nothing."


def as_markdown(grid: Grid) -> list[str]:
    """The lines of a table."""

    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"

    return [line(grid.headings), "|---" * len(grid.headings) + "|", *map(line, grid.rows)]


def _drawn(table: Table, log: RunLog, results: Sequence[Outcome], picture: Path) -> str | None:
    """The picture as SVG for the page, written as PNG too; nothing without matplotlib."""
    try:
        from lopsided.reproduce import pictures
    except ModuleNotFoundError:
        return None
    return pictures.draw(table, log, list(results), picture)


def _html(
    table: Table, log: RunLog, results: Sequence[Outcome], missing: Mapping[str, str], command: str, drawing: str | None
) -> str:
    body = [page.paragraph(f"{source_of(table.name)}."), page.paragraph(command, quiet=True)]
    if results:
        body.append(page.paragraph(verdict_sentence(table, results).replace("**", "")))
        body += [page.table(grid) for grid in result_grids(table, results)]
        body.append(page.paragraph(LEGEND.replace("*", ""), quiet=True))
    elif drawing:
        body.append(page.table(curve_grid(table, log)))
    if drawing:
        caption = "Published and reproduced figures; on the line they agree." if results else table.title
        body.append(page.figure(drawing, caption))
    body += [page.paragraph(remark, quiet=True) for remark in table.remarks]
    body += [page.paragraph(f"{name}: {reason}.", quiet=True) for name, reason in missing.items()]
    return page.page(f"{table.name}: {table.title}", body)
