"""Do 90 % intervals of OB2RMK hold the rank of an example among negatives never seen?

    python benchmarks/evidence_rank_intervals.py --data DIR [--runs 10] [--markdown docs/evidence/rank-intervals.md]

DIR holds the sets as NAME.npz (`X`, `y`). Features are mapped to [-1, 1]. A run learns from a random 60 % of the rows,
at most 700, and asks for the intervals of the others; the truth is the share of their negatives that score lower.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from lopsided import OB2RMK
from pages import write_measured

SETS = "diabetes,german,segment,satimage,magic04,spambase,svmguide3"
MOST_LEARNED = 700


def one_run(folder: Path, name: str, run: int) -> tuple[float, float]:
    """Coverage and mean width of the intervals."""
    with np.load(folder / f"{name}.npz") as file:
        X, y = file["X"].astype(np.float64), file["y"]
    low, width = X.min(axis=0), np.ptp(X, axis=0)
    X = np.where(width > 0, 2.0 * (X - low) / np.where(width > 0, width, 1.0) - 1.0, 0.0)
    order = np.random.default_rng(1000 + run).permutation(y.size)
    n = min(int(0.6 * y.size), MOST_LEARNED)
    train, rest = order[:n], order[n : n + 5000]
    learner = OB2RMK().partial_fit(X[train], y[train], classes=[-1, 1])
    scores = learner.decision_function(X[rest])
    low, high = learner.rank_interval(X[rest]).T
    negatives = np.sort(scores[y[rest] < 0])
    truth = np.searchsorted(negatives, scores) / negatives.size
    return float(np.mean((low <= truth) & (truth <= high))), float(np.mean(high - low))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the npz files")
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--markdown", type=Path, help="page to write the table into, between its marks")
    arguments = parser.parse_args()
    lines = ["| set | coverage | of single runs, lowest and highest | mean width |", "|---|---|---|---|"]
    every: list[float] = []
    with ProcessPoolExecutor(arguments.jobs, mp_context=get_context("spawn")) as processes:
        for name in arguments.sets.split(","):
            tasks = [processes.submit(one_run, arguments.data, name, run) for run in range(arguments.runs)]
            coverage, width = np.array([task.result() for task in tasks]).T
            every += coverage.tolist()
            spread = f"{coverage.min():.2f} to {coverage.max():.2f}"
            lines.append(f"| {name} | {coverage.mean():.3f} | {spread} | {width.mean():.2f} |")
            print(lines[-1], flush=True)
    lines.append(f"| all | **{np.mean(every):.3f}** | {min(every):.2f} to {max(every):.2f} | |")
    print(lines[-1])
    if arguments.markdown:
        write_measured(arguments.markdown, f"{arguments.runs} runs a set.\n\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
