"""Missing numbers become the mean of what was seen before them."""

from __future__ import annotations

import math

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled_as_written


@compiled_as_written
def fill_missing(rows: Floats, counts: Integers, means: Floats, turns: Floats) -> None:
    """Replace NaN in the first columns by their running means, 0 before any value; then note what is there.

    There are as many such columns as `means`; rows are changed in place and in order. One whose turn is NaN is filled,
    and not noted.
    """
    for t in range(rows.shape[0]):
        for j in range(means.size):
            x = rows[t, j]
            if math.isnan(x):
                rows[t, j] = means[j]
            elif not math.isnan(turns[t]):
                counts[j] += 1
                means[j] += (x - means[j]) / counts[j]
