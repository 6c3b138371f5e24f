"""Projectron: instead of storing an example, spread it over the vectors that are there (Orabona, Keshet, Caputo 2009).

With the Gram matrix K = L L' of the vectors, q = K^-1 k(x) is the projection of x on their span and
delta^2 = k(x, x) - k(x).q its squared distance from it. L z = k(x) gives both: k(x).q = |z|^2, and L' q = z. One vector
more is one row more, (z, delta). K^-1 would cost as much and lose as many digits as delta^2 is small; L keeps them.
O(vectors^2) for an example that changes anything.
"""

from __future__ import annotations

import math

from lopsided.core.arithmetic.compiled import Floats, compiled
from lopsided.core.arithmetic.limits import NOT_STORED
from lopsided.core.pointwise.expansion import USED, Expansion, append


@compiled
def look(factor: Floats, n: int, row: Floats, itself: float, z: Floats) -> tuple[float, float]:
    """Fill z = L^-1 k; returns |z|^2, the squared length of the projection, and delta^2."""
    length = 0.0
    for i in range(n):
        line = factor[i, : i + 1]
        total = 0.0
        for j in range(i):
            total += line[j] * z[j]
        z[i] = (row[i] - total) / line[i]
        length += z[i] * z[i]
    return length, max(0.0, itself - length)


@compiled
def spread(expansion: Expansion, factor: Floats, z: Floats, weight: float) -> None:
    """Add a multiple of the projection q = L'^-1 z to the weights; z is used up."""
    for i in range(expansion.tally[USED] - 1, -1, -1):
        line = factor[i, : i + 1]
        q = z[i] / line[i]
        for j in range(i):
            z[j] -= line[j] * q
        expansion.weights[i] += weight * q


@compiled
def border(factor: Floats, z: Floats, n: int, distance: float) -> None:
    """L of one vector more."""
    for j in range(n):
        factor[n, j] = z[j]
    factor[n, n] = math.sqrt(distance)


@compiled
def projectron_step(
    expansion: Expansion,
    factor: Floats,
    budget: int,
    tolerance: float,
    on_margin_errors: bool,
    row: Floats,
    itself: float,
    score: float,
    y: float,
    importance: float,
    z: Floats,
) -> int:
    """Learn from one example; returns the slot in which the caller must store the point, or NOT_STORED."""
    n = expansion.tally[USED]
    if y * score <= 0.0:
        _, distance = look(factor, n, row, itself, z)
        if n == budget or (n > 0 and distance <= tolerance * itself):
            spread(expansion, factor, z, y * importance)
        elif itself > 0.0 and distance > 0.0:
            border(factor, z, n, distance)
            append(expansion, n, y * importance, itself, y)
            return n
    elif on_margin_errors and y * score < 1.0 and n > 0:
        loss = 1.0 - y * score
        length, distance = look(factor, n, row, itself, z)
        if length > 0.0:
            step = min(loss / length, 1.0)
            # Only if the step gains more than the part of x outside of the span may lose.
            bound = 0.25 * math.sqrt((budget + 1.0) / math.log(budget + 1.0))
            if 2.0 * loss - step * length - 2.0 * bound * math.sqrt(distance) >= 0.0:
                spread(expansion, factor, z, y * step * importance)
    return NOT_STORED
