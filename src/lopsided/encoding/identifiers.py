"""Columns that say who or what a row is about: cards, accounts, postcodes. They look like numbers, and measure nothing.

What counts or measures is none of them: numbers with fractions or signs, flags, and small whole numbers in a column
whose name does not say that it holds identifiers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lopsided.encoding.names import is_of_an_entity, is_of_an_identifier
from lopsided.streams.labels import spelled

_ROWS_TO_TELL = 50
_WIDTH_OF_NUMBERS = 8  # digits, all numbers alike: prices and salaries are shorter, or differ in length
_MOSTLY_DIFFERENT = 0.9
_OFTEN = 0.5
_LEADING_ZEROS = 0.01
_SMALL = 100
_FEW, _TIMES_EACH = 32, 3


def why_key(name: str, values: Sequence[Any], *, are_numbers: bool) -> str:
    """Why a column with these values (none missing) is one of identifiers; empty if it is not.

    `are_numbers` says that the values can be read as numbers.

    >>> why_key("zip", ["10115", "94107"], are_numbers=True), why_key("c", ["007", "042"], are_numbers=True)
    ('by its name', 'leading zeros')
    >>> why_key("n_cards", [1, 2], are_numbers=True), why_key("card", [1, 2], are_numbers=True)
    ('', '')
    """
    texts = [spelled(value.item() if isinstance(value, np.generic) else value) for value in values]
    different = len(set(texts))
    if are_numbers:
        if not all(text.isascii() and text.isdigit() for text in texts) or set(texts) <= {"0", "1"}:
            return ""
        if np.mean([len(text) > 1 and text[0] == "0" for text in texts]) >= _LEADING_ZEROS:
            return "leading zeros"
        largest = max(len(text.lstrip("0")) for text in texts)
        if is_of_an_identifier(name) or (is_of_an_entity(name) and largest > len(str(_SMALL - 1))):
            return "by its name"
        same_width = len(set(map(len, texts))) == 1 and largest >= _WIDTH_OF_NUMBERS
        if same_width and len(texts) >= _ROWS_TO_TELL and different >= _MOSTLY_DIFFERENT * len(texts):
            return f"{largest} digits, nearly all different"
        return ""
    if is_called_a_key(name):
        return "by its name"
    if len(texts) < _ROWS_TO_TELL:
        return ""
    if different >= _MOSTLY_DIFFERENT * len(texts):
        return "another value in every row" if different == len(texts) else "nearly all different"
    is_code = len(set(map(len, texts))) == 1 and sum(map(_has_digit, texts)) >= _OFTEN * len(texts)
    return "codes of one length, mostly different" if is_code and different >= _OFTEN * len(texts) else ""


def _has_digit(text: str) -> bool:
    return any(letter.isdigit() for letter in text)


def is_called_a_key(name: str) -> bool:
    """Whether the name of a column of words says that they are identifiers."""
    return is_of_an_identifier(name) or is_of_an_entity(name)


def are_few(values: Sequence[Any]) -> bool:
    """Whether keys are so few, and come so often, that each can be learned as a category."""
    different = len(set(map(str, values)))
    return different <= _FEW and len(values) >= _TIMES_EACH * different
