"""How long the full grid of the thesis takes: 21 x 21 settings of KOIL, 5 inner folds, training rows of one split.

Once with the squared distances shared among the settings, and once by learners that compute their own.

python benchmarks/tuning.py [--set segment] [--data DIR] [--jobs 2]
"""

from __future__ import annotations

import argparse
import time

from lopsided import KOIL
from lopsided.datasets import load
from lopsided.evaluate import fold_splits, grid, inner_labellings, tune


class KOILAlone(KOIL):
    """A subclass, which `tune` lets compute its own distances."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", default="segment")
    parser.add_argument("--data")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    dataset = load(arguments.set, data=arguments.data)
    first = fold_splits(dataset)[0]
    X, y = dataset.X[first.train], dataset.y[first.train]
    settings = grid(gamma=[2.0**e for e in range(-10, 11)], C=[2.0**e for e in range(-10, 11)])
    labelling = inner_labellings(dataset, first)[:, :1]
    print(f"{arguments.set}: {len(settings)} settings x 5 folds x {y.size} rows, {arguments.jobs} processes")
    steps = len(settings) * 4 * y.size  # each of five folds learns four fifths
    for title, kind in (("shared distances", KOIL), ("each by itself", KOILAlone)):
        tune(kind, settings[:1], X[:50], y[:50], labelling[:50])  # compiled before the clock starts
        began = time.perf_counter()
        found = tune(kind, settings, X, y, labelling, jobs=arguments.jobs)
        seconds = time.perf_counter() - began
        a_row = 1e6 * seconds * arguments.jobs / steps
        print(f"{title}: {seconds:.1f} s, {a_row:.1f} us of a process for each row learned and its share of scoring;")
        print(f"  best {found.parameters} with AUC {found.score:.3f}")


if __name__ == "__main__":
    main()
