"""A pool of KOILs that nobody tuned, next to the published figures of a KOIL that was tuned for each set.

    python benchmarks/evidence_pool.py --data DIR [--markdown docs/evidence/pool.md]

DIR as for evidence_koil.py. First table: the authors' 20 splits, one pass over the stream, AUC on the test rows; 78
members (gamma in 2^[-6:6], C in 2^{-4,-2,0,2,4,6}), everything else at its default. Second table: KEEL streams from
PyPI, progressive AUC and average precision of KOILs, of passive-aggressive learners, and of both in one pool.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from sklearn.base import clone

from evidence_koil import PUBLISHED, load
from lopsided import KOIL, ExpertPool, KernelPA
from lopsided.datasets import load_keel
from lopsided.metrics import auroc, average_precision
from pages import write_measured
from which_learner import SETS

MEMBERS = [KOIL(gamma=2.0**g, C=2.0**c) for g in range(-6, 7) for c in (-4, -2, 0, 2, 4, 6)]
KOILS = [KOIL(gamma=gamma, C=C) for gamma in (0.25, 1.0, 4.0, 16.0) for C in (1.0, 10.0)]
PASSIVE_AGGRESSIVE = [KernelPA(gamma=gamma) for gamma in (0.25, 1.0, 4.0, 16.0)]
COMBINATIONS = {"weighted": {}, "best": {"combine": "best"}}


def published_table(folder: Path) -> list[str]:
    names = [name for name in PUBLISHED if (folder / f"{name}.npz").exists()]
    lines = [
        "| set | published, tuned | pool, weighted | difference | pool, best | difference |",
        "|---|---|---|---|---|---|",
    ]
    close = []
    for name in names:
        problem = load(folder, name)
        areas: dict[str, list[float]] = {key: [] for key in COMBINATIONS}
        for run in range(1, 21):
            train, test = problem.split(run)
            for key, options in COMBINATIONS.items():
                pool = ExpertPool(MEMBERS, random_state=run, **options).partial_fit(problem.X[train], problem.y[train])
                areas[key].append(auroc(problem.y[test], pool.decision_function(problem.X[test])))
        published = PUBLISHED[name]["rs++"]
        cells = [f"{np.mean(a):.3f} ± {np.std(a):.3f} | {np.mean(a) - published[0]:+.3f}" for a in areas.values()]
        close.append(np.mean(areas["weighted"]) - published[0] > -0.01)
        lines.append(f"| {name} | {published[0]:.3f} ± {published[1]:.3f} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    lines += ["", f"Within .01 of the tuned figure, or better: {sum(close)} of {len(close)} (weighted)."]
    print(lines[-1])
    return lines


def stream_table() -> list[str]:
    pools = {
        "8 KOILs": ExpertPool(KOILS, random_state=0),
        "4 PAs": ExpertPool(PASSIVE_AGGRESSIVE, random_state=0),
        "both": ExpertPool([*KOILS, *PASSIVE_AGGRESSIVE], random_state=0),
        "both, by AUPRC": ExpertPool([*KOILS, *PASSIVE_AGGRESSIVE], measure="auprc", random_state=0),
        "both, best": ExpertPool([*KOILS, *PASSIVE_AGGRESSIVE], combine="best", random_state=0),
    }
    lines = ["| AUC / average precision | " + " | ".join(pools) + " |", "|---|" + "---|" * len(pools)]
    found = []
    for name in SETS:
        stream = load_keel(name)
        scores = [clone(pool).progressive_scores(stream.X, stream.y, classes=[0, 1]) for pool in pools.values()]
        found.append([(auroc(stream.y, s), average_precision(stream.y, s)) for s in scores])
        lines.append(f"| {name} | " + " | ".join(f"{a:.3f} / {p:.3f}" for a, p in found[-1]) + " |")
        print(lines[-1], flush=True)
    means = np.mean(found, axis=0)
    lines.append("| **mean** | " + " | ".join(f"{a:.3f} / {p:.3f}" for a, p in means) + " |")
    print(lines[-1])
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the npz files")
    parser.add_argument("--markdown", type=Path, help="page to write the tables into, between its marks")
    arguments = parser.parse_args()
    text = "\n".join(published_table(arguments.data)) + "\n\n" + "\n".join(stream_table())
    if arguments.markdown:
        write_measured(arguments.markdown, text)


if __name__ == "__main__":
    main()
