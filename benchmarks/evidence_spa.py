"""SPA with a budget against SPA with the fixed sampling_scale that ends with as many vectors.

    python benchmarks/evidence_spa.py --data DIR [--permutations 5] [--markdown docs/evidence/spa.md]

DIR holds a9a.npz. Online accuracy over random permutations, kernel exp(-0.4 d^2). The published tables are made again
by `lopsided reproduce spa-2`, `spa-3`, `spa-5` and `spa-6`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import lopsided as lp
from lopsided.datasets import load_from_folder
from pages import write_measured

GAMMA = 0.4
START = 27_000.0  # vectors times sampling_scale, roughly: where the search for the scale begins


def online_accuracy(learner: Any, X: Any, y: np.ndarray) -> float:
    """Percent right before learning; a score of exactly 0 is a mistake."""
    return 100.0 * float((learner.progressive_scores(X, y) * y > 0).mean())


def budget_table(folder: Path, permutations: int) -> list[str]:
    """SPA with a budget against the fixed sampling_scale that ends with as many vectors (within 2 %)."""
    dataset = load_from_folder(folder, "a9a")
    X, y = dataset.X, np.where(dataset.y == 1, 1, -1)
    lines = [
        "| a9a, SPA with a budget | here % | vectors | fixed sampling_scale | here % | vectors | difference |",
        "|---|---|---|---|---|---|---|",
    ]
    for budget in (400, 1400):
        found = []
        for seed in range(permutations):
            order = np.random.default_rng(seed).permutation(y.size)
            rows, labels = X[order], y[order]
            bounded = lp.SPA(sampling_scale=1.0, budget=budget, gamma=GAMMA, learning_rate=1.0, random_state=seed)
            accuracy = online_accuracy(bounded, rows, labels)
            scale = START / bounded.n_support_
            for _ in range(10):
                fixed = lp.SPA(sampling_scale=scale, gamma=GAMMA, learning_rate=1.0, random_state=seed)
                fixed.partial_fit(rows, labels)
                if abs(fixed.n_support_ / bounded.n_support_ - 1.0) < 0.02:
                    break
                scale *= fixed.n_support_ / bounded.n_support_
            fixed = lp.SPA(sampling_scale=scale, gamma=GAMMA, learning_rate=1.0, random_state=seed)
            found.append((accuracy, bounded.n_support_, scale, online_accuracy(fixed, rows, labels), fixed.n_support_))
        a, n, scale, b, m = np.mean(found, axis=0)
        lines.append(f"| budget {budget} | {a:.2f} | {n:.0f} | {scale:.1f} | {b:.2f} | {m:.0f} | {a - b:+.2f} |")
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the npz files")
    parser.add_argument("--permutations", type=int, default=5)
    parser.add_argument("--markdown", type=Path, help="page to write the tables into, between its marks")
    arguments = parser.parse_args()
    lines = budget_table(arguments.data, arguments.permutations)
    if arguments.markdown:
        write_measured(arguments.markdown, f"{arguments.permutations} permutations.\n\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
