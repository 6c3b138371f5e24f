"""What goes wrong with a stream without any row of it being bad: files that shrink, time that runs backwards.

Each is said when it happens first, and counted; how often it has happened is said at the end.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from lopsided.encoding import Column


class Disorder:
    """Counts of both, and the sentences about them."""

    def __init__(self) -> None:
        self.n_backwards = 0
        self.n_shrunk: Counter[str] = Counter()
        self._latest = -np.inf  # moment of the last row that has one
        self._column = ""

    def shrunk(self, source: str, position: int, size: int) -> list[str]:
        """Note that a file which is followed has become shorter than it was; what is to be said of it."""
        self.n_shrunk[source] += 1
        if self.n_shrunk[source] > 1:
            return []
        return [
            f"{source} has shrunk to {size:,} bytes while it was followed, of which {position:,} had been read: "
            f"rows that are written before byte {position:,} are not read"
        ]

    def passed(self, times: Any, column: Column, source: str) -> list[str]:
        """Note the moments of rows, in seconds; what is to be said of them."""
        there = times[~np.isnan(times)]
        if not there.size:
            return []
        before = np.concatenate([[self._latest], there[:-1]])
        backwards = np.flatnonzero(there < before)
        self._latest, self._column = there[-1], column.name
        is_first = not self.n_backwards
        self.n_backwards += backwards.size
        if not backwards.size or not is_first:
            return []
        at = backwards[0]
        moments = [_in_words(moment, column) for moment in (there[at], before[at])]
        return [f"the time column {column.name!r} runs backwards in {source}: {moments[0]} comes after {moments[1]}"]

    def totals(self) -> list[str]:
        """What has happened more than once, with how often; said once."""
        sentences = [f"{source} has shrunk {n:,} times" for source, n in self.n_shrunk.items() if n > 1]
        if self.n_backwards > 1:
            sentences.append(f"the time column {self._column!r} ran backwards {self.n_backwards:,} times")
        self.n_backwards = 0
        self.n_shrunk.clear()
        return sentences


def _in_words(seconds: float, column: Column) -> str:
    return str(np.datetime64(round(seconds), "s")) if column.kind == "date" else f"{seconds:g}"
