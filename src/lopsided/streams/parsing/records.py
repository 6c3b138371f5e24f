"""Where the records of a table end: at line ends outside of quotes."""

from __future__ import annotations

from lopsided.core.arithmetic.compiled import Integers, compiled_as_written
from lopsided.streams.parsing.decimals import Bytes

_NEW_LINE = 10
_CARRIAGE_RETURN = 13


@compiled_as_written
def find_records(text: Bytes, quote: int, delimiter: int, ends: Integers) -> int:
    """Write the end of every complete record (just behind its line end) into `ends`; returns how many there are.

    The text begins with a record. A quote opens only at the start of a cell, as CSV has it: the one in `5" pipe` is a
    letter. Inside of quotes two of them stand for one, and line ends do not count.
    """
    found = 0
    in_quotes, at_start = False, True
    position, size = 0, text.size
    while position < size:
        byte = text[position]
        position += 1
        if in_quotes:
            if byte == quote:
                if position < size and text[position] == quote:
                    position += 1
                else:
                    in_quotes = False
        elif byte == _NEW_LINE:
            ends[found] = position
            found += 1
            at_start = True
        elif byte == quote and at_start:
            in_quotes, at_start = True, False
        else:
            at_start = byte == delimiter or (at_start and byte == _CARRIAGE_RETURN)
    return found
