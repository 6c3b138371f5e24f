"""How many values of each of several series lie between given edges, and the latest rows of them.

A block of rows is all that is counted: one comparison of blocks tells more than one of rows, and costs less.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled


class BinnedValues(NamedTuple):
    """The present block: counts by series and bin, values of each, those missing; and a ring of the latest rows.

    Bin k of a series holds what is above its first k edges and not above the next. An edge of infinity is none.
    """

    edges: Floats
    counts: Floats
    totals: Floats
    missing: Floats
    latest: Floats
    seen: Integers


def empty_bins(n_series: int, n_edges: int, n_latest: int) -> BinnedValues:
    """Nothing counted, no edge known."""
    return BinnedValues(
        np.full((n_series, n_edges), np.inf),
        np.zeros((n_series, n_edges + 1)),
        np.zeros(n_series),
        np.zeros(n_series),
        np.full((n_latest, n_series), np.nan),
        np.zeros(1, dtype=np.int64),
    )


@compiled
def count_values(bins: BinnedValues, rows: Floats, n_counting_missing: int) -> None:
    """Count rows of all series; NaN is a missing value in the first so many of them, and no value in the others."""
    n_series, n_edges = bins.edges.shape
    for t in range(rows.shape[0]):
        place = bins.seen[0] % bins.latest.shape[0]
        bins.seen[0] += 1
        for s in range(n_series):
            value = rows[t, s]
            bins.latest[place, s] = value
            if math.isnan(value):
                if s < n_counting_missing:
                    bins.missing[s] += 1.0
                    bins.totals[s] += 1.0
                continue
            bin_ = 0
            while bin_ < n_edges and value > bins.edges[s, bin_]:
                bin_ += 1
            bins.counts[s, bin_] += 1.0
            bins.totals[s] += 1.0
