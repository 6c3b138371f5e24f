"""What was published beside what came out: how far apart, and what that counts as."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from lopsided.evaluate import RunLog, wins_ties_losses
from lopsided.reproduce.published import Cell, published_cells
from lopsided.reproduce.table import LITERAL, Table

_NOT_QUALITY = {"seconds", "vectors"}
_LEVEL = 0.05


class Verdict(Enum):
    """What a cell counts as; the first that holds."""

    WITHIN = "within one standard deviation"
    NEAR = "within the tolerance"  # figures that were printed without a deviation, or with a tiny one
    ONE_CLASS = "no better than one class"  # and further from the published figure than that
    BETTER = "better"
    WORSE = "worse"
    NOT_RUN = "not run"


class Measured(NamedTuple):
    """The runs of one method on one set."""

    mean: float = math.nan
    deviation: float = math.nan
    runs: int = 0
    parameters: str = ""


NO_RUNS = Measured()


@dataclass(frozen=True)
class Outcome:
    """One published figure, the runs of the published algorithm, and those of ours where it is another."""

    cell: Cell
    verdict: Verdict
    here: Measured = NO_RUNS
    ours: Measured = NO_RUNS
    near: bool = False  # within the tolerance, to either side
    within: bool = False  # within one published deviation, to either side
    alike: bool = False  # printed with a deviation, and no different by a t-test

    @property
    def difference(self) -> float:
        """Here minus published."""
        return self.here.mean - self.cell.value

    @property
    def in_deviations(self) -> float:
        """The difference in published standard deviations; nan where none was printed."""
        return self.difference / self.cell.deviation if self.cell.deviation > 0 else math.nan

    def as_json(self) -> dict[str, Any]:
        """For machines; nan becomes null."""
        here, ours = self.here, self.ours
        flat = {**asdict(self.cell), "here": here.mean, "here_deviation": here.deviation, "runs": here.runs}
        flat |= {"difference": self.difference, "in_deviations": self.in_deviations, "verdict": self.verdict.value}
        flat |= {"near": self.near, "within": self.within, "parameters": here.parameters}
        if ours.runs:
            flat |= {"ours": ours.mean, "ours_deviation": ours.deviation, "ours_runs": ours.runs}
            flat |= {"ours_parameters": ours.parameters}
        return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in flat.items()}


Wins = dict[str, tuple[int, int, int]]  # by the other method: sets won, tied, lost


def outcomes(table: Table, log: RunLog) -> list[Outcome]:
    """Every published figure of quality, in the order of print; seconds and vectors are no matter of quality."""
    found = []
    for cell in published_cells(table.name):
        if cell.measure not in _NOT_QUALITY:
            name = method_for(table, cell)
            if table.difference_of(cell.method) is None:
                found.append(judged(table, cell, _measured(table, log, cell, name)))
            else:
                here, ours = (_measured(table, log, cell, one) for one in (name + LITERAL, name))
                found.append(judged(table, cell, here, ours))
    return found


def read_outcomes(table: Table, summary: Mapping[str, Any]) -> list[Outcome]:
    """The outcomes behind a JSON file, judged anew from its figures."""
    found = []
    for one in summary["cells"]:
        printed = one["table"], one["data"], one["method"], one["measure"]
        here = Measured(_number(one["here"]), _number(one["here_deviation"]), one["runs"], one["parameters"])
        ours = NO_RUNS
        if "ours" in one:
            figures = _number(one["ours"]), _number(one["ours_deviation"])
            ours = Measured(*figures, one["ours_runs"], one["ours_parameters"])
        found.append(judged(table, Cell(*printed, one["value"], _number(one["deviation"])), here, ours))
    return found


def with_earlier(table: Table, results: Sequence[Outcome], summary: Mapping[str, Any]) -> list[Outcome]:
    """These outcomes; what was not run now, or less often, is as an earlier JSON file has it, whose log is not kept.

    So a single run, for the sake of vectors and times, does not take the place of a mean over many. To begin anew,
    remove the JSON file.
    """
    earlier = {_place(outcome): outcome for outcome in read_outcomes(table, summary)}
    found = []
    for result in results:
        known = earlier.get(_place(result), result)
        pairs = (result.here, known.here), (result.ours, known.ours)
        here, ours = (now if now.runs >= then.runs else then for now, then in pairs)
        found.append(judged(table, result.cell, here, ours))
    return found


def _place(outcome: Outcome) -> tuple[str, str, str]:
    return outcome.cell.data, outcome.cell.method, outcome.cell.measure


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def method_for(table: Table, cell: Cell) -> str:
    """The method that makes a cell; a table that tunes for each measure has one of each."""
    specific = f"{cell.method} {cell.measure}"
    known = table.methods(cell.data) if cell.data in table.sets else {}
    return specific if specific in known else cell.method


def _measured(table: Table, log: RunLog, cell: Cell, method: str) -> Measured:
    entries = log.of(table.name, cell.data, method)
    values = [entry["measures"][cell.measure] for entry in entries if cell.measure in entry["measures"]]
    if not values:
        return NO_RUNS
    deviation = float(np.nanstd(values, ddof=1)) if len(values) > 1 else 0.0
    return Measured(float(np.nanmean(values)), deviation, len(values), described(entries[0]["parameters"]))


def described(parameters: Mapping[str, Any]) -> str:
    """Parameters as the pages name them."""
    return ", ".join(f"{name} = {_short(value)}" for name, value in parameters.items())


def judged(table: Table, cell: Cell, here: Measured, ours: Measured = NO_RUNS) -> Outcome:
    """What the runs say about a published figure; by the published algorithm alone."""
    if not here.runs:
        return Outcome(cell, Verdict.NOT_RUN, here, ours)
    difference = here.mean - cell.value
    near, within = abs(difference) <= table.tolerance, abs(difference) <= cell.deviation  # never if that is nan
    if within:
        verdict = Verdict.WITHIN
    elif near:
        verdict = Verdict.NEAR
    elif (difference < 0) != table.lower_is_better:
        verdict = Verdict.WORSE
    else:
        verdict = Verdict.ONE_CLASS if _no_better_than_one_class(table, cell, here) else Verdict.BETTER
    printed = Measured(cell.value, cell.deviation, table.runs)
    alike = not math.isnan(cell.deviation) and not differs(printed, here, table.tolerance)
    return Outcome(cell, verdict, here, ours, near, within, alike)


def differs(first: Measured, second: Measured, tolerance: float, *, tested: bool = True) -> bool:
    """Whether two means differ at 95 %, by Welch's t-test; where nothing can be tested, by more than the tolerance."""
    if not tested or min(first.runs, second.runs) < 2 or first.deviation + second.deviation == 0.0:
        return round(abs(first.mean - second.mean), 9) > tolerance
    return bool(stats.ttest_ind_from_stats(*first[:3], *second[:3], equal_var=False).pvalue < _LEVEL)


