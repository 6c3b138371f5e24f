"""What the first use costs on a fresh machine: seconds of the processor until a learner has answered.

    python benchmarks/first_use.py [LEARNER ...]

A fresh process with an empty cache of compiled code learns a batch of 300 dense rows of 10 features, scores them,
learns one row and scores one. "compiled" is how many functions that took; "again" is a second process, which finds the
machine code of the first one on disk. Imports are counted apart. Times are of the processor.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from pages import write_measured

LEARNERS = ["RareEventClassifier", "FourierRanker", "KOIL", "MultiKernelKOIL", "BoostedSample", "OPAUC", "FOGD"]

PROGRAM = """
import json, sys, time
began = time.process_time()
import numpy as np
import lopsided as lp
learner = getattr(lp, sys.argv[1])()
if "random_state" in learner.get_params():
    learner.set_params(random_state=0)
from numba.core import event
class Count(event.Listener):
    n = 0
    def on_start(self, _): self.n += 1
    def on_end(self, _): pass
count = Count()
event.register("numba:compile", count)
rng = np.random.default_rng(0)
y = (rng.random(300) < 0.2).astype(int)
X = rng.normal(size=(300, 10)) + y[:, None]
imported = time.process_time()
learner.partial_fit(X, y, classes=[0, 1])
learner.raw_scores(X)
learner.learn_one(X[0], int(y[0]))
learner.score_one(X[0])
json.dump([imported - began, time.process_time() - imported, count.n], sys.stdout)
"""


def measured(learner: str, cache: str) -> tuple[float, float, int]:
    """Seconds of imports and of the first answers, and how many functions were compiled."""
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, learner],
        check=True,
        capture_output=True,
        env=os.environ | {"NUMBA_CACHE_DIR": cache},
    )
    imports, seconds, compiled = json.loads(found.stdout)
    return imports, seconds, compiled


def first_use_table(learners: list[str]) -> str:
    """A line a learner, printed as they come."""
    lines = [
        f"Seconds of the processor, load {os.getloadavg()[0]:.1f} before it.",
        "",
        "| learner | imports | first use | compiled | again |",
        "|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    for learner in learners:
        with tempfile.TemporaryDirectory() as cache:
            imports, first, compiled = measured(learner, cache)
            _, again, _ = measured(learner, cache)
        lines.append(f"| {learner} | {imports:.1f} | {first:.1f} | {compiled} | {again:.1f} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("learners", nargs="*", default=LEARNERS)
    parser.add_argument("--write", type=Path, help="a page to put the table into, between its marks")
    arguments = parser.parse_args()
    text = first_use_table(arguments.learners)
    if arguments.write:
        write_measured(arguments.write, text, "first use")


if __name__ == "__main__":
    main()
