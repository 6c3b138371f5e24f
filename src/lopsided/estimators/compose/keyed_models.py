"""What a `KeyedLearner` needs of the models of its keys, which stand in slots.

All kinds freeze a model into bytes and make it again from them, bit for bit: for the disk, and for model files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.core.geometry.points import Rows
from lopsided.core.keyed.table import KeyTable


class OneRow(NamedTuple):
    """Where a single row goes in and out of compiled code: its code and features, label, weight and score."""

    codes: Integers
    rows: Rows
    signs: Floats
    weights: Floats
    scores: Floats


class KeyedModels(Protocol):
    """What a `KeyedLearner` needs of the models of its keys; `slots` say which, row by row."""

    def make_room(self, n_slots: int) -> None:
        """Room for so many."""

    def begin(self, slots: Integers) -> None:
        """Empty models in these slots."""

    def frozen(self, slots: Integers) -> list[bytes]:
        """These models as bytes."""

    def thaw(self, slots: Sequence[int], records: Sequence[bytes]) -> None:
        """Put models that were frozen into these slots, after a look at whether they fit."""

    def check_alike(self, other: KeyedModels) -> None:
        """Refuse models of the same kind whose records mean something else."""

    def merged(self, records: Sequence[Sequence[bytes]]) -> list[bytes]:
        """One record for each key out of several that were frozen elsewhere."""

    def learn(
        self, slots: Integers, rows: Rows, signs: Floats, weights: Floats, scores: Floats, start: int, stop: int
    ) -> int:
        """Learn the rows start..stop-1 and write the score of each before it; returns how many steps diverged."""

    def score(self, slots: Integers, fetched: Sequence[bytes], rows: Rows) -> Floats:
        """Scores; -1 is a new key, and -2, -3, ... are those that were fetched from the disk."""

    def bound_to_one(self, table: KeyTable, one: OneRow) -> tuple[Callable[[], Any], Callable[[], Any]] | None:
        """Calls that learn and score one row whose key is in memory; None where there are none.

        The first returns how many steps diverged, the second whether the key is there (if not, the score is that of a
        new key); both do nothing more for a key that is not. They hold until `make_room`.
        """

    @property
    def nbytes(self) -> int:
        """What they hold."""