def _no_better_than_one_class(table: Table, cell: Cell, here: Measured) -> bool:
    """Whether a share of right or wrong answers is what always answering the larger class gives, or worse than that."""
    if cell.data not in table.rarer:
        return False
    wrong = here.mean if table.lower_is_better else 100.0 - here.mean
    return wrong >= table.rarer[cell.data] - max(table.tolerance, here.deviation)


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def counts(results: Sequence[Outcome]) -> dict[Verdict, int]:
    """How many cells there are of each verdict."""
    return {verdict: sum(result.verdict is verdict for result in results) for verdict in Verdict}


def wins(table: Table, log: RunLog) -> Wins:
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


def wins_with_earlier(table: Table, log: RunLog, earlier: Mapping[str, Any]) -> Wins:
    """The same; where an earlier summary has tests over more sets than the log, these stand."""
    found = dict(wins(table, log))
    for method, record in earlier.get("wins", {}).items():
        if sum(record) > sum(found.get(method, ())):
            won, tied, lost = record
            found[method] = (won, tied, lost)
    return found


def all_means(table: Table, log: RunLog, results: Sequence[Outcome]) -> Mapping[str, Mapping[str, float]]:
    """Set -> method -> mean, as `means` has it, also of figures that only an earlier summary has."""
    found = {name: dict(own) for name, own in means(table, log).items()}
    sign = -1.0 if table.lower_is_better else 1.0
    for result in results:
        if result.cell.measure == table.measures[0]:
            method, own = result.cell.method, found.setdefault(result.cell.data, {})
            literal = method if table.difference_of(method) is None else method + LITERAL
            for name, measured in ((literal, result.here), (method, result.ours)):
                if measured.runs:
                    own.setdefault(name, sign * measured.mean)
    return {name: found[name] for name in table.sets if found.get(name)}


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
