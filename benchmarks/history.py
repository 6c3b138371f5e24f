"""What a history of keys costs: `python benchmarks/history.py`. What it is worth: benchmarks/keyed_streams.py.

CPU time, the least of three runs over rows of numbers: codes of keys, a time, an amount. `dict` is a plain dictionary
of the same sums in Python, which takes so many `times` as long; `codes` is what it costs to make codes of a table of
words, and `one row` a call for a single row, a mapping.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import lopsided as lp
from lopsided.estimators.compose.history_columns import KeyedRows

HALF_LIVES = (3600.0, 86400.0, 7 * 86400.0, 30 * 86400.0)


def least(work: Callable[[], Any]) -> float:
    times = []
    for _ in range(3):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def stream(n: int, n_keys: int, n_values: int = 5_000) -> tuple[dict[str, Any], Any]:
    rng = np.random.default_rng(0)
    table: dict[str, Any] = {f"k{k}": [f"key {v}" for v in rng.zipf(1.3, n) % n_values] for k in range(n_keys)}
    table["when"] = np.cumsum(rng.exponential(10.0, n))
    table["amount"] = rng.lognormal(3.0, 1.0, n)
    return table, (rng.random(n) < 0.01).astype(int)


def plain_dictionaries(keys: list[list[str]], times: list[float], amounts: list[float], labels: list[int]) -> None:
    """Rates, deviations and risks as a data scientist would write them: one dictionary for each column of keys."""
    past: list[dict[str, list[float]]] = [{} for _ in keys]
    for t, (now, amount, label) in enumerate(zip(times, amounts, labels, strict=True)):
        for k, column in enumerate(keys):
            state = past[k].setdefault(column[t], [now] + [0.0] * 20)
            elapsed = now - state[0]
            features = [math.log1p(elapsed)]
            for h, half_life in enumerate(HALF_LIVES):
                left = 2.0 ** (-elapsed / half_life)
                n, s, q, c, p = (left * part for part in state[1 + 5 * h : 6 + 5 * h])
                mean = (s + 20.0) / (n + 1.0)
                spread = math.sqrt(max((q + 900.0) / (n + 1.0) - mean * mean, 1e-2))
                features += [math.log1p(n), min(max((amount - mean) / spread, -10.0), 10.0), (p + 0.02) / (c + 2.0)]
                state[1 + 5 * h : 6 + 5 * h] = [n + 1.0, s + amount, q + amount * amount, c + 1.0, p + label]
            state[0] = now


def speed(n: int = 50_000) -> None:
    print(f"{n:,} rows, four half-lives, an amount, labels at once\n")
    print(f"{'keys':>4}{'features':>10}{'us a row':>10}{'a key':>7}{'dict':>8}{'times':>7}{'codes':>7}{'one row':>9}")
    for n_keys in (1, 2, 4, 6):
        table, y = stream(n, n_keys)
        keys = [f"k{k}" for k in range(n_keys)]
        history = lp.KeyedHistory(keys, "when", "amount")
        rows = KeyedRows.of(table, keys, "when", "amount")
        history.fit_transform(rows, y)  # compiles
        spent = least(lambda history=history, rows=rows, y=y: history.fit_transform(rows, y))
        codes = least(lambda table=table, keys=keys: KeyedRows.of(table, keys, "when", "amount"))
        part = slice(0, n // 5)
        lists = [table[key][part] for key in keys]
        others = [table[name][part].tolist() for name in ("when", "amount")]
        others.append(y[part].tolist())
        plain = 5.0 * least(lambda lists=lists, others=others: plain_dictionaries(lists, *others))
        one = {name: cells[0] for name, cells in table.items()}
        single = least(lambda history=history, one=one: [history.observe([one]) for _ in range(200)]) / 200.0
        width = len(history.get_feature_names_out())
        micro = 1e6 / n
        print(
            f"{n_keys:>4}{width:>10}{micro * spent:>10.2f}{micro * spent / n_keys:>7.2f}{micro * plain:>8.1f}"
            f"{plain / spent:>7.1f}{micro * codes:>7.2f}{1e6 * single:>9.0f}"
        )


if __name__ == "__main__":
    speed()
