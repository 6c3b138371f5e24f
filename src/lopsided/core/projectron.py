"""Projectron: instead of storing an example, spread it over the vectors that are there (Orabona, Keshet, Caputo 2009).

With the inverse Gram matrix K^-1 of the vectors, q = K^-1 k(x) is the projection of x on their span and
delta^2 = k(x, x) - k(x).q its squared distance from it. O(vectors^2) for an example that changes anything.
"""

from __future__ import annotations

import math

from lopsided.core.compiled import Floats, compiled
from lopsided.core.expansion import USED, Expansion, append
from lopsided.core.koil import NOT_STORED


@compiled
def project(expansion: Expansion, inverse: Floats, row: Floats, itself: float, q: Floats) -> tuple[float, float]:
    """Fill q = K^-1 k; returns k.q, the squared length of the projection, and delta^2."""
    n = expansion.tally[USED]
    length = 0.0
    for i in range(n):
        line, similarities = inverse[i, :n], row[:n]
        total = 0.0
        for j in range(n):
            total += line[j] * similarities[j]
        q[i] = total
        length += row[i] * total
    return length, max(0.0, itself - length)


@compiled
def spread(expansion: Expansion, q: Floats, weight: float) -> None:
    """Add a multiple of the projection to the weights."""
    for i in range(expansion.tally[USED]):
        expansion.weights[i] += weight * q[i]


@compiled
def border(inverse: Floats, q: Floats, n: int, distance: float) -> None:
    """K^-1 of one vector more: [K^-1 0; 0 0] + e e' / delta^2 with e = (q, -1)."""
    for i in range(n):
        factor = q[i] / distance
        for j in range(n):
            inverse[i, j] += factor * q[j]
        inverse[i, n] = -factor
        inverse[n, i] = -factor
    inverse[n, n] = 1.0 / distance


@compiled
def projectron_step(
    expansion: Expansion,
    inverse: Floats,
    budget: int,
    tolerance: float,
    on_margin_errors: bool,
    row: Floats,
    itself: float,
    score: float,
    y: float,
    importance: float,
    q: Floats,
) -> int:
    """Learn from one example; returns the slot in which the caller must store the point, or NOT_STORED."""
    n = expansion.tally[USED]
    if y * score <= 0.0:
        _, distance = project(expansion, inverse, row, itself, q)
        if n == budget or (n > 0 and distance <= tolerance * itself):
            spread(expansion, q, y * importance)
        elif itself > 0.0 and distance > 0.0:
            border(inverse, q, n, distance)
            append(expansion, n, y * importance, itself, y)
            return n
    elif on_margin_errors and y * score < 1.0 and n > 0:
        loss = 1.0 - y * score
        length, distance = project(expansion, inverse, row, itself, q)
        if length > 0.0:
            step = min(loss / length, 1.0)
            # Only if the step gains more than the part of x outside of the span may lose.
            bound = 0.25 * math.sqrt((budget + 1.0) / math.log(budget + 1.0))
            if 2.0 * loss - step * length - 2.0 * bound * math.sqrt(distance) >= 0.0:
                spread(expansion, q, y * step * importance)
    return NOT_STORED
