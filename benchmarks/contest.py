"""A contest of many learners on many streams: its log, and the tables of ranks and significance made from it."""

from __future__ import annotations

import argparse
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from lopsided.datasets import overlapping
from lopsided.evaluate import RunLog
from pages import write_measured
from ranks import Ranked, dotted, ranked, said
from rare_plays import Measures

HERE = Path(__file__).parent
Cell = tuple[str, str, int]  # set, method, run
Means = dict[str, dict[str, Measures]]  # set, method, measure


@dataclass(frozen=True)
class Contest:
    """Who takes part on which sets, what is measured, and the files of the log and of the page."""

    table: str
    sets: Sequence[str]
    contestants: Mapping[str, Callable[[int], Any]]
    play: Callable[[str, str, int], Measures]  # of set, method, run
    shown: Sequence[tuple[str, str]]  # measures and their titles
    reference: str
    log: Path
    page: Path


def run_missing(log: RunLog, contest: Contest, cells: Iterable[Cell]) -> None:
    """Run the cells that are not in the log yet, and say how far it is; each entry says which commit it is of."""
    done = {(entry["set"], entry["method"], entry["run"]) for entry in log.entries if entry["table"] == contest.table}
    missing, commit = [cell for cell in cells if cell not in done], current_commit()
    first = overlapping(60, 5, 0.3, random_state=0)
    for name in {name for _, name, _ in missing}:
        contest.contestants[name](0).progressive_scores(first.X, first.y, classes=[0, 1])  # what compiles does so now
    for k, (kind, name, run) in enumerate(missing, start=1):
        began = time.monotonic()
        measures = {key: round(value, 4) for key, value in contest.play(kind, name, run).items()}
        what = {"table": contest.table, "set": kind, "method": name, "run": run, "commit": commit}
        log.add([what | {"measures": measures}])
        shown = ", ".join(f"{key} {value:.3f}" for key, value in measures.items() if key in ("auc", "ap", "gmean"))
        spent = time.monotonic() - began
        print(
            f"[{k}/{len(missing)}] {kind}, {name}, run {run}: {shown}, {measures['us']:.0f} us, {spent:.1f} s",
            flush=True,
        )


def current_commit() -> str:
    """The commit whose code is run, or nothing outside of a repository."""
    asked = ["git", "-C", str(HERE), "rev-parse", "--short", "HEAD"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()


def without(path: Path, names: Iterable[str]) -> RunLog:
    """The log without the runs of these contestants, on disk too."""
    kept = [entry for entry in RunLog(path).entries if entry["method"] not in set(names)]
    beside = path.with_suffix(".new")
    beside.unlink(missing_ok=True)
    RunLog(beside).add(kept)
    beside.replace(path)
    return RunLog(path)


def means_of(log: RunLog, contest: Contest) -> Means:
    """Means over the runs, of contestants that were run on every set."""
    table, kinds = contest.table, contest.sets
    everywhere = [name for name in contest.contestants if all(log.of(table, kind, name) for kind in kinds)]
    found: Means = {kind: {} for kind in kinds}
    for kind in kinds:
        for name in everywhere:
            runs = [entry["measures"] for entry in log.of(table, kind, name)]
            found[kind][name] = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
    return found


def commits_of(log: RunLog, name: str) -> str:
    """Which commits the runs of a contestant are of."""
    return ", ".join(sorted({entry["commit"] for entry in log.entries if entry["method"] == name}))


def tests_of(means: Means, contest: Contest) -> dict[str, Ranked]:
    """Ranks and significance by each measure."""
    return {
        key: ranked({kind: {name: own[name][key] for name in own} for kind, own in means.items()}, contest.reference)
        for key, _ in contest.shown
    }


def with_ranks(means: Means, tests: Mapping[str, Ranked], name: str) -> list[str]:
    """Cells of a method: the mean over all sets by each measure, with its mean rank."""
    return [f"{dotted(mean_of(means, means, name, key))} ({test.mean_ranks[name]:.1f})" for key, test in tests.items()]


def mean_of(means: Means, kinds: Iterable[str], name: str, key: str) -> float:
    """The mean of a measure over some of the sets."""
    return float(np.mean([means[kind][name][key] for kind in kinds]))


def beside_each(tests: Mapping[str, Ranked], contest: Contest, names: Iterable[str]) -> list[str]:
    """A table of rivals: sets on which the reference is better, as good and worse, and the corrected p."""
    lines = [
        "| against | " + " | ".join(f"{title} | p" for _, title in contest.shown) + " |",
        "|---" * (2 * len(contest.shown) + 1) + "|",
    ]
    for name in names:
        cells = []
        for key, _ in contest.shown:
            cells += ["/".join(map(str, tests[key].won[name])), *said(tests[key].p, [name])]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def largest_friedman(tests: Mapping[str, Ranked]) -> str:
    """The largest p of Friedman's tests, in words."""
    largest = max(test.friedman_p for test in tests.values())
    return "below .001" if largest < 0.001 else f"at most {largest:.3f}"


def command(contest: Contest, page: Callable[[RunLog], str], *, doc: str, runs: int) -> None:
    """The command line of a contest: run what the log lacks, make the page."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--runs", type=int, default=runs, help="runs on each set; 0 runs nothing")
    parser.add_argument("--methods", help="contestants, separated by ';' (default: all)")
    parser.add_argument("--again", help="contestants whose cells are run again, separated by ';'")
    parser.add_argument("--write", action="store_true", help="make the page from the log")
    arguments = parser.parse_args()
    names = list(contest.contestants) if arguments.methods is None else arguments.methods.split(";")
    if unknown := [name for name in names if name not in contest.contestants]:
        parser.error(f"--methods must be among {'; '.join(contest.contestants)}, got {'; '.join(unknown)}")
    log = without(contest.log, arguments.again.split(";")) if arguments.again else RunLog(contest.log)
    cells = [(kind, name, run) for run in range(1, arguments.runs + 1) for name in names for kind in contest.sets]
    with threadpool_limits(1):
        run_missing(log, contest, cells)
    if arguments.write:
        write_measured(contest.page, page(log))
