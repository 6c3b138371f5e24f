"""Whether a row costs the same after ten million rows as at the beginning, in time and in memory, for every learner.

    python benchmarks/cost_against_length.py [--rows 10000000] [--seconds 20] [LEARNER ...]

A stream of 8 numbers with 5 % positives that overlap, made in portions as it goes. Every learner that learns online
runs with its defaults. One that would take longer than so many seconds gets fewer rows, and so does one that keeps what
it learns without a bound, whose cost must grow; the table says how many and why. With 200 seconds each, all that are
bounded get ten million rows, but for OB2RMK, which gets 100,000. Time is of the processor, the median of the portions
of the first and of the last tenth; memory is that of the model (`nbytes_`).
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
SETTLED, LONGEST_TRIAL = 30_000, 2.0  # rows, or seconds, after which a row costs what later ones will
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


def later_seconds_a_row(learner: Any, rows: int) -> float:
    """What a row costs once the learner has as much as it will keep: the first ones may cost less, or more."""
    rng, spent = np.random.default_rng(0), 0.0
    for _ in range(0, rows, TRIED):
        spent += (latest := seconds_of(learner, rng, TRIED))
        if spent > LONGEST_TRIAL:
            break
    return latest / TRIED


def measured(name: str, most_rows: int, most_seconds: float) -> str:
    """A line of the table."""
    fresh(name).compile_ahead(FEATURES)
    entry, tried = registry.entry(name), fresh(name)
    assert entry is not None
    is_bounded = entry.claims("bounded", tried)
    most_rows = most_rows if is_bounded else min(most_rows, MOST_UNBOUNDED)
    a_row = later_seconds_a_row(tried, min(most_rows, SETTLED))
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
    why = "" if rows == most_rows else f"as many as take {most_seconds:g} s"
    why = why if is_bounded else f"keeps what it learns: no bound, so no more than {MOST_UNBOUNDED:,} rows"
    cost, kept = f"{first:.2f} | {last:.2f} | {last / first:.2f}", f"{memory / 1e3:,.0f} | {learner.nbytes_ / 1e3:,.0f}"
    return f"| {name} | {rows:,} | {cost} | {kept} | {why} |"


def length_table(most_rows: int, most_seconds: float, names: list[str]) -> str:
    """All learners, as lines of a table, printed as they come."""
    lines = [
        f"{FEATURES} features, 5 % positives, up to {most_rows:,} rows and about {most_seconds:g} seconds each. "
        "Microseconds of the processor a row in the first and the last tenth; kB of the model after the first tenth "
        "and at the end.",
        "",
        "| learner | rows | first tenth, us | last tenth, us | ratio | first tenth, kB | end, kB | why not more rows |",
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
