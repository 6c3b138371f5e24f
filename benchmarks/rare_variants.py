"""How RareEventClassifier would do if it weighed its blends otherwise: the settings that were compared, on the streams
on which they were compared.

    python benchmarks/rare_variants.py [--write]

Each setting changes one thing. Small countries of cards with labels a week late, raw and ready-made; the two streams of
one per cent; one change that rankers see and one that only trees do. AUC / AP; of a change, of the rows after it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from threadpoolctl import threadpool_limits

import lopsided as lp
from lopsided.core.measures.mixture import MixturePlan
from lopsided.core.rare.step import BLENDS, FIRST_LEANING
from lopsided.estimators.rare import rare_event, two_memories
from pages import write_measured
from rare_plays import DAY, areas, late
from rare_sections import change_of, stream_of

PAGE = Path(__file__).parents[1] / "docs" / "evidence" / "rare-events.md"
CHOSEN_ON = 11  # the seed of streams that are not countries
COUNTRIES = {"cards 200x183": (8, 9), "cards 400x70 raw": (0,)}
CHANGES = ("features, abrupt", "AGRAWAL 1 to 3")
_N_LEANING = len(BLENDS) - FIRST_LEANING
_TOWARDS_TREES = np.array([0.5, 0.5, 1.0, 2.0, 2.0, 2.0, 1.0])


def _evidence(per_positive: float, most: float, area: float = 0.0) -> dict[str, Any]:
    return {"_OF_BLEND": MixturePlan(0.0, per_positive, area, most)}


SETTINGS: dict[str, Mapping[str, Any]] = {
    "as it is": {},
    "evidence counts 1, halved at 200 positives": _evidence(1.0, 200.0),
    "evidence counts 3, halved at 50": _evidence(3.0, 50.0),
    "evidence halved at 1,000": _evidence(1.25, 1000.0),
    "evidence half AUC": _evidence(1.25, 150.0, 0.5),
    "linear part alone counts 0.5 at first": {"PRIOR_OF_LINEAR": 0.5},
    "no linear part": {"PRIOR_OF_LINEAR": 0.0, "_WITH_LINEAR": 0.0, "CARRIED_OVER": 0.0},
    "restarts forget the linear part's standing": {"CARRIED_OVER": 0.0},
    "more for the trees at first": {"_OF_TWO": _TOWARDS_TREES},
    "no blend leans": {"_LEANING": np.zeros(_N_LEANING)},
    "blends that lean count 2 at first": {"_LEANING": np.full(_N_LEANING, 2.0)},
}


def learner_with(setting: Mapping[str, Any], stack: ExitStack) -> lp.RareEventClassifier:
    """A learner that begins with other constants, which stay until the stack is closed."""
    for name, value in setting.items():
        for module in (rare_event, two_memories):
            if hasattr(module, name):
                stack.enter_context(patch.object(module, name, value))
    return lp.RareEventClassifier(random_state=1)


def cells(setting: Mapping[str, Any]) -> Iterator[tuple[str, float, float]]:
    """A column's name, AUC and average precision, for every stream."""
    for kind, seeds in COUNTRIES.items():
        for seed in seeds:
            stream = stream_of(kind, seed)
            assert stream.times is not None
            with ExitStack() as stack:
                scores = late(learner_with(setting, stack), stream, block=DAY, delay=7 * DAY).scores
            part = stream.times >= 8 * DAY
            yield kind, *areas(stream.y[part], scores[part]).values()
    for kind in ("linear", "xor"):
        stream = stream_of(kind, CHOSEN_ON)
        with ExitStack() as stack:
            scores = learner_with(setting, stack).progressive_scores(stream.X, stream.y, classes=[0, 1])
        yield kind, *areas(stream.y, scores).values()
    for kind in CHANGES:
        change = change_of(kind, CHOSEN_ON)
        with ExitStack() as stack:
            learner = learner_with(setting, stack)
            learner.partial_fit(change.stream.X[change.old], change.stream.y[change.old], classes=[0, 1])
            y = change.stream.y[change.new]
            yield kind, *areas(y, learner.progressive_scores(change.stream.X[change.new], y)).values()


def _decimals(value: float) -> str:
    return f"{value:.3f}".lstrip("0")


def table() -> str:
    """A row for each setting, means over the seeds of a stream."""
    lines: list[str] = []
    for name, setting in SETTINGS.items():
        found: dict[str, list[tuple[float, float]]] = {}
        for kind, auc, ap in cells(setting):
            found.setdefault(kind, []).append((auc, ap))
        if not lines:
            lines += [f"| | {' | '.join(found)} |", "|---" * (len(found) + 1) + "|"]
        means = (np.mean(values, axis=0) for values in found.values())
        lines.append(f"| {name} | {' | '.join(f'{_decimals(auc)} / {_decimals(ap)}' for auc, ap in means)} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put the table into docs/evidence/rare-events.md")
    arguments = parser.parse_args()
    with threadpool_limits(1):
        text = table()
    if arguments.write:
        write_measured(PAGE, text, "variants")


if __name__ == "__main__":
    main()
