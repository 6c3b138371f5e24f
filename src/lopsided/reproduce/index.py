"""The index of all tables made again: how many figures are reproduced, and where."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lopsided.evaluate import RunLog
from lopsided.reproduce.comparison import Outcome, Verdict, read_outcomes
from lopsided.reproduce.costs import Vectors, seconds, seconds_sentence, vector_cells, vectors_sentence
from lopsided.reproduce.counting import Count, count
from lopsided.reproduce.gaps import not_run_line
from lopsided.reproduce.registry import tables
from lopsided.reproduce.table import Table

MARKS = "<!-- measured: begin -->", "<!-- measured: end -->"
GROUPS = ("the papers' own methods", "baselines")


@dataclass(frozen=True)
class Made:
    """A table that was made again, as its JSON file says; its runs where they are asked for."""

    table: Table
    summary: dict[str, Any]
    results: list[Outcome]
    log: RunLog = field(default_factory=RunLog)

    def count(self, *, own: bool) -> Count:
        """The paper's own methods, or the others."""
        chosen = [result for result in self.results if self.table.is_own(result.cell.method) is own]
        return count(chosen, self.table.tolerance)


def read_folder(folder: Path) -> list[Made]:
    """The tables whose JSON files a folder holds, in the order of the papers."""
    found = []
    for name, table in tables().items():
        path = folder / f"{name}.json"
        if path.exists():
            summary = json.loads(path.read_text(encoding="utf-8"))
            found.append(Made(table, summary, read_outcomes(table, summary)))
    if not found:
        raise ValueError(f"The folder {folder} must hold tables made by `lopsided reproduce`, got none.")
    return found


def totals(made: list[Made]) -> tuple[Count, Count]:
    """The papers' own methods and the baselines, over all tables."""
    own, others = (sum((one.count(own=own) for one in made), Count()) for own in (True, False))
    return own, others


def write_index(folder: Path) -> str:
    """Count what the JSON files of a folder say; written into its README.md, between the marks if it has them."""
    made = read_folder(folder)
    counted = [headline(*totals(made)), "", vectors_line(made), "", times_line(made)]
    text = "\n".join([*counted, "", *_lines(made), "", *_worst(made), "", *_not_run(made)])
    page = folder / "README.md"
    content = page.read_text(encoding="utf-8") if page.exists() else f"# Tables made again\n\n{MARKS[0]}\n{MARKS[1]}\n"
    if MARKS[0] not in content or MARKS[1] not in content:
        raise ValueError(f"The page {page} must hold the marks {MARKS[0]} and {MARKS[1]}, got none.")
    before, after = content.split(MARKS[0])[0], content.split(MARKS[1])[1]
    page.write_text(f"{before}{MARKS[0]}\n\n{text}\n\n{MARKS[1]}{after}", encoding="utf-8")
    return text


def headline(own: Count, others: Count) -> str:
    """What holds, to either side, and what was not run; for the index."""
    both = own + others
    return (
        f"**Of {both.printed} published figures {both.run} were run as published. Of these {both.near} are within 0.01 "
        "of the published area, or 0.3 percentage points, to either side: "
        f"{own.near} of {own.run} of the papers' own methods, {others.near} of {others.run} of the baselines.** "
        f"Of the {both.dated} that were printed with a standard deviation {both.within} are within one: {own.within} "
        f"of {own.dated} and {others.within} of {others.dated}. That deviation is one of single runs, and wide: by "
        f"Welch's t-test on means, deviations and runs {both.alike} of the {both.dated} do not differ at 95 %, "
        f"{own.alike} and {others.alike}. Within the one bound or the other are {own.either} and {others.either}. "
        f"Beyond both are {both.better} better than printed, which is no agreement either, "
        f"{both.worse} worse and {both.one_class} no better than always answering the larger class. "
        f"{both.not_run} figures were not run as published; for {both.ours_alone} of them a variant "
        "of ours was run, which is shown on the pages and not counted."
    )


def vectors_line(made: list[Made]) -> str:
    """How many printed numbers of support vectors agree, over all tables."""
    found = []
    for one in made:
        here = {(row["data"], row["method"]): row["here"] for row in one.summary.get("vectors", [])}
        for cell in vector_cells(one.table):
            number = here.get((cell.data, cell.method))
            found.append(Vectors(cell, math.nan if number is None else number))
    return vectors_sentence(found)


def times_line(made: list[Made]) -> str:
    """How many printed times agree as ratios, over all tables."""
    return seconds_sentence([time for one in made for time in seconds(one.table, RunLog(), one.summary)])


def _lines(made: list[Made]) -> list[str]:
    lines = []
    for own, group in zip((True, False), GROUPS, strict=True):
        lines += [
            f"| {group} | printed | run as published | within 0.01 or 0.3 points | within one deviation "
            "| one or the other | better | no better than one class | worse | not run | ours, not counted |",
            "|---" * 11 + "|",
        ]
        for one in made:
            of_table = one.count(own=own)
            if of_table.printed:
                name = one.table.name
                lines.append(_row(f"[{name}]({name}.md): {one.table.title}", of_table))
        lines += [_row("**all**", totals(made)[0 if own else 1]), ""]
    pictures = [f"[{one.table.name}]({one.table.name}.md)" for one in made if not one.results]
    return lines + ([f"Figures drawn again: {', '.join(pictures)}."] if pictures else [])


def _row(name: str, of_table: Count) -> str:
    one = of_table
    within = str(one.within) if one.dated == one.run else f"{one.within} of {one.dated}"
    cells = [one.printed, one.run, one.near, within, one.either, one.better, one.one_class, one.worse, one.not_run]
    ours = f"{one.ours}, of which {one.ours_near} within 0.01 or 0.3" if one.ours else "-"
    return f"| {name} | {' | '.join(map(str, cells))} | {ours} |"


def _worst(made: list[Made]) -> list[str]:
    """Every figure that is worse than published by more than the tolerance, by how much."""
    lines = ["Worse than published by more than 0.01 or 0.3 points, by table (set and method, published → here):", ""]
    for one in made:
        missed = [result for result in one.results if _is_worse(one.table, result)]
        if missed:
            texts = [
                f"{result.cell.data} {result.cell.method} {result.cell.value:g} → {result.here.mean:.4g}"
                for result in sorted(missed, key=lambda result: -abs(result.difference))
            ]
            lines.append(f"- **{one.table.name}** ({len(missed)}): {'; '.join(texts)}.")
    return lines


def _not_run(made: list[Made]) -> list[str]:
    """Every figure that was not run as published, with the reason."""
    found = [not_run_line(one.table, one.results) for one in made]
    return ["Not run as published, by table (figures; set, methods and the reason):", "", *filter(None, found)]


def _is_worse(table: Table, result: Outcome) -> bool:
    if result.verdict is Verdict.NOT_RUN or result.near:
        return False
    return (result.difference < 0) != table.lower_is_better
