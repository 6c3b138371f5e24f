"""An exponential that the compiler can vectorise.

`math.exp` is a call into the C library, which stops LLVM from vectorising the loop around it. This one is plain
arithmetic: exp(x) = 2^n exp(r) with n = round(x / ln 2) and |r| <= ln(2)/2, exp(r) by its Taylor polynomial. It stays
within 2 ulp of the exact value, underflows gradually below -708 and overflows to infinity above 709.78 as the
library's does. The argument must not be NaN.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from lopsided.core.arithmetic.compiled import compiled_as_written

# Adding and subtracting 1.5 * 2^52 rounds to an integer, which then stands in the low bits of the sum.
_ROUNDER = 6755399441055744.0
_LOG2_E = 1.4426950408889634
# ln 2 in two parts: n * _LN2_HIGH is exact for every n that occurs.
_LN2_HIGH = 0.6931471803691238
_LN2_LOW = 1.9082149292705877e-10
_ALL_BUT_SIGN = 0x7FFFFFFFFFFFFFFF
_IMPLICIT = 1 << 52  # the bit of the significand that is not written
_INFINITE = 2047  # the exponent, as it is written, of infinity
# Outside of these the result is 0 or infinity, and n would leave the range of the exponent arithmetic.
_LOWEST, _HIGHEST = -746.0, 710.0


@intrinsic
def bits_of(typing_context: Any, value: Any) -> Any:
    """The 64 bits of a float as an integer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def _float_of(typing_context: Any, value: Any) -> Any:
    """The float that has these 64 bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


@compiled_as_written
def order_of(x: float) -> int:
    """A whole number that is larger for a larger float, and one more for the next one: it can be halved."""
    bits: int = bits_of(x)  # type: ignore[call-arg]
    return bits ^ ((bits >> 63) & _ALL_BUT_SIGN)


@compiled_as_written
def float_in_order(order: int) -> float:
    """The float of which this is the order."""
    return _float_of(order ^ ((order >> 63) & _ALL_BUT_SIGN))  # type: ignore[call-arg]


@compiled_as_written
def exponential(x: float) -> float:
    """exp(x) for one float, in a form that vectorises inside a loop."""
    x = min(max(x, _LOWEST), _HIGHEST)
    n = (x * _LOG2_E + _ROUNDER) - _ROUNDER
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    # 2^n as a product of two, because below -1022 and above 1023 one factor alone leaves the range of the exponent;
    # the last multiplication rounds into the subnormal numbers.
    half = (0.5 * n + _ROUNDER) - _ROUNDER
    return (_taylor(r) * _power_of_two(half)) * _power_of_two(n - half)


@compiled_as_written
def exponential_of_moderate(x: float) -> float:
    """The same bits for -708 <= x <= 709 in two thirds of the instructions: n is added to the exponent."""
    shifted = x * _LOG2_E + _ROUNDER
    n = shifted - _ROUNDER
    p = _taylor((x - n * _LN2_HIGH) - n * _LN2_LOW)
    return _float_of(bits_of(p) + (bits_of(shifted) << 52))  # type: ignore[call-arg]


@compiled_as_written
def exponential_by_shifts(x: float) -> float:
    """The same bits as `exponential`, without an instruction that makes a subnormal number.

    Many processors take a hundred times as long for a multiplication in which one lane does. So the significand is
    shifted and rounded to even as a whole number.
    """
    x = min(max(x, _LOWEST), _HIGHEST)
    shifted = x * _LOG2_E + _ROUNDER
    n = shifted - _ROUNDER
    bits: int = bits_of(_taylor((x - n * _LN2_HIGH) - n * _LN2_LOW))  # type: ignore[call-arg]
    power: int = bits_of(shifted) - bits_of(_ROUNDER)
    exponent = (bits >> 52) + power
    significand, places = (bits & (_IMPLICIT - 1)) | _IMPLICIT, min(max(1 - exponent, 1), 60)
    rounded = (significand + (1 << (places - 1)) - 1 + ((significand >> places) & 1)) >> places
    result = bits + (power << 52) if exponent > 0 else rounded
    return _float_of(result if exponent < _INFINITE else _INFINITE << 52)


@compiled_as_written
def _taylor(r: float) -> float:
    """exp(r) for |r| <= ln(2)/2: the terms up to r^13/13! leave 5e-18."""
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    return p * r + 1.0


@compiled_as_written
def _power_of_two(n: float) -> float:
    """2^n for a whole -1022 <= n <= 1023, by writing n into the exponent's bits."""
    return _float_of((bits_of(n + _ROUNDER) + 1023) << 52)  # type: ignore[call-arg]
