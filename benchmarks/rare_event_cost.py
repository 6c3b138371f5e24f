"""What RareEventClassifier costs on a card stream: learning and scoring, early and later, one row, pauses, memory.

    python benchmarks/rare_event_cost.py [--rows 200000] [--history]

Beside it, on the same rows, LightGBM fitted anew on everything after every so many rows as the card stream has in a
week. Times are of the processor. With `--history` the features of what customers and terminals did before stand beside
the 15 of the stream, 52 in all. `pip install "lopsided[compare]"` brings LightGBM.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np

import lopsided as lp
from lopsided.datasets import card_stream
from rare_history import with_history

DAY = 86_400.0


def microseconds(learner: lp.RareEventClassifier, X: np.ndarray, y: np.ndarray) -> float:
    began = time.process_time()
    learner.progressive_scores(X, y, classes=[0, 1])
    return (time.process_time() - began) / len(y) * 1e6


def longest_pause(X: np.ndarray, y: np.ndarray) -> float:
    """Milliseconds of processor time of the slowest `learn_one`."""
    learner = lp.RareEventClassifier(random_state=0).partial_fit(X[:-40_000], y[:-40_000], classes=[0, 1])
    longest = 0.0
    for x, label in zip(X[-40_000:], y[-40_000:].tolist(), strict=True):
        began = time.process_time()
        learner.learn_one(x, label)
        longest = max(longest, time.process_time() - began)
    return longest * 1e3


def one_by_one(learner: lp.RareEventClassifier, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    rows, labels = list(X), y.tolist()
    began = time.process_time()
    for x in rows:
        learner.score_one(x)
    middle = time.process_time()
    for x, label in zip(rows, labels, strict=True):
        learner.learn_one(x, label)
    return (middle - began) / len(rows) * 1e6, (time.process_time() - middle) / len(rows) * 1e6


def lightgbm(X: np.ndarray, y: np.ndarray, week: int) -> float:
    """Microseconds a row of fitting anew once a week on all rows so far, and scoring the next week."""
    import lightgbm as gbm

    began = time.process_time()
    for start in range(week, len(y), week):
        model = gbm.LGBMClassifier(n_jobs=1, verbose=-1).fit(X[:start], y[:start])
        model.predict_proba(X[start : start + week])
    return (time.process_time() - began) / len(y) * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--history", action="store_true", help="with the features of a history of keys")
    arguments = parser.parse_args()
    rows = arguments.rows
    stream = card_stream(max(50, rows // 340), max(100, rows // 170), days=183, random_state=21)
    if arguments.history:
        stream = with_history(stream, ["customer", "terminal"], "amount", block=DAY, delay=7 * DAY)
    X, y = stream.X[:rows], stream.y[:rows]
    lp.RareEventClassifier().compile_ahead(X.shape[1])
    lp.RareEventClassifier(random_state=1).partial_fit(X[:2_000], y[:2_000], classes=[0, 1])
    learner = lp.RareEventClassifier(random_state=0)
    early = microseconds(learner, X[:20_000], y[:20_000])
    bytes_early = learner.nbytes_
    later = microseconds(learner, X[20_000:], y[20_000:])
    began = time.process_time()
    learner.raw_scores(X[:20_000])
    scoring = (time.process_time() - began) / 20_000 * 1e6
    score_one, learn_one = one_by_one(learner, X[:20_000], y[:20_000])
    print(f"{len(y):,} rows, {X.shape[1]} features, {y.mean():.2%} positive; load {os.getloadavg()[0]:.1f}\n")
    print("| us a row | |\n|---|---|")
    print(f"| learn and score, first 20,000 rows | {early:.0f} |")
    print(f"| learn and score, the others | {later:.0f} |")
    print(f"| score, in batches | {scoring:.0f} |")
    print(f"| `score_one` | {score_one:.0f} |")
    print(f"| `learn_one` | {learn_one:.0f} |")
    print(f"| LightGBM, fitted anew every week on everything | {lightgbm(X, y, len(y) // 26):.0f} |")
    print(f"\nslowest `learn_one` of 40,000: {longest_pause(X, y):.0f} ms; ", end="")
    print(f"memory after 20,000 rows {bytes_early / 1e6:.1f} MB, at the end {learner.nbytes_ / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
