"""What a user gets who sets nothing, beside another process that works: learners that call the linear algebra library.

    python benchmarks/busy_machine.py

Every figure is from a process of its own: once as a user starts it, once with OPENBLAS_NUM_THREADS=1, each alone and
beside one spinning process for every core but one. The last column is the ratio of the two beside the spinning ones.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys

LEARNERS = {
    "FourierRanker()": 20_000,
    'FourierRanker(regularization="auto", focus=6.0)': 10_000,
    "NOGD()": 20_000,
    "OB2RMK(random_state=0)": 300,
}
TIMED = """
import sys, time, warnings
import numpy as np
import lopsided as lp
learner, n = eval("lp." + sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(0)
X = rng.normal(size=(n, 20)); y = (X[:, 0] ** 2 + X[:, 1] > 3.0).astype(int)
learner.compile_ahead(20)
warnings.simplefilter("ignore")
begin = time.perf_counter()
learner.progressive_scores(X, y)
print((time.perf_counter() - begin) / n * 1e6)
"""


def spin() -> None:
    while True:
        pass


def measured(learner: str, n: int, *, one_thread: bool) -> float:
    environment = {name: value for name, value in os.environ.items() if "NUM_THREADS" not in name}
    if one_thread:
        environment["OPENBLAS_NUM_THREADS"] = "1"
    call = [sys.executable, "-c", TIMED, learner, str(n)]
    return float(subprocess.run(call, env=environment, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    cores = len(os.sched_getaffinity(0))
    print(f"us an example, 20 features, {cores} cores, load before {os.getloadavg()[0]:.1f}\n")
    print("| learner | alone | alone, one thread set | busy | busy, one thread set | ratio |")
    print("|---|---|---|---|---|---|")
    for learner, n in LEARNERS.items():
        alone = [measured(learner, n, one_thread=one) for one in (False, True)]
        others = [multiprocessing.Process(target=spin, daemon=True) for _ in range(max(1, cores - 1))]
        for other in others:
            other.start()
        busy = [measured(learner, n, one_thread=one) for one in (False, True)]
        for other in others:
            other.kill()
        cells = " | ".join(f"{figure:.1f}" for figure in (*alone, *busy))
        print(f"| `{learner}` | {cells} | {busy[0] / busy[1]:.2f} |")


if __name__ == "__main__":
    main()
