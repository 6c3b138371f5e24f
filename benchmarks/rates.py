"""Whether `threshold="rate:SHARE"` flags that share of later rows, for every learner that works online.

    python benchmarks/rates.py [--shares 0.05 0.01] [--learners NAME ...] [--streams NAME ...] [--orders N]

A model learns the first half of a stream: at most 4,000 rows for a share of 5 %; for 1 %, of which 4,000 rows would
show 40, 20,000 rows of the generators, and the sets of KEEL are too short. Then it is asked three times:

- held out: `predict` on all later rows, none of which is learned;
- in a file: the same rows and scores, decided on one after the other as `lopsided score` does (`AlertShare`);
- online: `score_one` for each later row (at most 2,000, for 1 % 3,000), then `learn_one`.

A figure is the share of rows flagged, divided by the share asked for, averaged over orders of the rows or seeds of the
generator. `dates` is not stationary: scores move with the day of the month. What is left to chance is printed below:
the typical standard error of a column's figures, and how far the farthest single run of all learners was from 1.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import lopsided as lp
from lopsided.alerts import AlertShare
from lopsided.datasets import Dataset, load_keel, overlapping, transactions, xor
from lopsided.encoding import TableEncoder, infer_schema
from lopsided.estimators import registry

ASKED = ("held out", "in a file", "online")
MOST_PAST, MANY_PAST = 4_000, 20_000

Rows = tuple[np.ndarray, np.ndarray]


def _shuffled(stream: Dataset, seed: int) -> Rows:
    order = np.random.default_rng(seed).permutation(stream.n_rows)
    return stream.X[order], stream.y[order]


def _payments(seed: int) -> Rows:
    stream = transactions(20_000, random_state=seed)
    return _standardised(stream.X[:10_000], stream.y[:10_000])  # then frauds change: no longer the same stream


def _many_payments(seed: int) -> Rows:
    """In a random order: frauds come in bursts, by which alone 1 % of the rows may become 1.2 % for a while."""
    stream = transactions(4 * MANY_PAST, random_state=seed)
    order = np.random.default_rng(seed).permutation(2 * MANY_PAST)
    return _standardised(stream.X[order], stream.y[order])


def _standardised(X: np.ndarray, y: np.ndarray) -> Rows:
    return (X - X[:MOST_PAST].mean(axis=0)) / X[:MOST_PAST].std(axis=0), y


def _dated(seed: int) -> Rows:
    """Rows of 45 days with a date, of which 20 are learned: later ones are of days of the month not seen before."""
    rng, n = np.random.default_rng(seed), 9_000
    seconds, y = np.sort(rng.integers(0, 45 * 86_400, n)), (rng.random(n) < 0.03).astype(np.int64)
    when = np.datetime64("2024-01-01T00:00:00") + seconds.astype("timedelta64[s]")
    columns = {"when": when.astype(str).tolist(), "amount": rng.lognormal(3.0 + y), "x": rng.normal(1.5 * y)}
    encoder = TableEncoder(infer_schema(columns))
    X = encoder.matrix(encoder.columns_of(columns))
    return _standardised(X, y)


def _generated(make: Callable[..., Dataset], **parameters: Any) -> Callable[[int], Rows]:
    def rows(seed: int) -> Rows:
        stream = make(**parameters, random_state=seed)
        return stream.X, stream.y

    return rows


class Table(NamedTuple):
    """What is asked for one share: of how many rows at most, and of which streams, each with its number of runs."""

    past: int
    online: int
    streams: dict[str, tuple[Callable[[int], Rows], int]]


TABLES = {
    0.05: Table(
        MOST_PAST,
        2_000,
        {
            "page-blocks0": (lambda seed: _shuffled(load_keel("page-blocks0"), seed), 12),
            "abalone19": (lambda seed: _shuffled(load_keel("abalone19"), seed), 12),
            "overlapping": (_generated(overlapping, n=8_000, n_features=4, rare=0.05), 6),
            "xor": (_generated(xor, n=8_000), 6),
            "transactions": (_payments, 6),
            "dates": (_dated, 6),
        },
    ),
    0.01: Table(
        MANY_PAST,
        3_000,
        {
            "overlapping": (_generated(overlapping, n=2 * MANY_PAST, n_features=4, rare=0.05), 8),
            "xor": (_generated(xor, n=2 * MANY_PAST), 8),
            "transactions": (_many_payments, 8),
            "dates": (_dated, 6),
        },
    ),
}


def learner_of(name: str, share: float, seed: int) -> Any:
    """A learner as it comes, with a rate for its threshold."""
    entry, rule = registry.entry(name), f"rate:{share}"
    if name in ("StreamPipeline", "SparsePipeline"):
        return entry.kind(learner=lp.KOIL(threshold=rule, random_state=seed))
    if name == "ExpertPool":
        members = [lp.KOIL(random_state=seed), lp.OPAUC(), lp.SPA(random_state=seed)]
        return lp.ExpertPool(members, threshold=rule, random_state=seed)
    return entry.kind(threshold=rule, random_state=seed)


def ratios(name: str, X: np.ndarray, y: np.ndarray, seed: int, share: float) -> list[float]:
    """What is flagged held out, in a file, and online, divided by the share asked for."""
    past = min(TABLES[share].past, len(y) // 2)
    stop = min(len(y), past + TABLES[share].online)
    model = learner_of(name, share, seed).partial_fit(X[:past], y[:past], classes=[0, 1])
    held_out = np.mean(model.predict(X[past:]) == 1)
    in_a_file = np.mean(AlertShare(share, model.recent_scores_).decide(model.raw_scores(X[past:])))
    flagged = 0
    for x, label in zip(X[past:stop], y[past:stop].tolist(), strict=True):
        flagged += model.score_one(x) > 0.0
        model.learn_one(x, label)
    return [float(part) / share for part in (held_out, in_a_file, flagged / (stop - past))]


def main() -> None:
    everybody = [e.name for e in registry.entries(online=True, is_learner=True) if not e.takes_tables]
    everybody = [name for name in everybody if registry.entry(name).family != "bayesian" and name != "KeyedLearner"]
    parser = argparse.ArgumentParser()
    parser.add_argument("--shares", nargs="+", type=float, choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--learners", nargs="+", choices=everybody, default=everybody)
    parser.add_argument("--streams", nargs="+", choices=list(TABLES[0.05].streams))
    parser.add_argument("--orders", type=int)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for share in options.shares:
        streams = [name for name in TABLES[share].streams if name in (options.streams or TABLES[share].streams)]
        figures = {stream: _figures_of(stream, options.learners, share, options.orders) for stream in streams}
        print(f"\n| {share:.0%}: {' / '.join(ASKED)} | " + " | ".join(figures) + " |")
        print("|---|" + "---|" * len(figures))
        for name in options.learners:
            print(_line(name, [found[name].mean(axis=0) for found in figures.values()]))
        print(_line("*standard error*", [_chance(list(found.values())) for found in figures.values()]))
        print(_line("*farthest run*", [_farthest(list(found.values())) for found in figures.values()]), flush=True)


def _line(name: str, cells: list[np.ndarray]) -> str:
    return f"| {name} | " + " | ".join(" / ".join(f"{value:.2f}" for value in cell) for cell in cells) + " |"


def _figures_of(stream: str, learners: list[str], share: float, orders: int | None) -> dict[str, np.ndarray]:
    """For each learner a row of ratios for each order."""
    make, usual = TABLES[share].streams[stream]
    data, found = [make(seed) for seed in range(orders or usual)], {}
    for name in learners:
        found[name] = np.array([ratios(name, *rows, seed, share) for seed, rows in enumerate(data)])
        print(stream, name, found[name].mean(axis=0).round(2), file=sys.stderr, flush=True)
    return found


def _chance(tables: list[np.ndarray]) -> np.ndarray:
    errors = [table.std(axis=0, ddof=1) / np.sqrt(len(table)) for table in tables]
    return np.asarray(np.median(errors, axis=0))


def _farthest(tables: list[np.ndarray]) -> np.ndarray:
    return np.asarray(np.max([np.abs(table - 1.0).max(axis=0) for table in tables], axis=0))


if __name__ == "__main__":
    sys.exit(main())
