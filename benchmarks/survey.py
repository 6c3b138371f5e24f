"""The static part of the imbalanced-streams survey: ten generators at 1:5 to 1:100, by its windows and by all rows.

    python benchmarks/survey.py [--methods "KOIL, scaled;River ARF"] [--again RareEventClassifier] [--write]

G. Aguiar, B. Krawczyk, A. Cano, "A survey on learning from imbalanced data streams", Machine Learning 113, 2024. Every
cell that was run stands in a log and is not run again: after a change of a learner name it with --again. With --write
the page docs/evidence/survey.md is made from the log. One process; times are of the processor.
`pip install "lopsided[compare]"` brings the rivals; those of MOA run in the environment of `make capymoa`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import lopsided as lp
from contest import (
    Contest,
    Means,
    beside_each,
    command,
    commits_of,
    largest_friedman,
    mean_of,
    means_of,
    tests_of,
    with_ranks,
)
from lopsided.competitors import competitor
from lopsided.datasets import Dataset
from lopsided.evaluate import RunLog
from lopsided.metrics import auroc
from ranks import dotted
from rare_contestants import NEW
from rare_plays import Measures, areas
from rare_sections import SURVEY

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "evidence" / "survey.md"
LOG = HERE.parent / "docs" / "evidence" / "tables" / "survey.jsonl"
ROWS, WINDOW, PORTION = 10_000, 500, 50
SHARES = {5: 0.20, 10: 0.10, 20: 0.05, 50: 0.02, 100: 0.01}  # the survey calls 20 % positives a ratio of 5
SEED = 201  # of every stream; no other page has it
SETS = [f"{name} 1:{ratio}" for ratio in SHARES for name in SURVEY]
SHOWN = (
    ("window auc", "AUC of windows"),
    ("gmean", "G-mean of windows"),
    ("kappa", "Kappa of windows"),
    ("auc", "AUC of all rows"),
    ("ap", "AP of all rows"),
)


def _ours(name: str, *, scaled: bool = False, **options: Any) -> Callable[[int], Any]:
    def make(seed: int) -> Any:
        learner = getattr(lp, name)(threshold="gmean", random_state=seed, **options)
        return lp.StreamPipeline(lp.OnlineScaler(), learner) if scaled else learner

    return make


def _rival(name: str, **options: Any) -> Callable[[int], Any]:
    return lambda seed: competitor(name, random_state=seed, **options)


def _moa(name: str) -> Callable[[int], Any]:
    def make(seed: int) -> Any:
        from moa_learners import MOALearner  # starts Java

        return MOALearner(name, seed)

    return make


CONTESTANTS: dict[str, Callable[[int], Any]] = {
    NEW: _ours(NEW),
    "FourierRanker": _ours("FourierRanker"),
    "KOIL, scaled": _ours("KOIL", scaled=True, C=10, gamma="auto"),
    "OPAUC, scaled": _ours("OPAUC", scaled=True, learning_rate=0.0003),
    "VW linear, balanced": _rival("vw-linear"),
    "LightGBM, lambda 10, positives x5": _rival("lightgbm-weighted"),
    "LightGBM, balanced": _rival("lightgbm-small", first=(100, 250, 500), every=1000),
    "River Hoeffding adaptive tree": _rival("hoeffding"),
    "River ARF": _rival("arf"),
    "River ARF, balanced": _rival("arf-balanced"),
    "River SRP": _rival("srp"),
    "MOA leveraging bagging": _moa("LeveragingBagging"),
    "MOA under-over-bagging": _moa("OnlineUnderOverBagging"),
    "MOA AdaC2": _moa("OnlineAdaC2"),
    "MOA SRP": _moa("SRP"),
    "MOA ARF": _moa("ARF"),
}


@lru_cache(maxsize=60)
def stream_of(kind: str) -> Dataset:
    """A stream by generator and ratio."""
    family, _, ratio = kind.partition(" 1:")
    return SURVEY[family](ROWS, SHARES[int(ratio)], random_state=SEED)


def play(kind: str, name: str, run: int) -> Measures:
    """Test, then train; a portion is decided by the threshold that stood before its first row."""
    stream, learner = stream_of(kind), CONTESTANTS[name](run)
    scores, flagged = np.empty(stream.n_rows), np.empty(stream.n_rows, dtype=bool)
    began = time.process_time()
    for start in range(0, stream.n_rows, PORTION):
        rows = slice(start, start + PORTION)
        # What rivals say is a probability less a half, or a margin: their own decision is at 0.
        threshold = float(getattr(learner, "threshold_", 0.0)) if start else 0.0
        scores[rows] = learner.progressive_scores(stream.X[rows], stream.y[rows], classes=[0, 1])
        flagged[rows] = scores[rows] > threshold
    seconds = time.process_time() - began
    return windowed(stream.y, scores, flagged) | areas(stream.y, scores) | {"us": seconds / stream.n_rows * 1e6}


def windowed(y: np.ndarray, scores: np.ndarray, flagged: np.ndarray) -> Measures:
    """Means of AUC, G-mean and Cohen's kappa over windows, of those in which there are both classes."""
    found = []
    for start in range(0, y.size, WINDOW):
        rows = slice(start, start + WINDOW)
        positive, flags = y[rows] == 1, flagged[rows]
        if 0 < positive.sum() < positive.size:
            recall, specificity = flags[positive].mean(), 1.0 - flags[~positive].mean()
            found.append((auroc(y[rows], scores[rows]), np.sqrt(recall * specificity), kappa(positive, flags)))
    areas_, gmeans, kappas = np.mean(found, axis=0)
    return {"window auc": float(areas_), "gmean": float(gmeans), "kappa": float(kappas)}


