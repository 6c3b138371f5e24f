"""Whether probabilities and thresholds of RareEventClassifier keep their promise, at base rates from 0.1 % to 5 %.

    python benchmarks/rare_calibration.py [--write] [--quick]

100,000 rows of two overlapping Gaussian classes, of exclusive or, and of a random tree. The learner gives the next
1,000 rows their probabilities, then learns them. Beside it, what one would do by hand with the same progressive scores:
Platt's logistic curve and isotonic regression, fitted anew by scikit-learn to all scores and labels so far, before
every 1,000 rows. The first fifth of the rows is not judged.

Of thresholds: the share of rows flagged by "rate:0.01", and the measure that "f1" and "gmean" maximise, beside the best
that one fixed threshold reaches on the same scores in hindsight.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

import lopsided as lp
from lopsided.datasets import Dataset, overlapping, random_tree, xor
from pages import write_measured

PAGE = Path(__file__).parents[1] / "docs" / "evidence" / "rare-events.md"
RATES = (0.001, 0.005, 0.01, 0.05)
STREAMS: dict[str, Callable[..., Dataset]] = {
    "linear": lambda n, rate, seed: overlapping(n, 20, rate, random_state=seed),
    "xor": lambda n, rate, seed: xor(n, rate, random_state=seed),
    "random tree": lambda n, rate, seed: random_tree(n, rate, random_state=seed),
}
ROWS, PORTION, SEED = 100_000, 1_000, 301
GROUPS = 10
RULES = ("rate:0.01", "f1", "gmean")


def by_hand(scores: np.ndarray, y: np.ndarray, new: np.ndarray) -> dict[str, np.ndarray]:
    """Platt's curve and isotonic regression, fitted to what is known."""
    if not 0 < y.sum() < y.size:
        share = (y.sum() + 0.5) / (y.size + 1.0)
        return dict.fromkeys(("Platt by hand", "isotonic by hand"), np.full(new.size, share))
    platt = LogisticRegression(C=1e6).fit(scores[:, None], y)
    isotonic = IsotonicRegression(out_of_bounds="clip").fit(scores, y)
    return {"Platt by hand": platt.predict_proba(new[:, None])[:, 1], "isotonic by hand": isotonic.predict(new)}


def answers(stream: Dataset) -> dict[str, np.ndarray]:
    """Probabilities, flags by each rule and scores, given before each portion of the stream is learned."""
    learner, scores = lp.RareEventClassifier(random_state=0), np.zeros(stream.n_rows)
    found: dict[str, np.ndarray] = {}
    for start in range(0, stream.n_rows, PORTION):
        part = slice(start, start + PORTION)
        X, y = stream.X[part], stream.y[part]
        if start:
            new = learner.raw_scores(X)
            given = {"scores": new} | {rule: learner.set_params(threshold=rule).predict(X) for rule in RULES}
            given |= {"predict_proba": learner.predict_proba(X)[:, 1], **by_hand(scores[:start], stream.y[:start], new)}
            for name, values in given.items():
                found.setdefault(name, np.zeros(stream.n_rows))[part] = values
        scores[part] = learner.progressive_scores(X, y, classes=[0, 1])
    return found


def judged(y: np.ndarray, p: np.ndarray) -> tuple[float, float, float, float]:
    """Brier score and log-loss, each as a share of what the rate alone has; positives promised for each that came; and
    how far promised and came are apart by groups, as a share of all positives."""
    rate = y.mean()
    brier = np.mean((p - y) ** 2) / (rate * (1 - rate))
    q = np.clip(p, 1e-6, 1 - 1e-6)
    loss = -np.mean(y * np.log(q) + (1 - y) * np.log(1 - q)) / -(rate * np.log(rate) + (1 - rate) * np.log(1 - rate))
    # Groups of equal promised mass: with equal numbers nine of ten would hold no positive at all.
    order = np.argsort(p, kind="stable")
    mass = np.cumsum(p[order])
    group = np.minimum((mass / mass[-1] * GROUPS).astype(int), GROUPS - 1)
    promised = np.bincount(group, p[order], GROUPS)
    came = np.bincount(group, y[order], GROUPS)
    return float(brier), float(loss), float(p.sum() / y.sum()), float(np.abs(promised - came).sum() / y.sum())


def f1_and_gmean(true: np.ndarray, flagged: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both measures, given how many of the flagged rows are positive."""
    positives, negatives = y.sum(), y.size - y.sum()
    f1 = 2.0 * true / (positives + flagged)
    return f1, np.sqrt(true / positives * (1.0 - (flagged - true) / negatives))


def kept(y: np.ndarray, given: dict[str, np.ndarray]) -> list[float]:
    """The share of rows flagged by the rate; F1 and G-mean by their rules, each before the best in hindsight."""
    order = np.argsort(-given["scores"], kind="stable")
    best = f1_and_gmean(np.cumsum(y[order]), np.arange(1, y.size + 1), y)
    found = [float(given["rate:0.01"].mean())]
    for k, rule in enumerate(("f1", "gmean")):
        flags = given[rule]
        found += [float(f1_and_gmean((y * flags).sum(), flags.sum(), y)[k]), float(best[k].max())]
    return found


def tables(rows: int) -> str:
    """Means over the streams."""
    rules = ["| base rate | flagged by rate:0.01 | F1 by f1 | in hindsight | G-mean by gmean | in hindsight |"]
    rules.append("|---" * 6 + "|")
    lines = ["| base rate | | Brier | log-loss | promised / came | error by groups |", "|---|---|---|---|---|---|"]
    for rate in RATES:
        found: dict[str, list[tuple[float, float, float, float]]] = {}
        promises = []
        for make in STREAMS.values():
            stream, part = make(rows, rate, SEED), slice(rows // 5, None)
            given = {name: values[part] for name, values in answers(stream).items()}
            promises.append(kept(stream.y[part], given))
            for name in ("predict_proba", "Platt by hand", "isotonic by hand"):
                found.setdefault(name, []).append(judged(stream.y[part], given[name]))
        for name, values in found.items():
            brier, loss, promised, error = np.mean(values, axis=0)
            lines.append(f"| {rate:.1%} | {name} | {brier:.3f} | {loss:.3f} | {promised:.2f} | {error:.2f} |")
            print(lines[-1], flush=True)
        share, *measures = np.mean(promises, axis=0)
        rules.append(f"| {rate:.1%} | {share:.2%} | {' | '.join(f'{value:.3f}' for value in measures)} |")
        print(rules[-1], flush=True)
    return "\n".join([*lines, "", *rules])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put the table into docs/evidence/rare-events.md")
    parser.add_argument("--quick", action="store_true", help="20,000 rows instead of 100,000")
    arguments = parser.parse_args()
    text = tables(20_000 if arguments.quick else ROWS)
    if arguments.write:
        write_measured(PAGE, text, "probabilities")


if __name__ == "__main__":
    main()
