"""Which of several records is older, where nobody knows the time: by the share of each stream that has come since."""

from __future__ import annotations

import numpy as np

from lopsided.core.arithmetic.compiled import Integers


def latest_of_all(sizes: list[int], counts: list[int]) -> Integers:
    """The order of several records laid end to end, from old to new.

    `sizes` are the lengths of the records, each ordered from old to new, `counts` those of the streams.
    """
    ages = [(size - np.arange(size) - 0.5) / max(count, 1) for size, count in zip(sizes, counts, strict=True)]
    return np.argsort(-np.concatenate(ages), kind="stable")
