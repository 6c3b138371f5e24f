"""A stream of payments with a little fraud, and labels that come late."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lopsided.datasets.dataset import Dataset

_NAMES = [
    "log_amount",
    "hour_sin",
    "hour_cos",
    "minutes_since_last",
    "n_last_day",
    "distance",
    "new_merchant",
    "abroad",
]
_ROWS_A_DAY = 2000


def transactions(n: int = 20_000, rare: float = 0.01, *, random_state: int | None = 0) -> Dataset:
    """Payments of many cards: frauds are rare, come in bursts, change their manner half-way, and are found out late.

    When: to see what a late label costs. `delays` holds, for every row, how many rows later its label is known: a fraud
    when the card holder complains, a median of two days (2,000 rows a day); an honest payment after a fixed three days,
    when nobody has complained.

    In the first half a fraud is a large payment at night, far from home. From then on it is a quick series of small
    ones at new merchants abroad, so that what was learned is of little use. Features are not scaled.

    >>> stream = transactions()
    >>> stream, int(stream.y.sum()), int(stream.delays.max()) > 2000
    (Dataset('transactions', n_rows=20000, n_features=8, ratio=99), 200, True)
    """
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 10:
        raise ValueError(f"n of transactions must be a whole number >= 10, got {n!r}.")
    if not 0.0 < rare < 0.5:
        raise ValueError(f"rare of transactions must be a share between 0 and 0.5, both excluded, got {rare!r}.")
    rng = np.random.default_rng(random_state)
    fraud = _bursts(n, max(1, round(rare * n)), rng)
    late = np.arange(n) >= n // 2
    large, quick = fraud & ~late, fraud & late
    hour = np.where(large, rng.normal(2.0, 5.0, n), rng.normal(14.0, 4.5, n)) % 24.0
    amount = rng.normal(3.2, 1.1, n) + np.where(large, rng.normal(1.2, 0.8, n), 0.0) - 0.8 * quick
    minutes = np.log1p(rng.exponential(np.where(quick, 120.0, 600.0)))
    count = rng.poisson(np.where(quick, 4.5, 2.5)).astype(np.float64)
    distance = np.log1p(rng.exponential(np.where(large, 40.0, 12.0)))
    merchant = (rng.random(n) < np.where(quick, 0.55, np.where(large, 0.4, 0.2))).astype(np.float64)
    abroad = (rng.random(n) < np.where(quick, 0.3, np.where(large, 0.15, 0.05))).astype(np.float64)
    angle = 2.0 * np.pi * hour / 24.0
    X = np.column_stack([amount, np.sin(angle), np.cos(angle), minutes, count, distance, merchant, abroad])
    complaint = np.ceil(_ROWS_A_DAY * rng.lognormal(np.log(2.0), 0.7, n)).astype(np.int64)
    return Dataset(
        name="transactions",
        X=np.ascontiguousarray(X),
        y=fraud.astype(np.int64),
        feature_names=_NAMES,
        source="synthetic",
        description="payments with rare frauds in bursts, another manner of fraud from the middle on, late labels",
        delays=np.where(fraud, complaint, 3 * _ROWS_A_DAY),
    )


def _bursts(n: int, frauds: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Exactly so many frauds, about three within some dozens of rows each."""
    fraud = np.zeros(n, dtype=np.bool_)
    while (missing := frauds - int(fraud.sum())) > 0:
        rows = rng.integers(n) + rng.integers(0, 40, size=min(missing, int(rng.integers(1, 6))))
        fraud[rows[rows < n]] = True
    return fraud