def kappa(positive: np.ndarray, flags: np.ndarray) -> float:
    """Cohen's: agreement beyond that of decisions made at random with the same shares."""
    agreed = float((positive == flags).mean())
    share, flagged = float(positive.mean()), float(flags.mean())
    by_chance = share * flagged + (1.0 - share) * (1.0 - flagged)
    return (agreed - by_chance) / (1.0 - by_chance)


CONTEST = Contest("static", SETS, CONTESTANTS, play, SHOWN, NEW, LOG, PAGE)


def page(log: RunLog) -> str:
    """Means and ranks over all streams, against each rival, then by ratio and by generator."""
    means = means_of(log, CONTEST)
    names, tests = list(means[SETS[0]]), tests_of(means, CONTEST)
    lines = [
        f"{NEW} is that of commit {commits_of(log, NEW)}. Means over the {len(SETS)} streams, mean ranks in brackets.",
        "",
        f"| | {' | '.join(title for _, title in SHOWN)} | us a row |",
        "|---" * (len(SHOWN) + 2) + "|",
    ]
    for name in names:
        cost = mean_of(means, SETS, name, "us")
        lines.append(f"| {name} | {' | '.join(with_ranks(means, tests, name))} | {cost:,.0f} |")
    lines += [
        "",
        f"Two mean ranks differ at 95 % by Nemenyi's test if they are {tests['auc'].critical_difference:.2f} apart; "
        f"Friedman's p is {largest_friedman(tests)} for each measure.",
        "",
        f"{NEW} beside each of the others: streams on which it is better / as good / worse, and Wilcoxon's p, "
        f"corrected by Holm for {len(names) - 1} rivals. The five ratios of a generator are no independent streams, so "
        "the p are too small.",
        "",
        *beside_each(tests, CONTEST, names[1:]),
        "",
        "By ratio, AUC of windows / G-mean of windows / AP of all rows:",
        "",
        *_split(means, names, by_ratio()),
    ]
    lines += ["", "By generator, the same:", "", *_split(means, names, by_generator())]
    return "\n".join(lines)


def by_ratio() -> dict[str, list[str]]:
    """Streams of one ratio."""
    return {f"1:{ratio}": [f"{name} 1:{ratio}" for name in SURVEY] for ratio in SHARES}


def by_generator() -> dict[str, list[str]]:
    """Streams of one generator."""
    return {name: [f"{name} 1:{ratio}" for ratio in SHARES] for name in SURVEY}


def _split(means: Means, names: list[str], parts: dict[str, list[str]]) -> list[str]:
    lines = [f"| | {' | '.join(parts)} |", "|---" * (len(parts) + 1) + "|"]
    for name in names:
        cells = [
            " / ".join(dotted(mean_of(means, kinds, name, key)) for key in ("window auc", "gmean", "ap"))
            for kinds in parts.values()
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    command(CONTEST, page, doc=__doc__, runs=1)
