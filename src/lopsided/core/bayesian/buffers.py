"""What a step does with the buffers: whom the example meets, who leaves, and the covariance that is left."""

from __future__ import annotations

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.arithmetic.small_matrices import mirror_lower

NOBODY = -1


@compiled
def choose_columns(
    points: Floats,
    signs: Floats,
    m_a: Floats,
    x: Floats,
    sign: float,
    budget: int,
    chosen: Integers,
    distances: Floats,
    columns: Floats,
    of_columns: Floats,
) -> tuple[int, int]:
    """The columns of a step: x, its nearest opposites, and who leaves a full buffer; how many, and who that is.

    `columns` are points, `of_columns` their signs, `chosen` the places of the opposites; of equals the first is taken.
    """
    found, own, leaving, least = 0, 0, NOBODY, 0.0
    for n in range(signs.size):
        if signs[n] == sign:
            own += 1
            if leaving == NOBODY or sign * m_a[n] < least:
                leaving, least = n, sign * m_a[n]
            continue
        point, distance = points[n], 0.0
        for d in range(x.size):
            distance += (point[d] - x[d]) * (point[d] - x[d])
        place = found
        while place > 0 and distance < distances[place - 1]:
            place -= 1
        if place == distances.size:
            continue
        found = min(found + 1, distances.size)
        for later in range(found - 1, place, -1):
            distances[later], chosen[later] = distances[later - 1], chosen[later - 1]
        distances[place], chosen[place] = distance, n
    count = found + 1
    _set_row(columns[0], x)
    of_columns[0] = sign
    for i in range(found):
        _set_row(columns[i + 1], points[chosen[i]])
        of_columns[i + 1] = -sign
    if own < budget:
        return count, NOBODY
    _set_row(columns[count], points[leaving])
    of_columns[count] = sign
    return count + 1, leaving


@compiled
def _set_row(row: Floats, values: Floats) -> None:
    for d in range(row.size):
        row[d] = values[d]


@compiled
def grown_covariance(
    before: Floats, explained: Floats, direction: Floats, variance: float, leaving: int, covariance: Floats
) -> bool:
    """covariance = [[before - explained + w h h', w h], [w h', w]], h and w being direction and variance of the newest.

    Row and column `leaving` of the former ones are left out. What is above the diagonal of `explained` is not read.
    False if the result is not finite.
    """
    n, last, doubt = direction.size, covariance.shape[0] - 1, 0.0
    split = n if leaving == NOBODY else leaving
    for i in range(n):
        if i == leaving:
            continue
        place = i if i < split else i - 1
        row, given, less, share = covariance[place], before[i], explained[i], variance * direction[i]
        stop = min(i + 1, split)
        _fill(row[:stop], given[:stop], less[:stop], direction[:stop], share)
        if i > split:
            _fill(row[split:i], given[split + 1 : i + 1], less[split + 1 : i + 1], direction[split + 1 : i + 1], share)
        covariance[last, place] = share
    covariance[last, last] = variance
    for i in range(last + 1):
        row = covariance[i, : i + 1]
        for j in range(row.size):
            doubt += 0.0 * row[j]
    mirror_lower(covariance)
    return doubt == 0.0


@compiled
def _fill(row: Floats, given: Floats, less: Floats, direction: Floats, share: float) -> None:
    for j in range(row.size):
        row[j] = (given[j] - less[j]) + share * direction[j]
