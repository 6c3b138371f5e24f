"""What merging costs in accuracy: one model of a whole stream, against the merge of models of 2 to 16 parts of it.

    python benchmarks/merging.py [--runs 5] [--parts sums,averages,...] [--markdown docs/evidence/merging.md]

KEEL sets from PyPI with at least 100 positives, each in several random orders. The first model learns the first 200
rows, from which `lopsided.empty_like` makes the others; the rows after them are dealt out in turn. Features are
standardised by the first 200 rows. AUC on the last quarter, which nobody has learned. Rows have the weight that the
learner names (`part_weight`), but in the parts "unweighted" and "sampled".
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

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
    "pima",
    "kr-vs-k-zero-one_vs_draw",
    "shuttle-c0-vs-c4",
    "vehicle0",
    "vehicle1",
]
# Which learners get larger steps, and how KernelOGD is merged, was chosen on the first five of these; nobody had looked
# at the following ones.
UNSEEN = [
    "vehicle2",
    "wisconsin",
    "yeast-0-2-5-7-9_vs_3-6-8",
    "vowel0",
    "kr-vs-k-three_vs_eleven",
    "abalone-17_vs_7-8-9-10",
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
    "OPAUC, rank 5": lambda seed: lp.OPAUC(learning_rate=0.001, rank=5, random_state=seed),
    "OAM": lambda seed: lp.OAM(C=0.001, random_state=seed),
    "OMCSL": lambda seed: lp.OMCSL(random_state=seed),
    "OFO": lambda seed: lp.OFO(random_state=seed),
    "ResamplingBagging": lambda seed: lp.ResamplingBagging(random_state=seed),
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
    "OSKL": lambda seed: lp.OSKL(gamma="auto", random_state=seed),
    "KernelPerceptron": lambda seed: lp.KernelPerceptron(gamma="auto"),
    "KernelOGD": lambda seed: lp.KernelOGD(gamma="auto"),
    "NORMA": lambda seed: lp.NORMA(gamma="auto"),
    "RBP": lambda seed: lp.RBP(gamma="auto", random_state=seed),
    "Forgetron": lambda seed: lp.Forgetron(gamma="auto"),
    "BPAS": lambda seed: lp.BPAS(gamma="auto"),
    "BOGD": lambda seed: lp.BOGD(gamma="auto", random_state=seed),
    "Projectron": lambda seed: lp.Projectron(gamma="auto"),
}
SMALL_STEPS: Makers = {
    "OMCSL": AVERAGES["OMCSL"],
    "OFO": AVERAGES["OFO"],
    "ResamplingBagging": AVERAGES["ResamplingBagging"],
    "FOGD": AVERAGES["FOGD"],
    "NOGD": AVERAGES["NOGD"],
    "NORMA": VECTORS["NORMA"],
    "BOGD": VECTORS["BOGD"],
    "OSKL": VECTORS["OSKL"],
}
SAMPLED: Makers = {name: VECTORS[name] for name in ("SPA", "SPA, budget 200")}


class Part(NamedTuple):
    """A table: of these learners on these sets; with weights of parts, or with more vectors let in by each part."""

    learners: Makers
    sets: list[str] = SETS
    weighted: bool = True
    lets_in_more: bool = False


PARTS = {
    "sums": Part(SUMS),
    "averages": Part(AVERAGES),
    "vectors": Part(VECTORS),
    "unweighted": Part(SMALL_STEPS, weighted=False),
    "sampled": Part(SAMPLED, weighted=False, lets_in_more=True),
    "unseen": Part(SMALL_STEPS | {"KernelOGD": VECTORS["KernelOGD"]}, UNSEEN),
    "unseen sampled": Part(SAMPLED, UNSEEN, weighted=False, lets_in_more=True),
}


def letting_in_more(model: Any, times: int) -> Any:
    """An SPA that lets in so many times as many examples, each with the same step."""
    scale = max(model.sampling_scale / times, model.loss_cap)
    return model.set_params(sampling_scale=scale, learning_rate=model.learning_rate * model.sampling_scale / scale)


def areas_of(part: Part, make: Callable[[int], Any], name: str, run: int) -> list[float]:
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
        model = letting_in_more(make(run), n_shards) if part.lets_in_more else make(run)
        shards = shards_of(model, X, y, n_shards, model.part_weight(n_shards) if part.weighted else 1.0)
        found.append(auroc(labels, lp.merge(shards).raw_scores(unseen)))
    return [*found, auroc(labels, shards[-1].raw_scores(unseen))]


def shards_of(model: Any, X: np.ndarray, y: np.ndarray, n_shards: int, weight: float) -> list[Any]:
    """The first rows for the first model, the others in turn."""
    model.partial_fit(X[:_FIRST], y[:_FIRST], classes=[0, 1], sample_weight=np.full(_FIRST, weight))
    shards = [model, *(lp.empty_like(model) for _ in range(n_shards - 1))]
    for place, shard in enumerate(shards):
        own, labels = X[_FIRST + place :: n_shards], y[_FIRST + place :: n_shards]
        shard.partial_fit(own, labels, classes=[0, 1], sample_weight=np.full(labels.size, weight))
    return shards


def tables_of(part: Part, runs: int) -> str:
    """The means over sets and orders, and the loss with the most shards by set."""
    head = "| | one run | " + " | ".join(f"{n} shards" for n in SHARDS) + " | one of 16 alone |"
    lines = [head, "|---|" + "---|" * (len(SHARDS) + 2)]
    by_set = ["| loss with 16 shards | " + " | ".join(part.sets) + " |", "|---|" + "---|" * len(part.sets)]
    for name, make in part.learners.items():
        areas = np.array([[areas_of(part, make, of, run) for run in range(runs)] for of in part.sets])
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
    for name in given.parts.split(","):
        tables = tables_of(PARTS[name], given.runs)
        print(tables, flush=True)
        if given.markdown:
            write_measured(given.markdown, tables, name)


if __name__ == "__main__":
    main()
