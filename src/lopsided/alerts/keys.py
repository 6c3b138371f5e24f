"""Whatever names a card, a customer or a machine, as whole numbers that can be compared and kept."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

NO_KEY = 0  # of a row without one, which is like no other


def code_of(key: Any) -> int:
    """A number of 63 bits that is the same for the same key, today and tomorrow."""
    if key is None or key != key or key == "":
        return NO_KEY
    if isinstance(key, float) and key.is_integer():  # a column of numbers with gaps is one of floats
        key = int(key)
    digest = hashlib.blake2b(str(key).encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "little") >> 1) or 1


def codes_of(keys: Any) -> npt.NDArray[np.int64]:
    """The numbers of many keys: an array, a list, a series or an arrow column."""
    values = keys.to_pylist() if hasattr(keys, "to_pylist") else np.asarray(keys).tolist()
    known: dict[Any, int] = {}
    codes = np.empty(len(values), dtype=np.int64)
    for position, value in enumerate(values):
        code = known.get(value)
        if code is None:
            code = known[value] = code_of(value)
        codes[position] = code
    return codes
