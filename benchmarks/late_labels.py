"""What late labels cost: the engine for them against plain test-then-train, in one run.

    python benchmarks/late_labels.py [ROWS]

With a delay every row meets the learner twice: it is scored when it comes, and learned when its label has come. Plain
test-then-train does both at once. What is known changes from row to row, so rows are learned and scored in turn, but
thousands of turns by one compiled call. "by key" is every row and every label in a call of its own, as a service has
them. The figures are microseconds a row of CPU time, the least of three runs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import lopsided as lp
from lopsided.datasets import transactions
from lopsided.late import LateLearner
from lopsided.metrics import auroc

DELAYS: tuple[str | int, ...] = (0, 50, 500, 5000, "1h", "1d", "7d")
SECONDS_BETWEEN_ROWS = 60.0

LEARNERS: dict[str, Callable[[], Any]] = {
    "KOIL": lambda: lp.StreamPipeline(lp.OnlineScaler(), lp.KOIL(gamma=0.1, random_state=0)),
    "FourierRanker": lambda: lp.StreamPipeline(lp.OnlineScaler(), lp.FourierRanker(random_state=0)),
    "RareEvent": lambda: lp.StreamPipeline(lp.OnlineScaler(), lp.RareEventClassifier(random_state=0)),
    "OPAUC": lambda: lp.StreamPipeline(lp.OnlineScaler(), lp.OPAUC()),
}


def least(work: Callable[[], Any]) -> tuple[float, Any]:
    """The least of three times, and what was worked out."""
    times, result = [], None
    for _ in range(3):
        begin = time.process_time()
        result = work()
        times.append(time.process_time() - begin)
    return min(times), result


def late_scores(model: Any, stream: Any, times: Any, delay: str | int) -> Any:
    late = LateLearner(model, delay=delay)
    scores = late.progressive_scores(stream.X, stream.y, times=times)
    late.finish()
    return scores


def by_key(model: Any, stream: Any, delay: int) -> int:
    """Every row alone, its label by key so many rows later: as a service does it."""
    late = LateLearner(model, classes=[0, 1])
    for t in range(len(stream.y)):
        if t > delay:
            late.label([t - delay - 1], stream.y[t - delay - 1 : t - delay])
        late.score(stream.X[t : t + 1], [t])
    return late.counts.learned


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    stream = transactions(n)
    times = np.cumsum(np.random.default_rng(0).exponential(SECONDS_BETWEEN_ROWS, n))
    print(f"{n:,} rows of {stream.X.shape[1]} features, one a minute\n")
    print(f"{'learner':<14}{'delay':>8}{'us a row':>10}{'ratio':>7}{'AUROC':>8}")
    for name, make in LEARNERS.items():
        late_scores(make(), stream, times, 50)  # compiles
        plain, scores = least(lambda make=make: make().progressive_scores(stream.X, stream.y))
        print(f"{name:<14}{'plain':>8}{1e6 * plain / n:>10.1f}{1:>7.1f}{auroc(stream.y, scores):>8.4f}")
        for delay in DELAYS:
            spent, scores = least(lambda make=make, delay=delay: late_scores(make(), stream, times, delay))
            area = auroc(stream.y, scores)
            print(f"{name:<14}{delay:>8}{1e6 * spent / n:>10.1f}{spent / plain:>7.1f}{area:>8.4f}")
        spent, _ = least(lambda make=make: by_key(make(), stream, 500))
        print(f"{name:<14}{'by key':>8}{1e6 * spent / n:>10.1f}{spent / plain:>7.1f}")


if __name__ == "__main__":
    main()
