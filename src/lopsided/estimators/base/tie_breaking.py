"""Which of several rows with the same score are flagged: drawn by the rows themselves, so that nobody can draw again.

A share of alerts may end among rows that all have the same score, as those of voters. Then a part of them is flagged:
the randomised test of Neyman and Pearson. The draw is a hash of the row's own numbers and of the cut, so that one model
answers a row the same at any time, in any order and batch, dense or sparse, and another model draws anew.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.geometry.points import Rows

_Bits = npt.NDArray[np.uint64]
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def draws_of(rows: Rows, *salt: float) -> Floats:
    """For each row a number in [0, 1), as if it were drawn at random; zeros count no more than what is not there.

    Rows draw anew with other numbers for a `salt`.
    """
    if not rows.starts.size:
        features = np.arange(rows.dense.shape[1], dtype=np.uint64)
        totals = _words(features, rows.dense).sum(axis=1, dtype=np.uint64)
    else:
        words = _words(rows.features.astype(np.uint64), rows.values)
        until = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(words, dtype=np.uint64)])
        totals = until[rows.starts[1:]] - until[rows.starts[:-1]]
    for number in salt:
        totals = _mixed(totals ^ np.float64(number).view(np.uint64))
    return (_mixed(totals) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _words(features: _Bits, values: Floats) -> _Bits:
    """A random-looking word for each number at its place; they are added up, so that their order does not matter."""
    numbers = np.ascontiguousarray(np.where(np.isnan(values), np.nan, values))
    return np.where(numbers == 0.0, np.uint64(0), _mixed(numbers.view(np.uint64) ^ _mixed(features)))


def _mixed(words: _Bits) -> _Bits:
    """SplitMix64 (Steele, Lea and Flood, 2014): every bit of the outcome depends on every bit given."""
    words = words + _GOLDEN
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
