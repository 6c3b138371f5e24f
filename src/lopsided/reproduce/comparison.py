"""What was published beside what came out: how far apart, and what that counts as."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any

import numpy as np

from lopsided.evaluate import RunLog, wins_ties_losses
from lopsided.reproduce.published import Cell, published_cells
from lopsided.reproduce.table import Table

_NOT_QUALITY = {"seconds", "vectors"}


class Verdict(Enum):
    """What a cell counts as; the first that holds."""

    WITHIN = "within one standard deviation"
    NEAR = "within the tolerance"  # figures that were printed without a deviation, or with a tiny one
    BETTER = "better"
    WORSE = "worse"
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Outcome:
    """One published figure and the runs that were made for it."""

    cell: Cell
    verdict: Verdict
    mean: float = math.nan
    deviation: float = math.nan
    runs: int = 0
    reaches: bool = False  # within the tolerance of the published mean, or better
    parameters: str = ""

    @property
    def difference(self) -> float:
        """Here minus published."""
        return self.mean - self.cell.value

    @property
    def in_deviations(self) -> float:
        """The difference in published standard deviations; nan where none was printed."""
        return self.difference / self.cell.deviation if self.cell.deviation > 0 else math.nan

    def as_json(self) -> dict[str, Any]:
        """For machines; nan becomes null."""
        flat = {**asdict(self.cell), "here": self.mean, "here_deviation": self.deviation, "runs": self.runs}
        flat |= {"difference": self.difference, "in_deviations": self.in_deviations, "verdict": self.verdict.value}
        flat |= {"reaches": self.reaches, "parameters": self.parameters}
        return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in flat.items()}


def outcomes(table: Table, log: RunLog) -> list[Outcome]:
    """Every published figure of quality, in the order of print; seconds and vectors are no matter of quality."""
    return [_outcome(table, log, cell) for cell in published_cells(table.name) if cell.measure not in _NOT_QUALITY]


def method_for(table: Table, cell: Cell) -> str:
    """The method that makes a cell; a table that tunes for each measure has one of each."""
    specific = f"{cell.method} {cell.measure}"
    known = table.methods(cell.data) if cell.data in table.sets else {}
    return specific if specific in known else cell.method


def _outcome(table: Table, log: RunLog, cell: Cell) -> Outcome:
    entries = log.of(table.name, cell.data, method_for(table, cell))
    values = [entry["measures"][cell.measure] for entry in entries if cell.measure in entry["measures"]]
    if not values:
        return Outcome(cell, Verdict.NOT_RUN)
    mean, deviation = float(np.nanmean(values)), float(np.nanstd(values, ddof=1)) if len(values) > 1 else 0.0
    difference = mean - cell.value
    gain = -difference if table.lower_is_better else difference
    near, within = (
        abs(difference) <= table.tolerance,
        abs(difference) <= (cell.deviation if cell.deviation > 0 else 0.0),
    )
    if within:
        verdict = Verdict.WITHIN
    elif near:
        verdict = Verdict.NEAR
    else:
        verdict = Verdict.BETTER if gain > 0 else Verdict.WORSE
    chosen = ", ".join(f"{name} = {_short(value)}" for name, value in entries[0]["parameters"].items())
    return Outcome(cell, verdict, mean, deviation, len(values), near or gain > 0, chosen)


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def counts(results: list[Outcome]) -> dict[Verdict, int]:
    """How many cells there are of each verdict."""
    return {verdict: sum(result.verdict is verdict for result in results) for verdict in Verdict}


def wins(table: Table, log: RunLog) -> dict[str, tuple[int, int, int]]:
    """Sets on which the table's own method is better than, like, worse than each other (paired t, 95 %)."""
    measure = table.measures[0]
    sign = -1.0 if table.lower_is_better else 1.0
    runs: dict[str, dict[str, list[float]]] = {}
    for name in table.sets:
        of_set: dict[str, list[float]] = {}
        for method in table.methods(name):
            entries = log.of(table.name, name, method)
            values = [sign * entry["measures"].get(measure, math.nan) for entry in entries]
            if values and not np.isnan(values).any():
                of_set[method] = values
        lengths = {len(values) for values in of_set.values()}
        if len(lengths) == 1 and lengths != {1}:  # paired: every method has the same runs, and more than one
            runs[name] = of_set
    return wins_ties_losses(runs, table.reference) if runs else {}


def means(table: Table, log: RunLog) -> Mapping[str, Mapping[str, float]]:
    """Set -> method -> mean of the first measure, larger is better; for ranks across sets."""
    measure, sign = table.measures[0], -1.0 if table.lower_is_better else 1.0
    found: dict[str, dict[str, float]] = {}
    for name in table.sets:
        for method in table.methods(name):
            values = [e["measures"].get(measure, math.nan) for e in log.of(table.name, name, method)]
            if not np.isnan(values).all():
                found.setdefault(name, {})[method] = sign * float(np.nanmean(values))
    return found
