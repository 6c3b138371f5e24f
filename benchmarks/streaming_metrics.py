"""How far streaming metrics are from the exact ones, how fast they notice a change, and what they cost.

    python benchmarks/streaming_metrics.py                          # prints the tables; five minutes, mostly River's
    python benchmarks/streaming_metrics.py --write docs/metrics.md  # and puts them into that page

Errors: nine kinds of scores, 20,000 each, 3 % positives, mean over three repetitions of the difference to the exact
figure of the same scores at the end. Change: a ranking that is good, worthless and good again, 5,000 examples each.
Cost: one core, fastest of several repetitions, all in one run.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import lopsided as lp
from lopsided.metrics import AUPRC, AUROC, Confusion, WindowedAUROC, auroc, average_precision
from pages import write_measured
from speed import fastest, machine, single_microseconds

Array = Any
ROWS, REPETITIONS = 20_000, 3
DRIFT_STREAMS, PHASE, ASK_EVERY = 10, 5_000, 20
GOOD, WORTHLESS = 0.5 * (1.0 + math.erf(0.75)), 0.5  # AUROC of N(.5, 1) over N(-1, 1), and of two equal classes


def ordinary(rng: np.random.Generator, positive: Array) -> Array:
    """N(.5, 1) for positives, N(-1, 1) for negatives."""
    return rng.normal(size=positive.size) + np.where(positive, 0.5, -1.0)


def heavy_tailed(rng: np.random.Generator, positive: Array) -> Array:
    return rng.standard_cauchy(positive.size) + np.where(positive, 0.5, -1.0)


def growing(rng: np.random.Generator, positive: Array) -> Array:
    return ordinary(rng, positive) * np.linspace(1.0, 50.0, positive.size)


def with_zeros(rng: np.random.Generator, positive: Array) -> Array:
    return np.where(rng.random(positive.size) < 0.4, 0.0, ordinary(rng, positive))


# By name: the share of positives, and how their scores are drawn.
SCORES: dict[str, tuple[float, Callable[[np.random.Generator, Array], Array]]] = {
    "N(-1, 1) and N(.5, 1)": (0.03, ordinary),
    "the same times 100": (0.03, lambda rng, positive: 100.0 * ordinary(rng, positive)),
    "times 1e-4": (0.03, lambda rng, positive: 1e-4 * ordinary(rng, positive)),
    "shifted by 50": (0.03, lambda rng, positive: 50.0 + ordinary(rng, positive)),
    "1000 + .01 times": (0.03, lambda rng, positive: 1000.0 + 0.01 * ordinary(rng, positive)),
    "Cauchy": (0.03, heavy_tailed),
    "scale growing from 1 to 50": (0.03, growing),
    "40 % exact zeros": (0.03, with_zeros),
    "1 : 999": (0.001, ordinary),
}


def scored(name: str, rows: int, seed: int) -> tuple[Array, Array]:
    """Which examples are positive, and their scores."""
    share, draw = SCORES[name]
    rng = np.random.default_rng(seed)
    positive = rng.random(rows) < share
    return positive, draw(rng, positive)


def river_metrics() -> Any:
    """River's module, or nothing."""
    try:
        from river import metrics
    except ModuleNotFoundError:
        print("River is not installed (pip install river): its columns are left out", file=sys.stderr)
        return None
    return metrics


def river_area(metric: Any, positive: Array, scores: Array) -> float:
    """River wants probabilities: it gets 1/(1 + exp(-score))."""
    probabilities = 0.5 * (1.0 + np.tanh(0.5 * scores))
    for label, probability in zip(positive.tolist(), probabilities.tolist(), strict=True):
        metric.update(label, probability)
    return float(metric.get())


def area_errors(name: str, rows: int, repetitions: int, river: Any) -> list[float]:
    errors = []
    for seed in range(repetitions):
        positive, scores = scored(name, rows, seed)
        areas = [AUROC("sigmoid", 100), AUROC("sigmoid", 1000), AUROC("float"), AUROC()]
        precisions = [AUPRC("sigmoid", 1000, interpolation="step"), AUPRC(interpolation="step")]
        for metric in (*areas, *precisions):
            metric.update_many(positive, scores)
        area, precision = auroc(positive, scores), average_precision(positive, scores)
        row = [*(abs(m.value - area) for m in areas), areas[-1].error_bound]
        row += [*(abs(m.value - precision) for m in precisions), precisions[-1].error_bound]
        if river:
            theirs = [river.ROCAUC(), river.ROCAUC(n_thresholds=1000)]
            row += [abs(river_area(metric, positive, scores) - area) for metric in theirs]
        errors.append(row)
    return np.mean(errors, axis=0).tolist()


def short(error: float) -> str:
    return f"{error:.0e}".replace("e-0", "e-").replace("e+00", "")


