"""From a score to a bin: three rules, each non-decreasing in the score.

`sigmoid` divides the range of 1/(1 + exp(-f)) evenly, which suits scores of ordinary size only. `log-linear` takes the
sign, the exponent and the leading bits of the score: bins of a constant relative width. `centred` is log-linear in
(f - centre) / scale, centre and scale taken once from the first scores, so that neither the location nor the size of
the scores matters. A score must not be NaN; infinities fall into the outermost bins.
"""

from __future__ import annotations

import math

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, compiled_as_written
from lopsided.core.arithmetic.exponential import bits_of

SIGMOID, LOG_LINEAR, CENTRED = range(3)
_BITS, _LOWEST_EXPONENT, _HIGHEST_EXPONENT = 6, -10, 12
_HALF = (_HIGHEST_EXPONENT - _LOWEST_EXPONENT + 1) << _BITS
_SMALLEST = 2.0**_LOWEST_EXPONENT
_FIRST_KEY = (_LOWEST_EXPONENT + 1023) << _BITS
LOG_LINEAR_BINS = 2 * _HALF + 1


@compiled_as_written
def sigmoid(score: float) -> float:
    """1 / (1 + exp(-f)) without overflow."""
    e = math.exp(-abs(score))
    return 1.0 / (1.0 + e) if score >= 0.0 else e / (1.0 + e)


@compiled_as_written
def sigmoid_key(score: float, n_bins: int) -> int:
    """min(m - 1, floor(m sigmoid(f)))."""
    return min(n_bins - 1, int(n_bins * sigmoid(score)))


@compiled_as_written
def log_linear_key(score: float) -> int:
    """The middle bin for |f| < 2^-10; outwards 64 bins for every doubling, up to 2^13."""
    size = abs(score)
    if size < _SMALLEST:
        return _HALF
    # Exponent and leading bits of the mantissa stand side by side in a float: together they are a whole number.
    k = min((bits_of(size) >> (52 - _BITS)) - _FIRST_KEY, _HALF - 1)  # type: ignore[call-arg]
    return _HALF + 1 + k if score > 0.0 else _HALF - 1 - k


def edges_of_bins() -> Floats:
    """Where the bins of `log_linear_key` begin and end, n + 1 numbers for n bins; the outermost reach to infinity."""
    outwards = ((np.arange(_HALF) + _FIRST_KEY) << (52 - _BITS)).view(np.float64)
    return np.concatenate([[-np.inf], -outwards[:0:-1], [-outwards[0], outwards[0]], outwards[1:], [np.inf]])


@compiled_as_written
def centre_of(ordered: Floats) -> float:
    """The (upper) median of ordered scores; 0 if it is infinite."""
    centre = ordered[ordered.size // 2]
    return centre if math.isfinite(centre) else 0.0


@compiled_as_written
def scale_of(ordered: Floats, centre: float) -> float:
    """The range of the middle half of ordered scores as a power of two; of all, or 1, where that is nothing."""
    n = ordered.size
    spread = ordered[3 * n // 4] - ordered[n // 4]
    if spread == 0.0:
        spread = max(ordered[n - 1] - centre, centre - ordered[0])
    if not (spread > 0.0 and math.isfinite(spread)):
        return 1.0
    return math.ldexp(1.0, min(round(math.log2(spread)), 1023))
