"""What late, missing and selective labels cost: docs/evidence/labels.md.

    python benchmarks/cost_of_labels.py [--rows N] [--seeds 0,1,2] [--log FILE] [--page docs/evidence/labels.md]

A simulated stream of card payments, raw (time, customer, terminal, amount): RareEventClassifier behind a history of
customers and terminals, whose risks are learned from the labels that are seen, and from no others. The same payments
are lived through under different labels. Rows of the second half are judged, by the truth, which no model was told.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import lopsided as lp
from lopsided.alerts import AlertBudget, judged_alerts
from lopsided.datasets import Dataset, card_stream
from lopsided.encoding import infer_schema
from lopsided.evaluate import Evaluation
from lopsided.late import SelectiveLabels
from lopsided.metrics import auroc, average_precision
from pages import write_measured

ROWS_A_CUSTOMER = 178.7  # in 90 days, on average
DAYS, BUDGET = 90, 20
PORTION = 4096


@dataclass(frozen=True)
class Life:
    """How labels come: after which delay, for which rows, and what becomes of rows without."""

    words: str
    delay: str = "7d"
    unlabelled: str = "skip"
    reported: float | None = None  # the share of the frauds that are reported; honest rows never are
    explore: float | None = None  # None: all labels are seen
    cap: float = 1.0  # on what labels count when they are learned


SEVEN = Life("all labels, after 7 days")
LIVES = {
    "Delay": [
        Life("at once", "0"),
        Life("after 1 day", "1d"),
        SEVEN,
        Life("after 30 days", "30d"),
    ],
    "Missing labels": [
        SEVEN,
        Life("all frauds after 7 days, others negative after 30 days", unlabelled="negative:30d", reported=1.0),
        Life("half of the frauds after 7 days, others negative after 7 days", unlabelled="negative:7d", reported=0.5),
        Life("half of the frauds after 7 days, others negative after 30 days", unlabelled="negative:30d", reported=0.5),
    ],
    "Labels of alerts only": [
        SEVEN,
        Life("alerts only", explore=0.0),
        Life("and 1 % of the others, unweighted", explore=0.01),
        Life("and 1 % of the others, weighted up to 10", explore=0.01, cap=10.0),
        Life("and 1 % of the others, weighted (100)", explore=0.01, cap=100.0),
        Life("and 5 % of the others, unweighted", explore=0.05),
        Life("and 5 % of the others, weighted (20)", explore=0.05, cap=20.0),
    ],
}


@dataclass(frozen=True)
class Figures:
    """What came of it: areas and daily precision by the truth; labels that were learned; and what they let estimate."""

    auroc: float
    average_precision: float
    precision: float
    learned: int
    estimated_auroc: float
    estimated_average_precision: float


def model_for(stream: Dataset, seed: int) -> Any:
    head = {name: stream.columns[name][:1000] for name in ("time", "customer", "terminal", "amount")}
    schema = infer_schema(head, time="time", ignore=["customer", "terminal"])
    history = lp.KeyedHistory(["customer", "terminal"], "time", "amount")
    return lp.HistoryPipeline(schema, history, learner=lp.RareEventClassifier(random_state=seed))


def lived(stream: Dataset, life: Life, seed: int) -> Figures:
    """One life of a model, judged on the second half of the days."""
    y = stream.y.astype(np.float64)
    if life.reported is not None:
        is_reported = (stream.y == 1) & (np.random.default_rng(seed).random(y.size) < life.reported)
        y = np.where(is_reported, 1.0, np.nan)
    selective = None
    if life.explore is not None:
        selective = SelectiveLabels(life.explore, cap=life.cap, seed=seed)
    budget = AlertBudget(BUDGET)
    run = Evaluation(
        model_for(stream, seed), delay=life.delay, unlabelled=life.unlabelled, classes=[0, 1], selective=selective
    )
    scores, flags = [], []
    engine = run.late
    for rows in portions(stream):
        X = {name: stream.columns[name][rows] for name in ("time", "customer", "terminal", "amount")}
        times = stream.times[rows]
        if selective is None:  # the engine itself, because rows without a label are judged here as well
            run_scores = scored(run, X, y[rows], times)
            flags.append(budget.decide(times, run_scores))
        else:
            run.step(X, y[rows].astype(int), times=times, alert=alert_of(budget, times))
            run_scores = run.scores[rows]
            flags.append(run.alerted)
        scores.append(run_scores)
    found, alerted = np.concatenate(scores), np.concatenate(flags)
    late = stream.times >= DAYS / 2 * 86_400.0
    positive = stream.y == 1
    alerts = judged_alerts(stream.times[late], alerted[late], positive[late]).overall
    weights = None if selective is None else run.chances[late]
    learned = selective.n_seen if selective is not None else (y.size if engine is None else engine.counts.learned)
    nan = float("nan")
    return Figures(
        auroc(positive[late], found[late]),
        average_precision(positive[late], found[late]),
        alerts.precision,
        learned,
        nan if weights is None else auroc(positive[late], found[late], sample_weight=weights),
        nan if weights is None else average_precision(positive[late], found[late], sample_weight=weights),
    )


def scored(run: Evaluation, X: Any, y: Any, times: Any) -> Any:
    if run.late is not None:
        return run.late.progressive_scores(X, y, times=times)
    return run.learner.progressive_scores(X, y.astype(int), classes=[0, 1])


def alert_of(budget: AlertBudget, times: Any) -> Callable[[slice, Any], Any]:
    return lambda rows, scores: budget.decide(times[rows], scores)


def portions(stream: Dataset) -> Iterator[slice]:
    for start in range(0, stream.y.size, PORTION):
        yield slice(start, min(start + PORTION, stream.y.size))


def mean_and_spread(values: list[float]) -> str:
    return f"{np.mean(values):.3f} ± {np.std(values):.3f}"


def table(title: str, lives: list[Life], found: dict[Life, list[Figures]]) -> list[str]:
    has_estimates = any(life.explore is not None for life in lives)
    more = " estimated AUROC | estimated AP |" if has_estimates else ""
    lines = [f"## {title}", "", f"| labels | AUROC | AP | daily precision | labels learned |{more}"]
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seeds", type=lambda text: [int(part) for part in text.split(",")], default=[0, 1, 2])
    parser.add_argument("--log", type=Path, help="lives that have been lived, one JSON object each: they are not again")
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    begin = time.process_time()
    customers = max(1, round(options.rows / ROWS_A_CUSTOMER))
    found: dict[Life, list[Figures]] = {}
    known = read_log(options.log)
    sizes, frauds = [], []
    for seed in options.seeds:
        stream = card_stream(customers, 2 * customers, DAYS, random_state=seed)
        sizes.append(stream.y.size)
        frauds.append(stream.y.mean())
        for life in dict.fromkeys(life for lives in LIVES.values() for life in lives):
            name = f"{stream.y.size} rows, seed {seed}, {life.words}"
            figures = known.get(name)
            if figures is None:
                figures = lived(stream, life, seed)
                if options.log is not None:
                    with options.log.open("a") as log:
                        log.write(json.dumps({"life": name, **asdict(figures)}) + "\n")
            found.setdefault(life, []).append(figures)
            print(f"{name}: {figures}", flush=True)
    spent = time.process_time() - begin
    tables = [line for title, lives in LIVES.items() for line in table(title, lives, found)]
    stream_words = (
        f"{len(options.seeds)} streams of about {np.mean(sizes):,.0f} payments in {DAYS} days, "
        f"{100 * np.mean(frauds):.2f} % of them frauds; {BUDGET} alerts a day."
    )
    print("\n".join([stream_words, *tables]))
    print(f"{spent:,.0f} seconds of CPU")
    if options.page is not None:
        write_measured(options.page, "\n".join(["", stream_words, "", *tables]))


if __name__ == "__main__":
    main()
