"""The search behind OB2RMK's default: settings compared on inner folds of training rows, never on a test row.

    python benchmarks/choose_ob2rmk.py --data DIR [--sets sonar,glass] [--markdown docs/evidence/ob2rmk-default.md]

Each setting learns four fifths of the training rows of the first split and ranks the rest, five times; features in
[-1, 1], a batch fit on the first tenth.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from lopsided import OB2RMK
from lopsided.datasets import load
from lopsided.evaluate import fold_splits
from lopsided.metrics import auroc
from lopsided.reproduce.table import scaled
from pages import write_measured

SETTINGS = {
    "as published": {"variant": "published"},
    "start from labels": {"start": "label", "refit": None},
    "refit every 100": {"refit": 100},
    "refit every 50": {"refit": 50},
    "labels, refit every 100": {"start": "label", "refit": 100},
}
SETS = "sonar,glass,heart,bupaliver,ionosphere,diabetes,german"


def inner_auc(data: str, name: str, setting: str) -> float:
    dataset = scaled(load(name, data=data), "symmetric")
    rows = fold_splits(dataset)[0].train
    X, y = dataset.X[rows], dataset.y[rows]
    labels = np.random.default_rng(0).permutation(rows.size) % 5
    found = []
    for fold in range(5):
        held = labels == fold
        learner = OB2RMK(warm_up=max(20, round(rows.size / 8)), **SETTINGS[setting]).fit(X[~held], y[~held])
        found.append(auroc(y[held], learner.decision_function(X[held])))
    return float(np.mean(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder with the npz files")
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--markdown", type=Path, help="page to write the table into, between its marks")
    arguments = parser.parse_args()
    names = arguments.sets.split(",")
    lines = [f"| setting | {' | '.join(names)} | mean |", "|---" * (len(names) + 2) + "|"]
    with ProcessPoolExecutor(arguments.jobs, mp_context=get_context("spawn")) as processes:
        for setting in SETTINGS:
            tasks = [processes.submit(inner_auc, arguments.data, name, setting) for name in names]
            values = [task.result() for task in tasks]
            lines.append(f"| {setting} | {' | '.join(f'{v:.3f}' for v in values)} | **{np.mean(values):.3f}** |")
            print(lines[-1], flush=True)
    if arguments.markdown:
        write_measured(arguments.markdown, "\n".join(lines))


if __name__ == "__main__":
    main()
