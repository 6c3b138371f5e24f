"""How often the drift alarm is wrong on streams that do not change, and how late it is on streams that do.

    python benchmarks/drift_alarm.py [--runs 10] [--write docs/evidence/drift-alarm.md]

Beside it ADWIN as River has it, one on each series, with the level divided by the number of series: the same common
budget. Streams are made here; of the payments (`lopsided.datasets.card_stream`) the first 40 days are left out, because
sums over 30 days grow until then. `pip install "lopsided[bench]"` brings River.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from river.drift import ADWIN

from lopsided.datasets import card_stream
from lopsided.drift import DriftAlarm

DAY = 86_400.0
N = 100_000  # rows of a run
SERIES = 10
ADWIN_LEVEL = 0.002  # River's default, over all series together
DRIFT_AT = N // 2


class Stream(NamedTuple):
    """Columns by name; times, if they are given away; which of the columns are shares; where it changes."""

    columns: dict[str, np.ndarray]
    times: np.ndarray | None = None
    shares: tuple[str, ...] = ()
    changes_at: int | None = None


def named(table: np.ndarray) -> dict[str, np.ndarray]:
    return {f"x{k}": table[:, k] for k in range(table.shape[1])}


def clock(rng: np.random.Generator, n: int, a_day: int) -> np.ndarray:
    """Times with most rows at noon, few at night, half as many on weekends."""
    n_days = n // a_day * 2 + 20
    size = np.where(np.arange(n_days) % 7 >= 5, a_day // 2, a_day)
    day = np.repeat(np.arange(n_days), size)
    return np.sort(day * DAY + np.clip(rng.normal(0.5, 0.2, day.size), 0.0, 0.999) * DAY)[:n]


def gaussian(rng: np.random.Generator) -> Stream:
    return Stream(named(rng.normal(size=(N, SERIES))))


def heavy_tails(rng: np.random.Generator) -> Stream:
    return Stream(named(rng.standard_cauchy((N, SERIES))))


def few_values(rng: np.random.Generator) -> Stream:
    return Stream(named(rng.poisson(0.05, (N, SERIES)).astype(float)))


def rare_labels(rng: np.random.Generator) -> Stream:
    """Labels of one in a thousand rows, and the precision of one alert in a hundred rows."""
    right = np.where(rng.random(N) < 0.01, (rng.random(N) < 0.3).astype(float), np.nan)
    return Stream({"positive": (rng.random(N) < 0.001).astype(float), "right": right}, None, ("positive", "right"))


def correlated(rng: np.random.Generator) -> Stream:
    """Each value is 0.9 of the one before and new noise."""
    noise = rng.normal(size=(N, SERIES))
    for t in range(1, N):
        noise[t] += 0.9 * noise[t - 1]
    return Stream(named(noise))


def seasonal(rng: np.random.Generator, *, timed: bool, change: float = 0.0, a_day: int = 1_000) -> Stream:
    """Another level by night, in the morning and in the evening, and another one on weekends."""
    times = clock(rng, N, a_day)
    hour, weekend = times % DAY / 3600.0, times // DAY % 7 >= 5
    level = np.where(hour < 7, 2.0, np.sin(hour / 24 * 2 * np.pi)) + 0.7 * weekend
    table = rng.normal(size=(N, SERIES)) + level[:, None]
    if change:
        table[DRIFT_AT:] += change
    return Stream(named(table), times if timed else None, changes_at=DRIFT_AT if change else None)


def payments(rng: np.random.Generator) -> Stream:
    stream = card_stream(400, 800, days=183, random_state=int(rng.integers(1 << 30)))
    late = stream.times >= 40 * DAY
    table = {name: stream.X[late, k] for k, name in enumerate(stream.feature_names)}
    return Stream(table | {"positive": stream.y[late].astype(float)}, stream.times[late], ("positive",))


def shifted(rng: np.random.Generator, by: float = 0.0, scale: float = 1.0, over: int = 1) -> Stream:
    """The first of the series changes."""
    table = rng.normal(size=(N, SERIES))
    share = np.clip((np.arange(N) - DRIFT_AT) / over, 0.0, 1.0)
    table[:, 0] = table[:, 0] * (1.0 + (scale - 1.0) * share) + by * share
    return Stream(named(table), changes_at=DRIFT_AT)


def worse_alerts(rng: np.random.Generator) -> Stream:
    right = np.where(np.arange(N) < DRIFT_AT, 0.5, 0.3) > rng.random(N)
    is_alert = rng.random(N) < 0.02
    return Stream({"right": np.where(is_alert, right.astype(float), np.nan)}, None, ("right",), DRIFT_AT)


STATIONARY: dict[str, Callable[[np.random.Generator], Stream]] = {
    "Gaussian": gaussian,
    "heavy tails (Cauchy)": heavy_tails,
    "few values (Poisson .05)": few_values,
    "rare labels (.1 %), precision of alerts (1 %)": rare_labels,
    "correlated (.9 from row to row)": correlated,
    "daily and weekly seasons, with times": lambda rng: seasonal(rng, timed=True),
    "daily and weekly seasons, without times": lambda rng: seasonal(rng, timed=False),
    "the same, 10,000 rows a day, without times": lambda rng: seasonal(rng, timed=False, a_day=10_000),
    "payments, with times": payments,
}
DRIFTING: dict[str, Callable[[np.random.Generator], Stream]] = {
    "one of ten, mean by 0.1 deviations": lambda rng: shifted(rng, 0.1),
    "one of ten, mean by 0.25": lambda rng: shifted(rng, 0.25),
    "one of ten, mean by 1": lambda rng: shifted(rng, 1.0),
    "one of ten, deviation times 1.3": lambda rng: shifted(rng, scale=1.3),
    "one of ten, mean by 0.5 over 20,000 rows": lambda rng: shifted(rng, 0.5, over=20_000),
    "precision of alerts .5 to .3": worse_alerts,
    "seasons with times, mean by 0.5": lambda rng: seasonal(rng, timed=True, change=0.5),
}


def by_alarm(stream: Stream, *, trends: bool = False) -> list[int]:
    """Rows at which there were alarms."""
    numbers = [name for name in stream.columns if name not in stream.shares]
    period = None if stream.times is None else "day"
    alarm = DriftAlarm(numbers, shares=stream.shares, period=period, trends=trends)
    return [found.row for found in alarm.update_many(stream.columns, stream.times)]


def by_adwin(stream: Stream) -> list[int]:
    rows = []
    for values in stream.columns.values():
        detector = ADWIN(delta=ADWIN_LEVEL / len(stream.columns))
        places = np.flatnonzero(~np.isnan(values))
        for place, value in zip(places.tolist(), values[places].tolist(), strict=True):
            detector.update(value)
            if detector.drift_detected:
                rows.append(place)
    return sorted(rows)


CONTESTANTS = {
    "DriftAlarm": by_alarm,
    "DriftAlarm, trends=True": lambda stream: by_alarm(stream, trends=True),
    "ADWIN": by_adwin,
}


def table(made: dict[str, Callable[[np.random.Generator], Stream]], runs: int, *, drifting: bool) -> list[str]:
    lines = []
    for name, make in made.items():
        cells, n_rows, detail = [], 0, {contestant: [] for contestant in CONTESTANTS}
        for run in range(runs):
            stream = make(np.random.default_rng(run))
            n_rows += len(next(iter(stream.columns.values())))
            for contestant, watch in CONTESTANTS.items():
                if contestant == "ADWIN" and run >= 3:
                    continue  # minutes
                detail[contestant].append((watch(stream), stream))
        for found in detail.values():
            n = sum(len(next(iter(stream.columns.values()))) for _, stream in found)
            if not drifting:
                cells.append(f"{sum(len(rows) for rows, _ in found)} in {n:,}")
                continue
            delays = [next((row - DRIFT_AT for row in rows if row >= DRIFT_AT), None) for rows, _ in found]
            false = sum(row < DRIFT_AT for rows, _ in found for row in rows)
            there = [delay for delay in delays if delay is not None]
            median = f"{int(np.median(there)):,}" if there else "-"
            cells.append(f"{median} ({len(there)} of {len(delays)}; {false} before)")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    return lines


def cost() -> str:
    stream, alarm = gaussian(np.random.default_rng(0)), None
    for _ in range(2):  # the first compiles
        alarm = DriftAlarm(list(stream.columns))
        began = time.process_time()
        for start in range(0, N, 1024):
            alarm.update_many({name: values[start : start + 1024] for name, values in stream.columns.items()})
        spent = time.process_time() - began
    size = len(alarm.to_bytes())
    return f"{spent / N * 1e6:.2f} us a row of {SERIES} series; its state after {N:,} rows has {size / 1024:,.0f} kB."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    heading = "| stream | " + " | ".join(CONTESTANTS) + " |\n|---|" + "---|" * len(CONTESTANTS)
    print(heading)
    still = table(STATIONARY, arguments.runs, drifting=False)
    print(heading)
    moving = table(DRIFTING, arguments.runs, drifting=True)
    price = cost()
    print(price, f"load {os.getloadavg()[0]:.1f}")
    if arguments.write:
        page = arguments.write.read_text().split("<!-- tables -->")[0]
        parts = [page + "<!-- tables -->", "", "## Alarms where nothing changes", "", heading, *still, ""]
        note = "Median over the runs that had one (how many had; alarms before the change)."
        parts += [
            "## Rows until the first alarm after a change",
            "",
            note,
            "",
            heading,
            *moving,
            "",
            f"Cost: {price}",
            "",
        ]
        arguments.write.write_text("\n".join(parts))


if __name__ == "__main__":
    main()
