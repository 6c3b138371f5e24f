"""Arrays that begin where a line of the processor's cache begins.

A vector of eight floats is as long as a line. In an array that begins anywhere each of them lies in two lines, and rows
that are only read and added up take half as long again. What an array holds does not depend on where it begins.
"""

from __future__ import annotations

import math

import numpy as np

from lopsided.core.arithmetic.compiled import Floats

_LINE = 64  # bytes


def aligned_zeros(*shape: int) -> Floats:
    """Zeros whose first number is the first of a line."""
    n = math.prod(shape)
    room = np.zeros(n + _LINE // 8)
    first = -room.ctypes.data % _LINE // 8
    return room[first : first + n].reshape(shape)
