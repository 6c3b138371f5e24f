"""Whether a row costs the same after ten million rows as at the beginning, in time and in memory, for every learner.

    python benchmarks/cost_against_length.py [--rows 10000000] [--seconds 20] [LEARNER ...]

A stream of 8 numbers with 5 % positives that overlap, made in portions as it goes. Every learner that learns online
runs with its defaults. One that would take longer than so many seconds gets fewer rows, and the table says how many.
Time is of the processor, the median of the portions of the first and of the last tenth; memory is that of the model
(`nbytes_`).
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import lopsided as lp
from lopsided.estimators import registry
from pages import write_measured

FEATURES, PORTION, TRIED = 8, 20_000, 2_000
MOST_UNBOUNDED = 10_000  # rows of a learner whose cost grows with what it keeps
LENGTHS = (10_000_000, 1_000_000, 100_000, 10_000, 2_000)


def portion(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The next rows of the stream, and their labels."""
    y = rng.random(n) < 0.05
    X = rng.standard_normal((n, FEATURES))
    X[y, :4] += 1.0
    return X, y.astype(np.int64)


def fresh(name: str) -> Any:
    learner = getattr(lp, name)()
    return learner.set_params(random_state=0) if "random_state" in learner.get_params() else learner


def seconds_of(learner: Any, rng: np.random.Generator, n: int) -> float:
    X, y = portion(rng, n)
    began = time.process_time()
    learner.partial_fit(X, y, classes=[0, 1])
    return time.process_time() - began


def measured(name: str, most_rows: int, most_seconds: float) -> str:
    """A line of the table."""
    fresh(name).compile_ahead(FEATURES)
    tried, rng = fresh(name), np.random.default_rng(0)
    seconds_of(tried, rng, TRIED)
    a_row = seconds_of(tried, rng, TRIED) / TRIED
    entry = registry.entry(name)
    assert entry is not None
    is_bounded = entry.claims("bounded", tried)
    most_rows = most_rows if is_bounded else min(most_rows, MOST_UNBOUNDED)
    affordable = [n for n in LENGTHS if n <= most_rows and n * a_row <= most_seconds]
    rows = affordable[0] if affordable else LENGTHS[-1]
    learner, rng, size = fresh(name), np.random.default_rng(1), min(PORTION, rows // 20)
    costs: list[float] = []
    for done in range(0, rows, size):
        costs.append(seconds_of(learner, rng, size) / size * 1e6)
        if done + size == rows // 10:
            memory = learner.nbytes_
    tenth = len(costs) // 10
    first, last = statistics.median(costs[:tenth]), statistics.median(costs[-tenth:])
    bounded = "" if is_bounded else "not bounded by design"
    cost, kept = f"{first:.2f} | {last:.2f} | {last / first:.2f}", f"{memory / 1e3:,.0f} | {learner.nbytes_ / 1e3:,.0f}"
    return f"| {name} | {rows:,} | {cost} | {kept} | {bounded} |"


def length_table(most_rows: int, most_seconds: float, names: list[str]) -> str:
    """All learners, as lines of a table, printed as they come."""
    lines = [
        f"{FEATURES} features, 5 % positives, up to {most_rows:,} rows and about {most_seconds:g} seconds each. "
        "Microseconds of the processor a row in the first and the last tenth; kB of the model after the first tenth "
        "and at the end.",
        "",
        "| learner | rows | first tenth, us | last tenth, us | ratio | first tenth, kB | end, kB | |",
        "|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    learners = registry.entries(is_learner=True, online=True, takes_tables=False)
    for name in names or [entry.name for entry in learners if entry.family != "compose"]:  # those cost what is in them
        lines.append(measured(name, most_rows, most_seconds))
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("learners", nargs="*")
    parser.add_argument("--rows", type=int, default=LENGTHS[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--write", type=Path, help="a page to put the table into, between its marks")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    text = length_table(arguments.rows, arguments.seconds, arguments.learners)
    if arguments.write:
        write_measured(arguments.write, text, "length")


if __name__ == "__main__":
    main()
