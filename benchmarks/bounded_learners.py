"""Which bounded learner when: all kernel learners with room for 200 vectors on real imbalanced streams.

    python benchmarks/bounded_learners.py

Nine KEEL streams (features in [0, 1], shuffled once), Gaussian kernel with gamma = 10, other parameters by default, one
pass, each example scored before it is learned. Mean over the streams of AUC, average precision and the share of
examples on the right side of zero; vectors at the end and microseconds an example in the mean.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.base import clone

import lopsided as lp
from lopsided.datasets import load_keel
from lopsided.metrics import auroc, average_precision
from which_learner import SETS

G: dict[str, Any] = {"gamma": 10.0, "random_state": 0}
LEARNERS: dict[str, Any] = {
    "KOIL, 100 + 100": lp.KOIL(budget=100, **G),
    "KOIL, C=10, 100 + 100": lp.KOIL(C=10, budget=100, **G),
    "OILK": lp.OILK(budget=200, **G),
    "SPA, budget 200": lp.SPA(sampling_scale=2.0, budget=200, **G),
    "SPA": lp.SPA(sampling_scale=2.0, **G),
    "OSKL": lp.OSKL(sparsity=2.0, **G),
    "BPA-S": lp.BPAS(budget=200, **G),
    "BOGD": lp.BOGD(budget=200, **G),
    "Forgetron": lp.Forgetron(budget=200, **G),
    "RBP": lp.RBP(budget=200, **G),
    "Projectron": lp.Projectron(budget=200, **G),
    "Projectron++": lp.ProjectronPP(budget=200, **G),
    "NORMA, budget 200": lp.NORMA(budget=200, **G),
    "KernelPA, unbounded": lp.KernelPA(**G),
    "KernelOGD, unbounded": lp.KernelOGD(**G),
    "KernelPerceptron, unbounded": lp.KernelPerceptron(**G),
}


def main() -> None:
    streams = [load_keel(name) for name in SETS]
    print("| learner | AUC | average precision | accuracy | vectors | microseconds |")
    print("|---|---|---|---|---|---|")
    for name, learner in LEARNERS.items():
        clone(learner).partial_fit(streams[0].X, streams[0].y)  # compiles
        rows = []
        for stream in streams:
            model = clone(learner)
            began = time.perf_counter()
            scores = model.progressive_scores(stream.X, stream.y)
            seconds = time.perf_counter() - began
            right = ((scores > 0) == (stream.y == 1)).mean()
            area, precision = auroc(stream.y, scores), average_precision(stream.y, scores)
            rows.append([area, precision, right, model.n_support_, seconds / stream.n_rows * 1e6])
        area, precision, right, vectors, microseconds = np.mean(rows, axis=0)
        print(
            f"| {name} | {area:.3f} | {precision:.3f} | {right:.3f} | {vectors:.0f} | {microseconds:.1f} |", flush=True
        )
    nothing = np.mean([1 - stream.y.mean() for stream in streams])
    print(f"| never flag anything | 0.500 | {1 - nothing:.3f} | {nothing:.3f} | 0 | - |")


if __name__ == "__main__":
    main()