def error_table(rows: int = ROWS, repetitions: int = REPETITIONS) -> str:
    river = river_metrics()
    columns = ["AUROC: sigmoid 100", "sigmoid 1000", "float", "centred", "its bound"]
    columns += ["AP: sigmoid 1000", "centred", "its bound"]
    columns += ["AUROC: River, default", "River, 1000"] if river else []
    lines = ["| scores | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for name in SCORES:
        lines.append(f"| {name} | " + " | ".join(map(short, area_errors(name, rows, repetitions, river))) + " |")
    return "\n".join(lines)


def drift_table() -> str:
    """Mean distance of each metric from the area that holds at the moment."""
    metrics: dict[str, Callable[[], Any]] = {
        "`AUROC()`, everything": AUROC,
        "`WindowedAUROC(1000)`": lambda: WindowedAUROC(1000),
        "`AUROC(fade=0.998)`": lambda: AUROC(fade=0.998),
        "`WindowedAUROC(2000)`": lambda: WindowedAUROC(2000),
        "`AUROC(fade=0.999)`": lambda: AUROC(fade=0.999),
        "`AUROC(fade=0.98, per_class=True)`": lambda: AUROC(fade=0.98, per_class=True),
    }
    truth = np.repeat([GOOD, WORTHLESS, GOOD], PHASE)
    lines = ["| metric | mean error |", "|---|---|"]
    for name, make in metrics.items():
        errors = []
        for seed in range(DRIFT_STREAMS):
            rng = np.random.default_rng(seed)
            positive = rng.random(truth.size) < 0.05
            scores = rng.normal(size=truth.size) + np.where(positive & (truth == GOOD), 0.5, -1.0)
            metric = make()
            for start in range(0, truth.size, ASK_EVERY):
                metric.update_many(positive[start : start + ASK_EVERY], scores[start : start + ASK_EVERY])
                errors.append(abs(metric.value - truth[start]))
        lines.append(f"| {name} | {np.nanmean(errors):.3f} |")
    return "\n".join(lines)


def cost_table() -> str:
    positive, scores = scored("N(-1, 1) and N(.5, 1)", 100_000, seed=0)
    labels, values = positive.tolist(), scores.tolist()
    probabilities = (0.5 * (1.0 + np.tanh(0.5 * scores))).tolist()
    rows: dict[str, Any] = {
        "`AUROC()`": AUROC(),
        "`AUROC(fade=0.999)`": AUROC(fade=0.999),
        '`AUROC(key="sigmoid")`': AUROC("sigmoid"),
        '`AUROC(key="float")`': AUROC("float"),
        "`AUPRC()`": AUPRC(),
        "`WindowedAUROC(100)`": WindowedAUROC(100),
        "`WindowedAUROC(1000)`": WindowedAUROC(1000),
        "`WindowedAUROC(10000)`": WindowedAUROC(10_000),
        "`Confusion()`": Confusion(),
        "`Confusion(fade=0.999)`": Confusion(fade=0.999),
    }
    lines = [
        "| metric | batch, nanoseconds an example | `update`, microseconds | `value`, microseconds |",
        "|---|---|---|---|",
    ]
    for name, metric in rows.items():
        metric.update_many(positive, scores)
        batch = fastest(lambda metric=metric: metric.update_many(positive, scores)) / positive.size * 1e9
        one = single_microseconds(lambda i, metric=metric: metric.update(labels[i], values[i]), 20_000)
        value = single_microseconds(lambda i, metric=metric: metric.value, 300)
        lines.append(f"| {name} | {batch:.0f} | {one:.2f} | {value:.1f} |")
    river = river_metrics()
    if river:
        for name, metric, count in (
            ("River `ROCAUC()`", river.ROCAUC(), 2_000),
            ("River `ROCAUC(n_thresholds=1000)`", river.ROCAUC(n_thresholds=1000), 300),
            ("River `RollingROCAUC(window_size=1000)`", river.RollingROCAUC(window_size=1000), 2_000),
        ):
            one = single_microseconds(lambda i, metric=metric: metric.update(labels[i], probabilities[i]), count)
            value = single_microseconds(lambda i, metric=metric: metric.get(), 10)
            lines.append(f"| {name} | - | {one:.2f} | {value:.1f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, help="a page to put the tables into, between its marks")
    arguments = parser.parse_args()
    parts = [
        f"Measured on {machine()}, lopsided {lp.__version__}, one core, by `python benchmarks/streaming_metrics.py`."
    ]
    for title, table in (
        ("Error against the exact figure", error_table),
        ("A ranking that is good, worthless and good again", drift_table),
        ("Cost", cost_table),
    ):
        print(f"\n### {title}\n", flush=True)
        text = table()
        print(text, flush=True)
        parts += [f"### {title}", text]
    if arguments.write:
        write_measured(arguments.write, "\n\n".join(parts))


if __name__ == "__main__":
    main()
