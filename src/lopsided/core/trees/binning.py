"""Values of features as small codes, so that a split is searched among a few edges instead of all values.

Code 0 is a missing value; code c > 0 says that the value lies above edge c - 2 and at most at edge c - 1 of its
feature, as far as there are such edges. A split after code c sends codes up to c to the left: the rows whose value is
at most edge c - 1, and the missing ones.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled

Codes = npt.NDArray[np.uint8]
MOST_BINS = 255  # codes are bytes, and one of them is for missing values


def find_edges(column: Floats, n_bins: int) -> Floats:
    """At most n_bins - 1 values that cut a column into parts of about equal size.

    Half-way between neighbours where every distinct value can have a bin of its own, quantiles otherwise.
    """
    known = np.sort(column[~np.isnan(column)])
    if known.size == 0:
        return known
    rises = np.flatnonzero(known[1:] > known[:-1])
    if rises.size < n_bins:
        middle = 0.5 * known[rises] + 0.5 * known[rises + 1]
        # Rounding may lift the middle of close neighbours to the upper one.
        return np.where(middle < known[rises + 1], middle, known[rises])
    places = np.arange(1, n_bins) * (known.size - 1) // n_bins
    edges = np.unique(known[places])
    return edges[edges < known[-1]]


@compiled
def encode_column(column: Floats, edges: Floats, codes: Codes) -> None:
    """The code of every value of a column; `edges` has `MOST_BINS` entries, infinite ones after those that there are.

    Halving without branches: which half a value lies in cannot be foretold, and a wrong guess costs more than a step.
    """
    for i in range(column.size):
        x = column[i]
        below = np.uint64(0)
        for halving in range(8):
            half = np.uint64(128 >> halving)
            below += half if x > edges[below + half - np.uint64(1)] else np.uint64(0)
        codes[i] = 0 if x != x else below + np.uint64(1)


def binned(X: Floats, n_bins: int) -> tuple[Codes, Floats, Integers]:
    """All rows as codes, the edges, a row per feature, and how many edges each feature has."""
    n, width = X.shape
    codes = np.empty((n, width), dtype=np.uint8)
    edges, counts = np.zeros((width, n_bins - 1)), np.zeros(width, dtype=np.int64)
    column_codes, ladder = np.empty(n, dtype=np.uint8), np.empty(MOST_BINS)
    for j in range(width):
        column = np.ascontiguousarray(X[:, j])
        found = find_edges(column, n_bins)
        ladder[: found.size], ladder[found.size :] = found, np.inf
        encode_column(column, ladder, column_codes)
        codes[:, j] = column_codes
        edges[j, : found.size], counts[j] = found, found.size
    return codes, edges, counts
