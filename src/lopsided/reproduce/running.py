"""Run a table: every method on every set that is at hand, in processes, logged, resumable."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning

from lopsided import DivergenceWarning
from lopsided.datasets import Dataset
from lopsided.evaluate import RunLog
from lopsided.evaluate.records import in_parallel
from lopsided.reproduce.table import Effort, Entry, Table, forget_sets

QUICK_RUNS, QUICK_ROWS = 3, 2000


@dataclass(frozen=True)
class Progress:
    """One cell is done: which, how many of how many, and what went wrong if anything did."""

    set_name: str
    method: str
    done: int
    total: int
    error: str | None = None


@dataclass(frozen=True)
class AtHand:
    """Which sets of a table can be run here, and why the others cannot."""

    ready: dict[str, Dataset]
    missing: dict[str, str]


def sets_at_hand(table: Table, *, sets: Sequence[str] | None, data: str | Path | None, quick: bool = False) -> AtHand:
    """Load what there is; a set that was asked for by name and is not known is an error."""
    names = [*table.sets, *table.impossible]
    for name in sets or ():
        if name not in names:
            raise ValueError(f"The sets of {table.name} must be among {', '.join(names)}, got {name!r}.")
    forget_sets()
    ready: dict[str, Dataset] = {}
    missing: dict[str, str] = {}
    for name in sets or names:
        if name in table.impossible:
            missing[name] = table.impossible[name]
            continue
        try:
            dataset = table.load(name, data)
        except (ValueError, ModuleNotFoundError):
            missing[name] = "not at hand here; `lopsided datasets` says how to get it"
            continue
        if quick and not sets and dataset.n_rows > QUICK_ROWS:
            missing[name] = f"left out by --quick: more than {QUICK_ROWS} rows"
            continue
        ready[name] = dataset
    return AtHand(ready, missing)


def cells(table: Table, at_hand: AtHand, methods: Sequence[str] | None = None) -> list[tuple[str, str]]:
    """Set and method of every cell to run, the smallest sets first."""
    found = []
    for name, dataset in sorted(at_hand.ready.items(), key=lambda item: item[1].n_rows):
        for method_name, method in table.methods(name).items():
            if methods is not None and method_name not in methods:
                continue
            if method.most_rows is None or dataset.n_rows <= method.most_rows:
                found.append((name, method_name))
    return found


def run_table(
    table: Table,
    wanted: Sequence[tuple[str, str]],
    log: RunLog,
    *,
    data: str | Path | None,
    effort: Effort,
    jobs: int = 2,
    workers: Executor | None = None,
) -> Iterator[Progress]:
    """Run the cells that the log does not have yet, in so many processes or by other workers.

    Each is logged as soon as it is done.
    """
    forget_sets()
    open_cells = [cell for cell in wanted if not log.has(table.name, *cell, runs=effort.runs)]
    done = len(wanted) - len(open_cells)
    tasks = [(table, set_name, method, data, effort) for set_name, method in open_cells]
    for task, outcome in in_parallel(perform, tasks, jobs=jobs, workers=workers):
        done += 1
        _, set_name, method, _, _ = task
        if isinstance(outcome, Exception):
            yield Progress(set_name, method, done, len(wanted), f"{type(outcome).__name__}: {outcome}")
            continue
        log.add(outcome)
        yield Progress(set_name, method, done, len(wanted))


def perform(table: Table, set_name: str, method: str, data: str | Path | None, effort: Effort) -> list[Entry]:
    """One cell, in whichever process this is."""
    with warnings.catch_warnings():
        # A setting that diverges or does not converge is one that tuning will not choose.
        for category in (DivergenceWarning, ConvergenceWarning):
            warnings.simplefilter("ignore", category)
        return table.perform(table, set_name, method, table.load(set_name, data), effort)
