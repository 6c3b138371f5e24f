"""What a stream hands out: a matrix of features with the labels of its rows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Matrix: TypeAlias = "NDArray[np.float64] | csr_array"

# From here on float64 no longer tells neighbouring whole numbers apart, so two labels could become one.
_FIRST_INEXACT_INTEGER = 2**53


class Batch(NamedTuple):
    """Some rows of a stream, in the order of the file.

    `X` has float64 features, one example a row: a C-contiguous array, or a `scipy.sparse.csr_array`
    when the file is sparse. `y` has the label of each row as the file spells it: integers if all
    labels of the file are whole numbers, else floats if all are numbers, else strings.
    """

    X: Matrix
    y: NDArray[Any]


class LabelCodes:
    """The labels of one file: every spelling found, and the value that stands for it.

    The kind of the values is decided once for the whole file. Decided batch by batch, a file whose
    first fractional label comes late would give integers first and floats later.

    >>> codes = LabelCodes(["+1", "-1", "1.0"])
    >>> codes.values
    array([-1,  1])
    >>> codes.decode(["-1", "1.0", "+1"])
    array([-1,  1,  1])
    >>> LabelCodes(["good", "1"]).values
    array(['1', 'good'], dtype='<U4')
    """

    def __init__(self, spellings: Iterable[str]) -> None:
        distinct = sorted(set(spellings))
        values, inverse = np.unique(_as_numbers_if_all_are(distinct), return_inverse=True)
        self.values: NDArray[Any] = values
        self._code_of = dict(zip(distinct, inverse.tolist(), strict=True))

    def decode(self, spellings: list[str]) -> NDArray[Any]:
        """The values of these spellings; a KeyError names one that was not there at the start."""
        codes = [self._code_of[spelling] for spelling in spellings]
        decoded: NDArray[Any] = self.values[codes]
        return decoded


def parse_number(text: str) -> float | None:
    """The finite number this text spells, or None.

    Python's own `float` also reads `1_000`; in a data file an underscore means a code or a typing
    error, never a thousands separator.
    """
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in text else None


def _as_numbers_if_all_are(spellings: list[str]) -> NDArray[Any]:
    numbers = [parse_number(spelling) for spelling in spellings]
    exact = [number for number in numbers if number is not None and abs(number) < _FIRST_INEXACT_INTEGER]
    if not spellings or len(exact) < len(spellings):
        return np.array(spellings, dtype=np.str_)
    if all(number.is_integer() for number in exact):
        return np.array([int(number) for number in exact], dtype=np.int64)
    return np.array(exact, dtype=np.float64)
