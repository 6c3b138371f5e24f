"""OMCSL and the linear baselines next to the published figures (Yan, Yang, Yang, Chen, AAAI 2017, Table 3).

    python benchmarks/evidence_omcsl.py --data DIR [--splits 5] [--markdown docs/evidence/omcsl.md]

DIR holds w8a.npz (`data`, `indices`, `indptr`, `shape`: CSR, binary) and covtype1v5.npz (`X`, here scaled to [0, 1] by
feature), and `y`.

Protocol: random splits (seeds 0, 1, ...), 4/5 to learn from in one pass, measures of the final model on the rest. Step
sizes (and C) are chosen once for each set and measure, by the progressive measure over the training part of the first
split: test rows are never looked at. All learners have a bias.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

import lopsided as lp
from lopsided.metrics import auroc, average_precision, f1
from pages import write_measured

RATES = [(rate, decay) for rate in (0.01, 0.1, 1.0, 10.0) for decay in (True, False)]
MEASURES: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {"F": f1, "AUROC": auroc, "AUPRC": average_precision}
NAMES = {"F": "f1", "AUROC": "auroc", "AUPRC": "auprc"}
LOSSES = {"h": "hinge", "l": "logistic"}

# published: set -> (F, AUROC, AUPRC); those that cannot be areas (below .5, or a copy of F) are left out.
PUBLISHED: dict[str, dict[str, tuple[float | None, float | None, float | None]]] = {
    "w8a": {
        "OMCSL-h": (0.7147, 0.9598, 0.7087),
        "OMCSL-l": (0.6891, 0.9551, 0.7086),
        "OPAUC": (None, 0.9602, None),
        "OFO-h": (0.6616, None, None),
        "OFO-l": (0.6325, None, None),
        "OCS1-h": (0.4948, None, None),
        "OCS1-l": (0.5156, None, 0.6381),
        "OCS2-h": (0.4478, None, None),
        "OCS2-l": (0.4405, None, 0.6241),
        "iOOB-h": (0.0837, None, None),
        "iOOB-l": (0.0907, None, None),
        "iUOB-h": (0.0839, None, None),
        "iUOB-l": (0.0903, None, None),
    },
    "covtype1v5": {
        "OMCSL-h": (0.6449, 0.9809, 0.7042),
        "OMCSL-l": (0.6597, 0.9823, 0.7187),
        "OPAUC": (None, 0.9813, None),
        "OFO-h": (0.7071, None, None),
        "OFO-l": (0.66, None, None),
        "OCS1-h": (0.5204, None, None),
        "OCS1-l": (0.523, None, None),
        "OCS2-h": (0.5035, None, None),
        "OCS2-l": (0.5044, None, None),
        "iOOB-h": (0.118, None, None),
        "iOOB-l": (0.1356, None, None),
        "iUOB-h": (0.1174, None, None),
        "iUOB-l": (0.1256, None, None),
    },
}


def descents(make: Callable[..., Any]) -> list[Any]:
    return [make(learning_rate=rate, decay=decay, fit_intercept=True) for rate, decay in RATES]


def candidates(measure: str) -> dict[str, list[Any]]:
    """For each method the settings among which to choose."""
    methods: dict[str, list[Any]] = {}
    for letter, loss in LOSSES.items():
        refresh = 50 if measure == "AUPRC" else 1
        options = {"loss": loss, "measure": NAMES[measure], "refresh": refresh, "random_state": 0}
        methods[f"OMCSL-{letter}"] = descents(lambda options=options, **o: lp.OMCSL(**options, **o))
    for letter, loss in LOSSES.items():
        if measure == "F":
            methods[f"OFO-{letter}"] = descents(lambda loss=loss, **o: lp.OFO(loss, **o))
        for variant in (1, 2):
            methods[f"OCS{variant}-{letter}"] = descents(lambda loss=loss, v=variant, **o: lp.OCS(v, loss, **o))
        if measure == "F":
            for mode in ("over", "under"):
                options = {"mode": mode, "loss": loss, "random_state": 0}
                name = f"i{'O' if mode == 'over' else 'U'}OB-{letter}"
                methods[name] = descents(lambda options=options, **o: lp.ResamplingBagging(**options, **o))
    if measure != "F":
        methods["OPAUC"] = [lp.OPAUC(rate, r) for rate in (1e-3, 1e-2, 1e-1) for r in (0.0, 1e-4, 1e-2)]
        for variant in ("seq", "gra"):
            methods[f"OAM-{variant}"] = [lp.OAM(variant, C=C, random_state=0) for C in (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)]
    methods["Perceptron"] = [lp.OnlinePerceptron(fit_intercept=True)]
    return methods


def load(folder: Path, name: str) -> tuple[Any, np.ndarray]:
    with np.load(folder / f"{name}.npz") as file:
        y = file["y"].astype(int)
        if "X" in file.files:
            X = file["X"].astype(np.float64)
            low, high = X.min(axis=0), X.max(axis=0)
            return (X - low) / np.where(high > low, high - low, 1.0), y
        data = file["data"].astype(np.float64), file["indices"].astype(np.int32), file["indptr"]
        return sp.csr_matrix(data, shape=tuple(file["shape"])), y


def parts(y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng(seed).permutation(y.size)
    return order[: y.size * 4 // 5], order[y.size * 4 // 5 :]


def table(folder: Path, name: str, splits: int) -> list[str]:
    X, y = load(folder, name)
    lines = [
        f"| {name}, test | measure | published | here | difference | setting |",
        "|---|---|---|---|---|---|",
    ]
    known = PUBLISHED[name]
    for position, (measure, area) in enumerate(MEASURES.items()):
        for method, settings in candidates(measure).items():
            train, _ = parts(y, 0)
            rows, labels = X[train], y[train]
            online = [area(labels, clone(s).progressive_scores(rows, labels)) for s in settings]
            best = settings[int(np.argmax(online))]
            results = []
            for seed in range(splits):
                train, test = parts(y, seed)
                learner = clone(best).partial_fit(X[train], y[train])
                results.append(area(y[test], learner.decision_function(X[test])))
            mean, spread = float(np.mean(results)), float(np.std(results))
            published = known.get(method, (None, None, None))[position]
            before = "- | " if published is None else f"{published:.3f} | "
            after = " | - | " if published is None else f" | {mean - published:+.3f} | "
            setting = ", ".join(
                f"{key}={getattr(best, key):g}" if key != "decay" else ("decay" if best.decay else "constant")
                for key in ("learning_rate", "decay", "regularization", "C")
                if hasattr(best, key) and not (key == "regularization" and not isinstance(best, lp.OPAUC))
            )
            lines.append(f"| {method} | {measure} | {before}{mean:.3f} ± {spread:.3f}{after}{setting} |")
            print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the npz files")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--sets", default="w8a,covtype1v5")
    parser.add_argument("--markdown", type=Path, help="page to write the tables into, between its marks")
    arguments = parser.parse_args()
    tables = [table(arguments.data, name, arguments.splits) for name in arguments.sets.split(",")]
    text = "\n\n".join("\n".join(lines) for lines in tables)
    if arguments.markdown:
        write_measured(arguments.markdown, f"{arguments.splits} splits.\n\n{text}")


if __name__ == "__main__":
    main()
