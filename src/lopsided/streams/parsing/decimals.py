"""Numbers written in decimal, read from bytes: correctly rounded, as Python reads them, or not at all.

The digits make a whole number w, the point and the exponent a power q, and w 10^q is rounded by one or two products of
64 bits with a table of powers of five (Lemire, Number parsing at a gigabyte per second, 2021); where w and the power of
ten are both float64 numbers, one division or product does it (Clinger, 1990). What cannot be decided (more than 19
digits, results that are subnormal or infinite) is left to the caller, who has Python for it.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Integers, compiled_as_written
from lopsided.core.arithmetic.exponential import bits_of

# Bytes of a text, and words of 64 bits: to NumPy's types these are too narrow to be mixed with plain numbers.
Bytes: TypeAlias = Any
Bits: TypeAlias = Any

_SMALLEST_POWER, _LARGEST_POWER = -342, 308
_MOST_DIGITS = 19
_MINUS, _PLUS, _POINT, _ZERO, _NINE = 45, 43, 46, 48, 57
_SMALL_E, _LARGE_E = 101, 69

_U0, _U1, _U2, _U3 = (np.uint64(n) for n in range(4))
_U10, _U32, _U52, _U63 = np.uint64(10), np.uint64(32), np.uint64(52), np.uint64(63)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_NINE_BITS = np.uint64(0x1FF)
_ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)
_HIDDEN_BIT = np.uint64(1 << 52)
_LARGEST_EXACT, _MOST_TENS = np.uint64(1 << 53), 22
_TENS = np.array([float(10**power) for power in range(_MOST_TENS + 1)])


def _powers_of_five() -> npt.NDArray[np.uint64]:
    """For each q the 128 leading bits of 5^q, rounded down (up for q < 0), as two numbers of 64 bits."""
    table = []
    for power in range(_SMALLEST_POWER, _LARGEST_POWER + 1):
        if power >= 0:
            bits = 5**power
            shift = bits.bit_length() - 128
            bits = bits >> shift if shift >= 0 else bits << -shift
        else:
            divisor = 5**-power
            size = divisor.bit_length()
            bits = (1 << (size + 127 if power >= -27 else 2 * size + 128)) // divisor + 1
            bits >>= bits.bit_length() - 128
        table.append((bits >> 64, bits & ((1 << 64) - 1)))
    return np.array(table, dtype=np.uint64)


POWERS = _powers_of_five()


@compiled_as_written
def _product(a: Bits, b: Bits) -> tuple[Bits, Bits]:
    """High and low half of a product of two numbers of 64 bits."""
    a_low, a_high = a & _LOW_HALF, a >> _U32
    b_low, b_high = b & _LOW_HALF, b >> _U32
    low = a_low * b_low
    middle = a_high * b_low + (low >> _U32)
    other = a_low * b_high + (middle & _LOW_HALF)
    return a_high * b_high + (middle >> _U32) + (other >> _U32), (other << _U32) | (low & _LOW_HALF)


@compiled_as_written
def _leading_zeros(digits: Bits) -> int:
    zeros, step = 0, 32
    while step > 0:
        if (digits >> np.uint64(64 - step)) == _U0:
            digits <<= np.uint64(step)
            zeros += step
        step >>= 1
    return zeros


@compiled_as_written
def _rounded(digits: Bits, power: Any, powers: Bits) -> tuple[Bits, bool]:
    """The bits of digits times 10^power as a float64, and whether they are known."""
    if digits == _U0:
        return _U0, True
    if digits <= _LARGEST_EXACT and -_MOST_TENS <= power <= _MOST_TENS:
        # Both are exact as float64, so one operation rounds once, and rightly.
        value = np.float64(digits)
        value = value / _TENS[-power] if power < 0 else value * _TENS[power]
        return np.uint64(bits_of(value)), True  # type: ignore[call-arg]
    if power < _SMALLEST_POWER or power > _LARGEST_POWER:
        return _U0, False
    zeros = _leading_zeros(digits)
    digits <<= np.uint64(zeros)
    row = power - _SMALLEST_POWER
    high, low = _product(digits, powers[row, 0])
    if (high & _NINE_BITS) == _NINE_BITS:
        more, _ = _product(digits, powers[row, 1])
        low += more
        if low < more:
            high += _U1
    if low == _ALL_BITS and (power < -27 or power > 55):
        return _U0, False
    upper = high >> _U63
    shift = upper + np.uint64(9)
    mantissa = high >> shift
    exponent = ((217706 * power) >> 16) + 63 + np.int64(upper) - zeros + 1023
    if exponent <= 0:
        return _U0, False
    # Exactly between two numbers: to the even one.
    if low <= _U1 and -4 <= power <= 23 and (mantissa & _U3) == _U1 and (mantissa << shift) == high:
        mantissa -= _U1
    mantissa += mantissa & _U1
    mantissa >>= _U1
    if mantissa >= _HIDDEN_BIT << _U1:
        mantissa = _HIDDEN_BIT
        exponent += 1
    if exponent >= 2047:
        return _U0, False
    return (mantissa & (_HIDDEN_BIT - _U1)) | (np.uint64(exponent) << _U52), True


@compiled_as_written
def read_decimal(text: Bytes, start: int, powers: Bits, bits: Bits, place: int) -> int:
    """Read a number at `start` into bits[place]; returns where it ends, or -1 if there is none that can be decided."""
    position, size = start, text.size
    negative = position < size and text[position] == _MINUS
    if position < size and (text[position] == _MINUS or text[position] == _PLUS):
        position += 1
    digits: Bits = _U0
    count, seen, power = 0, 0, 0
    after_point = False
    while position < size:
        byte = np.int64(text[position])
        if _ZERO <= byte <= _NINE:
            digits = digits * _U10 + np.uint64(byte - _ZERO)
            seen += 1
            if digits != _U0:
                count += 1
            if after_point:
                power -= 1
        elif byte == _POINT and not after_point:
            after_point = True
        else:
            break
        position += 1
    if seen == 0 or count > _MOST_DIGITS:
        return -1
    if position < size and (text[position] == _SMALL_E or text[position] == _LARGE_E):
        position += 1
        falls = position < size and text[position] == _MINUS
        if position < size and (text[position] == _MINUS or text[position] == _PLUS):
            position += 1
        first = position
        exponent: Any = 0
        while position < size and _ZERO <= text[position] <= _NINE:
            exponent = min(exponent * 10 + np.int64(text[position]) - _ZERO, 99999)
            position += 1
        if position == first:
            return -1
        power += -exponent if falls else exponent
    result, is_known = _rounded(digits, power, powers)
    if not is_known:
        return -1
    bits[place] = result | (_U1 << _U63) if negative else result
    return position


@compiled_as_written
def read_each(text: Bytes, starts: Integers, powers: Bits, bits: Bits, stops: Integers) -> None:
    """`read_decimal` at many places, for tests of it."""
    for q in range(starts.size):
        stops[q] = read_decimal(text, starts[q], powers, bits, q)
