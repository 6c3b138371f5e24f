"""Cosine and sine together, in a form that the compiler can vectorise.

As with the exponential, a call into the C library would stop LLVM from vectorising the loop around it. Here
x = k pi/2 + r with |r| <= pi/4, both functions of r by their Taylor polynomials, and k says which is which and of what
sign. Within 2^-52 of the exact values up to `LARGEST_ANGLE`; beyond it a row is left to the library.
"""

from __future__ import annotations

import math

from lopsided.core.arithmetic.compiled import Floats, compiled, compiled_as_written
from lopsided.core.arithmetic.exponential import bits_of

LARGEST_ANGLE = 1e6
# Adding and subtracting 1.5 * 2^52 rounds to an integer, which then stands in the low bits of the sum.
_ROUNDER = 6755399441055744.0
_TWO_OVER_PI = 0.6366197723675814
# pi/2 in three parts of 33 bits: k times each of the first two is exact for every k that occurs.
_HALF_PI_HIGH = 1.5707963267341256
_HALF_PI_MIDDLE = 6.077100506303966e-11
_HALF_PI_LOW = 2.0222662487959506e-21


@compiled_as_written
def cosine_and_sine(x: float) -> tuple[float, float]:
    """(cos x, sin x) for one float of at most `LARGEST_ANGLE`, in a form that vectorises inside a loop."""
    shifted = x * _TWO_OVER_PI + _ROUNDER
    k = shifted - _ROUNDER
    quadrant: int = bits_of(shifted)  # type: ignore[call-arg]
    r = ((x - k * _HALF_PI_HIGH) - k * _HALF_PI_MIDDLE) - k * _HALF_PI_LOW
    s = r * r
    cosine, sine = _cosine_near_zero(s), r * _sine_ratio_near_zero(s)
    swapped = (quadrant & 1) != 0
    a, b = (sine if swapped else cosine), (cosine if swapped else sine)
    return (-a if ((quadrant + 1) & 2) != 0 else a), (-b if (quadrant & 2) != 0 else b)


@compiled_as_written
def _cosine_near_zero(s: float) -> float:
    """cos r for r^2 = s <= (pi/4)^2: the terms up to r^16/16! leave 2e-18."""
    p = 1.0 / 20922789888000.0
    p = p * s - 1.0 / 87178291200.0
    p = p * s + 1.0 / 479001600.0
    p = p * s - 1.0 / 3628800.0
    p = p * s + 1.0 / 40320.0
    p = p * s - 1.0 / 720.0
    p = p * s + 1.0 / 24.0
    p = p * s - 0.5
    return p * s + 1.0


@compiled_as_written
def _sine_ratio_near_zero(s: float) -> float:
    """sin(r) / r for r^2 = s <= (pi/4)^2: the terms up to r^16/17! leave 2e-19."""
    p = 1.0 / 355687428096000.0
    p = p * s - 1.0 / 1307674368000.0
    p = p * s + 1.0 / 6227020800.0
    p = p * s - 1.0 / 39916800.0
    p = p * s + 1.0 / 362880.0
    p = p * s - 1.0 / 5040.0
    p = p * s + 1.0 / 120.0
    p = p * s - 1.0 / 6.0
    return p * s + 1.0


@compiled
def waves(angles: Floats, height: float, cosines: Floats, sines: Floats) -> None:
    """height cos(a) and height sin(a) of every angle; NaN where it is not finite."""
    largest = 0.0
    for i in range(angles.size):
        largest = max(largest, abs(angles[i]))
    if largest <= LARGEST_ANGLE:
        for i in range(angles.size):
            cosine, sine = cosine_and_sine(angles[i])
            cosines[i] = height * cosine
            sines[i] = height * sine
    else:
        for i in range(angles.size):
            cosines[i] = height * math.cos(angles[i])
            sines[i] = height * math.sin(angles[i])
