"""Words into a fixed number of columns: every word has a place and a sign that follow from its bytes alone.

Two words may share a place. Their signs are as good as coin tosses, so that sums over many words do not drift, and no
word needs to be known beforehand.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats, Integers, ShortIntegers, compiled_as_written
from lopsided.streams.parsing.decimals import Bits, Bytes

# Fowler, Noll and Vo's hash with 64 bits, and the last mixing steps of MurmurHash3 to spread its high bits.
_OFFSET, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_MIX_1, _MIX_2 = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
_SHIFT, _SIGN_BIT, _ONE = np.uint64(33), np.uint64(63), np.uint64(1)
_BEYOND_A_FLOAT = np.uint64(64 - 53)
_LARGEST_WHOLE = 2.0**53
CODE_UNIT = 2.0**500
_MINUS, _ZERO, _DIGIT, _ONE_DIGIT = np.uint64(ord("-")), np.uint64(ord("0")), np.uint64(4), np.uint64(15)

Codes = npt.NDArray[np.uint64]


@compiled_as_written
def _mixed(code: Bits) -> Bits:
    code ^= code >> _SHIFT
    code *= _MIX_1
    code ^= code >> _SHIFT
    code *= _MIX_2
    return code ^ (code >> _SHIFT)


@compiled_as_written
def _note(code: Bits, width: int, row: Floats) -> None:
    """Add the sign of a word to its place; `width` is a power of two."""
    code = _mixed(code)
    place = np.int64(code & np.uint64(width - 1))
    row[place] += 1.0 if (code >> _SIGN_BIT) == _ONE else -1.0


@compiled_as_written
def hash_values(text: Bytes, ends: ShortIntegers, rows: Floats) -> None:
    """Each value as one word into a row of zeros as wide as a power of two; an empty value leaves its row as it is."""
    for t in range(rows.shape[0]):
        if ends[t + 1] > ends[t]:
            code = _OFFSET
            for q in range(ends[t], ends[t + 1]):
                code = (code ^ np.uint64(text[q])) * _PRIME
            _note(code, rows.shape[1], rows[t])


@compiled_as_written
def hash_keys(text: Bytes, ends: ShortIntegers, salt: int, codes: Codes) -> None:
    """A code for each value, by its bytes and the salt alone: a whole number from 1 to 2^53, which a float64 holds."""
    start = _mixed(np.uint64(salt) + _ONE) ^ _OFFSET
    for t in range(codes.size):
        code = start
        for q in range(ends[t], ends[t + 1]):
            code = (code ^ np.uint64(text[q])) * _PRIME
        codes[t] = (_mixed(code) >> _BEYOND_A_FLOAT) + _ONE


@compiled_as_written
def _code_of_whole(number: float, start: Bits) -> Bits:
    """The code that `hash_keys` gives to a whole number, written out in digits."""
    rest, digits, n_digits, code = np.int64(abs(number)), np.uint64(0), 0, start
    while n_digits == 0 or rest > 0:
        digits = (digits << _DIGIT) | np.uint64(rest % 10)  # the last one goes in first, and comes out last
        rest //= 10
        n_digits += 1
    if number < 0.0:
        code = (code ^ _MINUS) * _PRIME
    for _ in range(n_digits):
        code = (code ^ ((digits & _ONE_DIGIT) + _ZERO)) * _PRIME
        digits >>= _DIGIT
    return (_mixed(code) >> _BEYOND_A_FLOAT) + _ONE


@compiled_as_written
def part_from_key(rows: Floats, key: int, salt: int, features: Floats, codes: Integers) -> bool:
    """Rows without the key in column `key`, and its codes; False where one is neither a whole number nor a code.

    A code stands in a row as a multiple of CODE_UNIT, which is beyond all numbers that a row may hold.
    """
    start = _mixed(np.uint64(salt) + _ONE) ^ _OFFSET
    for t in range(rows.shape[0]):
        row, written, number = rows[t], features[t], rows[t, key]
        if number >= CODE_UNIT:
            codes[t] = np.int64(number / CODE_UNIT)
        elif abs(number) < _LARGEST_WHOLE and number == math.floor(number):
            codes[t] = np.int64(_code_of_whole(number, start))
        else:
            return False
        for j in range(key):
            written[j] = row[j]
        after, moved = row[key + 1 :], written[key:]
        for j in range(after.size):
            moved[j] = after[j]
    return True


@compiled_as_written
def hash_words(text: Bytes, ends: ShortIntegers, rows: Floats) -> None:
    """The words of each text into a row of zeros, which gets length 1.

    Letters of ASCII lose their case; what is neither letter nor digit of ASCII parts words, bytes above it do not.
    """
    for t in range(rows.shape[0]):
        code, is_inside = _OFFSET, False
        for q in range(ends[t], ends[t + 1]):
            byte = np.int64(text[q])
            if 65 <= byte <= 90:
                byte += 32
            if byte >= 128 or 97 <= byte <= 122 or 48 <= byte <= 57:
                code = (code ^ np.uint64(byte)) * _PRIME
                is_inside = True
            elif is_inside:
                _note(code, rows.shape[1], rows[t])
                code, is_inside = _OFFSET, False
        if is_inside:
            _note(code, rows.shape[1], rows[t])
        squares = 0.0
        for j in range(rows.shape[1]):
            squares += rows[t, j] * rows[t, j]
        if squares > 0.0:
            length = math.sqrt(squares)
            for j in range(rows.shape[1]):
                rows[t, j] /= length
