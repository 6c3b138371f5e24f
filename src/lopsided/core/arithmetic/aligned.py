"""Arrays that begin where a line of the processor's cache begins.

A vector of eight floats is as long as a line. In an array that begins anywhere each of them lies in two lines, and rows
that are only read and added up take half as long again. What an array holds does not depend on where it begins.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_LINE = 64  # bytes


def aligned_zeros(*shape: int, dtype: Any = np.float64) -> Any:
    """Zeros whose first number is the first of a line."""
    n, itemsize = math.prod(shape), np.dtype(dtype).itemsize
    room = np.zeros(n + _LINE // itemsize, dtype=dtype)
    first = -room.ctypes.data % _LINE // itemsize
    return room[first : first + n].reshape(shape)
