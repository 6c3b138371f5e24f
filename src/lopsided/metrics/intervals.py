"""How sure a figure is: 95 % intervals that hold for few positives too, and do not shrink to nothing at 0 and 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_Z = 1.959963984540054  # of a normal distribution, two-sided 95 %
_HALVINGS = 60
_FEWEST_POSITIVES = 5
_FEWEST_DRAWS, _MOST_DRAWS, _DRAWN = 40, 200, 200_000  # draws, and positives drawn in all


def share_interval(hits: Any, n: Any) -> tuple[Floats, Floats]:
    """Wilson's interval of a share: hits out of n; nan where n is 0.

    >>> low, high = share_interval(0, 10)
    >>> round(float(low), 3), round(float(high), 3)
    (0.0, 0.278)
    """
    hits, n = np.asarray(hits, dtype=np.float64), np.asarray(n, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        share, more = hits / n, _Z * _Z / n
        middle = (share + more / 2.0) / (1.0 + more)
        half = np.sqrt(np.maximum(share * (1.0 - share) * more + more * more / 4.0, 0.0)) / (1.0 + more)
    return np.asarray(np.maximum(middle - half, 0.0)), np.asarray(np.minimum(middle + half, 1.0))


def auroc_interval(area: Any, positives: Any, negatives: Any) -> tuple[Floats, Floats]:
    """Newcombe's interval: the areas whose variance does not rule out the one that was observed.

    The variance is Hanley and McNeil's, the same for both classes, taken at the true area and not at the observed one,
    so that an observed 1 leaves room below it.

    >>> low, high = auroc_interval(1.0, 10, 1000)
    >>> round(float(low), 2), float(high)
    (0.9, 1.0)
    """
    area, m, n = (np.asarray(value, dtype=np.float64) for value in (area, positives, negatives))

    def is_ruled_out(true: Floats) -> npt.NDArray[np.bool_]:
        spread = true * (1.0 - true)
        of_positives, of_negatives = (1.0 - true) / (2.0 - true), true / (1.0 + true)
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = spread * (1.0 + ((m + n) / 2.0 - 1.0) * (of_positives + of_negatives)) / (m * n)
            return np.asarray((true - area) ** 2 > _Z * _Z * variance)

    ends = []
    for outer in (0.0, 1.0):
        inner, far = area.copy(), np.full_like(area, outer)
        for _ in range(_HALVINGS):
            middle = (inner + far) / 2.0
            out = is_ruled_out(middle)
            inner, far = np.where(out, inner, middle), np.where(out, middle, far)
        ends.append(np.where(np.isnan(area), np.nan, inner))
    # What lies a hair from an end is the end.
    return np.where(ends[0] < 1e-12, 0.0, ends[0]), np.where(ends[1] > 1.0 - 1e-12, 1.0, ends[1])


def precision_area_interval(positive: npt.NDArray[np.bool_], scores: Floats, *, seed: int = 0) -> tuple[float, float]:
    """The percentile interval of average precision when the positives are drawn again and again (a bootstrap).

    The negatives stay, because they are many: what is unsure is which positives have come. nan for fewer than five.

    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(1000) < 50
    >>> low, high = precision_area_interval(y, rng.normal(size=1000) + 2.0 * y)
    >>> round(low, 2), round(high, 2)
    (0.54, 0.73)
    """
    found, others = np.sort(scores[positive])[::-1], np.sort(scores[~positive])
    if found.size < _FEWEST_POSITIVES:
        return float("nan"), float("nan")
    above = others.size - np.searchsorted(others, found, side="left")  # negatives that score at least as much
    last_alike = np.searchsorted(-found, -found, side="right") - 1
    rng = np.random.default_rng(seed)
    areas = []
    for _ in range(int(np.clip(_DRAWN // found.size, _FEWEST_DRAWS, _MOST_DRAWS))):
        drawn = np.bincount(rng.integers(found.size, size=found.size), minlength=found.size)
        hits = np.cumsum(drawn)[last_alike]
        areas.append(float(np.sum(drawn * (hits / np.maximum(hits + above, 1))) / found.size))
    low, high = np.quantile(areas, [0.025, 0.975])
    return float(low), float(high)


def difference_interval(
    first: float, of_first: tuple[Any, Any], second: float, of_second: tuple[Any, Any]
) -> tuple[float, float]:
    """The interval of second - first from the intervals of both, which must be of different rows: squares are added.

    >>> low, high = difference_interval(0.9, (0.85, 0.94), 0.8, (0.74, 0.85))
    >>> round(low, 3), round(high, 3)
    (-0.172, -0.029)
    """
    change = second - first
    down = np.hypot(second - of_second[0], of_first[1] - first)
    up = np.hypot(of_second[1] - second, first - of_first[0])
    return float(change - down), float(change + up)
