"""B2RMK and OB2RMK next to the published figures: test AUC over 5 folds x 4 repetitions.

    python benchmarks/evidence_b2rmk.py --data DIR [--sets sonar,glass] [--jobs 2] [--markdown docs/evidence/b2rmk.md]

DIR as for evidence_koil.py: npz files with `X`, `y` and the folds `idx_cv` (random ones, seed 0, where there are none).
Features are mapped to [-1, 1] by column.
Batch: at most 200 sweeps. Online: the training rows in a random order (seed: the run's number); the batch fit runs on
the first tenth of the data set (half a fold), 100 vectors a class, 3 neighbours, C = 1, 30 iterations. "Literal" is
`variant="published"`, "default" refits what the buffers hold after every 100 examples.
"""

from __future__ import annotations

import argparse
import os
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core a process

import numpy as np

from lopsided import B2RMK, OB2RMK
from lopsided.metrics import auroc
from pages import write_measured

# set: batch (mean), online (mean), as published
PUBLISHED = {
    "sonar": (0.942, 0.915),
    "glass": (0.898, 0.896),
    "heart": (0.905, 0.895),
    "bupaliver": (0.755, 0.758),
    "ionosphere": (0.980, 0.982),
    "diabetes": (0.832, 0.824),
    "fourclass": (1.000, 1.000),
    "german": (0.795, 0.768),
    "segment": (None, 0.984),
    "svmguide3": (None, 0.732),
}


def one_run(folder: Path, name: str, run: int) -> dict[str, float]:
    """AUC and milliseconds an example of the three learners on one split."""
    with np.load(folder / f"{name}.npz") as file:
        X, y = file["X"].astype(np.float64), np.where(file["y"] == 1, 1, -1)
        draw, by_position = np.random.default_rng(0), np.arange(y.size) % 5 + 1
        drawn = np.stack([draw.permutation(by_position) for _ in range(4)], axis=1)
        folds = file["idx_cv"] if "idx_cv" in file.files else drawn
    low, width = X.min(axis=0), np.ptp(X, axis=0)
    X = np.where(width > 0, 2.0 * (X - low) / np.where(width > 0, width, 1.0) - 1.0, 0.0)
    repetition, fold = divmod(run, 5)
    is_test = folds[:, repetition] == fold + 1
    train = np.random.default_rng(run).permutation(np.flatnonzero(~is_test))
    warm_up = max(2, round(y.size / 10))
    learners: dict[str, B2RMK | OB2RMK] = {
        "literal": OB2RMK("published", warm_up=warm_up),
        "default": OB2RMK(warm_up=warm_up),
    }
    if PUBLISHED[name][0] is not None:
        learners["batch"] = B2RMK()
    found = {}
    for key, learner in learners.items():
        began = time.perf_counter()
        learner.fit(X[train], y[train])
        found[f"{key} ms"] = (time.perf_counter() - began) / train.size * 1e3
        found[key] = auroc(y[is_test], learner.decision_function(X[is_test]))
    return found


def cell(values: list[float], published: float | None) -> str:
    mean = float(np.mean(values))
    difference = "" if published is None else f" ({mean - published:+.3f})"
    return f"{mean:.3f} ± {np.std(values):.3f}{difference}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the npz files")
    parser.add_argument("--sets", default=",".join(PUBLISHED))
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--markdown", type=Path, help="page to write the table into, between its marks")
    arguments = parser.parse_args()
    lines = [
        "| set | batch, published | batch, here | online, published | literal | default | ms an example |",
        "|---|---|---|---|---|---|---|",
    ]
    with ProcessPoolExecutor(arguments.jobs, mp_context=get_context("spawn")) as processes:
        for name in arguments.sets.split(","):
            tasks = [processes.submit(one_run, arguments.data, name, run) for run in range(arguments.runs)]
            runs = [task.result() for task in tasks]
            column = {key: [run[key] for run in runs] for key in runs[0]}
            batch, online = PUBLISHED[name]
            here = cell(column["batch"], batch) if batch is not None else "-"
            cells = [f"{batch:.3f}" if batch is not None else "-", here, f"{online:.3f}"]
            cells += [cell(column["literal"], online), cell(column["default"], online)]
            cost = f"{np.mean(column['literal ms']):.1f} / {np.mean(column['default ms']):.1f}"
            lines.append(f"| {name} | {' | '.join(cells)} | {cost} |")
            print(lines[-1], flush=True)
    if arguments.markdown:
        write_measured(arguments.markdown, f"{arguments.runs} runs a set.\n\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
