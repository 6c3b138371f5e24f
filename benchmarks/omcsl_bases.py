"""OMCSL over another base learner than linear gradient descent: over FOGD, which descends on random Fourier features.

    python benchmarks/omcsl_bases.py [--write]

OMCSL asks of its base learners that they learn an example with a cost. FOGD is gradient descent on features that are
drawn once, so that OMCSL over FOGD is OMCSL on these features, each of its nine columns a FOGD of its own. Ten
generators of the imbalanced-streams survey, 5 % positives, test then train; step sizes are chosen on a stream of
another seed. With --write the page docs/evidence/omcsl-bases.md is made.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.kernel_approximation import RBFSampler

import lopsided as lp
from lopsided.metrics import auroc, average_precision, f1
from pages import write_measured
from ranks import dotted
from rare_sections import SURVEY

PAGE = Path(__file__).parent.parent / "docs" / "evidence" / "omcsl-bases.md"
ROWS, SHARE, COMPONENTS = 10_000, 0.05, 400
SEED, TUNING_SEED = 301, 302
RATES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
MEASURES: dict[str, Callable[..., float]] = {"f1": f1, "auroc": auroc, "auprc": average_precision}


def waves(X: np.ndarray) -> np.ndarray:
    """FOGD's features: cosines along random directions, drawn once and blind to the data; then a constant."""
    sampler = RBFSampler(gamma=1.0 / X.shape[1], n_components=COMPONENTS, random_state=0)
    return np.ascontiguousarray(np.column_stack([sampler.fit(X[:1]).transform(X), np.ones(len(X))]))


def lines(X: np.ndarray) -> np.ndarray:
    """The features as they are, and a constant."""
    return np.ascontiguousarray(np.column_stack([X, np.ones(len(X))]))


def unchanged(X: np.ndarray) -> np.ndarray:
    """FOGD draws features of its own."""
    return X


def omcsl(measure: str, rate: float) -> Any:
    """Nine costs; steps of one size, as FOGD's are; areas are computed again after ten examples."""
    refresh = 1 if measure == "f1" else 10
    return lp.OMCSL(measure=measure, learning_rate=rate, loss="logistic", decay=False, refresh=refresh, random_state=0)


def fogd(measure: str, rate: float) -> Any:
    """The base learner alone, for which both classes cost the same."""
    return lp.FOGD(n_components=COMPONENTS, gamma="auto", learning_rate=rate, random_state=0)


CONTESTANTS = {
    "OMCSL over linear descent": (lines, omcsl),
    "OMCSL over FOGD": (waves, omcsl),
    "FOGD alone": (unchanged, fogd),
}


def play(family: str, name: str, measure: str) -> tuple[float, float]:
    """The measure of all rows, scored before they were learned, and microseconds a row.

    The scale and the step size are those of a stream of another seed.
    """
    features, make = CONTESTANTS[name]
    first, stream = (SURVEY[family](ROWS, SHARE, random_state=seed) for seed in (TUNING_SEED, SEED))
    scaler = lp.OnlineScaler().fit(first.X)
    rows = features(scaler.transform(first.X))
    tried = [make(measure, rate).progressive_scores(rows, first.y, classes=[0, 1]) for rate in RATES]
    found = [MEASURES[measure](first.y, scores) for scores in tried]
    rows, learner = features(scaler.transform(stream.X)), make(measure, RATES[int(np.argmax(found))])
    began = time.process_time()
    scores = learner.progressive_scores(rows, stream.y, classes=[0, 1])
    return MEASURES[measure](stream.y, scores), (time.process_time() - began) / len(stream.y) * 1e6


def page() -> str:
    """F, AUROC and AUPRC by generator, and the means."""
    parts = []
    for measure, title in (("f1", "F"), ("auroc", "AUROC"), ("auprc", "AUPRC")):
        table = [f"| {title} | {' | '.join(SURVEY)} | mean | us a row |", "|---" * (len(SURVEY) + 3) + "|"]
        for name in CONTESTANTS:
            found = np.array([play(family, name, measure) for family in SURVEY])
            cells = " | ".join(dotted(value) for value in found[:, 0])
            table.append(f"| {name} | {cells} | {dotted(found[:, 0].mean())} | {found[:, 1].mean():.1f} |")
            print(table[-1], flush=True)
        parts.append("\n".join(table))
    return "\n\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the page")
    text = page()
    if parser.parse_args().write:
        write_measured(PAGE, text)


if __name__ == "__main__":
    main()
