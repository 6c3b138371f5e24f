"""What the published models cost, beside what they cost here: support vectors as they are, seconds as ratios.

Numbers of vectors depend on the algorithm alone and are compared one by one. Seconds depend on the machine and the
language, so that only ratios between methods of one table can be compared: how many times as long as the reference.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lopsided.evaluate import RunLog
from lopsided.report.contents import Grid
from lopsided.reproduce.comparison import method_for
from lopsided.reproduce.published import Cell, published_cells
from lopsided.reproduce.table import LITERAL, Table

NEAR = 0.1  # of the published number of vectors
FACTOR = 2.0  # between ratios of times

Mean = tuple[float, int | None]  # and of how many runs, where that is known
NOTHING: Mean = (math.nan, None)


@dataclass(frozen=True)
class Vectors:
    """How many support vectors a method had in print, and here; nan if it was not run as published."""

    cell: Cell
    here: float
    runs: int | None = None  # that it is the mean of, where that is known

    @property
    def is_near(self) -> bool:
        """Within a tenth of what was printed, or one printed deviation."""
        away = abs(self.here - self.cell.value)
        return away <= NEAR * self.cell.value or away <= self.cell.deviation

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return _as_json(self.cell, self.here, self.runs)


def _as_json(cell: Cell, here: float, runs: int | None) -> dict[str, Any]:
    """One figure; null where it was not run."""
    figures = {"here": None, "runs": None} if math.isnan(here) else {"here": here, "runs": runs}
    return {"data": cell.data, "method": cell.method, "published": cell.value, **figures}


def vectors(table: Table, log: RunLog, earlier: Mapping[str, Any]) -> list[Vectors]:
    """Every published number of support vectors, in the order of print; of cells not in the log as it was earlier."""
    known = _known(earlier, "vectors")
    found = []
    for cell in vector_cells(table):
        counts = [entry["measures"].get("vectors", math.nan) for entry in _entries(table, log, cell)]
        now = float(np.mean(counts)) if counts else math.nan, len(counts)
        found.append(Vectors(cell, *(now if counts else known.get((cell.data, cell.method), NOTHING))))
    return found


def _known(earlier: Mapping[str, Any], kind: str) -> dict[tuple[str, str], Mean]:
    """What a summary says of vectors or of seconds: mean and number of runs, by set and method."""
    rows = [row for row in earlier.get(kind, []) if row["here"] is not None]
    return {(row["data"], row["method"]): (row["here"], row.get("runs")) for row in rows}


def vector_cells(table: Table) -> list[Cell]:
    """The numbers of support vectors that a table prints."""
    return [cell for cell in published_cells(table.name) if cell.measure == "vectors"]


def vectors_sentence(found: list[Vectors]) -> str:
    """How many numbers of vectors agree."""
    run = [one for one in found if not math.isnan(one.here)]
    near = sum(one.is_near for one in run)
    return (
        f"**Support vectors:** of {len(found)} printed numbers {len(run)} were run as published, and {near} of these "
        "are within a tenth, or one published deviation, to either side."
    )


def vectors_grid(found: list[Vectors]) -> Grid:
    """Methods by sets, published → here."""
    sets = list(dict.fromkeys(one.cell.data for one in found if not math.isnan(one.here)))
    by_place = {(one.cell.method, one.cell.data): one for one in found}
    rows = []
    for method in dict.fromkeys(one.cell.method for one in found):
        cells = [_vectors_cell(by_place.get((method, name))) for name in sets]
        if any(cell != "-" for cell in cells):
            rows.append([method, *cells])
    return Grid(["vectors", *sets], rows)


def _vectors_cell(one: Vectors | None) -> str:
    if one is None or math.isnan(one.here):
        return "-"
    return f"{one.cell.value:,.0f} → {one.here:,.0f}{' ✓' if one.is_near else ''}"


@dataclass(frozen=True)
class Times:
    """How long a method took in print, and here; and so for the one on the same set that it is compared with."""

    cell: Cell
    base: Cell
    here: float  # nan if it was not run as published
    base_here: float
    runs: int | None = None

    @property
    def ratios(self) -> tuple[float, float] | None:
        """How many times as long as the base, in print and here; None where one of them is not known."""
        if not (self.here > 0.0 and self.base_here > 0.0):
            return None
        return self.cell.value / self.base.value, self.here / self.base_here

    @property
    def is_near(self) -> bool:
        """Within a factor of two of the published ratio."""
        return self.ratios is not None and 1 / FACTOR <= self.ratios[1] / self.ratios[0] <= FACTOR

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return _as_json(self.cell, self.here, self.runs)


def seconds(table: Table, log: RunLog, earlier: Mapping[str, Any]) -> list[Times]:
    """Every published time, in the order of print.

    They are compared with the reference of the table; where its time was not printed, with the last that was. A set
    whose reference is in the log is timed by the log alone, the others as they were earlier: times of two machines, or
    of two states of the code, have no ratio.
    """
    known = _known(earlier, "seconds")
    cells = [cell for cell in published_cells(table.name) if cell.measure == "seconds"]
    bases = {cell.data: cell for cell in cells}  # the last one
    bases |= {cell.data: cell for cell in cells if cell.method == table.reference}
    timed = {name for name, base in bases.items() if _entries(table, log, base)}

    def measured(cell: Cell) -> Mean:
        if cell.data in timed:
            return _seconds(table, log, cell)
        return known.get((cell.data, cell.method), NOTHING)

    found = []
    for cell in cells:
        here, runs = measured(cell)
        found.append(Times(cell, bases[cell.data], here, measured(bases[cell.data])[0], runs))
    return found


def seconds_sentence(found: list[Times]) -> str:
    """How many ratios of times agree; that of a method to itself is none."""
    others = [one for one in found if one.cell != one.base]
    compared = [one for one in others if one.ratios is not None]
    return (
        f"**Times**, as multiples of that of the paper's own method on the same set: of {len(others)} printed "
        f"{len(compared)} were compared, and {sum(one.is_near for one in compared)} are within a factor of two of the "
        "published ratio, to either side."
    )


def seconds_grid(table: Table, found: list[Times]) -> Grid | None:
    """How many times as long as the reference each method takes, published → here; None where no time was printed."""
    by_place = {(one.cell.method, one.cell.data): one for one in found if one.ratios is not None}
    bases = {one.cell.data: one.base.method for one in found if one.ratios is not None}
    sets = [name for name in table.sets if name in bases]
    others = [f"; {bases[name]} on {name}" for name in sets if bases[name] != table.reference]
    rows = []
    for method in dict.fromkeys(one.cell.method for one in found):
        cells = [_ratio_cell(by_place.get((method, name))) for name in sets]
        if any(cell != "-" for cell in cells):
            rows.append([method, *cells])
    return Grid([f"time, times that of {table.reference}{''.join(others)}", *sets], rows) if rows else None


def _ratio_cell(one: Times | None) -> str:
    if one is None or one.ratios is None:
        return "-"
    return f"{one.ratios[0]:.3g} → {one.ratios[1]:.3g}{' ✓' if one.is_near else ''}"


def _seconds(table: Table, log: RunLog, cell: Cell) -> Mean:
    times = [entry["seconds"] for entry in _entries(table, log, cell)]
    return (float(np.mean(times)), len(times)) if times else NOTHING


def _entries(table: Table, log: RunLog, cell: Cell) -> list[dict[str, Any]]:
    """The runs of the published algorithm."""
    name = method_for(table, cell)
    return log.of(table.name, cell.data, name if table.difference_of(cell.method) is None else name + LITERAL)
