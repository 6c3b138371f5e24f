"""What merging costs in accuracy: one model of a whole stream, against the merge of models of 2 to 16 parts of it.

    python benchmarks/merging.py [--runs 5] [--parts sums,averages,vectors,steps] [--markdown docs/evidence/merging.md]

KEEL sets from PyPI with at least 100 positives, each in several random orders. The first model learns the first 200
rows, from which `lopsided.empty_like` makes the others; the rows after them are dealt out in turn. Features are
standardised by the first 200 rows. AUC on the last quarter, which nobody has learned.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import lopsided as lp
from lopsided.datasets import load_keel
from lopsided.metrics import auroc
from pages import write_measured

SETS = [
    "page-blocks0",
    "segment0",
    "yeast1",
    "yeast3",
    "kr-vs-k-zero-one_vs_draw",
    "shuttle-c0-vs-c4",
    "vehicle0",
    "vehicle1",
    "pima",
]
SHARDS = (2, 4, 8, 16)
_FIRST = 200
_FARTHEST = 10.0


Makers = dict[str, Callable[[int], Any]]
SUMS: Makers = {
    "FourierRanker": lambda seed: lp.FourierRanker(random_state=seed),
    "RareEventClassifier": lambda seed: lp.RareEventClassifier(random_state=seed),
}
AVERAGES: Makers = {
    "OPAUC": lambda seed: lp.OPAUC(learning_rate=0.001, random_state=seed),
    "OAM": lambda seed: lp.OAM(C=0.001, random_state=seed),
    "OMCSL": lambda seed: lp.OMCSL(random_state=seed),
    "OCS": lambda seed: lp.OCS(random_state=seed),
    "OnlinePerceptron": lambda seed: lp.OnlinePerceptron(random_state=seed),
    "FOGD": lambda seed: lp.FOGD(gamma="auto", random_state=seed),
    "NOGD": lambda seed: lp.NOGD(gamma="auto"),
}
VECTORS: Makers = {
    "KOIL": lambda seed: lp.KOIL(C=10.0, gamma="auto", random_state=seed),
    "KOIL, fifo": lambda seed: lp.KOIL(C=10.0, gamma="auto", policy="fifo", random_state=seed),
    "OILK": lambda seed: lp.OILK(gamma="auto", random_state=seed),
    "SPA": lambda seed: lp.SPA(gamma="auto", random_state=seed),
    "SPA, budget 200": lambda seed: lp.SPA(gamma="auto", budget=200, random_state=seed),
    "KernelPerceptron": lambda seed: lp.KernelPerceptron(gamma="auto"),
    "KernelOGD": lambda seed: lp.KernelOGD(gamma="auto"),
    "RBP": lambda seed: lp.RBP(gamma="auto", random_state=seed),
    "Forgetron": lambda seed: lp.Forgetron(gamma="auto"),
    "BPAS": lambda seed: lp.BPAS(gamma="auto"),
    "BOGD": lambda seed: lp.BOGD(gamma="auto", random_state=seed),
    "Projectron": lambda seed: lp.Projectron(gamma="auto"),
}
# Those that take small steps, with steps as many times larger as there are shards.
STEPS: Makers = {name: (AVERAGES | VECTORS)[name] for name in ("OMCSL", "FOGD", "NOGD", "SPA", "KernelOGD", "BOGD")}
PARTS = {"sums": SUMS, "averages": AVERAGES, "vectors": VECTORS, "steps": STEPS}


def with_steps(model: Any, times: int) -> Any:
    """The same learner with a step size so many times larger."""
    return model.set_params(learning_rate=times * model.learning_rate)


def areas_of(make: Callable[[int], Any], name: str, run: int, *, larger_steps: bool = False) -> list[float]:
    """AUC of one run, of the merges of 2 to 16 shards, and of a single one of the 16."""
    stream = load_keel(name, random_state=run)
    n = 3 * len(stream.y) // 4
    # Standardised by the first rows, as FourierRanker does by itself: nobody knows the others when learning begins.
    spread = stream.X[:_FIRST].std(axis=0)
    scaled = (stream.X - stream.X[:_FIRST].mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    scaled = np.clip(scaled, -_FARTHEST, _FARTHEST)
    X, y, unseen, labels = scaled[:n], stream.y[:n], scaled[n:], stream.y[n:]
    one = make(run).partial_fit(X, y, classes=[0, 1])
    found = [auroc(labels, one.raw_scores(unseen))]
    for n_shards in SHARDS:
        shards = shards_of(with_steps(make(run), n_shards) if larger_steps else make(run), X, y, n_shards)
        found.append(auroc(labels, lp.merge(shards).raw_scores(unseen)))
    return [*found, auroc(labels, shards[-1].raw_scores(unseen))]


def shards_of(model: Any, X: np.ndarray, y: np.ndarray, n_shards: int) -> list[Any]:
    """The first rows for the first model, the others in turn."""
    model.partial_fit(X[:_FIRST], y[:_FIRST], classes=[0, 1])
    shards = [model, *(lp.empty_like(model) for _ in range(n_shards - 1))]
    for place, shard in enumerate(shards):
        rows = slice(_FIRST + place, None, n_shards)
        shard.partial_fit(X[rows], y[rows], classes=[0, 1])
    return shards


def tables_of(learners: Makers, runs: int, *, larger_steps: bool = False) -> str:
    """The means over sets and orders, and the loss with the most shards by set."""
    head = "| | one run | " + " | ".join(f"{n} shards" for n in SHARDS) + " | one of 16 alone |"
    lines = [head, "|---|" + "---|" * (len(SHARDS) + 2)]
    by_set = ["| loss with 16 shards | " + " | ".join(SETS) + " |", "|---|" + "---|" * len(SETS)]
    for name, make in learners.items():
        areas = np.array([[areas_of(make, of, run, larger_steps=larger_steps) for run in range(runs)] for of in SETS])
        means = areas.mean(axis=(0, 1))
        lines.append(
            f"| {name} | {means[0]:.3f} | " + " | ".join(f"{means[0] - mean:+.3f}" for mean in means[1:]) + " |"
        )
        losses = areas.mean(axis=1)[:, 0] - areas.mean(axis=1)[:, len(SHARDS)]
        by_set.append(f"| {name} | " + " | ".join(f"{loss:+.3f}" for loss in losses) + " |")
        print(lines[-1], flush=True)
    return "\n".join([*lines, "", *by_set])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5, help="random orders of each set")
    parser.add_argument("--parts", default=",".join(PARTS), help="what is measured, separated by commas; default: all")
    parser.add_argument("--markdown", type=Path, help="write the tables into this page")
    given = parser.parse_args()
    for part in given.parts.split(","):
        tables = tables_of(PARTS[part], given.runs, larger_steps=part == "steps")
        print(tables, flush=True)
        if given.markdown:
            write_measured(given.markdown, tables, part)


if __name__ == "__main__":
    main()
