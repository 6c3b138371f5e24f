"""Random features: what helps FourierRanker, how it compares, how fast it is, and how it recovers from drift.

    python benchmarks/evidence_fourier.py [--write docs/evidence/fourier.md]

Everything is progressive: an example is scored, then learned. Choices were made on nine KEEL sets from PyPI and two
synthetic streams with 1 % positives. What was chosen is then confronted with all other KEEL sets of at least 900 rows
and 15 positives, which had no part in it.
`pip install "lopsided[compare]"` adds competitors. Times are of the processor, not of the clock;
with one thread for BLAS both are the same on an idle machine. About ten minutes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import lopsided as lp
from lopsided.competitors import COMPETITORS, competitor, installed
from lopsided.core.features.fourier_ranker import DRAWN
from lopsided.datasets import Dataset, abrupt_drift, keel_available, load_keel, overlapping, rotating_hyperplane, xor
from lopsided.metrics import auroc, average_precision
from pages import write_measured

ORDERS = 3
FIRST_HALF = [
    "poker-8_vs_6",
    "winequality-white-3_vs_7",
    "yeast4",
    "abalone-17_vs_7-8-9-10",
    "page-blocks0",
    "overlapping",
]
SECOND_HALF = ["poker-8-9_vs_6", "yeast6", "shuttle-2_vs_5", "kr-vs-k-zero_vs_eight", "xor"]
RIVALS = ["sgd", "arf", "hoeffding", "vw", "lightgbm"]
BEST = {"regularization": "auto", "focus": 6.0}
Make = Callable[[int], Any]
Scores = Callable[[np.ndarray, np.ndarray], np.ndarray]


def streams_of(name: str, orders: int = ORDERS) -> list[Dataset]:
    if name == "overlapping":
        return [overlapping(10_000, 20, 0.01, random_state=seed) for seed in range(orders)]
    if name == "xor":
        return [xor(10_000, random_state=seed) for seed in range(orders)]
    return [load_keel(name, random_state=seed) for seed in range(orders)]


class OrthogonalRanker(lp.FourierRanker):
    """The same with directions that are orthogonal within every group of n_features, lengths as if independent."""

    def _prepare_for(self, rows: Any) -> None:
        if self._state.tally[DRAWN]:
            return
        super()._prepare_for(rows)
        directions = self._state.directions
        lengths = np.linalg.norm(directions, axis=0)
        for start in range(0, directions.shape[1], directions.shape[0]):
            group = directions[:, start : start + directions.shape[0]]
            group[:] = np.linalg.qr(group)[0] * np.sign(np.diag(np.linalg.qr(group)[1]))
        directions *= lengths


def measured(make: Make, streams: list[Dataset]) -> tuple[float, float, float]:
    """Mean AUC, mean average precision, and seconds an example."""
    areas, seconds, rows = [], 0.0, 0
    for seed, stream in enumerate(streams):
        learner = make(seed)
        began = time.process_time()
        scores = learner.progressive_scores(stream.X, stream.y, classes=[0, 1])
        seconds += time.process_time() - began
        rows += len(stream.y)
        areas.append((auroc(stream.y, scores), average_precision(stream.y, scores)))
    area, precision = np.mean(areas, axis=0)
    return float(area), float(precision), seconds / rows


def table_of_choices() -> list[str]:
    """One change at a time, by half of the streams."""
    ranker = lp.FourierRanker
    variants: dict[str, Make] = {
        "default": lambda s: ranker(random_state=s),
        "solved every 50": lambda s: ranker(refresh=50, random_state=s),
        "warm_up=500": lambda s: ranker(warm_up=500, random_state=s),
        "linear=0": lambda s: ranker(linear=0.0, random_state=s),
        "linear=1": lambda s: ranker(linear=1.0, random_state=s),
        "bandwidths (0.25, 1, 4)": lambda s: ranker(bandwidths=(0.25, 1.0, 4.0), random_state=s),
        "orthogonal directions": lambda s: OrthogonalRanker(random_state=s),
        "n_components=800": lambda s: ranker(800, random_state=s),
        "regularization=0.001": lambda s: ranker(regularization=0.001, random_state=s),
        "regularization=0.1": lambda s: ranker(regularization=0.1, random_state=s),
        "regularization='auto'": lambda s: ranker(regularization="auto", random_state=s),
        "focus=3": lambda s: ranker(focus=3.0, random_state=s),
        "'auto', focus=3": lambda s: ranker(regularization="auto", focus=3.0, random_state=s),
        "'auto', focus=6": lambda s: ranker(**BEST, random_state=s),
        "'auto', focus=6, 800": lambda s: ranker(800, **BEST, random_state=s),
    }
    halves = [[streams_of(name) for name in half] for half in (FIRST_HALF, SECOND_HALF)]
    lines = [
        "AUC / average precision, means over the streams of the first table in three orders:",
        "",
        "| FourierRanker | first six streams | other five | us an example |",
        "|---|---|---|---|",
    ]
    for name, make in variants.items():
        found = [np.array([measured(make, streams) for streams in half]) for half in halves]
        cells = [f"{half[:, 0].mean():.3f} / {half[:, 1].mean():.3f}" for half in found]
        lines.append(f"| {name} | {' | '.join(cells)} | {np.concatenate(found)[:, 2].mean() * 1e6:.0f} |")
        print(lines[-1], flush=True)
    return lines


def scorers(ours: dict[str, Callable[[], Any]], others: list[str]) -> dict[str, Scores]:
    """Progressive scores of learners here and of competitors, by name."""
    makers = ours | {COMPETITORS[name].summary: lambda name=name: competitor(name) for name in others}
    return {
        name: (lambda X, y, make=make: make().progressive_scores(X, y, classes=[0, 1])) for name, make in makers.items()
    }


def table_of_learners() -> list[str]:
    """Everybody on the first order of every stream."""
    ours: dict[str, Callable[[], Any]] = {
        "KOIL": lambda: lp.KOIL(random_state=0),
        "SPA": lambda: lp.SPA(random_state=0),
        "OMCSL": lambda: lp.OMCSL(measure="auroc", random_state=0),
        "FOGD": lambda: lp.FOGD(random_state=0),
        "NOGD": lambda: lp.NOGD(),
        "FourierRanker": lambda: lp.FourierRanker(random_state=0),
        "FourierRanker, 'auto', focus=6": lambda: lp.FourierRanker(**BEST, random_state=0),
        "ExpertPool.default()": lambda: lp.ExpertPool.default(n_jobs=1, random_state=0),
    }
    contestants = scorers(ours, [name for name in RIVALS if name in installed()])
    streams = [streams_of(name, 1)[0] for name in FIRST_HALF + SECOND_HALF]
    lines = ["| AUC / average precision | " + " | ".join(stream.name for stream in streams) + " | mean | us |"]
    lines.append("|---|" + "---|" * (len(streams) + 2))
    for name, scores_of in contestants.items():
        scores_of(streams[0].X[:300], streams[0].y[:300])  # compiles
        areas, seconds = [], 0.0
        for stream in streams:
            began = time.process_time()
            scores = scores_of(stream.X, stream.y)
            seconds += time.process_time() - began
            areas.append((auroc(stream.y, scores), average_precision(stream.y, scores)))
        areas.append(tuple(np.mean(areas, axis=0)))
        cost = seconds / sum(stream.n_rows for stream in streams) * 1e6
        lines.append(f"| {name} | " + " | ".join(f"{a:.3f} / {p:.3f}" for a, p in areas) + f" | {cost:.0f} |")
        print(lines[-1], flush=True)
    return lines


def table_of_unseen_sets() -> list[str]:
    """What was chosen, on sets that had no part in it: means, and the paired difference from the default."""
    ours = {
        "FourierRanker": lambda: lp.FourierRanker(random_state=0),
        "'auto', focus=6": lambda: lp.FourierRanker(**BEST, random_state=0),
        "ExpertPool.default()": lambda: lp.ExpertPool.default(n_jobs=1, random_state=0),
        "KOIL": lambda: lp.KOIL(random_state=0),
    }
    contestants = scorers(ours, [name for name in installed() if name == "lightgbm"])
    sets = [load_keel(name) for name in keel_available() if name not in FIRST_HALF + SECOND_HALF]
    sets = [data for data in sets if data.n_rows >= 900 and data.y.sum() >= 15]
    found = {
        name: np.array([_areas(data, scores_of(data.X, data.y)) for data in sets])
        for name, scores_of in contestants.items()
    }
    lines = [
        f"{len(sets)} sets: {', '.join(data.name for data in sets)}.",
        "",
        "| learner | AUC | average precision | AUC less that of the default | better on | precision less | better on |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, areas in found.items():
        cells = [f"{areas[:, 0].mean():.3f}", f"{areas[:, 1].mean():.3f}"]
        for j in range(2):
            less = areas[:, j] - found["FourierRanker"][:, j]
            cells.append(f"{less.mean():+.4f} ± {less.std(ddof=1) / np.sqrt(len(sets)):.4f}")
            cells.append(f"{int((less > 0).sum())} of {len(sets)}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return lines


def _areas(data: Dataset, scores: np.ndarray) -> tuple[float, float]:
    return auroc(data.y, scores), average_precision(data.y, scores)


def examples_to_recover(make: Make, kind: str, width: float, seed: int) -> tuple[float, float]:
    """AUC before the change, and examples until half of what it costs is regained; on rows that nobody learns from."""
    n, step = 20_000, 100
    stream = abrupt_drift(n, width=width, kind=kind, random_state=seed)
    old, new = (abrupt_drift(8_000, rare=0.1, at=at, kind=kind, random_state=100 + seed) for at in (0.9999, 0.0001))
    learner, t = make(seed), int(n * (0.5 - width / 2))
    learner.partial_fit(stream.X[:t], stream.y[:t], classes=[0, 1])
    before, after = (auroc(data.y, learner.decision_function(data.X)) for data in (old, new))
    for learned in range(step, n - t + 1, step):
        learner.partial_fit(stream.X[t + learned - step : t + learned], stream.y[t + learned - step : t + learned])
        if auroc(new.y, learner.decision_function(new.X)) >= (before + after) / 2:
            return before, learned
    return before, float("inf")


def table_of_drift() -> list[str]:
    """Examples until half of the lost AUC is regained, medians of five streams; and AUC while everything rotates."""
    lines = [
        "| FourierRanker | AUC before | places, abrupt | places, gradual | features, abrupt | features, gradual | "
        "rotating_hyperplane, AUC |",
        "|---|---|---|---|---|---|---|",
    ]
    seeds = range(10, 15)  # the memories of fade='auto' were chosen on others
    for name, options in {
        "fade=1": {},
        "fade=0.999": {"fade": 0.999},
        "fade='auto'": {"fade": "auto"},
    }.items():

        def make(seed: int, options: dict[str, Any] = options) -> lp.FourierRanker:
            return lp.FourierRanker(random_state=seed, **options)

        cells, before = [], 0.0
        for kind in ("places", "features"):
            for width in (0.0, 0.2):
                runs = [examples_to_recover(make, kind, width, seed) for seed in seeds]
                before = before or float(np.mean([area for area, _ in runs]))
                cells.append(f"{np.median([learned for _, learned in runs]):,.0f}".replace("inf", "never"))
        streams = [rotating_hyperplane(20_000, turns=1.0, random_state=seed) for seed in seeds]
        rotating, _, _ = measured(make, streams)
        lines.append(f"| {name} | {before:.3f} | {' | '.join(cells)} | {rotating:.3f} |")
        print(lines[-1], flush=True)
    return lines


def table_of_speed() -> list[str]:
    """Microseconds an example, 20 features, 1 % positives, after 2,000 examples."""
    stream = overlapping(22_000, 20, 0.01, random_state=0)
    learners = {
        "FOGD": lp.FOGD(gamma="auto", random_state=0),
        "NOGD": lp.NOGD(gamma="auto"),
        "FourierRanker": lp.FourierRanker(random_state=0),
        "FourierRanker, 'auto', focus=6": lp.FourierRanker(**BEST, random_state=0),
        "FourierRanker, fade='auto'": lp.FourierRanker(fade="auto", random_state=0),
        "ExpertPool.default(), one thread": lp.ExpertPool.default(n_jobs=1, random_state=0),
    }
    lines = ["| learner | batch | learn_one | score_one | bytes |", "|---|---|---|---|---|"]
    X, y = stream.X, stream.y.tolist()
    for name, learner in learners.items():
        learner.partial_fit(X[:2_000], stream.y[:2_000])
        learner.learn_one(X[0], y[0])
        learner.score_one(X[0])
        batch, one, score = [], [], []
        for first in range(2_000, 22_000, 5_000):
            began = time.process_time()
            learner.partial_fit(X[first : first + 4_000], stream.y[first : first + 4_000])
            batch.append((time.process_time() - began) / 4_000)
            began = time.process_time()
            for t in range(first + 4_000, first + 5_000):
                learner.learn_one(X[t], y[t])
            one.append((time.process_time() - began) / 1_000)
            began = time.process_time()
            for t in range(1_000):
                learner.score_one(X[t])
            score.append((time.process_time() - began) / 1_000)
        cells = [f"{min(times) * 1e6:.1f}" for times in (batch, one, score)]
        lines.append(f"| {name} | {' | '.join(cells)} | {learner.nbytes_:,} |")
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, help="page to write the tables into, between its marks")
    arguments = parser.parse_args()
    parts = {
        "Who ranks best, first order of every stream": table_of_learners,
        "What helps": table_of_choices,
        "Sets that had no part in the choice": table_of_unseen_sets,
        "Drift": table_of_drift,
        "Speed": table_of_speed,
    }
    text = "\n\n".join(f"### {title}\n\n" + "\n".join(table()) for title, table in parts.items())
    if arguments.write:
        write_measured(arguments.write, text)


if __name__ == "__main__":
    main()
