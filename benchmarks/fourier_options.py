"""Two parameters of FourierRanker on streams that had no part in choosing its defaults.

    python benchmarks/fourier_options.py sparse_directions 0.0 0.5 [--write]
    python benchmarks/fourier_options.py rescale False True [--write]

Progressive AUC and average precision, means over seeds that no test and no other page uses, by groups of streams: rules
that look at one feature at a time, worlds that do not, the nine KEEL sets of which_learner.py, other KEEL sets, cards.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from lopsided import FourierRanker
from lopsided.datasets import (
    Dataset,
    agrawal,
    card_stream,
    hyperplane,
    load_keel,
    mixed,
    random_rbf,
    random_tree,
    sea,
    sine,
)
from lopsided.metrics import auroc, average_precision
from pages import write_measured
from which_learner import SETS

PAGE = Path(__file__).parents[1] / "docs" / "evidence" / "fourier.md"
ROWS, SEEDS, ORDERS = 10_000, (11, 12), (11, 12, 13)
OTHER_SETS = ["abalone19", "car-good", "flare-F", "poker-8-9_vs_5", "segment0", "vowel0", "winequality-red-4", "yeast5"]
ALIGNED: dict[str, Callable[..., Dataset]] = {"agrawal": agrawal, "random_tree": random_tree, "mixed": mixed}
OTHERS: dict[str, Callable[..., Dataset]] = {
    "random_rbf": random_rbf,
    "sine": sine,
    "sea": sea,
    "hyperplane": hyperplane,
}


def groups(only: str) -> Iterator[tuple[str, str, list[Dataset]]]:
    """A group, a stream and its versions."""
    for group, name, make in streams():
        if only in group:
            yield group, name, make()


def streams() -> Iterator[tuple[str, str, Callable[[], list[Dataset]]]]:
    """A group, a stream and how to make it."""
    for group, makers in (("axis-aligned", ALIGNED), ("other worlds", OTHERS)):
        for name, make in makers.items():
            for ratio in (20, 100):
                rare = 1 / (1 + ratio)
                yield group, f"{name} 1:{ratio}", partial(_worlds, make, rare)
    for name in SETS:
        yield "KEEL, nine", name, partial(_orders, name, ORDERS)
    for name in OTHER_SETS:
        yield "KEEL, others", name, partial(_orders, name, ORDERS[:1])
    yield "cards", "card_stream", _cards


def _worlds(make: Callable[..., Dataset], rare: float) -> list[Dataset]:
    return [make(ROWS, rare, random_state=seed) for seed in SEEDS]


def _orders(name: str, seeds: tuple[int, ...]) -> list[Dataset]:
    return [load_keel(name, random_state=seed) for seed in seeds]


def _cards() -> list[Dataset]:
    return [card_stream(200, 400, days=60, random_state=seed) for seed in SEEDS]


def measured(parameter: str, value: object, streams: list[Dataset]) -> tuple[float, float]:
    areas = []
    for seed, data in enumerate(streams, 21):
        scores = FourierRanker(random_state=seed, **{parameter: value}).progressive_scores(
            data.X, data.y, classes=[0, 1]
        )
        areas.append((auroc(data.y, scores), average_precision(data.y, scores)))
    return tuple(np.mean(areas, axis=0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parameter")
    parser.add_argument("values", nargs=2, type=ast.literal_eval)
    parser.add_argument("--only", default="", help="groups whose names contain this, such as KEEL")
    parser.add_argument("--write", action="store_true", help="put the table into docs/evidence/fourier.md")
    given = parser.parse_args()
    means: dict[str, list[list[tuple[float, float]]]] = {}
    lines: list[str] = []

    def say(line: str) -> None:
        lines.append(line)
        print(line, flush=True)

    say(f"AUC / average precision of FourierRanker by {given.parameter}:\n")
    say(f"| stream | {given.values[0]} | {given.values[1]} |\n|---|---|---|")
    for group, name, streams in groups(given.only):
        areas = [measured(given.parameter, value, streams) for value in given.values]
        means.setdefault(group, []).append(areas)
        say(f"| {name} | " + " | ".join(f"{area:.3f} / {precision:.3f}" for area, precision in areas) + " |")
    for group, found in means.items():
        cells = [f"{area:.4f} / {precision:.4f}" for area, precision in np.mean(found, axis=0)]
        say(f"| **{group}, {len(found)} streams** | " + " | ".join(cells) + " |")
    if given.write:
        write_measured(PAGE, "\n".join(lines), given.parameter)


if __name__ == "__main__":
    main()
