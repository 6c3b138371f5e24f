"""Rows of LIBSVM text, `label index:value index:value ...`, read from bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from lopsided.core.arithmetic.compiled import Integers, ShortIntegers, compiled_as_written
from lopsided.streams.parsing.decimals import Bits, Bytes, read_decimal

_NEW_LINE, _RETURN, _BLANK, _TAB, _HASH, _COLON = 10, 13, 32, 9, 35, 58
_ZERO, _NINE = 48, 57
_QUERY = (113, 105, 100, 58)  # "qid:"
LARGEST_INDEX = 2**31 - 2


@compiled_as_written
def _skip_blanks(text: Bytes, position: int) -> int:
    while position < text.size and (text[position] == _BLANK or text[position] == _TAB or text[position] == _RETURN):
        position += 1
    return position


@compiled_as_written
def _at_end(text: Bytes, position: int) -> bool:
    return position >= text.size or text[position] == _NEW_LINE or text[position] == _HASH


@compiled_as_written
def _at_blank(text: Bytes, position: int) -> bool:
    return text[position] == _BLANK or text[position] == _TAB or text[position] == _RETURN


@compiled_as_written
def _next_line(text: Bytes, position: int) -> int:
    while position < text.size and text[position] != _NEW_LINE:
        position += 1
    return min(position + 1, text.size)


@compiled_as_written
def _past_query(text: Bytes, position: int) -> int:
    """Behind `qid:...` if that is what stands here, else the same place."""
    if position + 4 > text.size:
        return position
    for q in range(4):
        if text[position + q] != _QUERY[q]:
            return position
    position += 4
    while position < text.size and not (_at_blank(text, position) or _at_end(text, position)):
        position += 1
    return position


@compiled_as_written
def _read_pair(text: Bytes, position: int, features: Any, powers: Bits, bits: Bits, place: int) -> int:
    """Read `index:value` into `place`; returns where it ends, or -1."""
    index: Any = 0
    first = position
    while position < text.size and _ZERO <= text[position] <= _NINE:
        index = min(index * 10 + np.int64(text[position]) - _ZERO, LARGEST_INDEX + 1)
        position += 1
    if position == first or position >= text.size or text[position] != _COLON or index > LARGEST_INDEX:
        return -1
    features[place] = index
    return read_decimal(text, position + 1, powers, bits, place)


@compiled_as_written
def read_rows(
    text: Bytes,
    start: int,
    powers: Bits,
    label_bits: Bits,
    starts: Integers,
    features: ShortIntegers,
    value_bits: Bits,
    done: Integers,
) -> int:
    """Read rows from `start` on; returns the place of the first that is not understood, or the end of the text.

    `done` is the number of rows and of pairs that are there already, and is brought up to date. Labels and values are
    written as the bits of float64. Blank lines and comments are skipped, `qid:` is left out. A row is not understood if
    something in it is no number, or an index does not ascend.
    """
    position = start
    while position < text.size:
        line = position
        row, pair = done[0], done[1]
        position = _skip_blanks(text, position)
        if _at_end(text, position):
            position = _next_line(text, position)
            continue
        position = read_decimal(text, position, powers, label_bits, row)
        if position < 0 or not (_at_end(text, position) or _at_blank(text, position)):
            return line
        before: Any = -1
        while True:
            position = _skip_blanks(text, position)
            if _at_end(text, position):
                break
            past = _past_query(text, position)
            if past > position:
                position = past
                continue
            position = _read_pair(text, position, features, powers, value_bits, pair)
            if position < 0 or not (_at_end(text, position) or _at_blank(text, position)) or features[pair] <= before:
                return line
            before = np.int64(features[pair])
            pair += 1
        position = _next_line(text, position)
        starts[row + 1] = pair
        done[0], done[1] = row + 1, pair
    return position
