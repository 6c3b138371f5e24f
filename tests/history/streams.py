"""Streams of events for the tests of histories: few keys, gaps, rows that are late."""

import numpy as np


def events(n, n_keys=2, seed=0, missing=0.05, values=3):
    """A mapping of columns and labels; some keys, times and amounts are missing, and some rows are late."""
    rng = np.random.default_rng(seed)
    seconds = np.cumsum(rng.exponential(1500.0, n)) + 1.7e9
    seconds = np.round(seconds - np.where(rng.random(n) < 0.1, rng.exponential(3000.0, n), 0.0), 6)
    table = {f"k{k}": [f"word {v}" for v in rng.integers(values + 9 * k, size=n)] for k in range(n_keys)}
    for cells in table.values():
        for row in np.flatnonzero(rng.random(n) < missing):
            cells[row] = None
    table["when"] = [None if gone else time for gone, time in zip(rng.random(n) < missing, seconds, strict=True)]
    table["when"][0] = seconds[0]
    amounts = np.round(rng.lognormal(3.0, 1.0, n) * rng.choice([1.0, -0.2], n, p=[0.9, 0.1]), 2)
    table["amount"] = [None if gone else a for gone, a in zip(rng.random(n) < missing, amounts.tolist(), strict=True)]
    return table, (rng.random(n) < 0.2).astype(int)


def part(table, rows):
    """Some rows of a mapping of columns."""
    return {name: cells[rows] for name, cells in table.items()}
