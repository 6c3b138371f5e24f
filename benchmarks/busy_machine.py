"""What a user gets who sets nothing, beside another process that works: learners that call the linear algebra library.

    python benchmarks/busy_machine.py

Every figure is from a process of its own: once as a user starts it, once with OPENBLAS_NUM_THREADS=1, each alone and
beside one spinning process for every core but one; in turns, the fastest of several. The ratio is that of the two
beside the spinning ones, by the clock and by the processor: threads that wait for each other show in both.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

from pages import write_measured

LEARNERS = {
    "FourierRanker(random_state=0)": 20_000,
    'FourierRanker(regularization="auto", focus=6.0, random_state=0)': 10_000,
    "NOGD()": 100_000,
    "OB2RMK(random_state=0)": 300,
    "B2RMK(max_sweeps=20)": 300,
    "RareEventClassifier(random_state=0)": 20_000,
}
REPETITIONS = 3
TIMED = """
import sys, time, warnings
import numpy as np
import lopsided as lp
learner, n = eval("lp." + sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(0)
X = rng.normal(size=(n, 20)); y = (X[:, 0] ** 2 + X[:, 1] > 3.0).astype(int)
learner.compile_ahead(20)
warnings.simplefilter("ignore")
learn = getattr(learner, "progressive_scores", learner.fit)
began, worked = time.perf_counter(), time.process_time()
learn(X, y)
print((time.perf_counter() - began) / n * 1e6, (time.process_time() - worked) / n * 1e6)
"""


def spin() -> None:
    """Works until the process that started it is gone, however that ended."""
    starter = multiprocessing.parent_process()
    while starter is not None and starter.is_alive():
        for _ in range(100_000):
            pass


def measured(learner: str, n: int, *, one_thread: bool) -> tuple[float, float]:
    """Microseconds an example, by the clock and of the processor."""
    environment = {name: value for name, value in os.environ.items() if "NUM_THREADS" not in name}
    if one_thread:
        environment["OPENBLAS_NUM_THREADS"] = "1"
    call = [sys.executable, "-c", TIMED, learner, str(n)]
    output = subprocess.run(call, env=environment, check=True, capture_output=True, text=True).stdout
    clock, processor = map(float, output.split())
    return clock, processor


def in_turns(learner: str, n: int) -> list[tuple[float, float]]:
    """The best of several runs as it is, and with one thread."""
    runs = [[measured(learner, n, one_thread=one) for one in (False, True)] for _ in range(REPETITIONS)]
    return [
        (min(clock for clock, _ in setting), min(processor for _, processor in setting))
        for setting in zip(*runs, strict=True)
    ]


def busy_table() -> str:
    """All learners, as lines of a table."""
    cores = len(os.sched_getaffinity(0))
    lines = [
        f"Microseconds an example, 20 features, {cores} cores, {max(1, cores - 1)} spinning where it says busy; "
        f"the best of {REPETITIONS} in turns.",
        "",
        "| learner | alone | alone, one thread set | busy | busy, one thread set | ratio | ratio, processor |",
        "|---|---|---|---|---|---|---|",
    ]
    for learner, n in LEARNERS.items():
        alone = in_turns(learner, n)
        others = [multiprocessing.Process(target=spin, daemon=True) for _ in range(max(1, cores - 1))]
        for other in others:
            other.start()
        busy = in_turns(learner, n)
        for other in others:
            other.kill()
        cells = " | ".join(f"{clock:.1f}" for clock, _ in (*alone, *busy))
        ratios = " | ".join(f"{as_it_is / one:.2f}" for as_it_is, one in zip(*busy, strict=True))
        lines.append(f"| `{learner}` | {cells} | {ratios} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, help="a page to put the table into, between its marks")
    arguments = parser.parse_args()
    text = f"Load {os.getloadavg()[0]:.1f} before it. " + busy_table()
    print(text)
    if arguments.write:
        write_measured(arguments.write, text, "busy")


if __name__ == "__main__":
    main()
